//! What happens to the page.

use super::menu::Menu;
use crate::web::language::Lang;
use crate::web::tools::Tool;
use actions::Action;
use k8s_model::ObjectRef;
use session::Msg as Do;

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
    /// What is open is closed, the last first; where nothing is, nothing is selected any more.
    Shut,
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
    /// Copy the snippet for other pages.
    Snippet(String),
    /// Somebody is about to follow a frame's link to the full page.
    FullPage,
    /// What lies over the page.
    Overlay(Overlay),
    /// Open or close a panel of the timeline.
    Tool(Option<Tool>),
    /// What happens on the stage of the branch beside.
    Other(Do),
    /// Objects as a list.
    List,
    /// Something was chosen about the frame for other pages.
    FrameLike,
    /// Opens a lesson of the library.
    OpenLesson(&'static str),
    /// A lesson of the library was loaded: its text, or none.
    Lesson(&'static str, Option<String>),
    /// Opens a menu, or closes it.
    Menu(Menu),
    /// Tries one of the things that are offered.
    Try(usize),
    /// The things to try are not wanted any more.
    CloseOffers,
    /// Why this object?
    Why(ObjectRef),
    /// A button of the inspector: a kubectl line, or a fault.
    Act(Action),
    /// What the button said has been read.
    Read,
    /// The pointer or the focus rests on an object.
    Hover(Option<ObjectRef>),
    /// Save the picture.
    Export(crate::web::export::ImageFormat),
    /// Keep the link.
    Save,
    /// Save the page as one file.
    Single(&'static str),
    /// What was edited is saved.
    Edited,
    /// Presenting begins or ends.
    Present,
    /// How far lessons were taken is saved as a file.
    SaveProgress,
    /// The file was saved, or this went wrong.
    SingleDone(String),
    /// A fragment of another link was entered.
    Hash,
    /// The page is left, or loaded again.
    Leaves,
    /// Some time has passed since something was done: it is kept for a reload.
    Keep,
}

/// What lies over the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overlay {
    /// Nothing.
    #[default]
    Nothing,
    /// The snippet for other pages.
    Embed,
    /// What the page is, its keys and words.
    Help,
    /// Whether to begin again.
    Ask,
    /// The text of `kubectl edit`.
    Edit,
    /// Small windows: the manifest.
    Manifest,
    /// Small windows: the inspector.
    Inspector,
    /// Small windows: the console.
    Console,
    /// Small windows: what has no room in the bars.
    More,
}
