//! Loops written as programs: the examples in `examples/loops`, and what holds for any of them.

use apiserver::control_loop;
use apiserver::journal::{Op, Record};
use apiserver::{Component, Why};
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::{Kind, Object, ObjectRef, Time};
use kubectl::Session;
use kubectl::parse::split;
use scenario::{Finished, Observer};
use serde_json::Value;
use std::path::Path;
use std::rc::Rc;

fn example(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/loops");
    std::fs::read_to_string(folder.join(format!("{name}.yaml"))).unwrap()
}

/// Observer that refuses steps which fail.
struct Strict;

impl Observer for Strict {
    fn advanced(&mut self, _: &Sim) {}

    fn finished(&mut self, _: &Sim, step: &Finished) {
        assert_eq!(step.exit, 0, "step {}: {}", step.step, step.stderr);
    }
}

fn run_text(text: &str, seed: u64) -> Sim {
    let scenario = scenario::parse(text).unwrap_or_else(|error| panic!("{error:?}"));
    scenario::run(&scenario, seed, usize::MAX, &mut Strict)
}

fn run(name: &str) -> Sim {
    run_text(&example(name), 1)
}

/// Objects of a kind, by namespace and name.
fn all(sim: &Sim, kind: Kind) -> Vec<Value> {
    sim.store()
        .list(kind)
        .map(|object| object.to_value())
        .collect()
}

fn names(sim: &Sim, kind: Kind) -> Vec<String> {
    sim.store()
        .list(kind)
        .map(|object| object.meta.name.to_string())
        .collect()
}

/// Status of a ControlLoop.
fn status(sim: &Sim, name: &str) -> Value {
    let key = apiserver::control_loop::key(name);
    let object = sim.store().get(&key).unwrap_or_else(|| panic!("no {key}"));
    object.to_value()["status"].clone()
}

fn ready(sim: &Sim, name: &str) -> (String, String) {
    let status = status(sim, name);
    let condition = &status["conditions"][0];
    let text = |name: &str| condition[name].as_str().unwrap_or("").to_owned();
    (text("status"), text("message"))
}

fn kubectl(sim: &mut Sim, line: &str) -> String {
    with_input(sim, line, "")
}

fn with_input(sim: &mut Sim, line: &str, input: &str) -> String {
    let session = Session::start(sim, &split(line), input);
    [session.stdout, session.stderr].concat()
}

fn advance(sim: &mut Sim, seconds: u64) {
    let to = Time(sim.now().0 + seconds * 1_000_000);
    sim.advance(to, usize::MAX);
}

fn written_by<'s>(
    sim: &'s Sim,
    name: &'s str,
) -> impl Iterator<Item = (Op, &'s Rc<Object>, &'s Why)> {
    sim.journal().iter().filter_map(move |entry| {
        let is_own = matches!(entry.actor.component, Component::Loop(id) if id.name == name);
        let (op, object) = entry.write()?;
        is_own.then_some((op, object, &entry.why))
    })
}

/// Numbers of Pods that the history has created and removed.
fn pods_made(sim: &Sim) -> (usize, usize) {
    let count = |wanted: Op| {
        let written = sim.journal().iter().filter_map(|entry| entry.write());
        written
            .filter(|(op, object)| *op == wanted && object.kind == Kind::Pod)
            .count()
    };
    (count(Op::Added), count(Op::Deleted))
}

fn key(kind: Kind, name: &str) -> ObjectRef {
    ObjectRef::new(kind, "default", name)
}

fn value(sim: &Sim, kind: Kind, name: &str) -> Value {
    let object = sim.store().get(&key(kind, name));
    object.map(|object| object.to_value()).unwrap_or_default()
}

/// Pods that are not terminating.
fn active(sim: &Sim, prefix: &str) -> usize {
    let pods = sim.store().list(Kind::Pod);
    pods.filter(|pod| pod.meta.name.starts_with(prefix) && !pod.meta.is_deleting())
        .count()
}

/// A ControlLoop with a program, its lines indented.
fn control_loop_of(name: &str, spec: &str, program: &str) -> String {
    let program: String = program
        .lines()
        .map(|line| format!("    {line}\n"))
        .collect();
    format!(
        "apiVersion: loopscope.dev/v1\nkind: ControlLoop\nmetadata: {{name: {name}}}\nspec:\n{spec}  program: |\n{program}"
    )
}

