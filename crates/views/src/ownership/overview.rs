//! Many workloads at once: a chip with its Pods for each, in rows below the heading of their group, and the whole tree of the selected
//! one above them. As trees, most of them would be out of sight.

use super::cards::{chosen, claims_of_trees};
use super::measures::{Frame, LEAST};
use super::tree::OwnershipTree;
use crate::bodies::numbers;
use crate::grouping::WorkloadGroup;
use crate::shape::{CardBody, Cells, Item, Rect, Scene};
use i18n::{Message, dotted, msg};
use projection::model::{
    ControllerCard, Group, Id, Metric, Model, PodBlock, PodState, Root, Service,
};
use sim_core::deferred_drop;
use std::collections::BTreeSet;
use std::rc::Rc;

/// From so many roots on an overview is drawn where their trees would be higher than this many stages.
const MIN_ROOTS: usize = 16;
const MAX_STAGES: f64 = 2.2;
/// About the room that a small tree takes.
const TREE: (f64, f64) = (760.0, 150.0);
/// A workload with more Pods is a tree, wherever it stands.
const MAX_PODS: usize = 92;
/// Of more pairs of workloads and Services none is compared.
const MAX_PAIRS: usize = 40_000;
/// A chip, and the gaps between chips.
const CHIP: (f64, f64) = (184.0, 40.0);
const GAP: (f64, f64) = (16.0, 14.0);

/// Whether the trees of a model would be too many to be seen together.
pub(super) fn is_wanted(model: &Model, (width, height): (f64, f64)) -> bool {
    let beside = (width / TREE.0).floor().max(1.0);
    model.roots.len() >= MIN_ROOTS
        && model.roots.len() as f64 * TREE.1 / beside > MAX_STAGES * height
        && model
            .roots
            .iter()
            .flat_map(|root| &root.groups)
            .all(|group| group.pods.len() <= MAX_PODS)
}

/// Draws the tree of the selected workload, which stands above the chips of all others; where it ends.
pub(super) fn put_selected(
    frame: &Frame<'_>,
    root: Option<&Root>,
    (left, top): (f64, f64),
    out: &mut Scene,
    claims: &mut BTreeSet<String>,
) -> f64 {
    let bottom = root.map(|root| {
        let mut tree = OwnershipTree::new(frame, root);
        tree.measure(frame);
        tree.put(frame, (left, top), out, claims, &mut Vec::new()) + frame.measures.apart
    });
    // Claims stand beside the Pods of a tree alone; those of the others are not without a Pod.
    claims.extend(
        claims_of_trees(frame.model, frame.model.roots.iter()).map(|claim| claim.id.uid.clone()),
    );
    bottom.unwrap_or(top)
}

/// The chips of the picture before: of thousands of workloads most are as they were. Where too many are not, the picture is laid out
/// several times, with some more of its own chips each time.
#[derive(Default)]
pub struct ChipMemory {
    chips: Vec<DrawnChip>,
    /// Those that stand for others now.
    replaced: Vec<DrawnChip>,
    /// How many have a place in the picture that is laid out.
    placed: usize,
    /// How many more may be drawn anew, if not all.
    left: Option<usize>,
    /// Whether one more would have been.
    is_cut: bool,
}

/// A chip, and what it was drawn from.
struct DrawnChip {
    /// Its first item in the scene, the heading above it, and its corner.
    place: (usize, usize, (f64, f64)),
    controller: Option<Rc<ControllerCard>>,
    groups: Vec<Group>,
    service: Option<Rc<Service>>,
    items: Vec<Rc<Item>>,
    height: f64,
}

impl DrawnChip {
    /// Whether a workload would be drawn as this one was.
    fn fits(
        &self,
        root: &Root,
        service: Option<&Rc<Service>>,
        place: (usize, usize, (f64, f64)),
    ) -> bool {
        let same = |a: &Option<Rc<ControllerCard>>, b: &Option<Rc<ControllerCard>>| {
            a.as_ref().map(Rc::as_ptr) == b.as_ref().map(Rc::as_ptr)
        };
        let alike = |(a, b): (&Group, &Group)| {
            same(&a.controller, &b.controller) && a.pods.is_same(&b.pods)
        };
        self.place == place
            && same(&self.controller, &root.controller)
            && self.service.as_ref().map(|service| &service.id.name)
                == service.map(|service| &service.id.name)
            && self.groups.len() == root.groups.len()
            && self.groups.iter().zip(&root.groups).all(alike)
    }
}

