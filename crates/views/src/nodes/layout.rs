//! Placement of Pods: a card per Node with its requests, and the tray of unscheduled Pods.

use super::cache::{ByNode, LayoutCache, NodeInput, PodsOnNode, by_node, groups};
use super::tray::{WaitingPods, tray};
use super::words::{cores, mark, short};
use crate::bodies::pod_label;
use crate::nodes::words;
use crate::shape::{CardBody, Cells, NodeBody, Rect, Scene, Total};
use i18n::format;
use i18n::{Message, msg};
use projection::model::{Id, Model, Node, Pod, PodState};
use std::rc::Rc;

/// Maximum width of a card, and its minimum before a row breaks. A few cards share the width.
pub(super) const CARD: (f64, f64) = (380.0, 196.0);
pub(super) const HEAD: f64 = 218.0;
pub(super) const TILE: f64 = 32.0;
/// Small node: its width, the height of its head, and cells per row.
pub(super) const SMALL: (f64, f64, usize) = (102.0, 28.0, 11);
/// Height of the strip over cells, with the gap below it.
pub(super) const STRIP: f64 = 78.0;

/// Number of Pods above which they are cells.
pub(super) const DENSE: usize = 200;

/// Lays out the nodes, as many in a row as fit. Unchanged nodes are taken from the cache if there are many.
pub fn layout(model: &Model, selected: Option<&str>, width: f64, cache: &mut LayoutCache) -> Scene {
    let (all, pods) = (model.nodes.len(), model.population());
    let ready = model.nodes.iter().filter(|node| node.ready).count();
    let summary = msg::nodes_summary(all, ready, pods);
    let mut out = Scene {
        summary,
        ..Scene::default()
    };
    let margin = if width < 700.0 { 16.0 } else { 24.0 };
    let room = width - 2.0 * margin;
    let dense = pods > DENSE;
    let kin = if dense {
        Vec::new()
    } else {
        model.kin(selected)
    };
    let families = if dense { Vec::new() } else { families(model) };
    let on = by_node(model, dense, cache);
    let waiting = WaitingPods::of(model, on.get(""));
    let chosen = model.pod(selected);
    if all > 12 || dense && all > 6 {
        return many(model, (&on, &waiting), chosen, width, (out, cache));
    }
    // Cards shrink a little before a row breaks; a single column may be wider.
    let columns = (((room + 16.0) / (CARD.1 + 16.0)).floor() as usize).clamp(1, all.max(1));
    let most = if columns == 1 { 358.0 } else { CARD.0 };
    let wide = ((room + 16.0) / columns as f64 - 16.0).min(most).floor();
    let across = columns as f64 * (wide + 16.0) - 16.0;
    let mut y = if dense {
        strip(model, (margin, 16.0), across.max(room.min(720.0)), &mut out)
    } else {
        24.0
    };
    // On a phone unscheduled Pods come first, once the reason is known: they may need a person's action.
    let first = width < 560.0
        && !dense
        && waiting
            .first
            .as_ref()
            .is_some_and(|pod| !pod.unscheduled.is_empty());
    if first {
        tray(
            model,
            (&on, &cache.refused),
            &waiting,
            (margin, y - 8.0),
            across,
            &mut out,
        );
        y = out
            .items
            .iter()
            .map(|item| item.rect.bottom())
            .fold(y, f64::max)
            + 16.0;
    }
    for row in model.nodes.chunks(columns) {
        let pods: Vec<Rc<PodsOnNode>> = row
            .iter()
            .map(|node| on.get(node.id.name.as_str()).cloned().unwrap_or_default())
            .collect();
        let tallest = pods
            .iter()
            .map(|pods| body_height(pods.pods.len(), dense, wide))
            .fold(0.0, f64::max);
        for (column, (node, pods)) in row.iter().zip(&pods).enumerate() {
            let rect = Rect::new(
                margin + column as f64 * (wide + 16.0),
                y,
                wide,
                HEAD + tallest + 12.0,
            );
            card(
                node,
                pods,
                (&waiting, &kin, &families, chosen),
                rect,
                dense,
                &mut out,
            );
        }
        y += HEAD + tallest + 12.0 + 16.0;
    }
    if !first {
        tray(
            model,
            (&on, &cache.refused),
            &waiting,
            (margin, y + 8.0),
            across,
            &mut out,
        );
    }
    out.finish(margin)
}

