//! Keeps `spec.replicas` Pods alive for every ReplicaSet, and for every ReplicationController: one controller implements both kinds.
//!
//! Guarantees: Pods are created in batches of 1, 2, 4, 8…, and a refusal stops the batches; no Pod is created or
//! deleted until the controller has observed its earlier writes; at most 500 of either in one pass.
//! Models `pkg/controller/replicaset/replica_set.go` and `pkg/controller/replication`.

use super::event_driven::EventDrivenReplicaSets;
use super::ownership::claim;
use super::{Controller, Event, Watch, deletion_order};
use apiserver::why::{DeletionRank, Why};
use apiserver::{ApiError, DeleteOptions};
use apiserver::{Component, ControllerId};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::{CodeLine, CodeTag, CodeValue, Descriptor};
use controller_runtime::fact::FactId;
use controller_runtime::informer::Cache;
use k8s_model::pod::Pod;
use k8s_model::time::SECOND;
use k8s_model::workload::{Condition, ReplicaSet, ReplicaSetStatus};
use k8s_model::{Body, Kind, Labels, Object, ObjectRef, Str, Timestamp};
use smol_str::format_smolstr;
use std::rc::Rc;

/// Maximum number of Pods created or deleted in one pass.
pub(super) const BURST: usize = 500;

/// Pseudo-code of a reconcile pass.
const CODE: &[CodeLine] = &[
    CodeLine::step("for key := range queue {"),
    CodeLine::reads(
        "    rs   := cache.Get(key)",
        CodeValue::Fact(FactId::Desired),
    ),
    CodeLine::reads(
        "    pods := active(cache.Owned(rs))",
        CodeValue::Fact(FactId::Actual),
    ),
    CodeLine::reads(
        "    diff := len(pods) - rs.Replicas",
        CodeValue::Fact(FactId::Difference),
    ),
    CodeLine::step("    if diff < 0 {"),
    CodeLine::writes("        create(-diff, rs.Template)", CodeTag::Create),
    CodeLine::step("    } else if diff > 0 {"),
    CodeLine::writes("        delete(rank(pods)[:diff])", CodeTag::Delete),
    CodeLine::end("    }"),
    CodeLine::writes("    updateStatus(rs, pods)", CodeTag::Status),
    CodeLine::end("}"),
];

/// UI descriptor of the controller.
static REPLICA_SET: Descriptor = Descriptor {
    component: Component::Controller(&ControllerId::new("replicaset-controller")),
    aliases: &[],
    title: "replicaset",
    icon: "i-replicaset",
    lane: "replicaset",
    always_shown: true,
    code: CODE,
};

/// UI descriptor of the controller.
static REPLICATION_CONTROLLER: Descriptor = Descriptor {
    component: Component::Controller(&ControllerId::new("replication-controller")),
    aliases: &[],
    title: "replication",
    icon: "i-replicaset",
    lane: "",
    always_shown: false,
    code: CODE,
};

/// ReplicaSet controller.
pub static REPLICA_SETS: ReplicaSetController = ReplicaSetController {
    descriptor: &REPLICA_SET,
    kind: Kind::ReplicaSet,
    watches: &[
        Watch::For(Kind::ReplicaSet),
        Watch::Owns(Kind::ReplicaSet, Kind::Pod),
        Watch::Maps(Kind::Pod),
    ],
};

/// ReplicationController controller.
pub static REPLICATION_CONTROLLERS: ReplicaSetController = ReplicaSetController {
    descriptor: &REPLICATION_CONTROLLER,
    kind: Kind::ReplicationController,
    watches: &[
        Watch::For(Kind::ReplicationController),
        Watch::Owns(Kind::ReplicationController, Kind::Pod),
        Watch::Maps(Kind::Pod),
    ],
};

/// Controller of one of the two kinds.
pub struct ReplicaSetController {
    descriptor: &'static Descriptor,
    kind: Kind,
    watches: &'static [Watch],
}

impl Controller for ReplicaSetController {
    fn descriptor(&self) -> &'static Descriptor {
        self.descriptor
    }

    fn watches(&self) -> &'static [Watch] {
        self.watches
    }

    /// Wakes the objects whose selector matches a Pod without a controller.
    fn map_event(&self, event: &Event<'_>, cache: &Cache, wake: &mut dyn FnMut(ObjectRef)) {
        let pod = event.object;
        if pod.meta.controller().is_some() {
            return;
        }
        for set in cache.selecting(self.kind, &pod.meta.namespace, &pod.meta.labels) {
            if set
                .body::<ReplicaSet>()
                .spec
                .selector
                .matches(&pod.meta.labels)
            {
                wake(set.key());
            }
        }
    }

    fn event_driven(&self) -> Option<&'static (dyn Controller + Sync)> {
        (self.kind == Kind::ReplicaSet).then_some(&EventDrivenReplicaSets)
    }

    fn reconcile(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<Action, ApiError> {
        let Some((object, set)) = view.cache.get::<ReplicaSet>(key) else {
            return Ok(Action::AwaitChange);
        };
        let (counts, active) = look(object, set, view, out)?;
        let managed = if view.sees_own_writes && !object.meta.is_deleting() {
            manage(object, set, counts.replicas, active.as_deref(), view, out)
        } else {
            Ok(())
        };
        let failure = managed.as_ref().err();
        let status = update_status(object, set, counts, failure, view.wall, out)?;
        managed?;
        Ok(next_look(set, &status))
    }
}

