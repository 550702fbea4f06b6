//! Requests about one object, and deletions of a collection: HTTP requests as requests to the API server, and their responses as HTTP.

use super::cluster::Cluster;
use super::http_request::{HttpRequest, Target};
use super::objects::{RenderedObject, rendered};
use super::read::list_answer;
use super::show::Representation;
use super::status::{Answer, deleted, not_allowed};
use apiserver::{
    ApiError, Content, Patch, PatchType, Request, RequestBody, RequestOptions, ResourceName,
    Response, SCALE_VERSION, Subresource, Verb,
};
use k8s_model::{Kind, ObjectRef, go_json};
use serde_json::{Value, json};

/// Serves a read or a write of an object or of a subresource, or the deletion of a collection.
pub fn serve(
    cluster: &mut Cluster,
    request: &HttpRequest,
    kind: Kind,
    target: &Target,
    verb: Verb,
    subresource: Subresource,
) -> Answer {
    let body = match body(request, kind, target, verb, subresource) {
        Ok(body) => without_known_managers(cluster, kind, target, subresource, body),
        Err(error) => return Answer::error(&error, Some((kind, &target.name))),
    };
    // A new object is named by its body, and so is the Pod of a binding without a Pod in the path.
    let name = match target.name.as_str() {
        "" => body.object()["metadata"]["name"].as_str().unwrap_or(""),
        name => name,
    };
    let target = Target {
        name: name.to_owned(),
        ..target.clone()
    };
    let mut wanted = api_request(request, kind, &target, verb, subresource);
    wanted.body = body;
    let response = cluster.send(wanted);
    answer(cluster, request, kind, &target, subresource, response)
}

/// Returns the request to the API server that an HTTP request stands for, without its body.
pub fn api_request(
    request: &HttpRequest,
    kind: Kind,
    target: &Target,
    verb: Verb,
    subresource: Subresource,
) -> Request {
    let deletion = match request.deletion() {
        Some(Ok(deletion)) => deletion.options.clone(),
        _ => Default::default(),
    };
    Request {
        command: command(request),
        verb,
        resource: ResourceName {
            api_version: target.api_version(),
            kind: kind.name().to_owned(),
            namespace: target.namespace.clone(),
            name: target.name.clone(),
        },
        subresource,
        options: RequestOptions {
            dry_run: request.is_dry(),
            field_manager: request.manager().to_owned(),
            field_validation: request.unknown(),
            duplicate_fields: request.repeated(),
            force: request.on("force"),
            migrates: false,
            list_options: request.list_options(),
            deletion,
        },
        body: RequestBody::None,
        user: request.user(),
    }
}

/// Formats a request for the history: the kubectl command, if the client sends it, and the request.
fn command(request: &HttpRequest) -> String {
    let line = format!("{} {}", request.method, request.path);
    match request.header("kubectl-command") {
        "" => line,
        command => format!("{command} ({line})"),
    }
}

/// Decodes the body of a write.
fn body(
    request: &HttpRequest,
    kind: Kind,
    target: &Target,
    verb: Verb,
    subresource: Subresource,
) -> Result<RequestBody, ApiError> {
    Ok(match (verb, subresource) {
        (Verb::Get | Verb::List | Verb::Watch | Verb::Delete | Verb::DeleteCollection, _) => {
            RequestBody::None
        }
        (Verb::Patch, _) if request.applies() => RequestBody::Apply(request.configuration()?),
        (Verb::Patch, _) => patch(request)?,
        (Verb::Create, Subresource::Eviction) => {
            named(request, "Eviction", "policy/v1", &target.name)?;
            RequestBody::None
        }
        (Verb::Create, Subresource::Binding) => {
            RequestBody::Object(named(request, "Binding", "v1", &target.name)?)
        }
        (Verb::Update, Subresource::Scale) => {
            RequestBody::Object(request.posted("Scale", SCALE_VERSION)?)
        }
        (Verb::Create | Verb::Update, _) => RequestBody::Object(request.object_of(kind)?),
    })
}

