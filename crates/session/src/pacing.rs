//! Frame pacing: the length of engine slices, the time of the next picture, and the read budget before it.
//!
//! Times are milliseconds of the caller's clock; this module reads no clock.

use crate::State;
use crate::causal::CausalClock;
use crate::speed::Pace;
use k8s_model::Time;
use sim_core::deferred_drop;

/// Longest slice of the engine, in milliseconds.
pub const ENGINE_SLICE_MS: f64 = 6.0;
/// Shortest slice, in milliseconds, however late frames come.
pub const LEAST_SLICE_MS: f64 = 2.0;
/// Budget of a frame for reading new writes, in milliseconds.
const READ_BUDGET_MS: f64 = 4.0;
/// Budget for reading and for the picture itself, in the frame of a picture, in milliseconds.
const PICTURE_BUDGET_MS: f64 = 16.0;
/// Longest wait of a picture for Pods that are not read yet, in milliseconds.
const PICTURE_WAIT_MS: f64 = 100.0;
/// Delay of a frame after its request above which it counts as late, in milliseconds.
const LATE_FRAME_MS: f64 = 20.0;
/// Budget for freeing memory, in milliseconds.
const DROP_BUDGET_MS: f64 = 2.0;
/// Share of a slice for freeing memory while freeing lags behind.
const DROP_SHARE_BEHIND: f64 = 0.6;
/// Rest after a picture, as a multiple of its cost: more where frames are late, since the browser paints after the picture is made.
const REST_FACTOR: f64 = 4.0;
const MAX_REST_FACTOR: f64 = 16.0;
/// Cost above which a picture leaves the engine little of its frame, in milliseconds.
const EXPENSIVE_PICTURE_MS: f64 = 4.0;
/// Minimum interval of frames above 100x, in milliseconds.
const FAST_FRAME_MS: f64 = 100.0;
const FAST_SPEED: f64 = 100.0;
/// Tasks between two readings of the clock.
pub const TASKS_PER_CHECK: usize = 4;
/// Entries or Pods read between two readings of the clock.
const READS_PER_CHECK: usize = 64;
/// Parts freed between two readings of the clock.
const DROPS_PER_CHECK: usize = 8;
/// Minimum interval of announcements, in milliseconds: of failures and settling, and of decisions.
const NEWS_INTERVAL_MS: f64 = 2_000.0;
const DECISION_INTERVAL_MS: f64 = 5_000.0;
/// Wait for an animation frame after which the page counts as hidden and its clock rests, in milliseconds.
const HIDDEN_PAGE_MS: f64 = 400.0;
/// Longest time that the clock makes up for between two ticks, in milliseconds.
const MAX_TICK_MS: f64 = 100.0;
/// Longest time that it makes up for after a picture for which it waited, in milliseconds.
const MAX_OWED_MS: f64 = 500.0;

/// Rate of the clock: the last tick, the fraction of a microsecond carried over, and the actual speed.
#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    last_ms: f64,
    carry: f64,
    /// Milliseconds that passed while the clock waited for a picture.
    owed_ms: f64,
    pace: Pace,
}

/// Result of the last slice.
#[derive(Clone, Copy, Debug, Default)]
struct LastSlice {
    /// True if the slice was not used up.
    idle: bool,
    /// True if there is more to free than there was time for.
    drops_behind: bool,
}

/// Schedule of engine slices and pictures that keeps the page responsive.
#[derive(Clone, Debug)]
pub struct FramePacing {
    rate: Rate,
    causal: CausalClock,
    slice_ms: f64,
    last: LastSlice,
    /// Time at which the awaited frame was requested; `None` if none is.
    requested_ms: Option<f64>,
    /// Time of the last frame.
    frame_ms: f64,
    /// Time and cost of the last picture, and the end of the rest in which no new one is made merely because time passes.
    picture_ms: f64,
    picture_cost_ms: f64,
    rest_until_ms: f64,
    rest_factor: f64,
    /// Start of the current frame's work on the picture, and cost of the earlier frames in which its other parts were made.
    making_ms: Option<f64>,
    parts_cost_ms: f64,
    announced_ms: f64,
}

