//! Where the Pods are: a card a Node with its requests, and the tray of those that no node took.

use super::format;
use super::model::{Block, Group, Id, Model, Node, Pod, PodState, natural};
use super::ownership::{pod_body, pod_label};
use super::shape::{Body, Cells, Item, NodeBody, Rect, Scene};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Width of a card: the most, and the least before a row breaks. A few share the width there is.
const CARD: (f64, f64) = (380.0, 196.0);
const HEAD: f64 = 218.0;
const TILE: f64 = 32.0;
/// One of many: its width, its head, and cells in a row.
const SMALL: (f64, f64, usize) = (102.0, 28.0, 11);
/// The strip over cells, and what is below it.
const STRIP: f64 = 78.0;

/// Lays the nodes out, as many in a row as fit. Of many, those stay as they were `seen` that nothing has happened to.
// Not part of `State::draw`: the page opens with one view, and the others come after it (scripts/split.mjs).
#[inline(never)]
pub fn layout(model: &Model, selected: Option<&str>, width: f64, seen: &mut Seen) -> Scene {
    let (all, pods) = (model.nodes.len(), model.population());
    let ready = model.nodes.iter().filter(|node| node.ready).count();
    let some = |n: usize, what: &str| format!("{} {what}{}", format::count(n), if n == 1 { "" } else { "s" });
    let summary = format!("{}, {} ready; {}.", some(all, "node"), format::count(ready), some(pods, "Pod"));
    let mut out = Scene { summary, ..Scene::default() };
    let margin = if width < 700.0 { 16.0 } else { 24.0 };
    let room = width - 2.0 * margin;
    let dense = pods > 200;
    let kin = if dense { Vec::new() } else { model.kin(selected) };
    let on = by_node(model, dense, seen);
    let waiting = Waiting::of(model, on.get(""));
    let chosen = model.pod(selected);
    if all > 12 || dense && all > 6 {
        return many(model, (&on, &waiting), chosen, width, (out, seen));
    }
    // Cards shrink a little before a row breaks; one alone in a row has more of it.
    let columns = (((room + 16.0) / (CARD.1 + 16.0)).floor() as usize).clamp(1, all.max(1));
    let most = if columns == 1 { 358.0 } else { CARD.0 };
    let wide = ((room + 16.0) / columns as f64 - 16.0).min(most).floor();
    let across = columns as f64 * (wide + 16.0) - 16.0;
    let mut y = if dense { strip(model, (margin, 16.0), across.max(room.min(720.0)), &mut out) } else { 24.0 };
    // On a phone what no node took comes first, once that is known: it may wait for a person.
    let first = width < 560.0 && !dense && waiting.first.as_ref().is_some_and(|pod| !pod.unscheduled.is_empty());
    if first {
        tray(model, &on, &waiting, (margin, y - 8.0), across, &mut out);
        y = out.items.iter().map(|item| item.rect.bottom()).fold(y, f64::max) + 16.0;
    }
    for row in model.nodes.chunks(columns) {
        let pods: Vec<Rc<On>> = row.iter().map(|node| on.get(node.id.name.as_str()).cloned().unwrap_or_default()).collect();
        let tallest = pods.iter().map(|pods| body_height(pods.pods.len(), dense, wide)).fold(0.0, f64::max);
        for (column, (node, pods)) in row.iter().zip(&pods).enumerate() {
            let rect = Rect::new(margin + column as f64 * (wide + 16.0), y, wide, HEAD + tallest + 12.0);
            card(node, pods, (&waiting, &kin, chosen), rect, dense, &mut out);
        }
        y += HEAD + tallest + 12.0 + 16.0;
    }
    if !first {
        tray(model, &on, &waiting, (margin, y + 8.0), across, &mut out);
    }
    out.finish(margin)
}

