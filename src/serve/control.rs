//! `/loopscope/…`: the clock of the cluster and its faults, for tests and for people.

use super::cluster::{Cluster, Reply};
use super::request::Request;
use super::status::{Answer, failure, not_allowed};
use super::tell;
use crate::actions::{self, Command};
use crate::api::time::{MS, SECOND};
use serde_json::{Value, json};

/// The longest span that one request may advance the clock.
const MOST: u64 = 24 * 3_600 * SECOND;

/// Answers a request about the cluster itself.
pub fn answer(cluster: &mut Cluster, request: &Request) -> Option<Reply> {
    let answer = match (request.path.as_str(), request.method.as_str()) {
        ("/loopscope/time", "GET") => Answer::json(200, &time(cluster)),
        ("/loopscope/time", "POST") => match request.object() {
            Ok(body) => advance(cluster, &body),
            Err(error) => Answer::error(&error, None),
        },
        ("/loopscope/fault", "POST") => match std::str::from_utf8(&request.body) {
            Ok(line) => fault(cluster, line),
            Err(_) => failure(400, "BadRequest", "the line is not UTF-8"),
        },
        ("/loopscope/kubectl", "POST") => match std::str::from_utf8(&request.body) {
            Ok(line) => kubectl(cluster, line),
            Err(_) => failure(400, "BadRequest", "the line is not UTF-8"),
        },
        ("/loopscope/apply", "POST") => match std::str::from_utf8(&request.body) {
            Ok(text) => printed(&cluster.act(Command::Apply(text.into()))),
            Err(_) => failure(400, "BadRequest", "the manifest is not UTF-8"),
        },
        ("/loopscope/record", "GET") if request.on("follow") => return Some(tell::follow(cluster)),
        ("/loopscope/record", "GET") => tell::whole(cluster),
        ("/loopscope/apply" | "/loopscope/fault" | "/loopscope/kubectl" | "/loopscope/record" | "/loopscope/time", _) => not_allowed(),
        _ => return None,
    };
    Some(answer.into())
}

fn time(cluster: &Cluster) -> Value {
    let now = cluster.sim.now();
    json!({ "seconds": now.0 as f64 / SECOND as f64, "wall": cluster.sim.server().wall_at(now).rfc3339(), "version": cluster.sim.server().version() })
}

/// Moves the clock: `{"seconds": 60}`.
fn advance(cluster: &mut Cluster, body: &Value) -> Answer {
    let seconds = body["seconds"].as_f64().unwrap_or(-1.0);
    let span = seconds * SECOND as f64;
    if !(0.0..=MOST as f64).contains(&span) {
        return failure(400, "BadRequest", "seconds must be a number from 0 to 86400");
    }
    cluster.pass((span as u64 / MS) * MS);
    Answer::json(200, &time(cluster))
}

/// Runs a line as the page's terminal does; what waits goes on without an answer.
fn kubectl(cluster: &mut Cluster, line: &str) -> Answer {
    printed(&cluster.act(Command::Kubectl(line.trim().into())))
}

/// What a command printed.
fn printed(answer: &actions::Answer) -> Answer {
    let lines: Vec<Value> = answer.lines.iter().map(|line| json!({ "text": line.text, "error": line.error })).collect();
    let wrong = answer.diagnostics.iter().map(|one| json!({ "line": one.line, "message": one.message.english(), "error": one.error }));
    Answer::json(200, &json!({ "failed": answer.failed, "lines": lines, "diagnostics": wrong.collect::<Vec<_>>() }))
}

/// Injects a fault, in the words of a scenario file: `node-down node-1`.
fn fault(cluster: &mut Cluster, line: &str) -> Answer {
    let answer = cluster.act(Command::Fault(line.trim().into()));
    if !answer.failed {
        return Answer::json(200, &time(cluster));
    }
    let problem = answer.lines.first().map_or("", |line| line.text.as_str());
    failure(400, "BadRequest", problem)
}
