//! Who owns whom: roots, ReplicaSets or Jobs, Pods, their claims and volumes; Services in a row above.

use super::model::{Block, Claim, Controller, Group, Id, Model, Pod, PodState, Root};
use super::shape::{Body, Cells, Label, Line, Port, Rect, Scene, drop, elbow};

const TOP: f64 = 26.0;
const LEFT: f64 = 28.0;
const POD_H: f64 = 52.0;
const GAP: f64 = 8.0;
const BETWEEN: f64 = 36.0;
const RAIL: f64 = 28.0;
/// From this many Pods in the whole view, all of them are cells.
const DENSE: usize = 200;

/// Widths and distances of the columns of one tree.
struct Columns {
    root: f64,
    gap: f64,
    set: f64,
    pod: f64,
    claim: f64,
    volume: f64,
}

const WIDE: Columns = Columns { root: 200.0, gap: 54.0, set: 204.0, pod: 204.0, claim: 180.0, volume: 180.0 };
/// In a small frame: volumes are left out, the claim says it is bound.
const SMALL: Columns = Columns { root: 176.0, gap: 56.0, set: 190.0, pod: 196.0, claim: 180.0, volume: 0.0 };
/// Four columns in the width of three.
const CLAIMS: Columns = Columns { root: 176.0, gap: 44.0, set: 190.0, pod: 188.0, claim: 156.0, volume: 152.0 };

/// Lays the trees out. `selected` is a uid; `width` is the viewport's.
pub fn layout(model: &Model, selected: Option<&str>, width: f64) -> Scene {
    if width < 560.0 {
        return narrow(model, selected, width);
    }
    let claims = if width < 780.0 { &SMALL } else { &CLAIMS };
    let total = model.population();
    let mut out = Scene { summary: summary(model), ..Scene::default() };
    let first = if model.mounts() { claims } else { &WIDE };
    let services = services(model, &mut out, first.root);
    let rows = services.len() + model.policies.len();
    let policies = policies(model, services.len(), first.root, &mut out);
    let mut y = if rows == 0 { TOP + 14.0 } else { TOP + rows as f64 * 70.0 + 28.0 };
    let mut drawn_claims = Vec::new();

    for root in &model.roots {
        let columns = if root.mounts() { claims } else { &WIDE };
        y = tree(model, root, columns, y, total, selected, &mut out, &mut drawn_claims) + BETWEEN + 8.0;
    }
    orphans(model, y, &mut out, &drawn_claims);
    if !model.services.is_empty() {
        rails(model, &services, &mut out);
    }
    aims(model, &policies, &mut out);
    out.finish(LEFT)
}

/// Autoscalers and budgets, below the Services.
#[inline(never)]
fn policies(model: &Model, above: usize, width: f64, out: &mut Scene) -> Vec<Rect> {
    let mut rects = Vec::new();
    for (row, policy) in model.policies.iter().enumerate() {
        let rect = Rect::new(LEFT, TOP + (above + row) as f64 * 70.0, width + 90.0, 54.0);
        let label = format!("{} {}, {}, {}", policy.id.kind, policy.id.name, policy.form, policy.words);
        out.put(&policy.id, rect, Body::Service { form: policy.form.clone() }, None, "settled", label);
        let text = policy.words.clone();
        out.labels.push(Label { x: rect.right() + 14.0, y: rect.cy() - 8.0, text, class: "onedge", centred: false });
        rects.push(rect);
    }
    rects
}

/// From an autoscaler or a budget down the left margin to the workload it is about.
#[inline(never)]
fn aims(model: &Model, cards: &[Rect], out: &mut Scene) {
    for (n, (policy, card)) in model.policies.iter().zip(cards).enumerate() {
        let Some(target) = out.items.iter().find(|item| item.id.uid == policy.target).map(|item| item.rect) else { continue };
        let x = (LEFT - 8.0 - n as f64 * 5.0).max(6.0);
        let (from, to) = (card.cy(), target.cy() + 8.0 + n as f64 * 8.0);
        let d = format!("M{} {from}H{}Q{x} {from} {x} {}V{}Q{x} {to} {} {to}H{}", card.x, x + 6.0, from + 6.0, to - 6.0, x + 6.0, target.x);
        out.link(format!("aim/{}", policy.id.uid), d, Line::Selects);
    }
}

/// The trees that have claims, without Services: storage in a low frame.
#[inline(never)]
pub fn claims(model: &Model, selected: Option<&str>, width: f64) -> Scene {
    let mut only = model.clone();
    only.services.clear();
    only.inert.clear();
    only.roots.retain(|root| root.mounts() || root.controller.as_ref().is_some_and(|of| of.id.kind == "StatefulSet"));
    layout(&only, selected, width)
}

