//! What holds the data: a column per ordinal with Pod, claim and volume; the class that provisioned them.

use super::format::middle;
use super::model::{Claim, Id, Model, Pod, PodState, Root};
use super::ownership::{pod_body, pod_label, put_claim};
use super::shape::{Body, Label, Line, Look, Port, Rect, Scene, drop};

/// How the columns stand: where the first begins, their width, and from one to the next.
#[derive(Clone, Copy)]
struct Across {
    left: f64,
    column: f64,
    pitch: f64,
    /// Whether rows are named at the left.
    named: bool,
    /// Whether StorageClasses stand at the right, not in a line at the foot.
    aside: bool,
}

const WIDE: Across = Across { left: 88.0, column: 172.0, pitch: 188.0, named: true, aside: true };
/// Three columns fit beside a manifest on a small screen, with letters as large as anywhere.
const CLOSE: Across = Across { left: 76.0, column: 172.0, pitch: 184.0, named: true, aside: false };
/// A phone: the rows speak for themselves, their names and the room for them go. Of more than two columns, three fit.
const NARROW: Across = Across { left: 16.0, column: 171.0, pitch: 187.0, named: false, aside: false };
const THREE: Across = Across { left: 16.0, column: 114.0, pitch: 122.0, named: false, aside: false };
/// What three columns with all beside them need.
const ROOM: f64 = 800.0;

/// How the rows stand: the first, from the bar to the Pods, where its lines turn and how far over the Pods their ordinals stand;
/// between the rows; the height of a volume.
#[derive(Clone, Copy)]
struct Down {
    top: f64,
    drop: f64,
    turn: f64,
    title: f64,
    gaps: (f64, f64),
    volume: f64,
}

const HIGH: Down = Down { top: 16.0, drop: 70.0, turn: 20.0, title: 30.0, gaps: (60.0, 52.0), volume: 128.0 };
/// Where that would not fit.
const LOW: Down = Down { top: 10.0, drop: 52.0, turn: 14.0, title: 21.0, gaps: (34.0, 34.0), volume: 96.0 };
/// The height of a stage that shows one set so, over its controls.
const TALL: f64 = 612.0;
const POD: f64 = 52.0;
/// The ReplicaSet between a Deployment and its Pod, and how far it pushes the Pods down.
const CHIP: f64 = 40.0;
const VIA: f64 = 34.0;
const CLAIM: f64 = 60.0;
/// The bar over three columns, over two, and over one.
const BARS: [f64; 3] = [54.0, 84.0, 140.0];
/// So many columns a bar has room for before they are there: it does not grow with each Pod that comes.
const COMING: usize = 3;

/// Lays the storage out. `selected` is a uid; its column is highlighted.
// Not part of `State::draw`: the page opens with one view, and the others come after it (scripts/split.mjs).
#[inline(never)]
pub fn layout(model: &Model, selected: Option<&str>, (width, height): (f64, f64)) -> Scene {
    let mut out = Scene { summary: summary(model), ..Scene::default() };
    if model.claims.is_empty() && model.volumes.is_empty() {
        return out;
    }
    let coming = |root: &Root| root.controller.as_ref().filter(|of| of.claims).map_or(0, |of| of.desired);
    let most = model.roots.iter().map(coming).max().unwrap_or(0).max(model.claims.len());
    let across = match width {
        w if w < 560.0 && most > 2 => THREE,
        w if w < 560.0 => NARROW,
        w if w < ROOM => CLOSE,
        _ => WIDE,
    };
    let sets: Vec<(&Root, Vec<&Claim>)> =
        model.roots.iter().map(|root| (root, claims_of(model, root))).filter(|(_, own)| !own.is_empty()).collect();
    // The highest bar takes its room.
    let fewest = sets.iter().map(|(root, own)| coming(root).max(own.len())).min().unwrap_or(COMING);
    let low = across.named && height < TALL + bar(fewest) - BARS[0];
    let down = if low { LOW } else { HIGH };
    let form = (across, down);
    let mut y = down.top;
    let mut seen: Vec<&str> = Vec::new();
    // Small sets stand side by side where there is room beside the class.
    let room = if across.aside { width - ASIDE } else { width };
    let (mut x, mut row) = (across.left, y);
    for (root, own) in &sets {
        seen.extend(own.iter().map(|claim| claim.id.uid.as_str()));
        let places = coming(root).min(COMING).max(own.len());
        let span = places as f64 * across.pitch;
        let beside = across.named && x > across.left && x + span <= room && places <= COMING;
        if !beside {
            (x, row) = (across.left, y);
        }
        let labels = out.labels.len();
        let place = (Across { left: x, ..across }, down);
        y = y.max(set(model, root, own, selected, (place, row), &mut out) + APART);
        if beside {
            // The rows have their names already.
            let new = out.labels.split_off(labels);
            out.labels.extend(new.into_iter().filter(|label| label.class != "rowname"));
        }
        x += span + BETWEEN;
    }
    let rest: Vec<&Claim> = model.claims.iter().filter(|claim| !seen.contains(&claim.id.uid.as_str())).collect();
    if !rest.is_empty() {
        let columns: Vec<Column<'_>> = rest
            .iter()
            .map(|claim| Column { title: String::new(), ordinal: 0, pods: pods_of(model, claim), claims: vec![claim] })
            .collect();
        y = grid(model, &columns, None, selected, (form, y), &mut out) + APART;
    }
    free_volumes(model, (form, y), &mut out);
    classes(model, across, &mut out);
    out.labels.retain(|label| across.named || label.class != "rowname");
    kept(model, across, &mut out);
    out.finish(if low { 8.0 } else { 16.0 })
}

