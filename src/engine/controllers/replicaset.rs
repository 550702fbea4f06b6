//! Keeps `spec.replicas` Pods alive for every ReplicaSet, and for every ReplicationController: one loop serves both kinds.
//!
//! Guarantees: Pods are created in batches of 1, 2, 4, 8…, and a refusal stops the batches; no Pod is created or
//! deleted until the loop has seen what it did before; at most 500 of either in one pass.
//! Models `pkg/controller/replicaset/replica_set.go` and `pkg/controller/replication`.

use super::ownership::claim;
use super::{Controller, Event, Watch};
use crate::api::pod::Pod;
use crate::api::time::SECOND;
use crate::api::workload::{Condition, ReplicaSet, ReplicaSetStatus};
use crate::api::{Body, Kind, Labels, Object, ObjectMeta, ObjectRef, Str, Timestamp};
use crate::engine::index::Index;
use crate::engine::informer::Cache;
use crate::engine::out::{Action, Out, View};
use crate::engine::store::{ApiError, Delete};
use crate::engine::table::hash;
use crate::engine::why::{DeletionRank, Why};
use smol_str::format_smolstr;
use std::cmp::Ordering;
use std::rc::Rc;

/// The most Pods created or deleted in one pass.
const BURST: usize = 500;
const COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// The replicaset loop.
pub static REPLICA_SETS: ReplicaLoop = ReplicaLoop {
    name: "replicaset-controller",
    kind: Kind::ReplicaSet,
    watches: &[Watch::For(Kind::ReplicaSet), Watch::Owns(Kind::ReplicaSet, Kind::Pod), Watch::Maps(Kind::Pod)],
};

/// The replicationcontroller loop.
pub static REPLICATION_CONTROLLERS: ReplicaLoop = ReplicaLoop {
    name: "replication-controller",
    kind: Kind::ReplicationController,
    watches: &[Watch::For(Kind::ReplicationController), Watch::Owns(Kind::ReplicationController, Kind::Pod), Watch::Maps(Kind::Pod)],
};

/// The loop of one of the two kinds.
pub struct ReplicaLoop {
    name: &'static str,
    kind: Kind,
    watches: &'static [Watch],
}

impl Controller for ReplicaLoop {
    fn name(&self) -> &'static str {
        self.name
    }

    fn watches(&self) -> &'static [Watch] {
        self.watches
    }

    /// A Pod without a controller wakes the objects whose selector it matches.
    fn also_wakes(&self, event: &Event<'_>, cache: &Cache, wake: &mut dyn FnMut(ObjectRef)) {
        let pod = event.object;
        if pod.meta.controller().is_some() {
            return;
        }
        for set in cache.list_in(self.kind, &pod.meta.namespace) {
            if set.body::<ReplicaSet>().spec.selector.matches(&pod.meta.labels) {
                wake(set.key());
            }
        }
    }

    fn reconcile(&self, key: &ObjectRef, view: &View<'_>, out: &mut Out<'_>) -> Result<Action, ApiError> {
        let Some((object, set)) = view.cache.get::<ReplicaSet>(key) else { return Ok(Action::AwaitChange) };
        let (counts, active) = look(object, set, view, out)?;
        let managed = if view.sees_own_writes && !object.meta.is_deleting() {
            manage(object, set, counts.replicas, &active, view, out)
        } else {
            Ok(())
        };
        let status = status_of(object, set, counts, managed.as_ref().err(), view.wall);
        let waits = managed.is_ok()
            && set.spec.min_ready_seconds > 0
            && status.ready_replicas == set.spec.replicas
            && status.available_replicas != set.spec.replicas;
        if status != set.status {
            out.update_status(object, Why::Observed, |o| {
                if let Body::ReplicaSet(body) = &mut o.body {
                    body.status = status;
                }
            })?;
        }
        managed?;
        Ok(if waits { Action::RequeueAfter(set.spec.min_ready_seconds as u64 * SECOND) } else { Action::AwaitChange })
    }
}

/// How many Pods there are, and the active ones themselves if some are too many.
fn look(object: &Object, set: &ReplicaSet, view: &View<'_>, out: &mut Out<'_>) -> Result<(ReplicaSetStatus, Vec<Rc<Object>>), ApiError> {
    if let Some(counts) = counted(object, set, view) {
        if counts.replicas <= set.spec.replicas || !view.sees_own_writes || object.meta.is_deleting() {
            return Ok((counts, Vec::new()));
        }
        let mine = view.cache.owned_of_kind(object.meta.uid, Kind::Pod);
        let active = mine.filter(|pod| pod.meta.is_controlled_by(object.meta.uid) && pod.is_active_pod());
        return Ok((counts, active.cloned().collect()));
    }
    let pods = claim(object, &set.spec.selector, Kind::Pod, view, out, |_| true)?;
    let (active, rest): (Vec<_>, Vec<_>) = pods.into_iter().partition(|pod| pod.is_active_pod());
    let terminating = rest.iter().filter(|p| p.meta.is_deleting() && !p.body::<Pod>().is_terminal()).count();
    Ok((count(set, &active, terminating, view.wall), active))
}

