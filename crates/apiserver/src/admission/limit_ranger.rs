//! LimitRanges: defaults and limits of new Pods and claims, of resized Pods and of updated claims.
//!
//! Models `plugin/pkg/admission/limitranger`; the messages follow `pods "x" is forbidden: `.

use crate::error::ApiError;
use crate::store::Store;
use crate::validation;
use k8s_model::pod::PodSpec;
use k8s_model::pod_resources::PodResourcesOptions;
use k8s_model::quantity::Quantity;
use k8s_model::{Body, Kind, Object};
use serde_json::{Map, Value, json};

const MARK: &str = "kubernetes.io/limit-ranger";

/// Returns the bodies of the LimitRanges of a namespace.
fn ranges(store: &Store, namespace: &str) -> Vec<Value> {
    store
        .listing(Kind::LimitRange, Some(namespace))
        .filter_map(|range| match &range.body {
            Body::Other(body) => Some(Value::Object((**body).clone())),
            _ => None,
        })
        .collect()
}

/// Returns true if LimitRanges may have defaults for a new Pod.
pub(crate) fn has_ranges(store: &Store, kind: Kind, value: &Value) -> bool {
    kind == Kind::Pod && !ranges(store, namespace(value)).is_empty()
}

/// Fills in the defaults of a client's new Pod, before validation.
pub(crate) fn fill_defaults(store: &Store, kind: Kind, value: &mut Value) {
    if kind == Kind::Pod {
        let ranges = ranges(store, namespace(value));
        fill_limits(value, &ranges);
    }
}

fn namespace(value: &Value) -> &str {
    let namespace = value["metadata"]["namespace"].as_str();
    namespace.filter(|n| !n.is_empty()).unwrap_or("default")
}

/// Holds a new object to the LimitRanges of its namespace.
pub(super) fn admit(store: &mut Store, object: &mut Object) -> Result<(), ApiError> {
    if !matches!(object.kind, Kind::Pod | Kind::PersistentVolumeClaim) {
        return Ok(());
    }
    let ranges = ranges(store, &object.meta.namespace);
    if ranges.is_empty() {
        return Ok(());
    }
    hold_to(&ranges, object)
}

/// Holds a claim that is updated, or a Pod that is resized, to the LimitRanges of its namespace.
pub(crate) fn validate(store: &Store, object: &Object, old: &Object) -> Result<(), ApiError> {
    if old.meta.is_deleting() {
        return Ok(());
    }
    let ranges = ranges(store, &object.meta.namespace);
    match ranges.is_empty() {
        true => Ok(()),
        false => check_limits(&ranges, object, &object.to_value()),
    }
}

fn hold_to(ranges: &[Value], object: &mut Object) -> Result<(), ApiError> {
    let mut value = object.to_value();
    if object.kind == Kind::Pod {
        fill_limits(&mut value, ranges);
        let errors = validation::validate_create(object.kind, &value);
        if !errors.is_empty() {
            return Err(ApiError::invalid_fields("Pod", &object.meta.name, &errors));
        }
    }
    check_limits(ranges, object, &value)?;
    *object = Object::from_value(object.kind, value).map_err(ApiError::bad_request)?;
    Ok(())
}

fn check_limits(ranges: &[Value], object: &Object, value: &Value) -> Result<(), ApiError> {
    let checked = match object.kind {
        Kind::Pod => check_pod(value, ranges),
        _ => check_claim(value, ranges),
    };
    checked.map_err(|text| {
        let (resource, name) = (object.kind.group_resource(), object.meta.name.as_str());
        ApiError::forbidden(format!("{resource} {name:?} is forbidden: {text}"))
    })
}

fn amount(value: &Value) -> Option<Quantity> {
    Quantity::parse(value.as_str()?).ok()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

fn limits_of<'a>(ranges: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    ranges
        .iter()
        .flat_map(|range| list(&range["spec"], "limits"))
        .filter(move |limit| limit["type"] == kind)
}

