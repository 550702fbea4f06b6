//! Recording Events: repeats are counted, floods are combined or dropped.
//!
//! Models `client-go/tools/record/events_cache.go`: an Event like an earlier one raises its count; more than
//! ten that differ only in their message within ten minutes are combined; one object gets a burst of 25.

use super::store::{ApiServer, Origin};
use super::why::Why;
use crate::api::event::{Event, EventSource, InvolvedObject, MicroTime};
use crate::api::time::SECOND;
use crate::api::{Body, Kind, Object, ObjectMeta, ObjectRef, Str, Time, Uid};
use smol_str::format_smolstr;
use std::collections::{BTreeMap, BTreeSet};

const SIMILAR_LIMIT: usize = 10;
const SIMILAR_WINDOW: u64 = 600 * SECOND;
const SPAM_BURST: u32 = 25;
const SPAM_REFILL: u64 = 300 * SECOND;

/// Everything but the message.
type Similar = (Uid, &'static str, &'static str, &'static str);

#[derive(Clone, Debug, Default)]
struct Group {
    /// Hashes of the messages.
    messages: BTreeSet<u64>,
    last: Time,
}

/// Remembers what has been said, so that repeats become counts.
#[derive(Clone, Debug, Default)]
pub struct EventRecorder {
    /// The Event that said this, by the hash of field and message.
    said: BTreeMap<(Similar, u64), Str>,
    groups: BTreeMap<Similar, Group>,
    /// Events spent of each object's burst, and when the last refill was.
    spent: BTreeMap<(Uid, &'static str), (u32, Time)>,
}

impl EventRecorder {
    /// Records an Event about an object, on behalf of `origin`.
    pub fn record(
        &mut self,
        server: &mut ApiServer,
        origin: &Origin,
        about: &Object,
        field: &Str,
        what: (&'static str, &'static str),
        mut message: Str,
    ) {
        let (kind, reason) = what;
        let component = origin.actor.name;
        let similar = (about.meta.uid, component, kind, reason);
        let scheduler = component == "default-scheduler";
        if !scheduler && !self.may_speak(server.now, about.meta.uid, component) {
            return;
        }
        let mut identity = hash(field, &message);
        if self.is_flood(server.now, similar, identity) {
            identity = hash(field, "(combined)");
            message = format_smolstr!("(combined from similar events): {message}");
        }
        if let Some(name) = self.said.get(&(similar, identity)) {
            let key = ObjectRef::new(Kind::Event, namespace_of(about), name);
            if repeat(server, origin, &key, &message, scheduler) {
                return;
            }
        }
        let event = new_event(server, origin, about, field, what, message);
        if let Ok(created) = server.create(origin, event, Why::Said { reason }) {
            self.said.insert((similar, identity), created.meta.name.clone());
        }
    }

    /// Forgets what was said about an object that is gone.
    #[inline(never)]
    pub fn forget(&mut self, about: Uid) {
        let first = (about, "", "", "");
        let groups: Vec<Similar> = self.groups.range(first..).map(|(k, _)| *k).take_while(|k| k.0 == about).collect();
        let said: Vec<_> = self.said.range((first, 0)..).map(|(k, _)| *k).take_while(|k| k.0.0 == about).collect();
        let spent: Vec<_> = self.spent.range((about, "")..).map(|(k, _)| *k).take_while(|k| k.0 == about).collect();
        for key in groups {
            self.groups.remove(&key);
        }
        for key in said {
            self.said.remove(&key);
        }
        for key in spent {
            self.spent.remove(&key);
        }
    }

    /// Whether a message of this kind has had too many variants lately.
    fn is_flood(&mut self, now: Time, similar: Similar, message: u64) -> bool {
        let group = self.groups.entry(similar).or_default();
        if now.0.saturating_sub(group.last.0) > SIMILAR_WINDOW {
            group.messages.clear();
        }
        group.last = now;
        group.messages.insert(message);
        if group.messages.len() < SIMILAR_LIMIT {
            return false;
        }
        // Upstream forgets one of them, so that one said before may still be said as it is.
        group.messages.pop_first();
        true
    }

    /// Whether this source may still speak about this object: a burst of 25, then one in five minutes.
    fn may_speak(&mut self, now: Time, about: Uid, component: &'static str) -> bool {
        let (spent, since) = self.spent.entry((about, component)).or_insert((0, now));
        let refilled = (now.0.saturating_sub(since.0) / SPAM_REFILL) as u32;
        if refilled > 0 {
            *spent = spent.saturating_sub(refilled);
            *since = since.after(u64::from(refilled) * SPAM_REFILL);
        }
        if *spent >= SPAM_BURST {
            return false;
        }
        *spent += 1;
        true
    }
}

/// A hash of both texts, eight bytes at a time: messages are long and many.
fn hash(field: &str, message: &str) -> u64 {
    let mix = |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    let mut hash = field.len() as u64;
    for text in [field, message] {
        let chunks = text.as_bytes().chunks_exact(8);
        let rest = chunks.remainder().iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
        for chunk in chunks {
            hash = mix(hash, chunk.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)));
        }
        hash = mix(hash, rest);
    }
    hash
}

