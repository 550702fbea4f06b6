//! Counts the Pods that have ended, in two writes: first the status lists them, then, when their finalizers are removed,
//! it counts them. No Pod is missed and none is counted twice.
//!
//! Models `trackJobStatusAndRemoveFinalizers` of `pkg/controller/job/job_controller.go`.

use super::super::ownership::JOB_TRACKING;
use super::backoff::BackoffRecord;
use super::policy::{PolicyVerdict, judge};
use super::{JobEnd, JobPass, phase, untrack};
use apiserver::ApiError;
use apiserver::why::Why;
use controller_runtime::client::{LoopClient, PassView};
use k8s_model::batch::{JobCondition, JobStatus};
use k8s_model::time::MS;
use k8s_model::{Body, Duration, Object, Str, Timestamp, Uid};
use std::rc::Rc;

/// Delay from the status that lists the Pods to their release: two round trips.
const RELEASE_US: Duration = 12 * MS;
/// Maximum number of Pods that the status lists at once.
const MAX_UNCOUNTED_PODS: usize = 500;

/// State of a Job kept between passes.
#[derive(Clone, Default, Debug)]
pub(super) struct JobState {
    pub(super) backoff: BackoffRecord,
    /// Pods that the status lists and that are to be released next.
    pub(super) release: Option<PodRelease>,
}

/// Pods to release.
#[derive(Clone, Debug)]
pub(super) struct PodRelease {
    pods: Vec<Uid>,
    /// True if they are all that have ended.
    all: bool,
}

