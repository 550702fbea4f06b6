//! Filter for host ports, which can be used once per node.
//!
//! Models `pkg/scheduler/framework/plugins/nodeports`.

use crate::framework::{Cycle, Filter, POD_GONE, Refusal};
use crate::node_info::NodeInfo;
use crate::refuses::Refuses;
use k8s_model::Object;
use k8s_model::node::Node;
use k8s_model::pod::{ContainerPort, Pod};
use std::rc::Rc;

/// Filter registration.
pub(super) const FILTER: Filter = Filter {
    name: "NodePorts",
    asks: Some(asks),
    filter,
    explain,
    requeue_on: POD_GONE,
};

fn host_ports(pod: &Pod) -> impl Iterator<Item = &ContainerPort> {
    let sidecars = pod
        .spec
        .init_containers
        .iter()
        .filter(|c| c.restart_policy == "Always");
    pod.spec
        .containers
        .iter()
        .chain(sidecars)
        .flat_map(|c| &c.ports)
        .filter(|p| p.host_port > 0)
}

/// Returns true if two host addresses overlap; an empty one means all.
fn overlap(a: &str, b: &str) -> bool {
    let all = |ip: &str| ip.is_empty() || ip == "0.0.0.0";
    a == b || all(a) || all(b)
}

fn asks(cycle: &Cycle<'_>) -> bool {
    host_ports(cycle.pod).next().is_some()
}

fn filter(cycle: &Cycle<'_>, _: &Object, _: &Node, info: &NodeInfo) -> Option<Refusal> {
    let mut wanted = host_ports(cycle.pod);
    let taken = |p: &ContainerPort| {
        info.pods
            .values()
            .flat_map(|o| host_ports(o.body()))
            .any(|q| {
                q.host_port == p.host_port
                    && q.protocol == p.protocol
                    && overlap(&p.host_ip, &q.host_ip)
            })
    };
    if wanted.any(taken) {
        return Refusal::for_now("node(s) didn't have free ports for the requested pod ports");
    }
    None
}

fn explain(cycle: &Cycle<'_>, _: &Rc<Object>, info: &NodeInfo, out: &mut Vec<Refuses>) {
    let ports = |pod: &Pod| -> Vec<i32> {
        pod.spec
            .containers
            .iter()
            .flat_map(|c| &c.ports)
            .map(|p| p.host_port)
            .filter(|port| *port > 0)
            .collect()
    };
    let wanted = ports(cycle.pod);
    let taken = info.pods.values().find_map(|other| {
        let port = ports(other.body())
            .into_iter()
            .find(|port| wanted.contains(port))?;
        Some((port, other.meta.name.clone()))
    });
    let (port, by) = taken.unwrap_or_default();
    out.push(Refuses::Port { port, by });
}
