//! Task queue in virtual time.

use apiserver::journal::EntryId;
use controller_runtime::process::Process;
use k8s_model::{Duration, ObjectRef, Str, Time, Uid};
use kubelet::PodJob;
use sim_core::rng::Rng;
use sim_core::tree::Tree;

/// Work that becomes due at some virtual time. Controllers are numbered as in [`controllers::ALL`], loops of
/// ControlLoops after them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Task {
    /// Delivery of watch events to an informer.
    Deliver(Process),
    /// Reconcile pass of a controller for a key.
    Reconcile(u16, ObjectRef),
    /// Delayed requeue of a key that a controller asked for.
    Wake(u16, ObjectRef),
    /// Periodic resync of all objects of a controller.
    Resync(u16),
    /// Relist of a component that has lost a watch event.
    Relist(Process),
    /// Delivery of delayed watch events to an informer.
    Release(Process),
    /// End of a pass of a slowed controller.
    SlowPass(u16),
    /// Scheduling cycle for the next Pod.
    Schedule,
    /// Retry of Pods left in the unschedulable queue for too long.
    Flush,
    /// Step of a kubelet for one Pod.
    Kubelet(PodJob),
    /// Write of a process to a file, or its removal.
    WriteFile {
        disk: Str,
        path: Str,
        text: Option<Str>,
    },
    /// Eviction step of a node under memory pressure; the entry is the cause.
    SynchronizeEviction(Str, Option<EntryId>),
    /// Expiry of the lease granted at that time, and of its Events.
    ExpireEvents(Time),
    /// Check of the scheduler's Event series.
    CheckSeries,
}

/// Maximum number of tasks searched for the next one that concerns an object.
const MAX_SCANNED_TASKS: usize = 20_000;

/// Position of a task: due time and insertion order.
pub(crate) type Position = (Time, u64);

/// Ranks of tasks of the same time, above the bits of the insertion order.
const RANKS: u64 = 1 << 16;
const RANK_SHIFT: u32 = 48;

/// Random lateness and order of steps of the control plane.
#[derive(Clone, Debug)]
pub(crate) struct Jitter {
    range: Duration,
    rng: Rng,
}

impl Jitter {
    /// Creates a lateness of up to `range` microseconds, by the sequence of a seed.
    pub fn new(range: Duration, seed: u64) -> Jitter {
        Jitter {
            range,
            rng: Rng::new(seed),
        }
    }

    /// Draws the lateness of a task, and its rank among those of the same time. The steps of a kubelet keep their order.
    fn draw(&mut self, task: &Task) -> (Duration, u64) {
        let late = match task {
            Task::Deliver(_) => self.rng.below(self.range + 1),
            Task::Reconcile(..) | Task::Schedule => 0,
            _ => return (0, 0),
        };
        (late, self.rng.below(RANKS))
    }
}

/// Virtual clock and the tasks that wait for it.
#[derive(Clone, Debug, Default)]
pub struct TaskQueue {
    /// Lateness of tasks, if a fault has set one.
    pub(crate) jitter: Option<Jitter>,
    now: Time,
    /// Due time of the task that runs: the clock, unless an explorer has chosen a task ahead of it.
    due: Time,
    pending: Tree<Position, Task>,
    sequence: u64,
}

impl TaskQueue {
    /// Returns the virtual time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Returns the time of the next task.
    pub fn next_due(&self) -> Option<Time> {
        self.pending.first().map(|((time, _), _)| *time)
    }

    /// Returns the time of the kubelet's next step for a Pod.
    pub fn next_kubelet_step(&self, uid: Uid) -> Option<Time> {
        let of_pod = |((at, _), task): (&Position, &Task)| {
            matches!(task, Task::Kubelet(job) if job.is_of(uid) && !job.is_probe()).then_some(*at)
        };
        // Tasks are in order of time.
        self.pending.iter().take(MAX_SCANNED_TASKS).find_map(of_pod)
    }

    /// Returns the time of the first step of a kubelet that fits, if one is due until then.
    pub(crate) fn kubelet_step(&self, until: Time, fits: impl Fn(&PodJob) -> bool) -> Option<Time> {
        self.pending
            .iter()
            .take(MAX_SCANNED_TASKS)
            .take_while(|((at, _), _)| *at <= until)
            .find_map(|((at, _), task)| {
                matches!(task, Task::Kubelet(job) if fits(job)).then_some(*at)
            })
    }

    /// Adds a task, after those of the same time.
    pub fn push(&mut self, at: Time, task: Task) {
        self.sequence += 1;
        let (late, rank) = match &mut self.jitter {
            Some(jitter) => jitter.draw(&task),
            None => (0, 0),
        };
        let position = (at.after(late), rank << RANK_SHIFT | self.sequence);
        self.pending.insert(position, task);
    }

    /// Adds steps of kubelets.
    pub(crate) fn push_kubelet_jobs(&mut self, jobs: impl IntoIterator<Item = (Time, PodJob)>) {
        for (at, job) in jobs {
            self.push(at, Task::Kubelet(job));
        }
    }

    /// Takes the next task and sets the clock to its time.
    pub(crate) fn pop(&mut self) -> Option<(Position, Task)> {
        let (position, task) = self.pending.pop_first()?;
        (self.now, self.due) = (position.0, position.0);
        Some((position, task))
    }

    /// Returns the due time of the task that runs.
    pub(crate) fn due(&self) -> Time {
        self.due
    }

    /// Returns the pending tasks with their positions, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Position, &Task)> {
        self.pending.iter()
    }

    /// Returns the task of a position.
    pub(crate) fn get(&self, position: Position) -> Option<&Task> {
        self.pending.get(&position)
    }

    /// Takes the task of a position, and leaves the clock as it is.
    pub(crate) fn take(&mut self, position: Position) -> Option<Task> {
        let task = self.pending.remove(&position)?;
        self.due = position.0;
        Some(task)
    }

    /// Returns an unfinished task to its position, before any other task.
    pub(crate) fn put_back(&mut self, position: Position, task: Task) {
        self.pending.insert(position, task);
    }

    /// Sets the clock forward to a time.
    pub(crate) fn advance_to(&mut self, to: Time) {
        self.now = self.now.max(to);
    }
}
