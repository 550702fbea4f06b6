//! Node-pressure eviction: a kubelet short of memory reports it and evicts Pods until enough is free again.
//!
//! Guarantees: Pods that use more than they request are evicted first, by priority, then by the amount above their request; one at a
//! time; critical Pods stay. The condition ends five minutes after enough memory is free.
//! Models `pkg/kubelet/eviction/{eviction_manager,helpers}.go`.

use super::state::Pressure;
use super::{Jobs, Kubelets, PodJob, PodPass, PodStep, status};
use apiserver::why::Why;
use controller_runtime::client::LoopClient;
use controller_runtime::cluster::HEALTHY;
use controller_runtime::load;
use fault::Load;
use k8s_model::node::Node;
use k8s_model::pod::{Pod, PodCondition};
use k8s_model::time::SECOND;
use k8s_model::{Body, Kind, Object, ObjectRef, Str, Time};
use scheduler::{priority, tolerates};
use smol_str::format_smolstr;
use std::rc::Rc;

/// Interval of the checks under pressure.
const LOOK_AGAIN_US: u64 = 10 * SECOND;
/// Delay before the condition is cleared after the pressure has ended.
const TRANSITION_US: u64 = 300 * SECOND;
/// Lowest priority of critical Pods.
const CRITICAL_PRIORITY: i64 = 2_000_000_000;
const MI: i64 = 1024 * 1024;
/// Hard eviction threshold, `memory.available<100Mi`.
const THRESHOLD_BYTES: i64 = 100 * MI;
/// Assumed usage of a container without a request or a load fault.
const DEFAULT_USAGE_BYTES: i64 = 16 * MI;
/// Grace period of a hard eviction.
const GRACE_US: u64 = SECOND;
const TAINT: &str = "node.kubernetes.io/memory-pressure";

impl Kubelets {
    /// Simulates a process outside the Pods that takes so much memory that `missing` bytes are lacking; 0 ends that.
    pub fn press(&mut self, node: &str, missing: i64, now: Time) {
        if missing == 0 {
            let ended = self
                .pressed
                .iter_mut()
                .find(|p| p.node == node && p.relieved.is_none());
            return ended
                .into_iter()
                .for_each(|p| (p.missing, p.relieved) = (0, Some(now)));
        }
        self.pressed.retain(|p| p.node != node);
        self.pressed.push(Pressure {
            node: node.into(),
            missing,
            relieved: None,
        });
    }

    /// Runs the next eviction step of a kubelet; returns the time of the next check, and the jobs for its Pods.
    pub fn relieve(
        &mut self,
        node: &str,
        now: Time,
        out: &mut LoopClient<'_>,
    ) -> (Option<Time>, Jobs) {
        let Some(at) = self.pressed.iter().position(|p| p.node == node) else {
            return (None, Vec::new());
        };
        if self.silent.iter().any(|s| s.node == node) {
            return (Some(now.after(LOOK_AGAIN_US)), Vec::new());
        }
        let Some(object) = out
            .server
            .get(&ObjectRef::new(Kind::Node, "", node))
            .cloned()
        else {
            self.pressed.remove(at);
            return (None, Vec::new());
        };
        let pressure = &mut self.pressed[at];
        if let Some(since) = pressure.relieved {
            if now < since.after(TRANSITION_US) {
                return (Some(since.after(TRANSITION_US)), Vec::new());
            }
            self.pressed.remove(at);
            say(&object, false, out);
            return (None, Vec::new());
        }
        say(&object, true, out);
        let victim = first_to_go(node, &self.loads, out);
        let available = (THRESHOLD_BYTES - pressure.missing).max(0);
        pressure.missing -= victim.as_ref().map_or(pressure.missing, |(_, used)| *used);
        if pressure.missing <= 0 {
            pressure.relieved = Some(now);
        }
        let Some((pod, used)) = victim else {
            return (Some(now.after(TRANSITION_US)), Vec::new());
        };
        let message = message(pod.body(), used, available);
        out.event(&pod, "Warning", "Evicted", message.clone());
        for status in pod
            .body::<Pod>()
            .status
            .container_statuses
            .iter()
            .filter(|s| s.state.running.is_some())
        {
            let field = format_smolstr!("spec.containers{{{}}}", status.name);
            out.event_at(
                &pod,
                &field,
                "Normal",
                "Killing",
                format_smolstr!("Stopping container {}", status.name),
            );
        }
        if let Some(course) = self.course_mut(pod.meta.uid) {
            course.evicted = Some(message);
        }
        let job = PodJob {
            uid: pod.meta.uid,
            step: PodStep::Evicted,
            cause: out.origin.cause,
        };
        (
            Some(now.after(LOOK_AGAIN_US)),
            vec![(now.after(self.timing.pod_stop.min(GRACE_US)), job)],
        )
    }
}

