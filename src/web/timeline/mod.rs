//! The transport at the left and the lanes at the right: the position on the clock, and controls to change it.

mod paint;
mod pointer;
mod transport;

pub use transport::{Transport, late};

use self::paint::Paint;
use crate::web::dom::{self, icon};
use crate::web::language::{Lang, say};
use i18n::format::Px;
use i18n::format::clock;
use i18n::{Message, msg};
use projection::marks::{Lane, Mark};
use session::journal_marks::AbandonedBranch;
use std::rc::Rc;
use views::axis::{Axis, Idle};
use views::timeline::{MarkBlock, blocks};
use wasm_bindgen::JsCast;
use web_sys::{
    CanvasRenderingContext2d, Element, HtmlCanvasElement, KeyboardEvent, PointerEvent, WheelEvent,
};
use yew::prelude::*;

/// Properties of the lanes.
#[derive(Properties, PartialEq)]
pub struct LanesProps {
    /// Marks in order of time.
    pub marks: Rc<Vec<Mark>>,
    /// State of the clock.
    pub clock: LaneClock,
    /// Selected chain of causes: time and lane, newest first.
    pub chain: Rc<Vec<(u64, Lane)>>,
    /// Lane of the selected loop: the others are dimmed.
    #[prop_or_default]
    pub only: Option<Lane>,
    /// Instants marked with a letter.
    #[prop_or_default]
    pub flags: Vec<(u64, &'static str)>,
    /// Other side of a fork.
    #[prop_or_default]
    pub left: Option<Rc<AbandonedBranch>>,
    /// Theme: the canvas is repainted when it changes.
    pub dark: bool,
    /// Language of the page.
    #[prop_or_default]
    pub lang: Lang,
    /// True for a single bar without lanes (embed, phone).
    #[prop_or_default]
    pub slim: bool,
    /// Seeks to an instant.
    pub on_seek: Callback<u64>,
    /// Returns the text of the marks of a lane between two instants.
    #[prop_or_default]
    pub on_tell: Option<Callback<MarkSpan, Message>>,
    /// The marks were clicked.
    #[prop_or_default]
    pub on_pick: Callback<MarkSpan>,
}

/// State of the clock: instants in milliseconds.
#[derive(Clone, Copy, PartialEq)]
pub struct LaneClock {
    /// Instant shown.
    pub now: u64,
    /// Newest instant.
    pub end: u64,
    /// True while the clock runs.
    pub playing: bool,
}

/// Marks of a lane between two instants, in milliseconds.
pub type MarkSpan = (u64, u64, Lane);

/// Message of the lanes.
pub enum Msg {
    /// A pointer was pressed, moved, released.
    Down(PointerEvent),
    Move(PointerEvent),
    Up(i32),
    /// A pointer was cancelled.
    Cancel(i32),
    /// A pointer left: the tip is hidden.
    Leave,
    /// The wheel was turned.
    Wheel(WheelEvent),
    /// Moves by milliseconds, forward or back.
    Skip(i64),
    /// Zooms about the playhead; `None` shows the whole time.
    Zoom(Option<f64>),
    /// The canvas was resized.
    Size,
}

/// Text and x position of a tip.
pub(super) type Tip = (String, f64);

/// Lanes.
pub struct Lanes {
    pub(super) canvas: NodeRef,
    /// Pressed pointers with their positions.
    pub(super) held: Vec<(i32, f64)>,
    pub(super) width: f64,
    /// Start and milliseconds per pixel, if only a part of the time is shown.
    pub(super) near: Option<(u64, f64)>,
    /// Axis of the whole time when a pointer came to rest: a click target must not move away.
    pub(super) rests: Option<Axis>,
    /// Merged marks, with the number of marks and the axis for which they were computed.
    pub(super) cached: Option<(Key, Vec<MarkBlock>, Vec<MarkBlock>)>,
    pub(super) idle: Option<(Lens, Idle)>,
    pub(super) tip: Option<Tip>,
    /// Position of a hovering pointer on the axis.
    pub(super) pointer: Option<f64>,
    /// Time under a pointer that drags the lanes.
    grabbed: Option<u64>,
    /// Marks on which a pointer was pressed, until it moves.
    pressed: Option<MarkSpan>,
    pub(super) observer: Option<(
        wasm_bindgen::prelude::Closure<dyn FnMut()>,
        web_sys::ResizeObserver,
    )>,
}

/// Numbers of marks of this branch and of the other.
pub(super) type Lens = (usize, usize);

/// Cache key of the merged marks; a growing fold moves no mark.
pub(super) type Key = (Lens, u64, f64, f64, usize);

/// Half of a tip's minimum width.
const TIP_HALF: f64 = 164.0;
/// Height of the overview above the ruler, shown when zoomed.
pub(super) const OVERVIEW: f64 = 4.0;

/// Minimum of milliseconds per pixel.
pub(super) const FINEST: f64 = 0.25;

impl Lanes {
    /// Margins at the left and right of the axis.
    pub(super) fn sides(slim: bool) -> (f64, f64) {
        // Keeps the playhead's circle and a mark at the very beginning from being cut.
        if slim { (7.0, 7.0) } else { (104.0, 24.0) }
    }

