//! Drawing primitives of a saved picture: rectangles, clipped texts, icons, pills.

use super::style::Style;
use i18n::format::Px;
use i18n::{Catalogue, Message};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::rc::Rc;

/// Style of a text; the colour is a token's name.
#[derive(Clone, Copy)]
pub struct Font {
    size: f64,
    weight: u16,
    mono: bool,
    struck: bool,
    colour: &'static str,
}

/// Font of ordinary text.
pub const fn ui(size: f64, colour: &'static str) -> Font {
    Font {
        size,
        weight: 400,
        mono: false,
        struck: false,
        colour,
    }
}

/// Font of names, times and code.
pub(super) const fn mono(size: f64, colour: &'static str) -> Font {
    Font {
        mono: true,
        ..ui(size, colour)
    }
}

impl Font {
    pub(super) const fn medium(self) -> Font {
        Font {
            weight: 500,
            ..self
        }
    }
    pub(super) const fn semi(self) -> Font {
        Font {
            weight: 600,
            ..self
        }
    }
    pub(super) const fn struck(self) -> Font {
        Font {
            struck: true,
            ..self
        }
    }

    pub(super) const fn coloured(self, colour: &'static str) -> Font {
        Font { colour, ..self }
    }

    /// Approximate width of a character: an average, since no font is available.
    fn letter(self, letter: char) -> f64 {
        let em = match letter {
            // Chinese characters and full-width signs are square.
            '\u{2e80}'..='\u{9fff}' | '\u{ff00}'..='\u{ff60}' => 1.0,
            _ if self.mono => 0.59,
            'i' | 'j' | 'l' | '\'' | '|' => 0.28,
            'f' | 't' | 'r' | ' ' | '.' | ',' | ':' | ';' | '(' | ')' | '/' | '-' | '·' | 'I' => {
                0.36
            }
            'm' | 'M' | 'W' | 'w' | '%' | '@' => 0.88,
            'A'..='Z' | '…' | '→' | '×' | '+' | '=' => 0.68,
            _ => 0.58,
        };
        em * self.size
            * if self.weight > 400 && !self.mono {
                1.04
            } else {
                1.0
            }
    }

    /// Approximate width of a text.
    pub(super) fn width(self, text: &str) -> f64 {
        text.chars().map(|letter| self.letter(letter)).sum()
    }

    /// Truncates a text at its end if it is wider than its room.
    fn cut(self, text: &str, room: f64) -> String {
        if self.width(text) <= room + 1.0 {
            return text.to_string();
        }
        let (mut taken, room) = (0.0, room - self.width("…"));
        let kept: String = text
            .chars()
            .take_while(|letter| {
                taken += self.letter(*letter);
                taken <= room
            })
            .collect();
        if room < 0.0 {
            String::new()
        } else {
            kept + "…"
        }
    }
}

/// Name of a card: monospaced, semibold.
pub(super) const NAME: Font = mono(12.0, "text").semi();
/// Lines over or under the name.
pub const SMALL: Font = ui(11.0, "text-3");

/// Outline of a rectangle: colour, width and dashes.
pub(super) type Outline = (&'static str, f64, &'static str);

pub const PLAIN: Outline = ("border", 1.0, "");

/// Outline of an item that may be selected.
pub fn outline(chosen: bool, plain: Outline) -> Outline {
    if chosen { ("accent", 2.0, "") } else { plain }
}

/// Part of a picture being written. Positions are relative to the item being drawn.
pub struct Paper {
    pub(super) style: Style,
    words: Rc<Catalogue>,
    /// Icons used so far.
    pub(super) icons: BTreeSet<&'static str>,
    out: String,
}

