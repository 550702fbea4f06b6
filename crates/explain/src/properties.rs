//! Properties of an object: the names and values that the inspector lists, and cards the first of.

use crate::handles::containers;
use crate::rules;
use i18n::{Constant, Message, Word, msg};
use k8s_model::gateway::{
    GATEWAY, GATEWAY_CLASS, GatewaySpec, HTTP_ROUTE, HttpRouteSpec, address_of, status_of,
};
use k8s_model::ingress::{IngressSpec, address};
use k8s_model::network::Service;
use k8s_model::network_policy::NetworkPolicySpec;
use k8s_model::node::Node;
use k8s_model::pod::{Container, Pod};
use k8s_model::storage::{PersistentVolume, PersistentVolumeClaim, StorageClass};
use k8s_model::workload::{Deployment, ReplicaSet, StatefulSet};
use k8s_model::{Body, Kind, Object, ObjectRef, Timestamp};
use projection::adapt::status;
use serde_json::Value;

/// Property of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// Label; empty if the property continues the one before.
    pub label: Message,
    /// Value.
    pub value: Message,
    /// True if the value is a name or a number, shown monospaced.
    pub mono: bool,
    /// Object named by the value.
    pub to: Option<ObjectRef>,
    /// Part that the property has in a summary of the object.
    pub role: PropertyRole,
}

/// Part of a property in a summary of its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyRole {
    /// Listed.
    Detail,
    /// Shown by a card's own head, or of no use there: namespace, status, labels, creation time.
    Metadata,
    /// Node of a Pod.
    Node,
    /// Image of a container.
    Image,
}

/// Collects properties in display order; empty values are left out.
struct Properties<'o> {
    object: &'o Object,
    all: Vec<Property>,
}

impl Properties<'_> {
    fn put(&mut self, label: Message, value: impl Into<Word>, mono: bool) {
        let value = value.into().0;
        if !value.is_empty() {
            self.push(label, Message::name(value), mono);
        }
    }

    fn said(&mut self, label: Message, value: Message) {
        self.push(label, value, false);
    }

    fn push(&mut self, label: Message, value: Message, mono: bool) {
        self.all.push(Property {
            label,
            value,
            mono,
            to: None,
            role: PropertyRole::Detail,
        });
    }

    /// Adds the name of another object, in the same namespace if it is namespaced.
    fn link(&mut self, label: Message, kind: Kind, of: &str) {
        let to = ObjectRef::new(kind, &self.object.meta.namespace, of);
        if !of.is_empty() {
            self.link_to(label, of.to_owned(), Some(to));
        }
    }

    fn link_to(&mut self, label: Message, value: String, to: Option<ObjectRef>) {
        self.push(label, Message::name(value), true);
        if let Some(last) = self.all.last_mut() {
            last.to = to;
        }
    }

    /// Adds properties that have a part of their own in a summary.
    fn as_role(&mut self, role: PropertyRole, add: impl FnOnce(&mut Self)) {
        let from = self.all.len();
        add(self);
        self.all[from..]
            .iter_mut()
            .for_each(|property| property.role = role);
    }

    fn images(&mut self, containers: &[Container]) {
        self.as_role(PropertyRole::Image, |out| {
            for container in containers {
                out.put(msg::fact_image(), container.image.to_string(), true);
            }
        });
    }

    fn replicas(&mut self, desired: i32, current: i32, ready: i32) {
        self.said(
            msg::fact_replicas(),
            msg::replicas_of(desired, current, ready),
        );
    }

    fn condition(&mut self, kind: &str, status: &str, reason: &str) {
        self.put(
            msg::fact_condition(),
            format!("{kind}={status}, {reason}"),
            false,
        );
    }
}

/// Returns the properties of an object.
pub fn properties(object: &Object, epoch: Timestamp) -> Vec<Property> {
    let mut out = Properties {
        object,
        all: Vec::new(),
    };
    out.as_role(PropertyRole::Metadata, |out| {
        let namespace = object.meta.namespace.to_string();
        out.put(msg::fact_namespace(), namespace, true);
    });
    match &object.body {
        Body::Pod(body) => pod(body, &mut out),
        Body::Deployment(body) => deployment(body, &mut out),
        Body::ReplicaSet(body) => replicaset(body, &mut out),
        Body::StatefulSet(body) => statefulset(body, &mut out),
        Body::Service(body) => service(body, &mut out),
        Body::PersistentVolumeClaim(body) => claim(body, &mut out),
        Body::PersistentVolume(body) => volume(body, &mut out),
        Body::StorageClass(body) => storage_class(body, &mut out),
        Body::Node(body) => node(body, &mut out),
        _ if object.kind == Kind::Ingress => ingress(&mut out),
        _ if object.kind.is_gateway_api(GATEWAY) => gateway(&mut out),
        _ if object.kind.is_gateway_api(HTTP_ROUTE) => route(&mut out),
        _ if object.kind == Kind::NetworkPolicy => network_policy(&mut out),
        _ => by_path(&mut out),
    }
    out.as_role(PropertyRole::Metadata, |out| {
        for (at, (key, value)) in object.meta.labels.iter().enumerate() {
            let label = match at {
                0 => msg::fact_labels(),
                _ => Message::default(),
            };
            out.put(label, format!("{key}={value}"), true);
        }
    });
    let finalizers: Vec<&str> = object
        .meta
        .finalizers
        .iter()
        .map(|name| name.as_str())
        .collect();
    out.put(msg::fact_finalizers(), finalizers.join(", "), true);
    if let Some(at) = object.meta.creation_timestamp {
        out.as_role(PropertyRole::Metadata, |out| {
            let stamp = i18n::format::stamp(at.since(epoch));
            out.put(msg::fact_created_at(), stamp, true);
        });
    }
    out.all
}

