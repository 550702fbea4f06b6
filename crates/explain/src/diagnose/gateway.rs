//! Gateways and HTTPRoutes that no controller serves or accepts, or whose backends do not work.

use super::finding::{Context, Diagnosis, all_in, line};
use super::workloads::follow;
use crate::rules;
use crate::waits::{DecidingFact, FactLabel, GatewayFault, PendingReason, RemedyKind};
use actions::Action;
use cluster_network::connectivity::{Backend, backend_of};
use cluster_network::gateway::{RefFault, all, is_served, named};
use k8s_model::gateway::{
    BackendRef, CONTROLLER, GATEWAY, GATEWAY_CLASS, GatewayCondition, GatewaySpec, HTTP_ROUTE,
    HttpRouteSpec, ParentRef, REFERENCE_GRANT, condition, controller_of, holds, status_of,
};
use k8s_model::json;
use k8s_model::kind::GATEWAY_GROUP;
use k8s_model::network::Service;
use k8s_model::{Kind, Object, Str};
use std::rc::Rc;

/// Diagnoses an object of the Gateway API.
pub fn gateway_api(sim: &Context<'_>, object: &Rc<Object>) -> Option<Diagnosis> {
    match object.kind.name() {
        _ if object.meta.is_deleting() => None,
        GATEWAY_CLASS => class(object),
        GATEWAY => gateway(sim, object),
        HTTP_ROUTE => route(sim, object),
        _ => None,
    }
}

/// Creates the diagnosis of a fault.
fn fails(object: &Object, fault: GatewayFault) -> Diagnosis {
    Diagnosis::new(object, PendingReason::Gateway(fault))
}

/// Returns the command that sets a field of an object to a value, given as JSON.
fn patch(object: &Object, op: &str, path: &str, value: &str) -> Action {
    let rest =
        format!(" --type=json -p '[{{\"op\":\"{op}\",\"path\":\"{path}\",\"value\":{value}}}]'");
    line("patch", &object.key(), &rest)
}

fn class(object: &Object) -> Option<Diagnosis> {
    let controller = controller_of(object);
    (controller != CONTROLLER).then(|| {
        fails(
            object,
            GatewayFault::ForeignController {
                class: object.meta.name.clone(),
                controller: controller.into(),
            },
        )
    })
}

fn gateway(sim: &Context<'_>, object: &Object) -> Option<Diagnosis> {
    let (spec, status) = (GatewaySpec::of(object), status_of(object));
    let name = &spec.gateway_class_name;
    let Some(class) = named(sim.store(), GATEWAY_CLASS, "", name) else {
        let mut out = fails(object, GatewayFault::ClassMissing(name.clone()));
        let manifest = format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata:\n  name: {name}\nspec:\n  controllerName: {CONTROLLER}\n"
        );
        out.cure(
            RemedyKind::MakeGatewayClass,
            name,
            "",
            &[Action::apply(manifest)],
        );
        return Some(out);
    };
    if !is_served(sim.store(), object) {
        return Some(fails(
            object,
            GatewayFault::ForeignController {
                class: name.clone(),
                controller: controller_of(class).into(),
            },
        ));
    }
    let failed = |status, kind| condition(status, kind).filter(|one| one.status == "False");
    // A failing listener is more informative than the Gateway.
    let listeners = status["listeners"].as_array().into_iter().flatten();
    for listener in listeners {
        if let Some(found) =
            failed(listener, "Programmed").filter(|found| found.reason == "Invalid")
        {
            let (listener, message) = (
                listener["name"].as_str().unwrap_or("").into(),
                found.message,
            );
            return Some(fails(object, GatewayFault::Listener { listener, message }));
        }
    }
    let found = failed(status, "Accepted").or_else(|| failed(status, "Programmed"))?;
    Some(fails(
        object,
        GatewayFault::NotServed {
            reason: found.reason,
            message: found.message,
        },
    ))
}

fn route(sim: &Context<'_>, object: &Rc<Object>) -> Option<Diagnosis> {
    let spec = HttpRouteSpec::of(object);
    let parents = spec.parent_refs.iter().filter(|parent| parent.is_gateway());
    if parents.clone().count() == 0 {
        return Some(no_gateway(sim, object, GatewayFault::NoParent, None));
    }
    for (at, parent) in parents.enumerate() {
        if let Some(found) = not_attached(sim, object, (at, parent)) {
            return Some(found);
        }
    }
    for (r, rule) in spec.rules.iter().enumerate() {
        let path = rules::of_route_rule(&spec, rule);
        for (b, to) in rule.backend_refs.iter().enumerate() {
            let at = format!("/spec/rules/{r}/backendRefs/{b}");
            if let Some(found) = leads_nowhere(sim, object, to, (&path, &at)) {
                return Some(found);
            }
        }
    }
    None
}

/// Diagnoses a route without an existing Gateway, and offers existing ones.
fn no_gateway(
    sim: &Context<'_>,
    object: &Object,
    fault: GatewayFault,
    at: Option<usize>,
) -> Diagnosis {
    let mut out = fails(object, fault);
    for other in all(sim.store(), GATEWAY)
        .into_iter()
        .filter(|other| other.meta.namespace == object.meta.namespace)
        .take(4)
    {
        let name = other.meta.name.as_str();
        let step = match at {
            Some(at) => patch(
                object,
                "replace",
                &format!("/spec/parentRefs/{at}/name"),
                &format!("{name:?}"),
            ),
            None => patch(
                object,
                "add",
                "/spec/parentRefs",
                &format!("[{{\"name\":{name:?}}}]"),
            ),
        };
        out.cure(RemedyKind::SetGateway, name, "", &[step]);
    }
    out
}

