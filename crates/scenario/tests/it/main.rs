//! Tests of this crate together with those below it.

mod api_types;
mod client_limits;
mod control_loops;
mod controllers;
mod determinism;
mod ended_pods;
