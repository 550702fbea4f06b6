//! Kubernetes objects as this engine needs them, with the field names of v1.36.

pub mod hash;
pub mod normalize;
pub mod quantity;
pub mod schema;
