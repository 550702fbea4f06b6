//! Jobs that fail or are held back, and CronJobs between their runs.

use super::finding::{Context, Diagnosis, flag, free_name, line};
use super::workloads::{follow, stuck};
use crate::waits::{Cure, FactLabel, Waits};
use actions::Action;
use apiserver::validation::Schedule;
use k8s_model::batch::Job;
use k8s_model::{Body, Kind, Object, ObjectRef, Timestamp};
use serde_json::Value;
use std::rc::Rc;

pub fn job(sim: &Context<'_>, object: &Rc<Object>) -> Option<Diagnosis> {
    let body: &Job = object.get()?;
    let (spec, status) = (&body.spec, &body.status);
    if let Some(failed) = status.met("Failed") {
        let mut out = Diagnosis::new(object, Waits::JobFailed(failed.reason.clone()));
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
        let mut out = Diagnosis::new(object, Waits::Suspended);
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
        out.cure(Cure::Unsuspend, &object.meta.name, "", &[run]);
        return Some(out);
    }
    if let Some(worst) = stuck(sim, object.meta.uid, true) {
        let mut out = Diagnosis::new(
            object,
            Waits::Pods {
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
            Waits::BackOff {
                failed: status.failed,
                limit,
            },
        );
        out.count(FactLabel::Failed, status.failed);
        out.count(FactLabel::RetriesAllowed, limit);
        out.at(FactLabel::LooksAgain, sim.looks_again(&object.key()));
        return Some(out);
    }
    None
}

/// Returns true if a run was due since the last one started.
fn missed(sim: &Context<'_>, schedule: &str, status: Option<&Value>) -> bool {
    let last = status
        .and_then(|status| status.get("lastScheduleTime"))
        .and_then(Value::as_str)
        .and_then(Timestamp::parse);
    let next = last.and_then(|last| Schedule::parse(schedule).ok()?.next(last.seconds(), &|_| 0));
    next.is_none_or(|next| next <= sim.server().wall_at(sim.now()).seconds())
}

pub fn cron_job(sim: &Context<'_>, object: &Rc<Object>) -> Option<Diagnosis> {
    let Body::Other(body) = &object.body else {
        return None;
    };
    let (spec, status) = (body.get("spec")?, body.get("status"));
    let text = |name: &str| spec.get(name).and_then(Value::as_str).unwrap_or("");
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
        out.cure(Cure::RunNow, &job, "", &[Action::kubectl(create)]);
    };
    if spec.get("suspend") == Some(&Value::Bool(true)) {
        let mut out = Diagnosis::new(object, Waits::Suspended);
        out.word(FactLabel::Schedule, text("schedule"));
        let resume = line(
            "patch",
            &key,
            " --type=merge -p '{\"spec\":{\"suspend\":false}}'",
        );
        out.cure(Cure::Unsuspend, &object.meta.name, "", &[resume]);
        return Some(out);
    }
    let next = sim.looks_again(&key);
    let zone = text("timeZone");
    if !zone.is_empty() && next.is_none() {
        let mut out = Diagnosis::new(object, Waits::Zone(zone.into()));
        out.cure(
            Cure::KnownZone,
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
    let active = status
        .and_then(|status| status.get("active"))
        .and_then(Value::as_array)
        .and_then(|list| list.first());
    let active = active
        .and_then(|job| job.get("name"))
        .and_then(Value::as_str);
    if let Some(job) = active {
        if text("concurrencyPolicy") != "Forbid" || !missed(sim, text("schedule"), status) {
            return None;
        }
        let run = ObjectRef::new(Kind::Job, &object.meta.namespace, job);
        let mut out = Diagnosis::new(object, Waits::StillRuns(job.into()));
        out.word(FactLabel::Schedule, text("schedule"));
        out.cure(
            Cure::EndRun,
            job,
            "",
            &[line("delete", &run, " --wait=false")],
        );
        out.waits_for = Some(run);
        return Some(out);
    }
    let mut out = Diagnosis::new(object, Waits::NotDue);
    out.word(FactLabel::Schedule, text("schedule"));
    out.at(FactLabel::RunsAgain, Some(next?));
    run_now(&mut out);
    Some(out)
}
