use apiserver::journal::Entry;
use explain::replaced::*;
use k8s_model::{Kind, ObjectRef};
use session::State;
use session::console::ConsoleMsg;
use session::examples;
use session::timeline::TimelineMsg;

fn enter(state: &mut State, line: &str, seconds: i64) {
    state.update(ConsoleMsg::Enter(line.into()));
    state.update(TimelineMsg::Seconds(seconds));
}

fn pods(state: &State) -> Vec<ObjectRef> {
    state
        .timeline
        .run
        .sim()
        .store()
        .list(Kind::Pod)
        .filter(|pod| pod.is_active_pod())
        .map(|pod| pod.key())
        .collect()
}

fn of(state: &State, key: &ObjectRef) -> Replaced {
    replaced(state.timeline.run.journal(), key)
}

/// Pairs of replaced Pods and their replacements, with the actors on either side: both sides must agree.
fn pairs(state: &State, gone: &[ObjectRef]) -> Vec<[String; 4]> {
    let pair = |old: &ObjectRef| {
        let by = of(state, old)
            .by
            .unwrap_or_else(|| panic!("nothing replaced {old}"));
        let back = of(state, &by.pod)
            .of
            .unwrap_or_else(|| panic!("{} replaced nothing", by.pod));
        assert!(back.pod == *old && back.at <= by.at, "{back:?} {by:?}");
        [
            old.name.to_string(),
            by.pod.name.to_string(),
            back.actor.english(),
            by.actor.english(),
        ]
    };
    gone.iter().map(pair).collect()
}

fn yaml(kind: &str, spec: &str) -> String {
    let group = if kind == "Job" { "batch" } else { "apps" };
    format!(
        "apiVersion: {group}/v1\nkind: {kind}\nmetadata: {{name: w}}\nspec:\n  {spec}\n  template:\n    metadata: {{labels: {{a: b}}}}\n    \
         spec:\n      containers: [{{name: c, image: i}}]\n"
    )
}

#[test]
fn a_pod_of_a_replica_set_names_the_one_whose_place_it_took() {
    let mut state = State::new((examples::ALL[0].text)(), 1);
    state.update(TimelineMsg::Seconds(20));
    let first = pods(&state);
    // The first Pods replaced nothing, and neither do Pods created by scaling.
    enter(
        &mut state,
        "kubectl scale deployment/nginx-deployment --replicas=4",
        20,
    );
    assert!(
        pods(&state)
            .iter()
            .all(|key| of(&state, key) == Replaced::default())
    );
    for key in &first {
        enter(
            &mut state,
            &format!("kubectl delete pod {} --wait=false", key.name),
            20,
        );
    }
    let told = pairs(&state, &first);
    assert!(
        told.iter()
            .all(|pair| pair[2] == "user" && pair[3] == "replicaset-controller"),
        "{told:?}"
    );
    assert_ne!(told[0][1], told[1][1]);
    // Both at once: each has its own replacement.
    let second: Vec<ObjectRef> = pods(&state);
    enter(
        &mut state,
        &format!(
            "kubectl delete pod {} {} --wait=false",
            second[0].name, second[1].name
        ),
        20,
    );
    let told = pairs(&state, &second[..2]);
    assert_ne!(told[0][1], told[1][1], "{told:?}");
    // A surplus Pod is not replaced, whatever is created later.
    let before = pods(&state);
    enter(
        &mut state,
        "kubectl scale deployment/nginx-deployment --replicas=2",
        20,
    );
    let after = pods(&state);
    enter(
        &mut state,
        "kubectl scale deployment/nginx-deployment --replicas=4",
        20,
    );
    for key in before.iter().filter(|key| !after.contains(key)) {
        assert_eq!(of(&state, key).by, None);
    }
    assert!(
        pods(&state)
            .iter()
            .filter(|key| !after.contains(key))
            .all(|key| of(&state, key).of.is_none())
    );
}

#[test]
fn an_ordinal_a_node_and_an_index_are_taken_again() {
    let mut state = State::new((examples::ALL[2].text)(), 1);
    state.update(TimelineMsg::Seconds(60));
    enter(&mut state, "kubectl delete pod web-0 --wait=false", 60);
    let web = of(&state, &ObjectRef::new(Kind::Pod, "default", "web-0"));
    let before = web.of.expect("it took the place of the one before");
    assert_eq!(
        (
            before.pod.name.as_str(),
            before.actor.english().as_str(),
            web.by
        ),
        ("web-0", "user", None)
    );
    assert_eq!(
        of(&state, &ObjectRef::new(Kind::Pod, "default", "web-1")),
        Replaced::default()
    );

    let mut state = State::new(&yaml("DaemonSet", "selector: {matchLabels: {a: b}}"), 1);
    state.update(TimelineMsg::Seconds(20));
    let gone = pods(&state);
    enter(&mut state, "kubectl delete pod --all --wait=false", 60);
    let told = pairs(&state, &gone);
    assert_eq!(
        (told.len(), told[0][3].as_str()),
        (3, "daemonset-controller")
    );
    let node = |state: &State, name: &str| {
        let journal = state.timeline.run.journal();
        let found = journal
            .iter()
            .rev()
            .filter_map(Entry::write)
            .find(|(_, object)| object.meta.name == *name);
        found.and_then(|(_, object)| object.pod().map(|pod| pod.node_name.to_string()))
    };
    assert!(
        told.iter()
            .all(|pair| node(&state, &pair[0]) == node(&state, &pair[1])),
        "{told:?}"
    );
}

#[test]
fn a_job_retries_with_a_pod_that_names_the_one_that_failed() {
    let job = yaml("Job", "backoffLimit: 3")
        .replace(
            "image: i}",
            "image: busybox, command: [sh, -c, \"exit 1\"]}",
        )
        .replace(
            "spec:\n      con",
            "spec:\n      restartPolicy: Never\n      con",
        );
    let mut state = State::new(&job, 1);
    state.update(TimelineMsg::Seconds(25));
    let all: Vec<ObjectRef> = {
        let mut all: Vec<_> = state.timeline.run.sim().store().list(Kind::Pod).collect();
        all.sort_by_key(|pod| pod.meta.resource_version);
        all.sort_by_key(|pod| pod.meta.creation_timestamp);
        all.into_iter().map(|pod| pod.key()).collect()
    };
    assert!(all.len() > 1, "{all:?}");
    let told = pairs(&state, &all[..1]);
    assert_eq!(
        (told[0][1].as_str(), told[0][3].as_str()),
        (all[1].name.as_str(), "job-controller")
    );
    assert!(told[0][2].starts_with("kubelet "), "{told:?}");
}
