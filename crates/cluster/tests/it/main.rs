//! Integration tests of this crate together with those below it.

mod controller_runtime_late;
mod kubelet_nodes;
mod scheduler_memo;
