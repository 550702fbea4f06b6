//! Saves the diagram that is shown. The picture is written from its scene, in parts with a breath between them; `static/export.js` makes a
//! file of it.

use super::dom::{self, document, fetch_script, window};
use super::language;
use crate::views::shape::Scene;
use crate::views::svg::{Pieces, Style, TAIL};
use gloo_timers::callback::Timeout;
use std::rc::Rc;
use wasm_bindgen::{JsCast, JsValue};

/// Milliseconds of one part of the work.
const PART_MS: f64 = 12.0;

/// Saves a scene under a name, as `SVG` or `PNG`; `selected` is the uid of what is chosen in it.
pub fn save(scene: Rc<Scene>, selected: &str, form: &'static str, name: String) {
    let pieces = Pieces::new(scene, selected, style(), language::words());
    write(pieces, Vec::new(), form, name);
}

/// The colours and icons of the page.
fn style() -> Style {
    let sprite = document().query_selector("symbol#logo").ok().flatten().and_then(|symbol| symbol.parent_element());
    Style::new(|name| dom::token(&format!("--{name}")), sprite.map(|sprite| sprite.inner_html()).unwrap_or_default())
}

fn write(mut pieces: Pieces, mut parts: Vec<String>, form: &'static str, name: String) {
    let until = dom::now() + PART_MS;
    while dom::now() < until {
        let Some(piece) = pieces.next() else {
            let head = pieces.head();
            return fetch_script("export.js", move || hand_over(form, &name, &head, &parts));
        };
        parts.push(piece);
    }
    Timeout::new(0, move || write(pieces, parts, form, name)).forget();
}

fn hand_over(form: &str, name: &str, head: &str, parts: &[String]) {
    let save = js_sys::Reflect::get(&window(), &"loopscopeExport".into()).ok();
    let Some(save) = save.as_ref().and_then(|save| save.dyn_ref::<js_sys::Function>()) else { return };
    let parts: js_sys::Array = parts.iter().map(|part| JsValue::from_str(part)).collect();
    let arguments = [form.into(), name.into(), head.into(), parts.into(), TAIL.into()];
    let _ = save.apply(&JsValue::NULL, &js_sys::Array::from_iter::<[JsValue; 5]>(arguments));
}
