//! Integration tests of this crate together with those below it.

mod controller_runtime_late;
mod event_driven;
mod garbage_collector;
mod kubelet_nodes;
mod scheduler_memo;
