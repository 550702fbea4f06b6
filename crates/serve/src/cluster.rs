//! The cluster behind the server: its clock, the open requests, and the access to the API server.

use super::authentication::Authenticator;
use super::clock::now;
use super::counts::{RequestCounts, RequestLabels};
use super::environment::Episode;
use super::exchange::Exchanges;
use super::status::Answer;
use actions::{Action, Host, RecordedAction};
use apiserver::{ApiError, Content, ManagedHistory, Request, Response};
use cluster::Sim;
use cluster::settled::next_wait;
use controller_runtime::cluster::ClusterConfig;
use fault::{ClientAction, ClientCall};
use k8s_model::node::Node;
use k8s_model::time::SECOND;
use k8s_model::{Kind, Object, Time};
use kubectl::{Beside, BesideAct, RemoteAct, RemoteOutput, Session};
use session::Checkpoint;
use session::record::SavedRecord;
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
/// Longest wait between two ticks, so that ended watches are noticed.
const MAX_WAIT: Duration = Duration::from_millis(500);

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
    /// Reply that is sent after a delay of real time.
    Late(Duration, Box<Reply>),
    /// No reply: the connection is closed.
    Dropped,
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Reply {
        Reply::Whole(answer)
    }
}

/// Interval at which a client that reads slowly is looked after.
const BACKLOG_WAIT: Duration = Duration::from_millis(2);

/// Open request that is answered as things happen.
pub trait OpenRequest {
    /// Sends what has happened since the last call; returns false once the request has ended.
    fn poll(&mut self, cluster: &mut Cluster) -> bool;

    /// Notes that the cluster was restored to an earlier state; returns false if the request ends because of that.
    fn restored(&mut self, _cluster: &mut Cluster) -> bool {
        false
    }

    /// Writes the record to its file, before the client is answered.
    fn keep(&mut self, _cluster: &mut Cluster) {}

    /// Returns true if something waits until the client has read what came before.
    fn has_backlog(&self) -> bool {
        false
    }

    /// Time at which something becomes due for the client, if the request waits for one.
    fn due(&self) -> Option<Time> {
        None
    }

    /// Metric labels of the request.
    fn labels(&self) -> Option<&RequestLabels> {
        None
    }
}

/// Snapshot of a cluster: its state and its history.
#[derive(Clone)]
pub(super) struct Snapshot {
    pub(super) host: Host,
    seed: u64,
    episode: Episode,
    log: Vec<RecordedAction>,
    remotes: u32,
}

/// Function that starts another server with the history of a record; returns its address, and a handle that stops it when dropped.
pub(super) type Starter =
    Box<dyn Fn(String, ClockPace) -> Result<(SocketAddr, Box<dyn Any>), String>>;

/// Simulated cluster to which requests are sent.
pub struct Cluster {
    /// Simulation, with the commands that wait.
    pub host: Host,
    /// Managed fields of its objects, as far as requested.
    managed: ManagedHistory,
    /// Requests that are answered piece by piece.
    pub(super) open: Vec<Box<dyn OpenRequest>>,
    /// Counters of answered requests.
    pub(super) counts: RequestCounts,
    /// Commands run so far.
    pub(super) log: Vec<RecordedAction>,
    /// True if the file of the record could not be written: it is closed, and writes are refused from then on.
    pub(super) record_failed: bool,
    /// Number of commands that clients have started in containers.
    remotes: u32,
    /// Folder of the page that follows.
    pub(super) page: Option<PathBuf>,
    /// Seed of the run.
    pub(super) seed: u64,
    /// Episode of an agent.
    pub(super) episode: Episode,
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
    /// Calls of admission webhooks.
    pub(super) exchanges: Exchanges,
    /// Authenticator of clients.
    pub(super) authenticator: Option<Authenticator>,
    /// Journal entries that were searched for Secrets that want a token.
    pub(super) searched: usize,
}

