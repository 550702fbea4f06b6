//! Effects of injected faults: on Pods and nodes in `inject.rs`, on watches and controllers in `watches.rs`.

mod inject;
mod watches;

pub use watches::InLine;
