//! Areas of the revisions in the plot: shade, outline and name of each.

use super::layers::{Layer, Shade, Swatch};
use super::model::{ChartWord, WordRole};
use super::notes::{Notes, long};
use crate::draw::primitive::Anchor;
use crate::shape::Rect;
use i18n::Message;
use projection::rollout_track::Point;
use std::fmt::Write as _;

/// Layers in which a name is written, by preference.
const NAMED: [Layer; 3] = [Layer::Ready, Layer::Failing, Layer::Unready];
/// Width of the columns in which room for a name is searched, height of a name, and margin on either side.
const COLUMN: f64 = 6.0;
const NAME: f64 = 14.0;
const MARGIN: f64 = 4.0;
/// Height above which a higher area is no better for a name.
const HIGH_ENOUGH: f64 = 48.0;

/// Mapping of times and numbers of Pods to positions.
pub(super) struct Places<'a> {
    pub(super) x: &'a dyn Fn(u64) -> f64,
    pub(super) y: &'a dyn Fn(u32) -> f64,
    pub(super) now: u64,
}

/// Pods of one revision in one layer.
pub(super) struct Area {
    pub(super) revision: usize,
    pub(super) layer: Layer,
    /// Path around each time in which there are such Pods.
    pub(super) outline: String,
    /// Rectangles from each point to the next, including empty ones.
    steps: Vec<Rect>,
}

/// Returns the areas, from the bottom.
pub(super) fn areas(points: &[Point], order: &[usize], places: &Places) -> Vec<Area> {
    let end = |i: usize| points.get(i + 1).map_or(places.now, |next| next.at);
    let mut below = vec![0u32; points.len()];
    let mut out = Vec::new();
    for layer in Layer::ALL {
        for revision in order.iter().copied() {
            let heights: Vec<u32> = points
                .iter()
                .map(|point| {
                    point
                        .counts
                        .get(revision)
                        .map_or(0, |count| layer.pods(count))
                })
                .collect();
            if heights.iter().all(|height| *height == 0) {
                continue;
            }
            let over: Vec<u32> = below
                .iter()
                .zip(&heights)
                .map(|(below, height)| below + height)
                .collect();
            let mut outline = String::new();
            let mut from = 0;
            for stretch in heights.chunk_by(|a, b| (*a > 0) == (*b > 0)) {
                let here = from..from + stretch.len();
                from = here.end;
                if stretch[0] > 0 {
                    let (some, now) = (&points[here.clone()], end(here.end - 1));
                    steps(&mut outline, (some, now), &over[here.clone()], places, true);
                    steps(&mut outline, (some, now), &below[here], places, false);
                    outline.push('Z');
                }
            }
            let step = |(i, point): (usize, &Point)| {
                let (x, top) = ((places.x)(point.at), (places.y)(over[i]));
                Rect::new(x, top, (places.x)(end(i)) - x, (places.y)(below[i]) - top)
            };
            out.push(Area {
                revision,
                layer,
                outline,
                steps: points.iter().enumerate().map(step).collect(),
            });
            below = over;
        }
    }
    out
}

/// Appends a staircase through the points, forwards as the beginning of a path or backwards as its end.
fn steps(
    d: &mut String,
    (points, now): (&[Point], u64),
    values: &[u32],
    places: &Places,
    forwards: bool,
) {
    let ends = |i: usize| points.get(i + 1).map_or(now, |next| next.at);
    let mut put = |begins: bool, at: u64, value: u32| {
        let _ = write!(
            d,
            "{}{:.1} {:.1}",
            if begins { 'M' } else { 'L' },
            (places.x)(at),
            (places.y)(value)
        );
    };
    if forwards {
        for (i, (point, value)) in points.iter().zip(values).enumerate() {
            put(i == 0, point.at, *value);
            put(false, ends(i), *value);
        }
    } else {
        for (i, (point, value)) in points.iter().zip(values).enumerate().rev() {
            put(false, ends(i), *value);
            put(false, point.at, *value);
        }
    }
}

/// Returns true if a revision ever had Pods in a layer.
fn had(points: &[Point], revision: usize, layer: Layer) -> bool {
    points.iter().any(|point| {
        point
            .counts
            .get(revision)
            .is_some_and(|count| layer.pods(count) > 0)
    })
}

/// Returns the shade of each revision: the current one has the full colour, and consecutive earlier ones that had ready Pods have different
/// shades.
pub(super) fn shades(order: &[usize], points: &[Point]) -> Vec<Shade> {
    let mut out = vec![Shade::Half; order.len()];
    let mut light = false;
    for (rank, revision) in order.iter().copied().rev().enumerate() {
        if rank == 0 {
            out[revision] = Shade::Full;
        } else if had(points, revision, Layer::Ready) {
            out[revision] = if light { Shade::Light } else { Shade::Half };
            light = !light;
        }
    }
    out
}

/// Returns the swatch of each revision: its shade, or its other appearance in the plot.
pub(super) fn swatches(order: &[usize], points: &[Point], shades: &[Shade]) -> Vec<Swatch> {
    let of = |revision: usize| match () {
        () if had(points, revision, Layer::Ready) => Swatch::Ready(shades[revision]),
        () if had(points, revision, Layer::Failing) => Swatch::Other(Layer::Failing),
        // Its Pods are about to be ready.
        () if order.last() == Some(&revision) => Swatch::Ready(shades[revision]),
        () if had(points, revision, Layer::Unready) => Swatch::Other(Layer::Unready),
        () => Swatch::Empty,
    };
    (0..order.len()).map(of).collect()
}

