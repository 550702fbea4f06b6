//! Workers of the kubelets: one for each Pod, with the runs of its containers, and their steps.
//!
//! Models `podSyncStatus` of `pkg/kubelet/pod_workers.go`.

use super::containers::{ContainerId, INIT_TIME_US};
use super::prober::ProbeWorker;
use super::pulls::PullBackOff;
use super::start::NOTICE_EXIT_US;
use apiserver::journal::EntryId;
use k8s_model::pod::{PodSpec, ProbeKind};
use k8s_model::time::SECOND;
use k8s_model::{Object, ObjectRef, Str, Time, Uid};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Run time of a container after which it restarts without back-off, in seconds.
const BACK_OFF_RESET_S: i64 = 600;
/// Longest back-off of a container or an image pull, in seconds.
pub(super) const MAX_BACK_OFF: i32 = 300;
/// Grace period of a Pod whose spec has none, in seconds.
const DEFAULT_GRACE_S: i64 = 30;

/// Step of a kubelet for a Pod.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PodStep {
    Admit,
    Start,
    /// End of an init container, or start of a sidecar.
    Init(u32),
    /// Image pull back-off, until this time.
    PullBackOff(Time),
    /// Success of a container's startup probe.
    Started(ContainerId),
    /// Planned readiness of a container.
    Ready(ContainerId),
    /// Exit of a container in a run; `None`: in any run.
    Exit {
        id: ContainerId,
        code: i32,
        run: Option<i32>,
    },
    /// Run of a container's process, whose end the kubelet cannot tell from its words.
    Process {
        id: ContainerId,
        run: i32,
    },
    /// Failure of an init container.
    InitFailed {
        index: u32,
        code: i32,
    },
    /// Check of a container's memory against its limit.
    CheckMemory(ContainerId),
    /// End of a container that the kubelet killed.
    Killed {
        id: ContainerId,
        code: i32,
        run: i32,
    },
    /// Run of a probe that fails, or failed.
    Probe(ContainerId, ProbeKind),
    /// Forced failure (`true`: by timeout) or success of a probe.
    ForceProbe(ProbeKind, Option<bool>),
    /// Forced readiness of the first container.
    ForceReady(bool),
    /// End of the containers of an evicted Pod.
    Evicted,
    BackOff(ContainerId),
    /// Restart of a container, unless it has restarted since the run of this number.
    Restart(ContainerId, i32),
    SpecChanged,
    /// Restart of all containers after they have ended.
    RestartAll,
    /// Stop of the containers of a terminating Pod.
    SyncTerminating,
    /// Final status of a Pod whose containers have ended.
    SyncTerminated,
    /// Removal of a terminated Pod from the API.
    Remove,
    /// Comparison of the status with that of the API server.
    SyncStatus,
}

impl PodStep {
    /// Returns true for the end of a container, which may come in any state of its Pod.
    pub(super) fn is_container_end(self) -> bool {
        matches!(
            self,
            PodStep::Exit { .. } | PodStep::Killed { .. } | PodStep::CheckMemory(_)
        )
    }
}

/// Fault injected into a container of a Pod; the first one, unless named.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ContainerFault {
    /// Exit with this code.
    Exit(i32),
    /// Exit of a container with this code.
    End(ContainerId, i32),
    /// Readiness set by hand.
    Ready(bool),
    /// Memory usage set by a fault.
    Memory,
    /// Failure (`true`: by timeout) or renewed success of the first probe of this kind.
    Probe(ProbeKind, Option<bool>),
}

/// Step for one Pod, due at some time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PodJob {
    pub(super) uid: Uid,
    pub(super) step: PodStep,
    pub(super) cause: Option<EntryId>,
}

pub(super) type Jobs = Vec<(Time, PodJob)>;

