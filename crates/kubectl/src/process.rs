//! Processes of containers: the commands that the small shell can model, run ahead of time when their container starts.

use super::client::Client;
use super::output::Mode;
use super::shell::room::Place;
use super::shell::{Machine, is_tool, parse};
use apiserver::{Actor, Component, Origin};
use cluster::Sim;
use cluster::disk::FilePlace;
use cluster::process::{ContainerProcess, ProcessEnd, WrittenFile};
use controller_runtime::cluster::ClusterConfig;
use k8s_model::Object;
use k8s_model::environment;
use k8s_model::pod::Pod;
use k8s_model::time::SECOND;
use serde_json::Value;
use std::rc::Rc;

/// Longest process that is run ahead of time, in seconds. One that takes longer goes on.
const LONGEST_S: i64 = 24 * 3_600;

/// Creates a cluster at time 0 whose containers run what the small shell can model.
pub fn new_cluster(config: ClusterConfig, seed: u64) -> Sim {
    let mut sim = Sim::new(config, seed);
    sim.processes = Some(run_ahead);
    sim
}

/// Returns the command of a container with its arguments.
fn words(pod: &Object, container: usize) -> Vec<&str> {
    let spec = pod.body::<Pod>().spec.raw_container(container);
    ["command", "args"]
        .iter()
        .flat_map(|field| spec[*field].as_array().into_iter().flatten())
        .filter_map(Value::as_str)
        .collect()
}

/// Returns the process of a container, if the shell can model it.
pub(super) fn of_container(
    client: &mut Client<'_>,
    pod: &Rc<Object>,
    container: usize,
) -> Option<Machine> {
    let words = words(pod, container);
    let place = Place::Pod(pod.key(), pod.meta.uid, container);
    // The environment is read only for words that may refer to it.
    let variables = match words.iter().any(|word| word.contains('$')) {
        true => Machine::of_words(place.clone(), &[]).room(client).env(),
        false => Vec::new(),
    };
    let expand = |word: &str| environment::expand(word, |name| environment::find(&variables, name));
    let words: Vec<String> = words.into_iter().map(expand).collect();
    let program = |word: &str| word.rsplit('/').next().unwrap_or(word).to_owned();
    match words.as_slice() {
        [name, flag, text, ..]
            if flag == "-c" && matches!(&*program(name), "sh" | "bash" | "ash") =>
        {
            Some(Machine::new(place, parse(text).ok()?))
        }
        [name, ..] if name == "sleep" || is_tool(&program(name)) => {
            Some(Machine::of_words(place, &words))
        }
        _ => None,
    }
}

/// Returns true if a script plainly loops for ever, as most of those do: it need not be run to find that out.
fn loops_for_ever(script: &str) -> bool {
    let begins = ["while true", "while :", "while sleep", "until false"];
    let ends = ["break", "exit", "return", "kill", "set -e"];
    begins.iter().any(|text| script.contains(text))
        && !ends.iter().any(|text| script.contains(text))
}

/// Runs the process of a container ahead of time.
fn run_ahead(sim: &mut Sim, process: &ContainerProcess) -> Option<ProcessEnd> {
    let ContainerProcess { pod, container } = process;
    if words(pod, *container).into_iter().any(loops_for_ever) {
        return None;
    }
    let origin = Origin::new(Actor::component(Component::Kubelet), None, 0);
    let namespace = pod.meta.namespace.to_string();
    let mut client = Client::new(sim, origin, namespace, Mode::default(), 0);
    let mut machine = of_container(&mut client, pod, *container)?;
    let began = client.wall();
    let end = machine.run_ahead(&mut client, began, LONGEST_S)?;
    let room = machine.room(&mut client);
    let file = |(time, path, text): (i64, String, Option<String>)| match room.place(&path) {
        FilePlace::Disk { disk, path } => Some(WrittenFile {
            after: (time - began).unsigned_abs() * SECOND,
            disk,
            path,
            text,
        }),
        FilePlace::Projected { .. } => None,
    };
    Some(ProcessEnd {
        after: end.span_us,
        code: end.code,
        files: end.writes.into_iter().filter_map(file).collect(),
    })
}