impl JobPass<'_> {
    /// Writes the status, releases the Pods listed in it, and counts them.
    pub(super) fn track(
        &mut self,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<(), ApiError> {
        let held: Vec<Uid> = self
            .pods
            .iter()
            .filter(|pod| pod.meta.has_finalizer(JOB_TRACKING))
            .map(|pod| pod.meta.uid)
            .collect();
        self.needs_flush |= count_released(&mut self.status, &held);
        let (ended, all) = self.record_uncounted();
        self.set_target_condition(view.wall);
        if self.needs_flush {
            self.flush(out)?;
            self.needs_flush = false;
            let mut state = JobState {
                backoff: self.record,
                release: None,
            };
            if !ended.is_empty() {
                // The status is visible to others before the Pods are released and the Job may end.
                state.release = Some(PodRelease {
                    pods: ended.iter().map(|pod| pod.meta.uid).collect(),
                    all,
                });
                out.state.set(state);
                self.requeue_after(RELEASE_US);
                return Ok(());
            }
            out.state.set(state);
        }
        self.release(&ended, all, held, view, out)
    }

    /// Runs the second half of the tracking, a moment after the status was written.
    pub(super) fn resume(
        &mut self,
        release: &PodRelease,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<(), ApiError> {
        let held = self
            .pods
            .iter()
            .filter(|pod| pod.meta.has_finalizer(JOB_TRACKING))
            .map(|pod| pod.meta.uid)
            .collect();
        let ended: Vec<Rc<Object>> = self
            .pods
            .iter()
            .filter(|pod| release.pods.contains(&pod.meta.uid))
            .cloned()
            .collect();
        self.terminating = self.status.terminating.unwrap_or(0);
        self.end = match (
            self.status.met("SuccessCriteriaMet"),
            self.status.met("FailureTarget"),
        ) {
            (Some(condition), _) => JobEnd::like("Complete", condition),
            (None, Some(condition)) => JobEnd::like("Failed", condition),
            (None, None) => None,
        };
        self.release(&ended, release.all, held, view, out)
    }

    /// Removes the finalizers from the Pods listed in the status, counts them, and ends the Job if they were the last.
    fn release(
        &mut self,
        ended: &[Rc<Object>],
        all: bool,
        mut held: Vec<Uid>,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<(), ApiError> {
        let mut result = Ok(());
        out.together(|out| {
            for pod in ended {
                match untrack(&pod.key(), Why::Counted, out) {
                    Ok(()) => held.retain(|uid| *uid != pod.meta.uid),
                    Err(error) => result = Err(error),
                }
            }
        });
        self.needs_flush |= count_released(&mut self.status, &held);
        let finished = if all && result.is_ok() {
            self.finish(view.wall)
        } else {
            None
        };
        if self.needs_flush {
            self.flush(out)?;
        }
        if let Some(end) = finished {
            self.emit_finished_event(&end, out);
        }
        result
    }

    /// Lists the Pods that have ended in the status; returns them, and whether they are all.
    fn record_uncounted(&mut self) -> (Vec<Rc<Object>>, bool) {
        let mut uncounted = self
            .status
            .uncounted_terminated_pods
            .take()
            .unwrap_or_default();
        let mut indexes = self.indexes.take();
        let (mut ended, mut new_indexes, mut all) = (Vec::new(), 0, true);
        for pod in &self.pods {
            let failed = self.is_failed(pod);
            if !pod.meta.has_finalizer(JOB_TRACKING) || !self.may_release(pod, failed) {
                continue;
            }
            ended.push(pod.clone());
            let (uid, index) = (pod.meta.uid, self.good_index(pod));
            let known = uncounted.failed.contains(&uid);
            if phase(pod) == "Succeeded" && !known {
                match &mut indexes {
                    Some((before, now)) => {
                        // The index alone keeps a Pod from being counted twice.
                        if let Some(index) = index.filter(|i| !before.has(*i)) {
                            now.add(index, index);
                            new_indexes += 1;
                            self.needs_flush = true;
                        }
                    }
                    None if uncounted.succeeded.contains(&uid) => {}
                    None => {
                        uncounted.succeeded.push(uid);
                        self.needs_flush = true;
                    }
                }
            } else if (failed
                || self
                    .end
                    .as_ref()
                    .is_some_and(|end| end.kind != "SuccessCriteriaMet"))
                && !known
                && (indexes.is_none() || index.is_some())
                && judge(self.spec, pod) != PolicyVerdict::Ignore
            {
                uncounted.failed.push(uid);
                self.needs_flush = true;
            }
            if new_indexes + uncounted.succeeded.len() + uncounted.failed.len()
                >= MAX_UNCOUNTED_PODS
            {
                all = false;
                break;
            }
        }
        self.status.uncounted_terminated_pods = Some(uncounted);
        if let Some((_, now)) = indexes {
            self.write_indexes(&now.text(), now.total() as i32);
        }
        (ended, all)
    }

    fn write_indexes(&mut self, completed: &str, total: i32) {
        let failed = self
            .failed_indexes
            .as_ref()
            .map(|set| Str::from(set.text()));
        self.needs_flush |=
            self.status.completed_indexes != completed || self.status.failed_indexes != failed;
        self.status.completed_indexes = completed.into();
        self.status.failed_indexes = failed;
        self.status.succeeded = total;
    }

    /// Returns true if this Pod is no longer needed: it has ended, or its Job is ending.
    fn may_release(&self, pod: &Rc<Object>, failed: bool) -> bool {
        if self.object.meta.is_deleting() || self.end.is_some() || phase(pod) == "Succeeded" {
            return true;
        }
        failed
            && !self
                .replaced
                .iter()
                .any(|(_, waiting)| Rc::ptr_eq(waiting, pod))
    }

    /// Announces the end of the Job in a condition that precedes the final one.
    fn set_target_condition(&mut self, now: Timestamp) {
        let Some(end) = &mut self.end else { return };
        let last = match end.kind {
            "FailureTarget" => "Failed",
            "SuccessCriteriaMet" => "Complete",
            _ => return,
        };
        if self.status.met(end.kind).is_none() {
            self.needs_flush |= ensure(
                &mut self.status.conditions,
                end.kind,
                "True",
                end.reason.clone(),
                end.message.clone(),
                now,
            );
        }
        end.kind = last;
    }

    /// Writes the final condition, once all Pods are gone or counted.
    fn finish(&mut self, now: Timestamp) -> Option<JobEnd> {
        let uncounted = self.status.uncounted_terminated_pods.as_ref()?;
        if self.terminating > 0 || !uncounted.failed.is_empty() || !uncounted.succeeded.is_empty() {
            return None;
        }
        let end = self.end.clone()?;
        ensure(
            &mut self.status.conditions,
            end.kind,
            "True",
            end.reason.clone(),
            end.message.clone(),
            now,
        );
        if end.kind == "Complete" {
            self.status.completion_time = Some(now);
        }
        self.needs_flush = true;
        Some(end)
    }

    fn emit_finished_event(&self, end: &JobEnd, out: &mut LoopClient<'_>) {
        if end.kind == "Failed" {
            // Events intern their reasons permanently: these are all that a Job can fail with.
            let reasons = [
                "BackoffLimitExceeded",
                "DeadlineExceeded",
                "PodFailurePolicy",
                "MaxFailedIndexesExceeded",
                "FailedIndexes",
            ];
            let reason = reasons
                .into_iter()
                .find(|known| *known == end.reason)
                .unwrap_or("Failed");
            return out.event(&self.object, "Warning", reason, end.message.clone());
        }
        if self
            .spec
            .completions
            .is_some_and(|wanted| self.status.succeeded > wanted)
        {
            out.event(
                &self.object,
                "Warning",
                "TooManySucceededPods",
                "Too many succeeded pods running after completion count reached",
            );
        }
        out.event(&self.object, "Normal", "Completed", "Job completed");
    }

    fn flush(&mut self, out: &mut LoopClient<'_>) -> Result<(), ApiError> {
        let (status, why) = (
            self.status.clone(),
            self.end.as_ref().map_or(Why::Observed, |end| Why::JobEnds {
                reason: end.reason.clone(),
            }),
        );
        self.object = out.update_status(&self.object, why, |o| {
            if let Body::Job(job) = &mut o.body {
                job.status = status;
            }
        })?;
        Ok(())
    }
}

/// Moves Pods without a finalizer from the list of uncounted Pods to the counters.
fn count_released(status: &mut JobStatus, held: &[Uid]) -> bool {
    let Some(uncounted) = &mut status.uncounted_terminated_pods else {
        return false;
    };
    let mut changed = false;
    for (list, counter) in [
        (&mut uncounted.succeeded, &mut status.succeeded),
        (&mut uncounted.failed, &mut status.failed),
    ] {
        let before = list.len();
        list.retain(|uid| held.contains(uid));
        *counter += (before - list.len()) as i32;
        changed |= before != list.len();
    }
    changed
}

/// Sets a condition; a missing one is not added as `False`. Returns whether anything changed.
pub fn ensure(
    conditions: &mut Vec<JobCondition>,
    kind: &'static str,
    status: &'static str,
    reason: Str,
    message: Str,
    now: Timestamp,
) -> bool {
    let known = conditions.iter().position(|c| c.kind == kind);
    if known.is_some_and(|i| {
        conditions[i].status == status
            && conditions[i].reason == reason
            && conditions[i].message == message
    }) || known.is_none() && status == "False"
    {
        return false;
    }
    let new = JobCondition {
        last_probe_time: Some(now),
        last_transition_time: Some(now),
        message,
        reason,
        status: Str::new_static(status),
        kind: Str::new_static(kind),
    };
    match known {
        Some(i) => conditions[i] = new,
        None => conditions.push(new),
    }
    true
}
