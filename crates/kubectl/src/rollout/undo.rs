//! `kubectl rollout undo`: restores the template of an earlier revision.
//!
//! Models `kubectl/pkg/polymorphichelpers/rollback.go`.

use super::history::StoredRevision;
use crate::Failure;
use crate::client::Client;
use crate::describe::template::describe;
use crate::failure::server_error;
use crate::output::DryRun;
use crate::parse::Args;
use crate::rollout::history;
use crate::targets::{key_of, name_of};
use apiserver::{PatchType, Subresource};
use k8s_model::Kind;
use k8s_model::meta::LAST_APPLIED;
use serde_json::{Map, Value, json};

/// Annotations of a Deployment that do not belong to a revision.
const NOT_OF_A_REVISION: [&str; 6] = [
    LAST_APPLIED,
    "deployment.kubernetes.io/revision",
    "deployment.kubernetes.io/revision-history",
    "deployment.kubernetes.io/desired-replicas",
    "deployment.kubernetes.io/max-replicas",
    "deprecated.deployment.rollback.to",
];

pub fn undo(
    client: &mut Client<'_>,
    args: &Args,
    kind: Kind,
    object: &Value,
) -> Result<(), Failure> {
    let wanted = args.number("to-revision")?.unwrap_or(0);
    let name = name_of(object).to_owned();
    if object["metadata"]["annotations"]
        .get(LAST_APPLIED)
        .is_some()
    {
        client.streams.warn(format!(
            "Warning: resource {}/{name} was previously managed with 'kubectl apply'. Rolling back will not update the {LAST_APPLIED} \
             annotation, which may cause unexpected behavior on future 'kubectl apply' operations. Consider using 'kubectl apply' with \
             your previous configuration file instead.",
            kind.info().plural
        ));
    }
    let revisions = history::revisions(client, kind, object, "rollbacker")?;
    let target = choose(&revisions, wanted, kind, &name)?;
    if client.mode.dry == DryRun::Client {
        return client.report(kind, object, &describe(&history::template_of(kind, target)));
    }
    if kind == Kind::Deployment && object["spec"]["paused"] == true {
        return Err(Failure::error(
            "you cannot rollback a paused deployment; resume it first with 'kubectl rollout resume' and try again",
        ));
    }
    let mut template = history::template_of(kind, target);
    if let Some(labels) = template
        .pointer_mut("/metadata/labels")
        .and_then(Value::as_object_mut)
    {
        labels.remove("pod-template-hash");
    }
    let key = key_of(kind, object);
    if template == object["spec"]["template"] {
        return client.report(
            kind,
            object,
            &format!(
                "skipped rollback (current template already matches revision {})",
                target.number
            ),
        );
    }
    let (how, change) = if kind == Kind::Deployment {
        let annotations = annotations(object, &target.object);
        let operations = json!([{"op": "replace", "path": "/spec/template", "value": template},
            {"op": "add", "path": "/metadata/annotations", "value": annotations}]);
        (PatchType::Json, operations)
    } else {
        template["$patch"] = json!("replace");
        (
            PatchType::Strategic,
            json!({"spec": {"template": template}}),
        )
    };
    client
        .patch(&key, Subresource::Main, how, &change)
        .map_err(|error| server_error(&error))?;
    client.report(kind, object, "rolled back")
}

fn choose<'a>(
    revisions: &'a [StoredRevision],
    wanted: i64,
    kind: Kind,
    name: &str,
) -> Result<&'a StoredRevision, Failure> {
    if wanted > 0 {
        let missing = || {
            Failure::error(format!(
                "unable to find specified revision {wanted} in history"
            ))
        };
        return revisions
            .iter()
            .find(|revision| revision.number == wanted)
            .ok_or_else(missing);
    }
    let none = if kind == Kind::Deployment {
        format!("no rollout history found for deployment \"{name}\"")
    } else {
        "no last revision to roll back to".to_owned()
    };
    revisions
        .iter()
        .rev()
        .nth(1)
        .ok_or_else(|| Failure::error(none))
}

fn annotations(object: &Value, set: &Value) -> Map<String, Value> {
    let of = |value: &Value| {
        value["metadata"]["annotations"]
            .as_object()
            .cloned()
            .unwrap_or_default()
    };
    let special = |key: &String| NOT_OF_A_REVISION.contains(&key.as_str());
    let own = of(object).into_iter().filter(|(key, _)| special(key));
    own.chain(of(set).into_iter().filter(|(key, _)| !special(key)))
        .collect::<serde_json::Map<_, _>>()
}
