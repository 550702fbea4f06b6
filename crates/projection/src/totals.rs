//! Marks the counters of a card that lag behind its Pods.
//!
//! The numbers of a card are those of the status, which its controller writes with some delay; the Pods beside it are current. If both
//! differ the counter keeps the value of the status and is marked.

use crate::model::Metric;
use crate::model::{ControllerCard, Id, Root, Tone};
use i18n::format::{count, short_count};
use i18n::msg;
use std::rc::Rc;

/// Totals of one owner's Pods, as controllers count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PodTotals {
    /// All Pods.
    pub all: usize,
    /// Neither ended nor terminating.
    pub active: usize,
    /// Active and ready.
    pub ready: usize,
    /// Terminating.
    pub leaving: usize,
    /// Terminating with all containers ended, as far as known: not ready.
    pub stopped: usize,
    /// Succeeded and not terminating.
    pub succeeded: usize,
    /// Failed and not terminating.
    pub failed: usize,
}

impl std::iter::Sum for PodTotals {
    fn sum<I: Iterator<Item = PodTotals>>(all: I) -> PodTotals {
        all.fold(PodTotals::default(), |sum, own| PodTotals {
            all: sum.all + own.all,
            active: sum.active + own.active,
            ready: sum.ready + own.ready,
            leaving: sum.leaving + own.leaving,
            stopped: sum.stopped + own.stopped,
            succeeded: sum.succeeded + own.succeeded,
            failed: sum.failed + own.failed,
        })
    }
}

/// Number of distinct valid indexes of an Indexed Job's Pods.
pub fn indexes(of_pods: impl Iterator<Item = i64>, completions: i64) -> usize {
    let mut all: Vec<i64> = of_pods
        .filter(|index| (0..completions).contains(index))
        .collect();
    all.sort();
    all.dedup();
    all.len()
}

/// Marks stale counters. `pods` returns the totals of an owner, if known.
pub fn mark_stale_counters(roots: &mut [Root], pods: &dyn Fn(&Id) -> Option<PodTotals>) {
    for root in roots {
        let mut sum = Some(PodTotals::default());
        for group in &mut root.groups {
            let Some(of) = group
                .controller
                .as_mut()
                .filter(|of| matches!(of.id.kind.as_str(), "ReplicaSet" | "Job"))
            else {
                continue;
            };
            let own = pods(&of.id);
            check(of, own);
            sum = sum.zip(own).map(|(sum, own)| [sum, own].into_iter().sum());
        }
        let Some(of) = &mut root.controller else {
            continue;
        };
        match of.id.kind.as_str() {
            // The controller adds up the statuses of its ReplicaSets.
            "Deployment" => check(of, sum),
            "ReplicaSet" | "StatefulSet" | "Job" => {
                let own = pods(&of.id);
                check(of, own);
            }
            _ => {}
        }
    }
}

