//! The state of the page and what each message does to it. No web crate, no wall clock.

use crate::actions::Command;
use crate::actions::{Answer, Applying, Diagnostic, Line, Plan, Trial};
use crate::api::{Kind, Object, ObjectRef, Time, Uid};
use crate::engine::deferred_drop;
use crate::engine::{Entry, Op};
use crate::explain::diagnose::{self, Diagnosis, Remedy};
use crate::explain::words;
use crate::i18n::{Message, msg};
use crate::projection::adapt::{self, Pods, Scope};
use crate::projection::budget::Budget;
use crate::projection::changes::{self, Change};
use crate::projection::marks::{Mark, Marks};
use crate::projection::model::{PodState, natural};
use crate::projection::totals::PodTotals;
use crate::session::breakpoint::Breakpoint;
use crate::session::drift::Drift;
use crate::session::examples;
use crate::session::permalink::Link;
use crate::session::run::{QUIET, Run};
use crate::session::speed;
use crate::views;
use crate::views::card::{self, Card};
use crate::views::shape::{Body, Item, Scene};
use crate::views::view::{Memory, Source, Status, View, Workloads};
use std::rc::Rc;

/// Which page of the inspector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tab {
    /// Facts.
    Summary,
    /// The object.
    Yaml,
    /// Kubernetes Events.
    Events,
    /// The chain of causes.
    #[default]
    Why,
}

impl Tab {
    /// All, in order.
    pub const ALL: [Tab; 4] = [Tab::Summary, Tab::Yaml, Tab::Events, Tab::Why];

    /// On the tab.
    pub fn title(self) -> Message {
        match self {
            Tab::Summary => msg::tab_summary(),
            Tab::Yaml => Message::name("YAML"),
            Tab::Events => msg::tab_events(),
            Tab::Why => msg::tab_why(),
        }
    }

    /// Its name in identifiers.
    pub fn word(self) -> &'static str {
        match self {
            Tab::Summary => "Summary",
            Tab::Yaml => "YAML",
            Tab::Events => "Events",
            Tab::Why => "Why",
        }
    }
}

/// What the pill beside the manifest says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// Nothing.
    #[default]
    Clean,
    /// The text differs from what was applied.
    Edited,
    /// Just applied.
    Applied,
    /// Being applied: it has very many documents.
    Applying,
    /// Refused.
    Rejected,
    /// As many objects applied, as many left as they were, as many errors.
    Partly(usize, usize, usize),
}

/// The text that holds now: of the documents that were refused, what was applied before.
fn went_through(text: &str, before: &str, diagnostics: &[Diagnostic]) -> String {
    let (new, old) = (documents(text), documents(before));
    let mut line = 1;
    let mut out = String::new();
    for (at, document) in new.iter().enumerate() {
        let next = line + document.lines().count();
        let refused = diagnostics.iter().any(|diagnostic| diagnostic.error && (line..next).contains(&diagnostic.line));
        out += match refused {
            false => document,
            // Only where it is clear which one it was.
            true if old.len() == new.len() => old[at],
            true => "",
        };
        line = next;
    }
    out
}

/// The documents of a text, each with the line that parts it from the one before.
fn documents(text: &str) -> Vec<&str> {
    let mut ends: Vec<usize> = crate::manifest::chunks(text.as_bytes()).map(|chunk| chunk.at + chunk.bytes.len()).collect();
    ends.pop();
    ends.push(text.len());
    let mut start = 0;
    ends.into_iter().map(|end| &text[std::mem::replace(&mut start, end)..end]).collect()
}

/// Where the clock runs to as fast as it can, in slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// To where nothing changes any more.
    Settled,
    /// To an instant.
    At(Time),
}

/// Something that happens to the page.
#[derive(Clone, Debug, PartialEq)]
pub enum Msg {
    /// Starts or stops the clock.
    Toggle,
    /// Starts it.
    Play,
    /// Stops it.
    Pause,
    /// One reconcile on.
    Step,
    /// One reconcile back.
    StepBack,
    /// Virtual seconds on or back.
    Seconds(i64),
    /// How fast.
    Speed(f64),
    /// To an instant, in milliseconds.
    Seek(u64),
    /// To the next or previous thing a person did.
    Jump(bool),
    /// To the newest instant.
    Live,
    /// Makes the instant shown the newest.
    Branch,
    /// Shows another branch.
    Switch(u32),
    /// Begins again: an empty cluster, the manifest applied.
    Restart,
    /// The text of the editor.
    Edit(String),
    /// Tries on a copy what applying it would do.
    Check,
    /// Applies it.
    Apply,
    /// Back to the text last applied.
    Revert,
    /// Replaces the text and begins again with it.
    Load(String, Option<&'static View>),
    /// A kubectl line.
    Kubectl(String),
    /// Breaks something.
    Fault(String),
    /// Does what may help the selected object.
    Cure(Remedy),
    /// Tries on a copy what may help the selected object.
    Try,
    /// Ends the kubectl command that still waits.
    Interrupt,
    /// Which diagram.
    View(&'static View),
    /// Which object.
    Select(Option<ObjectRef>),
    /// Which page of the inspector.
    Tab(Tab),
    /// One namespace, or all.
    Namespace(Option<String>),
    /// Words that objects are chosen by.
    Filter(String),
    /// On until nothing but Events has changed for three seconds.
    Settle,
    /// Stop the clock where this holds.
    Break(String),
    /// No longer at this one.
    Unbreak(usize),
    /// Keep the instant shown as A or, if true, as B.
    Mark(bool),
    /// Let both go.
    Unmark,
    /// Show another branch beside this one; none: no longer.
    Beside(Option<u32>),
    /// Which loop of the control plane; the one that is chosen already is let go.
    Loop(Option<String>),
    /// Size of the stage in CSS pixels.
    Stage(f64, f64),
}

/// Where and why the clock was stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct Stop {
    /// Milliseconds.
    pub at: u64,
    /// The condition, as it was entered.
    pub text: Message,
    /// What happened.
    pub words: Message,
}

/// An instant that was kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Instant {
    /// Milliseconds.
    pub at: u64,
    /// On which branch.
    pub branch: u32,
    objects: Vec<Rc<Object>>,
}

/// The other side of a fork, on the timeline.
#[derive(Debug, PartialEq)]
pub struct Left {
    /// The branch that begins there.
    pub number: u32,
    /// Milliseconds.
    pub at: u64,
    /// Where the other one ends.
    pub end: u64,
    /// What it did after that.
    pub marks: Rc<Vec<Mark>>,
}

/// Fields are read of so many objects of a difference.
const DETAIL: usize = 100;

/// Everything the page shows.
pub struct State {
    /// The simulation.
    pub run: Run,
    /// Whether the clock runs.
    pub playing: bool,
    /// Whether it will run again at the newest instant.
    resumes: bool,
    /// Where it runs to as fast as it can.
    pub goal: Option<Goal>,
    /// Virtual seconds a second.
    pub speed: f64,
    /// The diagram.
    pub view: &'static View,
    /// The object that the inspector shows.
    pub selected: Option<ObjectRef>,
    /// The page of the inspector.
    pub tab: Tab,
    /// The editor's text.
    pub text: Rc<str>,
    /// The text last applied.
    pub applied: Rc<str>,
    /// The pill.
    pub standing: Standing,
    drift: Option<Drift>,
    /// What is wrong with the text: with what was applied, or, while it is edited, with what was tried.
    pub diagnostics: Rc<Vec<Diagnostic>>,
    /// What applying the text would do, once it was tried.
    pub plan: Option<Rc<Plan>>,
    trial: Option<Trial>,
    begun: Begun,
    /// The console's output.
    pub console: Rc<Vec<Line>>,
    /// The console's lines.
    pub history: Rc<Vec<String>>,
    /// One namespace, or all but the system's.
    pub namespace: Option<String>,
    /// Words that objects are chosen by.
    pub filter: String,
    /// The loop that the diagram of loops is turned to, and the timeline filtered to.
    pub chosen: Option<String>,
    /// Where the clock stops.
    pub breakpoints: Vec<Breakpoint>,
    /// What is wrong with the last one that was asked for.
    pub misread: Message,
    /// Where it has stopped.
    pub stopped: Option<Stop>,
    /// The instants A and B.
    pub instants: [Option<Rc<Instant>>; 2],
    /// What differs between them.
    pub difference: Option<Rc<Vec<Change>>>,
    /// Another branch on the same clock.
    pub beside: Option<Box<State>>,
    /// Said once, politely.
    pub notice: Message,
    /// How much of the history has been heard, and up to which change it was said that all is settled.
    heard: (usize, u64, Time),
    /// The stage's size.
    pub stage: (f64, f64),
    /// What was found when remedies were tried: the object and its state, and which of them help.
    tried: Option<(Diagnosis, Rc<Vec<bool>>)>,
    marks: Marks,
    scanned: usize,
    /// The last entry of a failure among those that were scanned.
    last_bad: Option<usize>,
    left: Option<Option<Rc<Left>>>,
    drawn: Option<(Key, Rc<Picture>)>,
    /// Scenes that were drawn before and that somebody may still look at.
    left_scenes: Vec<Rc<Scene>>,
    view_memory: Memory,
    /// The Pods, and how much of which history they were read from.
    pods: Pods,
    pods_at: Option<(u64, usize)>,
    coming: Option<Coming>,
}

/// What is kept of the manifest that is being applied, until all of it is.
#[derive(Clone, Copy, Default)]
struct Begun {
    /// The page opens with it.
    opens: bool,
    /// An object was selected meanwhile.
    chose: bool,
}

/// The Pods of another instant, as far as they are read.
struct Coming {
    turns: u64,
    happened: usize,
    /// So many places have been looked at; what is written meanwhile is read again.
    places: usize,
    pods: Pods,
}

impl Coming {
    fn new(run: &Run) -> Coming {
        Coming { turns: run.turns, happened: run.happened(), places: 0, pods: Pods::default() }
    }
}

/// What is on the stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picture {
    /// The diagram.
    pub scene: Rc<Scene>,
    /// The strip over it.
    pub budget: Option<Rc<Budget>>,
    /// The pill in its head: words and the class of the pill.
    pub pill: Option<(Message, &'static str, &'static str)>,
    /// Namespaces to choose from.
    pub namespaces: Rc<Vec<String>>,
    /// How many objects the filter hides.
    pub hidden: usize,
}

#[derive(Clone, Debug, PartialEq)]
struct Key {
    version: (u64, usize),
    happened: usize,
    view: &'static View,
    selected: Option<ObjectRef>,
    chosen: Option<String>,
    namespace: Option<String>,
    filter: String,
    stage: (f64, f64),
    /// Grows with time while the picture changes without a write.
    tick: i64,
}

/// So much work (`Sim::advance`) on a cluster of a thousand Pods or less is done in one go when a person goes to another instant; what is left
/// runs in slices, so that the page stays awake.
const AT_ONCE: usize = 4_000;
/// So many entries are read for the timeline at a time.
const READ: usize = 20_000;
/// So many lines of the console are kept, and so many that were entered.
const LINES: usize = 2_000;
const ENTERED: usize = 200;

/// So many documents are applied in one go; the rest of a longer manifest one at a time, when the state is polled.
const DOCUMENTS: usize = 16;

