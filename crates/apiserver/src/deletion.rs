//! Deletions: their options, grace periods and finalizers.

use super::admission::AdmissionRequest;
use super::definitions::CLEANUP;
use super::error::{ApiError, StatusReason};
use super::namespace_strategy::{is_held, spec_finalizers};
use super::registry::resource;
use super::server::{ApiServer, Origin};
use crate::why::Why;
use k8s_model::kind::Subresource;
use k8s_model::{Body, Kind, Object, ObjectRef, Str, Timestamp, Uid};
use std::rc::Rc;

/// Maximum grace period in seconds (a century): the clock must stay in the range of dates.
const MAX_GRACE_S: i64 = 3_155_760_000;

/// Propagation policy of a deletion.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Propagation {
    /// Dependents are garbage-collected after the owner is gone.
    #[default]
    Background,
    /// The owner is kept until its dependents are gone.
    Foreground,
    /// Dependents are kept and lose their owner.
    Orphan,
}

/// Options of a deletion. Models `DeleteOptions` of `apimachinery/pkg/apis/meta/v1`.
#[derive(Clone, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeleteOptions {
    /// Grace period in seconds; `None` for that of the Pod's spec.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace_period_seconds: Option<i64>,
    /// Propagation policy; `None` for the default of the kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub propagation_policy: Option<Propagation>,
    /// Preconditions.
    #[serde(skip_serializing_if = "Preconditions::is_empty")]
    pub preconditions: Preconditions,
}

impl DeleteOptions {
    /// Returns the options of a deletion whose dependents are garbage-collected, whatever the default of the kind.
    pub fn background() -> DeleteOptions {
        DeleteOptions {
            propagation_policy: Some(Propagation::Background),
            ..DeleteOptions::default()
        }
    }

    /// Returns the options of a deletion of this object alone, not of a later one of its name.
    pub fn of_uid(uid: Uid) -> DeleteOptions {
        DeleteOptions {
            preconditions: Preconditions::of_uid(uid),
            ..DeleteOptions::default()
        }
    }
}

/// Conditions under which an object is deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Preconditions {
    /// Expected uid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// Expected resourceVersion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_version: Option<String>,
}

impl Preconditions {
    /// Returns the precondition that the object is still the one with this uid.
    pub fn of_uid(uid: Uid) -> Preconditions {
        Preconditions {
            uid: Some(uid.to_string()),
            resource_version: None,
        }
    }

    fn is_empty(&self) -> bool {
        *self == Preconditions::default()
    }

    /// Refuses an object that does not meet the conditions: `BeforeDelete` of `registry/rest/delete.go`.
    pub(super) fn check(&self, object: &Object) -> Result<(), ApiError> {
        let meta = &object.meta;
        let (uid, version) = (meta.uid.to_string(), meta.resource_version.to_string());
        let problem = match (&self.uid, &self.resource_version) {
            (Some(wanted), _) if *wanted != uid => format!(
                "the UID in the precondition ({wanted}) does not match the UID in record ({uid}). The object might have been deleted and then recreated"
            ),
            (_, Some(wanted)) if *wanted != version => format!(
                "the ResourceVersion in the precondition ({wanted}) does not match the ResourceVersion in record ({version}). The object might have been modified"
            ),
            _ => return Ok(()),
        };
        let (kind, name) = (object.kind.group_kind(), meta.name.as_str());
        Err(ApiError {
            reason: StatusReason::Conflict,
            message: format!("Operation cannot be fulfilled on {kind} {name:?}: {problem}"),
            cause: None,
        })
    }
}

impl ApiServer {
    /// Deletes an object, or begins its deletion: Pods get their grace period, finalizers block.
    pub fn delete(
        &mut self,
        origin: &Origin,
        key: &ObjectRef,
        options: DeleteOptions,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        let Some(old) = self.store.get(key).cloned() else {
            let error = ApiError::absent(key);
            self.refuse(origin, key.clone(), &error, why);
            return Err(error);
        };
        if let Err(error) = options.preconditions.check(&old) {
            self.refuse(origin, key.clone(), &error, why);
            return Err(error);
        }
        if key.kind == Kind::Namespace
            && matches!(key.name.as_str(), "default" | "kube-system" | "kube-public")
        {
            let error = ApiError::forbidden(format!(
                "namespaces {:?} is forbidden: this namespace may not be deleted",
                key.name.as_str()
            ));
            self.refuse(origin, key.clone(), &error, why);
            return Err(error);
        }
        let request = AdmissionRequest {
            operation: "DELETE",
            subresource: Subresource::Main,
            object: &old,
            old: Some(&old),
            api_version: None,
        };
        if let Err(error) = self.admit_by_webhooks(origin, request) {
            self.refuse(origin, key.clone(), &error, why);
            return Err(error);
        }
        let mut new = (*old).clone();
        if key.kind == Kind::CustomResourceDefinition && !old.meta.is_deleting() {
            terminate_definition(&mut new, self.store.wall());
        }
        let begins = key.kind == Kind::Namespace && !old.meta.is_deleting();
        if let (true, Body::Other(body)) = (begins, &mut new.body) {
            body.insert(
                "status".into(),
                serde_json::json!({ "phase": "Terminating" }),
            );
        } else if key.kind == Kind::Namespace && !spec_finalizers(&old).is_empty() {
            return Ok(old);
        }
        set_propagation(&mut new, options.propagation_policy);
        let grace = self.grace(&old, options.grace_period_seconds);
        if grace == 0 && !is_held(&new) && !begins {
            return Ok(self.delete_now(origin, &old, new, why));
        }
        let earlier = old.meta.deletion_grace_period_seconds;
        if old.meta.is_deleting() && earlier.is_none_or(|g| g <= grace) && new == *old {
            return Ok(old);
        }
        let begun = old.meta.deletion_timestamp.is_some();
        if !begun || earlier.is_some_and(|g| grace < g) {
            // A shorter period counts from the first request, as the longer one did.
            let first = match (old.meta.deletion_timestamp, earlier) {
                (Some(end), Some(earlier)) => end.seconds().saturating_sub(earlier),
                _ => self.store.wall().seconds(),
            };
            new.meta.deletion_timestamp = Some(Timestamp::new(
                first.saturating_add(grace.clamp(0, MAX_GRACE_S)),
            ));
            // The registry of namespaces sets no grace period.
            new.meta.deletion_grace_period_seconds = (key.kind != Kind::Namespace).then_some(grace);
        }
        if !begun && new.meta.generation > 0 {
            new.meta.generation += 1;
        }
        Ok(self.write(origin, &old, new, why))
    }

