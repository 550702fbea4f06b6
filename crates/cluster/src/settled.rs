//! Detection of a settled cluster: the rule of the page, of scenarios, of lessons and of the server.

use crate::Sim;
use controllers::autoscaler_conditions::{held_by_policies, stabilizes};
use controllers::{CLAIM_RESYNC_SECONDS, SCALER_PERIOD_SECONDS};
use k8s_model::storage::{PersistentVolumeClaim, SELECTED_NODE, STORAGE_PROVISIONER, StorageClass};
use k8s_model::time::SECOND;
use k8s_model::{Body, Kind, Object, ObjectRef, Time};
use std::rc::Rc;

/// The simulated provisioner.
const PROVISIONER: &str = "loopscope.dev/provisioner";

/// Longest wait of a scenario for a settled cluster, in microseconds.
pub const LONGEST_WAIT_US: u64 = 90 * SECOND;

/// Time without a change after which the cluster counts as settled, in microseconds.
pub const QUIET_US: u64 = 3 * SECOND;

/// Time within which a container that is known to become ready or to complete is waited for, in microseconds.
const LONGEST_PROGRESS_US: u64 = 300 * SECOND;

/// Journal entries searched for the last command.
const SCANNED_ENTRIES: usize = 2_000;

/// Time from which the cluster counts as settled if nothing changes before. It is later while ready Pods have to stay so
/// (`minReadySeconds`), while a claim's class was created after the volume binder's last pass, and while a container is known to become
/// ready or to complete within [`LONGEST_PROGRESS_US`].
pub fn settles_at(sim: &Sim) -> Time {
    let quiet = sim.last_change().after(QUIET_US);
    if sim.now() < quiet {
        return quiet;
    }
    let waits = |object: &Rc<Object>| {
        let (seconds, ready, available) = match &object.body {
            Body::StatefulSet(body) => (
                body.spec.min_ready_seconds,
                body.status.ready_replicas,
                body.status.available_replicas,
            ),
            Body::ReplicaSet(body) => (
                body.spec.min_ready_seconds,
                body.status.ready_replicas,
                body.status.available_replicas,
            ),
            Body::DaemonSet(body) => (
                body.spec.min_ready_seconds,
                body.status.number_ready,
                body.status.number_available,
            ),
            _ => return 0,
        };
        if available < ready {
            u64::try_from(seconds).unwrap_or(0)
        } else {
            0
        }
    };
    let scalers = || sim.store().each(Kind::HorizontalPodAutoscaler);
    // The autoscaler may react to each change once, and its metrics may have changed without a write.
    let evaluated = scalers()
        .next()
        .map(|_| last_command(sim).unwrap_or_default().max(sim.last_change()));
    let evaluated = evaluated.map(|at| at.after(SCALER_PERIOD_SECONDS * SECOND).after(QUIET_US));
    let held = |scaler: &Rc<Object>| stabilizes(scaler).max(held_by_policies(scaler));
    let held = scalers()
        .filter_map(held)
        .max()
        .and_then(|seconds| u64::try_from(seconds).ok());
    let kinds = [Kind::StatefulSet, Kind::ReplicaSet, Kind::DaemonSet];
    let longest = kinds
        .into_iter()
        .flat_map(|kind| sim.store().each(kind))
        .map(waits)
        .max()
        .unwrap_or(0);
    let looks = if sim
        .store()
        .each(Kind::PersistentVolumeClaim)
        .any(|claim| is_looked_at_again(sim, claim))
    {
        CLAIM_RESYNC_SECONDS
    } else {
        0
    };
    let longest = longest.max(looks).max(held.unwrap_or(0));
    let progress = sim
        .tasks
        .kubelet_step(sim.now().after(LONGEST_PROGRESS_US), |job| {
            sim.kubelets.progresses(job, sim.store())
        });
    quiet
        .after(longest.saturating_mul(SECOND))
        .max(evaluated.unwrap_or_default())
        .max(progress.map_or_else(Time::default, |at| at.after(QUIET_US)))
}

/// Time of the last command, if it is in the newest part of the journal.
fn last_command(sim: &Sim) -> Option<Time> {
    let entries = sim.journal().iter().rev().take(SCANNED_ENTRIES);
    entries
        .filter(|entry| entry.is_command())
        .map(|entry| entry.time)
        .next()
}

/// Time until which a scenario's wait that began at an instant lasts, if nothing changes before: at least [`QUIET_US`], at most
/// [`LONGEST_WAIT_US`]. The recordings of real clusters waited like this: for quiet alone.
pub fn wait_ends_at(sim: &Sim, began: Time) -> Time {
    sim.last_change()
        .max(began)
        .after(QUIET_US)
        .min(began.after(LONGEST_WAIT_US))
}

/// Next instant to which a scenario's wait that began at an instant advances; `None` once the cluster has settled.
pub fn next_wait(sim: &Sim, began: Time) -> Option<Time> {
    let until = wait_ends_at(sim, began);
    (sim.now() < until).then(|| sim.tasks.next_due().map_or(until, |at| at.min(until)))
}

/// Returns true if a pending claim gets its volume at the binder's next look at all claims: each write of the claim wakes the binder, but
/// its class was created after the last one.
pub fn is_looked_at_again(sim: &Sim, object: &Object) -> bool {
    let Some(body) = object
        .get::<PersistentVolumeClaim>()
        .filter(|body| body.status.phase == "Pending")
    else {
        return false;
    };
    let Some(of) = sim
        .store()
        .get(&ObjectRef::new(Kind::StorageClass, "", body.class()))
    else {
        return false;
    };
    let makes = |class: &StorageClass| {
        class.provisioner == PROVISIONER
            && (!class.waits_for_first_consumer()
                || object.meta.annotation(SELECTED_NODE).is_some())
    };
    let waits = body.spec.volume_name.is_empty()
        && !object.meta.is_deleting()
        && object.meta.annotation(STORAGE_PROVISIONER).is_none();
    waits
        && of.meta.resource_version > object.meta.resource_version
        && of.get::<StorageClass>().is_some_and(makes)
}