/// So many tasks are spent on a remedy when it is tried.
const TRIAL: usize = 20_000;

/// Hands out all objects of a kind.
fn all(run: &Run) -> impl Fn(Kind) -> Vec<Rc<Object>> {
    |kind| run.sim().list(kind).cloned().collect()
}

/// Whether a manifest may go on being applied after a message: it leaves the cluster and its clock alone, or does away with both.
fn spares(msg: &Msg) -> bool {
    let clock = matches!(msg, Msg::Toggle | Msg::Play | Msg::Pause | Msg::Speed(_) | Msg::Settle | Msg::Break(_) | Msg::Unbreak(_));
    let shown = matches!(msg, Msg::View(_) | Msg::Select(_) | Msg::Tab(_) | Msg::Namespace(_) | Msg::Filter(_) | Msg::Loop(_));
    clock || shown || matches!(msg, Msg::Edit(_) | Msg::Check | Msg::Interrupt | Msg::Unmark | Msg::Restart | Msg::Load(..))
}

impl State {
    /// A page with a manifest, applied and playing.
    pub fn new(text: &str, seed: u64) -> State {
        let mut state = State {
            run: Run::new(seed),
            playing: true,
            resumes: false,
            goal: None,
            speed: 1.0,
            view: views::ALL[0],
            selected: None,
            tab: Tab::default(),
            text: text.into(),
            applied: "".into(),
            standing: Standing::Clean,
            drift: None,
            diagnostics: Rc::default(),
            plan: None,
            trial: None,
            begun: Begun::default(),
            console: Rc::default(),
            history: Rc::default(),
            namespace: None,
            filter: String::new(),
            chosen: None,
            breakpoints: Vec::new(),
            misread: Message::default(),
            stopped: None,
            instants: [None, None],
            difference: None,
            beside: None,
            notice: Message::default(),
            heard: Default::default(),
            stage: (800.0, 560.0),
            tried: None,
            marks: Marks::default(),
            scanned: 0,
            last_bad: None,
            left: None,
            drawn: None,
            left_scenes: Vec::new(),
            view_memory: Memory::default(),
            pods: Pods::default(),
            pods_at: None,
            coming: None,
        };
        state.begin(true);
        state
    }

    /// The page that a link describes, or the one everybody begins with.
    pub fn from_link(link: Option<&Link>) -> State {
        let first = &examples::ALL[0];
        let text = link.and_then(|link| link.manifest.as_deref()).unwrap_or_else(first.text);
        let mut state = State::new(text, link.and_then(|link| link.seed).unwrap_or(1));
        if let Some(view) = link.and_then(|link| link.view.as_deref()).and_then(views::by_id) {
            state.view = view;
        }
        state
    }

    /// What a link to this page holds.
    pub fn link(&self) -> Link {
        Link { v: 1, manifest: Some(self.text.to_string()), seed: Some(self.run.seed()), view: Some(self.view.id.into()) }
    }

    /// The object that is selected, if it exists at the instant shown.
    pub fn object(&self) -> Option<&Rc<Object>> {
        self.run.get(self.selected.as_ref()?)
    }

    /// What the selected object waits for, down to the root, and which remedies were found to help.
    pub fn diagnosis(&self) -> (Vec<Diagnosis>, Rc<Vec<bool>>) {
        let found = self.selected.as_ref().map(|key| diagnose::chain_of_waiting(self.run.sim(), key)).unwrap_or_default();
        let same = |tried: &&(Diagnosis, Rc<Vec<bool>>)| {
            found
                .first()
                .is_some_and(|found| (&found.object, &found.waits, &found.remedies) == (&tried.0.object, &tried.0.waits, &tried.0.remedies))
        };
        let helps = self.tried.as_ref().filter(same).map(|(_, helps)| helps.clone()).unwrap_or_default();
        (found, helps)
    }

    /// What to read of the cluster.
    pub fn scope(&self) -> Scope {
        Scope {
            namespace: self.namespace.clone(),
            filter: self.filter.clone(),
            now: self.run.wall(),
            lags: self.pods_at != Some((self.run.turns, self.run.happened())),
            nodes: self.view.uses.nodes,
        }
    }

    /// Does what a message says.
    pub fn update(&mut self, msg: Msg) {
        if matches!(msg, Msg::Toggle | Msg::Play | Msg::Step | Msg::StepBack | Msg::Seconds(_) | Msg::Seek(_) | Msg::Live | Msg::Settle) {
            self.stopped = None;
            if !matches!(msg, Msg::Toggle | Msg::Seconds(_)) {
                self.goal = None;
            }
        }
        match msg {
            // What the page says while it opens; everything else is in a function of its own.
            Msg::Stage(width, height) => self.stage = (width, height),
            msg => self.act(msg),
        }
    }

    fn act(&mut self, msg: Msg) {
        if self.run.applies() && !spares(&msg) {
            self.finish();
        }
        match msg {
            Msg::Toggle | Msg::Pause if self.goal.is_some() => self.goal = None,
            Msg::Toggle => (self.playing, self.resumes) = (!self.playing, false),
            Msg::Play => self.playing = true,
            Msg::Pause => self.playing = false,
            Msg::Step => {
                self.playing = false;
                // An hour without a write is "settled".
                let stepped = self.run.step_reconcile(Time(3_600_000_000));
                self.poll();
                if stepped {
                    self.notice = words::narrate(self.run.journal().first(self.run.happened()));
                } else {
                    self.notice = msg::notice_stable();
                }
            }
            Msg::StepBack => {
                self.playing = false;
                let now = self.run.now();
                let earlier =
                    self.run.journal().first(self.run.happened()).iter().rev().find(|entry| !entry.is_event() && entry.time.0 / 1000 < now);
                let to = earlier.map_or(0, |entry| entry.time.0);
                self.seek(Time(to));
            }
            Msg::Seconds(seconds) => {
                self.playing = false;
                // One more second is one more, also while the last is on its way.
                let from = match self.goal.take() {
                    Some(Goal::At(to)) if seconds > 0 => self.run.now().max(to.0 / 1000),
                    _ => self.run.now(),
                };
                let to = Time((from as i64 + seconds * 1000).max(0) as u64 * 1000);
                if seconds > 0 {
                    self.goal = Some(Goal::At(to));
                    self.pursue(self.at_once());
                } else {
                    self.seek(to);
                }
            }
            Msg::Speed(speed) => self.speed = speed.clamp(speed::SLOWEST, speed::FASTEST),
            Msg::Seek(ms) => {
                self.seek(Time(ms.saturating_mul(1000).saturating_add(999)));
                // An instant of the past is there to be looked at.
                if self.run.in_past() && self.playing {
                    (self.playing, self.resumes) = (false, true);
                }
            }
            Msg::Jump(forward) => self.jump(forward),
            Msg::Live => {
                self.run.live();
                self.playing |= std::mem::take(&mut self.resumes);
            }
            Msg::Branch => {
                self.run.branch();
                self.rescan();
            }
            Msg::Switch(number) => {
                self.run.switch(number);
                self.rescan();
            }
            Msg::Restart => self.restart(),
            Msg::Edit(text) => {
                self.text = text.into();
                self.edited();
            }
            // While a manifest is being applied there is nothing to try another one on.
            Msg::Check if self.run.applies() => {}
            Msg::Check if self.standing == Standing::Edited => self.trial = Some(Trial::new(self.run.sim(), &self.text)),
            Msg::Check => {}
            Msg::Apply => self.apply(),
            Msg::Revert => {
                self.text = self.applied.clone();
                self.standing = Standing::Clean;
                self.untried();
            }
            Msg::Load(text, view) => {
                self.text = text.into();
                self.view = view.unwrap_or(self.view);
                self.selected = None;
                self.restart();
            }
            Msg::Kubectl(line) => self.kubectl(&line),
            Msg::Fault(line) => {
                self.fork();
                let answer = self.run.command(Command::Fault(line.as_str().into()));
                self.notice = answer.lines.first().map_or_else(|| msg::notice_fault(&line), |line| Message::name(&line.text));
            }
            Msg::Cure(remedy) => {
                for step in &remedy.steps {
                    match diagnose::command(step) {
                        Command::Fault(line) => self.update(Msg::Fault(line.to_string())),
                        Command::Kubectl(line) => self.kubectl(&line),
                        manifest => {
                            self.fork();
                            let answer = self.run.command(manifest);
                            self.notice = answer.lines.first().map(|line| Message::name(&line.text)).unwrap_or_default();
                        }
                    }
                }
            }
            Msg::Try => {
                let found = self.selected.as_ref().and_then(|key| diagnose::diagnose(self.run.sim(), key));
                self.tried = found.map(|found| {
                    let helps = found.remedies.iter().map(|remedy| diagnose::works(self.run.sim(), &found, remedy, TRIAL)).collect();
                    (found, Rc::new(helps))
                });
            }
            Msg::Interrupt => {
                if self.run.waits() {
                    self.run.interrupt();
                    Rc::make_mut(&mut self.console).push(Line { text: "^C".into(), error: false });
                }
            }
            Msg::View(view) => self.view = view,
            Msg::Select(key) => (self.selected, self.begun.chose) = (key, true),
            Msg::Tab(tab) => self.tab = tab,
            Msg::Namespace(namespace) => self.namespace = namespace,
            Msg::Filter(words) => self.filter = words,
            Msg::Settle => (self.playing, self.goal) = (false, Some(Goal::Settled)),
            Msg::Break(text) => self.stop_at(&text),
            Msg::Unbreak(at) => {
                if at < self.breakpoints.len() {
                    self.breakpoints.remove(at);
                }
            }
            Msg::Mark(second) => self.mark(usize::from(second)),
            Msg::Unmark => (self.instants, self.difference) = ([None, None], None),
            Msg::Beside(number) => self.put_beside(number),
            Msg::Loop(name) => self.chosen = if self.chosen == name { None } else { name },
            Msg::Stage(..) => {}
        }
    }

    fn restart(&mut self) {
        (self.stopped, self.goal) = (None, None);
        let turns = self.run.turns + 1;
        self.run = Run::new(self.run.seed());
        self.run.turns = turns;
        self.rescan();
        self.apply();
        self.playing = true;
    }

    fn rescan(&mut self) {
        self.marks = Marks::default();
        (self.scanned, self.last_bad) = (0, None);
        self.left = None;
        self.drawn = None;
    }

    fn jump(&mut self, forward: bool) {
        let now = self.run.now();
        let acts = || {
            self.run
                .journal()
                .iter()
                .filter(|entry| entry.actor.name == "user" && !words::only_reads(entry))
                .map(|entry| entry.time.0 / 1000)
        };
        let to = if forward { acts().find(|at| *at > now) } else { acts().rfind(|at| *at < now) };
        match to {
            Some(to) => self.update(Msg::Seek(to)),
            None if forward => self.run.live(),
            None => self.update(Msg::Seek(0)),
        }
    }

    fn stop_at(&mut self, text: &str) {
        match Breakpoint::parse(text) {
            Ok(new) => {
                self.misread = Message::default();
                self.breakpoints.retain(|old| *old != new);
                self.breakpoints.push(new);
            }
            Err(words) => self.misread = words,
        }
    }

