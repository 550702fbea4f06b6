//! Patches of a kustomization: strategic merge, and JSON.
//!
//! Models `PatchTransformer`, `PatchStrategicMergeTransformer` and `PatchJson6902Transformer`.

use super::file::Kustomization;
use super::resource::Resource;
use crate::Failure;
use crate::client::Client;
use apiserver::PatchType;
use k8s_model::Kind;
use k8s_model::go_regex::GoRegex;
use serde_json::Value;

pub(super) fn run(
    client: &Client<'_>,
    of: &Kustomization,
    all: &mut Vec<Resource>,
) -> Result<(), Failure> {
    for entry in of.list("patchesStrategicMerge") {
        let text = entry.as_str().unwrap_or("");
        // An entry is a file name, or the patch itself.
        let text = of.file(client, text).unwrap_or_else(|_| text.to_owned());
        for patch in manifest::parse(text.as_bytes()).documents {
            merge(all, &Value::Null, &patch.value)?;
        }
    }
    for entry in of.list("patches").iter().chain(of.list("patchesJson6902")) {
        let text = match (entry["path"].as_str(), entry["patch"].as_str()) {
            (Some(path), None) => of.file(client, path)?,
            (None, Some(text)) => text.to_owned(),
            _ => return Err(Failure::error("patches: specify either patch or path")),
        };
        let patch = manifest::value(&text)
            .map_err(|problem| Failure::error(format!("unable to parse patch: {problem}")))?;
        match patch {
            Value::Array(_) => {
                let target = &entry["target"];
                for at in matching(all, target)? {
                    apply(all, at, PatchType::Json, &patch)?;
                }
            }
            _ => merge(all, &entry["target"], &patch)?,
        }
    }
    Ok(())
}

/// Applies a strategic merge patch to the object it names, or to those selected by the target.
fn merge(all: &mut Vec<Resource>, target: &Value, patch: &Value) -> Result<(), Failure> {
    let named = serde_json::json!({"kind": patch["kind"], "name": patch["metadata"]["name"], "namespace": patch["metadata"]["namespace"]});
    let own = target.is_null();
    let mut found = matching(all, if own { &named } else { target })?;
    if own && found.is_empty() {
        let (kind, name) = (
            patch["kind"].as_str().unwrap_or(""),
            patch["metadata"]["name"].as_str().unwrap_or(""),
        );
        return Err(Failure::error(format!(
            "no matches for Id {kind}/{name}; failed to find unique target for patch {kind}/{name}"
        )));
    }
    if patch["$patch"] == "delete" {
        // Removed from the last to the first, so that indexes stay valid.
        found.reverse();
        found.into_iter().for_each(|at| drop(all.remove(at)));
        return Ok(());
    }
    // A patch for several objects does not rename them.
    let mut patch = patch.clone();
    if let Some(metadata) = patch["metadata"].as_object_mut() {
        metadata.remove("name");
        metadata.remove("namespace");
    }
    found
        .into_iter()
        .try_for_each(|at| apply(all, at, PatchType::Strategic, &patch))
}

fn apply(all: &mut [Resource], at: usize, how: PatchType, patch: &Value) -> Result<(), Failure> {
    let resource = &mut all[at];
    let text = |field: &str| resource.object[field].as_str().unwrap_or("").to_owned();
    let kind = Kind::from_api(&text("apiVersion"), &text("kind"));
    // For a kind without known types lists are replaced.
    let (kind, how) = kind.map_or(
        (
            Kind::ConfigMap,
            if how == PatchType::Json {
                how
            } else {
                PatchType::Merge
            },
        ),
        |kind| (kind, how),
    );
    let patched = how
        .merged(kind, resource.object.clone(), patch)
        .map_err(|error| Failure::error(error.message))?;
    resource.object = patched;
    Ok(())
}

/// Returns the indexes of the objects that a target selects.
fn matching(all: &[Resource], target: &Value) -> Result<Vec<usize>, Failure> {
    let text = |field: &str| target[field].as_str().unwrap_or("");
    let whole = |pattern: &str| GoRegex::new(&format!("^({pattern})$"));
    let (name, namespace) = (whole(text("name")), whole(text("namespace")));
    let (Ok(name), Ok(namespace)) = (name, namespace) else {
        return Err(Failure::error(format!(
            "invalid target: {} is no regular expression",
            text("name")
        )));
    };
    let labels = |selector: &str, labels: &Value| {
        selector
            .split(',')
            .filter(|pair| !pair.is_empty())
            .all(|pair| {
                let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
                labels[key.trim()].as_str().is_some_and(|own| {
                    !pair.contains('=') || own == value.trim_start_matches('=').trim()
                })
            })
    };
    let fits = |resource: &Resource| {
        let (group, version) = resource.object["apiVersion"]
            .as_str()
            .map_or(("", ""), |api| api.split_once('/').unwrap_or(("", api)));
        let metadata = &resource.object["metadata"];
        (text("kind").is_empty() || text("kind") == resource.kind())
            && (text("group").is_empty() || text("group") == group)
            && (text("version").is_empty() || text("version") == version)
            && (text("name").is_empty() || resource.names.iter().any(|own| name.is_match(own)))
            && (text("namespace").is_empty()
                || namespace.is_match(metadata["namespace"].as_str().unwrap_or("default")))
            && labels(text("labelSelector"), &metadata["labels"])
            && labels(text("annotationSelector"), &metadata["annotations"])
    };
    Ok(all
        .iter()
        .enumerate()
        .filter(|(_, resource)| fits(resource))
        .map(|(at, _)| at)
        .collect())
}
