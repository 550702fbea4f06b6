//! The API server: the only truth, and the only thing that can refuse a write.

pub mod defaults;
pub mod patch;
pub mod validation;
