//! Explanations: chains of causes, evidence, diagnosis and remedies, as messages and data, never text.

pub mod causes;
pub mod control_loop;
mod cure;
pub mod diagnose;
pub mod effect;
pub mod evidence;
mod fact_label;
mod gateway_fault;
pub mod headline;
pub mod progress;
pub mod remedies;
pub mod replaced;
pub mod rules;
pub mod scaler;
pub mod standing;
pub mod story;
pub mod waits;
pub mod why;
pub mod words;
