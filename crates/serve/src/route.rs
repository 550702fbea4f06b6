//! Routing of requests.
//!
//! Models `apiserver/pkg/endpoints/installer.go`.

use super::cluster::{Cluster, Reply};
use super::prometheus::Labelled;
use super::request::{Accepts, Request, Target};
use super::status::{Answer, failure, no_such_path, no_such_resource, not_allowed};
use super::{
    convert, discovery, metrics, openapi, openapi_v2, options, read, reviews, subresources, write,
};
use crate::prometheus;
use cluster::Sim;
use k8s_model::{Kind, kind};
use serde_json::json;

/// Maximum size of a request's body, in bytes.
pub const MAX_BODY: usize = 3 * 1024 * 1024;

/// Answers a request, and counts it.
pub fn answer(cluster: &mut Cluster, request: &Request) -> Reply {
    let open = cluster.open.len();
    let target = Target::parse(&request.path);
    let about = target
        .as_ref()
        .and_then(|target| Some((kind_of(&cluster.sim, target)?, target)));
    let labels = prometheus::labels(cluster, request, about);
    let mut reply = dispatch(cluster, request, target.as_ref());
    let warning = about.and_then(|(kind, target)| {
        cluster
            .sim
            .server()
            .definitions()
            .deprecation(kind, &target.version)
    });
    let (code, warnings) = match &mut reply {
        Reply::Whole(answer) => (answer.code, Some(&mut answer.warnings)),
        Reply::Stream(_, _, warnings) => (200, Some(warnings)),
        Reply::Socket(..) => (101, None),
    };
    // The write may already have added it.
    if let (Some(warning), Some(warnings)) = (warning, warnings)
        && !warnings.contains(&warning)
    {
        warnings.push(warning);
    }
    if cluster.open.len() > open
        && let Some(inner) = cluster.open.pop()
    {
        cluster.open.push(Box::new(Labelled {
            labels: labels.clone(),
            inner,
        }));
    }
    cluster.counts.count(labels, code);
    reply
}

fn dispatch(cluster: &mut Cluster, request: &Request, target: Option<&Target>) -> Reply {
    if !matches!(request.method.as_str(), "GET" | "HEAD") {
        cluster.expect_changes();
    }
    if request.impersonates_nobody() {
        let message = "Internal error occurred: a uid, groups or extra were requested without impersonating a user";
        return failure(500, "InternalError", message).into();
    }
    match request.path.trim_end_matches('/') {
        "/metrics" => return prometheus::answer(cluster).into(),
        "/healthz" | "/livez" | "/readyz" => return Answer::text("ok").into(),
        "/version" => return Answer::json(200, &discovery::version()).into(),
        "" => return Answer::json(200, &json!({ "paths": discovery::paths(&cluster.sim) })).into(),
        "/openapi/v2" => return openapi_v2::answer(&cluster.sim, request).into(),
        path if path.starts_with("/openapi/v3") => {
            return openapi::answer(&cluster.sim, path).unwrap_or_else(|| no_such_path().into());
        }
        path if path == "/page" || path.starts_with("/page/") => {
            return super::page::answer(cluster.page.as_deref(), path)
                .unwrap_or_else(no_such_path)
                .into();
        }
        path if path.starts_with("/loopscope/") => {
            return super::control::answer(cluster, request)
                .unwrap_or_else(|| no_such_path().into());
        }
        _ => {}
    }
    if request.accepts() == Accepts::Nothing {
        return only_json().into();
    }
    if let Some(found) = discovery::answer(&cluster.sim, request) {
        let reads = matches!(request.method.as_str(), "GET" | "HEAD");
        return if reads {
            found.into()
        } else {
            not_allowed().into()
        };
    }
    let Some(target) = target else {
        return no_such_path().into();
    };
    // exec, attach and logs have options of their own.
    if !matches!(
        target.part.as_str(),
        "attach" | "exec" | "log" | "portforward"
    ) && let Some(refusal) = options::refusal(request)
    {
        return refusal.into();
    }
    if let Some(review) = reviews::answer(cluster, request, target) {
        return review.into();
    }
    if let Some(metrics) = metrics::answer(cluster, request, target) {
        return metrics.into();
    }
    if target.resource == "bindings" && target.group.is_empty() && target.name.is_empty() {
        return subresources::bind(cluster, request, target).into();
    }
    let Some(kind) = kind_of(&cluster.sim, target) else {
        return no_such_resource(request, target).into();
    };
    let reads = matches!(request.method.as_str(), "GET" | "HEAD");
    if !reads && !kind.is_stored() {
        return not_allowed().into();
    }
    if target.namespace.is_empty() && kind.info().namespaced && (!target.name.is_empty() || !reads)
    {
        return no_such_path().into();
    }
    match (
        request.method.as_str(),
        target.part.as_str(),
        target.name.as_str(),
    ) {
        ("GET" | "HEAD", "", "") => read::list(cluster, request, kind, target),
        ("GET" | "HEAD", "", _) if request.on("watch") => {
            read::list(cluster, request, kind, target)
        }
        ("GET" | "HEAD", "", _) => read::get(cluster, request, kind, target),
        ("POST", "", "") => write::create(cluster, request, kind, target).into(),
        ("PUT", "", name) if !name.is_empty() => {
            write::update(cluster, request, kind, target).into()
        }
        ("PATCH", "", name) if !name.is_empty() => {
            write::patch(cluster, request, kind, target).into()
        }
        ("DELETE", "", "") => write::delete_all(cluster, request, kind, target).into(),
        ("DELETE", "", _) => write::delete(cluster, request, kind, target).into(),
        (_, part, name) if !part.is_empty() && !name.is_empty() => {
            subresources::answer(cluster, request, kind, target)
        }
        _ => not_allowed().into(),
    }
}

/// Returns the kind named by a path.
fn kind_of(sim: &Sim, target: &Target) -> Option<Kind> {
    let built_in = kind::ALL.iter().copied().find(|kind| {
        let info = kind.info();
        info.plural == target.resource
            && info.group == target.group
            && info.version == target.version
    });
    let other =
        || convert::named(&target.group, &target.version, &target.resource).map(|alias| alias.kind);
    built_in.or_else(other).or_else(|| {
        let mut served = sim.server().definitions().served();
        let found = served.find(|definition| {
            let info = definition.kind.info();
            let version = definition
                .versions
                .iter()
                .any(|version| version.name == target.version);
            info.plural == target.resource && info.group == target.group && version
        });
        found.map(|definition| definition.kind)
    })
}

/// The client wants a media type that is not served.
fn only_json() -> Answer {
    let message = "only the following media types are accepted: application/json, application/yaml";
    failure(406, "NotAcceptable", message)
}
