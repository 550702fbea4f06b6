//! The page: owns the state, lets the clock run in slices, and lays the panels out.
//!
//! The engine never blocks the page: a timer gives it slices of at most a few milliseconds, and what changed is
//! drawn at most once in an animation frame.

use super::console::Console;
use super::editor::Editor;
use super::inspector::Inspector;
use super::stage::Stage;
use super::timeline::{Lanes, Transport};
use super::tools::{Tool, Tools};
use super::topbar::{Topbar, logo, tabs};
use super::{SHOWN, STOPPED, console, dom, window};
use crate::api::{Body, Kind, Object, ObjectRef, Time};
use crate::app::card::{self, Card};
use crate::app::diagnose::{Diagnosis, Remedy};
use crate::app::format::{Px, clock};
use crate::app::state::{Picture, Tab, View};
use crate::app::words::{self, Reason};
use crate::app::{Msg as Do, State, examples, permalink, speed};
use crate::engine::{Entry, Op};
use crate::scene::marks::Mark;
use dom::icon;
use gloo_timers::callback::{Interval, Timeout};
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::{Element, Event, HtmlSelectElement, KeyboardEvent};
use yew::prelude::*;

/// Milliseconds the engine may take at a time.
const SLICE: f64 = 6.0;
/// Tasks between two looks at the clock.
const GRAIN: usize = 16;
/// Milliseconds between two looks at what an object waits for, while the clock runs.
const DIAGNOSIS: f64 = 300.0;
/// Milliseconds after the last key until a text is tried.
const TYPING: u32 = 350;
/// Milliseconds between two things said aloud: what fails or settles, and what else happens.
const NEWS: f64 = 2_000.0;
const TALK: f64 = 5_000.0;
/// Without an animation frame for so long, the page is not seen, and rests.
const UNSEEN: f64 = 400.0;

/// What happens to the page.
pub enum Msg {
    /// Something for the state.
    Do(Do),
    /// The state was changed from outside.
    Changed,
    /// The timer.
    Tick,
    /// An animation frame.
    Frame,
    /// A key anywhere.
    Key(KeyboardEvent),
    /// The window has another size.
    Resized,
    /// The other theme.
    Theme,
    /// Chinese, or English.
    Speak(bool),
    /// The page speaks it now.
    Spoken(bool),
    /// Panels.
    Left(bool),
    /// Panels.
    Right(bool),
    /// Panels.
    Console(bool),
    /// Copy a link.
    Share,
    /// The message on Share is over.
    Shared,
    /// What lies over the page.
    Over(Over),
    /// Open or close a panel of the timeline.
    Tool(Option<Tool>),
    /// What happens on the stage of the branch beside.
    Other(Do),
    /// Objects as a list.
    List,
    /// Why this object?
    Why(ObjectRef),
    /// A button of the inspector: a kubectl line, or a fault.
    Act(String),
    /// What the button said has been read.
    Read,
    /// The pointer or the focus rests on an object.
    Hover(Option<ObjectRef>),
    /// Save the picture, as SVG or PNG.
    Export(&'static str),
    /// Keep the link.
    Save,
    /// A fragment of another link was entered.
    Hash,
}

/// What lies over the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Over {
    /// Nothing.
    #[default]
    Nothing,
    /// The snippet for other pages.
    Embed,
    /// The keys.
    Keys,
    /// Small windows: the manifest.
    Manifest,
    /// Small windows: the inspector.
    Inspector,
    /// Small windows: the console.
    Console,
}

/// The page.
pub struct Page {
    state: Rc<RefCell<State>>,
    picture: Rc<Picture>,
    marks: Rc<Vec<Mark>>,
    chain: Rc<Vec<Reason>>,
    led: Rc<Vec<Reason>>,
    chain_of: Option<(Option<ObjectRef>, usize, u64)>,
    found: Rc<Vec<Diagnosis>>,
    helps: Rc<Vec<bool>>,
    causes: Rc<Vec<(u64, u8)>>,
    events: Rc<Vec<Rc<Object>>>,
    words: Rc<Vec<String>>,
    caption: String,
    dark: bool,
    chinese: bool,
    /// Whether it speaks Chinese already: its words come when they are wanted.
    spoken: bool,
    /// Whether the language has been asked for.
    greeted: bool,
    embed: bool,
    left: bool,
    right: bool,
    console: bool,
    over: Over,
    tool: Option<Tool>,
    beside: Option<Rc<Picture>>,
    as_list: bool,
    hover: Option<ObjectRef>,
    card: Option<Rc<Card>>,
    card_of: (usize, u64),
    copied: Option<Timeout>,
    said: Option<Timeout>,
    saving: Option<Timeout>,
    trying: Option<Timeout>,
    saved: (Rc<str>, View),
    error: Option<String>,
    size: (f64, f64),
    last: f64,
    carry: f64,
    drawn: f64,
    asked: Option<f64>,
    asked_at: f64,
    spoke: f64,
    frame: Closure<dyn FnMut()>,
    _timer: Interval,
    _listeners: Vec<Closure<dyn FnMut(Event)>>,
}

impl Page {
    /// Lets the clock run for the time that has passed, in slices.
    #[inline(never)]
    fn tick(&mut self) -> bool {
        let now = dom::now();
        let passed = (now - self.last).clamp(0.0, 100.0);
        self.last = now;
        let mut state = self.state.borrow_mut();
        if state.tries() {
            while state.tries() && dom::now() - now < SLICE {
                state.try_on();
            }
            return !state.tries();
        }
        if state.settling {
            while state.settling && dom::now() - now < SLICE {
                state.settle(GRAIN);
            }
            state.follow(GRAIN);
            state.poll();
            return true;
        }
        if !state.playing || self.asked.is_some_and(|asked| now - asked > UNSEEN) {
            // The branch beside may still be on its way to the instant shown.
            let mut went = false;
            while state.beside.is_some() && dom::now() - now < SLICE {
                let there = state.follow(GRAIN);
                went |= !there;
                if there {
                    break;
                }
            }
            return went;
        }
        let wanted = passed * 1000.0 * state.speed + self.carry;
        let to = Time(state.run.sim().now().0 + wanted as u64);
        self.carry = wanted.fract();
        while !state.advance(to, GRAIN) {
            if dom::now() - now > SLICE {
                break;
            }
        }
        while !state.follow(GRAIN) && dom::now() - now < 2.0 * SLICE {}
        if window::is_whole() && now - self.spoke > NEWS && state.speak(now - self.spoke > TALK) {
            self.spoke = now;
        }
        state.poll();
        true
    }

