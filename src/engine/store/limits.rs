//! LimitRanges and ResourceQuotas, as far as one request is concerned: what is filled in, what is refused, what counts.
//!
//! Pure functions over JSON; the messages follow `pods "x" is forbidden: `. Models `plugin/pkg/admission/limitranger`
//! and `plugin/pkg/admission/resourcequota`.

use crate::api::quantity::Quantity;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const MARK: &str = "kubernetes.io/limit-ranger";

fn amount(value: &Value) -> Option<Quantity> {
    Quantity::parse(value.as_str()?).ok()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

fn limits_of<'a>(ranges: &'a [&'a Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    ranges.iter().flat_map(|range| list(&range["spec"], "limits")).filter(move |limit| limit["type"] == kind)
}

/// Fills in the requests and limits that a Pod's containers do not have, and says so in an annotation.
pub fn fill_limits(pod: &mut Value, ranges: &[&Value]) {
    let mut said = Vec::new();
    for kind in ["containers", "initContainers"] {
        for container in pod["spec"].get_mut(kind).and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut) {
            for (field, source, word) in [("requests", "defaultRequest", "request"), ("limits", "default", "limit")] {
                let mut set = Vec::new();
                for limit in limits_of(ranges, "Container") {
                    set.extend(fill(container, field, &limit[source]));
                }
                if !set.is_empty() {
                    crate::order::sort(&mut set);
                    let init = if kind == "initContainers" { "init container" } else { "container" };
                    said.push(format!("{} {word} for {init} {}", set.join(", "), container["name"].as_str().unwrap_or("")));
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

/// Why a Pod is outside the ranges of its namespace.
pub fn check_pod(pod: &Value, ranges: &[&Value]) -> Result<(), String> {
    let mut errors = Vec::new();
    for limit in limits_of(ranges, "Container") {
        for container in list(&pod["spec"], "containers").iter().chain(list(&pod["spec"], "initContainers")) {
            check(&mut errors, limit, "Container", &|kind, name| amount(&container["resources"][kind][name]));
        }
    }
    for limit in limits_of(ranges, "Pod") {
        let sum = |kind: &str, name: &str| {
            let mut all = list(&pod["spec"], "containers").iter().filter_map(|c| amount(&c["resources"][kind][name]));
            let first = all.next()?;
            Some(all.fold(first, Quantity::plus))
        };
        check(&mut errors, limit, "Pod", &sum);
    }
    aggregate(errors)
}

/// Why a claim is outside the ranges of its namespace.
pub fn check_claim(claim: &Value, ranges: &[&Value]) -> Result<(), String> {
    let mut errors = Vec::new();
    let request = amount(&claim["spec"]["resources"]["requests"]["storage"]).unwrap_or(Quantity::ZERO);
    for limit in limits_of(ranges, "PersistentVolumeClaim") {
        for (bound, word, outside) in [("min", "minimum", -1), ("max", "maximum", 1)] {
            let Some(bound) = amount(&limit[bound]["storage"]) else { continue };
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

/// Compares what is asked for (by `requests` or `limits` and resource) with one range.
fn check(errors: &mut Vec<String>, limit: &Value, kind: &str, asked: &dyn Fn(&str, &str) -> Option<Quantity>) {
    let bounds =
        |name: &str| limit[name].as_object().into_iter().flatten().filter_map(|(name, value)| Some((name.clone(), amount(value)?)));
    for (name, least) in bounds("min") {
        let head = format!("minimum {name} usage per {kind} is {least}");
        match (asked("requests", &name), asked("limits", &name)) {
            (None, _) => errors.push(format!("{head}.  No request is specified")),
            (Some(request), _) if request < least => errors.push(format!("{head}, but request is {request}")),
            (_, Some(most)) if most < least => errors.push(format!("{head}, but limit is {most}")),
            _ => {}
        }
    }
    for (name, most) in bounds("max") {
        let head = format!("maximum {name} usage per {kind} is {most}");
        match (asked("limits", &name), asked("requests", &name)) {
            (None, _) => errors.push(format!("{head}.  No limit is specified")),
            (Some(limit), _) if limit > most => errors.push(format!("{head}, but limit is {limit}")),
            (_, Some(request)) if request > most => errors.push(format!("{head}, but request is {request}")),
            _ => {}
        }
    }
}

/// What an object counts in a quota, by the quota's names: `pods`, `requests.cpu`, `count/deployments.apps`…
pub fn usage(kind: &str, group_resource: &str, object: &Value) -> BTreeMap<String, Quantity> {
    let one = Quantity::units(1);
    let mut used = BTreeMap::from([(format!("count/{group_resource}"), one)]);
    match kind {
        "Pod" if matches!(object["status"]["phase"].as_str(), Some("Succeeded" | "Failed")) => {}
        "Pod" => {
            used.insert("pods".to_owned(), one);
            for container in list(&object["spec"], "containers") {
                for (field, plain) in [("requests", true), ("limits", false)] {
                    for (name, value) in container["resources"][field].as_object().into_iter().flatten() {
                        let Some(value) = amount(value) else { continue };
                        let names = [Some(format!("{field}.{name}")), plain.then(|| name.clone())];
                        for name in names.into_iter().flatten() {
                            let sum = used.entry(name).or_insert(Quantity::ZERO);
                            *sum = sum.plus(value);
                        }
                    }
                }
            }
        }
        "PersistentVolumeClaim" => {
            used.insert("persistentvolumeclaims".to_owned(), one);
            if let Some(size) = amount(&object["spec"]["resources"]["requests"]["storage"]) {
                used.insert("requests.storage".to_owned(), size);
            }
        }
        "Service" => {
            used.insert("services".to_owned(), one);
            let kind = object["spec"]["type"].as_str().unwrap_or("");
            if kind == "LoadBalancer" {
                used.insert("services.loadbalancers".to_owned(), one);
            }
            if matches!(kind, "NodePort" | "LoadBalancer") {
                used.insert("services.nodeports".to_owned(), Quantity::units(list(&object["spec"], "ports").len() as i64));
            }
        }
        "ConfigMap" | "Secret" | "ReplicationController" | "ResourceQuota" => {
            used.insert(group_resource.to_owned(), one);
        }
        _ => {}
    }
    used
}

/// The `status` of a quota that counts these usages.
pub fn quota_status<'a>(quota: &Value, usages: impl Iterator<Item = &'a BTreeMap<String, Quantity>>) -> Value {
    let hard = quota["spec"]["hard"].as_object().cloned().unwrap_or_default();
    let mut used: BTreeMap<&str, Quantity> = hard.keys().map(|name| (name.as_str(), Quantity::ZERO)).collect();
    for usage in usages {
        for (name, sum) in &mut used {
            if let Some(value) = usage.get(*name) {
                *sum = sum.plus(*value);
            }
        }
    }
    let used: Map<String, Value> = used.into_iter().map(|(name, sum)| (name.to_owned(), Value::from(sum.to_string()))).collect();
    json!({"hard": hard, "used": used})
}

/// Whether a quota has room for one more object; gives the `used` that follows, or the refusal. Nothing where the quota
/// does not count such objects.
pub fn charge(quota: &Value, wanted: &BTreeMap<String, Quantity>, pod: Option<&Value>) -> Result<Option<Value>, String> {
    let name = quota["metadata"]["name"].as_str().unwrap_or("");
    let hard = quota["status"]["hard"].as_object().or(quota["spec"]["hard"].as_object());
    let mut used = quota["status"]["used"].as_object().cloned().unwrap_or_default();
    if let Some(missing) = pod.and_then(|pod| missing(hard?, pod)) {
        return Err(format!("failed quota: {name}: {missing}"));
    }
    let (mut requested, mut before, mut limited, mut counts) = (Vec::new(), Vec::new(), Vec::new(), false);
    for (resource, most) in hard.into_iter().flatten() {
        let (Some(more), Some(most)) = (wanted.get(resource), amount(most)) else { continue };
        let now = used.get(resource).and_then(amount).unwrap_or(Quantity::ZERO);
        counts = true;
        if now.plus(*more) > most {
            requested.push(format!("{resource}={more}"));
            before.push(format!("{resource}={now}"));
            limited.push(format!("{resource}={most}"));
        }
        used.insert(resource.clone(), Value::from(now.plus(*more).to_string()));
    }
    if !requested.is_empty() {
        let (requested, before, limited) = (requested.join(","), before.join(","), limited.join(","));
        return Err(format!("exceeded quota: {name}, requested: {requested}, used: {before}, limited: {limited}"));
    }
    Ok(counts.then_some(Value::Object(used)))
}

/// A quota on cpu or memory needs every container to say how much it wants.
fn missing(hard: &Map<String, Value>, pod: &Value) -> Option<String> {
    let mut faults = Vec::new();
    for resource in hard.keys() {
        let (field, name) = match resource.as_str() {
            "cpu" | "memory" => ("requests", resource.as_str()),
            other => match other.split_once('.') {
                Some((field @ ("requests" | "limits"), name @ ("cpu" | "memory"))) => (field, name),
                _ => continue,
            },
        };
        let without = list(&pod["spec"], "containers").iter().filter(|c| c["resources"][field].get(name).is_none());
        let names: Vec<&str> = without.filter_map(|c| c["name"].as_str()).collect();
        if !names.is_empty() {
            faults.push(format!("{resource} for: {}", names.join(",")));
        }
    }
    (!faults.is_empty()).then(|| format!("must specify {}", faults.join("; ")))
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
        fill_limits(&mut pod, &[&range()]);
        assert_eq!(
            pod["spec"]["containers"][0]["resources"],
            json!({"limits": {"cpu": "500m", "memory": "256Mi"}, "requests": {"cpu": "250m", "memory": "128Mi"}})
        );
        assert_eq!(
            pod["metadata"]["annotations"][MARK],
            "LimitRanger plugin set: cpu, memory request for container nginx; cpu, memory limit for container nginx"
        );
        assert_eq!(check_pod(&pod, &[&range()]), Ok(()));
    }

    #[test]
    fn what_is_outside_a_range_is_refused() {
        for (resources, error) in [
            (json!({"requests": {"cpu": "50m"}}), "minimum cpu usage per Container is 100m, but request is 50m"),
            (json!({"limits": {"cpu": "2"}, "requests": {"cpu": "500m"}}), "maximum cpu usage per Container is 1, but limit is 2"),
        ] {
            let mut pod = pod(resources);
            fill_limits(&mut pod, &[&range()]);
            assert_eq!(check_pod(&pod, &[&range()]), Err(error.to_owned()));
        }
        let claim = |size: &str| json!({"spec": {"resources": {"requests": {"storage": size}}}});
        let error = "maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 10Gi";
        assert_eq!(check_claim(&claim("10Gi"), &[&range()]), Err(error.to_owned()));
        let error = "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 500Mi";
        assert_eq!(check_claim(&claim("500Mi"), &[&range()]), Err(error.to_owned()));
        assert_eq!(check_claim(&claim("2Gi"), &[&range()]), Ok(()));
    }

    #[test]
    fn a_quota_counts_and_refuses() {
        let wanted = usage("Pod", "pods", &pod(json!({"requests": {"cpu": "1"}})));
        let mut quota = json!({"metadata": {"name": "rq"}, "spec": {"hard": {"pods": "2", "services": "1"}}});
        quota["status"] = quota_status(&quota, [&wanted].into_iter());
        assert_eq!(quota["status"], json!({"hard": {"pods": "2", "services": "1"}, "used": {"pods": "1", "services": "0"}}));
        let used = charge(&quota, &wanted, None).unwrap().unwrap();
        assert_eq!(used, json!({"pods": "2", "services": "0"}));
        quota["status"]["used"] = used;
        let refusal = "exceeded quota: rq, requested: pods=1, used: pods=2, limited: pods=2";
        assert_eq!(charge(&quota, &wanted, None), Err(refusal.to_owned()));
        assert_eq!(charge(&quota, &usage("ConfigMap", "configmaps", &json!({})), None), Ok(None));
        let cpu = json!({"metadata": {"name": "c"}, "spec": {"hard": {"limits.cpu": "1"}}});
        let plain = pod(json!({}));
        let refusal = "failed quota: c: must specify limits.cpu for: nginx";
        assert_eq!(charge(&cpu, &usage("Pod", "pods", &plain), Some(&plain)), Err(refusal.to_owned()));
    }
}
