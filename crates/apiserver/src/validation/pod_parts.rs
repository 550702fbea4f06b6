//! Validation of rarer parts of a Pod: variable sources, hooks, security, gates, DNS, parts of volumes.
//!
//! Models the Pod part of `pkg/apis/core/validation/validation.go`.

use super::{ErrorType, Errors, has, list, text};
use k8s_model::names;
use k8s_model::names::is_qualified_name;
use k8s_model::quantity::Quantity;
use serde_json::Value;

/// Validates the source of a variable: exactly one, with its required fields.
pub fn value_from(errors: &mut Errors, source: &Value, field: &str) {
    let path = &source["fieldRef"];
    if has(source, "fieldRef") {
        let (at, path) = (
            format!("{field}.fieldRef.fieldPath"),
            text(path, "fieldPath"),
        );
        if path.is_empty() {
            errors.required(&at, "");
        } else if !is_downward(path) {
            errors.invalid(
                &at,
                path,
                format!("error converting fieldPath: field label not supported: {path}"),
            );
        }
    }
    if has(source, "resourceFieldRef") {
        let (resource, at) = (
            text(&source["resourceFieldRef"], "resource"),
            format!("{field}.resourceFieldRef.resource"),
        );
        if resource.is_empty() {
            errors.required(&at, "");
        } else if !["limits.hugepages-", "requests.hugepages-"]
            .iter()
            .any(|prefix| resource.starts_with(prefix))
        {
            errors.one_of(&at, resource, &AMOUNTS);
        }
    }
    for name in ["configMapKeyRef", "secretKeyRef"] {
        let (reference, at) = (&source[name], format!("{field}.{name}"));
        if has(source, name) {
            errors.checked(
                &format!("{at}.name"),
                text(reference, "name"),
                names::subdomain,
            );
            config_key(errors, text(reference, "key"), &format!("{at}.key"));
        }
    }
}

/// Container resources available through the downward API.
const AMOUNTS: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

fn config_key(errors: &mut Errors, key: &str, field: &str) {
    if key.is_empty() {
        errors.required(field, "");
    } else {
        errors.checked_all(field, key, names::config_key);
    }
}

/// Returns true if a Pod field is available through the downward API.
fn is_downward(path: &str) -> bool {
    let known = [
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
        "metadata.labels",
        "metadata.annotations",
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.serviceAccountName",
        "spec.schedulerName",
        "spec.hostNetwork",
        "status.phase",
        "status.hostIP",
        "status.hostIPs",
        "status.nominatedNodeName",
        "status.podIP",
        "status.podIPs",
        "spec.host",
    ];
    known.contains(&path)
        || path
            .split_once('[')
            .is_some_and(|(path, _)| matches!(path, "metadata.labels" | "metadata.annotations"))
}

/// Validates variables from whole ConfigMaps and Secrets.
pub fn env_from(errors: &mut Errors, container: &Value, field: &str) {
    let at = format!("{field}.envFrom");
    for (index, source) in list(container, "envFrom").iter().enumerate() {
        if !text(source, "prefix").is_empty() {
            errors.checked(
                &format!("{at}[{index}].prefix"),
                text(source, "prefix"),
                names::env_name,
            );
        }
        let mut sources = 0;
        for name in ["configMapRef", "secretRef"]
            .into_iter()
            .filter(|name| has(source, name))
        {
            sources += 1;
            let (at, name) = (
                format!("{at}[{index}].{name}.name"),
                text(&source[name], "name"),
            );
            if name.is_empty() {
                errors.required(&at, "");
            } else {
                errors.checked(&at, name, names::subdomain);
            }
        }
        match sources {
            0 => errors.invalid(
                &at,
                "",
                "must specify one of: `configMapRef` or `secretRef`",
            ),
            1 => {}
            _ => errors.invalid(
                &at,
                "",
                "may not have more than one field specified at a time",
            ),
        }
    }
}

