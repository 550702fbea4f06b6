//! OpenAPI v3: the schemas of all kinds (`api/openapi.rs`), and what clients look for before they send a request.
//!
//! Models `kube-openapi/pkg/handler3` and `kubectl/pkg/explain/v2`.

use super::cluster::Reply;
use super::discovery;
use super::status::Answer;
use crate::api::kind;
use crate::api::openapi::{self, NAMES};
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
                "parameters": parameters, "responses": {}, "x-kubernetes-action": action, NAMES: names,
            })
        };
        paths.insert(format!("{base}{place}/{plural}"), json!({ "post": operation("post") }));
        let one = json!({ "patch": operation("patch"), "put": operation("put") });
        paths.insert(format!("{base}{place}/{plural}/{{name}}"), one);
    };
    let tables = openapi::tables();
    for kind in kind::ALL.iter().filter(|kind| kind.info().group == group && kind.info().version == version) {
        let info = kind.info();
        add_path(info.plural, info.namespaced, info.name);
        tables.kind((group, version, info.name), &mut schemas);
    }
    for definition in sim.server().definitions().served().filter(|definition| definition.kind.info().group == group) {
        let info = definition.kind.info();
        let Some(found) = definition.versions.iter().find(|one| one.name == version) else { continue };
        add_path(info.plural, info.namespaced, info.name);
        tables.custom(&found.schema, (group, version, info.name), &mut schemas);
    }
    json!({
        "openapi": "3.0.0", "info": { "title": "Kubernetes", "version": "v1.36.2" }, "paths": paths, "components": { "schemas": schemas },
    })
}
