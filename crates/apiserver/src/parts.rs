//! Spec and status of a write: a write of one keeps the other.
//!
//! Models `ResetFields` and `PrepareForUpdate` of the strategies in `pkg/registry`.

use k8s_model::{Body, Object};

/// Returns true if `generation` changes: everything but metadata and status counts.
pub(super) fn spec_changed(old: &Object, new: &Object) -> bool {
    match (&old.body, &new.body) {
        // The scheduler's binding is a subresource and does not count.
        (Body::Pod(a), Body::Pod(b)) => a.spec != b.spec,
        (Body::Deployment(a), Body::Deployment(b)) => a.spec != b.spec,
        (Body::ReplicaSet(a), Body::ReplicaSet(b)) => a.spec != b.spec,
        (Body::StatefulSet(a), Body::StatefulSet(b)) => a.spec != b.spec,
        (Body::Job(a), Body::Job(b)) => a.spec != b.spec,
        (Body::DaemonSet(a), Body::DaemonSet(b)) => a.spec != b.spec,
        (Body::EndpointSlice(a), Body::EndpointSlice(b)) => {
            a != b || old.meta.labels != new.meta.labels
        }
        (Body::Other(a), Body::Other(b)) if old.kind.is_custom() => a
            .keys()
            .chain(b.keys())
            .any(|field| field != "status" && a.get(field) != b.get(field)),
        (Body::Other(a), Body::Other(b)) => a.get("spec") != b.get("spec"),
        _ => false,
    }
}

/// Copies the stored status into an object with a new spec.
pub(super) fn keep_status(new: &mut Object, old: &Object) {
    match (&mut new.body, &old.body) {
        (Body::Pod(n), Body::Pod(o)) => n.status = o.status.clone(),
        (Body::ReplicaSet(n), Body::ReplicaSet(o)) => n.status = o.status.clone(),
        (Body::Deployment(n), Body::Deployment(o)) => n.status = o.status.clone(),
        (Body::StatefulSet(n), Body::StatefulSet(o)) => n.status = o.status.clone(),
        (Body::Job(n), Body::Job(o)) => n.status = o.status.clone(),
        (Body::DaemonSet(n), Body::DaemonSet(o)) => n.status = o.status.clone(),
        (Body::Service(n), Body::Service(o)) => n.status = o.status.clone(),
        (Body::PersistentVolumeClaim(n), Body::PersistentVolumeClaim(o)) => {
            n.status = o.status.clone()
        }
        (Body::PersistentVolume(n), Body::PersistentVolume(o)) => n.status = o.status.clone(),
        (Body::Node(n), Body::Node(o)) => n.status = o.status.clone(),
        (Body::Other(n), Body::Other(o)) => {
            n.remove("status");
            if let Some(status) = o.get("status") {
                n.insert("status".into(), status.clone());
            }
        }
        _ => {}
    }
}

/// Copies the stored spec into an object with a new status.
pub(super) fn keep_spec(new: &mut Object, old: &Object) {
    match (&mut new.body, &old.body) {
        (Body::Pod(n), Body::Pod(o)) => {
            n.spec = o.spec.clone();
            n.node_name = o.node_name.clone();
            n.token = o.token.clone();
        }
        (Body::ReplicaSet(n), Body::ReplicaSet(o)) => n.spec = o.spec.clone(),
        (Body::Deployment(n), Body::Deployment(o)) => n.spec = o.spec.clone(),
        (Body::StatefulSet(n), Body::StatefulSet(o)) => n.spec = o.spec.clone(),
        (Body::Job(n), Body::Job(o)) => n.spec = o.spec.clone(),
        (Body::DaemonSet(n), Body::DaemonSet(o)) => {
            (n.spec, n.template) = (o.spec.clone(), o.template.clone())
        }
        (Body::PersistentVolumeClaim(n), Body::PersistentVolumeClaim(o)) => n.spec = o.spec.clone(),
        (Body::PersistentVolume(n), Body::PersistentVolume(o)) => n.spec = o.spec.clone(),
        (Body::Node(n), Body::Node(o)) => n.spec = o.spec.clone(),
        (Body::Other(n), Body::Other(o)) if old.kind.is_custom() => {
            let status = n.remove("status");
            n.clone_from(o);
            n.remove("status");
            n.extend(status.map(|status| ("status".to_owned(), status)));
        }
        _ => {}
    }
}
