//! Pods that fail or are not ready, and nodes. Pods without a node are in `placement`.

use super::finding::{Context, Diagnosis, earlier_revision, flag, line, owner, owners};
use super::{config, placement, policy};
use crate::waits::{DecidingFact, FactLabel, PendingReason, RemedyKind};
use actions::Action;
use controller_runtime::heartbeats::Heartbeats;
use fault::Fault;
use i18n::msg;
use k8s_model::image::normalized_fault;
use k8s_model::node::Node;
use k8s_model::pod::{ContainerStatus, Pod, image_parts};
use k8s_model::workload::ReplicaSet;
use k8s_model::{Kind, Object, ObjectRef, Str};
use kubelet::{can_be_pulled, corrected, lack};
use projection::adapt::revision;
use std::rc::Rc;

pub fn pod(sim: &Context<'_>, object: &Rc<Object>) -> Option<Diagnosis> {
    let pod = object.pod()?;
    if pod.is_terminal() && !object.meta.is_deleting() {
        return if pod.status.phase == "Failed" {
            failed(sim, object, pod)
        } else {
            None
        };
    }
    if pod.node_name.is_empty() {
        return if object.meta.is_deleting() {
            held(object)
        } else {
            placement::unbound(sim, object, pod)
        };
    }
    if sim.kubelets.silent_since(&pod.node_name).is_some() {
        return silent(sim, object, pod);
    }
    if object.meta.is_deleting() {
        return held(object);
    }
    if let Some(found) = sources(sim, object, pod) {
        return Some(found);
    }
    let status = |list: &[ContainerStatus]| {
        list.iter()
            .find_map(|status| container(sim, object, pod, status))
    };
    let found = status(&pod.status.init_container_statuses)
        .or_else(|| status(&pod.status.container_statuses));
    // A container killed repeatedly by its probe is also in a crash loop.
    if found
        .as_ref()
        .is_none_or(|found| matches!(found.waits, PendingReason::Crashes { .. }))
        && let Some(found) = config::misdirected(sim, object, pod)
    {
        return Some(found);
    }
    if found.is_some() {
        return found;
    }
    not_ready(sim, object, pod).or_else(|| policy::refused_eviction(sim, object))
}

/// Diagnoses a Pod whose containers have ended, held by a finalizer.
fn held(object: &Object) -> Option<Diagnosis> {
    let gone = object
        .pod()
        .is_some_and(|pod| pod.is_terminal() || pod.node_name.is_empty());
    super::finding::held_by_finalizer(object).filter(|_| gone)
}

fn failed(sim: &Context<'_>, object: &Rc<Object>, pod: &Pod) -> Option<Diagnosis> {
    // The controller has replaced it, or will; the failed Pod only remains for inspection.
    if object.meta.controller().is_some() {
        return None;
    }
    let ended = pod
        .status
        .container_statuses
        .iter()
        .find_map(|status| status.state.terminated.as_ref());
    let reason = if pod.status.reason.is_empty() {
        ended.map(|ended| ended.reason.as_str()).unwrap_or("Error")
    } else {
        &pod.status.reason
    };
    let mut out = Diagnosis::new(object, PendingReason::PodFailed(reason.into()));
    if let Some(ended) = ended {
        out.count(FactLabel::ExitCode, ended.exit_code);
        out.since(sim, ended.finished_at);
    }
    out.word(FactLabel::Message, &pod.status.message);
    Some(out)
}

