//! `kubectl rollout history`, and the lookup of a workload's revisions.

use crate::client::Client;
use crate::describe::template;
use crate::parse::Args;
use crate::targets::{label, name_of};
use crate::{Failure, printers};
use k8s_model::Kind;
use k8s_model::meta::CHANGE_CAUSE;
use serde_json::Value;

const REVISION: &str = "deployment.kubernetes.io/revision";

/// Revision: its number, and the ReplicaSet or ControllerRevision that stores it.
pub struct StoredRevision {
    pub number: i64,
    pub object: Value,
}

/// Returns the revisions of a workload, oldest first.
pub fn revisions(
    client: &Client<'_>,
    kind: Kind,
    object: &Value,
    what: &str,
) -> Result<Vec<StoredRevision>, Failure> {
    let (held, number): (Kind, fn(&Value) -> i64) = match kind {
        Kind::Deployment => (Kind::ReplicaSet, |set| {
            set["metadata"]["annotations"][REVISION]
                .as_str()
                .and_then(|text| text.parse().ok())
                .unwrap_or(0)
        }),
        Kind::StatefulSet | Kind::DaemonSet => (Kind::ControllerRevision, |revision| {
            revision["revision"].as_i64().unwrap_or(0)
        }),
        _ => {
            let (group, name) = (kind.info().group, kind.name());
            return Err(Failure::error(format!(
                "error retrieving {what} for {name:?}, no visitor method exists for {{{group} {name}}}"
            )));
        }
    };
    let namespace = object["metadata"]["namespace"].as_str().unwrap_or("");
    let uid = &object["metadata"]["uid"];
    let owned = |held: &Value| {
        held["metadata"]["ownerReferences"]
            .as_array()
            .is_some_and(|owners| {
                owners
                    .iter()
                    .any(|o| o["uid"] == *uid && o["controller"] == true)
            })
    };
    let all = client.list(held, namespace)?.into_iter().filter(owned);
    let mut all: Vec<StoredRevision> = all
        .map(|object| StoredRevision {
            number: number(&object),
            object,
        })
        .filter(|r| r.number > 0)
        .collect();
    all.sort_by_key(|revision| revision.number);
    Ok(all)
}

/// Returns the Pod template of a revision.
pub fn template_of(kind: Kind, revision: &StoredRevision) -> Value {
    let mut template = if kind == Kind::Deployment {
        revision.object["spec"]["template"].clone()
    } else {
        revision.object["data"]["spec"]["template"].clone()
    };
    if let Some(map) = template.as_object_mut() {
        map.remove("$patch");
    }
    template
}

pub fn print(
    client: &mut Client<'_>,
    args: &Args,
    kind: Kind,
    object: &Value,
) -> Result<(), Failure> {
    let wanted = args.number("revision")?.unwrap_or(0);
    let revisions = revisions(client, kind, object, "history")?;
    let name = label(kind, name_of(object));
    if wanted > 0 {
        let found = revisions.iter().find(|revision| revision.number == wanted);
        let found = found.ok_or_else(|| Failure::error("unable to find the specified revision"))?;
        if client.mode.format.is_some() {
            let mut shown = found.object.clone();
            if kind != Kind::Deployment {
                // A ControllerRevision contains a patch: the resulting object is shown.
                shown = object.clone();
                shown["spec"]["template"] = template_of(kind, found);
            }
            return client.report(kind, &shown, "");
        }
        let mut template = template_of(kind, found);
        let cause = &found.object["metadata"]["annotations"][CHANGE_CAUSE];
        if !cause.is_null() {
            template["metadata"]["annotations"][CHANGE_CAUSE] = cause.clone();
        }
        client
            .streams
            .say(format!("{name} with revision #{wanted}"));
        let text = template::describe(&template);
        client.streams.out.push_str(&text);
        client.streams.out.push('\n');
        return Ok(());
    }
    if revisions.is_empty() {
        client
            .streams
            .say(format!("{name} \nNo rollout history found."));
        return Ok(());
    }
    let mut text = String::from("REVISION\tCHANGE-CAUSE\n");
    for revision in &revisions {
        let cause = revision.object["metadata"]["annotations"][CHANGE_CAUSE]
            .as_str()
            .unwrap_or("");
        text.push_str(&format!(
            "{}\t{}\n",
            revision.number,
            printers::or_none(cause)
        ));
    }
    client
        .streams
        .out
        .push_str(&format!("{name} \n{}\n", printers::tabs::align(&text)));
    Ok(())
}