    /// Marks on the other side of a fork.
    pub(super) fn ghosts(props: &LanesProps) -> &[Mark] {
        props.left.as_ref().map_or(&[], |left| &left.marks)
    }

    /// Computes the intervals in which nothing happened on either side of a fork.
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

    /// Axis of the whole time, and its end.
    pub(super) fn whole(&self, props: &LanesProps) -> (Axis, u64) {
        let (left, right) = Self::sides(props.slim);
        let last = props
            .left
            .as_ref()
            .map_or(0, |left| left.end)
            .max(props.clock.end);
        let folds = self
            .idle
            .as_ref()
            .map(|(_, idle)| idle.folds(last))
            .unwrap_or_default();
        // The scale changes in steps: a picture that slides all the time cannot be read.
        let (busy, mut end) = (Axis::busy(last, &folds) as f64, 6_000_f64);
        while end < busy {
            end *= 1.3;
        }
        (
            Axis::new(0, end * 1.1, self.width - left - right, folds),
            last,
        )
    }

    pub(super) fn axis(&self, props: &LanesProps) -> Axis {
        let (axis, _) = self.whole(props);
        let fits =
            |rests: &&Axis| rests.width == axis.width && rests.x(props.clock.end) <= axis.width;
        match (self.near, &self.rests) {
            (Some((from, per)), _) => Axis { from, per, ..axis },
            (None, rests) => rests.as_ref().filter(fits).cloned().unwrap_or(axis),
        }
    }

    /// Position of a pointer on the axis.
    pub(super) fn place(&self, props: &LanesProps, x: i32) -> f64 {
        let canvas = self.canvas.cast::<Element>();
        f64::from(x)
            - canvas.map_or(0.0, |canvas| canvas.get_bounding_client_rect().left())
            - Self::sides(props.slim).0
    }

    pub(super) fn seek(&self, props: &LanesProps, x: f64) {
        props
            .on_seek
            .emit(self.axis(props).time(x).min(props.clock.end));
    }

    /// Zooms by a factor, keeping a time at a position.
    pub(super) fn zoom(&mut self, props: &LanesProps, factor: f64, at: u64, x: f64) {
        let (whole, last) = self.whole(props);
        let per = (self.axis(props).per / factor).max(FINEST);
        self.near = (per < whole.per).then(|| {
            let end = whole.time(whole.width).max(last);
            let axis = whole.scaled(per, at, x, end);
            (axis.from, axis.per)
        });
    }

    /// Zooms about the playhead, or about the middle if the playhead is out of view.
    pub(super) fn about(&mut self, props: &LanesProps, factor: Option<f64>) {
        let Some(factor) = factor else {
            self.near = None;
            return;
        };
        let axis = self.axis(props);
        let x = axis.x(props.clock.now);
        let x = if (0.0..=axis.width).contains(&x) {
            x
        } else {
            axis.width / 2.0
        };
        self.zoom(props, factor, axis.time(x), x);
    }

