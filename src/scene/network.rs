//! Who answers to a name: a band for each Service, with the way of a lookup or of a request.
//!
//! At most two bands, the selected Service (or the one behind the selected Pod) first; the others stand as cards below.
//! Rows of DNS, of the EndpointSlice and the Pods share one height, so that what is derived from what is a straight line.

use super::format::middle;
use super::model::{Controller, Endpoint, Group, Id, Model, PENDING, Pod, PodState, Root, Service, natural};
use super::ownership::pod_label;
use super::shape::{Body, Label, Line, Port, Rect, Scene, Table, elbow};
use std::rc::Rc;

const LEFT: f64 = 24.0;
/// Height of a Pod.
const POD: f64 = 32.0;

/// Widths of the columns and of the gaps between them.
struct Columns {
    client: f64,
    dns: f64,
    slice: f64,
    pod: f64,
    /// From the client to the next column, from there on, and to the Pods.
    gaps: (f64, f64, f64),
}

const WIDE: Columns = Columns { client: 232.0, dns: 312.0, slice: 216.0, pod: 150.0, gaps: (78.0, 48.0, 40.0) };
/// Where there is less room the columns are narrower: letters are not to be made smaller.
const CLOSE: Columns = Columns { client: 226.0, dns: 252.0, slice: 200.0, pod: 136.0, gaps: (78.0, 26.0, 26.0) };
/// And where that does not fit either, who asks stands above what answers.
const ABOVE: Columns = Columns { client: 370.0, dns: 262.0, slice: 210.0, pod: 168.0, gaps: (0.0, 34.0, 34.0) };
/// There a record's type goes too, which is always the same.
const TIGHT: Columns = Columns { client: 370.0, dns: 216.0, slice: 190.0, pod: 146.0, gaps: (0.0, 20.0, 20.0) };
/// The columns of a virtual IP with the gaps between them: who asks, the Service, the Pods.
type Way = [f64; 5];
const FAR_WAY: Way = [232.0, 72.0, 264.0, 80.0, 180.0];
const WAY: Way = [204.0, 52.0, 240.0, 56.0, 170.0];
const TIGHT_WAY: Way = [172.0, 34.0, 212.0, 38.0, 152.0];
/// Height of a card's head, of a table's head, of a row.
const HEAD: f64 = 52.0;
const TABLE: f64 = 28.0;
const ROW: f64 = 40.0;
/// Up to this width, and in a low frame, tables are short and have no terminal above them.
pub const NARROW: f64 = 619.0;
/// A card narrower than this leaves out what tells least.
const SHORT: f64 = 300.0;
/// From this width on a small frame has two columns.
const PAIR: f64 = 440.0;
/// More endpoints than this are counted, not drawn.
const MOST: usize = 8;
/// So many Pods of an owner are looked through for those that are no endpoints yet.
const LOOKED: usize = 200;

/// Lays the network out. `selected` is a uid.
// Not part of `State::draw`: the page opens with one view, and the others come after it (scripts/split.mjs).
#[inline(never)]
pub fn layout(model: &Model, selected: Option<&str>, width: f64) -> Scene {
    let mut out = Scene { summary: summary(model), ..Scene::default() };
    if model.services.is_empty() {
        return out;
    }
    let chosen_pod = model.pod(selected);
    let serves = |service: &Service, pod: &Pod| {
        service.id.namespace == pod.id.namespace && (service.endpoint(&pod.id.name).is_some() || service.asks_for(&pod.id, &pod.labels))
    };
    // A Service that reaches something tells more than one that does not.
    let rank = |service: &Service| if service.ready() == 0 { 2 } else { usize::from(service.form != "headless") };
    let mut order: Vec<&Service> = model.services.iter().collect();
    crate::order::sort_by_key(&mut order, |service| rank(service));
    // What is selected is drawn: in its place, or, if it has none, in the second.
    let is_it = |service: &&Service| Some(service.id.uid.as_str()) == selected || chosen_pod.is_some_and(|pod| serves(service, pod));
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
    for (n, service) in order.iter().take(2).enumerate() {
        let follows = chosen_pod.filter(|pod| serves(service, pod)).map(|pod| pod.id.name.as_str());
        if n > 0 {
            out.bands.push(Rect::new(LEFT, y - 22.0, rule, 1.0));
        }
        y = if width <= NARROW {
            narrow(model, service, follows, width, y, &mut out)
        } else if service.form == "headless" {
            headless(model, service, follows, c, y, &mut out)
        } else {
            virtual_ip(model, service, follows, way, y, &mut out)
        } + 52.0;
    }
    if order.len() > 2 {
        out.labels.push(Label { x: LEFT, y, text: "Other Services".into(), class: "", centred: false });
        for (i, service) in order.iter().skip(2).enumerate() {
            let columns = (((width - 2.0 * LEFT + 16.0) / 256.0) as usize).clamp(1, 4);
            let rect = Rect::new(LEFT + (i % columns) as f64 * 256.0, y + 24.0 + (i / columns) as f64 * 66.0, 240.0, 54.0);
            put_service(&mut out, service, rect);
        }
    }
    let own = model.kin(selected);
    for item in out.items.iter_mut().filter(|item| own.contains(&item.id.uid.rsplit('/').next().unwrap_or(""))) {
        if let Body::Tile { kin, .. } = &mut Rc::make_mut(item).body {
            *kin = true;
        }
    }
    out.finish(if width <= NARROW { 16.0 } else { 24.0 })
}

fn put_service(out: &mut Scene, service: &Service, rect: Rect) -> usize {
    let label = format!("Service {}, {}, {} ready endpoints", service.id.name, service.form, service.ready());
    let state = if service.ready() > 0 { "ready" } else { "none" };
    // In a narrow one the name comes first.
    let form = if rect.w < SHORT / 1.5 { String::new() } else { service.form.clone() };
    out.put(&service.id, rect, Body::Service { form }, None, state, label)
}

/// Pods that a Service asks for and that are in none of its EndpointSlices: mostly they have no address yet.
fn awaited<'a>(model: &'a Model, service: &'a Service) -> Vec<Endpoint> {
    // Among so many there is no room for one that is not reached.
    if service.endpoints.len() >= MOST {
        return Vec::new();
    }
    // Of many Pods their controller's template tells whether they can be meant.
    let meant = |of: &Rc<Controller>| service.asks_for(&of.id, &of.labels);
    let of_root = |root: &'a Root| {
        let all = root.controller.as_ref().is_none_or(meant);
        root.groups.iter().filter(move |group| all || group.pods.len() <= MOST)
    };
    let pods = model.roots.iter().flat_map(of_root).flat_map(|group| group.pods.iter().take(LOOKED));
    let comes = |pod: &&Rc<Pod>| !pod.ended && service.asks_for(&pod.id, &pod.labels) && service.endpoint(&pod.id.name).is_none();
    let of = |pod: &Rc<Pod>| Endpoint {
        pod: pod.id.name.clone(),
        hostname: if pod.ordinal.is_some() { pod.id.name.clone() } else { String::new() },
        terminating: pod.state == PodState::Terminating,
        ..Endpoint::default()
    };
    pods.filter(comes).take(MOST).map(of).collect()
}

/// The Pod that asks: a running one that is not behind the Service itself.
fn client<'a>(model: &'a Model, service: &Service) -> Option<&'a Pod> {
    // A bare Pod was made to look around; it comes before those that serve something.
    let bare = model
        .roots
        .iter()
        .filter(|root| root.controller.is_none())
        .flat_map(|root| &root.groups)
        .flat_map(|group| group.pods.iter().map(|pod| &**pod));
    bare.chain(model.pods()).find(|pod| {
        pod.id.namespace == service.id.namespace
            && matches!(pod.state, PodState::Ready | PodState::NotReady)
            && service.endpoint(&pod.id.name).is_none()
            && !service.asks_for(&pod.id, &pod.labels)
    })
}

fn put_client(out: &mut Scene, model: &Model, service: &Service, rect: Rect, lines: Vec<String>) {
    let pod = client(model, service);
    let title = pod.map_or("any Pod".to_string(), |pod| middle(&pod.id.name, (((rect.w - 64.0) / 7.4) as usize).max(8)));
    let state = pod.map(|pod| pod.state);
    let id = Id { uid: format!("client/{}", service.id.uid), ..Id::default() };
    let label = format!("{title} asks: {}", lines.join("; "));
    out.put(&id, rect, Body::Terminal { state, title, lines }, None, "", label);
}

/// The Pod behind an endpoint, if it is there: another may have its name already.
fn behind<'a>(model: &'a Model, service: &Service, endpoint: &Endpoint) -> Option<&'a Pod> {
    model.pods().filter(|_| !endpoint.gone).find(|pod| pod.id.name == endpoint.pod && pod.id.namespace == service.id.namespace)
}

