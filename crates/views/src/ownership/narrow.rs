//! Ownership on a phone and in a frame too narrow for a tree: one column.

use super::cards::{card_height, chosen, claims_of, line, pod_line, put_controller};
use super::leaves::counts_height;
use super::measures::{BRIEF, DENSE, Frame, PAD};
use super::rows::{endpoints, policy_label};
use crate::bodies::{pod_body, pod_label, put_claim};
use crate::references;
use crate::shape::{CardBody, Cells, Line, Look, Rect, Scene, drop};
use i18n::{Message, msg};
use projection::model::{ControllerCard, Counter, Group, Id, Metric, PodState, Policy, Tone};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Margin of the column.
pub(super) fn margin(low: bool) -> f64 {
    if low { 8.0 } else { 16.0 }
}

/// Draws cards in full width, children below, and returns their bottom. In a low frame all are lower, so that root and Pods are visible
/// together.
pub(super) fn put(
    frame: &Frame<'_>,
    homes: &[Option<usize>],
    (m, top): (f64, f64),
    out: &mut Scene,
    drawn: &mut BTreeSet<String>,
) -> f64 {
    let Frame {
        model,
        selected,
        width: w,
        ..
    } = *frame;
    let low = frame.measures.low;
    let total = model.population();
    let mut y = top;
    let of_home = |at: Option<usize>| {
        model
            .uses
            .iter()
            .zip(homes)
            .filter(|(_, home)| **home == at)
            .map(|(used, _)| used)
            .collect::<Vec<_>>()
    };
    // A Service stands over the first tree that it selects.
    let over: Vec<usize> = model
        .services
        .iter()
        .map(|service| service.reached(&model.roots).first().copied().unwrap_or(0))
        .collect();
    for (at, root) in model.roots.iter().enumerate() {
        for service in model
            .services
            .iter()
            .zip(&over)
            .filter(|(_, over)| **over == at)
            .map(|(service, _)| service)
        {
            let form = service
                .trouble()
                .cloned()
                .unwrap_or_else(|| endpoints(service.ready()));
            let state = match service.trouble() {
                Some(_) => PodState::NotReady.class(),
                None if service.ready() > 0 => "ready",
                None => "none",
            };
            let label = msg::service_label_short(&service.id.name, &form);
            out.put(
                &service.id,
                Rect::new(m, y, w, 44.0),
                CardBody::Service { form },
                None,
                state,
                label,
            );
            y += 60.0;
        }
        let aims = |policy: &&Policy| {
            root.controller
                .as_ref()
                .is_some_and(|of| of.id.uid == policy.target)
        };
        for policy in model.policies.iter().filter(aims) {
            let label = policy_label(policy);
            let refused = Some(msg::policy_refuses_short()).filter(|_| !policy.refuses.is_empty());
            let state = if refused.is_some() {
                PodState::NotReady.class()
            } else {
                "settled"
            };
            let form = refused.unwrap_or_else(|| policy.form.clone());
            out.put(
                &policy.id,
                Rect::new(m, y, w, 44.0),
                CardBody::Service { form },
                None,
                state,
                label,
            );
            y += 60.0;
        }
        let (mut parent, mut from) = (None, Rect::default());
        if let Some(of) = &root.controller {
            let (of, look) = match model
                .budget
                .as_ref()
                .filter(|budget| budget.uid == of.id.uid)
            {
                Some(budget) => (with_updated(of), Look::Stacked(budget.clone())),
                None => (of.clone(), if low { Look::Low } else { Look::Tall }),
            };
            let high = match look {
                Look::Tall => card_height(&of),
                Look::Stacked(_) => STACKED,
                _ => BRIEF,
            };
            from = Rect::new(m, y, w, high);
            parent = Some(put_controller(out, &of, from, None, look));
            y = from.bottom() + if low { 12.0 } else { 40.0 };
        }
        let across = if root.groups.len() > 1 { 2 } else { 1 };
        let group_w = (w - 16.0 * (across - 1) as f64) / across as f64;
        for pair in root.groups.chunks(across) {
            let mut lowest = y;
            for (column, group) in pair.iter().enumerate() {
                let x = m + column as f64 * (group_w + 16.0);
                let (mut at, mut owner) = (y, (parent, from));
                if let Some(of) = &group.controller {
                    let mut small = (**of).clone();
                    (small.footer, small.chip) = Default::default();
                    // A ReplicaSet's caption needs no kind here.
                    small.caption = small.caption.short();
                    let (high, look) = if low {
                        (BRIEF, Look::Low)
                    } else {
                        (card_height(&small), Look::Tall)
                    };
                    let rect = Rect::new(x, at, group_w, high);
                    let index = put_controller(out, &Rc::new(small), rect, parent, look);
                    let on = chosen(selected, &of.id) || model.place(group, selected).is_some();
                    out.link(
                        of.id.uid.clone(),
                        drop(
                            from.cx(),
                            from.bottom(),
                            rect.cx(),
                            rect.y,
                            (from.bottom() + rect.y) / 2.0,
                        ),
                        line(on, of.leaving),
                    );
                    at = rect.bottom() + if low { 8.0 } else { 21.0 };
                    owner = (Some(index), rect);
                }
                let look = (total, root.older(group), model.place(group, selected));
                lowest = lowest.max(stack(group, (x, at, group_w, low), owner, look, out));
            }
            y = lowest + if low { 4.0 } else { 24.0 };
        }
        // Claims below their Pods, each with the name of its volume.
        let pods = root
            .groups
            .iter()
            .filter(|group| group.pods.mounts())
            .flat_map(|group| group.pods.iter());
        for claim in pods.flat_map(|pod| claims_of(model, pod)) {
            if !drawn.contains(&claim.id.uid) {
                drawn.insert(claim.id.uid.clone());
                put_claim(
                    out,
                    claim,
                    Rect::new(m, y, w, 60.0),
                    parent,
                    &[
                        &claim.phase,
                        &claim.capacity,
                        &i18n::format::volume(&claim.volume),
                    ],
                );
                y += 68.0;
            }
        }
        let own = of_home(Some(at));
        if !own.is_empty() {
            references::put(&own, (m, y - references::BELOW, w), parent, out);
            y += references::height(own.len());
        }
        y += 8.0;
    }
    let shared = of_home(None);
    if !shared.is_empty() {
        y = references::put_shared(&shared, (m, y + 12.0, w), out);
    }
    y
}

