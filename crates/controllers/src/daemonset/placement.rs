//! Placement of a DaemonSet's Pods: which nodes run one, and the Pod each of them gets.
//!
//! Models `NodeShouldRunDaemonPod` and `pkg/controller/daemon/util/daemonset_util.go`.

use k8s_model::daemonset::{DaemonSet, TEMPLATE_GENERATION};
use k8s_model::node::Node;
use k8s_model::pod::{Pod, PodSpec};
use k8s_model::{Body, Kind, Object, ObjectMeta, Str};
use scheduler::{fits_affinity, tolerates};
use serde_json::{Value, json};
use std::rc::Rc;

pub(super) const HASH_LABEL: &str = "controller-revision-hash";
const GENERATION_LABEL: &str = "pod-template-generation";

/// Returns the template's spec with the tolerations that every Pod of a DaemonSet gets.
pub(super) fn daemon_spec(set: &DaemonSet) -> Rc<PodSpec> {
    let mut raw = set.template.spec.raw.clone();
    let spec = &mut raw["tolerations"];
    if !spec.is_array() {
        *spec = json!([]);
    }
    if let Value::Array(list) = spec {
        for (name, effect) in [
            ("not-ready", "NoExecute"),
            ("unreachable", "NoExecute"),
            ("disk-pressure", "NoSchedule"),
            ("memory-pressure", "NoSchedule"),
            ("pid-pressure", "NoSchedule"),
            ("unschedulable", "NoSchedule"),
            ("network-unavailable", "NoSchedule"),
        ] {
            if name == "network-unavailable" && !set.template.spec.host_network {
                continue;
            }
            let new = json!({"key": format!("node.kubernetes.io/{name}"), "operator": "Exists", "effect": effect});
            let same = |t: &Value| {
                t["key"] == new["key"] && t["effect"] == effect && t["operator"] == "Exists"
            };
            match list.iter_mut().find(|t| same(t)) {
                Some(old) => *old = new,
                None => list.push(new),
            }
        }
    }
    PodSpec::from_raw(raw).unwrap_or_else(|_| set.template.spec.clone())
}

/// Returns whether a node should get a Pod of the set, and whether an existing one may stay.
pub(super) fn wants(set: &DaemonSet, spec: &PodSpec, node: &Object) -> (bool, bool) {
    let named = &set.template.spec.node_name;
    if !(named.is_empty() || *named == node.meta.name) || !fits_affinity(spec, node) {
        return (false, false);
    }
    let taints = &node.body::<Node>().spec.taints;
    let repelled = |effects: &[&str]| {
        taints
            .iter()
            .any(|t| effects.contains(&t.effect.as_str()) && !tolerates(&spec.tolerations, t))
    };
    if repelled(&["NoSchedule", "NoExecute"]) {
        (false, !repelled(&["NoExecute"]))
    } else {
        (true, true)
    }
}

/// Returns the target node of a DaemonSet's Pod: the node it is bound to, or the one its affinity names.
pub(super) fn target(pod: &Pod) -> Option<&Str> {
    if !pod.node_name.is_empty() {
        return Some(&pod.node_name);
    }
    let required = pod
        .spec
        .affinity
        .node_affinity
        .required_during_scheduling_ignored_during_execution
        .as_ref()?;
    let fields = required
        .node_selector_terms
        .iter()
        .flat_map(|term| &term.match_fields);
    fields
        .into_iter()
        .find(|f| f.key == "metadata.name" && f.operator == "In")
        .and_then(|f| f.values.first())
}