    fn mark(&mut self, which: usize) {
        let instant = Instant { at: self.run.now(), branch: self.run.branches().0, objects: self.run.objects() };
        self.instants[which] = Some(Rc::new(instant));
        if let [Some(a), Some(b)] = &self.instants {
            self.difference = Some(Rc::new(changes::between(&a.objects, &b.objects, DETAIL)));
        }
    }

    /// Stops the clock where the history has no room any more, and says so.
    pub fn full(&mut self) {
        let words = msg::history_full_text();
        self.notice = words.clone();
        self.stopped = Some(Stop { at: self.run.now(), text: msg::history_full(), words });
        (self.playing, self.goal, self.resumes) = (false, None, false);
    }

    /// Runs towards a time with a budget of tasks, and no further than a breakpoint. True when there is nothing left to run.
    pub fn advance(&mut self, to: Time, budget: usize) -> bool {
        self.finish();
        if self.breakpoints.is_empty() {
            return self.run.advance(to, budget);
        }
        self.advance_watched(to, budget)
    }

    fn advance_watched(&mut self, to: Time, budget: usize) -> bool {
        for _ in 0..budget {
            let before = self.run.happened();
            let done = self.run.advance(to, 1);
            if self.stops(before) || done {
                return true;
            }
        }
        false
    }

    /// Stops the clock if a breakpoint holds for what was written since an entry.
    fn stops(&mut self, since: usize) -> bool {
        let new = self.run.sim().journal().from(since);
        let found = new.iter().find_map(|entry| Some((entry, self.breakpoints.iter().find(|breakpoint| breakpoint.hit(entry))?)));
        let Some((entry, breakpoint)) = found else { return false };
        let about = match entry.write().map(|(_, object)| &object.body) {
            Some(crate::api::Body::Event(event)) => {
                self.selected = event.involved_object.key().or(entry.key());
                msg::event_said(&event.reason, &event.message)
            }
            _ => {
                self.selected = entry.key();
                words::effect(entry)
            }
        };
        let at = entry.time.0 / 1000;
        self.notice = msg::notice_stopped(at, &breakpoint.text, &about);
        self.stopped = Some(Stop { at, text: Message::name(&breakpoint.text), words: about });
        (self.playing, self.goal, self.resumes) = (false, None, false);
        true
    }

    fn put_beside(&mut self, number: Option<u32>) {
        if let Some(other) = self.beside.take() {
            self.run.keep(&other.run);
            self.left = None;
        }
        let Some(number) = number.filter(|number| self.run.branches().1.contains(number)) else { return };
        let mut other = State::new("", self.run.seed());
        other.run = self.run.other(number);
        self.beside = Some(Box::new(other));
        self.follow(AT_ONCE);
    }

    /// Brings the branch beside this one to the same instant, with a budget of tasks. True when it is there.
    pub fn follow(&mut self, budget: usize) -> bool {
        self.beside.is_none() || self.follow_other(budget)
    }

    fn follow_other(&mut self, budget: usize) -> bool {
        let Some(other) = &mut self.beside else { return true };
        if !self.run.branches().1.contains(&other.run.branches().0) {
            self.beside = None;
            return true;
        }
        other.view = self.view;
        other.selected.clone_from(&self.selected);
        other.chosen.clone_from(&self.chosen);
        other.namespace.clone_from(&self.namespace);
        other.filter.clone_from(&self.filter);
        let (here, there) = (self.run.sim().now(), other.run.sim().now());
        if here < there {
            other.run.seek(here, budget);
        } else if there < here || other.run.repeats() {
            other.run.advance(here, budget);
        }
        other.run.sim().now() == here && !other.run.repeats()
    }

    /// What is worth saying aloud while the clock runs: a failure, that all is settled, and, if `all` is asked for, the newest
    /// decision. True when there is something new.
    pub fn speak(&mut self, all: bool) -> bool {
        let (happened, turns, settled) = (self.run.happened(), self.run.turns, self.run.sim().last_change());
        if self.heard.1 != turns || self.heard.0 > happened {
            // After a jump what lies behind is not news.
            self.heard = (happened, turns, self.heard.2);
            return false;
        }
        let journal = self.run.journal().first(happened);
        let new = journal.from(self.heard.0);
        let bad = match self.last_bad.filter(|at| (self.heard.0..happened).contains(at)) {
            // What is repeated lies before the last failure of all.
            None if self.run.in_past() => new.iter().rposition(words::is_bad).map(|at| self.heard.0 + at),
            bad => bad,
        };
        if let Some(bad) = bad {
            self.notice = words::narrate(journal.first(bad + 1));
        } else if settled != self.heard.2 && self.run.sim().now().0 >= settled.after(QUIET).0 {
            self.heard.2 = settled;
            let pill = self.drawn.as_ref().and_then(|(_, picture)| picture.pill.as_ref()).map(|pill| pill.0.clone()).unwrap_or_default();
            self.notice = msg::notice_stable_at(settled.0 / 1000, pill);
        } else if all && new.iter().any(|entry| !entry.is_event()) {
            self.notice = words::narrate(journal);
        } else {
            return false;
        }
        self.heard.0 = self.scanned.clamp(self.heard.0, happened).max(bad.map_or(0, |bad| bad + 1));
        true
    }

    /// A slice of the way to where nothing but Events changes for three seconds.
    pub fn pursue(&mut self, budget: usize) {
        self.finish();
        let goal = self.goal;
        match goal {
            Some(Goal::At(to)) if self.advance(to, budget) => self.goal = None,
            Some(Goal::At(_)) | None => {}
            Some(Goal::Settled) => {
                let before = self.run.happened();
                if self.run.settle(if self.breakpoints.is_empty() { budget } else { 1 }) {
                    self.goal = None;
                    self.notice = msg::notice_stable();
                }
                self.stops(before);
            }
        }
    }

    /// Goes to an instant of the past: at once if it is near a checkpoint, else on from there in slices.
    fn seek(&mut self, to: Time) {
        let budget = self.at_once();
        self.goal = (!self.run.seek(to, budget)).then_some(Goal::At(to));
    }

    /// A task of a large cluster takes longer.
    fn at_once(&self) -> usize {
        AT_ONCE / (1 + self.run.sim().server().count(Kind::Pod) / 1_000)
    }

    fn untried(&mut self) {
        (self.trial, self.plan, self.diagnostics) = (None, None, Rc::default());
    }

    /// Goes on with the trial of the text by one document. True when it has just been finished.
    pub fn try_on(&mut self) -> bool {
        self.trial.is_some() && self.try_next()
    }

    fn try_next(&mut self) -> bool {
        let Some(plan) = self.trial.as_mut().and_then(Trial::step) else { return false };
        self.trial = None;
        self.diagnostics = plan.diagnostics.clone();
        self.plan = Some(Rc::new(plan));
        true
    }

    /// Whether the text is being tried.
    pub fn tries(&self) -> bool {
        self.trial.is_some()
    }

    /// What is done in the past forks the history there; the future that was is kept.
    fn fork(&mut self) {
        if self.run.in_past() {
            self.update(Msg::Branch);
        }
    }

    /// The text is another one than before.
    fn edited(&mut self) {
        self.standing = if self.text == self.applied { Standing::Clean } else { Standing::Edited };
        self.trial = None;
        if self.standing == Standing::Clean {
            self.untried();
        }
    }

    /// Applies the text.
    fn apply(&mut self) {
        self.begin(false);
    }

    /// Begins to apply the text, with which the page may open: if it is short, that is all of it.
    fn begin(&mut self, opens: bool) {
        self.fork();
        self.untried();
        (self.standing, self.begun) = (Standing::Applying, Begun { opens, chose: false });
        self.notice = Message::default();
        self.run.begin(&self.text);
        // After the last document it is found that there are no more.
        for _ in 0..=DOCUMENTS {
            self.apply_next();
        }
    }

    /// Applies what is left of the manifest that is being applied, for what comes next is about all of it.
    fn finish(&mut self) {
        while self.run.applies() {
            self.apply_next();
        }
    }

    /// Applies the next document of the manifest that is being applied; after the last says what came of them.
    fn apply_next(&mut self) {
        if let Some((applied, answer)) = self.run.apply_next() {
            self.applied(&applied, answer);
        }
    }

    /// Says what came of a manifest, of which all documents have been applied.
    fn applied(&mut self, applied: &Applying, answer: Answer) {
        let begun = std::mem::take(&mut self.begun);
        let refused = answer.diagnostics.iter().filter(|diagnostic| diagnostic.error).count();
        let nothing = refused == 0 && answer.lines.is_empty();
        let unchanged = answer.lines.iter().filter(|line| line.text.ends_with(" unchanged")).count();
        self.standing = match answer.lines.len() {
            applied if applied > 0 && refused > 0 => Standing::Partly(applied - unchanged, unchanged, refused),
            _ if refused > 0 || nothing => Standing::Rejected,
            _ if begun.opens => Standing::Clean,
            _ => Standing::Applied,
        };
        if refused == 0 {
            self.applied = applied.text.clone();
        } else if let Standing::Partly(..) = self.standing {
            self.applied = went_through(&applied.text, &self.applied, &answer.diagnostics).into();
        }
        // How a page opens is read when somebody asks: the opening is short.
        if begun.opens {
            self.drift = None;
        } else if !matches!(self.standing, Standing::Rejected) {
            self.drift = Some(Drift::of(&self.applied, self.run.sim()));
        }
        // What is new is what the person will look at, unless that has been chosen since; an edit of what was there changes no selection.
        let made = self.made_since(applied.begun);
        if !begun.chose && (made.is_some() || self.selected.is_none()) {
            self.selected = made.or_else(|| adapt::first_workload(self.run.sim()));
        }
        // What was said meanwhile is newer.
        if self.notice.is_empty() {
            self.notice = Message::list(answer.lines.iter().map(|line| Message::name(&line.text)).collect());
        }
        self.diagnostics = Rc::new(answer.diagnostics);
        if nothing {
            let message = Message::state("error: no objects passed to apply");
            self.diagnostics = Rc::new(vec![Diagnostic { line: 1, columns: (0, 0), message, error: true, fix: None }]);
        }
        if !Rc::ptr_eq(&self.text, &applied.text) {
            self.edit_goes_on();
        }
    }

    /// What was edited while another text was being applied is tried on what came of that.
    fn edit_goes_on(&mut self) {
        self.edited();
        self.update(Msg::Check);
    }

    /// In which fields that the manifest sets the cluster differs from what it was when that was applied.
    pub fn drift(&mut self) -> Vec<String> {
        if !matches!(self.standing, Standing::Clean | Standing::Applied) || self.run.applies() {
            return Vec::new();
        }
        if self.drift.is_none() && self.run.in_past() {
            return Vec::new();
        }
        let sim = self.run.sim();
        let drift = self.drift.get_or_insert_with(|| Drift::of(&self.applied, sim));
        // Before it was applied there is nothing to compare.
        if sim.now().0 / 1000 < drift.since { Vec::new() } else { drift.read(sim, self.run.turns) }
    }

    /// Of the workloads that were created since some entry of the journal, the one that stands first in a picture.
    fn made_since(&self, entry: usize) -> Option<ObjectRef> {
        let new = self.run.sim().journal().from(entry).iter().filter_map(|entry| entry.write());
        let place = |object: &Object| adapt::workloads().position(|kind| kind == object.kind);
        let made = new.filter(|(op, _)| *op == Op::Added).filter_map(|(_, object)| Some((place(object)?, object.key())));
        let first = made
            .min_by(|(a, one), (b, other)| (a, &one.namespace).cmp(&(b, &other.namespace)).then_with(|| natural(&one.name, &other.name)));
        first.map(|(_, key)| key)
    }