/// The height of a bar over so many columns.
fn bar(places: usize) -> f64 {
    BARS[COMING.saturating_sub(places).min(2)]
}

/// Between the blocks of columns, below and beside each other, and what the class takes at the right.
const APART: f64 = 40.0;
const BETWEEN: f64 = 24.0;
const ASIDE: f64 = 152.0;

/// A Pod of a set has been deleted, and what it mounted is still there: this is what a claim is for. The line has its room also
/// where there is nothing to say, so that nothing moves when there is.
fn kept(model: &Model, across: Across, out: &mut Scene) {
    if !model.claims.iter().any(|claim| claim.member.is_some()) {
        return;
    }
    let y = out.items.iter().map(|item| item.rect.bottom()).fold(out.height, f64::max) + 4.0;
    out.height = y + 22.0;
    let Some(removed) = &model.removed else { return };
    let claim = |claim: &&Claim| claim.id.namespace == removed.id.namespace && removed.claims.contains(&claim.id.name);
    let Some(claim) = model.claims.iter().find(claim) else { return };
    let (pod, name) = (middle(&removed.id.name, 24), middle(&claim.id.name, 28));
    let text = match (removed.by_user, across.named) {
        (true, true) if removed.back => format!("You deleted Pod {pod}, not its claim: the new {pod} has {name} again"),
        (true, true) => format!("You deleted Pod {pod}, not its claim: {name} keeps its {}", claim.capacity),
        (false, true) => format!("Pod {pod} was deleted, its claim was not: {name} keeps its {}", claim.capacity),
        (_, false) => format!("Pod {pod} was deleted; {name} stays", pod = middle(&removed.id.name, 16), name = middle(&claim.id.name, 18)),
    };
    out.labels.push(Label { x: across.left, y, text, class: "kept", centred: false });
}

struct Column<'a> {
    title: String,
    ordinal: usize,
    pods: Vec<&'a Pod>,
    claims: Vec<&'a Claim>,
}

fn pods_of<'a>(model: &'a Model, claim: &Claim) -> Vec<&'a Pod> {
    let groups = model.roots.iter().flat_map(|root| &root.groups).filter(|group| group.pods.mounts());
    let pods = groups.flat_map(|group| group.pods.iter()).map(|pod| &**pod);
    pods.filter(|pod| pod.id.namespace == claim.id.namespace && pod.claims.contains(&claim.id.name)).collect()
}

/// Claims that the root's Pods mount, and those made for it by name.
fn claims_of<'a>(model: &'a Model, root: &Root) -> Vec<&'a Claim> {
    let Some(of) = &root.controller else { return Vec::new() };
    model
        .claims
        .iter()
        .filter(|claim| {
            claim.id.namespace == of.id.namespace
                && (claim.member.as_ref().is_some_and(|(set, _)| of.id.kind == "StatefulSet" && *set == of.id.name)
                    || root
                        .groups
                        .iter()
                        .filter(|group| group.pods.mounts())
                        .flat_map(|group| group.pods.iter())
                        .any(|pod| pod.claims.contains(&claim.id.name)))
        })
        .collect()
}

