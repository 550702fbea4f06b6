//! Binding of a Pod to its node.
//!
//! Models `pkg/registry/core/pod/storage/storage.go` (`BindingREST`).

use super::admission::AdmissionRequest;
use super::admission::pod_topology_labels::copy_labels;
use super::error::{ApiError, StatusReason};
use super::server::{ApiServer, Origin};
use super::strategies::check_uid;
use crate::why::Why;
use k8s_model::kind::Subresource;
use k8s_model::pod::PodCondition;
use k8s_model::{Body, Object, ObjectRef};
use std::rc::Rc;

impl ApiServer {
    /// Binds a Pod to a node; `uid` is that of the Pod that the writer has read, or empty.
    pub fn bind(
        &mut self,
        origin: &Origin,
        key: &ObjectRef,
        uid: &str,
        node: &str,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        let result = self.bindable(key, uid, node).and_then(|bound| {
            let request = AdmissionRequest {
                operation: "CREATE",
                subresource: Subresource::Binding,
                object: &bound,
                old: None,
                api_version: None,
            };
            self.admit_by_webhooks(origin, request)?;
            self.update_all(origin, bound, why.clone())
        });
        if let Err(error) = &result {
            self.refuse(origin, key.clone(), error, why);
        }
        result
    }

    fn bindable(&self, key: &ObjectRef, uid: &str, node: &str) -> Result<Object, ApiError> {
        let Some(old) = self.store.get(key) else {
            return Err(ApiError::not_found(key.kind, &key.name));
        };
        check_uid(key, uid, &old.meta.uid.to_string())?;
        let conflict = |problem: String| {
            let message = format!(
                "Operation cannot be fulfilled on pods/binding {:?}: {problem}",
                key.name.as_str()
            );
            ApiError {
                reason: StatusReason::Conflict,
                message,
                cause: None,
            }
        };
        if old.meta.is_deleting() {
            return Err(conflict(format!(
                "pod {} is being deleted, cannot be assigned to a host",
                key.name
            )));
        }
        if let Some(pod) = old.pod().filter(|pod| !pod.node_name.is_empty()) {
            return Err(conflict(format!(
                "pod {} is already assigned to node {:?}",
                key.name,
                pod.node_name.as_str()
            )));
        }
        let (mut new, wall) = ((**old).clone(), self.store.wall());
        copy_labels(&self.store, node, &mut new.meta.labels);
        let generation = new.meta.generation;
        if let Body::Pod(pod) = &mut new.body {
            pod.node_name = node.into();
            pod.status.nominated_node_name = Default::default();
            pod.status.set_condition(PodCondition {
                kind: "PodScheduled".into(),
                status: "True".into(),
                last_transition_time: Some(wall),
                observed_generation: generation,
                ..PodCondition::default()
            });
            pod.status.share_conditions();
        }
        Ok(new)
    }
}