    fn kubectl(&mut self, line: &str) {
        let line = line.trim();
        if line.is_empty() {
            return;
        }
        self.print(vec![Line { text: format!("$ {line}"), error: false }]);
        let history = Rc::make_mut(&mut self.history);
        if history.last().is_none_or(|last| last != line) {
            history.push(line.to_string());
            let more = history.len().saturating_sub(ENTERED);
            history.drain(..more);
        }
        if line == "clear" {
            self.console = Rc::default();
            return;
        }
        if let Some(fault) = line.strip_prefix("fault ") {
            self.update(Msg::Fault(fault.into()));
            // What the fault answers is printed as it is.
            let text = self.notice.english();
            Rc::make_mut(&mut self.console).push(Line { error: text.starts_with("error"), text });
            return;
        }
        if self.run.in_past() && crate::kubectl::only_reads(line) {
            let lines = self.run.ask(line);
            self.notice = lines.first().map(|line| Message::name(&line.text)).unwrap_or_default();
            self.print(lines);
            return;
        }
        self.fork();
        let answer = self.run.command(Command::Kubectl(line.into()));
        self.notice = answer.lines.first().map(|line| Message::name(&line.text)).unwrap_or_default();
        self.print(answer.lines);
    }

    /// Prints to the console, which does not grow without end.
    fn print(&mut self, lines: Vec<Line>) {
        let console = Rc::make_mut(&mut self.console);
        console.extend(lines);
        if console.len() > LINES {
            let more = console.len() - LINES * 3 / 4;
            console.drain(..more);
        }
    }

    /// Goes on with a long manifest, or lets a waiting command look at what has happened.
    pub fn poll(&mut self) {
        if self.run.applies() {
            self.apply_next();
            return;
        }
        let lines = self.run.poll();
        if !lines.is_empty() {
            self.print(lines);
        }
    }

    /// Marks of the timeline: everything that has happened and was read, also after the instant shown.
    pub fn marks(&mut self) -> Rc<Vec<Mark>> {
        let journal = self.run.journal();
        for (at, entry) in (self.scanned..).zip(journal.from(self.scanned).first(READ).iter()) {
            let Some(mark) = words::mark(entry) else { continue };
            if mark.bad {
                self.last_bad = Some(at);
            }
            self.marks.push(mark);
        }
        self.scanned = journal.len().min(self.scanned + READ);
        self.marks.all()
    }

    /// Whether more has happened than was read for the picture and the timeline.
    pub fn lags(&self) -> bool {
        self.picture_lags() || self.scanned < self.run.journal().len() || self.pods_at != Some((self.run.turns, self.run.happened()))
    }

    /// Whether the diagram shown is still being read.
    fn picture_lags(&self) -> bool {
        self.view_memory.lags || self.pods.lags()
    }

    /// The branch that was left, or the last that left this one: where they part, and what it did from there on.
    pub fn left(&mut self) -> Option<Rc<Left>> {
        let run = &self.run;
        let read = || {
            let (fork, journal, end) = run.fork()?;
            let since = journal.from(journal.partition_point(|entry| entry.time.0 / 1000 <= fork.at));
            let mut marks = Marks::default();
            since.iter().filter_map(words::mark).for_each(|mark| marks.push(mark));
            let marks = marks.all();
            Some(Rc::new(Left { number: fork.number, at: fork.at, end, marks }))
        };
        self.left.get_or_insert_with(read).clone()
    }

    /// What is on the stage. The same pointer as before if nothing that it shows has changed.
    pub fn picture(&mut self) -> Rc<Picture> {
        while !self.read(usize::MAX) {}
        self.draw(usize::MAX)
    }

    /// The same from what was read of the Pods, with so many nodes put in order anew; where Pods have not been read since a jump, the
    /// picture before it.
    pub fn draw(&mut self, most: usize) -> Rc<Picture> {
        if let (Some(_), Some((_, picture))) = (&self.coming, &self.drawn) {
            return picture.clone();
        }
        let key = Key {
            version: self.pods_at.unwrap_or_default(),
            happened: self.run.happened(),
            view: self.view,
            selected: self.selected.clone(),
            chosen: self.chosen.clone(),
            namespace: self.namespace.clone(),
            filter: self.filter.clone(),
            stage: self.stage,
            tick: match (self.view.refresh_ms)(self.run.sim()) {
                Some(ms) if self.pods.leave() => self.run.wall() / ms.min(100),
                Some(ms) => self.run.wall() / ms,
                None if self.pods.leave() => self.run.wall() / 100,
                None => 0,
            },
        };
        if let Some((drawn, picture)) = &self.drawn
            && *drawn == key
            && !self.picture_lags()
        {
            return picture.clone();
        }
        (self.view_memory.nodes.budget, self.view_memory.lags) = (most, false);
        let scope = self.scope();
        let mut model = adapt::model(&all(&self.run), &mut self.pods, &scope);
        for volume in &mut model.volumes {
            let disk = format!("volume/{}", volume.id.name);
            let files: Vec<_> = self.run.sim().disks.list(&disk).collect();
            volume.data = match files[..] {
                [] => Message::default(),
                [(_, text)] if text.lines().next().is_some() => {
                    Message::name(crate::i18n::format::middle(text.lines().next().unwrap_or(""), 18))
                }
                ref files => msg::volume_files(files.len()),
            };
        }
        let selected = self.object().cloned();
        model.chosen = selected.as_ref().and_then(|object| self.pods.get(object.meta.uid)).cloned();
        let uid = selected.as_ref().map(|object| object.meta.uid.to_string());
        let budget = self.view.uses.budget.then(|| adapt::budget(&all(&self.run), &self.pods, &scope, selected.as_deref()).map(Rc::new));
        let budget = budget.flatten();
        let namespaces = Rc::new(adapt::namespaces(&all(&self.run), &self.pods));
        // On a phone there is no strip over the diagram.
        if self.stage.0 < 560.0 && self.stage.1 >= self.stage.0 {
            model.budget = budget.clone();
        }
        let source = Source {
            sim: self.run.sim(),
            history: self.run.journal().first(self.run.happened()),
            epoch: self.run.turns,
            pods: &self.pods,
            all_read: self.pods_at == Some((self.run.turns, self.run.happened())),
            scope: &scope,
            selected: self.selected.as_ref(),
            uid: uid.as_deref(),
            chosen: self.chosen.as_deref(),
            stage: self.stage,
            read_limit: READ.max(most),
        };
        let mut scene = (self.view.draw)(&mut model, &source, &mut self.view_memory);
        scene.stage = self.stage;
        scene.failed = self.pods.failed();
        let pill = self.pill(&scene);
        let old = self.drawn.take().map(|(_, picture)| picture);
        // Equal parts keep their pointer, so that their components need not look.
        let scene = match &old {
            Some(old) => {
                scene.keep(&old.scene);
                if *old.scene == scene { old.scene.clone() } else { Rc::new(scene) }
            }
            None => Rc::new(scene),
        };
        let picture = Rc::new(Picture { scene, budget, pill, namespaces, hidden: model.hidden });
        let picture = match old {
            Some(old) if *old == *picture => old,
            Some(old) => {
                self.leave(old.scene.clone());
                picture
            }
            None => picture,
        };
        self.drawn = Some((key, picture.clone()));
        picture
    }

    /// A scene of thousands of shapes is taken apart in parts, once nobody looks at it.
    fn leave(&mut self, scene: Rc<Scene>) {
        self.left_scenes.push(scene);
        for scene in std::mem::take(&mut self.left_scenes) {
            match Rc::try_unwrap(scene) {
                Ok(scene) => deferred_drop::drop_later(scene.items),
                Err(scene) => self.left_scenes.push(scene),
            }
        }
    }

    /// Takes over what was written to Pods since it was last asked to, of so many entries or Pods. True when all is read.
    pub fn read(&mut self, most: usize) -> bool {
        let (turns, happened) = (self.run.turns, self.run.happened());
        let run = &self.run;
        let get = |key: &ObjectRef| run.get(key).cloned();
        if let Some((turn, read)) = self.pods_at
            && turn == turns
            && read <= happened
        {
            let to = happened.min(read.saturating_add(most));
            let written = run.journal().first(to).from(read).iter().filter_map(Entry::write);
            for (op, object) in written.filter(|(_, object)| object.kind == Kind::Pod) {
                // What has been written again since is read then.
                let gone = op == Op::Deleted;
                if gone || run.sim().server().is_newest(object) {
                    self.pods.take(object, gone, &get);
                }
            }
            self.pods_at = Some((turns, to));
            return to == happened;
        }
        let coming = self.coming.get_or_insert_with(|| Coming::new(run));
        if coming.turns != turns || coming.happened > happened {
            *coming = Coming::new(run);
        }
        let some = run.sim().server().some(Kind::Pod, coming.places, most);
        let done = some.map(|some| some.for_each(|object| coming.pods.take(object, false, &get))).is_none();
        coming.places = coming.places.saturating_add(most);
        if done {
            self.pods = std::mem::take(&mut coming.pods);
            self.pods_at = Some((turns, coming.happened));
            self.coming = None;
        }
        false
    }

    /// What has a rollout that can be followed: uids and keys.
    pub fn workloads(&self) -> Vec<(String, ObjectRef)> {
        let all = adapt::ROOTS.into_iter().filter(|kind| !matches!(kind, Kind::Job | Kind::CronJob));
        let all = all.flat_map(|kind| self.run.sim().list(kind)).filter(|object| object.meta.controller().is_none());
        let shown = all.filter(|object| self.namespace.as_ref().is_none_or(|namespace| *namespace == *object.meta.namespace));
        shown.map(|object| (object.meta.uid.to_string(), object.key())).collect()
    }

    /// What a hover card says of an object at the instant shown.
    pub fn card(&self, key: &ObjectRef) -> Option<Card> {
        card::read(self.run.sim(), &|object| self.ready_of(object), key)
    }

    /// What is said of an object whose status lags behind its Pods.
    pub fn status_lag(&self, object: &Object) -> Option<Message> {
        card::lag(self.ready_of(object), object)
    }

    /// How many Pods of a workload are ready: those that are drawn, or else those that the loops know of.
    pub fn ready_of(&self, object: &Object) -> usize {
        let (sim, uid) = (self.run.sim(), object.meta.uid);
        let sets = sim.list(Kind::ReplicaSet).filter(|set| set.meta.is_controlled_by(uid)).map(|set| set.meta.uid);
        let drawn = self.pods_at == Some((self.run.turns, self.run.happened()));
        sets.chain([uid]).map(|uid| if drawn { self.pods.totals(uid).ready } else { sim.ready_of(uid) }).sum()
    }

