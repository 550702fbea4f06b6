//! The page: owns the state, lets the clock run in slices, and lays the panels out.
//!
//! The engine never blocks the page: a timer gives it slices of at most a few milliseconds, and what changed is
//! drawn at most once in an animation frame.

mod dialogs;
mod keys;
mod layout;
mod parts;

use super::dom::{self, icon};
use super::tools::Tool;
use super::{SHOWN, STOPPED, window};
use crate::api::{Body, Kind, Object, ObjectRef, Time};
use crate::engine::{Entry, Op, deferred_drop};
use crate::explain::diagnose::Diagnosis;
use crate::explain::remedies;
use crate::explain::words::{self, Reason};
use crate::i18n::format::clock;
use crate::i18n::{Message, msg};
use crate::projection::marks::Mark;
use crate::session::Msg as Do;
use crate::session::State;
use crate::session::drawing::Picture;
use crate::session::journal_marks::AbandonedBranch;
use crate::session::permalink;
use crate::session::selection::Tab;
use crate::session::speed::Pace;
use crate::session::view::View;
use crate::views::card::Card;
use crate::web::language::{Lang, say};
use gloo_timers::callback::{Interval, Timeout};
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::{Element, Event, KeyboardEvent};
use yew::prelude::*;

/// Milliseconds the engine may take at a time.
const SLICE: f64 = 6.0;
/// Milliseconds of a frame for reading what has been written.
const READS: f64 = 4.0;
/// The same and the picture itself, in the frame of a picture.
const CATCHES: f64 = 16.0;
/// Milliseconds for which the next picture waits for Pods that are not read yet.
const WAITS: f64 = 100.0;
/// A frame that comes so long after it was asked for is late.
const LATE: f64 = 20.0;
/// It takes less where frames come late, but never less than this.
const LEAST: f64 = 2.0;
/// Milliseconds for giving back memory.
const PART: f64 = 2.0;
/// A picture that took so long is followed by so many times that without a new one: more where frames come late, for the
/// browser paints when the picture is made.
const RESTS: f64 = 4.0;
const MOST_RESTS: f64 = 16.0;
/// One that takes so many milliseconds leaves the engine little of its frame.
const DEAR: f64 = 4.0;
/// Tasks between two looks at the clock.
const GRAIN: usize = 4;
/// Milliseconds between two looks at what an object waits for, while the clock runs.
const DIAGNOSIS: f64 = 300.0;
/// A look that took long is followed by so many times that without another.
const DIAGNOSES: f64 = 40.0;
/// Milliseconds after the last key until a text is tried.
const TYPING: u32 = 350;
/// Milliseconds between two things said aloud: what fails or settles, and what else happens.
const NEWS: f64 = 2_000.0;
const TALK: f64 = 5_000.0;
/// The clock stops where the history fills so many pages of 64 KiB: three of the four gigabytes that a module may have.
const PAGES: usize = 49_152;
/// So many nodes are put in order anew for a picture.
const NODES: usize = 100;
/// More Events than so many are not looked through one by one.
const EVENTS: usize = 20_000;
/// So many consequences of a decision are told.
const LED: usize = 6;
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
    /// Another language.
    Speak(Lang),
    /// The page speaks it now.
    Spoken(Lang),
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
    /// Something was chosen about the frame for other pages.
    FrameLike,
    /// Opens or closes the menu of the head, or closes it.
    Views,
    Unview,
    /// Why this object?
    Why(ObjectRef),
    /// A button of the inspector: a kubectl line, or a fault.
    Act(String),
    /// What the button said has been read.
    Read,
    /// The pointer or the focus rests on an object.
    Hover(Option<ObjectRef>),
    /// Save the picture, as SVG or PNG.
    Export(&'static str, Callback<()>),
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
    /// Small windows: what has no room in the bars.
    More,
}

