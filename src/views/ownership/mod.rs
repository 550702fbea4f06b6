//! Who owns whom: roots, ReplicaSets or Jobs, Pods, their claims and volumes. What selects or scales a tree stands above its
//! root; what selects several stands above all of them. Trees stand in columns where one below the other would be too high.

use crate::i18n::format::middle;
use crate::i18n::{Arg, Message, clauses, dotted, msg};
use crate::projection::model::{
    Block, Claim, Controller, Counter, Group, Id, Metric, Model, Pod, PodState, Policy, Root, Service, Tone, Used,
};
use crate::views::references;
use crate::views::shape::{Body, Cells, Label, Line, Look, Port, Rect, Scene, drop, elbow};
use std::rc::Rc;

/// Margins, heights and distances.
struct Measures {
    top: f64,
    left: f64,
    /// A Pod's card, and from one to the next.
    pod: f64,
    pitch: f64,
    /// From one to the next where claims stand beside them, and the height of a claim.
    stored: f64,
    claim: f64,
    /// Between the sets of a tree, between trees, between columns of trees.
    between: f64,
    apart: f64,
    aside: f64,
    /// A Service, from one to the next, and from the last to the tree.
    card: (f64, f64),
    row: f64,
    head: f64,
    /// From the Pods to the first rail.
    rail: f64,
    /// So many Pods are cards, so many tiles; so many tiles stand in a row.
    cards: usize,
    tiles: usize,
    across: usize,
    /// A tile, and from one to the next.
    tile: (f64, f64),
    step: (f64, f64),
    low: bool,
}

const USUAL: Measures = Measures {
    top: 26.0,
    left: 28.0,
    pod: 52.0,
    pitch: 60.0,
    stored: 76.0,
    claim: 60.0,
    between: 36.0,
    apart: 32.0,
    aside: 44.0,
    card: (228.0, 44.0),
    row: 56.0,
    head: 16.0,
    rail: 18.0,
    cards: 6,
    tiles: 24,
    across: 4,
    tile: (72.0, 30.0),
    step: (78.0, 36.0),
    low: false,
};
/// In a low frame, where nobody can make the letters larger: cards are lower and fewer, so that an update is seen as a whole.
const FLAT: Measures = Measures {
    top: 8.0,
    left: 8.0,
    pod: 30.0,
    pitch: 34.0,
    stored: 58.0,
    claim: 40.0,
    between: 12.0,
    apart: 16.0,
    aside: 20.0,
    card: (160.0, 38.0),
    row: 42.0,
    head: 2.0,
    rail: 12.0,
    cards: 4,
    tiles: 12,
    across: 3,
    tile: (59.0, 26.0),
    step: (62.0, 30.0),
    low: true,
};
/// A frame lower than this has them.
pub const LOW_FRAME: f64 = 400.0;
/// A controller's card there.
const BRIEF: f64 = 62.0;
/// From this many Pods in the whole view, all of them are cells.
const DENSE: usize = 200;
/// So far below the top of a block its owner stands at most.
const HIGH: f64 = 140.0;
/// The smallest scale at which a stage shows this diagram.
const LEAST: f64 = 0.9;
/// Blocks of more Pods stand beside each other, each below its ReplicaSet: one below the other, the newest would be out of sight.
const BESIDE: usize = 400;
/// Of more, cells are as small as they may be.
const HUGE: usize = 1_000;
/// Between two blocks, and the line that leads over them.
const APART_BLOCKS: f64 = 28.0;
const OVER: f64 = 16.0;
/// The height of a root that lies over its blocks, and the room below it.
const LIFTED: f64 = 54.0;
const BELOW_ROOT: f64 = 24.0;
/// About the cells of a block.
const PAD: f64 = 8.0;

/// Widths and distances of the columns of one tree.
struct Columns {
    root: f64,
    gap: f64,
    set: f64,
    pod: f64,
    claim: f64,
    volume: f64,
}

/// From the widest: the first that fits is taken, for letters are not made smaller as long as cards can be narrower.
const PLAIN: [Columns; 3] = [
    Columns { root: 200.0, gap: 54.0, set: 204.0, pod: 204.0, claim: 0.0, volume: 0.0 },
    Columns { root: 164.0, gap: 28.0, set: 168.0, pod: 184.0, claim: 0.0, volume: 0.0 },
    LOW,
];
/// In the smallest frame, so that the Pods are in sight.
const LOW: Columns = Columns { root: 160.0, gap: 24.0, set: 164.0, pod: 164.0, claim: 164.0, volume: 0.0 };
/// With claims. In a small frame volumes are left out: the claim says it is bound.
const CLAIMS: [Columns; 4] = [
    Columns { root: 176.0, gap: 44.0, set: 190.0, pod: 188.0, claim: 156.0, volume: 152.0 },
    Columns { root: 164.0, gap: 36.0, set: 170.0, pod: 176.0, claim: 148.0, volume: 140.0 },
    Columns { root: 160.0, gap: 40.0, set: 170.0, pod: 184.0, claim: 176.0, volume: 0.0 },
    LOW,
];

/// In a low frame, from the widest: the first is for a StatefulSet.
const FLAT_PLAIN: [Columns; 2] = [
    Columns { root: 192.0, gap: 30.0, set: 200.0, pod: 212.0, claim: 0.0, volume: 0.0 },
    Columns { root: 110.0, gap: 14.0, set: 120.0, pod: 184.0, claim: 0.0, volume: 0.0 },
];
const FLAT_CLAIMS: [Columns; 4] = [
    Columns { root: 190.0, gap: 46.0, set: 190.0, pod: 212.0, claim: 180.0, volume: 0.0 },
    Columns { root: 140.0, gap: 20.0, set: 164.0, pod: 184.0, claim: 150.0, volume: 0.0 },
    Columns { root: 114.0, gap: 16.0, set: 120.0, pod: 176.0, claim: 142.0, volume: 0.0 },
    Columns { root: 98.0, gap: 12.0, set: 110.0, pod: 112.0, claim: 100.0, volume: 0.0 },
];

impl Columns {
    /// The width of a tree, with a Service's rail where there are no claims.
    fn width(&self, sets: bool, rail: f64) -> f64 {
        let volume = if self.volume > 0.0 { 36.0 + self.volume } else { 0.0 };
        let claim = if self.claim > 0.0 { self.gap + self.claim + volume } else { rail + 10.0 };
        self.root + self.gap + if sets { self.set + self.gap } else { 0.0 } + self.pod + claim
    }
}

/// What is the same for all trees of a picture.
struct Frame<'a> {
    model: &'a Model,
    selected: Option<&'a str>,
    measures: &'static Measures,
    /// Pods that there are, or will be.
    total: usize,
    /// The width, and the width at the smallest scale.
    width: f64,
    room: f64,
}

/// Lays the trees out. `selected` is a uid; the size is the viewport's.
pub fn layout(model: &Model, selected: Option<&str>, (width, height): (f64, f64)) -> Scene {
    if width < 560.0 && height >= width {
        return narrow(model, selected, width);
    }
    let measures = if height < LOW_FRAME { &FLAT } else { &USUAL };
    let Measures { left, apart, .. } = *measures;
    let total = model.roots.iter().map(|root| root.desired().max(root.pods())).sum();
    let wide = width - 2.0 * left;
    let frame = Frame { model, selected, measures, total, width: wide, room: if measures.low { wide } else { wide / LEAST - 1.0 } };
    let mut out = Scene { summary: summary(model), ..Scene::default() };
    let homes = references::homes(model);
    let (loose, bundles, shared) = bundles(&frame, &homes);
    let mut top = measures.top;
    for row in &loose {
        row.put(measures, (left, top), f64::MAX, &mut out);
        top += measures.row;
    }
    top += if loose.is_empty() { 0.0 } else { 12.0 };
    let sizes: Vec<(f64, f64)> = bundles.iter().map(Bundle::size).collect();
    let foot = if model.inert.is_empty() { 0.0 } else { 64.0 }
        + if shared.is_empty() { 0.0 } else { apart + references::shared_height(shared.len(), wide) };
    let of = columns(&sizes, (wide, height - if measures.low { 0.0 } else { 44.0 } - top - foot - left), measures);
    let (mut x, mut bottom, mut drawn) = (left, top, Vec::new());
    for column in 0..=of.last().copied().unwrap_or(0) {
        let (mut y, mut wide) = (top, 0.0f64);
        for (bundle, (w, _)) in bundles.iter().zip(&sizes).zip(&of).filter(|(_, at)| **at == column).map(|(it, _)| it) {
            y = bundle.put(&frame, (x, y), *w, &mut out, &mut drawn) + apart;
            wide = wide.max(*w);
        }
        bottom = bottom.max(y - apart);
        x += wide + measures.aside;
    }
    // Room for what is to come: the picture does not grow with each Pod.
    (out.width, out.height) = ((x - measures.aside).max(out.width), bottom);
    if !shared.is_empty() {
        bottom =
            references::put_shared(&shared, (left, bottom + apart, out.width.max(if measures.low { wide } else { 3.0 * 196.0 })), &mut out);
    }
    references::link(model, &homes, selected, &mut out);
    orphans(model, (left, bottom + apart), if measures.low { ((wide / 196.0) as usize).max(1) } else { 3 }, &mut out, &drawn);
    out.finish(left)
}

/// The trees that have claims, without Services: storage in a low frame.
pub fn claims(model: &Model, selected: Option<&str>, size: (f64, f64)) -> Scene {
    let mut only = model.clone();
    only.services.clear();
    only.policies.clear();
    only.uses.clear();
    only.inert.clear();
    only.roots.retain(|root| root.mounts() || root.controller.as_ref().is_some_and(|of| of.id.kind == "StatefulSet"));
    layout(&only, selected, size)
}

/// In which column each stands: as few as let everything be as large as it can be, in their order.
fn columns(sizes: &[(f64, f64)], (width, height): (f64, f64), measures: &Measures) -> Vec<usize> {
    let (apart, least) = (measures.apart, if measures.low { 1.0 } else { LEAST });
    let mut best: (f64, Vec<usize>) = (0.0, vec![0; sizes.len()]);
    for count in 1..=sizes.len().min(4) {
        let of = split(sizes, count, apart);
        let (mut wide, mut high) = ([0.0f64; 4], [-apart; 4]);
        for ((w, h), column) in sizes.iter().zip(&of) {
            wide[*column] = wide[*column].max(*w);
            high[*column] += h + apart;
        }
        let across = (width / (wide.iter().sum::<f64>() + (count - 1) as f64 * measures.aside)).min(1.0);
        let scale = across.min(height / high.into_iter().fold(0.0, f64::max));
        // Of what does not fit in height, as much as can be read is seen at once.
        let scale = if across >= least { scale.max(0.01 * count as f64) } else { across / 100.0 };
        if scale > best.0 * 1.02 {
            best = (scale, of);
        }
    }
    best.1
}

