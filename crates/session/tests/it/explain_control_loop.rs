use actions::Action;
use explain::control_loop::offers;
use session::timeline::TimelineMsg;
use session::{Msg, State, examples};

fn settled() -> State {
    let mut state = State::new((examples::ALL[0].text)(), 1);
    state.update(TimelineMsg::Seconds(30));
    state
}

#[test]
fn each_fault_that_a_loop_is_offered_can_be_injected() {
    let state = settled();
    for of in cluster::loops::all() {
        let name = of.component.name();
        let all = offers(state.timeline.run.sim(), of.component);
        for offer in &all {
            let mut state = settled();
            let Action::Fault(fault) = &offer.action else {
                panic!("{offer:?}")
            };
            state.update(Msg::Fault(fault.clone()));
            assert!(
                !state.announcer.failed(),
                "{name}: {}: {}",
                offer.action,
                state.announcer.notice()
            );
        }
        let has = |verb: &str| {
            all.iter().any(|offer| {
                offer
                    .action
                    .to_string()
                    .starts_with(&format!("fault {verb} "))
            })
        };
        assert!(
            has("restart")
                && has("lose")
                && has("relist")
                && has("slow") == (of.component != apiserver::Component::Kubelet),
            "{all:#?}"
        );
    }
}
