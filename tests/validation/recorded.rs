//! What kubectl 1.36.2 printed (`recorded.json`). Every case starts on a fresh cluster, after its setup has settled.
//!
//! `exact.txt` names the cases that are met to the letter. A case on it that is not met any more fails the test, and so does one that is
//! met and not on it: it is added. All others must at least be refused or accepted alike.

use super::{play, words};
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use serde_json::Value;

/// A random uid is as good as another.
fn masked(text: &str) -> String {
    let uid = |word: &str| {
        if word.len() == 36 && word.matches('-').count() == 4 {
            "UID".to_owned()
        } else {
            word.to_owned()
        }
    };
    text.split('"').map(uid).collect::<Vec<_>>().join("\"")
}

fn met(case: &Value, line: &str, stdin: &str, report: &mut Vec<String>) -> (bool, bool) {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    sim.advance(sim.now().after(1_000_000), usize::MAX);
    if let Some(setup) = case["setup"].as_str() {
        play(&mut sim, &words("apply -f -"), setup);
        sim.advance(sim.now().after(10_000_000), usize::MAX);
    }
    let mut printed = String::new();
    let mut exit = 0;
    for line in line.split(" ; ") {
        let session = play(&mut sim, &words(line), stdin);
        printed += &format!("{}{}", session.stdout, session.stderr);
        exit = session.exit.unwrap_or(-1);
    }
    let wanted = &case["kubectl"];
    let text = format!(
        "{}{}",
        wanted["stdout"].as_str().unwrap_or(""),
        wanted["stderr"].as_str().unwrap_or("")
    );
    let verdict = wanted["exit"] == exit;
    let exact = verdict && masked(printed.trim()) == masked(text.trim());
    if !exact {
        report.push(format!(
            "{}\n  recorded: {}\n  printed:  {}",
            case["name"],
            text.trim(),
            printed.trim()
        ));
    }
    (exact, verdict)
}

#[test]
fn recorded_refusals_are_met() {
    let cases: Value = serde_json::from_str(include_str!("recorded.json")).unwrap();
    let mut report = Vec::new();
    let (mut exact, mut other_verdict, mut total) = (Vec::new(), Vec::new(), 0);
    let manifests = cases["manifests"].as_array().unwrap().iter();
    let manifests = manifests.map(|case| {
        (
            case,
            case["verb"].as_str().unwrap().to_owned(),
            case["manifest"].as_str().unwrap(),
        )
    });
    let commands = cases["commands"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| (case, case["args"].as_str().unwrap().to_owned(), ""));
    for (case, line, stdin) in manifests.chain(commands) {
        let (same_text, same_verdict) = met(case, &line, stdin, &mut report);
        let name = case["name"].as_str().unwrap();
        total += 1;
        if same_text {
            exact.push(name);
        }
        if !same_verdict {
            other_verdict.push(name);
        }
    }
    println!(
        "{}\nvalidation: {} of {total} exact",
        report.join("\n"),
        exact.len()
    );
    let listed: Vec<&str> = include_str!("exact.txt").lines().collect();
    let broken: Vec<_> = listed.iter().filter(|name| !exact.contains(name)).collect();
    let unlisted: Vec<_> = exact.iter().filter(|name| !listed.contains(name)).collect();
    assert!(
        broken.is_empty(),
        "these cases were exact before: {broken:?}\n{}",
        report.join("\n")
    );
    assert!(
        unlisted.is_empty(),
        "these cases are exact and not in exact.txt: {unlisted:?}"
    );
    assert!(
        other_verdict.is_empty(),
        "these cases are refused or accepted unlike the cluster: {other_verdict:?}"
    );
}
