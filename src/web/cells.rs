//! Pods as cells on a canvas, with their counts above. What has not changed is not painted again, and what is much is
//! painted in parts, so that no task is long.

use super::dom;
use crate::scene::model::{Block, PodState};
use crate::scene::shape::{Body, Cells, Item};
use gloo_timers::callback::Timeout;
use std::rc::Rc;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};
use yew::prelude::*;

/// So many cells are painted at a time.
const PART: usize = 8_000;
/// A canvas grows by so many pixels: another size loses what is on it.
const STEP: f64 = 128.0;

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
    /// The theme.
    pub dark: bool,
}

/// What a cell is painted as: nothing, or one more than its state, and `DIM` if it is ready and of an older revision.
type Look = u8;
const DIM: Look = 8;

/// What is on a canvas of some Pods.
#[derive(Default)]
struct Painted {
    looks: Vec<Look>,
    /// The Pods as they are painted, and from which on they are old ones; none while some have still to be.
    done: Option<(Block, usize)>,
}

impl Painted {
    /// Paints what has changed since, so much at a time, with the first cell at a place. False if there is more.
    #[inline(never)]
    fn paint(&mut self, context: &CanvasRenderingContext2d, cells: &Cells, (left, top): (f64, f64)) -> bool {
        let all = 0..cells.pods.len().max(self.looks.len());
        let places = match &self.done {
            Some((done, old)) if *old == cells.old => cells.pods.changed_since(done),
            _ => vec![all.clone()],
        };
        self.looks.resize(all.end, 0);
        let mut changed: Vec<(usize, Look)> = Vec::new();
        'all: for places in places {
            let looks = cells.pods.states_of(places.clone()).map(Some).chain(std::iter::repeat(None));
            for (at, state) in places.zip(looks) {
                let dim = if at >= cells.old && state == Some(PodState::Ready) { DIM } else { 0 };
                let look = state.map_or(0, |state| state as Look + 1 + dim);
                if self.looks[at] != look {
                    changed.push((at, look));
                    if changed.len() == PART {
                        break 'all;
                    }
                }
            }
        }
        self.done = (changed.len() < PART).then(|| (cells.pods.clone(), cells.old));
        let place = |at: usize| (left + (at % cells.columns) as f64 * cells.pitch, top + (at / cells.columns) as f64 * cells.pitch);
        for (at, look) in &changed {
            if self.looks[*at] != 0 {
                let (x, y) = place(*at);
                context.clear_rect(x, y, cells.pitch, cells.pitch);
            }
            self.looks[*at] = *look;
        }
        if self.done.is_some() {
            self.looks.truncate(cells.pods.len());
        }
        for state in PodState::ALL {
            for dim in [0, DIM] {
                let own = changed.iter().filter(|(_, look)| *look == state as Look + 1 + dim).map(|(at, _)| place(*at));
                if own.clone().next().is_some() {
                    context.set_global_alpha(if dim > 0 { OLD } else { 1.0 });
                    draw(context, state, cells.side, own);
                }
            }
        }
        context.set_global_alpha(1.0);
        self.done.is_some()
    }
}

/// A canvas in at least a size: it grows in steps. True if it is another one, with nothing on it.
fn fit(canvas: &HtmlCanvasElement, context: &CanvasRenderingContext2d, size: &mut (f64, f64), (w, h): (f64, f64), fresh: bool) -> bool {
    if !fresh && w <= size.0 && h <= size.1 && h + 5.0 * STEP > size.1 {
        return false;
    }
    let scale = dom::window().device_pixel_ratio().max(1.0);
    *size = (w, (h / STEP).ceil().max(1.0) * STEP);
    canvas.set_width((size.0 * scale) as u32);
    canvas.set_height((size.1 * scale) as u32);
    let _ = canvas.style().set_property("width", &format!("{}px", size.0));
    let _ = canvas.style().set_property("height", &format!("{}px", size.1));
    let _ = context.scale(scale, scale);
    true
}

fn pen(node: &NodeRef) -> Option<(HtmlCanvasElement, CanvasRenderingContext2d)> {
    let canvas = node.cast::<HtmlCanvasElement>()?;
    let context = canvas.get_context("2d").ok().flatten()?.dyn_into::<CanvasRenderingContext2d>().ok()?;
    Some((canvas, context))
}

/// The canvas of one shape, and what is on it.
pub struct CellsView {
    node: NodeRef,
    painted: Painted,
    size: (f64, f64),
    more: Option<Timeout>,
}

impl Component for CellsView {
    type Message = ();
    type Properties = CellsProps;

    fn create(_: &Context<Self>) -> Self {
        CellsView { node: NodeRef::default(), painted: Painted::default(), size: (0.0, 0.0), more: None }
    }

