//! Pictures as SVG: the primitives that the page draws, with colours and fonts written out. Works natively and in the page.

pub mod film;
pub mod style;
mod writer;

use self::writer::{Writer, escape};
use crate::draw;
use crate::draw::painter::TextSetting;
use crate::draw::primitive::{Block, Group};
use crate::shape::{Item, Rect, Scene};
use i18n::format::Px;
use std::fmt::Write as _;
use std::rc::Rc;
pub use style::Style;

/// Fonts; `$name` is a token. Times in a chart are not tightened.
const SHEET: &str = "text{dominant-baseline:central;font-family:$font-ui}.m{font-family:$font-mono;letter-spacing:-.02em}.chart .m{letter-spacing:0}";

/// Picture in parts, so that a large one is written and painted without blocking. Each part can stand alone between head and tail.
pub struct Pieces {
    scene: Rc<Scene>,
    selected: String,
    writer: Writer,
    next: usize,
}

/// Items per part.
pub const ITEMS_PER_PIECE: usize = 24;

/// End of a picture.
pub const TAIL: &str = "</svg>";

impl Pieces {
    /// Starts a picture; the item with the uid `selected` is drawn as selected.
    pub fn new(scene: Rc<Scene>, selected: &str, style: Style, text: TextSetting) -> Self {
        Pieces {
            scene,
            selected: selected.to_string(),
            writer: Writer::new(style, text),
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
        head(
            &self.writer,
            (*width, *height),
            &self.writer.say(summary),
            "",
        )
    }
}

/// Returns the head of a document, with the icons used and a style sheet.
fn head(writer: &Writer, (width, height): (f64, f64), title: &str, sheet: &str) -> String {
    let (w, h, style) = (Px(width), Px(height), &writer.style);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"img\"><title>"
    );
    escape(title, &mut out);
    let symbols: String = writer.icons.iter().map(|name| style.symbol(name)).collect();
    let _ = write!(
        out,
        "</title><style>{}{sheet}</style><defs>{symbols}</defs>",
        style.fill(SHEET)
    );
    out
}

impl Iterator for Pieces {
    type Item = String;

    /// Returns the next part: everything under the items, some items, or everything over them.
    fn next(&mut self) -> Option<String> {
        let (scene, writer, at) = (self.scene.clone(), &mut self.writer, self.next);
        let count = scene.items.len().div_ceil(ITEMS_PER_PIECE);
        match at {
            0 => under(writer, &scene),
            _ if at <= count => {
                let items = scene
                    .items
                    .iter()
                    .skip((at - 1) * ITEMS_PER_PIECE)
                    .take(ITEMS_PER_PIECE);
                items.for_each(|item| draw_item(writer, item, item.id.uid == self.selected));
            }
            _ if at == count + 1 => over(writer, &scene),
            _ => return None,
        }
        self.next += 1;
        Some(writer.take())
    }
}

/// Writes a picture as one text.
pub fn picture(scene: Rc<Scene>, selected: &str, style: Style, text: TextSetting) -> String {
    let mut pieces = Pieces::new(scene, selected, style, text);
    let parts: String = pieces.by_ref().collect();
    pieces.head() + &parts + TAIL
}

/// Draws bands and edges.
fn under(writer: &mut Writer, scene: &Scene) {
    ground(writer, (scene.width, scene.height));
    for band in &scene.bands {
        writer.block(&draw::scene::band(*band));
    }
    for edge in &scene.edges {
        writer.path(&draw::scene::edge(edge));
    }
}

/// Writes the ground of a picture.
fn ground(writer: &mut Writer, (width, height): (f64, f64)) {
    writer.block(&Block {
        rect: Rect::new(0.0, 0.0, width, height),
        radius: 0.0,
        fill: "bg",
        stroke: None,
        class: "",
    });
}

/// Draws labels, then the ends of edges.
fn over(writer: &mut Writer, scene: &Scene) {
    for label in &scene.labels {
        let line = draw::scene::label(label, &writer.text);
        writer.line(&line);
    }
    for port in &scene.ports {
        writer.disc(&draw::scene::port(port));
    }
}

/// Writes an item at its position.
fn draw_item(writer: &mut Writer, item: &Item, selected: bool) {
    let mut parts = draw::ground(item, selected, &writer.text);
    parts.extend(draw::contents(item, &writer.text));
    parts.extend(draw::cells_of(item, &writer.text));
    writer.group(&Group {
        x: item.rect.x,
        y: item.rect.y,
        opacity: draw::opacity(item),
        parts,
        ..Group::default()
    });
}
