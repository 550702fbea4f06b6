//! Scenario files: a cluster, and what is done to it step by step.
//!
//! One format serves lessons, tests and the command: see the README for its fields.

mod names;
mod parse;
mod runner;
mod trace;

pub use parse::{Scenario, Step, Wait, parse};
pub use runner::{Finished, Observer, finish, run, settle};
pub use trace::Trace;
