//! Strategy of Pods: fields that the server sets on creation.
//!
//! Models `pkg/registry/core/pod/strategy.go` and `plugin/pkg/admission/defaulttolerationseconds`.

use super::defaults;
use k8s_model::pod::{Pod, PodAffinity, PodCondition, PodSpec, ResourceRequirements, TOKEN_VOLUME};
use k8s_model::quantity::Quantity;
use k8s_model::{Labels, Str, Timestamp};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Completes a new Pod: its spec, and the status of a Pod that waits to be scheduled.
pub(super) fn prepare_for_create(
    pod: &mut Pod,
    labels: &Labels,
    wall: Timestamp,
    toleration_seconds: i64,
) {
    let complete =
        |spec: &mut Value| complete_spec(spec, !pod.token.is_empty(), toleration_seconds);
    pod.spec = match pod.token.is_empty() {
        // Other Pods with this spec may have a token.
        true => {
            let mut raw = pod.spec.raw.clone();
            complete(&mut raw);
            PodSpec::from_raw(raw).unwrap_or_else(|_| pod.spec.clone())
        }
        false => pod.spec.admitted(complete),
    };
    if pod.spec.volumes.iter().all(|v| v.name != TOKEN_VOLUME) {
        pod.token = Str::default();
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
    merge_label_keys(pod, labels);
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
fn complete_spec(spec: &mut Value, has_token: bool, toleration_seconds: i64) {
    let mut pod = json!({ "apiVersion": "v1", "kind": "Pod", "spec": spec.take() });
    defaults::apply_defaults(&mut pod);
    let suffix = &TOKEN_VOLUME[TOKEN_VOLUME.len() - 5..];
    defaults::admit_pod(&mut pod, has_token.then_some(suffix), toleration_seconds);
    *spec = pod["spec"].take();
}

/// Returns the QoS class: `Guaranteed` if every container has limits of CPU and memory and the requests equal them, `BestEffort` if
/// there are neither, else `Burstable`. Only positive amounts of CPU and memory count.
///
/// Models `ComputePodQOS` of `pkg/apis/core/v1/helper/qos/qos.go`.
pub(super) fn qos_class(pod: &Pod) -> Str {
    let shared = &pod.spec.resources;
    let containers = pod.spec.containers.iter().chain(&pod.spec.init_containers);
    // Resources set on the Pod replace those of its containers.
    let all: Vec<&ResourceRequirements> = match pod.spec.raw["resources"].is_object() {
        true => vec![shared],
        false => containers.map(|container| &container.resources).collect(),
    };
    let positive = |amounts: &BTreeMap<Str, Value>, name: &str| {
        let amount = Quantity::from_json(amounts.get(name)?)?;
        (amount > Quantity::ZERO).then_some(amount)
    };
    type Amounts = fn(&ResourceRequirements) -> &BTreeMap<Str, Value>;
    let total = |amounts: Amounts, name: &str| {
        all.iter()
            .filter_map(|one| positive(amounts(one), name))
            .reduce(Quantity::plus)
    };
    let totals = ["cpu", "memory"].map(|name| {
        (
            total(|one| &one.requests, name),
            total(|one| &one.limits, name),
        )
    });
    let is_limited = |one: &&ResourceRequirements| {
        ["cpu", "memory"]
            .iter()
            .all(|name| positive(&one.limits, name).is_some())
    };
    if totals.iter().all(|total| *total == (None, None)) {
        "BestEffort".into()
    } else if all.iter().all(is_limited)
        && totals.iter().all(|(requests, limits)| requests == limits)
    {
        "Guaranteed".into()
    } else {
        "Burstable".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_model::{Kind, Object};

    #[test]
    fn only_positive_cpu_and_memory_make_a_qos_class() {
        let class = |resources: Value| {
            let containers = json!([{"name": "a", "image": "a", "resources": resources}]);
            let value = json!({"metadata": {"name": "p"}, "spec": {"containers": containers}});
            let pod = Object::from_value(Kind::Pod, value).unwrap();
            qos_class(pod.pod().unwrap())
        };
        assert_eq!(
            class(json!({"requests": {"ephemeral-storage": "1Gi"}})),
            "BestEffort"
        );
        assert_eq!(
            class(json!({"requests": {"cpu": "0"}, "limits": {"memory": "0"}})),
            "BestEffort"
        );
        assert_eq!(class(json!({"requests": {"cpu": "1"}})), "Burstable");
        let (two, zero) = (
            json!({"cpu": "1", "memory": "1Gi"}),
            json!({"cpu": "0", "memory": "0"}),
        );
        assert_eq!(class(json!({"requests": two, "limits": two})), "Guaranteed");
        assert_eq!(class(json!({"requests": zero, "limits": two})), "Burstable");
    }
}
