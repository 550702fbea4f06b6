//! API server: the single source of truth, and the only component that can refuse a write.

mod addresses;
mod admission;
mod authorizer;
mod binding;
mod certificates;
mod component;
mod conflicts;
pub mod control_loop;
pub mod conversion;
mod decode;
pub mod defaults;
mod definitions;
mod deletion;
mod ephemeral;
mod error;
mod eviction;
mod handlers;
pub mod journal;
pub mod label_selector;
mod managers;
mod namespace_strategy;
mod parts;
pub mod patch;
mod pod_strategy;
pub mod printers;
mod reads;
mod registry;
mod request;
mod resize;
mod scale;
mod selectable;
mod selector;
mod server;
mod service_alloc;
mod services;
mod store;
mod strategies;
pub mod validation;
pub mod why;

pub use admission::calls::{
    AdmissionAnswers, ServicePort, WebhookAnswer, WebhookCall, WebhookDecision, WebhookExchange,
    WebhookId, WebhookOutcome, WebhookReach, WebhookVerdict,
};
pub use admission::resource_quota;
pub use authorizer::bootstrap;
pub use authorizer::{Attributes, Authorizer, PolicyRule, UserInfo};
pub use component::{Component, ControllerId};
pub use definitions::{CLEANUP, Definition, Definitions, PrinterColumn, ScalePaths, Version};
pub use deletion::{DeleteOptions, Preconditions, Propagation};
pub use error::{
    ApiError, Cause, ExceededQuota, ExceededResource, FieldManagerConflict, GroupVersionKind,
    StatusReason,
};
pub use journal::{Actor, CommandEffect, Entry, EntryId, Journal, Op, Record, UserCommand};
pub use k8s_model::kind::Subresource;
pub use managers::{
    DuplicateField, ManagedHistory, Manager, Unknown, are_managed_fields, managed_fields,
};
pub use namespace_strategy::{NAMESPACE_FINALIZER, spec_finalizers};
pub use patch::{Patch, PatchType};
pub use reads::{ObjectList, ObjectReader, Watch, WatchEvent};
pub use registry::returns_deleted;
pub use request::{
    Content, ListOptions, Request, RequestBody, RequestOptions, ResourceName, Response, Verb,
};
pub use scale::{ObjectScale, SCALE_VERSION};
pub use selectable::SelectableField;
pub use selector::ObjectSelector;
pub use server::{ApiServer, Origin, ServerOptions};
pub use store::Store;
pub use strategies::check_uid;
pub use why::Why;