/// Decodes a patch.
fn patch(request: &HttpRequest) -> Result<RequestBody, ApiError> {
    let patch_type = match request.content_type() {
        "application/json-patch+json" => PatchType::Json,
        "application/merge-patch+json" => PatchType::Merge,
        "application/strategic-merge-patch+json" => PatchType::Strategic,
        _ => return Err(ApiError::unsupported_body()),
    };
    let body = go_json::readable(&request.body);
    let content: Value = serde_json::from_slice(&body).map_err(|error| {
        let problem = go_json::syntax_error(&request.body);
        ApiError::bad_request(problem.unwrap_or_else(|| error.to_string()))
    })?;
    if patch_type == PatchType::Merge
        && let Some(problem) = go_json::map_error(&request.body)
    {
        return Err(ApiError::bad_request(format!(
            "error decoding patch: {problem}"
        )));
    }
    Ok(RequestBody::Patch(Patch {
        patch_type,
        content,
    }))
}

/// Returns the posted object of this kind, whose name must be that of the path.
fn named(request: &HttpRequest, kind: &str, version: &str, name: &str) -> Result<Value, ApiError> {
    let body = request.posted(kind, version)?;
    let given = body["metadata"]["name"].as_str().unwrap_or("");
    if !name.is_empty() && given != name {
        return Err(ApiError::bad_request(format!(
            "name in URL does not match name in {kind} object"
        )));
    }
    Ok(body)
}

/// Removes managed fields that the client has read and sends back unchanged.
fn without_known_managers(
    cluster: &mut Cluster,
    kind: Kind,
    target: &Target,
    subresource: Subresource,
    mut body: RequestBody,
) -> RequestBody {
    let RequestBody::Object(value) = &mut body else {
        return body;
    };
    let given = value.pointer("/metadata/managedFields");
    let (true, Some(given)) = (subresource.is_main() && !target.name.is_empty(), given) else {
        return body;
    };
    let key = ObjectRef::new(kind, &target.namespace, &target.name);
    let (sim, managed) = cluster.managed(kind);
    let known = |object| {
        apiserver::are_managed_fields(sim.store(), given, &managed.text(sim.store(), object))
    };
    if sim.store().get(&key).is_none_or(|object| known(&**object))
        && let Some(metadata) = value["metadata"].as_object_mut()
    {
        metadata.remove("managedFields");
    }
    body
}

/// Returns the HTTP answer for a response: the object written, or the error.
fn answer(
    cluster: &mut Cluster,
    request: &HttpRequest,
    kind: Kind,
    target: &Target,
    subresource: Subresource,
    response: Response,
) -> Answer {
    let form = Representation::new(&cluster.host.sim, request, kind, target.api_version());
    let (object, code) = match response.result {
        Err(error) => {
            return Answer {
                warnings: response.warnings,
                ..Answer::error(&error, Some((kind, &target.name)))
            };
        }
        Ok(Content::Success) => {
            let code = 201;
            let done = json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": code });
            return Answer {
                warnings: response.warnings,
                ..Answer::json(code, &done)
            };
        }
        Ok(Content::Scale(scale)) => {
            return Answer {
                warnings: response.warnings,
                ..Answer::json(200, &scale)
            };
        }
        Ok(Content::Deleted(object)) if apiserver::returns_deleted(kind) => (object, 200),
        Ok(Content::Deleted(object)) => {
            return Answer {
                warnings: response.warnings,
                ..deleted(kind, &target.name, &object.meta.uid.to_string())
            };
        }
        Ok(Content::List(list)) => {
            return Answer {
                warnings: response.warnings,
                ..list_answer(cluster, &form, list)
            };
        }
        Ok(Content::Watch(_)) => return not_allowed(),
        Ok(Content::Created(object)) => (object, 201),
        Ok(Content::Object(object)) => (object, 200),
    };
    let shown = match request.is_dry() {
        true => RenderedObject::unstored(object, &response.managed_fields),
        false => rendered(cluster, object),
    }
    .for_read();
    let code = match subresource {
        Subresource::Main | Subresource::Status => code,
        _ => 200,
    };
    Answer {
        warnings: response.warnings,
        ..Answer::json_text(code, form.object(&cluster.host.sim, shown))
    }
}
