//! Simulation: a queue of tasks in virtual time, run one by one.
//!
//! Guarantees: the history depends on the cluster, the seed and the commands alone, never on how
//! `advance` was sliced; no task reads a wall clock.

mod queries;
mod reconcile;

use apiserver::journal::{Actor, EntryId, Journal, Op, Record};
use apiserver::why::Why;
use apiserver::{ApiError, ClientRequest, Written};
use apiserver::{ApiServer, Origin, defaults};
use controller_runtime::client::{Action, LoopClient, Memory, PassView};
use controller_runtime::cluster::ClusterConfig;
use controller_runtime::component::{self, DELIVERY_BATCH, KUBELETS, MANAGER, SCHEDULER};
use controller_runtime::events::EventRecorder;
use controller_runtime::informer::{Held, Informer};
use controller_runtime::limit::Limit;
use controller_runtime::watch::Event;
use controller_runtime::watch_faults::DelayLog;
use controller_runtime::workqueue::WorkQueue;
use controllers::{Controller, Routes, woken_by};
use k8s_model::time::{MS, SECOND};
use k8s_model::{Kind, Object, ObjectRef, Str, Time, Uid};
use kubelet::{ContainerFault, Kubelets};
use scheduler::Scheduler;
use sim_core::tree::Tree;
use std::rc::Rc;

/// Change of an object as a watch delivers it: operation, new version and old version.
pub type Difference = (Op, Rc<Object>, Option<Rc<Object>>);

/// Work that becomes due at some virtual time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Task {
    /// Delivery of watch events to an informer.
    Deliver(u8),
    /// Reconcile pass of a controller for a key.
    Reconcile(u8, ObjectRef),
    /// Delayed requeue of a key that a controller asked for.
    Wake(u8, ObjectRef),
    /// Periodic resync of all objects of a controller.
    Resync(u8),
    /// Relist of a component that has lost a watch event.
    Relist(u8),
    /// Delivery of delayed watch events to an informer.
    Release(u8),
    /// End of a pass of a slowed controller.
    SlowPass(u8),
    /// Scheduling cycle for the next Pod.
    Schedule,
    /// Retry of Pods left in the unschedulable queue for too long.
    Flush,
    /// Step of a kubelet for one Pod.
    Kubelet(kubelet::PodJob),
    /// Eviction step of a node under memory pressure; the entry is the cause.
    Relieve(Str, Option<EntryId>),
    /// Expiry of the lease granted at that time, and of its Events.
    ExpireEvents(Time),
    /// Check of the scheduler's Event series.
    CheckSeries,
}

/// Number of objects sorted and Pods read in one slice of idle work.
const IDLE_WORK_ITEMS: usize = 1_000;
/// Delay from the arrival of a watch event to the pass it triggers.
const DISPATCH_US: u64 = MS;
/// Maximum number of tasks searched for the next one that concerns an object.
const MAX_SCANNED_TASKS: usize = 20_000;
/// Virtual time a pass keeps its key busy: minimum, per round trip to the API server, per owned object.
const PASS_COST_US: u64 = MS;
const ROUND_TRIP_US: u64 = 7 * MS;
const PER_OWNED_US: u64 = 50;

/// Result of [`Sim::advance`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Advance {
    /// Number of tasks run.
    pub ran: usize,
    /// True if the requested time was reached.
    pub done: bool,
}

/// Simulated cluster: API server, components and the queue of tasks.
#[derive(Clone, Debug)]
pub struct Sim {
    /// Initial configuration of the cluster.
    pub config: ClusterConfig,
    pub server: ApiServer,
    now: Time,
    /// Pending tasks by due time and insertion order.
    tasks: Tree<(Time, u64), Task>,
    sequence: u64,
    pub pass: u32,
    pub informers: [Informer; 3],
    /// Delays caused by injected faults so far.
    pub delays: DelayLog,
    /// Delay in microseconds from a lost watch event to the relist; `None` disables relisting.
    pub relist: Option<u64>,
    pub queues: Vec<WorkQueue>,
    routes: Rc<Routes>,
    /// Journal length that must have been delivered for the controller to see its own writes, per controller and key.
    pub written: Vec<Tree<ObjectRef, usize>>,
    /// Client rate limit of each controller; empty if the cluster sets none.
    limits: Vec<Limit>,
    /// State kept between passes, per controller and key.
    pub memories: Vec<Tree<ObjectRef, Rc<Memory>>>,
    pub recorder: EventRecorder,
    pub scheduler: Scheduler,
    pub kubelets: Kubelets,
    /// Files written by commands in containers.
    pub disks: super::disk::Disks,
    last_change: Time,
    scanned: usize,
    /// Scratch buffer for the keys that one event wakes; empty between events.
    woken: Vec<(usize, ObjectRef)>,
}

