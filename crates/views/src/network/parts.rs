//! Cards, tables and lines of a band.

use super::endpoints::client;
use super::measures::{HEAD, LEFT, NetworkRow, POD, SHORT};
use super::words::{ready_endpoints, titled};
use crate::bodies::{pod_label, service_form};
use crate::shape::{CardBody, CardTable, Label, LabelGround, LabelRole, Line, Rect, Scene, elbow};
use i18n::format::middle;
use i18n::{Message, msg};
use projection::model::{Endpoint, Id, Model, PENDING, Pod, PodState, Service};

pub(super) fn put_service(out: &mut Scene, service: &Service, rect: Rect) -> usize {
    let label = msg::service_label(
        &service.id.name,
        service_form(service),
        ready_endpoints(service),
    );
    let state = if service.ready() > 0 { "ready" } else { "none" };
    // In a narrow card the name takes precedence.
    let form = if rect.w < SHORT / 1.5 {
        Message::default()
    } else {
        service_form(service)
    };
    out.put(
        &service.id,
        rect,
        CardBody::Service { form },
        None,
        state,
        label,
    )
}

pub(super) fn put_client(
    out: &mut Scene,
    model: &Model,
    service: &Service,
    rect: Rect,
    lines: Vec<String>,
) {
    let pod = client(model, service);
    let title = pod.map_or_else(msg::net_any_pod, |pod| {
        Message::name(middle(
            &pod.id.name,
            (((rect.w - 64.0) / 7.4) as usize).max(8),
        ))
    });
    let state = pod.map(|pod| pod.state);
    let uid = format!("client/{}", service.id.uid);
    // The Pod may stand before both Services, and behind one of them.
    let id = pod.map_or_else(
        || Id {
            uid: uid.clone(),
            ..Id::default()
        },
        |pod| Id {
            uid: format!("{uid}/{}", pod.id.uid),
            ..pod.id.clone()
        },
    );
    let label = msg::net_client_runs(&title, lines.join("; "));
    out.put(
        &id,
        rect,
        CardBody::Terminal {
            state,
            title,
            lines,
        },
        None,
        "",
        label,
    );
}

/// Draws a tile for the Pod behind an endpoint: its distinguishing suffix, and its node. A Pod that is gone has no state.
pub(super) fn put_pod(
    out: &mut Scene,
    service: &Service,
    (endpoint, found): (&Endpoint, Option<&Pod>),
    (x, y, w): (f64, f64, f64),
) {
    let rect = Rect::new(x, y, w, POD);
    let letters = ((w - 32.0) / 7.2) as usize;
    let Some(pod) = found else {
        let id = Id {
            uid: format!("{}/gone/{}", service.id.uid, endpoint.pod),
            ..Id::default()
        };
        let name = middle(&endpoint.pod, letters.saturating_sub(5));
        if endpoint.gone {
            out.put(
                &id,
                rect,
                CardBody::Gone { name },
                None,
                "gone",
                msg::net_deleted(&endpoint.pod),
            );
            return;
        }
        // The target is another object, or a Pod hidden by the filter: the state comes from the slice.
        let state = match (endpoint.terminating, endpoint.ready) {
            (true, _) => PodState::Terminating,
            (_, true) => PodState::Ready,
            _ => PodState::NotReady,
        };
        let body = CardBody::Tile {
            state,
            tail: name,
            note: Message::default(),
            stale: false,
            kin: false,
            old: false,
        };
        out.put(
            &id,
            rect,
            body,
            None,
            state.class(),
            Message::name(&endpoint.pod),
        );
        return;
    };
    let note = Some(&pod.node)
        .filter(|node| node.len() < 10)
        .cloned()
        .unwrap_or_default();
    let left = letters.saturating_sub(note.len());
    let tail = if pod.id.name.len() > left {
        format!("…{}", pod.parts(left.max(5)).1.trim_start_matches('…'))
    } else {
        middle(&endpoint.pod, letters)
    };
    // The same Pod may stand behind both Services: each tile has its own key.
    let id = Id {
        uid: format!("{}/{}", service.id.uid, pod.id.uid),
        ..pod.id.clone()
    };
    let body = CardBody::Tile {
        state: pod.state,
        tail,
        note: Message::name(note),
        stale: pod.stale,
        kin: false,
        old: false,
    };
    out.put(&id, rect, body, None, pod.state.class(), pod_label(pod));
}

pub(super) fn title(out: &mut Scene, y: f64, text: Message) {
    out.labels.push(Label {
        x: LEFT,
        y,
        text,
        role: LabelRole::BandName,
        ground: LabelGround::None,
        centred: false,
    });
}

/// Writes each message on a line of its own, and returns the height.
pub(super) fn say(
    lines: impl IntoIterator<Item = Message>,
    (x, y): (f64, f64),
    role: LabelRole,
    out: &mut Scene,
) -> f64 {
    let mut height = 0.0;
    for text in lines {
        out.labels.push(Label {
            x,
            y: y + height,
            text,
            role,
            ground: LabelGround::None,
            centred: false,
        });
        height += 20.0;
    }
    height
}

pub(super) fn arrow(x1: f64, x2: f64, y: f64) -> String {
    let s = (x2 - x1).signum() * 7.0;
    format!(
        "M{x1} {y}H{x2}M{} {}L{x2} {y}L{} {}",
        x2 - s,
        y - 4.0,
        x2 - s,
        y + 4.0
    )
}