#[inline(never)]
fn services(model: &Model, out: &mut Scene, width: f64) -> Vec<Rect> {
    let mut rects = Vec::new();
    for (row, service) in model.services.iter().enumerate() {
        let rect = Rect::new(LEFT, TOP + row as f64 * 70.0, width, 54.0);
        let ready = service.ready();
        let label = format!("Service {}, {}, {} ready endpoints", service.id.name, service.form, ready);
        out.put(&service.id, rect, Body::Service { form: service.form.clone() }, None, if ready > 0 { "ready" } else { "none" }, label);
        rects.push(rect);
    }
    rects
}

/// Heights of what stands for the Pods of a group.
enum Leaves {
    None,
    Cards,
    Tiles { rows: usize },
    Cells { columns: usize, rows: usize, side: f64, pitch: f64 },
}

fn leaves(pods: usize, total: usize, width: f64) -> Leaves {
    match pods {
        0 => Leaves::None,
        n if total > DENSE && n > 24 => {
            let (side, pitch, most) = if total > 20_000 { (4.0, 5.0, 320) } else { (7.0, 8.0, 110) };
            let columns = ((n as f64 * 1.6).sqrt().ceil() as usize).clamp(22, most);
            Leaves::Cells { columns, rows: n.div_ceil(columns), side, pitch }
        }
        1..=6 => Leaves::Cards,
        7..=24 => Leaves::Tiles { rows: pods.div_ceil(4) },
        n => {
            let columns = ((width - 24.0) / 10.0) as usize;
            Leaves::Cells { columns, rows: n.div_ceil(columns), side: 8.0, pitch: 10.0 }
        }
    }
}

const TILE: (f64, f64) = (72.0, 30.0);

/// Height of the counts over cells: one line, or as many as there are states.
fn counts_height(pods: &Block) -> f64 {
    8.0 + 18.0 * pods.counts().len() as f64
}

fn leaves_height(group: &Group, kind: &Leaves, pitch: f64) -> f64 {
    match kind {
        Leaves::None => 0.0,
        Leaves::Cards => group.pods.len() as f64 * pitch - (pitch - POD_H),
        Leaves::Tiles { rows } => *rows as f64 * (TILE.1 + 6.0) - 6.0,
        Leaves::Cells { rows, pitch, .. } => counts_height(&group.pods) + *rows as f64 * pitch + 18.0,
    }
}

/// The height of a controller's card.
pub fn card_height(of: &Controller) -> f64 {
    let counters = if of.counters.is_empty() { 0.0 } else { 53.0 };
    let footer = if of.footer.is_empty() && of.chip.is_empty() { 0.0 } else { 29.0 };
    54.0 + counters + footer
}