impl Sim {
    /// Creates a cluster at time 0 with its nodes and classes.
    pub fn new(config: ClusterConfig, seed: u64) -> Sim {
        let mut sim = Sim {
            server: ApiServer::new(config.epoch, seed),
            now: Time::default(),
            tasks: Tree::default(),
            sequence: 0,
            pass: 0,
            informers: component::ALL.map(|of| Informer::new(of.name, of.watches, of.stores)),
            delays: DelayLog::default(),
            relist: Some(component::RELIST_DELAY_US),
            queues: vec![WorkQueue::default(); controllers::ALL.len()],
            routes: Rc::new(controllers::routes()),
            written: vec![Tree::default(); controllers::ALL.len()],
            limits: config.client_limit.map_or_else(Vec::new, |limit| {
                controllers::ALL
                    .iter()
                    .map(|c| Limit::of(c.name(), limit))
                    .collect()
            }),
            memories: vec![Tree::default(); controllers::ALL.len()],
            recorder: EventRecorder::default(),
            scheduler: Scheduler::default(),
            kubelets: Kubelets::new(&config),
            disks: Default::default(),
            last_change: Time::default(),
            scanned: 0,
            woken: Vec::new(),
            config,
        };
        sim.server.max_unavailable_statefulset = sim.config.max_unavailable_statefulset;
        sim.server.toleration_seconds = sim.config.default_toleration_seconds;
        let origin = Origin {
            actor: Actor::SERVER,
            cause: None,
            pass: 0,
            manager: None,
            user: None,
        };
        for mut value in sim.config.objects() {
            defaults::apply_defaults(&mut value);
            let kind = (value["apiVersion"].as_str(), value["kind"].as_str());
            let kind = kind.0.zip(kind.1).and_then(|(v, k)| Kind::from_api(v, k));
            if let Some(Ok(object)) = kind.map(|kind| Object::from_value(kind, value)) {
                // A duplicate node name is the only possible refusal; the first node is kept.
                let _ = sim.server.create(&origin, object, Why::Bootstrap);
            }
        }
        for (i, controller) in controllers::ALL.iter().enumerate() {
            if let Some((seconds, _)) = controller.resync() {
                // The timer was started some time before the first command.
                sim.push(Time(seconds * SECOND / 4), Task::Resync(i as u8));
            }
        }
        sim.pump();
        sim
    }

