//! Reads the loops at an instant: queues, and the last pass of each as Observe, Diff and Act.

use super::pass::{code, full_name, pass};
use crate::loops::model::{CacheState, Loop, Loops, Pass, PassPhase, PassRow, PassStep};
use apiserver::control_loop::is_control_loop;
use apiserver::journal::{Entry, EntryId};
use apiserver::{Actor, Component};
use cluster::Sim;
use cluster::loops::descriptor;
use cluster::slowed::Slowed;
use controller_runtime::process::Process;
use explain::control_loop;
use i18n::{Message, msg};
use k8s_model::{Kind, Object, ObjectRef, Str};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Number of kubelets above which they share one place.
pub(super) const KUBELETS: usize = 3;

/// Number of events on their way that are looked at for the state of a cache.
const MOST_EVENTS: usize = 256;

/// Actor of an entry on the ring: a single kubelet stands for those of many nodes.
pub(super) fn spoke(entry: &Entry, one_kubelet: bool) -> Actor {
    if one_kubelet {
        Actor::component(entry.actor.component)
    } else {
        entry.actor.clone()
    }
}

pub(super) fn title(actor: &Actor) -> String {
    match descriptor(actor.component) {
        Some(of) if actor.node.is_empty() => of.title.into(),
        _ => actor.to_string(),
    }
}

