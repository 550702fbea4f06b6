//! Band on a phone: its parts one below the other.

use super::endpoints::{behind, client, drawn};
use super::headless::Lookup;
use super::measures::{HEAD, NetworkRow, PAIR, POD, SHORT};
use super::parts::{arrow, down, put_dns, put_pod, put_service, say, stop, tip};
use super::words::{
    address_row, all_ready, host, outer_rows, ports, ready_endpoints, rest, rule, titled, why_not,
};
use crate::bodies::service_form;
use crate::shape::{CardBody, CardTable, Label, LabelGround, LabelRole, Line, Port, Rect, Scene};
use i18n::format::middle;
use i18n::{Message, dotted, msg};
use projection::model::{Endpoint, Model, Service};

/// Height of the client, gap below a Service, height of the EndpointSlices, and gap between the clients inside and outside.
pub(super) const ASKS: f64 = 96.0;
pub(super) const BELOW: f64 = 52.0;
pub(super) const SLICES: f64 = 126.0;
pub(super) const APART: f64 = 24.0;

/// Draws the stacked layout of a phone: the client, the Service with its rules, and a stem to its Pods.
pub(super) fn narrow(
    model: &Model,
    service: &Service,
    follows: Option<&str>,
    width: f64,
    top: f64,
    out: &mut Scene,
) -> f64 {
    let span = (width - 32.0).max(280.0);
    // If there is room for two columns the Pods stand beside the card, else below it in two columns.
    let pair = width >= PAIR;
    let w = if pair {
        ((span - 40.0) * 0.58).min(440.0).floor()
    } else {
        span
    };
    let (pods_x, pod_w) = if pair {
        (56.0 + w, (span - w - 40.0).min(320.0))
    } else {
        (16.0, (span - 28.0) / 2.0)
    };
    let stem = if pair { pods_x - 16.0 } else { 16.0 + w / 2.0 };
    let (shown, more) = drawn(model, service, follows.filter(|_| pair));
    let (name, ready, uid) = (service.id.name.as_str(), service.ready(), &service.id.uid);
    let headless = service.address.is_empty();
    let asker = client(model, service).map_or_else(msg::net_any_pod, |pod| {
        Message::name(middle(&pod.id.name, 14))
    });
    let Lookup {
        asked,
        hosted,
        heard,
        ..
    } = Lookup::of(&shown, follows, name);
    let asks = if headless {
        format!("nslookup {}", middle(&asked, 24))
    } else {
        format!("wget -qO- {}", middle(name, 20))
    };
    let asks = msg::net_query_line(asker, asks);
    stop(out, 16.0, top, asks.clone(), false);
    let (x, y) = (36.0, top + if headless { 58.0 } else { 40.0 });
    out.link(
        format!("ask/{uid}"),
        down(x, top + 22.0, y - 2.0),
        Line::Travels,
    );
    let two = |a: Message, b: Message| (vec![a, b], false);
    let high = |rows: &[NetworkRow]| HEAD + rows.len() as f64 * 32.0 + 12.0;
    // Top of the Pods, and start of the line to them.
    let (mut below, from);
    if headless {
        let answer = |one: &Endpoint| {
            if one.ready {
                Message::name(&one.address)
            } else {
                msg::net_no_record()
            }
        };
        let is = |one: &Endpoint| hosted.is_some_and(|hosted| hosted.pod == one.pod);
        let mut rows: Vec<_> = shown
            .iter()
            .map(|one| {
                (
                    vec![Message::name(format!("{}.{name}", host(one))), answer(one)],
                    is(one),
                )
            })
            .collect();
        rows.push((
            vec![Message::name(name), all_ready(ready)],
            hosted.is_none(),
        ));
        // Suffix of each name in DNS.
        let suffix = two(
            msg::net_suffix(),
            Message::name(format!(
                ".{}.{}",
                service.id.namespace,
                cluster_network::dns::ZONE
            )),
        );
        rows.extend((w >= SHORT).then_some(suffix));
        let height = high(&rows);
        put_dns(
            service,
            Vec::new(),
            rows,
            Rect::new(16.0, y, w, height),
            out,
        );
        let at = if pair { y } else { y + height + 34.0 };
        let card = Rect::new(pods_x, at, if pair { pod_w } else { w }, 54.0);
        put_service(out, service, card);
        if pair {
            out.link(
                format!("slice/{uid}"),
                arrow(card.x - 4.0, 20.0 + w, at + 18.0),
                Line::Derives,
            );
        } else {
            let (x, low, high) = (36.0, at - 3.0, y + height + 4.0);
            out.link(
                format!("slice/{uid}"),
                format!("M{x} {low}V{high}{}", tip(x, high)),
                Line::Derives,
            );
            let text = msg::net_records_slice();
            out.labels.push(Label {
                x: x + 10.0,
                y: at - 24.0,
                text,
                role: LabelRole::Plain,
                ground: LabelGround::None,
                centred: false,
            });
        }
        // Without a virtual IP nothing translates the port.
        let lines = ports(service).filter_map(|(row, _)| row.into_iter().reduce(msg::name_value));
        let lines = lines.chain((card.w < SHORT / 1.5).then(|| service_form(service)));
        let said = say(lines, (pods_x, card.bottom() + 6.0), LabelRole::Plain, out);
        let hint = Some(service.hint.clone()).filter(|hint| !hint.is_empty());
        let hinted = say(
            hint,
            (pods_x, card.bottom() + 6.0 + said),
            LabelRole::Hint,
            out,
        );
        below = card.bottom() + said + hinted + if said + hinted > 0.0 { 14.0 } else { 16.0 };
        from = if pair { at + 38.0 } else { card.bottom() };
    } else {
        let mut rows = vec![two(
            address_row(service.form == "ExternalName"),
            Message::name(&service.address),
        )];
        rows.extend(ports(service));
        if service.form != "ExternalName" && service.slices > 0 {
            let of = service.endpoints.len();
            let what = if service.slices == 1 {
                Message::name("EndpointSlice")
            } else {
                msg::net_slices(service.slices)
            };
            rows.push(two(what, msg::net_ready_of(ready, of)));
        }
        rows.extend(outer_rows(service, msg::net_node_port()));
        if service.form == "ExternalName" {
            rows.push(two(msg::net_external_short(), Message::default()));
        } else {
            rows.push((rule(service), false));
            rows.push(two(msg::net_proxy_row(), msg::net_each_node()));
        }
        if !service.hint.is_empty() {
            rows.push((vec![service.hint.clone()], false));
        }
        let height = high(&rows);
        let title = Message::name(titled(name, &service_form(service), w));
        let table = CardTable {
            kind: "Service",
            caption: Message::name("Service"),
            title,
            pill: service_form(service),
            head: Vec::new(),
            rows,
        };
        let label = msg::service_label(name, service_form(service), ready_endpoints(service));
        let state = if ready > 0 { "ready" } else { "none" };
        out.put(
            &service.id,
            Rect::new(16.0, y, w, height),
            CardBody::Table(table),
            None,
            state,
            label,
        );
        (below, from) = if pair {
            (y, y + 27.0)
        } else {
            (y + height + 16.0, y + height)
        };
    }
    let straight = heard.filter(|_| headless);
    if let Some(one) = straight {
        let (back, high, low) = (x + 100.0, top + 24.0, y - 2.0);
        stop(out, back + 8.0, top + 30.0, msg::net_answer(), false);
        out.link(
            format!("hear/{uid}"),
            format!("M{back} {low}V{high}"),
            Line::Selects,
        );
        out.link(format!("hears/{uid}"), tip(back, high), Line::Travels);
        let words = match pair && pod_w < SHORT / 1.5 {
            true => msg::net_connects_short(),
            false => msg::net_connects(&one.address),
        };
        if pair {
            stop(out, pods_x, top + 30.0, words, false);
        } else {
            stop(out, 24.0, below, words, false);
            below += 28.0;
        }
    }
    // A branch to each Pod, and a line from the client to the one that was returned.
    let (mut last, columns) = (from, if pair { 1 } else { 2 });
    for row in shown.chunks(columns) {
        let mut told = false;
        for (column, one) in row.iter().enumerate() {
            let x = pods_x + column as f64 * (pod_w + 28.0);
            put_pod(
                out,
                service,
                (one, behind(model, service, one)),
                (x, below, pod_w),
            );
            // At different heights, so that the two are not connected.
            let side = if pair || column > 0 { x } else { x + pod_w };
            let mid = below
                + POD / 2.0
                + if pair {
                    0.0
                } else if column > 0 {
                    6.0
                } else {
                    -6.0
                };
            // A Pod that is in no EndpointSlice has no port there.
            if !one.address.is_empty() {
                out.ports.push(Port {
                    x: side,
                    y: mid,
                    full: one.ready,
                    network: true,
                });
            }
            if one.ready || service.falls_back(one) {
                out.link(
                    format!("to/{uid}/{}", one.pod),
                    format!("M{stem} {mid}H{side}"),
                    Line::Selects,
                );
                last = mid;
            }
            if straight.is_some_and(|heard| heard.pod == one.pod) {
                let to = below + POD / 2.0;
                if pair {
                    let (begins, right, end) = (
                        32.0 + asks.length() as f64 * 6.6,
                        pods_x + pod_w + 12.0,
                        pods_x + pod_w + 2.0,
                    );
                    let high = top + 8.0;
                    let head = format!(
                        "M{} {}L{end} {to}L{} {}",
                        end + 7.0,
                        to - 4.0,
                        end + 7.0,
                        to + 4.0
                    );
                    let d = format!(
                        "M{begins} {high}H{}Q{right} {high} {right} {}V{to}H{end}{head}",
                        right - 10.0,
                        high + 10.0
                    );
                    out.link(format!("go/{uid}"), d, Line::Travels);
                } else if column == 0 {
                    let (high, end) = (top + 8.0, x - 1.0);
                    let head = format!(
                        "M{} {}L{end} {to}L{} {}",
                        end - 6.0,
                        to - 4.0,
                        end - 6.0,
                        to + 4.0
                    );
                    let d = format!(
                        "M14 {high}Q6 {high} 6 {}V{}Q6 {to} 12 {to}H{end}{head}",
                        high + 8.0,
                        to - 6.0
                    );
                    out.link(format!("go/{uid}"), d, Line::Travels);
                }
            }
            if !one.ready || one.gone {
                out.labels.push(Label {
                    x,
                    y: below + POD + 2.0,
                    text: why_not(service, one, 1, true),
                    role: LabelRole::Trouble,
                    ground: LabelGround::None,
                    centred: false,
                });
                told = true;
            }
        }
        below += POD + if told { 24.0 } else { 8.0 };
    }
    if last > from {
        let begins = if pair {
            format!(
                "M{} {from}H{stem}",
                if headless { pods_x } else { 16.0 + w }
            )
        } else {
            format!("M{stem} {from}")
        };
        out.link(
            format!("stem/{uid}"),
            format!("{begins}V{last}"),
            Line::Selects,
        );
    }
    if more > 0 {
        let rest = rest(service, &shown, more);
        let (first, others) = rest.split_at(2.min(rest.len()));
        let lines = [first, others]
            .into_iter()
            .filter(|part| !part.is_empty())
            .map(|part| dotted(part.to_vec()));
        below += say(lines, (pods_x, below - 2.0), LabelRole::Plain, out);
    }
    out.items
        .iter()
        .map(|item| item.rect.bottom())
        .fold(below, f64::max)
}