impl PodJob {
    /// Creates the job of a fault injected into a Pod.
    pub fn forced(uid: Uid, fault: ContainerFault, cause: Option<EntryId>) -> PodJob {
        let exit = |id: ContainerId, code: i32| PodStep::Exit {
            id,
            code,
            run: None,
        };
        let first = ContainerId::Regular(0);
        let step = match fault {
            ContainerFault::Exit(code) => exit(first, code),
            ContainerFault::End(id, code) => exit(id, code),
            ContainerFault::Ready(ready) => PodStep::ForceReady(ready),
            ContainerFault::Memory => PodStep::CheckMemory(first),
            ContainerFault::Probe(kind, fails) => PodStep::ForceProbe(kind, fails),
        };
        PodJob { uid, step, cause }
    }

    /// Returns the jobs that follow from the end of a process, in microseconds from its start and with its exit code; `None` if it goes on.
    pub fn process_ended(&self, end: Option<(u64, i32)>, now: Time) -> Jobs {
        let PodStep::Process { id, run } = self.step else {
            return Vec::new();
        };
        let (after, step) = match (id, end) {
            (ContainerId::Init(index), Some((after, code))) if code != 0 => {
                (after.max(INIT_TIME_US), PodStep::InitFailed { index, code })
            }
            (ContainerId::Init(index), end) => {
                let after = end.map_or(0, |(after, _)| after);
                (after.max(INIT_TIME_US), PodStep::Init(index))
            }
            (id, Some((after, code))) => {
                let run = Some(run);
                (
                    after.saturating_add(NOTICE_EXIT_US),
                    PodStep::Exit { id, code, run },
                )
            }
            (_, None) => return Vec::new(),
        };
        let job = PodJob {
            step,
            ..self.clone()
        };
        vec![(now.after(after), job)]
    }

    /// Returns the Pod that the job is for.
    pub fn uid(&self) -> Uid {
        self.uid
    }

    /// Returns the step as text, without its cause.
    pub fn step(&self) -> String {
        format!("{:?}", self.step)
    }

    /// Returns true if the job is for this Pod.
    pub fn is_of(&self, uid: Uid) -> bool {
        self.uid == uid
    }

    /// Returns true if the job repeats a failing probe.
    pub fn is_probe(&self) -> bool {
        matches!(self.step, PodStep::Probe(..))
    }
}

/// Phase of a Pod's life at its kubelet (`PodWorkerState`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum PodWorkerState {
    /// The containers are kept running.
    #[default]
    Sync,
    /// The containers are being stopped.
    Terminating,
    /// The containers have ended for good.
    Terminated,
}

/// Worker of one Pod.
#[derive(Clone, Debug)]
pub(super) struct PodWorker {
    pub(super) pod: ObjectRef,
    pub(super) node: Str,
    pub(super) state: PodWorkerState,
    /// Effective grace period of the termination, in seconds.
    grace_period: Option<i64>,
    /// Last byte of the address of the Pod's sandbox, while it has one.
    pub(super) host: Option<u8>,
    /// Spec whose resources the node has allocated.
    pub(super) allocated: Rc<PodSpec>,
    /// Runs of the containers that have restarted, are being stopped or are probed.
    containers: BTreeMap<ContainerId, ContainerRun>,
    pub(super) pulls: PullBackOff,
    /// Failed attempts to mount the volumes.
    pub(super) mount_failures: u32,
    /// Message of the eviction in progress, if any.
    pub(super) eviction: Option<Str>,
}

impl PodWorker {
    /// Creates the worker of a Pod that its node has just been given.
    pub(super) fn new(object: &Object, node: &Str, spec: &Rc<PodSpec>) -> PodWorker {
        PodWorker {
            pod: object.key(),
            node: node.clone(),
            state: PodWorkerState::Sync,
            grace_period: None,
            host: None,
            allocated: spec.clone(),
            containers: BTreeMap::new(),
            pulls: PullBackOff::default(),
            mount_failures: 0,
            eviction: None,
        }
    }

