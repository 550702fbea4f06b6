//! Routing of requests.
//!
//! Models `apiserver/pkg/endpoints/installer.go`.

use super::cluster::{Cluster, Reply};
use super::http_request::{Accepts, HttpRequest, Target};
use super::prometheus::Labelled;
use super::status::{Answer, failure, no_such_path, not_allowed, page_not_found};
use super::{
    authentication, client_faults, discovery, metrics, openapi, openapi_v2, options, read, reviews,
    subresources, write,
};
use crate::prometheus;
use apiserver::{Subresource, Verb, conversion};
use cluster::Sim;
use k8s_model::{Kind, kind};
use serde_json::json;

/// Maximum size of a request's body, in bytes.
pub const MAX_BODY: usize = 3 * 1024 * 1024;

/// Answers a request, and counts it.
pub fn answer(cluster: &mut Cluster, request: &HttpRequest) -> Reply {
    let open = cluster.open.len();
    let target = Target::parse(&request.path);
    let about = target
        .as_ref()
        .and_then(|target| Some((kind_of(&cluster.host.sim, target)?, target)));
    let labels = prometheus::labels(cluster, request, about);
    let reply = client_faults::filter(cluster, request, about, |cluster| {
        dispatch(cluster, request, target.as_ref())
    });
    if cluster.exchanges.current.is_pending {
        // It is served again.
        return reply;
    }
    let (delay, mut reply) = match reply {
        Reply::Late(delay, reply) => (Some(delay), *reply),
        reply => (None, reply),
    };
    let warning = about.and_then(|(kind, target)| {
        cluster
            .host
            .sim
            .server
            .definitions()
            .deprecation(kind, &target.version)
    });
    let (code, warnings) = match &mut reply {
        Reply::Whole(answer) => (answer.code, Some(&mut answer.warnings)),
        Reply::Stream(_, _, warnings) => (200, Some(warnings)),
        Reply::Socket(..) => (101, None),
        Reply::Late(..) | Reply::Dropped => return reply,
    };
    // The write may already have added it.
    if let (Some(warning), Some(warnings)) = (warning, warnings)
        && !warnings.contains(&warning)
    {
        warnings.push(warning);
    }
    if cluster.open.len() > open
        && matches!(reply, Reply::Stream(..) | Reply::Socket(..))
        && let Some(inner) = cluster.open.pop()
    {
        cluster.open.push(Box::new(Labelled {
            labels: labels.clone(),
            inner,
        }));
    }
    cluster.counts.count(labels, code);
    match delay {
        Some(delay) => Reply::Late(delay, Box::new(reply)),
        None => reply,
    }
}