/// Diagnoses a Pod whose kubelet does not respond.
fn silent(sim: &Context<'_>, object: &Object, pod: &Pod) -> Option<Diagnosis> {
    let node = ObjectRef::new(Kind::Node, "", &pod.node_name);
    if sim.store().get(&node).is_none() {
        let mut out = Diagnosis::new(object, PendingReason::NodeMissing(pod.node_name.clone()));
        out.cure(
            RemedyKind::AddNode,
            &pod.node_name,
            "",
            &[Fault::add_node(&pod.node_name).into()],
        );
        return Some(out);
    }
    let mut out = Diagnosis::new(object, PendingReason::NodeSilent(pod.node_name.clone()));
    // The Pod has not waited since the last heartbeat: until the node was marked, all seemed well.
    out.at(
        FactLabel::HeardAt,
        sim.kubelets.silent_since(&pod.node_name),
    );
    let ready = pod
        .status
        .condition("Ready")
        .filter(|ready| ready.status != "True");
    out.since(sim, ready.and_then(|ready| ready.last_transition_time));
    out.cure(
        RemedyKind::NodeUp,
        &pod.node_name,
        "",
        &[Fault::node_up(&pod.node_name).into()],
    );
    let force = line("delete", &object.key(), " --force --grace-period=0");
    out.cure(RemedyKind::ForceDelete, &object.meta.name, "", &[force]);
    out.waits_for = Some(node);
    Some(out)
}

/// Maximum number of objects checked for waiting on a missing one.
const MAX_OBJECTS_ASKED: usize = 1_000;

/// Diagnoses a missing ConfigMap, Secret or service account by the first object that waits for it.
pub fn waits_for(sim: &Context<'_>, key: &ObjectRef) -> Option<Diagnosis> {
    let near = |kind: Kind| super::finding::all_in(sim, kind, &key.namespace);
    match key.kind {
        Kind::ConfigMap | Kind::Secret => {
            let lacks = |pod: &&Rc<Object>| {
                lack(pod, sim.store()).is_some_and(|lack| {
                    (lack.source.kind, &lack.source.name) == (key.kind, &key.name)
                })
            };
            let unready =
                near(Kind::Pod).filter(|object| object.pod().is_some_and(|pod| !pod.is_ready()));
            unready
                .take(MAX_OBJECTS_ASKED)
                .filter(lacks)
                .find_map(|pod| sources(sim, pod, pod.pod()?))
        }
        // Without it no Pod is created: the controllers wait.
        Kind::ServiceAccount => {
            let names = |object: &&Rc<Object>| {
                k8s_model::sources::of(object)
                    .iter()
                    .any(|one| one.kind == Kind::ServiceAccount && one.name == key.name)
            };
            let makers = [
                Kind::ReplicaSet,
                Kind::StatefulSet,
                Kind::DaemonSet,
                Kind::Job,
            ]
            .into_iter()
            .flat_map(near);
            makers
                .take(MAX_OBJECTS_ASKED)
                .filter(names)
                .find_map(|object| sim.diagnose(&object.key()))
        }
        Kind::Service => config::elsewhere(sim, key),
        _ => None,
    }
}

/// Diagnoses a ConfigMap or Secret, or a key of it, without which a container or a volume cannot be set up.
fn sources(sim: &Context<'_>, object: &Rc<Object>, pod: &Pod) -> Option<Diagnosis> {
    let lack = lack(object, sim.store())?;
    let (kind, name) = (lack.source.kind, &lack.source.name);
    let of: Str = [kind.name(), " ", name].concat().into();
    let waits = match &lack.source.key {
        Some(key) if lack.only_key => PendingReason::KeyMissing {
            of: of.clone(),
            key: key.clone(),
        },
        _ => PendingReason::SourceMissing(of.clone()),
    };
    let mut out = Diagnosis::new(object, waits);
    out.word(
        FactLabel::Container,
        lack.container.as_deref().unwrap_or(""),
    );
    out.word(FactLabel::Volume, lack.volume.as_deref().unwrap_or(""));
    out.word(FactLabel::Message, &lack.words);
    out.at(
        FactLabel::LooksAgain,
        sim.tasks.next_kubelet_step(object.meta.uid),
    );
    out.since(sim, pod.status.start_time);
    let source = ObjectRef::new(kind, &object.meta.namespace, name);
    if lack.only_key {
        let part = if kind == Kind::Secret {
            "stringData"
        } else {
            "data"
        };
        let pairs: Vec<String> = lack
            .missing
            .iter()
            .map(|key| ["\"", key, "\":\"value\""].concat())
            .collect();
        let patch = [
            " --type=merge -p '{\"",
            part,
            "\":{",
            &pairs.join(","),
            "}}'",
        ]
        .concat();
        out.cure(
            RemedyKind::AddKey,
            &of,
            &lack.missing.join(", "),
            &[line("patch", &source, &patch)],
        );
    } else {
        let verb = if kind == Kind::Secret {
            "kubectl create secret generic "
        } else {
            "kubectl create configmap "
        };
        let literals: String = lack
            .missing
            .iter()
            .map(|key| [" --from-literal=", key, "=value"].concat())
            .collect();
        out.cure(
            RemedyKind::MakeSource,
            &of,
            "",
            &[Action::kubectl(
                [verb, name, &literals, &flag(&source)].concat(),
            )],
        );
    }
    undo(sim, object, &mut out);
    Some(out)
}