const FOR_CONFIG_MAPS: &str = "  for: {apiVersion: v1, kind: ConfigMap}\n";

/// A cluster in which a loop reconciles ConfigMaps.
fn with_loop(spec: &str, program: &str) -> Sim {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    let applied = with_input(
        &mut sim,
        "apply -f -",
        &control_loop_of("mine", spec, program),
    );
    assert!(applied.contains("created"), "{applied}");
    advance(&mut sim, 5);
    sim
}

/// The first loop of the guide, in both languages.
#[test]
fn guide() {
    for page in ["docs/control-loops.md", "docs/zh/control-loops.md"] {
        let page = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .join(page);
        let text = std::fs::read_to_string(page).unwrap();
        let manifest = text
            .split("```yaml\n")
            .nth(1)
            .unwrap()
            .split("```")
            .next()
            .unwrap();
        let mut sim = Sim::new(ClusterConfig::default(), 1);
        assert!(with_input(&mut sim, "apply -f -", manifest).contains("created"));
        kubectl(&mut sim, "create configmap web --from-literal=pods=3");
        advance(&mut sim, 10);
        assert_eq!(active(&sim, "web-"), 3);
        kubectl(&mut sim, "delete pod --all --wait=false");
        advance(&mut sim, 10);
        assert_eq!(active(&sim, "web-"), 3);
        let status = kubectl(&mut sim, "get loops");
        assert!(
            status.contains("keep-pods   ConfigMap   Level   True"),
            "{status}"
        );
    }
}

#[test]
fn replicaset_level() {
    let sim = run("replicaset-level");
    assert_eq!(
        ready(&sim, "nine-lines"),
        ("True".to_owned(), "the program runs".to_owned())
    );
    assert_eq!(names(&sim, Kind::Pod).len(), 2);
    let status = &value(&sim, Kind::ReplicaSet, "web")["status"];
    assert_eq!(
        (&status["replicas"], &status["readyReplicas"]),
        (&2.into(), &2.into()),
        "{status}"
    );
    let why = written_by(&sim, "nine-lines").find_map(|(_, object, why)| match why {
        Why::Program(call) if object.kind == Kind::Pod => Some(call.clone()),
        _ => None,
    });
    let call = why.unwrap();
    assert_eq!(call.line, 6);
    assert!(
        call.values
            .iter()
            .any(|(name, value)| name == "rs" && value == "ReplicaSet/web"),
        "{call:?}"
    );
}

/// The nine lines and the built-in controller, on the same faults: the same number of Pods is made and removed, and the same is left.
#[test]
fn nine_lines_do_what_the_controller_does() {
    let written = example("replicaset-level");
    let from = written.find("- apply:").unwrap();
    let to = written[from + 1..].find("- apply:").unwrap() + from + 1;
    let builtin = [&written[..from], &written[to..]].concat();
    let faults = [
        "",
        "lose pod COMPONENT",
        "delay pod 5s COMPONENT",
        "restart COMPONENT",
        "conflict replicaset/web",
        "lose replicaset COMPONENT",
    ];
    for fault in faults {
        let history = |text: &str, component: &str| {
            let step = format!(
                "- fault: {}\n- kubectl: delete pod",
                fault.replace("COMPONENT", component)
            );
            let text = match fault {
                "" => text.to_owned(),
                _ => text.replace("- kubectl: delete pod", &step),
            };
            // Until lost events have been found by the relist.
            let sim = run_text(&text.replace("- wait: settled", "- wait: 20s"), 1);
            (
                pods_made(&sim),
                value(&sim, Kind::ReplicaSet, "web")["status"]["readyReplicas"].clone(),
            )
        };
        let (own, theirs) = (
            history(&written, "nine-lines"),
            history(&builtin, "kube-controller-manager"),
        );
        assert_eq!(own, theirs, "{fault}");
    }
}

#[test]
fn replicaset_edge_never_recovers_from_a_lost_event_and_the_level_does() {
    let text = example("replicaset-edge");
    let sim = run_text(&text, 1);
    assert_eq!(ready(&sim, "edge").0, "True");
    assert_eq!(active(&sim, "web-"), 3, "one of four is missing for good");
    // The same steps with the program that compares.
    let level = example("replicaset-level");
    let from = text.find("- apply:").unwrap();
    let to = text[from + 1..].find("- apply:").unwrap() + from + 1;
    let own = level[level.find("- apply:").unwrap()..]
        .split_once("- wait")
        .unwrap()
        .0
        .to_owned();
    let steps = [&text[..from], &own, &text[to..]]
        .concat()
        .replace("lose replicaset edge", "lose replicaset nine-lines");
    assert_eq!(
        active(&run_text(&steps, 1), "web-"),
        4,
        "the next relist finds it"
    );
}

