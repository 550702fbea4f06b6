//! Pods as cells on a canvas, with their counts above. Unchanged cells are not repainted, and large changes are
//! painted in parts, so that no task is long.

use super::dom;
use gloo_timers::callback::Timeout;
use projection::model::{PodBlock, PodState};
use std::rc::Rc;
use views::draw::cells::{cell_colour, cell_shape};
use views::shape::{CardBody, Cells, Item, OLD_REVISION_ALPHA};
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};
use yew::prelude::*;

/// Cells painted per task.
const CELLS_PER_TASK: usize = 4_000;
/// Step in which a canvas grows, in pixels, since resizing clears it.
const CANVAS_STEP_PX: f64 = 128.0;

/// Classes of the swatch in a legend.
pub fn swatch(state: PodState, old: bool) -> Classes {
    classes!(
        "sw",
        state.class(),
        (old && state == PodState::Ready).then_some("old")
    )
}

/// Appearance of a painted cell: 0 for none, or its state plus one, with `DIM` if it is ready and of an older revision.
type Look = u8;
const DIM: Look = 8;

/// Cells painted on a canvas.
#[derive(Default)]
struct Painted {
    looks: Vec<Look>,
    /// Pods as painted, and the index of the first old one; `None` while some are still to be painted.
    done: Option<(PodBlock, usize)>,
}

impl Painted {
    /// Paints the changes, as far as the budget allows, with the first cell at a position. Returns false if there is more.
    fn paint(
        &mut self,
        context: &CanvasRenderingContext2d,
        cells: &Cells,
        (left, top): (f64, f64),
        room: &mut usize,
    ) -> bool {
        let all = 0..cells.pods.len().max(self.looks.len());
        let places = match &self.done {
            Some((done, old)) if *old == cells.old => cells.pods.changed_since(done),
            _ => vec![all.clone()],
        };
        self.looks.resize(all.end, 0);
        let (mut changed, mut whole) = (Vec::<(usize, Look)>::new(), true);
        'all: for places in places {
            let looks = cells
                .pods
                .states_of(places.clone())
                .map(Some)
                .chain(std::iter::repeat(None));
            for (at, state) in places.zip(looks) {
                let dim = if at >= cells.old && state == Some(PodState::Ready) {
                    DIM
                } else {
                    0
                };
                let look = state.map_or(0, |state| state as Look + 1 + dim);
                if self.looks[at] != look {
                    if changed.len() == *room {
                        whole = false;
                        break 'all;
                    }
                    changed.push((at, look));
                }
            }
        }
        *room -= changed.len();
        self.done = whole.then(|| (cells.pods.clone(), cells.old));
        let place = |at: usize| {
            let (x, y) = cells.offset(at);
            (left + x, top + y)
        };
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
                let own = changed
                    .iter()
                    .filter(|(_, look)| *look == state as Look + 1 + dim)
                    .map(|(at, _)| place(*at));
                if own.clone().next().is_some() {
                    context.set_global_alpha(if dim > 0 { OLD_REVISION_ALPHA } else { 1.0 });
                    draw(context, state, cells.side, own);
                }
            }
        }
        context.set_global_alpha(1.0);
        self.done.is_some()
    }
}

/// Grows a canvas to at least a size. Returns true if it was resized, and is thus empty.
fn fit(
    canvas: &HtmlCanvasElement,
    context: &CanvasRenderingContext2d,
    size: &mut (f64, f64),
    (w, h): (f64, f64),
    fresh: bool,
) -> bool {
    if !fresh && w <= size.0 && h <= size.1 && h + 5.0 * CANVAS_STEP_PX > size.1 {
        return false;
    }
    let scale = dom::window().device_pixel_ratio().max(1.0);
    *size = (w, (h / CANVAS_STEP_PX).ceil().max(1.0) * CANVAS_STEP_PX);
    canvas.set_width((size.0 * scale) as u32);
    canvas.set_height((size.1 * scale) as u32);
    let _ = canvas
        .style()
        .set_property("width", &format!("{}px", size.0));
    let _ = canvas
        .style()
        .set_property("height", &format!("{}px", size.1));
    let _ = context.scale(scale, scale);
    true
}

fn pen(node: &NodeRef) -> Option<(HtmlCanvasElement, CanvasRenderingContext2d)> {
    let canvas = node.cast::<HtmlCanvasElement>()?;
    let context = canvas
        .get_context("2d")
        .ok()
        .flatten()?
        .dyn_into::<CanvasRenderingContext2d>()
        .ok()?;
    Some((canvas, context))
}

