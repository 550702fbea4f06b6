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
        let name = if of.name == "kubelet" {
            "kubelet node-1"
        } else {
            of.name
        };
        let all = offers(state.timeline.run.sim(), name);
        for offer in &all {
            let mut state = settled();
            state.update(Msg::Fault(offer.line["fault ".len()..].into()));
            assert!(
                !state.announcer.failed(),
                "{name}: {}: {}",
                offer.line,
                state.announcer.notice()
            );
        }
        let has = |verb: &str| {
            all.iter()
                .any(|offer| offer.line.starts_with(&format!("fault {verb} ")))
        };
        assert!(
            has("restart") && has("lose") && has("relist") && has("slow") == (of.name != "kubelet"),
            "{all:#?}"
        );
    }
}
