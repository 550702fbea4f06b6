//! A rollout over time: the Pods of each revision, ready and not ready, between the lower and the upper limit.

use super::model::{Chart, PlacedWord};
use crate::i18n::format;
use crate::i18n::{Message, clauses, dotted, msg};
use crate::projection::model::Id;
use crate::projection::rollout_track::{Extent, Point, Track, fewer};
use crate::views::axis::{Axis, FOLD, Idle};
use crate::views::shape::{CardBody, Rect, Scene};
use std::fmt::Write as _;
use std::rc::Rc;

/// As many revisions are named, the newest.
pub(super) const KEYS: usize = 5;
/// How wide a letter is, how far after the plot the words of its limits begin, and how far a note stands from what it is about.
pub(super) const LETTER: f64 = 6.0;
pub(super) const AFTER: f64 = 8.0;
pub(super) const LEADER: f64 = 14.0;
/// Where the plot is within the chart.
pub(super) const PLOT: Rect = Rect { x: 56.0, y: 34.0, w: 0.0, h: 0.0 };

/// Lays the chart out; `beside` is what a chart beside it has to hold, with which it shares its axes.
pub fn layout(track: &Track, beside: Option<&Extent>, width: f64, height: f64) -> Scene {
    let mut out = Scene { summary: summary(track), ..Scene::default() };
    if track.points.is_empty() {
        return out;
    }
    // A low frame has no controls at the foot.
    let foot = if height < crate::views::viewport::LOW_FRAME { 0.0 } else { 44.0 };
    let rect = Rect::new(16.0, 16.0, (width - 32.0).clamp(300.0, 1400.0), (height - 32.0 - foot).clamp(236.0, 720.0));
    let own = Extent::of(track);
    let extent = match beside {
        Some(other) => own.with(other),
        None => own,
    };
    let chart = draw(track, &extent, rect.w, rect.h);
    let id = Id { uid: format!("rollout/{}", track.id.uid), ..track.id.clone() };
    out.put(&id, rect, CardBody::Chart(Rc::new(chart)), None, "", out.summary.clone());
    out.finish(16.0)
}

/// Height of the table of revisions.
pub(super) fn head(revisions: usize) -> f64 {
    revisions.min(KEYS) as f64 * 20.0 + 28.0
}

/// Room beside the plot for the words of its limits, the longest they have been.
pub(super) fn beside((least, most): (u32, u32), small: bool) -> f64 {
    let words = [msg::chart_at_least(least), msg::chart_at_most(most)].map(|words| long(&words)).into_iter();
    (words.fold(0.0, f64::max) + AFTER + 10.0).max(if small { 72.0 } else { 104.0 })
}

