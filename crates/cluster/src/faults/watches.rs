//! Faults in watches and controllers: lost and delayed events, slow controllers, and the relist that repairs them.
//!
//! A program that only reacts to events stays wrong forever when one is lost. A controller recovers with the next relist. Both can be
//! demonstrated with these faults:
//!
//! | fault | effect |
//! |---|---|
//! | `lose pod/web-0`, `lose pod` | the next watch event for this object (namespace `default`) or this kind does not reach the controllers |
//! | `lose pod/web-0 kube-scheduler` | that event does not reach this component: `kube-controller-manager`, `kube-scheduler` or `kubelet` |
//! | `delay pod/web-0 10s`, `delay pod 10s` | that event reaches the controllers after this delay, and later events of this kind wait behind it |
//! | `delay pod/web-0 10s kube-scheduler` | delay for this component only; `none` instead of a time ends the delay |
//! | `slow replicaset-controller 2s` | each pass of this controller takes this long, one key after another; `none` ends it |
//! | `slow kube-scheduler 1s` | each cycle of the scheduler takes this long; `slow kube-controller-manager 1s`: each pass of all its controllers |
//! | `relist 30s` | delay from a lost event to the component's relist (default: 10 s) |
//! | `relist never` | components never relist and depend on events alone |
//! | `restart kube-scheduler` | the component loses its state and relists everything |
//! | `conflict replicaset/web` | the next update of this object by a controller is refused, as if another client had written first |
//!
//! A slow pass reads and writes at its end, at one instant, as all passes here do: it sees changes made in the meantime, where a real one
//! would get a conflict and be retried. Kubelets take as long as their containers, and cannot be slowed.
//!
//! Models `client-go/tools/cache/reflector.go` and `delta_fifo.go`.

use crate::sim::{Difference, Sim, Task};
use apiserver::journal::{EntryId, Journal, Op};
use controller_runtime::component::{DELIVERY_BATCH, KUBELETS, MANAGER, SCHEDULER};
use controller_runtime::informer::Cache;
use controller_runtime::watch_faults::{DelayLog, MissingEvent};
use controller_runtime::workqueue::Waited;
use fault::FaultError;
use fault::ResolvedTarget;
use k8s_model::{Duration, Kind, Object, ObjectRef, Str, Time, kind};
use std::rc::Rc;

const SCHEDULER_NAME: &str = "kube-scheduler";

/// Returns true for the scheduler's names: the component's, and the one in a Pod's `schedulerName`.
fn is_scheduler(name: &str) -> bool {
    name == SCHEDULER_NAME || name == "default-scheduler"
}

/// Controller slowed by a fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slowed {
    /// Its name.
    pub name: &'static str,
    /// Duration of each pass.
    pub span: Duration,
    /// Time at which the fault was injected.
    pub asked: Time,
    /// Number of waiting keys.
    pub waiting: usize,
    /// Key of the pass in progress, and the end of the pass.
    pub pass: Option<(ObjectRef, Time)>,
}

/// Position of an object in the queue of a slowed controller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InLine {
    /// Slowed controller.
    pub slowed: Slowed,
    /// Number of keys before the object; 0 if the pass in progress is its own.
    pub before: usize,
    /// Elapsed and total time of the pass in progress.
    pub pass: (Duration, Duration),
    /// True if the object's pass would write anything now.
    pub works: bool,
}

impl Sim {
    /// Returns true if components relist after a lost event. Otherwise they depend on events alone.
    pub fn relists(&self) -> bool {
        self.relist.is_some()
    }

    /// Returns the index of the component whose watch is affected, kube-controller-manager by default.
    fn watch_of(&self, component: Option<&Str>) -> Result<usize, FaultError> {
        component.map_or(Ok(MANAGER), |name| self.component(name))
    }

    fn component(&self, name: &Str) -> Result<usize, FaultError> {
        self.informers
            .iter()
            .position(|i| i.name == *name)
            .ok_or_else(|| FaultError::NoComponent(name.clone()))
    }

    /// Drops the next matching watch event of a component.
    pub(super) fn lose(
        &mut self,
        meant: ResolvedTarget,
        component: Option<&Str>,
        fault: EntryId,
    ) -> Result<(), FaultError> {
        let i = self.watch_of(component)?;
        self.informers[i].lossy = true;
        self.informers[i]
            .trouble
            .get_or_insert_default()
            .order(meant, None, fault);
        Ok(())
    }

