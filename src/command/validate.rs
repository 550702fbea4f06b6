//! `loopscope validate`: manifests against the API server's decoding, admission and validation.

use super::problem::{self, FileProblem, Severity};
use super::{print, read_input};
use actions::{Action, Host};
use controller_runtime::cluster::ClusterConfig;
use k8s_model::Kind;
use k8s_model::time::SECOND;
use manifest::Document;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Applies manifests to a fresh cluster and prints each refusal and warning with its line
///
/// All files are applied to one cluster, their definitions and namespaces first; namespaces that no file has are created. Exits with 1 if
/// an object was refused.
#[derive(clap::Args)]
pub(super) struct ValidateArgs {
    /// Manifests; - is standard input
    #[arg(required = true)]
    files: Vec<String>,
    /// Leaves out objects of kinds that neither the cluster nor a file defines
    #[arg(long)]
    ignore_unknown_kinds: bool,
    /// Prints an object of JSON for each refusal and warning instead, one a line: file, line, severity, message
    #[arg(long)]
    json: bool,
}

/// Seed of names and uids, which nothing here depends on.
const SEED: u64 = 1;

pub(super) fn validate(args: &ValidateArgs) -> Result<u8, String> {
    let texts = args
        .files
        .iter()
        .map(|file| Ok((file.as_str(), read_input(file)?)))
        .collect::<Result<Vec<_>, String>>()?;
    let mut host = Host::new(kubectl::new_cluster(ClusterConfig::default(), SEED));
    pass_second(&mut host);
    let documents: Vec<Document> = texts
        .iter()
        .flat_map(|(_, text)| manifest::parse(text.as_bytes()).documents)
        .collect();
    prepare(&mut host, &documents);
    let mut problems = Vec::new();
    for (file, text) in &texts {
        let unknown = if args.ignore_unknown_kinds {
            unknown_lines(&host, text)
        } else {
            Vec::new()
        };
        let result = host.run(&Action::apply(text.as_str()));
        let is_known = |line: usize| {
            !unknown
                .iter()
                .any(|(from, to)| (*from..*to).contains(&line))
        };
        let found = result.diagnostics.iter();
        problems.extend(
            found
                .filter(|found| is_known(found.line))
                .map(|found| FileProblem {
                    file,
                    line: found.line,
                    severity: if found.error {
                        Severity::Error
                    } else {
                        Severity::Warning
                    },
                    message: found.message.english(),
                }),
        );
    }
    print(&if args.json {
        problem::json_lines(&problems)
    } else {
        problems.iter().map(FileProblem::rated).collect()
    })?;
    let is_refused = |problem: &FileProblem| problem.severity == Severity::Error;
    Ok(u8::from(problems.iter().any(is_refused)))
}

/// Applies definitions, and creates each namespace that an object is in.
fn prepare(host: &mut Host, documents: &[Document]) {
    let text = |document: &Document, path: &str| {
        let found = document.value.pointer(path);
        found.and_then(Value::as_str).map(str::to_owned)
    };
    let is_kind = |document: &Document, kind: &str| document.value["kind"] == kind;
    let defined = documents
        .iter()
        .filter(|document| is_kind(document, "CustomResourceDefinition"));
    for document in defined {
        host.run(&Action::apply(document.value.to_string()));
    }
    let named: BTreeSet<String> = documents
        .iter()
        .filter_map(|document| text(document, "/metadata/namespace"))
        .collect();
    let own = documents
        .iter()
        .filter(|document| is_kind(document, "Namespace"));
    let own: BTreeSet<String> = own
        .filter_map(|document| text(document, "/metadata/name"))
        .collect();
    for name in named.union(&own) {
        let namespace =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        host.run(&Action::apply(namespace.to_string()));
    }
    // The service account of a namespace is there a moment later.
    pass_second(host);
}

fn pass_second(host: &mut Host) {
    let end = host.sim.now().after(SECOND);
    host.advance(end, usize::MAX);
}

/// Returns the lines of the documents whose kind is unknown, each range without its end.
fn unknown_lines(host: &Host, text: &str) -> Vec<(usize, usize)> {
    let documents = manifest::parse(text.as_bytes()).documents;
    let starts: BTreeSet<usize> = documents.iter().map(|document| document.line).collect();
    let is_known = |document: &Document| {
        let version = document.value["apiVersion"].as_str().unwrap_or("");
        let kind = document.value["kind"].as_str().unwrap_or("");
        version.is_empty()
            || kind.is_empty()
            || Kind::from_api(version, kind).is_some()
            || host.sim.server.definitions().named(version, kind).is_some()
    };
    let unknown = documents.iter().filter(|document| !is_known(document));
    unknown
        .map(|document| {
            let next = starts.range(document.line + 1..).next();
            (document.line, next.copied().unwrap_or(usize::MAX))
        })
        .collect()
}
