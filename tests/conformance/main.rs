//! The engine against recordings of a real v1.36.2 control plane.
//!
//! Each scenario in `scenarios/` is a test of its own: its trace becomes named facts, which are compared with the values recorded in
//! `golden/`. Facts that are known to differ are listed in `known.txt`; one that holds again must be removed there. Each scenario is also
//! driven through a server (`served`). `cargo test --test conformance l05` runs one recording both ways.

mod facts;
#[allow(dead_code)]
#[path = "../serve/http.rs"]
mod http;
mod names;
mod output;
mod served;

use facts::{Run, facts_of};
use libtest_mimic::{Arguments, Failed, Trial};
use scenario::Trace;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

struct Golden {
    commands: BTreeMap<usize, String>,
    facts: Map<String, Value>,
    pool: Vec<Value>,
}

fn read_golden(path: &Path) -> Golden {
    let data: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let commands = data["commands"].as_object().unwrap();
    Golden {
        commands: commands
            .iter()
            .map(|(k, v)| (k.parse().unwrap(), v.as_str().unwrap().to_string()))
            .collect(),
        facts: data["facts"].as_object().unwrap().clone(),
        pool: data["pool"].as_array().unwrap().clone(),
    }
}

/// The facts of one run of a scenario.
fn run(text: &str, commands: &BTreeMap<usize, String>) -> BTreeMap<String, Value> {
    let scenario = scenario::parse(text).unwrap();
    let mut lines = Vec::new();
    scenario::run(&scenario, 1, usize::MAX, &mut Trace::new(&mut lines));
    let trace = String::from_utf8(lines).unwrap();
    facts_of(&Run::read(&trace, commands))
}

struct Score {
    passed: usize,
    total: usize,
    /// Fact, and how it differs.
    differences: Vec<(String, String)>,
}

fn compare(golden: &Golden, got: &BTreeMap<String, Value>) -> Score {
    let mut score = Score {
        passed: 0,
        total: 0,
        differences: Vec::new(),
    };
    for (name, fact) in &golden.facts {
        let values: Vec<&Value> = fact["values"]
            .as_array()
            .unwrap()
            .iter()
            .map(|i| &golden.pool[i.as_u64().unwrap() as usize])
            .collect();
        let ours = got.get(name).unwrap_or(&Value::Null);
        let ok = values.iter().any(|v| facts::same(v, ours));
        let counts = fact.get("weight").and_then(Value::as_i64) != Some(0)
            && (ok || fact.get("racy") != Some(&Value::Bool(true)));
        if counts {
            score.total += 1;
            score.passed += usize::from(ok);
            if !ok {
                let text = format!("  {name}\n    recorded {}\n    here     {ours}", values[0]);
                score
                    .differences
                    .push((name.clone(), text.chars().take(1500).collect()));
            }
        }
    }
    score
}

/// Folder of the recordings.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance")
}

fn golden(name: &str) -> Golden {
    read_golden(&folder().join(format!("golden/{name}.json")))
}

fn text(name: &str) -> String {
    fs::read_to_string(folder().join(format!("scenarios/{name}.yaml"))).unwrap()
}

/// Compares a scenario with its recording; the facts named in `known` differ.
fn recorded(name: &str, known: &BTreeSet<String>) -> Result<(), Failed> {
    let golden = golden(name);
    let score = compare(&golden, &run(&text(name), &golden.commands));
    println!("{} of {} facts hold", score.passed, score.total);
    let unexpected: Vec<&str> = score
        .differences
        .iter()
        .filter(|(fact, _)| !known.contains(fact))
        .map(|(_, difference)| difference.as_str())
        .collect();
    if !unexpected.is_empty() {
        return Err(format!(
            "{name}: {} of {} facts hold; these do not:\n{}\n\nthe trace: cargo run -- run tests/conformance/scenarios/{name}.yaml --trace",
            score.passed,
            score.total,
            unexpected.join("\n")
        )
        .into());
    }
    let differ: BTreeSet<&String> = score.differences.iter().map(|(fact, _)| fact).collect();
    let hold: Vec<&String> = known.iter().filter(|fact| !differ.contains(fact)).collect();
    if hold.is_empty() {
        Ok(())
    } else {
        Err(format!("{name}: these facts hold now; remove them from known.txt: {hold:?}").into())
    }
}

/// Runs a trial on a thread of its own: custom kinds are registered for each thread.
fn alone(trial: impl FnOnce() -> Result<(), Failed> + Send + 'static) -> Result<(), Failed> {
    std::thread::spawn(trial)
        .join()
        .unwrap_or_else(|_| Err("it panicked".into()))
}

fn main() -> ExitCode {
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let listed = fs::read_to_string(folder().join("known.txt")).unwrap();
    for (name, fact) in listed.lines().filter_map(|line| line.split_once('\t')) {
        known
            .entry(name.to_owned())
            .or_default()
            .insert(fact.to_owned());
    }
    let mut trials = Vec::new();
    for entry in fs::read_dir(folder().join("golden")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let own = known.remove(&name).unwrap_or_default();
        let of = name.clone();
        trials.push(Trial::test(&name, || alone(move || recorded(&of, &own))));
        trials.push(Trial::test(format!("served::{name}"), || {
            alone(move || served::same(&name))
        }));
    }
    assert!(
        known.is_empty(),
        "no recording of these scenarios: {known:?}"
    );
    trials.sort_by(|a, b| a.name().cmp(b.name()));
    let mut arguments = Arguments::from_args();
    // A served cluster waits for watches to end most of the time.
    arguments.test_threads.get_or_insert(12);
    libtest_mimic::run(&arguments, trials).exit_code()
}
