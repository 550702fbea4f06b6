//! The clock: the run, its speed, the target of a run at full speed, and the breakpoints.

use super::breakpoint::{Breakpoint, Breakpoints};
use super::effect::Effect;
use super::playback::Playback;
use super::run::Run;
use super::speed::{self, ClockRate};
use apiserver::Actor;
use explain::effect;
use explain::words;
use i18n::{Message, msg};
use k8s_model::{Kind, Time};

/// Budget of a seek in tasks (`Sim::advance`) on a cluster of at most a thousand Pods; the rest runs in slices, so that the page stays
/// responsive.
pub const SEEK_BUDGET_TASKS: usize = 4_000;
/// Longest time that a step searches for the next write: an hour without one counts as settled.
const STEP_LIMIT_US: Time = Time(3_600_000_000);

/// Target of a run at full speed, in slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunUntil {
    /// Until nothing changes any more.
    Settled,
    /// Until a time.
    At(Time),
}

/// Stop at a breakpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct BreakpointHit {
    /// Milliseconds.
    pub at: u64,
    /// The condition, as it was entered.
    pub text: Message,
    /// Description of the event.
    pub words: Message,
}

/// Message to the clock.
#[derive(Clone, Debug, PartialEq)]
pub enum TimelineMsg {
    /// Starts or stops the clock.
    Toggle,
    /// Starts the clock.
    Play,
    /// Stops the clock.
    Pause,
    /// Steps forward by one reconcile.
    Step,
    /// Steps back by one reconcile.
    StepBack,
    /// Moves by virtual seconds, forward or back.
    Seconds(i64),
    /// Sets the speed in virtual seconds per second.
    Speed(f64),
    /// Sets the causal pace, or the real one.
    ByCause(bool),
    /// Sets the pace and the speed.
    Rate(ClockRate),
    /// Seeks to an instant, in milliseconds.
    Seek(u64),
    /// Seeks to the next action of a person or, if false, to the previous one.
    Jump(bool),
    /// Goes to an instant, in milliseconds, also to one in the future.
    StartAt(u64),
    /// Goes to the next marker or, if false, to the previous one, and pauses there.
    Marker(bool),
    /// Returns to the newest instant.
    Live,
    /// Makes the instant shown the newest.
    Branch,
    /// Switches to another branch.
    Switch(u32),
    /// Restarts with an empty cluster.
    Restart,
    /// Runs forward until the cluster has settled.
    Settle,
    /// Adds a breakpoint.
    Break(String),
    /// Removes the breakpoint at this index.
    Unbreak(usize),
}

/// Run and its clock.
pub struct Timeline {
    /// Simulation.
    pub run: Run,
    /// True while the clock runs.
    pub playing: bool,
    /// True if the clock resumes at the newest instant.
    pub(super) resumes: bool,
    /// Target of a run at full speed.
    pub run_until: Option<RunUntil>,
    /// Virtual seconds per second.
    pub speed: f64,
    /// True at the causal pace (`causal.rs`).
    pub by_cause: bool,
    /// Causal pace as it was before a lesson set it; `None` outside of such a lesson.
    pub(crate) by_cause_before: Option<bool>,
    /// Speed last set at the newest instant: a replay of the past returns to it.
    live_speed: f64,
    /// Breakpoints.
    pub breakpoints: Breakpoints,
    /// Error of the last breakpoint entered.
    pub breakpoint_error: Message,
    /// Breakpoint at which the clock stopped.
    pub stopped: Option<BreakpointHit>,
    /// The instant, and the length of the journal, at which a step found nothing to reconcile.
    idle_at: Option<(Time, usize)>,
    /// Instant to show once a link's history has been repeated, in milliseconds.
    arrives: Option<u64>,
    /// Playback options of an embedded page, if it has any.
    pub playback: Option<Box<Playback>>,
}

impl Timeline {
    /// Creates a timeline that plays.
    pub fn new(run: Run) -> Timeline {
        Timeline {
            run,
            playing: true,
            resumes: false,
            run_until: None,
            speed: 1.0,
            by_cause: false,
            by_cause_before: None,
            live_speed: 1.0,
            breakpoints: Breakpoints::default(),
            breakpoint_error: Message::default(),
            stopped: None,
            idle_at: None,
            arrives: None,
            playback: None,
        }
    }

