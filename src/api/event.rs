//! Kubernetes Events: what a component says happened to an object.

use super::json::record;
use super::{Kind, ObjectRef, Str, Timestamp, Uid};

record! {
    /// A `v1` Event.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct Event {
        pub action: Option<Str> = "action" omitempty,
        pub count: Option<i32> = "count" omitempty,
        pub event_time: Option<Timestamp> = "eventTime" omitempty,
        pub first_timestamp: Option<Timestamp> = "firstTimestamp" omitempty,
        pub involved_object: InvolvedObject = "involvedObject",
        pub last_timestamp: Option<Timestamp> = "lastTimestamp" omitempty,
        pub message: Str = "message",
        pub reason: Str = "reason",
        pub reporting_component: Str = "reportingComponent" omitempty,
        pub reporting_instance: Str = "reportingInstance" omitempty,
        pub source: EventSource = "source" omitempty,
        /// `Normal` or `Warning`.
        pub kind: Str = "type",
    }

    /// The object an Event is about.
    #[derive(Clone, PartialEq, Eq, Debug, Default)]
    pub struct InvolvedObject {
        pub api_version: Str = "apiVersion",
        pub field_path: Str = "fieldPath" omitempty,
        pub kind: Str = "kind",
        pub name: Str = "name",
        pub namespace: Str = "namespace" omitempty,
        pub resource_version: Str = "resourceVersion" omitempty,
        pub uid: Uid = "uid",
    }

    /// Who says so.
    #[derive(Clone, PartialEq, Eq, Debug, Default)]
    pub struct EventSource {
        pub component: Str = "component",
        pub host: Str = "host" omitempty,
    }
}

impl InvolvedObject {
    /// The key of the object, if its kind is known.
    pub fn key(&self) -> Option<ObjectRef> {
        Some(ObjectRef::new(Kind::from_name(&self.kind)?, &self.namespace, &self.name))
    }
}
