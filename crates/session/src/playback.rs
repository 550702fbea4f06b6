//! Playback of an embedded page: markers, idle stretches that are skipped, and looping.

use super::effect::Effect;
use super::run::Run;
use super::timeline::Timeline;
use apiserver::Journal;
use cluster::settled::QUIET_US;
use i18n::Message;
use k8s_model::Time;
use k8s_model::time::SECOND;

/// Longest time searched for the next change; a longer stretch without one counts as the end.
const LOOK_AHEAD_US: u64 = 600 * SECOND;
/// Maximum number of tasks in that search.
const LOOK_AHEAD_TASKS: usize = 10_000;
/// Maximum number of markers read.
const MAX_MARKERS: usize = 100;
/// Longest time read, in seconds: a day.
const MAX_SECONDS: f64 = 86_400.0;
/// Latest instant at which a page opens, in milliseconds: an hour.
const MAX_START_MS: u64 = 3_600_000;

/// Named instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// Milliseconds.
    pub at: u64,
    /// Name; may be empty.
    pub label: String,
}

/// Point that playback has reached.
#[derive(Clone, Debug, PartialEq)]
pub enum Reached {
    /// Marker at this index.
    Marker(usize),
    /// The end, before looping: its time in milliseconds.
    End(u64),
}

/// Function that runs a clock towards a time with a budget of tasks; returns true when there is nothing left to run.
pub type AdvanceClock = fn(&mut Timeline, Time, usize) -> (bool, Vec<Effect>);

/// Playback options, and the points reached that are not reported yet.
#[derive(Clone, Debug, Default)]
pub struct Playback {
    /// Runs the clock. The page opens without it: it is only called through this pointer, so that it is loaded after the first Pods.
    pub advance: Option<AdvanceClock>,
    /// Markers in order of time.
    pub markers: Vec<Marker>,
    /// True if the clock pauses at markers.
    pub pauses: bool,
    /// Longest time without a change, in microseconds.
    idle_limit: Option<u64>,
    /// Instant at which a loop starts, in milliseconds.
    repeats: Option<u64>,
    /// Points reached that are to be reported to the embedding page.
    pub reached: Vec<Reached>,
    /// Cached time of the next change, for a branch, its last change of anything but Events, and its number of commands.
    next: Option<((u32, Time, usize), Option<Time>)>,
}

/// Parses the instant at which a page opens from the parameter `t`, in milliseconds.
pub fn start(parameter: &dyn Fn(&str) -> Option<String>) -> Option<u64> {
    Some(milliseconds(&parameter("t")?)?.min(MAX_START_MS))
}

impl Playback {
    /// Parses the parameters `markers`, `pause-on-markers`, `idle-time-limit`, `loop` and `t`. `None` without any.
    pub fn read(parameter: &dyn Fn(&str) -> Option<String>) -> Option<Box<Playback>> {
        let is_on = |name| parameter(name).is_some_and(|value| value != "0" && value != "false");
        let markers = parameter("markers")
            .map(|text| markers(&text))
            .unwrap_or_default();
        let playback = Playback {
            advance: Some(Timeline::play_on),
            markers,
            pauses: is_on("pause-on-markers"),
            idle_limit: parameter("idle-time-limit")
                .and_then(|text| milliseconds(&text))
                .map(|ms| ms.max(100) * 1000),
            repeats: is_on("loop").then(|| start(parameter).unwrap_or(0)),
            ..Playback::default()
        };
        let asks = !playback.markers.is_empty()
            || playback.idle_limit.is_some()
            || playback.repeats.is_some();
        asks.then(|| Box::new(playback))
    }

    /// Returns the first marker between the instant shown and a time.
    pub fn marker(&self, run: &Run, to: Time) -> Option<usize> {
        let (from, to) = (run.now(), to.0 / 1000);
        self.markers
            .iter()
            .position(|marker| marker.at > from && marker.at <= to)
    }

    /// Returns the time to run to in place of `to`: a longer stretch without a change is skipped up to the next change.
    pub fn over_idle(&mut self, run: &Run, to: Time) -> Time {
        let Some(limit) = self.idle_limit else {
            return to;
        };
        if to.0 <= run.sim().last_change().0.saturating_add(limit) {
            return to;
        }
        self.next_change(run).map_or(to, |next| next.max(to))
    }