    /// Repeats the history of a link as fast as possible, and then shows its instant.
    pub fn recall(&mut self, run: Run, end: Time, at: Option<u64>) {
        let epoch = self.run.epoch + 1;
        (self.run, self.run_until, self.arrives, self.stopped) =
            (run, Some(RunUntil::At(end)), at, None);
        self.run.epoch = epoch;
    }

    /// Handles a message.
    pub fn update(&mut self, msg: TimelineMsg) -> Vec<Effect> {
        let replays = self.run.in_past();
        let effects = self.act(msg);
        self.end_replay(replays);
        effects
    }

    fn act(&mut self, msg: TimelineMsg) -> Vec<Effect> {
        use TimelineMsg as Msg;
        // A person who moves the clock is not taken elsewhere.
        if !matches!(
            msg,
            Msg::Speed(_) | Msg::ByCause(_) | Msg::Rate(_) | Msg::Break(_) | Msg::Unbreak(_)
        ) {
            self.arrives = None;
        }
        if matches!(
            msg,
            Msg::Toggle
                | Msg::Play
                | Msg::Step
                | Msg::StepBack
                | Msg::Seconds(_)
                | Msg::Seek(_)
                | Msg::StartAt(_)
                | Msg::Marker(_)
                | Msg::Live
                | Msg::Settle
        ) {
            self.stopped = None;
            if !matches!(msg, Msg::Toggle | Msg::Seconds(_)) {
                self.run_until = None;
            }
        }
        match msg {
            Msg::Toggle | Msg::Pause if self.run_until.is_some() => self.run_until = None,
            Msg::Toggle => (self.playing, self.resumes) = (!self.playing, false),
            Msg::Play => self.playing = true,
            Msg::Pause => self.playing = false,
            Msg::Step => return self.step(),
            Msg::StepBack => self.step_back(),
            Msg::Seconds(seconds) => return self.skip(seconds),
            Msg::Speed(speed) => self.set_speed(speed),
            Msg::ByCause(by_cause) => self.by_cause = by_cause,
            Msg::Rate(rate) => {
                self.by_cause = rate.by_cause;
                self.set_speed(rate.speed);
            }
            Msg::Seek(ms) => {
                self.seek(Time::end_of_ms(ms));
                // An instant of the past is to be looked at: pause.
                if self.run.in_past() && self.playing {
                    (self.playing, self.resumes) = (false, true);
                }
            }
            Msg::StartAt(ms) => return self.go_to(Time(ms * 1000)),
            Msg::Marker(onward) => return self.go_to_marker(onward),
            Msg::Jump(forward) => return self.jump(forward),
            Msg::Live => {
                self.run.live();
                self.resume();
            }
            Msg::Branch => {
                self.run.branch();
                self.resume();
                return vec![Effect::HistoryChanged];
            }
            Msg::Switch(number) => {
                self.run.switch(number);
                return vec![Effect::HistoryChanged];
            }
            Msg::Restart => {
                (self.stopped, self.run_until, self.playing) = (None, None, true);
                let epoch = self.run.epoch + 1;
                self.run = Run::new(self.run.seed());
                self.run.epoch = epoch;
                return vec![Effect::HistoryChanged, Effect::Apply];
            }
            Msg::Settle => (self.playing, self.run_until) = (false, Some(RunUntil::Settled)),
            Msg::Break(text) => self.add_breakpoint(&text),
            Msg::Unbreak(at) => {
                self.breakpoints.remove(at);
                self.breakpoints.observe(&self.run);
            }
        }
        Vec::new()
    }

    /// Sets the speed; in the past, that of the replay.
    pub fn set_speed(&mut self, speed: f64) {
        self.speed = speed.clamp(speed::SLOWEST, speed::FASTEST);
        if !self.run.in_past() {
            self.live_speed = self.speed;
        }
    }

    /// Returns the rate of the clock.
    pub fn rate(&self) -> ClockRate {
        ClockRate {
            speed: self.speed,
            by_cause: self.by_cause,
        }
    }

    /// Sets the causal pace for a lesson, unless the lesson before it has.
    pub(crate) fn begin_causal_pace(&mut self) {
        if self.by_cause_before.is_none() {
            self.by_cause_before = Some(std::mem::replace(&mut self.by_cause, true));
        }
    }

    /// Restores the pace as it was before the lessons.
    pub(crate) fn end_causal_pace(&mut self) {
        if let Some(before) = self.by_cause_before.take() {
            self.by_cause = before;
        }
    }