/// The page.
pub struct Page {
    calls: OnceCell<parts::Calls>,
    state: Rc<RefCell<State>>,
    picture: Rc<Picture>,
    marks: Rc<Vec<Mark>>,
    left_behind: Option<Rc<AbandonedBranch>>,
    chain: Rc<Vec<Reason>>,
    led: Rc<Vec<Reason>>,
    /// How much of the history was read for its consequences.
    led_read: usize,
    chain_of: Option<(Option<ObjectRef>, usize, (u64, View))>,
    found: Rc<Vec<Diagnosis>>,
    helps: Rc<Vec<bool>>,
    /// In what the cluster differs from the manifest that was applied.
    drift: Rc<Vec<String>>,
    causes: Rc<Vec<(u64, u8)>>,
    events: Rc<Vec<Rc<Object>>>,
    caption: Message,
    /// What that is about.
    told_of: Option<ObjectRef>,
    dark: bool,
    /// The language in use: a catalogue is loaded when its language is chosen.
    lang: Lang,
    /// Whether the language has been asked for.
    greeted: bool,
    embed: bool,
    left: bool,
    right: bool,
    /// Whether the manifest was folded away for the inspector.
    gave_way: bool,
    console: bool,
    over: Over,
    /// What lay over the page when it was last drawn, and what had the focus before.
    drawn_over: Over,
    left_from: Option<Element>,
    tool: Option<Tool>,
    beside: Option<Rc<Picture>>,
    as_list: bool,
    views: bool,
    /// What was chosen about the frame for other pages.
    frame_like: Vec<String>,
    hover: Option<ObjectRef>,
    card: Option<Rc<Card>>,
    card_of: (usize, u64),
    copied: Option<Timeout>,
    said: Option<Timeout>,
    saving: Option<Timeout>,
    trying: Option<Timeout>,
    saved: (Rc<str>, View),
    error: Option<Message>,
    size: (f64, f64),
    last: f64,
    carry: f64,
    drawn: f64,
    /// Until when no new picture is made only because time passes.
    rests: f64,
    /// How many times as long as it took a picture is followed by none.
    factor: f64,
    pace: Pace,
    room: Room,
    asked: Option<f64>,
    /// Milliseconds the engine takes at a time now.
    slice: f64,
    /// Whether the last slice was not needed to its end.
    spare: bool,
    /// Milliseconds that the last picture took.
    cost: f64,
    /// What is selected, as it was then, and how its status lags: the inspector tells the numbers that the picture tells.
    shown: Option<(Rc<Object>, Option<Message>)>,
    /// When the last picture was made.
    pictured: f64,
    /// Since when the picture of this frame is made.
    making: Option<f64>,
    asks_at: f64,
    spoke: f64,
    frame: Closure<dyn FnMut()>,
    _timer: Interval,
    _listeners: Vec<Closure<dyn FnMut(Event)>>,
}

/// Pages of memory that the history may fill. What was once taken is not given back, only filled again: after a new beginning
/// there is room until more is taken.
struct Room(usize);

impl Room {
    fn check(&mut self, state: &mut State) {
        let taken = core::arch::wasm32::memory_size::<0>();
        if taken > self.0 {
            self.0 = taken;
            state.stop_full();
        }
    }
}

impl Page {
    /// Lets the clock run for the time that has passed, in slices.
    fn tick(&mut self) -> bool {
        let now = dom::now();
        let passed = (now - self.last).clamp(0.0, 100.0);
        self.last = now;
        // The frame with the next picture has enough to do.
        let full = self.asked.is_some() && self.cost > DEAR && now + 16.0 > self.rests;
        let slice = if full { self.slice.min(LEAST) } else { self.slice };
        while deferred_drop::drop_some() && dom::now() - now < PART {}
        let mut state = self.state.borrow_mut();
        if std::mem::take(&mut self.spare) {
            state.timeline.run.run_idle_work();
        }
        if state.in_dry_run() {
            while state.in_dry_run() && dom::now() - now < slice {
                state.dry_run_next();
            }
            return !state.in_dry_run();
        }
        // The clock waits for what goes on by itself.
        if state.timeline.run.goes_on() {
            while state.timeline.run.goes_on() && dom::now() - now < slice {
                state.poll();
            }
            // What a long manifest comes to is drawn when all of it is there.
            return !state.timeline.run.applies();
        }
        if state.timeline.run_until.is_some() {
            while state.timeline.run_until.is_some() && dom::now() - now < slice {
                state.run_slice(GRAIN);
            }
            self.room.check(&mut state);
            state.sync_branch(GRAIN);
            state.poll();
            return true;
        }
        if !state.timeline.playing || self.asked.is_some_and(|asked| now - asked > UNSEEN) {
            // The branch beside may still be on its way to the instant shown.
            let mut went = false;
            while state.compare.branch.is_some() && dom::now() - now < slice {
                let there = state.sync_branch(GRAIN);
                went |= !there;
                if there {
                    break;
                }
            }
            self.spare = !went;
            return went;
        }
        let wanted = passed * 1000.0 * state.timeline.speed + self.carry;
        let to = Time(state.timeline.run.sim().now().0 + wanted as u64);
        self.carry = wanted.fract();
        let from = state.timeline.run.sim().now().0;
        while !state.advance(to, GRAIN) {
            if dom::now() - now > slice {
                break;
            }
        }
        self.spare = state.timeline.run.sim().now() >= to;
        self.pace.slice(passed, wanted, state.timeline.run.sim().now().0.saturating_sub(from) as f64);
        self.room.check(&mut state);
        while !state.sync_branch(GRAIN) && dom::now() - now < 2.0 * slice {}
        if window::is_whole() && now - self.spoke > NEWS && state.announce(now - self.spoke > TALK) {
            self.spoke = now;
        }
        state.poll();
        true
    }

