//! Watch events that come late and loops that are slow: in what order, at which instants, and how they are taken back.

use apiserver::Component;
use apiserver::{Op, Record};
use cluster::Sim;
use cluster::slowed::{InLine, Slowed};
use controller_runtime::cluster::ClusterConfig;
use k8s_model::pod::Pod;
use k8s_model::time::{MS, SECOND};
use k8s_model::{Duration, Kind, Object, ObjectRef, Uid};
use kubectl::Session;
use std::collections::BTreeMap;
use std::rc::Rc;

const SET: &str = "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: NAME}\nspec: {replicas: 3, selector: {matchLabels: {a: NAME}}, \
                   template: {metadata: {labels: {a: NAME}}, spec: {containers: [{name: c, image: i}]}}}\n";

fn apply(sim: &mut Sim, text: &str) {
    let session = Session::start(sim, &["apply".into(), "-f".into(), "-".into()], text);
    assert_eq!(session.exit, Some(0), "{}", session.stderr);
}

fn kubectl(sim: &mut Sim, line: &str) {
    let words: Vec<String> = line.split(' ').map(String::from).collect();
    Session::start(sim, &words, "");
}

fn run(sim: &mut Sim, span: Duration) {
    sim.advance(sim.now().after(span), usize::MAX);
}

/// A cluster with one ReplicaSet whose Pods run.
fn started(faults: &[&str]) -> Sim {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    faults.iter().for_each(|line| sim.fault(line).unwrap());
    apply(&mut sim, &SET.replace("NAME", "r"));
    run(&mut sim, 10 * SECOND);
    assert_eq!(sim.store().count(Kind::Pod), 3);
    sim
}

fn first_pod(sim: &Sim) -> String {
    sim.store()
        .list(Kind::Pod)
        .next()
        .unwrap()
        .meta
        .name
        .to_string()
}

fn delete(sim: &mut Sim, pod: &str) {
    kubectl(
        sim,
        &format!("delete pod {pod} --force --grace-period=0 --wait=false"),
    );
}

fn nothing_is_late(sim: &Sim) -> bool {
    sim.informers
        .missing_event(sim.journal(), &|_, _| true)
        .is_none()
        && !sim
            .informers
            .is_delayed(sim.journal(), Kind::Pod, &"".into())
}

/// When the Pods of each were made, in milliseconds.
fn made(sim: &Sim) -> Vec<u64> {
    let new = |record: &Record| matches!(record, Record::Write { op: Op::Added, object, .. } if object.kind == Kind::Pod);
    sim.journal()
        .iter()
        .filter(|entry| new(&entry.record))
        .map(|entry| entry.time.0 / MS)
        .collect()
}

/// Returns the component with this name.
fn named(name: &str) -> Component {
    cluster::loops::named(name).unwrap().component
}

#[test]
fn a_late_event_holds_up_those_behind_it_and_no_other_kind() {
    for mode in ["relist never", "relist 5s"] {
        let mut sim = started(&[mode]);
        let pod = first_pod(&sim);
        sim.fault(&format!("delay pod/{pod} 10s")).unwrap();
        delete(&mut sim, &pod);
        let other = sim
            .store()
            .list(Kind::Pod)
            .map(|o| o.meta.name.to_string())
            .find(|name| *name != pod)
            .unwrap();
        run(&mut sim, SECOND);
        kubectl(&mut sim, &format!("label pod {other} x=y"));
        kubectl(&mut sim, "label rs r x=y");
        run(&mut sim, 8 * SECOND);
        let key = |kind, name: &str| ObjectRef::new(kind, "default", name);
        let set = sim
            .store()
            .get(&key(Kind::ReplicaSet, "r"))
            .unwrap()
            .meta
            .uid;
        let labelled = |sim: &Sim, kind, name: &str| {
            let has =
                |object: &Rc<Object>| object.meta.name == name && object.meta.label("x").is_some();
            if kind == Kind::Pod {
                sim.informers
                    .controller_manager
                    .cache
                    .owned_of_kind(set, kind)
                    .any(has)
            } else {
                sim.informers
                    .controller_manager
                    .cache
                    .orphans(kind, &"default".into())
                    .any(has)
            }
        };
        assert!(
            sim.store().get(&key(Kind::Pod, &pod)).is_none() && sim.store().count(Kind::Pod) == 2,
            "{mode}: nobody knows that it went"
        );
        assert!(
            !labelled(&sim, Kind::Pod, &other) && labelled(&sim, Kind::ReplicaSet, "r"),
            "{mode}"
        );
        assert!(
            sim.informers
                .is_delayed(sim.journal(), Kind::Pod, &pod.as_str().into())
                && !sim
                    .informers
                    .is_delayed(sim.journal(), Kind::Pod, &other.as_str().into())
        );
        let late = sim
            .informers
            .missing_event(sim.journal(), &|_, object| {
                object.meta.name == other.as_str()
            })
            .unwrap();
        let behind = sim.journal()[late.behind as usize]
            .key()
            .expect("a write")
            .name;
        assert_eq!(
            (late.process.name(), late.kind, behind.as_str()),
            ("kube-controller-manager", Kind::Pod, pod.as_str())
        );
        run(&mut sim, 2 * SECOND);
        assert!(
            labelled(&sim, Kind::Pod, &other) && nothing_is_late(&sim),
            "{mode}"
        );
        assert_eq!(
            sim.store().count(Kind::Pod),
            3,
            "{mode}: nothing is lost, so that events alone are enough"
        );
    }
}