/// Returns when to look again without an event: ready Pods become available, also beside unready ones.
pub(super) fn next_look(set: &ReplicaSet, status: &ReplicaSetStatus) -> Action {
    if set.spec.min_ready_seconds > 0 && status.ready_replicas != status.available_replicas {
        Action::RequeueAfter(set.spec.min_ready_seconds as u64 * SECOND)
    } else {
        Action::AwaitChange
    }
}

/// Active Pods if some may have just been adopted; `None` if the cache has all of them.
type Active = Option<Vec<Rc<Object>>>;

/// Counts the Pods, and lists them if needed.
pub(super) fn look(
    object: &Object,
    set: &ReplicaSet,
    view: &PassView<'_>,
    out: &mut LoopClient<'_>,
) -> Result<(ReplicaSetStatus, Active), ApiError> {
    if let Some(counts) = counted(object, set, view) {
        return Ok((counts, None));
    }
    // Only active Pods are adopted: `FilterActivePods` comes before the claim.
    let uid = object.meta.uid;
    let pods = claim(object, &set.spec.selector, Kind::Pod, view, out, |pod| {
        pod.is_active_pod() || pod.meta.is_controlled_by(uid)
    })?;
    let (active, rest): (Vec<_>, Vec<_>) = pods.into_iter().partition(|pod| pod.is_active_pod());
    let terminating = rest
        .iter()
        .filter(|p| p.meta.is_deleting() && !p.body::<Pod>().is_terminal())
        .count();
    Ok((count(set, &active, terminating, view.wall), Some(active)))
}

/// Returns the counts without visiting each Pod, if none is to be adopted or released and `minReadySeconds` is 0.
fn counted(object: &Object, set: &ReplicaSet, view: &PassView<'_>) -> Option<ReplicaSetStatus> {
    let selector = &set.spec.selector;
    let mut adoptable = view
        .cache
        .orphans(Kind::Pod, &object.meta.namespace)
        .filter(|pod| selector.matches(&pod.meta.labels));
    let alike = view.cache.tally(object.meta.uid)?;
    if set.spec.min_ready_seconds > 0
        || !alike.iter().all(|a| selector.matches(&a.labels))
        || adoptable.next().is_some()
    {
        return None;
    }
    let mut counts = ReplicaSetStatus {
        terminating_replicas: Some(0),
        ..Default::default()
    };
    for a in alike {
        counts.replicas += a.active as i32;
        counts.fully_labeled_replicas += if has_labels(&a.labels, set) {
            a.active as i32
        } else {
            0
        };
        counts.ready_replicas += a.ready as i32;
        counts.available_replicas += a.ready as i32;
        counts.terminating_replicas = counts
            .terminating_replicas
            .map(|n| n + a.terminating as i32);
    }
    Some(counts)
}

/// Counts the given Pods.
fn count(
    set: &ReplicaSet,
    active: &[Rc<Object>],
    terminating: usize,
    now: Timestamp,
) -> ReplicaSetStatus {
    let mut counts = ReplicaSetStatus {
        replicas: active.len() as i32,
        terminating_replicas: Some(terminating as i32),
        ..Default::default()
    };
    for object in active {
        let pod: &Pod = object.body();
        counts.fully_labeled_replicas += i32::from(has_labels(&object.meta.labels, set));
        if pod.is_ready() {
            counts.ready_replicas += 1;
            counts.available_replicas +=
                i32::from(pod.is_available(set.spec.min_ready_seconds, now));
        }
    }
    counts
}

/// Returns true if a Pod has all labels of the template.
fn has_labels(labels: &Labels, set: &ReplicaSet) -> bool {
    let wanted = &set.spec.template.labels;
    Rc::ptr_eq(labels, wanted) || k8s_model::selector::contains_all(labels, wanted)
}