/// Many nodes: a small tile each, its Pods as cells.
fn many(
    model: &Model,
    (on, waiting): (&ByNode<'_>, &Waiting),
    chosen: Option<&Pod>,
    width: f64,
    (mut out, seen): (Scene, &mut Seen),
) -> Scene {
    let (wide, head, cells) = SMALL;
    // Also of those that have still to be put in order: the tiles stay where they are.
    let there = on.iter().map(|(node, on)| (*node, on.pods.len())).chain(model.on.iter().map(|(node, pods)| (node.as_str(), pods.len())));
    let most = there.filter(|(node, _)| !node.is_empty()).map(|(_, pods)| pods).max().unwrap_or(0);
    // In few steps, the second for a full node with some that leave: a rollout moves no tile.
    let full = (model.nodes.iter().map(|node| node.pods as usize).max().unwrap_or(0).div_ceil(cells) + 1).clamp(5, 15);
    let rows = match most.div_ceil(cells) {
        0..=5 => 5,
        rows if rows <= full => full,
        rows => rows.next_multiple_of(5),
    };
    let height = head + rows as f64 * 8.0 + 8.0;
    let (margin, count) = (if width < 560.0 { 16.0 } else { 24.0 }, model.nodes.len() as f64);
    let room = width - 2.0 * margin;
    let fit = |room: f64| ((room + 8.0) / (wide + 8.0)).floor().clamp(1.0, count.max(1.0)) as usize;
    // What does not fit below is panned to: letters are as large as anywhere.
    let (small, columns) = (width < 560.0, fit(room));
    // A phone's row is as wide as the strip over it.
    let wide = if small { wide.max(((room + 8.0) / columns as f64 - 8.0).min(wide + 24.0).floor()) } else { wide };
    let across = (columns as f64 * (wide + 8.0) - 8.0).max(room.min(720.0));
    let top = strip(model, (margin, 16.0), across, &mut out);
    for (i, node) in model.nodes.iter().enumerate() {
        let on = on.get(node.id.name.as_str()).cloned().unwrap_or_default();
        let (column, row) = ((i % columns) as f64, (i / columns) as f64);
        let rect = Rect::new(margin + column * (wide + 8.0), top + row * (height + 8.0), wide, height);
        let known = seen.nodes.entry(node.id.name.clone()).or_default();
        let look = Some(Look { node: node.clone(), on: on.clone(), rect, first: out.items.len(), ring: on.place(node, chosen) });
        if known.look == look {
            out.items.extend(known.items.iter().cloned());
            continue;
        }
        let body = NodeBody { ready: node.ready, cordoned: node.cordoned, small: Some(on.live), ..NodeBody::default() };
        let parent = put(node, body, on.pods.len(), rect, &mut out);
        squares(node, &on, cells, (rect.x + ((wide - cells as f64 * 8.0) / 2.0).floor(), rect.y + head), (parent, chosen), &mut out);
        (known.look, known.items) = (look, out.items[parent..].to_vec());
    }
    let rows = model.nodes.len().div_ceil(columns) as f64;
    tray(model, on, waiting, (margin, top + rows * (height + 8.0) + 16.0), across, &mut out);
    out.finish(margin)
}

/// What all the cells come to: numbers, and a bar of the revisions and states. Returns where the nodes begin.
fn strip(model: &Model, (x, y): (f64, f64), width: f64, out: &mut Scene) -> f64 {
    let mut parts: Vec<(PodState, bool, usize)> = Vec::new();
    let (mut pods, mut ready, mut leaving) = (0, 0, 0);
    for (group, old) in groups(model) {
        for (state, n) in group.pods.counts() {
            pods += n;
            ready += if state == PodState::Ready { n } else { 0 };
            leaving += if state == PodState::Terminating { n } else { 0 };
            // Of those in transition it does not matter whence they come.
            let old = old && state == PodState::Ready;
            match parts.iter_mut().find(|part| (part.0, part.1) == (state, old)) {
                Some(part) => part.2 += n,
                None => parts.push((state, old, n)),
            }
        }
    }
    // As in a tile: the newest, what is on its way, the old ones.
    crate::order::sort_by_key(&mut parts, |(state, old, _)| (*old, *state != PodState::Ready, *state));
    // What a workload counts is another thing: its status lags, and leaves out those that leave.
    let numbers = vec![(pods, "Pods in all"), (ready, "ready"), (leaving, "terminating")];
    let words: Vec<String> = numbers.iter().map(|(n, word)| format!("{} {word}", format::count(*n))).collect();
    let id = Id { uid: "totals".into(), ..Id::default() };
    // A short bar has its words in three lines while an update runs.
    let height = match width {
        w if w < 560.0 => STRIP + 74.0,
        w if w < 680.0 => STRIP + 12.0,
        _ => STRIP,
    };
    out.put(&id, Rect::new(x, y, width, height), Body::Totals { numbers, parts }, None, "", words.join(", "));
    y + height + 16.0
}

/// The card or the tile of a node.
fn put(node: &Node, body: NodeBody, pods: usize, rect: Rect, out: &mut Scene) -> usize {
    // The class, and the status as kubectl prints it.
    let (state, status) = match (node.ready, node.cordoned) {
        (false, _) => ("notready", "NotReady"),
        (true, true) => ("cordoned", "Ready,SchedulingDisabled"),
        (true, false) => ("ready", "Ready"),
    };
    let label = format!("Node {}, {status}, {pods} of {} Pods", node.id.name, node.pods);
    let body = NodeBody { status, pods: (pods, node.pods), ..body };
    out.put(&node.id, rect, Body::Node(body), None, state, label)
}

/// Pods as cells, so many in a row. Where there are none it has no height: all others keep their number.
fn squares(node: &Node, on: &On, columns: usize, (x, y): (f64, f64), (parent, chosen): (usize, Option<&Pod>), out: &mut Scene) {
    let pods = &on.pods;
    let ring = on.place(node, chosen);
    let cells = Cells { pods: pods.clone(), columns, side: 7.0, pitch: 8.0, at: (0.0, 0.0), old: on.old, ring };
    let id = Id { kind: "Pods".into(), uid: format!("{}/pods", node.id.uid), name: node.id.name.clone(), namespace: String::new() };
    let rect = Rect::new(x, y, columns as f64 * 8.0, pods.len().div_ceil(columns) as f64 * 8.0);
    // The node's own row says how many there are.
    let of = |(state, n): &(PodState, usize)| format!("{} {}", format::count(*n), pods.word(*state));
    let states: Vec<String> = pods.counts().iter().map(of).collect();
    let label = if pods.is_empty() { String::new() } else { format!("Pods on {}: {}", node.id.name, states.join(", ")) };
    out.put(&id, rect, Body::Cells(cells), Some(parent), "", label);
}

/// The Pods on a node, and from which on they are ready ones of an older revision.
#[derive(Debug, Default)]
struct On {
    pods: Block,
    old: usize,
    /// Of named Pods, whether each is of an older revision.
    older: Vec<bool>,
    /// Those that have not ended: how many they are, and what they ask for of CPU and memory.
    live: usize,
    cpu: u64,
    memory: u64,
}

type ByNode<'a> = BTreeMap<&'a str, Rc<On>>;

impl On {
    fn new(pods: Block, old: usize) -> On {
        let mut on = On { pods, old, ..On::default() };
        for pod in on.pods.iter().filter(|pod| !pod.ended) {
            (on.live, on.cpu, on.memory) = (on.live + 1, on.cpu + pod.cpu, on.memory + pod.memory);
        }
        on
    }

    /// Where the chosen Pod stands, if it is here.
    fn place(&self, node: &Node, chosen: Option<&Pod>) -> Option<usize> {
        let chosen = chosen.filter(|pod| pod.node == node.id.name)?;
        self.pods.iter().position(|pod| pod.id.uid == chosen.id.uid)
    }
}

/// The Pods that wait for a node: the first, and how many they are.
struct Waiting {
    first: Option<Rc<Pod>>,
    pods: usize,
}

impl Waiting {
    fn of(model: &Model, on: Option<&Rc<On>>) -> Waiting {
        let Some(pods) = model.on.get("").or(on.map(|on| &on.pods)) else { return Waiting { first: None, pods: 0 } };
        // One that was refused, if there is one near the front: the others wait for their turn.
        let waits = || pods.iter().filter(|pod| !pod.ended);
        let first = waits().take(1000).find(|pod| !pod.unscheduled.is_empty()).or_else(|| waits().next()).cloned();
        Waiting { first, pods: pods.len() - pods.ended() }
    }
}

/// What was laid out before of each node: what nothing has happened to is not made again.
#[derive(Debug)]
pub struct Seen {
    nodes: BTreeMap<String, Known>,
    /// The owners of older revisions, and how often they have changed.
    older: Vec<String>,
    turn: u64,
    /// So many nodes are put in order anew at a time; those of which more has happened have to wait for the next picture.
    pub most: usize,
    /// Whether some have to wait, and which is the next.
    pub lags: bool,
    next: usize,
}

impl Default for Seen {
    fn default() -> Seen {
        Seen { nodes: BTreeMap::new(), older: Vec::new(), turn: 1, most: usize::MAX, lags: false, next: 0 }
    }
}

#[derive(Debug, Default)]
struct Known {
    /// Its Pods as they were, and as they stood.
    pods: Block,
    turn: u64,
    on: Rc<On>,
    look: Option<Look>,
    items: Vec<Rc<Item>>,
}

/// What the shapes of a node are made from.
#[derive(Debug)]
struct Look {
    node: Rc<Node>,
    on: Rc<On>,
    rect: Rect,
    /// The index of the first, which the others name as their parent.
    first: usize,
    ring: Option<usize>,
}

impl PartialEq for Look {
    fn eq(&self, other: &Look) -> bool {
        Rc::ptr_eq(&self.node, &other.node)
            && Rc::ptr_eq(&self.on, &other.on)
            && (self.rect, self.first, self.ring) == (other.rect, other.first, other.ring)
    }
}

/// All groups of Pods, and whether they are of an older revision.
fn groups(model: &Model) -> impl Iterator<Item = (&Group, bool)> {
    model.roots.iter().flat_map(|root| root.groups.iter().map(move |group| (group, root.older(group) == 0)))
}

/// Tiles by name. Cells so that a rollout is seen as a wave: the newest revision, what is on its way, the older ones.
fn by_node<'a>(model: &'a Model, dense: bool, seen: &mut Seen) -> ByNode<'a> {
    if !dense || model.on.is_empty() {
        let mut on: BTreeMap<&str, Vec<(bool, &Rc<Pod>)>> = BTreeMap::new();
        for (group, old) in groups(model) {
            group.pods.iter().for_each(|pod| on.entry(&pod.node).or_default().push((old, pod)));
        }
        return on.into_iter().map(|(node, pods)| (node, Rc::new(arrange(pods, dense)))).collect();
    }
    let older = || groups(model).filter(|(_, old)| *old);
    let mut uids: Vec<String> = older().filter_map(|(group, _)| Some(group.controller.as_ref()?.id.uid.clone())).collect();
    crate::order::sort(&mut uids);
    if seen.older != uids {
        (seen.older, seen.turn) = (uids, seen.turn + 1);
    }
    // Nodes that are gone are forgotten now and then.
    if seen.nodes.len() > 2 * (model.nodes.len() + model.on.len()) + 2 {
        seen.nodes.clear();
    }
    // All Pods of an owner share its uid: where it lies in memory tells it.
    let lies = |pod: &Rc<Pod>| Rc::as_ptr(&pod.owner).cast::<u8>().addr();
    let mut owners: Vec<usize> = older().filter_map(|(group, _)| group.pods.first().map(lies)).collect();
    crate::order::sort(&mut owners);
    let is_older = |pod: &Rc<Pod>| owners.binary_search(&lies(pod)).is_ok();
    let arranged = |known: &mut Known, pods: &Block, turn: u64| {
        known.on = Rc::new(arrange(pods.iter().map(|pod| (is_older(pod), pod)).collect(), true));
        (known.pods, known.turn) = (pods.clone(), turn);
    };
    let (mut there, mut late) = (Vec::with_capacity(model.on.len()), Vec::new());
    // Both are in the order of their names, so that none has to be looked for.
    let mut all = seen.nodes.iter().peekable();
    for (at, (node, pods)) in model.on.iter().filter(|(node, _)| !node.is_empty()).enumerate() {
        while all.next_if(|(name, _)| *name < node).is_some() {}
        let known = all.next_if(|(name, _)| *name == node).map(|(_, known)| known);
        if known.is_none_or(|known| known.turn != seen.turn || !known.pods.is(pods)) {
            late.push((at, node, pods));
        }
        if let Some(known) = known {
            there.push((node.as_str(), known.on.clone()));
        }
    }
    let mut out: ByNode<'_> = there.into_iter().collect();
    // They take turns.
    let first = late.partition_point(|(at, ..)| *at < seen.next);
    late.rotate_left(first);
    seen.lags = late.len() > seen.most;
    for (at, node, pods) in late.into_iter().take(seen.most) {
        let known = seen.nodes.entry(node.clone()).or_default();
        arranged(known, pods, seen.turn);
        out.insert(node.as_str(), known.on.clone());
        seen.next = at + 1;
    }
    out
}

