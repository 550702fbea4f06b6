//! Reads the loops at an instant: queues, and the last pass of each as Observe, Diff and Act.

use super::pass::{code, full_name, pass};
use crate::loops::model::{Loop, Loops, Pass, PassPhase, PassStep};
use apiserver::journal::{Entry, EntryId};
use cluster::Sim;
use cluster::loops::named as descriptor;
use i18n::{Message, msg};
use k8s_model::Kind;

/// Number of kubelets above which they share one place.
pub(super) const KUBELETS: usize = 3;

/// Name of an entry's component on the ring.
pub(super) fn component(entry: &Entry, one_kubelet: bool) -> String {
    if entry.actor.node.is_empty() || one_kubelet {
        entry.actor.name.to_string()
    } else {
        format!("{} {}", entry.actor.name, entry.actor.node)
    }
}

pub(super) fn title(name: &str) -> String {
    // The name of a node is not translated.
    if name.starts_with("kubelet ") {
        return name.into();
    }
    descriptor(name).map_or(name, |of| of.title).into()
}

/// Reads the loops at the instant shown.
pub fn read(sim: &Sim, chosen: Option<&str>) -> Loops {
    let journal = sim.journal();
    let nodes: Vec<String> = sim
        .list(Kind::Node)
        .map(|node| node.meta.name.to_string())
        .collect();
    let one_kubelet = nodes.len() > KUBELETS;
    let mut names: Vec<String> = Vec::new();
    let queues: Vec<(&'static str, usize)> = sim
        .queues()
        .map(|(name, queue)| (name, queue.len()))
        .collect();
    // A loop without a work queue has no count.
    let passes = |name: &str| {
        sim.queues()
            .find(|(of, _)| *of == name)
            .map(|(_, queue)| queue.passes() as usize)
    };
    let wrote = |name: &str| {
        journal
            .iter()
            .rev()
            .take(20_000)
            .any(|entry| entry.actor.name == name && !entry.is_event())
    };
    for (name, _) in &queues {
        if descriptor(name).is_some_and(|of| of.always_shown) || wrote(name) {
            names.push((*name).to_string());
        }
    }
    names.push("default-scheduler".into());
    if one_kubelet {
        names.push("kubelet".into());
    } else {
        names.extend(nodes.iter().map(|node| format!("kubelet {node}")));
    }
    let acts = |entry: &&Entry| {
        !entry.is_event() && entry.actor.name != "user" && entry.actor.name != "apiserver"
    };
    let last = journal.iter().rev().take(4000).find(acts);
    let newest = last.map(|entry| component(entry, one_kubelet));
    let slowed: Vec<_> = names.iter().map(|name| sim.slowed(name)).collect();
    let mut loops: Vec<Loop> = names
        .iter()
        .zip(&slowed)
        .map(|(name, slowed)| {
            // The scheduler's queue is separate; unless the scheduler is slowed nothing stays in it.
            let waiting = slowed.as_ref().map_or(0, |slowed| slowed.waiting);
            Loop {
                name: name.clone(),
                title: title(name),
                glyph: glyph(name),
                queue: queues
                    .iter()
                    .find(|(of, _)| of == name)
                    .map_or(waiting, |(_, waiting)| *waiting),
                writes: newest.as_ref() == Some(name),
                told: false,
                // In visible steps, so that not every instant is redrawn.
                part: slowed.as_ref().and_then(|slowed| {
                    let (_, ends) = slowed.pass.as_ref()?;
                    let left = ends
                        .0
                        .saturating_sub(sim.now().0 / 1000 * 1000)
                        .min(slowed.span);
                    Some(((slowed.span - left) * 24 / slowed.span.max(1) * 100 / 24) as u8)
                }),
                slow: slowed.as_ref().map_or_else(Message::default, |slowed| {
                    msg::loop_slow(slowed.span / 1000)
                }),
            }
        })
        .collect();
    let place = |name: &str| loops.iter().position(|one| one.name == name);
    let chosen = chosen.and_then(place);
    let shown = chosen.or_else(|| place(newest.as_deref()?));
    if let Some(at) = shown {
        loops[at].told = chosen.is_none();
    }
    let pass = shown.map(|at| {
        let name = loops[at].name.as_str();
        // The result of a slowed pass shows at its end; the numbers of the previous pass are not its own.
        if let Some((key, ends)) = slowed[at].as_ref().and_then(|slowed| slowed.pass.clone()) {
            return Pass {
                who: name.to_string(),
                title: title_of(name, passes(name), msg::pass_running()),
                key: full_name(&key),
                held: msg::pass_ends(&key.name, ends.0 / 1000),
                glyph: glyph(name),
                code: code(name, None, &[], &Message::default(), &[]),
                steps: ahead(),
                ..Pass::default()
            };
        }
        let entry = journal
            .iter()
            .enumerate()
            .rev()
            .find(|(_, entry)| !entry.is_event() && component(entry, one_kubelet) == name);
        match entry {
            Some((at, entry)) => Pass {
                held: held(sim, at),
                ..pass(
                    journal,
                    at,
                    entry,
                    newest.as_deref() == Some(name),
                    passes(name),
                )
            },
            None => Pass {
                who: name.to_string(),
                title: msg::pass_none(name),
                glyph: glyph(name),
                code: code(name, None, &[], &Message::default(), &[]),
                ..Pass::default()
            },
        }
    });
    Loops {
        loops,
        version: sim.server().version(),
        chosen,
        shown,
        pass,
    }
}

/// Steps of a pass that is still running.
pub fn ahead() -> Vec<PassStep> {
    vec![
        (
            PassPhase::Observe,
            vec![(msg::ahead_reads(), msg::ahead_at_end())],
        ),
        (
            PassPhase::Diff,
            vec![(msg::ahead_compares(), msg::ahead_after())],
        ),
        (PassPhase::Act, vec![(msg::ahead_writes(), msg::ahead_if())]),
    ]
}

/// Describes the effect of watch faults on the pass shown: the event of its write is delayed or lost.
pub(super) fn held(sim: &Sim, at: usize) -> Message {
    let Some(late) = sim.late_event(at as EntryId) else {
        return Message::default();
    };
    match late.until.filter(|_| !late.lost) {
        Some(at) => msg::pass_event_late(late.component, at.0 / 1000),
        None => msg::pass_event_lost(late.component),
    }
}

pub fn glyph(name: &str) -> &'static str {
    descriptor(name).map_or("i-act", |of| of.icon)
}

/// Title of a pass: its loop, its number, and its time.
pub(super) fn title_of(name: &str, passes: Option<usize>, at: Message) -> Message {
    match passes {
        Some(n) => msg::pass_title(name, n, at),
        None => msg::pass_title_short(name, at),
    }
}
