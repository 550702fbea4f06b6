//! Conditions of GatewayClasses, Gateways, listeners and routes: types, reasons and messages.
//!
//! Types and reasons are those of `sigs.k8s.io/gateway-api/apis/v1`, messages those of NGINX Gateway Fabric
//! (`internal/controller/state/conditions/conditions.go`).

use super::AddressFault;
use apiserver::why::Why;
use cluster_network::gateway::{
    ListenerFault, Objects, RefFault, Refused, all, attach, attached_to, fault_of, parents,
    resolve, supported_kinds,
};
use k8s_model::Object;
use k8s_model::gateway::{
    CONTROLLER, GatewaySpec, HTTP_ROUTE, HttpRouteSpec, Listener, condition, status_of,
};
use k8s_model::json::Json;
use k8s_model::kind::GATEWAY_GROUP;
use serde_json::Value;

/// Condition to write: type, status, reason and message.
type Told = (&'static str, bool, &'static str, String);

/// Builds an object of these fields; a function keeps the code small where each use of the macro would be expanded in place.
fn fields(all: Vec<(&'static str, Value)>) -> Value {
    Value::Object(
        all.into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect::<serde_json::Map<_, _>>(),
    )
}

/// Returns the conditions as JSON. The transition time of a condition is kept until its status changes.
fn conditions(old: &Value, object: &Object, now: &str, told: Vec<Told>) -> Value {
    let one = |(kind, holds, reason, message): Told| {
        let status = if holds { "True" } else { "False" };
        let stays = condition(old, kind).is_some_and(|old| old.status == status);
        let known = old["conditions"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|one| stays && one["type"] == kind);
        let time = known.map_or_else(|| now.into(), |known| known["lastTransitionTime"].clone());
        fields(vec![
            ("type", kind.into()),
            ("status", status.into()),
            ("reason", reason.into()),
            ("message", message.into()),
            ("lastTransitionTime", time),
            ("observedGeneration", object.meta.generation.into()),
        ])
    };
    told.into_iter().map(one).collect()
}

/// Returns the status of a class that names the controller.
pub(super) fn of_class(class: &Object, now: &str) -> Value {
    let told = vec![
        (
            "Accepted",
            true,
            "Accepted",
            "The GatewayClass is accepted".to_owned(),
        ),
        (
            "SupportedVersion",
            true,
            "SupportedVersion",
            "The Gateway API CRD versions are supported".to_owned(),
        ),
    ];
    let old = status_of(class);
    let mut status = old.clone();
    if !status.is_object() {
        status = fields(Vec::new());
    }
    status["conditions"] = conditions(old, class, now, told);
    status
}

/// Returns the status of a Gateway whose class is gone.
pub(super) fn of_unserved(gateway: &Object, now: &str) -> Value {
    let message = "The GatewayClass doesn't exist".to_owned();
    let told = vec![
        ("Accepted", false, "Invalid", message.clone()),
        ("Programmed", false, "Invalid", message),
    ];
    fields(vec![(
        "conditions",
        conditions(status_of(gateway), gateway, now, told),
    )])
}

/// Returns the status of a Gateway, with its address or the reason why it has none.
pub(super) fn of_gateway(
    objects: &dyn Objects,
    gateway: &Object,
    spec: &GatewaySpec,
    address: Result<String, AddressFault>,
    now: &str,
) -> Value {
    let old = status_of(gateway);
    let valid = spec
        .listeners
        .iter()
        .filter(|listener| fault_of(objects, gateway, spec, listener).is_none())
        .count();
    let accepted = match valid {
        0 => (
            "Accepted",
            false,
            "ListenersNotValid",
            "The Gateway has no valid listeners".to_owned(),
        ),
        _ if address == Err(AddressFault::Unsupported) => (
            "Accepted",
            false,
            "UnsupportedAddress",
            "Only AddressType IPAddress is supported".to_owned(),
        ),
        some if some < spec.listeners.len() => (
            "Accepted",
            true,
            "ListenersNotValid",
            "The Gateway has at least one valid listener".to_owned(),
        ),
        _ => (
            "Accepted",
            true,
            "Accepted",
            "The Gateway is accepted".to_owned(),
        ),
    };
    let programmed = match &address {
        _ if !accepted.1 => ("Programmed", false, "Invalid", accepted.3.clone()),
        Ok(_) => (
            "Programmed",
            true,
            "Programmed",
            "The Gateway is programmed".to_owned(),
        ),
        Err(AddressFault::Taken) => (
            "Programmed",
            false,
            "AddressNotUsable",
            "The address is used by another Gateway".to_owned(),
        ),
        Err(_) => (
            "Programmed",
            false,
            "AddressNotAssigned",
            "No address is left to assign".to_owned(),
        ),
    };
    let is_programmed = programmed.1;
    let routes = all(objects, HTTP_ROUTE);
    let listeners = spec.listeners.iter().map(|listener| {
        let olds = old["listeners"].as_array().into_iter().flatten();
        let old = olds
            .clone()
            .find(|old| old["name"] == listener.name.as_str())
            .unwrap_or(&Value::Null);
        let fault = fault_of(objects, gateway, spec, listener);
        let kind = || {
            fields(vec![
                ("group", GATEWAY_GROUP.into()),
                ("kind", HTTP_ROUTE.into()),
            ])
        };
        let kinds: Vec<Value> = supported_kinds(listener).1.then(kind).into_iter().collect();
        fields(vec![
            ("name", listener.name.as_str().into()),
            (
                "attachedRoutes",
                attached_to(objects, gateway, listener, routes.iter().copied()).into(),
            ),
            ("supportedKinds", kinds.into()),
            (
                "conditions",
                conditions(
                    old,
                    gateway,
                    now,
                    of_listener(listener, fault, is_programmed),
                ),
            ),
        ])
    });
    let listeners: Vec<Value> = listeners.collect();
    let mut all = vec![
        (
            "conditions",
            conditions(old, gateway, now, vec![accepted, programmed]),
        ),
        ("listeners", listeners.into()),
    ];
    if let Some(address) = address.ok().filter(|_| is_programmed) {
        all.push((
            "addresses",
            vec![fields(vec![
                ("type", "IPAddress".into()),
                ("value", address.into()),
            ])]
            .into(),
        ));
    }
    fields(all)
}

fn of_listener(
    listener: &Listener,
    fault: Option<ListenerFault>,
    is_programmed: bool,
) -> Vec<Told> {
    let mut accepted = (
        "Accepted",
        true,
        "Accepted",
        "The Listener is accepted".to_owned(),
    );
    let mut programmed = (
        "Programmed",
        true,
        "Programmed",
        "The Listener is programmed".to_owned(),
    );
    let mut resolved = (
        "ResolvedRefs",
        true,
        "ResolvedRefs",
        "All references are resolved".to_owned(),
    );
    let mut conflicted = (
        "Conflicted",
        false,
        "NoConflicts",
        "No conflicts".to_owned(),
    );
    if !supported_kinds(listener).0 {
        let kinds = &listener.allowed_routes.kinds;
        let at = kinds
            .iter()
            .position(|kind| kind.kind != HTTP_ROUTE)
            .unwrap_or(0);
        let kind = kinds.get(at).map_or("", |kind| &kind.kind);
        let message = format!(
            "kinds[{at}].kind: Unsupported value: {kind:?}: supported values: \"{HTTP_ROUTE}\""
        );
        resolved = ("ResolvedRefs", false, "InvalidRouteKinds", message);
    }
    let message = match &fault {
        None if is_programmed => return vec![accepted, programmed, resolved, conflicted],
        None => {
            programmed = (
                "Programmed",
                false,
                "Pending",
                "The Gateway is not programmed".to_owned(),
            );
            return vec![accepted, programmed, resolved, conflicted];
        }
        Some(ListenerFault::Protocol) => {
            format!(
                "protocol: Unsupported value: {:?}: supported values: \"HTTP\", \"HTTPS\"",
                listener.protocol.as_str()
            )
        }
        Some(ListenerFault::Conflict) => format!(
            "Multiple listeners for the same port {} specify incompatible protocols; ensure only one protocol per port",
            listener.port
        ),
        Some(ListenerFault::Certificate(at)) => {
            let name = listener
                .tls
                .as_ref()
                .and_then(|tls| tls.certificate_refs.get(*at))
                .map_or("", |to| &to.name);
            format!(
                "tls.certificateRefs[{at}]: Invalid value: {name:?}: no Secret of type kubernetes.io/tls has this name"
            )
        }
        Some(ListenerFault::CertificateNotPermitted(at)) => {
            let to = listener
                .tls
                .as_ref()
                .and_then(|tls| tls.certificate_refs.get(*at));
            let (namespace, name) = to.map_or(("", ""), |to| (&to.namespace, &to.name));
            format!(
                "Certificate ref to secret {namespace}/{name} not permitted by any ReferenceGrant"
            )
        }
        Some(ListenerFault::RouteKinds) => resolved.3.clone(),
    };
    let reason = match &fault {
        Some(ListenerFault::Protocol) => "UnsupportedProtocol",
        Some(ListenerFault::Conflict) => "ProtocolConflict",
        Some(ListenerFault::Certificate(_)) => "InvalidCertificateRef",
        Some(ListenerFault::CertificateNotPermitted(_)) => "RefNotPermitted",
        _ => "InvalidRouteKinds",
    };
    match &fault {
        Some(ListenerFault::Conflict) => conflicted = ("Conflicted", true, reason, message.clone()),
        Some(ListenerFault::Protocol) => {}
        _ => resolved = ("ResolvedRefs", false, reason, message.clone()),
    }
    if fault != Some(ListenerFault::RouteKinds) {
        accepted = ("Accepted", false, reason, message.clone());
    }
    programmed = ("Programmed", false, "Invalid", message);
    vec![accepted, programmed, resolved, conflicted]
}

/// Returns the status of a route: an entry for each parent that is served here, and the reason of the write; entries of other controllers
/// stay. `None` if there is no change.
pub(super) fn of_route(objects: &dyn Objects, route: &Object, now: &str) -> Option<(Value, Why)> {
    let spec = HttpRouteSpec::of(route);
    let olds = status_of(route)["parents"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let (own, mut all): (Vec<Value>, Vec<Value>) = olds
        .into_iter()
        .partition(|old| old["controllerName"] == CONTROLLER);
    let is_known = !own.is_empty();
    let resolved = references(objects, route, &spec);
    let mut why = None;
    for (by, gateway) in parents(objects, route, &spec) {
        let by_value = by.write();
        let old = own
            .iter()
            .find(|old| old["parentRef"] == by_value)
            .unwrap_or(&Value::Null);
        let accepted = match attach(objects, gateway, (route, &spec), &by) {
            Ok(_) => ("Accepted", true, "Accepted", "The Route is accepted"),
            Err(Refused::NoMatchingParent) => (
                "Accepted",
                false,
                "NoMatchingParent",
                "The Listener is not found for this parent ref",
            ),
            Err(Refused::InvalidListener) => (
                "Accepted",
                false,
                "InvalidListener",
                "The Listener is invalid for this parent ref",
            ),
            Err(Refused::NotAllowed) => (
                "Accepted",
                false,
                "NotAllowedByListeners",
                "The Route is not allowed by any listener",
            ),
            Err(Refused::NoHostname) => (
                "Accepted",
                false,
                "NoMatchingListenerHostname",
                "The Listener hostname does not match the Route hostnames",
            ),
        };
        let (kind, holds, reason, message) = accepted;
        if condition(old, kind).is_none_or(|old| old.status != if holds { "True" } else { "False" })
        {
            let gateway = gateway.meta.name.clone();
            why.get_or_insert(if holds {
                Why::RouteTaken { gateway }
            } else {
                Why::RouteRefused { gateway }
            });
        }
        let told = vec![(kind, holds, reason, message.to_owned()), resolved.clone()];
        let conditions = conditions(old, route, now, told);
        all.push(fields(vec![
            ("parentRef", by_value),
            ("controllerName", CONTROLLER.into()),
            ("conditions", conditions),
        ]));
    }
    (is_known || !all.is_empty()).then(|| {
        (
            fields(vec![("parents", all.into())]),
            why.unwrap_or(Why::Observed),
        )
    })
}

/// Returns the ResolvedRefs condition of a route; the first backend that does not resolve is reported.
fn references(objects: &dyn Objects, route: &Object, spec: &HttpRouteSpec) -> Told {
    for (r, rule) in spec.rules.iter().enumerate() {
        for (b, to) in rule.backend_refs.iter().enumerate() {
            let (at, name) = (format!("spec.rules[{r}].backendRefs[{b}]"), &to.name);
            let (reason, message) = match resolve(objects, route, to) {
                Ok(_) => continue,
                Err(RefFault::Kind) if to.kind == "Service" => (
                    "InvalidKind",
                    format!(
                        "{at}.group: Unsupported value: {:?}: supported values: \"core\", \"\"",
                        to.group.as_str()
                    ),
                ),
                Err(RefFault::Kind) => (
                    "InvalidKind",
                    format!(
                        "{at}.kind: Unsupported value: {:?}: supported values: \"Service\"",
                        to.kind.as_str()
                    ),
                ),
                Err(RefFault::NotPermitted) => (
                    "RefNotPermitted",
                    format!(
                        "Backend ref to Service {}/{name} not permitted by any ReferenceGrant",
                        to.namespace
                    ),
                ),
                Err(RefFault::NoService) => (
                    "BackendNotFound",
                    format!("{at}.name: Not found: {:?}", name.as_str()),
                ),
                Err(RefFault::NoPort) => (
                    "BackendNotFound",
                    format!(
                        "no matching port for Service {name} and port {}",
                        to.port.unwrap_or(0)
                    ),
                ),
            };
            return ("ResolvedRefs", false, reason, message);
        }
    }
    (
        "ResolvedRefs",
        true,
        "ResolvedRefs",
        "All references are resolved".to_owned(),
    )
}
