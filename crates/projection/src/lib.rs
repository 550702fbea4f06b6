//! View models of objects, read incrementally from the journal. No geometry.

pub mod adapt;
pub mod block;
pub mod budget;
pub mod changes;
pub mod images;
pub mod marks;
pub mod model;
pub mod program;
pub mod rollout_track;
pub mod stale;
pub mod totals;
