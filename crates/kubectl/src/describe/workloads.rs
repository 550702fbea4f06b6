//! Descriptions of Deployments, ReplicaSets, StatefulSets and DaemonSets.

use super::{DescribePage, controlled_by, long, name, show, template};
use crate::printers::{self, TableRow};
use k8s_model::Kind;
use serde_json::Value;

pub fn deployment(page: &mut DescribePage<'_>) {
    let row = page.row;
    page.name();
    page.field(
        "CreationTimestamp",
        long(row, "/metadata/creationTimestamp"),
    );
    page.labels();
    page.annotations();
    page.field("Selector", printers::selector(row.at("/spec/selector")));
    page.field(
        "Replicas",
        format!(
            "{} desired | {} updated | {} total | {} available | {} unavailable",
            row.number("/spec/replicas"),
            row.number("/status/updatedReplicas"),
            row.number("/status/replicas"),
            row.number("/status/availableReplicas"),
            row.number("/status/unavailableReplicas")
        ),
    );
    page.field("StrategyType", row.text("/spec/strategy/type"));
    page.field("MinReadySeconds", row.number("/spec/minReadySeconds"));
    let rolling = row.at("/spec/strategy/rollingUpdate");
    if rolling.is_object() {
        page.field(
            "RollingUpdateStrategy",
            format!(
                "{} max unavailable, {} max surge",
                show(&rolling["maxUnavailable"]),
                show(&rolling["maxSurge"])
            ),
        );
    }
    page.text
        .push_str(&template::describe(row.at("/spec/template")));
    conditions(page);
    let (new, old) = replica_sets(page);
    page.field("OldReplicaSets", old);
    page.field("NewReplicaSet", new);
}

/// Prints the conditions of a workload with the columns `Type  Status  Reason`.
fn conditions(page: &mut DescribePage<'_>) {
    let all = page.row.list("/status/conditions");
    if all.is_empty() {
        return;
    }
    page.line("Conditions:\n  Type\tStatus\tReason\n  ----\t------\t------");
    for condition in all {
        page.line(format!(
            "  {} \t{}\t{}",
            show(&condition["type"]),
            show(&condition["status"]),
            show(&condition["reason"])
        ));
    }
}

/// Returns the ReplicaSet of the current template, and the others.
fn replica_sets(page: &DescribePage<'_>) -> (String, String) {
    let row = page.row;
    let mut owned: Vec<Value> = page.list(Kind::ReplicaSet, row.text("/metadata/namespace"));
    owned.retain(|set| {
        set["metadata"]["ownerReferences"]
            .as_array()
            .is_some_and(|o| o.iter().any(|o| o["uid"] == *row.at("/metadata/uid")))
    });
    owned.sort_by_key(|set| {
        let text = |name: &str| set["metadata"][name].as_str().unwrap_or("").to_owned();
        (text("creationTimestamp"), text("name"))
    });
    let same = |set: &Value| {
        let mut template = set["spec"]["template"].clone();
        if let Some(labels) = template
            .pointer_mut("/metadata/labels")
            .and_then(Value::as_object_mut)
        {
            labels.remove("pod-template-hash");
        }
        template == *row.at("/spec/template")
    };
    let one = |set: &Value| {
        let at = |path: &str| set.pointer(path).and_then(Value::as_i64).unwrap_or(0);
        format!(
            "{} ({}/{} replicas created)",
            name(set),
            at("/status/replicas"),
            at("/spec/replicas")
        )
    };
    let (new, old): (Vec<&Value>, Vec<&Value>) = owned.iter().partition(|set| same(set));
    let join = |sets: Vec<&Value>| {
        printers::or_none(&sets.into_iter().map(one).collect::<Vec<_>>().join(", "))
    };
    (join(new), join(old))
}

pub fn replica_set(page: &mut DescribePage<'_>) {
    let row = page.row;
    page.name();
    let plain = row.text("/kind") == "ReplicationController";
    let selector = if plain {
        printers::pairs(row.at("/spec/selector"))
    } else {
        printers::selector(row.at("/spec/selector"))
    };
    page.field("Selector", selector);
    page.labels();
    page.annotations();
    if let Some(owner) = controlled_by(row) {
        page.field("Controlled By", owner);
    }
    page.field(
        "Replicas",
        format!(
            "{} current / {} desired",
            row.number("/status/replicas"),
            row.number("/spec/replicas")
        ),
    );
    page.field("Pods Status", pods_status(page));
    page.text
        .push_str(&template::describe(row.at("/spec/template")));
    conditions(page);
}

