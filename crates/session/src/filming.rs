//! Frames of an interval of the history, drawn from a copy of the run, so that the stage is unchanged.

use super::State;
use super::drawing::Drawing;
use super::run::Run;
use super::selection::Selection;
use explain::words::caption;
use k8s_model::Time;
use views::svg::film::FilmFrame;

/// Maximum number of frames in a file.
pub const MAX_FRAMES: u64 = 240;

/// Film that is being drawn.
pub struct Filming {
    run: Run,
    drawing: Drawing,
    selection: Selection,
    /// Next and last instant, and the interval of frames, in milliseconds.
    next: u64,
    to: u64,
    step: u64,
    /// Frames drawn so far.
    pub frames: Vec<FilmFrame>,
}

impl Filming {
    /// Starts drawing the stage between two instants, every `step` milliseconds, or less often if there were too many frames.
    pub fn new(state: &State, from: u64, to: u64, step: u64) -> Filming {
        let from = from.min(to);
        let mut drawing = Drawing::default();
        drawing.stage = state.drawing.stage;
        let mut run = state.timeline.run.clone();
        run.seek(Time(from * 1_000), 0);
        Filming {
            run,
            drawing,
            selection: state.selection.look(),
            next: from,
            to,
            step: step.max((to - from).div_ceil(MAX_FRAMES)).max(1),
            frames: Vec::new(),
        }
    }

    /// Interval of frames, in milliseconds.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Draws the next frame, with a budget of tasks. Returns false when none is left.
    pub fn advance(&mut self, budget: usize) -> bool {
        if self.next > self.to {
            return false;
        }
        let at = Time::end_of_ms(self.next);
        if !self.run.advance(at, budget) {
            return true;
        }
        let caption = caption(self.run.sim().journal(), &|_, _| true).0;
        let scene = self
            .drawing
            .picture(&self.run, &self.selection)
            .scene
            .clone();
        self.frames.push(FilmFrame {
            at: self.next,
            caption,
            scene,
        });
        self.next += self.step;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples;
    use crate::timeline::TimelineMsg;

    #[test]
    fn frames_are_what_the_stage_showed_at_their_instants_and_leave_it_as_it_is() {
        let mut state = State::new((examples::ALL[0].text)(), 1);
        while !state.advance(Time(6_000_000), 1_000_000) {}
        let (now, epoch) = (state.timeline.run.now(), state.timeline.run.epoch);
        let mut filming = Filming::new(&state, 0, 5_000, 1_000);
        while filming.advance(7) {}
        assert_eq!(
            (state.timeline.run.now(), state.timeline.run.epoch),
            (now, epoch)
        );
        assert_eq!(
            filming
                .frames
                .iter()
                .map(|frame| frame.at)
                .collect::<Vec<_>>(),
            [0, 1_000, 2_000, 3_000, 4_000, 5_000]
        );
        for frame in &filming.frames {
            state.update(TimelineMsg::Seek(frame.at));
            while state.timeline.run_until.is_some() {
                state.run_slice(1_000_000);
            }
            assert_eq!(
                state.picture().scene.items,
                frame.scene.items,
                "{}",
                frame.at
            );
        }
        let captions: std::collections::BTreeSet<String> = filming
            .frames
            .iter()
            .map(|frame| frame.caption.english())
            .collect();
        assert!(captions.len() > 2, "{captions:?}");
    }

    #[test]
    fn a_long_stretch_has_frames_further_apart() {
        let state = State::new("", 1);
        let filming = Filming::new(&state, 0, 3_600_000, 250);
        assert_eq!(filming.step(), 15_000);
    }
}
