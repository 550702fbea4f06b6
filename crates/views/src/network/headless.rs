//! A headless Service: the path of a lookup.

use super::endpoints::{behind, drawn};
use super::measures::{CLOSE, HEAD, LEFT, NetworkColumns, NetworkRow, POD, ROW, TABLE, WIDE};
use super::parts::{arrow, down, put_client, put_dns, put_pod, say, stop, tip, title};
use super::words::{address, all_ready, condition, host, ready_endpoints, rest, titled};
use crate::bodies::service_form;
use crate::shape::{CardBody, CardTable, Label, LabelGround, LabelRole, Line, Rect, Scene};
use i18n::format::middle;
use i18n::{Message, msg};
use projection::model::{Endpoint, Model, Service};

/// Draws a headless Service: the name resolves to Pod addresses.
pub(super) fn headless(
    model: &Model,
    service: &Service,
    follows: Option<&str>,
    c: &NetworkColumns,
    top: f64,
    out: &mut Scene,
) -> f64 {
    title(out, top, msg::net_headless());
    let (shown, more) = drawn(model, service, follows);
    let name = service.id.name.as_str();
    let above = c.gaps.0 == 0.0;
    // The client stands left of DNS, or above it.
    let (dns_x, client_y) = (
        if above {
            LEFT
        } else {
            LEFT + c.client + c.gaps.0
        },
        top + 32.0,
    );
    // Above the others its height depends on its longest answer.
    let client_h = if above { 182.0 } else { 220.0 };
    let y = client_y + if above { client_h + 42.0 } else { 0.0 };
    let slice_x = dns_x + c.dns + c.gaps.1;
    let pod_x = slice_x + c.slice + c.gaps.2;
    let Lookup {
        asked,
        hosted,
        heard,
        followed,
    } = Lookup::of(&shown, follows, name);
    let ready = service.ready();
    // The answer is shown in full; names are shortened for it, the least informative first.
    let answers = shown
        .iter()
        .map(|one| one.address.len())
        .chain([all_ready(ready).length()])
        .max()
        .unwrap_or(0)
        .max(11);
    let letters =
        |types: f64| ((c.dns - 48.0 - types - answers as f64 * 7.0) / 7.0).max(8.0) as usize;
    let types = c.dns >= CLOSE.dns && name.len() <= letters(50.0);
    let most = letters(if types { 50.0 } else { 0.0 });
    let full = |one: &Endpoint| {
        let host = middle(&host(one), 16.min(most - 5));
        let left = most.saturating_sub(host.chars().count() + 1).max(4);
        format!("{host}.{}", middle(name, left))
    };

    let mut rows: Vec<NetworkRow> = shown
        .iter()
        .map(|one| {
            let on = hosted.is_some() && Some(one.pod.as_str()) == followed;
            if one.ready {
                (
                    vec![
                        Message::name(full(one)),
                        Message::name("A"),
                        Message::name(&one.address),
                    ],
                    on,
                )
            } else {
                (
                    vec![
                        Message::name(full(one)),
                        Message::name("—"),
                        msg::net_no_record(),
                    ],
                    on,
                )
            }
        })
        .collect();
    let all = if ready > 1 {
        all_ready(ready)
    } else {
        heard.map_or_else(|| all_ready(ready), |one| Message::name(&one.address))
    };
    rows.push((
        vec![Message::name(middle(name, most)), Message::name("A"), all],
        hosted.is_none(),
    ));
    let mut head = vec![msg::head_name(), msg::head_type(), msg::head_address()];
    if !types {
        head.remove(1);
        rows.iter_mut().for_each(|(cells, _)| drop(cells.remove(1)));
    }
    let dns_height = HEAD + TABLE + rows.len() as f64 * ROW;
    let slice_height = HEAD + TABLE + shown.len().max(1) as f64 * ROW;
    let row_y = |i: usize| y + HEAD + TABLE + i as f64 * ROW + ROW / 2.0;

    let mut lines = vec![
        format!("/ # nslookup {asked}"),
        format!("Server:   {}", cluster_network::dns::SERVER),
    ];
    lines.extend((!above).then(String::new));
    match heard {
        Some(endpoint) => {
            let (name, zone) = (
                format!("Name:     {asked}."),
                format!("{}.{}", service.id.namespace, cluster_network::dns::ZONE),
            );
            if above && name.len() + zone.len() < 48 {
                lines.push([name, zone].concat());
            } else {
                lines.extend([name, [" ", &zone].concat()]);
            }
            let rest = if hosted.is_none() && ready > 1 {
                format!(" (+{})", i18n::format::count(ready - 1))
            } else {
                String::new()
            };
            lines.push(format!("Address:  {}{rest}", endpoint.address));
        }
        None => lines.extend([
            format!("** server can't find {asked}:"),
            "   NXDOMAIN".into(),
        ]),
    }
    put_client(
        out,
        model,
        service,
        Rect::new(LEFT, client_y, c.client, client_h),
        lines,
    );
    put_dns(
        service,
        head,
        rows,
        Rect::new(dns_x, y, c.dns, dns_height),
        out,
    );
    let mut slice_rows: Vec<NetworkRow> = shown
        .iter()
        .map(|one| {
            (
                vec![address(one), condition(one)],
                Some(one.pod.as_str()) == followed,
            )
        })
        .collect();
    if slice_rows.is_empty() {
        slice_rows.push((vec![msg::net_no_endpoint(), Message::default()], false));
    }
    // The band already names the Service: the pill is dropped if the name needs the room.
    let fits = |pill: &Message| titled(name, pill, c.slice) == name;
    let pills = [Message::name("clusterIP: None"), service_form(service)];
    let headless = pills
        .into_iter()
        .skip(usize::from(c.slice < WIDE.slice))
        .find(fits)
        .unwrap_or_default();
    let slice = CardTable {
        kind: "Service",
        caption: Message::name("Service"),
        title: Message::name(titled(name, &headless, c.slice)),
        pill: headless,
        head: vec![Message::name("EndpointSlice"), msg::head_condition()],
        rows: slice_rows,
    };
    let label = msg::service_label(name, service_form(service), ready_endpoints(service));
    let state = if ready > 0 { "ready" } else { "none" };
    out.put(
        &service.id,
        Rect::new(slice_x, y, c.slice, slice_height),
        CardBody::Table(slice),
        None,
        state,
        label,
    );
    let hinted = !service.hint.is_empty();
    let lines = if hinted {
        vec![service.hint.clone()]
    } else {
        let rest = if more > 0 {
            rest(service, &shown, more)
        } else {
            Vec::new()
        };
        std::iter::once(msg::net_records()).chain(rest).collect()
    };
    let said = say(
        lines,
        (slice_x, y + slice_height + 6.0),
        if hinted {
            LabelRole::Hint
        } else {
            LabelRole::Plain
        },
        out,
    );
    for (i, one) in shown.iter().enumerate() {
        put_pod(
            out,
            service,
            (one, behind(model, service, one)),
            (pod_x, row_y(i) - POD / 2.0, c.pod),
        );
        let key = |what: &str| format!("{what}/{}/{}", service.id.uid, one.pod);
        if !one.address.is_empty() {
            out.link(
                key("slice"),
                arrow(pod_x - 4.0, slice_x + c.slice + 4.0, row_y(i)),
                Line::Derives,
            );
        }
        if one.ready {
            out.link(
                key("dns"),
                arrow(slice_x - 4.0, dns_x + c.dns + 4.0, row_y(i)),
                Line::Derives,
            );
        }
    }
    // The lookup: the query, the answer, and the connection that follows.
    let at = shown
        .iter()
        .position(|one| Some(one.pod.as_str()) == followed)
        .unwrap_or(shown.len());
    let asks = if hosted.is_some() { at } else { shown.len() };
    let uid = &service.id.uid;
    let bottom = (y + dns_height)
        .max(client_y + client_h)
        .max(y + slice_height + 4.0 + said);
    if above {
        let (ask, back, from, to) = (
            LEFT + 28.0,
            LEFT + 128.0,
            client_y + client_h + 2.0,
            y - 3.0,
        );
        stop(
            out,
            ask + 6.0,
            (from + to) / 2.0 - 10.0,
            msg::net_query(),
            false,
        );
        // NXDOMAIN is an answer too.
        stop(
            out,
            back + 6.0,
            (from + to) / 2.0 - 10.0,
            msg::net_answer(),
            false,
        );
        out.link(
            format!("hear/{uid}"),
            format!("M{back} {to}V{from}"),
            Line::Selects,
        );
        out.link(format!("hears/{uid}"), tip(back, from), Line::Travels);
        out.link(format!("ask/{uid}"), down(ask, from, to), Line::Travels);
    } else {
        let ask = row_y(asks.min(3)).min(y + 180.0);
        stop(
            out,
            LEFT + c.client + c.gaps.0 / 2.0,
            ask - 26.0,
            msg::net_query(),
            true,
        );
        let (to, back) = (LEFT + c.client + 3.0, ask + 22.0);
        stop(
            out,
            LEFT + c.client + c.gaps.0 / 2.0,
            ask + 30.0,
            msg::net_answer(),
            true,
        );
        out.link(
            format!("hear/{uid}"),
            format!("M{} {back}H{to}", dns_x - 3.0),
            Line::Selects,
        );
        out.link(
            format!("hears/{uid}"),
            format!(
                "M{} {}L{to} {back}L{} {}",
                to + 7.0,
                back - 4.0,
                to + 7.0,
                back + 4.0
            ),
            Line::Travels,
        );
        out.link(
            format!("ask/{uid}"),
            arrow(LEFT + c.client + 2.0, dns_x - 3.0, ask),
            Line::Travels,
        );
    }
    let Some(endpoint) = heard else { return bottom };
    let right = pod_x + c.pod + 16.0;
    let (to, end) = (row_y(at), pod_x + c.pod + 2.0);
    let arrives = format!(
        "Q{right} {to} {} {to}H{end}M{} {}L{end} {to}L{} {}",
        right - 10.0,
        end + 7.0,
        to - 4.0,
        end + 7.0,
        to + 4.0
    );
    out.width = out.width.max(right);
    if above {
        let (from, high) = (LEFT + c.client + 2.0, client_y + client_h / 2.0);
        let d = format!(
            "M{from} {high}H{}Q{right} {high} {right} {}V{}{arrives}",
            right - 10.0,
            high + 10.0,
            to - 10.0
        );
        out.link(format!("go/{uid}"), d, Line::Travels);
        stop(
            out,
            (from + right) / 2.0,
            high - 10.0,
            msg::net_connects(&endpoint.address),
            true,
        );
        let plain = Label {
            x: (from + right) / 2.0,
            y: high + 12.0,
            text: msg::net_no_balancing(),
            role: LabelRole::Plain,
            ground: LabelGround::None,
            centred: true,
        };
        out.labels.push(plain);
        return bottom;
    }
    let (from, low) = (LEFT + c.client / 2.0, bottom + 26.0);
    let d = format!(
        "M{from} {}V{}Q{from} {low} {} {low}H{}Q{right} {low} {right} {}V{}{arrives}",
        y + 220.0,
        low - 10.0,
        from + 10.0,
        right - 10.0,
        low - 10.0,
        to + 10.0
    );
    out.link(format!("go/{uid}"), d, Line::Travels);
    stop(
        out,
        (from + right) / 2.0,
        low - 10.0,
        msg::net_connects_long(&endpoint.address),
        true,
    );
    low + 8.0
}

