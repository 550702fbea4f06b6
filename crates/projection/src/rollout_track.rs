//! History of a workload's Pods by revision, read from the journal as it grows.

use crate::adapt;
use crate::model::{Id, PodState};
use apiserver::journal::{Entry, Journal};
use apiserver::{Component, Op};
use k8s_model::pod::Pod;
use k8s_model::{Body, Kind, Object, ObjectRef, Str, Uid};
use std::collections::BTreeMap;

/// Number of Pods of a revision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Ready.
    pub ready: u32,
    /// Neither ready nor failing nor terminating.
    pub unready: u32,
    /// Shown as failing: for example an image that cannot be pulled, or a crash loop.
    pub failing: u32,
    /// Terminating: they exist, but controllers do not count them any more.
    pub leaving: u32,
}

impl Count {
    /// Number of Pods that the controllers count.
    pub fn all(self) -> u32 {
        self.ready + self.unready + self.failing
    }
}

/// Instant at which something changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    /// Milliseconds.
    pub at: u64,
    /// Counts by revision.
    pub counts: Vec<Count>,
    /// Minimum number of available Pods, and maximum number of Pods.
    pub limits: (u32, u32),
    /// Desired number of Pods.
    pub desired: u32,
}

impl Point {
    /// Number of ready Pods.
    pub fn ready(&self) -> u32 {
        self.counts.iter().map(|count| count.ready).sum()
    }

    /// Returns true if there are Pods of two revisions: the limits bind a rollout, not a scaling.
    pub fn is_mixed(&self) -> bool {
        self.counts.iter().filter(|count| count.all() > 0).count() > 1
    }

    /// Number of Pods that the controllers count.
    pub fn all(&self) -> u32 {
        self.counts.iter().map(|count| count.all()).sum()
    }

    /// Number of existing Pods, including terminating ones.
    pub fn existing(&self) -> u32 {
        self.all() + self.counts.iter().map(|count| count.leaving).sum::<u32>()
    }
}

/// Revision of a workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Revision {
    /// Image of the first container.
    pub image: String,
    /// Suffix of the hash of its template.
    pub hash: String,
    /// Revision number in the history of the workload, 0 if it has none.
    pub number: i64,
    /// Previous number of the revision, if the workload was rolled back to it.
    pub rolled_back_from: Option<i64>,
}

/// History of one workload's Pods.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Track {
    /// Workload.
    pub id: Id,
    /// Revisions, in the order of their first Pods.
    pub revisions: Vec<Revision>,
    /// Number of the current revision, which may have no Pods yet.
    pub current: i64,
    /// Points in order of time.
    pub points: Vec<Point>,
    /// Last deletions of Pods: time, first Pod deleted at that instant by one actor, number of Pods, and actor.
    pub left: Vec<(u64, String, u32, Component)>,
    /// Instant shown.
    pub now: u64,
}

impl Track {
    /// Returns the revisions by number, the current one last: a revision that was rolled back to has a new number.
    pub fn by_number(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.revisions.len()).collect();
        order.sort_by_key(|i| (self.revisions[*i].number, *i));
        order
    }

    /// Returns the images of all revisions.
    pub fn images(&self) -> Vec<&str> {
        self.revisions
            .iter()
            .map(|revision| revision.image.as_str())
            .collect()
    }
}

/// Extent of a chart's axes. Charts side by side share one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extent {
    /// Time of the first Pod.
    pub first: Option<u64>,
    /// Start of the current or the last update.
    pub began: Option<u64>,
    /// Times of changes, with the maximum number of existing, allowed or desired Pods.
    pub changes: Vec<(u64, u32)>,
    /// Largest limits.
    pub limits: (u32, u32),
    /// Number of revisions.
    pub revisions: usize,
}

impl Extent {
    /// Computes the extent of one chart.
    pub fn of(track: &Track) -> Extent {
        let most = |point: &Point| point.existing().max(point.limits.1).max(point.desired);
        let limits = track.points.iter().fold(
            (0, 0),
            |(least, most),
             Point {
                 limits, desired, ..
             }| (limits.0.max(least), limits.1.max(*desired).max(most)),
        );
        Extent {
            first: track.points.first().map(|point| point.at),
            began: began(track),
            changes: track
                .points
                .iter()
                .map(|point| (point.at, most(point)))
                .collect(),
            limits,
            revisions: track.revisions.len(),
        }
    }

