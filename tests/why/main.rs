//! Questions that a reader asks, with the chain that answers each: what is missing, the values that decide, what it waits
//! for, who began it; and for what waits or fails a remedy that is applied and seen to work.
//!
//! Questions that need nothing but steps and an expected answer are data, in `questions/`; those that look further are tests here.

use actions::{Action, Host};
use apiserver::Why;
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use controller_runtime::fact::Fact;
use explain::diagnose::{self, Diagnosis};
use explain::standing;
use explain::why::{self, Row};
use explain::words::{self, Reason};
use k8s_model::{Kind, ObjectRef, Time};

/// More than any of these small clusters needs.
const TASKS: usize = 400_000;

/// Facts in English.
fn facts(facts: &[Fact]) -> Vec<(String, String)> {
    rows(&facts.iter().map(why::row).collect::<Vec<_>>())
}

/// Rows in English.
fn rows(rows: &[Row]) -> Vec<(String, String)> {
    rows.iter()
        .map(|(name, value)| (name.english(), value.english()))
        .collect()
}

/// A cluster and what a person does to it: manifests, kubectl lines, faults, and `+30` for half a minute.
fn sim(nodes: usize, acts: &[&str]) -> Sim {
    let mut sim = Sim::new(ClusterConfig::with_nodes(nodes), 1);
    act(&mut sim, acts);
    sim
}

fn act(sim: &mut Sim, acts: &[&str]) {
    let mut host = Host::new(sim.clone());
    for step in acts {
        if let Some(seconds) = step.strip_prefix('+') {
            let seconds: u64 = seconds.parse().unwrap();
            for _ in 0..seconds {
                let next = Time(host.sim.now().0 + 1_000_000);
                assert!(host.advance(next, TASKS).done);
                host.run(&Action::Poll);
            }
            continue;
        }
        let action = match step.strip_prefix("fault ") {
            Some(fault) => Action::Fault(fault.parse().unwrap()),
            None if step.starts_with("kubectl ") => Action::kubectl(*step),
            None => Action::apply(*step),
        };
        let answer = host.run(&action);
        assert!(
            answer.diagnostics.iter().all(|d| !d.error),
            "{step}: {:?}",
            answer.diagnostics
        );
        let errors: Vec<_> = answer
            .lines
            .iter()
            .filter(|line| line.error && line.text.contains("rror"))
            .collect();
        assert!(
            errors.is_empty() || step.contains("drain"),
            "{step}: {errors:?}"
        );
    }
    *sim = host.sim;
}

/// `Pod/web-0`; a name that ends in `*` is the first that begins so and waits or fails.
fn key(sim: &Sim, words: &str) -> ObjectRef {
    let (kind, name) = words.split_once('/').unwrap();
    let kind = Kind::from_label(kind).unwrap();
    let namespace = if kind.info().namespaced {
        "default"
    } else {
        ""
    };
    let Some(stem) = name.strip_suffix('*') else {
        return ObjectRef::new(kind, namespace, name);
    };
    let mut all = sim
        .store()
        .list(kind)
        .map(|object| object.key())
        .filter(|key| key.name.starts_with(stem));
    all.find(|key| diagnose::diagnose(sim, key).is_some())
        .unwrap_or_else(|| panic!("no {words} waits"))
}

/// A question of `questions/`: a cluster, what happens to it, and what is expected of the answer.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    question: String,
    #[serde(default = "three")]
    nodes: usize,
    /// Manifests, kubectl commands, faults, and `+30` for half a minute.
    steps: Vec<String>,
    of: String,
    /// What is missing; left out where nothing is.
    #[serde(default)]
    headline: String,
    /// The sentence that selecting the object shows; not checked where it is left out.
    standing: Option<String>,
    /// The reason of the newest of the chain; not checked where it is left out.
    because: Option<String>,
    /// What the last of the chain did; not checked where it is left out.
    began: Option<String>,
    #[serde(default)]
    facts: Vec<(String, String)>,
    #[serde(default)]
    waits_for: Vec<String>,
    by: Vec<String>,
    #[serde(default)]
    remedy: String,
}

fn three() -> usize {
    3
}

fn questions(file: &str) {
    let path = format!(
        "{}/tests/why/questions/{file}.yaml",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(&path).unwrap();
    let all: Vec<Question> =
        serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
    assert!(!all.is_empty());
    fn strs(all: &[String]) -> Vec<&str> {
        all.iter().map(String::as_str).collect()
    }
    let mut wrong = Vec::new();
    for one in &all {
        let facts: Vec<(&str, &str)> = one
            .facts
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let (steps, then, by) = (strs(&one.steps), strs(&one.waits_for), strs(&one.by));
        let answer = Answer {
            of: &one.of,
            headline: &one.headline,
            facts: &facts,
            then: &then,
            by: &by,
            remedy: &one.remedy,
        };
        let asked = std::panic::catch_unwind(|| {
            let sim = sim(one.nodes, &steps);
            ask(&sim, &answer);
            if let Some(standing) = &one.standing {
                let is = standing::of(&sim, &key(&sim, &one.of)).sentence.english();
                assert!(reads(&is, standing), "{is:?} is not {standing:?}");
            }
            if let Some(because) = &one.because {
                let chain = standing::chain(&sim, sim.journal(), &key(&sim, &one.of));
                assert_eq!(
                    chain.first().map(|reason| reason.short.english()).as_ref(),
                    Some(because),
                    "{}",
                    print(&[], &chain)
                );
            }
            if let Some(began) = &one.began {
                let chain = standing::chain(&sim, sim.journal(), &key(&sim, &one.of));
                assert_eq!(
                    chain.last().map(|reason| reason.effect.english()).as_ref(),
                    Some(began),
                    "{}",
                    print(&[], &chain)
                );
            }
        });
        if asked.is_err() {
            wrong.push(one.question.as_str());
        }
    }
    assert!(
        wrong.is_empty(),
        "answered wrongly, as printed above: {wrong:#?}"
    );
}

#[test]
fn scheduling() {
    questions("scheduling");
}

#[test]
fn workloads() {
    questions("workloads");
}

#[test]
fn storage() {
    questions("storage");
}

#[test]
fn network() {
    questions("network");
}

#[test]
fn batch() {
    questions("batch");
}

#[test]
fn policy() {
    questions("policy");
}

#[test]
fn stuck() {
    questions("stuck");
}

#[test]
fn healthy() {
    questions("healthy");
}

/// What is expected of an answer.
struct Answer<'a> {
    /// The object asked about.
    of: &'a str,
    headline: &'a str,
    /// Rows that must be among the facts.
    facts: &'a [(&'a str, &'a str)],
    /// What it waits for, down to the root: beginnings of `Kind/name`.
    then: &'a [&'a str],
    /// Who did what led here, newest first; the last is the person.
    by: &'a [&'a str],
    /// The words of the remedy that is tried, and seen to work; empty if there is none.
    remedy: &'a str,
}

fn print(chain: &[Diagnosis], reasons: &[Reason]) -> String {
    let mut out = String::new();
    for found in chain {
        out += &format!("\n{}: {:?}\n", found.object, found.headline().english());
        for (name, value) in rows(&found.rows()) {
            out += &format!("    {name:?}, {value:?}\n");
        }
        for remedy in &found.remedies {
            out += &format!(
                "  remedy {:?}: {:?}\n",
                remedy.words().english(),
                remedy.steps
            );
        }
        out += &format!(
            "  waits for {:?}, since {:?}, spared {:?}\n",
            found.waits_for.as_ref().map(|key| key.to_string()),
            found.since,
            found.unaffected
        );
    }
    for reason in reasons {
        out += &format!(
            "  {} {}: {} ({}) {:?}\n",
            reason.at,
            reason.actor.english(),
            reason.effect.english(),
            reason.short.english(),
            facts(&reason.saw)
        );
    }
    out
}

