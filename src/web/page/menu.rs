//! The menus of the page: one is open at a time, and it closes when the focus leaves it.

use wasm_bindgen::JsCast;
use yew::prelude::*;

/// Open menu.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Menu {
    /// None.
    #[default]
    None,
    /// Options that have no room in the head of the diagram.
    View,
    /// Breakpoints, comparison, branches and commands.
    History,
    /// Speeds.
    Speed,
}

/// Returns true if the focus has left the menu.
pub fn has_left(event: &FocusEvent) -> bool {
    let to = event
        .related_target()
        .and_then(|to| to.dyn_into::<web_sys::Element>().ok());
    to.is_none_or(|to| to.closest(".pops").ok().flatten().is_none())
}
