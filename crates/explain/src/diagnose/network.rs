//! Services without endpoints.

use super::finding::{Context, Diagnosis, all_in, line, owners};
use crate::remedies::own_labels;
use crate::waits::{DecidingFact, FactLabel, PendingReason, RemedyKind};
use actions::Action;
use cluster_network::connectivity::{
    Direction, Peer, Verdict, endpoint_of, policies_of, unanswered_port, verdict,
};
use i18n::msg;
use k8s_model::network::{EndpointPort, Service};
use k8s_model::pod::Pod;
use k8s_model::{Kind, Object, Str};
use projection::adapt::nearest;
use serde_json::{Map, Value, json};
use std::rc::Rc;

pub fn service(sim: &Context<'_>, object: &Rc<Object>) -> Option<Diagnosis> {
    let body: &Service = object.get()?;
    let api = object.meta.name == "kubernetes" && object.meta.namespace == "default";
    if body.spec.kind == "ExternalName" || api || object.meta.is_deleting() {
        return None;
    }
    let (mut ready, mut ports) = (false, false);
    for slice in sim.store().slices_of(object) {
        let any = slice.endpoints.iter().any(|endpoint| endpoint.is_ready());
        ready |= any;
        // A headless Service without ports has none in its slices either.
        ports |= any && (!slice.ports.is_empty() || body.spec.ports.is_empty());
    }
    if ready && ports {
        // A request denied by a policy never reaches the port.
        return isolated(sim, object, body).or_else(|| not_listening(sim, object, body));
    }
    let wanted = &body.spec.selector;
    if wanted.is_empty() {
        return if ready {
            None
        } else {
            Some(Diagnosis::new(object, PendingReason::NoSelector))
        };
    }
    let has = |pod: &Object| {
        wanted
            .iter()
            .filter(|(key, value)| pod.meta.labels.get(*key) == Some(*value))
            .count()
    };
    let pods: Vec<&Rc<Object>> = all_in(sim, Kind::Pod, &object.meta.namespace)
        .filter(|pod| pod.pod().is_some_and(|pod| !pod.is_terminal()))
        .collect();
    let matching: Vec<&Rc<Object>> = pods
        .iter()
        .copied()
        .filter(|pod| has(pod) == wanted.len())
        .collect();
    if let Some(first) = matching.first() {
        if ready {
            return no_port(object, body, first);
        }
        return none_ready(sim, object, &matching);
    }
    let Some((pod, differs)) = nearest(wanted, pods.into_iter()) else {
        let mut out = Diagnosis::new(object, PendingReason::NoPods);
        out.facts.push(DecidingFact::Word(
            FactLabel::WantsLabel,
            pairs(wanted.iter()).into(),
        ));
        return Some(out);
    };
    let (key, value) = differs?;
    let mut out = Diagnosis::new(
        object,
        PendingReason::LabelDiffers {
            key: key.clone(),
            value: value.clone(),
        },
    );
    out.facts.push(DecidingFact::Word(
        FactLabel::WantsLabel,
        pairs(wanted.iter()).into(),
    ));
    out.word(FactLabel::NearestPod, &pod.meta.name);
    let other = pod.meta.labels.get(key);
    out.facts.push(match other {
        Some(other) => DecidingFact::Word(
            FactLabel::HasLabel,
            [key.as_str(), "=", other].concat().into(),
        ),
        None => DecidingFact::Said(FactLabel::HasLabel, msg::no_such_label()),
    });
    // The selector that matches the existing Pods: their owner's, or the labels that they share.
    let own = owners(sim, &pod.key())
        .pop()
        .and_then(|owner| sim.store().get(&owner));
    let labels = own.and_then(|owner| match &owner.body {
        k8s_model::Body::Deployment(body) => Some(&body.spec.selector.match_labels),
        k8s_model::Body::StatefulSet(body) => Some(&body.spec.selector.match_labels),
        k8s_model::Body::ReplicaSet(body) => Some(&body.spec.selector.match_labels),
        _ => None,
    });
    let selector = match (labels, other) {
        (Some(labels), _) => pairs(labels.iter()),
        (None, Some(other)) => [key.as_str(), "=", other].concat(),
        (None, None) => String::new(),
    };
    if !selector.is_empty() {
        let name = [
            "kubectl set selector service ",
            &object.meta.name,
            " ",
            &selector,
            &super::finding::flag(&object.key()),
        ]
        .concat();
        out.cure(
            RemedyKind::SetSelector,
            &selector,
            "",
            &[Action::kubectl(name)],
        );
    }
    if pod.meta.controller().is_none() {
        let missing = pairs(
            wanted
                .iter()
                .filter(|(key, value)| pod.meta.labels.get(*key) != Some(*value)),
        );
        let rest = [" ", &missing.replace(',', " "), " --overwrite"].concat();
        out.cure(
            RemedyKind::LabelPod,
            &pod.meta.name,
            &missing,
            &[line("label", &pod.key(), &rest)],
        );
    }
    Some(out)
}