fn pod(body: &Pod, out: &mut Properties<'_>) {
    let state = status(out.object).1;
    out.as_role(PropertyRole::Metadata, |out| {
        out.said(msg::fact_status(), state);
    });
    out.as_role(PropertyRole::Node, |out| {
        out.link(msg::fact_node(), Kind::Node, &body.node_name);
    });
    out.put(msg::fact_address(), body.status.pod_ip.to_string(), true);
    out.images(containers(out.object));
    let restarts: i32 = body
        .status
        .container_statuses
        .iter()
        .map(|container| container.restart_count)
        .sum();
    out.put(msg::fact_restarts(), restarts.to_string(), true);
    for claim in body.spec.claims() {
        out.link(msg::fact_claim(), Kind::PersistentVolumeClaim, claim);
    }
    if let Some(condition) = body
        .status
        .condition("PodScheduled")
        .filter(|condition| condition.status == "False")
    {
        out.put(
            msg::fact_not_scheduled(),
            condition.message.to_string(),
            false,
        );
    }
}

fn deployment(body: &Deployment, out: &mut Properties<'_>) {
    out.replicas(
        body.spec.replicas,
        body.status.replicas,
        body.status.ready_replicas,
    );
    out.put(
        msg::fact_updated(),
        i18n::count(i64::from(body.status.updated_replicas)),
        true,
    );
    out.put(
        msg::fact_strategy(),
        body.spec.strategy.kind.to_string(),
        false,
    );
    out.images(containers(out.object));
    for condition in &body.status.conditions {
        out.condition(&condition.kind, &condition.status, &condition.reason);
    }
}

fn replicaset(body: &ReplicaSet, out: &mut Properties<'_>) {
    out.replicas(
        body.spec.replicas,
        body.status.replicas,
        body.status.ready_replicas,
    );
    out.put(
        msg::fact_revision(),
        out.object
            .meta
            .annotation("deployment.kubernetes.io/revision")
            .map(|text| text.to_string())
            .unwrap_or_default(),
        true,
    );
    out.images(containers(out.object));
}

fn statefulset(body: &StatefulSet, out: &mut Properties<'_>) {
    out.replicas(
        body.spec.replicas,
        body.status.replicas,
        body.status.ready_replicas,
    );
    out.put(
        msg::fact_pod_management(),
        body.spec.pod_management_policy.to_string(),
        false,
    );
    out.link(msg::fact_service(), Kind::Service, &body.spec.service_name);
    out.images(containers(out.object));
    out.put(
        msg::fact_revision(),
        body.status.update_revision.to_string(),
        true,
    );
}

fn service(body: &Service, out: &mut Properties<'_>) {
    out.put(msg::fact_type(), body.spec.kind.to_string(), false);
    out.put(msg::fact_address(), body.spec.cluster_ip.to_string(), true);
    out.put(
        msg::fact_selector(),
        body.spec
            .selector
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect::<Vec<_>>()
            .join(","),
        true,
    );
    for port in &body.spec.ports {
        let target = text(Some(&port.target_port));
        let to = if target.is_empty() || target == "null" {
            String::new()
        } else {
            format!(" → {target}")
        };
        out.put(
            msg::fact_port(),
            format!("{}/{}{to}", port.port, port.protocol),
            true,
        );
    }
    out.put(
        msg::fact_dns_name(),
        format!(
            "{}.{}.svc.cluster.local",
            out.object.meta.name, out.object.meta.namespace
        ),
        true,
    );
}

fn claim(body: &PersistentVolumeClaim, out: &mut Properties<'_>) {
    out.put(msg::fact_phase(), body.status.phase.to_string(), false);
    out.link(
        msg::fact_volume(),
        Kind::PersistentVolume,
        &body.spec.volume_name,
    );
    out.link(msg::fact_class(), Kind::StorageClass, body.class());
    out.put(
        msg::fact_requested(),
        text(body.spec.resources.requests.get("storage")),
        true,
    );
    out.put(
        msg::fact_access_modes(),
        body.spec
            .access_modes
            .iter()
            .map(|mode| mode.as_str())
            .collect::<Vec<_>>()
            .join(", "),
        false,
    );
}

