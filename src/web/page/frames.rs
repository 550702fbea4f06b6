//! Slices and frames: a timer runs the engine for a few milliseconds at a time, and changes are read and drawn at most once per animation
//! frame.

use super::{Msg, Page};
use crate::web::status::{SHOWN, STOPPED};
use crate::web::{dom, host, window};
use gloo_timers::callback::Interval;
use session::pacing::TASKS_PER_CHECK;
use yew::prelude::*;

/// Milliseconds from one slice of the engine to the next.
const TICK_MS: u32 = 16;
/// Nodes laid out again per picture.
const NODES_PER_PICTURE: usize = 100;

impl Page {
    /// Creates the timer of a page.
    pub(super) fn ticking(ctx: &Context<Self>) -> Interval {
        let to = ctx.link().clone();
        Interval::new(TICK_MS, move || {
            if !STOPPED.get() && window::plays() {
                to.send_message(Msg::Tick);
            }
        })
    }

    /// Runs the engine for a slice; returns true if there may be something new to draw.
    pub(super) fn tick(&mut self) -> bool {
        let mut state = self.state.borrow_mut();
        let room = &mut self.room;
        let went = self
            .pacing
            .run_slice(&mut state, window::is_whole(), &dom::now, &mut |state| {
                super::room::check(room, state)
            });
        // While a slow machine opens the page its frames are late, as if the page were hidden.
        if !went && window::is_whole() && self.pacing.is_hidden(dom::now()) {
            self.hooks.timer = None;
        }
        went
    }

    /// Requests a frame, unless one is awaited.
    pub(super) fn draw(&mut self) {
        if self.pacing.request(&self.state.borrow(), dom::now()) {
            dom::frame(&self.hooks.frame);
        }
    }

    /// Reads from the state what is shown; if `paced`, possibly only a part of it.
    pub(super) fn refresh(&mut self, paced: bool) {
        let mut state = self.state.borrow_mut();
        SHOWN.set(state.timeline.run.now());
        let playing = state.timeline.playing;
        // Both branches are drawn at one instant, with the same axes.
        state.sync_branch(TASKS_PER_CHECK);
        let draws = self.pacing.read(&mut state, paced, &dom::now);
        if draws {
            self.drawing.picture = state.draw(NODES_PER_PICTURE);
            // The selected object is shown at the picture's instant.
            if !state.drawing.is_drawing() {
                self.drawing.selected = state
                    .object()
                    .map(|object| (object.clone(), state.status_lag(object)));
            }
        }
        self.drawing.beside = state.compare.branch.as_mut().map(|other| other.picture());
        self.drawing.marks = state.marks();
        self.drawing.left_branch = state.abandoned_branch();
        let lags = !draws || state.lags();
        drop(state);
        if lags {
            self.draw();
        }
        if window::is_whole() {
            host::send(&mut self.state.borrow_mut());
            host::tell(&mut self.state.borrow_mut());
            // The diagnosis comes first: the explanation follows the root cause that it finds.
            if !playing {
                self.diagnose();
            } else if self.is_behind() {
                self.look(false);
            }
            self.explain();
            // While the picture is not redrawn, neither is its card.
            if draws || self.hover.card.is_none() {
                self.describe();
            }
        }
    }
}
