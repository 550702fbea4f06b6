//! Recording of Events: repeats are counted, floods are combined or dropped.
//!
//! Models `client-go/tools/record/events_cache.go`: an Event like an earlier one raises its count; more than
//! ten that differ only in their message within ten minutes are combined; one object gets a burst of 25.
//! The scheduler uses the newer API for its Events (`event_series.rs`).

use super::event_series::{Check, Series};
use super::event_ttl::EventLeases;
use apiserver::why::Why;
use apiserver::{ApiServer, Component, Origin, Store};
use k8s_model::event::{Event, EventSource, InvolvedObject, MicroTime};
use k8s_model::time::SECOND;
use k8s_model::{Body, InternedStr, Kind, Object, ObjectMeta, ObjectRef, Str, Time, Uid};
use sim_core::table::hash;
use sim_core::tree::Tree;
use smol_str::format_smolstr;
use std::rc::Rc;

const SIMILAR_LIMIT: usize = 10;
const SIMILAR_WINDOW_US: u64 = 600 * SECOND;
const SPAM_BURST: u32 = 25;
const SPAM_REFILL_US: u64 = 300 * SECOND;

/// Events recorded about an object. Texts are stored as hashes.
#[derive(Clone, Debug, Default)]
pub struct ObjectEvents {
    aggregates: Vec<AggregateEntry>,
    /// Timestamps in the Events' names, by a hash of group, field and message; for the scheduler, of type, reason and the object's
    /// version.
    pub events: Vec<(u64, u64)>,
    /// Events of the scheduler that may be repeated.
    pub series: Vec<Series>,
    /// Token buckets of the spam filter, one for each source and type of Event.
    buckets: Vec<SpamBucket>,
}

/// Token bucket of one source's Events of one type about an object.
#[derive(Clone, Debug)]
struct SpamBucket {
    component: Component,
    /// Event type, `Normal` or `Warning`.
    event_type: &'static str,
    /// Tokens taken.
    spent: u32,
    /// Time of the last refill.
    refilled: Time,
}

/// Recent message of a group: Events about one object that differ only in their message.
#[derive(Clone, Debug)]
struct AggregateEntry {
    source: u64,
    message: u64,
    /// Time of the group's last Event with this message.
    last: Time,
}

/// Recorder of Events, which tracks repeats.
#[derive(Clone, Debug, Default)]
pub struct EventRecorder {
    /// Events by object, in an `Rc`, so that copying a leaf of the tree is cheap for the neighbours of the changed entry.
    objects: Tree<Uid, Rc<ObjectEvents>>,
    /// Unfinished series of the scheduler by object, in records of their own, so that a check reads no others.
    pub series: Tree<Uid, Rc<ObjectEvents>>,
    pub check: Check,
    pub leases: EventLeases,
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
        let component = origin.actor.component;
        let stamp = server
            .store
            .now
            .0
            .wrapping_mul(1000)
            .wrapping_add(server.store.version() % 1000);
        // The scheduler's Events go through the newer API.
        if component == Component::Scheduler {
            return self.record_series(server, origin, about, what, message, stamp);
        }
        let recorded = self.events_of(about.meta.uid);
        if !recorded.try_accept(server.store.now, component, what.0) {
            return;
        }
        let source = hash(component.name(), what.1) ^ hash(what.0, "");
        let mut identity = source ^ hash(field, &message);
        if recorded.is_flood(server.store.now, source, identity) {
            identity = source ^ hash(field, "(combined)");
            message = format_smolstr!("(combined from similar events): {message}");
        }
        let known = recorded
            .events
            .iter()
            .position(|(what, _)| *what == identity);
        if let Some(known) = known {
            let key = ObjectRef::new(
                Kind::Event,
                namespace_of(about),
                &name_of(about, recorded.events[known].1),
            );
            if repeat(server, origin, &key, &message) {
                return;
            }
        }
        let event = new_event(server, origin, about, field, what, message, stamp);
        if server
            .create(origin, event, Why::Event { reason: what.1 })
            .is_ok()
        {
            match known {
                Some(known) => recorded.events[known].1 = stamp,
                None => recorded.events.push((identity, stamp)),
            }
        }
    }

    /// Clears the repeats of components other than the scheduler, but keeps the names of existing Events.
    pub fn restart(&mut self) {
        let all: Vec<Uid> = self.objects.keys().copied().collect();
        for uid in all {
            let recorded = self.events_of(uid);
            *recorded = ObjectEvents {
                events: recorded
                    .events
                    .iter()
                    .map(|(_, stamp)| (0, *stamp))
                    .collect(),
                ..Default::default()
            };
        }
    }

    pub fn events_of(&mut self, about: Uid) -> &mut ObjectEvents {
        Rc::make_mut(self.objects.get_or_insert_with(about, Rc::default))
    }

    /// Returns the stored Events about an existing object, without a scan; Events recorded by clients are not included.
    pub fn events_about(&self, about: &Object, store: &Store) -> Vec<Rc<Object>> {
        let recorded = self.objects.get(&about.meta.uid).into_iter();
        recorded
            .flat_map(|recorded| &recorded.events)
            .filter_map(|(_, stamp)| {
                let name = name_of(about, *stamp);
                let key = ObjectRef::new(Kind::Event, namespace_of(about), &name);
                store.get(&key).cloned()
            })
            .collect()
    }

    /// Drops the state of a deleted object.
    pub fn forget(&mut self, about: Uid) {
        self.objects.remove(&about);
    }
}

