//! A rollout over time: the Pods of each revision, ready and not ready, between the lower and the upper limit.

use super::axis::{Axis, FOLD, Idle};
use super::format::{self, clock};
use super::model::Id;
use super::shape::{Body, Rect, Scene};
use std::fmt::Write as _;
use std::rc::Rc;

/// How many Pods of a revision there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Ready.
    pub ready: u32,
    /// Neither ready nor leaving.
    pub unready: u32,
}

/// One instant at which something changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    /// Milliseconds.
    pub at: u64,
    /// By revision.
    pub counts: Vec<Count>,
    /// Pods that must stay available, and Pods allowed.
    pub limits: (u32, u32),
    /// Pods wanted.
    pub desired: u32,
}

impl Point {
    /// Pods that are ready.
    fn ready(&self) -> u32 {
        self.counts.iter().map(|count| count.ready).sum()
    }

    /// All Pods.
    fn all(&self) -> u32 {
        self.counts.iter().map(|count| count.ready + count.unready).sum()
    }
}

/// The history of one workload's Pods.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Track {
    /// Which workload.
    pub id: Id,
    /// The revisions, oldest first: what tells them apart.
    pub revisions: Vec<String>,
    /// In order of time.
    pub points: Vec<Point>,
    /// Pods that were made to go last: when, the first of those that one made go at that instant, how many, and by whom.
    pub left: Vec<(u64, String, u32, String)>,
    /// The instant shown.
    pub now: u64,
}

/// Place, anchor, class, words.
type Word = (f64, f64, &'static str, &'static str, String);

/// Which of the points stand for all where there are several in a stretch: the one with the fewest ready Pods under its limit, the one
/// with the most Pods, and the last. What was below a limit or above one is not forgotten. The first of all stays.
pub fn fewer<S: PartialEq>(points: &[Point], stretch: impl Fn(usize) -> S) -> Vec<usize> {
    let missing = |i: usize| (points[i].limits.0.saturating_sub(points[i].ready()), std::cmp::Reverse(points[i].ready()));
    let over = |i: usize| (points[i].all().saturating_sub(points[i].limits.1), points[i].all());
    let mut out = Vec::new();
    let mut from = 0;
    while from < points.len() {
        let here = stretch(from);
        let to = (from + 1..points.len()).find(|i| stretch(*i) != here).unwrap_or(points.len());
        let least = (from..to).max_by_key(|i| missing(*i)).unwrap_or(from);
        let most = (from..to).max_by_key(|i| over(*i)).unwrap_or(from);
        let first = if from == 0 { 0 } else { to - 1 };
        out.extend((from..to).filter(|i| [first, least, most, to - 1].contains(i)));
        from = to;
    }
    out
}

/// A drawn chart: paths with their classes, words, and what can be asked about any of its instants.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// Class and path, in paint order.
    pub paths: Vec<(String, String)>,
    /// Place, anchor, class, words.
    pub words: Vec<Word>,
    /// Whose Pods they are.
    pub title: String,
    /// The revisions that are named: the class of their layer, which one, image and hash.
    pub keys: Vec<(&'static str, usize, [String; 2])>,
    /// Where they are named, from the left.
    pub left: f64,
    /// In a low frame they are named in one row.
    pub low: bool,
    /// Where the plot is.
    pub plot: Rect,
    /// Its time.
    pub axis: Axis,
    /// What changed, in order of time.
    pub points: Vec<Point>,
    /// The instant shown.
    pub now: u64,
}

impl Chart {
    /// What holds at an instant.
    pub fn point(&self, at: u64) -> Point {
        let after = self.points.partition_point(|point| point.at <= at);
        self.points.get(after.saturating_sub(1)).cloned().unwrap_or_default()
    }

    /// The next change after an instant, or the last before it.
    pub fn next(&self, at: u64, forward: bool) -> u64 {
        let mut times = self.points.iter().map(|point| point.at);
        let found = if forward { times.find(|time| *time > at) } else { times.rfind(|time| *time < at) };
        found.unwrap_or(if forward { self.now } else { self.axis.from }).max(self.axis.from)
    }