    /// Returns true if the clock goes at the causal pace: a followed cluster has its server's, and a link's history is repeated as fast as
    /// possible.
    pub fn goes_by_cause(&self) -> bool {
        self.by_cause && !self.run.follows() && !self.run.is_replaying()
    }

    /// Restores the speed when a replay reaches the newest instant; returns true if it changed.
    fn end_replay(&mut self, replayed: bool) -> bool {
        let ended =
            replayed && !self.run.in_past() && self.speed.to_bits() != self.live_speed.to_bits();
        if ended {
            self.speed = self.live_speed;
        }
        ended
    }

    /// Returns true if a step found nothing to reconcile at the instant shown.
    pub fn idles(&self) -> bool {
        self.idle_at == Some((self.run.sim().now(), self.run.happened()))
    }

    fn step(&mut self) -> Vec<Effect> {
        self.playing = false;
        let stepped = self.run.step_reconcile(STEP_LIMIT_US);
        let printed = self.run.poll();
        self.idle_at = (!stepped).then(|| (self.run.sim().now(), self.run.happened()));
        let notice = match stepped {
            true => words::announce_step(self.run.journal().first(self.run.happened())),
            false => msg::notice_stable(),
        };
        vec![Effect::Print(printed), Effect::Announce(notice)]
    }

    fn step_back(&mut self) {
        self.playing = false;
        let now = self.run.now();
        let earlier = self
            .run
            .journal()
            .first(self.run.happened())
            .iter()
            .rev()
            .find(|entry| !entry.is_event() && entry.time.0 / 1000 < now);
        let to = earlier.map_or(0, |entry| entry.time.0);
        self.seek(Time(to));
    }

    fn skip(&mut self, seconds: i64) -> Vec<Effect> {
        self.playing = false;
        // Seconds add up while earlier ones are still running.
        let from = match self.run_until.take() {
            Some(RunUntil::At(to)) if seconds > 0 => self.run.now().max(to.0 / 1000),
            _ => self.run.now(),
        };
        self.go_to(Time((from as i64 + seconds * 1000).max(0) as u64 * 1000))
    }

    pub(super) fn go_to(&mut self, to: Time) -> Vec<Effect> {
        if to.0 / 1000 > self.run.now() {
            self.run_until = Some(RunUntil::At(to));
            return self.run_slice(self.seek_budget());
        }
        self.seek(to);
        Vec::new()
    }

    fn jump(&mut self, forward: bool) -> Vec<Effect> {
        let now = self.run.now();
        let acts = || {
            self.run
                .journal()
                .iter()
                .filter(|entry| entry.actor == Actor::USER && !words::only_reads(entry))
                .map(|entry| entry.time.0 / 1000)
        };
        let to = if forward {
            acts().find(|at| *at > now)
        } else {
            acts().rfind(|at| *at < now)
        };
        match to {
            None if forward => {
                self.run.live();
                Vec::new()
            }
            to => self.update(TimelineMsg::Seek(to.unwrap_or(0))),
        }
    }

    fn add_breakpoint(&mut self, text: &str) {
        match Breakpoint::parse(text) {
            Ok(new) => {
                self.breakpoint_error = Message::default();
                self.breakpoints.add(new);
                self.breakpoints.observe(&self.run);
            }
            Err(words) => self.breakpoint_error = words,
        }
    }

    /// Drops the oldest part of the history, and announces how much is left. Does nothing if there is nothing to drop.
    pub fn make_room(&mut self) -> Vec<Effect> {
        if !self.run.make_room() {
            return Vec::new();
        }
        vec![
            Effect::HistoryChanged,
            Effect::BranchesChanged,
            Effect::Announce(msg::history_shortened(self.run.earliest())),
        ]
    }

    /// Stops the clock because there is no room for more history.
    pub fn stop_full(&mut self) -> Vec<Effect> {
        let words = msg::history_full_text();
        let notice = words.clone();
        self.stop(BreakpointHit {
            at: self.run.now(),
            text: msg::history_full(),
            words,
        });
        vec![Effect::Announce(notice)]
    }

    fn stop(&mut self, hit: BreakpointHit) {
        self.stopped = Some(hit);
        (self.playing, self.run_until, self.resumes) = (false, None, false);
    }

