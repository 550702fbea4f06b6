//! Where the Pods are: a card a Node with its requests, and the tray of those that no node took.

use super::format;
use super::model::{Id, Model, Node, Pod, PodState, natural};
use super::ownership::{pod_body, pod_label};
use super::shape::{Body, Cells, NodeBody, Rect, Scene};
use std::collections::BTreeMap;
use std::rc::Rc;

const CARD: f64 = 240.0;
const HEAD: f64 = 192.0;
const TILE: (f64, f64) = (104.0, 32.0);
/// One of many: its width, its head, and cells in a row.
const SMALL: (f64, f64, usize) = (102.0, 28.0, 11);

/// Lays the nodes out, as many in a row as fit.
#[inline(never)]
pub fn layout(model: &Model, _selected: Option<&str>, width: f64) -> Scene {
    let ready = model.nodes.iter().filter(|node| node.ready).count();
    let mut out = Scene {
        summary: format!(
            "{} nodes, {} ready; {} Pod{}.",
            format::count(model.nodes.len()),
            format::count(ready),
            format::count(model.population()),
            if model.population() == 1 { "" } else { "s" }
        ),
        ..Scene::default()
    };
    let margin = if width < 560.0 { 16.0 } else { 24.0 };
    let columns = (((width - 2.0 * margin + 16.0) / (CARD + 16.0)).floor() as usize).clamp(1, model.nodes.len().max(1));
    // A few nodes stand in one row, if that makes them only a little smaller.
    let row = 2.0 * margin + model.nodes.len() as f64 * (CARD + 16.0) - 16.0;
    let columns = if width >= 560.0 && width / row >= 0.85 { model.nodes.len().max(1) } else { columns };
    let waiting: Vec<&Pod> =
        model.pods().filter(|pod| pod.node.is_empty() && !matches!(pod.state, PodState::Succeeded | PodState::Failed)).collect();
    let dense = model.population() > 200;
    let on = by_node(model);
    let mut y = 24.0;
    if model.nodes.len() > 12 || dense && model.nodes.len() > 6 {
        return many(model, &on, &waiting, width, out);
    }
    for row in model.nodes.chunks(columns) {
        let pods: Vec<Vec<&Rc<Pod>>> = row.iter().map(|node| on.get(node.id.name.as_str()).cloned().unwrap_or_default()).collect();
        let tallest = pods.iter().map(|pods| body_height(pods.len(), dense)).fold(0.0, f64::max);
        for (column, (node, pods)) in row.iter().zip(&pods).enumerate() {
            let rect = Rect::new(margin + column as f64 * (CARD + 16.0), y, CARD, HEAD + tallest + 12.0);
            card(node, pods, &waiting, rect, dense, &mut out);
        }
        y += HEAD + tallest + 12.0 + 16.0;
    }
    tray(model, &waiting, margin, y + 8.0, columns as f64 * (CARD + 16.0) - 16.0, &mut out);
    out.finish(margin)
}

/// Many nodes: a small tile each, its Pods as cells.
#[inline(never)]
fn many(model: &Model, on: &BTreeMap<&str, Vec<&Rc<Pod>>>, waiting: &[&Pod], width: f64, mut out: Scene) -> Scene {
    let (wide, head, cells) = SMALL;
    let most = on.iter().filter(|(node, _)| !node.is_empty()).map(|(_, pods)| pods.len()).max().unwrap_or(0);
    let height = head + most.div_ceil(cells).max(1) as f64 * 8.0 + 8.0;
    let (margin, count) = (if width < 560.0 { 16.0 } else { 24.0 }, model.nodes.len() as f64);
    let fit = ((width - 2.0 * margin + 8.0) / (wide + 8.0)).floor().max(1.0);
    // As wide as high as a stage is, where that needs more in a row than fit.
    let square = (count * (height + 8.0) * 1.4 / (wide + 8.0)).sqrt().ceil();
    let columns = if width < 560.0 { fit } else { fit.max(square).min(count) } as usize;
    for (i, node) in model.nodes.iter().enumerate() {
        let pods = on.get(node.id.name.as_str()).map(Vec::as_slice).unwrap_or_default();
        let (column, row) = ((i % columns) as f64, (i / columns) as f64);
        let rect = Rect::new(margin + column * (wide + 8.0), 24.0 + row * (height + 8.0), wide, height);
        let body = NodeBody {
            ready: node.ready,
            cordoned: node.cordoned,
            note: String::new(),
            meters: Vec::new(),
            small: Some(pods.iter().filter(|pod| !matches!(pod.state, PodState::Succeeded | PodState::Failed)).count()),
        };
        let parent = put(node, body, pods.len(), rect, &mut out);
        if !pods.is_empty() {
            squares(node, pods, cells, (rect.x + 7.0, rect.y + head), parent, &mut out);
        }
    }
    let rows = model.nodes.len().div_ceil(columns) as f64;
    let across = (columns as f64 * (wide + 8.0) - 8.0).max(460.0);
    tray(model, waiting, margin, 24.0 + rows * (height + 8.0) + 16.0, across, &mut out);
    out.finish(margin)
}

