//! The code editor of `editor/editor.mjs`, a separate file: fetched when a manifest is shown; without it the text area
//! stays.

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

/// What the editor tells the page.
pub struct EditorCallbacks {
    /// The whole text after an edit.
    pub edit: Callback<String>,
    /// Ctrl+Enter.
    pub apply: Callback<()>,
    /// A word of a line is to be replaced.
    pub fix: Callback<(usize, (usize, usize), String)>,
}

/// An editor on the page.
pub struct Rich {
    handle: JsValue,
    _kept: Vec<JsValue>,
}

fn factory() -> Option<JsValue> {
    Reflect::get(&dom::window(), &"loopscopeEditor".into())
        .ok()
        .filter(|found| found.is_object())
}

/// Fetches the editor's file once; `then` runs when it is there, now or later, and never if it cannot be had.
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

/// What the code editor says, in the language of the page: its own phrases by the English ones, and what the page adds.
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
    put(&all, "suggestion", &say(msg::editor_did_you_mean()).into());
    all.into()
}

impl Rich {
    /// An editor in `host`; none if its file is not there.
    pub fn mount(host: &Element, text: &str, on: EditorCallbacks) -> Option<Rich> {
        let factory = factory()?;
        let options = Object::new();
        put(&options, "text", &text.into());
        let EditorCallbacks { edit, apply, fix } = on;
        let calls: [(&str, JsValue); 6] = [
            // In bytes, which are UTF-8: a string of megabytes is passed character by character.
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
                "fix",
                Closure::<dyn Fn(usize, usize, usize, String)>::new(move |line, from, to, word| {
                    fix.emit((line, (from, to), word))
                })
                .into_js_value(),
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

    /// Another text.
    pub fn set(&self, text: &str) {
        self.call("set", &[text.into()]);
    }

    /// The focus, with a selection.
    pub fn select(&self, from: usize, to: usize) {
        self.call("select", &[from.into(), to.into()]);
    }

    /// The focus, at a problem, which is told there.
    pub fn show(&self, at: usize) {
        self.call("show", &[at.into()]);
    }

    /// What is wrong, where runs of lines that differ from what was applied begin and end, and whether this was found while typing.
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
                put(&one, "fix", &diagnostic.fix.as_deref().into());
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
        .map(|offer| list(&[&offer.name, &offer.detail, offer.tail]))
        .collect::<Array>()
        .into()
}

fn about(text: String, line: usize, column: usize) -> JsValue {
    match assist::about(&text, line, column) {
        Some((path, kind)) => list(&[&path, &kind]),
        None => Array::new().into(),
    }
}