/// Whether a sentence is the one expected; what a generated name differs in is left out there: `web-…`.
fn reads(is: &str, expected: &str) -> bool {
    let parts: Vec<&str> = expected.split('…').collect();
    is.starts_with(parts[0]) && is.ends_with(parts[parts.len() - 1])
}

fn ask(sim: &Sim, answer: &Answer<'_>) {
    let key = key(sim, answer.of);
    let chain = diagnose::chain_of_waiting(sim, &key);
    let standing = standing::of(sim, &key);
    let reasons = standing::chain(sim, sim.journal(), standing.root.as_ref().unwrap_or(&key));
    let text = print(&chain, &reasons);
    if std::env::var("SHOW").is_ok() {
        println!("{text}\n  STANDING {:?}", standing.sentence.english());
        for found in &chain {
            for remedy in &found.remedies {
                println!(
                    "  {} {}: {}",
                    found.object,
                    remedy.words().english(),
                    diagnose::works(sim, found, remedy, TASKS)
                );
            }
        }
        return;
    }
    let mut by: Vec<String> = reasons
        .iter()
        .map(|reason| reason.actor.english())
        .collect();
    by.dedup();
    assert_eq!(by, answer.by, "{text}");
    if answer.headline.is_empty() {
        return assert!(chain.is_empty(), "{text}");
    }
    let found = chain
        .first()
        .unwrap_or_else(|| panic!("nothing is said of {key}{text}"));
    let headline = found.headline().english();
    assert!(
        reads(&headline, answer.headline),
        "{headline:?} is not {:?}{text}",
        answer.headline
    );
    let rows = rows(&found.rows());
    for (name, value) in answer.facts {
        assert!(
            rows.iter().any(|(n, v)| n == name && v == value),
            "{name}: {value} is not among the facts{text}"
        );
    }
    let then: Vec<String> = chain[1..]
        .iter()
        .map(|found| format!("{}/{}", found.object.kind.name(), found.object.name))
        .collect();
    assert!(
        then.len() == answer.then.len()
            && then
                .iter()
                .zip(answer.then)
                .all(|(is, want)| is.starts_with(want)),
        "{then:?}{text}"
    );
    if answer.remedy.is_empty() {
        return assert!(found.remedies.is_empty(), "{text}");
    }
    let remedy = found
        .remedies
        .iter()
        .find(|remedy| remedy.words().english().starts_with(answer.remedy));
    let remedy = remedy.unwrap_or_else(|| panic!("no remedy {:?}{text}", answer.remedy));
    assert!(
        diagnose::works(sim, found, remedy, TASKS),
        "{:?} does not help{text}",
        answer.remedy
    );
}

/// A Deployment; `spec` is its Pods' spec in one line.
fn deployment(name: &str, replicas: i32, annotations: &str, spec: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec:\n  replicas: {replicas}\n  selector: {{matchLabels: {{app: {name}}}}}\n  \
         template:\n    metadata: {{labels: {{app: {name}}}, annotations: {{{annotations}}}}}\n    spec: {spec}\n"
    )
}

const PLAIN: &str = "{containers: [{name: c, image: 'nginx:1.27'}]}";

fn pod(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, labels: {{app: {name}}}}}\nspec: {spec}\n"
    )
}

fn claim(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: {name}}}\nspec: {{accessModes: [ReadWriteOnce], \
         resources: {{requests: {{storage: 2Gi}}}}{spec}}}\n"
    )
}

fn volume(name: &str, size: &str, spec: &str) -> String {
    format!(
        "apiVersion: v1\nkind: PersistentVolume\nmetadata: {{name: {name}}}\nspec: {{capacity: {{storage: {size}}}, hostPath: {{path: /tmp/x}}{spec}}}\n"
    )
}

fn service(name: &str, spec: &str) -> String {
    format!("apiVersion: v1\nkind: Service\nmetadata: {{name: {name}}}\nspec: {spec}\n")
}

// ---- Scheduling.

#[test]
fn why_is_this_pod_pending_too_many_pods() {
    let mut config = ClusterConfig::with_nodes(1);
    config.nodes[0].allocatable = vec![("pods".into(), "3".into())];
    let mut sim = Sim::new(config, 1);
    act(&mut sim, &[&deployment("web", 4, "", PLAIN), "+20"]);
    ask(
        &sim,
        &Answer {
            of: "Pod/web-*",
            headline: "The only node cannot run this Pod",
            facts: &[("node-1", "Pod limit reached (3)")],
            then: &[],
            by: &[
                "default-scheduler",
                "replicaset-controller",
                "deployment-controller",
                "user",
            ],
            remedy: "Add node-2",
        },
    );
}

/// Of thousands it helps nobody that one finds room: as many nodes are offered as all of them need, and nothing that is too little.
#[test]
fn why_do_thousands_not_fit_and_how_many_nodes_do_they_need() {
    let tenth = "{containers: [{name: c, image: nginx, resources: {requests: {cpu: 100m}}}]}";
    let agent = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent}\nspec: {selector: {matchLabels: {app: agent}}, template: {metadata: \
                 {labels: {app: agent}}, spec: {containers: [{name: c, image: nginx, resources: {requests: {cpu: 500m}}}]}}}\n";
    let mut sim = sim(
        3,
        &[
            "kubectl cordon node-3",
            agent,
            "+5",
            &deployment("web", 700, "", tenth),
            "+60",
        ],
    );
    let pod = key(&sim, "Pod/web-*");
    let chain =
        diagnose::chain_of_waiting(&sim, &ObjectRef::new(Kind::Deployment, "default", "web"));
    let found = chain.last().unwrap();
    assert!(
        found.object.name.starts_with("web-") && diagnose::diagnose(&sim, &pod).is_some(),
        "{}",
        print(&chain, &[])
    );
    let words: Vec<String> = found
        .remedies
        .iter()
        .map(|remedy| remedy.words().english())
        .collect();
    // 35 of them have room on each of two nodes, and on each new one.
    assert_eq!(
        words,
        ["Add 18 nodes: node-4 … node-21"],
        "{}",
        print(&chain, &[])
    );
    let steps: Vec<String> = found.remedies[0]
        .steps
        .iter()
        .map(Action::to_string)
        .collect();
    act(
        &mut sim,
        &steps.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    act(&mut sim, &["+90"]);
    let ready = sim
        .store()
        .list(Kind::Pod)
        .filter(|pod| {
            pod.meta.name.starts_with("web-") && pod.pod().is_some_and(|pod| pod.is_ready())
        })
        .count();
    assert_eq!(ready, 700);
    // What no machine has room for gets none.
    let big = "{containers: [{name: c, image: nginx, resources: {requests: {cpu: 100}}}]}";
    let sim = self::sim(2, &[&deployment("big", 2, "", big), "+20"]);
    let found = diagnose::diagnose(&sim, &key(&sim, "Pod/big-*")).unwrap();
    assert!(
        found
            .remedies
            .iter()
            .all(|remedy| !remedy.words().english().starts_with("Add ")),
        "{found:?}"
    );
}

fn cures(sim: &Sim, of: &str) -> Vec<String> {
    let found = diagnose::diagnose(sim, &key(sim, of)).unwrap();
    found
        .remedies
        .iter()
        .map(|remedy| remedy.words().english())
        .collect()
}

