//! What happens to the page, as messages: one variant for each part of the state, and those that concern several parts.

use super::compare::CompareMsg;
use super::console::ConsoleMsg;
use super::editor::EditorMsg;
use super::follow::FollowMsg;
use super::lesson::LessonMsg;
use super::replace::ReplaceMsg;
use super::selection::SelectionMsg;
use super::timeline::TimelineMsg;
use fault::Fault;
use views::view::View;

/// What happens to the page: to one part of it, or to several.
#[derive(Clone, Debug, PartialEq)]
pub enum Msg {
    /// To the clock and the history.
    Timeline(TimelineMsg),
    /// To the manifest.
    Editor(EditorMsg),
    /// To the console.
    Console(ConsoleMsg),
    /// To what is looked at.
    Selection(SelectionMsg),
    /// To what is compared.
    Compare(CompareMsg),
    /// To a new beginning.
    Replace(ReplaceMsg),
    /// To the lesson.
    Lesson(LessonMsg),
    /// Plays what the opening example does by itself, and offers things to try.
    Begin {
        /// The example moves by itself.
        moves: bool,
    },
    /// The things to try are not wanted any more.
    CloseOffers,
    /// The example does nothing by itself any more.
    StopDemo,
    /// Applies the manifest at the instant shown.
    Apply,
    /// Replaces the manifest, starts over with it and perhaps shows another diagram.
    Load(String, Option<&'static View>),
    /// Injects a fault, given as a line of a scenario.
    Fault(Fault),
    /// The cluster that is followed has told something.
    Follow(FollowMsg),
    /// Size of the stage in CSS pixels.
    Stage(f64, f64),
}

/// A message of one part is a message of the page.
macro_rules! part {
    ($($variant:ident($message:ty),)*) => {
        $(impl From<$message> for Msg {
            fn from(msg: $message) -> Msg {
                Msg::$variant(msg)
            }
        })*
    };
}

part! { Timeline(TimelineMsg), Editor(EditorMsg), Console(ConsoleMsg), Selection(SelectionMsg), Compare(CompareMsg), Replace(ReplaceMsg), Lesson(LessonMsg), Follow(FollowMsg), }

impl Msg {
    /// Whether an apply in progress may go on after a message: it leaves the cluster and its clock alone, or replaces both.
    pub(super) fn keeps_apply(&self) -> bool {
        use TimelineMsg::{Break, Pause, Play, Restart, Settle, Speed, Toggle, Unbreak};
        match self {
            Msg::Timeline(msg) => matches!(
                msg,
                Toggle | Play | Pause | Speed(_) | Settle | Break(_) | Unbreak(_) | Restart
            ),
            Msg::Editor(msg) => matches!(
                msg,
                EditorMsg::Edit(_) | EditorMsg::Check | EditorMsg::Compare | EditorMsg::Prune(_)
            ),
            Msg::Console(msg) => matches!(msg, ConsoleMsg::Interrupt),
            Msg::Selection(msg) => {
                !matches!(msg, SelectionMsg::TryRemedies | SelectionMsg::Remedy(_))
            }
            Msg::Compare(msg) => matches!(msg, CompareMsg::Unmark | CompareMsg::Stage(..)),
            Msg::Apply | Msg::Fault(_) | Msg::Lesson(_) => false,
            Msg::Load(..)
            | Msg::Follow(_)
            | Msg::Stage(..)
            | Msg::Replace(_)
            | Msg::Begin { .. }
            | Msg::CloseOffers
            | Msg::StopDemo => true,
        }
    }
}
