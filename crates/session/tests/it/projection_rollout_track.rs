use k8s_model::Kind;
use k8s_model::Time;
use projection::rollout_track::*;

#[test]
fn a_track_that_is_still_read_ends_where_it_is_read() {
    let mut state = session::State::new((session::examples::ALL[0].text)(), 1);
    state.update(session::timeline::TimelineMsg::Seconds(30));
    let sim = state.timeline.run.sim();
    let (object, now) = (
        sim.store().list(Kind::Deployment).next().unwrap().clone(),
        state.timeline.run.now(),
    );
    let mut tracker = Tracker::default();
    let some = tracker
        .read(&object, state.timeline.run.journal(), 0, now, 40)
        .clone();
    assert!(
        some.now < now && some.points.iter().all(|point| point.at <= some.now),
        "{some:?}"
    );
    let all = tracker
        .read(&object, state.timeline.run.journal(), 0, now, 100_000)
        .clone();
    assert!(
        all.now == now
            && !tracker.lags
            && all
                .points
                .starts_with(&some.points[..some.points.len() - 1])
    );
}

#[test]
fn pods_that_cannot_be_pulled_are_counted_as_failing_from_the_instant_on_at_which_they_are() {
    let mut state = session::State::new((session::examples::ALL[0].text)(), 1);
    state.update(session::timeline::TimelineMsg::Seconds(30));
    let line = "kubectl set image deployment/nginx-deployment nginx=ngnix:1.27";
    state.update(session::console::ConsoleMsg::Enter(line.into()));
    state.update(session::timeline::TimelineMsg::Seconds(40));
    let run = &state.timeline.run;
    let object = run
        .sim()
        .store()
        .list(Kind::Deployment)
        .next()
        .unwrap()
        .clone();
    let mut tracker = Tracker::default();
    let track = tracker.read(&object, run.journal(), 0, run.now(), 100_000);
    assert_eq!(track.images(), ["nginx:1.7.9", "ngnix:1.27"]);
    let of = |point: &Point| {
        point
            .counts
            .iter()
            .skip(1)
            .map(|count| [count.ready, count.unready, count.failing])
            .collect::<Vec<_>>()
    };
    let mut told: Vec<_> = track.points.iter().flat_map(of).collect();
    told.dedup();
    assert_eq!(told, [[0, 1, 0], [0, 0, 1]]);
}

#[test]
fn pods_that_terminate_are_counted_until_they_are_gone() {
    let lesson = lesson::parse(include_str!(
        "../../../../static/lessons/rolling-update.yaml"
    ))
    .unwrap();
    let mut state = session::State::from_link(None);
    let file = session::lesson::LessonFile::new("rolling-update", lesson);
    state.update(session::replace::ReplaceMsg::Ask(
        session::replace::Replacement::Lesson(file),
    ));
    for answer in [None, Some(6)] {
        if let Some(answer) = answer {
            state.update(session::lesson::LessonMsg::Next);
            state.update(session::lesson::LessonMsg::Answer(answer));
        }
        let to = Time(state.timeline.run.sim().now().0 + 120_000_000);
        while !state.advance(to, 10_000) {}
    }
    let run = &state.timeline.run;
    let object = run
        .sim()
        .store()
        .list(Kind::Deployment)
        .next()
        .unwrap()
        .clone();
    let mut tracker = Tracker::default();
    let track = tracker.read(&object, run.journal(), 0, run.now(), 100_000);
    let most = |of: fn(&Point) -> u32| track.points.iter().map(of).max();
    // The correct answer of the lesson, and the number that the limit counts.
    assert_eq!(
        (most(Point::existing), most(Point::all)),
        (Some(6), Some(5))
    );
    let last = track.points.last().unwrap();
    assert_eq!((last.all(), last.existing()), (4, 4));
    assert_eq!(
        track.left.iter().map(|left| left.2).sum::<u32>(),
        4,
        "{:?}",
        track.left
    );
}