#[test]
fn restart_takes_the_memory_of_an_event_program() {
    let mut sim = run("replicaset-edge");
    let remembered = |sim: &Sim| {
        let (_, state) = sim.manager.scripted_loops().next().unwrap();
        let variables: Vec<_> = state
            .memory()
            .variables()
            .map(|(_, value)| value.to_string())
            .collect();
        variables.join(" ")
    };
    assert!(
        remembered(&sim).contains("{\"web\":3}"),
        "{}",
        remembered(&sim)
    );
    sim.fault("restart edge").unwrap();
    assert_eq!(remembered(&sim), "");
    advance(&mut sim, 10);
    // The first list is a list of events: to the three Pods, of which it knows nothing, it adds four.
    assert_eq!(active(&sim, "web-"), 7);
}

#[test]
fn deployment() {
    let sim = run("deployment");
    assert_eq!(names(&sim, Kind::ReplicaSet), ["web-1", "web-2"]);
    let sizes: Vec<Value> = all(&sim, Kind::ReplicaSet)
        .iter()
        .map(|set| set["spec"]["replicas"].clone())
        .collect();
    assert_eq!(sizes, [0, 3]);
    // Never more than four are wanted, never less than three ready once they were.
    let (mut total, mut most) = (std::collections::BTreeMap::new(), 0);
    for (_, object) in sim.journal().iter().filter_map(|entry| entry.write()) {
        if object.kind == Kind::ReplicaSet {
            total.insert(
                object.meta.name.clone(),
                object.to_value()["spec"]["replicas"].as_i64().unwrap(),
            );
            most = most.max(total.values().sum::<i64>());
        }
    }
    assert_eq!(most, 4);
    let text = example("deployment");
    for seed in 1..=5 {
        let scenario = scenario::parse(&text).unwrap();
        let sim =
            scenario::run_disturbed(&scenario, seed, scenario::Disturbance::new(seed), &mut Any);
        assert_eq!(
            value(&sim, Kind::Deployment, "web")["status"]["updatedReplicas"],
            3,
            "seed {seed}"
        );
        assert_eq!(active(&sim, "web-"), 3, "seed {seed}");
    }
}

#[test]
fn statefulset() {
    let sim = run("statefulset");
    assert_eq!(names(&sim, Kind::Pod), ["db-0"]);
    let made: Vec<String> = written_by(&sim, "ordinals")
        .filter(|(op, object, _)| *op == Op::Added && object.kind == Kind::Pod)
        .map(|(_, object, _)| object.meta.name.to_string())
        .collect();
    assert_eq!(made, ["db-0", "db-1", "db-2", "db-1"]);
    let removed: Vec<String> = sim
        .journal()
        .iter()
        .filter_map(|entry| entry.write())
        .filter(|(op, object)| *op == Op::Deleted && object.kind == Kind::Pod)
        .map(|(_, object)| object.meta.name.to_string())
        .collect();
    assert_eq!(removed, ["db-1", "db-2", "db-1"]);
}

#[test]
fn website() {
    let sim = run("website");
    // The finalizer has removed the record, the garbage collector the rest.
    let left = |kind: Kind| {
        sim.store()
            .list(kind)
            .filter(|object| object.meta.name.contains("blog"))
            .count()
    };
    assert_eq!(
        (
            left(Kind::ConfigMap),
            left(Kind::Deployment),
            left(Kind::Service)
        ),
        (0, 0, 0)
    );
    let kind = Kind::from_label("Website").unwrap();
    assert_eq!(sim.store().list(kind).count(), 0);
    let phases: Vec<String> = sim
        .journal()
        .iter()
        .filter_map(|entry| entry.write())
        .filter(|(_, object)| object.kind == kind)
        .map(|(_, object)| {
            object.to_value()["status"]["phase"]
                .as_str()
                .unwrap_or("")
                .to_owned()
        })
        .collect();
    assert!(phases.iter().any(|phase| phase == "Ready"), "{phases:?}");
    let services = written_by(&sim, "website-controller")
        .filter(|(op, object, _)| *op == Op::Added && object.kind == Kind::Service);
    assert_eq!(services.count(), 2, "the deleted Service came back");
}