    /// Returns its state as text, without what follows from the Pod.
    pub(super) fn told(&self) -> String {
        format!(
            "{} {:?} {:?} {:?} {:?} {:?} {}",
            self.node,
            self.state,
            self.grace_period,
            self.containers,
            self.mount_failures,
            self.eviction,
            self.host.is_some()
        )
    }

    /// Begins the termination, or shortens that in progress; returns true if the containers are to be stopped, or stopped earlier.
    pub(super) fn terminate(&mut self, object: &Object) -> bool {
        let before = self.grace_period;
        match self.state {
            PodWorkerState::Sync => self.state = PodWorkerState::Terminating,
            PodWorkerState::Terminating => {}
            PodWorkerState::Terminated => return false,
        }
        let effective = self.effective_grace_period(object);
        self.grace_period = Some(effective);
        before.is_none_or(|before| effective < before)
    }

    /// Returns the grace period of the termination in seconds, which can only decrease (`calculateEffectiveGracePeriod`).
    fn effective_grace_period(&self, object: &Object) -> i64 {
        let requested = object.meta.deletion_grace_period_seconds;
        let declared = || {
            let spec = object.pod().map(|pod| &pod.spec);
            spec.and_then(|spec| spec.termination_grace_period_seconds)
        };
        let effective = match (self.grace_period, requested) {
            (Some(current), Some(requested)) => current.min(requested),
            (current, requested) => current
                .or(requested)
                .or_else(declared)
                .unwrap_or(DEFAULT_GRACE_S),
        };
        effective.max(1)
    }

    /// Returns the grace period of the Pod's termination, or that it would have now, in microseconds.
    pub(super) fn grace(&self, object: &Object) -> u64 {
        (self.effective_grace_period(object) as u64).saturating_mul(SECOND)
    }

    /// Returns the runs of a container, if there is more to them than that it runs.
    pub(super) fn container(&self, id: ContainerId) -> Option<&ContainerRun> {
        self.containers.get(&id)
    }

    /// Returns the runs of a container, mutably.
    pub(super) fn container_mut(&mut self, id: ContainerId) -> &mut ContainerRun {
        self.containers.entry(id).or_default()
    }

    /// Returns the runs of all containers that have any.
    pub(super) fn containers(&self) -> impl Iterator<Item = &ContainerRun> {
        self.containers.values()
    }

    /// Returns the restart count of a container, which is the number of its run.
    pub(super) fn restart_count(&self, id: ContainerId) -> i32 {
        self.container(id).map_or(0, ContainerRun::restart_count)
    }
}

/// Planned end of a container that is being stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Termination {
    pub(super) at: Time,
    pub(super) code: i32,
}

/// Runs of one container: what its kubelet keeps beyond the status.
#[derive(Clone, Debug, Default)]
pub(super) struct ContainerRun {
    restart_count: i32,
    /// Restarts since the container last ran long enough to reset its back-off.
    back_offs: i32,
    /// Number of the run that is being killed: the kubelet syncs the Pod again only when that is done.
    killed: Option<i32>,
    termination: Option<Termination>,
    /// Start of the current run, if it is probed.
    pub(super) probed_since: Option<Time>,
    pub(super) probes: BTreeMap<ProbeKind, ProbeWorker>,
}

impl ContainerRun {
    /// Returns the number of restarts.
    pub(super) fn restart_count(&self) -> i32 {
        self.restart_count
    }

    /// Counts a restart; returns the new count.
    pub(super) fn restart(&mut self) -> i32 {
        self.restart_count += 1;
        self.restart_count
    }

    /// Counts a restart that lengthens the next back-off; returns the new count.
    pub(super) fn restart_after_exit(&mut self) -> i32 {
        self.back_offs += 1;
        self.restart()
    }

    /// Returns true if the container must wait for a back-off before it restarts, after a run of this length in seconds.
    pub(super) fn backs_off(&mut self, ran: i64) -> bool {
        if ran >= BACK_OFF_RESET_S {
            self.reset_back_off();
        }
        self.back_offs > 0
    }