    /// Asks for a frame, unless one is asked for already. Above 100x, at most ten a second.
    fn draw(&mut self) {
        let now = dom::now();
        let fast = self.state.borrow().speed > 100.0 && self.state.borrow().playing;
        if self.asked.is_none() && (!fast || now - self.drawn > 100.0) {
            self.asked = Some(now);
            dom::frame(&self.frame);
        }
    }

    /// Reads what is shown out of the state.
    fn refresh(&mut self) {
        let mut state = self.state.borrow_mut();
        SHOWN.set(state.run.now());
        self.picture = state.picture();
        state.follow(GRAIN);
        self.beside = state.beside.as_mut().map(|other| other.picture());
        self.marks = state.marks();
        let playing = state.playing;
        drop(state);
        if window::is_whole() {
            self.explain();
            self.describe();
            if !playing {
                self.diagnose();
            }
        }
        if self.console {
            self.complete();
        }
    }

    /// What the card says of the object that the pointer or the focus rests on.
    #[inline(never)]
    fn describe(&mut self) {
        let Some(key) = &self.hover else { return };
        let state = self.state.borrow();
        let at = (state.run.happened(), state.run.turns);
        if self.card.is_none() || self.card_of != at {
            let card = card::read(&state.run, key);
            if self.card.as_deref() != card.as_ref() {
                self.card = card.map(Rc::new);
            }
            self.card_of = at;
        }
    }

    /// Why what is selected is as it is.
    #[inline(never)]
    fn explain(&mut self) {
        let state = self.state.borrow();
        let happened = state.run.happened();
        let of = (state.selected.clone(), happened, state.run.turns);
        if self.chain_of.as_ref() == Some(&of) {
            return;
        }
        let history = &state.run.journal()[..happened.min(state.run.journal().len())];
        self.chain = Rc::new(state.selected.as_ref().map(|key| words::chain(history, key)).unwrap_or_default());
        self.led = Rc::new(self.chain.first().map(|first| words::led_to(state.run.journal(), first.entry, happened)).unwrap_or_default());
        let lane = |reason: &Reason| words::lane(&state.run.journal()[reason.entry as usize]).map(|lane| (reason.at, lane));
        self.causes = Rc::new(self.chain.iter().filter_map(lane).collect());
        let read = self.chain_of.take().filter(|old| (&old.0, old.2) == (&of.0, of.2) && old.1 <= happened).map(|old| old.1);
        events(&mut self.events, &state, read);
        self.caption = words::narrate(history);
        self.chain_of = Some(of);
    }

    /// What the console completes: kinds, and names of objects.
    #[inline(never)]
    fn complete(&mut self) {
        let state = self.state.borrow();
        let kinds = || crate::api::kind::ALL.iter().map(|kind| kind.info().plural.to_string());
        if state.run.version().1.is_multiple_of(16) || self.words.len() <= crate::api::kind::ALL.len() {
            let objects = state.run.objects().into_iter().filter(|object| object.kind.info().animated);
            self.words = Rc::new(kinds().chain(objects.map(|object| object.meta.name.to_string())).collect());
        }
    }

    /// Looks up what the selected object waits for. While the clock runs this is a task of its own, a few times a second.
    fn diagnose(&mut self) {
        let state = self.state.borrow();
        let asked = state.tab == Tab::Why && (self.right || self.over == Over::Inspector);
        let (found, helps) = if asked { state.diagnosis() } else { Default::default() };
        // An equal answer keeps its pointer, so that its component need not look.
        if *self.found != found {
            self.found = Rc::new(found);
        }
        self.helps = helps;
        self.asked_at = dom::now();
    }

    /// Keeps the address in step with the edits, half a second after the last.
    fn save(&mut self, ctx: &Context<Self>) {
        let state = self.state.borrow();
        if self.saved != (state.text.clone(), state.view) && !self.embed {
            self.saved = (state.text.clone(), state.view);
            let link = ctx.link().clone();
            self.saving = Some(Timeout::new(500, move || link.send_message(Msg::Save)));
        }
    }

    fn narrow(&self) -> bool {
        self.size.0 < 768.0 && !self.embed
    }

    #[inline(never)]
    fn key(&mut self, ctx: &Context<Self>, event: &KeyboardEvent) -> bool {
        let target: Option<Element> = event.target().and_then(|target| target.dyn_into().ok());
        let tag = target.as_ref().map(|target| target.tag_name()).unwrap_or_default();
        if event.key() == "F6" {
            event.prevent_default();
            landmarks(event.shift_key());
            return false;
        }
        if event.ctrl_key()
            || event.meta_key()
            || event.alt_key()
            || matches!(tag.as_str(), "TEXTAREA" | "SELECT")
            || tag == "INPUT" && target.as_ref().and_then(|target| target.get_attribute("type")).as_deref() != Some("range")
        {
            return false;
        }
        let button = tag == "BUTTON"
            || tag == "A"
            || target.as_ref().is_some_and(|target| target.get_attribute("role").as_deref() == Some("button"));
        let now = self.state.borrow().speed;
        let many = if event.shift_key() { 10 } else { 1 };
        let all: Vec<Do> = match event.key().as_str() {
            " " if !button => vec![Do::Toggle],
            "ArrowRight" => vec![Do::Step; many],
            "ArrowLeft" => vec![Do::StepBack; many],
            "." => vec![Do::Seconds(1)],
            "," => vec![Do::Seconds(-1)],
            "[" => vec![Do::Jump(false)],
            "]" => vec![Do::Jump(true)],
            "<" => vec![Do::Speed(speed::next(now, false))],
            ">" => vec![Do::Speed(speed::next(now, true))],
            "a" => vec![Do::Mark(false)],
            "b" => vec![Do::Mark(true)],
            "Home" => vec![Do::Seek(0)],
            "End" => vec![Do::Live],
            key @ ("1" | "2" | "3" | "4" | "5" | "6") => vec![Do::View(View::ALL[key.parse::<usize>().unwrap_or(1) - 1])],
            "`" | "/" => {
                event.prevent_default();
                self.console = true;
                if self.narrow() {
                    self.over = Over::Console;
                }
                self.refresh();
                console::focus();
                return true;
            }
            "?" => {
                self.over = Over::Keys;
                return true;
            }
            "f" => {
                if let Some(root) = dom::document().document_element() {
                    if dom::document().fullscreen_element().is_some() {
                        dom::document().exit_fullscreen();
                    } else {
                        let _ = root.request_fullscreen();
                    }
                }
                return false;
            }
            "Escape" => {
                if self.over != Over::Nothing {
                    self.over = Over::Nothing;
                    return true;
                }
                if self.tool.take().is_some() || std::mem::take(&mut self.console) {
                    return true;
                }
                vec![Do::Select(None)]
            }
            _ => return false,
        };
        event.prevent_default();
        for msg in all {
            if matches!(msg, Do::Mark(_)) && self.tool.is_none() && !self.narrow() {
                self.tool = Some(Tool::Compare);
            }
            ctx.link().send_message(Msg::Do(msg));
        }
        false
    }