/// The counts without a look at each Pod: if there is none to adopt or to release, and none that has to wait for its time.
fn counted(object: &Object, set: &ReplicaSet, view: &View<'_>) -> Option<ReplicaSetStatus> {
    let selector = &set.spec.selector;
    let mut adoptable = view.cache.orphans(Kind::Pod, &object.meta.namespace).filter(|pod| selector.matches(&pod.meta.labels));
    let alike = view.cache.tally(object.meta.uid)?;
    if set.spec.min_ready_seconds > 0 || !alike.iter().all(|a| selector.matches(&a.labels)) || adoptable.next().is_some() {
        return None;
    }
    let mut counts = ReplicaSetStatus { terminating_replicas: Some(0), ..Default::default() };
    for a in alike {
        counts.replicas += a.active as i32;
        counts.fully_labeled_replicas += if has_labels(&a.labels, set) { a.active as i32 } else { 0 };
        counts.ready_replicas += a.ready as i32;
        counts.available_replicas += a.ready as i32;
        counts.terminating_replicas = counts.terminating_replicas.map(|n| n + a.terminating as i32);
    }
    Some(counts)
}

/// The counts of these Pods.
fn count(set: &ReplicaSet, active: &[Rc<Object>], terminating: usize, now: Timestamp) -> ReplicaSetStatus {
    let mut counts =
        ReplicaSetStatus { replicas: active.len() as i32, terminating_replicas: Some(terminating as i32), ..Default::default() };
    for object in active {
        let pod: &Pod = object.body();
        counts.fully_labeled_replicas += i32::from(has_labels(&object.meta.labels, set));
        if pod.is_ready() {
            counts.ready_replicas += 1;
            counts.available_replicas += i32::from(pod.is_available(set.spec.min_ready_seconds, now));
        }
    }
    counts
}

/// Whether a Pod has all labels of the template.
fn has_labels(labels: &Labels, set: &ReplicaSet) -> bool {
    let wanted = &set.spec.template.labels;
    Rc::ptr_eq(labels, wanted) || crate::api::selector::contains_all(labels, wanted)
}

