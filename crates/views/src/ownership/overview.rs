//! Overview of many workloads: a chip with its Pods for each, in rows below the heading of their group, and the whole tree of the selected
//! one above them. As trees, most of them would be out of view.

use super::cards::chosen;
use super::groups::HEADING;
use super::measures::{Frame, LEAST};
use super::rows::TreeRow;
use crate::bodies::numbers;
use crate::grouping::WorkloadGroup;
use crate::references::TreeIndex;
use crate::shape::{CardBody, Cells, Item, Rect, Scene};
use i18n::{Message, msg};
use projection::adapt::MANY_WORKLOADS;
use projection::model::{ControllerCard, Group, Id, Metric, Model, PodBlock, PodState, Root};
use sim_core::deferred_drop;
use std::rc::Rc;

/// Height of the trees, in stages, above which an overview is drawn.
const MAX_STAGES: f64 = 1.4;
/// Approximate size of a small tree, and its height in one column.
const TREE: (f64, f64) = (760.0, 150.0);
const STACKED_TREE: f64 = 230.0;
/// Height of a Service above a tree, and of an object that it uses below it.
const ROW: f64 = 56.0;
/// Maximum number of rows of objects without a workload.
const MAX_LOOSE: usize = 12;
/// Number of Pods above which a workload is a tree.
const MAX_PODS: usize = 92;
/// Number of pairs of workloads and Services above which none is compared.
pub(super) const MAX_PAIRS: usize = 40_000;
/// Minimum width of a chip, on a stage and in one column, and its height; and the gaps between chips.
const CHIP: (f64, f64) = (184.0, 40.0);
const STACKED_CHIP: f64 = 150.0;
pub(super) const GAP: (f64, f64) = (16.0, 14.0);
/// Height of a row of chips with a row of cells each.
const CHIP_ROW: f64 = 74.0;
/// Height reserved for the tree of the selected workload: which form is drawn does not depend on what is selected.
pub(super) const SELECTED: f64 = 200.0;

/// Returns true if the trees of a model would be too many to be seen together.
pub(super) fn is_wanted(model: &Model, (width, height): (f64, f64), stacked: bool) -> bool {
    let (tree, beside) = if stacked {
        (STACKED_TREE, 1.0)
    } else {
        (TREE.1, (width / TREE.0).floor().max(1.0))
    };
    let rows = model.services.len() + model.policies.len() + model.uses.len();
    let high = model.roots.len() as f64 * tree + rows as f64 * ROW;
    model.roots.len() >= MANY_WORKLOADS
        && high / beside > MAX_STAGES * height
        && model
            .roots
            .iter()
            .flat_map(|root| &root.groups)
            .all(|group| group.pods.len() <= MAX_PODS)
}

/// Draws the Services and policies that belong to no workload; returns their bottom.
pub(super) fn put_loose(frame: &Frame<'_>, (left, top): (f64, f64), out: &mut Scene) -> f64 {
    let model = frame.model;
    if model.roots.len() * model.services.len() > MAX_PAIRS {
        return top;
    }
    let services = model
        .services
        .iter()
        .filter(|service| service.reached(&model.roots).is_empty());
    let trees = TreeIndex::of(model);
    let policies = model
        .policies
        .iter()
        .filter(|policy| trees.root(&policy.target).is_none());
    let rows = services
        .map(|service| TreeRow::Service(service.as_ref()))
        .chain(policies.map(TreeRow::Policy));
    let mut y = top;
    for row in rows.take(MAX_LOOSE) {
        row.put(frame.measures, &[], (left, y), left + frame.width, out);
        y += frame.measures.row;
    }
    y
}

/// Columns of equal width.
#[derive(Clone, Copy)]
pub(super) struct ChipColumns {
    pub(super) across: usize,
    pub(super) width: f64,
}

impl ChipColumns {
    /// Fills a width with columns of at least this width.
    pub(super) fn filling(width: f64, least: f64) -> ChipColumns {
        let across = (((width + GAP.0) / (least + GAP.0)) as usize).max(1);
        ChipColumns {
            across,
            width: ((width + GAP.0) / across as f64 - GAP.0).floor(),
        }
    }