#[test]
fn certificate() {
    let sim = run("certificate");
    // 90 s valid, renewed each 60 s.
    let secret = value(&sim, Kind::Secret, "shop");
    let age = sim.now().0 / 1_000_000;
    let serial: u64 = secret["metadata"]["annotations"]["serial"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    assert!(serial >= 5 && serial <= age / 60 + 1, "{serial} in {age} s");
    let events = sim
        .store()
        .list(Kind::Event)
        .filter(|event| event.to_value()["reason"] == "Renewed");
    assert!(events.count() >= 5);
}

#[test]
fn namespace() {
    let sim = run("namespace");
    let namespaces = |kind: Kind| -> Vec<String> {
        sim.store()
            .list(kind)
            .map(|object| object.meta.namespace.to_string())
            .collect()
    };
    assert_eq!(namespaces(Kind::NetworkPolicy), ["shop"]);
    assert_eq!(namespaces(Kind::ResourceQuota), ["shop"]);
    let policies = written_by(&sim, "namespace-initializer")
        .filter(|(op, object, _)| *op == Op::Added && object.kind == Kind::NetworkPolicy);
    assert_eq!(policies.count(), 2);
}

#[test]
fn leader() {
    let sim = run("leader");
    let writers: Vec<(u64, &str)> = sim
        .journal()
        .iter()
        .filter(|entry| {
            entry.write().is_some_and(|(_, object)| {
                object.kind == Kind::ConfigMap && object.meta.name == "count"
            })
        })
        .filter_map(|entry| match entry.actor.component {
            Component::Loop(id) => Some((entry.time.0 / 1_000_000, id.name)),
            _ => None,
        })
        .collect();
    let first = writers.first().unwrap().1;
    let changes = writers
        .windows(2)
        .filter(|pair| pair[0].1 != pair[1].1)
        .count();
    assert!(changes <= 1 && first == "replica-a", "{writers:?}");
    assert_eq!(
        writers.last().unwrap().1,
        "replica-b",
        "the other takes over"
    );
    assert!(
        writers.windows(2).all(|pair| pair[1].0 - pair[0].0 >= 10),
        "one acts at a time: {writers:?}"
    );
}

#[test]
fn garbage_collector() {
    let sim = run("garbage-collector");
    let left: Vec<String> = names(&sim, Kind::ConfigMap)
        .into_iter()
        .filter(|name| !name.contains("kube"))
        .collect();
    assert_eq!(left, ["free", "owner"]);
    assert!(
        written_by(&sim, "collector")
            .any(|(op, object, _)| op == Op::Deleted && object.meta.name == "orphan")
    );
}

#[test]
fn autoscaler() {
    let sim = run("autoscaler");
    let mut sizes: Vec<(u64, i64)> = Vec::new();
    for entry in sim.journal().iter() {
        if let Some((_, object)) = entry
            .write()
            .filter(|(_, object)| object.kind == Kind::Deployment)
        {
            let size = object.to_value()["spec"]["replicas"].as_i64().unwrap();
            if sizes.last().is_none_or(|(_, last)| *last != size) {
                sizes.push((entry.time.0 / 1_000_000, size));
            }
        }
    }
    let replicas: Vec<i64> = sizes.iter().map(|(_, size)| *size).collect();
    assert_eq!(
        replicas,
        [1, 3, 1],
        "half a minute of low load removes none: {sizes:?}"
    );
    assert!(sizes[2].0 >= 60 + 90 + 30, "{sizes:?}");
}

#[test]
fn canary() {
    let sim = run("canary");
    let image =
        &value(&sim, Kind::Deployment, "web")["spec"]["template"]["spec"]["containers"][0]["image"];
    assert_eq!(
        image, "nginx:1.28",
        "the first was promoted, the second was not"
    );
    assert_eq!(
        value(&sim, Kind::Deployment, "web-canary")["spec"]["replicas"],
        0
    );
    let reasons: Vec<String> = sim
        .store()
        .list(Kind::Event)
        .map(|event| event.to_value()["reason"].as_str().unwrap_or("").to_owned())
        .filter(|reason| reason == "Promoted" || reason == "RolledBack")
        .collect();
    assert_eq!(reasons.len(), 2, "{reasons:?}");
}

#[test]
fn fight() {
    let text = example("fight");
    let half = text.find("- wait: 5s").unwrap();
    let sim = run_text(&format!("{}- wait: 5s\n", &text[..half]), 1);
    let generation = |sim: &Sim| {
        value(sim, Kind::Deployment, "web")["metadata"]["generation"]
            .as_i64()
            .unwrap()
    };
    assert!(
        generation(&sim) > 100,
        "the generation says it: {}",
        generation(&sim)
    );
    let mut sim = run_text(&text, 1);
    let before = generation(&sim);
    advance(&mut sim, 60);
    assert_eq!(generation(&sim), before, "applied, the field has one owner");
    let refused = sim.journal().iter().find_map(|entry| match &entry.record {
        Record::Refused(refused)
            if entry.actor.component.name() == "two" || entry.actor.component.name() == "five" =>
        {
            Some(refused.error.message.clone())
        }
        _ => None,
    });
    assert!(
        refused.unwrap().contains("conflict"),
        "and the other is told whose it is"
    );
}

#[test]
fn classic_bugs() {
    let sim = run("classic-bugs");
    assert_eq!(
        active(&sim, "no-owner"),
        1,
        "the Pod outlives its ConfigMap"
    );
    assert_eq!(
        value(&sim, Kind::ConfigMap, "no-check")["data"]["done"],
        Value::Null,
        "the refused update is lost"
    );
    assert!(active(&sim, "stale-") > 1, "{}", active(&sim, "stale-"));
    assert!(written_by(&sim, "hot-loop").count() > 200);
}

/// Observer of runs whose steps may fail.
struct Any;

impl Observer for Any {
    fn advanced(&mut self, _: &Sim) {}

    fn finished(&mut self, _: &Sim, _: &Finished) {}
}

#[test]
fn examples_settle_as_desired_whatever_is_lost() {
    for (name, settled) in [
        (
            "replicaset-level",
            (|sim: &Sim| active(sim, "web-") == 2) as fn(&Sim) -> bool,
        ),
        ("statefulset", |sim| active(sim, "db-") == 1),
        ("garbage-collector", |sim| {
            value(sim, Kind::ConfigMap, "orphan").is_null()
        }),
        ("website", |sim| active(sim, "blog-") == 0),
        ("namespace", |sim| {
            sim.store().list(Kind::NetworkPolicy).count() == 1
        }),
    ] {
        let scenario = scenario::parse(&example(name)).unwrap();
        for seed in 1..=8 {
            let sim = scenario::run_disturbed(
                &scenario,
                seed,
                scenario::Disturbance::new(seed),
                &mut Any,
            );
            assert!(
                settled(&sim),
                "{name}, seed {seed}: {:?}",
                ready(&sim, names(&sim, control_loop::control_loop())[0].as_str())
            );
        }
    }
}

#[test]
fn program_that_does_not_parse_is_refused_with_its_line() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    let text = control_loop_of(
        "mine",
        FOR_CONFIG_MAPS,
        "def reconcile(key):\n    if True\n        pass",
    );
    let answer = with_input(&mut sim, "apply -f -", &text);
    assert_eq!(
        answer,
        "The ControlLoop \"mine\" is invalid: spec.program: Invalid value: \"if True\": line 2: expected ':', found the end of the line\n"
    );
    for (spec, message) in [
        (
            "  for: {kind: Pod}\n",
            "spec.for.apiVersion: Required value",
        ),
        (
            "  for: {apiVersion: v1, kind: Pod}\n  workers: 0\n",
            "spec.workers",
        ),
        (
            "  for: {apiVersion: v1, kind: Pod}\n  watches: [{apiVersion: v1, kind: Node, map: label}]\n",
            "spec.watches[0].label: Required value",
        ),
        (
            "  for: {apiVersion: v1, kind: Pod}\n  watches: [{apiVersion: v1, kind: Node, map: some}]\n",
            "spec.watches[0].map: Unsupported value",
        ),
        (
            "  for: {apiVersion: v1, kind: Pod}\n  serviceAccountName: web\n",
            "spec.serviceAccountName",
        ),
        (
            "  for: {apiVersion: v1, kind: Pod}\n  wrokers: 2\n",
            "unknown field \"spec.wrokers\"",
        ),
    ] {
        let answer = with_input(
            &mut sim,
            "apply -f -",
            &control_loop_of("mine", spec, "def reconcile(key): pass"),
        );
        assert!(answer.contains(message), "{message}: {answer}");
    }
}

