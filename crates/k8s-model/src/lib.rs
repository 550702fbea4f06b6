//! Kubernetes objects of v1.36, typed as far as this engine acts on them.
//!
//! Fields that the engine acts on are typed; all other fields of an object stay in its `raw` JSON and survive verbatim. Specs are shared
//! behind `Rc`: Pods of one template share that template's spec, and a write makes one new object.

pub mod autoscaling;
pub mod base64;
pub mod batch;
pub mod cel;
pub mod cidr;
mod containers;
pub mod daemonset;
pub mod environment;
pub mod event;
pub mod gateway;
mod go_faults;
pub mod go_json;
pub mod go_regex;
pub mod hash;
pub mod image;
pub mod ingress;
pub mod interned_str;
pub mod json;
pub mod jsonpath;
pub mod kind;
pub mod meta;
pub mod names;
pub mod natural;
pub mod network;
pub mod network_policy;
pub mod node;
pub mod normalize;
pub mod object;
pub mod openapi;
pub mod pod;
pub mod pod_resources;
pub mod pod_template;
pub mod policy;
#[cfg(not(target_arch = "wasm32"))]
pub mod protobuf;
pub mod quantity;
pub mod references;
pub mod resources;
pub mod schema;
pub mod selector;
pub mod shared;
pub mod sources;
pub mod spec;
pub mod storage;
pub mod time;
pub mod unknown_fields;
pub mod volume_match;
pub mod workload;
pub mod zone;

pub use interned_str::InternedStr;
pub use kind::Kind;
pub use meta::{ObjectMeta, ObjectRef, OwnerReference, Uid};
pub use object::{Body, Object};
pub use time::{Duration, Time, Timestamp};
pub use zone::Zone;

/// Text that is cheap to clone: names, reasons, messages.
pub type Str = smol_str::SmolStr;
/// Labels or annotations; shared between the objects of one template.
pub type Labels = std::rc::Rc<std::collections::BTreeMap<Str, Str>>;