/// So many columns of about the same height.
fn split(sizes: &[(f64, f64)], count: usize, apart: f64) -> Vec<usize> {
    let fill = |most: f64| {
        let (mut column, mut high) = (0, 0.0);
        let put = |(_, h): &(f64, f64)| {
            if high > 0.0 && high + h > most {
                (column, high) = (column + 1, 0.0);
            }
            high += h + apart;
            column
        };
        sizes.iter().map(put).collect::<Vec<usize>>()
    };
    let all: f64 = sizes.iter().map(|(_, h)| h + apart).sum();
    let (mut low, mut high) = (0.0, all);
    while high - low > 4.0 {
        let most = (low + high) / 2.0;
        if fill(most).last().is_some_and(|last| *last < count) { high = most } else { low = most }
    }
    fill(high)
}

/// What stands in a row above a tree: a Service, an autoscaler, a disruption budget.
enum Row<'a> {
    Service(&'a Service),
    Policy(&'a Policy),
}

/// What a line of a row may end at: a Pod's card, or a block of many.
struct End<'a> {
    rect: Rect,
    pod: Option<&'a Pod>,
    /// How the names of a block's Pods begin.
    of: String,
    /// Where something stands at its right: at which height a line from there passes that.
    past: Option<f64>,
}

impl Row<'_> {
    fn id(&self) -> &Id {
        match self {
            Row::Service(service) => &service.id,
            Row::Policy(policy) => &policy.id,
        }
    }

    /// An autoscaler acts on the workload; the others choose Pods.
    fn scales(&self) -> bool {
        self.id().kind == "HorizontalPodAutoscaler"
    }

    /// Draws the card, and what it says of itself beside it.
    fn put(&self, measures: &Measures, (x, y): (f64, f64), end: f64, out: &mut Scene) -> Rect {
        let least = measures.card.0;
        // As wide as its name needs, beside its pill.
        let form = if let Row::Service(service) = self { service.form.len() } else { 20 };
        let wide = (98.0 + 7.3 * self.id().name.len() as f64 + 6.6 * form as f64).clamp(least, least + 100.0);
        let wide = if matches!(self, Row::Policy(_)) { wide.max(least + 76.0) } else { wide };
        let rect = Rect::new(x, y, wide, measures.card.1);
        let (words, short) = match self {
            Row::Service(service) => {
                put_service(out, service, rect);
                let (of, ready) = (&service.selector, service.ready());
                let words = if of.is_empty() { msg::row_no_selector() } else { msg::row_selector(of) };
                let with_hint = |ready_words: Message| match ready > 0 && !service.hint.is_empty() {
                    true => Message::list(vec![ready_words, service.hint.clone()]),
                    false => ready_words,
                };
                (
                    dotted(vec![words, with_hint(endpoints(ready))]),
                    dotted(vec![Message::name(middle(of, 24)), with_hint(msg::row_ready(ready))]),
                )
            }
            Row::Policy(policy) => {
                let label = policy_label(policy);
                out.put(&policy.id, rect, Body::Service { form: policy.form.clone() }, None, "settled", label);
                (policy.words.clone(), policy.words.clone())
            }
        };
        // Where the words do not fit before the rail, the short ones do.
        let (x, room) = (rect.right() + 24.0, ((end - rect.right() - 48.0) / 6.0).max(8.0) as usize);
        let fits = |text: &Message| text.length() <= room;
        // In the smallest frame what it selects gives way to what it has.
        let text = match self {
            _ if fits(&words) => words,
            Row::Service(service) if measures.low && !fits(&short) => msg::row_ready(service.ready()),
            _ => short,
        };
        out.labels.push(Label { x, y: rect.cy() - 8.0, text, class: "onedge", centred: false });
        if end == f64::MAX && matches!(self, Row::Service(_)) {
            out.link(self.id().uid.clone(), format!("M{} {}H{x}", rect.right(), rect.cy()), Line::Selects);
        }
        rect
    }

    /// The selector's line: along the row to a rail, with a stub to each Pod in the EndpointSlice, or to each block of Pods.
    fn rail(&self, card: Rect, rail: f64, lift: f64, ends: &[End], out: &mut Scene) {
        let to = |end: &End| match (self, end.pod) {
            (Row::Service(service), Some(pod)) => service.endpoint(&pod.id.name).map(|endpoint| endpoint.ready),
            (Row::Service(service), None) => service.reaches(&end.of),
            (Row::Policy(_), pod) => Some(pod.is_none_or(|pod| pod.state == PodState::Ready)),
        };
        let (uid, y) = (&self.id().uid, card.cy());
        let (mut n, mut last) = (0, 0.0f64);
        for (end, full) in ends.iter().filter_map(|end| Some((end, to(end)?))) {
            let (right, port) = (end.rect.right(), end.rect.cy() + lift);
            let from = end.past.unwrap_or(port);
            let down = if end.past.is_some() { format!("H{}V{port}", right + 14.0) } else { String::new() };
            out.link(format!("{uid}/{n}"), format!("M{rail} {from}{down}H{}", right + 7.0), Line::Selects);
            out.ports.push(Port { x: right, y: port, full, network: true });
            (n, last) = (n + 1, last.max(from));
        }
        let d = match n {
            0 => format!("M{} {y}H{}", card.right(), card.right() + 24.0),
            _ => format!("M{} {y}H{}Q{rail} {y} {rail} {}V{last}", card.right(), rail - 10.0, y + 10.0),
        };
        out.link(uid.clone(), d, Line::Selects);
    }
}

/// Trees that a Service holds together: most often one.
struct Bundle<'a> {
    /// What selects several of them.
    rows: Vec<Row<'a>>,
    trees: Vec<Tree<'a>>,
}

/// A root with what selects or scales it alone.
struct Tree<'a> {
    root: &'a Root,
    measures: &'static Measures,
    columns: &'static Columns,
    rows: Vec<Row<'a>>,
    /// What it alone names.
    uses: Vec<&'a Used>,
    /// By group: how its Pods are drawn, their height and that of the group.
    slots: Vec<(Leaves, f64, f64)>,
    /// Right end of the Pods, and of everything.
    ends: (f64, f64),
    /// The height of the Pods that are to be.
    least: f64,
    /// While an update runs: the room of its revisions together, where in it the root stands, and how far below the top of its
    /// group the first Pod: as it stood before.
    update: Option<(f64, f64, f64)>,
    /// Whether blocks of many Pods stand beside each other.
    beside: bool,
}

/// Which Services and policies belong to which trees, and those that belong to none; and what several trees name.
fn bundles<'a>(frame: &Frame<'a>, homes: &[Option<usize>]) -> (Vec<Row<'a>>, Vec<Bundle<'a>>, Vec<&'a Used>) {
    let model = frame.model;
    let mut trees: Vec<Tree> = model.roots.iter().map(|root| Tree::new(frame, root)).collect();
    let mut with: Vec<usize> = (0..trees.len()).collect();
    let (mut loose, mut shared) = (Vec::new(), Vec::new());
    for service in &model.services {
        match service.reached(&model.roots)[..] {
            [] => loose.push(Row::Service(service)),
            [one] => trees[one].rows.push(Row::Service(service)),
            ref several => {
                shared.push((several[0], service));
                let first = several.iter().map(|at| with[*at]).min().unwrap_or(0);
                let joined: Vec<usize> = several.iter().map(|at| with[*at]).collect();
                with.iter_mut().filter(|at| joined.contains(at)).for_each(|at| *at = first);
            }
        }
    }
    // An autoscaler comes last: nothing stands between it and what it scales.
    let aims = |policy: &&Policy| model.roots.iter().position(|root| root.controller.as_ref().is_some_and(|of| of.id.uid == policy.target));
    let scales = |policy: &&Policy| Row::Policy(policy).scales();
    for policy in model.policies.iter().filter(|it| !scales(it)).chain(model.policies.iter().filter(scales)) {
        match aims(&policy) {
            Some(at) => trees[at].rows.push(Row::Policy(policy)),
            None => loose.push(Row::Policy(policy)),
        }
    }
    let mut common = Vec::new();
    for (used, home) in model.uses.iter().zip(homes) {
        match home {
            Some(at) => trees[*at].uses.push(used),
            None => common.push(used),
        }
    }
    let mut out: Vec<(usize, Bundle)> = Vec::new();
    for (at, mut tree) in with.iter().zip(trees) {
        tree.measure(frame);
        match out.iter_mut().find(|(first, _)| first == at) {
            Some((_, bundle)) => bundle.trees.push(tree),
            None => out.push((*at, Bundle { rows: Vec::new(), trees: vec![tree] })),
        }
    }
    for (root, service) in shared {
        out.iter_mut().filter(|(first, _)| *first == with[root]).for_each(|(_, bundle)| bundle.rows.push(Row::Service(service)));
    }
    (loose, out.into_iter().map(|(_, bundle)| bundle).collect(), common)
}

impl<'a> Bundle<'a> {
    /// Width, and the height once nothing is on its way: what a rollout needs meanwhile moves nothing from column to column.
    fn size(&self) -> (f64, f64) {
        let wide = self.trees.iter().map(|tree| tree.ends.1).fold(0.0, f64::max);
        let Measures { apart, row, .. } = self.trees.first().map_or(&USUAL, |tree| tree.measures);
        let high: f64 = self.trees.iter().map(|tree| tree.rest() + apart).sum();
        let rows = self.rows.len() as f64;
        (wide + if rows > 0.0 { 16.0 + (rows - 1.0) * 10.0 } else { 0.0 }, high - apart + rows * row)
    }

    /// Draws it and returns its bottom.
    fn put(&self, frame: &Frame<'a>, (x, top): (f64, f64), wide: f64, out: &mut Scene, claims: &mut Vec<String>) -> f64 {
        let mut y = top;
        let mut cards = Vec::new();
        for (k, row) in self.rows.iter().enumerate() {
            let rail = x + wide - k as f64 * 10.0;
            cards.push((row, row.put(frame.measures, (x, y), rail, out), rail));
            y += frame.measures.row;
        }
        let mut ends = Vec::new();
        for tree in &self.trees {
            y = tree.put(frame, (x, y), out, claims, &mut ends) + frame.measures.apart;
        }
        for (k, (row, card, rail)) in cards.into_iter().enumerate() {
            row.rail(card, rail, 12.0 - k as f64 * 8.0, &ends, out);
        }
        y - frame.measures.apart
    }
}

