//! A rollout over time: the Pods of each revision, ready and not ready, between the lower and the upper limit.

use super::format::clock;
use super::marks::Axis;
use super::model::Id;
use super::shape::{Body, Rect, Scene};
use std::fmt::Write as _;

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

/// The history of one workload's Pods.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Track {
    /// Which workload.
    pub id: Id,
    /// The revisions, oldest first: what tells them apart.
    pub revisions: Vec<String>,
    /// In order of time.
    pub points: Vec<Point>,
    /// The instant shown.
    pub now: u64,
}

/// A drawn chart: paths with their classes, and words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// Class and path, in paint order.
    pub paths: Vec<(String, String)>,
    /// Place, anchor, class, words.
    pub words: Vec<(f64, f64, &'static str, &'static str, String)>,
    /// The legend: class, image, hash, ready, not ready.
    pub legend: Vec<(&'static str, [String; 4])>,
    /// Where the legend begins.
    pub left: f64,
}

/// As many revisions are named, the newest.
const KEYS: usize = 5;
/// Where the plot is within the chart.
const PLOT: Rect = Rect { x: 56.0, y: 34.0, w: 0.0, h: 0.0 };

/// Lays the chart out.
#[inline(never)]
pub fn layout(track: &Track, width: f64, height: f64) -> Scene {
    let mut out = Scene { summary: summary(track), ..Scene::default() };
    if track.points.is_empty() {
        return out;
    }
    let head = track.revisions.len().min(KEYS) as f64 * 20.0;
    let rect = Rect::new(16.0, 16.0, (width - 32.0).clamp(300.0, 1400.0), (height - 76.0).clamp(260.0, 400.0 + head));
    let chart = draw(track, rect.w, rect.h);
    let id = Id { uid: format!("rollout/{}", track.id.uid), ..track.id.clone() };
    out.put(&id, rect, Body::Chart(Box::new(chart)), None, "", out.summary.clone());
    out.finish(16.0)
}

fn draw(track: &Track, width: f64, height: f64) -> Chart {
    let small = width < 520.0;
    let left = if small { 16.0 } else { PLOT.x };
    let mut out = Chart { left, legend: legend(track, small), ..Chart::default() };
    let head = out.legend.len() as f64 * 20.0 + 8.0;
    let plot = Rect::new(PLOT.x, PLOT.y + head, width - PLOT.x - if small { 84.0 } else { 104.0 }, height - PLOT.y - head - 44.0);
    let first = track.points.first().map_or(0, |point| point.at);
    let span = (track.now.saturating_sub(first)).max(4_000);
    let axis = Axis { from: first, to: first + span + span / 20, width: plot.w };
    let all = |point: &Point| point.counts.iter().map(|count| count.ready + count.unready).sum::<u32>();
    let most = track.points.iter().map(|point| all(point).max(point.limits.1)).max().unwrap_or(1).max(1);
    let top = f64::from(most) * 1.08;
    let x = |at: u64| plot.x + axis.x(at.min(track.now));
    let y = |n: u32| plot.bottom() - f64::from(n) / top * plot.h;

    // Grid: at most six lines at whole numbers.
    let step = [1, 2, 5, 10, 20, 25, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 50_000]
        .into_iter()
        .find(|step| most / step <= 6)
        .unwrap_or(100_000);
    let mut grid = String::new();
    for n in (0..=most).step_by(step as usize) {
        let _ = write!(grid, "M{} {:.1}H{}", plot.x, y(n), plot.right());
        out.words.push((plot.x - 8.0, y(n) + 4.0, "end", "", super::format::count(n as usize)));
    }
    out.paths.push(("grid".into(), grid));
    let (ticks, _) = axis.ticks();
    for at in ticks.into_iter().filter(|at| *at <= axis.to) {
        out.words.push((
            plot.x + axis.x(at),
            plot.bottom() + 20.0,
            "middle",
            "time",
            clock(at).split('.').next().unwrap_or("").to_string(),
        ));
    }
    // Layers from the bottom: the newest revision's ready Pods stand on the older ones, so that it is seen to take over.
    let revisions = track.revisions.len();
    let mut below = vec![0u32; track.points.len()];
    for revision in 0..revisions {
        for ready in [true, false] {
            let heights: Vec<u32> = track
                .points
                .iter()
                .map(|point| point.counts.get(revision).map_or(0, |count| if ready { count.ready } else { count.unready }))
                .collect();
            if heights.iter().all(|height| *height == 0) {
                continue;
            }
            let over: Vec<u32> = below.iter().zip(&heights).map(|(below, height)| below + height).collect();
            let mut d = String::new();
            steps(&mut d, track, &over, x, y, true);
            let class = format!("{} {}", if ready { "rdy" } else { "unr" }, shade(revision, revisions));
            let mut top = String::new();
            for (i, over) in over.iter().enumerate().filter(|(i, _)| heights[*i] > 0) {
                let to = track.points.get(i + 1).map_or(track.now, |next| next.at);
                let _ = write!(top, "M{:.1} {:.1}H{:.1}", x(track.points[i].at), y(*over), x(to));
            }
            out.paths.push((format!("top {class}"), top));
            steps(&mut d, track, &below, x, y, false);
            d.push('Z');
            out.paths.insert(1, (format!("layer {class}"), d));
            below = over;
        }
    }
    // Limits.
    type Pick = fn(&Point) -> u32;
    let lines: [(&str, &str, Pick); 2] = [("at least", "least", |point| point.limits.0), ("at most", "most", |point| point.limits.1)];
    let last = track.points.last();
    let limited = last.is_some_and(|point| point.limits.0 != point.limits.1);
    for (words, class, pick) in lines.into_iter().filter(|_| limited) {
        // One line a value, with nothing between them: what rises would look like an instant.
        let mut d = String::new();
        for (i, point) in track.points.iter().enumerate().filter(|(_, point)| pick(point) > 0) {
            let (from, to) = (x(point.at), x(track.points.get(i + 1).map_or(track.now, |next| next.at)));
            let goes_on = i > 0 && pick(&track.points[i - 1]) == pick(point);
            let _ = if goes_on { write!(d, "H{to:.1}") } else { write!(d, "M{from:.1} {:.1}H{to:.1}", y(pick(point))) };
        }
        out.paths.push((format!("limit {class}"), d));
        let value = last.map_or(0, pick);
        out.words.push((x(track.now) + 8.0, y(value) + 4.0, "start", "lim", format!("{words} {}", super::format::count(value as usize))));
    }
    // Limits hold for what ReplicaSets ask for; Pods are deleted some at a time.
    let over = |point: &&Point| all(point).saturating_sub(point.limits.1);
    if let Some(point) =
        track.points.iter().filter(|point| limited && over(point) > 0 && point.limits.1 > 0).max_by_key(|point| over(point))
    {
        let words = format!("{} Pods too many are not deleted yet", super::format::count(over(&point) as usize));
        let (anchor, dx) = if x(point.at) > plot.cx() { ("end", -6.0) } else { ("start", 6.0) };
        out.words.push((x(point.at) + dx, y(all(point)) + 4.0, anchor, "lim", words));
    }
    if let Some(point) = last {
        out.words.push((
            left,
            22.0,
            "start",
            "head",
            format!(
                "{} {}: {} wanted",
                track.id.kind,
                super::format::middle(&track.id.name, if small { 16 } else { 63 }),
                super::format::count(point.desired as usize)
            ),
        ));
    }
    out.paths.push(("now".into(), format!("M{:.1} {}V{}", x(track.now), plot.y - 8.0, plot.bottom())));
    out
}

