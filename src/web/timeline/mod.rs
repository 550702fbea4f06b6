//! The transport at the left and the lanes at the right: where on the clock one is, and how to go elsewhere.

mod paint;
mod transport;

pub use transport::{Transport, late};

use self::paint::Paint;
use crate::i18n::format::Px;
use crate::i18n::format::clock;
use crate::i18n::{Message, msg};
use crate::projection::marks::Mark;
use crate::session::journal_marks::AbandonedBranch;
use crate::views::axis::{Axis, FOLD, Idle};
use crate::views::timeline::{MarkBlock, blocks, rows};
use crate::web::dom::{self, icon};
use crate::web::language::{Lang, say};
use std::rc::Rc;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, Element, HtmlCanvasElement, KeyboardEvent, PointerEvent, WheelEvent};
use yew::prelude::*;

/// What the lanes show.
#[derive(Properties, PartialEq)]
pub struct LanesProps {
    /// In order of time.
    pub marks: Rc<Vec<Mark>>,
    /// The instant shown, in milliseconds.
    pub now: u64,
    /// The newest instant.
    pub end: u64,
    /// The chosen chain of causes: time and lane, newest first.
    pub chain: Rc<Vec<(u64, u8)>>,
    /// The lane of the chosen loop: the others are dimmed.
    #[prop_or_default]
    pub only: Option<u8>,
    /// Instants with a letter.
    #[prop_or_default]
    pub flags: Vec<(u64, &'static str)>,
    /// The other side of a fork.
    #[prop_or_default]
    pub left: Option<Rc<AbandonedBranch>>,
    /// Dark or light: the canvas is painted anew.
    pub dark: bool,
    /// The language.
    #[prop_or_default]
    pub lang: Lang,
    /// One bar without lanes (embed, phone).
    #[prop_or_default]
    pub slim: bool,
    /// To an instant.
    pub on_seek: Callback<u64>,
    /// Whether the clock runs.
    #[prop_or_default]
    pub playing: bool,
    /// What the marks of a lane between two instants say.
    #[prop_or_default]
    pub on_tell: Option<Callback<MarkSpan, Message>>,
    /// They were clicked.
    #[prop_or_default]
    pub on_pick: Callback<MarkSpan>,
}

/// The marks of a lane between two instants, in milliseconds.
pub type MarkSpan = (u64, u64, u8);

/// What happens to the lanes.
pub enum Msg {
    /// A pointer went down, moved, went up.
    Down(PointerEvent),
    Move(PointerEvent),
    Up(i32),
    /// It left: what it rested on is no longer told.
    Leave,
    /// The wheel.
    Wheel(WheelEvent),
    /// A key.
    Key(KeyboardEvent),
    /// Larger or smaller about the playhead; nothing: all of it.
    Zoom(Option<f64>),
    /// The size changed.
    Size,
}

/// What is told of a mark, and the middle of it.
pub(super) type Tip = (String, f64);

/// The lanes.
pub struct Lanes {
    pub(super) canvas: NodeRef,
    /// Pointers that are down, and where.
    pub(super) held: Vec<(i32, f64)>,
    pub(super) width: f64,
    /// From when, and milliseconds a pixel, where a part of the time is shown.
    pub(super) near: Option<(u64, f64)>,
    /// The whole time as it was when a pointer came to rest on it: what is about to be clicked does not move away.
    pub(super) rests: Option<Axis>,
    /// What the marks come to, and for how many of them and which axis.
    pub(super) cached: Option<(Key, Vec<MarkBlock>, Vec<MarkBlock>)>,
    pub(super) idle: Option<(Lens, Idle)>,
    pub(super) tip: Option<Tip>,
    /// Where a pointer rests on the axis.
    pub(super) pointer: Option<f64>,
    /// The time that a pointer holds while it moves the lanes.
    grabbed: Option<u64>,
    /// The marks that it went down on, until it moves.
    pressed: Option<MarkSpan>,
    pub(super) observer: Option<(wasm_bindgen::prelude::Closure<dyn FnMut()>, web_sys::ResizeObserver)>,
}

/// Marks of this branch and of the other.
pub(super) type Lens = (usize, usize);

/// A fold that still grows moves no mark.
pub(super) type Key = (Lens, u64, f64, f64, usize);

/// Half of the width of a tip at least.
const TIP_HALF: f64 = 164.0;
/// Height of the whole time over the ruler, where a part of it is shown.
pub(super) const OVERVIEW: f64 = 4.0;
/// How far from the edge the time of a playhead out of sight is to be clicked.
const EDGE: f64 = 80.0;
/// A pointer that moves less has not moved.
const STILL: f64 = 3.0;

/// Minimum of milliseconds per pixel.
pub(super) const FINEST: f64 = 0.25;

impl Lanes {
    /// Left of the lanes, and the room at their right.
    pub(super) fn sides(slim: bool) -> (f64, f64) {
        // The playhead's circle and a mark at the very beginning are whole.
        if slim { (7.0, 7.0) } else { (104.0, 24.0) }
    }

