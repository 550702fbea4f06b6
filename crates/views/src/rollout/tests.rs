//! Contents of a chart.

use super::layout::{draw, layout};
use super::notes::long;
use super::{ChartPart, ChartWord, WordRole};
use crate::draw::primitive::Anchor;
use crate::shape::CardBody;
use apiserver::Component;
use projection::model::Id;
use projection::rollout_track::{Extent, Point, Revision, Track};

use projection::rollout_track::Count;

fn num(text: &str) -> f64 {
    text.parse().expect("a number")
}

fn pods(ready: u32, unready: u32) -> Count {
    Count {
        ready,
        unready,
        ..Count::default()
    }
}

fn numbers(chart: &super::Chart, revision: usize, at: u64) -> Vec<String> {
    chart.numbers(revision, at).collect()
}

fn revision(image: &str, hash: &str) -> Revision {
    Revision {
        image: image.into(),
        hash: hash.into(),
        ..Revision::default()
    }
}

#[test]
fn a_rollout_fills_the_chart_however_long_ago_it_was() {
    let point = |at, ready| Point {
        at,
        counts: vec![pods(ready, 0)],
        limits: (1, 1),
        desired: 1,
    };
    let (id, points) = (
        Id::named("Deployment", "web"),
        vec![point(60_000, 0), point(63_000, 1)],
    );
    let track = Track {
        id,
        revisions: vec![revision("1.14", "a")],
        points,
        now: 3_600_000,
        ..Track::default()
    };
    let chart = draw(&track, &Extent::of(&track), 900.0, 400.0);
    assert!(
        chart.axis.x(63_000) > chart.plot.w * 0.6,
        "{:?}",
        chart.axis
    );
    assert!(chart.axis.x(track.now) < chart.plot.w);
    assert!(
        chart.words.iter().any(|word| word.text == "58 min"),
        "{:?}",
        chart.words
    );
}

#[test]
fn the_last_update_has_the_chart_for_itself_also_long_after_its_end() {
    let point = |at, old, new| {
        let counts = [old, new].map(|ready| pods(ready, 0)).to_vec();
        Point {
            at,
            counts,
            limits: (2, 4),
            desired: 3,
        }
    };
    let points = vec![
        point(0, 0, 0),
        point(9_000, 3, 0),
        point(20_000, 3, 1),
        point(25_000, 2, 2),
    ];
    let mut track = Track {
        revisions: vec![revision("1.14", "a"), revision("1.16", "b")],
        points,
        now: 26_000,
        ..Track::default()
    };
    let chart = draw(&track, &Extent::of(&track), 900.0, 400.0);
    assert!(
        (19_000..20_000).contains(&chart.axis.from),
        "{:?}",
        chart.axis
    );
    assert_eq!(numbers(&chart, 0, chart.axis.from), ["3", "0"]);
    assert_eq!(chart.next(20_000, false), chart.axis.from);
    assert!(
        chart
            .paths
            .iter()
            .all(|path| ["M-", "L-", "H-"].iter().all(|step| !path.d.contains(step)))
    );
    track.points.push(point(26_000, 0, 3));
    track.now = 3_600_000;
    let chart = draw(&track, &Extent::of(&track), 900.0, 400.0);
    assert!(
        (19_000..20_000).contains(&chart.axis.from) && chart.axis.x(26_000) > chart.plot.w * 0.6,
        "{:?}",
        chart.axis
    );
}

#[test]
fn a_scaling_has_no_limits_to_be_under_or_over() {
    let point = |at, ready, unready, limits, desired| Point {
        at,
        counts: vec![pods(ready, unready)],
        limits,
        desired,
    };
    let points = vec![
        point(0, 4, 0, (3, 5), 4),
        point(5_000, 4, 8, (9, 15), 12),
        point(9_000, 12, 0, (9, 15), 12),
        point(14_000, 12, 0, (3, 5), 4),
    ];
    let track = Track {
        revisions: vec![revision("1.14", "a")],
        points,
        now: 19_000,
        ..Track::default()
    };
    let chart = draw(&track, &Extent::of(&track), 900.0, 400.0);
    assert!(
        !chart
            .paths
            .iter()
            .any(|path| matches!(path.part, ChartPart::Shortfall | ChartPart::Dot(_))),
        "{:?}",
        chart.paths
    );
    assert!(
        !chart
            .words
            .iter()
            .any(|word| word.text.english().contains("the limit")),
        "{:?}",
        chart.words
    );
}

