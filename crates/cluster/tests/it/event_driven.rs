//! The event-driven counterpart of the ReplicaSet controller beside the controller itself: the same objects and the same faults.

use apiserver::{Patch, Request, Subresource, Verb};
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use controller_runtime::limit::ClientLimit;
use k8s_model::time::SECOND;
use k8s_model::{Kind, ObjectRef};
use serde_json::{Value, json};

const PROGRAM: &str = "event-driven replicaset-controller on";

/// Starts a ReplicaSet of three Pods, as the event-driven program or the controller runs it.
fn started(event_driven: bool) -> Sim {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    if event_driven {
        sim.fault(PROGRAM).unwrap();
    }
    create(&mut sim, json!({"replicas": 3}));
    run(&mut sim, 5);
    sim
}

/// Creates a ReplicaSet with these fields in its spec.
fn create(sim: &mut Sim, mut spec: Value) {
    let labels = json!({"app": "web"});
    spec["selector"] = json!({"matchLabels": labels});
    spec["template"] = json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let set = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web", "namespace": "default"}, "spec": spec});
    sim.request(&Request::of_manifest(Verb::Create, set));
}

fn run(sim: &mut Sim, seconds: u64) {
    sim.advance(sim.now().after(seconds * SECOND), usize::MAX);
}

fn pods(sim: &Sim) -> usize {
    sim.store().list(Kind::Pod).count()
}

fn delete_first(sim: &mut Sim) {
    let pod = sim.store().list(Kind::Pod).next().unwrap().key();
    sim.request(&Request::new(Verb::Delete, &pod))
        .result
        .unwrap();
}

fn scale(sim: &mut Sim, replicas: i64) {
    let key = ObjectRef::new(Kind::ReplicaSet, "default", "web");
    let patch = Patch::merge(json!({"spec": {"replicas": replicas}}));
    let request = Request {
        subresource: Subresource::Scale,
        ..Request::patch(&key, patch)
    };
    sim.request(&request).result.unwrap();
}

/// Runs the same steps under both and returns the numbers of Pods at the end: controller, event-driven program.
fn both(steps: impl Fn(&mut Sim)) -> (usize, usize) {
    let [level, events] = [false, true].map(|event_driven| {
        let mut sim = started(event_driven);
        assert_eq!(pods(&sim), 3, "{event_driven}");
        steps(&mut sim);
        run(&mut sim, 60);
        pods(&sim)
    });
    (level, events)
}

#[test]
fn without_faults_both_do_the_same() {
    assert_eq!(both(delete_first), (3, 3));
    assert_eq!(both(|sim| scale(sim, 5)), (5, 5));
    // Pods that the program deletes itself are not replaced.
    assert_eq!(both(|sim| scale(sim, 1)), (1, 1));
}

#[test]
fn a_lost_event_is_never_made_up_for_by_the_event_driven_program() {
    let steps = |sim: &mut Sim| {
        // The deletion timestamp, the status and the removal are events.
        (0..4).for_each(|_| sim.fault("lose pod").unwrap());
        delete_first(sim);
    };
    assert_eq!(both(steps), (3, 2));
}

#[test]
fn a_repeated_event_makes_the_event_driven_program_act_twice() {
    let steps = |sim: &mut Sim| {
        // The deletion timestamp and the status are events before the removal.
        (0..4).for_each(|_| sim.fault("repeat pod").unwrap());
        delete_first(sim);
    };
    assert_eq!(both(steps), (3, 4));
    let scaled = |sim: &mut Sim| {
        sim.fault("repeat replicaset/web").unwrap();
        scale(sim, 5);
    };
    assert_eq!(both(scaled), (5, 5), "the second event says nothing new");
}

#[test]
fn a_delayed_event_delays_both() {
    let steps = |sim: &mut Sim| {
        sim.fault("delay pod 20s").unwrap();
        delete_first(sim);
        run(sim, 10);
        assert_eq!(pods(sim), 2);
    };
    assert_eq!(both(steps), (3, 3));
}

#[test]
fn a_restart_between_two_events_loses_what_happened_meanwhile() {
    let steps = |sim: &mut Sim| {
        sim.fault("relist never").unwrap();
        (0..4).for_each(|_| sim.fault("lose pod").unwrap());
        delete_first(sim);
        run(sim, 10);
        assert_eq!(pods(sim), 2, "neither knows");
        sim.fault("restart kube-controller-manager").unwrap();
    };
    assert_eq!(both(steps), (3, 2));
}

#[test]
fn the_controller_takes_its_place_back_and_repairs() {
    let mut sim = started(true);
    (0..4).for_each(|_| sim.fault("lose pod").unwrap());
    delete_first(&mut sim);
    run(&mut sim, 60);
    assert_eq!(pods(&sim), 2);
    sim.fault("event-driven replicaset-controller off").unwrap();
    run(&mut sim, 5);
    assert_eq!(pods(&sim), 3);
}

#[test]
fn only_a_loop_with_an_event_driven_form_is_replaced() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    let refused = sim.fault("event-driven deployment-controller on");
    assert!(
        refused
            .unwrap_err()
            .to_string()
            .contains("no event-driven form")
    );
    assert!(sim.fault("event-driven nobody on").is_err());
}

#[test]
fn the_program_knows_the_size_of_what_it_takes_over() {
    let mut sim = started(false);
    sim.fault(PROGRAM).unwrap();
    scale(&mut sim, 5);
    run(&mut sim, 5);
    assert_eq!(pods(&sim), 5);
}

#[test]
fn a_client_limit_does_not_repeat_what_an_event_asks_for() {
    let config = ClusterConfig {
        client_limit: Some(ClientLimit {
            qps: 20.0,
            burst: 30,
        }),
        ..ClusterConfig::default()
    };
    let mut sim = Sim::new(config, 1);
    sim.fault(PROGRAM).unwrap();
    create(&mut sim, json!({"replicas": 40}));
    run(&mut sim, 60);
    assert_eq!(pods(&sim), 40);
}

#[test]
fn thousands_of_pods_are_created_in_several_passes() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    sim.fault(PROGRAM).unwrap();
    create(&mut sim, json!({"replicas": 1200}));
    run(&mut sim, 10);
    assert_eq!(pods(&sim), 1200);
}

#[test]
fn pods_become_available_after_their_time() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    sim.fault(PROGRAM).unwrap();
    create(&mut sim, json!({"replicas": 2, "minReadySeconds": 10}));
    run(&mut sim, 30);
    let set = sim.store().list(Kind::ReplicaSet).next().unwrap();
    assert_eq!(set.to_value()["status"]["availableReplicas"], 2);
}