/// How the Pods of a group are drawn.
enum Leaves {
    None,
    Cards,
    Tiles { rows: usize },
    Cells { columns: usize, rows: usize, side: f64, pitch: f64 },
}

/// `most`: as many as there are or will be; `now`: those for which there is to be a place.
fn leaves(most: usize, now: usize, total: usize, (width, room): (f64, f64), of: &Measures) -> Leaves {
    match most {
        0 => Leaves::None,
        _ if now == 0 => Leaves::None,
        n if total > DENSE && n > 24 => {
            let (side, pitch) = if total > 20_000 { (4.0, 5.0) } else { (7.0, 8.0) };
            // As wide as there is room, and from there on downwards.
            let columns = ((n as f64 * 1.6).sqrt().ceil() as usize).min(((room - 2.0 * PAD) / pitch) as usize).max(22);
            Leaves::Cells { columns, rows: now.div_ceil(columns), side, pitch }
        }
        n if n <= of.cards => Leaves::Cards,
        n if n <= of.tiles => Leaves::Tiles { rows: now.div_ceil(of.across) },
        _ => {
            let columns = ((width - 2.0 * PAD) / 10.0) as usize;
            Leaves::Cells { columns, rows: now.div_ceil(columns), side: 8.0, pitch: 10.0 }
        }
    }
}

/// Height of the counts over cells: a line for each state, or for two where there is room; two at least, so that the second
/// moves nothing.
fn counts_height(pods: &Block, width: f64) -> f64 {
    8.0 + 18.0 * pods.counts().len().div_ceil(if width >= 336.0 { 2 } else { 1 }).max(2) as f64
}

fn leaves_height(pods: &Block, now: usize, kind: &Leaves, pitch: f64, of: &Measures) -> f64 {
    match kind {
        Leaves::None => 0.0,
        Leaves::Cards => now as f64 * pitch - (pitch - of.pod),
        Leaves::Tiles { rows } => *rows as f64 * of.step.1 - (of.step.1 - of.tile.1),
        Leaves::Cells { rows, pitch, columns, .. } => {
            counts_height(pods, *columns as f64 * pitch + 2.0 * PAD) + *rows as f64 * pitch + 14.0
        }
    }
}

/// The height of a controller's card.
fn card_height(of: &Controller) -> f64 {
    let counters = if of.counters.is_empty() { 0.0 } else { 53.0 };
    let footer = if of.footer.is_empty() && of.chip.is_empty() { 0.0 } else { 29.0 };
    54.0 + counters + footer
}

/// "ready endpoints", counted.
fn endpoints(ready: usize) -> Message {
    msg::ready_endpoints(ready)
}

fn put_service(out: &mut Scene, service: &Service, rect: Rect) {
    let ready = service.ready();
    let form = service_form(service);
    let label = msg::service_label(&service.id.name, &form, endpoints(ready));
    let state = if ready > 0 { "ready" } else { "none" };
    out.put(&service.id, rect, Body::Service { form }, None, state, label);
}

impl<'a> Tree<'a> {
    fn new(frame: &Frame, root: &'a Root) -> Tree<'a> {
        let of = |kind: &str| root.controller.as_ref().is_some_and(|of| of.id.kind == kind);
        let sets = of("Deployment") || of("CronJob");
        let measures = frame.measures;
        let all: &'static [Columns] = match (root.mounts(), measures.low) {
            (false, false) => &PLAIN,
            (true, false) => &CLAIMS,
            (false, true) => &FLAT_PLAIN,
            (true, true) => &FLAT_CLAIMS,
        };
        let fits = |columns: &&Columns| columns.width(sets, measures.rail) <= frame.width;
        let columns = all.iter().find(fits).unwrap_or(&all[all.len() - 1]);
        let beside = Tree::largest(root) > BESIDE && root.controller.as_ref().is_some_and(|of| of.id.kind == "Deployment");
        Tree {
            root,
            measures,
            columns,
            rows: Vec::new(),
            uses: Vec::new(),
            slots: Vec::new(),
            ends: (0.0, 0.0),
            least: 0.0,
            update: None,
            beside,
        }
    }

    /// How many Pods one of its blocks has to hold.
    fn largest(root: &Root) -> usize {
        root.groups.iter().map(|group| group.pods.len()).max().unwrap_or(0).max(root.desired())
    }

    fn pitch(&self) -> f64 {
        if !self.root.mounts() {
            return self.measures.pitch;
        }
        // Each Pod has room for all its claims.
        let claims = self.root.groups.iter().flat_map(|group| group.pods.first()).map(|pod| pod.claims.len()).max().unwrap_or(1);
        self.measures.stored.max(claims as f64 * (self.measures.claim + 8.0))
    }

    /// The height of a controller's card.
    fn high(&self, of: &Controller) -> f64 {
        if self.measures.low { BRIEF } else { card_height(of) }
    }

    fn card(&self) -> f64 {
        self.root.controller.as_deref().map_or(0.0, |of| self.high(of))
    }

    /// The bottom of what it names: below its root, or below Pods that have none.
    fn lowest(&self, root: Rect, bottom: f64) -> f64 {
        let names = references::height(self.uses.len());
        if self.root.controller.is_some() { bottom.max(root.bottom() + names) } else { bottom + names }
    }

    fn head(&self) -> f64 {
        let rows = self.rows.len() as f64;
        // Further apart than a parent and its child: it owns nothing.
        rows * self.measures.row + if rows > 0.0 { self.measures.head } else { 0.0 }
    }

    /// Left of the sets and of the Pods.
    fn xs(&self) -> (f64, f64) {
        let c = self.columns;
        let set = if self.root.controller.is_some() && !self.lifted() { c.root + c.gap } else { 0.0 };
        let of = |kind: &str| self.root.controller.as_ref().is_some_and(|of| of.id.kind == kind);
        let sets = !self.beside && (of("Deployment") || of("CronJob") || self.root.groups.iter().any(|group| group.controller.is_some()));
        (set, if sets { set + c.set + c.gap } else { set })
    }

    /// Whether the root lies over its blocks, which are as wide as the stage then. What it names stands below it, in a column of its own.
    fn lifted(&self) -> bool {
        self.beside && !self.measures.low && self.uses.is_empty()
    }

    /// Finds the places of the groups. While an update runs they have the room of the Pods that there can be at one time, all of
    /// one revision and the surplus of the other: within it the newer one moves up as the older one gets lower, and nothing else moves.
    fn measure(&mut self, frame: &Frame) {
        if self.beside {
            return self.measure_beside(frame);
        }
        let (root, pitch, c) = (self.root, self.pitch(), self.columns);
        let desired = root.desired();
        let (mut wide, mut stored) = (c.pod, false);
        let rails = self.rows.iter().filter(|row| !row.scales()).count() as f64;
        let rail = if rails > 0.0 { self.measures.rail + rails * 10.0 } else { 0.0 };
        let room = (c.pod, frame.room - self.xs().1 - rail);
        let of = self.measures;
        for group in &root.groups {
            let own = group.controller.as_ref().map_or(desired, |of| of.desired);
            let now = group.pods.len().max(own);
            let kind = leaves(now.max(desired), now, frame.total, room, of);
            match &kind {
                Leaves::Cells { columns, pitch, .. } => wide = wide.max(*columns as f64 * pitch + 2.0 * PAD),
                Leaves::Tiles { .. } => wide = wide.max(of.across as f64 * of.step.0 - (of.step.0 - of.tile.0)),
                _ => stored |= root.mounts(),
            }
            let height = leaves_height(&group.pods, now, &kind, pitch, of);
            self.slots.push((kind, height, height.max(group.controller.as_deref().map_or(0.0, |of| self.high(of)))));
        }
        let slot = |now: usize, group: &Group| {
            let height = leaves_height(&Block::default(), now, &leaves(desired, now, frame.total, room, of), pitch, of);
            height.max(group.controller.as_deref().map_or(0.0, |of| self.high(of)))
        };
        if let (Some(root), [.., old, new], 1..=24) = (&root.controller, &root.groups[..], desired) {
            let (first, last) = (slot(desired, old), slot(root.surplus.clamp(1, desired), new));
            let earlier: f64 = self.slots.iter().rev().skip(2).map(|slot| slot.2 + of.between).sum();
            let all = earlier + first + of.between + last;
            let high = leaves_height(&Block::default(), desired, &leaves(desired, desired, frame.total, room, of), pitch, of);
            self.update = Some((all, (first / 2.0 + all - last / 2.0) / 2.0, (first - high) / 2.0));
        }
        let kind = leaves(desired, desired, frame.total, room, of);
        stored |= root.mounts() && matches!(kind, Leaves::Cards);
        self.least = leaves_height(&Block::default(), desired, &kind, pitch, of).max(self.card());
        let pods = self.xs().1 + wide;
        let volume = if c.volume > 0.0 { 36.0 + c.volume } else { 0.0 };
        self.ends = (pods, pods + if stored { c.gap + c.claim + volume } else { rail });
    }

    /// Two blocks in the whole width, also while there is one: it stays as it is when the next comes.
    fn measure_beside(&mut self, frame: &Frame) {
        let (root, huge) = (self.root, Tree::largest(self.root) > HUGE);
        let (side, pitch) = if huge { (4.0, 5.0) } else { (7.0, 8.0) };
        let rails = self.rows.iter().filter(|row| !row.scales()).count() as f64;
        let rail = if rails > 0.0 { self.measures.rail + rails * 10.0 } else { 0.0 };
        let each = ((frame.width - rail - self.xs().1 - APART_BLOCKS) / 2.0).max(self.columns.set);
        let columns = ((each - 2.0 * PAD) / pitch) as usize;
        let (over, least) = if self.lifted() { (LIFTED + BELOW_ROOT, 0.0) } else { (OVER, self.card()) };
        let kind = |now: usize| Leaves::Cells { columns, rows: now.div_ceil(columns), side, pitch };
        for group in &root.groups {
            let of = group.controller.as_deref();
            let kind = kind(group.pods.len().max(of.map_or(0, |of| of.desired)));
            let height = leaves_height(&group.pods, 0, &kind, 0.0, self.measures);
            self.slots.push((kind, height, over + of.map_or(0.0, |of| self.high(of)) + 20.0 + height));
        }
        let high = leaves_height(&Block::default(), 0, &kind(root.desired()), 0.0, self.measures);
        let cards = root.groups.iter().filter_map(|group| group.controller.as_deref()).map(|of| self.high(of));
        self.least = over + cards.fold(least, f64::max) + 20.0 + high;
        let wide = self.xs().1 + 2.0 * (columns as f64 * pitch + 2.0 * PAD) + APART_BLOCKS;
        self.ends = (wide, wide + rail);
    }

