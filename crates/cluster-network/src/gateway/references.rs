//! References of routes and listeners, and the grants that allow them to cross namespaces.

use super::{Objects, all};
use k8s_model::gateway::{BackendRef, GrantSpec, HTTP_ROUTE, REFERENCE_GRANT};
use k8s_model::kind::GATEWAY_GROUP;
use k8s_model::network::Service;
use k8s_model::{Kind, Object, ObjectRef, Str};

/// Reason why a reference does not resolve.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RefFault {
    /// The target is not a Service.
    Kind,
    /// The target is in another namespace, where no ReferenceGrant allows the reference.
    NotPermitted,
    /// The Service does not exist.
    NoService,
    /// The Service has no such port.
    NoPort,
}

/// Returns an error if a reference from a kind in a namespace crosses to another without a grant.
pub(super) fn crosses(
    objects: &dyn Objects,
    kind: &str,
    own: &Str,
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

/// Resolves a route's backend to its Service and the name of the port.
pub fn resolve(
    objects: &dyn Objects,
    route: &Object,
    to: &BackendRef,
) -> Result<(ObjectRef, Str), RefFault> {
    if !to.group.is_empty() || to.kind != "Service" {
        return Err(RefFault::Kind);
    }
    if let Some(fault) = crosses(objects, HTTP_ROUTE, &route.meta.namespace, to) {
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
