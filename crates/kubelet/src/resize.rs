//! In-place resize of the CPU and memory of a running Pod's containers.
//!
//! Guarantees: a Pod keeps its resources until its node has room for the requested ones; a container restarts only if its
//! resize policy says so. Models `pkg/kubelet/allocation/allocation_manager.go` and `computePodResizeAction` of
//! `pkg/kubelet/kuberuntime/kuberuntime_manager.go`.

use super::containers::ContainerId;
use super::pod_worker::{Jobs, PodStep};
use super::termination::Kill;
use super::{PodSync, status};
use apiserver::why::Why;
use k8s_model::node::Node;
use k8s_model::pod::{PodCondition, PodSpec, Resources};
use k8s_model::time::SECOND;
use k8s_model::{Kind, ObjectRef, Str};
use serde_json::Value;
use smol_str::format_smolstr;
use std::rc::Rc;

/// Delay before a resize that the node has no room for is retried.
const RETRY_US: u64 = 10 * SECOND;
const PENDING: &str = "PodResizePending";

/// Returns requests and limits of a container.
fn resources(spec: &PodSpec, id: ContainerId) -> &Value {
    &id.raw(spec)["resources"]
}

/// Returns the reason why a node cannot allocate the requested resources: never, or not now.
fn refusal(wanted: Resources, used: Resources, all: Resources) -> Option<(&'static str, Str)> {
    let amounts = [
        ("cpu", wanted.cpu, used.cpu, all.cpu),
        ("memory", wanted.memory, used.memory, all.memory),
    ];
    if let Some((name, wanted, _, all)) =
        amounts.into_iter().find(|(_, wanted, _, all)| wanted > all)
    {
        let message = format_smolstr!(
            "Node didn't have enough capacity: {name}, requested: {wanted}, capacity: {all}"
        );
        return Some(("Infeasible", message));
    }
    let (name, wanted, used, all) = amounts
        .into_iter()
        .find(|(_, wanted, used, all)| wanted.saturating_add(*used) > *all)?;
    let message = format_smolstr!(
        "Node didn't have enough resource: {name}, requested: {wanted}, used: {used}, capacity: {all}"
    );
    Some(("Deferred", message))
}

impl PodSync<'_, '_> {
    /// Reports that the spec has been observed, and allocates the requested resources.
    pub(super) fn resize(&mut self) -> Jobs {
        let pod = self.pod();
        let (spec, allocated) = (pod.spec.clone(), self.worker.allocated.clone());
        let changed: Vec<ContainerId> = ContainerId::all(&spec)
            .filter(|id| resources(&spec, *id) != resources(&allocated, *id))
            .collect();
        if changed.is_empty() {
            self.write(Why::Observed, |_| {});
            return Jobs::new();
        }
        let (wall, generation) = (self.out.store().wall(), self.object.meta.generation);
        if let Some((reason, message)) = self.no_room(&spec) {
            self.write(Why::ResizePending { reason }, |pod| {
                pod.status.set_condition(PodCondition {
                    kind: Str::new_static(PENDING),
                    status: Str::new_static("True"),
                    reason: Str::new_static(reason),
                    message,
                    last_transition_time: Some(wall),
                    observed_generation: generation,
                    ..Default::default()
                });
            });
            return vec![self.then(RETRY_US, PodStep::SpecChanged)];
        }
        self.worker_mut().allocated = spec.clone();
        self.write(Why::Resized, |pod| {
            pod.status
                .conditions
                .retain(|condition| condition.kind != PENDING);
            for id in &changed {
                let amounts = resources(&spec, *id);
                if let Some(status) = id.status_mut(pod) {
                    status.allocated_resources = Some(Rc::new(amounts["requests"].clone()));
                    status.resources = Some(Rc::new(amounts.clone()));
                }
            }
            status::set_conditions(pod, !pod.status.pod_ip.is_empty(), wall, generation);
        });
        let restarts = |id: &ContainerId| {
            let (new, old) = (resources(&spec, *id), resources(&allocated, *id));
            let policies = id.raw(&spec)["resizePolicy"]
                .as_array()
                .into_iter()
                .flatten();
            policies
                .filter(|policy| policy["restartPolicy"] == "RestartContainer")
                .any(|policy| {
                    let name = policy["resourceName"].as_str().unwrap_or("");
                    ["requests", "limits"]
                        .iter()
                        .any(|amounts| new[amounts][name] != old[amounts][name])
                })
        };
        let mut jobs = Jobs::new();
        for id in changed.into_iter().filter(restarts) {
            let kill = Kill {
                message: "Container {} resize requires restart",
                probe: None,
                at_once: false,
            };
            jobs.extend(self.kill_container(id, kill));
        }
        jobs
    }

    /// Returns the reason why the node has no room for the Pod with these resources.
    fn no_room(&self, spec: &PodSpec) -> Option<(&'static str, Str)> {
        let name = &self.pod().node_name;
        let node = self
            .out
            .store()
            .get(&ObjectRef::new(Kind::Node, "", name))?;
        let runs = |other: &ObjectRef| {
            self.out
                .store()
                .get(other)
                .and_then(|o| o.pod())
                .is_some_and(|pod| !pod.is_terminal())
        };
        let others = self.kubelets.workers.values();
        let used = others
            .filter(|other| other.node == *name && runs(&other.pod))
            .fold(Resources::default(), |sum, other| {
                sum.plus(other.allocated.requests)
            });
        refusal(spec.requests, used, node.body::<Node>().allocatable())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_gives_what_it_has() {
        let of = |cpu, memory| Resources {
            cpu,
            memory,
            ephemeral: 0,
        };
        let reason = |wanted, used| refusal(wanted, used, of(4000, 100)).map(|(reason, _)| reason);
        assert_eq!(reason(of(1000, 10), of(3000, 90)), None);
        assert_eq!(reason(of(1001, 10), of(3000, 90)), Some("Deferred"));
        assert_eq!(reason(of(100, 101), of(0, 0)), Some("Infeasible"));
    }
}
