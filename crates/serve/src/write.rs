//! Writes: create, update, patch, apply, delete.
//!
//! Models `apiserver/pkg/endpoints/handlers/{create,update,patch,delete}.go`.

use super::cluster::Cluster;
use super::convert;
use super::objects::RenderedObject;
use super::options::DeletionOptions;
use super::request::{Request, Target};
use super::show::Representation;
use super::status::{Answer, deleted};
use apiserver::{ApiError, ClientWrite, Delete, Name, Patch, Propagation, Subresource, Written};
use k8s_model::{Kind, ObjectRef, Uid};
use serde_json::{Value, json};

/// Creates an object.
pub fn create(cluster: &mut Cluster, request: &Request, kind: Kind, target: &Target) -> Answer {
    let value = match body(request, kind, target) {
        Ok(value) => value,
        Err(error) => return Answer::error(&error, Some((kind, ""))),
    };
    let name = value["metadata"]["name"].as_str().unwrap_or("").to_owned();
    let (result, warnings) = cluster.send(
        request,
        "create",
        Subresource::Main,
        ClientWrite::Create(value),
    );
    let target = Target {
        name,
        ..target.clone()
    };
    written(cluster, request, (kind, &target), 201, result, warnings)
}

/// Replaces an object.
pub fn update(cluster: &mut Cluster, request: &Request, kind: Kind, target: &Target) -> Answer {
    let value = match body(request, kind, target) {
        Ok(value) => value,
        Err(error) => return Answer::error(&error, Some((kind, &target.name))),
    };
    let value = without_known_managers(cluster, kind, target, value);
    let is_there = cluster
        .sim
        .get(&ObjectRef::new(kind, &target.namespace, &target.name))
        .is_some();
    let (result, warnings) = cluster.send(
        request,
        "update",
        Subresource::Main,
        ClientWrite::Update(value),
    );
    written(
        cluster,
        request,
        (kind, target),
        if is_there { 200 } else { 201 },
        result,
        warnings,
    )
}

/// Removes managed fields that the client has read and sends back unchanged.
fn without_known_managers(
    cluster: &mut Cluster,
    kind: Kind,
    target: &Target,
    mut value: Value,
) -> Value {
    let key = ObjectRef::new(kind, &target.namespace, &target.name);
    let Some(given) = value.pointer("/metadata/managedFields") else {
        return value;
    };
    let (sim, managed) = cluster.managed(kind);
    let known = |object| {
        sim.server()
            .are_managed_fields(given, &managed.text(sim.server(), object))
    };
    if sim.get(&key).is_none_or(|object| known(&**object))
        && let Some(metadata) = value["metadata"].as_object_mut()
    {
        metadata.remove("managedFields");
    }
    value
}

/// Patches or applies an object.
pub fn patch(cluster: &mut Cluster, request: &Request, kind: Kind, target: &Target) -> Answer {
    let key = ObjectRef::new(kind, &target.namespace, &target.name);
    if request.applies() {
        return apply(cluster, request, (kind, target), Subresource::Main);
    }
    let (how, change) = match change(request) {
        Ok(change) => change,
        Err(error) => return Answer::error(&error, Some((kind, &target.name))),
    };
    if convert::is_other(&target.api_version(), kind) {
        return patch_converted(cluster, request, (kind, target), (how, &change));
    }
    let (result, warnings) = cluster.send(
        request,
        "patch",
        Subresource::Main,
        ClientWrite::Patch(Name::of(&key), how, change),
    );
    written(cluster, request, (kind, target), 200, result, warnings)
}

/// Applies a patch of another API version than the stored one: its result replaces the object.
fn patch_converted(
    cluster: &mut Cluster,
    request: &Request,
    (kind, target): (Kind, &Target),
    (how, change): (Patch, &Value),
) -> Answer {
    let (key, version) = (
        ObjectRef::new(kind, &target.namespace, &target.name),
        target.api_version(),
    );
    let refused = |error: &ApiError| Answer::error(error, Some((kind, &target.name)));
    let Some(mut value) = cluster.sim.get(&key).map(|object| object.to_value()) else {
        return refused(&ApiError::not_found(kind, &target.name));
    };
    convert::shown(&version, kind, &mut value);
    let mut value = match how.merged(kind, value, change) {
        Ok(value) => value,
        Err(error) => return refused(&error),
    };
    convert::stored(&version, kind, &mut value);
    let (result, warnings) = cluster.send(
        request,
        "patch",
        Subresource::Main,
        ClientWrite::Update(value),
    );
    written(cluster, request, (kind, target), 200, result, warnings)
}

