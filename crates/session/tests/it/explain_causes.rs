use apiserver::Why;
use apiserver::journal::{Entry, EntryId, Op};
use explain::causes::*;
use session::State;
use session::console::ConsoleMsg;
use session::examples;
use session::timeline::TimelineMsg;

#[test]
fn a_pod_of_a_statefulset_follows_from_the_removal_of_the_one_before() {
    let mut state = State::new((examples::ALL[2].text)(), 1);
    state.update(TimelineMsg::Seconds(60));
    state.update(ConsoleMsg::Enter(
        "kubectl delete pod web-0 --wait=false".into(),
    ));
    state.update(TimelineMsg::Seconds(60));
    let journal = state.timeline.run.journal();
    let made = |name: &str| {
        let at = journal.iter().rposition(|e| {
            matches!(e.why, Why::MissingOrdinal { .. })
                && e.key().is_some_and(|key| key.name == name)
        });
        let cause =
            cause(journal, at.expect("it was made") as EntryId, &mut 5_000).expect("a cause");
        let (op, object) = journal
            .get(cause as usize)
            .and_then(Entry::write)
            .expect("a write");
        (
            op,
            object.meta.name.to_string(),
            object.pod().is_some_and(|pod| pod.is_ready()),
        )
    };
    assert_eq!(made("web-0").0, Op::Deleted);
    assert_eq!(made("web-0").1, "web-0");
    assert_eq!(made("web-1"), (Op::Modified, "web-0".into(), true));
}

#[test]
fn a_scaling_follows_from_the_pod_that_sends_requests() {
    let mut state = State::new((examples::ALL[8].text)(), 1);
    for command in [
        "kubectl expose deployment shop --port=80",
        "kubectl run other --image=busybox -- sh -c 'while true; do curl none; done'",
        "kubectl run load --image=busybox -- sh -c 'while sleep 0.01; do curl shop; done'",
    ] {
        state.update(TimelineMsg::Seconds(10));
        state.update(ConsoleMsg::Enter(command.into()));
    }
    state.update(TimelineMsg::Seconds(60));
    state.update(ConsoleMsg::Enter("kubectl delete pod load".into()));
    state.update(TimelineMsg::Seconds(400));
    let journal = state.timeline.run.journal();
    let causes: Vec<_> = journal
        .iter()
        .enumerate()
        .filter(|(_, entry)| matches!(entry.why, Why::Autoscaled { .. }))
        .map(|(at, _)| {
            let cause = cause(journal, at as EntryId, &mut 50_000).expect("a cause");
            let (op, object) = journal
                .get(cause as usize)
                .and_then(Entry::write)
                .expect("a write");
            (cause, op, object.meta.name.to_string())
        })
        .collect();
    let [first, .., last] = &causes[..] else {
        panic!("{causes:?}");
    };
    assert!(first.1 == Op::Modified && first.2 == "load", "{causes:?}");
    // Its end, after the last increase.
    assert!(last.0 > first.0 && last.2 == "load", "{causes:?}");
}
