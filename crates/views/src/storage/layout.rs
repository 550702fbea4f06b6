//! Storage: a column per ordinal with Pod, claim and volume; the class that provisioned them.

use super::measures::{
    ASIDE, Across, BETWEEN, COMING, Down, FLAT, FLAT_BELOW, FLAT_THREE, HIGH, LOW, TALL,
};
use super::mounts::MountIndex;
use super::words::{row_pod, summary};
use crate::bodies::{numbers, pod_body, pod_label, put_claim};
use crate::shape::{CardBody, Label, LabelGround, LabelRole, Line, Look, Port, Rect, Scene, drop};
use i18n::format::middle;
use i18n::{Arg, Message, dotted, msg};
use projection::model::{Claim, Id, Model, Pod, PodState, Root};

/// Lays out the storage. `selected` is a uid; its column is highlighted.
pub fn layout(model: &Model, selected: Option<&str>, (width, height): (f64, f64)) -> Scene {
    let mut out = Scene {
        summary: summary(model),
        ..Scene::default()
    };
    if model.claims.is_empty() && model.volumes.is_empty() {
        return out;
    }
    let coming = |root: &Root| {
        root.controller
            .as_ref()
            .filter(|of| of.claims)
            .map_or(0, |of| of.desired)
    };
    let mounts = MountIndex::of(model);
    let sets: Vec<(&Root, Vec<&Claim>)> = model
        .roots
        .iter()
        .map(|root| (root, mounts.claims_of(root)))
        .filter(|(_, own)| !own.is_empty())
        .collect();
    let alone = model
        .claims
        .len()
        .saturating_sub(sets.iter().map(|(_, own)| own.len()).sum());
    let most = sets
        .iter()
        .map(|(root, own)| coming(root).max(columns_of(own)))
        .max()
        .unwrap_or(0)
        .max(alone);
    let mut across = Across::of(width, most);
    // The tallest bar determines the room.
    let fewest = sets
        .iter()
        .map(|(root, own)| coming(root).max(own.len()))
        .min()
        .unwrap_or(COMING);
    // The flat form depends on the stage alone: Pods and claims created later do not change it. Only in the narrow columns of more than
    // three members a Pod is slightly higher.
    let down = match () {
        () if height < FLAT_BELOW && across.slender() => FLAT_THREE,
        () if height < FLAT_BELOW => FLAT,
        () if across.named && height < TALL + HIGH.bar(fewest) - HIGH.bars[0] => LOW,
        () => HIGH,
    };
    across.aside &= down.aside;
    let form = (across, down);
    let mut y = down.top;
    let mut seen: Vec<&str> = Vec::new();
    // Small sets stand side by side if there is room beside the class.
    let room = if across.aside { width - ASIDE } else { width };
    let (mut x, mut row) = (across.left, y);
    for (root, own) in &sets {
        seen.extend(own.iter().map(|claim| claim.id.uid.as_str()));
        let places = coming(root).min(COMING).max(own.len());
        let span = places as f64 * across.pitch;
        let beside = across.named && x > across.left && x + span <= room && places <= COMING;
        if !beside {
            (x, row) = (across.left, y);
        }
        let labels = out.labels.len();
        let place = (Across { left: x, ..across }, down);
        y = y.max(set(model, root, own, selected, (place, row), &mut out) + down.apart);
        if beside {
            // The rows are already labelled.
            let new = out.labels.split_off(labels);
            out.labels.extend(
                new.into_iter()
                    .filter(|label| label.role != LabelRole::RowName),
            );
        }
        x += span + BETWEEN;
    }
    seen.sort();
    let rest: Vec<&Claim> = model
        .claims
        .iter()
        .filter(|claim| seen.binary_search(&claim.id.uid.as_str()).is_err())
        .collect();
    if !rest.is_empty() {
        let columns: Vec<Column<'_>> = rest
            .iter()
            .map(|claim| Column {
                title: Message::default(),
                ordinal: 0,
                pods: mounts.pods_of(claim),
                claims: vec![claim],
            })
            .collect();
        y = grid(model, &columns, None, selected, (form, y), &mut out) + down.apart;
    }
    free_volumes(model, (form, y), &mut out);
    classes(model, form, &mut out);
    out.labels
        .retain(|label| across.named || label.role != LabelRole::RowName);
    kept(model, form, &mut out);
    out.finish(down.margin)
}