/// Pods of a node in their order; each with whether it is of an older revision.
fn arrange(mut pods: Vec<(bool, &Rc<Pod>)>, dense: bool) -> On {
    if !dense {
        crate::order::sort_by(&mut pods, |(_, a), (_, b)| natural(&a.id.name, &b.id.name));
        let older = pods.iter().map(|(old, _)| *old).collect();
        return On { older, ..On::new(pods.into_iter().map(|(_, pod)| pod.clone()).collect(), usize::MAX) };
    }
    // The newest that are ready, those that come, those that go, the older ones that are ready still. Within each they stand by
    // what they are painted as: a cell moves only when it, or one before it, becomes another.
    let place = |(old, pod): &(bool, &Rc<Pod>)| match pod.state {
        PodState::Ready => usize::from(*old) * 15,
        PodState::Terminating => 14,
        state => 1 + usize::from(*old) * 7 + (PodState::Succeeded as usize - state as usize),
    };
    let mut places = [(); 16].map(|()| Vec::new());
    pods.iter().for_each(|one| places[place(one)].push(one.1.clone()));
    let old = pods.len() - places[15].len();
    On::new(places.into_iter().flatten().collect(), old)
}

fn body_height(pods: usize, dense: bool, wide: f64) -> f64 {
    match pods {
        0 => 0.0,
        n if dense || n > 24 => n.div_ceil(across(wide)) as f64 * 8.0 + 8.0,
        n => n.div_ceil(2) as f64 * (TILE + 6.0) - 6.0,
    }
}