fn volume(body: &PersistentVolume, out: &mut Properties<'_>) {
    out.put(msg::fact_phase(), body.status.phase.to_string(), false);
    out.put(
        msg::fact_capacity(),
        text(body.spec.capacity.get("storage")),
        true,
    );
    if let Some(claim) = &body.spec.claim_ref {
        let to = ObjectRef::new(Kind::PersistentVolumeClaim, &claim.namespace, &claim.name);
        out.link_to(
            msg::fact_claim(),
            format!("{}/{}", claim.namespace, claim.name),
            Some(to),
        );
    }
    out.link(
        msg::fact_class(),
        Kind::StorageClass,
        &body.spec.storage_class_name,
    );
    out.put(
        msg::fact_reclaim_policy(),
        body.spec.persistent_volume_reclaim_policy.to_string(),
        false,
    );
}

fn storage_class(body: &StorageClass, out: &mut Properties<'_>) {
    out.put(msg::fact_provisioner(), body.provisioner.to_string(), true);
    out.put(
        msg::fact_reclaim_policy(),
        body.reclaim_policy.to_string(),
        false,
    );
    out.put(
        msg::fact_binding_mode(),
        body.volume_binding_mode.to_string(),
        false,
    );
}

fn node(body: &Node, out: &mut Properties<'_>) {
    out.said(
        msg::fact_ready(),
        if body.is_ready() {
            msg::yes()
        } else {
            msg::no()
        },
    );
    out.said(
        msg::fact_scheduling(),
        if body.spec.unschedulable {
            msg::scheduling_cordoned()
        } else {
            msg::scheduling_enabled()
        },
    );
    out.put(msg::fact_address(), body.internal_ip().to_string(), true);
    for taint in &body.spec.taints {
        out.put(msg::fact_taint(), taint.to_string(), true);
    }
    for condition in body
        .status
        .conditions
        .iter()
        .filter(|c| (c.kind == "Ready") != (c.status == "True"))
    {
        out.condition(&condition.kind, &condition.status, &condition.reason);
    }
    for name in ["cpu", "memory", "pods"] {
        out.put(
            Message::name(name),
            text(body.status.allocatable.get(name)),
            true,
        );
    }
}

fn ingress(out: &mut Properties<'_>) {
    let object = out.object;
    out.link(
        msg::fact_ingress_class(),
        Kind::IngressClass,
        IngressSpec::of(object).class(object),
    );
    out.put(
        msg::fact_address(),
        address(object).unwrap_or("").to_owned(),
        true,
    );
    for (path, to) in rules::of_ingress(object) {
        out.put(Message::name(path), to, true);
    }
}

fn gateway(out: &mut Properties<'_>) {
    let object = out.object;
    let spec = GatewaySpec::of(object);
    for class in k8s_model::gateway::kinds(GATEWAY_CLASS) {
        out.link(msg::fact_gateway_class(), class, &spec.gateway_class_name);
    }
    out.put(
        msg::fact_address(),
        address_of(object).unwrap_or("").to_owned(),
        true,
    );
    for listener in &spec.listeners {
        let host = if listener.hostname.is_empty() {
            "*"
        } else {
            &listener.hostname
        };
        out.put(
            Message::name(&listener.name),
            format!("{} {host}:{}", listener.protocol, listener.port),
            true,
        );
    }
}

fn route(out: &mut Properties<'_>) {
    let object = out.object;
    let spec = HttpRouteSpec::of(object);
    for parent in spec.parent_refs.iter().filter(|parent| parent.is_gateway()) {
        let namespace = parent.namespace_from(&object.meta.namespace);
        let to = k8s_model::gateway::kinds(GATEWAY)
            .first()
            .map(|kind| ObjectRef::new(*kind, namespace, &parent.name));
        out.link_to(Message::name(GATEWAY), parent.name.to_string(), to);
    }
    for (path, to) in rules::of_route(&spec) {
        out.put(Message::name(path), to, true);
    }
    for parent in status_of(object)["parents"]
        .as_array()
        .into_iter()
        .flatten()
    {
        for condition in parent["conditions"].as_array().into_iter().flatten() {
            let of = |name: &str| condition[name].as_str().unwrap_or("");
            out.condition(of("type"), of("status"), of("reason"));
        }
    }
}

fn network_policy(out: &mut Properties<'_>) {
    let spec = NetworkPolicySpec::of(out.object);

    match spec.pod_selector.is_empty() {
        true => out.said(msg::fact_pod_selector(), msg::fact_every_pod()),
        false => out.put(
            msg::fact_pod_selector(),
            spec.pod_selector.to_string(),
            true,
        ),
    }
    rules::of_spec(&spec)
        .into_iter()
        .for_each(|(name, rule)| out.said(name, rule));
}

