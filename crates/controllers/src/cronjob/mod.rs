//! Creates the Jobs of a CronJob on its schedule.
//!
//! Guarantees: a Job is named after the minute it was due, so none is created twice; of several missed runs only the last
//! is started; finished Jobs beyond the history limits are deleted, the oldest first.
//! Models `pkg/controller/cronjob/cronjob_controllerv2.go` and `utils.go`.

use super::{Controller, Event, Watch};
use apiserver::journal::Op;
use apiserver::validation::Schedule;
use apiserver::why::Why;
use apiserver::{ApiError, DeleteOptions, StatusReason};
use apiserver::{Component, ControllerId};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::{Descriptor, GENERIC};
use k8s_model::batch::{CronJobSpec, CronJobStatus, Job, JobReference};
use k8s_model::json::Json;
use k8s_model::time::{MS, SECOND};
use k8s_model::{Duration, Kind, Object, ObjectRef, Str, Timestamp, Uid, Zone};
use serde_json::{Value, json};
use smol_str::format_smolstr;
use std::rc::Rc;

/// Delay of a run after it is due, since clocks may differ.
const SKEW_US: Duration = 100 * MS;
const SETTLE_US: Duration = 2 * MS;
const TOO_MANY_MISSED: i64 = 100;
const SCHEDULED: &str = "batch.kubernetes.io/cronjob-scheduled-timestamp";

/// UI descriptor of the controller.
static DESCRIPTOR: Descriptor = Descriptor {
    component: Component::Controller(&ControllerId::new("cronjob-controller")),
    aliases: &[],
    title: "cronjob",
    icon: "i-cronjob",
    lane: "job",
    always_shown: false,
    code: GENERIC,
};

/// CronJob controller.
pub struct CronJobController;

impl Controller for CronJobController {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn watches(&self) -> &'static [Watch] {
        &[
            Watch::For(Kind::CronJob),
            Watch::Owns(Kind::CronJob, Kind::Job),
        ]
    }

    /// Delays a new schedule until it is next due, so that no past run is started.
    fn delay(&self, event: &Event<'_>, _key: &ObjectRef, clock: i64) -> Duration {
        let Some(before) = event
            .before
            .filter(|b| event.op == Op::Modified && b.kind == Kind::CronJob)
        else {
            return 0;
        };
        let (Some(old), Some(new)) = (CronJobSpec::of(before), CronJobSpec::of(event.object))
        else {
            return 0;
        };
        if old.schedule == new.schedule && old.time_zone == new.time_zone {
            return 0;
        }
        let plan = StartPlan::of(event.object, &new, &CronJobStatus::of(event.object), clock);
        plan.filter(|plan| !plan.is_never(None))
            .map_or(0, |plan| plan.until_next())
    }

    fn reconcile(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<Action, ApiError> {
        let Some(object) = view.cache.object(key) else {
            return Ok(Action::AwaitChange);
        };
        let Some(spec) = CronJobSpec::of(object) else {
            return Ok(Action::AwaitChange);
        };
        if !view.sees_own_writes {
            return Ok(Action::RequeueAfter(SETTLE_US));
        }
        let jobs: Vec<Rc<Object>> = view
            .cache
            .owned_of_kind(object.meta.uid, Kind::Job)
            .cloned()
            .collect();
        let before = CronJobStatus::of(object);
        let mut pass = CronJobPass {
            object,
            spec: &spec,
            status: before.clone(),
            changed: false,
        };
        pass.clean_up(&jobs, out);
        pass.sync_active(&jobs, out);
        let again = pass.start(view, out);
        if pass.changed {
            let status = pass.status;
            out.update_status(object, Why::Observed, |o| status.put(o))?;
        }
        Ok(again?.map_or(Action::AwaitChange, Action::RequeueAfter))
    }
}

fn finished(object: &Object) -> Option<&str> {
    object
        .get::<Job>()?
        .status
        .finished()
        .map(|condition| condition.kind.as_str())
}

/// Reconcile pass over one CronJob.
struct CronJobPass<'a> {
    object: &'a Rc<Object>,
    spec: &'a CronJobSpec,
    status: CronJobStatus,
    changed: bool,
}

