//! `kubectl scale`.

use super::client::Client;
use super::failure::server_error;
use super::parse::Args;
use super::targets::{Targets, key_of};
use super::{Failure, Outcome, Reads, Verb};
use k8s_model::ObjectRef;

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
    if found.is_empty() && client.streams.failure.is_none() {
        return Err(Failure::error("no objects passed to scale"));
    }
    for (kind, object) in found {
        let key = key_of(kind, &object);
        let preconditions = ScalePrecondition {
            replicas: current,
            resource_version: args
                .get("resource-version")
                .filter(|version| !version.is_empty()),
        };
        if let Err(failure) = preconditions.check(client, &key) {
            client.streams.fail(&failure);
            continue;
        }
        match client.scale(&key, replicas) {
            Ok(()) => {
                let scaled = client.find(&key)?.unwrap_or(object);
                client.report(kind, &scaled, "scaled")?;
            }
            Err(error) => client.streams.fail(&server_error(&error)),
        }
    }
    Ok(Outcome::Done)
}

/// Conditions of a scaling, checked before it is sent. Models `ScalePrecondition` of `kubectl/pkg/scale/scale.go`.
struct ScalePrecondition<'a> {
    replicas: Option<i64>,
    resource_version: Option<&'a str>,
}

impl ScalePrecondition<'_> {
    fn check(&self, client: &Client<'_>, key: &ObjectRef) -> Result<(), Failure> {
        if self.replicas.is_none() && self.resource_version.is_none() {
            return Ok(());
        }
        let scale = client
            .get_scale(key)
            .map_err(|error| server_error(&error))?;
        let replicas = scale["spec"]["replicas"].as_i64().unwrap_or(0);
        if let Some(expected) = self.replicas.filter(|expected| *expected != replicas) {
            return Err(Failure::error(format!(
                "Expected replicas to be {expected}, was {replicas}"
            )));
        }
        let version = scale["metadata"]["resourceVersion"].as_str().unwrap_or("");
        match self
            .resource_version
            .filter(|expected| *expected != version)
        {
            Some(expected) => Err(Failure::error(format!(
                "Expected resource version to be {expected}, was {version}"
            ))),
            None => Ok(()),
        }
    }
}