/// Cells in a row of a card.
fn across(wide: f64) -> usize {
    ((wide - 24.0) / 8.0) as usize
}

/// Cores and gibibytes as they are read best.
fn cores(milli: u64) -> String {
    if milli.is_multiple_of(1000) { (milli / 1000).to_string() } else { format!("{:.1}", milli as f64 / 1000.0) }
}

fn gib(bytes: u64) -> String {
    let value = bytes as f64 / f64::from(1 << 30);
    if value.fract() < 0.05 { format!("{value:.0}") } else { format!("{value:.1}") }
}

fn card(node: &Node, on: &On, (waiting, kin, chosen): (&Waiting, &[&str], Option<&Pod>), rect: Rect, dense: bool, out: &mut Scene) {
    let (cpu, memory, count) = (on.cpu, on.memory, on.live as u64);
    let pods = &on.pods;
    let share = |used: u64, all: u64| if all == 0 { 0.0 } else { (used as f64 / all as f64 * 100.0).min(100.0) };
    let mut note = node.note.clone();
    if let (true, Some(pod)) = (note.is_empty() && node.ready && !node.cordoned, &waiting.first)
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
        ..NodeBody::default()
    };
    let parent = put(node, body, count as usize, rect, out);
    let (x, y) = (rect.x + 12.0, rect.y + HEAD);
    if dense || pods.len() > 24 {
        return squares(node, on, across(rect.w), (x, y), (parent, chosen), out);
    }
    let wide = (rect.w - 30.0) / 2.0;
    for (i, pod) in pods.iter().enumerate() {
        let at = Rect::new(x + (i % 2) as f64 * (wide + 6.0), y + (i / 2) as f64 * (TILE + 6.0), wide, TILE);
        let tail = short(pod, ((wide - 31.0) / 7.0) as usize);
        let older = on.older.get(i) == Some(&true);
        let label = if older { pod_label(pod) + ", older revision" } else { pod_label(pod) };
        let kin = kin.contains(&pod.id.uid.as_str());
        let body = Body::Tile { state: pod.state, tail, note: String::new(), stale: pod.stale || !node.ready, kin, old: older };
        out.put(&pod.id, at, body, Some(parent), pod.state.class(), label);
    }
}

