//! The control plane at work: the ring of loops, their queues, and the last pass of the chosen one.

pub mod layout;
pub mod model;
