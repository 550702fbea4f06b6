//! RuntimeClass of Pods: its overhead and its scheduling.
//!
//! Models `plugin/pkg/admission/runtimeclass`.

use crate::error::ApiError;
use crate::store::Store;
use k8s_model::pod::PodSpec;
use k8s_model::quantity::Quantity;
use k8s_model::{Body, Kind, Object, ObjectRef};
use serde_json::Value;
use std::collections::BTreeMap;

/// Checks that a Pod's RuntimeClass exists, and sets its overhead and scheduling.
pub(super) fn admit(store: &mut Store, object: &mut Object) -> Result<(), ApiError> {
    let Body::Pod(pod) = &mut object.body else {
        return Ok(());
    };
    let forbidden = |detail: String| {
        ApiError::forbidden(format!(
            "pods {:?} is forbidden: {detail}",
            object.meta.name.as_str()
        ))
    };
    let class = pod.spec.raw["runtimeClassName"]
        .as_str()
        .filter(|class| !class.is_empty());
    let found = match class {
        Some(class) => match store.get(&ObjectRef::new(Kind::RuntimeClass, "", class)) {
            Some(found) => found.to_value(),
            None => {
                return Err(forbidden(format!(
                    "pod rejected: RuntimeClass {class:?} not found"
                )));
            }
        },
        None => Value::Null,
    };
    let overhead = &found["overhead"];
    let own = &pod.spec.raw["overhead"];
    if overhead.is_null() && !own.is_null() {
        let detail =
            "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
        return Err(forbidden(detail.to_owned()));
    }
    if own.as_object().is_some_and(|own| !own.is_empty()) && !is_same(own, &overhead["podFixed"]) {
        let detail = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
        return Err(forbidden(detail.to_owned()));
    }
    if class.is_none() {
        return Ok(());
    }
    let (chosen, tolerated) = (
        &found["scheduling"]["nodeSelector"],
        &found["scheduling"]["tolerations"],
    );
    let mut raw = pod.spec.raw.clone();
    if overhead["podFixed"].is_object() {
        raw["overhead"] = overhead["podFixed"].clone();
    }
    for (key, value) in chosen.as_object().into_iter().flatten() {
        let other = &mut raw["nodeSelector"][key.as_str()];
        if !other.is_null() && other != value {
            let detail = format!(
                "conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; pod.spec.nodeSelector[{key}] = {other}"
            );
            return Err(forbidden(detail.replace('"', "")));
        }
        *other = value.clone();
    }
    if let Some(more) = tolerated.as_array() {
        let mut all = raw["tolerations"].as_array().cloned().unwrap_or_default();
        more.iter().for_each(|one| {
            if !all.contains(one) {
                all.push(one.clone())
            }
        });
        raw["tolerations"] = Value::Array(all);
    }
    pod.spec = PodSpec::from_raw(raw).map_err(ApiError::bad_request)?;
    Ok(())
}

/// Returns true if two resource lists have equal amounts.
fn is_same(one: &Value, other: &Value) -> bool {
    let amounts = |list: &Value| -> BTreeMap<String, Option<Quantity>> {
        list.as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.clone(), Quantity::from_json(value)))
            .collect()
    };
    amounts(one) == amounts(other)
}