fn set(model: &Model, root: &Root, own: &[&Claim], selected: Option<&str>, at: ((Across, Down), f64), out: &mut Scene) -> f64 {
    let pods: Vec<&Pod> = root.groups.iter().flat_map(|group| group.pods.iter()).map(|pod| &**pod).collect();
    let mut ordinals: Vec<u32> = own
        .iter()
        .filter_map(|claim| claim.member.as_ref().map(|member| member.1))
        .chain(pods.iter().filter_map(|pod| pod.ordinal))
        .collect();
    crate::order::sort(&mut ordinals);
    ordinals.dedup();
    let columns: Vec<Column<'_>> = if ordinals.is_empty() {
        own.iter()
            .map(|claim| Column {
                title: String::new(),
                ordinal: 0,
                pods: pods.iter().copied().filter(|pod| pod.claims.contains(&claim.id.name)).collect(),
                claims: vec![claim],
            })
            .collect()
    } else {
        let of = |n: u32| Column {
            title: format!("ordinal {n}"),
            ordinal: n as usize,
            pods: pods.iter().copied().filter(|pod| pod.ordinal == Some(n)).collect(),
            claims: own.iter().copied().filter(|claim| claim.member.as_ref().is_some_and(|member| member.1 == n)).collect(),
        };
        ordinals.into_iter().map(of).collect()
    };
    grid(model, &columns, Some(root), selected, at, out)
}

