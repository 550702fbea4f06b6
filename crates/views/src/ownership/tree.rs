//! Tree of one root with its sets and Pods.

use super::cards::{card_height, chosen, line, pod_line, put_controller, storage_of};
use super::leaves::{Leaves, counts_height, leaves, leaves_height};
use super::measures::{
    APART_BLOCKS, BELOW_ROOT, BESIDE, BRIEF, CLAIMS, DENSE, FLAT_CLAIMS, FLAT_PLAIN, Frame, HIGH,
    HUGE, LIFTED, Measures, OVER, PAD, PLAIN, TreeColumns,
};
use super::rows::{End, TreeRow};
use crate::bodies::{pod_body, pod_label};
use crate::grouping::FOLD;
use crate::references;
use crate::shape::{
    CardBody, Cells, Label, LabelGround, LabelRole, Line, Look, Rect, Scene, drop, elbow,
};
use i18n::{Message, msg};
use projection::adapt::fold_of;
use projection::model::{ControllerCard, Group, Id, PodBlock, PodState, Root, Used};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Root with the objects that select or scale it alone.
pub(super) struct OwnershipTree<'a> {
    pub(super) root: &'a Root,
    pub(super) measures: &'static Measures,
    pub(super) columns: &'static TreeColumns,
    pub(super) rows: Vec<TreeRow<'a>>,
    /// Objects used by it alone.
    pub(super) uses: Vec<&'a Used>,
    /// Layout of each group: form of its Pods, their height and that of the group.
    pub(super) slots: Vec<(Leaves, f64, f64)>,
    /// Right end of the Pods, and of everything.
    pub(super) ends: (f64, f64),
    /// Height of the desired Pods.
    pub(super) least: f64,
    /// During an update: the room of its revisions together, the position of the root in it, and the distance of the first Pod from the top
    /// of its group, as before the update.
    pub(super) update: Option<(f64, f64, f64)>,
    /// True if blocks of many Pods stand side by side.
    pub(super) beside: bool,
}