    /// Forgets the restarts so far: the next one is immediate.
    pub(super) fn reset_back_off(&mut self) {
        self.back_offs = 0;
    }

    /// Returns the back-off in seconds: 10, 20, 40… up to 5 minutes.
    pub(super) fn back_off(&self) -> i32 {
        (10 << (self.back_offs - 1).clamp(0, 6)).min(MAX_BACK_OFF)
    }

    /// Marks the current run as being killed; returns false if it was already.
    pub(super) fn kill(&mut self) -> bool {
        self.killed.replace(self.restart_count) != Some(self.restart_count)
    }

    /// Plans the end of the container in a termination of its Pod; an earlier end that is planned already stays. Returns the planned end.
    pub(super) fn terminate(&mut self, planned: Termination) -> Termination {
        let earlier = self.termination.filter(|current| current.at <= planned.at);
        *self.termination.insert(earlier.unwrap_or(planned))
    }

    /// Returns the exit code of the container in the termination of its Pod, if it is planned.
    pub(super) fn termination_code(&self) -> Option<i32> {
        self.termination.map(|planned| planned.code)
    }

    /// Begins a probed run.
    pub(super) fn start_probing(&mut self, now: Time) {
        self.probed_since = Some(now);
        self.probes.values_mut().for_each(ProbeWorker::reset);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_model::Kind;
    use serde_json::json;

    fn pod(deletion_grace: Option<i64>) -> Object {
        let value = json!({"metadata": {"name": "p", "deletionGracePeriodSeconds": deletion_grace},
            "spec": {"terminationGracePeriodSeconds": 20, "containers": [{"name": "c"}]}});
        Object::from_value(Kind::Pod, value).unwrap()
    }

    fn worker() -> PodWorker {
        let object = pod(None);
        PodWorker::new(&object, &"n".into(), &object.pod().unwrap().spec)
    }

    #[test]
    fn grace_period_of_a_termination_only_decreases() {
        let mut worker = worker();
        let mut terminate = |grace| (worker.terminate(&pod(grace)), worker.grace_period);
        assert_eq!(terminate(Some(60)), (true, Some(60)));
        assert_eq!(terminate(Some(60)), (false, Some(60)));
        assert_eq!(terminate(Some(90)), (false, Some(60)));
        assert_eq!(terminate(Some(5)), (true, Some(5)));
        assert_eq!(terminate(Some(0)), (true, Some(1)));
        worker.state = PodWorkerState::Terminated;
        assert!(!worker.terminate(&pod(Some(0))));
    }

    #[test]
    fn pod_that_is_not_deleted_has_the_grace_period_of_its_spec() {
        let mut worker = worker();
        assert!(worker.terminate(&pod(None)));
        assert_eq!(worker.grace_period, Some(20));
    }

    #[test]
    fn back_off_doubles_and_is_reset_by_a_long_run() {
        let mut run = ContainerRun::default();
        assert!(!run.backs_off(0));
        let mut back_offs = Vec::new();
        for _ in 0..7 {
            run.restart_after_exit();
            back_offs.push(run.back_off());
        }
        assert_eq!(back_offs, [10, 20, 40, 80, 160, 300, 300]);
        assert!(run.backs_off(BACK_OFF_RESET_S - 1) && !run.backs_off(BACK_OFF_RESET_S));
        assert_eq!(run.restart_count, 7);
    }

    #[test]
    fn earlier_planned_end_of_a_container_stays() {
        let mut run = ContainerRun::default();
        let end = |at, code| Termination { at: Time(at), code };
        assert_eq!(run.terminate(end(20, 0)), end(20, 0));
        assert_eq!(run.terminate(end(25, 137)), end(20, 0));
        assert_eq!(run.terminate(end(17, 137)), end(17, 137));
    }
}
