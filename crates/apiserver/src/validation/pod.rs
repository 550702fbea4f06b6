//! Validation of a Pod's spec: containers, probes, resources, volumes.
//!
//! Models the Pod part of `pkg/apis/core/validation/validation.go`.

use super::{ErrorType, Errors, NOT_PORT, ephemeral, has, list, meta, pod_parts, scheduling, text};
use k8s_model::names;
use k8s_model::names::is_qualified_name;
use k8s_model::quantity::Quantity;
use serde_json::Value;
use std::collections::BTreeSet;

const CONTAINERS: [&str; 2] = ["containers", "initContainers"];

/// Validates a Pod template; `claims` are names that count as volumes too.
pub fn template(errors: &mut Errors, template: &Value, field: &str, claims: &[String]) {
    meta::labels(
        errors,
        &template["metadata"]["labels"],
        &format!("{field}.labels"),
    );
    meta::annotations(
        errors,
        &template["metadata"]["annotations"],
        &format!("{field}.annotations"),
    );
    spec(errors, &template["spec"], &format!("{field}.spec"), claims);
    if !list(&template["spec"], "ephemeralContainers").is_empty() {
        errors.forbidden(
            &format!("{field}.spec.ephemeralContainers"),
            "ephemeral containers not allowed in pod template",
        );
    }
}

pub fn spec(errors: &mut Errors, spec: &Value, field: &str, claims: &[String]) {
    let mut volumes: BTreeSet<String> = BTreeSet::new();
    for (index, one) in list(spec, "volumes").iter().enumerate() {
        volume(
            errors,
            one,
            &format!("{field}.volumes[{index}]"),
            &mut volumes,
        );
    }
    volumes.extend(claims.iter().cloned());
    let mut names: BTreeSet<&str> = BTreeSet::new();
    if list(spec, "containers").is_empty() {
        errors.required(&format!("{field}.containers"), "");
    }
    for kind in CONTAINERS {
        for (index, one) in list(spec, kind).iter().enumerate() {
            let at = format!("{field}.{kind}[{index}]");
            let name = text(one, "name");
            if !name.is_empty() && names.contains(name) {
                errors.duplicate(&format!("{at}.name"), name);
            }
            names.insert(name);
            container(errors, one, &at, &volumes);
            if has(&one["resources"], "claims") {
                pod_parts::device_claims(errors, spec, one, &at);
            }
            pod_parts::resize_policy(errors, spec, one, &format!("{at}.resizePolicy"));
            if has(one, "restartPolicy") || has(one, "restartPolicyRules") {
                pod_parts::restarts(errors, one, &at);
            }
            hooks(
                errors,
                spec,
                one,
                &at,
                kind == "containers" || text(one, "restartPolicy") == "Always",
            );
        }
        if kind == "containers" {
            pod_parts::host_ports(errors, list(spec, kind), &format!("{field}.{kind}"));
        }
    }
    ephemeral::containers(
        errors,
        spec,
        &format!("{field}.ephemeralContainers"),
        &volumes,
        &mut names,
    );
    pod_parts::host_network(errors, spec, field);
    errors.one_of(
        &format!("{field}.restartPolicy"),
        text(spec, "restartPolicy"),
        &["Always", "OnFailure", "Never"],
    );
    let dns = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    errors.one_of(&format!("{field}.dnsPolicy"), text(spec, "dnsPolicy"), &dns);
    meta::labels(
        errors,
        &spec["nodeSelector"],
        &format!("{field}.nodeSelector"),
    );
    pod_parts::pod_security(errors, spec, &format!("{field}.securityContext"));
    scheduling::affinity(errors, &spec["affinity"], &format!("{field}.affinity"));
    pod_parts::dns(errors, spec, field);
    pod_parts::gates(errors, spec, field);
    scheduling::spread(errors, spec, &format!("{field}.topologySpreadConstraints"));
    rest(errors, spec, field);
    scheduling::tolerations(errors, spec, &format!("{field}.tolerations"));
    pod_parts::host_aliases(errors, spec, field);
    if has(spec, "preemptionPolicy") {
        errors.one_of(
            &format!("{field}.preemptionPolicy"),
            text(spec, "preemptionPolicy"),
            &["PreemptLowerPriority", "Never"],
        );
    }
    if has(&spec["os"], "name") {
        errors.one_of(
            &format!("{field}.os"),
            text(&spec["os"], "name"),
            &["linux", "windows"],
        );
    }
    host_users(errors, spec, field);
    pod_parts::system(errors, spec, field);
    shared_resources(errors, spec, &format!("{field}.resources"));
}

