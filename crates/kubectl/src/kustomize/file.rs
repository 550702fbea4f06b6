//! Kustomization file.

use crate::Failure;
use crate::client::Client;
use cluster::disk::joined;
use serde_json::{Map, Value};

/// File names, in the order of lookup.
pub(super) const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];
/// Supported fields; `labels` and `commonLabels` are one transformer.
const FIELDS: [&str; 21] = [
    "apiVersion",
    "kind",
    "metadata",
    "resources",
    "bases",
    "namespace",
    "namePrefix",
    "nameSuffix",
    "labels",
    "commonLabels",
    "commonAnnotations",
    "images",
    "replicas",
    "patches",
    "patchesStrategicMerge",
    "patchesJson6902",
    "configMapGenerator",
    "secretGenerator",
    "generatorOptions",
    "sortOptions",
    "buildMetadata",
];

/// Kustomization file with its folder.
pub(super) struct Kustomization {
    pub(super) folder: String,
    pub(super) value: Value,
}

impl Kustomization {
    pub(super) fn read(client: &Client<'_>, folder: &str) -> Result<Kustomization, Failure> {
        let found = NAMES
            .iter()
            .find_map(|name| client.file(&joined(folder, name)));
        let text = found.ok_or_else(|| {
            let all = format!("'{}', '{}' or '{}'", NAMES[0], NAMES[1], NAMES[2]);
            Failure::error(format!(
                "unable to find one of {all} in directory '{folder}'"
            ))
        })?;
        // The file is not an API object: its kind is optional.
        let value: Value = manifest::value(&text)
            .map_err(|problem| Failure::error(format!("invalid Kustomization: {problem}")))?;
        let unknown = value
            .as_object()
            .into_iter()
            .flat_map(Map::keys)
            .find(|field| !FIELDS.contains(&field.as_str()));
        match unknown {
            Some(field) => Err(Failure::error(format!(
                "invalid Kustomization: {field} is not simulated here, or is no field"
            ))),
            None => Ok(Kustomization {
                folder: folder.to_owned(),
                value,
            }),
        }
    }

    /// Returns the entries of a list.
    pub(super) fn list(&self, field: &str) -> &[Value] {
        self.value[field].as_array().map_or(&[], Vec::as_slice)
    }

    pub(super) fn text(&self, field: &str) -> &str {
        self.value[field].as_str().unwrap_or("")
    }

    /// Returns a file relative to the kustomization.
    pub(super) fn file(&self, client: &Client<'_>, path: &str) -> Result<String, Failure> {
        let whole = joined(&self.folder, path);
        client
            .file(&whole)
            .ok_or_else(|| Failure::error(format!("open {whole}: no such file or directory")))
    }
}
