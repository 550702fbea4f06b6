//! Deletion order of surplus Pods.
//!
//! Guarantees: the same Pods give the same order. A Pod is ranked once per version: of twenty thousand, a pass ranks only
//! those that have changed since the last one.
//! Models `ActivePodsWithRanks` of `pkg/controller/controller_utils.go`.

use apiserver::why::DeletionRank;
use controller_runtime::client::PassView;
use k8s_model::{Kind, Object, Timestamp, Uid};
use sim_core::rank_cache::{PodRank, RankCache};
use std::cmp::Ordering;
use std::rc::Rc;

/// Criteria, in order of precedence.
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

/// Pod with its ranks.
pub struct Ranked<'p> {
    /// Ranked Pod.
    pub pod: &'p Rc<Object>,
    uid: Uid,
    /// Values in the order of [`RANKS`]; the smallest is deleted first.
    by: [i32; RANKS.len()],
}

impl Ranked<'_> {
    /// Compares two Pods by deletion order, and returns the rank that decided it.
    pub fn compare(&self, other: &Ranked<'_>) -> (Ordering, DeletionRank) {
        match self.by.iter().zip(&other.by).position(|(a, b)| a != b) {
            Some(at) => (self.by[at].cmp(&other.by[at]), RANKS[at]),
            None => (self.uid.cmp(&other.uid), DeletionRank::Equal),
        }
    }
}

/// Returns the active Pods that an object controls, from the cache, in deletion order: the first `count`, and the first of those that
/// stay.
pub fn of_controlled<'v>(object: &Object, count: usize, view: &PassView<'v>) -> Vec<Ranked<'v>> {
    let known = &mut *view.cache.known.borrow_mut();
    let neighbours = neighbours(object, None, view, known);
    let mut first = First::new(count, &neighbours, view.wall);
    for_active(object.meta.uid, view, known, &mut |pod, uid, seen| {
        first.add(pod, uid, seen)
    });
    first.end()
}

/// Returns the given Pods in deletion order.
pub fn of_pods<'v>(
    object: &Object,
    pods: &'v [Rc<Object>],
    count: usize,
    view: &PassView<'_>,
) -> Vec<Ranked<'v>> {
    let known = &mut *view.cache.known.borrow_mut();
    let neighbours = neighbours(object, Some(pods), view, known);
    let mut first = First::new(count, &neighbours, view.wall);
    pods.iter()
        .for_each(|pod| first.add(pod, pod.meta.uid, &known.read(pod)));
    first.end()
}

/// Partial sort of the Pods to delete: only about as many as needed are held, since a Deployment may have a hundred thousand.
struct First<'p, 'n> {
    held: Vec<Ranked<'p>>,
    /// Number of Pods needed.
    most: usize,
    neighbours: &'n [i32],
    now: Timestamp,
    /// Index in `held` of the last Pod that may still be needed; Pods that rank after it are skipped.
    last: Option<usize>,
}

impl<'p, 'n> First<'p, 'n> {
    fn new(count: usize, neighbours: &'n [i32], now: Timestamp) -> First<'p, 'n> {
        First {
            held: Vec::new(),
            most: count.saturating_add(1),
            neighbours,
            now,
            last: None,
        }
    }

    fn add(&mut self, pod: &'p Rc<Object>, uid: Uid, seen: &PodRank) {
        let on = self
            .neighbours
            .get(seen.node as usize)
            .copied()
            .unwrap_or(0);
        let ranked = Ranked {
            pod,
            uid,
            by: seen.ranks(on, self.now),
        };
        if self
            .last
            .is_some_and(|last| ranked.compare(&self.held[last]).0.is_gt())
        {
            return;
        }
        self.held.push(ranked);
        if self.held.len() == self.most.saturating_mul(2) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.most < self.held.len() {
            let last = self.most - 1;
            self.held
                .select_nth_unstable_by(last, |a, b| a.compare(b).0);
            self.held.truncate(self.most);
            self.last = Some(last);
        }
    }

    fn end(mut self) -> Vec<Ranked<'p>> {
        self.cut();
        self.held.sort_by(|a, b| a.compare(b).0);
        self.held
    }
}

/// Calls `each` for every active Pod that an object controls.
fn for_active<'v>(
    owner: Uid,
    view: &PassView<'v>,
    known: &mut RankCache,
    each: &mut dyn FnMut(&'v Rc<Object>, Uid, &PodRank),
) {
    for (uid, place, pod) in view.cache.owned_pods(owner) {
        let seen = known.of(place, pod);
        if seen.active && seen.controller == owner {
            each(pod, uid, &seen);
        }
    }
}

/// Counts the active Pods per node over all ReplicaSets of the same owner; empty for a bare ReplicaSet. `own` are the Pods of the object
/// itself while the cache does not contain all of them yet.
fn neighbours(
    object: &Object,
    own: Option<&[Rc<Object>]>,
    view: &PassView<'_>,
    known: &mut RankCache,
) -> Vec<i32> {
    let mut nodes = Vec::new();
    let Some(owner) = object.meta.controller() else {
        return nodes;
    };
    let mut add = |seen: &PodRank| {
        nodes.resize(nodes.len().max(seen.node as usize + 1), 0);
        nodes[seen.node as usize] += 1;
    };
    for sibling in view.cache.owned_of_kind(owner.uid, Kind::ReplicaSet) {
        match own.filter(|_| sibling.meta.uid == object.meta.uid) {
            Some(own) => own.iter().for_each(|pod| add(&known.read(pod))),
            None => for_active(sibling.meta.uid, view, known, &mut |_, _, seen| add(seen)),
        }
    }
    nodes
}