/// New nodes are counted for those that they would take, one for each Pod only where the Pods asked about keep apart.
#[test]
fn new_nodes_are_not_counted_for_pods_that_they_do_not_take() {
    let spec = |more: &str| {
        format!(
            "{{{more}containers: [{{name: c, image: nginx, resources: {{requests: {{cpu: 1}}}}}}]}}"
        )
    };
    let full = deployment("full", 8, "", &spec(""));
    let apart = "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, \
                 labelSelector: {matchLabels: {app: apart}}}]}}, ";
    let apart = deployment("apart", 4, "", &spec(apart));
    let affinity = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: \
                    [{key: disk, operator: Exists}]}]}}}, ";
    for others in [
        "nodeSelector: {disk: ssd}, ",
        "schedulingGates: [{name: x}], ",
        affinity,
    ] {
        let others = deployment("others", 300, "", &spec(others));
        let sim = sim(1, &[&full, "+10", &others, "+20"]);
        assert_eq!(cures(&sim, "Pod/full-*")[0], "Add node-2", "{others}");
        let sim = self::sim(2, &[&apart, "+10", &others, "+20"]);
        let sim_cures = cures(&sim, "Pod/apart-*");
        assert!(
            sim_cures[0].starts_with("Add 2 nodes: node-3"),
            "{sim_cures:?} {others}"
        );
    }
    // Others that wait for room share it: four more nodes for eight that keep apart, two for eight that do not.
    let sim = self::sim(
        2,
        &[&apart, "+10", &deployment("more", 14, "", &spec("")), "+20"],
    );
    let sim_cures = cures(&sim, "Pod/apart-*");
    assert!(sim_cures[0].starts_with("Add 4 nodes: "), "{sim_cures:?}");
}

/// What is too little on one node is done on as many as are needed.
#[test]
fn what_keeps_pods_from_several_nodes_is_taken_from_all_of_them() {
    let two = |more: &str| {
        format!(
            "{{{more}containers: [{{name: c, image: nginx, resources: {{requests: {{cpu: 2}}}}}}]}}"
        )
    };
    let web = |replicas| deployment("web", replicas, "", &two(""));
    let label = deployment("web", 4, "", &two("nodeSelector: {disk: ssd}, "));
    let on_both = |line: &str| [1, 2].map(|number| line.replace('#', &number.to_string()));
    let [cordon, taint, down] = [
        "kubectl cordon node-#",
        "kubectl taint nodes node-# a=b:NoSchedule",
        "fault node-down node-#",
    ]
    .map(on_both);
    let none: [String; 2] = Default::default();
    for (acts, then, workload, words) in [
        (&cordon, "+1", web(4), "Uncordon node-1, node-2: 8 CPU free"),
        (&cordon, "+1", web(2), "Uncordon node-1: 4 CPU free"),
        (
            &taint,
            "+1",
            web(4),
            "Remove the taint from node-1, node-2: a",
        ),
        (&down, "+400", web(4), "Power on node-1, node-2"),
        (&none, "+1", label, "Label node-1, node-2: disk=ssd"),
    ] {
        let acts: Vec<&str> = acts
            .iter()
            .map(String::as_str)
            .filter(|act| !act.is_empty())
            .collect();
        let sim = sim(2, &[&acts[..], &[then, &workload, "+20"]].concat());
        let found = diagnose::diagnose(&sim, &key(&sim, "Pod/web-*")).unwrap();
        let remedy = found
            .remedies
            .iter()
            .find(|remedy| remedy.words().english() == words);
        assert!(
            diagnose::works(
                &sim,
                &found,
                remedy.unwrap_or_else(|| panic!("{words}: {found:?}")),
                TASKS
            ),
            "{words}"
        );
    }
    // Nothing that is too little even on all of them.
    let sim = sim(2, &[&cordon[0], &cordon[1], &web(5), "+20"]);
    assert!(
        cures(&sim, "Pod/web-*")
            .iter()
            .all(|words| !words.starts_with("Uncordon"))
    );
    // A node that has its Pods has no room, whatever they request.
    let mut config = ClusterConfig::with_nodes(2);
    config
        .nodes
        .iter_mut()
        .for_each(|node| node.allocatable = vec![("pods".into(), "3".into())]);
    let mut sim = Sim::new(config, 1);
    act(
        &mut sim,
        &[
            &cordon[0],
            &cordon[1],
            &deployment("web", 4, "", PLAIN),
            "+20",
        ],
    );
    assert_eq!(
        cures(&sim, "Pod/web-*")[0],
        "Uncordon node-1, node-2: 8 CPU free"
    );
}

/// Of very many nothing is offered that is too little.
#[test]
fn too_many_to_be_counted_get_no_nodes() {
    let mut host = Host::new(sim(1, &[]));
    host.run(&Action::apply(deployment("web", 21_000, "", PLAIN)));
    let mut sim = host.sim;
    while sim.scheduler.waiting() < 20_800 && sim.now() < Time(900_000_000) {
        sim.advance(Time(sim.now().0 + 5_000_000), 4_000_000);
    }
    assert!(
        sim.scheduler.waiting() > 20_000,
        "{}",
        sim.scheduler.waiting()
    );
    let set = sim.store().list(Kind::ReplicaSet).next().unwrap().key();
    let chain = diagnose::chain_of_waiting(&sim, &set);
    let words: Vec<String> = chain
        .last()
        .unwrap()
        .remedies
        .iter()
        .map(|remedy| remedy.words().english())
        .collect();
    assert!(
        words.iter().all(|words| !words.starts_with("Add ")),
        "{words:?}"
    );
}

#[test]
fn why_was_this_pod_deleted_a_more_important_one_needed_the_room() {
    let class = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 1000\n";
    let low = pod(
        "low",
        "{containers: [{name: c, image: nginx, resources: {requests: {cpu: 3}}}]}",
    );
    let high = pod(
        "high",
        "{priorityClassName: high, containers: [{name: c, image: nginx, resources: {requests: {cpu: 3}}}]}",
    );
    let sim = sim(1, &[class, &low, "+5", &high, "+20"]);
    let chain = words::chain(sim.journal(), &sim.delays, &key(&sim, "Pod/low"), 0);
    let text = print(&[], &chain);
    if std::env::var("SHOW").is_ok() {
        return println!("{text}");
    }
    assert!(
        chain
            .iter()
            .any(|reason| reason.short.english().contains("preempted by Pod high")),
        "{text}"
    );
    assert_eq!(
        chain.last().map(|reason| reason.actor.english()).as_deref(),
        Some("user"),
        "{text}"
    );
}

#[test]
fn why_this_node_and_not_that_one() {
    let first = pod(
        "first",
        "{containers: [{name: c, image: nginx, resources: {requests: {cpu: 1}}}]}",
    );
    let second = pod(
        "second",
        "{containers: [{name: c, image: nginx, resources: {requests: {cpu: 1}}}]}",
    );
    let sim = sim(2, &[&first, "+5", &second, "+20"]);
    let journal = sim.journal();
    let bound = journal.iter().rposition(|e| {
        e.actor.component.name() == "default-scheduler" && e.key() == Some(key(&sim, "Pod/second"))
    });
    let saw = facts(&why::explain(&journal[bound.unwrap()].why).evidence);
    if std::env::var("SHOW").is_ok() {
        return println!("{saw:?}");
    }
    assert_eq!(
        saw[1],
        ("nodes that fit".to_string(), "2".to_string()),
        "{saw:?}"
    );
    assert_eq!(saw[2].0, "score of node-1", "{saw:?}");
    assert!(
        saw[2].1.parse::<i64>().unwrap() < saw[3].1.parse::<i64>().unwrap(),
        "{saw:?}"
    );
}

// ---- Workloads.

