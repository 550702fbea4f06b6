//! Work queues of the controllers, and the state that kube-controller-manager keeps between passes.

use crate::tasks::{Task, TaskQueue};
use apiserver::journal::EntryId;
use apiserver::{Component, ControllerId};
use controller_runtime::cluster::ClusterConfig;
use controller_runtime::informer::Cache;
use controller_runtime::key_state::KeyState;
use controller_runtime::limit::Limit;
use controller_runtime::watch::Event;
use controller_runtime::workqueue::WorkQueue;
use controllers::{Routes, woken_by};
use k8s_model::time::{MS, SECOND};
use k8s_model::{Duration, ObjectRef, Time};
use sim_core::tree::Tree;
use std::rc::Rc;

/// Delay from the arrival of a watch event to the pass it triggers.
const DISPATCH_US: u64 = MS;

/// Work queue of one controller, and its state by key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Worker {
    pub(crate) queue: WorkQueue,
    /// Journal length that must have been delivered for the controller to see its own writes.
    pub(crate) written: Tree<ObjectRef, usize>,
    /// State kept between passes.
    pub(crate) states: Tree<ObjectRef, KeyState>,
    /// Client rate limit, if the cluster sets one.
    pub(crate) limit: Option<Limit>,
    /// True if the controller does not run.
    pub(crate) stopped: bool,
}

impl Worker {
    /// Clears the queue and the state kept between passes.
    fn restart(&mut self) {
        self.queue.restart();
        self.written = Tree::default();
        self.states = Tree::default();
    }
}

/// All controllers, in the order of [`controllers::ALL`].
#[derive(Clone, Debug)]
pub struct ControllerManager {
    routes: Rc<Routes>,
    pub(crate) workers: Vec<Worker>,
    /// Event-driven program that runs in place of a controller.
    event_driven: Option<usize>,
    /// Scratch buffer for the keys that one event wakes; empty between events.
    woken: Vec<(usize, ObjectRef)>,
}

impl ControllerManager {
    /// Creates the controllers with empty queues and schedules their resyncs.
    pub(crate) fn new(config: &ClusterConfig, tasks: &mut TaskQueue) -> ControllerManager {
        let workers = controllers::ALL.iter().enumerate().map(|(i, controller)| {
            if let Some((seconds, _)) = controller.resync() {
                // The timer was started some time before the first command.
                tasks.push(Time(seconds * SECOND / 4), Task::Resync(i as u8));
            }
            let stopped = controllers::ALL
                .iter()
                .filter_map(|other| other.event_driven())
                .any(|program| program.component() == controller.component());
            Worker {
                stopped,
                // A program whose pass stopped at the limit would act on its events again.
                limit: config
                    .client_limit
                    .filter(|_| !stopped)
                    .map(|limit| Limit::of(controller.client_limit(limit))),
                ..Worker::default()
            }
        });
        ControllerManager {
            workers: workers.collect(),
            routes: Rc::new(controllers::routes()),
            event_driven: None,
            woken: Vec::new(),
        }
    }

    /// Returns the work queue of each controller.
    pub fn queues(&self) -> impl Iterator<Item = (Component, &WorkQueue)> {
        controllers::ALL
            .iter()
            .map(|controller| controller.component())
            .zip(self.workers.iter().map(|worker| &worker.queue))
    }

    /// Returns true if a controller, or the event-driven program of its own, runs; the other does not.
    pub fn runs(&self, component: Component) -> bool {
        let mut all = controllers::ALL.iter().zip(&self.workers);
        all.any(|(controller, worker)| controller.component() == component && !worker.stopped)
    }

    /// Returns the time at which a controller will reconcile a key again without an event.
    pub fn next_requeue(&self, key: &ObjectRef) -> Option<Time> {
        self.queues()
            .filter_map(|(_, queue)| queue.later(key))
            .min()
    }

    /// Queues the keys that a watch event wakes.
    pub(crate) fn observe(
        &mut self,
        event: &Event<'_>,
        id: EntryId,
        cache: &Cache,
        tasks: &mut TaskQueue,
        clock: i64,
    ) {
        let mut woken = std::mem::take(&mut self.woken);
        woken_by(&self.routes, event, cache, &mut |i, key| {
            if !self.workers[i].stopped {
                woken.push((i, key));
            }
        });
        if let Some(i) = self.event_driven.filter(|_| !event.listed) {
            controllers::ALL[i].remember(event, cache, &mut self.workers[i].states);
        }
        if event.op == apiserver::journal::Op::Deleted {
            self.forget(&event.object.key());
        }
        let at = tasks.now().after(DISPATCH_US);
        for (i, key) in woken.drain(..) {
            match controllers::ALL[i].delay(event, &key, clock) {
                0 => self.enqueue(i, &key, at, Some(id), tasks),
                span => self.requeue_after(i, &key, span, Some(id), tasks),
            }
        }
        self.woken = woken;
    }