impl FramePacing {
    /// Starts at a time.
    pub fn new(now_ms: f64) -> FramePacing {
        FramePacing {
            rate: Rate {
                last_ms: now_ms,
                ..Rate::default()
            },
            causal: CausalClock::default(),
            slice_ms: ENGINE_SLICE_MS,
            last: LastSlice::default(),
            requested_ms: None,
            frame_ms: 0.0,
            picture_ms: 0.0,
            picture_cost_ms: 0.0,
            rest_until_ms: 0.0,
            rest_factor: REST_FACTOR,
            making_ms: None,
            parts_cost_ms: 0.0,
            announced_ms: 0.0,
        }
    }

    /// The actual speed, if it is lower than requested.
    pub fn reached(&self) -> Option<f64> {
        self.rate.pace.reached()
    }

    /// Virtual microseconds between the last two writes, at the causal pace.
    pub fn since_last_write_us(&self) -> Option<u64> {
        self.causal.since_us()
    }

    /// Returns true if the page is not visible: its requested frame does not come.
    pub fn is_hidden(&self, now_ms: f64) -> bool {
        self.requested_ms
            .is_some_and(|at| now_ms - at > HIDDEN_PAGE_MS)
    }

    /// Length of the next slice: shorter before the frame of the next picture.
    fn slice_at(&self, now_ms: f64) -> f64 {
        let busy = self.requested_ms.is_some()
            && self.picture_cost_ms > EXPENSIVE_PICTURE_MS
            && now_ms + 16.0 > self.rest_until_ms;
        if busy {
            self.slice_ms.min(LEAST_SLICE_MS)
        } else {
            self.slice_ms
        }
    }

    /// Runs one slice: advances the clock by the time passed, or continues work in progress. Returns true if there may be something new to
    /// draw. `announces`: news may be announced; `check` checks for free memory.
    pub fn run_slice(
        &mut self,
        state: &mut State,
        announces: bool,
        clock: &dyn Fn() -> f64,
        check: &mut dyn FnMut(&mut State),
    ) -> bool {
        let now = clock();
        // A picture made in parts is of one instant.
        let draws = state.drawing.is_drawing() && !self.is_hidden(now);
        let passed = (now - self.rate.last_ms).clamp(0.0, MAX_TICK_MS);
        self.rate.last_ms = now;
        let owed = std::mem::take(&mut self.rate.owed_ms);
        if draws {
            self.rate.owed_ms = if state.timeline.playing {
                (owed + passed).min(MAX_OWED_MS)
            } else {
                0.0
            };
            return true;
        }
        let passed = passed + owed;
        let slice = self.slice_at(now);
        let left = || clock() - now < slice;
        let budget = if self.last.drops_behind {
            DROP_BUDGET_MS.max(slice * DROP_SHARE_BEHIND)
        } else {
            DROP_BUDGET_MS
        };
        while (0..DROPS_PER_CHECK).all(|_| deferred_drop::drop_some()) && clock() - now < budget {}
        self.last.drops_behind = deferred_drop::is_waiting();
        if std::mem::take(&mut self.last.idle) {
            state.timeline.run.run_idle_work();
        }
        if state.editor.in_dry_run() {
            while state.editor.in_dry_run() && left() {
                state.dry_run_next();
            }
            return !state.editor.in_dry_run();
        }
        // The clock waits for work in progress.
        if state.timeline.run.goes_on() {
            while state.timeline.run.goes_on() && left() {
                state.poll();
            }
            // A long manifest's result is drawn once all of it is applied.
            return !state.timeline.run.applies();
        }
        if state.timeline.run_until.is_some() {
            while state.timeline.run_until.is_some() && left() {
                state.run_slice(TASKS_PER_CHECK);
            }
            check(state);
            state
                .compare
                .sync_branch(&state.timeline.run, &state.selection, TASKS_PER_CHECK);
            state.poll();
            return true;
        }
        if !state.timeline.playing || self.is_hidden(now) {
            // The branch beside may not have reached the instant shown yet.
            let mut went = false;
            while state.compare.branch.is_some() && left() {
                let there = state.compare.sync_branch(
                    &state.timeline.run,
                    &state.selection,
                    TASKS_PER_CHECK,
                );
                went |= !there;
                if there {
                    break;
                }
            }
            self.last.idle = !went;
            return went;
        }
        if state.timeline.goes_by_cause() {
            self.causal.run(state, passed, &left);
            self.last.idle = true;
            // A speed reached at the real pace says nothing about this one.
            self.rate.pace = Pace::default();
        } else {
            self.run_by_time(state, passed, &left);
        }
        check(state);
        while !state
            .compare
            .sync_branch(&state.timeline.run, &state.selection, TASKS_PER_CHECK)
            && clock() - now < 2.0 * slice
        {}
        let since = now - self.announced_ms;
        if announces && since > NEWS_INTERVAL_MS && state.announce(since > DECISION_INTERVAL_MS) {
            self.announced_ms = now;
        }
        state.poll();
        true
    }

