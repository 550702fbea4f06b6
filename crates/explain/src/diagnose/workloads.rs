//! Workloads that are stuck, waiting, or held up.

use super::finding::{Context, Diagnosis, line};
use super::{held_up, security};
use crate::waits::{DecidingFact, FactLabel, PendingReason, RemedyKind};
use actions::Action;
use apiserver::{Cause, ExceededQuota};
use cluster::refusals::{daemon_refusals, pod_refusal};
use i18n::msg;
use k8s_model::daemonset::DaemonSet;
use k8s_model::pod::Pod;
use k8s_model::quantity::Quantity;
use k8s_model::workload::{Condition, Deployment, ReplicaSet, StatefulSet};
use k8s_model::{Body, Kind, Object, ObjectRef, Str, Uid};
use projection::adapt::{revision, status};
use projection::model::PodState;
use std::rc::Rc;

/// Maximum number of unready Pods examined.
const MAX_PODS_EXAMINED: usize = 1_000;
/// Maximum number of Pods skipped in search of unready ones.
const MAX_PODS_SKIPPED: usize = 20_000;

/// Returns the diagnosis of an owner's worst Pod: failing ones before waiting ones. `leaving`: terminating Pods count too: a ReplicaSet
/// does not wait for them, a DaemonSet does.
pub fn stuck(sim: &Context<'_>, owner: Uid, leaving: bool) -> Option<Diagnosis> {
    let mut all: Vec<(bool, &Rc<Object>)> = Vec::new();
    let well =
        |pod: &&Rc<Object>| !pod.meta.is_deleting() && pod.pod().is_some_and(|pod| pod.is_ready());
    // The number of unready Pods is known: the scan ends after the last.
    let most = sim
        .informers
        .controller_manager
        .cache
        .unready_pods(owner)
        .map_or(MAX_PODS_EXAMINED, |unready| unready.min(MAX_PODS_EXAMINED));
    let unwell = sim
        .informers
        .controller_manager
        .cache
        .owned_of_kind(owner, Kind::Pod)
        .take(MAX_PODS_SKIPPED)
        .filter(|pod| !well(pod))
        .take(most);
    for pod in unwell.filter(|pod| leaving || !pod.meta.is_deleting()) {
        let (state, _) = status(pod);
        // Healthy and completed Pods need no diagnosis.
        if !matches!(state, PodState::Ready | PodState::Succeeded) {
            all.push((state != PodState::Failed, pod));
        }
    }
    all.sort_by_key(|(later, _)| *later);
    // Pods of one template mostly have the same problem: the first few suffice.
    all.iter()
        .take(8)
        .find_map(|(_, pod)| sim.diagnose(&pod.key()))
}

/// Adds a Pod's diagnosis: the object waits for the Pod, and the Pod's remedies apply.
pub fn follow(out: &mut Diagnosis, pod: Option<Diagnosis>) {
    if let Some(pod) = pod {
        out.since = out.since.or(pod.since);
        out.waits_for = Some(pod.object);
        for remedy in pod.remedies {
            out.cure(remedy.cure, &remedy.name, &remedy.more, &remedy.steps);
        }
    }
}

fn failure(conditions: &[Condition]) -> Option<&Condition> {
    conditions
        .iter()
        .find(|condition| condition.kind == "ReplicaFailure" && condition.status == "True")
}

/// Diagnoses a workload with `replicas` desired and `have` existing Pods whose Pods the API server refuses.
fn refused(
    sim: &Context<'_>,
    object: &Object,
    condition: Option<&Condition>,
    replicas: i32,
    have: i32,
) -> Option<Diagnosis> {
    let refusal = pod_refusal(&sim.server, object);
    let waits = match (&refusal, condition) {
        (None, None) => return None,
        (None, Some(_)) => PendingReason::RefusedBefore,
        (Some(error), _) => match error.cause.as_deref() {
            Some(Cause::Quota(quota)) => {
                return Some(over_quota(sim, object, condition, quota, (replicas, have)));
            }
            Some(Cause::PodSecurity(level)) => PendingReason::Insecure(level.clone()),
            _ => PendingReason::Refused(error.message.as_str().into()),
        },
    };
    let mut out = Diagnosis::new(object, waits);
    if let PendingReason::Insecure(level) = &out.waits.clone() {
        security::secured(sim, object, level, &mut out);
    }
    if let Some(message) = refusal
        .map(|error| error.message)
        .or_else(|| condition.map(|condition| condition.message.to_string()))
    {
        out.word(FactLabel::Message, &message);
    }
    out.since(
        sim,
        condition.and_then(|condition| condition.last_transition_time),
    );
    out.at(
        FactLabel::LooksAgain,
        sim.manager.next_requeue(&object.key()),
    );
    Some(out)
}

