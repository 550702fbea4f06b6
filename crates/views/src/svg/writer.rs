//! Writes primitives as SVG, with colours and fonts written out.

use super::style::Style;
use crate::draw::metrics::{TextMetrics, cut};
use crate::draw::painter::{PILL, TextSetting};
use crate::draw::primitive::{
    Anchor, Baseline, Block, Disc, Drawing, Fill, Font, Group, Hatch, Icon, Path, Pill, Primitive,
    Stroke, TextLine, TextRun,
};
use crate::shape::Rect;
use i18n::Message;
use i18n::format::Px;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Part of a document being written.
pub struct Writer {
    pub(super) style: Style,
    pub(super) text: TextSetting,
    /// Icons used so far.
    pub(super) icons: BTreeSet<&'static str>,
    out: String,
}

/// Escapes text for markup.
pub(super) fn escape(text: &str, out: &mut String) {
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

impl Writer {
    pub(super) fn new(style: Style, text: TextSetting) -> Self {
        Writer {
            style,
            text,
            icons: BTreeSet::new(),
            out: String::new(),
        }
    }

    /// Returns the markup written since the last call.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.out)
    }

    pub(super) fn say(&self, message: &Message) -> String {
        message.say(&self.text.words)
    }

    /// Writes primitives in paint order.
    pub(super) fn write(&mut self, parts: &[Primitive]) {
        for part in parts {
            match part {
                Primitive::Block(block) => self.block(block),
                Primitive::Path(path) => self.path(path),
                Primitive::Line(line) => self.line(line),
                Primitive::Icon(icon) => self.icon(icon),
                Primitive::Pill(pill) => self.pill(pill),
                Primitive::Disc(disc) => self.disc(disc),
                Primitive::Drawing(drawing) => self.drawing(drawing),
                Primitive::Group(group) => self.group(group),
            }
        }
    }

    /// Writes a group.
    pub(super) fn group(&mut self, group: &Group) {
        let (x, y) = (Px(group.x), Px(group.y));
        let _ = write!(self.out, "<g transform=\"translate({x} {y})\"");
        if group.opacity < 1.0 {
            let _ = write!(self.out, " opacity=\"{}\"", Px(group.opacity));
        }
        if !group.class.is_empty() {
            let _ = write!(self.out, " class=\"{}\"", group.class);
        }
        self.out.push('>');
        self.write(&group.parts);
        self.out.push_str("</g>");
    }

    pub(super) fn block(&mut self, block: &Block) {
        let Rect { x, y, w, h } = block.rect;
        let inset = block.stroke.map_or(0.0, |stroke| stroke.width / 2.0);
        let (w, h) = ((w - 2.0 * inset).max(0.0), (h - 2.0 * inset).max(0.0));
        let _ = write!(
            self.out,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
            Px(x + inset),
            Px(y + inset),
            Px(w),
            Px(h)
        );
        if block.radius > 0.0 {
            let radius = block.radius.min(w / 2.0).min(h / 2.0);
            let _ = write!(self.out, " rx=\"{}\"", Px(radius));
        }
        let _ = write!(self.out, " fill=\"{}\"", self.colour(block.fill));
        self.stroke(block.stroke);
        self.out.push_str("/>");
    }

    pub(super) fn path(&mut self, path: &Path) {
        let _ = write!(self.out, "<path d=\"{}\"", path.d);
        let _ = match path.fill {
            Fill::None => write!(self.out, " fill=\"none\""),
            Fill::Hatch(hatch) => write!(self.out, " fill=\"url(#{})\"", hatch.id()),
            Fill::Colour(token, _) => {
                write!(self.out, " fill=\"{}\"", self.colour(token))
            }
        };
        if let Fill::Colour(_, opacity) = path.fill
            && opacity < 1.0
        {
            let _ = write!(self.out, " fill-opacity=\"{}\"", Px(opacity));
        }
        self.stroke(path.stroke);
        self.out.push_str("/>");
    }

    pub(super) fn disc(&mut self, disc: &Disc) {
        let _ = write!(
            self.out,
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\"",
            Px(disc.x),
            Px(disc.y),
            Px(disc.radius),
            self.colour(disc.fill)
        );
        self.stroke(Some(disc.stroke));
        self.out.push_str("/>");
    }

    fn stroke(&mut self, stroke: Option<Stroke>) {
        let Some(stroke) = stroke else {
            return;
        };
        let _ = write!(
            self.out,
            " stroke=\"{}\" stroke-width=\"{}\"",
            self.colour(stroke.colour),
            Px(stroke.width)
        );
        if !stroke.dashes.is_empty() {
            let _ = write!(self.out, " stroke-dasharray=\"{}\"", stroke.dashes);
        }
        if stroke.opacity < 1.0 {
            let _ = write!(self.out, " stroke-opacity=\"{}\"", Px(stroke.opacity));
        }
        if stroke.round_caps {
            self.out.push_str(" stroke-linecap=\"round\"");
        }
        if stroke.round_joins {
            self.out.push_str(" stroke-linejoin=\"round\"");
        }
    }

    pub(super) fn colour(&self, token: &str) -> String {
        if token.is_empty() {
            "none".to_string()
        } else {
            self.style.token(token)
        }
    }

    /// Writes a line of text, cut at the end of its room.
    pub(super) fn line(&mut self, line: &TextLine) {
        let metrics: &dyn TextMetrics = &*self.text.metrics;
        let mut taken = 0.0;
        let cut = |run: &TextRun| {
            let text = cut(metrics, run.font, &run.text, line.room - taken);
            taken += metrics.width(run.font, &text);
            (text, run.font)
        };
        let runs: Vec<(String, Font)> = line
            .runs
            .iter()
            .map(cut)
            .filter(|(text, _)| !text.is_empty())
            .fold(Vec::new(), |mut runs: Vec<(String, Font)>, (text, font)| {
                match runs.last_mut() {
                    Some((last, own)) if *own == font => last.push_str(&text),
                    _ => runs.push((text, font)),
                }
                runs
            });
        if runs.iter().all(|(text, _)| text.trim().is_empty()) {
            return;
        }
        let _ = write!(self.out, "<text x=\"{}\" y=\"{}\"", Px(line.x), Px(line.y));
        self.out.push_str(match line.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        });
        if line.baseline == Baseline::Alphabetic {
            self.out.push_str(" style=\"dominant-baseline:auto\"");
        }
        if let Some(halo) = line.halo {
            let (colour, width) = (self.colour(halo.colour), Px(halo.width));
            let _ = write!(
                self.out,
                " stroke=\"{colour}\" stroke-width=\"{width}\" stroke-linejoin=\"round\" paint-order=\"stroke\""
            );
        }
        self.out.push_str(" xml:space=\"preserve\"");
        if let [(text, font)] = &runs[..] {
            self.font(*font);
            self.out.push('>');
            escape(text, &mut self.out);
        } else {
            self.out.push('>');
            for (text, font) in &runs {
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

    fn icon(&mut self, icon: &Icon) {
        self.icons.insert(icon.name);
        let Icon {
            name, x, y, size, ..
        } = icon;
        let _ = write!(
            self.out,
            "<use href=\"#{name}\" x=\"{}\" y=\"{}\" width=\"{size}\" height=\"{size}\" color=\"{}\"/>",
            Px(*x),
            Px(*y),
            self.colour(icon.colour)
        );
    }

    fn pill(&mut self, pill: &Pill) {
        let (soft, ink) = pill_colours(pill.class);
        let left = pill.right - pill.width;
        self.block(&Block {
            rect: Rect::new(left, pill.y - 10.0, pill.width, 20.0),
            radius: 10.0,
            fill: soft,
            stroke: None,
            class: "",
        });
        let mut x = left + 8.0;
        if let Some(name) = pill.icon {
            self.icon(&Icon {
                name,
                x,
                y: pill.y - 6.0,
                size: 12.0,
                colour: ink,
            });
            x += 16.0;
        }
        let runs = vec![TextRun {
            text: pill.text.clone(),
            font: PILL.coloured(ink),
            class: "",
        }];
        self.line(&TextLine::new(
            (x + pill.right - 8.0) / 2.0,
            pill.y,
            pill.width,
            Anchor::Middle,
            runs,
        ));
    }

    /// Writes a drawing, with the hatches that it may need.
    fn drawing(&mut self, drawing: &Drawing) {
        let _ = write!(self.out, "<g class=\"{}\">", drawing.class);
        for hatch in Hatch::ALL {
            let (id, pitch, angle) = (hatch.id(), Hatch::PITCH, hatch.angle());
            let _ = write!(
                self.out,
                "<pattern id=\"{id}\" width=\"{pitch}\" height=\"{pitch}\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate({angle})\"><path d=\"{}\"",
                Hatch::LINE
            );
            self.stroke(Some(hatch.stroke()));
            self.out.push_str("/></pattern>");
        }
        self.write(&drawing.parts);
        self.out.push_str("</g>");
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
    use super::escape;

    #[test]
    fn a_text_keeps_no_markup() {
        let mut out = String::new();
        escape("<b>&\"\u{7}", &mut out);
        assert_eq!(out, "&lt;b&gt;&amp;&quot; ");
    }
}
