//! Kubernetes Events: what a component says happened to an object.

use super::{Kind, ObjectRef, Str, Timestamp, Uid};
use serde::{Deserialize, Serialize};

/// A `v1` Event.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Event {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<Str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_time: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_timestamp: Option<Timestamp>,
    pub involved_object: InvolvedObject,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_timestamp: Option<Timestamp>,
    pub message: Str,
    pub reason: Str,
    #[serde(skip_serializing_if = "Str::is_empty")]
    pub reporting_component: Str,
    #[serde(skip_serializing_if = "Str::is_empty")]
    pub reporting_instance: Str,
    #[serde(skip_serializing_if = "EventSource::is_empty")]
    pub source: EventSource,
    /// `Normal` or `Warning`.
    #[serde(rename = "type")]
    pub kind: Str,
}

/// The object an Event is about.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct InvolvedObject {
    pub api_version: Str,
    #[serde(skip_serializing_if = "Str::is_empty")]
    pub field_path: Str,
    pub kind: Str,
    pub name: Str,
    #[serde(skip_serializing_if = "Str::is_empty")]
    pub namespace: Str,
    #[serde(skip_serializing_if = "Str::is_empty")]
    pub resource_version: Str,
    pub uid: Uid,
}

/// Who says so.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct EventSource {
    pub component: Str,
    #[serde(skip_serializing_if = "Str::is_empty")]
    pub host: Str,
}

impl EventSource {
    fn is_empty(&self) -> bool {
        self.component.is_empty() && self.host.is_empty()
    }
}

impl InvolvedObject {
    /// The key of the object, if its kind is known.
    pub fn key(&self) -> Option<ObjectRef> {
        Some(ObjectRef::new(Kind::from_name(&self.kind)?, &self.namespace, &self.name))
    }
}