/// Builds the Pod for a node: the scheduler binds it, but its affinity leaves only this node.
pub(super) fn new_pod(
    object: &Object,
    set: &DaemonSet,
    spec: &PodSpec,
    hash: &Str,
    node: &Str,
) -> Object {
    let mut raw = spec.raw.clone();
    let field = json!([{"key": "metadata.name", "operator": "In", "values": [node.as_str()]}]);
    let required =
        &mut raw["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
    match required["nodeSelectorTerms"].as_array_mut() {
        Some(terms) if !terms.is_empty() => terms
            .iter_mut()
            .for_each(|term| term["matchFields"] = field.clone()),
        _ => *required = json!({"nodeSelectorTerms": [{"matchFields": field}]}),
    }
    let mut labels = (*set.template.labels).clone();
    labels.insert(Str::new_static(HASH_LABEL), hash.clone());
    if let Some(generation) = object.meta.annotation(TEMPLATE_GENERATION) {
        labels.insert(Str::new_static(GENERATION_LABEL), generation.clone());
    }
    let spec = PodSpec::from_raw(raw).unwrap_or_else(|_| set.template.spec.clone());
    let node_name = set.template.spec.node_name.clone();
    Object {
        kind: Kind::Pod,
        meta: ObjectMeta {
            labels: Rc::new(labels),
            ..object.pod_meta(&set.template)
        },
        body: Body::Pod(Box::new(Pod {
            node_name,
            ..Pod::new(spec)
        })),
    }
}

/// Returns true if a Pod was made from the current template.
pub(super) fn is_updated(object: &Object, pod: &Object, hash: &str) -> bool {
    let generation = object.meta.annotation(TEMPLATE_GENERATION);
    pod.meta.label(HASH_LABEL).is_some_and(|h| h == hash)
        || generation.is_some() && pod.meta.label(GENERATION_LABEL) == generation
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(taint: Option<(&str, &str)>) -> Object {
        let taints = taint.map_or(
            json!([]),
            |(key, effect)| json!([{"key": key, "effect": effect}]),
        );
        let value = json!({"metadata": {"name": "node-1", "labels": {"disk": "ssd"}}, "spec": {"taints": taints}});
        Object::from_value(Kind::Node, value).unwrap()
    }

    fn set(spec: Value) -> Object {
        Object::from_value(
            Kind::DaemonSet,
            json!({"metadata": {"name": "agent"}, "spec": {"template": {"spec": spec}}}),
        )
        .unwrap()
    }

    #[test]
    fn a_node_is_wanted_by_labels_and_taints() {
        let any = json!({"containers": []});
        let cases = [
            (any.clone(), None, (true, true)),
            (json!({"nodeSelector": {"disk": "ssd"}}), None, (true, true)),
            (
                json!({"nodeSelector": {"disk": "hdd"}}),
                None,
                (false, false),
            ),
            (json!({"nodeName": "node-2"}), None, (false, false)),
            (
                any.clone(),
                Some(("dedicated", "NoSchedule")),
                (false, true),
            ),
            (
                any.clone(),
                Some(("dedicated", "NoExecute")),
                (false, false),
            ),
            (
                any.clone(),
                Some(("dedicated", "PreferNoSchedule")),
                (true, true),
            ),
            (
                any.clone(),
                Some(("node.kubernetes.io/unschedulable", "NoSchedule")),
                (true, true),
            ),
            (
                any,
                Some(("node.kubernetes.io/unreachable", "NoExecute")),
                (true, true),
            ),
        ];
        for (spec, taint, expected) in cases {
            let object = set(spec.clone());
            let body: &DaemonSet = object.body();
            assert_eq!(
                wants(body, &daemon_spec(body), &node(taint)),
                expected,
                "{spec} {taint:?}"
            );
        }
    }

    #[test]
    fn a_pod_is_pinned_to_its_node_in_every_term() {
        let term = json!([{"matchExpressions": [{"key": "disk", "operator": "Exists"}]}, {"matchFields": [{"key": "x"}]}]);
        let required =
            json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": term}});
        let object = set(json!({"affinity": {"nodeAffinity": required}}));
        let body: &DaemonSet = object.body();
        let pod = new_pod(
            &object,
            body,
            &daemon_spec(body),
            &"abc".into(),
            &"node-7".into(),
        );
        let pod: &Pod = pod.body();
        assert_eq!(target(pod).map(Str::as_str), Some("node-7"));
        let terms = &pod
            .spec
            .affinity
            .node_affinity
            .required_during_scheduling_ignored_during_execution
            .as_ref()
            .unwrap()
            .node_selector_terms;
        assert!(
            terms
                .iter()
                .all(|t| t.match_fields.len() == 1 && t.match_fields[0].values[0] == "node-7")
        );
        assert_eq!(terms[0].match_expressions.len(), 1);
    }
}