/// A tile for the Pod behind an endpoint: what tells it apart, and its node. One that is gone has no state any more.
fn put_pod(out: &mut Scene, service: &Service, (endpoint, found): (&Endpoint, Option<&Pod>), (x, y, w): (f64, f64, f64)) {
    let rect = Rect::new(x, y, w, POD);
    let letters = ((w - 32.0) / 7.2) as usize;
    let Some(pod) = found else {
        let id = Id { uid: format!("{}/gone/{}", service.id.uid, endpoint.pod), ..Id::default() };
        let name = middle(&endpoint.pod, letters.saturating_sub(5));
        if endpoint.gone {
            out.put(&id, rect, Body::Gone { name }, None, "gone", format!("Pod {}, gone", endpoint.pod));
            return;
        }
        // It leads to something else, or to a Pod that the filter leaves out: what the slice says of it is known.
        let state = match (endpoint.terminating, endpoint.ready) {
            (true, _) => PodState::Terminating,
            (_, true) => PodState::Ready,
            _ => PodState::NotReady,
        };
        let body = Body::Tile { state, tail: name, note: String::new(), stale: false, kin: false, old: false };
        out.put(&id, rect, body, None, state.class(), endpoint.pod.clone());
        return;
    };
    let note = Some(&pod.node).filter(|node| node.len() < 10).cloned().unwrap_or_default();
    let left = letters.saturating_sub(note.len());
    let tail = if pod.id.name.len() > left {
        format!("…{}", pod.parts(left.max(5)).1.trim_start_matches('…'))
    } else {
        middle(&endpoint.pod, letters)
    };
    // The same Pod may stand behind both Services: each tile has its own key.
    let id = Id { uid: format!("{}/{}", service.id.uid, pod.id.uid), ..pod.id.clone() };
    let body = Body::Tile { state: pod.state, tail, note, stale: pod.stale, kin: false, old: false };
    out.put(&id, rect, body, None, pod.state.class(), pod_label(pod));
}

/// A card's title beside its pill: the middle goes where it is long, for names that begin alike differ at their ends.
fn titled(name: &str, pill: &str, w: f64) -> String {
    let pill = if pill.is_empty() { 0.0 } else { pill.len() as f64 * 6.5 + 24.0 };
    middle(name, ((w - 64.0 - pill) / 7.6).max(8.0) as usize)
}

fn title(out: &mut Scene, y: f64, text: String) {
    out.labels.push(Label { x: LEFT, y, text, class: "bandname", centred: false });
}

fn condition(endpoint: &Endpoint) -> String {
    match (endpoint.ready, endpoint.terminating) {
        (true, _) => "✓ ready".into(),
        (false, false) if endpoint.address.is_empty() => "not in it yet".into(),
        (false, true) => "terminating".into(),
        (false, false) => "not ready".into(),
    }
}

/// The host part of an endpoint's own name.
fn host(endpoint: &Endpoint) -> String {
    match () {
        () if !endpoint.hostname.is_empty() => endpoint.hostname.clone(),
        () if endpoint.address.is_empty() => "?".into(),
        () => endpoint.address.replace('.', "-"),
    }
}

/// What is said of the Pods that are not drawn: how many they are, and how many of them are in each state.
fn rest(service: &Service, shown: &[Endpoint], more: usize) -> Vec<String> {
    use super::format::count;
    let left = |is: fn(&Endpoint) -> bool| {
        service.endpoints.iter().filter(|one| is(one)).count() - shown.iter().filter(|one| !one.address.is_empty() && is(one)).count()
    };
    let (ready, leaving) = (left(|one| one.ready), left(|one| !one.ready && one.terminating));
    let listed = left(|_| true);
    if ready == more {
        return vec![format!("+{} more, all ready", count(more))];
    }
    let mut lines = vec![format!("+{} more", count(more)), format!("{} ready", count(ready))];
    let mut say = |n: usize, words: &dyn Fn(String) -> String| lines.extend((n > 0).then(|| words(count(n))));
    say(leaving, &|n| format!("{n} terminating"));
    say(listed - ready - leaving, &|n| format!("{n} not ready"));
    say(more.saturating_sub(listed), &|n| format!("{n} in no EndpointSlice"));
    lines
}

/// Puts each on a line of its own, and gives their height.
fn say(lines: impl IntoIterator<Item = String>, (x, y): (f64, f64), class: &'static str, out: &mut Scene) -> f64 {
    let mut height = 0.0;
    for text in lines {
        out.labels.push(Label { x, y: y + height, text, class, centred: false });
        height += 20.0;
    }
    height
}

/// What is said of one that gets no traffic, or of several that stand together; the short words where there is little room.
fn why_not(service: &Service, one: &Endpoint, several: usize, short: bool) -> String {
    let words = match one.terminating {
        _ if one.gone && one.ready && service.address.is_empty() => "gone: DNS still names it",
        _ if one.gone && one.ready => "gone: still gets traffic",
        _ if one.gone && short => "gone: still listed",
        _ if one.gone => "gone: still in EndpointSlice",
        true if service.falls_back(one) => {
            return if several > 1 {
                format!("{several} terminating: still get traffic")
            } else {
                "terminating: still gets traffic".into()
            };
        }
        true => "terminating: no new traffic",
        false if one.address.is_empty() && short => "in no EndpointSlice",
        false if one.address.is_empty() => "in no EndpointSlice: no traffic",
        false => "not ready: gets no traffic",
    };
    if several > 1 { format!("{several} {words}") } else { words.into() }
}

fn address(endpoint: &Endpoint) -> String {
    if endpoint.address.is_empty() { "—".into() } else { endpoint.address.clone() }
}

/// Of a revision of which no Pod is an endpoint yet, the first that are to become some.
fn newcomers(model: &Model, service: &Service) -> Vec<Endpoint> {
    let mut groups = model.roots.iter().flat_map(|root| &root.groups);
    let all_new = |group: &&Group| {
        let of = group.controller.as_ref().filter(|of| service.asks_for(&of.id, &of.labels));
        of.is_some_and(|of| !service.endpoints.iter().any(|one| one.pod.starts_with(&of.id.name)))
    };
    let Some(group) = groups.rfind(all_new) else { return Vec::new() };
    let comes = |state: &PodState| matches!(state, PodState::Pending | PodState::Creating | PodState::NotReady | PodState::Failed);
    let places = group.pods.states().take(LOOKED).enumerate().filter(|(_, state)| comes(state)).take(2);
    places.filter_map(|(at, _)| Some(Endpoint { pod: group.pods.get(at)?.id.name.clone(), ..Endpoint::default() })).collect()
}

/// How many Pods of a Service with many are in none of its EndpointSlices: those that have no address yet.
fn unlisted(model: &Model, service: &Service) -> usize {
    let (mut all, mut waits) = (0, 0);
    for root in &model.roots {
        for group in &root.groups {
            let of = group.controller.as_ref().or(root.controller.as_ref());
            if of.is_some_and(|of| service.asks_for(&of.id, &of.labels)) {
                all += group.pods.len();
                let comes = |state: &PodState| matches!(state, PodState::Pending | PodState::Creating);
                waits += group.pods.counts().iter().filter(|(state, _)| comes(state)).map(|(_, n)| n).sum::<usize>();
            }
        }
    }
    // While init containers run, a Pod has an address already.
    waits.min(all.saturating_sub(service.endpoints.len()))
}

/// The endpoints that are drawn, and Pods that are to become some in their places: the one that is followed is never cut off.
fn drawn(model: &Model, service: &Service, follows: Option<&str>) -> (Vec<Endpoint>, usize) {
    let many = service.endpoints.len() > MOST;
    let mut shown = if many { newcomers(model, service) } else { awaited(model, service) };
    let all = service.endpoints.len() + if many { unlisted(model, service).max(shown.len()) } else { shown.len() };
    if many {
        let mut rows = telling(&service.endpoints);
        rows.truncate(MOST - shown.len());
        shown.splice(0..0, rows);
    } else {
        shown.extend(service.endpoints.iter().cloned());
        crate::order::sort_by(&mut shown, |a, b| natural(&a.pod, &b.pod));
    }
    let followed = |one: &Endpoint| Some(one.pod.as_str()) == follows;
    if let Some(at) = shown.iter().position(followed).filter(|at| *at >= MOST) {
        shown.swap(at, MOST - 1);
    }
    shown.truncate(MOST);
    if let Some(one) = service.endpoints.iter().find(|one| followed(one)).filter(|_| !shown.iter().any(followed)) {
        shown.pop();
        shown.push(one.clone());
    }
    let more = all - shown.len();
    (shown, more)
}

