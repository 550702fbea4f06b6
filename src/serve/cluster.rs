//! The cluster behind the server: its clock, the requests that are open, and the way to the API server.

use super::clock::now;
use super::follow::Follow;
use super::request::Request;
use super::status::Answer;
use super::terminal::Terminal;
use super::watch::Watch;
use crate::api::Time;
use crate::api::time::SECOND;
use crate::engine::Sim;
use crate::engine::cluster::ClusterConfig;
use crate::engine::journal::Actor;
use crate::engine::store::{ApiError, ApiServer, Manager, Origin, Subresource};
use crate::scenario;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// How far a leaping clock goes at most after a write of a client: the longest that a rollout waits by default, and some more.
const LEAP: u64 = 15 * 60 * SECOND;
/// It stops when nothing has changed for so long: what goes on then only watches.
const QUIET: u64 = 30 * SECOND;
/// Engine work between two looks at the requests.
const SLICE: usize = 20_000;
/// How long it sleeps at most, so that ended watches are noticed.
const NAP: Duration = Duration::from_millis(500);

/// How virtual time passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// Times real time.
    Real(f64),
    /// After a write of a client it leaps from task to task while no request is waiting, until nothing has changed for half a minute,
    /// and no further than a quarter of an hour; then it is real.
    Leap,
    /// It stands still, unless a client moves it.
    Held,
}

/// The reply to a request.
#[derive(Debug)]
pub enum Reply {
    /// All at once.
    Whole(Answer),
    /// Piece by piece, until the sender is gone.
    Stream(&'static str, mpsc::Receiver<Vec<u8>>),
    /// Messages in both directions, until either side ends: what is sent to the client, and what it sends.
    Socket(mpsc::Receiver<Vec<u8>>, mpsc::Sender<Vec<u8>>),
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Reply {
        Reply::Whole(answer)
    }
}

/// A simulated cluster that requests are sent to.
pub struct Cluster {
    /// The simulation.
    pub sim: Sim,
    pub(super) watches: Vec<Watch>,
    pub(super) follows: Vec<Follow>,
    pub(super) terminals: Vec<Terminal>,
    pace: Pace,
    /// When virtual time was last brought up to date, and what it was then.
    since: (Instant, Time),
    /// A leaping clock does not leap beyond this.
    leaps_until: Time,
    /// When a client last wrote.
    written: Time,
}

impl Cluster {
    /// A cluster that has just started.
    pub fn new(config: ClusterConfig, seed: u64, pace: Pace) -> Cluster {
        let mut sim = Sim::new(config, seed);
        sim.advance(sim.now().after(SECOND), usize::MAX);
        let since = (now(), sim.now());
        let (leaps_until, written) = (sim.now(), sim.now());
        Cluster { sim, watches: Vec::new(), follows: Vec::new(), terminals: Vec::new(), pace, since, leaps_until, written }
    }

    /// Applies a manifest, as `kubectl apply -f` does.
    pub fn apply(&mut self, text: &str) -> Result<(), String> {
        let words = ["apply".to_owned(), "-f".to_owned(), "-".to_owned()];
        let session = scenario::finish(&mut self.sim, &words, text, LEAP);
        self.since = (now(), self.sim.now());
        if session.exit == Some(0) { Ok(()) } else { Err(session.stderr.trim_end().to_owned()) }
    }

    /// A client is about to write: a leaping clock shall see what comes of it.
    pub fn expect_changes(&mut self) {
        self.leaps_until = self.sim.now().after(LEAP);
        self.written = self.sim.now();
    }

    /// Lets time pass and tells the open requests what has happened; gives how long nothing more will, unless a request comes.
    pub fn tick(&mut self) -> Duration {
        let rest = self.advance();
        let sim = &self.sim;
        self.watches.retain_mut(|watch| watch.feed(sim));
        let mut follows = std::mem::take(&mut self.follows);
        follows.retain_mut(|follow| follow.feed(&mut self.sim));
        self.follows = follows;
        let mut terminals = std::mem::take(&mut self.terminals);
        terminals.retain_mut(|terminal| terminal.feed(self));
        self.terminals = terminals;
        rest
    }