    /// Asks for a frame, unless one is asked for already. Above 100x, at most ten a second.
    fn draw(&mut self) {
        let now = dom::now();
        let fast = self.state.borrow().timeline.speed > 100.0 && self.state.borrow().timeline.playing;
        if self.asked.is_none() && (!fast || now - self.drawn > 100.0) {
            self.asked = Some(now);
            dom::frame(&self.frame);
        }
    }

    /// Reads what is shown out of the state; if only time has passed, perhaps not all of it.
    fn refresh(&mut self, paced: bool) {
        let mut state = self.state.borrow_mut();
        SHOWN.set(state.timeline.run.now());
        let begun = dom::now();
        // A picture of very many objects is made less often while they move: drawing leaves most of the time to everything else.
        let (playing, mut rests) = (state.timeline.playing, paced && begun < self.rests);
        // The frame with such a picture has enough to do: most of what is written is read in those before it.
        let most = if rests || !paced { READS } else { (CATCHES - self.cost).clamp(1.0, READS) };
        let mut all = state.read(16 * GRAIN);
        while !all && dom::now() - begun < most {
            all = state.read(16 * GRAIN);
        }
        // The numbers of a picture are those of one instant: where its Pods are not all read yet it waits for them, but not for long.
        if !all && paced && !rests && begun - self.pictured < WAITS {
            rests = true;
        }
        if !rests {
            self.pictured = begun;
            self.picture = state.draw(NODES);
            self.shown = state.object().map(|object| (object.clone(), state.status_lag(object)));
            self.making = Some(begun);
        }
        state.sync_branch(GRAIN);
        self.beside = state.compare.branch.as_mut().map(|other| other.picture());
        self.marks = state.marks();
        self.left_behind = state.abandoned_branch();
        let lags = rests || state.lags();
        drop(state);
        if lags {
            self.draw();
        }
        if window::is_whole() {
            self.explain();
            // What a picture that rests shows, its card tells.
            if !rests || self.card.is_none() {
                self.describe();
            }
            if !playing {
                self.diagnose();
            }
        }
    }

    /// What the card says of the object that the pointer or the focus rests on.
    fn describe(&mut self) {
        let Some(key) = &self.hover else { return };
        let state = self.state.borrow();
        let at = (state.timeline.run.happened(), state.timeline.run.epoch);
        if self.card.is_none() || self.card_of != at {
            let card = state.card(key);
            if self.card.as_deref() != card.as_ref() {
                self.card = card.map(Rc::new);
            }
            self.card_of = at;
        }
    }

    /// Why what is selected is as it is.
    fn explain(&mut self) {
        let state = self.state.borrow();
        let happened = state.timeline.run.happened();
        // What is told beside the clock is of what the diagram shows.
        let of = (state.selection.selected.clone(), happened, (state.timeline.run.epoch, state.selection.view));
        if self.chain_of.as_ref() == Some(&of) {
            return;
        }
        let history = state.timeline.run.journal().first(happened);
        let read = self.chain_of.take().filter(|old| (&old.0, old.2) == (&of.0, of.2) && old.1 <= happened).map(|old| old.1);
        let news = |since: usize| of.0.as_ref().is_some_and(|key| history.from(since).iter().any(|entry| words::concerns(entry, key)));
        if read.is_none_or(news) {
            let version = state.object().map_or(0, |object| object.meta.resource_version);
            let chain = |key| words::chain(history, state.timeline.run.sim().delays(), key, version);
            self.chain = Rc::new(of.0.as_ref().map(chain).unwrap_or_default());
            (self.led, self.led_read) = (Rc::default(), 0);
        }
        if let Some(first) = self.chain.first().filter(|_| self.led.len() < LED) {
            let since = std::mem::replace(&mut self.led_read, happened);
            let more = words::led_to(history, first.entry, since as u32, LED - self.led.len());
            if !more.is_empty() {
                Rc::make_mut(&mut self.led).extend(more);
            }
        }
        let lane = |reason: &Reason| words::lane(&state.timeline.run.journal()[reason.entry as usize]).map(|lane| (reason.at, lane));
        self.causes = Rc::new(self.chain.iter().filter_map(lane).collect());
        events(&mut self.events, &state, read);
        // Records behind a Service have a diagram of their own; what is written of an object that is gone tells nothing of what is there.
        let behind =
            |kind| matches!(kind, Kind::EndpointSlice | Kind::Endpoints) && !matches!(state.selection.view, View::Network | View::Loops);
        let drawn = |key: &ObjectRef, op: Op| !behind(key.kind) && (op == Op::Deleted || state.timeline.run.get(key).is_some());
        (self.caption, self.told_of) = words::caption(history, &drawn);
        self.chain_of = Some(of);
    }

