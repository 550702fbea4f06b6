//! Reads of Network beyond the model: the outcome of the request drawn, and the routes of Ingresses and Gateways.

use super::matrix::Matrix;
use cluster::Sim;
use cluster_network::connectivity::{
    Attempt, Backend, Direction, RequestOutcome, backend_of, class_of, connect, ingress_backend,
    policies_of, routes_of,
};
use cluster_network::gateway::{self, RefFault};
use explain::rules;
use i18n::{Message, msg};
use k8s_model::gateway::{BackendRef, GATEWAY, GatewaySpec, HttpRule, address_of};
use k8s_model::ingress::{IngressSpec, address};
use k8s_model::network::Service as Body;
use k8s_model::network_policy::NetworkPolicySpec;
use k8s_model::selector::LabelSelector;
use k8s_model::{Kind, Object, ObjectRef, Str};
use projection::adapt::{self, Scope};
use projection::model::{Endpoint, Id, Model, Pod, Service};
use std::rc::Rc;

/// Maximum number of endpoints checked for policies that isolate them: those of one Service are mostly alike.
pub(super) const MAX_ENDPOINTS_ASKED: usize = 8;
/// Maximum number of Ingresses drawn.
const MAX_FRONTS: usize = 2;

/// NetworkPolicy that isolates an end of the request drawn.
pub(super) struct Isolation {
    pub(super) id: Id,
    pub(super) direction: Direction,
    /// Names of the isolated endpoints; empty if it isolates the client.
    pub(super) pods: Vec<String>,
    /// Rules allowed in this direction.
    pub(super) rules: Vec<Message>,
}

/// Outcome of the request that a band draws.
#[derive(Default)]
pub(super) struct RoutedRequest {
    pub(super) isolations: Vec<Isolation>,
    /// Name of the client.
    pub(super) client: String,
    /// Rule that allows the request, or the reason of its failure; empty if there is nothing to explain.
    pub(super) verdict: Vec<Message>,
    /// Failure in a word; `None` if the request arrives.
    pub(super) fails: Option<Message>,
}

/// Path of an Ingress or rule of a Gateway's routes.
pub(super) struct Route {
    /// `shop.example.com/cart`
    pub(super) path: String,
    /// `web:80`
    pub(super) to: String,
    /// Answer that the client gets.
    pub(super) answer: Message,
    /// Uid of the Service, if it exists.
    pub(super) service: Option<String>,
    /// True if requests are answered.
    pub(super) serves: bool,
}

/// Ingress or Gateway.
pub(super) struct Front {
    pub(super) id: Id,
    /// True for a Gateway.
    pub(super) is_gateway: bool,
    /// Address; empty if no controller serves it.
    pub(super) address: String,
    pub(super) class: String,
    pub(super) routes: Vec<Route>,
}

/// Source of the requests' outcomes; empty if only the model is drawn.
#[derive(Clone, Copy)]
pub struct Traffic<'a>(Option<(&'a Sim, &'a Scope)>);

impl<'a> Traffic<'a> {
    /// Draws the model alone.
    pub const NONE: Traffic<'static> = Traffic(None);