/// Reads the loops at the instant shown.
pub fn read(sim: &Sim, chosen: Option<&Actor>) -> Loops {
    let journal = sim.journal();
    let nodes: Vec<Str> = sim
        .store()
        .list(Kind::Node)
        .map(|node| node.meta.name.clone())
        .collect();
    let one_kubelet = nodes.len() > KUBELETS;
    let mut actors: Vec<Actor> = Vec::new();
    let queues: Vec<(Component, usize, Str)> = sim
        .manager
        .queues()
        .map(|(component, queue)| {
            let first = queue.keys().next().map(|key| key.name.clone());
            (component, queue.len(), first.unwrap_or_default())
        })
        .collect();
    // A loop without a work queue has no count.
    let passes = |component: Component| {
        sim.manager
            .queues()
            .find(|(of, _)| *of == component)
            .map(|(_, queue)| queue.passes() as usize)
    };
    let wrote = |component: Component| {
        journal
            .iter()
            .rev()
            .take(20_000)
            .any(|entry| entry.actor.component == component && !entry.is_event())
    };
    for (component, ..) in &queues {
        if descriptor(*component).is_some_and(|of| of.always_shown) || wrote(*component) {
            actors.push(Actor::component(*component));
        }
    }
    actors.push(Actor::component(Component::Scheduler));
    if one_kubelet {
        actors.push(Actor::component(Component::Kubelet));
    } else {
        actors.extend(nodes.iter().map(Actor::kubelet));
    }
    let acts =
        |entry: &&Entry| !entry.is_event() && ![Actor::USER, Actor::SERVER].contains(&entry.actor);
    let last = journal.iter().rev().take(4000).find(acts);
    let newest = last.map(|entry| spoke(entry, one_kubelet));
    let slowed: Vec<_> = actors
        .iter()
        .map(|actor| Slowed::of(sim, actor.component))
        .collect();
    let mut loops: Vec<Loop> = actors
        .iter()
        .zip(&slowed)
        .map(|(actor, slowed)| {
            // The scheduler's queue is separate; unless the scheduler is slowed nothing stays in it.
            let waiting = slowed.as_ref().map_or(0, |slowed| slowed.waiting);
            let queue = queues.iter().find(|(of, ..)| *of == actor.component);
            Loop {
                actor: actor.clone(),
                title: title(actor),
                glyph: glyph(actor.component),
                queue: queue.map_or(waiting, |(_, waiting, _)| *waiting),
                key: queue.map_or_else(Str::default, |(.., key)| key.clone()),
                writes: newest.as_ref() == Some(actor),
                idle: newest.as_ref() != Some(actor) && is_idle(sim, actor.component),
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
    let place = |actor: &Actor| loops.iter().position(|one| one.actor == *actor);
    let chosen = chosen.and_then(place);
    let shown = chosen.or_else(|| place(newest.as_ref()?));
    if let Some(at) = shown {
        loops[at].told = chosen.is_none();
    }
    let pass = shown.map(|at| {
        let actor = &loops[at].actor;
        let component = actor.component;
        let program = program(sim, component);
        let program = program.as_deref();
        // The result of a slowed pass shows at its end; the numbers of the previous pass are not its own.
        if let Some((key, ends)) = slowed[at].as_ref().and_then(|slowed| slowed.pass.clone()) {
            return Pass {
                who: actor.to_string(),
                title: title_of(actor, passes(component), msg::pass_running()),
                key: full_name(&key),
                held: msg::pass_ends(&key.name, ends.0 / 1000),
                glyph: glyph(component),
                code: code(component, program, None),
                steps: ahead(),
                ..Pass::default()
            };
        }
        // The status of a loop that is a program is written beside its passes.
        let own = |entry: &Entry| {
            program.is_none() || !entry.key().is_some_and(|key| is_control_loop(key.kind))
        };
        let entry = journal.iter().enumerate().rev().find(|(_, entry)| {
            !entry.is_event() && spoke(entry, one_kubelet) == *actor && own(entry)
        });
        match entry {
            Some((at, entry)) => Pass {
                held: match held(sim, at) {
                    event if !event.is_empty() => event,
                    _ => lost(sim, component),
                },
                ..pass(
                    journal,
                    program,
                    at,
                    entry,
                    newest.as_ref() == Some(actor),
                    passes(component),
                )
            },
            None => Pass {
                held: lost(sim, component),
                who: actor.to_string(),
                title: msg::pass_none(actor.to_string()),
                glyph: glyph(component),
                code: code(component, program, None),
                ..Pass::default()
            },
        }
    });
    let cache = shown.and_then(|at| cache_of(sim, &loops[at], chosen.is_some()));
    Loops {
        cache,
        loops,
        version: sim.store().version(),
        chosen,
        shown,
        pass,
    }
}

/// Returns the text of a loop that is a program.
fn program(sim: &Sim, component: Component) -> Option<Str> {
    let Component::Loop(id) = component else {
        return None;
    };
    sim.manager
        .scripted(id)
        .map(|(of, _)| of.spec.program.clone())
}

/// Steps of a pass that is still running.
pub fn ahead() -> Vec<PassStep> {
    [PassPhase::Observe, PassPhase::Diff, PassPhase::Act]
        .map(|phase| PassStep {
            phase,
            rows: vec![PassRow::Ahead(phase)],
        })
        .to_vec()
}

/// Describes the effect of watch faults on the pass shown: the event of its write is delayed or lost.
pub(super) fn held(sim: &Sim, at: usize) -> Message {
    let Some(late) = sim.informers.missing_event_of(sim.journal(), at as EntryId) else {
        return Message::default();
    };
    match late.until.filter(|_| !late.lost) {
        Some(at) => msg::pass_event_late(late.process.name(), at.0 / 1000),
        None => msg::pass_event_lost(late.process.name()),
    }
}

/// Describes a cache to which a fault has given more or fewer objects than etcd has; empty if none has.
fn lost(sim: &Sim, component: Component) -> Message {
    let all = match is_behind(sim, component) {
        true => differences(sim, component),
        false => Vec::new(),
    };
    all.iter()
        .find(|of| of.cached != of.stored)
        .map_or_else(Message::default, CacheDifference::message)
}

/// Returns the cache of a loop, if it is `selected` or a fault keeps events from it.
fn cache_of(sim: &Sim, of: &Loop, selected: bool) -> Option<CacheState> {
    let component = of.actor.component;
    (selected || is_behind(sim, component)).then(|| {
        let all = differences(sim, component);
        let differs: Vec<Message> = all.iter().take(2).map(CacheDifference::message).collect();
        CacheState {
            title: of.title.clone(),
            differs: if differs.is_empty() {
                Message::default()
            } else {
                Message::list(differs)
            },
        }
    })
}

/// Returns true if a fault delays or has dropped an event of a loop's watches.
fn is_behind(sim: &Sim, component: Component) -> bool {
    let watch_faults = sim.informers[Process::of(component)].watch_faults.as_ref();
    watch_faults.is_some_and(|watch_faults| watch_faults.is_behind())
}

/// Returns how the cache of a loop differs from etcd, by the events that have not arrived.
fn differences(sim: &Sim, component: Component) -> Vec<CacheDifference> {
    let informer = &sim.informers[Process::of(component)];
    let journal = sim.journal();
    let missing = informer.watch_faults.iter().flat_map(|of| of.missing());
    let coming = informer.seen() as EntryId..journal.len() as EntryId;
    let watched = control_loop::watched_in(sim, component);
    let about = |id: &EntryId| {
        let write = journal.get(*id as usize).and_then(Entry::write);
        write.is_some_and(|(_, object)| watched.contains(&object.kind))
    };
    // Objects of a kind that the cache does not have as etcd has them.
    let mut differs: Vec<(Kind, BTreeSet<ObjectRef>)> = Vec::new();
    for id in missing.chain(coming.filter(about).take(MOST_EVENTS)) {
        let Some((_, object)) = journal.get(id as usize).and_then(Entry::write) else {
            continue;
        };
        let (kind, key) = (object.kind, object.key());
        if !watched.contains(&kind) || !informer.process.stores(kind) {
            continue;
        }
        let version = |object: &Rc<Object>| object.meta.resource_version;
        if informer.cache.object(&key).map(version) == sim.store().get(&key).map(version) {
            continue;
        }
        match differs.iter_mut().find(|(of, _)| *of == kind) {
            Some((_, keys)) => _ = keys.insert(key),
            None => differs.push((kind, BTreeSet::from([key]))),
        }
    }
    let difference = |(kind, keys): (Kind, BTreeSet<ObjectRef>)| CacheDifference {
        kind,
        cached: informer.cache.count(kind),
        stored: sim.store().count(kind),
        objects: keys.len(),
    };
    differs.into_iter().map(difference).collect()
}

/// Kind of which a cache does not hold what etcd has.
struct CacheDifference {
    kind: Kind,
    cached: usize,
    stored: usize,
    /// Objects that are missing, gone or older.
    objects: usize,
}

impl CacheDifference {
    fn message(&self) -> Message {
        if self.cached == self.stored {
            msg::cache_older(self.kind, self.objects)
        } else {
            msg::pass_cache_differs(self.kind, self.cached, self.stored)
        }
    }
}

/// Returns true for a controller of whose kinds there is no object.
fn is_idle(sim: &Sim, component: Component) -> bool {
    let mut kinds = control_loop::reconciled(component).peekable();
    kinds.peek().is_some() && kinds.all(|kind| sim.store().count(kind) == 0)
}

pub fn glyph(component: Component) -> &'static str {
    descriptor(component).map_or("i-act", |of| of.icon)
}

/// Title of a pass: its loop, its number, and its time.
pub(super) fn title_of(actor: &Actor, passes: Option<usize>, at: Message) -> Message {
    let name = actor.to_string();
    match passes {
        Some(n) => msg::pass_title(name, n, at),
        None => msg::pass_title_short(name, at),
    }
}
