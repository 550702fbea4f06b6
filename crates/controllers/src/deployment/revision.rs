//! Selection of the new ReplicaSet, and the revision of each.
//!
//! Models `getAllReplicaSetsAndSyncRevision` and `getNewReplicaSet` in `pkg/controller/deployment/sync.go`,
//! and the annotation helpers of `util/deployment_util.go`.

use super::{DeploymentPass, Sets, replicas, set_of, total};
use apiserver::why::Why;
use apiserver::{ApiError, StatusReason};
use k8s_model::json::Json as _;
use k8s_model::pod_template::PodTemplate;
use k8s_model::workload::{Condition, ReplicaSet, WorkloadSpec};
use k8s_model::{Body, Kind, Object, ObjectMeta, Str};
use smol_str::format_smolstr;
use std::rc::Rc;

pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";
const HISTORY: &str = "deployment.kubernetes.io/revision-history";
pub(super) const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
pub(super) const MAX: &str = "deployment.kubernetes.io/max-replicas";
const HASH: &str = "pod-template-hash";
/// Annotations that are not copied from the Deployment to its ReplicaSets.
const KEPT: [&str; 6] = [
    k8s_model::meta::LAST_APPLIED,
    REVISION,
    HISTORY,
    DESIRED,
    MAX,
    "deprecated.deployment.rollback.to",
];

pub(super) fn revision_of(object: &Object) -> i64 {
    object
        .meta
        .annotation(REVISION)
        .and_then(|v| v.parse().ok())
        .unwrap_or(0)
}

pub(super) fn by_creation(a: &Rc<Object>, b: &Rc<Object>) -> std::cmp::Ordering {
    (a.meta.creation_timestamp, &a.meta.name).cmp(&(b.meta.creation_timestamp, &b.meta.name))
}

