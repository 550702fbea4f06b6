//! Runs the Pods of a Job until enough have succeeded, or too many have failed.
//!
//! Guarantees: each Pod is counted once, because its finalizer is removed only after the status holds its uid; the status
//! says that the Job will end before it says that it has ended; a Job that has ended no longer changes.
//! Models `pkg/controller/job/job_controller.go`.

mod backoff;
pub mod indexes;
mod pass;
mod pods;
mod policy;
mod track;

use super::ownership::{JOB_TRACKING, claim};
use super::{Controller, Event, Watch};
use apiserver::ApiError;
use apiserver::journal::Op;
use apiserver::why::Why;
use apiserver::{Component, ControllerId};
use backoff::BackoffRecord;
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::{Descriptor, GENERIC};
use controller_runtime::informer::Cache;
use indexes::{Indexes, index_of};
use k8s_model::batch::{Job, JobSpec, Uncounted};
use k8s_model::time::MS;
use k8s_model::{Duration, Kind, Object, ObjectRef, Str, Timestamp, Uid};
use pass::{BATCH_US, JobEnd, JobPass, is_ready, is_terminating, phase, untrack};
use policy::{PolicyVerdict, judge, success_rule};
use smol_str::format_smolstr;
use std::rc::Rc;
use track::JobState;

/// Delay until the controller's own writes have reached its cache.
const SETTLE_US: Duration = 2 * MS;
const MANAGER: &str = "kubernetes.io/job-controller";

/// UI descriptor of the controller.
static DESCRIPTOR: Descriptor = Descriptor {
    component: Component::Controller(&ControllerId::new("job-controller")),
    aliases: &[],
    title: "job",
    icon: "i-job",
    lane: "job",
    always_shown: false,
    code: GENERIC,
};

/// Job controller; its keys are Jobs, and Pods that no Job will count.
pub struct JobController;

impl Controller for JobController {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn watches(&self) -> &'static [Watch] {
        &[
            Watch::For(Kind::Job),
            Watch::Owns(Kind::Job, Kind::Pod),
            Watch::Maps(Kind::Pod),
            Watch::Maps(Kind::Job),
        ]
    }

    /// Wakes Pods that no Job will count, to release them; Pods without a controller wake the Jobs whose selector they match.
    fn map_event(&self, event: &Event<'_>, cache: &Cache, wake: &mut dyn FnMut(ObjectRef)) {
        let object = event.object;
        if let Some(job) = object.get::<Job>() {
            if event.op == Op::Deleted || job.status.finished().is_some() {
                let pods = cache.owned_of_kind(object.meta.uid, Kind::Pod);
                pods.filter(|pod| pod.meta.has_finalizer(JOB_TRACKING))
                    .for_each(|pod| wake(pod.key()));
            }
            return;
        }
        if object.meta.has_finalizer(JOB_TRACKING) && is_orphan(object, cache) {
            wake(object.key());
        }
        if object.meta.controller().is_none() && !object.meta.is_deleting() {
            for job in cache.selecting(Kind::Job, &object.meta.namespace, &object.meta.labels) {
                if job.body::<Job>().spec.selector.matches(&object.meta.labels) {
                    wake(job.key());
                }
            }
        }
    }

    fn delay(&self, event: &Event<'_>, key: &ObjectRef, _clock: i64) -> Duration {
        let own_status = event.before.is_some_and(|b| {
            event.op == Op::Modified && b.meta.generation == event.object.meta.generation
        });
        let batched = key.kind == Kind::Job && (event.object.kind == Kind::Pod || own_status);
        if batched { BATCH_US } else { 0 }
    }

    fn reconcile(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<Action, ApiError> {
        if key.kind == Kind::Pod {
            return release_orphan(key, view, out);
        }
        let Some((object, job)) = view.cache.get::<Job>(key) else {
            return Ok(Action::AwaitChange);
        };
        let elsewhere = !job.spec.managed_by.is_empty() && job.spec.managed_by != MANAGER;
        if elsewhere || job.status.finished().is_some() {
            out.state.clear();
            return Ok(Action::AwaitChange);
        }
        if !view.sees_own_writes {
            return Ok(Action::RequeueAfter(SETTLE_US));
        }
        let mut state: JobState = out.state.take();
        let release = state.release.take();
        out.state.set(state);
        if let Some(release) = release {
            let pods = view
                .cache
                .owned_of_kind(object.meta.uid, Kind::Pod)
                .cloned()
                .collect();
            JobPass::new(object, job, pods, view, out).resume(&release, view, out)?;
            return Ok(Action::RequeueAfter(BATCH_US));
        }
        let pods = claim(object, &job.spec.selector, Kind::Pod, view, out, |_| true)?;
        let mut pass = JobPass::new(object, job, pods, view, out);
        let managed = pass.run(view, out);
        let tracked = pass.track(view, out);
        let again = pass.again;
        match tracked.and(managed) {
            Err(_) if again.is_some() => Ok(Action::RetryWithin(again.unwrap_or_default())),
            Err(error) => Err(error),
            Ok(()) => Ok(again.map_or(Action::AwaitChange, Action::RequeueAfter)),
        }
    }
}

