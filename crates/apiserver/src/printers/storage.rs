//! Rows of claims, volumes and storage classes.

use super::{Cells, Column, Printer, TableRow, or_none};
use serde_json::Value;

pub(crate) const PERSISTENT_VOLUME_CLAIM: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("Status"),
        Column::text("Volume"),
        Column::text("Capacity"),
        Column::text("Access Modes"),
        Column::text("StorageClass"),
        Column::text("VolumeAttributesClass"),
        Column::text("Age"),
        Column::text("VolumeMode").wide(),
    ],
    cells: Cells::Json(claim),
};

pub(crate) const PERSISTENT_VOLUME: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("Capacity"),
        Column::text("Access Modes"),
        Column::text("Reclaim Policy"),
        Column::text("Status"),
        Column::text("Claim"),
        Column::text("StorageClass"),
        Column::text("VolumeAttributesClass"),
        Column::text("Reason"),
        Column::text("Age"),
        Column::text("VolumeMode").wide(),
    ],
    cells: Cells::Json(volume),
};

pub(crate) const STORAGE_CLASS: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("Provisioner"),
        Column::text("ReclaimPolicy"),
        Column::text("VolumeBindingMode"),
        Column::text("AllowVolumeExpansion"),
        Column::text("Age"),
    ],
    cells: Cells::Json(class),
};

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
    all.sort_by_key(rank);
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

pub(crate) const CSI_DRIVER: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::boolean("AttachRequired"),
        Column::boolean("PodInfoOnMount"),
        Column::boolean("StorageCapacity"),
        Column::text("TokenRequests"),
        Column::boolean("RequiresRepublish"),
        Column::text("Modes"),
        Column::text("Age"),
    ],
    cells: Cells::Json(csi_driver),
};

fn csi_driver(row: TableRow<'_>) -> Vec<String> {
    let flag = |name: &str, default| {
        let value = row.at(&format!("/spec/{name}")).as_bool();
        value.unwrap_or(default).to_string()
    };
    let modes = row.list("/spec/volumeLifecycleModes").iter();
    let modes: Vec<&str> = modes.filter_map(Value::as_str).collect();
    let requests = match row.at("/spec/tokenRequests") {
        Value::Null => "<unset>".to_owned(),
        _ => {
            let requests = row.list("/spec/tokenRequests").iter();
            let audiences = requests.map(|request| request["audience"].as_str().unwrap_or(""));
            audiences.collect::<Vec<_>>().join(",")
        }
    };
    vec![
        row.name(),
        flag("attachRequired", true),
        flag("podInfoOnMount", false),
        flag("storageCapacity", false),
        requests,
        flag("requiresRepublish", false),
        or_none(&modes.join(",")),
        row.created(),
    ]
}

pub(crate) const CSI_NODE: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::integer("Drivers"),
        Column::text("Age"),
    ],
    cells: Cells::Json(|row| {
        let count = row.list("/spec/drivers").len().to_string();
        vec![row.name(), count, row.created()]
    }),
};

pub(crate) const VOLUME_ATTACHMENT: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("Attacher"),
        Column::text("PV"),
        Column::text("Node"),
        Column::boolean("Attached"),
        Column::text("Age"),
    ],
    cells: Cells::Json(|row| {
        let text = |path: &str| row.text(path).to_owned();
        let is_attached = row.at("/status/attached") == &Value::Bool(true);
        vec![
            row.name(),
            text("/spec/attacher"),
            text("/spec/source/persistentVolumeName"),
            text("/spec/nodeName"),
            is_attached.to_string(),
            row.created(),
        ]
    }),
};
