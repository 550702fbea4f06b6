//! The interfaces of a scheduling cycle, a filter and a score.
//!
//! Models `pkg/scheduler/framework/interface.go`.

use super::node_info::NodeInfo;
use super::nodes::Nodes;
use super::spread;
use crate::refuses::Refuses;
use controller_runtime::informer::Cache;
use k8s_model::node::Node;
use k8s_model::pod::Pod;
use k8s_model::{Object, Str};
use std::rc::Rc;

/// Input of a cycle.
pub(super) struct Cycle<'c> {
    pub object: &'c Rc<Object>,
    pub pod: &'c Pod,
    pub cache: &'c Cache,
    pub nodes: &'c Nodes,
    /// The Pod's hard spread constraints, counted.
    pub spread: Vec<spread::CountedConstraint<'c>>,
    /// Pods that others were preempted for.
    pub nominated: &'c [(Str, Rc<Object>)],
    /// The filters that apply to the Pod, each with its index in the registry.
    pub filters: Vec<(usize, &'static Filter)>,
}

/// Changes of the cluster that can resolve a refusal, as a set: upstream's `EventsToRegister`.
pub(super) type ClusterChanges = u8;

/// A Pod has left its node.
pub(super) const POD_GONE: ClusterChanges = 1;
/// A Pod was bound to a node, or its labels have changed.
pub(super) const POD_PLACED: ClusterChanges = 1 << 1;
/// A node is gone.
pub(super) const NODE_GONE: ClusterChanges = 1 << 2;
/// A node's labels have changed.
pub(super) const NODE_LABELS: ClusterChanges = 1 << 3;
/// A node's taints have changed, or it was cordoned or uncordoned.
pub(super) const NODE_TAINTS: ClusterChanges = 1 << 4;
/// A node's allocatable resources have changed.
pub(super) const NODE_ALLOCATABLE: ClusterChanges = 1 << 5;
/// A volume, a claim or a class has changed.
pub(super) const STORAGE: ClusterChanges = 1 << 6;
/// Any of them: a new node may help against every refusal.
pub(super) const ANY: ClusterChanges = u8::MAX;

/// May this Pod run on this node? One file each in `filters/`, which registers it in `filters::ALL`.
pub(super) struct Filter {
    /// Upstream's name of the plugin.
    pub name: &'static str,
    /// Whether it applies to the Pod on any node; otherwise upstream's PreFilter returns Skip.
    /// A filter without this function always applies, and depends on the Pod's template and the node alone.
    pub asks: Option<fn(&Cycle<'_>) -> bool>,
    /// The refusal, if it refuses.
    pub filter: fn(&Cycle<'_>, &Object, &Node, &NodeInfo) -> Option<Refusal>,
    /// The values behind a refusal: computed only on demand, since a cycle may refuse thousands of nodes.
    pub explain: fn(&Cycle<'_>, &Rc<Object>, &NodeInfo, &mut Vec<Refuses>),
    /// The changes that can resolve its refusal: Pods it refused are then retried.
    pub requeue_on: ClusterChanges,
}

/// Which of the nodes that fit is best? One file each in `scores/`, which registers it in `scores::ALL`.
pub(super) struct Score {
    /// Upstream's name of the plugin.
    pub name: &'static str,
    /// Upstream's weight.
    pub weight: i64,
    /// How it scores, from 0 to 100.
    pub score: Scoring,
}

/// A value from 0 to 100 for each of the nodes that fit.
type Compare = fn(&Cycle<'_>, &[(&Str, &NodeInfo)]) -> Vec<i64>;

/// How a score compares nodes.
pub(super) enum Scoring {
    /// Scores one node: the value depends on the Pod and this node alone.
    Node(fn(&Cycle<'_>, &NodeInfo) -> i64),
    /// Scores all nodes that fit, normalised against each other; only for Pods for which `asks` is true.
    Among {
        /// Whether its scores can differ between nodes for this Pod.
        asks: fn(&Cycle<'_>) -> bool,
        /// A value for each of the nodes.
        score: Compare,
    },
    /// The same, but `memo` can derive the value from the number of a controller's Pods.
    Spread(Compare),
}

/// A node's refusal of a Pod.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Refusal {
    /// The refusing filters, as a set of indexes in the registry. Filled in by the caller.
    pub by: u16,
    /// The scheduler's messages; several for resources.
    pub reasons: Vec<Str>,
    /// True if removing other Pods could help.
    pub preemption_helps: bool,
}

impl Refusal {
    /// The node could not be used even if it were empty.
    pub fn no_help() -> Refusal {
        Refusal {
            by: 0,
            reasons: vec![Str::new_static("Preemption is not helpful for scheduling")],
            preemption_helps: false,
        }
    }

    /// No Pod on the node has a lower priority.
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

    pub fn final_(reason: &'static str) -> Option<Refusal> {
        Some(Refusal {
            by: 0,
            reasons: vec![Str::new_static(reason)],
            preemption_helps: false,
        })
    }

    pub fn for_now(reason: &'static str) -> Option<Refusal> {
        Some(Refusal {
            by: 0,
            reasons: vec![Str::new_static(reason)],
            preemption_helps: true,
        })
    }
}

/// The node chosen for a Pod, and the second best.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct NodeChoice {
    pub node: Str,
    pub score: i64,
    pub next: Str,
    pub next_score: i64,
    /// Number of nodes that fit.
    pub feasible: usize,
}

impl NodeChoice {
    /// The best node; ties are broken by name. The scores must be in the order of the nodes' names.
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