#[expect(clippy::too_many_arguments, reason = "the parts of one pass over a tree")]
fn tree(
    model: &Model,
    root: &Root,
    columns: &Columns,
    top: f64,
    total: usize,
    selected: Option<&str>,
    out: &mut Scene,
    claims: &mut Vec<String>,
) -> f64 {
    let sets = root.groups.iter().any(|group| group.controller.is_some());
    let root_w = if root.controller.is_some() { columns.root } else { 0.0 };
    let set_x = LEFT + root_w + if root_w > 0.0 { columns.gap } else { 0.0 };
    let pod_x = if sets { set_x + columns.set + columns.gap } else { set_x };
    let pitch = if root.mounts() { 76.0 } else { POD_H + GAP };

    // First the heights, so that the root can be put before its children (depth first) yet be centred on them.
    let mut y = top;
    let mut blocks = Vec::new();
    for group in &root.groups {
        let kind = leaves(group.pods.len(), total, columns.pod);
        let leaves_h = leaves_height(group, &kind, pitch);
        let card_h = group.controller.as_ref().map_or(0.0, card_height);
        let height = leaves_h.max(card_h);
        if height == 0.0 {
            blocks.push((kind, y, y, y));
            continue;
        }
        let leaves_y = y + (height - leaves_h) / 2.0;
        blocks.push((kind, y, leaves_y, y + height / 2.0));
        y += height + BETWEEN;
    }
    let mut bottom = if y > top { y - BETWEEN } else { y };
    let occupied: Vec<f64> =
        blocks.iter().zip(&root.groups).filter(|(_, g)| g.controller.is_some() || !g.pods.is_empty()).map(|(b, _)| b.3).collect();

    let mut root_index = None;
    let mut root_rect = Rect::default();
    if let Some(of) = &root.controller {
        let h = card_height(of);
        let centre = match (occupied.first(), occupied.last()) {
            (Some(first), Some(last)) => (first + last) / 2.0,
            _ => top + h / 2.0,
        };
        root_rect = Rect::new(LEFT, (centre - h / 2.0).max(top), columns.root, h);
        bottom = bottom.max(root_rect.bottom());
        root_index = Some(put_controller(out, of, root_rect, None, false));
    }

    for (group, (kind, block_y, leaves_y, centre)) in root.groups.iter().zip(&blocks) {
        let mut parent = (root_index, root_rect, root.controller.as_ref());
        let set_chosen =
            group.controller.as_ref().is_some_and(|of| chosen(selected, &of.id) || group.pods.iter().any(|pod| chosen(selected, &pod.id)));
        if let Some(of) = &group.controller {
            let h = card_height(of);
            let rect = Rect::new(set_x, (centre - h / 2.0).max(*block_y), columns.set, h);
            let index = put_controller(out, of, rect, root_index, false);
            if root.controller.is_some() {
                let d = elbow(root_rect.right(), root_rect.cy(), rect.x, rect.cy(), rect.x - columns.gap / 2.0);
                out.link(of.id.uid.clone(), d, line(set_chosen, of.leaving));
            }
            parent = (Some(index), rect, Some(of));
        }
        pods(model, group, kind, pod_x, *leaves_y, pitch, columns, parent, selected, out, claims);
    }
    if root.folded > 0 {
        let what = if root.controller.as_ref().is_some_and(|of| of.id.kind == "CronJob") { "ended Job" } else { "old revision" };
        let text = format!("+{} {what}{}", root.folded, if root.folded == 1 { "" } else { "s" });
        let id = Id { uid: format!("{}/folded", root.controller.as_ref().map_or("", |of| &of.id.uid)), ..Id::default() };
        let rect = Rect::new(set_x, bottom + 12.0, columns.set, 20.0);
        out.put(&id, rect, Body::Note(text.clone()), root_index, "", text);
        bottom += 32.0;
    }
    bottom
}

fn put_controller(out: &mut Scene, of: &Controller, rect: Rect, parent: Option<usize>, wide: bool) -> usize {
    let state = if of.leaving {
        "terminating"
    } else if of.counters.iter().any(|counter| counter.word == "ready" && counter.tone == super::model::Tone::Off) {
        "progressing"
    } else {
        "settled"
    };
    let numbers: Vec<String> = of.counters.iter().map(|counter| format!("{} {}", counter.value, counter.word)).collect();
    let label = format!("{} {}, {}", of.caption, of.id.name, numbers.join(", "));
    out.put(&of.id, rect, Body::Controller { of: of.clone(), wide }, parent, state, label)
}

fn chosen(selected: Option<&str>, id: &Id) -> bool {
    selected == Some(id.uid.as_str())
}

fn line(chosen: bool, leaving: bool) -> Line {
    match (chosen, leaving) {
        (true, false) => Line::Chosen,
        (_, true) => Line::Leaving,
        _ => Line::Owns,
    }
}

/// A Pod as a card.
pub fn pod_body(pod: &Pod, most: usize) -> Body {
    let (lead, tail) = pod.parts(most);
    Body::Pod { state: pod.state, lead, tail, word: pod.word.clone(), note: pod.note.clone(), stale: pod.stale }
}

/// A Pod's words for a reader who does not see it.
pub fn pod_label(pod: &Pod) -> String {
    let node = if pod.node.is_empty() { String::new() } else { format!(", on {}", pod.node) };
    format!("Pod {}, {}{node}", pod.id.name, pod.word)
}