    /// Merges it with the extent of another chart.
    pub fn with(mut self, other: &Extent) -> Extent {
        let least = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).min();
        self.changes.extend_from_slice(&other.changes);
        self.changes.sort();
        Extent {
            first: least(self.first, other.first),
            began: least(self.began, other.began),
            changes: self.changes,
            limits: (
                self.limits.0.max(other.limits.0),
                self.limits.1.max(other.limits.1),
            ),
            revisions: self.revisions.max(other.revisions),
        }
    }
}

/// Selects the points that represent each stretch: the one furthest below its lower limit, the one with the most Pods, and the last, so
/// that no violation of a limit is lost. The very first point is kept.
pub fn fewer<S: PartialEq>(points: &[Point], stretch: impl Fn(usize) -> S) -> Vec<usize> {
    let missing = |i: usize| {
        (
            points[i].limits.0.saturating_sub(points[i].ready()),
            std::cmp::Reverse(points[i].ready()),
        )
    };
    let over = |i: usize| {
        (
            points[i].all().saturating_sub(points[i].limits.1),
            points[i].existing(),
        )
    };
    let mut out = Vec::new();
    let mut from = 0;
    while from < points.len() {
        let here = stretch(from);
        let to = (from + 1..points.len())
            .find(|i| stretch(*i) != here)
            .unwrap_or(points.len());
        let least = (from..to).max_by_key(|i| missing(*i)).unwrap_or(from);
        let most = (from..to).max_by_key(|i| over(*i)).unwrap_or(from);
        let first = if from == 0 { 0 } else { to - 1 };
        out.extend((from..to).filter(|i| [first, least, most, to - 1].contains(i)));
        from = to;
    }
    out
}

/// Start of the current or the last update: from then on there were Pods of two revisions.
pub fn began(track: &Track) -> Option<u64> {
    let mixed = track.points.iter().rposition(Point::is_mixed)?;
    let after = track.points[..mixed]
        .iter()
        .rposition(|point| !point.is_mixed())
        .map_or(0, |last| last + 1);
    track.points.get(after).map(|point| point.at)
}

/// Pod as counted by the track.
#[derive(Clone, Copy, PartialEq)]
struct Seen {
    revision: usize,
    standing: Standing,
}

/// Count to which a Pod belongs.
#[derive(Clone, Copy, PartialEq)]
enum Standing {
    Ready,
    Unready,
    Failing,
    Leaving,
}

impl Standing {
    fn of(object: &Object, pod: &Pod) -> Standing {
        if object.meta.is_deleting() {
            return Standing::Leaving;
        }
        if pod.is_ready() {
            return Standing::Ready;
        }
        match adapt::status(object).0 {
            PodState::Failed => Standing::Failing,
            _ => Standing::Unready,
        }
    }
}

/// Reader of a track, entry by entry.
#[derive(Default)]
pub struct Tracker {
    subject: Option<Uid>,
    sets: Vec<Uid>,
    hashes: Vec<Str>,
    /// Numbers of the revisions by the suffix of their hash, and the previous number if the workload was rolled back.
    numbers: BTreeMap<Str, (i64, Option<i64>)>,
    pods: BTreeMap<Uid, Seen>,
    /// Counts by revision.
    counts: Vec<Count>,
    scanned: usize,
    /// True if there is more to read.
    pub lags: bool,
    epoch: u64,
    pub track: Track,
}

/// Maximum number of points; older ones are thinned out.
pub const MAX_POINTS: usize = 10_000;
/// Maximum number of remembered deletions.
const MAX_DEPARTURES: usize = 64;

impl Tracker {
    /// Returns the track of a workload at the instant shown, after reading up to `most` more entries.
    pub fn read(
        &mut self,
        object: &Object,
        journal: Journal<'_>,
        epoch: u64,
        now: u64,
        most: usize,
    ) -> &Track {
        if self.subject != Some(object.meta.uid)
            || self.epoch != epoch
            || self.scanned > journal.len()
        {
            *self = Tracker {
                subject: Some(object.meta.uid),
                epoch,
                ..Tracker::default()
            };
            self.track.id = adapt::id(object);
        }
        let to = journal.len().min(self.scanned.saturating_add(most));
        for entry in journal.first(to).from(self.scanned).iter() {
            self.take(entry);
        }
        self.scanned = to;
        self.lags = to < journal.len();
        // While entries are left to read, the track ends at the last one read.
        let read = journal
            .get(to.saturating_sub(1))
            .filter(|_| self.lags)
            .map(|entry| entry.time.0 / 1000);
        self.track.now = read.unwrap_or(now);
        &self.track
    }

