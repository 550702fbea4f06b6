//! Subresources: which requests each takes; logs. Terminals are in `terminal`, tokens in `token`.
//!
//! Models `pkg/registry/*/storage` and `pkg/registry/core/pod/rest`.

use super::cluster::{Cluster, OpenRequest, Reply};
use super::discovery;
use super::follow::Follow;
use super::http_request::{HttpRequest, Target};
use super::status::{Answer, failure, no_such_path, not_allowed};
use super::write::{api_request, serve};
use apiserver::validation::{ErrorType, FieldError};
use apiserver::{ApiError, Subresource, Verb};
use k8s_model::{Kind, ObjectRef, Timestamp};
use kubectl::{PodLogOptions, Session};

/// Handles a request to a subresource.
pub fn answer(cluster: &mut Cluster, request: &HttpRequest, kind: Kind, target: &Target) -> Reply {
    if !discovery::has_part(&cluster.host.sim, kind, &target.version, &target.part) {
        return match kind.is_custom() {
            true => Answer::error(
                &ApiError::not_found(kind, &target.name),
                Some((kind, &target.name)),
            ),
            false => no_such_path(),
        }
        .into();
    }
    let verb = match request.method.as_str() {
        "GET" | "HEAD" => Verb::Get,
        "POST" => Verb::Create,
        "PUT" => Verb::Update,
        "PATCH" => Verb::Patch,
        _ => return not_allowed().into(),
    };
    let changes = matches!(verb, Verb::Update | Verb::Patch);
    let subresource = match (target.part.as_str(), kind) {
        ("status", _) => Subresource::Status,
        ("scale", _) => Subresource::Scale,
        ("resize", Kind::Pod) => Subresource::Resize,
        ("ephemeralcontainers", Kind::Pod) => Subresource::EphemeralContainers,
        ("approval", Kind::CertificateSigningRequest) => Subresource::Approval,
        ("eviction", Kind::Pod) => Subresource::Eviction,
        ("binding", Kind::Pod) => Subresource::Binding,
        ("finalize", Kind::Namespace) => Subresource::Finalize,
        ("portforward", Kind::Pod) => {
            if let Err(error) = hosted(cluster, target) {
                return Answer::error(&error, Some((kind, &target.name))).into();
            }
            let message = "port-forward is not simulated: containers do not run, so that nothing listens behind a port";
            return failure(400, "BadRequest", message).into();
        }
        ("log", Kind::Pod) if verb == Verb::Get => return log(cluster, request, target),
        ("exec" | "attach", Kind::Pod) if matches!(verb, Verb::Get | Verb::Create) => {
            return super::terminal::open(cluster, request, target);
        }
        ("token", Kind::ServiceAccount) if verb == Verb::Create => {
            return super::token::create(cluster, request, target).into();
        }
        _ => return not_allowed().into(),
    };
    let is_served = match subresource {
        Subresource::Eviction | Subresource::Binding => verb == Verb::Create,
        Subresource::Finalize => verb == Verb::Update,
        Subresource::Scale => changes || verb == Verb::Get,
        _ => changes || verb == Verb::Get,
    };
    if !is_served {
        return not_allowed().into();
    }
    if request.applies() && !matches!(subresource, Subresource::Status | Subresource::Scale) {
        let error = ApiError::unsupported_body();
        return Answer::error(&error, Some((kind, &target.name))).into();
    }
    serve(cluster, request, kind, target, verb, subresource).into()
}

/// Refuses to connect to a Pod that no node runs.
fn hosted(cluster: &Cluster, target: &Target) -> Result<(), ApiError> {
    let key = ObjectRef::new(Kind::Pod, &target.namespace, &target.name);
    let Some(pod) = cluster.host.sim.store().get(&key) else {
        return Err(ApiError::not_found(Kind::Pod, &target.name));
    };
    match pod.pod().is_some_and(|pod| pod.node_name.is_empty()) {
        true => Err(kubectl::no_host(&target.name)),
        false => Ok(()),
    }
}

