//! Parts of a scene besides its items: bands, edges, ports and labels.

use super::painter::TextSetting;
use super::primitive::{
    Anchor, Block, Disc, Fill, Font, Halo, Path, SMALL, Stroke, TextLine, TextRun, ui,
};
use crate::shape::{Edge, Label, LabelGround, LabelRole, Line, Port, Rect};
use crate::variant;

/// Width of a label's halo.
const HALO_WIDTH: f64 = 8.0;

/// Lowers a highlighted column, or the line between two parts.
pub fn band(rect: Rect) -> Block {
    if variant::divides(rect) {
        return Block {
            rect,
            radius: 0.0,
            fill: "border",
            stroke: None,
            class: "band",
        };
    }
    Block {
        rect,
        radius: 16.0,
        fill: "accent-soft",
        stroke: Some(Stroke::solid("accent-line", 1.0)),
        class: "band",
    }
}

/// Lowers an edge.
pub fn edge(edge: &Edge) -> Path {
    let (fill, stroke) = match edge.line {
        Line::Opens => (Fill::Colour("accent-soft", 0.7), None),
        line => (Fill::None, Some(edge_stroke(line))),
    };
    Path {
        d: edge.d.clone(),
        fill,
        stroke,
        class: edge.line.class().to_owned(),
    }
}

fn edge_stroke(line: Line) -> Stroke {
    let plain = |colour| Stroke::solid(colour, 1.5);
    let dashed = |colour, dashes| Stroke::dashed(colour, 1.5, dashes);
    match line {
        Line::Owns | Line::Opens => plain("edge"),
        Line::Leaving => dashed("edge", "3 4").faint(0.45),
        Line::Provides | Line::Uses => dashed("edge", "2 4").round_caps(),
        Line::Watches => dashed("edge", "2 4"),
        Line::Derives => Stroke::solid("edge", 1.25),
        Line::Selects => dashed("k-network", "2 4").round_caps(),
        Line::Travels => Stroke::solid("k-network", 2.0).round_joins(),
        Line::Bound => plain("k-storage"),
        Line::Waits => dashed("k-storage", "4 4"),
        Line::Chosen => Stroke::solid("accent", 2.0),
        Line::Informs => plain("accent"),
        Line::Writes => Stroke::solid("accent", 2.25).round_caps().round_joins(),
        Line::Fails => Stroke::dashed("st-failed", 2.0, "5 4"),
    }
}

/// Lowers an end of an edge at a card.
pub fn port(port: &Port) -> Disc {
    let (ink, radius) = if port.network {
        ("k-network", 4.5)
    } else {
        ("k-storage", 4.0)
    };
    let (fill, stroke) = if port.full {
        (ink, Stroke::solid("surface", 2.0))
    } else {
        ("surface", Stroke::solid(ink, 1.5))
    };
    Disc {
        x: port.x,
        y: port.y,
        radius,
        fill,
        stroke,
    }
}

fn label_font(role: LabelRole) -> Font {
    match role {
        LabelRole::Plain => SMALL,
        LabelRole::Wait => ui(11.0, "k-storage").medium(),
        LabelRole::Write => ui(11.0, "accent-text").medium(),
        LabelRole::Failure => ui(11.0, "st-failed-text").medium(),
        LabelRole::Stop => ui(11.0, "k-network").medium(),
        LabelRole::Hint => ui(11.0, "st-notready-text").medium(),
        LabelRole::Trouble => ui(11.0, "st-notready-text"),
        LabelRole::RowName => ui(12.0, "text-2").medium(),
        LabelRole::BandName => ui(13.0, "text-2").medium(),
        LabelRole::Kept => ui(11.0, "text-2"),
    }
}

/// Lowers a label.
pub fn label(label: &Label, text: &TextSetting) -> TextLine {
    let font = label_font(label.role);
    let words = label.text.say(&text.words);
    // The number of a stop and the subject of a band stand out in the page.
    let lead = match label.role {
        LabelRole::Stop => words.find(' ').map_or(words.len(), |space| space + 1),
        LabelRole::BandName => words.find(" — ").unwrap_or(words.len()),
        _ => 0,
    };
    let (lead, rest) = words.split_at(lead);
    let rest_class = match label.role {
        LabelRole::BandName => "rest",
        _ => "",
    };
    let runs = [(lead, "lead"), (rest, rest_class)]
        .into_iter()
        .filter(|(text, _)| !text.is_empty())
        .map(|(text, class)| TextRun {
            text: text.to_owned(),
            font,
            class,
        })
        .collect();
    let colour = match label.ground {
        LabelGround::Band => Some("accent-soft"),
        LabelGround::Edge => Some("bg"),
        LabelGround::None => {
            let hides = label.centred || matches!(label.role, LabelRole::Stop | LabelRole::Kept);
            hides.then_some("bg")
        }
    };
    let high = match label.role {
        LabelRole::Stop | LabelRole::BandName => 20.0,
        _ => 16.0,
    };
    let anchor = if label.centred {
        Anchor::Middle
    } else {
        Anchor::Start
    };
    TextLine {
        halo: colour.map(|colour| Halo {
            colour,
            width: HALO_WIDTH,
        }),
        class: label_class(label),
        ..TextLine::new(label.x, label.y + high / 2.0, f64::INFINITY, anchor, runs)
    }
}

fn label_class(label: &Label) -> &'static str {
    match label.role {
        LabelRole::Stop => "lbl stop",
        LabelRole::Hint => "lbl hint",
        LabelRole::RowName => "lbl rowname",
        LabelRole::BandName => "lbl bandname",
        LabelRole::Kept => "lbl kept",
        _ if label.ground != LabelGround::None => "lbl onedge",
        _ => "lbl",
    }
}
