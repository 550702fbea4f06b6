//! The rollout budget of a Deployment: one cell per Pod that counts, between "at least" and "at most".

use crate::images;
use crate::model::PodState;
use i18n::format::count;
use i18n::{Message, msg};
use k8s_model::Str;

/// Equal Pods of a rollout.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// State.
    pub state: PodState,
    /// Image.
    pub image: Str,
    /// True if they are of the newest revision.
    pub new: bool,
    /// Number of Pods.
    pub pods: usize,
}

/// Budget strip over the ownership diagram.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Budget {
    /// Uid of the Deployment.
    pub uid: String,
    /// Name of the Deployment.
    pub name: String,
    /// True if other Deployments have a budget too.
    pub several: bool,
    /// `maxSurge` as written: `25%`.
    pub surge: String,
    /// `maxUnavailable` as written: `25%`.
    pub unavailable: String,
    /// `desired − maxUnavailable`, resolved.
    pub at_least: usize,
    /// `desired + maxSurge`, resolved.
    pub at_most: usize,
    /// Pods of the old revision first, then new and ready, then new and not ready. Terminating Pods do not count.
    pub cells: Vec<Cell>,
    /// Current action of the controller.
    pub head: Message,
    /// Condition for which it waits.
    pub text: Message,
}

/// Sizes used by the Deployment controller: spec and status of its ReplicaSets, not the Pods themselves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sizes {
    /// Desired Pods.
    pub desired: usize,
    /// Requested replicas of the old ReplicaSets.
    pub old: usize,
    /// Requested replicas of the newest ReplicaSet.
    pub new: usize,
    /// Available replicas in its status.
    pub available: usize,
    /// True if the rollout is paused.
    pub paused: bool,
    /// True while an older revision is being replaced; its last Pods may already be terminating.
    pub rolling: bool,
    /// Generation of the spec, if the controller has not observed it yet: its actions so far are for an older one.
    pub unobserved: Option<i64>,
}

/// Bar of the counted Pods: one piece per Pod, or per group of equal Pods if they are many.
pub struct Bar<'a> {
    /// Distance from one Pod to the next, and the gap within it.
    pub pitch: f64,
    pub gap: f64,
    /// Pieces with their start and length.
    pub pieces: Vec<(&'a Cell, f64, f64)>,
}

impl Bar<'_> {
    /// Position between the Pods counted by a limit and the others.
    pub fn limit(&self, pods: usize) -> f64 {
        pods as f64 * self.pitch - self.gap / 2.0
    }
}

impl Sizes {
    /// Number of Pods by which the newest ReplicaSet may be scaled up. Models `NewRSNewReplicas`.
    fn room(self, at_most: usize) -> usize {
        at_most
            .saturating_sub(self.old + self.new)
            .min(self.desired.saturating_sub(self.new))
    }

    /// Number of replicas that count as available: unavailable replicas of the newest ReplicaSet are subtracted.
    fn steady(self) -> usize {
        self.old + self.available.min(self.new)
    }
}

impl Budget {
    /// Adds equal Pods, unless they have ended or are terminating.
    pub fn add(&mut self, state: PodState, image: &Str, new: bool, pods: usize) {
        if pods == 0 || matches!(state, PodState::Terminating | PodState::Succeeded) {
            return;
        }
        match self
            .cells
            .iter_mut()
            .rev()
            .find(|cell| cell.state == state && cell.new == new && cell.image == *image)
        {
            Some(cell) => cell.pods += pods,
            None => self.cells.push(Cell {
                state,
                image: image.clone(),
                new,
                pods,
            }),
        }
    }

    /// Number of counted Pods.
    pub fn pods(&self) -> usize {
        self.cells.iter().map(|cell| cell.pods).sum()
    }