    pub(super) fn paint(&mut self, props: &LanesProps) {
        let Some(canvas) = self.canvas.cast::<HtmlCanvasElement>() else {
            return;
        };
        let Some(context) = canvas
            .get_context("2d")
            .ok()
            .flatten()
            .and_then(|context| context.dyn_into::<CanvasRenderingContext2d>().ok())
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
        let key = (
            (props.marks.len(), ghosts.len()),
            axis.from,
            axis.per,
            axis.width,
            axis.folds.len(),
        );
        if self.cached.as_ref().is_none_or(|(of, ..)| *of != key) {
            self.cached = Some((key, blocks(&props.marks, &axis), blocks(ghosts, &axis)));
        }
        let Some((_, merged, ghosts)) = &self.cached else {
            return;
        };
        let whole = self.near.map(|_| self.whole(props).0);
        let paint = Paint {
            context: &context,
            axis,
            props,
            width: self.width,
            whole,
            pointer: self.pointer,
        };
        if props.slim {
            paint.slim(merged)
        } else {
            paint.lanes(merged, ghosts)
        }
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
            Msg::Cancel(id) => {
                self.held.retain(|held| held.0 != id);
                (self.grabbed, self.pressed) = (None, None);
            }
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
                self.wheel(props, &event);
                return true;
            }
            Msg::Zoom(factor) => {
                self.about(props, factor);
                return true;
            }
            Msg::Skip(ms) => props.on_seek.emit(
                props
                    .clock
                    .now
                    .saturating_add_signed(ms)
                    .min(props.clock.end),
            ),
            Msg::Size => {
                let width = self
                    .canvas
                    .cast::<Element>()
                    .map_or(0.0, |canvas| f64::from(canvas.client_width()));
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
        let (link, slim) = (ctx.link(), props.slim);
        let canvas = html! {
            <canvas
                ref={self.canvas.clone()}
                class={if props.slim { "scrub" } else { "lanes" }}
                role="slider"
                tabindex="0"
                aria-label={say(msg::slider_time())}
                aria-valuemin="0"
                aria-valuemax={(props.clock.end / 1000).to_string()}
                aria-valuenow={(props.clock.now / 1000).to_string()}
                aria-valuetext={clock(props.clock.now / 1000 * 1000)}
                onpointerdown={link.callback(move |event: PointerEvent| {
                    if pointer::grabs(&event, slim) {
                        event.prevent_default();
                    }
                    Msg::Down(event)
                })}
                onpointermove={link.callback(Msg::Move)}
                onpointerup={link.callback(|event: PointerEvent| Msg::Up(event.pointer_id()))}
                onpointercancel={link.callback(|event: PointerEvent| Msg::Cancel(event.pointer_id()))}
                onpointerleave={link.callback(|_: PointerEvent| Msg::Leave)}
                onwheel={(!slim).then(|| link.callback(|event: WheelEvent| {
                    event.prevent_default();
                    Msg::Wheel(event)
                }))}
                onkeydown={link.batch_callback(move |event: KeyboardEvent| key(&event, slim))}
            />
        };
        if slim {
            canvas
        } else {
            self.framed(link, canvas)
        }
    }

    fn rendered(&mut self, ctx: &Context<Self>, first: bool) {
        if first {
            let link = ctx.link().clone();
            let changed = wasm_bindgen::prelude::Closure::<dyn FnMut()>::new(move || {
                link.send_message(Msg::Size)
            });
            if let (Ok(observer), Some(canvas)) = (
                web_sys::ResizeObserver::new(changed.as_ref().unchecked_ref()),
                self.canvas.cast::<Element>(),
            ) {
                // The observer also reports the first size, once the browser has laid out the page; the canvas is painted then.
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

/// Returns the message of a key pressed on the lanes.
fn key(event: &KeyboardEvent, slim: bool) -> Option<Msg> {
    if event.ctrl_key() || event.meta_key() || event.alt_key() {
        return None;
    }
    let second = if event.shift_key() { 10_000 } else { 1_000 };
    let msg = match event.key().as_str() {
        // The same keys as in the diagram.
        "+" | "=" if !slim => Msg::Zoom(Some(1.5)),
        "-" if !slim => Msg::Zoom(Some(1.0 / 1.5)),
        "0" if !slim => Msg::Zoom(None),
        // Left and right step from reconcile to reconcile, as everywhere on the page.
        "ArrowUp" => Msg::Skip(second),
        "ArrowDown" => Msg::Skip(-second),
        "Home" => Msg::Skip(i64::MIN),
        "End" => Msg::Skip(i64::MAX),
        _ => return None,
    };
    event.prevent_default();
    event.stop_propagation();
    Some(msg)
}

impl Lanes {
    /// Scrolls along with the playhead as long as it was in view, and to it when the clock is started.
    pub(super) fn keep_up(&mut self, props: &LanesProps, old: &LanesProps) {
        if props.clock.end < old.clock.end {
            self.near = None;
            return;
        }
        let axis = self.axis(props);
        let seen = |at: u64| (0.0..=axis.width).contains(&axis.x(at));
        if (seen(old.clock.now) || props.clock.playing && !old.clock.playing)
            && !seen(props.clock.now)
        {
            self.zoom(props, 1.0, props.clock.now, axis.width / 4.0);
        }
    }

    /// Draws the lanes with the zoom buttons and the legend of the marks.
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
