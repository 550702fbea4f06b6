//! ResourceQuotas: usage of an object, check against the quota, and the quota's status.
//!
//! Models `pkg/quota/v1/evaluator/core` and `plugin/pkg/admission/resourcequota`; the messages follow
//! `pods "x" is forbidden: `.

use crate::error::{ApiError, Cause, ExceededQuota, ExceededResource};
use crate::services;
use crate::store::Store;
use k8s_model::pod::Pod;
use k8s_model::pod_resources::PodResourcesOptions;
use k8s_model::quantity::Quantity;
use k8s_model::{Body, Kind, Object, Str};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
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

/// Quota with the usage that a new object brings it to.
pub(crate) struct Charge {
    quota: Rc<Object>,
    used: Value,
}

impl Charge {
    /// Returns the quota with its new usage.
    pub fn charged(self) -> Object {
        let mut quota = (*self.quota).clone();
        if let Body::Other(body) = &mut quota.body {
            body["status"]["used"] = self.used;
        }
        quota
    }
}

/// Returns the charges of an object to every matching quota of its namespace, or the refusal of the first without room: of all that a new
/// object uses, or of what an update of `old` adds to it.
pub(crate) fn charges(
    store: &Store,
    object: &Object,
    old: Option<&Object>,
) -> Result<Vec<Charge>, ApiError> {
    if object.kind == Kind::Event || old.is_some_and(|old| !is_charged_again(object, old)) {
        return Ok(Vec::new());
    }
    let here = store.listing(Kind::ResourceQuota, Some(&object.meta.namespace));
    let here: Vec<Rc<Object>> = here.collect();
    let quotas: Vec<(&Rc<Object>, &Map<String, Value>)> = here
        .iter()
        .filter_map(|quota| match &quota.body {
            Body::Other(body) if in_scope(body, object) => Some((quota, &**body)),
            _ => None,
        })
        .collect();
    if quotas.is_empty() {
        return Ok(Vec::new());
    }
    let forbidden = |refusal: Refusal| {
        let (resource, name) = (object.kind.group_resource(), object.meta.name.as_str());
        let error = ApiError::forbidden(format!("{resource} {name:?} is forbidden: {refusal}"));
        match refusal {
            Refusal::Exceeded(exceeded) => ApiError {
                cause: Some(Box::new(Cause::Quota(exceeded))),
                ..error
            },
            Refusal::Unspecified(_) => error,
        }
    };
    // Every quota first checks that the object specifies its amounts, before any is checked for room.
    let mut missing = quotas
        .iter()
        .filter_map(|(quota, body)| unspecified(&quota.meta.name, body, object.pod()));
    if let Some(refusal) = missing.next() {
        return Err(forbidden(refusal));
    }
    let wanted = usage(object);
    let growth = old.map(|old| growth(&wanted, &usage(old)));
    let mut charges = Vec::new();
    for (quota, body) in quotas {
        // A quota that did not count the object before counts all of it now.
        let counted = old.is_some_and(|old| in_scope(body, old));
        let wanted = growth.as_ref().filter(|_| counted).unwrap_or(&wanted);
        if let Some(used) = charge(&quota.meta.name, body, wanted).map_err(forbidden)? {
            let quota = quota.clone();
            charges.push(Charge { quota, used });
        }
    }
    Ok(charges)
}

/// Returns true if an update may change what a quota counts: `Handles` of `pkg/quota/v1/evaluator/core`.
fn is_charged_again(new: &Object, old: &Object) -> bool {
    match (&new.body, &old.body) {
        (Body::Service(new), Body::Service(old)) => new.spec != old.spec,
        (Body::PersistentVolumeClaim(new), Body::PersistentVolumeClaim(old)) => {
            new.spec != old.spec
        }
        // Resources change by the resize subresource only; a deadline changes the scope.
        (Body::Pod(pod), Body::Pod(before)) => {
            let deadline = |pod: &Pod| pod.spec.raw["activeDeadlineSeconds"].is_null();
            !Rc::ptr_eq(&pod.spec, &before.spec)
                && (deadline(pod) != deadline(before) || usage(new) != usage(old))
        }
        _ => false,
    }
}

/// Returns what an object uses more of than before.
fn growth(new: &QuotaUsage, old: &QuotaUsage) -> QuotaUsage {
    let more = |(name, amount): &(String, Quantity)| {
        let more = of(old, name).map_or(*amount, |before| amount.minus(*before));
        (more > Quantity::ZERO).then(|| (name.clone(), more))
    };
    new.iter().filter_map(more).collect()
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
        "CrossNamespacePodAffinity" => spans_namespaces(&raw["affinity"]),
        _ => false,
    })
}

