//! The transport at the left and the lanes at the right: where on the clock one is, and how to go elsewhere.

use super::dom::{self, icon};
use super::tools::Tool;
use crate::app::format::Px;
use crate::app::format::{clock, tick};
use crate::app::speed;
use crate::app::state::Msg as Do;
use crate::scene::marks::{Axis, Block, LANES, Mark, blocks, rows};
use std::rc::Rc;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, Element, HtmlCanvasElement, HtmlInputElement, InputEvent, KeyboardEvent, PointerEvent};
use yew::prelude::*;

/// What the transport shows.
#[derive(Properties, PartialEq)]
pub struct TransportProps {
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
    let tool = |of: Tool, id: &'static str, glyph: &'static str, words: &'static str| {
        let open = props.tool == Some(of);
        let onclick = props.on_tool.reform(move |_: MouseEvent| of);
        let set = (of == Tool::Breaks && props.breaks).then_some("set");
        html! { <button type="button" class={classes!("t", set)} id={id} aria-label={words} title={words} aria-expanded={open.to_string()} onclick={onclick}>{ icon(glyph, 16) }</button> }
    };
    html! {
        <div class="transport">
            <div class="clock"><b id="clock">{ clock(props.now) }</b><span class="grow" />
                { tool(Tool::Breaks, "break", "i-breakpoint", "Pause when…") }{ tool(Tool::Compare, "compare", "i-diff", "Compare two instants (a, b)") }
                if props.live { <span class="live"><i />{ "Live" }</span> } else { <span class="live rew"><i />{ "Past" }</span> }
            </div>
            <div class="tbtns">
                <button type="button" class="t" aria-label="One reconcile back" title="One reconcile back (←)" onclick={emit(Do::StepBack)}>{ icon("i-stepback", 16) }</button>
                <button type="button" class="play" id="play" aria-label={if props.playing { "Pause" } else { "Play" }} onclick={emit(Do::Toggle)}>{ icon(if props.playing { "i-pause" } else { "i-play" }, 16) }</button>
                <button type="button" class="t" id="step" aria-label="One reconcile on" title="One reconcile on (→)" onclick={emit(Do::Step)}>{ icon("i-step", 16) }</button>
                <button type="button" class="t wide" id="second" aria-label="One second on" title="One second on (.)" onclick={emit(Do::Seconds(1))}>{ "+1 s" }</button>
                <button type="button" class="t wide" id="settle" aria-label="On until it is settled" title="On until nothing changes any more" onclick={emit(Do::Settle)}>{ "Settle" }</button>
                <span class="grow" />
                <button type="button" class="btn sm ghost" id="restart" title="An empty cluster, the manifest applied again" onclick={emit(Do::Restart)}>{ "Start over" }</button>
            </div>
            <div class="speed"><span>{ "0.1×" }</span>
                <input type="range" min="0" max="100" step="1" aria-label="Speed" aria-valuetext={speed::label(props.speed)} value={Px(speed::position(props.speed) * 100.0).to_string()} oninput={slide} />
                <span>{ "1000×" }</span><b class="mono">{ speed::label(props.speed) }</b>if let Some(reached) = &props.reached { <span class="late" title="The clock cannot keep up with so many Pods">{ icon("i-warn", 12) }{ reached }</span> }
            </div>
        </div>
    }
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
    /// Dark or light: the canvas is painted anew.
    pub dark: bool,
    /// Whether the lanes' names are Chinese.
    #[prop_or_default]
    pub chinese: bool,
    /// One bar without lanes (embed, phone).
    #[prop_or_default]
    pub slim: bool,
    /// To an instant.
    pub on_seek: Callback<u64>,
    /// What the marks of a lane between two instants say.
    #[prop_or_default]
    pub on_tell: Option<Callback<(u64, u64, u8), String>>,
}

/// What happens to the lanes.
pub enum Msg {
    /// A pointer went down, moved, went up.
    Down(PointerEvent),
    Move(PointerEvent),
    Up,
    /// A key.
    Key(KeyboardEvent),
    /// The size changed.
    Size,
}

