//! Messages to the page: one variant per sub-state, and those that concern several.

use super::compare::CompareMsg;
use super::console::ConsoleMsg;
use super::editor::EditorMsg;
use super::follow::FollowMsg;
use super::lesson::LessonMsg;
use super::replace::ReplaceMsg;
use super::selection::SelectionMsg;
use super::stepping::SteppingMsg;
use super::timeline::TimelineMsg;
use fault::Fault;
use views::view::View;

/// Message to the page.
#[derive(Clone, Debug, PartialEq)]
pub enum Msg {
    /// Message to the clock and the history.
    Timeline(TimelineMsg),
    /// Message to the manifest.
    Editor(EditorMsg),
    /// Message to the console.
    Console(ConsoleMsg),
    /// Message to the selection.
    Selection(SelectionMsg),
    /// Message to the comparison.
    Compare(CompareMsg),
    /// Message about starting over.
    Replace(ReplaceMsg),
    /// Message to the lesson.
    Lesson(LessonMsg),
    /// Message to the steps of a pass.
    Stepping(SteppingMsg),
    /// Starts the opening example and its offers.
    Begin {
        /// True if the example plays by itself.
        moves: bool,
    },
    /// Closes the offers.
    CloseOffers,
    /// Stops the script of the example.
    StopDemo,
    /// Applies the manifest at the instant shown.
    Apply,
    /// Replaces the manifest, starts over with it and may show another diagram.
    Load(String, Option<&'static View>),
    /// Injects a fault.
    Fault(Fault),
    /// Message from the cluster that is followed.
    Follow(FollowMsg),
    /// Size of the stage in CSS pixels.
    Stage(f64, f64),
}

/// Converts a message of one sub-state into one of the page.
macro_rules! part {
    ($($variant:ident($message:ty),)*) => {
        $(impl From<$message> for Msg {
            fn from(msg: $message) -> Msg {
                Msg::$variant(msg)
            }
        })*
    };
}

part! { Timeline(TimelineMsg), Editor(EditorMsg), Console(ConsoleMsg), Selection(SelectionMsg), Compare(CompareMsg), Replace(ReplaceMsg), Lesson(LessonMsg), Follow(FollowMsg), Stepping(SteppingMsg), }

impl Msg {
    /// Returns true if an apply in progress may continue after a message: the message leaves the cluster and its clock alone, or replaces
    /// both.
    pub(super) fn keeps_apply(&self) -> bool {
        use TimelineMsg::{
            Break, ByCause, Pause, Play, Rate, Restart, Settle, Speed, Toggle, Unbreak,
        };
        match self {
            Msg::Timeline(msg) => matches!(
                msg,
                Toggle
                    | Play
                    | Pause
                    | Speed(_)
                    | ByCause(_)
                    | Rate(_)
                    | Settle
                    | Break(_)
                    | Unbreak(_)
                    | Restart
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
            Msg::Stepping(_) => true,
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