    /// What is desired at an instant, and between which limits.
    pub fn wants(&self, at: u64) -> String {
        let Point { desired, limits: (least, most), .. } = self.point(at);
        let count = |n: u32| format::count(n as usize);
        let words = format!("{} desired", count(desired));
        if least == most { words } else { format!("{words} · at least {} · at most {}", count(least), count(most)) }
    }

    /// Ready and not ready Pods of a revision at an instant.
    pub fn counts(&self, revision: usize, at: u64) -> [String; 2] {
        let of = self.point(at).counts.get(revision).copied().unwrap_or_default();
        [of.ready, of.unready].map(|n| format::count(n as usize))
    }

    /// Ready Pods of all of a revision at an instant.
    pub fn share(&self, revision: usize, at: u64) -> String {
        let of = self.point(at).counts.get(revision).copied().unwrap_or_default();
        [of.ready, of.ready + of.unready].map(|n| format::count(n as usize)).join(" / ")
    }

    /// What there is of each revision at the instant shown, the newest first: image, hash, Pods.
    pub fn rows(&self) -> Vec<[String; 3]> {
        let row = |(_, revision, [image, hash]): &(&'static str, usize, [String; 2])| {
            let [ready, not] = self.counts(*revision, self.now);
            [image.clone(), hash.clone(), format!("{ready} ready, {not} not ready")]
        };
        self.keys.iter().rev().map(row).collect()
    }

    /// An instant in words.
    pub fn said(&self, at: u64) -> String {
        let all = self.keys.iter().map(|(_, revision, [image, _])| {
            let [ready, not] = self.counts(*revision, at);
            format!("{image}: {ready} ready, {not} not ready")
        });
        [clock(at), self.wants(at)].into_iter().chain(all).collect::<Vec<_>>().join("; ")
    }
}

/// As many revisions are named, the newest.
const KEYS: usize = 5;
/// How wide a letter is, how far after the plot the words of its limits begin, and how far a note stands from what it is about.
const LETTER: f64 = 6.0;
const AFTER: f64 = 8.0;
const LEADER: f64 = 14.0;
/// Where the plot is within the chart.
const PLOT: Rect = Rect { x: 56.0, y: 34.0, w: 0.0, h: 0.0 };

/// Lays the chart out.
// Not part of `State::draw`: the page opens with one view, and the others come after it (scripts/split.mjs).
#[inline(never)]
pub fn layout(track: &Track, width: f64, height: f64) -> Scene {
    let mut out = Scene { summary: summary(track), ..Scene::default() };
    if track.points.is_empty() {
        return out;
    }
    // A low frame has no controls at the foot.
    let foot = if height < super::ownership::LOW_FRAME { 0.0 } else { 44.0 };
    let rect = Rect::new(16.0, 16.0, (width - 32.0).clamp(300.0, 1400.0), (height - 32.0 - foot).clamp(236.0, 720.0));
    let chart = draw(track, rect.w, rect.h);
    let id = Id { uid: format!("rollout/{}", track.id.uid), ..track.id.clone() };
    out.put(&id, rect, Body::Chart(Rc::new(chart)), None, "", out.summary.clone());
    out.finish(16.0)
}

/// Height of the table of revisions.
fn head(track: &Track) -> f64 {
    track.revisions.len().min(KEYS) as f64 * 20.0 + 28.0
}

/// Room beside the plot for the words of its limits, the longest they have been.
fn beside(track: &Track, small: bool) -> f64 {
    let (least, most) = track
        .points
        .iter()
        .fold((0, 0), |(least, most), Point { limits, desired, .. }| (limits.0.max(least), limits.1.max(*desired).max(most)));
    let words = ["at least ", "at most "].iter().zip([least, most]).map(|(words, n)| long(words) + long(&format::count(n as usize)));
    (words.fold(0.0, f64::max) + AFTER + 10.0).max(if small { 72.0 } else { 104.0 })
}