    /// Drops the state about an object that is gone.
    fn forget(&mut self, key: &ObjectRef) {
        for worker in &mut self.workers {
            worker.queue.drop_key(key);
            worker.written.remove(key);
            worker.states.remove(key);
            if let Some(limit) = &mut worker.limit {
                limit.leave(key);
            }
        }
    }

    /// Schedules a pass of a controller for a key.
    pub(crate) fn enqueue(
        &mut self,
        i: usize,
        key: &ObjectRef,
        at: Time,
        cause: Option<EntryId>,
        tasks: &mut TaskQueue,
    ) {
        if let Some(at) = self.workers[i].queue.add(key, at, cause) {
            tasks.push(at, Task::Reconcile(i as u8, key.clone()));
        }
    }

    /// Queues a key after a delay.
    pub(crate) fn requeue_after(
        &mut self,
        i: usize,
        key: &ObjectRef,
        span: Duration,
        cause: Option<EntryId>,
        tasks: &mut TaskQueue,
    ) {
        let at = tasks.now().after(span);
        if self.workers[i].queue.add_at(key, at, cause) {
            tasks.push(at, Task::Wake(i as u8, key.clone()));
        }
    }

    /// Queues a delayed key that is due.
    pub(crate) fn wake_delayed(&mut self, i: usize, key: &ObjectRef, tasks: &mut TaskQueue) {
        let now = tasks.now();
        if let Some(cause) = self.workers[i].queue.take_later(key, now) {
            self.enqueue(i, key, now, cause, tasks);
        }
    }

    /// Queues a key for a controller without a watch event.
    pub(crate) fn wake(
        &mut self,
        controller: &'static ControllerId,
        key: &ObjectRef,
        cause: Option<EntryId>,
        tasks: &mut TaskQueue,
    ) {
        let component = Component::Controller(controller);
        let controller = controllers::ALL
            .iter()
            .position(|c| c.component() == component);
        if let Some(i) = controller {
            self.enqueue(i, key, tasks.now().after(DISPATCH_US), cause, tasks);
        }
    }

    /// Queues all objects of a controller and schedules its next resync.
    pub(crate) fn resync(&mut self, i: usize, cache: &Cache, tasks: &mut TaskQueue) {
        let Some((seconds, kinds)) = controllers::ALL[i].resync() else {
            return;
        };
        let now = tasks.now();
        for object in kinds.iter().flat_map(|kind| cache.list(*kind)) {
            self.enqueue(i, &object.key(), now, None, tasks);
        }
        tasks.push(now.after(seconds * SECOND), Task::Resync(i as u8));
    }

    /// Schedules the end of a slowed controller's pass.
    pub(crate) fn plan_slow_pass(&mut self, i: usize, tasks: &mut TaskQueue) {
        if let Some(at) = self.workers[i].queue.next_pass(tasks.now()) {
            tasks.push(at, Task::SlowPass(i as u8));
        }
    }

    /// Sets the duration of a controller's passes, or restores its normal speed.
    pub(crate) fn slow_down(
        &mut self,
        i: usize,
        pass: Option<Duration>,
        fault: EntryId,
        tasks: &mut TaskQueue,
    ) {
        let now = tasks.now();
        for (key, cause) in self.workers[i].queue.slow_down(pass, now, fault) {
            self.enqueue(i, &key, now, cause, tasks);
        }
    }

    /// Lets an event-driven program take the place of a controller or, if not `on`, the controller take its place back. The one that starts
    /// remembers nothing; a controller begins with all objects.
    pub(crate) fn replace(
        &mut self,
        controller: usize,
        program: usize,
        on: bool,
        cache: &Cache,
        tasks: &mut TaskQueue,
    ) {
        self.event_driven = on.then_some(program);
        let (stops, starts) = if on {
            (controller, program)
        } else {
            (program, controller)
        };
        if !std::mem::replace(&mut self.workers[stops].stopped, true) {
            self.workers[stops].restart();
        }
        self.workers[starts].stopped = false;
        let at = tasks.now().after(DISPATCH_US);
        let kind = controllers::ALL[starts].kind();
        for object in kind.into_iter().flat_map(|kind| cache.list(kind)) {
            self.enqueue(starts, &object.key(), at, None, tasks);
        }
    }

    /// Clears the queues and the state kept between passes.
    pub(crate) fn restart(&mut self) {
        self.workers.iter_mut().for_each(Worker::restart);
    }
}