impl DeploymentPass<'_, '_, '_> {
    /// Splits the ReplicaSets into the new one and the old ones; creates the new one if it is missing and `create` is set.
    pub(super) fn sync_revision(
        &mut self,
        sets: &[Rc<Object>],
        create: bool,
    ) -> Result<Sets, ApiError> {
        let mut sorted = sets.to_vec();
        sorted.sort_by(by_creation);
        let new = sorted
            .iter()
            .position(|set| self.has_current_template(set))
            .map(|i| sorted.remove(i));
        let newest = sorted.iter().map(|set| revision_of(set)).max().unwrap_or(0) + 1;
        let new = match new {
            Some(existing) => Some(self.keep_new_set(existing, newest)?),
            None if create => Some(self.make_new_set(&sorted, newest)?),
            None => None,
        };
        Ok(Sets { new, old: sorted })
    }

    /// Returns true if a ReplicaSet has the current template, ignoring the hash label that only ReplicaSets have.
    fn has_current_template(&self, set: &Object) -> bool {
        let template = &set_of(set).spec.template;
        *self.deployment().spec.template == template.without_label(HASH)
    }

    fn keep_new_set(&mut self, existing: Rc<Object>, newest: i64) -> Result<Rc<Object>, ApiError> {
        let mut copy = (*existing).clone();
        let min_ready = self.deployment().spec.min_ready_seconds;
        let stale_min_ready = set_of(&existing).spec.min_ready_seconds != min_ready;
        let annotated = self.annotate_set(&mut copy.meta, newest, true);
        if annotated || stale_min_ready {
            if let Body::ReplicaSet(set) = &mut copy.body {
                set.spec.rest = set.spec.rest.edited(|raw| {
                    raw.insert("minReadySeconds".into(), min_ready.into());
                    if min_ready == 0 {
                        raw.remove("minReadySeconds");
                    }
                });
            }
            return self
                .out
                .update(&existing, Why::Revision { revision: newest }, |o| *o = copy);
        }
        let revision = revision_of(&existing);
        let found = self.deployment().spec.progress_deadline_seconds.is_some()
            && self.deployment().status.condition("Progressing").is_none();
        let condition = found.then(|| {
            (
                "True",
                "FoundNewReplicaSet",
                format!("Found new replica set {:?}", existing.meta.name.as_str()),
            )
        });
        self.write_revision(revision, condition)?;
        Ok(existing)
    }

    fn make_new_set(&mut self, old: &[Rc<Object>], newest: i64) -> Result<Rc<Object>, ApiError> {
        let (object, wanted, surge) = (self.object.clone(), self.wanted(), self.max_surge());
        let spec = self.deployment().spec.clone();
        let hash = spec.template.hash(self.deployment().status.collision_count);
        let template = Rc::new(spec.template.with_label(HASH, &hash));
        let now = total(old.iter());
        let rolling = spec.strategy.kind != "Recreate";
        let count = if rolling {
            wanted
                .saturating_add(surge)
                .saturating_sub(now)
                .clamp(0, wanted)
        } else {
            wanted
        };
        let mut meta = ObjectMeta {
            name: format_smolstr!("{}-{hash}", object.meta.name),
            namespace: object.meta.namespace.clone(),
            labels: template.labels.clone(),
            owner_references: Rc::new(vec![object.controller_reference()]),
            ..Default::default()
        };
        self.annotate_set(&mut meta, newest, false);
        let set = new_set(meta, template, count, &hash, &spec);
        let name = set.meta.name.clone();
        let created = match self.out.create(
            set,
            Why::NewTemplate {
                hash: hash.clone(),
                replicas: count,
            },
        ) {
            Ok(created) => created,
            Err(error) => return self.creation_failed(error, &name, newest),
        };
        if count > 0 {
            self.out.event(
                &object,
                "Normal",
                "ScalingReplicaSet",
                format_smolstr!("Scaled up replica set {name} from 0 to {count}"),
            );
        }
        let condition = self.deployment().spec.progress_deadline_seconds.map(|_| {
            (
                "True",
                "NewReplicaSetCreated",
                format!("Created new replica set {:?}", name.as_str()),
            )
        });
        self.write_revision(newest, condition)?;
        Ok(created)
    }

    /// Handles a failed creation: if the name is taken by a set of another template, a hash collision, the collision count is raised.
    fn creation_failed(
        &mut self,
        error: ApiError,
        name: &Str,
        newest: i64,
    ) -> Result<Rc<Object>, ApiError> {
        let key = k8s_model::ObjectRef::new(Kind::ReplicaSet, &self.object.meta.namespace, name);
        if error.reason == StatusReason::AlreadyExists
            && let Some(existing) = self.out.store().get(&key).cloned()
        {
            if existing.meta.is_controlled_by(self.object.meta.uid)
                && self.has_current_template(&existing)
            {
                self.write_revision(newest, None)?;
                return Ok(existing);
            }
            let object = self.object.clone();
            self.object = self.out.update_status(&object, Why::Observed, |o| {
                if let Body::Deployment(d) = &mut o.body {
                    d.status.collision_count = Some(d.status.collision_count.unwrap_or(0) + 1);
                }
            })?;
            return Err(error);
        }
        let revision = revision_of(&self.object);
        self.write_revision(
            revision,
            Some(("False", "ReplicaSetCreateError", error.message.clone())),
        )?;
        Err(error)
    }

    /// Writes revision and Progressing condition of the Deployment in one write.
    fn write_revision(
        &mut self,
        revision: i64,
        condition: Option<(&'static str, &'static str, String)>,
    ) -> Result<(), ApiError> {
        let (wall, object) = (self.wall, self.object.clone());
        if revision_of(&object) == revision && condition.is_none() {
            return Ok(());
        }
        self.object = self
            .out
            .update_status(&object, Why::Revision { revision }, |o| {
                o.meta.annotate(REVISION, &revision.to_string());
                if let (Body::Deployment(d), Some((status, reason, message))) =
                    (&mut o.body, condition)
                {
                    set_condition(
                        &mut d.status.conditions,
                        "Progressing",
                        status,
                        reason,
                        &message,
                        wall,
                    );
                }
            })?;
        Ok(())
    }

    /// Copies the Deployment's annotations and sets the revision; returns true if anything changed.
    fn annotate_set(&self, meta: &mut ObjectMeta, newest: i64, exists: bool) -> bool {
        let mut changed = false;
        for (key, value) in self.object.meta.annotations.iter() {
            if !KEPT.contains(&key.as_str()) {
                changed |= meta.annotate(key, value);
            }
        }
        let before: Option<i64> = meta.annotation(REVISION).and_then(|v| v.parse().ok());
        if before.unwrap_or(0) < newest {
            let earlier = before.map(|b| match meta.annotation(HISTORY) {
                Some(list) if !list.is_empty() => format!("{list},{b}"),
                _ => b.to_string(),
            });
            meta.annotate(REVISION, &newest.to_string());
            if let Some(list) = earlier {
                meta.annotate(HISTORY, &list);
            }
            changed = true;
        }
        if !exists {
            changed |= annotate_size(
                meta,
                self.wanted(),
                self.wanted().saturating_add(self.max_surge()),
            );
        }
        changed
    }

    /// Deletes old, empty ReplicaSets beyond the history limit.
    pub(super) fn clean_up(&mut self, old: &[Rc<Object>]) -> Result<(), ApiError> {
        let Some(limit) = self.deployment().spec.revision_history_limit else {
            return Ok(());
        };
        let mut alive: Vec<_> = old.iter().filter(|set| !set.meta.is_deleting()).collect();
        alive.sort_by_key(|set| revision_of(set));
        let surplus = alive.len().saturating_sub(limit as usize);
        for set in alive.into_iter().take(surplus) {
            let status = &set_of(set).status;
            if status.replicas == 0
                && replicas(set) == 0
                && set.meta.generation <= status.observed_generation
            {
                self.out.delete(
                    &set.key(),
                    Default::default(),
                    Why::HistoryLimit {
                        field: "revisionHistoryLimit",
                        limit,
                    },
                )?;
            }
        }
        Ok(())
    }
}

