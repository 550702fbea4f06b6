//! `kubectl scale`.

use super::client::Client;
use super::failure::server_error;
use super::parse::Args;
use super::targets::{Targets, key_of};
use super::{Failure, Outcome, Reads, Verb};
use crate::api::Kind;

const FLAGS: &str = "replicas= current-replicas= resource-version= timeout= selector/l= field-selector= all @filename/f= kustomize/k= recursive/R output/o= dry-run?unchanged record";

/// `kubectl scale`.
pub const VERB: Verb = Verb {
    name: "scale",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::No,
    run,
    help: "Set a new size for a deployment, replica set, or replication controller",
};

fn run(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("scale", FLAGS, words)?;
    client.use_flags(&args)?;
    args.require(&["replicas"])?;
    let replicas = args.number("replicas")?.unwrap_or(-1);
    if replicas < 0 {
        return Err(Failure::error("The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0"));
    }
    let current = args.number("current-replicas")?.filter(|n| *n >= 0);
    let targets = Targets::parse(client, &args, &args.words)?;
    let found = targets.fetch(client);
    if found.is_empty() && client.failure.is_none() {
        return Err(Failure::error("no objects passed to scale"));
    }
    for (kind, object) in found {
        if !matches!(kind, Kind::Deployment | Kind::ReplicaSet | Kind::StatefulSet | Kind::ReplicationController | Kind::Custom(_)) {
            client.fail(&Failure::plain("Error from server (NotFound): the server could not find the requested resource"));
            continue;
        }
        let path = super::custom::definition(client, kind).and_then(|definition| definition.version("").replicas.clone());
        let path = path.map_or("/spec/replicas".to_owned(), |path| path.replace('.', "/"));
        let now = object.pointer(&path).and_then(serde_json::Value::as_i64).unwrap_or(0);
        if let Some(expected) = current.filter(|expected| *expected != now) {
            client.fail(&Failure::error(format!("Expected replicas to be {expected}, was {now}")));
            continue;
        }
        let version = object["metadata"]["resourceVersion"].as_str().unwrap_or("");
        if let Some(expected) = args.get("resource-version").filter(|expected| !expected.is_empty() && *expected != version) {
            client.fail(&Failure::error(format!("Expected resource version to be {expected}, was {version}")));
            continue;
        }
        let key = key_of(kind, &object);
        match client.scale(&key, replicas) {
            Ok(()) => {
                let mut scaled = object;
                if let Some(slot) = scaled.pointer_mut(&path) {
                    *slot = replicas.into();
                }
                client.report(kind, &scaled, "scaled")?;
            }
            Err(error) => client.fail(&server_error(&error)),
        }
    }
    Ok(Outcome::Done)
}