/// Checks that a path is relative and has no `..`.
pub fn descending(errors: &mut Errors, path: &str, field: &str) {
    if path.starts_with('/') {
        errors.invalid(field, path, "must be a relative path");
    }
    no_backsteps(errors, path, field);
}

fn no_backsteps(errors: &mut Errors, path: &str, field: &str) {
    if path.split('/').any(|part| part == "..") {
        errors.invalid(field, path, "must not contain '..'");
    }
}

/// Validates the block devices of a container.
pub fn devices(
    errors: &mut Errors,
    container: &Value,
    field: &str,
    volumes: &std::collections::BTreeSet<String>,
) {
    let all = list(container, "volumeDevices");
    for (index, device) in all.iter().enumerate() {
        let at = format!("{field}.volumeDevices[{index}]");
        let (name, path) = (text(device, "name"), text(device, "devicePath"));
        if name.is_empty() {
            errors.required(&format!("{at}.name"), "");
        }
        if !volumes.contains(name) {
            errors.add(
                super::ErrorType::NotFound,
                &format!("{at}.name"),
                Value::from(name).to_string(),
                "",
            );
        }
        if path.is_empty() {
            errors.required(&format!("{at}.devicePath"), "");
        }
        if all[..index]
            .iter()
            .any(|other| text(other, "devicePath") == path)
        {
            errors.invalid(&format!("{at}.devicePath"), path, "must be unique");
        }
    }
}

/// Validates the security context of a container.
pub fn security(errors: &mut Errors, context: &Value, field: &str) {
    ids(errors, context, field, &["runAsUser", "runAsGroup"]);
    if has(context, "seccompProfile") {
        let at = format!("{field}.seccompProfile");
        seccomp(errors, &context["seccompProfile"], &at);
    }
}

/// Validates the security context of a Pod: `validatePodSpecSecurityContext`.
pub fn pod_security(errors: &mut Errors, spec: &Value, field: &str) {
    let context = &spec["securityContext"];
    ids(
        errors,
        context,
        field,
        &["fsGroup", "runAsUser", "runAsGroup"],
    );
    for (index, group) in list(context, "supplementalGroups").iter().enumerate() {
        id(
            errors,
            group,
            &format!("{field}.supplementalGroups[{index}]"),
        );
    }
    if spec["shareProcessNamespace"] == true && spec["hostPID"] == true {
        let detail = "ShareProcessNamespace and HostPID cannot both be enabled";
        errors.invalid(&format!("{field}.shareProcessNamespace"), true, detail);
    }
    sysctls(
        errors,
        list(context, "sysctls"),
        &format!("{field}.sysctls"),
    );
    if let Some(policy) = context["fsGroupChangePolicy"].as_str() {
        errors.one_of(
            &format!("{field}.fsGroupChangePolicy"),
            policy,
            &["Always", "OnRootMismatch"],
        );
    }
    if has(context, "seccompProfile") {
        let at = format!("{field}.seccompProfile");
        seccomp(errors, &context["seccompProfile"], &at);
    }
}

fn ids(errors: &mut Errors, context: &Value, field: &str, names: &[&str]) {
    for name in names {
        id(errors, &context[*name], &format!("{field}.{name}"));
    }
}

/// Validates a user or group id, if it is set.
fn id(errors: &mut Errors, id: &Value, field: &str) {
    let is_valid = |id| (0..=i64::from(i32::MAX)).contains(&id);
    if id.as_i64().is_some_and(|id| !is_valid(id)) {
        let detail = "must be between 0 and 2147483647, inclusive";
        errors.invalid(field, id.clone(), detail);
    }
}

