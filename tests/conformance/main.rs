//! The engine against recordings of a real v1.36.2 control plane.
//!
//! Every scenario in `scenarios/` is run; its trace is turned into named facts, and each is compared with the values
//! recorded in `golden/`. What differs is listed; the test fails below the floor of `FLOOR` percent, or when a scenario
//! that was whole before is not any more (`whole.txt`).

mod facts;
#[allow(dead_code)]
#[path = "../serve/http.rs"]
mod http;
mod names;
mod output;
mod served;

use facts::{Run, facts_of};
use scenario::Trace;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The least share of facts that must hold, in percent.
const FLOOR: f64 = 99.5;

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
    differences: Vec<String>,
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
                score.differences.push(format!(
                    "  {name}\n    recorded {}\n    here     {ours}",
                    values[0]
                ));
            }
        }
    }
    score
}

#[test]
fn recorded_facts_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    let mut names: Vec<String> = fs::read_dir(folder.join("golden"))
        .unwrap()
        .map(|e| {
            e.unwrap()
                .path()
                .file_stem()
                .unwrap()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    let expected_whole = fs::read_to_string(folder.join("whole.txt")).unwrap_or_default();
    let (mut passed, mut total, mut whole) = (0, 0, Vec::new());
    let mut families: BTreeMap<char, (usize, usize)> = BTreeMap::new();
    for name in &names {
        let golden = read_golden(&folder.join(format!("golden/{name}.json")));
        let text = fs::read_to_string(folder.join(format!("scenarios/{name}.yaml"))).unwrap();
        let score = compare(&golden, &run(&text, &golden.commands));
        println!("{name:<28} {:>4} of {:>4}", score.passed, score.total);
        for difference in &score.differences {
            println!("{}", difference.chars().take(1500).collect::<String>());
        }
        passed += score.passed;
        total += score.total;
        let family = families.entry(name.chars().next().unwrap()).or_default();
        *family = (family.0 + score.passed, family.1 + score.total);
        if score.differences.is_empty() {
            whole.push(name.clone());
        }
    }
    for (family, (passed, total)) in families {
        println!(
            "{family}: {passed} of {total} ({:.1} %)",
            100.0 * passed as f64 / total as f64
        );
    }
    let percent = 100.0 * passed as f64 / total as f64;
    println!(
        "conformance: {passed} of {total} facts ({percent:.1} %), {} of {} scenarios whole",
        whole.len(),
        names.len()
    );
    let broken: Vec<&str> = expected_whole
        .lines()
        .filter(|name| !whole.iter().any(|w| w == name))
        .collect();
    assert!(
        broken.is_empty(),
        "these scenarios were whole before: {broken:?}"
    );
    assert!(
        percent >= FLOOR,
        "{percent:.1} % of the facts hold, at least {FLOOR} % must"
    );
}
