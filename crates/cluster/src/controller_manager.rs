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
use controllers::scripted::{LoopState, ScriptedLoop};
use controllers::{Routes, woken_by};
use k8s_model::time::{MS, SECOND};
use k8s_model::{Duration, ObjectRef, Time};
use script::Style;
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

    /// Drops the state about an object that is gone.
    fn forget(&mut self, key: &ObjectRef) {
        self.queue.drop_key(key);
        self.written.remove(key);
        self.states.remove(key);
        if let Some(limit) = &mut self.limit {
            limit.leave(key);
        }
    }
}

/// Loop of a ControlLoop, and its state.
#[derive(Clone, Debug)]
pub(crate) struct LoopSlot {
    /// Identity; a slot keeps it when its ControlLoop is deleted.
    pub(crate) id: &'static ControllerId,
    /// Loop; `None` while there is no ControlLoop.
    pub(crate) program: Option<Rc<ScriptedLoop>>,
    /// State between passes.
    pub(crate) state: LoopState,
    /// Times at which its workers are free.
    free: Vec<Time>,
    /// Time of the next resync.
    resync: Option<Time>,
}

/// All controllers, in the order of [`controllers::ALL`], and the loops of ControlLoops after them.
#[derive(Clone, Debug)]
pub struct ControllerManager {
    routes: Rc<Routes>,
    pub(crate) workers: Vec<Worker>,
    /// Loops, each with the worker after those of the controllers.
    pub(crate) loops: Vec<LoopSlot>,
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
                tasks.push(Time(seconds * SECOND / 4), Task::Resync(i as u16));
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
            loops: Vec::new(),
            routes: Rc::new(controllers::routes()),
            event_driven: None,
            woken: Vec::new(),
        }
    }

    /// Returns the work queue of each controller.
    pub fn queues(&self) -> impl Iterator<Item = (Component, &WorkQueue)> {
        self.indexes()
            .map(|(i, component)| (component, &self.workers[i].queue))
    }

    /// Returns true for a loop whose ControlLoop is gone.
    fn has_left(&self, component: Component) -> bool {
        matches!(component, Component::Loop(id) if self.scripted(id).is_none())
    }

    /// Returns the indexes of the controllers and loops, with their components.
    pub(crate) fn indexes(&self) -> impl Iterator<Item = (usize, Component)> {
        let loops = self.loops.iter().map(|slot| Component::Loop(slot.id));
        let controllers = controllers::ALL
            .iter()
            .map(|controller| controller.component());
        let all = controllers.chain(loops).enumerate();
        all.filter(|(_, component)| !self.has_left(*component))
    }

    /// Returns the loops of ControlLoops, with their state.
    pub fn scripted_loops(&self) -> impl Iterator<Item = (&ScriptedLoop, &LoopState)> {
        let running = self.loops.iter();
        running.filter_map(|slot| Some((&**slot.program.as_ref()?, &slot.state)))
    }

    /// Returns the loop with this identity, with its state.
    pub fn scripted(&self, id: &ControllerId) -> Option<(&ScriptedLoop, &LoopState)> {
        self.scripted_loops().find(|(of, _)| of.id == id)
    }

    /// Returns the place among the loops of the worker with this index.
    pub(crate) fn place_of_loop(i: usize) -> Option<usize> {
        i.checked_sub(controllers::ALL.len())
    }

    /// Returns the slot of the loop with this index.
    pub(crate) fn slot_mut(&mut self, i: usize) -> Option<&mut LoopSlot> {
        self.loops.get_mut(ControllerManager::place_of_loop(i)?)
    }

    /// Returns true if a controller, or the event-driven program of its own, runs; the other does not.
    pub fn runs(&self, component: Component) -> bool {
        let mut all = self.indexes();
        all.any(|(i, of)| of == component && !self.workers[i].stopped)
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
        let controllers = self.workers.iter_mut().take(controllers::ALL.len());
        controllers.for_each(|worker| worker.forget(key));
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
        let worker = &mut self.workers[i];
        // A loop may have taken the place of the controller.
        if worker.stopped {
            return;
        }
        if let Some(at) = worker.queue.add(key, at, cause) {
            tasks.push(at, Task::Reconcile(i as u16, key.clone()));
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
            tasks.push(at, Task::Wake(i as u16, key.clone()));
        }
    }

    /// Queues a delayed key that is due.
    pub(crate) fn wake_delayed(&mut self, i: usize, key: &ObjectRef, tasks: &mut TaskQueue) {
        let now = tasks.now();
        if let Some(cause) = self.workers[i].queue.take_later(key, tasks.due()) {
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
        tasks.push(now.after(seconds * SECOND), Task::Resync(i as u16));
    }

    /// Schedules the end of a slowed controller's pass.
    pub(crate) fn plan_slow_pass(&mut self, i: usize, tasks: &mut TaskQueue) {
        if let Some(at) = self.workers[i].queue.next_pass(tasks.now()) {
            tasks.push(at, Task::SlowPass(i as u16));
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

    /// Clears the queues of the controllers, and the state that they keep between passes.
    pub(crate) fn restart(&mut self) {
        let controllers = self.workers.iter_mut().take(controllers::ALL.len());
        controllers.for_each(Worker::restart);
    }

    /// Starts the loop of a ControlLoop, in place of an earlier one of its name; returns false if there is no room for it.
    pub(crate) fn start_loop(
        &mut self,
        of: ScriptedLoop,
        cache: &Cache,
        tasks: &mut TaskQueue,
    ) -> bool {
        self.stop_loop(of.id, cache, tasks);
        let first = controllers::ALL.len();
        let place = match self.loops.iter().position(|slot| slot.id == of.id) {
            Some(place) => place,
            None => {
                if u16::try_from(self.workers.len()).is_err() {
                    return false;
                }
                self.workers.push(Worker::default());
                self.loops.push(LoopSlot {
                    id: of.id,
                    program: None,
                    state: LoopState::default(),
                    free: Vec::new(),
                    resync: None,
                });
                self.loops.len() - 1
            }
        };
        if let Some(replaced) = self.replaced_by(&of) {
            self.workers[replaced].restart();
            self.workers[replaced].stopped = true;
        }
        let slot = &mut self.loops[place];
        slot.free = vec![Time::default(); of.spec.workers];
        slot.resync = of.spec.resync.map(|span| tasks.now().after(span));
        if let Some(at) = slot.resync {
            tasks.push(at, Task::Resync((first + place) as u16));
        }
        slot.program = Some(Rc::new(of));
        self.workers[first + place].stopped = false;
        true
    }

    /// Index of the controller that a loop takes the place of.
    fn replaced_by(&self, of: &ScriptedLoop) -> Option<usize> {
        let name = of.spec.replaces.as_ref()?;
        let mut all = controllers::ALL.iter();
        all.position(|controller| *controller.name() == **name)
    }

    /// Ends the loop of a ControlLoop that is gone; the controller that it replaced runs again.
    pub(crate) fn stop_loop(&mut self, id: &ControllerId, cache: &Cache, tasks: &mut TaskQueue) {
        let Some(place) = self.loops.iter().position(|slot| slot.id == id) else {
            return;
        };
        let Some(of) = self.loops[place].program.take() else {
            return;
        };
        self.restart_loop(controllers::ALL.len() + place);
        let others = |slot: &LoopSlot| {
            slot.program
                .as_ref()
                .is_some_and(|other| other.spec.replaces == of.spec.replaces)
        };
        if self.loops.iter().any(others) {
            return;
        }
        if let Some(replaced) = self.replaced_by(&of) {
            self.workers[replaced].stopped = false;
            let at = tasks.now().after(DISPATCH_US);
            let kind = controllers::ALL[replaced].kind();
            for object in kind.into_iter().flat_map(|kind| cache.list(kind)) {
                self.enqueue(replaced, &object.key(), at, None, tasks);
            }
        }
    }

    /// Clears the queue of a loop and what it remembers.
    pub(crate) fn restart_loop(&mut self, i: usize) {
        self.workers[i].restart();
        if let Some(slot) = self.slot_mut(i) {
            slot.state = LoopState::default();
        }
    }

    /// Index of the loop with this identity.
    pub(crate) fn index_of_loop(&self, id: &ControllerId) -> Option<usize> {
        let place = self.loops.iter().position(|slot| slot.id == id)?;
        Some(controllers::ALL.len() + place)
    }

    /// Queues the keys of a loop that an event of its own watch wakes.
    pub(crate) fn observe_loop(
        &mut self,
        i: usize,
        event: &Event<'_>,
        id: EntryId,
        cache: &Cache,
        tasks: &mut TaskQueue,
    ) {
        let Some(slot) = self.slot_mut(i) else {
            return;
        };
        let Some(of) = slot.program.clone() else {
            return;
        };
        let keys = match of.program.style() {
            Style::Level => of.woken_by(event, cache),
            Style::Edge => of.note(event, cache, &mut slot.state).into_iter().collect(),
        };
        if event.op == apiserver::journal::Op::Deleted {
            self.workers[i].forget(&event.object.key());
        }
        let at = tasks.now().after(DISPATCH_US);
        for key in keys {
            self.enqueue(i, &key, at, Some(id), tasks);
        }
    }

    /// Queues all objects of a loop whose resync is due, and schedules the next one.
    pub(crate) fn resync_loop(&mut self, i: usize, cache: &Cache, tasks: &mut TaskQueue) {
        let now = tasks.now();
        let Some(slot) = self.slot_mut(i) else {
            return;
        };
        // A timer of an earlier version of the loop.
        if slot.resync != Some(now) {
            return;
        }
        let Some(of) = slot.program.clone() else {
            return;
        };
        slot.resync = of.spec.resync.map(|span| now.after(span));
        if let Some(at) = slot.resync {
            tasks.push(at, Task::Resync(i as u16));
        }
        let kind = of.spec.for_kind.kind();
        for object in kind.into_iter().flat_map(|kind| cache.list(kind)) {
            self.enqueue(i, &object.key(), now, None, tasks);
        }
    }

    /// Returns the time at which a worker of a loop is free, if none is now.
    pub(crate) fn worker_of_loop(&self, i: usize, now: Time) -> Option<Time> {
        let slot = ControllerManager::place_of_loop(i).and_then(|place| self.loops.get(place))?;
        slot.free.iter().min().copied().filter(|free| *free > now)
    }

    /// Keeps the first free worker of a loop busy until a time.
    pub(crate) fn keep_worker_busy(&mut self, i: usize, until: Time) {
        let slot = self.slot_mut(i);
        if let Some(free) = slot.and_then(|slot| slot.free.iter_mut().min()) {
            *free = until;
        }
    }
}