    /// Uid of the workload.
    pub fn subject(&self) -> Option<Uid> {
        self.subject
    }

    fn take(&mut self, entry: &Entry) {
        let Some((op, object)) = entry.write() else {
            return;
        };
        let subject = self.subject.unwrap_or_default();
        let at = entry.time.0 / 1000;
        match object.kind {
            _ if object.meta.uid == subject => {
                let (limits, desired) = limits(object);
                let same = self
                    .track
                    .points
                    .last()
                    .is_some_and(|point| point.limits == limits && point.desired == desired);
                if !same {
                    self.push(at, Some((limits, desired)));
                }
            }
            Kind::ReplicaSet | Kind::ControllerRevision
                if object.meta.is_controlled_by(subject) =>
            {
                if object.kind == Kind::ReplicaSet && !self.sets.contains(&object.meta.uid) {
                    self.sets.push(object.meta.uid);
                }
                self.number(object);
            }
            Kind::Pod => {
                let Some(owner) = object.meta.controller().map(|owner| owner.uid) else {
                    return;
                };
                if owner == subject || self.sets.contains(&owner) {
                    self.pod(op, object, entry);
                }
            }
            _ => {}
        }
    }

    fn pod(&mut self, op: Op, object: &Object, entry: &Entry) {
        let Some(pod) = object.pod() else { return };
        let at = entry.time.0 / 1000;
        let uid = object.meta.uid;
        let known = self.pods.get(&uid).copied();
        let standing = Standing::of(object, pod);
        let leaves = standing == Standing::Leaving;
        if leaves && known.is_some_and(|seen| seen.standing != Standing::Leaving) {
            self.left(at, &object.meta.name, entry.actor.component);
        }
        let gone = op == Op::Deleted || (pod.is_terminal() && !leaves);
        // A Pod that had ended before is not counted again.
        if known.map_or(gone || leaves, |seen| !gone && seen.standing == standing) {
            return;
        }
        if let Some(seen) = known {
            self.count(seen, -1);
        }
        if gone {
            self.pods.remove(&uid);
            self.push(at, None);
            return;
        }
        let seen = Seen {
            revision: known.map_or_else(|| self.revision(object, pod), |seen| seen.revision),
            standing,
        };
        self.pods.insert(uid, seen);
        self.count(seen, 1);
        self.push(at, None);
    }

    pub fn left(&mut self, at: u64, name: &str, by: Component) {
        // Several actors may have deleted Pods in one instant.
        match self
            .track
            .left
            .iter_mut()
            .rev()
            .take_while(|last| last.0 == at)
            .find(|last| last.3 == by)
        {
            Some(last) => last.2 += 1,
            None => self.track.left.push((at, name.into(), 1, by)),
        }
        if self.track.left.len() > MAX_DEPARTURES {
            self.track.left.remove(0);
        }
    }

    /// Returns the index of a Pod's revision, adding it if it is new.
    fn revision(&mut self, object: &Object, pod: &Pod) -> usize {
        let hash = ["pod-template-hash", "controller-revision-hash"]
            .into_iter()
            .find_map(|label| object.meta.label(label));
        let hash = hash.cloned().unwrap_or_default();
        self.hashes
            .iter()
            .position(|known| *known == hash)
            .unwrap_or_else(|| {
                let image = pod
                    .spec
                    .containers
                    .first()
                    .map(|container| container.image.as_str())
                    .unwrap_or("");
                self.hashes.push(hash.clone());
                self.counts.push(Count::default());
                let hash = hash.rsplit('-').next().unwrap_or_default().to_string();
                let (number, rolled_back_from) =
                    self.numbers.get(hash.as_str()).copied().unwrap_or_default();
                self.track.revisions.push(Revision {
                    image: image.to_string(),
                    hash,
                    number,
                    rolled_back_from,
                });
                self.hashes.len() - 1
            })
    }

    /// Updates the number of a revision. A revision whose number increases was rolled back to.
    fn number(&mut self, object: &Object) {
        let number = adapt::revision(object);
        let hash = Str::from(object.meta.name.rsplit('-').next().unwrap_or_default());
        let (before, back) = self.numbers.get(&hash).copied().unwrap_or_default();
        if number <= before {
            return;
        }
        let back = if before > 0 {
            self.numbers
                .values()
                .map(|(other, _)| *other)
                .max()
                .filter(|other| *other > before)
        } else {
            back
        };
        self.numbers.insert(hash.clone(), (number, back));
        self.track.current = self.track.current.max(number);
        if let Some(revision) = self
            .track
            .revisions
            .iter_mut()
            .find(|revision| revision.hash == hash)
        {
            (revision.number, revision.rolled_back_from) = (number, back);
        }
    }

