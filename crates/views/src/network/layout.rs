//! Pods behind a name: a band for each Service, with the path of a lookup or of a request.
//!
//! At most two bands, the selected Service (or the one behind the selected Pod) first; the others are cards below. Rows of DNS, of the
//! EndpointSlice and the Pods share one height, so that records and their sources are joined by straight lines.

use super::endpoints::client;
use super::fronts;
use super::headless::headless;
use super::measures::{ABOVE, CLOSE, FAR_WAY, LEFT, NARROW, TIGHT, TIGHT_WAY, WAY, WIDE};
use super::narrow::narrow;
use super::parts::put_service;
use super::policies;
use super::read::Traffic;
use super::virtual_ip::virtual_ip;
use super::words::summary;
use crate::shape::{CardBody, Label, LabelGround, LabelRole, Line, Rect, Scene};
use i18n::msg;
use projection::model::{Model, Pod, Service};
use std::rc::Rc;

/// Lays out the network. `selected` is a uid.
pub fn layout(model: &Model, traffic: &Traffic<'_>, selected: Option<&str>, width: f64) -> Scene {
    let mut out = Scene {
        summary: summary(model),
        ..Scene::default()
    };
    let fronts = traffic.fronts();
    let matrix = traffic.matrix(model);
    if model.services.is_empty() && fronts.is_empty() && matrix.is_none() {
        return out;
    }
    let chosen_pod = model.pod(selected);
    let serves = |service: &Service, pod: &Pod| {
        service.id.namespace == pod.id.namespace
            && (service.endpoint(&pod.id.name).is_some() || service.asks_for(&pod.id, &pod.labels))
    };
    // A Service with ready endpoints is more informative than one without.
    let rank = |service: &Service| {
        if service.ready() == 0 {
            2
        } else {
            usize::from(service.form != "headless")
        }
    };
    let mut order: Vec<&Service> = model.services.iter().map(|service| &**service).collect();
    // Services of an Ingress stand below it.
    let is_routed = |service: &Service| {
        fronts.iter().any(|front| {
            front
                .routes
                .iter()
                .any(|route| route.service.as_ref() == Some(&service.id.uid))
        })
    };
    order.sort_by_key(|service| (!is_routed(service), rank(service)));
    let policy = traffic.policy(selected);
    // The selected Service is drawn: in its place or, if it has none, in the second.
    let is_it = |service: &&Service| {
        Some(service.id.uid.as_str()) == selected
            || chosen_pod.is_some_and(|pod| serves(service, pod))
            || policy
                .as_ref()
                .is_some_and(|policy| traffic.isolates(policy, service))
    };
    if let Some(at) = order.iter().position(is_it).filter(|at| *at > 1) {
        let it = order.remove(at);
        order.insert(1, it);
    }
    let (c, way) = match () {
        () if width < 780.0 => (&TIGHT, TIGHT_WAY),
        () if width < 1010.0 => (&ABOVE, WAY),
        () if width < 1140.0 => (&CLOSE, FAR_WAY),
        () => (&WIDE, FAR_WAY),
    };
    let rule = (width - 2.0 * LEFT).min(1100.0);
    let mut y = 20.0;
    for front in &fronts {
        y = fronts::put(front, (y, width), &mut out) + 52.0;
        out.bands.push(Rect::new(LEFT, y - 22.0, rule, 1.0));
    }
    for (n, service) in order.iter().take(2).enumerate() {
        let lines = out.edges.len();
        let follows = chosen_pod
            .filter(|pod| serves(service, pod))
            .map(|pod| pod.id.name.as_str());
        if n > 0 {
            out.bands.push(Rect::new(LEFT, y - 22.0, rule, 1.0));
        }
        y = if width <= NARROW {
            narrow(model, service, follows, width, y, &mut out)
        } else if service.form == "headless" {
            headless(model, service, follows, c, y, &mut out)
        } else {
            virtual_ip(model, service, follows, way, y, &mut out)
        };
        let to = ["to/", &service.id.uid, "/"].concat();
        let asked = out.edges[lines..]
            .iter()
            .filter(|edge| edge.line == Line::Travels)
            .find_map(|edge| edge.key.strip_prefix(&to));
        let asked = asked.map(str::to_owned);
        let request = traffic.request(service, client(model, service), follows, asked.as_deref());
        y = policies::put(&request, service, (y, width), lines, &mut out) + 52.0;
        if n == 0 {
            fronts
                .iter()
                .for_each(|front| fronts::link(front, &service.id, &mut out));
        }
    }
    if let Some(matrix) = matrix {
        y = matrix.put((y, width), &mut out) + 36.0;
    }
    if order.len() > 2 {
        out.labels.push(Label {
            x: LEFT,
            y,
            text: msg::net_others(),
            role: LabelRole::Plain,
            ground: LabelGround::None,
            centred: false,
        });
        for (i, service) in order.iter().skip(2).enumerate() {
            let columns = (((width - 2.0 * LEFT + 16.0) / 256.0) as usize).clamp(1, 4);
            let rect = Rect::new(
                LEFT + (i % columns) as f64 * 256.0,
                y + 24.0 + (i / columns) as f64 * 66.0,
                240.0,
                54.0,
            );
            put_service(&mut out, service, rect);
        }
    }
    let own = model.kin(selected);
    for item in out
        .items
        .iter_mut()
        .filter(|item| own.iter().any(|uid| item.id.is_of(uid)))
    {
        if let CardBody::Tile { kin, .. } = &mut Rc::make_mut(item).body {
            *kin = true;
        }
    }
    out.finish(if width <= NARROW { 16.0 } else { 24.0 })
}