/// Ranking of Pods by [`RANKS`].
trait Ranks {
    /// Returns a value for each of [`RANKS`].
    fn ranks(&self, neighbours: i32, now: Timestamp) -> [i32; RANKS.len()];
}

impl Ranks for PodRank {
    /// `neighbours` are the active Pods of sibling ReplicaSets on the same node.
    fn ranks(&self, neighbours: i32, now: Timestamp) -> [i32; RANKS.len()] {
        let age = |since: Option<Timestamp>| {
            since.map_or(0, |t| log_age(now.seconds() - t.seconds()) as i32)
        };
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
    use k8s_model::pod::{Pod, PodCondition};
    use k8s_model::{Body, ObjectMeta};
    use sim_core::rank_cache::COST;
    use sim_core::table::Table;
    use smol_str::format_smolstr;

    /// A Pod on `node`; ready since `ready`, if given.
    fn pod(node: &str, phase: &str, ready: Option<i64>, uid: u128) -> Object {
        let mut pod = Pod {
            node_name: node.into(),
            ..Default::default()
        };
        pod.status.phase = phase.into();
        if let Some(since) = ready {
            pod.status.conditions.push(PodCondition {
                kind: "Ready".into(),
                status: "True".into(),
                last_transition_time: Some(Timestamp::new(since)),
                ..Default::default()
            });
        }
        let meta = ObjectMeta {
            uid: Uid(uid),
            creation_timestamp: Some(Timestamp::new(0)),
            ..Default::default()
        };
        Object {
            kind: Kind::Pod,
            meta,
            body: Body::Pod(Box::new(pod)),
        }
    }

    #[test]
    fn deletion_ranks_are_compared_in_order() {
        let ready = || (pod("n", "Running", Some(0), 1), 0);
        let mut cheap = pod("n", "Running", Some(0), 1);
        Rc::make_mut(&mut cheap.meta.annotations).insert(COST.into(), "-1".into());
        let cases = [
            (
                "a Pod without a node goes first",
                (pod("", "Pending", None, 9), 0),
                DeletionRank::Unassigned,
            ),
            (
                "then a pending one",
                (pod("n", "Pending", None, 9), 0),
                DeletionRank::Pending,
            ),
            (
                "then one that is not ready",
                (pod("n", "Running", None, 9), 0),
                DeletionRank::NotReady,
            ),
            (
                "then one of lower cost",
                (cheap, 0),
                DeletionRank::LowerCost,
            ),
            (
                "then one that shares its node",
                (pod("n", "Running", Some(0), 1), 2),
                DeletionRank::SharesNode,
            ),
            (
                "then one that is ready for a shorter time",
                (pod("n", "Running", Some(999), 9), 0),
                DeletionRank::YoungerReady,
            ),
            (
                "equal ones go by uid",
                (pod("n", "Running", Some(0), 0), 0),
                DeletionRank::Equal,
            ),
        ];
        let mut known = RankCache::default();
        let mut ranks = |(object, neighbours): (Object, i32)| {
            let object = Rc::new(object);
            (
                known.read(&object).ranks(neighbours, Timestamp::new(1000)),
                object,
            )
        };
        for (name, first, rank) in cases {
            let ((a, first), (b, second)) = (ranks(first), ranks(ready()));
            let (first, second) = (
                Ranked {
                    pod: &first,
                    uid: first.meta.uid,
                    by: a,
                },
                Ranked {
                    pod: &second,
                    uid: second.meta.uid,
                    by: b,
                },
            );
            assert_eq!(first.compare(&second), (Ordering::Less, rank), "{name}");
        }
    }

    #[test]
    fn the_first_of_many_are_those_of_the_whole_order() {
        let mut known = RankCache::default();
        let pods: Vec<_> = (0..300_u128)
            .map(|at| {
                Rc::new(pod(
                    ["n", "m", ""][at as usize % 3],
                    "Running",
                    Some(at as i64 * 37 % 1000),
                    at * 7919 % 300,
                ))
            })
            .collect();
        let mut first = |count: usize| {
            let mut first = First::new(count, &[4, 2], Timestamp::new(1000));
            pods.iter()
                .for_each(|pod| first.add(pod, pod.meta.uid, &known.read(pod)));
            first
                .end()
                .iter()
                .map(|ranked| ranked.uid)
                .collect::<Vec<_>>()
        };
        let all = first(usize::MAX);
        assert_eq!(all.len(), 300);
        for count in [0, 1, 7, 149, 150, 299, 300] {
            // The extra Pod is the first of those that stay.
            assert_eq!(first(count), all[..(count + 1).min(300)], "{count}");
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
        let (waits, runs) = (
            Rc::new(pod("", "Pending", None, 1)),
            Rc::new(pod("n", "Running", Some(0), 1)),
        );
        let other = Rc::new(pod("m", "Running", None, 2));
        for (object, assigned, ready) in [
            (&waits, false, false),
            (&runs, true, true),
            (&runs, true, true),
            (&other, true, false),
        ] {
            let seen = known.of(3, object);
            assert_eq!((seen.assigned, seen.ready), (assigned, ready));
        }
        assert_ne!(known.of(3, &runs).node, known.of(4, &other).node);
        assert_eq!(
            known.of(4, &other).node,
            known.of(5, &Rc::new(pod("m", "Pending", None, 3))).node
        );
    }
}
