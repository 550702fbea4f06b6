//! Simulated control plane, independent of YAML text, the browser and the real clock.
//!
//! `Sim` takes the next task of its queue, runs it and appends its writes to the journal. Controllers and the scheduler
//! read through informers that lag behind the store, kubelets read their own Pods from the store; all write through the
//! store, which can refuse.
//!
//! # How the engine runs
//!
//! The simulation is a priority queue of `(virtual time, sequence number, task)`. A write goes through the API server into the journal; each
//! informer receives it 2 ms later and wakes controllers; a controller takes a key 1 ms after that. A pass writes at one instant; its cost
//! (7 ms per round trip to the API server, and more for many owned objects) keeps its key busy, so that changes during that time are batched,
//! as in a real work queue. Controllers are stateless; the little state that upstream keeps between passes (trigger times, a provisioning in
//! progress) is in `LoopClient::memory`, and `PassView::sees_own_writes` tells whether a controller's own writes have arrived in its cache.
//!
//! A controller writes while it runs instead of returning a list of effects: several upstream controllers depend on the API server's
//! response (a refused creation becomes a condition in the same pass). The effects are still data: the journal records each
//! with its reason, actor, pass and cause.
//!
//! A task is short, however large the cluster: events that arrive at one instant are delivered in tasks of 64, and the next such task runs
//! before any other; a controller with many Pods reads their counts (`crates/sim-core/src/tally.rs`), and sorts only those it deletes.

pub mod client_view;
pub mod controller_manager;
pub mod disk;
pub mod explore;
mod faults;
pub mod fingerprint;
pub mod forget;
pub mod informers;
pub mod loops;
pub mod mounted;
pub mod process;
pub mod refusals;
pub mod settled;
pub mod sim;
pub mod slowed;
pub mod tasks;

pub use client_view::ClientView;
pub use faults::{ActiveClientFault, ClientFaults, end_process};
pub use sim::{Advance, Sim};
pub use slowed::InLine;
