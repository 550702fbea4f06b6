//! Counters of a status that lag behind the Pods.

use crate::adapt::{Pods, Scope};
use crate::model::Model;
use crate::totals::{self, PodTotals};
use cluster::Sim;
use k8s_model::batch::Job;
use k8s_model::{Kind, Object, ObjectRef, Uid};
use std::rc::Rc;

/// Marks the counters that differ from the Pods. With a filter none is marked: a filtered tree does not match its status.
pub fn mark(model: &mut Model, sim: &Sim, pods: &Pods, scope: &Scope, all_read: bool) {
    if !scope.filter.trim().is_empty() {
        return;
    }
    totals::mark_stale_counters(&mut model.roots, &|id| {
        // The caches of the loops may lag: the Pods drawn are used.
        if all_read {
            let mut totals = pods.totals(Uid::parse(&id.uid)?);
            if id.kind == "Job" {
                let job = sim
                    .store()
                    .get(&ObjectRef::new(Kind::Job, &id.namespace, &id.name));
                as_its_job_counts(sim, job?, &mut totals);
            }
            return Some(totals);
        }
        let mut all = PodTotals::default();
        for alike in sim
            .informers
            .controller_manager
            .cache
            .tally(Uid::parse(&id.uid)?)?
        {
            all.all += alike.pods;
            all.active += alike.active;
            all.ready += alike.ready;
            all.leaving += alike.terminating;
        }
        Some(all)
    });
}

/// Removes from the totals of a Job's Pods those that the Job does not count.
fn as_its_job_counts(sim: &Sim, object: &Object, pods: &mut PodTotals) {
    let Some(job) = object.get::<Job>() else {
        return;
    };
    // A policy may ignore failures, so that not every one counts.
    if job.spec.pod_failure_policy.is_some() {
        pods.failed = 0;
    }
    let counted = usize::try_from(job.status.succeeded).unwrap_or(0);
    if job.spec.completion_mode != "Indexed" || pods.succeeded <= counted {
        return;
    }
    // Very many Pods are not visited one by one.
    pods.succeeded = if pods.all > 2_000 {
        counted
    } else {
        let succeeded =
            |pod: &&Rc<Object>| pod.pod().is_some_and(|pod| pod.status.phase == "Succeeded");
        let index = |pod: &Rc<Object>| {
            pod.meta
                .annotation("batch.kubernetes.io/job-completion-index")?
                .parse()
                .ok()
        };
        let all = sim
            .informers
            .controller_manager
            .cache
            .owned_of_kind(object.meta.uid, Kind::Pod)
            .filter(succeeded)
            .filter_map(index);
        totals::indexes(all, job.spec.completions.map_or(0, i64::from))
    };
}
