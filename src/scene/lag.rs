//! Marks the counters of a card that its Pods have overtaken.
//!
//! The numbers of a card are those of the status, which its loop writes some time after what it tells of; the Pods beside it are
//! those that are there. Where both differ the counter keeps what the status says and gets a mark.

use super::format::{count, short_count};
use super::model::{Controller, Id, Root, Tone};
use std::rc::Rc;

/// What the Pods of one owner come to, as the loops count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pods {
    /// All of them.
    pub all: usize,
    /// Those that have neither ended nor leave.
    pub active: usize,
    /// Those of them that are ready.
    pub ready: usize,
    /// Those that leave.
    pub leaving: usize,
    /// Those of them whose containers have ended, as far as that is known: they are not ready.
    pub stopped: usize,
}

impl std::iter::Sum for Pods {
    fn sum<I: Iterator<Item = Pods>>(all: I) -> Pods {
        all.fold(Pods::default(), |sum, own| Pods {
            all: sum.all + own.all,
            active: sum.active + own.active,
            ready: sum.ready + own.ready,
            leaving: sum.leaving + own.leaving,
            stopped: sum.stopped + own.stopped,
        })
    }
}

/// Marks what lags. `pods` tells of an owner; nothing where it does not know.
#[inline(never)]
pub fn mark(roots: &mut [Root], pods: &dyn Fn(&Id) -> Option<Pods>) {
    for root in roots {
        let mut sum = Some(Pods::default());
        for group in &mut root.groups {
            let Some(of) = group.controller.as_mut().filter(|of| of.id.kind == "ReplicaSet") else { continue };
            let own = pods(&of.id);
            check(of, own);
            sum = sum.zip(own).map(|(sum, own)| [sum, own].into_iter().sum());
        }
        let Some(of) = &mut root.controller else { continue };
        match of.id.kind.as_str() {
            // It adds up what the statuses of its ReplicaSets say.
            "Deployment" => check(of, sum),
            "ReplicaSet" | "StatefulSet" => {
                let own = pods(&of.id);
                check(of, own);
            }
            _ => {}
        }
    }
}

fn check(of: &mut Rc<Controller>, pods: Option<Pods>) {
    let Some(pods) = pods else { return };
    let whole = of.id.kind == "StatefulSet";
    for at in 0..of.counters.len() {
        let counter = &of.counters[at];
        // A StatefulSet counts its Pods until they are gone, a ReplicaSet until they leave. Whether one that leaves is ready still
        // is not counted: a StatefulSet may be right within that.
        let (least, most) = match counter.word {
            "current" if whole => (pods.all, pods.all),
            "current" => (pods.active, pods.active),
            "ready" if whole => (pods.ready, pods.ready + pods.leaving.saturating_sub(pods.stopped)),
            "ready" => (pods.ready, pods.ready),
            _ => continue,
        };
        if !(least..=most).any(|n| counter.value == short_count(n as u64)) {
            let words = format!("status says {}; its Pods come to {} now: no loop has written that yet", counter.value, count(least));
            let counter = &mut Rc::make_mut(of).counters[at];
            // What is no longer so is not praised.
            (counter.lags, counter.tone) = (words, Tone::Off);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::{Group, counters};
    use super::*;

    fn of(kind: &str, name: &str, current: u64, ready: u64) -> Rc<Controller> {
        Rc::new(Controller { id: Id::named(kind, name), counters: counters(5_000, current, ready), ..Controller::default() })
    }

    fn marks(of: &Option<Rc<Controller>>) -> Vec<&str> {
        of.iter().flat_map(|of| &of.counters).map(|counter| counter.lags.as_str()).collect()
    }

    #[test]
    fn a_counter_that_its_pods_have_overtaken_is_marked() {
        let group = |name, current, ready| Group { controller: Some(of("ReplicaSet", name, current, ready)), pods: Default::default() };
        let mut roots = [Root {
            controller: Some(of("Deployment", "web", 7_000, 4_500)),
            groups: vec![group("old", 4_500, 4_500), group("new", 2_500, 0)],
            folded: 0,
        }];
        mark(&mut roots, &|id| {
            let old = Pods { all: 5_000, active: 4_000, ready: 4_000, leaving: 1_000, stopped: 0 };
            Some(if id.name == "old" { old } else { Pods { all: 2_500, active: 2_500, ..Pods::default() } })
        });
        let says = |status, now| format!("status says {status}; its Pods come to {now} now: no loop has written that yet");
        assert_eq!(marks(&roots[0].groups[0].controller), ["", &says("4,500", "4,000"), &says("4,500", "4,000")]);
        assert_eq!(marks(&roots[0].groups[1].controller), ["", "", ""]);
        assert_eq!(marks(&roots[0].controller), ["", &says("7,000", "6,500"), &says("4,500", "4,000")]);
    }

    #[test]
    fn what_differs_by_definition_is_not_marked() {
        // A Pod that leaves counts for a StatefulSet, and is ready as long as it is; for a ReplicaSet it does not count.
        for (kind, current, ready, marked) in [
            ("StatefulSet", 3, 3, false),
            ("StatefulSet", 3, 2, false),
            ("StatefulSet", 3, 1, true),
            ("StatefulSet", 2, 2, true),
            ("ReplicaSet", 2, 2, false),
            ("ReplicaSet", 3, 2, true),
        ] {
            let mut roots = [Root { controller: Some(of(kind, "web", current, ready)), groups: vec![Group::default()], folded: 0 }];
            mark(&mut roots, &|_| Some(Pods { all: 3, active: 2, ready: 2, leaving: 1, stopped: 0 }));
            assert_eq!(marks(&roots[0].controller).concat() != "", marked, "{kind} {current} {ready}");
        }
        // Once its containers have ended it is ready no more.
        let mut roots = [Root { controller: Some(of("StatefulSet", "web", 3, 3)), groups: vec![Group::default()], folded: 0 }];
        mark(&mut roots, &|_| Some(Pods { all: 3, active: 2, ready: 2, leaving: 1, stopped: 1 }));
        assert_eq!(marks(&roots[0].controller), ["", "", "status says 3; its Pods come to 2 now: no loop has written that yet"]);
        let mut roots = [Root { controller: Some(of("ReplicaSet", "web", 3, 2)), ..Root::default() }];
        mark(&mut roots, &|_| None);
        assert_eq!(marks(&roots[0].controller).concat(), "");
    }
}
