//! Admission on creation: fields that the API server adds to an object beyond the defaults of its kind.
//!
//! Models the stock admission plugins (ServiceAccount, DefaultTolerationSeconds, Priority, DefaultStorageClass, DefaultIngressClass,
//! StorageObjectInUseProtection) and the create strategies of `pkg/registry`.

use super::defaults;
use super::error::{ApiError, Cause};
use super::server::ApiServer;
use super::validation::{ErrorType, FieldError};
use crate::validation;
use k8s_model::daemonset::TEMPLATE_GENERATION;
use k8s_model::ingress;
use k8s_model::network::Service;
use k8s_model::pod::{Pod, PodAffinity, PodCondition, PodSpec, ResourceRequirements, TOKEN_VOLUME};
use k8s_model::storage::StorageClass;
use k8s_model::{Body, Kind, Labels, Object, ObjectRef, Str, Timestamp};
use serde_json::{Map, Value, json};
use std::rc::Rc;

impl ApiServer {
    /// Admits a new object, with the changes of the stock plugins.
    pub(super) fn admit(&mut self, object: &mut Object) -> Result<(), ApiError> {
        self.limit(object)?;
        let claims = object.kind == Kind::PersistentVolumeClaim;
        let default_class = claims
            .then(|| {
                StorageClass::default_of(self.list(Kind::StorageClass)).map(|c| c.meta.name.clone())
            })
            .flatten();
        let suffix = if object.kind == Kind::Pod {
            self.rng.suffix()
        } else {
            Str::default()
        };
        if let Body::Pod(pod) = &object.body {
            self.check_account(&object.meta.name, &object.meta.namespace, pod)?;
        }
        self.admit_runtime_class(object)?;
        let wall = self.wall();
        if let Body::Pod(pod) = &object.body
            && !pod.node_name.is_empty()
            && let Some(node) = self.get(&ObjectRef::new(Kind::Node, "", &pod.node_name))
        {
            // A Pod gets the region and zone labels of its node; unbound Pods get them when they are bound.
            for key in [
                "topology.kubernetes.io/region",
                "topology.kubernetes.io/zone",
            ] {
                if let Some(value) = node.meta.label(key) {
                    Rc::make_mut(&mut object.meta.labels)
                        .insert(Str::new_static(key), value.clone());
                }
            }
        }
        if let Body::Pod(pod) = &mut object.body {
            self.resolve_priority(&object.meta.name, pod)?;
        }
        match &mut object.body {
            Body::Pod(pod) => {
                admit_pod(pod, suffix, wall, self.toleration_seconds);
                merge_label_keys(pod, &object.meta.labels);
            }
            Body::Service(_) => self.allocate_service(object)?,
            _ if object.kind == Kind::PriorityClass => self.check_default_priority(object)?,
            _ if object.kind == Kind::Ingress => {
                if let Some(class) = ingress::default_class(self.list(Kind::IngressClass)) {
                    ingress::give_class(object, &class.meta.name);
                }
            }
            _ => self.admit_other(object, default_class),
        }
        Ok(())
    }

    /// Refuses a second default priority class.
    fn check_default_priority(&self, object: &Object) -> Result<(), ApiError> {
        let Body::Other(body) = &object.body else {
            return Ok(());
        };
        match self
            .default_priority()
            .filter(|_| body.get("globalDefault") == Some(&Value::Bool(true)))
        {
            Some(other) if other.meta.name != object.meta.name => {
                Err(ApiError::forbidden(format!(
                    "priorityclasses.scheduling.k8s.io {:?} is forbidden: PriorityClass {} is already marked as default. Only one default can exist",
                    object.meta.name.as_str(),
                    other.meta.name
                )))
            }
            _ => Ok(()),
        }
    }

    /// Admits objects other than Pods and Services.
    fn admit_other(&self, object: &mut Object, default_class: Option<Str>) {
        match &mut object.body {
            Body::PersistentVolumeClaim(claim) => {
                protect(&mut object.meta.finalizers, "kubernetes.io/pvc-protection");
                claim.status.phase = "Pending".into();
                if let (None, Some(class)) = (&claim.spec.storage_class_name, default_class) {
                    claim.spec = claim.spec.edited(|raw| {
                        raw.insert("storageClassName".into(), class.as_str().into());
                    });
                }
            }
            Body::PersistentVolume(volume) => {
                protect(&mut object.meta.finalizers, "kubernetes.io/pv-protection");
                volume.status = k8s_model::storage::VolumeStatus {
                    phase: "Pending".into(),
                    last_phase_transition_time: Some(self.wall()),
                    ..Default::default()
                };
            }
            Body::StatefulSet(set) => set.status.replicas = 0,
            Body::DaemonSet(set) => {
                set.status = Default::default();
                object.meta.annotate(TEMPLATE_GENERATION, "1");
            }
            _ => {}
        }
    }

