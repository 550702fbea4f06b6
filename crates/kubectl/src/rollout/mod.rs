//! `kubectl rollout`: status, history, undo, pause, resume, restart.

mod history;
mod status;
mod undo;

use super::client::Client;
use super::parse::Args;
use super::targets::{Targets, name_of};
use super::{Failure, Outcome, Reads, Verb};
use k8s_model::{Kind, Timestamp};
use serde_json::{Value, json};

/// Flags of all subcommands.
const FLAGS: &str = "revision= to-revision= watch/w timeout= selector/l= @filename/f= kustomize/k= dry-run?unchanged output/o= recursive/R";

fn flags(topic: &str) -> &'static str {
    match topic {
        "status" => "revision= watch/w timeout= selector/l= @filename/f= kustomize/k= recursive/R",
        "history" => "revision= selector/l= @filename/f= kustomize/k= output/o= recursive/R",
        "undo" => {
            "to-revision= dry-run?unchanged selector/l= @filename/f= kustomize/k= output/o= recursive/R"
        }
        _ => "selector/l= @filename/f= kustomize/k= output/o= recursive/R",
    }
}

/// `kubectl rollout`.
pub const VERB: Verb = Verb {
    name: "rollout",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::Sub(&["status", "history"]),
    run,
    help: "Manage the rollout of a resource",
};

fn run(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    let Some((topic, rest)) = words.split_first() else {
        return Err(Failure::error(
            "must specify one of: history, pause, restart, resume, status, undo",
        ));
    };
    if !matches!(
        topic.as_str(),
        "status" | "history" | "undo" | "pause" | "resume" | "restart"
    ) {
        return Err(Failure::usage(
            "rollout",
            format!("unknown command {:?}", words.join(" ")),
        ));
    }
    let args = Args::parse(&format!("rollout {topic}"), flags(topic), rest)?;
    client.use_flags(&args)?;
    if args.words.is_empty() {
        return Err(Failure::error("required resource not specified"));
    }
    let targets = Targets::parse(client, &args, &args.words)?.fetch(client);
    if topic == "status" {
        return status::start(client, &args, targets);
    }
    for (kind, object) in targets {
        let result = match topic.as_str() {
            "history" => history::print(client, &args, kind, &object),
            "undo" => undo::undo(client, &args, kind, &object),
            "restart" => restart(client, kind, &object),
            verb => pause(client, kind, &object, verb == "pause"),
        };
        if let Err(failure) = result {
            client.streams.fail(&failure);
        }
    }
    Ok(Outcome::Done)
}

/// Formats an object for errors of rollout: `deployments.apps "nginx"`.
fn quoted(kind: Kind, object: &Value) -> String {
    format!("{} \"{}\"", kind.group_resource(), name_of(object))
}

fn pause(client: &mut Client<'_>, kind: Kind, object: &Value, on: bool) -> Result<(), Failure> {
    if kind != Kind::Deployment {
        let word = if on { "pausing" } else { "resuming" };
        return Err(Failure::error(format!(
            "{} {word} is not supported",
            quoted(kind, object)
        )));
    }
    if (object["spec"]["paused"] == true) == on {
        let word = if on { "already paused" } else { "not paused" };
        return Err(Failure::error(format!(
            "{} is {word}",
            quoted(kind, object)
        )));
    }
    let mut edited = object.clone();
    match (on, edited["spec"].as_object_mut()) {
        (true, Some(spec)) => drop(spec.insert("paused".to_owned(), json!(true))),
        (false, Some(spec)) => drop(spec.remove("paused")),
        (_, None) => {}
    }
    let edited = client
        .patch_difference(kind, object, edited)
        .map_err(|error| Failure::error(format!("failed to patch: {}", error.message)))?;
    client.report(kind, &edited, if on { "paused" } else { "resumed" })
}

fn restart(client: &mut Client<'_>, kind: Kind, object: &Value) -> Result<(), Failure> {
    if !matches!(kind, Kind::Deployment | Kind::StatefulSet | Kind::DaemonSet) {
        return Err(Failure::error(format!(
            "{} restarting is not supported",
            quoted(kind, object)
        )));
    }
    if object["spec"]["paused"] == true {
        return Err(Failure::error(format!(
            "{} can't restart paused deployment (run rollout resume first)",
            quoted(kind, object)
        )));
    }
    let mut edited = object.clone();
    let now = Timestamp::new(client.wall()).rfc3339();
    if object["spec"]["template"]["metadata"]["annotations"]["kubectl.kubernetes.io/restartedAt"]
        == now.as_str()
    {
        let again = "if restart has already been triggered within the past second, please wait before attempting to trigger another";
        return Err(Failure::error(format!(
            "failed to create patch for {}: {again}",
            name_of(object)
        )));
    }
    edited["spec"]["template"]["metadata"]["annotations"]["kubectl.kubernetes.io/restartedAt"] =
        Value::from(now);
    let edited = client
        .patch_difference(kind, object, edited)
        .map_err(|error| Failure::error(format!("failed to patch: {}", error.message)))?;
    client.report(kind, &edited, "restarted")
}
