//! `window.loopscope`: functions for other scripts on the page, tests and curious people.

use super::dom;
use super::language::say;
use super::status::STOPPED;
use k8s_model::{Kind, ObjectRef};
use session::Msg;
use session::State;
use session::console::ConsoleMsg;
use session::editor::EditorMsg;
use session::follow::FollowMsg;
use session::lesson::LessonMsg;
use session::playback::Playback;
use session::selection::SelectionMsg;
use session::timeline::TimelineMsg;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use wasm_bindgen::prelude::*;
use yew::Callback;

fn object() -> JsValue {
    js_sys::Reflect::get(&dom::window(), &"loopscope".into()).unwrap_or(JsValue::UNDEFINED)
}

fn put(name: &str, closure: &JsValue) {
    let _ = js_sys::Reflect::set(&object(), &name.into(), closure);
}

thread_local! {
    /// The page, and true if the whole module is loaded: both are needed to start.
    static WAITS: RefCell<(Option<Page>, bool)> = const { RefCell::new((None, false)) };
    /// True once the code of the loops is loaded.
    static PLAYS: Cell<bool> = const { Cell::new(false) };
}

type Page = (Rc<RefCell<State>>, Callback<()>);

/// Notes that the page is drawn.
pub fn drawn(state: &Rc<RefCell<State>>, changed: Callback<()>) {
    WAITS.with_borrow_mut(|(page, _)| *page = Some((state.clone(), changed)));
    start();
}

/// Notes that the code of the loops is loaded.
pub fn play() {
    PLAYS.set(true);
}

/// Returns true if the code of the loops is loaded. Until then the page only draws its opening.
pub fn plays() -> bool {
    PLAYS.get()
}

/// Notes that the whole module is loaded.
pub fn whole() {
    WAITS.with_borrow_mut(|(_, whole)| *whole = true);
    start();
}

/// Returns true if the whole module is loaded. Until then the page does only what its opening needs.
pub fn is_whole() -> bool {
    WAITS.with_borrow(|(_, whole)| *whole)
}

fn start() {
    let page = WAITS.with_borrow_mut(|(page, whole)| if *whole { page.take() } else { None });
    if let Some((state, changed)) = page {
        if dom::query("embed").is_some() {
            state.borrow_mut().timeline.playback = Playback::read(&dom::query);
        }
        offer(&state, &changed);
        started();
        changed.emit(());
    }
}