/// Adds one counter, for which the full width of a phone has room.
pub(super) fn with_updated(of: &ControllerCard) -> Rc<ControllerCard> {
    let mut of = of.clone();
    if let Some(updated) = of.updated {
        of.counters.push(Counter {
            value: i18n::format::short_count(updated as u64),
            metric: Metric::Updated,
            tone: Tone::Plain,
            lags: Message::default(),
        });
    }
    of.into()
}

/// Height of a Deployment's card with its budget.
pub(super) const STACKED: f64 = 164.0;

pub(super) fn stack(
    group: &Group,
    (x, top, w, low): (f64, f64, f64, bool),
    (parent, from): (Option<usize>, Rect),
    (total, old, ring): (usize, usize, Option<usize>),
    out: &mut Scene,
) -> f64 {
    let mut y = top;
    if let (Some(first), true) = (group.pods.first(), from.h > 0.0) {
        out.link(
            format!("{}/stem", first.id.uid),
            drop(from.cx(), from.bottom(), x + w / 2.0, top, top - 12.0),
            Line::Owns,
        );
    }
    if group.pods.len() <= 6 && low {
        let across = if w > 240.0 { 2 } else { 1 };
        let wide = (w - 8.0 * (across - 1) as f64) / across as f64;
        for (i, pod) in group.pods.iter().enumerate() {
            let (column, row) = ((i % across) as f64, (i / across) as f64);
            let rect = Rect::new(x + column * (wide + 8.0), y + row * 34.0, wide, 30.0);
            out.put(
                &pod.id,
                rect,
                pod_line(pod, wide),
                parent,
                pod.state.class(),
                pod_label(pod),
            );
        }
        return y + group.pods.len().div_ceil(across) as f64 * 34.0;
    }
    if group.pods.len() <= 6 {
        for pod in group.pods.iter() {
            let mut body = pod_body(
                pod,
                if w > 240.0 {
                    30
                } else {
                    5.max(pod.parts(5).1.len())
                },
            );
            if let (CardBody::Pod { lead, .. }, true) = (&mut body, w <= 240.0) {
                lead.clear();
            }
            if let (CardBody::Pod { note, .. }, true) = (&mut body, w <= 240.0) {
                *note = Message::default();
            }
            out.put(
                &pod.id,
                Rect::new(x, y, w, 48.0),
                body,
                parent,
                pod.state.class(),
                pod_label(pod),
            );
            y += 56.0;
        }
        return y;
    }
    let (side, pitch) = if total > DENSE {
        (7.0, 8.0)
    } else {
        (8.0, 10.0)
    };
    let columns = ((w - 2.0 * PAD) / pitch) as usize;
    let head = counts_height(&group.pods, w);
    let cells = Cells {
        pods: group.pods.clone(),
        columns,
        side,
        pitch,
        at: (PAD, head + 6.0),
        old,
        ring,
    };
    let h = head + group.pods.len().div_ceil(columns) as f64 * pitch + 14.0;
    let id = Id {
        kind: "Pods".into(),
        uid: format!("{}/pods", group.pods[0].id.uid),
        ..group.pods[0].id.clone()
    };
    out.put(
        &id,
        Rect::new(x, y, w, h),
        CardBody::Cells(cells),
        parent,
        "progressing",
        msg::summary_pods(group.pods.len()),
    );
    y + h + 8.0
}