/// Of more endpoints than can be drawn those that tell most: some that get traffic and some that do not, of each of two revisions.
///
/// Each row is for one sort of endpoint and, by their names, for a part of those: it keeps its Pod as long as that is there and of
/// that sort, and no other row moves when it takes the next. Sorts that do not occur leave their rows to those that get traffic.
fn telling(endpoints: &[Endpoint]) -> Vec<Endpoint> {
    let family = |one: &Endpoint| one.pod.rfind('-').map_or(0, |at| at + 1);
    // Endpoints are sorted by name: those of one owner stand together.
    let mut families: Vec<&[Endpoint]> = endpoints.chunk_by(|a, b| a.pod[..family(a)] == b.pod[..family(b)]).collect();
    // The two with most Pods, in the order of their names.
    let mut largest: Vec<usize> = (0..families.len()).collect();
    crate::order::sort_by_key(&mut largest, |at| std::cmp::Reverse(families[*at].len()));
    largest.truncate(2);
    crate::order::sort(&mut largest);
    families = largest.into_iter().map(|at| families[at]).collect();
    let sort = |one: &Endpoint| match one {
        one if one.ready => 0,
        one if one.terminating => 1,
        _ => 2,
    };
    // Ordinals stay, so the first of them may be shown.
    let ordinal = endpoints.iter().all(|one| one.pod[family(one)..].parse::<u32>().is_ok());
    let part = |one: &Endpoint, of: usize| one.pod.bytes().map(usize::from).sum::<usize>() % of;
    let mut rows: Vec<Option<&Endpoint>> = Vec::new();
    for (wanted, many) in [(0, 4), (1, 2), (2, 2)] {
        let each = many / families.len();
        for family in &families {
            let mut own = vec![None; each];
            for one in family.iter().filter(|one| sort(one) == wanted) {
                let free =
                    if ordinal { own.iter().position(Option::is_none) } else { Some(part(one, each)).filter(|at| own[*at].is_none()) };
                if let Some(at) = free {
                    own[at] = Some(one);
                } else if own.iter().all(Option::is_some) {
                    break;
                }
            }
            rows.extend(own);
        }
    }
    for row in 0..rows.len() {
        if rows[row].is_some() {
            continue;
        }
        let free = |one: &&Endpoint| !rows.iter().flatten().any(|taken| taken.pod == one.pod);
        let mine = |one: &&Endpoint| one.ready && (ordinal || part(one, MOST) == row) && free(one);
        let other = || endpoints.iter().find(|one| one.ready && free(one)).or_else(|| endpoints.iter().find(|one| free(one)));
        rows[row] = endpoints.iter().find(mine).or_else(other);
    }
    let mut rows: Vec<Endpoint> = rows.into_iter().flatten().cloned().collect();
    if ordinal {
        crate::order::sort_by(&mut rows, |a, b| natural(&a.pod, &b.pod));
    }
    rows
}

fn arrow(x1: f64, x2: f64, y: f64) -> String {
    let s = (x2 - x1).signum() * 7.0;
    format!("M{x1} {y}H{x2}M{} {}L{x2} {y}L{} {}", x2 - s, y - 4.0, x2 - s, y + 4.0)
}

/// What the name of a headless Service itself is answered with.
fn all_ready(ready: usize) -> String {
    match ready {
        0 => "no record".to_string(),
        1 => "1 ready".into(),
        n => format!("all {} ready", super::format::count(n)),
    }
}

/// A headless Service: the name answers with Pod addresses.
fn headless(model: &Model, service: &Service, follows: Option<&str>, c: &Columns, top: f64, out: &mut Scene) -> f64 {
    title(out, top, "Headless Service — the name answers with Pod addresses".into());
    let (shown, more) = drawn(model, service, follows);
    let name = service.id.name.as_str();
    let above = c.gaps.0 == 0.0;
    // Who asks stands left of what answers, or above it.
    let (dns_x, client_y) = (if above { LEFT } else { LEFT + c.client + c.gaps.0 }, top + 32.0);
    // Above the others it is as low as its longest answer lets it be.
    let client_h = if above { 182.0 } else { 220.0 };
    let y = client_y + if above { client_h + 42.0 } else { 0.0 };
    let slice_x = dns_x + c.dns + c.gaps.1;
    let pod_x = slice_x + c.slice + c.gaps.2;
    let Lookup { asked, hosted, heard, followed } = Lookup::of(&shown, follows, name);
    let ready = service.ready();
    // The answer is whole; names give way to it, and what tells least goes first.
    let answers = shown.iter().map(|one| one.address.len()).chain([all_ready(ready).len()]).max().unwrap_or(0).max(11);
    let letters = |types: f64| ((c.dns - 48.0 - types - answers as f64 * 7.0) / 7.0).max(8.0) as usize;
    let types = c.dns >= CLOSE.dns && name.len() <= letters(50.0);
    let most = letters(if types { 50.0 } else { 0.0 });
    let full = |one: &Endpoint| {
        let host = middle(&host(one), 16.min(most - 5));
        let left = most.saturating_sub(host.chars().count() + 1).max(4);
        format!("{host}.{}", middle(name, left))
    };

    let mut rows: Vec<(Vec<String>, bool)> = shown
        .iter()
        .map(|one| {
            let on = hosted.is_some() && Some(one.pod.as_str()) == followed;
            if one.ready {
                (vec![full(one), "A".into(), one.address.clone()], on)
            } else {
                (vec![full(one), "—".into(), "no record".into()], on)
            }
        })
        .collect();
    let all = if ready > 1 { all_ready(ready) } else { heard.map_or(all_ready(ready), |one| one.address.clone()) };
    rows.push((vec![middle(name, most), "A".into(), all], hosted.is_none()));
    let mut head = vec!["Name", "Type", "Address"];
    if !types {
        head.remove(1);
        rows.iter_mut().for_each(|(cells, _)| drop(cells.remove(1)));
    }
    let dns_height = HEAD + TABLE + rows.len() as f64 * ROW;
    let slice_height = HEAD + TABLE + shown.len().max(1) as f64 * ROW;
    let row_y = |i: usize| y + HEAD + TABLE + i as f64 * ROW + ROW / 2.0;

    let mut lines = vec![format!("/ # nslookup {asked}"), format!("Server:   {}", crate::engine::dns::SERVER)];
    lines.extend((!above).then(String::new));
    match heard {
        Some(endpoint) => {
            let (name, zone) = (format!("Name:     {asked}."), format!("{}.{}", service.id.namespace, crate::engine::dns::ZONE));
            if above && name.len() + zone.len() < 48 {
                lines.push([name, zone].concat());
            } else {
                lines.extend([name, [" ", &zone].concat()]);
            }
            let rest = if hosted.is_none() && ready > 1 { format!(" (+{})", super::format::count(ready - 1)) } else { String::new() };
            lines.push(format!("Address:  {}{rest}", endpoint.address));
        }
        None => lines.extend([format!("** server can't find {asked}:"), "   NXDOMAIN".into()]),
    }
    put_client(out, model, service, Rect::new(LEFT, client_y, c.client, client_h), lines);
    put_dns(service, head, rows, Rect::new(dns_x, y, c.dns, dns_height), out);
    let mut slice_rows: Vec<(Vec<String>, bool)> =
        shown.iter().map(|one| (vec![address(one), condition(one)], Some(one.pod.as_str()) == followed)).collect();
    if slice_rows.is_empty() {
        slice_rows.push((vec!["no endpoint".into(), String::new()], false));
    }
    // The band is called so already: the pill gives way to a name.
    let fits = |pill: &&str| titled(name, pill, c.slice) == name;
    let headless = ["clusterIP: None", "headless"].into_iter().skip(usize::from(c.slice < WIDE.slice)).find(fits).unwrap_or("");
    let slice = Table {
        kind: "Service",
        caption: "Service".into(),
        title: titled(name, headless, c.slice),
        pill: headless.into(),
        head: vec!["EndpointSlice", "Condition"],
        rows: slice_rows,
    };
    let label = format!("Service {name}, headless, {ready} ready endpoints");
    let state = if ready > 0 { "ready" } else { "none" };
    out.put(&service.id, Rect::new(slice_x, y, c.slice, slice_height), Body::Table(slice), None, state, label);
    let hinted = !service.hint.is_empty();
    let lines = if hinted {
        vec![service.hint.clone()]
    } else {
        let rest = if more > 0 { rest(service, &shown, more) } else { Vec::new() };
        std::iter::once("DNS records are made from it".to_string()).chain(rest).collect()
    };
    let said = say(lines, (slice_x, y + slice_height + 6.0), if hinted { "hint" } else { "" }, out);
    for (i, one) in shown.iter().enumerate() {
        put_pod(out, service, (one, behind(model, service, one)), (pod_x, row_y(i) - POD / 2.0, c.pod));
        let key = |what: &str| format!("{what}/{}/{}", service.id.uid, one.pod);
        if !one.address.is_empty() {
            out.link(key("slice"), arrow(pod_x - 4.0, slice_x + c.slice + 4.0, row_y(i)), Line::Derives);
        }
        if one.ready {
            out.link(key("dns"), arrow(slice_x - 4.0, dns_x + c.dns + 4.0, row_y(i)), Line::Derives);
        }
    }
    // The lookup: asked, answered, and the connection that follows it.
    let at = shown.iter().position(|one| Some(one.pod.as_str()) == followed).unwrap_or(shown.len());
    let asks = if hosted.is_some() { at } else { shown.len() };
    let uid = &service.id.uid;
    let bottom = (y + dns_height).max(client_y + client_h).max(y + slice_height + 4.0 + said);
    if above {
        let (ask, back, from, to) = (LEFT + 28.0, LEFT + 128.0, client_y + client_h + 2.0, y - 3.0);
        stop(out, ask + 6.0, (from + to) / 2.0 - 10.0, "1 query", false);
        if heard.is_some() {
            stop(out, back + 6.0, (from + to) / 2.0 - 10.0, "2 answer", false);
            out.link(format!("hear/{uid}"), format!("M{back} {to}V{from}"), Line::Selects);
            out.link(format!("hears/{uid}"), tip(back, from), Line::Travels);
        }
        out.link(format!("ask/{uid}"), down(ask, from, to), Line::Travels);
    } else {
        let ask = row_y(asks.min(3)).min(y + 180.0);
        stop(out, LEFT + c.client + c.gaps.0 / 2.0, ask - 26.0, "1 query", true);
        if heard.is_some() {
            let (to, back) = (LEFT + c.client + 3.0, ask + 22.0);
            stop(out, LEFT + c.client + c.gaps.0 / 2.0, ask + 30.0, "2 answer", true);
            out.link(format!("hear/{uid}"), format!("M{} {back}H{to}", dns_x - 3.0), Line::Selects);
            out.link(
                format!("hears/{uid}"),
                format!("M{} {}L{to} {back}L{} {}", to + 7.0, back - 4.0, to + 7.0, back + 4.0),
                Line::Travels,
            );
        }
        out.link(format!("ask/{uid}"), arrow(LEFT + c.client + 2.0, dns_x - 3.0, ask), Line::Travels);
    }
    let Some(endpoint) = heard else { return bottom };
    let right = pod_x + c.pod + 16.0;
    let (to, end) = (row_y(at), pod_x + c.pod + 2.0);
    let arrives = format!("Q{right} {to} {} {to}H{end}M{} {}L{end} {to}L{} {}", right - 10.0, end + 7.0, to - 4.0, end + 7.0, to + 4.0);
    out.width = out.width.max(right);
    if above {
        let (from, high) = (LEFT + c.client + 2.0, client_y + client_h / 2.0);
        let d = format!("M{from} {high}H{}Q{right} {high} {right} {}V{}{arrives}", right - 10.0, high + 10.0, to - 10.0);
        out.link(format!("go/{uid}"), d, Line::Travels);
        stop(out, (from + right) / 2.0, high - 10.0, &format!("3 connects straight to {}", endpoint.address), true);
        let plain = Label { x: (from + right) / 2.0, y: high + 12.0, text: "no virtual IP, no balancing".into(), class: "", centred: true };
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
    stop(out, (from + right) / 2.0, low - 10.0, &format!("3 connects straight to {}: no virtual IP, no balancing", endpoint.address), true);
    low + 8.0
}

/// The card of DNS, with its own name for the Service and one for each Pod that is ready.
fn put_dns(service: &Service, head: Vec<&'static str>, rows: Vec<(Vec<String>, bool)>, rect: Rect, out: &mut Scene) {
    let names = if service.ready() == 0 { 0 } else { service.ready() + 1 };
    let table = Table {
        kind: "Dns",
        caption: "Cluster DNS".into(),
        title: crate::engine::dns::SERVER.into(),
        pill: format!("{} name{}", super::format::count(names), if names == 1 { "" } else { "s" }),
        head,
        rows,
    };
    let id = Id { uid: format!("dns/{}", service.id.uid), ..Id::default() };
    out.put(&id, rect, Body::Table(table), None, "", format!("Cluster DNS, {names} names for {}", service.id.name));
}

/// What is asked of DNS, and where the answer leads.
struct Lookup<'a> {
    asked: String,
    /// The Pod whose own name is asked for.
    hosted: Option<&'a Endpoint>,
    /// The Pod whose address is answered.
    heard: Option<&'a Endpoint>,
    followed: Option<&'a str>,
}

