//! State of an object in one sentence: its state, the problem or progress, and the root cause; and the one remedy to try first.

use super::diagnose::Diagnosis;
use super::progress;
use crate::diagnose;
use crate::rules;
use crate::scaler;
use crate::waits::{Health, PendingReason};
use crate::words::{self, Reason};
use apiserver::journal::{Journal, Op};
use cluster::Sim;
use cluster_network::connectivity::{self, Direction, RequestOutcome, unanswered_port};
use cluster_network::gateway;
use i18n::{Message, msg};
use k8s_model::gateway::{GATEWAY, HTTP_ROUTE, HttpRouteSpec, address_of, status_of};
use k8s_model::ingress::{IngressSpec, address};
use k8s_model::network::Service;
use k8s_model::network_policy::NetworkPolicySpec;
use k8s_model::policy::BudgetStatus;
use k8s_model::{Body, Kind, Object, ObjectRef};
use projection::adapt::status;
use projection::model::PodState;
use projection::totals::PodTotals;
use serde_json::{Map, Value};

/// Maximum number of paths of an Ingress that are named.
const MAX_PATHS_NAMED: usize = 3;

/// Maximum number of Services scanned for those of a Pod's namespace, and of these, to which requests are evaluated.
const MAX_SERVICES_SCANNED: usize = 64;
const MAX_SERVICES_ASKED: usize = 8;

/// State of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// Object.
    pub object: ObjectRef,
    /// Health of the object.
    pub health: Health,
    /// Sentence.
    pub sentence: Message,
    /// Object with the root cause, if it is another one and exists.
    pub root: Option<ObjectRef>,
    /// Index of the remedy to try first, among those of the object's diagnosis.
    pub remedy: Option<usize>,
}

/// Describes an object that does not exist: deleted, or not created yet.
fn gone(sim: &Sim, key: &ObjectRef) -> Message {
    // A long history may be scanned completely: no keys are allocated.
    let is = |object: &Object| {
        object.kind == key.kind
            && object.meta.name == key.name
            && object.meta.namespace == key.namespace
    };
    let deleted = sim
        .journal()
        .iter()
        .rev()
        .find(|entry| matches!(entry.write(), Some((Op::Deleted, object)) if is(object)));
    match deleted {
        Some(entry) => msg::standing_deleted(key.kind, &key.name, entry.time.0 / 1000),
        None => msg::standing_not_yet(key.kind, &key.name),
    }
}

/// Returns the state of an object, given its chain of waiting down to the root, and the remedies that were found to help.
pub fn standing(sim: &Sim, key: &ObjectRef, found: &[Diagnosis], helps: &[bool]) -> Standing {
    let object = sim.store().get(key);
    let Some(first) = found.first() else {
        let (sentence, health) = match object {
            Some(object) => {
                let (sentence, health) = state(sim, object);
                (with_hook(object, sentence), health)
            }
            None => (gone(sim, key), Health::Note),
        };
        return Standing {
            object: key.clone(),
            health,
            sentence,
            root: None,
            remedy: None,
        };
    };
    // A failure is the cause, even if something beyond it is still in progress.
    let root = found
        .iter()
        .rev()
        .find(|one| one.waits.is_bad())
        .unwrap_or(&found[found.len() - 1]);
    let health = if root.waits.is_bad() {
        Health::Stuck
    } else {
        first.waits.health()
    };
    let told = object.map_or_else(
        || first.headline(),
        |object| with_hook(object, first.headline()),
    );
    let sentence = match (&first.waits, &root.waits) {
        _ if root.object == first.object || root.waits == first.waits => told,
        // The budget names another refused Pod.
        (PendingReason::EvictionRefused { .. }, PendingReason::EvictionRefused { .. }) => told,
        // The order of its Pods does not matter while one of them has a problem.
        (PendingReason::Ordinal { .. }, waits) if waits.is_bad() => {
            msg::standing_of_object(root.object.kind, &root.object.name, root.headline())
        }
        _ => msg::standing_because(told, root.headline(), root.object.kind, &root.object.name),
    };
    // It may wait for a Pod of its own that has no problem.
    let awaited = found
        .last()
        .and_then(|last| last.waits_for.as_ref())
        .filter(|_| !root.waits.is_bad());
    let cause = awaited
        .filter(|awaited| diagnose::owners(sim, awaited).contains(key))
        .unwrap_or(&root.object);
    let tried = helps.iter().position(|helps| *helps);
    Standing {
        object: key.clone(),
        health,
        sentence,
        root: (cause != key && sim.store().get(cause).is_some()).then(|| cause.clone()),
        remedy: if helps.is_empty() {
            (!first.remedies.is_empty()).then_some(0)
        } else {
            tried
        },
    }
}