/// Adds the functions to `window.loopscope`, which `start.js` has created.
fn offer(state: &Rc<RefCell<State>>, changed: &Callback<()>) {
    let act = |name: &str, msg: fn(JsValue) -> Msg, print: bool| {
        let (state, changed) = (state.clone(), changed.clone());
        let closure = Closure::<dyn Fn(JsValue) -> JsValue>::new(move |argument: JsValue| {
            if STOPPED.get() {
                return JsValue::UNDEFINED;
            }
            let before = state.borrow().console.printed;
            state.borrow_mut().update(msg(argument));
            answer(&state);
            changed.emit(());
            if !print {
                return JsValue::from_str(&say(state.borrow().announcer.notice()));
            }
            let state = state.borrow();
            let console = &state.console;
            // The first is the line that was entered.
            let new = console.printed.saturating_sub(before + 1);
            let from = console.lines.len().saturating_sub(new);
            let lines: Vec<&str> = console.lines[from..]
                .iter()
                .map(|line| line.text.as_str())
                .collect();
            JsValue::from_str(&lines.join("\n"))
        });
        put(name, &closure.into_js_value());
    };
    act("play", |_| TimelineMsg::Play.into(), false);
    act("live", |_| TimelineMsg::Live.into(), false);
    act("branch", |_| TimelineMsg::Branch.into(), false);
    act(
        "load",
        |text| Msg::Load(text.as_string().unwrap_or_default(), None),
        false,
    );
    act("pause", |_| TimelineMsg::Pause.into(), false);
    act(
        "teach",
        |word| LessonMsg::from_word(&word.as_string().unwrap_or_default()).into(),
        false,
    );
    act(
        "view",
        |view| {
            SelectionMsg::View(
                views::by_id(&view.as_string().unwrap_or_default()).unwrap_or_default(),
            )
            .into()
        },
        false,
    );
    act("step", |_| TimelineMsg::Step.into(), false);
    act(
        "fault",
        |line| {
            let line = line.as_string().unwrap_or_default();
            // The console reports the error in a line that is no fault.
            line.parse()
                .map_or_else(|_| ConsoleMsg::Fault(line).into(), Msg::Fault)
        },
        false,
    );
    act(
        "told",
        |line| FollowMsg::Told(line.as_string().unwrap_or_default()).into(),
        false,
    );
    act("lost", |_| FollowMsg::Lost.into(), false);
    act(
        "answered",
        |text| FollowMsg::Answered(text.as_string().unwrap_or_default()).into(),
        false,
    );
    act(
        "speed",
        |speed| TimelineMsg::Speed(speed.as_f64().unwrap_or(1.0)).into(),
        false,
    );
    act(
        "pace",
        |pace| TimelineMsg::ByCause(pace.as_string().as_deref() == Some("cause")).into(),
        false,
    );
    act(
        "seek",
        |seconds| {
            TimelineMsg::Seek((seconds.as_f64().unwrap_or(0.0).max(0.0) * 1000.0) as u64).into()
        },
        false,
    );
    act(
        "kubectl",
        |line| ConsoleMsg::Enter(with_name(&line.as_string().unwrap_or_default())).into(),
        true,
    );

    let (of, to) = (state.clone(), changed.clone());
    let apply = Closure::<dyn Fn(String) -> JsValue>::new(move |text: String| {
        if STOPPED.get() {
            return JsValue::UNDEFINED;
        }
        of.borrow_mut().update(EditorMsg::Edit(text));
        of.borrow_mut().update(Msg::Apply);
        answer(&of);
        to.emit(());
        let words: Vec<String> = of
            .borrow()
            .editor
            .diagnostics
            .iter()
            .map(|diagnostic| format!("line {}: {}", diagnostic.line, say(&diagnostic.message)))
            .collect();
        JsValue::from_str(&if words.is_empty() {
            say(of.borrow().announcer.notice())
        } else {
            words.join("\n")
        })
    });
    put("apply", &apply.into_js_value());

    let to = changed.clone();
    let theme = Closure::<dyn Fn(String)>::new(move |theme: String| {
        dom::set_theme(
            theme == "dark" || theme != "light" && dom::prefers("(prefers-color-scheme: dark)"),
        );
        to.emit(());
    });
    put("theme", &theme.into_js_value());

    let names: js_sys::Array = views::ALL
        .iter()
        .map(|view| JsValue::from_str(view.id))
        .collect();
    put("views", &names);
    put("version", &JsValue::from_str(env!("CARGO_PKG_VERSION")));

    let to = changed.clone();
    let tell = Closure::<dyn Fn()>::new(move || to.emit(()));
    put("tell", &tell.into_js_value());

    let of = state.clone();
    let text = Closure::<dyn Fn() -> JsValue>::new(move || {
        of.try_borrow()
            .map_or(JsValue::NULL, |state| JsValue::from_str(&state.editor.text))
    });
    put("manifest", &text.into_js_value());

    let of = state.clone();
    let now = Closure::<dyn Fn() -> f64>::new(move || {
        of.try_borrow()
            .map_or(f64::NAN, |state| state.timeline.run.now() as f64 / 1000.0)
    });
    put("now", &now.into_js_value());

    let of = state.clone();
    let end = Closure::<dyn Fn() -> f64>::new(move || {
        of.try_borrow()
            .map_or(f64::NAN, |state| state.timeline.run.end() as f64 / 1000.0)
    });
    put("end", &end.into_js_value());

    let of = state.clone();
    let lesson = Closure::<dyn Fn() -> JsValue>::new(move || {
        let told = of
            .try_borrow()
            .map_or(serde_json::Value::Null, |state| super::host::lesson(&state));
        js_sys::JSON::parse(&told.to_string()).unwrap_or(JsValue::NULL)
    });
    put("lesson", &lesson.into_js_value());

    let of = state.clone();
    let get = Closure::<dyn Fn(String, String, String) -> JsValue>::new(
        move |kind: String, namespace: String, name: String| {
            let Some(kind) = Kind::from_label(&kind).or_else(|| Kind::from_word(&kind)) else {
                return JsValue::NULL;
            };
            let Ok(state) = of.try_borrow() else {
                return JsValue::NULL;
            };
            let found = state
                .timeline
                .run
                .sim()
                .store()
                .get(&ObjectRef::new(kind, &namespace, &name))
                .map(|object| object.to_value().to_string());
            found
                .and_then(|text| js_sys::JSON::parse(&text).ok())
                .unwrap_or(JsValue::NULL)
        },
    );
    put("get", &get.into_js_value());

    // Shows what a reader would see if the simulator failed.
    if dom::query("test").as_deref() == Some("stop") {
        let stop = Closure::<dyn Fn()>::new(stop);
        put("stop", &stop.into_js_value());
    }

    let trace = Closure::<dyn Fn(String) -> JsValue>::new(|text: String| {
        JsValue::from_str(&trace_of(&text))
    });
    put("trace", &trace.into_js_value());
}

/// Blocks until the answer is complete.
fn answer(state: &RefCell<State>) {
    while state.borrow().timeline.run.goes_on() {
        state.borrow_mut().poll();
    }
}

/// Returns the trace of a scenario, as `loopscope run --trace` prints it, or its error.
fn trace_of(text: &str) -> String {
    match scenario::parse(text) {
        Err(message) => message,
        Ok(scenario) => {
            let mut bytes = Vec::new();
            scenario::run(
                &scenario,
                1,
                usize::MAX,
                &mut scenario::Trace::new(&mut bytes),
            );
            String::from_utf8(bytes).unwrap_or_default()
        }
    }
}

#[expect(clippy::panic, reason = "that is what is asked for")]
fn stop() {
    panic!("stopped as asked");
}

fn with_name(line: &str) -> String {
    let line = line.trim();
    if line.starts_with("kubectl") {
        line.into()
    } else {
        format!("kubectl {line}")
    }
}

/// Runs the commands given before the module was loaded.
fn started() {
    let _ = js_sys::Reflect::set(&object(), &"ready".into(), &JsValue::TRUE);
    if let Some(started) = dom::function("loopscopeStarted") {
        let _ = started.call0(&JsValue::NULL);
    }
}
