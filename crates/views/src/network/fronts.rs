//! Ingresses and Gateways: the Services to which they route requests.

use super::measures::{HEAD, LEFT, NARROW};
use super::parts::{say, title};
use super::read::Front;
use super::words::titled;
use crate::shape::{CardBody, CardTable, LabelRole, Line, Rect, Scene};
use i18n::format::middle;
use i18n::{Message, dotted, msg};
use projection::model::Id;

/// Maximum number of rows on a card, and their height.
const MAX_ROUTES: usize = 6;
const ROW: f64 = 32.0;
/// Maximum width of the card, width of the client beside it, and the gap.
const CARD: f64 = 520.0;
const CLIENT: f64 = 232.0;
const GAP: f64 = 72.0;
/// Width below which the card has two columns.
const SHORT: f64 = 420.0;

/// Draws an Ingress or a Gateway; returns its bottom. A client beside it requests the first path, if there is room.
pub(super) fn put(front: &Front, (top, width): (f64, f64), out: &mut Scene) -> f64 {
    title(
        out,
        top,
        if front.is_gateway {
            msg::net_gateway()
        } else {
            msg::net_front()
        },
    );
    let beside = width >= LEFT * 2.0 + CLIENT + GAP + 360.0;
    let left = if width <= NARROW { 16.0 } else { LEFT };
    let x = if beside { left + CLIENT + GAP } else { left };
    let w = (width - x - left).min(CARD);
    let is_served = !front.address.is_empty();
    // The path, the backend and the answer share a row. Without a controller there is no answer.
    let letters = |part: f64| (((w - 40.0) * part / 7.4) as usize).max(10);
    let mut rows: Vec<_> = front
        .routes
        .iter()
        .take(MAX_ROUTES)
        .map(|route| {
            let name = |text: &str, part: f64| Message::name(middle(text, letters(part)));
            let cells = match w < SHORT {
                // A phone has room for two columns: a failure is more informative than the backend.
                true if route.serves => vec![name(&route.path, 0.5), name(&route.to, 0.4)],
                _ if !is_served => vec![name(&route.path, 0.5), name(&route.to, 0.4)],
                true => vec![name(&route.path, 0.4), route.answer.clone()],
                false => vec![
                    name(&route.path, 0.4),
                    name(&route.to, 0.25),
                    route.answer.clone(),
                ],
            };
            (cells, route.serves)
        })
        .collect();
    if is_served && !front.routes.iter().any(|route| route.path == "*") {
        rows.push((vec![msg::net_no_match(), msg::net_not_found()], false));
        if w >= SHORT {
            rows.iter_mut()
                .filter(|(cells, _)| cells.len() < 3)
                .for_each(|(cells, _)| cells.insert(1, Message::default()));
        }
    }
    let served = if front.address.is_empty() {
        msg::net_unserved()
    } else {
        msg::net_served(&front.class)
    };
    let rect = Rect::new(x, top + 32.0, w, HEAD + rows.len() as f64 * ROW + 10.0);
    let told: Vec<Message> = rows
        .iter()
        .map(|(cells, _)| Message::list(cells.clone()))
        .collect();
    let (kind, label) = match front.is_gateway {
        true => (
            "Gateway",
            msg::net_gateway_label(&front.id.name, served.clone(), told),
        ),
        false => (
            "Ingress",
            msg::net_front_label(&front.id.name, served.clone(), told),
        ),
    };
    let table = CardTable {
        kind,
        caption: dotted(vec![Message::name(kind), Message::name(&front.address)]),
        title: Message::name(titled(&front.id.name, &served, w)),
        pill: served,
        head: Vec::new(),
        rows,
    };
    out.put(
        &front.id,
        rect,
        CardBody::Table(table),
        None,
        if front.address.is_empty() {
            "none"
        } else {
            "ready"
        },
        label,
    );
    if !is_served && !front.is_gateway {
        let reason = match front.class.is_empty() {
            true => msg::net_unserved_no_class(),
            false => msg::wait_ingress_class_missing(&front.class),
        };
        say(
            [reason],
            (rect.x, rect.bottom() + 8.0),
            LabelRole::Trouble,
            out,
        );
    }
    if !beside {
        return rect.bottom();
    }
    let lines = asked(front);
    let asks = Rect::new(LEFT, rect.y, CLIENT, 78.0 + 18.0 * lines.len() as f64);
    let id = Id {
        uid: format!("client/{}", front.id.uid),
        ..Id::default()
    };
    let label = msg::net_client_runs(msg::net_outside(), lines.join("; "));
    out.put(
        &id,
        asks,
        CardBody::Terminal {
            state: None,
            title: msg::net_outside(),
            lines,
        },
        None,
        "",
        label,
    );
    if !front.address.is_empty() {
        let y = asks.cy();
        let serves = front.routes.first().is_some_and(|route| route.serves);
        out.link(
            format!("ask/{}", front.id.uid),
            super::parts::arrow(asks.right() + 2.0, x - 3.0, y),
            way(serves),
        );
    }
    rect.bottom().max(asks.bottom())
}

/// Command that a client outside enters to request the first path: a host unknown to DNS is passed as a header.
fn asked(front: &Front) -> Vec<String> {
    let path = front.routes.first().map_or("", |route| route.path.as_str());
    // A match may have a method before the path, and further conditions after it.
    let path = path
        .split(' ')
        .find(|part| part.contains('/'))
        .unwrap_or(path);
    if front.address.is_empty() {
        return vec![format!("$ curl {}", middle(path, 22))];
    }
    let (host, path) = path.split_once('/').unwrap_or((path, ""));
    let ask = format!(
        "$ curl {}",
        middle(&[&front.address, "/", path].concat(), 22)
    );
    match host {
        "" | "*" => vec![ask],
        host => vec![
            [&ask, " \\"].concat(),
            format!("  -H Host:{}", middle(&host.replacen('*', "any", 1), 20)),
        ],
    }
}

fn way(serves: bool) -> Line {
    if serves { Line::Travels } else { Line::Fails }
}

/// Draws the line from an Ingress or a Gateway to the Service of the band below it, if it routes there.
pub(super) fn link(front: &Front, service: &Id, out: &mut Scene) {
    let mut led = front
        .routes
        .iter()
        .filter(|route| route.service.as_deref() == Some(service.uid.as_str()))
        .peekable();
    if front.address.is_empty() || led.peek().is_none() {
        return;
    }
    let serves = led.any(|route| route.serves);
    let rect = |uid: &str| {
        out.items
            .iter()
            .find(|item| item.id.uid == uid)
            .map(|item| item.rect)
    };
    if let (Some(from), Some(to)) = (rect(&front.id.uid), rect(&service.uid)) {
        // Right of the title of the band.
        let x = from.right().min(to.right()) - 24.0;
        out.link(
            format!("to/{}/{}", front.id.uid, service.uid),
            super::parts::down(x, from.bottom() + 2.0, to.y - 3.0),
            way(serves),
        );
    }
}