    /// Runs towards a time with a budget of tasks, stopping at breakpoints. Returns true when there is nothing left to run.
    pub fn advance(&mut self, to: Time, budget: usize) -> (bool, Vec<Effect>) {
        let replays = self.run.in_past();
        let (done, mut effects) = self.advance_to_breakpoint(to, budget);
        if self.end_replay(replays) {
            effects.push(Effect::Announce(msg::notice_replayed(speed::label(
                self.speed,
            ))));
        }
        (done, effects)
    }

    fn advance_to_breakpoint(&mut self, to: Time, budget: usize) -> (bool, Vec<Effect>) {
        // A link's history has happened before: no breakpoint stops it.
        if self.breakpoints.all().is_empty() || self.run.is_replaying() && !self.run.follows() {
            self.breakpoints.forget();
            return (self.run.advance(to, budget), Vec::new());
        }
        for _ in 0..budget {
            self.breakpoints.observe(&self.run);
            let done = self.run.advance(to, 1);
            let hit = self.check_breakpoints();
            if !hit.is_empty() || done {
                return (true, hit);
            }
        }
        (false, Vec::new())
    }

    /// Stops the clock if a breakpoint is met at an entry since they observed the run. Returns no effects otherwise.
    fn check_breakpoints(&mut self) -> Vec<Effect> {
        if let Some((breakpoint, actor, line)) = self.breakpoints.next_line(&self.run) {
            let at = self.run.now();
            let words = msg::breakpoint_line(actor.to_string(), line);
            let notice = msg::notice_paused(at, &breakpoint.text, &words);
            let text = Message::name(&breakpoint.text);
            self.stop(BreakpointHit { at, text, words });
            return vec![Effect::StepInto(actor, line), Effect::Announce(notice)];
        }
        let Some((entry, breakpoint)) = self.breakpoints.next_hit(&self.run) else {
            return Vec::new();
        };
        let (about, words) = match entry.write().map(|(_, object)| &object.body) {
            Some(k8s_model::Body::Event(event)) => (
                event.involved_object.key().or(entry.key()),
                msg::event_message(&event.reason, &event.message),
            ),
            _ => (entry.key(), effect::effect(entry)),
        };
        let at = entry.time.0 / 1000;
        let notice = msg::notice_paused(at, &breakpoint.text, &words);
        let text = Message::name(&breakpoint.text);
        self.stop(BreakpointHit { at, text, words });
        vec![Effect::Select(about), Effect::Announce(notice)]
    }

    /// Runs one slice towards the target of a run at full speed.
    pub fn run_slice(&mut self, budget: usize) -> Vec<Effect> {
        let mut effects = self.run_towards(budget);
        // Waiting commands may now find what they wait for.
        effects.push(Effect::Print(self.run.poll()));
        effects
    }

    fn run_towards(&mut self, budget: usize) -> Vec<Effect> {
        match self.run_until {
            None => Vec::new(),
            Some(RunUntil::At(to)) => {
                let (done, effects) = self.advance(to, budget);
                if done {
                    self.run_until = None;
                }
                if let Some(at) = self.arrives.take_if(|_| done) {
                    self.playing = false;
                    self.seek(Time::end_of_ms(at));
                }
                effects
            }
            Some(RunUntil::Settled) => {
                let mut effects = Vec::new();
                self.breakpoints.observe(&self.run);
                if self.run.settle(if self.breakpoints.all().is_empty() {
                    budget
                } else {
                    1
                }) {
                    self.run_until = None;
                    effects.push(Effect::Announce(msg::notice_stable()));
                }
                effects.extend(self.check_breakpoints());
                effects
            }
        }
    }

    /// Resumes the clock if it ran before the past was shown.
    fn resume(&mut self) {
        self.playing |= std::mem::take(&mut self.resumes);
    }

    /// Seeks to an instant of the past: at once if it is near a checkpoint, otherwise in slices.
    pub(super) fn seek(&mut self, to: Time) {
        let budget = self.seek_budget();
        self.run_until = (!self.run.seek(to, budget)).then_some(RunUntil::At(to));
    }

    /// Budget of a seek; smaller on a large cluster, whose tasks take longer.
    fn seek_budget(&self) -> usize {
        SEEK_BUDGET_TASKS / (1 + self.run.sim().store().count(Kind::Pod) / 1_000)
    }
}

