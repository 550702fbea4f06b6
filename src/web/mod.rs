//! The only place that names yew, web-sys, gloo: components, diagrams, the window's interface.

use yew::prelude::*;

#[function_component]
fn Hello() -> Html { html!{<p style="color:red">{"hello"}</p>} }

/// Mounts the page.
pub fn mount() {
    yew::Renderer::<Hello>::with_root(web_sys::window().unwrap().document().unwrap().get_element_by_id("app").unwrap()).render();
}
