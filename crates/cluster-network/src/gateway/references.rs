//! References of routes and listeners, and the grants without which they stay in their own namespace.

use super::{Objects, all};
use k8s_model::gateway::{BackendRef, GrantSpec, HTTP_ROUTE, REFERENCE_GRANT};
use k8s_model::kind::GATEWAY_GROUP;
use k8s_model::network::Service;
use k8s_model::{Kind, Object, ObjectRef, Str};

/// Why a reference does not resolve.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RefFault {
    /// It names no Service.
    Kind,
    /// It names something in another namespace, where no ReferenceGrant allows it.
    NotPermitted,
    /// There is no such Service.
    NoService,
    /// The Service has no such port.
    NoPort,
}

/// Whether a reference from a kind in a namespace leaves it without being allowed to.
pub(super) fn crosses(
    objects: &dyn Objects,
    (kind, own): (&str, &Str),
    to: &BackendRef,
) -> Option<RefFault> {
    let namespace = to.namespace_from(own);
    if namespace == own.as_str() {
        return None;
    }
    let permits = |grant: &&std::rc::Rc<Object>| {
        let spec = GrantSpec::of(grant);
        let from = |end: &k8s_model::gateway::GrantEnd| {
            end.group == GATEWAY_GROUP && end.kind == kind && end.namespace == *own
        };
        let names = |end: &k8s_model::gateway::GrantEnd| {
            end.group == to.group
                && end.kind == to.kind
                && (end.name.is_empty() || end.name == to.name)
        };
        grant.meta.namespace == namespace && spec.from.iter().any(from) && spec.to.iter().any(names)
    };
    all(objects, REFERENCE_GRANT)
        .iter()
        .all(|grant| !permits(grant))
        .then_some(RefFault::NotPermitted)
}

/// The Service of a backend of a route, and the name of its port.
pub fn resolve(
    objects: &dyn Objects,
    route: &Object,
    to: &BackendRef,
) -> Result<(ObjectRef, Str), RefFault> {
    if !to.group.is_empty() || to.kind != "Service" {
        return Err(RefFault::Kind);
    }
    if let Some(fault) = crosses(objects, (HTTP_ROUTE, &route.meta.namespace), to) {
        return Err(fault);
    }
    let key = ObjectRef::new(
        Kind::Service,
        to.namespace_from(&route.meta.namespace),
        &to.name,
    );
    let service = objects
        .find(&key)
        .and_then(|object| object.get::<Service>())
        .ok_or(RefFault::NoService)?;
    let port = service
        .spec
        .ports
        .iter()
        .find(|port| Some(port.port) == to.port)
        .ok_or(RefFault::NoPort)?;
    Ok((key, port.name.clone()))
}
