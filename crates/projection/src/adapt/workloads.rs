//! Controllers and their counters.

use super::scope::id;
use super::scope::text;
use crate::model::{
    CardCaption, ControllerCard, Counter, IndexState, MAX_INDEXES, Metric, Tone, counters,
};
use controllers::cronjob::{self, NextRun};
use controllers::job::indexes::Indexes;
use i18n::format::short_count;
use i18n::{Message, msg};
use k8s_model::time::civil;
use k8s_model::workload::Deployment;
use k8s_model::{Body, Kind, Object};

/// Labels that name a workload's application, in order of precedence.
const APP_LABELS: [&str; 3] = ["app.kubernetes.io/name", "app", "k8s-app"];

/// Returns the revision number of a ReplicaSet or a ControllerRevision; 0 if it has none.
pub fn revision(object: &Object) -> i64 {
    if let Body::ControllerRevision(body) = &object.body {
        return body.revision;
    }
    object
        .meta
        .annotation("deployment.kubernetes.io/revision")
        .and_then(|text| text.parse().ok())
        .unwrap_or(0)
}

/// Maximum number of Pods beyond the desired number in an update, including terminating ones: whenever new Pods become ready, as many old
/// ones as both limits allow are deleted, and terminate while the next are created. 0 for Recreate.
pub(super) fn surplus(body: &Deployment) -> i64 {
    let (surge, unavailable) = body.limits();
    2 * surge + unavailable
}

pub(super) fn controller(object: &Object) -> ControllerCard {
    let whole = |n: i32| n.max(0) as u64;
    let mut out = ControllerCard {
        id: id(object),
        leaving: object.meta.is_deleting(),
        ..ControllerCard::default()
    };
    let (desired, template) = match &object.body {
        Body::Deployment(body) => (body.spec.replicas, Some(&body.spec.template)),
        Body::ReplicaSet(body) => (body.spec.replicas, Some(&body.spec.template)),
        Body::StatefulSet(body) => (body.spec.replicas, Some(&body.spec.template)),
        _ => (0, None),
    };
    out.desired = desired.clamp(0, 100_000) as usize;
    out.labels = template
        .map(|template| {
            template
                .labels
                .iter()
                .map(|(key, value)| format!("{key}={value}"))
                .collect()
        })
        .unwrap_or_default();
    match &object.body {
        Body::Deployment(body) => {
            let desired = body.spec.replicas;
            out.counters = counters(
                whole(desired),
                whole(body.status.replicas),
                whole(body.status.ready_replicas),
            );
            out.footer = if body.spec.paused {
                msg::card_paused()
            } else {
                Message::state(&body.spec.strategy.kind)
            };
            out.surplus = surplus(body).clamp(0, 100_000) as usize;
            out.updated = Some(whole(body.status.updated_replicas) as usize);
            if body.is_updating() {
                out.chip = msg::card_updated(
                    short_count(whole(body.status.updated_replicas)),
                    short_count(whole(desired)),
                );
            }
        }
        Body::ReplicaSet(body) => {
            if revision(object) > 0 {
                out.caption = CardCaption::KindRevision(revision(object));
            }
            out.counters = counters(
                whole(body.spec.replicas),
                whole(body.status.replicas),
                whole(body.status.ready_replicas),
            );
            out.footer = object.first_image().map(Message::name).unwrap_or_default();
        }
        Body::StatefulSet(body) => {
            out.counters = counters(
                whole(body.spec.replicas),
                whole(body.status.replicas),
                whole(body.status.ready_replicas),
            );
            out.footer = if body.spec.pod_management_policy.is_empty() {
                Message::state("OrderedReady")
            } else {
                Message::state(&body.spec.pod_management_policy)
            };
            out.claims = !body.spec.volume_claim_templates.is_empty();
            out.members = (
                u32::try_from(body.spec.ordinals.start).unwrap_or(0),
                body.spec.service_name.to_string(),
            );
            if let Some(partition) = body
                .spec
                .update_strategy
                .rolling_update
                .as_ref()
                .and_then(|update| update.partition)
                .filter(|partition| *partition > 0)
            {
                out.chip = msg::card_partition(partition);
            } else if body.status.updated_replicas < body.status.replicas
                && body.status.update_revision != body.status.current_revision
            {
                out.chip = msg::card_updated(
                    short_count(whole(body.status.updated_replicas)),
                    short_count(whole(desired)),
                );
            }
        }
        _ => plain(object, &mut out),
    }
    let of_template = |key: &&str| {
        out.labels
            .iter()
            .find_map(|label| label.strip_prefix(key)?.strip_prefix('='))
    };
    let own = |key: &&str| object.meta.label(key).map(|value| value.as_str());
    out.app = APP_LABELS
        .iter()
        .find_map(own)
        .or_else(|| APP_LABELS.iter().find_map(of_template))
        .unwrap_or_default()
        .to_owned();
    out
}

/// Returns the time of day of a CronJob's next run in its time zone, `02:30`; its date if that is another day, `03-01`.
fn next_run(object: &Object) -> Option<String> {
    const DAY: i64 = 86_400;
    let NextRun { after, at } = cronjob::next_run(object)?;
    Some(if at - after < DAY {
        let minute = at.rem_euclid(DAY) / 60;
        format!("{:02}:{:02}", minute / 60, minute % 60)
    } else {
        let (_, month, day) = civil(at.div_euclid(DAY));
        format!("{month:02}-{day:02}")
    })
}

