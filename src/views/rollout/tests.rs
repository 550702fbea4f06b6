//! What a chart shows.

use super::layout::{draw, layout, long};
use crate::projection::model::Id;
use crate::projection::rollout_track::{Extent, Point, Revision, Track};
use crate::views::shape::CardBody;

use crate::projection::rollout_track::Count;

fn num(text: &str) -> f64 {
    text.parse().expect("a number")
}

fn revision(image: &str, hash: &str) -> Revision {
    Revision { image: image.into(), hash: hash.into(), ..Revision::default() }
}

#[test]
fn a_rollout_fills_the_chart_however_long_ago_it_was() {
    let point = |at, ready| Point { at, counts: vec![Count { ready, unready: 0 }], limits: (1, 1), desired: 1 };
    let (id, points) = (Id::named("Deployment", "web"), vec![point(60_000, 0), point(63_000, 1)]);
    let track = Track { id, revisions: vec![revision("1.14", "a")], points, now: 3_600_000, ..Track::default() };
    let chart = draw(&track, &Extent::of(&track), 900.0, 400.0);
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
    let mut track = Track { revisions: vec![revision("1.14", "a"), revision("1.16", "b")], points, now: 26_000, ..Track::default() };
    let chart = draw(&track, &Extent::of(&track), 900.0, 400.0);
    assert!((19_000..20_000).contains(&chart.axis.from), "{:?}", chart.axis);
    assert_eq!(chart.counts(0, chart.axis.from), ["3", "0"]);
    assert_eq!(chart.next(20_000, false), chart.axis.from);
    assert!(chart.paths.iter().all(|(_, d)| !d.contains("M-") && !d.contains("L-") && !d.contains("H-")));
    track.points.push(point(26_000, 0, 3));
    assert_eq!(draw(&track, &Extent::of(&track), 900.0, 400.0).axis.from, 0);
}

#[test]
fn a_scaling_has_no_limits_to_be_under_or_over() {
    let point = |at, ready, unready, limits, desired| Point { at, counts: vec![Count { ready, unready }], limits, desired };
    let points =
        vec![point(0, 4, 0, (3, 5), 4), point(5_000, 4, 8, (9, 15), 12), point(9_000, 12, 0, (9, 15), 12), point(14_000, 12, 0, (3, 5), 4)];
    let track = Track { revisions: vec![revision("1.14", "a")], points, now: 19_000, ..Track::default() };
    let chart = draw(&track, &Extent::of(&track), 900.0, 400.0);
    assert!(!chart.paths.iter().any(|(class, _)| class == "short" || class.starts_with("dot")), "{:?}", chart.paths);
    assert!(!chart.words.iter().any(|word| word.4.english().contains("the limit")), "{:?}", chart.words);
}