    /// Returns the virtual time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Returns the journal: every command, write and refusal.
    pub fn journal(&self) -> Journal<'_> {
        self.server.journal()
    }

    /// Returns the API server, for reading.
    pub fn server(&self) -> &ApiServer {
        &self.server
    }

    /// Returns the object with this key.
    pub fn get(&self, key: &ObjectRef) -> Option<&Rc<Object>> {
        self.server.get(key)
    }

    /// Returns all objects of a kind, by namespace and name.
    pub fn list(&self, kind: Kind) -> impl DoubleEndedIterator<Item = &Rc<Object>> {
        self.server.list(kind)
    }

    /// Returns all objects of a kind, in unspecified order.
    pub fn each(&self, kind: Kind) -> impl Iterator<Item = &Rc<Object>> {
        self.server.each(kind)
    }

    /// Does idle work: sorts part of a long list and reads part of the Pods to rank, so that a later list or pass does not have to do all
    /// of it at once. Has no observable effect.
    pub fn run_idle_work(&mut self) {
        self.server.settle(IDLE_WORK_ITEMS);
        self.informers[MANAGER].cache.read_ahead(IDLE_WORK_ITEMS);
    }

    /// Removes files on volumes and in Pods that no longer exist.
    pub fn sweep_disks(&mut self) {
        self.disks.sweep(&self.server);
    }

    /// Returns the time of the last write of an object other than an Event.
    pub fn last_change(&self) -> Time {
        self.last_change
    }

    /// Returns the time of the next task.
    pub fn next_task(&self) -> Option<Time> {
        self.tasks.first().map(|((time, _), _)| *time)
    }

    /// Records a user's command in the journal and returns the origin for its writes.
    pub fn command(&mut self, text: &str) -> Origin {
        self.begin(Record::Command(text.into()))
    }

    /// Records a user's action and returns the origin for its writes.
    pub(crate) fn begin(&mut self, record: Record) -> Origin {
        self.pass += 1;
        self.server.now = self.now;
        let origin = Origin {
            actor: Actor::USER,
            cause: None,
            pass: self.pass,
            manager: None,
            user: None,
        };
        let cause = self.server.note(&origin, record, Why::Asked);
        Origin {
            cause: Some(cause),
            ..origin
        }
    }

    /// Sends a client's requests to the API server and schedules the delivery of the writes.
    pub fn request<R>(&mut self, talk: impl FnOnce(&mut ApiServer) -> R) -> R {
        self.server.now = self.now;
        let result = talk(&mut self.server);
        self.pump();
        result
    }

    /// Sends a client's write; returns the result and the server's warnings.
    pub fn client_request(
        &mut self,
        request: &ClientRequest,
    ) -> (Result<Written, ApiError>, Vec<String>) {
        let origin = request.origin(self.command(&request.told));
        self.request(|server| {
            (
                request.send(server, &origin),
                std::mem::take(&mut server.warnings),
            )
        })
    }

    /// Runs tasks until `to` or until the budget is spent; a task costs one, plus one for each entry it writes.
    pub fn advance(&mut self, to: Time, mut budget: usize) -> Advance {
        let mut ran = 0;
        while budget > 0 && self.next_task().is_some_and(|at| at <= to) {
            budget = budget.saturating_sub(self.step());
            ran += 1;
        }
        let done = self.next_task().is_none_or(|at| at > to);
        if done {
            self.now = self.now.max(to);
        }
        Advance { ran, done }
    }

    /// Runs until a task has changed an object and returns the number of the last pass; `None` if none does before `limit`.
    pub fn step_reconcile(&mut self, limit: Time) -> Option<u32> {
        while self.next_task().is_some_and(|at| at <= limit) {
            let version = self.server.version();
            self.step();
            if self.server.version() > version {
                return Some(self.pass);
            }
        }
        None
    }

    /// Runs the next task and returns its cost: one, plus one for each entry it wrote.
    pub fn step(&mut self) -> usize {
        let Some(((time, number), task)) = self.tasks.pop_first() else {
            return 1;
        };
        let before = self.scanned;
        self.now = time;
        self.server.now = time;
        match task {
            Task::Deliver(i) => {
                if !self.deliver(usize::from(i)) {
                    // The rest is delivered before any other task.
                    self.tasks.insert((time, number), Task::Deliver(i));
                    return 1;
                }
            }
            Task::Reconcile(i, key) => self.reconcile(usize::from(i), &key),
            Task::Wake(i, key) => {
                if let Some(cause) = self.queues[usize::from(i)].take_later(&key, time) {
                    self.enqueue(usize::from(i), &key, time, cause);
                }
            }
            Task::Resync(i) => self.resync(usize::from(i)),
            Task::Relist(i) => self.relist(usize::from(i)),
            Task::Release(i) => {
                if !self.release(usize::from(i)) {
                    self.tasks.insert((time, number), Task::Release(i));
                    return 1;
                }
            }
            Task::SlowPass(i) => self.slow_pass(usize::from(i)),
            Task::Schedule => self.schedule(),
            Task::Flush => {
                if let Some(at) = self.scheduler.flush(self.now) {
                    self.push(at, Task::Schedule);
                }
                self.plan_flush();
            }
            Task::Kubelet(job) => self.kubelet(job),
            Task::Relieve(node, cause) => self.relieve(&node, cause),
            Task::ExpireEvents(granted) => {
                if !self.expire_events(granted) {
                    self.tasks
                        .insert((time, number), Task::ExpireEvents(granted));
                }
            }
            Task::CheckSeries => {
                if !self.recorder.check_series(&mut self.server, self.pass) {
                    self.tasks.insert((time, number), Task::CheckSeries);
                }
            }
        }
        self.pump();
        1 + self.scanned - before
    }

    /// Schedules a step that a fault forces on a Pod's kubelet.
    pub fn force(&mut self, uid: Uid, what: ContainerFault, cause: Option<EntryId>) {
        self.push(self.now, Task::Kubelet(Kubelets::forced(uid, what, cause)));
    }

    /// Queues a key for a controller without a watch event.
    pub fn wake_loop(&mut self, name: &str, key: &ObjectRef, cause: Option<EntryId>) {
        if let Some(i) = controllers::ALL.iter().position(|c| c.name() == name) {
            self.enqueue(i, key, self.now.after(DISPATCH_US), cause);
        }
    }

    pub fn push(&mut self, at: Time, task: Task) {
        self.sequence += 1;
        self.tasks.insert((at, self.sequence), task);
    }

    /// Schedules the delivery of new journal entries to the informers.
    fn pump(&mut self) {
        for i in 0..self.informers.len() {
            if let Some(at) = self.informers[i].next_arrival(self.server.journal()) {
                self.push(at.max(self.now), Task::Deliver(i as u8));
            }
        }
        let (journal, mut said) = (self.server.journal(), None);
        for entry in journal.from(self.scanned).iter() {
            match entry.write() {
                Some((op, object)) if object.kind == Kind::Event => {
                    said = said.or((op != Op::Deleted).then_some(entry.time))
                }
                Some(_) => self.last_change = entry.time,
                None => {}
            }
        }
        self.scanned = journal.len();
        if let Some(written) = said {
            self.lease_event(written);
        }
        if let Some(at) = self.recorder.plan_check(self.now) {
            self.push(at, Task::CheckSeries);
        }
    }

    /// Delivers watch events that have arrived; returns false if more of this instant are left for the next task.
    fn deliver(&mut self, i: usize) -> bool {
        for _ in 0..DELIVERY_BATCH {
            let Some((id, held)) = self.informers[i].receive(self.server.journal(), self.now)
            else {
                if self.informers[i].trouble.is_some() {
                    self.troubled(i);
                }
                return true;
            };
            let Some(write) = self.write_at(id) else {
                continue;
            };
            self.tell(i, write, held, id);
        }
        false
    }

    /// Delivers a write to a component, as a change of its cached version if that is given.
    pub fn tell(
        &mut self,
        i: usize,
        (op, object, before): Difference,
        held: Option<Held>,
        id: EntryId,
    ) {
        let (op, before) = match held {
            None => (op, before),
            Some(held) if op == Op::Deleted => (op, held),
            Some(Some(held)) => (Op::Modified, Some(held)),
            Some(None) => (Op::Added, None),
        };
        self.dispatch(i, op, &object, before.as_ref(), id);
    }

    /// Dispatches a watch event to the component's controllers.
    pub fn dispatch(
        &mut self,
        i: usize,
        op: Op,
        object: &Rc<Object>,
        before: Option<&Rc<Object>>,
        id: EntryId,
    ) {
        let event = Event { op, object, before };
        match i {
            MANAGER => self.wake_loops(&event, id),
            SCHEDULER => {
                if let Some(at) = self.scheduler.observe(&event, id, self.now) {
                    self.push(at, Task::Schedule);
                }
            }
            _ => {
                for (at, job) in self.kubelets.observe(&event, id, self.now) {
                    self.push(at, Task::Kubelet(job));
                }
            }
        }
    }

    pub fn write_at(&self, id: EntryId) -> Option<Difference> {
        match &self.server.journal().get(id as usize)?.record {
            Record::Write { op, object, before } => Some((*op, object.clone(), before.clone())),
            _ => None,
        }
    }

    fn schedule(&mut self) {
        if !self.scheduler.is_due(self.now) {
            return;
        }
        self.pass += 1;
        let cache = &self.informers[SCHEDULER].cache;
        let mut out = LoopClient {
            server: &mut self.server,
            recorder: &mut self.recorder,
            origin: Origin {
                actor: Actor::component("default-scheduler"),
                cause: None,
                pass: self.pass,
                manager: None,
                user: None,
            },
            writes: 0,
            round_trips: 0,
            memory: &mut Memory::new(),
            limit: None,
            waits: false,
        };
        if let Some(at) = self
            .scheduler
            .cycle(cache, self.now, &mut out, &mut self.delays)
        {
            self.push(at, Task::Schedule);
        }
        self.plan_flush();
    }

    fn plan_flush(&mut self) {
        if let Some(at) = self.scheduler.plan_flush() {
            self.push(at, Task::Flush);
        }
    }

    fn relieve(&mut self, node: &Str, cause: Option<EntryId>) {
        self.pass += 1;
        let mut out = LoopClient {
            server: &mut self.server,
            recorder: &mut self.recorder,
            origin: Origin {
                actor: Actor::kubelet(node),
                cause,
                pass: self.pass,
                manager: None,
                user: None,
            },
            writes: 0,
            round_trips: 0,
            memory: &mut Memory::new(),
            limit: None,
            waits: false,
        };
        let (again, jobs) = self.kubelets.relieve(node, self.now, &mut out);
        for (at, job) in jobs {
            self.push(at, Task::Kubelet(job));
        }
        if let Some(at) = again {
            self.push(at, Task::Relieve(node.clone(), cause));
        }
    }

    fn kubelet(&mut self, job: kubelet::PodJob) {
        self.pass += 1;
        let mut out = LoopClient {
            server: &mut self.server,
            recorder: &mut self.recorder,
            origin: Origin {
                actor: Actor::component("kubelet"),
                cause: None,
                pass: self.pass,
                manager: None,
                user: None,
            },
            writes: 0,
            round_trips: 0,
            memory: &mut Memory::new(),
            limit: None,
            waits: false,
        };
        for (at, job) in self
            .kubelets
            .run(job, &self.informers[KUBELETS].cache, self.now, &mut out)
        {
            self.push(at, Task::Kubelet(job));
        }
    }
}
