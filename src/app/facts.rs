//! What the inspector says about an object: facts, one plain sentence, and what can be done with it.

use crate::api::{Body, Kind, Object, Timestamp};
use crate::scene::adapt::status;
use crate::scene::model::PodState;
use serde_json::Value;

/// A fact: its name, its value, and whether the value is a name or number to be set in mono.
pub type Fact = (&'static str, String, bool);

/// Where the facts of the other kinds stand in the object.
const PATHS: &[(Kind, &[(&str, &str)])] = &[
    (
        Kind::DaemonSet,
        &[
            ("nodes", "/status/desiredNumberScheduled"),
            ("ready", "/status/numberReady"),
            ("updated", "/status/updatedNumberScheduled"),
            ("strategy", "/spec/updateStrategy/type"),
            ("image", "/spec/template/spec/containers/0/image"),
        ],
    ),
    (
        Kind::Job,
        &[
            ("completions", "/spec/completions"),
            ("parallelism", "/spec/parallelism"),
            ("succeeded", "/status/succeeded"),
            ("active", "/status/active"),
            ("failed", "/status/failed"),
            ("back-off limit", "/spec/backoffLimit"),
            ("mode", "/spec/completionMode"),
            ("image", "/spec/template/spec/containers/0/image"),
        ],
    ),
    (
        Kind::CronJob,
        &[
            ("schedule", "/spec/schedule"),
            ("time zone", "/spec/timeZone"),
            ("concurrency", "/spec/concurrencyPolicy"),
            ("suspended", "/spec/suspend"),
            ("last run", "/status/lastScheduleTime"),
            ("last success", "/status/lastSuccessfulTime"),
        ],
    ),
    (
        Kind::HorizontalPodAutoscaler,
        &[
            ("target", "/spec/scaleTargetRef/name"),
            ("least", "/spec/minReplicas"),
            ("most", "/spec/maxReplicas"),
            ("current", "/status/currentReplicas"),
            ("wanted", "/status/desiredReplicas"),
            ("asks for %", "/spec/metrics/0/resource/target/averageUtilization"),
            ("sees %", "/status/currentMetrics/0/resource/current/averageUtilization"),
        ],
    ),
    (
        Kind::PodDisruptionBudget,
        &[
            ("min available", "/spec/minAvailable"),
            ("max unavailable", "/spec/maxUnavailable"),
            ("healthy", "/status/currentHealthy"),
            ("must be healthy", "/status/desiredHealthy"),
            ("may go", "/status/disruptionsAllowed"),
        ],
    ),
    (Kind::ResourceQuota, &[("limits", "/status/hard"), ("used", "/status/used")]),
    (Kind::ConfigMap, &[("keys", "/data")]),
    (Kind::PriorityClass, &[("value", "/value")]),
];

/// A value in words: a map as `name=value`.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(map) => map.iter().map(|(name, value)| format!("{name}={}", words(value))).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// The facts of an object.
pub fn facts(object: &Object, epoch: Timestamp) -> Vec<Fact> {
    let mut out: Vec<Fact> = Vec::new();
    let mut put = |name, value: String, mono| {
        if !value.is_empty() {
            out.push((name, value, mono));
        }
    };
    put("namespace", object.meta.namespace.to_string(), true);
    match &object.body {
        Body::Pod(pod) => {
            put("status", status(object).1, false);
            put("node", pod.node_name.to_string(), true);
            put("address", pod.status.pod_ip.to_string(), true);
            for container in &pod.spec.containers {
                put("image", container.image.to_string(), true);
            }
            let restarts: i32 = pod.status.container_statuses.iter().map(|container| container.restart_count).sum();
            put("restarts", restarts.to_string(), true);
            for claim in pod.spec.claims() {
                put("claim", claim.to_string(), true);
            }
            if let Some(condition) = pod.status.condition("PodScheduled").filter(|condition| condition.status == "False") {
                put("not scheduled", condition.message.to_string(), false);
            }
        }
        Body::Deployment(body) => {
            put(
                "replicas",
                format!("{} desired, {} current, {} ready", body.spec.replicas, body.status.replicas, body.status.ready_replicas),
                false,
            );
            put("updated", body.status.updated_replicas.to_string(), true);
            put("strategy", body.spec.strategy.kind.to_string(), false);
            image(&body.spec.template.spec.containers, &mut put);
            for condition in &body.status.conditions {
                put("condition", format!("{}={}, {}", condition.kind, condition.status, condition.reason), false);
            }
        }
        Body::ReplicaSet(body) => {
            put(
                "replicas",
                format!("{} desired, {} current, {} ready", body.spec.replicas, body.status.replicas, body.status.ready_replicas),
                false,
            );
            put(
                "revision",
                object.meta.annotation("deployment.kubernetes.io/revision").map(|text| text.to_string()).unwrap_or_default(),
                true,
            );
            image(&body.spec.template.spec.containers, &mut put);
        }
        Body::StatefulSet(body) => {
            put(
                "replicas",
                format!("{} desired, {} current, {} ready", body.spec.replicas, body.status.replicas, body.status.ready_replicas),
                false,
            );
            put("order", body.spec.pod_management_policy.to_string(), false);
            put("service", body.spec.service_name.to_string(), true);
            image(&body.spec.template.spec.containers, &mut put);
            put("revision", body.status.update_revision.to_string(), true);
        }
        Body::Service(body) => {
            put("type", body.spec.kind.to_string(), false);
            put("address", body.spec.cluster_ip.to_string(), true);
            put("selector", body.spec.selector.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(","), true);
            for port in &body.spec.ports {
                put("port", format!("{}/{}", port.port, port.protocol), true);
            }
        }
        Body::PersistentVolumeClaim(body) => {
            put("phase", body.status.phase.to_string(), false);
            put("volume", body.spec.volume_name.to_string(), true);
            put("class", body.class().to_string(), true);
            put("asks for", text(body.spec.resources.requests.get("storage")), true);
            put("access", body.spec.access_modes.iter().map(|mode| mode.as_str()).collect::<Vec<_>>().join(", "), false);
        }
        Body::PersistentVolume(body) => {
            put("phase", body.status.phase.to_string(), false);
            put("capacity", text(body.spec.capacity.get("storage")), true);
            put("claim", body.spec.claim_ref.as_ref().map(|claim| format!("{}/{}", claim.namespace, claim.name)).unwrap_or_default(), true);
            put("class", body.spec.storage_class_name.to_string(), true);
            put("reclaim", body.spec.persistent_volume_reclaim_policy.to_string(), false);
        }
        Body::StorageClass(body) => {
            put("provisioner", body.provisioner.to_string(), true);
            put("reclaim", body.reclaim_policy.to_string(), false);
            put("binding", body.volume_binding_mode.to_string(), false);
        }
        Body::Node(body) => {
            put("ready", if body.is_ready() { "yes" } else { "no" }.into(), false);
            put("scheduling", if body.spec.unschedulable { "cordoned" } else { "open" }.into(), false);
            put("address", body.internal_ip().to_string(), true);
            for name in ["cpu", "memory", "pods"] {
                put(name, text(body.status.allocatable.get(name)), true);
            }
        }
        _ => {
            let value = object.to_value();
            let rows = PATHS.iter().find(|(kind, _)| *kind == object.kind).map_or(&[][..], |(_, rows)| rows);
            for (name, path) in rows {
                put(name, value.pointer(path).map(words).unwrap_or_default(), !name.contains(' '));
            }
            for condition in value.pointer("/status/conditions").and_then(Value::as_array).into_iter().flatten() {
                let of = |name: &str| condition[name].as_str().unwrap_or("");
                put("condition", format!("{}={}, {}", of("type"), of("status"), of("reason")), false);
            }
        }
    }
    let labels: Vec<String> = object.meta.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    put("labels", labels.join(", "), true);
    if let Some(owner) = object.meta.controller() {
        put("controlled by", format!("{} {}", owner.kind, owner.name), true);
    }
    put("finalizers", object.meta.finalizers.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", "), true);
    if let Some(at) = object.meta.creation_timestamp {
        put("created at", crate::scene::format::clock(((at.0 - epoch.0).max(0) * 1000) as u64), true);
    }
    out
}