#[test]
fn why_does_the_pod_not_start_its_image_cannot_be_pulled() {
    let sim = sim(
        1,
        &[
            &deployment(
                "web",
                1,
                "",
                "{containers: [{name: c, image: 'nginx:broken'}]}",
            ),
            "+3",
        ],
    );
    let pod = key(&sim, "Pod/web-*");
    let reasons = words::chain(sim.journal(), &sim.delays, &pod, 0);
    assert_eq!(
        reasons[0].short.english(),
        "the image cannot be pulled",
        "{reasons:?}"
    );
    assert!(
        reasons[0].effect.english().ends_with("→ ImagePullBackOff"),
        "{reasons:?}"
    );
    assert_eq!(
        reasons[1].short.english(),
        "the image cannot be pulled",
        "{reasons:?}"
    );
    assert!(
        reasons[1]
            .effect
            .english()
            .ends_with("ContainerCreating → ErrImagePull"),
        "{reasons:?}"
    );
}

/// Each try is followed by its back-off, and the Events count them.
#[test]
fn an_image_that_cannot_be_pulled_is_tried_again() {
    let mut sim = sim(
        1,
        &[
            &deployment(
                "web",
                1,
                "",
                "{containers: [{name: c, image: 'nginx:broken'}]}",
            ),
            "+120",
        ],
    );
    let told = |sim: &Sim, reason: &str| -> Vec<i32> {
        let count = |object: &std::rc::Rc<k8s_model::Object>| match &object.body {
            k8s_model::Body::Event(event) if event.reason == reason => event.count,
            _ => None,
        };
        sim.store().list(Kind::Event).filter_map(count).collect()
    };
    assert_eq!(told(&sim, "Pulling"), [4]);
    assert_eq!(told(&sim, "BackOff"), [4]);
    let pod = key(&sim, "Pod/web-*");
    let states: Vec<String> = words::chain(sim.journal(), &sim.delays, &pod, 0)
        .iter()
        .map(|reason| reason.effect.english())
        .collect();
    assert!(
        states[0].ends_with("ErrImagePull → ImagePullBackOff"),
        "{states:?}"
    );
    assert!(
        states[1].ends_with("ImagePullBackOff → ErrImagePull"),
        "{states:?}"
    );
    // An hour later it is tried every five minutes, and the kubelet has run out of Events to say so.
    act(&mut sim, &["+3600"]);
    assert!(told(&sim, "Pulling")[0] < 15, "{:?}", told(&sim, "Pulling"));
    assert!(told(&sim, "Pulling")[0] > 5, "{:?}", told(&sim, "Pulling"));
}

/// A Pod that its silent kubelet does not let go of is in no limit of a rolling update; Recreate waits for it.
#[test]
fn an_old_pod_on_a_dead_node_holds_back_a_recreation_and_no_rolling_update() {
    for (strategy, waits) in [
        ("Recreate", true),
        ("RollingUpdate, rollingUpdate: {maxUnavailable: 2}", false),
    ] {
        let web = deployment("web", 3, "", PLAIN).replace(
            "  selector:",
            &format!("  strategy: {{type: {strategy}}}\n  selector:"),
        );
        let slow = "kubectl patch deployment web -p '{\"spec\":{\"template\":{\"metadata\":{\"annotations\":{\"loopscope.dev/ready-after\":\"60\"}}}}}'";
        let sim = sim(
            3,
            &[&web, "+5", "fault node-down node-2", "+60", slow, "+20"],
        );
        let leaves = sim
            .store()
            .list(Kind::Pod)
            .any(|pod| pod.meta.is_deleting());
        assert!(leaves, "no Pod is stuck");
        let found = diagnose::chain_of_waiting(&sim, &key(&sim, "Deployment/web"));
        let blamed = found.iter().any(|one| {
            sim.store()
                .get(&one.object)
                .is_some_and(|object| object.meta.is_deleting())
        });
        let offers = found.iter().flat_map(|one| &one.remedies).any(|remedy| {
            remedy
                .steps
                .iter()
                .any(|step| step.to_string().contains("node-up"))
        });
        assert_eq!((blamed, offers), (waits, waits), "{strategy}: {found:?}");
    }
}

/// What is offered must exist: the name without its tag, or what the revision before ran.
#[test]
fn no_image_is_offered_that_cannot_be_pulled() {
    let image = |sim: &Sim| {
        let found = diagnose::diagnose(sim, &key(sim, "Pod/web-*")).unwrap();
        let words: Vec<String> = found
            .remedies
            .iter()
            .map(|remedy| remedy.words().english())
            .collect();
        words
            .into_iter()
            .find(|words| words.starts_with("Set the image"))
    };
    assert_eq!(
        image(&sim(
            1,
            &[
                &deployment(
                    "web",
                    1,
                    "",
                    "{containers: [{name: c, image: 'broken:1.0'}]}"
                ),
                "+5"
            ]
        )),
        None
    );
    let acts = [
        &*deployment("web", 1, "", PLAIN),
        "+5",
        "kubectl set image deployment/web c=broken:1.0",
        "+5",
    ];
    assert_eq!(
        image(&sim(1, &acts)).as_deref(),
        Some("Set the image to nginx:1.27")
    );
    let acts = [
        &*deployment(
            "web",
            1,
            "",
            "{containers: [{name: c, image: 'nginx:broken'}]}",
        ),
        "+5",
    ];
    assert_eq!(
        image(&sim(1, &acts)).as_deref(),
        Some("Set the image to nginx")
    );
}

/// A Pod without an owner keeps its name: its image can be changed in place, and the next try finds it.
#[test]
fn an_image_that_is_mended_starts_at_the_next_try() {
    let mut sim = sim(
        1,
        &[
            &pod("web", "{containers: [{name: c, image: 'nginx:broken'}]}"),
            "+5",
            "kubectl set image pod/web c=nginx:1.27",
        ],
    );
    act(&mut sim, &["+12"]);
    let pod = sim
        .store()
        .get(&ObjectRef::new(Kind::Pod, "default", "web"))
        .unwrap()
        .pod()
        .unwrap()
        .clone();
    assert!(
        pod.is_ready() && pod.status.container_statuses[0].restart_count == 0,
        "{:?}",
        pod.status
    );
}

#[test]
fn why_is_this_pod_ready_its_probe_has_answered() {
    let ready = |probe: &str| {
        let sim = sim(
            1,
            &[
                &pod(
                    "web",
                    &format!(
                        "{{containers: [{{name: c, image: nginx, readinessProbe: {probe}}}]}}"
                    ),
                ),
                "+30",
            ],
        );
        let reasons = words::chain(
            sim.journal(),
            &sim.delays,
            &ObjectRef::new(Kind::Pod, "default", "web"),
            0,
        );
        assert!(
            reasons[0].effect.english().ends_with("became Ready"),
            "{reasons:?}"
        );
        reasons[0].short.english().clone()
    };
    assert_eq!(
        ready("{httpGet: {port: 80, path: /healthz}}"),
        "readiness probe GET /healthz → 200"
    );
    assert_eq!(
        ready("{httpGet: {port: 80}, initialDelaySeconds: 5}"),
        "readiness probe GET / → 200"
    );
    assert_eq!(
        ready("{tcpSocket: {port: 80}}"),
        "readiness probe TCP :80 → open"
    );
    assert_eq!(
        ready("{exec: {command: [cat, /tmp/up]}}"),
        "readiness probe cat /tmp/up → 0"
    );
    // What is a person's own word keeps its numbers as they are.
    assert_eq!(
        ready("{exec: {command: [check, \"2181\"]}}"),
        "readiness probe check 2181 → 0"
    );
}

