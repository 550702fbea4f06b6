//! Watch faults: lost and delayed events.
//!
//! A watch is one ordered stream per kind, so later events wait behind a delayed one, and the component sees all of them in order, later.
//! Each kubelet has streams of its own for its Pods and its Node. A relist replaces all waiting events. Models the watch of
//! `client-go/tools/cache/reflector.go` on a slow connection.

use super::process::Process;
use apiserver::Component;
use apiserver::journal::{Entry, EntryId, Journal};
use fault::ResolvedTarget;
use k8s_model::time::MS;
use k8s_model::{Duration, Kind, Object, ObjectRef, Str, Time, Uid};
use sim_core::tree::Tree;
use std::collections::VecDeque;

/// Shortest delay that is reported, in microseconds.
const MIN_REPORTED_DELAY_US: u64 = 100 * MS;

/// Fault of the delivery of one event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WatchFault {
    /// The event is dropped.
    Lose,
    /// The event is delivered after a delay, in microseconds.
    Delay(Duration),
    /// The event is delivered twice.
    Repeat,
}

/// Fault that waits for the next matching event.
#[derive(Clone, Debug)]
struct Order {
    meant: ResolvedTarget,
    kind: WatchFault,
    /// Journal entry of the command that injected the fault.
    fault: EntryId,
}

/// Delayed event, with the earliest time of its arrival.
#[derive(Clone, Debug)]
struct DelayedEvent {
    id: EntryId,
    from: Time,
    /// Fault that delayed the event; `None` if it only waits behind a delayed one.
    fault: Option<EntryId>,
}

/// Blocked watch stream: of a kind, and of one node for kubelets.
#[derive(Clone, Debug)]
struct Stream {
    of: (Kind, Str),
    events: VecDeque<DelayedEvent>,
    /// Time until which delivered events were blocked, and the fault that blocked them.
    held_up: Option<(Time, EntryId)>,
}

/// Dropped event, the fault that dropped it, and the object whose state is now stale in the cache.
#[derive(Clone, Debug)]
struct LostEvent {
    id: EntryId,
    fault: EntryId,
    of: Uid,
}

/// Faults of one component's watch.
#[derive(Clone, Default, Debug)]
pub struct WatchFaults {
    orders: Vec<Order>,
    streams: Vec<Stream>,
    due: Option<Time>,
    missed: Vec<LostEvent>,
    /// Number of delayed events that are a controller's own writes, by controller and by object or its owner.
    awaited: Tree<(Component, ObjectRef), u32>,
    /// True if an event was dropped since the flag was last cleared.
    pub lost: bool,
    /// True if the event that arrived last is to be delivered again.
    repeats: bool,
    /// Time of the next relist, if one is scheduled.
    pub lists: Option<Time>,
}

/// Event that has not reached its component, and the cause.
#[derive(Clone, PartialEq, Debug)]
pub struct MissingEvent {
    /// Process that has not received it.
    pub process: Process,
    /// Kind of the blocked stream.
    pub kind: Kind,
    /// First delayed event about the object in question.
    pub event: EntryId,
    /// Event that blocks the stream, or the dropped event itself.
    pub behind: EntryId,
    /// Time at which the fault was injected.
    pub asked: Option<Time>,
    /// Time of the arrival or the relist; `None` if neither happens.
    pub until: Option<Time>,
    /// True if the event was dropped.
    pub lost: bool,
}

/// Watch events and passes of slowed controllers that injected faults have delayed.
#[derive(Clone, Default, Debug)]
pub struct DelayLog {
    /// Fault and time of arrival, by process and event.
    events: Tree<(Process, EntryId), (EntryId, Time)>,
    /// Fault by pass number.
    passes: Tree<u32, EntryId>,
}

impl DelayLog {
    /// Records the arrival of a delayed event.
    pub fn event(
        &mut self,
        process: Process,
        event: EntryId,
        fault: EntryId,
        due: Time,
        now: Time,
    ) {
        if now >= due.after(MIN_REPORTED_DELAY_US) {
            self.events.insert((process, event), (fault, now));
        }
    }

    /// Records a pass whose key had to wait for a slowed controller.
    pub fn pass(&mut self, pass: u32, fault: EntryId, since: Time, now: Time) {
        if now >= since.after(MIN_REPORTED_DELAY_US) {
            self.passes.insert(pass, fault);
        }
    }

    /// Returns the fault that delayed an entry, by slowing its controller or delaying the watch event that triggered it.
    pub fn by(&self, journal: Journal<'_>, id: EntryId) -> Option<EntryId> {
        let entry = journal.get(id as usize)?;
        if let Some(fault) = self.passes.get(&entry.pass) {
            return Some(*fault);
        }
        let process = Process::of(entry.actor.component);
        let woke = entry.cause?;
        let (fault, arrived) = self.events.get(&(process, woke))?;
        // A much later timer has the same cause: most of the wait must be due to the fault.
        let waited = arrived.0.saturating_sub(journal.get(woke as usize)?.time.0);
        (entry.time <= arrived.after(waited)).then_some(*fault)
    }
}

