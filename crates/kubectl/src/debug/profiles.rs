//! Debug profiles: changes of the debug container and of its Pod.
//!
//! Models `kubectl/pkg/cmd/debug/profiles.go`.

use super::super::parse::Args;
use serde_json::{Value, json};

/// Style of debugging.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DebugStyle {
    /// Ephemeral container in a running Pod.
    Ephemeral,
    /// Copy of a Pod.
    Copy,
    /// Pod on a node.
    Node,
}

/// Privileges of the debug container.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Profile {
    Legacy,
    General,
    Baseline,
    Restricted,
    NetAdmin,
    SysAdmin,
}

impl Profile {
    /// Parses `netadmin`.
    pub fn named(word: &str) -> Option<Profile> {
        Some(match word {
            "legacy" => Profile::Legacy,
            "general" => Profile::General,
            "baseline" => Profile::Baseline,
            "restricted" => Profile::Restricted,
            "netadmin" => Profile::NetAdmin,
            "sysadmin" => Profile::SysAdmin,
            _ => return None,
        })
    }

    /// Applies the profile to a Pod and its container of this name.
    pub fn apply(self, pod: &mut Value, name: &str, style: DebugStyle, args: &Args) {
        if style == DebugStyle::Copy {
            self.reduce(pod, args);
        }
        if style == DebugStyle::Node
            && matches!(
                self,
                Profile::Legacy | Profile::General | Profile::NetAdmin | Profile::SysAdmin
            )
        {
            ["hostNetwork", "hostPID", "hostIPC"]
                .iter()
                .for_each(|field| pod["spec"][*field] = true.into());
        }
        let mounts = style == DebugStyle::Node
            && matches!(self, Profile::Legacy | Profile::General | Profile::SysAdmin);
        if mounts {
            add(
                &mut pod["spec"]["volumes"],
                json!({"name": "host-root", "hostPath": {"path": "/"}}),
            );
        }
        let Some(container) = container(pod, name) else {
            return;
        };
        if mounts {
            add(
                &mut container["volumeMounts"],
                json!({"mountPath": "/host", "name": "host-root"}),
            );
        }
        let clear = |container: &mut Value| {
            drop(
                container
                    .as_object_mut()
                    .map(|fields| fields.remove("securityContext")),
            )
        };
        match self {
            Profile::Legacy => {}
            Profile::General if style == DebugStyle::Node => clear(container),
            Profile::General => allow(container, &["SYS_PTRACE"]),
            Profile::NetAdmin => allow(container, &["NET_ADMIN", "NET_RAW"]),
            Profile::SysAdmin => container["securityContext"]["privileged"] = true.into(),
            Profile::Baseline => clear(container),
            Profile::Restricted => {
                container["securityContext"] = json!({"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]},
                    "runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}});
            }
        }
    }

    /// Removes fields that would make a copy match Services and ReplicaSets, or end it during debugging.
    fn reduce(self, pod: &mut Value, args: &Args) {
        let remove = |of: &mut Value, field: &str| {
            drop(of.as_object_mut().map(|fields| fields.remove(field)))
        };
        if self == Profile::Legacy {
            return remove(&mut pod["metadata"], "labels");
        }
        for (flag, field) in [
            ("keep-labels", "labels"),
            ("keep-annotations", "annotations"),
        ] {
            if !args.on(flag) {
                remove(&mut pod["metadata"], field);
            }
        }
        for container in pod["spec"]["containers"]
            .as_array_mut()
            .into_iter()
            .flatten()
        {
            let probes = [
                ("keep-liveness", "livenessProbe"),
                ("keep-readiness", "readinessProbe"),
                ("keep-startup", "startupProbe"),
            ];
            probes
                .iter()
                .filter(|(flag, _)| !args.on(flag))
                .for_each(|(_, field)| remove(container, field));
        }
        if args
            .get("keep-init-containers")
            .is_some_and(|keep| keep == "false")
        {
            remove(&mut pod["spec"], "initContainers");
        }
        if pod["spec"]["shareProcessNamespace"].is_null() {
            pod["spec"]["shareProcessNamespace"] = true.into();
        }
    }
}

/// Returns the container of this name in any list.
pub fn container<'p>(pod: &'p mut Value, name: &str) -> Option<&'p mut Value> {
    let lists = ["initContainers", "containers", "ephemeralContainers"];
    let has = |list: &&str| {
        pod["spec"][*list]
            .as_array()
            .is_some_and(|all| all.iter().any(|one| one["name"] == name))
    };
    let list = lists.into_iter().find(has)?;
    pod["spec"][list]
        .as_array_mut()?
        .iter_mut()
        .find(|one| one["name"] == name)
}

fn allow(container: &mut Value, capabilities: &[&str]) {
    let added = &mut container["securityContext"]["capabilities"]["add"];
    capabilities
        .iter()
        .for_each(|capability| add(added, (*capability).into()));
}

fn add(list: &mut Value, item: Value) {
    match list {
        Value::Array(items) => items.push(item),
        other => *other = json!([item]),
    }
}
