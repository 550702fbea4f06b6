use apiserver::journal::Op;
use explain::waits::PendingReason;
use k8s_model::{Kind, ObjectRef};
use session::Msg;
use session::State;
use session::console::ConsoleMsg;
use session::timeline::TimelineMsg;

#[test]
fn of_a_pod_that_leaves_its_deletion_is_told_apart_from_what_else_changes() {
    let text = "{apiVersion: v1, kind: Pod, metadata: {name: p, annotations: {loopscope.dev/stop-delay: '50'}}, spec: {terminationGracePeriodSeconds: 60, containers: [{name: c, image: i}]}}";
    let key = ObjectRef::new(Kind::Pod, "default", "p");
    for (deleted_first, told) in [(true, Op::Modified), (false, Op::Deleted)] {
        let mut state = State::new(text, 1);
        state.update(TimelineMsg::Seconds(5));
        if deleted_first {
            state.update(ConsoleMsg::Enter(
                "kubectl delete pod p --wait=false".into(),
            ));
            state.update(TimelineMsg::Seconds(5));
        }
        state.update(Msg::Fault("delay pod/p 60s".parse().unwrap()));
        state.update(ConsoleMsg::Enter(
            if deleted_first {
                "kubectl label pod p x=y"
            } else {
                "kubectl delete pod p --wait=false"
            }
            .into(),
        ));
        state.update(TimelineMsg::Seconds(1));
        let found = explain::diagnose::held_up::late(
            state.timeline.run.sim(),
            state
                .timeline
                .run
                .sim()
                .store()
                .get(&key)
                .expect("it leaves"),
        )
        .expect("an event is late");
        assert!(
            matches!(found.waits, PendingReason::OwnLate { told: is, .. } if is == told),
            "{:?}",
            found.waits
        );
    }
}
