//! Ownership: roots, ReplicaSets or Jobs, Pods, their claims and volumes. Objects that select or scale a tree stand above its root; those
//! that select several trees stand above all of them. Trees stand in columns if one column would be too high.

use super::blocks::BlockGrid;
use super::bundle::{Bundle, bundles};
use super::cards::{claims_of_trees, orphans};
use super::groups::{HEADING, hang, put_heading, split_model, tree_of};
use super::measures::{FLAT, Frame, LEAST, Measures, NARROWEST, USUAL};
use super::narrow;
use super::overview::{ChipColumns, ChipMemory};
use super::words::summary;
use crate::grouping::{GroupBy, Grouping};
use crate::ownership::overview;
use crate::references;
use crate::shape::Scene;
use crate::viewport::LOW_FRAME;
use projection::model::Model;
use std::collections::BTreeSet;

/// Lays out the trees. `selected` is a uid; the size is the viewport's.
pub fn layout(
    model: &Model,
    selected: Option<&str>,
    grouping: &Grouping,
    (width, height): (f64, f64),
    chips: &mut ChipMemory,
) -> Scene {
    let stacked = width < if height < width { NARROWEST } else { 560.0 };
    let low = if stacked {
        height < width.min(LOW_FRAME)
    } else {
        height < LOW_FRAME
    };
    let measures = if low { &FLAT } else { &USUAL };
    let (left, top) = if stacked {
        (narrow::margin(low), narrow::margin(low))
    } else {
        (measures.left, measures.top)
    };
    let total = model
        .roots
        .iter()
        .map(|root| root.desired().max(root.pods()))
        .sum();
    let wide = if stacked {
        (width - 2.0 * left).max(280.0)
    } else {
        width - 2.0 * left
    };
    let room = if low { wide } else { wide / LEAST - 1.0 };
    let frame = Frame {
        model,
        selected,
        measures,
        total,
        width: wide,
        room,
        stacked,
    };
    let mut out = Scene {
        summary: summary(model),
        ..Scene::default()
    };
    let mut drawn = BTreeSet::new();
    let many = overview::is_wanted(model, (width, height), stacked);
    let grouped = match grouping.by {
        GroupBy::Automatic => many,
        GroupBy::Nothing => false,
        _ => true,
    };
    let at = (left, top, height);
    let bottom = if grouped {
        groups(
            &frame,
            grouping,
            at,
            many.then_some(chips),
            &mut out,
            &mut drawn,
        )
    } else {
        trees(&frame, at, &mut out, &mut drawn)
    };
    let least = match () {
        () if stacked => 1,
        () if low => ((wide / 196.0) as usize).max(1),
        () => 3,
    };
    if stacked {
        // The rows at the foot have the width of a card; the scene is as wide as its contents.
        out.width = wide;
    }
    let toggled = &grouping.folded;
    orphans(model, (left, bottom), least, toggled, &mut out, &drawn);
    if stacked {
        out.width = 0.0;
    }
    out.finish(left)
}

/// Draws workloads below the headings of their groups: as trees or, if they do not fit, as blocks or chips; returns their bottom.
fn groups<'a>(
    frame: &Frame<'a>,
    grouping: &Grouping,
    (left, top, height): (f64, f64, f64),
    mut chips: Option<&mut ChipMemory>,
    out: &mut Scene,
    drawn: &mut BTreeSet<String>,
) -> f64 {
    let model = frame.model;
    let all = grouping.groups(model);
    let many = chips.is_some();
    let selected = if many {
        overview::selected_root(frame)
    } else {
        None
    };
    let mut y = if many {
        let bottom = overview::put_loose(frame, (left, top), out);
        let bottom = put_selected(frame, selected, (left, bottom, height), out, drawn);
        // Claims stand beside the Pods of a tree only; those of the other workloads still have a Pod.
        let claims = claims_of_trees(model, model.roots.iter());
        drawn.extend(claims.map(|claim| claim.id.uid.clone()));
        bottom
    } else {
        top
    };
    let grid = if many {
        BlockGrid::fitting(frame, &all, selected, height)
    } else {
        None
    };
    let columns = ChipColumns::of_chips(frame, &all, height);
    let (parts, rest) = if many {
        Default::default()
    } else {
        split_model(frame, &all, grouping.by)
    };
    for (at, group) in all.iter().enumerate() {
        let heading = put_heading(frame, group, (left, y), out);
        y += HEADING;
        let first = out.items.len();
        match (&mut chips, parts.get(at)) {
            _ if group.folded => {
                let roots = group.roots.iter().map(|at| &model.roots[*at]);
                drawn.extend(claims_of_trees(model, roots).map(|claim| claim.id.uid.clone()));
            }
            (Some(chips), _) => {
                let place = (group, heading, selected);
                y = match &grid {
                    Some(grid) => grid.put(frame, place, (left, y), out),
                    None => overview::put_chips(frame, place, columns, (left, y), out, chips),
                }
            }
            (None, None) => {}
            (None, Some(part)) => {
                y = trees(
                    &Frame {
                        model: part,
                        ..*frame
                    },
                    (left, y, height),
                    out,
                    drawn,
                ) + frame.measures.apart / 2.0
            }
        }
        hang(&mut out.items[first..], heading);
        y += if group.folded { 4.0 } else { 14.0 };
    }
    if !rest.services.is_empty() || !rest.policies.is_empty() || !rest.uses.is_empty() {
        y = trees(
            &Frame {
                model: &rest,
                ..*frame
            },
            (left, y, height),
            out,
            drawn,
        );
    }
    y
}