fn image(containers: &[crate::api::pod::Container], put: &mut impl FnMut(&'static str, String, bool)) {
    for container in containers {
        put("image", container.image.to_string(), true);
    }
}

fn text(value: Option<&serde_json::Value>) -> String {
    match value {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

/// The pill in the inspector's head: words, class, glyph.
pub fn pill(object: &Object) -> Option<(String, &'static str, &'static str)> {
    let of = |ready: i32, desired: i32| {
        let state = if ready >= desired { PodState::Ready } else { PodState::NotReady };
        Some((format!("{ready} / {desired}"), state.class(), state.glyph()))
    };
    match &object.body {
        Body::Pod(_) => {
            let (state, word) = status(object);
            Some((if word == "ContainerCreating" { "Creating".into() } else { word }, state.class(), state.glyph()))
        }
        Body::Deployment(body) => of(body.status.ready_replicas, body.spec.replicas),
        Body::ReplicaSet(body) => of(body.status.ready_replicas, body.spec.replicas),
        Body::StatefulSet(body) => of(body.status.ready_replicas, body.spec.replicas),
        Body::DaemonSet(body) => of(body.status.number_ready, body.status.desired_number_scheduled),
        Body::PersistentVolumeClaim(body) => {
            Some((body.status.phase.to_string(), if body.status.phase == "Bound" { "storage" } else { "" }, ""))
        }
        Body::PersistentVolume(body) => {
            Some((body.status.phase.to_string(), if body.status.phase == "Bound" { "storage" } else { "" }, ""))
        }
        Body::Node(body) if !body.is_ready() => Some(("NotReady".into(), "failed", "")),
        Body::Node(_) => Some(("Ready".into(), "ready", "")),
        _ => None,
    }
}

/// The object as YAML, without what only machines read.
pub fn yaml(object: &Object) -> String {
    let mut value = object.to_value();
    if let Some(meta) = value.get_mut("metadata").and_then(|meta| meta.as_object_mut()) {
        meta.remove("managedFields");
        if let Some(annotations) = meta.get_mut("annotations").and_then(|annotations| annotations.as_object_mut()) {
            annotations.remove(crate::api::meta::LAST_APPLIED);
        }
        if meta.get("annotations").and_then(|annotations| annotations.as_object()).is_some_and(serde_json::Map::is_empty) {
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
    crate::kubectl::printers::yaml::print(&serde_json::Value::Object(out))
}

/// The replicas and the image that can be changed, if the object has them.
pub fn handles(object: &Object) -> (Option<i32>, Option<(String, String)>) {
    let first = |containers: &[crate::api::pod::Container]| {
        containers.first().map(|container| (container.name.to_string(), container.image.to_string()))
    };
    match &object.body {
        Body::Deployment(body) => (Some(body.spec.replicas), first(&body.spec.template.spec.containers)),
        Body::StatefulSet(body) => (Some(body.spec.replicas), first(&body.spec.template.spec.containers)),
        Body::ReplicaSet(body) => (Some(body.spec.replicas), None),
        _ => (None, None),
    }
}
