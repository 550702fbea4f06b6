//! Marks of the timeline, read incrementally from the journal.

use super::run::Run;
use explain::words;
use projection::marks::{Mark, Marks};
use std::rc::Rc;

/// Journal entries read at a time.
pub const READ_ENTRIES: usize = 5_000;

/// The other side of a fork, for the timeline.
#[derive(Debug, PartialEq)]
pub struct AbandonedBranch {
    /// Number of the branch that begins at the fork.
    pub number: u32,
    /// Milliseconds.
    pub at: u64,
    /// End of the other branch, in milliseconds.
    pub end: u64,
    /// Marks of the other branch after the fork.
    pub marks: Rc<Vec<Mark>>,
}

/// The marks, and the position in the journal up to which they were read.
#[derive(Default)]
pub struct JournalMarks {
    marks: Marks,
    scanned: usize,
    /// Last entry of a failure among those read.
    last_bad: Option<usize>,
    abandoned: Option<Option<Rc<AbandonedBranch>>>,
}

impl JournalMarks {
    /// Reads and returns the marks of the timeline, also those after the instant shown.
    pub fn read(&mut self, run: &Run) -> Rc<Vec<Mark>> {
        let journal = run.journal();
        for (at, entry) in
            (self.scanned..).zip(journal.from(self.scanned).first(READ_ENTRIES).iter())
        {
            let Some(mark) = words::mark(entry) else {
                continue;
            };
            if mark.bad {
                self.last_bad = Some(at);
            }
            self.marks.push(mark);
        }
        self.scanned = journal.len().min(self.scanned + READ_ENTRIES);
        self.marks.all()
    }

    /// Number of entries read.
    pub fn scanned(&self) -> usize {
        self.scanned
    }

    /// Last entry of a failure among those read.
    pub fn last_bad(&self) -> Option<usize> {
        self.last_bad
    }

    /// Returns the abandoned branch, or the last one forked from this one: the fork, and what happened on the branch after it.
    pub fn abandoned_branch(&mut self, run: &Run) -> Option<Rc<AbandonedBranch>> {
        let read = || {
            let (fork, journal, end) = run.fork()?;
            let since =
                journal.from(journal.partition_point(|entry| entry.time.0 / 1000 <= fork.at));
            let mut marks = Marks::default();
            since
                .iter()
                .filter_map(words::mark)
                .for_each(|mark| marks.push(mark));
            let marks = marks.all();
            Some(Rc::new(AbandonedBranch {
                number: fork.number,
                at: fork.at,
                end,
                marks,
            }))
        };
        self.abandoned.get_or_insert_with(read).clone()
    }

    /// Discards the abandoned branch when the branches have changed.
    pub fn forget_branch(&mut self) {
        self.abandoned = None;
    }
}

#[cfg(test)]
mod tests {
    use crate::State;
    use crate::console::ConsoleMsg;
    use crate::examples;
    use crate::tests::settled;
    use crate::timeline::TimelineMsg;

    #[test]
    fn a_read_only_command_leaves_no_mark_and_no_step() {
        let mut state = settled((examples::ALL[0].text)());
        let user = |state: &mut State| {
            state
                .marks
                .read(&state.timeline.run)
                .iter()
                .filter(|mark| mark.lane == projection::marks::Lane::User)
                .count()
        };
        let before = user(&mut state);
        for line in [
            "kubectl get pods -o wide",
            "-n default describe pod x",
            "kubectl rollout history deployment nginx-deployment",
        ] {
            state.update(ConsoleMsg::Enter(line.into()));
        }
        assert_eq!(user(&mut state), before);
        state.update(TimelineMsg::Jump(false));
        assert_eq!(state.timeline.run.now(), 0);
        state.update(TimelineMsg::Live);
        state.update(ConsoleMsg::Enter(
            "kubectl rollout restart deployment nginx-deployment".into(),
        ));
        assert!(user(&mut state) > before);
    }
}
