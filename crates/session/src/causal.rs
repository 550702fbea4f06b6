//! Causal pace of the clock: time stands still for a moment after each pass that wrote something, so that a write is seen before the pass
//! that it causes, and goes faster the longer nothing is written. Only the pace differs: the history is that of any other pace.

use crate::State;
use apiserver::{Actor, Component, Entry, Op};
use k8s_model::{Kind, Time};

/// Time for which the clock stands still after the first write of its kind, in milliseconds at 1×.
const HOLD_MS: f64 = 1_000.0;
/// Factor of the hold from one write of a kind to the next of that kind.
const HOLD_DECAY: f64 = 0.6;
/// Shortest hold, in milliseconds; a write that would be held for less does not stop the clock.
const MIN_HOLD_MS: f64 = 16.0;
/// Quiet time after which the clock goes faster, in virtual microseconds.
const QUIET_US: u64 = 1_000_000;
/// Growth of the rate with each further quiet second, and its limit.
const QUIET_RATE: f64 = 1.0;
const MAX_QUIET_RATE: f64 = 10.0;
/// Quiet time after which a write is again the first of its kind, in virtual microseconds.
const FORGET_US: u64 = 5_000_000;

/// Kind of a write: its writer, and what was written.
type WriteKind = (Component, Option<Kind>, Option<Op>);

/// Clock of the causal pace.
#[derive(Clone, Debug, Default)]
pub struct CausalClock {
    /// Branch and number of journal entries that were seen.
    seen: Option<(u64, usize)>,
    /// Time for which the clock still stands, in milliseconds at 1×.
    hold_ms: f64,
    /// Time of the last write, and its distance from the one before.
    last: Option<Time>,
    since_us: Option<u64>,
    /// Number of writes of each kind since the last quiet time or action of a person.
    repeats: Vec<(WriteKind, i32)>,
    /// Fraction of a microsecond carried over.
    carry: f64,
}

impl CausalClock {
    /// Virtual microseconds between the last two writes.
    pub fn since_us(&self) -> Option<u64> {
        self.since_us
    }

    /// Advances the cluster by as much as `ms` milliseconds show of it, while there is time `left`.
    pub(crate) fn run(&mut self, state: &mut State, ms: f64, left: &dyn Fn() -> bool) {
        let mut ms = ms * state.timeline.speed;
        self.observe(state);
        loop {
            let held = self.hold_ms.min(ms);
            self.hold_ms -= held;
            ms -= held;
            if ms <= 0.0 || !state.timeline.playing {
                return;
            }
            let from = state.timeline.run.sim().now();
            let rate = self.rate(from);
            let wanted = ms * 1000.0 * rate + self.carry;
            let to = Time(from.0 + wanted as u64);
            self.carry = wanted.fract();
            // One task at a time: the clock stops at the first that writes.
            loop {
                let done = state.advance(to, 1);
                if self.observe(state) || done || !left() {
                    break;
                }
            }
            let now = state.timeline.run.sim().now();
            if now >= to || self.hold_ms <= 0.0 {
                return;
            }
            ms -= now.0.saturating_sub(from.0) as f64 / 1000.0 / rate;
            self.carry = 0.0;
        }
    }

    /// Virtual time per time, at 1×.
    fn rate(&self, now: Time) -> f64 {
        let quiet = self.last.map_or(0, |last| now.0.saturating_sub(last.0));
        let over = quiet.saturating_sub(QUIET_US) as f64 / 1e6;
        (1.0 + QUIET_RATE * over).min(MAX_QUIET_RATE)
    }

    /// Notes the entries that are new since the last call; returns true if the clock is to stand still after them.
    fn observe(&mut self, state: &State) -> bool {
        let run = &state.timeline.run;
        let (epoch, happened) = (run.epoch, run.happened());
        let seen = match self.seen.replace((epoch, happened)) {
            Some((of, seen)) if of == epoch && seen <= happened => seen,
            // Another history, or an earlier instant: what it shows was not written just now.
            _ => {
                *self = CausalClock {
                    seen: self.seen,
                    last: Some(run.sim().now()),
                    ..CausalClock::default()
                };
                return false;
            }
        };
        let mut holds = false;
        for entry in run.journal().first(happened).from(seen).iter() {
            if !entry.is_event() {
                holds |= self.note(entry);
            }
        }
        holds
    }

