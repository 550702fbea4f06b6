//! A rollout over time: the ready, unready and failing Pods of each revision, between the lower and the upper limit.

use super::areas::Places;
use super::layers::{Layer, Swatch};
use super::model::{Chart, ChartPart, ChartPath, ChartWord, RevisionKey, WordRole, counted};
use super::notes::{Notes, long};
use crate::axis::{Axis, FOLD, Idle};
use crate::draw::primitive::Anchor;
use crate::rollout::areas;
use crate::rollout::notes;
use crate::shape::{CardBody, Rect, Scene};
use i18n::format;
use i18n::{Message, clauses, dotted, msg};
use projection::images;
use projection::model::Id;
use projection::rollout_track::{Extent, Point, Revision, Track, fewer};
use std::fmt::Write as _;
use std::rc::Rc;

/// Maximum number of revisions named: the newest.
pub(super) const KEYS: usize = 5;
/// Gap between the plot and the labels of its limits.
pub(super) const AFTER: f64 = 8.0;
/// Position of the plot within the chart.
pub(super) const PLOT: Rect = Rect {
    x: 56.0,
    y: 34.0,
    w: 0.0,
    h: 0.0,
};

/// Lays out the chart; `beside` is the extent of a chart beside it, with which it shares its axes.
pub fn layout(track: &Track, beside: Option<&Extent>, width: f64, height: f64) -> Scene {
    let mut out = Scene {
        summary: summary(track),
        ..Scene::default()
    };
    if track.points.is_empty() {
        return out;
    }
    // A low frame has no controls at the foot.
    let foot = if height < crate::viewport::LOW_FRAME {
        0.0
    } else {
        44.0
    };
    let rect = Rect::new(
        16.0,
        16.0,
        (width - 32.0).clamp(300.0, 1400.0),
        (height - 32.0 - foot).clamp(236.0, 720.0),
    );
    let own = Extent::of(track);
    let extent = match beside {
        Some(other) => own.with(other),
        None => own,
    };
    let chart = draw(track, &extent, rect.w, rect.h);
    let id = Id {
        uid: format!("rollout/{}", track.id.uid),
        ..track.id.clone()
    };
    out.put(
        &id,
        rect,
        CardBody::Chart(Rc::new(chart)),
        None,
        "",
        out.summary.clone(),
    );
    out.finish(16.0)
}

/// Height of the table of revisions.
pub(super) fn head(revisions: usize) -> f64 {
    revisions.min(KEYS) as f64 * 20.0 + 28.0
}

/// Width of the labels of the limits beside the plot, the longest that they have been.
pub(super) fn beside((least, most): (u32, u32), small: bool) -> f64 {
    let words = [msg::chart_at_least(least), msg::chart_at_most(most)]
        .map(|words| long(&words))
        .into_iter();
    (words.fold(0.0, f64::max) + AFTER + 10.0).max(if small { 72.0 } else { 104.0 })
}