    /// The other side of a fork.
    pub(super) fn ghosts(props: &LanesProps) -> &[Mark] {
        props.left.as_ref().map_or(&[], |left| &left.marks)
    }

    /// Where nothing happened on either side of a fork.
    pub(super) fn idle(&mut self, props: &LanesProps) {
        let ghosts = Self::ghosts(props);
        let lens = (props.marks.len(), ghosts.len());
        if self.idle.as_ref().is_some_and(|(of, _)| *of == lens) {
            return;
        }
        let mut idle = Idle::default();
        let mut ghosts = ghosts.iter().peekable();
        for mark in props.marks.iter() {
            while let Some(ghost) = ghosts.next_if(|ghost| ghost.at <= mark.at) {
                idle.see(ghost.at);
            }
            idle.see(mark.at);
        }
        ghosts.for_each(|ghost| idle.see(ghost.at));
        self.idle = Some((lens, idle));
    }

    /// The whole time, and where it ends.
    pub(super) fn whole(&self, props: &LanesProps) -> (Axis, u64) {
        let (left, right) = Self::sides(props.slim);
        let last = props.left.as_ref().map_or(0, |left| left.end).max(props.end);
        let folds = self.idle.as_ref().map(|(_, idle)| idle.folds(last)).unwrap_or_default();
        // The scale changes in steps: a picture that slides all the time cannot be read.
        let (busy, mut end) = (Axis::busy(last, &folds) as f64, 6_000_f64);
        while end < busy {
            end *= 1.3;
        }
        (Axis::new(0, end * 1.1, self.width - left - right, folds), last)
    }

    pub(super) fn axis(&self, props: &LanesProps) -> Axis {
        let (axis, _) = self.whole(props);
        let fits = |rests: &&Axis| rests.width == axis.width && rests.x(props.end) <= axis.width;
        match (self.near, &self.rests) {
            (Some((from, per)), _) => Axis { from, per, ..axis },
            (None, rests) => rests.as_ref().filter(fits).cloned().unwrap_or(axis),
        }
    }

    /// The place of a pointer on the axis.
    pub(super) fn place(&self, props: &LanesProps, x: i32) -> f64 {
        let canvas = self.canvas.cast::<Element>();
        f64::from(x) - canvas.map_or(0.0, |canvas| canvas.get_bounding_client_rect().left()) - Self::sides(props.slim).0
    }

    pub(super) fn seek(&self, props: &LanesProps, x: f64) {
        props.on_seek.emit(self.axis(props).time(x).min(props.end));
    }

    /// The marks at a place that are drawn as one: the times of the first and the last.
    fn marks_at(&self, props: &LanesProps, (client_x, client_y): (i32, i32)) -> Option<(&MarkBlock, (u64, u64))> {
        let (_, merged, _) = self.cached.as_ref()?;
        let top = self.canvas.cast::<Element>()?.get_bounding_client_rect().top();
        let (x, axis) = (self.place(props, client_x), self.axis(props));
        let row = (f64::from(client_y) - top - 24.0) / 12.0;
        let (rows, _) = rows(&[&props.marks, Self::ghosts(props)]);
        let off = |block: &MarkBlock| (block.x - 1.25 - x).max(x - block.x - block.w).max(0.0);
        let here = merged.iter().filter(|block| row >= 0.0 && rows.get(usize::from(block.lane)) == Some(&(row as u8)) && off(block) < 4.0);
        let block = here.min_by(|a, b| off(a).total_cmp(&off(b)))?;
        let inside = |mark: &&Mark| mark.lane == block.lane && (0.0..=block.w - 2.5 + 0.01).contains(&(axis.x(mark.at) - block.x));
        let mut all = props.marks.iter().filter(inside).map(|mark| mark.at);
        let from = all.next().unwrap_or_default();
        Some((block, (from, all.next_back().unwrap_or(from))))
    }

