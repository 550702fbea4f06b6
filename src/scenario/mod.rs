//! Scenario files: a cluster, and what is done to it step by step.
//!
//! One format serves lessons, tests and the command: see docs/native.md for its fields.

mod names;
mod parse;
mod runner;
mod trace;

pub use names::resolve;
pub use parse::{Scenario, Step, Wait, cluster, parse, step};
pub use runner::{Finished, Observer, finish, quiet_until, run, settle};
pub use trace::Trace;
