//! Topology spread constraints: the number of Pods per domain, counted once per cycle.
//!
//! Models `pkg/scheduler/framework/plugins/podtopologyspread/common.go` and `filtering.go` (`calPreFilterState`).

use super::matching::{fits_affinity, tolerates};
use super::node_info::NodeInfo;
use super::nodes::Nodes;
use k8s_model::node::Node;
use k8s_model::pod::{Pod, TopologySpreadConstraint};
use k8s_model::{Object, Str};
use std::collections::BTreeMap;

/// Constraint with the number of Pods in each domain.
pub struct CountedConstraint<'c> {
    pub constraint: &'c TopologySpreadConstraint,
    domains: BTreeMap<Str, i64>,
    /// Number of Pods in the emptiest domain; 0 while there are fewer domains than `minDomains`.
    pub fewest: i64,
}

impl CountedConstraint<'_> {
    /// Returns the number of Pods in a domain; 0 for a domain without an eligible node.
    pub fn in_domain(&self, value: &str) -> i64 {
        self.domains.get(value).copied().unwrap_or(0)
    }

    fn count_fewest(&mut self) {
        let few = self
            .constraint
            .min_domains
            .is_some_and(|wanted| (self.domains.len() as i64) < wanted);
        if !few {
            self.fewest = self.domains.values().copied().min().unwrap_or(0);
        }
    }
}

/// Returns the number of Pods on a node that a constraint counts; terminating Pods are excluded.
pub(super) fn matching(
    constraint: &TopologySpreadConstraint,
    object: &Object,
    info: &NodeInfo,
) -> i64 {
    let Some(selector) = constraint.label_selector.as_ref().filter(|s| !s.is_empty()) else {
        return 0;
    };
    let counts = |o: &Object| {
        !o.meta.is_deleting()
            && o.meta.namespace == object.meta.namespace
            && selector.matches(&o.meta.labels)
    };
    info.pods.values().filter(|o| counts(o)).count() as i64
}

/// Returns true if a constraint includes a node.
pub(super) fn includes(constraint: &TopologySpreadConstraint, pod: &Pod, node: &Object) -> bool {
    let repels = |t: &k8s_model::node::Taint| {
        t.effect != "PreferNoSchedule" && !tolerates(&pod.spec.tolerations, t)
    };
    (constraint.node_affinity_policy == "Ignore" || fits_affinity(&pod.spec, node))
        && (constraint.node_taints_policy != "Honor"
            || !node.body::<Node>().spec.taints.iter().any(repels))
}

/// Counts the constraints of one kind (`DoNotSchedule` or `ScheduleAnyway`) over all nodes that have all their keys.
pub(super) fn count<'c>(
    object: &Object,
    pod: &'c Pod,
    kind: &str,
    nodes: &Nodes,
) -> Vec<CountedConstraint<'c>> {
    let of_kind = pod
        .spec
        .topology_spread_constraints
        .iter()
        .filter(|c| c.when_unsatisfiable == kind);
    let mut counted: Vec<CountedConstraint<'_>> = of_kind
        .map(|constraint| CountedConstraint {
            constraint,
            domains: BTreeMap::new(),
            fewest: 0,
        })
        .collect();
    if !counted.is_empty() {
        count_in_domains(&mut counted, object, pod, nodes);
    }
    counted
}

fn count_in_domains(
    counted: &mut [CountedConstraint<'_>],
    object: &Object,
    pod: &Pod,
    nodes: &Nodes,
) {
    for info in nodes.values() {
        let Some(node) = info.node.as_ref() else {
            continue;
        };
        if !counted
            .iter()
            .all(|c| node.meta.label(&c.constraint.topology_key).is_some())
        {
            continue;
        }
        for c in counted
            .iter_mut()
            .filter(|c| includes(c.constraint, pod, node))
        {
            let Some(value) = node.meta.label(&c.constraint.topology_key) else {
                continue;
            };
            let more = matching(c.constraint, object, info);
            *c.domains.entry(value.clone()).or_default() += more;
        }
    }
    counted.iter_mut().for_each(CountedConstraint::count_fewest);
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_model::Kind;
    use serde_json::json;
    use std::rc::Rc;

    /// Builds nodes a, b in zone x and c in zone y with these numbers of Pods of `app=web`.
    fn nodes(counts: [usize; 3]) -> Nodes {
        let mut nodes = Nodes::default();
        for ((name, zone), n) in [("a", "x"), ("b", "x"), ("c", "y")].into_iter().zip(counts) {
            let node = json!({"metadata": {"name": name, "labels": {"zone": zone}}, "spec": {}});
            let node = Rc::new(Object::from_value(Kind::Node, node).unwrap());
            nodes.change(&name.into(), |info| info.set_node(Some(&node)));
            for i in 0..n {
                let mut pod = web(&json!({}));
                pod.meta.uid = k8s_model::Uid((name.as_bytes()[0] as u128) << 8 | i as u128);
                nodes.change(&name.into(), |info| info.add(&Rc::new(pod)));
            }
        }
        nodes
    }

    /// Builds a Pod of `app=web` with one constraint over zones, changed by `more`.
    fn web(more: &serde_json::Value) -> Object {
        let mut constraint = json!({"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}}});
        for (key, value) in more.as_object().unwrap() {
            constraint[key] = value.clone();
        }
        let pod = json!({"metadata": {"name": "p", "labels": {"app": "web"}}, "spec": {"topologySpreadConstraints": [constraint], "containers": []}});
        Object::from_value(Kind::Pod, pod).unwrap()
    }

    #[test]
    fn domains_are_counted_and_the_emptiest_is_known() {
        let cases = [
            (json!({}), [1, 2, 1], (3, 1, 1)),
            (json!({"minDomains": 3}), [1, 2, 1], (3, 1, 0)),
            (json!({"minDomains": 2}), [1, 2, 1], (3, 1, 1)),
            (json!({"labelSelector": {}}), [1, 2, 1], (0, 0, 0)),
            (
                json!({"whenUnsatisfiable": "ScheduleAnyway"}),
                [1, 2, 1],
                (-1, -1, -1),
            ),
        ];
        for (more, counts, expected) in cases {
            let (pod, nodes) = (web(&more), nodes(counts));
            let counted = count(&pod, pod.body(), "DoNotSchedule", &nodes);
            let got = counted.first().map_or((-1, -1, -1), |c| {
                (c.in_domain("x"), c.in_domain("y"), c.fewest)
            });
            assert_eq!(got, expected, "{more}");
        }
    }
}