/// One block of columns. Returns its bottom.
fn grid(
    model: &Model,
    columns: &[Column<'_>],
    root: Option<&Root>,
    selected: Option<&str>,
    ((across, down), top): ((Across, Down), f64),
    out: &mut Scene,
) -> f64 {
    let Across { left, column: wide, pitch, .. } = across;
    let controller = root.and_then(|root| root.controller.as_ref());
    let coming = controller.filter(|of| of.claims).map_or(0, |of| of.desired.min(COMING));
    let places = columns.len().max(coming);
    let span = places as f64 * pitch - (pitch - wide);
    let mut parent = None;
    let mut pod_y = top + down.title;
    // As wide as its columns; where that is little its numbers stand below its name.
    let high = bar(places).max(if across.named { 0.0 } else { BARS[1] });
    let card = Rect::new(left, top, span, high);
    if let Some(of) = controller {
        let numbers: Vec<String> = of.counters.iter().map(|counter| format!("{} {}", counter.value, counter.word)).collect();
        let label = format!("{} {}, {}", of.id.kind, of.id.name, numbers.join(", "));
        let look = if places > 1 { Look::Wide } else { Look::Tall };
        parent = Some(out.put(&of.id, card, Body::Controller { of: of.clone(), look }, None, "settled", label));
        pod_y = card.bottom() + down.drop + if of.id.kind == "Deployment" { VIA } else { 0.0 };
    }
    // A Deployment owns no Pod: what does stands on the line.
    let sets = root.filter(|root| root.controller.as_ref().is_some_and(|of| of.id.kind == "Deployment"));
    let set_of = |pod: &Pod| {
        let of = sets?.groups.iter().find(|group| group.pods.iter().any(|own| own.id == pod.id))?.controller.as_ref()?;
        Some(&of.id)
    };
    let most = columns.iter().map(|column| column.claims.len()).max().unwrap_or(1).max(1);
    let claim_y = pod_y + POD + down.gaps.0;
    let volume_y = claim_y + CLAIM + down.gaps.1;
    // A second claim of the same Pod goes below the first, with its own volume.
    let block = CLAIM + down.gaps.1 + down.volume + 12.0;
    let bottom = volume_y + (most - 1) as f64 * block + down.volume;

    for (i, column) in columns.iter().enumerate() {
        let x = left + i as f64 * pitch;
        let cx = x + wide / 2.0;
        let chosen = |id: &Id| selected == Some(id.uid.as_str());
        let on = column.pods.iter().any(|pod| chosen(&pod.id))
            || column
                .claims
                .iter()
                .any(|claim| chosen(&claim.id) || model.volumes.iter().any(|volume| volume.id.name == claim.volume && chosen(&volume.id)));
        if on {
            let over = down.title + 8.0;
            out.bands.push(Rect::new(x - 6.0, pod_y - over, wide + 12.0, bottom - pod_y + over + 12.0));
        }
        if !column.title.is_empty() {
            out.labels.push(Label { x: x + 2.0, y: pod_y - down.title, text: column.title.clone(), class: "", centred: false });
        }
        let mut pod_index = parent;
        if column.pods.is_empty()
            && let Some(of) = controller.filter(|_| !column.title.is_empty())
        {
            // The claim outlives the Pod: a scale-down leaves the data behind.
            let text = if column.ordinal >= of.desired { format!("kept: replicas is {}", of.desired) } else { "no Pod now".into() };
            out.labels.push(Label { x: cx, y: pod_y + 18.0, text, class: "", centred: true });
        }
        if let Some(pod) = column.pods.first() {
            let rect = Rect::new(x, pod_y, wide, POD);
            let mut body = pod_body(pod, if wide < 150.0 { 8 } else { 15 });
            if let Body::Pod { note, .. } = &mut body {
                *note = if wide < 150.0 { String::new() } else { note.strip_prefix("at most ").unwrap_or(note).to_string() };
            }
            let (mut owner, mut from) = (parent, (left + span / 2.0, card.bottom()));
            if let Some(id) = set_of(pod) {
                let drawn = out.items.iter().position(|item| item.id == *id);
                let at = drawn.unwrap_or_else(|| {
                    let rect = Rect::new(x, card.bottom() + (pod_y - card.bottom() - CHIP) / 2.0, wide, CHIP);
                    let body = Body::Stored { fact: String::new(), missing: false };
                    let line = if on { Line::Chosen } else { Line::Owns };
                    out.link(id.uid.clone(), drop(from.0, from.1, cx, rect.y, (from.1 + rect.y) / 2.0), line);
                    out.put(id, rect, body, parent, "settled", format!("ReplicaSet {}", id.name))
                });
                let rect = out.items[at].rect;
                (owner, from) = (Some(at), (rect.cx(), rect.bottom()));
            }
            pod_index = Some(out.put(&pod.id, rect, body, owner, pod.state.class(), pod_label(pod)));
            if controller.is_some() {
                let line = if on {
                    Line::Chosen
                } else if pod.state == PodState::Terminating {
                    Line::Leaving
                } else {
                    Line::Owns
                };
                out.link(pod.id.uid.clone(), drop(from.0, from.1, cx, pod_y, from.1 + down.turn.min((pod_y - from.1) / 2.0)), line);
            }
        }
        for (k, claim) in column.claims.iter().enumerate() {
            let at = claim_y + k as f64 * block;
            let rect = Rect::new(x, at, wide, CLAIM);
            // Whether it is bound stands on its line.
            let facts = [claim.capacity.as_str(), claim.mode.as_str()];
            let index = put_claim(out, claim, rect, pod_index, &facts);
            if let Some(pod) = column.pods.first().filter(|_| k == 0) {
                mount(pod, claim, (cx, wide), pod_y + POD, at, on, out);
            }
            volume(model, claim, (cx, rect, down), on, index, out);
        }
    }
    for (y, text) in [(pod_y + 18.0, "Pod"), (claim_y + 22.0, "Claim"), (volume_y + down.volume / 2.0 - 6.0, "Volume")] {
        out.labels.push(Label { x: left - 64.0, y, text: text.into(), class: "rowname", centred: false });
    }
    bottom
}

fn mount(pod: &Pod, claim: &Claim, (cx, wide): (f64, f64), from: f64, to: f64, on: bool, out: &mut Scene) {
    let mounted = matches!(pod.state, PodState::Ready | PodState::NotReady);
    let words = match pod.state {
        PodState::Ready | PodState::NotReady => "mounted",
        PodState::Terminating => "the claim stays",
        PodState::Failed | PodState::Succeeded => "not running",
        _ if wide < 150.0 => "not mounted",
        _ if claim.phase == "Bound" => "waiting to be mounted",
        _ => "waiting for the claim",
    };
    out.link(format!("{}>{}", pod.id.uid, claim.id.uid), drop(cx, from, cx, to, from), if mounted { Line::Bound } else { Line::Waits });
    out.ports.push(Port { x: cx, y: from, full: mounted, network: false });
    let class = match (mounted, on) {
        (true, false) => "onedge",
        (true, true) => "onedge inband",
        (false, false) => "onedge waits",
        (false, true) => "onedge waits inband",
    };
    out.labels.push(Label { x: cx, y: (from + to) / 2.0 - 8.0, text: words.into(), class, centred: true });
}

fn volume(model: &Model, claim: &Claim, (cx, ticket, down): (f64, Rect, Down), on: bool, parent: usize, out: &mut Scene) {
    let bound = claim.phase == "Bound";
    let gap = down.gaps.1;
    let top = ticket.bottom() + gap;
    let class = if on { "onedge inband" } else { "onedge" };
    match model.volumes.iter().find(|volume| volume.id.name == claim.volume) {
        Some(volume) => {
            let rect = Rect::new(ticket.x, top, ticket.w, down.volume);
            let fact = [volume.capacity.as_str(), volume.node.as_str()]
                .into_iter()
                .filter(|fact| !fact.is_empty())
                .collect::<Vec<_>>()
                .join(" · ");
            let label = format!("PersistentVolume {}, {}, {fact}", volume.id.name, volume.phase);
            out.put(
                &volume.id,
                rect,
                Body::Cylinder { fact, data: volume.data.clone() },
                Some(parent),
                &volume.phase.to_ascii_lowercase(),
                label,
            );
            out.link(
                volume.id.uid.clone(),
                drop(cx, ticket.bottom(), cx, top + 8.0, ticket.bottom()),
                if bound { Line::Bound } else { Line::Waits },
            );
            out.labels.push(Label { x: cx, y: ticket.bottom() + gap / 2.0 - 8.0, text: claim.phase.clone(), class, centred: true });
        }
        None => {
            out.link(
                format!("{}/volume", claim.id.uid),
                drop(cx, ticket.bottom(), cx, ticket.bottom() + 26.0, ticket.bottom()),
                Line::Waits,
            );
            let words = if claim.phase.is_empty() { "Pending".to_string() } else { claim.phase.clone() };
            out.labels.push(Label {
                x: cx,
                y: ticket.bottom() + 30.0,
                text: if ticket.w < 150.0 { words } else { format!("{words}: no volume yet") },
                class: if on { "onedge waits inband" } else { "onedge waits" },
                centred: true,
            });
        }
    }
}

/// Volumes that no claim is bound to.
fn free_volumes(model: &Model, ((across, down), top): ((Across, Down), f64), out: &mut Scene) {
    let free: Vec<_> = model.volumes.iter().filter(|volume| !model.claims.iter().any(|claim| claim.volume == volume.id.name)).collect();
    for (i, volume) in free.iter().enumerate() {
        let rect = Rect::new(across.left + i as f64 * across.pitch, top, across.column, down.volume);
        let fact =
            [volume.phase.as_str(), volume.capacity.as_str()].into_iter().filter(|fact| !fact.is_empty()).collect::<Vec<_>>().join(" · ");
        let label = format!("PersistentVolume {}, {fact}", volume.id.name);
        out.put(&volume.id, rect, Body::Cylinder { fact, data: volume.data.clone() }, None, &volume.phase.to_ascii_lowercase(), label);
    }
    if !free.is_empty() {
        out.labels.push(Label {
            x: across.left - 64.0,
            y: top + down.volume / 2.0 - 6.0,
            text: "Volume".into(),
            class: "rowname",
            centred: false,
        });
    }
}

/// StorageClasses at the right, or a line each at the foot of a small picture, with a dotted bus under what they provisioned.
fn classes(model: &Model, across: Across, out: &mut Scene) {
    let used: Vec<_> = model
        .classes
        .iter()
        .filter(|class| {
            model.volumes.iter().any(|volume| volume.class == class.id.name)
                || model.claims.iter().any(|claim| claim.class == class.id.name)
        })
        .collect();
    let x = out.items.iter().filter(|item| !matches!(item.body, Body::Controller { .. })).map(|item| item.rect.right()).fold(0.0, f64::max)
        + 28.0;
    for (i, class) in used.iter().enumerate() {
        let cylinders: Vec<Rect> = out
            .items
            .iter()
            .filter(|item| {
                matches!(item.body, Body::Cylinder { .. })
                    && model.volumes.iter().any(|volume| volume.id.uid == item.id.uid && volume.class == class.id.name)
            })
            .map(|item| item.rect)
            .collect();
        let tickets = out.items.iter().filter(|item| matches!(item.body, Body::Claim { .. })).map(|item| item.rect.bottom() + HIGH.gaps.1);
        let top = cylinders.iter().map(|rect| rect.y).reduce(f64::max).or(tickets.reduce(f64::max)).unwrap_or(24.0) + 8.0;
        let rect = Rect::new(x, top + i as f64 * 130.0, 116.0, 116.0);
        let label = format!("StorageClass {}, reclaim policy {}", class.id.name, class.reclaim);
        // Where something stands below a cylinder, its line leads out between the two, and goes down beside the columns.
        let under: Vec<Option<f64>> = cylinders.iter().map(|rect| beneath(rect, out)).collect();
        let ways = |to: &dyn Fn(usize, &Rect, f64) -> String, out: &mut Scene| {
            for (k, (rect, under)) in cylinders.iter().zip(&under).enumerate() {
                if let Some(y) = under {
                    out.link(
                        format!("{}/{k}", class.id.uid),
                        to(k, rect, rect.bottom() + ((y - rect.bottom()) / 2.0).min(12.0)),
                        Line::Provides,
                    );
                }
            }
        };
        if !across.aside {
            let y = out.items.iter().map(|item| item.rect.bottom()).fold(0.0, f64::max) + 20.0;
            let beside = across.left - 9.0;
            ways(&|_, rect, out_y| format!("M{} {}V{out_y}H{beside}V{}H{}", rect.cx(), rect.bottom(), y + 12.0, across.left), out);
            out.put(&class.id, Rect::new(across.left, y, 358.0, 24.0), Body::Note(label.clone()), None, "", label);
            for (k, cylinder) in cylinders.iter().enumerate().filter(|(k, _)| under[*k].is_none()) {
                out.link(format!("{}/{k}", class.id.uid), format!("M{} {}V{}", cylinder.cx(), cylinder.bottom(), y), Line::Provides);
            }
            continue;
        }
        ways(&|_, from, y| format!("M{} {}V{y}H{}V{}", from.cx(), from.bottom(), rect.cx(), rect.y), out);
        out.put(&class.id, rect, Body::Class { reclaim: class.reclaim.clone() }, None, "", label);
        let last: Vec<(usize, Rect)> = cylinders.iter().copied().enumerate().filter(|(k, _)| under[*k].is_none()).collect();
        if last.is_empty() {
            continue;
        }
        let bus = last.iter().map(|(_, rect)| rect.bottom()).fold(rect.bottom(), f64::max) + 26.0 + i as f64 * 10.0;
        let first = last.iter().map(|(_, rect)| rect.cx()).fold(f64::MAX, f64::min);
        out.link(
            class.id.uid.clone(),
            format!("M{first} {bus}H{}Q{} {bus} {} {}V{}", rect.cx() - 10.0, rect.cx(), rect.cx(), bus - 10.0, rect.bottom()),
            Line::Provides,
        );
        for (k, cylinder) in &last {
            out.link(format!("{}/{k}", class.id.uid), format!("M{} {}V{bus}", cylinder.cx(), cylinder.bottom()), Line::Provides);
        }
        out.labels.push(Label { x: rect.x - 24.0, y: bus - 8.0, text: "provisions".into(), class: "onedge", centred: false });
        out.height = out.height.max(bus + 8.0);
    }
}

/// Where the next thing below a rectangle begins.
fn beneath(of: &Rect, scene: &Scene) -> Option<f64> {
    let below = |rect: &Rect| rect.y >= of.bottom() && rect.x < of.cx() && of.cx() < rect.right();
    scene.items.iter().map(|item| item.rect).filter(below).map(|rect| rect.y).reduce(f64::min)
}

fn summary(model: &Model) -> String {
    let bound = model.claims.iter().filter(|claim| claim.phase == "Bound").count();
    format!("{} claims, {bound} of them bound, {} volumes.", model.claims.len(), model.volumes.len())
}

#[cfg(test)]
mod tests {
    use super::super::model::{Class, Controller, Group, Removed, Volume, counters};
    use super::*;
    use std::rc::Rc;

    const WHOLE: (f64, f64) = (800.0, 700.0);

    fn web(replicas: u32, claims: u32) -> Model {
        let pod = |n: u32| Pod {
            id: Id::named("Pod", &format!("web-{n}")),
            ordinal: Some(n),
            claims: vec![format!("www-web-{n}")],
            state: PodState::Ready,
            ..Pod::default()
        };
        let claim = |n: u32| Claim {
            id: Id::named("PersistentVolumeClaim", &format!("www-web-{n}")),
            phase: "Bound".into(),
            volume: format!("pv-{n}"),
            class: "standard".into(),
            member: Some(("web".into(), n)),
            ..Claim::default()
        };
        let volume =
            |n: u32| Volume { id: Id::named("PersistentVolume", &format!("pv-{n}")), class: "standard".into(), ..Volume::default() };
        let set = Controller { id: Id::named("StatefulSet", "web"), counters: counters(3, 3, 3), ..Controller::default() };
        Model {
            roots: vec![Root {
                controller: Some(set.into()),
                groups: vec![Group { controller: None, pods: (0..replicas).map(pod).collect() }],
                folded: 0,
            }],
            claims: (0..claims).map(claim).collect(),
            volumes: (0..claims).map(volume).collect(),
            classes: vec![Class { id: Id::named("StorageClass", "standard"), reclaim: "Delete".into() }],
            ..Model::default()
        }
    }

    fn rect(scene: &Scene, uid: &str) -> Rect {
        scene.items.iter().find(|item| item.id.uid == uid).expect("drawn").rect
    }

    #[test]
    fn a_member_its_claim_and_its_volume_share_a_column() {
        let scene = layout(&web(3, 3), None, WHOLE);
        let x = rect(&scene, "Pod/web-1").x;
        assert_eq!(rect(&scene, "PersistentVolumeClaim/www-web-1").x, x);
        assert_eq!(rect(&scene, "PersistentVolume/pv-1").x, x);
        assert!(rect(&scene, "StorageClass/standard").x > rect(&scene, "PersistentVolume/pv-2").right());
        assert!(scene.width <= 830.0, "{}", scene.width);
    }

    #[test]
    fn a_scale_down_leaves_the_columns_of_the_claims() {
        let scene = layout(&web(1, 3), None, WHOLE);
        assert_eq!(rect(&scene, "PersistentVolumeClaim/www-web-2").x, rect(&layout(&web(3, 3), None, WHOLE), "Pod/web-2").x);
        assert_eq!(scene.items.iter().filter(|item| item.id.kind == "Pod").count(), 1);
    }

    #[test]
    fn three_columns_stand_whole_on_a_small_screen_and_the_bar_is_as_wide_as_they_are() {
        for (pods, desired) in [(1, 1), (2, 2), (3, 3), (5, 5), (1, 3)] {
            let mut model = web(pods, pods);
            let of = model.roots[0].controller.as_mut().map(Rc::make_mut).unwrap();
            (of.desired, of.claims) = (desired, true);
            for (width, height) in [(656.0, 476.0), (800.0, 700.0), (1200.0, 700.0), (390.0, 600.0)] {
                let scene = layout(&model, None, (width, height));
                let (bar, first, last) =
                    (rect(&scene, "StatefulSet/web"), rect(&scene, "Pod/web-0"), rect(&scene, &format!("Pod/web-{}", pods - 1)));
                assert_eq!(bar.x, first.x);
                // It has its room from the beginning, and does not grow with each Pod that comes.
                let coming = (desired - pods as usize) as f64
                    * if width < 560.0 {
                        THREE.pitch
                    } else if width < ROOM {
                        CLOSE.pitch
                    } else {
                        WIDE.pitch
                    };
                assert_eq!(bar.right(), last.right() + coming, "{pods} {width}");
                if pods == 3 {
                    assert!(scene.width <= width, "{width}: {}", scene.width);
                    assert!(width < 560.0 || scene.height <= height, "{width}: {}", scene.height);
                }
            }
        }
    }

    #[test]
    fn a_claim_that_outlives_its_pod_is_told_of_and_nothing_moves_for_it() {
        let mut model = web(3, 3);
        let quiet = layout(&model, None, WHOLE);
        model.removed = Some(Removed { id: Id::named("Pod", "web-1"), claims: vec!["www-web-1".into()], by_user: true, back: false });
        model.claims[1].capacity = "1Gi".into();
        let told = layout(&model, None, WHOLE);
        assert_eq!((told.width, told.height), (quiet.width, quiet.height));
        let words = |scene: &Scene| scene.labels.iter().find(|label| label.class == "kept").map(|label| label.text.clone());
        assert_eq!(words(&quiet), None);
        assert_eq!(words(&told).as_deref(), Some("You deleted Pod web-1, not its claim: www-web-1 keeps its 1Gi"));
        model.removed.as_mut().unwrap().back = true;
        assert_eq!(
            words(&layout(&model, None, WHOLE)).as_deref(),
            Some("You deleted Pod web-1, not its claim: the new web-1 has www-web-1 again")
        );
    }

    /// Two Deployments that mount a claim each, one below the other.
    fn deployments() -> Model {
        let mut model = web(1, 2);
        let root = |name: &str, n: u32| {
            let of =
                |kind: &str, name: &str| Controller { id: Id::named(kind, name), counters: counters(1, 1, 1), ..Controller::default() };
            let pod = Pod {
                id: Id::named("Pod", &format!("{name}-1-a")),
                claims: vec![format!("www-web-{n}")],
                state: PodState::Ready,
                ..Pod::default()
            };
            let sets =
                vec![Group { controller: Some(of("ReplicaSet", &format!("{name}-1")).into()), pods: std::iter::once(pod).collect() }];
            Root { controller: Some(of("Deployment", name).into()), groups: sets, folded: 0 }
        };
        model.roots = vec![root("a", 0), root("b", 1)];
        model.claims.iter_mut().for_each(|claim| claim.member = None);
        model
    }

    #[test]
    fn between_a_deployment_and_its_pod_stands_what_owns_the_pod() {
        for size in [WHOLE, (390.0, 600.0), (720.0, 500.0)] {
            let scene = layout(&deployments(), None, size);
            let at = |uid: &str| scene.items.iter().position(|item| item.id.uid == uid).expect("drawn");
            let parent = |uid: &str| scene.items[at(uid)].parent;
            assert_eq!(parent("Pod/a-1-a"), Some(at("ReplicaSet/a-1")));
            assert_eq!(parent("ReplicaSet/a-1"), Some(at("Deployment/a")));
            let (of, set, pod) = (rect(&scene, "Deployment/a"), rect(&scene, "ReplicaSet/a-1"), rect(&scene, "Pod/a-1-a"));
            assert!(of.bottom() + 8.0 < set.y && set.bottom() + 8.0 < pod.y, "{of:?} {set:?} {pod:?}");
        }
    }

    #[test]
    fn what_a_class_provisions_is_joined_to_it_beside_other_cards() {
        for size in [(390.0, 600.0), (430.0, 900.0)] {
            let scene = layout(&deployments(), None, size);
            let ways: Vec<_> = scene.edges.iter().filter(|edge| edge.line == Line::Provides).collect();
            let below = rect(&scene, "Deployment/b");
            // The first goes out above the card below it, and meets no card on the way down.
            let first = ways
                .iter()
                .find(|edge| edge.d.starts_with(&format!("M{} {}V", below.cx(), rect(&scene, "PersistentVolume/pv-0").bottom())));
            let mut numbers =
                first.expect("drawn").d.split(|c: char| !c.is_ascii_digit() && c != '.').filter_map(|n| n.parse::<f64>().ok());
            let (out, aside) = (numbers.nth(2).unwrap(), numbers.next().unwrap());
            assert!(out < below.y, "{out} {below:?}");
            assert!(aside < below.x || aside > below.right(), "{aside} {below:?}");
        }
    }

    #[test]
    fn small_sets_stand_side_by_side_where_there_is_room() {
        for size in [WHOLE, (720.0, 500.0)] {
            let scene = layout(&deployments(), None, size);
            let (a, b) = (rect(&scene, "Deployment/a"), rect(&scene, "Deployment/b"));
            assert!(a.y == b.y && a.right() < b.x, "{a:?} {b:?}");
            assert_eq!(scene.labels.iter().filter(|label| label.class == "rowname" && label.text == "Pod").count(), 1);
            assert!(scene.width <= size.0, "{} {size:?}", scene.width);
            // What is provided comes out below, and meets nothing.
            assert!(scene.edges.iter().any(|edge| edge.line == Line::Provides));
        }
    }

    #[test]
    fn the_column_of_what_is_selected_is_highlighted() {
        assert_eq!(layout(&web(3, 3), Some("PersistentVolume/pv-2"), WHOLE).bands.len(), 1);
        assert!(layout(&web(3, 3), None, WHOLE).bands.is_empty());
        assert!(layout(&Model::default(), None, WHOLE).items.is_empty());
    }
}