/// Escapes text for markup.
pub fn escape(text: &str, out: &mut String) {
    for letter in text.chars() {
        match letter {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            // Control characters and these two are not allowed in XML.
            control if control < ' ' || matches!(control, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            _ => out.push(letter),
        }
    }
}

impl Paper {
    pub(super) fn new(style: Style, words: Rc<Catalogue>) -> Self {
        Paper {
            style,
            words,
            icons: BTreeSet::new(),
            out: String::new(),
        }
    }

    /// Returns the markup written since the last call.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.out)
    }

    pub(super) fn raw(&mut self, markup: &str) {
        self.out.push_str(markup);
    }

    pub(super) fn say(&self, message: &Message) -> String {
        message.say(&self.words)
    }

    /// Draws in a translated group.
    pub(super) fn at(&mut self, (x, y): (f64, f64), opacity: f64, draw: impl FnOnce(&mut Self)) {
        let _ = write!(self.out, "<g transform=\"translate({} {})\"", Px(x), Px(y));
        if opacity < 1.0 {
            let _ = write!(self.out, " opacity=\"{}\"", Px(opacity));
        }
        self.out.push('>');
        draw(self);
        self.out.push_str("</g>");
    }

    /// Draws a rectangle; an empty colour means none.
    pub(super) fn rect(
        &mut self,
        (x, y, w, h): (f64, f64, f64, f64),
        radius: f64,
        fill: &str,
        outline: Option<Outline>,
    ) {
        let inset = outline.map_or(0.0, |(_, wide, _)| wide / 2.0);
        let (w, h) = ((w - 2.0 * inset).max(0.0), (h - 2.0 * inset).max(0.0));
        let _ = write!(
            self.out,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
            Px(x + inset),
            Px(y + inset),
            Px(w),
            Px(h)
        );
        if radius > 0.0 {
            let _ = write!(self.out, " rx=\"{}\"", Px(radius.min(w / 2.0).min(h / 2.0)));
        }
        let _ = write!(self.out, " fill=\"{}\"", self.colour(fill));
        self.outline(outline);
        self.out.push_str("/>");
    }

    /// Draws a path, filled and outlined.
    pub(super) fn path(&mut self, d: &str, fill: &str, outline: Option<Outline>) {
        let _ = write!(self.out, "<path d=\"{d}\" fill=\"{}\"", self.colour(fill));
        self.outline(outline);
        self.out.push_str("/>");
    }

    /// Draws a horizontal line of one pixel.
    pub(super) fn rule(&mut self, x: f64, y: f64, w: f64) {
        self.rect((x, y, w, 1.0), 0.0, "border", None);
    }

    fn outline(&mut self, outline: Option<Outline>) {
        let Some((colour, wide, dashes)) = outline else {
            return;
        };
        let _ = write!(
            self.out,
            " stroke=\"{}\" stroke-width=\"{}\"",
            self.colour(colour),
            Px(wide)
        );
        if !dashes.is_empty() {
            let _ = write!(self.out, " stroke-dasharray=\"{dashes}\"");
        }
    }

    pub(super) fn colour(&self, token: &str) -> String {
        if token.is_empty() {
            "none".to_string()
        } else {
            self.style.token(token)
        }
    }

    /// Draws a text vertically centred at `y`, truncated to its room.
    pub(super) fn text(&mut self, x: f64, y: f64, room: f64, font: Font, text: &str) {
        self.run(x, y, room, &[(text, font)]);
    }

    /// Draws consecutive texts in one room; returns their approximate width.
    pub(super) fn run(&mut self, x: f64, y: f64, room: f64, parts: &[(&str, Font)]) -> f64 {
        let (mut taken, mut shown) = (0.0, Vec::new());
        for (text, font) in parts {
            let text = font.cut(text, room - taken);
            taken += font.width(&text);
            shown.push((text, *font));
        }
        self.write(x, y, "", &shown);
        taken
    }

    /// Draws a text that ends at a position.
    pub(super) fn text_end(&mut self, right: f64, y: f64, room: f64, font: Font, text: &str) {
        self.write(
            right,
            y,
            " text-anchor=\"end\"",
            &[(font.cut(text, room), font)],
        );
    }

    /// Draws a text centred at a position.
    pub(super) fn text_mid(&mut self, x: f64, y: f64, room: f64, font: Font, text: &str) {
        self.write(
            x,
            y,
            " text-anchor=\"middle\"",
            &[(font.cut(text, room), font)],
        );
    }

    /// Draws a text centred at a position, or starting there, that hides the lines under it.
    pub(super) fn text_over(
        &mut self,
        x: f64,
        y: f64,
        centred: bool,
        font: Font,
        text: &str,
        ground: &str,
    ) {
        let anchor = if centred {
            " text-anchor=\"middle\""
        } else {
            ""
        };
        let halo = format!(
            "{anchor} stroke=\"{}\" stroke-width=\"8\" stroke-linejoin=\"round\" paint-order=\"stroke\"",
            self.colour(ground)
        );
        self.write(x, y, &halo, &[(text.to_string(), font)]);
    }

    fn write(&mut self, x: f64, y: f64, attributes: &str, parts: &[(String, Font)]) {
        let parts: Vec<_> = parts.iter().filter(|(text, _)| !text.is_empty()).collect();
        if parts.iter().all(|(text, _)| text.trim().is_empty()) {
            return;
        }
        let _ = write!(
            self.out,
            "<text x=\"{}\" y=\"{}\"{attributes} xml:space=\"preserve\"",
            Px(x),
            Px(y)
        );
        if let [(text, font)] = parts[..] {
            self.font(*font);
            self.out.push('>');
            escape(text, &mut self.out);
        } else {
            self.out.push('>');
            for (text, font) in parts {
                self.out.push_str("<tspan");
                self.font(*font);
                self.out.push('>');
                escape(text, &mut self.out);
                self.out.push_str("</tspan>");
            }
        }
        self.out.push_str("</text>");
    }

    fn font(&mut self, font: Font) {
        let _ = write!(
            self.out,
            " font-size=\"{}\" fill=\"{}\"",
            Px(font.size),
            self.style.token(font.colour)
        );
        if font.mono {
            self.out.push_str(" class=\"m\"");
        }
        if font.weight != 400 {
            let _ = write!(self.out, " font-weight=\"{}\"", font.weight);
        }
        if font.struck {
            self.out.push_str(" text-decoration=\"line-through\"");
        }
    }

    /// Draws an icon of the sprite.
    pub(super) fn icon(&mut self, name: &'static str, x: f64, y: f64, size: f64, colour: &str) {
        self.icons.insert(name);
        let colour = self.colour(colour);
        let _ = write!(
            self.out,
            "<use href=\"#{name}\" x=\"{}\" y=\"{}\" width=\"{size}\" height=\"{size}\" color=\"{colour}\"/>",
            Px(x),
            Px(y)
        );
    }

    /// Draws the tile of a kind.
    pub(super) fn tile(&mut self, kind: &str, x: f64, y: f64, size: f64) {
        let (icon, family) = crate::icons::kind_icon(kind);
        self.tile_of(icon, family, x, y, size);
    }

    /// Draws a tile with an icon, in the colour of a family of kinds.
    pub(super) fn tile_of(&mut self, icon: &'static str, family: &str, x: f64, y: f64, size: f64) {
        let (ink, soft) = match family {
            "network" => ("k-network", "k-network-soft"),
            "storage" => ("k-storage", "k-storage-soft"),
            "cluster" => ("k-cluster", "k-cluster-soft"),
            _ => ("k-workload", "k-workload-soft"),
        };
        self.rect((x, y, size, size), 6.0, soft, None);
        let glyph = if size < 20.0 { 14.0 } else { 16.0 };
        self.icon(
            icon,
            x + (size - glyph) / 2.0,
            y + (size - glyph) / 2.0,
            glyph,
            ink,
        );
    }

    /// Draws a pill that ends at a position, centred vertically; returns its width with margin.
    pub(super) fn pill_end(
        &mut self,
        right: f64,
        y: f64,
        class: &str,
        icon: Option<&'static str>,
        text: &str,
    ) -> f64 {
        if text.is_empty() {
            return 0.0;
        }
        let (soft, ink) = pill_colours(class);
        let font = ui(11.0, ink).medium();
        let glyph = if icon.is_some() { 16.0 } else { 0.0 };
        let wide = font.width(text) + 16.0 + glyph;
        self.rect((right - wide, y - 10.0, wide, 20.0), 10.0, soft, None);
        if let Some(icon) = icon {
            self.icon(icon, right - wide + 8.0, y - 6.0, 12.0, ink);
        }
        self.text_mid(right - (wide - glyph) / 2.0, y, wide, font, text);
        wide + 10.0
    }
}

/// Background and text colours of a pill.
fn pill_colours(class: &str) -> (&'static str, &'static str) {
    match class {
        "ready" => ("st-ready-soft", "st-ready-text"),
        "creating" => ("st-creating-soft", "st-creating-text"),
        "notready" => ("st-notready-soft", "st-notready-text"),
        "failed" => ("st-failed-soft", "st-failed-text"),
        "network" => ("k-network-soft", "k-network"),
        "storage" => ("k-storage-soft", "k-storage"),
        "act" => ("accent-soft", "accent-text"),
        _ => ("surface-3", "text-2"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_to_its_room_and_keeps_no_markup() {
        let font = ui(12.0, "text");
        assert_eq!(font.cut("nginx", 100.0), "nginx");
        let cut = font.cut("a-very-long-name-of-a-deployment", 60.0);
        assert!(cut.ends_with('…') && font.width(&cut) <= 60.0, "{cut}");
        assert_eq!(font.cut("name", 0.0), "");
        let mut out = String::new();
        escape("<b>&\"\u{7}", &mut out);
        assert_eq!(out, "&lt;b&gt;&amp;&quot; ");
    }
}