/// Diagnoses a quota without room for the Pods of a workload.
fn over_quota(
    sim: &Context<'_>,
    object: &Object,
    condition: Option<&Condition>,
    quota: &ExceededQuota,
    (replicas, have): (i32, i32),
) -> Diagnosis {
    let text = |amount: Quantity| Str::from(amount.to_string());
    let Some(first) = quota.resources.first() else {
        return Diagnosis::new(object, PendingReason::RefusedBefore);
    };
    let (used, hard) = (text(first.used), text(first.hard));
    let waits = PendingReason::Quota {
        name: quota.name.clone(),
        resource: first.name.as_str().into(),
        used: used.clone(),
        hard: hard.clone(),
    };
    let mut out = Diagnosis::new(object, waits);
    out.word(FactLabel::Message, &quota.to_string());
    out.since(
        sim,
        condition.and_then(|condition| condition.last_transition_time),
    );
    out.at(
        FactLabel::LooksAgain,
        sim.manager.next_requeue(&object.key()),
    );
    out.facts.push(DecidingFact::Said(
        FactLabel::Used,
        msg::used_of(&first.name, used, &hard),
    ));
    // The quota that would admit all missing Pods.
    let missing = (replicas - have).max(1);
    let enough: Vec<(String, String)> = quota
        .resources
        .iter()
        .map(|one| {
            (
                one.name.clone(),
                one.used
                    .plus(one.requested.times(missing.into()))
                    .to_string(),
            )
        })
        .collect();
    let hard: Vec<String> = enough
        .iter()
        .map(|(name, limit)| ["\"", name, "\":\"", limit, "\""].concat())
        .collect();
    let rest = [
        " --type=merge -p '{\"spec\":{\"hard\":{",
        &hard.join(","),
        "}}}'",
    ]
    .concat();
    let key = ObjectRef::new(Kind::ResourceQuota, &object.meta.namespace, &quota.name);
    let more = enough
        .iter()
        .map(|(name, limit)| [name, " ", limit].concat())
        .collect::<Vec<_>>()
        .join(", ");
    let own = super::finding::owners(sim, &object.key())
        .pop()
        .unwrap_or_else(|| object.key());
    out.cure(
        RemedyKind::RaiseQuota,
        &quota.name,
        &more,
        &[line("patch", &key, &rest)],
    );
    if matches!(
        own.kind,
        Kind::Deployment | Kind::StatefulSet | Kind::ReplicaSet | Kind::ReplicationController
    ) && replicas > have
    {
        let fewer = [" --replicas=", &have.to_string()].concat();
        out.cure(
            RemedyKind::LeaveOne,
            &own.name,
            &have.to_string(),
            &[line("scale", &own, &fewer)],
        );
    }
    out.waits_for = Some(key);
    out
}

