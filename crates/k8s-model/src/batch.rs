//! Jobs, and CronJobs, which are stored as JSON and parsed on access.

use super::json::{Json, record};
use super::pod_template::PodTemplate;
use super::selector::LabelSelector;
use super::spec::Spec;
use super::{Object, Str, Timestamp, Uid};
use crate::json;
use serde_json::Value;
use std::rc::Rc;

impl Json for Rc<PodTemplate> {
    fn read(&mut self, value: &Value) -> Result<(), String> {
        *self = PodTemplate::from_value(value.clone())?;
        Ok(())
    }
    fn write(&self) -> Value {
        self.to_value()
    }
}

/// Job.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Job {
    pub spec: Rc<Spec<JobSpec>>,
    pub status: JobStatus,
}

record! {
    #[derive(Debug, Default)]
    pub struct JobSpec {
        pub parallelism: Option<i32> = "parallelism",
        /// Required successes. `None` for a work queue, which is done when one Pod has succeeded and no other runs.
        pub completions: Option<i32> = "completions",
        /// `NonIndexed` or `Indexed`.
        pub completion_mode: Str = "completionMode",
        pub suspend: bool = "suspend",
        pub backoff_limit: Option<i32> = "backoffLimit",
        pub backoff_limit_per_index: Option<i32> = "backoffLimitPerIndex",
        pub max_failed_indexes: Option<i32> = "maxFailedIndexes",
        pub active_deadline_seconds: Option<i64> = "activeDeadlineSeconds",
        pub ttl_seconds_after_finished: Option<i64> = "ttlSecondsAfterFinished",
        /// `TerminatingOrFailed` or `Failed`.
        pub pod_replacement_policy: Str = "podReplacementPolicy",
        pub pod_failure_policy: Option<FailurePolicy> = "podFailurePolicy",
        pub success_policy: Option<SuccessPolicy> = "successPolicy",
        pub managed_by: Str = "managedBy",
        pub selector: LabelSelector = "selector",
        pub template: Rc<PodTemplate> = "template",
    }

    #[derive(Debug, Default)]
    pub struct FailurePolicy {
        pub rules: Vec<FailureRule> = "rules",
    }

    #[derive(Debug, Default)]
    pub struct FailureRule {
        /// `FailJob`, `FailIndex`, `Ignore` or `Count`.
        pub action: Str = "action",
        pub on_exit_codes: Option<OnExitCodes> = "onExitCodes",
        pub on_pod_conditions: Vec<OnPodCondition> = "onPodConditions",
    }

    #[derive(Debug, Default)]
    pub struct OnExitCodes {
        pub container_name: Option<Str> = "containerName",
        /// `In` or `NotIn`.
        pub operator: Str = "operator",
        pub values: Vec<i32> = "values",
    }

    #[derive(Debug, Default)]
    pub struct OnPodCondition {
        pub kind: Str = "type",
        pub status: Str = "status",
    }

    #[derive(Debug, Default)]
    pub struct SuccessPolicy {
        pub rules: Vec<SuccessRule> = "rules",
    }

    #[derive(Debug, Default)]
    pub struct SuccessRule {
        pub succeeded_indexes: Option<Str> = "succeededIndexes",
        pub succeeded_count: Option<i32> = "succeededCount",
    }

    /// `status` of a Job.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct JobStatus {
        pub active: i32 = "active" omitempty,
        pub completed_indexes: Str = "completedIndexes" omitempty,
        pub completion_time: Option<Timestamp> = "completionTime" omitempty,
        pub conditions: Vec<JobCondition> = "conditions" omitempty,
        pub failed: i32 = "failed" omitempty,
        pub failed_indexes: Option<Str> = "failedIndexes" omitempty,
        pub ready: Option<i32> = "ready" omitempty,
        pub start_time: Option<Timestamp> = "startTime" omitempty,
        pub succeeded: i32 = "succeeded" omitempty,
        pub terminating: Option<i32> = "terminating" omitempty,
        pub uncounted_terminated_pods: Option<Uncounted> = "uncountedTerminatedPods" omitempty,
    }

    /// Terminated Pods that are not in the counters yet.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct Uncounted {
        pub failed: Vec<Uid> = "failed" omitempty,
        pub succeeded: Vec<Uid> = "succeeded" omitempty,
    }

    /// Condition of a Job.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct JobCondition {
        pub last_probe_time: Option<Timestamp> = "lastProbeTime",
        pub last_transition_time: Option<Timestamp> = "lastTransitionTime",
        pub message: Str = "message" omitempty,
        pub reason: Str = "reason" omitempty,
        pub status: Str = "status",
        pub kind: Str = "type",
    }
}

impl JobStatus {
    /// Returns the condition of this type, if it is `True`.
    pub fn met(&self, kind: &str) -> Option<&JobCondition> {
        self.conditions
            .iter()
            .find(|c| c.kind == kind && c.status == "True")
    }

    /// Returns the condition for the end of the Job, `Complete` or `Failed`.
    pub fn finished(&self) -> Option<&JobCondition> {
        self.met("Complete").or_else(|| self.met("Failed"))
    }
}

impl Job {
    pub(super) fn from_parts(spec: Option<Value>, status: Option<Value>) -> Result<Self, String> {
        Ok(Job {
            spec: Spec::from_raw(spec)?,
            status: json::part(status.as_ref())?,
        })
    }
}

record! {
    /// `spec` of a CronJob.
    #[derive(Debug, Default)]
    pub struct CronJobSpec {
        pub schedule: Str = "schedule",
        pub time_zone: Option<Str> = "timeZone",
        pub starting_deadline_seconds: Option<i64> = "startingDeadlineSeconds",
        pub concurrency_policy: Str = "concurrencyPolicy",
        pub suspend: bool = "suspend",
        pub successful_jobs_history_limit: Option<i64> = "successfulJobsHistoryLimit",
        pub failed_jobs_history_limit: Option<i64> = "failedJobsHistoryLimit",
        pub job_template: Value = "jobTemplate",
    }

    /// `status` of a CronJob.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct CronJobStatus {
        pub active: Vec<JobReference> = "active" omitempty,
        pub last_schedule_time: Option<Timestamp> = "lastScheduleTime" omitempty,
        pub last_successful_time: Option<Timestamp> = "lastSuccessfulTime" omitempty,
    }

    /// Reference to an active Job of a CronJob.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct JobReference {
        pub api_version: Str = "apiVersion" omitempty,
        pub kind: Str = "kind" omitempty,
        pub name: Str = "name" omitempty,
        pub namespace: Str = "namespace" omitempty,
        pub resource_version: Str = "resourceVersion" omitempty,
        pub uid: Uid = "uid" omitempty,
    }
}

impl CronJobSpec {
    /// Parses the spec; `None` if it does not decode.
    pub fn of(cron_job: &Object) -> Option<CronJobSpec> {
        cron_job.part("spec")
    }
}

impl CronJobStatus {
    /// Parses the status; the default if it does not decode.
    pub fn of(cron_job: &Object) -> CronJobStatus {
        cron_job.part("status").unwrap_or_default()
    }

    /// Replaces the status.
    pub fn put(&self, cron_job: &mut Object) {
        cron_job.put_part("status", self);
    }
}
