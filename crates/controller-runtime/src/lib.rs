//! Building blocks of controllers: informers, work queues, and a client whose writes carry their reasons.

pub mod client;
pub mod cluster;
pub mod component;
pub mod descriptor;
pub mod event_series;
pub mod events;
pub mod heartbeats;
pub mod informer;
pub mod limit;
pub mod load;
pub mod watch;
pub mod watch_faults;
pub mod workqueue;