#[test]
fn kind_is_served_like_any_other() {
    let mut sim = with_loop(FOR_CONFIG_MAPS, "def reconcile(key):\n    pass");
    let table = kubectl(&mut sim, "get loops");
    assert!(table.starts_with("NAME   FOR         STYLE   READY   REASON    AGE\nmine   ConfigMap   Level   True    Running"), "{table}");
    let described = kubectl(&mut sim, "describe controlloop mine");
    assert!(
        described.contains("Message:") && described.contains("the program runs"),
        "{described}"
    );
    let explained = kubectl(&mut sim, "explain controlloop.spec.watches");
    assert!(
        explained.contains("FIELD: watches <[]Object>") && explained.contains("map\t<string>"),
        "{explained}"
    );
    assert!(kubectl(&mut sim, "api-resources").contains("controlloops"));
    assert!(
        kubectl(&mut sim, "delete loop mine")
            .contains("controlloop.loopscope.dev \"mine\" deleted")
    );
    advance(&mut sim, 1);
    assert_eq!(sim.manager.scripted_loops().count(), 0);
    assert!(sim.fault("slow mine 1s").is_err());
}

#[test]
fn failing_pass_backs_off_and_is_reported_with_its_line() {
    let mut sim = with_loop(
        FOR_CONFIG_MAPS,
        "def reconcile(key):\n    config = get(\"ConfigMap\", key)\n    if config and key.name == \"bad\":\n        fail(config.data.text)",
    );
    kubectl(&mut sim, "create configmap bad --from-literal=text=oops");
    advance(&mut sim, 30);
    let (state, message) = ready(&sim, "mine");
    assert_eq!(
        (state.as_str(), message.as_str()),
        ("False", "ConfigMap bad: line 4: oops")
    );
    let events = kubectl(&mut sim, "get events -A");
    assert!(
        events.contains("PassFailed")
            && events.contains("controlloop/mine")
            && events.contains("line 4: oops"),
        "{events}"
    );
    let failures = sim
        .store()
        .list(Kind::Event)
        .find_map(|event| event.to_value()["count"].as_u64())
        .unwrap();
    assert!(
        (8..20).contains(&failures),
        "5 ms, 10 ms, 20 ms…: {failures}"
    );
    kubectl(&mut sim, "delete configmap bad");
    advance(&mut sim, 30);
    assert_eq!(ready(&sim, "mine").0, "True");
}

