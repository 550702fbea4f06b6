//! Validation of PersistentVolumeClaim, PersistentVolume, StorageClass, CSIDriver, CSINode and VolumeAttachment.
//!
//! Models the storage parts of `pkg/apis/{core,storage}/validation`.

use super::{ErrorType, Errors, has, list, meta, names, scheduling, text};
use k8s_model::quantity::Quantity;
use serde_json::Value;
use std::collections::BTreeSet;

const MODES: [&str; 4] = [
    "ReadOnlyMany",
    "ReadWriteMany",
    "ReadWriteOnce",
    "ReadWriteOncePod",
];

pub fn claim(errors: &mut Errors, spec: &Value, field: &str) {
    let modes = list(spec, "accessModes");
    if modes.is_empty() {
        errors.required(
            &format!("{field}.accessModes"),
            "at least 1 access mode is required",
        );
    }
    access_modes(errors, modes, &format!("{field}.accessModes"));
    meta::selector(errors, &spec["selector"], &format!("{field}.selector"));
    match &spec["resources"]["requests"]["storage"] {
        Value::Null => errors.required(&format!("{field}.resources[storage]"), ""),
        size => positive(errors, size, &format!("{field}.resources[storage]")),
    }
    class_name(errors, spec, field);
    mode(errors, spec, field);
}

fn access_modes(errors: &mut Errors, modes: &[Value], field: &str) {
    let once = modes.iter().any(|mode| mode == "ReadWriteOncePod");
    for mode in modes {
        errors.one_of(field, mode.as_str().unwrap_or(""), &MODES);
    }
    if once && modes.len() > 1 {
        errors.forbidden(
            field,
            "may not use ReadWriteOncePod with other access modes",
        );
    }
}

fn class_name(errors: &mut Errors, spec: &Value, field: &str) {
    if !text(spec, "storageClassName").is_empty() {
        errors.checked(
            &format!("{field}.storageClassName"),
            text(spec, "storageClassName"),
            names::subdomain,
        );
    }
}

fn mode(errors: &mut Errors, spec: &Value, field: &str) {
    if has(spec, "volumeMode") {
        errors.one_of(
            &format!("{field}.volumeMode"),
            text(spec, "volumeMode"),
            &["Block", "Filesystem"],
        );
    }
}

fn positive(errors: &mut Errors, size: &Value, field: &str) {
    let quantity = size
        .as_str()
        .and_then(|text| Quantity::parse(text).ok())
        .unwrap_or(Quantity::ZERO);
    if quantity <= Quantity::ZERO {
        errors.invalid(field, size.clone(), "must be greater than zero");
    }
}

/// Volume sources, in the order in which they are checked.
pub const SOURCES: [&str; 22] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "flocker",
    "nfs",
    "rbd",
    "quobyte",
    "cephfs",
    "iscsi",
    "cinder",
    "fc",
    "flexVolume",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "scaleIO",
    "local",
    "storageos",
    "csi",
];

pub fn volume(errors: &mut Errors, spec: &Value) {
    if list(spec, "accessModes").is_empty() {
        errors.required("spec.accessModes", "");
    }
    access_modes(errors, list(spec, "accessModes"), "spec.accessModes");
    capacity(errors, spec);
    if has(spec, "persistentVolumeReclaimPolicy") {
        let policy = text(spec, "persistentVolumeReclaimPolicy");
        errors.one_of(
            "spec.persistentVolumeReclaimPolicy",
            policy,
            &["Delete", "Recycle", "Retain"],
        );
    }
    sources(errors, spec);
    class_name(errors, spec, "spec");
    mode(errors, spec, "spec");
    for (index, term) in list(&spec["nodeAffinity"]["required"], "nodeSelectorTerms")
        .iter()
        .enumerate()
    {
        scheduling::required_node_term(
            errors,
            term,
            &format!("spec.nodeAffinity.required.nodeSelectorTerms[{index}]"),
        );
    }
}

fn capacity(errors: &mut Errors, spec: &Value) {
    let amounts = spec["capacity"].as_object().filter(|map| !map.is_empty());
    if amounts.is_none() {
        errors.required("spec.capacity", "");
    }
    match amounts
        .and_then(|map| map.get("storage"))
        .filter(|_| amounts.is_some_and(|map| map.len() == 1))
    {
        Some(size) => positive(errors, size, "spec.capacity[storage]"),
        None => errors.unsupported("spec.capacity", spec["capacity"].clone(), &["storage"]),
    }
}

fn sources(errors: &mut Errors, spec: &Value) {
    let mut count = 0;
    for source in SOURCES.into_iter().filter(|source| has(spec, source)) {
        count += 1;
        if count > 1 {
            errors.forbidden(
                &format!("spec.{source}"),
                "may not specify more than 1 volume type",
            );
            continue;
        }
        if matches!(source, "hostPath" | "local") && text(&spec[source], "path").is_empty() {
            errors.required(&format!("spec.{source}.path"), "");
        }
        if source == "local" && !has(spec, "nodeAffinity") {
            errors.required("spec.nodeAffinity", "Local volume requires node affinity");
        }
    }
    if count == 0 {
        errors.required("spec", "must specify a volume type");
    }
    if text(&spec["hostPath"], "path") == "/"
        && text(spec, "persistentVolumeReclaimPolicy") == "Recycle"
    {
        errors.forbidden(
            "spec.persistentVolumeReclaimPolicy",
            "may not be 'recycle' for a hostPath mount of '/'",
        );
    }
}

