//! The sentences and table rows of Network.

use super::measures::NetworkRow;
use crate::bodies::service_form;
use i18n::format::middle;
use i18n::{Message, clauses, msg};
use projection::model::{Endpoint, Model, Service, ServicePort};
use std::rc::Rc;

/// Maximum number of nodes named.
pub(super) const NODES: usize = 3;

/// Title of a card beside its pill: a long name is cut in the middle, since names with the same beginning differ at their ends.
pub(super) fn titled(name: &str, pill: &Message, w: f64) -> String {
    let pill = if pill.is_empty() {
        0.0
    } else {
        pill.length() as f64 * 6.5 + 24.0
    };
    middle(name, ((w - 64.0 - pill) / 7.6).max(8.0) as usize)
}

pub(super) fn condition(endpoint: &Endpoint) -> Message {
    match (endpoint.ready, endpoint.terminating) {
        (true, _) => msg::net_ready(),
        (false, false) if endpoint.address.is_empty() => msg::net_not_listed(),
        (false, true) => msg::totals_terminating(),
        (false, false) => msg::net_not_ready(),
    }
}

/// Host part of an endpoint's own name.
pub(super) fn host(endpoint: &Endpoint) -> String {
    match () {
        () if !endpoint.hostname.is_empty() => endpoint.hostname.clone(),
        () if endpoint.address.is_empty() => "?".into(),
        () => endpoint.address.replace('.', "-"),
    }
}

/// Describes the Pods that are not drawn: their total, and the number in each state.
pub fn rest(service: &Service, shown: &[Endpoint], more: usize) -> Vec<Message> {
    let left = |is: fn(&Endpoint) -> bool| {
        service.endpoints.iter().filter(|one| is(one)).count()
            - shown
                .iter()
                .filter(|one| !one.address.is_empty() && is(one))
                .count()
    };
    let (ready, leaving) = (
        left(|one| one.ready),
        left(|one| !one.ready && one.terminating),
    );
    let listed = left(|_| true);
    if ready == more {
        return vec![msg::net_more_ready(more)];
    }
    let mut lines = vec![msg::more(more), msg::ready_count(ready)];
    let mut say =
        |n: usize, words: &dyn Fn(usize) -> Message| lines.extend((n > 0).then(|| words(n)));
    say(leaving, &|n| msg::net_terminating(n));
    say(listed - ready - leaving, &|n| msg::net_some_not_ready(n));
    say(more.saturating_sub(listed), &|n| msg::net_some_unlisted(n));
    lines
}

/// Reason why an endpoint, or several adjacent ones, get no traffic; in short words if there is little room.
pub(super) fn why_not(service: &Service, one: &Endpoint, several: usize, short: bool) -> Message {
    let words = match one.terminating {
        // A missing member of a StatefulSet; no slice lists it.
        _ if one.gone && one.address.is_empty() => msg::net_not_listed(),
        _ if one.gone && one.ready && service.address.is_empty() => msg::net_deleted_dns(),
        _ if one.gone && one.ready => msg::net_deleted_traffic(),
        _ if one.gone && short => msg::net_deleted_listed(),
        _ if one.gone => msg::net_deleted_slice(),
        true if service.falls_back(one) => {
            return match several > 1 {
                true => msg::net_terminating_serve(several),
                false => msg::net_terminating_serves(),
            };
        }
        true => msg::net_terminating_no_new(),
        false if one.address.is_empty() && short => msg::net_unlisted(),
        false if one.address.is_empty() => msg::net_unlisted_traffic(),
        false => msg::net_not_ready_traffic(),
    };
    if several > 1 {
        msg::net_several(several, words)
    } else {
        words
    }
}

pub(super) fn address(endpoint: &Endpoint) -> Message {
    Message::name(if endpoint.address.is_empty() {
        "—"
    } else {
        &endpoint.address
    })
}

/// Answer to a lookup of a headless Service's own name.
pub(super) fn all_ready(ready: usize) -> Message {
    match ready {
        0 => msg::net_no_record(),
        1 => msg::ready_count(1),
        n => msg::net_all_ready(n),
    }
}

