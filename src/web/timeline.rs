//! The transport at the left and the lanes at the right: where on the clock one is, and how to go elsewhere.

use super::dom::{self, icon};
use super::language::{Lang, say};
use super::tools::Tool;
use crate::i18n::format::Px;
use crate::i18n::format::about;
use crate::i18n::format::{clock, tick};
use crate::i18n::{Message, msg};
use crate::projection::marks::{LANES, Mark};
use crate::session::Msg as Do;
use crate::session::journal_marks::AbandonedBranch;
use crate::session::speed;
use crate::views::axis::{Axis, FOLD, Idle};
use crate::views::timeline::{Block, blocks, rows};
use std::rc::Rc;
use wasm_bindgen::JsCast;
use web_sys::{
    CanvasRenderingContext2d, Element, HtmlCanvasElement, HtmlInputElement, InputEvent, KeyboardEvent, PointerEvent, WheelEvent,
};
use yew::prelude::*;

/// What the transport shows.
#[derive(Properties, PartialEq)]
pub struct TransportProps {
    /// The language.
    pub lang: Lang,
    /// Milliseconds.
    pub now: u64,
    /// Whether the clock runs.
    pub playing: bool,
    /// Whether the newest instant is shown.
    pub live: bool,
    /// Virtual seconds a second.
    pub speed: f64,
    /// How fast it really goes, if that is much less.
    pub reached: Option<String>,
    /// Whether breakpoints are set.
    pub breaks: bool,
    /// Which panel is open.
    pub tool: Option<Tool>,
    /// What a button does.
    pub on: Callback<Do>,
    /// A panel is to be opened or closed.
    pub on_tool: Callback<Tool>,
}

/// Clock, buttons, speed.
#[component]
pub fn Transport(props: &TransportProps) -> Html {
    dom::renders("Transport");
    let emit = |msg: Do| {
        let on = props.on.clone();
        Callback::from(move |_: MouseEvent| on.emit(msg.clone()))
    };
    let on = props.on.clone();
    let slide = Callback::from(move |event: InputEvent| {
        if let Some(input) = event.target().and_then(|target| target.dyn_into::<HtmlInputElement>().ok()) {
            on.emit(Do::Speed(speed::at(input.value_as_number() / 100.0)));
        }
    });
    let tool = |of: Tool, id: &'static str, glyph: &'static str, words: Message| {
        let open = props.tool == Some(of);
        let onclick = props.on_tool.reform(move |_: MouseEvent| of);
        let set = (of == Tool::Breaks && props.breaks).then_some("set");
        html! { <button type="button" class={classes!("t", set)} id={id} aria-label={say(&words)} title={say(&words)} aria-expanded={open.to_string()} onclick={onclick}>{ icon(glyph, 16) }</button> }
    };
    html! {
        <div class="transport">
            <div class="clock"><b id="clock">{ clock(props.now) }</b><span class="grow" />
                { tool(Tool::Breaks, "break", "i-breakpoint", msg::pause_when()) }{ tool(Tool::Compare, "compare", "i-diff", msg::compare_keys()) }
                if props.live { <span class="live"><i />{ say(msg::ui_live()) }</span> } else { <span class="live rew"><i />{ say(msg::ui_past()) }</span> }
            </div>
            <div class="tbtns">
                <button type="button" class="t" aria-label={say(msg::ui_one_reconcile_back())} title={say(msg::ui_one_reconcile_back_2())} onclick={emit(Do::StepBack)}>{ icon("i-stepback", 16) }</button>
                <button type="button" class="play" id="play" aria-label={if props.playing { say(msg::ui_pause()) } else { say(msg::ui_play()) }} onclick={emit(Do::Toggle)}>{ icon(if props.playing { "i-pause" } else { "i-play" }, 16) }</button>
                <button type="button" class="t" id="step" aria-label={say(msg::ui_one_reconcile_on())} title={say(msg::ui_one_reconcile_on_2())} onclick={emit(Do::Step)}>{ icon("i-step", 16) }</button>
                <button type="button" class="t wide" id="second" aria-label={say(msg::ui_one_second_on())} title={say(msg::ui_one_second_on_2())} onclick={emit(Do::Seconds(1))}>{ "+1 s" }</button>
                <button type="button" class="t wide" id="settle" aria-label={say(msg::ui_on_until_it_is_settled())} title={say(msg::ui_on_until_nothing_changes_any_more())} onclick={emit(Do::Settle)}>{ say(msg::ui_settle()) }</button>
                <span class="grow" />
                <button type="button" class="btn sm ghost" id="restart" title={say(msg::ui_an_empty_cluster_the_manifest_applied())} onclick={emit(Do::Restart)}>{ say(msg::ui_start_over()) }</button>
            </div>
            <div class="speed"><span>{ "0.1×" }</span>
                <input type="range" min="0" max="100" step="1" aria-label={say(msg::ui_speed())} aria-valuetext={speed::label(props.speed)} value={Px(speed::position(props.speed) * 100.0).to_string()} oninput={slide} />
                <span>{ "1000×" }</span><b class="mono">{ speed::label(props.speed) }</b>{ late(props.reached.clone()) }
            </div>
        </div>
    }
}

