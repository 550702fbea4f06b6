//! Contents of the panel of a pass.

use cluster::loops::named;
use cluster::slowed::is_held_up;
use explain::why::Row;
use i18n::msg;
use k8s_model::Kind;
use views::loops::model::{Pass, PassRequest, PassStep};
use views::loops::read::{ahead, read};

use session::Msg;
use session::State;
use session::console::ConsoleMsg;
use session::examples;
use session::timeline::TimelineMsg;
use std::collections::BTreeSet;

#[test]
fn a_pass_shows_its_key_its_number_and_its_changes() {
    let network = examples::ALL
        .iter()
        .find(|example| example.view == "network")
        .expect("an example with Services");
    let mut state = State::new((network.text)(), 1);
    state.update(TimelineMsg::Seconds(20));
    let shown = |name: &str| {
        read(state.timeline.run.sim(), named(name).as_ref())
            .pass
            .expect("a pass")
    };
    let slices = shown("endpointslice-controller");
    let services: Vec<String> = state
        .timeline
        .run
        .sim()
        .store()
        .list(Kind::Service)
        .map(|service| format!("default/{}", service.meta.name))
        .collect();
    assert!(
        services.contains(&slices.key),
        "{} {services:?}",
        slices.key
    );
    let passes: usize = slices
        .title
        .split(' ')
        .nth(2)
        .and_then(|n| n.parse().ok())
        .expect("a number");
    assert!((1..40).contains(&passes), "{}", slices.title);
    let set = shown("statefulset-controller");
    assert!(
        set.steps[1]
            .words()
            .iter()
            .any(|(_, value)| value.contains(" → ")),
        "{:?}",
        set.steps
    );
}

#[test]
fn a_slowed_pass_tells_how_far_it_is() {
    let mut state = State::new((examples::ALL[0].text)(), 1);
    state.update(TimelineMsg::Seconds(20));
    let part = |state: &State| {
        read(state.timeline.run.sim(), None)
            .loops
            .iter()
            .find(|one| one.actor.to_string() == "replicaset-controller")
            .and_then(|one| one.part)
    };
    assert_eq!(part(&state), None);
    state.update(ConsoleMsg::Enter(
        "fault slow replicaset-controller 10s".into(),
    ));
    state.update(ConsoleMsg::Enter(
        "kubectl scale deployment nginx-deployment --replicas=3".into(),
    ));
    let told: Vec<Option<u8>> = (0..12)
        .map(|_| {
            state.update(TimelineMsg::Seconds(1));
            part(&state)
        })
        .collect();
    // Each second a tenth, in whole steps of a twenty-fourth; then the next pass.
    let whole: Vec<u8> = told.iter().flatten().copied().take(9).collect();
    assert!(
        whole.is_sorted() && whole[0] <= 12 && (80..96).contains(&whole[8]),
        "{told:?}"
    );
    assert!(
        told[9..].iter().flatten().any(|part| *part < 20),
        "{told:?}"
    );
}

#[test]
fn a_written_slice_always_differs_and_says_how() {
    let network = examples::ALL
        .iter()
        .find(|example| example.view == "network")
        .expect("an example with Services");
    let mut state = State::new((network.text)(), 1);
    let mut told = BTreeSet::new();
    for step in 0..300 {
        if step == 150 {
            let pod = state
                .timeline
                .run
                .sim()
                .store()
                .list(Kind::Pod)
                .next()
                .expect("a Pod")
                .meta
                .name
                .to_string();
            state.update(ConsoleMsg::Enter(format!(
                "kubectl delete pod {pod} --wait=false"
            )));
        }
        state.update(TimelineMsg::Step);
        let pass = read(
            state.timeline.run.sim(),
            named("endpointslice-controller").as_ref(),
        )
        .pass
        .filter(|pass| !pass.steps.is_empty());
        let Some(pass) = pass else { continue };
        let differs = |(_, value): &Row| value.contains(" → ") || value.starts_with(['+', '−']);
        let rows = pass.steps[1].words();
        assert!(rows.iter().any(differs), "{:?}", pass.steps);
        told.extend(rows.iter().map(|(name, _)| name.to_string()));
    }
    assert!(
        told.contains("addresses") && told.contains("ready endpoints"),
        "{told:?}"
    );
}