/// Creates the Pods that are missing, or deletes those that are too many.
fn manage(
    object: &Rc<Object>,
    set: &ReplicaSet,
    have: i32,
    active: &[Rc<Object>],
    view: &View<'_>,
    out: &mut Out<'_>,
) -> Result<(), ApiError> {
    let (have, want) = (have as usize, set.spec.replicas.max(0) as usize);
    if have < want {
        return create_pods(object, set, have, want, out);
    }
    let surplus = (have - want).min(BURST);
    if surplus == 0 {
        return Ok(());
    }
    let ranked = deletion_order(object, active, surplus, view);
    out.together(|out| {
        let mut failed = None;
        for i in 0..surplus {
            let pod = &ranked[i].pod;
            let rank = ranked.get(surplus).map_or(DeletionRank::Equal, |stays| ranked[i].compare(stays).1);
            let stays = ranked.get(surplus).map_or_else(Str::default, |stays| stays.pod.meta.name.clone());
            let why = Why::TooMany { have: have as i32, want: want as i32, rank, stays };
            match out.delete(&pod.key(), Delete { uid: Some(pod.meta.uid), ..Default::default() }, why) {
                Ok(_) => out.event(object, "Normal", "SuccessfulDelete", format_smolstr!("Deleted pod: {}", pod.meta.name)),
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(()), Err)
    })
}

/// Slow start: a batch of 1, then 2, 4, 8… as long as all of one succeed.
fn create_pods(object: &Rc<Object>, set: &ReplicaSet, have: usize, want: usize, out: &mut Out<'_>) -> Result<(), ApiError> {
    let missing = (want - have).min(BURST);
    let (mut made, mut batch) = (0, 1);
    while made < missing {
        out.together(|out| create_batch(object, set, (have, want), batch.min(missing - made), out))?;
        made += batch.min(missing - made);
        batch *= 2;
    }
    Ok(())
}

/// One batch; a refusal does not stop the others of it.
fn create_batch(
    object: &Rc<Object>,
    set: &ReplicaSet,
    (have, want): (usize, usize),
    size: usize,
    out: &mut Out<'_>,
) -> Result<(), ApiError> {
    let mut failed = None;
    for _ in 0..size {
        let why = Why::TooFew { have: have as i32, want: want as i32 };
        match out.create(pod_from_template(object, set), why) {
            Ok(pod) => out.event(object, "Normal", "SuccessfulCreate", format_smolstr!("Created pod: {}", pod.meta.name)),
            Err(error) => {
                out.event(object, "Warning", "FailedCreate", format_smolstr!("Error creating: {error}"));
                failed = Some(error);
            }
        }
    }
    failed.map_or(Ok(()), Err)
}

fn pod_from_template(object: &Rc<Object>, set: &ReplicaSet) -> Object {
    let template = &set.spec.template;
    Object {
        kind: Kind::Pod,
        meta: ObjectMeta {
            generate_name: format_smolstr!("{}-", object.meta.name),
            namespace: object.meta.namespace.clone(),
            labels: template.labels.clone(),
            annotations: template.annotations.clone(),
            owner_references: Rc::new(vec![object.controller_reference()]),
            ..Default::default()
        },
        body: Body::Pod(Box::new(Pod::new(template.spec.clone()))),
    }
}

/// A Pod with what decides how early it goes.
pub(super) struct Ranked {
    /// The Pod.
    pub(super) pod: Rc<Object>,
    /// A number for each of [`RANKS`]; the smaller goes first.
    by: [i32; RANKS.len()],
}

/// What decides, one after the other.
const RANKS: [DeletionRank; 8] = [
    DeletionRank::Unassigned,
    DeletionRank::Pending,
    DeletionRank::NotReady,
    DeletionRank::LowerCost,
    DeletionRank::SharesNode,
    DeletionRank::YoungerReady,
    DeletionRank::MoreRestarts,
    DeletionRank::Younger,
];

impl Ranked {
    /// `neighbours` are the active Pods of sibling ReplicaSets on the same node.
    fn new(pod: &Rc<Object>, cost: i32, neighbours: usize, now: Timestamp) -> Ranked {
        let body: &Pod = pod.body();
        let phase = match body.status.phase.as_str() {
            "Pending" => 0,
            "Running" => 2,
            _ => 1,
        };
        let ready = body.status.condition("Ready").filter(|c| c.status == "True");
        let ready_since = ready.and_then(|c| c.last_transition_time);
        let restarts = body.status.container_statuses.iter().map(|c| c.restart_count).max().unwrap_or(0);
        let age = |since: Option<Timestamp>| since.map_or(0, |t| log_age(now.0 - t.0) as i32);
        let by = [
            i32::from(!body.node_name.is_empty()),
            phase,
            i32::from(ready.is_some()),
            cost,
            -(neighbours as i32),
            age(ready_since),
            -restarts,
            age(pod.meta.creation_timestamp),
        ];
        Ranked { pod: pod.clone(), by }
    }

    /// Which of two Pods goes first, and what decided it.
    pub(super) fn compare(&self, other: &Ranked) -> (Ordering, DeletionRank) {
        match self.by.iter().zip(&other.by).position(|(a, b)| a != b) {
            Some(at) => (self.by[at].cmp(&other.by[at]), RANKS[at]),
            None => (self.pod.meta.uid.cmp(&other.pod.meta.uid), DeletionRank::Equal),
        }
    }
}

/// Ages are compared by order of magnitude, so that Pods of nearly one age go in random order.
fn log_age(seconds: i64) -> u32 {
    64 - (seconds.max(0) as u64).leading_zeros()
}

/// The Pods in the order in which they would go: so many, and the first of those that stay.
pub(super) fn deletion_order(object: &Rc<Object>, active: &[Rc<Object>], count: usize, view: &View<'_>) -> Vec<Ranked> {
    let neighbours = Neighbours::of(object, active, view);
    let mut ranked: Vec<Ranked> = active
        .iter()
        .enumerate()
        .map(|(at, pod)| {
            let cost = pod.meta.annotation(COST).and_then(|v| v.parse().ok()).unwrap_or(0);
            Ranked::new(pod, cost, neighbours.of_own(at), view.wall)
        })
        .collect();
    if count < ranked.len() {
        // A few of many: the others need no order.
        ranked.select_nth_unstable_by(count, |a, b| a.compare(b).0);
        ranked.truncate(count + 1);
    }
    crate::order::sort_by(&mut ranked, |a, b| a.compare(b).0);
    ranked
}

/// How many active Pods of all ReplicaSets of the same owner each node has; nothing for a bare ReplicaSet.
#[derive(Default)]
struct Neighbours<'n> {
    nodes: Vec<(&'n Str, usize)>,
    index: Index,
    /// Where the node of each own Pod stands among them.
    own: Vec<usize>,
}

impl<'n> Neighbours<'n> {
    fn of(object: &Object, active: &'n [Rc<Object>], view: &View<'n>) -> Neighbours<'n> {
        let mut all = Neighbours::default();
        let Some(owner) = object.meta.controller() else { return all };
        for sibling in view.cache.owned_of_kind(owner.uid, Kind::ReplicaSet) {
            if sibling.meta.uid == object.meta.uid {
                all.own = active.iter().map(|pod| all.add(pod)).collect();
                continue;
            }
            for pod in view.cache.owned_of_kind(sibling.meta.uid, Kind::Pod).filter(|p| p.is_active_pod()) {
                all.add(pod);
            }
        }
        all
    }

    fn add(&mut self, pod: &'n Rc<Object>) -> usize {
        let node = &pod.body::<Pod>().node_name;
        let hash = hash(node, "") as u32;
        let at = self.index.find(hash, |at| self.nodes[at as usize].0 == node).unwrap_or_else(|| {
            let new = self.nodes.len() as u32;
            self.index.insert(hash, new);
            self.nodes.push((node, 0));
            new
        }) as usize;
        self.nodes[at].1 += 1;
        at
    }

    /// Of an own Pod, by its place.
    fn of_own(&self, at: usize) -> usize {
        self.own.get(at).map_or(0, |at| self.nodes[*at].1)
    }
}

