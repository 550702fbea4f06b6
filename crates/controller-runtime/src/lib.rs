//! Building blocks of controllers: informers, work queues, and a client whose writes carry their reasons.

pub mod client;
pub mod cluster;
pub mod descriptor;
pub mod event_series;
pub mod event_ttl;
pub mod events;
pub mod fact;
pub mod heartbeats;
pub mod informer;
pub mod key_state;
pub mod limit;
pub mod load;
pub mod process;
pub mod watch;
pub mod watch_faults;
pub mod workqueue;
