//! Builder of primitives: the words are those of a catalogue, and texts are measured.

use super::metrics::TextMetrics;
use super::primitive::{
    Anchor, Block, Fill, Font, Group, Icon, Path, Pill, Primitive, Stroke, TextLine, TextRun,
    Token, ui,
};
use crate::shape::Rect;
use i18n::{Catalogue, Message};
use std::rc::Rc;

/// Plain outline of a card.
pub const PLAIN: Stroke = Stroke::solid("border", 1.0);

/// Returns the outline of an item that may be selected.
pub fn outline(selected: bool, plain: Stroke) -> Stroke {
    if selected {
        Stroke::solid("accent", 2.0)
    } else {
        plain
    }
}

/// Language and fonts of a picture.
#[derive(Clone)]
pub struct TextSetting {
    /// Words of the messages.
    pub words: Rc<Catalogue>,
    /// Widths of texts.
    pub metrics: Rc<dyn TextMetrics>,
}

impl TextSetting {
    /// Returns the setting where no browser measures the text.
    pub fn built_in(words: Rc<Catalogue>) -> TextSetting {
        TextSetting {
            words,
            metrics: Rc::new(super::metrics::BuiltIn),
        }
    }
}

/// Primitives being built. Positions are relative to the item.
pub struct Painter<'a> {
    text: &'a TextSetting,
    parts: Vec<Primitive>,
}

impl<'a> Painter<'a> {
    pub(crate) fn new(text: &'a TextSetting) -> Self {
        Painter {
            text,
            parts: Vec::new(),
        }
    }

    pub(crate) fn finish(self) -> Vec<Primitive> {
        self.parts
    }

