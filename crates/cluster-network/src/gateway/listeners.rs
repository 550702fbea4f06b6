//! Listeners of a Gateway: validity, and supported route kinds.

use super::references::RefFault;
use super::{Objects, class_served};
use crate::gateway::references;
use k8s_model::gateway::{GATEWAY, GatewaySpec, HTTP_ROUTE, Listener};
use k8s_model::kind::GATEWAY_GROUP;
use k8s_model::{Body, Kind, Object, ObjectRef};

/// Reason why a listener is not served.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ListenerFault {
    /// Protocol other than HTTP and HTTPS.
    Protocol,
    /// Protocol conflict with another listener on the port.
    Conflict,
    /// HTTPS without a usable certificate; the index of the reference.
    Certificate(usize),
    /// Certificate in a namespace without a ReferenceGrant for it; the index of the reference.
    CertificateNotPermitted(usize),
    /// No supported kind of route.
    RouteKinds,
}

/// Returns the reason why a listener is not served, or `None` if it is.
pub fn fault_of(
    objects: &dyn Objects,
    gateway: &Object,
    spec: &GatewaySpec,
    listener: &Listener,
) -> Option<ListenerFault> {
    if !matches!(listener.protocol.as_str(), "HTTP" | "HTTPS") {
        return Some(ListenerFault::Protocol);
    }
    if spec
        .listeners
        .iter()
        .any(|other| other.port == listener.port && other.protocol != listener.protocol)
    {
        return Some(ListenerFault::Conflict);
    }
    if listener.protocol == "HTTPS" {
        let refs = listener.tls.iter().flat_map(|tls| &tls.certificate_refs);
        if let Some(fault) = refs
            .clone()
            .enumerate()
            .find_map(|(at, to)| certificate_fault(objects, gateway, at, to))
        {
            return Some(fault);
        }
        if refs.count() == 0 {
            return Some(ListenerFault::Certificate(0));
        }
    }
    (!supported_kinds(listener).1).then_some(ListenerFault::RouteKinds)
}

fn certificate_fault(
    objects: &dyn Objects,
    gateway: &Object,
    at: usize,
    to: &k8s_model::gateway::BackendRef,
) -> Option<ListenerFault> {
    let own = &gateway.meta.namespace;
    if !to.group.is_empty() || to.kind != "Secret" {
        return Some(ListenerFault::Certificate(at));
    }
    if references::crosses(objects, GATEWAY, own, to) == Some(RefFault::NotPermitted) {
        return Some(ListenerFault::CertificateNotPermitted(at));
    }
    let secret = objects.find(&ObjectRef::new(
        Kind::Secret,
        to.namespace_from(own),
        &to.name,
    ));
    let is_tls = |secret: &Object| matches!(&secret.body, Body::Other(map) if map.get("type").is_some_and(|kind| kind == "kubernetes.io/tls"));
    secret
        .is_none_or(|secret| !is_tls(secret))
        .then_some(ListenerFault::Certificate(at))
}

/// Returns whether all route kinds of a listener are supported, and whether HTTPRoutes are among them, as by default.
pub fn supported_kinds(listener: &Listener) -> (bool, bool) {
    let kinds = &listener.allowed_routes.kinds;
    let is_http = |kind: &k8s_model::gateway::RouteKind| {
        kind.kind == HTTP_ROUTE
            && kind
                .group
                .as_deref()
                .is_none_or(|group| group == GATEWAY_GROUP)
    };
    (
        kinds.iter().all(is_http),
        kinds.is_empty() || kinds.iter().any(is_http),
    )
}

/// Returns true if the modelled controller serves a Gateway, which is the case if it serves its class.
pub fn is_served(objects: &dyn Objects, gateway: &Object) -> bool {
    !gateway.meta.is_deleting()
        && class_served(objects, &GatewaySpec::of(gateway).gateway_class_name).is_some()
}