    /// Evaluates requests in a cluster.
    pub fn of(sim: &'a Sim, scope: &'a Scope) -> Traffic<'a> {
        Traffic(Some((sim, scope)))
    }

    /// Evaluates a request from a client, or from any Pod, to a Service; `followed` names the selected Pod, `asked` the one to which the
    /// request is drawn.
    pub(super) fn request(
        &self,
        service: &Service,
        client: Option<&Pod>,
        followed: Option<&str>,
        asked: Option<&str>,
    ) -> RoutedRequest {
        let Some((sim, _)) = self.0 else {
            return RoutedRequest::default();
        };
        let namespace = &service.id.namespace;
        let find = |kind: Kind, name: &str| sim.store().get(&ObjectRef::new(kind, namespace, name));
        let client = client.and_then(|pod| find(Kind::Pod, &pod.id.name));
        let mut out = RoutedRequest::default();
        if let Some(client) = client {
            out.client = client.meta.name.to_string();
            isolate(&mut out, sim, Direction::Egress, client, None);
        }
        let first = |one: &&Endpoint| followed.is_none_or(|name| name == one.pod);
        let (chosen, others): (Vec<&Endpoint>, Vec<&Endpoint>) = service
            .endpoints
            .iter()
            .filter(|one| !one.gone)
            .partition(first);
        for endpoint in chosen.iter().chain(&others).take(MAX_ENDPOINTS_ASKED) {
            if let Some(pod) = find(Kind::Pod, &endpoint.pod) {
                isolate(&mut out, sim, Direction::Ingress, pod, Some(&endpoint.pod));
            }
        }
        let port = find(Kind::Service, &service.id.name).and_then(|object| {
            object
                .get::<Body>()?
                .spec
                .ports
                .first()
                .map(|port| port.port)
        });
        let (Some(client), Some(port)) = (client, port) else {
            return out;
        };
        let at = chosen
            .iter()
            .find(|one| one.ready)
            .map(|one| one.address.as_str());
        // A selected Pod is addressed directly.
        let host = at
            .filter(|_| followed.is_some() && service.address.is_empty())
            .unwrap_or(&service.id.name);
        let mut attempts =
            (0..MAX_ENDPOINTS_ASKED).map(|turn| connect(sim.store(), client, host, port, turn));
        let is_drawn = |attempt: &Attempt| {
            attempt
                .pod
                .as_ref()
                .is_none_or(|pod| asked.is_none_or(|name| name == pod.meta.name))
        };
        let attempt = attempts
            .find(is_drawn)
            .unwrap_or_else(|| connect(sim.store(), client, host, port, 0));
        out.fails = failure(&attempt);
        // Without an endpoint the Service itself shows the reason.
        let tells = out.fails.is_some() && service.ready() > 0;
        out.verdict = if tells || !out.isolations.is_empty() {
            rules::of_attempt(&attempt)
        } else {
            Vec::new()
        };
        out
    }

    /// Returns the selected NetworkPolicy: its namespace, and its Pod selector.
    pub(super) fn policy(&self, selected: Option<&str>) -> Option<(Str, LabelSelector)> {
        let ((sim, _), uid) = self.0.zip(selected)?;
        let policy = sim
            .store()
            .list(Kind::NetworkPolicy)
            .find(|policy| policy.meta.uid.to_string() == uid)?;
        Some((
            policy.meta.namespace.clone(),
            NetworkPolicySpec::of(policy).pod_selector,
        ))
    }

    /// Returns true if a policy isolates the first Pod of a Service.
    pub(super) fn isolates(
        &self,
        (namespace, selector): &(Str, LabelSelector),
        service: &Service,
    ) -> bool {
        let Some((sim, _)) = self.0.filter(|_| *namespace == service.id.namespace) else {
            return false;
        };
        let pod = service.endpoints.first().and_then(|one| {
            sim.store()
                .get(&ObjectRef::new(Kind::Pod, namespace, &one.pod))
        });
        pod.is_some_and(|pod| selector.matches(&pod.meta.labels))
    }

    /// Evaluates who may call whom.
    pub(super) fn matrix(&self, model: &Model) -> Option<Matrix> {
        self.0.and_then(|(sim, _)| Matrix::of(sim, model))
    }

    /// Returns the Ingresses and Gateways, those with a controller first.
    pub(super) fn fronts(&self) -> Vec<Front> {
        let Some((sim, scope)) = self.0 else {
            return Vec::new();
        };
        let here = |object: &&Rc<Object>| {
            scope
                .namespace
                .as_deref()
                .is_none_or(|namespace| object.meta.namespace == namespace)
        };
        let gateways = gateway::all(sim.store(), GATEWAY).into_iter();
        let mut all: Vec<&Rc<Object>> = sim
            .store()
            .list(Kind::Ingress)
            .chain(gateways)
            .filter(here)
            .collect();
        all.sort_by_key(|object| address(object).or_else(|| address_of(object)).is_none());
        let front = |object: &Rc<Object>| {
            if is_gateway(object) {
                gateway_front(sim, object)
            } else {
                front(sim, object)
            }
        };
        all.into_iter().take(MAX_FRONTS).map(front).collect()
    }
}

/// Describes the failure of a request in a word.
fn failure(attempt: &Attempt) -> Option<Message> {
    let denied = attempt.egress.is_denied() || attempt.ingress.is_denied();
    match attempt.outcome {
        RequestOutcome::Answered => None,
        _ if denied => Some(msg::net_fails_denied()),
        RequestOutcome::Refused => Some(msg::net_fails_refused()),
        RequestOutcome::NoName | RequestOutcome::NoNameServer => Some(msg::net_fails_name()),
        RequestOutcome::TimedOut => Some(msg::net_fails_time()),
    }
}

fn isolate(
    out: &mut RoutedRequest,
    sim: &Sim,
    direction: Direction,
    pod: &Object,
    name: Option<&str>,
) {
    for (key, spec) in policies_of(sim.store(), direction, pod) {
        let known = out
            .isolations
            .iter_mut()
            .find(|one| one.direction == direction && one.id.name == key.name);
        match (known, name) {
            (Some(known), name) => known.pods.extend(name.map(str::to_owned)),
            (None, name) => {
                let Some(object) = sim.store().get(&key) else {
                    continue;
                };
                let of = if direction == Direction::Ingress {
                    &spec.ingress
                } else {
                    &spec.egress
                };
                let rules = of
                    .iter()
                    .map(|rule| rules::of_policy(rule, direction))
                    .collect();
                let pods = name.map(str::to_owned).into_iter().collect();
                out.isolations.push(Isolation {
                    id: adapt::id(object),
                    direction,
                    pods,
                    rules,
                });
            }
        }
    }
}