/// Diagnoses a container that cannot start or keeps failing.
fn container(
    sim: &Context<'_>,
    object: &Rc<Object>,
    pod: &Pod,
    status: &ContainerStatus,
) -> Option<Diagnosis> {
    let waiting = status.state.waiting.as_ref();
    if let Some(waiting) = waiting.filter(|waiting| {
        matches!(
            &*waiting.reason,
            "ErrImagePull" | "ImagePullBackOff" | "InvalidImageName"
        )
    }) {
        let mut out = Diagnosis::new(object, PendingReason::Image(status.image.to_str()));
        out.word(FactLabel::Container, &status.name);
        out.word(FactLabel::Message, &waiting.message);
        // After ErrImagePull the kubelet first reports the back-off: only then is the time of its retry known.
        if &*waiting.reason != "ErrImagePull" {
            out.at(
                FactLabel::LooksAgain,
                sim.tasks.next_kubelet_step(object.meta.uid),
            );
        }
        out.since(sim, pod.status.start_time);
        image(sim, object, pod, status, &mut out);
        return Some(out);
    }
    let ended = status
        .state
        .terminated
        .as_ref()
        .or(status.last_state.terminated.as_ref())?;
    // A container that ended successfully, or once, or has recovered since, is no problem.
    if waiting.is_none() && status.state.terminated.is_none() || pod.is_ready() {
        return None;
    }
    if ended.exit_code == 0 && waiting.is_none() {
        return None;
    }
    if let Some(found) = config::out_of_memory(sim, object, pod, status) {
        return Some(found);
    }
    let mut out = Diagnosis::new(
        object,
        PendingReason::Crashes {
            container: status.name.clone(),
            code: ended.exit_code,
        },
    );
    out.count(FactLabel::ExitCode, ended.exit_code);
    out.count(FactLabel::Restarts, status.restart_count);
    out.at(
        FactLabel::LooksAgain,
        sim.tasks.next_kubelet_step(object.meta.uid),
    );
    out.since(sim, ended.finished_at);
    undo(sim, object, &mut out);
    offer_stop_exiting(sim, object, &status.name, &mut out);
    if out.remedies.is_empty() {
        again(sim, object, &mut out);
    }
    Some(out)
}

/// Offers a rollback, if there is an earlier revision.
fn undo(sim: &Context<'_>, object: &Rc<Object>, out: &mut Diagnosis) {
    let Some(top) = owners(sim, &object.key()).pop().filter(|top| {
        matches!(
            top.kind,
            Kind::Deployment | Kind::StatefulSet | Kind::DaemonSet
        )
    }) else {
        return;
    };
    if sim
        .store()
        .get(&top)
        .is_none_or(|top| earlier_revision(sim, top).is_none())
    {
        return;
    }
    let mut steps = vec![line("rollout undo", &top, "")];
    // The StatefulSet controller waits for the broken Pod and does not replace it.
    let deleted = if top.kind == Kind::StatefulSet {
        object.meta.name.as_str()
    } else {
        ""
    };
    if !deleted.is_empty() {
        steps.push(line("delete", &object.key(), " --wait=false"));
    }
    out.cure(RemedyKind::Undo, &top.name, deleted, &steps);
}

