//! ResourceQuotas: usage of an object, check against the quota, and the quota's status.
//!
//! Models `pkg/quota/v1/evaluator/core` and `plugin/pkg/admission/resourcequota`; the messages follow
//! `pods "x" is forbidden: `.

use super::error::{ApiError, Cause, ExceededQuota, ExceededResource};
use super::server::{ApiServer, Origin};
use crate::journal::Actor;
use crate::why::Why;
use k8s_model::pod::Pod;
use k8s_model::quantity::Quantity;
use k8s_model::{Body, Kind, Object, Str};
use serde_json::{Map, Value};
use std::rc::Rc;

/// Reason why a quota refuses an object.
#[derive(Debug, PartialEq)]
enum Refusal {
    /// The quota has no room for the object.
    Exceeded(ExceededQuota),
    /// The object does not specify the amounts that the quota counts.
    Unspecified(String),
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::Exceeded(exceeded) => exceeded.fmt(f),
            Refusal::Unspecified(text) => f.write_str(text),
        }
    }
}

/// Amounts by a quota's resource names: `pods`, `requests.cpu`, `count/deployments.apps`…
pub type QuotaUsage = Vec<(String, Quantity)>;

impl ApiServer {
    /// Charges a new object to every matching quota of its namespace, or refuses it.
    pub(super) fn charge_quotas(
        &mut self,
        origin: &Origin,
        object: &Object,
    ) -> Result<(), ApiError> {
        if object.kind == Kind::Event {
            return Ok(());
        }
        let quotas: Vec<Rc<Object>> = self
            .list(Kind::ResourceQuota)
            .filter(|q| q.meta.namespace == object.meta.namespace)
            .cloned()
            .collect();
        if quotas.is_empty() {
            return Ok(());
        }
        self.charge_each(origin, object, quotas)
    }

    fn charge_each(
        &mut self,
        origin: &Origin,
        object: &Object,
        quotas: Vec<Rc<Object>>,
    ) -> Result<(), ApiError> {
        let wanted = usage(object);
        let mut charged = Vec::new();
        let quotas = quotas.iter().filter_map(|quota| match &quota.body {
            Body::Other(body) if in_scope(body, object) => Some((quota, body)),
            _ => None,
        });
        let quotas: Vec<_> = quotas.collect();
        // Every quota first checks that the object specifies its amounts, before any is checked for room.
        let unspecified = quotas
            .iter()
            .filter_map(|(quota, body)| unspecified(&quota.meta.name, body, object.pod()).map(Err));
        let charges = quotas.iter().map(|(quota, body)| {
            charge(&quota.meta.name, body, &wanted).map(|used| (*quota, used))
        });
        for result in unspecified.chain(charges) {
            match result {
                Ok((quota, Some(used))) => charged.push((quota.clone(), used)),
                Ok((_, None)) => {}
                Err(refusal) => {
                    let (resource, name) =
                        (object.kind.group_resource(), object.meta.name.as_str());
                    let error =
                        ApiError::forbidden(format!("{resource} {name:?} is forbidden: {refusal}"));
                    return Err(match refusal {
                        Refusal::Exceeded(exceeded) => ApiError {
                            cause: Some(Box::new(Cause::Quota(exceeded))),
                            ..error
                        },
                        Refusal::Unspecified(_) => error,
                    });
                }
            }
        }
        for (quota, used) in charged {
            let mut new = (*quota).clone();
            if let Body::Other(body) = &mut new.body {
                body["status"]["used"] = used;
            }
            let origin = Origin {
                actor: Actor::SERVER,
                ..origin.clone()
            };
            self.update_status(
                &origin,
                new,
                Why::QuotaCharged {
                    object: object.key().to_string().into(),
                },
            )?;
        }
        Ok(())
    }
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or("")
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn entries(value: &Value) -> impl Iterator<Item = (&String, Quantity)> {
    value
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| Some((name, Quantity::parse(value.as_str()?).ok()?)))
}

fn of<'a>(usage: &'a QuotaUsage, name: &str) -> Option<&'a Quantity> {
    usage
        .iter()
        .find(|(n, _)| n == name)
        .map(|(_, amount)| amount)
}

fn add(usage: &mut QuotaUsage, name: String, more: Quantity) {
    match usage.iter_mut().find(|(n, _)| *n == name) {
        Some((_, sum)) => *sum = sum.plus(more),
        None => usage.push((name, more)),
    }
}

