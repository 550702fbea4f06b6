//! Pictures as SVG: the same `Scene` that the page draws, with its colours and fonts written out. Works natively and in the page.
//!
//! Characters are measured by averages, since no font is available: a text may be truncated a character earlier or later than on the page.

mod cards;
mod cells;
mod chart;
mod controllers;
pub mod film;
mod loops;
pub mod paper;
pub mod style;

use self::paper::{PLAIN, Paper, SMALL, escape, outline, ui};
use crate::shape::{CardBody, Edge, Item, Label, Look, Port, Rect, Scene};
use crate::variant;
use i18n::format::Px;
use i18n::{Catalogue, Message};
use std::fmt::Write as _;
use std::rc::Rc;
pub use style::Style;

/// Styles of the lines and the chart; `$name` is a token.
const SHEET: &str = "text{dominant-baseline:central;font-family:$font-ui}.m{font-family:$font-mono;letter-spacing:-.02em}\
.edge{fill:none;stroke:$edge;stroke-width:1.5}.on{stroke:$accent;stroke-width:2}.sel{stroke:$k-network;stroke-dasharray:2 4;stroke-linecap:round}\
.wait{stroke:$k-storage;stroke-dasharray:4 4}.fade{opacity:.45;stroke-dasharray:3 4}.bound{stroke:$k-storage}\
.provides{stroke-dasharray:2 4;stroke-linecap:round}.watch{stroke-dasharray:2 4}.writes{stroke-width:2.25;stroke-linecap:round;stroke-linejoin:round}\
.funnel{fill:$accent-soft;stroke:none;opacity:.7}.derives{stroke-width:1.25}.travels{stroke:$k-network;stroke-width:2;stroke-linejoin:round}\
.fails{stroke:$st-failed;stroke-width:2;stroke-dasharray:5 4}";

/// Picture in parts, so that a large one is written and painted without blocking. Each part can stand alone between head and tail.
pub struct Pieces {
    scene: Rc<Scene>,
    selected: String,
    paper: Paper,
    next: usize,
}

/// Items per part.
pub const ITEMS_PER_PIECE: usize = 24;

/// End of a picture.
pub const TAIL: &str = "</svg>";

impl Pieces {
    /// Starts a picture; the item with the uid `selected` is drawn as selected.
    pub fn new(scene: Rc<Scene>, selected: &str, style: Style, words: Rc<Catalogue>) -> Self {
        Pieces {
            scene,
            selected: selected.to_string(),
            paper: Paper::new(style, words),
            next: 0,
        }
    }

    /// Returns the head of the document; it is complete once the parts are written.
    pub fn head(&self) -> String {
        let Scene {
            width,
            height,
            summary,
            ..
        } = &*self.scene;
        head(&self.paper, (*width, *height), &self.paper.say(summary), "")
    }
}

/// Returns the head of a document, with the icons used and a style sheet.
fn head(paper: &Paper, (width, height): (f64, f64), title: &str, sheet: &str) -> String {
    let (w, h, style) = (Px(width), Px(height), &paper.style);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"img\"><title>"
    );
    escape(title, &mut out);
    let symbols: String = paper.icons.iter().map(|name| style.symbol(name)).collect();
    let _ = write!(
        out,
        "</title><style>{}{}{sheet}</style><defs>{symbols}</defs>",
        style.fill(SHEET),
        style.fill(chart::SHEET)
    );
    out
}

impl Iterator for Pieces {
    type Item = String;

    /// Returns the next part: everything under the items, some items, or everything over them.
    fn next(&mut self) -> Option<String> {
        let (scene, paper, at) = (self.scene.clone(), &mut self.paper, self.next);
        let count = scene.items.len().div_ceil(ITEMS_PER_PIECE);
        match at {
            0 => under(paper, &scene),
            _ if at <= count => {
                let items = scene
                    .items
                    .iter()
                    .skip((at - 1) * ITEMS_PER_PIECE)
                    .take(ITEMS_PER_PIECE);
                items.for_each(|item| draw(paper, item, item.id.uid == self.selected));
            }
            _ if at == count + 1 => over(paper, &scene),
            _ => return None,
        }
        self.next += 1;
        Some(paper.take())
    }
}

/// Writes a picture as one text.
pub fn picture(scene: Rc<Scene>, selected: &str, style: Style, words: Rc<Catalogue>) -> String {
    let mut pieces = Pieces::new(scene, selected, style, words);
    let parts: String = pieces.by_ref().collect();
    pieces.head() + &parts + TAIL
}

/// Draws bands and lines.
fn under(paper: &mut Paper, scene: &Scene) {
    paper.rect((0.0, 0.0, scene.width, scene.height), 0.0, "bg", None);
    scene.bands.iter().for_each(|rect| band(paper, *rect));
    scene.edges.iter().for_each(|edge| line(paper, edge));
}

fn band(paper: &mut Paper, band: Rect) {
    let Rect { x, y, w, h } = band;
    match variant::divides(band) {
        true => paper.rule(x, y, w),
        false => paper.rect(
            (x, y, w, h),
            16.0,
            "accent-soft",
            Some(("accent-line", 1.0, "")),
        ),
    }
}

fn line(paper: &mut Paper, edge: &Edge) {
    paper.raw(&format!(
        "<path class=\"{}\" d=\"{}\"/>",
        edge.line.class(),
        edge.d
    ));
}

/// Draws labels, then the ends of lines.
fn over(paper: &mut Paper, scene: &Scene) {
    scene.labels.iter().for_each(|words| label(paper, words));
    scene.ports.iter().for_each(|end| port(paper, end));
}