/// Fills in missing requests and limits of a Pod's containers, and records that in an annotation.
fn fill_limits(pod: &mut Value, ranges: &[Value]) {
    let mut said = Vec::new();
    for kind in ["containers", "initContainers"] {
        for container in pod["spec"]
            .get_mut(kind)
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
            .filter_map(Value::as_object_mut)
        {
            for (field, source, word) in [
                ("requests", "defaultRequest", "request"),
                ("limits", "default", "limit"),
            ] {
                let mut set = Vec::new();
                for limit in limits_of(ranges, "Container") {
                    set.extend(fill(container, field, &limit[source]));
                }
                if !set.is_empty() {
                    set.sort();
                    let init = if kind == "initContainers" {
                        "init container"
                    } else {
                        "container"
                    };
                    said.push(format!(
                        "{} {word} for {init} {}",
                        set.join(", "),
                        container["name"].as_str().unwrap_or("")
                    ));
                }
            }
        }
    }
    if !said.is_empty() && pod["metadata"].is_object() {
        let text = format!("LimitRanger plugin set: {}", said.join("; "));
        let annotations = &mut pod["metadata"]["annotations"];
        if !annotations.is_object() {
            *annotations = Value::Object(Map::new());
        }
        annotations[MARK] = Value::from(text);
    }
}

fn fill(container: &mut Map<String, Value>, field: &str, defaults: &Value) -> Vec<String> {
    let mut set = Vec::new();
    let resources = container.entry("resources").or_insert_with(|| json!({}));
    if !resources.is_object() {
        return set;
    }
    for (name, value) in defaults.as_object().into_iter().flatten() {
        let amounts = &mut resources[field];
        if amounts.get(name).is_none() && (amounts.is_null() || amounts.is_object()) {
            amounts[name.as_str()] = value.clone();
            set.push(name.clone());
        }
    }
    set
}

/// Returns the error for a Pod outside the ranges of its namespace.
fn check_pod(pod: &Value, ranges: &[Value]) -> Result<(), String> {
    let mut errors = Vec::new();
    for limit in limits_of(ranges, "Container") {
        for container in list(&pod["spec"], "containers")
            .iter()
            .chain(list(&pod["spec"], "initContainers"))
        {
            check(&mut errors, limit, "Container", &|kind, name| {
                amount(&container["resources"][kind][name])
            });
        }
    }
    let spec = PodSpec::from_raw(pod["spec"].clone())?;
    let options = PodResourcesOptions {
        exclude_overhead: true,
        ..Default::default()
    };
    let (requests, limits) = (spec.total_requests(options), spec.total_limits(options));
    for limit in limits_of(ranges, "Pod") {
        check(&mut errors, limit, "Pod", &|kind, name| {
            let total = if kind == "limits" { &limits } else { &requests };
            total.get(name).copied()
        });
    }
    aggregate(errors)
}

/// Returns the error for a claim outside the ranges of its namespace.
fn check_claim(claim: &Value, ranges: &[Value]) -> Result<(), String> {
    let mut errors = Vec::new();
    let request =
        amount(&claim["spec"]["resources"]["requests"]["storage"]).unwrap_or(Quantity::ZERO);
    for limit in limits_of(ranges, "PersistentVolumeClaim") {
        for (bound, word, outside) in [("min", "minimum", -1), ("max", "maximum", 1)] {
            let Some(bound) = amount(&limit[bound]["storage"]) else {
                continue;
            };
            if request.cmp(&bound) as i32 == outside {
                errors.push(format!("{word} storage usage per PersistentVolumeClaim is {bound}, but request is {request}"));
            }
        }
    }
    aggregate(errors)
}

fn aggregate(errors: Vec<String>) -> Result<(), String> {
    match errors.len() {
        0 => Ok(()),
        1 => Err(errors.concat()),
        _ => Err(format!("[{}]", errors.join(", "))),
    }
}

