//! Slices and frames: a timer runs the engine for a few milliseconds at a time, and changes are read and drawn at most once per animation
//! frame.

use super::inspection::DiagnosisSubject;
use super::{Msg, Page};
use crate::web::status::{SHOWN, STOPPED};
use crate::web::{dom, host, window};
use apiserver::Op;
use explain::words;
use gloo_timers::callback::Interval;
use k8s_model::{Kind, ObjectRef};
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
        let mut borrowed = self.state.borrow_mut();
        let state = &mut *borrowed;
        SHOWN.set(state.timeline.run.now());
        let playing = state.timeline.playing;
        // Both branches are drawn at one instant, with the same axes.
        state
            .compare
            .sync_branch(&state.timeline.run, &state.selection, TASKS_PER_CHECK);
        let draws = self.pacing.read(state, paced, &dom::now);
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
        self.drawing.marks = state.marks.read(&state.timeline.run);
        self.drawing.left_branch = state.marks.abandoned_branch(&state.timeline.run);
        let lags = !draws || state.lags();
        drop(borrowed);
        if lags {
            self.draw();
        }
        if window::is_whole() {
            host::send(&mut self.state.borrow_mut());
            host::tell(&mut self.state.borrow_mut());
            // The diagnosis comes first: the explanation follows the root cause that it finds.
            if !playing {
                self.diagnose();
            } else if self
                .inspection
                .is_behind(self.drawing.selected.as_ref().map(|(object, _)| object))
            {
                self.look(false);
            }
            self.explain();
            // While the picture is not redrawn, neither is its card.
            if draws || self.hover.card.is_none() {
                self.hover.describe(&self.state.borrow());
            }
        }
    }

    /// Explains the selected object and the newest decision, unless nothing has happened since.
    fn explain(&mut self) {
        let state = self.state.borrow();
        if !self.inspection.explain(&state) {
            return;
        }
        let run = &state.timeline.run;
        // Objects behind a Service have a diagram of their own; the writes of an object that is gone do not explain what exists.
        let behind = |kind| {
            matches!(kind, Kind::EndpointSlice | Kind::Endpoints)
                && !state.selection.view.uses.endpoints
        };
        // While stepping, the result of each step is shown, also if the diagram does not draw it.
        let stands = !state.timeline.playing || state.timeline.goes_by_cause();
        let steps = stands && !self.settings.embed && state.player.is_none();
        let drawn = |key: &ObjectRef, op: Op| {
            !behind(key.kind) && (op == Op::Deleted || run.sim().store().get(key).is_some())
        };
        let history = run.journal().first(run.happened());
        (self.drawing.caption, self.drawing.told_of) = if steps {
            words::step(history)
        } else {
            words::caption(history, &drawn)
        };
    }

    /// Diagnoses the selected object. While the clock runs this is a task of its own, a few times a second.
    pub(super) fn diagnose(&mut self) {
        self.look(true);
    }

    /// Diagnoses the selected object; `tries`: also tries a remedy on a copy, which takes time.
    fn look(&mut self, tries: bool) {
        let subject = DiagnosisSubject {
            inspects: self.panels.shows_inspector(),
            listed: self.panels.as_list.then_some(&*self.drawing.picture.scene),
            object: self.drawing.selected.as_ref().map(|(object, _)| object),
        };
        self.inspection
            .diagnose(&mut self.state.borrow_mut(), &subject, tries);
    }
}
