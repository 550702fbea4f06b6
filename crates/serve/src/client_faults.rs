//! Filter of injected faults: refuses, delays or cuts off requests of clients before they are routed (`crates/cluster/src/faults/clients.rs`).
//!
//! Models the refusals of `apiserver/pkg/server/filters/{maxinflight,timeout}.go`, `apimachinery/pkg/api/errors`,
//! `apiserver/pkg/storage/etcd3/errors.go` and `apiserver/pkg/storage/cacher`.

use super::cluster::{Cluster, Reply};
use super::http_request::{HttpRequest, Target};
use super::status::{Answer, expired, failure, retry_after, timeout};
use super::watch;
use apiserver::{ApiError, UserInfo};
use fault::{CallStage, ClientAction, ClientCall};
use k8s_model::Kind;
use std::time::Duration;
use tokio::sync::mpsc;

/// Paths that faults spare: the server's own, by which they are ended.
const SPARED: [&str; 2] = ["/loopscope", "/page"];

/// Message of a list that cannot be continued (`etcd3/errors.go`).
const CONTINUE_EXPIRED: &str = "The provided continue parameter is too old to display a consistent list result. You can start a new list \
                                without the continue parameter.";

/// Returns the exchange that a request begins.
pub fn call(request: &HttpRequest, stage: CallStage) -> ClientCall {
    let target = Target::parse(&request.path);
    let (group, resource, part) = target.as_ref().map_or(("", "", ""), |target| {
        (&*target.group, &*target.resource, &*target.part)
    });
    let is_all = target.as_ref().is_some_and(|target| target.name.is_empty());
    let verb = match request.method.as_str() {
        "GET" | "HEAD" if target.is_some() && request.on("watch") => "watch",
        "GET" | "HEAD" if is_all => "list",
        "GET" | "HEAD" => "get",
        _ if target.is_none() => &request.method.to_ascii_lowercase(),
        "POST" => "create",
        "PUT" => "update",
        "DELETE" if is_all => "deletecollection",
        method => &method.to_ascii_lowercase(),
    };
    let user = request.user().unwrap_or_else(UserInfo::administrator);
    ClientCall {
        agent: request.header("user-agent").into(),
        user: user.name,
        verb: verb.into(),
        group: group.into(),
        resource: resource.into(),
        subresource: part.into(),
        line: format!("{} {}", request.method, request.path).into(),
        stage,
    }
}

/// Passes a request through the injected faults to its handler.
pub fn filter(
    cluster: &mut Cluster,
    request: &HttpRequest,
    about: Option<(Kind, &Target)>,
    handler: impl FnOnce(&mut Cluster) -> Reply,
) -> Reply {
    let is_spared = |path: &str| {
        let rest = request.path.strip_prefix(path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if SPARED.into_iter().any(is_spared) {
        return handler(cluster);
    }
    let stage = CallStage::Request {
        resumes: resumes(request),
    };
    // A request that is served again was decided about the first time.
    let decided = cluster.exchanges.current.fault.take();
    let decision = decided.unwrap_or_else(|| cluster.client_fault(|| call(request, stage)));
    cluster.exchanges.current.fault = Some(decision);
    match decision {
        None | Some(ClientAction::Lose | ClientAction::Delay(_)) => handler(cluster),
        Some(ClientAction::TooManyRequests(seconds)) => {
            let message = "Too many requests, please try again later.";
            retry_after(429, "TooManyRequests", message, seconds).into()
        }
        Some(ClientAction::InternalError) => failure(
            500,
            "InternalError",
            "Internal error occurred: injected fault",
        )
        .into(),
        Some(ClientAction::Unavailable) => {
            let message = "the server is currently unable to handle the request";
            failure(503, "ServiceUnavailable", message).into()
        }
        Some(ClientAction::Conflict) => match about {
            Some((kind, target)) => {
                let error = ApiError::conflict(kind, &target.name);
                Answer::error(&error, Some((kind, &target.name))).into()
            }
            None => handler(cluster),
        },
        Some(ClientAction::TimeoutAfterCommit) => match handler(cluster) {
            Reply::Whole(answer) if answer.code < 300 => timeout().into(),
            reply => reply,
        },
        Some(ClientAction::Slow(span)) => {
            Reply::Late(Duration::from_micros(span), Box::new(handler(cluster)))
        }
        Some(ClientAction::Disconnect) => Reply::Dropped,
        Some(ClientAction::Expire) if request.on("watch") => {
            let version = request.option("resourceVersion");
            let current = cluster.host.sim.store().version();
            expired_watch(&format!("too old resource version: {version} ({current})"))
        }
        Some(ClientAction::Expire) => Answer::json(410, &expired(CONTINUE_EXPIRED)).into(),
    }
}

/// Returns true for a watch that begins at a resourceVersion, and for the next page of a list.
fn resumes(request: &HttpRequest) -> bool {
    match request.on("watch") {
        true => !matches!(request.option("resourceVersion"), "" | "0"),
        false => request.has("continue"),
    }
}

/// Returns a watch that has one event, an error: a watch whose options are valid fails no other way (`Cacher.Watch`).
fn expired_watch(message: &str) -> Reply {
    let (sender, receiver) = mpsc::channel(1);
    // The channel has room.
    let _ = sender.try_send(watch::error_event(message).into_bytes());
    Reply::Stream("application/json", receiver, Vec::new())
}