    fn changed(&mut self, ctx: &Context<Self>, old: &CellsProps) -> bool {
        let form = |of: &CellsProps| (of.cells.columns, of.cells.side.to_bits(), of.cells.pitch.to_bits(), of.dark);
        if form(old) != form(ctx.props()) {
            self.size = (0.0, 0.0);
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
        let cells = &ctx.props().cells;
        let (x, y) = cells.at;
        html! {
            <>
                <div class="counts">{ for cells.pods.counts().iter().map(|(state, n)| html! { <span><i class={swatch(*state, cells.old == 0)} /><b>{ crate::app::format::count(*n) }</b>{ " " }{ state.word() }</span> }) }</div>
                <canvas ref={self.node.clone()} style={format!("left:{x}px;top:{y}px")} aria-hidden="true" />
                { ring(cells) }
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
    fn paint(&mut self, ctx: &Context<Self>) {
        let Some((canvas, context)) = pen(&self.node) else { return };
        let cells = &ctx.props().cells;
        let rows = cells.pods.len().div_ceil(cells.columns.max(1)).max(1);
        let size = (cells.columns as f64 * cells.pitch, rows as f64 * cells.pitch);
        let fresh = self.size.0 != size.0;
        if fit(&canvas, &context, &mut self.size, size, fresh) {
            self.painted = Painted::default();
        }
        if !self.painted.paint(&context, cells, (0.0, 0.0)) {
            let link = ctx.link().clone();
            self.more = Some(Timeout::new(0, move || link.send_message(())));
        }
    }
}

/// A ring about the chosen cell.
pub fn ring(cells: &Cells) -> Html {
    let (x, y) = cells.at;
    html! {
        if let Some(at) = cells.ring {
            <i class="ring-of" style={format!("translate:{}px {}px;width:{2}px;height:{2}px", x + (at % cells.columns) as f64 * cells.pitch, y + (at / cells.columns) as f64 * cells.pitch, cells.side)} />
        }
    }
}

/// Cells of many shapes on one canvas: a thousand small ones would each be a layer of the browser's.
#[derive(Properties, PartialEq)]
pub struct SheetProps {
    /// Where it begins.
    pub at: (f64, f64),
    /// Shapes whose cells are on it.
    pub items: Vec<Rc<Item>>,
    /// The theme.
    pub dark: bool,
}

/// A canvas for the cells of many shapes, and what is on it.
pub struct Sheet {
    node: NodeRef,
    /// Of each shape, in their order.
    painted: Vec<Painted>,
    size: (f64, f64),
    more: Option<Timeout>,
}

impl Component for Sheet {
    type Message = ();
    type Properties = SheetProps;

    fn create(_: &Context<Self>) -> Self {
        Sheet { node: NodeRef::default(), painted: Vec::new(), size: (0.0, 0.0), more: None }
    }

    fn changed(&mut self, ctx: &Context<Self>, old: &SheetProps) -> bool {
        let new = ctx.props();
        let same = |(a, b): (&Rc<Item>, &Rc<Item>)| {
            Rc::ptr_eq(a, b) || (&a.id.uid, a.rect.x, a.rect.y, a.rect.w) == (&b.id.uid, b.rect.x, b.rect.y, b.rect.w)
        };
        if (old.dark, old.at) != (new.dark, new.at) || old.items.len() != new.items.len() || !old.items.iter().zip(&new.items).all(same) {
            self.size = (0.0, 0.0);
        }
        old.at != new.at || self.paint(ctx)
    }

    /// The next part.
    fn update(&mut self, ctx: &Context<Self>, (): ()) -> bool {
        self.more = None;
        self.paint(ctx)
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        dom::renders("Sheet");
        let (x, y) = ctx.props().at;
        html! { <canvas ref={self.node.clone()} class="paper" style={format!("left:{x}px;top:{y}px")} aria-hidden="true" /> }
    }

    fn rendered(&mut self, ctx: &Context<Self>, _: bool) {
        self.paint(ctx);
    }
}

impl Sheet {
    /// Paints; nothing of it is drawn anew.
    fn paint(&mut self, ctx: &Context<Self>) -> bool {
        let Some((canvas, context)) = pen(&self.node).filter(|_| self.more.is_none()) else { return false };
        let SheetProps { at, items, .. } = ctx.props();
        let ends = |(w, h): (f64, f64), item: &Rc<Item>| (w.max(item.rect.right() - at.0), h.max(item.rect.bottom() - at.1));
        let fresh = self.size.0 == 0.0;
        if fit(&canvas, &context, &mut self.size, items.iter().fold((1.0, 1.0), ends), fresh) {
            self.painted.clear();
        }
        self.painted.resize_with(items.len(), Painted::default);
        for (item, painted) in items.iter().zip(&mut self.painted) {
            let Body::Cells(cells) = &item.body else { continue };
            if !painted.paint(&context, cells, (item.rect.x - at.0, item.rect.y - at.1)) {
                let link = ctx.link().clone();
                self.more = Some(Timeout::new(0, move || link.send_message(())));
                break;
            }
        }
        false
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