/// The lanes.
pub struct Lanes {
    canvas: NodeRef,
    held: bool,
    width: f64,
    cached: Option<(usize, Axis, Vec<Block>)>,
    observer: Option<(wasm_bindgen::prelude::Closure<dyn FnMut()>, web_sys::ResizeObserver)>,
}

impl Lanes {
    /// Left of the lanes, and the room at their right.
    fn sides(slim: bool) -> (f64, f64) {
        if slim { (0.0, 0.0) } else { (104.0, 24.0) }
    }

    fn axis(&self, props: &LanesProps) -> Axis {
        let (left, right) = Self::sides(props.slim);
        // The scale changes in steps: a picture that slides all the time cannot be read.
        let mut end = 6_000_f64;
        while end < props.end as f64 {
            end *= 1.3;
        }
        let _ = props.slim;
        Axis { from: 0, to: (end * 1.1) as u64, width: (self.width - left - right).max(1.0) }
    }

    #[inline(never)]
    fn seek(&self, ctx: &Context<Self>, event: &PointerEvent) {
        let Some(canvas) = self.canvas.cast::<Element>() else { return };
        let (left, _) = Self::sides(ctx.props().slim);
        let x = f64::from(event.client_x()) - canvas.get_bounding_client_rect().left() - left;
        let to = self.axis(ctx.props()).time(x);
        ctx.props().on_seek.emit(to.min(ctx.props().end));
    }

    /// The mark under the pointer says what it stands for.
    #[inline(never)]
    fn tell(&self, props: &LanesProps, event: &PointerEvent) {
        let (Some(canvas), Some(on_tell), Some((_, axis, merged))) = (self.canvas.cast::<Element>(), &props.on_tell, &self.cached) else {
            return;
        };
        let place = canvas.get_bounding_client_rect();
        let x = f64::from(event.client_x()) - place.left() - Self::sides(props.slim).0;
        let row = (f64::from(event.client_y()) - place.top() - 24.0) / 12.0;
        let (rows, _) = rows(&props.marks);
        let off = |block: &Block| (block.x - 1.25 - x).max(x - block.x - block.w).max(0.0);
        let here = merged.iter().filter(|block| row >= 0.0 && rows.get(usize::from(block.lane)) == Some(&(row as u8)) && off(block) < 4.0);
        let nearest = here.min_by(|a, b| off(a).total_cmp(&off(b)));
        let words = nearest.map(|block| {
            let inside = |mark: &&Mark| mark.lane == block.lane && (0.0..=block.w - 2.5 + 0.01).contains(&(axis.x(mark.at) - block.x));
            let mut all = props.marks.iter().filter(inside).map(|mark| mark.at);
            let from = all.next().unwrap_or_default();
            on_tell.emit((from, all.next_back().unwrap_or(from), block.lane))
        });
        let _ = canvas.set_attribute("title", &words.unwrap_or_default());
    }

