//! The pointer and the keyboard on the stage.

use super::props::{Msg, Props, key_of, pick};
use super::{Stage, usable};
use gloo_timers::callback::Timeout;
use k8s_model::ObjectRef;
use session::selection::SelectionMsg;
use views::shape::{CardBody, Rect, Scene};
use wasm_bindgen::JsCast;
use web_sys::{Element, KeyboardEvent, MouseEvent, PointerEvent, WheelEvent};
use yew::prelude::*;

/// Milliseconds of hovering after which a card opens.
const HOVER_DELAY_MS: u32 = 150;

fn zooms(event: &WheelEvent) -> bool {
    event.ctrl_key() || event.meta_key()
}

impl Stage {
    /// Returns the object under the pointer and its bounds: a whole item, or one cell of many.
    pub(super) fn under(&self, scene: &Scene, event: &MouseEvent) -> Option<(ObjectRef, Rect)> {
        // A chart shows more than a card would.
        let item = scene
            .items
            .get(self.item_at(event.target())?)
            .filter(|item| !matches!(item.body, CardBody::Chart(_)))?;
        if let CardBody::Cells(cells) = &item.body {
            let (x, y) = self.local(f64::from(event.client_x()), f64::from(event.client_y()));
            let (x, y) = self.port.to_scene((x, y));
            let (x, y) = (x - item.rect.x, y - item.rect.y);
            let pod = cells.hit(x, y)?;
            let (column, row) = ((pod % cells.columns) as f64, (pod / cells.columns) as f64);
            let place = Rect::new(
                item.rect.x + cells.at.0 + column * cells.pitch,
                item.rect.y + cells.at.1 + row * cells.pitch,
                cells.side,
                cells.side,
            );
            return Some((key_of(&cells.pods[pod].id)?, place));
        }
        Some((key_of(&item.id)?, item.rect))
    }

    /// Notes that the pointer or the focus is on another object.
    pub(super) fn point(
        &mut self,
        ctx: &Context<Self>,
        over: Option<(ObjectRef, Rect)>,
        at_once: bool,
    ) -> bool {
        if self.over == over {
            return false;
        }
        let had = std::mem::take(&mut self.rested);
        self.resting = None;
        if had {
            ctx.props().on_hover.emit(None);
        }
        self.over = over;
        if self.over.is_some() {
            let link = ctx.link().clone();
            self.resting = Some(Timeout::new(
                if at_once { 0 } else { HOVER_DELAY_MS },
                move || link.send_message(Msg::Rest),
            ));
        }
        had
    }

    pub(super) fn item_at(&self, target: Option<web_sys::EventTarget>) -> Option<usize> {
        let element: Element = target?.dyn_into().ok()?;
        element
            .closest("[data-index]")
            .ok()
            .flatten()?
            .get_attribute("data-index")?
            .parse()
            .ok()
    }

    pub(super) fn local(&self, x: f64, y: f64) -> (f64, f64) {
        self.node.cast::<Element>().map_or((x, y), |stage| {
            let rect = stage.get_bounding_client_rect();
            (x - rect.left(), y - rect.top())
        })
    }

    pub(super) fn choose(&self, ctx: &Context<Self>, event: &MouseEvent) {
        let scene = &ctx.props().scene;
        let Some(item) = self
            .item_at(event.target())
            .and_then(|index| scene.items.get(index))
        else {
            return ctx.props().on_pick.emit(SelectionMsg::Select(None));
        };
        if let CardBody::Cells(cells) = &item.body {
            let (x, y) = self.local(f64::from(event.client_x()), f64::from(event.client_y()));
            let (x, y) = self.port.to_scene((x, y));
            let (x, y) = (x - item.rect.x, y - item.rect.y);
            if let Some(pod) = cells.hit(x, y) {
                pick(ctx.props(), &cells.pods[pod].id);
            }
            return;
        }
        pick(ctx.props(), &item.id);
    }