impl ChipMemory {
    /// Begins a picture of which so many chips may be drawn anew, or all.
    pub fn begin(&mut self, most: Option<usize>) {
        (self.placed, self.left, self.is_cut) = (0, most, false);
    }

    /// Ends it: whether all of its chips are drawn. If not, it has to be laid out again.
    pub fn end(&mut self) -> bool {
        if !self.is_cut {
            self.replaced.extend(self.chips.drain(self.placed..));
        }
        deferred_drop::drop_later(std::mem::take(&mut self.replaced));
        !self.is_cut
    }

    /// Draws a chip, or takes the one before; the height that it takes.
    fn put(
        &mut self,
        frame: &Frame<'_>,
        root: &Root,
        heading: usize,
        at: (f64, f64),
        out: &mut Scene,
    ) -> f64 {
        let first = out.items.len();
        let (place, service) = ((first, heading, at), selecting(frame.model, root));
        if let Some(known) = self
            .chips
            .get(self.placed)
            .filter(|known| known.fits(root, service, place))
        {
            self.placed += 1;
            out.items.extend(known.items.iter().cloned());
            return known.height;
        }
        self.is_cut |= self.left == Some(0);
        if self.is_cut {
            return 0.0;
        }
        self.left = self.left.map(|left| left - 1);
        let height = chip(frame, root, service, heading, at, out);
        let (controller, groups, items) = (
            root.controller.clone(),
            root.groups.clone(),
            out.items[first..].to_vec(),
        );
        let drawn = DrawnChip {
            place,
            controller,
            groups,
            service: service.cloned(),
            items,
            height,
        };
        match self.chips.get_mut(self.placed) {
            Some(before) => self.replaced.push(std::mem::replace(before, drawn)),
            None => self.chips.push(drawn),
        }
        self.placed += 1;
        height
    }
}

/// Draws the workloads of a group as chips below its heading, but the selected one, whose tree is drawn; where they end.
pub(super) fn put_chips(
    frame: &Frame<'_>,
    (group, heading, selected): (&WorkloadGroup, usize, Option<usize>),
    (left, top): (f64, f64),
    out: &mut Scene,
    memory: &mut ChipMemory,
) -> f64 {
    let across = (((frame.width / LEAST + GAP.0) / (CHIP.0 + GAP.0)) as usize).max(1);
    let others = group.roots.iter().filter(|at| Some(**at) != selected);
    let chips: Vec<&Root> = others.map(|at| &frame.model.roots[*at]).collect();
    let mut y = top;
    for row in chips.chunks(across) {
        let mut high = 0.0f64;
        for (i, root) in row.iter().enumerate() {
            high = high.max(memory.put(
                frame,
                root,
                heading,
                (left + i as f64 * (CHIP.0 + GAP.0), y),
                out,
            ));
        }
        y += high + GAP.1;
    }
    y
}

/// What selects a workload, which its chip names: its card has no room for more. Of very many no pairs are compared.
fn selecting<'a>(model: &'a Model, root: &Root) -> Option<&'a Rc<Service>> {
    let of = root
        .controller
        .as_deref()
        .filter(|_| model.roots.len() * model.services.len() <= MAX_PAIRS)?;
    model
        .services
        .iter()
        .find(|service| service.asks_for(&of.id, &of.labels))
}

/// Whether a workload has all its Pods, of those that it wants.
pub(super) fn is_ready(of: &ControllerCard) -> bool {
    let value = |metric: Metric| {
        of.counters
            .iter()
            .find(|counter| counter.metric == metric)
            .map(|counter| &counter.value)
    };
    value(Metric::Desired) == value(Metric::Ready)
}

