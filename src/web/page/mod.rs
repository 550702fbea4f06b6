//! The page component: owns the state, runs the clock in slices, and lays out the panels.

mod dialogs;
mod embedded;
mod frames;
mod inspection;
mod keys;
mod layout;
mod lessons;
mod menu;
mod message;
mod offers;
mod opening;
mod packing;
mod panels;
mod parts;
mod room;

pub use self::menu::{Menu, has_left};
pub use self::opening::prepare;
use self::packing::Packed;
use actions::Action;

use self::inspection::Inspection;
use self::message::{Msg, Overlay};
use self::opening::Opening;
use self::panels::Panels;
use super::dom::icon;
use super::host::PageFault;
use super::window;
use crate::web::dom;
use crate::web::host;
use crate::web::language::{Lang, say};
use crate::web::tools::Tool;
use gloo_timers::callback::{Interval, Timeout};
use i18n::{Message, msg};
use k8s_model::{Object, ObjectRef};
use projection::marks::Mark;
use session::Msg as Do;
use session::State;
use session::compare::CompareMsg;
use session::console::ConsoleMsg;
use session::drawing::Picture;
use session::editor::EditorMsg;
use session::journal_marks::AbandonedBranch;
use session::memory_room::MemoryRoom;
use session::pacing::FramePacing;
use session::permalink;
use session::selection::SelectionMsg;
use session::selection::Tab;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use views::card::Card;
use views::view::View;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::{Event, KeyboardEvent};
use yew::prelude::*;

/// Milliseconds after the last key until a dry run.
const TYPING_DELAY_MS: u32 = 350;
/// Page.
pub struct Page {
    calls: OnceCell<parts::Calls>,
    state: Rc<RefCell<State>>,
    drawing: Drawing,
    inspection: Inspection,
    hover: Hover,
    panels: Panels,
    timers: Timers,
    settings: Settings,
    pacing: FramePacing,
    room: MemoryRoom,
    error: Option<PageFault>,
    hooks: Hooks,
}