impl<'a> OwnershipTree<'a> {
    pub(super) fn new(frame: &Frame, root: &'a Root) -> OwnershipTree<'a> {
        let of = |kind: &str| {
            root.controller
                .as_ref()
                .is_some_and(|of| of.id.kind == kind)
        };
        let sets = of("Deployment") || of("CronJob");
        let measures = frame.measures;
        let all: &'static [TreeColumns] = match (root.mounts(), measures.low) {
            (false, false) => &PLAIN,
            (true, false) => &CLAIMS,
            (false, true) => &FLAT_PLAIN,
            (true, true) => &FLAT_CLAIMS,
        };
        let fits = |columns: &&TreeColumns| columns.width(sets, measures.rail) <= frame.width;
        let columns = all.iter().find(fits).unwrap_or(&all[all.len() - 1]);
        let beside = OwnershipTree::largest(root) > BESIDE
            && root
                .controller
                .as_ref()
                .is_some_and(|of| of.id.kind == "Deployment");
        OwnershipTree {
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

    /// Number of Pods that its largest block has to hold.
    pub(super) fn largest(root: &Root) -> usize {
        root.groups
            .iter()
            .map(|group| group.pods.len())
            .max()
            .unwrap_or(0)
            .max(root.desired())
    }

    pub(super) fn pitch(&self) -> f64 {
        if !self.root.mounts() {
            return self.measures.pitch;
        }
        // Each Pod has room for all its claims.
        let claims = self
            .root
            .groups
            .iter()
            .flat_map(|group| group.pods.first())
            .map(|pod| pod.claims.len())
            .max()
            .unwrap_or(1);
        self.measures
            .stored
            .max(claims as f64 * (self.measures.claim + 8.0))
    }

    /// Height of a controller's card.
    pub(super) fn high(&self, of: &ControllerCard) -> f64 {
        if self.measures.low {
            BRIEF
        } else {
            card_height(of)
        }
    }

    pub(super) fn card(&self) -> f64 {
        self.root
            .controller
            .as_deref()
            .map_or(0.0, |of| self.high(of))
    }

    /// Returns the bottom of the objects that it uses: below its root, or below Pods without one.
    pub(super) fn lowest(&self, root: Rect, bottom: f64) -> f64 {
        let names = references::height(self.uses.len());
        if self.root.controller.is_some() {
            bottom.max(root.bottom() + names)
        } else {
            bottom + names
        }
    }

    pub(super) fn head(&self) -> f64 {
        let rows = self.rows.len() as f64;
        // Further apart than a parent and its child: it owns nothing.
        rows * self.measures.row + if rows > 0.0 { self.measures.head } else { 0.0 }
    }

    /// Left edges of the sets and of the Pods.
    pub(super) fn xs(&self) -> (f64, f64) {
        let c = self.columns;
        let set = if self.root.controller.is_some() && !self.lifted() {
            c.root + c.gap
        } else {
            0.0
        };
        let of = |kind: &str| {
            self.root
                .controller
                .as_ref()
                .is_some_and(|of| of.id.kind == kind)
        };
        let sets = !self.beside
            && (of("Deployment")
                || of("CronJob")
                || self
                    .root
                    .groups
                    .iter()
                    .any(|group| group.controller.is_some()));
        (set, if sets { set + c.set + c.gap } else { set })
    }

    /// Returns true if the root lies over its blocks, which are as wide as the stage then. Objects that it uses would need a column of
    /// their own below it.
    pub(super) fn lifted(&self) -> bool {
        self.beside && !self.measures.low && self.uses.is_empty()
    }

    /// Computes the positions of the groups. During an update they have room for the Pods that can exist at one time, all of one revision
    /// and the surplus of the other: within it the newer revision moves up as the older one shrinks, and nothing else moves.
    pub(super) fn measure(&mut self, frame: &Frame) {
        if self.beside {
            return self.measure_beside(frame);
        }
        let (root, pitch, c) = (self.root, self.pitch(), self.columns);
        let desired = root.desired();
        let (mut wide, mut stored) = (c.pod, false);
        let rails = self.rows.iter().filter(|row| !row.scales()).count() as f64;
        let rail = if rails > 0.0 {
            self.measures.rail + rails * 10.0
        } else {
            0.0
        };
        let room = (c.pod, frame.room - self.xs().1 - rail);
        let of = self.measures;
        for group in &root.groups {
            let own = group.controller.as_ref().map_or(desired, |of| of.desired);
            let now = group.pods.len().max(own);
            let kind = leaves(now.max(desired), now, frame.total, room, of);
            match &kind {
                Leaves::Cells { columns, pitch, .. } => {
                    wide = wide.max(*columns as f64 * pitch + 2.0 * PAD)
                }
                Leaves::Tiles { .. } => {
                    wide = wide.max(of.across as f64 * of.step.0 - (of.step.0 - of.tile.0))
                }
                _ => stored |= root.mounts(),
            }
            let height = leaves_height(&group.pods, now, &kind, pitch, of);
            self.slots.push((
                kind,
                height,
                height.max(group.controller.as_deref().map_or(0.0, |of| self.high(of))),
            ));
        }
        let slot = |now: usize, group: &Group| {
            let height = leaves_height(
                &PodBlock::default(),
                now,
                &leaves(desired, now, frame.total, room, of),
                pitch,
                of,
            );
            height.max(group.controller.as_deref().map_or(0.0, |of| self.high(of)))
        };
        if let (Some(root), [.., old, new], 1..=24) = (&root.controller, &root.groups[..], desired)
        {
            let (first, last) = (
                slot(desired, old),
                slot(root.surplus.clamp(1, desired), new),
            );
            let earlier: f64 = self
                .slots
                .iter()
                .rev()
                .skip(2)
                .map(|slot| slot.2 + of.between)
                .sum();
            let all = earlier + first + of.between + last;
            let high = leaves_height(
                &PodBlock::default(),
                desired,
                &leaves(desired, desired, frame.total, room, of),
                pitch,
                of,
            );
            self.update = Some((
                all,
                (first / 2.0 + all - last / 2.0) / 2.0,
                (first - high) / 2.0,
            ));
        }
        let kind = leaves(desired, desired, frame.total, room, of);
        stored |= root.mounts() && matches!(kind, Leaves::Cards);
        self.least =
            leaves_height(&PodBlock::default(), desired, &kind, pitch, of).max(self.card());
        let pods = self.xs().1 + wide;
        let volume = if c.volume > 0.0 { 36.0 + c.volume } else { 0.0 };
        self.ends = (
            pods,
            pods + if stored {
                c.gap + c.claim + volume
            } else {
                rail
            },
        );
    }

    /// Computes two blocks over the whole width, also while there is only one, so that it does not move when the next one is created.
    pub(super) fn measure_beside(&mut self, frame: &Frame) {
        let (root, huge) = (self.root, OwnershipTree::largest(self.root) > HUGE);
        let (side, pitch) = if huge { (4.0, 5.0) } else { (7.0, 8.0) };
        let rails = self.rows.iter().filter(|row| !row.scales()).count() as f64;
        let rail = if rails > 0.0 {
            self.measures.rail + rails * 10.0
        } else {
            0.0
        };
        let each = ((frame.width - rail - self.xs().1 - APART_BLOCKS) / 2.0).max(self.columns.set);
        let columns = ((each - 2.0 * PAD) / pitch) as usize;
        let (over, least) = if self.lifted() {
            (LIFTED + BELOW_ROOT, 0.0)
        } else {
            (OVER, self.card())
        };
        let kind = |now: usize| Leaves::Cells {
            columns,
            rows: now.div_ceil(columns),
            side,
            pitch,
        };
        for group in &root.groups {
            let of = group.controller.as_deref();
            let kind = kind(group.pods.len().max(of.map_or(0, |of| of.desired)));
            let height = leaves_height(&group.pods, 0, &kind, 0.0, self.measures);
            self.slots.push((
                kind,
                height,
                over + of.map_or(0.0, |of| self.high(of)) + 20.0 + height,
            ));
        }
        let high = leaves_height(
            &PodBlock::default(),
            0,
            &kind(root.desired()),
            0.0,
            self.measures,
        );
        let cards = root
            .groups
            .iter()
            .filter_map(|group| group.controller.as_deref())
            .map(|of| self.high(of));
        self.least = over + cards.fold(least, f64::max) + 20.0 + high;
        let wide = self.xs().1 + 2.0 * (columns as f64 * pitch + 2.0 * PAD) + APART_BLOCKS;
        self.ends = (wide, wide + rail);
    }

    /// Draws two blocks in a row, each below its ReplicaSet, and returns their bottom and the root.
    pub(super) fn put_beside(
        &self,
        frame: &Frame<'a>,
        (x, top): (f64, f64),
        out: &mut Scene,
        ends: &mut Vec<End<'a>>,
    ) -> (f64, Option<usize>, Rect) {
        let (c, Some(of)) = (self.columns, &self.root.controller) else {
            return (top, None, Rect::default());
        };
        let left = x + self.xs().1;
        let wide = (self.ends.0 - self.xs().1 - APART_BLOCKS) / 2.0;
        let (root, look, first) = if self.lifted() {
            (
                Rect::new(x, top, self.ends.0, LIFTED),
                Look::Wide,
                top + LIFTED + BELOW_ROOT,
            )
        } else {
            (
                Rect::new(x, top + OVER, c.root, self.high(of)),
                self.look(),
                top + OVER,
            )
        };
        let index = put_controller(out, of, root, None, look);
        let (mut y, mut bottom) = (first, top + self.least);
        for (groups, slots) in self.root.groups.rchunks(2).zip(self.slots.rchunks(2)) {
            let heights = groups
                .iter()
                .filter_map(|group| group.controller.as_deref())
                .map(|of| self.high(of));
            let block = y + heights.fold(0.0, f64::max) + 20.0;
            for (column, (group, (kind, high, _))) in groups.iter().zip(slots).enumerate() {
                let at = left + column as f64 * (wide + APART_BLOCKS);
                let mut owner = (Some(index), root, Some(of));
                if let Some(set) = &group.controller {
                    let rect = Rect::new(
                        at,
                        y,
                        if self.lifted() { wide } else { c.set },
                        block - 20.0 - y,
                    );
                    let on = chosen(frame.selected, &set.id)
                        || frame.model.place(group, frame.selected).is_some();
                    let (mid, over) = (left - c.gap / 2.0, y - OVER + 2.0);
                    let d = if self.lifted() && y == first {
                        drop(rect.cx(), root.bottom(), rect.cx(), rect.y, rect.y)
                    } else if self.lifted() {
                        // Beside the blocks above it.
                        format!(
                            "M{x} {}H{}V{over}H{}V{}",
                            root.cy(),
                            x - 10.0,
                            rect.cx(),
                            rect.y
                        )
                    } else if column == 0 {
                        elbow(root.right(), root.cy(), rect.x, rect.y + root.h / 2.0, mid)
                    } else {
                        let (x, y) = (rect.cx(), over + 10.0);
                        format!(
                            "{}Q{x} {over} {x} {y}V{}",
                            elbow(root.right(), root.cy(), x - 10.0, over, mid),
                            rect.y
                        )
                    };
                    out.link(set.id.uid.clone(), d, line(on, set.leaving));
                    owner = (
                        Some(put_controller(out, set, rect, Some(index), self.look())),
                        rect,
                        Some(set),
                    );
                }
                let first = ends.len();
                self.pods(
                    frame,
                    group,
                    kind,
                    (at, block),
                    owner,
                    out,
                    &mut BTreeSet::new(),
                    ends,
                );
                // The selector's line to the left block passes over the right one.
                ends[first..]
                    .iter_mut()
                    .filter(|_| column + 1 < groups.len())
                    .for_each(|end| end.past = Some(block - 10.0));
                bottom = bottom.max(block + high);
            }
            y = bottom + self.measures.between;
        }
        (bottom, Some(index), root)
    }

    pub(super) fn look(&self) -> Look {
        if self.measures.low {
            Look::Low
        } else {
            Look::Tall
        }
    }

    /// Height with one revision.
    pub(super) fn rest(&self) -> f64 {
        let high = self.slots.last().map_or(0.0, |slot| slot.2).max(self.least);
        let root = Rect {
            h: self.card(),
            y: (high - self.card()) / 2.0,
            ..Rect::default()
        };
        self.head() + self.lowest(root, high)
    }

    /// Draws the tree and returns its bottom.
    pub(super) fn put(
        &self,
        frame: &Frame<'a>,
        (x, top): (f64, f64),
        out: &mut Scene,
        claims: &mut BTreeSet<String>,
        ends: &mut Vec<End<'a>>,
    ) -> f64 {
        let (root, c) = (self.root, self.columns);
        let stored = self.ends.1 > self.ends.0 && root.mounts();
        let rails = self.rows.iter().filter(|row| !row.scales()).count();
        let mut cards = Vec::new();
        for (i, row) in self.rows.iter().enumerate() {
            // The rail of the first row is the outermost: it crosses no other row.
            let k = rails.saturating_sub(i) as f64;
            let rail = x
                + self.ends.0
                + if stored {
                    8.0 + 8.0 * k
                } else {
                    self.measures.rail + 10.0 * k
                };
            cards.push((
                row,
                row.put(
                    self.measures,
                    &[root],
                    (x, top + i as f64 * self.measures.row),
                    rail,
                    out,
                ),
                rail,
            ));
        }
        let top = top + self.head();
        let first = ends.len();
        let (mut bottom, root_index, root_rect) = if self.beside {
            self.put_beside(frame, (x, top), out, ends)
        } else {
            self.put_rows(frame, (x, top), out, claims, ends)
        };
        let set_x = self.xs().0;
        let (y, wide) = if root.controller.is_some() {
            (root_rect.bottom(), c.root)
        } else {
            (bottom, c.pod)
        };
        if !self.uses.is_empty() {
            references::put(&self.uses, (x, y, wide), root_index, out);
        }
        if root.folded + root.unfolded > 0 {
            let text = match (
                root.controller
                    .as_ref()
                    .is_some_and(|of| of.id.kind == "CronJob"),
                root.folded,
            ) {
                (true, 0) => msg::old_jobs(root.unfolded),
                (false, 0) => msg::old_revisions(root.unfolded),
                (true, more) => msg::more_jobs(more),
                (false, more) => msg::more_revisions(more),
            };
            let uid = fold_of(root.controller.as_ref().map_or("", |of| &of.id.uid));
            let id = Id {
                kind: FOLD.into(),
                uid,
                ..Id::default()
            };
            let rect = Rect::new(x + set_x, bottom + 8.0, c.set, 24.0);
            out.put(
                &id,
                rect,
                CardBody::Heading {
                    text: text.clone(),
                    folded: root.folded > 0,
                },
                root_index,
                "",
                text,
            );
            bottom += 32.0;
        }
        bottom = self.lowest(root_rect, bottom);
        for (i, (row, card, rail)) in cards.into_iter().enumerate() {
            if row.scales() {
                let (x, from, to) = (card.x + 28.0, card.bottom(), root_rect.y - 3.0);
                let d = format!(
                    "M{x} {from}V{to}M{} {}L{x} {to}L{} {}",
                    x - 4.0,
                    to - 7.0,
                    x + 4.0,
                    to - 7.0
                );
                out.link(row.id().uid.clone(), d, Line::Derives);
                out.labels.push(Label {
                    x: x + 4.0,
                    y: (from + to) / 2.0 - 8.0,
                    text: msg::line_scales(),
                    role: LabelRole::Plain,
                    ground: LabelGround::Edge,
                    centred: false,
                });
            } else {
                let lift = if stored {
                    i as f64 * 7.0 - 15.0
                } else {
                    (i as f64 - (rails - 1) as f64 / 2.0) * 10.0
                };
                row.rail(card, rail, lift, &ends[first..], out);
            }
        }
        if stored {
            ends[first..]
                .iter_mut()
                .for_each(|end| end.past = Some(end.rect.bottom() + 12.0));
        }
        bottom
    }

    /// Draws one group below the other, and returns their bottom and the root.
    pub(super) fn put_rows(
        &self,
        frame: &Frame<'a>,
        (x, top): (f64, f64),
        out: &mut Scene,
        claims: &mut BTreeSet<String>,
        ends: &mut Vec<End<'a>>,
    ) -> (f64, Option<usize>, Rect) {
        let (root, c) = (self.root, self.columns);
        let used = || {
            self.slots
                .iter()
                .filter(|slot| slot.2 > 0.0)
                .map(|slot| slot.2)
        };
        let between = self.measures.between;
        let groups = used().map(|high| high + between).sum::<f64>() - between;
        let bottom = top
            + groups
                .max(self.least)
                .max(self.update.map_or(0.0, |update| update.0));
        let mut y = top
            + if self.update.is_some() {
                0.0
            } else {
                (self.least - groups).max(0.0) / 2.0
            };
        let (mut root_index, mut root_rect) = (None, Rect::default());
        if let Some(of) = &root.controller {
            let (h, first, last) = (
                self.high(of),
                used().next().unwrap_or(0.0),
                used().next_back().unwrap_or(0.0),
            );
            let centre = match self.update {
                Some((_, centre, _)) => top + centre,
                None if groups > 0.0 => y + (first / 2.0 + groups - last / 2.0) / 2.0,
                None => top + self.least / 2.0,
            };
            // Beside blocks higher than the stage the owner stands at their top.
            let centre = if frame.total > DENSE {
                centre.min(top + HIGH * 2.0)
            } else {
                centre
            };
            root_rect = Rect::new(x, (centre - h / 2.0).max(top), c.root, h);
            root_index = Some(put_controller(out, of, root_rect, None, self.look()));
        }
        let (set_x, pod_x) = self.xs();
        for (group, (kind, leaves, high)) in root
            .groups
            .iter()
            .zip(&self.slots)
            .filter(|(_, slot)| slot.2 > 0.0)
        {
            let mut parent = (root_index, root_rect, root.controller.as_ref());
            if let Some(of) = &group.controller {
                let on = chosen(frame.selected, &of.id)
                    || frame.model.place(group, frame.selected).is_some();
                let h = self.high(of);
                let rect = Rect::new(
                    x + set_x,
                    y + if frame.total > DENSE {
                        ((high - h) / 2.0).min(HIGH)
                    } else {
                        (high - h) / 2.0
                    },
                    c.set,
                    h,
                );
                let index = put_controller(out, of, rect, root_index, self.look());
                if root.controller.is_some() {
                    let d = elbow(
                        root_rect.right(),
                        root_rect.cy(),
                        rect.x,
                        rect.cy(),
                        rect.x - c.gap / 2.0,
                    );
                    out.link(of.id.uid.clone(), d, line(on, of.leaving));
                }
                parent = (Some(index), rect, Some(of));
            }
            self.pods(
                frame,
                group,
                kind,
                (
                    x + pod_x,
                    y + self
                        .update
                        .map_or((high - leaves) / 2.0, |update| update.2.min(high - leaves)),
                ),
                parent,
                out,
                claims,
                ends,
            );
            y += high + between;
        }
        (bottom, root_index, root_rect)
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the parts of one pass over a tree"
    )]
    pub(super) fn pods(
        &self,
        frame: &Frame<'a>,
        group: &'a Group,
        kind: &Leaves,
        (x, y): (f64, f64),
        (parent, from, owner): (Option<usize>, Rect, Option<&Rc<ControllerCard>>),
        out: &mut Scene,
        claims: &mut BTreeSet<String>,
        ends: &mut Vec<End<'a>>,
    ) {
        let (c, pitch, m) = (self.columns, self.pitch(), self.measures);
        let mid = x - c.gap / 2.0;
        match kind {
            Leaves::Cards => {
                for (row, pod) in group.pods.iter().enumerate() {
                    let rect = Rect::new(x, y + row as f64 * pitch, c.pod, m.pod);
                    let body = if m.low {
                        pod_line(pod, c.pod)
                    } else {
                        pod_body(pod, ((c.pod - 58.0) / 7.0) as usize)
                    };
                    let index = out.put(
                        &pod.id,
                        rect,
                        body,
                        parent,
                        pod.state.class(),
                        pod_label(pod),
                    );
                    if owner.is_some() {
                        let d = elbow(from.right(), from.cy(), rect.x, rect.cy(), mid);
                        out.link(
                            pod.id.uid.clone(),
                            d,
                            line(
                                chosen(frame.selected, &pod.id),
                                pod.state == PodState::Terminating,
                            ),
                        );
                    }
                    ends.push(End {
                        rect,
                        pod: Some(pod),
                        of: String::new(),
                        past: None,
                    });
                    storage_of(frame.model, pod, rect, index, (c, m.claim), out, claims);
                }
            }
            Leaves::Tiles { rows } if !group.pods.is_empty() => {
                for (i, pod) in group.pods.iter().enumerate() {
                    let (column, row) = ((i % m.across) as f64, (i / m.across) as f64);
                    let rect = Rect::new(
                        x + column * m.step.0,
                        y + row * m.step.1,
                        m.tile.0,
                        m.tile.1,
                    );
                    let body = CardBody::Tile {
                        state: pod.state,
                        tail: pod.parts(6).1,
                        note: Message::default(),
                        stale: pod.stale,
                        kin: false,
                        old: false,
                    };
                    out.put(
                        &pod.id,
                        rect,
                        body,
                        parent,
                        pod.state.class(),
                        pod_label(pod),
                    );
                }
                let side = |n: usize, step: f64, tile: f64| n as f64 * step - (step - tile);
                let all = Rect::new(
                    x,
                    y,
                    side(m.across.min(group.pods.len()), m.step.0, m.tile.0),
                    side(*rows, m.step.1, m.tile.1),
                );
                if let Some(owner) = owner {
                    out.link(
                        format!("{}/pods", owner.id.uid),
                        elbow(from.right(), from.cy(), x, all.cy(), mid),
                        Line::Owns,
                    );
                }
                ends.push(End {
                    rect: all,
                    pod: None,
                    of: start(owner),
                    past: None,
                });
            }
            Leaves::Cells {
                columns: across,
                rows,
                side,
                pitch,
            } if !group.pods.is_empty() => {
                let old = self.root.older(group);
                let width = *across as f64 * pitch + 2.0 * PAD;
                let head = counts_height(&group.pods, width);
                let rect = Rect::new(x, y, width.max(c.pod), head + *rows as f64 * pitch + 14.0);
                let (pods, at, ring) = (
                    group.pods.clone(),
                    (PAD, head + 6.0),
                    frame.model.place(group, frame.selected),
                );
                let cells = Cells {
                    pods,
                    columns: *across,
                    side: *side,
                    pitch: *pitch,
                    at,
                    old,
                    ring,
                };
                let counted =
                    |(state, n): &(PodState, usize)| msg::pods_in_state(n, cells.pods.word(*state));
                let counts: Vec<Message> = cells.pods.counts().iter().map(counted).collect();
                let uid = format!("{}/pods", owner.map_or("bare", |owner| &owner.id.uid));
                let namespace = group
                    .pods
                    .first()
                    .map(|pod| pod.id.namespace.clone())
                    .unwrap_or_default();
                let id = Id {
                    kind: "Pods".into(),
                    namespace,
                    name: owner.map(|owner| owner.id.name.clone()).unwrap_or_default(),
                    uid,
                };
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
                out.put(
                    &id,
                    rect,
                    CardBody::Cells(cells),
                    parent,
                    if ready { "ready" } else { "progressing" },
                    label,
                );
                let rect = if self.beside {
                    Rect { h: 44.0, ..rect }
                } else {
                    rect
                };
                ends.push(End {
                    rect,
                    pod: None,
                    of: start(owner),
                    past: None,
                });
            }
            _ => {}
        }
    }
}

/// Prefix of the names of an owner's Pods.
pub(super) fn start(owner: Option<&Rc<ControllerCard>>) -> String {
    owner.map_or(String::new(), |owner| [&owner.id.name, "-"].concat())
}
