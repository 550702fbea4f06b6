//! Starting over with the same manifest, an example or a lesson. If work would be lost the page asks first; it can be undone.

use super::editor::Editor;
use super::examples;
use super::lesson::{LessonFile, Player};
use super::selection::Selection;
use super::timeline::Timeline;

/// New contents of the page.
#[derive(Clone, Debug, PartialEq)]
pub enum Replacement {
    /// Current text.
    StartOver,
    /// An example, by its place in the list.
    Example(usize),
    /// A lesson.
    Lesson(LessonFile),
}

impl Replacement {
    /// Returns the example, if it is one.
    pub fn example(&self) -> Option<&'static examples::Example> {
        match self {
            Replacement::StartOver | Replacement::Lesson(_) => None,
            Replacement::Example(at) => examples::ALL.get(*at),
        }
    }
}

/// Message about starting over.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplaceMsg {
    /// Starts over, or asks first.
    Ask(Replacement),
    /// Starts over as asked.
    Confirm,
    /// Cancels.
    Cancel,
    /// Restores the previous state.
    Undo,
    /// Discards the previous state.
    Dismiss,
}

/// Previous state, kept for undo.
pub struct Before {
    /// Clock and history.
    pub timeline: Timeline,
    /// Manifest.
    pub editor: Editor,
    /// Selection.
    pub selection: Selection,
    /// The lesson that was played.
    pub player: Option<Player>,
    /// True if a person had acted on the cluster.
    pub acted: bool,
}

/// The pending question, and the state kept for undo.
#[derive(Default)]
pub struct Replacing {
    /// Pending question.
    pub asked: Option<Replacement>,
    /// State that undo restores.
    pub before: Option<Box<Before>>,
    /// True if a person has acted on this cluster.
    pub acted: bool,
}

#[cfg(test)]
mod tests {
    use super::{ReplaceMsg, Replacement};
    use crate::console::ConsoleMsg;
    use crate::editor::EditorMsg;
    use crate::examples;
    use crate::timeline::TimelineMsg;
    use crate::{Msg, State};
    use k8s_model::Kind;

    fn opened() -> State {
        let mut state = State::from_link(None);
        state.update(TimelineMsg::Seconds(5));
        state
    }

    #[test]
    fn where_nothing_is_lost_nothing_is_asked() {
        let mut state = opened();
        state.update(ConsoleMsg::Enter("kubectl get pods".into()));
        state.update(ReplaceMsg::Ask(Replacement::Example(2)));
        assert_eq!(
            (
                state.replacing.asked.clone(),
                state.replacing.before.is_some()
            ),
            (None, false)
        );
        assert_eq!(examples::of(&state.editor.text), Some(2));
        assert_eq!(state.selection.view, &views::storage::VIEW);
        state.update(ReplaceMsg::Ask(Replacement::StartOver));
        assert_eq!(
            (state.replacing.asked.clone(), state.timeline.run.now()),
            (None, 0)
        );
    }

    #[test]
    fn a_persons_work_is_asked_about_and_can_be_brought_back() {
        for act in [
            ConsoleMsg::Enter("kubectl scale deployment nginx-deployment --replicas=4".into())
                .into(),
            Msg::Fault("node-down node-1".parse().unwrap()),
        ] {
            let mut state = opened();
            state.update(act);
            state.update(TimelineMsg::Seconds(5));
            state.update(EditorMsg::Edit("# mine\n".into()));
            let before = (
                state.timeline.run.objects(),
                state.timeline.run.now(),
                state.timeline.run.journal().len(),
            );
            state.update(ReplaceMsg::Ask(Replacement::Example(1)));
            assert_eq!(state.replacing.asked.clone(), Some(Replacement::Example(1)));
            state.update(ReplaceMsg::Cancel);
            assert_eq!(
                (state.replacing.asked.clone(), &*state.editor.text),
                (None, "# mine\n")
            );

            state.update(ReplaceMsg::Ask(Replacement::Example(1)));
            state.update(ReplaceMsg::Confirm);
            assert_eq!(
                (examples::of(&state.editor.text), state.timeline.run.now()),
                (Some(1), 0)
            );
            let epoch = state.timeline.run.epoch;
            state.update(ReplaceMsg::Undo);
            assert!(
                state.timeline.run.epoch > epoch,
                "what is derived from the history is read again"
            );
            assert_eq!(
                (
                    state.timeline.run.objects(),
                    state.timeline.run.now(),
                    state.timeline.run.journal().len()
                ),
                before
            );
            assert_eq!(
                (&*state.editor.text, state.replacing.before.is_some()),
                ("# mine\n", false)
            );
            // There is still work to lose.
            state.update(ReplaceMsg::Ask(Replacement::StartOver));
            assert_eq!(state.replacing.asked.clone(), Some(Replacement::StartOver));
        }
    }

    #[test]
    fn text_that_is_not_applied_is_work() {
        let mut state = opened();
        state.update(EditorMsg::Edit("kind: Pod\n".into()));
        state.update(ReplaceMsg::Ask(Replacement::Example(3)));
        assert_eq!(state.replacing.asked.clone(), Some(Replacement::Example(3)));
    }

    #[test]
    fn the_way_back_ends_with_the_next_action() {
        let mut state = opened();
        state.update(Msg::Fault("node-down node-1".parse().unwrap()));
        state.update(ReplaceMsg::Ask(Replacement::StartOver));
        state.update(ReplaceMsg::Confirm);
        assert!(state.replacing.before.is_some());
        assert_eq!(state.timeline.run.sim().store().count(Kind::Deployment), 1);
        state.update(ConsoleMsg::Enter("kubectl get pods".into()));
        assert!(state.replacing.before.is_some());
        state.update(ConsoleMsg::Enter(
            "kubectl delete deployment nginx-deployment".into(),
        ));
        assert!(state.replacing.before.is_none());
    }
}
