//! The kustomization file.

use crate::Failure;
use crate::client::Client;
use cluster::disk::joined;
use serde_json::{Map, Value};

/// Names of the file, in the order in which they are looked for.
pub(super) const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];
/// Fields that do something here; `labels` and `commonLabels` are one transformer.
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

/// A kustomization file and where it lies.
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
        // It is no API object: its kind need not be there.
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

    /// The entries of a list.
    pub(super) fn list(&self, field: &str) -> &[Value] {
        self.value[field].as_array().map_or(&[], Vec::as_slice)
    }

    pub(super) fn text(&self, field: &str) -> &str {
        self.value[field].as_str().unwrap_or("")
    }

    /// A file beside it.
    pub(super) fn file(&self, client: &Client<'_>, path: &str) -> Result<String, Failure> {
        let whole = joined(&self.folder, path);
        client
            .file(&whole)
            .ok_or_else(|| Failure::error(format!("open {whole}: no such file or directory")))
    }
}