/// Returns the indexes of an Indexed Job by their states; empty for another Job, or one of too many.
fn indexes(job: &serde_json::Value) -> Vec<IndexState> {
    let indexed = text(job.pointer("/spec/completionMode")) == "Indexed";
    let completions = job
        .pointer("/spec/completions")
        .and_then(serde_json::Value::as_i64);
    let Some(all) = completions.filter(|all| indexed && (1..=MAX_INDEXES).contains(all)) else {
        return Vec::new();
    };
    let set = |path: &str| Indexes::parse(&text(job.pointer(path)), all);
    let (completed, failed) = (
        set("/status/completedIndexes"),
        set("/status/failedIndexes"),
    );
    let state = |index| match index {
        _ if failed.has(index) => IndexState::Failed,
        _ if completed.has(index) => IndexState::Completed,
        _ => IndexState::Open,
    };
    (0..all).map(state).collect()
}

/// Reads the kinds that are stored as JSON: DaemonSets, Jobs, CronJobs.
pub(super) fn plain(object: &Object, out: &mut ControllerCard) {
    let value = object.to_value();
    let number = |path: &str| value.pointer(path).and_then(serde_json::Value::as_i64);
    let count = |path: &str| number(path).unwrap_or(0).max(0) as u64;
    let word = |value: u64, metric: Metric, tone: Tone| Counter {
        value: i18n::format::count(value as usize),
        metric,
        tone,
        lags: Message::default(),
    };
    let of = if object.kind == Kind::CronJob {
        "/spec/jobTemplate/spec/template/metadata/labels"
    } else {
        "/spec/template/metadata/labels"
    };
    let labels = value
        .pointer(of)
        .and_then(serde_json::Value::as_object)
        .into_iter()
        .flatten();
    out.labels = labels
        .map(|(key, value)| format!("{key}={}", text(Some(value))))
        .collect();
    match object.kind {
        Kind::DaemonSet => {
            let desired = count("/status/desiredNumberScheduled");
            out.desired = desired as usize;
            out.counters = counters(
                desired,
                count("/status/currentNumberScheduled"),
                count("/status/numberReady"),
            );
            let updated = count("/status/updatedNumberScheduled");
            out.footer = msg::card_nodes_match(desired);
            if updated < desired && number("/status/updatedNumberScheduled").is_some() {
                out.chip = msg::card_updated(short_count(updated), short_count(desired));
            }
        }
        Kind::Job => {
            let done = count("/status/succeeded");
            let wanted = number("/spec/completions").map_or(String::new(), |n| format!("/{n}"));
            let failed = count("/status/failed");
            let complete = number("/spec/completions").is_some_and(|n| done as i64 >= n);
            out.counters = vec![
                Counter {
                    value: format!("{done}{wanted}"),
                    tone: if complete { Tone::Ok } else { Tone::Plain },
                    ..word(done, Metric::Done, Tone::Plain)
                },
                word(count("/status/active"), Metric::Active, Tone::Plain),
                word(
                    failed,
                    Metric::Failed,
                    if failed > 0 { Tone::Off } else { Tone::Plain },
                ),
            ];
            // Failures that no new Pod has replaced yet: each gets one, unless there are too many.
            let wanted = match number("/spec/completions") {
                Some(all) => (all - done as i64).min(number("/spec/parallelism").unwrap_or(1)),
                None if done > 0 => 0,
                None => number("/spec/parallelism").unwrap_or(1),
            };
            let owed = (wanted - count("/status/active") as i64).clamp(0, failed as i64);
            let left = number("/spec/backoffLimit")
                // With a limit for each index there is none for the Job.
                .filter(|limit| failed as i64 <= *limit && *limit < i64::from(i32::MAX))
                .map(|limit| limit - failed as i64 + owed);
            out.footer = msg::card_parallelism(number("/spec/parallelism").unwrap_or(1));
            out.indexes = indexes(&value);
            let conditions = value
                .pointer("/status/conditions")
                .and_then(serde_json::Value::as_array);
            let holds = |kind: &str| {
                conditions
                    .into_iter()
                    .flatten()
                    .any(|c| c["type"] == kind && c["status"] == "True")
            };
            out.chip = match () {
                () if holds("Complete") => Message::state("Complete"),
                () if holds("Failed") => Message::state("Failed"),
                () if holds("Suspended") => Message::state("Suspended"),
                () => left
                    .filter(|_| failed > 0)
                    .map(msg::card_retries_left)
                    .unwrap_or_default(),
            };
        }
        Kind::CronJob => {
            let active = value
                .pointer("/status/active")
                .and_then(serde_json::Value::as_array)
                .map_or(0, Vec::len);
            out.counters = vec![word(active as u64, Metric::Active, Tone::Plain)];
            out.counters.extend(next_run(object).map(|value| Counter {
                value,
                ..word(0, Metric::Next, Tone::Plain)
            }));
            out.footer = Message::name(text(value.pointer("/spec/schedule")));
            out.chip = if value.pointer("/spec/suspend") == Some(&serde_json::Value::Bool(true)) {
                msg::card_suspended()
            } else {
                Message::state(text(value.pointer("/spec/concurrencyPolicy")))
            };
        }
        _ => {}
    }
}
