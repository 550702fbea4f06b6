//! The page waits for a settled cluster.

use crate::State;
use crate::console::ConsoleMsg;
use crate::tests::ready;
use crate::timeline::TimelineMsg;
use cluster::settled::settles_at;
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
            settles_at(state.timeline.run.sim()),
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
        .sim()
        .store()
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
    (state.timeline.run.sim().store().count(Kind::Pod), told)
}

#[test]
fn an_autoscaler_is_waited_for_until_it_has_reacted_also_through_its_stabilization_window() {
    let mut state = State::new((crate::examples::ALL[8].text)(), 1);
    state.update(TimelineMsg::Seconds(40));
    let limited =
        "Last measured: 8 Pods, cpu at 65 % (target 50 %): it would need more than maxReplicas (8)";
    assert_eq!(under_load(&mut state, "1050m"), (8, limited.into()));
    assert_eq!(
        under_load(&mut state, "0"),
        (1, "Last measured: 1 Pod, cpu at 0 % (target 50 %)".into())
    );
}

#[test]
fn an_autoscaler_is_waited_for_that_its_own_policies_hold_back() {
    let slow = "  behavior: {scaleUp: {policies: [{type: Pods, value: 1, periodSeconds: 120}]}}\n";
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
    assert!(ready(&state.timeline.run) == 1 && settles_at(sim) > sim.now());
    state.update(TimelineMsg::Seconds(60));
    let sim = state.timeline.run.sim();
    assert!(ready(&state.timeline.run) == 3 && settles_at(sim) < sim.now());
}

/// Runs a manifest until it is stable; returns its Pods by phase and the time in seconds.
fn stable(text: &str) -> (usize, usize, u64) {
    let mut state = State::new(text, 1);
    state.update(TimelineMsg::Settle);
    while state.timeline.run_until.is_some() {
        state.run_slice(5_000);
    }
    let run = &state.timeline.run;
    let done = run.sim().store().each(Kind::Pod).filter(|object| {
        object
            .pod()
            .is_some_and(|pod| pod.status.phase == "Succeeded")
    });
    (ready(run), done.count(), run.now() / 1000)
}

#[test]
fn what_is_known_to_become_ready_or_to_complete_is_waited_for() {
    let slow = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec:\n  serviceName: db\n  replicas: 2\n  selector: {matchLabels: {app: db}}\n  \
        template:\n    metadata: {labels: {app: db}}\n    spec: {containers: [{name: c, image: nginx, readinessProbe: {initialDelaySeconds: 40, httpGet: {port: 80}}}]}\n";
    let (pods, _, at) = stable(slow);
    assert!(pods == 2 && (80..120).contains(&at), "{pods} at {at} s");
    let job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: job}\nspec:\n  completions: 3\n  template:\n    spec: {restartPolicy: Never, containers: \
        [{name: c, image: busybox, command: [sleep, '20']}]}\n";
    let (_, done, at) = stable(job);
    assert!(done == 3 && (60..90).contains(&at), "{done} at {at} s");
    // What only fails again and again is not, nor what runs for hours.
    let crash = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: busybox, command: [sh, -c, 'sleep 20; exit 1']}]}\n";
    let long = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {restartPolicy: Never, containers: [{name: c, image: busybox, command: [sleep, 1h]}]}\n";
    for text in [crash, long] {
        let (.., at) = stable(text);
        assert!(at < 15, "{at} s");
    }
}
