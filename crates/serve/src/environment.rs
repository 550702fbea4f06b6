//! `/loopscope/environment`: episodes for agents, with the routes of OpenEnv's HTTP servers: `reset`, `step`, `state`, `health`.
//!
//! An episode begins with a fresh cluster, and ends when its goal holds or its steps are used up. The reward of a step is 1 if the goal holds,
//! otherwise 0; without a goal there is none. A seed and the actions determine every observation.

use super::cluster::Cluster;
use super::explanation::evaluate;
use super::http_request::HttpRequest;
use super::status::{Answer, failure, not_allowed};
use super::{beside, control};
use actions::Action;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::time::SECOND;
use kubectl::parse::split;
use lesson::expr::Expr;
use scenario::resolve;
use serde::Deserialize;
use serde_json::{Value, json};

/// Virtual seconds after which a command that still waits is interrupted.
const PATIENCE: u64 = 600;
/// Largest number of nodes of an episode.
const MAX_NODES: usize = 5_000;

/// Beginning of an episode.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Task {
    /// Seed of names and uids.
    seed: u64,
    /// Number of nodes.
    nodes: usize,
    /// Manifest that is applied first; the cluster settles afterwards.
    manifest: String,
    /// Faults injected after that, in the syntax of scenarios.
    faults: Vec<String>,
    /// Expression that holds once the task is done.
    goal: String,
    /// Number of steps after which the episode ends.
    max_steps: u64,
    /// Virtual seconds that pass in each step.
    seconds_per_step: f64,
    /// Identity of the episode, for the client.
    episode_id: String,
}

impl Default for Task {
    fn default() -> Task {
        Task {
            seed: 1,
            nodes: 3,
            manifest: String::new(),
            faults: Vec::new(),
            goal: String::new(),
            max_steps: 100,
            seconds_per_step: 5.0,
            episode_id: String::new(),
        }
    }
}

/// Running episode.
#[derive(Clone, Debug, Default)]
pub struct Episode {
    task: Task,
    goal: Option<Expr>,
    steps: u64,
    done: bool,
}

/// Action of a step: what a person could do in the page.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum StepAction {
    /// Command line of kubectl; its end is awaited.
    Kubectl(String),
    /// Manifest to apply.
    Apply(String),
    /// Virtual seconds to wait.
    Wait(f64),
    /// Fault, in the syntax of scenarios.
    Fault(String),
}

/// Handles a request about episodes.
pub fn answer(cluster: &mut Cluster, request: &HttpRequest, name: &str) -> Option<Answer> {
    let body = || match request.body.is_empty() {
        true => Ok(json!({})),
        false => request.own_object("Episode"),
    };
    let result = match (name, request.method.as_str()) {
        ("health", "GET") => Ok(json!({ "status": "healthy" })),
        ("state", "GET") => Ok(state(cluster)),
        ("reset" | "step", "POST") => match body() {
            Ok(body) if name == "reset" => reset(cluster, body),
            Ok(body) => step(cluster, &body),
            Err(error) => return Some(Answer::error(&error, None)),
        },
        ("health" | "state" | "reset" | "step", _) => return Some(not_allowed()),
        _ => return None,
    };
    Some(match result {
        Ok(value) => Answer::json(200, &value),
        Err(problem) => failure(400, "BadRequest", &problem),
    })
}

fn state(cluster: &Cluster) -> Value {
    let Episode {
        task, steps, done, ..
    } = &cluster.episode;
    json!({ "episode_id": task.episode_id, "step_count": steps, "done": done, "goal": task.goal, "reached": reached(cluster) })
}

/// Returns true if the goal of the episode holds; `None` without a goal.
fn reached(cluster: &Cluster) -> Option<bool> {
    let goal = cluster.episode.goal.as_ref()?;
    Some(evaluate(&cluster.host.sim, goal) == Value::Bool(true))
}

/// Begins an episode.
fn reset(cluster: &mut Cluster, body: Value) -> Result<Value, String> {
    let task: Task = serde_json::from_value(body).map_err(|error| error.to_string())?;
    if task.nodes > MAX_NODES {
        return Err(format!("nodes must be a number from 0 to {MAX_NODES}"));
    }
    control::span(task.seconds_per_step)?;
    let goal = match task.goal.trim() {
        "" => None,
        text => Some(Expr::of_instant(text).map_err(|error| {
            let problem = lesson::read::of_expression(&error).english();
            format!("goal: {problem}")
        })?),
    };
    let fault = |line: &str| control::fault(line).map_err(|problem| format!("faults: {problem}"));
    // A placeholder stands for an object that the manifest makes.
    for line in task.faults.iter().filter(|line| !line.contains("{{")) {
        fault(line)?;
    }
    let (manifest, faults) = (task.manifest.clone(), task.faults.clone());
    // The time of day at which the cluster begins is always the same, whenever the server was started.
    cluster.renew(ClusterConfig::with_nodes(task.nodes), task.seed);
    cluster.episode = Episode {
        task,
        goal,
        ..Episode::default()
    };
    cluster.pass(SECOND);
    if !manifest.trim().is_empty() {
        cluster.apply(&manifest)?;
        cluster.settle();
    }
    for line in faults {
        let fault = fault(&resolve(&line, &cluster.host.sim))?;
        control::refused(cluster.act(Action::Fault(fault)))?;
    }
    Ok(observed(cluster, "", false))
}

/// Runs an action, and lets time pass.
fn step(cluster: &mut Cluster, body: &Value) -> Result<Value, String> {
    if cluster.episode.done {
        return Err("the episode is over: reset begins another".to_owned());
    }
    let action = body.get("action").unwrap_or(body).clone();
    let action: StepAction = serde_json::from_value(action)
        .map_err(|error| format!("an action is kubectl, apply, wait or fault: {error}"))?;
    let (output, failed) = match action {
        StepAction::Kubectl(line) => kubectl(cluster, &line),
        StepAction::Apply(manifest) => match cluster.apply(&manifest) {
            Ok(()) => (String::new(), false),
            Err(problem) => (problem, true),
        },
        StepAction::Wait(span) => {
            cluster.pass(control::span(span)?);
            (String::new(), false)
        }
        StepAction::Fault(line) => {
            let fault = control::fault(&resolve(&line, &cluster.host.sim))?;
            match control::refused(cluster.act(Action::Fault(fault))) {
                Ok(()) => (String::new(), false),
                Err(problem) => (problem, true),
            }
        }
    };
    let span = control::span(cluster.episode.task.seconds_per_step)?;
    cluster.pass(span);
    cluster.episode.steps += 1;
    Ok(observed(cluster, &output, failed))
}

/// Returns the observation of a step with its reward, and ends the episode where it is over.
fn observed(cluster: &mut Cluster, output: &str, failed: bool) -> Value {
    let reached = reached(cluster);
    let time = cluster.host.sim.now().seconds();
    let episode = &mut cluster.episode;
    episode.done = reached == Some(true) || episode.steps >= episode.task.max_steps;
    json!({
        "observation": { "output": output, "failed": failed, "seconds": time },
        "reward": reached.map(|reached| if reached { 1.0 } else { 0.0 }), "done": episode.done,
    })
}

/// Runs a kubectl command to its end, while time passes; returns its output.
fn kubectl(cluster: &mut Cluster, line: &str) -> (String, bool) {
    let line = line.trim();
    let words = split(line.strip_prefix("kubectl ").unwrap_or(line));
    let ended = beside::run(cluster, &words, "", PATIENCE);
    ended.map_or_else(Default::default, |ended| {
        let session = ended.session;
        (session.stdout + &session.stderr, session.exit != Some(0))
    })
}