    fn pill(&self, scene: &Scene) -> Option<(Message, &'static str, &'static str)> {
        let which = match &self.view.status {
            Status::Fixed(words) => return Some((words(), "plain", "")),
            Status::Summary => return Some((scene.summary.clone(), "", "")),
            Status::Of(which) => *which,
        };
        let mut drawn: Vec<&str> = scene.items.iter().map(|item| item.id.uid.as_str()).collect();
        crate::sort::sort(&mut drawn);
        // Storage draws only what has claims; its words are of all.
        let scope = Some(self.scope()).filter(|scope| which == Workloads::InScope && scope.filter.trim().is_empty());
        // The chart is of one.
        let followed = self.view_memory.rollout.subject().filter(|_| which == Workloads::Followed && !scene.items.is_empty());
        let shown = |object: &&Rc<Object>| match &scope {
            _ if followed.is_some() => followed == Some(object.meta.uid),
            Some(scope) => scope.holds(object),
            None => drawn.binary_search(&object.meta.uid.to_string().as_str()).is_ok(),
        };
        let mut sets: std::collections::BTreeMap<Uid, Vec<PodTotals>> = Default::default();
        for set in self.run.sim().list(Kind::ReplicaSet) {
            let owner = set.meta.controller().map_or(set.meta.uid, |owner| owner.uid);
            sets.entry(owner).or_default().push(self.pods.totals(set.meta.uid));
        }
        let pods = |object: &Object| match sets.get(&object.meta.uid) {
            Some(sets) => sets.iter().copied().sum(),
            None => self.pods.totals(object.meta.uid),
        };
        let mut all: Vec<_> = [Kind::Deployment, Kind::StatefulSet, Kind::ReplicaSet, Kind::DaemonSet, Kind::Job]
            .into_iter()
            .flat_map(|kind| self.run.sim().list(kind))
            .filter(|object| object.meta.controller().is_none_or(|owner| owner.kind == "CronJob"))
            .filter(shown)
            .filter_map(|object| Some((words::standing(object, pods(object))?, object)))
            .collect();
        crate::sort::sort_by_key(&mut all, |((_, state), _)| worst_first(*state));
        let Some(((words, state), of)) = all.first() else { return lone(scene) };
        // Of several it is said which one is meant.
        let words = match state {
            _ if all.len() == 1 => words.clone(),
            PodState::Succeeded => msg::pill_jobs_complete(all.len()),
            PodState::Ready => words.clone(),
            _ => words::standing_of(of, pods(of)),
        };
        let failed = scene.items.iter().find_map(|item| match &item.body {
            Body::Pod { state: PodState::Failed, word, .. } => Some(word),
            _ => None,
        });
        if let (PodState::Creating | PodState::Pending, Some(word), true) = (state, failed, of.kind != Kind::Job) {
            return Some((msg::pill_rollout_waiting(word), PodState::NotReady.class(), PodState::NotReady.glyph()));
        }
        Some((words, state.class(), state.glyph()))
    }
}

/// The place of a state where the worst is told.
fn worst_first(state: PodState) -> u8 {
    match state {
        PodState::Failed => 0,
        PodState::Ready | PodState::Succeeded => 2,
        _ => 1,
    }
}