fn namespace_of(about: &Object) -> &str {
    if about.meta.namespace.is_empty() { "default" } else { &about.meta.namespace }
}

/// Raises the count of an Event that still exists.
#[inline(never)]
fn repeat(server: &mut ApiServer, origin: &Origin, key: &ObjectRef, message: &Str, scheduler: bool) -> bool {
    let (wall, Some(old)) = (server.wall(), server.get(key).cloned()) else { return false };
    let mut new = (*old).clone();
    let Body::Event(event) = &mut new.body else { return false };
    event.message = message.clone();
    event.count = Some(event.count.unwrap_or(1) + 1);
    if !scheduler || event.last_timestamp.is_some() {
        event.last_timestamp = Some(wall);
    }
    let reason = "count";
    server.update_all(origin, new, Why::Said { reason }).is_ok()
}

fn new_event(
    server: &ApiServer,
    origin: &Origin,
    about: &Object,
    field: &Str,
    (kind, reason): (&'static str, &'static str),
    message: Str,
) -> Object {
    let (wall, component) = (server.wall(), Str::new_static(origin.actor.name));
    let scheduler = origin.actor.name == "default-scheduler";
    let stamp = server.now.0.wrapping_mul(1000).wrapping_add(server.version() % 1000);
    let event = Event {
        action: scheduler.then(|| Str::new_static(if reason == "Preempted" { "Preempting" } else { "Binding" })),
        count: (!scheduler).then_some(1),
        event_time: scheduler.then_some(MicroTime(wall, (server.now.0 % 1_000_000) as u32)),
        first_timestamp: (!scheduler).then_some(wall),
        last_timestamp: (!scheduler).then_some(wall),
        involved_object: InvolvedObject {
            api_version: match about.kind.info().group {
                "" => Str::new_static("v1"),
                _ => about.kind.api_version().into(),
            },
            kind: Str::new_static(about.kind.name()),
            name: about.meta.name.clone(),
            namespace: about.meta.namespace.clone(),
            uid: about.meta.uid,
            field_path: field.clone(),
            resource_version: if about.kind == Kind::Node { Str::default() } else { format_smolstr!("{}", about.meta.resource_version) },
        },
        message,
        reason: Str::new_static(reason),
        reporting_component: component.clone(),
        reporting_instance: origin.actor.node.clone(),
        source: if scheduler { EventSource::default() } else { EventSource { component, host: origin.actor.node.clone() } },
        kind: Str::new_static(kind),
    };
    Object {
        kind: Kind::Event,
        meta: ObjectMeta {
            name: format_smolstr!("{}.{:016x}", about.meta.name, stamp),
            namespace: namespace_of(about).into(),
            ..Default::default()
        },
        body: Body::Event(Box::new(event)),
    }
}