    /// Delays the next matching watch event of a component, or, without a time, delivers the delayed ones now.
    pub(super) fn delay(
        &mut self,
        meant: ResolvedTarget,
        late: Option<Duration>,
        component: Option<&Str>,
        fault: EntryId,
    ) -> Result<(), FaultError> {
        let (i, now) = (self.watch_of(component)?, self.now());
        match late {
            Some(late) => {
                self.informers[i].lossy = true;
                self.informers[i]
                    .trouble
                    .get_or_insert_default()
                    .order(meant, Some(late), fault)
            }
            None => {
                if let Some(trouble) = &mut self.informers[i].trouble {
                    trouble.hasten(&meant, self.server.journal(), now);
                }
                self.troubled(i);
            }
        }
        Ok(())
    }

    /// Schedules the relist and the deliveries that a component's watch needs.
    pub fn troubled(&mut self, i: usize) {
        let (now, informer) = (self.now(), &mut self.informers[i]);
        let Some(trouble) = &mut informer.trouble else {
            return;
        };
        let (lost, release) = (std::mem::take(&mut trouble.lost), trouble.next_release(now));
        let lists = self.relist.filter(|_| lost).map(|after| now.after(after));
        trouble.lists = trouble.lists.or(lists);
        if trouble.is_over() {
            informer.trouble = None;
        }
        if let Some(at) = lists {
            self.push(at, Task::Relist(i as u8));
        }
        if let Some(at) = release {
            self.push(at, Task::Release(i as u8));
        }
    }

    /// Delivers the delayed events that are due; returns false if more are left.
    pub fn release(&mut self, i: usize) -> bool {
        for _ in 0..DELIVERY_BATCH {
            let now = self.now();
            let (journal, informer) = (self.server.journal(), &mut self.informers[i]);
            let next = informer
                .trouble
                .as_mut()
                .and_then(|trouble| trouble.release(journal, now));
            let Some((id, fault)) = next else {
                self.troubled(i);
                return true;
            };
            if let Some((fault, entry)) = fault.zip(journal.get(id as usize)) {
                self.delays
                    .event(i, id, fault, entry.time.after(informer.lag), now);
            }
            let Some(write) = self.write_at(id) else {
                continue;
            };
            let held = self.informers[i].held(&write.1);
            self.informers[i].take(write.0, &write.1);
            self.tell(i, write, held, id);
        }
        false
    }

    /// Returns true if a controller has seen its own writes for a key while events are delayed.
    pub fn sees_own_late(&self, name: &'static str, key: &ObjectRef) -> bool {
        self.informers[MANAGER]
            .trouble
            .as_ref()
            .is_none_or(|trouble| !trouble.awaits(name, key))
    }

    /// Returns the delays caused by faults.
    pub fn delays(&self) -> &DelayLog {
        &self.delays
    }

    /// Sets the duration of a controller's passes, or restores its normal speed.
    pub(super) fn slow(
        &mut self,
        name: &Str,
        each: Option<Duration>,
        fault: EntryId,
    ) -> Result<(), FaultError> {
        let now = self.now();
        if is_scheduler(name) {
            if let Some(at) = self.scheduler.slow_down(each, now, fault) {
                self.push(at, Task::Schedule);
            }
            return Ok(());
        }
        let meant =
            |i: &usize| name == self.informers[MANAGER].name || controllers::ALL[*i].name() == name;
        let loops: Vec<usize> = (0..controllers::ALL.len()).filter(meant).collect();
        if loops.is_empty() {
            return Err(FaultError::NoLoop(name.clone()));
        }
        for i in loops {
            for (key, cause) in self.queues[i].slow_down(each, now, fault) {
                self.enqueue(i, &key, now, cause);
            }
        }
        Ok(())
    }

    /// Queues a key of a slowed controller; if the controller is no longer slow, runs the pass and records the wait.
    pub fn line_up(&mut self, i: usize, key: &ObjectRef, cause: Option<EntryId>) {
        let now = self.now();
        if self.queues[i].slowed().is_some() {
            self.queues[i].line_up(key, cause, now);
            return self.plan_pass(i);
        }
        let waited = self.queues[i].let_go(key);
        self.late_pass(i, key, cause, waited);
    }