/// Binds the Pod that a Binding names.
pub fn bind(cluster: &mut Cluster, request: &HttpRequest, target: &Target) -> Answer {
    if request.method != "POST" || target.namespace.is_empty() {
        return not_allowed();
    }
    serve(
        cluster,
        request,
        Kind::Pod,
        target,
        Verb::Create,
        Subresource::Binding,
    )
}

/// Returns the log of a container, as for `kubectl logs`.
fn log(cluster: &mut Cluster, request: &HttpRequest, target: &Target) -> Reply {
    let refused = |error: &ApiError| Answer::error(error, Some((Kind::Pod, &target.name))).into();
    let connection = api_request(request, Kind::Pod, target, Verb::Get, Subresource::Log);
    let pod = match cluster.connect(connection) {
        Ok(pod) => pod,
        Err(error) => return refused(&error),
    };
    let opened = log_options(
        request,
        &target.name,
        cluster.host.sim.store().wall_at(cluster.host.sim.now()),
    )
    .and_then(|options| Session::log(&mut cluster.host.sim, &pod, &options));
    match opened {
        Err(error) => refused(&error),
        // A Pod without a node has no log, which is no error: `LogLocation` of `pkg/registry/core/pod/strategy.go`.
        Ok(_) if hosted(cluster, target).is_err() => Answer {
            code: 204,
            content_type: "",
            ..Answer::text("")
        }
        .into(),
        Ok(session) if session.exit.is_some() => Answer::text(session.stdout).into(),
        Ok(session) => {
            let (mut follow, receiver) = Follow::open(session);
            if follow.poll(cluster) {
                cluster.open.push(Box::new(follow));
            }
            Reply::Stream("text/plain", receiver, Vec::new())
        }
    }
}

/// Reads `PodLogOptions`. Models `ValidatePodLogOptions` in `pkg/apis/core/validation`.
fn log_options(
    request: &HttpRequest,
    name: &str,
    now: Timestamp,
) -> Result<PodLogOptions, ApiError> {
    let text = |name: &str| Some(request.option(name)).filter(|value| !value.is_empty());
    let number = |name: &str| {
        text(name)
            .map(|value| {
                value
                    .parse::<i64>()
                    .map_err(|_| ApiError::bad_request(format!("{name}: not a number: {value:?}")))
            })
            .transpose()
    };
    if request.on("timestamps") {
        return Err(ApiError::bad_request(
            "logs are not simulated with timestamps".into(),
        ));
    }
    let (tail, limit) = (number("tailLines")?, number("limitBytes")?);
    let (seconds, time) = (number("sinceSeconds")?, text("sinceTime"));
    let mut errors = Vec::new();
    let mut at_least = |field: &str, value: Option<i64>, least: i64, detail: &str| {
        if let Some(value) = value.filter(|value| *value < least) {
            errors.push(FieldError {
                field: field.to_owned(),
                fault: ErrorType::Invalid,
                value: value.to_string(),
                detail: detail.to_owned(),
            });
        }
    };
    at_least("tailLines", tail, 0, "must be greater than or equal to 0");
    at_least("limitBytes", limit, 1, "must be greater than 0");
    if seconds.is_some() && time.is_some() {
        errors.push(FieldError {
            field: "[]".to_owned(),
            fault: ErrorType::Forbidden,
            value: String::new(),
            detail: "at most one of `sinceTime` or `sinceSeconds` may be specified".to_owned(),
        });
    } else {
        at_least("sinceSeconds", seconds, 1, "must be greater than 0");
    }
    if !errors.is_empty() {
        return Err(ApiError::invalid_fields("PodLogOptions", name, &errors));
    }
    let since = match (seconds, time) {
        (Some(seconds), _) => Some(now.seconds().saturating_sub(seconds)),
        (None, Some(time)) => Some(
            Timestamp::parse(time)
                .ok_or_else(|| ApiError::bad_request(format!("sinceTime: no time: {time:?}")))?
                .seconds(),
        ),
        (None, None) => None,
    };
    let size = |number: Option<i64>| number.and_then(|number| usize::try_from(number).ok());
    Ok(PodLogOptions {
        container: text("container").map(|name| name.to_string()),
        follow: request.on("follow"),
        previous: request.on("previous"),
        tail_lines: size(tail),
        since,
        limit_bytes: size(limit),
    })
}
