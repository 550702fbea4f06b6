//! Frame pacing: how long the engine runs at a time, when the next picture is made, and how much is read before it.
//!
//! Times are milliseconds of the caller's clock; nothing here reads a clock by itself.

use crate::State;
use crate::speed::Pace;
use k8s_model::Time;
use sim_core::deferred_drop;

/// Milliseconds the engine may take at a time.
pub const ENGINE_SLICE_MS: f64 = 6.0;
/// It takes less where frames come late, but never less than this.
pub const LEAST_SLICE_MS: f64 = 2.0;
/// Milliseconds of a frame for reading what has been written.
const READ_BUDGET_MS: f64 = 4.0;
/// The same and the picture itself, in the frame of a picture.
const PICTURE_BUDGET_MS: f64 = 16.0;
/// Milliseconds for which the next picture waits for Pods that are not read yet.
const PICTURE_WAIT_MS: f64 = 100.0;
/// A frame that comes later than this after its request is late.
const LATE_FRAME_MS: f64 = 20.0;
/// Milliseconds for giving back memory.
const DROP_BUDGET_MS: f64 = 2.0;
/// The share of a slice for the same where more has been let go than that was enough for.
const DROP_SHARE_BEHIND: f64 = 0.6;
/// After a picture, none is made for this multiple of its cost: more where frames are late, since the browser paints after the
/// picture is made.
const REST_FACTOR: f64 = 4.0;
const MAX_REST_FACTOR: f64 = 16.0;
/// A picture that takes longer leaves the engine little of its frame.
const EXPENSIVE_PICTURE_MS: f64 = 4.0;
/// Above 100x there are at most ten frames a second.
const FAST_FRAME_MS: f64 = 100.0;
const FAST_SPEED: f64 = 100.0;
/// Tasks between two looks at the clock.
pub const TASKS_PER_CHECK: usize = 4;
/// Entries or Pods read between two looks at the clock.
const READS_PER_CHECK: usize = 64;
/// Parts given back between two looks at the clock.
const DROPS_PER_CHECK: usize = 8;
/// Milliseconds between two announcements of what fails or settles, and of anything else.
const NEWS_INTERVAL_MS: f64 = 2_000.0;
const DECISION_INTERVAL_MS: f64 = 5_000.0;
/// Without an animation frame for so long, the page is not visible, and its clock rests.
const HIDDEN_PAGE_MS: f64 = 400.0;
/// The clock does not make up for more than this between two ticks.
const MAX_TICK_MS: f64 = 100.0;
/// Nor for more than this after a picture for which it waited.
const MAX_OWED_MS: f64 = 500.0;

/// The clock's rate: the last tick, the fraction of a microsecond left over, and the speed that is reached.
#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    last_ms: f64,
    carry: f64,
    /// Milliseconds that passed while the clock waited for a picture.
    owed_ms: f64,
    pace: Pace,
}

/// What the last slice left.
#[derive(Clone, Copy, Debug, Default)]
struct LastSlice {
    /// It was not needed to its end.
    idle: bool,
    /// More is to be given back than it had time for.
    drops_behind: bool,
}

/// Slices of the engine and pictures, so that the page stays responsive.
#[derive(Clone, Copy, Debug)]
pub struct FramePacing {
    rate: Rate,
    slice_ms: f64,
    last: LastSlice,
    /// When the frame that is awaited was requested.
    requested_ms: Option<f64>,
    /// When the last frame came.
    frame_ms: f64,
    /// When the last picture was made, what it cost, and until when no new one is made only because time passes.
    picture_ms: f64,
    picture_cost_ms: f64,
    rest_until_ms: f64,
    rest_factor: f64,
    /// Since when the picture of this frame is being made, and what the frames before cost in which its other parts were made.
    making_ms: Option<f64>,
    parts_cost_ms: f64,
    announced_ms: f64,
}

