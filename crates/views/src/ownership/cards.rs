//! Cards of controllers, Pods, claims and volumes.

use super::groups::put_fold;
use super::measures::{TreeColumns, USUAL};
use crate::bodies::{numbers, put_claim};
use crate::grouping::GROUP;
use crate::shape::{CardBody, Label, LabelGround, LabelRole, Line, Look, Port, Rect, Scene, elbow};
use i18n::{Message, dotted, msg};
use k8s_model::Kind;
use k8s_model::kind::GATEWAY_GROUP;
use projection::model::{Claim, ControllerCard, Id, Metric, Model, Pod, PodState, Root};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Height of a controller's card.
pub(super) fn card_height(of: &ControllerCard) -> f64 {
    let counters = if of.counters.is_empty() { 0.0 } else { 53.0 };
    let footer = if of.footer.is_empty() && of.chip.is_empty() {
        0.0
    } else {
        29.0
    };
    54.0 + counters + footer
}

pub(super) fn put_controller(
    out: &mut Scene,
    of: &Rc<ControllerCard>,
    rect: Rect,
    parent: Option<usize>,
    look: Look,
) -> usize {
    let state = if of.leaving {
        "terminating"
    } else if of.counters.iter().any(|counter| {
        counter.metric == Metric::Ready && counter.tone == projection::model::Tone::Off
    }) {
        "progressing"
    } else {
        "settled"
    };
    let mut label = msg::controller_label(of.caption.words(&of.id.kind), &of.id.name, numbers(of));
    // If the strip over the diagram has no room, the card has its contents.
    if let Look::Stacked(budget) = &look {
        label = msg::sentence_then(label, budget.label());
    }
    out.put(
        &of.id,
        rect,
        CardBody::Controller {
            of: of.clone(),
            look,
        },
        parent,
        state,
        label,
    )
}

pub(super) fn chosen(selected: Option<&str>, id: &Id) -> bool {
    selected == Some(id.uid.as_str())
}

pub(super) fn line(chosen: bool, leaving: bool) -> Line {
    match (chosen, leaving) {
        (true, false) => Line::Chosen,
        (_, true) => Line::Leaving,
        _ => Line::Owns,
    }
}

/// Draws a Pod in one line: the end of its name and its status; the node if there is room for all of it.
pub(super) fn pod_line(pod: &Pod, wide: f64) -> CardBody {
    let (lead, tail) = pod.parts(9.max(pod.parts(9).1.len()));
    let lead = if lead.len() + tail.len() > 9 {
        String::new()
    } else {
        lead
    };
    // Beside the glyph, a character of the name is 7 pixels wide, one of the status about 6.
    let room = (wide - 38.0 - 7.0 * (lead.len() + tail.len()) as f64) / 6.2;
    let note = if (pod.word.length() + pod.note.length() + 3) as f64 <= room {
        pod.note.clone()
    } else {
        Message::default()
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

pub(super) fn claims_of<'a>(model: &'a Model, pod: &'a Pod) -> impl Iterator<Item = &'a Claim> {
    pod.claims
        .iter()
        .filter_map(|name| model.claim(&pod.id.namespace, name))
}

/// Returns the claims mounted by the Pods of some trees; one for each mounting Pod.
pub(super) fn claims_of_trees<'a>(
    model: &'a Model,
    roots: impl Iterator<Item = &'a Root>,
) -> impl Iterator<Item = &'a Claim> {
    let groups = roots
        .flat_map(|root| &root.groups)
        .filter(|group| group.pods.mounts());
    groups
        .flat_map(|group| group.pods.iter())
        .flat_map(|pod| claims_of(model, pod))
}

/// Draws the claims of a Pod and their volumes, to its right.
pub(super) fn storage_of(
    model: &Model,
    pod: &Pod,
    at: Rect,
    parent: usize,
    (columns, high): (&TreeColumns, f64),
    out: &mut Scene,
    drawn: &mut BTreeSet<String>,
) {
    for (i, claim) in claims_of(model, pod).enumerate() {
        if drawn.contains(&claim.id.uid) {
            continue;
        }
        drawn.insert(claim.id.uid.clone());
        let x = at.right() + columns.gap;
        let rect = Rect::new(
            x,
            at.cy() - high / 2.0 + i as f64 * (high + 8.0),
            columns.claim,
            high,
        );
        let index = put_claim(
            out,
            claim,
            rect,
            Some(parent),
            &[&claim.phase, &claim.capacity],
        );
        let mounted = matches!(pod.state, PodState::Ready | PodState::NotReady);
        if pod.state == PodState::Terminating && columns.volume == 0.0 {
            out.labels.push(Label {
                x: x + 2.0,
                y: rect.bottom() + 1.0,
                text: msg::claim_kept(),
                role: LabelRole::Plain,
                ground: LabelGround::None,
                centred: false,
            });
        }
        out.link(
            format!("{}>{}", pod.id.uid, claim.id.uid),
            elbow(at.right(), at.cy(), x, rect.cy(), x - columns.gap / 2.0),
            if mounted { Line::Bound } else { Line::Waits },
        );
        out.ports.push(Port {
            x: at.right(),
            y: at.cy(),
            full: mounted,
            network: false,
        });
        volume_of(model, claim, rect, index, columns, out);
    }
}

