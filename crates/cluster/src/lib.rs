//! The simulated control plane: knows no YAML text, no browser and no wall clock.
//!
//! `Sim` takes the next task of its queue, runs it and appends what it wrote to the journal. Every
//! component reads through an informer that lags behind the store, and writes through the store,
//! which can refuse.

pub mod disk;
pub mod event_ttl;
pub mod fault;
pub mod forget;
pub mod loops;
pub mod mounted;
pub mod sim;

pub use sim::Sim;
