//! Pods as cells, and their counts.

use super::card_text;
use super::painter::Painter;
use super::primitive::{SMALL, Stroke, Token, ui};
use crate::shape::{Cells, Item, OLD_REVISION_ALPHA, Rect, Total};
use crate::variant;
use i18n::format::{Px, count};
use i18n::msg;
use projection::model::PodState;
use std::fmt::Write as _;

/// Cells per path: renderers take the picture in parts.
const CELLS_PER_PATH: usize = 2_000;

/// Shape of a Pod's cell. The states are distinct in greyscale: full, half, ring, dashed, slashed, crossed.
pub struct CellShape {
    /// Rectangles filled with the colour of the state.
    pub fills: Vec<Rect>,
    /// Lines of a pixel, from and to.
    pub lines: Vec<[(f64, f64); 2]>,
    /// Colour of the lines.
    pub line: Token,
}

/// Colour of a state.
pub fn cell_colour(state: PodState) -> Token {
    match state {
        PodState::Pending => "st-pending",
        PodState::Creating => "st-creating",
        PodState::NotReady => "st-notready",
        PodState::Ready => "st-ready",
        PodState::Terminating => "st-terminating",
        PodState::Failed => "st-failed",
        PodState::Succeeded => "st-succeeded",
    }
}

/// Returns the shape of a cell with a side of `s` pixels.
pub fn cell_shape(state: PodState, s: f64) -> CellShape {
    let frame = |wide: f64| {
        vec![
            Rect::new(0.0, 0.0, s, wide),
            Rect::new(0.0, s - wide, s, wide),
            Rect::new(0.0, wide, wide, s - 2.0 * wide),
            Rect::new(s - wide, wide, wide, s - 2.0 * wide),
        ]
    };
    let (fills, lines, line) = match state {
        PodState::Ready => (vec![Rect::new(0.0, 0.0, s, s)], vec![], ""),
        PodState::Failed if s > 5.0 => (
            vec![Rect::new(0.0, 0.0, s, s)],
            vec![
                [(2.0, 2.0), (s - 2.0, s - 2.0)],
                [(s - 2.0, 2.0), (2.0, s - 2.0)],
            ],
            "on-status",
        ),
        PodState::Failed => (vec![Rect::new(0.0, 0.0, s, s)], vec![], ""),
        PodState::Creating => (
            vec![
                Rect::new(0.0, s / 2.0, s, s / 2.0),
                Rect::new(0.0, 0.0, s, 1.0),
                Rect::new(0.0, 1.0, 1.0, s / 2.0 - 1.0),
                Rect::new(s - 1.0, 1.0, 1.0, s / 2.0 - 1.0),
            ],
            vec![],
            "",
        ),
        PodState::Pending => {
            let corner = |x: f64, y: f64| {
                let across = Rect::new(if x > 0.0 { s - 2.0 } else { 0.0 }, y, 2.0, 1.0);
                [
                    across,
                    Rect::new(x, if y > 0.0 { s - 2.0 } else { 1.0 }, 1.0, 1.0),
                ]
            };
            let far = s - 1.0;
            let corners = [(0.0, 0.0), (far, 0.0), (0.0, far), (far, far)];
            (
                corners.iter().flat_map(|(x, y)| corner(*x, *y)).collect(),
                vec![],
                "",
            )
        }
        // The frame separates neighbouring cells.
        PodState::Terminating => (
            frame(0.8),
            vec![[(0.5, s - 0.5), (s - 0.5, 0.5)]],
            "st-terminating",
        ),
        PodState::NotReady | PodState::Succeeded => (frame(1.5), vec![], ""),
    };
    CellShape { fills, lines, line }
}

/// Draws cells of one state at positions.
fn draw_cells(
    painter: &mut Painter,
    state: PodState,
    side: f64,
    places: impl Iterator<Item = (f64, f64)> + Clone,
) {
    let shape = cell_shape(state, side);
    let (mut filled, mut lines) = (String::new(), String::new());
    for (x, y) in places {
        for rect in &shape.fills {
            let (x, y) = (Px(x + rect.x), Px(y + rect.y));
            let (w, h, back) = (Px(rect.w), Px(rect.h), Px(-rect.w));
            let _ = write!(filled, "M{x} {y}h{w}v{h}h{back}z");
        }
        for [from, to] in &shape.lines {
            let (x1, y1, x2, y2) = (x + from.0, y + from.1, x + to.0, y + to.1);
            let _ = write!(lines, "M{} {}L{} {}", Px(x1), Px(y1), Px(x2), Px(y2));
        }
    }
    painter.path(filled, cell_colour(state), None);
    if !lines.is_empty() {
        painter.path(lines, "", Some(Stroke::solid(shape.line, 1.0)));
    }
}