    fn count(&mut self, seen: Seen, by: i32) {
        let count = &mut self.counts[seen.revision];
        let n = match seen.standing {
            Standing::Ready => &mut count.ready,
            Standing::Unready => &mut count.unready,
            Standing::Failing => &mut count.failing,
            Standing::Leaving => &mut count.leaving,
        };
        *n = n.wrapping_add_signed(by);
    }

    fn push(&mut self, at: u64, limits: Option<((u32, u32), u32)>) {
        let before = self
            .track
            .points
            .last()
            .map_or(((0, 0), 0), |point| (point.limits, point.desired));
        let (limits, desired) = limits.unwrap_or(before);
        let point = Point {
            at,
            counts: self.counts.clone(),
            limits,
            desired,
        };
        match self.track.points.last_mut() {
            Some(last) if last.at == at => *last = point,
            _ => self.track.points.push(point),
        }
        if self.track.points.len() > MAX_POINTS {
            thin(&mut self.track);
        }
    }
}

/// Thins out the points without a visible difference on an axis of all of them, or of the current update: a thinned stretch is a pixel or
/// two wide there, and the same past is always drawn the same. Idle time does not count, since an axis folds it.
fn thin(track: &mut Track) {
    /// Number of stretches on the axis.
    const AXIS_STRETCHES: u64 = 620;
    /// Maximum idle time that counts between two points.
    const COUNTED_IDLE_MS: u64 = 2_000;
    let began = began(track).unwrap_or(u64::MAX);
    let points = &mut track.points;
    let mut wide = AXIS_STRETCHES;
    while points.len() > MAX_POINTS * 3 / 4 && wide > 0 {
        let busy = |after: u64| {
            points
                .windows(2)
                .filter(|two| two[0].at >= after)
                .map(|two| (two[1].at - two[0].at).min(COUNTED_IDLE_MS))
                .sum()
        };
        // A power of two, so that stretches stay aligned when the grain grows.
        let grain = |span: u64| 1 << (span / wide).max(1).ilog2();
        let [all, update] = [0, began].map(|after| grain(busy(after)));
        let kept = fewer(points, |i| {
            let grain: u64 = if points[i].at < began { all } else { update };
            (grain, points[i].at / grain)
        });
        *points = kept
            .into_iter()
            .map(|i| std::mem::take(&mut points[i]))
            .collect();
        wide /= 2;
    }
}

/// Returns the minimum and maximum number of Pods, and the desired number.
fn limits(object: &Object) -> ((u32, u32), u32) {
    let whole = |n: i64| n.max(0) as u32;
    match &object.body {
        Body::Deployment(body) => {
            let desired = i64::from(body.spec.replicas);
            let (surge, gone) = body.limits();
            if body.spec.strategy.kind == "Recreate" {
                return ((0, whole(desired)), whole(desired));
            }
            (
                (whole(desired - gone), whole(desired + surge)),
                whole(desired),
            )
        }
        // The limits only bind an update.
        Body::StatefulSet(body)
            if body.status.current_revision == body.status.update_revision
                || body.spec.update_strategy.kind == "OnDelete" =>
        {
            ((0, 0), whole(body.spec.replicas.into()))
        }
        Body::StatefulSet(body) => (
            (
                whole(i64::from(body.spec.replicas) - 1),
                whole(i64::from(body.spec.replicas)),
            ),
            whole(i64::from(body.spec.replicas)),
        ),
        Body::ReplicaSet(body) => (
            (
                whole(i64::from(body.spec.replicas)),
                whole(i64::from(body.spec.replicas)),
            ),
            whole(i64::from(body.spec.replicas)),
        ),
        _ => ((0, 0), 0),
    }
}