/// Adds a note for a Helm hook: applied as a manifest, the object stays.
fn with_hook(object: &Object, sentence: Message) -> Message {
    match object.meta.annotation("helm.sh/hook") {
        Some(hook) => msg::standing_helm_hook(sentence, hook.as_str(), object.kind),
        None => sentence,
    }
}

/// Returns the state of an object without a diagnosis made before.
pub fn of(sim: &Sim, key: &ObjectRef) -> Standing {
    standing(sim, key, &diagnose::chain_of_waiting(sim, key), &[])
}

/// Returns the first stuck object of several, with its name and state.
pub fn first_stuck<'a>(
    sim: &Sim,
    keys: impl IntoIterator<Item = &'a ObjectRef>,
) -> Option<Message> {
    let stuck = keys
        .into_iter()
        .map(|key| of(sim, key))
        .find(|standing| standing.health == Health::Stuck)?;
    Some(msg::standing_of_object(
        stuck.object.kind,
        &stuck.object.name,
        stuck.sentence,
    ))
}

/// Returns the chain of causes of an object's current state, newest first; in case of a problem the caller passes the key of the root cause.
pub fn chain(sim: &Sim, journal: Journal<'_>, key: &ObjectRef) -> Vec<Reason> {
    let version = sim
        .store()
        .get(key)
        .map_or(0, |object| object.meta.resource_version);
    words::chain(journal, &sim.delays, key, version)
}

/// Returns the state of an object that waits for nothing.
fn state(sim: &Sim, object: &Object) -> (Message, Health) {
    let well_if = |well: bool| if well { Health::Well } else { Health::Waiting };
    let pods =
        |ready: i32, desired: i32| (msg::wait_pods(ready, desired), well_if(ready == desired));
    let of_state =
        |state: PodState| well_if(matches!(state, PodState::Ready | PodState::Succeeded));
    if object.meta.is_deleting() {
        return (msg::standing_deleting(), Health::Waiting);
    }
    match &object.body {
        Body::Pod(pod) => {
            let (state, word) = status(object);
            let words = if pod.node_name.is_empty() {
                word
            } else {
                msg::standing_on_node(word, &pod.node_name)
            };
            match state {
                // A bare Pod was created for debugging: the connections that fail from it are what matters.
                PodState::Ready if object.meta.controller().is_none() => {
                    match failing_request(sim, object) {
                        Some((service, why)) => (
                            msg::standing_requests_fail(words, service, why),
                            Health::Note,
                        ),
                        None => (words, Health::Well),
                    }
                }
                _ => (words, of_state(state)),
            }
        }
        Body::Deployment(body) if body.is_updating() => (
            msg::standing_rolling(body.status.updated_replicas, body.spec.replicas),
            Health::Waiting,
        ),
        Body::Deployment(body) => pods(body.status.ready_replicas, body.spec.replicas),
        Body::ReplicaSet(body) if body.spec.replicas == 0 => {
            (msg::standing_scaled_to_zero(), Health::Note)
        }
        Body::ReplicaSet(body) => pods(body.status.ready_replicas, body.spec.replicas),
        Body::StatefulSet(body) if body.is_updating() => (
            msg::standing_rolling(body.status.updated_replicas, body.spec.replicas),
            Health::Waiting,
        ),
        Body::StatefulSet(body) => pods(body.status.ready_replicas, body.spec.replicas),
        Body::DaemonSet(body) => pods(
            body.status.number_ready,
            body.status.desired_number_scheduled,
        ),
        Body::Job(job) => {
            let (words, state) = progress::of_job(job, PodTotals::default());
            (msg::progress_job(words), of_state(state))
        }
        Body::PersistentVolumeClaim(body) if body.status.phase == "Bound" => (
            msg::standing_claim_bound(body.spec.volume_name.as_str()),
            Health::Well,
        ),
        Body::PersistentVolumeClaim(body) => (Message::state(&body.status.phase), Health::Waiting),
        Body::PersistentVolume(body) => (Message::state(&body.status.phase), Health::Well),
        Body::Service(service) => (service_state(sim, object, service), Health::Well),
        Body::Node(node) if node.spec.unschedulable => (
            msg::standing_node_cordoned(pods_on(sim, object)),
            Health::Note,
        ),
        Body::Node(_) => (msg::standing_node(pods_on(sim, object)), Health::Well),
        _ if object.kind == Kind::Ingress => ingress_state(object),
        _ if object.kind.is_gateway_api(GATEWAY) => gateway_state(object),
        _ if object.kind.is_gateway_api(HTTP_ROUTE) => route_state(sim, object),
        _ if object.kind == Kind::NetworkPolicy => policy_state(sim, object),
        _ if object.kind == Kind::PodDisruptionBudget => (budget_state(object), Health::Well),
        _ if object.kind == Kind::HorizontalPodAutoscaler => scaler::state(object)
            .unwrap_or_else(|| (msg::standing_stored(object.kind), Health::Well)),
        Body::Other(body)
            if matches!(object.kind, Kind::RoleBinding | Kind::ClusterRoleBinding) =>
        {
            (grants(body), Health::Well)
        }
        _ if !object.kind.is_simulated() => (msg::standing_inert(object.kind), Health::Note),
        _ => (msg::standing_stored(object.kind), Health::Well),
    }
}