    #[inline(never)]
    fn snippet(&self) -> String {
        let state = self.state.borrow();
        let base = dom::address();
        let home = base.rsplit_once('/').map_or(base.as_str(), |(home, _)| home);
        format!(
            "<script src=\"{home}/embed.js\" async></script>\n<loop-scope view=\"{}\" autoplay\n  hash=\"{}\"></loop-scope>",
            state.view.word(),
            permalink::encode(&state.link()).trim_start_matches('#')
        )
    }
}

/// The Events about what is selected, or what has been written of them since an entry: there may be tens of thousands about others.
#[inline(never)]
fn events(found: &mut Rc<Vec<Rc<Object>>>, state: &State, since: Option<usize>) {
    let Some(key) = &state.selected else {
        *found = Rc::default();
        return;
    };
    let about = |object: &&Rc<Object>| matches!(&object.body, Body::Event(event) if event.involved_object.is(key));
    match since {
        Some(since) => {
            let written = state.run.journal()[since..state.run.happened()].iter().filter_map(Entry::write);
            for (op, object) in written.filter(|(_, object)| about(object)) {
                let found = Rc::make_mut(found);
                found.retain(|old| old.meta.uid != object.meta.uid);
                if op != Op::Deleted {
                    found.push(object.clone());
                }
            }
        }
        None => {
            let mut all: Vec<Rc<Object>> = state.run.sim().list(Kind::Event).filter(about).cloned().collect();
            crate::order::sort_by_key(&mut all, |object| object.meta.resource_version);
            *found = Rc::new(all);
        }
    }
}

/// Moves the focus to the next landmark.
#[inline(never)]
fn landmarks(back: bool) {
    const ALL: [&str; 5] =
        ["#manifest textarea, #manifest .rich .host", "#stage .item[tabindex='0']", "#i-body", ".timeline canvas", "#console input"];
    let document = dom::document();
    let find = |selector: &str| document.query_selector(selector).ok().flatten();
    let active = document.active_element();
    let at = ALL.iter().position(|selector| {
        let panel = find(selector).and_then(|element| element.closest("section, aside, main").ok().flatten());
        panel.is_some_and(|panel| panel.contains(active.as_deref()))
    });
    for step in 1..=ALL.len() {
        let next = match (at, back) {
            (Some(at), false) => (at + step) % ALL.len(),
            (Some(at), true) => (at + ALL.len() * 2 - step) % ALL.len(),
            (None, _) => step - 1,
        };
        if let Some(element) = find(ALL[next]) {
            return dom::focus(&element);
        }
    }
}

impl Component for Page {
    type Message = Msg;
    type Properties = ();

    fn create(ctx: &Context<Self>) -> Self {
        let link = permalink::decode(&dom::fragment());
        let error = link.as_ref().err().cloned();
        let mut state = State::from_link(link.ok().flatten().as_ref());
        let embed = dom::query("embed").is_some();
        if let Some(view) = dom::query("view").as_deref().and_then(View::from_word) {
            state.view = view;
        }
        if let Some(speed) = dom::query("speed").and_then(|speed| speed.parse().ok()) {
            state.update(Do::Speed(speed));
        }
        if embed {
            state.selected = None;
            state.playing = dom::query("autoplay").is_some_and(|value| value != "0" && value != "false");
        }
        let picture = state.picture();
        let saved = (state.text.clone(), state.view);
        let state = Rc::new(RefCell::new(state));

        let to = ctx.link().clone();
        let frame = Closure::new(move || to.send_message(Msg::Frame));
        let to = ctx.link().clone();
        let timer = Interval::new(16, move || {
            if !STOPPED.get() {
                to.send_message(Msg::Tick);
            }
        });
        let mut listeners: Vec<Closure<dyn FnMut(Event)>> = Vec::new();
        let mut listen = |target: &web_sys::EventTarget, name: &str, then: Box<dyn FnMut(Event)>| {
            let closure = Closure::wrap(then);
            let _ = target.add_event_listener_with_callback(name, closure.as_ref().unchecked_ref());
            listeners.push(closure);
        };
        let to = ctx.link().clone();
        listen(
            &dom::document(),
            "keydown",
            Box::new(move |event| {
                if let Ok(event) = event.dyn_into::<KeyboardEvent>() {
                    to.send_message(Msg::Key(event));
                }
            }),
        );
        let to = ctx.link().clone();
        listen(&dom::window(), "resize", Box::new(move |_| to.send_message(Msg::Resized)));
        let to = ctx.link().clone();
        listen(&dom::window(), "hashchange", Box::new(move |_| to.send_message(Msg::Hash)));

        let size = dom::size();
        let mut page = Page {
            chinese: false,
            spoken: false,
            greeted: false,
            state,
            picture,
            marks: Rc::default(),
            chain: Rc::default(),
            led: Rc::default(),
            chain_of: None,
            found: Rc::default(),
            helps: Rc::default(),
            causes: Rc::default(),
            events: Rc::default(),
            words: Rc::default(),
            caption: String::new(),
            dark: dom::document().document_element().and_then(|root| root.get_attribute("data-theme")).as_deref() == Some("dark"),
            embed,
            left: size.0 >= 1024.0,
            right: size.0 >= 1280.0,
            console: false,
            over: Over::Nothing,
            tool: None,
            beside: None,
            as_list: false,
            hover: None,
            card: None,
            card_of: (0, 0),
            copied: None,
            said: None,
            saving: None,
            trying: None,
            saved,
            error,
            size,
            last: dom::now(),
            carry: 0.0,
            drawn: 0.0,
            asked: None,
            asked_at: 0.0,
            spoke: 0.0,
            frame,
            _timer: timer,
            _listeners: listeners,
        };
        page.refresh();
        page
    }

