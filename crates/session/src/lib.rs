//! State of the page without a DOM: its sub-states, their messages, and their effects.
//!
//! This crate depends on no web crate, so all of it is tested natively.

pub mod announcer;
pub mod assist;
pub mod breakpoint;
mod causal;
mod checkpoint;
pub mod compare;
pub mod console;
pub mod demo;
pub mod drawing;
pub mod drift;
pub mod editor;
pub mod effect;
pub mod examples;
pub mod experiment;
pub mod filming;
pub mod follow;
pub mod history;
pub mod instant;
pub mod journal_marks;
pub mod leftovers;
pub mod lesson;
pub mod load;
pub mod manifest_file;
pub mod memory_room;
pub mod msg;
mod opening;
pub mod pacing;
pub mod permalink;
mod pill;
pub mod playback;
pub mod pod_cache;
pub mod record;
pub mod replace;
pub mod run;
pub mod selection;
#[cfg(test)]
mod settled_tests;
pub mod simulated;
#[cfg(not(target_arch = "wasm32"))]
pub mod single;
pub mod speed;
pub mod state;
pub mod stepping;
pub mod timeline;
mod trial;
mod typing;

#[cfg(test)]
mod tests;

pub use checkpoint::Checkpoint;
pub use msg::Msg;
pub use state::{Standings, State};
pub use trial::Verdicts;
