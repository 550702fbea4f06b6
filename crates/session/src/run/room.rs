//! Room for the history: its oldest part is dropped when memory is full.

use super::Run;

impl Run {
    /// Frees memory: drops the branches that are not shown and starts dropping the older half of the history, in parts
    /// ([`Run::forget_next`]). Returns false if there is nothing to drop.
    pub fn make_room(&mut self) -> bool {
        let branches = !std::mem::take(&mut self.branches.others).is_empty();
        let forgets = self.shown.checkpoints.begin_forgetting();
        let first = self.shown.checkpoints.first();
        if self
            .past
            .as_ref()
            .is_some_and(|past| past.host.steps < first.host.steps || past.done < first.done)
        {
            self.past = Some(first.clone());
            self.epoch += 1;
        }
        branches || forgets
    }

    /// Drops the next part. Returns true while there is more.
    pub fn forget_next(&mut self) -> bool {
        let others = std::iter::once(&mut self.shown.live)
            .chain(&mut self.past)
            .map(|other| &mut other.host.sim);
        let Some(goes_on) = self.shown.checkpoints.forget_next(others) else {
            return false;
        };
        // Until the last part is dropped, data read before is still valid.
        self.epoch += u64::from(!goes_on);
        goes_on
    }

    /// Earliest instant that can be shown, in milliseconds.
    pub fn earliest(&self) -> u64 {
        self.shown.checkpoints.first().host.sim.now().0 / 1000
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actions::Action;
    use k8s_model::time::SECOND;
    use k8s_model::{Kind, Time};

    /// Creates a run with twenty minutes of rollouts.
    fn rolled() -> Run {
        let mut run = Run::new(1);
        run.command(Action::Kubectl(
            "create deployment web --image=nginx --replicas=30".into(),
        ));
        for minute in 1..=20 {
            while !run.advance(Time(minute * 60 * SECOND), 1_000) {}
            run.command(Action::Kubectl("rollout restart deployment web".into()));
        }
        run
    }

    fn states(run: &mut Run, minutes: std::ops::RangeInclusive<u64>) -> Vec<String> {
        let at = |minute: u64| Time(minute * 60 * SECOND - 40 * SECOND);
        let mut seen = Vec::new();
        for minute in minutes {
            while !run.seek(at(minute), usize::MAX) {}
            seen.push(format!(
                "{:?}",
                run.sim().store().list(Kind::Pod).collect::<Vec<_>>()
            ));
        }
        run.live();
        seen
    }

    #[test]
    fn the_newer_half_of_a_full_history_is_as_it_was() {
        let mut run = rolled();
        let before = states(&mut run, 17..=20);
        assert_eq!(run.earliest(), 0);
        assert!(run.make_room());
        // Between two parts a person looks at the past.
        let mut parts = 0;
        while run.forget_next() {
            parts += 1;
            if parts == 2 {
                assert_eq!(states(&mut run, 18..=18), before[1..2]);
            }
        }
        assert!(parts > 4, "{parts}");
        let earliest = run.earliest();
        assert!(earliest > 300_000 && earliest < 1_020_000, "{earliest}");
        assert_eq!(states(&mut run, 17..=20), before);
        // Dropped instants are gone: the earliest one is shown instead.
        run.seek(Time(0), usize::MAX);
        assert_eq!(run.now(), earliest);
        run.live();
        // The run goes on, and room can be made again.
        run.advance(Time(2_000 * SECOND), usize::MAX);
        assert!(run.make_room() && run.earliest() > earliest);
    }

    #[test]
    fn a_new_history_has_nothing_to_drop() {
        assert!(!Run::new(1).make_room());
    }
}