/// Returns the keys under which a controller's own write is counted until the controller sees it: the object and its controller.
fn awaits(entry: &Entry) -> impl Iterator<Item = (Component, ObjectRef)> {
    let component = entry.actor.component;
    let object = entry.write().map(|(_, object)| object);
    let owner = object.and_then(|object| object.meta.controller()?.key(&object.meta.namespace));
    object
        .map(|object| object.key())
        .into_iter()
        .chain(owner)
        .map(move |key| (component, key))
}

/// Returns the stream of a process that carries events of an object; `None` if the process does not watch the object.
fn stream_of(process: Process, object: &Object) -> Option<(Kind, Str)> {
    let node = match object.kind {
        _ if process != Process::Kubelet => Str::default(),
        Kind::Pod => object
            .pod()
            .map(|pod| pod.node_name.clone())
            .filter(|node| !node.is_empty())?,
        _ => object.meta.name.clone(),
    };
    Some((object.kind, node))
}

impl WatchFaults {
    /// Returns the journal entries whose events are delayed.
    pub fn delayed(&self) -> impl Iterator<Item = EntryId> {
        self.streams
            .iter()
            .flat_map(|stream| &stream.events)
            .map(|event| event.id)
    }

    /// Returns the journal entries whose events have not arrived: they are delayed or were dropped.
    pub fn missing(&self) -> impl Iterator<Item = EntryId> {
        self.delayed()
            .chain(self.missed.iter().map(|event| event.id))
    }

    /// Orders a fault of the next matching event.
    pub fn order(&mut self, meant: ResolvedTarget, kind: WatchFault, fault: EntryId) {
        self.orders.push(Order { meant, kind, fault });
    }

    /// Returns true, once, if the event that was delivered last is to be delivered again.
    pub fn take_repeat(&mut self) -> bool {
        std::mem::take(&mut self.repeats)
    }

    /// Ends delays: matching events may arrive now. A fault for the whole kind is removed too, since it might affect
    /// matching events.
    pub fn flush_delayed(&mut self, meant: &ResolvedTarget, journal: Journal<'_>, now: Time) {
        self.orders.retain(|order| {
            !matches!(order.kind, WatchFault::Delay(_))
                || !meant.covers(&order.meant) && !order.meant.covers(meant)
        });
        for event in self
            .streams
            .iter_mut()
            .flat_map(|stream| &mut stream.events)
        {
            if written(journal, event.id).is_some_and(|object| meant.is(object)) {
                event.from = event.from.min(now);
            }
        }
    }

    /// Returns true if an arriving event is withheld from its component, for some time or permanently.
    pub fn withholds(
        &mut self,
        process: Process,
        id: EntryId,
        entry: &Entry,
        arrived: Time,
    ) -> bool {
        let Some((_, object)) = entry.write() else {
            return false;
        };
        let Some(of) = stream_of(process, object) else {
            return false;
        };
        let order = self
            .orders
            .iter()
            .position(|order| order.meant.is(object))
            .map(|at| self.orders.remove(at));
        // A later event contains everything that the lost one did.
        self.missed.retain(|missed| missed.of != object.meta.uid);
        let mut copies = 1;
        let (late, fault) = match order {
            Some(Order {
                kind: WatchFault::Lose,
                fault,
                ..
            }) => {
                self.missed.push(LostEvent {
                    id,
                    fault,
                    of: object.meta.uid,
                });
                self.lost = true;
                return true;
            }
            Some(Order {
                kind: WatchFault::Delay(late),
                fault,
                ..
            }) => (late, Some(fault)),
            Some(Order {
                kind: WatchFault::Repeat,
                ..
            }) => {
                copies = 2;
                (0, None)
            }
            None => (0, None),
        };
        let held = DelayedEvent {
            id,
            from: arrived.after(late),
            fault,
        };
        match self.streams.iter_mut().find(|stream| stream.of == of) {
            Some(stream) => stream.events.extend(std::iter::repeat_n(held, copies)),
            None if late > 0 => self.streams.push(Stream {
                of,
                events: VecDeque::from([held]),
                held_up: None,
            }),
            None => {
                self.repeats = copies > 1;
                return false;
            }
        }
        // Only controllers need this.
        if process == Process::ControllerManager {
            let copies = copies as u32;
            awaits(entry).for_each(|key| *self.awaited.get_or_insert_with(key, || 0) += copies);
        }
        true
    }

    /// Returns the next event whose delay is over, and the fault that caused it.
    pub fn release(
        &mut self,
        journal: Journal<'_>,
        now: Time,
    ) -> Option<(EntryId, Option<EntryId>)> {
        let at = self
            .streams
            .iter()
            .position(|stream| stream.events.front().is_some_and(|event| event.from <= now))?;
        let stream = &mut self.streams[at];
        let event = stream.events.pop_front()?;
        let own = event.fault.map(|fault| (event.from, fault));
        // The latest of the events before it determines the delay.
        stream.held_up = stream
            .held_up
            .filter(|(from, _)| own.is_none_or(|own| own.0 < *from))
            .or(own);
        let fault = stream.held_up.map(|(_, fault)| fault);
        if stream.events.is_empty() {
            self.streams.remove(at);
        }
        if !self.awaited.is_empty() {
            for key in journal.get(event.id as usize).into_iter().flat_map(awaits) {
                let left = self.awaited.get_mut(&key).map_or(0, |count| {
                    *count -= 1;
                    *count
                });
                if left == 0 {
                    self.awaited.remove(&key);
                }
            }
        }
        Some((event.id, fault))
    }