impl Cluster {
    /// Creates a cluster that has just started.
    pub fn new(config: ClusterConfig, seed: u64, pace: ClockPace) -> Cluster {
        let sim = kubectl::new_cluster(config, seed);
        let since = (now(), sim.now());
        let (leaps_until, written) = (sim.now(), sim.now());
        let (open, log) = (Vec::new(), Vec::new());
        let (snapshots, forks, starter, page) = (BTreeMap::new(), Vec::new(), None, None);
        let (remotes, managed) = (0, ManagedHistory::default());
        Cluster {
            host: Host::new(sim),
            managed,
            open,
            counts: RequestCounts::new(),
            log,
            record_failed: false,
            remotes,
            page,
            seed,
            episode: Episode::default(),
            snapshots,
            forks,
            starter,
            pace,
            since,
            leaps_until,
            written,
            exchanges: Exchanges::default(),
            authenticator: None,
            searched: 0,
        }
    }

    /// Creates a cluster with the history of a record.
    pub fn resumed(record: SavedRecord, pace: ClockPace) -> Cluster {
        let mut point = Checkpoint::new(kubectl::new_cluster(record.config, record.seed));
        while !point.replay(&record.commands, record.end.1, record.end.0, usize::MAX) {}
        let ids = record
            .commands
            .iter()
            .map(|recorded| match &recorded.action {
                Action::Remote(id, _) | Action::Beside(id, _) => *id,
                _ => 0,
            });
        let remotes = ids.max().unwrap_or(0);
        let mut cluster = Cluster::new(point.host.sim.config.clone(), record.seed, pace);
        cluster.restore(Snapshot {
            host: point.host,
            seed: record.seed,
            episode: Episode::default(),
            log: record.commands,
            remotes,
        });
        cluster
    }

    /// Takes a snapshot of the cluster.
    pub(super) fn snapshot(&self) -> Snapshot {
        Snapshot {
            host: self.host.clone(),
            seed: self.seed,
            episode: self.episode.clone(),
            log: self.log.clone(),
            remotes: self.remotes,
        }
    }

    /// Replaces the cluster by a fresh one; open watches expire.
    pub(super) fn renew(&mut self, config: ClusterConfig, seed: u64) {
        self.restore(Snapshot {
            host: Host::new(kubectl::new_cluster(config, seed)),
            seed,
            episode: Episode::default(),
            log: Vec::new(),
            remotes: 0,
        });
    }

    /// Restores a snapshot; open watches expire, and subscribers of the record start again.
    pub(super) fn restore(&mut self, kept: Snapshot) {
        self.managed = ManagedHistory::default();
        self.forget_answers();
        self.searched = 0;
        (self.seed, self.episode) = (kept.seed, kept.episode);
        (self.host, self.log, self.remotes) = (kept.host, kept.log, kept.remotes);
        (self.since, self.leaps_until, self.written) = (
            (now(), self.host.sim.now()),
            self.host.sim.now(),
            self.host.sim.now(),
        );
        let mut open = std::mem::take(&mut self.open);
        open.retain_mut(|request| request.restored(self));
        self.open = open;
    }

    /// Returns the simulation, and the managed fields of its objects of a kind.
    pub(super) fn managed(&mut self, kind: Kind) -> (&Sim, &ManagedHistory) {
        self.managed_until(kind, self.host.sim.journal().len())
    }

    /// Returns them up to a number of journal entries: a reader that goes entry by entry does not wait for later ones.
    pub(super) fn managed_until(&mut self, kind: Kind, entries: usize) -> (&Sim, &ManagedHistory) {
        self.managed.catch_up(self.host.sim.store(), kind, entries);
        (&self.host.sim, &self.managed)
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
        self.leaps_until = self.host.sim.now().after(LEAP);
        self.written = self.written.max(self.host.sim.now());
    }

    /// Writes the record, if there is one: a client may rely on its answer.
    pub(super) fn keep(&mut self) {
        let mut open = std::mem::take(&mut self.open);
        open.iter_mut().for_each(|request| request.keep(self));
        self.open = open;
    }

    /// Advances time and polls the open requests; returns how long nothing more will happen, unless a request comes.
    pub fn tick(&mut self) -> Duration {
        let rest = self.advance();
        self.act(Action::Poll);
        super::token::fill_secrets(self);
        self.poll_open();
        match self.open.iter().any(|request| request.has_backlog()) {
            true => rest.min(BACKLOG_WAIT),
            false => rest,
        }
    }