    /// Looks up what the selected object waits for. While the clock runs this is a task of its own, a few times a second.
    fn diagnose(&mut self) {
        let drift = self.state.borrow_mut().drift();
        if *self.drift != drift {
            self.drift = Rc::new(drift);
        }
        let state = self.state.borrow();
        let asked = state.selection.tab == Tab::Why && (self.right || self.over == Over::Inspector);
        let begun = dom::now();
        let (found, helps) = if asked { state.diagnosis() } else { Default::default() };
        // An equal answer keeps its pointer, so that its component need not look.
        if *self.found != found {
            self.found = Rc::new(found);
        }
        self.helps = helps;
        let now = dom::now();
        self.asks_at = now + DIAGNOSIS.max(DIAGNOSES * (now - begun));
    }

    /// Keeps the address in step with the edits, half a second after the last.
    fn save(&mut self, ctx: &Context<Self>) {
        let state = self.state.borrow();
        if self.saved != (state.editor.text.clone(), state.selection.view) && !self.embed {
            self.saved = (state.editor.text.clone(), state.selection.view);
            let link = ctx.link().clone();
            self.saving = Some(Timeout::new(500, move || link.send_message(Msg::Save)));
        }
    }

    /// Hands a message to the state; true, with words about it, where the history was forked.
    fn carry_out(&mut self, msg: Do) -> bool {
        let mut state = self.state.borrow_mut();
        let (before, mut known) = state.timeline.run.branches();
        state.update(msg);
        known.push(before);
        let (number, others) = state.timeline.run.branches();
        let forked = !known.contains(&number) && others.contains(&before);
        if forked {
            state.announcer.notice = msg::notice_branch(number, before);
        }
        forked
    }

    /// What a fault that is offered for the chosen object or loop does.
    fn offered(&self, line: &str) -> Option<Message> {
        let state = self.state.borrow();
        let sim = state.timeline.run.sim();
        let of_loop = state.selection.selected_loop.as_ref().and_then(|name| remedies::of_loop(sim, name));
        let of_object = state.object().map(|object| remedies::of(sim, object)).unwrap_or_default();
        let offer = of_object.into_iter().chain(of_loop).find(|offer| offer.line == line)?;
        Some(msg::offer_done(offer.words, offer.title))
    }

    /// What has just been said aloud is also shown for a moment.
    fn toast(&mut self, ctx: &Context<Self>) {
        let to = ctx.link().clone();
        self.said = Some(Timeout::new(3000, move || to.send_message(Msg::Read)));
    }

    /// Where both sides have no room, the manifest gives way to the inspector, and comes back after it.
    fn open_right(&mut self, open: bool) {
        self.right = open;
        if self.size.0 < 1280.0 {
            if open {
                self.gave_way |= std::mem::take(&mut self.left);
            } else {
                self.left |= std::mem::take(&mut self.gave_way);
            }
        }
    }

    fn narrow(&self) -> bool {
        self.size.0 < 768.0 && !self.embed
    }
}