    /// Checks that a growing claim's class allows expansion, and allocates the addresses of a Service's new type.
    ///
    /// Models `plugin/pkg/admission/storage/persistentvolume/resize` and `pkg/registry/core/service/storage/alloc.go`.
    pub(super) fn admit_update(&mut self, new: &mut Object, old: &Object) -> Result<(), ApiError> {
        if new.kind == Kind::Service {
            return self.allocate_service(new);
        }
        let (Body::PersistentVolumeClaim(claim), Body::PersistentVolumeClaim(before)) =
            (&new.body, &old.body)
        else {
            return Ok(());
        };
        if claim.request() <= before.request() {
            return Ok(());
        }
        let class = self.get(&ObjectRef::new(Kind::StorageClass, "", claim.class()));
        let allowed = class
            .and_then(|o| o.get::<StorageClass>())
            .and_then(|class| class.raw.get("allowVolumeExpansion"))
            .is_some_and(|v| v == true);
        let fault = match () {
            () if before.status.phase != "Bound" => {
                "Only bound persistent volume claims can be expanded"
            }
            () if !allowed || claim.class() != before.class() => {
                "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
            }
            () => return Ok(()),
        };
        Err(ApiError::forbidden(format!(
            "persistentvolumeclaims {:?} is forbidden: {fault}",
            new.meta.name.as_str()
        )))
    }

