//! Recording of Events through the API `events.k8s.io`, as in the scheduler: repeats about the same version of an object form a series.
//! The second occurrence is written, later ones are only counted; every six minutes a series that was silent for as long gets its final
//! count, and every thirty minutes each series gets its count so far.
//!
//! Models `client-go/tools/events/event_broadcaster.go`.

use super::events::{EventRecorder, new_event};
use apiserver::journal::Actor;
use apiserver::why::Why;
use apiserver::{ApiServer, Component, Origin};
use k8s_model::event::{EventSeries, MicroTime};
use k8s_model::time::SECOND;
use k8s_model::{Body, Object, ObjectMeta, Str, Time, Uid};
use sim_core::table::hash;
use std::rc::Rc;

/// Interval of the checks, and silence after which a series is finished.
const FINISH_US: u64 = 360 * SECOND;
/// Interval at which all series are written.
const REFRESH_US: u64 = 1_800 * SECOND;
/// Objects whose series are checked in one task.
pub const BATCH: usize = 256;
/// Reason of a write that updates the count after the Event.
pub const LATE_COUNT: &str = "series";

/// Event that may be repeated.
#[derive(Clone, Debug)]
pub struct Series {
    /// Hash of the Event and the version of its object.
    what: u64,
    /// Event as created.
    event: Rc<Object>,
    last: Time,
    count: i32,
    /// Count at the last write.
    written: i32,
}

/// Timer of the checks: whether one is planned, and where an unfinished check continues.
#[derive(Clone, Debug, Default)]
pub struct Check {
    planned: bool,
    next: Option<Uid>,
}

impl EventRecorder {
    /// Records an Event of the scheduler.
    pub fn record_series(
        &mut self,
        server: &mut ApiServer,
        origin: &Origin,
        about: &Object,
        what: (&'static str, &'static str),
        message: Str,
        stamp: u64,
    ) {
        // The message is not part of the identity.
        let (uid, same) = (
            about.meta.uid,
            hash(what.0, what.1) ^ about.meta.resource_version,
        );
        let recorded = self.series.get_mut(&uid).map(Rc::make_mut);
        if let Some(series) = recorded.and_then(|recorded| {
            recorded
                .series
                .iter_mut()
                .find(|series| series.what == same)
        }) {
            (series.last, series.count) = (server.store.now, series.count + 1);
            if series.written == 1 {
                series.write(server, origin, "count");
            }
            return;
        }
        let event = new_event(server, origin, about, &Str::default(), what, message, stamp);
        if let Ok(event) = server.create(origin, event, Why::Event { reason: what.1 }) {
            self.events_of(uid).events.push((same, stamp));
            // Only warnings are repeated for the same version: a Pod is assigned, or preempted, once.
            if what.0 == "Warning" {
                let all =
                    &mut Rc::make_mut(self.series.get_or_insert_with(uid, Rc::default)).series;
                all.reserve_exact(1);
                all.push(Series {
                    what: same,
                    event,
                    last: server.store.now,
                    count: 1,
                    written: 1,
                });
            }
        }
    }

    /// Returns the time of the next check, if it is not planned yet.
    pub fn plan_check(&mut self, now: Time) -> Option<Time> {
        let wanted = !self.check.planned && !self.series.is_empty();
        self.check.planned |= wanted;
        wanted.then(|| Time((now.0 / FINISH_US + 1) * FINISH_US))
    }

    /// Writes the final count of silent series, and periodically that of all. Returns false if more are left for the next task.
    pub fn check_series(&mut self, server: &mut ApiServer, pass: u32) -> bool {
        let (now, actor) = (server.store.now, Actor::component(Component::Scheduler));
        let origin = Origin {
            actor,
            cause: None,
            pass,
            manager: None,
            user: None,
            call: None,
        };
        let refreshes = now.0.is_multiple_of(REFRESH_US);
        let mut due: Vec<Uid> = self
            .series
            .from(&self.check.next.unwrap_or_default())
            .map(|(uid, _)| *uid)
            .take(BATCH + 1)
            .collect();
        self.check.next = if due.len() > BATCH { due.pop() } else { None };
        self.check.planned = self.check.next.is_some();
        for uid in due {
            let Some(recorded) = self.series.get_mut(&uid).map(Rc::make_mut) else {
                continue;
            };
            recorded.series.retain_mut(|series| {
                let silent = series.last.after(FINISH_US) < now;
                if series.count > series.written && (silent || refreshes) {
                    series.write(server, &origin, LATE_COUNT);
                }
                !silent
            });
            if recorded.series.is_empty() {
                self.series.remove(&uid);
            }
        }
        !self.check.planned
    }
}

impl Series {
    /// Writes the count so far; an Event that is gone in the meantime is created again.
    fn write(&mut self, server: &mut ApiServer, origin: &Origin, reason: &'static str) {
        self.written = self.count;
        let stored = server.store.get(&self.event.key()).cloned();
        let mut new = Object::clone(stored.as_ref().unwrap_or(&self.event));
        if let Body::Event(event) = &mut new.body {
            let last = MicroTime(
                server.store.wall_at(self.last),
                (self.last.0 % 1_000_000) as u32,
            );
            event.series = Some(Box::new(EventSeries {
                count: self.count,
                last_observed_time: last,
            }));
        }
        // The write is refused if the namespace is terminating.
        let _ = match stored {
            Some(_) => server
                .update_latest(origin, new, Why::Event { reason })
                .map(|_| ()),
            None => {
                let ObjectMeta {
                    name, namespace, ..
                } = new.meta;
                new.meta = ObjectMeta {
                    name,
                    namespace,
                    ..Default::default()
                };
                server
                    .create(origin, new, Why::Event { reason })
                    .map(|_| ())
            }
        };
    }
}
