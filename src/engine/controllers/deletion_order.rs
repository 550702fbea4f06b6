//! The order in which surplus Pods are deleted.
//!
//! Guarantees: the same Pods give the same order. A Pod is ranked once per version: of twenty thousand, a pass ranks only
//! those that have changed since the last one.
//! Models `ActivePodsWithRanks` of `pkg/controller/controller_utils.go`.

use crate::api::{Kind, Object, Timestamp, Uid};
use crate::engine::out::PassView;
use crate::engine::rank_cache::{PodRank, RankCache};
use crate::engine::why::DeletionRank;
use std::cmp::Ordering;
use std::rc::Rc;

/// The criteria, in order of precedence.
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

/// A Pod with its ranks.
pub struct Ranked<'p> {
    /// The Pod.
    pub pod: &'p Rc<Object>,
    uid: Uid,
    /// One value per [`RANKS`]; the smallest is deleted first.
    by: [i32; RANKS.len()],
}

impl Ranked<'_> {
    /// Which of two Pods is deleted first, and the rank that decided it.
    pub fn compare(&self, other: &Ranked<'_>) -> (Ordering, DeletionRank) {
        match self.by.iter().zip(&other.by).position(|(a, b)| a != b) {
            Some(at) => (self.by[at].cmp(&other.by[at]), RANKS[at]),
            None => (self.uid.cmp(&other.uid), DeletionRank::Equal),
        }
    }
}

/// The active Pods that an object controls, from the cache, in deletion order: the first `count`, and the first of those
/// that stay.
pub fn of_controlled<'v>(object: &Object, count: usize, view: &PassView<'v>) -> Vec<Ranked<'v>> {
    let known = &mut *view.cache.known.borrow_mut();
    let own = view.cache.owned_pods(object.meta.uid).map(|(uid, place, pod)| (pod, uid, known.of(place, pod)));
    let own: Vec<_> = own.filter(|(.., seen)| seen.active && seen.controller == object.meta.uid).collect();
    rank(object, own, count, view, known)
}

/// These Pods in that order.
pub fn of_pods<'v>(object: &Object, pods: &'v [Rc<Object>], count: usize, view: &PassView<'_>) -> Vec<Ranked<'v>> {
    let known = &mut *view.cache.known.borrow_mut();
    let own = pods.iter().map(|pod| (pod, pod.meta.uid, known.read(pod))).collect();
    rank(object, own, count, view, known)
}

fn rank<'v>(
    object: &Object,
    own: Vec<(&'v Rc<Object>, Uid, PodRank)>,
    count: usize,
    view: &PassView<'_>,
    known: &mut RankCache,
) -> Vec<Ranked<'v>> {
    let neighbours = neighbours(object, &own, view, known);
    let on = |node: u32| neighbours.get(node as usize).copied().unwrap_or(0);
    let mut ranked: Vec<Ranked<'v>> =
        own.into_iter().map(|(pod, uid, seen)| Ranked { pod, uid, by: seen.ranks(on(seen.node), view.wall) }).collect();
    if count < ranked.len() {
        // Only a few of many are needed: the others need no order.
        ranked.select_nth_unstable_by(count, |a, b| a.compare(b).0);
        ranked.truncate(count + 1);
    }
    crate::sort::sort_by(&mut ranked, |a, b| a.compare(b).0);
    ranked
}

/// Number of active Pods per node over all ReplicaSets of the same owner; empty for a bare ReplicaSet.
fn neighbours(object: &Object, own: &[(&Rc<Object>, Uid, PodRank)], view: &PassView<'_>, known: &mut RankCache) -> Vec<i32> {
    let mut nodes = Vec::new();
    let Some(owner) = object.meta.controller() else { return nodes };
    let mut add = |node: u32| {
        nodes.resize(nodes.len().max(node as usize + 1), 0);
        nodes[node as usize] += 1;
    };
    for sibling in view.cache.owned_of_kind(owner.uid, Kind::ReplicaSet) {
        if sibling.meta.uid == object.meta.uid {
            own.iter().for_each(|(.., seen)| add(seen.node));
        } else {
            let pods = view.cache.owned_pods(sibling.meta.uid).map(|(_, place, pod)| known.of(place, pod));
            pods.filter(|seen| seen.active).for_each(|seen| add(seen.node));
        }
    }
    nodes
}

/// Orders Pods by [`RANKS`].
trait Ranks {
    /// A number for each of [`RANKS`].
    fn ranks(&self, neighbours: i32, now: Timestamp) -> [i32; RANKS.len()];
}

