//! The page: a Yew app that embeds the engine. Everything it shows comes from the crates in `crates/`.

#[cfg(target_arch = "wasm32")]
pub mod web;
