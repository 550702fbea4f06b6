//! `/loopscope/run`: kubectl lines that run concurrently, with their output and exit codes, for tests without kubectl.

use super::cluster::Cluster;
use super::http_request::HttpRequest;
use super::status::{Answer, failure, no_such_path, not_allowed};
use k8s_model::time::SECOND;
use kubectl::parse::split;
use kubectl::{BesideAct, Session};
use scenario::resolve;
use serde_json::{Value, json};

/// Maximum number of commands that wait at the same time.
const MOST: usize = 1_000;
/// Longest patience, in virtual seconds.
const MAX_PATIENCE: u64 = 24 * 3_600;

/// Starts a command, or polls or interrupts the one with a number.
pub fn answer(cluster: &mut Cluster, request: &HttpRequest, id: &str) -> Answer {
    match (request.method.as_str(), id) {
        ("POST", "") => start(cluster, request),
        ("POST", id) => act_on(cluster, id, BesideAct::Poll),
        (_, "") => not_allowed(),
        (_, id) => act_on(cluster, id, BesideAct::Interrupt),
    }
}

/// Starts a command; one that has `patience` runs to its end while that many virtual seconds pass, and is interrupted after them.
fn start(cluster: &mut Cluster, request: &HttpRequest) -> Answer {
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
    let stdin = body["stdin"].as_str().unwrap_or("");
    match body["patience"].as_u64() {
        Some(patience) => run(cluster, &words, stdin, patience.min(MAX_PATIENCE)).map_or_else(
            no_such_path,
            |ended| {
                let mut answer = printed(ended.id, &ended.session);
                answer["interrupted"] = ended.is_interrupted.into();
                Answer::json(200, &answer)
            },
        ),
        None => {
            let id = cluster.next_remote();
            let start = BesideAct::Start(resolved(cluster, &words), stdin.to_owned());
            act(cluster, id, start)
        }
    }
}

fn resolved(cluster: &Cluster, words: &[String]) -> Vec<String> {
    let words = words.iter();
    words.map(|word| resolve(word, &cluster.host.sim)).collect()
}

/// Command that has ended.
pub(super) struct EndedCommand {
    id: u32,
    /// Command with its output and exit code.
    pub(super) session: Session,
    /// True if it still waited after the patience.
    is_interrupted: bool,
}

/// Runs a command to its end while up to `patience` virtual seconds pass; then it is interrupted.
pub(super) fn run(
    cluster: &mut Cluster,
    words: &[String],
    stdin: &str,
    patience: u64,
) -> Option<EndedCommand> {
    let id = cluster.next_remote();
    let start = BesideAct::Start(resolved(cluster, words), stdin.to_owned());
    let mut ended = cluster.act_beside(id, start);
    for _ in 0..patience {
        if ended.is_some() {
            break;
        }
        cluster.pass(SECOND);
        ended = cluster.act_beside(id, BesideAct::Poll);
    }
    let is_interrupted = ended.is_none();
    let session = ended.or_else(|| cluster.act_beside(id, BesideAct::Interrupt))?;
    Some(EndedCommand {
        id,
        session,
        is_interrupted,
    })
}

/// Acts on the command with a number.
fn act_on(cluster: &mut Cluster, id: &str, action: BesideAct) -> Answer {
    let known = id
        .parse()
        .ok()
        .filter(|id| cluster.beside().session(*id).is_some());
    known.map_or_else(no_such_path, |id| act(cluster, id, action))
}

fn act(cluster: &mut Cluster, id: u32, action: BesideAct) -> Answer {
    let ended = cluster.act_beside(id, action);
    let session = ended.as_ref().or_else(|| cluster.beside().session(id));
    session.map_or_else(no_such_path, |session| {
        Answer::json(200, &printed(id, session))
    })
}

fn printed(id: u32, session: &Session) -> Value {
    json!({ "id": id, "stdout": session.stdout, "stderr": session.stderr, "exit": session.exit })
}