/// Validates the kernel parameters of a Pod: `validateSysctls`.
fn sysctls(errors: &mut Errors, sysctls: &[Value], field: &str) {
    const FORMAT: &str = r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
    let is_end = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_part = |part: &str| {
        part.starts_with(is_end)
            && part.ends_with(is_end)
            && part.chars().all(|c| is_end(c) || matches!(c, '-' | '_'))
    };
    for (index, sysctl) in sysctls.iter().enumerate() {
        let (at, name) = (format!("{field}[{index}].name"), text(sysctl, "name"));
        if name.is_empty() {
            errors.required(&at, "");
        } else if name.len() > 253 || !name.split(['.', '/']).all(is_part) {
            let detail = format!("must have at most 253 characters and match regex {FORMAT}");
            errors.invalid(&at, name, detail);
        } else if sysctls[..index]
            .iter()
            .any(|other| text(other, "name") == name)
        {
            errors.duplicate(&at, name);
        }
    }
}

/// Validates the resize policies of a container: `validateResizePolicy`.
pub fn resize_policy(errors: &mut Errors, spec: &Value, container: &Value, field: &str) {
    let all = list(container, "resizePolicy");
    for (index, policy) in all.iter().enumerate() {
        let name = text(policy, "resourceName");
        if all[..index]
            .iter()
            .any(|other| text(other, "resourceName") == name)
        {
            errors.duplicate(&format!("{field}[{index}]"), name);
        }
        let restart = text(policy, "restartPolicy");
        for (value, supported) in [
            (name, ["cpu", "memory"]),
            (restart, ["NotRequired", "RestartContainer"]),
        ] {
            match value {
                "" => errors.required(field, ""),
                _ => {
                    errors.one_of(field, value, &supported);
                }
            }
        }
        if text(spec, "restartPolicy") == "Never" && restart != "NotRequired" {
            let detail = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
            errors.invalid(field, restart, detail);
        }
    }
}

/// Checks that the resource claims of a container are among those of its Pod.
pub fn device_claims(errors: &mut Errors, spec: &Value, container: &Value, field: &str) {
    let mut known: Vec<&str> = list(spec, "resourceClaims")
        .iter()
        .map(|claim| text(claim, "name"))
        .collect();
    known.sort();
    let all = list(&container["resources"], "claims");
    for (index, claim) in all.iter().enumerate() {
        let (at, name) = (
            format!("{field}.resources.claims[{index}]"),
            text(claim, "name"),
        );
        if name.is_empty() {
            errors.required(&at, "");
            continue;
        }
        if all[..index].contains(claim) {
            errors.duplicate(&at, name);
        }
        if !known.contains(&name) {
            let which = if known.is_empty() {
                " which is empty".to_owned()
            } else {
                format!(": {}", known.join(", "))
            };
            let detail = format!("must be one of the names in pod.spec.resourceClaims{which}");
            errors.add(
                ErrorType::NotFound,
                &at,
                Value::from(name).to_string(),
                detail,
            );
        }
    }
}

fn seccomp(errors: &mut Errors, profile: &Value, field: &str) {
    match text(profile, "type") {
        "" => errors.required(
            &format!("{field}.type"),
            "type is required when seccompProfile is set",
        ),
        kind => {
            errors.one_of(
                &format!("{field}.type"),
                kind,
                &["Localhost", "RuntimeDefault", "Unconfined"],
            );
        }
    }
    let at = format!("{field}.localhostProfile");
    match (
        text(profile, "type") == "Localhost",
        profile["localhostProfile"].as_str(),
    ) {
        (true, None) => errors.required(&at, "must be set when seccomp type is Localhost"),
        (true, Some(path)) => descending(errors, path, &at),
        (false, Some(_)) => {
            errors.invalid_struct(
                &at,
                "v1.SeccompProfile",
                profile,
                "can only be set when seccomp type is Localhost",
            );
        }
        (false, None) => {}
    }
}

/// Checks that a privileged container does not disallow privilege escalation.
pub fn escalation(errors: &mut Errors, context: &Value, field: &str) {
    if context["allowPrivilegeEscalation"] != false {
        return;
    }
    if context["privileged"] == true {
        let detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
        errors.invalid_struct(field, "v1.SecurityContext", context, detail);
    }
    if list(&context["capabilities"], "add")
        .iter()
        .any(|name| name == "CAP_SYS_ADMIN")
    {
        let detail =
            "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
        errors.invalid_struct(field, "v1.SecurityContext", context, detail);
    }
}