/// Creates missing Pods, or deletes surplus ones.
fn manage(
    object: &Rc<Object>,
    set: &ReplicaSet,
    have: i32,
    active: Option<&[Rc<Object>]>,
    view: &PassView<'_>,
    out: &mut LoopClient<'_>,
) -> Result<(), ApiError> {
    let (have, want) = (have as usize, set.spec.replicas.max(0) as usize);
    if have < want {
        return create_pods(object, set, have, want, out);
    }
    let surplus = (have - want).min(BURST);
    if surplus == 0 {
        return Ok(());
    }
    let ranked = match active {
        Some(pods) => deletion_order::of_pods(object, pods, surplus, view),
        None => deletion_order::of_controlled(object, surplus, view),
    };
    out.together(|out| {
        let mut failed = None;
        for i in 0..surplus {
            let pod = ranked[i].pod;
            let rank = ranked
                .get(surplus)
                .map_or(DeletionRank::Equal, |stays| ranked[i].compare(stays).1);
            let stays = ranked
                .get(surplus)
                .map_or_else(Str::default, |stays| stays.pod.meta.name.clone());
            let why = Why::TooMany {
                have: have as i32,
                want: want as i32,
                rank,
                stays: stays.into(),
            };
            match out.delete(&pod.key(), DeleteOptions::of_uid(pod.meta.uid), why) {
                Ok(_) => out.event(
                    object,
                    "Normal",
                    "SuccessfulDelete",
                    format_smolstr!("Deleted pod: {}", pod.meta.name),
                ),
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(()), Err)
    })
}

/// Creates Pods with slow start: a batch of 1, then 2, 4, 8… as long as every creation succeeds.
fn create_pods(
    object: &Rc<Object>,
    set: &ReplicaSet,
    have: usize,
    want: usize,
    out: &mut LoopClient<'_>,
) -> Result<(), ApiError> {
    let missing = (want - have).min(BURST);
    let (mut made, mut batch) = (0, 1);
    while made < missing {
        out.together(|out| create_batch(object, set, have, want, batch.min(missing - made), out))?;
        made += batch.min(missing - made);
        batch *= 2;
    }
    Ok(())
}

/// Creates one batch; a refusal does not stop the rest of the batch.
fn create_batch(
    object: &Rc<Object>,
    set: &ReplicaSet,
    have: usize,
    want: usize,
    size: usize,
    out: &mut LoopClient<'_>,
) -> Result<(), ApiError> {
    let mut failed = None;
    for _ in 0..size {
        let why = Why::TooFew {
            have: have as i32,
            want: want as i32,
        };
        if let Err(error) = create_pod(object, set, why, out) {
            failed = Some(error);
        }
    }
    failed.map_or(Ok(()), Err)
}

/// Creates a Pod of the template.
pub(super) fn create_pod(
    object: &Rc<Object>,
    set: &ReplicaSet,
    why: Why,
    out: &mut LoopClient<'_>,
) -> Result<(), ApiError> {
    match out.create(object.new_pod(&set.spec.template), why) {
        Ok(pod) => out.event(
            object,
            "Normal",
            "SuccessfulCreate",
            format_smolstr!("Created pod: {}", pod.meta.name),
        ),
        // Every creation in a terminating namespace is refused.
        Err(error) if error.is_of_terminating_namespace() => {}
        Err(error) => {
            out.event(
                object,
                "Warning",
                "FailedCreate",
                format_smolstr!("Error creating: {error}"),
            );
            return Err(error);
        }
    }
    Ok(())
}

/// Writes the status with the given counts and the failure, if any, unless the object has it already, and returns it.
pub(super) fn update_status(
    object: &Object,
    set: &ReplicaSet,
    counts: ReplicaSetStatus,
    failure: Option<&ApiError>,
    now: Timestamp,
    out: &mut LoopClient<'_>,
) -> Result<ReplicaSetStatus, ApiError> {
    let status = status_of(object, set, counts, failure, now);
    if status != set.status {
        let new = status.clone();
        out.update_status(object, Why::Observed, |o| {
            if let Body::ReplicaSet(body) = &mut o.body {
                body.status = new;
            }
        })?;
    }
    Ok(status)
}

/// Returns the status with the given counts and the failure, if any.
fn status_of(
    object: &Object,
    set: &ReplicaSet,
    counts: ReplicaSetStatus,
    failure: Option<&ApiError>,
    now: Timestamp,
) -> ReplicaSetStatus {
    let mut status = ReplicaSetStatus {
        terminating_replicas: counts
            .terminating_replicas
            .filter(|_| object.kind == Kind::ReplicaSet),
        observed_generation: object.meta.generation,
        conditions: set.status.conditions.clone(),
        ..counts
    };
    let known = status.conditions.iter().any(|c| c.kind == "ReplicaFailure");
    match failure {
        None => status.conditions.retain(|c| c.kind != "ReplicaFailure"),
        Some(error) if !known => status.conditions.push(Condition {
            kind: "ReplicaFailure".into(),
            status: "True".into(),
            reason: if status.replicas < set.spec.replicas {
                "FailedCreate"
            } else {
                "FailedDelete"
            }
            .into(),
            message: error.message.as_str().into(),
            last_transition_time: Some(now),
            ..Default::default()
        }),
        Some(_) => {}
    }
    status
}
