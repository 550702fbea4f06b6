//! Subresources: status, scale, resize, eviction, log; exec and attach are in `terminal`, tokens in `token`.
//!
//! Models `pkg/registry/*/storage`, `pkg/registry/core/pod/rest` and `autoscaling/v1`.

use super::cluster::{Cluster, OpenRequest, Reply};
use super::follow::Follow;
use super::request::{Request, Target};
use super::status::{Answer, failure, no_such_path, not_allowed};
use super::write::{apply, body, change, deletion, written};
use super::{convert, discovery};
use apiserver::validation::{ErrorType, FieldError};
use apiserver::{
    ApiError, ApiServer, ClientWrite, Name, ObjectScale, Patch, Subresource, Written, check_uid,
};
use k8s_model::{Kind, Object, ObjectRef, Timestamp};
use kubectl::{PodLogOptions, Session};
use serde_json::{Value, json};

const SCALE_VERSION: &str = "autoscaling/v1";

/// Handles a request to a subresource.
pub fn answer(cluster: &mut Cluster, request: &Request, kind: Kind, target: &Target) -> Reply {
    let reads = matches!(request.method.as_str(), "GET" | "HEAD");
    if !discovery::has_part(&cluster.sim, kind, &target.version, &target.part) {
        return no_such_path().into();
    }
    match (target.part.as_str(), kind) {
        ("status", _) if reads => super::read::get(cluster, request, kind, target),
        ("status", _) => change_part(cluster, request, (kind, target), Subresource::Status).into(),
        ("resize" | "ephemeralcontainers", Kind::Pod) if reads => {
            super::read::get(cluster, request, kind, target)
        }
        ("ephemeralcontainers", Kind::Pod) => change_part(
            cluster,
            request,
            (kind, target),
            Subresource::EphemeralContainers,
        )
        .into(),
        ("resize", Kind::Pod) => {
            change_part(cluster, request, (kind, target), Subresource::Resize).into()
        }
        ("scale", _) => scale(cluster, request, kind, target).into(),
        ("eviction", Kind::Pod) if request.method == "POST" => {
            evict(cluster, request, target).into()
        }
        ("binding", Kind::Pod) if request.method == "POST" => bind(cluster, request, target).into(),
        ("finalize", Kind::Namespace) if request.method == "PUT" => {
            finalize(cluster, request, target).into()
        }
        ("approval", Kind::CertificateSigningRequest) if reads => {
            super::read::get(cluster, request, kind, target)
        }
        ("approval", Kind::CertificateSigningRequest) => {
            change_part(cluster, request, (kind, target), Subresource::Approval).into()
        }
        ("portforward", Kind::Pod) => {
            let message = "port-forward is not simulated: containers do not run, so that nothing listens behind a port";
            failure(400, "BadRequest", message).into()
        }
        ("log", Kind::Pod) if reads => log(cluster, request, target),
        ("exec" | "attach", Kind::Pod) if matches!(request.method.as_str(), "GET" | "POST") => {
            super::terminal::open(cluster, request, target)
        }
        ("token", Kind::ServiceAccount) if request.method == "POST" => {
            super::token::create(cluster, request, target).into()
        }
        _ => not_allowed().into(),
    }
}

/// Patches or replaces a subresource.
fn change_part(
    cluster: &mut Cluster,
    request: &Request,
    (kind, target): (Kind, &Target),
    part: Subresource,
) -> Answer {
    let key = ObjectRef::new(kind, &target.namespace, &target.name);
    let change = match request.method.as_str() {
        "PATCH" if request.applies() && part == Subresource::Status => {
            return apply(cluster, request, (kind, target), part);
        }
        "PATCH" if convert::is_other(&target.api_version(), kind) => {
            converted(cluster, request, &key, (part, target))
        }
        "PATCH" => change(request),
        "PUT" => {
            body(request, kind, target).and_then(|object| replacement(cluster, &object, &key, part))
        }
        _ => return not_allowed(),
    };
    let (how, change) = match change {
        Ok(change) => change,
        Err(error) => return Answer::error(&error, Some((kind, &target.name))),
    };
    let verb = if request.method == "PUT" {
        "update"
    } else {
        "patch"
    };
    let (result, warnings) = cluster.send(
        request,
        verb,
        part,
        ClientWrite::Patch(Name::of(&key), how, change),
    );
    written(cluster, request, (kind, target), 200, result, warnings)
}

/// Rejects an object with another resourceVersion than the stored one.
fn check_version(cluster: &Cluster, object: &Value, key: &ObjectRef) -> Result<(), ApiError> {
    let version = object["metadata"]["resourceVersion"].as_str().unwrap_or("");
    let stored = cluster
        .sim
        .get(key)
        .map(|stored| stored.meta.resource_version.to_string());
    let stale = !version.is_empty() && stored.is_some_and(|stored| stored != version);
    if stale {
        Err(ApiError::conflict(key.kind, &key.name))
    } else {
        Ok(())
    }
}