#[test]
fn init_containers_are_not_said_to_be_all_that_has_started() {
    let spec = "{initContainers: [{name: a, image: i}, {name: b, image: i, restartPolicy: Always}, {name: c, image: i}], containers: [{name: d, image: i}]}";
    let sim = sim(1, &[&pod("web", spec), "+20"]);
    let reasons = words::chain(
        sim.journal(),
        &sim.delays,
        &ObjectRef::new(Kind::Pod, "default", "web"),
        0,
    );
    let shorts: Vec<String> = reasons
        .iter()
        .map(|reason| reason.short.english())
        .collect();
    let last = "its containers have started";
    let up = "the Pod sandbox is ready: init containers start first";
    assert_eq!(
        shorts[..4],
        [
            last,
            "a sidecar has started",
            "an init container has completed",
            up
        ],
        "{reasons:?}"
    );
}

/// Its kubelet was last heard before it fell silent, and all seemed well until that was noticed.
#[test]
fn a_pod_waits_since_its_node_was_found_silent() {
    let set = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent}\nspec:\n  selector: {matchLabels: {app: agent}}\n  template:\n    \
               metadata: {labels: {app: agent}}\n    spec: {containers: [{name: c, image: i}]}\n";
    let mut sim = sim(3, &[set, "+9", "fault node-down node-2", "+20"]);
    let since = |sim: &Sim, words: &str| diagnose::diagnose(sim, &key(sim, words)).unwrap().since;
    assert_eq!(
        (since(&sim, "Pod/agent-*"), since(&sim, "Node/node-2")),
        (None, None)
    );
    act(&mut sim, &["+50"]);
    let ready = sim
        .store()
        .get(&key(&sim, "Pod/agent-*"))
        .unwrap()
        .pod()
        .unwrap()
        .status
        .condition("Ready")
        .unwrap()
        .last_transition_time
        .unwrap();
    let noticed = ((ready.seconds() - sim.config.epoch.seconds()) * 1000) as u64;
    assert!(noticed > 40_000);
    for words in ["Pod/agent-*", "DaemonSet/agent", "Node/node-2"] {
        assert_eq!(since(&sim, words), Some(noticed), "{words}");
    }
    assert!(
        rows(
            &diagnose::diagnose(&sim, &key(&sim, "Node/node-2"))
                .unwrap()
                .rows()
        )
        .contains(&("last heartbeat".into(), "00:05.000".into()))
    );
}

/// Whatever woke a loop, a decision is followed back to what it was decided by: a Pod's creation to the size of its ReplicaSet,
/// a size to the other's size or to a Pod that became ready; never to a sibling's way to its node.
#[test]
fn a_rollout_is_followed_back_through_what_it_was_decided_by() {
    let mut sim = sim(20, &[&deployment("web", 300, "", PLAIN), "+20"]);
    let from = sim.journal().len();
    act(
        &mut sim,
        &["kubectl set image deployment/web c=nginx:1.28", "+20"],
    );
    let decided = |name: &str| matches!(name, "deployment-controller" | "replicaset-controller");
    let mut many = 0;
    for at in (from..sim.journal().len()).step_by(7) {
        let history = sim.journal().first(at + 1);
        let Some(key) = sim
            .journal()
            .get(at)
            .filter(|entry| decided(entry.actor.component.name()))
            .and_then(|entry| entry.key())
            .filter(|key| key.kind != Kind::Event)
        else {
            continue;
        };
        let chain = words::chain(history, &sim.delays, &key, 0);
        let steps: Vec<(String, String)> = chain
            .iter()
            .map(|reason| (reason.actor.english(), reason.effect.english()))
            .collect();
        for pair in steps.windows(2) {
            let ((actor, effect), (before, woke)) = (&pair[0], &pair[1]);
            let fits = match actor.as_str() {
                "replicaset-controller" => *before == "deployment-controller",
                "deployment-controller" if effect.contains(" scaled ") => {
                    *before == "user"
                        || woke.contains(" scaled ")
                        || woke.ends_with(" became Ready")
                }
                _ => true,
            };
            assert!(fits, "{effect} ← {woke}\n{steps:#?}");
        }
        assert_eq!(steps.last().unwrap().0, "user", "{steps:#?}");
        many += usize::from(steps.len() > 4);
    }
    assert!(many > 20);
}

/// A Pod that a person deletes is why there is a new one, not the size that its ReplicaSet has had all along.
#[test]
fn a_new_pod_is_followed_back_to_the_one_that_went() {
    let mut sim = sim(3, &[&deployment("web", 3, "", PLAIN), "+20"]);
    let pod = sim.store().list(Kind::Pod).next().unwrap().key();
    act(
        &mut sim,
        &[&format!("kubectl delete pod {} --wait=false", pod.name)],
    );
    let from = sim.journal().len();
    act(&mut sim, &["+1"]);
    let made = (from..sim.journal().len()).find(|at| {
        sim.journal()
            .get(*at)
            .is_some_and(|entry| entry.actor.component.name() == "replicaset-controller")
    });
    let entry = sim.journal().get(made.unwrap()).unwrap();
    let chain = words::chain(
        sim.journal().first(made.unwrap() + 1),
        &sim.delays,
        &entry.key().unwrap(),
        0,
    );
    assert_eq!(
        chain
            .iter()
            .map(|reason| reason.actor.english())
            .collect::<Vec<_>>(),
        ["replicaset-controller", "user"],
        "{chain:?}"
    );
}

fn job(name: &str, spec: &str, command: &str) -> String {
    format!(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: {name}}}\nspec: {{{spec}template: {{spec: {{restartPolicy: Never, \
         containers: [{{name: c, image: busybox, command: [sh, -c, {command}]}}]}}}}}}\n"
    )
}

/// Of a second try it is said which failure it comes after, and that leads back to the first.
#[test]
fn why_was_this_pod_of_a_job_made_another_failed() {
    let sim = sim(1, &[&job("task", "backoffLimit: 3, ", "exit 7"), "+14"]);
    let mut pods: Vec<_> = sim.store().list(Kind::Pod).collect();
    pods.sort_by_key(|pod| pod.meta.creation_timestamp);
    let [first, second] = [pods[0], pods[1]].map(|pod| pod.key());
    let made = sim
        .journal()
        .iter()
        .position(|entry| entry.key().as_ref() == Some(&second))
        .unwrap();
    let chain = words::chain(sim.journal().first(made + 1), &sim.delays, &second, 0);
    let text = print(&[], &chain);
    let by: Vec<String> = chain.iter().map(|reason| reason.actor.english()).collect();
    assert_eq!(by[..2], ["job-controller", "kubelet node-1"], "{text}");
    assert_eq!(
        (by.last().map(String::as_str), chain[1].object.as_ref()),
        (Some("user"), Some(&first)),
        "{text}"
    );
    assert_eq!(
        chain[0].short.english(),
        format!(
            "{} failed (exit code 7); the back-off of 10 s is over",
            first.name
        )
    );
    assert!(
        facts(&chain[1].saw).contains(&("exit code".into(), "7".into())),
        "{text}"
    );
}

/// Only the Pod that stands in for a failed one is a further try: the others are more Pods.
#[test]
fn why_was_this_pod_of_a_job_made_more_are_wanted_than_failed() {
    let suspend = |on: &str| {
        format!("kubectl patch job task --type=merge -p '{{\"spec\":{{\"suspend\":{on}}}}}'")
    };
    let sim = sim(
        2,
        &[
            &job(
                "task",
                "parallelism: 1, completions: 5, backoffLimit: 6, ",
                "sleep 3; exit 1",
            ),
            "+6",
            &suspend("true"),
            "+15",
            &suspend("false, \"parallelism\": 3"),
            "+2",
        ],
    );
    let made = |wanted: &dyn Fn(&Why) -> bool| {
        let pods = sim
            .journal()
            .iter()
            .filter(|entry| entry.key().is_some_and(|key| key.kind == Kind::Pod));
        pods.filter(|entry| wanted(&entry.why)).count()
    };
    let retries = made(&|why| matches!(why, Why::Retry(_)));
    assert_eq!(
        (retries, made(&|why| matches!(why, Why::TooFew { .. }))),
        (1, 3),
        "the first Pod, a further try, and two more"
    );
}

