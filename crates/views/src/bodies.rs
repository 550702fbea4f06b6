//! Shapes shared by several diagrams: Pods, claims, the numbers of a controller.

use crate::shape::{CardBody, Rect, Scene};
use i18n::{Arg, Message, dotted, msg};
use projection::model::{Claim, ControllerCard, Pod, Service};

/// Returns the numbers of a controller, each with its word.
pub fn numbers(of: &ControllerCard) -> Vec<Message> {
    of.counters
        .iter()
        .map(|counter| msg::counted(&counter.value, counter.metric.word()))
        .collect()
}

/// Type of a Service, or "headless".
pub fn service_form(service: &Service) -> Message {
    if service.form == "headless" {
        msg::service_headless()
    } else {
        Message::state(&service.form)
    }
}

/// Draws a Pod as a card.
pub fn pod_body(pod: &Pod, most: usize) -> CardBody {
    let (lead, tail) = pod.parts(most);
    // The node is dropped before the status is cut.
    let long =
        pod.note == Message::name(&pod.node) && pod.word.length() + pod.note.length() > most + 2;
    let note = if long {
        Message::default()
    } else {
        pod.note.clone()
    };
    // Less than six pixels per character: only the duration is left of the grace period.
    let note = match note.args() {
        [Arg::Duration(left)] if pod.word.length() + note.length() + 3 > most * 5 / 4 => {
            msg::pod_grace_short(*left)
        }
        _ => note,
    };
    CardBody::Pod {
        state: pod.state,
        lead,
        tail,
        word: pod.word.clone(),
        note,
        stale: pod.stale,
        containers: pod.containers.clone(),
    }
}

/// Label of a Pod for screen readers.
pub fn pod_label(pod: &Pod) -> Message {
    let label = match pod.node.is_empty() {
        true => msg::pod_label(&pod.id.name, &pod.word),
        false => msg::pod_label_on(&pod.id.name, &pod.word, &pod.node),
    };
    match &pod.containers {
        Some(of) => msg::pod_label_containers(label, of.ready, of.total, of.restarts),
        None => label,
    }
}

/// Draws a claim's ticket, with a few facts.
pub fn put_claim(
    out: &mut Scene,
    claim: &Claim,
    rect: Rect,
    parent: Option<usize>,
    facts: &[&str],
) -> usize {
    let fact = dotted(facts.iter().map(|fact| Message::state(*fact)).collect());
    let label = msg::claim_label(&claim.id.name, &claim.phase, &fact);
    let body = CardBody::Claim {
        fact,
        bound: claim.phase == "Bound",
    };
    out.put(
        &claim.id,
        rect,
        body,
        parent,
        &claim.phase.to_ascii_lowercase(),
        label,
    )
}