fn port(
    paper: &mut Paper,
    Port {
        x,
        y,
        full,
        network,
    }: &Port,
) {
    let (ink, r) = if *network {
        ("k-network", 4.5)
    } else {
        ("k-storage", 4.0)
    };
    let (fill, line, wide) = if *full {
        (ink, "surface", 2.0)
    } else {
        ("surface", ink, 1.5)
    };
    let (fill, line) = (paper.colour(fill), paper.colour(line));
    paper.raw(&format!(
        "<circle cx=\"{}\" cy=\"{}\" r=\"{r}\" fill=\"{fill}\" stroke=\"{line}\" stroke-width=\"{wide}\"/>",
        Px(*x),
        Px(*y)
    ));
}

fn label(paper: &mut Paper, label: &Label) {
    let text = paper.say(&label.text);
    let has = |class: &str| label.class.split(' ').any(|own| own == class);
    let font = match label.class {
        _ if has("waits") => ui(11.0, "k-storage").medium(),
        _ if has("writes") => ui(11.0, "accent-text").medium(),
        _ if has("fails") => ui(11.0, "st-failed-text").medium(),
        _ if has("stop") => ui(11.0, "k-network").medium(),
        _ if has("hint") => ui(11.0, "st-notready-text").medium(),
        _ if has("under") => ui(11.0, "st-notready-text"),
        _ if has("rowname") => ui(12.0, "text-2").medium(),
        _ if has("bandname") => ui(13.0, "text-2").medium(),
        _ if has("kept") => ui(11.0, "text-2"),
        _ => SMALL,
    };
    let tall = if has("bandname") || has("stop") {
        20.0
    } else {
        16.0
    };
    let ground = if has("inband") { "accent-soft" } else { "bg" };
    match label.centred || has("onedge") || has("stop") || has("inband") || has("kept") {
        true => paper.text_over(
            label.x,
            label.y + tall / 2.0,
            label.centred,
            font,
            &text,
            ground,
        ),
        false => paper.text(label.x, label.y + tall / 2.0, f64::INFINITY, font, &text),
    }
}

/// Draws an item at its position.
fn draw(paper: &mut Paper, item: &Item, chosen: bool) {
    let Rect { x, y, .. } = item.rect;
    let faint = match &item.body {
        CardBody::Pod { stale, .. } | CardBody::Tile { stale, .. } => *stale,
        CardBody::Controller { of, .. } => of.leaving,
        _ => false,
    };
    paper.at((x, y), if faint { 0.6 } else { 1.0 }, |paper| {
        content(paper, item, chosen)
    });
}

/// Returns true if a body is drawn on a plain card; the others have a shape of their own.
fn has_card(body: &CardBody) -> bool {
    match body {
        CardBody::Controller { .. }
        | CardBody::Service { .. }
        | CardBody::Volume { .. }
        | CardBody::Class { .. }
        | CardBody::Node(_) => true,
        CardBody::Store { .. }
        | CardBody::Pass(_)
        | CardBody::Terminal { .. }
        | CardBody::Table(_)
        | CardBody::Chart(_)
        | CardBody::Totals { .. } => true,
        CardBody::Cells(of) => !of.bare(),
        _ => false,
    }
}

fn content(paper: &mut Paper, item: &Item, chosen: bool) {
    if has_card(&item.body) {
        paper.rect(
            (0.0, 0.0, item.rect.w, item.rect.h),
            12.0,
            "surface",
            Some(outline(chosen, PLAIN)),
        );
    }
    match &item.body {
        CardBody::Controller {
            of,
            look: Look::Wide,
        } => controllers::wide(paper, item, of),
        CardBody::Controller {
            of,
            look: Look::Low,
        } => controllers::brief(paper, item, of),
        CardBody::Controller {
            of,
            look: Look::Stacked(budget),
        } => controllers::stacked(paper, item, of, budget),
        CardBody::Controller {
            of,
            look: Look::Tall,
        } => controllers::tall(paper, item, of),
        CardBody::Service { form } => cards::service(paper, item, form),
        CardBody::Pod { .. } => cards::pod(paper, item, chosen),
        CardBody::Tile { .. } => cards::tile(paper, item, chosen),
        CardBody::Gone { name } => cards::gone(paper, item, name),
        CardBody::Cells(of) => cells::draw(paper, item, of),
        CardBody::Claim { fact, .. } => cards::claim(paper, item, fact, chosen),
        CardBody::Cylinder { fact, data } => cards::cylinder(paper, item, fact, data, chosen),
        CardBody::Volume { fact } => cards::volume(paper, item, fact),
        CardBody::Class { reclaim } => cards::class(paper, item, reclaim),
        CardBody::Node(of) => cards::node(paper, item, of),
        CardBody::Tray {
            title,
            aside,
            head,
            rows,
        } => cards::tray(paper, item, [title, aside, head], rows),
        CardBody::Totals { numbers, parts } => cells::totals(paper, item, numbers, parts),
        CardBody::Stored { fact, missing } => cards::stored(paper, item, fact, *missing, chosen),
        CardBody::Heading { text, .. } | CardBody::Note(text) => note(paper, item, text),
        CardBody::Store { version } => loops::store(paper, item, *version),
        CardBody::Loop { of, above, .. } => loops::draw(paper, item, of, *above),
        CardBody::Pass(pass) => loops::pass(paper, item, pass),
        CardBody::Terminal {
            state,
            title,
            lines,
        } => cards::terminal(paper, item, *state, title, lines),
        CardBody::Table(of) => cards::table(paper, item, of),
        CardBody::Chart(of) => chart::draw(paper, item, of),
    }
}

fn note(paper: &mut Paper, item: &Item, text: &Message) {
    let text = paper.say(text);
    paper.text(12.0, item.rect.h / 2.0, item.rect.w - 12.0, SMALL, &text);
}
