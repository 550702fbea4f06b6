//! Pointer on the lanes: hovering, seeking, dragging, zooming.

use super::{Lanes, LanesProps, OVERVIEW, Tip};
use crate::web::language::say;
use i18n::msg;
use projection::marks::Mark;
use views::axis::FOLD;
use views::timeline::{MarkBlock, rows};
use web_sys::{Element, PointerEvent, WheelEvent};

/// Distance from the edge within which the time of a playhead out of view can be clicked, in pixels.
const EDGE: f64 = 80.0;
/// Movement below which a pointer counts as still, in pixels.
const STILL: f64 = 3.0;

/// Returns true if a pointer grabs the lanes to move them.
pub(super) fn grabs(event: &PointerEvent, slim: bool) -> bool {
    !slim && (event.button() == 1 || event.ctrl_key() || event.meta_key())
}

impl Lanes {
    /// Returns the first and last time of the marks drawn as one at a position.
    fn marks_at(
        &self,
        props: &LanesProps,
        (client_x, client_y): (i32, i32),
    ) -> Option<(&MarkBlock, (u64, u64))> {
        let (_, merged, _) = self.cached.as_ref()?;
        let top = self
            .canvas
            .cast::<Element>()?
            .get_bounding_client_rect()
            .top();
        let (x, axis) = (self.place(props, client_x), self.axis(props));
        let row = (f64::from(client_y) - top - 24.0) / 12.0;
        let (rows, _) = rows(&[&props.marks, Self::ghosts(props)]);
        let off = |block: &MarkBlock| (block.x - 1.25 - x).max(x - block.x - block.w).max(0.0);
        let here = merged.iter().filter(|block| {
            row >= 0.0 && rows.get(block.lane.index()) == Some(&(row as u8)) && off(block) < 4.0
        });
        let block = here.min_by(|a, b| off(a).total_cmp(&off(b)))?;
        let inside = |mark: &&Mark| {
            mark.lane == block.lane
                && (0.0..=block.w - 2.5 + 0.01).contains(&(axis.x(mark.at) - block.x))
        };
        let mut all = props.marks.iter().filter(inside).map(|mark| mark.at);
        let from = all.next().unwrap_or_default();
        Some((block, (from, all.next_back().unwrap_or(from))))
    }

    /// Seeks to the pointer's position, or to the mark under it: a pixel may be a tenth of a second.
    fn point(&mut self, props: &LanesProps, event: &PointerEvent) {
        let x = self.place(props, event.client_x());
        let found = self
            .marks_at(props, (event.client_x(), event.client_y()))
            .map(|(block, (from, to))| (from, to, block.lane));
        match found {
            Some((from, to, _)) => props.on_seek.emit(
                self.axis(props)
                    .time(x)
                    .clamp(from, to)
                    .min(props.clock.end),
            ),
            None => self.seek(props, x),
        }
        self.pressed = found;
    }

    /// Handles a pressed pointer.
    pub(super) fn down(&mut self, props: &LanesProps, event: &PointerEvent) -> bool {
        let x = self.place(props, event.client_x());
        let grabs = grabs(event, props.slim);
        // The lane names are not part of the axis.
        if (!props.slim && x < -24.0) || (event.button() != 0 && !grabs) {
            return false;
        }
        self.held.push((event.pointer_id(), x));
        self.pointer = None;
        if self.held.len() > 1 {
            self.pressed = None;
        }
        let canvas = self.canvas.cast::<Element>();
        if let Some(canvas) = &canvas {
            let _ = canvas.set_pointer_capture(event.pointer_id());
        }
        if grabs {
            self.grabbed = Some(self.axis(props).time(x));
            return self.tip.take().is_some();
        }
        let y = f64::from(event.client_y())
            - canvas.map_or(0.0, |canvas| canvas.get_bounding_client_rect().top());
        if self.near.is_some() && y < 20.0 {
            let axis = self.axis(props);
            let now = axis.x(props.clock.now);
            let at_edge = (now < 0.0 && x < EDGE) || (now > axis.width && x > axis.width - EDGE);
            let to = if y < OVERVIEW + 2.0 {
                Some(self.whole(props).0.time(x))
            } else {
                at_edge.then_some(props.clock.now)
            };
            if let Some(to) = to {
                self.zoom(props, 1.0, to, axis.width / 2.0);
                self.grabbed = Some(self.axis(props).time(x));
                return true;
            }
        }
        if !props.slim && x < -8.0 {
            return false;
        }
        self.point(props, event);
        // The tip would cover the mark.
        self.tip.take().is_some()
    }