pub(super) fn draw(track: &Track, extent: &Extent, width: f64, height: f64) -> Chart {
    let small = width < 520.0;
    let left = if small { 16.0 } else { PLOT.x };
    // A low frame leaves as much room as possible to the plot.
    let low = height < crate::viewport::LOW_FRAME - 32.0;
    // There the title has a line of its own.
    let top = if low {
        PLOT.y + 32.0
    } else {
        PLOT.y + head(extent.revisions) + if small { 20.0 } else { 0.0 }
    };
    let plot = Rect::new(
        PLOT.x,
        top,
        width - PLOT.x - beside(extent.limits, small),
        height - top - if low { 28.0 } else { 44.0 },
    );
    let axis = axis(extent, track.now, plot.w);
    // Including the values in effect when the axis starts.
    let points = &track.points[track
        .points
        .partition_point(|point| point.at <= axis.from)
        .saturating_sub(1)..];
    let order = track.by_number();
    let shades = areas::shades(&order, points);
    let has = |layer: &Layer| {
        points
            .iter()
            .any(|point| point.counts.iter().any(|count| layer.pods(count) > 0))
    };
    let columns: Vec<Layer> = Layer::ALL
        .into_iter()
        .filter(|layer| matches!(layer, Layer::Ready | Layer::Unready) || has(layer))
        .collect();
    let room = KeyRoom {
        rows: if low { if small { 2 } else { 3 } } else { KEYS },
        small,
        image: if small {
            [18, 14, 10][columns.len() - 2]
        } else {
            30
        },
    };
    let keys = keys(
        track,
        &order,
        &areas::swatches(&order, points, &shades),
        &room,
    );
    let mut out = Chart {
        left,
        low,
        plot,
        keys,
        points: points.to_vec(),
        now: track.now,
        columns,
        ..Chart::default()
    };
    out.back = back(track);
    out.title = msg::kind_name(
        &track.id.kind,
        format::middle(&track.id.name, if small { 20 } else { 63 }),
    );
    let all = Point::all;
    let changes = &extent.changes[extent
        .changes
        .partition_point(|(at, _)| *at <= axis.from)
        .saturating_sub(1)..];
    let most = changes
        .iter()
        .map(|(_, most)| *most)
        .max()
        .unwrap_or(1)
        .max(1);
    // At the top there is room for a note.
    let top = f64::from(most) / (1.0 - (26.0 / plot.h).min(0.15));
    let x = |at: u64| plot.x + axis.x(at.clamp(axis.from, track.now.max(axis.from)));
    let y = |n: u32| plot.bottom() - f64::from(n) / top * plot.h;

    // Of the points on one pixel, the most significant is drawn.
    let every = points;
    let drawn: Vec<Point> = fewer(points, |i| x(points[i].at) as i64)
        .into_iter()
        .map(|i| points[i].clone())
        .collect();
    let points = &drawn[..];

    // Grid: at most six lines at whole numbers.
    let lines = ((plot.h / 36.0) as u32).clamp(2, 6);
    let step = [
        1, 2, 5, 10, 20, 25, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 50_000,
    ]
    .into_iter()
    .find(|step| most / step <= lines)
    .unwrap_or(100_000);
    let mut grid = String::new();
    for n in (0..=most).step_by(step as usize) {
        let _ = write!(grid, "M{} {:.1}H{}", plot.x, y(n), plot.right());
        out.words.push(ChartWord {
            x: plot.x - 8.0,
            y: y(n) + 4.0,
            anchor: Anchor::End,
            role: WordRole::Scale,
            text: Message::count(n),
        });
    }
    out.paths.push(ChartPath {
        part: ChartPart::Grid,
        d: grid,
    });
    let (ticks, step) = axis.ticks_apart(if small { 72.0 } else { 110.0 });
    let times = ticks
        .into_iter()
        .map(|at| (axis.x(at), format::tick(at, step)));
    for (x, words) in times.chain(axis.breaks().map(|(x, idle)| (x, format::about(idle)))) {
        out.words.push(ChartWord {
            x: plot.x + x,
            y: plot.bottom() + if low { 17.0 } else { 20.0 },
            anchor: Anchor::Middle,
            role: WordRole::Time,
            text: Message::state(words),
        });
    }
    let places = Places {
        x: &x,
        y: &y,
        now: track.now,
    };
    let areas = areas::areas(points, &order, &places);
    // Under all lines except the grid.
    out.paths.splice(
        1..1,
        areas.iter().rev().map(|area| ChartPath {
            part: ChartPart::Area(area.layer, shades[area.revision]),
            d: area.outline.clone(),
        }),
    );
    // Limits.
    type Pick = fn(&Point) -> u32;
    type Words = fn(u32) -> Message;
    let lines: [(Words, ChartPart, Pick); 2] = [
        (msg::chart_at_least, ChartPart::Least, |point| {
            point.limits.0
        }),
        (msg::chart_at_most, ChartPart::Most, |point| point.limits.1),
    ];
    let last = points.last();
    let limited = points.iter().any(|point| point.limits.0 != point.limits.1);
    for (words, part, pick) in lines.into_iter().filter(|_| limited) {
        // One line per value, unconnected: a vertical line would look like an instant.
        let mut d = String::new();
        for (i, point) in points
            .iter()
            .enumerate()
            .filter(|(_, point)| pick(point) > 0)
        {
            let (from, to) = (
                x(point.at),
                x(points.get(i + 1).map_or(track.now, |next| next.at)),
            );
            let goes_on = i > 0 && pick(&points[i - 1]) == pick(point);
            let _ = if goes_on {
                write!(d, "H{to:.1}")
            } else {
                write!(d, "M{from:.1} {:.1}H{to:.1}", y(pick(point)))
            };
        }
        out.paths.push(ChartPath { part, d });
        let value = last.map_or(0, pick);
        if last.is_none_or(|point| point.limits.0 == point.limits.1) {
            continue;
        }
        ahead(&mut out, plot, (x(track.now), y(value)), words(value));
    }
    // Without limits, the desired number is drawn.
    if let Some(point) = last.filter(|point| point.limits.0 == point.limits.1 && point.desired > 0)
    {
        ahead(
            &mut out,
            plot,
            (x(track.now), y(point.desired)),
            msg::chart_desired(point.desired),
        );
    }
    let mut notes = Notes {
        plot,
        taken: Vec::new(),
        folds: Vec::new(),
    };
    notes.folds.extend(
        axis.breaks()
            .map(|(middle, _)| Rect::new(plot.x + middle - FOLD / 2.0, plot.y, FOLD, plot.h)),
    );
    notes
        .taken
        .push(Rect::new(x(track.now) - 2.0, plot.y, 4.0, plot.h));
    if let Some(point) = last.filter(|_| limited) {
        notes.taken.extend(
            [point.limits.0, point.limits.1].map(|n| Rect::new(plot.x, y(n) - 1.0, plot.w, 2.0)),
        );
    }
    // The upper limit holds for the replicas of the ReplicaSets; surplus Pods are deleted a few at a time.
    let over = |point: &&Point| {
        if point.is_mixed() {
            all(point).saturating_sub(point.limits.1)
        } else {
            0
        }
    };
    if let Some(point) = points
        .iter()
        .rev()
        .filter(|point| limited && over(point) > 0 && point.limits.1 > 0)
        .max_by_key(|point| over(point))
    {
        let many = over(&point);
        let now = points.last().is_some_and(|last| std::ptr::eq(last, point));
        let words = match now {
            true if small => msg::chart_over(many),
            true => msg::chart_over_now(many),
            false => msg::chart_over_at(many, format::stamp(point.at)),
        };
        notes.mark(&mut out, (x(point.at), y(all(point))), -1.0, false, words);
    }
    // ReplicaSets are scaled down by the status, which may lag behind Pods being deleted.
    let ready = Point::ready;
    let under = |point: &&Point| {
        if point.is_mixed() {
            point.limits.0.saturating_sub(ready(point))
        } else {
            0
        }
    };
    // Nothing counts as under the lower limit before the limit was first met.
    let held = points
        .iter()
        .position(|point| point.limits.0 > 0 && under(&point) == 0)
        .unwrap_or(points.len());
    let mut short = String::new();
    for (i, point) in points
        .iter()
        .enumerate()
        .skip(held)
        .filter(|(_, point)| limited && under(point) > 0)
    {
        let (from, to) = (
            x(point.at),
            x(points.get(i + 1).map_or(track.now, |next| next.at)),
        );
        let _ = write!(
            short,
            "M{from:.1} {:.1}H{to:.1}V{:.1}H{from:.1}Z",
            y(point.limits.0),
            y(ready(point))
        );
    }
    if !short.is_empty() {
        out.paths.insert(
            1,
            ChartPath {
                part: ChartPart::Shortfall,
                d: short,
            },
        );
    }
    if let Some(point) = points[held..]
        .iter()
        .filter(|point| limited && under(point) > 0)
        .max_by_key(|point| under(point))
    {
        let words = msg::chart_below(under(&point), format::stamp(point.at));
        notes.mark(&mut out, (x(point.at), y(ready(point))), 1.0, true, words);
    }
    let gaps = notes::gaps(track, every)
        .into_iter()
        .filter(|(at, ..)| *at >= axis.from);
    notes.offer(
        &mut out,
        gaps.map(|(at, there, wordings)| ((x(at), y(there)), wordings)),
    );
    let wordings = |revision| {
        [image(track, revision, 30)]
            .into_iter()
            .chain(brief(track, revision))
            .collect()
    };
    areas::name(&mut out, &mut notes, (&areas, &places), points, wordings);
    for (middle, _) in axis.breaks() {
        let d = format!(
            "M{:.1} {}v{}h{FOLD}v-{}",
            plot.x + middle - FOLD / 2.0,
            plot.y,
            plot.h,
            plot.h
        );
        out.paths.push(ChartPath {
            part: ChartPart::Fold,
            d,
        });
    }
    out.paths.push(ChartPath {
        part: ChartPart::Now,
        d: format!("M{:.1} {}V{}", x(track.now), plot.y - 8.0, plot.bottom()),
    });
    out.axis = axis;
    out
}

