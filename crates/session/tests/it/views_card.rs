use k8s_model::Kind;
use k8s_model::ObjectRef;
use session::State;
use session::examples;
use session::timeline::TimelineMsg;
use std::rc::Rc;

#[test]
fn a_status_that_lags_says_so() {
    let mut state = State::new((examples::ALL[0].text)(), 1);
    let mut told = Vec::new();
    for _ in 0..400 {
        state.update(TimelineMsg::Step);
        let deployment = state
            .timeline
            .run
            .sim()
            .store()
            .list(Kind::Deployment)
            .next()
            .expect("a Deployment")
            .key();
        let card = state.card(&deployment).expect("a card");
        told.extend(
            card.facts
                .into_iter()
                .filter(|fact| fact.0 == "status lags")
                .map(|fact| fact.1),
        );
    }
    assert!(
        told.iter()
            .any(|words| words == "status: 1; 2 Pods are Ready"),
        "{told:?}"
    );
    let deployment = state
        .timeline
        .run
        .sim()
        .store()
        .list(Kind::Deployment)
        .next()
        .expect("a Deployment")
        .key();
    assert!(
        state
            .card(&deployment)
            .is_some_and(|card| card.facts[0].0 != "status lags")
    );
}

#[test]
fn counters_are_marked_while_their_pods_are_further_and_never_at_rest() {
    let marks = |state: &mut State| {
        let picture = state.picture();
        let of = |item: &Rc<views::shape::Item>| match &item.body {
            views::shape::CardBody::Controller { of, .. } => of
                .counters
                .iter()
                .map(|counter| counter.lags.clone())
                .collect(),
            _ => Vec::new(),
        };
        picture
            .scene
            .items
            .iter()
            .flat_map(of)
            .filter(|words| !words.is_empty())
            .collect::<Vec<_>>()
    };
    let mut seen = 0;
    for example in examples::ALL {
        let mut state = State::new((example.text)(), 1);
        for _ in 0..100 {
            state.update(TimelineMsg::Step);
            seen += marks(&mut state).len();
        }
        // Half a minute from the next run of the CronJob.
        state.update(TimelineMsg::Seconds(600));
        state.update(TimelineMsg::Seconds(
            30 - state.timeline.run.now() as i64 / 1000 % 60,
        ));
        assert!(marks(&mut state).is_empty(), "{}", (example.title)());
    }
    assert!(seen > 0);
}

#[test]
fn a_card_says_the_state_and_why_it_is_so() {
    let mut state = State::new((examples::ALL[0].text)(), 1);
    state.update(TimelineMsg::Seconds(10));
    let pod = state
        .timeline
        .run
        .sim()
        .store()
        .list(Kind::Pod)
        .next()
        .expect("a Pod")
        .key();
    let card = state.card(&pod).expect("a card");
    assert_eq!(card.pill.map(|pill| pill.words).as_deref(), Some("Ready"));
    assert!(card.caption.starts_with("Pod on node-"), "{}", card.caption);
    assert!(card.effect.ends_with("became Ready"), "{:?}", card.effect);
    assert!(
        card.by
            .is_some_and(|(actor, _)| actor.starts_with("kubelet"))
    );
    // In the past the card describes that instant.
    state.update(TimelineMsg::Seek(500));
    let card = state.card(&pod).expect("a card");
    assert!(!card.effect.ends_with("became Ready"), "{:?}", card.effect);
    assert_eq!(
        state.card(&ObjectRef::new(Kind::Pod, "default", "nothing")),
        None
    );
}