impl CronJobPass<'_> {
    /// Deletes the oldest finished Jobs beyond the limits.
    fn clean_up(&mut self, jobs: &[Rc<Object>], out: &mut LoopClient<'_>) {
        let limits = [
            (
                "Complete",
                "successfulJobsHistoryLimit",
                self.spec.successful_jobs_history_limit,
            ),
            (
                "Failed",
                "failedJobsHistoryLimit",
                self.spec.failed_jobs_history_limit,
            ),
        ];
        for (kind, field, limit) in limits {
            let Some(limit) = limit else { continue };
            let mut ended: Vec<&Rc<Object>> = jobs
                .iter()
                .filter(|job| finished(job) == Some(kind))
                .collect();
            ended.sort_by_key(|job| {
                let start = job.body::<Job>().status.start_time;
                (start.is_none(), start, job.meta.name.clone())
            });
            let surplus = ended.len().saturating_sub(limit.max(0) as usize);
            for job in &ended[..surplus] {
                self.delete(
                    &job.key(),
                    job.meta.uid,
                    Why::HistoryLimit { field, limit },
                    out,
                );
            }
        }
    }

    fn delete(&mut self, key: &ObjectRef, uid: Uid, why: Why, out: &mut LoopClient<'_>) -> bool {
        if let Err(error) = out.delete(key, DeleteOptions::background(), why) {
            out.event(
                self.object,
                "Warning",
                "FailedDelete",
                format_smolstr!("Deleted job: {error}"),
            );
            return false;
        }
        self.forget(uid);
        out.event(
            self.object,
            "Normal",
            "SuccessfulDelete",
            format_smolstr!("Deleted job {}", key.name),
        );
        true
    }

    fn forget(&mut self, uid: Uid) {
        self.status.active.retain(|job| job.uid != uid);
        self.changed = true;
    }

    /// Updates the list of active Jobs.
    fn sync_active(&mut self, jobs: &[Rc<Object>], out: &mut LoopClient<'_>) {
        for job in jobs {
            let (name, uid, ended) = (&job.meta.name, job.meta.uid, finished(job));
            match (
                self.status.active.iter().any(|known| known.uid == uid),
                ended,
            ) {
                (false, None) => {
                    let message = format_smolstr!(
                        "Saw a job that the controller did not create or forgot: {name}"
                    );
                    out.event(self.object, "Warning", "UnexpectedJob", message);
                }
                (true, Some(condition)) => {
                    self.forget(uid);
                    out.event(
                        self.object,
                        "Normal",
                        "SawCompletedJob",
                        format_smolstr!("Saw completed job: {name}, condition: {condition}"),
                    );
                }
                _ => {}
            }
            let completed = job.body::<Job>().status.completion_time;
            if ended == Some("Complete") && completed > self.status.last_successful_time {
                self.status.last_successful_time = completed;
                self.changed = true;
            }
        }
        let gone = |job: &JobReference| {
            jobs.iter().all(|known| known.meta.uid != job.uid)
                && out
                    .store()
                    .get(&ObjectRef::new(Kind::Job, &job.namespace, &job.name))
                    .is_none()
        };
        let missing: Vec<JobReference> = self
            .status
            .active
            .iter()
            .filter(|job| gone(job))
            .cloned()
            .collect();
        for job in missing {
            out.event(
                self.object,
                "Normal",
                "MissingJob",
                format_smolstr!("Active job went missing: {}", job.name),
            );
            self.forget(job.uid);
        }
    }

    /// Starts the run that is due, if any; returns the time until the next.
    fn start(
        &mut self,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<Option<Duration>, ApiError> {
        if self.object.meta.is_deleting() {
            return Ok(None);
        }
        if let Some(name) = self
            .spec
            .time_zone
            .as_ref()
            .filter(|name| Zone::find(name).is_none())
        {
            let message = format_smolstr!(
                "invalid timeZone: {:?}: unknown time zone {name}",
                name.as_str()
            );
            out.event(self.object, "Warning", "UnknownTimeZone", message);
            return Ok(None);
        }
        if self.spec.suspend {
            return Ok(None);
        }
        let clock = view.wall.seconds() * SECOND as i64 + (view.now.0 % SECOND) as i64;
        let Some(mut plan) = StartPlan::of(self.object, self.spec, &self.status, clock) else {
            return Ok(None);
        };
        if plan.is_never(self.spec.starting_deadline_seconds) {
            let schedule = &self.spec.schedule;
            let message = format_smolstr!(
                "invalid schedule: {schedule} : time difference between two schedules is less than 1 second"
            );
            out.event(self.object, "Warning", "InvalidSchedule", message);
            return Ok(None);
        }
        let due = plan.due(self.spec.starting_deadline_seconds);
        if plan.missed > TOO_MANY_MISSED && due.is_some() {
            let message = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew";
            out.event(self.object, "Warning", "TooManyMissedTimes", message);
        }
        let Some(due) = due else {
            return Ok(Some(plan.until_next()));
        };
        if self.spec.starting_deadline_seconds.is_some_and(|seconds| {
            due.saturating_add(seconds).saturating_mul(SECOND as i64) < clock
        }) {
            let message = format_smolstr!("Missed scheduled time to start a job: {}", rfc1123(due));
            out.event(self.object, "Warning", "MissSchedule", message);
            return Ok(Some(plan.until_next()));
        }
        let name = format_smolstr!("{}-{}", self.object.meta.name, due / 60);
        let done = self.status.last_schedule_time == Some(Timestamp::new(due))
            || self.status.active.iter().any(|job| job.name == name);
        if done {
            return Ok(Some(plan.until_next()));
        }
        if self.spec.concurrency_policy == "Forbid" && !self.status.active.is_empty() {
            let message = "Not starting job because prior execution is running and concurrency policy is Forbid";
            out.event(self.object, "Normal", "JobAlreadyActive", message);
            return Ok(Some(plan.until_next()));
        }
        if self.spec.concurrency_policy == "Replace" && !self.replace(out)? {
            return Ok(Some(plan.until_next()));
        }
        if !self.create(name, due, plan.zone, out)? {
            return Ok(None);
        }
        plan.earliest = due;
        Ok(Some(plan.until_next()))
    }

    /// Deletes the active Jobs.
    fn replace(&mut self, out: &mut LoopClient<'_>) -> Result<bool, ApiError> {
        for job in self.status.active.clone() {
            let key = ObjectRef::new(Kind::Job, &job.namespace, &job.name);
            if out.store().get(&key).is_none() {
                let error = ApiError::not_found(Kind::Job, &job.name);
                out.event(
                    self.object,
                    "Warning",
                    "FailedGet",
                    format_smolstr!("Get job: {error}"),
                );
                return Err(error);
            }
            if !self.delete(&key, job.uid, Why::Replaced, out) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Creates the Job that was due, and adds it to the list of active Jobs.
    fn create(
        &mut self,
        name: Str,
        due: i64,
        zone: Zone,
        out: &mut LoopClient<'_>,
    ) -> Result<bool, ApiError> {
        let mut job = json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": {
            "name": name.as_str(), "namespace": self.object.meta.namespace.as_str() } });
        let template = &self.spec.job_template;
        for field in ["labels", "annotations"] {
            if template["metadata"][field].is_object() {
                job["metadata"][field] = template["metadata"][field].clone();
            }
        }
        job["metadata"]["annotations"][SCHEDULED] = zone.rfc3339(due).into();
        job["metadata"]["ownerReferences"] =
            Value::Array(vec![self.object.controller_reference().write()]);
        job["spec"] = template["spec"].clone();
        let created = match out.create_value(
            job,
            Why::Due {
                at: Timestamp::new(due),
            },
        ) {
            Ok(job) => {
                out.event(
                    self.object,
                    "Normal",
                    "SuccessfulCreate",
                    format_smolstr!("Created job {name}"),
                );
                job
            }
            Err(error) if error.reason == StatusReason::AlreadyExists => {
                let key = ObjectRef::new(Kind::Job, &self.object.meta.namespace, &name);
                match out
                    .store()
                    .get(&key)
                    .filter(|job| job.meta.is_controlled_by(self.object.meta.uid))
                {
                    Some(job) => job.clone(),
                    None => return Ok(false),
                }
            }
            Err(error) => {
                out.event(
                    self.object,
                    "Warning",
                    "FailedCreate",
                    format_smolstr!("Error creating job: {error}"),
                );
                return Err(error);
            }
        };
        self.status.active.push(JobReference {
            api_version: "batch/v1".into(),
            kind: "Job".into(),
            name,
            namespace: created.meta.namespace.clone(),
            resource_version: format_smolstr!("{}", created.meta.resource_version),
            uid: created.meta.uid,
        });
        self.status.last_schedule_time = Some(Timestamp::new(due));
        self.changed = true;
        Ok(true)
    }
}

