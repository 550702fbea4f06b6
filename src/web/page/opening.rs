//! What a page opens with: read from its address, and made in a task of its own before the page is mounted.

use crate::engine::deferred_drop;
use crate::i18n::Message;
use crate::lesson::library;
use crate::session::State;
use crate::session::drawing::Picture;
use crate::session::follow::Following;
use crate::session::permalink::{self, Link};
use crate::session::playback;
use crate::session::selection::SelectionMsg;
use crate::session::timeline::TimelineMsg;
use crate::views;
use crate::web::dom;
use std::cell::RefCell;
use std::rc::Rc;

/// What a page opens with.
pub(super) struct Opening {
    pub state: State,
    /// The first picture.
    pub picture: Rc<Picture>,
    /// What is wrong with the address.
    pub error: Option<Message>,
}

thread_local! {
    static MADE: RefCell<Option<Opening>> = const { RefCell::new(None) };
}

/// Makes what the page opens with.
pub fn prepare() {
    MADE.set(Some(Opening::read()));
}

/// What the page opens with: what was kept for a reload, or the link.
pub(super) fn link(kept: Option<&str>) -> Result<Option<Link>, Message> {
    let kept = kept.and_then(|kept| permalink::decode(kept).ok().flatten());
    kept.map_or_else(|| permalink::decode(&dom::fragment()), |link| Ok(Some(link)))
}

/// Whether the address names a lesson of the library.
fn wants_lesson() -> bool {
    dom::query("lesson").is_some_and(|name| library::named(&name).is_some())
}

impl Opening {
    /// What was made.
    pub(super) fn take() -> Opening {
        MADE.take().unwrap_or_else(Opening::read)
    }

    fn read() -> Opening {
        deferred_drop::enable();
        let kept = dom::kept_for_reload();
        let link = link(kept.as_deref());
        let error = link.as_ref().err().cloned();
        let follows = dom::query("follow").is_some();
        // What comes is not this page's own: a cluster that is served, or a lesson. Before what a link has done the lesson asks.
        let has_history = matches!(&link, Ok(Some(link)) if link.history.is_some());
        let awaits = follows || kept.is_none() && !has_history && wants_lesson();
        let empty = awaits.then(|| Link { manifest: Some(String::new()), ..Link::default() });
        let mut state = State::from_link(empty.or(link.ok().flatten()).as_ref());
        if awaits {
            state.editor.restore(Rc::default(), Rc::default());
        }
        if follows {
            state.following = Some(Following::default());
        }
        let embed = dom::query("embed").is_some();
        if let Some(view) = dom::query("view").as_deref().and_then(views::by_id) {
            state.selection.view = view;
        }
        if let Some(speed) = dom::query("speed").and_then(|speed| speed.parse().ok()) {
            state.update(TimelineMsg::Speed(speed));
        }
        if embed {
            state.update(SelectionMsg::Select(None));
            state.editor.leftovers.from_page = false;
            state.timeline.playing = dom::autoplay() == Some(true);
        }
        if let Some(ms) = playback::start(&dom::query) {
            let plays = state.timeline.playing || embed && dom::autoplay().is_none();
            state.update(TimelineMsg::StartAt(ms));
            state.timeline.playing = plays;
        }
        let picture = state.picture();
        Opening { state, picture, error }
    }
}