pub fn deployment(sim: &Context<'_>, object: &Rc<Object>) -> Option<Diagnosis> {
    let body: &Deployment = object.get()?;
    let (spec, status) = (&body.spec, &body.status);
    let desired = spec.replicas;
    let mut sets: Vec<&Rc<Object>> = sim
        .informers
        .controller_manager
        .cache
        .owned_of_kind(object.meta.uid, Kind::ReplicaSet)
        .collect();
    sets.sort_by_key(|set| revision(set));
    let newest = sets.last().copied();
    if let Some(condition) = failure(&status.conditions) {
        let blocked = sets.iter().rev().find(|set| {
            set.get::<ReplicaSet>()
                .is_some_and(|set| failure(&set.status.conditions).is_some())
        });
        let mut out = refused(sim, object, Some(condition), desired, status.replicas)?;
        if let Some(set) = blocked {
            // The ReplicaSet retries at a time of its own.
            out.facts
                .retain(|fact| !matches!(fact, DecidingFact::At(FactLabel::LooksAgain, _)));
            out.at(FactLabel::LooksAgain, sim.manager.next_requeue(&set.key()));
            out.waits_for = Some(set.key());
        }
        return Some(out);
    }
    if spec.paused && status.updated_replicas != desired {
        let mut out = Diagnosis::new(object, PendingReason::Paused);
        out.count(FactLabel::Updated, status.updated_replicas);
        out.count(FactLabel::Desired, desired);
        out.since(
            sim,
            status
                .condition("Progressing")
                .and_then(|condition| condition.last_update_time),
        );
        out.cure(
            RemedyKind::Resume,
            &object.meta.name,
            "",
            &[line("rollout resume", &object.key(), "")],
        );
        return Some(out);
    }
    let old = status.replicas - status.updated_replicas;
    if status.updated_replicas >= desired && status.available_replicas >= desired && old <= 0 {
        return None;
    }
    let progress = status
        .condition("Progressing")
        .filter(|condition| condition.status == "False");
    // Only Recreate waits for the old Pods; in a rolling update terminating Pods count for no limit.
    let mut worst = newest.and_then(|set| stuck(sim, set.meta.uid, false));
    if worst.is_none() && spec.strategy.kind == "Recreate" {
        worst = sets
            .iter()
            .rev()
            .find_map(|set| stuck(sim, set.meta.uid, true));
    }
    if worst.is_none() {
        worst = newest.and_then(|set| held_up::held_up(sim, set));
    }
    if worst.is_none() && progress.is_none() {
        return None;
    }
    let ready = newest
        .and_then(|set| set.get::<ReplicaSet>())
        .map_or(0, |set| set.status.ready_replicas);
    let mut out = Diagnosis::new(
        object,
        match progress {
            Some(_) => PendingReason::Deadline(spec.progress_deadline_seconds.unwrap_or(600)),
            None if old > 0 => PendingReason::Rollout {
                updated: ready,
                desired,
            },
            None => PendingReason::Pods {
                ready: status.ready_replicas,
                desired,
            },
        },
    );
    out.since(
        sim,
        progress.and_then(|condition| condition.last_transition_time),
    );
    if old > 0 && spec.strategy.kind != "Recreate" {
        let (most, fewer) = body.limits();
        out.count(FactLabel::Updated, status.updated_replicas);
        out.count(FactLabel::Old, old);
        out.count(FactLabel::Available, status.available_replicas);
        out.count(FactLabel::AtLeast, (i64::from(desired) - fewer).max(0));
        out.count(FactLabel::Now, status.replicas);
        out.count(FactLabel::AtMost, i64::from(desired) + most);
    } else {
        out.count(FactLabel::Desired, desired);
        out.count(FactLabel::Ready, status.ready_replicas);
    }
    // Via the ReplicaSet, which links its Pod; it does not wait for a terminating one.
    let stays = |pod: &Diagnosis| {
        sim.store()
            .get(&pod.object)
            .filter(|pod| pod.kind == Kind::Pod && !pod.meta.is_deleting())
    };
    let through = worst
        .as_ref()
        .and_then(stays)
        .and_then(|pod| super::finding::owner(sim, pod))
        .map(|set| set.key());
    follow(&mut out, worst);
    out.waits_for = through.or(out.waits_for);
    Some(out)
}

pub fn replica_set(sim: &Context<'_>, object: &Rc<Object>) -> Option<Diagnosis> {
    let Body::ReplicaSet(body) = &object.body else {
        return None;
    };
    if let Some(condition) = failure(&body.status.conditions) {
        return refused(
            sim,
            object,
            Some(condition),
            body.spec.replicas,
            body.status.replicas,
        );
    }
    if body.status.ready_replicas >= body.spec.replicas {
        return None;
    }
    let worst = stuck(sim, object.meta.uid, false)?;
    let mut out = Diagnosis::new(
        object,
        PendingReason::Pods {
            ready: body.status.ready_replicas,
            desired: body.spec.replicas,
        },
    );
    out.count(FactLabel::Desired, body.spec.replicas);
    out.count(FactLabel::Ready, body.status.ready_replicas);
    follow(&mut out, Some(worst));
    Some(out)
}