/// Next run of a CronJob, and the last one or its creation, in seconds since 1970 by the clock of its time zone.
#[derive(Clone, Copy, Debug)]
pub struct NextRun {
    /// Time after which it comes.
    pub after: i64,
    /// Time of the run.
    pub at: i64,
}

/// Returns the next run of a CronJob; `None` if it is suspended or never runs.
pub fn next_run(cron_job: &Object) -> Option<NextRun> {
    let spec = CronJobSpec::of(cron_job).filter(|spec| !spec.suspend)?;
    let plan = StartPlan::of(cron_job, &spec, &CronJobStatus::of(cron_job), 0)?;
    let local = |at: i64| at + plan.zone.offset(at);
    Some(NextRun {
        after: local(plan.earliest),
        at: local(plan.next(plan.earliest)?),
    })
}

/// Due times of a schedule; times are in seconds since 1970, the clock in microseconds.
struct StartPlan {
    schedule: Schedule,
    zone: Zone,
    /// Time up to which runs are past: the last run, or the CronJob's creation.
    earliest: i64,
    clock: i64,
    /// Approximate number of missed runs.
    missed: i64,
}

impl StartPlan {
    fn of(
        object: &Object,
        spec: &CronJobSpec,
        status: &CronJobStatus,
        clock: i64,
    ) -> Option<StartPlan> {
        let earliest = status
            .last_schedule_time
            .or(object.meta.creation_timestamp)?
            .seconds();
        let zone = spec
            .time_zone
            .as_ref()
            .map_or(Some(Zone::UTC), |name| Zone::find(name))?;
        Some(StartPlan {
            schedule: Schedule::parse(&spec.schedule).ok()?,
            zone,
            earliest,
            clock,
            missed: 0,
        })
    }