    /// Returns the instant in milliseconds at which a loop restarts, once nothing changes any more and no marker is left.
    pub fn begins_again(&mut self, run: &Run) -> Option<u64> {
        let start = self.repeats?;
        let now = run.sim().now();
        let quiet = self.idle_limit.unwrap_or(QUIET_US).min(QUIET_US);
        let rests =
            now.0 >= run.sim().last_change().0.saturating_add(quiet) && now.0 / 1000 > start;
        let over = rests
            && self
                .markers
                .last()
                .is_none_or(|marker| marker.at <= run.now())
            && self.next_change(run).is_none();
        over.then_some(start)
    }

    /// Returns the name of the last marker at an instant, in milliseconds.
    pub fn chapter(&self, now: u64) -> &str {
        self.markers
            .iter()
            .rev()
            .find(|marker| marker.at <= now)
            .map_or("", |marker| &marker.label)
    }

    /// Returns the instant of the next or previous marker, in milliseconds; before the first marker is the beginning.
    fn beside(&self, now: u64, onward: bool) -> Option<u64> {
        let mut all = self.markers.iter().map(|marker| marker.at);
        if onward {
            return all.find(|at| *at > now);
        }
        let before = all.rfind(|at| *at < now).unwrap_or(0);
        (!self.markers.is_empty()).then_some(before)
    }

    fn next_change(&mut self, run: &Run) -> Option<Time> {
        let of = (
            run.branches().0,
            run.sim().last_change(),
            run.command_count(),
        );
        if let Some((kept, next)) = self.next
            && kept == of
        {
            return next;
        }
        let next = next_change(run);
        self.next = Some((of, next));
        next
    }
}

impl Timeline {
    /// Goes to the next or previous marker, reports it, and pauses there.
    pub(super) fn go_to_marker(&mut self, onward: bool) -> Vec<Effect> {
        let Some(mut playback) = self.playback.take() else {
            return Vec::new();
        };
        let to = playback.beside(self.run.now(), onward);
        let mut effects = Vec::new();
        if let Some(at) = to {
            (self.playing, self.resumes, self.run_until) = (false, false, None);
            effects = self.go_to(Time(at.saturating_mul(1000)));
            if let Some(index) = playback.markers.iter().position(|marker| marker.at == at) {
                effects.push(Effect::Announce(Message::name(
                    &playback.markers[index].label,
                )));
                playback.reached.push(Reached::Marker(index));
            }
        }
        self.playback = Some(playback);
        effects
    }

    /// Runs the clock with the page's options: on to the next change, to a marker, or back to the start of the loop.
    pub fn play_on(&mut self, to: Time, budget: usize) -> (bool, Vec<Effect>) {
        let Some(mut playback) = self.playback.take() else {
            return self.advance(to, budget);
        };
        let played = if let Some(start) = playback.begins_again(&self.run) {
            playback.reached.push(Reached::End(self.run.now()));
            self.seek(Time::end_of_ms(start));
            (true, Vec::new())
        } else {
            let to = playback.over_idle(&self.run, to);
            let marker = playback.marker(&self.run, to);
            let at = marker.map_or(to, |index| {
                Time(playback.markers[index].at.saturating_mul(1000))
            });
            let (done, mut effects) = self.advance(at, budget);
            if let Some(index) = marker.filter(|_| self.run.sim().now() >= at) {
                self.playing &= !playback.pauses;
                effects.push(Effect::Announce(Message::name(
                    &playback.markers[index].label,
                )));
                playback.reached.push(Reached::Marker(index));
            }
            (done, effects)
        };
        self.playback = Some(playback);
        played
    }
}

/// Time of the next change after the instant shown; `None` if there is none for a while.
fn next_change(run: &Run) -> Option<Time> {
    let first = |journal: Journal<'_>, since| {
        journal
            .from(since)
            .iter()
            .find(|entry| !entry.is_event())
            .map(|entry| entry.time)
    };
    if let Some(known) = first(run.journal(), run.happened()) {
        return Some(known);
    }
    let mut sim = run.newest().clone();
    let (until, since) = (sim.now().after(LOOK_AHEAD_US), sim.journal().len());
    for _ in 0..LOOK_AHEAD_TASKS {
        sim.tasks.next_due().filter(|at| *at <= until)?;
        sim.step();
        if let Some(next) = first(sim.journal(), since) {
            return Some(next);
        }
    }
    None
}