/// The place of the tree that the selected object is a part of.
pub(super) fn selected_root(frame: &Frame<'_>) -> Option<usize> {
    let is = |of: &ControllerCard| chosen(frame.selected, &of.id);
    let group = |of: &Group| {
        of.controller.as_deref().is_some_and(is)
            || of.pods.iter().any(|pod| chosen(frame.selected, &pod.id))
    };
    let holds =
        |root: &Root| root.controller.as_deref().is_some_and(is) || root.groups.iter().any(group);
    frame
        .selected
        .and_then(|_| frame.model.roots.iter().position(holds))
}

/// A workload and its Pods; the height that they take.
fn chip(
    frame: &Frame<'_>,
    root: &Root,
    service: Option<&Rc<Service>>,
    heading: usize,
    (x, y): (f64, f64),
    out: &mut Scene,
) -> f64 {
    let rect = Rect::new(x, y, CHIP.0, CHIP.1);
    let owner = root.controller.as_deref();
    let parent = match owner {
        Some(of) => {
            let all = numbers(of);
            let value = |metric: Metric| {
                of.counters
                    .iter()
                    .find(|counter| counter.metric == metric)
                    .map(|counter| counter.value.as_str())
            };
            let ready = value(Metric::Ready).map_or_else(Message::default, |ready| {
                msg::overview_ready(ready, value(Metric::Desired).unwrap_or("0"))
            });
            let fact = dotted(vec![
                ready,
                service.map_or_else(Message::default, |service| {
                    msg::kind_name("Service", &service.id.name)
                }),
            ]);
            let state = if of.leaving {
                "terminating"
            } else if is_ready(of) {
                "settled"
            } else {
                "progressing"
            };
            let label = msg::controller_label(&of.caption, &of.id.name, all);
            out.put(
                &of.id,
                rect,
                CardBody::Stored {
                    fact,
                    missing: false,
                },
                Some(heading),
                state,
                label,
            )
        }
        None => {
            let id = Id {
                uid: "bare".into(),
                ..Id::default()
            };
            out.put(
                &id,
                rect,
                CardBody::Note(msg::summary_bare(root.pods())),
                Some(heading),
                "",
                msg::summary_bare(root.pods()),
            )
        }
    };
    let (mut at, mut bottom) = (x, rect.bottom());
    for group in root.groups.iter().filter(|group| !group.pods.is_empty()) {
        let own = group.controller.as_deref().or(owner);
        let (side, pitch) = if root.pods() <= 24 {
            (12.0, 15.0)
        } else {
            (6.0, 8.0)
        };
        let free = (((x + CHIP.0 - at) / pitch) as usize).max(1);
        let columns = free.min(group.pods.len());
        let rows = group.pods.len().div_ceil(columns);
        let pods: PodBlock = group.pods.clone();
        let ring = frame.model.place(group, frame.selected);
        let counted = |(state, n): &(PodState, usize)| msg::pods_in_state(n, pods.word(*state));
        let label = msg::pods_label(
            pods.len(),
            pods.counts().iter().map(counted).collect::<Vec<_>>(),
        );
        let uid = format!("{}/pods", own.map_or("bare", |of| &of.id.uid));
        let namespace = pods
            .first()
            .map(|pod| pod.id.namespace.clone())
            .unwrap_or_default();
        let id = Id {
            kind: "Pods".into(),
            namespace,
            name: own.map(|of| of.id.name.clone()).unwrap_or_default(),
            uid,
        };
        let rect = Rect::new(
            at,
            rect.bottom() + 5.0,
            columns as f64 * pitch,
            rows as f64 * pitch,
        );
        let state = if matches!(pods.counts()[..], [(PodState::Ready, _)]) {
            "ready"
        } else {
            "progressing"
        };
        let cells = Cells {
            pods,
            columns,
            side,
            pitch,
            at: (0.0, 0.0),
            old: root.older(group),
            ring,
        };
        out.put(
            &id,
            rect,
            CardBody::Cells(cells),
            Some(parent),
            state,
            label,
        );
        (at, bottom) = (rect.right() + 4.0, bottom.max(rect.bottom()));
    }
    bottom.max(rect.bottom() + 20.0) - y
}
