//! The chart of a rollout: its plot, and the table of revisions at the instant shown.

use super::painter::{Painter, TextSetting};
use super::primitive::{
    Baseline, Drawing, Fill, Halo, Hatch, Path, Primitive, Stroke, TextLine, TextRun, mono, ui,
};
use crate::rollout::{
    Chart, ChartPart, ChartPath, ChartWord, Layer, RevisionKey, Shade, Swatch, WordRole,
};
use crate::shape::Item;
use i18n::format::Px;
use i18n::msg;

pub(super) fn draw(painter: &mut Painter, item: &Item, of: &Chart) {
    let size = (item.rect.w, item.rect.h);
    let plot = plot(of, size, painter.setting());
    painter.put(Primitive::Drawing(plot));
    revisions(painter, item, of);
}

/// Lowers the plot.
pub fn plot(of: &Chart, size: (f64, f64), text: &TextSetting) -> Drawing {
    let paths = of.paths.iter().map(path);
    let words = of.words.iter().map(|word| words(word, text));
    Drawing {
        size,
        class: "chart",
        parts: paths.chain(words).collect(),
    }
}

fn path(of: &ChartPath) -> Primitive {
    let (fill, stroke) = style(of.part);
    Primitive::Path(Path {
        d: of.d.clone(),
        fill,
        stroke,
        class: of.part.class(),
    })
}

/// Fill and outline of a part of the plot.
fn style(part: ChartPart) -> (Fill, Option<Stroke>) {
    let line = |stroke| (Fill::None, Some(stroke));
    match part {
        ChartPart::Grid => line(Stroke::solid("border", 1.0)),
        ChartPart::Shortfall => (Fill::Colour("st-notready", 0.22), None),
        ChartPart::Area(Layer::Ready, shade) => swatch_style(Swatch::Ready(shade)),
        ChartPart::Area(layer, _) => swatch_style(Swatch::Other(layer)),
        ChartPart::Least => line(Stroke::dashed("text-3", 1.5, "5 4")),
        ChartPart::Most => line(Stroke::solid("text-3", 1.5)),
        ChartPart::Ahead => line(Stroke::dashed("edge", 1.5, "2 4")),
        ChartPart::Leader(breach) => line(Stroke::solid(
            if breach { "st-notready" } else { "text-3" },
            1.0,
        )),
        ChartPart::Dot(breach) => (
            Fill::solid(if breach { "st-notready" } else { "text-2" }),
            Some(Stroke::solid("surface", 1.5)),
        ),
        ChartPart::Fold => (
            Fill::Colour("surface", 0.7),
            Some(Stroke::solid("border-strong", 1.0)),
        ),
        ChartPart::Now => line(Stroke::solid("accent", 1.5)),
    }
}

fn swatch_style(swatch: Swatch) -> (Fill, Option<Stroke>) {
    let ready = |opacity| {
        (
            Fill::Colour("st-ready", opacity),
            Stroke::solid("st-ready", 1.0),
        )
    };
    let (fill, stroke) = match swatch {
        Swatch::Ready(Shade::Full) | Swatch::Other(Layer::Ready) => ready(0.55),
        Swatch::Ready(Shade::Half) => ready(0.3),
        Swatch::Ready(Shade::Light) => ready(0.1),
        Swatch::Other(Layer::Unready) => (
            Fill::Hatch(Hatch::Unready),
            Stroke::dashed("st-ready", 1.0, "3 3").faint(0.7),
        ),
        Swatch::Other(Layer::Failing) => {
            (Fill::Hatch(Hatch::Failing), Stroke::solid("st-failed", 1.0))
        }
        Swatch::Other(Layer::Terminating) => (
            Fill::Colour("text-3", 0.12),
            Stroke::dashed("text-3", 1.0, "2 3"),
        ),
        Swatch::Empty => (Fill::None, Stroke::solid("border-strong", 1.0)),
    };
    (fill, Some(stroke))
}

fn words(of: &ChartWord, text: &TextSetting) -> Primitive {
    let (font, hides) = match of.role {
        WordRole::Scale => (ui(11.0, "text-3"), false),
        WordRole::Time => (mono(10.0, "text-3"), false),
        WordRole::Note(false) => (ui(11.0, "text-2"), true),
        WordRole::Note(true) => (ui(11.0, "st-notready-text").medium(), true),
        WordRole::Name(over) => (ui(11.0, "text"), over),
    };
    let runs = vec![TextRun {
        text: of.text.say(&text.words),
        font,
        class: "",
    }];
    Primitive::Line(TextLine {
        baseline: Baseline::Alphabetic,
        halo: hides.then_some(Halo {
            colour: "surface",
            width: 4.0,
        }),
        class: match of.role {
            WordRole::Name(_) => "rev",
            _ => "",
        },
        ..TextLine::new(of.x, of.y, f64::INFINITY, of.anchor, runs)
    })
}