/// Sets the two annotations that record the Deployment's size for which a ReplicaSet was scaled.
pub(super) fn annotate_size(meta: &mut ObjectMeta, desired: i32, max: i32) -> bool {
    let desired = meta.annotate(DESIRED, &desired.to_string());
    meta.annotate(MAX, &max.to_string()) || desired
}

fn new_set(
    meta: ObjectMeta,
    template: Rc<PodTemplate>,
    count: i32,
    hash: &Str,
    spec: &WorkloadSpec<k8s_model::workload::DeploymentSpec>,
) -> Object {
    let mut selector = spec.selector.clone();
    Rc::make_mut(&mut selector.match_labels).insert(Str::new_static(HASH), hash.clone());
    let mut raw = serde_json::json!({ "selector": selector.write() });
    if spec.min_ready_seconds > 0 {
        raw["minReadySeconds"] = spec.min_ready_seconds.into();
    }
    let rest = k8s_model::spec::Spec::from_raw(Some(raw)).unwrap_or_default();
    Object {
        kind: Kind::ReplicaSet,
        meta,
        body: Body::ReplicaSet(Box::new(ReplicaSet {
            spec: WorkloadSpec {
                replicas: count,
                template,
                rest,
            },
            status: Default::default(),
        })),
    }
}

/// Sets a condition. A condition of the same status and reason is left untouched; one of the same status keeps its transition time.
pub(super) fn set_condition(
    list: &mut Vec<Condition>,
    kind: &'static str,
    status: &'static str,
    reason: &'static str,
    message: &str,
    now: k8s_model::Timestamp,
) {
    let current = list.iter().find(|c| c.kind == kind);
    if current.is_some_and(|c| c.status == status && c.reason == reason) {
        return;
    }
    let since = current
        .filter(|c| c.status == status)
        .and_then(|c| c.last_transition_time)
        .unwrap_or(now);
    list.retain(|c| c.kind != kind);
    list.push(Condition {
        kind: Str::new_static(kind),
        status: Str::new_static(status),
        reason: Str::new_static(reason),
        message: message.into(),
        last_update_time: Some(now),
        last_transition_time: Some(since),
    });
}
