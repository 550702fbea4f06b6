//! OpenAPI v3: the fields of each kind, from the field table, and what clients look for before they send a request.
//!
//! Models `kube-openapi/pkg/handler3` and `kubectl/pkg/explain/v2`.

use super::cluster::Reply;
use super::discovery;
use super::status::Answer;
use crate::api::kind;
use crate::api::schema::{self, Field, schema};
use crate::engine::Sim;
use serde_json::{Map, Value, json};

/// Answers a request about the fields of kinds.
pub fn answer(sim: &Sim, path: &str) -> Option<Reply> {
    let rest = path.strip_prefix("/openapi/v3")?.trim_start_matches('/');
    if rest.is_empty() {
        let paths: Map<String, Value> = discovery::group_versions(sim)
            .into_iter()
            .map(|(group, version)| {
                let name = if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") };
                let url = format!("/openapi/v3/{name}?hash={}", sim.server().definitions().served().count());
                (name, json!({ "serverRelativeURL": url }))
            })
            .collect();
        return Some(Answer::json(200, &json!({ "paths": paths })).into());
    }
    let words: Vec<&str> = rest.split('/').collect();
    let (group, version) = match words.as_slice() {
        ["api", version] => ("", *version),
        ["apis", group, version] => (*group, *version),
        _ => return None,
    };
    let known = discovery::group_versions(sim).iter().any(|(g, v)| g == group && v == version);
    known.then(|| Answer::json(200, &document(sim, group, version)).into())
}

/// The schemas of all groups.
pub fn schemas(sim: &Sim) -> Map<String, Value> {
    let mut all: Map<String, Value> = Map::new();
    for (group, version) in discovery::group_versions(sim) {
        if let Value::Object(found) = document(sim, &group, &version)["components"]["schemas"].take() {
            for (name, one) in found {
                // A struct that several groups use is named as a kind by one of them.
                let known = all.get(&name).is_some_and(|known| known.get(NAMES).is_some());
                if !known {
                    all.insert(name, one);
                }
            }
        }
    }
    all
}

const NAMES: &str = "x-kubernetes-group-version-kind";

fn document(sim: &Sim, group: &str, version: &str) -> Value {
    let (mut paths, mut schemas) = (Map::new(), Map::new());
    let base = if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") };
    let mut add_path = |plural: &str, namespaced: bool, kind: &str| {
        let place = if namespaced { "/namespaces/{namespace}" } else { "" };
        let names = json!({ "group": group, "version": version, "kind": kind });
        let operation = |action: &str| {
            let parameters = ["dryRun", "fieldManager", "fieldValidation"]
                .map(|name| json!({ "name": name, "in": "query", "schema": { "type": "string", "uniqueItems": true } }));
            json!({
                "parameters": parameters, "responses": {}, "x-kubernetes-action": action, "x-kubernetes-group-version-kind": names,
            })
        };
        paths.insert(format!("{base}{place}/{plural}"), json!({ "post": operation("post") }));
        let one = json!({ "patch": operation("patch"), "put": operation("put") });
        paths.insert(format!("{base}{place}/{plural}/{{name}}"), one);
    };
    let api_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    for kind in kind::ALL.iter().filter(|kind| kind.info().group == group && kind.info().version == version) {
        let info = kind.info();
        add_path(info.plural, info.namespaced, info.name);
        let Some(root) = schema().kind(&api_version, info.name) else { continue };
        collect(root, &mut schemas);
        if let Some(entry) = schemas.get_mut(&public_name(root)) {
            entry["x-kubernetes-group-version-kind"] = json!([{ "group": group, "version": version, "kind": info.name }]);
        }
    }
    for definition in sim.server().definitions().served().filter(|definition| definition.kind.info().group == group) {
        let info = definition.kind.info();
        let Some(found) = definition.versions.iter().find(|one| one.name == version) else { continue };
        add_path(info.plural, info.namespaced, info.name);
        let mut entry = (*found.schema).clone();
        entry["x-kubernetes-group-version-kind"] = json!([{ "group": group, "version": version, "kind": info.name }]);
        let reversed: Vec<&str> = group.split('.').rev().collect();
        schemas.insert(format!("{}.{version}.{}", reversed.join("."), info.name), entry);
    }
    json!({
        "openapi": "3.0.0", "info": { "title": "Kubernetes", "version": "v1.36.2" }, "paths": paths, "components": { "schemas": schemas },
    })
}