/// The card or the tile of a node.
fn put(node: &Node, body: NodeBody, pods: usize, rect: Rect, out: &mut Scene) -> usize {
    let state = match (node.ready, node.cordoned) {
        (false, _) => "notready",
        (true, true) => "cordoned",
        (true, false) => "ready",
    };
    let label = format!("Node {}, {state}, {pods} of {} Pods", node.id.name, node.pods);
    out.put(&node.id, rect, Body::Node(body), None, state, label)
}

/// Pods as cells, so many in a row.
fn squares(node: &Node, pods: &[&Rc<Pod>], columns: usize, (x, y): (f64, f64), parent: usize, out: &mut Scene) {
    let cells = Cells { pods: pods.iter().map(|pod| Rc::clone(pod)).collect(), columns, side: 7.0, pitch: 8.0, at: (0.0, 0.0) };
    let id = Id { kind: "Pods".into(), uid: format!("{}/pods", node.id.uid), name: node.id.name.clone(), namespace: String::new() };
    let rect = Rect::new(x, y, columns as f64 * 8.0, pods.len().div_ceil(columns) as f64 * 8.0);
    out.put(&id, rect, Body::Cells(cells), Some(parent), "", format!("{} Pods on {}", pods.len(), node.id.name));
}

fn by_node(model: &Model) -> BTreeMap<&str, Vec<&Rc<Pod>>> {
    let mut on: BTreeMap<&str, Vec<&Rc<Pod>>> = BTreeMap::new();
    for pod in model.roots.iter().flat_map(|root| &root.groups).flat_map(|group| group.pods.iter()) {
        on.entry(pod.node.as_str()).or_default().push(pod);
    }
    for pods in on.values_mut() {
        crate::order::sort_by(pods, |a, b| natural(&a.id.name, &b.id.name));
    }
    on
}

fn body_height(pods: usize, dense: bool) -> f64 {
    match pods {
        0 => 0.0,
        n if dense || n > 24 => n.div_ceil(27) as f64 * 8.0 + 8.0,
        n => n.div_ceil(2) as f64 * (TILE.1 + 6.0) - 6.0,
    }
}

fn card(node: &Node, pods: &[&Rc<Pod>], waiting: &[&Pod], rect: Rect, dense: bool, out: &mut Scene) {
    let live = || pods.iter().filter(|pod| !matches!(pod.state, PodState::Succeeded | PodState::Failed));
    let cpu: u64 = live().map(|pod| pod.cpu).sum();
    let memory: u64 = live().map(|pod| pod.memory).sum();
    let count = live().count() as u64;
    let share = |used: u64, all: u64| if all == 0 { 0.0 } else { (used as f64 / all as f64 * 100.0).min(100.0) };
    let cores = |milli: u64| if milli.is_multiple_of(1000) { (milli / 1000).to_string() } else { format!("{:.1}", milli as f64 / 1000.0) };
    let gib = |bytes: u64| {
        let value = bytes as f64 / f64::from(1 << 30);
        if value.fract() < 0.05 { format!("{value:.0}") } else { format!("{value:.1}") }
    };
    let mut note = node.note.clone();
    if let (true, Some(pod)) = (note.is_empty() && node.ready && !node.cordoned, waiting.first())
        && pod.cpu > 0
    {
        let free = node.cpu.saturating_sub(cpu);
        let verdict = if free < pod.cpu { "not enough" } else { "enough" };
        note =
            format!("{} cpu is free: {verdict} for {}, which asks for {}", cores(free), format::middle(&pod.id.name, 18), cores(pod.cpu));
    }
    let body = NodeBody {
        ready: node.ready,
        cordoned: node.cordoned,
        note,
        meters: vec![
            ("cpu", format!("{} / {}", cores(cpu), cores(node.cpu)), share(cpu, node.cpu)),
            ("memory", format!("{} / {} Gi", gib(memory), gib(node.memory)), share(memory, node.memory)),
            ("pods", format!("{count} / {}", node.pods), share(count, node.pods)),
        ],
        small: None,
    };
    let parent = put(node, body, count as usize, rect, out);
    let (x, y) = (rect.x + 12.0, rect.y + HEAD);
    if dense || pods.len() > 24 {
        if !pods.is_empty() {
            squares(node, pods, 27, (x, y), parent, out);
        }
        return;
    }
    for (i, pod) in pods.iter().enumerate() {
        let at = Rect::new(x + (i % 2) as f64 * 110.0, y + (i / 2) as f64 * (TILE.1 + 6.0), TILE.0, TILE.1);
        let tail = short(pod, 11);
        out.put(
            &pod.id,
            at,
            Body::Tile { state: pod.state, tail, stale: pod.stale || !node.ready },
            Some(parent),
            pod.state.class(),
            pod_label(pod),
        );
    }
}

