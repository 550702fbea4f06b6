//! Namespaces that remain terminating.

use super::finding::{Context, Diagnosis, all_in};
use super::workloads::follow;
use crate::waits::PendingReason;
use k8s_model::kind::all;
use k8s_model::{Kind, Object};
use std::rc::Rc;

/// Diagnoses a terminating namespace: its remaining objects, and what holds them.
pub fn namespace(sim: &Context<'_>, object: &Rc<Object>) -> Option<Diagnosis> {
    if !object.meta.is_deleting() {
        return None;
    }
    let left = || {
        let kinds = all().filter(|kind| kind.info().namespaced && *kind != Kind::Event);
        kinds.flat_map(|kind| all_in(sim, kind, &object.meta.name))
    };
    // An object with a finalizer blocks the deletion; the others follow by themselves.
    let first = left()
        .find(|object| !object.meta.finalizers.is_empty())
        .or_else(|| left().next())?;
    let waits = PendingReason::NamespaceContent {
        objects: left().count(),
        kind: first.kind.name().into(),
        name: first.meta.name.clone(),
    };
    let mut out = Diagnosis::new(object, waits);
    follow(&mut out, sim.diagnose(&first.key()));
    out.waits_for = Some(first.key());
    Some(out)
}
