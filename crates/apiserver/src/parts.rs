//! Spec and status of a write: a write of one keeps the other.
//!
//! Models `ResetFields` and `PrepareForUpdate` of the strategies in `pkg/registry`.

use k8s_model::batch::Job;
use k8s_model::daemonset::DaemonSet;
use k8s_model::network::{EndpointSlice, Service};
use k8s_model::node::Node;
use k8s_model::object::Typed;
use k8s_model::pod::Pod;
use k8s_model::storage::{PersistentVolume, PersistentVolumeClaim};
use k8s_model::workload::{Deployment, ReplicaSet, StatefulSet};
use k8s_model::{Body, Object};

/// Fields outside `metadata` of which a change counts as one of the spec, of kinds that are stored as JSON.
const SPECS: [&str; 3] = ["spec", "template", "webhooks"];

/// Returns true if `generation` changes: everything but metadata and status counts.
pub(super) fn spec_changed(old: &Object, new: &Object) -> bool {
    match &old.body {
        // The scheduler's binding is a subresource and does not count.
        Body::Pod(a) => differs::<Pod>(new, |b| a.spec != b.spec),
        Body::Deployment(a) => differs::<Deployment>(new, |b| a.spec != b.spec),
        Body::ReplicaSet(a) => differs::<ReplicaSet>(new, |b| a.spec != b.spec),
        Body::StatefulSet(a) => differs::<StatefulSet>(new, |b| a.spec != b.spec),
        Body::Job(a) => differs::<Job>(new, |b| a.spec != b.spec),
        Body::DaemonSet(a) => differs::<DaemonSet>(new, |b| a.spec != b.spec),
        Body::EndpointSlice(a) => {
            old.meta.labels != new.meta.labels || differs::<EndpointSlice>(new, |b| **a != *b)
        }
        Body::Other(a) => {
            let Body::Other(b) = &new.body else {
                return false;
            };
            let mut fields = a.keys().chain(b.keys());
            fields.any(|field| {
                let counts = match old.kind.is_custom() {
                    true => field != "status",
                    false => SPECS.contains(&field.as_str()),
                };
                counts && a.get(field) != b.get(field)
            })
        }
        // Kinds without a generation.
        Body::ControllerRevision(_)
        | Body::Service(_)
        | Body::Endpoints(_)
        | Body::PersistentVolumeClaim(_)
        | Body::PersistentVolume(_)
        | Body::StorageClass(_)
        | Body::Node(_)
        | Body::Event(_) => false,
    }
}

/// Returns true if the body of an object is of a type and meets a condition.
fn differs<T: Typed>(object: &Object, condition: impl Fn(&T) -> bool) -> bool {
    object.get().is_some_and(condition)
}

/// Copies a part of the stored object, whose body is of the same type.
fn keep<T: Typed>(old: &Object, copy: impl FnOnce(&T)) {
    if let Some(old) = old.get() {
        copy(old);
    }
}

/// Copies the stored status into an object with a new spec.
pub(super) fn keep_status(new: &mut Object, old: &Object) {
    match &mut new.body {
        Body::Pod(n) => keep::<Pod>(old, |o| n.status = o.status.clone()),
        Body::ReplicaSet(n) => keep::<ReplicaSet>(old, |o| n.status = o.status.clone()),
        Body::Deployment(n) => keep::<Deployment>(old, |o| n.status = o.status.clone()),
        Body::StatefulSet(n) => keep::<StatefulSet>(old, |o| n.status = o.status.clone()),
        Body::Job(n) => keep::<Job>(old, |o| n.status = o.status.clone()),
        Body::DaemonSet(n) => keep::<DaemonSet>(old, |o| n.status = o.status.clone()),
        Body::Service(n) => keep::<Service>(old, |o| n.status = o.status.clone()),
        Body::PersistentVolumeClaim(n) => {
            keep::<PersistentVolumeClaim>(old, |o| n.status = o.status.clone())
        }
        Body::PersistentVolume(n) => keep::<PersistentVolume>(old, |o| n.status = o.status.clone()),
        Body::Node(n) => keep::<Node>(old, |o| n.status = o.status.clone()),
        Body::Other(n) => {
            if let Body::Other(o) = &old.body {
                n.remove("status");
                let status = o.get("status").cloned();
                n.extend(status.map(|status| ("status".to_owned(), status)));
            }
        }
        // Kinds without a status.
        Body::ControllerRevision(_)
        | Body::Endpoints(_)
        | Body::EndpointSlice(_)
        | Body::StorageClass(_)
        | Body::Event(_) => {}
    }
}

/// Copies the stored spec into an object with a new status.
pub(super) fn keep_spec(new: &mut Object, old: &Object) {
    match &mut new.body {
        Body::Pod(n) => keep::<Pod>(old, |o| {
            n.spec = o.spec.clone();
            n.node_name = o.node_name.clone();
            n.token = o.token.clone();
        }),
        Body::ReplicaSet(n) => keep::<ReplicaSet>(old, |o| n.spec = o.spec.clone()),
        Body::Deployment(n) => keep::<Deployment>(old, |o| n.spec = o.spec.clone()),
        Body::StatefulSet(n) => keep::<StatefulSet>(old, |o| n.spec = o.spec.clone()),
        Body::Job(n) => keep::<Job>(old, |o| n.spec = o.spec.clone()),
        Body::DaemonSet(n) => keep::<DaemonSet>(old, |o| {
            (n.spec, n.template) = (o.spec.clone(), o.template.clone())
        }),
        Body::Service(n) => keep::<Service>(old, |o| n.spec = o.spec.clone()),
        Body::PersistentVolumeClaim(n) => {
            keep::<PersistentVolumeClaim>(old, |o| n.spec = o.spec.clone())
        }
        Body::PersistentVolume(n) => keep::<PersistentVolume>(old, |o| n.spec = o.spec.clone()),
        Body::Node(n) => keep::<Node>(old, |o| n.spec = o.spec.clone()),
        Body::Other(n) => {
            if let Body::Other(o) = &old.body {
                let status = n.remove("status");
                n.clone_from(o);
                n.remove("status");
                n.extend(status.map(|status| ("status".to_owned(), status)));
            }
        }
        // Kinds without a status.
        Body::ControllerRevision(_)
        | Body::Endpoints(_)
        | Body::EndpointSlice(_)
        | Body::StorageClass(_)
        | Body::Event(_) => {}
    }
}