/// `nginx-65blz`: whose Pod it is and what tells it apart; the revision is told by its paleness.
fn short(pod: &Pod, most: usize) -> String {
    let (name, tail) = (pod.id.name.as_str(), pod.parts(most).1);
    let family = name.get(..pod.family).unwrap_or("");
    let left = most.saturating_sub(tail.len());
    match family.get(..left.saturating_sub(1)) {
        _ if family.len() <= left => format!("{family}{tail}"),
        Some(start) if left > 3 => format!("{start}…{tail}"),
        _ => tail,
    }
}

/// The Pods without a node, and per node why not: with its numbers where they tell it, else out of the scheduler's message.
fn tray(model: &Model, on: &ByNode<'_>, waiting: &Waiting, (x, y): (f64, f64), width: f64, out: &mut Scene) {
    let Some(pod) = &waiting.first else { return };
    let none = On::default();
    // The scheduler has not come to it yet, so nobody has refused it.
    let queued = pod.unscheduled.is_empty() && !model.nodes.is_empty();
    let refusal = |node: &Rc<Node>| refuses(node, on.get(node.id.name.as_str()).map_or(&none, |on| on), pod);
    let own: Vec<_> = model.nodes.iter().filter(|_| !queued).filter_map(refusal).collect();
    let mut rows = if own.is_empty() || own.len() < model.nodes.len() { reasons(&pod.unscheduled) } else { own };
    if rows.len() > 5 {
        let more = rows.len() - 4;
        rows.truncate(4);
        rows.push([format!("+{} nodes", format::count(more)), String::new(), String::new()]);
    }
    let small = width < 460.0;
    let high = if small { 130.0 + rows.len() as f64 * 24.0 } else { (76.0 + rows.len() as f64 * 24.0).max(126.0) };
    let rect = Rect::new(x, y, if small { width } else { width.max(460.0) }, high);
    let title = format!("{} Pod{}", format::count(waiting.pods), if waiting.pods == 1 { "" } else { "s" });
    let head = pod.unscheduled.split(": ").next().unwrap_or("").to_string();
    let id = Id { kind: "Unscheduled".into(), uid: "tray".into(), ..Id::default() };
    let aside = match () {
        () if model.nodes.is_empty() => "there is no node",
        () if queued => "in the scheduler's queue: it takes one after the other",
        () => "tried again when a node or a Pod changes",
    };
    let label = format!("{} Pods without a node. {}", format::count(waiting.pods), pod.unscheduled);
    let parent = out.put(&id, rect, Body::Tray { title, aside: aside.into(), head, rows }, None, "", label);
    let at = Rect::new(x + 14.0, y + 42.0, 196.0, 52.0);
    out.put(&pod.id, at, pod_body(pod, 19), Some(parent), pod.state.class(), pod_label(pod));
    if waiting.pods > 1 && !small {
        let text = format!("+{} more", format::count(waiting.pods - 1));
        out.labels.push(super::shape::Label { x: x + 16.0, y: at.bottom() + 6.0, text, class: "", centred: false });
    }
}