#[expect(clippy::too_many_arguments, reason = "the parts of one pass over a tree")]
fn pods(
    model: &Model,
    group: &Group,
    kind: &Leaves,
    x: f64,
    y: f64,
    pitch: f64,
    columns: &Columns,
    (parent, from, owner): (Option<usize>, Rect, Option<&Controller>),
    selected: Option<&str>,
    out: &mut Scene,
    claims: &mut Vec<String>,
) {
    let mid = x - columns.gap / 2.0;
    match kind {
        Leaves::None => {}
        Leaves::Cards => {
            for (row, pod) in group.pods.iter().enumerate() {
                let rect = Rect::new(x, y + row as f64 * pitch, columns.pod, POD_H);
                let body = pod_body(pod, 20);
                let index = out.put(&pod.id, rect, body, parent, pod.state.class(), pod_label(pod));
                if owner.is_some() {
                    let d = elbow(from.right(), from.cy(), rect.x, rect.cy(), mid);
                    out.link(pod.id.uid.clone(), d, line(chosen(selected, &pod.id), pod.state == PodState::Terminating));
                }
                storage_of(model, pod, rect, index, columns, out, claims);
            }
        }
        Leaves::Tiles { .. } => {
            for (i, pod) in group.pods.iter().enumerate() {
                let (column, row) = ((i % 4) as f64, (i / 4) as f64);
                let rect = Rect::new(x + column * (TILE.0 + 6.0), y + row * (TILE.1 + 6.0), TILE.0, TILE.1);
                out.put(
                    &pod.id,
                    rect,
                    Body::Tile { state: pod.state, tail: pod.parts(6).1, stale: pod.stale },
                    parent,
                    pod.state.class(),
                    pod_label(pod),
                );
            }
            if let Some(owner) = owner {
                let h = group.pods.len().div_ceil(4) as f64 * (TILE.1 + 6.0) - 6.0;
                out.link(format!("{}/pods", owner.id.uid), elbow(from.right(), from.cy(), x, y + h / 2.0, mid), Line::Owns);
            }
        }
        Leaves::Cells { columns: across, rows, side, pitch } => {
            let head = counts_height(&group.pods);
            let width = (*across as f64 * pitch + 24.0).max(columns.pod);
            let rect = Rect::new(x, y, width, head + *rows as f64 * pitch + 18.0);
            let cells = Cells { pods: group.pods.clone(), columns: *across, side: *side, pitch: *pitch, at: (12.0, head + 6.0) };
            let counts: Vec<String> =
                cells.pods.counts().iter().map(|(state, n)| format!("{} {}", super::format::count(*n), state.word())).collect();
            let uid = format!("{}/pods", owner.map_or("bare", |owner| &owner.id.uid));
            let namespace = group.pods.first().map(|pod| pod.id.namespace.clone()).unwrap_or_default();
            let id = Id { kind: "Pods".into(), namespace, name: owner.map(|owner| owner.id.name.clone()).unwrap_or_default(), uid };
            let ready = matches!(cells.pods.counts()[..], [(PodState::Ready, _)]);
            let label = format!("{} Pods: {}", super::format::count(group.pods.len()), counts.join(", "));
            if owner.is_some() {
                out.link(id.uid.clone(), elbow(from.right(), from.cy(), rect.x, rect.cy(), mid), Line::Owns);
            }
            out.put(&id, rect, Body::Cells(cells), parent, if ready { "ready" } else { "progressing" }, label);
        }
    }
}

/// The claims of a Pod and their volumes, to its right.
#[inline(never)]
fn storage_of(model: &Model, pod: &Pod, at: Rect, parent: usize, columns: &Columns, out: &mut Scene, drawn: &mut Vec<String>) {
    let own = pod
        .claims
        .iter()
        .filter_map(|name| model.claims.iter().find(|claim| claim.id.name == *name && claim.id.namespace == pod.id.namespace));
    for (i, claim) in own.enumerate() {
        if drawn.contains(&claim.id.uid) {
            continue;
        }
        drawn.push(claim.id.uid.clone());
        let x = at.right() + columns.gap;
        let rect = Rect::new(x, at.cy() - 30.0 + i as f64 * 68.0, columns.claim, 60.0);
        let index = put_claim(out, claim, rect, Some(parent));
        let mounted = matches!(pod.state, PodState::Ready | PodState::NotReady);
        if pod.state == PodState::Terminating && columns.volume == 0.0 {
            out.labels.push(Label { x: x + 2.0, y: rect.bottom() + 1.0, text: "the claim stays".into(), class: "", centred: false });
        }
        out.link(
            format!("{}>{}", pod.id.uid, claim.id.uid),
            elbow(at.right(), at.cy(), x, rect.cy(), x - columns.gap / 2.0),
            if mounted { Line::Bound } else { Line::Waits },
        );
        out.ports.push(Port { x: at.right(), y: at.cy(), full: mounted, network: false });
        volume_of(model, claim, rect, index, columns, out);
    }
}

#[inline(never)]
fn volume_of(model: &Model, claim: &Claim, at: Rect, parent: usize, columns: &Columns, out: &mut Scene) {
    if columns.volume == 0.0 {
        return;
    }
    if let Some(volume) = model.volumes.iter().find(|volume| volume.id.name == claim.volume) {
        let rect = Rect::new(at.right() + 36.0, at.cy() - 26.0, columns.volume, POD_H);
        let fact =
            [volume.phase.as_str(), volume.capacity.as_str()].into_iter().filter(|fact| !fact.is_empty()).collect::<Vec<_>>().join(" · ");
        let label = format!("PersistentVolume {}, {fact}", volume.id.name);
        out.put(&volume.id, rect, Body::Volume { fact }, Some(parent), &volume.phase.to_ascii_lowercase(), label);
        let bound = claim.phase == "Bound";
        out.link(
            volume.id.uid.clone(),
            elbow(at.right(), at.cy(), rect.x, rect.cy(), rect.x - 18.0),
            if bound { Line::Bound } else { Line::Waits },
        );
    }
}

