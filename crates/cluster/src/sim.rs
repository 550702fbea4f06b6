//! Simulation: a queue of tasks in virtual time, run one by one.
//!
//! Guarantees: the history depends on the cluster, the seed and the commands alone, never on how
//! `advance` was sliced; no task reads a wall clock.

mod reconcile;
mod scripted;

use crate::client_view::ClientView;
use crate::controller_manager::ControllerManager;
use crate::disk::Disks;
use crate::faults::ClientFaults;
use crate::informers::Informers;
use crate::process::{ContainerProcess, ProcessRunner};
use crate::tasks::{Position, Task, TaskQueue};
use apiserver::journal::{Actor, EntryId, Journal, Op, Record};
use apiserver::why::Why;
use apiserver::{
    ApiServer, CommandEffect, Component, Origin, Request, Response, Store, UserCommand, defaults,
};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::cluster::ClusterConfig;
use controller_runtime::events::EventRecorder;
use controller_runtime::informer::CachedVersion;
use controller_runtime::key_state::KeyState;
use controller_runtime::process::{DELIVERY_BATCH, Process, RELIST_DELAY_US};
use controller_runtime::watch::Event;
use controller_runtime::watch_faults::DelayLog;
use controller_runtime::workqueue::Waited;
use controllers::Controller;
use k8s_model::time::{MS, SECOND};
use k8s_model::{Duration, Kind, Object, ObjectRef, Str, Time};
use kubelet::{Kubelets, PodJob};
use scheduler::Scheduler;
use std::rc::Rc;

/// Change of an object as a watch delivers it.
pub(crate) struct Difference {
    pub op: Op,
    pub object: Rc<Object>,
    pub before: Option<Rc<Object>>,
}

/// Number of objects sorted and Pods read in one slice of idle work.
const IDLE_WORK_ITEMS: usize = 1_000;

/// Result of [`Sim::advance`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Advance {
    /// Number of tasks run.
    pub ran: usize,
    /// True if the requested time was reached.
    pub done: bool,
}

/// Simulated cluster: its parts, and the clock that runs them.
#[derive(Clone, Debug)]
pub struct Sim {
    /// Initial configuration of the cluster.
    pub config: ClusterConfig,
    /// Objects, their history, and the stages that a request passes.
    pub server: ApiServer,
    /// Virtual clock and pending tasks.
    pub tasks: TaskQueue,
    /// Watch and cache of each process.
    pub informers: Informers,
    /// Controllers and their work queues.
    pub manager: ControllerManager,
    /// Events already recorded.
    pub recorder: EventRecorder,
    /// Scheduler and its queues.
    pub scheduler: Scheduler,
    /// Kubelets and the Pods that they run.
    pub kubelets: Kubelets,
    /// Files written by commands in containers.
    pub disks: Disks,
    /// Delays caused by injected faults so far.
    pub delays: DelayLog,
    /// Runs the processes of containers; without one only well-known commands end.
    pub processes: Option<ProcessRunner>,
    /// Injected faults on external clients.
    pub client_faults: ClientFaults,
    /// Delay from a lost watch event to the relist; `None` disables relisting.
    pub relist: Option<Duration>,
    /// Index in the history of the action that runs.
    pub action: u32,
    /// Number of the last pass.
    pub(crate) pass: u32,
    last_change: Time,
    scanned: usize,
}

impl Sim {
    /// Creates a cluster at time 0 with its nodes and classes.
    pub fn new(config: ClusterConfig, seed: u64) -> Sim {
        let mut tasks = TaskQueue::default();
        let mut sim = Sim {
            server: ApiServer::new(config.epoch, seed),
            informers: Informers::default(),
            manager: ControllerManager::new(&config, &mut tasks),
            tasks,
            recorder: EventRecorder::default(),
            scheduler: Scheduler::default(),
            kubelets: Kubelets::new(&config),
            disks: Disks::default(),
            delays: DelayLog::default(),
            processes: None,
            client_faults: ClientFaults::default(),
            relist: Some(RELIST_DELAY_US),
            action: 0,
            pass: 0,
            last_change: Time::default(),
            scanned: 0,
            config,
        };
        sim.server.options.max_unavailable_statefulset = sim.config.max_unavailable_statefulset;
        sim.server.options.toleration_seconds = sim.config.default_toleration_seconds;
        let origin = Origin::new(Actor::SERVER, None, 0);
        for mut value in sim.config.objects() {
            defaults::apply_defaults(&mut value);
            let kind = (value["apiVersion"].as_str(), value["kind"].as_str());
            let kind = kind.0.zip(kind.1).and_then(|(v, k)| Kind::from_api(v, k));
            if let Some(Ok(object)) = kind.map(|kind| Object::from_value(kind, value)) {
                // A duplicate node name is the only possible refusal; the first node is kept.
                let _ = sim.server.create(&origin, object, Why::Bootstrap);
            }
        }
        sim.pump();
        sim
    }