pub fn stateful_set(page: &mut DescribePage<'_>) {
    let row = page.row;
    page.name();
    page.field(
        "CreationTimestamp",
        long(row, "/metadata/creationTimestamp"),
    );
    page.field("Selector", printers::selector(row.at("/spec/selector")));
    page.labels();
    page.annotations();
    page.field(
        "Replicas",
        format!(
            "{} desired | {} total",
            row.number("/spec/replicas"),
            row.number("/status/replicas")
        ),
    );
    page.field("Update Strategy", row.text("/spec/updateStrategy/type"));
    if let Some(partition) = row
        .at("/spec/updateStrategy/rollingUpdate/partition")
        .as_i64()
    {
        page.line(format!("  Partition:\t{partition}"));
    }
    page.field("Pods Status", pods_status(page));
    page.text
        .push_str(&template::describe(row.at("/spec/template")));
    claims(page);
}

fn claims(page: &mut DescribePage<'_>) {
    let all = page.row.list("/spec/volumeClaimTemplates");
    if all.is_empty() {
        return page.line("Volume Claims:\t<none>");
    }
    page.line("Volume Claims:");
    for claim in all {
        let row = TableRow {
            object: claim,
            now: page.row.now,
        };
        page.line(format!("  Name:\t{}", row.text("/metadata/name")));
        page.line(format!(
            "  StorageClass:\t{}",
            row.text("/spec/storageClassName")
        ));
        for (title, path, sign) in [
            ("Labels", "/metadata/labels", '='),
            ("Annotations", "/metadata/annotations", ':'),
        ] {
            page.text
                .push_str(&format!("  {}", super::pairs(title, row.at(path), sign)));
        }
        page.line(format!(
            "  Capacity:\t{}",
            row.text("/spec/resources/requests/storage")
        ));
        let modes: Vec<&str> = row
            .list("/spec/accessModes")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        page.line(format!("  Access Modes:\t[{}]", modes.join(" ")));
    }
}

pub fn daemon_set(page: &mut DescribePage<'_>) {
    let row = page.row;
    page.name();
    page.field("Selector", printers::selector(row.at("/spec/selector")));
    page.map("Node-Selector", "/spec/template/spec/nodeSelector", '=');
    page.labels();
    page.annotations();
    for (title, field) in [
        (
            "Desired Number of Nodes Scheduled",
            "desiredNumberScheduled",
        ),
        (
            "Current Number of Nodes Scheduled",
            "currentNumberScheduled",
        ),
        (
            "Number of Nodes Scheduled with Up-to-date Pods",
            "updatedNumberScheduled",
        ),
        (
            "Number of Nodes Scheduled with Available Pods",
            "numberAvailable",
        ),
        ("Number of Nodes Misscheduled", "numberMisscheduled"),
    ] {
        page.line(format!(
            "{title}: {}",
            row.number(&format!("/status/{field}"))
        ));
    }
    page.field("Pods Status", pods_status(page));
    page.text
        .push_str(&template::describe(row.at("/spec/template")));
}

/// Formats the Pod counts: `2 Running / 0 Waiting / 0 Succeeded / 0 Failed`.
pub fn pods_status(page: &DescribePage<'_>) -> String {
    let uid = page.row.at("/metadata/uid");
    let (mut running, mut waiting, mut succeeded, mut failed) = (0, 0, 0, 0);
    for pod in page.list(Kind::Pod, page.row.text("/metadata/namespace")) {
        let owned = pod["metadata"]["ownerReferences"]
            .as_array()
            .is_some_and(|o| {
                o.iter()
                    .any(|o| o["uid"] == *uid && o["controller"] == true)
            });
        match pod["status"]["phase"].as_str().filter(|_| owned) {
            Some("Running") => running += 1,
            Some("Pending") => waiting += 1,
            Some("Succeeded") => succeeded += 1,
            Some("Failed") => failed += 1,
            _ => {}
        }
    }
    format!("{running} Running / {waiting} Waiting / {succeeded} Succeeded / {failed} Failed")
}
