//! The transport at the left and the lanes at the right: where on the clock one is, and how to go elsewhere.

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
use projection::marks::Mark;
use session::journal_marks::AbandonedBranch;
use std::rc::Rc;
use views::axis::{Axis, Idle};
use views::timeline::{MarkBlock, blocks};
use wasm_bindgen::JsCast;
use web_sys::{
    CanvasRenderingContext2d, Element, HtmlCanvasElement, KeyboardEvent, PointerEvent, WheelEvent,
};
use yew::prelude::*;

/// What the lanes show.
#[derive(Properties, PartialEq)]
pub struct LanesProps {
    /// In order of time.
    pub marks: Rc<Vec<Mark>>,
    /// Where the clock is.
    pub clock: LaneClock,
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
    /// What the marks of a lane between two instants say.
    #[prop_or_default]
    pub on_tell: Option<Callback<MarkSpan, Message>>,
    /// They were clicked.
    #[prop_or_default]
    pub on_pick: Callback<MarkSpan>,
}

/// Where the clock is: instants in milliseconds.
#[derive(Clone, Copy, PartialEq)]
pub struct LaneClock {
    /// The instant shown.
    pub now: u64,
    /// The newest one.
    pub end: u64,
    /// Whether it runs.
    pub playing: bool,
}

/// The marks of a lane between two instants, in milliseconds.
pub type MarkSpan = (u64, u64, u8);

/// What happens to the lanes.
pub enum Msg {
    /// A pointer went down, moved, went up.
    Down(PointerEvent),
    Move(PointerEvent),
    Up(i32),
    /// It was taken away.
    Cancel(i32),
    /// It left: what it rested on is no longer told.
    Leave,
    /// The wheel.
    Wheel(WheelEvent),
    /// So many milliseconds on, or back.
    Skip(i64),
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
    pub(super) observer: Option<(
        wasm_bindgen::prelude::Closure<dyn FnMut()>,
        web_sys::ResizeObserver,
    )>,
}

/// Marks of this branch and of the other.
pub(super) type Lens = (usize, usize);

/// A fold that still grows moves no mark.
pub(super) type Key = (Lens, u64, f64, f64, usize);

/// Half of the width of a tip at least.
const TIP_HALF: f64 = 164.0;
/// Height of the whole time over the ruler, where a part of it is shown.
pub(super) const OVERVIEW: f64 = 4.0;

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

    /// The place of a pointer on the axis.
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

/// What a key on the lanes does.
fn key(event: &KeyboardEvent, slim: bool) -> Option<Msg> {
    if event.ctrl_key() || event.meta_key() || event.alt_key() {
        return None;
    }
    let second = if event.shift_key() { 10_000 } else { 1_000 };
    let msg = match event.key().as_str() {
        // They are the diagram's keys too.
        "+" | "=" if !slim => Msg::Zoom(Some(1.5)),
        "-" if !slim => Msg::Zoom(Some(1.0 / 1.5)),
        "0" if !slim => Msg::Zoom(None),
        // To the left and to the right it goes from reconcile to reconcile, as everywhere on the page.
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
    /// A part of the time goes along with the playhead, as long as that was in sight, and goes to it when the clock is started.
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
