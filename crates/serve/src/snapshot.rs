//! `/loopscope/snapshots`: snapshots of the cluster by name, and restoring them; `/loopscope/fork`: a second server with the same history.

use super::cluster::{ClockPace, Cluster};
use super::http_request::HttpRequest;
use super::record_stream;
use super::status::{Answer, failure, no_such_path, not_allowed};
use serde_json::json;

/// Maximum number of snapshots.
const MOST_SNAPSHOTS: usize = 100;
/// Maximum number of forks of a server.
const MOST_FORKS: usize = 16;
const LONGEST_NAME: usize = 100;

/// Handles a request: `GET` lists, `PUT` takes, `POST` restores, `DELETE` removes.
pub fn answer(cluster: &mut Cluster, method: &str, name: &str) -> Answer {
    let is_name = name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
        && name.len() <= LONGEST_NAME;
    match (method, name) {
        ("GET", "") => {
            let all = cluster.snapshots.iter().map(
                |(name, kept)| json!({ "name": name, "seconds": kept.host.sim.now().seconds() }),
            );
            Answer::json(200, &all.collect())
        }
        (_, "") => not_allowed(),
        _ if !is_name => failure(
            400,
            "BadRequest",
            "the name of a snapshot has letters, digits, -, _ and . only",
        ),
        ("PUT", _)
            if cluster.snapshots.len() >= MOST_SNAPSHOTS
                && !cluster.snapshots.contains_key(name) =>
        {
            failure(
                429,
                "TooManyRequests",
                "no more than 100 snapshots are kept: delete one first",
            )
        }
        ("PUT", _) => {
            let kept = cluster.snapshot();
            cluster.snapshots.insert(name.to_owned(), kept);
            Answer::json(200, &json!({ "name": name }))
        }
        ("POST", _) => match cluster.snapshots.get(name).cloned() {
            Some(kept) => {
                cluster.restore(kept);
                Answer::json(200, &json!({ "name": name }))
            }
            None => no_such_path(),
        },
        ("DELETE", _) => cluster
            .snapshots
            .remove(name)
            .map_or_else(no_such_path, |_| {
                Answer::json(200, &json!({ "name": name }))
            }),
        _ => not_allowed(),
    }
}

/// Starts another server on a free port, whose cluster has the history of this one; its clock is stopped unless `speed` is given.
pub fn fork(cluster: &mut Cluster, request: &HttpRequest) -> Answer {
    let body = match if request.body.is_empty() {
        Ok(serde_json::Value::Null)
    } else {
        request.own_object("Fork")
    } {
        Ok(body) => body,
        Err(error) => return Answer::error(&error, None),
    };
    if cluster.forks.len() >= MOST_FORKS {
        return failure(
            429,
            "TooManyRequests",
            "no more than 16 servers are forked off one",
        );
    }
    let speed = body["speed"].as_f64().unwrap_or(0.0);
    let pace = if speed > 0.0 {
        ClockPace::Real(speed.clamp(0.01, 10_000.0))
    } else {
        ClockPace::Held
    };
    let record = String::from_utf8_lossy(&record_stream::whole(cluster).body).into_owned();
    match cluster.starter.as_ref().map(|start| start(record, pace)) {
        Some(Ok((address, server))) => {
            cluster.forks.push(server);
            Answer::json(201, &json!({ "address": format!("http://{address}") }))
        }
        Some(Err(problem)) => failure(500, "InternalError", &problem),
        None => not_allowed(),
    }
}