/// Returns the owner whose template can be changed, and the further steps needed for the Pod to be replaced.
pub(super) fn changed(sim: &Context<'_>, object: &Rc<Object>) -> Option<(ObjectRef, Vec<Action>)> {
    let top = owners(sim, &object.key()).pop()?;
    match top.kind {
        Kind::Deployment | Kind::DaemonSet => Some((top, Vec::new())),
        Kind::StatefulSet | Kind::ReplicaSet | Kind::ReplicationController => {
            Some((top, vec![line("delete", &object.key(), " --wait=false")]))
        }
        _ => None,
    }
}

/// Offers an existing image: the tag that was probably meant.
fn image(
    sim: &Context<'_>,
    object: &Rc<Object>,
    pod: &Pod,
    status: &ContainerStatus,
    out: &mut Diagnosis,
) {
    undo(sim, object, out);
    let wanted = pod
        .spec
        .containers
        .iter()
        .chain(&pod.spec.init_containers)
        .find(|container| container.name == status.name);
    let Some(wanted) = wanted else { return };
    let (name, tag) = image_parts(&wanted.image);
    // The mistake in the documentation's example: 1.161 for 1.16.1.
    let better = match tag.split_once('.') {
        _ if normalized_fault(&wanted.image).is_some() => Some(wanted.image.to_ascii_lowercase()),
        Some((major, minor)) if minor.len() == 3 && minor.bytes().all(|b| b.is_ascii_digit()) => {
            Some([name, ":", major, ".", &minor[..2], ".", &minor[2..]].concat())
        }
        _ => corrected(&wanted.image),
    };
    let better = better.filter(|image| can_be_pulled(image));
    let (key, mut steps) = match changed(sim, object) {
        Some((top, steps)) => (top, steps),
        None if object.meta.controller().is_none() => (object.key(), Vec::new()),
        None => return,
    };
    let bare = || Some(name.to_string()).filter(|image| can_be_pulled(image));
    let Some(better) = better
        .or_else(|| earlier(sim, &key, &wanted.name))
        .or_else(bare)
    else {
        return;
    };
    let rest = [" ", &wanted.name, "=", &better].concat();
    steps.insert(0, line("set image", &key, &rest));
    out.cure(RemedyKind::SetImage, &better, "", &steps);
}

/// Returns the image of this container in the newest revision of a Deployment that could be pulled.
fn earlier(sim: &Context<'_>, deployment: &ObjectRef, container: &str) -> Option<String> {
    let sets = sim
        .informers
        .controller_manager
        .cache
        .owned_of_kind(sim.store().get(deployment)?.meta.uid, Kind::ReplicaSet);
    let had = |set: &Rc<Object>| {
        let spec = &set.get::<ReplicaSet>()?.spec.template.spec;
        let image = &spec
            .containers
            .iter()
            .chain(&spec.init_containers)
            .find(|other| other.name == *container)?
            .image;
        can_be_pulled(image).then(|| (revision(set), image.to_string()))
    };
    sets.filter_map(had)
        .max_by_key(|(revision, _)| *revision)
        .map(|(_, image)| image)
}

/// Offers to keep a container from ending: without the annotation, or with the image's own command.
fn offer_stop_exiting(
    sim: &Context<'_>,
    object: &Rc<Object>,
    container: &Str,
    out: &mut Diagnosis,
) {
    let Some((top, steps)) = changed(sim, object) else {
        return;
    };
    let patch = |change: &str| {
        let patch = line(
            "patch",
            &top,
            &[" -p '{\"spec\":{\"template\":", change, "}}'"].concat(),
        );
        std::iter::once(patch)
            .chain(steps.iter().cloned())
            .collect::<Vec<Action>>()
    };
    let says = |name: &str| object.meta.annotation(name).is_some();
    if says("loopscope.dev/exit-after") {
        out.cure(
            RemedyKind::NoExit,
            container,
            "",
            &patch("{\"metadata\":{\"annotations\":{\"loopscope.dev/exit-after\":null}}}"),
        );
    }
    let own = [
        "{\"spec\":{\"containers\":[{\"name\":\"",
        container,
        "\",\"command\":null,\"args\":null}]}}",
    ]
    .concat();
    let commanded = object.pod().is_some_and(|pod| {
        pod.spec
            .containers
            .iter()
            .any(|c| c.name == *container && !(c.command.is_empty() && c.args.is_empty()))
    });
    if commanded {
        out.cure(RemedyKind::OwnCommand, container, "", &patch(&own));
    }
}

