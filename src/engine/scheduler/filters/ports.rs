//! Host ports can be taken once a node.
//!
//! Models `pkg/scheduler/framework/plugins/nodeports`.

use super::{Cycle, NodeInfo, Refusal};
use crate::api::Object;
use crate::api::node::Node;
use crate::api::pod::{ContainerPort, Pod};

fn host_ports(pod: &Pod) -> impl Iterator<Item = &ContainerPort> {
    pod.spec.containers.iter().flat_map(|c| &c.ports).filter(|p| p.host_port > 0)
}

pub(super) fn filter(cycle: &Cycle<'_>, _: &Object, _: &Node, info: &NodeInfo) -> Option<Refusal> {
    let mut wanted = host_ports(cycle.pod);
    let taken = |p: &ContainerPort| {
        info.pods.values().flat_map(|o| host_ports(o.body())).any(|q| q.host_port == p.host_port && q.protocol == p.protocol)
    };
    if wanted.any(taken) {
        return Refusal::for_now("node(s) didn't have free ports for the requested pod ports");
    }
    None
}
