use explain::remedies::*;
use i18n::msg;
use k8s_model::Kind;
use session::Msg;
use session::State;
use session::console::ConsoleMsg;
use session::timeline::TimelineMsg;

const POD: &str = "{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {app: web, pod-template-hash: x}}, spec: {containers: [{name: c, \
                   image: i, livenessProbe: {tcpSocket: {port: 80}}}]}}";

fn offered(state: &State, kind: Kind) -> Vec<String> {
    let object = state
        .timeline
        .run
        .sim()
        .store()
        .list(kind)
        .next()
        .expect("an object");
    of(state.timeline.run.sim(), object)
        .into_iter()
        .map(|offer| offer.action.to_string())
        .collect()
}

#[test]
fn what_is_said_of_a_lost_event_goes_by_whether_anybody_relists() {
    let mut state = State::new(POD, 1);
    state.update(TimelineMsg::Seconds(5));
    let said = |state: &State| {
        let pod = state
            .timeline
            .run
            .sim()
            .store()
            .list(Kind::Pod)
            .next()
            .expect("a Pod");
        let lose = of(state.timeline.run.sim(), pod)
            .into_iter()
            .find(|offer| offer.action.to_string() == "fault lose pod/p");
        lose.expect("it can be lost").title == msg::offer_lose_title()
    };
    assert!(said(&state));
    state.update(Msg::Fault("relist never".parse().unwrap()));
    assert!(!said(&state));
    state.update(Msg::Fault("relist 10s".parse().unwrap()));
    assert!(said(&state));
}

#[test]
fn what_is_broken_can_be_mended() {
    let mut state = State::new(POD, 1);
    state.update(TimelineMsg::Seconds(5));
    let on_and_off = |state: &State, kind: Kind| -> Vec<String> {
        let all = offered(state, kind).into_iter();
        all.filter(|line| {
            !["lose", "repeat", "delay", "relist", "exit"]
                .iter()
                .any(|other| line.starts_with(&["fault ", other].concat()))
        })
        .collect()
    };
    let press = |state: &mut State, kind: Kind| {
        for line in on_and_off(state, kind) {
            state.update(Msg::Fault(
                line.trim_start_matches("fault ").parse().unwrap(),
            ));
        }
        state.update(TimelineMsg::Seconds(1));
    };
    let pod = |ready: &str, probe: &str, load: &str| {
        [
            format!("fault {ready} pod/p"),
            format!("fault {probe}-probe pod/p liveness"),
            format!("fault memory-load app=web {load}"),
        ]
    };
    assert_eq!(on_and_off(&state, Kind::Pod), pod("unready", "fail", "4Gi"));
    press(&mut state, Kind::Pod);
    assert_eq!(on_and_off(&state, Kind::Pod), pod("ready", "pass", "none"));
    press(&mut state, Kind::Pod);
    assert_eq!(on_and_off(&state, Kind::Pod), pod("unready", "fail", "4Gi"));
    assert_eq!(
        on_and_off(&state, Kind::Node),
        ["fault node-down node-1", "fault memory-pressure node-1"]
    );
    press(&mut state, Kind::Node);
    state.update(TimelineMsg::Seconds(60));
    assert_eq!(on_and_off(&state, Kind::Node)[0], "fault node-up node-1");
}

#[test]
fn a_crash_and_a_lost_event_are_offered_where_they_can_happen() {
    let mut state = State::new(POD, 1);
    assert_eq!(
        offered(&state, Kind::Node),
        [
            "fault node-down node-1",
            "fault memory-pressure node-1",
            "fault lose node/node-1",
            "fault repeat node/node-1",
            "fault delay node/node-1 10s",
            "fault relist never"
        ]
    );
    state.update(TimelineMsg::Seconds(5));
    assert_eq!(offered(&state, Kind::Pod)[0], "fault exit pod/p 1");
    let late = |late: &str| {
        [
            "fault lose pod/p".into(),
            "fault repeat pod/p".into(),
            ["fault delay pod/p ", late].concat(),
            "fault relist never".into(),
        ]
    };
    assert!(offered(&state, Kind::Pod).ends_with(&late("10s")));
    state.update(Msg::Fault("delay pod/p 10s".parse().unwrap()));
    assert!(offered(&state, Kind::Pod).ends_with(&late("none")));
    state.update(Msg::Fault("delay pod/p none".parse().unwrap()));
    assert!(offered(&state, Kind::Pod).ends_with(&late("10s")));
    // The fault delays any Pod: possibly this one.
    state.update(Msg::Fault("delay pod 10s".parse().unwrap()));
    assert!(offered(&state, Kind::Pod).ends_with(&late("none")));
    state.update(Msg::Fault("delay pod/p none".parse().unwrap()));
    assert!(offered(&state, Kind::Pod).ends_with(&late("10s")));
    state.update(Msg::Fault("relist never".parse().unwrap()));
    assert_eq!(
        offered(&state, Kind::Pod).last().map(String::as_str),
        Some("fault relist 10s")
    );
    assert!(offered(&state, Kind::Namespace).is_empty());
    let mut state = State::new((session::examples::ALL[0].text)(), 1);
    state.update(TimelineMsg::Seconds(5));
    let all = offered(&state, Kind::Deployment);
    assert!(
        all[0].starts_with("fault exit pod/nginx-deployment-"),
        "{all:?}"
    );
    assert_eq!(
        all[1],
        "kubectl set image deployment/nginx-deployment nginx=nginx:broken"
    );
    state.update(ConsoleMsg::Enter(all[1].clone()));
    assert!(!offered(&state, Kind::Deployment).contains(&all[1]));
}

#[test]
fn every_loop_of_the_ring_but_a_kubelet_can_be_slowed_and_is_at_full_speed_again() {
    let mut state = State::new(POD, 1);
    for one in views::loops::read(state.timeline.run.sim(), None).loops {
        let offer = |state: &State| {
            explain::control_loop::pace(state.timeline.run.sim(), one.actor.component)
        };
        let Some(slows) = offer(&state) else {
            assert!(!one.actor.node.is_empty(), "{}", one.actor);
            continue;
        };
        let (slow, speed) = (msg::offer_slow(), msg::offer_full_speed());
        for (words, then) in [(slow.clone(), speed.clone()), (speed, slow)] {
            let now = offer(&state).expect("an offer");
            assert_eq!(now.words, words);
            let actions::Action::Fault(fault) = now.action else {
                panic!("{}", now.action)
            };
            state.update(Msg::Fault(fault));
            assert_eq!(
                offer(&state).map(|offer| offer.words),
                Some(then),
                "{}",
                state.announcer.notice()
            );
        }
        assert_eq!(offer(&state), Some(slows));
    }
}
