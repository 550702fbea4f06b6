//! Region and zone labels of a Pod that is created on a node; other Pods get them when they are bound.
//!
//! Models `plugin/pkg/admission/podtopologylabels`.

use crate::error::ApiError;
use crate::store::Store;
use k8s_model::{Body, Kind, Labels, Object, ObjectRef, Str};
use std::rc::Rc;

/// Labels that a Pod gets from its node.
const LABELS: [&str; 2] = [
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
];

/// Copies the labels of a bound Pod's node.
pub(super) fn admit(store: &mut Store, object: &mut Object) -> Result<(), ApiError> {
    if let Body::Pod(pod) = &object.body
        && !pod.node_name.is_empty()
    {
        copy_labels(store, &pod.node_name, &mut object.meta.labels);
    }
    Ok(())
}

/// Copies region and zone of a node, if it exists.
pub(crate) fn copy_labels(store: &Store, node: &str, labels: &mut Labels) {
    let Some(node) = store.get(&ObjectRef::new(Kind::Node, "", node)) else {
        return;
    };
    for key in LABELS {
        if let Some(value) = node.meta.label(key) {
            Rc::make_mut(labels).insert(Str::new_static(key), value.clone());
        }
    }
}