/// Returns true if a Pod with the finalizer has no Job that would count it.
fn is_orphan(pod: &Object, cache: &Cache) -> bool {
    let Some(owner) = pod.meta.controller() else {
        return true;
    };
    if !owner.is_kind(Kind::Job) {
        return false;
    }
    let job = cache.get::<Job>(&ObjectRef {
        kind: Kind::Job,
        namespace: pod.meta.namespace.clone(),
        name: owner.name.clone(),
    });
    job.filter(|(o, _)| o.meta.uid == owner.uid)
        .is_none_or(|(_, job)| job.status.finished().is_some())
}

fn release_orphan(
    key: &ObjectRef,
    view: &PassView<'_>,
    out: &mut LoopClient<'_>,
) -> Result<Action, ApiError> {
    if let Some(pod) = view.cache.object(key)
        && pod.meta.has_finalizer(JOB_TRACKING)
        && is_orphan(pod, view.cache)
    {
        untrack(key, Why::NobodyCounts, out)?;
    }
    Ok(Action::AwaitChange)
}

impl<'a> JobPass<'a> {
    fn new(
        object: &Rc<Object>,
        job: &'a Job,
        mut pods: Vec<Rc<Object>>,
        view: &PassView<'_>,
        out: &LoopClient<'_>,
    ) -> Self {
        let spec: &JobSpec = &job.spec;
        let mut status = job.status.clone();
        let uncounted = status
            .uncounted_terminated_pods
            .get_or_insert_default()
            .clone();
        if spec.completion_mode == "Indexed" {
            pods.sort_by_key(|pod| index_of(pod));
        }
        let active: Vec<Rc<Object>> = pods
            .iter()
            .filter(|pod| pod.is_active_pod())
            .cloned()
            .collect();
        let mut pass = JobPass {
            object: object.clone(),
            spec,
            ready: active.iter().filter(|pod| is_ready(pod)).count() as i32,
            terminating: pods.iter().filter(|pod| is_terminating(pod)).count() as i32,
            succeeded: 0,
            failed: 0,
            record: out
                .state
                .get()
                .map_or_else(BackoffRecord::default, |state: &JobState| state.backoff),
            end: None,
            indexes: None,
            failed_indexes: None,
            replaced: Vec::new(),
            needs_flush: false,
            again: None,
            status,
            pods,
            active,
        };
        pass.count(&uncounted);
        if pass.status.start_time.is_none() && !spec.suspend {
            pass.status.start_time = Some(view.wall);
        }
        pass
    }

    /// Counts Pods that have ended since the status was written.
    fn count(&mut self, uncounted: &Uncounted) {
        let new = |known: &[Uid], ended: &dyn Fn(&Object) -> bool| -> Vec<Rc<Object>> {
            let counts = |pod: &&Rc<Object>| {
                self.is_tracked(pod) && !known.contains(&pod.meta.uid) && ended(pod)
            };
            self.pods.iter().filter(counts).cloned().collect()
        };
        let succeeded = new(&uncounted.succeeded, &|pod| phase(pod) == "Succeeded");
        let failed = new(&uncounted.failed, &|pod| self.is_failed(pod));
        let ignored = failed
            .iter()
            .filter(|pod| judge(self.spec, pod) == PolicyVerdict::Ignore)
            .count();
        self.succeeded =
            i64::from(self.status.succeeded) + (succeeded.len() + uncounted.succeeded.len()) as i64;
        self.failed = i64::from(self.status.failed)
            + (failed.len() - ignored + uncounted.failed.len()) as i64;
        self.record = self.record.after(&succeeded, &failed);
    }

    fn is_indexed(&self) -> bool {
        self.spec.completion_mode == "Indexed"
    }

    fn completions(&self) -> i64 {
        self.spec.completions.map_or(0, i64::from)
    }

