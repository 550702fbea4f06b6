//! `request` of an `AdmissionReview`.
//!
//! Models `apiserver/pkg/admission/plugin/webhook/request/admissionreview.go`.

use super::AdmissionRequest;
use crate::authorizer::UserInfo;
use crate::component::Component;
use crate::conversion;
use crate::definitions::Definitions;
use crate::scale::{ObjectScale, SCALE_VERSION};
use crate::server::Origin;
use k8s_model::kind::Subresource;
use k8s_model::{Kind, Object};
use serde_json::{Value, json};

/// Returns the user of a request: that of a client, or the account under which a component of the cluster writes.
pub(super) fn user(origin: &Origin) -> UserInfo {
    let component = &origin.actor.component;
    match (&origin.user, component) {
        (Some(user), _) => (**user).clone(),
        (None, Component::User) => UserInfo::masters(),
        (None, Component::Kubelet) => {
            let name = format!("system:node:{}", origin.actor.node);
            UserInfo::new(&name, vec!["system:nodes".into()])
        }
        (None, Component::Scheduler) => UserInfo::new("system:kube-scheduler", Vec::new()),
        (None, Component::ApiServer) => {
            UserInfo::new("system:apiserver", vec!["system:masters".into()])
        }
        (None, Component::Controller(controller) | Component::Loop(controller)) => {
            let name = format!("system:serviceaccount:kube-system:{}", controller.name);
            UserInfo::new(&name, Vec::new())
        }
    }
}

/// Returns the object of a request as JSON in an API version; of a subresource with a type of its own, an object of that type.
pub(super) fn shown(
    definitions: &Definitions,
    request: AdmissionRequest<'_>,
    object: &Object,
    api_version: &str,
) -> Value {
    let meta = &object.meta;
    match request.subresource {
        Subresource::Scale => match ObjectScale::of(definitions, object) {
            Ok(scale) => scale.to_value(object),
            Err(_) => Value::Null,
        },
        Subresource::Eviction => {
            let metadata = json!({ "name": *meta.name, "namespace": *meta.namespace });
            json!({ "kind": "Eviction", "apiVersion": "policy/v1", "metadata": metadata })
        }
        Subresource::Binding => {
            let node = object.pod().map_or("", |pod| &*pod.node_name);
            let metadata = json!({ "name": *meta.name, "namespace": *meta.namespace, "uid": meta.uid.to_string() });
            json!({ "kind": "Binding", "apiVersion": "v1", "metadata": metadata, "target": { "kind": "Node", "name": node } })
        }
        _ => {
            let mut value = object.to_value();
            let metadata = value["metadata"].as_object_mut();
            if let Some(metadata) = metadata.filter(|_| meta.uid.0 == 0) {
                metadata.remove("uid");
            }
            conversion::shown(api_version, object.kind, &mut value);
            value
        }
    }
}

/// Objects of a request as JSON, in the API version in which a webhook matches it.
pub(super) struct Subject {
    /// API version.
    pub api_version: String,
    /// New object; null for a deletion.
    pub object: Value,
    /// Stored object, or null.
    pub old: Value,
}

/// Returns the `request` of a review, without its uid.
pub(super) fn request(
    request: AdmissionRequest<'_>,
    subject: &Subject,
    user: &UserInfo,
    options: &Value,
    dry_run: bool,
) -> Value {
    let api_version = &*subject.api_version;
    let kind = request.object.kind;
    let split = |api_version: &str| match api_version.split_once('/') {
        Some((group, version)) => (group.to_owned(), version.to_owned()),
        None => (String::new(), api_version.to_owned()),
    };
    let group_kind = |api_version: &str| {
        let (api_version, name) = match request.subresource {
            Subresource::Scale => (SCALE_VERSION, "Scale"),
            Subresource::Eviction => ("policy/v1", "Eviction"),
            Subresource::Binding => ("v1", "Binding"),
            _ => (api_version, kind.name()),
        };
        let (group, version) = split(api_version);
        json!({ "group": group, "version": version, "kind": name })
    };
    let resource = |api_version: &str| {
        let (group, version) = split(api_version);
        json!({ "group": group, "version": version, "resource": kind.info().plural })
    };
    let requested = request.api_version();
    let mut user_info = json!({ "username": user.name.as_str(), "groups": user.groups.iter().map(|group| group.as_str()).collect::<Vec<_>>() });
    user.tell_more(&mut user_info);
    let meta = &request.object.meta;
    let mut review = json!({
        "kind": group_kind(api_version), "resource": resource(api_version),
        "requestKind": group_kind(&requested), "requestResource": resource(&requested),
        "operation": request.operation, "userInfo": user_info,
        "object": subject.object, "oldObject": subject.old, "dryRun": dry_run, "options": options,
    });
    let part = request.subresource.word();
    if !part.is_empty() {
        (review["subResource"], review["requestSubResource"]) = (part.into(), part.into());
    }
    // A generated name is not that of the request.
    let is_generated = request.operation == "CREATE"
        && request.subresource.is_main()
        && !meta.generate_name.is_empty();
    if !meta.name.is_empty() && !is_generated {
        review["name"] = meta.name.as_str().into();
    }
    let namespace = match kind {
        Kind::Namespace => &meta.name,
        _ => &meta.namespace,
    };
    if !namespace.is_empty() {
        review["namespace"] = namespace.as_str().into();
    }
    review
}