    fn late_pass(
        &mut self,
        i: usize,
        key: &ObjectRef,
        cause: Option<EntryId>,
        waited: Option<Waited>,
    ) {
        let written = self.journal().len();
        self.work_on(i, key, cause);
        if let Some(Waited { since, fault, .. }) = waited.filter(|_| self.journal().len() > written)
        {
            self.delays.pass(self.pass, fault, since, self.now());
        }
    }

    /// Runs the pass of a slowed controller for the first key in line.
    pub fn slow_pass(&mut self, i: usize) {
        let now = self.now();
        if let Some((key, waited)) = self.queues[i].take_first(now) {
            self.late_pass(i, &key, waited.cause, Some(waited));
            self.plan_pass(i);
        }
    }

    fn plan_pass(&mut self, i: usize) {
        let now = self.now();
        if let Some(at) = self.queues[i].next_pass(now) {
            self.push(at, Task::SlowPass(i as u8));
        }
    }

    /// Returns the slowdown of a controller, if any.
    pub fn slowed(&self, name: &str) -> Option<Slowed> {
        if is_scheduler(name) {
            let (span, asked) = self.scheduler.slowed()?;
            return Some(Slowed {
                name: SCHEDULER_NAME,
                span,
                asked,
                waiting: self.scheduler.queued(),
                pass: self.scheduler.under_way(),
            });
        }
        let (name, queue) = self.queues().find(|(of, _)| *of == name)?;
        queue.slowed().map(|(span, asked)| Slowed {
            name,
            span,
            asked,
            waiting: queue.len(),
            pass: queue.under_way(),
        })
    }

    /// Returns true if any controller is slow, or any watch has lost or delayed events.
    pub fn is_held_up(&self) -> bool {
        let slow = self.scheduler.slowed().is_some()
            || self.queues.iter().any(|queue| queue.slowed().is_some());
        slow || self
            .informers
            .iter()
            .any(|informer| informer.trouble.is_some())
    }

    /// Returns the slowed controller that an object waits for; one that has work for it is preferred.
    pub fn waits_for_slow(&self, object: &Object) -> Option<InLine> {
        let turn = |name: &str, (before, due): (usize, Option<(Time, Time)>), works: bool| {
            let slowed = self.slowed(name)?;
            let (began, ends) = due.unwrap_or((self.now(), self.now().after(slowed.span)));
            let pass = (self.now().0.saturating_sub(began.0), ends.0 - began.0);
            Some(InLine {
                slowed,
                before,
                pass,
                works,
            })
        };
        if let Some(line) = self
            .scheduler
            .in_line(object.meta.uid)
            .and_then(|line| turn(SCHEDULER_NAME, line, true))
        {
            return Some(line);
        }
        let key = object.key();
        let mut found = None;
        for (i, controller) in controllers::ALL
            .iter()
            .enumerate()
            .filter(|(_, controller)| serves(controller.name(), object))
        {
            let Some(line) = self.queues[i].in_line(&key) else {
                continue;
            };
            let works = self.has_work(i, &key);
            if works || found.is_none() {
                found = turn(controller.name(), line, works);
            }
            if works {
                break;
            }
        }
        found
    }

    /// Returns true if a pass over a key would write anything now, found by running it on a copy.
    fn has_work(&self, i: usize, key: &ObjectRef) -> bool {
        let mut copy = self.clone();
        copy.server.now = copy.now();
        copy.work_on(i, key, None);
        copy.journal().len() > self.journal().len()
    }

