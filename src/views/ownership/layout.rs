//! Who owns whom: roots, ReplicaSets or Jobs, Pods, their claims and volumes. What selects or scales a tree stands above its
//! root; what selects several stands above all of them. Trees stand in columns where one below the other would be too high.

use super::bundle::{Bundle, bundles};
use super::cards::orphans;
use super::measures::{FLAT, Frame, LEAST, Measures, NARROWEST, USUAL};
use super::narrow::narrow;
use super::overview;
use super::words::summary;
use crate::projection::model::Model;
use crate::views::references;
use crate::views::shape::Scene;
use crate::views::viewport::LOW_FRAME;

/// Lays the trees out. `selected` is a uid; the size is the viewport's.
pub fn layout(model: &Model, selected: Option<&str>, (width, height): (f64, f64)) -> Scene {
    if width < if height < width { NARROWEST } else { 560.0 } {
        return narrow(model, selected, width, height < width.min(LOW_FRAME));
    }
    let measures = if height < LOW_FRAME { &FLAT } else { &USUAL };
    let Measures { left, apart, .. } = *measures;
    let total = model.roots.iter().map(|root| root.desired().max(root.pods())).sum();
    let wide = width - 2.0 * left;
    let frame = Frame { model, selected, measures, total, width: wide, room: if measures.low { wide } else { wide / LEAST - 1.0 } };
    let mut out = Scene { summary: summary(model), ..Scene::default() };
    if overview::is_wanted(model, (width, height)) {
        let mut drawn = Vec::new();
        let bottom = overview::put(&frame, (left, measures.top), &mut out, &mut drawn);
        orphans(model, (left, bottom), 3, &mut out, &drawn);
        return out.finish(left);
    }
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
pub(super) fn columns(sizes: &[(f64, f64)], (width, height): (f64, f64), measures: &Measures) -> Vec<usize> {
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
        if fill(most).last().is_some_and(|last| *last < count) { high = most } else { low = most }
    }
    fill(high)
}
