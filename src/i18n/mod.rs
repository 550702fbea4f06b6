//! Reasons into words.

mod en;
mod waits;

pub use en::why;
pub use waits::{amount, cure, fact, label, refusal, spared, tone, waits};
