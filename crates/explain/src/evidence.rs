//! The inspector's view of an object: facts, a one-line summary, and available actions.

use crate::rules;
use crate::waits::Health;
use i18n::{Constant, Message, Word, msg};
use k8s_model::gateway::{
    GATEWAY, GATEWAY_CLASS, GatewaySpec, HTTP_ROUTE, HttpRouteSpec, address_of, status_of,
};
use k8s_model::ingress::{IngressSpec, address};
use k8s_model::network_policy::NetworkPolicySpec;
use k8s_model::{Body, Kind, Object, ObjectRef, Timestamp};
use projection::adapt::status;
use projection::model::PodState;
use serde_json::Value;

/// Fact about an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// Name of the fact.
    pub name: Message,
    /// Value of the fact.
    pub value: Message,
    /// True if the value is a name or a number, shown monospaced.
    pub mono: bool,
    /// Object named by the value.
    pub to: Option<ObjectRef>,
}

/// Facts in display order; empty values are left out.
struct Facts<'o> {
    object: &'o Object,
    all: Vec<Fact>,
}

impl Facts<'_> {
    fn put(&mut self, name: Message, value: impl Into<Word>, mono: bool) {
        let value = value.into().0;
        if !value.is_empty() {
            self.all.push(Fact {
                name,
                value: Message::name(value),
                mono,
                to: None,
            });
        }
    }

    fn said(&mut self, name: Message, value: Message) {
        self.all.push(Fact {
            name,
            value,
            mono: false,
            to: None,
        });
    }

    /// Adds the name of another object, in the same namespace if it is namespaced.
    fn link(&mut self, name: Message, kind: Kind, of: &str) {
        let to = ObjectRef::new(kind, &self.object.meta.namespace, of);
        if !of.is_empty() {
            self.all.push(Fact {
                name,
                value: Message::name(of),
                mono: true,
                to: Some(to),
            });
        }
    }
}