fn pairs<'a>(labels: impl Iterator<Item = (&'a Str, &'a Str)>) -> String {
    let mut out = String::new();
    for (key, value) in labels {
        if !out.is_empty() {
            out.push(',');
        }
        out.push_str(&[key.as_str(), "=", value].concat());
    }
    out
}

/// Diagnoses a Service whose matching Pods are not ready: it waits for whatever they wait for.
fn none_ready(sim: &Context<'_>, object: &Object, matching: &[&Rc<Object>]) -> Option<Diagnosis> {
    // A starting Pod will soon be behind the Service.
    let worst = matching
        .iter()
        .take(8)
        .find_map(|pod| sim.diagnose(&pod.key()))?;
    let mut out = Diagnosis::new(object, PendingReason::NoneReady(matching.len()));
    out.count(FactLabel::Matching, matching.len() as i64);
    out.count(FactLabel::Ready, 0);
    out.since = worst.since;
    out.waits_for = Some(worst.object);
    out.remedies = worst.remedies;
    Some(out)
}

/// Diagnoses a Service with ready Pods, none of which listens on the target port.
fn not_listening(sim: &Context<'_>, object: &Object, body: &Service) -> Option<Diagnosis> {
    let (port, pod) = unanswered_port(sim.store(), object)?;
    let mut out = Diagnosis::new(object, PendingReason::NotListening(port.port));
    for port in declared(pod) {
        out.word(FactLabel::Ports, &port.to_string());
    }
    if let Some((to, step)) = right_port(object, body, port, pod) {
        out.cure(RemedyKind::SetPort, &to.to_string(), "", &[step]);
    }
    Some(out)
}

/// Returns the first port declared by a Pod, for a port of the Service on which none listens, and the command that sets it as target port.
fn right_port(
    object: &Object,
    body: &Service,
    port: &EndpointPort,
    pod: &Object,
) -> Option<(i32, Action)> {
    let to = declared(pod).next()?;
    let name = port.name.as_deref().unwrap_or("");
    let at = body.spec.ports.iter().position(|one| one.name == name)?;
    Some((to, set_port(object, at, to)))
}

/// Returns the ports declared by a Pod.
fn declared(pod: &Object) -> impl Iterator<Item = i32> + '_ {
    pod.body::<Pod>()
        .spec
        .containers
        .iter()
        .flat_map(|one| &one.ports)
        .map(|port| port.container_port)
}

/// Maximum number of other Pods whose connections are evaluated, and of Pods scanned for them.
const MAX_CLIENTS_ASKED: usize = 64;
const MAX_PODS_SCANNED: usize = 2_000;