    /// Goes to the place of a pointer, or to the mark that it points at: a pixel may be a tenth of a second.
    fn point(&mut self, props: &LanesProps, event: &PointerEvent) {
        let x = self.place(props, event.client_x());
        let found = self.marks_at(props, (event.client_x(), event.client_y())).map(|(block, (from, to))| (from, to, block.lane));
        match found {
            Some((from, to, _)) => props.on_seek.emit(self.axis(props).time(x).clamp(from, to).min(props.end)),
            None => self.seek(props, x),
        }
        self.pressed = found;
    }

    /// A pointer went down.
    fn down(&mut self, props: &LanesProps, event: &PointerEvent) -> bool {
        let x = self.place(props, event.client_x());
        let grabs = !props.slim && (event.button() == 1 || event.ctrl_key() || event.meta_key());
        // The names of the lanes are no place on the axis.
        if (!props.slim && x < -8.0) || (event.button() != 0 && !grabs) {
            return false;
        }
        self.held.push((event.pointer_id(), x));
        let canvas = self.canvas.cast::<Element>();
        if let Some(canvas) = &canvas {
            let _ = canvas.set_pointer_capture(event.pointer_id());
        }
        if grabs {
            event.prevent_default();
            self.grabbed = Some(self.axis(props).time(x));
            return self.tip.take().is_some();
        }
        let y = f64::from(event.client_y()) - canvas.map_or(0.0, |canvas| canvas.get_bounding_client_rect().top());
        if self.near.is_some() && y < 20.0 {
            let axis = self.axis(props);
            let now = axis.x(props.now);
            if y < OVERVIEW + 2.0 {
                let (whole, _) = self.whole(props);
                self.zoom(props, 1.0, whole.time(x), axis.width / 2.0);
                return true;
            }
            if (now < 0.0 && x < EDGE) || (now > axis.width && x > axis.width - EDGE) {
                self.zoom(props, 1.0, props.now, axis.width / 2.0);
                return true;
            }
        }
        self.point(props, event);
        // What it tells would stand over the way back.
        self.tip.take().is_some()
    }

