//! Objects become shapes, links and positions: pure geometry, no DOM.
//!
//! `adapt` reads the engine's objects into a plain [`model::Model`]; `ownership`, `storage` and `nodes` lay a
//! model out; `budget`, `marks` and `axis` do the same for the rollout strip and the timeline. No forces and no
//! randomness: the same state draws the same picture, and what stays keeps its key.

pub mod adapt;
pub mod axis;
pub mod block;
pub mod budget;
pub mod format;
pub mod lag;
pub mod loops;
pub mod marks;
pub mod model;
pub mod network;
pub mod nodes;
pub mod ownership;
pub mod rollout;
pub mod roster;
pub mod shape;
pub mod storage;
pub mod uses;
