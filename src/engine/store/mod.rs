//! The API server: the single source of truth, and the only component that can refuse a write.

mod addresses;
pub mod admission;
mod authorizer;
mod binding;
mod certificates;
mod client_request;
pub mod defaults;
mod definitions;
mod deletion;
mod error;
mod eviction;
mod limit_ranges;
mod managers;
mod parts;
pub mod patch;
mod pod_security;
pub mod quota;
mod requests;
mod ephemeral;
mod resize;
mod selectable;
mod server;
mod services;
pub mod validation;

pub(in crate::engine) use authorizer::bootstrap;
pub use authorizer::{Attributes, PolicyRule, UserInfo};
pub use client_request::{ClientRequest, ClientWrite, Name, Written};
pub use definitions::{CLEANUP, Definition, Definitions, PrinterColumn, Version};
pub use deletion::{Delete, Propagation};
pub use error::{ApiError, Cause, ExceededQuota, ExceededResource, StatusReason};
pub use managers::{ManagedHistory, Manager, Unknown};
pub use requests::{Patch, Subresource};
pub use selectable::SelectableField;
pub use server::{ApiServer, FINALIZED_BY_LOOP, Origin};