/// Name of a Pod's workload, as far as it is part of the Pod's name.
fn family(pod: &Pod) -> &str {
    pod.id
        .name
        .get(..pod.family.saturating_sub(1))
        .unwrap_or_default()
}

/// Names of all workloads that have Pods.
fn families(model: &Model) -> Vec<&str> {
    let pods = model
        .roots
        .iter()
        .flat_map(|root| root.groups.iter())
        .filter_map(|group| group.pods.first());
    let mut all: Vec<&str> = pods
        .map(|pod| family(pod))
        .filter(|name| !name.is_empty())
        .collect();
    all.sort();
    all.dedup();
    all
}

/// Lays out many nodes: a small tile each, its Pods as cells.
pub(super) fn many(
    model: &Model,
    (on, waiting): (&ByNode<'_>, &WaitingPods),
    chosen: Option<&Pod>,
    width: f64,
    (mut out, cache): (Scene, &mut LayoutCache),
) -> Scene {
    let (wide, head, cells) = SMALL;
    // Including nodes that are not sorted yet, so that tiles do not move.
    let there = on.iter().map(|(node, on)| (*node, on.pods.len())).chain(
        model
            .on
            .iter()
            .map(|(node, pods)| (node.as_str(), pods.len())),
    );
    let most = there
        .filter(|(node, _)| !node.is_empty())
        .map(|(_, pods)| pods)
        .max()
        .unwrap_or(0);
    // Heights have few steps, the second for a full node with some terminating Pods, so that a rollout does not move tiles.
    let full = (model
        .nodes
        .iter()
        .map(|node| node.pods as usize)
        .max()
        .unwrap_or(0)
        .div_ceil(cells)
        + 1)
    .clamp(5, 15);
    let rows = match most.div_ceil(cells) {
        0..=5 => 5,
        rows if rows <= full => full,
        rows => rows.next_multiple_of(5),
    };
    let height = head + rows as f64 * 8.0 + 8.0;
    let (margin, count) = (
        if width < 560.0 { 16.0 } else { 24.0 },
        model.nodes.len() as f64,
    );
    let room = width - 2.0 * margin;
    let fit = |room: f64| {
        ((room + 8.0) / (wide + 8.0))
            .floor()
            .clamp(1.0, count.max(1.0)) as usize
    };
    // Anything that does not fit is panned to: text is not made smaller.
    let (small, columns) = (width < 560.0, fit(room));
    // On a phone a row is as wide as the strip over it.
    let wide = if small {
        wide.max(
            ((room + 8.0) / columns as f64 - 8.0)
                .min(wide + 24.0)
                .floor(),
        )
    } else {
        wide
    };
    let across = (columns as f64 * (wide + 8.0) - 8.0).max(room.min(720.0));
    let top = strip(model, (margin, 16.0), across, &mut out);
    for (i, node) in model.nodes.iter().enumerate() {
        let on = on.get(node.id.name.as_str()).cloned().unwrap_or_default();
        let (column, row) = ((i % columns) as f64, (i / columns) as f64);
        let rect = Rect::new(
            margin + column * (wide + 8.0),
            top + row * (height + 8.0),
            wide,
            height,
        );
        let known = cache.nodes.entry(node.id.name.clone()).or_default();
        let look = Some(NodeInput {
            node: node.clone(),
            on: on.clone(),
            rect,
            first: out.items.len(),
            ring: on.place(node, chosen),
        });
        if known.look == look {
            out.items.extend(known.items.iter().cloned());
            continue;
        }
        let body = NodeBody {
            ready: node.ready,
            cordoned: node.cordoned,
            small: Some(on.live),
            ..NodeBody::default()
        };
        let parent = put(node, body, on.pods.len(), rect, &mut out);
        squares(
            node,
            &on,
            cells,
            (
                rect.x + ((wide - cells as f64 * 8.0) / 2.0).floor(),
                rect.y + head,
            ),
            (parent, chosen),
            &mut out,
        );
        (known.look, known.items) = (look, out.items[parent..].to_vec());
    }
    let rows = model.nodes.len().div_ceil(columns) as f64;
    tray(
        model,
        (on, &cache.refused),
        waiting,
        (margin, top + rows * (height + 8.0) + 16.0),
        across,
        &mut out,
    );
    out.finish(margin)
}

/// Draws the totals of all cells: numbers, and a bar of the revisions and states. Returns the top of the nodes.
pub(super) fn strip(model: &Model, (x, y): (f64, f64), width: f64, out: &mut Scene) -> f64 {
    let mut parts: Vec<(PodState, bool, usize)> = Vec::new();
    let (mut pods, mut ready, mut leaving) = (0, 0, 0);
    for (group, old) in groups(model) {
        for (state, n) in group.pods.counts() {
            pods += n;
            ready += if state == PodState::Ready { n } else { 0 };
            leaving += if state == PodState::Terminating { n } else { 0 };
            // The revision of Pods in transition is not distinguished.
            let old = old && state == PodState::Ready;
            match parts
                .iter_mut()
                .find(|part| (part.0, part.1) == (state, old))
            {
                Some(part) => part.2 += n,
                None => parts.push((state, old, n)),
            }
        }
    }
    // As in a tile: newest revision, Pods in transition, older ones.
    parts.sort_by_key(|(state, old, _)| (*old, *state != PodState::Ready, *state));
    // Different from a workload's counters: a status lags, and does not count terminating Pods.
    let numbers = vec![
        (Total::All, pods),
        (Total::Ready, ready),
        (Total::Terminating, leaving),
    ];
    let words: Vec<Message> = numbers
        .iter()
        .map(|(total, n)| msg::counted(format::count(*n), total.word()))
        .collect();
    let id = Id {
        uid: "totals".into(),
        ..Id::default()
    };
    // A short bar has its labels in three lines during an update.
    let height = match width {
        w if w < 560.0 => STRIP + 74.0,
        w if w < 680.0 => STRIP + 12.0,
        _ => STRIP,
    };
    out.put(
        &id,
        Rect::new(x, y, width, height),
        CardBody::Totals { numbers, parts },
        None,
        "",
        Message::list(words),
    );
    y + height + 16.0
}

/// Draws the card or the tile of a node.
pub(super) fn put(node: &Node, body: NodeBody, pods: usize, rect: Rect, out: &mut Scene) -> usize {
    // CSS class, and the status as kubectl prints it.
    let (state, status) = match (node.ready, node.cordoned) {
        (false, _) => ("notready", "NotReady"),
        (true, true) => ("cordoned", "Ready,SchedulingDisabled"),
        (true, false) => ("ready", "Ready"),
    };
    let label = msg::node_label(&node.id.name, status, pods, node.pods);
    let body = NodeBody {
        status,
        pods: (pods, node.pods),
        ..body
    };
    out.put(&node.id, rect, CardBody::Node(body), None, state, label)
}

/// Draws Pods as cells. Without Pods the shape has no height, so that all others keep their index.
pub(super) fn squares(
    node: &Node,
    on: &PodsOnNode,
    columns: usize,
    (x, y): (f64, f64),
    (parent, chosen): (usize, Option<&Pod>),
    out: &mut Scene,
) {
    let pods = &on.pods;
    let ring = on.place(node, chosen);
    let cells = Cells {
        pods: pods.clone(),
        columns,
        side: 7.0,
        pitch: 8.0,
        at: (0.0, 0.0),
        old: on.old,
        ring,
    };
    let id = Id {
        kind: "Pods".into(),
        uid: format!("{}/pods", node.id.uid),
        name: node.id.name.clone(),
        namespace: String::new(),
    };
    let rect = Rect::new(
        x,
        y,
        columns as f64 * 8.0,
        pods.len().div_ceil(columns) as f64 * 8.0,
    );
    // The node's own row has the total.
    let of = |(state, n): &(PodState, usize)| msg::pods_in_state(n, pods.word(*state));
    let states: Vec<Message> = pods.counts().iter().map(of).collect();
    let label = if pods.is_empty() {
        Message::default()
    } else {
        msg::pods_on(&node.id.name, states)
    };
    out.put(&id, rect, CardBody::Cells(cells), Some(parent), "", label);
}

pub(super) fn body_height(pods: usize, dense: bool, wide: f64) -> f64 {
    match pods {
        0 => 0.0,
        n if dense || tiles_across(n) == 0 => n.div_ceil(across(wide)) as f64 * 8.0 + 8.0,
        n => n.div_ceil(tiles_across(n)) as f64 * (TILE + 6.0) - 6.0,
    }
}

/// Tiles per row of a card with this number of Pods; 0 if the Pods are cells.
fn tiles_across(pods: usize) -> usize {
    match pods {
        0..=24 => 2,
        25..=45 => 3,
        _ => 0,
    }
}

/// Cells per row of a card.
pub(super) fn across(wide: f64) -> usize {
    ((wide - 24.0) / 8.0) as usize
}

pub(super) fn card(
    node: &Node,
    on: &PodsOnNode,
    (waiting, kin, families, chosen): (&WaitingPods, &[&str], &[&str], Option<&Pod>),
    rect: Rect,
    dense: bool,
    out: &mut Scene,
) {
    let (cpu, memory, count) = (on.cpu, on.memory, on.live as u64);
    let pods = &on.pods;
    let share = |used: u64, all: u64| {
        if all == 0 {
            0.0
        } else {
            (used as f64 / all as f64 * 100.0).min(100.0)
        }
    };
    let mut note = vec![node.note.clone()];
    note.extend(node.countdown.clone());
    if let (true, Some(pod)) = (
        node.note.is_empty() && node.ready && !node.cordoned,
        &waiting.first,
    ) && pod.cpu > 0
    {
        let free = node.cpu.saturating_sub(cpu);
        let (free_cpu, name, request) = (
            cores(free),
            format::middle(&pod.id.name, 18),
            cores(pod.cpu),
        );
        note = vec![match free < pod.cpu {
            true => msg::node_too_little(free_cpu, name, request),
            false => msg::node_enough(free_cpu, name, request),
        }];
    }
    let body = NodeBody {
        ready: node.ready,
        cordoned: node.cordoned,
        note,
        meters: vec![
            (
                "cpu",
                format!("{} / {}", cores(cpu), cores(node.cpu)),
                share(cpu, node.cpu),
            ),
            (
                "memory",
                format!("{} / {}", words::memory(memory), words::memory(node.memory)),
                share(memory, node.memory),
            ),
            (
                "pods",
                format!("{count} / {}", node.pods),
                share(count, node.pods),
            ),
        ],
        ..NodeBody::default()
    };
    let parent = put(node, body, count as usize, rect, out);
    let (x, y) = (rect.x + 12.0, rect.y + HEAD);
    let columns = tiles_across(pods.len());
    if dense || columns == 0 {
        return squares(node, on, across(rect.w), (x, y), (parent, chosen), out);
    }
    let wide = (rect.w - 24.0 - (columns - 1) as f64 * 6.0) / columns as f64;
    let most = ((wide - 31.0) / 7.0) as usize;
    for (i, pod) in pods.iter().enumerate() {
        let at = Rect::new(
            x + (i % columns) as f64 * (wide + 6.0),
            y + (i / columns) as f64 * (TILE + 6.0),
            wide,
            TILE,
        );
        let mut tail = short(pod, most);
        // With several workloads each Pod shows its own: on a separate line if both do not fit into one.
        let (family, own) = (family(pod), pod.parts(most).1);
        let cut = families.len() > 1 && !family.is_empty() && !tail.starts_with(family);
        let note = if cut {
            Message::name(mark(family, families, ((wide - 31.0) / 6.4) as usize))
        } else {
            Message::default()
        };
        if cut {
            tail = own;
        }
        let older = on.older.get(i) == Some(&true);
        let label = if older {
            Message::list(vec![pod_label(pod), msg::used_older()])
        } else {
            pod_label(pod)
        };
        let kin = kin.contains(&pod.id.uid.as_str());
        let body = CardBody::Tile {
            state: pod.state,
            tail,
            note,
            stale: pod.stale || !node.ready,
            kin,
            old: older,
        };
        out.put(&pod.id, at, body, Some(parent), pod.state.class(), label);
    }
}
