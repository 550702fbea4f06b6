//! Rows of claims, volumes and storage classes.

use super::{TableColumns, TableRow};
use serde_json::Value;

type Cells = fn(TableRow<'_>) -> Vec<String>;

pub fn columns(kind: &str) -> Option<(TableColumns, Cells)> {
    const CLAIM: TableColumns = &[
        ("NAME", false),
        ("STATUS", false),
        ("VOLUME", false),
        ("CAPACITY", false),
        ("ACCESS MODES", false),
        ("STORAGECLASS", false),
        ("VOLUMEATTRIBUTESCLASS", false),
        ("AGE", false),
        ("VOLUMEMODE", true),
    ];
    const VOLUME: TableColumns = &[
        ("NAME", false),
        ("CAPACITY", false),
        ("ACCESS MODES", false),
        ("RECLAIM POLICY", false),
        ("STATUS", false),
        ("CLAIM", false),
        ("STORAGECLASS", false),
        ("VOLUMEATTRIBUTESCLASS", false),
        ("REASON", false),
        ("AGE", false),
        ("VOLUMEMODE", true),
    ];
    const CLASS: TableColumns = &[
        ("NAME", false),
        ("PROVISIONER", false),
        ("RECLAIMPOLICY", false),
        ("VOLUMEBINDINGMODE", false),
        ("ALLOWVOLUMEEXPANSION", false),
        ("AGE", false),
    ];
    Some(match kind {
        "PersistentVolumeClaim" => (CLAIM, claim as Cells),
        "PersistentVolume" => (VOLUME, volume),
        "StorageClass" => (CLASS, class),
        _ => return None,
    })
}

/// Formats access modes, as `RWO,ROX`.
pub fn modes(modes: &Value) -> String {
    let short = |mode: &Value| match mode.as_str().unwrap_or("") {
        "ReadWriteOnce" => "RWO",
        "ReadOnlyMany" => "ROX",
        "ReadWriteMany" => "RWX",
        "ReadWriteOncePod" => "RWOP",
        _ => "",
    };
    let mut all: Vec<&str> = modes.as_array().into_iter().flatten().map(short).collect();
    let rank = |mode: &&str| ["RWO", "ROX", "RWX", "RWOP"].iter().position(|m| m == mode);
    k8s_model::sort::sort_by_key(&mut all, rank);
    all.join(",")
}

fn phase(row: TableRow<'_>) -> String {
    if row.at("/metadata/deletionTimestamp").is_null() {
        row.text("/status/phase")
    } else {
        "Terminating"
    }
    .to_owned()
}

fn attributes(row: TableRow<'_>) -> String {
    let name = row.text("/spec/volumeAttributesClassName");
    if name.is_empty() { "<unset>" } else { name }.to_owned()
}

fn claim(row: TableRow<'_>) -> Vec<String> {
    let bound = !row.text("/spec/volumeName").is_empty();
    // Between naming its volume and being bound, a claim shows size 0.
    let capacity = if bound {
        row.at("/status/capacity/storage").as_str().unwrap_or("0")
    } else {
        ""
    };
    vec![
        row.name(),
        phase(row),
        row.text("/spec/volumeName").to_owned(),
        capacity.to_owned(),
        if bound {
            modes(row.at("/status/accessModes"))
        } else {
            String::new()
        },
        row.text("/spec/storageClassName").to_owned(),
        attributes(row),
        row.created(),
        row.or_none("/spec/volumeMode"),
    ]
}

fn volume(row: TableRow<'_>) -> Vec<String> {
    let claim = match (
        row.text("/spec/claimRef/namespace"),
        row.text("/spec/claimRef/name"),
    ) {
        (_, "") => String::new(),
        (namespace, name) => format!("{namespace}/{name}"),
    };
    vec![
        row.name(),
        row.text("/spec/capacity/storage").to_owned(),
        modes(row.at("/spec/accessModes")),
        row.text("/spec/persistentVolumeReclaimPolicy").to_owned(),
        phase(row),
        claim,
        row.text("/spec/storageClassName").to_owned(),
        attributes(row),
        row.text("/status/reason").to_owned(),
        row.created(),
        row.or_none("/spec/volumeMode"),
    ]
}

fn class(row: TableRow<'_>) -> Vec<String> {
    let default = row
        .at("/metadata/annotations")
        .get("storageclass.kubernetes.io/is-default-class")
        .is_some_and(|v| v == "true");
    vec![
        format!("{}{}", row.name(), if default { " (default)" } else { "" }),
        row.text("/provisioner").to_owned(),
        row.text("/reclaimPolicy").to_owned(),
        row.text("/volumeBindingMode").to_owned(),
        (row.at("/allowVolumeExpansion") == true).to_string(),
        row.created(),
    ]
}