/// Returns the type of a request's patch, and the patch.
pub fn change(request: &Request) -> Result<(Patch, Value), ApiError> {
    let how = match request.content_type() {
        "application/json-patch+json" => Patch::Json,
        "application/merge-patch+json" => Patch::Merge,
        "application/strategic-merge-patch+json" => Patch::Strategic,
        other => return Err(ApiError::unsupported_body(other)),
    };
    let change = serde_json::from_slice(&request.body)
        .map_err(|e| ApiError::bad_request(format!("error decoding patch: {e}")))?;
    Ok((how, change))
}

/// Handles a server-side apply of an object or of its status.
pub fn apply(
    cluster: &mut Cluster,
    request: &Request,
    (kind, target): (Kind, &Target),
    part: Subresource,
) -> Answer {
    let key = ObjectRef::new(kind, &target.namespace, &target.name);
    let value = request
        .configuration()
        .and_then(|value| placed(value, kind, target));
    let value = match value {
        Ok(value) => value,
        Err(error) => return Answer::error(&error, Some((kind, &target.name))),
    };
    let code = if cluster.sim.get(&key).is_some() {
        200
    } else {
        201
    };
    let (result, warnings) = cluster.send(
        request,
        "patch",
        part,
        ClientWrite::Apply(value, request.on("force")),
    );
    written(cluster, request, (kind, target), code, result, warnings)
}

/// Deletes an object.
pub fn delete(cluster: &mut Cluster, request: &Request, kind: Kind, target: &Target) -> Answer {
    let key = ObjectRef::new(kind, &target.namespace, &target.name);
    let how = match deletion(cluster, request, &key) {
        Ok(how) => how,
        Err(error) => return Answer::error(&error, Some((kind, &target.name))),
    };
    let (result, warnings) = cluster.send(
        request,
        "delete",
        Subresource::Main,
        ClientWrite::Delete(Name::of(&key), how.into()),
    );
    match result {
        Ok(Written {
            gone: true,
            object: Some(object),
        }) => Answer {
            warnings,
            ..deleted(kind, &target.name, &object.meta.uid.to_string())
        },
        result => written(cluster, request, (kind, target), 200, result, warnings),
    }
}

/// Handles a deletecollection: deletes all selected objects.
pub fn delete_all(cluster: &mut Cluster, request: &Request, kind: Kind, target: &Target) -> Answer {
    let selection = match super::read::selection(&cluster.sim, request, kind, &target.api_version())
    {
        Ok(selection) => selection,
        Err(error) => return Answer::error(&error, None),
    };
    let items = super::objects::objects(cluster, (kind, &target.namespace, ""), &selection);
    for item in &items {
        let text = |key: &str| item.value["metadata"][key].as_str().unwrap_or("");
        let key = ObjectRef::new(kind, text("namespace"), text("name"));
        let how = match deletion(cluster, request, &key) {
            Ok(how) => how,
            Err(error) => return Answer::error(&error, Some((kind, &key.name))),
        };
        let write = ClientWrite::Delete(Name::of(&key), how.into());
        let (result, warnings) =
            cluster.send(request, "deletecollection", Subresource::Main, write);
        if let Err(error) = result {
            return Answer {
                warnings,
                ..Answer::error(&error, Some((kind, &key.name)))
            };
        }
    }
    let form = Representation::new(&cluster.sim, request, kind, target.api_version());
    Answer::json_text(
        200,
        form.list(
            &cluster.sim,
            items,
            cluster.sim.server().version(),
            &Value::Null,
        ),
    )
}