/// Puts a claim's ticket.
pub fn put_claim(out: &mut Scene, claim: &Claim, rect: Rect, parent: Option<usize>) -> usize {
    let fact = [claim.phase.as_str(), claim.capacity.as_str()].into_iter().filter(|fact| !fact.is_empty()).collect::<Vec<_>>().join(" · ");
    let label = format!("PersistentVolumeClaim {}, {fact}", claim.id.name);
    let body = Body::Claim { fact, bound: claim.phase == "Bound" };
    out.put(&claim.id, rect, body, parent, &claim.phase.to_ascii_lowercase(), label)
}

/// Claims without a Pod, and objects that are stored but not animated: a row each at the foot.
#[inline(never)]
fn orphans(model: &Model, top: f64, out: &mut Scene, drawn: &[String]) {
    let mut y = top;
    let waiting: Vec<&Claim> = model.claims.iter().filter(|claim| !drawn.contains(&claim.id.uid)).collect();
    if !waiting.is_empty() {
        out.labels.push(Label { x: LEFT, y, text: "Claims without a Pod".into(), class: "", centred: false });
        for (i, claim) in waiting.iter().enumerate() {
            let rect = Rect::new(LEFT + (i % 4) as f64 * 196.0, y + 22.0 + (i / 4) as f64 * 76.0, 180.0, 60.0);
            put_claim(out, claim, rect, None);
        }
        y += 22.0 + waiting.len().div_ceil(4) as f64 * 76.0 + 16.0;
    }
    if !model.inert.is_empty() {
        out.labels.push(Label { x: LEFT, y, text: "Stored, not animated".into(), class: "", centred: false });
        for (i, id) in model.inert.iter().enumerate() {
            let rect = Rect::new(LEFT + (i % 4) as f64 * 196.0, y + 22.0 + (i / 4) as f64 * 62.0, 180.0, 52.0);
            out.put(id, rect, Body::Inert, None, "inert", format!("{} {}, stored, not animated", id.kind, id.name));
        }
    }
}

/// The selector lines: along the Service's row to a rail right of the Pods, with a stub per endpoint.
#[inline(never)]
fn rails(model: &Model, services: &[Rect], out: &mut Scene) {
    let mut used = 0;
    for (service, card) in model.services.iter().zip(services) {
        let mut ends: Vec<(Rect, bool)> = out
            .items
            .iter()
            .filter(|item| item.id.kind == "Pod" && item.id.namespace == service.id.namespace && matches!(item.body, Body::Pod { .. }))
            .filter_map(|item| {
                service.endpoints.iter().find(|endpoint| endpoint.pod == item.id.name).map(|endpoint| (item.rect, endpoint.ready))
            })
            .collect();
        let ready = service.ready();
        let mut words = if service.selector.is_empty() { "no selector".to_string() } else { format!("selector {}", service.selector) };
        words.push_str(&match ready {
            1 => " · 1 ready endpoint".to_string(),
            n => format!(" · {} ready endpoints", super::format::count(n)),
        });
        // Pods as tiles or cells have one line to their block instead of a stub each.
        if ends.is_empty() && !service.endpoints.is_empty() {
            let block = out.items.iter().filter(|item| matches!(item.body, Body::Cells(_) | Body::Tile { .. })).map(|item| item.rect);
            let block = block.reduce(|a, b| {
                Rect::new(a.x.min(b.x), a.y.min(b.y), a.right().max(b.right()) - a.x.min(b.x), a.bottom().max(b.bottom()) - a.y.min(b.y))
            });
            ends.extend(block.map(|rect| (rect, ready > 0)));
        }
        let y = card.cy();
        let claims = out.items.iter().any(|item| matches!(item.body, Body::Claim { .. }) && item.parent.is_some());
        let label_x = card.right() + 32.0;
        out.labels.push(Label { x: label_x, y: y - 8.0, text: words, class: "onedge", centred: false });
        if ends.is_empty() {
            out.link(service.id.uid.clone(), format!("M{} {y}H{}", card.right(), label_x), Line::Selects);
            continue;
        }
        crate::order::sort_by(&mut ends, |a, b| a.0.y.total_cmp(&b.0.y));
        let right = ends.iter().map(|(rect, _)| rect.right()).fold(0.0, f64::max);
        let (offset, lift) = if claims { (16.0 + used as f64 * 8.0, -13.0) } else { (RAIL + used as f64 * 10.0, used as f64 * 12.0) };
        let rail = right + offset;
        let last = ends.last().map_or(y, |(rect, _)| rect.cy() + lift);
        out.link(
            service.id.uid.clone(),
            format!("M{} {y}H{}Q{rail} {y} {rail} {}V{last}", card.right(), rail - 10.0, y + 10.0),
            Line::Selects,
        );
        for (i, (rect, full)) in ends.iter().enumerate() {
            let stub = rect.cy() + lift;
            out.link(format!("{}/{i}", service.id.uid), format!("M{rail} {stub}H{}", rect.right() + 7.0), Line::Selects);
            out.ports.push(Port { x: rect.right(), y: stub, full: *full, network: true });
        }
        out.width = out.width.max(rail);
        used += 1;
    }
}