/// Name of a fact and its path in the object.
type Place = (Constant, &'static str);

/// Paths of the facts of the other kinds.
const PATHS: &[(Kind, &[Place])] = &[
    (
        Kind::DaemonSet,
        &[
            (msg::fact_nodes, "/status/desiredNumberScheduled"),
            (msg::fact_ready, "/status/numberReady"),
            (msg::fact_updated, "/status/updatedNumberScheduled"),
            (msg::fact_strategy, "/spec/updateStrategy/type"),
            (msg::fact_image, "/spec/template/spec/containers/0/image"),
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
            (msg::fact_image, "/spec/template/spec/containers/0/image"),
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
            (
                msg::fact_target_cpu,
                "/spec/metrics/0/resource/target/averageUtilization",
            ),
            (
                msg::fact_current_cpu,
                "/status/currentMetrics/0/resource/current/averageUtilization",
            ),
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

/// Adds the facts of a Gateway.
fn of_gateway(out: &mut Facts<'_>) {
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

/// Adds the facts of an HTTPRoute.
fn of_route(out: &mut Facts<'_>) {
    let object = out.object;
    let spec = HttpRouteSpec::of(object);
    for parent in spec.parent_refs.iter().filter(|parent| parent.is_gateway()) {
        let namespace = parent.namespace_from(&object.meta.namespace);
        let to = k8s_model::gateway::kinds(GATEWAY)
            .first()
            .map(|kind| ObjectRef::new(*kind, namespace, &parent.name));
        out.all.push(Fact {
            name: Message::name(GATEWAY),
            value: Message::name(&parent.name),
            mono: true,
            to,
        });
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
            out.put(
                msg::fact_condition(),
                format!("{}={}, {}", of("type"), of("status"), of("reason")),
                false,
            );
        }
    }
}

/// Returns the facts of an object.
pub fn facts(object: &Object, epoch: Timestamp) -> Vec<Fact> {
    let mut out = Facts {
        object,
        all: Vec::new(),
    };
    out.put(
        msg::fact_namespace(),
        object.meta.namespace.to_string(),
        true,
    );
    match &object.body {
        Body::Pod(pod) => {
            out.said(msg::fact_status(), status(object).1);
            out.link(msg::fact_node(), Kind::Node, &pod.node_name);
            out.put(msg::fact_address(), pod.status.pod_ip.to_string(), true);
            for container in &pod.spec.containers {
                out.put(msg::fact_image(), container.image.to_string(), true);
            }
            let restarts: i32 = pod
                .status
                .container_statuses
                .iter()
                .map(|container| container.restart_count)
                .sum();
            out.put(msg::fact_restarts(), restarts.to_string(), true);
            for claim in pod.spec.claims() {
                out.link(msg::fact_claim(), Kind::PersistentVolumeClaim, claim);
            }
            if let Some(condition) = pod
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
        Body::Deployment(body) => {
            out.said(
                msg::fact_replicas(),
                replicas(
                    body.spec.replicas,
                    body.status.replicas,
                    body.status.ready_replicas,
                ),
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
            image(&body.spec.template.spec.containers, &mut out);
            for condition in &body.status.conditions {
                out.put(
                    msg::fact_condition(),
                    format!(
                        "{}={}, {}",
                        condition.kind, condition.status, condition.reason
                    ),
                    false,
                );
            }
        }
        Body::ReplicaSet(body) => {
            out.said(
                msg::fact_replicas(),
                replicas(
                    body.spec.replicas,
                    body.status.replicas,
                    body.status.ready_replicas,
                ),
            );
            out.put(
                msg::fact_revision(),
                object
                    .meta
                    .annotation("deployment.kubernetes.io/revision")
                    .map(|text| text.to_string())
                    .unwrap_or_default(),
                true,
            );
            image(&body.spec.template.spec.containers, &mut out);
        }
        Body::StatefulSet(body) => {
            out.said(
                msg::fact_replicas(),
                replicas(
                    body.spec.replicas,
                    body.status.replicas,
                    body.status.ready_replicas,
                ),
            );
            out.put(
                msg::fact_pod_management(),
                body.spec.pod_management_policy.to_string(),
                false,
            );
            out.link(msg::fact_service(), Kind::Service, &body.spec.service_name);
            image(&body.spec.template.spec.containers, &mut out);
            out.put(
                msg::fact_revision(),
                body.status.update_revision.to_string(),
                true,
            );
        }
        Body::Service(body) => {
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
                    object.meta.name, object.meta.namespace
                ),
                true,
            );
        }
        Body::PersistentVolumeClaim(body) => {
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
        Body::PersistentVolume(body) => {
            out.put(msg::fact_phase(), body.status.phase.to_string(), false);
            out.put(
                msg::fact_capacity(),
                text(body.spec.capacity.get("storage")),
                true,
            );
            if let Some(claim) = &body.spec.claim_ref {
                let to = ObjectRef::new(Kind::PersistentVolumeClaim, &claim.namespace, &claim.name);
                out.all.push(Fact {
                    name: msg::fact_claim(),
                    value: Message::name(format!("{}/{}", claim.namespace, claim.name)),
                    mono: true,
                    to: Some(to),
                });
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
        Body::StorageClass(body) => {
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
        Body::Node(body) => {
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
                out.put(
                    msg::fact_condition(),
                    format!(
                        "{}={}, {}",
                        condition.kind, condition.status, condition.reason
                    ),
                    false,
                );
            }
            for name in ["cpu", "memory", "pods"] {
                out.put(
                    Message::name(name),
                    text(body.status.allocatable.get(name)),
                    true,
                );
            }
        }
        _ if object.kind == Kind::Ingress => {
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
        _ if object.kind.is_gateway_api(GATEWAY) => of_gateway(&mut out),
        _ if object.kind.is_gateway_api(HTTP_ROUTE) => of_route(&mut out),
        _ if object.kind == Kind::NetworkPolicy => {
            let spec = NetworkPolicySpec::of(object);
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
        _ => {
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
            for condition in value
                .pointer("/status/conditions")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                let of = |name: &str| condition[name].as_str().unwrap_or("");
                out.put(
                    msg::fact_condition(),
                    format!("{}={}, {}", of("type"), of("status"), of("reason")),
                    false,
                );
            }
        }
    }
    for (at, (key, value)) in object.meta.labels.iter().enumerate() {
        out.put(
            if at == 0 {
                msg::fact_labels()
            } else {
                Message::default()
            },
            format!("{key}={value}"),
            true,
        );
    }
    out.put(
        msg::fact_finalizers(),
        object
            .meta
            .finalizers
            .iter()
            .map(|name| name.as_str())
            .collect::<Vec<_>>()
            .join(", "),
        true,
    );
    if let Some(at) = object.meta.creation_timestamp {
        out.put(
            msg::fact_created_at(),
            i18n::format::stamp(at.since(epoch)),
            true,
        );
    }
    out.all
}

fn replicas(desired: i32, current: i32, ready: i32) -> Message {
    msg::replicas_of(desired, current, ready)
}

/// Returns the image of an object that is not in the catalogue, and is assumed to exist.
pub fn assumed_image(object: &Object) -> Option<&str> {
    let containers = match &object.body {
        Body::Pod(pod) => &pod.spec.containers,
        Body::Deployment(body) => &body.spec.template.spec.containers,
        Body::StatefulSet(body) => &body.spec.template.spec.containers,
        Body::ReplicaSet(body) => &body.spec.template.spec.containers,
        _ => return None,
    };
    containers
        .iter()
        .map(|container| container.image.as_str())
        .find(|image| kubelet::is_assumed(image))
}

fn image(containers: &[k8s_model::pod::Container], out: &mut Facts<'_>) {
    for container in containers {
        out.put(msg::fact_image(), container.image.to_string(), true);
    }
}

fn text(value: Option<&serde_json::Value>) -> String {
    match value {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

/// Returns the pill in the inspector's head: words, class, glyph. A stuck object is shown as such, not by its numbers alone.
pub fn standing_pill(
    object: &Object,
    health: Health,
) -> Option<(Message, &'static str, &'static str)> {
    let (words, class, glyph) = pill(object)?;
    let counts = matches!(
        object.body,
        Body::Deployment(_) | Body::ReplicaSet(_) | Body::StatefulSet(_) | Body::DaemonSet(_)
    );
    Some(match health {
        Health::Stuck if counts => (words, PodState::Failed.class(), PodState::Failed.glyph()),
        _ => (words, class, glyph),
    })
}

/// Returns the pill by the object's numbers alone.
fn pill(object: &Object) -> Option<(Message, &'static str, &'static str)> {
    let all = |ready: i32, desired: i32, well: bool| {
        let state = if ready == desired && well {
            PodState::Ready
        } else {
            PodState::NotReady
        };
        Some((msg::ready_of(ready, desired), state.class(), state.glyph()))
    };
    let of = |ready, desired| all(ready, desired, true);
    let updating = |words: Message| {
        Some((
            words,
            PodState::Creating.class(),
            PodState::Creating.glyph(),
        ))
    };
    match &object.body {
        Body::Pod(_) => {
            let (state, word) = status(object);
            // There is little room beside the kind.
            let word = if word == PodState::Creating.word() {
                msg::pill_creating()
            } else {
                word
            };
            Some((word, state.class(), state.glyph()))
        }
        // An update is complete when no old Pod is left, and all are available.
        Body::Deployment(body) if body.is_updating() => {
            let (updated, desired) = (body.status.updated_replicas, body.spec.replicas);
            // Thousands use the short form: there is little room beside the kind.
            updating(if desired < 1000 {
                msg::updated_of(updated, desired)
            } else {
                msg::updated_short(updated, desired)
            })
        }
        Body::Deployment(body) => {
            let (spec, status) = (&body.spec, &body.status);
            let well = status.observed_generation >= object.meta.generation
                && status.available_replicas >= spec.replicas;
            all(status.ready_replicas, spec.replicas, well)
        }
        Body::ReplicaSet(body) => of(body.status.ready_replicas, body.spec.replicas),
        Body::StatefulSet(body) if body.is_updating() => updating(msg::updated_of(
            body.status.updated_replicas,
            body.spec.replicas,
        )),
        Body::StatefulSet(body) => of(body.status.ready_replicas, body.spec.replicas),
        Body::DaemonSet(body) => of(
            body.status.number_ready,
            body.status.desired_number_scheduled,
        ),
        Body::PersistentVolumeClaim(_) | Body::PersistentVolume(_) if object.meta.is_deleting() => {
            Some((
                Message::state("Terminating"),
                PodState::Terminating.class(),
                PodState::Terminating.glyph(),
            ))
        }
        Body::PersistentVolumeClaim(body) => Some((
            Message::state(&body.status.phase),
            if body.status.phase == "Bound" {
                "storage"
            } else {
                ""
            },
            "",
        )),
        Body::PersistentVolume(body) => Some((
            Message::state(&body.status.phase),
            if body.status.phase == "Bound" {
                "storage"
            } else {
                ""
            },
            "",
        )),
        Body::Node(body) if !body.is_ready() => Some((Message::state("NotReady"), "failed", "")),
        Body::Node(body) if body.spec.unschedulable => {
            Some((msg::pill_cordoned(), "notready", "i-cordon"))
        }
        Body::Node(_) => Some((Message::state("Ready"), "ready", "")),
        _ => None,
    }
}

/// Formats the object as YAML, without fields of use to machines only.
pub fn yaml(object: &Object) -> String {
    let mut value = object.to_value();
    if let Some(meta) = value
        .get_mut("metadata")
        .and_then(|meta| meta.as_object_mut())
    {
        meta.remove("managedFields");
        if let Some(annotations) = meta
            .get_mut("annotations")
            .and_then(|annotations| annotations.as_object_mut())
        {
            annotations.remove(k8s_model::meta::LAST_APPLIED);
        }
        if meta
            .get("annotations")
            .and_then(|annotations| annotations.as_object())
            .is_some_and(serde_json::Map::is_empty)
        {
            meta.remove("annotations");
        }
    }
    let mut out = serde_json::Map::new();
    for key in ["apiVersion", "kind", "metadata", "spec", "status"] {
        if let Some(part) = value.as_object_mut().and_then(|map| map.remove(key)) {
            out.insert(key.into(), part);
        }
    }
    if let serde_json::Value::Object(rest) = value {
        out.extend(rest);
    }
    kubectl::printers::yaml::print(&serde_json::Value::Object(out))
}

/// Returns the replicas and the image that can be changed, if the object has them.
pub fn handles(object: &Object) -> (Option<i32>, Option<(String, String)>) {
    let first = |containers: &[k8s_model::pod::Container]| {
        containers
            .first()
            .map(|container| (container.name.to_string(), container.image.to_string()))
    };
    match &object.body {
        Body::Deployment(body) => (
            Some(body.spec.replicas),
            first(&body.spec.template.spec.containers),
        ),
        Body::StatefulSet(body) => (
            Some(body.spec.replicas),
            first(&body.spec.template.spec.containers),
        ),
        Body::ReplicaSet(body) => (Some(body.spec.replicas), None),
        Body::DaemonSet(body) => (None, first(&body.template.spec.containers)),
        // A Pod of a controller is changed in the controller's template.
        Body::Pod(pod) if object.meta.controller().is_none() => (None, first(&pod.spec.containers)),
        _ => (None, None),
    }
}