#[test]
fn pass_without_an_end_is_stopped_with_its_line() {
    let mut sim = with_loop(
        FOR_CONFIG_MAPS,
        "def reconcile(key):\n    while True:\n        pass",
    );
    advance(&mut sim, 1);
    let (state, message) = ready(&sim, "mine");
    assert!(
        state == "False"
            && message.ends_with("stopped after 50000 steps")
            && message.contains("line "),
        "{message}"
    );
}

#[test]
fn loop_of_a_service_account_needs_a_role() {
    let spec = format!("{FOR_CONFIG_MAPS}  serviceAccountName: default/mine\n");
    let mut sim = with_loop(
        &spec,
        "def reconcile(key):\n    result = create({\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"metadata\": {\"name\": key.name}})\n    log(result.reason if is_error(result) else \"made\")\n    log(get(\"ConfigMap\", key).reason)",
    );
    kubectl(&mut sim, "create configmap one");
    advance(&mut sim, 1);
    let (_, state) = sim.manager.scripted_loops().next().unwrap();
    let lines: Vec<&str> = state.log().map(|line| line.text.as_str()).collect();
    assert!(lines.contains(&"forbidden"), "{lines:?}");
    assert!(!lines.contains(&"made"));
    kubectl(
        &mut sim,
        "create role mine --verb=* --resource=secrets,configmaps",
    );
    kubectl(
        &mut sim,
        "create rolebinding mine --role=mine --serviceaccount=default:mine",
    );
    kubectl(&mut sim, "create configmap two");
    advance(&mut sim, 1);
    assert!(names(&sim, Kind::Secret).contains(&"two".to_owned()));
}

