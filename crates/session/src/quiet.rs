//! Detection of a settled cluster.

use cluster::Sim;
use controllers::{CLAIM_RESYNC_SECONDS, SCALER_PERIOD_SECONDS};
use explain::diagnose::is_looked_at_again;
use explain::scaler;
use k8s_model::time::SECOND;
use k8s_model::{Body, Kind, Object, Time};
use std::rc::Rc;

/// Time without a change after which the cluster counts as settled, in microseconds.
pub const QUIET_US: u64 = 3 * SECOND;

/// Journal entries searched for the last command.
const SCANNED_ENTRIES: usize = 2_000;

/// Time from which the cluster counts as settled if nothing changes before. It is later while ready Pods have to stay so
/// (`minReadySeconds`), and while a claim's class was created after the volume binder's last pass.
pub fn quiet_from(sim: &Sim) -> Time {
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
    let scalers = || sim.each(Kind::HorizontalPodAutoscaler);
    // The autoscaler may react to each change once, and its metrics may have changed without a write.
    let evaluated = scalers()
        .next()
        .map(|_| last_command(sim).unwrap_or_default().max(sim.last_change()));
    let evaluated = evaluated.map(|at| at.after(SCALER_PERIOD_SECONDS * SECOND).after(QUIET_US));
    let held =
        |scaler: &Rc<Object>| scaler::stabilizes(scaler).max(scaler::held_by_policies(scaler));
    let held = scalers()
        .filter_map(held)
        .max()
        .and_then(|seconds| u64::try_from(seconds).ok());
    let kinds = [Kind::StatefulSet, Kind::ReplicaSet, Kind::DaemonSet];
    let longest = kinds
        .into_iter()
        .flat_map(|kind| sim.each(kind))
        .map(waits)
        .max()
        .unwrap_or(0);
    let looks = if sim
        .each(Kind::PersistentVolumeClaim)
        .any(|claim| is_looked_at_again(sim, claim))
    {
        CLAIM_RESYNC_SECONDS
    } else {
        0
    };
    let longest = longest.max(looks).max(held.unwrap_or(0));
    quiet
        .after(longest.saturating_mul(SECOND))
        .max(evaluated.unwrap_or_default())
}

/// Time of the last command, if it is in the newest part of the journal.
fn last_command(sim: &Sim) -> Option<Time> {
    let entries = sim.journal().iter().rev().take(SCANNED_ENTRIES);
    entries
        .filter(|entry| entry.is_command())
        .map(|entry| entry.time)
        .next()
}

#[cfg(test)]
mod tests {
    use super::quiet_from;
    use crate::State;
    use crate::console::ConsoleMsg;
    use crate::tests::ready;
    use crate::timeline::TimelineMsg;
    use k8s_model::storage::PersistentVolumeClaim;
    use k8s_model::{Kind, ObjectRef};

    #[test]
    fn a_claim_is_waited_for_whose_class_came_after_the_last_look() {
        let text = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {accessModes: [ReadWriteOnce], \
            storageClassName: fast, resources: {requests: {storage: 1Gi}}}\n";
        let class = "cat <<'E' | kubectl apply -f -\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: fast}\nprovisioner: loopscope.dev/provisioner\nE";
        let mut state = State::new(text, 1);
        state.update(TimelineMsg::Seconds(20));
        let now = |state: &State| {
            (
                quiet_from(state.timeline.run.sim()),
                state.timeline.run.sim().now(),
            )
        };
        let (quiet, at) = now(&state);
        assert!(quiet < at, "without its class nothing is to come");
        state.update(ConsoleMsg::Enter(class.into()));
        state.update(TimelineMsg::Seconds(5));
        let (quiet, at) = now(&state);
        assert!(quiet > at);
        let key = ObjectRef::new(Kind::PersistentVolumeClaim, "default", "data");
        let told = explain::standing::of(state.timeline.run.sim(), &key)
            .sentence
            .to_string();
        assert!(told.contains("claims are rechecked every 15 s"), "{told}");
        state.update(TimelineMsg::Seconds(20));
        let (quiet, at) = now(&state);
        let claim = state
            .timeline
            .run
            .get(&key)
            .expect("the claim")
            .get::<PersistentVolumeClaim>()
            .expect("a claim")
            .clone();
        assert_eq!(
            (claim.status.phase.to_string(), quiet < at),
            ("Bound".into(), true)
        );
    }

    /// Returns the number of Pods and the autoscaler's message once the cluster is stable under a load.
    fn under_load(state: &mut State, load: &str) -> (usize, String) {
        state.update(crate::Msg::Fault(
            format!("cpu-load app=shop {load}").parse().unwrap(),
        ));
        state.update(TimelineMsg::Settle);
        while state.timeline.run_until.is_some() {
            state.run_slice(5_000);
        }
        let key = ObjectRef::new(Kind::HorizontalPodAutoscaler, "default", "shop");
        let told = explain::standing::of(state.timeline.run.sim(), &key)
            .sentence
            .to_string();
        (state.timeline.run.sim().list(Kind::Pod).count(), told)
    }

    #[test]
    fn an_autoscaler_is_waited_for_until_it_has_reacted_also_through_its_stabilization_window() {
        let mut state = State::new((crate::examples::ALL[8].text)(), 1);
        state.update(TimelineMsg::Seconds(40));
        let limited = "Last measured: 8 Pods, cpu at 65 % (target 50 %): it would need more than maxReplicas (8)";
        assert_eq!(under_load(&mut state, "1050m"), (8, limited.into()));
        assert_eq!(
            under_load(&mut state, "0"),
            (1, "Last measured: 1 Pod, cpu at 0 % (target 50 %)".into())
        );
    }

    #[test]
    fn an_autoscaler_is_waited_for_that_its_own_policies_hold_back() {
        let slow =
            "  behavior: {scaleUp: {policies: [{type: Pods, value: 1, periodSeconds: 120}]}}\n";
        let mut state = State::new(&format!("{}{slow}", (crate::examples::ALL[8].text)()), 1);
        state.update(TimelineMsg::Seconds(40));
        assert_eq!(under_load(&mut state, "500m").0, 5);
    }

    #[test]
    fn pods_that_must_stay_ready_for_a_while_are_waited_for() {
        let text = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec:\n  serviceName: db\n  replicas: 3\n  minReadySeconds: 10\n  \
            selector: {matchLabels: {app: db}}\n  template:\n    metadata: {labels: {app: db}}\n    spec: {containers: [{name: c, image: nginx}]}\n";
        let mut state = State::new(text, 1);
        state.update(TimelineMsg::Seconds(8));
        let sim = state.timeline.run.sim();
        assert!(ready(&state.timeline.run) == 1 && quiet_from(sim) > sim.now());
        state.update(TimelineMsg::Seconds(60));
        let sim = state.timeline.run.sim();
        assert!(ready(&state.timeline.run) == 3 && quiet_from(sim) < sim.now());
    }
}