/// Extends a current value to the edge: the future is not empty, and its label stays at the edge.
pub(super) fn ahead(out: &mut Chart, plot: Rect, (from, y): (f64, f64), words: Message) {
    out.paths.push(ChartPath {
        part: ChartPart::Ahead,
        d: format!("M{from:.1} {y:.1}H{:.1}", plot.right()),
    });
    out.words.push(ChartWord {
        x: plot.right() + AFTER,
        y: y + 4.0,
        anchor: Anchor::Start,
        role: WordRole::Note(false),
        text: words,
    });
}

/// Returns the axis from the first Pod to a little after the instant shown, with long idle stretches folded. After an update it starts a
/// little before the last one, which then has all the room.
pub(super) fn axis(extent: &Extent, now: u64, width: f64) -> Axis {
    let first = extent.first.unwrap_or_default();
    let folds_since = |first: u64| {
        let mut idle = Idle::since(first);
        extent
            .changes
            .iter()
            .filter(|(at, _)| *at > first)
            .for_each(|(at, _)| idle.see(*at));
        idle.folds(now)
    };
    let busy_since =
        |first: u64, folds: &[(u64, u64)]| Axis::busy(now.saturating_sub(first), folds);
    let before = |at: u64| at.saturating_sub(300.max(busy_since(at, &folds_since(at)) / 12));
    let first = extent.began.map_or(first, |at| before(at).max(first));
    let folds = folds_since(first);
    let busy =
        busy_since(first, &folds).max(if extent.began.is_some() { 1_500 } else { 4_000 }) as f64;
    Axis::new(first, busy * 1.05, width, folds)
}

