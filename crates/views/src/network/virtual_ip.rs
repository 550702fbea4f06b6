//! Service with a virtual IP: the path of a request.

use super::endpoints::{behind, drawn};
use super::measures::{HEAD, LEFT, POD, WAY, Way};
use super::narrow::{APART, ASKS, BELOW, SLICES};
use super::parts::{arrow, put_client, put_doors, put_pod, put_slices, say, title};
use super::words::{
    address_row, doors, outer_rows, ports, ready_endpoints, rest, rule, titled, why_not,
};
use crate::bodies::service_form;
use crate::shape::{CardBody, CardTable, Label, LabelGround, LabelRole, Line, Rect, Scene, elbow};
use i18n::format::middle;
use i18n::{Message, msg};
use projection::model::{Endpoint, Model, Pod, Service};

/// Draws a Service with a cluster IP in front of every ready Pod: the client, the Service, and the Pods at the right. kube-proxy is not on
/// the path: on each node it programs rules from the EndpointSlices, which a dotted line below shows.
pub(super) fn virtual_ip(
    model: &Model,
    service: &Service,
    follows: Option<&str>,
    way: Way,
    top: f64,
    out: &mut Scene,
) -> f64 {
    let [client_w, gap, vip_w, reach, pod_w] = way;
    let name = service.id.name.as_str();
    let external = service.form == "ExternalName";
    let says = match external {
        true => msg::net_external(&service.form),
        false => msg::net_virtual(&service.form),
    };
    title(out, top, says);
    let (shown, more) = drawn(model, service, follows);
    let (uid, ready, y) = (&service.id.uid, service.ready(), top + 32.0);
    // Adjacent endpoints without traffic for the same reason share one note. With many endpoints every row reserves room for a note, so
    // that nothing moves.
    let found: Vec<Option<&Pod>> = shown
        .iter()
        .map(|one| behind(model, service, one))
        .collect();
    let told = |at: usize| !shown[at].ready || shown[at].gone;
    let sort = |at: usize| {
        let one = &shown[at];
        (
            one.ready,
            one.terminating,
            one.address.is_empty(),
            service.falls_back(one),
            one.gone,
        )
    };
    let alike = |a: usize, b: usize| told(a) && sort(a) == sort(b);
    let last = |at: usize| at + 1 == shown.len() || !alike(at, at + 1);
    let pitch = |at: usize| {
        POD + if more > 0 || told(at) && last(at) {
            22.0
        } else {
            10.0
        }
    };
    let rest = if more > 0 {
        rest(service, &shown, more)
    } else {
        Vec::new()
    };
    let tall = (0..shown.len()).map(pitch).sum::<f64>() + rest.len() as f64 * 20.0;
    let mut rows = vec![(
        vec![address_row(external), Message::name(&service.address)],
        true,
    )];
    rows.extend(ports(service));
    rows.extend(outer_rows(service, Message::name("nodePort")));
    rows.extend((!external).then(|| (rule(service), false)));
    let vip_h = HEAD + rows.len() as f64 * 32.0 + 10.0;
    // The client outside the cluster stands below the one inside; without an entry from outside the EndpointSlices take its place.
    let doors = doors(model, service);
    let doors_h = HEAD + doors.len() as f64 * 32.0 + 10.0;
    let left_h = match () {
        () if external => vip_h,
        () if doors.is_empty() => (ASKS + BELOW + SLICES).max(vip_h + BELOW),
        () => (ASKS + APART + doors_h + 18.0).max(vip_h + BELOW + SLICES),
    };
    let height = tall.max(left_h);
    let (vip_x, vip_y) = (LEFT + client_w + gap, y + (height - left_h) / 2.0);
    let (pod_x, mid) = (vip_x + vip_w + reach, vip_y + vip_h / 2.0);
    let asked = format!(
        "/ # wget -qO- {}",
        middle(name, ((client_w - 28.0) / 7.2) as usize - 14)
    );
    put_client(
        out,
        model,
        service,
        Rect::new(LEFT, vip_y, client_w, ASKS),
        vec![asked],
    );
    let vip = CardTable {
        kind: "Service",
        caption: Message::name("Service"),
        title: Message::name(titled(name, &service_form(service), vip_w)),
        pill: service_form(service),
        head: Vec::new(),
        rows,
    };
    let label = msg::net_service_label(
        name,
        service_form(service),
        &service.address,
        ready_endpoints(service),
    );
    let state = if ready > 0 { "ready" } else { "none" };
    out.put(
        &service.id,
        Rect::new(vip_x, vip_y, vip_w, vip_h),
        CardBody::Table(vip),
        None,
        state,
        label,
    );
    out.link(
        format!("ask/{uid}"),
        arrow(LEFT + client_w + 2.0, vip_x - 3.0, vip_y + ASKS - 28.0),
        Line::Travels,
    );
    if external {
        return y + height;
    }
    let stem = vip_x + 24.0;
    // No packet travels along this line: rules are made from the slices, and packets are rewritten by the rules on the node that they
    // leave.
    if doors.is_empty() {
        let slices = Rect::new(LEFT, vip_y + ASKS + BELOW, client_w, SLICES);
        let high = slices.cy().max(vip_y + vip_h + BELOW - 10.0);
        put_slices(service, slices, out);
        out.link(
            format!("reads/{uid}"),
            format!(
                "M{stem} {}V{}Q{stem} {high} {} {high}H{}",
                vip_y + vip_h,
                high - 10.0,
                stem - 10.0,
                slices.right()
            ),
            Line::Watches,
        );
    } else {
        put_doors(
            service,
            doors,
            Rect::new(LEFT, vip_y + ASKS + APART, client_w, doors_h),
            (vip_x, vip_y),
            out,
        );
        let slices = Rect::new(vip_x, vip_y + vip_h + BELOW, vip_w, SLICES);
        put_slices(service, slices, out);
        out.link(
            format!("reads/{uid}"),
            format!("M{stem} {}V{}", vip_y + vip_h, slices.y),
            Line::Watches,
        );
    }
    say(
        [msg::net_proxy(), msg::net_proxy_rules()],
        (stem + 10.0, vip_y + vip_h + 7.0),
        LabelRole::Plain,
        out,
    );
    let reached = |one: &&Endpoint| one.ready || service.falls_back(one);
    let followed = follows.or_else(|| shown.iter().find(reached).map(|one| one.pod.as_str()));
    let (mut at, mut together) = (y + (height - tall) / 2.0, 0);
    for (i, one) in shown.iter().enumerate() {
        put_pod(out, service, (one, found[i]), (pod_x, at, pod_w));
        together += 1;
        if reached(&one) {
            let here = at + POD / 2.0;
            let d = elbow(vip_x + vip_w, mid, pod_x - 3.0, here, pod_x - reach / 2.0);
            let head = format!(
                "{d}M{} {}L{} {here}L{} {}",
                pod_x - 10.0,
                here - 4.0,
                pod_x - 3.0,
                pod_x - 10.0,
                here + 4.0
            );
            let line = if Some(one.pod.as_str()) == followed {
                Line::Travels
            } else {
                Line::Derives
            };
            out.link(format!("to/{uid}/{}", one.pod), head, line);
        }
        if told(i) && last(i) {
            let text = why_not(service, one, together, pod_w < WAY[4]);
            out.labels.push(Label {
                x: pod_x,
                y: at + POD + 3.0,
                text,
                role: LabelRole::Trouble,
                ground: LabelGround::None,
                centred: false,
            });
        }
        together = if last(i) { 0 } else { together };
        at += pitch(i);
    }
    say(rest, (pod_x, at), LabelRole::Plain, out);
    out.width = out.width.max(pod_x + pod_w);
    if service.hint.is_empty() {
        return y + height;
    }
    say(
        [service.hint.clone()],
        (vip_x, y + height + 10.0),
        LabelRole::Hint,
        out,
    );
    y + height + 50.0
}
