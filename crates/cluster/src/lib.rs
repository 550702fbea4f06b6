//! The simulated control plane: knows no YAML text, no browser and no wall clock.
//!
//! `Sim` takes the next task of its queue, runs it and appends what it wrote to the journal. Every
//! component reads through an informer that lags behind the store, and writes through the store,
//! which can refuse.
//!
//! # How the engine runs
//!
//! The simulation is a priority queue of `(virtual time, sequence number, task)`. A write goes through the API server into the journal; each
//! informer receives it 2 ms later and wakes loops; a loop takes a key 1 ms after that. A pass writes at one instant; its cost (7 ms per
//! round trip to the API server, and more for many owned objects) keeps its key busy, so that changes during that time are seen together, as in
//! a real work queue. Loops keep no state of their own; the little that upstream remembers between passes (trigger times, a provisioning in
//! progress) is in `Out::memory`, and whether a loop's own writes have arrived in its cache is `PassView::sees_own_writes`.
//!
//! A loop writes while it runs instead of returning a list of effects: several upstream loops depend on the API server's
//! response (a refused creation becomes a condition in the same pass). The effects are data all the same: the journal has each
//! with its reason, actor, pass and cause.
//!
//! A task is short, however large the cluster: events that arrive at one instant are delivered in tasks of 64, and the next such task runs
//! before anything else; a loop with many Pods reads their counts (`crates/sim-core/src/tally.rs`), and holds and sorts only those it deletes.

pub mod disk;
pub mod event_ttl;
mod faults;
pub mod forget;
pub mod loops;
pub mod mounted;
pub mod sim;

pub use faults::InLine;
pub use sim::Sim;