/// Writes the names of the revisions in their areas: the first wording that has room, once from a revision's first Pod to its last. A
/// revision that returns is named again.
pub(super) fn name(
    out: &mut super::model::Chart,
    notes: &mut Notes,
    (areas, places): (&[Area], &Places),
    points: &[Point],
    wordings: impl Fn(usize) -> Vec<Message>,
) {
    let mut revisions: Vec<usize> = areas.iter().map(|area| area.revision).collect();
    revisions.sort();
    revisions.dedup();
    // A single revision needs no name.
    for revision in revisions.iter().copied().filter(|_| revisions.len() > 1) {
        let wordings = wordings(revision);
        for (from, to) in times(points, revision, places.now) {
            let within = ((places.x)(from), (places.x)(to));
            let layers = NAMED.iter().filter_map(|layer| {
                areas
                    .iter()
                    .find(|area| area.revision == revision && area.layer == *layer)
            });
            let ways = |area| {
                wordings
                    .iter()
                    .flat_map(move |words| [false, true].map(|folded| (area, words, folded)))
            };
            let found = layers.flat_map(ways).find_map(|(area, words, folded)| {
                // Within a fold the area is unchanged.
                let is_free = |place: &Rect| {
                    notes.is_free_but_for_folds(place) && (folded || !notes.is_on_fold(place))
                };
                Some((
                    room(&area.steps, within, long(words), &is_free)?,
                    area,
                    words,
                    folded,
                ))
            });
            let Some((place, area, words, folded)) = found else {
                continue;
            };
            notes.taken.push(place);
            out.words.push(ChartWord {
                x: place.x + place.w / 2.0,
                y: place.y + 11.0,
                anchor: Anchor::Middle,
                role: WordRole::Name(area.layer != Layer::Ready || folded),
                text: words.clone(),
            });
        }
    }
}

/// Returns the times in which a revision has Pods, joined across times without any Pods at all.
fn times(points: &[Point], revision: usize, now: u64) -> Vec<(u64, u64)> {
    let mut out: Vec<(u64, u64)> = Vec::new();
    let mut goes_on = false;
    for (i, point) in points.iter().enumerate() {
        let to = points.get(i + 1).map_or(now, |next| next.at);
        match (
            point
                .counts
                .get(revision)
                .is_some_and(|count| count.all() > 0),
            out.last_mut(),
        ) {
            (true, Some(last)) if goes_on => last.1 = to,
            (true, _) => out.push((point.at, to)),
            (false, _) if point.all() == 0 => continue,
            (false, _) => {}
        }
        goes_on = point
            .counts
            .get(revision)
            .is_some_and(|count| count.all() > 0);
    }
    out
}

/// Returns the best position for a name of this width in an area: where it is high, in the middle of the longest stretch; the last of
/// several.
fn room(
    steps: &[Rect],
    (from, to): (f64, f64),
    w: f64,
    is_free: &dyn Fn(&Rect) -> bool,
) -> Option<Rect> {
    let (columns, needed) = (
        ((to - from) / COLUMN) as usize,
        ((w + 2.0 * MARGIN) / COLUMN).ceil() as usize,
    );
    // Lowest upper edge and highest lower edge of each column.
    let mut edges = vec![(f64::MIN, f64::MAX); columns];
    for step in steps
        .iter()
        .filter(|step| step.right() >= from && step.x <= to)
    {
        let column = |x: f64| ((x - from).max(0.0) / COLUMN) as usize;
        for (top, bottom) in edges
            .iter_mut()
            .take(column(step.right() - 0.01) + 1)
            .skip(column(step.x))
        {
            (*top, *bottom) = (top.max(step.y), bottom.min(step.bottom()));
        }
    }
    let place = |start: usize, some: &[(f64, f64)]| {
        let (top, bottom) = some.iter().fold((f64::MIN, f64::MAX), |all, edges| {
            (all.0.max(edges.0), all.1.min(edges.1))
        });
        let left = from + start as f64 * COLUMN + (needed as f64 * COLUMN - w) / 2.0;
        let middle = (top + bottom) / 2.0;
        let slack = (bottom - top - NAME) / 2.0 - 1.0;
        // As near to the middle as there is free space.
        let offsets = (0..=(slack / 4.0).max(-1.0) as i32)
            .flat_map(|n| [f64::from(n) * 4.0, f64::from(n) * -4.0])
            .filter(|_| slack >= 0.0);
        let mut places =
            offsets.map(|offset| Rect::new(left, middle + offset - NAME / 2.0, w, NAME));
        places
            .find(|place| is_free(place))
            .map(|place| (place, (bottom - top).min(HIGH_ENOUGH)))
    };
    let places: Vec<Option<(Rect, f64)>> = edges
        .windows(needed.max(1))
        .enumerate()
        .map(|(start, some)| place(start, some))
        .collect();
    // Adjacent positions at the same height form one stretch.
    let alike = |a: &Option<(Rect, f64)>, b: &Option<(Rect, f64)>| {
        a.zip(*b).is_some_and(|(a, b)| a.0.y == b.0.y && a.1 == b.1)
    };
    let stretches = places
        .chunk_by(alike)
        .filter_map(|stretch| Some((stretch.len(), stretch[stretch.len() / 2]?)));
    let best = stretches.max_by(|(long, (_, high)), (other, (_, height))| {
        high.total_cmp(height).then(long.cmp(other))
    });
    best.map(|(_, (place, _))| place)
}
