//! How long the engine takes, and how much it allocates: run with `cargo bench`.
//!
//! Prints, for each case, the best and the median of several runs, the time a Pod and the allocations a Pod.
//! `cargo bench -- 5000` runs the cases that have this in their name; `--check` fails when a target is missed.

use actions::{Action, Host};
use apiserver::{Patch, PatchType, Request, RequestBody, Verb};
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::pod::Pod;
use k8s_model::{Kind, ObjectRef, Time};
use serde_json::json;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

struct Counting;
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call goes to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// A cluster with a Deployment of so many Pods, not yet advanced.
fn deployment(pods: usize, nodes: usize) -> Sim {
    let mut sim = Sim::new(ClusterConfig::with_nodes(nodes), 1);
    let value = json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "web" }, "spec": {
        "replicas": pods, "selector": { "matchLabels": { "app": "web" } },
        "template": { "metadata": { "labels": { "app": "web" } },
            "spec": { "containers": [{ "name": "nginx", "image": "nginx:1.14.2", "ports": [{ "containerPort": 80 }] }] } } } });
    assert!(
        sim.request(&Request::of_manifest(Verb::Create, value))
            .result
            .is_ok(),
        "the Deployment is valid"
    );
    sim
}

/// A settled cluster with ReplicaSets of one Pod each, which the program of nine lines reconciles.
fn programmed(objects: usize) -> Sim {
    let text = include_str!("../examples/loops/replicaset-level.yaml");
    let scenario = scenario::parse(text).expect("the example is a scenario");
    let mut sim = Sim::new(ClusterConfig::with_nodes(objects.div_ceil(100)), 1);
    let mut apply = |value: serde_json::Value| {
        let made = sim
            .request(&Request::of_manifest(Verb::Create, value))
            .result;
        assert!(made.is_ok(), "{made:?}");
    };
    for step in &scenario.steps {
        let scenario::ScenarioStep::Apply(text) = step else {
            continue;
        };
        let documents = manifest::parse(text.as_bytes()).documents;
        let loops = documents
            .into_iter()
            .filter(|one| one.value["kind"] == "ControlLoop");
        loops.for_each(|one| apply(one.value));
    }
    for number in 0..objects {
        let name = format!("web-{number}");
        apply(
            json!({ "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": { "name": name }, "spec": {
            "replicas": 1, "selector": { "matchLabels": { "app": name } },
            "template": { "metadata": { "labels": { "app": name } }, "spec": { "containers": [{ "name": "c", "image": "nginx" }] } } } }),
        );
    }
    sim.advance(Time(120_000_000), usize::MAX);
    let pods = sim.store().list(Kind::Pod).count();
    assert_eq!(pods, objects, "the program has created its Pods");
    sim
}

/// Restarts the loop, so that its program has a pass over each object, which finds nothing to do. Returns the milliseconds of the longest task.
fn reconcile_all(sim: &mut Sim, objects: u64) -> f64 {
    let mut host = Host::new(sim.clone());
    let restart = "restart nine-lines".parse().expect("the fault is one");
    host.run(&Action::Fault(restart));
    let end = sim.now().after(60_000_000);
    let mut longest = 0.0_f64;
    while host.sim.tasks.next_due().is_some_and(|due| due <= end) {
        #[allow(clippy::disallowed_methods)] // a benchmark is what a wall clock is for
        let start = std::time::Instant::now();
        host.step();
        longest = longest.max(start.elapsed().as_secs_f64() * 1e3);
    }
    let mut loops = host.sim.manager.scripted_loops();
    let passes = loops.next().and_then(|(_, state)| state.last_pass());
    assert!(passes.is_some_and(|last| last.number >= objects));
    longest
}

fn ready(sim: &Sim, image: &str) -> usize {
    let is_new = |pod: &Pod| pod.spec.containers.iter().all(|c| c.image == image);
    sim.store()
        .list(Kind::Pod)
        .filter(|o| {
            o.pod().is_some_and(|pod| pod.is_ready() && is_new(pod)) && !o.meta.is_deleting()
        })
        .count()
}

/// Advances until so many Pods of the image are Ready and no others are left.
fn until_ready(sim: &mut Sim, pods: usize, image: &str) {
    while ready(sim, image) < pods || sim.store().count(Kind::Pod) > pods {
        let to = sim.now().after(1_000_000);
        assert!(to < Time(3_600_000_000), "not ready after an hour");
        sim.advance(to, usize::MAX);
    }
}