/// Checks that no two containers use the same host port.
pub fn host_ports(errors: &mut Errors, containers: &[Value], field: &str) {
    let mut seen: Vec<String> = Vec::new();
    for (c, container) in containers.iter().enumerate() {
        for (p, port) in list(container, "ports").iter().enumerate() {
            let Some(number) = port["hostPort"].as_i64().filter(|n| *n != 0) else {
                continue;
            };
            let key = format!(
                "{}/{}/{number}",
                text(port, "protocol"),
                text(port, "hostIP")
            );
            if seen.contains(&key) {
                errors.duplicate(&format!("{field}[{c}].ports[{p}].hostPort"), key);
            } else {
                seen.push(key);
            }
        }
    }
}

/// Checks that the ports of host network containers equal their host ports.
pub fn host_network(errors: &mut Errors, spec: &Value, field: &str) {
    for (c, container) in list(spec, "containers")
        .iter()
        .enumerate()
        .filter(|_| spec["hostNetwork"] == true)
    {
        for (p, port) in list(container, "ports").iter().enumerate() {
            let host = port["hostPort"].as_i64().unwrap_or(0);
            if host != 0 && port["hostPort"] != port["containerPort"] {
                let at = format!("{field}.containers[{c}].ports[{p}].hostPort");
                errors.invalid(
                    &at,
                    host,
                    "must match `containerPort` when `hostNetwork` is true",
                );
            }
        }
    }
}

/// Validates the DNS policy and config; `None` requires a config.
pub fn dns(errors: &mut Errors, spec: &Value, field: &str) {
    let (config, at) = (&spec["dnsConfig"], format!("{field}.dnsConfig"));
    let servers = list(config, "nameservers");
    if text(spec, "dnsPolicy") == "None" {
        if config.is_null() {
            return errors.required(&at, "must provide `dnsConfig` when `dnsPolicy` is None");
        }
        if servers.is_empty() {
            let detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
            return errors.required(&format!("{at}.nameservers"), detail);
        }
    }
    if servers.len() > 3 {
        errors.invalid(
            &format!("{at}.nameservers"),
            config["nameservers"].clone(),
            "must not have more than 3 nameservers",
        );
    }
    for (index, server) in servers.iter().enumerate() {
        errors.checked(
            &format!("{at}.nameservers[{index}]"),
            server.as_str().unwrap_or(""),
            names::ip,
        );
    }
    let searches = list(config, "searches");
    let too_many = [
        (searches.len() > 32).then_some("must not have more than 32 search paths"),
        // The spaces between them count.
        (searches
            .iter()
            .filter_map(Value::as_str)
            .map(|path| path.len() + 1)
            .sum::<usize>()
            > 2049)
            .then_some(
                "must not have more than 2048 characters (including spaces) in the search list",
            ),
    ];
    for detail in too_many.into_iter().flatten() {
        errors.invalid(
            &format!("{at}.searches"),
            config["searches"].clone(),
            detail,
        );
    }
    for (index, search) in searches.iter().enumerate() {
        let search = search.as_str().unwrap_or("");
        if search != "." {
            errors.checked_all(
                &format!("{at}.searches[{index}]"),
                search.strip_suffix('.').unwrap_or(search),
                names::subdomain_with_underscores,
            );
        }
    }
    for (index, option) in list(config, "options").iter().enumerate() {
        if text(option, "name").is_empty() {
            errors.required(&format!("{at}.options[{index}]"), "must not be empty");
        }
    }
}

/// Validates readiness gates and scheduling gates.
pub fn gates(errors: &mut Errors, spec: &Value, field: &str) {
    for (index, gate) in list(spec, "readinessGates").iter().enumerate() {
        let name = text(gate, "conditionType");
        for detail in is_qualified_name(name) {
            errors.invalid(
                &format!("{field}.readinessGates[{index}].conditionType"),
                name,
                detail,
            );
        }
    }
    let all = list(spec, "schedulingGates");
    for (index, gate) in all.iter().enumerate() {
        let (at, name) = (
            format!("{field}.schedulingGates[{index}]"),
            text(gate, "name"),
        );
        for detail in is_qualified_name(name) {
            errors.invalid(&at, name, detail);
        }
        if all[..index].iter().any(|other| text(other, "name") == name) {
            errors.duplicate(&at, name);
        }
    }
}