/// Draws the tree of the selected workload above all others; returns its bottom.
fn put_selected(
    frame: &Frame<'_>,
    selected: Option<usize>,
    (left, top, height): (f64, f64, f64),
    out: &mut Scene,
    drawn: &mut BTreeSet<String>,
) -> f64 {
    let Some(at) = selected else {
        return top;
    };
    let model = tree_of(frame.model, at);
    let frame = Frame {
        model: &model,
        ..*frame
    };
    trees(&frame, (left, top, height), out, drawn)
}

/// Draws trees with everything that belongs to them, in columns or, in a narrow frame, one below the other; returns their bottom.
fn trees<'a>(
    frame: &Frame<'a>,
    at: (f64, f64, f64),
    out: &mut Scene,
    drawn: &mut BTreeSet<String>,
) -> f64 {
    let homes = references::homes(frame.model);
    let bottom = if frame.stacked {
        narrow::put(frame, &homes, (at.0, at.1), out, drawn)
    } else {
        in_columns(frame, &homes, at, out, drawn)
    };
    references::link(frame.model, &homes, frame.selected, out);
    bottom
}

fn in_columns<'a>(
    frame: &Frame<'a>,
    homes: &[Option<usize>],
    (left, mut top, height): (f64, f64, f64),
    out: &mut Scene,
    drawn: &mut BTreeSet<String>,
) -> f64 {
    let (measures, wide) = (frame.measures, frame.width);
    let apart = measures.apart;
    let (loose, bundles, shared) = bundles(frame, homes);
    for row in &loose {
        row.put(measures, &[], (left, top), left + wide, out);
        top += measures.row;
    }
    top += if loose.is_empty() { 0.0 } else { 12.0 };
    let sizes: Vec<(f64, f64)> = bundles.iter().map(Bundle::size).collect();
    let foot = if frame.model.inert.is_empty() {
        0.0
    } else {
        64.0
    } + if shared.is_empty() {
        0.0
    } else {
        apart + references::shared_height(shared.len(), wide)
    };
    let of = columns(
        &sizes,
        (
            wide,
            height - if measures.low { 0.0 } else { 44.0 } - top - foot - left,
        ),
        measures,
    );
    let (mut x, mut bottom) = (left, top);
    for column in 0..=of.last().copied().unwrap_or(0) {
        let (mut y, mut wide) = (top, 0.0f64);
        for (bundle, (w, _)) in bundles
            .iter()
            .zip(&sizes)
            .zip(&of)
            .filter(|(_, at)| **at == column)
            .map(|(it, _)| it)
        {
            y = bundle.put(frame, (x, y), *w, out, drawn) + apart;
            wide = wide.max(*w);
        }
        bottom = bottom.max(y - apart);
        x += wide + measures.aside;
    }
    // Reserved for Pods that are not created yet: the picture does not grow with each Pod.
    (out.width, out.height) = ((x - measures.aside).max(out.width), bottom.max(out.height));
    if !shared.is_empty() {
        let wide = out.width.max(if measures.low { wide } else { 3.0 * 196.0 });
        bottom = references::put_shared(&shared, (left, bottom + apart, wide), out);
    }
    bottom + apart
}

/// Returns the column of each tree: as few columns as allow the largest scale, in the order of the trees.
pub(super) fn columns(
    sizes: &[(f64, f64)],
    (width, height): (f64, f64),
    measures: &Measures,
) -> Vec<usize> {
    let (apart, least) = (measures.apart, if measures.low { 1.0 } else { LEAST });
    let mut best: (f64, Vec<usize>) = (0.0, vec![0; sizes.len()]);
    for count in 1..=sizes.len().min(4) {
        let of = split(sizes, count, apart);
        let (mut wide, mut high) = ([0.0f64; 4], [-apart; 4]);
        for ((w, h), column) in sizes.iter().zip(&of) {
            wide[*column] = wide[*column].max(*w);
            high[*column] += h + apart;
        }
        let across =
            (width / (wide.iter().sum::<f64>() + (count - 1) as f64 * measures.aside)).min(1.0);
        let scale = across.min(height / high.into_iter().fold(0.0, f64::max));
        // If not everything fits in height, as much as is readable is visible at once.
        let scale = if across >= least {
            scale.max(0.01 * count as f64)
        } else {
            across / 100.0
        };
        if scale > best.0 * 1.02 {
            best = (scale, of);
        }
    }
    best.1
}

/// Distributes trees over columns of about the same height.
pub(super) fn split(sizes: &[(f64, f64)], count: usize, apart: f64) -> Vec<usize> {
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
        if fill(most).last().is_some_and(|last| *last < count) {
            high = most
        } else {
            low = most
        }
    }
    fill(high)
}
