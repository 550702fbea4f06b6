//! `kubectl scale`.

use super::client::Client;
use super::failure::server_error;
use super::parse::Args;
use super::targets::{Targets, key_of};
use super::{Failure, Outcome, Reads, Verb};

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
        return Err(Failure::error(
            "The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0",
        ));
    }
    let current = args.number("current-replicas")?.filter(|n| *n >= 0);
    let targets = Targets::parse(client, &args, &args.words)?;
    let found = targets.fetch(client);
    if found.is_empty() && client.failure.is_none() {
        return Err(Failure::error("no objects passed to scale"));
    }
    for (kind, object) in found {
        let key = key_of(kind, &object);
        let scale = match client
            .sim()
            .get(&key)
            .map(|object| client.sim().server().scale_of(object))
        {
            Some(Ok(scale)) => scale,
            Some(Err(error)) => {
                client.fail(&server_error(&error));
                continue;
            }
            None => continue,
        };
        let now = scale.replicas;
        if let Some(expected) = current.filter(|expected| *expected != now) {
            client.fail(&Failure::error(format!(
                "Expected replicas to be {expected}, was {now}"
            )));
            continue;
        }
        let version = object["metadata"]["resourceVersion"].as_str().unwrap_or("");
        if let Some(expected) = args
            .get("resource-version")
            .filter(|expected| !expected.is_empty() && *expected != version)
        {
            client.fail(&Failure::error(format!(
                "Expected resource version to be {expected}, was {version}"
            )));
            continue;
        }
        match client.scale(&key, replicas) {
            Ok(()) => {
                let scaled = client.find(&key).unwrap_or(object);
                client.report(kind, &scaled, "scaled")?;
            }
            Err(error) => client.fail(&server_error(&error)),
        }
    }
    Ok(Outcome::Done)
}