    /// Returns true if a controller has not seen its own writes for a key yet.
    pub fn awaits(&self, controller: Component, key: &ObjectRef) -> bool {
        !self.awaited.is_empty() && self.awaited.contains_key(&(controller, key.clone()))
    }

    /// Returns the time at which the next stream resumes, if it has to be scheduled.
    pub fn next_release(&mut self, now: Time) -> Option<Time> {
        let next = self
            .streams
            .iter()
            .filter_map(|stream| stream.events.front())
            .map(|event| event.from)
            .min()?
            .max(now);
        // A release planned for the past has already happened.
        if self.due.is_some_and(|due| due > now && due <= next) {
            return None;
        }
        self.due = Some(next);
        self.due
    }

    /// Handles a relist of the component: delayed events are obsolete.
    pub fn relist(&mut self) {
        self.streams.clear();
        self.missed.clear();
        self.awaited = Tree::default();
        self.lists = None;
    }

    /// Returns true if the component has not received an event: it is delayed or was dropped.
    pub fn is_behind(&self) -> bool {
        !self.streams.is_empty() || !self.missed.is_empty()
    }

    /// Returns true if no fault is left.
    pub fn is_over(&self) -> bool {
        self.orders.is_empty() && self.streams.is_empty() && self.missed.is_empty() && !self.lost
    }

    /// Returns true if events of the target are delayed, or will be.
    pub fn delays(&self, meant: &ResolvedTarget, journal: Journal<'_>) -> bool {
        let ordered = self
            .orders
            .iter()
            .any(|order| matches!(order.kind, WatchFault::Delay(_)) && order.meant.covers(meant));
        let asked = |event: &DelayedEvent| {
            event
                .fault
                .and_then(|_| written(journal, event.id))
                .is_some_and(|object| meant.is(object))
        };
        ordered
            || self
                .streams
                .iter()
                .flat_map(|stream| &stream.events)
                .any(asked)
    }

    /// Returns the first delayed event that matches: its stream, and the event that blocks it.
    pub fn late(
        &self,
        process: Process,
        journal: Journal<'_>,
        about: &dyn Fn(&Object) -> bool,
    ) -> Option<MissingEvent> {
        let about = |event: &DelayedEvent| written(journal, event.id).is_some_and(about);
        self.streams
            .iter()
            .find_map(|stream| stream.late(stream.events.iter().position(about)?, process, journal))
    }

    /// Returns the event of one entry, if it is delayed or dropped; a binary search, as events are in journal order.
    pub fn late_event(
        &self,
        process: Process,
        journal: Journal<'_>,
        id: EntryId,
    ) -> Option<MissingEvent> {
        let place = |stream: &Stream| {
            stream
                .events
                .binary_search_by_key(&id, |event| event.id)
                .ok()
        };
        let waits = self
            .streams
            .iter()
            .find_map(|stream| stream.late(place(stream)?, process, journal));
        waits.or_else(|| {
            self.missed
                .iter()
                .find(|missed| missed.id == id)?
                .late(process, journal, self.lists)
        })
    }

    /// Returns the first dropped event that matches.
    pub fn missed(
        &self,
        process: Process,
        journal: Journal<'_>,
        about: &dyn Fn(&Object) -> bool,
    ) -> Option<MissingEvent> {
        self.missed.iter().find_map(|missed| {
            written(journal, missed.id).filter(|object| about(object))?;
            missed.late(process, journal, self.lists)
        })
    }
}

impl Stream {
    /// Describes the delay of the event at an index.
    fn late(&self, at: usize, process: Process, journal: Journal<'_>) -> Option<MissingEvent> {
        // The latest of the events before it determines the delay.
        let last = self
            .events
            .iter()
            .take(at + 1)
            .max_by_key(|event| event.from)?;
        let asked = last
            .fault
            .and_then(|fault| journal.get(fault as usize))
            .map(|fault| fault.time);
        let (event, behind) = (self.events[at].id, last.id);
        Some(MissingEvent {
            process,
            kind: self.of.0,
            event,
            behind,
            asked,
            until: Some(last.from),
            lost: false,
        })
    }
}

impl LostEvent {
    fn late(
        &self,
        process: Process,
        journal: Journal<'_>,
        until: Option<Time>,
    ) -> Option<MissingEvent> {
        let (kind, asked) = (
            written(journal, self.id)?.kind,
            journal.get(self.fault as usize).map(|fault| fault.time),
        );
        Some(MissingEvent {
            process,
            kind,
            event: self.id,
            behind: self.id,
            asked,
            until,
            lost: true,
        })
    }
}

/// Returns the object of a write.
fn written<'j>(journal: Journal<'j>, id: EntryId) -> Option<&'j Object> {
    journal
        .get(id as usize)?
        .write()
        .map(|(_, object)| &**object)
}