    /// Computes the bar of a length, with at most `most` per Pod.
    pub fn bar(&self, length: f64, most: f64) -> Bar<'_> {
        let pitch = (length / self.at_most.max(self.pods()).max(1) as f64).min(most);
        let gap = if pitch >= 8.0 { 3.0 } else { 0.0 };
        let mut pieces = Vec::new();
        let mut at = 0.0;
        for cell in &self.cells {
            let (count, pods) = if gap > 0.0 {
                (cell.pods, 1)
            } else {
                (1, cell.pods)
            };
            let long = pitch * pods as f64;
            for _ in 0..count {
                pieces.push((cell, at, (long - gap).max(1.0)));
                at += long;
            }
        }
        Bar { pitch, gap, pieces }
    }

    /// Returns a label of at most `room` characters that distinguishes the image of some Pods from the others.
    pub fn label_of(&self, cell: &Cell, room: usize) -> String {
        let shown: Vec<&str> = self.cells.iter().map(|cell| cell.image.as_str()).collect();
        images::label(&cell.image, &shown, room)
    }

    /// Returns true if new Pods fail.
    pub fn fails(&self) -> bool {
        self.cells
            .iter()
            .any(|cell| cell.new && cell.state == PodState::Failed)
    }

    /// Number of ready Pods.
    pub fn ready(&self) -> usize {
        self.cells
            .iter()
            .filter(|cell| cell.state == PodState::Ready)
            .map(|cell| cell.pods)
            .sum()
    }

    /// Sorts the cells and sets the controller's current action. `waits` is a Pod of the new revision that is not ready.
    pub fn settle(mut self, sizes: Sizes, waits: Option<&str>) -> Budget {
        self.cells
            .sort_by_key(|cell| (cell.new, cell.state != PodState::Ready, cell.state));
        let pods = self.pods();
        let count_of = |which: &dyn Fn(&&Cell) -> bool| {
            self.cells
                .iter()
                .filter(which)
                .map(|cell| cell.pods)
                .sum::<usize>()
        };
        let old = count_of(&|cell| !cell.new);
        let fresh = count_of(&|cell| cell.new && cell.state == PodState::Ready);
        let waiting = count_of(&|cell| cell.new && cell.state != PodState::Ready);
        let failing = count_of(&|cell| cell.new && cell.state == PodState::Failed);
        let (room, go) = (
            sizes.room(self.at_most),
            sizes.steady().saturating_sub(self.at_least).min(sizes.old),
        );
        (self.head, self.text) = if let Some(generation) =
            sizes.unobserved.filter(|_| old + sizes.old == 0)
        {
            (
                msg::budget_spec_changed(),
                msg::budget_unobserved(generation),
            )
        } else if old + sizes.old == 0 && fresh == sizes.desired && pods == sizes.desired {
            (msg::budget_all_new(), msg::budget_up_to_date())
        } else if pods > self.at_most.max(sizes.desired) {
            let extra = pods - self.at_most.max(sizes.desired);
            (msg::budget_upper(), msg::budget_surplus(extra))
        } else if old + sizes.old == 0 && sizes.rolling {
            (
                msg::budget_old_scaled_down(),
                msg::budget_new_ready(fresh, sizes.desired),
            )
        } else if old + sizes.old == 0 {
            // First Pods, or replacements: no revision is being replaced.
            let head = match failing {
                0 if fresh < sizes.desired => msg::budget_starting(),
                0 => msg::budget_no_rollout(),
                failing => msg::budget_some_fail(failing),
            };
            (head, msg::budget_ready(fresh, sizes.desired))
        } else if sizes.paused {
            (msg::budget_paused(), msg::budget_paused_text())
        } else if room > 0 {
            (
                msg::budget_between(),
                msg::budget_can_create(room, sizes.old + sizes.new, self.at_most),
            )
        } else if go > 0 {
            let (steady, least) = (count(sizes.steady()), count(self.at_least));
            match sizes.steady() - self.at_least {
                left if left == go => (
                    msg::budget_upper(),
                    msg::budget_can_remove(go, format!("{steady} − {least} = {}", count(go))),
                ),
                // Fewer are left than could be removed.
                _ => (msg::budget_upper(), msg::budget_can_remove_last(go)),
            }
        } else {
            let ready = self.ready();
            // If the new revision has reached its size, there may be room below the upper limit.
            let limits = || {
                if sizes.old + sizes.new < self.at_most {
                    msg::budget_lower()
                } else {
                    msg::budget_both()
                }
            };
            // Requested and not yet done.
            let (asked, have) = (sizes.old + sizes.new, fresh + waiting);
            let left = match (
                old.saturating_sub(sizes.old),
                sizes.new.saturating_sub(have),
            ) {
                (0, 0) => None,
                (0, more) => Some(msg::budget_to_create(more)),
                (fewer, 0) => Some(msg::budget_to_delete(fewer)),
                (fewer, more) => Some(msg::budget_to_delete_and_create(fewer, more)),
            };
            match (left, waits) {
                (Some(left), _) => (
                    msg::budget_requested(format!(
                        "{} + {} = {}",
                        count(sizes.old),
                        count(sizes.new),
                        count(asked)
                    )),
                    left,
                ),
                // The controller uses the status of its ReplicaSets, which may lag behind the Pods.
                (None, _) if ready > self.at_least && ready > sizes.steady() => {
                    (limits(), msg::budget_status_lags(sizes.steady()))
                }
                (None, _) if failing > 0 && failing == waiting => {
                    (msg::budget_stopped(), msg::budget_failing(failing))
                }
                (None, Some(_)) if waiting > 1 => (limits(), msg::budget_waiting_for_one(waiting)),
                (None, Some(pod)) => (limits(), msg::budget_waiting_for_pod(pod)),
                (None, None) => (limits(), msg::budget_waiting()),
            }
        };
        self
    }

    /// Describes the strip in a sentence.
    pub fn label(&self) -> Message {
        msg::budget_label(
            self.pods(),
            self.at_most,
            self.ready(),
            self.at_least,
            &self.head,
            &self.text,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stand_old_then_new_and_ready_then_new() {
        let mut budget = Budget {
            at_least: 3,
            at_most: 4,
            ..Budget::default()
        };
        for (state, new) in [
            (PodState::Creating, true),
            (PodState::Ready, true),
            (PodState::Ready, false),
            (PodState::Terminating, false),
            (PodState::Ready, false),
        ] {
            budget.add(state, &Str::default(), new, 1);
        }
        let sizes = Sizes {
            desired: 3,
            old: 2,
            new: 2,
            available: 1,
            ..Sizes::default()
        };
        let budget = budget.settle(sizes, Some("…-d9kfm"));
        let order: Vec<(bool, PodState, usize)> = budget
            .cells
            .iter()
            .map(|cell| (cell.new, cell.state, cell.pods))
            .collect();
        assert_eq!(
            order,
            [
                (false, PodState::Ready, 2),
                (true, PodState::Ready, 1),
                (true, PodState::Creating, 1)
            ]
        );
        assert_eq!(budget.head, "Both limits reached");
        assert_eq!(budget.text, "Waiting for …-d9kfm to become Ready");
    }

    /// Returns the text for a Deployment of 8, between 6 and 10, with old and new Pods, ready or not.
    fn said(old: usize, ready: usize, creating: usize, sizes: [usize; 3]) -> String {
        let mut budget = Budget {
            at_least: 6,
            at_most: 10,
            ..Budget::default()
        };
        for (state, new, pods) in [
            (PodState::Ready, false, old),
            (PodState::Ready, true, ready),
            (PodState::Creating, true, creating),
        ] {
            if pods > 0 {
                budget.add(state, &Str::default(), new, pods);
            }
        }
        let [old, new, available] = sizes;
        let budget = budget.settle(
            Sizes {
                desired: 8,
                old,
                new,
                available,
                ..Sizes::default()
            },
            (creating > 0).then_some("…-p"),
        );
        format!("{}: {}", budget.head, budget.text)
    }

    #[test]
    fn pods_of_a_misspelled_image_are_told_from_a_version() {
        let of = |images: [&str; 2]| {
            let mut budget = Budget::default();
            images
                .iter()
                .zip([false, true])
                .for_each(|(image, new)| budget.add(PodState::Ready, &Str::from(*image), new, 1));
            budget
                .cells
                .iter()
                .map(|cell| budget.label_of(cell, 6))
                .collect::<Vec<_>>()
        };
        assert_eq!(of(["nginx:1.7.9", "nginx:1.27"]), ["1.7.9", "1.27"]);
        assert_eq!(of(["nginx:1.7.9", "ngnix:1.27"]), ["nginx", "ngnix"]);
    }

    #[test]
    fn few_pods_are_pieces_of_the_bar_and_many_alike_are_one() {
        let of = |pods| {
            let mut budget = Budget {
                at_least: pods - 1,
                at_most: pods + 1,
                ..Budget::default()
            };
            budget.add(PodState::Ready, &Str::default(), false, pods);
            budget
        };
        let few = of(3);
        let bar = few.bar(340.0, 68.0);
        assert_eq!(
            (bar.pieces.len(), bar.pitch, bar.limit(2)),
            (3, 68.0, 134.5)
        );
        // A limit stands in the gap after the Pods that it counts.
        assert!(bar.pieces[1].1 + bar.pieces[1].2 < bar.limit(2) && bar.limit(2) < bar.pieces[2].1);
        let many = of(3_000);
        let bar = many.bar(340.0, 68.0);
        assert_eq!(bar.pieces.len(), 1);
        assert!(bar.pieces[0].2 <= bar.limit(3_000) + 0.01 && bar.limit(3_001) <= 340.01);
    }

    #[test]
    fn the_text_follows_the_deployments_own_accounting() {
        assert_eq!(
            said(0, 8, 0, [0, 8, 8]),
            "All Pods run the current revision: Up to date"
        );
        // No revision is replaced when Pods are created for the first time.
        assert_eq!(
            said(0, 0, 3, [0, 8, 0]),
            "Waiting for Pods to become Ready: 0 of 8 Pods are ready"
        );
        // The requested replicas of the ReplicaSets count before the Pods are created.
        assert_eq!(
            said(6, 0, 1, [6, 4, 0]),
            "6 + 4 = 10 Pods requested: 3 to be created by replicaset-controller"
        );
        assert_eq!(
            said(7, 0, 2, [6, 4, 0]),
            "6 + 4 = 10 Pods requested: 1 to be deleted and 2 to be created by replicaset-controller"
        );
        assert_eq!(
            said(7, 0, 3, [6, 3, 0]),
            "Between the limits: 1 more Pod can be created: 9 of at most 10 requested"
        );
        assert_eq!(
            said(6, 0, 4, [6, 4, 0]),
            "Both limits reached: Waiting for one of 4 new Pods to become Ready"
        );
        assert_eq!(
            said(8, 0, 0, [8, 0, 0]),
            "Between the limits: 2 more Pods can be created: 8 of at most 10 requested"
        );
        assert_eq!(
            said(6, 3, 1, [6, 4, 3]),
            "Upper limit reached: 3 old Pods can be removed: 9 − 6 = 3"
        );
        assert_eq!(
            said(2, 8, 0, [2, 8, 8]),
            "Upper limit reached: The last 2 old Pods can be removed"
        );
        let mut failing = Budget {
            at_least: 6,
            at_most: 10,
            ..Budget::default()
        };
        failing.add(PodState::Ready, &Str::default(), false, 6);
        failing.add(PodState::Failed, &Str::default(), true, 4);
        let failing = failing.settle(
            Sizes {
                desired: 8,
                old: 6,
                new: 4,
                ..Sizes::default()
            },
            Some("…-p"),
        );
        let told = (failing.head.english(), failing.text.english());
        assert_eq!(
            told,
            (
                "Rollout stopped at its limits".into(),
                "4 new Pods fail; the old ones stay until they are Ready".into()
            )
        );
        let mut last = Budget {
            at_least: 6,
            at_most: 10,
            ..Budget::default()
        };
        last.add(PodState::Ready, &Str::default(), true, 7);
        let last = last.settle(
            Sizes {
                desired: 8,
                new: 8,
                available: 7,
                rolling: true,
                ..Sizes::default()
            },
            None,
        );
        assert_eq!(
            (last.head.as_str(), last.text.as_str()),
            (
                "The old revision is scaled to 0",
                "7 of 8 new Pods are ready"
            )
        );
        let unobserved = Sizes {
            desired: 8,
            new: 8,
            available: 8,
            unobserved: Some(2),
            ..Sizes::default()
        };
        let mut changed = Budget {
            at_least: 6,
            at_most: 10,
            ..Budget::default()
        };
        changed.add(PodState::Ready, &Str::default(), true, 8);
        assert_eq!(
            changed.settle(unobserved, None).text,
            "deployment-controller has not observed generation 2 yet"
        );
        let halted = Budget {
            at_least: 6,
            at_most: 10,
            ..Budget::default()
        };
        let halted = halted.settle(
            Sizes {
                desired: 8,
                old: 8,
                paused: true,
                ..Sizes::default()
            },
            None,
        );
        assert_eq!(halted.text, "Nothing is replaced until it is resumed");
        assert_eq!(
            said(8, 0, 4, [6, 4, 0]),
            "Upper limit reached: 2 surplus Pods are not deleted yet"
        );
        assert_eq!(
            said(7, 0, 4, [6, 4, 0]),
            "Upper limit reached: 1 surplus Pod is not deleted yet"
        );
    }
}