    /// Draws two blocks in a row, each below its ReplicaSet, and returns their bottom and the root.
    fn put_beside(&self, frame: &Frame<'a>, (x, top): (f64, f64), out: &mut Scene, ends: &mut Vec<End<'a>>) -> (f64, Option<usize>, Rect) {
        let (c, Some(of)) = (self.columns, &self.root.controller) else { return (top, None, Rect::default()) };
        let left = x + self.xs().1;
        let wide = (self.ends.0 - self.xs().1 - APART_BLOCKS) / 2.0;
        let (root, look, first) = if self.lifted() {
            (Rect::new(x, top, self.ends.0, LIFTED), Look::Wide, top + LIFTED + BELOW_ROOT)
        } else {
            (Rect::new(x, top + OVER, c.root, self.high(of)), self.look(), top + OVER)
        };
        let index = put_controller(out, of, root, None, look);
        let (mut y, mut bottom) = (first, top + self.least);
        for (groups, slots) in self.root.groups.rchunks(2).zip(self.slots.rchunks(2)) {
            let heights = groups.iter().filter_map(|group| group.controller.as_deref()).map(|of| self.high(of));
            let block = y + heights.fold(0.0, f64::max) + 20.0;
            for (column, (group, (kind, high, _))) in groups.iter().zip(slots).enumerate() {
                let at = left + column as f64 * (wide + APART_BLOCKS);
                let mut owner = (Some(index), root, Some(of));
                if let Some(set) = &group.controller {
                    let rect = Rect::new(at, y, if self.lifted() { wide } else { c.set }, block - 20.0 - y);
                    let on = chosen(frame.selected, &set.id) || frame.model.place(group, frame.selected).is_some();
                    let (mid, over) = (left - c.gap / 2.0, y - OVER + 2.0);
                    let d = if self.lifted() && y == first {
                        drop(rect.cx(), root.bottom(), rect.cx(), rect.y, rect.y)
                    } else if self.lifted() {
                        // Beside the blocks above it.
                        format!("M{x} {}H{}V{over}H{}V{}", root.cy(), x - 10.0, rect.cx(), rect.y)
                    } else if column == 0 {
                        elbow(root.right(), root.cy(), rect.x, rect.y + root.h / 2.0, mid)
                    } else {
                        let (x, y) = (rect.cx(), over + 10.0);
                        format!("{}Q{x} {over} {x} {y}V{}", elbow(root.right(), root.cy(), x - 10.0, over, mid), rect.y)
                    };
                    out.link(set.id.uid.clone(), d, line(on, set.leaving));
                    owner = (Some(put_controller(out, set, rect, Some(index), self.look())), rect, Some(set));
                }
                let first = ends.len();
                self.pods(frame, group, kind, (at, block), owner, out, &mut Vec::new(), ends);
                // The selector's line to the left one passes over the right one.
                ends[first..].iter_mut().filter(|_| column + 1 < groups.len()).for_each(|end| end.past = Some(block - 10.0));
                bottom = bottom.max(block + high);
            }
            y = bottom + self.measures.between;
        }
        (bottom, Some(index), root)
    }

    fn look(&self) -> Look {
        if self.measures.low { Look::Low } else { Look::Tall }
    }

    /// The height with one revision.
    fn rest(&self) -> f64 {
        let high = self.slots.last().map_or(0.0, |slot| slot.2).max(self.least);
        let root = Rect { h: self.card(), y: (high - self.card()) / 2.0, ..Rect::default() };
        self.head() + self.lowest(root, high)
    }

    /// Draws it and returns its bottom.
    fn put(&self, frame: &Frame<'a>, (x, top): (f64, f64), out: &mut Scene, claims: &mut Vec<String>, ends: &mut Vec<End<'a>>) -> f64 {
        let (root, c) = (self.root, self.columns);
        let stored = self.ends.1 > self.ends.0 && root.mounts();
        let rails = self.rows.iter().filter(|row| !row.scales()).count();
        let mut cards = Vec::new();
        for (i, row) in self.rows.iter().enumerate() {
            // The first row's rail is the outermost: it crosses no other row.
            let k = rails.saturating_sub(i) as f64;
            let rail = x + self.ends.0 + if stored { 8.0 + 8.0 * k } else { self.measures.rail + 10.0 * k };
            cards.push((row, row.put(self.measures, (x, top + i as f64 * self.measures.row), rail, out), rail));
        }
        let top = top + self.head();
        let first = ends.len();
        let (mut bottom, root_index, root_rect) =
            if self.beside { self.put_beside(frame, (x, top), out, ends) } else { self.put_rows(frame, (x, top), out, claims, ends) };
        let set_x = self.xs().0;
        let (y, wide) = if root.controller.is_some() { (root_rect.bottom(), c.root) } else { (bottom, c.pod) };
        if !self.uses.is_empty() {
            references::put(&self.uses, (x, y, wide), root_index, out);
        }
        if root.folded > 0 {
            let text = match root.controller.as_ref().is_some_and(|of| of.id.kind == "CronJob") {
                true => msg::more_jobs(root.folded),
                false => msg::more_revisions(root.folded),
            };
            let id = Id { uid: format!("{}/folded", root.controller.as_ref().map_or("", |of| &of.id.uid)), ..Id::default() };
            let rect = Rect::new(x + set_x, bottom + 8.0, c.set, 20.0);
            out.put(&id, rect, Body::Note(text.clone()), root_index, "", text);
            bottom += 28.0;
        }
        bottom = self.lowest(root_rect, bottom);
        for (i, (row, card, rail)) in cards.into_iter().enumerate() {
            if row.scales() {
                let (x, from, to) = (card.x + 28.0, card.bottom(), root_rect.y - 3.0);
                let d = format!("M{x} {from}V{to}M{} {}L{x} {to}L{} {}", x - 4.0, to - 7.0, x + 4.0, to - 7.0);
                out.link(row.id().uid.clone(), d, Line::Derives);
                out.labels.push(Label {
                    x: x + 4.0,
                    y: (from + to) / 2.0 - 8.0,
                    text: msg::line_scales(),
                    class: "onedge",
                    centred: false,
                });
            } else {
                let lift = if stored { i as f64 * 7.0 - 15.0 } else { (i as f64 - (rails - 1) as f64 / 2.0) * 10.0 };
                row.rail(card, rail, lift, &ends[first..], out);
            }
        }
        if stored {
            ends[first..].iter_mut().for_each(|end| end.past = Some(end.rect.bottom() + 12.0));
        }
        bottom
    }

