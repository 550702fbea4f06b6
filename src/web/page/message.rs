//! Messages of the page component.

use super::menu::Menu;
use crate::web::language::Lang;
use crate::web::tools::Tool;
use actions::Action;
use k8s_model::ObjectRef;
use session::Msg as Do;

/// Message of the page component.
pub enum Msg {
    /// Message for the state.
    Do(Do),
    /// The state was changed from outside.
    Changed,
    /// The timer fired.
    Tick,
    /// An animation frame has come.
    Frame,
    /// Closes what was opened last; if nothing is open, deselects.
    Shut,
    /// The window was resized.
    Resized,
    /// Switches the theme.
    Theme,
    /// Switches the language.
    Speak(Lang),
    /// The language's catalogue was loaded.
    Spoken(Lang),
    /// Opens or closes the manifest.
    Left(bool),
    /// Opens or closes the inspector.
    Right(bool),
    /// Opens or closes the console.
    Console(bool),
    /// Copies a link.
    Share,
    /// Hides the message on Share.
    Shared,
    /// Copies the snippet for other pages.
    Snippet(String),
    /// A person is about to follow a frame's link to the full page.
    FullPage,
    /// Opens an overlay.
    Overlay(Overlay),
    /// Opens or closes a panel of the timeline.
    Tool(Option<Tool>),
    /// Message from the stage of the branch beside.
    Other(Do),
    /// Switches between the drawing and a list of objects.
    List,
    /// An option of the frame for other pages was chosen.
    FrameLike,
    /// Opens a lesson of the library.
    OpenLesson(&'static str),
    /// The text of the manifest is to be replaced by the reader's own.
    Paste,
    /// A lesson of the library was loaded: its text, or `None` on failure.
    Lesson(&'static str, Option<String>),
    /// Opens or closes a menu.
    Menu(Menu),
    /// Runs one of the offered actions.
    Try(usize),
    /// Closes the offers.
    CloseOffers,
    /// Opens the inspector's explanation of an object.
    Why(ObjectRef),
    /// Runs the action of an inspector button: a kubectl line, or a fault.
    Act(Action),
    /// Hides the result of an action.
    Read,
    /// The pointer or the focus rests on an object.
    Hover(Option<ObjectRef>),
    /// Saves the picture.
    Export(crate::web::export::ImageFormat),
    /// Keeps the link in the address.
    Save,
    /// Saves the page as one file.
    Single(&'static str),
    /// Saves the text of `kubectl edit`.
    Edited,
    /// Starts or ends presenting.
    Present,
    /// Saves the progress in lessons as a file.
    SaveProgress,
    /// The file was saved, or saving failed with this error.
    SingleDone(String),
    /// The fragment of another link was entered.
    Hash,
    /// The page is being left or reloaded.
    Leaves,
    /// Keeps the session for a reload, some time after the last action.
    Keep,
}

/// Overlay over the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overlay {
    /// None.
    #[default]
    Nothing,
    /// Snippet for other pages.
    Embed,
    /// Lessons, along their paths.
    Learn,
    /// Help: the page's purpose, its keys and words.
    Help,
    /// Question whether to start over.
    Ask,
    /// Text of `kubectl edit`.
    Edit,
    /// Small windows: the manifest.
    Manifest,
    /// Small windows: the inspector.
    Inspector,
    /// Small windows: the console.
    Console,
    /// Small windows: the buttons that do not fit into the bars.
    More,
}