/// Offers to replace this Pod by a new one.
fn again(sim: &Context<'_>, object: &Rc<Object>, out: &mut Diagnosis) {
    if owner(sim, object).is_some_and(|owner| owner.kind != Kind::Job) {
        out.cure(
            RemedyKind::DeletePod,
            &object.meta.name,
            "",
            &[line("delete", &object.key(), " --wait=false")],
        );
    }
}

/// Diagnoses a Pod whose containers all run, one of them not ready.
fn not_ready(sim: &Context<'_>, object: &Rc<Object>, pod: &Pod) -> Option<Diagnosis> {
    let status = pod
        .status
        .container_statuses
        .iter()
        .find(|status| status.state.running.is_some() && !status.ready)?;
    let spec = pod
        .spec
        .containers
        .iter()
        .find(|container| container.name == status.name)?;
    // It will become ready by itself.
    if sim.tasks.next_kubelet_step(object.meta.uid).is_some() {
        return None;
    }
    let mut out = Diagnosis::new(object, PendingReason::NotReady(status.name.clone()));
    let probe = if spec.readiness_probe.is_some() {
        msg::probe_not_succeeded()
    } else {
        msg::probe_none()
    };
    out.facts.push(DecidingFact::Said(FactLabel::Probe, probe));
    out.since(
        sim,
        pod.status
            .condition("Ready")
            .and_then(|condition| condition.last_transition_time),
    );
    if object.meta.namespace == "default" {
        out.cure(
            RemedyKind::MakeReady,
            &object.meta.name,
            "",
            &[Fault::ready(&object.meta.name, true).into()],
        );
    }
    undo(sim, object, &mut out);
    if object
        .meta
        .annotation("loopscope.dev/never-ready")
        .is_some()
        && let Some((top, mut steps)) = changed(sim, object)
    {
        let rest = " -p '{\"spec\":{\"template\":{\"metadata\":{\"annotations\":{\"loopscope.dev/never-ready\":null}}}}}'";
        steps.insert(0, line("patch", &top, rest));
        out.cure(RemedyKind::Annotated, &object.meta.name, "", &steps);
    } else {
        again(sim, object, &mut out);
    }
    Some(out)
}

pub fn node(sim: &Context<'_>, object: &Rc<Object>) -> Option<Diagnosis> {
    let node: &Node = object.get()?;
    let silent = sim.kubelets.silent_since(&object.meta.name);
    let ready = node
        .status
        .conditions
        .iter()
        .find(|condition| condition.kind == "Ready");
    if silent.is_none() && node.is_ready() {
        return policy::drained(sim, object);
    }
    if node.is_ready() {
        let mut out = Diagnosis::new(object, PendingReason::NodeSilentUnnoticed);
        out.at(FactLabel::HeardAt, silent);
        out.at(FactLabel::MarkedAt, sim.manager.next_requeue(&object.key()));
        power_on(object, &mut out);
        return Some(out);
    }
    let mut out = Diagnosis::new(object, PendingReason::NodeNotReady);
    out.at(FactLabel::HeardAt, silent);
    if let Some(ready) = ready {
        out.word(FactLabel::Message, &ready.message);
        out.since(sim, ready.last_transition_time);
    }
    let pods = sim.scheduler.pods_on(&object.meta.name).count();
    out.count(FactLabel::Now, pods as i64);
    power_on(object, &mut out);
    Some(out)
}

fn power_on(node: &Object, out: &mut Diagnosis) {
    out.cure(
        RemedyKind::NodeUp,
        &node.meta.name,
        "",
        &[Fault::node_up(&node.meta.name).into()],
    );
}
