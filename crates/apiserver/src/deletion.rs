//! Deletions: their options, grace periods and finalizers.

use super::admission_request::AdmissionRequest;
use super::error::ApiError;
use super::server::{ApiServer, FINALIZED_BY_LOOP, Origin};
use crate::why::Why;
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

/// Options of a deletion.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Delete {
    /// Grace period in seconds; `None` for that of the Pod's spec.
    pub grace_seconds: Option<i64>,
    /// Propagation policy.
    pub propagation: Propagation,
    /// Precondition: the object's uid.
    pub uid: Option<Uid>,
}

impl ApiServer {
    /// Deletes an object, or begins its deletion: Pods get their grace period, finalizers block.
    pub fn delete(
        &mut self,
        origin: &Origin,
        key: &ObjectRef,
        how: Delete,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        let Some(old) = self.get(key).cloned() else {
            let error = ApiError::absent(key);
            self.refuse(origin, key.clone(), &error, why);
            return Err(error);
        };
        if how.uid.is_some_and(|uid| uid != old.meta.uid) {
            let error = ApiError::conflict(key.kind, &key.name);
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
            subresource: "",
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
            self.end_definition(&mut new);
        }
        if let (Kind::Namespace, Body::Other(body), false) =
            (key.kind, &mut new.body, old.meta.is_deleting())
        {
            new.meta.finalizers.push(Str::new_static(FINALIZED_BY_LOOP));
            body.insert(
                "status".into(),
                serde_json::json!({ "phase": "Terminating" }),
            );
        }
        match how.propagation {
            Propagation::Foreground => add_finalizer(&mut new, "foregroundDeletion"),
            Propagation::Orphan => add_finalizer(&mut new, "orphan"),
            Propagation::Background => {}
        }
        let grace = self.grace(&old, how.grace_seconds);
        if grace == 0 && new.meta.finalizers.is_empty() {
            return Ok(self.delete_now(origin, &old, new, why));
        }
        let earlier = old.meta.deletion_grace_period_seconds;
        if old.meta.is_deleting() && earlier.is_some_and(|g| g <= grace) && new == *old {
            return Ok(old);
        }
        let begun = old.meta.deletion_timestamp.is_some();
        if !begun || earlier.is_some_and(|g| grace < g) {
            new.meta.deletion_timestamp = Some(Timestamp::new(
                self.wall()
                    .seconds()
                    .saturating_add(grace.clamp(0, MAX_GRACE_S)),
            ));
            new.meta.deletion_grace_period_seconds = Some(grace);
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
                new.meta.deletion_timestamp = Some(self.wall());
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
        let wanted = asked
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

fn add_finalizer(object: &mut Object, name: &'static str) {
    if !object.meta.has_finalizer(name) {
        object.meta.finalizers.push(Str::new_static(name));
    }
}