fn dispatch(cluster: &mut Cluster, request: &HttpRequest, target: Option<&Target>) -> Reply {
    if !matches!(request.method.as_str(), "GET" | "HEAD") {
        cluster.expect_changes();
    }
    if let Some(nobody) = request.impersonated_nobody() {
        let message = format!("requested {nobody} without impersonating a user name");
        return failure(400, "BadRequest", &message).into();
    }
    if let Some(refusal) = authentication::refusal(&cluster.host.sim, request, target) {
        return refusal.into();
    }
    match request.path.trim_end_matches('/') {
        "/.well-known/openid-configuration" => {
            let answer = cluster.authenticator.as_ref().map(|authenticator| {
                let host = request.header("host");
                Answer::json(200, &authenticator.issuer.configuration(host))
            });
            return answer.unwrap_or_else(page_not_found).into();
        }
        "/openid/v1/jwks" => {
            let answer = cluster.authenticator.as_ref().map(|authenticator| Answer {
                content_type: "application/jwk-set+json",
                ..Answer::json(200, &authenticator.issuer.keys())
            });
            return answer.unwrap_or_else(page_not_found).into();
        }
        "/metrics" => return prometheus::answer(cluster).into(),
        "/healthz" | "/livez" | "/readyz" => return Answer::text("ok").into(),
        "/version" => return Answer::json(200, &discovery::version()).into(),
        "" => {
            return Answer::json(
                200,
                &json!({ "paths": discovery::paths(&cluster.host.sim) }),
            )
            .into();
        }
        "/openapi/v2" => return openapi_v2::answer(&cluster.host.sim, request).into(),
        path if path.starts_with("/openapi/v3") => {
            return openapi::answer(&cluster.host.sim, path)
                .unwrap_or_else(|| no_such_path().into());
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
        return not_acceptable(request, target).into();
    }
    if let Some(found) = discovery::answer(&cluster.host.sim, request) {
        let reads = matches!(request.method.as_str(), "GET" | "HEAD");
        return if reads {
            found.into()
        } else {
            not_allowed().into()
        };
    }
    let Some(target) = target else {
        return missing(&request.path).into();
    };
    // exec, attach and logs have options of their own.
    if !matches!(
        target.part.as_str(),
        "attach" | "exec" | "log" | "portforward"
    ) && let Some(refusal) = options::refusal(request, target)
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
    let Some(kind) = kind_of(&cluster.host.sim, target) else {
        return missing(&request.path).into();
    };
    let reads = matches!(request.method.as_str(), "GET" | "HEAD");
    if !reads && !kind.is_stored() {
        return not_allowed().into();
    }
    let is_collection = target.name.is_empty();
    let needs_namespace = target.namespace.is_empty() && (!is_collection || !reads);
    if kind.info().namespaced && needs_namespace {
        return match is_collection && !kind.is_custom() {
            true => not_allowed().into(),
            false => missing(&request.path).into(),
        };
    }
    if !kind.info().namespaced && !target.namespace.is_empty() {
        return missing(&request.path).into();
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
        ("GET" | "HEAD", "", _) => {
            write::serve(cluster, request, kind, target, Verb::Get, Subresource::Main).into()
        }
        ("DELETE", "", "") if kind == Kind::Namespace => not_allowed().into(),
        ("DELETE", "", "") => {
            let (verb, part) = (Verb::DeleteCollection, Subresource::Main);
            write::serve(cluster, request, kind, target, verb, part).into()
        }
        (method, "", name) => {
            let verb = match method {
                "POST" if name.is_empty() => Verb::Create,
                "PUT" if !name.is_empty() => Verb::Update,
                "PATCH" if !name.is_empty() => Verb::Patch,
                "DELETE" => Verb::Delete,
                _ => return not_allowed().into(),
            };
            write::serve(cluster, request, kind, target, verb, Subresource::Main).into()
        }
        (_, _, "") => not_allowed().into(),
        _ => subresources::answer(cluster, request, kind, target),
    }
}

/// Returns the answer for an unknown path: a `Status` from the router of the built-in API groups, and plain text from any other handler.
fn missing(path: &str) -> Answer {
    let mut words = path.trim_start_matches('/').split('/');
    let is_built_in = match (words.next(), words.next()) {
        (Some("api"), _) => true,
        (Some("apis"), Some(group)) => discovery::is_built_in(group),
        _ => false,
    };
    match is_built_in {
        true => no_such_path(),
        false => page_not_found(),
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
    let other = || conversion::kind_of_resource(&target.group, &target.version, &target.resource);
    built_in.or_else(other).or_else(|| {
        let mut served = sim.server.definitions().served();
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

/// Answer to a client that accepts no representation of the object.
fn not_acceptable(request: &HttpRequest, target: Option<&Target>) -> Answer {
    const SERVED: &str = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
    const STREAMED: &str =
        ", application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
    let is_list = target.is_some_and(|target| target.name.is_empty());
    let message = match request.accepts_served_media() {
        true => format!("only the following media types are accepted: {SERVED}"),
        false => format!(
            "406: Not Acceptable\n\nAvailable representations: {SERVED}{}",
            if is_list { STREAMED } else { "" }
        ),
    };
    failure(406, "NotAcceptable", &message)
}