impl<'a> Lookup<'a> {
    /// The record that is followed: of the selected Pod, else of the first that has a name of its own, also while it has no
    /// record; else of the first that is ready, else the Service's own.
    fn of(shown: &'a [Endpoint], follows: Option<&'a str>, name: &str) -> Lookup<'a> {
        let named = || shown.iter().find(|endpoint| !endpoint.hostname.is_empty());
        let first = || named().or_else(|| shown.iter().find(|endpoint| endpoint.ready)).map(|endpoint| endpoint.pod.as_str());
        let followed = follows.or_else(first);
        let endpoint = shown.iter().find(|endpoint| Some(endpoint.pod.as_str()) == followed);
        // No application asks for a name that is made of an address: it asks for the Service, and gets all that are ready.
        let hosted = endpoint.filter(|endpoint| !endpoint.hostname.is_empty());
        let asked = hosted.map_or(name.to_string(), |endpoint| format!("{}.{name}", host(endpoint)));
        let any = || shown.iter().find(|one| one.ready).filter(|_| hosted.is_none());
        let heard = endpoint.filter(|endpoint| endpoint.ready).or_else(any);
        Lookup { asked, hosted, heard, followed: heard.map(|one| one.pod.as_str()).or(followed) }
    }
}

/// One of the numbered words on a way.
fn stop(out: &mut Scene, x: f64, y: f64, text: &str, centred: bool) {
    out.labels.push(Label { x, y, text: text.into(), class: "stop", centred });
}

/// The tip of an arrow that goes up.
fn tip(x: f64, y: f64) -> String {
    format!("M{} {}L{x} {y}L{} {}", x - 4.0, y + 7.0, x + 4.0, y + 7.0)
}

fn down(x: f64, y1: f64, y2: f64) -> String {
    format!("M{x} {y1}V{y2}M{} {}L{x} {y2}L{} {}", x - 4.0, y2 - 7.0, x + 4.0, y2 - 7.0)
}

/// A Service with an address of its own, in front of every ready Pod: who asks, the Service, and the Pods at the right. kube-proxy is not on
/// the way: on each node it makes rules of the EndpointSlices, which a dotted line below says.
fn virtual_ip(model: &Model, service: &Service, follows: Option<&str>, way: Way, top: f64, out: &mut Scene) -> f64 {
    let [client_w, gap, vip_w, reach, pod_w] = way;
    let name = service.id.name.as_str();
    let external = service.form == "ExternalName";
    let says = if external { "another name, outside the cluster" } else { "one virtual IP in front of every ready Pod" };
    title(out, top, format!("{} Service — {says}", service.form));
    let (shown, more) = drawn(model, service, follows);
    let (uid, ready, y) = (&service.id.uid, service.ready(), top + 32.0);
    // Those that stand together and get no traffic for the same reason say so once. Of many, any row may come to be one of those:
    // none moves for it.
    let found: Vec<Option<&Pod>> = shown.iter().map(|one| behind(model, service, one)).collect();
    let told = |at: usize| !shown[at].ready || shown[at].gone;
    let sort = |at: usize| {
        let one = &shown[at];
        (one.ready, one.terminating, one.address.is_empty(), service.falls_back(one), one.gone)
    };
    let alike = |a: usize, b: usize| told(a) && sort(a) == sort(b);
    let last = |at: usize| at + 1 == shown.len() || !alike(at, at + 1);
    let pitch = |at: usize| POD + if more > 0 || told(at) && last(at) { 22.0 } else { 10.0 };
    let rest = if more > 0 { rest(service, &shown, more) } else { Vec::new() };
    let tall = (0..shown.len()).map(pitch).sum::<f64>() + rest.len() as f64 * 20.0;
    let mut rows = vec![(vec![if external { "external name" } else { "virtual IP" }.to_string(), service.address.clone()], true)];
    rows.extend(ports(service));
    rows.extend(outer_rows(service, "nodePort"));
    rows.extend((!external).then(|| (rule(service), false)));
    let vip_h = HEAD + rows.len() as f64 * 32.0 + 10.0;
    // Who asks from outside the cluster stands below who asks inside; the EndpointSlices take that place where nobody can.
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
    let asked = format!("/ # wget -qO- {}", middle(name, ((client_w - 28.0) / 7.2) as usize - 14));
    put_client(out, model, service, Rect::new(LEFT, vip_y, client_w, ASKS), vec![asked]);
    let vip = Table {
        kind: "Service",
        caption: "Service".into(),
        title: titled(name, &service.form, vip_w),
        pill: service.form.clone(),
        head: Vec::new(),
        rows,
    };
    let label = format!("Service {name}, {}, {}, {ready} ready endpoints", service.form, service.address);
    let state = if ready > 0 { "ready" } else { "none" };
    out.put(&service.id, Rect::new(vip_x, vip_y, vip_w, vip_h), Body::Table(vip), None, state, label);
    out.link(format!("ask/{uid}"), arrow(LEFT + client_w + 2.0, vip_x - 3.0, vip_y + ASKS - 28.0), Line::Travels);
    if external {
        return y + height;
    }
    let stem = vip_x + 24.0;
    // Nothing travels along this line: rules are made of what is read, and the packets are rewritten by those on the node they leave.
    if doors.is_empty() {
        let slices = Rect::new(LEFT, vip_y + ASKS + BELOW, client_w, SLICES);
        let high = slices.cy().max(vip_y + vip_h + BELOW - 10.0);
        put_slices(service, slices, out);
        out.link(
            format!("reads/{uid}"),
            format!("M{stem} {}V{}Q{stem} {high} {} {high}H{}", vip_y + vip_h, high - 10.0, stem - 10.0, slices.right()),
            Line::Watches,
        );
    } else {
        put_doors(service, doors, Rect::new(LEFT, vip_y + ASKS + APART, client_w, doors_h), (vip_x, vip_y), out);
        let slices = Rect::new(vip_x, vip_y + vip_h + BELOW, vip_w, SLICES);
        put_slices(service, slices, out);
        out.link(format!("reads/{uid}"), format!("M{stem} {}V{}", vip_y + vip_h, slices.y), Line::Watches);
    }
    say(["kube-proxy on each node".to_string(), "makes rules of it: it is no hop".into()], (stem + 10.0, vip_y + vip_h + 7.0), "", out);
    let reached = |one: &&Endpoint| one.ready || service.falls_back(one);
    let followed = follows.or_else(|| shown.iter().find(reached).map(|one| one.pod.as_str()));
    let (mut at, mut together) = (y + (height - tall) / 2.0, 0);
    for (i, one) in shown.iter().enumerate() {
        put_pod(out, service, (one, found[i]), (pod_x, at, pod_w));
        together += 1;
        if reached(&one) {
            let here = at + POD / 2.0;
            let d = elbow(vip_x + vip_w, mid, pod_x - 3.0, here, pod_x - reach / 2.0);
            let head = format!("{d}M{} {}L{} {here}L{} {}", pod_x - 10.0, here - 4.0, pod_x - 3.0, pod_x - 10.0, here + 4.0);
            let line = if Some(one.pod.as_str()) == followed { Line::Travels } else { Line::Derives };
            out.link(format!("to/{uid}/{}", one.pod), head, line);
        }
        if told(i) && last(i) {
            let text = why_not(service, one, together, pod_w < WAY[4]);
            out.labels.push(Label { x: pod_x, y: at + POD + 3.0, text, class: "under", centred: false });
        }
        together = if last(i) { 0 } else { together };
        at += pitch(i);
    }
    say(rest, (pod_x, at), "", out);
    out.width = out.width.max(pod_x + pod_w);
    if service.hint.is_empty() {
        return y + height;
    }
    say([service.hint.clone()], (vip_x, y + height + 10.0), "hint", out);
    y + height + 50.0
}

