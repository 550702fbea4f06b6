//! Kubernetes Events.

use super::json::{Json, record};
use super::kind::api_group;
use super::shared::Recent;
use super::{InternedStr, Kind, ObjectRef, Str, Timestamp, Uid};
use serde_json::Value;
use std::cell::RefCell;
use std::rc::Rc;

record! {
    /// `v1` Event.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct Event {
        pub action: InternedStr = "action" omitempty,
        pub count: Option<i32> = "count" omitempty,
        pub event_time: Option<MicroTime> = "eventTime" omitempty,
        pub first_timestamp: Option<Timestamp> = "firstTimestamp" omitempty,
        pub involved_object: Rc<InvolvedObject> = "involvedObject",
        pub last_timestamp: Option<Timestamp> = "lastTimestamp" omitempty,
        pub message: Str = "message",
        pub reason: InternedStr = "reason",
        pub reporting_component: InternedStr = "reportingComponent" omitempty,
        pub reporting_instance: Str = "reportingInstance" omitempty,
        pub series: Option<Box<EventSeries>> = "series" omitempty,
        pub source: Rc<EventSource> = "source" omitempty,
        /// `Normal` or `Warning`.
        pub kind: InternedStr = "type",
    }

    /// Occurrences of an Event, as the newer API counts them.
    #[derive(Clone, PartialEq, Eq, Debug, Default)]
    pub struct EventSeries {
        pub count: i32 = "count" omitempty,
        pub last_observed_time: MicroTime = "lastObservedTime",
    }

    /// Reference to the object that an Event is about.
    #[derive(Clone, PartialEq, Eq, Debug, Default)]
    pub struct InvolvedObject {
        pub api_version: InternedStr = "apiVersion",
        pub field_path: InternedStr = "fieldPath" omitempty,
        pub kind: InternedStr = "kind",
        pub name: Str = "name",
        pub namespace: Str = "namespace" omitempty,
        pub resource_version: Str = "resourceVersion" omitempty,
        pub uid: Uid = "uid",
    }

    /// Component that reports an Event.
    #[derive(Clone, PartialEq, Eq, Debug, Default)]
    pub struct EventSource {
        pub component: Str = "component",
        pub host: Str = "host" omitempty,
    }
}

impl Event {
    /// Returns the number of occurrences.
    pub fn times(&self) -> i32 {
        self.series
            .as_ref()
            .map(|series| series.count)
            .or(self.count)
            .unwrap_or(1)
    }

    /// Returns the time of the last occurrence.
    pub fn last_seen(&self) -> Option<Timestamp> {
        self.series
            .as_ref()
            .map(|series| series.last_observed_time.0)
            .or(self.last_timestamp)
            .or(self.event_time.map(|time| time.0))
    }

    /// Returns the time of the first occurrence.
    pub fn first_seen(&self) -> Option<Timestamp> {
        self.first_timestamp.or(self.event_time.map(|time| time.0))
    }
}

thread_local! {
    static INVOLVED: RefCell<Recent<Rc<InvolvedObject>>> = RefCell::default();
    static SOURCES: RefCell<Recent<Rc<EventSource>>> = RefCell::default();
}

impl EventSource {
    /// Returns the source, shared with a recent equal one.
    pub fn shared(self) -> Rc<EventSource> {
        SOURCES.with_borrow_mut(|recent| recent.same(Rc::new(self), Rc::eq))
    }
}

impl InvolvedObject {
    /// Returns the reference, shared with a recent Event about the same version of the object.
    pub fn shared(self) -> Rc<InvolvedObject> {
        INVOLVED
            .with_borrow_mut(|recent| recent.same(Rc::new(self), |a, b| a.uid == b.uid && a == b))
    }

    /// Returns true if the reference is to the object with this key.
    pub fn is(&self, key: &ObjectRef) -> bool {
        let namespaced = key.kind.info().namespaced;
        self.name == key.name
            && *self.kind == *key.kind.name()
            && api_group(&self.api_version) == key.kind.info().group
            && (!namespaced || self.namespace == key.namespace)
    }

    /// Returns the key of the object, if its kind is known.
    pub fn key(&self) -> Option<ObjectRef> {
        Some(ObjectRef::new(
            Kind::from_group_kind(api_group(&self.api_version), &self.kind)?,
            &self.namespace,
            &self.name,
        ))
    }
}

/// Timestamp that the API writes with microseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MicroTime(pub Timestamp, pub u32);

impl MicroTime {
    /// Formats the time, as `2026-01-01T00:00:00.000000Z`.
    pub fn rfc3339(self) -> String {
        format!("{}.{:06}Z", self.0.rfc3339().trim_end_matches('Z'), self.1)
    }
}

impl Json for MicroTime {
    fn read(&mut self, value: &Value) -> Result<(), String> {
        self.0.read(value)?;
        let digits = value
            .as_str()
            .and_then(|text| text.split_once('.'))
            .map_or("", |(_, rest)| rest);
        self.1 = digits
            .get(..6)
            .and_then(|six| six.parse().ok())
            .unwrap_or_default();
        Ok(())
    }

    fn write(&self) -> Value {
        self.rfc3339().into()
    }
}