/// Returns true if a quota counts objects like this one; quotas with scopes count only some Pods.
pub fn in_scope(quota: &Map<String, Value>, object: &Object) -> bool {
    let Some(spec) = quota.get("spec") else {
        return true;
    };
    let mut scopes: Vec<(&str, &str, &Value)> = items(&spec["scopes"])
        .filter_map(|s| Some((s.as_str()?, "Exists", &Value::Null)))
        .collect();
    scopes.extend(
        items(&spec["scopeSelector"]["matchExpressions"])
            .map(|e| (text(e, "scopeName"), text(e, "operator"), &e["values"])),
    );
    if scopes.is_empty() {
        return true;
    }
    let Some(pod) = object.pod() else {
        return false;
    };
    let raw = &pod.spec.raw;
    scopes.iter().all(|(scope, operator, values)| match *scope {
        "Terminating" => !raw["activeDeadlineSeconds"].is_null(),
        "NotTerminating" => raw["activeDeadlineSeconds"].is_null(),
        "BestEffort" => pod.status.qos_class == "BestEffort",
        "NotBestEffort" => pod.status.qos_class != "BestEffort",
        "PriorityClass" => {
            let class = text(raw, "priorityClassName");
            let named = items(values).any(|v| v == class);
            match *operator {
                "In" => named,
                "NotIn" => !named,
                "DoesNotExist" => class.is_empty(),
                _ => !class.is_empty(),
            }
        }
        _ => true,
    })
}

/// Returns the usage of an object.
pub fn usage(object: &Object) -> QuotaUsage {
    let one = Quantity::units(1);
    let resource = object.kind.group_resource();
    let mut used = vec![(["count/", &resource].concat(), one)];
    match &object.body {
        Body::Pod(pod) if pod.is_terminal() => {}
        Body::Pod(pod) => {
            used.push((resource, one));
            for (field, plain) in [("requests", true), ("limits", false)] {
                for (name, amount) in pod_amounts(pod, field) {
                    used.push((format!("{field}.{name}"), amount));
                    if plain && !name.contains('/') {
                        used.push((name, amount));
                    }
                }
            }
        }
        Body::PersistentVolumeClaim(claim) => {
            let raw = &claim.spec.raw;
            let class = text(raw, "storageClassName");
            let size = raw["resources"]["requests"]["storage"]
                .as_str()
                .and_then(|s| Quantity::parse(s).ok());
            for head in [
                String::new(),
                format!("{class}.storageclass.storage.k8s.io/"),
            ] {
                used.push((format!("{head}persistentvolumeclaims"), one));
                used.extend(size.map(|size| (format!("{head}requests.storage"), size)));
            }
        }
        Body::Service(service) => {
            let spec = &service.spec;
            used.push((resource, one));
            if spec.kind == "LoadBalancer" {
                used.push(("services.loadbalancers".to_owned(), one));
            }
            if matches!(spec.kind.as_str(), "NodePort" | "LoadBalancer") {
                used.push((
                    "services.nodeports".to_owned(),
                    Quantity::units(spec.ports.len() as i64),
                ));
            }
        }
        _ if matches!(
            object.kind,
            Kind::ConfigMap | Kind::Secret | Kind::ReplicationController | Kind::ResourceQuota
        ) =>
        {
            used.push((resource, one));
        }
        _ => {}
    }
    used
}

/// Returns a Pod's requests or limits: the sum of its containers, or its largest init container if that is more.
fn pod_amounts(pod: &Pod, field: &str) -> QuotaUsage {
    let (mut sum, mut most) = (QuotaUsage::new(), QuotaUsage::new());
    for container in items(&pod.spec.raw["containers"]) {
        for (name, amount) in entries(&container["resources"][field]) {
            add(&mut sum, name.clone(), amount);
        }
    }
    for container in items(&pod.spec.raw["initContainers"]) {
        let sidecar = container["restartPolicy"] == "Always";
        for (name, amount) in entries(&container["resources"][field]) {
            if sidecar {
                add(&mut sum, name.clone(), amount);
            } else if of(&most, name).is_none_or(|m| amount > *m) {
                most.retain(|(n, _)| n != name);
                most.push((name.clone(), amount));
            }
        }
    }
    for (name, amount) in most {
        match sum.iter_mut().find(|(n, _)| *n == name) {
            Some((_, total)) if amount > *total => *total = amount,
            Some(_) => {}
            None => sum.push((name, amount)),
        }
    }
    sum
}

/// Returns the `status` of a quota that counts these objects.
pub fn quota_status<'a>(
    quota: &Map<String, Value>,
    objects: impl Iterator<Item = &'a Rc<Object>>,
) -> Value {
    let hard = quota
        .get("spec")
        .map(|spec| spec["hard"].clone())
        .unwrap_or_default();
    let mut used: QuotaUsage = entries(&hard)
        .map(|(name, _)| (name.clone(), Quantity::ZERO))
        .collect();
    for object in objects.filter(|object| in_scope(quota, object)) {
        for (name, more) in usage(object) {
            if let Some((_, sum)) = used.iter_mut().find(|(n, _)| *n == name) {
                *sum = sum.plus(more);
            }
        }
    }
    let used = k8s_model::sort::map(
        used.into_iter()
            .map(|(name, sum)| (name, Value::from(sum.to_string()))),
    );
    let mut status = Map::new();
    status.insert("hard".to_owned(), hard);
    status.insert("used".to_owned(), Value::Object(used));
    Value::Object(status)
}