    /// Advances the clock by the time passed.
    fn run_by_time(&mut self, state: &mut State, passed: f64, left: &dyn Fn() -> bool) {
        let wanted = passed * 1000.0 * state.timeline.speed + self.rate.carry;
        let from = state.timeline.run.sim().now().0;
        let to = Time(from + wanted as u64);
        self.rate.carry = wanted.fract();
        while !state.advance(to, TASKS_PER_CHECK) && left() {}
        self.last.idle = state.timeline.run.sim().now() >= to;
        // A followed cluster's speed is its server's.
        let wanted = if state.timeline.run.follows() {
            0.0
        } else {
            wanted
        };
        let went = state.timeline.run.sim().now().0.saturating_sub(from);
        self.rate.pace.slice(passed, wanted, went as f64);
    }

    /// Returns true if a frame is to be requested now: not while one is awaited.
    pub fn request(&mut self, state: &State, now_ms: f64) -> bool {
        let fast = state.timeline.speed > FAST_SPEED && state.timeline.playing;
        // The clock waits for the remaining parts of a picture.
        let fast = fast && !state.drawing.is_drawing();
        let asks = self.requested_ms.is_none() && (!fast || now_ms - self.frame_ms > FAST_FRAME_MS);
        if asks {
            self.requested_ms = Some(now_ms);
        }
        asks
    }

    /// Notes that the frame has come. Late frames make slices shorter and rests longer.
    pub fn frame(&mut self, now_ms: f64) {
        let late = self
            .requested_ms
            .take()
            .is_some_and(|at| now_ms - at > LATE_FRAME_MS);
        self.rest_factor = if late {
            (self.rest_factor * 1.5).min(MAX_REST_FACTOR)
        } else {
            (self.rest_factor - 0.1).max(REST_FACTOR)
        };
        self.slice_ms = if late {
            (self.slice_ms * 0.7).max(LEAST_SLICE_MS)
        } else {
            (self.slice_ms + 0.2).min(ENGINE_SLICE_MS)
        };
        self.frame_ms = now_ms;
    }

    /// Reads new writes within its budget. Returns true if a new picture is to be made; `paced`: the only reason for one is that time
    /// passes.
    pub fn read(&mut self, state: &mut State, paced: bool, clock: &dyn Fn() -> f64) -> bool {
        let begun = clock();
        // Pictures of very many moving objects are made less often, so that drawing leaves most of the time to everything else.
        let drawing = state.drawing.is_drawing();
        let rests = paced && !drawing && begun < self.rest_until_ms;
        // The frame of such a picture has enough to do: most writes are read in the frames before it.
        let most = if rests || !paced {
            READ_BUDGET_MS
        } else {
            (PICTURE_BUDGET_MS - self.picture_cost_ms).clamp(1.0, READ_BUDGET_MS)
        };
        let mut all = state
            .drawing
            .pods
            .read(&state.timeline.run, READS_PER_CHECK);
        while !all && clock() - begun < most {
            all = state
                .drawing
                .pods
                .read(&state.timeline.run, READS_PER_CHECK);
        }
        // A picture shows one instant: it waits for Pods that are not read yet, but not for long. A picture in progress keeps what has been
        // read.
        if rests || !all && (drawing || paced && begun - self.picture_ms < PICTURE_WAIT_MS) {
            return false;
        }
        self.picture_ms = begun;
        self.making_ms = Some(begun);
        true
    }