#[test]
fn what_is_under_its_limit_is_marked_and_notes_lie_on_nothing() {
    // One of the Pods is of the next revision.
    let point = |at, ready: u32, unready: u32| {
        let next = pods(ready.min(1), u32::from(ready == 0));
        let first = pods(ready - next.ready, unready - next.unready);
        Point {
            at,
            counts: vec![first, next],
            limits: (9, 15),
            desired: 12,
        }
    };
    let points = vec![
        point(0, 0, 12),
        point(3_000, 12, 0),
        point(10_000, 9, 6),
        point(14_000, 0, 7),
        point(17_000, 12, 5),
    ];
    let left = vec![(14_000, "shop-a".into(), 15, Component::User)];
    let revisions = vec![revision("1.14", "a"), revision("1.16", "b")];
    let track = Track {
        revisions,
        points,
        left,
        now: 19_000,
        ..Track::default()
    };
    for (width, height) in [(358.0, 508.0), (760.0, 560.0), (1400.0, 720.0)] {
        let chart = draw(&track, &Extent::of(&track), width, height);
        let short: Vec<&String> = chart
            .paths
            .iter()
            .filter(|path| path.part.class() == "short")
            .map(|path| &path.d)
            .collect();
        // Only Pods missing after they had existed count.
        assert!(
            short.len() == 1 && short[0].matches('M').count() == 1,
            "{short:?}"
        );
        let notes: Vec<_> = chart
            .words
            .iter()
            .filter(|word| matches!(word.role, WordRole::Note(_)) && word.x < chart.plot.right())
            .collect();
        assert_eq!(notes.len(), 3, "{notes:?}");
        let left = |note: &ChartWord| match note.anchor {
            Anchor::End => note.x - long(&note.text),
            _ => note.x,
        };
        // A violated limit is marked at its place, with the label before it, or where there is room nearby.
        for breach in [false, true] {
            let path = |part| chart.paths.iter().find(|path| path.part == part);
            let dot = path(ChartPart::Dot(breach)).expect("a dot");
            let leader = path(ChartPart::Leader(breach)).expect("a leader");
            let (x, y) = dot.d[1..]
                .split_once('a')
                .unwrap()
                .0
                .split_once(' ')
                .map(|(x, y)| (num(x) + 3.0, num(y)))
                .unwrap();
            assert!(
                leader.d.ends_with(&format!("L{x:.1} {y:.1}")),
                "{leader:?} {dot:?}"
            );
            let note = notes
                .iter()
                .find(|note| note.role == WordRole::Note(breach))
                .expect("words");
            let down = breach && y + 17.0 < chart.plot.bottom();
            assert!(
                (note.y - 4.0 > y) == down && (note.y - 4.0 - y).abs() < 40.0,
                "{note:?} {y} {width}"
            );
            let (from, to) = (left(note), left(note) + long(&note.text));
            assert!(
                to <= x + 10.1 && x - to < 15.0 || from < chart.plot.x + 4.1,
                "{note:?} {x}"
            );
        }
        for (i, note) in notes.iter().enumerate() {
            let (x, words) = (left(note), &note.text);
            assert!(
                x >= chart.plot.x && x + long(words) <= chart.plot.right(),
                "{words} at {x}, {width}"
            );
            assert!(
                note.y <= chart.plot.bottom() && note.y >= chart.plot.y,
                "{words} at {}",
                note.y
            );
            for other in &notes[i + 1..] {
                let apart = left(other);
                assert!(
                    (other.y - note.y).abs() >= 12.0
                        || x + long(words) <= apart
                        || apart + long(&other.text) <= x,
                    "{words}, {}",
                    other.text
                );
            }
        }
        assert!(
            chart
                .words
                .iter()
                .filter(|word| word.role == WordRole::Time)
                .count()
                > 1,
            "{width}"
        );
    }
}