/// Charges an object to a quota; returns the resulting `used`, or the refusal. `None` if the quota does not count such objects. A quota
/// limits nothing before its controller has written its status.
fn charge(
    name: &Str,
    quota: &Map<String, Value>,
    wanted: &QuotaUsage,
) -> Result<Option<Value>, Refusal> {
    let Some(status) = quota.get("status") else {
        return Ok(None);
    };
    let hard = &status["hard"];
    // A status written by a client may lack `used`.
    let mut used = Some(status["used"].clone())
        .filter(Value::is_object)
        .unwrap_or_else(|| Value::Object(Map::new()));
    let (mut resources, mut counts) = (Vec::new(), false);
    for (resource, most) in entries(hard) {
        let Some(more) = of(wanted, resource) else {
            continue;
        };
        let now = entries(&used)
            .find(|(n, _)| *n == resource)
            .map_or(Quantity::ZERO, |(_, amount)| amount);
        counts = true;
        if now.plus(*more) > most {
            resources.push(ExceededResource {
                name: resource.clone(),
                requested: *more,
                used: now,
                hard: most,
            });
        }
        used[resource.as_str()] = Value::from(now.plus(*more).to_string());
    }
    if !resources.is_empty() {
        return Err(Refusal::Exceeded(ExceededQuota {
            name: name.clone(),
            resources,
        }));
    }
    Ok(counts.then_some(used))
}

/// Returns the refusal of a Pod that does not specify the resources that the quota counts.
fn unspecified(name: &Str, quota: &Map<String, Value>, pod: Option<&Pod>) -> Option<Refusal> {
    let missing = missing(&quota.get("status")?["hard"], pod?)?;
    Some(Refusal::Unspecified(format!(
        "failed quota: {name}: {missing}"
    )))
}

/// Returns the missing resources: a quota on CPU or memory requires every container to have requests or limits.
fn missing(hard: &Value, pod: &Pod) -> Option<String> {
    let mut faults = Vec::new();
    for (resource, _) in entries(hard) {
        let (field, name) = match resource.split_once('.') {
            Some((field @ ("requests" | "limits"), name @ ("cpu" | "memory"))) => (field, name),
            None if matches!(resource.as_str(), "cpu" | "memory") => {
                ("requests", resource.as_str())
            }
            _ => continue,
        };
        let raw = &pod.spec.raw;
        let without = items(&raw["containers"])
            .chain(items(&raw["initContainers"]))
            .filter(|c| c["resources"][field][name].is_null());
        let names: Vec<&str> = without.map(|c| text(c, "name")).collect();
        if !names.is_empty() {
            faults.push(format!("{resource} for: {}", names.join(",")));
        }
    }
    (!faults.is_empty()).then(|| format!("must specify {}", faults.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(resources: Value) -> Rc<Object> {
        let spec =
            json!({"containers": [{"name": "nginx", "image": "nginx", "resources": resources}]});
        let value = json!({"metadata": {"name": "p", "namespace": "default"}, "spec": spec});
        Rc::new(Object::from_value(Kind::Pod, value).unwrap())
    }

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn a_quota_counts_and_refuses() {
        let one = pod(json!({"requests": {"cpu": "1"}}));
        let mut quota =
            map(json!({"spec": {"hard": {"pods": "2", "requests.cpu": "1500m", "services": "1"}}}));
        let name = Str::new_static("rq");
        assert_eq!(
            charge(&name, &quota, &usage(&one)),
            Ok(None),
            "before its loop has seen it"
        );
        quota.insert("status".into(), quota_status(&quota, [&one].into_iter()));
        let hard = json!({"pods": "2", "requests.cpu": "1500m", "services": "1"});
        assert_eq!(
            quota["status"],
            json!({"hard": hard, "used": {"pods": "1", "requests.cpu": "1", "services": "0"}})
        );
        let small = pod(json!({"requests": {"cpu": "500m"}}));
        let used = charge(&name, &quota, &usage(&small)).unwrap().unwrap();
        assert_eq!(
            used,
            json!({"pods": "2", "requests.cpu": "1500m", "services": "0"})
        );
        quota["status"]["used"] = used;
        let refusal = "exceeded quota: rq, requested: pods=1,requests.cpu=500m, used: pods=2,requests.cpu=1500m, \
                       limited: pods=2,requests.cpu=1500m";
        assert_eq!(
            charge(&name, &quota, &usage(&small))
                .unwrap_err()
                .to_string(),
            refusal
        );
        let plain = pod(json!({}));
        let refusal = "failed quota: rq: must specify requests.cpu for: nginx";
        assert_eq!(
            unspecified(&name, &quota, plain.pod()).unwrap().to_string(),
            refusal
        );
    }

    #[test]
    fn scopes_choose_pods() {
        let (one, plain) = (pod(json!({"requests": {"cpu": "1"}})), pod(json!({})));
        let quota = map(json!({"spec": {"hard": {"pods": "2"}, "scopes": ["NotTerminating"]}}));
        assert!(in_scope(&quota, &one));
        let quota = map(json!({"spec": {"hard": {"pods": "2"}, "scopes": ["Terminating"]}}));
        assert!(!in_scope(&quota, &plain));
    }
}
