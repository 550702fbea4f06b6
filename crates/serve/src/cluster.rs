//! The cluster behind the server: its clock, the open requests, and the access to the API server.

use super::clock::now;
use super::counts::{RequestCounts, RequestLabels};
use super::request::{Request, Target};
use super::status::Answer;
use actions::{Action, WaitingCommands};
use apiserver::journal::Actor;
use apiserver::{
    ApiError, ClientRequest, ClientWrite, ManagedHistory, Origin, Subresource, Written,
};
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::node::Node;
use k8s_model::time::SECOND;
use k8s_model::{Kind, Time};
use kubectl::{Beside, BesideAct, RemoteAct, RemoteOutput, Session};
use scenario::quiet_until;
use session::record::SavedRecord;
use session::{Checkpoint, Recorded};
use std::any::Any;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Longest leap of the clock after a client's write: the default timeout of a rollout, and some more.
const LEAP: u64 = 15 * 60 * SECOND;
/// Time without a change after which the clock stops leaping.
const QUIET: u64 = 30 * SECOND;
/// Time after which a Node without a reporting kubelet has been given up, with all consequences.
const UNREPORTED: u64 = 75 * SECOND;
/// Engine tasks between two checks for requests.
const SLICE: usize = 20_000;
/// Longest sleep, so that ended watches are noticed.
const NAP: Duration = Duration::from_millis(500);

/// Pace of virtual time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClockPace {
    /// Real time, multiplied by a factor.
    Real(f64),
    /// After a client's write the clock leaps from task to task while no request is waiting, until nothing has changed for half a minute,
    /// and at most a quarter of an hour; then it runs in real time.
    Leap,
    /// Stopped, unless a client moves it.
    Held,
}

/// Reply to a request.
#[derive(Debug)]
pub enum Reply {
    /// Complete answer.
    Whole(Answer),
    /// Streamed answer, until the sender is dropped: the content type, the chunks, and the warnings.
    Stream(&'static str, mpsc::Receiver<Vec<u8>>, Vec<String>),
    /// WebSocket messages in both directions, until either side closes: messages to the client, and from it.
    Socket(mpsc::Receiver<Vec<u8>>, mpsc::Sender<Vec<u8>>),
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Reply {
        Reply::Whole(answer)
    }
}

/// Open request that is answered as things happen.
pub trait OpenRequest {
    /// Sends news; returns false once the request has ended.
    fn feed(&mut self, cluster: &mut Cluster) -> bool;

    /// Notes that the cluster was restored to an earlier state; returns false if the request ends because of that.
    fn restored(&mut self, _cluster: &mut Cluster) -> bool {
        false
    }

    /// Writes the record to its file, before the client is answered.
    fn keep(&mut self, _cluster: &mut Cluster) {}