/// Updates the node's MemoryPressure condition, if it differs.
fn say(object: &Rc<Object>, short: bool, out: &mut LoopClient<'_>) {
    let (kind, _, enough, told) = HEALTHY[0];
    let (status, reason, message) = match short {
        true => (
            "True",
            "KubeletHasInsufficientMemory",
            "kubelet has insufficient memory available",
        ),
        false => ("False", enough, told),
    };
    let node: &Node = object.body();
    if node
        .status
        .conditions
        .iter()
        .any(|c| c.kind == kind && c.status == status)
    {
        return;
    }
    if short {
        out.event(
            object,
            "Warning",
            "EvictionThresholdMet",
            "Attempting to reclaim memory",
        );
    }
    let wall = out.server.wall();
    // No other write can come between the read and this write.
    let _ = out.update_status(object, Why::NodeReport, |o| {
        let Body::Node(node) = &mut o.body else {
            return;
        };
        for condition in node.status.conditions.iter_mut().filter(|c| c.kind == kind) {
            (condition.status, condition.reason, condition.message) =
                (status.into(), reason.into(), message.into());
            (
                condition.last_transition_time,
                condition.last_heartbeat_time,
            ) = (Some(wall), Some(wall));
        }
    });
    let reason = if short {
        "NodeHasInsufficientMemory"
    } else {
        "NodeHasSufficientMemory"
    };
    out.event(
        object,
        "Normal",
        reason,
        format_smolstr!("Node {} status is now: {reason}", object.meta.name),
    );
}

/// Returns the Pod to evict first, and its memory usage.
fn first_to_go(node: &str, loads: &[Load], out: &LoopClient<'_>) -> Option<(Rc<Object>, i64)> {
    let here = out.server.list(Kind::Pod).filter(|o| {
        let mirror = o.meta.annotation("kubernetes.io/config.mirror").is_some();
        o.is_active_pod()
            && o.body::<Pod>().node_name == node
            && priority(o) < CRITICAL_PRIORITY
            && !mirror
    });
    let rank = |o: &Rc<Object>| {
        let pod: &Pod = o.body();
        let requested = pod.spec.requests.memory;
        let used = load::memory(loads, o, out.server).unwrap_or(if requested > 0 {
            requested
        } else {
            DEFAULT_USAGE_BYTES
        });
        (
            (
                used <= requested,
                priority(o),
                requested - used,
                o.meta.creation_timestamp,
            ),
            used,
        )
    };
    let (_, used, pod) = here
        .map(|o| (rank(o), o))
        .map(|((rank, used), o)| (rank, used, o))
        .min_by_key(|(rank, ..)| *rank)?;
    Some((pod.clone(), used))
}

fn message(pod: &Pod, used: i64, available: i64) -> Str {
    let mut text = format!(
        "The node was low on resource: memory. Threshold quantity: {}, available: {}. ",
        amount(THRESHOLD_BYTES),
        amount(available)
    );
    let each = used / pod.spec.containers.len().max(1) as i64;
    for container in pod.spec.containers.iter() {
        let request = container
            .resources
            .requests
            .get("memory")
            .map_or(0, k8s_model::quantity::units_of);
        if each > request {
            let larger = "has larger consumption of memory";
            text += &format!(
                "Container {} was using {}, request is {}, {larger}. ",
                container.name,
                amount(each),
                amount(request)
            );
        }
    }
    text.into()
}

/// Formats bytes as the kubelet does: in the largest unit without a fraction; anything smaller is cut to Ki.
fn amount(bytes: i64) -> String {
    match bytes {
        0 => "0".to_owned(),
        _ if bytes % (1024 * MI) == 0 => format!("{}Gi", bytes / MI / 1024),
        _ if bytes % MI == 0 => format!("{}Mi", bytes / MI),
        _ => format!("{}Ki", bytes / 1024),
    }
}

impl PodPass<'_, '_> {
    /// Handles an evicted Pod whose containers have been stopped.
    pub(super) fn evicted(&mut self) -> Jobs {
        let Some(message) = self
            .kubelets
            .course_mut(self.job.uid)
            .and_then(|course| course.evicted.take())
        else {
            return Vec::new();
        };
        let (wall, generation) = (self.out.server.wall(), self.object.meta.generation);
        self.write(Why::EvictedByNode, |pod| {
            for status in pod
                .status
                .container_statuses
                .iter_mut()
                .filter(|s| s.state.running.is_some())
            {
                status::terminate(status, 137, wall);
            }
            fail(pod, message.clone());
            status::set_conditions(pod, false, wall, generation);
            let target = PodCondition {
                message,
                ..PodCondition::disruption("TerminationByKubelet", "", wall, generation)
            };
            pod.status.set_condition(target);
        });
        Vec::new()
    }

    /// Rejects a BestEffort Pod without a toleration on a node under pressure; returns true if it was rejected.
    pub(super) fn is_turned_away(&mut self) -> bool {
        let pod = self.pod();
        let Some((_, node)) = self.node() else {
            return false;
        };
        let taint = node.spec.taints.iter().find(|taint| taint.key == TAINT);
        if pod.status.qos_class != "BestEffort"
            || taint.is_none_or(|taint| tolerates(&pod.spec.tolerations, taint))
        {
            return false;
        }
        let message = Str::new_static("The node had condition: [MemoryPressure]. ");
        let object = self.object.clone();
        self.out
            .event(&object, "Warning", "Evicted", message.clone());
        self.write(Why::EvictedByNode, |pod| fail(pod, message));
        true
    }
}

fn fail(pod: &mut Pod, message: Str) {
    pod.status.phase = "Failed".into();
    pod.status.reason = "Evicted".into();
    pod.status.message = message.into();
}