/// Diagnoses a Service with ready Pods to which NetworkPolicies let no other Pod connect.
fn isolated(sim: &Context<'_>, object: &Object, body: &Service) -> Option<Diagnosis> {
    let server = sim.store();
    let pod = endpoint_of(server, &object.key(), 0)?;
    let isolating = policies_of(server, Direction::Ingress, &pod);
    if isolating.is_empty() {
        return None;
    }
    let (port, protocol) = server
        .slices_of(object)
        .flat_map(|slice| &slice.ports)
        .next()
        .map_or((0, "TCP"), |port| (port.port, &*port.protocol));
    let is_own = |pod: &Object| {
        body.spec
            .selector
            .iter()
            .all(|(key, value)| pod.meta.labels.get(key) == Some(value))
    };
    let other = |other: &&Rc<Object>| {
        other
            .pod()
            .is_some_and(|pod| !pod.status.pod_ip.is_empty() && !pod.is_terminal())
            && !(other.meta.namespace == object.meta.namespace && is_own(other))
    };
    let (near, far): (Vec<_>, Vec<_>) = {
        let all = sim
            .store()
            .list(Kind::Pod)
            .take(MAX_PODS_SCANNED)
            .filter(other);
        all.take(MAX_CLIENTS_ASKED)
            .partition(|other| other.meta.namespace == object.meta.namespace)
    };
    let denies = |client: &Rc<Object>| {
        let at = |direction, own: &Object, peer: &Object| {
            verdict(server, direction, own, &Peer::pod(peer), port, protocol)
        };
        let ends = [
            (Direction::Ingress, &*pod, &**client),
            (Direction::Egress, &**client, &*pod),
        ];
        ends.into_iter()
            .find_map(|(direction, own, peer)| match at(direction, own, peer) {
                Verdict::Denied { policies } => Some((direction, policies)),
                _ => None,
            })
    };
    let mut first = None;
    for client in near.into_iter().chain(far) {
        let denied = denies(client)?;
        first.get_or_insert((client, denied));
    }
    let (client, (direction, policies)) = first?;
    let policies = policies.into_iter().map(|policy| policy.name).collect();
    let wrong = unanswered_port(server, object);
    let unanswered = wrong.map(|(port, _)| port.port);
    let mut out = Diagnosis::new(
        object,
        PendingReason::DeniedByPolicy {
            policies,
            direction: direction.name(),
            unanswered,
        },
    );
    if direction == Direction::Ingress
        && client.meta.namespace == object.meta.namespace
        && !body.spec.selector.is_empty()
    {
        let name = super::finding::free_name(
            sim,
            Kind::NetworkPolicy,
            &object.meta.namespace,
            &["allow-", &object.meta.name].concat(),
        );
        // A port on which nothing listens must not be allowed: if the right one is known, the target port is set as well.
        let right = wrong.and_then(|(port, pod)| right_port(object, body, port, pod));
        let allowed = right
            .as_ref()
            .map(|(to, _)| *to)
            .or(Some(port).filter(|_| unanswered != Some(port)));
        let allows = allowance(&name, object, &from_client(client, allowed, protocol));
        let (also, step) =
            right.map_or_else(Default::default, |(to, step)| (to.to_string(), vec![step]));
        let steps = [vec![allows], step].concat();
        match own_labels(client).next() {
            Some(_) => out.cure(RemedyKind::AllowClient, &client.meta.name, &also, &steps),
            None => out.cure(
                RemedyKind::AllowNamespace,
                &client.meta.namespace,
                &also,
                &steps,
            ),
        }
    }
    Some(out)
}

/// Returns an ingress rule that lets a Pod, and those with the same labels, connect to a port, or to any. A Pod without labels cannot be
/// selected alone: then its whole namespace may connect.
fn from_client(client: &Object, port: Option<i32>, protocol: &str) -> Value {
    let labels: Map<_, _> = own_labels(client)
        .map(|(key, value)| (key.to_string(), value.as_str().into()))
        .collect();
    let from = if labels.is_empty() {
        json!({"podSelector": {}})
    } else {
        json!({"podSelector": {"matchLabels": labels}})
    };
    match port {
        Some(port) => json!({"from": [from], "ports": [{"protocol": protocol, "port": port}]}),
        None => json!({"from": [from]}),
    }
}

/// Returns the creation of a policy that lets the peers of an ingress rule connect to the Pods of a Service.
pub(super) fn allowance(name: &str, service: &Object, rule: &Value) -> Action {
    let policy = json!({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
        "metadata": {"name": name, "namespace": service.meta.namespace},
        "spec": {"podSelector": {"matchLabels": *service.body::<Service>().spec.selector}, "policyTypes": ["Ingress"], "ingress": [rule]}});
    Action::apply(kubectl::printers::yaml::print(&policy))
}

fn set_port(object: &Object, at: usize, to: i32) -> Action {
    let patch = [
        "[{\"op\":\"replace\",\"path\":\"/spec/ports/",
        &at.to_string(),
        "/targetPort\",\"value\":",
        &to.to_string(),
        "}]",
    ]
    .concat();
    line(
        "patch",
        &object.key(),
        &[" --type=json -p '", &patch, "'"].concat(),
    )
}

/// Diagnoses a Service with ready Pods, none of which has a port of the requested name.
fn no_port(object: &Object, body: &Service, pod: &Rc<Object>) -> Option<Diagnosis> {
    let named = body
        .spec
        .ports
        .iter()
        .position(|port| port.target_port.is_string())?;
    let mut out = Diagnosis::new(
        object,
        PendingReason::NoPort(body.spec.ports[named].target_port.as_str()?.into()),
    );
    let pod: &Pod = pod.body();
    let ports: Vec<_> = pod
        .spec
        .containers
        .iter()
        .flat_map(|container| &container.ports)
        .collect();
    for port in &ports {
        let number = port.container_port.to_string();
        out.word(
            FactLabel::Ports,
            &[
                port.name.as_str(),
                if port.name.is_empty() { "" } else { " " },
                &number,
            ]
            .concat(),
        );
    }
    let to = ports
        .first()
        .map_or(body.spec.ports[named].port, |port| port.container_port);
    out.cure(
        RemedyKind::SetPort,
        &to.to_string(),
        "",
        &[set_port(object, named, to)],
    );
    Some(out)
}