/// The speed that is reached, where it is less than what was asked for.
pub fn late(reached: Option<String>) -> Html {
    html! { if let Some(reached) = reached { <span class="late" title={say(msg::ui_the_clock_cannot_keep_up_with())}>{ icon("i-warn", 12) }{ reached }</span> } }
}

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
    /// What the marks of a lane between two instants say.
    #[prop_or_default]
    pub on_tell: Option<Callback<(u64, u64, u8), Message>>,
}

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

/// What is told of a mark, and where: from the left, or from the right where there is no room.
type Tip = (String, f64, bool);

/// The lanes.
pub struct Lanes {
    canvas: NodeRef,
    /// Pointers that are down, and where.
    held: Vec<(i32, f64)>,
    width: f64,
    /// From when, and milliseconds a pixel, where a part of the time is shown.
    near: Option<(u64, f64)>,
    /// What the marks come to, and for how many of them and which axis.
    cached: Option<(Key, Vec<Block>, Vec<Block>)>,
    idle: Option<(Lens, Idle)>,
    tip: Option<Tip>,
    observer: Option<(wasm_bindgen::prelude::Closure<dyn FnMut()>, web_sys::ResizeObserver)>,
}

/// Marks of this branch and of the other.
type Lens = (usize, usize);
/// A fold that still grows moves no mark.
type Key = (Lens, u64, f64, f64, usize);

/// Milliseconds a pixel, at least.
const FINEST: f64 = 0.25;

impl Lanes {
    /// Left of the lanes, and the room at their right.
    fn sides(slim: bool) -> (f64, f64) {
        // The playhead's circle and a mark at the very beginning are whole.
        if slim { (7.0, 7.0) } else { (104.0, 24.0) }
    }

    /// The other side of a fork.
    fn ghosts(props: &LanesProps) -> &[Mark] {
        props.left.as_ref().map_or(&[], |left| &left.marks)
    }