/// Compares the requested amounts (by `requests` or `limits` and resource) with one range.
fn check(
    errors: &mut Vec<String>,
    limit: &Value,
    kind: &str,
    asked: &dyn Fn(&str, &str) -> Option<Quantity>,
) {
    let bounds = |name: &str| {
        limit[name]
            .as_object()
            .into_iter()
            .flatten()
            .filter_map(|(name, value)| Some((name.clone(), amount(value)?)))
    };
    for (name, least) in bounds("min") {
        let head = format!("minimum {name} usage per {kind} is {least}");
        match (asked("requests", &name), asked("limits", &name)) {
            (None, _) => errors.push(format!("{head}.  No request is specified")),
            (Some(request), _) if request < least => {
                errors.push(format!("{head}, but request is {request}"))
            }
            (_, Some(most)) if most < least => errors.push(format!("{head}, but limit is {most}")),
            _ => {}
        }
    }
    for (name, most) in bounds("max") {
        let head = format!("maximum {name} usage per {kind} is {most}");
        match (asked("limits", &name), asked("requests", &name)) {
            (None, _) => errors.push(format!("{head}.  No limit is specified")),
            (Some(limit), _) if limit > most => {
                errors.push(format!("{head}, but limit is {limit}"))
            }
            (_, Some(request)) if request > most => {
                errors.push(format!("{head}, but request is {request}"))
            }
            _ => {}
        }
    }
    for (name, most) in bounds("maxLimitRequestRatio") {
        let head = format!("{name} max limit to request ratio per {kind} is {most}, but");
        let above_zero =
            |amount: Option<Quantity>| amount.map(Quantity::as_f64).filter(|amount| *amount > 0.0);
        match (
            above_zero(asked("requests", &name)),
            above_zero(asked("limits", &name)),
        ) {
            (None, _) => errors.push(format!("{head} no request is specified or request is 0")),
            (_, None) => errors.push(format!("{head} no limit is specified or limit is 0")),
            (Some(request), Some(limit)) if limit / request > most.as_f64() => {
                errors.push(format!("{head} provided ratio is {:.6}", limit / request));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range() -> Value {
        json!({"spec": {"limits": [
            {"type": "Container", "default": {"cpu": "500m", "memory": "256Mi"}, "defaultRequest": {"cpu": "250m", "memory": "128Mi"},
                "max": {"cpu": "1"}, "min": {"cpu": "100m"}},
            {"type": "PersistentVolumeClaim", "max": {"storage": "5Gi"}, "min": {"storage": "1Gi"}}]}})
    }

    fn pod(resources: Value) -> Value {
        json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "nginx", "resources": resources}]}})
    }

    #[test]
    fn a_range_fills_in_what_is_missing_and_says_so() {
        let mut pod = pod(json!({}));
        fill_limits(&mut pod, &[range()]);
        assert_eq!(
            pod["spec"]["containers"][0]["resources"],
            json!({"limits": {"cpu": "500m", "memory": "256Mi"}, "requests": {"cpu": "250m", "memory": "128Mi"}})
        );
        assert_eq!(
            pod["metadata"]["annotations"][MARK],
            "LimitRanger plugin set: cpu, memory request for container nginx; cpu, memory limit for container nginx"
        );
        assert_eq!(check_pod(&pod, &[range()]), Ok(()));
    }

    #[test]
    fn range_of_a_pod_counts_its_largest_init_container() {
        let setup = json!({"name": "setup", "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "2"}}});
        let mut pod = pod(json!({"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}));
        pod["spec"]["initContainers"] = json!([setup]);
        let range = json!({"spec": {"limits": [{"type": "Pod", "max": {"cpu": "1500m"}}]}});
        let error = "maximum cpu usage per Pod is 1500m, but limit is 2";
        assert_eq!(check_pod(&pod, &[range]), Err(error.to_owned()));
    }

    #[test]
    fn what_is_outside_a_range_is_refused() {
        for (resources, error) in [
            (
                json!({"requests": {"cpu": "50m"}}),
                "minimum cpu usage per Container is 100m, but request is 50m",
            ),
            (
                json!({"limits": {"cpu": "2"}, "requests": {"cpu": "500m"}}),
                "maximum cpu usage per Container is 1, but limit is 2",
            ),
        ] {
            let mut pod = pod(resources);
            fill_limits(&mut pod, &[range()]);
            assert_eq!(check_pod(&pod, &[range()]), Err(error.to_owned()));
        }
        let mut limited = range();
        limited["spec"]["limits"] =
            json!([{"type": "Container", "maxLimitRequestRatio": {"cpu": "2"}}]);
        let asks = pod(json!({"limits": {"cpu": "2"}, "requests": {"cpu": "500m"}}));
        let error =
            "cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000";
        assert_eq!(check_pod(&asks, &[limited]), Err(error.to_owned()));
        let claim = |size: &str| json!({"spec": {"resources": {"requests": {"storage": size}}}});
        let error = "maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 10Gi";
        assert_eq!(
            check_claim(&claim("10Gi"), &[range()]),
            Err(error.to_owned())
        );
        let error = "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 500Mi";
        assert_eq!(
            check_claim(&claim("500Mi"), &[range()]),
            Err(error.to_owned())
        );
        assert_eq!(check_claim(&claim("2Gi"), &[range()]), Ok(()));
    }
}