#[cfg(test)]
mod tests {
    use crate::Msg;
    use crate::State;
    use crate::console::ConsoleMsg;
    use crate::examples;
    use crate::tests::{ready, settled};
    use crate::timeline::TimelineMsg;
    use k8s_model::Time;

    #[test]
    fn a_step_when_all_is_settled_leaves_the_clock_where_it_is() {
        let mut state = settled((examples::ALL[0].text)());
        let (now, written) = (state.timeline.run.now(), state.timeline.run.journal().len());
        for _ in 0..3 {
            state.update(TimelineMsg::Step);
            assert!(
                state.announcer.notice().starts_with("Stable"),
                "{}",
                state.announcer.notice()
            );
            assert!(state.timeline.idles());
        }
        assert!(
            state.timeline.run.now() < now + 4_000,
            "{now} {}",
            state.timeline.run.now()
        );
        assert_eq!(state.timeline.run.journal().len(), written);
        // Further writes are the same as without the steps.
        let mut other = settled((examples::ALL[0].text)());
        for state in [&mut state, &mut other] {
            state.update(ConsoleMsg::Enter(
                "scale deployment nginx-deployment --replicas=3".into(),
            ));
            assert!(!state.timeline.idles());
            state.update(TimelineMsg::Seconds(30));
        }
        assert_eq!(
            state.timeline.run.journal().len(),
            other.timeline.run.journal().len()
        );
        assert_eq!(ready(&state.timeline.run), 3);
    }

    #[test]
    fn a_replay_ends_with_the_speed_of_before() {
        let mut state = settled((examples::ALL[0].text)());
        state.update(TimelineMsg::Speed(2.0));
        state.update(TimelineMsg::Seek(1_000));
        state.update(TimelineMsg::Speed(10.0));
        let end = state.timeline.run.end();
        state.advance(Time(end * 1000 - 1), usize::MAX);
        assert_eq!(
            (
                state.timeline.run.in_past(),
                state.timeline.speed.to_string().as_str()
            ),
            (true, "10")
        );
        state.advance(Time(end * 1000 + 2_000_000), usize::MAX);
        assert_eq!(
            (
                state.timeline.run.in_past(),
                state.timeline.speed.to_string().as_str()
            ),
            (false, "2")
        );
        assert!(
            state.announcer.notice().contains("2×"),
            "{}",
            state.announcer.notice()
        );
        // Any way of leaving the past.
        for leave in [
            TimelineMsg::Live,
            TimelineMsg::Jump(true),
            TimelineMsg::Seek(u64::MAX / 2000),
            TimelineMsg::Branch,
        ] {
            state.update(TimelineMsg::Seek(1_000));
            state.update(TimelineMsg::Speed(10.0));
            state.update(leave);
            assert_eq!(
                (
                    state.timeline.run.in_past(),
                    state.timeline.speed.to_string().as_str()
                ),
                (false, "2")
            );
        }
    }

    #[test]
    fn the_clock_goes_on_for_who_acts_in_the_past_while_it_went() {
        let mut state = State::new((examples::ALL[0].text)(), 1);
        state.update(TimelineMsg::Seconds(10));
        let scale = || {
            ConsoleMsg::Enter("kubectl scale deployment/nginx-deployment --replicas=3".into())
                .into()
        };
        for (playing, act) in [
            (true, scale()),
            (false, scale()),
            (true, Msg::from(TimelineMsg::Branch)),
            (false, TimelineMsg::Branch.into()),
        ] {
            state.timeline.playing = playing;
            state.update(TimelineMsg::Seek(1_000));
            assert!(!state.timeline.playing);
            state.update(act);
            assert_eq!(
                (state.timeline.run.in_past(), state.timeline.playing),
                (false, playing)
            );
            state.update(TimelineMsg::Seconds(10));
        }
    }

    #[test]
    fn a_step_advances_by_one_pass_of_a_loop() {
        let mut state = State::new((examples::ALL[0].text)(), 1);
        let mut seen = Vec::new();
        for _ in 0..4 {
            let before = state.timeline.run.journal().len();
            state.update(TimelineMsg::Step);
            seen.push(
                state
                    .timeline
                    .run
                    .journal()
                    .from(before)
                    .iter()
                    .filter(|entry| !entry.is_event())
                    .map(|entry| entry.actor.component.name())
                    .next(),
            );
        }
        assert_eq!(seen[0], Some("deployment-controller"));
        assert!(!state.timeline.playing);
    }

