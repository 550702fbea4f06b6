//! Descriptions of claims, volumes and storage classes.

use super::{DescribePage, name, show, template};
use crate::printers;
use k8s_model::Kind;
use serde_json::Value;

fn status(page: &mut DescribePage<'_>) {
    let row = page.row;
    if row.at("/metadata/deletionTimestamp").is_null() {
        page.field("Status", row.text("/status/phase"));
    } else {
        page.field(
            "Status",
            format!(
                "Terminating (lasts {})",
                row.age("/metadata/deletionTimestamp")
            ),
        );
    }
}

fn finalizers(page: &mut DescribePage<'_>) {
    let all: Vec<&str> = page
        .row
        .list("/metadata/finalizers")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    page.field("Finalizers", format!("[{}]", all.join(" ")));
}

pub fn claim(page: &mut DescribePage<'_>) {
    let row = page.row;
    page.name();
    page.field("StorageClass", row.text("/spec/storageClassName"));
    status(page);
    page.field("Volume", row.text("/spec/volumeName"));
    page.labels();
    page.annotations();
    finalizers(page);
    let bound = !row.text("/spec/volumeName").is_empty();
    let capacity = if bound {
        row.text("/status/capacity/storage")
    } else {
        ""
    };
    page.field(
        "Capacity",
        if bound && capacity.is_empty() {
            "0"
        } else {
            capacity
        },
    );
    page.field(
        "Access Modes",
        if bound {
            printers::modes(row.at("/status/accessModes"))
        } else {
            String::new()
        },
    );
    page.field("VolumeMode", row.text("/spec/volumeMode"));
    let uses = |pod: &Value| {
        pod["spec"]["volumes"].as_array().is_some_and(|v| {
            v.iter()
                .any(|v| v["persistentVolumeClaim"]["claimName"] == row.text("/metadata/name"))
        })
    };
    let users: Vec<String> = page
        .list(Kind::Pod, row.text("/metadata/namespace"))
        .iter()
        .filter(|pod| uses(pod))
        .map(name)
        .collect();
    page.field(
        "Used By",
        if users.is_empty() {
            "<none>".to_owned()
        } else {
            users.join("\n\t")
        },
    );
    let conditions = row.list("/status/conditions");
    if !conditions.is_empty() {
        page.line("Conditions:");
        page.line("  Type\tStatus\tLastProbeTime\tLastTransitionTime\tReason\tMessage");
        page.line("  ----\t------\t-----------------\t------------------\t------\t-------");
        for condition in conditions {
            let text = |name: &str| condition[name].as_str().unwrap_or("");
            let when = printers::age::long(text("lastTransitionTime"));
            page.line(format!(
                "  {} \t{} \t{} \t{when} \t{} \t{}",
                text("type"),
                text("status"),
                ZERO_TIME,
                text("reason"),
                text("message")
            ));
        }
    }
}

/// Format of an unset time in Go.
const ZERO_TIME: &str = "Mon, 01 Jan 0001 00:00:00 +0000";

pub fn volume(page: &mut DescribePage<'_>) {
    let row = page.row;
    page.name();
    page.labels();
    page.annotations();
    finalizers(page);
    page.field("StorageClass", row.text("/spec/storageClassName"));
    status(page);
    match row.text("/spec/claimRef/name") {
        "" => page.field("Claim", ""),
        claim => page.field(
            "Claim",
            format!("{}/{claim}", row.text("/spec/claimRef/namespace")),
        ),
    }
    page.field(
        "Reclaim Policy",
        row.text("/spec/persistentVolumeReclaimPolicy"),
    );
    page.field("Access Modes", printers::modes(row.at("/spec/accessModes")));
    page.field("VolumeMode", row.text("/spec/volumeMode"));
    page.field("Capacity", row.text("/spec/capacity/storage"));
    affinity(page);
    page.field("Message", row.text("/status/message"));
    page.line("Source:");
    page.text
        .push_str(&template::source(row.at("/spec"), "    "));
}

fn affinity(page: &mut DescribePage<'_>) {
    let terms = page
        .row
        .list("/spec/nodeAffinity/required/nodeSelectorTerms");
    if terms.is_empty() {
        return page.field("Node Affinity", "<none>");
    }
    page.line("Node Affinity:\t\n  Required Terms:\t");
    for (index, term) in terms.iter().enumerate() {
        let all: Vec<String> = term["matchExpressions"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|e| {
                let values: Vec<String> = e["values"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(show)
                    .collect();
                format!(
                    "{} {} [{}]",
                    show(&e["key"]),
                    show(&e["operator"]).to_ascii_lowercase(),
                    values.join(", ")
                )
            })
            .collect();
        page.line(format!("    Term {index}:\t{}", all.join("\n\t")));
    }
}

pub fn class(page: &mut DescribePage<'_>) {
    let row = page.row;
    page.field("Name", row.text("/metadata/name"));
    let default = row
        .at("/metadata/annotations")
        .get("storageclass.kubernetes.io/is-default-class")
        .is_some_and(|v| v == "true");
    page.field("IsDefaultClass", if default { "Yes" } else { "No" });
    let annotations = printers::pairs(row.at("/metadata/annotations"));
    page.field("Annotations", annotations);
    page.field("Provisioner", row.text("/provisioner"));
    page.field("Parameters", printers::pairs(row.at("/parameters")));
    let expansion = row.at("/allowVolumeExpansion").as_bool();
    page.field(
        "AllowVolumeExpansion",
        expansion.map_or("<unset>", |on| if on { "True" } else { "False" }),
    );
    page.field("MountOptions", "<none>");
    page.field("ReclaimPolicy", row.text("/reclaimPolicy"));
    page.field("VolumeBindingMode", row.text("/volumeBindingMode"));
}
