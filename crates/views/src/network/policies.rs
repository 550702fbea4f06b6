//! NetworkPolicies below a band: the ends of its request that they isolate, their rules, and the verdict on the request.

use super::measures::{HEAD, LEFT, NARROW};
use super::parts::say;
use super::read::{Isolation, MAX_ENDPOINTS_ASKED, RoutedRequest};
use crate::shape::{CardBody, CardTable, Label, LabelGround, LabelRole, Line, Port, Rect, Scene};
use cluster_network::connectivity::Direction;
use i18n::{Message, dotted, msg};
use projection::model::Service;
use std::fmt::Write as _;

/// Width of a policy's card, gap between cards, and between the band and the cards.
const CARD: f64 = 400.0;
const APART: f64 = 16.0;
const BELOW: f64 = 30.0;
/// Width of a character of a label.
const LETTER: f64 = 5.7;
/// Gap between a label and the cards on both sides.
const MARGIN: f64 = 8.0;
/// Maximum number of rules on a card.
const MAX_RULES: usize = 4;

/// Bounds of the parts of a band that policies isolate.
struct Ends {
    client: Option<Rect>,
    pods: Vec<(String, Rect)>,
}

impl Ends {
    fn of(service: &Service, out: &Scene) -> Ends {
        let (client, pods) = (
            ["client/", &service.id.uid].concat(),
            [&service.id.uid, "/"].concat(),
        );
        let tiles = out.items.iter().filter(|item| {
            matches!(item.body, CardBody::Tile { .. }) && item.id.uid.starts_with(&pods)
        });
        Ends {
            client: out
                .items
                .iter()
                .find(|item| item.id.uid.starts_with(&client))
                .map(|item| item.rect),
            pods: tiles
                .map(|item| (item.id.name.clone(), item.rect))
                .collect(),
        }
    }
}

/// Draws the policies of a band that ends at `top`, and returns the new bottom. `drawn` is the number of lines before it.
pub(super) fn put(
    request: &RoutedRequest,
    service: &Service,
    (top, width): (f64, f64),
    drawn: usize,
    out: &mut Scene,
) -> f64 {
    let ends = Ends::of(service, out);
    let role = if request.fails.is_some() {
        LabelRole::Failure
    } else {
        LabelRole::Plain
    };
    let mut y = top;
    let narrow = width <= NARROW;
    let left = if narrow { 16.0 } else { LEFT };
    if !request.verdict.is_empty() {
        let words = msg::net_verdict(&request.client, &service.id.name, request.verdict.clone());
        let words = if request.fails.is_some() {
            msg::net_failed(words)
        } else {
            words
        };
        y += 8.0 + say([words], (left, y + 8.0), role, out);
    }
    if let Some(how) = &request.fails {
        fail(how, service, &ends, drawn, out);
    }
    if request.isolations.is_empty() {
        return y;
    }
    let card = CARD.min(width - 2.0 * left);
    let columns = (((width - 2.0 * left + APART) / (card + APART)) as usize).max(1);
    let (mut row, mut bottom) = (y + BELOW, y);
    for (n, isolation) in request.isolations.iter().enumerate() {
        if n > 0 && n % columns == 0 {
            row = bottom + APART;
        }
        let rows = isolation.rules.len().clamp(1, MAX_RULES);
        let rect = Rect::new(
            left + (n % columns) as f64 * (card + APART),
            row,
            card,
            HEAD + rows as f64 * 32.0 + 10.0,
        );
        put_card(isolation, service, rect, out);
        // A phone has no room around the band: the card shows the number of isolated Pods.
        if !narrow {
            link(isolation, service, &ends, (rect, y + BELOW - 10.0), n, out);
        }
        bottom = bottom.max(rect.bottom());
    }
    bottom
}