/// Draws the card of DNS, with a name for the Service and one for each ready Pod.
pub(super) fn put_dns(
    service: &Service,
    head: Vec<Message>,
    rows: Vec<NetworkRow>,
    rect: Rect,
    out: &mut Scene,
) {
    let names = if service.ready() == 0 {
        0
    } else {
        service.ready() + 1
    };
    let table = CardTable {
        kind: "Dns",
        caption: msg::net_dns(),
        title: Message::name(cluster_network::dns::SERVER),
        pill: msg::net_names(names),
        head,
        rows,
    };
    let id = Id {
        uid: format!("dns/{}", service.id.uid),
        ..Id::default()
    };
    out.put(
        &id,
        rect,
        CardBody::Table(table),
        None,
        "",
        msg::net_dns_label(names, &service.id.name),
    );
}

/// Draws a numbered label on a path.
pub(super) fn stop(out: &mut Scene, x: f64, y: f64, text: Message, centred: bool) {
    out.labels.push(Label {
        x,
        y,
        text,
        role: LabelRole::Stop,
        ground: LabelGround::None,
        centred,
    });
}

/// Path of the tip of an upward arrow.
pub(super) fn tip(x: f64, y: f64) -> String {
    format!("M{} {}L{x} {y}L{} {}", x - 4.0, y + 7.0, x + 4.0, y + 7.0)
}

pub(super) fn down(x: f64, y1: f64, y2: f64) -> String {
    format!(
        "M{x} {y1}V{y2}M{} {}L{x} {y2}L{} {}",
        x - 4.0,
        y2 - 7.0,
        x + 4.0,
        y2 - 7.0
    )
}

/// Draws the entry points from outside, with the path from each that works.
pub(super) fn put_doors(
    service: &Service,
    rows: Vec<NetworkRow>,
    rect: Rect,
    (vip_x, vip_y): (f64, f64),
    out: &mut Scene,
) {
    let uid = &service.id.uid;
    let row = |at: usize| rect.y + HEAD + 4.0 + at as f64 * 32.0 + 16.0;
    let waits = service.external == PENDING;
    // On the Service's card, ports and the virtual IP come first.
    let port = vip_y + HEAD + 4.0 + (1 + service.ports.len().min(3)) as f64 * 32.0 + 16.0;
    let (from, to, bend) = (rect.right(), vip_x - 3.0, (rect.right() + vip_x) / 2.0);
    let way = |here: f64, there: f64| {
        format!(
            "{}M{} {}L{to} {there}L{} {}",
            elbow(from, here, to, there, bend),
            to - 7.0,
            there - 4.0,
            to - 7.0,
            there + 4.0
        )
    };
    // If everything is refused no request travels.
    let reached = service
        .endpoints
        .iter()
        .any(|one| one.ready || service.falls_back(one));
    let line = if reached { Line::Travels } else { Line::Fails };
    let balanced = usize::from(!service.external.is_empty());
    // Without an address no request can enter there.
    if balanced == 1 && !waits {
        let there = port
            + if service.node_ports.is_empty() {
                0.0
            } else {
                32.0
            };
        out.link(format!("outside/{uid}"), way(row(0), there), line);
    }
    for at in balanced..rows.len() {
        out.link(format!("outside/{uid}/{at}"), way(row(at), port), line);
    }
    if waits {
        let text = msg::net_no_provider();
        out.labels.push(Label {
            x: rect.x,
            y: rect.bottom() + 3.0,
            text,
            role: LabelRole::Trouble,
            ground: LabelGround::None,
            centred: false,
        });
    }
    let told: Vec<Message> = rows
        .iter()
        .map(|(cells, _)| Message::list(cells.clone()))
        .collect();
    let table = CardTable {
        kind: "Outside",
        caption: msg::net_outside(),
        title: msg::net_any_client(),
        pill: Message::default(),
        head: Vec::new(),
        rows,
    };
    let id = Id {
        uid: format!("outside/{uid}"),
        ..Id::default()
    };
    out.put(
        &id,
        rect,
        CardBody::Table(table),
        None,
        "",
        msg::net_outside_label(told),
    );
}

/// Draws the EndpointSlices of a Service, with their contents: one of them by name.
pub(super) fn put_slices(service: &Service, rect: Rect, out: &mut Scene) {
    let leaving = service
        .endpoints
        .iter()
        .filter(|one| !one.ready && one.terminating)
        .count();
    let ready = service.ready();
    let several = msg::net_slices(service.slices);
    let (id, caption, name) = match &service.slice {
        Some(id) => (
            id.clone(),
            Message::name("EndpointSlice"),
            Message::name(titled(&id.name, &Message::default(), rect.w)),
        ),
        None => (
            Id {
                uid: format!("slices/{}", service.id.uid),
                ..Id::default()
            },
            several,
            msg::net_slice_limit(),
        ),
    };
    let others = service.endpoints.len() - ready - leaving;
    let mut rows = vec![(vec![msg::metric_ready(), Message::count(ready)], false)];
    // There is room for two.
    let left = match (leaving, others) {
        (0, others) => (msg::net_not_ready(), others),
        (leaving, 0) => (msg::totals_terminating(), leaving),
        (leaving, others) => (msg::net_terminating_or_not(), leaving + others),
    };
    rows.push((vec![left.0, Message::count(left.1)], false));
    let named = if id.name.is_empty() {
        caption.clone()
    } else {
        msg::kind_name("EndpointSlice", &id.name)
    };
    let label = Message::list(vec![
        named,
        msg::ready_count(ready),
        msg::net_terminating(leaving),
        msg::net_some_not_ready(others),
    ]);
    let slices = CardTable {
        kind: "EndpointSlice",
        caption,
        title: name,
        pill: Message::default(),
        head: Vec::new(),
        rows,
    };
    out.put(&id, rect, CardBody::Table(slices), None, "", label);
}
