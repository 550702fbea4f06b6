//! Overview of an application whose trees do not fit the stage, but whose Pods do: a block for each workload, with what selects or scales it
//! above and its Pods as tiles below.

use super::cards::put_controller;
use super::groups::HEADING;
use super::measures::{BRIEF, Frame, LEAST};
use super::overview::{self, ChipColumns, GAP, SELECTED, pod_cells};
use super::rows::TreeRow;
use crate::bodies::pod_label;
use crate::grouping::WorkloadGroup;
use crate::references::TreeIndex;
use crate::shape::{CardBody, Label, LabelGround, LabelRole, Look, Rect, Scene};
use i18n::{Message, msg};
use projection::model::{Group, Id, Model, PodState, Root};

/// Minimum width of a block, and the gap below its rows.
const MIN_WIDTH: f64 = 188.0;
const BELOW: f64 = 16.0;
/// Height of a row above the card, without and with a hint, and the distance from one to the next.
const ROW: f64 = 28.0;
const HINTED_ROW: f64 = 40.0;
const MENTION: f64 = 16.0;
const ROW_GAP: f64 = 4.0;
/// Height of a tile, its distance from the card and from the next tile, and the number of tiles in a row.
const TILE: f64 = 30.0;
const TILE_GAP: f64 = 6.0;
const TILES_ACROSS: usize = 2;
/// Maximum number of Pods of a group that are tiles.
const MAX_TILES: usize = 6;
/// Maximum number of workloads with a block each.
const MAX_BLOCKS: usize = 60;
/// Height of the whole, in stages, up to which it is drawn at the smallest scale.
const MAX_STAGES: f64 = 1.1;

/// Grid of blocks.
pub(super) struct BlockGrid<'a> {
    columns: ChipColumns,
    /// Rows above each workload, by its index among the roots.
    rows: Vec<Vec<BlockRow<'a>>>,
}

/// Row above a block: an object, or the name of one that stands elsewhere.
enum BlockRow<'a> {
    Object(TreeRow<'a>),
    Mention(&'a Id),
}

impl BlockRow<'_> {
    fn height(&self) -> f64 {
        match self {
            BlockRow::Object(row) if !row.hint().is_empty() => HINTED_ROW,
            BlockRow::Object(_) => ROW,
            BlockRow::Mention(_) => MENTION,
        }
    }

    fn put(&self, rect: Rect, parent: usize, out: &mut Scene) {
        match self {
            BlockRow::Object(row) => {
                let hint = row.hint();
                let state = if hint.is_empty() {
                    "settled"
                } else {
                    PodState::NotReady.class()
                };
                let body = CardBody::Stored {
                    fact: hint,
                    missing: false,
                };
                out.put(row.id(), rect, body, Some(parent), state, row.label());
            }
            BlockRow::Mention(of) => {
                out.labels.push(Label {
                    x: rect.x + 2.0,
                    y: rect.y,
                    text: msg::kind_name(&of.kind, &of.name),
                    role: LabelRole::Plain,
                    ground: LabelGround::None,
                    centred: false,
                });
            }
        }
    }
}

impl<'a> BlockGrid<'a> {
    /// Returns the grid if all groups fit a stage of this height.
    pub(super) fn fitting(
        frame: &Frame<'a>,
        groups: &[WorkloadGroup],
        selected: Option<usize>,
        height: f64,
    ) -> Option<BlockGrid<'a>> {
        let model = frame.model;
        if frame.stacked || frame.measures.low || model.roots.len() > MAX_BLOCKS {
            return None;
        }
        let mut grid = BlockGrid {
            columns: ChipColumns::filling(frame.width, MIN_WIDTH),
            rows: rows_of_roots(model, selected),
        };
        for (scale, stages) in [(1.0, 1.0), (LEAST, MAX_STAGES)] {
            grid.columns = ChipColumns::filling(frame.width / scale, MIN_WIDTH);
            let all: f64 = groups.iter().map(|group| grid.height(model, group)).sum();
            if all + SELECTED + 2.0 * frame.measures.top <= stages * height / scale {
                return Some(grid);
            }
        }
        None
    }

    fn height(&self, model: &Model, group: &WorkloadGroup) -> f64 {
        let rows = group.roots.chunks(self.columns.across);
        HEADING
            + rows
                .map(|row| self.row_height(model, row) + BELOW)
                .sum::<f64>()
    }

    fn row_height(&self, model: &Model, row: &[usize]) -> f64 {
        row.iter()
            .map(|at| {
                self.rows_height(*at) + BRIEF + pods_height(&model.roots[*at], self.columns.width)
            })
            .fold(0.0, f64::max)
    }

    fn rows_height(&self, root: usize) -> f64 {
        self.rows[root]
            .iter()
            .map(|row| row.height() + ROW_GAP)
            .sum()
    }

    /// Draws the workloads of a group below its heading, except the selected one, whose tree is drawn; returns their bottom.
    pub(super) fn put(
        &self,
        frame: &Frame<'_>,
        (group, heading, selected): (&WorkloadGroup, usize, Option<usize>),
        (left, top): (f64, f64),
        out: &mut Scene,
    ) -> f64 {
        let others = group.roots.iter().copied();
        let others: Vec<usize> = others.filter(|at| Some(*at) != selected).collect();
        let mut y = top;
        for row in others.chunks(self.columns.across) {
            // The cards of a row stand in a line.
            let above = row.iter().map(|at| self.rows_height(*at));
            let card = y + above.fold(0.0, f64::max);
            let mut bottom = card + BRIEF;
            for (column, at) in row.iter().enumerate() {
                let x = left + column as f64 * (self.columns.width + GAP.0);
                bottom = bottom.max(self.put_block(frame, *at, heading, (x, card), out));
            }
            y = bottom + BELOW;
        }
        y
    }

    /// Draws a block whose card has this corner; returns its bottom.
    fn put_block(
        &self,
        frame: &Frame<'_>,
        at: usize,
        heading: usize,
        (x, y): (f64, f64),
        out: &mut Scene,
    ) -> f64 {
        let root = &frame.model.roots[at];
        let mut over = y - self.rows_height(at);
        for row in &self.rows[at] {
            let rect = Rect::new(x, over, self.columns.width, row.height());
            row.put(rect, heading, out);
            over = rect.bottom() + ROW_GAP;
        }
        let rect = Rect::new(x, y, self.columns.width, BRIEF);
        let parent = match &root.controller {
            Some(of) => put_controller(out, of, rect, Some(heading), Look::Low),
            None => {
                let text = msg::summary_bare(root.pods());
                let id = overview::bare_id();
                let body = CardBody::Note(text.clone());
                out.put(&id, rect, body, Some(heading), "", text)
            }
        };
        let mut bottom = rect.bottom();
        for group in root.groups.iter().filter(|group| !group.pods.is_empty()) {
            let top = (x, bottom + TILE_GAP);
            bottom = if has_tiles(root) {
                put_tiles(root, group, (top, self.columns.width), parent, out)
            } else {
                pod_cells(frame, root, group, (top, self.columns.width), parent, out).bottom()
            };
        }
        bottom
    }
}

