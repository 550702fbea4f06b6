//! Evaluation of the nodes for a Pod: filters first, then scores.
//!
//! Models `findNodesThatFitPod` and `prioritizeNodes` of `pkg/scheduler/schedule_one.go`.

use super::filters::AffinityCounts;
use super::framework::{Cycle, Filter, NodeChoice, Refusal};
use super::node_info::{NodeInfo, priority};
use super::nodes::Nodes;
use super::{filters, scores, spread, volumes};
use controller_runtime::informer::Cache;
use k8s_model::node::Node;
use k8s_model::pod::Pod;
use k8s_model::{Object, Str};
use std::rc::Rc;

impl<'c> Cycle<'c> {
    pub(super) fn new(
        object: &'c Rc<Object>,
        pod: &'c Pod,
        cache: &'c Cache,
        nodes: &'c Nodes,
        nominated: &'c [(Str, Rc<Object>)],
    ) -> Self {
        let spread = spread::count(object, pod, "DoNotSchedule", nodes);
        let mut cycle = Cycle {
            object,
            pod,
            cache,
            nodes,
            spread,
            affinity: AffinityCounts::default(),
            nominated,
            claim_taken: volumes::is_taken_by_another(object, pod, cache, nodes),
            filters: Vec::new(),
        };
        cycle.affinity = filters::affinity_counts(&cycle);
        cycle.filters = filters::applicable(&cycle);
        cycle
    }
}

/// Returns a node's refusal of a Pod; resources reserved for a nominated Pod of at least the same priority count as used.
pub(super) fn refusal(
    cycle: &Cycle<'_>,
    name: &Str,
    node: &Rc<Object>,
    info: &NodeInfo,
) -> Option<Refusal> {
    let run_filters = |info: &NodeInfo| {
        let refused = |(at, filter): &(usize, &Filter)| {
            let refusal = (filter.filter)(cycle, node, node.body::<Node>(), info)?;
            Some(Refusal {
                by: 1 << at,
                ..refusal
            })
        };
        cycle.filters.iter().find_map(refused)
    };
    let is_nominated = |(at, other): &&(Str, Rc<Object>)| {
        at == name
            && other.meta.uid != cycle.object.meta.uid
            && priority(other) >= priority(cycle.object)
    };
    let mut nominated = cycle.nominated.iter().filter(is_nominated).peekable();
    if nominated.peek().is_some() {
        let mut fuller = info.clone();
        for (_, other) in nominated {
            fuller.add(other);
        }
        if let Some(refusal) = run_filters(&fuller) {
            return Some(refusal);
        }
    }
    run_filters(info)
}

/// Returns the best node for a Pod, or the refusal of each.
pub(super) fn find_best_node(cycle: &Cycle<'_>) -> Result<NodeChoice, Vec<(Str, Refusal)>> {
    let mut feasible: Vec<(&Str, &NodeInfo)> = Vec::with_capacity(cycle.nodes.real);
    let mut refused = Vec::new();
    // The nominated node comes first: if the Pod fits there, no other is evaluated.
    let nominated = &cycle.pod.status.nominated_node_name;
    let nominee = if nominated.is_empty() {
        None
    } else {
        cycle.nodes.find(nominated)
    };
    if let Some((name, info)) = nominee
        && info
            .node
            .as_ref()
            .is_some_and(|node| refusal(cycle, name, node, info).is_none())
    {
        feasible.push((name, info));
    } else {
        for (name, info) in cycle.nodes.iter() {
            let Some(node) = info.node.as_ref() else {
                continue;
            };
            match refusal(cycle, name, node, info) {
                Some(refusal) => refused.push((name.clone(), refusal)),
                None => feasible.push((name, info)),
            }
        }
    }
    let scores = if feasible.is_empty() {
        Vec::new()
    } else {
        scores::total(cycle, &feasible)
    };
    NodeChoice::of(
        feasible
            .iter()
            .zip(scores)
            .map(|((name, _), score)| (*name, score)),
    )
    .ok_or(refused)
}
