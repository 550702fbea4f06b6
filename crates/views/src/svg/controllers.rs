//! Cards of controllers.

use super::paper::{Font, NAME, Paper, SMALL, mono, ui};
use crate::card_text::{self, BriefText, ControllerText};
use crate::shape::Item;
use crate::variant;
use i18n::format::Px;
use i18n::msg;
use projection::budget::Budget;
use projection::model::{ControllerCard, Counter, PodState, Tone};

fn ink(tone: Tone, plain: &'static str) -> &'static str {
    match tone {
        Tone::Plain => plain,
        Tone::Ok => "st-ready-text",
        Tone::Off => "st-notready-text",
    }
}

/// Draws numbers over their words, side by side.
fn counters(
    paper: &mut Paper,
    of: &[Counter],
    (x, y, w): (f64, f64, f64),
    number: Font,
    inset: f64,
) {
    let room = w / of.len().max(1) as f64;
    for (at, counter) in of.iter().enumerate() {
        let left = x + at as f64 * room;
        if at > 0 {
            paper.rect((left, y, 1.0, 52.0), 0.0, "border", None);
        }
        let word = paper.say(&counter.metric.word());
        let font = number.coloured(ink(counter.tone, "text"));
        paper.text(left + inset, y + 18.0, room - inset, font, &counter.value);
        paper.text(left + inset, y + 36.0, room - inset, SMALL, &word);
    }
}

/// Draws numbers with their words in a line: font size, and gap between two of them.
fn facts(
    paper: &mut Paper,
    (x, y, room): (f64, f64, f64),
    numbers: &[(String, &Counter)],
    (size, gap): (f64, f64),
) {
    let mut at = x;
    for (value, counter) in numbers {
        let word = format!(" {}", paper.say(&counter.metric.word()));
        let fonts = [
            ui(size, ink(counter.tone, "text")).semi(),
            ui(size, ink(counter.tone, "text-3")),
        ];
        at += paper.run(
            at,
            y,
            x + room - at,
            &[(value, fonts[0]), (&word, fonts[1])],
        ) + gap;
    }
}

pub(super) fn tall(paper: &mut Paper, item: &Item, of: &ControllerCard) {
    let w = item.rect.w;
    let text = card_text::controller(of, w, |message| paper.say(message));
    let ControllerText {
        caption,
        name,
        long,
        footer,
        mono: image,
    } = text;
    paper.tile(&of.id.kind, 12.0, 12.0, 28.0);
    let (caption, room) = (paper.say(&caption), w - 62.0);
    paper.text(50.0, 18.0, room, SMALL, &caption);
    match name.rsplit_once('-').filter(|_| long) {
        Some((of, end)) => {
            paper.text(
                50.0,
                32.0,
                room,
                mono(11.0, "text").semi(),
                &format!("{of}-"),
            );
            paper.text(50.0, 45.0, room, mono(11.0, "text").semi(), end);
        }
        None => paper.text(50.0, 34.0, room, NAME, &name),
    }
    let mut foot = 52.0;
    if !of.counters.is_empty() {
        paper.rule(0.0, foot, w);
        let inset = if variant::has_tight_numbers(w) {
            8.0
        } else {
            12.0
        };
        counters(
            paper,
            &of.counters,
            (0.0, foot + 1.0, w),
            ui(
                if card_text::has_long_numbers(of) {
                    14.0
                } else {
                    16.0
                },
                "text",
            )
            .semi(),
            inset,
        );
        foot += 53.0;
    }
    let chip = paper.say(&of.chip);
    if footer.is_empty() && chip.is_empty() {
        return;
    }
    paper.rule(0.0, foot, w);
    let taken = if chip.is_empty() {
        0.0
    } else {
        paper.pill_end(w - 12.0, foot + 15.0, "", None, &chip)
    };
    let font = if image {
        mono(11.0, "text-2")
    } else {
        ui(11.0, "text-2")
    };
    paper.text(12.0, foot + 15.0, w - 24.0 - taken, font, &footer);
}

pub(super) fn wide(paper: &mut Paper, item: &Item, of: &ControllerCard) {
    let (w, h) = (item.rect.w, item.rect.h);
    let two = variant::has_counters_below(item.rect);
    let middle = if two { 26.0 } else { h / 2.0 };
    paper.tile(&of.id.kind, 12.0, middle - 14.0, 28.0);
    let caption = paper.say(&of.caption);
    let name = NAME
        .width(&of.id.name)
        .min(w * 0.5)
        .max(SMALL.width(&caption));
    let room = if two { w - 62.0 } else { name };
    paper.text(50.0, middle - 8.0, room, SMALL, &caption);
    paper.text(50.0, middle + 8.0, room, NAME, &of.id.name);
    let (pill, line) = (
        card_text::wide_pill(of, item.rect)
            .map(|pill| paper.say(pill))
            .unwrap_or_default(),
        if two { h - 18.0 } else { middle },
    );
    let taken = paper.pill_end(w - 12.0, line, "", None, &pill);
    let left = if two { 12.0 } else { 62.0 + name + 12.0 };
    let numbers: Vec<_> = of
        .counters
        .iter()
        .map(|counter| (counter.value.clone(), counter))
        .collect();
    facts(
        paper,
        (left, line, w - left - taken - 12.0),
        &numbers,
        (12.0, 12.0),
    );
}

pub(super) fn brief(paper: &mut Paper, item: &Item, of: &ControllerCard) {
    let w = item.rect.w;
    let BriefText {
        tiled,
        caption,
        name,
        numbers,
        tag,
    } = card_text::brief(of, w, |message| paper.say(message));
    let left = if tiled { 35.0 } else { 8.0 };
    if tiled {
        paper.tile(&of.id.kind, 8.0, 7.0, 22.0);
    }
    paper.text(left, 11.0, w - left - 4.0, SMALL, &caption);
    paper.text(left, 25.0, w - left - 4.0, NAME, &name);
    if !tag.is_empty() {
        paper.text_end(w - 8.0, 47.0, w / 2.0, mono(11.0, "text-2"), &tag);
    }
    facts(paper, (8.0, 47.0, w - 16.0), &numbers, (11.0, 8.0));
}

/// Draws the card for a phone, with the budget of its rollout.
pub(super) fn stacked(paper: &mut Paper, item: &Item, of: &ControllerCard, budget: &Budget) {
    let w = item.rect.w;
    paper.tile(&of.id.kind, 12.0, 12.0, 28.0);
    let caption = paper.say(&of.caption);
    let taken = match of.chip.is_empty() {
        true => 0.0,
        false => {
            let (words, state) = card_text::rolling(budget);
            let words = paper.say(&words);
            paper.pill_end(w - 12.0, 26.0, state.class(), Some(state.glyph()), &words)
        }
    };
    paper.text(50.0, 18.0, w - 62.0 - taken, SMALL, &caption);
    paper.text(
        50.0,
        34.0,
        w - 62.0 - taken,
        NAME,
        &card_text::stacked_name(of, w),
    );
    paper.rule(0.0, 52.0, w);
    counters(
        paper,
        &of.counters,
        (0.0, 53.0, w),
        ui(16.0, "text").semi(),
        12.0,
    );
    paper.rule(0.0, 105.0, w);
    let long = (w - 30.0) * 0.48;
    let bar = budget.bar(long, long);
    for (cell, x, long) in &bar.pieces {
        let (fill, line) = match cell.state {
            PodState::Ready => ("st-ready", ""),
            PodState::Failed => ("st-failed", ""),
            PodState::Creating => ("accent-soft", "st-creating"),
            PodState::NotReady => ("st-notready-soft", "st-notready"),
            _ => ("st-pending-soft", "st-pending"),
        };
        let outline = (!line.is_empty()).then_some((line, 1.0, ""));
        paper.rect(
            (14.0 + x + 1.0, 118.0, *long, 8.0),
            if bar.gap > 0.0 { 2.0 } else { 0.0 },
            fill,
            outline,
        );
    }
    for limit in [budget.at_least, budget.at_most] {
        paper.path(
            &format!("M{} 114V130", Px(14.0 + bar.limit(limit) + 1.0)),
            "",
            Some(("text-2", 1.5, "")),
        );
    }
    let limits = [
        paper.say(&msg::chart_at_least(budget.at_least)),
        paper.say(&msg::chart_at_most(budget.at_most)),
    ]
    .join(" · ");
    paper.text_end(
        w - 14.0,
        122.0,
        w - long - 40.0,
        ui(11.0, "text-2"),
        &limits,
    );
    let text = paper.say(&budget.text);
    paper.text(14.0, 143.0, w - 28.0, SMALL, &text);
}
