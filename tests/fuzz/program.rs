//! Arbitrary programs of control loops: each is refused with a line, or its passes end within their limits.

use super::rounds;
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::Time;
use script::Program;
use serde_json::json;
use sim_core::rng::Rng;
use std::fs;
use std::path::Path;

/// Parts of programs that are put in any place.
const PARTS: [&str; 44] = [
    "\n",
    "\n    ",
    "\n        ",
    "\n            ",
    "def f(x):",
    "if ",
    "elif ",
    "else:",
    "for ",
    " in ",
    "while True:",
    "while ",
    "return ",
    "break",
    "continue",
    "pass",
    "lambda x: ",
    "not ",
    " and ",
    " or ",
    "None",
    "True",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    ":",
    ",",
    ".",
    "=",
    "==",
    "+",
    "-",
    "*",
    "9223372036854775807",
    "\"",
    "'",
    "f\"{",
    "create(",
    "get(\"Pod\", key)",
    "list(\"Pod\", \"*\")",
    "f(f)",
];

/// Programs of the examples.
fn programs() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/loops");
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let mut programs = Vec::new();
    for path in paths {
        let scenario = scenario::parse(&fs::read_to_string(path).unwrap()).unwrap();
        for step in scenario.steps {
            let scenario::ScenarioStep::Apply(text) = step else {
                continue;
            };
            let documents = manifest::parse(text.as_bytes()).documents;
            let found = documents
                .iter()
                .filter_map(|document| document.value["spec"]["program"].as_str());
            programs.extend(found.map(str::to_owned));
        }
    }
    programs
}

/// One program: lines and characters of others in another order.
fn mutated(rng: &mut Rng, programs: &[String]) -> String {
    let pick = |rng: &mut Rng| &programs[rng.below(programs.len() as u64) as usize];
    let mut lines: Vec<String> = pick(rng).lines().map(str::to_owned).collect();
    for _ in 0..=rng.below(5) {
        let at = rng.below(lines.len() as u64 + 1) as usize;
        match rng.below(6) {
            0 if at < lines.len() => {
                lines.remove(at);
            }
            1 if at < lines.len() => {
                let line = lines[at].clone();
                lines.insert(at, line);
            }
            2 => {
                let other: Vec<&str> = pick(rng).lines().collect();
                let line = other[rng.below(other.len() as u64) as usize];
                lines.insert(at, line.to_owned());
            }
            3 if at < lines.len() => lines[at].insert_str(0, "    "),
            _ if at < lines.len() => {
                let part = PARTS[rng.below(PARTS.len() as u64) as usize];
                let line = &mut lines[at];
                let places: Vec<usize> = line.char_indices().map(|(at, _)| at).collect();
                let place = rng.below(places.len() as u64 + 1) as usize;
                line.insert_str(places.get(place).copied().unwrap_or(line.len()), part);
            }
            _ => {}
        }
    }
    lines.join("\n")
}

#[test]
fn any_program_of_a_loop_ends() {
    let programs = programs();
    assert!(programs.len() > 10);
    let applied = std::cell::Cell::new(0);
    rounds(|rng, round| {
        let program = mutated(rng, &programs);
        let result = std::panic::catch_unwind(|| {
            if let Err(error) = Program::parse(&program) {
                assert!(error.line as usize <= program.lines().count().max(1) + 1);
                return false;
            }
            let mut sim = Sim::new(ClusterConfig::default(), 1);
            let kind = |version: &str, kind: &str| json!({"apiVersion": version, "kind": kind});
            let manifest = json!({"apiVersion": "v1", "kind": "List", "items": [
                {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web"}, "spec": {"replicas": 2,
                    "selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}},
                    "spec": {"containers": [{"name": "c", "image": "nginx"}]}}}},
                {"apiVersion": "loopscope.dev/v1", "kind": "ControlLoop", "metadata": {"name": "fuzzed"}, "spec": {
                    "for": kind("apps/v1", "ReplicaSet"), "owns": [kind("v1", "Pod"), kind("apps/v1", "ReplicaSet")],
                    "watches": [kind("v1", "Pod")], "limits": {"steps": 5000, "memoryKB": 1024}, "program": program}},
            ]});
            let words = ["apply".into(), "-f".into(), "-".into()];
            kubectl::Session::start(&mut sim, &words, &manifest.to_string());
            sim.advance(Time(20_000_000), 5_000);
            true
        });
        assert!(result.is_ok(), "round {round}:\n{program}");
        applied.set(applied.get() + u64::from(result.unwrap_or(false)));
    });
    println!("{} programs ran", applied.get());
    assert!(applied.get() > 10);
}
