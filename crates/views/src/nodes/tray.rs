//! The tray of unscheduled Pods, with the reasons.

use super::cache::{ByNode, PodsOnNode, Unschedulable};
use super::words::cores;
use crate::bodies::{pod_body, pod_label};
use crate::nodes::words;
use crate::shape::{CardBody, Rect, Scene};
use i18n::format;
use i18n::{Message, msg};
use projection::model::{Id, Model, Node, Pod};
use std::rc::Rc;

/// Pods that wait for a node: the first, and their number.
pub(super) struct WaitingPods {
    pub(super) first: Option<Rc<Pod>>,
    pub(super) pods: usize,
}

impl WaitingPods {
    pub(super) fn of(model: &Model, on: Option<&Rc<PodsOnNode>>) -> WaitingPods {
        let Some(pods) = model.on.get("").or(on.map(|on| &on.pods)) else {
            return WaitingPods {
                first: None,
                pods: 0,
            };
        };
        // An unschedulable Pod, if there is one near the front: the others are waiting for their turn.
        let waits = || pods.iter().filter(|pod| !pod.ended);
        let first = waits()
            .take(1000)
            .find(|pod| !pod.unscheduled.is_empty())
            .or_else(|| waits().next())
            .cloned();
        WaitingPods {
            first,
            pods: pods.len() - pods.ended(),
        }
    }
}

/// Draws the Pods without a node, and the reasons: per node with its numbers if these suffice, otherwise each reason with its number of
/// nodes.
pub(super) fn tray(
    model: &Model,
    (on, refused): (&ByNode<'_>, &Unschedulable),
    waiting: &WaitingPods,
    (x, y): (f64, f64),
    width: f64,
    out: &mut Scene,
) {
    let Some(pod) = &waiting.first else { return };
    let none = PodsOnNode::default();
    // The scheduler has not processed it yet, so nothing has been refused.
    let queued = pod.unscheduled.is_empty() && !model.nodes.is_empty();
    let refusal = |node: &Rc<Node>| {
        refuses(
            node,
            on.get(node.id.name.as_str()).map_or(&none, |on| on),
            pod,
        )
    };
    let own: Vec<_> = model
        .nodes
        .iter()
        .filter(|_| !queued)
        .filter_map(refusal)
        .collect();
    let mut rows = if own.is_empty() || own.len() < model.nodes.len() {
        refused.rows(pod)
    } else {
        own
    };
    if rows.len() > 5 {
        let more = rows.len() - 4;
        rows.truncate(4);
        rows.push([
            msg::more_nodes(more),
            Message::default(),
            Message::default(),
        ]);
    }
    let small = width < 460.0;
    let high = if small {
        130.0 + rows.len() as f64 * 24.0
    } else {
        (76.0 + rows.len() as f64 * 24.0).max(126.0)
    };
    let rect = Rect::new(x, y, if small { width } else { width.max(460.0) }, high);
    let head = if pod.unscheduled.is_empty() {
        Message::default()
    } else {
        msg::wait_no_node_fits()
    };
    let id = Id {
        kind: "Unscheduled".into(),
        uid: "tray".into(),
        ..Id::default()
    };
    let aside = match () {
        () if model.nodes.is_empty() => msg::tray_no_node(),
        () if queued => msg::tray_queued(),
        () => msg::tray_retried(),
    };
    let label = msg::tray_label(waiting.pods, &pod.unscheduled);
    let parent = out.put(
        &id,
        rect,
        CardBody::Tray {
            pods: waiting.pods,
            aside,
            head,
            rows,
        },
        None,
        "",
        label,
    );
    let at = Rect::new(x + 14.0, y + 42.0, 196.0, 52.0);
    out.put(
        &pod.id,
        at,
        pod_body(pod, 19),
        Some(parent),
        pod.state.class(),
        pod_label(pod),
    );
    if waiting.pods > 1 && !small {
        let text = msg::more(waiting.pods - 1);
        out.labels.push(crate::shape::Label {
            x: x + 16.0,
            y: at.bottom() + 6.0,
            text,
            role: crate::shape::LabelRole::Plain,
            ground: crate::shape::LabelGround::None,
            centred: false,
        });
    }
}

/// Returns the reason why a node does not accept a Pod, as far as its state and free resources explain it.
pub fn refuses(node: &Node, on: &PodsOnNode, pod: &Pod) -> Option<[Message; 3]> {
    let (cpu, memory, pods) = (
        node.cpu.saturating_sub(on.cpu),
        node.memory.saturating_sub(on.memory),
        on.live as u64,
    );
    let (why, detail) = match () {
        () if !node.ready => (
            msg::refusal_taint("node.kubernetes.io/unreachable"),
            Message::default(),
        ),
        () if node.cordoned => (
            msg::refusal_cordoned(),
            Message::name(format!("kubectl cordon {}", node.id.name)),
        ),
        () if pods >= node.pods => (msg::refusal_pods(node.pods), Message::default()),
        () if cpu < pod.cpu => (
            msg::tray_insufficient("cpu"),
            msg::tray_needs(cores(pod.cpu), cores(cpu)),
        ),
        () if memory < pod.memory => (
            msg::tray_insufficient("memory"),
            msg::tray_needs(words::memory(pod.memory), words::memory(memory)),
        ),
        () => return None,
    };
    Some([
        Message::name(format::middle(&node.id.name, 12)),
        why,
        detail,
    ])
}