/// Room for the table of revisions.
pub(super) struct KeyRoom {
    rows: usize,
    /// True on a small page, where the hash is left out: the image suffices.
    small: bool,
    /// Maximum length of an image.
    image: usize,
}

/// Adds the newest revisions, with their swatches.
pub(super) fn keys(
    track: &Track,
    order: &[usize],
    swatches: &[Swatch],
    room: &KeyRoom,
) -> Vec<RevisionKey> {
    let words = |(rank, at): (usize, usize)| {
        let revision = &track.revisions[at];
        let hash = if room.small {
            Message::default()
        } else {
            Message::name(&revision.hash)
        };
        let current = rank + 1 == order.len() && revision.number == track.current;
        let standing = match revision.rolled_back_from {
            _ if room.small || !current => Message::default(),
            Some(from) => msg::chart_rolled_back(revision.number, from),
            None => msg::chart_newest(),
        };
        RevisionKey {
            swatch: swatches[at],
            revision: at,
            image: image(track, at, room.image),
            hash: dotted(vec![hash, standing]),
        }
    };
    order
        .iter()
        .copied()
        .enumerate()
        .skip(order.len().saturating_sub(room.rows))
        .map(words)
        .collect()
}

/// Returns the number of a revision, if another one has the same image.
fn number(track: &Track, revision: usize) -> Option<i64> {
    let own = &track.revisions[revision];
    let is_alone = track
        .revisions
        .iter()
        .filter(|other| other.image == own.image)
        .count()
        == 1;
    Some(own.number).filter(|number| *number > 0 && !is_alone)
}

/// Formats a revision by its image, for the table and its area.
fn image(track: &Track, revision: usize, most: usize) -> Message {
    let name = format::middle(
        images::name(&track.revisions[revision].image, &track.images()),
        most,
    );
    match number(track, revision) {
        Some(number) => msg::chart_numbered(name, number),
        None => Message::name(name),
    }
}

/// Returns shorter and shorter names of a revision that distinguish it from the others.
fn brief(track: &Track, revision: usize) -> Vec<Message> {
    if let Some(number) = number(track, revision) {
        return vec![msg::chart_number(number)];
    }
    let labels =
        [12, 6].map(|room| images::label(&track.revisions[revision].image, &track.images(), room));
    labels
        .into_iter()
        .filter(|label| !label.contains('…'))
        .map(Message::name)
        .collect()
}

pub(super) fn summary(track: &Track) -> Message {
    let Some(point) = track.points.last() else {
        return msg::chart_empty();
    };
    let counts = |at: usize| {
        let count = point.counts.get(at).copied().unwrap_or_default();
        let Revision { image, hash, .. } = &track.revisions[at];
        let image = images::name(image, &track.images());
        msg::chart_revision(
            if hash.is_empty() {
                image.to_string()
            } else {
                format!("{image} ({hash})")
            },
            counted(count),
        )
    };
    let order = track.by_number();
    let of = msg::chart_summary(&track.id.kind, &track.id.name, point.desired);
    let back = Some(back(track)).filter(|back| !back.is_empty());
    clauses(
        std::iter::once(of)
            .chain(order.iter().map(|at| counts(*at)))
            .chain(back)
            .collect(),
    )
}

/// Describes a rollback of the workload: target and source revision; empty if there was none.
fn back(track: &Track) -> Message {
    let current = track
        .revisions
        .iter()
        .find(|revision| revision.number == track.current);
    let back = current.and_then(|revision| {
        Some(msg::chart_rolled_back(
            revision.number,
            revision.rolled_back_from?,
        ))
    });
    back.unwrap_or_default()
}
