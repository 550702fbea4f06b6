//! Effects of injected faults: on Pods and nodes in `inject.rs`, on watches and controllers in `watches.rs`, on clients
//! in `clients.rs`.

mod clients;
mod inject;
mod watches;

pub use clients::{ActiveClientFault, ClientFaults};
pub use inject::end_process;
