use k8s_model::Kind;
use projection::changes::*;
use session::State;
use session::console::ConsoleMsg;
use session::examples;
use session::timeline::TimelineMsg;

fn show(change: &Change) -> String {
    let fields: Vec<String> = change
        .fields
        .iter()
        .map(|field| {
            let (from, to) = field.shown();
            format!(
                "{} {}→{}",
                field.path,
                from.as_deref().unwrap_or("-"),
                to.as_deref().unwrap_or("-")
            )
        })
        .collect();
    format!(
        "{:?} {} {}: {}",
        change.op,
        change.key.kind.name(),
        change.key.name,
        fields.join(", ")
    )
}

#[test]
fn a_comparison_lists_added_removed_and_changed_objects() {
    let mut state = State::new((examples::ALL[0].text)(), 1);
    state.update(TimelineMsg::Seconds(10));
    let before = state.timeline.run.objects();
    assert_eq!(between(&before, &state.timeline.run.objects(), 9), []);
    state.update(ConsoleMsg::Enter(
        "kubectl scale deployment nginx-deployment --replicas=1".into(),
    ));
    state.update(ConsoleMsg::Enter(
        "kubectl create configmap colours --from-literal=a=b".into(),
    ));
    state.update(TimelineMsg::Seconds(60));
    let all: Vec<String> = between(&before, &state.timeline.run.objects(), 99)
        .iter()
        .map(show)
        .collect();
    assert!(
        all.iter()
            .any(|one| one.starts_with("Added ConfigMap colours")),
        "{all:#?}"
    );
    assert!(
        all.iter()
            .any(|one| one.starts_with("Deleted Pod nginx-deployment-")),
        "{all:#?}"
    );
    let deployment = all
        .iter()
        .find(|one| one.contains("Deployment nginx-deployment:"))
        .expect("the Deployment changed");
    assert!(
        deployment.contains("spec.replicas 2→1") && deployment.contains("status.readyReplicas 2→1"),
        "{deployment}"
    );
    assert!(!deployment.contains("resourceVersion"), "{deployment}");
    // The person's change comes first, its consequences last.
    assert!(
        all[0].contains("Deployment nginx-deployment")
            && all.last().is_some_and(|one| one.contains(" Pod ")),
        "{all:#?}"
    );
}

#[test]
fn technical_fields_come_last() {
    let mut state = State::new((examples::ALL[2].text)(), 1);
    let before = state.timeline.run.objects();
    state.update(TimelineMsg::Seconds(100));
    let kinds: Vec<Kind> = between(&before, &state.timeline.run.objects(), 99)
        .iter()
        .map(|change| change.key.kind)
        .collect();
    let at = |kind: Kind| {
        kinds
            .iter()
            .position(|of| *of == kind)
            .unwrap_or_else(|| panic!("{kind:?} in {kinds:?}"))
    };
    assert!(
        at(Kind::StatefulSet) < at(Kind::Pod) && at(Kind::Pod) < at(Kind::ControllerRevision),
        "{kinds:?}"
    );
}