    #[test]
    fn the_past_is_the_same_when_it_is_visited_again() {
        let mut state = settled((examples::ALL[2].text)());
        state.update(ConsoleMsg::Enter("kubectl delete pod web-0".into()));
        state.update(TimelineMsg::Seconds(20));
        let end: Vec<_> = state.timeline.run.objects();
        let entries = state.timeline.run.journal().len();
        state.update(TimelineMsg::Seek(5_000));
        assert!(state.timeline.run.in_past());
        let then = state.timeline.run.objects();
        state.update(TimelineMsg::Seek(12_000));
        state.update(TimelineMsg::Seek(5_000));
        assert_eq!(then, state.timeline.run.objects());
        // Playing on from there ends where the history ended.
        state.update(TimelineMsg::Seconds(100));
        assert!(!state.timeline.run.in_past());
        state.update(TimelineMsg::Live);
        assert_eq!(end, state.timeline.run.objects());
        assert_eq!(entries, state.timeline.run.journal().len());
    }

    #[test]
    fn a_far_instant_is_reached_in_slices_and_is_the_same() {
        let many = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: many}, spec: {replicas: 300, selector: {matchLabels: {app: many}}, template: {metadata: {labels: {app: many}}, spec: {containers: [{name: web, image: nginx}]}}}}";
        let reach = |state: &mut State, msg: Msg| {
            state.update(msg);
            let mut slices = 0;
            while state.timeline.run_until.is_some() {
                state.run_slice(64);
                slices += 1;
            }
            (
                slices,
                state.timeline.run.now(),
                state.timeline.run.sim().store().version(),
            )
        };
        let mut state = State::new(many, 1);
        let (slices, now, version) = reach(&mut state, TimelineMsg::Seconds(10).into());
        assert!(slices > 0 && now == 10_000, "{slices} {now}");
        let mut whole = State::new(many, 1);
        while !whole.advance(Time(10_000_000), usize::MAX) {}
        assert_eq!(whole.timeline.run.sim().store().version(), version);
        let back = reach(&mut state, TimelineMsg::Seek(300).into());
        let again = reach(&mut state, TimelineMsg::Seek(300).into());
        assert_eq!((back.1, back.2), (again.1, again.2));
        assert_eq!(back.1, 300);
        let (_, _, end) = reach(&mut state, TimelineMsg::Seek(9_999).into());
        assert!(back.2 < end && end <= version);
        // Seconds add up while earlier ones are still running.
        let mut quick = State::new(many, 1);
        for _ in 0..5 {
            quick.update(TimelineMsg::Seconds(1));
        }
        while quick.timeline.run_until.is_some() {
            quick.run_slice(64);
        }
        assert_eq!(quick.timeline.run.now(), 5_000);
        // A person's move of the clock takes precedence.
        state.update(TimelineMsg::Seconds(600));
        state.update(TimelineMsg::Pause);
        assert_eq!(state.timeline.run_until, None);
    }

    #[test]
    fn a_full_history_stops_the_clock_and_says_so() {
        let mut state = State::new((examples::ALL[0].text)(), 1);
        state.update(TimelineMsg::Settle);
        state.stop_full();
        assert_eq!(
            (state.timeline.playing, state.timeline.run_until),
            (false, None)
        );
        assert!(
            state
                .timeline
                .stopped
                .as_ref()
                .is_some_and(|stop| stop.text == "The history is full")
                && state.announcer.notice().contains("3 GB")
        );
        // The stop is still shown, and starting over clears it.
        state.update(TimelineMsg::Restart);
        assert_eq!(state.timeline.stopped, None);
        state.update(TimelineMsg::Seconds(10));
        assert_eq!(ready(&state.timeline.run), 2);
    }

    #[test]
    fn settling_ends_when_all_is_quiet() {
        let mut state = State::new((examples::ALL[2].text)(), 1);
        state.update(TimelineMsg::Settle);
        for _ in 0..100_000 {
            state.run_slice(16);
        }
        assert_eq!(state.timeline.run_until, None);
        let (now, count) = (state.timeline.run.now(), ready(&state.timeline.run));
        assert!(count > 0 && now < 60_000, "{now}");
        state.update(TimelineMsg::Seconds(30));
        assert_eq!(ready(&state.timeline.run), count);
    }
}
