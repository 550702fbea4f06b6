//! The few browser functions that the components need. Functions that may be denied (storage in a sandboxed frame, the clipboard) fail
//! silently or report to the caller.

use super::language::Lang;
use i18n::Catalogue;
use std::cell::RefCell;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::{Document, Element, Window};
use yew::html::Scope;
use yew::prelude::*;

/// Returns the window, which always exists here.
#[expect(clippy::expect_used, reason = "a page has a window")]
pub fn window() -> Window {
    web_sys::window().expect("a window")
}

/// Returns the document.
#[expect(clippy::expect_used, reason = "a window has a document")]
pub fn document() -> Document {
    window().document().expect("a document")
}

/// Returns the element with this id.
pub fn element(id: &str) -> Option<Element> {
    document().get_element_by_id(id)
}

/// Selects the text of the editor in an element, and gives it the focus.
pub fn select_text(within: &str) {
    let find = |selector: &str| {
        let all = [within, " ", selector].concat();
        document().query_selector(&all).ok().flatten()
    };
    if let Some(content) = find(".cm-content") {
        focus(&content);
        if let Ok(Some(selection)) = window().get_selection() {
            let _ = selection.select_all_children(&content);
        }
    } else if let Some(area) =
        find("textarea").and_then(|area| area.dyn_into::<web_sys::HtmlTextAreaElement>().ok())
    {
        focus(&area);
        area.select();
    }
}

/// Milliseconds since the page was loaded.
pub fn now() -> f64 {
    window()
        .performance()
        .map_or(0.0, |performance| performance.now())
}

/// Counts renders in `loopscope.renders`, if the page was built for measuring (`make drawing`).
#[cfg(feature = "renders")]
pub fn renders(what: &str) {
    let get = |of: &JsValue, key: &str| {
        js_sys::Reflect::get(of, &key.into()).unwrap_or(JsValue::UNDEFINED)
    };
    let counts = get(&get(&window(), "loopscope"), "renders");
    let _ = js_sys::Reflect::set(
        &counts,
        &what.into(),
        &(get(&counts, what).as_f64().unwrap_or(0.0) + 1.0).into(),
    );
}

/// Counts nothing.
#[cfg(not(feature = "renders"))]
#[inline(always)]
pub fn renders(_: &str) {}

/// Stores a preference if storage is allowed.
pub fn keep(key: &str, value: &str) {
    if let Ok(Some(storage)) = window().local_storage() {
        let _ = storage.set_item(key, value);
    }
}

/// Returns a stored preference.
pub fn kept(key: &str) -> Option<String> {
    window().local_storage().ok()??.get_item(key).ok()?
}

const SESSION: &str = "loopscope.session";

/// Stores the session for a reload of this tab, with its address; an empty text removes it.
pub fn keep_for_reload(hash: &str) {
    if let Ok(Some(storage)) = window().session_storage() {
        let href = window().location().href().unwrap_or_default();
        let _ = if hash.is_empty() {
            storage.remove_item(SESSION)
        } else {
            storage.set_item(SESSION, &[&href, "\n", hash].concat())
        };
    }
}

/// Returns the stored session, if this is a reload of, or a return to, the same address.
pub fn kept_for_reload() -> Option<String> {
    // A frame may have no storage, and its embedding page decides what it shows.
    let navigation = window()
        .performance()?
        .get_entries_by_type("navigation")
        .get(0);
    let how = js_sys::Reflect::get(&navigation, &"type".into())
        .ok()?
        .as_string()?;
    if !matches!(how.as_str(), "reload" | "back_forward") || query("embed").is_some() {
        return None;
    }
    let kept = window().session_storage().ok()??.get_item(SESSION).ok()??;
    let (href, hash) = kept.split_once('\n')?;
    (window().location().href().ok()? == href).then(|| hash.to_owned())
}

/// Returns true if a media query matches.
pub fn prefers(query: &str) -> bool {
    window()
        .match_media(query)
        .ok()
        .flatten()
        .is_some_and(|list| list.matches())
}

/// Returns a parameter of the address.
pub fn query(name: &str) -> Option<String> {
    let search = window()
        .location()
        .search()
        .ok()
        .filter(|search| !search.is_empty())
        .or_else(|| saved("query"))?;
    web_sys::UrlSearchParams::new_with_str(&search)
        .ok()?
        .get(name)
}

/// Returns true if the address asks the clock to run from the start; `None` without the parameter.
pub fn autoplay() -> Option<bool> {
    query("autoplay").map(|value| value != "0" && value != "false")
}