    fn now(&self) -> i64 {
        self.clock.div_euclid(SECOND as i64)
    }

    fn next(&self, after: i64) -> Option<i64> {
        self.schedule.next(after, &|at| self.zone.offset(at))
    }

    /// Returns the time from which runs count: runs beyond the deadline do not.
    fn since(&self, deadline: Option<i64>) -> i64 {
        deadline.map_or(self.earliest, |seconds| {
            self.earliest.max(self.now().saturating_sub(seconds))
        })
    }

    /// Returns true if the schedule never fires, such as on the 31st of February.
    fn is_never(&self, deadline: Option<i64>) -> bool {
        let first = self.next(self.since(deadline));
        first.is_none_or(|first| first <= self.now() && self.next(first).is_none())
    }

    /// Returns the last run that should have begun by now, not counting runs beyond the deadline.
    fn due(&mut self, deadline: Option<i64>) -> Option<i64> {
        let now = self.now();
        let first = self
            .next(self.since(deadline))
            .filter(|first| *first <= now)?;
        let Some(second) = self.next(first).filter(|second| *second <= now) else {
            return Some(first);
        };
        // The interval between the first two runs gives an estimate of the missed ones: start two before the last.
        let interval = (second - first).max(1);
        self.missed = (now - first) / interval + 1;
        let mut last = None;
        let mut at = self.next(first + (self.missed - 2) * interval);
        while let Some(time) = at.filter(|time| *time <= now) {
            last = Some(time);
            at = self.next(time);
        }
        last
    }

    /// Returns the time until the next run, in microseconds.
    fn until_next(&self) -> Duration {
        let mut plan = StartPlan {
            schedule: self.schedule.clone(),
            missed: 0,
            ..*self
        };
        let last = plan.due(None).unwrap_or(if plan.missed > 0 {
            self.now()
        } else {
            self.earliest
        });
        // The fallback is never used: a schedule without a next run was refused.
        let next = self.next(last).unwrap_or(self.now() + 31_536_000);
        (next * SECOND as i64 - self.clock).max(0) as u64 + SKEW_US
    }
}

/// Formats a time, as `Sat, 21 Nov 2026 06:34:00 UTC`.
fn rfc1123(at: i64) -> String {
    const DAYS: &str = "ThuFriSatSunMonTueWed";
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let (day, (year, month, date)) = (
        at.div_euclid(86_400),
        k8s_model::time::civil(at.div_euclid(86_400)),
    );
    let word =
        |words: &'static str, n: i64| words.get(n as usize * 3..n as usize * 3 + 3).unwrap_or("");
    let clock = &Timestamp::new(at).rfc3339()[11..19];
    format!(
        "{}, {date:02} {} {year} {clock} UTC",
        word(DAYS, day.rem_euclid(7)),
        word(MONTHS, month - 1)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(schedule: &str, earliest: i64, now: i64) -> StartPlan {
        StartPlan {
            schedule: Schedule::parse(schedule).unwrap(),
            zone: Zone::UTC,
            earliest,
            clock: now * SECOND as i64,
            missed: 0,
        }
    }

    #[test]
    fn of_several_missed_runs_the_last_is_due() {
        assert_eq!(plan("* * * * *", 0, 59).due(None), None);
        assert_eq!(plan("* * * * *", 0, 60).due(None), Some(60));
        assert_eq!(plan("* * * * *", 0, 119).due(None), Some(60));
        assert_eq!(plan("* * * * *", 0, 3601).due(None), Some(3600));
        assert_eq!(plan("*/5 * * * *", 0, 3700).due(None), Some(3600));
        let mut many = plan("* * * * *", 0, 60 * 200);
        assert_eq!((many.due(None), many.missed), (Some(60 * 200), 200));
    }

    #[test]
    fn runs_beyond_the_deadline_are_not_due() {
        assert_eq!(plan("0 * * * *", 0, 3700).due(Some(200)), Some(3600));
        assert_eq!(plan("0 * * * *", 0, 3700).due(Some(50)), None);
    }

    #[test]
    fn the_next_run_is_waited_for() {
        assert_eq!(plan("* * * * *", 0, 10).until_next(), 50 * SECOND + SKEW_US);
        assert_eq!(plan("* * * * *", 0, 70).until_next(), 50 * SECOND + SKEW_US);
        assert_eq!(rfc1123(1_795_242_840), "Sat, 21 Nov 2026 06:34:00 UTC");
    }
}