#[test]
fn faults_act_on_a_loop_by_its_name() {
    let program = "def reconcile(key):\n    config = get(\"ConfigMap\", key)\n    if config:\n        return apply({\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"metadata\": {\"name\": key.name}})";
    let made = |fault: &str, seconds: u64| {
        let mut sim = with_loop(FOR_CONFIG_MAPS, program);
        if !fault.is_empty() {
            sim.fault(fault).unwrap();
        }
        kubectl(&mut sim, "create configmap one");
        kubectl(&mut sim, "create configmap two");
        advance(&mut sim, seconds);
        let made = names(&sim, Kind::Secret);
        made.iter()
            .filter(|name| ["one", "two"].contains(&name.as_str()))
            .count()
    };
    assert_eq!(made("", 1), 2);
    assert_eq!(made("delay configmap 5s mine", 4), 0);
    assert_eq!(made("delay configmap 5s mine", 6), 2);
    assert_eq!(made("lose configmap/one mine", 4), 1);
    assert_eq!(
        made("lose configmap/one mine", 12),
        2,
        "found by the relist"
    );
    assert_eq!(made("slow mine 3s", 4), 1, "one key after another");
    assert_eq!(made("slow mine 3s", 7), 2);
}

#[test]
fn workers_limit_the_keys_at_a_time() {
    let program = "def reconcile(key):\n    return apply({\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"metadata\": {\"name\": key.name}})";
    let times = |workers: u32| {
        let mut sim = with_loop(&format!("{FOR_CONFIG_MAPS}  workers: {workers}\n"), program);
        let many: String = (0..6)
            .map(|i| format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{i}}}\n"))
            .collect();
        with_input(&mut sim, "apply -f -", &many);
        advance(&mut sim, 5);
        let mut times: Vec<u64> = sim
            .journal()
            .iter()
            .filter(|entry| {
                entry.write().is_some_and(|(_, object)| {
                    object.kind == Kind::Secret && object.meta.name.starts_with('c')
                })
            })
            .map(|entry| entry.time.0 / 1000)
            .collect();
        assert_eq!(times.len(), 6);
        times.dedup();
        times.len()
    };
    assert!(times(1) > times(6), "{} {}", times(1), times(6));
}

#[test]
fn replaced_controller_runs_again_when_the_loop_is_gone() {
    let text = example("replicaset-level");
    let mut sim = run_text(&text, 1);
    let by_controller = |sim: &Sim| {
        let made = sim.journal().iter().filter(|entry| {
            entry.actor.component.name() == "replicaset-controller" && entry.write().is_some()
        });
        made.count()
    };
    assert_eq!(by_controller(&sim), 0);
    kubectl(&mut sim, "delete loop nine-lines");
    kubectl(&mut sim, "scale replicaset/web --replicas=3");
    advance(&mut sim, 10);
    assert_eq!(active(&sim, "web-"), 3);
    assert!(by_controller(&sim) > 0);
    let unknown = "  for: {apiVersion: v1, kind: ConfigMap}\n  replaces: no-controller\n";
    let sim = with_loop(unknown, "def reconcile(key): pass");
    assert_eq!(
        ready(&sim, "mine").1,
        "there is no controller \"no-controller\" to replace"
    );
}

#[test]
fn changed_program_takes_the_place_of_the_old_one() {
    let mut sim = with_loop(FOR_CONFIG_MAPS, "def reconcile(key):\n    log(\"old\")");
    let text = control_loop_of(
        "mine",
        FOR_CONFIG_MAPS,
        "def reconcile(key):\n    log(\"new\")",
    );
    assert!(with_input(&mut sim, "apply -f -", &text).contains("configured"));
    advance(&mut sim, 5);
    let (_, state) = sim.manager.scripted_loops().next().unwrap();
    assert!(state.log().count() > 0 && state.log().all(|line| line.text == "new"));
    assert_eq!(status(&sim, "mine")["observedGeneration"], 2);
}

#[test]
fn history_with_a_loop_is_the_same_however_it_is_sliced() {
    let digest = |slice: usize| {
        let scenario = scenario::parse(&example("replicaset-edge")).unwrap();
        let sim = scenario::run(&scenario, 3, slice, &mut Strict);
        format!(
            "{:?}",
            sim.journal()
                .iter()
                .map(|entry| (entry.time, entry.key(), entry.why.clone()))
                .collect::<Vec<_>>()
        )
    };
    assert_eq!(digest(usize::MAX), digest(7));
}