/// Draws all cells, as paths: the page paints them on a canvas instead.
pub(super) fn grid(painter: &mut Painter, of: &Cells) {
    let place = |at: &usize| {
        let (x, y) = of.offset(*at);
        (of.at.0 + x, of.at.1 + y)
    };
    for state in PodState::ALL {
        let all: Vec<usize> = of
            .pods
            .states_of(0..of.pods.len())
            .enumerate()
            .filter(|(_, own)| *own == state)
            .map(|(at, _)| at)
            .collect();
        let old = if state == PodState::Ready {
            all.partition_point(|at| *at < of.old)
        } else {
            all.len()
        };
        for (places, opacity) in [(&all[..old], 1.0), (&all[old..], OLD_REVISION_ALPHA)] {
            for some in places.chunks(CELLS_PER_PATH) {
                painter.at((0.0, 0.0), opacity, |painter| {
                    draw_cells(painter, state, of.side, some.iter().map(place));
                });
            }
        }
    }
}

/// Draws a ring around the selected cell.
pub(super) fn ring(painter: &mut Painter, of: &Cells) {
    let Some((x, y)) = of.ring.map(|at| of.offset(at)) else {
        return;
    };
    let (x, y, side) = (of.at.0 + x, of.at.1 + y, of.side);
    for (margin, radius, stroke) in [
        (4.0, 4.0, Stroke::solid("surface", 4.0)),
        (3.0, 3.0, Stroke::solid("text", 2.0)),
    ] {
        let rect = Rect::new(
            x - margin,
            y - margin,
            side + 2.0 * margin,
            side + 2.0 * margin,
        );
        painter.rect(rect, radius, "", Some(stroke));
    }
}

/// Opacity of a state's swatch.
fn opacity(state: PodState, old: bool) -> f64 {
    if old && state == PodState::Ready {
        OLD_REVISION_ALPHA
    } else {
        1.0
    }
}

/// Draws the swatch of a state, ten pixels wide.
fn swatch(painter: &mut Painter, place: (f64, f64), state: PodState, old: bool) {
    painter.at(place, opacity(state, old), |painter| {
        draw_cells(painter, state, 10.0, std::iter::once((0.0, 0.0)));
    });
}

/// Draws the number of Pods in each state.
pub(super) fn counts(painter: &mut Painter, item: &Item, of: &Cells) {
    let thin = variant::has_thin_counts(item.rect.w);
    let (left, room) = if thin {
        (6.0, item.rect.w - 12.0)
    } else {
        (8.0, item.rect.w - 16.0)
    };
    let columns = ((room / 160.0) as usize).max(1);
    let wide = room / columns as f64;
    for (at, (state, number)) in of.pods.counts().iter().enumerate() {
        let (x, y) = (
            left + (at % columns) as f64 * wide,
            17.0 + (at / columns) as f64 * 18.0,
        );
        swatch(painter, (x, y - 5.0), *state, of.old == 0);
        let word = format!(" {}", painter.say(&of.pods.word(*state)));
        painter.run(
            x + 15.0,
            y,
            wide - 15.0,
            &[
                (&count(*number), ui(11.0, "text").semi()),
                (&word, ui(11.0, "text-2")),
            ],
        );
    }
}

/// Draws the totals of a picture of cells.
pub(super) fn totals(
    painter: &mut Painter,
    item: &Item,
    numbers: &[(Total, usize)],
    parts: &[(PodState, bool, usize)],
) {
    let (w, h) = (item.rect.w, item.rect.h);
    let small = SMALL.far();
    // On a phone the strip is below the numbers.
    let below = w < 480.0;
    let (mut x, middle) = (20.0, if below { h / 2.0 - 20.0 } else { h / 2.0 });
    for (total, number) in numbers {
        let colour = if *total == Total::Ready {
            "st-ready-text"
        } else {
            "text"
        };
        let (font, text) = (ui(20.0, colour).semi(), count(*number));
        let word = painter.say(&total.word());
        painter.text(x, middle - 9.0, f64::INFINITY, font, &text);
        painter.text(x, middle + 12.0, f64::INFINITY, small, &word);
        x += painter
            .width(font, &text)
            .max(painter.width(small, &word))
            .ceil()
            + 24.0;
    }
    let (left, middle) = if below {
        (20.0, h / 2.0 + 40.0)
    } else {
        (x + 4.0, middle)
    };
    let all = parts.iter().map(|(_, _, n)| *n).sum::<usize>().max(1) as f64;
    let room = w - left - 20.0;
    let rolls = parts.iter().any(|(_, old, _)| *old);
    let (mut bar, mut key) = (left, left);
    for (state, old, number) in parts {
        let share = *number as f64 / all * room;
        painter.at((bar, middle - 20.0), opacity(*state, *old), |painter| {
            let rect = Rect::new(0.0, 0.0, (share - 1.0).max(0.5), 8.0);
            painter.rect(rect, 0.0, cell_colour(*state), None);
        });
        bar += share;
        let word = format!(
            "{} ",
            painter.say(&card_text::part_word(*state, *old, rolls))
        );
        swatch(painter, (key, middle + 3.0), *state, *old);
        let words = [
            (word.as_str(), ui(11.0, "text-2").far()),
            (&count(*number), ui(11.0, "text").semi().far()),
        ];
        key += 15.0 + painter.run(key + 15.0, middle + 8.0, left + room - key, &words) + 16.0;
    }
    let each = painter.say(&msg::totals_square_is_pod());
    if key + painter.width(small, &each) < left + room {
        painter.text_end(left + room, middle + 8.0, room, small, &each);
    }
}
