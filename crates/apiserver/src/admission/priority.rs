//! Priority of Pods: from their class, or from the default class.
//!
//! Models `plugin/pkg/admission/priority`.

use crate::error::ApiError;
use crate::store::Store;
use k8s_model::pod::{Pod, PodSpec};
use k8s_model::{Body, Kind, Object, ObjectRef};
use serde_json::Value;
use std::rc::Rc;

/// Sets the priority of a Pod, and refuses a second default class.
pub(super) fn admit(store: &mut Store, object: &mut Object) -> Result<(), ApiError> {
    match &mut object.body {
        Body::Pod(pod) => resolve_priority(store, &object.meta.name, pod),
        _ if object.kind == Kind::PriorityClass => check_default_priority(store, object),
        _ => Ok(()),
    }
}

/// Refuses a second default priority class.
fn check_default_priority(store: &Store, object: &Object) -> Result<(), ApiError> {
    let Body::Other(body) = &object.body else {
        return Ok(());
    };
    match default_priority(store).filter(|_| body.get("globalDefault") == Some(&Value::Bool(true)))
    {
        Some(other) if other.meta.name != object.meta.name => Err(ApiError::forbidden(format!(
            "priorityclasses.scheduling.k8s.io {:?} is forbidden: PriorityClass {} is already marked as default. Only one default can exist",
            object.meta.name.as_str(),
            other.meta.name
        ))),
        _ => Ok(()),
    }
}

/// Returns the default priority class: the one with the lowest value if there are several.
fn default_priority(store: &Store) -> Option<&Rc<Object>> {
    let says = |o: &Rc<Object>, field: &str| {
        if let Body::Other(body) = &o.body {
            body.get(field).cloned()
        } else {
            None
        }
    };
    let is_default = |o: &&Rc<Object>| says(o, "globalDefault") == Some(Value::Bool(true));
    store
        .list(Kind::PriorityClass)
        .filter(is_default)
        .min_by_key(|o| says(o, "value").and_then(|value| value.as_i64()))
}

/// Sets a Pod's priority from its priority class, or from the default class.
fn resolve_priority(store: &Store, name: &str, pod: &mut Pod) -> Result<(), ApiError> {
    let said = |field: &str| {
        pod.spec
            .raw
            .get(field)
            .is_some_and(|value| !value.is_null() && value != "")
    };
    let asked = ["priorityClassName", "priority", "preemptionPolicy"]
        .into_iter()
        .any(said);
    if asked || default_priority(store).is_some() {
        compute_priority(store, name, pod)
    } else {
        Ok(())
    }
}

fn compute_priority(store: &Store, name: &str, pod: &mut Pod) -> Result<(), ApiError> {
    let mut raw = pod.spec.raw.clone();
    let nobody: serde_json::Map<String, Value> = [
        ("value".to_owned(), Value::from(0)),
        ("preemptionPolicy".to_owned(), "PreemptLowerPriority".into()),
    ]
    .into_iter()
    .collect();
    let body = match raw["priorityClassName"]
        .as_str()
        .filter(|class| !class.is_empty())
        .map(str::to_owned)
    {
        Some(class) => match store
            .get(&ObjectRef::new(Kind::PriorityClass, "", &class))
            .map(|o| &o.body)
        {
            Some(Body::Other(body)) => body,
            _ => {
                return Err(ApiError::forbidden(format!(
                    "pods {name:?} is forbidden: no PriorityClass with name {class} was found"
                )));
            }
        },
        None => match default_priority(store) {
            Some(class) => {
                raw["priorityClassName"] = class.meta.name.as_str().into();
                if let Body::Other(body) = &class.body {
                    body
                } else {
                    &nobody
                }
            }
            None => &nobody,
        },
    };
    let computed = |from: &str| body.get(from).filter(|value| !value.is_null());
    let number = computed("value").cloned().unwrap_or(0.into());
    let from = "must not be provided in pod spec; priority admission controller computed";
    let refused = |what: &str, said: &Value, value: &Value| {
        let (said, value) = (
            said.to_string().replace('"', ""),
            value.to_string().replace('"', ""),
        );
        let cause = format!("the {what} ({said}) {from} {value} from the given PriorityClass name");
        Err(ApiError::forbidden(format!(
            "pods {name:?} is forbidden: {cause}"
        )))
    };
    if raw["priority"].is_i64() && raw["priority"] != number {
        return refused("integer value of priority", &raw["priority"], &number);
    }
    if let (Some(policy), true) = (
        computed("preemptionPolicy"),
        raw["preemptionPolicy"].is_string(),
    ) && raw["preemptionPolicy"] != *policy
    {
        return refused(
            "string value of PreemptionPolicy",
            &raw["preemptionPolicy"],
            policy,
        );
    }
    for (from, to) in [
        ("value", "priority"),
        ("preemptionPolicy", "preemptionPolicy"),
    ] {
        if let Some(value) = body.get(from) {
            raw[to] = value.clone();
        }
    }
    pod.spec = PodSpec::from_raw(raw).map_err(ApiError::bad_request)?;
    Ok(())
}
