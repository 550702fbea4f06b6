//! Announcements for screen readers, each once, in a polite live region.

use super::journal_marks::JournalMarks;
use super::quiet::quiet_from;
use super::run::Run;
use explain::{diagnose, standing, words};
use i18n::{Message, msg};
use k8s_model::{ObjectRef, Time};
use projection::adapt;

/// How much has been announced.
#[derive(Clone, Copy, Default)]
struct Announced {
    /// Entries of the journal.
    entries: usize,
    /// In this epoch of the run.
    epoch: u64,
    /// The last change before the cluster was announced as settled.
    settled: Time,
}

/// The notice, and how much has been announced.
#[derive(Default)]
pub struct Announcer {
    /// The latest notice.
    notice: Message,
    /// Whether the notice is about something that failed.
    failed: bool,
    announced: Announced,
}

impl Announcer {
    /// The latest notice.
    pub fn notice(&self) -> &Message {
        &self.notice
    }

    /// Whether the latest notice is about something that failed.
    pub fn failed(&self) -> bool {
        self.failed
    }

    /// Says that something happened.
    pub fn say(&mut self, notice: Message) {
        (self.notice, self.failed) = (notice, false);
    }

    /// Says that something failed.
    pub fn say_failed(&mut self, notice: Message) {
        (self.notice, self.failed) = (notice, true);
    }

    /// Announces news while the clock runs: a failure, that the cluster has settled, and, with `all`, the newest decision.
    /// `progress` returns the status of the workloads. True when there is a new notice.
    pub fn announce(
        &mut self,
        all: bool,
        run: &Run,
        marks: &JournalMarks,
        progress: impl FnOnce() -> Message,
    ) -> bool {
        let (happened, epoch, settled) = (run.happened(), run.epoch, run.sim().last_change());
        let before = self.announced;
        if before.epoch != epoch || before.entries > happened {
            // After a jump what lies behind is not news.
            self.announced = Announced {
                entries: happened,
                epoch,
                ..before
            };
            return false;
        }
        let journal = run.journal().first(happened);
        let new = journal.from(before.entries);
        let bad = match marks
            .last_bad()
            .filter(|at| (before.entries..happened).contains(at))
        {
            // What is repeated lies before the last failure of all.
            None if run.in_past() => new
                .iter()
                .rposition(words::is_bad)
                .map(|at| before.entries + at),
            bad => bad,
        };
        if let Some(bad) = bad {
            self.say(
                stuck_because(run, bad).unwrap_or_else(|| words::narrate(journal.first(bad + 1))),
            );
        } else if settled != before.settled && run.sim().now() >= quiet_from(run.sim()) {
            self.announced.settled = settled;
            self.say(match stuck(run) {
                Some(standing) => msg::notice_stuck_since(settled.0 / 1000, standing),
                None => msg::notice_stable_at(settled.0 / 1000, progress()),
            });
        } else if all && new.iter().any(|entry| !entry.is_event()) {
            self.say(words::narrate(journal));
        } else {
            return false;
        }
        self.announced.entries = marks
            .scanned()
            .clamp(before.entries, happened)
            .max(bad.map_or(0, |bad| bad + 1));
        true
    }
}

/// Workloads asked whether they are stuck.
const MAX_WORKLOADS_ASKED: usize = 20;

/// The first workload that is stuck.
fn stuck(run: &Run) -> Option<Message> {
    let keys: Vec<ObjectRef> = adapt::roots(run.sim())
        .map(|object| object.key())
        .take(MAX_WORKLOADS_ASKED)
        .collect();
    standing::first_stuck(run.sim(), &keys)
}

/// Where the workload stands whose object an entry wrote, if that is stuck.
fn stuck_because(run: &Run, entry: usize) -> Option<Message> {
    let key = run.journal().get(entry)?.key()?;
    let owner = diagnose::owners(run.sim(), &key).pop().unwrap_or(key);
    standing::first_stuck(run.sim(), [&owner])
}

#[cfg(test)]
mod tests {
    use crate::State;
    use crate::console::ConsoleMsg;
    use crate::examples;
    use crate::timeline::TimelineMsg;

    #[test]
    fn failures_and_settling_are_announced_once() {
        let mut state = State::new((examples::ALL[0].text)(), 1);
        let said = |state: &mut State, all: bool| {
            state.picture();
            state.marks();
            if state.announce(all) {
                state.announcer.notice().to_string()
            } else {
                String::new()
            }
        };
        said(&mut state, false);
        state.update(TimelineMsg::Seconds(1));
        assert_eq!(said(&mut state, false), "");
        assert!(
            said(&mut state, true).contains("-controller: ")
                || state.announcer.notice().contains("kubelet"),
            "{}",
            state.announcer.notice()
        );
        state.update(TimelineMsg::Seconds(10));
        let settled = said(&mut state, true);
        assert!(
            settled.starts_with("Stable since 00:0") && settled.ends_with(": All Pods are Ready"),
            "{settled}"
        );
        state.update(TimelineMsg::Seconds(10));
        assert_eq!(said(&mut state, true), "");
        state.update(ConsoleMsg::Enter(
            "kubectl set image deployment/nginx-deployment nginx=nginx:nonexistent".into(),
        ));
        state.update(TimelineMsg::Seconds(20));
        let stuck = "Deployment nginx-deployment: Rollout waiting: 0 of 2 new Pods are ready. Image nginx:nonexistent cannot be pulled (Pod ";
        let told = said(&mut state, false);
        assert!(told.starts_with(stuck), "{told}");
        // Nothing more happens, and nothing is well.
        state.update(ConsoleMsg::Enter("kubectl get pods".into()));
        state.update(TimelineMsg::Seconds(7));
        let told = said(&mut state, false);
        assert!(told.is_empty() || told.contains(stuck), "{told}");
        // A jump is not news.
        state.update(TimelineMsg::Seek(1_000));
        assert_eq!(said(&mut state, true), "");
    }
}