pub(super) fn draw(track: &Track, extent: &Extent, width: f64, height: f64) -> Chart {
    let small = width < 520.0;
    let left = if small { 16.0 } else { PLOT.x };
    // A low frame leaves as much as it can to the plot.
    let low = height < crate::views::viewport::LOW_FRAME - 32.0;
    // There the title has a line of its own.
    let top = if low { PLOT.y + 32.0 } else { PLOT.y + head(extent.revisions) + if small { 20.0 } else { 0.0 } };
    let plot = Rect::new(PLOT.x, top, width - PLOT.x - beside(extent.limits, small), height - top - if low { 28.0 } else { 44.0 });
    let axis = axis(extent, track.now, plot.w);
    // With what held when the axis begins.
    let points = &track.points[track.points.partition_point(|point| point.at <= axis.from).saturating_sub(1)..];
    let keys = keys(track, small, if low { if small { 2 } else { 3 } } else { KEYS });
    let mut out = Chart { left, low, plot, keys, points: points.to_vec(), now: track.now, ..Chart::default() };
    out.back = back(track);
    out.title = msg::kind_name(&track.id.kind, format::middle(&track.id.name, if small { 20 } else { 63 }));
    let all = Point::all;
    let changes = &extent.changes[extent.changes.partition_point(|(at, _)| *at <= axis.from).saturating_sub(1)..];
    let most = changes.iter().map(|(_, most)| *most).max().unwrap_or(1).max(1);
    // Above all there is room for a note.
    let top = f64::from(most) / (1.0 - (26.0 / plot.h).min(0.15));
    let x = |at: u64| plot.x + axis.x(at.clamp(axis.from, track.now.max(axis.from)));
    let y = |n: u32| plot.bottom() - f64::from(n) / top * plot.h;

    // Of what falls on one pixel that is drawn which stands out.
    let every = points;
    let drawn: Vec<Point> = fewer(points, |i| x(points[i].at) as i64).into_iter().map(|i| points[i].clone()).collect();
    let points = &drawn[..];

    // Grid: at most six lines at whole numbers.
    let lines = ((plot.h / 36.0) as u32).clamp(2, 6);
    let step = [1, 2, 5, 10, 20, 25, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 50_000]
        .into_iter()
        .find(|step| most / step <= lines)
        .unwrap_or(100_000);
    let mut grid = String::new();
    for n in (0..=most).step_by(step as usize) {
        let _ = write!(grid, "M{} {:.1}H{}", plot.x, y(n), plot.right());
        out.words.push((plot.x - 8.0, y(n) + 4.0, "end", "", Message::count(n)));
    }
    out.paths.push(("grid".into(), grid));
    let (ticks, step) = axis.ticks_apart(if small { 72.0 } else { 110.0 });
    let times = ticks.into_iter().map(|at| (axis.x(at), format::tick(at, step)));
    for (x, words) in times.chain(axis.breaks().map(|(x, idle)| (x, format::about(idle)))) {
        out.words.push((plot.x + x, plot.bottom() + if low { 17.0 } else { 20.0 }, "middle", "time", Message::state(words)));
    }
    // Layers from the bottom: the newest revision's ready Pods stand on the older ones, so that it is seen to take over. On all that are
    // ready stand those that are not: one edge is to be compared with the lower limit, the uppermost with the upper.
    let order = track.by_number();
    let mut below = vec![0u32; points.len()];
    for ready in [true, false] {
        for (rank, revision) in order.iter().copied().enumerate() {
            let heights: Vec<u32> = points
                .iter()
                .map(|point| point.counts.get(revision).map_or(0, |count| if ready { count.ready } else { count.unready }))
                .collect();
            if heights.iter().all(|height| *height == 0) {
                continue;
            }
            let over: Vec<u32> = below.iter().zip(&heights).map(|(below, height)| below + height).collect();
            let mut d = String::new();
            steps(&mut d, (points, track.now), &over, x, y, true);
            let class = format!("{} {}", if ready { "rdy" } else { "unr" }, shade(rank, order.len()));
            let mut top = String::new();
            for (i, over) in over.iter().enumerate().filter(|(i, _)| heights[*i] > 0) {
                let to = points.get(i + 1).map_or(track.now, |next| next.at);
                let _ = write!(top, "M{:.1} {:.1}H{:.1}", x(points[i].at), y(*over), x(to));
            }
            out.paths.push((format!("top {class}"), top));
            steps(&mut d, (points, track.now), &below, x, y, false);
            d.push('Z');
            out.paths.insert(1, (format!("layer {class}"), d));
            below = over;
        }
    }
    // Limits.
    type Pick = fn(&Point) -> u32;
    type Words = fn(u32) -> Message;
    let lines: [(Words, &str, Pick); 2] =
        [(msg::chart_at_least, "least", |point| point.limits.0), (msg::chart_at_most, "most", |point| point.limits.1)];
    let last = points.last();
    let limited = points.iter().any(|point| point.limits.0 != point.limits.1);
    for (words, class, pick) in lines.into_iter().filter(|_| limited) {
        // One line a value, with nothing between them: what rises would look like an instant.
        let mut d = String::new();
        for (i, point) in points.iter().enumerate().filter(|(_, point)| pick(point) > 0) {
            let (from, to) = (x(point.at), x(points.get(i + 1).map_or(track.now, |next| next.at)));
            let goes_on = i > 0 && pick(&points[i - 1]) == pick(point);
            let _ = if goes_on { write!(d, "H{to:.1}") } else { write!(d, "M{from:.1} {:.1}H{to:.1}", y(pick(point))) };
        }
        out.paths.push((format!("limit {class}"), d));
        let value = last.map_or(0, pick);
        if last.is_none_or(|point| point.limits.0 == point.limits.1) {
            continue;
        }
        ahead(&mut out, plot, (x(track.now), y(value)), words(value));
    }
    // Where no limit holds, what is wanted does.
    if let Some(point) = last.filter(|point| point.limits.0 == point.limits.1 && point.desired > 0) {
        ahead(&mut out, plot, (x(track.now), y(point.desired)), msg::chart_desired(point.desired));
    }
    let mut notes = Notes { plot, taken: Vec::new() };
    notes.taken.extend(axis.breaks().map(|(middle, _)| Rect::new(plot.x + middle - FOLD / 2.0, plot.y, FOLD, plot.h)));
    notes.taken.push(Rect::new(x(track.now) - 2.0, plot.y, 4.0, plot.h));
    if let Some(point) = last.filter(|_| limited) {
        notes.taken.extend([point.limits.0, point.limits.1].map(|n| Rect::new(plot.x, y(n) - 1.0, plot.w, 2.0)));
    }
    // Limits hold for what ReplicaSets ask for; Pods are deleted some at a time.
    let over = |point: &&Point| if point.is_mixed() { all(point).saturating_sub(point.limits.1) } else { 0 };
    if let Some(point) =
        points.iter().rev().filter(|point| limited && over(point) > 0 && point.limits.1 > 0).max_by_key(|point| over(point))
    {
        let many = over(&point);
        let now = points.last().is_some_and(|last| std::ptr::eq(last, point));
        let words = match now {
            true if small => msg::chart_over(many),
            true => msg::chart_over_now(many),
            false => msg::chart_over_at(many, format::stamp(point.at)),
        };
        notes.mark(&mut out, (x(point.at), y(all(point))), -1.0, "", words);
    }
    // And they are lowered by what the status says, which may lag behind Pods that go.
    let ready = Point::ready;
    let under = |point: &&Point| if point.is_mixed() { point.limits.0.saturating_sub(ready(point)) } else { 0 };
    // Before an update has begun nothing is under its limit.
    let held = points.iter().position(|point| point.limits.0 > 0 && under(&point) == 0).unwrap_or(points.len());
    let mut short = String::new();
    for (i, point) in points.iter().enumerate().skip(held).filter(|(_, point)| limited && under(point) > 0) {
        let (from, to) = (x(point.at), x(points.get(i + 1).map_or(track.now, |next| next.at)));
        let _ = write!(short, "M{from:.1} {:.1}H{to:.1}V{:.1}H{from:.1}Z", y(point.limits.0), y(ready(point)));
    }
    if !short.is_empty() {
        out.paths.insert(1, ("short".into(), short));
    }
    if let Some(point) = points[held..].iter().filter(|point| limited && under(point) > 0).max_by_key(|point| under(point)) {
        let words = msg::chart_below(under(&point), format::stamp(point.at));
        notes.mark(&mut out, (x(point.at), y(ready(point))), 1.0, " bad", words);
    }
    if let Some((from, to, desired, words)) = gap(track, every, &all) {
        let half = long(&words) / 2.0;
        notes.put(&mut out.words, (x(from) + x(to)) / 2.0 + half, y(desired) - 6.0, "lim", words);
    }
    for (middle, _) in axis.breaks() {
        let d = format!("M{:.1} {}v{}h{FOLD}v-{}", plot.x + middle - FOLD / 2.0, plot.y, plot.h, plot.h);
        out.paths.push(("fold".into(), d));
    }
    out.paths.push(("now".into(), format!("M{:.1} {}V{}", x(track.now), plot.y - 8.0, plot.bottom())));
    out.axis = axis;
    out
}