/// Returns the fragment of the address, with its `#`.
pub fn fragment() -> String {
    let hash = window().location().hash().unwrap_or_default();
    if hash.is_empty() {
        saved("hash").unwrap_or_default()
    } else {
        hash
    }
}

/// Returns a value stored in a page saved as one file.
fn saved(name: &str) -> Option<String> {
    let file = js_sys::Reflect::get(&window(), &"loopscopeFile".into())
        .ok()
        .filter(JsValue::is_object)?;
    js_sys::Reflect::get(&file, &name.into()).ok()?.as_string()
}

/// Replaces the fragment without a new entry in the history.
pub fn set_fragment(fragment: &str) {
    if let Ok(history) = window().history() {
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(fragment));
    }
}

/// Compresses bytes with zlib in a worker; `None` if the browser cannot.
pub async fn deflate(bytes: &[u8]) -> Option<Vec<u8>> {
    let pack = js_sys::Reflect::get(&window(), &"loopscopeDeflate".into())
        .ok()?
        .dyn_into::<js_sys::Function>()
        .ok()?;
    let promise = pack
        .call1(&JsValue::NULL, &js_sys::Uint8Array::from(bytes))
        .ok()?;
    let packed = wasm_bindgen_futures::JsFuture::from(js_sys::Promise::from(promise))
        .await
        .ok()?;
    Some(js_sys::Uint8Array::new(&packed).to_vec())
}

/// Returns true while a lesson is presented: large, with nothing beside it.
pub fn presents() -> bool {
    document()
        .document_element()
        .is_some_and(|root| root.class_list().contains("present"))
}

/// Starts or ends presenting, in full screen if the browser allows it.
pub fn present(on: bool) {
    if let Some(root) = document().document_element() {
        let _ = root.class_list().toggle_with_force("present", on);
    }
    fill_screen(on);
}

/// Enters or leaves full screen.
pub fn fill_screen(on: bool) {
    match document().document_element() {
        Some(root) if on => drop(root.request_fullscreen()),
        _ if document().fullscreen_element().is_some() => document().exit_fullscreen(),
        _ => {}
    }
}

/// Returns the address of the page without query and fragment.
pub fn address() -> String {
    let location = window().location();
    format!(
        "{}{}",
        location.origin().unwrap_or_default(),
        location.pathname().unwrap_or_default()
    )
}

/// Copies text, with a fallback if the clipboard is refused.
pub fn copy(text: &str) {
    let clipboard = window().navigator().clipboard();
    if !clipboard.is_undefined() {
        let _ = clipboard.write_text(text);
    }
}

/// Returns the size of the window.
pub fn size() -> (f64, f64) {
    let number = |value: Result<JsValue, JsValue>| {
        value.ok().and_then(|value| value.as_f64()).unwrap_or(0.0)
    };
    (
        number(window().inner_width()),
        number(window().inner_height()),
    )
}

/// Sets the theme of the whole page.
pub fn set_theme(dark: bool) {
    if let Some(root) = document().document_element() {
        let _ = root.set_attribute("data-theme", if dark { "dark" } else { "light" });
    }
}

thread_local! {
    /// Tokens read so far, and their theme.
    static TOKENS: RefCell<(String, Vec<(String, String)>)> = const { RefCell::new((String::new(), Vec::new())) };
}

/// Tokens used for painting canvases.
const PAINTS: [&str; 17] = [
    "--text",
    "--text-2",
    "--text-3",
    "--surface",
    "--surface-2",
    "--surface-3",
    "--border",
    "--border-strong",
    "--accent",
    "--on-accent",
    "--on-status",
    "--st-pending",
    "--st-creating",
    "--st-notready",
    "--st-ready",
    "--st-terminating",
    "--st-failed",
];

/// Returns a colour or another token of the style sheet. All painting tokens of a theme are read at once: reading one makes the browser
/// compute the styles of the whole page.
pub fn token(name: &str) -> String {
    let Some(root) = document().document_element() else {
        return String::new();
    };
    let theme = root.get_attribute("data-theme").unwrap_or_default();
    TOKENS.with_borrow_mut(|(of, known)| {
        let read = |names: &[&str]| -> Vec<(String, String)> {
            let style = window().get_computed_style(&root).ok().flatten();
            let value = |name: &str| {
                style
                    .as_ref()
                    .and_then(|style| style.get_property_value(name).ok())
                    .unwrap_or_default()
            };
            names
                .iter()
                .map(|name| (name.to_string(), value(name).trim().to_string()))
                .collect()
        };
        if *of != theme {
            (*of, *known) = (theme, read(&PAINTS));
        }
        if let Some((_, value)) = known.iter().find(|(known, _)| known == name) {
            return value.clone();
        }
        known.extend(read(&[name]));
        known
            .last()
            .map(|(_, value)| value.clone())
            .unwrap_or_default()
    })
}