fn front(sim: &Sim, object: &Rc<Object>) -> Front {
    let spec = IngressSpec::of(object);
    let served = class_of(sim.store(), object).is_some();
    let paths = spec.rules.iter().flat_map(|rule| {
        rule.http
            .paths
            .iter()
            .map(|path| (rules::of_path(&rule.host, path), &path.backend))
    });
    let default = spec
        .default_backend
        .iter()
        .map(|backend| ("*".to_owned(), backend));
    let routes = paths.chain(default).map(|(path, to)| {
        let (key, found) = ingress_backend(sim.store(), &object.meta.namespace, to);
        let service = key
            .and_then(|key| sim.store().get(&key))
            .map(|object| object.meta.uid.to_string());
        let answer = match found {
            Backend::Ready(pods) => msg::ready_endpoints(pods),
            Backend::NoService => msg::net_no_service(),
            Backend::NoPort => msg::net_no_service_port(),
            Backend::NoEndpoints => msg::net_no_endpoints(),
            Backend::Denied(_) => msg::net_denied(),
        };
        Route {
            path,
            to: rules::of_backend(to),
            answer,
            service,
            serves: matches!(found, Backend::Ready(_)),
        }
    });
    Front {
        id: adapt::id(object),
        is_gateway: false,
        address: address(object).filter(|_| served).unwrap_or("").to_owned(),
        class: spec.class(object).to_owned(),
        routes: routes.collect(),
    }
}

fn is_gateway(object: &Object) -> bool {
    object.kind.is_gateway_api(GATEWAY)
}

/// Reads a Gateway with the rules of its attached routes.
fn gateway_front(sim: &Sim, object: &Rc<Object>) -> Front {
    let mut routes = Vec::new();
    for (route, spec, _) in routes_of(sim.store(), object) {
        for rule in &spec.rules {
            let path = rules::of_route_rule(&spec, rule);
            // A rule without matches accepts every request.
            let path = if path == "*/" { "*".to_owned() } else { path };
            led_by(sim, &route, rule, path, &mut routes);
        }
    }
    Front {
        id: adapt::id(object),
        is_gateway: true,
        address: address_of(object).unwrap_or("").to_owned(),
        class: GatewaySpec::of(object).gateway_class_name.to_string(),
        routes,
    }
}

/// Adds the targets of a rule: a redirect, nothing, or each of its backends with its weight.
fn led_by(sim: &Sim, route: &Rc<Object>, rule: &HttpRule, path: String, out: &mut Vec<Route>) {
    let one = |to: String, answer: Message| Route {
        path: path.clone(),
        to,
        answer,
        service: None,
        serves: false,
    };
    if let Some(redirect) = rule
        .filters
        .iter()
        .find_map(|filter| filter.request_redirect.as_ref())
    {
        let status = redirect.status_code.unwrap_or(302).to_string();
        out.push(Route {
            serves: true,
            ..one(redirect.hostname.to_string(), msg::net_redirect(status))
        });
        return;
    }
    let total: usize = rule.backend_refs.iter().map(BackendRef::share).sum();
    if total == 0 {
        out.push(one(String::new(), msg::net_no_backend()));
    }
    for to in rule.backend_refs.iter().filter(|to| to.share() > 0) {
        let percent = to.share() * 100 / total.max(1);
        let label = if percent == 100 {
            to.label()
        } else {
            format!("{} {percent} %", to.label())
        };
        out.push(match backend_of(sim.store(), route, to) {
            Ok((key, found)) => {
                let service = sim
                    .store()
                    .get(&key)
                    .map(|object| object.meta.uid.to_string());
                let serves = matches!(found, Backend::Ready(_));
                Route {
                    service,
                    serves,
                    ..one(
                        label,
                        if let Backend::Ready(pods) = found {
                            msg::ready_endpoints(pods)
                        } else {
                            msg::net_no_endpoints()
                        },
                    )
                }
            }
            Err(RefFault::NoService) => one(label, msg::net_unresolved_service()),
            Err(RefFault::NoPort) => one(label, msg::net_unresolved_port()),
            Err(RefFault::NotPermitted) => one(label, msg::net_unresolved_grant()),
            Err(RefFault::Kind) => one(label, msg::net_unresolved_kind()),
        });
    }
}
