//! `/loopscope/run`: kubectl lines that run concurrently, with their output and exit codes, for tests without kubectl.

use super::cluster::Cluster;
use super::http_request::HttpRequest;
use super::status::{Answer, failure, no_such_path};
use kubectl::BesideAct;
use kubectl::parse::split;
use scenario::resolve;
use serde_json::{Value, json};

/// Maximum number of commands that wait at the same time.
const MOST: usize = 1_000;

/// Starts a command, or polls the one with a number.
pub fn answer(cluster: &mut Cluster, request: &HttpRequest, id: &str) -> Answer {
    if !id.is_empty() {
        let known = id
            .parse()
            .ok()
            .filter(|id| cluster.beside().session(*id).is_some());
        return known.map_or_else(no_such_path, |id| act(cluster, id, BesideAct::Poll));
    }
    let body = match request.own_object("Command") {
        Ok(body) => body,
        Err(error) => return Answer::error(&error, None),
    };
    if cluster.beside().len() >= MOST {
        return failure(429, "TooManyRequests", "too many commands wait");
    }
    let words = match &body["command"] {
        Value::String(line) => split(line),
        Value::Array(words) => words
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    };
    if words.is_empty() {
        return failure(
            400,
            "BadRequest",
            "command must be a line or a list of words",
        );
    }
    let words = words
        .iter()
        .map(|word| resolve(word, &cluster.host.sim))
        .collect();
    let id = cluster.next_remote();
    act(
        cluster,
        id,
        BesideAct::Start(words, body["stdin"].as_str().unwrap_or("").to_owned()),
    )
}

/// Interrupts the command with a number.
pub fn interrupt(cluster: &mut Cluster, id: &str) -> Answer {
    let known = id
        .parse()
        .ok()
        .filter(|id| cluster.beside().session(*id).is_some());
    known.map_or_else(no_such_path, |id| act(cluster, id, BesideAct::Interrupt))
}

fn act(cluster: &mut Cluster, id: u32, act: BesideAct) -> Answer {
    let ended = cluster.act_beside(id, act);
    let session = ended.as_ref().or_else(|| cluster.beside().session(id));
    let Some(session) = session else {
        return no_such_path();
    };
    Answer::json(
        200,
        &json!({ "id": id, "stdout": session.stdout, "stderr": session.stderr, "exit": session.exit }),
    )
}