#[test]
fn a_kubelet_says_what_it_found_and_executes_what_it_did() {
    let mut state = State::new(
        "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}",
        1,
    );
    state.update(TimelineMsg::Seconds(5));
    state.update(Msg::Fault("delay pod/p 10s".parse().unwrap()));
    state.update(ConsoleMsg::Enter(
        "kubectl delete pod p --wait=false".into(),
    ));
    state.update(TimelineMsg::Seconds(2));
    let pass = read(state.timeline.run.sim(), named("kubelet node-1").as_ref())
        .pass
        .expect("a pass");
    let rows: Vec<String> = pass.steps[0].words()[1..]
        .iter()
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    assert_eq!(
        rows,
        ["deletionTimestamp: set", "containers running: 0 of 1"]
    );
    let lit: Vec<(&str, &str)> = pass
        .code
        .iter()
        .filter(|line| line.lit)
        .map(|line| (line.text.trim(), line.value.as_str()))
        .collect();
    assert_eq!(lit, [("delete(pod, grace 0)", "delete Pod")]);
    // The write does not come back while its event is held up.
    assert_eq!(
        pass.held,
        "the watch event for this write reaches kube-controller-manager at 00:15.002"
    );
    state.update(TimelineMsg::Seconds(20));
    assert_eq!(
        read(state.timeline.run.sim(), named("kubelet node-1").as_ref())
            .pass
            .expect("a pass")
            .held,
        ""
    );
}

#[test]
fn a_slow_scheduler_has_a_queue_and_a_pass() {
    let mut state = State::new("", 1);
    state.update(TimelineMsg::Seconds(1));
    state.update(Msg::Fault("slow kube-scheduler 30s".parse().unwrap()));
    state.update(ConsoleMsg::Enter(
        "kubectl create deployment web --image=nginx --replicas=3".into(),
    ));
    state.update(TimelineMsg::Seconds(35));
    let shown = read(
        state.timeline.run.sim(),
        named("default-scheduler").as_ref(),
    );
    let scheduler = shown
        .loops
        .iter()
        .find(|one| one.actor.to_string() == "default-scheduler")
        .expect("it is always there");
    assert_eq!(
        (scheduler.queue, scheduler.slow.as_str()),
        (2, "30 s per reconcile")
    );
    let pass = shown.pass.expect("it is placing one");
    let held = &pass.held;
    assert!(
        held.starts_with("reconciling web-") && held.contains(" ends at 01:0"),
        "{held}"
    );
    // The panel does not show results of the previous pass.
    assert_eq!(pass.title, "default-scheduler · running");
    assert_eq!(pass.steps, ahead());
    assert!(
        pass.key.starts_with("default/web-")
            && pass
                .code
                .iter()
                .all(|line| !line.lit && line.value.is_empty()),
        "{pass:?}"
    );
}