fn draw(track: &Track, width: f64, height: f64) -> Chart {
    let small = width < 520.0;
    let left = if small { 16.0 } else { PLOT.x };
    // A low frame leaves as much as it can to the plot.
    let low = height < super::ownership::LOW_FRAME - 32.0;
    // There the title has a line of its own.
    let top = if low { PLOT.y + 32.0 } else { PLOT.y + head(track) + if small { 20.0 } else { 0.0 } };
    let plot = Rect::new(PLOT.x, top, width - PLOT.x - beside(track, small), height - top - if low { 28.0 } else { 44.0 });
    let axis = axis(track, plot.w);
    // With what held when the axis begins.
    let points = &track.points[track.points.partition_point(|point| point.at <= axis.from).saturating_sub(1)..];
    let keys = keys(track, small, if low { if small { 2 } else { 3 } } else { KEYS });
    let mut out = Chart { left, low, plot, keys, points: points.to_vec(), now: track.now, ..Chart::default() };
    out.title = format!("{} {}", track.id.kind, format::middle(&track.id.name, if small { 20 } else { 63 }));
    let all = Point::all;
    let most = points.iter().map(|point| all(point).max(point.limits.1).max(point.desired)).max().unwrap_or(1).max(1);
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
        out.words.push((plot.x - 8.0, y(n) + 4.0, "end", "", format::count(n as usize)));
    }
    out.paths.push(("grid".into(), grid));
    let (ticks, step) = axis.ticks_apart(if small { 72.0 } else { 110.0 });
    let times = ticks.into_iter().map(|at| (axis.x(at), format::tick(at, step)));
    for (x, words) in times.chain(axis.breaks().map(|(x, idle)| (x, format::about(idle)))) {
        out.words.push((plot.x + x, plot.bottom() + if low { 17.0 } else { 20.0 }, "middle", "time", words));
    }
    // Layers from the bottom: the newest revision's ready Pods stand on the older ones, so that it is seen to take over. On all that are
    // ready stand those that are not: one edge is to be compared with the lower limit, the uppermost with the upper.
    let revisions = track.revisions.len();
    let mut below = vec![0u32; points.len()];
    for ready in [true, false] {
        for revision in 0..revisions {
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
            let class = format!("{} {}", if ready { "rdy" } else { "unr" }, shade(revision, revisions));
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
    let lines: [(&str, &str, Pick); 2] = [("at least", "least", |point| point.limits.0), ("at most", "most", |point| point.limits.1)];
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
        ahead(&mut out, plot, (x(track.now), y(value)), format!("{words} {}", format::count(value as usize)));
    }
    // Where no limit holds, what is wanted does.
    if let Some(point) = last.filter(|point| point.limits.0 == point.limits.1 && point.desired > 0) {
        ahead(&mut out, plot, (x(track.now), y(point.desired)), format!("{} desired", format::count(point.desired as usize)));
    }
    let mut notes = Notes { plot, taken: Vec::new() };
    notes.taken.extend(axis.breaks().map(|(middle, _)| Rect::new(plot.x + middle - FOLD / 2.0, plot.y, FOLD, plot.h)));
    notes.taken.push(Rect::new(x(track.now) - 2.0, plot.y, 4.0, plot.h));
    if let Some(point) = last.filter(|_| limited) {
        notes.taken.extend([point.limits.0, point.limits.1].map(|n| Rect::new(plot.x, y(n) - 1.0, plot.w, 2.0)));
    }
    // Limits hold for what ReplicaSets ask for; Pods are deleted some at a time.
    let over = |point: &&Point| all(point).saturating_sub(point.limits.1);
    if let Some(point) =
        points.iter().rev().filter(|point| limited && over(point) > 0 && point.limits.1 > 0).max_by_key(|point| over(point))
    {
        let many = format::count(over(&point) as usize);
        let now = points.last().is_some_and(|last| std::ptr::eq(last, point));
        let words = match now {
            true if small => format!("{many} over the limit"),
            true => format!("{many} over the limit, not deleted yet"),
            false => format!("{many} over the limit at {}", format::stamp(point.at)),
        };
        notes.mark(&mut out, (x(point.at), y(all(point))), -1.0, "", words);
    }
    // And they are lowered by what the status says, which may lag behind Pods that go.
    let ready = Point::ready;
    let under = |point: &&Point| point.limits.0.saturating_sub(ready(point));
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
        let words = format!("{} below the limit at {}", format::count(under(&point) as usize), format::stamp(point.at));
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
fn long(words: &str) -> f64 {
    words.chars().count() as f64 * LETTER
}

/// Whether one lies on the other.
fn meets(a: &Rect, b: &Rect) -> bool {
    a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom()
}

/// Notes within the plot: none lies on another, on a line of a limit or on a fold.
struct Notes {
    plot: Rect,
    taken: Vec<Rect>,
}

impl Notes {
    /// The words of a place that is marked by a dot: before it, and as far above or below as nothing is in the way, with a leader to them.
    fn mark(&mut self, out: &mut Chart, (x, y): (f64, f64), down: f64, bad: &str, words: String) {
        let plot = self.plot;
        let words = format::middle(&words, ((plot.w - 8.0) / LETTER) as usize);
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
    fn put(&mut self, out: &mut Vec<Word>, x: f64, y: f64, class: &'static str, words: String) {
        let plot = self.plot;
        let words = format::middle(&words, ((plot.w - 8.0) / LETTER) as usize);
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
fn ahead(out: &mut Chart, plot: Rect, (from, y): (f64, f64), words: String) {
    out.paths.push(("limit ahead".into(), format!("M{from:.1} {y:.1}H{:.1}", plot.right())));
    out.words.push((plot.right() + AFTER, y + 4.0, "start", "lim", words));
}

/// The longest time for which Pods were missing that had been there, how many are wanted, and who made them go.
fn gap(track: &Track, points: &[Point], all: &dyn Fn(&Point) -> u32) -> Option<(u64, u64, u32, String)> {
    // In an update some may be missing.
    let missing = |point: &Point| {
        let least = if point.limits.0 == point.limits.1 { point.desired } else { point.limits.0 };
        all(point) < least
    };
    let begins = (1..points.len()).filter(|i| missing(&points[*i]) && !missing(&points[i - 1]));
    let gaps = begins.filter_map(|i| {
        // Of several the one who made most go.
        // Of a long history not every instant is left.
        let left = track.left.iter().rev().filter(|left| left.0 <= points[i].at && left.0 > points[i - 1].at);
        let (_, name, pods, by) = left.max_by_key(|left| left.2)?;
        let to = points[i..].iter().find(|point| !missing(point)).map_or(track.now, |point| point.at);
        let words = match pods {
            1 => format!("{} deleted by {by}", format::middle(name, 20)),
            n => format!("{} Pods deleted by {by}", format::count(*n as usize)),
        };
        Some((points[i].at, to, points[i].desired, words))
    });
    gaps.max_by_key(|(from, to, ..)| to - from)
}

/// When the update that runs began: Pods of two revisions there have been since.
pub fn began(track: &Track) -> Option<u64> {
    let mixed = |point: &Point| point.counts.iter().filter(|count| count.ready + count.unready > 0).count() > 1;
    let after = track.points.iter().rposition(|point| !mixed(point)).map_or(0, |last| last + 1);
    track.points.get(after).map(|point| point.at)
}

/// The time from the first Pod to a little after the instant shown, without what is long and idle. While an update runs, from
/// a little before that: what was before takes no room from it.
fn axis(track: &Track, width: f64) -> Axis {
    let first = track.points.first().map_or(0, |point| point.at);
    let before = |at: u64| at.saturating_sub(300.max((track.now.saturating_sub(at)) / 12));
    let began = began(track);
    let first = began.map_or(first, |at| before(at).max(first));
    let mut idle = Idle::since(first);
    track.points.iter().filter(|point| point.at > first).for_each(|point| idle.see(point.at));
    let folds = idle.folds(track.now);
    let busy = Axis::busy(track.now.saturating_sub(first), &folds).max(if began.is_some() { 1_500 } else { 4_000 }) as f64;
    Axis::new(first, busy * 1.05, width, folds)
}

/// The newest revisions, in their colours.
fn keys(track: &Track, small: bool, most: usize) -> Vec<(&'static str, usize, [String; 2])> {
    let revisions = track.revisions.len();
    let words = |(revision, name): (usize, &String)| {
        let (image, hash) = name.trim_end_matches(')').split_once(" (").unwrap_or((name, ""));
        let newest = if revision + 1 == revisions { " · newest" } else { "" };
        // On a small page the hash goes: the image tells enough.
        let hash = if small { String::new() } else { format!("{hash}{newest}") };
        (shade(revision, revisions), revision, [format::middle(image, if small { 18 } else { 30 }), hash])
    };
    track.revisions.iter().enumerate().skip(revisions.saturating_sub(most)).map(words).collect()
}

/// The newest revision has the full colour, those before it paler ones.
fn shade(revision: usize, revisions: usize) -> &'static str {
    match revisions - 1 - revision.min(revisions - 1) {
        0 => "r0",
        1 => "r1",
        2 => "r2",
        _ => "r3",
    }
}

/// A staircase through the points, forwards as the beginning of a path or backwards as its end.
fn steps(d: &mut String, (points, now): (&[Point], u64), values: &[u32], x: impl Fn(u64) -> f64, y: impl Fn(u32) -> f64, forwards: bool) {
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

fn summary(track: &Track) -> String {
    let Some(point) = track.points.last() else { return "No Deployment, StatefulSet or DaemonSet to follow.".into() };
    let parts: Vec<String> = track
        .revisions
        .iter()
        .zip(&point.counts)
        .map(|(name, count)| format!("revision {name}: {} ready, {} not ready", count.ready, count.unready))
        .collect();
    format!("{} {}, {} desired; {}.", track.id.kind, track.id.name, format::count(point.desired as usize), parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn num(text: &str) -> f64 {
        text.parse().expect("a number")
    }

    #[test]
    fn a_rollout_fills_the_chart_however_long_ago_it_was() {
        let point = |at, ready| Point { at, counts: vec![Count { ready, unready: 0 }], limits: (1, 1), desired: 1 };
        let (id, points) = (Id::named("Deployment", "web"), vec![point(60_000, 0), point(63_000, 1)]);
        let track = Track { id, revisions: vec!["1.14 (a)".into()], points, left: Vec::new(), now: 3_600_000 };
        let chart = draw(&track, 900.0, 400.0);
        assert!(chart.axis.x(63_000) > chart.plot.w * 0.6, "{:?}", chart.axis);
        assert!(chart.axis.x(track.now) < chart.plot.w);
        assert!(chart.words.iter().any(|word| word.4 == "58 min"), "{:?}", chart.words);
    }

    #[test]
    fn an_update_that_runs_has_the_chart_for_itself_and_no_longer() {
        let point = |at, old, new| {
            let counts = [old, new].map(|ready| Count { ready, unready: 0 }).to_vec();
            Point { at, counts, limits: (2, 4), desired: 3 }
        };
        let points = vec![point(0, 0, 0), point(9_000, 3, 0), point(20_000, 3, 1), point(25_000, 2, 2)];
        let mut track = Track { revisions: vec!["1.14 (a)".into(), "1.16 (b)".into()], points, now: 26_000, ..Track::default() };
        let chart = draw(&track, 900.0, 400.0);
        assert!((19_000..20_000).contains(&chart.axis.from), "{:?}", chart.axis);
        assert_eq!(chart.counts(0, chart.axis.from), ["3", "0"]);
        assert_eq!(chart.next(20_000, false), chart.axis.from);
        assert!(chart.paths.iter().all(|(_, d)| !d.contains("M-") && !d.contains("L-") && !d.contains("H-")));
        track.points.push(point(26_000, 0, 3));
        assert_eq!(draw(&track, 900.0, 400.0).axis.from, 0);
    }

    #[test]
    fn what_is_under_its_limit_is_marked_and_notes_lie_on_nothing() {
        let point = |at, ready, unready| Point { at, counts: vec![Count { ready, unready }], limits: (9, 15), desired: 12 };
        let points = vec![point(0, 0, 12), point(3_000, 12, 0), point(10_000, 9, 6), point(14_000, 0, 7), point(17_000, 12, 5)];
        let left = vec![(14_000, "shop-a".into(), 15, "you".into())];
        let track = Track { revisions: vec!["1.14 (a)".into()], points, left, now: 19_000, ..Track::default() };
        for (width, height) in [(358.0, 508.0), (760.0, 560.0), (1400.0, 720.0)] {
            let chart = draw(&track, width, height);
            let short: Vec<&String> = chart.paths.iter().filter(|path| path.0 == "short").map(|path| &path.1).collect();
            // Only what was missing after all had been there.
            assert!(short.len() == 1 && short[0].matches('M').count() == 1, "{short:?}");
            let notes: Vec<_> = chart.words.iter().filter(|word| word.3.starts_with("lim") && word.0 < chart.plot.right()).collect();
            assert_eq!(notes.len(), 3, "{notes:?}");
            let notes: Vec<_> = notes
                .into_iter()
                .map(|(x, y, anchor, class, words)| (x - if *anchor == "end" { long(words) } else { 0.0 }, *y, *anchor, *class, words))
                .collect();
            // What is out of a limit is marked where it is, with its words before it, or where there is no room near it.
            for (class, down) in [("dot", false), ("dot bad", true)] {
                let dot = chart.paths.iter().find(|path| path.0 == class).expect("a dot");
                let leader = chart.paths.iter().find(|path| path.0 == class.replace("dot", "leader")).expect("a leader");
                let (x, y) = dot.1[1..].split_once('a').unwrap().0.split_once(' ').map(|(x, y)| (num(x) + 3.0, num(y))).unwrap();
                assert!(leader.1.ends_with(&format!("L{x:.1} {y:.1}")), "{leader:?} {dot:?}");
                let words = notes.iter().find(|note| note.3 == class.replace("dot", "lim")).expect("words");
                let down = down && y + 17.0 < chart.plot.bottom();
                assert!((words.1 - 4.0 > y) == down && (words.1 - 4.0 - y).abs() < 40.0, "{words:?} {y} {width}");
                assert!(
                    words.0 + long(words.4) <= x + 10.1 && x - words.0 - long(words.4) < 15.0 || words.0 < chart.plot.x + 4.1,
                    "{words:?} {x}"
                );
            }
            for (i, (x, y, _, _, words)) in notes.iter().enumerate() {
                assert!(*x >= chart.plot.x && x + long(words) <= chart.plot.right(), "{words} at {x}, {width}");
                assert!(*y <= chart.plot.bottom() && *y >= chart.plot.y, "{words} at {y}");
                for (other, below, _, _, others) in notes.iter().skip(i + 1).map(|note| (note.0, note.1, note.2, note.3, &note.4)) {
                    assert!((below - y).abs() >= 12.0 || *x + long(words) <= other || other + long(others) <= *x, "{words}, {others}");
                }
            }
            assert!(chart.words.iter().filter(|word| word.3 == "time").count() > 1, "{width}");
        }
    }

    #[test]
    fn what_is_written_beside_the_plot_has_room_on_the_card() {
        let point = |at| Point { at, counts: vec![Count { ready: 5_000, unready: 0 }], limits: (3_750, 6_250), desired: 5_000 };
        let track = Track { revisions: vec!["1.14 (a)".into()], points: vec![point(0), point(9_000)], now: 9_000, ..Track::default() };
        for (width, height) in [(358.0, 508.0), (448.0, 240.0), (688.0, 300.0), (1400.0, 720.0)] {
            let chart = draw(&track, width, height);
            let beside = chart.words.iter().filter(|word| word.0 > chart.plot.right());
            assert!(beside.clone().count() == 2 && beside.clone().all(|word| word.0 + long(&word.4) <= width - 6.0), "{width}");
            // A low frame is the plot's, with few lines.
            let ticks: Vec<f64> = chart.words.iter().filter(|word| word.2 == "end").map(|word| word.1).collect();
            assert!(ticks.windows(2).all(|two| two[0] - two[1] >= 24.0) && ticks.len() >= 3, "{height}: {ticks:?}");
            assert!(chart.plot.h >= height * 0.55 && chart.low == (height < 368.0), "{:?}", chart.plot);
        }
    }

    #[test]
    fn layers_stand_on_each_other_and_end_at_the_instant_shown() {
        let count = |ready, unready| Count { ready, unready };
        let point = |at, counts: [Count; 2]| Point { at, counts: counts.to_vec(), limits: (2, 4), desired: 3 };
        let track = Track {
            left: vec![(2_000, "web-0".into(), 1, "you".into())],
            id: Id::named("Deployment", "nginx"),
            revisions: vec!["1.14".into(), "1.16".into()],
            points: vec![
                point(0, [count(3, 0), count(0, 0)]),
                point(1000, [count(3, 0), count(0, 1)]),
                point(2000, [count(2, 0), count(1, 0)]),
            ],
            now: 4000,
        };
        let scene = layout(&track, 900.0, 500.0);
        let Body::Chart(chart) = &scene.items[0].body else { panic!("a chart") };
        let layers: Vec<&str> = chart.paths.iter().map(|path| path.0.as_str()).filter(|class| class.starts_with("layer")).collect();
        assert_eq!(layers, ["layer unr r0", "layer rdy r0", "layer rdy r1"]);
        assert_eq!((chart.keys[1].1, &chart.keys[1].2), (1, &["1.16".to_string(), " · newest".to_string()]));
        // Any instant can be asked about, and the changes be gone through.
        assert_eq!((chart.counts(1, 1500), chart.counts(0, 9000)), (["0".into(), "1".into()], ["2".into(), "0".into()]));
        assert_eq!(
            chart.said(1500),
            "00:01.500; 3 desired · at least 2 · at most 4; 1.14: 3 ready, 0 not ready; 1.16: 0 ready, 1 not ready"
        );
        assert_eq!([chart.next(0, true), chart.next(1500, false), chart.next(2000, true), chart.next(0, false)], [1000, 1000, 4000, 700]);
        assert_eq!(chart.rows()[0], ["1.16", " · newest", "1 ready, 0 not ready"]);
        // The limits are lines of one height each.
        assert!(chart.paths.iter().filter(|path| path.0.starts_with("limit")).all(|path| !path.1.contains(['L', 'V'])));
        assert!(chart.words.iter().any(|word| word.4 == "at most 4") && chart.words.iter().any(|word| word.4 == "at least 2"));
        assert!(scene.summary.contains("revision 1.16: 1 ready, 0 not ready"));
        // They go on to the edge, where their words are.
        let ahead: Vec<&String> = chart.paths.iter().filter(|path| path.0 == "limit ahead").map(|path| &path.1).collect();
        assert!(ahead.len() == 2 && ahead.iter().all(|d| d.ends_with(&format!("H{:.1}", chart.plot.right()))), "{ahead:?}");
        // Where both are one, what is desired is told.
        let still = Track { points: vec![Point { limits: (3, 3), ..point(0, [count(3, 0), count(0, 0)]) }], ..track.clone() };
        let words = draw(&still, 900.0, 500.0).words;
        assert!(words.iter().any(|word| word.4 == "3 desired") && !words.iter().any(|word| word.4.starts_with("at ")));
    }
}
