//! Certificate signing requests: the requester is set from the authenticated user rather than from the request, and the approval is a
//! write of its own.
//!
//! Models `pkg/registry/certificates/certificates/strategy.go` and the updates of `pkg/apis/certificates/validation`.

use super::authorizer::UserInfo;
use super::error::ApiError;
use super::server::Origin;
use super::validation::{ErrorType, FieldError};
use k8s_model::kind::Subresource;
use k8s_model::{Object, Timestamp, base64};
use serde_json::{Value, json};

/// Condition types that are a decision; they are written as `approval`, all else of the status as `status`.
const DECISIONS: [&str; 2] = ["Approved", "Denied"];
const CONDITIONS: &str = "status.conditions";

/// Sets the requester of a new request.
pub(super) fn note_requester(origin: &Origin, value: &mut Value) {
    let user = origin
        .user
        .as_deref()
        .cloned()
        .unwrap_or_else(UserInfo::administrator);
    let groups: Vec<&str> = user.groups.iter().map(|group| &**group).collect();
    if value["spec"].is_object() {
        value["spec"]["username"] = user.name.as_str().into();
        value["spec"]["groups"] = json!(groups);
        // uid and extra are set by the server only.
        if let Some(spec) = value["spec"].as_object_mut() {
            spec.retain(|field, _| field != "uid" && field != "extra");
        }
        user.tell_more(&mut value["spec"]);
    }
}

/// Checks that an issued certificate has a PEM block: `validateCertificate` of `pkg/apis/certificates/validation`.
fn validate_certificate(certificate: &str) -> Option<FieldError> {
    const BLOCK: &[u8] = b"-----BEGIN CERTIFICATE-----";
    let text = base64::bytes(certificate).unwrap_or_default();
    let has_block = text.windows(BLOCK.len()).any(|part| part == BLOCK);
    (!certificate.is_empty() && !has_block).then(|| FieldError {
        field: "status.certificate".to_owned(),
        fault: ErrorType::Invalid,
        value: "\"<certificate data>\"".to_owned(),
        detail: "must contain at least one CERTIFICATE PEM block".to_owned(),
    })
}

/// Checks a write of the status or of the approval; immutable parts are reset to their old values.
///
/// # Errors
/// The conditions may not change as the write would have it.
pub(super) fn check_decision(
    subresource: Subresource,
    old: &Object,
    new: &mut Value,
    wall: Timestamp,
) -> Result<(), ApiError> {
    let (before, decides) = (old.to_value(), subresource == Subresource::Approval);
    let of = |value: &Value, kind: &str| -> Vec<Value> {
        let all = value["status"]["conditions"]
            .as_array()
            .into_iter()
            .flatten();
        all.filter(|condition| condition["type"] == kind)
            .cloned()
            .collect()
    };
    let mut errors = Vec::new();
    let certificate = &new["status"]["certificate"];
    if !decides && *certificate != before["status"]["certificate"] {
        errors.extend(validate_certificate(certificate.as_str().unwrap_or("")));
    }
    let mut add = |fault, value: &str, detail: String| {
        errors.push(FieldError {
            field: CONDITIONS.to_owned(),
            fault,
            value: value.to_owned(),
            detail,
        });
    };
    for kind in ["Approved", "Denied", "Failed"] {
        let (was, is) = (of(&before, kind), of(new, kind));
        if is.len() < was.len() {
            add(
                ErrorType::Forbidden,
                "",
                format!("updates may not remove a condition of type {kind:?}"),
            );
        } else if !decides && DECISIONS.contains(&kind) {
            if is.len() > was.len() {
                add(
                    ErrorType::Forbidden,
                    "",
                    format!("updates may not add a condition of type {kind:?}"),
                );
            }
            let all = new["status"]["conditions"]
                .as_array_mut()
                .into_iter()
                .flatten();
            all.filter(|condition| condition["type"] == kind)
                .zip(was)
                .for_each(|(condition, old)| *condition = old);
        }
    }
    if DECISIONS.iter().all(|kind| !of(new, kind).is_empty()) {
        add(
            ErrorType::Invalid,
            "\"Approved\"",
            "Approved and Denied conditions are mutually exclusive".to_owned(),
        );
    }
    if !errors.is_empty() {
        let (kind, name) = (old.kind.group_kind(), &old.meta.name);
        return Err(ApiError::invalid_fields(&kind, name, &errors));
    }
    if decides && new["status"].is_object() {
        match before["status"].get("certificate") {
            Some(certificate) => new["status"]["certificate"] = certificate.clone(),
            None => drop(
                new["status"]
                    .as_object_mut()
                    .map(|status| status.remove("certificate")),
            ),
        }
    }
    let now = wall.rfc3339();
    for condition in new["status"]["conditions"]
        .as_array_mut()
        .into_iter()
        .flatten()
    {
        let same = |old: &Value| {
            old["status"] == condition["status"] && !old["lastTransitionTime"].is_null()
        };
        let since = of(&before, condition["type"].as_str().unwrap_or(""))
            .into_iter()
            .find(same);
        for (field, time) in [
            ("lastUpdateTime", None),
            (
                "lastTransitionTime",
                since.map(|old| old["lastTransitionTime"].clone()),
            ),
        ] {
            if condition[field].is_null() {
                condition[field] = time.unwrap_or_else(|| now.as_str().into());
            }
        }
    }
    Ok(())
}