/// Returns true if a term of an affinity between Pods looks beyond the Pod's own namespace: `usesCrossNamespacePodAffinity` of
/// `pkg/quota/v1/evaluator/core/pods.go`.
fn spans_namespaces(affinity: &Value) -> bool {
    let spans = |term: &Value| {
        items(&term["namespaces"]).next().is_some() || !term["namespaceSelector"].is_null()
    };
    ["podAffinity", "podAntiAffinity"].iter().any(|kind| {
        let terms = &affinity[kind];
        items(&terms["requiredDuringSchedulingIgnoredDuringExecution"]).any(spans)
            || items(&terms["preferredDuringSchedulingIgnoredDuringExecution"])
                .any(|preferred| spans(&preferred["podAffinityTerm"]))
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
            let options = PodResourcesOptions {
                status: Some(&pod.status),
                ..Default::default()
            };
            for (name, amount) in pod.spec.total_requests(options) {
                used.push((format!("requests.{name}"), amount));
                if !name.contains('/') {
                    used.push((name.into(), amount));
                }
            }
            for (name, amount) in pod.spec.total_limits(options) {
                used.push((format!("limits.{name}"), amount));
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
            if services::may_have_node_ports(&spec.raw) {
                // Without allocation only the ports that were asked for count.
                let allocates = services::allocates_node_ports(&spec.raw);
                let ports = spec.ports.iter().filter(|p| allocates || p.node_port != 0);
                used.push((
                    "services.nodeports".to_owned(),
                    Quantity::units(ports.count() as i64),
                ));
            }
        }
        Body::ReplicaSet(_)
        | Body::Deployment(_)
        | Body::StatefulSet(_)
        | Body::Job(_)
        | Body::DaemonSet(_)
        | Body::ControllerRevision(_)
        | Body::Endpoints(_)
        | Body::EndpointSlice(_)
        | Body::PersistentVolume(_)
        | Body::StorageClass(_)
        | Body::Node(_)
        | Body::Event(_)
        | Body::Other(_) => {
            if PLAIN_COUNTS.contains(&object.kind) {
                used.push((resource, one));
            }
        }
    }
    used
}

/// Kinds that are counted under their resource name too: `legacyObjectCountAliases` of `pkg/quota/v1/evaluator/core/registry.go`.
const PLAIN_COUNTS: [Kind; 4] = [
    Kind::ConfigMap,
    Kind::Secret,
    Kind::ReplicationController,
    Kind::ResourceQuota,
];

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
    let used = used
        .into_iter()
        .map(|(name, sum)| (name, Value::from(sum.to_string())))
        .collect::<serde_json::Map<_, _>>();
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

/// Returns the missing resources: a quota on CPU or memory requires every container to have requests or limits, unless the Pod as a
/// whole has resources.
fn missing(hard: &Value, pod: &Pod) -> Option<String> {
    if pod.spec.has_pod_level_resources() {
        return None;
    }
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
        let names: BTreeSet<&str> = items(&raw["containers"])
            .chain(items(&raw["initContainers"]))
            .filter(|c| c["resources"][field][name].is_null())
            .map(|c| text(c, "name"))
            .collect();
        if !names.is_empty() {
            let names: Vec<&str> = names.into_iter().collect();
            faults.push(format!("{resource} for: {}", names.join(",")));
        }
    }
    faults.sort();
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
    fn an_update_is_charged_for_its_growth() {
        let mut store = Store::new(k8s_model::Timestamp::new(0), 1);
        let origin = crate::Origin::user();
        let mut put = |kind: Kind, value: Value| {
            let object = Object::from_value(kind, value).unwrap();
            store.put(&origin, crate::Op::Added, object, None, crate::Why::Asked)
        };
        let claim = |size: &str| {
            json!({"metadata": {"name": "data", "namespace": "default"},
            "spec": {"storageClassName": "fast", "resources": {"requests": {"storage": size}}}})
        };
        let old = put(Kind::PersistentVolumeClaim, claim("3Gi"));
        let limits = json!({"requests.storage": "10Gi", "persistentvolumeclaims": "1"});
        let used = json!({"requests.storage": "8Gi", "persistentvolumeclaims": "1"});
        put(
            Kind::ResourceQuota,
            json!({"metadata": {"name": "rq", "namespace": "default"}, "spec": {"hard": limits},
            "status": {"hard": limits, "used": used}}),
        );
        let expanded = |size: &str| {
            let new = Object::from_value(Kind::PersistentVolumeClaim, claim(size)).unwrap();
            let charges = charges(&store, &new, Some(&old)).map_err(|error| error.message)?;
            Ok(charges.into_iter().map(|charge| charge.used).next())
        };
        let charged = json!({"requests.storage": "10Gi", "persistentvolumeclaims": "1"});
        assert_eq!(expanded("5Gi"), Ok(Some(charged)));
        assert_eq!(expanded("3Gi"), Ok(None));
        let refusal = "persistentvolumeclaims \"data\" is forbidden: exceeded quota: rq, requested: requests.storage=3Gi, \
                       used: requests.storage=8Gi, limited: requests.storage=10Gi";
        assert_eq!(expanded("6Gi"), Err(refusal.to_owned()));
    }

    #[test]
    fn scopes_choose_pods() {
        let (one, plain) = (pod(json!({"requests": {"cpu": "1"}})), pod(json!({})));
        let quota = map(json!({"spec": {"hard": {"pods": "2"}, "scopes": ["NotTerminating"]}}));
        assert!(in_scope(&quota, &one));
        let quota = map(json!({"spec": {"hard": {"pods": "2"}, "scopes": ["Terminating"]}}));
        assert!(!in_scope(&quota, &plain));
    }

    #[test]
    fn a_scope_chooses_pods_with_affinity_across_namespaces() {
        let scopes = json!(["CrossNamespacePodAffinity"]);
        let quota = map(json!({"spec": {"hard": {"pods": "0"}, "scopes": scopes}}));
        let counts = |term: Value| {
            let affinity = json!({"podAntiAffinity":
                {"requiredDuringSchedulingIgnoredDuringExecution": [term]}});
            let containers = json!([{"name": "nginx", "image": "nginx"}]);
            let value = json!({"metadata": {"name": "p", "namespace": "default"},
                "spec": {"affinity": affinity, "containers": containers}});
            in_scope(&quota, &Object::from_value(Kind::Pod, value).unwrap())
        };
        assert!(!counts(json!({"topologyKey": "a"})));
        assert!(counts(json!({"topologyKey": "a", "namespaces": ["other"]})));
        assert!(counts(json!({"topologyKey": "a", "namespaceSelector": {}})));
    }
}