    fn update(&mut self, ctx: &Context<Self>, msg: Msg) -> bool {
        match msg {
            Msg::Tick => {
                if window::is_whole() && dom::now() - self.asked_at > DIAGNOSIS && self.state.borrow().playing {
                    self.diagnose();
                } else if self.tick() {
                    self.draw();
                }
                return false;
            }
            Msg::Frame => {
                self.asked = None;
                self.drawn = dom::now();
            }
            Msg::Do(msg) => {
                let talk = matches!(msg, Do::Kubectl(_));
                let chose = matches!(msg, Do::Select(Some(_)));
                let heavy = matches!(msg, Do::Apply);
                if matches!(msg, Do::Edit(_)) {
                    let to = ctx.link().clone();
                    self.trying = Some(Timeout::new(TYPING, move || to.send_message(Msg::Do(Do::Check))));
                }
                self.state.borrow_mut().update(msg);
                if talk && self.size.1 >= 700.0 && !self.narrow() {
                    self.console = true;
                }
                if chose && self.size.0 >= 768.0 && self.size.0 < 1280.0 {
                    self.right = true;
                }
                if chose {
                    self.diagnose();
                }
                if heavy {
                    // What it changed is drawn in a task of its own.
                    self.draw();
                    return false;
                }
            }
            // The first of these says that the whole module is there; the opening asks for no storage, which a sandbox refuses.
            Msg::Changed if !std::mem::replace(&mut self.greeted, true) => {
                self.chinese = dom::wants_chinese();
                if self.chinese {
                    dom::speak(true, ctx.link().callback(Msg::Spoken));
                }
            }
            Msg::Changed => {}
            Msg::Act(line) => {
                let msg = match line.strip_prefix("fault ") {
                    Some(fault) => Do::Fault(fault.into()),
                    None => Do::Kubectl(line),
                };
                self.state.borrow_mut().update(msg);
                let to = ctx.link().clone();
                self.said = Some(Timeout::new(3000, move || to.send_message(Msg::Read)));
            }
            Msg::Read => self.said = None,
            Msg::Key(event) => return self.key(ctx, &event),
            Msg::Resized => {
                let (before, after) = (self.size.0, dom::size());
                if before >= 1024.0 && after.0 < 1024.0 {
                    self.left = false;
                }
                if before >= 1280.0 && after.0 < 1280.0 {
                    self.right = false;
                }
                if before < 1280.0 && after.0 >= 1280.0 {
                    (self.left, self.right) = (true, true);
                }
                self.size = after;
            }
            Msg::Theme => {
                self.dark = !self.dark;
                dom::set_theme(self.dark);
                dom::keep("loopscope.theme", if self.dark { "dark" } else { "light" });
            }
            Msg::Speak(chinese) => {
                self.chinese = chinese;
                dom::speak(chinese, ctx.link().callback(Msg::Spoken));
                dom::keep("loopscope.lang", if chinese { "zh" } else { "en" });
            }
            Msg::Spoken(chinese) => self.spoken = chinese,
            Msg::Left(open) => self.left = open,
            Msg::Right(open) => self.right = open,
            Msg::Console(open) => self.console = open,
            Msg::Share => {
                let link = permalink::encode(&self.state.borrow().link());
                dom::copy(&format!("{}{link}", dom::address()));
                dom::set_fragment(&link);
                let to = ctx.link().clone();
                self.copied = Some(Timeout::new(1600, move || to.send_message(Msg::Shared)));
            }
            Msg::Shared => self.copied = None,
            Msg::Over(over) => self.over = over,
            Msg::Tool(tool) => self.tool = if self.tool == tool { None } else { tool },
            Msg::Other(msg) => {
                if let Some(other) = &mut self.state.borrow_mut().beside {
                    other.update(msg);
                }
            }
            Msg::List => self.as_list = !self.as_list,
            Msg::Why(key) => {
                let mut state = self.state.borrow_mut();
                state.update(Do::Select(Some(key)));
                state.update(Do::Tab(Tab::Why));
                drop(state);
                self.right = true;
                if self.narrow() {
                    self.over = Over::Inspector;
                }
            }
            Msg::Hover(key) => (self.hover, self.card) = (key, None),
            Msg::Export(form) => {
                let state = self.state.borrow();
                let time = clock(state.run.now()).replace(':', "-");
                dom::export(form, format!("loopscope-{}-{time}", state.view.word()));
                return false;
            }
            Msg::Save => {
                dom::set_fragment(&permalink::encode(&self.state.borrow().link()));
                return false;
            }
            Msg::Hash => match permalink::decode(&dom::fragment()) {
                Ok(Some(link)) if link != self.state.borrow().link() => {
                    let (_, height) = self.state.borrow().stage;
                    let width = self.state.borrow().stage.0;
                    let mut state = State::from_link(Some(&link));
                    state.update(Do::Stage(width, height));
                    *self.state.borrow_mut() = state;
                    self.chain_of = None;
                }
                Ok(_) => return false,
                Err(words) => self.error = Some(words),
            },
        }
        self.refresh();
        self.save(ctx);
        true
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        let live = html! { <div class="vh" aria-live="polite" id="notice">{ &self.state.borrow().notice }</div> };
        let error =
            self.error.as_ref().map(|words| html! { <div class="toast" role="alert">{ icon("i-warn", 16) }<span>{ words }</span></div> });
        let page = if self.embed {
            self.embedded(ctx)
        } else if self.narrow() {
            self.phone(ctx)
        } else {
            self.full(ctx)
        };
        let said = self.said.as_ref().map(|_| html! { <div class="toast said" aria-hidden="true">{ icon("i-check", 16) }<span>{ &self.state.borrow().notice }</span></div> });
        html! { <>{ page }if self.over != Over::Nothing { { self.dialog(ctx) } }{ error }{ said }{ live }</> }
    }

    fn rendered(&mut self, ctx: &Context<Self>, first: bool) {
        if first {
            window::drawn(&self.state, ctx.link().callback(|()| Msg::Changed));
        }
    }
}