    /// Draws one group below the other, and returns their bottom and the root.
    fn put_rows(
        &self,
        frame: &Frame<'a>,
        (x, top): (f64, f64),
        out: &mut Scene,
        claims: &mut Vec<String>,
        ends: &mut Vec<End<'a>>,
    ) -> (f64, Option<usize>, Rect) {
        let (root, c) = (self.root, self.columns);
        let used = || self.slots.iter().filter(|slot| slot.2 > 0.0).map(|slot| slot.2);
        let between = self.measures.between;
        let groups = used().map(|high| high + between).sum::<f64>() - between;
        let bottom = top + groups.max(self.least).max(self.update.map_or(0.0, |update| update.0));
        let mut y = top + if self.update.is_some() { 0.0 } else { (self.least - groups).max(0.0) / 2.0 };
        let (mut root_index, mut root_rect) = (None, Rect::default());
        if let Some(of) = &root.controller {
            let (h, first, last) = (self.high(of), used().next().unwrap_or(0.0), used().next_back().unwrap_or(0.0));
            let centre = match self.update {
                Some((_, centre, _)) => top + centre,
                None if groups > 0.0 => y + (first / 2.0 + groups - last / 2.0) / 2.0,
                None => top + self.least / 2.0,
            };
            // Beside blocks higher than the stage what owns them stands where they begin.
            let centre = if frame.total > DENSE { centre.min(top + HIGH * 2.0) } else { centre };
            root_rect = Rect::new(x, (centre - h / 2.0).max(top), c.root, h);
            root_index = Some(put_controller(out, of, root_rect, None, self.look()));
        }
        let (set_x, pod_x) = self.xs();
        for (group, (kind, leaves, high)) in root.groups.iter().zip(&self.slots).filter(|(_, slot)| slot.2 > 0.0) {
            let mut parent = (root_index, root_rect, root.controller.as_ref());
            if let Some(of) = &group.controller {
                let on = chosen(frame.selected, &of.id) || frame.model.place(group, frame.selected).is_some();
                let h = self.high(of);
                let rect =
                    Rect::new(x + set_x, y + if frame.total > DENSE { ((high - h) / 2.0).min(HIGH) } else { (high - h) / 2.0 }, c.set, h);
                let index = put_controller(out, of, rect, root_index, self.look());
                if root.controller.is_some() {
                    let d = elbow(root_rect.right(), root_rect.cy(), rect.x, rect.cy(), rect.x - c.gap / 2.0);
                    out.link(of.id.uid.clone(), d, line(on, of.leaving));
                }
                parent = (Some(index), rect, Some(of));
            }
            self.pods(
                frame,
                group,
                kind,
                (x + pod_x, y + self.update.map_or((high - leaves) / 2.0, |update| update.2.min(high - leaves))),
                parent,
                out,
                claims,
                ends,
            );
            y += high + between;
        }
        (bottom, root_index, root_rect)
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one pass over a tree")]
    fn pods(
        &self,
        frame: &Frame<'a>,
        group: &'a Group,
        kind: &Leaves,
        (x, y): (f64, f64),
        (parent, from, owner): (Option<usize>, Rect, Option<&Rc<Controller>>),
        out: &mut Scene,
        claims: &mut Vec<String>,
        ends: &mut Vec<End<'a>>,
    ) {
        let (c, pitch, m) = (self.columns, self.pitch(), self.measures);
        let mid = x - c.gap / 2.0;
        match kind {
            Leaves::Cards => {
                for (row, pod) in group.pods.iter().enumerate() {
                    let rect = Rect::new(x, y + row as f64 * pitch, c.pod, m.pod);
                    let body = if m.low { pod_line(pod, c.pod) } else { pod_body(pod, ((c.pod - 58.0) / 7.0) as usize) };
                    let index = out.put(&pod.id, rect, body, parent, pod.state.class(), pod_label(pod));
                    if owner.is_some() {
                        let d = elbow(from.right(), from.cy(), rect.x, rect.cy(), mid);
                        out.link(pod.id.uid.clone(), d, line(chosen(frame.selected, &pod.id), pod.state == PodState::Terminating));
                    }
                    ends.push(End { rect, pod: Some(pod), of: String::new(), past: None });
                    storage_of(frame.model, pod, rect, index, (c, m.claim), out, claims);
                }
            }
            Leaves::Tiles { rows } if !group.pods.is_empty() => {
                for (i, pod) in group.pods.iter().enumerate() {
                    let (column, row) = ((i % m.across) as f64, (i / m.across) as f64);
                    let rect = Rect::new(x + column * m.step.0, y + row * m.step.1, m.tile.0, m.tile.1);
                    let body = Body::Tile {
                        state: pod.state,
                        tail: pod.parts(6).1,
                        note: Message::default(),
                        stale: pod.stale,
                        kin: false,
                        old: false,
                    };
                    out.put(&pod.id, rect, body, parent, pod.state.class(), pod_label(pod));
                }
                let side = |n: usize, step: f64, tile: f64| n as f64 * step - (step - tile);
                let all = Rect::new(x, y, side(m.across.min(group.pods.len()), m.step.0, m.tile.0), side(*rows, m.step.1, m.tile.1));
                if let Some(owner) = owner {
                    out.link(format!("{}/pods", owner.id.uid), elbow(from.right(), from.cy(), x, all.cy(), mid), Line::Owns);
                }
                ends.push(End { rect: all, pod: None, of: start(owner), past: None });
            }
            Leaves::Cells { columns: across, rows, side, pitch } if !group.pods.is_empty() => {
                let old = self.root.older(group);
                let width = *across as f64 * pitch + 2.0 * PAD;
                let head = counts_height(&group.pods, width);
                let rect = Rect::new(x, y, width.max(c.pod), head + *rows as f64 * pitch + 14.0);
                let (pods, at, ring) = (group.pods.clone(), (PAD, head + 6.0), frame.model.place(group, frame.selected));
                let cells = Cells { pods, columns: *across, side: *side, pitch: *pitch, at, old, ring };
                let counted = |(state, n): &(PodState, usize)| msg::pods_in_state(n, cells.pods.word(*state));
                let counts: Vec<Message> = cells.pods.counts().iter().map(counted).collect();
                let uid = format!("{}/pods", owner.map_or("bare", |owner| &owner.id.uid));
                let namespace = group.pods.first().map(|pod| pod.id.namespace.clone()).unwrap_or_default();
                let id = Id { kind: "Pods".into(), namespace, name: owner.map(|owner| owner.id.name.clone()).unwrap_or_default(), uid };
                let ready = matches!(cells.pods.counts()[..], [(PodState::Ready, _)]);
                let label = msg::pods_label(group.pods.len(), counts);
                if owner.is_some() {
                    // Straight, wherever the owner stands beside the block.
                    let to = from.cy().clamp(rect.y + 12.0, rect.bottom() - 12.0);
                    let d = if self.beside {
                        drop(from.cx(), from.bottom(), from.cx(), rect.y, rect.y)
                    } else {
                        elbow(from.right(), from.cy(), rect.x, to, mid)
                    };
                    out.link(id.uid.clone(), d, Line::Owns);
                }
                out.put(&id, rect, Body::Cells(cells), parent, if ready { "ready" } else { "progressing" }, label);
                let rect = if self.beside { Rect { h: 44.0, ..rect } } else { rect };
                ends.push(End { rect, pod: None, of: start(owner), past: None });
            }
            _ => {}
        }
    }
}
fn put_controller(out: &mut Scene, of: &Rc<Controller>, rect: Rect, parent: Option<usize>, look: Look) -> usize {
    let state = if of.leaving {
        "terminating"
    } else if of.counters.iter().any(|counter| counter.metric == Metric::Ready && counter.tone == crate::projection::model::Tone::Off) {
        "progressing"
    } else {
        "settled"
    };
    let mut label = msg::controller_label(&of.caption, &of.id.name, numbers(of));
    // Where the strip over the diagram has no room the card says what it would.
    if let Look::Stacked(budget) = &look {
        label = msg::sentence_then(label, budget.label());
    }
    out.put(&of.id, rect, Body::Controller { of: of.clone(), look }, parent, state, label)
}

/// How the names of its Pods begin.
fn start(owner: Option<&Rc<Controller>>) -> String {
    owner.map_or(String::new(), |owner| [&owner.id.name, "-"].concat())
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

/// The numbers of a controller, each with its word.
pub fn numbers(of: &Controller) -> Vec<Message> {
    of.counters.iter().map(|counter| msg::counted(&counter.value, counter.metric.word())).collect()
}

fn policy_label(policy: &Policy) -> Message {
    msg::policy_label(&policy.id.kind, &policy.id.name, &policy.form, &policy.words)
}

/// The type of a Service, or that it is headless.
pub fn service_form(service: &Service) -> Message {
    if service.form == "headless" { msg::service_headless() } else { Message::state(&service.form) }
}

/// A Pod as a card.
pub fn pod_body(pod: &Pod, most: usize) -> Body {
    let (lead, tail) = pod.parts(most);
    // The node goes before a letter of the status does.
    let long = pod.note == Message::name(&pod.node) && pod.word.length() + pod.note.length() > most + 2;
    let note = if long { Message::default() } else { pod.note.clone() };
    // Less than six pixels a letter of it: of what is left of the grace period only how long.
    let note = match note.args() {
        [left @ Arg::Duration(_)] if pod.word.length() + note.length() + 3 > most * 5 / 4 => Message::only(left.clone()),
        _ => note,
    };
    Body::Pod { state: pod.state, lead, tail, word: pod.word.clone(), note, stale: pod.stale }
}

/// A Pod in one line: the end of its name and its status; the node where there is room for all of it.
fn pod_line(pod: &Pod, wide: f64) -> Body {
    let (lead, tail) = pod.parts(9.max(pod.parts(9).1.len()));
    let lead = if lead.len() + tail.len() > 9 { String::new() } else { lead };
    // Beside the glyph, a letter of the name is 7 pixels wide, one of the status some 6.
    let room = (wide - 38.0 - 7.0 * (lead.len() + tail.len()) as f64) / 6.2;
    let note = if (pod.word.length() + pod.note.length() + 3) as f64 <= room { pod.note.clone() } else { Message::default() };
    Body::Pod { state: pod.state, lead, tail, word: pod.word.clone(), note, stale: pod.stale }
}

/// A Pod's words for a reader who does not see it.
pub fn pod_label(pod: &Pod) -> Message {
    match pod.node.is_empty() {
        true => msg::pod_label(&pod.id.name, &pod.word),
        false => msg::pod_label_on(&pod.id.name, &pod.word, &pod.node),
    }
}

fn claims_of<'a>(model: &'a Model, pod: &'a Pod) -> impl Iterator<Item = &'a Claim> {
    let find = |name: &String| model.claims.iter().find(|claim| claim.id.name == *name && claim.id.namespace == pod.id.namespace);
    pod.claims.iter().filter_map(find)
}

/// The claims of a Pod and their volumes, to its right.
fn storage_of(
    model: &Model,
    pod: &Pod,
    at: Rect,
    parent: usize,
    (columns, high): (&Columns, f64),
    out: &mut Scene,
    drawn: &mut Vec<String>,
) {
    for (i, claim) in claims_of(model, pod).enumerate() {
        if drawn.contains(&claim.id.uid) {
            continue;
        }
        drawn.push(claim.id.uid.clone());
        let x = at.right() + columns.gap;
        let rect = Rect::new(x, at.cy() - high / 2.0 + i as f64 * (high + 8.0), columns.claim, high);
        let index = put_claim(out, claim, rect, Some(parent), &[&claim.phase, &claim.capacity]);
        let mounted = matches!(pod.state, PodState::Ready | PodState::NotReady);
        if pod.state == PodState::Terminating && columns.volume == 0.0 {
            out.labels.push(Label { x: x + 2.0, y: rect.bottom() + 1.0, text: msg::claim_stays(), class: "", centred: false });
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

fn volume_of(model: &Model, claim: &Claim, at: Rect, parent: usize, columns: &Columns, out: &mut Scene) {
    if columns.volume == 0.0 {
        return;
    }
    if let Some(volume) = model.volumes.iter().find(|volume| volume.id.name == claim.volume) {
        let rect = Rect::new(at.right() + 36.0, at.cy() - 26.0, columns.volume, USUAL.pod);
        let fact = dotted([&volume.phase, &volume.capacity].map(Message::state).to_vec());
        let label = msg::volume_label(&volume.id.name, &fact);
        out.put(&volume.id, rect, Body::Volume { fact }, Some(parent), &volume.phase.to_ascii_lowercase(), label);
        let bound = claim.phase == "Bound";
        out.link(
            volume.id.uid.clone(),
            elbow(at.right(), at.cy(), rect.x, rect.cy(), rect.x - 18.0),
            if bound { Line::Bound } else { Line::Waits },
        );
    }
}

/// Puts a claim's ticket, with a few facts.
pub fn put_claim(out: &mut Scene, claim: &Claim, rect: Rect, parent: Option<usize>, facts: &[&str]) -> usize {
    let fact = dotted(facts.iter().map(|fact| Message::state(*fact)).collect());
    let label = msg::claim_label(&claim.id.name, &claim.phase, &fact);
    let body = Body::Claim { fact, bound: claim.phase == "Bound" };
    out.put(&claim.id, rect, body, parent, &claim.phase.to_ascii_lowercase(), label)
}

/// Claims without a Pod, and objects that are stored but not animated: a row each at the foot.
fn orphans(model: &Model, (left, top): (f64, f64), least: usize, out: &mut Scene, drawn: &[String]) {
    let mut y = top;
    let across = |pitch: f64| (((out.width - left + 16.0) / pitch) as usize).max(least);
    let (tickets, chips) = (across(196.0), across(184.0));
    let waiting: Vec<&Claim> = model.claims.iter().filter(|claim| !drawn.contains(&claim.id.uid)).collect();
    if !waiting.is_empty() {
        out.labels.push(Label { x: left, y, text: msg::claims_without_pod(), class: "", centred: false });
        for (i, claim) in waiting.iter().enumerate() {
            let rect = Rect::new(left + (i % tickets) as f64 * 196.0, y + 22.0 + (i / tickets) as f64 * 76.0, 180.0, 60.0);
            put_claim(out, claim, rect, None, &[&claim.phase, &claim.capacity]);
        }
        y += 22.0 + waiting.len().div_ceil(tickets) as f64 * 76.0 + 12.0;
    }
    if !model.inert.is_empty() {
        out.labels.push(Label { x: left, y, text: msg::inert_title(), class: "", centred: false });
        for (i, id) in model.inert.iter().enumerate() {
            let rect = Rect::new(left + (i % chips) as f64 * 184.0, y + 22.0 + (i / chips) as f64 * 36.0, 176.0, 28.0);
            let body = Body::Stored { fact: Message::default(), missing: false };
            out.put(id, rect, body, None, "inert", msg::inert_label(&id.kind, &id.name));
        }
    }
}

/// The picture in a sentence.
fn summary(model: &Model) -> Message {
    let mut parts: Vec<Message> = Vec::new();
    for root in model.roots.iter().take(6) {
        let pods = root.groups.iter().map(|group| group.pods.len()).sum::<usize>();
        match &root.controller {
            Some(of) => {
                let sets = root.groups.iter().filter(|group| group.controller.is_some()).count();
                let mut all = numbers(of);
                all.extend((sets > 0).then(|| msg::summary_sets(sets)));
                all.push(msg::summary_pods(pods));
                parts.push(msg::summary_root(&of.id.kind, &of.id.name, all));
            }
            None => parts.push(msg::summary_bare(pods)),
        }
    }
    if model.roots.len() > 6 {
        parts.push(msg::summary_more(model.roots.len() - 6));
    }
    if parts.is_empty() { msg::summary_nothing() } else { clauses(parts) }
}

/// The stacked layout of a phone: cards in full width, children below.
fn narrow(model: &Model, selected: Option<&str>, width: f64) -> Scene {
    let (m, w) = (16.0, (width - 32.0).max(280.0));
    let total = model.population();
    let mut out = Scene { summary: summary(model), ..Scene::default() };
    let (mut y, mut drawn) = (16.0, Vec::new());
    let homes = references::homes(model);
    let of_home =
        |at: Option<usize>| model.uses.iter().zip(&homes).filter(|(_, home)| **home == at).map(|(used, _)| used).collect::<Vec<_>>();
    // A Service stands over the first tree that it reaches.
    let over: Vec<usize> = model.services.iter().map(|service| service.reached(&model.roots).first().copied().unwrap_or(0)).collect();
    for (at, root) in model.roots.iter().enumerate() {
        for service in model.services.iter().zip(&over).filter(|(_, over)| **over == at).map(|(service, _)| service) {
            let (form, state) = (endpoints(service.ready()), if service.ready() > 0 { "ready" } else { "none" });
            let label = msg::service_label_short(&service.id.name, &form);
            out.put(&service.id, Rect::new(m, y, w, 44.0), Body::Service { form }, None, state, label);
            y += 60.0;
        }
        let aims = |policy: &&Policy| root.controller.as_ref().is_some_and(|of| of.id.uid == policy.target);
        for policy in model.policies.iter().filter(aims) {
            let label = policy_label(policy);
            out.put(&policy.id, Rect::new(m, y, w, 44.0), Body::Service { form: policy.form.clone() }, None, "settled", label);
            y += 60.0;
        }
        let (mut parent, mut from) = (None, Rect::default());
        if let Some(of) = &root.controller {
            let (of, look) = match model.budget.as_ref().filter(|budget| budget.uid == of.id.uid) {
                Some(budget) => (with_updated(of), Look::Stacked(budget.clone())),
                None => (of.clone(), Look::Tall),
            };
            from = Rect::new(m, y, w, if look == Look::Tall { card_height(&of) } else { STACKED });
            parent = Some(put_controller(&mut out, &of, from, None, look));
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
                    let mut small = (**of).clone();
                    (small.footer, small.chip) = Default::default();
                    // That it is a ReplicaSet goes without saying.
                    if let [Arg::Number(revision)] = small.caption.args() {
                        small.caption = msg::why_revision(*revision);
                    }
                    let rect = Rect::new(x, at, group_w, card_height(&small));
                    let index = put_controller(&mut out, &Rc::new(small), rect, parent, Look::Tall);
                    let on = chosen(selected, &of.id) || model.place(group, selected).is_some();
                    out.link(of.id.uid.clone(), drop(from.cx(), from.bottom(), rect.cx(), rect.y, rect.y - 20.0), line(on, of.leaving));
                    at = rect.bottom() + 21.0;
                    owner = (Some(index), rect);
                }
                let look = (total, root.older(group), model.place(group, selected));
                lowest = lowest.max(stack(group, (x, at, group_w), owner, look, &mut out));
            }
            y = lowest + 24.0;
        }
        // Claims below their Pods, each with the name of its volume.
        let pods = root.groups.iter().filter(|group| group.pods.mounts()).flat_map(|group| group.pods.iter());
        for claim in pods.flat_map(|pod| claims_of(model, pod)) {
            if !drawn.contains(&claim.id.uid) {
                drawn.push(claim.id.uid.clone());
                put_claim(
                    &mut out,
                    claim,
                    Rect::new(m, y, w, 60.0),
                    parent,
                    &[&claim.phase, &claim.capacity, &crate::i18n::format::volume(&claim.volume)],
                );
                y += 68.0;
            }
        }
        let own = of_home(Some(at));
        if !own.is_empty() {
            references::put(&own, (m, y - references::BELOW, w), parent, &mut out);
            y += references::height(own.len());
        }
        y += 8.0;
    }
    let shared = of_home(None);
    if !shared.is_empty() {
        y = references::put_shared(&shared, (m, y + 12.0, w), &mut out);
    }
    references::link(model, &homes, selected, &mut out);
    out.width = w;
    orphans(model, (m, y), 1, &mut out, &drawn);
    out.width = 0.0;
    out.finish(16.0)
}

/// With one counter more, for which there is room in the whole width of a phone.
fn with_updated(of: &Controller) -> Rc<Controller> {
    let mut of = of.clone();
    if let Some(updated) = of.updated {
        of.counters.push(Counter {
            value: crate::i18n::format::short_count(updated as u64),
            metric: Metric::Updated,
            tone: Tone::Plain,
            lags: Message::default(),
        });
    }
    of.into()
}

/// The height of a Deployment's card with its budget.
const STACKED: f64 = 164.0;

fn stack(
    group: &Group,
    (x, top, w): (f64, f64, f64),
    (parent, from): (Option<usize>, Rect),
    (total, old, ring): (usize, usize, Option<usize>),
    out: &mut Scene,
) -> f64 {
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
                *note = Message::default();
            }
            out.put(&pod.id, Rect::new(x, y, w, 48.0), body, parent, pod.state.class(), pod_label(pod));
            y += 56.0;
        }
        return y;
    }
    let (side, pitch) = if total > DENSE { (7.0, 8.0) } else { (8.0, 10.0) };
    let columns = ((w - 2.0 * PAD) / pitch) as usize;
    let head = counts_height(&group.pods, w);
    let cells = Cells { pods: group.pods.clone(), columns, side, pitch, at: (PAD, head + 6.0), old, ring };
    let h = head + group.pods.len().div_ceil(columns) as f64 * pitch + 14.0;
    let id = Id { kind: "Pods".into(), uid: format!("{}/pods", group.pods[0].id.uid), ..group.pods[0].id.clone() };
    out.put(&id, Rect::new(x, y, w, h), Body::Cells(cells), parent, "progressing", msg::summary_pods(group.pods.len()));
    y + h + 8.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::projection::model::{Endpoint, Service, Volume, counters, natural};
    use std::rc::Rc;