    /// Checks that a Pod's RuntimeClass exists, and sets its overhead and scheduling.
    ///
    /// Models `plugin/pkg/admission/runtimeclass`.
    fn admit_runtime_class(&self, object: &mut Object) -> Result<(), ApiError> {
        let Body::Pod(pod) = &mut object.body else {
            return Ok(());
        };
        let Some(class) = pod.spec.raw["runtimeClassName"]
            .as_str()
            .filter(|class| !class.is_empty())
        else {
            return Ok(());
        };
        let forbidden = |detail: String| {
            ApiError::forbidden(format!(
                "pods {:?} is forbidden: pod rejected: {detail}",
                object.meta.name.as_str()
            ))
        };
        let found = self
            .get(&ObjectRef::new(Kind::RuntimeClass, "", class))
            .map(|found| &found.body);
        let Some(Body::Other(found)) = found else {
            return Err(forbidden(format!("RuntimeClass {class:?} not found")));
        };
        let part = |field: &str, inner: &str| {
            found
                .get(field)
                .map(|part| part[inner].clone())
                .unwrap_or_default()
        };
        let (overhead, chosen, tolerated) = (
            part("overhead", "podFixed"),
            part("scheduling", "nodeSelector"),
            part("scheduling", "tolerations"),
        );
        let mut raw = pod.spec.raw.clone();
        if overhead.is_object() {
            raw["overhead"] = overhead;
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

    /// Checks that a Pod's service account exists.
    fn check_account(&self, name: &str, namespace: &str, pod: &Pod) -> Result<(), ApiError> {
        let account = &pod.spec.service_account_name;
        if account.is_empty()
            || account == "default"
            || self
                .get(&ObjectRef::new(Kind::ServiceAccount, namespace, account))
                .is_some()
        {
            return Ok(());
        }
        Err(ApiError::forbidden(format!(
            "pods {name:?} is forbidden: error looking up service account {namespace}/{account}: serviceaccount {:?} not found",
            account.as_str()
        )))
    }

    /// Returns the default priority class: the one with the lowest value if there are several.
    fn default_priority(&self) -> Option<&Rc<Object>> {
        let says = |o: &Rc<Object>, field: &str| {
            if let Body::Other(body) = &o.body {
                body.get(field).cloned()
            } else {
                None
            }
        };
        let is_default = |o: &&Rc<Object>| says(o, "globalDefault") == Some(Value::Bool(true));
        self.list(Kind::PriorityClass)
            .filter(is_default)
            .min_by_key(|o| says(o, "value").and_then(|value| value.as_i64()))
    }

    /// Sets a Pod's priority from its priority class, or from the default class.
    fn resolve_priority(&self, name: &str, pod: &mut Pod) -> Result<(), ApiError> {
        let said = |field: &str| {
            pod.spec
                .raw
                .get(field)
                .is_some_and(|value| !value.is_null() && value != "")
        };
        let asked = ["priorityClassName", "priority", "preemptionPolicy"]
            .into_iter()
            .any(said);
        if asked || self.default_priority().is_some() {
            self.compute_priority(name, pod)
        } else {
            Ok(())
        }
    }

    fn compute_priority(&self, name: &str, pod: &mut Pod) -> Result<(), ApiError> {
        let mut raw = pod.spec.raw.clone();
        let nobody = k8s_model::sort::map(
            [
                ("value".to_owned(), Value::from(0)),
                ("preemptionPolicy".to_owned(), "PreemptLowerPriority".into()),
            ]
            .into_iter(),
        );
        let body = match raw["priorityClassName"]
            .as_str()
            .filter(|class| !class.is_empty())
            .map(str::to_owned)
        {
            Some(class) => match self
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
            None => match self.default_priority() {
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
            let cause =
                format!("the {what} ({said}) {from} {value} from the given PriorityClass name");
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

    /// Checks that the namespace exists and is not terminating.
    pub(super) fn check_namespace(&self, object: &Object) -> Result<(), ApiError> {
        let name = &object.meta.namespace;
        // The most common namespace; it exists from the start and may not be deleted.
        if name == "default" {
            return Ok(());
        }
        match self.get(&ObjectRef::new(Kind::Namespace, "", name)) {
            None => Err(ApiError::not_found(Kind::Namespace, name)),
            Some(namespace) if namespace.meta.is_deleting() && object.kind != Kind::Event => {
                let error = ApiError::forbidden(format!(
                    "{} {:?} is forbidden: unable to create new content in namespace {name} because it is being terminated",
                    object.kind.group_resource(),
                    object.meta.name.as_str()
                ));
                Err(ApiError {
                    cause: Some(Box::new(Cause::NamespaceTerminating)),
                    ..error
                })
            }
            Some(_) => Ok(()),
        }
    }

    /// Allocates cluster IPs and node ports of a Service.
    fn allocate_service(&mut self, object: &mut Object) -> Result<(), ApiError> {
        let Body::Service(service) = &mut object.body else {
            return Ok(());
        };
        if service.spec.kind == "ExternalName" {
            return Ok(());
        }
        check_families(&object.meta.name, service)?;
        let own = self
            .get(&ObjectRef::new(
                Kind::Service,
                &object.meta.namespace,
                &object.meta.name,
            ))
            .cloned();
        let is_taken = |ip: &str| self.addresses.is_taken(ip, own.as_deref());
        let is_open = |port: i32| self.addresses.is_open(port, own.as_deref());
        let name = object.meta.name.as_str();
        let asked = service.spec.cluster_ip.as_str();
        let fixed = !asked.is_empty() && asked != "None";
        if own.is_none() {
            let value = cluster_ips(service);
            if fixed && value.first().is_some_and(|first| first != asked) {
                let detail = "first value must match `clusterIP`".to_owned();
                return Err(taken_value(
                    name,
                    "spec.clusterIPs".into(),
                    json!(value).to_string(),
                    detail,
                ));
            }
        }
        let kept = own.as_deref().is_some_and(|own| {
            own.get::<Service>()
                .is_some_and(|own| own.spec.cluster_ip == asked)
        });
        if fixed && !kept && !is_service_address(asked) {
            let detail = format!(
                "failed to allocate IP {asked}: the provided network does not match the current range"
            );
            return Err(taken_value(
                name,
                "spec.clusterIPs".into(),
                format!("[{asked:?}]"),
                detail,
            ));
        }
        if fixed && is_taken(asked) {
            let detail = format!("failed to allocate IP {asked}: provided IP is already allocated");
            return Err(taken_value(
                name,
                "spec.clusterIPs".into(),
                format!("[{asked:?}]"),
                detail,
            ));
        }
        if let Some((i, port)) = service
            .spec
            .ports
            .iter()
            .enumerate()
            .find(|(_, p)| p.node_port != 0 && is_open(p.node_port))
        {
            let field = format!("spec.ports[{i}].nodePort");
            return Err(taken_value(
                name,
                field,
                port.node_port.to_string(),
                "provided port is already allocated".into(),
            ));
        }
        let mut ip = asked.to_string();
        let mut n = self.addresses.next_ip;
        while ip.is_empty() || (ip != "None" && is_taken(&ip)) {
            n += 1;
            ip = format!("10.96.{}.{}", n >> 8 & 0xff, n & 0xff);
        }
        let wants_ports = matches!(service.spec.kind.as_str(), "NodePort" | "LoadBalancer");
        let first = self.addresses.next_port;
        let mut taken = 0;
        service.spec = service.spec.edited(|raw| {
            raw.insert("clusterIP".into(), ip.as_str().into());
            raw.insert("clusterIPs".into(), json!([ip]));
            let selects = raw
                .get("selector")
                .and_then(Value::as_object)
                .is_some_and(|s| !s.is_empty());
            let families = if selects || ip != "None" {
                json!(["IPv4"])
            } else {
                json!(["IPv4", "IPv6"])
            };
            raw.entry("ipFamilyPolicy").or_insert_with(|| {
                if families.as_array().is_some_and(|f| f.len() == 2) {
                    "RequireDualStack"
                } else {
                    "SingleStack"
                }
                .into()
            });
            raw.entry("ipFamilies").or_insert(families);
            if wants_ports {
                raw.entry("externalTrafficPolicy")
                    .or_insert_with(|| "Cluster".into());
                let mut allocate = |place: &mut Map<String, Value>, field: &str| {
                    if place
                        .get(field)
                        .is_some_and(|port| *port != 0 && !port.is_null())
                    {
                        return;
                    }
                    let mut number = 0;
                    // When all are taken, the last one tried is allocated twice rather than searching forever.
                    for _ in 0..2768 {
                        if number != 0 && !is_open(number) {
                            break;
                        }
                        number = 30_000 + ((u32::from(first) + taken) * 7919 % 2768) as i32;
                        taken += 1;
                    }
                    place.insert(field.into(), number.into());
                };
                let ports = raw
                    .get_mut("ports")
                    .and_then(Value::as_array_mut)
                    .into_iter()
                    .flatten();
                ports
                    .filter_map(Value::as_object_mut)
                    .for_each(|port| allocate(port, "nodePort"));
                if service.spec.kind == "LoadBalancer" && raw["externalTrafficPolicy"] == "Local" {
                    allocate(raw, "healthCheckNodePort");
                }
            }
            if service.spec.kind == "LoadBalancer" {
                raw.entry("allocateLoadBalancerNodePorts")
                    .or_insert(true.into());
            }
        });
        self.addresses.next_ip = n;
        self.addresses.next_port = first + taken as u16;
        Ok(())
    }
}

/// Refuses a Service that requires more than IPv4. A headless Service without a selector may have any IP families.
///
/// Models `initIPFamilyFields` of `pkg/registry/core/service/storage/alloc.go`.
fn check_families(name: &str, service: &Service) -> Result<(), ApiError> {
    let raw = &service.spec.raw;
    if service.is_headless() && service.spec.selector.is_empty() {
        return Ok(());
    }
    let mut errors = Vec::new();
    let mut complain = |field: String, value: &Value, detail: &str| {
        errors.push(FieldError {
            field,
            fault: ErrorType::Invalid,
            value: value.to_string(),
            detail: detail.to_owned(),
        });
    };
    if raw["ipFamilyPolicy"] == "RequireDualStack" {
        complain(
            "spec.ipFamilyPolicy".into(),
            &raw["ipFamilyPolicy"],
            "this cluster is not configured for dual-stack services",
        );
    }
    for (i, family) in raw["ipFamilies"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
        .filter(|(_, family)| *family != "IPv4")
    {
        complain(
            format!("spec.ipFamilies[{i}]"),
            family,
            "not configured on this cluster",
        );
    }
    match errors.is_empty() {
        true => Ok(()),
        false => Err(ApiError::invalid_fields(
            &Kind::Service.group_kind(),
            name,
            &errors,
        )),
    }
}

/// Returns `clusterIPs` of a Service.
fn cluster_ips(service: &Service) -> Vec<String> {
    let ips = service.spec.raw.get("clusterIPs").and_then(Value::as_array);
    ips.into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

/// Returns true if an address is in the range of Services, 10.96.0.0/12.
fn is_service_address(text: &str) -> bool {
    text.parse::<std::net::Ipv4Addr>().is_ok_and(|ip| {
        u32::from(ip) >> 20 == u32::from(std::net::Ipv4Addr::new(10, 96, 0, 0)) >> 20
    })
}

fn protect(finalizers: &mut Vec<Str>, name: &'static str) {
    if !finalizers.iter().any(|f| f == name) {
        finalizers.push(Str::new_static(name));
    }
}

fn admit_pod(pod: &mut Pod, suffix: Str, wall: Timestamp, toleration_seconds: i64) {
    pod.spec = pod
        .spec
        .admitted(|spec| complete_spec(spec, toleration_seconds));
    if pod.spec.volumes.iter().any(|v| v.name == TOKEN_VOLUME) {
        pod.token = suffix;
    }
    pod.status = k8s_model::pod::PodStatus {
        phase: "Pending".into(),
        qos_class: qos_class(pod).into(),
        ..Default::default()
    };
    if !pod.spec.scheduling_gates.is_empty() {
        pod.status.conditions.push(PodCondition {
            kind: "PodScheduled".into(),
            status: "False".into(),
            reason: "SchedulingGated".into(),
            message: "Scheduling is blocked due to non-empty scheduling gates".into(),
            last_transition_time: Some(wall),
            ..Default::default()
        });
    }
}

/// Merges the values of the Pod's own labels into the selectors, for `matchLabelKeys` and `mismatchLabelKeys`.
fn merge_label_keys(pod: &mut Pod, labels: &Labels) {
    let affinity = &pod.spec.affinity;
    let sociable = |a: &PodAffinity| {
        !a.required_during_scheduling_ignored_during_execution
            .is_empty()
            || !a
                .preferred_during_scheduling_ignored_during_execution
                .is_empty()
    };
    if pod.spec.topology_spread_constraints.is_empty()
        && !sociable(&affinity.pod_affinity)
        && !sociable(&affinity.pod_anti_affinity)
    {
        return;
    }
    let mut raw = pod.spec.raw.clone();
    let mut changed = false;
    let mut merge = |term: &mut Value| {
        for (field, operator) in [("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")] {
            let keys = term
                .get(field)
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default();
            for key in keys.iter().filter_map(Value::as_str) {
                if let Some(value) = labels
                    .get(key)
                    .filter(|_| term.get("labelSelector").is_some_and(Value::is_object))
                {
                    let new = json!({"key": key, "operator": operator, "values": [value.as_str()]});
                    match &mut term["labelSelector"]["matchExpressions"] {
                        Value::Array(list) => list.push(new),
                        none => *none = Value::Array(vec![new]),
                    }
                    changed = true;
                }
            }
        }
    };
    let mut each = |list: Option<&mut Value>, inner: &str| {
        for item in list.and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(term) = if inner.is_empty() {
                Some(item)
            } else {
                item.get_mut(inner)
            } {
                merge(term);
            }
        }
    };
    each(raw.get_mut("topologySpreadConstraints"), "");
    for kind in ["podAffinity", "podAntiAffinity"] {
        if let Some(part) = raw.pointer_mut("/affinity").and_then(|a| a.get_mut(kind)) {
            each(
                part.get_mut("requiredDuringSchedulingIgnoredDuringExecution"),
                "",
            );
            each(
                part.get_mut("preferredDuringSchedulingIgnoredDuringExecution"),
                "podAffinityTerm",
            );
        }
    }
    if changed && let Ok(spec) = PodSpec::from_raw(raw) {
        pod.spec = spec;
    }
}

/// Completes the spec of a new Pod; the token volume gets a fixed name instead of a random one.
fn complete_spec(spec: &mut Value, toleration_seconds: i64) {
    let mut pod = json!({ "apiVersion": "v1", "kind": "Pod", "spec": spec.take() });
    defaults::apply_defaults(&mut pod);
    defaults::admit_pod(
        &mut pod,
        &TOKEN_VOLUME[TOKEN_VOLUME.len() - 5..],
        toleration_seconds,
    );
    *spec = pod["spec"].take();
}

/// Returns the QoS class: `Guaranteed` if every container's limits equal its requests, `BestEffort` if there are none, else `Burstable`.
pub(super) fn qos_class(pod: &Pod) -> Str {
    let shared = &pod.spec.resources;
    let containers = pod
        .spec
        .containers
        .iter()
        .chain(&pod.spec.init_containers)
        .map(|c| &c.resources);
    // Resources set on the Pod replace those of its containers.
    let all: Vec<&ResourceRequirements> = if shared.requests.is_empty() && shared.limits.is_empty()
    {
        containers.collect()
    } else {
        vec![shared]
    };
    if all
        .iter()
        .all(|r| r.requests.is_empty() && r.limits.is_empty())
    {
        return "BestEffort".into();
    }
    let guaranteed = all.iter().all(|of| {
        ["cpu", "memory"].iter().all(|r| {
            of.limits
                .get(*r)
                .is_some_and(|limit| of.requests.get(*r).is_none_or(|q| q == limit))
        })
    });
    if guaranteed {
        "Guaranteed"
    } else {
        "Burstable"
    }
    .into()
}

/// Builds the error for a value that another Service already has.
fn taken_value(name: &str, field: String, value: String, detail: String) -> ApiError {
    let error = validation::FieldError {
        field,
        fault: validation::ErrorType::Invalid,
        value,
        detail,
    };
    ApiError::invalid_fields(&Kind::Service.group_kind(), name, &[error])
}
