//! Recording Events through the API `events.k8s.io`, as the scheduler does: what is said again of the same version of an object is a
//! series. Its second occurrence is written, later ones are only counted; every six minutes a series that was silent for as long gets its
//! final count, and every thirty minutes each series gets its count so far.
//!
//! Models `client-go/tools/events/event_broadcaster.go`. That the final count of a deleted object's series is written is not modelled.

use super::events::{EventRecorder, new_event};
use super::journal::Actor;
use super::sim::Sim;
use super::store::{ApiServer, Origin};
use super::table::hash;
use super::why::Why;
use crate::api::event::{EventSeries, MicroTime};
use crate::api::time::SECOND;
use crate::api::{Body, Object, ObjectRef, Str, Time};

/// How often silent series are looked for, and how long such a one was.
const FINISH_US: u64 = 360 * SECOND;
/// How often all series are written.
const REFRESH_US: u64 = 1_800 * SECOND;
/// Events written in one task.
const BATCH: usize = 256;

/// An Event that may be said again.
#[derive(Clone, Debug)]
pub(super) struct Series {
    /// What was said, and of which version.
    what: u64,
    event: ObjectRef,
    last: Time,
    count: i32,
    /// The count that the Event has.
    written: i32,
}

/// Looks for silent series: whether there are series, and whether the next look is planned.
#[derive(Clone, Debug, Default)]
pub(super) struct Looks {
    wanted: bool,
    planned: bool,
}

impl EventRecorder {
    /// Records an Event of the scheduler.
    pub(super) fn record_series(
        &mut self,
        server: &mut ApiServer,
        origin: &Origin,
        about: &Object,
        what: (&'static str, &'static str),
        message: Str,
        stamp: u64,
    ) {
        let said = self.said_about(about.meta.uid);
        // The message is no part of what is the same.
        let same = hash(what.0, what.1) ^ about.meta.resource_version;
        if let Some(series) = said.series.iter_mut().find(|series| series.what == same) {
            (series.last, series.count) = (server.now, series.count + 1);
            if series.written > 1 || series.write(server, origin) {
                return;
            }
        }
        said.series.retain(|series| series.what != same);
        let event = new_event(server, origin, about, &Str::default(), what, message, stamp);
        let key = event.key();
        if server.create(origin, event, Why::Said { reason: what.1 }).is_ok() {
            said.events.push((same, stamp));
            // Only what goes wrong is said again of the same version: a Pod is assigned, or preempted, once.
            if what.0 == "Warning" {
                said.series.push(Series { what: same, event: key, last: server.now, count: 1, written: 1 });
                self.looks.wanted = true;
            }
        }
    }

    /// When silent series are to be looked for, if that is not planned yet.
    pub(super) fn plan_look(&mut self, now: Time) -> Option<Time> {
        let Looks { wanted, planned } = self.looks;
        self.looks.planned |= wanted;
        (wanted && !planned).then(|| Time((now.0 / FINISH_US + 1) * FINISH_US))
    }

    /// The scheduler has restarted.
    pub(super) fn end_series(&mut self) {
        for uid in self.with_series(&|_| true, usize::MAX) {
            self.said_about(uid).series.clear();
        }
    }
}

impl Series {
    /// Writes the count so far. False if the Event is gone.
    fn write(&mut self, server: &mut ApiServer, origin: &Origin) -> bool {
        self.written = self.count;
        let Some(mut new) = server.get(&self.event).map(|old| (**old).clone()) else { return false };
        let Body::Event(event) = &mut new.body else { return false };
        let last = MicroTime(server.wall_at(self.last), (self.last.0 % 1_000_000) as u32);
        event.series = Some(Box::new(EventSeries { count: self.count, last_observed_time: last }));
        server.update_all(origin, new, Why::Said { reason: "count" }).is_ok()
    }

    fn is_silent(&self, now: Time) -> bool {
        self.last.after(FINISH_US) < now
    }
}

