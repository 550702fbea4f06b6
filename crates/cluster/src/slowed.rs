//! Slowed controllers and scheduler: what waits for them.

use crate::Sim;
use apiserver::Component;
use k8s_model::{Duration, Object, ObjectRef, Time};

/// Controller slowed by a fault, or the scheduler.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slowed {
    /// Component.
    pub component: Component,
    /// Duration of each pass.
    pub span: Duration,
    /// Time at which the fault was injected.
    pub since: Time,
    /// Number of waiting keys.
    pub waiting: usize,
    /// Key of the pass in progress, and the end of the pass.
    pub pass: Option<(ObjectRef, Time)>,
}

/// Position of an object in the queue of a slowed controller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InLine {
    /// Slowed controller.
    pub slowed: Slowed,
    /// Number of keys before the object; 0 if the pass in progress is its own.
    pub before: usize,
    /// Elapsed and total time of the pass in progress.
    pub pass: (Duration, Duration),
    /// True if the object's pass would write anything now.
    pub works: bool,
}

impl Slowed {
    /// Returns the slowdown of a component, if any.
    pub fn of(sim: &Sim, component: Component) -> Option<Slowed> {
        if component == Component::Scheduler {
            let (span, since) = sim.scheduler.slowed()?;
            return Some(Slowed {
                component,
                span,
                since,
                waiting: sim.scheduler.queued(),
                pass: sim.scheduler.under_way(),
            });
        }
        let (_, queue) = sim.manager.queues().find(|(of, _)| *of == component)?;
        queue.slowed().map(|(span, since)| Slowed {
            component,
            span,
            since,
            waiting: queue.len(),
            pass: queue.under_way(),
        })
    }
}

/// Returns true if any controller is slow, or any watch has lost or delayed events.
pub fn is_held_up(sim: &Sim) -> bool {
    sim.scheduler.slowed().is_some()
        || sim
            .manager
            .queues()
            .any(|(_, queue)| queue.slowed().is_some())
        || sim.informers.is_disturbed()
}

impl InLine {
    /// Returns the slowed controller that an object waits for; one that has work for it is preferred.
    pub fn of(sim: &Sim, object: &Object) -> Option<InLine> {
        let turn = |of: Component, (before, due): (usize, Option<(Time, Time)>), works: bool| {
            let slowed = Slowed::of(sim, of)?;
            let (began, ends) = due.unwrap_or((sim.now(), sim.now().after(slowed.span)));
            let pass = (sim.now().0.saturating_sub(began.0), ends.0 - began.0);
            Some(InLine {
                slowed,
                before,
                pass,
                works,
            })
        };
        let scheduler = sim.scheduler.in_line(object.meta.uid);
        if let Some(line) = scheduler.and_then(|line| turn(Component::Scheduler, line, true)) {
            return Some(line);
        }
        let key = object.key();
        let mut idle = None;
        for (i, component) in sim.manager.indexes() {
            let serves = match component {
                Component::Loop(id) => {
                    let of = sim.manager.scripted(id);
                    of.is_some_and(|(of, _)| of.is_for(object.kind))
                }
                _ => controllers::ALL
                    .get(i)
                    .is_some_and(|controller| controller.serves(object)),
            };
            if !serves {
                continue;
            }
            let Some(line) = sim.manager.workers[i].queue.in_line(&key) else {
                continue;
            };
            if sim.has_work(i, &key) {
                return turn(component, line, true);
            }
            if idle.is_none() {
                idle = turn(component, line, false);
            }
        }
        idle
    }
}
