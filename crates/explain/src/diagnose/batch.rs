//! Jobs that fail or are held back, and CronJobs between their runs.

use super::finding::{Context, Diagnosis, flag, free_name, line};
use super::workloads::{follow, stuck};
use crate::waits::{FactLabel, PendingReason, RemedyKind};
use actions::Action;
use apiserver::validation::Schedule;
use k8s_model::batch::{CronJobSpec, CronJobStatus, Job};
use k8s_model::{Kind, Object, ObjectRef};
use std::rc::Rc;

pub fn job(sim: &Context<'_>, object: &Rc<Object>) -> Option<Diagnosis> {
    let body: &Job = object.get()?;
    let (spec, status) = (&body.spec, &body.status);
    if let Some(failed) = status.met("Failed") {
        let mut out = Diagnosis::new(object, PendingReason::JobFailed(failed.reason.clone()));
        out.word(FactLabel::Message, &failed.message);
        out.count(FactLabel::Failed, status.failed);
        out.count(FactLabel::RetriesAllowed, spec.backoff_limit.unwrap_or(6));
        out.since(sim, failed.last_transition_time);
        return Some(out);
    }
    if status.finished().is_some() {
        return None;
    }
    if spec.suspend {
        let mut out = Diagnosis::new(object, PendingReason::Suspended);
        out.count(FactLabel::Active, status.active);
        out.since(
            sim,
            status
                .met("Suspended")
                .and_then(|condition| condition.last_transition_time),
        );
        let run = line(
            "patch",
            &object.key(),
            " --type=merge -p '{\"spec\":{\"suspend\":false}}'",
        );
        out.cure(RemedyKind::Unsuspend, &object.meta.name, "", &[run]);
        return Some(out);
    }
    if let Some(worst) = stuck(sim, object.meta.uid, true) {
        let mut out = Diagnosis::new(
            object,
            PendingReason::Pods {
                ready: status.ready.unwrap_or(0),
                desired: spec.parallelism.unwrap_or(1),
            },
        );
        out.count(FactLabel::Active, status.active);
        follow(&mut out, Some(worst));
        return Some(out);
    }
    if status.failed > 0 && status.active == 0 {
        let limit = spec.backoff_limit.unwrap_or(6);
        let mut out = Diagnosis::new(
            object,
            PendingReason::BackOff {
                failed: status.failed,
                limit,
            },
        );
        out.count(FactLabel::Failed, status.failed);
        out.count(FactLabel::RetriesAllowed, limit);
        out.at(
            FactLabel::LooksAgain,
            sim.manager.next_requeue(&object.key()),
        );
        return Some(out);
    }
    None
}

/// Returns true if a run was due since the last one started.
fn missed(sim: &Context<'_>, schedule: &str, status: &CronJobStatus) -> bool {
    let last = status.last_schedule_time;
    let next = last.and_then(|last| Schedule::parse(schedule).ok()?.next(last.seconds(), &|_| 0));
    next.is_none_or(|next| next <= sim.store().wall_at(sim.now()).seconds())
}

pub fn cron_job(sim: &Context<'_>, object: &Rc<Object>) -> Option<Diagnosis> {
    let spec = CronJobSpec::of(object)?;
    let status = CronJobStatus::of(object);
    let key = object.key();
    let run_now = |out: &mut Diagnosis| {
        let job = free_name(sim, Kind::Job, &object.meta.namespace, &object.meta.name);
        let create = [
            "kubectl create job ",
            &job,
            " --from=cronjob/",
            &object.meta.name,
            &flag(&key),
        ]
        .concat();
        out.cure(RemedyKind::RunNow, &job, "", &[Action::kubectl(create)]);
    };
    if spec.suspend {
        let mut out = Diagnosis::new(object, PendingReason::Suspended);
        out.word(FactLabel::Schedule, &spec.schedule);
        let resume = line(
            "patch",
            &key,
            " --type=merge -p '{\"spec\":{\"suspend\":false}}'",
        );
        out.cure(RemedyKind::Unsuspend, &object.meta.name, "", &[resume]);
        return Some(out);
    }
    let next = sim.manager.next_requeue(&key);
    let zone = spec.time_zone.as_deref().unwrap_or("");
    if !zone.is_empty() && next.is_none() {
        let mut out = Diagnosis::new(object, PendingReason::Zone(zone.into()));
        out.cure(
            RemedyKind::KnownZone,
            "Etc/UTC",
            "",
            &[line(
                "patch",
                &key,
                " --type=merge -p '{\"spec\":{\"timeZone\":\"Etc/UTC\"}}'",
            )],
        );
        return Some(out);
    }
    if let Some(active) = status.active.first() {
        let job = &active.name;
        if spec.concurrency_policy != "Forbid" || !missed(sim, &spec.schedule, &status) {
            return None;
        }
        let run = ObjectRef::new(Kind::Job, &object.meta.namespace, job);
        let mut out = Diagnosis::new(object, PendingReason::ConcurrencyForbidden(job.clone()));
        out.word(FactLabel::Schedule, &spec.schedule);
        out.cure(
            RemedyKind::EndRun,
            job,
            "",
            &[line("delete", &run, " --wait=false")],
        );
        out.waits_for = Some(run);
        return Some(out);
    }
    let mut out = Diagnosis::new(object, PendingReason::NotDue);
    out.word(FactLabel::Schedule, &spec.schedule);
    out.at(FactLabel::RunsAgain, Some(next?));
    run_now(&mut out);
    Some(out)
}
