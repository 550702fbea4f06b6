//! Announcements for screen readers in a polite live region, each made once.

use super::journal_marks::JournalMarks;
use super::run::Run;
use cluster::settled::settles_at;
use explain::{diagnose, standing, words};
use i18n::{Message, msg};
use k8s_model::{ObjectRef, Time};
use projection::adapt;

/// Position up to which news has been announced.
#[derive(Clone, Copy, Default)]
struct Announced {
    /// Number of journal entries.
    entries: usize,
    /// Epoch of the run.
    epoch: u64,
    /// Last change before the cluster was announced as settled.
    settled: Time,
}

/// The notice, and the position up to which news has been announced.
#[derive(Default)]
pub struct Announcer {
    /// Latest notice.
    notice: Message,
    /// True if the notice is about a failure.
    failed: bool,
    announced: Announced,
}

impl Announcer {
    /// Latest notice.
    pub fn notice(&self) -> &Message {
        &self.notice
    }

    /// Returns true if the latest notice is about a failure.
    pub fn failed(&self) -> bool {
        self.failed
    }

    /// Announces a notice.
    pub fn say(&mut self, notice: Message) {
        (self.notice, self.failed) = (notice, false);
    }

    /// Announces a failure.
    pub fn say_failed(&mut self, notice: Message) {
        (self.notice, self.failed) = (notice, true);
    }

    /// Announces news while the clock runs: a failure, that the cluster has settled, and, with `all`, the newest decision. `progress`
    /// returns the status of the workloads. Returns true if there is a new notice.
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
            // After a jump, earlier entries are not news.
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
            // In a replay the last failure of the whole history may lie ahead.
            None if run.in_past() => new
                .iter()
                .rposition(words::is_bad)
                .map(|at| before.entries + at),
            bad => bad,
        };
        if let Some(bad) = bad {
            self.say(
                stuck_because(run, bad)
                    .unwrap_or_else(|| words::announce_step(journal.first(bad + 1))),
            );
        } else if settled != before.settled && run.sim().now() >= settles_at(run.sim()) {
            self.announced.settled = settled;
            self.say(match stuck(run) {
                Some(standing) => msg::notice_stuck_since(settled.0 / 1000, standing),
                None => msg::notice_stable_at(settled.0 / 1000, progress()),
            });
        } else if all && new.iter().any(|entry| !entry.is_event()) {
            self.say(words::announce_step(journal));
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

/// Maximum number of workloads checked for being stuck.
const MAX_WORKLOADS_ASKED: usize = 20;

/// Returns the message of the first stuck workload.
fn stuck(run: &Run) -> Option<Message> {
    let keys: Vec<ObjectRef> = adapt::roots(run.sim())
        .map(|object| object.key())
        .take(MAX_WORKLOADS_ASKED)
        .collect();
    standing::first_stuck(run.sim(), &keys)
}

/// Returns the state of the workload whose object an entry wrote, if it is stuck.
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
            state.marks.read(&state.timeline.run);
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
        // Nothing more happens, and the workload is still stuck.
        state.update(ConsoleMsg::Enter("kubectl get pods".into()));
        state.update(TimelineMsg::Seconds(7));
        let told = said(&mut state, false);
        assert!(told.is_empty() || told.contains(stuck), "{told}");
        // A jump is not news.
        state.update(TimelineMsg::Seek(1_000));
        assert_eq!(said(&mut state, true), "");
    }
}