impl Sim {
    /// Writes the final count of silent series, and now and then that of all. False if more of them are left for the next task.
    pub(super) fn finish_series(&mut self) -> bool {
        let (now, actor) = (self.now(), Actor::component("default-scheduler"));
        let origin = Origin { actor, cause: None, pass: self.pass, manager: None, user: None };
        let refreshes = now.0.is_multiple_of(REFRESH_US);
        let recorder = &mut self.recorder;
        let due = recorder.with_series(&|series| series.is_silent(now) || refreshes && series.count > series.written, BATCH);
        for uid in &due {
            recorder.said_about(*uid).series.retain_mut(|series| {
                let silent = series.is_silent(now);
                if series.count > series.written && (silent || refreshes) {
                    // It may have expired, or be deleted.
                    series.write(&mut self.server, &origin);
                }
                !silent
            });
        }
        if due.len() == BATCH {
            return false;
        }
        recorder.looks = Looks { wanted: !recorder.with_series(&|_| true, 1).is_empty(), planned: false };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Kind;
    use crate::engine::cluster::ClusterConfig;
    use crate::engine::journal::Op;
    use crate::kubectl::Session;
    use crate::kubectl::parse::split;

    /// A cluster with a Pod that fits nowhere, until a time in seconds.
    fn too_big(seconds: u64) -> Sim {
        let mut sim = Sim::new(ClusterConfig::default(), 1);
        sim.advance(Time(SECOND), usize::MAX);
        let overrides = r#"{"spec":{"containers":[{"name":"big","image":"nginx","resources":{"requests":{"cpu":"8"}}}]}}"#;
        Session::start(&mut sim, &split(&format!("run big --image=nginx --overrides='{overrides}'")), "");
        sim.advance(Time(seconds * SECOND), usize::MAX);
        sim
    }

    /// The Events about it: how often each came.
    fn times(sim: &Sim) -> Vec<i32> {
        let of = |object: &std::rc::Rc<Object>| match &object.body {
            Body::Event(event) if event.reason == "FailedScheduling" => Some(event.times()),
            _ => None,
        };
        sim.list(Kind::Event).filter_map(of).collect()
    }

    #[test]
    fn what_is_said_again_of_the_same_version_is_written_once_and_counted() {
        // A Pod that fits nowhere is tried again every five minutes and somewhat more.
        let mut sim = too_big(10);
        assert_eq!(times(&sim), [1]);
        // Its condition has changed its version: another Event.
        sim.advance(Time(400 * SECOND), usize::MAX);
        assert_eq!(times(&sim), [1, 1]);
        sim.advance(Time(700 * SECOND), usize::MAX);
        assert_eq!(times(&sim), [1, 2]);
        let mut told = Session::start(&mut sim, &split("describe pod big"), "").stdout;
        told.retain(|c| c != '\n');
        assert!(told.contains("(x2 over "), "{told}");
    }

    #[test]
    fn a_silent_series_gets_its_final_count() {
        let mut server = ApiServerUnderTest::new();
        for second in [1, 2, 3, 4] {
            server.say(second);
        }
        assert_eq!((server.counts(), server.writes()), (vec![2], 2));
        server.sim.advance(Time(359 * SECOND), usize::MAX);
        assert_eq!(server.counts(), [2]);
        // At six minutes it was silent for less.
        server.sim.advance(Time(719 * SECOND), usize::MAX);
        assert_eq!(server.counts(), [2]);
        server.sim.advance(Time(720 * SECOND), usize::MAX);
        assert_eq!((server.counts(), server.writes()), (vec![4], 3));
        // It is over: what is said now is another Event.
        server.say(721);
        assert_eq!(server.counts(), [4, 1]);
    }

    #[test]
    fn a_long_series_is_written_every_half_hour() {
        let mut server = ApiServerUnderTest::new();
        for minute in 1..=31 {
            server.say(minute * 60);
        }
        // The 30th time falls on the look itself and comes after it.
        assert_eq!((server.counts(), server.writes()), (vec![29], 3));
    }

    /// A cluster in which the scheduler says one thing of one version of a Pod.
    struct ApiServerUnderTest {
        sim: Sim,
        about: std::rc::Rc<Object>,
    }

    impl ApiServerUnderTest {
        fn new() -> ApiServerUnderTest {
            let sim = too_big(2);
            let about = sim.list(Kind::Pod).next().unwrap().clone();
            // Nobody else speaks.
            let mut quiet = Sim::new(ClusterConfig::default(), 1);
            quiet.advance(Time(1), usize::MAX);
            ApiServerUnderTest { sim: quiet, about }
        }

        fn say(&mut self, second: u64) {
            self.sim.advance(Time(second * SECOND), usize::MAX);
            let origin = Origin { actor: Actor::component("default-scheduler"), cause: None, pass: 1, manager: None, user: None };
            let (sim, what) = (&mut self.sim, ("Warning", "FailedScheduling"));
            sim.recorder.record(&mut sim.server, &origin, &self.about, &Str::default(), what, "0/3 nodes are available".into());
            sim.request(|_| ());
        }

        fn counts(&self) -> Vec<i32> {
            times(&self.sim)
        }

        fn writes(&self) -> usize {
            let is = |op: Op, object: &Object| op != Op::Deleted && object.kind == Kind::Event;
            self.sim.journal().iter().filter_map(|entry| entry.write()).filter(|(op, object)| is(*op, object)).count()
        }
    }
}