#[test]
fn why_does_the_pod_not_start_a_config_map_is_missing() {
    let spec = "{containers: [{name: c, image: i, envFrom: [{configMapRef: {name: settings}}], env: [{name: A, valueFrom: {configMapKeyRef: {name: \
                settings, key: color}}}]}]}";
    let sim = sim(1, &[&pod("web", spec), "+5"]);
    let of = |kind: Kind, name: &str| {
        diagnose::chain_of_waiting(&sim, &ObjectRef::new(kind, "default", name))
    };
    assert_eq!(
        of(Kind::ConfigMap, "settings"),
        of(Kind::Pod, "web"),
        "what is missing says who waits for it"
    );
    assert!(of(Kind::ConfigMap, "other").is_empty() && of(Kind::Secret, "settings").is_empty());
    ask(
        &sim,
        &Answer {
            of: "Pod/web",
            headline: "ConfigMap settings does not exist, and the Pod needs it",
            facts: &[
                ("container", "c"),
                ("message", "configmap \"settings\" not found"),
            ],
            then: &[],
            by: &["kubelet node-1", "default-scheduler", "user"],
            remedy: "Create ConfigMap settings",
        },
    );
}

#[test]
fn why_are_no_pods_made_a_service_account_is_missing() {
    let spec = "{serviceAccountName: robot, containers: [{name: c, image: i}]}";
    let sim = sim(1, &[&deployment("web", 1, "", spec), "+5"]);
    let of = |key: &ObjectRef| diagnose::chain_of_waiting(&sim, key);
    let set = sim
        .store()
        .list(Kind::ReplicaSet)
        .next()
        .expect("a ReplicaSet")
        .key();
    assert!(!of(&set).is_empty());
    assert_eq!(
        of(&ObjectRef::new(Kind::ServiceAccount, "default", "robot")),
        of(&set)
    );
    assert!(of(&ObjectRef::new(Kind::ServiceAccount, "default", "other")).is_empty());
}

#[test]
fn why_was_this_pod_chosen_for_deletion_and_not_that_one() {
    let mut sim = sim(2, &[&deployment("web", 3, "", PLAIN), "+20"]);
    let victim = sim
        .store()
        .list(Kind::Pod)
        .map(|pod| pod.key())
        .next_back()
        .unwrap();
    act(
        &mut sim,
        &[
            &format!("fault unready pod/{}", victim.name),
            "+5",
            "kubectl scale deployment/web --replicas=2",
            "+20",
        ],
    );
    let chain = words::chain(sim.journal(), &sim.delays, &victim, 0);
    let text = print(&[], &chain);
    if std::env::var("SHOW").is_ok() {
        return println!("{text}");
    }
    let by: Vec<String> = chain.iter().map(|reason| reason.actor.english()).collect();
    assert_eq!(by.last().map(String::as_str), Some("user"), "{text}");
    let chosen = chain
        .iter()
        .find(|reason| reason.actor.english() == "replicaset-controller")
        .unwrap_or_else(|| panic!("{text}"));
    assert!(
        facts(&chosen.saw).contains(&("ranked first for deletion".into(), "not ready".into())),
        "{text}"
    );
    assert!(
        facts(&chosen.saw)
            .iter()
            .any(|(name, _)| name == "next in rank (kept)"),
        "{text}"
    );
    assert_eq!(
        facts(&chosen.saw).last().map(|(_, value)| value.as_str()),
        Some("3 − 2 = 1"),
        "{text}"
    );
}

// ---- Storage.

#[test]
fn why_is_this_claim_pending_nobody_uses_it_yet() {
    ask(
        &sim(
            1,
            &[&claim("data", ", storageClassName: standard-wait"), "+20"],
        ),
        &Answer {
            of: "PersistentVolumeClaim/data",
            headline: "Waiting for the first Pod that uses the claim (WaitForFirstConsumer)",
            facts: &[("storage class", "standard-wait")],
            then: &[],
            by: &["user"],
            remedy: "Create a Pod that uses data",
        },
    );
}

#[test]
fn why_is_this_volume_not_used_again_it_is_kept() {
    let acts = [
        &*volume(
            "disk",
            "5Gi",
            ", accessModes: [ReadWriteOnce], persistentVolumeReclaimPolicy: Retain",
        ),
        &claim("data", ", storageClassName: ''"),
        "+20",
        "kubectl delete pvc data --wait=false",
        "+20",
    ];
    let sim = sim(1, &acts);
    ask(
        &sim,
        &Answer {
            of: "PersistentVolume/disk",
            headline: "Its claim data was deleted; the volume is kept but not reused",
            facts: &[],
            then: &[],
            by: &[
                "persistentvolume-controller",
                "pvc-protection-controller",
                "user",
            ],
            remedy: "Make disk available again",
        },
    );
    let unaffected = diagnose::diagnose(&sim, &key(&sim, "PersistentVolume/disk"))
        .and_then(|found| found.unaffected);
    assert_eq!(
        unaffected.map(|words| words.english()).as_deref(),
        Some("The data was not deleted: the reclaim policy is Retain.")
    );
}

#[test]
fn why_does_a_released_volume_not_serve_the_next_claim() {
    let acts = [
        &*volume(
            "disk",
            "5Gi",
            ", accessModes: [ReadWriteOnce], persistentVolumeReclaimPolicy: Retain",
        ),
        &claim("data", ", storageClassName: ''"),
        "+20",
        "kubectl delete pvc data --wait=false",
        "+20",
        &claim("next", ", storageClassName: ''"),
        "+20",
    ];
    ask(
        &sim(1, &acts),
        &Answer {
            of: "PersistentVolumeClaim/next",
            headline: "No volume fits, and the claim has no storage class to provision one",
            facts: &[("disk", "Released, claim data")],
            then: &[],
            by: &["user"],
            remedy: "Make disk available again",
        },
    );
}

// ---- Network.

/// An answer that is not looked at for more than its headline, facts and remedy.
const SHOWN: Answer<'_> = Answer {
    of: "",
    headline: "",
    facts: &[],
    then: &[],
    by: &["user"],
    remedy: "",
};

#[test]
fn why_has_this_pod_no_node_the_scheduler_is_slow() {
    let sim = sim(
        2,
        &[
            "+1",
            "fault slow kube-scheduler 30s",
            &deployment("web", 3, "", PLAIN),
            "+5",
        ],
    );
    let remedy = "Run kube-scheduler at full speed";
    let by = &["replicaset-controller", "deployment-controller", "user"];
    let mut told = Vec::new();
    for pod in sim.store().list(Kind::Pod) {
        let rows = rows(
            &diagnose::diagnose(&sim, &pod.key())
                .expect("it waits")
                .rows(),
        );
        told.push(rows[0].clone());
        let headline = match rows[0].0.as_str() {
            "this reconcile" => "kube-scheduler is reconciling it: 30 s per reconcile",
            _ => "kube-scheduler takes 30 s per reconcile, and other keys are ahead in its queue",
        };
        ask(
            &sim,
            &Answer {
                of: &format!("Pod/{}", pod.meta.name),
                headline,
                facts: &[("set by a command at", "00:01.000")],
                by,
                remedy,
                ..SHOWN
            },
        );
    }
    told.sort();
    let row = |name: &str, value: &str| (name.to_string(), value.to_string());
    assert_eq!(
        told,
        [
            row("position in queue", "2 / 3"),
            row("position in queue", "3 / 3"),
            row("this reconcile", "4.9 s / 30 s")
        ]
    );
    let (headline, then) = ("0 of 3 Pods are ready", &["ReplicaSet/web-", "Pod/web-"]);
    ask(
        &sim,
        &Answer {
            of: "Deployment/web",
            headline,
            facts: &[],
            then,
            by,
            remedy,
        },
    );
}