    /// Returns the virtual time.
    pub fn now(&self) -> Time {
        self.tasks.now()
    }

    /// Returns the journal: every command, write and refusal.
    pub fn journal(&self) -> Journal<'_> {
        self.server.store.journal()
    }

    /// Returns the objects and their history.
    pub fn store(&self) -> &Store {
        &self.server.store
    }

    /// Does idle work: sorts part of a long list and reads part of the Pods to rank, so that a later list or pass does not have to do all
    /// of it at once. Has no observable effect.
    pub fn run_idle_work(&mut self) {
        self.server.store.settle(IDLE_WORK_ITEMS);
        self.informers
            .controller_manager
            .cache
            .read_ahead(IDLE_WORK_ITEMS);
    }

    /// Returns the time of the last write of an object other than an Event.
    pub fn last_change(&self) -> Time {
        self.last_change
    }

    /// Records a user's command in the journal and returns the origin for its writes.
    pub fn command(&mut self, line: &str, effect: CommandEffect) -> Origin {
        self.begin(Record::Command(UserCommand {
            line: line.into(),
            effect,
            action: self.action,
        }))
    }

    /// Records a user's action and returns the origin for its writes.
    pub(crate) fn begin(&mut self, record: Record) -> Origin {
        self.pass += 1;
        self.server.store.now = self.tasks.now();
        let origin = Origin::new(Actor::USER, None, self.pass);
        let cause = self.server.store.record(&origin, record, Why::Asked);
        Origin {
            cause: Some(cause),
            ..origin
        }
    }

    /// Serves a request of a client and schedules the delivery of its writes. A request that may write, other than a dry run, is recorded
    /// as a command of the history.
    pub fn request(&mut self, request: &Request) -> Response {
        let origin = match request.is_read() || request.options.dry_run {
            true => Origin::user(),
            false => self.command(&request.command, CommandEffect::Writes),
        };
        self.handle(&request.origin(origin), request)
    }

    /// Serves a request of a command that is in the history already.
    pub fn handle(&mut self, origin: &Origin, request: &Request) -> Response {
        if request.is_read() {
            return self.read(request);
        }
        self.server.store.now = self.tasks.now();
        let response = self.server.handle(origin, request);
        self.pump();
        response
    }

    /// Serves a request that changes nothing.
    pub fn read(&self, request: &Request) -> Response {
        self.server.read(&ClientView::new(self), request)
    }

    /// Writes on behalf of a component, and schedules the delivery of the writes.
    pub fn write<R>(&mut self, write: impl FnOnce(&mut ApiServer) -> R) -> R {
        self.server.store.now = self.tasks.now();
        let result = write(&mut self.server);
        self.pump();
        result
    }

    /// Runs tasks until `to` or until the budget is spent; a task costs one, plus one for each entry it writes.
    pub fn advance(&mut self, to: Time, mut budget: usize) -> Advance {
        let mut ran = 0;
        while budget > 0 && self.tasks.next_due().is_some_and(|at| at <= to) {
            budget = budget.saturating_sub(self.step());
            ran += 1;
        }
        let done = self.tasks.next_due().is_none_or(|at| at > to);
        if done {
            self.tasks.advance_to(to);
        }
        Advance { ran, done }
    }

    /// Runs until a task has changed an object and returns the number of the last pass; `None` if none does before `limit`.
    pub fn step_reconcile(&mut self, limit: Time) -> Option<u32> {
        while self.tasks.next_due().is_some_and(|at| at <= limit) {
            let version = self.server.store.version();
            self.step();
            if self.server.store.version() > version {
                return Some(self.pass);
            }
        }
        None
    }

    /// Runs the next task and returns its cost: one, plus one for each entry it wrote.
    pub fn step(&mut self) -> usize {
        let Some((position, task)) = self.tasks.pop() else {
            return 1;
        };
        let cost = self.run_task(position, task, DELIVERY_BATCH);
        self.server.end_admission();
        cost
    }

    /// Runs a task; a delivery, of so many events.
    pub(crate) fn run_task(&mut self, position: Position, task: Task, batch: usize) -> usize {
        let before = self.scanned;
        let now = self.now();
        self.server.store.now = now;
        match task {
            // The loop of a process may have ended.
            Task::Deliver(process) | Task::Relist(process) | Task::Release(process)
                if !self.informers.has(process) => {}
            Task::Deliver(process) => {
                if !self.deliver(process, batch) {
                    // The rest is delivered before any other task.
                    self.tasks.put_back(position, Task::Deliver(process));
                    return 1;
                }
            }
            Task::Reconcile(i, key) => self.reconcile(usize::from(i), &key),
            Task::Wake(i, key) => self
                .manager
                .wake_delayed(usize::from(i), &key, &mut self.tasks),
            Task::Resync(i) => self.resync(usize::from(i)),
            Task::Relist(process) => self.relist(process),
            Task::Release(process) => {
                if !self.release(process) {
                    self.tasks.put_back(position, Task::Release(process));
                    return 1;
                }
            }
            Task::SlowPass(i) => self.slow_pass(usize::from(i)),
            Task::Schedule => self.schedule(),
            Task::Flush => {
                if let Some(at) = self.scheduler.flush(now) {
                    self.tasks.push(at, Task::Schedule);
                }
                self.plan_flush();
            }
            Task::Kubelet(job) => match self.kubelets.process(&job, &self.server.store) {
                Some((pod, container)) => {
                    self.run_process(&job, &ContainerProcess { pod, container });
                }
                None => self.sync_pod(job),
            },
            Task::WriteFile { disk, path, text } => {
                match text {
                    Some(text) => drop(self.disks.write(&disk, &path, &text)),
                    None => drop(self.disks.remove(&disk, &path)),
                };
            }
            Task::SynchronizeEviction(node, cause) => self.synchronize_eviction(&node, cause),
            Task::ExpireEvents(granted) => {
                let leases = &mut self.recorder.leases;
                if !leases.expire(granted, &mut self.server, self.pass) {
                    self.tasks.put_back(position, Task::ExpireEvents(granted));
                }
            }
            Task::CheckSeries => {
                if !self.recorder.check_series(&mut self.server, self.pass) {
                    self.tasks.put_back(position, Task::CheckSeries);
                }
            }
        }
        self.pump();
        1 + self.scanned - before
    }

    /// Schedules the delivery of new journal entries to the informers.
    fn pump(&mut self) {
        let (journal, now) = (self.server.store.journal(), self.tasks.now());
        for informer in self.informers.iter_mut() {
            if let Some(at) = informer.next_arrival(journal) {
                self.tasks
                    .push(at.max(now), Task::Deliver(informer.process));
            }
        }
        let mut event_written = None;
        for entry in journal.from(self.scanned).iter() {
            match entry.write() {
                Some((op, object)) if object.kind == Kind::Event => {
                    event_written = event_written.or((op != Op::Deleted).then_some(entry.time))
                }
                Some(_) => self.last_change = entry.time,
                None => {}
            }
        }
        self.scanned = journal.len();
        if let Some(written) = event_written
            && let Some(expiry) = self.recorder.leases.grant(written)
        {
            self.tasks.push(expiry, Task::ExpireEvents(written));
        }
        if let Some(at) = self.recorder.plan_check(now) {
            self.tasks.push(at, Task::CheckSeries);
        }
    }

    /// Delivers watch events that have arrived; returns false if more of this instant are left for the next task.
    fn deliver(&mut self, process: Process, batch: usize) -> bool {
        let now = self.tasks.due();
        for _ in 0..batch {
            let informer = &mut self.informers[process];
            let Some((id, held)) = informer.pop(self.server.store.journal(), now) else {
                if informer.watch_faults.is_some() {
                    self.plan_watch_repair(process);
                }
                return true;
            };
            let watch_faults = informer.watch_faults.as_mut();
            let repeats = watch_faults.is_some_and(|watch_faults| watch_faults.take_repeat());
            if let Some(write) = self.difference(id) {
                self.deliver_write(process, write, held, id);
            }
            if repeats && let Some(write) = self.difference(id) {
                let held = self.informers[process].held_version(&write.object);
                self.deliver_write(process, write, held, id);
            }
        }
        false
    }

    /// Delivers a write to a component, as a change of its cached version if that is given.
    pub(crate) fn deliver_write(
        &mut self,
        process: Process,
        write: Difference,
        held: Option<CachedVersion>,
        id: EntryId,
    ) {
        let (op, before) = match held {
            None => (write.op, write.before),
            Some(held) if write.op == Op::Deleted => (write.op, held),
            Some(Some(held)) => (Op::Modified, Some(held)),
            Some(None) => (Op::Added, None),
        };
        let event = Event {
            op,
            object: &write.object,
            before: before.as_ref(),
            listed: false,
        };
        self.dispatch(process, &event, id);
    }

    /// Dispatches a watch event to the loops of a process.
    pub(crate) fn dispatch(&mut self, process: Process, event: &Event<'_>, id: EntryId) {
        let now = self.now();
        match process {
            Process::ControllerManager => {
                if event.op == Op::Deleted {
                    self.recorder.forget(event.object.meta.uid);
                }
                let seconds = self.server.store.wall().seconds() * SECOND as i64;
                let clock = seconds + (now.0 % SECOND) as i64;
                let cache = &self.informers.controller_manager.cache;
                self.manager
                    .observe(event, id, cache, &mut self.tasks, clock);
                if apiserver::control_loop::is_control_loop(event.object.kind) {
                    self.observe_control_loop(event);
                }
            }
            Process::Loop(of) => {
                if let Some(i) = self.manager.index_of_loop(of) {
                    let cache = &self.informers[process].cache;
                    self.manager
                        .observe_loop(i, event, id, cache, &mut self.tasks);
                }
            }
            Process::Scheduler => {
                if let Some(at) = self.scheduler.observe(event, id, now) {
                    self.tasks.push(at, Task::Schedule);
                }
            }
            Process::Kubelet => {
                let jobs = self.kubelets.observe(event, id, now);
                self.tasks.push_kubelet_jobs(jobs);
            }
        }
    }

    /// Returns the write of a journal entry.
    pub(crate) fn difference(&self, id: EntryId) -> Option<Difference> {
        match &self.server.store.journal().get(id as usize)?.record {
            Record::Write { op, object, before } => Some(Difference {
                op: *op,
                object: object.clone(),
                before: before.clone(),
            }),
            _ => None,
        }
    }

    /// Runs a cycle of the scheduler.
    fn schedule(&mut self) {
        let now = self.now();
        if !self.scheduler.is_due(self.tasks.due()) {
            return;
        }
        self.pass += 1;
        let mut state = KeyState::default();
        let actor = Actor::component(Component::Scheduler);
        let mut client = LoopClient::new(
            &mut self.server,
            &mut self.recorder,
            Origin::new(actor, None, self.pass),
            &mut state,
        );
        let cache = &self.informers.scheduler.cache;
        if let Some(at) = self
            .scheduler
            .cycle(cache, now, &mut client, &mut self.delays)
        {
            self.tasks.push(at, Task::Schedule);
        }
        self.plan_flush();
    }

    fn plan_flush(&mut self) {
        if let Some(at) = self.scheduler.plan_flush() {
            self.tasks.push(at, Task::Flush);
        }
    }

    /// Runs an eviction step of a node's kubelet.
    fn synchronize_eviction(&mut self, node: &Str, cause: Option<EntryId>) {
        self.pass += 1;
        let mut state = KeyState::default();
        let mut client = LoopClient::new(
            &mut self.server,
            &mut self.recorder,
            Origin::new(Actor::kubelet(node), cause, self.pass),
            &mut state,
        );
        let (again, jobs) = self
            .kubelets
            .synchronize_eviction(node, self.tasks.now(), &mut client);
        self.tasks.push_kubelet_jobs(jobs);
        if let Some(at) = again {
            self.tasks
                .push(at, Task::SynchronizeEviction(node.clone(), cause));
        }
    }

    /// Runs a step of a kubelet for a Pod.
    fn sync_pod(&mut self, job: PodJob) {
        self.pass += 1;
        let mut state = KeyState::default();
        let actor = Actor::component(Component::Kubelet);
        let mut client = LoopClient::new(
            &mut self.server,
            &mut self.recorder,
            Origin::new(actor, None, self.pass),
            &mut state,
        );
        let (cache, now) = (&self.informers.kubelet.cache, self.tasks.now());
        let jobs = self.kubelets.run(job, cache, now, &mut client);
        self.tasks.push_kubelet_jobs(jobs);
    }
}