fn check(of: &mut Rc<ControllerCard>, pods: Option<PodTotals>) {
    let Some(pods) = pods else { return };
    let (whole, job) = (of.id.kind == "StatefulSet", of.id.kind == "Job");
    for at in 0..of.counters.len() {
        let counter = &of.counters[at];
        // A StatefulSet counts its Pods until they are gone, a ReplicaSet until they terminate. Whether a terminating Pod is still ready is
        // not known: a StatefulSet's counter may be right within that range.
        let said = counter.value.split('/').next().unwrap_or_default();
        let (least, most) = match counter.metric {
            // A Job has also counted Pods that no longer exist.
            Metric::Done | Metric::Failed if job => {
                let pods = if counter.metric == Metric::Done {
                    pods.succeeded
                } else {
                    pods.failed
                };
                (
                    pods,
                    said.replace(',', "")
                        .parse()
                        .unwrap_or(usize::MAX)
                        .max(pods),
                )
            }
            Metric::Active if job => (pods.active, pods.active),
            Metric::Current if whole => (pods.all, pods.all),
            Metric::Current => (pods.active, pods.active),
            Metric::Ready if whole => (
                pods.ready,
                pods.ready + pods.leaving.saturating_sub(pods.stopped),
            ),
            Metric::Ready => (pods.ready, pods.ready),
            _ => continue,
        };
        let fits = if job {
            said == count(least) || most > least
        } else {
            (least..=most).any(|n| said == short_count(n as u64))
        };
        if !fits {
            let words = msg::status_lags(&counter.value, least);
            let counter = &mut Rc::make_mut(of).counters[at];
            // A stale value is not shown as satisfied.
            (counter.lags, counter.tone) = (words, Tone::Off);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Group, counters};

    fn of(kind: &str, name: &str, current: u64, ready: u64) -> Rc<ControllerCard> {
        Rc::new(ControllerCard {
            id: Id::named(kind, name),
            counters: counters(5_000, current, ready),
            ..ControllerCard::default()
        })
    }

    fn marks(of: &Option<Rc<ControllerCard>>) -> Vec<&str> {
        of.iter()
            .flat_map(|of| &of.counters)
            .map(|counter| counter.lags.as_str())
            .collect()
    }

    #[test]
    fn a_counter_that_its_pods_have_overtaken_is_marked() {
        let group = |name, current, ready| Group {
            controller: Some(of("ReplicaSet", name, current, ready)),
            pods: Default::default(),
        };
        let mut roots = [Root {
            controller: Some(of("Deployment", "web", 7_000, 4_500)),
            groups: vec![group("old", 4_500, 4_500), group("new", 2_500, 0)],
            ..Root::default()
        }];
        mark_stale_counters(&mut roots, &|id| {
            let old = PodTotals {
                all: 5_000,
                active: 4_000,
                ready: 4_000,
                leaving: 1_000,
                ..PodTotals::default()
            };
            Some(if id.name == "old" {
                old
            } else {
                PodTotals {
                    all: 2_500,
                    active: 2_500,
                    ..PodTotals::default()
                }
            })
        });
        let says = |status, now| {
            format!(
                "status: {status}, actual: {now}; the controller has not updated the status yet"
            )
        };
        assert_eq!(
            marks(&roots[0].groups[0].controller),
            ["", &says("4,500", "4,000"), &says("4,500", "4,000")]
        );
        assert_eq!(marks(&roots[0].groups[1].controller), ["", "", ""]);
        assert_eq!(
            marks(&roots[0].controller),
            ["", &says("7,000", "6,500"), &says("4,500", "4,000")]
        );
    }

    #[test]
    fn job_counters_are_compared_with_its_pods() {
        let of = |done: &str, active: u64, failed: u64| {
            let mut counters = counters(active, active, failed);
            for (counter, word) in
                counters
                    .iter_mut()
                    .zip([Metric::Done, Metric::Active, Metric::Failed])
            {
                counter.metric = word;
            }
            counters[0].value = done.into();
            Some(Rc::new(ControllerCard {
                id: Id::named("Job", "pi"),
                counters,
                ..ControllerCard::default()
            }))
        };
        let pods = PodTotals {
            all: 6,
            active: 2,
            succeeded: 3,
            failed: 1,
            ..PodTotals::default()
        };
        let says = |status, now| {
            format!(
                "status: {status}, actual: {now}; the controller has not updated the status yet"
            )
        };
        let marked = |job: &Option<Rc<ControllerCard>>| {
            let mut roots = [
                Root {
                    controller: job.clone(),
                    ..Root::default()
                },
                Root {
                    groups: vec![Group {
                        controller: job.clone(),
                        pods: Default::default(),
                    }],
                    ..Root::default()
                },
            ];
            mark_stale_counters(&mut roots, &|_| Some(pods));
            let own = marks(&roots[0].controller).join("|");
            assert_eq!(
                own,
                marks(&roots[1].groups[0].controller).join("|"),
                "one of a CronJob is told as one that stands alone"
            );
            own
        };
        assert_eq!(marked(&of("3/9", 2, 1)), "||");
        // The Job has counted Pods that have been deleted since.
        assert_eq!(marked(&of("5", 2, 4)), "||");
        assert_eq!(
            marked(&of("2/9", 4, 0)),
            [says("2/9", "3"), says("4", "2"), says("0", "1")].join("|")
        );
    }

    #[test]
    fn an_index_counts_once_and_only_if_the_job_has_it() {
        assert_eq!(indexes([3, 4, 0, 0].into_iter(), 5), 3);
        assert_eq!(indexes([3, 4, 0, 0].into_iter(), 3), 1);
    }

    #[test]
    fn what_differs_by_definition_is_not_marked() {
        // A terminating Pod counts for a StatefulSet, and is ready as long as it responds; for a ReplicaSet it does not count.
        for (kind, current, ready, marked) in [
            ("StatefulSet", 3, 3, false),
            ("StatefulSet", 3, 2, false),
            ("StatefulSet", 3, 1, true),
            ("StatefulSet", 2, 2, true),
            ("ReplicaSet", 2, 2, false),
            ("ReplicaSet", 3, 2, true),
        ] {
            let mut roots = [Root {
                controller: Some(of(kind, "web", current, ready)),
                groups: vec![Group::default()],
                ..Root::default()
            }];
            mark_stale_counters(&mut roots, &|_| {
                Some(PodTotals {
                    all: 3,
                    active: 2,
                    ready: 2,
                    leaving: 1,
                    ..PodTotals::default()
                })
            });
            assert_eq!(
                marks(&roots[0].controller).concat() != "",
                marked,
                "{kind} {current} {ready}"
            );
        }
        // Once its containers have ended it is not ready any more.
        let mut roots = [Root {
            controller: Some(of("StatefulSet", "web", 3, 3)),
            groups: vec![Group::default()],
            ..Root::default()
        }];
        mark_stale_counters(&mut roots, &|_| {
            Some(PodTotals {
                all: 3,
                active: 2,
                ready: 2,
                leaving: 1,
                stopped: 1,
                ..PodTotals::default()
            })
        });
        assert_eq!(
            marks(&roots[0].controller),
            [
                "",
                "",
                "status: 3, actual: 2; the controller has not updated the status yet"
            ]
        );
        let mut roots = [Root {
            controller: Some(of("ReplicaSet", "web", 3, 2)),
            ..Root::default()
        }];
        mark_stale_counters(&mut roots, &|_| None);
        assert_eq!(marks(&roots[0].controller).concat(), "");
    }
}
