//! Pods as cells on a canvas, with their counts above. What has not changed is not painted again, and what is much is
//! painted in parts, so that no task is long.

use super::dom;
use crate::scene::model::{Block, PodState};
use crate::scene::shape::Cells;
use gloo_timers::callback::Timeout;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};
use yew::prelude::*;

/// So many cells are painted at a time.
const PART: usize = 8_000;
/// The canvas grows by so many rows: another size loses what is on it.
const ROWS: usize = 16;

/// How much of their colour ready Pods of an older revision have.
const OLD: f64 = 0.4;

/// The square that explains a cell.
pub fn swatch(state: PodState, old: bool) -> Classes {
    classes!("sw", state.class(), (old && state == PodState::Ready).then_some("old"))
}

/// What to draw.
#[derive(Properties, PartialEq)]
pub struct CellsProps {
    /// The Pods.
    pub cells: Cells,
    /// Without counts.
    pub bare: bool,
    /// The theme.
    pub dark: bool,
}

/// What a cell is painted as: nothing, or one more than its state, and `DIM` if it is ready and of an older revision.
type Look = u8;
const DIM: Look = 8;

/// The canvas, and what is on it.
pub struct CellsView {
    node: NodeRef,
    painted: Vec<Look>,
    /// The Pods as they are painted, and from which on they are old ones; none while some have still to be.
    done: Option<(Block, usize)>,
    rows: usize,
    more: Option<Timeout>,
}

impl Component for CellsView {
    type Message = ();
    type Properties = CellsProps;

    fn create(_: &Context<Self>) -> Self {
        CellsView { node: NodeRef::default(), painted: Vec::new(), done: None, rows: 0, more: None }
    }

    fn changed(&mut self, ctx: &Context<Self>, old: &CellsProps) -> bool {
        let form = |of: &CellsProps| (of.cells.columns, of.cells.side.to_bits(), of.cells.pitch.to_bits(), of.dark);
        if form(old) != form(ctx.props()) {
            self.rows = 0;
        }
        true
    }

    /// The next part.
    fn update(&mut self, ctx: &Context<Self>, (): ()) -> bool {
        self.more = None;
        self.paint(ctx);
        false
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        dom::renders("Cells");
        let CellsProps { cells, bare, .. } = ctx.props();
        let (x, y) = cells.at;
        html! {
            <>
                if !bare {
                    <div class="counts">{ for cells.pods.counts().iter().map(|(state, n)| html! { <span><i class={swatch(*state, cells.old == 0)} /><b>{ crate::app::format::count(*n) }</b>{ " " }{ state.word() }</span> }) }</div>
                }
                <canvas ref={self.node.clone()} style={format!("translate:{x}px {y}px")} aria-hidden="true" />
                if let Some(at) = cells.ring {
                    <i class="ring-of" style={format!("translate:{}px {}px;width:{2}px;height:{2}px", x + (at % cells.columns) as f64 * cells.pitch, y + (at / cells.columns) as f64 * cells.pitch, cells.side)} />
                }
            </>
        }
    }

    fn rendered(&mut self, ctx: &Context<Self>, _: bool) {
        if self.more.is_none() {
            self.paint(ctx);
        }
    }
}

