//! Host ports can be taken once a node.
//!
//! Models `pkg/scheduler/framework/plugins/nodeports`.

use super::{Cycle, NodeInfo, Plugin, Refusal};
use crate::api::Object;
use crate::api::node::Node;
use crate::api::pod::{ContainerPort, Pod};

fn host_ports(pod: &Pod) -> impl Iterator<Item = &ContainerPort> {
    let sidecars = pod.spec.init_containers.iter().filter(|c| c.restart_policy == "Always");
    pod.spec.containers.iter().chain(sidecars).flat_map(|c| &c.ports).filter(|p| p.host_port > 0)
}

/// Whether two host addresses can be one; none means all.
fn overlap(a: &str, b: &str) -> bool {
    let all = |ip: &str| ip.is_empty() || ip == "0.0.0.0";
    a == b || all(a) || all(b)
}

pub(super) fn asks(cycle: &Cycle<'_>) -> bool {
    host_ports(cycle.pod).next().is_some()
}

pub(super) fn filter(cycle: &Cycle<'_>, _: &Object, _: &Node, info: &NodeInfo) -> Option<Refusal> {
    let mut wanted = host_ports(cycle.pod);
    let taken = |p: &ContainerPort| {
        info.pods
            .values()
            .flat_map(|o| host_ports(o.body()))
            .any(|q| q.host_port == p.host_port && q.protocol == p.protocol && overlap(&p.host_ip, &q.host_ip))
    };
    if wanted.any(taken) {
        return Refusal::for_now(Plugin::Ports, "node(s) didn't have free ports for the requested pod ports");
    }
    None
}