/// The same where there are only Pods without a workload.
fn lone(scene: &Scene) -> Option<(Message, &'static str, &'static str)> {
    let of = |item: &Rc<Item>| if let Body::Pod { state, word, .. } = &item.body { Some((*state, word.clone())) } else { None };
    let pods: Vec<(PodState, Message)> = scene.items.iter().filter_map(of).collect();
    let (state, word) = pods.iter().min_by_key(|(state, _)| worst_first(*state))?;
    let words = match (state, pods.iter().filter(|(other, _)| other == state).count()) {
        (PodState::Ready, _) => msg::standing_all_ready(),
        (_, n) => msg::pill_bare(n, word),
    };
    Some((words, state.class(), state.glyph()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::batch::Job;

    fn settled(text: &str) -> State {
        let mut state = State::new(text, 1);
        state.update(Msg::Seconds(30));
        state
    }

    #[test]
    fn the_pill_tells_of_the_job_that_is_worst() {
        let job = |name: &str, command: &str| {
            format!(
                "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: {name}}}\nspec: {{backoffLimit: 1, template: {{spec: {{restartPolicy: \
                 Never, containers: [{{name: c, image: busybox, command: [sh, -c, {command}]}}]}}}}}}\n---\n"
            )
        };
        let pill = |jobs: &[(&str, &str)], seconds: i64| {
            let mut state = State::new(&jobs.iter().map(|(name, command)| job(name, command)).collect::<String>(), 1);
            state.update(Msg::Seconds(seconds));
            state.picture().pill.clone().expect("words").0
        };
        let (quick, slow, fails) = (("quick", "exit 0"), ("slow", "sleep 60"), ("fails", "exit 1"));
        assert_eq!(pill(&[quick], 20), "Job complete");
        assert_eq!(pill(&[quick, slow], 20), "Job slow: running, 0 of 1 complete");
        assert_eq!(pill(&[quick, fails], 8), "Job fails: waiting to retry, 1 failed");
        assert_eq!(pill(&[quick, slow, fails], 50), "Job fails: failed: BackoffLimitExceeded");
        assert_eq!(pill(&[quick, slow], 80), "2 Jobs complete");
    }

    #[test]
    fn a_job_tries_again_only_while_it_will() {
        let says = |spec: &str, pods: PodTotals| {
            let text = format!(
                "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: x}}\nspec: {{{spec}template: {{spec: {{restartPolicy: Never, \
                 containers: [{{name: c, image: busybox}}]}}}}}}\n"
            );
            let mut state = State::new(&text, 1);
            state.update(Msg::Seconds(0));
            let job = state.run.sim().list(Kind::Job).next().unwrap().clone();
            words::standing(&job, pods).unwrap().0
        };
        let pods =
            |active, succeeded, failed| PodTotals { all: active + succeeded + failed, active, succeeded, failed, ..PodTotals::default() };
        assert_eq!(says("backoffLimit: 1, ", pods(0, 0, 1)), "Job waiting to retry, 1 failed");
        assert_eq!(says("backoffLimit: 1, ", pods(1, 0, 1)), "Job running, 0 of 1 complete");
        assert_eq!(says("backoffLimit: 1, ", pods(0, 1, 1)), "Job running, 1 of 1 complete");
        assert_eq!(says("backoffLimit: 0, ", pods(0, 0, 1)), "Job failing, 1 failed");
        assert_eq!(says("parallelism: 0, completions: 3, ", pods(0, 0, 1)), "Job paused, parallelism 0");
        assert_eq!(says("suspend: true, ", pods(0, 0, 1)), "Job suspended");
    }

    #[test]
    fn pods_that_have_failed_for_good_are_called_failed() {
        let pods = |policy: &str| {
            let manifest = format!(
                "apiVersion: v1\nkind: Pod\nmetadata: {{name: x}}\nspec: {{restartPolicy: {policy}, containers: [{{name: c, image: \
                 busybox, command: [sh, -c, exit 1]}}]}}\n"
            );
            let mut state = State::new(&manifest, 1);
            state.update(Msg::Seconds(30));
            state.picture().scene.word(PodState::Failed)
        };
        assert_eq!(pods("Never"), "Failed");
        assert_eq!(pods("Always"), "Failing");
    }

    /// A Job made smaller does not count the indexes that it has no more: it does not lag for ever.
    #[test]
    fn an_indexed_job_made_smaller_does_not_lag() {
        let manifest = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: x}\nspec: {completions: 5, parallelism: 5, completionMode: Indexed, \
                        backoffLimit: 20, template: {metadata: {annotations: {loopscope.dev/exit-after: 4s, \
                        loopscope.dev/exit-code-by-index: '0=1,1=1,2=1'}}, spec: {restartPolicy: Never, containers: [{name: c, image: \
                        busybox}]}}}\n";
        let mut state = State::new(manifest, 1);
        let marks = |state: &mut State| {
            while !state.read(usize::MAX) {}
            let picture = state.picture();
            let job = picture.scene.items.iter().find_map(|item| match &item.body {
                Body::Controller { of, .. } if of.id.kind == "Job" => Some(of.clone()),
                _ => None,
            });
            let counters = job.expect("a Job").counters.clone();
            (counters[0].value.clone(), counters[0].lags.to_string())
        };
        state.update(Msg::Seconds(30));
        assert_eq!(marks(&mut state), ("2/5".into(), String::new()));
        let patch = "kubectl patch job x --type=merge -p '{\"spec\":{\"completions\":3,\"parallelism\":3}}'";
        state.update(Msg::Kubectl(patch.into()));
        state.update(Msg::Seconds(30));
        assert_eq!(marks(&mut state), ("0/3".into(), String::new()));
    }

    /// How often a Job may still try: the further try that its back-off holds up is one.
    #[test]
    fn the_retries_of_a_job_are_counted_until_they_begin() {
        let manifest = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: fails}\nspec: {backoffLimit: 2, template: {spec: {restartPolicy: \
                        Never, containers: [{name: c, image: busybox, command: [sh, -c, 'sleep 1; exit 1']}]}}}\n";
        let mut state = State::new(manifest, 1);
        let mut seen: Vec<String> = Vec::new();
        for _ in 0..80 {
            state.update(Msg::Seconds(1));
            let picture = state.picture();
            let chip = picture.scene.items.iter().find_map(|item| match &item.body {
                Body::Controller { of, .. } if of.id.name == "fails" => Some(of.chip.to_string()),
                _ => None,
            });
            seen.extend(chip.filter(|chip| !chip.is_empty() && seen.last() != Some(chip)));
        }
        assert_eq!(seen, ["2 retries left", "1 retry left", "0 retries left", "Failed"]);
    }

    #[test]
    fn over_a_rollout_it_is_said_how_it_stands() {
        let mut state = settled((examples::ALL[0].text)());
        state.update(Msg::View(&views::rollout::VIEW));
        let pill = |state: &mut State| state.picture().pill.clone().map(|pill| pill.0).unwrap_or_default();
        assert_eq!(pill(&mut state), "All Pods are Ready");
        state.update(Msg::Kubectl("kubectl set image deployment/nginx-deployment nginx=nginx:1.9.1".into()));
        state.update(Msg::Seconds(1));
        assert_eq!(pill(&mut state), "Rolling update in progress");
        state.update(Msg::Kubectl("kubectl rollout pause deployment/nginx-deployment".into()));
        state.update(Msg::Seconds(1));
        assert_eq!(pill(&mut state), "Rollout paused");
        state.update(Msg::Kubectl("kubectl rollout resume deployment/nginx-deployment".into()));
        state.update(Msg::Seconds(30));
        assert_eq!(pill(&mut state), "All Pods are Ready");
        let mut state = settled((examples::ALL[2].text)());
        state.update(Msg::View(&views::rollout::VIEW));
        state.update(Msg::Kubectl("kubectl set image statefulset/web nginx=nginx:1.27".into()));
        state.update(Msg::Seconds(1));
        assert_eq!(pill(&mut state), "Rolling update in progress");
        state.update(Msg::Seconds(120));
        assert_eq!(pill(&mut state), "All Pods are Ready");
    }

    /// However much else is written while an update stands still.
    #[test]
    fn how_a_replicaset_was_scaled_is_told_as_long_as_its_update_lasts() {
        let mut state = settled((examples::ALL[0].text)());
        state.update(Msg::Kubectl("kubectl scale deployment/nginx-deployment --replicas=4".into()));
        state.update(Msg::Seconds(10));
        state.update(Msg::Kubectl("kubectl set image deployment/nginx-deployment nginx=nginx:1.161".into()));
        state.update(Msg::Seconds(60));
        let chips = |state: &mut State| -> Vec<String> {
            let of = |item: &Rc<Item>| match &item.body {
                Body::Controller { of, .. } if of.id.kind == "ReplicaSet" && of.id.name.starts_with("nginx-") => Some(of.chip.to_string()),
                _ => None,
            };
            state.picture().scene.items.iter().filter_map(of).filter(|chip| chip.contains('→')).collect()
        };
        let told = chips(&mut state);
        assert!(!told.is_empty());
        let before = state.run.happened();
        for at in 0..30 {
            state.update(Msg::Kubectl(format!("kubectl create deployment other-{at} --image=nginx --replicas=30")));
            state.update(Msg::Seconds(5));
            state.update(Msg::Kubectl(format!("kubectl delete deployment other-{at}")));
            state.update(Msg::Seconds(5));
            state.picture();
        }
        assert!(state.run.happened() > before + 4_000);
        assert_eq!(chips(&mut state), told);
        // As it was then, also when it is looked at again from a time before it.
        state.update(Msg::Seek(2_000));
        assert_eq!(chips(&mut state), Vec::<String>::new());
        state.update(Msg::Live);
        assert_eq!(chips(&mut state), told);
    }

    /// Of every instant a counter of a Job is as its Pods are, or marked.
    #[test]
    fn a_job_that_has_not_counted_its_pods_yet_is_marked() {
        let mut state = State::new((examples::ALL.iter().find(|of| of.file.starts_with("jobs")).unwrap().text)(), 1);
        let mut marked = 0;
        for _ in 0..400 {
            state.update(Msg::Step);
            for item in &state.picture().scene.items {
                let Body::Controller { of, .. } = &item.body else { continue };
                let Some(job) = state.run.sim().list(Kind::Job).find(|job| job.meta.uid.to_string() == item.id.uid) else { continue };
                let mine = || state.run.sim().list(Kind::Pod).filter(|pod| pod.meta.is_controlled_by(job.meta.uid));
                let phase = |phase: &str| mine().filter(|pod| pod.pod().is_some_and(|pod| pod.status.phase == phase)).count();
                let active = mine().filter(|pod| pod.is_active_pod()).count();
                let status = &job.get::<Job>().unwrap().status;
                let lags = [
                    (status.succeeded as usize) < phase("Succeeded"),
                    status.active as usize != active,
                    (status.failed as usize) < phase("Failed"),
                ];
                assert_eq!(of.counters.iter().map(|counter| !counter.lags.is_empty()).collect::<Vec<_>>(), lags, "{status:?}");
                marked += usize::from(lags.contains(&true));
            }
        }
        assert!(marked > 20, "{marked}");
    }

    #[test]
    fn a_rollout_is_followed_by_revision_and_again_after_a_seek() {
        let mut state = settled((examples::ALL[0].text)());
        let image = state.text.replace("nginx:1.7.9", "nginx:1.9.1");
        state.update(Msg::Edit(image));
        state.apply();
        state.update(Msg::View(&views::rollout::VIEW));
        state.update(Msg::Seconds(20));
        let words = |state: &mut State| state.picture().scene.summary.clone();
        let end = words(&mut state);
        assert!(end.contains("nginx:1.7.9") && end.contains("0 ready, 0 not ready; revision nginx:1.9.1"), "{end}");
        state.update(Msg::Seek(10_000));
        let before = words(&mut state);
        assert!(before.ends_with("2 ready, 0 not ready") && !before.contains("1.9.1"), "{before}");
        state.update(Msg::Live);
        assert_eq!(words(&mut state), end);
    }

    #[test]
    fn not_all_is_well_where_what_storage_does_not_draw_is_not() {
        let claim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}";
        let workload = |name: &str, volumes: &str| {
            let pod =
                format!("{{metadata: {{labels: {{a: {name}}}}}, spec: {{containers: [{{name: c, image: i}}], volumes: [{volumes}]}}}}");
            let spec = format!("{{replicas: 1, selector: {{matchLabels: {{a: {name}}}}}, template: {pod}}}");
            format!("{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: {name}}}, spec: {spec}}}")
        };
        let holds = workload("db", "{name: v, persistentVolumeClaim: {claimName: c}}");
        let waits = workload("web", "{name: v, secret: {secretName: missing}}");
        let pill = |text: &str, view: &'static View| {
            let mut state = settled(text);
            state.stage = (1200.0, 700.0);
            state.update(Msg::View(view));
            let picture = state.picture();
            let drawn = picture.scene.items.iter().filter(|item| item.id.kind == "Deployment").count();
            (picture.pill.clone().expect("words").0.to_string(), drawn)
        };
        let (alone, both) = ([claim, &holds].join("\n---\n"), [claim, &holds, &waits].join("\n---\n"));
        assert_eq!(pill(&alone, &views::storage::VIEW), ("All Pods are Ready".into(), 1));
        assert_eq!(pill(&both, &views::storage::VIEW), ("web: 0 of 1 Pods are Ready".into(), 1));
        assert_eq!(pill(&both, &views::ownership::VIEW).1, 2);
    }

    #[test]
    fn a_pod_that_cannot_start_names_what_it_waits_for() {
        let pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}], volumes: [{name: v, \
                   secret: {secretName: tls}}]}}";
        let mut state = settled(pod);
        let told = |state: &mut State| {
            let of = |item: &Rc<crate::views::shape::Item>| match &item.body {
                Body::Pod { word, .. } => Some(word.clone()),
                _ => None,
            };
            state.picture().scene.items.iter().find_map(of)
        };
        assert_eq!(told(&mut state).as_deref(), Some("waiting for Secret tls"));
        state.update(Msg::Kubectl("kubectl create secret generic tls --from-literal=a=b".into()));
        state.update(Msg::Seconds(300));
        assert_eq!(told(&mut state).as_deref(), Some("Ready"));
    }

    #[test]
    fn the_limits_of_a_statefulset_hold_for_an_update_and_a_gap_is_named() {
        let mut state = settled((examples::ALL[2].text)());
        state.update(Msg::View(&views::rollout::VIEW));
        state.stage = (900.0, 600.0);
        let words = |state: &mut State| -> Vec<String> {
            let of = |item: &Rc<crate::views::shape::Item>| match &item.body {
                Body::Chart(chart) => Some(chart.words.iter().map(|word| word.4.to_string()).collect::<Vec<_>>()),
                _ => None,
            };
            state.picture().scene.items.iter().find_map(of).unwrap_or_default()
        };
        let limits = |words: &[String]| words.iter().filter(|words| words.starts_with("at ")).count();
        assert_eq!(limits(&words(&mut state)), 0);
        state.update(Msg::Kubectl("kubectl delete pod web-0 --wait=false".into()));
        state.update(Msg::Seconds(10));
        let told = words(&mut state);
        assert!(limits(&told) == 0 && told.contains(&"web-0 deleted by you".into()), "{told:?}");
        state.update(Msg::Kubectl("kubectl set image statefulset/web nginx=nginx:1.27".into()));
        state.update(Msg::Seconds(1));
        assert_eq!(limits(&words(&mut state)), 2);
    }

    #[test]
    fn a_silent_node_counts_down_to_the_eviction_of_its_pods() {
        let mut state = settled((examples::ALL[0].text)());
        state.update(Msg::View(&views::nodes::VIEW));
        let node = state.run.sim().list(Kind::Pod).find_map(|pod| Some(pod.pod()?.node_name.clone())).expect("a node");
        state.update(Msg::Fault(format!("node-down {node}")));
        let note = |state: &mut State| {
            let picture = state.picture();
            let of = |item: &Rc<crate::views::shape::Item>| match &item.body {
                Body::Node(body) if *item.id.name == *node => Some(body.note.iter().map(Message::to_string).collect::<Vec<_>>().join("\n")),
                _ => None,
            };
            picture.scene.items.iter().find_map(of).unwrap_or_default()
        };
        state.update(Msg::Seconds(90));
        let left = |note: &str| note.split_once("\nPods are evicted in ").map(|(_, left)| left.to_string());
        let first = left(&note(&mut state)).expect("a countdown");
        assert!(first.starts_with("04:"), "{first}");
        // It ticks although nothing is written, and ends with the eviction.
        state.update(Msg::Seconds(10));
        assert_ne!(left(&note(&mut state)), Some(first));
        state.update(Msg::Seconds(300));
        assert_eq!(left(&note(&mut state)), None);
    }

    #[test]
    fn a_step_when_all_is_settled_leaves_the_clock_where_it_is() {
        let mut state = settled((examples::ALL[0].text)());
        let (now, written) = (state.run.now(), state.run.journal().len());
        for _ in 0..3 {
            state.update(Msg::Step);
            assert!(state.notice.starts_with("Stable"), "{}", state.notice);
        }
        assert!(state.run.now() < now + 4_000, "{now} {}", state.run.now());
        assert_eq!(state.run.journal().len(), written);
        // What comes then is what would have come without the steps.
        let mut other = settled((examples::ALL[0].text)());
        for state in [&mut state, &mut other] {
            state.kubectl("scale deployment nginx-deployment --replicas=3");
            state.update(Msg::Seconds(30));
        }
        assert_eq!(state.run.journal().len(), other.run.journal().len());
        assert_eq!(ready(&state), 3);
    }

    fn ready(state: &State) -> usize {
        state.run.sim().list(Kind::Pod).filter(|pod| pod.pod().is_some_and(|pod| pod.is_ready())).count()
    }

    #[test]
    fn the_page_begins_with_the_notes_deployment_and_it_becomes_ready() {
        let mut state = settled((examples::ALL[0].text)());
        assert_eq!(ready(&state), 2);
        let picture = state.picture();
        let kinds: Vec<&str> = picture.scene.items.iter().map(|item| item.id.kind.as_str()).collect();
        assert_eq!(kinds, ["Deployment", "ReplicaSet", "Pod", "Pod"]);
        assert!(Rc::ptr_eq(&picture, &state.picture()));
        assert!(state.marks().iter().any(|mark| mark.lane == 0));
    }

    #[test]
    fn a_picture_that_has_followed_the_writes_is_the_one_that_is_read_anew() {
        let mut state = settled((examples::ALL[2].text)());
        state.playing = false;
        for line in ["kubectl delete pod web-0", "kubectl scale sts/web --replicas=5", "fault node-down node-1", "kubectl delete sts web"] {
            state.update(if line.starts_with("fault") { Msg::Fault(line[6..].into()) } else { Msg::Kubectl(line.into()) });
            for _ in 0..30 {
                let to = Time(state.run.sim().now().0 + 1_700_000);
                state.advance(to, usize::MAX);
                let followed = state.picture();
                (state.pods_at, state.drawn) = (None, None);
                assert_eq!(followed, state.picture(), "{} ms", state.run.now());
            }
        }
    }

    #[test]
    fn a_step_advances_by_one_pass_of_a_loop() {
        let mut state = State::new((examples::ALL[0].text)(), 1);
        let mut seen = Vec::new();
        for _ in 0..4 {
            let before = state.run.journal().len();
            state.update(Msg::Step);
            seen.push(state.run.journal().from(before).iter().filter(|entry| !entry.is_event()).map(|entry| entry.actor.name).next());
        }
        assert_eq!(seen[0], Some("deployment-controller"));
        assert!(!state.playing);
    }

    #[test]
    fn the_past_is_the_same_when_it_is_visited_again() {
        let mut state = settled((examples::ALL[2].text)());
        state.update(Msg::Kubectl("kubectl delete pod web-0".into()));
        state.update(Msg::Seconds(20));
        let end: Vec<_> = state.run.objects();
        let entries = state.run.journal().len();
        state.update(Msg::Seek(5_000));
        assert!(state.run.in_past());
        let then = state.run.objects();
        state.update(Msg::Seek(12_000));
        state.update(Msg::Seek(5_000));
        assert_eq!(then, state.run.objects());
        // Playing on from there ends where the history ended.
        state.update(Msg::Seconds(100));
        assert!(!state.run.in_past());
        state.update(Msg::Live);
        assert_eq!(end, state.run.objects());
        assert_eq!(entries, state.run.journal().len());
    }

    #[test]
    fn a_command_in_the_past_forks_the_history_and_the_old_future_is_kept() {
        let mut state = settled((examples::ALL[0].text)());
        let (end, future) = (state.run.end(), state.run.objects());
        state.update(Msg::Seek(500));
        state.update(Msg::Edit((examples::ALL[2].text)().into()));
        state.update(Msg::Apply);
        assert!(!state.run.in_past());
        assert_eq!((state.run.end(), state.run.branches()), (500, (2, vec![1])));
        // What was left is told on the timeline, from either side.
        let left = |state: &mut State| {
            let left = state.left().expect("a fork");
            (left.number, left.at, left.marks.iter().all(|mark| mark.at > 500), left.marks.iter().any(|mark| mark.lane == 0))
        };
        assert_eq!(left(&mut state), (2, 500, true, false));
        state.update(Msg::Seconds(30));
        assert_eq!(ready(&state), 4);
        let other = state.run.objects();
        state.update(Msg::Switch(1));
        assert_eq!((state.run.end(), state.run.branches()), (end, (1, vec![2])));
        assert_eq!(state.run.objects(), future);
        assert_eq!(left(&mut state), (2, 500, true, false));
        // Both can be looked back into.
        state.update(Msg::Seek(300));
        state.update(Msg::Live);
        state.update(Msg::Switch(2));
        assert_eq!(state.run.objects(), other);
    }

    #[test]
    fn a_question_in_the_past_is_answered_about_that_instant_and_forks_nothing() {
        let mut state = settled((examples::ALL[0].text)());
        state.update(Msg::Seek(500));
        state.update(Msg::Kubectl("kubectl get pods".into()));
        assert!(state.run.in_past());
        assert!(state.console.iter().any(|line| line.text.contains("ContainerCreating")), "{:?}", state.console);
        state.update(Msg::Live);
        assert_eq!(state.run.branches(), (1, vec![]));
    }

    #[test]
    fn a_question_leaves_no_mark_and_is_no_step_of_ones_own() {
        let mut state = settled((examples::ALL[0].text)());
        let user = |state: &mut State| state.marks().iter().filter(|mark| mark.lane == 0).count();
        let before = user(&mut state);
        for line in ["kubectl get pods -o wide", "-n default describe pod x", "kubectl rollout history deployment nginx-deployment"] {
            state.update(Msg::Kubectl(line.into()));
        }
        assert_eq!(user(&mut state), before);
        state.update(Msg::Jump(false));
        assert_eq!(state.run.now(), 0);
        state.update(Msg::Live);
        state.update(Msg::Kubectl("kubectl rollout restart deployment nginx-deployment".into()));
        assert!(user(&mut state) > before);
    }

    #[test]
    fn a_manifest_that_is_partly_refused_says_how_much_of_it() {
        let two = format!("{}\n---\n{}", (examples::ALL[0].text)(), (examples::ALL[0].text)().replace("replicas: 2", "replicas: two"));
        let mut state = settled("");
        state.update(Msg::Edit(two));
        state.update(Msg::Apply);
        assert_eq!(state.standing, Standing::Partly(1, 0, 1));
    }

    #[test]
    fn a_far_instant_is_reached_in_slices_and_is_the_same() {
        let many = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: many}, spec: {replicas: 300, selector: {matchLabels: {app: many}}, template: {metadata: {labels: {app: many}}, spec: {containers: [{name: web, image: nginx}]}}}}";
        let reach = |state: &mut State, msg: Msg| {
            state.update(msg);
            let mut slices = 0;
            while state.goal.is_some() {
                state.pursue(64);
                slices += 1;
            }
            (slices, state.run.now(), state.run.sim().server().version())
        };
        let mut state = State::new(many, 1);
        let (slices, now, version) = reach(&mut state, Msg::Seconds(10));
        assert!(slices > 0 && now == 10_000, "{slices} {now}");
        let mut whole = State::new(many, 1);
        while !whole.advance(Time(10_000_000), usize::MAX) {}
        assert_eq!(whole.run.sim().server().version(), version);
        let back = reach(&mut state, Msg::Seek(300));
        let again = reach(&mut state, Msg::Seek(300));
        assert_eq!((back.1, back.2), (again.1, again.2));
        assert_eq!(back.1, 300);
        let (_, _, end) = reach(&mut state, Msg::Seek(9_999));
        assert!(back.2 < end && end <= version);
        // Seconds add up, also while they are on their way.
        let mut quick = State::new(many, 1);
        for _ in 0..5 {
            quick.update(Msg::Seconds(1));
        }
        while quick.goal.is_some() {
            quick.pursue(64);
        }
        assert_eq!(quick.run.now(), 5_000);
        // Whoever wants the clock for himself has it.
        state.update(Msg::Seconds(600));
        state.update(Msg::Pause);
        assert_eq!(state.goal, None);
    }

    #[test]
    fn many_nodes_take_turns_and_the_picture_is_the_same_in_the_end() {
        let many = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: many}, spec: {replicas: 300, selector: {matchLabels: {app: many}}, template: {metadata: {labels: {app: many}}, spec: {containers: [{name: web, image: nginx}]}}}}";
        let mut states = [(); 2].map(|()| State::new(many, 1));
        for state in &mut states {
            (4..=9).for_each(|node| state.update(Msg::Fault(format!("add-node node-{node}"))));
            state.update(Msg::View(&views::nodes::VIEW));
            state.update(Msg::Seconds(20));
            while state.goal.is_some() {
                state.pursue(usize::MAX);
            }
        }
        let [parts, whole] = &mut states;
        let turns = |state: &mut State| {
            let mut turns = 1;
            while !state.read(usize::MAX) {}
            state.marks();
            state.draw(1);
            while state.lags() {
                state.draw(1);
                turns += 1;
            }
            turns
        };
        let first = turns(parts);
        assert!(first > 3, "{first}");
        assert_eq!(parts.draw(1).scene, whole.picture().scene);
        // All Pods are of an older revision then: again each node has its turn.
        for state in [&mut *parts, &mut *whole] {
            state.update(Msg::Kubectl("kubectl set image deployment/many web=nginx:1.26".into()));
            state.update(Msg::Seconds(1));
        }
        assert!(turns(parts) > 3);
        assert_eq!(parts.draw(1).scene, whole.picture().scene);
        assert_eq!(turns(parts), 1);
    }

    #[test]
    fn a_full_history_stops_the_clock_and_says_so() {
        let mut state = State::new((examples::ALL[0].text)(), 1);
        state.update(Msg::Settle);
        state.full();
        assert_eq!((state.playing, state.goal), (false, None));
        assert!(state.stopped.as_ref().is_some_and(|stop| stop.text == "The history is full") && state.notice.contains("three gigabytes"));
        // What was is still there, and a new beginning goes.
        state.update(Msg::Restart);
        assert_eq!(state.stopped, None);
        state.update(Msg::Seconds(10));
        assert_eq!(ready(&state), 2);
    }

    #[test]
    fn settling_ends_when_all_is_quiet() {
        let mut state = State::new((examples::ALL[2].text)(), 1);
        state.update(Msg::Settle);
        for _ in 0..100_000 {
            state.pursue(16);
        }
        assert_eq!(state.goal, None);
        let (now, count) = (state.run.now(), ready(&state));
        assert!(count > 0 && now < 60_000, "{now}");
        state.update(Msg::Seconds(30));
        assert_eq!(ready(&state), count);
    }

    #[test]
    fn a_filter_leaves_what_it_asks_for_and_says_how_much_it_hides() {
        let mut state = settled((examples::ALL[4].text)());
        let names = |state: &mut State| {
            let picture = state.picture();
            let mut kinds: Vec<String> = picture.scene.items.iter().map(|item| format!("{} {}", item.id.kind, item.id.name)).collect();
            kinds.sort();
            (kinds, picture.hidden)
        };
        let (all, hidden) = names(&mut state);
        assert_eq!(hidden, 0);
        state.update(Msg::Filter("web".into()));
        let (some, hidden) = names(&mut state);
        assert_eq!(some, ["Pod web-0", "Pod web-1", "Pod web-2", "StatefulSet web"]);
        assert_eq!(hidden + some.len(), all.len());
        state.update(Msg::Filter("kind:pod app=shop".into()));
        assert_eq!(names(&mut state).0.iter().filter(|name| name.starts_with("Pod")).count(), 3);
    }

    #[test]
    fn a_remedy_is_tried_on_a_copy_and_then_applied() {
        let mut state = settled("");
        state.update(Msg::Kubectl("kubectl cordon node-1 node-2 node-3".into()));
        state.update(Msg::Edit((examples::ALL[0].text)().into()));
        state.apply();
        state.update(Msg::Seconds(10));
        let (found, helps) = state.diagnosis();
        let kinds: Vec<&str> = found.iter().map(|found| found.object.kind.name()).collect();
        assert_eq!((kinds, helps.len()), (vec!["Deployment", "ReplicaSet", "Pod"], 0), "{found:#?}");
        let (commands, objects) = (state.run.journal().len(), state.run.objects());
        state.update(Msg::Try);
        assert_eq!((state.run.journal().len(), state.run.objects()), (commands, objects));
        let (found, helps) = state.diagnosis();
        let at = helps.iter().position(|helps| *helps).expect("one helps");
        state.update(Msg::Cure(found[0].remedies[at].clone()));
        state.update(Msg::Seconds(10));
        assert_eq!((state.diagnosis().0, ready(&state)), (vec![], 2));
    }

    #[test]
    fn a_fault_is_part_of_the_history() {
        let mut state = settled((examples::ALL[0].text)());
        let pod = state.run.sim().list(Kind::Pod).next().expect("a Pod").meta.name.to_string();
        state.update(Msg::Fault(format!("exit pod/{pod} 3")));
        state.update(Msg::Seconds(5));
        let restarts = |state: &State| {
            state
                .run
                .sim()
                .list(Kind::Pod)
                .filter_map(|p| p.pod())
                .flat_map(|p| &p.status.container_statuses)
                .map(|c| c.restart_count)
                .sum::<i32>()
        };
        assert_eq!(restarts(&state), 1);
        let now = state.run.now();
        state.update(Msg::Seek(100));
        state.update(Msg::Seek(now - 1));
        assert_eq!(restarts(&state), 1);
    }

    #[test]
    fn a_refused_manifest_changes_nothing_and_is_told_at_its_line() {
        let mut state = settled((examples::ALL[0].text)());
        let version = state.run.version();
        state.update(Msg::Edit((examples::ALL[0].text)().replace("  replicas: 2", "  replica: 2")));
        assert_eq!(state.standing, Standing::Edited);
        state.update(Msg::Apply);
        assert_eq!(state.standing, Standing::Rejected);
        assert_eq!(state.run.version(), version);
        let diagnostic = &state.diagnostics[0];
        assert_eq!(diagnostic.line, 9);
        assert!(diagnostic.message.contains("unknown field \"spec.replica\""), "{}", diagnostic.message);
        assert_eq!(diagnostic.fix.as_deref(), Some("replicas"));
        state.update(Msg::Revert);
        assert_eq!(*state.text, *(examples::ALL[0].text)());
    }

    #[test]
    fn nothing_else_moves_while_an_update_goes_on() {
        for (replicas, stage) in
            [(2, (1200.0, 700.0)), (4, (1200.0, 700.0)), (6, (1200.0, 700.0)), (9, (1200.0, 700.0)), (4, (480.0, 272.0))]
        {
            let text = |name: &str, replicas: usize| {
                format!(
                    "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: {name}}}, spec: {{replicas: {replicas}, selector: {{matchLabels: {{app: {name}}}}}, \
                     template: {{metadata: {{labels: {{app: {name}}}}}, spec: {{containers: [{{name: c, image: 'nginx:1'}}]}}}}}}}}\n---\n"
                )
            };
            let mut state = settled(&[text("first", replicas), text("second", 2)].concat());
            state.update(Msg::Stage(stage.0, stage.1));
            state.update(Msg::Kubectl("kubectl set image deployment/first c=nginx:2".into()));
            let mut seen = std::collections::BTreeSet::new();
            for _ in 0..1500 {
                state.update(Msg::Step);
                let scene = state.picture().scene.clone();
                if scene.items.iter().filter(|item| item.id.kind == "ReplicaSet" && item.id.name.starts_with("first")).count() < 2 {
                    continue;
                }
                let at = |name: &str| {
                    scene.items.iter().find(|item| item.id.kind == "Deployment" && item.id.name == name).expect("it is drawn").rect
                };
                seen.insert(format!("{:?} {:?}", at("first"), at("second")));
            }
            assert_eq!(seen.len(), 1, "{replicas} {stage:?} {seen:?}");
        }
    }

    #[test]
    fn a_claim_that_outlives_its_pod_is_told_of_until_something_else_is_done() {
        let mut state = settled((examples::ALL[2].text)());
        state.view = &views::storage::VIEW;
        let told = |state: &mut State| {
            let scene = state.picture().scene.clone();
            scene.labels.iter().find(|label| label.class == "kept").map(|label| label.text.clone())
        };
        assert_eq!(told(&mut state), None);
        state.update(Msg::Kubectl("kubectl delete pod web-1".into()));
        let words = told(&mut state).expect("a note");
        assert!(words.starts_with("You deleted Pod web-1, not its claim: www-web-1 keeps its "), "{words}");
        state.update(Msg::Seconds(60));
        assert_eq!(told(&mut state).as_deref(), Some("You deleted Pod web-1, not its claim: the new Pod has www-web-1 again"));
        state.update(Msg::Kubectl("kubectl get pods".into()));
        assert!(told(&mut state).is_some());
        state.update(Msg::Kubectl("kubectl scale statefulset web --replicas=3".into()));
        assert_eq!(told(&mut state), None);
    }

    #[test]
    fn two_instants_are_compared_also_of_two_branches() {
        let mut state = settled((examples::ALL[0].text)());
        state.update(Msg::Mark(false));
        state.update(Msg::Kubectl("kubectl scale deployment nginx-deployment --replicas=3".into()));
        state.update(Msg::Seconds(20));
        state.update(Msg::Mark(true));
        let difference = state.difference.clone().expect("a difference");
        let made = difference.iter().filter(|change| change.op == Op::Added).map(|change| change.key.kind.name());
        assert_eq!(made.collect::<Vec<_>>(), ["Pod"]);
        let fields =
            |kind: Kind| difference.iter().find(|change| change.key.kind == kind).map(|change| change.fields.clone()).unwrap_or_default();
        assert!(fields(Kind::Deployment).iter().any(|field| field.path == "spec.replicas" && field.to.as_deref() == Some("3")));
        state.update(Msg::Unmark);
        assert_eq!(state.difference, None);
    }

    #[test]
    fn two_branches_run_side_by_side_on_one_clock() {
        let mut state = settled((examples::ALL[0].text)());
        state.update(Msg::Kubectl("kubectl scale deployment nginx-deployment --replicas=5".into()));
        state.update(Msg::Seconds(10));
        state.update(Msg::Seek(20_000));
        state.update(Msg::Kubectl("kubectl scale deployment nginx-deployment --replicas=1".into()));
        state.update(Msg::Beside(Some(1)));
        let counts = |state: &mut State| {
            while !state.follow(1_000) {}
            let other = state.beside.as_ref().expect("another branch");
            assert_eq!(other.run.sim().now(), state.run.sim().now());
            (ready(state), ready(other))
        };
        assert_eq!(counts(&mut state), (2, 2));
        // Beyond the end of the other's record both go on.
        state.update(Msg::Seconds(90));
        assert_eq!(counts(&mut state), (1, 5));
        state.update(Msg::Seek(25_000));
        assert_eq!(counts(&mut state), (1, 2));
        state.update(Msg::Live);
        assert_eq!(counts(&mut state), (1, 5));
        let end = state.run.end();
        state.update(Msg::Beside(None));
        state.update(Msg::Switch(1));
        assert_eq!((state.run.end(), ready(&state)), (end, 5));
    }

    #[test]
    fn the_console_and_its_history_are_bounded() {
        let mut state = settled((examples::ALL[0].text)());
        for at in 0..700 {
            state.update(Msg::Kubectl(format!("kubectl get pods -n none-{at}")));
            state.update(Msg::Kubectl("kubectl get nodes".into()));
        }
        assert!(state.console.len() <= LINES && state.history.len() == ENTERED, "{} {}", state.console.len(), state.history.len());
        assert_eq!(state.history.last().map(String::as_str), Some("kubectl get nodes"));
    }

    #[test]
    fn what_fails_and_what_settles_is_said_once() {
        let mut state = State::new((examples::ALL[0].text)(), 1);
        let said = |state: &mut State, all: bool| {
            state.picture();
            state.marks();
            if state.speak(all) { state.notice.to_string() } else { String::new() }
        };
        said(&mut state, false);
        state.update(Msg::Seconds(1));
        assert_eq!(said(&mut state, false), "");
        assert!(said(&mut state, true).contains("-controller: ") || state.notice.contains("kubelet"), "{}", state.notice);
        state.update(Msg::Seconds(10));
        let settled = said(&mut state, true);
        assert!(settled.starts_with("Stable since 00:0") && settled.ends_with(": All Pods are Ready"), "{settled}");
        state.update(Msg::Seconds(10));
        assert_eq!(said(&mut state, true), "");
        let pod = state.run.sim().list(Kind::Pod).next().expect("a Pod").meta.name.to_string();
        state.update(Msg::Kubectl("kubectl set image deployment/nginx-deployment nginx=nginx:nonexistent".into()));
        state.update(Msg::Seconds(20));
        assert!(said(&mut state, false).contains("Image") || state.notice.contains("ErrImagePull"), "{} {pod}", state.notice);
        // A jump is not news.
        state.update(Msg::Seek(1_000));
        assert_eq!(said(&mut state, true), "");
    }

    #[test]
    fn what_went_through_of_a_manifest_is_not_marked_as_changed() {
        let pod = |name: &str, field: &str| {
            format!("apiVersion: v1\nkind: Pod\nmetadata: {{{field}: {name}}}\nspec: {{containers: [{{name: c, image: i}}]}}\n")
        };
        let mut state = State::new(&[pod("a", "name"), pod("b", "name")].join("---\n"), 1);
        state.update(Msg::Seconds(1));
        // The first is relabelled, the second cannot be read.
        let first = pod("a", "labels: {x: z}, name");
        state.update(Msg::Edit([first.clone(), pod("b", "nam")].join("---\n")));
        state.update(Msg::Apply);
        assert_eq!(state.standing, Standing::Partly(1, 0, 1), "{:?}", state.diagnostics);
        assert_eq!(*state.applied, [first.clone(), pod("b", "name")].join("---\n"));
        // One that is new, and refused, has never been applied.
        state.update(Msg::Edit([first.clone(), pod("b", "name"), pod("c", "nam")].join("---\n")));
        state.update(Msg::Apply);
        assert_eq!(*state.applied, [first, pod("b", "name")].join("---\n"));
    }

    #[test]
    fn an_edit_is_tried_on_a_copy_and_says_what_it_would_change() {
        let mut state = settled((examples::ALL[0].text)());
        let (version, entries) = (state.run.version(), state.run.journal().len());
        let more = "\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: c}\n---\napiVersion: v1\nkind: Pod\nmetadata: {nam: x}\n";
        state.update(Msg::Edit((examples::ALL[0].text)().replace("replicas: 2", "replicas: 5") + more));
        state.update(Msg::Check);
        while !state.try_on() {}
        let plan = state.plan.clone().expect("a plan");
        let told: Vec<String> = plan.changes.iter().map(|change| format!("{:?} {}", change.op, change.key.name)).collect();
        assert_eq!(told, ["Modified nginx-deployment", "Added c"]);
        let field = &plan.changes[0].fields[0];
        assert_eq!((field.path.as_str(), field.from.as_deref(), field.to.as_deref()), ("spec.replicas", Some("2"), Some("5")));
        assert!(state.diagnostics[0].message.contains("Role is accepted but not simulated"), "{:?}", state.diagnostics);
        assert!(state.diagnostics[1].message.contains("metadata.nam"), "{:?}", state.diagnostics);
        assert_eq!((state.run.version(), state.run.journal().len()), (version, entries));
        state.update(Msg::Revert);
        assert_eq!((state.plan.clone(), state.diagnostics.len()), (None, 0));
    }

    #[test]
    fn the_chain_of_a_pod_ends_at_the_person() {
        let state = settled((examples::ALL[0].text)());
        let pod = state.run.sim().list(Kind::Pod).next().expect("a Pod").key();
        let chain = words::chain(state.run.journal(), state.run.sim().delays(), &pod, 0);
        let actors: Vec<&str> = chain.iter().map(|reason| reason.actor.as_str()).collect();
        assert_eq!(actors.last(), Some(&"you"), "{chain:#?}");
        assert!(actors.contains(&"replicaset-controller"), "{actors:?}");
        assert!(actors.contains(&"deployment-controller"), "{actors:?}");
    }

    #[test]
    fn a_link_brings_the_same_page_back() {
        let mut state = settled((examples::ALL[2].text)());
        state.update(Msg::View(&views::storage::VIEW));
        let link = crate::session::permalink::decode(&crate::session::permalink::encode(&state.link())).expect("a link");
        let again = State::from_link(link.as_ref());
        assert_eq!(again.text, state.text);
        assert_eq!(again.view, &views::storage::VIEW);
    }
}
