//! In-place resize of the CPU and memory of a running Pod's containers.
//!
//! Guarantees: a Pod keeps its resources until its node has room for the requested ones; a container restarts only if its
//! resize policy says so. Models `pkg/kubelet/allocation/allocation_manager.go` and `computePodResizeAction` of
//! `pkg/kubelet/kuberuntime/kuberuntime_manager.go`.

use super::{Jobs, PodPass, PodStep, containers, status};
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
fn resources(spec: &PodSpec, list: &str, index: usize) -> Value {
    spec.raw[list][index]["resources"].clone()
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

impl PodPass<'_, '_> {
    /// Reports that the spec has been observed, and allocates the requested resources.
    pub(super) fn resize(&mut self) -> Jobs {
        let pod = self.pod();
        let (spec, had) = (
            pod.spec.clone(),
            self.kubelets
                .pods
                .get(&self.job.uid)
                .map_or_else(|| pod.spec.clone(), |r| r.allocated.clone()),
        );
        let changed: Vec<u32> = containers::all(pod)
            .filter(|i| {
                let (list, index) = containers::place(&spec, *i);
                resources(&spec, list, index) != resources(&had, list, index)
            })
            .collect();
        if changed.is_empty() {
            self.write(Why::Observed, |_| {});
            return Jobs::new();
        }
        let (wall, generation) = (self.out.server.wall(), self.object.meta.generation);
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
            return vec![self.then(RETRY_US, PodStep::Changed)];
        }
        if let Some(running) = self.kubelets.running(self.job.uid) {
            running.allocated = spec.clone();
        }
        self.write(Why::Resized, |pod| {
            pod.status
                .conditions
                .retain(|condition| condition.kind != PENDING);
            for i in &changed {
                let (list, index) = containers::place(&spec, *i);
                let amounts = resources(&spec, list, index);
                if let Some(status) = containers::status(pod, *i) {
                    status.allocated_resources = Some(Rc::new(amounts["requests"].clone()));
                    status.resources = Some(Rc::new(amounts));
                }
            }
            status::set_conditions(pod, !pod.status.pod_ip.is_empty(), wall, generation);
        });
        let restarts = |i: &u32| {
            let (list, index) = containers::place(&spec, *i);
            let (new, old) = (resources(&spec, list, index), resources(&had, list, index));
            let policies = spec.raw[list][index]["resizePolicy"]
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
        changed
            .into_iter()
            .filter(restarts)
            .flat_map(|i| {
                self.kill_container(i, "Container {} resize requires restart", None, false)
            })
            .collect()
    }

    /// Returns the reason why the node has no room for the Pod with these resources.
    fn no_room(&self, spec: &PodSpec) -> Option<(&'static str, Str)> {
        let name = &self.pod().node_name;
        let node = self.out.server.get(&ObjectRef::new(Kind::Node, "", name))?;
        let runs = |other: &ObjectRef| {
            self.out
                .server
                .get(other)
                .and_then(|o| o.pod())
                .is_some_and(|pod| !pod.is_terminal())
        };
        let others = self.kubelets.pods.iter().filter(|(uid, other)| {
            **uid != self.job.uid && other.node == *name && runs(&other.pod)
        });
        let used = others.fold(Resources::default(), |sum, (_, other)| {
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