/// Returns a function defined by a script of the page.
pub fn function(name: &str) -> Option<js_sys::Function> {
    js_sys::Reflect::get(&window(), &name.into())
        .ok()?
        .dyn_into()
        .ok()
}

/// Returns true if a lesson or manifest is named by its address.
pub fn is_address(name: &str) -> bool {
    name.contains(['/', '.'])
}

/// Returns the text that `start.js` has loaded from the address in the query, or its error.
pub fn loaded_text() -> Option<Result<String, String>> {
    let text = |name: &str| {
        js_sys::Reflect::get(&window(), &name.into())
            .ok()?
            .as_string()
    };
    text("loopscopeText")
        .map(Ok)
        .or_else(|| text("loopscopeTextError").map(Err))
}

/// Returns true if a lesson in the address is for a learner: in a frame, a file, a package, or from an address of its own.
pub fn is_for_learners() -> bool {
    query("embed").is_some()
        || query("learn").is_some()
        || saved("hash").is_some_and(|hash| !hash.is_empty())
        || loaded_text().is_some()
}

/// Returns the progress that a learning platform has stored for the lesson (`static/scorm.js`), once.
pub fn take_resume_point() -> Option<serde_json::Value> {
    let (window, name) = (window(), "loopscopeResume".into());
    let text = js_sys::Reflect::get(&window, &name).ok()?.as_string()?;
    let _ = js_sys::Reflect::delete_property(&window, &name);
    serde_json::from_str(&text).ok()
}

/// Returns true if the page's theme is dark.
pub fn is_dark() -> bool {
    document()
        .document_element()
        .and_then(|root| root.get_attribute("data-theme"))
        .as_deref()
        == Some("dark")
}

/// Shows that the simulator has stopped; the box is drawn by `start.js`, without this module.
pub fn tell_stopped(at: &str, report: &str) {
    web_sys::console::error_1(&report.into());
    if let Some(tell) = function("loopscopeStopped") {
        let _ = tell.call2(&JsValue::NULL, &at.into(), &report.into());
    }
}

/// Loads another script of the page; `then` runs in a task of its own, with true on success.
fn load_script(name: &str, then: impl FnOnce(bool) + Clone + 'static) {
    let Some(load) = function("loopscopeScript") else {
        return;
    };
    let promise = load
        .call1(&JsValue::NULL, &name.into())
        .ok()
        .and_then(|promise| promise.dyn_into::<js_sys::Promise>().ok());
    let failed = then.clone();
    let loaded = Closure::<dyn FnMut(JsValue)>::once(move |_: JsValue| {
        let _ = gloo_timers::callback::Timeout::new(0, move || then(true)).forget();
    });
    let failed = Closure::<dyn FnMut(JsValue)>::once(move |_: JsValue| failed(false));
    if let Some(promise) = promise {
        let _ = promise.then2(&loaded, &failed);
    }
    loaded.forget();
    failed.forget();
}

/// Loads another script of the page; `then` runs on success only.
pub fn fetch_script(name: &str, then: impl FnOnce() + Clone + 'static) {
    load_script(name, |there| {
        if there {
            then()
        }
    });
}

/// Loads a lesson of the library; `then` is called with its text, or `None` on failure.
pub fn fetch_lesson(name: &str, then: impl FnOnce(Option<String>) + Clone + 'static) {
    let own = name.to_owned();
    load_script(&format!("lessons/{name}.js"), move |there| {
        let all = js_sys::Reflect::get(&window(), &"loopscopeLessons".into()).ok();
        let text = all
            .and_then(|all| js_sys::Reflect::get(&all, &own.into()).ok())
            .and_then(|text| text.as_string());
        then(text.filter(|_| there));
    });
}

/// Loads the field descriptions and the published files; `then` is called with true on success.
pub fn fetch_descriptions(then: impl FnOnce(bool) + Clone + 'static) {
    load_script("explain.js", move |there| {
        let text = |name: &str| {
            js_sys::Reflect::get(&window(), &name.into())
                .ok()
                .and_then(|text| text.as_string())
                .filter(|_| there)
        };
        kubectl::published::provide(text("loopscopePublished").unwrap_or_default());
        let tables = text("loopscopeExplain");
        then(tables.map(k8s_model::openapi::provide).is_some());
    });
}

