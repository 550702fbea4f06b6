//! The simulated control plane: knows no YAML text, no browser and no wall clock.

pub mod store;