/// The first ports of a Service, a row each.
fn ports(service: &Service) -> impl Iterator<Item = (Vec<String>, bool)> {
    // Nothing translates the port of what has no virtual IP.
    let plain = service.address.is_empty();
    let row = move |port: &String| match plain {
        true => vec!["port".to_string(), port.rsplit(" → ").next().unwrap_or(port).to_string()],
        false => vec!["port → targetPort".to_string(), port.clone()],
    };
    service.ports.iter().take(3).map(move |port| (row(port), false))
}

/// Height of who asks, the room below a Service, the height of the EndpointSlices, and from who asks inside to who asks outside.
const ASKS: f64 = 96.0;
const BELOW: f64 = 52.0;
const SLICES: f64 = 126.0;
const APART: f64 = 24.0;
/// So many nodes are named.
const NODES: usize = 3;

/// What the rules on each node do with a packet for the Service.
fn rule(service: &Service) -> Vec<String> {
    let one_in = |n: usize| format!("1 in {}", super::format::count(n));
    match service.ready() {
        0 => match service.endpoints.iter().filter(|one| service.falls_back(one)).count() {
            0 => vec!["no ready Pod".into(), "refused".into()],
            n => vec!["only terminating".into(), one_in(n)],
        },
        n => vec!["each ready Pod".into(), one_in(n)],
    }
}

/// The ports on every node, the first two of them.
fn node_ports(service: &Service, before: &str) -> Option<String> {
    let more = if service.node_ports.len() > 2 { ", …" } else { "" };
    let first: Vec<String> = service.node_ports.iter().take(2).map(|port| [before, port].concat()).collect();
    (!first.is_empty()).then(|| first.join(", ") + more)
}

/// What a Service has for those outside the cluster.
fn outer_rows(service: &Service, named: &str) -> Vec<(Vec<String>, bool)> {
    let port = node_ports(service, "").map(|ports| (vec![named.to_string(), ports], false));
    let external = (!service.external.is_empty()).then(|| (vec!["EXTERNAL-IP".to_string(), service.external.clone()], false));
    port.into_iter().chain(external).collect()
}

/// Where somebody outside the cluster can ask: the address of a load balancer, and the port on every node.
fn doors(model: &Model, service: &Service) -> Vec<(Vec<String>, bool)> {
    let mut rows = Vec::new();
    if !service.external.is_empty() {
        rows.push((vec!["EXTERNAL-IP".to_string(), service.external.clone()], false));
    }
    if let Some(ports) = node_ports(service, ":") {
        let named = if model.nodes.len() > NODES { NODES - 1 } else { NODES };
        rows.extend(model.nodes.iter().take(named).map(|node| (vec![middle(&node.id.name, 12), ports.clone()], true)));
        if model.nodes.len() > NODES {
            rows.push((vec![format!("+{} nodes", super::format::count(model.nodes.len() - named)), ports], true));
        }
    }
    rows
}

/// Draws them, with the way from each that works.
fn put_doors(service: &Service, rows: Vec<(Vec<String>, bool)>, rect: Rect, (vip_x, vip_y): (f64, f64), out: &mut Scene) {
    let uid = &service.id.uid;
    let row = |at: usize| rect.y + HEAD + 4.0 + at as f64 * 32.0 + 16.0;
    let waits = service.external == PENDING;
    // Ports and the virtual IP come first on the Service's card.
    let port = vip_y + HEAD + 4.0 + (1 + service.ports.len().min(3)) as f64 * 32.0 + 16.0;
    let (from, to, bend) = (rect.right(), vip_x - 3.0, (rect.right() + vip_x) / 2.0);
    let way = |here: f64, there: f64| {
        format!("{}M{} {}L{to} {there}L{} {}", elbow(from, here, to, there, bend), to - 7.0, there - 4.0, to - 7.0, there + 4.0)
    };
    // Where all is refused nothing travels.
    let reached = service.endpoints.iter().any(|one| one.ready || service.falls_back(one));
    let line = if reached { Line::Travels } else { Line::Derives };
    let balanced = usize::from(!service.external.is_empty());
    // Without an address nothing comes in there.
    if balanced == 1 && !waits {
        let there = port + if service.node_ports.is_empty() { 0.0 } else { 32.0 };
        out.link(format!("outside/{uid}"), way(row(0), there), line);
    }
    for at in balanced..rows.len() {
        out.link(format!("outside/{uid}/{at}"), way(row(at), port), line);
    }
    if waits {
        let text = "no cloud provider gives an address".into();
        out.labels.push(Label { x: rect.x, y: rect.bottom() + 3.0, text, class: "under", centred: false });
    }
    let told = rows.iter().map(|(cells, _)| cells.concat()).collect::<Vec<_>>().join(", ");
    let table = Table {
        kind: "Outside",
        caption: "outside the cluster".into(),
        title: "any client".into(),
        pill: String::new(),
        head: Vec::new(),
        rows,
    };
    let id = Id { uid: format!("outside/{uid}"), ..Id::default() };
    out.put(&id, rect, Body::Table(table), None, "", format!("outside the cluster: {told}"));
}

/// The EndpointSlices of a Service, with what they list: one of them by its name.
fn put_slices(service: &Service, rect: Rect, out: &mut Scene) {
    let count = super::format::count;
    let leaving = service.endpoints.iter().filter(|one| !one.ready && one.terminating).count();
    let ready = service.ready();
    let several = format!("{} EndpointSlices", count(service.slices));
    let (id, caption, name) = match &service.slice {
        Some(id) => (id.clone(), "EndpointSlice".to_string(), titled(&id.name, "", rect.w)),
        None => (Id { uid: format!("slices/{}", service.id.uid), ..Id::default() }, several, "max. 100 each".into()),
    };
    let others = service.endpoints.len() - ready - leaving;
    let mut rows = vec![(vec!["ready".to_string(), count(ready)], false)];
    // There is room for two.
    let left = match (leaving, others) {
        (0, others) => ("not ready", others),
        (leaving, 0) => ("terminating", leaving),
        (leaving, others) => ("terminating or not ready", leaving + others),
    };
    rows.push((vec![left.0.into(), count(left.1)], false));
    let named = if id.name.is_empty() { String::new() } else { format!(" {}", id.name) };
    let label = format!("{caption}{named}, {ready} ready, {leaving} terminating, {others} not ready");
    let slices = Table { kind: "EndpointSlice", caption, title: name, pill: String::new(), head: Vec::new(), rows };
    out.put(&id, rect, Body::Table(slices), None, "", label);
}