impl FramePacing {
    /// Begins at a time.
    pub fn new(now_ms: f64) -> FramePacing {
        FramePacing {
            rate: Rate {
                last_ms: now_ms,
                ..Rate::default()
            },
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

    /// Whether the page is not visible: the frame that it has asked for does not come.
    pub fn is_hidden(&self, now_ms: f64) -> bool {
        self.requested_ms
            .is_some_and(|at| now_ms - at > HIDDEN_PAGE_MS)
    }

    /// The engine's slice: shorter before the frame with the next picture, which has enough to do.
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

    /// Runs one slice: lets the clock run for the time that has passed, or goes on with what goes on by itself. True when there may
    /// be something new to draw. `announces`: whether news may be announced; `check` looks at the room that is left.
    pub fn run_slice(
        &mut self,
        state: &mut State,
        announces: bool,
        clock: &dyn Fn() -> f64,
        check: &mut dyn FnMut(&mut State),
    ) -> bool {
        let now = clock();
        // A picture that is made in parts is of one instant.
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
        if state.in_dry_run() {
            while state.in_dry_run() && left() {
                state.dry_run_next();
            }
            return !state.in_dry_run();
        }
        // The clock waits for what goes on by itself.
        if state.timeline.run.goes_on() {
            while state.timeline.run.goes_on() && left() {
                state.poll();
            }
            // What a long manifest comes to is drawn when all of it is there.
            return !state.timeline.run.applies();
        }
        if state.timeline.run_until.is_some() {
            while state.timeline.run_until.is_some() && left() {
                state.run_slice(TASKS_PER_CHECK);
            }
            check(state);
            state.sync_branch(TASKS_PER_CHECK);
            state.poll();
            return true;
        }
        if !state.timeline.playing || self.is_hidden(now) {
            // The branch beside may still be on its way to the instant shown.
            let mut went = false;
            while state.compare.branch.is_some() && left() {
                let there = state.sync_branch(TASKS_PER_CHECK);
                went |= !there;
                if there {
                    break;
                }
            }
            self.last.idle = !went;
            return went;
        }
        let wanted = passed * 1000.0 * state.timeline.speed + self.rate.carry;
        let from = state.timeline.run.sim().now().0;
        let to = Time(from + wanted as u64);
        self.rate.carry = wanted.fract();
        while !state.advance(to, TASKS_PER_CHECK) {
            if clock() - now > slice {
                break;
            }
        }
        self.last.idle = state.timeline.run.sim().now() >= to;
        // How fast a cluster goes that is followed is its server's.
        let wanted = if state.timeline.run.follows() {
            0.0
        } else {
            wanted
        };
        self.rate.pace.slice(
            passed,
            wanted,
            state.timeline.run.sim().now().0.saturating_sub(from) as f64,
        );
        check(state);
        while !state.sync_branch(TASKS_PER_CHECK) && clock() - now < 2.0 * slice {}
        let since = now - self.announced_ms;
        if announces && since > NEWS_INTERVAL_MS && state.announce(since > DECISION_INTERVAL_MS) {
            self.announced_ms = now;
        }
        state.poll();
        true
    }

    /// Whether to request a frame now: not while one is awaited.
    pub fn request(&mut self, state: &State, now_ms: f64) -> bool {
        let fast = state.timeline.speed > FAST_SPEED && state.timeline.playing;
        // The clock waits for the parts of a picture.
        let fast = fast && !state.drawing.is_drawing();
        let asks = self.requested_ms.is_none() && (!fast || now_ms - self.frame_ms > FAST_FRAME_MS);
        if asks {
            self.requested_ms = Some(now_ms);
        }
        asks
    }

    /// The frame has come. Where frames come late, slices get shorter and rests longer.
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

    /// Reads what was written, within its budget. True when a new picture is to be made; `paced`: only because time passes.
    pub fn read(&mut self, state: &mut State, paced: bool, clock: &dyn Fn() -> f64) -> bool {
        let begun = clock();
        // A picture of very many objects is made less often while they move: drawing leaves most of the time to everything else.
        let drawing = state.drawing.is_drawing();
        let rests = paced && !drawing && begun < self.rest_until_ms;
        // The frame with such a picture has enough to do: most of what is written is read in those before it.
        let most = if rests || !paced {
            READ_BUDGET_MS
        } else {
            (PICTURE_BUDGET_MS - self.picture_cost_ms).clamp(1.0, READ_BUDGET_MS)
        };
        let mut all = state.read(READS_PER_CHECK);
        while !all && clock() - begun < most {
            all = state.read(READS_PER_CHECK);
        }
        // The numbers of a picture are those of one instant: where its Pods are not all read yet it waits for them, but not for long.
        // One that is being made is of what has been read.
        if rests || !all && (drawing || paced && begun - self.picture_ms < PICTURE_WAIT_MS) {
            return false;
        }
        self.picture_ms = begun;
        self.making_ms = Some(begun);
        true
    }

    /// The page has been rendered: what its picture cost decides when the next is made. `whole`: whether no part of it is to come.
    pub fn rendered(&mut self, now_ms: f64, whole: bool) {
        if let Some(begun) = self.making_ms.take() {
            let cost = std::mem::take(&mut self.parts_cost_ms) + now_ms - begun;
            if !whole {
                self.parts_cost_ms = cost;
                return;
            }
            // One that took unusually long, as when the browser was busy elsewhere, tells nothing of the next.
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

    /// Ticks until the state has no manifest left to apply.
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
        // A pause of the browser is not caught up.
        now.set(now.get() + 60_000.0);
        slice(&mut pacing, &mut state, &|| now.get());
        assert_eq!(state.timeline.run.now() - from, 260);
        assert_eq!(pacing.reached(), None);
        // A clock that is set back makes no time pass, and goes on from there.
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
        // Each look at the clock takes 3 ms: after two the slice is over.
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
        // It took 10 ms: for 40 ms there is none because of the time.
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
