//! Yew components, the drawing of diagrams, and `window.loopscope`. The only module that names yew, web-sys and gloo.

#![doc = include_str!("loading.md")]
#![doc = include_str!("frames.md")]

mod actions;
mod budget;
mod cells;
mod chart;
mod console;
mod dom;
mod editor;
mod embed;
mod export;
mod faults;
mod help;
mod host;
mod inspector;
mod language;
mod learn;
mod lesson;
mod list;
mod load;
mod loop_inspector;
mod minimap;
mod notes;
mod page;
mod primitives;
mod replaced;
mod rich;
mod shapes;
mod stage;
mod status;
mod terms;
mod timeline;
mod tools;
mod topbar;
mod window;

use status::{SHOWN, STOPPED};
use wasm_bindgen::prelude::*;

/// Makes a part of the opening; returns true if there is more to do. Called by static/start.js, like the functions below: each call is a
/// task of its own.
#[wasm_bindgen]
pub fn prepare() -> bool {
    yew::set_custom_panic_hook(Box::new(|info| {
        STOPPED.set(true);
        dom::tell_stopped(&i18n::format::clock(SHOWN.get()), &info.to_string());
    }));
    page::prepare()
}

/// Mounts the page.
#[wasm_bindgen]
pub fn open() {
    if let Some(root) = dom::element("app") {
        yew::Renderer::<page::Page>::with_root(root).render();
    }
}

/// Notes that the code of the loops is loaded: the clock may run.
#[wasm_bindgen]
pub fn play() {
    window::play();
}

/// Notes that the whole module is loaded, and runs what other scripts have requested.
#[wasm_bindgen]
pub fn whole() {
    window::whole();
}