/// Manifest and the diagram in which it is shown.
type Shown = (Rc<str>, &'static View);

/// Parts of the state as last drawn.
#[derive(Default)]
struct Drawing {
    picture: Rc<Picture>,
    marks: Rc<Vec<Mark>>,
    left_branch: Option<Rc<AbandonedBranch>>,
    /// Branch beside this one.
    beside: Option<Rc<Picture>>,
    /// The selected object and the lag of its status at that time: the inspector shows the same numbers as the picture.
    selected: Option<(Rc<Object>, Option<Message>)>,
    /// Packed link of the full page, and its source.
    full_page: RefCell<Option<(Shown, String)>>,
    caption: Message,
    /// Object of the caption.
    told_of: Option<ObjectRef>,
}

/// Object under the pointer or the focus.
#[derive(Default)]
struct Hover {
    key: Option<ObjectRef>,
    card: Option<Rc<Card>>,
    /// Instant at which the card was read.
    card_of: (usize, u64),
    /// Time before which the card is not read again while the clock runs.
    rests_until: f64,
}

/// Timeouts, and what they are about.
struct Timers {
    copied: Option<Timeout>,
    /// Message shown for a moment, with true if it is a failure: the result of an action, though more is announced meanwhile.
    said: Option<(Timeout, Message, bool)>,
    saving: Option<Timeout>,
    keeping: Option<Timeout>,
    /// Number of commands when the session was last kept for a reload.
    kept: usize,
    trying: Option<Timeout>,
    /// Contents of the address.
    saved: Shown,
}

/// Appearance and language of the page.
struct Settings {
    dark: bool,
    /// Language in use: a catalogue is loaded when its language is chosen.
    lang: Lang,
    /// True once the language has been requested.
    greeted: bool,
    embed: bool,
    /// Session kept for the reload that opened the page.
    recalled: Option<String>,
}

/// Callbacks of the browser.
struct Hooks {
    frame: Closure<dyn FnMut()>,
    /// Timer that runs the engine; `None` while the page is hidden with nothing to do, until something else happens.
    timer: Option<Interval>,
    _listeners: Vec<Closure<dyn FnMut(Event)>>,
}

impl Page {
    /// Returns true if entering a line opens the console: there is room for its output.
    fn opens_console(&self) -> bool {
        // In a frame the console belongs to a task, and shows its output there.
        self.settings.embed || self.panels.size.1 >= 700.0 && !self.narrow()
    }

    /// Closes a panel that covers the diagram, so that the result of an action is visible.
    fn uncover(&mut self) {
        if self.narrow()
            && matches!(
                self.panels.over,
                Overlay::Manifest | Overlay::Inspector | Overlay::More
            )
        {
            self.panels.over = Overlay::Nothing;
        }
    }

    /// Returns true if panels are overlays.
    fn narrow(&self) -> bool {
        self.panels.size.0 < panels::NARROW && !self.settings.embed
    }
}

impl Component for Page {
    type Message = Msg;
    type Properties = ();

    fn create(ctx: &Context<Self>) -> Self {
        let Opening {
            state,
            picture,
            error,
        } = Opening::take();
        let embed = dom::query("embed").is_some();
        let saved = (state.editor.text.clone(), state.selection.view);
        let state = Rc::new(RefCell::new(state));

        let to = ctx.link().clone();
        let frame = Closure::new(move || to.send_message(Msg::Frame));
        let mut listeners: Vec<Closure<dyn FnMut(Event)>> = Vec::new();
        let mut listen = |target: &web_sys::EventTarget,
                          name: &str,
                          then: Box<dyn FnMut(Event)>| {
            let closure = Closure::wrap(then);
            let _ = target.add_event_listener_with_callback(name, closure.as_ref().unchecked_ref());
            listeners.push(closure);
        };
        let to = ctx.link().clone();
        let key = dom::answer(ctx.link(), move |page: &Page, event: &KeyboardEvent| {
            to.send_message_batch(page.key(event))
        });
        listen(
            &dom::document(),
            "keydown",
            Box::new(move |event| {
                if let Ok(event) = event.dyn_into::<KeyboardEvent>()
                    && window::is_whole()
                {
                    key.emit(event);
                }
            }),
        );
        let to = ctx.link().clone();
        listen(
            &dom::window(),
            "resize",
            Box::new(move |_| to.send_message(Msg::Resized)),
        );
        let to = ctx.link().clone();
        listen(
            &dom::window(),
            "hashchange",
            Box::new(move |_| to.send_message(Msg::Hash)),
        );
        let to = ctx.link().clone();
        listen(
            &dom::window(),
            "pagehide",
            Box::new(move |_| to.send_message(Msg::Leaves)),
        );
        // A hidden tab may be closed without an event.
        let to = ctx.link().clone();
        listen(
            &dom::document(),
            "visibilitychange",
            Box::new(move |_| {
                if dom::document().hidden() {
                    to.send_message(Msg::Leaves);
                }
            }),
        );

        let mut page = Page {
            calls: OnceCell::new(),
            state,
            drawing: Drawing {
                picture,
                ..Drawing::default()
            },
            inspection: Inspection::default(),
            hover: Hover::default(),
            panels: Panels::new(dom::size()),
            timers: Timers {
                copied: None,
                said: None,
                saving: None,
                keeping: None,
                kept: 0,
                trying: None,
                saved,
            },
            settings: Settings {
                dark: dom::is_dark(),
                lang: Lang::English,
                greeted: false,
                embed,
                recalled: None,
            },
            pacing: FramePacing::new(dom::now()),
            room: MemoryRoom::default(),
            error,
            hooks: Hooks {
                frame,
                timer: Some(Page::ticking(ctx)),
                _listeners: listeners,
            },
        };
        page.refresh(false);
        page
    }

    fn update(&mut self, ctx: &Context<Self>, msg: Msg) -> bool {
        let paced = matches!(msg, Msg::Frame);
        if self.hooks.timer.is_none() && !matches!(msg, Msg::Tick) {
            self.hooks.timer = Some(Page::ticking(ctx));
        }
        match msg {
            Msg::Tick => {
                if window::is_whole()
                    && dom::now() > self.inspection.diagnose_ms
                    && (self.inspection.tries || self.state.borrow().timeline.playing)
                {
                    self.diagnose();
                } else if self.tick() {
                    self.draw();
                }
                return false;
            }
            Msg::Frame => self.pacing.frame(dom::now()),
            Msg::Do(msg) => {
                let talk = matches!(
                    msg,
                    Do::Console(
                        ConsoleMsg::Enter(_) | ConsoleMsg::Run(_) | ConsoleMsg::Described(_)
                    )
                );
                let chose = matches!(
                    msg,
                    Do::Selection(SelectionMsg::Select(Some(_)) | SelectionMsg::Loop(Some(_)))
                );
                let heavy = matches!(msg, Do::Apply);
                if matches!(msg, Do::Editor(EditorMsg::Edit(_))) {
                    let to = ctx.link().clone();
                    self.timers.trying = Some(Timeout::new(TYPING_DELAY_MS, move || {
                        to.send_message(Msg::Do(EditorMsg::Check.into()))
                    }));
                }
                let since = matches!(msg, Do::Compare(CompareMsg::Since(_)));
                // The interval between the marks is described in the comparison.
                if matches!(msg, Do::Compare(CompareMsg::Mark(_))) && self.panels.tool.is_none() {
                    self.panels.tool = Some(Tool::Compare);
                }
                let menu =
                    since || matches!(msg, Do::Timeline(_) | Do::Compare(CompareMsg::With(_)));
                if matches!(msg, Do::Lesson(_)) {
                    self.keep_lesson();
                }
                let shown = talk && (self.panels.console || self.opens_console())
                    || self.panels.over == Overlay::Console;
                if self.carry_out(msg) || heavy || talk && !shown {
                    self.toast(ctx);
                }
                if menu {
                    self.close_menu();
                    self.close_more();
                }
                self.ask();
                if talk && self.opens_console() {
                    self.panels.console = true;
                }
                if since {
                    (self.panels.tool, self.panels.over) = (Some(Tool::Compare), Overlay::Nothing);
                }
                if chose {
                    self.panels.selected();
                    self.diagnose();
                }
                if heavy
                    && self
                        .state
                        .borrow()
                        .editor
                        .diagnostics
                        .iter()
                        .all(|diagnostic| !diagnostic.error)
                {
                    self.uncover();
                }
                if heavy {
                    // The changes are drawn in a task of their own.
                    self.draw();
                    return false;
                }
            }
            // The first of these messages says that the whole module is loaded; a frame uses no storage on opening, since a sandbox refuses
            // it.
            Msg::Changed if !std::mem::replace(&mut self.settings.greeted, true) => {
                dom::speak(dom::wanted_language(), ctx.link().callback(Msg::Spoken));
                self.begin();
                self.recall(ctx);
            }
            Msg::Changed => {
                // The embedding page may have set the theme.
                self.settings.dark = dom::is_dark();
                self.ask();
            }
            Msg::Act(action) => {
                let offered = self.offered(&action);
                let msg = match action {
                    Action::Fault(fault) => Do::Fault(fault),
                    action => ConsoleMsg::Run(action.to_string()).into(),
                };
                self.carry_out(msg);
                let mut state = self.state.borrow_mut();
                // A fault without an answer of its own is described by a sentence.
                if let Some(words) =
                    offered.filter(|_| state.announcer.notice().is_like(&msg::notice_fault("")))
                {
                    state.announcer.say(words);
                }
                drop(state);
                self.uncover();
                self.toast(ctx);
            }
            Msg::Read => self.timers.said = None,
            Msg::Shut => self.shut(),
            Msg::Resized => self.panels.resize(dom::size()),
            Msg::Theme => {
                self.settings.dark = !self.settings.dark;
                dom::set_theme(self.settings.dark);
                dom::keep(
                    "loopscope.theme",
                    if self.settings.dark { "dark" } else { "light" },
                );
            }
            Msg::Speak(lang) => {
                dom::speak(lang, ctx.link().callback(Msg::Spoken));
                dom::keep(
                    "loopscope.lang",
                    if lang == Lang::Chinese { "zh" } else { "en" },
                );
            }
            Msg::Spoken(lang) => self.settings.lang = lang,
            // On a small window they are overlays.
            Msg::Left(_) | Msg::Right(_) | Msg::Console(_) if self.narrow() => {
                self.panels.over = Overlay::Nothing
            }
            Msg::Left(open) => self.panels.open_left(open),
            Msg::Right(open) => self.panels.open_right(open),
            Msg::Console(open) => self.panels.console = open,
            Msg::Share => self.share(ctx),
            Msg::Shared => self.timers.copied = None,
            Msg::Snippet(text) => {
                dom::copy(&text);
                self.copied(ctx);
            }
            Msg::FullPage => self.keep_full_page(),
            Msg::Overlay(Overlay::Nothing) => self.close_over(),
            Msg::Overlay(over) => {
                if over == Overlay::Embed {
                    (self.panels.frame.links, self.timers.copied) = (self.links(), None);
                }
                self.panels.over = over;
            }
            Msg::Tool(tool) => {
                self.close_menu();
                self.panels.tool = if self.panels.tool == tool { None } else { tool };
                if self.panels.tool.is_none() && !self.narrow() {
                    self.home();
                }
                self.panels.over = Overlay::Nothing;
            }
            Msg::Other(msg) => self.state.borrow_mut().update(msg),
            Msg::List => {
                self.panels.as_list = !self.panels.as_list;
                self.close_menu();
                self.close_more();
            }
            Msg::FrameLike => self.panels.frame.like = super::embed::chosen(),
            Msg::OpenLesson(name) => {
                self.keep_lesson();
                self.close_over();
                self.fetch_lesson(ctx, name);
            }
            Msg::Lesson(name, text) => {
                self.open_lesson(name, text.as_deref());
                self.panels.over = Overlay::Nothing;
                self.ask();
            }
            Msg::Menu(Menu::None) if std::mem::take(&mut self.panels.menu) == Menu::None => {
                return false;
            }
            Msg::Menu(menu) => {
                self.panels.menu = if self.panels.menu == menu {
                    Menu::None
                } else {
                    menu
                }
            }
            Msg::Try(at) => {
                self.attempt(at);
                self.toast(ctx);
            }
            Msg::CloseOffers => self.close_offers(),
            Msg::Why(key) => {
                let mut state = self.state.borrow_mut();
                state.update(SelectionMsg::Select(Some(key)));
                state.update(SelectionMsg::Tab(Tab::Why));
                drop(state);
                self.panels.open_right(true);
                if self.narrow() {
                    self.panels.over = Overlay::Inspector;
                }
            }
            Msg::Hover(key) => (self.hover.key, self.hover.card) = (key, None),
            Msg::Export(form) => {
                self.export(form);
                return false;
            }
            Msg::Leaves => {
                if window::is_whole() {
                    self.keep_session(true);
                }
                return false;
            }
            Msg::Keep => {
                self.keep_session(false);
                return false;
            }
            Msg::Save => {
                packing::pack(Packed::Address, &self.state.borrow().link(), |hash| {
                    dom::set_fragment(&hash)
                });
                return false;
            }
            Msg::Edited => self.save_edit(ctx),
            Msg::SaveProgress => self.save_progress(),
            Msg::Present => dom::present(!dom::presents()),
            Msg::Single(form) => {
                self.save_single(ctx, form);
                return false;
            }
            Msg::SingleDone(error) if error.is_empty() => return false,
            Msg::SingleDone(error) => {
                self.error = Some(PageFault::new("file", msg::single_failed(error)))
            }
            Msg::Hash => match permalink::decode(&dom::fragment()) {
                Ok(Some(link)) if link != self.state.borrow().link() => {
                    let (width, height) = self.state.borrow().drawing.stage;
                    let mut state = State::from_link(Some(&link));
                    state.recall(&link);
                    state.update(Do::Stage(width, height));
                    self.timers.saved = (state.editor.text.clone(), state.selection.view);
                    *self.state.borrow_mut() = state;
                    self.inspection.chain_of = None;
                }
                Ok(_) => return false,
                Err(words) => self.error = Some(PageFault::new("link", words)),
            },
        }
        self.end_presenting();
        self.refresh(paced);
        if self.settings.embed && window::is_whole() {
            host::tell_fault(self.fault().as_ref());
        }
        self.save(ctx);
        true
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        dom::renders("Page");
        let live = html! { <div class="vh" aria-live="polite" id="notice">{ say(self.state.borrow().announcer.notice()) }</div> };
        let error = self
            .error
            .as_ref()
            .filter(|_| !self.settings.embed)
            .map(|fault| html! { <div class="toast" role="alert">{ icon("i-warn", 16) }<span>{ say(&fault.words) }</span></div> });
        let page = if self.settings.embed {
            self.embedded(ctx)
        } else if self.narrow() {
            self.phone(ctx)
        } else {
            self.full(ctx)
        };
        let said = self.timers.said.as_ref().map(|(_, words, failed)| {
            let glyph = if *failed { "i-error" } else { "i-check" };
            html! { <div class={classes!("toast", "said", failed.then_some("failed"))} aria-hidden="true">{ icon(glyph, 16) }<span>{ say(words) }</span></div> }
        });
        // Absent parts keep their place: otherwise Yew would rebuild the page when one appears.
        let (error, said) = (error.unwrap_or_default(), said.unwrap_or_default());
        html! { <>{ page }if self.panels.over != Overlay::Nothing { { self.dialog(ctx) } }{ self.undo(ctx) }{ error }{ said }{ live }</> }
    }

    fn rendered(&mut self, ctx: &Context<Self>, first: bool) {
        let whole = !self.state.borrow().drawing.is_drawing();
        self.pacing.rendered(dom::now(), whole);
        self.load_wanted(ctx);
        if first {
            window::drawn(&self.state, ctx.link().callback(|()| Msg::Changed));
        }
        if self.panels.drawn_over != self.panels.over {
            self.refocus();
        }
    }
}
