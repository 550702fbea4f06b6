//! Opening of the page: read from the address, and made before the page is mounted, in several tasks, since nothing has run yet and a
//! browser compiles each function of a module at its first call.

use crate::web::dom;
use crate::web::host::PageFault;
use i18n::{Message, msg};
use lesson::library;
use session::State;
use session::drawing::Picture;
use session::follow::Following;
use session::permalink::{self, Link};
use session::playback;
use session::run::Run;
use session::selection::SelectionMsg;
use session::timeline::TimelineMsg;
use sim_core::deferred_drop;
use std::cell::RefCell;
use std::rc::Rc;

/// State with which the page opens.
pub(super) struct Opening {
    pub state: State,
    /// First picture.
    pub picture: Rc<Picture>,
    /// Error in the address.
    pub error: Option<PageFault>,
}

/// Stage of the opening.
#[derive(Default)]
enum Made {
    /// Not started.
    #[default]
    Nothing,
    /// The address is read, and its empty cluster created.
    Cluster(Address, Box<Run>),
    /// The state is created; with the error in the address.
    State(Box<State>, Option<PageFault>),
    /// Complete.
    All(Box<Opening>),
}

thread_local! {
    static MADE: RefCell<Made> = RefCell::default();
}

/// Makes the next part of the opening; returns true if there is more to do.
pub fn prepare() -> bool {
    let next = match MADE.take() {
        Made::Nothing => {
            deferred_drop::enable();
            let address = Address::read();
            let cluster = State::cluster(address.link.as_ref());
            Made::Cluster(address, Box::new(cluster))
        }
        Made::Cluster(address, cluster) => {
            let (state, error) = address.open(*cluster);
            Made::State(Box::new(state), error)
        }
        Made::State(mut state, error) => {
            let picture = state.picture();
            Made::All(Box::new(Opening {
                state: *state,
                picture,
                error,
            }))
        }
        all @ Made::All(_) => all,
    };
    let more = !matches!(next, Made::All(_));
    MADE.set(next);
    more
}

/// Returns the link to open: the one kept for a reload, or the address's.
pub(super) fn link(kept: Option<&str>) -> Result<Option<Link>, Message> {
    let kept = kept.and_then(|kept| permalink::decode(kept).ok().flatten());
    kept.map_or_else(
        || permalink::decode(&dom::fragment()),
        |link| Ok(Some(link)),
    )
}

/// Returns true if the address names a lesson of the library.
fn wants_lesson() -> bool {
    dom::query("lesson").is_some_and(|name| library::named(&name).is_some())
}

impl Opening {
    /// Returns the complete opening.
    pub(super) fn take() -> Opening {
        loop {
            if let Made::All(opening) = MADE.take() {
                return *opening;
            }
            prepare();
        }
    }
}

/// Decoded address.
struct Address {
    link: Option<Link>,
    /// Error in the address.
    error: Option<PageFault>,
    /// True if the contents are not the page's own: a served cluster, or a lesson.
    awaits: bool,
    /// True if it is a served cluster.
    follows: bool,
}

impl Address {
    fn read() -> Address {
        let kept = dom::kept_for_reload();
        let link = link(kept.as_deref());
        let mut error = link
            .as_ref()
            .err()
            .map(|words| PageFault::new("link", words.clone()));
        let follows = dom::query("follow").is_some();
        // A link's history comes first; the lesson then asks before replacing it.
        let has_history = matches!(&link, Ok(Some(link)) if link.history.is_some());
        let awaits = follows || kept.is_none() && !has_history && wants_lesson();
        let of_text = |text: String| Link {
            v: 1,
            manifest: Some(text),
            ..Link::default()
        };
        let loaded = dom::loaded_text().filter(|_| kept.is_none()).map(|loaded| {
            loaded.unwrap_or_else(|why| {
                let address = dom::query("src")
                    .or_else(|| dom::query("lesson"))
                    .unwrap_or_default();
                error = Some(PageFault::new(
                    "source",
                    msg::source_not_loaded(address, why),
                ));
                String::new()
            })
        });
        let empty = awaits.then(|| of_text(String::new()));
        Address {
            link: empty.or(loaded.map(of_text)).or(link.ok().flatten()),
            error,
            awaits,
            follows,
        }
    }

    /// Builds the page in its cluster, and returns the error in the address.
    fn open(self, cluster: Run) -> (State, Option<PageFault>) {
        let Address {
            link,
            mut error,
            awaits,
            follows,
        } = self;
        let mut state = State::in_cluster(cluster, link.as_ref());
        if awaits {
            state.editor.restore(Rc::default(), Rc::default());
        }
        if follows {
            state.following = Some(Following::default());
        }
        let embed = dom::query("embed").is_some();
        if let Some(name) = dom::query("view").filter(|name| !name.is_empty()) {
            match views::by_id(&name) {
                Some(view) => state.selection.view = view,
                None => {
                    let known: Vec<&str> = views::ALL.iter().map(|view| view.id).collect();
                    error = error.or_else(|| {
                        Some(PageFault::new(
                            "view",
                            msg::view_unknown(name, known.join(", ")),
                        ))
                    });
                }
            }
        }
        if let Some(speed) = dom::query("speed").and_then(|speed| speed.parse().ok()) {
            state.update(TimelineMsg::Speed(speed));
        }
        if let Some(pace) = dom::query("pace") {
            state.update(TimelineMsg::ByCause(pace == "cause"));
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
        (state, error)
    }
}
