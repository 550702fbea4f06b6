//! Malformed manifests and wrong command lines, refused in the words of a real cluster.
//!
//! `data/validation.json` holds what kubectl 1.36.2 printed. Every case starts on a fresh cluster, after its
//! setup has settled; the figures must not fall.

use loopscope::engine::Sim;
use loopscope::engine::cluster::ClusterConfig;
use loopscope::kubectl::{Progress, Session, parse::split};
use serde_json::Value;

/// Of the recorded cases: met to the letter, and at least refused or accepted alike. In percent.
const EXACT: usize = 94;
const VERDICT: usize = 98;

fn play(sim: &mut Sim, words: &[String], stdin: &str) -> Session {
    let mut session = Session::start(sim, words, stdin);
    for _ in 0..10_000 {
        if session.poll(sim) == Progress::Done {
            break;
        }
        sim.advance(sim.now().after(100_000), usize::MAX);
    }
    session.interrupt();
    session
}

fn words(line: &str) -> Vec<String> {
    split(line)
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
    let text = format!("{}{}", wanted["stdout"].as_str().unwrap_or(""), wanted["stderr"].as_str().unwrap_or(""));
    let verdict = wanted["exit"] == exit;
    let exact = verdict && printed.trim() == text.trim();
    if !exact {
        report.push(format!("{}\n  recorded: {}\n  printed:  {}", case["name"], text.trim(), printed.trim()));
    }
    (exact, verdict)
}

#[test]
fn what_is_wrong_is_refused_in_kubernetes_words() {
    let cases: Value = serde_json::from_str(include_str!("data/validation.json")).unwrap();
    let mut report = Vec::new();
    let (mut exact, mut verdict, mut total) = (0, 0, 0);
    let manifests = cases["manifests"].as_array().unwrap().iter();
    let manifests = manifests.map(|case| (case, case["verb"].as_str().unwrap().to_owned(), case["manifest"].as_str().unwrap()));
    let commands = cases["commands"].as_array().unwrap().iter().map(|case| (case, case["args"].as_str().unwrap().to_owned(), ""));
    for (case, line, stdin) in manifests.chain(commands) {
        let (same_text, same_verdict) = met(case, &line, stdin, &mut report);
        total += 1;
        exact += usize::from(same_text);
        verdict += usize::from(same_verdict);
    }
    println!("{}\nvalidation: {exact} of {total} exact, {verdict} same verdict", report.join("\n"));
    assert!(exact * 100 >= EXACT * total, "{exact} of {total} are exact\n{}", report.join("\n"));
    assert!(verdict * 100 >= VERDICT * total, "{verdict} of {total} have the same verdict");
}
