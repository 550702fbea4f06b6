//! Services, policies and autoscalers: a row above the trees, and the rail from it to its targets.

use super::measures::Measures;
use crate::bodies::service_form;
use crate::shape::{CardBody, Label, LabelGround, LabelRole, Line, Port, Rect, Scene};
use i18n::format::middle;
use i18n::{Message, dotted, msg};
use projection::images;
use projection::model::{Id, Pod, PodState, Policy, Root, Service};

/// Object in a row above a tree: a Service, an autoscaler, a disruption budget.
pub(super) enum TreeRow<'a> {
    Service(&'a Service),
    Policy(&'a Policy),
}

/// End of a row's line: a Pod's card, or a block of many.
pub(super) struct End<'a> {
    pub(super) rect: Rect,
    pub(super) pod: Option<&'a Pod>,
    /// Prefix of the names of a block's Pods.
    pub(super) of: String,
    /// Height at which a line passes an item at its right, if there is one.
    pub(super) past: Option<f64>,
}

impl TreeRow<'_> {
    pub(super) fn id(&self) -> &Id {
        match self {
            TreeRow::Service(service) => &service.id,
            TreeRow::Policy(policy) => &policy.id,
        }
    }

    /// Returns true for an autoscaler, which acts on the workload; the others select Pods.
    pub(super) fn scales(&self) -> bool {
        self.id().kind == "HorizontalPodAutoscaler"
    }

    /// Returns what is wrong, if anything is.
    pub(super) fn hint(&self) -> Message {
        match self {
            TreeRow::Service(service) => service.trouble().cloned().unwrap_or_default(),
            TreeRow::Policy(policy) => policy.refuses.clone(),
        }
    }

    /// Label for screen readers.
    pub(super) fn label(&self) -> Message {
        match self {
            TreeRow::Service(service) => {
                msg::service_label_short(&service.id.name, endpoints(service.ready()))
            }
            TreeRow::Policy(policy) => policy_label(policy),
        }
    }

    /// Draws the card, and its text beside it.
    pub(super) fn put(
        &self,
        measures: &Measures,
        roots: &[&Root],
        (x, y): (f64, f64),
        end: f64,
        out: &mut Scene,
    ) -> Rect {
        let least = measures.card.0;
        // As wide as its name, or its kind over it, needs beside its pill.
        let wide = match self {
            TreeRow::Service(service) => {
                (98.0 + 7.3 * service.id.name.len() as f64 + 6.6 * service.form.len() as f64)
                    .clamp(least, least + 100.0)
            }
            TreeRow::Policy(policy) => {
                let words =
                    (7.3 * policy.id.name.len() as f64).max(6.6 * policy.id.kind.len() as f64);
                (98.0 + words + 6.6 * policy.form.length() as f64).clamp(least, least + 130.0)
            }
        };
        let rect = Rect::new(x, y, wide, measures.card.1);
        let (words, short) = match self {
            TreeRow::Service(service) => {
                put_service(out, service, rect);
                let (of, ready) = (&service.selector, service.ready());
                let shares = shares(service, roots);
                let words = if !shares.is_empty() {
                    shares
                } else if of.is_empty() {
                    msg::row_no_selector()
                } else {
                    msg::row_selector(of)
                };
                let with_hint = |ready_words: Message| match service.trouble() {
                    Some(trouble) => Message::list(vec![ready_words, trouble.clone()]),
                    None => ready_words,
                };
                (
                    dotted(vec![words, with_hint(endpoints(ready))]),
                    dotted(vec![
                        Message::name(middle(of, 24)),
                        with_hint(msg::ready_count(ready)),
                    ]),
                )
            }
            TreeRow::Policy(policy) => {
                let label = policy_label(policy);
                out.put(
                    &policy.id,
                    rect,
                    CardBody::Service {
                        form: policy.form.clone(),
                    },
                    None,
                    "settled",
                    label,
                );
                match policy.refuses.is_empty() {
                    true => (policy.words.clone(), policy.words.clone()),
                    false => (policy.refuses.clone(), msg::policy_refuses_short()),
                }
            }
        };
        // If the text does not fit before the rail, the short form is used.
        let (x, room) = (
            rect.right() + 24.0,
            ((end - rect.right() - 48.0) / 6.0).max(8.0) as usize,
        );
        let fits = |text: &Message| text.length() <= room;
        // In the smallest frame its result takes precedence over its selector.
        let text = match self {
            _ if fits(&words) => words,
            TreeRow::Service(service) if measures.low && !fits(&short) => {
                msg::ready_count(service.ready())
            }
            _ => short,
        };
        let troubled = match self {
            TreeRow::Service(service) => service.trouble().is_some(),
            TreeRow::Policy(policy) => !policy.refuses.is_empty(),
        };
        let role = if troubled {
            LabelRole::Trouble
        } else {
            LabelRole::Plain
        };
        out.labels.push(Label {
            x,
            y: rect.cy() - 8.0,
            text,
            role,
            ground: LabelGround::Edge,
            centred: false,
        });
        if end == f64::MAX && matches!(self, TreeRow::Service(_)) {
            out.link(
                self.id().uid.clone(),
                format!("M{} {}H{x}", rect.right(), rect.cy()),
                Line::Selects,
            );
        }
        rect
    }

    /// Draws the selector's line: along the row to a rail, with a stub to each Pod in the EndpointSlice, or to each block of Pods.
    pub(super) fn rail(&self, card: Rect, rail: f64, lift: f64, ends: &[End], out: &mut Scene) {
        let to = |end: &End| match (self, end.pod) {
            (TreeRow::Service(service), Some(pod)) => service
                .endpoint(&pod.id.name)
                .map(|endpoint| endpoint.ready),
            (TreeRow::Service(service), None) => service.reaches(&end.of),
            (TreeRow::Policy(_), pod) => Some(pod.is_none_or(|pod| pod.state == PodState::Ready)),
        };
        let (uid, y) = (&self.id().uid, card.cy());
        let (mut n, mut last) = (0, 0.0f64);
        for (end, full) in ends.iter().filter_map(|end| Some((end, to(end)?))) {
            let (right, port) = (end.rect.right(), end.rect.cy() + lift);
            let from = end.past.unwrap_or(port);
            let down = if end.past.is_some() {
                format!("H{}V{port}", right + 14.0)
            } else {
                String::new()
            };
            // A block of Pods is bracketed: the line leads to those that are endpoints, to none in particular.
            let (x, bracket) = match end.pod {
                Some(_) => (right, String::new()),
                None => (
                    right + 7.0,
                    format!(
                        "M{} {}V{}",
                        right + 7.0,
                        end.rect.y + 1.0,
                        end.rect.bottom() - 1.0
                    ),
                ),
            };
            out.link(
                format!("{uid}/{n}"),
                format!("M{rail} {from}{down}H{}{bracket}", right + 7.0),
                Line::Selects,
            );
            out.ports.push(Port {
                x,
                y: port,
                full,
                network: true,
            });
            (n, last) = (n + 1, last.max(from));
        }
        let d = match n {
            0 => format!("M{} {y}H{}", card.right(), card.right() + 24.0),
            _ => format!(
                "M{} {y}H{}Q{rail} {y} {rail} {}V{last}",
                card.right(),
                rail - 10.0,
                y + 10.0
            ),
        };
        out.link(uid.clone(), d, Line::Selects);
    }
}