    fn paint(&mut self, props: &LanesProps) {
        let axis = self.axis(props);
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
        let fresh = self.cached.as_ref().is_some_and(|(count, old, _)| *count == props.marks.len() && *old == axis);
        if !fresh {
            self.cached = Some((props.marks.len(), axis, blocks(&props.marks, &axis)));
        }
        let Some((_, _, merged)) = &self.cached else { return };
        let paint = Paint { context: &context, axis, props, width: self.width };
        if props.slim { paint.slim(merged) } else { paint.lanes(merged) }
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

    fn diamond(&self, x: f64, y: f64, r: f64, token: &str) {
        self.context.set_fill_style_str(&self.token(token));
        self.context.begin_path();
        self.context.move_to(x, y - r);
        self.context.line_to(x + r, y);
        self.context.line_to(x, y + r);
        self.context.line_to(x - r, y);
        self.context.close_path();
        self.context.fill();
    }

    #[inline(never)]
    fn slim(&self, merged: &[Block]) {
        let width = self.axis.width;
        let now = self.axis.x(self.props.now).min(width - 7.0).max(7.0);
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
        for block in merged.iter().filter(|block| block.lane == 0) {
            self.diamond(block.x.max(4.0), 20.0, 4.0, "--text-2");
        }
        self.context.begin_path();
        let _ = self.context.arc(now, 12.0, 6.0, 0.0, std::f64::consts::TAU);
        self.context.set_fill_style_str(&self.token("--surface"));
        self.context.fill();
        self.context.set_stroke_style_str(&self.token("--accent"));
        self.context.set_line_width(2.0);
        self.context.stroke();
    }

    fn lanes(&self, merged: &[Block]) {
        let c = self.context;
        let left = 104.0;
        let (rows, shown) = rows(&self.props.marks);
        let row = |lane: u8| 24.0 + f64::from(rows.get(usize::from(lane)).copied().unwrap_or(0)) * 12.0;
        let other = |lane: u8| lane != 0 && self.props.only.is_some_and(|only| row(only) != row(lane));
        self.fill("--surface-2", (0..8).step_by(2).map(|at| (left - 8.0, 24.0 + f64::from(at) * 12.0, self.width - left - 8.0, 12.0)));
        c.set_font("11px system-ui, sans-serif");
        c.set_text_align("right");
        c.set_text_baseline("middle");
        c.set_fill_style_str(&self.token("--text-3"));
        for lane in shown {
            c.set_global_alpha(if other(lane) { 0.45 } else { 1.0 });
            let name = LANES[usize::from(lane)];
            if self.props.chinese {
                let _ = c.fill_text(&dom::say(name), left - 16.0, row(lane) + 6.5);
            } else {
                let _ = c.fill_text(name, left - 16.0, row(lane) + 6.5);
            }
        }
        c.set_global_alpha(1.0);
        self.ticks(left);
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
            for block in merged.iter().filter(|block| block.lane == 0 && (left + block.x <= now + 0.5) == past) {
                let chosen = causes().any(|(x, lane)| lane == 0 && (x - block.x).abs() < 1.0);
                self.diamond(left + block.x, row(0) + 6.0, 5.0, if chosen { "--accent" } else { "--text" });
            }
        }
        c.set_global_alpha(0.2);
        self.fill(
            "--text-3",
            merged.iter().filter(|block| other(block.lane)).map(|block| (left + block.x - 1.25, row(block.lane) + 2.0, block.w, 8.0)),
        );
        c.set_global_alpha(1.0);
        self.curve(left, row);
        for (at, name) in &self.props.flags {
            self.flag(left + self.axis.x(*at), name);
        }
        self.playhead(now);
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

    #[inline(never)]
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

    #[inline(never)]
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
        self.fill("--text", [(x - 0.5, 20.0, 1.0, 101.0), (x - 0.5, 20.0, 13.0, 13.0)].into_iter());
        c.set_font("600 10px system-ui, sans-serif");
        c.set_text_align("center");
        c.set_fill_style_str(&self.token("--surface"));
        let _ = c.fill_text(name, x + 6.0, 27.0);
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
        Lanes { canvas: NodeRef::default(), held: false, width: 0.0, cached: None, observer: None }
    }

    fn update(&mut self, ctx: &Context<Self>, msg: Msg) -> bool {
        match msg {
            Msg::Down(event) => {
                self.held = true;
                if let Some(canvas) = self.canvas.cast::<Element>() {
                    let _ = canvas.set_pointer_capture(event.pointer_id());
                }
                self.seek(ctx, &event);
            }
            Msg::Move(event) if self.held => self.seek(ctx, &event),
            Msg::Move(event) => self.tell(ctx.props(), &event),
            Msg::Up => self.held = false,
            Msg::Key(event) => {
                let props = ctx.props();
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
        html! {
            <canvas
                ref={self.canvas.clone()}
                class={if props.slim { "scrub" } else { "lanes" }}
                role="slider"
                tabindex="0"
                aria-label="Time"
                aria-valuemin="0"
                aria-valuemax={(props.end / 1000).to_string()}
                aria-valuenow={(props.now / 1000).to_string()}
                aria-valuetext={clock(props.now / 1000 * 1000)}
                onpointerdown={link.callback(Msg::Down)}
                onpointermove={link.callback(Msg::Move)}
                onpointerup={link.callback(|_: PointerEvent| Msg::Up)}
                onpointercancel={link.callback(|_: PointerEvent| Msg::Up)}
                onkeydown={link.callback(Msg::Key)}
            />
        }
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
