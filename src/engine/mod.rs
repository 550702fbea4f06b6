//! The simulated control plane: knows no YAML text, no browser and no wall clock.
//!
//! `Sim` takes the next task of its queue, runs it and appends what it wrote to the journal. Every
//! component reads through an informer that lags behind the store, and writes through the store,
//! which can refuse.

pub mod chunks;
pub mod cluster;
mod component;
pub mod connectivity;
pub mod controllers;
pub mod descriptor;
pub mod disk;
pub mod fault;
pub mod dns;
pub mod event_series;
mod event_ttl;
pub mod forget;
pub mod events;
mod found;
pub mod deferred_drop;
pub mod gateway;
pub mod heartbeats;
mod index;
pub mod informer;
pub mod journal;
pub mod kubelet;
pub mod late;
pub mod limit;
pub mod load;
pub mod loops;
pub mod mounted;
pub mod out;
mod rank_cache;
pub mod rng;
pub mod scheduler;
pub mod sim;
pub mod store;
mod table;
pub mod tally;
mod tree;
pub mod watch;
pub mod why;
pub mod workqueue;

pub use journal::{Actor, Entry, EntryId, Journal, Op, Record};
pub use sim::Sim;
pub use table::Listing;
pub use why::Why;