#[test]
fn what_is_written_beside_the_plot_has_room_on_the_card() {
    let point = |at| Point {
        at,
        counts: vec![pods(5_000, 0)],
        limits: (3_750, 6_250),
        desired: 5_000,
    };
    let track = Track {
        revisions: vec![revision("1.14", "a")],
        points: vec![point(0), point(9_000)],
        now: 9_000,
        ..Track::default()
    };
    for (width, height) in [
        (358.0, 508.0),
        (448.0, 240.0),
        (688.0, 300.0),
        (1400.0, 720.0),
    ] {
        let chart = draw(&track, &Extent::of(&track), width, height);
        let beside = chart
            .words
            .iter()
            .filter(|word| word.x > chart.plot.right());
        assert!(
            beside.clone().count() == 2
                && beside
                    .clone()
                    .all(|word| word.x + long(&word.text) <= width - 6.0),
            "{width}"
        );
        // A low frame belongs to the plot, with few lines.
        let ticks: Vec<f64> = chart
            .words
            .iter()
            .filter(|word| word.anchor == Anchor::End)
            .map(|word| word.y)
            .collect();
        assert!(
            ticks.windows(2).all(|two| two[0] - two[1] >= 24.0) && ticks.len() >= 3,
            "{height}: {ticks:?}"
        );
        assert!(
            chart.plot.h >= height * 0.55 && chart.low == (height < 368.0),
            "{:?}",
            chart.plot
        );
    }
}

#[test]
fn layers_stand_on_each_other_and_end_at_the_instant_shown() {
    let point = |at, counts: [Count; 2]| Point {
        at,
        counts: counts.to_vec(),
        limits: (2, 4),
        desired: 3,
    };
    let track = Track {
        left: vec![(2_000, "web-0".into(), 1, Component::User)],
        id: Id::named("Deployment", "nginx"),
        revisions: vec![revision("1.14", ""), revision("1.16", "")],
        points: vec![
            point(0, [pods(3, 0), pods(0, 0)]),
            point(1000, [pods(3, 0), pods(0, 1)]),
            point(2000, [pods(2, 0), pods(1, 0)]),
        ],
        now: 4000,
        ..Track::default()
    };
    let scene = layout(&track, None, 900.0, 500.0);
    let CardBody::Chart(chart) = &scene.items[0].body else {
        panic!("a chart")
    };
    let layers: Vec<String> = chart
        .paths
        .iter()
        .map(|path| path.part.class())
        .filter(|class| class.starts_with("layer"))
        .collect();
    assert_eq!(layers, ["layer unr r0", "layer rdy r0", "layer rdy r1"]);
    assert_eq!(chart.keys[1].revision, 1);
    assert_eq!(
        [&chart.keys[1].image, &chart.keys[1].hash].map(|words| words.as_str()),
        ["1.16", "newest"]
    );
    // Any instant can be probed, and the changes stepped through.
    assert_eq!(
        [numbers(chart, 1, 1500), numbers(chart, 0, 9000)],
        [["0", "1"], ["2", "0"]]
    );
    assert_eq!(
        chart.said(1500),
        "00:01.500; 3 desired · at least 2 · at most 4; 1.14: 3 ready, 0 not ready; 1.16: 0 ready, 1 not ready"
    );
    assert_eq!(
        [
            chart.next(0, true),
            chart.next(1500, false),
            chart.next(2000, true),
            chart.next(0, false)
        ],
        [1000, 1000, 4000, 700]
    );
    assert_eq!(chart.rows()[0], ["1.16", "newest", "1 ready, 0 not ready"]);
    // The limits are lines of one height each.
    assert!(
        chart
            .paths
            .iter()
            .filter(|path| path.part.class().starts_with("bounds"))
            .all(|path| !path.d.contains(['L', 'V']))
    );
    assert!(
        chart.words.iter().any(|word| word.text == "at most 4")
            && chart.words.iter().any(|word| word.text == "at least 2")
    );
    assert!(
        scene
            .summary
            .contains("revision 1.16: 1 ready, 0 not ready")
    );
    // They extend to the edge, where their labels are.
    let ahead: Vec<&String> = chart
        .paths
        .iter()
        .filter(|path| path.part == ChartPart::Ahead)
        .map(|path| &path.d)
        .collect();
    assert!(
        ahead.len() == 2
            && ahead
                .iter()
                .all(|d| d.ends_with(&format!("H{:.1}", chart.plot.right()))),
        "{ahead:?}"
    );
    // If both are equal, the desired number is shown.
    let still = Track {
        points: vec![Point {
            limits: (3, 3),
            ..point(0, [pods(3, 0), pods(0, 0)])
        }],
        ..track.clone()
    };
    let words = draw(&still, &Extent::of(&still), 900.0, 500.0).words;
    assert!(
        words.iter().any(|word| word.text == "3 desired")
            && !words.iter().any(|word| word.text.starts_with("at "))
    );
}