    pub(super) fn drag(&mut self, scene: &Scene, event: &PointerEvent, is_embed: bool) -> bool {
        let (x, y) = (f64::from(event.client_x()), f64::from(event.client_y()));
        let Some(at) = self
            .pointers
            .iter()
            .position(|pointer| pointer.0 == event.pointer_id())
        else {
            return false;
        };
        let (_, ox, oy) = self.pointers[at];
        if let [a, b] = self.pointers[..] {
            let far =
                |a: (i32, f64, f64), b: (i32, f64, f64)| (a.1 - b.1).hypot(a.2 - b.2).max(1.0);
            let before = far(a, b);
            self.pointers[at] = (event.pointer_id(), x, y);
            let after = far(self.pointers[0], self.pointers[1]);
            let (mx, my) = self.local(
                (self.pointers[0].1 + self.pointers[1].1) / 2.0,
                (self.pointers[0].2 + self.pointers[1].2) / 2.0,
            );
            self.port.zoom_about(scene, after / before, mx, my);
        } else {
            if !self.dragged && (x - ox).hypot(y - oy) < 4.0 {
                return false;
            }
            // A finger moving vertically scrolls the page around a frame (static/page.css), as soon as the browser takes over.
            if !self.dragged
                && is_embed
                && event.pointer_type() == "touch"
                && (y - oy).abs() > (x - ox).abs()
            {
                return false;
            }
            self.pointers[at] = (event.pointer_id(), x, y);
        }
        if !self.dragged {
            self.dragged = true;
            if let Some(stage) = self.node.cast::<Element>() {
                let _ = stage.set_pointer_capture(event.pointer_id());
            }
        }
        self.port.pan_by(x - ox, y - oy, scene);
        true
    }

    /// Returns the message of the wheel. In a frame the wheel scrolls the embedding page, and a list scrolls itself.
    pub(super) fn wheel(event: WheelEvent, embed: bool, listed: bool) -> Option<Msg> {
        let takes = !listed && (!embed || zooms(&event));
        takes.then(|| {
            event.prevent_default();
            Msg::Wheel(event)
        })
    }

    /// Pans by the wheel, or zooms about the pointer with Ctrl.
    pub(super) fn roll(&mut self, scene: &Scene, event: &WheelEvent) {
        if zooms(event) {
            let (x, y) = self.local(f64::from(event.client_x()), f64::from(event.client_y()));
            self.port
                .zoom_about(scene, (-event.delta_y() * 0.002).exp(), x, y);
        } else {
            self.port.pan_by(-event.delta_x(), -event.delta_y(), scene);
        }
    }

    /// Reports an item that a person selected, or asks for its explanation. The stage itself does not change.
    pub(super) fn pick(&self, props: &Props, index: usize, why: bool) -> bool {
        match props.scene.items.get(index) {
            Some(item) if why => {
                if let Some(key) = key_of(&item.id) {
                    props.on_why.emit(key);
                }
            }
            Some(item) => pick(props, &item.id),
            None => {}
        }
        false
    }

    /// Returns the message of a key.
    pub(super) fn key(&self, scene: &Scene, event: &KeyboardEvent) -> Option<Msg> {
        if event.ctrl_key() || event.meta_key() || event.alt_key() {
            return None;
        }
        let count = scene.items.len();
        // The focused element may still be of the previous picture.
        let at = self.item_at(event.target()).filter(|at| *at < count);
        let may = |index: &usize| usable(scene, *index);
        let msg = match (event.key().as_str(), at) {
            ("Escape", _) if self.rested || self.menu => Some(Msg::Shut),
            ("ArrowDown", Some(at)) if event.shift_key() => (0..count)
                .find(|index| scene.items[*index].parent == Some(at))
                .map(Msg::Go),
            ("ArrowUp", Some(at)) if event.shift_key() => scene.items[at].parent.map(Msg::Go),
            ("ArrowDown", at) => (at.map_or(0, |at| at + 1)..count).find(may).map(Msg::Go),
            ("ArrowUp", at) => (0..at.unwrap_or(count)).rev().find(may).map(Msg::Go),
            ("Enter" | " ", Some(at)) => Some(Msg::Pick(at, false)),
            ("w" | "W", Some(at)) => Some(Msg::Pick(at, true)),
            ("+" | "=", _) => Some(Msg::Zoom(1.25)),
            ("-", _) => Some(Msg::Zoom(0.8)),
            ("0", _) => Some(Msg::All),
            _ => return None,
        };
        event.prevent_default();
        event.stop_propagation();
        msg
    }
}
