//! Filter for host ports, which can be used once per node.
//!
//! Models `pkg/scheduler/framework/plugins/nodeports`.

use crate::framework::{Cycle, Filter, POD_GONE, Refusal};
use crate::node_info::NodeInfo;
use crate::unschedulable::UnschedulableReason;
use k8s_model::node::Node;
use k8s_model::pod::{ContainerPort, Pod};
use k8s_model::{Object, Str};
use std::rc::Rc;

/// Filter registration.
pub(super) const FILTER: Filter = Filter {
    name: "NodePorts",
    applies: Some(applies),
    filter,
    explain,
    requeue_on: POD_GONE,
};

fn host_ports(pod: &Pod) -> impl Iterator<Item = &ContainerPort> {
    let sidecars = pod.spec.init_containers.iter().filter(|c| c.is_sidecar());
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

fn applies(cycle: &Cycle<'_>) -> bool {
    host_ports(cycle.pod).next().is_some()
}

/// Returns a host port of a node that a Pod needs as well, and the name of the Pod that has it.
fn conflict(pod: &Pod, info: &NodeInfo) -> Option<(i32, Str)> {
    let collides = |one: &ContainerPort, other: &ContainerPort| {
        one.host_port == other.host_port
            && one.protocol == other.protocol
            && overlap(&one.host_ip, &other.host_ip)
    };
    info.pods.values().find_map(|other| {
        let taken = host_ports(other.body())
            .find(|port| host_ports(pod).any(|wanted| collides(wanted, port)))?;
        Some((taken.host_port, other.meta.name.clone()))
    })
}

fn filter(cycle: &Cycle<'_>, _: &Object, _: &Node, info: &NodeInfo) -> Option<Refusal> {
    conflict(cycle.pod, info)?;
    Refusal::unschedulable("node(s) didn't have free ports for the requested pod ports")
}

fn explain(cycle: &Cycle<'_>, _: &Rc<Object>, info: &NodeInfo, out: &mut Vec<UnschedulableReason>) {
    let (port, by) = conflict(cycle.pod, info).unwrap_or_default();
    out.push(UnschedulableReason::NodePorts { port, by });
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_model::Kind;
    use serde_json::{Value, json};

    fn pod(name: &str, containers: Value, sidecars: Value) -> Rc<Object> {
        let spec = json!({"containers": containers, "initContainers": sidecars});
        let value = json!({"metadata": {"name": name, "namespace": "default", "uid": "00000000-0000-4000-8000-000000000001"}, "spec": spec});
        Rc::new(Object::from_value(Kind::Pod, value).unwrap())
    }

    #[test]
    fn host_ports_conflict_by_protocol_also_with_those_of_sidecars() {
        let container = |protocol: &str| json!({"name": "c", "image": "c", "ports": [{"hostPort": 53, "containerPort": 53, "protocol": protocol}]});
        let mut sidecar = container("TCP");
        sidecar["restartPolicy"] = json!("Always");
        let mut info = NodeInfo::default();
        let other = pod("dns", json!([container("UDP")]), json!([sidecar]));
        info.pods.insert(other.meta.uid, other);
        let wanted = |protocol: &str| {
            let pod = pod("new", json!([container(protocol)]), json!([]));
            conflict(pod.body(), &info)
        };
        assert_eq!(wanted("TCP"), Some((53, "dns".into())));
        assert_eq!(wanted("UDP"), Some((53, "dns".into())));
        assert_eq!(wanted("SCTP"), None);
    }
}