pub fn stateful_set(sim: &Context<'_>, object: &Rc<Object>) -> Option<Diagnosis> {
    let body: &StatefulSet = object.get()?;
    let (spec, status) = (&body.spec, &body.status);
    let (first, desired) = (spec.ordinals.start, spec.replicas);
    let name = |ordinal: i32| [object.meta.name.as_str(), "-", &ordinal.to_string()].concat();
    let get = |ordinal: i32| {
        sim.store().get(&ObjectRef::new(
            Kind::Pod,
            &object.meta.namespace,
            &name(ordinal),
        ))
    };
    let well =
        |pod: &Rc<Object>| !pod.meta.is_deleting() && pod.pod().is_some_and(|pod| pod.is_ready());
    if !object.meta.is_deleting() {
        // The lowest ordinal that is not ready blocks the others; a terminating Pod blocks its successor.
        let blocked =
            (first..first.saturating_add(desired)).find_map(|ordinal| match get(ordinal) {
                Some(pod) if well(pod) => None,
                found => Some((ordinal, found)),
            });
        if let Some((ordinal, found)) = blocked {
            if found.is_none()
                && let Some(found) = held_up::held_up(sim, object)
            {
                return Some(found);
            }
            if found.is_none()
                && let Some(found) = refused(sim, object, None, desired, status.replicas)
            {
                return Some(found);
            }
            let next =
                (ordinal + 1..first.saturating_add(desired)).find(|next| get(*next).is_none());
            let ordered = spec.pod_management_policy != "Parallel";
            let waits_on = |pod: &Rc<Object>| {
                !pod.body::<Pod>()
                    .is_available(spec.min_ready_seconds, sim.store().wall_at(sim.now()))
            };
            if ordered
                && found.is_none()
                && ordinal > first
                && get(ordinal - 1).is_some_and(waits_on)
            {
                let waits = PendingReason::Ordinal {
                    pod: name(ordinal - 1).into(),
                    then: name(ordinal).into(),
                    seconds: spec.min_ready_seconds,
                };
                let mut out = Diagnosis::new(object, waits);
                out.count(FactLabel::Desired, desired);
                out.count(FactLabel::Ready, status.ready_replicas);
                return Some(out);
            }
            let pod = found.and_then(|pod| sim.diagnose(&pod.key()));
            let waits = match next.filter(|_| ordered) {
                Some(next) => PendingReason::Ordinal {
                    pod: name(ordinal).into(),
                    then: name(next).into(),
                    seconds: spec.min_ready_seconds,
                },
                None if pod.is_some() || found.is_some_and(|pod| pod.meta.is_deleting()) => {
                    PendingReason::Pods {
                        ready: status.ready_replicas.min(desired - 1),
                        desired,
                    }
                }
                None => return None,
            };
            let bad = pod.as_ref().is_some_and(|pod| pod.waits.is_bad());
            let stale = |pod: &Rc<Object>| {
                pod.meta.label("controller-revision-hash") != Some(&status.update_revision)
            };
            if let Some(found) =
                found.filter(|found| bad && ordered && !found.meta.is_deleting() && stale(found))
            {
                // Its controller waits until the Pod is ready, which the old template never allows.
                let mut out = Diagnosis::new(
                    object,
                    PendingReason::RollbackBlocked(found.meta.name.clone()),
                );
                out.cure(
                    RemedyKind::DeletePod,
                    &found.meta.name,
                    "",
                    &[line("delete", &found.key(), " --wait=false")],
                );
                return Some(out);
            }
            let mut out = Diagnosis::new(object, waits);
            out.count(FactLabel::Desired, desired);
            out.count(FactLabel::Ready, status.ready_replicas.min(desired - 1));
            match (pod, found) {
                (None, Some(found)) => out.waits_for = Some(found.key()),
                (pod, _) => follow(&mut out, pod),
            }
            return Some(out);
        }
    }
    let update = &spec.update_strategy;
    let partition = update
        .rolling_update
        .as_ref()
        .and_then(|update| update.partition)
        .unwrap_or(0);
    let old = status.replicas - status.updated_replicas;
    if old > 0
        && status.ready_replicas >= desired
        && status.current_revision != status.update_revision
    {
        let manual = update.kind == "OnDelete";
        // Below the partition they are kept on purpose, above it they are replaced automatically.
        if manual || partition >= old {
            let because: Str = if manual {
                "OnDelete".into()
            } else {
                ["partition ", &partition.to_string()].concat().into()
            };
            let mut out = Diagnosis::new(object, PendingReason::UpdateHeld { pods: old, because });
            out.count(FactLabel::Old, old);
            out.count(FactLabel::Updated, status.updated_replicas);
            if manual {
                let stale = |pod: &&Rc<Object>| {
                    pod.meta.label("controller-revision-hash") != Some(&status.update_revision)
                };
                let mine = sim
                    .informers
                    .controller_manager
                    .cache
                    .owned_of_kind(object.meta.uid, Kind::Pod);
                let steps: Vec<Action> = mine
                    .filter(stale)
                    .take(20)
                    .map(|pod| line("delete", &pod.key(), " --wait=false"))
                    .collect();
                out.cure(RemedyKind::DeletePod, &name(first), "", &steps);
            } else {
                let rest =
                    " -p '{\"spec\":{\"updateStrategy\":{\"rollingUpdate\":{\"partition\":0}}}}'";
                out.cure(
                    RemedyKind::DropPartition,
                    &object.meta.name,
                    "",
                    &[line("patch", &object.key(), rest)],
                );
            }
            return Some(out);
        }
    }
    let service = ObjectRef::new(Kind::Service, &object.meta.namespace, &spec.service_name);
    if !spec.service_name.is_empty() && desired > 0 && sim.store().get(&service).is_none() {
        let mut out = Diagnosis::new(object, PendingReason::NoService(spec.service_name.clone()));
        let mut manifest = [
            "apiVersion: v1\nkind: Service\nmetadata:\n  name: ",
            &spec.service_name,
            "\n  namespace: ",
            &object.meta.namespace,
            "\nspec:\n  clusterIP: None\n  ports:\n  - port: 80\n  selector:\n",
        ]
        .concat();
        for (key, value) in spec.selector.match_labels.iter() {
            manifest.push_str(&["    ", key, ": \"", value, "\"\n"].concat());
        }
        out.cure(
            RemedyKind::MakeService,
            &spec.service_name,
            "",
            &[Action::apply(manifest)],
        );
        return Some(out);
    }
    None
}