    /// Where nothing happened on either side of a fork.
    fn idle(&mut self, props: &LanesProps) {
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
    fn whole(&self, props: &LanesProps) -> (Axis, u64) {
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

    fn axis(&self, props: &LanesProps) -> Axis {
        let (axis, _) = self.whole(props);
        match self.near {
            Some((from, per)) => Axis { from, per, ..axis },
            None => axis,
        }
    }

    /// The place of a pointer on the axis.
    fn place(&self, props: &LanesProps, x: i32) -> f64 {
        let canvas = self.canvas.cast::<Element>();
        f64::from(x) - canvas.map_or(0.0, |canvas| canvas.get_bounding_client_rect().left()) - Self::sides(props.slim).0
    }

    fn seek(&self, props: &LanesProps, x: f64) {
        props.on_seek.emit(self.axis(props).time(x).min(props.end));
    }

    /// So many times larger, with a time at a place.
    fn zoom(&mut self, props: &LanesProps, factor: f64, at: u64, x: f64) {
        let (whole, last) = self.whole(props);
        let per = (self.axis(props).per / factor).max(FINEST);
        self.near = (per < whole.per).then(|| {
            let end = whole.time(whole.width).max(last);
            let axis = whole.scaled(per, at, x, end);
            (axis.from, axis.per)
        });
    }

    /// Larger or smaller about the playhead, or about the middle where that is out of sight.
    fn about(&mut self, props: &LanesProps, factor: Option<f64>) {
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
    fn wheel(&mut self, props: &LanesProps, event: &WheelEvent) {
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
    fn pinch(&mut self, props: &LanesProps, id: i32, x: f64) {
        let [a, b] = self.held[..] else { return };
        let axis = self.axis(props);
        let (before, middle) = ((a.1 - b.1).abs().max(8.0), f64::midpoint(a.1, b.1));
        self.held.iter_mut().filter(|held| held.0 == id).for_each(|held| held.1 = x);
        let [a, b] = self.held[..] else { return };
        self.zoom(props, (a.1 - b.1).abs().max(8.0) / before, axis.time(middle), f64::midpoint(a.1, b.1));
    }

    /// What is at a place: a mark, a fold, the beginning of a branch.
    fn tell(&self, props: &LanesProps, event: &PointerEvent) -> Option<Tip> {
        let (on_tell, (_, merged, _)) = (props.on_tell.as_ref()?, self.cached.as_ref()?);
        let top = self.canvas.cast::<Element>()?.get_bounding_client_rect().top();
        let (x, axis) = (self.place(props, event.client_x()), self.axis(props));
        let row = (f64::from(event.client_y()) - top - 24.0) / 12.0;
        let tip = |words: String, x: f64| {
            let turned = x > axis.width / 2.0;
            let left = x + Self::sides(props.slim).0;
            Some((words, if turned { self.width - left } else { left }, turned))
        };
        let (rows, _) = rows(&[&props.marks, Self::ghosts(props)]);
        let off = |block: &Block| (block.x - 1.25 - x).max(x - block.x - block.w).max(0.0);
        let here = merged.iter().filter(|block| row >= 0.0 && rows.get(usize::from(block.lane)) == Some(&(row as u8)) && off(block) < 4.0);
        if let Some(block) = here.min_by(|a, b| off(a).total_cmp(&off(b))) {
            let inside = |mark: &&Mark| mark.lane == block.lane && (0.0..=block.w - 2.5 + 0.01).contains(&(axis.x(mark.at) - block.x));
            let mut all = props.marks.iter().filter(inside).map(|mark| mark.at);
            let from = all.next().unwrap_or_default();
            return tip(say(on_tell.emit((from, all.next_back().unwrap_or(from), block.lane))), block.x);
        }
        if let Some((middle, idle)) = axis.breaks().find(|(middle, _)| (middle - x).abs() < FOLD / 2.0) {
            return tip(say(msg::idle_time(idle)), middle);
        }
        let left = props.left.as_ref().filter(|left| (axis.x(left.at) - x).abs() < 8.0)?;
        tip(say(msg::branch_begins(left.number)), axis.x(left.at))
    }

    fn paint(&mut self, props: &LanesProps) {
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
        let paint = Paint { context: &context, axis, props, width: self.width };
        if props.slim { paint.slim(merged) } else { paint.lanes(merged, ghosts) }
    }
}

struct Paint<'a> {
    context: &'a CanvasRenderingContext2d,
    axis: Axis,
    props: &'a LanesProps,
    width: f64,
}

impl Paint<'_> {
    fn token(&self, name: &str) -> String {
        dom::token(name)
    }

    fn fill(&self, token: &str, rects: impl Iterator<Item = (f64, f64, f64, f64)>) {
        self.context.set_fill_style_str(&self.token(token));
        self.context.begin_path();
        for (x, y, w, h) in rects {
            self.context.rect(x, y, w, h);
        }
        self.context.fill();
    }

    /// Faults that people have asked for, as triangles; beside a diamond, not over it.
    fn faults(&self, left: f64, y: f64, merged: &[Block]) {
        let c = self.context;
        c.set_fill_style_str(&self.token("--st-notready"));
        c.begin_path();
        for block in merged.iter().filter(|block| block.fault) {
            let beside = merged.iter().any(|other| other.lane == 0 && !other.fault && (other.x - block.x).abs() < 9.0);
            // At the beginning there is no room at the left.
            let x = left
                + block.x
                + if !beside {
                    0.0
                } else if block.x < 9.0 {
                    9.0
                } else {
                    -9.0
                };
            c.move_to(x, y - 5.0);
            c.line_to(x + 5.0, y + 4.0);
            c.line_to(x - 5.0, y + 4.0);
            c.close_path();
        }
        c.fill();
    }

    /// Diamonds of one colour, about their middles.
    fn diamonds(&self, token: &str, r: f64, middles: &mut dyn Iterator<Item = (f64, f64)>) {
        let c = self.context;
        c.set_fill_style_str(&self.token(token));
        c.begin_path();
        for (x, y) in middles {
            c.move_to(x, y - r);
            c.line_to(x + r, y);
            c.line_to(x, y + r);
            c.line_to(x - r, y);
            c.close_path();
        }
        c.fill();
    }

    fn slim(&self, merged: &[Block]) {
        let width = self.axis.width;
        let now = self.axis.x(self.props.now).clamp(0.0, width);
        let _ = self.context.translate(Lanes::sides(true).0, 0.0);
        self.fill("--surface-3", std::iter::once((0.0, 10.0, width, 4.0)));
        self.fill("--accent", std::iter::once((0.0, 10.0, now, 4.0)));
        let marks = |past: bool| {
            merged
                .iter()
                .filter(move |block| block.lane != 0 && (block.x <= now) == past)
                .map(|block| (block.x, 4.0, block.w.min(14.0), 4.0))
        };
        self.fill("--text-3", marks(true));
        self.fill("--border-strong", marks(false));
        self.diamonds("--text-2", 4.0, &mut merged.iter().filter(|block| block.lane == 0 && !block.fault).map(|block| (block.x, 20.0)));
        self.faults(0.0, 20.0, merged);
        self.context.begin_path();
        let _ = self.context.arc(now, 12.0, 6.0, 0.0, std::f64::consts::TAU);
        self.context.set_fill_style_str(&self.token("--surface"));
        self.context.fill();
        self.context.set_stroke_style_str(&self.token("--accent"));
        self.context.set_line_width(2.0);
        self.context.stroke();
    }

    fn lanes(&self, merged: &[Block], ghosts: &[Block]) {
        let c = self.context;
        let left = 104.0;
        let (rows, shown) = rows(&[&self.props.marks, Lanes::ghosts(self.props)]);
        let row = |lane: u8| 24.0 + f64::from(rows.get(usize::from(lane)).copied().unwrap_or(0)) * 12.0;
        let other = |lane: u8| lane != 0 && self.props.only.is_some_and(|only| row(only) != row(lane));
        self.fill("--surface-2", (0..8).step_by(2).map(|at| (left - 8.0, 24.0 + f64::from(at) * 12.0, self.width - left - 8.0, 12.0)));
        c.set_font("11px system-ui, sans-serif");
        c.set_text_align("right");
        c.set_text_baseline("middle");
        c.set_fill_style_str(&self.token("--text-3"));
        for lane in shown {
            c.set_global_alpha(if other(lane) { 0.45 } else { 1.0 });
            let _ = c.fill_text(&say(lane_name(lane)), left - 16.0, row(lane) + 6.5);
        }
        c.set_global_alpha(1.0);
        c.save();
        c.begin_path();
        // The time of the first tick reaches further than the lanes.
        c.rect(left - 24.0, 0.0, self.width, 20.0);
        c.rect(left - 8.0, 20.0, self.width, 103.0);
        c.clip();
        self.ticks(left);
        for (middle, idle) in self.axis.breaks() {
            self.fold(left + middle, &about(idle));
        }
        // What was left behind a fork, faintly.
        if !ghosts.is_empty() {
            c.set_global_alpha(0.25);
            let bar = |block: &Block| (left + block.x - 1.25, row(block.lane) + 2.0, block.w, 8.0);
            self.fill("--text", ghosts.iter().filter(|block| block.lane != 0).map(bar));
            self.diamonds("--text", 5.0, &mut ghosts.iter().filter(|block| block.lane == 0).map(|block| (left + block.x, row(0) + 6.0)));
            c.set_global_alpha(1.0);
        }
        let (now, end) = (left + self.axis.x(self.props.now), left + self.axis.x(self.props.end));
        if self.props.now < self.props.end {
            self.hatch(now, end);
        }
        let causes = || self.props.chain.iter().filter(|(_, lane)| !other(*lane)).map(|(at, lane)| (self.axis.x(*at), *lane));
        for past in [true, false] {
            c.set_global_alpha(if past { 1.0 } else { 0.5 });
            // What lies on both sides of the playhead is cut there.
            let side = |(x, w): (f64, f64)| if past { (x, w.min(now + 0.5 - x)) } else { (x.max(now + 0.5), w.min(x + w - now - 0.5)) };
            let bar = |x: f64, w: f64, lane: u8| {
                let (x, w) = side((left + x - 1.25, w));
                (x, row(lane) + 2.0, w.max(0.0), 8.0)
            };
            let bars = |bad: bool| {
                let here = merged.iter().filter(move |block| block.bad == bad && block.lane != 0 && !other(block.lane));
                here.map(|block| bar(block.x, block.w, block.lane))
            };
            self.fill("--text-3", bars(false));
            self.fill("--accent", causes().filter(|(_, lane)| *lane != 0).map(|(x, lane)| bar(x, 2.5, lane)));
            self.fill("--st-failed", bars(true));
            let people = |chosen: bool| {
                let here = merged.iter().filter(move |block| block.lane == 0 && !block.fault && (left + block.x <= now + 0.5) == past);
                let is_chosen = |block: &Block| causes().any(|(x, lane)| lane == 0 && (x - block.x).abs() < 1.0);
                here.filter(move |block| is_chosen(block) == chosen).map(|block| (left + block.x, row(0) + 6.0))
            };
            self.diamonds("--text", 5.0, &mut people(false));
            self.diamonds("--accent", 5.0, &mut people(true));
        }
        c.set_global_alpha(1.0);
        let bad = merged.iter().any(|block| block.lane == 0 && block.bad);
        if bad {
            // What the API server has refused has not been done.
            let refused = || merged.iter().filter(|block| block.lane == 0 && block.bad).map(|block| (left + block.x, row(0) + 6.0));
            self.diamonds("--st-failed", 5.0, &mut refused());
            self.diamonds("--surface", 3.0, &mut refused());
        }
        if merged.iter().any(|block| block.fault) {
            self.faults(left, row(0) + 6.0, merged);
        }
        if self.props.only.is_some() {
            c.set_global_alpha(0.2);
            let bar = |block: &Block| (left + block.x - 1.25, row(block.lane) + 2.0, block.w, 8.0);
            self.fill("--text-3", merged.iter().filter(|block| other(block.lane)).map(bar));
            c.set_global_alpha(1.0);
        }
        self.curve(left, row);
        if let Some(fork) = &self.props.left {
            self.fork(left + self.axis.x(fork.at));
        }
        // What is compared lies between the two.
        if let [(a, _), (b, _)] = self.props.flags[..] {
            let (a, b) = (self.axis.x(a.min(b)), self.axis.x(a.max(b)));
            c.set_global_alpha(0.12);
            c.set_fill_style_str(&self.token("--accent"));
            c.fill_rect(left + a, 18.0, b - a, 103.0);
            c.set_global_alpha(1.0);
        }
        for (at, name) in &self.props.flags {
            self.flag(left + self.axis.x(*at), name);
        }
        if now > left - 1.0 && now <= self.width {
            self.playhead(now);
        }
        c.restore();
    }

    fn ticks(&self, left: f64) {
        let c = self.context;
        let (ticks, step) = self.axis.ticks();
        c.set_font("10px ui-monospace, Menlo, Consolas, monospace");
        c.set_text_align("center");
        for at in ticks {
            let x = (left + self.axis.x(at)).round() + 0.5;
            c.set_stroke_style_str(&self.token("--border"));
            c.set_line_width(1.0);
            c.begin_path();
            c.move_to(x, 18.0);
            c.line_to(x, 121.0);
            c.stroke();
            c.set_fill_style_str(&self.token("--text-3"));
            // The playhead's own time stands there.
            if (x - left - self.axis.x(self.props.now)).abs() > 56.0 {
                let _ = c.fill_text(&tick(at, step), x, 10.0);
            }
        }
    }

    fn hatch(&self, from: f64, to: f64) {
        let c = self.context;
        c.save();
        c.begin_path();
        c.rect(from, 20.0, (to - from).max(0.0), 102.0);
        c.clip();
        c.set_stroke_style_str(&self.token("--border"));
        c.set_line_width(1.0);
        c.begin_path();
        let mut x = from - 110.0;
        while x < to {
            c.move_to(x, 122.0);
            c.line_to(x + 104.0, 18.0);
            x += 7.0;
        }
        c.stroke();
        c.restore();
    }

    /// A stretch that is left out, and how long it is.
    fn fold(&self, middle: f64, words: &str) {
        let c = self.context;
        let (from, to) = (middle - FOLD / 2.0, middle + FOLD / 2.0);
        self.fill("--surface", std::iter::once((from, 20.0, FOLD, 102.0)));
        self.hatch(from, to);
        self.fill("--border-strong", [from, to].into_iter().map(|x| (x - 0.5, 20.0, 1.0, 102.0)));
        c.set_fill_style_str(&self.token("--text-2"));
        c.set_text_align("center");
        // The playhead's own time stands there.
        if (middle - 104.0 - self.axis.x(self.props.now)).abs() > 56.0 {
            let _ = c.fill_text(words, middle, 10.0);
        }
    }

    /// Where one history becomes two: a stem, and a branch to the right.
    fn fork(&self, x: f64) {
        let c = self.context;
        self.fill("--text-3", std::iter::once((x - 0.5, 20.0, 1.0, 101.0)));
        c.set_stroke_style_str(&self.token("--text-2"));
        c.set_line_width(1.5);
        c.begin_path();
        c.move_to(x, 32.0);
        c.bezier_curve_to(x, 27.0, x + 8.0, 30.0, x + 8.0, 24.0);
        c.stroke();
        self.diamonds("--text-2", 3.0, &mut std::iter::once((x + 8.0, 22.0)));
    }

    fn curve(&self, left: f64, row: impl Fn(u8) -> f64) {
        let c = self.context;
        let at = |(time, lane): (u64, u8)| (left + self.axis.x(time), row(lane) + 6.0);
        c.set_stroke_style_str(&self.token("--accent"));
        c.set_line_width(1.25);
        c.set_global_alpha(0.55);
        c.begin_path();
        for pair in self.props.chain.windows(2) {
            let ((x1, y1), (x2, y2)) = (at(pair[1]), at(pair[0]));
            let mid = (x1 + x2) / 2.0;
            c.move_to(x1, y1);
            c.bezier_curve_to(mid, y1, mid, y2, x2, y2);
        }
        c.stroke();
        c.set_global_alpha(1.0);
    }

    /// A letter on a line of its own.
    fn flag(&self, x: f64, name: &str) {
        let c = self.context;
        // Beside a person's mark at the same instant, and below the clock of the playhead.
        self.fill("--text", [(x - 0.5, 20.0, 1.0, 101.0), (x - 0.5, 20.0, 8.0, 1.0), (x + 6.5, 20.0, 13.0, 13.0)].into_iter());
        c.set_font("600 10px system-ui, sans-serif");
        c.set_text_align("center");
        c.set_fill_style_str(&self.token("--surface"));
        let _ = c.fill_text(name, x + 13.0, 27.0);
    }

    fn playhead(&self, x: f64) {
        let c = self.context;
        self.fill("--accent", [(x - 0.75, 18.0, 1.5, 104.0)].into_iter());
        let words = clock(self.props.now);
        c.set_font("600 10px ui-monospace, Menlo, Consolas, monospace");
        let wide = (words.len() as f64 * 6.3 + 10.0).max(62.0);
        let middle = x.min(self.width - wide / 2.0 - 2.0);
        c.begin_path();
        let _ = c.round_rect_with_f64(middle - wide / 2.0, 2.0, wide, 16.0, 4.0);
        c.fill();
        c.set_text_align("center");
        c.set_fill_style_str(&self.token("--on-accent"));
        let _ = c.fill_text(&words, middle, 10.5);
    }
}

impl Component for Lanes {
    type Message = Msg;
    type Properties = LanesProps;

    fn create(_: &Context<Self>) -> Self {
        Lanes { canvas: NodeRef::default(), held: Vec::new(), width: 0.0, near: None, cached: None, idle: None, tip: None, observer: None }
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
            Msg::Down(event) => {
                let x = self.place(props, event.client_x());
                self.held.push((event.pointer_id(), x));
                if let Some(canvas) = self.canvas.cast::<Element>() {
                    let _ = canvas.set_pointer_capture(event.pointer_id());
                }
                self.seek(props, x);
            }
            Msg::Move(event) => {
                let x = self.place(props, event.client_x());
                match self.held.len() {
                    0 => {
                        let tip = self.tell(props, &event);
                        return std::mem::replace(&mut self.tip, tip) != self.tip;
                    }
                    1 => self.seek(props, x),
                    _ if props.slim => {}
                    _ => {
                        self.pinch(props, event.pointer_id(), x);
                        return true;
                    }
                }
            }
            Msg::Up(id) => self.held.retain(|held| held.0 != id),
            Msg::Leave => return self.tip.take().is_some(),
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
                    "ArrowRight" | "ArrowUp" => props.now + second,
                    "ArrowLeft" | "ArrowDown" => props.now.saturating_sub(second),
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
                aria-label={say(msg::ui_time())}
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
                observer.observe(&canvas);
                self.observer = Some((changed, observer));
            }
            ctx.link().send_message(Msg::Size);
        }
        self.paint(ctx.props());
    }