/// How wide a note is.
pub(super) fn long(words: &Message) -> f64 {
    words.length() as f64 * LETTER
}

/// Whether one lies on the other.
pub(super) fn meets(a: &Rect, b: &Rect) -> bool {
    a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom()
}

/// Notes within the plot: none lies on another, on a line of a limit or on a fold.
pub(super) struct Notes {
    pub(super) plot: Rect,
    pub(super) taken: Vec<Rect>,
}

impl Notes {
    /// The words of a place that is marked by a dot: before it, and as far above or below as nothing is in the way, with a leader to them.
    pub(super) fn mark(&mut self, out: &mut Chart, (x, y): (f64, f64), down: f64, bad: &str, words: Message) {
        let plot = self.plot;
        let w = long(&words);
        // After it only where there is no room before it; where there is none at all, above or below it.
        let (before, after) = (x - LEADER - w >= plot.x + 4.0, x + LEADER + w <= plot.right() - 4.0);
        let left = match (before, after) {
            (true, _) => x - LEADER - w,
            (_, true) => x + LEADER,
            _ => (x + 10.0 - w).max(plot.x + 4.0),
        };
        // At the very bottom or top there is room on the other side only.
        let down = if (plot.y..plot.bottom()).contains(&(y + down * 17.0)) { down } else { -down };
        let top = |row: i32| (y + down * (10.0 + f64::from(row) * 4.0)).clamp(plot.y + 7.0, plot.bottom() - 9.0) - 7.0;
        let places = (0..16).map(|row| Rect::new(left, top(row + i32::from(!before && !after)), w, 14.0));
        let free = |place: &Rect| self.taken.iter().all(|other| !meets(place, other));
        let place = places.clone().find(free).or_else(|| places.clone().next()).unwrap_or_default();
        self.taken.push(place);
        self.taken.push(Rect::new(x - 3.0, y - 3.0, 6.0, 6.0));
        let middle = place.y + 7.0;
        let (from_x, from_y) = match (before, after) {
            (true, _) => (place.right() + 2.0, middle),
            (_, true) => (place.x - 2.0, middle),
            _ => (x, middle - down * 7.0),
        };
        out.paths.push((format!("leader{bad}"), format!("M{from_x:.1} {from_y:.1}L{x:.1} {y:.1}")));
        out.paths.push((format!("dot{bad}"), format!("M{:.1} {y:.1}a3 3 0 1 0 6 0a3 3 0 1 0 -6 0Z", x - 3.0)));
        let (at, anchor) = if before { (place.right(), "end") } else { (place.x, "start") };
        out.words.push((at, place.y + 11.0, anchor, if bad.is_empty() { "lim" } else { "lim bad" }, words));
    }

