//! Loops written as programs: the examples in `examples/loops`, and what holds for any of them.

use apiserver::journal::{Op, Record};
use apiserver::{Component, Why};
use cluster::Sim;
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

#[test]
fn replicaset_level() {
    let sim = run("replicaset-level");
    assert_eq!(
        ready(&sim, "nine-lines"),
        ("True".to_owned(), "the program runs".to_owned())
    );
    assert_eq!(names(&sim, Kind::Pod).len(), 2);
    let set = &all(&sim, Kind::ReplicaSet)[0];
    assert_eq!(
        (&set["status"]["replicas"], &set["status"]["readyReplicas"]),
        (&2.into(), &2.into()),
        "{set}"
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