/// The stacked layout of a phone: who asks, the Service with what it does, and a stem to the Pods that it reaches.
fn narrow(model: &Model, service: &Service, follows: Option<&str>, width: f64, top: f64, out: &mut Scene) -> f64 {
    let span = (width - 32.0).max(280.0);
    // Where there is room for two columns the Pods stand beside the card that tells of them, else below it in two.
    let pair = width >= PAIR;
    let w = if pair { ((span - 40.0) * 0.58).min(440.0).floor() } else { span };
    let (pods_x, pod_w) = if pair { (56.0 + w, (span - w - 40.0).min(320.0)) } else { (16.0, (span - 28.0) / 2.0) };
    let stem = if pair { pods_x - 16.0 } else { 16.0 + w / 2.0 };
    let (shown, more) = drawn(model, service, follows.filter(|_| pair));
    let (name, ready, uid) = (service.id.name.as_str(), service.ready(), &service.id.uid);
    let headless = service.address.is_empty();
    let asker = client(model, service).map_or("any Pod".to_string(), |pod| middle(&pod.id.name, 14));
    let Lookup { asked, hosted, heard, .. } = Lookup::of(&shown, follows, name);
    let asks =
        if headless { format!("1 {asker}: nslookup {}", middle(&asked, 24)) } else { format!("1 {asker}: wget -qO- {}", middle(name, 20)) };
    stop(out, 16.0, top, &asks, false);
    let (x, y) = (36.0, top + if headless { 58.0 } else { 40.0 });
    out.link(format!("ask/{uid}"), down(x, top + 22.0, y - 2.0), Line::Travels);
    let two = |a: String, b: String| (vec![a, b], false);
    let high = |rows: &[(Vec<String>, bool)]| HEAD + rows.len() as f64 * 32.0 + 12.0;
    // Where the Pods begin, and where the line to them does.
    let (mut below, from);
    if headless {
        let answer = |one: &Endpoint| if one.ready { one.address.clone() } else { "no record".into() };
        let is = |one: &Endpoint| hosted.is_some_and(|hosted| hosted.pod == one.pod);
        let mut rows: Vec<_> = shown.iter().map(|one| (vec![format!("{}.{name}", host(one)), answer(one)], is(one))).collect();
        rows.push((vec![name.into(), all_ready(ready)], hosted.is_none()));
        // What follows each name in DNS.
        let suffix = two("each name ends in".into(), format!(".{}.{}", service.id.namespace, crate::engine::dns::ZONE));
        rows.extend((w >= SHORT).then_some(suffix));
        let height = high(&rows);
        put_dns(service, Vec::new(), rows, Rect::new(16.0, y, w, height), out);
        let at = if pair { y } else { y + height + 34.0 };
        let card = Rect::new(pods_x, at, if pair { pod_w } else { w }, 54.0);
        put_service(out, service, card);
        if pair {
            out.link(format!("slice/{uid}"), arrow(card.x - 4.0, 20.0 + w, at + 18.0), Line::Derives);
        } else {
            let (x, low, high) = (36.0, at - 3.0, y + height + 4.0);
            out.link(format!("slice/{uid}"), format!("M{x} {low}V{high}{}", tip(x, high)), Line::Derives);
            let text = "DNS records are made from its EndpointSlice".into();
            out.labels.push(Label { x: x + 10.0, y: at - 24.0, text, class: "", centred: false });
        }
        // No virtual IP means that nothing translates the port.
        let lines = ports(service).map(|(row, _)| row.join(" "));
        let lines = lines.chain((card.w < SHORT / 1.5).then(|| "headless".to_string()));
        let said = say(lines, (pods_x, card.bottom() + 6.0), "", out);
        let hint = Some(service.hint.clone()).filter(|hint| !hint.is_empty());
        let hinted = say(hint, (pods_x, card.bottom() + 6.0 + said), "hint", out);
        below = card.bottom() + said + hinted + if said + hinted > 0.0 { 14.0 } else { 16.0 };
        from = if pair { at + 38.0 } else { card.bottom() };
    } else {
        let mut rows =
            vec![two(if service.form == "ExternalName" { "external name" } else { "virtual IP" }.into(), service.address.clone())];
        rows.extend(ports(service));
        if service.form != "ExternalName" && service.slices > 0 {
            let of = service.endpoints.len();
            let what = if service.slices == 1 {
                "EndpointSlice".into()
            } else {
                format!("{} EndpointSlices", super::format::count(service.slices))
            };
            rows.push(two(what, format!("{} of {} ready", super::format::count(ready), super::format::count(of))));
        }
        rows.extend(outer_rows(service, "nodePort, each node"));
        if service.form == "ExternalName" {
            rows.push(two("another name, outside the cluster".into(), String::new()));
        } else {
            rows.push((rule(service), false));
            rows.push(two("rules by kube-proxy".into(), "on each node".into()));
        }
        if !service.hint.is_empty() {
            rows.push((vec![service.hint.clone()], false));
        }
        let height = high(&rows);
        let title = titled(name, &service.form, w);
        let table = Table { kind: "Service", caption: "Service".into(), title, pill: service.form.clone(), head: Vec::new(), rows };
        let label = format!("Service {name}, {}, {ready} ready endpoints", service.form);
        let state = if ready > 0 { "ready" } else { "none" };
        out.put(&service.id, Rect::new(16.0, y, w, height), Body::Table(table), None, state, label);
        (below, from) = if pair { (y, y + 27.0) } else { (y + height + 16.0, y + height) };
    }
    let straight = heard.filter(|_| headless);
    if let Some(one) = straight {
        let (back, high, low) = (x + 100.0, top + 24.0, y - 2.0);
        stop(out, back + 8.0, top + 30.0, "2 answer", false);
        out.link(format!("hear/{uid}"), format!("M{back} {low}V{high}"), Line::Selects);
        out.link(format!("hears/{uid}"), tip(back, high), Line::Travels);
        let to = if pair && pod_w < SHORT / 1.5 { String::new() } else { [" to ", &one.address].concat() };
        let words = ["3 connects straight", &to].concat();
        if pair {
            stop(out, pods_x, top + 30.0, &words, false);
        } else {
            stop(out, 24.0, below, &words, false);
            below += 28.0;
        }
    }
    // A branch to each Pod, and from who asks a line to the one that was answered.
    let (mut last, columns) = (from, if pair { 1 } else { 2 });
    for row in shown.chunks(columns) {
        let mut told = false;
        for (column, one) in row.iter().enumerate() {
            let x = pods_x + column as f64 * (pod_w + 28.0);
            put_pod(out, service, (one, behind(model, service, one)), (x, below, pod_w));
            // On heights of their own: the two do not hang together.
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
            // What is in no EndpointSlice has no port: nothing is known of it there.
            if !one.address.is_empty() {
                out.ports.push(Port { x: side, y: mid, full: one.ready, network: true });
            }
            if one.ready || service.falls_back(one) {
                out.link(format!("to/{uid}/{}", one.pod), format!("M{stem} {mid}H{side}"), Line::Selects);
                last = mid;
            }
            if straight.is_some_and(|heard| heard.pod == one.pod) {
                let to = below + POD / 2.0;
                if pair {
                    let (begins, right, end) = (32.0 + asks.chars().count() as f64 * 6.6, pods_x + pod_w + 12.0, pods_x + pod_w + 2.0);
                    let high = top + 8.0;
                    let head = format!("M{} {}L{end} {to}L{} {}", end + 7.0, to - 4.0, end + 7.0, to + 4.0);
                    let d = format!("M{begins} {high}H{}Q{right} {high} {right} {}V{to}H{end}{head}", right - 10.0, high + 10.0);
                    out.link(format!("go/{uid}"), d, Line::Travels);
                } else if column == 0 {
                    let (high, end) = (top + 8.0, x - 1.0);
                    let head = format!("M{} {}L{end} {to}L{} {}", end - 6.0, to - 4.0, end - 6.0, to + 4.0);
                    let d = format!("M14 {high}Q6 {high} 6 {}V{}Q6 {to} 12 {to}H{end}{head}", high + 8.0, to - 6.0);
                    out.link(format!("go/{uid}"), d, Line::Travels);
                }
            }
            if !one.ready || one.gone {
                out.labels.push(Label { x, y: below + POD + 2.0, text: why_not(service, one, 1, true), class: "under", centred: false });
                told = true;
            }
        }
        below += POD + if told { 24.0 } else { 8.0 };
    }
    if last > from {
        let begins = if pair { format!("M{} {from}H{stem}", if headless { pods_x } else { 16.0 + w }) } else { format!("M{stem} {from}") };
        out.link(format!("stem/{uid}"), format!("{begins}V{last}"), Line::Selects);
    }
    if more > 0 {
        let rest = rest(service, &shown, more);
        let (first, others) = rest.split_at(2.min(rest.len()));
        let lines = [first, others].into_iter().filter(|part| !part.is_empty()).map(|part| part.join(" · "));
        below += say(lines, (pods_x, below - 2.0), "", out);
    }
    out.items.iter().map(|item| item.rect.bottom()).fold(below, f64::max)
}