    /// Beside a place: before it, else after it, and where both are taken as near above or below as there is room.
    pub(super) fn put(&mut self, out: &mut Vec<PlacedWord>, x: f64, y: f64, class: &'static str, words: Message) {
        let plot = self.plot;
        let w = long(&words);
        let box_at = |x: f64, y: f64| {
            let x = x.min(plot.right() - w - 4.0).max(plot.x + 4.0);
            Rect::new(x, y.min(plot.bottom() - 6.0).max(plot.y + 12.0) - 11.0, w, 14.0)
        };
        let rows = (0..12).flat_map(|row| [f64::from(row), -f64::from(row)]);
        let places = rows.flat_map(|row| [x - w - 6.0, x + 6.0].map(|x| box_at(x, y + row * 8.0)));
        let free = |place: &Rect| self.taken.iter().all(|other| !meets(place, other));
        let place = places.clone().find(free).unwrap_or_else(|| box_at(x, y));
        self.taken.push(place);
        out.push((place.x, place.y + 11.0, "start", class, words));
    }
}

/// What holds now goes on until something changes it: the time to come is not empty, and its words stand still at the edge.
pub(super) fn ahead(out: &mut Chart, plot: Rect, (from, y): (f64, f64), words: Message) {
    out.paths.push(("limit ahead".into(), format!("M{from:.1} {y:.1}H{:.1}", plot.right())));
    out.words.push((plot.right() + AFTER, y + 4.0, "start", "lim", words));
}

/// The longest time for which Pods were missing that had been there, how many are wanted, and who made them go.
pub(super) fn gap(track: &Track, points: &[Point], all: &dyn Fn(&Point) -> u32) -> Option<(u64, u64, u32, Message)> {
    // In an update some may be missing.
    let missing = |point: &Point| {
        let least = if point.limits.0 == point.limits.1 { point.desired } else { point.limits.0 };
        all(point) < least
    };
    let begins = (1..points.len()).filter(|i| missing(&points[*i]) && !missing(&points[i - 1]));
    let gaps = begins.filter_map(|i| {
        // Of several the one who made most go; of a long history not every instant is left.
        let left = track.left.iter().rev().filter(|left| left.0 <= points[i].at && left.0 > points[i - 1].at);
        let (_, name, pods, by) = left.max_by_key(|left| left.2)?;
        let to = points[i..].iter().find(|point| !missing(point)).map_or(track.now, |point| point.at);
        let words = match pods {
            1 => msg::chart_deleted(format::middle(name, 20), by),
            n => msg::chart_deleted_many(n, by),
        };
        Some((points[i].at, to, points[i].desired, words))
    });
    gaps.max_by_key(|(from, to, ..)| to - from)
}

