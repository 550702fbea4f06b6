//! The requests of all Pods of a node stay within what it has.
//!
//! Models `pkg/scheduler/framework/plugins/noderesources/fit.go`.

use super::{Cycle, NodeInfo, Plugin, Refusal};
use crate::api::node::Node;
use crate::api::{Object, Str};

pub(super) fn filter(cycle: &Cycle<'_>, _: &Object, _: &Node, info: &NodeInfo) -> Option<Refusal> {
    let (wanted, has) = (cycle.pod.spec.requests, info.allocatable);
    let free = has.minus(info.requested);
    let mut reasons = Vec::new();
    if info.pods.len() as i64 + 1 > info.max_pods {
        reasons.push(Str::new_static("Too many pods"));
    }
    let mut never = false;
    for (name, want, free, all) in [
        ("Insufficient cpu", wanted.cpu, free.cpu, has.cpu),
        ("Insufficient memory", wanted.memory, free.memory, has.memory),
        ("Insufficient ephemeral-storage", wanted.ephemeral, free.ephemeral, has.ephemeral),
    ] {
        if want > 0 && want > free {
            reasons.push(Str::new_static(name));
            never |= want > all;
        }
    }
    (!reasons.is_empty()).then_some(Refusal { plugin: Plugin::Resources, reasons, preemption_helps: !never })
}