fn summary(model: &Model) -> String {
    let parts: Vec<String> = model
        .services
        .iter()
        .take(6)
        .map(|service| {
            let address = if service.address.is_empty() {
                "DNS answers with Pod addresses".to_string()
            } else {
                format!("address {}", service.address)
            };
            let hint = if service.hint.is_empty() { String::new() } else { format!(", {}", service.hint) };
            format!(
                "Service {}, {}: {address}, {} of {} endpoints ready{hint}",
                service.id.name,
                service.form,
                service.ready(),
                service.endpoints.len()
            )
        })
        .collect();
    if parts.is_empty() { "No Service.".into() } else { format!("{}.", parts.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(pod: &str, address: &str, ready: bool) -> Endpoint {
        Endpoint { pod: pod.into(), address: address.into(), hostname: pod.into(), ready, terminating: false, serving: ready, gone: false }
    }

    fn some(form: &str, address: &str) -> Model {
        let pod = |name: &str| Pod { id: Id::named("Pod", name), state: PodState::Ready, ..Pod::default() };
        let endpoints = vec![endpoint("web-0", "10.244.1.2", true), endpoint("web-1", "10.244.2.2", false)];
        let service =
            Service { id: Id::named("Service", "nginx"), form: form.into(), address: address.into(), endpoints, ..Service::default() };
        let pods = vec![pod("busybox"), pod("web-0"), pod("web-1")];
        Model {
            roots: vec![Root { controller: None, groups: vec![Group { controller: None, pods: pods.into_iter().collect() }], folded: 0 }],
            services: vec![service],
            ..Model::default()
        }
    }

    #[test]
    fn a_headless_service_answers_with_the_ready_pods() {
        let scene = layout(&some("headless", ""), None, 1200.0);
        let tables: Vec<&Table> =
            scene.items.iter().filter_map(|item| if let Body::Table(of) = &item.body { Some(of) } else { None }).collect();
        assert_eq!(tables[0].rows[0], (vec!["web-0.nginx".to_string(), "A".into(), "10.244.1.2".into()], true));
        assert_eq!(tables[0].rows[1].0[2], "no record");
        assert_eq!(tables[1].rows[1].0, ["10.244.2.2", "not ready"]);
        let Body::Terminal { title, lines, .. } = &scene.items[0].body else { panic!("the client") };
        assert_eq!((title.as_str(), lines[0].as_str()), ("busybox", "/ # nslookup web-0.nginx"));
        let pods: Vec<f64> = scene.items.iter().filter(|item| item.id.kind == "Pod").map(|item| item.rect.cy()).collect();
        assert_eq!(pods[1] - pods[0], ROW);
    }

    #[test]
    fn in_a_small_frame_dns_answers_beside_the_service_and_the_connection_passes_it_by() {
        for width in [390.0, 480.0, 619.0] {
            let scene = layout(&some("headless", ""), None, width);
            let of = |kind: &str| scene.items.iter().find(|item| item.id.kind == kind || item.id.uid.starts_with(kind)).unwrap();
            let (dns, service, pod) = (of("dns/"), of("Service"), of("Pod"));
            let Body::Table(table) = &dns.body else { panic!("DNS is a table") };
            assert_eq!(table.rows[0], (vec!["web-0.nginx".to_string(), "10.244.1.2".into()], true), "{width}");
            let apart = dns.rect.right() < service.rect.x || dns.rect.bottom() < service.rect.y;
            assert!(apart && service.rect.bottom() < pod.rect.y, "{width}: {:?} {:?} {:?}", dns.rect, service.rect, pod.rect);
            // From who asks to the Pod, through neither of the two.
            let go: Vec<_> = scene.edges.iter().filter(|edge| edge.key.starts_with("go/")).collect();
            assert!(go.len() == 1 && go[0].line == Line::Travels, "{width}");
            let side = if width < PAIR { "Q6 " } else { &format!("V{}H", pod.rect.cy()) };
            assert!(go[0].d.contains(side), "{width}: {}", go[0].d);
            assert!(scene.width <= width, "{width}: {}", scene.width);
        }
    }

    #[test]
    fn without_names_of_their_own_the_service_is_asked_for_and_its_answer_is_whole() {
        let mut model = some("headless", "");
        model.services[0].id.name = "wordpress-mysql".into();
        model.services[0].endpoints.iter_mut().for_each(|one| one.hostname.clear());
        for width in [700.0, 800.0, 1000.0, 1200.0] {
            let scene = layout(&model, None, width);
            let Body::Terminal { lines, .. } = &scene.items[0].body else { panic!("the client") };
            assert_eq!(lines[0], "/ # nslookup wordpress-mysql");
            assert_eq!(lines.last().unwrap(), "Address:  10.244.1.2");
            let dns = scene.items.iter().find_map(|item| if let Body::Table(of) = &item.body { Some(of) } else { None }).unwrap();
            assert_eq!(dns.rows.last().unwrap().0.last().unwrap(), "10.244.1.2", "{width}");
            assert!(dns.rows.last().unwrap().1, "the row that answers is marked");
            assert!(width < 800.0 || dns.rows[0].0[0].starts_with("10-244-1-2.word"), "{width}: {:?}", dns.rows[0].0);
        }
    }

    #[test]
    fn a_pod_that_is_replaced_keeps_its_row_and_is_asked_for_while_it_has_no_record() {
        let mut model = some("headless", "");
        let rows = |model: &Model| -> Vec<String> {
            let scene = layout(model, None, 1200.0);
            let Body::Terminal { lines, .. } = &scene.items[0].body else { panic!("the client") };
            let pods = scene.items.iter().filter(|item| item.id.kind == "Pod").map(|item| item.id.name.clone());
            pods.chain([lines[0].clone(), lines[3].clone()]).collect()
        };
        let before = rows(&model);
        assert_eq!(before[2], "/ # nslookup web-0.nginx");
        // Its successor has no address yet: no EndpointSlice lists it.
        model.services[0].selector = "app=web".into();
        model.services[0].endpoints.remove(0);
        let group = &mut model.roots[0].groups[0];
        let mut pod = (**group.pods.get(1).unwrap()).clone();
        (pod.state, pod.ordinal, pod.labels) = (PodState::Creating, Some(0), Rc::new(["app=web".to_string()]));
        group.pods.replace(1, Rc::new(pod));
        let meanwhile = rows(&model);
        assert_eq!(meanwhile[..3], before[..3]);
        assert!(meanwhile[3].contains("can't find"), "{meanwhile:?}");
    }

    #[test]
    fn a_virtual_ip_reaches_ready_pods_only() {
        let scene = layout(&some("ClusterIP", "10.96.0.7"), None, 1200.0);
        let to: Vec<&str> =
            scene.edges.iter().filter(|edge| edge.key.starts_with("to/")).map(|edge| edge.key.rsplit('/').next().unwrap()).collect();
        assert_eq!(to, ["web-0"]);
        assert!(scene.labels.iter().any(|label| label.text == "not ready: gets no traffic"));
    }

    #[test]
    fn where_nothing_is_ready_kube_proxy_sends_to_those_that_end_and_still_serve() {
        let mut model = some("ClusterIP", "10.96.0.7");
        for one in &mut model.services[0].endpoints {
            (one.ready, one.terminating, one.serving) = (false, true, true);
        }
        let told = |model: &Model, width: f64| {
            let scene = layout(model, None, width);
            let tables = scene.items.iter().filter_map(|item| if let Body::Table(of) = &item.body { Some(&of.rows) } else { None });
            let cells: Vec<String> = tables.flatten().flat_map(|(cells, _)| cells.clone()).collect();
            let reached = scene.edges.iter().filter(|edge| edge.key.starts_with("to/")).count();
            let under: Vec<String> = scene.labels.iter().filter(|label| label.class == "under").map(|label| label.text.clone()).collect();
            (cells.contains(&"only terminating".to_string()), reached, under)
        };
        assert_eq!(told(&model, 1200.0), (true, 2, vec!["2 terminating: still get traffic".into()]));
        assert_eq!(told(&model, 390.0), (true, 2, vec!["terminating: still gets traffic".into(); 2]));
        // One that is ready takes all of it.
        (model.services[0].endpoints[0].ready, model.services[0].endpoints[0].terminating) = (true, false);
        assert_eq!(told(&model, 1200.0), (false, 1, vec!["terminating: no new traffic".into()]));
        // Of a name alone there is no kube-proxy: DNS knows those that are ready.
        let mut model = some("headless", "");
        for one in &mut model.services[0].endpoints {
            (one.ready, one.terminating, one.serving) = (false, true, true);
        }
        assert!(!told(&model, 390.0).0 && told(&model, 390.0).1 == 0);
    }

    #[test]
    fn an_endpoint_whose_pod_is_gone_is_not_one_that_ends() {
        for (form, address) in [("headless", ""), ("ClusterIP", "10.96.0.7")] {
            for width in [390.0, 656.0, 1200.0] {
                // Another Pod may have the name already.
                let mut model = some(form, address);
                model.services[0].endpoints[0].gone = true;
                let scene = layout(&model, None, width);
                let gone: Vec<&str> = scene.items.iter().filter(|item| item.state == "gone").map(|item| item.label.as_str()).collect();
                assert_eq!(gone, ["Pod web-0, gone"], "{form} {width}");
                assert!(!scene.items.iter().any(|item| item.state == "terminating") && !scene.states().contains(&PodState::Terminating));
                let words = if form == "ClusterIP" { "gone: still gets traffic" } else { "gone: DNS still names it" };
                let told = scene.labels.iter().any(|label| label.text == words);
                assert_eq!(told, form == "ClusterIP" || width <= NARROW, "{form} {width}");
            }
        }
    }

    #[test]
    fn kube_proxy_reads_the_endpoint_slices() {
        let mut model = some("ClusterIP", "10.96.0.7");
        let slices = |model: &Model| {
            let scene = layout(model, None, 800.0);
            assert!(scene.edges.iter().any(|edge| edge.key == "reads/Service/nginx" && edge.line == Line::Watches));
            let find = |item: &Rc<super::super::shape::Item>| match &item.body {
                Body::Table(of) if of.kind == "EndpointSlice" => Some((item.id.kind.clone(), of.caption.clone(), of.title.clone())),
                _ => None,
            };
            scene.items.iter().find_map(find).unwrap()
        };
        (model.services[0].slices, model.services[0].slice) = (1, Some(Id::named("EndpointSlice", "nginx-x7k2p")));
        assert_eq!(slices(&model), ("EndpointSlice".into(), "EndpointSlice".into(), "nginx-x7k2p".into()));
        (model.services[0].slices, model.services[0].slice) = (50, None);
        assert_eq!(slices(&model).1, "50 EndpointSlices");
        let scene = layout(&model, None, 800.0);
        assert!(scene.items.iter().any(|item| item.label == "50 EndpointSlices, 1 ready, 0 terminating, 1 not ready"));
    }

    #[test]
    fn kube_proxy_is_no_hop() {
        for width in [656.0, 800.0, 1200.0] {
            let scene = layout(&some("ClusterIP", "10.96.0.7"), None, width);
            let service = scene.items.iter().find(|item| item.id.kind == "Service").unwrap().rect;
            let to = scene.edges.iter().find(|edge| edge.key.starts_with("to/")).unwrap();
            assert!(to.d.starts_with(&format!("M{} {}", service.right(), service.cy())), "from the Service straight to a Pod: {}", to.d);
            assert!(!scene.items.iter().any(|item| item.label.contains("kube-proxy")));
            assert!(scene.labels.iter().any(|label| label.text == "kube-proxy on each node"));
        }
    }

    /// A Service with a port on each of five nodes.
    fn opened(form: &str, external: &str) -> Model {
        let mut model = some(form, "10.96.0.7");
        let node = |n: usize| Rc::new(super::super::model::Node { id: Id::named("Node", &format!("node-{n}")), ..Default::default() });
        model.nodes = Rc::new((1..=5).map(node).collect());
        (model.services[0].node_ports, model.services[0].external) = (vec!["30080".into()], external.into());
        model.services[0].ports = vec!["80 → 8080".into()];
        model
    }

    #[test]
    fn the_outside_comes_in_by_the_port_of_a_node_while_there_is_no_address() {
        for (form, external, ways) in [("NodePort", "", 3), ("LoadBalancer", PENDING, 3), ("LoadBalancer", "203.0.113.7", 4)] {
            let scene = layout(&opened(form, external), None, 800.0);
            assert_eq!(scene.edges.iter().filter(|edge| edge.key.starts_with("outside/")).count(), ways, "{form} {external}");
            assert_eq!(scene.labels.iter().any(|label| label.text.contains("cloud provider")), external == PENDING);
            let outside = scene.items.iter().find(|item| item.label.starts_with("outside the cluster")).unwrap();
            assert!(outside.label.ends_with("node-1:30080, node-2:30080, +3 nodes:30080"), "{}", outside.label);
            let meet = |a: &Rect, b: &Rect| a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
            for (at, one) in scene.items.iter().enumerate() {
                assert!(scene.items[..at].iter().all(|other| !meet(&one.rect, &other.rect)), "{}", one.label);
            }
        }
        // One that is for the cluster alone has no outside.
        assert!(!layout(&some("ClusterIP", "10.96.0.7"), None, 800.0).items.iter().any(|item| item.label.starts_with("outside")));
    }

    #[test]
    fn nothing_is_wider_than_the_stage() {
        let forms = [("headless", ""), ("ClusterIP", "10.96.0.7"), ("ExternalName", "db.example.com"), ("LoadBalancer", "10.96.0.7")];
        for form in forms {
            let mut model = if form.0 == "LoadBalancer" { opened(form.0, PENDING) } else { some(form.0, form.1) };
            let other = Service { id: Id::named("Service", "other"), ..model.services[0].clone() };
            model.services.extend([other.clone(), Service { id: Id::named("Service", "third"), ..other }]);
            for width in [390.0, 656.0, 700.0, 800.0, 1000.0, 1020.0, 1080.0, 1200.0, 1500.0] {
                let wide = layout(&model, None, width).width;
                assert!(wide <= width + 1.0, "{form:?} {width}: {wide}");
            }
        }
    }

    #[test]
    fn on_a_phone_a_pod_in_no_endpoint_slice_has_no_port() {
        let mut model = some("ClusterIP", "10.96.0.7");
        model.services[0].selector = "app=web".into();
        model.services[0].endpoints.remove(0);
        let group = &mut model.roots[0].groups[0];
        let mut pod = (**group.pods.get(1).unwrap()).clone();
        (pod.state, pod.labels) = (PodState::Pending, Rc::new(["app=web".to_string()]));
        group.pods.replace(1, Rc::new(pod));
        let scene = layout(&model, None, 390.0);
        assert_eq!(scene.ports.len(), 1);
        let said: Vec<&str> = scene.labels.iter().filter(|label| label.class == "under").map(|label| label.text.as_str()).collect();
        assert_eq!(said, ["in no EndpointSlice", "not ready: gets no traffic"]);
    }

    #[test]
    fn a_choice_moves_no_band() {
        let mut model = some("ClusterIP", "10.96.0.7");
        let mut other = model.services[0].clone();
        (other.id, other.endpoints, other.form) =
            (Id::named("Service", "other"), vec![endpoint("busybox", "10.244.1.9", true)], "headless".into());
        model.services.push(other);
        let bands = |selected| {
            let scene = layout(&model, selected, 800.0);
            let at = |uid: &str| scene.items.iter().find(|item| item.id.uid == uid).unwrap().rect;
            (at("Service/nginx"), at("Service/other"), scene.width)
        };
        assert_eq!(bands(None), bands(Some("Pod/web-1")));
        assert_eq!(bands(None), bands(Some("Service/nginx")));
    }

    #[test]
    fn a_selected_pod_is_the_one_that_is_asked_for() {
        let mut model = some("headless", "");
        model.services[0].endpoints[1].ready = true;
        let scene = layout(&model, Some("Pod/web-1"), 1200.0);
        let Body::Terminal { lines, .. } = &scene.items[0].body else { panic!("the client") };
        assert_eq!(lines[0], "/ # nslookup web-1.nginx");
    }

    /// So many endpoints of an old and of a new revision; of every tenth something else than being ready.
    fn many(old: usize, new: usize) -> Vec<Endpoint> {
        let of = |hash: &str, n: usize| {
            let name = format!("web-{hash}-{}", crate::scene::format::count(n * 7919 % 9973).replace(',', "x"));
            Endpoint { terminating: n % 10 == 1, ..endpoint(&name, "10.244.1.2", n % 10 > 2) }
        };
        let mut all: Vec<Endpoint> = (0..old).map(|n| of("aaaa", n)).chain((0..new).map(|n| of("bbbb", n))).collect();
        all.iter_mut().for_each(|one| one.hostname.clear());
        crate::order::sort_by(&mut all, |a, b| natural(&a.pod, &b.pod));
        all
    }

    #[test]
    fn of_thousands_there_is_one_of_each_revision_and_condition() {
        let shown = telling(&many(4_000, 1_000));
        let of = |hash: &str, ready, terminating| {
            shown.iter().filter(|one| one.pod.contains(hash) && (one.ready, one.terminating) == (ready, terminating)).count()
        };
        for hash in ["aaaa", "bbbb"] {
            assert_eq!((of(hash, true, false), of(hash, false, true), of(hash, false, false)), (2, 1, 1), "{shown:?}");
        }
        // All alike: eight of them, each once.
        let mut alike = many(4_000, 0);
        alike.iter_mut().for_each(|one| (one.ready, one.terminating) = (true, false));
        let names: std::collections::BTreeSet<String> = telling(&alike).into_iter().map(|one| one.pod).collect();
        assert_eq!(names.len(), MOST);
        // The first of a StatefulSet's.
        let sets: Vec<Endpoint> = (0..40).map(|n| endpoint(&format!("db-{n}"), "10.244.1.2", n != 33)).collect();
        let names: Vec<String> = telling(&sets).into_iter().map(|one| one.pod).collect();
        assert_eq!(names, ["db-0", "db-1", "db-2", "db-3", "db-4", "db-5", "db-6", "db-33"]);
        let service = Service { endpoints: many(4_000, 1_000), ..Service::default() };
        assert_eq!(rest(&service, &shown, 4_992), ["+4,992 more", "3,496 ready", "498 terminating", "998 not ready"]);
    }

    #[test]
    fn a_revision_without_an_endpoint_is_there_too() {
        let mut model = some("ClusterIP", "10.96.0.7");
        model.services[0].endpoints = many(5_000, 0);
        model.services[0].selector = "app=web".into();
        let pod = |at: usize| Pod { id: Id::named("Pod", &format!("web-cccc-{at}")), state: PodState::Creating, ..Pod::default() };
        let of = Controller { id: Id::named("ReplicaSet", "web-cccc"), labels: vec!["app=web".into()], ..Controller::default() };
        let old = Controller { id: Id::named("ReplicaSet", "web-aaaa"), ..of.clone() };
        let ready = |at: usize| Pod { id: Id::named("Pod", &format!("web-aaaa-{at}")), state: PodState::Ready, ..Pod::default() };
        for (of, pods) in [(old, (0..5_000).map(ready).collect()), (of, (0..50).map(pod).collect())] {
            model.roots[0].groups.push(Group { controller: Some(Rc::new(of)), pods });
        }
        let (shown, more) = drawn(&model, &model.services[0], None);
        // The other forty-eight new ones are counted too.
        assert_eq!((shown.len(), more), (MOST, 5_042));
        assert_eq!([&shown[6].pod, &shown[7].pod], ["web-cccc-0", "web-cccc-1"]);
        assert_eq!(
            rest(&model.services[0], &shown, more),
            ["+5,042 more", "3,496 ready", "498 terminating", "1,000 not ready", "48 in no EndpointSlice"]
        );
    }

    #[test]
    fn a_row_keeps_its_pod_while_others_change() {
        let mut all = many(2_000, 500);
        let before = telling(&all);
        // Others leave: nothing moves.
        all.retain(|one| before.iter().any(|kept| kept.pod == one.pod) || one.pod.len() % 2 == 0 || one.terminating);
        assert_eq!(telling(&all), before);
        // One that is shown goes: its row takes another, the rest stay.
        for gone in 0..MOST {
            let left: Vec<Endpoint> = all.iter().filter(|one| one.pod != before[gone].pod).cloned().collect();
            let after = telling(&left);
            let changed: Vec<usize> = (0..MOST).filter(|row| after[*row] != before[*row]).collect();
            assert_eq!(changed, [gone]);
        }
    }
}
