//! Node-pressure eviction: a kubelet short of memory reports it and evicts Pods until enough is free again.
//!
//! Guarantees: Pods that use more than they request are evicted first, by priority, then by the amount above their request; one at a
//! time; critical Pods stay. The condition ends five minutes after enough memory is free.
//! Models `pkg/kubelet/eviction/{eviction_manager,helpers}.go`.

use super::containers::ContainerId;
use super::pod_worker::{Jobs, PodJob, PodStep};
use super::{Kubelets, PodSync, status};
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
use std::collections::BTreeMap;
use std::rc::Rc;

/// Interval of the checks under pressure.
const MONITORING_INTERVAL_US: u64 = 10 * SECOND;
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

/// Eviction managers of the nodes under memory pressure.
#[derive(Clone, Debug, Default)]
pub(super) struct EvictionManager {
    pressures: BTreeMap<Str, Pressure>,
}

/// Memory pressure on a node.
#[derive(Clone, Debug)]
struct Pressure {
    /// Bytes still to be reclaimed from Pods.
    missing: i64,
    /// Time at which the pressure ended.
    relieved: Option<Time>,
}

impl Pressure {
    fn available(&self) -> i64 {
        (THRESHOLD_BYTES - self.missing).max(0)
    }

    /// Counts memory reclaimed by an eviction; `None` if no Pod can be evicted, which ends the pressure.
    fn reclaim(&mut self, reclaimed: Option<i64>, now: Time) {
        self.missing -= reclaimed.unwrap_or(self.missing);
        if self.missing <= 0 {
            self.relieved = Some(now);
        }
    }
}

impl EvictionManager {
    fn set_pressure(&mut self, node: &str, missing: i64, now: Time) {
        if missing != 0 {
            let relieved = None;
            let pressure = Pressure { missing, relieved };
            self.pressures.insert(node.into(), pressure);
        } else if let Some(pressure) = self.pressures.get_mut(node)
            && pressure.relieved.is_none()
        {
            pressure.reclaim(None, now);
        }
    }
}

impl Kubelets {
    /// Simulates a process outside the Pods that takes so much memory that `missing` bytes are lacking; 0 ends that.
    pub fn set_memory_pressure(&mut self, node: &str, missing: i64, now: Time) {
        self.eviction.set_pressure(node, missing, now);
    }

    /// Runs the next step of a node's eviction manager; returns the time of the next one, and the jobs for its Pods.
    pub fn synchronize_eviction(
        &mut self,
        node: &str,
        now: Time,
        out: &mut LoopClient<'_>,
    ) -> (Option<Time>, Jobs) {
        let pressures = &mut self.eviction.pressures;
        let Some(pressure) = pressures.get_mut(node) else {
            return (None, Vec::new());
        };
        let next_check = Some(now.after(MONITORING_INTERVAL_US));
        if self.outages.iter().any(|outage| outage.node == node) {
            return (next_check, Vec::new());
        }
        let key = ObjectRef::new(Kind::Node, "", node);
        let Some(object) = out.store().get(&key).cloned() else {
            pressures.remove(node);
            return (None, Vec::new());
        };
        match pressure.relieved.map(|since| since.after(TRANSITION_US)) {
            Some(end) if now < end => return (Some(end), Vec::new()),
            Some(_) => {
                pressures.remove(node);
                update_condition(&object, false, out);
                return (None, Vec::new());
            }
            None => update_condition(&object, true, out),
        }
        let victim = first_to_evict(node, &self.loads.set, out);
        let available = pressure.available();
        pressure.reclaim(victim.as_ref().map(|(_, used)| *used), now);
        let Some((object, used)) = victim else {
            return (Some(now.after(TRANSITION_US)), Vec::new());
        };
        let message = message(object.body(), used, available);
        out.event(&object, "Warning", "Evicted", message.clone());
        let pod = object.body::<Pod>();
        for id in ContainerId::regular(&pod.spec).filter(|id| id.is_running(pod)) {
            let name = id.container(&pod.spec).map_or("", |one| &one.name);
            let stopping = format_smolstr!("Stopping container {name}");
            out.event_at(&object, &id.field_path(name), "Normal", "Killing", stopping);
        }
        if let Some(worker) = self.workers.get_mut(&object.meta.uid) {
            Rc::make_mut(worker).eviction = Some(message);
        }
        let job = PodJob {
            uid: object.meta.uid,
            step: PodStep::Evicted,
            cause: out.origin.cause,
        };
        let end = now.after(self.timing.pod_stop.min(GRACE_US));
        (next_check, vec![(end, job)])
    }
}

/// Updates the node's MemoryPressure condition, if it differs.
fn update_condition(object: &Rc<Object>, short: bool, out: &mut LoopClient<'_>) {
    let (kind, _, healthy_reason, healthy_message) = HEALTHY[0];
    let (status, reason, message) = match short {
        true => (
            "True",
            "KubeletHasInsufficientMemory",
            "kubelet has insufficient memory available",
        ),
        false => ("False", healthy_reason, healthy_message),
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
    let wall = out.store().wall();
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
fn first_to_evict(node: &str, loads: &[Load], out: &LoopClient<'_>) -> Option<(Rc<Object>, i64)> {
    let here = out.store().list(Kind::Pod).filter(|o| {
        let mirror = o.meta.annotation("kubernetes.io/config.mirror").is_some();
        o.is_active_pod()
            && o.body::<Pod>().node_name == node
            && priority(o) < CRITICAL_PRIORITY
            && !mirror
    });
    let rank = |o: &Rc<Object>| {
        let pod: &Pod = o.body();
        let requested = pod.spec.requests.memory;
        let used = load::memory(loads, o, out.store()).unwrap_or(if requested > 0 {
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

impl PodSync<'_, '_> {
    /// Handles an evicted Pod whose containers have been stopped.
    pub(super) fn evicted(&mut self) -> Jobs {
        let Some(message) = self.worker_mut().eviction.take() else {
            return Vec::new();
        };
        let (wall, generation) = (self.out.store().wall(), self.object.meta.generation);
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
    pub(super) fn is_rejected(&mut self) -> bool {
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
