//! Explanation of the refusals of each node, from all filters, with the values that decide. Read-only.

use super::Scheduler;
use super::framework::Cycle;
use super::schedule_one::refusal;
use crate::unschedulable::UnschedulableReason;
use controller_runtime::informer::Cache;
use k8s_model::node::Node;
use k8s_model::pod::Resources;
use k8s_model::{Object, Str};
use std::rc::Rc;

impl Scheduler {
    /// Returns the refusals of up to `most` nodes; a node without refusals fits.
    pub fn explain(
        &self,
        object: &Rc<Object>,
        cache: &Cache,
        most: usize,
    ) -> Vec<(Str, Vec<UnschedulableReason>)> {
        let Some(pod) = object.pod() else {
            return Vec::new();
        };
        let cycle = Cycle::new(object, pod, cache, &self.nodes, &self.nominated);
        let mut out = Vec::new();
        for (name, info) in self.nodes.iter().take(most) {
            let Some(node) = &info.node else { continue };
            let (mut found, mut last) = (Vec::new(), None);
            for (_, filter) in &cycle.filters {
                let Some(refusal) = (filter.filter)(&cycle, node, node.body::<Node>(), info) else {
                    continue;
                };
                // A Pod pinned to another node is refused twice by its affinity.
                if last.replace(filter.name) != Some(filter.name) {
                    let told = found.len();
                    (filter.explain)(&cycle, node, info, &mut found);
                    if found.len() == told {
                        found.extend(
                            refusal
                                .reasons
                                .into_iter()
                                .map(|reason| UnschedulableReason::Message { reason }),
                        );
                    }
                }
            }
            if found.is_empty() && refusal(&cycle, name, node, info).is_some() {
                found.push(UnschedulableReason::NominatedPods);
            }
            out.push((name.clone(), found));
        }
        out
    }

    /// Returns the Pods of a node.
    pub fn pods_on(&self, node: &str) -> impl Iterator<Item = &Rc<Object>> {
        self.nodes
            .get(node)
            .into_iter()
            .flat_map(|info| info.pods.values())
    }

    /// Returns the free resources of a node.
    pub fn free_on(&self, node: &str) -> Resources {
        self.nodes
            .get(node)
            .map_or_else(Resources::default, |info| {
                info.allocatable.minus(info.requested)
            })
    }

    /// Returns the number of further Pods that a node may run.
    pub fn places_on(&self, node: &str) -> i64 {
        self.nodes
            .get(node)
            .map_or(0, |info| (info.max_pods - info.pods.len() as i64).max(0))
    }
}