    /// Metric labels of the request.
    fn labels(&self) -> Option<&RequestLabels> {
        None
    }
}

/// Snapshot of a cluster: its state and its history.
#[derive(Clone)]
pub(super) struct Snapshot {
    pub(super) sim: Sim,
    waiting: WaitingCommands,
    log: Vec<Recorded>,
    remotes: u32,
    tasks: u64,
}

/// Function that starts another server with the history of a record; returns its address, and a handle that stops it when dropped.
pub(super) type Starter =
    Box<dyn Fn(String, ClockPace) -> Result<(SocketAddr, Box<dyn Any>), String>>;

/// Simulated cluster to which requests are sent.
pub struct Cluster {
    /// Simulation.
    pub sim: Sim,
    /// Managed fields of its objects, as far as requested.
    managed: ManagedHistory,
    /// Requests that are answered piece by piece.
    pub(super) open: Vec<Box<dyn OpenRequest>>,
    /// Counters of answered requests.
    pub(super) counts: RequestCounts,
    /// Commands that still wait.
    waiting: WaitingCommands,
    /// Commands run so far.
    pub(super) log: Vec<Recorded>,
    /// True if the file of the record could not be written: it is closed, and writes are refused from then on.
    pub(super) record_failed: bool,
    /// Number of commands that clients have started in containers.
    remotes: u32,
    /// Tasks run since time 0.
    pub(super) tasks: u64,
    /// Folder of the page that follows.
    pub(super) page: Option<PathBuf>,
    /// Seed of the run.
    pub(super) seed: u64,
    /// Snapshots by name.
    pub(super) snapshots: BTreeMap<String, Snapshot>,
    /// Forked servers, which end with this one.
    pub(super) forks: Vec<Box<dyn Any>>,
    /// Function that starts a forked server.
    pub(super) starter: Option<Starter>,
    pace: ClockPace,
    /// Real and virtual time at the last update.
    since: (Instant, Time),
    /// Time beyond which a leaping clock does not leap.
    leaps_until: Time,
    /// Time of the last write by a client.
    written: Time,
}

impl Cluster {
    /// Creates a cluster that has just started.
    pub fn new(config: ClusterConfig, seed: u64, pace: ClockPace) -> Cluster {
        let sim = Sim::new(config, seed);
        let since = (now(), sim.now());
        let (leaps_until, written) = (sim.now(), sim.now());
        let (open, waiting, log) = (Vec::new(), WaitingCommands::default(), Vec::new());
        let (snapshots, forks, starter, page) = (BTreeMap::new(), Vec::new(), None, None);
        let (remotes, tasks, managed) = (0, 0, ManagedHistory::default());
        Cluster {
            sim,
            managed,
            open,
            counts: RequestCounts::new(),
            waiting,
            log,
            record_failed: false,
            remotes,
            tasks,
            page,
            seed,
            snapshots,
            forks,
            starter,
            pace,
            since,
            leaps_until,
            written,
        }
    }

    /// Creates a cluster with the history of a record.
    pub fn resumed(record: SavedRecord, pace: ClockPace) -> Cluster {
        let mut point = Checkpoint::new(Sim::new(record.config, record.seed));
        while !point.replay(&record.commands, record.end.1, record.end.0, usize::MAX) {}
        let ids = record.commands.iter().map(|(_, _, command)| match command {
            Action::Remote(id, _) | Action::Beside(id, _) => *id,
            _ => 0,
        });
        let remotes = ids.max().unwrap_or(0);
        let mut cluster = Cluster::new(point.sim.config.clone(), record.seed, pace);
        cluster.restore(Snapshot {
            sim: point.sim,
            waiting: point.waiting,
            log: record.commands,
            remotes,
            tasks: point.steps,
        });
        cluster
    }

    /// Takes a snapshot of the cluster.
    pub(super) fn snapshot(&self) -> Snapshot {
        let (sim, waiting, log) = (self.sim.clone(), self.waiting.clone(), self.log.clone());
        Snapshot {
            sim,
            waiting,
            log,
            remotes: self.remotes,
            tasks: self.tasks,
        }
    }

    /// Restores a snapshot; open watches expire, and subscribers of the record start again.
    pub(super) fn restore(&mut self, kept: Snapshot) {
        self.managed = ManagedHistory::default();
        (self.sim, self.waiting, self.log) = (kept.sim, kept.waiting, kept.log);
        (self.remotes, self.tasks) = (kept.remotes, kept.tasks);
        (self.since, self.leaps_until, self.written) =
            ((now(), self.sim.now()), self.sim.now(), self.sim.now());
        let mut open = std::mem::take(&mut self.open);
        open.retain_mut(|request| request.restored(self));
        self.open = open;
    }

    /// Returns the simulation, and the managed fields of its objects of a kind.
    pub(super) fn managed(&mut self, kind: Kind) -> (&Sim, &ManagedHistory) {
        self.managed_until(kind, self.sim.journal().len())
    }