    /// Counts a write, and returns the number of earlier ones of its kind.
    fn count(&mut self, kind: WriteKind) -> i32 {
        match self.repeats.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, times)) => {
                *times += 1;
                *times
            }
            None => {
                self.repeats.push((kind, 0));
                0
            }
        }
    }

    fn note(&mut self, entry: &Entry) -> bool {
        let since = self.last.map(|last| entry.time.0.saturating_sub(last.0));
        if entry.is_command() || since.is_some_and(|since| since > FORGET_US) {
            self.repeats.clear();
        }
        (self.last, self.since_us) = (Some(entry.time), since);
        let write = entry.write();
        let kind = (
            entry.actor.component,
            write.map(|(_, object)| object.kind),
            write.map(|(op, _)| op),
        );
        let hold = HOLD_MS * HOLD_DECAY.powi(self.count(kind));
        // A person's own writes are one action.
        let hold = if entry.actor == Actor::USER && !entry.is_command() {
            0.0
        } else {
            hold
        };
        if hold < MIN_HOLD_MS {
            return false;
        }
        self.hold_ms = self.hold_ms.max(hold);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples;
    use crate::pacing::FramePacing;
    use crate::tests::ready;
    use crate::timeline::TimelineMsg;
    use std::cell::Cell;

    const FRAME_MS: f64 = 16.0;

    /// Plays for so many milliseconds, and returns how many of the slices showed something new.
    fn play(pacing: &mut FramePacing, state: &mut State, clock: &Cell<f64>, ms: f64) -> usize {
        let mut moments = 0;
        let end = clock.get() + ms;
        while clock.get() < end {
            clock.set(clock.get() + FRAME_MS);
            let before = state.timeline.run.journal().len();
            pacing.run_slice(state, false, &|| clock.get(), &mut |_| {});
            moments += usize::from(state.timeline.run.journal().len() > before);
        }
        moments
    }

    fn opened(by_cause: bool) -> State {
        let mut state = State::new((examples::ALL[0].text)(), 1);
        while state.timeline.run.goes_on() {
            state.poll();
        }
        state.update(TimelineMsg::ByCause(by_cause));
        state
    }

    #[test]
    fn a_burst_is_spread_over_seconds() {
        let mut moments = Vec::new();
        for by_cause in [false, true] {
            let clock = Cell::new(1_000.0);
            let (mut pacing, mut state) = (FramePacing::new(1_000.0), opened(by_cause));
            let mut frames = 0;
            while ready(&state.timeline.run) < 2 {
                frames += play(&mut pacing, &mut state, &clock, FRAME_MS);
                assert!(clock.get() < 60_000.0, "the Pods become ready");
            }
            moments.push((frames, clock.get() - 1_000.0));
        }
        let [(real, real_ms), (causal, causal_ms)] = moments[..] else {
            panic!("two runs")
        };
        assert!(causal > 2 * real, "{causal} moments, {real} in real time");
        assert!(
            causal_ms > 2.0 * real_ms && causal_ms < 30_000.0,
            "{causal_ms} ms, {real_ms} in real time"
        );
    }

    #[test]
    fn the_history_is_that_of_any_pace() {
        let written = |state: &mut State| {
            // Both end at one instant.
            while state.timeline.run.now() < 120_000 {
                state.advance(Time(120_000_000), usize::MAX);
            }
            let journal = state.timeline.run.journal();
            format!("{:?}", journal.iter().collect::<Vec<_>>())
        };
        let mut causal = opened(true);
        let clock = Cell::new(0.0);
        let mut pacing = FramePacing::new(0.0);
        play(&mut pacing, &mut causal, &clock, 12_000.0);
        assert!(causal.timeline.run.now() < 120_000);
        assert_eq!(written(&mut causal), written(&mut opened(false)));
    }

    #[test]
    fn a_quiet_cluster_is_shortened() {
        let mut state = opened(true);
        state.advance(Time(60_000_000), usize::MAX);
        let from = state.timeline.run.now();
        let clock = Cell::new(0.0);
        play(&mut FramePacing::new(0.0), &mut state, &clock, 5_000.0);
        let went = state.timeline.run.now() - from;
        assert!(went > 10_000, "{went} ms of the cluster in 5 s");
    }

    #[test]
    fn a_replay_is_held_at_its_writes_too() {
        let mut state = opened(false);
        state.advance(Time(20_000_000), usize::MAX);
        state.update(TimelineMsg::Seek(0));
        state.update(TimelineMsg::ByCause(true));
        state.update(TimelineMsg::Play);
        let clock = Cell::new(0.0);
        play(&mut FramePacing::new(0.0), &mut state, &clock, 3_000.0);
        assert!(state.timeline.run.in_past() && state.timeline.run.now() < 3_000);
    }
}