/// Validates host aliases, the lines of the hosts file.
pub fn host_aliases(errors: &mut Errors, spec: &Value, field: &str) {
    for (index, alias) in list(spec, "hostAliases").iter().enumerate() {
        let at = format!("{field}.hostAliases[{index}]");
        errors.checked(&format!("{at}.ip"), text(alias, "ip"), names::ip);
        for (n, name) in list(alias, "hostnames").iter().enumerate() {
            errors.checked(
                &format!("{at}.hostnames[{n}]"),
                name.as_str().unwrap_or(""),
                names::subdomain,
            );
        }
    }
}

const HOST_PATHS: [&str; 8] = [
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
];

/// Validates optional fields of a volume source.
pub fn volume_source(errors: &mut Errors, name: &str, source: &Value, field: &str) {
    match name {
        "hostPath" => {
            no_backsteps(errors, text(source, "path"), &format!("{field}.path"));
            errors.one_of(&format!("{field}.type"), text(source, "type"), &HOST_PATHS);
        }
        "emptyDir" => {
            let limit = source["sizeLimit"]
                .as_str()
                .and_then(|text| Quantity::parse(text).ok());
            if limit.is_some_and(Quantity::is_negative) {
                errors.forbidden(
                    &format!("{field}.sizeLimit"),
                    "SizeLimit field must be a valid resource quantity",
                );
            }
        }
        "nfs" => match text(source, "path") {
            "" => errors.required(&format!("{field}.path"), ""),
            path if !path.starts_with('/') => {
                errors.invalid(&format!("{field}.path"), path, "must be an absolute path")
            }
            _ => {}
        },
        "configMap" | "secret" => {
            if source["defaultMode"]
                .as_i64()
                .is_some_and(|mode| !(0..=0o777).contains(&mode))
            {
                let detail = "must be a number between 0 and 0777 (octal), both inclusive";
                errors.invalid(
                    &format!("{field}.defaultMode"),
                    source["defaultMode"].clone(),
                    detail,
                );
            }
            for (index, item) in list(source, "items").iter().enumerate() {
                let at = format!("{field}.items[{index}]");
                if text(item, "key").is_empty() {
                    errors.required(&format!("{at}.key"), "");
                }
                match text(item, "path") {
                    "" => errors.required(&format!("{at}.path"), ""),
                    path => descending(errors, path, &format!("{at}.path")),
                }
            }
        }
        "downwardAPI" => {
            for item in list(source, "items") {
                match text(item, "path") {
                    "" => errors.required(&format!("{field}.path"), ""),
                    path => descending(errors, path, &format!("{field}.path")),
                }
                value_from(errors, item, field);
                if !has(item, "fieldRef") && !has(item, "resourceFieldRef") {
                    let detail = "one of fieldRef and resourceFieldRef is required";
                    errors.required(field, detail);
                }
            }
        }
        _ => {}
    }
}

/// Linux-only fields of the Pod and of its containers; paths of the former are relative to the spec.
const LINUX_ONLY: [&str; 14] = [
    "securityContext.appArmorProfile",
    "securityContext.seLinuxOptions",
    "hostUsers",
    "hostPID",
    "hostIPC",
    "securityContext.seccompProfile",
    "securityContext.fsGroup",
    "securityContext.fsGroupChangePolicy",
    "securityContext.sysctls",
    "shareProcessNamespace",
    "securityContext.runAsUser",
    "securityContext.runAsGroup",
    "securityContext.supplementalGroups",
    "securityContext.supplementalGroupsPolicy",
];
const LINUX_ONLY_IN_CONTAINERS: [&str; 10] = [
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
];