    /// Returns them up to a number of journal entries: a reader that goes entry by entry does not wait for later ones.
    pub(super) fn managed_until(&mut self, kind: Kind, entries: usize) -> (&Sim, &ManagedHistory) {
        self.managed.catch_up(self.sim.server(), kind, entries);
        (&self.sim, &self.managed)
    }

    /// Applies a manifest; returns its first error, with the line.
    pub fn apply(&mut self, text: &str) -> Result<(), String> {
        let answer = self.act(Action::Apply(text.into()));
        let wrong = answer
            .diagnostics
            .iter()
            .find(|diagnostic| diagnostic.error);
        wrong.map_or(Ok(()), |wrong| {
            Err(format!("line {}: {}", wrong.line, wrong.message.english()))
        })
    }

    /// Notes that a client is about to write: a leaping clock shall reach the consequences.
    pub fn expect_changes(&mut self) {
        self.leaps_until = self.sim.now().after(LEAP);
        self.written = self.written.max(self.sim.now());
    }

    /// Writes the record, if there is one: a client may rely on its answer.
    pub(super) fn keep(&mut self) {
        let mut open = std::mem::take(&mut self.open);
        open.iter_mut().for_each(|request| request.keep(self));
        self.open = open;
    }

    /// Advances time and feeds the open requests; returns how long nothing more will happen, unless a request comes.
    pub fn tick(&mut self) -> Duration {
        let rest = self.advance();
        self.act(Action::Poll);
        let mut open = std::mem::take(&mut self.open);
        open.retain_mut(|request| request.feed(self));
        self.open = open;
        rest
    }

    fn advance(&mut self) -> Duration {
        let (began, from) = self.since;
        let speed = match self.pace {
            ClockPace::Held => return NAP,
            ClockPace::Leap => match self
                .next_task()
                .filter(|at| *at <= self.leaps_until && *at <= self.awaited())
            {
                Some(at) => {
                    self.run(at, SLICE);
                    self.since = (now(), self.sim.now());
                    return Duration::ZERO;
                }
                None => 1.0,
            },
            ClockPace::Real(speed) => speed,
        };
        let at = now();
        let passed = (at - began).as_micros() as f64 * speed;
        if passed < 1.0 {
            return Duration::from_millis(1);
        }
        let to = from.after(passed as u64);
        if !self.run(to, SLICE) {
            // Behind schedule: the next slices catch up.
            return Duration::ZERO;
        }
        self.since = (at, self.sim.now());
        let Some(next) = self.next_task() else {
            return NAP;
        };
        let wait = next.0.saturating_sub(self.sim.now().0) as f64 / speed.max(1e-6);
        Duration::from_micros((wait.min(NAP.as_micros() as f64) as u64).max(200))
    }

    /// Time of the next task, in the cluster or of a sleeping command.
    fn next_task(&self) -> Option<Time> {
        self.sim.next_task().into_iter().chain(self.sleep()).min()
    }

    /// Time until which a command in a container sleeps.
    fn sleep(&self) -> Option<Time> {
        self.waiting.remotes.deadline()
    }

    /// Time up to which a leaping clock may run: until nothing has changed for a while, and until a sleeping command continues.
    fn awaited(&self) -> Time {
        let quiet = self.sim.last_change().max(self.written).after(QUIET);
        self.sleep().map_or(quiet, |until| until.max(quiet))
    }

    /// Runs tasks until a time; returns true if it was reached.
    fn run(&mut self, to: Time, budget: usize) -> bool {
        let went = self.sim.advance(to, budget);
        self.tasks += went.ran as u64;
        went.done
    }

    /// Advances virtual time at once, whatever the pace.
    pub fn pass(&mut self, span: u64) {
        let to = self.sim.now().after(span);
        self.run(to, usize::MAX);
        self.since = (now(), self.sim.now());
    }