pub fn class(errors: &mut Errors, object: &Value) {
    if text(object, "provisioner").is_empty() {
        errors.required("provisioner", "");
    }
    errors.one_of(
        "reclaimPolicy",
        text(object, "reclaimPolicy"),
        &["Delete", "Retain"],
    );
    errors.one_of(
        "volumeBindingMode",
        text(object, "volumeBindingMode"),
        &["Immediate", "WaitForFirstConsumer"],
    );
}

/// Validates a CSIDriver.
pub fn csi_driver(errors: &mut Errors, object: &Value) {
    let spec = &object["spec"];
    errors.one_of(
        "spec.fsGroupPolicy",
        text(spec, "fsGroupPolicy"),
        &["File", "None", "ReadWriteOnceWithFSType"],
    );
    let mut audiences = BTreeSet::new();
    for (index, request) in list(spec, "tokenRequests").iter().enumerate() {
        let at = |name: &str| format!("spec.tokenRequests[{index}].{name}");
        let (audience, expiration) = (text(request, "audience"), &request["expirationSeconds"]);
        if !audiences.insert(audience) {
            errors.duplicate(&at("audience"), audience);
            continue;
        }
        let detail = match expiration.as_i64() {
            Some(seconds) if seconds < 600 => "may not specify a duration less than 10 minutes",
            Some(seconds) if seconds > 1 << 32 => {
                "may not specify a duration larger than 2^32 seconds"
            }
            _ => continue,
        };
        errors.invalid(&at("expirationSeconds"), expiration.clone(), detail);
    }
    for mode in list(spec, "volumeLifecycleModes") {
        let mode = mode.as_str().unwrap_or("");
        errors.one_of(
            "spec.volumeLifecycleModes",
            mode,
            &["Persistent", "Ephemeral"],
        );
    }
}

/// Validates a CSINode.
pub fn csi_node(errors: &mut Errors, object: &Value) {
    const NODE_ID_LIMIT: usize = 192;
    let mut names = BTreeSet::new();
    for (index, driver) in list(&object["spec"], "drivers").iter().enumerate() {
        let field = format!("spec.drivers[{index}]");
        let (name, id) = (text(driver, "name"), text(driver, "nodeID"));
        driver_name(errors, name, &format!("{field}.name"));
        if id.is_empty() {
            errors.required(&format!("{field}.nodeID"), "");
        } else if id.len() > NODE_ID_LIMIT {
            errors.invalid(
                &format!("{field}.nodeID"),
                id,
                format!("must be {NODE_ID_LIMIT} characters or less"),
            );
        }
        errors.not_negative(
            &format!("{field}.allocatable.count"),
            &driver["allocatable"]["count"],
        );
        if !names.insert(name) {
            errors.duplicate(&format!("{field}.name"), name);
        }
        let mut keys = BTreeSet::new();
        for key in list(driver, "topologyKeys")
            .iter()
            .filter_map(Value::as_str)
        {
            if key.is_empty() {
                errors.required(&field, "");
            }
            if !keys.insert(key) {
                errors.duplicate(&field, key);
            }
            errors.checked_all(&field, key, names::is_qualified_name);
        }
    }
}

/// Validates the name of a CSI driver: `ValidateCSIDriverName` of `pkg/apis/core/validation`.
fn driver_name(errors: &mut Errors, name: &str, field: &str) {
    const LIMIT: usize = 63;
    if name.is_empty() {
        return errors.required(field, "");
    }
    if name.len() > LIMIT {
        let detail = format!("may not be more than {LIMIT} bytes");
        errors.add(ErrorType::TooLong, field, "", detail);
    }
    errors.checked(field, &name.to_lowercase(), names::subdomain);
}

/// Validates a VolumeAttachment.
pub fn volume_attachment(errors: &mut Errors, object: &Value) {
    const EXACTLY_ONE: &str =
        "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
    let (spec, source) = (&object["spec"], &object["spec"]["source"]);
    driver_name(errors, text(spec, "attacher"), "spec.attacher");
    match (
        has(source, "inlineVolumeSpec"),
        has(source, "persistentVolumeName"),
    ) {
        (false, false) => errors.required("spec.source", EXACTLY_ONE),
        (true, true) => errors.forbidden("spec.source", EXACTLY_ONE),
        (false, true) if text(source, "persistentVolumeName").is_empty() => errors.required(
            "spec.source.persistentVolumeName",
            "must specify non empty persistentVolumeName",
        ),
        _ => {}
    }
    errors.checked("spec.nodeName", text(spec, "nodeName"), names::subdomain);
    if has(source, "persistentVolumeName") {
        errors.checked(
            "spec.source.persistentVolumeName",
            text(source, "persistentVolumeName"),
            names::subdomain,
        );
    }
}
