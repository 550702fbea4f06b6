//! The content of an object's hover card: its state, a few counts, and the reason of its last change.

use cluster::Sim;
use explain::pill::StatusPill;
use explain::properties::{PropertyRole, properties};
use explain::standing;
use explain::waits::Health;
use explain::why::Row;
use explain::words;
use i18n::{Message, msg};
use k8s_model::{Body, Kind, Object, ObjectRef};

/// Contents of the card.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// Kind and namespace.
    pub caption: Message,
    /// Kind.
    pub kind: Kind,
    /// Full name.
    pub name: String,
    /// State.
    pub pill: Option<StatusPill>,
    /// Names and values.
    pub facts: Vec<Row>,
    /// State of the object if it waits or fails, otherwise its last change.
    pub effect: Message,
    /// Reason.
    pub short: Message,
    /// Actor, and time in milliseconds.
    pub by: Option<(Message, u64)>,
}

/// Maximum number of facts: the inspector has all of them.
const MAX_FACTS: usize = 3;

/// Builds the card of an object at the instant shown.
pub fn read(sim: &Sim, ready: &dyn Fn(&Object) -> usize, key: &ObjectRef) -> Option<Card> {
    let object = sim.store().get(key)?;
    let all = properties(object, sim.config.epoch);
    let node = all
        .iter()
        .find(|property| property.role == PropertyRole::Node)
        .map(|property| property.value.clone());
    let shown = all.into_iter().filter(|property| {
        matches!(property.role, PropertyRole::Detail | PropertyRole::Image)
            && property.value != Message::name("0")
    });
    // A failure or progress is more informative than the last change.
    let standing = standing::of(sim, key);
    let waits = matches!(standing.health, Health::Stuck | Health::Waiting)
        .then(|| standing.sentence.clone());
    let last =
        words::last(sim.journal(), key, object.meta.resource_version).filter(|_| waits.is_none());
    let lag = lag(ready(object), object).map(|words| (msg::fact_status_lags(), words));
    Some(Card {
        kind: key.kind,
        caption: match node {
            Some(node) => msg::card_kind_on(key.kind, node),
            None => Message::name(key.kind),
        },
        name: key.name.to_string(),
        pill: StatusPill::of(object, standing.health),
        facts: lag
            .into_iter()
            .chain(shown.map(|property| (property.label, property.value)))
            .take(MAX_FACTS)
            .collect(),
        by: last.as_ref().map(|last| (last.actor.clone(), last.at)),
        short: last
            .as_ref()
            .map(|last| last.short.clone())
            .unwrap_or_default(),
        effect: waits.or(last.map(|last| last.effect)).unwrap_or_default(),
    })
}

/// Returns the message for a status that lags behind its Pods.
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