impl Page {
    fn on(ctx: &Context<Self>) -> Callback<Do> {
        ctx.link().callback(Msg::Do)
    }

    fn full(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let floats = self.size.0 < 1280.0;
        let class = classes!(
            "app",
            (!self.left).then_some("l0"),
            (!self.right || floats).then_some("r0"),
            (floats && self.right).then_some("float-right"),
            self.console.then_some("open-console")
        );
        let state = self.state.borrow();
        let rail = |side: &'static str, words: &'static str, name: &'static str, open: Callback<MouseEvent>| {
            html! { <div class={classes!("rail", side)}><button type="button" class="btn ghost icon" aria-label={format!("Show the {}", words.to_ascii_lowercase())} onclick={open}>{ icon(name, 16) }</button><span aria-hidden="true">{ words }</span></div> }
        };
        html! {
            <div class={class}>
                { self.topbar(ctx) }
                if self.left { { self.editor(ctx) } } else { { rail("left", "Manifest", "i-panel-l", link.callback(|_| Msg::Left(true))) } }
                <main class="canvas" id="canvas">{ self.head(ctx) }{ self.budget() }{ self.stages(ctx) }{ self.past(ctx) }</main>
                if self.right { { self.inspector(ctx) } } else { { rail("right", "Inspector", "i-panel-r", link.callback(|_| Msg::Right(true))) } }
                <section class="timeline" aria-label="Timeline">
                    <Transport now={state.run.now()} playing={state.playing} live={!state.run.in_past()} speed={state.speed} breaks={!state.breakpoints.is_empty()} tool={self.tool} on={Self::on(ctx)} on_tool={link.callback(|tool| Msg::Tool(Some(tool)))} />
                    <Lanes marks={self.marks.clone()} flags={self.flags()} only={state.chosen.as_deref().filter(|_| state.view == View::Loops).and_then(words::lane_of)} now={state.run.now()} end={state.run.end()} chain={self.causes.clone()} dark={self.dark} chinese={self.spoken} on_seek={link.callback(|to| Msg::Do(Do::Seek(to)))} />
                    if let Some(tool) = self.tool { { self.tools(ctx, tool) } }
                </section>
                { self.console(ctx) }
            </div>
        }
    }

    #[inline(never)]
    fn tools(&self, ctx: &Context<Self>, tool: Tool) -> Html {
        let state = self.state.borrow();
        html! {
            <Tools tool={tool} breakpoints={state.breakpoints.clone()} misread={state.misread.clone()} stopped={state.stopped.clone()} instants={state.instants.clone()} difference={state.difference.clone()} on={Self::on(ctx)} on_close={ctx.link().callback(|()| Msg::Tool(None))} />
        }
    }

    /// The instants that are compared, on the timeline.
    fn flags(&self) -> Vec<(u64, &'static str)> {
        let state = self.state.borrow();
        state.instants.iter().zip(["A", "B"]).filter_map(|(instant, name)| Some((instant.as_ref()?.at, name))).collect()
    }

    /// The diagram, or the same diagram of two branches.
    fn stages(&self, ctx: &Context<Self>) -> Html {
        match &self.beside {
            Some(picture) => self.both(ctx, picture),
            None => self.stage(ctx),
        }
    }

    #[inline(never)]
    fn both(&self, ctx: &Context<Self>, picture: &Rc<Picture>) -> Html {
        let link = ctx.link();
        let state = self.state.borrow();
        let Some(other) = &state.beside else { return self.stage(ctx) };
        let head = |number: u32, picture: &Picture| {
            html! { <h2>{ format!("Branch {number}") }if let Some((words, class, glyph)) = &picture.pill { <span class={classes!("pill", *class)}>if !glyph.is_empty() { { icon(glyph, 12) } }{ words }</span> }</h2> }
        };
        html! {
            <div class="sides">
                <section class="side" aria-label="This branch">{ head(state.run.branches().0, &self.picture) }{ self.stage(ctx) }</section>
                <section class="side" aria-label="The other branch">{ head(other.run.branches().0, picture) }
                    <Stage
                        id="stage-beside"
                        scene={picture.scene.clone()}
                        selected={other.object().map(|object| object.meta.uid.to_string())}
                        scope={format!("{}/{}", other.view.word(), other.run.turns)}
                        animate={state.speed <= 100.0}
                        embed={false}
                        empty={html! { <p>{ "Nothing here on this branch." }</p> }}
                        as_list={self.as_list}
                dark={self.dark}
                        on_select={link.callback(|key| Msg::Do(Do::Select(key)))}
                        on_loop={link.callback(|name| Msg::Do(Do::Loop(Some(name))))}
                        on_why={link.callback(Msg::Why)}
                        card={None::<Rc<Card>>}
                        on_hover={Callback::noop()}
                        on_export={Callback::noop()}
                        on_size={link.callback(|(width, height)| Msg::Other(Do::Stage(width, height)))}
                    />
                </section>
            </div>
        }
    }

    fn topbar(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let state = self.state.borrow();
        let example = examples::of(&state.text);
        html! {
            <Topbar
                view={state.view}
                dark={self.dark}
                narrow={self.narrow()}
                example={example}
                copied={self.copied.is_some()}
                on_view={link.callback(|view| Msg::Do(Do::View(view)))}
                on_example={link.callback(|index: usize| {
                    let example = &examples::ALL[index.min(examples::ALL.len() - 1)];
                    Msg::Do(Do::Load((example.text)().into(), View::from_word(example.view)))
                })}
                chinese={self.chinese}
                on_language={link.callback(Msg::Speak)}
                on_theme={link.callback(|()| Msg::Theme)}
                on_share={link.callback(|()| Msg::Share)}
                on_embed={link.callback(|()| Msg::Over(Over::Embed))}
                on_manifest={link.callback(|()| Msg::Over(Over::Manifest))}
                on_console={link.callback(|()| Msg::Over(Over::Console))}
            />
        }
    }

    fn editor(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let state = self.state.borrow();
        let file = examples::of(&state.text).map_or("manifest.yaml", |at| examples::ALL[at].file);
        let narrow = self.narrow();
        html! {
            <Editor
                text={state.text.clone()}
                applied={state.applied.clone()}
                standing={state.standing}
                diagnostics={state.diagnostics.clone()}
                plan={state.plan.clone()}
                narrow={narrow}
                file={file.to_string()}
                on_edit={link.callback(|text| Msg::Do(Do::Edit(text)))}
                on_apply={link.callback(|()| Msg::Do(Do::Apply))}
                on_revert={link.callback(|()| Msg::Do(Do::Revert))}
                on_close={link.callback(move |()| if narrow { Msg::Over(Over::Nothing) } else { Msg::Left(false) })}
            />
        }
    }

    fn inspector(&self, ctx: &Context<Self>) -> Html {
        if window::is_whole() {
            self.inspect(ctx)
        } else {
            html! { <aside class="panel right" aria-label="Inspector" aria-busy="true" /> }
        }
    }

    #[inline(never)]
    fn inspect(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let state = self.state.borrow();
        let narrow = self.narrow();
        html! {
            <Inspector
                key_of={state.selected.clone()}
                object={state.object().cloned()}
                epoch={state.run.sim().config.epoch}
                tab={state.tab}
                chain={self.chain.clone()}
                led={self.led.clone()}
                found={self.found.clone()}
                helps={self.helps.clone()}
                on_cure={link.callback(|cure: Option<Remedy>| Msg::Do(cure.map_or(Do::Try, Do::Cure)))}
                events={self.events.clone()}
                on_tab={link.callback(|tab| Msg::Do(Do::Tab(tab)))}
                on_command={link.callback(Msg::Act)}
                on_select={link.callback(|key| Msg::Do(Do::Select(key)))}
                on_seek={link.callback(|to| Msg::Do(Do::Seek(to)))}
                on_close={link.callback(move |()| if narrow { Msg::Over(Over::Nothing) } else { Msg::Right(false) })}
            />
        }
    }

    fn console(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let state = self.state.borrow();
        let narrow = self.narrow();
        html! {
            <Console
                lines={state.console.clone()}
                history={state.history.clone()}
                words={self.words.clone()}
                open={self.console || narrow}
                on_line={link.callback(|line| Msg::Do(Do::Kubectl(line)))}
                on_stop={link.callback(|()| Msg::Do(Do::Interrupt))}
                on_open={link.callback(move |open| if narrow { Msg::Over(Over::Nothing) } else { Msg::Console(open) })}
            />
        }
    }

    fn head(&self, ctx: &Context<Self>) -> Html {
        let state = self.state.borrow();
        let link = ctx.link();
        let onchange = link.batch_callback(|event: Event| {
            let value = event.target()?.dyn_into::<HtmlSelectElement>().ok()?.value();
            Some(Msg::Do(Do::Namespace((!value.is_empty()).then_some(value))))
        });
        let filter = link.batch_callback(|event: InputEvent| {
            Some(Msg::Do(Do::Filter(event.target()?.dyn_into::<web_sys::HtmlInputElement>().ok()?.value())))
        });
        html! {
            <div class="c-head"><h1>{ state.view.title() }</h1>
                if let Some((words, class, glyph)) = self.picture.pill.as_ref().filter(|_| self.beside.is_none()) { <span class={classes!("pill", *class)}>if !glyph.is_empty() { { icon(glyph, 12) } }{ words }</span> }
                <span class="grow" />
                if self.picture.hidden > 0 {
                    <button type="button" class="pill notready" title="Show everything" onclick={link.callback(|_| Msg::Do(Do::Filter(String::new())))}>{ format!("{} hidden", crate::app::format::count(self.picture.hidden)) }{ icon("i-cross", 12) }</button>
                }
                if !matches!(state.view, View::Loops | View::Rollout) {
                <input type="search" class="filter" aria-label="Filter: part of a name, kind:pod, app=nginx" placeholder="Filter" title="Part of a name, kind:pod, app=nginx" spellcheck="false" value={state.filter.clone()} oninput={filter} />
                }
                <button type="button" class="btn sm ghost" aria-pressed={self.as_list.to_string()} onclick={link.callback(|_| Msg::List)}>{ if self.as_list { "Show as diagram" } else { "Show as list" } }</button>
                if state.view == View::Loops { { self.mode(ctx) } }
                { self.branches(ctx) }
                <label class="picker small"><span class="word">{ "namespace" }</span>
                    <select aria-label="Namespace" onchange={onchange}>
                        <option value="" selected={state.namespace.is_none()}>{ "all" }</option>
                        { for self.picture.namespaces.iter().map(|name| html! { <option value={name.clone()} selected={state.namespace.as_ref() == Some(name)}>{ name }</option> }) }
                    </select>{ icon("i-down", 14) }
                </label>
            </div>
        }
    }

    /// Controller mode, where a lost event is made up for by the next list of everything, or event mode, where it is not.
    fn mode(&self, ctx: &Context<Self>) -> Html {
        let lists = self.state.borrow().run.sim().lists_anew();
        let choice = |on: bool, words: &'static str, title: &'static str, line: &'static str| {
            let onclick = ctx.link().callback(move |_: MouseEvent| Msg::Act(line.into()));
            html! { <button type="button" aria-pressed={(on == lists).to_string()} title={title} onclick={onclick}>{ words }</button> }
        };
        html! {
            <span class="seg" role="group" aria-label="What repairs a lost event">
                { choice(true, "Controller mode", "After a loss, the loops list everything anew and compare", "fault relist 10s") }
                { choice(false, "Event mode", "Each event is told once; what is lost stays lost", "fault relist never") }
            </span>
        }
    }

    /// The branches of the history, once there is more than one.
    fn branches(&self, ctx: &Context<Self>) -> Html {
        let (shown, others) = self.state.borrow().run.branches();
        if others.is_empty() { Html::default() } else { branch_picker(ctx, shown, others, self.beside.is_some()) }
    }

    fn budget(&self) -> Html {
        let Some(budget) = self.picture.budget.as_ref().filter(|_| self.beside.is_none()) else { return Html::default() };
        html! { <Strip budget={budget.clone()} /> }
    }

    fn stage(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let state = self.state.borrow();
        let empty = match state.view {
            View::Ownership => html! {
                <><h2>{ "Nothing here yet" }</h2><p>{ "Apply a manifest, or start with an example." }</p>
                { for examples::ALL.iter().map(|example| {
                    let (text, view) = (example.text, example.view);
                    html! { <button type="button" class="linkrow" onclick={link.callback(move |_: MouseEvent| Msg::Do(Do::Load(text().into(), View::from_word(view))))}>{ example.title }</button> }
                }) }</>
            },
            View::Nodes => html! { <p>{ "The cluster has no Node." }</p> },
            View::Loops => Html::default(),
            View::Rollout => html! { <p>{ "No Deployment, StatefulSet or DaemonSet yet: its Pods would be drawn here over time." }</p> },
            View::Network => html! { <p>{ "No Service yet: one would give the Pods behind it a name and an address." }</p> },
            View::Storage => html! { <p>{ "No PersistentVolumeClaim yet: a StatefulSet with volumeClaimTemplates would make some." }</p> },
        };
        html! {
            <Stage
                scene={self.picture.scene.clone()}
                selected={state.object().map(|object| object.meta.uid.to_string())}
                scope={format!("{}/{}", state.view.word(), state.run.turns)}
                animate={state.speed <= 100.0}
                embed={self.embed}
                empty={empty}
                as_list={self.as_list}
                dark={self.dark}
                on_select={link.callback(|key| Msg::Do(Do::Select(key)))}
                on_loop={link.callback(|name| Msg::Do(Do::Loop(Some(name))))}
                on_why={link.callback(Msg::Why)}
                card={self.card.clone()}
                on_hover={link.callback(Msg::Hover)}
                on_export={link.callback(Msg::Export)}
                on_size={link.callback(|(width, height)| Msg::Do(Do::Stage(width, height)))}
            />
        }
    }

    #[inline(never)]
    fn past(&self, ctx: &Context<Self>) -> Html {
        if let Some(stop) = &self.state.borrow().stopped {
            return html! {
                <div class="past stop" role="status"><span>{ icon("i-pause", 14) }<b>{ &stop.text }</b><span class="ell">{ &stop.words }</span></span>
                    <button type="button" class="btn sm primary" onclick={ctx.link().callback(|_| Msg::Do(Do::Play))}>{ "Go on" }</button>
                </div>
            };
        }
        if !self.state.borrow().run.in_past() || self.embed {
            return Html::default();
        }
        let link = ctx.link();
        html! {
            <div class="past" role="status" title="What is applied or changed here forks the history; the former future is kept"><span>{ "You are viewing the past" }</span>
                <button type="button" class="btn sm" onclick={link.callback(|_| Msg::Do(Do::Branch))}>{ icon("i-branch", 14) }{ "Branch from here" }</button>
                <button type="button" class="btn sm primary" onclick={link.callback(|_| Msg::Do(Do::Live))}>{ "Back to live" }</button>
            </div>
        }
    }

    fn bar(&self, ctx: &Context<Self>) -> Html {
        let state = self.state.borrow();
        let link = ctx.link();
        let next = if state.speed >= 10.0 { 0.5 } else { speed::next(state.speed, true) };
        html! {
            <div class="pb" role="group" aria-label="Playback">
                <button type="button" class="play" id="play" aria-label={if state.playing { "Pause" } else { "Play" }} onclick={link.callback(|_| Msg::Do(Do::Toggle))}>{ icon(if state.playing { "i-pause" } else { "i-play" }, 18) }</button>
                <button type="button" class="t" id="step" aria-label="One reconcile on" onclick={link.callback(|_| Msg::Do(Do::Step))}>{ icon("i-step", 18) }</button>
                <b class="mono" id="clock">{ clock(state.run.now()) }</b>
                <Lanes slim=true marks={self.marks.clone()} now={state.run.now()} end={state.run.end()} chain={self.causes.clone()} dark={self.dark} on_seek={link.callback(|to| Msg::Do(Do::Seek(to)))} />
                <button type="button" class="btn sm ghost mono spd" aria-label={format!("Speed {}", speed::label(state.speed))} onclick={link.callback(move |_| Msg::Do(Do::Speed(next)))}>{ speed::label(state.speed) }</button>
                if self.embed { <span class="brand">{ logo(16) }<span class="word">{ "Loopscope" }</span></span> }
            </div>
        }
    }

    #[inline(never)]
    fn embedded(&self, ctx: &Context<Self>) -> Html {
        let full = format!("{}{}", dom::address(), permalink::encode(&self.state.borrow().link()));
        html! {
            <div class="embed"><main class="stagebox">{ self.stage(ctx) }</main>
                <div class="cap">
                    if let Some((words, class, glyph)) = &self.picture.pill { <span class={classes!("pill", *class)}>if !glyph.is_empty() { { icon(glyph, 12) } }{ words }</span> }
                    <span class="mid ell grow">{ &self.caption }</span>
                    <a href={full} target="_blank" rel="noopener">{ "Open full" }{ icon("i-external", 14) }</a>
                </div>
                { self.bar(ctx) }
            </div>
        }
    }

    #[inline(never)]
    fn phone(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let state = self.state.borrow();
        let sheet = match (&state.selected, self.chain.first()) {
            (Some(key), Some(first)) => html! {
                <div class="row sh">{ dom::tile(key.kind.name()) }<div class="grow"><p class="ell">{ words::plain(&first.effect) }</p><p class="dim ell">{ if first.short.is_empty() { first.actor.clone() } else { first.short.clone() } }</p></div>
                    <button type="button" class="btn sm" onclick={link.callback(|_| Msg::Over(Over::Inspector))}>{ "Why" }{ icon("i-up", 14) }</button></div>
            },
            _ => {
                html! { <div class="row sh"><div class="grow"><p class="ell">{ self.picture.pill.as_ref().map(|pill| pill.0.clone()).unwrap_or_default() }</p><p class="dim ell">{ &self.caption }</p></div></div> }
            }
        };
        let over = match self.over {
            Over::Manifest => html! { <div class="fullscreen">{ self.editor(ctx) }</div> },
            Over::Inspector => html! { <div class="fullscreen">{ self.inspector(ctx) }</div> },
            Over::Console => html! { <div class="fullscreen">{ self.console(ctx) }</div> },
            _ => Html::default(),
        };
        html! {
            <div class="mob">
                { self.topbar(ctx) }
                <main class="stagebox">{ self.stages(ctx) }{ self.past(ctx) }</main>
                <section class="sheet" aria-label="Selection"><i class="grab" />{ sheet }</section>
                { self.bar(ctx) }
                { tabs(state.view, &link.callback(|view| Msg::Do(Do::View(view))), 20, "mobtabs") }
                { over }
            </div>
        }
    }

    #[inline(never)]
    fn dialog(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let close = link.callback(|_: MouseEvent| Msg::Over(Over::Nothing));
        let (title, body) = match self.over {
            Over::Embed => {
                let text = self.snippet();
                let copy = text.clone();
                let copy = Callback::from(move |_: MouseEvent| dom::copy(&copy));
                (
                    "Embed",
                    html! { <><p>{ "Paste this into a course page. The simulation runs in a sandboxed frame and loads nothing from elsewhere." }</p><textarea class="snippet mono" readonly=true aria-label="Snippet" value={text} /><div class="row"><button type="button" class="btn primary" onclick={copy}>{ "Copy" }</button></div></> },
                )
            }
            Over::Keys => {
                const KEYS: [(&str, &str); 15] = [
                    ("Space", "Play or pause"),
                    ("→  ←", "One reconcile on, back (Shift: ten)"),
                    (".  ,", "One second on, back"),
                    ("]  [", "Next, previous thing you did"),
                    (">  <", "Faster, slower"),
                    ("a  b", "Keep two instants, to compare them"),
                    ("Home  End", "First event, live"),
                    ("1 … 6", "Diagrams"),
                    ("↓  ↑", "Walk the objects"),
                    ("Enter", "Select"),
                    ("W", "Why"),
                    ("+  -  0", "Zoom, fit"),
                    ("`", "kubectl console"),
                    ("F6", "Next panel"),
                    ("Esc", "Close"),
                ];
                (
                    "Keys",
                    html! { <dl class="kv keys">{ for KEYS.iter().map(|(key, words)| html! { <><dt><kbd class="k">{ *key }</kbd></dt><dd>{ *words }</dd></> }) }</dl> },
                )
            }
            _ => return Html::default(),
        };
        html! {
            <div class="dialogbox" onclick={close.clone()}>
                <div class="dialog" role="dialog" aria-modal="true" aria-label={title} onclick={Callback::from(|event: MouseEvent| event.stop_propagation())}>
                    <div class="row"><h2>{ title }</h2><span class="grow" /><button type="button" class="btn ghost icon" aria-label="Close" onclick={close}>{ icon("i-cross", 16) }</button></div>
                    { body }
                </div>
            </div>
        }
    }
}