    /// Returns the columns of chips; on a stage that they do not fit at full size, those of the smallest.
    pub(super) fn of_chips(
        frame: &Frame<'_>,
        groups: &[WorkloadGroup],
        height: f64,
    ) -> ChipColumns {
        if frame.stacked {
            return ChipColumns::filling(frame.width, STACKED_CHIP);
        }
        let full = ChipColumns::filling(frame.width, CHIP.0);
        let rows = groups
            .iter()
            .map(|group| group.roots.len().div_ceil(full.across) as f64 * CHIP_ROW + HEADING);
        if rows.sum::<f64>() + SELECTED <= height {
            full
        } else {
            ChipColumns::filling(frame.width / LEAST, CHIP.0)
        }
    }
}

/// Chips of the previous picture: of thousands of workloads most are unchanged. If too many have changed, the picture is laid out several
/// times, with some more of its own chips each time.
#[derive(Default)]
pub struct ChipMemory {
    chips: Vec<DrawnChip>,
    /// Chips replaced by others.
    replaced: Vec<DrawnChip>,
    /// Number of chips placed in the current picture.
    placed: usize,
    /// Number of chips that may still be redrawn; `None` for no limit.
    left: Option<usize>,
    /// True if the limit was exceeded.
    is_cut: bool,
}

/// Place of a chip: index of its first item in the scene, the heading above it, its corner and its width.
#[derive(Clone, Copy, PartialEq)]
struct ChipPlace {
    first: usize,
    heading: usize,
    at: (f64, f64),
    width: f64,
}

/// Chip, and the input from which it was drawn.
struct DrawnChip {
    place: ChipPlace,
    controller: Option<Rc<ControllerCard>>,
    groups: Vec<Group>,
    items: Vec<Rc<Item>>,
    height: f64,
}

impl DrawnChip {
    /// Returns true if a workload would be drawn like this chip.
    fn fits(&self, root: &Root, place: ChipPlace) -> bool {
        let same = |a: &Option<Rc<ControllerCard>>, b: &Option<Rc<ControllerCard>>| {
            a.as_ref().map(Rc::as_ptr) == b.as_ref().map(Rc::as_ptr)
        };
        let alike = |(a, b): (&Group, &Group)| {
            same(&a.controller, &b.controller) && a.pods.is_same(&b.pods)
        };
        self.place == place
            && same(&self.controller, &root.controller)
            && self.groups.len() == root.groups.len()
            && self.groups.iter().zip(&root.groups).all(alike)
    }
}

impl ChipMemory {
    /// Starts a picture in which at most `most` chips may be redrawn, or all.
    pub fn begin(&mut self, most: Option<usize>) {
        (self.placed, self.left, self.is_cut) = (0, most, false);
    }

    /// Ends the picture: returns true if all of its chips are drawn. Otherwise it has to be laid out again.
    pub fn end(&mut self) -> bool {
        if !self.is_cut {
            self.replaced.extend(self.chips.drain(self.placed..));
        }
        deferred_drop::drop_later(std::mem::take(&mut self.replaced));
        !self.is_cut
    }