#[test]
fn what_a_component_knows_never_goes_back() {
    let mut sim = started(&[]);
    let set = sim.store().list(Kind::ReplicaSet).next().unwrap().meta.uid;
    let mut known: BTreeMap<ObjectRef, u64> = BTreeMap::new();
    for round in 0..60 {
        match round % 10 {
            0 => sim.fault("delay pod 3s").unwrap(),
            2 => sim.fault("delay rs 1s").unwrap(),
            4 => kubectl(
                &mut sim,
                &format!("scale rs r --replicas={}", 2 + round % 7),
            ),
            5 => sim.fault("delay pod 200ms").unwrap(),
            7 => sim.fault("lose pod").unwrap(),
            8 if round > 30 => sim.fault("restart kube-controller-manager").unwrap(),
            _ => {
                let pod = sim
                    .store()
                    .list(Kind::Pod)
                    .next()
                    .map(|pod| pod.meta.name.to_string());
                pod.into_iter().for_each(|pod| delete(&mut sim, &pod));
            }
        }
        let until = sim.now().after(700 * MS);
        while sim.tasks.next_due().is_some_and(|at| at <= until) {
            sim.step();
            for object in sim
                .informers
                .controller_manager
                .cache
                .owned_of_kind(set, Kind::Pod)
                .chain(
                    sim.informers
                        .controller_manager
                        .cache
                        .orphans(Kind::ReplicaSet, &"default".into()),
                )
            {
                let before = known
                    .insert(object.key(), object.meta.resource_version)
                    .unwrap_or(0);
                assert!(
                    before <= object.meta.resource_version,
                    "{} in round {round}",
                    object.key()
                );
            }
        }
    }
    kubectl(&mut sim, "scale rs r --replicas=4");
    run(&mut sim, 60 * SECOND);
    assert_eq!(sim.store().count(Kind::Pod), 4);
}

#[test]
fn a_loop_does_not_make_again_what_it_has_not_seen_yet() {
    let mut sim = started(&[]);
    sim.fault("delay pod 20s").unwrap();
    kubectl(&mut sim, "scale rs r --replicas=6");
    run(&mut sim, SECOND);
    kubectl(&mut sim, "label rs r x=y");
    run(&mut sim, 10 * SECOND);
    assert_eq!(
        sim.store().count(Kind::Pod),
        6,
        "its expectations are not met"
    );
    run(&mut sim, 20 * SECOND);
    assert_eq!((sim.store().count(Kind::Pod), made(&sim).len()), (6, 6));
}

