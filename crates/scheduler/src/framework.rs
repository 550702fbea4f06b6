//! Interfaces of a scheduling cycle, a filter and a score.
//!
//! Models `pkg/scheduler/framework/interface.go`.

use super::filters::AffinityCounts;
use super::node_info::NodeInfo;
use super::nodes::Nodes;
use super::spread;
use crate::unschedulable::UnschedulableReason;
use controller_runtime::informer::Cache;
use k8s_model::node::Node;
use k8s_model::pod::Pod;
use k8s_model::{Object, Str};
use std::rc::Rc;

/// Input of a scheduling cycle.
pub(super) struct Cycle<'c> {
    pub object: &'c Rc<Object>,
    pub pod: &'c Pod,
    pub cache: &'c Cache,
    pub nodes: &'c Nodes,
    /// Hard spread constraints of the Pod, with their counts.
    pub spread: Vec<spread::CountedConstraint<'c>>,
    /// Matched affinity terms in each domain; empty if no Pod has required terms.
    pub affinity: AffinityCounts<'c>,
    /// Pods that preempted others, with their nominated nodes.
    pub nominated: &'c [(Str, Rc<Object>)],
    /// True if another Pod on a node uses a ReadWriteOncePod claim of the Pod.
    pub claim_taken: bool,
    /// Filters that apply to the Pod, each with its index in the registry.
    pub filters: Vec<(usize, &'static Filter)>,
}

/// Set of cluster changes that can resolve a refusal: upstream's `EventsToRegister`.
pub(super) type ClusterChanges = u8;

/// Pod removed from its node.
pub(super) const POD_GONE: ClusterChanges = 1;
/// Pod bound to a node, or with changed labels.
pub(super) const POD_PLACED: ClusterChanges = 1 << 1;
/// Node removed.
pub(super) const NODE_GONE: ClusterChanges = 1 << 2;
/// Node labels changed.
pub(super) const NODE_LABELS: ClusterChanges = 1 << 3;
/// Node taints changed, or node cordoned or uncordoned.
pub(super) const NODE_TAINTS: ClusterChanges = 1 << 4;
/// Allocatable resources of a node changed.
pub(super) const NODE_ALLOCATABLE: ClusterChanges = 1 << 5;
/// Volume, claim or storage class changed.
pub(super) const STORAGE: ClusterChanges = 1 << 6;
/// Any change: a new node may resolve every refusal.
pub(super) const ANY: ClusterChanges = u8::MAX;

/// Filter plugin: decides whether a Pod may run on a node. One file each in `filters/`, registered in `filters::ALL`.
pub(super) struct Filter {
    /// Upstream's name of the plugin.
    pub name: &'static str,
    /// Returns true if the filter applies to the Pod on any node; otherwise upstream's PreFilter returns Skip.
    /// A filter without this function always applies, and depends on the Pod's template and the node alone.
    pub applies: Option<fn(&Cycle<'_>) -> bool>,
    /// Returns the refusal, or `None` if the node passes.
    pub filter: fn(&Cycle<'_>, &Object, &Node, &NodeInfo) -> Option<Refusal>,
    /// Returns the values behind a refusal: computed only on demand, since a cycle may refuse thousands of nodes.
    pub explain: fn(&Cycle<'_>, &Rc<Object>, &NodeInfo, &mut Vec<UnschedulableReason>),
    /// Changes that can resolve a refusal: Pods refused by the filter are then retried.
    pub requeue_on: ClusterChanges,
}

/// Score plugin: ranks the feasible nodes. One file each in `scores/`, registered in `scores::ALL`.
pub(super) struct Score {
    /// Upstream's name of the plugin.
    pub name: &'static str,
    /// Upstream's weight.
    pub weight: i64,
    /// Scoring function, from 0 to 100.
    pub score: Scoring,
}

/// Function that returns a value from 0 to 100 for each feasible node.
type Compare = fn(&Cycle<'_>, &[(&Str, &NodeInfo)]) -> Vec<i64>;

/// Scoring function by its dependencies.
pub(super) enum Scoring {
    /// Scores one node: the value depends on the Pod and this node alone.
    Node(fn(&Cycle<'_>, &NodeInfo) -> i64),
    /// Scores all feasible nodes, normalised against each other; only for Pods for which `applies` is true.
    Among {
        /// Returns true if the scores can differ between nodes for this Pod.
        applies: fn(&Cycle<'_>) -> bool,
        /// Returns a value for each node.
        score: Compare,
    },
    /// Scores all feasible nodes like `Among`, but `memo` can derive the value from the number of a controller's Pods.
    Spread(Compare),
}

/// Refusal of a Pod by a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Refusal {
    /// Refusing filters, as a set of indexes in the registry. Filled in by the caller.
    pub by: u16,
    /// Messages of the scheduler; several for resources.
    pub reasons: Vec<Str>,
    /// True if removing other Pods could help.
    pub preemption_helps: bool,
}

impl Refusal {
    /// Returns the refusal of a node that would not fit even if it were empty.
    pub fn no_help() -> Refusal {
        Refusal {
            by: 0,
            reasons: vec![Str::new_static("Preemption is not helpful for scheduling")],
            preemption_helps: false,
        }
    }

    /// Returns the refusal of a node without Pods of lower priority.
    pub fn no_victims() -> Refusal {
        let reasons = vec![Str::new_static(
            "No preemption victims found for incoming pod",
        )];
        Refusal {
            by: 0,
            reasons,
            preemption_helps: false,
        }
    }

    /// Returns the refusal of a node that removing other Pods does not change (`UnschedulableAndUnresolvable`).
    pub fn unresolvable(reason: &'static str) -> Option<Refusal> {
        Some(Refusal {
            by: 0,
            reasons: vec![Str::new_static(reason)],
            preemption_helps: false,
        })
    }

    /// Returns the refusal of a node that removing other Pods could change (`Unschedulable`).
    pub fn unschedulable(reason: &'static str) -> Option<Refusal> {
        Some(Refusal {
            by: 0,
            reasons: vec![Str::new_static(reason)],
            preemption_helps: true,
        })
    }
}

/// Node chosen for a Pod, and the second best.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct NodeChoice {
    pub node: Str,
    pub score: i64,
    pub next: Str,
    pub next_score: i64,
    /// Number of feasible nodes.
    pub feasible: usize,
}

impl NodeChoice {
    /// Returns the best node; ties are broken by name. The scores must be in the order of the nodes' names.
    pub fn of<'n>(scores: impl Iterator<Item = (&'n Str, i64)>) -> Option<NodeChoice> {
        let mut best: Option<(&Str, i64)> = None;
        let (mut next, mut feasible) = (best, 0);
        for (name, score) in scores {
            feasible += 1;
            if best.is_none_or(|(_, most)| score > most) {
                // The previous best precedes by name all nodes with the same score.
                (next, best) = (best, Some((name, score)));
            } else if next.is_none_or(|(_, most)| score > most) {
                next = Some((name, score));
            }
        }
        let (node, score) = best?;
        let (next, next_score) =
            next.map_or((Str::default(), 0), |(name, score)| (name.clone(), score));
        Some(NodeChoice {
            node: node.clone(),
            score,
            next,
            next_score,
            feasible,
        })
    }
}