/// Turns the replacement of a subresource into a patch: only that part of the object counts.
fn replacement(
    cluster: &Cluster,
    object: &Value,
    key: &ObjectRef,
    part: Subresource,
) -> Result<(Patch, Value), ApiError> {
    check_version(cluster, object, key)?;
    let field = if matches!(part, Subresource::Status | Subresource::Approval) {
        "status"
    } else {
        "spec"
    };
    Ok((
        Patch::Json,
        json!([{ "op": "add", "path": format!("/{field}"), "value": object[field] }]),
    ))
}

/// Turns a patch of another API version than the stored one into a replacement of the subresource.
fn converted(
    cluster: &Cluster,
    request: &Request,
    key: &ObjectRef,
    (part, target): (Subresource, &Target),
) -> Result<(Patch, Value), ApiError> {
    let (how, change) = change(request)?;
    let stored = cluster
        .sim
        .get(key)
        .ok_or_else(|| ApiError::not_found(key.kind, &key.name))?;
    let mut value = stored.to_value();
    convert::shown(&target.api_version(), key.kind, &mut value);
    let mut value = how.merged(key.kind, value, &change)?;
    convert::stored(&target.api_version(), key.kind, &mut value);
    replacement(cluster, &value, key, part)
}

fn scale(cluster: &mut Cluster, request: &Request, kind: Kind, target: &Target) -> Answer {
    let key = ObjectRef::new(kind, &target.namespace, &target.name);
    let error = |error: &ApiError| Answer::error(error, Some((kind, &target.name)));
    let Some(stored) = cluster.sim.get(&key).cloned() else {
        return error(&ApiError::not_found(kind, &target.name));
    };
    let current = scale_object(cluster.sim.server(), &stored);
    let wanted = match request.method.as_str() {
        "GET" | "HEAD" => {
            let refusal = cluster.forbids(request, "get", &key, "scale");
            return match refusal.map_or(current, Err) {
                Ok(scale) => Answer::json(200, &scale),
                Err(refusal) => error(&refusal),
            };
        }
        "PUT" => request.posted("Scale", SCALE_VERSION),
        "PATCH" => change(request).and_then(|(how, patch)| match how {
            Patch::Strategic => Patch::Merge.merged(kind, current?, &patch),
            how => how.merged(kind, current?, &patch),
        }),
        _ => return not_allowed(),
    };
    let wanted = match wanted
        .and_then(|wanted| check_scale_preconditions(&stored, &wanted).map(|()| wanted))
    {
        Ok(wanted) => wanted,
        Err(refusal) => return error(&refusal),
    };
    let replicas = wanted["spec"]["replicas"].as_i64().unwrap_or(0);
    let verb = if request.method == "PUT" {
        "update"
    } else {
        "patch"
    };
    let (result, warnings) = cluster.send(
        request,
        verb,
        Subresource::Scale,
        ClientWrite::Scale(Name::of(&key), replicas),
    );
    let object = match result {
        Ok(Written {
            object: Some(object),
            ..
        }) => object,
        Ok(_) => stored,
        Err(refusal) => {
            return Answer {
                warnings,
                ..error(&refusal)
            };
        }
    };
    match scale_object(cluster.sim.server(), &object) {
        Ok(scale) => Answer {
            warnings,
            ..Answer::json(200, &scale)
        },
        Err(refusal) => Answer {
            warnings,
            ..error(&refusal)
        },
    }
}

/// Rejects a `Scale` with another uid or resourceVersion than the stored object.
fn check_scale_preconditions(stored: &Object, wanted: &Value) -> Result<(), ApiError> {
    let text = |field: &str| wanted["metadata"][field].as_str().unwrap_or("");
    check_uid(&stored.key(), text("uid"), &stored.meta.uid.to_string())?;
    let version = text("resourceVersion");
    if matches!(version, "" | "0") || version == stored.meta.resource_version.to_string() {
        return Ok(());
    }
    Err(ApiError::conflict(stored.kind, &stored.meta.name))
}

/// Builds the `Scale` of an object; fields that are zero are omitted.
fn scale_object(server: &ApiServer, object: &Object) -> Result<Value, ApiError> {
    let ObjectScale {
        replicas,
        status_replicas,
        selector,
    } = server.scale_of(object)?;
    let meta = &object.to_value()["metadata"];
    let own = [
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "creationTimestamp",
    ];
    let meta: serde_json::Map<String, Value> = own
        .iter()
        .map(|key| ((*key).to_owned(), meta[*key].clone()))
        .collect();
    let spec = if replicas == 0 {
        json!({})
    } else {
        json!({ "replicas": replicas })
    };
    let mut status = json!({ "replicas": status_replicas });
    if !selector.is_empty() {
        status["selector"] = selector.into();
    }
    Ok(
        json!({ "kind": "Scale", "apiVersion": SCALE_VERSION, "metadata": meta, "spec": spec, "status": status }),
    )
}