#[test]
fn why_has_this_pod_no_node_the_scheduler_does_not_know_it_yet() {
    let sim = sim(
        1,
        &[
            "fault delay pod/first 5m kube-scheduler",
            &pod("first", PLAIN),
            "+2",
            &pod("second", PLAIN),
            "+3",
        ],
    );
    let headline = "kube-scheduler has not seen its creation yet";
    let facts = &[
        ("delayed event", "Pod first created"),
        ("set by a command at", "00:00.000"),
        ("arrives at", "05:00.002"),
    ];
    let remedy = "Deliver the delayed events to kube-scheduler";
    for of in ["Pod/first", "Pod/second"] {
        ask(
            &sim,
            &Answer {
                of,
                headline,
                facts,
                remedy,
                ..SHOWN
            },
        );
    }
}

#[test]
fn why_is_a_pod_missing_its_end_has_not_reached_the_loops() {
    let mut sim = sim(1, &[&deployment("web", 2, "", PLAIN), "+10"]);
    let gone = sim
        .store()
        .list(Kind::Pod)
        .next()
        .unwrap()
        .meta
        .name
        .to_string();
    act(
        &mut sim,
        &[
            "fault delay pod 5m",
            &format!("kubectl delete pod {gone} --force --grace-period=0"),
            "+2",
        ],
    );
    let headline = "A watch event for kind Pod has not reached kube-controller-manager yet";
    let by = &["user"];
    let event = &format!("Pod …{} marked for deletion", &gone[gone.len() - 5..]);
    let facts = &[("delayed event", event.as_str())];
    let remedy = "Deliver the delayed events to kube-controller-manager";
    ask(
        &sim,
        &Answer {
            of: "ReplicaSet/web-*",
            headline,
            facts,
            by,
            remedy,
            ..SHOWN
        },
    );
    // The Pod itself, which is no more, says so too, and when.
    let facts = &[
        ("delayed event", event.as_str()),
        ("arrives at", "05:10.002"),
    ];
    let headline = "kube-controller-manager has not seen its deletion yet";
    ask(
        &sim,
        &Answer {
            of: &format!("Pod/{gone}"),
            headline,
            facts,
            remedy,
            ..SHOWN
        },
    );
}

#[test]
fn of_a_slowed_loop_it_is_said_how_far_it_is_and_only_what_it_has_to_do() {
    let told = |sim: &Sim, of: &ObjectRef| {
        diagnose::diagnose(sim, of).map(|found| {
            (
                found.headline().english(),
                rows(&found.rows()).swap_remove(0).1,
            )
        })
    };
    let mut sim = sim(
        2,
        &[
            &deployment("web", 3, "", PLAIN),
            "+5",
            "fault slow replicaset-controller 2s",
        ],
    );
    let wait =
        |sim: &mut Sim, ms: u64| assert!(sim.advance(Time(sim.now().0 + ms * 1000), TASKS).done);
    act(&mut sim, &["kubectl scale deployment/web --replicas=6"]);
    wait(&mut sim, 1250);
    let set = sim.store().list(Kind::ReplicaSet).next().unwrap().key();
    let works = "replicaset-controller is reconciling it: 2 s per reconcile";
    assert_eq!(told(&sim, &set), Some((works.into(), "1.2 s / 2 s".into())));
    // A second one stands behind it.
    act(&mut sim, &[&deployment("two", 1, "", PLAIN)]);
    wait(&mut sim, 100);
    let second = sim
        .store()
        .list(Kind::ReplicaSet)
        .map(|set| set.key())
        .find(|key| key.name.starts_with("two"))
        .unwrap();
    let others =
        "replicaset-controller takes 2 s per reconcile, and other keys are ahead in its queue";
    assert_eq!(told(&sim, &second), Some((others.into(), "2 / 2".into())));
    // All Pods are there and ready, and what they changed is written down: nothing is waited for, though the key stands in line.
    act(&mut sim, &["+60"]);
    assert_eq!((told(&sim, &set), told(&sim, &second)), (None, None));
    act(
        &mut sim,
        &[&format!("kubectl label replicaset {} x=y", set.name)],
    );
    wait(&mut sim, 100);
    let (headline, _) = told(&sim, &set).unwrap();
    assert_eq!(headline, "replicaset-controller has nothing to do for it");
    assert_eq!(
        told(&sim, &ObjectRef::new(Kind::Deployment, "default", "web")),
        None
    );
}

#[test]
fn why_is_a_pod_missing_the_event_of_its_end_is_lost() {
    for (mode, words) in [
        ("never", "which won't relist"),
        ("20s", "which will relist"),
    ] {
        let mut sim = sim(
            1,
            &[
                &format!("fault relist {mode}"),
                &deployment("web", 2, "", PLAIN),
                "+10",
            ],
        );
        let gone = sim
            .store()
            .list(Kind::Pod)
            .next()
            .unwrap()
            .meta
            .name
            .to_string();
        act(
            &mut sim,
            &[
                "fault lose pod",
                "fault lose pod",
                &format!("kubectl delete pod {gone} --force --grace-period=0"),
                "+2",
            ],
        );
        let headline = &format!(
            "A watch event for kind Pod was lost on the way to kube-controller-manager, {words}"
        );
        let by = &["user"];
        let event = format!("Pod …{} deleted", &gone[gone.len() - 5..]);
        let facts: &[_] = &[
            ("lost event", event.as_str()),
            ("set by a command at", "00:10.000"),
            ("relists at", "00:30.002"),
        ];
        let facts = if mode == "never" { &facts[..2] } else { facts };
        let remedy = "Restart kube-controller-manager so that it relists";
        ask(
            &sim,
            &Answer {
                of: "ReplicaSet/web-*",
                headline,
                facts,
                by,
                remedy,
                ..SHOWN
            },
        );
        act(&mut sim, &["fault restart kube-controller-manager", "+10"]);
        assert!(
            sim.store()
                .list(Kind::ReplicaSet)
                .all(|set| diagnose::diagnose(&sim, &set.key()).is_none())
        );
    }
}

/// What the chain of an object's last decision tells, each in a sentence.
fn told(sim: &Sim, of: &str) -> Vec<String> {
    let (kind, name) = of.split_once('/').unwrap();
    let key = ObjectRef::new(Kind::from_label(kind).unwrap(), "default", name);
    words::chain(sim.journal(), &sim.delays, &key, 0)
        .iter()
        .map(|reason| reason.effect.english())
        .collect()
}