    fn pod(name: &str, state: PodState) -> Pod {
        Pod { id: Id::named("Pod", name), state, word: state.word(), ..Pod::default() }
    }

    fn group(set: &str, pods: usize) -> Group {
        Group {
            controller: Some(
                Controller {
                    id: Id::named("ReplicaSet", set),
                    counters: counters(2, 2, 2),
                    footer: "nginx:1.25".into(),
                    ..Controller::default()
                }
                .into(),
            ),
            pods: (0..pods).map(|i| pod(&format!("{set}-{i}"), PodState::Ready)).collect(),
        }
    }

    fn deployment(groups: Vec<Group>) -> Model {
        let controller = Controller {
            id: Id::named("Deployment", "nginx"),
            counters: counters(3, 4, 3),
            desired: 3,
            surplus: 1,
            ..Controller::default()
        };
        Model { roots: vec![Root { controller: Some(controller.into()), groups, folded: 0 }], ..Model::default() }
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
        let scene = layout(&deployment(vec![group("a", 3), group("b", 2)]), None, (800.0, 700.0));
        assert_eq!(rect(&scene, "ReplicaSet/a").cy(), rect(&scene, "Pod/a-1").cy());
        let middle = (rect(&scene, "ReplicaSet/a").cy() + rect(&scene, "ReplicaSet/b").cy()) / 2.0;
        assert_eq!(rect(&scene, "Deployment/nginx").cy(), middle);
        nothing_overlaps(&scene);
        assert!(scene.width <= 800.0, "{}", scene.width);
    }

    #[test]
    fn one_state_draws_one_picture() {
        let model = deployment(vec![group("a", 3), group("b", 9)]);
        assert_eq!(layout(&model, Some("Pod/a-1"), (800.0, 700.0)), layout(&model.clone(), Some("Pod/a-1"), (800.0, 700.0)));
    }