    fn advance(&mut self) -> Duration {
        let (began, from) = self.since;
        let speed = match self.pace {
            Pace::Held => return NAP,
            Pace::Leap => match self.next_task().filter(|at| *at <= self.leaps_until && *at <= self.awaited()) {
                Some(at) => {
                    self.sim.advance(at, SLICE);
                    self.since = (now(), self.sim.now());
                    return Duration::ZERO;
                }
                None => 1.0,
            },
            Pace::Real(speed) => speed,
        };
        let at = now();
        let passed = (at - began).as_micros() as f64 * speed;
        if passed < 1.0 {
            return Duration::from_millis(1);
        }
        let to = from.after(passed as u64);
        if !self.sim.advance(to, SLICE).done {
            // It is behind: what is left is done in the next slices.
            return Duration::ZERO;
        }
        self.since = (at, self.sim.now());
        let Some(next) = self.next_task() else { return NAP };
        let wait = next.0.saturating_sub(self.sim.now().0) as f64 / speed.max(1e-6);
        Duration::from_micros((wait.min(NAP.as_micros() as f64) as u64).max(200))
    }

    /// When something happens by itself next, in the cluster or in a command that sleeps.
    fn next_task(&self) -> Option<Time> {
        self.sim.next_task().into_iter().chain(self.sleep()).min()
    }

    /// Until when a command in a container sleeps.
    fn sleep(&self) -> Option<Time> {
        self.terminals.iter().filter_map(Terminal::deadline).min()
    }

    /// How far somebody waits for what happens: until nothing has changed for a while, and until a command has slept.
    fn awaited(&self) -> Time {
        let quiet = self.sim.last_change().max(self.written).after(QUIET);
        self.sleep().map_or(quiet, |until| until.max(quiet))
    }

    /// Moves virtual time forward at once, whatever the pace.
    pub fn pass(&mut self, span: u64) {
        let to = self.sim.now().after(span);
        self.sim.advance(to, usize::MAX);
        self.since = (now(), self.sim.now());
    }

    /// The only way for requests to write: a dry run talks to a copy of the server.
    pub(super) fn send<R>(
        &mut self,
        request: &Request,
        part: Subresource,
        talk: impl FnOnce(&mut ApiServer, &Origin) -> Result<R, ApiError>,
    ) -> (Result<R, ApiError>, Vec<String>) {
        let manager = Manager::update(request.manager(), part.word()).with_unknown(request.unknown());
        let complete = |origin: Origin| Origin { manager: Some(Rc::new(manager)), user: request.user().map(Rc::new), ..origin };
        if request.is_dry() {
            let mut copy = self.sim.server().clone();
            copy.now = self.sim.now();
            let origin = complete(Origin { actor: Actor::USER, cause: None, pass: 0, manager: None, user: None });
            return (talk(&mut copy, &origin), copy.warnings);
        }
        let origin = complete(self.sim.command(&words(request)));
        self.sim.request(|server| (talk(server, &origin), std::mem::take(&mut server.warnings)))
    }

    /// Why the user of a request may not do something.
    pub(super) fn forbids(&self, request: &Request, verb: &str, key: &crate::api::ObjectRef, part: &str) -> Option<ApiError> {
        let user = Some(Rc::new(request.user()?));
        let origin = Origin { actor: Actor::USER, cause: None, pass: 0, manager: None, user };
        self.sim.server().forbids(&origin, verb, key, part)
    }
}

/// What the history says of a request: the command of kubectl, if it tells, and the request.
fn words(request: &Request) -> String {
    let line = format!("{} {}", request.method, request.path);
    match request.header("kubectl-command") {
        "" => line,
        command => format!("{command} ({line})"),
    }
}
