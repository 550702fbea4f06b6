//! Explanations: chains of causes, properties, diagnosis and remedies, as messages and data, never text.

pub mod causes;
pub mod control_loop;
mod cure;
pub mod diagnose;
pub mod effect;
mod fact_label;
mod gateway_fault;
pub mod handles;
pub mod headline;
pub mod pill;
pub mod progress;
pub mod properties;
pub mod remedies;
pub mod replaced;
pub mod rules;
pub mod scaler;
pub mod standing;
pub mod story;
pub mod waits;
pub mod why;
pub mod words;
pub mod yaml;