/// Parses seconds into milliseconds.
fn milliseconds(text: &str) -> Option<u64> {
    let seconds = text
        .trim()
        .trim_end_matches('s')
        .parse::<f64>()
        .ok()
        .filter(|seconds| (0.0..=MAX_SECONDS).contains(seconds))?;
    Some((seconds * 1000.0) as u64)
}

/// Parses markers such as `3:Scaled, 12.5:Ready, 20` and sorts them by time; parts without a time are skipped.
fn markers(text: &str) -> Vec<Marker> {
    let marker = |part: &str| {
        let (at, label) = part.split_once(':').unwrap_or((part, ""));
        Some(Marker {
            at: milliseconds(at)?,
            label: label.trim().to_owned(),
        })
    };
    let mut all: Vec<Marker> = text
        .split(',')
        .filter_map(marker)
        .take(MAX_MARKERS)
        .collect();
    all.sort_by_key(|marker| marker.at);
    all.dedup_by_key(|marker| marker.at);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;
    use crate::console::ConsoleMsg;
    use crate::timeline::TimelineMsg;

    const WEB: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 2\n  selector: {matchLabels: {app: w}}\n  \
                       template:\n    metadata: {labels: {app: w}}\n    spec: {containers: [{name: c, image: 'nginx:1'}]}\n";

    fn state(parameters: &[(&str, &str)]) -> State {
        let mut state = State::new(WEB, 1);
        while state.timeline.run.goes_on() {
            state.poll();
        }
        let find = |name: &str| {
            parameters
                .iter()
                .find(|(of, _)| *of == name)
                .map(|(_, value)| (*value).to_owned())
        };
        state.timeline.playback = Playback::read(&find);
        if let Some(ms) = start(&find) {
            state.update(TimelineMsg::StartAt(ms));
        }
        state
    }

    /// Plays slices of 100 ms, and returns the instants shown after each.
    fn play(state: &mut State, slices: usize) -> Vec<u64> {
        let mut seen = Vec::new();
        for _ in 0..slices {
            if state.timeline.playing {
                let to = Time(state.timeline.run.sim().now().0 + 100_000);
                while state.timeline.run_until.is_none() && !state.advance(to, 4) {}
                while state.timeline.run_until.is_some() {
                    state.run_slice(64);
                }
            }
            seen.push(state.timeline.run.now());
        }
        seen
    }

    #[test]
    fn parameters_are_read_and_what_is_wrong_in_them_is_left_out() {
        assert!(Playback::read(&|_| None).is_none());
        assert!(Playback::read(&|name| (name == "loop").then(|| "0".to_owned())).is_none());
        let found = markers("12.5: Ready ,3:Scaled: twice,x:no,-1:no,20,3,1e99:no,NaN:no");
        let found: Vec<(u64, &str)> = found
            .iter()
            .map(|marker| (marker.at, marker.label.as_str()))
            .collect();
        assert_eq!(
            found,
            [(3_000, "Scaled: twice"), (12_500, "Ready"), (20_000, "")]
        );
        assert_eq!(markers(&"1,".repeat(500)).len(), 1);
    }

    #[test]
    fn the_clock_stops_at_a_marker_and_goes_on_from_it() {
        let mut state = state(&[
            ("markers", "0.25:First, 1:Second"),
            ("pause-on-markers", "1"),
        ]);
        play(&mut state, 20);
        assert_eq!(
            (state.timeline.run.now(), state.timeline.playing),
            (250, false)
        );
        let playback = |state: &State| state.timeline.playback.clone().unwrap_or_default();
        assert_eq!(playback(&state).reached, [Reached::Marker(0)]);
        assert_eq!(
            (playback(&state).chapter(249), playback(&state).chapter(999)),
            ("", "First")
        );
        let beside = |now| {
            (
                playback(&state).beside(now, false),
                playback(&state).beside(now, true),
            )
        };
        assert_eq!(
            [beside(0), beside(250), beside(600), beside(1_000)],
            [
                (Some(0), Some(250)),
                (Some(0), Some(1_000)),
                (Some(250), Some(1_000)),
                (Some(250), None)
            ]
        );
        assert_eq!(
            (
                Playback::default().beside(9, false),
                Playback::default().beside(9, true)
            ),
            (None, None)
        );
        state.update(TimelineMsg::Play);
        play(&mut state, 20);
        assert_eq!(
            (state.timeline.run.now(), state.timeline.playing),
            (1_000, false)
        );
        // In the past as well.
        state.update(TimelineMsg::Seek(100));
        state.update(TimelineMsg::Play);
        play(&mut state, 20);
        assert_eq!(
            (state.timeline.run.now(), state.timeline.playing),
            (250, false)
        );
        state.update(TimelineMsg::Play);
        play(&mut state, 40);
        state.update(TimelineMsg::Play);
        play(&mut state, 10);
        assert_eq!(
            (state.timeline.run.now() > 1_500, state.timeline.playing),
            (true, true)
        );
    }

    #[test]
    fn a_marker_that_is_gone_to_is_told_and_the_clock_rests_there() {
        let mut state = state(&[("markers", "0.25:First, 1:Second")]);
        let playback = |state: &State| state.timeline.playback.clone().unwrap_or_default();
        state.update(TimelineMsg::Play);
        play(&mut state, 20);
        state.update(TimelineMsg::Seek(600));
        state.update(TimelineMsg::Play);
        state.update(TimelineMsg::Marker(true));
        while state.timeline.run_until.is_some() {
            state.run_slice(1_000_000);
        }
        assert_eq!(
            (state.timeline.run.now(), state.timeline.playing),
            (1_000, false)
        );
        assert_eq!(playback(&state).reached.last(), Some(&Reached::Marker(1)));
        state.update(TimelineMsg::Play);
        state.update(TimelineMsg::Marker(false));
        assert_eq!(
            (state.timeline.run.now(), state.timeline.playing),
            (250, false)
        );
        assert_eq!(playback(&state).reached.last(), Some(&Reached::Marker(0)));
    }

    #[test]
    fn a_stretch_without_a_change_is_skipped_and_nothing_of_it_is_lost() {
        let late = "kubectl patch deployment web -p '{\"spec\":{\"minReadySeconds\":60}}'";
        let end = |parameters| {
            let mut state = state(parameters);
            play(&mut state, 100);
            state.update(ConsoleMsg::Enter(late.into()));
            state.update(ConsoleMsg::Enter(
                "kubectl scale deployment web --replicas=3".into(),
            ));
            let slices = play(&mut state, 1_600);
            let available = |state: &State| {
                let entries = state.timeline.run.journal();
                let last = entries
                    .iter()
                    .rev()
                    .find(|entry| !entry.is_event())
                    .map(|entry| entry.time);
                (
                    last,
                    entries.iter().filter(|entry| !entry.is_event()).count(),
                )
            };
            let reached = available(&state).0.map_or(0, |last| last.0 / 1000);
            (
                available(&state),
                slices.iter().position(|at| *at >= reached),
            )
        };
        let (whole, long) = end(&[]);
        let (skipped, short) = end(&[("idle-time-limit", "1")]);
        assert_eq!(whole, skipped);
        assert!(
            long > Some(1_100) && short < Some(300),
            "{long:?} {short:?}"
        );
    }

    #[test]
    fn it_begins_again_when_nothing_changes_any_more() {
        let mut state = state(&[("loop", ""), ("t", "0.5")]);
        assert_eq!(state.timeline.run.now(), 500);
        let seen = play(&mut state, 400);
        let turns = seen.windows(2).filter(|pair| pair[1] < pair[0]).count();
        assert!(turns >= 2, "{turns} {seen:?}");
        // Playback restarts at the start of the loop, and reaches the same end each time.
        assert!(
            seen.windows(2)
                .filter(|pair| pair[1] < pair[0])
                .all(|pair| pair[1] == 500),
            "{seen:?}"
        );
        assert!(
            state.timeline.playing
                && state
                    .timeline
                    .playback
                    .as_ref()
                    .is_some_and(|one| one.reached.len() == turns)
        );
    }

    #[test]
    fn a_clock_that_nothing_was_asked_of_goes_on() {
        let mut state = state(&[]);
        let seen = play(&mut state, 300);
        assert_eq!(seen.last(), Some(&30_000));
    }
}