    /// Draws a chip, or reuses the previous one; returns its height.
    fn put(&mut self, frame: &Frame<'_>, root: &Root, place: ChipPlace, out: &mut Scene) -> f64 {
        let first = place.first;
        if let Some(known) = self
            .chips
            .get(self.placed)
            .filter(|known| known.fits(root, place))
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
        let height = chip(frame, root, place, out);
        let (controller, groups, items) = (
            root.controller.clone(),
            root.groups.clone(),
            out.items[first..].to_vec(),
        );
        let drawn = DrawnChip {
            place,
            controller,
            groups,
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

/// Draws the workloads of a group as chips below its heading, except the selected one, whose tree is drawn; returns their bottom.
pub(super) fn put_chips(
    frame: &Frame<'_>,
    (group, heading, selected): (&WorkloadGroup, usize, Option<usize>),
    ChipColumns { across, width }: ChipColumns,
    (left, top): (f64, f64),
    out: &mut Scene,
    memory: &mut ChipMemory,
) -> f64 {
    let others = group.roots.iter().filter(|at| Some(**at) != selected);
    let chips: Vec<&Root> = others.map(|at| &frame.model.roots[*at]).collect();
    let mut y = top;
    for row in chips.chunks(across) {
        let mut high = 0.0f64;
        for (i, root) in row.iter().enumerate() {
            let place = ChipPlace {
                first: out.items.len(),
                heading,
                at: (left + i as f64 * (width + GAP.0), y),
                width,
            };
            high = high.max(memory.put(frame, root, place, out));
        }
        y += high + GAP.1;
    }
    y
}

/// Returns true if a workload has all its desired Pods.
pub(super) fn is_ready(of: &ControllerCard) -> bool {
    let value = |metric: Metric| {
        of.counters
            .iter()
            .find(|counter| counter.metric == metric)
            .map(|counter| &counter.value)
    };
    value(Metric::Desired) == value(Metric::Ready)
}

/// Returns the index of the tree to which the selected object belongs.
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

/// Draws a workload and its Pods; returns their height.
fn chip(frame: &Frame<'_>, root: &Root, place: ChipPlace, out: &mut Scene) -> f64 {
    let ChipPlace {
        heading,
        at: (x, y),
        width,
        ..
    } = place;
    let rect = Rect::new(x, y, width, CHIP.1);
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
            let state = if of.leaving {
                "terminating"
            } else if is_ready(of) {
                "settled"
            } else {
                "progressing"
            };
            let label = msg::controller_label(of.caption.words(&of.id.kind), &of.id.name, all);
            out.put(
                &of.id,
                rect,
                CardBody::Stored {
                    fact: ready,
                    missing: false,
                },
                Some(heading),
                state,
                label,
            )
        }
        None => out.put(
            &bare_id(),
            rect,
            CardBody::Note(msg::summary_bare(root.pods())),
            Some(heading),
            "",
            msg::summary_bare(root.pods()),
        ),
    };
    let (mut at, mut bottom) = (x, rect.bottom());
    for group in root.groups.iter().filter(|group| !group.pods.is_empty()) {
        let place = ((at, rect.bottom() + 5.0), x + width - at);
        let cells = pod_cells(frame, root, group, place, parent, out);
        (at, bottom) = (cells.right() + 4.0, bottom.max(cells.bottom()));
    }
    bottom.max(rect.bottom() + 20.0) - y
}

/// Id of the Pods without an owner.
pub(super) fn bare_id() -> Id {
    Id {
        uid: "bare".into(),
        ..Id::default()
    }
}

/// Side and distance of the cells of a workload's Pods.
pub(super) fn cell_size(root: &Root) -> (f64, f64) {
    if root.pods() <= 24 {
        (12.0, 15.0)
    } else {
        (6.0, 8.0)
    }
}

/// Number of cells of a workload's Pods in a row of this width.
pub(super) fn cells_across(root: &Root, width: f64) -> usize {
    ((width / cell_size(root).1) as usize).max(1)
}

/// Draws the Pods of a group as cells within a width; returns their rectangle.
pub(super) fn pod_cells(
    frame: &Frame<'_>,
    root: &Root,
    group: &Group,
    ((x, y), width): ((f64, f64), f64),
    parent: usize,
    out: &mut Scene,
) -> Rect {
    let own = group.controller.as_deref().or(root.controller.as_deref());
    let (side, pitch) = cell_size(root);
    let columns = cells_across(root, width).min(group.pods.len());
    let rows = group.pods.len().div_ceil(columns);
    let pods: PodBlock = group.pods.clone();
    let ring = frame.model.place(group, frame.selected);
    let counted = |(state, n): &(PodState, usize)| msg::pods_in_state(n, pods.word(*state));
    let label = msg::pods_label(
        pods.len(),
        pods.counts().iter().map(counted).collect::<Vec<_>>(),
    );
    let id = Id {
        kind: "Pods".into(),
        namespace: pods
            .first()
            .map(|pod| pod.id.namespace.clone())
            .unwrap_or_default(),
        name: own.map(|of| of.id.name.clone()).unwrap_or_default(),
        uid: format!("{}/pods", own.map_or("bare", |of| &of.id.uid)),
    };
    let rect = Rect::new(x, y, columns as f64 * pitch, rows as f64 * pitch);
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
    rect
}
