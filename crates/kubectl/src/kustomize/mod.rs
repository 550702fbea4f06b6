//! `kubectl kustomize`, and `-k` of other verbs: builds objects from a kustomization.
//!
//! Models `kustomize/api/internal/target/kusttarget.go` and the built-in generators and transformers, in their order. Remote resources,
//! plugins, components, Helm charts, variables and replacements are refused by name.

mod file;
mod generators;
mod order;
mod patches;
mod references;
mod resource;
mod transformers;

use super::client::Client;
use super::parse::Args;
use super::printers::yaml;
use super::{Failure, Outcome, Reads, Verb};
use cluster::disk::joined;
use file::{Kustomization, NAMES};
use resource::Resource;

const FLAGS: &str = "output/o= !enable-helm !enable-alpha-plugins !network ~load-restrictor= ~reorder= !as-current-user !env/e= !helm-command= !mount=";
/// Maximum nesting of kustomizations.
const MAX_DEPTH: usize = 16;
/// `kubectl kustomize`.
pub const VERB: Verb = Verb {
    name: "kustomize",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::Yes,
    run,
    help: "Build a kustomization target from a directory or URL",
};

fn run(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("kustomize", FLAGS, words)?;
    if args.get("output").is_some() {
        return Err(Failure::error(
            "there is no folder here to write to: redirect the output to a file",
        ));
    }
    let folder = match &args.words[..] {
        [] => ".",
        [folder] => folder.as_str(),
        _ => {
            return Err(Failure::error(
                "specify one path to a kustomization directory",
            ));
        }
    };
    let text = text(client, folder)?;
    client.streams.out.push_str(&text);
    Ok(Outcome::Done)
}

/// Builds a kustomization into a single text.
pub fn text(client: &Client<'_>, folder: &str) -> Result<String, Failure> {
    let objects = build(client, folder, 0)?;
    let documents: Vec<String> = order::sorted(objects)
        .iter()
        .map(|resource| yaml::print(&resource.object))
        .collect();
    Ok(documents.join("---\n"))
}

fn build(client: &Client<'_>, folder: &str, depth: usize) -> Result<Vec<Resource>, Failure> {
    if depth > MAX_DEPTH {
        return Err(Failure::error(format!(
            "cycle detected: kustomizations within kustomizations at '{folder}'"
        )));
    }
    let kustomization = Kustomization::read(client, folder)?;
    let mut all = Vec::new();
    for entry in kustomization
        .list("resources")
        .iter()
        .chain(kustomization.list("bases"))
    {
        let path = entry.as_str().unwrap_or("");
        all.extend(accumulate(client, &kustomization, path, depth)?);
    }
    generators::run(client, &kustomization, &mut all)?;
    patches::run(client, &kustomization, &mut all)?;
    transformers::run(&kustomization, &mut all);
    generators::add_hashes(&mut all, depth == 0);
    references::follow(&mut all);
    Ok(all)
}

/// Returns the objects of a file, or of a folder with a kustomization.
fn accumulate(
    client: &Client<'_>,
    kustomization: &Kustomization,
    path: &str,
    depth: usize,
) -> Result<Vec<Resource>, Failure> {
    if path.contains("://") || path.starts_with("github.com/") {
        return Err(Failure::error(format!(
            "accumulating resources: '{path}': nothing is fetched from the network"
        )));
    }
    let whole = joined(&kustomization.folder, path);
    let Some(text) = client.file(&whole) else {
        if NAMES
            .iter()
            .any(|name| client.file(&joined(&whole, name)).is_some())
        {
            return build(client, &whole, depth + 1);
        }
        return Err(Failure::error(format!(
            "accumulating resources: accumulation err='accumulating resources from '{path}': open {whole}: no such file or directory'"
        )));
    };
    let parsed = manifest::parse(text.as_bytes());
    match parsed.diagnostics.first() {
        Some(wrong) => Err(Failure::error(format!(
            "accumulating resources: accumulation err='accumulating resources from '{path}': {}'",
            wrong.fault
        ))),
        None => Ok(parsed
            .documents
            .into_iter()
            .map(|document| Resource::new(document.value))
            .collect()),
    }
}