#[test]
fn what_is_under_its_limit_is_marked_and_notes_lie_on_nothing() {
    // One of them is of the next revision.
    let point = |at, ready: u32, unready: u32| {
        let next = Count { ready: ready.min(1), unready: u32::from(ready == 0) };
        let first = Count { ready: ready - next.ready, unready: unready - next.unready };
        Point { at, counts: vec![first, next], limits: (9, 15), desired: 12 }
    };
    let points = vec![point(0, 0, 12), point(3_000, 12, 0), point(10_000, 9, 6), point(14_000, 0, 7), point(17_000, 12, 5)];
    let left = vec![(14_000, "shop-a".into(), 15, "user".into())];
    let revisions = vec![revision("1.14", "a"), revision("1.16", "b")];
    let track = Track { revisions, points, left, now: 19_000, ..Track::default() };
    for (width, height) in [(358.0, 508.0), (760.0, 560.0), (1400.0, 720.0)] {
        let chart = draw(&track, &Extent::of(&track), width, height);
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
    let track = Track { revisions: vec![revision("1.14", "a")], points: vec![point(0), point(9_000)], now: 9_000, ..Track::default() };
    for (width, height) in [(358.0, 508.0), (448.0, 240.0), (688.0, 300.0), (1400.0, 720.0)] {
        let chart = draw(&track, &Extent::of(&track), width, height);
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
        left: vec![(2_000, "web-0".into(), 1, "user".into())],
        id: Id::named("Deployment", "nginx"),
        revisions: vec![revision("1.14", ""), revision("1.16", "")],
        points: vec![
            point(0, [count(3, 0), count(0, 0)]),
            point(1000, [count(3, 0), count(0, 1)]),
            point(2000, [count(2, 0), count(1, 0)]),
        ],
        now: 4000,
        ..Track::default()
    };
    let scene = layout(&track, None, 900.0, 500.0);
    let CardBody::Chart(chart) = &scene.items[0].body else { panic!("a chart") };
    let layers: Vec<&str> = chart.paths.iter().map(|path| path.0.as_str()).filter(|class| class.starts_with("layer")).collect();
    assert_eq!(layers, ["layer unr r0", "layer rdy r0", "layer rdy r1"]);
    assert_eq!(chart.keys[1].1, 1);
    assert_eq!(chart.keys[1].2.each_ref().map(|words| words.as_str()), ["1.16", "newest"]);
    // Any instant can be asked about, and the changes be gone through.
    assert_eq!((chart.counts(1, 1500), chart.counts(0, 9000)), (["0".into(), "1".into()], ["2".into(), "0".into()]));
    assert_eq!(chart.said(1500), "00:01.500; 3 desired · at least 2 · at most 4; 1.14: 3 ready, 0 not ready; 1.16: 0 ready, 1 not ready");
    assert_eq!([chart.next(0, true), chart.next(1500, false), chart.next(2000, true), chart.next(0, false)], [1000, 1000, 4000, 700]);
    assert_eq!(chart.rows()[0], ["1.16", "newest", "1 ready, 0 not ready"]);
    // The limits are lines of one height each.
    assert!(chart.paths.iter().filter(|path| path.0.starts_with("limit")).all(|path| !path.1.contains(['L', 'V'])));
    assert!(chart.words.iter().any(|word| word.4 == "at most 4") && chart.words.iter().any(|word| word.4 == "at least 2"));
    assert!(scene.summary.contains("revision 1.16: 1 ready, 0 not ready"));
    // They go on to the edge, where their words are.
    let ahead: Vec<&String> = chart.paths.iter().filter(|path| path.0 == "limit ahead").map(|path| &path.1).collect();
    assert!(ahead.len() == 2 && ahead.iter().all(|d| d.ends_with(&format!("H{:.1}", chart.plot.right()))), "{ahead:?}");
    // Where both are one, what is desired is told.
    let still = Track { points: vec![Point { limits: (3, 3), ..point(0, [count(3, 0), count(0, 0)]) }], ..track.clone() };
    let words = draw(&still, &Extent::of(&still), 900.0, 500.0).words;
    assert!(words.iter().any(|word| word.4 == "3 desired") && !words.iter().any(|word| word.4.starts_with("at ")));
}

#[test]
fn a_revision_that_was_rolled_back_to_is_told_from_the_newest_and_stands_last() {
    let numbered = |image: &str, number, from| Revision { image: image.into(), number, rolled_back_from: from, ..Revision::default() };
    let point =
        |at, old, new| Point { at, counts: [old, new].map(|ready| Count { ready, unready: 0 }).to_vec(), limits: (2, 4), desired: 3 };
    let revisions = vec![numbered("1.14", 3, Some(2)), numbered("1.16", 2, None)];
    let mut track = Track { revisions, current: 3, points: vec![point(0, 0, 3), point(5_000, 3, 0)], now: 6_000, ..Track::default() };
    let said = |track: &Track, width: f64| {
        let chart = draw(track, &Extent::of(track), width, 500.0);
        chart.keys.iter().map(|(class, _, [image, words])| format!("{class} {image} {words}")).collect::<Vec<_>>()
    };
    let back = "r0 1.14 revision 3, rolled back from 2";
    assert_eq!(said(&track, 900.0), ["r1 1.16 ", back]);
    // On a phone the row has no room: the line under the title says it.
    let phone = draw(&track, &Extent::of(&track), 358.0, 508.0);
    assert_eq!(phone.line(5_500, false), "revision 3, rolled back from 2");
    assert_eq!(phone.line(5_500, true), phone.wants(5_500));
    assert!(super::layout::summary(&track).ends_with("revision 3, rolled back from 2"));
    // What the workload rolls out next is the newest again, also before it has its first Pod.
    track.current = 4;
    assert_eq!(said(&track, 900.0), ["r1 1.16 ", "r0 1.14 "]);
    track.revisions.push(numbered("1.18", 4, None));
    assert_eq!(said(&track, 900.0)[2], "r0 1.18 newest");
}

#[test]
fn charts_side_by_side_have_the_same_axes() {
    let point = |at, ready, most| Point { at, counts: vec![Count { ready, unready: 0 }], limits: (1, most), desired: 1 };
    let of = |points| Track { revisions: vec![revision("1.14", "a")], points, now: 90_000, ..Track::default() };
    let tracks = [of(vec![point(1_000, 1, 1)]), of(vec![point(2_000, 1, 1), point(60_000, 12, 12), point(80_000, 5, 6)])];
    let extents = tracks.each_ref().map(Extent::of);
    let chart = |i: usize| match &layout(&tracks[i], Some(&extents[1 - i]), 700.0, 500.0).items[0].body {
        CardBody::Chart(chart) => chart.clone(),
        _ => panic!("a chart"),
    };
    let [a, b] = [chart(0), chart(1)];
    assert_eq!((&a.axis, a.plot), (&b.axis, b.plot));
    let ticks = |chart: &super::Chart| chart.words.iter().filter(|word| ["", "time"].contains(&word.3)).cloned().collect::<Vec<_>>();
    assert_eq!(ticks(&a), ticks(&b));
}