/// Checks the fields allowed for the Pod's operating system and for Windows HostProcess containers.
pub fn system(errors: &mut Errors, spec: &Value, field: &str) {
    let containers = || {
        let lists = ["initContainers", "containers"].into_iter();
        lists.flat_map(move |kind| {
            list(spec, kind)
                .iter()
                .enumerate()
                .map(move |(i, c)| (format!("{field}.{kind}[{i}]"), c))
        })
    };
    match text(&spec["os"], "name") {
        "windows" => {
            let set = |path: &str| match spec.pointer(&format!("/{}", path.replace('.', "/"))) {
                None | Some(Value::Null) => false,
                // An explicit `false` counts as an absent field.
                Some(value) => !matches!(path, "hostPID" | "hostIPC") || *value == true,
            };
            for path in LINUX_ONLY.into_iter().filter(|path| set(path)) {
                errors.forbidden(
                    &format!("{field}.{path}"),
                    "cannot be set for a windows pod",
                );
            }
            for (at, container) in containers() {
                for name in LINUX_ONLY_IN_CONTAINERS
                    .into_iter()
                    .filter(|name| has(&container["securityContext"], name))
                {
                    errors.forbidden(
                        &format!("{at}.securityContext.{name}"),
                        "cannot be set for a windows pod",
                    );
                }
            }
        }
        "linux" => {
            let whole = std::iter::once((field.to_owned(), spec));
            for (at, _) in whole
                .chain(containers())
                .filter(|(_, part)| has(&part["securityContext"], "windowsOptions"))
            {
                errors.forbidden(
                    &format!("{at}.securityContext.windowsOptions"),
                    "windows options cannot be set for a linux pod",
                );
            }
        }
        _ => {}
    }
    let of_host = |part: &Value| part["securityContext"]["windowsOptions"]["hostProcess"].as_bool();
    let count = containers()
        .filter(|(_, c)| of_host(c).or(of_host(spec)) == Some(true))
        .count();
    if count > 0 && count < containers().count() {
        let detail = "If pod contains any hostProcess containers then all containers must be HostProcess containers";
        errors.invalid(field, "", detail);
    }
    if count > 0 && spec["hostNetwork"] != true {
        errors.invalid(
            &format!("{field}.hostNetwork"),
            false,
            "hostNetwork must be true if pod contains any hostProcess containers",
        );
    }
}

/// Validates a container's own restart policy, and its rules by exit code.
pub fn restarts(errors: &mut Errors, container: &Value, field: &str) {
    let rules = list(container, "restartPolicyRules");
    if has(container, "restartPolicy") {
        errors.one_of(
            &format!("{field}.restartPolicy"),
            text(container, "restartPolicy"),
            &["Always", "Never", "OnFailure"],
        );
    } else if !rules.is_empty() {
        errors.required(
            &format!("{field}.restartPolicy"),
            "must specify restartPolicy when restart rules are used",
        );
    }
    if rules.len() > 20 {
        errors.add(
            ErrorType::TooMany,
            &format!("{field}.restartPolicyRules"),
            rules.len().to_string(),
            "must have at most 20 items",
        );
    }
    for (index, rule) in rules.iter().enumerate() {
        let at = format!("{field}.restartPolicyRules[{index}]");
        errors.one_of(
            &format!("{at}.action"),
            text(rule, "action"),
            &["Restart", "RestartAllContainers"],
        );
        let codes = &rule["exitCodes"];
        if !codes.is_object() {
            errors.required(&format!("{at}.exitCodes"), "must be specified");
            continue;
        }
        errors.one_of(
            &format!("{at}.exitCodes.operator"),
            text(codes, "operator"),
            &["In", "NotIn"],
        );
        let count = list(codes, "values").len();
        if count > 255 {
            errors.add(
                ErrorType::TooMany,
                &format!("{at}.exitCodes.values"),
                count.to_string(),
                "must have at most 255 items",
            );
        }
    }
}