#[test]
fn a_list_takes_the_place_of_late_events_and_none_comes_after_it() {
    let mut sim = started(&[]);
    let pod = first_pod(&sim);
    sim.fault("delay pod 30s").unwrap();
    delete(&mut sim, &pod);
    run(&mut sim, SECOND);
    assert_eq!(sim.store().count(Kind::Pod), 2);
    sim.fault("restart kube-controller-manager").unwrap();
    run(&mut sim, SECOND);
    assert!(sim.store().count(Kind::Pod) == 3 && nothing_is_late(&sim));
    run(&mut sim, 60 * SECOND);
    assert_eq!(made(&sim).len(), 4);
}

#[test]
fn what_is_late_can_be_let_through() {
    for taken_back in ["delay pod none", "delay pod 0s", "delay pod/POD none"] {
        let mut sim = started(&[]);
        let pod = first_pod(&sim);
        sim.fault(&format!("delay pod/{pod} 1h")).unwrap();
        // One for each of the two events of its deletion.
        sim.fault(&format!("delay pod/{pod} 1h")).unwrap();
        delete(&mut sim, &pod);
        run(&mut sim, SECOND);
        assert_eq!(sim.store().count(Kind::Pod), 2);
        sim.fault(&taken_back.replace("POD", &pod)).unwrap();
        run(&mut sim, SECOND);
        assert!(
            sim.store().count(Kind::Pod) == 3 && nothing_is_late(&sim),
            "{taken_back}"
        );
    }
}

#[test]
fn the_kubelet_of_one_node_hears_late_and_those_of_others_in_time() {
    let mut sim = Sim::new(ClusterConfig::with_nodes(2), 1);
    sim.fault("delay pod/a 20s kubelet").unwrap();
    let pod = |name: &str, node: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec: {{nodeName: {node}, containers: [{{name: c, image: i}}]}}\n"
        )
    };
    for (name, node) in [("a", "node-1"), ("b", "node-1"), ("c", "node-2")] {
        apply(&mut sim, &pod(name, node));
    }
    let ready = |sim: &Sim| {
        let is = |name: &str| {
            sim.store()
                .get(&ObjectRef::new(Kind::Pod, "default", name))
                .unwrap()
                .pod()
                .is_some_and(Pod::is_ready)
        };
        ["a", "b", "c"].map(is)
    };
    run(&mut sim, 15 * SECOND);
    assert_eq!(ready(&sim), [false, false, true]);
    run(&mut sim, 15 * SECOND);
    assert_eq!(ready(&sim), [true; 3]);
}

const ONE: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}\n";

/// The nodes that Pods have been given, each once, in that order.
fn given(sim: &Sim) -> Vec<(Uid, String)> {
    let mut found = Vec::new();
    for (_, object) in sim.journal().iter().filter_map(|entry| entry.write()) {
        let node = object.pod().map_or("", |pod| pod.node_name.as_str());
        let given = (object.meta.uid, node.to_owned());
        if !node.is_empty() && !found.contains(&given) {
            found.push(given);
        }
    }
    found
}

#[test]
fn a_pod_that_has_a_node_keeps_it_whatever_the_scheduler_still_hears_of_it() {
    for faults in [
        [
            "delay pod/x 10s kube-scheduler",
            "delay pod/x 60s kube-scheduler",
        ],
        [
            "delay pod/x 10s kube-scheduler",
            "lose pod/x kube-scheduler",
        ],
        ["delay pod 1s kube-scheduler", "delay pod 5s kube-scheduler"],
    ] {
        let mut sim = Sim::new(ClusterConfig::with_nodes(2), 1);
        let free =
            |sim: &Sim| sim.scheduler.free_on("node-1").cpu + sim.scheduler.free_on("node-2").cpu;
        ["cordon node-1", "cordon node-2"]
            .iter()
            .for_each(|line| kubectl(&mut sim, line));
        apply(&mut sim, ONE);
        run(&mut sim, 2 * SECOND);
        let all = free(&sim);
        faults.iter().for_each(|line| sim.fault(line).unwrap());
        kubectl(&mut sim, "label pod x a=b");
        run(&mut sim, 100 * MS);
        ["uncordon node-1", "uncordon node-2"]
            .iter()
            .for_each(|line| kubectl(&mut sim, line));
        run(&mut sim, 90 * SECOND);
        assert_eq!(given(&sim).len(), 1, "{faults:?}");
        assert!(
            sim.store()
                .list(Kind::Pod)
                .all(|o| o.pod().is_some_and(Pod::is_ready)),
            "{faults:?}"
        );
        kubectl(&mut sim, "delete pod x --force --grace-period=0");
        run(&mut sim, SECOND);
        assert_eq!(free(&sim), all, "{faults:?}: no room is lost");
    }
}