/// The picture in a sentence.
fn summary(model: &Model) -> String {
    let mut parts: Vec<String> = Vec::new();
    for root in model.roots.iter().take(6) {
        let pods = root.groups.iter().map(|group| group.pods.len()).sum::<usize>();
        match &root.controller {
            Some(of) => {
                let numbers: Vec<String> = of.counters.iter().map(|counter| format!("{} {}", counter.value, counter.word)).collect();
                let sets = root.groups.iter().filter(|group| group.controller.is_some()).count();
                let sets = if sets > 0 { format!(", {sets} ReplicaSets or Jobs") } else { String::new() };
                parts.push(format!("{} {}, {}{sets}, {pods} Pods", of.id.kind, of.id.name, numbers.join(", ")));
            }
            None => parts.push(format!("{pods} Pods without a controller")),
        }
    }
    if model.roots.len() > 6 {
        parts.push(format!("{} more", model.roots.len() - 6));
    }
    if parts.is_empty() { "Nothing is running.".into() } else { format!("{}.", parts.join("; ")) }
}

/// The stacked layout of a phone: cards in full width, children below.
#[inline(never)]
fn narrow(model: &Model, selected: Option<&str>, width: f64) -> Scene {
    let (m, w) = (16.0, (width - 32.0).max(280.0));
    let total = model.population();
    let mut out = Scene { summary: summary(model), ..Scene::default() };
    let mut y = 16.0;
    for service in &model.services {
        let ready = service.ready();
        let form = if ready == 1 { "1 ready endpoint".to_string() } else { format!("{} ready endpoints", super::format::count(ready)) };
        let label = format!("Service {}, {form}", service.id.name);
        out.put(&service.id, Rect::new(m, y, w, 44.0), Body::Service { form }, None, if ready > 0 { "ready" } else { "none" }, label);
        y += 60.0;
    }
    for root in &model.roots {
        let (mut parent, mut from) = (None, Rect::default());
        if let Some(of) = &root.controller {
            from = Rect::new(m, y, w, card_height(of));
            parent = Some(put_controller(&mut out, of, from, None, false));
            y = from.bottom() + 40.0;
        }
        let across = if root.groups.len() > 1 { 2 } else { 1 };
        let group_w = (w - 16.0 * (across - 1) as f64) / across as f64;
        for pair in root.groups.chunks(across) {
            let mut lowest = y;
            for (column, group) in pair.iter().enumerate() {
                let x = m + column as f64 * (group_w + 16.0);
                let (mut at, mut owner) = (y, (parent, from));
                if let Some(of) = &group.controller {
                    let mut small = of.clone();
                    (small.footer, small.chip) = (String::new(), String::new());
                    if let Some((_, revision)) = small.caption.split_once(" · ") {
                        small.caption = revision.to_string();
                    }
                    let rect = Rect::new(x, at, group_w, card_height(&small));
                    let index = put_controller(&mut out, &small, rect, parent, false);
                    let on = chosen(selected, &of.id) || group.pods.iter().any(|pod| chosen(selected, &pod.id));
                    out.link(of.id.uid.clone(), drop(from.cx(), from.bottom(), rect.cx(), rect.y, rect.y - 20.0), line(on, of.leaving));
                    at = rect.bottom() + 21.0;
                    owner = (Some(index), rect);
                }
                lowest = lowest.max(stack(group, x, at, group_w, owner, total, &mut out));
            }
            y = lowest + 24.0;
        }
        y += 8.0;
    }
    out.finish(16.0)
}

