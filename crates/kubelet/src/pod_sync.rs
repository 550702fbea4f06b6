//! Sync of one Pod: a step of its worker, with what it reads and writes.
//!
//! Models `SyncPod`, `SyncTerminatingPod` and `SyncTerminatedPod` of `pkg/kubelet/kubelet.go`.

use super::containers::ContainerId;
use super::pod_worker::{Jobs, PodJob, PodStep, PodWorker};
use super::{Kubelets, status};
use apiserver::journal::EntryId;
use apiserver::why::Why;
use controller_runtime::client::LoopClient;
use controller_runtime::informer::Cache;
use k8s_model::node::Node;
use k8s_model::pod::Pod;
use k8s_model::{Body, Kind, Object, ObjectRef, Str, Time};
use std::rc::Rc;

/// Sync of one Pod.
pub(super) struct PodSync<'p, 'o> {
    /// The kubelets, without the worker of this Pod.
    pub(super) kubelets: &'p mut Kubelets,
    pub(super) worker: Rc<PodWorker>,
    pub(super) object: Rc<Object>,
    pub(super) job: &'p PodJob,
    pub(super) now: Time,
    pub(super) cache: &'p Cache,
    pub(super) out: &'p mut LoopClient<'o>,
    /// Last write of this sync.
    pub(super) wrote: Option<EntryId>,
}

impl PodSync<'_, '_> {
    /// Runs the step of the job; returns the resulting jobs.
    pub(super) fn run(&mut self) -> Jobs {
        match self.job.step {
            PodStep::Admit => self.admit(),
            PodStep::Start => self.start(),
            PodStep::Init(index) => self.init(index),
            PodStep::InitFailed { index, code } => self.init_failed(index, code),
            // Run by the simulation, which has the shell of the containers.
            PodStep::Process { .. } => Vec::new(),
            PodStep::PullBackOff(until) => self.pull_back_off(until),
            PodStep::Evicted => self.evicted(),
            PodStep::Started(id) => self.has_started(id),
            PodStep::Ready(id) => self.ready(id),
            PodStep::Exit { id, code, run } => self.exited(id, code, run),
            PodStep::Killed { id, code, run } => self.killed(id, code, run),
            PodStep::CheckMemory(id) => self.check_memory(id),
            PodStep::Probe(id, kind) => self.probe(id, kind),
            PodStep::ForceProbe(kind, fails) => self.force_probe(kind, fails),
            PodStep::ForceReady(ready) => self.force_ready(ready),
            PodStep::BackOff(id) => self.back_off(id),
            PodStep::Restart(id, run) => self.restart_run(id, run),
            PodStep::SpecChanged => self.spec_changed(),
            PodStep::RestartAll => self.restart_all(),
            PodStep::SyncTerminating => self.sync_terminating(),
            PodStep::SyncTerminated => self.sync_terminated(),
            PodStep::Remove => self.remove(),
            PodStep::SyncStatus => self.sync_status(),
        }
    }

    pub(super) fn pod(&self) -> &Pod {
        self.object.body()
    }

    pub(super) fn worker_mut(&mut self) -> &mut PodWorker {
        Rc::make_mut(&mut self.worker)
    }

    /// Schedules a step for the Pod, caused by the last write.
    pub(super) fn then(&self, after: u64, step: PodStep) -> (Time, PodJob) {
        let job = PodJob {
            uid: self.job.uid,
            step,
            cause: self.wrote.or(self.job.cause),
        };
        (self.now.after(after), job)
    }

    /// Returns the Pod's node, from the cache.
    pub(super) fn node(&self) -> Option<(&Rc<Object>, &Node)> {
        self.cache
            .get::<Node>(&ObjectRef::new(Kind::Node, "", &self.pod().node_name))
    }

    /// Writes a status; if the API server refuses it, a later write repairs it.
    pub(super) fn write(&mut self, why: Why, change: impl FnOnce(&mut Pod)) {
        let generation = self.object.meta.generation;
        let changed = self.out.update_status(&self.object.clone(), why, |o| {
            if let Body::Pod(pod) = &mut o.body {
                change(pod);
                pod.status.observed_generation = generation;
            }
        });
        if let Ok(object) = changed {
            self.object = object;
            // Events recorded in between are not the cause: later steps follow from this write.
            self.wrote = (self.out.store().journal().len() as EntryId).checked_sub(1);
        }
    }

    /// Writes a status whose conditions follow from the containers, in a Pod with a sandbox.
    pub(super) fn write_status(&mut self, why: Why, change: impl FnOnce(&mut Pod)) {
        let (wall, generation) = (self.out.store().wall(), self.object.meta.generation);
        self.write(why, |pod| {
            change(pod);
            status::set_conditions(pod, true, wall, generation);
        });
    }

    /// Records an Event about a container (`recordContainerEvent` of `kuberuntime_container.go`).
    pub(super) fn record_container_event(
        &mut self,
        id: ContainerId,
        severity: &'static str,
        reason: &'static str,
        message: impl Into<Str>,
    ) {
        let object = self.object.clone();
        let spec = &object.body::<Pod>().spec;
        if let Some(container) = id.container(spec) {
            let field = id.field_path(&container.name);
            self.out
                .event_at(&object, &field, severity, reason, message.into());
        }
    }
}
