//! Unsuitable configuration of a workload: memory limits, probes, outdated configuration, roles and names.

use super::finding::{Context, Diagnosis, all_in, line, owners};
use crate::waits::{FactLabel, PendingReason, RemedyKind};
use cluster::mounted;
use cluster_network::connectivity::ports_of;
use controller_runtime::load;
use k8s_model::pod::{ContainerStatus, Pod};
use k8s_model::quantity::Quantity;
use k8s_model::{Body, Kind, Object, ObjectRef, Str, sources};
use serde_json::Value;
use std::rc::Rc;

const MI: i64 = 1 << 20;
/// Maximum number of Pods checked for the version of a ConfigMap or Secret.
const MAX_PODS_ASKED: usize = 1_000;

/// Diagnoses a container killed for exceeding its memory limit.
pub fn out_of_memory(
    sim: &Context<'_>,
    object: &Rc<Object>,
    pod: &Pod,
    status: &ContainerStatus,
) -> Option<Diagnosis> {
    let ended = status
        .state
        .terminated
        .as_ref()
        .or(status.last_state.terminated.as_ref())?;
    let spec = pod
        .spec
        .containers
        .iter()
        .find(|container| container.name == status.name)
        .filter(|_| ended.reason == "OOMKilled")?;
    let limit = spec
        .resources
        .limits
        .get("memory")
        .or_else(|| pod.spec.resources.limits.get("memory"))?;
    let limit: Str = limit
        .as_str()
        .map_or_else(|| limit.to_string().into(), Str::from);
    let mut out = Diagnosis::new(
        object,
        PendingReason::OutOfMemory {
            container: status.name.clone(),
            limit: limit.clone(),
        },
    );
    out.count(FactLabel::ExitCode, ended.exit_code);
    out.count(FactLabel::Restarts, status.restart_count);
    out.at(
        FactLabel::LooksAgain,
        sim.tasks.next_kubelet_step(object.meta.uid),
    );
    out.since(sim, ended.finished_at);
    let used = load::memory(&sim.kubelets.loads.set, object, sim.store());
    let limited = Quantity::parse(&limit).map_or(0, |limit| limit.as_millis() / 1000);
    let enough = used
        .map_or(2 * limited, |used| used + used / 4)
        .max(limited + MI);
    let enough = [
        (enough.saturating_add(MI - 1) / MI).to_string().as_str(),
        "Mi",
    ]
    .concat();
    if let Some((top, steps)) = super::pods::changed(sim, object) {
        let set = line(
            "set resources",
            &top,
            &[" --containers=", &status.name, " --limits=memory=", &enough].concat(),
        );
        out.cure(
            RemedyKind::RaiseMemory,
            &status.name,
            &enough,
            &[vec![set], steps].concat(),
        );
    }
    Some(out)
}

/// Diagnoses a probe of a port on which nothing listens, if the Pod is not ready or restarts because of it.
pub fn misdirected(sim: &Context<'_>, object: &Rc<Object>, pod: &Pod) -> Option<Diagnosis> {
    let restarts = pod
        .status
        .container_statuses
        .iter()
        .map(|status| status.restart_count)
        .sum::<i32>();
    if pod.is_ready() && restarts == 0 {
        return None;
    }
    let (container, probe, port) = kubelet::misdirected(pod)?;
    let at = pod
        .spec
        .containers
        .iter()
        .position(|one| one.name == container)?;
    let mut out = Diagnosis::new(
        object,
        PendingReason::ProbePort {
            container: container.clone(),
            probe: probe.into(),
            port,
        },
    );
    let ports = ports_of(&pod.spec.containers);
    for port in &ports {
        out.word(FactLabel::Ports, &port.to_string());
    }
    out.count(FactLabel::Restarts, restarts);
    out.since(
        sim,
        pod.status
            .condition("Ready")
            .and_then(|condition| condition.last_transition_time),
    );
    let field = [probe, "Probe"].concat();
    let raw = &pod.spec.raw["containers"][at][&field];
    let way = ["httpGet", "tcpSocket", "grpc"]
        .into_iter()
        .find(|way| raw[*way].is_object());
    if let (Some((top, steps)), Some(way), Some(to)) =
        (super::pods::changed(sim, object), way, ports.first())
    {
        let path = [
            "/spec/template/spec/containers/",
            &at.to_string(),
            "/",
            &field,
            "/",
            way,
            "/port",
        ]
        .concat();
        let patch = [
            " --type=json -p '[{\"op\":\"replace\",\"path\":\"",
            &path,
            "\",\"value\":",
            &to.to_string(),
            "}]'",
        ]
        .concat();
        out.cure(
            RemedyKind::ProbePort,
            &container,
            &to.to_string(),
            &[vec![line("patch", &top, &patch)], steps].concat(),
        );
    }
    Some(out)
}