    /// Returns the first delayed or lost watch event about a matching object.
    pub fn late(&self, about: &dyn Fn(&'static str, &Object) -> bool) -> Option<MissingEvent> {
        self.informers.iter().find_map(|informer| {
            let trouble = informer.trouble.as_ref()?;
            let (name, journal) = (informer.name, self.server.journal());
            let late = trouble.late(name, journal, &|object| about(name, object));
            late.or_else(|| trouble.missed(name, journal, &|object| about(name, object)))
        })
    }

    /// Returns the delay or loss of the watch event of one entry, with its component, if any.
    pub fn late_event(&self, id: EntryId) -> Option<MissingEvent> {
        let journal = self.server.journal();
        self.informers.iter().find_map(|informer| {
            informer
                .trouble
                .as_ref()?
                .late_event(informer.name, journal, id)
        })
    }

    /// Returns true if a fault delays events to the controllers about an object, or about any of a kind if the name is empty.
    pub fn is_delayed(&self, kind: Kind, name: &Str) -> bool {
        let meant = ResolvedTarget {
            kind,
            name: name.clone(),
        };
        self.informers[MANAGER]
            .trouble
            .as_ref()
            .is_some_and(|trouble| trouble.delays(&meant, self.server.journal()))
    }

    /// Restarts a component: it loses its state and relists everything.
    pub(super) fn restart(&mut self, component: &Str) -> Result<(), FaultError> {
        let i = self.component(component)?;
        self.informers[i].cache = Cache::default();
        if i == MANAGER {
            for n in 0..controllers::ALL.len() {
                self.queues[n].restart();
                self.written[n] = Default::default();
                self.memories[n] = Default::default();
            }
            self.recorder.restart();
        } else if i == SCHEDULER {
            self.recorder.series = Default::default();
        }
        self.relist(i);
        if i == MANAGER {
            // Endpoints whose Service was deleted in the meantime have no owner reference: the controller checks all of them once.
            let left: Vec<ObjectRef> = self
                .list(Kind::Endpoints)
                .map(|o| ObjectRef {
                    kind: Kind::Service,
                    ..o.key()
                })
                .collect();
            for key in left {
                self.wake_loop("endpoint-controller", &key, None);
            }
        }
        Ok(())
    }

    /// Relists: every difference from the component's cache becomes an event.
    pub fn relist(&mut self, i: usize) {
        self.informers[i].catch_up(self.server.journal().len());
        match i {
            SCHEDULER => {
                self.informers[i].cache = Cache::default();
                self.scheduler.restart();
            }
            KUBELETS => {
                let server = &self.server;
                self.kubelets
                    .forget_gone(|key, uid| server.get(key).is_some_and(|o| o.meta.uid == uid));
            }
            _ => {}
        }
        for (op, object, before) in self.differences(i) {
            let id = written_by(self.server.journal(), &object);
            self.informers[i].take(op, &object);
            self.dispatch(i, op, &object, before.as_ref(), id);
        }
    }

    fn differences(&self, i: usize) -> Vec<Difference> {
        let informer = &self.informers[i];
        let mut found = Vec::new();
        // Nodes come before Pods, owners before their dependents.
        for kind in kind::all().filter(|kind| (informer.watches)(*kind)) {
            let gone = |o: &&Rc<Object>| {
                self.server
                    .get(&o.key())
                    .is_none_or(|now| now.meta.uid != o.meta.uid)
            };
            found.extend(
                informer
                    .cache
                    .list(kind)
                    .filter(gone)
                    .map(|o| (Op::Deleted, o.clone(), Some(o.clone()))),
            );
            for object in self.server.list(kind) {
                let known = informer
                    .cache
                    .object(&object.key())
                    .filter(|o| o.meta.uid == object.meta.uid);
                match known {
                    Some(known) if known.meta.resource_version == object.meta.resource_version => {}
                    Some(known) => found.push((Op::Modified, object.clone(), Some(known.clone()))),
                    None => found.push((Op::Added, object.clone(), None)),
                }
            }
        }
        found
    }
}

/// Returns true if a controller is responsible for the object; others only read it on behalf of another object.
fn serves(name: &str, object: &Object) -> bool {
    match object.kind {
        Kind::Service => name.starts_with("endpoint"),
        Kind::PersistentVolumeClaim | Kind::PersistentVolume => {
            name == "persistentvolume-controller" || controllers::works_on_volume(name, object)
        }
        Kind::PodDisruptionBudget => name == "disruption-controller",
        Kind::Pod | Kind::Node => {
            name == "node-lifecycle-controller" || name == "taint-eviction-controller"
        }
        kind => name
            .trim_end_matches("-controller")
            .replace('-', "")
            .eq_ignore_ascii_case(kind.name().trim_end_matches("Controller")),
    }
}

/// Returns the entry that wrote this version of the object.
fn written_by(journal: Journal<'_>, object: &Object) -> EntryId {
    let version = object.meta.resource_version;
    let at = journal.iter().rposition(|e| {
        e.write()
            .is_some_and(|(_, o)| o.meta.resource_version <= version)
    });
    at.unwrap_or_default() as EntryId
}
