//! Scenario files: a cluster, and the steps run on it.
//!
//! Lessons, tests and the command use the same format: see docs/native.md for its fields.

mod disturb;
mod names;
mod parse;
mod runner;
mod trace;

pub use disturb::Disturbance;
pub use names::resolve;
pub use parse::{
    Expected, How, Scenario, ScenarioStep, Wait, cluster, known_cluster_fields, parse, step,
};
pub use runner::{
    ActionSource, Finished, Observer, command_of, finish, run, run_disturbed, settle,
};
pub use trace::Trace;