#[test]
fn the_scheduler_names_the_winner_first_and_what_it_skipped_is_skipped_whole() {
    let mut state = State::new((examples::ALL[0].text)(), 1);
    state.update(TimelineMsg::Seconds(20));
    let pass = read(
        state.timeline.run.sim(),
        named("default-scheduler").as_ref(),
    )
    .pass
    .expect("a pass");
    let Some((PassRequest::Bind(_, node), _)) = &pass.act else {
        panic!("it binds")
    };
    let scores: Vec<Row> = pass.steps[0]
        .words()
        .into_iter()
        .filter(|row| row.0.starts_with("score of "))
        .collect();
    assert!(
        scores.len() == 2 && scores[0].0 == format!("score of {node}"),
        "{:?}",
        pass.steps
    );
    assert_eq!(scores[0].1, pass.steps[1].words()[0].1);
    assert_eq!(
        scores[0].1 == scores[1].1,
        pass.steps[1]
            .words()
            .iter()
            .any(|row| row.0 == msg::row_tie())
    );
    let skipped = |pass: &Pass| {
        pass.code
            .iter()
            .filter(|line| line.skipped)
            .map(|line| line.text.trim().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        skipped(&pass),
        ["condition(pod, Unschedulable)", "continue"]
    );
    // If no node is found the round ends there.
    state.update(ConsoleMsg::Enter(
        "kubectl create deployment big --image=nginx".into(),
    ));
    state.update(ConsoleMsg::Enter(
        "kubectl set resources deployment big --requests=cpu=100".into(),
    ));
    state.update(TimelineMsg::Seconds(10));
    let pass = read(
        state.timeline.run.sim(),
        named("default-scheduler").as_ref(),
    )
    .pass
    .expect("a pass");
    assert_eq!(
        skipped(&pass),
        ["best := max(score(nodes, pod))", "bind(pod, best)"]
    );
}

#[test]
fn what_a_pass_has_written_is_executed() {
    let mut state = State::new((examples::ALL[0].text)(), 1);
    state.update(TimelineMsg::Seconds(20));
    state.update(ConsoleMsg::Enter(
        "kubectl scale deployment nginx-deployment --replicas=3".into(),
    ));
    let passes = (0..40).filter_map(|_| {
        state.update(TimelineMsg::Step);
        read(
            state.timeline.run.sim(),
            named("replicaset-controller").as_ref(),
        )
        .pass
    });
    let acts = |pass: &Pass| pass.steps.get(2).map_or(0, |step| step.rows.len());
    let pass = passes
        .into_iter()
        .find(|pass| acts(pass) == 2)
        .expect("one that creates and notes its status");
    let told: Vec<(&str, bool)> = pass
        .code
        .iter()
        .filter(|line| !line.skipped && line.value.contains(' '))
        .map(|line| (line.value.as_str(), line.lit))
        .collect();
    assert!(
        told.ends_with(&[("create Pod", true), ("update ReplicaSet status", false)]),
        "{told:?}"
    );
}

#[test]
fn later_writes_of_others_are_not_this_write() {
    let mut state = State::new((examples::ALL[0].text)(), 1);
    state.update(TimelineMsg::Seconds(10));
    let set = state
        .timeline
        .run
        .sim()
        .store()
        .list(Kind::ReplicaSet)
        .next()
        .expect("a ReplicaSet")
        .meta
        .name
        .to_string();
    state.update(Msg::Fault(
        format!("delay replicaset/{set} 60s").parse().unwrap(),
    ));
    state.update(ConsoleMsg::Enter(format!(
        "kubectl label replicaset {set} x=y"
    )));
    state.update(TimelineMsg::Seconds(2));
    assert!(is_held_up(state.timeline.run.sim()));
    assert_eq!(
        read(
            state.timeline.run.sim(),
            named("replicaset-controller").as_ref()
        )
        .pass
        .expect("a pass")
        .held,
        ""
    );
    // A lost event never arrives.
    state.update(Msg::Fault(
        "restart kube-controller-manager".parse().unwrap(),
    ));
    state.update(Msg::Fault("relist never".parse().unwrap()));
    state.update(Msg::Fault(
        format!("lose replicaset/{set}").parse().unwrap(),
    ));
    state.update(ConsoleMsg::Enter(format!(
        "kubectl scale replicaset {set} --replicas=3"
    )));
    state.update(ConsoleMsg::Enter(
        "kubectl scale deployment nginx-deployment --replicas=4".into(),
    ));
    state.update(TimelineMsg::Step);
    state.update(TimelineMsg::Seconds(3));
    let sim = state.timeline.run.sim();
    let own = sim
        .informers
        .missing_event(sim.journal(), &|_, object| object.kind == Kind::ReplicaSet)
        .expect("an event is lost");
    assert_eq!(
        sim.informers.missing_event_of(sim.journal(), own.event),
        Some(own)
    );
}

#[test]
fn a_status_only_pass_of_a_replicaset_still_compares() {
    let mut state = State::new((examples::ALL[0].text)(), 1);
    state.update(TimelineMsg::Seconds(20));
    let pass = read(
        state.timeline.run.sim(),
        named("replicaset-controller").as_ref(),
    )
    .pass
    .expect("a pass");
    let values: Vec<&str> = pass
        .code
        .iter()
        .map(|line| line.value.as_str())
        .filter(|value| !value.is_empty())
        .collect();
    assert_eq!(
        values[..3],
        ["replicas: 2", "2 Pods", "2 − 2 = 0"],
        "{:?}",
        pass.steps
    );
    assert!(
        pass.steps[1]
            .words()
            .iter()
            .any(|(name, value)| *name == "readyReplicas" && *value == "1 → 2"),
        "{:?}",
        pass.steps
    );
    // The difference is desired minus actual.
    state.update(ConsoleMsg::Enter(
        "kubectl scale deployment nginx-deployment --replicas=3".into(),
    ));
    state.update(TimelineMsg::Step);
    state.update(TimelineMsg::Step);
    let creates = read(
        state.timeline.run.sim(),
        named("replicaset-controller").as_ref(),
    )
    .pass
    .expect("a pass");
    let line = creates
        .code
        .iter()
        .find(|line| line.text.contains("diff :="))
        .expect("a line");
    assert_eq!(line.value, "2 − 3 = −1", "{creates:?}");
    let told = pass.told();
    assert!(
        told.starts_with("replicaset-controller wrote the status of ReplicaSet nginx-")
            && told.contains("readyReplicas 1 → 2"),
        "{told}"
    );
}

#[test]
fn every_pass_of_a_workload_tells_what_is_wanted_and_most_what_there_is() {
    for (text, loops, image) in [
        (
            (examples::ALL[0].text)(),
            "deployment-controller",
            "kubectl set image deployment/nginx-deployment nginx=nginx:1.27",
        ),
        (
            (examples::ALL[2].text)(),
            "statefulset-controller",
            "kubectl set image statefulset/web nginx=nginx:1.27",
        ),
    ] {
        let mut state = State::new(text, 1);
        let (mut seen, mut compared) = (BTreeSet::new(), 0);
        for step in 0..400 {
            if step == 150 {
                state.update(ConsoleMsg::Enter(image.into()));
            }
            state.update(TimelineMsg::Step);
            let Some(pass) = read(state.timeline.run.sim(), named(loops).as_ref())
                .pass
                .filter(|pass| !pass.steps.is_empty())
            else {
                continue;
            };
            if seen.insert(pass.title.to_string()) {
                let rows: Vec<Row> = pass
                    .steps
                    .iter()
                    .take(2)
                    .flat_map(PassStep::words)
                    .collect();
                assert!(
                    rows.iter().any(|(name, _)| *name == "desired"),
                    "{:?}",
                    pass.steps
                );
                compared += usize::from(rows.iter().any(|(_, value)| value.contains(" → ")));
            }
        }
        assert!(seen.len() > 5 && compared > 3, "{seen:?} {compared}");
    }
}

#[test]
fn a_cache_that_has_lost_an_event_is_compared_with_etcd() {
    let mut state = State::new((examples::ALL[0].text)(), 1);
    state.update(TimelineMsg::Seconds(20));
    let held = |state: &State| {
        let actor = named("replicaset-controller");
        let pass = read(state.timeline.run.sim(), actor.as_ref()).pass;
        pass.expect("a pass").held
    };
    // The cache stands beside etcd.
    let cache = |state: &State| {
        let actor = named("replicaset-controller");
        let cache = read(state.timeline.run.sim(), actor.as_ref()).cache;
        cache.expect("a selected loop").differs
    };
    assert_eq!(held(&state), "");
    assert_eq!(cache(&state), "");
    assert_eq!(read(state.timeline.run.sim(), None).cache, None);
    let pods = state.timeline.run.sim().store().list(Kind::Pod);
    let pod = pods.map(|pod| pod.meta.name.clone()).next().unwrap();
    for _ in 0..4 {
        state.update(ConsoleMsg::Enter("fault lose pod".into()));
    }
    state.update(ConsoleMsg::Enter(format!(
        "kubectl delete pod {pod} --wait=false"
    )));
    state.update(TimelineMsg::Seconds(3));
    assert_eq!(held(&state), "Pod: 2 in its cache, 1 in etcd");
    assert_eq!(cache(&state), "Pod: 2 in its cache, 1 in etcd");
    // The relist repairs the cache.
    state.update(TimelineMsg::Seconds(20));
    assert_eq!(held(&state), "");
    assert_eq!(cache(&state), "");
    // An event on its way: the Pod is deleted, and the loop will know in 2 ms.
    state.update(TimelineMsg::Pause);
    let pod = state.timeline.run.sim().store().list(Kind::Pod);
    let pod = pod.map(|pod| pod.meta.name.clone()).next().unwrap();
    state.update(ConsoleMsg::Enter(format!(
        "kubectl delete pod {pod} --wait=false"
    )));
    assert_eq!(held(&state), "");
    assert_eq!(cache(&state), "Pod: 1 older than in etcd");
}
