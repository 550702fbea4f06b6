//! The diagrams, one folder each: what it shows, and where. Pure geometry, no DOM, no randomness: the same state draws the same
//! picture, and what stays keeps its key.

pub mod axis;
pub mod card;
pub mod columns;
pub mod highlight;
pub mod loops;
pub mod network;
pub mod nodes;
pub mod ownership;
pub mod references;
pub mod rollout;
pub mod roster;
pub mod shape;
pub mod storage;
pub mod timeline;