    /// A pointer moved: it rests on something, drags the lanes, goes along the time, or is one of two fingers.
    fn moved(&mut self, props: &LanesProps, event: &PointerEvent) -> bool {
        let x = self.place(props, event.client_x());
        match (self.held.len(), self.grabbed) {
            (0, _) => {
                if self.rests.is_none() {
                    self.rests = Some(self.axis(props));
                }
                let pointer = (!props.slim && x >= 0.0).then_some(x);
                let tip = self.tell(props, event);
                let before = (std::mem::replace(&mut self.tip, tip), std::mem::replace(&mut self.pointer, pointer));
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

    /// So many times larger, with a time at a place.
    pub(super) fn zoom(&mut self, props: &LanesProps, factor: f64, at: u64, x: f64) {
        let (whole, last) = self.whole(props);
        let per = (self.axis(props).per / factor).max(FINEST);
        self.near = (per < whole.per).then(|| {
            let end = whole.time(whole.width).max(last);
            let axis = whole.scaled(per, at, x, end);
            (axis.from, axis.per)
        });
    }

    /// Larger or smaller about the playhead, or about the middle where that is out of sight.
    pub(super) fn about(&mut self, props: &LanesProps, factor: Option<f64>) {
        let Some(factor) = factor else {
            self.near = None;
            return;
        };
        let axis = self.axis(props);
        let x = axis.x(props.now);
        let x = if (0.0..=axis.width).contains(&x) { x } else { axis.width / 2.0 };
        self.zoom(props, factor, axis.time(x), x);
    }

    /// The wheel makes it larger and smaller, and goes along it.
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

    /// Two fingers do the same.
    pub(super) fn pinch(&mut self, props: &LanesProps, id: i32, x: f64) {
        let [a, b] = self.held[..] else { return };
        let axis = self.axis(props);
        let (before, middle) = ((a.1 - b.1).abs().max(8.0), f64::midpoint(a.1, b.1));
        self.held.iter_mut().filter(|held| held.0 == id).for_each(|held| held.1 = x);
        let [a, b] = self.held[..] else { return };
        self.zoom(props, (a.1 - b.1).abs().max(8.0) / before, axis.time(middle), f64::midpoint(a.1, b.1));
    }

    /// What is at a place: a mark, a fold, the beginning of a branch.
    pub(super) fn tell(&self, props: &LanesProps, event: &PointerEvent) -> Option<Tip> {
        let on_tell = props.on_tell.as_ref()?;
        let (x, axis) = (self.place(props, event.client_x()), self.axis(props));
        let tip = |words: String, x: f64| Some((words, x + Self::sides(props.slim).0));
        if let Some((block, (from, to))) = self.marks_at(props, (event.client_x(), event.client_y())) {
            return tip(say(on_tell.emit((from, to, block.lane))), block.x.max(0.0) + block.w.min(14.0) / 2.0);
        }
        if let Some((middle, (from, to))) = axis.folded().find(|(middle, _)| (middle - x).abs() < FOLD / 2.0) {
            return tip(say(msg::idle_time(from, to, to - from)), middle);
        }
        let left = props.left.as_ref().filter(|left| (axis.x(left.at) - x).abs() < 8.0)?;
        tip(say(msg::branch_begins(left.number)), axis.x(left.at))
    }

    pub(super) fn paint(&mut self, props: &LanesProps) {
        let Some(canvas) = self.canvas.cast::<HtmlCanvasElement>() else { return };
        let Some(context) = canvas.get_context("2d").ok().flatten().and_then(|context| context.dyn_into::<CanvasRenderingContext2d>().ok())
        else {
            return;
        };
        let height = if props.slim { 24.0 } else { 123.0 };
        let scale = dom::window().device_pixel_ratio().max(1.0);
        let (w, h) = ((self.width * scale) as u32, (height * scale) as u32);
        if canvas.width() != w || canvas.height() != h {
            canvas.set_width(w);
            canvas.set_height(h);
        }
        let _ = context.set_transform(scale, 0.0, 0.0, scale, 0.0, 0.0);
        context.clear_rect(0.0, 0.0, self.width, height);
        if !props.slim {
            self.idle(props);
        }
        let axis = self.axis(props);
        let ghosts = Self::ghosts(props);
        let key = ((props.marks.len(), ghosts.len()), axis.from, axis.per, axis.width, axis.folds.len());
        if self.cached.as_ref().is_none_or(|(of, ..)| *of != key) {
            self.cached = Some((key, blocks(&props.marks, &axis), blocks(ghosts, &axis)));
        }
        let Some((_, merged, ghosts)) = &self.cached else { return };
        let whole = self.near.map(|_| self.whole(props).0);
        let paint = Paint { context: &context, axis, props, width: self.width, whole, pointer: self.pointer };
        if props.slim { paint.slim(merged) } else { paint.lanes(merged, ghosts) }
    }
}

impl Component for Lanes {
    type Message = Msg;
    type Properties = LanesProps;

    fn create(_: &Context<Self>) -> Self {
        Lanes {
            canvas: NodeRef::default(),
            held: Vec::new(),
            width: 0.0,
            near: None,
            rests: None,
            cached: None,
            idle: None,
            tip: None,
            pointer: None,
            grabbed: None,
            pressed: None,
            observer: None,
        }
    }

    fn changed(&mut self, ctx: &Context<Self>, old: &LanesProps) -> bool {
        if self.near.is_some() {
            self.keep_up(ctx.props(), old);
        }
        true
    }

    fn update(&mut self, ctx: &Context<Self>, msg: Msg) -> bool {
        let props = ctx.props();
        match msg {
            Msg::Down(event) => return self.down(props, &event),
            Msg::Move(event) => return self.moved(props, &event),
            Msg::Up(id) => {
                self.held.retain(|held| held.0 != id);
                self.grabbed = None;
                if let Some(marks) = self.pressed.take() {
                    props.on_pick.emit(marks);
                }
            }
            Msg::Leave => {
                let rested = self.rests.take().is_some() | self.pointer.take().is_some();
                return self.tip.take().is_some() || rested;
            }
            Msg::Wheel(event) => {
                event.prevent_default();
                self.wheel(props, &event);
                return true;
            }
            Msg::Zoom(factor) => {
                self.about(props, factor);
                return true;
            }
            Msg::Key(event) => {
                let factor = match event.key().as_str() {
                    "+" | "=" => Some(Some(1.5)),
                    "-" => Some(Some(1.0 / 1.5)),
                    "0" => Some(None),
                    _ => None,
                };
                if let Some(factor) = factor.filter(|_| !props.slim) {
                    // They are the diagram's keys too.
                    event.stop_propagation();
                    self.about(props, factor);
                    return true;
                }
                let second = if event.shift_key() { 10_000 } else { 1_000 };
                let to = match event.key().as_str() {
                    // To the left and to the right it goes from reconcile to reconcile, as everywhere on the page.
                    "ArrowUp" => props.now + second,
                    "ArrowDown" => props.now.saturating_sub(second),
                    "Home" => 0,
                    "End" => props.end,
                    _ => return false,
                };
                event.prevent_default();
                event.stop_propagation();
                props.on_seek.emit(to.min(props.end));
            }
            Msg::Size => {
                let width = self.canvas.cast::<Element>().map_or(0.0, |canvas| f64::from(canvas.client_width()));
                if width == self.width {
                    return false;
                }
                self.width = width;
                return true;
            }
        }
        false
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        dom::renders("Lanes");
        let props = ctx.props();
        let link = ctx.link();
        let canvas = html! {
            <canvas
                ref={self.canvas.clone()}
                class={if props.slim { "scrub" } else { "lanes" }}
                role="slider"
                tabindex="0"
                aria-label={say(msg::slider_time())}
                aria-valuemin="0"
                aria-valuemax={(props.end / 1000).to_string()}
                aria-valuenow={(props.now / 1000).to_string()}
                aria-valuetext={clock(props.now / 1000 * 1000)}
                onpointerdown={link.callback(Msg::Down)}
                onpointermove={link.callback(Msg::Move)}
                onpointerup={link.callback(|event: PointerEvent| Msg::Up(event.pointer_id()))}
                onpointercancel={link.callback(|event: PointerEvent| Msg::Up(event.pointer_id()))}
                onpointerleave={link.callback(|_: PointerEvent| Msg::Leave)}
                onwheel={(!props.slim).then(|| link.callback(Msg::Wheel))}
                onkeydown={link.callback(Msg::Key)}
            />
        };
        if props.slim { canvas } else { self.framed(link, canvas) }
    }

    fn rendered(&mut self, ctx: &Context<Self>, first: bool) {
        if first {
            let link = ctx.link().clone();
            let changed = wasm_bindgen::prelude::Closure::<dyn FnMut()>::new(move || link.send_message(Msg::Size));
            if let (Ok(observer), Some(canvas)) =
                (web_sys::ResizeObserver::new(changed.as_ref().unchecked_ref()), self.canvas.cast::<Element>())
            {
                // It is told the first size as well, once the browser has laid the page out, and paints then.
                observer.observe(&canvas);
                self.observer = Some((changed, observer));
            }
        }
        if self.width > 0.0 {
            self.paint(ctx.props());
        }
    }

    fn destroy(&mut self, _: &Context<Self>) {
        if let Some((_, observer)) = &self.observer {
            observer.disconnect();
        }
    }
}

impl Lanes {
    /// A part of the time goes along with the playhead, as long as that was in sight, and goes to it when the clock is started.
    pub(super) fn keep_up(&mut self, props: &LanesProps, old: &LanesProps) {
        if props.end < old.end {
            self.near = None;
            return;
        }
        let axis = self.axis(props);
        let seen = |at: u64| (0.0..=axis.width).contains(&axis.x(at));
        if (seen(old.now) || props.playing && !old.playing) && !seen(props.now) {
            self.zoom(props, 1.0, props.now, axis.width / 4.0);
        }
    }

    /// The lanes with what makes them larger and smaller, and what a mark stands for.
    pub(super) fn framed(&self, link: &yew::html::Scope<Self>, canvas: Html) -> Html {
        let button = |factor: Option<f64>, words: Message, glyph: &'static str| {
            html! { <button type="button" aria-label={say(&words)} title={say(&words)} disabled={self.near.is_none() && factor.is_none_or(|factor| factor < 1.0)} onclick={link.callback(move |_: MouseEvent| Msg::Zoom(factor))}>{ icon(glyph, 12) }</button> }
        };
        html! {
            <div class="lanebox">{ canvas }
                <div class="scale" role="group" aria-label={say(msg::timeline_zoom())}>{ button(Some(1.0 / 1.5), msg::scale_longer(), "i-minus") }{ button(Some(1.5), msg::scale_shorter(), "i-plus") }{ button(None, msg::scale_all(), "i-fit") }</div>
                if let Some((words, x)) = &self.tip {
                    <div class="tip" role="tooltip" style={format!("left:{}px", Px(x.clamp(TIP_HALF, (self.width - TIP_HALF).max(TIP_HALF))))}>{ words }</div>
                }
            </div>
        }
    }
}