#[test]
fn a_binding_is_for_the_pod_that_was_read_and_for_no_other_of_its_name() {
    let mut sim = Sim::new(ClusterConfig::with_nodes(1), 1);
    kubectl(&mut sim, "cordon node-1");
    apply(&mut sim, ONE);
    run(&mut sim, 2 * SECOND);
    sim.fault("delay pod/x 10s kube-scheduler").unwrap();
    kubectl(&mut sim, "delete pod x --force --grace-period=0");
    apply(&mut sim, ONE);
    kubectl(&mut sim, "uncordon node-1");
    run(&mut sim, 5 * SECOND);
    let refused: Vec<String> = sim
        .journal()
        .iter()
        .filter_map(|entry| refusal(&entry.record))
        .collect();
    let [refused] = &refused[..] else {
        panic!("{refused:?}")
    };
    assert!(
        refused.starts_with(
            "Operation cannot be fulfilled on pods \"x\": StorageError: invalid object"
        ),
        "{refused}"
    );
    assert!(given(&sim).is_empty());
    run(&mut sim, 20 * SECOND);
    assert_eq!(given(&sim).len(), 1);
    assert!(
        sim.store()
            .list(Kind::Pod)
            .all(|o| o.pod().is_some_and(Pod::is_ready))
    );
}

fn refusal(record: &Record) -> Option<String> {
    if let Record::Refused(refused) = record {
        Some(refused.error.message.clone())
    } else {
        None
    }
}

#[test]
fn a_slow_loop_works_on_one_key_at_a_time() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    sim.fault("slow replicaset-controller 2s").unwrap();
    ["a", "b", "c"]
        .iter()
        .for_each(|name| apply(&mut sim, &SET.replace("NAME", name)));
    run(&mut sim, 5 * SECOND);
    let one = |n: u64| vec![made(&sim)[0] + n * 2000; 3];
    assert_eq!(
        made(&sim),
        [one(0), one(1)].concat(),
        "three Pods each, two seconds after one another"
    );
    assert!(made(&sim)[0] >= 2000);
    let slowed = Slowed::of(&sim, named("replicaset-controller")).unwrap();
    assert!(
        slowed.span == 2 * SECOND && slowed.waiting >= 2,
        "{slowed:?}"
    );
    assert!(
        InLine::of(
            &sim,
            sim.store()
                .get(&ObjectRef::new(Kind::ReplicaSet, "default", "c"))
                .unwrap()
        )
        .is_some()
    );
    // Taken back, what waits has its turn at once.
    sim.fault("slow replicaset-controller none").unwrap();
    run(&mut sim, 10 * MS);
    assert_eq!(
        (
            made(&sim).len(),
            Slowed::of(&sim, named("replicaset-controller"))
        ),
        (9, None)
    );
    run(&mut sim, 10 * SECOND);
    assert!(sim.manager.queues().all(|(_, queue)| queue.is_empty()));
}

#[test]
fn a_scheduler_that_has_nothing_to_do_is_not_busy() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    sim.fault("slow kube-scheduler 1h").unwrap();
    apply(&mut sim, ONE);
    run(&mut sim, SECOND);
    assert!((sim.scheduler.queued() > 0));
    sim.fault("slow kube-scheduler none").unwrap();
    run(&mut sim, 20 * SECOND);
    assert_eq!(sim.scheduler.queued(), 0);
}

#[test]
fn a_name_means_the_object_in_the_default_namespace() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    kubectl(&mut sim, "create namespace other");
    let other = ONE.replace("{name: x}", "{name: x, namespace: other}");
    for line in [
        "delay pod/x 1h kube-scheduler",
        "lose pod/x kubelet",
        "conflict pod/x",
    ] {
        sim.fault(line).unwrap();
    }
    apply(&mut sim, &other);
    run(&mut sim, 10 * SECOND);
    let ready = |sim: &Sim| {
        sim.store()
            .list(Kind::Pod)
            .filter(|o| o.pod().is_some_and(Pod::is_ready))
            .count()
    };
    assert_eq!(ready(&sim), 1, "of another namespace it is not meant");
    apply(&mut sim, ONE);
    run(&mut sim, 10 * SECOND);
    assert_eq!(ready(&sim), 1);
}