/// Returns the posted object of this kind, whose name must be that of the path.
fn named(request: &Request, kind: &str, version: &str, name: &str) -> Result<Value, ApiError> {
    let body = request.posted(kind, version)?;
    let said = body["metadata"]["name"].as_str().unwrap_or("");
    if !name.is_empty() && said != name {
        return Err(ApiError::bad_request(format!(
            "name in URL does not match name in {kind} object"
        )));
    }
    Ok(body)
}

fn evict(cluster: &mut Cluster, request: &Request, target: &Target) -> Answer {
    let key = ObjectRef::new(Kind::Pod, &target.namespace, &target.name);
    let how = named(request, "Eviction", "policy/v1", &target.name)
        .and_then(|_| deletion(cluster, request, &key));
    let how = match how {
        Ok(how) => how,
        Err(error) => return Answer::error(&error, Some((Kind::Pod, &target.name))),
    };
    let (result, warnings) = cluster.send(
        request,
        "create",
        Subresource::Main,
        ClientWrite::Evict(Name::of(&key), how.into()),
    );
    written(cluster, request, (Kind::Pod, target), 201, result, warnings)
}

/// Binds the Pod of a path, or the one named by a Binding.
pub fn bind(cluster: &mut Cluster, request: &Request, target: &Target) -> Answer {
    if request.method != "POST" || target.namespace.is_empty() {
        return not_allowed();
    }
    let body = match named(request, "Binding", "v1", &target.name) {
        Ok(body) => body,
        Err(error) => return Answer::error(&error, Some((Kind::Pod, &target.name))),
    };
    let text = |path: &str| body.pointer(path).and_then(Value::as_str).unwrap_or("");
    let name = if target.name.is_empty() {
        text("/metadata/name")
    } else {
        target.name.as_str()
    };
    let node = text("/target/name");
    if node.is_empty() || !matches!(text("/target/kind"), "" | "Node") {
        let message =
            format!("Binding {name:?} is invalid: target: a Node with a name is required");
        return Answer::error(&ApiError::invalid(message), None);
    }
    let (key, target) = (
        ObjectRef::new(Kind::Pod, &target.namespace, name),
        Target {
            name: name.to_owned(),
            ..target.clone()
        },
    );
    let (result, warnings) = cluster.send(
        request,
        "create",
        Subresource::Main,
        ClientWrite::Bind(Name::of(&key), node.to_owned()),
    );
    written(
        cluster,
        request,
        (Kind::Pod, &target),
        201,
        result,
        warnings,
    )
}

/// Updates the finalizers of a namespace's spec: only the server's own is supported.
fn finalize(cluster: &mut Cluster, request: &Request, target: &Target) -> Answer {
    let key = ObjectRef::new(Kind::Namespace, "", &target.name);
    let held = match body(request, Kind::Namespace, target)
        .and_then(|body| check_version(cluster, &body, &key).map(|()| body))
    {
        Ok(body) => body["spec"]["finalizers"]
            .as_array()
            .is_some_and(|list| list.iter().any(|one| one == "kubernetes")),
        Err(error) => return Answer::error(&error, Some((Kind::Namespace, &target.name))),
    };
    let (result, warnings) = cluster.send(
        request,
        "update",
        Subresource::Main,
        ClientWrite::Finalize(Name::of(&key), held),
    );
    written(
        cluster,
        request,
        (Kind::Namespace, target),
        200,
        result,
        warnings,
    )
}

/// Returns the log of a container, as for `kubectl logs`.
fn log(cluster: &mut Cluster, request: &Request, target: &Target) -> Reply {
    let refused = |error: &ApiError| Answer::error(error, Some((Kind::Pod, &target.name))).into();
    let key = ObjectRef::new(Kind::Pod, &target.namespace, &target.name);
    if let Some(error) = cluster.forbids(request, "get", &key, "log") {
        return refused(&error);
    }
    let Some(pod) = cluster.sim.get(&key).cloned() else {
        return refused(&ApiError::not_found(Kind::Pod, &target.name));
    };
    let opened = log_options(
        request,
        &target.name,
        cluster.sim.server().wall_at(cluster.sim.now()),
    )
    .and_then(|options| Session::log(&mut cluster.sim, &pod, &options));
    match opened {
        Err(error) => refused(&error),
        Ok(session) if session.exit.is_some() => Answer::text(session.stdout).into(),
        Ok(session) => {
            let (mut follow, receiver) = Follow::open(session);
            if follow.feed(cluster) {
                cluster.open.push(Box::new(follow));
            }
            Reply::Stream("text/plain", receiver, Vec::new())
        }
    }
}

/// Reads `PodLogOptions`. Models `ValidatePodLogOptions` in `pkg/apis/core/validation`.
fn log_options(request: &Request, name: &str, now: Timestamp) -> Result<PodLogOptions, ApiError> {
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
            field: String::new(),
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