impl ObjectEvents {
    /// Returns true if an Event of this kind has had too many distinct messages recently.
    fn is_flood(&mut self, now: Time, source: u64, message: u64) -> bool {
        let last = self
            .aggregates
            .iter()
            .filter(|entry| entry.source == source)
            .map(|entry| entry.last)
            .max();
        if last.is_some_and(|last| now.0.saturating_sub(last.0) > SIMILAR_WINDOW_US) {
            self.aggregates.retain(|entry| entry.source != source);
        }
        match self
            .aggregates
            .iter_mut()
            .find(|entry| (entry.source, entry.message) == (source, message))
        {
            Some(entry) => entry.last = now,
            None => self.aggregates.push(AggregateEntry {
                source,
                message,
                last: now,
            }),
        }
        let group = || {
            self.aggregates
                .iter()
                .enumerate()
                .filter(|(_, entry)| entry.source == source)
        };
        if group().count() < SIMILAR_LIMIT {
            return false;
        }
        // Upstream drops an arbitrary one, so that a repeated message may still be recorded unchanged: most likely not this one.
        if let Some((least, _)) = group()
            .filter(|(_, entry)| entry.message != message)
            .min_by_key(|(_, entry)| entry.message)
        {
            self.aggregates.swap_remove(least);
        }
        true
    }

    /// Takes a token for an Event: a source has 25 per type of Event about the object, and one more every five minutes.
    fn try_accept(&mut self, now: Time, component: Component, event_type: &'static str) -> bool {
        let same =
            |bucket: &SpamBucket| bucket.component == component && bucket.event_type == event_type;
        let at = self.buckets.iter().position(same).unwrap_or_else(|| {
            self.buckets.reserve_exact(1);
            self.buckets.push(SpamBucket {
                component,
                event_type,
                spent: 0,
                refilled: now,
            });
            self.buckets.len() - 1
        });
        let bucket = &mut self.buckets[at];
        let tokens = (now.0.saturating_sub(bucket.refilled.0) / SPAM_REFILL_US) as u32;
        if tokens > 0 {
            bucket.spent = bucket.spent.saturating_sub(tokens);
            bucket.refilled = bucket.refilled.after(u64::from(tokens) * SPAM_REFILL_US);
        }
        if bucket.spent >= SPAM_BURST {
            return false;
        }
        bucket.spent += 1;
        true
    }
}

