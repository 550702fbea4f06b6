//! Loopscope: Kubernetes' control loops, played on a clock that belongs to the reader.
//!
//! Data flows one way: text becomes objects (`manifest`), objects and requests go into the
//! `engine`, which appends to its journal, from which everything that is drawn is derived.
//! A module imports only what stands above it in this list.

pub mod api;
pub mod sort;
pub mod manifest;
pub mod i18n;
pub mod engine;
pub mod kubectl;
pub mod scenario;
pub mod actions;
pub mod projection;
pub mod explain;
pub mod views;
pub mod lesson;
pub mod session;
#[cfg(not(target_arch = "wasm32"))]
pub mod check;
#[cfg(not(target_arch = "wasm32"))]
pub mod serve;
#[cfg(target_arch = "wasm32")]
pub mod web;