/// Draws the note that a deleted Pod's claims are retained. The line reserves its space even when empty, so that nothing moves when it
/// appears.
pub(super) fn kept(model: &Model, (across, down): (Across, Down), out: &mut Scene) {
    if !model.claims.iter().any(|claim| claim.member.is_some()) && model.removed.is_none() {
        return;
    }
    let y = out
        .items
        .iter()
        .map(|item| item.rect.bottom())
        .fold(out.height, f64::max)
        + down.note;
    out.height = y + 22.0;
    let Some(removed) = &model.removed else {
        return;
    };
    let claim = |claim: &&Claim| {
        claim.id.namespace == removed.id.namespace && removed.claims.contains(&claim.id.name)
    };
    let Some(claim) = model.claims.iter().find(claim) else {
        return;
    };
    let (pod, name) = (middle(&removed.id.name, 24), middle(&claim.id.name, 28));
    let text = match (removed.by_user, across.named) {
        _ if removed.id.kind == "StatefulSet" => {
            msg::claims_kept_by_you(&removed.id.name, removed.claims.len())
        }
        (true, true) if removed.back => msg::claim_reused(pod, name),
        (true, true) => msg::claim_kept_by_you(pod, name, &claim.capacity),
        (false, true) => msg::claim_kept_by_others(pod, name, &claim.capacity),
        (_, false) => {
            msg::claim_kept_short(middle(&removed.id.name, 16), middle(&claim.id.name, 18))
        }
    };
    out.labels.push(Label {
        x: across.left,
        y,
        text,
        role: LabelRole::Kept,
        ground: LabelGround::None,
        centred: false,
    });
}

/// Number of columns for claims: one for all claims of a member, one for each other claim.
fn columns_of(claims: &[&Claim]) -> usize {
    let mut members: Vec<u32> = claims
        .iter()
        .filter_map(|claim| Some(claim.member.as_ref()?.1))
        .collect();
    let others = claims.len() - members.len();
    members.sort();
    members.dedup();
    members.len() + others
}

pub(super) struct Column<'a> {
    pub(super) title: Message,
    pub(super) ordinal: usize,
    pub(super) pods: Vec<&'a Pod>,
    pub(super) claims: Vec<&'a Claim>,
}

pub(super) fn set<'a>(
    model: &Model,
    root: &'a Root,
    own: &[&'a Claim],
    selected: Option<&str>,
    at: ((Across, Down), f64),
    out: &mut Scene,
) -> f64 {
    let pods: Vec<&Pod> = root
        .groups
        .iter()
        .flat_map(|group| group.pods.iter())
        .map(|pod| &**pod)
        .collect();
    let mut ordinals: Vec<(u32, Option<&Pod>, Option<&Claim>)> = own
        .iter()
        .filter_map(|claim| Some((claim.member.as_ref()?.1, None, Some(*claim))))
        .collect();
    ordinals.extend(
        pods.iter()
            .filter_map(|pod| Some((pod.ordinal?, Some(*pod), None))),
    );
    ordinals.sort_by_key(|(n, ..)| *n);
    let columns: Vec<Column<'_>> = if ordinals.is_empty() {
        let mounts = |claim: &Claim| {
            pods.iter()
                .copied()
                .filter(|pod| pod.claims.contains(&claim.id.name))
                .collect()
        };
        own.iter()
            .map(|claim| Column {
                title: Message::default(),
                ordinal: 0,
                pods: mounts(claim),
                claims: vec![claim],
            })
            .collect()
    } else {
        let column = |all: &[(u32, Option<&'a Pod>, Option<&'a Claim>)]| Column {
            title: msg::column_ordinal(all[0].0),
            ordinal: all[0].0 as usize,
            pods: all.iter().filter_map(|(_, pod, _)| *pod).collect(),
            claims: all.iter().filter_map(|(.., claim)| *claim).collect(),
        };
        ordinals
            .chunk_by(|(a, ..), (b, ..)| a == b)
            .map(column)
            .collect()
    };
    grid(model, &columns, Some(root), selected, at, out)
}

