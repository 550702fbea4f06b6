//! What the page is, without a page: its state, its messages, and what they do.
//!
//! No web crate is named here, so all of it is tested natively.

pub mod assist;
pub mod breakpoint;
mod drift;
pub mod examples;
pub mod pacing;
pub mod permalink;
pub mod run;
pub mod speed;
pub mod state;

#[cfg(test)]
mod tests;

pub use state::{Msg, State};