/// DNS query, and the target of its answer.
pub(super) struct Lookup<'a> {
    pub(super) asked: String,
    /// Pod whose own name is queried.
    pub(super) hosted: Option<&'a Endpoint>,
    /// Pod whose address is returned.
    pub(super) heard: Option<&'a Endpoint>,
    pub(super) followed: Option<&'a str>,
}

impl<'a> Lookup<'a> {
    /// Chooses the record to follow: of the selected Pod, else of the first with a hostname, even while it has no record; else of the first
    /// ready one, else the Service's own.
    pub(super) fn of(shown: &'a [Endpoint], follows: Option<&'a str>, name: &str) -> Lookup<'a> {
        let named = || shown.iter().find(|endpoint| !endpoint.hostname.is_empty());
        let first = || {
            named()
                .or_else(|| shown.iter().find(|endpoint| endpoint.ready))
                .map(|endpoint| endpoint.pod.as_str())
        };
        let followed = follows.or_else(first);
        let endpoint = shown
            .iter()
            .find(|endpoint| Some(endpoint.pod.as_str()) == followed);
        // No application queries a name made from an address: it queries the Service, and gets all ready addresses.
        let hosted = endpoint.filter(|endpoint| !endpoint.hostname.is_empty());
        let asked = hosted.map_or(name.to_string(), |endpoint| {
            format!("{}.{name}", host(endpoint))
        });
        let any = || {
            shown
                .iter()
                .find(|one| one.ready)
                .filter(|_| hosted.is_none())
        };
        let heard = endpoint.filter(|endpoint| endpoint.ready).or_else(any);
        Lookup {
            asked,
            hosted,
            heard,
            followed: heard.map(|one| one.pod.as_str()).or(followed),
        }
    }
}
