//! The content of an object's hover card: its state, a few counts, and why it last changed.

use crate::api::{Body, Kind, Object, ObjectRef};
use crate::engine::Sim;
use crate::explain::evidence::{facts, standing_pill};
use crate::explain::standing;
use crate::explain::waits::Health;
use crate::explain::why::Row;
use crate::explain::words;
use crate::i18n::{Message, msg};

/// The card.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// The kind, and where it is.
    pub caption: Message,
    /// The kind.
    pub kind: Kind,
    /// The whole name.
    pub name: String,
    /// The state: words, class, glyph.
    pub pill: Option<(Message, &'static str, &'static str)>,
    /// Name and value.
    pub facts: Vec<Row>,
    /// Where it stands if it waits or fails, otherwise what last happened to it.
    pub effect: Message,
    /// Why.
    pub short: Message,
    /// Who did it, and when in milliseconds.
    pub by: Option<(Message, u64)>,
}

/// Maximum number of facts: the inspector has them all.
const MAX_FACTS: usize = 3;

/// The card of an object at the instant shown.
pub fn read(sim: &Sim, ready: &dyn Fn(&Object) -> usize, key: &ObjectRef) -> Option<Card> {
    let object = sim.get(key)?;
    let all = facts(object, sim.config.epoch);
    let elsewhere =
        [msg::fact_namespace(), msg::fact_node(), msg::fact_labels(), msg::fact_created_at(), msg::fact_status(), Message::default()];
    let node = all.iter().find(|fact| fact.name == msg::fact_node()).map(|fact| fact.value.clone());
    let shown = all.into_iter().filter(|fact| !elsewhere.contains(&fact.name) && fact.value != Message::name("0"));
    // What is wrong or under way says more than what was done last.
    let standing = standing::of(sim, key);
    let waits = matches!(standing.health, Health::Stuck | Health::Waiting).then(|| standing.sentence.clone());
    let last = words::last(sim.journal(), key, object.meta.resource_version).filter(|_| waits.is_none());
    let lag = lag(ready(object), object).map(|words| (msg::fact_status_lags(), words));
    Some(Card {
        kind: key.kind,
        caption: match node {
            Some(node) => msg::card_kind_on(key.kind, node),
            None => Message::name(key.kind),
        },
        name: key.name.to_string(),
        pill: standing_pill(object, standing.health),
        facts: lag.into_iter().chain(shown.map(|fact| (fact.name, fact.value))).take(MAX_FACTS).collect(),
        by: last.as_ref().map(|last| (last.actor.clone(), last.at)),
        short: last.as_ref().map(|last| last.short.clone()).unwrap_or_default(),
        effect: waits.or(last.map(|last| last.effect)).unwrap_or_default(),
    })
}

/// The message for a status that lags behind its Pods.
pub fn lag(ready: usize, object: &Object) -> Option<Message> {
    let said = match &object.body {
        Body::Deployment(body) => body.status.ready_replicas,
        Body::ReplicaSet(body) => body.status.ready_replicas,
        Body::StatefulSet(body) => body.status.ready_replicas,
        _ => return None,
    };
    let said = said.max(0) as usize;
    (ready != said).then(|| msg::card_lag(said, ready))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Kind;
    use crate::session::State;
    use crate::session::examples;
    use crate::session::timeline::TimelineMsg;
    use std::rc::Rc;

    #[test]
    fn a_status_that_lags_says_so() {
        let mut state = State::new((examples::ALL[0].text)(), 1);
        let mut told = Vec::new();
        for _ in 0..400 {
            state.update(TimelineMsg::Step);
            let deployment = state.timeline.run.sim().list(Kind::Deployment).next().expect("a Deployment").key();
            let card = state.card(&deployment).expect("a card");
            told.extend(card.facts.into_iter().filter(|fact| fact.0 == "status lags").map(|fact| fact.1));
        }
        assert!(told.iter().any(|words| words == "status: 1; 2 Pods are Ready"), "{told:?}");
        let deployment = state.timeline.run.sim().list(Kind::Deployment).next().expect("a Deployment").key();
        assert!(state.card(&deployment).is_some_and(|card| card.facts[0].0 != "status lags"));
    }

    #[test]
    fn counters_are_marked_while_their_pods_are_further_and_never_at_rest() {
        let marks = |state: &mut State| {
            let picture = state.picture();
            let of = |item: &Rc<crate::views::shape::Item>| match &item.body {
                crate::views::shape::CardBody::Controller { of, .. } => of.counters.iter().map(|counter| counter.lags.clone()).collect(),
                _ => Vec::new(),
            };
            picture.scene.items.iter().flat_map(of).filter(|words| !words.is_empty()).collect::<Vec<_>>()
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
            state.update(TimelineMsg::Seconds(30 - state.timeline.run.now() as i64 / 1000 % 60));
            assert!(marks(&mut state).is_empty(), "{}", (example.title)());
        }
        assert!(seen > 0);
    }

    #[test]
    fn a_card_says_the_state_and_why_it_is_so() {
        let mut state = State::new((examples::ALL[0].text)(), 1);
        state.update(TimelineMsg::Seconds(10));
        let pod = state.timeline.run.sim().list(Kind::Pod).next().expect("a Pod").key();
        let card = state.card(&pod).expect("a card");
        assert_eq!(card.pill.map(|pill| pill.0).as_deref(), Some("Ready"));
        assert!(card.caption.starts_with("Pod on node-"), "{}", card.caption);
        assert!(card.effect.ends_with("became Ready"), "{:?}", card.effect);
        assert!(card.by.is_some_and(|(actor, _)| actor.starts_with("kubelet")));
        // In the past it says what was so then.
        state.update(TimelineMsg::Seek(500));
        let card = state.card(&pod).expect("a card");
        assert!(!card.effect.ends_with("became Ready"), "{:?}", card.effect);
        assert_eq!(state.card(&ObjectRef::new(Kind::Pod, "default", "nothing")), None);
    }
}
