use k8s_model::pod::Pod;
use k8s_model::{Body, Kind, Object, ObjectRef, Str, Uid};
use apiserver::Op;
use apiserver::journal::{Entry, Journal};
use i18n::{Message, msg};
use projection::adapt;
use projection::model::{Id, PodState};
use std::collections::BTreeMap;
use projection::rollout_track::*;
use k8s_model::Time;

#[test]
fn a_long_history_is_thinned_and_keeps_what_was_worst_in_it() {
    let mut tracker = Tracker::default();
    let point = |at: u64, ready: u32, unready: u32| Point {
        at,
        counts: vec![Count { ready, unready, ..Count::default() }],
        limits: (9, 12),
        desired: 10,
    };
    // Of a hundred thousand instants each stands between two others, and two are out of the limits.
    for at in 0..100_000 {
        let last = match at {
            1_234 => point(at, 2, 3),
            51_111 => point(at, 9, 8),
            _ => point(at, 9 + (at % 2) as u32, 1),
        };
        tracker.track.points.push(last);
        if tracker.track.points.len() > MAX_POINTS {
            thin(&mut tracker.track);
        }
        assert!(tracker.track.points.len() <= MAX_POINTS);
    }
    let points = &tracker.track.points;
    assert!(points.is_sorted_by_key(|point| point.at) && points.len() > MAX_POINTS / 2, "{}", points.len());
    let at = |time: u64| points.iter().find(|point| point.at == time).map(|point| point.counts[0]);
    assert_eq!(at(1_234), Some(Count { ready: 2, unready: 3, ..Count::default() }));
    assert_eq!(at(51_111), Some(Count { ready: 9, unready: 8, ..Count::default() }));
    assert_eq!(points.last().map(|point| point.at), Some(99_999));
}

#[test]
fn a_past_instant_is_the_same_however_much_came_later() {
    let mut track = Track::default();
    let push = |track: &mut Track, at: u64, old: u32, new: u32| {
        let counts = vec![Count { ready: old, ..Count::default() }, Count { ready: new, unready: at as u32 % 50, ..Count::default() }];
        track.points.push(Point { at, counts, limits: (3_750, 6_250), desired: 5_000 });
        if track.points.len() > MAX_POINTS {
            thin(track);
        }
    };
    // Five thousand Pods become ready one by one; a minute later all are replaced, again and again.
    (0..5_000).for_each(|i| push(&mut track, 1_000 + i, i as u32, 0));
    for update in 1..40 {
        let began = update * 60_000;
        (0..=5_000).for_each(|i| push(&mut track, began + i, 5_000 - i as u32, i as u32));
        let ready =
            |at: u64, old: bool| track.points[track.points.partition_point(|point| point.at <= at) - 1].counts[usize::from(!old)].ready;
        // All of it on an axis of 1,240 pixels, with the idle time between folded: five seconds, and one of rest on either side.
        let pixel = (update + 1) * 7_000 / 1_240;
        for time in (0..5_000).step_by(100) {
            let off = |at: u64| u64::from(ready(at + time, at == 1_000).abs_diff(time as u32));
            assert!(off(1_000) <= 2 * pixel, "{} off at {time} after {update} updates, {pixel} ms a pixel", off(1_000));
            assert!(off(began) <= 2 * pixel, "{} off at {time} of update {update}, {pixel} ms a pixel", off(began));
        }
        assert!(track.points[0].at == 1_000 && track.points.len() <= MAX_POINTS, "{}", track.points.len());
    }
}

#[test]
fn a_track_that_is_still_read_ends_where_it_is_read() {
    let mut state = session::State::new((session::examples::ALL[0].text)(), 1);
    state.update(session::timeline::TimelineMsg::Seconds(30));
    let sim = state.timeline.run.sim();
    let (object, now) = (sim.list(Kind::Deployment).next().unwrap().clone(), state.timeline.run.now());
    let mut tracker = Tracker::default();
    let some = tracker.read(&object, state.timeline.run.journal(), 0, now, 40).clone();
    assert!(some.now < now && some.points.iter().all(|point| point.at <= some.now), "{some:?}");
    let all = tracker.read(&object, state.timeline.run.journal(), 0, now, 100_000).clone();
    assert!(all.now == now && !tracker.lags && all.points.starts_with(&some.points[..some.points.len() - 1]));
}

#[test]
fn pods_that_cannot_be_pulled_are_counted_as_failing_from_the_instant_on_at_which_they_are() {
    let mut state = session::State::new((session::examples::ALL[0].text)(), 1);
    state.update(session::timeline::TimelineMsg::Seconds(30));
    let line = "kubectl set image deployment/nginx-deployment nginx=ngnix:1.27";
    state.update(session::console::ConsoleMsg::Enter(line.into()));
    state.update(session::timeline::TimelineMsg::Seconds(40));
    let run = &state.timeline.run;
    let object = run.sim().list(Kind::Deployment).next().unwrap().clone();
    let mut tracker = Tracker::default();
    let track = tracker.read(&object, run.journal(), 0, run.now(), 100_000);
    assert_eq!(track.images(), ["nginx:1.7.9", "ngnix:1.27"]);
    let of = |point: &Point| point.counts.iter().skip(1).map(|count| [count.ready, count.unready, count.failing]).collect::<Vec<_>>();
    let mut told: Vec<_> = track.points.iter().flat_map(of).collect();
    told.dedup();
    assert_eq!(told, [[0, 1, 0], [0, 0, 1]]);
}

#[test]
fn pods_that_terminate_are_counted_until_they_are_gone() {
    let lesson = lesson::parse(include_str!("../../../../static/lessons/rolling-update.yaml")).unwrap();
    let mut state = session::State::from_link(None);
    let file = session::lesson::LessonFile::new("rolling-update", lesson);
    state.update(session::replace::ReplaceMsg::Ask(session::replace::Replacement::Lesson(file)));
    for answer in [None, Some(6)] {
        if let Some(answer) = answer {
            state.update(session::lesson::LessonMsg::Next);
            state.update(session::lesson::LessonMsg::Answer(answer));
        }
        let to = Time(state.timeline.run.sim().now().0 + 120_000_000);
        while !state.advance(to, 10_000) {}
    }
    let run = &state.timeline.run;
    let object = run.sim().list(Kind::Deployment).next().unwrap().clone();
    let mut tracker = Tracker::default();
    let track = tracker.read(&object, run.journal(), 0, run.now(), 100_000);
    let most = |of: fn(&Point) -> u32| track.points.iter().map(of).max();
    // The answer of the lesson, and what its limit counts.
    assert_eq!((most(Point::existing), most(Point::all)), (Some(6), Some(5)));
    let last = track.points.last().unwrap();
    assert_eq!((last.all(), last.existing()), (4, 4));
    assert_eq!(track.left.iter().map(|left| left.2).sum::<u32>(), 4, "{:?}", track.left);
}

#[test]
fn who_made_pods_go_in_one_instant_is_told_apart() {
    let mut tracker = Tracker::default();
    for (at, name, by) in [(5, "a", "user"), (5, "b", "replicaset-controller"), (5, "c", "user"), (6, "d", "user")] {
        tracker.left(at, name, by);
    }
    let of = |at: u64, name: &str, pods: u32, by: Message| (at, name.to_string(), pods, by);
    let (you, controller) = (msg::actor_you, Message::name("replicaset-controller"));
    assert_eq!(tracker.track.left, [of(5, "a", 2, you()), of(5, "b", 1, controller), of(6, "d", 1, you())]);
}
