//! The page component: owns the state, runs the clock in slices, and lays out the panels.

mod dialogs;
mod embedded;
mod frames;
mod history;
mod inspection;
mod keys;
mod layout;
mod lessons;
mod menu;
mod message;
mod notices;
mod offers;
mod opening;
mod packing;
mod panels;
mod parts;
mod pickers;
mod room;
mod saving;

pub use self::menu::{Menu, has_left};
pub use self::opening::prepare;
use self::packing::Packed;
use actions::Action;

use self::dialogs::links;
use self::inspection::{Hover, Inspection};
use self::message::{Msg, Overlay};
use self::notices::Notices;
use self::opening::Opening;
use self::panels::Panels;
use self::saving::{FullPageLink, KeptSession, SavedAddress};
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
use session::selection::SelectionMsg;
use session::selection::Tab;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
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
    /// Dry run some time after the last key.
    trying: Option<Timeout>,
    notices: Notices,
    address: SavedAddress,
    session: KeptSession,
    settings: Settings,
    pacing: FramePacing,
    room: MemoryRoom,
    error: Option<PageFault>,
    hooks: Hooks,
}

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
    full_page: FullPageLink,
    caption: Message,
    /// Object of the caption.
    told_of: Option<ObjectRef>,
}

/// Appearance and language of the page.
struct Settings {
    dark: bool,
    /// Language in use: a catalogue is loaded when its language is chosen.
    lang: Lang,
    /// True once the language has been requested.
    greeted: bool,
    embed: bool,
}

/// Callbacks of the browser.
struct Hooks {
    frame: Closure<dyn FnMut()>,
    /// Timer that runs the engine; `None` while the page is hidden with nothing to do, until something else happens.
    timer: Option<Interval>,
    _listeners: Vec<Closure<dyn FnMut(Event)>>,
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
        let address = SavedAddress::new(&state);
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
            panels: Panels::new(dom::size(), embed),
            trying: None,
            notices: Notices::default(),
            address,
            session: KeptSession::default(),
            settings: Settings {
                dark: dom::is_dark(),
                lang: Lang::English,
                greeted: false,
                embed,
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
                    self.trying = Some(Timeout::new(TYPING_DELAY_MS, move || {
                        to.send_message(Msg::Do(EditorMsg::Check.into()))
                    }));
                }
                let since = matches!(msg, Do::Compare(CompareMsg::Since(_)));
                // The interval between the marks is described in the comparison.
                if matches!(msg, Do::Compare(CompareMsg::Mark(_))) && self.panels.tool.is_none() {
                    self.panels.tool = Some(Tool::Compare);
                }
                let menu = since
                    || matches!(
                        msg,
                        Do::Timeline(_)
                            | Do::Compare(CompareMsg::With(_) | CompareMsg::EventDriven(_))
                    );
                if matches!(msg, Do::Lesson(_)) {
                    self.keep_lesson();
                }
                let shown = talk && (self.panels.console || self.panels.opens_console())
                    || self.panels.over == Overlay::Console;
                if self.carry_out(msg) || heavy || talk && !shown {
                    self.toast(ctx);
                }
                if menu {
                    self.panels.close_menu();
                    self.panels.close_more();
                }
                self.ask();
                if talk && self.panels.opens_console() {
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
                    self.panels.uncover();
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
                self.carry_out(match action {
                    Action::Fault(fault) => Do::Fault(fault),
                    action => ConsoleMsg::Run(action.to_string()).into(),
                });
                self.panels.uncover();
                self.toast(ctx);
            }
            Msg::Read => self.notices.hide_toast(),
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
            Msg::Left(_) | Msg::Right(_) | Msg::Console(_) if self.panels.is_narrow() => {
                self.panels.over = Overlay::Nothing
            }
            Msg::Left(open) => self.panels.choose_left(open),
            Msg::Right(open) => self.panels.choose_right(open),
            Msg::Console(open) => self.panels.console = open,
            Msg::Share => self.share(ctx),
            Msg::Shared => self.notices.hide_copied(),
            Msg::Snippet(text) => {
                dom::copy(&text);
                self.notices.copied(ctx.link());
            }
            Msg::FullPage => self.drawing.full_page.keep(&self.state.borrow()),
            Msg::Overlay(Overlay::Nothing) => self.close_over(),
            Msg::Overlay(over) => {
                if over == Overlay::Embed {
                    self.panels.frame.links = links(&self.state.borrow());
                    self.notices.hide_copied();
                }
                self.panels.over = over;
            }
            Msg::Tool(tool) => {
                self.panels.close_menu();
                self.panels.tool = if self.panels.tool == tool { None } else { tool };
                if self.panels.tool.is_none() && !self.panels.is_narrow() {
                    self.panels.focus_history();
                }
                self.panels.over = Overlay::Nothing;
            }
            Msg::Other(msg) => self.state.borrow_mut().update(msg),
            Msg::List => {
                self.panels.as_list = !self.panels.as_list;
                self.panels.close_menu();
                self.panels.close_more();
            }
            Msg::FrameLike => self.panels.frame.like = super::embed::chosen(),
            Msg::Paste => self.paste(),
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
                if self.panels.is_narrow() {
                    self.panels.over = Overlay::Inspector;
                }
            }
            Msg::Hover(key) => self.hover.rest_on(key),
            Msg::Export(form) => {
                self.export(form);
                return false;
            }
            Msg::Leaves => {
                self.keep_session(true);
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
            Msg::Hash => {
                if !self.open_hash() {
                    return false;
                }
            }
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
        } else if self.panels.is_narrow() {
            self.phone(ctx)
        } else {
            self.full(ctx)
        };
        // Absent parts keep their place: otherwise Yew would rebuild the page when one appears.
        let (error, said) = (error.unwrap_or_default(), self.notices.draw());
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
            self.panels.refocus();
        }
    }
}