    fn destroy(&mut self, _: &Context<Self>) {
        if let Some((_, observer)) = &self.observer {
            observer.disconnect();
        }
    }
}

impl Lanes {
    /// A part of the time goes along with the playhead, as long as that was in sight.
    fn keep_up(&mut self, props: &LanesProps, old: &LanesProps) {
        if props.end < old.end {
            self.near = None;
            return;
        }
        let axis = self.axis(props);
        let seen = |at: u64| (0.0..=axis.width).contains(&axis.x(at));
        if seen(old.now) && !seen(props.now) {
            self.zoom(props, 1.0, props.now, axis.width / 4.0);
        }
    }

    /// The lanes with what makes them larger and smaller, and what a mark stands for.
    fn framed(&self, link: &yew::html::Scope<Self>, canvas: Html) -> Html {
        let button = |factor: Option<f64>, words: Message, glyph: &'static str| {
            html! { <button type="button" aria-label={say(&words)} title={say(&words)} disabled={self.near.is_none() && factor.is_none_or(|factor| factor < 1.0)} onclick={link.callback(move |_: MouseEvent| Msg::Zoom(factor))}>{ icon(glyph, 12) }</button> }
        };
        html! {
            <div class="lanebox">{ canvas }
                <div class="scale" role="group" aria-label={say(msg::ui_scale_of_the_timeline())}>{ button(Some(1.0 / 1.5), msg::scale_longer(), "i-minus") }{ button(Some(1.5), msg::scale_shorter(), "i-plus") }{ button(None, msg::scale_all(), "i-fit") }</div>
                if let Some((words, x, turned)) = &self.tip {
                    <div class="tip" role="tooltip" style={format!("{}:{}px", if *turned { "right" } else { "left" }, Px(*x))}>{ words }</div>
                }
            </div>
        }
    }
}

/// What a lane is called.
fn lane_name(lane: u8) -> Message {
    match LANES.get(usize::from(lane)) {
        Some(&"user") => msg::lane_user(),
        Some(&"others") => msg::lane_others(),
        Some(name) => msg::lane(*name),
        None => Message::default(),
    }
}