/// Returns the name of an Event about an object: the object's name and a timestamp.
fn name_of(about: &Object, stamp: u64) -> Str {
    format_smolstr!("{}.{stamp:016x}", about.meta.name)
}

fn namespace_of(about: &Object) -> &str {
    if about.meta.namespace.is_empty() {
        "default"
    } else {
        &about.meta.namespace
    }
}

/// Increments the count of an Event that still exists.
fn repeat(server: &mut ApiServer, origin: &Origin, key: &ObjectRef, message: &Str) -> bool {
    let (wall, Some(old)) = (server.store.wall(), server.store.get(key).cloned()) else {
        return false;
    };
    let mut new = (*old).clone();
    let Body::Event(event) = &mut new.body else {
        return false;
    };
    event.message = message.clone();
    event.count = Some(event.count.unwrap_or(1) + 1);
    event.last_timestamp = Some(wall);
    let reason = "count";
    server
        .update_latest(origin, new, Why::Event { reason })
        .is_ok()
}

pub fn new_event(
    server: &ApiServer,
    origin: &Origin,
    about: &Object,
    field: &Str,
    (kind, reason): (&'static str, &'static str),
    message: Str,
    stamp: u64,
) -> Object {
    let (wall, component) = (server.store.wall(), origin.actor.component);
    let scheduler = component == Component::Scheduler;
    let event = Event {
        action: match reason {
            _ if !scheduler => InternedStr::default(),
            "Preempted" => "Preempting".into(),
            "Scheduled" => "Binding".into(),
            _ => "Scheduling".into(),
        },
        count: (!scheduler).then_some(1),
        event_time: scheduler.then_some(MicroTime(wall, (server.store.now.0 % 1_000_000) as u32)),
        first_timestamp: (!scheduler).then_some(wall),
        last_timestamp: (!scheduler).then_some(wall),
        involved_object: InvolvedObject {
            api_version: match about.kind.info().group {
                "" => "v1".into(),
                _ => about.kind.api_version().as_str().into(),
            },
            kind: about.kind.name().into(),
            name: about.meta.name.clone(),
            namespace: about.meta.namespace.clone(),
            uid: about.meta.uid,
            field_path: field.into(),
            resource_version: if about.kind == Kind::Node {
                Str::default()
            } else {
                format_smolstr!("{}", about.meta.resource_version)
            },
        }
        .shared(),
        // Consecutive Pods often have the same message.
        message: InternedStr::from(&message).to_str(),
        reason: reason.into(),
        reporting_component: component.name().into(),
        reporting_instance: origin.actor.node.clone(),
        series: None,
        source: if scheduler {
            EventSource::default()
        } else {
            EventSource {
                component: Str::new_static(component.name()),
                host: origin.actor.node.clone(),
            }
        }
        .shared(),
        kind: kind.into(),
    };
    Object {
        kind: Kind::Event,
        meta: ObjectMeta {
            name: name_of(about, stamp),
            namespace: namespace_of(about).into(),
            ..Default::default()
        },
        body: Body::Event(Box::new(event)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that `getSpamKey` of `events_cache.go` contains the type.
    #[test]
    fn warnings_do_not_use_up_the_burst_of_normal_events() {
        let mut recorded = ObjectEvents::default();
        let accepted = |recorded: &mut ObjectEvents, event_type| {
            (0..30)
                .filter(|_| recorded.try_accept(Time(0), Component::Kubelet, event_type))
                .count()
        };
        assert_eq!(
            (
                accepted(&mut recorded, "Warning"),
                accepted(&mut recorded, "Normal")
            ),
            (25, 25)
        );
        assert!(
            recorded.try_accept(Time(SPAM_REFILL_US), Component::Kubelet, "Warning")
                && !recorded.try_accept(Time(SPAM_REFILL_US), Component::Kubelet, "Warning")
        );
    }
}
