//! Attachment of routes to listeners.

use super::{Objects, fault_of, is_served, named};
use k8s_model::gateway::{GATEWAY, GatewaySpec, HttpRouteSpec, Listener, ParentRef, common_host};
use k8s_model::{Kind, Object, ObjectRef};
use std::rc::Rc;

/// Reason why a route is attached to no listener of a Gateway.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// No listener has the requested name and port.
    NoMatchingParent,
    /// No matching listener is served.
    InvalidListener,
    /// No matching listener allows routes of this kind from the route's namespace.
    NotAllowed,
    /// No matching listener has a host name in common with the route.
    NoHostname,
}

/// Returns the parents of a route that the modelled controller serves: each reference with its Gateway.
pub fn parents<'a>(
    objects: &'a dyn Objects,
    route: &Object,
    spec: &HttpRouteSpec,
) -> Vec<(ParentRef, &'a Rc<Object>)> {
    let of = |parent: &ParentRef| {
        let gateway = named(
            objects,
            GATEWAY,
            parent.namespace_from(&route.meta.namespace),
            &parent.name,
        );
        gateway
            .filter(|gateway| parent.is_gateway() && is_served(objects, gateway))
            .map(|gateway| (parent.clone(), gateway))
    };
    spec.parent_refs.iter().filter_map(of).collect()
}

/// Returns the listeners of a Gateway that a route is attached to by one of its references; the error says why there is none.
pub fn attach(
    objects: &dyn Objects,
    gateway: &Object,
    route: (&Object, &HttpRouteSpec),
    by: &ParentRef,
) -> Result<Vec<Listener>, Refused> {
    let spec = GatewaySpec::of(gateway);
    let (object, route) = route;
    let is_meant = |listener: &&Listener| {
        (by.section_name.is_empty() || by.section_name == listener.name)
            && by.port.is_none_or(|port| port == listener.port)
    };
    let mut left: Vec<&Listener> = spec.listeners.iter().filter(is_meant).collect();
    let keep = |left: &mut Vec<&Listener>, refused: Refused, passes: &dyn Fn(&Listener) -> bool| {
        left.retain(|listener| passes(listener));
        if left.is_empty() {
            Err(refused)
        } else {
            Ok(())
        }
    };
    keep(&mut left, Refused::NoMatchingParent, &|_| true)?;
    keep(&mut left, Refused::InvalidListener, &|listener| {
        fault_of(objects, gateway, &spec, listener).is_none()
    })?;
    keep(&mut left, Refused::NotAllowed, &|listener| {
        allows(objects, gateway, listener, object)
    })?;
    let meets = |listener: &Listener| {
        route.hostnames.is_empty()
            || route
                .hostnames
                .iter()
                .any(|host| common_host(&listener.hostname, host).is_some())
    };
    keep(&mut left, Refused::NoHostname, &meets)?;
    Ok(left.into_iter().cloned().collect())
}

/// Returns true if a listener allows routes from the namespace of this one.
fn allows(objects: &dyn Objects, gateway: &Object, listener: &Listener, route: &Object) -> bool {
    let namespaces = &listener.allowed_routes.namespaces;
    let own = &route.meta.namespace;
    match namespaces.from.as_str() {
        "All" => true,
        "Selector" => {
            let namespace = objects.find(&ObjectRef::new(Kind::Namespace, "", own));
            namespace
                .zip(namespaces.selector.as_ref())
                .is_some_and(|(namespace, selector)| selector.matches(&namespace.meta.labels))
        }
        _ => *own == gateway.meta.namespace,
    }
}

/// Returns the number of routes attached to a listener of a Gateway.
pub fn attached_to<'a>(
    objects: &dyn Objects,
    gateway: &Object,
    listener: &Listener,
    routes: impl Iterator<Item = &'a Rc<Object>>,
) -> usize {
    let key = gateway.key();
    let is_attached = |route: &&Rc<Object>| {
        let spec = HttpRouteSpec::of(route);
        let by = spec
            .parent_refs
            .iter()
            .filter(|parent| parent.names(&route.meta.namespace, &key));
        by.filter_map(|by| attach(objects, gateway, (route, &spec), by).ok())
            .flatten()
            .any(|one| one.name == listener.name)
    };
    routes.filter(is_attached).count()
}
