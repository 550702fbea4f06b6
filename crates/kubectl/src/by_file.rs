//! Objects named by a file: `kubectl get -f web.yaml` stands for the names in the file's documents.
//!
//! Models the part of `cli-runtime/pkg/resource/builder.go` that turns files into infos. Verbs that send a file's contents read it
//! themselves.

use super::client::Client;
use super::documents;
use super::filenames::Filenames;
use super::parse::{Args, names_by_file, takes};
use super::targets::label;
use super::{Failure, Verb};

/// Replaces `-f` by the names in the file; `None` if no object of the file can be named, after reporting the errors.
pub fn named(
    client: &mut Client<'_>,
    verb: &Verb,
    words: Vec<String>,
    text: &str,
) -> Result<Option<Vec<String>>, Failure> {
    client.local.clear();
    if !names_by_file(verb.flags) {
        return Ok(Some(words));
    }
    let (files, mut kept) = Filenames::among(words.clone(), takes(verb.flags, "kustomize"));
    if files.is_empty() {
        return Ok(Some(words));
    }
    let local = takes(verb.flags, "local")
        && kept
            .iter()
            .any(|word| word == "--local" || word == "--local=true");
    let (mut names, mut namespace) = (Vec::new(), Vec::new());
    let contents = documents::read_files(client, &files, false, text);
    contents
        .faults
        .iter()
        .for_each(|fault| client.streams.fail(fault));
    for document in contents.documents {
        let as_read = document.value.clone();
        let own = as_read["metadata"]["namespace"].as_str().map(str::to_owned);
        match documents::prepare(client, &Args::default(), document) {
            Ok((kind, _)) if local => client.local.push((kind, as_read)),
            // The object to expose need not exist yet.
            Ok(prepared) if verb.name == "expose" => client.local.push(prepared),
            Ok((kind, value)) => {
                if let Some(own) = own.filter(|_| namespace.is_empty() && kind.info().namespaced) {
                    namespace = vec!["--namespace".to_owned(), own];
                }
                names.push(label(
                    kind,
                    value["metadata"]["name"].as_str().unwrap_or(""),
                ));
            }
            Err(failure) => client.streams.fail(&failure),
        }
    }
    if !client.local.is_empty() {
        return Ok(Some(kept));
    }
    if names.is_empty() {
        return if client.streams.failure.is_some() {
            Ok(None)
        } else {
            Err(Failure::error(format!(
                "no objects passed to {}",
                verb.name
            )))
        };
    }
    // A subcommand precedes the names.
    let at = usize::from(matches!(verb.name, "set" | "rollout")).min(kept.len());
    kept.splice(at..at, names.into_iter().chain(namespace));
    Ok(Some(kept))
}