/// Returns the first Service of its namespace with ready endpoints that a Pod cannot reach, and the reason.
fn failing_request<'a>(sim: &'a Sim, pod: &Object) -> Option<(&'a str, Vec<Message>)> {
    let pod = sim.store().get(&pod.key())?;
    let near = |service: &&'a std::rc::Rc<Object>| service.meta.namespace == pod.meta.namespace;
    sim.store()
        .list(Kind::Service)
        .take(MAX_SERVICES_SCANNED)
        .filter(near)
        .take(MAX_SERVICES_ASKED)
        .find_map(|service| {
            let port = service.get::<Service>()?.spec.ports.first()?.port;
            let attempt = connectivity::connect(sim.store(), pod, &service.meta.name, port, 0);
            let mut why = if attempt.outcome == RequestOutcome::Answered {
                Vec::new()
            } else {
                rules::of_attempt(&attempt)
            };
            // Once policies allowed the connection, this would fail next.
            if !why.is_empty() && attempt.outcome != RequestOutcome::Refused {
                why.extend(
                    unanswered_port(sim.store(), service)
                        .map(|(port, _)| msg::hint_unanswered(i64::from(port.port))),
                );
            }
            (!why.is_empty()).then_some((service.meta.name.as_str(), why))
        })
}

fn budget_state(budget: &Object) -> Message {
    match BudgetStatus::of(budget) {
        status if status.observed_generation == 0 => msg::policy_unobserved(),
        status => msg::standing_budget(
            status.disruptions_allowed,
            status.current_healthy,
            status.desired_healthy,
        ),
    }
}

fn pods_on(sim: &Sim, node: &Object) -> usize {
    sim.scheduler.pods_on(&node.meta.name).count()
}

fn service_state(sim: &Sim, object: &Object, service: &Service) -> Message {
    if service.spec.kind == "ExternalName" {
        return msg::standing_external_name();
    }
    let endpoints = sim
        .store()
        .slices_of(object)
        .flat_map(|slice| &slice.endpoints);
    let ready: Vec<_> = endpoints.filter(|endpoint| endpoint.is_ready()).collect();
    let said = msg::standing_service(ready.len());
    let pod = ready
        .first()
        .and_then(|one| one.target_ref.as_ref())
        .map(|to| ObjectRef::new(Kind::Pod, &to.namespace, &to.name));
    let isolating = pod
        .and_then(|key| sim.store().get(&key))
        .map(|pod| connectivity::policies_of(sim.store(), Direction::Ingress, pod));
    match isolating.filter(|all| !all.is_empty()) {
        Some(all) => msg::standing_service_isolated(
            said,
            all.iter()
                .map(|(key, _)| Message::name(&key.name))
                .collect::<Vec<_>>(),
        ),
        None => said,
    }
}