#[inline(never)]
fn stack(group: &Group, x: f64, top: f64, w: f64, (parent, from): (Option<usize>, Rect), total: usize, out: &mut Scene) -> f64 {
    let mut y = top;
    if let (Some(first), true) = (group.pods.first(), from.h > 0.0) {
        out.link(format!("{}/stem", first.id.uid), drop(from.cx(), from.bottom(), x + w / 2.0, top, top - 12.0), Line::Owns);
    }
    if group.pods.len() <= 6 {
        for pod in group.pods.iter() {
            let mut body = pod_body(pod, if w > 240.0 { 30 } else { 5.max(pod.parts(5).1.len()) });
            if let (Body::Pod { lead, .. }, true) = (&mut body, w <= 240.0) {
                lead.clear();
            }
            if let (Body::Pod { note, .. }, true) = (&mut body, w <= 240.0) {
                note.clear();
            }
            out.put(&pod.id, Rect::new(x, y, w, 48.0), body, parent, pod.state.class(), pod_label(pod));
            y += 56.0;
        }
        return y;
    }
    let (side, pitch) = if total > DENSE { (7.0, 8.0) } else { (8.0, 10.0) };
    let columns = ((w - 24.0) / pitch) as usize;
    let head = counts_height(&group.pods);
    let cells = Cells { pods: group.pods.clone(), columns, side, pitch, at: (12.0, head + 6.0) };
    let h = head + group.pods.len().div_ceil(columns) as f64 * pitch + 18.0;
    let id = Id { kind: "Pods".into(), uid: format!("{}/pods", group.pods[0].id.uid), ..group.pods[0].id.clone() };
    out.put(&id, Rect::new(x, y, w, h), Body::Cells(cells), parent, "progressing", format!("{} Pods", group.pods.len()));
    y + h + 8.0
}

#[cfg(test)]
mod tests {
    use super::super::model::{Service, Volume, counters};
    use super::*;
    use std::rc::Rc;

    fn pod(name: &str, state: PodState) -> Pod {
        Pod { id: Id::named("Pod", name), state, word: state.word().into(), ..Pod::default() }
    }

    fn group(set: &str, pods: usize) -> Group {
        Group {
            controller: Some(Controller {
                id: Id::named("ReplicaSet", set),
                counters: counters(2, 2, 2),
                footer: "nginx:1.25".into(),
                ..Controller::default()
            }),
            pods: (0..pods).map(|i| pod(&format!("{set}-{i}"), PodState::Ready)).collect(),
        }
    }

    fn deployment(groups: Vec<Group>) -> Model {
        let controller = Controller { id: Id::named("Deployment", "nginx"), counters: counters(3, 4, 3), ..Controller::default() };
        Model { roots: vec![Root { controller: Some(controller), groups, folded: 0 }], ..Model::default() }
    }

    fn rect(scene: &Scene, uid: &str) -> Rect {
        scene.items.iter().find(|item| item.id.uid == uid).expect("drawn").rect
    }

    fn nothing_overlaps(scene: &Scene) {
        for (i, a) in scene.items.iter().enumerate() {
            for b in &scene.items[i + 1..] {
                let apart =
                    a.rect.right() <= b.rect.x || b.rect.right() <= a.rect.x || a.rect.bottom() <= b.rect.y || b.rect.bottom() <= a.rect.y;
                assert!(apart, "{} covers {}: {:?} {:?}", a.id.uid, b.id.uid, a.rect, b.rect);
            }
        }
    }

    #[test]
    fn a_parent_is_centred_on_its_children_and_nothing_overlaps() {
        let scene = layout(&deployment(vec![group("a", 3), group("b", 2)]), None, 800.0);
        assert_eq!(rect(&scene, "ReplicaSet/a").cy(), rect(&scene, "Pod/a-1").cy());
        let middle = (rect(&scene, "ReplicaSet/a").cy() + rect(&scene, "ReplicaSet/b").cy()) / 2.0;
        assert_eq!(rect(&scene, "Deployment/nginx").cy(), middle);
        nothing_overlaps(&scene);
        assert!(scene.width <= 800.0, "{}", scene.width);
    }

    #[test]
    fn one_state_draws_one_picture() {
        let model = deployment(vec![group("a", 3), group("b", 9)]);
        assert_eq!(layout(&model, Some("Pod/a-1"), 800.0), layout(&model.clone(), Some("Pod/a-1"), 800.0));
    }