    /// Polls the open requests.
    pub(super) fn poll_open(&mut self) {
        if self.exchanges.is_polling {
            return;
        }
        self.exchanges.is_polling = true;
        let mut open = std::mem::take(&mut self.open);
        open.retain_mut(|request| request.poll(self));
        // A request that waited for a webhook may have let others in.
        open.append(&mut self.open);
        self.open = open;
        self.exchanges.is_polling = false;
    }

    fn advance(&mut self) -> Duration {
        if self.awaits_answer() {
            self.since = (now(), self.host.sim.now());
            return MAX_WAIT;
        }
        let (began, from) = self.since;
        let speed = match self.pace {
            ClockPace::Held => return MAX_WAIT,
            ClockPace::Leap => match self
                .next_task()
                .filter(|at| *at <= self.leaps_until && *at <= self.awaited())
            {
                Some(at) => {
                    self.run(at, SLICE);
                    self.since = (now(), self.host.sim.now());
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
        self.since = (at, self.host.sim.now());
        let Some(next) = self.next_task() else {
            return MAX_WAIT;
        };
        let wait = next.0.saturating_sub(self.host.sim.now().0) as f64 / speed.max(1e-6);
        Duration::from_micros((wait.min(MAX_WAIT.as_micros() as f64) as u64).max(200))
    }

    /// Time of the next task, in the cluster, of a sleeping command or of an open request.
    fn next_task(&self) -> Option<Time> {
        self.host
            .sim
            .tasks
            .next_due()
            .into_iter()
            .chain(self.sleep())
            .chain(self.due())
            .min()
    }

    /// Time at which the next event that a fault delays becomes due; one that is due already waits for its reader.
    fn due(&self) -> Option<Time> {
        let due = self.open.iter().filter_map(|request| request.due());
        due.filter(|due| *due > self.host.sim.now()).min()
    }

    /// Time until which a command in a container sleeps.
    fn sleep(&self) -> Option<Time> {
        self.host.waiting.remotes.deadline()
    }

    /// Time up to which a leaping clock may run: until nothing has changed for a while, until a sleeping command continues, and until a delayed
    /// event is due.
    fn awaited(&self) -> Time {
        let quiet = self.host.sim.last_change().max(self.written).after(QUIET);
        let until = self.sleep().into_iter().chain(self.due());
        until.fold(quiet, Time::max)
    }

    /// Runs tasks until a time; returns true if it was reached.
    fn run(&mut self, to: Time, budget: usize) -> bool {
        match self.calls_webhooks() {
            true => self.run_tasks(to, budget),
            false => self.host.advance(to, budget).done,
        }
    }

    /// Runs tasks until a time, however long webhooks take to answer.
    fn run_through(&mut self, to: Time) {
        while !self.run(to, usize::MAX) && self.awaits_answer() {
            self.await_answer();
        }
    }

    /// Advances virtual time at once, whatever the pace.
    pub fn pass(&mut self, span: u64) {
        let to = self.host.sim.now().after(span);
        self.run_through(to);
        self.since = (now(), self.host.sim.now());
    }

    /// Sends a request to the API server; a write is recorded. Manifests and commands go through `act`.
    pub(super) fn send(&mut self, request: Request) -> Response {
        let place = self.place();
        let (response, answers) = match self.calls_webhooks() && !request.is_read() {
            true => match self.attempt_request(|host| host.sim.request(&request)) {
                Some(done) => done,
                None => return unanswered(),
            },
            false => (self.host.sim.request(&request), None),
        };
        if request.options.dry_run || request.is_read() {
            return response;
        }
        let object = response.result.as_ref().ok().and_then(Content::object);
        let node = object.and_then(|object| object.get::<Node>());
        if node.is_some_and(|node| node.status.conditions.is_empty()) {
            // It is given up after a minute, unless a kubelet reports.
            self.written = self.host.sim.now().after(UNREPORTED - QUIET);
        }
        self.record_answers(place, answers);
        self.record(Action::Request(Rc::new(request)));
        response
    }

    /// Sends a request of the server's own, which is recorded.
    pub(super) fn send_own(&mut self, request: Request) {
        let place = self.place();
        let (_, answers) = self.attempt_action(|host| host.sim.request(&request));
        self.record_answers(place, answers);
        self.record(Action::Request(Rc::new(request)));
        self.keep();
    }

    /// Runs a command as the page does.
    pub fn act(&mut self, command: Action) -> actions::ActionResult {
        let place = self.place();
        let may_call =
            self.calls_webhooks() || matches!(command, Action::Apply(_) | Action::Kubectl(_));
        let (answer, answers) = match may_call {
            true => self.attempt_action(|host| host.run(&command)),
            false => (self.host.run(&command), None),
        };
        if answer.changed {
            self.record_answers(place, answers);
            self.record(command);
        }
        answer
    }

    /// Acts on a client's command in a container.
    pub(super) fn act_remotely(&mut self, id: u32, act: RemoteAct) -> RemoteOutput {
        let place = self.place();
        let run = |host: &mut Host| host.waiting.remotes.act(&mut host.sim, id, &act);
        let (output, answers) = match self.calls_webhooks() {
            true => self.attempt_action(run),
            false => (run(&mut self.host), None),
        };
        if output.changed {
            self.record_answers(place, answers);
            self.record(Action::Remote(id, Rc::new(act)));
        }
        output
    }

    /// Acts on a kubectl command beside the terminal; returns it if it has ended.
    pub(super) fn act_beside(&mut self, id: u32, act: BesideAct) -> Option<Session> {
        let place = self.place();
        let run = |host: &mut Host| host.waiting.beside.act(&mut host.sim, id, &act);
        let (changed, answers) = self.attempt_action(run);
        if changed {
            self.record_answers(place, answers);
            self.record(Action::Beside(id, Rc::new(act)));
        }
        self.host.waiting.beside.take_ended(id)
    }

    /// Lets the injected faults on clients act on an exchange; returns what happens to it.
    pub(super) fn client_fault(
        &mut self,
        call: impl FnOnce() -> ClientCall,
    ) -> Option<ClientAction> {
        let sim = &mut self.host.sim;
        sim.client_faults.active(sim.now()).next()?;
        let call = call();
        if !sim.client_faults.concern(&call, sim.now()) {
            return None;
        }
        let action = sim.disturb_client(&call);
        // A decision of chance is recorded however it falls: the next one follows from it.
        self.record(Action::Client(Rc::new(call)));
        action
    }

    /// kubectl commands beside the terminal that still wait.
    pub(super) fn beside(&self) -> &Beside {
        &self.host.waiting.beside
    }

    /// Advances time until nothing but Events has changed for some seconds, at most a minute and a half.
    pub fn settle(&mut self) {
        let began = self.host.sim.now();
        while let Some(to) = next_wait(&self.host.sim, began) {
            self.run_through(to);
        }
        self.since = (now(), self.host.sim.now());
    }

    /// Returns a new number for a command in a container, or beside the terminal.
    pub(super) fn next_remote(&mut self) -> u32 {
        self.remotes += 1;
        self.remotes
    }

    fn record(&mut self, command: Action) {
        self.log.push(RecordedAction {
            steps: self.host.steps,
            time: self.host.sim.now(),
            action: command,
        });
    }

    /// Asks for a connection to a subresource of an object; returns the object.
    pub(super) fn connect(&self, request: Request) -> Result<Rc<Object>, ApiError> {
        let content = self.host.sim.read(&request).result?;
        let object = content.object().cloned();
        object.ok_or_else(ApiError::not_writable)
    }
}

/// Response of an attempt that lacks the answer of a webhook: the request is served again, and nobody sees it.
fn unanswered() -> Response {
    Response {
        result: Err(ApiError::internal(
            "Internal error occurred: an admission webhook has not answered yet",
        )),
        managed_fields: serde_json::Value::Null,
        warnings: Vec::new(),
    }
}
