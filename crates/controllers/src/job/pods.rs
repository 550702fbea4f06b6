//! Creates and deletes the Pods of a Job.
//!
//! Guarantees: a Pod is created with the finalizer that holds it until it is counted; no Pod is created during the back-off
//! after a failure; a pass either creates or deletes Pods.
//! Models `manageJob` of `pkg/controller/job/job_controller.go`.

use super::super::deletion_order;
use super::super::ownership::JOB_TRACKING;
use super::backoff::BackoffRecord;
use super::indexes::{INDEX, Indexes, index_of};
use super::policy::{PolicyVerdict, judge};
use super::{BATCH_US, JobPass, backoff, is_ready, is_terminating, untrack};
use apiserver::why::{DeletionRank, Retry, Why};
use apiserver::{ApiError, DeleteOptions, StatusReason};
use controller_runtime::client::{LoopClient, PassView};
use k8s_model::pod::{Pod, PodSpec};
use k8s_model::{Body, Duration, Kind, Labels, Object, ObjectMeta, Str};
use serde_json::{Value, json};
use smol_str::format_smolstr;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Maximum number of Pods created or deleted in one pass.
const BURST: usize = 500;
/// Annotations: earlier failures of an index, and the number of them that were ignored.
pub const FAILURES: &str = "batch.kubernetes.io/job-index-failure-count";
const IGNORED: &str = "batch.kubernetes.io/job-index-ignored-failure-count";
const INDEX_VARIABLE: &str = "JOB_COMPLETION_INDEX";
/// Length to which generated names are cut before their random suffix.
const MAX_NAME_PREFIX_LEN: usize = 58;

/// Returns the number in an annotation of a Pod, or 0.
pub fn count_of(pod: &Object, annotation: &str) -> i64 {
    pod.meta
        .annotation(annotation)
        .and_then(|text| text.parse().ok())
        .unwrap_or(0)
}

/// Returns the number of earlier failures of the Pod's index.
pub fn all_failures(pod: &Object) -> i64 {
    count_of(pod, FAILURES) + count_of(pod, IGNORED)
}