    /// Returns true if a Pod is replaced only when it has ended, not when it starts terminating.
    fn only_replaces_failed(&self) -> bool {
        self.spec.pod_replacement_policy == "Failed" || self.spec.pod_failure_policy.is_some()
    }

    fn is_failed(&self, pod: &Object) -> bool {
        let deleted = pod.meta.is_deleting() && phase(pod) != "Succeeded";
        phase(pod) == "Failed" || deleted && !self.only_replaces_failed()
    }

    /// Returns the index of a Pod, if it is valid for this Job.
    fn good_index(&self, pod: &Object) -> Option<i64> {
        index_of(pod).filter(|index| *index < self.completions())
    }

    /// Returns true if a Pod has not been counted yet, and will be.
    fn is_tracked(&self, pod: &Object) -> bool {
        pod.meta.has_finalizer(JOB_TRACKING)
            && (!self.is_indexed() || self.good_index(pod).is_some())
    }

    /// Decides whether the Job ends; if so, stops its Pods, otherwise creates or deletes Pods.
    fn run(&mut self, view: &PassView<'_>, out: &mut LoopClient<'_>) -> Result<(), ApiError> {
        self.decide_end(view);
        if self.is_indexed() {
            self.look_at_indexes();
        }
        let mut active = self.active.len() as i32;
        let mut result = Ok(());
        if let Some(end) = &self.end {
            let why = Why::JobEnds {
                reason: end.reason.clone(),
            };
            let (deleted, outcome) = self.delete_pods(&self.active.clone(), false, why, out);
            active -= deleted;
            if active > 0 {
                self.end = None;
            }
            result = outcome;
        } else {
            let manages = !self.object.meta.is_deleting();
            if manages {
                (active, result) = self.manage(view, out);
            }
            let enough = if self.spec.completions.is_none() {
                self.succeeded > 0
            } else {
                self.succeeded >= self.completions()
            };
            if enough && active == 0 {
                self.end = JobEnd::new(
                    "SuccessCriteriaMet",
                    "CompletionsReached",
                    "Reached expected number of succeeded pods",
                );
            } else if manages {
                self.tell_suspension(view.wall, out);
            }
        }
        let counts = (active, Some(self.ready), Some(self.terminating));
        self.needs_flush |= counts
            != (
                self.status.active,
                self.status.ready,
                self.status.terminating,
            );
        (
            self.status.active,
            self.status.ready,
            self.status.terminating,
        ) = counts;
        result
    }

    fn decide_end(&mut self, view: &PassView<'_>) {
        let limit = self.spec.backoff_limit.map_or(0, i64::from);
        let fails = || {
            self.pods
                .iter()
                .filter(|pod| self.is_failed(pod))
                .find_map(|pod| message_of(judge(self.spec, pod)))
        };
        self.end = if let Some(condition) = self.status.met("SuccessCriteriaMet") {
            JobEnd::like("SuccessCriteriaMet", condition)
        } else if let Some(condition) = self.status.met("FailureTarget") {
            JobEnd::like("Failed", condition)
        } else if let Some(message) = fails() {
            JobEnd::new("FailureTarget", "PodFailurePolicy", message)
        } else if self.failed > limit || self.restarts_exceed(limit) {
            JobEnd::failure(
                "BackoffLimitExceeded",
                "Job has reached the specified backoff limit",
            )
        } else {
            self.past_deadline(view)
        };
    }

    fn past_deadline(&mut self, view: &PassView<'_>) -> Option<JobEnd> {
        let (seconds, start) = (self.spec.active_deadline_seconds?, self.status.start_time?);
        if self.spec.suspend {
            return None;
        }
        let left = view.until(start, seconds);
        if left == 0 {
            return JobEnd::failure(
                "DeadlineExceeded",
                "Job was active longer than specified deadline",
            );
        }
        self.requeue_after(left);
        None
    }

    /// Returns true if container restarts exceed the limit, against which they count with restartPolicy OnFailure.
    fn restarts_exceed(&self, limit: i64) -> bool {
        if self.spec.template.spec.restart_policy != "OnFailure" {
            return false;
        }
        let running = self
            .pods
            .iter()
            .filter_map(|o| o.pod())
            .filter(|pod| matches!(pod.status.phase.as_str(), "Running" | "Pending"));
        let statuses = running.flat_map(|pod| {
            pod.status
                .init_container_statuses
                .iter()
                .chain(&pod.status.container_statuses)
        });
        let restarts: i64 = statuses.map(|status| i64::from(status.restart_count)).sum();
        restarts >= limit.max(1)
    }