#[test]
fn a_revision_that_was_rolled_back_to_is_told_from_the_newest_and_stands_last() {
    let numbered = |image: &str, number, from| Revision {
        image: image.into(),
        number,
        rolled_back_from: from,
        ..Revision::default()
    };
    let point = |at, old, new| Point {
        at,
        counts: [old, new].map(|ready| pods(ready, 0)).to_vec(),
        limits: (2, 4),
        desired: 3,
    };
    let revisions = vec![numbered("1.14", 3, Some(2)), numbered("1.16", 2, None)];
    let mut track = Track {
        revisions,
        current: 3,
        points: vec![point(0, 0, 3), point(5_000, 3, 0)],
        now: 6_000,
        ..Track::default()
    };
    let said = |track: &Track, width: f64| {
        let chart = draw(track, &Extent::of(track), width, 500.0);
        chart
            .keys
            .iter()
            .map(|key| format!("{} {} {}", key.swatch.class(), key.image, key.hash))
            .collect::<Vec<_>>()
    };
    let back = "r0 1.14 revision 3, rolled back from 2";
    assert_eq!(said(&track, 900.0), ["r1 1.16 ", back]);
    // On a phone the row has no room: the line under the title has it.
    let phone = draw(&track, &Extent::of(&track), 358.0, 508.0);
    assert_eq!(phone.line(5_500, false), "revision 3, rolled back from 2");
    assert_eq!(phone.line(5_500, true), phone.wants(5_500));
    assert!(super::layout::summary(&track).ends_with("revision 3, rolled back from 2"));
    // The next rollout's revision is the newest again, even before its first Pod exists.
    track.current = 4;
    assert_eq!(said(&track, 900.0), ["r1 1.16 ", "r0 1.14 "]);
    track.revisions.push(numbered("1.18", 4, None));
    assert_eq!(said(&track, 900.0)[2], "r0 1.18 newest");
}

