//! Filter for resources: the requests of all Pods on a node stay within its allocatable resources.
//!
//! Models `pkg/scheduler/framework/plugins/noderesources/fit.go`.

use crate::framework::{Cycle, Filter, NODE_ALLOCATABLE, POD_GONE, Refusal};
use crate::node_info::NodeInfo;
use crate::unschedulable::UnschedulableReason;
use k8s_model::node::Node;
use k8s_model::pod::Pod;
use k8s_model::quantity::units_of;
use k8s_model::{Object, Str};
use smol_str::format_smolstr;
use std::rc::Rc;

/// Filter registration.
pub(super) const FILTER: Filter = Filter {
    name: "NodeResourcesFit",
    applies: None,
    filter,
    explain,
    requeue_on: POD_GONE | NODE_ALLOCATABLE,
};

fn filter(cycle: &Cycle<'_>, _: &Object, node: &Node, info: &NodeInfo) -> Option<Refusal> {
    let (wanted, has) = (cycle.pod.spec.requests, info.allocatable);
    let free = has.minus(info.requested);
    let mut reasons = Vec::new();
    if info.pods.len() as i64 + 1 > info.max_pods {
        reasons.push(Str::new_static("Too many pods"));
    }
    let mut never = false;
    for (name, want, free, all) in [
        ("Insufficient cpu", wanted.cpu, free.cpu, has.cpu),
        (
            "Insufficient memory",
            wanted.memory,
            free.memory,
            has.memory,
        ),
        (
            "Insufficient ephemeral-storage",
            wanted.ephemeral,
            free.ephemeral,
            has.ephemeral,
        ),
    ] {
        if want > 0 && want > free {
            reasons.push(Str::new_static(name));
            never |= want > all;
        }
    }
    for (name, want) in &cycle.pod.spec.extended {
        let all = node.status.allocatable.get(name).map_or(0, units_of);
        let of = |pod: &Pod| {
            pod.spec
                .extended
                .iter()
                .filter(|(other, _)| other == name)
                .map(|(_, amount)| amount)
                .sum::<i64>()
        };
        let used: i64 = info
            .pods
            .iter()
            .filter_map(|(_, object)| object.pod())
            .map(of)
            .sum();
        if *want > 0 && *want > all - used {
            reasons.push(format_smolstr!("Insufficient {name}"));
            never |= *want > all;
        }
    }
    (!reasons.is_empty()).then_some(Refusal {
        by: 0,
        reasons,
        preemption_helps: !never,
    })
}

fn explain(cycle: &Cycle<'_>, _: &Rc<Object>, info: &NodeInfo, out: &mut Vec<UnschedulableReason>) {
    let (requests, all) = (cycle.pod.spec.requests, info.allocatable);
    let free = all.minus(info.requested);
    if info.pods.len() as i64 + 1 > info.max_pods {
        out.push(UnschedulableReason::TooManyPods {
            most: info.max_pods,
        });
    }
    for (resource, requested, free, allocatable) in [
        ("cpu", requests.cpu, free.cpu, all.cpu),
        ("memory", requests.memory, free.memory, all.memory),
        (
            "ephemeral-storage",
            requests.ephemeral,
            free.ephemeral,
            all.ephemeral,
        ),
    ] {
        if requested > 0 && requested > free {
            out.push(UnschedulableReason::InsufficientResource {
                resource,
                requested,
                free,
                allocatable,
            });
        }
    }
}
