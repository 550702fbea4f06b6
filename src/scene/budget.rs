//! The rollout budget of a Deployment: one cell per Pod that counts, between "at least" and "at most".

use super::format::count;
use super::model::PodState;

/// Equal Pods of the rollout.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Their class.
    pub state: PodState,
    /// The part of their image that differs: `1.25`.
    pub tag: String,
    /// Of the newest revision.
    pub new: bool,
    /// How many they are.
    pub pods: usize,
}

/// The strip over the ownership diagram.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Budget {
    /// The Deployment's name.
    pub name: String,
    /// As written: `25%`.
    pub surge: String,
    /// As written: `25%`.
    pub unavailable: String,
    /// `desired − maxUnavailable`, resolved.
    pub at_least: usize,
    /// `desired + maxSurge`, resolved.
    pub at_most: usize,
    /// Old revision first, then new and ready, then new and not ready. Leaving Pods do not count.
    pub cells: Vec<Cell>,
    /// What the controller is at.
    pub head: String,
    /// What it waits for.
    pub text: String,
}

impl Budget {
    /// Counts Pods that are alike, unless they have ended or are leaving.
    pub fn add(&mut self, state: PodState, tag: &str, new: bool, pods: usize) {
        if matches!(state, PodState::Terminating | PodState::Succeeded) {
            return;
        }
        match self.cells.iter_mut().rev().find(|cell| cell.state == state && cell.new == new && cell.tag == tag) {
            Some(cell) => cell.pods += pods,
            None => self.cells.push(Cell { state, tag: tag.into(), new, pods }),
        }
    }

    /// Pods that count.
    pub fn pods(&self) -> usize {
        self.cells.iter().map(|cell| cell.pods).sum()
    }

    /// Pods that are ready.
    pub fn ready(&self) -> usize {
        self.cells.iter().filter(|cell| cell.state == PodState::Ready).map(|cell| cell.pods).sum()
    }

    /// Puts the cells into order and says what the controller waits for. `waits` is a Pod of the new revision
    /// that is not ready.
    pub fn settle(mut self, desired: usize, waits: Option<&str>) -> Budget {
        crate::order::sort_by_key(&mut self.cells, |cell| (cell.new, cell.state != PodState::Ready, cell.state));
        let (pods, ready) = (self.pods(), self.ready());
        let count_of = |which: &dyn Fn(&&Cell) -> bool| self.cells.iter().filter(which).map(|cell| cell.pods).sum::<usize>();
        let old = count_of(&|cell| !cell.new);
        let fresh = count_of(&|cell| cell.new && cell.state == PodState::Ready);
        (self.head, self.text) = if old == 0 && fresh == desired && pods == desired {
            ("All Pods are of the newest revision".into(), "Nothing left to do".into())
        } else if pods >= self.at_most && ready <= self.at_least {
            (
                "Both limits reached".into(),
                waits.map_or("Next step waits for a Pod".into(), |pod| format!("Next step waits until {pod} is Ready")),
            )
        } else if pods >= self.at_most {
            ("The upper limit is reached".into(), {
                let go = count(ready - self.at_least);
                format!("{go} old may go: {} − {} = {go}", count(ready), count(self.at_least))
            })
        } else if ready <= self.at_least {
            (
                "The lower limit is reached".into(),
                waits.map_or("Next step waits for a Pod".into(), |pod| format!("Next step waits until {pod} is Ready")),
            )
        } else {
            ("Between the limits".into(), format!("{} more Pods may be made", count(self.at_most - pods)))
        };
        self
    }

    /// The strip in a sentence.
    pub fn label(&self) -> String {
        format!(
            "{} of at most {} Pods, {} of at least {} ready. {}. {}.",
            count(self.pods()),
            count(self.at_most),
            count(self.ready()),
            count(self.at_least),
            self.head,
            self.text
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stand_old_then_new_and_ready_then_new() {
        let mut budget = Budget { at_least: 3, at_most: 4, ..Budget::default() };
        for (state, new) in [
            (PodState::Creating, true),
            (PodState::Ready, true),
            (PodState::Ready, false),
            (PodState::Terminating, false),
            (PodState::Ready, false),
        ] {
            budget.add(state, "", new, 1);
        }
        let budget = budget.settle(3, Some("…-d9kfm"));
        let order: Vec<(bool, PodState, usize)> = budget.cells.iter().map(|cell| (cell.new, cell.state, cell.pods)).collect();
        assert_eq!(order, [(false, PodState::Ready, 2), (true, PodState::Ready, 1), (true, PodState::Creating, 1)]);
        assert_eq!(budget.head, "Both limits reached");
        assert_eq!(budget.text, "Next step waits until …-d9kfm is Ready");
    }
}
