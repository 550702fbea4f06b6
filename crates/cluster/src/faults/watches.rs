//! Faults in watches and controllers: lost and delayed events, slow controllers, and the relist that repairs them.
//!
//! A program that only reacts to events stays wrong forever when one is lost. A controller recovers with the next relist. Both can be
//! demonstrated with these faults:
//!
//! | fault | effect |
//! |---|---|
//! | `lose pod/web-0`, `lose pod` | the next watch event for this object (namespace `default`) or this kind does not reach the controllers |
//! | `lose pod/web-0 kube-scheduler` | that event does not reach this component: `kube-controller-manager`, `kube-scheduler`, `kubelet`, or the loop of a ControlLoop by its name |
//! | `delay pod/web-0 10s`, `delay pod 10s` | that event reaches the controllers after this delay, and later events of this kind wait behind it |
//! | `delay pod/web-0 10s kube-scheduler` | delay for this component only; `none` instead of a time ends the delay |
//! | `repeat pod/web-0`, `repeat pod` | that event reaches the controllers (or the component named) twice |
//! | `event-driven replicaset-controller on` | a program that reacts to events alone takes the place of this controller; `off` ends it |
//! | `slow replicaset-controller 2s` | each pass of this controller takes this long, one key after another; `none` ends it |
//! | `slow kube-scheduler 1s` | each cycle of the scheduler takes this long; `slow kube-controller-manager 1s`: each pass of all its controllers |
//! | `relist 30s` | delay from a lost event to the component's relist (default: 10 s) |
//! | `relist never` | components never relist and depend on events alone |
//! | `restart kube-scheduler` | the component loses its state and relists everything; so does the loop of a ControlLoop, by its name |
//! | `conflict replicaset/web` | the next update of this object by a controller, or by a client over HTTP that is not kubectl, is refused, as if another client had written first |
//!
//! Components of the cluster alone are meant: a client over HTTP has faults of its own (`clients.rs`), except that a conflict meets both.
//!
//! A slow pass reads and writes at its end, at one instant, as all passes here do: it sees changes made in the meantime, where a real one
//! would get a conflict and be retried. Kubelets take as long as their containers, and cannot be slowed.
//!
//! Models `client-go/tools/cache/reflector.go` and `delta_fifo.go`.

use crate::sim::{Difference, Sim};
use crate::tasks::Task;
use apiserver::journal::{EntryId, Op};
use apiserver::{Component, Store};
use controller_runtime::informer::Cache;
use controller_runtime::process::{DELIVERY_BATCH, Process};
use controller_runtime::watch::Event;
use controller_runtime::watch_faults::WatchFault;
use fault::FaultError;
use fault::ResolvedTarget;
use k8s_model::{Duration, Kind, Object, ObjectRef, Str, kind};
use std::rc::Rc;

/// Returns true for the scheduler's names: the process's, and the one in a Pod's `schedulerName`.
fn is_scheduler(name: &str) -> bool {
    name == Process::Scheduler.name() || name == Component::Scheduler.name()
}

/// Returns the process whose watch is affected, kube-controller-manager by default.
fn watcher(sim: &Sim, component: Option<&Str>) -> Result<Process, FaultError> {
    component.map_or(Ok(Process::ControllerManager), |name| {
        sim.informers.process_named(name)
    })
}

/// Orders a fault of the next matching watch event of a component.
pub(super) fn order(
    sim: &mut Sim,
    target: ResolvedTarget,
    kind: WatchFault,
    component: Option<&Str>,
    fault: EntryId,
) -> Result<(), FaultError> {
    let process = watcher(sim, component)?;
    let informer = &mut sim.informers[process];
    // A repeated event leaves the cache as it is.
    informer.lossy |= kind != WatchFault::Repeat;
    let watch_faults = informer.watch_faults.get_or_insert_default();
    watch_faults.order(target, kind, fault);
    Ok(())
}

/// Lets an event-driven program take the place of a controller, or the controller take its place back.
pub(super) fn event_driven(sim: &mut Sim, name: &Str, on: bool) -> Result<(), FaultError> {
    let mut all = controllers::ALL.iter();
    let controller = all.find(|controller| controller.name() == name);
    let program = controller.and_then(|controller| controller.event_driven());
    let place = |of: Component| {
        let mut all = controllers::ALL.iter();
        all.position(|controller| controller.component() == of)
    };
    let places = controller.zip(program).and_then(|(controller, program)| {
        Some((place(controller.component())?, place(program.component())?))
    });
    let (controller, program) =
        places.ok_or_else(|| FaultError::NoEventDrivenForm(name.clone()))?;
    let cache = &sim.informers.controller_manager.cache;
    sim.manager
        .replace(controller, program, on, cache, &mut sim.tasks);
    Ok(())
}

/// Delivers the delayed watch events of a component now.
pub(super) fn deliver(
    sim: &mut Sim,
    target: ResolvedTarget,
    component: Option<&Str>,
) -> Result<(), FaultError> {
    let (process, now) = (watcher(sim, component)?, sim.now());
    let informer = &mut sim.informers[process];
    if let Some(watch_faults) = &mut informer.watch_faults {
        watch_faults.flush_delayed(&target, sim.server.store.journal(), now);
    }
    sim.plan_watch_repair(process);
    Ok(())
}

