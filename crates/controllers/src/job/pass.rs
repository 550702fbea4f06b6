//! State of one pass over a Job.

use super::backoff::BackoffRecord;
use super::indexes::Indexes;
use crate::ownership::JOB_TRACKING;
use apiserver::why::Why;
use apiserver::{ApiError, StatusReason};
use controller_runtime::client::LoopClient;
use k8s_model::batch::{JobCondition, JobSpec, JobStatus};
use k8s_model::pod::Pod;
use k8s_model::time::SECOND;
use k8s_model::{Duration, Object, ObjectRef, Str};
use std::rc::Rc;

/// Delay that batches events of Pods and of the Job's own status.
pub(super) const BATCH_US: Duration = SECOND;

/// Removes the tracking finalizer from a Pod; a deleted Pod has none.
pub(super) fn untrack(key: &ObjectRef, why: Why, out: &mut LoopClient<'_>) -> Result<(), ApiError> {
    match out.patch(key, why, |o| {
        o.meta.finalizers.retain(|f| f != JOB_TRACKING)
    }) {
        Err(error) if error.reason != StatusReason::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Pending or final outcome of a Job.
#[derive(Clone, Debug)]
pub(super) struct JobEnd {
    pub(super) kind: &'static str,
    pub(super) reason: Str,
    pub(super) message: Str,
}

impl JobEnd {
    pub(super) fn new(
        kind: &'static str,
        reason: &'static str,
        message: impl Into<Str>,
    ) -> Option<JobEnd> {
        Some(JobEnd {
            kind,
            reason: Str::new_static(reason),
            message: message.into(),
        })
    }

    pub(super) fn like(kind: &'static str, condition: &JobCondition) -> Option<JobEnd> {
        Some(JobEnd {
            kind,
            reason: condition.reason.clone(),
            message: condition.message.clone(),
        })
    }

    pub(super) fn failure(reason: &'static str, message: &'static str) -> Option<JobEnd> {
        JobEnd::new("FailureTarget", reason, message)
    }
}

/// Reconcile pass over one Job.
pub(super) struct JobPass<'a> {
    /// Job as it was last written.
    pub(super) object: Rc<Object>,
    pub(super) spec: &'a JobSpec,
    /// Status to be written.
    pub(super) status: JobStatus,
    pub(super) pods: Vec<Rc<Object>>,
    pub(super) active: Vec<Rc<Object>>,
    pub(super) ready: i32,
    pub(super) terminating: i32,
    pub(super) succeeded: i64,
    pub(super) failed: i64,
    pub(super) record: BackoffRecord,
    pub(super) end: Option<JobEnd>,
    /// Indexes that have succeeded according to the stored status, and by now.
    pub(super) indexes: Option<(Indexes, Indexes)>,
    pub(super) failed_indexes: Option<Indexes>,
    /// Failed Pods, by index, whose failure count the next Pod of the index takes over.
    pub(super) replaced: Vec<(i64, Rc<Object>)>,
    pub(super) needs_flush: bool,
    pub(super) again: Option<Duration>,
}

pub(super) fn phase(pod: &Object) -> &str {
    pod.pod().map_or("", |pod| pod.status.phase.as_str())
}

pub(super) fn is_ready(pod: &Object) -> bool {
    pod.pod().is_some_and(Pod::is_ready)
}

pub(super) fn is_terminating(pod: &Object) -> bool {
    pod.meta.is_deleting() && !pod.pod().is_some_and(Pod::is_terminal)
}
