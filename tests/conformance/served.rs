//! The same scenarios through `loopscope serve`: steps are requests, what happened is read from watches, and the facts must be those of a run
//! in process.

use crate::facts::{Run, facts_of};
use crate::{compare, golden, http, text};
use k8s_model::Kind;
use libtest_mimic::Failed;
use scenario::{Scenario, ScenarioStep, Trace, Wait};
use serde_json::{Value, json};
use serve::{ClockPace, ServeOptions, Server};
use std::collections::BTreeSet;
use std::net::SocketAddr;

/// As `scenario` runs them: what a command takes to reach the server, and what a fault takes.
const COMMAND: f64 = 0.1;
const FAULT: f64 = 0.005;
/// A command that waits longer is given up.
const PATIENCE: f64 = 600.0;

/// A served cluster that a scenario is played on.
struct Played {
    at: SocketAddr,
    /// The version after which each line of the trace comes, and the line.
    lines: Vec<(u64, String)>,
    /// Commands beside the others: their steps, when they begin, and their numbers once they have.
    background: Vec<(usize, f64, Option<u64>)>,
}

impl Played {
    fn time(&self) -> Value {
        http::get(self.at, "/loopscope/time").json()
    }

    fn now(&self) -> f64 {
        self.time()["seconds"].as_f64().unwrap()
    }

    fn pass(&self, body: &Value) {
        assert_eq!(http::post(self.at, "/loopscope/time", body).code, 200);
    }

    /// Goes on to a time; commands in the background look after each task.
    fn until(&mut self, scenario: &Scenario, to: f64) {
        loop {
            let time = self.time();
            let (now, next) = (
                time["seconds"].as_f64().unwrap(),
                time["next"].as_f64().unwrap_or(f64::MAX),
            );
            let starts = self
                .background
                .iter()
                .filter(|(.., id)| id.is_none())
                .map(|(_, began, _)| began + COMMAND);
            let stop = if self.background.is_empty() {
                to
            } else {
                starts.fold(to.min(next.max(now)), f64::min)
            };
            self.pass(&json!({ "seconds": (stop - now).max(0.0) }));
            self.look(scenario, stop);
            if stop >= to {
                return;
            }
        }
    }

    fn look(&mut self, scenario: &Scenario, now: f64) {
        for (step, began, id) in std::mem::take(&mut self.background) {
            let answer = match id {
                None if began + COMMAND > now + 1e-9 => {
                    self.background.push((step, began, None));
                    continue;
                }
                None => self.start(scenario, step),
                Some(id) => self.poll(id),
            };
            match answer["exit"].is_null() {
                false => self.ended(step, "kubectl", &answer),
                true => self.background.push((step, began, answer["id"].as_u64())),
            }
        }
    }

    fn start(&self, scenario: &Scenario, step: usize) -> Value {
        let body = match &scenario.steps[step] {
            ScenarioStep::Apply(text) => json!({ "command": "apply -f -", "stdin": text }),
            ScenarioStep::Kubectl { line, .. } => json!({ "command": line }),
            other => panic!("{other:?} starts nothing"),
        };
        let answer = http::post(self.at, "/loopscope/run", &body);
        assert_eq!(answer.code, 200, "{}", answer.json());
        answer.json()
    }

    fn poll(&self, id: u64) -> Value {
        http::post(self.at, &format!("/loopscope/run/{id}"), &Value::Null).json()
    }

    fn command(&mut self, scenario: &Scenario, step: usize) {
        self.until(scenario, self.now() + COMMAND);
        let mut answer = self.start(scenario, step);
        let limit = self.now() + PATIENCE;
        while answer["exit"].is_null() {
            let time = self.time();
            let now = time["seconds"].as_f64().unwrap();
            if now >= limit {
                answer["exit"] = 130.into();
                break;
            }
            let soon = time["next"]
                .as_f64()
                .map_or(limit, |next| next.min(now + 0.1));
            self.until(scenario, soon.max(now + 1e-6));
            answer = self.poll(answer["id"].as_u64().unwrap());
        }
        self.ended(step, scenario.steps[step].action(), &answer);
    }

    fn ended(&mut self, step: usize, action: &str, answer: &Value) {
        let version = self.time()["version"].as_u64().unwrap();
        let line = json!({ "step": step, "action": action, "stdout": answer["stdout"], "stderr": answer["stderr"], "exit": answer["exit"] });
        self.lines.push((version, line.to_string()));
    }

    fn step(&mut self, scenario: &Scenario, index: usize) {
        let quiet = json!({ "stdout": "", "stderr": "", "exit": 0 });
        match &scenario.steps[index] {
            ScenarioStep::Wait(Wait::For(span)) => {
                self.until(scenario, self.now() + *span as f64 / 1e6);
                self.ended(index, "wait", &quiet);
            }
            ScenarioStep::Wait(Wait::Settled) if self.background.is_empty() => {
                self.pass(&json!({ "until": "settled" }));
                self.ended(index, "wait", &quiet);
            }
            // A command that waits beside has to look meanwhile: until no version has come for three seconds.
            ScenarioStep::Wait(Wait::Settled) => {
                let (began, mut changed, mut version) = (self.now(), self.now(), self.changes());
                while self.now() < (changed + 3.0).min(began + 90.0) {
                    let next = self.time()["next"].as_f64().unwrap_or(f64::MAX);
                    self.until(scenario, next.min((changed + 3.0).min(began + 90.0)));
                    let newer = self.changes();
                    if newer != version {
                        (version, changed) = (newer, self.now());
                    }
                }
                self.ended(index, "wait", &quiet);
            }
            ScenarioStep::Kubectl {
                background: true, ..
            } => self.background.push((index, self.now(), None)),
            ScenarioStep::Apply(_) | ScenarioStep::Kubectl { .. } => self.command(scenario, index),
            ScenarioStep::Fault(line) => {
                self.until(scenario, self.now() + FAULT);
                let reply = http::send(self.at, "POST", "/loopscope/fault", &[], line.as_bytes());
                let said = if reply.code == 200 {
                    String::new()
                } else {
                    reply.json()["message"].to_string()
                };
                self.ended(
                    index,
                    "fault",
                    &json!({ "stdout": "", "stderr": said, "exit": i32::from(reply.code != 200) }),
                );
            }
        }
    }