/// Draws one block of columns. Returns its bottom.
pub(super) fn grid(
    model: &Model,
    columns: &[Column<'_>],
    root: Option<&Root>,
    selected: Option<&str>,
    ((across, down), top): ((Across, Down), f64),
    out: &mut Scene,
) -> f64 {
    let Across {
        left,
        column: wide,
        pitch,
        ..
    } = across;
    let controller = root.and_then(|root| root.controller.as_ref());
    let coming = controller
        .filter(|of| of.claims)
        .map_or(0, |of| of.desired.min(COMING));
    let places = columns.len().max(coming);
    let span = places as f64 * pitch - (pitch - wide);
    let mut parent = None;
    let mut pod_y = top + down.title;
    // As wide as its columns; if these are few its numbers stand below its name.
    let high = down
        .bar(places)
        .max(if across.named { 0.0 } else { down.bars[1] });
    let card = Rect::new(left, top, span, high);
    if let Some(of) = controller {
        let label = msg::summary_root(&of.id.kind, &of.id.name, numbers(of));
        let look = match places {
            2.. => Look::Wide,
            _ if down.brief => Look::Low,
            _ => Look::Tall,
        };
        parent = Some(out.put(
            &of.id,
            card,
            CardBody::Controller {
                of: of.clone(),
                look,
            },
            None,
            "settled",
            label,
        ));
        pod_y = card.bottom()
            + down.drop
            + if of.id.kind == "Deployment" {
                down.via
            } else {
                0.0
            };
    }
    // A Deployment owns no Pod: its ReplicaSet stands on the line.
    let sets = root.filter(|root| {
        root.controller
            .as_ref()
            .is_some_and(|of| of.id.kind == "Deployment")
    });
    let set_of = |pod: &Pod| {
        let of = sets?
            .groups
            .iter()
            .find(|group| group.pods.iter().any(|own| own.id == pod.id))?
            .controller
            .as_ref()?;
        Some(&of.id)
    };
    let most = columns
        .iter()
        .map(|column| column.claims.len())
        .max()
        .unwrap_or(1)
        .max(1);
    let claim_y = pod_y + down.pod + down.gaps.0;
    let volume_y = claim_y + down.claim + down.gaps.1;
    // A second claim of the same Pod stands below the first, with its own volume.
    let block = down.claim + down.gaps.1 + down.volume + 12.0;
    let bottom = volume_y + (most - 1) as f64 * block + down.volume;

    let mut chips: Vec<(&Id, usize)> = Vec::new();
    for (i, column) in columns.iter().enumerate() {
        let x = left + i as f64 * pitch;
        let cx = x + wide / 2.0;
        let chosen = |id: &Id| selected == Some(id.uid.as_str());
        let on = column.pods.iter().any(|pod| chosen(&pod.id))
            || column.claims.iter().any(|claim| {
                chosen(&claim.id)
                    || model
                        .volume(&claim.volume)
                        .is_some_and(|volume| chosen(&volume.id))
            });
        if on {
            let (over, under) = down.band;
            out.bands.push(Rect::new(
                x - 6.0,
                pod_y - over,
                wide + 12.0,
                bottom - pod_y + over + under,
            ));
        }
        if !column.title.is_empty() && down.title > 0.0 {
            out.labels.push(Label {
                x: x + 2.0,
                y: pod_y - down.title,
                text: column.title.clone(),
                role: LabelRole::Plain,
                ground: LabelGround::None,
                centred: false,
            });
        }
        let mut pod_index = parent;
        if column.pods.is_empty()
            && let Some(of) = controller.filter(|_| !column.title.is_empty())
        {
            // The claim outlives the Pod: a scale-down keeps the data.
            let text = if column.ordinal >= of.desired {
                msg::column_kept()
            } else {
                msg::column_no_pod()
            };
            out.labels.push(Label {
                x: cx,
                y: pod_y + down.pod / 2.0 - 8.0,
                text,
                role: LabelRole::Plain,
                ground: LabelGround::None,
                centred: true,
            });
        }
        if let Some(pod) = column.pods.first() {
            let rect = Rect::new(x, pod_y, wide, down.pod);
            let mut body = pod_body(pod, if wide < 150.0 { 8 } else { 15 });
            if let CardBody::Pod { note, .. } = &mut body {
                *note = match note.args() {
                    _ if wide < 150.0 => Message::default(),
                    [left @ Arg::Duration(_)] => Message::only(left.clone()),
                    _ => note.clone(),
                };
            }
            let (mut owner, mut from) = (parent, (left + span / 2.0, card.bottom()));
            if let Some(id) = set_of(pod) {
                let drawn = chips.iter().find(|(of, _)| *of == id).map(|(_, at)| *at);
                let at = drawn.unwrap_or_else(|| {
                    let rect = Rect::new(
                        x,
                        card.bottom() + (pod_y - card.bottom() - down.chip) / 2.0,
                        wide,
                        down.chip,
                    );
                    let body = CardBody::Stored {
                        fact: Message::default(),
                        missing: false,
                    };
                    let line = if on { Line::Chosen } else { Line::Owns };
                    out.link(
                        id.uid.clone(),
                        drop(from.0, from.1, cx, rect.y, (from.1 + rect.y) / 2.0),
                        line,
                    );
                    let at = out.put(
                        id,
                        rect,
                        body,
                        parent,
                        "settled",
                        msg::kind_name("ReplicaSet", &id.name),
                    );
                    chips.push((id, at));
                    at
                });
                let rect = out.items[at].rect;
                (owner, from) = (Some(at), (rect.cx(), rect.bottom()));
            }
            pod_index = Some(out.put(
                &pod.id,
                rect,
                body,
                owner,
                pod.state.class(),
                pod_label(pod),
            ));
            if controller.is_some() {
                let line = if on {
                    Line::Chosen
                } else if pod.state == PodState::Terminating {
                    Line::Leaving
                } else {
                    Line::Owns
                };
                out.link(
                    pod.id.uid.clone(),
                    drop(
                        from.0,
                        from.1,
                        cx,
                        pod_y,
                        from.1 + down.turn.min((pod_y - from.1) / 2.0),
                    ),
                    line,
                );
            }
        }
        for (k, claim) in column.claims.iter().enumerate() {
            let at = claim_y + k as f64 * block;
            let rect = Rect::new(x, at, wide, down.claim);
            // The line shows that the claim is bound.
            let facts = [claim.capacity.as_str(), claim.mode.as_str()];
            let index = put_claim(out, claim, rect, pod_index, &facts);
            if let Some(pod) = column.pods.first().filter(|_| k == 0) {
                mount(pod, claim, (cx, wide), pod_y + down.pod, at, on, out);
            }
            volume(model, claim, (cx, rect, down), on, index, out);
        }
    }
    for (y, text) in [
        (pod_y + down.pod / 2.0 - 8.0, row_pod()),
        (claim_y + down.claim / 2.0 - 8.0, msg::row_claim()),
        (volume_y + down.volume / 2.0 - 6.0, msg::row_volume()),
    ] {
        out.labels.push(Label {
            x: left - 64.0,
            y,
            text,
            role: LabelRole::RowName,
            ground: LabelGround::None,
            centred: false,
        });
    }
    bottom
}

/// Ground of a label on an edge, within the highlighted column or outside.
fn edge_ground(in_band: bool) -> LabelGround {
    if in_band {
        LabelGround::Band
    } else {
        LabelGround::Edge
    }
}

pub(super) fn mount(
    pod: &Pod,
    claim: &Claim,
    (cx, wide): (f64, f64),
    from: f64,
    to: f64,
    on: bool,
    out: &mut Scene,
) {
    let mounted = matches!(pod.state, PodState::Ready | PodState::NotReady);
    let words = match pod.state {
        PodState::Ready | PodState::NotReady => msg::mount_mounted(),
        PodState::Terminating => msg::claim_kept(),
        PodState::Failed | PodState::Succeeded => msg::mount_not_running(),
        _ if wide < 150.0 => msg::mount_not_mounted(),
        _ if claim.phase == "Bound" => msg::mount_waiting(),
        _ => msg::mount_claim(),
    };
    out.link(
        format!("{}>{}", pod.id.uid, claim.id.uid),
        drop(cx, from, cx, to, from),
        if mounted { Line::Bound } else { Line::Waits },
    );
    out.ports.push(Port {
        x: cx,
        y: from,
        full: mounted,
        network: false,
    });
    let role = if mounted {
        LabelRole::Plain
    } else {
        LabelRole::Wait
    };
    out.labels.push(Label {
        x: cx,
        y: (from + to) / 2.0 - 8.0,
        text: words,
        role,
        ground: edge_ground(on),
        centred: true,
    });
}

pub(super) fn volume(
    model: &Model,
    claim: &Claim,
    (cx, ticket, down): (f64, Rect, Down),
    on: bool,
    parent: usize,
    out: &mut Scene,
) {
    let bound = claim.phase == "Bound";
    let gap = down.gaps.1;
    let top = ticket.bottom() + gap;
    match model.volume(&claim.volume) {
        Some(volume) => {
            let rect = Rect::new(ticket.x, top, ticket.w, down.volume);
            let fact = dotted([&volume.capacity, &volume.node].map(Message::name).to_vec());
            let label = msg::volume_label(
                &volume.id.name,
                dotted(vec![Message::state(&volume.phase), fact.clone()]),
            );
            out.put(
                &volume.id,
                rect,
                CardBody::Cylinder {
                    fact,
                    data: volume.data.clone(),
                },
                Some(parent),
                &volume.phase.to_ascii_lowercase(),
                label,
            );
            out.link(
                volume.id.uid.clone(),
                drop(cx, ticket.bottom(), cx, top + 8.0, ticket.bottom()),
                if bound { Line::Bound } else { Line::Waits },
            );
            out.labels.push(Label {
                x: cx,
                y: ticket.bottom() + gap / 2.0 - 8.0,
                text: Message::state(&claim.phase),
                role: LabelRole::Plain,
                ground: edge_ground(on),
                centred: true,
            });
        }
        None => {
            out.link(
                format!("{}/volume", claim.id.uid),
                drop(
                    cx,
                    ticket.bottom(),
                    cx,
                    ticket.bottom() + 26.0,
                    ticket.bottom(),
                ),
                Line::Waits,
            );
            let words = Message::state(if claim.phase.is_empty() {
                "Pending"
            } else {
                &claim.phase
            });
            out.labels.push(Label {
                x: cx,
                y: ticket.bottom() + 30.0,
                text: if ticket.w < 150.0 {
                    words
                } else {
                    msg::claim_no_volume(words)
                },
                role: LabelRole::Wait,
                ground: edge_ground(on),
                centred: true,
            });
        }
    }
}

/// Draws volumes to which no claim is bound.
pub(super) fn free_volumes(
    model: &Model,
    ((across, down), top): ((Across, Down), f64),
    out: &mut Scene,
) {
    let mut bound: Vec<&str> = model
        .claims
        .iter()
        .map(|claim| claim.volume.as_str())
        .collect();
    bound.sort();
    let free: Vec<_> = model
        .volumes
        .iter()
        .filter(|volume| bound.binary_search(&volume.id.name.as_str()).is_err())
        .collect();
    for (i, volume) in free.iter().enumerate() {
        let rect = Rect::new(
            across.left + i as f64 * across.pitch,
            top,
            across.column,
            down.volume,
        );
        let fact = dotted(
            [&volume.phase, &volume.capacity]
                .map(Message::state)
                .to_vec(),
        );
        let label = msg::volume_label(&volume.id.name, &fact);
        out.put(
            &volume.id,
            rect,
            CardBody::Cylinder {
                fact,
                data: volume.data.clone(),
            },
            None,
            &volume.phase.to_ascii_lowercase(),
            label,
        );
    }
    if !free.is_empty() {
        out.labels.push(Label {
            x: across.left - 64.0,
            y: top + down.volume / 2.0 - 6.0,
            text: msg::row_volume(),
            role: LabelRole::RowName,
            ground: LabelGround::None,
            centred: false,
        });
    }
}

/// Draws StorageClasses at the right, or as a line each at the foot of a small picture, with a dotted bus under the volumes that they
/// provisioned.
pub(super) fn classes(model: &Model, (across, down): (Across, Down), out: &mut Scene) {
    let used: Vec<_> = model
        .classes
        .iter()
        .filter(|class| {
            model
                .volumes
                .iter()
                .any(|volume| volume.class == class.id.name)
                || model
                    .claims
                    .iter()
                    .any(|claim| claim.class == class.id.name)
        })
        .collect();
    let x = out
        .items
        .iter()
        .filter(|item| !matches!(item.body, CardBody::Controller { .. }))
        .map(|item| item.rect.right())
        .fold(0.0, f64::max)
        + 28.0;
    for (i, class) in used.iter().enumerate() {
        let cylinders: Vec<Rect> = out
            .items
            .iter()
            .filter(|item| {
                matches!(item.body, CardBody::Cylinder { .. })
                    && model
                        .volume(&item.id.name)
                        .is_some_and(|volume| volume.class == class.id.name)
            })
            .map(|item| item.rect)
            .collect();
        let tickets = out
            .items
            .iter()
            .filter(|item| matches!(item.body, CardBody::Claim { .. }))
            .map(|item| item.rect.bottom() + HIGH.gaps.1);
        let top = cylinders
            .iter()
            .map(|rect| rect.y)
            .reduce(f64::max)
            .or(tickets.reduce(f64::max))
            .unwrap_or(24.0)
            + 8.0;
        let rect = Rect::new(x, top + i as f64 * 130.0, 116.0, 116.0);
        let label = msg::class_label(&class.id.name, &class.reclaim);
        // If there is an item below a cylinder, its line leaves between the two, and runs down beside the columns.
        let strips = Strips::of(out);
        let under: Vec<Option<f64>> = cylinders.iter().map(|rect| strips.beneath(rect)).collect();
        let ways = |to: &dyn Fn(usize, &Rect, f64) -> String, out: &mut Scene| {
            for (k, (rect, under)) in cylinders.iter().zip(&under).enumerate() {
                if let Some(y) = under {
                    out.link(
                        format!("{}/{k}", class.id.uid),
                        to(
                            k,
                            rect,
                            rect.bottom() + ((y - rect.bottom()) / 2.0).min(12.0),
                        ),
                        Line::Provides,
                    );
                }
            }
        };
        if !across.aside {
            let y = out
                .items
                .iter()
                .map(|item| item.rect.bottom())
                .fold(0.0, f64::max)
                + down.foot.0;
            let (beside, high) = (across.left - 9.0, down.foot.1);
            ways(
                &|_, rect, out_y| {
                    format!(
                        "M{} {}V{out_y}H{beside}V{}H{}",
                        rect.cx(),
                        rect.bottom(),
                        y + high / 2.0,
                        across.left
                    )
                },
                out,
            );
            out.put(
                &class.id,
                Rect::new(across.left, y, 358.0, high),
                CardBody::Note(label.clone()),
                None,
                "",
                label,
            );
            for (k, cylinder) in cylinders
                .iter()
                .enumerate()
                .filter(|(k, _)| under[*k].is_none())
            {
                out.link(
                    format!("{}/{k}", class.id.uid),
                    format!("M{} {}V{}", cylinder.cx(), cylinder.bottom(), y),
                    Line::Provides,
                );
            }
            continue;
        }
        ways(
            &|_, from, y| {
                format!(
                    "M{} {}V{y}H{}V{}",
                    from.cx(),
                    from.bottom(),
                    rect.cx(),
                    rect.y
                )
            },
            out,
        );
        out.put(
            &class.id,
            rect,
            CardBody::Class {
                reclaim: Message::state(&class.reclaim),
            },
            None,
            "",
            label,
        );
        let last: Vec<(usize, Rect)> = cylinders
            .iter()
            .copied()
            .enumerate()
            .filter(|(k, _)| under[*k].is_none())
            .collect();
        if last.is_empty() {
            continue;
        }
        let bus = last
            .iter()
            .map(|(_, rect)| rect.bottom())
            .fold(rect.bottom(), f64::max)
            + 26.0
            + i as f64 * 10.0;
        let first = last
            .iter()
            .map(|(_, rect)| rect.cx())
            .fold(f64::MAX, f64::min);
        out.link(
            class.id.uid.clone(),
            format!(
                "M{first} {bus}H{}Q{} {bus} {} {}V{}",
                rect.cx() - 10.0,
                rect.cx(),
                rect.cx(),
                bus - 10.0,
                rect.bottom()
            ),
            Line::Provides,
        );
        for (k, cylinder) in &last {
            out.link(
                format!("{}/{k}", class.id.uid),
                format!("M{} {}V{bus}", cylinder.cx(), cylinder.bottom()),
                Line::Provides,
            );
        }
        out.labels.push(Label {
            x: rect.x - 24.0,
            y: bus - 8.0,
            text: msg::line_provisions(),
            role: LabelRole::Plain,
            ground: LabelGround::Edge,
            centred: false,
        });
        out.height = out.height.max(bus + 8.0);
    }
}

/// Items of a scene, by the vertical strips in which they lie, from the top.
struct Strips(Vec<Vec<Rect>>);

impl Strips {
    fn at(x: f64) -> usize {
        (x / 256.0).max(0.0) as usize
    }

    fn of(scene: &Scene) -> Strips {
        let mut strips: Vec<Vec<Rect>> = Vec::new();
        for rect in scene.items.iter().map(|item| item.rect) {
            strips.resize(strips.len().max(Strips::at(rect.right()) + 1), Vec::new());
            (Strips::at(rect.x)..=Strips::at(rect.right())).for_each(|at| strips[at].push(rect));
        }
        strips
            .iter_mut()
            .for_each(|rects| rects.sort_by(|a, b| a.y.total_cmp(&b.y)));
        Strips(strips)
    }

    /// Returns the top of the next item below a rectangle.
    fn beneath(&self, of: &Rect) -> Option<f64> {
        let rects = self.0.get(Strips::at(of.cx()))?;
        let below = &rects[rects.partition_point(|rect| rect.y < of.bottom())..];
        below
            .iter()
            .find(|rect| rect.x < of.cx() && of.cx() < rect.right())
            .map(|rect| rect.y)
    }
}