    #[test]
    fn pods_fold_into_tiles_then_cells_then_dense_cells() {
        let bodies = |n: usize| {
            let scene = layout(&deployment(vec![group("a", n)]), None, 800.0);
            nothing_overlaps(&scene);
            let cells = scene.items.iter().find_map(|item| match &item.body {
                Body::Cells(cells) => Some((cells.pods.len(), cells.pitch)),
                _ => None,
            });
            let tiles = scene.items.iter().filter(|item| matches!(item.body, Body::Tile { .. })).count();
            let cards = scene.items.iter().filter(|item| matches!(item.body, Body::Pod { .. })).count();
            (cards, tiles, cells)
        };
        assert_eq!(bodies(0), (0, 0, None));
        assert_eq!(bodies(6), (6, 0, None));
        assert_eq!(bodies(7), (0, 7, None));
        assert_eq!(bodies(24), (0, 24, None));
        assert_eq!(bodies(25), (0, 0, Some((25, 10.0))));
        assert_eq!(bodies(200), (0, 0, Some((200, 10.0))));
        assert_eq!(bodies(201), (0, 0, Some((201, 8.0))));
        assert_eq!(bodies(30_000), (0, 0, Some((30_000, 5.0))));
    }

    #[test]
    fn a_leaving_pod_has_a_fading_edge_and_the_chosen_path_is_drawn_last() {
        let mut model = deployment(vec![group("a", 2)]);
        model.roots[0].groups[0].pods.replace(0, Rc::new(pod("a-0", PodState::Terminating)));
        let scene = layout(&model, Some("Pod/a-1"), 800.0);
        let line = |key: &str| scene.edges.iter().find(|edge| edge.key == key).expect("drawn").line;
        assert_eq!(line("Pod/a-0"), Line::Leaving);
        assert_eq!(line("Pod/a-1"), Line::Chosen);
        assert_eq!(line("ReplicaSet/a"), Line::Chosen);
        assert_eq!(scene.edges.last().map(|edge| edge.line), Some(Line::Chosen));
    }

    #[test]
    fn a_service_reaches_the_pods_in_its_endpoints_and_owns_nothing() {
        let mut model = deployment(vec![group("a", 3)]);
        let endpoint = |pod: &str, ready| super::super::model::Endpoint { pod: pod.into(), ready, ..Default::default() };
        let endpoints = vec![endpoint("a-0", true), endpoint("a-1", false)];
        model.services.push(Service { id: Id::named("Service", "nginx"), selector: "app=nginx".into(), endpoints, ..Service::default() });
        let scene = layout(&model, None, 800.0);
        let ports: Vec<bool> = scene.ports.iter().map(|port| port.full).collect();
        assert_eq!(ports, [true, false]);
        assert!(scene.items.iter().all(|item| item.parent.is_none_or(|parent| scene.items[parent].id.kind != "Service")));
        nothing_overlaps(&scene);
    }

    #[test]
    fn claims_and_volumes_follow_their_pod_and_outlive_it() {
        let mut member = pod("web-0", PodState::Ready);
        member.claims = vec!["www-web-0".into()];
        let claim = |name: &str| Claim {
            id: Id::named("PersistentVolumeClaim", name),
            phase: "Bound".into(),
            volume: "pv-1".into(),
            ..Claim::default()
        };
        let set = Controller { id: Id::named("StatefulSet", "web"), counters: counters(1, 1, 1), ..Controller::default() };
        let model = Model {
            roots: vec![Root {
                controller: Some(set),
                groups: vec![Group { controller: None, pods: [member].into_iter().collect() }],
                folded: 0,
            }],
            claims: vec![claim("www-web-0"), claim("www-web-1")],
            volumes: vec![Volume { id: Id::named("PersistentVolume", "pv-1"), ..Volume::default() }],
            ..Model::default()
        };
        let scene = layout(&model, None, 800.0);
        let at = |uid: &str| scene.items.iter().position(|item| item.id.uid == uid).expect("drawn");
        assert_eq!(scene.items[at("PersistentVolumeClaim/www-web-0")].parent, Some(at("Pod/web-0")));
        assert_eq!(scene.items[at("PersistentVolume/pv-1")].parent, Some(at("PersistentVolumeClaim/www-web-0")));
        assert_eq!(scene.items[at("PersistentVolumeClaim/www-web-1")].parent, None);
        nothing_overlaps(&scene);
        nothing_overlaps(&layout(&model, None, 390.0));
    }

    #[test]
    fn a_phone_gets_a_stack_that_fits_its_width() {
        let scene = layout(&deployment(vec![group("a", 3), group("b", 40)]), None, 390.0);
        nothing_overlaps(&scene);
        assert!(scene.width <= 390.0, "{}", scene.width);
    }
}