#[test]
fn copy_goes_on_like_the_original() {
    let mut sim = run("replicaset-edge");
    let mut copy = sim.clone();
    for sim in [&mut sim, &mut copy] {
        kubectl(sim, "scale replicaset/web --replicas=6");
        advance(sim, 10);
    }
    assert_eq!(names(&sim, Kind::Pod), names(&copy, Kind::Pod));
}

#[test]
fn trace_has_the_lines_of_a_pass_and_changes_nothing() {
    let sim = run("replicaset-level");
    let before = sim.journal().len();
    let (of, _) = sim.manager.scripted_loops().next().unwrap();
    let steps = sim.trace_pass(of.id, &key(Kind::ReplicaSet, "web"));
    let lines: Vec<u32> = steps.iter().map(|step| step.line).collect();
    assert_eq!(lines.first(), Some(&2));
    assert_eq!(lines.last(), Some(&10));
    assert_eq!(sim.journal().len(), before);
}

/// Programs of random pieces act on a cluster: the engine goes on, and the history grows only so far.
#[test]
fn random_programs_do_no_harm() {
    const PIECES: &[&str] = &[
        "config = get(\"ConfigMap\", key)",
        "pods = list(\"Pod\")",
        "pods = list(\"Pod\", owner=config)",
        "create(config)",
        "update(config)",
        "patch(config, {\"data\": {\"a\": str(now())}})",
        "patch(config, {\"metadata\": {\"name\": \"x\"}})",
        "apply({\"kind\": \"Secret\", \"metadata\": {\"name\": key.name}})",
        "delete(config)",
        "delete(config, uid=\"no\")",
        "update_status(config, {\"a\": [1]})",
        "event(config, \"Reason\", \"x\" * 5000)",
        "requeue_after(0)",
        "requeue_after(-1)",
        "create({\"kind\": \"Pod\", \"metadata\": {\"generateName\": \"p-\"}, \"spec\": {\"containers\": [{\"name\": \"c\", \"image\": \"i\"}]}})",
        "create({\"kind\": \"Pod\", \"metadata\": {\"name\": \"\"}})",
        "create({\"kind\": \"Node\", \"metadata\": {\"name\": \"n\"}})",
        "create({\"kind\": \"No\"})",
        "create({})",
        "create(None)",
        "set_owner(config, config)",
        "set_owner({}, config)",
        "add_finalizer(config, \"a/b\")",
        "update(config | {\"spec\": {\"a\": 1}})",
        "delete(get(\"ControlLoop\", \"mine\"))",
        "delete({\"kind\": \"Namespace\", \"metadata\": {\"name\": \"default\"}})",
        "for pod in list(\"Pod\"): delete(pod)",
        "log([pods, config])",
        "log(timestamp(99999999999999))",
        "seconds(\"x\")",
        "fail(\"no\")",
        "while True: create(config)",
        "return update(config)",
        "config.metadata.labels = {\"a\": 1}",
        "config.metadata.resourceVersion = \"1\"",
        "config.metadata = None",
        "apply(config)",
        "apply(config, force=False)",
        "diff(config, pods)",
        "check(update(config))",
        "get(\"Event\", \"x\")",
        "get(\"Node\", \"node-1\").spec.x = pods",
        "patch(get(\"Node\", \"node-1\"), {\"status\": {}})",
    ];
    let mut rng = sim_core::rng::Rng::new(7);
    for round in 0..50 {
        let entry = match round % 3 {
            0 => "def on_event(event):\n    key = event.object.metadata\n",
            _ => "def reconcile(key):\n",
        };
        let mut program = format!("{entry}    config, pods = get(\"ConfigMap\", key), []\n");
        for _ in 0..rng.below(8) {
            program += &format!("    {}\n", PIECES[rng.below(PIECES.len() as u64) as usize]);
        }
        let mut sim = Sim::new(ClusterConfig::default(), round);
        let text = control_loop_of("mine", FOR_CONFIG_MAPS, &program);
        let applied = with_input(&mut sim, "apply -f -", &text);
        assert!(applied.contains("created"), "{applied}");
        kubectl(&mut sim, "create configmap one");
        advance(&mut sim, 2);
        sim.fault("restart mine").ok();
        advance(&mut sim, 1);
        let length = sim.journal().len();
        assert!(length < 60_000, "{length}: {program}");
    }
}