/// Marks a request that fails along its whole path: from the client to the Pods, and by a word at its origin.
fn fail(how: &Message, service: &Service, ends: &Ends, drawn: usize, out: &mut Scene) {
    let uid = service.id.uid.as_str();
    // The DNS lookup is another request, which is answered.
    let asks = !service.address.is_empty();
    let way = |key: &str| {
        key.split_once('/').is_some_and(|(way, rest)| {
            rest.starts_with(uid) && (matches!(way, "to" | "go" | "stem") || way == "ask" && asks)
        })
    };
    for edge in out
        .edges
        .iter_mut()
        .skip(drawn)
        .filter(|edge| matches!(edge.line, Line::Travels | Line::Selects) && way(&edge.key))
    {
        edge.line = Line::Fails;
    }
    let to = out
        .items
        .iter()
        .find(|item| item.id.uid == uid)
        .map(|item| item.rect);
    let (Some(client), Some(to), true) = (ends.client, to, asks) else {
        return;
    };
    let (room, x) = (to.x - client.right(), f64::midpoint(client.right(), to.x));
    let text = msg::net_failed(how);
    let text = if text.length() as f64 * LETTER > room - MARGIN {
        Message::name("✕")
    } else {
        text
    };
    out.labels.push(Label {
        x,
        y: client.bottom() - 48.0,
        text,
        role: LabelRole::Failure,
        ground: LabelGround::None,
        centred: true,
    });
}

fn put_card(of: &Isolation, service: &Service, rect: Rect, out: &mut Scene) {
    let mut rules = of.rules.clone();
    rules.truncate(MAX_RULES);
    if rules.is_empty() {
        rules.push(msg::rule_nothing());
    }
    let isolates = match of.direction {
        Direction::Egress => msg::net_isolates_client(),
        // Not all endpoints were checked.
        Direction::Ingress if service.endpoints.len() > MAX_ENDPOINTS_ASKED => {
            msg::net_isolates_many()
        }
        Direction::Ingress => msg::net_isolates(of.pods.len()),
    };
    let label = msg::net_policy_label(&of.id.name, of.direction.name(), rules.clone());
    let table = CardTable {
        kind: "NetworkPolicy",
        caption: dotted(vec![Message::name("NetworkPolicy"), isolates]),
        title: Message::name(&of.id.name),
        pill: Message::name(of.direction.name()),
        head: Vec::new(),
        rows: rules.into_iter().map(|rule| (vec![rule], false)).collect(),
    };
    // The same policy may stand below both bands, and for both directions.
    let mut id = of.id.clone();
    id.uid = format!("{}/{}/{}", service.id.uid, of.direction.name(), of.id.uid);
    out.put(&id, rect, CardBody::Table(table), None, "", label);
}

/// Draws a line from a policy to each end that it isolates: around the band, so that it crosses no path of the request.
fn link(
    of: &Isolation,
    service: &Service,
    ends: &Ends,
    (card, bus): (Rect, f64),
    n: usize,
    out: &mut Scene,
) {
    let key = format!(
        "isolates/{}/{}/{}",
        service.id.uid,
        of.direction.name(),
        of.id.uid
    );
    if of.direction == Direction::Egress {
        if let Some(client) = ends.client {
            let (x, y) = (client.x - 10.0, client.cy());
            out.link(
                key,
                format!("M{} {}V{bus}H{x}V{y}H{}", card.x + 24.0, card.y, client.x),
                Line::Selects,
            );
            out.ports.push(Port {
                x: client.x,
                y,
                full: true,
                network: true,
            });
        }
        return;
    }
    let rects: Vec<Rect> = ends
        .pods
        .iter()
        .filter(|(name, _)| of.pods.contains(name))
        .map(|(_, rect)| *rect)
        .collect();
    let Some(highest) = rects.iter().map(Rect::cy).reduce(f64::min) else {
        return;
    };
    let right = rects.iter().map(Rect::right).fold(0.0, f64::max);
    // A direct connection enters beside the Pods of a headless Service.
    let x = right
        + if service.address.is_empty() {
            28.0
        } else {
            12.0
        }
        + n as f64 * 6.0;
    let mut d = match card.y - bus < BELOW {
        true => format!("M{} {}V{bus}H{x}V{highest}", card.right() - 24.0, card.y),
        // Below another card the line leaves at the side.
        false => format!("M{} {}H{x}V{highest}", card.right(), card.cy()),
    };
    for rect in &rects {
        let _ = write!(d, "M{x} {}H{}", rect.cy(), rect.right());
        out.ports.push(Port {
            x: rect.right(),
            y: rect.cy(),
            full: true,
            network: true,
        });
    }
    out.width = out.width.max(x);
    out.link(key, d, Line::Selects);
}