    /// The time of the last change of anything but Events.
    fn changes(&self) -> Value {
        self.time()["changed"].clone()
    }

    /// All that was written since a version, by kinds, as watches tell it.
    fn watched(&self, since: u64) -> Vec<(u64, String)> {
        // Component statuses are asked for, never watched.
        let watched = |kind: &Kind| {
            !kind.is_custom() && !kind.info().plural.is_empty() && *kind != Kind::ComponentStatus
        };
        let kinds: Vec<Kind> = k8s_model::kind::all().filter(watched).collect();
        let watch = |kind: Kind| {
            let (info, version) = (kind.info(), kind.api_version());
            let root = if info.group.is_empty() {
                "/api/"
            } else {
                "/apis/"
            };
            let target = format!(
                "{root}{version}/{}?watch=1&resourceVersion={since}&timeoutSeconds=1",
                info.plural
            );
            let body =
                String::from_utf8(http::send(self.at, "GET", &target, &[], b"").body).unwrap();
            let event = |line: &str| {
                let event: Value = serde_json::from_str(line).unwrap();
                let version = event["object"]["metadata"]["resourceVersion"]
                    .as_str()
                    .unwrap()
                    .parse()
                    .unwrap();
                (version, event.to_string())
            };
            body.lines().map(event).collect::<Vec<_>>()
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = kinds
                .into_iter()
                .map(|kind| scope.spawn(move || watch(kind)))
                .collect();
            threads
                .into_iter()
                .flat_map(|thread| thread.join().unwrap())
                .collect()
        })
    }
}

/// The trace of a scenario that is played through a server.
fn trace(scenario: &Scenario) -> String {
    let server = Server::start(ServeOptions {
        config: scenario.cluster.clone(),
        pace: ClockPace::Held,
        ..ServeOptions::default()
    })
    .unwrap();
    let mut played = Played {
        at: server.address(),
        lines: Vec::new(),
        background: Vec::new(),
    };
    for index in 0..scenario.steps.len() {
        played.step(scenario, index);
    }
    for (step, _, id) in std::mem::take(&mut played.background) {
        let mut answer = id.map_or(Value::Null, |id| played.poll(id));
        answer["exit"] = if answer["exit"].is_null() {
            130.into()
        } else {
            answer["exit"].clone()
        };
        played.ended(step, "kubectl", &answer);
    }
    let mut events = played.watched(1);
    events.sort_by_key(|(version, _)| *version);
    let (mut out, mut events) = (String::new(), events.into_iter().peekable());
    for (version, line) in played.lines {
        while let Some((_, event)) = events.next_if(|(of, _)| *of <= version) {
            out += &(event + "\n");
        }
        out += &(line + "\n");
    }
    events.for_each(|(_, event)| out += &(event + "\n"));
    out
}

/// The trace in process. A served cluster is a second old when it answers first.
fn a_second_later(scenario: &Scenario) -> String {
    let mut later = scenario.clone();
    later
        .steps
        .insert(0, ScenarioStep::Wait(Wait::For(1_000_000)));
    let mut lines = Vec::new();
    scenario::run(&later, 1, usize::MAX, &mut Trace::new(&mut lines));
    let text = String::from_utf8(lines).unwrap();
    let step = |line: &str| {
        let mut value: Value = serde_json::from_str(line).unwrap();
        match value["step"].as_u64() {
            None => Some(line.to_owned() + "\n"),
            Some(0) => None,
            Some(step) => {
                value["step"] = (step - 1).into();
                Some(value.to_string() + "\n")
            }
        }
    };
    text.lines().filter_map(step).collect()
}

/// Compares the facts of a scenario in process with those through a server.
pub fn same(name: &str) -> Result<(), Failed> {
    let golden = golden(name);
    let scenario = scenario::parse(&text(name)).unwrap();
    let facts = |trace: &str| facts_of(&Run::read(trace, &golden.commands));
    let (own, served) = (facts(&a_second_later(&scenario)), facts(&trace(&scenario)));
    let score = compare(&golden, &served);
    println!(
        "{} of {} recorded facts hold through a server",
        score.passed, score.total
    );
    let names: BTreeSet<&String> = own.keys().chain(served.keys()).collect();
    let different: Vec<String> = names
        .into_iter()
        .filter(|fact| own.get(*fact) != served.get(*fact))
        .map(|fact| {
            format!(
                "  {fact}\n    own    {:?}\n    served {:?}",
                own.get(fact),
                served.get(fact)
            )
        })
        .collect();
    if different.is_empty() {
        Ok(())
    } else {
        Err(format!(
            "{name}: these facts differ through a server:\n{}",
            different.join("\n")
        )
        .into())
    }
}
