//! What is wrong with a component's watch: events that never arrive, and events that arrive late.
//!
//! A watch is one ordered stream for each kind, so what comes behind a late event waits for it, and its component sees all of them in
//! their order, later. Each kubelet has streams of its own, of its Pods and its Node. A list of everything takes the place of what still
//! waits. Models the watch of `client-go/tools/cache/reflector.go` on a slow connection.

use super::journal::{EntryId, Journal};
use crate::api::{Duration, Kind, Object, Str, Time, Uid};
use std::collections::VecDeque;

/// The objects that are meant: all of a kind, or the one of this name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Meant {
    /// Of this kind.
    pub kind: Kind,
    /// Empty for any.
    pub name: Str,
}

impl Meant {
    /// Whether the object is meant.
    pub fn is(&self, object: &Object) -> bool {
        self.kind == object.kind && (self.name.is_empty() || self.name == object.meta.name)
    }
}

/// What shall happen to the next event that is meant.
#[derive(Clone, Debug)]
struct Order {
    meant: Meant,
    /// By how much it is late; nothing if it is lost.
    late: Option<Duration>,
    /// When a person asked for it.
    asked: Time,
}

/// An event that waits, and not before when it may arrive.
#[derive(Clone, Debug)]
struct Held {
    id: EntryId,
    from: Time,
    /// When a person asked for it to be late; those behind it are late by themselves.
    asked: Option<Time>,
}

/// A stream that stands still: of a kind, and of one kubelet if it is a kubelet's.
#[derive(Clone, Debug)]
struct Stream {
    of: (Kind, Str),
    events: VecDeque<Held>,
}

/// An event that was lost, when a person asked for that, and the object, of which its component does not know how it is.
#[derive(Clone, Debug)]
struct Missed {
    id: EntryId,
    asked: Time,
    of: Uid,
}

/// What is wrong with one component's watch.
#[derive(Clone, Default, Debug)]
pub struct Trouble {
    orders: Vec<Order>,
    streams: Vec<Stream>,
    due: Option<Time>,
    missed: Vec<Missed>,
    /// Whether an event was lost since this was last asked.
    pub lost: bool,
    /// When everything is listed anew, if that is planned.
    pub lists: Option<Time>,
}

/// An event that its component has not got, and what it waits for.
#[derive(Clone, PartialEq, Debug)]
pub struct Late {
    /// Whose watch it is.
    pub component: &'static str,
    /// What the stream is of.
    pub kind: Kind,
    /// The object whose event holds up the stream, or is lost itself.
    pub behind: Str,
    /// When a person asked for that.
    pub asked: Time,
    /// When it arrives, or everything is listed; never, if nothing is listed.
    pub until: Option<Time>,
    /// Whether it does not arrive at all.
    pub lost: bool,
}

/// The stream of a component in which an object's events come; nothing if it does not watch the object.
fn stream_of(component: &str, object: &Object) -> Option<(Kind, Str)> {
    let node = match object.kind {
        _ if component != "kubelet" => Str::default(),
        Kind::Pod => object.pod().map(|pod| pod.node_name.clone()).filter(|node| !node.is_empty())?,
        _ => object.meta.name.clone(),
    };
    Some((object.kind, node))
}

impl Trouble {
    /// Has the next event that is meant be late by so much, or be lost.
    pub fn order(&mut self, meant: Meant, late: Option<Duration>, asked: Time) {
        self.orders.push(Order { meant, late, asked });
    }

    /// Takes back that events are late: those that are meant may arrive now.
    pub fn hasten(&mut self, meant: &Meant, journal: Journal<'_>, now: Time) {
        let covers = |other: &Meant| meant.kind == other.kind && (meant.name.is_empty() || meant.name == other.name);
        self.orders.retain(|order| order.late.is_none() || !covers(&order.meant));
        for event in self.streams.iter_mut().flat_map(|stream| &mut stream.events) {
            if written(journal, event.id).is_some_and(|object| meant.is(object)) {
                event.from = event.from.min(now);
            }
        }
    }