/// The Events about what is selected, or what has been written of them since an entry: there may be tens of thousands about others.
fn events(found: &mut Rc<Vec<Rc<Object>>>, state: &State, since: Option<usize>) {
    let Some(key) = &state.selection.selected else {
        *found = Rc::default();
        return;
    };
    let about = |object: &&Rc<Object>| matches!(&object.body, Body::Event(event) if event.involved_object.is(key));
    match since {
        Some(since) => {
            let written = state.timeline.run.journal().first(state.timeline.run.happened()).from(since).iter().filter_map(Entry::write);
            for (op, object) in written.filter(|(_, object)| about(object)) {
                let found = Rc::make_mut(found);
                found.retain(|old| old.meta.uid != object.meta.uid);
                if op != Op::Deleted {
                    found.push(object.clone());
                }
            }
        }
        None => {
            let sim = state.timeline.run.sim();
            // Of a large cluster's there are more than can be looked through at a time.
            let mut all: Vec<Rc<Object>> = match sim.get(key).filter(|_| sim.server().count(Kind::Event) > EVENTS) {
                Some(object) => sim.events_about(object),
                None => sim.each(Kind::Event).filter(about).cloned().collect(),
            };
            crate::sort::sort_by_key(&mut all, |object| object.meta.resource_version);
            *found = Rc::new(all);
        }
    }
}

impl Component for Page {
    type Message = Msg;
    type Properties = ();