impl JobPass<'_> {
    /// Adjusts the number of active Pods to the desired one; returns the resulting number.
    pub(super) fn manage(
        &mut self,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> (i32, Result<(), ApiError>) {
        let active = self.active.len() as i32;
        if self.spec.suspend {
            let (deleted, result) =
                self.delete_pods(&self.active.clone(), true, Why::JobSuspended, out);
            return (active - deleted, result);
        }
        let parallelism = i64::from(self.spec.parallelism.unwrap_or(1));
        let wanted = match self.spec.completions {
            // A work queue whose first Pod has succeeded gets no new Pods.
            None if self.succeeded > 0 => active,
            None => parallelism as i32,
            Some(_) => (self.completions() - self.succeeded)
                .min(parallelism)
                .max(0) as i32,
        };
        let surplus = self.surplus((active - wanted).max(0) as usize, view);
        if !surplus.is_empty() {
            let why = Why::TooMany {
                have: active,
                want: wanted,
                rank: DeletionRank::Equal,
                stays: Default::default(),
            };
            let (deleted, result) = self.delete_pods(&surplus, true, why, out);
            return (active - deleted, result);
        }
        let missing = wanted
            - active
            - if self.only_replaces_failed() {
                self.terminating
            } else {
                0
            };
        // Failures covered by a reduced parallelism are not replaced by new Pods later.
        self.record.unreplaced = self.record.unreplaced.min(i64::from(missing.max(0)));
        if missing <= 0 {
            return (active, Ok(()));
        }
        match self.places(missing as usize, view) {
            Ok(places) => {
                let (made, result) = self.create_pods(&places, active, wanted, out);
                self.record.unreplaced = (self.record.unreplaced - i64::from(made)).max(0);
                (active + made, result)
            }
            Err(remaining) => {
                self.requeue_after(remaining.max(BATCH_US));
                // v1.36.2 does this; when other Pods of the Job are ready, the API server refuses that status, and
                // nothing is counted until the back-off is over (issue 139428).
                (0, Ok(()))
            }
        }
    }

    /// Returns the indexes that get a Pod now, `None` for each Pod without an index; the error is the remaining back-off.
    fn places(&self, missing: usize, view: &PassView<'_>) -> Result<Vec<Option<i64>>, Duration> {
        let per_index = self.spec.backoff_limit_per_index.is_some();
        if !per_index {
            match self.record.remaining(view) {
                0 => {}
                remaining => return Err(remaining),
            }
        }
        let missing = missing.min(BURST);
        let Some((_, succeeded)) = &self.indexes else {
            return Ok(vec![None; missing]);
        };
        let mut taken = succeeded.clone();
        let still_there = self
            .pods
            .iter()
            .filter(|pod| self.only_replaces_failed() && is_terminating(pod));
        for index in self
            .active
            .iter()
            .chain(still_there)
            .filter_map(|pod| index_of(pod))
        {
            taken.add(index, index);
        }
        taken.merge(self.failed_indexes.as_ref().unwrap_or(&Indexes::default()));
        let places = taken.missing(missing, self.completions());
        if !per_index {
            return Ok(places.into_iter().map(Some).collect());
        }
        let (mut now, mut soonest) = (Vec::new(), None);
        for index in places {
            match self.replaced_at(index).map_or(0, |pod| {
                BackoffRecord {
                    failures: all_failures(pod) + 1,
                    last: backoff::ended_at(pod),
                    unreplaced: 1,
                }
                .remaining(view)
            }) {
                0 => now.push(Some(index)),
                remaining => soonest = Some(soonest.map_or(remaining, |s: u64| s.min(remaining))),
            }
        }
        match soonest {
            Some(remaining) if now.is_empty() => Err(remaining),
            _ => Ok(now),
        }
    }

    /// Returns the failed Pod whose failure count a new Pod of this index takes over.
    fn replaced_at(&self, index: i64) -> Option<&Rc<Object>> {
        let at = self
            .replaced
            .binary_search_by_key(&index, |(i, _)| *i)
            .ok()?;
        self.replaced.get(at).map(|(_, pod)| pod)
    }

    /// Returns the Pods to delete: those without a valid index of their own, then in the ReplicaSet's deletion order.
    fn surplus(&self, at_least: usize, view: &PassView<'_>) -> Vec<Rc<Object>> {
        let (mut gone, mut left, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
        if at_least == 0 && !self.is_indexed() {
            return gone;
        }
        for ranked in deletion_order::of_pods(&self.object, &self.active, usize::MAX, view)
            .into_iter()
            .rev()
        {
            let (pod, index) = (ranked.pod.clone(), self.good_index(ranked.pod));
            let good = !self.is_indexed() || index.is_some_and(|index| seen.insert(index));
            if good { left.push(pod) } else { gone.push(pod) }
        }
        let more = at_least.saturating_sub(gone.len()).min(left.len());
        gone.extend(left.into_iter().rev().take(more));
        gone.truncate(BURST);
        gone
    }

    /// Deletes Pods, releasing them first if they must not be counted; returns the number deleted.
    pub(super) fn delete_pods(
        &mut self,
        pods: &[Rc<Object>],
        release: bool,
        why: Why,
        out: &mut LoopClient<'_>,
    ) -> (i32, Result<(), ApiError>) {
        let object = self.object.clone();
        let (mut deleted, mut result) = (0, Ok(()));
        if release {
            result = out.together(|out| {
                pods.iter()
                    .try_for_each(|pod| untrack(&pod.key(), why.clone(), out))
            });
        }
        out.together(|out| {
            for pod in pods {
                match out.delete(&pod.key(), DeleteOptions::of_uid(pod.meta.uid), why.clone()) {
                    Ok(_) => out.event(
                        &object,
                        "Normal",
                        "SuccessfulDelete",
                        format_smolstr!("Deleted pod: {}", pod.meta.name),
                    ),
                    Err(error) if error.reason == StatusReason::NotFound => {}
                    Err(error) => {
                        result = Err(error);
                        continue;
                    }
                }
                deleted += 1;
                self.ready -= i32::from(is_ready(pod));
            }
        });
        self.terminating += deleted;
        (deleted, result)
    }

    /// Creates Pods with slow start: a batch of 1, then 2, 4, 8… as long as every creation succeeds; returns the number created.
    fn create_pods(
        &self,
        places: &[Option<i64>],
        have: i32,
        want: i32,
        out: &mut LoopClient<'_>,
    ) -> (i32, Result<(), ApiError>) {
        let template = self
            .indexes
            .as_ref()
            .map(|_| indexed_spec(&self.spec.template.spec.raw));
        let (mut made, mut batch, mut rest) = (0, 1, places);
        let (last, retries) = (self.last_failed(), self.record.unreplaced);
        while !rest.is_empty() {
            let (now, later) = rest.split_at(batch.min(rest.len()));
            let mut failed = None;
            out.together(|out| {
                for place in now {
                    let why = self
                        .retries(
                            *place,
                            last.filter(|_| i64::from(made) < retries),
                            have,
                            want,
                        )
                        .unwrap_or(Why::TooFew { have, want });
                    match out.create(self.new_pod(*place, template.as_ref()), why) {
                        Ok(pod) => {
                            made += 1;
                            out.event(
                                &self.object,
                                "Normal",
                                "SuccessfulCreate",
                                format_smolstr!("Created pod: {}", pod.meta.name),
                            );
                        }
                        Err(error) if error.is_of_terminating_namespace() => {}
                        Err(error) => {
                            out.event(
                                &self.object,
                                "Warning",
                                "FailedCreate",
                                format_smolstr!("Error creating: {error}"),
                            );
                            failed = Some(error);
                        }
                    }
                }
            });
            if let Some(error) = failed {
                return (made, Err(error));
            }
            rest = later;
            batch *= 2;
        }
        (made, Ok(()))
    }

    /// Returns the Pod that failed last, if none has succeeded since; `None` if each index has its own limit.
    fn last_failed(&self) -> Option<&Rc<Object>> {
        if self.record.failures == 0 || self.spec.backoff_limit_per_index.is_some() {
            return None;
        }
        self.pods
            .iter()
            .filter(|pod| self.is_failed(pod))
            .max_by_key(|pod| backoff::ended_at(pod))
    }

    /// Returns the failure that a new Pod retries, if there was one since the last success.
    fn retries(
        &self,
        place: Option<i64>,
        last: Option<&Rc<Object>>,
        have: i32,
        want: i32,
    ) -> Option<Why> {
        let (failed, record) = match place.filter(|_| self.spec.backoff_limit_per_index.is_some()) {
            Some(index) => {
                let pod = self.replaced_at(index)?;
                (
                    pod,
                    BackoffRecord {
                        failures: all_failures(pod) + 1,
                        ..BackoffRecord::default()
                    },
                )
            }
            None => (last?, self.record),
        };
        let pod = failed.meta.name.clone();
        Some(Why::Retry(Box::new(Retry {
            have,
            want,
            pod,
            how: how_it_failed(failed),
            back_off: record.seconds(),
        })))
    }

    fn new_pod(&self, place: Option<i64>, indexed: Option<&Value>) -> Object {
        let (meta, template) = (&self.object.meta, &self.spec.template);
        let mut new = ObjectMeta {
            finalizers: vec![Str::new_static(JOB_TRACKING)].into(),
            ..self.object.pod_meta(template)
        };
        let mut spec = template.spec.clone();
        if let (Some(index), Some(raw)) = (place, indexed) {
            let end = format_smolstr!("-{index}-");
            let stem = meta
                .name
                .get(..MAX_NAME_PREFIX_LEN - end.len())
                .unwrap_or(&meta.name);
            new.generate_name = format_smolstr!("{stem}{end}").into();
            put(&mut new.labels, INDEX, index);
            put(&mut new.annotations, INDEX, index);
            if self.spec.backoff_limit_per_index.is_some() {
                self.put_failures(&mut new.annotations, self.replaced_at(index));
            }
            let mut raw = raw.clone();
            raw["hostname"] = Value::String(format!("{}-{index}", meta.name));
            spec = PodSpec::from_raw(raw).unwrap_or(spec);
        }
        Object {
            kind: Kind::Pod,
            meta: new,
            body: Body::Pod(Box::new(Pod::new(spec))),
        }
    }

    /// Annotates a new Pod with the failures of its index.
    fn put_failures(&self, annotations: &mut Labels, before: Option<&Rc<Object>>) {
        let (mut failures, mut ignored) = before.map_or((0, 0), |pod| {
            (count_of(pod, FAILURES), count_of(pod, IGNORED))
        });
        match before.map(|pod| judge(self.spec, pod)) {
            None => {}
            Some(PolicyVerdict::Ignore) => ignored += 1,
            Some(_) => failures += 1,
        }
        put(annotations, FAILURES, failures);
        if ignored > 0 {
            put(annotations, IGNORED, ignored);
        }
    }
}

/// Returns the cause of a Pod's failure: the reason of its status says more than the exit code of a container that was stopped.
fn how_it_failed(object: &Object) -> Str {
    let Some(status) = object.pod().map(|pod| &pod.status) else {
        return Str::default();
    };
    if !status.reason.is_empty() {
        return status.reason.to_str();
    }
    let all = status
        .init_container_statuses
        .iter()
        .chain(&status.container_statuses);
    let code = all
        .filter_map(|one| one.state.terminated.as_ref())
        .map(|end| end.exit_code)
        .find(|code| *code != 0);
    match code {
        Some(code) => format_smolstr!("exit code {code}"),
        None if object.meta.is_deleting() => "deleted".into(),
        None => status.phase.to_str(),
    }
}

fn put(labels: &mut Labels, key: &'static str, value: i64) {
    Rc::make_mut(labels).insert(Str::new_static(key), format_smolstr!("{value}"));
}

/// Returns the template's spec with the variable that tells each container its index.
fn indexed_spec(raw: &Value) -> Value {
    let mut spec = raw.clone();
    for list in ["initContainers", "containers"] {
        for container in spec
            .get_mut(list)
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            let known = container["env"]
                .as_array()
                .is_some_and(|env| env.iter().any(|v| v["name"] == INDEX_VARIABLE));
            if known {
                continue;
            }
            let path = format!("metadata.labels['{INDEX}']");
            let variable = json!({ "name": INDEX_VARIABLE, "valueFrom": { "fieldRef": { "apiVersion": "v1", "fieldPath": path } } });
            match &mut container["env"] {
                Value::Array(env) => env.push(variable),
                none => *none = Value::Array(vec![variable]),
            }
        }
    }
    spec
}