/// Adds a struct and those of its fields.
fn collect(name: &'static str, schemas: &mut Map<String, Value>) {
    let public = public_name(name);
    if schemas.contains_key(&public) {
        return;
    }
    let Some(fields) = schema().fields(name) else { return };
    schemas.insert(public.clone(), Value::Null);
    let (mut properties, mut required) = (Map::new(), Vec::new());
    inner(fields, &mut properties, &mut required, schemas);
    let mut entry = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        entry["required"] = json!(required);
    }
    schemas.insert(public, entry);
}

fn inner(
    fields: &'static [Field],
    properties: &mut Map<String, Value>,
    required: &mut Vec<&'static str>,
    schemas: &mut Map<String, Value>,
) {
    for field in fields {
        if field.inline() {
            if let Some(own) = schema().fields(field.kind.trim_start_matches('*')) {
                inner(own, properties, required, schemas);
            }
            continue;
        }
        if field.required {
            required.push(field.json);
        }
        let mut property = type_of(field.kind, schemas);
        if !field.strategy.is_empty() {
            property["x-kubernetes-patch-strategy"] = field.strategy.into();
        }
        if !field.merge_key.is_empty() {
            property["x-kubernetes-patch-merge-key"] = field.merge_key.into();
        }
        properties.insert(field.json.to_owned(), property);
    }
}

fn type_of(kind: &'static str, schemas: &mut Map<String, Value>) -> Value {
    let kind = kind.trim_start_matches('*');
    if kind == "[]byte" {
        return json!({ "type": "string", "format": "byte" });
    }
    if let Some(element) = schema::list_element(kind) {
        return json!({ "type": "array", "items": type_of(element, schemas) });
    }
    if let Some(element) = schema::map_element(kind) {
        return json!({ "type": "object", "additionalProperties": type_of(element, schemas) });
    }
    match kind {
        "bool" => json!({ "type": "boolean" }),
        "int" | "int32" | "int64" | "uint32" | "uint64" => {
            json!({ "type": "integer", "format": if kind.ends_with("64") { "int64" } else { "int32" } })
        }
        "float64" => json!({ "type": "number", "format": "double" }),
        _ if kind.ends_with(".Time") || kind.ends_with(".MicroTime") => json!({ "type": "string", "format": "date-time" }),
        _ if kind.ends_with(".IntOrString") => {
            json!({ "x-kubernetes-int-or-string": true, "oneOf": [{ "type": "integer" }, { "type": "string" }] })
        }
        _ if kind.ends_with(".FieldsV1") || kind.ends_with(".RawExtension") => json!({ "type": "object" }),
        _ if schema().fields(kind).is_some() => {
            collect(kind, schemas);
            json!({ "$ref": format!("#/components/schemas/{}", public_name(kind)) })
        }
        _ => match schema().scalar(kind) {
            Some(inner) if inner != kind => type_of(inner, schemas),
            _ => json!({ "type": "string" }),
        },
    }
}

/// `appsv1.Deployment` is `io.k8s.api.apps.v1.Deployment`.
fn public_name(name: &str) -> String {
    let (package, name) = name.split_once('.').unwrap_or(("v1", name));
    let at = package.rfind('v').unwrap_or(0);
    match package.split_at(at) {
        ("meta", version) => format!("io.k8s.apimachinery.pkg.apis.meta.{version}.{name}"),
        ("", version) => format!("io.k8s.api.core.{version}.{name}"),
        (group, version) => format!("io.k8s.api.{group}.{version}.{name}"),
    }
}