/// Canvas for the cells of one shape, or of many: a thousand small canvases would each be a layer of the browser.
#[derive(Properties, PartialEq)]
pub struct SheetProps {
    /// Position in its parent.
    pub at: (f64, f64),
    /// Origin in the scene.
    pub origin: (f64, f64),
    /// Shapes whose cells are on it.
    pub items: Vec<Rc<Item>>,
    /// Theme.
    pub dark: bool,
}

/// Canvas for cells, and what is painted on it.
pub struct Sheet {
    node: NodeRef,
    /// Painted cells of each shape, in the order of the shapes.
    painted: Vec<Painted>,
    size: (f64, f64),
    more: Option<Timeout>,
}

/// Position of a shape's cells on the sheet, their count, and their metrics.
fn form(item: &Item, origin: (f64, f64)) -> Option<((f64, f64), usize, f64, f64)> {
    let CardBody::Cells(cells) = &item.body else {
        return None;
    };
    Some((
        (item.rect.x - origin.0, item.rect.y - origin.1),
        cells.columns,
        cells.side,
        cells.pitch,
    ))
}

impl Component for Sheet {
    type Message = ();
    type Properties = SheetProps;

    fn create(_: &Context<Self>) -> Self {
        Sheet {
            node: NodeRef::default(),
            painted: Vec::new(),
            size: (0.0, 0.0),
            more: None,
        }
    }

    fn changed(&mut self, ctx: &Context<Self>, old: &SheetProps) -> bool {
        let new = ctx.props();
        let same = |(a, b): (&Rc<Item>, &Rc<Item>)| {
            old.origin == new.origin && Rc::ptr_eq(a, b)
                || (&a.id.uid, form(a, old.origin)) == (&b.id.uid, form(b, new.origin))
        };
        if old.dark != new.dark
            || old.items.len() != new.items.len()
            || !old.items.iter().zip(&new.items).all(same)
        {
            self.size = (0.0, 0.0);
        }
        old.at != new.at || self.paint(ctx)
    }

    /// Paints the next part.
    fn update(&mut self, ctx: &Context<Self>, (): ()) -> bool {
        self.more = None;
        self.paint(ctx)
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        dom::renders("Sheet");
        let (x, y) = ctx.props().at;
        html! { <div class="paper" style={format!("left:{x}px;top:{y}px")} aria-hidden="true"><canvas ref={self.node.clone()} /></div> }
    }

    fn rendered(&mut self, ctx: &Context<Self>, _: bool) {
        self.paint(ctx);
    }
}

impl Sheet {
    /// Paints without rendering the component again.
    fn paint(&mut self, ctx: &Context<Self>) -> bool {
        let Some((canvas, context)) = pen(&self.node).filter(|_| self.more.is_none()) else {
            return false;
        };
        let SheetProps { origin, items, .. } = ctx.props();
        let ends = |(w, h): (f64, f64), item: &Rc<Item>| match (&item.body, form(item, *origin)) {
            (CardBody::Cells(cells), Some(((x, y), columns, _, pitch))) => (
                w.max(x + columns as f64 * pitch),
                h.max(y + cells.pods.len().div_ceil(columns.max(1)) as f64 * pitch),
            ),
            _ => (w, h),
        };
        let fresh = self.size.0 == 0.0;
        if fit(
            &canvas,
            &context,
            &mut self.size,
            items.iter().fold((1.0, 1.0), ends),
            fresh,
        ) {
            self.painted.clear();
        }
        self.painted.resize_with(items.len(), Painted::default);
        let mut room = CELLS_PER_TASK;
        for (item, painted) in items.iter().zip(&mut self.painted) {
            let CardBody::Cells(cells) = &item.body else {
                continue;
            };
            if !painted.paint(
                &context,
                cells,
                (item.rect.x - origin.0, item.rect.y - origin.1),
                &mut room,
            ) {
                let link = ctx.link().clone();
                self.more = Some(Timeout::new(0, move || link.send_message(())));
                break;
            }
        }
        false
    }
}

/// Paints the cells of a state as one path.
fn draw(
    context: &CanvasRenderingContext2d,
    state: PodState,
    side: f64,
    cells: impl Iterator<Item = (f64, f64)> + Clone,
) {
    let shape = cell_shape(state, side);
    let token = |name: &str| dom::token(&format!("--{name}"));
    context.begin_path();
    for (x, y) in cells.clone() {
        for part in &shape.fills {
            context.rect(x + part.x, y + part.y, part.w, part.h);
        }
    }
    context.set_fill_style_str(&token(cell_colour(state)));
    context.fill();
    if shape.lines.is_empty() {
        return;
    }
    context.begin_path();
    for (x, y) in cells {
        for [from, to] in &shape.lines {
            context.move_to(x + from.0, y + from.1);
            context.line_to(x + to.0, y + to.1);
        }
    }
    context.set_stroke_style_str(&token(shape.line));
    context.stroke();
}