/// Diagnoses Pods whose environment, or a file mounted by `subPath`, has an earlier version of a ConfigMap or Secret.
pub fn old_version(sim: &Context<'_>, object: &Rc<Object>) -> Option<Diagnosis> {
    let server = sim.store();
    let key = object.key();
    let content = |object: &Object| {
        let Body::Other(body) = &object.body else {
            return (Value::Null, Value::Null);
        };
        (
            body.get("data").cloned().unwrap_or_default(),
            body.get("binaryData").cloned().unwrap_or_default(),
        )
    };
    let now = content(object);
    let has_old = |pod: &Object| {
        let Some(body) = pod
            .pod()
            .filter(|body| !body.is_terminal() && !pod.meta.is_deleting())
        else {
            return false;
        };
        (0..body.spec.containers.len()).any(|at| {
            let raw = &body.spec.raw["containers"][at];
            let named = sources::environment(raw)
                .iter()
                .any(|source| (source.kind, &source.name) == (key.kind, &key.name));
            let runs = body.status.container_statuses.iter().any(|status| {
                status.name == body.spec.containers[at].name && status.state.running.is_some()
            });
            named
                && runs
                && mounted::at_start(server, pod, at, &key).is_some_and(|old| content(&old) != now)
        })
    };
    let here = all_in(sim, Kind::Pod, &key.namespace).take(MAX_PODS_ASKED);
    let old: Vec<&Rc<Object>> = here.filter(|pod| has_old(pod)).collect();
    let first = old.first()?;
    let mut out = Diagnosis::new(object, PendingReason::OldConfig(old.len()));
    for pod in old.iter().take(3) {
        out.word(FactLabel::NearestPod, &pod.meta.name);
    }
    if let Some(top) = owners(sim, &first.key()).pop()
        && matches!(
            top.kind,
            Kind::Deployment | Kind::StatefulSet | Kind::DaemonSet
        )
    {
        out.cure(
            RemedyKind::Restart,
            &top.name,
            "",
            &[line("rollout restart", &top, "")],
        );
    }
    Some(out)
}

/// Diagnoses a binding whose role does not exist.
pub fn binding(sim: &Context<'_>, object: &Rc<Object>) -> Option<Diagnosis> {
    let Body::Other(body) = &object.body else {
        return None;
    };
    let role = body.get("roleRef")?;
    let kind = Kind::from_group_kind(
        role["apiGroup"].as_str().unwrap_or(""),
        role["kind"].as_str()?,
    )?;
    let name = role["name"].as_str()?;
    let namespace = if kind == Kind::Role {
        object.meta.namespace.as_str()
    } else {
        ""
    };
    let known = sim
        .store()
        .get(&ObjectRef::new(kind, namespace, name))
        .is_some();
    (!known).then(|| Diagnosis::new(object, PendingReason::RoleMissing(kind, name.into())))
}

/// Diagnoses a Service that exists in another namespace only.
pub fn elsewhere(sim: &Context<'_>, key: &ObjectRef) -> Option<Diagnosis> {
    let other = sim
        .store()
        .list(Kind::Service)
        .find(|service| service.meta.name == key.name && service.meta.namespace != key.namespace)?;
    let waits = PendingReason::ServiceElsewhere {
        service: key.name.clone(),
        namespace: other.meta.namespace.clone(),
    };
    Some(Diagnosis::of(key.clone(), waits))
}
