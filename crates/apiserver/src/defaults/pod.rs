//! Defaults of a Pod's spec: containers, probes, ports and volumes.
//!
//! Models `pkg/apis/core/v1/defaults.go`.

use super::{JsonObject, child, items, part, round_resources, set, text};
use serde_json::Value;

const CONTAINERS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

/// Sets the defaults that Pods and Pod templates share.
pub fn spec(spec: &mut JsonObject) {
    set(spec, "dnsPolicy", "ClusterFirst");
    set(spec, "restartPolicy", "Always");
    child(spec, "securityContext");
    set(spec, "terminationGracePeriodSeconds", 30);
    set(spec, "schedulerName", "default-scheduler");
    same_account(spec);
    for kind in CONTAINERS {
        items(spec, kind).for_each(container);
    }
    items(spec, "volumes").for_each(volume);
    if let Some(resources) = part(spec, "resources") {
        round_resources(resources);
    }
}

/// Sets the defaults of a Pod that its template does not have.
pub fn created(spec: &mut JsonObject) {
    set(spec, "enableServiceLinks", true);
    let host = spec
        .get("hostNetwork")
        .and_then(Value::as_bool)
        .unwrap_or(false);
    for kind in ["initContainers", "containers"] {
        for container in items(spec, kind) {
            requests_from_limits(child(container, "resources"));
            for port in items(container, "ports").filter(|_| host) {
                let number = port.get("containerPort").cloned().unwrap_or(Value::Null);
                set(port, "hostPort", number);
            }
        }
    }
    if let Some(resources) = part(spec, "resources") {
        requests_from_limits(resources);
    }
}

fn requests_from_limits(resources: &mut JsonObject) {
    if let Some(Value::Object(limits)) = resources.get("limits").cloned() {
        let requests = child(resources, "requests");
        limits
            .into_iter()
            .for_each(|(name, limit)| set(requests, &name, limit));
    }
}

/// Syncs the deprecated `serviceAccount` with the new field.
fn same_account(spec: &mut JsonObject) {
    let name = match text(spec, "serviceAccountName") {
        "" => text(spec, "serviceAccount"),
        name => name,
    };
    let name = name.to_owned();
    if !name.is_empty() {
        spec.insert("serviceAccountName".to_owned(), Value::from(name.as_str()));
        spec.insert("serviceAccount".to_owned(), Value::from(name));
    }
}

fn container(container: &mut JsonObject) {
    let policy = pull_policy(text(container, "image"));
    set(container, "imagePullPolicy", policy);
    set(container, "terminationMessagePath", "/dev/termination-log");
    set(container, "terminationMessagePolicy", "File");
    round_resources(child(container, "resources"));
    items(container, "ports").for_each(|port| set(port, "protocol", "TCP"));
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(probe) = part(container, name) {
            self::probe(probe);
        }
    }
    for name in ["postStart", "preStop"] {
        if let Some(handler) =
            part(container, "lifecycle").and_then(|lifecycle| part(lifecycle, name))
        {
            http_get(handler);
        }
    }
    for env in items(container, "env") {
        if let Some(reference) = part(env, "valueFrom").and_then(|from| part(from, "fieldRef")) {
            set(reference, "apiVersion", "v1");
        }
    }
}

/// Returns the default pull policy: `latest`, explicit or implied, is always pulled; a digest only if not present.
pub fn pull_policy(image: &str) -> &'static str {
    let name = image.rsplit('/').next().unwrap_or(image);
    let latest =
        !image.contains('@') && name.split_once(':').is_none_or(|(_, tag)| tag == "latest");
    if latest { "Always" } else { "IfNotPresent" }
}

fn probe(probe: &mut JsonObject) {
    // Zero counts as unset for these fields.
    for (name, value) in [
        ("timeoutSeconds", 1),
        ("periodSeconds", 10),
        ("successThreshold", 1),
        ("failureThreshold", 3),
    ] {
        set(probe, name, value);
    }
    http_get(probe);
    if let Some(grpc) = part(probe, "grpc") {
        set(grpc, "service", "");
    }
}

fn http_get(handler: &mut JsonObject) {
    if let Some(get) = part(handler, "httpGet") {
        set(get, "path", "/");
        set(get, "scheme", "HTTP");
    }
}

fn volume(volume: &mut JsonObject) {
    if volume.keys().all(|key| key == "name") {
        child(volume, "emptyDir");
    }
    volume_source(volume);
    for name in ["secret", "configMap", "downwardAPI", "projected"] {
        if let Some(source) = part(volume, name) {
            set(source, "defaultMode", 420);
        }
    }
    if let Some(downward) = part(volume, "downwardAPI") {
        field_references(downward);
    }
    for source in part(volume, "projected")
        .into_iter()
        .flat_map(|projected| items(projected, "sources"))
    {
        if let Some(downward) = part(source, "downwardAPI") {
            field_references(downward);
        }
        if let Some(token) = part(source, "serviceAccountToken") {
            set(token, "expirationSeconds", 3600);
        }
    }
    if let Some(claim) =
        part(volume, "ephemeral").and_then(|ephemeral| part(ephemeral, "volumeClaimTemplate"))
    {
        set(child(claim, "spec"), "volumeMode", "Filesystem");
    }
    if let Some(image) = part(volume, "image") {
        let policy = pull_policy(text(image, "reference"));
        set(image, "pullPolicy", policy);
    }
}

fn field_references(downward: &mut JsonObject) {
    for item in items(downward, "items") {
        if let Some(reference) = part(item, "fieldRef") {
            set(reference, "apiVersion", "v1");
        }
    }
}

/// Sets the defaults of volume sources that Pods and PersistentVolumes share.
pub fn volume_source(volume: &mut JsonObject) {
    if let Some(path) = part(volume, "hostPath") {
        set(path, "type", "");
    }
    if let Some(iscsi) = part(volume, "iscsi") {
        set(iscsi, "iscsiInterface", "default");
    }
    if let Some(rbd) = part(volume, "rbd") {
        set(rbd, "pool", "rbd");
        set(rbd, "user", "admin");
        set(rbd, "keyring", "/etc/ceph/keyring");
    }
    if let Some(disk) = part(volume, "azureDisk") {
        set(disk, "cachingMode", "ReadWrite");
        set(disk, "kind", "Shared");
        set(disk, "fsType", "ext4");
        set(disk, "readOnly", false);
    }
}
