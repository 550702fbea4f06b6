//! Checks of the Pod security levels `baseline` and `restricted`, each with its error message.
//!
//! Models `k8s.io/pod-security-admission/policy/check_*.go`.

use super::Level;
use serde_json::Value;

/// Pod to check, for a minor version of Kubernetes.
pub struct Subject<'a> {
    pub annotations: &'a Value,
    pub spec: &'a Value,
    pub minor: u32,
}

/// Violation: short reason and the offending parts, or `None`.
pub type PolicyViolation = Option<(&'static str, String)>;
type Check = fn(&Subject<'_>) -> PolicyViolation;

/// Checks by level and the minor version that introduced them; `true` if a check of the next level replaces it.
const CHECKS: [(Level, u32, bool, Check); 18] = [
    (Level::Restricted, 8, false, privilege_escalation),
    (Level::Baseline, 0, false, app_armor),
    (Level::Baseline, 0, true, capabilities),
    (Level::Restricted, 22, false, capabilities_restricted),
    (Level::Baseline, 0, false, host_namespaces),
    (Level::Baseline, 0, true, host_path),
    (Level::Baseline, 0, false, host_ports),
    (Level::Baseline, 34, false, probe_hosts),
    (Level::Baseline, 0, false, privileged),
    (Level::Baseline, 0, false, proc_mount),
    (Level::Restricted, 0, false, volume_types),
    (Level::Restricted, 0, false, non_root),
    (Level::Restricted, 23, false, user_zero),
    (Level::Baseline, 0, false, selinux),
    (Level::Baseline, 19, true, seccomp),
    (Level::Restricted, 19, false, seccomp_restricted),
    (Level::Baseline, 0, false, sysctls),
    (Level::Baseline, 0, false, host_process),
];

/// Returns the violations of a level, in the server's order.
pub fn findings(level: Level, subject: &Subject<'_>) -> Vec<(&'static str, String)> {
    let run = |wanted: Level, overlapping: bool| {
        let due = CHECKS.iter().filter(move |(of, since, overlaps, _)| {
            *of == wanted && *overlaps == overlapping && *since <= subject.minor
        });
        due.filter_map(|(.., check)| check(subject))
    };
    match level {
        Level::Privileged => Vec::new(),
        Level::Baseline => run(Level::Baseline, false)
            .chain(run(Level::Baseline, true))
            .collect(),
        Level::Restricted => run(Level::Baseline, false)
            .chain(run(Level::Restricted, false))
            .collect(),
    }
}

impl Subject<'_> {
    fn containers(&self) -> impl Iterator<Item = (&str, &Value)> {
        let lists = ["initContainers", "containers", "ephemeralContainers"];
        let all = lists
            .into_iter()
            .flat_map(|list| self.spec[list].as_array().into_iter().flatten());
        all.map(|container| (container["name"].as_str().unwrap_or(""), container))
    }

    /// Returns the names of the matching containers.
    fn those(&self, is_bad: impl Fn(&Value) -> bool) -> Vec<&str> {
        self.containers()
            .filter(|(_, container)| is_bad(container))
            .map(|(name, _)| name)
            .collect()
    }

    /// Returns where a field of a security context has a bad value, as `pod and container "a"`.
    fn setters(&self, is_bad: impl Fn(&Value) -> bool) -> Vec<String> {
        let mut who = Vec::new();
        if is_bad(&self.spec["securityContext"]) {
            who.push("pod".to_owned());
        }
        let bad = self.those(|c| is_bad(&c["securityContext"]));
        if !bad.is_empty() {
            who.push(containers(&bad));
        }
        who
    }

    /// Returns every value of a field in the security contexts of the Pod and its containers.
    fn values(&self, path: &str) -> Vec<String> {
        let contexts = std::iter::once(&self.spec["securityContext"])
            .chain(self.containers().map(|(_, c)| &c["securityContext"]));
        contexts
            .filter_map(|context| context.pointer(path))
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect()
    }

    fn is_windows(&self) -> bool {
        self.minor >= 25 && self.spec["os"]["name"] == "windows"
    }

    /// Returns true if a Pod has its own user namespace, which relaxes some checks.
    fn has_own_users(&self) -> bool {
        self.minor >= 34 && self.spec["hostUsers"] == false
    }
}

fn plural(count: usize, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

fn quoted(items: &[impl AsRef<str>]) -> String {
    items
        .iter()
        .map(|item| format!("\"{}\"", item.as_ref()))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Formats container names, as `container "a"` or `containers "a", "b"`.
fn containers(names: &[&str]) -> String {
    format!(
        "{} {}",
        plural(names.len(), "container", "containers"),
        quoted(names)
    )
}

fn sorted(items: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = items.into_iter().collect();
    all.sort();
    all.dedup();
    all
}

fn strings(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

fn privilege_escalation(subject: &Subject<'_>) -> PolicyViolation {
    let bad = subject.those(|c| c["securityContext"]["allowPrivilegeEscalation"] != false);
    (!bad.is_empty() && !subject.is_windows()).then(|| {
        (
            "allowPrivilegeEscalation != false",
            format!(
                "{} must set securityContext.allowPrivilegeEscalation=false",
                containers(&bad)
            ),
        )
    })
}

fn app_armor(subject: &Subject<'_>) -> PolicyViolation {
    let is_bad = |kind: &str| !matches!(kind, "RuntimeDefault" | "Localhost");
    let mut who = subject.setters(|context| {
        context["appArmorProfile"]["type"]
            .as_str()
            .is_some_and(is_bad)
    });
    let mut values = sorted(
        subject
            .values("/appArmorProfile/type")
            .into_iter()
            .filter(|kind| is_bad(kind)),
    );
    let allowed = |profile: &str| {
        profile.is_empty() || profile == "runtime/default" || profile.starts_with("localhost/")
    };
    let annotations = subject.annotations.as_object().into_iter().flatten();
    let annotations = annotations
        .filter(|(key, _)| key.starts_with("container.apparmor.security.beta.kubernetes.io/"));
    let forbidden = annotations.filter(|(_, value)| value.as_str().is_some_and(|v| !allowed(v)));
    let forbidden: Vec<String> = forbidden
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    if !forbidden.is_empty() {
        who.push(plural(forbidden.len(), "annotation", "annotations").to_owned());
        values.extend(forbidden);
    }
    (!who.is_empty()).then(|| {
        let reason = plural(
            values.len(),
            "forbidden AppArmor profile",
            "forbidden AppArmor profiles",
        );
        (
            reason,
            format!(
                "{} must not set AppArmor profile type to {}",
                who.join(" and "),
                quoted(&values)
            ),
        )
    })
}

const CAPABILITIES: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

/// Returns the containers that add capabilities beyond the allowed ones.
fn added(subject: &Subject<'_>, allowed: &[&str]) -> Option<String> {
    let is_extra = |name: &&str| !allowed.contains(name);
    let of = |c: &Value| {
        strings(&c["securityContext"]["capabilities"]["add"])
            .filter(is_extra)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let bad = subject.those(|c| !of(c).is_empty());
    let names = sorted(subject.containers().flat_map(|(_, c)| of(c)));
    (!bad.is_empty()).then(|| {
        format!(
            "{} must not include {} in securityContext.capabilities.add",
            containers(&bad),
            quoted(&names)
        )
    })
}

fn capabilities(subject: &Subject<'_>) -> PolicyViolation {
    added(subject, &CAPABILITIES).map(|detail| ("non-default capabilities", detail))
}

fn capabilities_restricted(subject: &Subject<'_>) -> PolicyViolation {
    if subject.is_windows() {
        return None;
    }
    let keeps = subject.those(|c| {
        !strings(&c["securityContext"]["capabilities"]["drop"]).any(|name| name == "ALL")
    });
    let keeps = (!keeps.is_empty()).then(|| {
        format!(
            "{} must set securityContext.capabilities.drop=[\"ALL\"]",
            containers(&keeps)
        )
    });
    let details: Vec<String> = keeps
        .into_iter()
        .chain(added(subject, &["NET_BIND_SERVICE"]))
        .collect();
    (!details.is_empty()).then(|| ("unrestricted capabilities", details.join("; ")))
}

fn host_namespaces(subject: &Subject<'_>) -> PolicyViolation {
    let shared: Vec<&str> = ["hostIPC", "hostNetwork", "hostPID"]
        .into_iter()
        .filter(|field| subject.spec[*field] == true)
        .collect();
    (!shared.is_empty()).then(|| {
        let details: Vec<String> = shared.iter().map(|field| format!("{field}=true")).collect();
        ("host namespaces", details.join(", "))
    })
}

fn volumes<'a>(subject: &'a Subject<'_>) -> impl Iterator<Item = (&'a str, &'a Value)> {
    subject.spec["volumes"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|v| (v["name"].as_str().unwrap_or(""), v))
}

fn host_path(subject: &Subject<'_>) -> PolicyViolation {
    let bad: Vec<&str> = volumes(subject)
        .filter(|(_, v)| v["hostPath"].is_object())
        .map(|(name, _)| name)
        .collect();
    (!bad.is_empty()).then(|| {
        (
            "hostPath volumes",
            format!(
                "{} {}",
                plural(bad.len(), "volume", "volumes"),
                quoted(&bad)
            ),
        )
    })
}

fn host_ports(subject: &Subject<'_>) -> PolicyViolation {
    let ports = |c: &Value| -> Vec<String> {
        let all = c["ports"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|port| port["hostPort"].as_i64());
        all.filter(|port| *port != 0)
            .map(|port| port.to_string())
            .collect()
    };
    let bad = subject.those(|c| !ports(c).is_empty());
    let numbers = sorted(subject.containers().flat_map(|(_, c)| ports(c)));
    (!bad.is_empty()).then(|| {
        let (uses, noun) = (
            plural(bad.len(), "uses", "use"),
            plural(numbers.len(), "hostPort", "hostPorts"),
        );
        (
            "hostPort",
            format!("{} {uses} {noun} {}", containers(&bad), numbers.join(", ")),
        )
    })
}

fn probe_hosts(subject: &Subject<'_>) -> PolicyViolation {
    let hosts = |c: &Value| -> Vec<String> {
        let handlers = [
            &c["livenessProbe"],
            &c["readinessProbe"],
            &c["startupProbe"],
            &c["lifecycle"]["postStart"],
            &c["lifecycle"]["preStop"],
        ];
        let all = handlers
            .into_iter()
            .flat_map(|handler| [&handler["httpGet"]["host"], &handler["tcpSocket"]["host"]]);
        all.filter_map(Value::as_str)
            .filter(|host| !host.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let mut bad = subject.those(|c| !hosts(c).is_empty());
    bad.sort();
    let all = sorted(subject.containers().flat_map(|(_, c)| hosts(c)));
    (!bad.is_empty()).then(|| {
        let noun = plural(
            all.len(),
            "probe or lifecycle host",
            "probe or lifecycle hosts",
        );
        (
            "probe or lifecycle host",
            format!(
                "{} {} {noun} {}",
                containers(&bad),
                plural(bad.len(), "uses", "use"),
                quoted(&all)
            ),
        )
    })
}

fn privileged(subject: &Subject<'_>) -> PolicyViolation {
    let bad = subject.those(|c| c["securityContext"]["privileged"] == true);
    (!bad.is_empty()).then(|| {
        (
            "privileged",
            format!(
                "{} must not set securityContext.privileged=true",
                containers(&bad)
            ),
        )
    })
}

fn proc_mount(subject: &Subject<'_>) -> PolicyViolation {
    let is_bad = |c: &Value| {
        c["securityContext"]["procMount"]
            .as_str()
            .is_some_and(|mount| mount != "Default")
    };
    let bad = subject.those(is_bad);
    let values = sorted(
        subject
            .values("/procMount")
            .into_iter()
            .filter(|mount| mount != "Default"),
    );
    (!bad.is_empty() && !subject.has_own_users()).then(|| {
        (
            "procMount",
            format!(
                "{} must not set securityContext.procMount to {}",
                containers(&bad),
                quoted(&values)
            ),
        )
    })
}

const VOLUMES: [&str; 9] = [
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
];

fn volume_types(subject: &Subject<'_>) -> PolicyViolation {
    let kind = |v: &Value| {
        v.as_object()
            .and_then(|map| map.keys().find(|key| *key != "name").cloned())
            .unwrap_or_else(|| "unknown".into())
    };
    let bad =
        || volumes(subject).filter(|(_, v)| !VOLUMES.iter().any(|allowed| v[*allowed].is_object()));
    let names = sorted(bad().map(|(name, _)| name.to_owned()));
    let types = sorted(bad().map(|(_, v)| kind(v)));
    (!names.is_empty()).then(|| {
        let (noun, uses) = (
            plural(names.len(), "volume", "volumes"),
            plural(names.len(), "uses", "use"),
        );
        let what = plural(
            types.len(),
            "restricted volume type",
            "restricted volume types",
        );
        (
            "restricted volume types",
            format!("{noun} {} {uses} {what} {}", quoted(&names), quoted(&types)),
        )
    })
}

fn non_root(subject: &Subject<'_>) -> PolicyViolation {
    if subject.has_own_users() {
        return None;
    }
    let who = subject.setters(|context| context["runAsNonRoot"] == false);
    let reason = "runAsNonRoot != true";
    if !who.is_empty() {
        return Some((
            reason,
            format!(
                "{} must not set securityContext.runAsNonRoot=false",
                who.join(" and ")
            ),
        ));
    }
    let unset = subject.those(|c| c["securityContext"]["runAsNonRoot"].is_null());
    (subject.spec["securityContext"]["runAsNonRoot"] != true && !unset.is_empty()).then(|| {
        (
            reason,
            format!(
                "pod or {} must set securityContext.runAsNonRoot=true",
                containers(&unset)
            ),
        )
    })
}

fn user_zero(subject: &Subject<'_>) -> PolicyViolation {
    let who = subject.setters(|context| context["runAsUser"] == 0);
    (!who.is_empty() && !subject.has_own_users()).then(|| {
        (
            "runAsUser=0",
            format!("{} must not set runAsUser=0", who.join(" and ")),
        )
    })
}

fn selinux(subject: &Subject<'_>) -> PolicyViolation {
    let newer = subject.minor >= 31;
    let is_bad = |kind: &str| {
        !matches!(
            kind,
            "" | "container_t" | "container_init_t" | "container_kvm_t"
        ) && (!newer || kind != "container_engine_t")
    };
    let set = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    let who = subject.setters(|context| {
        let options = &context["seLinuxOptions"];
        options["type"].as_str().is_some_and(is_bad)
            || set(&options["user"])
            || set(&options["role"])
    });
    if who.is_empty() {
        return None;
    }
    let types = sorted(
        subject
            .values("/seLinuxOptions/type")
            .into_iter()
            .filter(|kind| is_bad(kind)),
    );
    let mut details = Vec::new();
    if !types.is_empty() {
        details.push(format!(
            "{} {}",
            plural(types.len(), "type", "types"),
            quoted(&types)
        ));
    }
    for (path, text) in [
        ("/seLinuxOptions/user", "user may not be set"),
        ("/seLinuxOptions/role", "role may not be set"),
    ] {
        if subject.values(path).iter().any(|value| !value.is_empty()) {
            details.push(text.to_owned());
        }
    }
    Some((
        "seLinuxOptions",
        format!(
            "{} set forbidden securityContext.seLinuxOptions: {}",
            who.join(" and "),
            details.join("; ")
        ),
    ))
}

fn is_seccomp(kind: &str) -> bool {
    matches!(kind, "RuntimeDefault" | "Localhost")
}

fn seccomp(subject: &Subject<'_>) -> PolicyViolation {
    let who = subject.setters(|context| {
        context["seccompProfile"]["type"]
            .as_str()
            .is_some_and(|kind| !is_seccomp(kind))
    });
    let values = sorted(
        subject
            .values("/seccompProfile/type")
            .into_iter()
            .filter(|kind| !is_seccomp(kind)),
    );
    (!who.is_empty()).then(|| {
        (
            "seccompProfile",
            format!(
                "{} must not set securityContext.seccompProfile.type to {}",
                who.join(" and "),
                quoted(&values)
            ),
        )
    })
}

fn seccomp_restricted(subject: &Subject<'_>) -> PolicyViolation {
    if subject.is_windows() {
        return None;
    }
    let set = &subject.spec["securityContext"]["seccompProfile"]["type"];
    let unset = subject.those(|c| c["securityContext"]["seccompProfile"].is_null());
    seccomp(subject).or_else(|| {
        (!set.as_str().is_some_and(is_seccomp) && !unset.is_empty()).then(|| {
            let who = containers(&unset);
            ("seccompProfile", format!("pod or {who} must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\""))
        })
    })
}

/// Safe sysctls, with the minor version since which they are safe.
const SYSCTLS: [(&str, u32); 12] = [
    ("kernel.shm_rmid_forced", 0),
    ("net.ipv4.ip_local_port_range", 0),
    ("net.ipv4.tcp_syncookies", 0),
    ("net.ipv4.ping_group_range", 0),
    ("net.ipv4.ip_unprivileged_port_start", 0),
    ("net.ipv4.ip_local_reserved_ports", 27),
    ("net.ipv4.tcp_keepalive_time", 29),
    ("net.ipv4.tcp_fin_timeout", 29),
    ("net.ipv4.tcp_keepalive_intvl", 29),
    ("net.ipv4.tcp_keepalive_probes", 29),
    ("net.ipv4.tcp_rmem", 32),
    ("net.ipv4.tcp_wmem", 32),
];

fn sysctls(subject: &Subject<'_>) -> PolicyViolation {
    let all = subject.spec["securityContext"]["sysctls"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|s| s["name"].as_str());
    let bad: Vec<&str> = all
        .filter(|name| {
            !SYSCTLS
                .iter()
                .any(|(safe, since)| safe == name && *since <= subject.minor)
        })
        .collect();
    (!bad.is_empty()).then(|| ("forbidden sysctls", bad.join(", ")))
}

fn host_process(subject: &Subject<'_>) -> PolicyViolation {
    let who = subject.setters(|context| context["windowsOptions"]["hostProcess"] == true);
    (!who.is_empty()).then(|| {
        (
            "hostProcess",
            format!(
                "{} must not set securityContext.windowsOptions.hostProcess=true",
                who.join(" and ")
            ),
        )
    })
}