    /// Handles a moved pointer: hovering, dragging the lanes, scrubbing, or pinching.
    pub(super) fn moved(&mut self, props: &LanesProps, event: &PointerEvent) -> bool {
        let x = self.place(props, event.client_x());
        match (self.held.len(), self.grabbed) {
            (0, _) => {
                if self.rests.is_none() {
                    self.rests = Some(self.axis(props));
                }
                let pointer = (!props.slim && x >= 0.0).then_some(x);
                let tip = self.tell(props, event);
                let before = (
                    std::mem::replace(&mut self.tip, tip),
                    std::mem::replace(&mut self.pointer, pointer),
                );
                before.0 != self.tip || before.1 != self.pointer
            }
            (1, Some(at)) => {
                self.zoom(props, 1.0, at, x);
                true
            }
            (1, None) => {
                if self.held.iter().any(|held| (held.1 - x).abs() > STILL) {
                    self.pressed = None;
                }
                if self.pressed.is_none() {
                    self.seek(props, x);
                }
                false
            }
            _ if props.slim => false,
            _ => {
                self.pinch(props, event.pointer_id(), x);
                true
            }
        }
    }

    /// Handles the wheel: zooms, or scrolls along the axis.
    pub(super) fn wheel(&mut self, props: &LanesProps, event: &WheelEvent) {
        let axis = self.axis(props);
        let (dx, dy) = (event.delta_x(), event.delta_y());
        if dx.abs() > dy.abs() {
            self.zoom(props, 1.0, axis.from, -dx);
        } else {
            let x = self.place(props, event.client_x()).clamp(0.0, axis.width);
            self.zoom(props, (-dy * 0.002).exp(), axis.time(x), x);
        }
    }

    /// Zooms with two fingers.
    pub(super) fn pinch(&mut self, props: &LanesProps, id: i32, x: f64) {
        let [a, b] = self.held[..] else { return };
        let axis = self.axis(props);
        let (before, middle) = ((a.1 - b.1).abs().max(8.0), f64::midpoint(a.1, b.1));
        self.held
            .iter_mut()
            .filter(|held| held.0 == id)
            .for_each(|held| held.1 = x);
        let [a, b] = self.held[..] else { return };
        self.zoom(
            props,
            (a.1 - b.1).abs().max(8.0) / before,
            axis.time(middle),
            f64::midpoint(a.1, b.1),
        );
    }

    /// Returns the tip at a position: of a mark, a fold, or the start of a branch.
    pub(super) fn tell(&self, props: &LanesProps, event: &PointerEvent) -> Option<Tip> {
        let on_tell = props.on_tell.as_ref()?;
        let (x, axis) = (self.place(props, event.client_x()), self.axis(props));
        let tip = |words: String, x: f64| Some((words, x + Self::sides(props.slim).0));
        if let Some((block, (from, to))) =
            self.marks_at(props, (event.client_x(), event.client_y()))
        {
            return tip(
                say(on_tell.emit((from, to, block.lane))),
                block.x.max(0.0) + block.w.min(14.0) / 2.0,
            );
        }
        if let Some((middle, (from, to))) = axis
            .folded()
            .find(|(middle, _)| (middle - x).abs() < FOLD / 2.0)
        {
            return tip(say(msg::idle_time(from, to, to - from)), middle);
        }
        let left = props
            .left
            .as_ref()
            .filter(|left| (axis.x(left.at) - x).abs() < 8.0)?;
        tip(say(msg::branch_begins(left.number)), axis.x(left.at))
    }
}