#[test]
fn what_is_to_befall_any_of_a_kind_may_befall_each_and_can_be_taken_back_there() {
    let mut sim = started(&[]);
    let pod = first_pod(&sim);
    sim.fault("delay pod 10s").unwrap();
    assert!(
        sim.informers
            .is_delayed(sim.journal(), Kind::Pod, &pod.as_str().into())
            && sim
                .informers
                .is_delayed(sim.journal(), Kind::Pod, &"".into())
    );
    sim.fault(&format!("delay pod/{pod} none")).unwrap();
    assert!(
        nothing_is_late(&sim)
            && !sim
                .informers
                .is_delayed(sim.journal(), Kind::Pod, &pod.as_str().into())
    );
    sim.fault(&format!("delay pod/{pod} 10s")).unwrap();
    assert!(
        sim.informers
            .is_delayed(sim.journal(), Kind::Pod, &pod.as_str().into())
            && nothing_is_late(&sim),
        "it is not any that is meant"
    );
}

#[test]
fn a_slow_loop_that_is_slowed_anew_while_those_that_waited_have_their_turn_loses_none() {
    let mut sim = started(&["slow replicaset-controller 1s"]);
    for n in 0..40 {
        kubectl(&mut sim, &format!("scale rs r --replicas={}", 3 + n % 5));
        run(&mut sim, 3 * MS);
        let each = ["2s", "none", "1h", "none", "700ms"][n % 5];
        sim.fault(&format!("slow replicaset-controller {each}"))
            .unwrap();
        run(&mut sim, [0, 1, 40][n % 3] * MS);
    }
    kubectl(&mut sim, "scale rs r --replicas=9");
    run(&mut sim, 10 * SECOND);
    assert_eq!(
        sim.store()
            .list(Kind::Pod)
            .filter(|o| !o.meta.is_deleting())
            .count(),
        9
    );
}

#[test]
fn a_slow_loop_stays_slow_when_it_is_started_anew_and_loses_nothing() {
    for line in [
        "slow kube-controller-manager 300ms",
        "slow kube-scheduler 300ms",
    ] {
        let mut sim = Sim::new(ClusterConfig::default(), 1);
        sim.fault(line).unwrap();
        apply(&mut sim, &SET.replace("NAME", "r"));
        run(&mut sim, 400 * MS);
        sim.fault(&line.replace("slow", "restart").replace(" 300ms", ""))
            .unwrap();
        run(&mut sim, 20 * SECOND);
        assert!(
            sim.store()
                .list(Kind::Pod)
                .filter(|o| o.pod().is_some_and(Pod::is_ready))
                .count()
                == 3,
            "{line}"
        );
        assert!(
            Slowed::of(
                &sim,
                if line.contains("scheduler") {
                    Component::Scheduler
                } else {
                    named("job-controller")
                }
            )
            .is_some(),
            "{line}"
        );
    }
}

#[test]
fn a_slow_scheduler_places_one_pod_at_a_time() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    sim.fault("slow default-scheduler 1s").unwrap();
    apply(&mut sim, &SET.replace("NAME", "r"));
    let bound = |sim: &Sim| {
        sim.store()
            .list(Kind::Pod)
            .filter(|o| !o.body::<Pod>().node_name.is_empty())
            .count()
    };
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.push(bound(&sim));
        run(&mut sim, SECOND);
    }
    assert_eq!(seen, [0, 0, 1, 2]);
    sim.fault("slow kube-scheduler 1h").unwrap();
    kubectl(&mut sim, "scale rs r --replicas=5");
    run(&mut sim, 5 * SECOND);
    assert_eq!(
        bound(&sim),
        3,
        "the cycle that was under way ends as it began"
    );
    sim.fault("slow kube-scheduler none").unwrap();
    run(&mut sim, 10 * MS);
    assert_eq!(bound(&sim), 5);
}