/// A cluster with so many Deployments of two Pods, each with a Service and, if asked for, a claim and a budget.
fn small(workloads: usize, whole: bool) -> Sim {
    let mut sim = Sim::new(ClusterConfig::with_nodes((workloads / 50).max(3)), 1);
    let mut apply = |value| {
        assert!(
            sim.request(&Request::of_manifest(Verb::Create, value))
                .result
                .is_ok(),
            "it is valid"
        )
    };
    for i in 0..workloads {
        let name = format!("app-{i:05}");
        let (meta, labels) = (json!({ "name": name }), json!({ "app": name }));
        let selector = json!({ "matchLabels": labels });
        let volumes = if whole {
            json!([{ "name": "data", "persistentVolumeClaim": { "claimName": name } }])
        } else {
            json!([])
        };
        apply(
            json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": { "replicas": 2, "selector": selector,
            "template": { "metadata": { "labels": labels },
                "spec": { "containers": [{ "name": "nginx", "image": "nginx:1.14.2" }], "volumes": volumes } } } }),
        );
        apply(
            json!({ "apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": { "selector": labels, "ports": [{ "port": 80 }] } }),
        );
        if whole {
            apply(
                json!({ "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta,
                "spec": { "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } } } }),
            );
            apply(
                json!({ "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta,
                "spec": { "minAvailable": 1, "selector": selector } }),
            );
        }
    }
    sim
}

struct Figures {
    micros: Vec<f64>,
    allocations: u64,
}

fn measure(runs: usize, mut setup: impl FnMut() -> Sim, mut work: impl FnMut(&mut Sim)) -> Figures {
    let mut figures = Figures {
        micros: Vec::new(),
        allocations: 0,
    };
    for _ in 0..runs {
        let mut sim = setup();
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        #[allow(clippy::disallowed_methods)] // a benchmark is what a wall clock is for
        let start = std::time::Instant::now();
        work(&mut sim);
        figures.micros.push(start.elapsed().as_secs_f64() * 1e6);
        figures.allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
    }
    figures.micros.sort_by(f64::total_cmp);
    figures
}

fn report(name: &str, pods: usize, figures: &Figures, target_ms: Option<f64>) -> bool {
    let (best, median) = (figures.micros[0], figures.micros[figures.micros.len() / 2]);
    let target = target_ms.map_or(String::new(), |t| format!("  target {t} ms"));
    println!(
        "{name:<34} best {:>8.2} ms  median {:>8.2} ms  {:>6.2} µs/Pod  {:>6.1} allocations/Pod{target}",
        best / 1e3,
        median / 1e3,
        best / pods as f64,
        figures.allocations as f64 / pods as f64,
    );
    target_ms.is_none_or(|t| best / 1e3 <= t)
}

fn main() {
    let image = "nginx:1.14.2";
    let mut met = true;
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with("--"))
        .collect();
    let runs = |name: &str| wanted.is_empty() || wanted.iter().any(|w| name.contains(w.as_str()));
    for (pods, nodes, target) in [
        (100, 3, None),
        (1_000, 10, Some(20.0)),
        (5_000, 50, Some(150.0)),
    ] {
        let name = format!("{pods} Pods on {nodes} nodes until Ready");
        if !runs(&name) {
            continue;
        }
        let figures = measure(
            if pods > 1000 { 5 } else { 15 },
            || deployment(pods, nodes),
            |sim| until_ready(sim, pods, image),
        );
        met &= report(&name, pods, &figures, target);
    }
    for workloads in [100, 1_000, 5_000] {
        for (what, whole) in [("Service", false), ("Service, claim, budget", true)] {
            let name = format!("{workloads} x 2 Pods, {what}");
            if !runs(&name) {
                continue;
            }
            let work = |sim: &mut Sim| until_ready(sim, 2 * workloads, image);
            let figures = measure(
                if workloads > 1000 { 1 } else { 5 },
                || small(workloads, whole),
                work,
            );
            met &= report(&name, 2 * workloads, &figures, None);
        }
    }
    let name = "1000 ReplicaSets under a program";
    if runs(name) {
        let settled = programmed(1_000);
        let mut longest = 0.0_f64;
        let figures = measure(
            5,
            || settled.clone(),
            |sim| longest = longest.max(reconcile_all(sim, 1_000)),
        );
        met &= report(name, 1_000, &figures, None);
        println!("{:34} longest task {longest:.2} ms", "");
    }
    let (update, checkpoint) = ("rolling update of 1000 Pods", "checkpoint of 1000 Pods");
    if !runs(update) && !runs(checkpoint) {
        return finish(met);
    }
    let started = {
        let mut sim = deployment(1_000, 12);
        until_ready(&mut sim, 1_000, image);
        sim
    };
    let figures = measure(
        5,
        || started.clone(),
        |sim| {
            let key = ObjectRef::new(Kind::Deployment, "default", "web");
            let change = json!({ "spec": { "template": { "spec": { "containers": [{ "name": "nginx", "image": "nginx:1.16.1" }] } } } });
            let body = RequestBody::Patch(Patch {
                patch_type: PatchType::Strategic,
                content: change,
            });
            let patched = sim
                .request(&Request {
                    body,
                    ..Request::new(Verb::Patch, &key)
                })
                .result;
            assert!(patched.is_ok(), "the patch is valid");
            until_ready(sim, 1_000, "nginx:1.16.1");
        },
    );
    report(update, 1_000, &figures, None);
    let clone = measure(
        15,
        || started.clone(),
        |sim| drop(std::hint::black_box(sim.clone())),
    );
    report(checkpoint, 1_000, &clone, None);
    finish(met);
}

fn finish(met: bool) {
    if std::env::args().any(|a| a == "--check") && !met {
        std::process::exit(1);
    }
}