/// `shop…65blz`: what the whole tree is called, and what tells the Pod apart.
fn short(pod: &Pod, most: usize) -> String {
    let name = pod.id.name.as_str();
    let (family, tail) = (name.get(..pod.family).unwrap_or(""), name.get(pod.prefix..).unwrap_or(name));
    let room = most.saturating_sub(tail.len() + 1);
    if name.len() <= most || family.is_empty() || room == 0 {
        let (lead, tail) = pod.parts(most);
        return if lead.starts_with('…') { tail } else { format!("{lead}{tail}") };
    }
    let family = family.trim_end_matches('-');
    format!("{}…{tail}", family.get(..room.min(family.len())).unwrap_or(family))
}

/// The Pods without a node, and per node why not, out of the scheduler's message.
fn tray(model: &Model, waiting: &[&Pod], x: f64, y: f64, width: f64, out: &mut Scene) {
    let Some(pod) = waiting.first() else { return };
    let reasons = reasons(&pod.unscheduled);
    let rows = reasons.len().max(2) as f64;
    let rect = Rect::new(x, y, width.max(460.0).min(if width < 460.0 { width } else { f64::MAX }), 56.0 + rows * 24.0 + 44.0);
    let title = format!("{} Pod{}", format::count(waiting.len()), if waiting.len() == 1 { "" } else { "s" });
    let head = pod.unscheduled.split(": ").next().unwrap_or("").to_string();
    let id = Id { kind: "Unscheduled".into(), uid: "tray".into(), ..Id::default() };
    let aside = if model.nodes.is_empty() { "there is no node" } else { "tried again when a node or a Pod changes" };
    let parent = out.put(
        &id,
        rect,
        Body::Tray { title, aside: aside.into(), head, rows: reasons },
        None,
        "",
        format!("{} Pods without a node. {}", format::count(waiting.len()), pod.unscheduled),
    );
    for (i, pod) in waiting.iter().take(1).enumerate() {
        let at = Rect::new(x + 14.0, y + 46.0 + i as f64 * 60.0, 196.0, 52.0);
        out.put(&pod.id, at, pod_body(pod, 19), Some(parent), pod.state.class(), pod_label(pod));
    }
}

/// Splits `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable. preemption: …`.
fn reasons(message: &str) -> Vec<(String, String)> {
    let Some((_, rest)) = message.split_once("available: ") else { return Vec::new() };
    let rest = rest.split(". ").next().unwrap_or(rest).trim_end_matches('.');
    rest.split(", ")
        .map(|part| match part.split_once(' ') {
            Some((n, why)) if n.chars().all(|c| c.is_ascii_digit()) => {
                (format!("{n} node{}", if n == "1" { "" } else { "s" }), why.to_string())
            }
            _ => (String::new(), part.to_string()),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::model::{Group, Root};
    use super::*;

    #[test]
    fn pods_stand_on_their_node_and_the_rest_in_the_tray() {
        let pod = |name: &str, node: &str| Pod { id: Id::named("Pod", name), node: node.into(), cpu: 1500, ..Pod::default() };
        let node = |name: &str| Node { id: Id::named("Node", name), ready: true, cpu: 4000, memory: 8 << 30, pods: 110, ..Node::default() };
        let model = Model {
            roots: vec![Root {
                controller: None,
                groups: vec![Group {
                    controller: None,
                    pods: [pod("a", "node-1"), pod("b", "node-1"), pod("c", "")].into_iter().collect(),
                }],
                folded: 0,
            }],
            nodes: vec![node("node-1"), node("node-2")],
            ..Model::default()
        };
        let scene = layout(&model, None, 800.0);
        let under = |name: &str| {
            scene
                .items
                .iter()
                .find(|item| item.id.name == name)
                .and_then(|item| item.parent)
                .map(|parent| scene.items[parent].id.name.clone())
        };
        assert_eq!(under("a").as_deref(), Some("node-1"));
        assert_eq!(under("c").as_deref(), Some(""));
        let Body::Node(body) = &scene.items[0].body else { panic!("a node") };
        assert_eq!(body.meters[0].1, "3 / 4");
        assert!(body.note.contains("1 cpu is free: not enough"));
    }

    #[test]
    fn the_schedulers_message_is_split_by_reason() {
        let rows =
            reasons("0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable. preemption: 0/3 nodes are available.");
        assert_eq!(
            rows,
            [("1 node".to_string(), "Insufficient cpu".to_string()), ("2 nodes".to_string(), "node(s) were unschedulable".to_string())]
        );
        assert!(reasons("").is_empty());
    }
}