    /// Removes an object; a Pod first gets a deletion timestamp with a grace period of 0.
    fn delete_now(
        &mut self,
        origin: &Origin,
        old: &Rc<Object>,
        mut new: Object,
        why: Why,
    ) -> Rc<Object> {
        if old.kind == Kind::Pod && old.meta.deletion_grace_period_seconds.is_none_or(|g| g > 0) {
            if old.meta.deletion_timestamp.is_none() {
                new.meta.deletion_timestamp = Some(self.store.wall());
                new.meta.generation += 1;
            }
            new.meta.deletion_grace_period_seconds = Some(0);
            let shown = self.write(origin, old, new, why.clone());
            return self.remove(origin, &shown, (*shown).clone(), why);
        }
        self.remove(origin, old, new, why)
    }

    /// Returns the grace period of a Pod in seconds: 0 without a kubelet or if the Pod is in a terminal phase.
    fn grace(&self, object: &Object, asked: Option<i64>) -> i64 {
        let Body::Pod(pod) = &object.body else {
            return 0;
        };
        if pod.node_name.is_empty() || pod.is_terminal() {
            return 0;
        }
        // A request without a period leaves a pending deletion as it is.
        let wanted = asked
            .or(object.meta.deletion_grace_period_seconds)
            .or(pod.spec.termination_grace_period_seconds)
            .unwrap_or(30);
        // A negative period counts as the shortest one.
        let wanted = if wanted < 0 { 1 } else { wanted };
        match object.meta.deletion_grace_period_seconds {
            Some(current) => wanted.min(current),
            None => wanted,
        }
    }

    /// Returns true if a kubelet still has to stop this Pod.
    pub(super) fn is_graceful(&self, object: &Object) -> bool {
        object.kind == Kind::Pod
            && object
                .meta
                .deletion_grace_period_seconds
                .is_some_and(|g| g > 0)
    }
}

/// Sets the garbage collector's finalizer of a deletion. Without a policy in the request the one that the object has decides, then the
/// default of its kind.
///
/// Models `deletionFinalizersForGarbageCollection` of `staging/src/k8s.io/apiserver/pkg/registry/generic/registry/store.go`.
fn set_propagation(object: &mut Object, policy: Option<Propagation>) {
    const FOREGROUND: Str = Str::new_static("foregroundDeletion");
    const ORPHAN: Str = Str::new_static("orphan");
    let present = if object.meta.has_finalizer(&ORPHAN) {
        Some(Propagation::Orphan)
    } else {
        (object.meta.has_finalizer(&FOREGROUND)).then_some(Propagation::Foreground)
    };
    let policy = policy
        .or(present)
        .unwrap_or(resource(object.kind).default_propagation);
    let finalizers = &mut object.meta.finalizers;
    let wanted = match policy {
        Propagation::Foreground => Some(FOREGROUND),
        Propagation::Orphan => Some(ORPHAN),
        Propagation::Background => None,
    };
    finalizers
        .retain(|name| Some(name) == wanted.as_ref() || *name != FOREGROUND && *name != ORPHAN);
    if let Some(wanted) = wanted.filter(|wanted| !finalizers.contains(wanted)) {
        finalizers.push(wanted);
    }
}

/// Marks a definition as terminating: its controller deletes the objects and then removes the finalizer.
fn terminate_definition(object: &mut Object, wall: Timestamp) {
    object.meta.finalizers.push(CLEANUP.into());
    let condition = serde_json::json!({
        "type": "Terminating", "status": "True", "reason": "InstanceDeletionPending",
        "message": "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
        "lastTransitionTime": wall.rfc3339(),
    });
    if let Body::Other(body) = &mut object.body
        && let Some(serde_json::Value::Array(conditions)) = body
            .get_mut("status")
            .and_then(|status| status.get_mut("conditions"))
    {
        conditions.push(condition);
    }
}
