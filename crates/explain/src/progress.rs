//! Progress of a workload, by its Pods: for the pill over the diagram and similar labels.

use i18n::format::middle;
use i18n::{Message, msg};
use k8s_model::batch::Job;
use k8s_model::{Body, Kind, Object};
use projection::model::PodState;
use projection::totals::PodTotals;

/// Progress of a Job.
pub fn of_job(job: &Job, pods: PodTotals) -> (Message, PodState) {
    if let Some(failed) = job.status.met("Failed") {
        return (msg::job_failed(&failed.reason), PodState::Failed);
    }
    if job.status.met("Complete").is_some() {
        return (msg::job_complete(), PodState::Succeeded);
    }
    let (spec, done) = (
        &job.spec,
        pods.succeeded.max(number_of(job.status.succeeded)),
    );
    if spec.suspend {
        return (msg::job_suspended(), PodState::Pending);
    }
    if spec.parallelism == Some(0) && pods.active == 0 {
        return (msg::job_paused(), PodState::Pending);
    }
    let counted = number_of(job.status.failed);
    // A policy may ignore failures, so that not every one counts.
    let failed = if spec.pod_failure_policy.is_some() {
        counted
    } else {
        counted.max(pods.failed)
    };
    let enough = spec
        .completions
        .map_or(done > 0, |all| done >= number_of(all));
    if pods.active == 0 && failed > 0 && !enough {
        let ends = failed > spec.backoff_limit.map_or(usize::MAX, number_of)
            || job.status.met("FailureTarget").is_some();
        let words = if ends {
            msg::job_failing(failed)
        } else {
            msg::job_waiting_to_retry(failed)
        };
        return (words, PodState::NotReady);
    }
    let words = match spec.completions {
        Some(all) => msg::job_running_of(done.min(number_of(all)), all),
        None => msg::job_running(),
    };
    (words, PodState::Creating)
}

fn number_of(of: i32) -> usize {
    usize::try_from(of).unwrap_or(0)
}

/// Progress of a workload, by its existing Pods: its status may lag behind them. `None` for other kinds.
pub fn of(object: &Object, pods: PodTotals) -> Option<(Message, PodState)> {
    if let Body::Job(job) = &object.body {
        let (words, state) = of_job(job, pods);
        return Some((msg::progress_job(words), state));
    }
    if let Body::Deployment(b) = &object.body
        && b.status
            .conditions
            .iter()
            .any(|c| c.kind == "Progressing" && c.reason == "ProgressDeadlineExceeded")
    {
        return Some((
            msg::progress_rollout_failed("ProgressDeadlineExceeded"),
            PodState::Failed,
        ));
    }
    // Desired Pods, and Pods of an older template.
    let (desired, old) = match &object.body {
        Body::Deployment(b) => (
            b.spec.replicas,
            b.status.replicas - b.status.updated_replicas,
        ),
        Body::StatefulSet(b)
            if b.spec.update_strategy.kind == "RollingUpdate"
                && b.status.current_revision != b.status.update_revision =>
        {
            let kept = b
                .spec
                .update_strategy
                .rolling_update
                .as_ref()
                .and_then(|rolling| rolling.partition)
                .unwrap_or(0);
            (
                b.spec.replicas,
                b.status.replicas - b.status.updated_replicas - kept,
            )
        }
        Body::StatefulSet(b) => (b.spec.replicas, 0),
        Body::ReplicaSet(b) => (b.spec.replicas, 0),
        Body::DaemonSet(body) => {
            let status = &body.status;
            let rolls = body.spec.update_strategy.kind != "OnDelete";
            let old = if rolls {
                status.desired_number_scheduled - status.updated_number_scheduled
            } else {
                0
            };
            (status.desired_number_scheduled, old)
        }
        _ => return None,
    };
    let desired = number_of(desired);
    let observed = match &object.body {
        Body::Deployment(b) => b.status.observed_generation,
        Body::StatefulSet(b) => b.status.observed_generation,
        Body::ReplicaSet(b) => b.status.observed_generation,
        Body::DaemonSet(b) => b.status.observed_generation,
        _ => object.meta.generation,
    };
    // The existing Pods may be all that an older spec requests.
    if observed < object.meta.generation && pods.ready == desired && pods.active == desired {
        return Some((msg::progress_unobserved(), PodState::Creating));
    }
    Some(
        if pods.ready == desired && pods.active == desired && old <= 0 {
            match pods.leaving {
                0 => (msg::progress_all_ready(), PodState::Ready),
                leaving => (msg::progress_terminating(leaving), PodState::Terminating),
            }
        } else if old > 0 && (object.kind != Kind::Deployment || pods.active > old as usize) {
            let paused = matches!(&object.body, Body::Deployment(b) if b.spec.paused);
            if paused {
                (msg::progress_paused(), PodState::Pending)
            } else {
                (msg::progress_rolling(), PodState::Creating)
            }
        } else if pods.active + pods.leaving < desired {
            let words = msg::progress_too_few(pods.active + pods.leaving, desired, pods.ready);
            (words, PodState::Pending)
        } else if old > 0 && pods.ready >= desired {
            (msg::progress_rolling(), PodState::Creating)
        } else {
            let state = if pods.ready < desired {
                PodState::Creating
            } else {
                PodState::Terminating
            };
            (msg::progress_some_ready(pods.ready, desired), state)
        },
    )
}

/// Progress of a workload with its name, for use among several.
pub fn of_named(object: &Object, pods: PodTotals) -> Message {
    let name = middle(&object.meta.name, 24);
    match &object.body {
        Body::Job(job) => msg::progress_job_named(name, of_job(job, pods).0),
        _ => msg::progress_named(name, of(object, pods).unwrap_or_default().0),
    }
}
