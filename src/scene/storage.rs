//! What holds the data: a column per ordinal with Pod, claim and volume; the class that provisioned them.

use super::model::{Claim, Id, Model, Pod, PodState, Root};
use super::ownership::{pod_body, pod_label, put_claim};
use super::shape::{Body, Label, Line, Look, Port, Rect, Scene, drop};

const LEFT: f64 = 88.0;

/// How the columns stand: where the first begins, their width, and from one to the next.
#[derive(Clone, Copy)]
struct Across {
    left: f64,
    column: f64,
    pitch: f64,
}

const WIDE: Across = Across { left: LEFT, column: 172.0, pitch: 188.0 };
/// A phone: the rows speak for themselves, their names and the room for them go. Of more than two columns, three fit.
const NARROW: Across = Across { left: 16.0, column: 171.0, pitch: 187.0 };
const THREE: Across = Across { left: 16.0, column: 114.0, pitch: 122.0 };

/// Lays the storage out. `selected` is a uid; its column is highlighted.
#[inline(never)]
pub fn layout(model: &Model, selected: Option<&str>, width: f64) -> Scene {
    let mut out = Scene { summary: summary(model), ..Scene::default() };
    if model.claims.is_empty() && model.volumes.is_empty() {
        return out;
    }
    let across = match width < 560.0 {
        true if model.claims.len() > 2 => THREE,
        true => NARROW,
        false => WIDE,
    };
    let left = across.left;
    let mut y = 16.0;
    let mut seen: Vec<&str> = Vec::new();
    for root in &model.roots {
        let own = claims_of(model, root);
        if own.is_empty() {
            continue;
        }
        seen.extend(own.iter().map(|claim| claim.id.uid.as_str()));
        y = set(model, root, &own, selected, (across, y), &mut out) + 40.0;
    }
    let rest: Vec<&Claim> = model.claims.iter().filter(|claim| !seen.contains(&claim.id.uid.as_str())).collect();
    if !rest.is_empty() {
        let columns: Vec<Column<'_>> = rest
            .iter()
            .map(|claim| Column { title: String::new(), ordinal: 0, pods: pods_of(model, claim), claims: vec![claim] })
            .collect();
        y = grid(model, &columns, None, selected, (across, y), &mut out) + 40.0;
    }
    free_volumes(model, (across, y), &mut out);
    classes(model, left < LEFT, &mut out);
    out.labels.retain(|label| left >= LEFT || label.class != "rowname");
    out.finish(16.0)
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

fn set(model: &Model, root: &Root, own: &[&Claim], selected: Option<&str>, at: (Across, f64), out: &mut Scene) -> f64 {
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

/// One block of columns, 112 from row to row. Returns its bottom.
fn grid(
    model: &Model,
    columns: &[Column<'_>],
    root: Option<&Root>,
    selected: Option<&str>,
    (across, top): (Across, f64),
    out: &mut Scene,
) -> f64 {
    let Across { left, column: wide, pitch } = across;
    let span = columns.len() as f64 * pitch - (pitch - wide);
    let mut parent = None;
    let mut pod_y = top + 36.0;
    let controller = root.and_then(|root| root.controller.as_ref());
    // On a phone the numbers stand below the name.
    let (least, high) = if left < LEFT { (358.0, 84.0) } else { (548.0, 54.0) };
    let card = Rect::new(left, top, span.max(least), high);
    if let Some(of) = controller {
        let numbers: Vec<String> = of.counters.iter().map(|counter| format!("{} {}", counter.value, counter.word)).collect();
        let label = format!("{} {}, {}", of.id.kind, of.id.name, numbers.join(", "));
        parent = Some(out.put(&of.id, card, Body::Controller { of: of.clone(), look: Look::Wide }, None, "settled", label));
        pod_y = card.bottom() + 82.0;
    }
    let most = columns.iter().map(|column| column.claims.len()).max().unwrap_or(1).max(1);
    let claim_y = pod_y + 112.0;
    let volume_y = claim_y + 112.0;
    // A second claim of the same Pod goes below the first, with its own volume.
    let block = 252.0;
    let bottom = volume_y + (most - 1) as f64 * block + 128.0;

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
            out.bands.push(Rect::new(x - 6.0, pod_y - 44.0, wide + 12.0, bottom - pod_y + 56.0));
        }
        if !column.title.is_empty() {
            out.labels.push(Label { x: x + 2.0, y: pod_y - 36.0, text: column.title.clone(), class: "", centred: false });
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
            let rect = Rect::new(x, pod_y, wide, 52.0);
            let mut body = pod_body(pod, if wide < 150.0 { 8 } else { 15 });
            if let Body::Pod { note, .. } = &mut body {
                *note = if wide < 150.0 { String::new() } else { note.strip_suffix(" left").unwrap_or(note).to_string() };
            }
            pod_index = Some(out.put(&pod.id, rect, body, parent, pod.state.class(), pod_label(pod)));
            if controller.is_some() {
                let line = if on {
                    Line::Chosen
                } else if pod.state == PodState::Terminating {
                    Line::Leaving
                } else {
                    Line::Owns
                };
                out.link(pod.id.uid.clone(), drop(left + span / 2.0, card.bottom(), cx, pod_y, card.bottom() + 24.0), line);
            }
        }
        for (k, claim) in column.claims.iter().enumerate() {
            let at = claim_y + k as f64 * block;
            let rect = Rect::new(x, at, wide, 60.0);
            // Whether it is bound stands on its line.
            let facts = [claim.capacity.as_str(), claim.mode.as_str()];
            let index = put_claim(out, claim, rect, pod_index, &facts);
            if let Some(pod) = column.pods.first().filter(|_| k == 0) {
                mount(pod, claim, (cx, wide), pod_y + 52.0, at, on, out);
            }
            volume(model, claim, cx, rect, on, index, out);
        }
    }
    for (y, text) in [(pod_y + 18.0, "Pod"), (claim_y + 22.0, "Claim"), (volume_y + 58.0, "Volume")] {
        out.labels.push(Label { x: 24.0, y, text: text.into(), class: "rowname", centred: false });
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

fn volume(model: &Model, claim: &Claim, cx: f64, ticket: Rect, on: bool, parent: usize, out: &mut Scene) {
    let bound = claim.phase == "Bound";
    let top = ticket.bottom() + 52.0;
    let class = if on { "onedge inband" } else { "onedge" };
    match model.volumes.iter().find(|volume| volume.id.name == claim.volume) {
        Some(volume) => {
            let rect = Rect::new(ticket.x, top, ticket.w, 128.0);
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
            out.labels.push(Label { x: cx, y: ticket.bottom() + 18.0, text: claim.phase.clone(), class, centred: true });
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
fn free_volumes(model: &Model, (across, top): (Across, f64), out: &mut Scene) {
    let free: Vec<_> = model.volumes.iter().filter(|volume| !model.claims.iter().any(|claim| claim.volume == volume.id.name)).collect();
    for (i, volume) in free.iter().enumerate() {
        let rect = Rect::new(across.left + i as f64 * across.pitch, top, across.column, 128.0);
        let fact =
            [volume.phase.as_str(), volume.capacity.as_str()].into_iter().filter(|fact| !fact.is_empty()).collect::<Vec<_>>().join(" · ");
        let label = format!("PersistentVolume {}, {fact}", volume.id.name);
        out.put(&volume.id, rect, Body::Cylinder { fact, data: volume.data.clone() }, None, &volume.phase.to_ascii_lowercase(), label);
    }
    if !free.is_empty() {
        out.labels.push(Label { x: 24.0, y: top + 58.0, text: "Volume".into(), class: "rowname", centred: false });
    }
}

/// StorageClasses at the right, or a line each at the foot of a `small` picture, with a dotted bus under what they provisioned.
fn classes(model: &Model, small: bool, out: &mut Scene) {
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
        let tickets = out.items.iter().filter(|item| matches!(item.body, Body::Claim { .. })).map(|item| item.rect.bottom() + 52.0);
        let top = cylinders.iter().map(|rect| rect.y).reduce(f64::max).or(tickets.reduce(f64::max)).unwrap_or(24.0) + 8.0;
        let rect = Rect::new(x, top + i as f64 * 130.0, 116.0, 116.0);
        let label = format!("StorageClass {}, reclaim policy {}", class.id.name, class.reclaim);
        if small {
            let y = out.items.iter().map(|item| item.rect.bottom()).fold(0.0, f64::max) + 26.0;
            out.put(&class.id, Rect::new(16.0, y, 358.0, 24.0), Body::Note(label.clone()), None, "", label);
            for (k, cylinder) in cylinders.iter().enumerate() {
                out.link(format!("{}/{k}", class.id.uid), format!("M{} {}V{}", cylinder.cx(), cylinder.bottom(), y), Line::Provides);
            }
            continue;
        }
        out.put(&class.id, rect, Body::Class { reclaim: class.reclaim.clone() }, None, "", label);
        if cylinders.is_empty() {
            continue;
        }
        let bus = cylinders.iter().map(|rect| rect.bottom()).fold(rect.bottom(), f64::max) + 26.0 + i as f64 * 10.0;
        let first = cylinders.iter().map(|rect| rect.cx()).fold(f64::MAX, f64::min);
        out.link(
            class.id.uid.clone(),
            format!("M{first} {bus}H{}Q{} {bus} {} {}V{}", rect.cx() - 10.0, rect.cx(), rect.cx(), bus - 10.0, rect.bottom()),
            Line::Provides,
        );
        for (k, cylinder) in cylinders.iter().enumerate() {
            out.link(format!("{}/{k}", class.id.uid), format!("M{} {}V{bus}", cylinder.cx(), cylinder.bottom()), Line::Provides);
        }
        out.labels.push(Label { x: rect.x - 24.0, y: bus - 8.0, text: "provisions".into(), class: "onedge", centred: false });
        out.height = out.height.max(bus + 8.0);
    }
}

fn summary(model: &Model) -> String {
    let bound = model.claims.iter().filter(|claim| claim.phase == "Bound").count();
    format!("{} claims, {bound} of them bound, {} volumes.", model.claims.len(), model.volumes.len())
}

#[cfg(test)]
mod tests {
    use super::super::model::{Class, Controller, Group, Volume, counters};
    use super::*;

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
        let scene = layout(&web(3, 3), None, 800.0);
        let x = rect(&scene, "Pod/web-1").x;
        assert_eq!(rect(&scene, "PersistentVolumeClaim/www-web-1").x, x);
        assert_eq!(rect(&scene, "PersistentVolume/pv-1").x, x);
        assert!(rect(&scene, "StorageClass/standard").x > rect(&scene, "PersistentVolume/pv-2").right());
        assert!(scene.width <= 830.0, "{}", scene.width);
    }

    #[test]
    fn a_scale_down_leaves_the_columns_of_the_claims() {
        let scene = layout(&web(1, 3), None, 800.0);
        assert_eq!(rect(&scene, "PersistentVolumeClaim/www-web-2").x, rect(&layout(&web(3, 3), None, 800.0), "Pod/web-2").x);
        assert_eq!(scene.items.iter().filter(|item| item.id.kind == "Pod").count(), 1);
    }

    #[test]
    fn the_column_of_what_is_selected_is_highlighted() {
        assert_eq!(layout(&web(3, 3), Some("PersistentVolume/pv-2"), 800.0).bands.len(), 1);
        assert!(layout(&web(3, 3), None, 800.0).bands.is_empty());
        assert!(layout(&Model::default(), None, 800.0).items.is_empty());
    }
}