/// Message "ready endpoints" with a count.
pub(super) fn endpoints(ready: usize) -> Message {
    msg::ready_endpoints(ready)
}

pub(super) fn put_service(out: &mut Scene, service: &Service, rect: Rect) {
    let ready = service.ready();
    let form = service_form(service);
    let label = msg::service_label(&service.id.name, &form, endpoints(ready));
    let state = if ready > 0 { "ready" } else { "none" };
    out.put(
        &service.id,
        rect,
        CardBody::Service { form },
        None,
        state,
        label,
    );
}

pub(super) fn policy_label(policy: &Policy) -> Message {
    msg::policy_label(
        &policy.id.kind,
        &policy.id.name,
        &policy.form,
        &policy.words,
    )
}

/// Maximum number of endpoints whose versions are counted.
const MAX_COUNTED: usize = 500;

/// Share of a Service's connections that reaches each version of its Pods, if there are several: each ready endpoint has the same chance.
fn shares(service: &Service, roots: &[&Root]) -> Message {
    let ready = service.ready();
    if !(2..=MAX_COUNTED).contains(&ready) {
        return Message::default();
    }
    let mut counts: Vec<(&str, usize)> = Vec::new();
    let pods = roots.iter().flat_map(|root| &root.groups);
    for pod in pods.flat_map(|group| group.pods.iter()) {
        if !service.endpoint(&pod.id.name).is_some_and(|to| to.ready) {
            continue;
        }
        match counts.iter_mut().find(|(image, _)| *image == &*pod.image) {
            Some((_, count)) => *count += 1,
            None => counts.push((&pod.image, 1)),
        }
    }
    if counts.len() < 2 || counts.iter().map(|(_, count)| count).sum::<usize>() != ready {
        return Message::default();
    }
    let shown: Vec<&str> = counts.iter().map(|(image, _)| *image).collect();
    let share = |(image, count): &(&str, usize)| {
        let percent = (100 * count + ready / 2) / ready;
        msg::row_share(images::label(image, &shown, 16), percent)
    };
    Message::list(counts.iter().map(share).collect())
}