/// Draws the swatch of an area.
fn swatch(painter: &mut Painter, swatch: Swatch, (x, y): (f64, f64)) {
    let (fill, stroke) = swatch_style(swatch);
    painter.put(Primitive::Path(Path {
        d: format!("M{} {}h11v11h-11z", Px(x + 0.5), Px(y - 5.5)),
        fill,
        stroke,
        class: String::new(),
    }));
}

fn revisions(painter: &mut Painter, item: &Item, of: &Chart) {
    let (left, room) = (of.left, item.rect.w - of.left - 16.0);
    let (title, line) = (painter.say(&of.title), painter.say(&of.line(of.now, false)));
    let small = of.left < of.plot.x;
    let (head, plain) = (ui(13.0, "text").semi(), ui(12.0, "text-2"));
    if small && !of.low {
        painter.text(left, 22.0, room, head, &title);
        painter.text(left, 42.0, room, plain, &line);
    } else {
        painter.run(
            left,
            22.0,
            room,
            &[(&title, head), ("  ", plain), (&line, plain)],
        );
    }
    let top = if small && !of.low { 54.0 } else { 34.0 };
    if of.low {
        return row_of_revisions(painter, of, (left, top + 10.0, room));
    }
    let keys: Vec<_> = of
        .keys
        .iter()
        .map(|key| (key, painter.say(&key.image), painter.say(&key.hash)))
        .collect();
    let names = mono(12.0, "text-2");
    let heads = [msg::chart_image(), msg::chart_revision_head()].map(|head| painter.say(&head));
    let images = keys
        .iter()
        .map(|(_, image, _)| painter.width(names, image))
        .fold(painter.width(names, &heads[0]), f64::max)
        + 36.0;
    let hashes = if small {
        0.0
    } else {
        keys.iter()
            .map(|(_, _, hash)| painter.width(names, hash))
            .fold(painter.width(names, &heads[1]), f64::max)
            + 16.0
    };
    let (head, y) = (ui(11.0, "text-3"), top + 10.0);
    painter.text(left, y, images, head, &heads[0]);
    if !small {
        painter.text(left + images, y, hashes, head, &heads[1]);
    }
    let mut columns = Vec::new();
    let mut x = left + images + hashes;
    for (words, head_swatch) in of.heads() {
        let words = painter.say(&words);
        let wide = painter.width(head, &words);
        x += wide + if head_swatch.is_none() { 0.0 } else { 34.0 };
        if let Some(own) = head_swatch {
            swatch(painter, own, (x - wide - 20.0, y));
        }
        painter.text_end(x, y, wide + 4.0, head, &words);
        columns.push(x);
    }
    for (at, (key, image, hash)) in keys.iter().enumerate() {
        let y = top + 30.0 + 20.0 * at as f64;
        swatch(painter, key.swatch, (left, y));
        painter.text(left + 20.0, y, images - 24.0, mono(12.0, "text"), image);
        if !small {
            painter.text(left + images, y, hashes, names, hash);
        }
        let numbers = of.numbers(key.revision, of.now);
        columns.iter().zip(numbers).for_each(|(x, number)| {
            painter.text_end(*x, y, 60.0, ui(12.0, "text-2").medium(), &number)
        });
    }
}

/// Draws the revisions in one row, for a low frame.
fn row_of_revisions(painter: &mut Painter, of: &Chart, (left, y, room): (f64, f64, f64)) {
    let mut x = left;
    for RevisionKey {
        swatch: own,
        revision,
        image,
        ..
    } in &of.keys
    {
        let (image, share) = (painter.say(image), of.share(*revision, of.now));
        if x + 60.0 > left + room {
            break;
        }
        swatch(painter, *own, (x, y));
        x +=
            20.0 + painter.run(
                x + 20.0,
                y,
                left + room - x - 20.0,
                &[
                    (&image, mono(12.0, "text")),
                    (&format!("  {share}"), ui(12.0, "text-2")),
                ],
            ) + 20.0;
    }
}
