//! Generators of ConfigMaps and Secrets from files and literals, and the hashes in their names.
//!
//! Models `kustomize/api/internal/generators` and `api/hasher/hasher.go`.

use super::file::Kustomization;
use super::resource::Resource;
use crate::Failure;
use crate::client::Client;
use crate::content_hash::hash;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

pub(super) fn run(
    client: &Client<'_>,
    of: &Kustomization,
    all: &mut Vec<Resource>,
) -> Result<(), Failure> {
    for (field, kind) in [
        ("configMapGenerator", "ConfigMap"),
        ("secretGenerator", "Secret"),
    ] {
        for entry in of.list(field) {
            let made = generate(client, of, entry, kind)?;
            let behavior = entry["behavior"].as_str().unwrap_or("create");
            let same = |resource: &&mut Resource| {
                resource.kind() == kind && resource.names.iter().any(|name| name == made.name())
            };
            match (all.iter_mut().find(same), behavior) {
                (None, "create" | "unspecified" | "") => all.push(made),
                (Some(old), "merge") => {
                    merge(old, &made, "data");
                    old.hashed |= made.hashed;
                }
                (Some(old), "replace") => old.object["data"] = made.object["data"].clone(),
                (None, _) => {
                    return Err(Failure::error(format!(
                        "merging from generator {kind}/{}: no such {kind} to {behavior}",
                        made.name()
                    )));
                }
                (Some(_), _) => {
                    return Err(Failure::error(format!(
                        "merging from generator {kind}/{}: id already exists; behavior must be merge or replace",
                        made.name()
                    )));
                }
            }
        }
    }
    Ok(())
}

fn merge(old: &mut Resource, made: &Resource, field: &str) {
    let new = made.object[field].as_object().cloned().unwrap_or_default();
    if let Some(data) = old.map(&[field]) {
        data.extend(new);
    }
}

fn generate(
    client: &Client<'_>,
    of: &Kustomization,
    entry: &Value,
    kind: &str,
) -> Result<Resource, Failure> {
    let name = entry["name"].as_str().unwrap_or("");
    if name.is_empty() {
        return Err(Failure::error(format!("{kind} generator must have a name")));
    }
    let secret = kind == "Secret";
    let mut object = json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}});
    let encoded = |(key, text): (String, String)| {
        (
            key,
            Value::from(if secret { STANDARD.encode(text) } else { text }),
        )
    };
    let data = pairs(client, of, entry)?
        .into_iter()
        .map(encoded)
        .collect::<serde_json::Map<_, _>>();
    if !data.is_empty() {
        object["data"] = Value::Object(data);
    }
    if secret {
        object["type"] = json!(entry["type"].as_str().unwrap_or("Opaque"));
    }
    if let Some(namespace) = entry["namespace"].as_str() {
        object["metadata"]["namespace"] = namespace.into();
    }
    // Options of the entry take precedence over those of the file.
    let option = |name: &str| {
        [&entry["options"][name], &of.value["generatorOptions"][name]]
            .into_iter()
            .find(|value| !value.is_null())
            .cloned()
    };
    for field in ["labels", "annotations"] {
        if let Some(map) = option(field) {
            object["metadata"][field] = map;
        }
    }
    if option("immutable") == Some(Value::Bool(true)) {
        object["immutable"] = Value::Bool(true);
    }
    Ok(Resource {
        hashed: option("disableNameSuffixHash") != Some(Value::Bool(true)),
        ..Resource::new(object)
    })
}

/// Returns keys and texts: of files, of env files, of literals.
fn pairs(
    client: &Client<'_>,
    of: &Kustomization,
    entry: &Value,
) -> Result<Vec<(String, String)>, Failure> {
    let texts = |field: &str| {
        entry[field]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let mut out = Vec::new();
    let lines = texts("envs")
        .into_iter()
        .chain(entry["env"].as_str().map(str::to_owned));
    for path in lines {
        let text = of.file(client, &path)?;
        let lines = text
            .lines()
            .map(str::trim_start)
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        out.extend(
            lines
                .map(|line| line.split_once('=').unwrap_or((line, "")))
                .map(|(key, value)| (key.to_owned(), value.to_owned())),
        );
    }
    for literal in texts("literals") {
        let (key, value) = literal
            .split_once('=')
            .filter(|(key, _)| !key.is_empty())
            .ok_or_else(|| {
                Failure::error(format!(
                    "literal values: invalid literal source {literal}, expected key=value"
                ))
            })?;
        let quoted = |quote: char| {
            value
                .strip_prefix(quote)
                .and_then(|rest| rest.strip_suffix(quote))
        };
        out.push((
            key.to_owned(),
            quoted('"').or(quoted('\'')).unwrap_or(value).to_owned(),
        ));
    }
    for file in texts("files") {
        let (key, path) = file
            .split_once('=')
            .unwrap_or((file.rsplit('/').next().unwrap_or(&file), &file));
        out.push((key.to_owned(), of.file(client, path)?));
    }
    Ok(out)
}

/// Appends the hashes to names that need one, once the outermost kustomization is built.
pub(super) fn add_hashes(all: &mut [Resource], outermost: bool) {
    for resource in all
        .iter_mut()
        .filter(|resource| outermost && resource.hashed)
    {
        let name = format!("{}-{}", resource.name(), hash("", &resource.object));
        resource.rename(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares hashes with kustomize: the first is from its own tests, the second follows from the same rule.
    #[test]
    fn hashes_are_those_of_kustomize() {
        let config = |data: Value| {
            hash(
                "",
                &json!({"kind": "ConfigMap", "metadata": {"name": "any"}, "data": data}),
            )
        };
        assert_eq!(config(json!({"fruit": "apple"})), "c9867f8446");
        let secret = json!({"kind": "Secret", "metadata": {"name": "any"}, "type": "Opaque", "data": {"username": "YWRtaW4=", "password": "c2VjcmV0"}});
        assert_eq!(hash("", &secret), "8c5228dkb9");
    }
}
