//! The rollout budget of a Deployment: one cell per Pod that counts, between "at least" and "at most".

use super::format::count;
use super::model::PodState;

/// A Pod of the rollout.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Its class.
    pub state: PodState,
    /// The part of its image that differs: `1.25`.
    pub tag: String,
    /// Of the newest revision.
    pub new: bool,
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
    /// Pods that are ready.
    pub fn ready(&self) -> usize {
        self.cells.iter().filter(|cell| cell.state == PodState::Ready).count()
    }

    /// Puts the cells into order and says what the controller waits for. `waits` is a Pod of the new revision
    /// that is not ready.
    pub fn settle(mut self, desired: usize, waits: Option<&str>) -> Budget {
        self.cells.retain(|cell| !matches!(cell.state, PodState::Terminating | PodState::Succeeded));
        crate::order::sort_by_key(&mut self.cells, |cell| (cell.new, cell.state != PodState::Ready));
        let (pods, ready) = (self.cells.len(), self.ready());
        let old = self.cells.iter().filter(|cell| !cell.new).count();
        let fresh = self.cells.iter().filter(|cell| cell.new && cell.state == PodState::Ready).count();
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
            count(self.cells.len()),
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
        let cell = |state, new| Cell { state, tag: String::new(), new };
        let budget = Budget { at_least: 3, at_most: 4, ..Budget::default() };
        let cells = vec![
            cell(PodState::Creating, true),
            cell(PodState::Ready, true),
            cell(PodState::Ready, false),
            cell(PodState::Terminating, false),
            cell(PodState::Ready, false),
        ];
        let budget = Budget { cells, ..budget }.settle(3, Some("…-d9kfm"));
        let order: Vec<(bool, PodState)> = budget.cells.iter().map(|cell| (cell.new, cell.state)).collect();
        assert_eq!(order, [(false, PodState::Ready), (false, PodState::Ready), (true, PodState::Ready), (true, PodState::Creating)]);
        assert_eq!(budget.head, "Both limits reached");
        assert_eq!(budget.text, "Next step waits until …-d9kfm is Ready");
    }
}
