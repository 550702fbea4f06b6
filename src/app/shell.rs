//! What a person asks for, carried out on a simulation: manifests and kubectl lines.

use super::run::Command;
use crate::api::{Kind, ObjectRef};
use crate::engine::store::{Patch};
use crate::engine::{Sim, Why};
use serde::Deserialize;

/// Something to say about the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Line, from 1.
    pub line: usize,
    /// Columns of what it is about, from 0; empty if the whole line.
    pub columns: (usize, usize),
    /// In the API's own words.
    pub message: String,
    /// Refused; otherwise accepted with a remark.
    pub error: bool,
    /// What would put it right.
    pub fix: Option<String>,
}

/// A line of output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The text.
    pub text: String,
    /// From stderr.
    pub error: bool,
}

/// What came of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Whether the cluster was written to: such commands are part of the history.
    pub changed: bool,
    /// What it printed.
    pub lines: Vec<Line>,
    /// What it says about the manifest.
    pub diagnostics: Vec<Diagnostic>,
}

/// Carries out a command.
pub fn run(sim: &mut Sim, command: &Command) -> Answer {
    match command {
        Command::Apply(text) => apply(sim, text),
        Command::Kubectl(line) => Answer { changed: false, lines: vec![Line { text: format!("not yet: {line}"), error: true }], diagnostics: vec![] },
    }
}

fn apply(sim: &mut Sim, text: &str) -> Answer {
    let mut answer = Answer::default();
    let origin = sim.command("kubectl apply -f manifest.yaml");
    for doc in serde_yaml::Deserializer::from_str(text) {
        let Ok(mut value) = serde_json::Value::deserialize(doc) else { continue };
        if value.is_null() { continue; }
        let kind = value["apiVersion"].as_str().zip(value["kind"].as_str()).and_then(|(v, k)| Kind::from_api(v, k));
        let Some(kind) = kind else { continue };
        if kind.info().namespaced && value["metadata"]["namespace"].is_null() { value["metadata"]["namespace"] = "default".into(); }
        let key = ObjectRef::new(kind, value["metadata"]["namespace"].as_str().unwrap_or(""), value["metadata"]["name"].as_str().unwrap_or(""));
        let result = sim.request(|server| if server.get(&key).is_some() { server.patch(&origin, &key, Patch::Merge, &value, Why::Asked) } else { server.create_value(&origin, value, Why::Asked) });
        answer.changed = true;
        if let Err(error) = result { answer.lines.push(Line { text: error.message, error: true }); }
    }
    answer
}