impl Ranks for PodRank {
    /// `neighbours` are the active Pods of sibling ReplicaSets on the same node.
    fn ranks(&self, neighbours: i32, now: Timestamp) -> [i32; RANKS.len()] {
        let age = |since: Option<Timestamp>| since.map_or(0, |t| log_age(now.seconds() - t.seconds()) as i32);
        [
            i32::from(self.assigned),
            self.phase,
            i32::from(self.ready),
            self.cost,
            -neighbours,
            age(self.ready_since),
            -self.restarts,
            age(self.created),
        ]
    }
}

/// Ages are compared by order of magnitude, so that Pods of nearly one age go in random order.
fn log_age(seconds: i64) -> u32 {
    64 - (seconds.max(0) as u64).leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::pod::{Pod, PodCondition};
    use crate::api::{Body, ObjectMeta};
    use crate::engine::rank_cache::COST;
    use crate::engine::table::Table;
    use smol_str::format_smolstr;

    /// A Pod on `node`; ready since `ready`, if given.
    fn pod(node: &str, phase: &str, ready: Option<i64>, uid: u128) -> Object {
        let mut pod = Pod { node_name: node.into(), ..Default::default() };
        pod.status.phase = phase.into();
        if let Some(since) = ready {
            pod.status.conditions.push(PodCondition {
                kind: "Ready".into(),
                status: "True".into(),
                last_transition_time: Some(Timestamp::new(since)),
                ..Default::default()
            });
        }
        let meta = ObjectMeta { uid: Uid(uid), creation_timestamp: Some(Timestamp::new(0)), ..Default::default() };
        Object { kind: Kind::Pod, meta, body: Body::Pod(Box::new(pod)) }
    }

    #[test]
    fn deletion_ranks_are_compared_in_order() {
        let ready = || (pod("n", "Running", Some(0), 1), 0);
        let mut cheap = pod("n", "Running", Some(0), 1);
        Rc::make_mut(&mut cheap.meta.annotations).insert(COST.into(), "-1".into());
        let cases = [
            ("a Pod without a node goes first", (pod("", "Pending", None, 9), 0), DeletionRank::Unassigned),
            ("then a pending one", (pod("n", "Pending", None, 9), 0), DeletionRank::Pending),
            ("then one that is not ready", (pod("n", "Running", None, 9), 0), DeletionRank::NotReady),
            ("then one of lower cost", (cheap, 0), DeletionRank::LowerCost),
            ("then one that shares its node", (pod("n", "Running", Some(0), 1), 2), DeletionRank::SharesNode),
            ("then one that is ready for a shorter time", (pod("n", "Running", Some(999), 9), 0), DeletionRank::YoungerReady),
            ("equal ones go by uid", (pod("n", "Running", Some(0), 0), 0), DeletionRank::Equal),
        ];
        let mut known = RankCache::default();
        let mut ranks = |(object, neighbours): (Object, i32)| {
            let object = Rc::new(object);
            (known.read(&object).ranks(neighbours, Timestamp::new(1000)), object)
        };
        for (name, first, rank) in cases {
            let ((a, first), (b, second)) = (ranks(first), ranks(ready()));
            let (first, second) =
                (Ranked { pod: &first, uid: first.meta.uid, by: a }, Ranked { pod: &second, uid: second.meta.uid, by: b });
            assert_eq!(first.compare(&second), (Ordering::Less, rank), "{name}");
        }
    }

    #[test]
    fn pods_are_read_ahead_in_turns() {
        let (mut known, mut pods) = (RankCache::default(), Table::default());
        for at in 0..25 {
            let mut object = pod("n", "Running", Some(0), at);
            object.meta.name = format_smolstr!("web-{at}");
            pods.insert(&Rc::new(object));
        }
        for (turn, read) in [(0, 10), (1, 20), (2, 25), (3, 25)] {
            known.read_ahead(&pods, 10);
            assert_eq!(known.pods.iter().flatten().count(), read, "{turn}");
        }
    }

    #[test]
    fn another_version_at_a_place_is_read_again_and_another_pod_too() {
        let mut known = RankCache::default();
        let (waits, runs) = (Rc::new(pod("", "Pending", None, 1)), Rc::new(pod("n", "Running", Some(0), 1)));
        let other = Rc::new(pod("m", "Running", None, 2));
        for (object, assigned, ready) in [(&waits, false, false), (&runs, true, true), (&runs, true, true), (&other, true, false)] {
            let seen = known.of(3, object);
            assert_eq!((seen.assigned, seen.ready), (assigned, ready));
        }
        assert_ne!(known.of(3, &runs).node, known.of(4, &other).node);
        assert_eq!(known.of(4, &other).node, known.of(5, &Rc::new(pod("m", "Pending", None, 3))).node);
    }
}