/// Sets the duration of a controller's passes, or restores its normal speed.
pub(super) fn slow(
    sim: &mut Sim,
    name: &Str,
    pass: Option<Duration>,
    fault: EntryId,
) -> Result<(), FaultError> {
    let now = sim.now();
    if is_scheduler(name) {
        if let Some(at) = sim.scheduler.slow_down(pass, now, fault) {
            sim.tasks.push(at, Task::Schedule);
        }
        return Ok(());
    }
    let all = name == Process::ControllerManager.name();
    let is_named = |component: Component| match component {
        Component::Controller(_) => all || component.name() == name,
        _ => component.name() == name,
    };
    let named = sim
        .manager
        .indexes()
        .filter(|(_, component)| is_named(*component));
    let loops: Vec<usize> = named.map(|(i, _)| i).collect();
    if loops.is_empty() {
        return Err(FaultError::NoLoop(name.clone()));
    }
    for i in loops {
        sim.manager.slow_down(i, pass, fault, &mut sim.tasks);
    }
    Ok(())
}

/// Restarts a component: it loses its state and relists everything.
pub(super) fn restart(sim: &mut Sim, component: &Str) -> Result<(), FaultError> {
    let process = sim.informers.process_named(component)?;
    if let Process::Loop(id) = process {
        sim.run_loop(id);
        return Ok(());
    }
    sim.informers[process].cache = Cache::default();
    match process {
        Process::ControllerManager => {
            sim.manager.restart();
            sim.recorder.restart();
        }
        Process::Scheduler => sim.recorder.series = Default::default(),
        Process::Kubelet | Process::Loop(_) => {}
    }
    sim.relist(process);
    if process == Process::ControllerManager {
        // Endpoints whose Service was deleted in the meantime have no owner reference: the controller checks all of them once.
        for endpoints in sim.server.store.list(Kind::Endpoints) {
            let key = ObjectRef {
                kind: Kind::Service,
                ..endpoints.key()
            };
            sim.manager
                .wake(&controllers::ENDPOINTS, &key, None, &mut sim.tasks);
        }
    }
    Ok(())
}

impl Sim {
    /// Schedules the relist and the deliveries that a component's watch needs.
    pub(crate) fn plan_watch_repair(&mut self, process: Process) {
        let (now, informer) = (self.now(), &mut self.informers[process]);
        let Some(watch_faults) = &mut informer.watch_faults else {
            return;
        };
        let (lost, release) = (
            std::mem::take(&mut watch_faults.lost),
            watch_faults.next_release(now),
        );
        let lists = self.relist.filter(|_| lost).map(|after| now.after(after));
        watch_faults.lists = watch_faults.lists.or(lists);
        if watch_faults.is_over() {
            informer.watch_faults = None;
        }
        if let Some(at) = lists {
            self.tasks.push(at, Task::Relist(process));
        }
        if let Some(at) = release {
            self.tasks.push(at, Task::Release(process));
        }
    }

    /// Delivers the delayed events that are due; returns false if more are left.
    pub(crate) fn release(&mut self, process: Process) -> bool {
        for _ in 0..DELIVERY_BATCH {
            let now = self.now();
            let (journal, informer) = (self.server.store.journal(), &mut self.informers[process]);
            let next = informer
                .watch_faults
                .as_mut()
                .and_then(|watch_faults| watch_faults.release(journal, now));
            let Some((id, fault)) = next else {
                self.plan_watch_repair(process);
                return true;
            };
            if let Some((fault, entry)) = fault.zip(journal.get(id as usize)) {
                let due = entry.time.after(informer.lag);
                self.delays.event(process, id, fault, due, now);
            }
            let Some(write) = self.difference(id) else {
                continue;
            };
            let informer = &mut self.informers[process];
            let held = informer.cached_version(&write.object);
            informer.apply(write.op, &write.object);
            self.deliver_write(process, write, held, id);
        }
        false
    }

    /// Relists: every difference from the component's cache becomes an event.
    pub(crate) fn relist(&mut self, process: Process) {
        self.informers[process].relist(self.server.store.journal().len());
        match process {
            Process::Scheduler => {
                self.informers.scheduler.cache = Cache::default();
                self.scheduler.restart();
            }
            Process::Kubelet => {
                let store = &self.server.store;
                self.kubelets
                    .forget_gone(|key, uid| store.get(key).is_some_and(|o| o.meta.uid == uid));
            }
            Process::ControllerManager | Process::Loop(_) => {}
        }
        for difference in self.differences(process) {
            let Difference { op, object, before } = &difference;
            let id = written_by(&self.server.store, object);
            self.informers[process].apply(*op, object);
            let event = Event {
                op: *op,
                object,
                before: before.as_ref(),
                listed: true,
            };
            self.dispatch(process, &event, id);
        }
    }

    fn differences(&self, process: Process) -> Vec<Difference> {
        let (store, cache) = (&self.server.store, &self.informers[process].cache);
        let mut differences = Vec::new();
        // Nodes come before Pods, owners before their dependents.
        for kind in kind::all().filter(|kind| process.watches(*kind)) {
            let gone = |o: &&Rc<Object>| {
                store
                    .get(&o.key())
                    .is_none_or(|now| now.meta.uid != o.meta.uid)
            };
            differences.extend(cache.list(kind).filter(gone).map(|o| Difference {
                op: Op::Deleted,
                object: o.clone(),
                before: Some(o.clone()),
            }));
            for object in store.list(kind) {
                let cached = cache
                    .object(&object.key())
                    .filter(|o| o.meta.uid == object.meta.uid);
                if cached.is_some_and(|cached| {
                    cached.meta.resource_version == object.meta.resource_version
                }) {
                    continue;
                }
                differences.push(Difference {
                    op: cached.map_or(Op::Added, |_| Op::Modified),
                    object: object.clone(),
                    before: cached.cloned(),
                });
            }
        }
        differences
    }
}

/// Returns the entry that wrote this version of the object.
fn written_by(store: &Store, object: &Object) -> EntryId {
    let until = store.entries_until(object.meta.resource_version);
    until.saturating_sub(1) as EntryId
}