/// Assigns Services and policies to the workloads that they select or scale. A Service of several workloads stands above the first of them,
/// or beside the tree of the selected one; the others mention it.
fn rows_of_roots(model: &Model, selected: Option<usize>) -> Vec<Vec<BlockRow<'_>>> {
    let mut rows: Vec<Vec<BlockRow>> = model.roots.iter().map(|_| Vec::new()).collect();
    for service in &model.services {
        let reached = service.reached(&model.roots);
        let home = reached
            .iter()
            .find(|at| Some(**at) == selected)
            .or(reached.first());
        for at in &reached {
            rows[*at].push(if Some(at) == home {
                BlockRow::Object(TreeRow::Service(service))
            } else {
                BlockRow::Mention(&service.id)
            });
        }
    }
    let trees = TreeIndex::of(model);
    for policy in &model.policies {
        if let Some(at) = trees.root(&policy.target) {
            rows[at].push(BlockRow::Object(TreeRow::Policy(policy)));
        }
    }
    rows
}

/// Returns true if the Pods of a workload are tiles; otherwise they are cells.
fn has_tiles(root: &Root) -> bool {
    root.groups
        .iter()
        .all(|group| group.pods.len() <= MAX_TILES)
}

fn pods_height(root: &Root, width: f64) -> f64 {
    let high = |group: &Group| match group.pods.len() {
        0 => 0.0,
        n if has_tiles(root) => n.div_ceil(TILES_ACROSS) as f64 * (TILE + TILE_GAP),
        n => {
            let columns = overview::cells_across(root, width);
            let (_, pitch) = overview::cell_size(root);
            TILE_GAP + n.div_ceil(columns) as f64 * pitch
        }
    };
    // Pods that are still to come have their place.
    let now: f64 = root.groups.iter().map(high).sum();
    now.max(root.desired().min(MAX_TILES).div_ceil(TILES_ACROSS) as f64 * (TILE + TILE_GAP))
}

/// Draws the Pods of a group as tiles; returns their bottom.
fn put_tiles(
    root: &Root,
    group: &Group,
    ((x, y), width): ((f64, f64), f64),
    parent: usize,
    out: &mut Scene,
) -> f64 {
    let wide = (width - TILE_GAP * (TILES_ACROSS - 1) as f64) / TILES_ACROSS as f64;
    let old = root.older(group) != usize::MAX;
    for (at, pod) in group.pods.iter().enumerate() {
        let (column, row) = ((at % TILES_ACROSS) as f64, (at / TILES_ACROSS) as f64);
        let rect = Rect::new(
            x + column * (wide + TILE_GAP),
            y + row * (TILE + TILE_GAP),
            wide,
            TILE,
        );
        let body = CardBody::Tile {
            state: pod.state,
            tail: pod.parts(9).1,
            note: Message::default(),
            stale: pod.stale,
            kin: false,
            old,
        };
        out.put(
            &pod.id,
            rect,
            body,
            Some(parent),
            pod.state.class(),
            pod_label(pod),
        );
    }
    let rows = group.pods.len().div_ceil(TILES_ACROSS) as f64;
    y + rows * (TILE + TILE_GAP) - TILE_GAP
}
