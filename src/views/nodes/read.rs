//! What Nodes reads: when the first Pod of a node that is not ready is evicted.

use crate::api::{Body, Kind, Object, ObjectRef};
use crate::engine::Sim;
use crate::engine::controllers::taint_eviction;
use crate::i18n::msg;
use crate::projection::model::Model;
use crate::views::view::Source;
use std::rc::Rc;

/// Whether a node has no kubelet that reports, or says itself that it is not ready.
fn silent(node: &Rc<Object>) -> bool {
    matches!(&node.body, Body::Node(node) if !node.is_ready())
}

/// Seconds count down while a node is not ready.
pub fn refresh_ms(sim: &Sim) -> Option<i64> {
    sim.list(Kind::Node).any(silent).then_some(1000)
}

/// Sets when the first Pod of a node that is not ready is evicted.
pub fn count_down(model: &mut Model, source: &Source) {
    if model.nodes.iter().all(|node| node.ready) {
        return;
    }
    for node in Rc::make_mut(&mut model.nodes).iter_mut().filter(|node| !node.ready) {
        let Some(object) = source.sim.get(&ObjectRef::new(Kind::Node, "", &node.id.name)) else { continue };
        let taints: Vec<_> = taint_eviction::forcing(object).collect();
        let Some(since) = taints.iter().filter_map(|taint| taint.time_added).min() else { continue };
        let here = source.sim.pods_on(&node.id.name).filter(|pod| !pod.meta.is_deleting()).filter_map(|pod| pod.pod());
        let first =
            here.filter(|pod| !pod.is_terminal()).filter_map(|pod| taint_eviction::tolerated_for(&pod.spec.tolerations, &taints)).min();
        let left = first.map_or(0, |seconds| since.0 + seconds - source.scope.now / 1000);
        if left > 0 {
            let left = format!("{:02}:{:02}", left / 60, left % 60);
            Rc::make_mut(node).countdown = Some(msg::node_evicts_in(left));
        }
    }
}