pub(super) fn volume_of(
    model: &Model,
    claim: &Claim,
    at: Rect,
    parent: usize,
    columns: &TreeColumns,
    out: &mut Scene,
) {
    if columns.volume == 0.0 {
        return;
    }
    if let Some(volume) = model.volume(&claim.volume) {
        let rect = Rect::new(at.right() + 36.0, at.cy() - 26.0, columns.volume, USUAL.pod);
        let fact = dotted(
            [&volume.phase, &volume.capacity]
                .map(Message::state)
                .to_vec(),
        );
        let label = msg::volume_label(&volume.id.name, &fact);
        out.put(
            &volume.id,
            rect,
            CardBody::Volume { fact },
            Some(parent),
            &volume.phase.to_ascii_lowercase(),
            label,
        );
        let bound = claim.phase == "Bound";
        out.link(
            volume.id.uid.clone(),
            elbow(at.right(), at.cy(), rect.x, rect.cy(), rect.x - 18.0),
            if bound { Line::Bound } else { Line::Waits },
        );
    }
}

/// Maximum number of objects at the foot that are drawn unless a person unfolds them.
const MAX_INERT: usize = 12;

/// Draws claims without a Pod, and objects that are stored but not animated: a row each at the foot. Very many of these are folded;
/// `toggled` has the uids of the headings that a person has folded or unfolded.
pub(super) fn orphans(
    model: &Model,
    (left, top): (f64, f64),
    least: usize,
    toggled: &BTreeSet<String>,
    out: &mut Scene,
    drawn: &BTreeSet<String>,
) {
    let mut y = top;
    let across = |pitch: f64| (((out.width - left + 16.0) / pitch) as usize).max(least);
    let (tickets, chips) = (across(196.0), across(184.0));
    let waiting: Vec<&Claim> = model
        .claims
        .iter()
        .filter(|claim| !drawn.contains(&claim.id.uid))
        .collect();
    if !waiting.is_empty() {
        out.labels.push(Label {
            x: left,
            y,
            text: msg::claims_without_pod(),
            role: LabelRole::Plain,
            ground: LabelGround::None,
            centred: false,
        });
        for (i, claim) in waiting.iter().enumerate() {
            let rect = Rect::new(
                left + (i % tickets) as f64 * 196.0,
                y + 22.0 + (i / tickets) as f64 * 76.0,
                180.0,
                60.0,
            );
            put_claim(out, claim, rect, None, &[&claim.phase, &claim.capacity]);
        }
        y += 22.0 + waiting.len().div_ceil(tickets) as f64 * 76.0 + 12.0;
    }
    let leads = |kind: Kind| {
        matches!(kind, Kind::Ingress | Kind::NetworkPolicy) || kind.info().group == GATEWAY_GROUP
    };
    let (traffic, inert): (Vec<&Id>, Vec<&Id>) = model
        .inert
        .iter()
        .partition(|id| Kind::from_label(&id.kind).is_some_and(leads));
    let rows = [
        (traffic, msg::traffic_rules_title(), true),
        (inert, msg::not_simulated_title(), false),
    ];
    for (ids, text, acts) in rows.into_iter().filter(|(ids, ..)| !ids.is_empty()) {
        if ids.len() > MAX_INERT {
            let uid = format!("inert/{acts}");
            let folded = !toggled.contains(&uid);
            let text = msg::heading_of(text, ids.len());
            let id = Id {
                kind: GROUP.into(),
                uid,
                ..Id::default()
            };
            put_fold(&id, text, folded, (left, y, f64::MAX), out);
            if folded {
                y += 36.0;
                continue;
            }
        } else {
            out.labels.push(Label {
                x: left,
                y,
                text,
                role: LabelRole::Plain,
                ground: LabelGround::None,
                centred: false,
            });
        }
        for (i, id) in ids.iter().enumerate() {
            let rect = Rect::new(
                left + (i % chips) as f64 * 184.0,
                y + 22.0 + (i / chips) as f64 * 36.0,
                176.0,
                28.0,
            );
            let body = CardBody::Stored {
                fact: Message::default(),
                missing: false,
            };
            let label = if acts {
                msg::kind_name(&id.kind, &id.name)
            } else {
                msg::not_simulated_label(&id.kind, &id.name)
            };
            out.put(id, rect, body, None, "inert", label);
        }
        y += 22.0 + ids.len().div_ceil(chips) as f64 * 36.0 + 12.0;
    }
}