/// The rollout budget over the ownership diagram.
#[derive(Properties, PartialEq)]
struct StripProps {
    budget: Rc<crate::scene::budget::Budget>,
}

#[component]
fn Strip(props: &StripProps) -> Html {
    let budget = &props.budget;
    let slots = budget.at_most.max(budget.pods()).max(1);
    let (pitch, width) = if slots <= 24 { ((340.0 / slots as f64).clamp(12.0, 68.0), 0.0) } else { (340.0 / slots as f64, 340.0) };
    let x = |n: usize| 20.0 + n as f64 * pitch;
    // Many Pods are drawn as stretches of equal ones, so that a strip is never more than a few elements.
    let few = width == 0.0;
    let pieces = budget
        .cells
        .iter()
        .flat_map(|cell| if few { std::iter::repeat_n((cell, 1), cell.pods) } else { std::iter::repeat_n((cell, cell.pods), 1) });
    let mut at = 0;
    let cells = pieces.map(|(cell, pods)| {
        let from = x(at);
        at += pods;
        let long = if few { pitch - 4.0 } else { pitch * pods as f64 };
        html! {
            <g class={classes!("cell", cell.state.class(), cell.new.then_some("new"))}>
                <rect x={Px(from).to_string()} y="18" width={Px(long.max(1.0)).to_string()} height="16" rx={if few { "4" } else { "0" }} />
                if pitch >= 22.0 { <use href={format!("#{}", cell.state.glyph())} x={Px(from + 5.0).to_string()} y="20" width="12" height="12" /> }
                if pitch >= 58.0 { <text x={Px(from + 22.0).to_string()} y="30">{ crate::app::format::middle(&cell.tag, 6) }</text> }
            </g>
        }
    });
    let (least, most) = (x(budget.at_least) - 2.0, x(budget.at_most) - 2.0);
    let anchor = |at: f64| if at < 130.0 { ("start", at + 6.0) } else { ("end", at - 6.0) };
    let ((a1, x1), (a2, x2)) = (anchor(least), anchor(most));
    html! {
        <section class="budget" aria-label="Rollout budget">
            <div class="b-words"><h2>{ "Rollout budget" }</h2><p>{ format!("surge {}", budget.surge) }<br />{ format!("unavailable {}", budget.unavailable) }</p></div>
            <svg width="384" height="56" role="img" aria-label={budget.label()}>
                { for cells }
                <path class="limit" d={format!("M{} 14V50", Px(least))} /><path class="limit" d={format!("M{} 2V38", Px(most))} />
                <text class="lim" x={Px(x1).to_string()} y="49" text-anchor={a1}>{ format!("at least {} available", crate::app::format::count(budget.at_least)) }</text>
                <text class="lim" x={Px(x2).to_string()} y="11" text-anchor={a2}>{ format!("at most {} Pod{}", crate::app::format::count(budget.at_most), if budget.at_most == 1 { "" } else { "s" }) }</text>
            </svg>
            <div class="grow b-next"><h3>{ &budget.head }</h3><p>{ &budget.text }</p></div>
        </section>
    }
}

/// The branches of the history, to choose from.
#[inline(never)]
fn branch_picker(ctx: &Context<Page>, shown: u32, others: Vec<u32>, beside: bool) -> Html {
    let mut all: Vec<u32> = others.into_iter().chain([shown]).collect();
    crate::order::sort(&mut all);
    let onchange = ctx.link().batch_callback(|event: Event| {
        let value = event.target()?.dyn_into::<HtmlSelectElement>().ok()?.value();
        Some(Msg::Do(Do::Switch(value.parse().ok()?)))
    });
    let other = if beside { None } else { all.iter().rev().find(|number| **number != shown).copied() };
    html! {
        <>
            <label class="picker small"><span class="word">{ "branch" }</span>
                <select aria-label="Branch of the history" onchange={onchange}>
                    { for all.iter().map(|number| html! { <option value={number.to_string()} selected={*number == shown}>{ number }</option> }) }
                </select>{ icon("i-down", 14) }
            </label>
            <button type="button" class="btn sm ghost" id="beside" aria-pressed={beside.to_string()} onclick={ctx.link().callback(move |_| Msg::Do(Do::Beside(other)))}>{ "Side by side" }</button>
        </>
    }
}