#[test]
fn charts_side_by_side_have_the_same_axes() {
    let point = |at, ready, most| Point {
        at,
        counts: vec![pods(ready, 0)],
        limits: (1, most),
        desired: 1,
    };
    let of = |points| Track {
        revisions: vec![revision("1.14", "a")],
        points,
        now: 90_000,
        ..Track::default()
    };
    let tracks = [
        of(vec![point(1_000, 1, 1)]),
        of(vec![
            point(2_000, 1, 1),
            point(60_000, 12, 12),
            point(80_000, 5, 6),
        ]),
    ];
    let extents = tracks.each_ref().map(Extent::of);
    let chart =
        |i: usize| match &layout(&tracks[i], Some(&extents[1 - i]), 700.0, 500.0).items[0].body {
            CardBody::Chart(chart) => chart.clone(),
            _ => panic!("a chart"),
        };
    let [a, b] = [chart(0), chart(1)];
    assert_eq!((&a.axis, a.plot), (&b.axis, b.plot));
    let ticks = |chart: &super::Chart| {
        chart
            .words
            .iter()
            .filter(|word| matches!(word.role, WordRole::Scale | WordRole::Time))
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(ticks(&a), ticks(&b));
}

/// Five updates of four Pods, one every five seconds; the Pods of the fourth and the fifth revision fail. Then the workload is rolled back
/// to the third.
fn stuck() -> Track {
    let names = [
        "nginx:1.7.9",
        "nginx:1.25",
        "frobnicator:1.0",
        "nginx:9.99",
        "ngnix:1.27",
    ];
    let numbered = |(i, image): (usize, &&str)| Revision {
        number: [1, 2, 6, 4, 5][i],
        ..revision(image, "")
    };
    let point = |at, counts: [(usize, Count); 2]| {
        let mut all = vec![Count::default(); 5];
        counts
            .into_iter()
            .for_each(|(revision, count)| all[revision] = count);
        Point {
            at,
            counts: all,
            limits: (3, 5),
            desired: 4,
        }
    };
    let (none, failing) = ((0, pods(0, 0)), |failing| Count {
        failing,
        ..Count::default()
    });
    let ready = |at, revision| point(at, [none, (revision, pods(4, 0))]);
    let stuck = |at, revision| point(at, [(2, pods(3, 0)), (revision, failing(2))]);
    let points = vec![
        ready(0, 0),
        ready(5_000, 1),
        ready(10_000, 2),
        stuck(15_000, 3),
        stuck(20_000, 4),
        ready(25_000, 2),
    ];
    Track {
        revisions: names.iter().enumerate().map(numbered).collect(),
        current: 6,
        points,
        now: 30_000,
        ..Track::default()
    }
}

#[test]
fn neighbours_have_different_shades_and_each_revision_its_name_in_its_area_and_in_the_table() {
    let whole = Extent {
        began: None,
        ..Extent::of(&stuck())
    };
    let chart = draw(&stuck(), &whole, 1_000.0, 560.0);
    let keys: Vec<String> = chart
        .keys
        .iter()
        .map(|key| format!("{} {}", key.swatch.class(), key.image))
        .collect();
    // A revision without a ready Pod takes no shade from the others.
    assert_eq!(
        keys,
        [
            "r2 nginx:1.7.9",
            "r1 nginx:1.25",
            "fls nginx:9.99",
            "fls ngnix:1.27",
            "r0 frobnicator:1.0"
        ]
    );
    let mut layers: Vec<String> = chart
        .paths
        .iter()
        .map(|path| path.part.class())
        .filter(|class| class.starts_with("layer"))
        .collect();
    layers.reverse();
    assert_eq!(
        layers,
        [
            "layer rdy r2",
            "layer rdy r1",
            "layer rdy r0",
            "layer fls r1",
            "layer fls r1"
        ]
    );
    let named: Vec<_> = chart
        .words
        .iter()
        .filter(|word| matches!(word.role, WordRole::Name(_)))
        .collect();
    let mut names: Vec<String> = named.iter().map(|word| word.text.to_string()).collect();
    names.sort();
    assert_eq!(
        names,
        [
            "frobnicator:1.0",
            "nginx:1.25",
            "nginx:1.7.9",
            "nginx:9.99",
            "ngnix:1.27"
        ]
    );
    // Each within its time, and not on the line of a limit.
    for (word, (from, to)) in named.iter().zip([
        (0, 5_000),
        (5_000, 10_000),
        (10_000, 30_000),
        (15_000, 20_000),
        (20_000, 25_000),
    ]) {
        let [left, right] = [from, to].map(|at| chart.plot.x + chart.axis.x(at));
        assert!(
            word.x - long(&word.text) / 2.0 > left && word.x + long(&word.text) / 2.0 < right,
            "{word:?} {left} {right}"
        );
    }
    // A single revision is not named.
    let alone = Track {
        points: stuck().points[..1].to_vec(),
        now: 4_000,
        ..stuck()
    };
    assert!(
        !draw(&alone, &Extent::of(&alone), 1_000.0, 560.0)
            .words
            .iter()
            .any(|word| matches!(word.role, WordRole::Name(_)))
    );
    // With less room the tag or the name identifies it, and finally nothing.
    let narrow = draw(&stuck(), &whole, 420.0, 560.0);
    assert!(
        narrow.words.iter().any(|word| word.text == "1.25")
            && !narrow.words.iter().any(|word| word.text.contains("…"))
    );
}

#[test]
fn revisions_of_one_image_are_told_apart_by_their_numbers() {
    let numbered = |number| Revision {
        number,
        ..revision("registry.k8s.io/web:1.0", "")
    };
    let point = |at, counts: [u32; 2]| Point {
        at,
        counts: counts.map(|n| pods(n, 0)).to_vec(),
        limits: (2, 2),
        desired: 2,
    };
    let points = vec![point(0, [2, 0]), point(5_000, [0, 2])];
    let track = Track {
        revisions: vec![numbered(1), numbered(2)],
        current: 2,
        points,
        now: 10_000,
        ..Track::default()
    };
    let chart = draw(&track, &Extent::of(&track), 800.0, 500.0);
    assert_eq!(
        chart
            .keys
            .iter()
            .map(|key| key.image.to_string())
            .collect::<Vec<_>>(),
        ["web:1.0 #1", "web:1.0 #2"]
    );
    assert!(chart.words.iter().any(|word| word.text == "web:1.0 #2"));
}

#[test]
fn pods_that_fail_have_a_column_of_their_own_once_there_are_some() {
    let chart = draw(&stuck(), &Extent::of(&stuck()), 1_000.0, 560.0);
    assert_eq!(
        chart
            .heads()
            .map(|head| head.0.to_string())
            .collect::<Vec<_>>(),
        ["Ready", "Not ready", "Failing"]
    );
    assert_eq!(
        [numbers(&chart, 3, 16_000), numbers(&chart, 3, 26_000)],
        [["0", "0", "2"], ["0", "0", "0"]]
    );
    assert_eq!(chart.share(3, 16_000), "0 / 2");
    assert!(
        chart
            .said(16_000)
            .contains("nginx:9.99: 0 ready, 0 not ready, 2 failing"),
        "{}",
        chart.said(16_000)
    );
    // The red area starts when the rollout got stuck.
    let red = chart
        .paths
        .iter()
        .rfind(|path| path.part.class().starts_with("layer fls"))
        .expect("an area");
    assert!(
        red.d
            .starts_with(&format!("M{:.1} ", chart.plot.x + chart.axis.x(15_000))),
        "{red:?}"
    );
    let well = Track {
        points: stuck().points[..3].to_vec(),
        now: 14_000,
        ..stuck()
    };
    assert_eq!(
        numbers(&draw(&well, &Extent::of(&well), 1_000.0, 560.0), 2, 12_000),
        ["4", "0"]
    );
}

#[test]
fn a_note_stands_at_its_event_and_is_left_out_where_there_is_no_room_for_it() {
    let point = |at, ready, desired: u32| Point {
        at,
        counts: vec![pods(ready, 0)],
        limits: (desired, desired + 1),
        desired,
    };
    // A Pod is deleted repeatedly, with long idle stretches in between, so that the axis has folds.
    let mut points = vec![point(0, 2, 2)];
    let mut left = Vec::new();
    for i in 1..=8 {
        points.extend([point(i * 3_000, 1, 2), point(i * 3_000 + 20, 2, 2)]);
        left.push((
            i * 3_000,
            format!("nginx-deployment-6b799bd7f6-pod{i}"),
            1,
            Component::User,
        ));
    }
    points.extend((1..6).flat_map(|i| {
        [
            point(24_000 + i * 46_000, 4, 4),
            point(24_000 + i * 46_000 + 1_500, 5, 4),
        ]
    }));
    let track = Track {
        revisions: vec![revision("1.14", "a")],
        points,
        left,
        now: 300_000,
        ..Track::default()
    };
    let noted = |track: &Track, width: f64| {
        let chart = draw(track, &Extent::of(track), width, 560.0);
        let notes: Vec<_> = chart
            .words
            .iter()
            .filter(|word| word.text.contains("deleted by"))
            .cloned()
            .collect();
        (chart, notes)
    };
    // In little room there are folds all around it.
    assert!(noted(&track, 360.0).1.is_empty());
    for width in [660.0, 760.0, 1_000.0, 1_400.0] {
        let (chart, notes) = noted(&track, width);
        // Of colliding notes the newest is shown.
        assert!(
            notes.len() == 1 && notes[0].text.contains("pod8"),
            "{width}: {notes:?}"
        );
        let event = chart.plot.x + chart.axis.x(24_000);
        let (x, w) = (notes[0].x, long(&notes[0].text));
        let (from, to) = if notes[0].anchor == Anchor::End {
            (x - w, x)
        } else {
            (x, x + w)
        };
        assert!(
            from >= chart.plot.x
                && (to <= event && event - to < 20.0 || from >= event && from - event < 20.0),
            "{width}: {from} {event} {to}"
        );
        let leader = chart
            .paths
            .iter()
            .find(|path| path.part.class() == "leader")
            .expect("a leader");
        assert!(leader.d.contains(&format!("L{event:.1} ")), "{leader:?}");
    }
    // An event before the start of the axis has none.
    let mut updated = track.clone();
    updated.revisions.push(revision("1.16", "b"));
    updated.points.push(Point {
        at: 290_000,
        counts: vec![pods(4, 0), pods(0, 1)],
        limits: (4, 5),
        desired: 4,
    });
    let (chart, notes) = noted(&updated, 1_000.0);
    assert!(chart.axis.from > 24_000 && notes.is_empty(), "{notes:?}");
}

#[test]
fn pods_that_terminate_are_drawn_above_the_limit_and_counted_in_the_legend() {
    let leaving = |leaving| Count {
        leaving,
        ..pods(2, 0)
    };
    let point = |at, old, new| Point {
        at,
        counts: vec![old, new],
        limits: (4, 5),
        desired: 4,
    };
    let points = vec![
        point(0, pods(4, 0), pods(0, 0)),
        point(5_000, leaving(2), pods(2, 1)),
        point(9_000, pods(0, 0), pods(4, 0)),
    ];
    let track = Track {
        revisions: vec![revision("1.14", "a"), revision("1.16", "b")],
        points,
        now: 12_000,
        ..Track::default()
    };
    let chart = draw(&track, &Extent::of(&track), 900.0, 400.0);
    assert_eq!(
        chart
            .heads()
            .map(|(words, _)| words.english())
            .collect::<Vec<_>>(),
        ["Ready", "Not ready", "Terminating"]
    );
    assert_eq!(numbers(&chart, 0, 6_000), ["2", "0", "2"]);
    assert!(
        chart
            .said(6_000)
            .contains("1.14: 2 ready, 0 not ready, 2 terminating"),
        "{}",
        chart.said(6_000)
    );
    let top = |class: &str| {
        let paths = chart
            .paths
            .iter()
            .filter(|path| path.part.class().contains(class));
        let ys = paths.flat_map(|path| {
            path.d
                .split(['M', 'L', 'Z'])
                .filter_map(|pair| pair.split_once(' '))
                .map(|(_, y)| num(y))
                .collect::<Vec<_>>()
        });
        ys.fold(f64::MAX, f64::min)
    };
    // Seven exist, five of them count.
    let one = (chart.plot.bottom() - top("layer trm")) / 7.0;
    assert!(
        one > 0.0 && (chart.plot.bottom() - top("layer unr") - 5.0 * one).abs() < 1.0,
        "{:?}",
        chart.paths
    );
    assert!(top("layer trm") > chart.plot.y, "within the plot");
    // Without terminating Pods there is no column for them.
    let calm = Track {
        points: vec![point(0, pods(4, 0), pods(0, 0))],
        now: 5_000,
        ..track
    };
    assert_eq!(
        draw(&calm, &Extent::of(&calm), 900.0, 400.0)
            .heads()
            .count(),
        2
    );
}
