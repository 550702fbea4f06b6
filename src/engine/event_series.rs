//! Recording Events through the API `events.k8s.io`, as the scheduler does: what is said again of the same version of an object is a
//! series. Its second occurrence is written, later ones are only counted; every six minutes a series that was silent for as long gets its
//! final count, and every thirty minutes each series gets its count so far.
//!
//! Models `client-go/tools/events/event_broadcaster.go`.

use super::events::{EventRecorder, SCHEDULER, new_event};
use super::journal::Actor;
use super::store::{ApiServer, Origin};
use super::table::hash;
use super::why::Why;
use crate::api::event::{EventSeries, MicroTime};
use crate::api::time::SECOND;
use crate::api::{Body, Object, ObjectMeta, Str, Time, Uid};
use std::rc::Rc;

/// How often series are checked, and how long one must be silent to be over.
const FINISH_US: u64 = 360 * SECOND;
/// How often all series are written.
const REFRESH_US: u64 = 1_800 * SECOND;
/// Objects whose series are checked in one task.
const BATCH: usize = 256;
/// Why a count is written later than the Event came.
pub const LATE_COUNT: &str = "series";

/// An Event that may be said again.
#[derive(Clone, Debug)]
pub(super) struct Series {
    /// What was said, and of which version.
    what: u64,
    /// As it was created.
    event: Rc<Object>,
    last: Time,
    count: i32,
    /// The count that was written last.
    written: i32,
}

/// The timer of the check: whether it is set, and where a check goes on that is not done.
#[derive(Clone, Debug, Default)]
pub(super) struct Check {
    planned: bool,
    next: Option<Uid>,
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
        // The message is no part of what is the same.
        let (uid, same) = (about.meta.uid, hash(what.0, what.1) ^ about.meta.resource_version);
        let said = self.series.get_mut(&uid).map(Rc::make_mut);
        if let Some(series) = said.and_then(|said| said.series.iter_mut().find(|series| series.what == same)) {
            (series.last, series.count) = (server.now, series.count + 1);
            if series.written == 1 {
                series.write(server, origin, "count");
            }
            return;
        }
        let event = new_event(server, origin, about, &Str::default(), what, message, stamp);
        if let Ok(event) = server.create(origin, event, Why::Said { reason: what.1 }) {
            self.said_about(uid).events.push((same, stamp));
            // Only what goes wrong is said again of the same version: a Pod is assigned, or preempted, once.
            if what.0 == "Warning" {
                let all = &mut Rc::make_mut(self.series.get_or_insert_with(uid, Rc::default)).series;
                all.reserve_exact(1);
                all.push(Series { what: same, event, last: server.now, count: 1, written: 1 });
            }
        }
    }

    /// When the series are to be checked, if that is not planned yet.
    pub(super) fn plan_check(&mut self, now: Time) -> Option<Time> {
        let wanted = !self.check.planned && !self.series.is_empty();
        self.check.planned |= wanted;
        wanted.then(|| Time((now.0 / FINISH_US + 1) * FINISH_US))
    }

    /// Writes the final count of silent series, and now and then that of all. False if more of them are left for the next task.
    pub(super) fn check_series(&mut self, server: &mut ApiServer, pass: u32) -> bool {
        let (now, actor) = (server.now, Actor::component(SCHEDULER));
        let origin = Origin { actor, cause: None, pass, manager: None, user: None };
        let refreshes = now.0.is_multiple_of(REFRESH_US);
        let mut due: Vec<Uid> = self.series.from(&self.check.next.unwrap_or_default()).map(|(uid, _)| *uid).take(BATCH + 1).collect();
        self.check.next = if due.len() > BATCH { due.pop() } else { None };
        self.check.planned = self.check.next.is_some();
        for uid in due {
            let Some(said) = self.series.get_mut(&uid).map(Rc::make_mut) else { continue };
            said.series.retain_mut(|series| {
                let silent = series.last.after(FINISH_US) < now;
                if series.count > series.written && (silent || refreshes) {
                    series.write(server, &origin, LATE_COUNT);
                }
                !silent
            });
            if said.series.is_empty() {
                self.series.remove(&uid);
            }
        }
        !self.check.planned
    }
}

impl Series {
    /// Writes the count so far, also of an Event that is gone meanwhile: it is created again.
    fn write(&mut self, server: &mut ApiServer, origin: &Origin, reason: &'static str) {
        self.written = self.count;
        let stored = server.get(&self.event.key()).cloned();
        let mut new = Object::clone(stored.as_ref().unwrap_or(&self.event));
        if let Body::Event(event) = &mut new.body {
            let last = MicroTime(server.wall_at(self.last), (self.last.0 % 1_000_000) as u32);
            event.series = Some(Box::new(EventSeries { count: self.count, last_observed_time: last }));
        }
        // Refused where its namespace is being deleted.
        let _ = match stored {
            Some(_) => server.update_all(origin, new, Why::Said { reason }).map(|_| ()),
            None => {
                let ObjectMeta { name, namespace, .. } = new.meta;
                new.meta = ObjectMeta { name, namespace, ..Default::default() };
                server.create(origin, new, Why::Said { reason }).map(|_| ())
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Kind;
    use crate::engine::Sim;
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
    fn what_is_said_again_of_the_same_version_is_a_series() {
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
    fn an_event_that_was_deleted_comes_back_with_its_count() {
        let mut server = ApiServerUnderTest::new();
        let delete = |server: &mut ApiServerUnderTest| Session::start(&mut server.sim, &split("delete events --all"), "").exit;
        server.say(1);
        assert_eq!(delete(&mut server), Some(0));
        server.say(2);
        assert_eq!(server.counts(), [2]);
        delete(&mut server);
        server.say(3);
        assert!(server.counts().is_empty());
        server.sim.advance(Time(720 * SECOND), usize::MAX);
        assert_eq!(server.counts(), [3]);
    }

    #[test]
    fn a_scheduler_that_restarts_begins_again() {
        let mut server = ApiServerUnderTest::new();
        server.say(1);
        server.say(2);
        server.sim.fault("restart kube-controller-manager").unwrap();
        server.say(3);
        assert_eq!(server.counts(), [2]);
        server.sim.fault("restart kube-scheduler").unwrap();
        server.say(4);
        assert_eq!(server.counts(), [2, 1]);
    }

    #[test]
    fn very_many_series_are_checked_in_several_tasks() {
        let mut server = ApiServerUnderTest::new();
        let pods = BATCH * 2 + 3;
        for at in 0..pods {
            let meta = &mut Rc::make_mut(&mut server.about).meta;
            (meta.uid, meta.name) = (Uid(at as u128 + 1), format!("big-{at}").into());
            (0..3).for_each(|_| server.say(1));
        }
        server.sim.advance(Time(720 * SECOND), usize::MAX);
        let counts = server.counts();
        assert_eq!((counts.len(), counts.iter().all(|count| *count == 3)), (pods, true));
        assert!(server.sim.recorder.series.is_empty());
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
            self.sim.request(|_| ());
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