/// Checks that a Pod with its own user namespace uses no other host namespaces.
fn host_users(errors: &mut Errors, spec: &Value, field: &str) {
    if spec["hostUsers"] != false {
        return;
    }
    for name in ["hostNetwork", "hostPID", "hostIPC"]
        .into_iter()
        .filter(|name| spec[*name] == true)
    {
        errors.forbidden(&format!("{field}.{name}"), "when `hostUsers` is false");
    }
}

/// Checks that Pod-level resources cover those of each container.
fn shared_resources(errors: &mut Errors, spec: &Value, field: &str) {
    let shared = &spec["resources"];
    if !shared.is_object() {
        return;
    }
    for kind in ["limits", "requests"] {
        for (name, value) in shared[kind].as_object().into_iter().flatten() {
            let at = format!("{field}.{kind}[{name}]");
            if !matches!(name.as_str(), "cpu" | "memory") && !name.starts_with("hugepages-") {
                errors.unsupported(&at, name.as_str(), &["cpu", "hugepages-", "memory"]);
            } else if amount(value).is_negative() {
                errors.invalid(&at, value.clone(), super::NOT_NEGATIVE);
            }
        }
    }
    for (name, request) in shared["requests"].as_object().into_iter().flatten() {
        let limit = shared["limits"].get(name);
        if let Some(limit) = limit.filter(|limit| amount(request) > amount(limit)) {
            let detail = format!(
                "must be less than or equal to {name} limit of {}",
                text_of(limit)
            );
            errors.invalid(&format!("{field}.requests"), request.clone(), detail);
        }
        let sum = list(spec, "containers")
            .iter()
            .fold(Quantity::ZERO, |sum, c| {
                sum.plus(amount(&c["resources"]["requests"][name]))
            });
        if sum > amount(request) {
            let detail =
                format!("must be greater than or equal to aggregate container requests of {sum}");
            errors.invalid(
                &format!("{field}.requests[{name}]"),
                request.clone(),
                detail,
            );
        }
    }
    for (index, container) in list(spec, "containers").iter().enumerate() {
        for (name, limit) in container["resources"]["limits"]
            .as_object()
            .into_iter()
            .flatten()
        {
            if let Some(shared) = shared["limits"]
                .get(name)
                .filter(|shared| amount(limit) > amount(shared))
            {
                let at = format!("{field}.containers[{index}][{name}].limits");
                errors.invalid(
                    &at,
                    limit.clone(),
                    format!(
                        "must be less than or equal to pod limits of {}",
                        text_of(shared)
                    ),
                );
            }
        }
    }
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

fn rest(errors: &mut Errors, spec: &Value, field: &str) {
    for (name, check) in [
        (
            "serviceAccountName",
            names::subdomain as fn(&str) -> Option<String>,
        ),
        ("nodeName", names::subdomain),
        ("hostname", names::label),
        ("subdomain", names::label),
        ("priorityClassName", names::subdomain),
        ("runtimeClassName", names::subdomain),
    ] {
        if !text(spec, name).is_empty() {
            errors.checked(&format!("{field}.{name}"), text(spec, name), check);
        }
    }
    if spec["activeDeadlineSeconds"]
        .as_i64()
        .is_some_and(|n| !(1..=i64::from(i32::MAX)).contains(&n))
    {
        let detail = "must be between 1 and 2147483647, inclusive";
        errors.invalid(
            &format!("{field}.activeDeadlineSeconds"),
            spec["activeDeadlineSeconds"].clone(),
            detail,
        );
    }
}

pub(super) fn container(
    errors: &mut Errors,
    container: &Value,
    field: &str,
    volumes: &BTreeSet<String>,
) {
    let name = text(container, "name");
    if name.is_empty() {
        errors.required(&format!("{field}.name"), "");
    } else {
        errors.checked(&format!("{field}.name"), name, names::label);
    }
    let image = text(container, "image");
    if image.is_empty() {
        errors.required(&format!("{field}.image"), "");
    } else if image != image.trim() {
        errors.invalid(
            &format!("{field}.image"),
            image,
            "must not have leading or trailing whitespace",
        );
    }
    let policies = ["File", "FallbackToLogsOnError"];
    errors.one_of(
        &format!("{field}.terminationMessagePolicy"),
        text(container, "terminationMessagePolicy"),
        &policies,
    );
    ports(errors, container, field);
    env(errors, container, field);
    pod_parts::env_from(errors, container, field);
    mounts(errors, container, field, volumes);
    pod_parts::devices(errors, container, field, volumes);
    errors.one_of(
        &format!("{field}.imagePullPolicy"),
        text(container, "imagePullPolicy"),
        &["Always", "IfNotPresent", "Never"],
    );
    resources(
        errors,
        &container["resources"],
        &format!("{field}.resources"),
    );
    pod_parts::security(
        errors,
        &container["securityContext"],
        &format!("{field}.securityContext"),
    );
    pod_parts::escalation(
        errors,
        &container["securityContext"],
        &format!("{field}.securityContext"),
    );
}

/// Validates hooks and probes, which only sidecars among the init containers may have.
fn hooks(errors: &mut Errors, spec: &Value, container: &Value, field: &str, allowed: bool) {
    for name in [
        "lifecycle",
        "livenessProbe",
        "readinessProbe",
        "startupProbe",
    ] {
        let at = format!("{field}.{name}");
        if !has(container, name) {
            continue;
        }
        if !allowed {
            errors.forbidden(
                &at,
                "may not be set for init containers without restartPolicy=Always",
            );
        } else if name == "lifecycle" {
            for hook in ["postStart", "preStop"]
                .into_iter()
                .filter(|hook| has(&container[name], hook))
            {
                handler(
                    errors,
                    spec,
                    &container[name][hook],
                    &format!("{at}.{hook}"),
                );
            }
        } else {
            probe(
                errors,
                spec,
                &container[name],
                &at,
                name != "readinessProbe",
            );
        }
    }
}

fn ports(errors: &mut Errors, container: &Value, field: &str) {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for (index, port) in list(container, "ports").iter().enumerate() {
        let at = format!("{field}.ports[{index}]");
        let name = text(port, "name");
        if !name.is_empty() {
            let faults = names::port_name(name);
            for detail in &faults {
                errors.invalid(&format!("{at}.name"), name, detail.as_str());
            }
            if faults.is_empty() && names.contains(name) {
                errors.duplicate(&format!("{at}.name"), name);
            }
            names.insert(name);
        }
        match port["containerPort"].as_i64() {
            None | Some(0) => errors.required(&format!("{at}.containerPort"), ""),
            Some(number) => in_port_range(errors, &format!("{at}.containerPort"), number),
        }
        if let Some(number) = port["hostPort"].as_i64().filter(|n| *n != 0) {
            in_port_range(errors, &format!("{at}.hostPort"), number);
        }
        errors.one_of(
            &format!("{at}.protocol"),
            text(port, "protocol"),
            &["SCTP", "TCP", "UDP"],
        );
    }
}

pub fn in_port_range(errors: &mut Errors, field: &str, number: i64) {
    if !(1..=65535).contains(&number) {
        errors.invalid(field, number, NOT_PORT);
    }
}

/// Validates a port's number or name.
pub fn port_or_name(errors: &mut Errors, field: &str, port: &Value) {
    match port {
        Value::String(name) => {
            for detail in names::port_name(name) {
                errors.invalid(field, name.as_str(), detail);
            }
        }
        other => in_port_range(errors, field, other.as_i64().unwrap_or(0)),
    }
}

fn env(errors: &mut Errors, container: &Value, field: &str) {
    for (index, variable) in list(container, "env").iter().enumerate() {
        env_variable(errors, variable, &format!("{field}.env[{index}]"));
    }
}

fn env_variable(errors: &mut Errors, variable: &Value, at: &str) {
    let name = text(variable, "name");
    if name.is_empty() {
        errors.required(&format!("{at}.name"), "");
    } else {
        errors.checked(&format!("{at}.name"), name, names::env_name);
    }
    let Some(source) = variable["valueFrom"].as_object() else {
        return;
    };
    let at = format!("{at}.valueFrom");
    pod_parts::value_from(errors, &variable["valueFrom"], &at);
    if source.is_empty() {
        errors.invalid(&at, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`");
    } else if !text(variable, "value").is_empty() {
        errors.invalid(&at, "", "may not be specified when `value` is not empty");
    } else if source.len() > 1 {
        errors.invalid(
            &at,
            "",
            "may not have more than one field specified at a time",
        );
    }
}

fn mounts(errors: &mut Errors, container: &Value, field: &str, volumes: &BTreeSet<String>) {
    let mut paths: BTreeSet<&str> = BTreeSet::new();
    for (index, mount) in list(container, "volumeMounts").iter().enumerate() {
        let at = format!("{field}.volumeMounts[{index}]");
        let (name, path) = (text(mount, "name"), text(mount, "mountPath"));
        if name.is_empty() {
            errors.required(&format!("{at}.name"), "");
        }
        if !volumes.contains(name) {
            errors.add(
                ErrorType::NotFound,
                &format!("{at}.name"),
                Value::from(name).to_string(),
                "",
            );
        }
        if path.is_empty() {
            errors.required(&format!("{at}.mountPath"), "");
        }
        if paths.contains(path) {
            errors.invalid(&format!("{at}.mountPath"), path, "must be unique");
        }
        paths.insert(path);
        let (below, expression) = (text(mount, "subPath"), text(mount, "subPathExpr"));
        pod_parts::descending(errors, below, &format!("{field}.volumeMounts.subPath"));
        if !below.is_empty() && !expression.is_empty() {
            errors.invalid(
                &format!("{at}.subPathExpr"),
                expression,
                "subPathExpr and subPath are mutually exclusive",
            );
        }
        pod_parts::descending(
            errors,
            expression,
            &format!("{field}.volumeMounts.subPathExpr"),
        );
        if has(mount, "mountPropagation") {
            let (spreads, at) = (
                text(mount, "mountPropagation"),
                format!("{at}.mountPropagation"),
            );
            errors.one_of(&at, spreads, &["Bidirectional", "HostToContainer", "None"]);
            if spreads == "Bidirectional" && container["securityContext"]["privileged"] != true {
                errors.forbidden(
                    &at,
                    "Bidirectional mount propagation is available only to privileged containers",
                );
            }
        }
    }
}

const HANDLERS: [&str; 5] = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"];

/// Checks that a probe or a hook has exactly one handler.
fn handler(errors: &mut Errors, spec: &Value, probe: &Value, field: &str) {
    let mut handlers = 0;
    for name in HANDLERS.into_iter().filter(|name| has(probe, name)) {
        handlers += 1;
        let at = format!("{field}.{name}");
        if handlers > 1 {
            errors.forbidden(&at, "may not specify more than 1 handler type");
            continue;
        }
        match name {
            "exec" if list(&probe[name], "command").is_empty() => {
                errors.required(&format!("{at}.command"), "")
            }
            "exec" => {}
            "sleep" => {
                let (seconds, most) = (
                    probe[name]["seconds"].as_i64().unwrap_or(0),
                    spec["terminationGracePeriodSeconds"].as_i64(),
                );
                if let Some(most) = most.filter(|most| seconds < 0 || seconds > *most) {
                    let detail = format!(
                        "must be non-negative and less than terminationGracePeriodSeconds ({most})"
                    );
                    errors.invalid(&at, seconds, detail);
                }
            }
            _ => port_or_name(errors, &format!("{at}.port"), &probe[name]["port"]),
        }
        if name == "httpGet" {
            errors.one_of(
                &format!("{at}.scheme"),
                text(&probe[name], "scheme"),
                &["HTTP", "HTTPS"],
            );
        }
    }
    if handlers == 0 {
        errors.required(field, "must specify a handler type");
    }
}

fn probe(errors: &mut Errors, spec: &Value, probe: &Value, field: &str, only_once: bool) {
    handler(errors, spec, probe, field);
    for name in [
        "initialDelaySeconds",
        "timeoutSeconds",
        "periodSeconds",
        "successThreshold",
        "failureThreshold",
    ] {
        errors.not_negative(&format!("{field}.{name}"), &probe[name]);
    }
    let (at, grace) = (
        format!("{field}.terminationGracePeriodSeconds"),
        &probe["terminationGracePeriodSeconds"],
    );
    if grace.as_i64().is_some_and(|n| n <= 0) {
        errors.invalid(&at, grace.clone(), "must be greater than 0");
    }
    if !only_once && grace.is_i64() {
        errors.invalid(&at, grace.clone(), "must not be set for readinessProbes");
    }
    if only_once && probe["successThreshold"].as_i64().is_some_and(|n| n != 1) {
        errors.invalid(
            &format!("{field}.successThreshold"),
            probe["successThreshold"].clone(),
            "must be 1",
        );
    }
}

fn amount(value: &Value) -> Quantity {
    value
        .as_str()
        .and_then(|text| Quantity::parse(text).ok())
        .unwrap_or(Quantity::ZERO)
}

/// Validates limits and requests of a container.
pub fn resources(errors: &mut Errors, resources: &Value, field: &str) {
    let entries = |name: &str| resources[name].as_object().into_iter().flatten();
    for kind in ["limits", "requests"] {
        for (name, value) in entries(kind) {
            let at = format!("{field}.{kind}");
            resource_name(errors, name, &at);
            if amount(value).is_negative() {
                errors.invalid(&format!("{at}[{name}]"), value.clone(), super::NOT_NEGATIVE);
            }
            if is_extended(name) && !amount(value).is_whole() {
                errors.invalid(
                    &format!("{at}[{name}]"),
                    value.clone(),
                    "must be an integer",
                );
            }
            if let Some(size) = name.strip_prefix("hugepages-")
                && !is_multiple(amount(value), size)
            {
                let detail = format!(
                    "{} is not positive integer multiple of {name}",
                    amount(value)
                );
                errors.invalid(&format!("{at}[{name}]"), value.clone(), detail);
            }
        }
    }
    let names = ["limits", "requests"].into_iter().flat_map(entries);
    let is_any = |is: fn(&str) -> bool| names.clone().any(|(name, _)| is(name));
    let huge = is_any(|name| name.starts_with("hugepages-"));
    let needs_more = huge && !is_any(|name| matches!(name, "cpu" | "memory"));
    for (name, request) in entries("requests") {
        let scarce = is_extended(name) || name.starts_with("hugepages-");
        let Some(limit) = resources["limits"].get(name) else {
            if scarce {
                errors.required(
                    &format!("{field}.limits"),
                    "Limit must be set for non overcommitable resources",
                );
            }
            continue;
        };
        if scarce && amount(request) != amount(limit) {
            let detail = format!(
                "must be equal to {name} limit of {}",
                limit.as_str().unwrap_or("")
            );
            errors.invalid(&format!("{field}.requests"), request.clone(), detail);
        } else if amount(request) > amount(limit) {
            let detail = format!(
                "must be less than or equal to {name} limit of {}",
                limit.as_str().unwrap_or("")
            );
            errors.invalid(&format!("{field}.requests"), request.clone(), detail);
        }
    }
    if needs_more {
        errors.forbidden(field, "HugePages require cpu or memory");
    }
}

/// Returns true if an amount is that of one or more whole huge pages.
fn is_multiple(amount: Quantity, page_size: &str) -> bool {
    let Ok(size) = Quantity::parse(page_size) else {
        return true;
    };
    let (amount, size) = (amount.as_units(), size.as_units());
    size > 0 && amount > 0 && amount % size == 0
}

/// Returns true if a resource is extended, as offered by device plugins: only whole units, not overcommitted.
fn is_extended(name: &str) -> bool {
    name.contains('/') && !name.contains("kubernetes.io/")
}

fn resource_name(errors: &mut Errors, name: &str, field: &str) {
    for detail in is_qualified_name(name) {
        errors.invalid(field, name, detail);
    }
    if !name.contains('/')
        && !matches!(name, "cpu" | "memory" | "ephemeral-storage")
        && !name.starts_with("hugepages-")
    {
        errors.invalid(
            field,
            name,
            "must be a standard resource type or fully qualified",
        );
        errors.invalid(field, name, "must be a standard resource for containers");
    }
}

const SOURCES: [&str; 30] = [
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
];

/// Required field of each volume source.
const NEEDED: [(&str, &str); 5] = [
    ("hostPath", "path"),
    ("secret", "secretName"),
    ("persistentVolumeClaim", "claimName"),
    ("configMap", "name"),
    ("nfs", "server"),
];

fn volume(errors: &mut Errors, volume: &Value, field: &str, names: &mut BTreeSet<String>) {
    let mut sources = 0;
    for source in SOURCES.into_iter().filter(|source| has(volume, source)) {
        sources += 1;
        let at = format!("{field}.{source}");
        if sources > 1 {
            errors.forbidden(&at, "may not specify more than 1 volume type");
            continue;
        }
        for (_, needed) in NEEDED.into_iter().filter(|(kind, _)| *kind == source) {
            if text(&volume[source], needed).is_empty() {
                errors.required(&format!("{at}.{needed}"), "");
            }
        }
        pod_parts::volume_source(errors, source, &volume[source], &at);
    }
    if sources == 0 {
        errors.required(field, "must specify a volume type");
    }
    let name = text(volume, "name");
    if name.is_empty() {
        errors.required(&format!("{field}.name"), "");
    } else {
        errors.checked(&format!("{field}.name"), name, names::label);
        if names.contains(name) {
            errors.duplicate(&format!("{field}.name"), name);
        }
    }
    names.insert(name.to_owned());
}
