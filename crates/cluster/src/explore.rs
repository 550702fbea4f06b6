//! Exploration of the orders in which tasks may run.
//!
//! Ordinary runs take the task that is due first. An explorer asks which tasks are ready together and chooses among them; the clock stands
//! still until none is left. Watch deliveries, passes, scheduling cycles and steps of kubelets that are due within a window are ready
//! together: their delays are latencies, which nothing guarantees. A timer is never early: it is ready once the clock has reached it.

use crate::Sim;
use crate::tasks::{Position, Task};
use apiserver::journal::EntryId;
use controller_runtime::process::Process;
use k8s_model::{Duration, Time, Uid};

/// Task that may run next.
#[derive(Clone, Debug)]
pub struct ReadyTask {
    position: Position,
    /// Process in which it runs; `None` for the engine's own.
    pub process: Option<Process>,
    /// Kind of step.
    pub step: ReadyStep,
}

/// Kind of step of a ready task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadyStep {
    /// Delivery of watch events to a process.
    Deliver,
    /// Pass of a controller or a cycle of the scheduler: it reads the cache of its process.
    Pass,
    /// Step of a kubelet for a Pod.
    Kubelet(Uid),
    /// Timer or other work of the engine.
    Timer,
}

impl Sim {
    /// Returns true if a pending task has become meaningless: its key was taken or planned anew.
    pub(crate) fn is_stale(&self, due: Time, task: &Task) -> bool {
        match task {
            Task::Deliver(process) | Task::Relist(process) | Task::Release(process) => {
                !self.informers.has(*process)
            }
            Task::Reconcile(i, key) => {
                !self.manager.workers[usize::from(*i)].queue.is_due(key, due)
            }
            Task::Wake(i, key) => {
                self.manager.workers[usize::from(*i)].queue.later(key) != Some(due)
            }
            Task::Schedule => !self.scheduler.is_due(due),
            _ => false,
        }
    }

    /// Returns the tasks that are ready together, those due first at the beginning.
    pub fn ready_tasks(&self, window: Duration) -> Vec<ReadyTask> {
        let (now, until) = (self.now(), self.now().after(window));
        let within = self.tasks.iter().take_while(|((due, _), _)| *due <= until);
        let mut ready = Vec::new();
        for (position, task) in within {
            let (process, step) = kind_of(self, task);
            if self.is_stale(position.0, task) || (step == ReadyStep::Timer && position.0 > now) {
                continue;
            }
            ready.push(ReadyTask {
                position: *position,
                process,
                step,
            });
        }
        ready
    }

    /// Runs a ready task, a delivery of one event; the clock stands still.
    pub fn step_task(&mut self, ready: &ReadyTask) {
        self.step_at(ready.position);
        let process = ready.process.filter(|_| ready.step == ReadyStep::Deliver);
        if process.is_some_and(|process| self.undelivered(process).next().is_none()) {
            // Nothing is left: the delivery ends.
            self.step_at(ready.position);
        }
    }

    fn step_at(&mut self, position: Position) {
        if let Some(task) = self.tasks.take(position) {
            self.run_task(position, task, 1);
            self.server.end_admission();
        }
    }

    /// Returns the time of the next task that means anything; those that do not are dropped.
    pub fn next_ready(&mut self) -> Option<Time> {
        loop {
            let (position, task) = self.tasks.iter().next()?;
            if !self.is_stale(position.0, task) {
                return Some(position.0);
            }
            let position = *position;
            self.tasks.take(position);
        }
    }

    /// Sets the clock forward; no task may be due before.
    pub fn elapse(&mut self, to: Time) {
        self.tasks.advance_to(to);
    }

    /// Returns the journal entries on their way to a process, in order.
    pub fn undelivered(&self, process: Process) -> impl Iterator<Item = EntryId> {
        let seen = self.informers[process].seen();
        let entries = self.journal().from(seen);
        let watched = entries.iter().enumerate().filter(move |(_, entry)| {
            let write = entry.write();
            write.is_some_and(|(_, object)| process.watches(object.kind))
        });
        watched.map(move |(at, _)| (seen + at) as EntryId)
    }

    /// Tells what a ready task does.
    pub fn told(&self, ready: &ReadyTask) -> String {
        let Some(task) = self.tasks.get(ready.position) else {
            return String::new();
        };
        match task {
            Task::Deliver(process) => {
                let mut about = self.undelivered(*process).filter_map(|id| {
                    let entry = self.journal().get(id as usize)?;
                    let (op, object) = entry.write()?;
                    Some(format!(
                        "{op:?} {} {}",
                        object.kind.name(),
                        object.meta.name
                    ))
                });
                format!(
                    "{} receives: {}",
                    process.name(),
                    about.next().unwrap_or_default()
                )
            }
            Task::Reconcile(i, key) => format!(
                "{} reconciles {} {}",
                self.loop_name(usize::from(*i)),
                key.kind.name(),
                key.name
            ),
            Task::Wake(i, key) => format!(
                "{} is due again for {} {}",
                self.loop_name(usize::from(*i)),
                key.kind.name(),
                key.name
            ),
            Task::Resync(i) => format!("{} resyncs", self.loop_name(usize::from(*i))),
            Task::Relist(process) => format!("{} lists everything again", process.name()),
            Task::Release(process) => format!("{} receives delayed events", process.name()),
            Task::SlowPass(i) => format!("{} ends a slow pass", self.loop_name(usize::from(*i))),
            Task::Schedule => "the scheduler places the next Pod".to_owned(),
            Task::Flush => "the scheduler retries Pods that fit nowhere".to_owned(),
            Task::Kubelet(job) => {
                let pod = self.kubelets.pod_of(job.uid());
                let name = pod.map_or_else(
                    || "a Pod that is gone".to_owned(),
                    |key| key.name.to_string(),
                );
                format!("kubelet of {name}: {}", job.step())
            }
            Task::WriteFile { path, .. } => format!("a process writes {path}"),
            Task::SynchronizeEviction(node, _) => {
                format!("kubelet of {node} looks for Pods to evict")
            }
            Task::ExpireEvents(_) => "Events expire".to_owned(),
            Task::CheckSeries => "Events are counted".to_owned(),
        }
    }

    fn loop_name(&self, i: usize) -> &'static str {
        let mut all = self.manager.indexes();
        all.find(|(at, _)| *at == i)
            .map_or("a loop that is gone", |(_, component)| component.name())
    }
}

/// Returns the process and the kind of step of a task.
fn kind_of(sim: &Sim, task: &Task) -> (Option<Process>, ReadyStep) {
    match task {
        Task::Deliver(process) => (Some(*process), ReadyStep::Deliver),
        Task::Reconcile(i, _) => {
            let mut all = sim.manager.indexes();
            let component = all.find(|(at, _)| at == &usize::from(*i));
            let process = component.map(|(_, component)| Process::of(component));
            (process, ReadyStep::Pass)
        }
        Task::Schedule => (Some(Process::Scheduler), ReadyStep::Pass),
        Task::Kubelet(job) => (Some(Process::Kubelet), ReadyStep::Kubelet(job.uid())),
        _ => (None, ReadyStep::Timer),
    }
}