    /// Sends a request's write to the API server; a dry run uses a copy of the server. Manifests and commands go through `act`.
    pub(super) fn send(
        &mut self,
        request: &Request,
        verb: &str,
        part: Subresource,
        write: ClientWrite,
    ) -> (Result<Written, ApiError>, Vec<String>) {
        let (told, manager) = (words(request), request.manager().to_owned());
        let named = Target::parse(&request.path)
            .map(|target| target.api_version())
            .unwrap_or_default();
        let write = ClientRequest {
            told,
            verb: verb.to_owned(),
            manager,
            part,
            unknown: request.unknown(),
            repeated: request.repeated(),
            user: request.user(),
            api_version: if named == write.api_version() {
                String::new()
            } else {
                named
            },
            write,
        };
        if request.is_dry() {
            let mut copy = self.sim.server().clone();
            copy.now = self.sim.now();
            let origin = write.origin(Origin {
                actor: Actor::USER,
                cause: None,
                pass: 0,
                manager: None,
                user: None,
            });
            return (write.send(&mut copy, &origin), copy.warnings);
        }
        let sent = self.sim.client_request(&write);
        if let Ok(Written {
            object: Some(object),
            ..
        }) = &sent.0
            && object
                .get::<Node>()
                .is_some_and(|node| node.status.conditions.is_empty())
        {
            // It is given up after a minute, unless a kubelet reports.
            self.written = self.sim.now().after(UNREPORTED - QUIET);
        }
        self.record(Action::Request(Rc::new(write)));
        sent
    }

    /// Runs a command as the page does.
    pub fn act(&mut self, command: Action) -> actions::ActionResult {
        let answer = actions::run(&mut self.sim, &mut self.waiting, &command);
        if answer.changed {
            self.record(command);
        }
        answer
    }

    /// Acts on a client's command in a container.
    pub(super) fn act_remotely(&mut self, id: u32, act: RemoteAct) -> RemoteOutput {
        let output = self.waiting.remotes.act(&mut self.sim, id, &act);
        if output.changed {
            self.record(Action::Remote(id, Rc::new(act)));
        }
        output
    }

    /// Acts on a kubectl command beside the terminal; returns it if it has ended.
    pub(super) fn act_beside(&mut self, id: u32, act: BesideAct) -> Option<Session> {
        let changed = self.waiting.beside.act(&mut self.sim, id, &act);
        if changed {
            self.record(Action::Beside(id, Rc::new(act)));
        }
        self.waiting.beside.take_ended(id)
    }

    /// kubectl commands beside the terminal that still wait.
    pub(super) fn beside(&self) -> &Beside {
        &self.waiting.beside
    }

    /// Advances time until nothing but Events has changed for some seconds, at most a minute and a half.
    pub fn settle(&mut self) {
        let began = self.sim.now();
        loop {
            let until = quiet_until(&self.sim, began);
            if self.sim.now() >= until {
                break;
            }
            self.run(
                self.sim.next_task().map_or(until, |at| at.min(until)),
                usize::MAX,
            );
        }
        self.since = (now(), self.sim.now());
    }

    /// Returns a new number for a command in a container, or beside the terminal.
    pub(super) fn next_remote(&mut self) -> u32 {
        self.remotes += 1;
        self.remotes
    }

    fn record(&mut self, command: Action) {
        self.log.push((self.tasks, self.sim.now(), command));
    }

    /// Returns the error if the user of a request is not authorized.
    pub(super) fn forbids(
        &self,
        request: &Request,
        verb: &str,
        key: &k8s_model::ObjectRef,
        part: &str,
    ) -> Option<ApiError> {
        let user = Some(Rc::new(request.user()?));
        let origin = Origin {
            actor: Actor::USER,
            cause: None,
            pass: 0,
            manager: None,
            user,
        };
        self.sim.server().forbids(&origin, verb, key, part)
    }
}

/// Formats a request for the history: the kubectl command, if the client sends it, and the request.
fn words(request: &Request) -> String {
    let line = format!("{} {}", request.method, request.path);
    match request.header("kubectl-command") {
        "" => line,
        command => format!("{command} ({line})"),
    }
}
