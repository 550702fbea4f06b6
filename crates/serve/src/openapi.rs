//! OpenAPI v3: the schemas of all kinds (`crates/k8s-model/src/openapi.rs`), and the paths that clients look up before they send a request.
//!
//! Models `kube-openapi/pkg/handler3` and `kubectl/pkg/explain/v2`.

use super::cluster::Reply;
use super::discovery;
use super::status::Answer;
use cluster::Sim;
use k8s_model::kind;
use k8s_model::openapi::{self, NAMES};
use serde_json::{Map, Value, json};

/// Operation at a path.
struct Operation {
    method: &'static str,
    /// True if it concerns all objects of a kind rather than one.
    of_all: bool,
    id: &'static str,
    action: &'static str,
    /// Description.
    text: &'static str,
    parameters: Parameters,
}

type Parameters = &'static [(&'static str, &'static str)];

const DRY_RUN: (&str, &str) = (
    "dryRun",
    "With All the request is checked and answered, and nothing is written.",
);
const CHANGES: Parameters = &[
    DRY_RUN,
    (
        "fieldManager",
        "The name that the fields are managed under.",
    ),
    (
        "fieldValidation",
        "What becomes of unknown fields: Strict refuses them, Warn drops them with a warning, Ignore drops them.",
    ),
];
const SELECTS: Parameters = &[
    ("labelSelector", "Only objects with these labels."),
    (
        "fieldSelector",
        "Only objects whose fields have these values.",
    ),
    ("limit", "How many objects a page has at most."),
    (
        "continue",
        "Where the next page begins, as the page before has told.",
    ),
    (
        "resourceVersion",
        "The version that is listed, or that a watch begins after.",
    ),
    (
        "watch",
        "Tells what changes from now on, event by event, in place of a list.",
    ),
];

const OPERATIONS: [Operation; 7] = [
    Operation {
        method: "get",
        of_all: true,
        id: "list",
        action: "list",
        text: "Lists objects of the kind {}, or watches them.",
        parameters: SELECTS,
    },
    Operation {
        method: "post",
        of_all: true,
        id: "create",
        action: "post",
        text: "Creates an object of the kind {}.",
        parameters: CHANGES,
    },
    Operation {
        method: "delete",
        of_all: true,
        id: "deleteCollection",
        action: "deletecollection",
        text: "Deletes all objects of the kind {} that are selected.",
        parameters: SELECTS,
    },
    Operation {
        method: "get",
        of_all: false,
        id: "read",
        action: "get",
        text: "Reads an object of the kind {}.",
        parameters: &[],
    },
    Operation {
        method: "put",
        of_all: false,
        id: "replace",
        action: "put",
        text: "Replaces an object of the kind {}.",
        parameters: CHANGES,
    },
    Operation {
        method: "patch",
        of_all: false,
        id: "patch",
        action: "patch",
        text: "Changes some fields of an object of the kind {}, or applies a configuration to it.",
        parameters: CHANGES,
    },
    Operation {
        method: "delete",
        of_all: false,
        id: "delete",
        action: "delete",
        text: "Deletes an object of the kind {}.",
        parameters: &[DRY_RUN],
    },
];

/// Capitalizes a group for use within a name; the core group is named `core`.
fn capital(word: &str) -> String {
    let word = if word.is_empty() { "core" } else { word };
    word[..1].to_uppercase() + &word[1..]
}

/// Handles an OpenAPI request.
pub fn answer(sim: &Sim, path: &str) -> Option<Reply> {
    let rest = path.strip_prefix("/openapi/v3")?.trim_start_matches('/');
    if rest.is_empty() {
        let paths: Map<String, Value> = discovery::group_versions(sim)
            .into_iter()
            .map(|(group, version)| {
                let name = if group.is_empty() {
                    format!("api/{version}")
                } else {
                    format!("apis/{group}/{version}")
                };
                let url = format!(
                    "/openapi/v3/{name}?hash={}",
                    sim.server.definitions().served().count()
                );
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
    let known = discovery::group_versions(sim)
        .iter()
        .any(|(g, v)| g == group && v == version);
    known.then(|| Answer::json(200, &document(sim, group, version)).into())
}

/// Returns the schemas and paths of all groups.
pub fn everything(sim: &Sim) -> (Map<String, Value>, Map<String, Value>) {
    let (mut all, mut paths): (Map<String, Value>, Map<String, Value>) = (Map::new(), Map::new());
    for (group, version) in discovery::group_versions(sim) {
        let mut document = document(sim, &group, &version);
        if let Value::Object(found) = document["paths"].take() {
            paths.extend(found);
        }
        if let Value::Object(found) = document["components"]["schemas"].take() {
            for (name, one) in found {
                // A struct shared by several groups has its group-version-kind from one of them.
                let known = all
                    .get(&name)
                    .is_some_and(|known| known.get(NAMES).is_some());
                if !known {
                    all.insert(name, one);
                }
            }
        }
    }
    (all, paths)
}

fn document(sim: &Sim, group: &str, version: &str) -> Value {
    let (mut paths, mut schemas) = (Map::new(), Map::new());
    let base = if group.is_empty() {
        format!("/api/{version}")
    } else {
        format!("/apis/{group}/{version}")
    };
    let mut add_path = |plural: &str, namespaced: bool, kind: &str, stored: bool| {
        let place = if namespaced {
            "/namespaces/{namespace}"
        } else {
            ""
        };
        let scope = if namespaced { "Namespaced" } else { "" };
        for (tail, all) in [("", true), ("/{name}", false)] {
            let of_path = OPERATIONS
                .iter()
                .filter(|one| one.of_all == all && (stored || one.method == "get"));
            let operation = |one: &Operation| {
                let parameters = one.parameters.iter().map(|(name, text)| {
                    json!({ "name": name, "in": "query", "description": text, "schema": { "type": "string", "uniqueItems": true } })
                });
                let id = format!(
                    "{}{}{}{scope}{kind}",
                    one.id,
                    capital(group.split('.').next().unwrap_or("")),
                    capital(version)
                );
                let operation = json!({
                    "description": one.text.replace("{}", kind), "operationId": id, "parameters": parameters.collect::<Vec<_>>(),
                    "responses": { "200": { "description": "OK" } }, "x-kubernetes-action": one.action,
                    NAMES: { "group": group, "version": version, "kind": kind },
                });
                (one.method.to_owned(), operation)
            };
            let operations: Map<String, Value> = of_path.map(operation).collect();
            paths.insert(format!("{base}{place}/{plural}{tail}"), operations.into());
        }
    };
    let tables = openapi::tables();
    for kind in kind::ALL
        .iter()
        .filter(|kind| kind.info().group == group && kind.info().version == version)
    {
        let info = kind.info();
        add_path(info.plural, info.namespaced, info.name, kind.is_stored());
        tables.kind(group, version, info.name, &mut schemas);
    }
    for definition in sim
        .server
        .definitions()
        .served()
        .filter(|definition| definition.kind.info().group == group)
    {
        let info = definition.kind.info();
        let Some(found) = definition.versions.iter().find(|one| one.name == version) else {
            continue;
        };
        add_path(info.plural, info.namespaced, info.name, true);
        tables.custom(&found.schema, group, version, info.name, &mut schemas);
    }
    json!({
        "openapi": "3.0.0", "info": { "title": "Kubernetes", "version": "v1.36.2" }, "paths": paths, "components": { "schemas": schemas },
    })
}