    /// Determines the indexes that have succeeded or failed, and whether that ends the Job.
    fn look_at_indexes(&mut self) {
        let completions = self.completions();
        let before = Indexes::parse(&self.status.completed_indexes, completions);
        let mut now = before.clone();
        for pod in self
            .pods
            .iter()
            .filter(|pod| phase(pod) == "Succeeded" && self.is_tracked(pod))
        {
            index_of(pod).into_iter().for_each(|i| now.add(i, i));
        }
        self.succeeded = now.total();
        if let Some(limit) = self.spec.backoff_limit_per_index {
            let mut failed = Indexes::parse(
                self.status.failed_indexes.as_deref().unwrap_or(""),
                completions,
            );
            for pod in self
                .pods
                .iter()
                .filter(|pod| self.is_tracked(pod) && self.fails_index(pod, limit))
            {
                index_of(pod).into_iter().for_each(|i| failed.add(i, i));
            }
            if self.end.is_none() {
                let most = self.spec.max_failed_indexes.map(i64::from);
                if most.is_some_and(|most| failed.total() > most) {
                    let message = "Job has exceeded the specified maximal number of failed indexes";
                    self.end = JobEnd::failure("MaxFailedIndexesExceeded", message);
                } else if failed.total() > 0 && failed.total() + now.total() >= completions {
                    self.end = JobEnd::failure("FailedIndexes", "Job has failed indexes");
                }
            }
            self.replaced = self.awaiting_replacement(&now, &failed);
            self.failed_indexes = Some(failed);
        }
        if self.end.is_none()
            && let Some(rule) = success_rule(self.spec.success_policy.as_ref(), completions, &now)
        {
            self.end = JobEnd::new(
                "SuccessCriteriaMet",
                "SuccessPolicy",
                format_smolstr!("Matched rules at index {rule}"),
            );
        }
        self.indexes = Some((before, now));
    }

    /// Returns true if the failure of this Pod reaches the limit of its index.
    fn fails_index(&self, pod: &Object, limit: i32) -> bool {
        self.is_failed(pod)
            && match judge(self.spec, pod) {
                PolicyVerdict::FailIndex => true,
                PolicyVerdict::Ignore => false,
                _ => pods::count_of(pod, pods::FAILURES) >= i64::from(limit),
            }
    }

    /// Returns the last failed Pod of each index that has neither ended nor an active Pod, by index, as the Pods are sorted.
    fn awaiting_replacement(
        &self,
        succeeded: &Indexes,
        failed: &Indexes,
    ) -> Vec<(i64, Rc<Object>)> {
        let mut last: Vec<(i64, Rc<Object>)> = Vec::new();
        for pod in self
            .pods
            .iter()
            .filter(|pod| self.is_tracked(pod) && self.is_failed(pod))
        {
            let Some(index) = index_of(pod) else { continue };
            if succeeded.has(index)
                || failed.has(index)
                || self
                    .active
                    .binary_search_by_key(&Some(index), |pod| index_of(pod))
                    .is_ok()
            {
                continue;
            }
            match last.last_mut() {
                Some((i, known)) if *i == index => {
                    if pods::all_failures(known) <= pods::all_failures(pod)
                        && backoff::ended_at(pod) >= backoff::ended_at(known)
                    {
                        *known = pod.clone();
                    }
                }
                _ => last.push((index, pod.clone())),
            }
        }
        last
    }

    /// Records that a Job was suspended or resumed.
    fn tell_suspension(&mut self, now: Timestamp, out: &mut LoopClient<'_>) {
        let (status, reason, message) = if self.spec.suspend {
            ("True", "JobSuspended", "Job suspended")
        } else {
            ("False", "JobResumed", "Job resumed")
        };
        if !track::ensure(
            &mut self.status.conditions,
            "Suspended",
            status,
            reason.into(),
            message.into(),
            now,
        ) {
            return;
        }
        self.needs_flush = true;
        // Time spent suspended does not count against the deadline.
        self.status.start_time = (!self.spec.suspend).then_some(now);
        out.event(
            &self.object,
            "Normal",
            if self.spec.suspend {
                "Suspended"
            } else {
                "Resumed"
            },
            message,
        );
    }

    fn requeue_after(&mut self, after: Duration) {
        self.again = Some(self.again.map_or(after, |sooner| sooner.min(after)));
    }
}

fn message_of(verdict: PolicyVerdict) -> Option<Str> {
    if let PolicyVerdict::FailJob(message) = verdict {
        Some(message)
    } else {
        None
    }
}