/// The status that tells these counts, and what went wrong.
fn status_of(object: &Object, set: &ReplicaSet, counts: ReplicaSetStatus, failure: Option<&ApiError>, now: Timestamp) -> ReplicaSetStatus {
    let mut status = ReplicaSetStatus {
        terminating_replicas: counts.terminating_replicas.filter(|_| object.kind == Kind::ReplicaSet),
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
            reason: if status.replicas < set.spec.replicas { "FailedCreate" } else { "FailedDelete" }.into(),
            message: error.message.as_str().into(),
            last_transition_time: Some(now),
            ..Default::default()
        }),
        Some(_) => {}
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Uid;
    use crate::api::pod::PodCondition;

    /// A Pod on `node`; ready since `ready`, if given.
    fn ranked(node: &str, phase: &str, ready: Option<i64>, uid: u128) -> Ranked {
        with(node, phase, ready, uid, 0, 0)
    }

    fn with(node: &str, phase: &str, ready: Option<i64>, uid: u128, cost: i32, neighbours: usize) -> Ranked {
        let mut pod = Pod { node_name: node.into(), ..Default::default() };
        pod.status.phase = phase.into();
        if let Some(since) = ready {
            pod.status.conditions.push(PodCondition {
                kind: "Ready".into(),
                status: "True".into(),
                last_transition_time: Some(Timestamp(since)),
                ..Default::default()
            });
        }
        let meta = ObjectMeta { uid: Uid(uid), creation_timestamp: Some(Timestamp(0)), ..Default::default() };
        Ranked::new(&Rc::new(Object { kind: Kind::Pod, meta, body: Body::Pod(Box::new(pod)) }), cost, neighbours, Timestamp(1000))
    }

    #[test]
    fn the_deletion_order_looks_at_one_thing_after_another() {
        let ready = || ranked("n", "Running", Some(0), 1);
        let cases = [
            ("a Pod without a node goes first", ranked("", "Pending", None, 9), ready(), DeletionRank::Unassigned),
            ("then a pending one", ranked("n", "Pending", None, 9), ready(), DeletionRank::Pending),
            ("then one that is not ready", ranked("n", "Running", None, 9), ready(), DeletionRank::NotReady),
            ("then one of lower cost", with("n", "Running", Some(0), 1, -1, 0), ready(), DeletionRank::LowerCost),
            ("then one that shares its node", with("n", "Running", Some(0), 1, 0, 2), ready(), DeletionRank::SharesNode),
            ("then one that is ready for a shorter time", ranked("n", "Running", Some(999), 9), ready(), DeletionRank::YoungerReady),
            ("equal ones go by uid", ranked("n", "Running", Some(0), 0), ready(), DeletionRank::Equal),
        ];
        for (name, first, second, rank) in cases {
            assert_eq!(first.compare(&second), (Ordering::Less, rank), "{name}");
        }
    }
}