/// Returns the first ports of a Service, a row each.
pub(super) fn ports(service: &Service) -> impl Iterator<Item = NetworkRow> {
    // Without a virtual IP nothing translates the port.
    let plain = service.address.is_empty();
    let row = move |port: &ServicePort| match plain {
        true => vec![msg::net_port(), Message::name(&port.target)],
        false => vec![
            Message::name("port → targetPort"),
            Message::name(format!("{} → {}", port.port, port.target)),
        ],
    };
    service
        .ports
        .iter()
        .take(3)
        .map(move |port| (row(port), false))
}

/// Describes the rules on each node for packets to the Service.
pub(super) fn rule(service: &Service) -> Vec<Message> {
    let share = |n: usize| Message::name(format!("1/{}", i18n::format::count(n)));
    match service.ready() {
        0 => match service
            .endpoints
            .iter()
            .filter(|one| service.falls_back(one))
            .count()
        {
            0 => vec![msg::net_no_ready_pod(), msg::net_refused()],
            n => vec![msg::net_only_terminating(), share(n)],
        },
        n => vec![msg::net_share(), share(n)],
    }
}

/// Formats the node ports, the first two of them.
pub(super) fn node_ports(service: &Service, before: &str) -> Option<String> {
    let more = if service.node_ports.len() > 2 {
        ", …"
    } else {
        ""
    };
    let first: Vec<String> = service
        .node_ports
        .iter()
        .take(2)
        .map(|port| [before, port].concat())
        .collect();
    (!first.is_empty()).then(|| first.join(", ") + more)
}

/// Returns the rows about access from outside the cluster.
pub(super) fn outer_rows(service: &Service, named: Message) -> Vec<NetworkRow> {
    let port =
        node_ports(service, "").map(|ports| (vec![named.clone(), Message::name(ports)], false));
    let external = (!service.external.is_empty()).then(|| {
        (
            vec![
                Message::name("EXTERNAL-IP"),
                Message::name(&service.external),
            ],
            false,
        )
    });
    port.into_iter().chain(external).collect()
}

/// Returns the entry points from outside the cluster: the address of a load balancer, and the node ports.
pub(super) fn doors(model: &Model, service: &Service) -> Vec<NetworkRow> {
    let mut rows = Vec::new();
    if !service.external.is_empty() {
        rows.push((
            vec![
                Message::name("EXTERNAL-IP"),
                Message::name(&service.external),
            ],
            false,
        ));
    }
    if let Some(ports) = node_ports(service, ":") {
        let named = if model.nodes.len() > NODES {
            NODES - 1
        } else {
            NODES
        };
        rows.extend(model.nodes.iter().take(named).map(|node| {
            (
                vec![
                    Message::name(middle(&node.id.name, 12)),
                    Message::name(&ports),
                ],
                true,
            )
        }));
        if model.nodes.len() > NODES {
            rows.push((
                vec![
                    msg::more_nodes(model.nodes.len() - named),
                    Message::name(ports),
                ],
                true,
            ));
        }
    }
    rows
}

pub(super) fn address_row(external: bool) -> Message {
    if external {
        msg::net_external_name()
    } else {
        msg::net_virtual_ip()
    }
}

pub(super) fn ready_endpoints(service: &Service) -> Message {
    msg::ready_endpoints(service.ready())
}

pub(super) fn summary(model: &Model) -> Message {
    let of = |service: &Rc<Service>| {
        let address = match service.address.is_empty() {
            true => msg::net_dns_answers(),
            false => msg::net_address(&service.address),
        };
        let ready = msg::net_endpoints_ready(service.ready(), service.endpoints.len());
        let facts = vec![address, ready, service.hint.clone()]
            .into_iter()
            .filter(|fact| !fact.is_empty())
            .collect::<Vec<_>>();
        msg::net_summary(&service.id.name, service_form(service), facts)
    };
    let parts: Vec<Message> = model.services.iter().take(6).map(of).collect();
    if parts.is_empty() {
        msg::net_none()
    } else {
        clauses(parts)
    }
}