impl CellsView {
    #[inline(never)]
    fn paint(&mut self, ctx: &Context<Self>) {
        let Some(canvas) = self.node.cast::<HtmlCanvasElement>() else { return };
        let Some(context) = canvas.get_context("2d").ok().flatten().and_then(|it| it.dyn_into::<CanvasRenderingContext2d>().ok()) else {
            return;
        };
        let cells = &ctx.props().cells;
        self.fit(&canvas, &context, cells);
        let all = 0..cells.pods.len().max(self.painted.len());
        let places = match &self.done {
            Some((done, old)) if *old == cells.old => cells.pods.changed_since(done),
            _ => vec![all.clone()],
        };
        self.painted.resize(all.end, 0);
        let mut changed: Vec<(usize, Look)> = Vec::new();
        'all: for places in places {
            let looks = cells.pods.states_of(places.clone()).map(Some).chain(std::iter::repeat(None));
            for (at, state) in places.zip(looks) {
                let dim = if at >= cells.old && state == Some(PodState::Ready) { DIM } else { 0 };
                let look = state.map_or(0, |state| state as Look + 1 + dim);
                if self.painted[at] != look {
                    changed.push((at, look));
                    if changed.len() == PART {
                        break 'all;
                    }
                }
            }
        }
        self.done = (changed.len() < PART).then(|| (cells.pods.clone(), cells.old));
        if self.done.is_none() {
            let link = ctx.link().clone();
            self.more = Some(Timeout::new(0, move || link.send_message(())));
        }
        let place = |at: usize| ((at % cells.columns) as f64 * cells.pitch, (at / cells.columns) as f64 * cells.pitch);
        for (at, look) in &changed {
            if self.painted[*at] != 0 {
                let (x, y) = place(*at);
                context.clear_rect(x, y, cells.pitch, cells.pitch);
            }
            self.painted[*at] = *look;
        }
        if self.done.is_some() {
            self.painted.truncate(cells.pods.len());
        }
        for state in PodState::ALL {
            for dim in [0, DIM] {
                let own = changed.iter().filter(|(_, look)| *look == state as Look + 1 + dim).map(|(at, _)| place(*at));
                if own.clone().next().is_some() {
                    context.set_global_alpha(if dim > 0 { OLD } else { 1.0 });
                    draw(&context, state, cells.side, own);
                }
            }
        }
        context.set_global_alpha(1.0);
    }

    /// The canvas in its size.
    fn fit(&mut self, canvas: &HtmlCanvasElement, context: &CanvasRenderingContext2d, cells: &Cells) {
        let rows = cells.pods.len().div_ceil(cells.columns.max(1)).max(1);
        if rows <= self.rows && self.rows < rows + 4 * ROWS {
            return;
        }
        let scale = dom::window().device_pixel_ratio().max(1.0);
        self.rows = rows.next_multiple_of(ROWS);
        let (w, h) = (cells.columns as f64 * cells.pitch, self.rows as f64 * cells.pitch);
        canvas.set_width((w * scale) as u32);
        canvas.set_height((h * scale) as u32);
        let _ = canvas.style().set_property("width", &format!("{w}px"));
        let _ = canvas.style().set_property("height", &format!("{h}px"));
        let _ = context.scale(scale, scale);
        self.painted.clear();
        self.done = None;
    }
}

/// One path a state; the shapes survive greyscale: full, half, ring, dashed, slashed, crossed.
fn draw(context: &CanvasRenderingContext2d, state: PodState, s: f64, cells: impl Iterator<Item = (f64, f64)> + Clone) {
    context.begin_path();
    for (x, y) in cells.clone() {
        match state {
            PodState::Ready | PodState::Failed => context.rect(x, y, s, s),
            PodState::Creating => {
                context.rect(x, y + s / 2.0, s, s / 2.0);
                context.rect(x, y, s, 1.0);
                context.rect(x, y, 1.0, s);
                context.rect(x + s - 1.0, y, 1.0, s);
            }
            PodState::Pending => {
                for (dx, dy, w, h) in [
                    (0.0, 0.0, 2.0, 1.0),
                    (s - 2.0, 0.0, 2.0, 1.0),
                    (0.0, s - 1.0, 2.0, 1.0),
                    (s - 2.0, s - 1.0, 2.0, 1.0),
                    (0.0, 0.0, 1.0, 2.0),
                    (s - 1.0, 0.0, 1.0, 2.0),
                    (0.0, s - 2.0, 1.0, 2.0),
                    (s - 1.0, s - 2.0, 1.0, 2.0),
                ] {
                    context.rect(x + dx, y + dy, w, h);
                }
            }
            PodState::Terminating => {
                for k in 0..s as usize {
                    context.rect(x + k as f64, y + s - 1.0 - k as f64, 1.5, 1.5);
                }
            }
            PodState::NotReady | PodState::Succeeded => {
                context.rect(x, y, s, 1.5);
                context.rect(x, y + s - 1.5, s, 1.5);
                context.rect(x, y, 1.5, s);
                context.rect(x + s - 1.5, y, 1.5, s);
            }
        }
    }
    context.set_fill_style_str(&dom::token(&format!("--st-{}", state.class())));
    context.fill();
    if state == PodState::Failed && s > 5.0 {
        context.begin_path();
        for (x, y) in cells {
            context.move_to(x + 2.0, y + 2.0);
            context.line_to(x + s - 2.0, y + s - 2.0);
            context.move_to(x + s - 2.0, y + 2.0);
            context.line_to(x + 2.0, y + s - 2.0);
        }
        context.set_stroke_style_str(&dom::token("--on-status"));
        context.stroke();
    }
}
