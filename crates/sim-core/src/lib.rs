//! Persistent collections, indexes and the random numbers of the simulation.

pub mod chunks;
pub mod deferred_drop;
pub mod index;
pub mod indexes;
pub mod rank_cache;
pub mod rng;
pub mod table;
pub mod tally;
pub mod tree;

pub use table::Listing;