    fn create(ctx: &Context<Self>) -> Self {
        deferred_drop::enable();
        let link = permalink::decode(&dom::fragment());
        let error = link.as_ref().err().cloned();
        let mut state = State::from_link(link.ok().flatten().as_ref());
        let embed = dom::query("embed").is_some();
        if let Some(view) = dom::query("view").as_deref().and_then(View::from_word) {
            state.selection.view = view;
        }
        if let Some(speed) = dom::query("speed").and_then(|speed| speed.parse().ok()) {
            state.update(Do::Speed(speed));
        }
        if embed {
            state.update(Do::Select(None));
            state.timeline.playing = dom::query("autoplay").is_some_and(|value| value != "0" && value != "false");
        }
        let picture = state.picture();
        let saved = (state.editor.text.clone(), state.selection.view);
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
            calls: OnceCell::new(),
            lang: Lang::English,
            greeted: false,
            state,
            picture,
            marks: Rc::default(),
            left_behind: None,
            chain: Rc::default(),
            led: Rc::default(),
            led_read: 0,
            chain_of: None,
            found: Rc::default(),
            helps: Rc::default(),
            drift: Rc::default(),
            causes: Rc::default(),
            events: Rc::default(),
            caption: Message::default(),
            told_of: None,
            dark: dom::document().document_element().and_then(|root| root.get_attribute("data-theme")).as_deref() == Some("dark"),
            embed,
            left: size.0 >= 1024.0,
            right: size.0 >= 1280.0,
            gave_way: false,
            console: false,
            over: Over::Nothing,
            drawn_over: Over::Nothing,
            left_from: None,
            tool: None,
            beside: None,
            as_list: false,
            views: false,
            frame_like: Vec::new(),
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
            pace: Pace::default(),
            room: Room(PAGES),
            drawn: 0.0,
            rests: 0.0,
            factor: RESTS,
            asked: None,
            slice: SLICE,
            spare: false,
            cost: 0.0,
            shown: None,
            pictured: 0.0,
            making: None,
            asks_at: 0.0,
            spoke: 0.0,
            frame,
            _timer: timer,
            _listeners: listeners,
        };
        page.refresh(false);
        page
    }

    fn update(&mut self, ctx: &Context<Self>, msg: Msg) -> bool {
        let paced = matches!(msg, Msg::Frame);
        match msg {
            Msg::Tick => {
                if window::is_whole() && dom::now() > self.asks_at && self.state.borrow().timeline.playing {
                    self.diagnose();
                } else if self.tick() {
                    self.draw();
                }
                return false;
            }
            Msg::Frame => {
                let late = self.asked.take().is_some_and(|asked| dom::now() - asked > LATE);
                self.factor = if late { (self.factor * 1.5).min(MOST_RESTS) } else { (self.factor - 0.1).max(RESTS) };
                self.slice = if late { (self.slice * 0.7).max(LEAST) } else { (self.slice + 0.2).min(SLICE) };
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
                if self.carry_out(msg) {
                    self.toast(ctx);
                }
                if talk && self.size.1 >= 700.0 && !self.narrow() {
                    self.console = true;
                }
                if chose && self.size.0 >= 768.0 && self.size.0 < 1280.0 {
                    self.open_right(true);
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
                dom::speak(dom::wanted_language(), ctx.link().callback(Msg::Spoken));
            }
            Msg::Changed => {}
            Msg::Act(line) => {
                let offered = self.offered(&line);
                let msg = match line.strip_prefix("fault ") {
                    Some(fault) => Do::Fault(fault.into()),
                    None => Do::Kubectl(line),
                };
                self.carry_out(msg);
                let mut state = self.state.borrow_mut();
                // Where nothing is answered, what happens now is told in a sentence.
                if let Some(words) = offered.filter(|_| state.announcer.notice.id() == msg::notice_fault("").id()) {
                    state.announcer.notice = words;
                }
                drop(state);
                self.toast(ctx);
            }
            Msg::Read => self.said = None,
            Msg::Key(event) => return window::is_whole() && self.key(ctx, &event),
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
            Msg::Speak(lang) => {
                dom::speak(lang, ctx.link().callback(Msg::Spoken));
                dom::keep("loopscope.lang", if lang == Lang::Chinese { "zh" } else { "en" });
            }
            Msg::Spoken(lang) => self.lang = lang,
            // On a small window they lie over the page.
            Msg::Left(_) | Msg::Right(_) | Msg::Console(_) if self.narrow() => self.over = Over::Nothing,
            Msg::Left(open) => {
                self.left = open;
                self.right &= !open || self.size.0 >= 1280.0;
            }
            Msg::Right(open) => self.open_right(open),
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
            Msg::Tool(tool) => {
                self.tool = if self.tool == tool { None } else { tool };
                if self.tool.is_none() && !self.narrow() {
                    self.home();
                }
                self.over = Over::Nothing;
            }
            Msg::Other(msg) => self.state.borrow_mut().update(msg),
            Msg::List => (self.as_list, self.views) = (!self.as_list, false),
            Msg::FrameLike => self.frame_like = super::embed::chosen(),
            Msg::Views => self.views = !self.views,
            Msg::Unview => {
                if !std::mem::take(&mut self.views) {
                    return false;
                }
            }
            Msg::Why(key) => {
                let mut state = self.state.borrow_mut();
                state.update(Do::Select(Some(key)));
                state.update(Do::Tab(Tab::Why));
                drop(state);
                self.open_right(true);
                if self.narrow() {
                    self.over = Over::Inspector;
                }
            }
            Msg::Hover(key) => (self.hover, self.card) = (key, None),
            Msg::Export(form, done) => {
                let state = self.state.borrow();
                let time = clock(state.timeline.run.now()).replace(':', "-");
                dom::export(form, format!("loopscope-{}-{time}", state.selection.view.word()), done);
                return false;
            }
            Msg::Save => {
                dom::set_fragment(&permalink::encode(&self.state.borrow().link()));
                return false;
            }
            Msg::Hash => match permalink::decode(&dom::fragment()) {
                Ok(Some(link)) if link != self.state.borrow().link() => {
                    let (_, height) = self.state.borrow().drawing.stage;
                    let width = self.state.borrow().drawing.stage.0;
                    let mut state = State::from_link(Some(&link));
                    state.update(Do::Stage(width, height));
                    *self.state.borrow_mut() = state;
                    self.chain_of = None;
                }
                Ok(_) => return false,
                Err(words) => self.error = Some(words),
            },
        }
        self.refresh(paced);
        self.save(ctx);
        true
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        dom::renders("Page");
        let live = html! { <div class="vh" aria-live="polite" id="notice">{ say(&self.state.borrow().announcer.notice) }</div> };
        let error = self
            .error
            .as_ref()
            .map(|words| html! { <div class="toast" role="alert">{ icon("i-warn", 16) }<span>{ say(words) }</span></div> });
        let page = if self.embed {
            self.embedded(ctx)
        } else if self.narrow() {
            self.phone(ctx)
        } else {
            self.full(ctx)
        };
        let said = self.said.as_ref().map(|_| html! { <div class="toast said" aria-hidden="true">{ icon("i-check", 16) }<span>{ say(&self.state.borrow().announcer.notice) }</span></div> });
        // What is not there keeps its place: otherwise the page would be made anew when something is said.
        let (error, said) = (error.unwrap_or_default(), said.unwrap_or_default());
        html! { <>{ page }if self.over != Over::Nothing { { self.dialog(ctx) } }{ error }{ said }{ live }</> }
    }

    fn rendered(&mut self, ctx: &Context<Self>, first: bool) {
        if let Some(begun) = self.making.take() {
            let now = dom::now();
            self.cost = now - begun;
            self.rests = now + self.factor * self.cost;
        }
        if first {
            window::drawn(&self.state, ctx.link().callback(|()| Msg::Changed));
        }
        if self.drawn_over != self.over {
            self.refocus();
        }
    }
}