/// Returns the workload to which an object belongs, if its rollout can be followed.
pub fn subject(
    key: &ObjectRef,
    get: &dyn Fn(&ObjectRef) -> Option<std::rc::Rc<Object>>,
) -> Option<std::rc::Rc<Object>> {
    let mut object = get(key)?;
    // From a Pod to its ReplicaSet, and from that to its Deployment.
    for _ in 0..3 {
        let Some(owner) = object.meta.controller() else {
            break;
        };
        let Some(next) = owner.key(&object.meta.namespace).and_then(|key| get(&key)) else {
            break;
        };
        object = next;
    }
    matches!(
        object.kind,
        Kind::Deployment
            | Kind::StatefulSet
            | Kind::DaemonSet
            | Kind::ReplicaSet
            | Kind::ReplicationController
    )
    .then_some(object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use apiserver::ControllerId;

    #[test]
    fn a_long_history_is_thinned_and_keeps_what_was_worst_in_it() {
        let mut tracker = Tracker::default();
        let point = |at: u64, ready: u32, unready: u32| Point {
            at,
            counts: vec![Count {
                ready,
                unready,
                ..Count::default()
            }],
            limits: (9, 12),
            desired: 10,
        };
        // A hundred thousand instants, each between two others, two of them outside the limits.
        for at in 0..100_000 {
            let last = match at {
                1_234 => point(at, 2, 3),
                51_111 => point(at, 9, 8),
                _ => point(at, 9 + (at % 2) as u32, 1),
            };
            tracker.track.points.push(last);
            if tracker.track.points.len() > MAX_POINTS {
                thin(&mut tracker.track);
            }
            assert!(tracker.track.points.len() <= MAX_POINTS);
        }
        let points = &tracker.track.points;
        assert!(
            points.is_sorted_by_key(|point| point.at) && points.len() > MAX_POINTS / 2,
            "{}",
            points.len()
        );
        let at = |time: u64| {
            points
                .iter()
                .find(|point| point.at == time)
                .map(|point| point.counts[0])
        };
        assert_eq!(
            at(1_234),
            Some(Count {
                ready: 2,
                unready: 3,
                ..Count::default()
            })
        );
        assert_eq!(
            at(51_111),
            Some(Count {
                ready: 9,
                unready: 8,
                ..Count::default()
            })
        );
        assert_eq!(points.last().map(|point| point.at), Some(99_999));
    }

    #[test]
    fn a_past_instant_is_the_same_however_much_came_later() {
        let mut track = Track::default();
        let push = |track: &mut Track, at: u64, old: u32, new: u32| {
            let counts = vec![
                Count {
                    ready: old,
                    ..Count::default()
                },
                Count {
                    ready: new,
                    unready: at as u32 % 50,
                    ..Count::default()
                },
            ];
            track.points.push(Point {
                at,
                counts,
                limits: (3_750, 6_250),
                desired: 5_000,
            });
            if track.points.len() > MAX_POINTS {
                thin(track);
            }
        };
        // Five thousand Pods become ready one by one; a minute later all are replaced, repeatedly.
        (0..5_000).for_each(|i| push(&mut track, 1_000 + i, i as u32, 0));
        for update in 1..40 {
            let began = update * 60_000;
            (0..=5_000).for_each(|i| push(&mut track, began + i, 5_000 - i as u32, i as u32));
            let ready = |at: u64, old: bool| {
                track.points[track.points.partition_point(|point| point.at <= at) - 1].counts
                    [usize::from(!old)]
                .ready
            };
            // On an axis of 1,240 pixels, with the idle time between folded: five seconds, and one of rest on either side.
            let pixel = (update + 1) * 7_000 / 1_240;
            for time in (0..5_000).step_by(100) {
                let off = |at: u64| u64::from(ready(at + time, at == 1_000).abs_diff(time as u32));
                assert!(
                    off(1_000) <= 2 * pixel,
                    "{} off at {time} after {update} updates, {pixel} ms a pixel",
                    off(1_000)
                );
                assert!(
                    off(began) <= 2 * pixel,
                    "{} off at {time} of update {update}, {pixel} ms a pixel",
                    off(began)
                );
            }
            assert!(
                track.points[0].at == 1_000 && track.points.len() <= MAX_POINTS,
                "{}",
                track.points.len()
            );
        }
    }

    #[test]
    fn who_made_pods_go_in_one_instant_is_told_apart() {
        let mut tracker = Tracker::default();
        static REPLICA_SET: ControllerId = ControllerId::new("replicaset-controller");
        let controller = Component::Controller(&REPLICA_SET);
        for (at, name, by) in [
            (5, "a", Component::User),
            (5, "b", controller),
            (5, "c", Component::User),
            (6, "d", Component::User),
        ] {
            tracker.left(at, name, by);
        }
        let of = |at: u64, name: &str, pods: u32, by| (at, name.to_string(), pods, by);
        assert_eq!(
            tracker.track.left,
            [
                of(5, "a", 2, Component::User),
                of(5, "b", 1, controller),
                of(6, "d", 1, Component::User)
            ]
        );
    }
}
