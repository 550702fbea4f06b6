//! The code editor of `editor/editor.mjs`, a separate file: loaded when a manifest is shown; without it the text area stays.

use super::dom;
use super::language::say;
use actions::ApplyDiagnostic;
use i18n::msg;
use js_sys::{Array, Function, Object, Reflect};
use session::assist;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::Element;
use yew::Callback;

/// Callbacks of the editor.
pub struct EditorCallbacks {
    /// The text was edited: the whole text.
    pub edit: Callback<String>,
    /// Ctrl+Enter was pressed.
    pub apply: Callback<()>,
    /// The repair of a diagnostic is to be made: its place among them.
    pub repair: Callback<usize>,
}

/// Editor on the page.
pub struct Rich {
    handle: JsValue,
    _kept: Vec<JsValue>,
}

fn factory() -> Option<JsValue> {
    Reflect::get(&dom::window(), &"loopscopeEditor".into())
        .ok()
        .filter(|found| found.is_object())
}

/// Loads the editor's file once; `then` runs when it is loaded, and never if it cannot be.
pub fn load(then: Callback<()>) {
    if dom::query("editor").as_deref() == Some("plain") {
        return;
    }
    if factory().is_some() {
        return then.emit(());
    }
    dom::fetch_script("editor.js", move || {
        if factory().is_some() {
            then.emit(());
        }
    });
}

fn put(object: &Object, name: &str, value: &JsValue) {
    let _ = Reflect::set(object, &name.into(), value);
}

fn list(words: &[&str]) -> JsValue {
    words
        .iter()
        .map(|word| JsValue::from_str(word))
        .collect::<Array>()
        .into()
}

/// Phrases of the code editor in the language of the page: its own by their English text, and the page's additions.
fn words() -> JsValue {
    let phrases = Object::new();
    for (english, message) in [
        ("Find", msg::editor_find()),
        ("Replace", msg::editor_replace_with()),
        ("next", msg::editor_next()),
        ("previous", msg::editor_previous()),
        ("all", msg::editor_all()),
        ("match case", msg::editor_match_case()),
        ("regexp", msg::editor_regexp()),
        ("by word", msg::editor_by_word()),
        ("replace", msg::editor_replace()),
        ("replace all", msg::editor_replace_all()),
        ("close", msg::editor_close()),
    ] {
        put(&phrases, english, &say(message).into());
    }
    let all = Object::new();
    put(&all, "phrases", &phrases);
    put(&all, "label", &say(msg::editor_label()).into());
    all.into()
}

impl Rich {
    /// Creates an editor in `host`; `None` if its file is not loaded.
    pub fn mount(host: &Element, text: &str, on: EditorCallbacks) -> Option<Rich> {
        let factory = factory()?;
        let options = Object::new();
        put(&options, "text", &text.into());
        let EditorCallbacks {
            edit,
            apply,
            repair,
        } = on;
        let calls: [(&str, JsValue); 6] = [
            // In bytes of UTF-8: a string of megabytes would be passed character by character.
            (
                "edit",
                Closure::<dyn Fn(Vec<u8>)>::new(move |text| {
                    edit.emit(String::from_utf8(text).unwrap_or_default())
                })
                .into_js_value(),
            ),
            (
                "apply",
                Closure::<dyn Fn()>::new(move || apply.emit(())).into_js_value(),
            ),
            (
                "repair",
                Closure::<dyn Fn(usize)>::new(move |at| repair.emit(at)).into_js_value(),
            ),
            (
                "words",
                Closure::<dyn Fn() -> JsValue>::new(words).into_js_value(),
            ),
            (
                "offers",
                Closure::<dyn Fn(String, usize, usize) -> JsValue>::new(offers).into_js_value(),
            ),
            (
                "about",
                Closure::<dyn Fn(String, usize, usize) -> JsValue>::new(about).into_js_value(),
            ),
        ];
        for (name, call) in &calls {
            put(&options, name, call);
        }
        let mount: Function = Reflect::get(&factory, &"mount".into())
            .ok()?
            .dyn_into()
            .ok()?;
        let handle = mount.call2(&factory, host, &options).ok()?;
        Some(Rich {
            handle,
            _kept: calls.into_iter().map(|(_, call)| call).collect(),
        })
    }

    fn call(&self, name: &str, arguments: &[JsValue]) {
        if let Ok(function) = Reflect::get(&self.handle, &name.into())
            && let Some(function) = function.dyn_ref::<Function>()
        {
            let _ = function.apply(&self.handle, &arguments.iter().collect::<Array>());
        }
    }

    /// Replaces the text.
    pub fn set(&self, text: &str) {
        self.call("set", &[text.into()]);
    }

    /// Focuses the editor with a selection.
    pub fn select(&self, from: usize, to: usize) {
        self.call("select", &[from.into(), to.into()]);
    }

    /// Focuses the editor at a problem, and shows it there.
    pub fn show(&self, at: usize) {
        self.call("show", &[at.into()]);
    }

    /// Passes the diagnostics, the bounds of runs of lines that differ from the applied text, and `live`: true if computed while typing.
    pub fn tell(&self, diagnostics: &[ApplyDiagnostic], hot: &[usize], live: bool) {
        let all: Array = diagnostics
            .iter()
            .map(|diagnostic| {
                let one = Object::new();
                put(&one, "line", &diagnostic.line.into());
                put(
                    &one,
                    "columns",
                    &Array::of2(&diagnostic.columns.0.into(), &diagnostic.columns.1.into()),
                );
                put(&one, "message", &say(&diagnostic.message).into());
                put(&one, "error", &diagnostic.error.into());
                if let Some(repair) = &diagnostic.repair {
                    put(&one, "reason", &say(&repair.reason).into());
                    put(&one, "offer", &say(&repair.offer).into());
                }
                one
            })
            .collect();
        let hot: Array = hot.iter().map(|line| JsValue::from(*line)).collect();
        self.call("tell", &[all.into(), hot.into(), live.into()]);
    }
}

impl Drop for Rich {
    fn drop(&mut self) {
        self.call("destroy", &[]);
    }
}

fn offers(text: String, line: usize, column: usize) -> JsValue {
    assist::offers(&text, line, column)
        .iter()
        .map(|offer| {
            let replaces = offer.replaces.map(|n| n.to_string()).unwrap_or_default();
            list(&[
                &offer.name,
                &offer.detail,
                offer.tail,
                offer.help,
                &replaces,
            ])
        })
        .collect::<Array>()
        .into()
}

fn about(text: String, line: usize, column: usize) -> JsValue {
    match assist::about(&text, line, column) {
        Some((path, kind)) => list(&[&path, &kind]),
        None => Array::new().into(),
    }
}