/// What each revision has, in its colour.
fn legend(track: &Track, small: bool) -> Vec<(&'static str, [String; 4])> {
    let revisions = track.revisions.len();
    let now = |revision| track.points.last().and_then(|point: &Point| point.counts.get(revision)).copied().unwrap_or_default();
    let count = |n: u32| super::format::count(n as usize);
    let words = |(revision, name): (usize, &String)| {
        let of: Count = now(revision);
        let (image, hash) = name.trim_end_matches(')').split_once(" (").unwrap_or((name, ""));
        let newest = if revision + 1 == revisions { " · newest" } else { "" };
        // On a small page the hash goes: the image tells enough.
        let hash = if small { String::new() } else { format!("{hash}{newest}") };
        let image = super::format::middle(image, if small { 18 } else { 30 });
        (shade(revision, revisions), [image, hash, format!("{} ready", count(of.ready)), format!("{} not ready", count(of.unready))])
    };
    track.revisions.iter().enumerate().skip(revisions.saturating_sub(KEYS)).map(words).collect()
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
fn steps(d: &mut String, track: &Track, values: &[u32], x: impl Fn(u64) -> f64, y: impl Fn(u32) -> f64, forwards: bool) {
    let ends = |i: usize| track.points.get(i + 1).map_or(track.now, |next| next.at);
    let mut put = |begins: bool, x: f64, y: f64| {
        let _ = write!(d, "{}{x:.1} {y:.1}", if begins { 'M' } else { 'L' });
    };
    if forwards {
        for (i, (point, value)) in track.points.iter().zip(values).enumerate() {
            put(i == 0, x(point.at), y(*value));
            put(false, x(ends(i)), y(*value));
        }
    } else {
        for (i, (point, value)) in track.points.iter().zip(values).enumerate().rev() {
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
    format!("{} {}, {} wanted; {}.", track.id.kind, track.id.name, point.desired, parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_stand_on_each_other_and_end_at_the_instant_shown() {
        let count = |ready, unready| Count { ready, unready };
        let point = |at, counts: [Count; 2]| Point { at, counts: counts.to_vec(), limits: (2, 4), desired: 3 };
        let track = Track {
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
        assert_eq!(chart.legend[1].1, ["1.16", " · newest", "1 ready", "0 not ready"]);
        // The limits are lines of one height each.
        assert!(chart.paths.iter().filter(|path| path.0.starts_with("limit")).all(|path| !path.1.contains(['L', 'V'])));
        assert!(chart.words.iter().any(|word| word.4 == "at most 4") && chart.words.iter().any(|word| word.4 == "at least 2"));
        assert!(scene.summary.contains("revision 1.16: 1 ready, 0 not ready"));
    }
}