/// Returns the options of an object's deletion.
pub fn deletion(cluster: &Cluster, request: &Request, key: &ObjectRef) -> Result<Delete, ApiError> {
    let how = request
        .deletion()
        .cloned()
        .unwrap_or_else(|| Ok(DeletionOptions::default()))?;
    // Two older kinds orphan their dependents unless a client asks otherwise.
    let keeps = matches!(key.kind, Kind::Job | Kind::ReplicationController);
    let propagation = how.propagation.unwrap_or(if keeps {
        Propagation::Orphan
    } else {
        Propagation::Background
    });
    let mut uid = None;
    if let Some(object) = cluster.sim.get(key) {
        if how
            .version
            .is_some_and(|version| version != object.meta.resource_version.to_string())
        {
            return Err(ApiError::conflict(key.kind, &key.name));
        }
        if let Some(text) = how.uid {
            // An invalid uid matches no object.
            uid = Some(
                Uid::parse(&text)
                    .filter(|uid| *uid == object.meta.uid)
                    .ok_or_else(|| ApiError::conflict(key.kind, &key.name))?,
            );
        }
    }
    Ok(Delete {
        grace_seconds: how.grace_seconds,
        propagation,
        uid,
    })
}

/// Returns the object of a request, completed by its path.
pub fn body(request: &Request, kind: Kind, target: &Target) -> Result<Value, ApiError> {
    let value = request.object_of(kind)?;
    if request.method == "PUT" && value["metadata"]["name"].as_str().is_none_or(str::is_empty) {
        let message = format!(
            "the name of the object ({} based on URL) was undeterminable: name must be provided",
            target.name
        );
        return Err(ApiError::bad_request(message));
    }
    placed(value, kind, target)
}

fn placed(mut value: Value, kind: Kind, target: &Target) -> Result<Value, ApiError> {
    let Some(object) = value.as_object_mut() else {
        return Err(ApiError::bad_request(
            "the object provided is unrecognized (must be of type Object)".to_owned(),
        ));
    };
    for (key, expected) in [
        ("kind", kind.name().to_owned()),
        ("apiVersion", target.api_version()),
    ] {
        let said = object
            .entry(key)
            .or_insert_with(|| expected.as_str().into());
        if said.as_str() != Some(&expected) {
            return Err(ApiError::of_other_type(
                key,
                said.as_str().unwrap_or(""),
                &expected,
            ));
        }
    }
    let meta = object
        .entry("metadata")
        .or_insert_with(|| Value::Object(Default::default()));
    let Some(meta) = meta.as_object_mut() else {
        return Ok(value);
    };
    for (key, expected) in [("namespace", &target.namespace), ("name", &target.name)] {
        let said = meta
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or("")
            .to_owned();
        if expected.is_empty() || said == *expected {
            continue;
        }
        if said.is_empty() {
            meta.insert(key.to_owned(), expected.as_str().into());
        } else if key == "namespace" {
            let message = "the namespace of the provided object does not match the namespace sent on the request";
            return Err(ApiError::bad_request(message.to_owned()));
        } else {
            let message = format!(
                "the name of the object ({said}) does not match the name on the URL ({expected})"
            );
            return Err(ApiError::bad_request(message));
        }
    }
    convert::stored(&target.api_version(), kind, &mut value);
    Ok(value)
}

/// Builds the answer of a write: the object written, or the error.
pub fn written(
    cluster: &mut Cluster,
    request: &Request,
    (kind, target): (Kind, &Target),
    code: u16,
    result: Result<Written, ApiError>,
    warnings: Vec<String>,
) -> Answer {
    match result {
        Ok(Written { object: None, .. }) => {
            let done = json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": code });
            Answer {
                warnings,
                ..Answer::json(code, &done)
            }
        }
        Ok(Written {
            object: Some(object),
            ..
        }) => {
            let mut shown = RenderedObject::plain(object.to_value());
            let stored = super::objects::stored(cluster, &object.key());
            if !request.is_dry() {
                shown = stored.unwrap_or(shown);
            } else if let Some(metadata) = shown.value["metadata"].as_object_mut() {
                // An object that is not stored has no resourceVersion.
                match stored {
                    Some(stored) => metadata.insert(
                        "resourceVersion".to_owned(),
                        stored.value["metadata"]["resourceVersion"].clone(),
                    ),
                    None => metadata.remove("resourceVersion"),
                };
            }
            let form = Representation::new(&cluster.sim, request, kind, target.api_version());
            Answer {
                warnings,
                ..Answer::json_text(code, form.object(&cluster.sim, shown))
            }
        }
        Err(error) => Answer {
            warnings,
            ..Answer::error(&error, Some((kind, &target.name)))
        },
    }
}