/// Label of a property and its path in the object.
type Place = (Constant, &'static str);

/// Paths of the properties of the other kinds.
const PATHS: &[(Kind, &[Place])] = &[
    (
        Kind::DaemonSet,
        &[
            (msg::fact_nodes, "/status/desiredNumberScheduled"),
            (msg::fact_ready, "/status/numberReady"),
            (msg::fact_updated, "/status/updatedNumberScheduled"),
            (msg::fact_strategy, "/spec/updateStrategy/type"),
        ],
    ),
    (
        Kind::Job,
        &[
            (msg::fact_completions, "/spec/completions"),
            (msg::fact_parallelism, "/spec/parallelism"),
            (msg::fact_succeeded, "/status/succeeded"),
            (msg::fact_active, "/status/active"),
            (msg::fact_failed, "/status/failed"),
            (msg::fact_back_off_limit, "/spec/backoffLimit"),
            (msg::fact_mode, "/spec/completionMode"),
        ],
    ),
    (
        Kind::CronJob,
        &[
            (msg::fact_schedule, "/spec/schedule"),
            (msg::fact_time_zone, "/spec/timeZone"),
            (msg::fact_concurrency, "/spec/concurrencyPolicy"),
            (msg::fact_suspended, "/spec/suspend"),
            (msg::fact_last_scheduled, "/status/lastScheduleTime"),
            (msg::fact_last_success, "/status/lastSuccessfulTime"),
        ],
    ),
    (
        Kind::HorizontalPodAutoscaler,
        &[
            (msg::fact_target, "/spec/scaleTargetRef/name"),
            (msg::fact_min_replicas, "/spec/minReplicas"),
            (msg::fact_max_replicas, "/spec/maxReplicas"),
            (msg::fact_current_replicas, "/status/currentReplicas"),
            (msg::fact_desired_replicas, "/status/desiredReplicas"),
        ],
    ),
    (
        Kind::PodDisruptionBudget,
        &[
            (msg::fact_min_available, "/spec/minAvailable"),
            (msg::fact_max_unavailable, "/spec/maxUnavailable"),
            (msg::fact_healthy, "/status/currentHealthy"),
            (msg::fact_must_be_healthy, "/status/desiredHealthy"),
            (msg::fact_evictions_allowed, "/status/disruptionsAllowed"),
        ],
    ),
    (
        Kind::ResourceQuota,
        &[
            (msg::fact_hard, "/status/hard"),
            (msg::fact_used, "/status/used"),
        ],
    ),
    (Kind::ConfigMap, &[(msg::fact_keys, "/data")]),
    (Kind::PriorityClass, &[(msg::fact_value, "/value")]),
];

/// CPU utilization of an autoscaler: the label, the list of metrics, and the part of a metric.
const CPU_UTILIZATION: [(Constant, &str, &str); 2] = [
    (msg::fact_target_cpu, "/spec/metrics", "target"),
    (msg::fact_current_cpu, "/status/currentMetrics", "current"),
];

/// Returns the CPU utilization in a list of metrics, wherever it stands among them.
fn cpu_utilization<'a>(value: &'a Value, list: &str, part: &str) -> Option<&'a Value> {
    let metrics = value.pointer(list)?.as_array()?;
    let cpu = metrics
        .iter()
        .find(|metric| metric["resource"]["name"] == "cpu")?;
    cpu["resource"][part].get("averageUtilization")
}

/// Formats a value: a map as `name=value`.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(map) => map
            .iter()
            .map(|(name, value)| format!("{name}={}", words(value)))
            .collect::<Vec<_>>()
            .join(", "),
        other => other.to_string(),
    }
}

/// Adds the properties of a kind that are read by their paths.
fn by_path(out: &mut Properties<'_>) {
    let object = out.object;
    let value = object.to_value();
    let rows = PATHS
        .iter()
        .find(|(kind, _)| *kind == object.kind)
        .map_or(&[][..], |(_, rows)| rows);
    for (name, path) in rows {
        out.put(
            name(),
            value.pointer(path).map(words).unwrap_or_default(),
            true,
        );
    }
    out.images(containers(object));
    if object.kind == Kind::HorizontalPodAutoscaler {
        for (name, list, part) in CPU_UTILIZATION {
            let cpu = cpu_utilization(&value, list, part);
            out.put(name(), cpu.map(words).unwrap_or_default(), true);
        }
    }
    for condition in value
        .pointer("/status/conditions")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let of = |name: &str| condition[name].as_str().unwrap_or("");
        out.condition(of("type"), of("status"), of("reason"));
    }
}

fn text(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}