#[test]
fn what_came_late_leads_back_to_the_fault_that_held_it_up() {
    let held_up = |acts: &[&str], of: &str| -> Vec<String> {
        let told = told(&sim(1, acts), of);
        told.into_iter()
            .filter_map(|words| words.strip_prefix("Command: fault ").map(String::from))
            .collect()
    };
    let set = "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: r}\nspec: {replicas: 2, selector: {matchLabels: {a: b}}, template: \
               {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}\n";
    let pod = &pod("p", PLAIN);
    let force = "kubectl delete pod -l a=b --force --grace-period=0";
    let slow = "fault slow kube-scheduler 2s";
    assert_eq!(
        held_up(&[slow, pod, "+2", "+1"], "Pod/p"),
        ["slow kube-scheduler 2s"]
    );
    assert_eq!(
        held_up(
            &[slow, "fault slow kube-scheduler none", pod, "+3"],
            "Pod/p"
        ),
        [""; 0]
    );
    assert_eq!(
        held_up(
            &["fault slow kube-controller-manager 2s", set, "+3"],
            "ReplicaSet/r"
        ),
        ["slow kube-controller-manager 2s"]
    );
    assert_eq!(
        held_up(&["fault slow job-controller 2s", set, "+9"], "ReplicaSet/r"),
        [""; 0]
    );
    assert_eq!(
        held_up(&["fault delay pod 2s kube-scheduler", pod, "+3"], "Pod/p"),
        ["delay pod 2s kube-scheduler"]
    );
    assert_eq!(
        held_up(&["fault delay pod 2s", pod, "+9"], "Pod/p"),
        [""; 0],
        "the loops were late, and no loop has to do with it"
    );
    assert_eq!(
        held_up(
            &[set, "+9", "fault delay pod 5s", force, "+6"],
            "ReplicaSet/r"
        ),
        ["delay pod 5s"]
    );
    assert_eq!(
        held_up(
            &[
                set,
                "+9",
                "fault delay pod 5s",
                force,
                "+1",
                "fault delay pod none",
                "+1"
            ],
            "ReplicaSet/r"
        ),
        ["delay pod 5s"]
    );
    assert_eq!(
        held_up(
            &[
                set,
                "+9",
                "fault delay pod 5s",
                "+1",
                "fault delay pod none",
                force,
                "+1"
            ],
            "ReplicaSet/r"
        ),
        [""; 0]
    );
    // However a person writes it, it is one fault.
    assert_eq!(
        held_up(
            &["fault delay  pod   2s kube-scheduler", pod, "+3"],
            "Pod/p"
        ),
        ["delay pod 2s kube-scheduler"]
    );
    // Of two, the one that it waited for.
    let two = [
        "fault delay pod 9s kube-scheduler",
        "fault delay pod 2s kube-scheduler",
        pod,
        "kubectl label pod p x=y",
        "+20",
    ];
    assert_eq!(held_up(&two, "Pod/p"), ["delay pod 9s kube-scheduler"]);
    // Taken back, what has waited says so.
    let none = [
        "fault slow replicaset-controller 10m",
        set,
        "+60",
        "fault slow replicaset-controller none",
        "+5",
    ];
    assert_eq!(
        held_up(&none, "ReplicaSet/r"),
        ["slow replicaset-controller 10m"]
    );
    let none = [
        "fault slow kube-scheduler 10m",
        pod,
        "+60",
        "fault slow kube-scheduler none",
        "+5",
    ];
    assert_eq!(held_up(&none, "Pod/p"), ["slow kube-scheduler 10m"]);
    let again = [
        "fault slow kube-scheduler 10m",
        "+60",
        "fault slow kube-scheduler none",
        "+5",
        pod,
        "+5",
    ];
    assert_eq!(held_up(&again, "Pod/p"), [""; 0]);
}

#[test]
fn the_kubelet_of_one_node_that_hears_late_holds_up_no_pod_of_another() {
    let on = |name: &str, node: &str| {
        pod(
            name,
            &format!("{{nodeName: {node}, containers: [{{name: c, image: i}}]}}"),
        )
    };
    let sim = sim(
        2,
        &[
            "fault delay pod/a 20s kubelet",
            &on("a", "node-1"),
            &on("b", "node-1"),
            &on("c", "node-2"),
            "+40",
        ],
    );
    let blamed = |of: &str| {
        told(&sim, of)
            .iter()
            .any(|words| words == "Command: fault delay pod/a 20s kubelet")
    };
    assert_eq!(["Pod/a", "Pod/b", "Pod/c"].map(blamed), [true, true, false]);
}

#[test]
fn what_a_timer_brings_is_late_by_what_it_waited_in_the_line_of_a_slow_loop() {
    let cron = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: cj}\nspec: {schedule: '*/5 * * * *', jobTemplate: {spec: {template: \
                {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}}\n";
    for (span, blamed) in [("50ms", false), ("2s", true)] {
        let fault = format!("slow cronjob-controller {span}");
        let sim = sim(1, &[cron, &["fault ", &fault].concat(), "+602"]);
        let job = sim
            .store()
            .list(Kind::Job)
            .next()
            .unwrap()
            .meta
            .name
            .to_string();
        let told = told(&sim, &format!("Job/{job}"));
        assert_eq!(
            told.contains(&format!("Command: fault {fault}")),
            blamed,
            "{told:?}"
        );
    }
    // Nor is it a late event's fault what a timer does long after it.
    let sim = sim(1, &["fault delay cj 2s", cron, "+602"]);
    let job = sim
        .store()
        .list(Kind::Job)
        .next()
        .unwrap()
        .meta
        .name
        .to_string();
    assert!(
        !told(&sim, &format!("Job/{job}"))
            .iter()
            .any(|words| words.starts_with("Command: fault"))
    );
}

#[test]
fn why_does_this_claim_not_grow_its_resizer_is_slow() {
    let class = "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: elastic}\nprovisioner: loopscope.dev/provisioner\n\
                 allowVolumeExpansion: true\n";
    let grow = "kubectl patch pvc data -p '{\"spec\":{\"resources\":{\"requests\":{\"storage\":\"4Gi\"}}}}'";
    let fault = "fault slow external-resizer loopscope.dev/provisioner 20s";
    let mut sim = sim(
        1,
        &[
            class,
            &claim("data", ", storageClassName: elastic"),
            "+5",
            fault,
            "+60",
            grow,
            "+5",
        ],
    );
    let name = "external-resizer loopscope.dev/provisioner";
    let (headline, remedy) = (
        &format!("{name} is reconciling it: 20 s per reconcile"),
        &format!("Run {name} at full speed"),
    );
    ask(
        &sim,
        &Answer {
            of: "PersistentVolumeClaim/data",
            headline,
            by: &["user"],
            remedy,
            ..SHOWN
        },
    );
    act(&mut sim, &["+20"]);
    let told = told(&sim, "PersistentVolumeClaim/data");
    assert!(told.contains(&["Command: ", fault].concat()), "{told:?}");
}

#[test]
fn a_healthy_cluster_is_not_diagnosed() {
    let acts = [
        &*deployment("web", 3, "", PLAIN),
        &service("web", "{selector: {app: web}, ports: [{port: 80}]}"),
        &claim("data", ""),
        "+40",
    ];
    let sim = sim(3, &acts);
    for kind in k8s_model::kind::all() {
        for object in sim.store().list(kind) {
            assert_eq!(diagnose::diagnose(&sim, &object.key()), None);
        }
    }
}

/// Asks about everything after every step of a scenario.
struct AskAll(Vec<String>);

impl scenario::Observer for AskAll {
    fn advanced(&mut self, _: &Sim) {}

    fn finished(&mut self, sim: &Sim, step: &scenario::Finished) {
        for kind in k8s_model::kind::all() {
            for object in sim.store().list(kind) {
                let chain = diagnose::chain_of_waiting(sim, &object.key());
                if let Some(first) = chain.first() {
                    assert!(
                        rows(&first.rows()).iter().all(|(name, _)| !name.is_empty())
                            && first
                                .remedies
                                .iter()
                                .all(|r| !r.words().english().is_empty())
                    );
                    self.0.push(format!(
                        "step {}: {}: {} ({} links)",
                        step.step,
                        first.object,
                        first.headline().english(),
                        chain.len()
                    ));
                }
            }
        }
    }
}

#[test]
fn every_object_of_every_scenario_can_be_asked_about() {
    let folder =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/scenarios");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    for file in files {
        let scenario = scenario::parse(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let mut all = AskAll(Vec::new());
        scenario::run(&scenario, 1, usize::MAX, &mut all);
        if std::env::var("SHOW").is_ok() {
            println!("== {}", file.display());
            all.0.iter().for_each(|line| println!("{line}"));
        }
    }
}
