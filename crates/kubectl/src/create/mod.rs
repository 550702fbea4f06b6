//! `kubectl create`: creates objects from a file, or from arguments.
//!
//! Models `kubectl/pkg/cmd/create`: one [`Generator`] for each subcommand.

mod config;
mod generator;
mod network;
mod policy;
mod rbac;
mod workloads;

use super::client::Client;
use super::content_hash::hash;
use super::documents::{FileContents, prepare, with_last_applied};
use super::failure::{file_error, server_error};
use super::filenames::Filenames;
use super::parse::Args;
use super::unavailable::NO_FILE;
use super::{Failure, Outcome, Reads, Verb};
use crate::documents;
use apiserver::StatusReason;
use generator::Generator;
pub use generator::pairs;
use serde_json::Value;

const FLAGS: &str = "filename/f= recursive/R kustomize/k= save-config dry-run?unchanged output/o= validate?strict selector/l= !edit !raw= record";

/// Flags of every generator.
const COMMON: &str = "save-config dry-run?unchanged output/o= validate?strict";

const GENERATORS: &[&Generator] = &[
    &workloads::NAMESPACE,
    &policy::QUOTA,
    &config::SECRET,
    &config::REGISTRY,
    &config::TLS,
    &config::CONFIG_MAP,
    &rbac::SERVICE_ACCOUNT,
    &network::CLUSTER_IP,
    &network::NODE_PORT,
    &network::LOAD_BALANCER,
    &network::EXTERNAL_NAME,
    &workloads::DEPLOYMENT,
    &rbac::CLUSTER_ROLE,
    &rbac::CLUSTER_ROLE_BINDING,
    &rbac::ROLE,
    &rbac::ROLE_BINDING,
    &policy::BUDGET,
    &policy::PRIORITY_CLASS,
    &workloads::JOB,
    &workloads::CRON_JOB,
    &network::INGRESS,
    &rbac::TOKEN,
];

/// `kubectl create`.
pub const VERB: Verb = Verb {
    name: "create",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::No,
    run,
    help: "Create a resource from a file or from stdin",
};

fn run(client: &mut Client<'_>, words: &[String], stdin: &str) -> Result<Outcome, Failure> {
    if let Some((generator, rest)) = find(words)? {
        return generated(client, generator, &rest);
    }
    let args = Args::parse("create", FLAGS, words)?;
    client.use_flags(&args)?;
    if !args.words.is_empty() {
        return Err(Failure::usage(
            "create",
            format!("Unexpected args: [{}]", args.words.join(" ")),
        ));
    }
    if Filenames::of(&args).is_empty() {
        return Err(Failure::error(NO_FILE));
    }
    from_text(client, &args, stdin)
}

/// Returns the generator named by the first words, and the words without its name.
fn find(words: &[String]) -> Result<Option<(&'static Generator, Vec<String>)>, Failure> {
    let named = |generator: &Generator, word: &str| {
        let (topic, sub) = generator
            .name
            .split_once(' ')
            .unwrap_or((generator.name, ""));
        (topic == word || !generator.alias.is_empty() && generator.alias == word).then_some(sub)
    };
    let Some(at) = words.iter().position(|word| {
        GENERATORS
            .iter()
            .any(|generator| named(generator, word).is_some())
    }) else {
        return Ok(None);
    };
    if !Filenames::among(words[..at].to_vec(), true).0.is_empty() {
        return Ok(None);
    }
    let topic = words[at].as_str();
    let mut rest = words.to_vec();
    rest.remove(at);
    let of_topic = || {
        GENERATORS
            .iter()
            .filter_map(|generator| Some((*generator, named(generator, topic)?)))
    };
    if let Some((only, "")) = of_topic().next() {
        return Ok(Some((only, rest)));
    }
    if let Some((found, _)) =
        of_topic().find(|(_, sub)| rest.get(at).is_some_and(|word| word == sub))
    {
        rest.remove(at);
        return Ok(Some((found, rest)));
    }
    Err(Failure::usage(
        &format!("create {topic}"),
        format!("unknown command {:?}", rest.join(" ")),
    ))
}

fn generated(
    client: &mut Client<'_>,
    generator: &Generator,
    words: &[String],
) -> Result<Outcome, Failure> {
    let path = format!("create {}", generator.name);
    let args = Args::parse_with(&path, &[generator.flags, COMMON], words)?;
    client.use_flags(&args)?;
    let names = &args.words[..args.dash.unwrap_or(args.words.len())];
    let [name] = names else {
        return Err(Failure::usage(
            &path,
            format!("exactly one NAME is required, got {}", names.len()),
        ));
    };
    let mut value = (generator.make)(client, &args, name)?;
    if value.is_null() {
        return Ok(Outcome::Done);
    }
    if args.on("append-hash") {
        value["metadata"]["name"] = format!("{name}-{}", hash(name, &value)).into();
    }
    finish(client, &args, value, generator.fails)
}

/// Creates a generated object, or prints it; `fails` precedes a refusal.
pub fn finish(
    client: &mut Client<'_>,
    args: &Args,
    value: Value,
    fails: &str,
) -> Result<Outcome, Failure> {
    let (kind, value) = prepare(client, args, documents::made(client, value)?)?;
    let value = if args.on("save-config") {
        with_last_applied(&value)
    } else {
        value
    };
    let created = client
        .create(value)
        .map_err(|error| match (fails, error.reason) {
            ("", _) => server_error(&error),
            (_, StatusReason::Invalid) => Failure {
                causes: server_error(&error).causes,
                ..Failure::error(format!("{fails} {}", error.message))
            },
            _ => Failure::error(format!("{fails} {}", error.message)),
        })?;
    client.report_typed(kind, &created, "created")?;
    Ok(Outcome::Done)
}

fn from_text(client: &mut Client<'_>, args: &Args, stdin: &str) -> Result<Outcome, Failure> {
    let selector = crate::filenames::selector_of_files(args.get("selector"))?;
    let FileContents {
        mut documents,
        faults,
    } = documents::read(client, args, stdin);
    documents.retain(|document| selector.matches(&document.value));
    if documents.is_empty() && faults.is_empty() {
        return Err(Failure::error("no objects passed to create"));
    }
    for document in documents {
        let source = document.source.clone();
        let result = prepare(client, args, document).and_then(|(kind, value)| {
            let value = if args.on("save-config") {
                with_last_applied(&value)
            } else {
                value
            };
            let created = client
                .create(value)
                .map_err(|error| file_error(&error, "creating", &source))?;
            client.report(kind, &created, "created")
        });
        if let Err(failure) = result {
            client.streams.fail(&failure);
        }
    }
    client.streams.fail_all(faults);
    Ok(Outcome::Done)
}