    /// Language and fonts.
    pub(crate) fn setting(&self) -> &'a TextSetting {
        self.text
    }

    pub(crate) fn say(&self, message: &Message) -> String {
        message.say(&self.text.words)
    }

    /// Returns the width of a text.
    pub(crate) fn width(&self, font: Font, text: &str) -> f64 {
        self.text.metrics.width(font, text)
    }

    /// Returns the number of characters of a monospaced font that fit into a room.
    pub(crate) fn letters(&self, font: Font, room: f64) -> usize {
        (room.max(0.0) / self.width(font, "0")) as usize
    }

    /// Draws in a translated group.
    pub(crate) fn at(&mut self, (x, y): (f64, f64), opacity: f64, draw: impl FnOnce(&mut Self)) {
        let group = Group {
            x,
            y,
            opacity,
            ..Group::default()
        };
        self.group(group, draw);
    }

    /// Draws into a group of the size that is returned.
    pub(crate) fn sized(
        &mut self,
        class: &'static str,
        (x, y): (f64, f64),
        draw: impl FnOnce(&mut Self) -> (f64, f64),
    ) -> (f64, f64) {
        let (size, parts) = self.nested(draw);
        self.put(Primitive::Group(Group {
            x,
            y,
            size,
            class,
            parts,
            ..Group::default()
        }));
        size
    }

    /// Breaks a text into lines of a width, at spaces.
    pub(crate) fn wrap(&self, font: Font, text: &str, room: f64) -> Vec<String> {
        // What a text is indented by stays with its first word.
        let indent = text.len() - text.trim_start().len();
        let first = text[indent..]
            .find(' ')
            .map_or(text.len(), |end| indent + end + 1);
        let (first, rest) = text.split_at(first);
        let mut lines = vec![first.to_owned()];
        for word in rest.split_inclusive(' ') {
            match lines.last_mut() {
                Some(line) if self.width(font, &format!("{line}{}", word.trim_end())) <= room => {
                    line.push_str(word)
                }
                _ => lines.push(word.to_owned()),
            }
        }
        lines
    }

    /// Draws into a group.
    pub(crate) fn group(&mut self, group: Group, draw: impl FnOnce(&mut Self)) {
        let ((), parts) = self.nested(draw);
        self.put(Primitive::Group(Group { parts, ..group }));
    }

    /// Returns what is drawn apart from the rest.
    fn nested<R>(&mut self, draw: impl FnOnce(&mut Self) -> R) -> (R, Vec<Primitive>) {
        let outer = std::mem::take(&mut self.parts);
        let result = draw(self);
        (result, std::mem::replace(&mut self.parts, outer))
    }

    /// Draws a rectangle.
    pub(crate) fn rect(&mut self, rect: Rect, radius: f64, fill: Token, stroke: Option<Stroke>) {
        self.block("", rect, radius, fill, stroke);
    }

    /// Draws a rectangle with a class in the page.
    pub(crate) fn block(
        &mut self,
        class: &'static str,
        rect: Rect,
        radius: f64,
        fill: Token,
        stroke: Option<Stroke>,
    ) {
        self.parts.push(Primitive::Block(Block {
            rect,
            radius,
            fill,
            stroke,
            class,
        }));
    }

    /// Draws a path, filled and outlined.
    pub(crate) fn path(&mut self, d: impl Into<String>, fill: Token, stroke: Option<Stroke>) {
        self.put(Primitive::Path(Path {
            d: d.into(),
            fill: Fill::solid(fill),
            stroke,
            class: String::new(),
        }));
    }

    /// Draws a horizontal line of one pixel.
    pub(crate) fn rule(&mut self, x: f64, y: f64, w: f64) {
        self.rect(Rect::new(x, y, w, 1.0), 0.0, "border", None);
    }

    /// Draws a text vertically centred at `y`, cut at the end of its room.
    pub(crate) fn text(&mut self, x: f64, y: f64, room: f64, font: Font, text: &str) {
        self.run(x, y, room, &[(text, font)]);
    }

    /// Draws consecutive texts in one room; returns their width.
    pub(crate) fn run(&mut self, x: f64, y: f64, room: f64, parts: &[(&str, Font)]) -> f64 {
        let wide: f64 = parts
            .iter()
            .map(|(text, font)| self.width(*font, text))
            .sum();
        self.line((x, y, room), Anchor::Start, parts);
        wide.min(room.max(0.0))
    }

    /// Draws a text that ends at a position.
    pub(crate) fn text_end(&mut self, right: f64, y: f64, room: f64, font: Font, text: &str) {
        self.line((right, y, room), Anchor::End, &[(text, font)]);
    }

    /// Draws a text centred at a position.
    pub(crate) fn text_mid(&mut self, x: f64, y: f64, room: f64, font: Font, text: &str) {
        self.line((x, y, room), Anchor::Middle, &[(text, font)]);
    }

    fn line(&mut self, (x, y, room): (f64, f64, f64), anchor: Anchor, parts: &[(&str, Font)]) {
        let runs: Vec<TextRun> = parts
            .iter()
            .filter(|(text, _)| !text.is_empty())
            .map(|(text, font)| TextRun {
                text: (*text).to_owned(),
                font: *font,
                class: "",
            })
            .fold(Vec::new(), join);
        if runs.iter().all(|run| run.text.trim().is_empty()) {
            return;
        }
        self.put(Primitive::Line(TextLine::new(x, y, room, anchor, runs)));
    }

    /// Adds a primitive.
    pub(crate) fn put(&mut self, part: Primitive) {
        self.parts.push(part);
    }

    /// Draws an icon of the sprite.
    pub(crate) fn icon(&mut self, name: &'static str, x: f64, y: f64, size: f64, colour: Token) {
        self.parts.push(Primitive::Icon(Icon {
            name,
            x,
            y,
            size,
            colour,
        }));
    }

    /// Draws the tile of a kind.
    pub(crate) fn tile(&mut self, kind: &str, x: f64, y: f64, size: f64) {
        let (icon, family) = crate::icons::kind_icon(kind);
        self.tile_of(icon, family, x, y, size);
    }

    /// Draws a tile with an icon, in the colour of a family of kinds.
    pub(crate) fn tile_of(&mut self, icon: &'static str, family: &str, x: f64, y: f64, size: f64) {
        let (ink, soft) = match family {
            "network" => ("k-network", "k-network-soft"),
            "storage" => ("k-storage", "k-storage-soft"),
            "cluster" => ("k-cluster", "k-cluster-soft"),
            _ => ("k-workload", "k-workload-soft"),
        };
        self.rect(Rect::new(x, y, size, size), 6.0, soft, None);
        let glyph = if size < 20.0 { 14.0 } else { 16.0 };
        let inset = (size - glyph) / 2.0;
        self.icon(icon, x + inset, y + inset, glyph, ink);
    }

    /// Draws a pill that ends at a position, centred vertically; returns its width with margin.
    pub(crate) fn pill_end(
        &mut self,
        right: f64,
        y: f64,
        class: &'static str,
        icon: Option<&'static str>,
        text: &str,
    ) -> f64 {
        if text.is_empty() {
            return 0.0;
        }
        let width = self.pill_width(icon, text);
        self.parts.push(Primitive::Pill(Pill {
            right,
            y,
            width,
            class,
            icon,
            text: text.to_owned(),
        }));
        width + 10.0
    }

    /// Returns the width of a pill.
    pub(crate) fn pill_width(&self, icon: Option<&'static str>, text: &str) -> f64 {
        let glyph = if icon.is_some() { 16.0 } else { 0.0 };
        self.width(PILL, text) + 16.0 + glyph
    }
}

/// Adds a text to a line, to its last run if that has the font.
fn join(mut runs: Vec<TextRun>, run: TextRun) -> Vec<TextRun> {
    match runs.last_mut() {
        Some(last) if last.font == run.font => last.text.push_str(&run.text),
        _ => runs.push(run),
    }
    runs
}

/// Font of the words of a pill; its class gives the colour.
pub const PILL: Font = ui(11.0, "").medium();