    /// Whether an event that has arrived is kept from its component, for ever or for some time.
    pub fn keeps(&mut self, component: &str, id: EntryId, object: &Object, arrived: Time) -> bool {
        let Some(of) = stream_of(component, object) else { return false };
        let order = self.orders.iter().position(|order| order.meant.is(object)).map(|at| self.orders.remove(at));
        // What comes later tells all that the lost one did.
        self.missed.retain(|missed| missed.of != object.meta.uid);
        let late = match &order {
            Some(Order { late: None, asked, .. }) => {
                self.missed.push(Missed { id, asked: *asked, of: object.meta.uid });
                self.lost = true;
                return true;
            }
            Some(Order { late: Some(late), .. }) => *late,
            None => 0,
        };
        let held = Held { id, from: arrived.after(late), asked: order.map(|order| order.asked) };
        match self.streams.iter_mut().find(|stream| stream.of == of) {
            Some(stream) => stream.events.push_back(held),
            None if late > 0 => self.streams.push(Stream { of, events: VecDeque::from([held]) }),
            None => return false,
        }
        true
    }

    /// The next event whose time has come.
    pub fn release(&mut self, now: Time) -> Option<EntryId> {
        let at = self.streams.iter().position(|stream| stream.events.front().is_some_and(|event| event.from <= now))?;
        let id = self.streams[at].events.pop_front().map(|event| event.id);
        if self.streams[at].events.is_empty() {
            self.streams.remove(at);
        }
        id
    }

    /// When a stream goes on, if that has to be scheduled anew.
    pub fn next_release(&mut self, now: Time) -> Option<Time> {
        let next = self.streams.iter().filter_map(|stream| stream.events.front()).map(|event| event.from).min()?.max(now);
        // What was planned and is past has been done.
        if self.due.is_some_and(|due| due > now && due <= next) {
            return None;
        }
        self.due = Some(next);
        self.due
    }

    /// Everything has been listed: what still waits is older.
    pub fn catch_up(&mut self) {
        self.streams.clear();
        self.missed.clear();
        self.lists = None;
    }

    /// Whether all is well again.
    pub fn is_over(&self) -> bool {
        self.orders.is_empty() && self.streams.is_empty() && self.missed.is_empty() && !self.lost
    }

    /// Whether events about the objects that are meant are late, or will be.
    pub fn delays(&self, meant: &Meant, journal: Journal<'_>) -> bool {
        let ordered = self.orders.iter().any(|order| order.late.is_some() && order.meant == *meant);
        let asked = |event: &Held| event.asked.and_then(|_| written(journal, event.id)).is_some_and(|object| meant.is(object));
        ordered || self.streams.iter().flat_map(|stream| &stream.events).any(asked)
    }

    /// The first event that waits and is about something that is looked for: its stream, and what holds that up.
    pub fn late(&self, component: &'static str, journal: Journal<'_>, about: &dyn Fn(EntryId, &Object) -> bool) -> Option<Late> {
        let about = |event: &Held| written(journal, event.id).is_some_and(|object| about(event.id, object));
        self.streams.iter().find_map(|stream| {
            let at = stream.events.iter().position(about)?;
            // Of those before it the one that comes last.
            let last = stream.events.iter().take(at + 1).max_by_key(|event| event.from)?;
            let behind = written(journal, last.id)?.meta.name.clone();
            let asked = last.asked.unwrap_or(last.from);
            Some(Late { component, kind: stream.of.0, behind, asked, until: Some(last.from), lost: false })
        })
    }

    /// The first event that is lost for good and is about something that is looked for.
    pub fn missed(&self, component: &'static str, journal: Journal<'_>, about: &dyn Fn(&Object) -> bool) -> Option<Late> {
        self.missed.iter().find_map(|missed| {
            let object = written(journal, missed.id).filter(|object| about(object))?;
            let behind = object.meta.name.clone();
            Some(Late { component, kind: object.kind, behind, asked: missed.asked, until: self.lists, lost: true })
        })
    }
}

/// The object of a write.
fn written<'j>(journal: Journal<'j>, id: EntryId) -> Option<&'j Object> {
    journal.get(id as usize)?.write().map(|(_, object)| &**object)
}