    #[test]
    fn pods_fold_into_tiles_then_cells_then_dense_cells() {
        let bodies = |n: usize| {
            let scene = layout(&deployment(vec![group("a", n)]), None, (800.0, 700.0));
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
        let scene = layout(&model, Some("Pod/a-1"), (800.0, 700.0));
        let line = |key: &str| scene.edges.iter().find(|edge| edge.key == key).expect("drawn").line;
        assert_eq!(line("Pod/a-0"), Line::Leaving);
        assert_eq!(line("Pod/a-1"), Line::Chosen);
        assert_eq!(line("ReplicaSet/a"), Line::Chosen);
        assert_eq!(scene.edges.last().map(|edge| edge.line), Some(Line::Chosen));
    }

    #[test]
    fn a_service_reaches_the_pods_in_its_endpoints_and_owns_nothing() {
        let mut model = deployment(vec![group("a", 3)]);
        let endpoint = |pod: &str, ready| crate::projection::model::Endpoint { pod: pod.into(), ready, ..Default::default() };
        let endpoints = vec![endpoint("a-0", true), endpoint("a-1", false)];
        model.services.push(Service { id: Id::named("Service", "nginx"), selector: "app=nginx".into(), endpoints, ..Service::default() });
        let scene = layout(&model, None, (800.0, 700.0));
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
                controller: Some(set.into()),
                groups: vec![Group { controller: None, pods: [member].into_iter().collect() }],
                folded: 0,
            }],
            claims: vec![claim("www-web-0"), claim("www-web-1")],
            volumes: vec![Volume { id: Id::named("PersistentVolume", "pv-1"), ..Volume::default() }],
            ..Model::default()
        };
        let scene = layout(&model, None, (800.0, 700.0));
        let at = |uid: &str| scene.items.iter().position(|item| item.id.uid == uid).expect("drawn");
        assert_eq!(scene.items[at("PersistentVolumeClaim/www-web-0")].parent, Some(at("Pod/web-0")));
        assert_eq!(scene.items[at("PersistentVolume/pv-1")].parent, Some(at("PersistentVolumeClaim/www-web-0")));
        assert_eq!(scene.items[at("PersistentVolumeClaim/www-web-1")].parent, None);
        nothing_overlaps(&scene);
        nothing_overlaps(&layout(&model, None, (390.0, 700.0)));
    }

    /// Trees of a Deployment and its Service each.
    fn shops(count: usize, pods: usize) -> Model {
        let mut model = Model::default();
        for i in 0..count {
            let mut root = deployment(vec![group(&format!("set{i}"), pods)]).roots.remove(0);
            let of = Rc::make_mut(root.controller.as_mut().unwrap());
            (of.id, of.labels, of.desired) = (Id::named("Deployment", &format!("shop{i}")), vec![format!("app=shop{i}")], pods);
            let endpoint =
                |pod: &Rc<Pod>| crate::projection::model::Endpoint { pod: pod.id.name.clone(), ready: true, ..Default::default() };
            let endpoints = root.groups[0].pods.iter().map(endpoint).collect();
            let id = Id::named("Service", &format!("shop{i}"));
            model.services.push(Service { id, selector: format!("app=shop{i}"), endpoints, ..Service::default() });
            model.roots.push(root);
        }
        model
    }

    #[test]
    fn a_service_stands_over_its_tree_and_its_line_crosses_no_other() {
        let scene = layout(&shops(4, 2), None, (800.0, 560.0));
        nothing_overlaps(&scene);
        for i in 0..4 {
            let (service, root) = (rect(&scene, &format!("Service/shop{i}")), rect(&scene, &format!("Deployment/shop{i}")));
            assert!(service.x == root.x && service.bottom() < root.y && root.y - service.bottom() < 60.0);
            let (from, to) = (service.y, rect(&scene, &format!("Pod/set{i}-1")).bottom());
            let own = scene.edges.iter().filter(|edge| edge.key.starts_with(&format!("Service/shop{i}")));
            for number in own.flat_map(|edge| edge.d.split('V').skip(1)) {
                let y: f64 = number.split(|c: char| c.is_alphabetic()).next().unwrap().parse().unwrap();
                assert!(from <= y && y <= to, "{y} not in {from}..{to}");
            }
        }
        assert_eq!(scene.ports.len(), 8);
    }

    #[test]
    fn trees_stand_in_columns_where_height_is_the_limit() {
        let (narrow, wide) = (layout(&shops(11, 2), None, (800.0, 560.0)), layout(&shops(11, 2), None, (1600.0, 800.0)));
        assert!(narrow.width <= 800.0 / LEAST && wide.width <= 1600.0 / LEAST);
        assert!(wide.height < narrow.height * 0.6, "{} {}", wide.height, narrow.height);
        nothing_overlaps(&wide);
    }

    #[test]
    fn a_rollout_moves_no_other_tree_while_it_goes_on() {
        let at = |old: usize, new: usize, uses: usize| {
            let mut model = shops(2, 3);
            let named = |name: &str, n: usize| Group {
                pods: (0..n).map(|i| pod(&format!("{name}-{i}"), PodState::Ready)).collect(),
                ..group(name, 0)
            };
            model.roots[0].groups = vec![named("set0", old), named("next", new)];
            model.uses = (0..uses).map(|i| used("ConfigMap", &format!("c{i}"), &["Deployment/shop0"])).collect();
            layout(&model, None, (800.0, 560.0))
        };
        for uses in [0, 4] {
            let first = at(3, 1, uses);
            for (old, new) in [(3, 1), (2, 2), (3, 2), (1, 3), (2, 3)] {
                let scene = at(old, new, uses);
                nothing_overlaps(&scene);
                let named = (0..uses).map(|i| format!("ConfigMap/c{i}"));
                // The newer revision moves up where the older one gets lower: both stay within their room.
                let others = ["Deployment/shop0", "Pod/set0-0", "Deployment/shop1", "Service/shop1"];
                for uid in others.into_iter().map(String::from).chain(named) {
                    assert_eq!(rect(&scene, &uid), rect(&first, &uid), "{uid}, {old} and {new}");
                }
                assert_eq!((scene.width, scene.height), (first.width, first.height));
            }
        }
    }

    /// A Deployment in an update: so many Pods of each revision.
    fn update(desired: usize, surge: usize, old: usize, new: usize) -> Model {
        let mut model = shops(1, desired);
        let of = Rc::make_mut(model.roots[0].controller.as_mut().unwrap());
        of.surplus = surge;
        let named =
            |name: &str, n: usize| Group { pods: (0..n).map(|i| pod(&format!("{name}-{i}"), PodState::Ready)).collect(), ..group(name, 0) };
        model.roots[0].groups = vec![named("nginx-7b7f8bfb66", old), named("nginx-75dc64fcbd", new)];
        model
    }

    #[test]
    fn an_update_has_room_for_the_pods_that_there_can_be_at_one_time_and_no_more() {
        // The stage of a page of 1440 by 900 has so much height at 100 %.
        let at = |old, new| layout(&update(4, 1, old, new), None, (760.0, 588.0));
        let first = at(4, 1);
        assert!(first.height <= 588.0 - 44.0, "{}", first.height);
        for (old, new) in [(4, 1), (3, 2), (2, 3), (1, 4), (4, 0)] {
            let scene = at(old, new);
            nothing_overlaps(&scene);
            assert_eq!((scene.height, rect(&scene, "Deployment/shop0")), (first.height, rect(&first, "Deployment/shop0")));
            let bottom = |set: &str, pods: usize| rect(&scene, &format!("Pod/nginx-{set}-{}", pods - 1)).bottom();
            if new > 0 {
                let gap = rect(&scene, "Pod/nginx-75dc64fcbd-0").y - bottom("7b7f8bfb66", old);
                assert!(gap <= 36.0 + 136.0 - 52.0, "{old} and {new}: {gap}");
            }
        }
    }

    #[test]
    fn a_low_frame_shows_both_revisions_of_an_update_without_smaller_letters() {
        for (size, most) in [((480.0, 272.0), 3), ((480.0, 232.0), 3), ((720.0, 332.0), 4), ((844.0, 250.0), 3)] {
            for desired in 1..=most {
                for (old, new) in [(desired, 1), (1, desired)] {
                    let scene = layout(&update(desired, 1, old, new), None, size);
                    nothing_overlaps(&scene);
                    assert!(scene.width <= size.0 && scene.height <= size.1, "{desired} at {size:?}: {} {}", scene.width, scene.height);
                }
            }
        }
        // More Pods fold into tiles, and their update fits as well.
        for desired in [5, 6, 8, 10, 12] {
            let scene = layout(&update(desired, desired.div_ceil(4), desired, desired.div_ceil(4)), None, (480.0, 272.0));
            nothing_overlaps(&scene);
            assert!(scene.width <= 480.0 && scene.height <= 272.0, "{desired}: {} {}", scene.width, scene.height);
        }
    }

    #[test]
    fn a_service_that_reaches_two_trees_stands_over_both() {
        let mut model = shops(2, 2);
        for root in &mut model.roots {
            Rc::make_mut(root.controller.as_mut().unwrap()).labels.push("tier=web".into());
        }
        let endpoints = model.services.iter().flat_map(|service| service.endpoints.clone()).collect();
        model.services.push(Service { id: Id::named("Service", "z"), selector: "tier=web".into(), endpoints, ..Service::default() });
        let scene = layout(&model, None, (800.0, 560.0));
        nothing_overlaps(&scene);
        assert!(rect(&scene, "Service/z").bottom() < rect(&scene, "Service/shop0").y);
        assert_eq!(scene.ports.len(), 8);
    }

    #[test]
    fn two_blocks_of_cells_have_a_stub_each() {
        let mut model = shops(1, 100);
        model.roots[0].groups.push(group("next", 60));
        // One that nothing lists has none; none of whose Pods is ready has a hollow one.
        let full = |model: &Model| layout(model, None, (800.0, 560.0)).ports.iter().map(|port| port.full).collect::<Vec<_>>();
        assert_eq!(full(&model), [true]);
        let next = model.roots[0].groups[1].pods.iter().map(|pod| Endpoint { pod: pod.id.name.clone(), ..Endpoint::default() });
        let next: Vec<Endpoint> = next.collect();
        model.services[0].endpoints.extend(next);
        crate::sort::sort_by(&mut model.services[0].endpoints, |a, b| natural(&a.pod, &b.pod));
        assert_eq!(full(&model), [true, false]);
        let scene = layout(&model, None, (800.0, 560.0));
        let blocks = scene.items.iter().filter(|item| matches!(item.body, Body::Cells(_))).map(|item| (item.rect.right(), item.rect.cy()));
        let ports: Vec<(f64, f64)> = scene.ports.iter().map(|port| (port.x, port.y)).collect();
        assert_eq!(ports, blocks.collect::<Vec<_>>());
    }

    #[test]
    fn of_many_pods_both_revisions_are_in_sight_and_the_older_one_stays_where_it_was() {
        let at = |groups: &[(&str, usize)]| {
            let mut model = shops(1, 1);
            let root = &mut model.roots[0];
            root.groups = groups.iter().map(|(set, pods)| group(set, *pods)).collect();
            Rc::make_mut(root.controller.as_mut().unwrap()).desired = 5_000;
            layout(&model, None, (800.0, 590.0))
        };
        let block = |scene: &Scene, set: &str| scene.items.iter().find(|item| item.id.kind == "Pods" && item.id.name == set).unwrap().rect;
        let (rest, update) = (at(&[("set0", 5_000)]), at(&[("set0", 3_750), ("next", 2_500)]));
        nothing_overlaps(&update);
        let (old, new) = (block(&update, "set0"), block(&update, "next"));
        assert!(old.right() < new.x && old.y == new.y, "{old:?} {new:?}");
        assert!(update.width <= 800.0 / LEAST + 1.0 && new.bottom() < (590.0 - 44.0) / LEAST + 40.0, "{} {new:?}", update.width);
        // What was there does not move, and neither does the picture grow.
        let before = block(&rest, "set0");
        assert_eq!((before.x, before.y, before.w), (old.x, old.y, old.w));
        for uid in ["Deployment/shop0", "ReplicaSet/set0", "Service/shop0"] {
            assert_eq!(rect(&rest, uid), rect(&update, uid), "{uid}");
        }
        assert_eq!((rest.width, rest.height), (update.width, update.height));
        // The two blocks take the whole width, below their root.
        let root = rect(&rest, "Deployment/shop0");
        assert!(root.bottom() < old.y && old.x == root.x && new.right() == root.right() && root.w > 700.0, "{root:?} {old:?} {new:?}");
        // Of three, the newest two stand in the first row.
        let three = at(&[("set0", 2_000), ("next", 1_000), ("last", 2_000)]);
        nothing_overlaps(&three);
        assert!(block(&three, "last").y == block(&three, "next").y && block(&three, "set0").y > block(&three, "last").y);
    }

    fn used(kind: &str, name: &str, users: &[&str]) -> Used {
        let named = |user: &str| user.split_once('/').map_or_else(Id::default, |(kind, name)| Id::named(kind, name));
        Used {
            id: Id::named(kind, name),
            what_for: vec!["env".into()],
            users: users.iter().map(|user| named(user)).collect(),
            missing: false,
        }
    }

    #[test]
    fn cards_are_narrower_before_letters_are_smaller() {
        for width in [656.0, 700.0, 800.0, 1200.0] {
            for trees in [1, 2, 5] {
                let scene = layout(&shops(trees, 3), None, (width, 460.0));
                nothing_overlaps(&scene);
                assert!(scene.width <= width, "{trees} at {width}: {}", scene.width);
            }
        }
    }

    #[test]
    fn what_a_tree_names_stands_below_its_root_and_what_several_name_below_all() {
        for size in [(800.0, 560.0), (1600.0, 800.0), (390.0, 700.0)] {
            for pods in [1, 5, 30] {
                let mut model = shops(2, pods);
                model.uses = vec![
                    used("ConfigMap", "own", &["Deployment/shop1"]),
                    used("Secret", "both", &["Deployment/shop0", "Deployment/shop1"]),
                    used("ServiceAccount", "robot", &["Deployment/shop1"]),
                ];
                let scene = layout(&model, None, size);
                nothing_overlaps(&scene);
                let at = |uid: &str| scene.items.iter().position(|item| item.id.uid == uid).expect("drawn");
                assert_eq!(scene.items[at("ConfigMap/own")].parent, Some(at("Deployment/shop1")));
                assert_eq!(scene.items[at("Secret/both")].parent, None);
                let (root, own, robot) =
                    (rect(&scene, "Deployment/shop1"), rect(&scene, "ConfigMap/own"), rect(&scene, "ServiceAccount/robot"));
                assert!(own.y > root.bottom() && own.x == root.x && robot.y > own.bottom());
                let lowest = scene.items.iter().map(|item| item.rect.bottom()).fold(0.0, f64::max);
                assert_eq!(rect(&scene, "Secret/both").bottom(), lowest);
                let lines = |scene: &Scene| -> Vec<String> {
                    scene.edges.iter().filter(|edge| edge.line == Line::Uses).map(|edge| edge.key.clone()).collect()
                };
                let own = ["Deployment/shop1>ConfigMap/own", "Deployment/shop1>ServiceAccount/robot"];
                assert_eq!(lines(&scene), own);
                // What several name has its lines while one of them is looked at, and says meanwhile how many they are.
                let looked = layout(&model, Some("Deployment/shop0"), size);
                assert_eq!(lines(&looked), [own[0], "Deployment/shop0>Secret/both", "Deployment/shop1>Secret/both", own[1]]);
                let Body::Stored { fact, .. } = &scene.items[at("Secret/both")].body else { panic!("its card") };
                assert_eq!(fact, "env · 2 users");
            }
        }
    }

    #[test]
    fn pods_without_an_owner_have_lines_to_what_they_name_and_what_is_missing_is_dashed() {
        let mut model = Model {
            roots: vec![Root { controller: None, groups: vec![Group { controller: None, pods: group("a", 3).pods }], folded: 0 }],
            uses: vec![used("ConfigMap", "own", &["Pod/a-0", "Pod/a-2"]), used("Secret", "none", &["Pod/a-1"])],
            ..Model::default()
        };
        model.uses[1].missing = true;
        for size in [(800.0, 560.0), (390.0, 700.0)] {
            let scene = layout(&model, Some("ConfigMap/own"), size);
            nothing_overlaps(&scene);
            let lines: Vec<(&str, Line)> =
                scene.edges.iter().filter(|edge| edge.key.contains('>')).map(|edge| (edge.key.as_str(), edge.line)).collect();
            assert_eq!(
                lines,
                [("Pod/a-1>Secret/none", Line::Waits), ("Pod/a-0>ConfigMap/own", Line::Chosen), ("Pod/a-2>ConfigMap/own", Line::Chosen)]
            );
            assert!(scene.items.iter().any(|item| item.label == "Secret none, not found, used by Pod a-1"));
        }
    }

    /// The corners of a path of straight lines with round corners.
    fn corners(d: &str) -> Vec<(f64, f64)> {
        let spaced: String = d.chars().map(|c| if c.is_alphabetic() { format!(" {c} ") } else { c.to_string() }).collect();
        let mut words = spaced.split_whitespace();
        let (mut at, mut out) = ((0.0, 0.0), Vec::new());
        while let Some(verb) = words.next() {
            let mut number = || words.next().and_then(|word| word.parse::<f64>().ok()).expect("a number");
            at = match verb {
                "H" => (number(), at.1),
                "V" => (at.0, number()),
                "Q" => {
                    let _ = (number(), number());
                    (number(), number())
                }
                _ => (number(), number()),
            };
            out.push(at);
        }
        out
    }

    fn lines_cross_no_card(scene: &Scene) {
        for edge in scene.edges.iter().filter(|edge| edge.key.contains(">ConfigMap/")) {
            let ends: Vec<&str> = edge.key.split('>').collect();
            for pair in corners(&edge.d).windows(2) {
                let ((x1, y1), (x2, y2)) = (pair[0], pair[1]);
                assert!(x1 >= 0.0 && x2 >= 0.0, "{}: {}", edge.key, edge.d);
                for item in scene.items.iter().filter(|item| !ends.contains(&item.id.uid.as_str())) {
                    let r = item.rect;
                    let across = x1.max(x2) > r.x + 0.5 && x1.min(x2) < r.right() - 0.5;
                    assert!(!across || y1.max(y2) <= r.y + 0.5 || y1.min(y2) >= r.bottom() - 0.5, "{} through {}", edge.key, item.id.uid);
                }
            }
        }
    }

    #[test]
    fn lines_to_what_is_named_lead_past_all_other_cards() {
        let of = |trees: usize| (0..trees).map(|i| format!("Deployment/shop{i}")).collect::<Vec<_>>();
        for (trees, pods, own, shared) in [(1, 3, 40, 0), (2, 30, 7, 3), (4, 3, 2, 8), (10, 3, 0, 30), (11, 2, 1, 9)] {
            for size in [(1600.0, 900.0), (900.0, 600.0), (640.0, 500.0), (390.0, 700.0), (320.0, 600.0)] {
                let mut model = shops(trees, pods);
                let all = of(trees);
                let all: Vec<&str> = all.iter().map(String::as_str).collect();
                model.uses = (0..own).map(|i| used("ConfigMap", &format!("own{i}"), &all[..1])).collect();
                model.uses.extend((0..shared).map(|i| used("ConfigMap", &format!("shared{i}"), &all)));
                model.uses.iter_mut().take(1).for_each(|one| one.missing = true);
                let scene = layout(&model, None, size);
                nothing_overlaps(&scene);
                lines_cross_no_card(&scene);
                let first = &model.uses[0].id.uid;
                assert!(
                    scene.edges.iter().any(|edge| edge.line == Line::Waits && edge.key.ends_with(first)),
                    "what is missing has its card"
                );
                let cards = scene.items.iter().filter(|item| matches!(item.body, Body::Stored { .. })).count();
                let more: usize = scene
                    .items
                    .iter()
                    .filter_map(|item| match &item.body {
                        Body::Note(text) => text.strip_prefix('+')?.split(' ').next()?.parse::<usize>().ok(),
                        _ => None,
                    })
                    .sum();
                assert_eq!(cards + more, own + shared, "{trees} {pods} {size:?}");
            }
        }
    }

    #[test]
    fn many_pods_without_an_owner_have_one_line_together() {
        for pods in [3, 12, 60, 300] {
            let users: Vec<String> = (0..pods).map(|i| format!("Pod/a-{i}")).collect();
            let users: Vec<&str> = users.iter().map(String::as_str).collect();
            let mut model = shops(1, 2);
            model.roots.push(Root { controller: None, groups: vec![Group { controller: None, pods: group("a", pods).pods }], folded: 0 });
            model.uses = vec![used("ConfigMap", "one", &users), used("ConfigMap", "two", &users[..2])];
            for size in [(1600.0, 900.0), (900.0, 600.0), (390.0, 700.0)] {
                let scene = layout(&model, None, size);
                nothing_overlaps(&scene);
                lines_cross_no_card(&scene);
                let lines = scene.edges.iter().filter(|edge| edge.line == Line::Uses).count();
                assert_eq!(lines, if pods <= 6 { 3 + 2 } else { 2 }, "{pods} {size:?}");
            }
        }
    }

    #[test]
    fn a_phone_gets_a_stack_that_fits_its_width() {
        let scene = layout(&deployment(vec![group("a", 3), group("b", 40)]), None, (390.0, 700.0));
        nothing_overlaps(&scene);
        assert!(scene.width <= 390.0, "{}", scene.width);
    }
}
