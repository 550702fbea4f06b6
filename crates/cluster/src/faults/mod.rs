//! What injected faults do: to Pods and nodes in `inject.rs`, to watches and loops in `watches.rs`.

mod inject;
mod watches;

pub use watches::InLine;
