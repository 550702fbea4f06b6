//! `/loopscope/…`: the clock of the cluster and its faults, for tests and for people.

use super::cluster::{Cluster, Reply};
use super::http_request::HttpRequest;
use super::status::{Answer, failure, not_allowed};
use super::{environment, explanation, record_stream};
use actions::Action;
use fault::Fault;
use k8s_model::Time;
use k8s_model::time::SECOND;
use scenario::resolve;
use serde_json::{Value, json};

/// Longest span by which one request may advance the clock.
const MOST: u64 = 24 * 3_600 * SECOND;

/// Handles a request about the cluster itself.
pub fn answer(cluster: &mut Cluster, request: &HttpRequest) -> Option<Reply> {
    let path = request.path.strip_prefix("/loopscope/")?;
    let (word, name) = path.split_once('/').unwrap_or((path, ""));
    let answer = match (word, request.method.as_str(), name) {
        ("time", "GET", "") => Answer::json(200, &time(cluster)),
        ("time", "POST", "") => match request.own_object("Time") {
            Ok(body) => advance(cluster, &body),
            Err(error) => Answer::error(&error, None),
        },
        ("fault", "GET", "") => Answer::json(200, &client_faults(cluster)),
        ("fault", "POST", "") => with_text(request, |line| inject(cluster, line)),
        ("kubectl", "POST", "") => with_text(request, |line| {
            printed(&cluster.act(Action::Kubectl(line.trim().into())))
        }),
        ("apply", "POST", "") => with_text(request, |text| {
            printed(&cluster.act(Action::Apply(text.into())))
        }),
        ("run", "POST" | "DELETE", id) => super::beside::answer(cluster, request, id),
        ("why", "GET", object) => explanation::why(cluster, object),
        ("diagnosis", "GET", object) => explanation::diagnosis(cluster, object),
        ("value", "POST", "") => with_text(request, |text| explanation::value(cluster, text)),
        ("environment", _, name) => environment::answer(cluster, request, name)?,
        ("snapshots", method, name) => super::snapshot::answer(cluster, method, name),
        ("fork", "POST", "") => super::snapshot::fork(cluster, request),
        ("record", "GET", "") if request.on("follow") => {
            return Some(record_stream::follow(cluster));
        }
        ("record", "GET", "") => record_stream::whole(cluster),
        ("apply" | "fault" | "fork" | "kubectl" | "record" | "run" | "time" | "value", _, "") => {
            not_allowed()
        }
        _ => return None,
    };
    Some(answer.into())
}

fn with_text(request: &HttpRequest, then: impl FnOnce(&str) -> Answer) -> Answer {
    std::str::from_utf8(&request.body).map_or_else(
        |_| failure(400, "BadRequest", "the text is not UTF-8"),
        then,
    )
}

fn time(cluster: &Cluster) -> Value {
    let now = cluster.host.sim.now();
    json!({
        "seconds": now.seconds(), "next": cluster.host.sim.tasks.next_due().map(Time::seconds), "changed": cluster.host.sim.last_change().seconds(),
        "wall": cluster.host.sim.store().wall_at(now).rfc3339(), "version": cluster.host.sim.store().version(),
    })
}

/// Returns the faults on clients that have not ended.
fn client_faults(cluster: &Cluster) -> Value {
    let sim = &cluster.host.sim;
    sim.client_faults
        .active(sim.now())
        .map(|active| {
            let fault = active.fault.to_string();
            json!({ "fault": fault, "hits": active.hits, "left": active.left() })
        })
        .collect()
}

/// Advances the clock: `{"seconds": 60}`, `{"until": "settled"}`.
fn advance(cluster: &mut Cluster, body: &Value) -> Answer {
    if body["until"] == "settled" {
        cluster.settle();
        return Answer::json(200, &time(cluster));
    }
    match span(body["seconds"].as_f64().unwrap_or(-1.0)) {
        Ok(span) => {
            cluster.pass(span);
            Answer::json(200, &time(cluster))
        }
        Err(problem) => failure(400, "BadRequest", problem),
    }
}

/// Converts a span of the clock in seconds to microseconds.
///
/// # Errors
/// The span is negative or longer than a day.
pub(super) fn span(seconds: f64) -> Result<u64, &'static str> {
    let span = seconds * SECOND as f64;
    if !(0.0..=MOST as f64).contains(&span) {
        return Err("seconds must be a number from 0 to 86400");
    }
    Ok(span.round() as u64)
}

/// Formats the output of a command.
fn printed(answer: &actions::ActionResult) -> Answer {
    let lines: Vec<Value> = answer
        .lines
        .iter()
        .map(|line| json!({ "text": line.text, "error": line.error }))
        .collect();
    let wrong = answer.diagnostics.iter().map(
        |one| json!({ "line": one.line, "message": one.message.english(), "error": one.error }),
    );
    Answer::json(
        200,
        &json!({ "failed": answer.failed, "lines": lines, "diagnostics": wrong.collect::<Vec<_>>() }),
    )
}

/// Injects a fault, in the syntax of a scenario file: `node-down node-1`.
fn inject(cluster: &mut Cluster, line: &str) -> Answer {
    let injected = fault(&resolve(line, &cluster.host.sim))
        .and_then(|fault| refused(cluster.act(Action::Fault(fault))));
    match injected {
        Ok(()) => Answer::json(200, &time(cluster)),
        Err(problem) => failure(400, "BadRequest", &problem),
    }
}

/// Parses the line of a fault.
pub(super) fn fault(line: &str) -> Result<Fault, String> {
    line.trim()
        .parse()
        .map_err(|error: fault::FaultError| error.printed())
}

/// Returns what a fault that was refused says.
pub(super) fn refused(result: actions::ActionResult) -> Result<(), String> {
    match result.failed {
        true => Err(result
            .lines
            .first()
            .map(|line| line.text.clone())
            .unwrap_or_default()),
        false => Ok(()),
    }
}