/// Diagnoses a route that is not attached to one of its Gateways.
fn not_attached(
    sim: &Context<'_>,
    object: &Object,
    (at, parent): (usize, &ParentRef),
) -> Option<Diagnosis> {
    let name = &parent.name;
    let Some(gateway) = named(
        sim.store(),
        GATEWAY,
        parent.namespace_from(&object.meta.namespace),
        name,
    ) else {
        return Some(no_gateway(
            sim,
            object,
            GatewayFault::ParentMissing(name.clone()),
            Some(at),
        ));
    };
    if !is_served(sim.store(), gateway) || !holds(status_of(gateway), "Programmed") {
        let found = sim.diagnose(&gateway.key())?;
        let mut out = fails(object, GatewayFault::ParentNotServed(name.clone()));
        follow(&mut out, Some(found));
        return Some(out);
    }
    let told = status_of(object)["parents"]
        .as_array()
        .into_iter()
        .flatten();
    let own = told
        .clone()
        .find(|told| json::read::<ParentRef>(&told["parentRef"]).is_ok_and(|by| by == *parent))?;
    let GatewayCondition {
        reason, message, ..
    } = condition(own, "Accepted").filter(|one| one.status == "False")?;
    let mut out = fails(
        object,
        GatewayFault::Refused {
            gateway: name.clone(),
            message,
        },
    );
    out.word(FactLabel::Reason, &reason);
    let spec = GatewaySpec::of(gateway);
    if reason == "NoMatchingListenerHostname" {
        spec.listeners
            .iter()
            .for_each(|listener| out.word(FactLabel::Hostname, &listener.hostname));
    }
    if reason == "NoMatchingParent" && !parent.section_name.is_empty() {
        for listener in &spec.listeners {
            out.word(FactLabel::Listener, &listener.name);
            let name = listener.name.as_str();
            let step = patch(
                object,
                "replace",
                &format!("/spec/parentRefs/{at}/sectionName"),
                &format!("{name:?}"),
            );
            out.cure(RemedyKind::SetListener, name, "", &[step]);
        }
    }
    Some(out)
}

/// Diagnoses a backend at a path of the object.
fn leads_nowhere(
    sim: &Context<'_>,
    object: &Object,
    to: &BackendRef,
    (path, at): (&str, &str),
) -> Option<Diagnosis> {
    let (path, service): (Str, Str) = (path.into(), to.name.clone());
    let namespace: Str = to.namespace_from(&object.meta.namespace).into();
    let set =
        |field: &str, value: String| patch(object, "replace", &format!("{at}/{field}"), &value);
    match backend_of(sim.store(), object, to) {
        Ok((_, Backend::Ready(_))) => None,
        Ok((key, _)) => {
            let mut out = Diagnosis::new(object, PendingReason::BackendNotReady { path, service });
            follow(&mut out, sim.diagnose(&key));
            Some(out)
        }
        Err(RefFault::Kind) => Some(fails(
            object,
            GatewayFault::BackendKind {
                path,
                kind: to.kind.clone(),
            },
        )),
        Err(RefFault::NotPermitted) => {
            let mut out = fails(
                object,
                GatewayFault::BackendForbidden {
                    path,
                    service,
                    namespace: namespace.clone(),
                },
            );
            let manifest = format!(
                "apiVersion: gateway.networking.k8s.io/v1\nkind: {REFERENCE_GRANT}\nmetadata:\n  name: {}\n  namespace: {namespace}\nspec:\n  from:\n  - \
                 group: {GATEWAY_GROUP}\n    kind: {HTTP_ROUTE}\n    namespace: {}\n  to:\n  - group: ''\n    kind: Service\n    name: {}\n",
                object.meta.name, object.meta.namespace, to.name
            );
            out.cure(
                RemedyKind::MakeGrant,
                &namespace,
                "",
                &[Action::apply(manifest)],
            );
            Some(out)
        }
        Err(RefFault::NoService) => {
            let mut out = fails(object, GatewayFault::BackendMissing { path, service });
            for other in all_in(sim, Kind::Service, &namespace)
                .filter(|other| other.meta.name != "kubernetes")
                .take(4)
            {
                out.facts.push(DecidingFact::Word(
                    FactLabel::Services,
                    other.meta.name.clone(),
                ));
                let port = other
                    .body::<Service>()
                    .spec
                    .ports
                    .first()
                    .map_or(80, |port| port.port);
                let steps = [
                    set("name", format!("{:?}", other.meta.name.as_str())),
                    set("port", port.to_string()),
                ];
                out.cure(RemedyKind::SetBackendService, &other.meta.name, "", &steps);
            }
            Some(out)
        }
        Err(RefFault::NoPort) => {
            let port: Str = to.port.unwrap_or(0).to_string().into();
            let mut out = fails(
                object,
                GatewayFault::BackendPort {
                    path,
                    service: service.clone(),
                    port,
                },
            );
            let ports = sim
                .store()
                .get(&k8s_model::ObjectRef::new(
                    Kind::Service,
                    &namespace,
                    &service,
                ))
                .map(|object| &object.body::<Service>().spec.ports);
            for port in ports.into_iter().flatten() {
                out.word(FactLabel::Ports, &port.port.to_string());
                out.cure(
                    RemedyKind::SetBackendPort,
                    &port.port.to_string(),
                    "",
                    &[set("port", port.port.to_string())],
                );
            }
            Some(out)
        }
    }
}
