//! Overview of many workloads: a chip with its Pods for each, in rows below the heading of their group, and the whole tree of the selected
//! one above them. As trees, most of them would be out of view.

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

/// Minimum number of roots, and height of their trees in stages, above which an overview is drawn.
const MIN_ROOTS: usize = 16;
const MAX_STAGES: f64 = 2.2;
/// Approximate size of a small tree.
const TREE: (f64, f64) = (760.0, 150.0);
/// Number of Pods above which a workload is a tree.
const MAX_PODS: usize = 92;
/// Number of pairs of workloads and Services above which none is compared.
const MAX_PAIRS: usize = 40_000;
/// Size of a chip, and the gaps between chips.
const CHIP: (f64, f64) = (184.0, 40.0);
const GAP: (f64, f64) = (16.0, 14.0);

/// Returns true if the trees of a model would be too many to be seen together.
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

/// Draws the tree of the selected workload above the chips of all others; returns its bottom.
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
    // Claims stand beside the Pods of a tree only; those of the other workloads still have a Pod.
    claims.extend(
        claims_of_trees(frame.model, frame.model.roots.iter()).map(|claim| claim.id.uid.clone()),
    );
    bottom.unwrap_or(top)
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

/// Chip, and the input from which it was drawn.
struct DrawnChip {
    /// Index of its first item in the scene, the heading above it, and its corner.
    place: (usize, usize, (f64, f64)),
    controller: Option<Rc<ControllerCard>>,
    groups: Vec<Group>,
    service: Option<Rc<Service>>,
    items: Vec<Rc<Item>>,
    height: f64,
}

impl DrawnChip {
    /// Returns true if a workload would be drawn like this chip.
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

/// Draws the workloads of a group as chips below its heading, except the selected one, whose tree is drawn; returns their bottom.
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

/// Returns the Service that selects a workload, whose name its chip shows: there is no room for more. Very many pairs are not compared.
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
            let label = msg::controller_label(of.caption.words(&of.id.kind), &of.id.name, all);
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