    /// Notes that the page has been rendered: the picture's cost decides when the next is made. `whole`: no part of it is left.
    pub fn rendered(&mut self, now_ms: f64, whole: bool) {
        if let Some(begun) = self.making_ms.take() {
            let cost = std::mem::take(&mut self.parts_cost_ms) + now_ms - begun;
            if !whole {
                self.parts_cost_ms = cost;
                return;
            }
            // An outlier, as when the browser was busy elsewhere, does not predict the next cost.
            self.picture_cost_ms = cost.min((2.0 * self.picture_cost_ms).max(PICTURE_BUDGET_MS));
            self.rest_until_ms = now_ms + self.rest_factor * self.picture_cost_ms;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::TimelineMsg;
    use std::cell::Cell;

    const WEB: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 3\n  selector: {matchLabels: {app: w}}\n  \
                       template:\n    metadata: {labels: {app: w}}\n    spec: {containers: [{name: c, image: 'nginx:1'}]}\n";

    fn slice(pacing: &mut FramePacing, state: &mut State, clock: &dyn Fn() -> f64) -> bool {
        pacing.run_slice(state, true, clock, &mut |_| {})
    }

    /// Ticks until no part of the manifest is left to apply.
    fn playing() -> State {
        let mut state = State::new(WEB, 1);
        while state.timeline.run.goes_on() {
            state.poll();
        }
        state
    }

    #[test]
    fn the_cluster_goes_as_far_as_the_clock_has_gone() {
        let now = Cell::new(1_000.0);
        let (mut pacing, mut state) = (FramePacing::new(1_000.0), playing());
        let from = state.timeline.run.now();
        for _ in 0..10 {
            now.set(now.get() + 16.0);
            assert!(slice(&mut pacing, &mut state, &|| now.get()));
        }
        assert_eq!(state.timeline.run.now() - from, 160);
        // A pause of the browser is not made up for.
        now.set(now.get() + 60_000.0);
        slice(&mut pacing, &mut state, &|| now.get());
        assert_eq!(state.timeline.run.now() - from, 260);
        assert_eq!(pacing.reached(), None);
        // A clock that is set back makes no time pass, and continues from there.
        now.set(now.get() - 30_000.0);
        slice(&mut pacing, &mut state, &|| now.get());
        assert_eq!(state.timeline.run.now() - from, 260);
        now.set(now.get() + 16.0);
        slice(&mut pacing, &mut state, &|| now.get());
        assert_eq!(state.timeline.run.now() - from, 276);
    }

    #[test]
    fn a_slice_ends_when_its_time_is_over_and_catches_up_later() {
        let now = Cell::new(0.0);
        let (mut pacing, mut state) = (FramePacing::new(0.0), playing());
        state.update(TimelineMsg::Speed(1000.0));
        // Each reading of the clock takes 3 ms: after two the slice is over.
        let slow = || {
            now.set(now.get() + 3.0);
            now.get()
        };
        now.set(50.0);
        slice(&mut pacing, &mut state, &slow);
        let reached = state.timeline.run.now();
        assert!(reached < 50_000, "{reached}");
        assert!(now.get() < 50.0 + 8.0 * 3.0, "{}", now.get());
        for _ in 0..400 {
            slice(&mut pacing, &mut state, &slow);
        }
        assert!(state.timeline.run.now() > reached);
    }

    #[test]
    fn a_hidden_page_pauses() {
        let now = Cell::new(0.0);
        let (mut pacing, mut state) = (FramePacing::new(0.0), playing());
        assert!(pacing.request(&state, 0.0));
        let from = state.timeline.run.now();
        now.set(401.0);
        assert!(!slice(&mut pacing, &mut state, &|| now.get()));
        assert_eq!(state.timeline.run.now(), from);
        assert!(pacing.is_hidden(now.get()) && !pacing.is_hidden(400.0));
        pacing.frame(402.0);
        now.set(410.0);
        assert!(!pacing.is_hidden(60_000.0));
        assert!(slice(&mut pacing, &mut state, &|| now.get()));
        assert!(state.timeline.run.now() > from);
    }

    #[test]
    fn one_frame_is_requested_at_a_time_and_few_at_a_high_speed() {
        let (mut pacing, mut state) = (FramePacing::new(0.0), playing());
        assert!(pacing.request(&state, 200.0));
        assert!(!pacing.request(&state, 201.0));
        pacing.frame(205.0);
        assert!(pacing.request(&state, 206.0));
        pacing.frame(207.0);
        state.update(TimelineMsg::Speed(200.0));
        assert!(!pacing.request(&state, 300.0));
        assert!(pacing.request(&state, 308.0));
    }

    #[test]
    fn late_frames_shorten_slices_and_lengthen_rests_and_both_recover() {
        let (mut pacing, state) = (FramePacing::new(0.0), playing());
        for at in 0..20 {
            let at = f64::from(at) * 100.0;
            assert!(pacing.request(&state, at));
            pacing.frame(at + LATE_FRAME_MS + 1.0);
        }
        assert_eq!(
            (pacing.slice_ms, pacing.rest_factor),
            (LEAST_SLICE_MS, MAX_REST_FACTOR)
        );
        for at in 0..200 {
            let at = 10_000.0 + f64::from(at) * 16.0;
            pacing.request(&state, at);
            pacing.frame(at + 5.0);
        }
        assert_eq!(
            (pacing.slice_ms, pacing.rest_factor),
            (ENGINE_SLICE_MS, REST_FACTOR)
        );
    }

    #[test]
    fn an_expensive_picture_is_followed_by_a_rest_and_a_person_does_not_wait_for_it() {
        let now = Cell::new(1_000.0);
        let clock = || now.get();
        let (mut pacing, mut state) = (FramePacing::new(1_000.0), playing());
        assert!(pacing.read(&mut state, true, &clock));
        now.set(1_010.0);
        pacing.rendered(1_010.0, true);
        // The picture took 10 ms: for 40 ms passing time alone causes no other.
        now.set(1_049.0);
        assert!(!pacing.read(&mut state, true, &clock));
        assert!(pacing.read(&mut state, false, &clock));
        pacing.rendered(1_049.0, true);
        now.set(1_051.0);
        assert!(pacing.read(&mut state, true, &clock));
    }

    #[test]
    fn one_slow_picture_does_not_stop_those_after_it_and_many_do_rest() {
        let now = Cell::new(1_000.0);
        let clock = || now.get();
        let (mut pacing, mut state) = (FramePacing::new(1_000.0), playing());
        pacing.rest_factor = MAX_REST_FACTOR;
        let picture = |pacing: &mut FramePacing, state: &mut State, cost: f64| {
            let from = now.get();
            while !pacing.read(state, true, &clock) {
                now.set(now.get() + 1.0);
            }
            let waited = now.get() - from;
            now.set(now.get() + cost);
            pacing.rendered(now.get(), true);
            waited
        };
        picture(&mut pacing, &mut state, 3.0);
        picture(&mut pacing, &mut state, 130.0);
        assert!(picture(&mut pacing, &mut state, 3.0) < 300.0);
        for _ in 0..5 {
            picture(&mut pacing, &mut state, 130.0);
        }
        assert!(picture(&mut pacing, &mut state, 130.0) > 2_000.0);
    }

    #[test]
    fn the_frame_of_an_expensive_picture_leaves_the_engine_little() {
        let (mut pacing, mut state) = (FramePacing::new(0.0), playing());
        pacing.read(&mut state, false, &|| 0.0);
        pacing.rendered(10.0, true);
        assert_eq!(pacing.slice_at(45.0), ENGINE_SLICE_MS);
        pacing.request(&state, 45.0);
        assert_eq!(pacing.slice_at(45.0), LEAST_SLICE_MS);
        assert_eq!(pacing.slice_at(35.0), LEAST_SLICE_MS);
        assert_eq!(pacing.slice_at(34.0), ENGINE_SLICE_MS);
    }
}
