//! Refusals of Pods that do not exist yet.

use crate::Sim;
use apiserver::journal::Actor;
use apiserver::why::Why;
use apiserver::{ApiError, ApiServer, Origin};
use k8s_model::{Object, Str};
use scheduler::unschedulable::UnschedulableReason;

/// Returns the reasons of each node to reject the Pods of a DaemonSet.
pub fn daemon_refusals(sim: &Sim, set: &Object) -> Vec<(Str, Vec<UnschedulableReason>)> {
    let is_about_node = |refuses: &UnschedulableReason| {
        matches!(
            refuses,
            UnschedulableReason::NodeName
                | UnschedulableReason::UntoleratedTaint { .. }
                | UnschedulableReason::NodeSelector { .. }
                | UnschedulableReason::NodeAffinity
        )
    };
    let cache = &sim.informers.scheduler.cache;
    let mut nodes = controllers::daemon_pod(set)
        .map(|pod| sim.scheduler.explain(&pod, cache, usize::MAX))
        .unwrap_or_default();
    for (_, refusals) in &mut nodes {
        refusals.retain(is_about_node);
    }
    nodes
}

/// Returns the API server's refusal of a workload's Pod at this instant, found by creating one on a copy.
pub fn pod_refusal(server: &ApiServer, workload: &Object) -> Option<ApiError> {
    let pod = workload.new_pod(workload.pod_template()?);
    let origin = Origin::new(Actor::SERVER, None, 0);
    server.clone().create(&origin, pod, Why::Asked).err()
}