/// Saves the page as one file (`html`) or as a package (`scorm`); then reports the error, if there was one.
pub fn save_single(
    form: &'static str,
    hash: String,
    query: String,
    title: String,
    done: Callback<String>,
) {
    with_script("single.js", "loopscopeSingle", move |save| {
        let done = Closure::once_into_js(move |error: String| done.emit(error));
        let given = js_sys::Array::of5(
            &form.into(),
            &hash.into(),
            &query.into(),
            &title.into(),
            &done,
        );
        let _ = save.apply(&JsValue::NULL, &given);
    });
}

/// Returns the preferred language: of the address, chosen before, or the browser's.
pub fn wanted_language() -> Lang {
    let said = query("lang")
        .or_else(|| kept("loopscope.lang"))
        .or_else(|| window().navigator().language());
    said.map_or(Lang::English, |tag| Lang::of(&tag))
}

/// Switches the language; its catalogue is loaded at first use, and `then` runs when it is there.
pub fn speak(lang: Lang, then: Callback<Lang>) {
    let read = || {
        js_sys::Reflect::get(&window(), &"loopscopeCatalogue".into())
            .ok()
            .and_then(|file| file.as_string())
    };
    let switch = move || {
        let file = read().filter(|_| lang == Lang::Chinese);
        super::language::choose(
            lang,
            file.map_or(Catalogue::ENGLISH, |file| Catalogue::read(&file)),
        );
        // The code editor has its own phrases.
        if let Ok(event) = web_sys::Event::new("loopscope-language") {
            let _ = window().dispatch_event(&event);
        }
        then.emit(lang);
    };
    if lang == Lang::English || read().is_some() {
        switch()
    } else {
        fetch_script("zh.js", switch)
    }
}

/// Calls a closure with a function that a script of the page defines; the script is loaded once.
pub fn with_script(
    file: &str,
    name: &'static str,
    then: impl FnOnce(&js_sys::Function) + Clone + 'static,
) {
    match function(name) {
        Some(known) => then(&known),
        None => fetch_script(file, move || {
            if let Some(loaded) = function(name) {
                then(&loaded);
            }
        }),
    }
}

/// Saves a text as a file.
pub fn save_text(name: String, text: String) {
    with_script("export.js", "loopscopeSave", move |save| {
        let _ = save.call2(&JsValue::NULL, &name.into(), &text.into());
    });
}

/// Focuses an element.
pub fn focus(element: &Element) {
    if let Some(element) = element.dyn_ref::<web_sys::HtmlElement>() {
        let _ = element.focus();
    }
}

/// Handles an event while the browser dispatches it. A message may be handled later: once the scheduler has worked for 16 ms it yields to
/// the browser, and by then the event has had its default action, and the next key has gone to the previous focus.
pub fn answer<C: Component, E: 'static>(
    link: &Scope<C>,
    answer: impl Fn(&C, &E) + 'static,
) -> Callback<E> {
    let link = link.clone();
    Callback::from(move |event: E| {
        if let Some(component) = link.get_component() {
            answer(&component, &event);
        }
    })
}

/// Selector of the diagram's element that Tab and F6 focus: one of its objects, or the diagram itself if it is empty.
pub const STAGE_STOP: &str = "#stage[tabindex], #stage [tabindex='0']";

/// Focuses the diagram's stop; returns true if it has one.
pub fn enter_stage() -> bool {
    let found = document().query_selector(STAGE_STOP).ok().flatten();
    found.as_ref().inspect(|element| focus(element)).is_some()
}

/// Requests one animation frame.
pub fn frame(closure: &Closure<dyn FnMut()>) {
    let _ = window().request_animation_frame(closure.as_ref().unchecked_ref());
}

/// Draws an icon of the sprite.
pub fn icon(name: &str, size: u32) -> Html {
    let size = size.to_string();
    html! { <svg width={size.clone()} height={size} aria-hidden="true"><use href={format!("#{name}")} /></svg> }
}

/// Draws the icon tile of a kind.
pub fn tile(kind: &str) -> Html {
    let (name, family) = views::icons::kind_icon(kind);
    html! { <span class={classes!("kicon", family)}>{ icon(name, 16) }</span> }
}