pub fn daemon_set(sim: &Context<'_>, object: &Rc<Object>) -> Option<Diagnosis> {
    let body: &DaemonSet = object.get()?;
    let status = &body.status;
    if status.number_ready < status.desired_number_scheduled
        && let Some(worst) = stuck(sim, object.meta.uid, true)
    {
        let mut out = Diagnosis::new(
            object,
            PendingReason::Pods {
                ready: status.number_ready,
                desired: status.desired_number_scheduled,
            },
        );
        out.count(FactLabel::Desired, status.desired_number_scheduled);
        out.count(FactLabel::Ready, status.number_ready);
        follow(&mut out, Some(worst));
        return Some(out);
    }
    let nodes = daemon_refusals(sim, object);
    let left: Vec<_> = nodes
        .iter()
        .filter(|(_, refuses)| !refuses.is_empty())
        .collect();
    if left.is_empty() {
        return None;
    }
    let mut out = Diagnosis::new(object, PendingReason::NodesLeftOut(left.len()));
    out.count(FactLabel::Desired, status.desired_number_scheduled);
    for (node, refuses) in left.iter().take(12) {
        out.facts.extend(
            refuses
                .iter()
                .map(|one| DecidingFact::Node(node.clone(), one.clone())),
        );
    }
    // A taint may be tolerated, a label added; all of them, since one remedy alone would leave the others.
    use crate::waits::UnschedulableReason;
    let (mut untaint, mut label) = (Vec::new(), Vec::new());
    for (node, refuses) in &left {
        match &refuses[..] {
            [UnschedulableReason::UntoleratedTaint { key, effect, .. }] => {
                untaint.push(Action::kubectl(
                    ["kubectl taint nodes ", node, " ", key, ":", effect, "-"].concat(),
                ))
            }
            [UnschedulableReason::NodeSelector { key, want, .. }] => label.push(Action::kubectl(
                [
                    "kubectl label node ",
                    node,
                    " ",
                    key,
                    "=",
                    want,
                    " --overwrite",
                ]
                .concat(),
            )),
            _ => {}
        }
    }
    let (node, first) = (left[0].0.as_str(), &left[0].1[0]);
    match first {
        UnschedulableReason::UntoleratedTaint { key, .. } if untaint.len() == left.len() => {
            out.cure(RemedyKind::Untaint, node, key, &untaint)
        }
        UnschedulableReason::NodeSelector { key, want, .. } if label.len() == left.len() => out
            .cure(
                RemedyKind::LabelNode,
                node,
                &[key.as_str(), "=", want].concat(),
                &label,
            ),
        _ => {}
    }
    Some(out)
}