/// Why a node does not take a Pod, as far as its state and its room tell.
fn refuses(node: &Node, on: &On, pod: &Pod) -> Option<[String; 3]> {
    let (cpu, memory, pods) = (node.cpu.saturating_sub(on.cpu), node.memory.saturating_sub(on.memory), on.live as u64);
    let (why, detail) = match () {
        () if !node.ready => ("untolerated taint", "node.kubernetes.io/unreachable".to_string()),
        () if node.cordoned => ("node(s) were unschedulable", format!("kubectl cordon {}", node.id.name)),
        () if pods >= node.pods => ("Too many pods", format!("{pods} of {} are there", node.pods)),
        () if cpu < pod.cpu => ("Insufficient cpu", format!("needs {}, {} free", cores(pod.cpu), cores(cpu))),
        () if memory < pod.memory => ("Insufficient memory", format!("needs {} Gi, {} Gi free", gib(pod.memory), gib(memory))),
        () => return None,
    };
    Some([format::middle(&node.id.name, 12), why.into(), detail])
}

/// Splits `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable. preemption: …`.
fn reasons(message: &str) -> Vec<[String; 3]> {
    let Some((_, rest)) = message.split_once("available: ") else { return Vec::new() };
    let rest = rest.split(". ").next().unwrap_or(rest).trim_end_matches('.');
    rest.split(", ")
        .map(|part| match part.split_once(' ') {
            Some((n, why)) if n.chars().all(|c| c.is_ascii_digit()) => {
                [format!("{n} node{}", if n == "1" { "" } else { "s" }), why.to_string(), String::new()]
            }
            _ => [String::new(), part.to_string(), String::new()],
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::model::{Group, Root};
    use super::*;

    #[test]
    fn a_few_nodes_share_the_width() {
        let node = |n: usize| Rc::new(Node { id: Id::named("Node", &format!("node-{n}")), ready: true, ..Node::default() });
        for (nodes, width, share) in [(3, 1280.0, 0.9), (3, 800.0, 0.9), (2, 800.0, 0.9), (1, 800.0, 0.4)] {
            let model = Model { nodes: Rc::new((0..nodes).map(node).collect()), ..Model::default() };
            let scene = layout(&model, None, width, &mut Seen::default());
            let right = scene.items.iter().map(|item| item.rect.right()).fold(0.0, f64::max);
            assert!(right <= width && right > width * share, "{nodes} {width}: {right}");
        }
    }

    #[test]
    fn pods_stand_on_their_node_and_the_rest_in_the_tray() {
        let pod = |name: &str, node: &str| Pod { id: Id::named("Pod", name), node: node.into(), cpu: 1500, ..Pod::default() };
        let node = |name: &str| {
            Rc::new(Node { id: Id::named("Node", name), ready: true, cpu: 4000, memory: 8 << 30, pods: 110, ..Node::default() })
        };
        let model = Model {
            roots: vec![Root {
                controller: None,
                groups: vec![Group {
                    controller: None,
                    pods: [pod("a", "node-1"), pod("b", "node-1"), pod("c", "")].into_iter().collect(),
                }],
                folded: 0,
            }],
            nodes: Rc::new(vec![node("node-1"), node("node-2")]),
            ..Model::default()
        };
        let scene = layout(&model, None, 800.0, &mut Seen::default());
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
    fn the_pods_of_a_chosen_owner_are_marked() {
        let pod = |name: &str| Pod { id: Id::named("Pod", name), node: "n".into(), ..Pod::default() };
        let root = |name: &str| Root {
            controller: Some(super::super::model::Controller { id: Id::named("Deployment", name), ..Default::default() }.into()),
            groups: vec![Group { controller: None, pods: [pod(&format!("{name}-0"))].into_iter().collect() }],
            folded: 0,
        };
        let nodes = Rc::new(vec![Rc::new(Node { id: Id::named("Node", "n"), ready: true, pods: 110, ..Node::default() })]);
        let model = Model { roots: vec![root("a"), root("b")], nodes, ..Model::default() };
        let scene = layout(&model, Some("Deployment/b"), 800.0, &mut Seen::default());
        let marked = scene.items.iter().filter(|item| matches!(item.body, Body::Tile { kin: true, .. })).map(|item| item.id.name.as_str());
        assert_eq!(marked.collect::<Vec<_>>(), ["b-0"]);
    }

    #[test]
    fn a_node_says_with_its_numbers_why_it_takes_no_more() {
        let node = |name: &str| Node { id: Id::named("Node", name), ready: true, cpu: 4000, memory: 8 << 30, pods: 110, ..Node::default() };
        let pod = Pod { id: Id::named("Pod", "a"), cpu: 1500, ..Pod::default() };
        let full = Rc::new(Pod { cpu: 3400, ..Pod::default() });
        let on = On::new([full].into_iter().collect(), usize::MAX);
        assert_eq!(refuses(&node("n"), &on, &pod).unwrap(), ["n", "Insufficient cpu", "needs 1.5, 0.6 free"]);
        assert_eq!(refuses(&node("n"), &On::default(), &pod), None);
        assert_eq!(refuses(&Node { cordoned: true, ..node("n") }, &On::default(), &pod).unwrap()[2], "kubectl cordon n");
    }

    #[test]
    fn many_pods_stand_with_the_newest_revision_first_and_three_cards_fit_a_tablet() {
        let pod = |name: String, state| Pod { id: Id::named("Pod", &name), node: "n".into(), state, ..Pod::default() };
        let group =
            |set: &str, n: usize, state| Group { controller: None, pods: (0..n).map(|i| pod(format!("{set}{i}"), state)).collect() };
        let of = super::super::model::Controller { id: Id::named("Deployment", "d"), ..Default::default() };
        let groups = vec![group("a", 150, PodState::Ready), group("b", 60, PodState::Ready), group("c", 3, PodState::NotReady)];
        let node = |name: &str| Node { id: Id::named("Node", name), ready: true, pods: 500, ..Node::default() };
        let roots = vec![Root { controller: Some(of.into()), groups, folded: 0 }];
        let nodes = Rc::new(["n", "o", "p"].map(|name| Rc::new(node(name))).to_vec());
        let model = Model { roots, nodes, ..Model::default() };
        let scene = layout(&model, None, 656.0, &mut Seen::default());
        assert!(scene.width <= 656.0, "{}", scene.width);
        let cells = scene.items.iter().find_map(|item| if let Body::Cells(cells) = &item.body { Some(cells) } else { None }).unwrap();
        let states: Vec<&str> = [0, 2, 3].map(|at| cells.pods[at].id.name.get(..1).unwrap()).to_vec();
        assert_eq!((states, cells.old), (vec!["c", "c", "a"], 3));
        let Body::Totals { parts, numbers } = &scene.items[0].body else { panic!("the strip") };
        assert_eq!(numbers[..], [(213, "Pods in all"), (210, "ready"), (0, "terminating")]);
        assert_eq!(parts[..], [(PodState::NotReady, false, 3), (PodState::Ready, true, 210)]);
    }

    #[test]
    fn a_rollout_is_a_wave_in_a_tile_and_pale_where_pods_have_names() {
        use PodState::{Creating, NotReady, Ready, Terminating};
        let pod = |name: &str, state| Rc::new(Pod { id: Id::named("Pod", name), state, ..Pod::default() });
        let all =
            [(true, Ready), (true, Terminating), (false, Creating), (false, Ready), (false, NotReady), (true, Ready), (false, Creating)];
        let pods: Vec<_> = all.iter().enumerate().map(|(at, (old, state))| (*old, pod(&format!("p{at}"), *state))).collect();
        let some = || pods.iter().map(|(old, pod)| (*old, pod)).collect::<Vec<_>>();
        let on = arrange(some(), true);
        assert_eq!(on.pods.states().collect::<Vec<_>>(), [Ready, NotReady, Creating, Creating, Terminating, Ready, Ready]);
        assert_eq!(on.old, 5);
        assert_eq!(arrange(some(), false).older, [true, true, false, false, false, true, false]);
    }

    #[test]
    fn many_nodes_stand_as_large_as_few() {
        let node = |n: usize| Rc::new(Node { id: Id::named("Node", &format!("node-{n}")), ready: true, pods: 110, ..Node::default() });
        let pod = |n: usize| Pod { id: Id::named("Pod", &format!("p{n}")), node: format!("node-{}", n % 60), ..Pod::default() };
        let groups = vec![Group { controller: None, pods: (0..5_000).map(pod).collect() }];
        let roots = vec![Root { controller: None, groups, folded: 0 }];
        let model = Model { roots, nodes: Rc::new((0..60).map(node).collect()), ..Model::default() };
        for width in [390.0, 600.0, 656.0, 760.0, 1100.0, 1360.0] {
            let scene = layout(&model, None, width, &mut Seen::default());
            assert!(scene.width <= width, "{width}: {}", scene.width);
        }
    }

    #[test]
    fn pods_that_the_scheduler_has_not_come_to_are_refused_by_nobody() {
        let pod = |name: &str, unscheduled: &str| Pod {
            id: Id::named("Pod", name),
            cpu: 1500,
            unscheduled: unscheduled.into(),
            ..Pod::default()
        };
        let node =
            Node { id: Id::named("Node", "n"), ready: true, cordoned: true, cpu: 4000, memory: 8 << 30, pods: 110, ..Node::default() };
        let tray = |pods: &[Pod]| {
            let groups = vec![Group { controller: None, pods: pods.iter().cloned().collect() }];
            let roots = vec![Root { controller: None, groups, folded: 0 }];
            let model = Model { roots, nodes: Rc::new(vec![Rc::new(node.clone())]), ..Model::default() };
            let scene = layout(&model, None, 800.0, &mut Seen::default());
            scene
                .items
                .iter()
                .find_map(|item| if let Body::Tray { aside, rows, .. } = &item.body { Some((aside.clone(), rows.len())) } else { None })
        };
        let queued = tray(&[pod("a", ""), pod("b", "")]).unwrap();
        assert_eq!(queued, ("in the scheduler's queue: it takes one after the other".into(), 0));
        let (pods, model_of) = ([pod("a", "0/1 nodes are available: 1 node(s) were unschedulable.")], |pods: &[Pod]| Model {
            roots: vec![Root {
                controller: None,
                groups: vec![Group { controller: None, pods: pods.iter().cloned().collect() }],
                folded: 0,
            }],
            nodes: Rc::new(vec![Rc::new(node.clone())]),
            ..Model::default()
        });
        // On a phone the one that waits for a person stands over the nodes, elsewhere below them.
        for (width, over) in [(390.0, true), (800.0, false)] {
            let scene = layout(&model_of(&pods), None, width, &mut Seen::default());
            let at = |uid: &str| scene.items.iter().find(|item| item.id.uid == uid).unwrap().rect;
            assert_eq!(at("tray").bottom() < at("Node/n").y, over);
        }
        let refused = tray(&[pod("a", ""), pod("b", "0/1 nodes are available: 1 node(s) were unschedulable.")]).unwrap();
        assert_eq!(refused, ("tried again when a node or a Pod changes".into(), 1));
    }

    #[test]
    fn the_schedulers_message_is_split_by_reason() {
        let rows =
            reasons("0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable. preemption: 0/3 nodes are available.");
        assert_eq!(rows, [["1 node", "Insufficient cpu", ""], ["2 nodes", "node(s) were unschedulable", ""]]);
        assert!(reasons("").is_empty());
    }
}
