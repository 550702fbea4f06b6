//! Write requests with bodies of their own: the binding of a Pod, and the finalizers of a namespace.
//!
//! Models `pkg/registry/core/pod/storage/storage.go` (`BindingREST`) and `pkg/registry/core/namespace/storage`.

use super::admission_request::AdmissionRequest;
use super::error::{ApiError, StatusReason};
use super::server::{ApiServer, FINALIZED_BY_LOOP, Origin};
use crate::why::Why;
use k8s_model::pod::PodCondition;
use k8s_model::{Body, Kind, Object, ObjectRef};
use std::rc::Rc;

/// Labels that a Pod gets from its node on binding.
const PLACES: [&str; 2] = [
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
];

impl ApiServer {
    /// Binds a Pod to a node, for a scheduler that is a client.
    pub fn bind(
        &mut self,
        origin: &Origin,
        key: &ObjectRef,
        node: &str,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        let result = self.bindable(key, node).and_then(|bound| {
            let request = AdmissionRequest {
                operation: "CREATE",
                subresource: "binding",
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

    fn bindable(&self, key: &ObjectRef, node: &str) -> Result<Object, ApiError> {
        let Some(old) = self.get(key) else {
            return Err(ApiError::not_found(key.kind, &key.name));
        };
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
        let (mut new, wall) = ((**old).clone(), self.wall());
        if let Some(home) = self.get(&ObjectRef::new(Kind::Node, "", node)) {
            for place in PLACES {
                if let Some(value) = home.meta.label(place) {
                    Rc::make_mut(&mut new.meta.labels).insert(place.into(), value.clone());
                }
            }
        }
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
        }
        Ok(new)
    }

    /// Removes the finalizer of a namespace, if `held` is false.
    pub fn finalize(
        &mut self,
        origin: &Origin,
        key: &ObjectRef,
        held: bool,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        let Some(old) = self.get(key).cloned() else {
            return Err(ApiError::not_found(key.kind, &key.name));
        };
        if held || !old.meta.is_deleting() {
            return Ok(old);
        }
        let mut new = (*old).clone();
        new.meta
            .finalizers
            .retain(|finalizer| finalizer != FINALIZED_BY_LOOP);
        self.update_all(origin, new, why)
    }
}