#[test]
fn a_fork_goes_on_as_the_run_it_comes_from() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    for line in [
        "delay rs 2s",
        "delay pod 3s",
        "delay pod 700ms kube-scheduler",
        "slow replicaset-controller 1500ms",
        "slow kube-scheduler 1s",
    ] {
        sim.fault(line).unwrap();
    }
    ["a", "b"]
        .iter()
        .for_each(|name| apply(&mut sim, &SET.replace("NAME", name)));
    let told = |sim: &Sim| {
        sim.journal()
            .iter()
            .map(|entry| format!("{entry:?}\n"))
            .collect::<String>()
    };
    for _ in 0..40 {
        let mut fork = sim.clone();
        run(&mut fork, 30 * SECOND);
        run(&mut sim, 250 * MS);
        let mut whole = sim.clone();
        // By the smallest steps.
        while !whole.advance(fork.now(), 1).done {}
        assert!(told(&fork) == told(&whole));
    }
}

#[test]
fn words_that_mean_nothing_are_refused_and_leave_no_trace() {
    let mut sim = started(&[]);
    let before = sim.journal().len();
    for (line, error) in [
        ("delay pod", "unknown fault"),
        (
            "delay pod soon",
            "delay: neither \"none\" nor a time like 500ms, 2s or 1m: soon",
        ),
        ("delay pod -2s", "delay: neither"),
        ("delay pod 1e99s", "delay: neither"),
        ("delay pod 99999999999999999999h", "delay: neither"),
        ("delay pot 2s", "no kind \"pot\""),
        ("delay pod 2s kubectl", "no component \"kubectl\""),
        ("delay pod 2s kubelet more", "unknown fault"),
        ("slow", "unknown fault"),
        ("slow 2s", "unknown fault"),
        ("slow job-controller", "unknown fault"),
        (
            "slow job-controller fast",
            "slow: neither \"none\" nor a time like 500ms, 2s or 1m: fast",
        ),
        (
            "slow kubelet 2s",
            "no loop \"kubelet\" to slow: a controller, kube-scheduler or kube-controller-manager is meant",
        ),
        (
            "relist soon",
            "relist: neither \"never\" nor a time like 500ms, 2s or 1m: soon",
        ),
    ] {
        let told = sim.fault(line).expect_err(line).to_string();
        assert!(told.starts_with(error), "{line}: {told}");
    }
    assert_eq!(sim.journal().len(), before);
    assert!(nothing_is_late(&sim));
}

const BACKED: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: web, labels: {a: b}}\nspec: {containers: [{name: c, image: i}]}\n---\n\
                      apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {a: b}, ports: [{port: 80}]}\n";

fn is_ready(sim: &mut Sim) -> bool {
    let slice = Session::start(
        sim,
        &[
            "get".into(),
            "endpointslices".into(),
            "-o=jsonpath={..conditions.ready}".into(),
        ],
        "",
    );
    slice.stdout.contains("true true")
}

#[test]
fn an_event_is_a_change_of_what_the_cache_held_and_not_of_what_was_lost() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    apply(&mut sim, BACKED);
    run(&mut sim, 10 * SECOND);
    assert!(is_ready(&mut sim));
    sim.fault("relist never").unwrap();
    sim.fault("lose pod/web").unwrap();
    sim.fault("unready pod/web").unwrap();
    run(&mut sim, 5 * SECOND);
    assert!(is_ready(&mut sim), "the event is lost");
    // Nothing that an address shows is in this one, but the loops see the Pod as it is now.
    kubectl(&mut sim, "annotate pod web a=b");
    run(&mut sim, 5 * SECOND);
    assert!(!is_ready(&mut sim));
}

#[test]
fn endpoints_that_someone_deletes_come_back() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    apply(&mut sim, BACKED);
    run(&mut sim, 10 * SECOND);
    kubectl(&mut sim, "delete endpoints web");
    run(&mut sim, 5 * SECOND);
    assert!(
        sim.store()
            .get(&ObjectRef::new(Kind::Endpoints, "default", "web"))
            .is_some()
    );
}