/// The time from the first Pod to a little after the instant shown, without what is long and idle. While an update runs, from
/// a little before that: what was before takes no room from it.
pub(super) fn axis(extent: &Extent, now: u64, width: f64) -> Axis {
    let first = extent.first.unwrap_or_default();
    let before = |at: u64| at.saturating_sub(300.max((now.saturating_sub(at)) / 12));
    let first = extent.began.map_or(first, |at| before(at).max(first));
    let mut idle = Idle::since(first);
    extent.changes.iter().filter(|(at, _)| *at > first).for_each(|(at, _)| idle.see(*at));
    let folds = idle.folds(now);
    let busy = Axis::busy(now.saturating_sub(first), &folds).max(if extent.began.is_some() { 1_500 } else { 4_000 }) as f64;
    Axis::new(first, busy * 1.05, width, folds)
}

/// The newest revisions, in their colours.
pub(super) fn keys(track: &Track, small: bool, most: usize) -> Vec<(&'static str, usize, [Message; 2])> {
    let order = track.by_number();
    let words = |(rank, at): (usize, usize)| {
        let revision = &track.revisions[at];
        // On a small page the hash goes: the image tells enough.
        let hash = if small { Message::default() } else { Message::name(&revision.hash) };
        let current = rank + 1 == order.len() && revision.number == track.current;
        let standing = match revision.rolled_back_from {
            _ if small || !current => Message::default(),
            Some(from) => msg::chart_rolled_back(revision.number, from),
            None => msg::chart_newest(),
        };
        let image = Message::name(format::middle(&revision.image, if small { 18 } else { 30 }));
        (shade(rank, order.len()), at, [image, dotted(vec![hash, standing])])
    };
    order.iter().copied().enumerate().skip(order.len().saturating_sub(most)).map(words).collect()
}

/// The current revision has the full colour, those before it paler ones.
pub(super) fn shade(revision: usize, revisions: usize) -> &'static str {
    match revisions - 1 - revision.min(revisions - 1) {
        0 => "r0",
        1 => "r1",
        2 => "r2",
        _ => "r3",
    }
}

/// A staircase through the points, forwards as the beginning of a path or backwards as its end.
pub(super) fn steps(
    d: &mut String,
    (points, now): (&[Point], u64),
    values: &[u32],
    x: impl Fn(u64) -> f64,
    y: impl Fn(u32) -> f64,
    forwards: bool,
) {
    let ends = |i: usize| points.get(i + 1).map_or(now, |next| next.at);
    let mut put = |begins: bool, x: f64, y: f64| {
        let _ = write!(d, "{}{x:.1} {y:.1}", if begins { 'M' } else { 'L' });
    };
    if forwards {
        for (i, (point, value)) in points.iter().zip(values).enumerate() {
            put(i == 0, x(point.at), y(*value));
            put(false, x(ends(i)), y(*value));
        }
    } else {
        for (i, (point, value)) in points.iter().zip(values).enumerate().rev() {
            put(false, x(ends(i)), y(*value));
            put(false, x(point.at), y(*value));
        }
    }
}

pub(super) fn summary(track: &Track) -> Message {
    let Some(point) = track.points.last() else {
        return msg::chart_empty();
    };
    let counts = |at: usize| {
        let count = point.counts.get(at).copied().unwrap_or_default();
        let counts = msg::chart_counts(format::count(count.ready as usize), format::count(count.unready as usize));
        msg::chart_revision(track.revisions[at].to_string(), counts)
    };
    let order = track.by_number();
    let of = msg::chart_summary(&track.id.kind, &track.id.name, point.desired);
    let back = Some(back(track)).filter(|back| !back.is_empty());
    clauses(std::iter::once(of).chain(order.iter().map(|at| counts(*at))).chain(back).collect())
}

/// If the workload was rolled back: to which revision, and from which.
fn back(track: &Track) -> Message {
    let current = track.revisions.iter().find(|revision| revision.number == track.current);
    let back = current.and_then(|revision| Some(msg::chart_rolled_back(revision.number, revision.rolled_back_from?)));
    back.unwrap_or_default()
}
