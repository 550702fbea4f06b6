//! Pods as cells: one path per state, as the page paints them on its canvas.

use super::paper::{Paper, SMALL, ui};
use crate::card_text;
use crate::shape::{Cells, Item, OLD_REVISION_ALPHA};
use crate::variant;
use i18n::format::{Px, count};
use i18n::{Message, msg};
use projection::model::PodState;
use std::fmt::Write as _;

/// Cells per path: renderers take the picture in parts.
const CELLS_PER_PATH: usize = 2_000;

/// Colour of a state.
fn ink(state: PodState) -> String {
    format!("st-{}", state.class())
}

pub(super) fn draw(paper: &mut Paper, item: &Item, of: &Cells) {
    if !of.bare() {
        counts(paper, item, of);
    }
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
                group(paper, of, state, some, opacity);
            }
        }
    }
    if let Some(at) = of.ring {
        let (x, y) = place(of, at);
        paper.rect(
            (x - 3.0, y - 3.0, of.side + 6.0, of.side + 6.0),
            3.0,
            "",
            Some(("text", 2.0, "")),
        );
    }
}

fn place(of: &Cells, at: usize) -> (f64, f64) {
    let (x, y) = of.offset(at);
    (of.at.0 + x, of.at.1 + y)
}

/// Draws the cells of one state; the shapes are distinct in greyscale: full, half, ring, dashed, slashed, crossed.
fn group(paper: &mut Paper, of: &Cells, state: PodState, places: &[usize], opacity: f64) {
    let (s, mut d) = (of.side, String::new());
    let square = |d: &mut String, x: f64, y: f64, w: f64, h: f64| {
        let _ = write!(d, "M{} {}h{}v{}h{}z", Px(x), Px(y), Px(w), Px(h), Px(-w));
    };
    let mut crosses = String::new();
    for (x, y) in places.iter().map(|at| place(of, *at)) {
        match state {
            PodState::Ready | PodState::Failed => square(&mut d, x, y, s, s),
            PodState::Creating => {
                square(&mut d, x, y + s / 2.0, s, s / 2.0);
                let _ = write!(
                    crosses,
                    "M{} {}h{}v{}h{}z",
                    Px(x + 0.5),
                    Px(y + 0.5),
                    Px(s - 1.0),
                    Px(s - 1.0),
                    Px(1.0 - s)
                );
            }
            PodState::Terminating => {
                let _ = write!(
                    crosses,
                    "M{} {}h{}v{}h{}zM{} {}l{} {}",
                    Px(x + 0.4),
                    Px(y + 0.4),
                    Px(s - 0.8),
                    Px(s - 0.8),
                    Px(0.8 - s),
                    Px(x),
                    Px(y + s),
                    Px(s),
                    Px(-s)
                );
            }
            PodState::NotReady | PodState::Succeeded | PodState::Pending => {
                let _ = write!(
                    crosses,
                    "M{} {}h{}v{}h{}z",
                    Px(x + 0.75),
                    Px(y + 0.75),
                    Px(s - 1.5),
                    Px(s - 1.5),
                    Px(1.5 - s)
                );
            }
        }
        if state == PodState::Failed && s > 5.0 {
            let side = s - 4.0;
            let _ = write!(
                crosses,
                "M{} {}l{side} {side}M{} {}l{} {side}",
                Px(x + 2.0),
                Px(y + 2.0),
                Px(x + s - 2.0),
                Px(y + 2.0),
                Px(-side)
            );
        }
    }
    let ink = ink(state);
    let line = match state {
        PodState::Failed => ("on-status", 1.0, ""),
        PodState::Pending => ("st-pending", 1.0, "2 2"),
        PodState::Creating => ("st-creating", 1.0, ""),
        PodState::Terminating => ("st-terminating", 1.0, ""),
        PodState::Succeeded => ("st-succeeded", 1.5, ""),
        _ => ("st-notready", 1.5, ""),
    };
    paper.at((0.0, 0.0), opacity, |paper| {
        if !d.is_empty() {
            paper.path(&d, &ink, None);
        }
        if !crosses.is_empty() {
            paper.path(&crosses, "", Some(line));
        }
    });
}

/// Draws the swatch of a state.
fn swatch(paper: &mut Paper, (x, y, side): (f64, f64, f64), state: PodState, old: bool) {
    let (fill, outline) = match state {
        PodState::Ready | PodState::Failed => (ink(state), None),
        PodState::Pending => (String::new(), Some(("st-pending", 1.0, "2 2"))),
        PodState::NotReady => (String::new(), Some(("st-notready", 2.0, ""))),
        PodState::Succeeded => (String::new(), Some(("st-succeeded", 2.0, ""))),
        PodState::Creating => (
            "st-creating-soft".to_string(),
            Some(("st-creating", 1.0, "")),
        ),
        PodState::Terminating => (
            "st-terminating-soft".to_string(),
            Some(("st-terminating", 1.0, "1 1")),
        ),
    };
    let opacity = if old && state == PodState::Ready {
        OLD_REVISION_ALPHA
    } else {
        1.0
    };
    paper.at((x, y), opacity, |paper| {
        paper.rect((0.0, 0.0, side, side), 2.0, &fill, outline)
    });
}

/// Draws the number of Pods in each state.
fn counts(paper: &mut Paper, item: &Item, of: &Cells) {
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
        swatch(paper, (x, y - 5.0, 10.0), *state, of.old == 0);
        let word = format!(" {}", paper.say(&of.pods.word(*state)));
        paper.run(
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
    paper: &mut Paper,
    item: &Item,
    numbers: &[(usize, Message)],
    parts: &[(PodState, bool, usize)],
) {
    let (w, h) = (item.rect.w, item.rect.h);
    let (mut x, middle) = (20.0, h / 2.0);
    for (number, word) in numbers {
        let (font, text) = (
            ui(
                20.0,
                if *word == msg::metric_ready() {
                    "st-ready-text"
                } else {
                    "text"
                },
            )
            .semi(),
            count(*number),
        );
        let word = paper.say(word);
        paper.text(x, middle - 9.0, f64::INFINITY, font, &text);
        paper.text(x, middle + 12.0, f64::INFINITY, SMALL, &word);
        x += font.width(&text).max(SMALL.width(&word)) + 24.0;
    }
    let (left, all) = (
        x + 4.0,
        parts.iter().map(|(_, _, n)| *n).sum::<usize>().max(1) as f64,
    );
    let room = w - left - 20.0;
    let rolls = parts.iter().any(|(_, old, _)| *old);
    let (mut bar, mut key) = (left, left);
    for (state, old, number) in parts {
        let share = *number as f64 / all * room;
        let ink = ink(*state);
        let opacity = if *old && *state == PodState::Ready {
            OLD_REVISION_ALPHA
        } else {
            1.0
        };
        paper.at((bar, middle - 20.0), opacity, |paper| {
            paper.rect((0.0, 0.0, (share - 1.0).max(0.5), 8.0), 0.0, &ink, None)
        });
        bar += share;
        let word = format!("{} ", paper.say(&card_text::part_word(*state, *old, rolls)));
        swatch(paper, (key, middle + 3.0, 10.0), *state, *old);
        key +=
            15.0 + paper.run(
                key + 15.0,
                middle + 8.0,
                left + room - key,
                &[
                    (&word, ui(11.0, "text-2")),
                    (&count(*number), ui(11.0, "text").semi()),
                ],
            ) + 16.0;
    }
    let each = paper.say(&msg::totals_square_is_pod());
    if key + SMALL.width(&each) < left + room {
        paper.text_end(left + room, middle + 8.0, room, SMALL, &each);
    }
}