fn ingress_state(ingress: &Object) -> (Message, Health) {
    match address(ingress) {
        Some(address) => {
            let (paths, spec) = (rules::of_ingress(ingress), IngressSpec::of(ingress));
            // A few paths are named; without a default backend, the fate of all others is described too.
            let few =
                spec.default_backend.is_none() && (1..=MAX_PATHS_NAMED).contains(&paths.len());
            let words = match few {
                true => msg::standing_ingress_only(
                    address,
                    spec.paths().map(Message::name).collect::<Vec<_>>(),
                ),
                false => msg::standing_ingress(address, paths.len()),
            };
            (words, Health::Well)
        }
        None => (msg::standing_stored(ingress.kind), Health::Waiting),
    }
}

fn gateway_state(gateway: &Object) -> (Message, Health) {
    let listeners = status_of(gateway)["listeners"]
        .as_array()
        .into_iter()
        .flatten();
    let routes: i64 = listeners
        .filter_map(|listener| listener["attachedRoutes"].as_i64())
        .sum();
    match address_of(gateway) {
        Some(address) => (msg::standing_gateway(address, routes), Health::Well),
        None => (msg::standing_stored(gateway.kind), Health::Waiting),
    }
}

fn route_state(sim: &Sim, route: &Object) -> (Message, Health) {
    let spec = HttpRouteSpec::of(route);
    let parents = gateway::parents(sim.store(), route, &spec);
    let addresses: Vec<Message> = parents
        .iter()
        .filter_map(|(_, gateway)| address_of(gateway))
        .map(Message::name)
        .collect();
    if addresses.is_empty() {
        return (msg::standing_stored(route.kind), Health::Waiting);
    }
    (
        msg::standing_route(addresses, rules::of_route(&spec).len()),
        Health::Well,
    )
}

/// Describes the subjects to which a binding grants its role.
fn grants(binding: &Map<String, Value>) -> Message {
    let role = binding.get("roleRef").unwrap_or(&Value::Null);
    let subjects = binding
        .get("subjects")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let named = subjects.map(|subject| Message::name(subject["name"].as_str().unwrap_or("")));
    let kind = if role["kind"] == "Role" {
        Kind::Role
    } else {
        Kind::ClusterRole
    };
    msg::standing_grants(
        kind,
        role["name"].as_str().unwrap_or(""),
        named.collect::<Vec<_>>(),
    )
}

fn policy_state(sim: &Sim, policy: &Object) -> (Message, Health) {
    let spec = NetworkPolicySpec::of(policy);
    let here = sim
        .store()
        .list(Kind::Pod)
        .filter(|pod| pod.meta.namespace == policy.meta.namespace);
    match here
        .filter(|pod| spec.pod_selector.matches(&pod.meta.labels))
        .count()
    {
        0 => (msg::standing_policy_selects_none(), Health::Note),
        pods if rules::allows_nothing(&spec) => (
            msg::standing_policy_closed(
                pods,
                spec.policy_types
                    .iter()
                    .map(Message::name)
                    .collect::<Vec<_>>(),
            ),
            Health::Well,
        ),
        pods if connectivity::allows_no_pod(sim.store(), &policy.meta.namespace, &spec) => (
            msg::standing_policy_no_peer(
                pods,
                spec.policy_types
                    .iter()
                    .map(Message::name)
                    .collect::<Vec<_>>(),
            ),
            Health::Note,
        ),
        pods => (
            msg::standing_policy(
                pods,
                spec.policy_types
                    .iter()
                    .map(Message::name)
                    .collect::<Vec<_>>(),
            ),
            Health::Well,
        ),
    }
}
