//! When a cluster has settled.

use crate::api::time::SECOND;
use crate::api::{Body, Kind, Object, Time};
use crate::engine::Sim;
use std::rc::Rc;

/// Time without a change after which the cluster counts as settled, in microseconds.
pub const QUIET_US: u64 = 3 * SECOND;

/// From when on a cluster counts as settled if nothing changes before. A workload whose Pods are ready but must stay so for a while
/// (`minReadySeconds`) goes on after that.
pub fn quiet_from(sim: &Sim) -> Time {
    let quiet = sim.last_change().after(QUIET_US);
    if sim.now() < quiet {
        return quiet;
    }
    let waits = |object: &Rc<Object>| {
        let (seconds, ready, available) = match &object.body {
            Body::StatefulSet(body) => (body.spec.min_ready_seconds, body.status.ready_replicas, body.status.available_replicas),
            Body::ReplicaSet(body) => (body.spec.min_ready_seconds, body.status.ready_replicas, body.status.available_replicas),
            Body::DaemonSet(body) => (body.spec.min_ready_seconds, body.status.number_ready, body.status.number_available),
            _ => return 0,
        };
        if available < ready { u64::try_from(seconds).unwrap_or(0) } else { 0 }
    };
    let kinds = [Kind::StatefulSet, Kind::ReplicaSet, Kind::DaemonSet];
    let longest = kinds.into_iter().flat_map(|kind| sim.each(kind)).map(waits).max().unwrap_or(0);
    quiet.after(longest.saturating_mul(SECOND))
}

#[cfg(test)]
mod tests {
    use super::quiet_from;
    use crate::session::State;
    use crate::session::tests::ready;
    use crate::session::timeline::TimelineMsg;

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
