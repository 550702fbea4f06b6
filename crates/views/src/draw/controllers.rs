//! Cards of controllers.

use super::card_text::{self, BriefText, ControllerText};
use super::painter::Painter;
use super::primitive::{
    Anchor, Font, Group, NAME, Primitive, SMALL, Stroke, TextLine, TextRun, mono, ui,
};
use crate::shape::{Item, Rect};
use crate::variant;
use i18n::format::Px;
use i18n::msg;
use projection::budget::Budget;
use projection::model::{ControllerCard, Counter, IndexState, PodState, Tone};

fn ink(tone: Tone, plain: &'static str) -> &'static str {
    match tone {
        Tone::Plain => plain,
        Tone::Ok => "st-ready-text",
        Tone::Off => "st-notready-text",
    }
}

/// Style of numbers over their words.
struct CounterStyle {
    top: f64,
    width: f64,
    size: f64,
    inset: f64,
}

/// Draws numbers over their words, side by side. A number that lags behind its Pods has a note.
fn counters(painter: &mut Painter, of: &[Counter], style: &CounterStyle) {
    let CounterStyle {
        top,
        width,
        size,
        inset,
    } = *style;
    let all = Group {
        y: top,
        class: "nums",
        ..Group::default()
    };
    painter.group(all, |painter| {
        let room = width / of.len().max(1) as f64;
        for (at, counter) in of.iter().enumerate() {
            let left = at as f64 * room;
            if at > 0 {
                painter.rect(Rect::new(left, 0.0, 1.0, 52.0), 0.0, "border", None);
            }
            let word = painter.say(&counter.metric.word());
            let runs = vec![TextRun {
                text: counter.value.clone(),
                font: ui(size, ink(counter.tone, "text")).semi(),
                class: "",
            }];
            let number = TextLine {
                pops: true,
                ..TextLine::new(left + inset, 18.0, room - inset, Anchor::Start, runs)
            };
            lagging(painter, counter, |painter| {
                painter.put(Primitive::Line(number));
                painter.text(left + inset, 36.0, room - inset, SMALL, &word);
            });
        }
    });
}

/// Draws a number and its word; with a note if the number lags behind its Pods.
fn lagging(painter: &mut Painter, counter: &Counter, draw: impl FnOnce(&mut Painter)) {
    if counter.lags.is_empty() {
        return draw(painter);
    }
    let title = painter.say(&counter.lags);
    let group = Group {
        title,
        ..Group::default()
    };
    painter.group(group, draw);
}

/// Style of numbers with their words in a line.
struct FactStyle {
    size: f64,
    gap: f64,
}

/// Draws numbers with their words in a line.
fn facts(
    painter: &mut Painter,
    (x, y, room): (f64, f64, f64),
    numbers: &[(String, &Counter)],
    style: &FactStyle,
) {
    let mut at = x;
    for (value, counter) in numbers {
        let word = format!(" {}", painter.say(&counter.metric.word()));
        let fonts = [
            ui(style.size, ink(counter.tone, "text")).semi(),
            ui(style.size, ink(counter.tone, "text-3")),
        ];
        let runs: [(&str, Font); 2] = [(value, fonts[0]), (&word, fonts[1])];
        lagging(painter, counter, |painter| {
            at += painter.run(at, y, x + room - at, &runs) + style.gap;
        });
    }
}

pub(super) fn tall(painter: &mut Painter, item: &Item, of: &ControllerCard) {
    let w = item.rect.w;
    let ControllerText {
        caption,
        name,
        long,
        footer,
        mono: image,
    } = card_text::controller(painter, of, w);
    painter.tile(&of.id.kind, 12.0, 12.0, 28.0);
    let (caption, room) = (painter.say(&caption), w - 62.0);
    painter.text(50.0, 18.0, room, SMALL, &caption);
    let small = mono(11.0, "text").semi();
    match name.rsplit_once('-').filter(|_| long) {
        Some((of, end)) => {
            painter.text(50.0, 32.0, room, small, &format!("{of}-"));
            painter.text(50.0, 45.0, room, small, end);
        }
        None => painter.text(50.0, 34.0, room, NAME, &name),
    }
    let mut foot = 52.0;
    if !of.counters.is_empty() {
        painter.rule(0.0, foot, w);
        let long = card_text::has_long_numbers(of);
        let tight = variant::has_tight_numbers(w);
        let style = CounterStyle {
            top: foot + 1.0,
            width: w,
            size: match (long, tight) {
                (true, true) => 13.0,
                (true, false) => 14.0,
                (false, _) => 16.0,
            },
            inset: if tight { 8.0 } else { 12.0 },
        };
        counters(painter, &of.counters, &style);
        foot += 53.0;
    }
    let chip = painter.say(&of.chip);
    if chip.is_empty() && !of.indexes.is_empty() {
        indexes(painter, &of.indexes, (w, foot + 11.0), &footer);
    }
    if footer.is_empty() && chip.is_empty() {
        return;
    }
    painter.rule(0.0, foot, w);
    let taken = painter.pill_end(w - 12.0, foot + 15.0, "", None, &chip);
    let font = if image {
        mono(11.0, "text-2")
    } else {
        ui(11.0, "text-2")
    };
    // A strategy gives way to the progress of an update.
    let room = w - 24.0 - taken;
    if chip.is_empty() || image || painter.width(font, &footer) <= room {
        painter.text(12.0, foot + 15.0, room, font, &footer);
    }
}

/// Draws the indexes of an Indexed Job beside the words at the foot, if there is room.
fn indexes(painter: &mut Painter, of: &[IndexState], (w, y): (f64, f64), beside: &str) {
    let left = 12.0 + painter.width(ui(11.0, ""), beside) + 12.0;
    let pitch = ((w - 12.0 - left) / of.len() as f64).min(12.0);
    if pitch < 3.0 {
        return;
    }
    let count = |state| of.iter().filter(|one| **one == state).count();
    let title = painter.say(&msg::job_indexes(
        count(IndexState::Completed),
        count(IndexState::Failed),
        count(IndexState::Open),
    ));
    let group = Group {
        title,
        ..Group::default()
    };
    painter.group(group, |painter| {
        let from = w - 12.0 - pitch * of.len() as f64;
        for (at, state) in of.iter().enumerate() {
            let (fill, line) = match state {
                IndexState::Completed => ("st-succeeded", None),
                IndexState::Failed => ("st-failed", None),
                IndexState::Open => ("", Some(Stroke::solid("border-strong", 1.0))),
            };
            let cell = Rect::new(from + at as f64 * pitch + 0.5, y, pitch - 2.0, 8.0);
            painter.rect(cell, 2.0_f64.min(cell.w / 2.0), fill, line);
            // A failed index is told apart without its colour.
            if *state == IndexState::Failed && cell.w >= 6.0 {
                let (x, y) = (cell.x + cell.w / 2.0, cell.y + 4.0);
                let cross = format!("M{} {}l4 4m0-4l-4 4", Px(x - 2.0), Px(y - 2.0));
                painter.path(cross, "", Some(Stroke::solid("surface", 1.0)));
            }
        }
    });
}

pub(super) fn wide(painter: &mut Painter, item: &Item, of: &ControllerCard) {
    let (w, h) = (item.rect.w, item.rect.h);
    let two = variant::has_counters_below(item.rect);
    let middle = if two { 26.0 } else { h / 2.0 };
    painter.tile(&of.id.kind, 12.0, middle - 14.0, 28.0);
    let caption = painter.say(&of.caption.words(&of.id.kind));
    let name = painter
        .width(NAME, &of.id.name)
        .min(w * 0.5)
        .max(painter.width(SMALL, &caption));
    let room = if two { w - 62.0 } else { name };
    painter.text(50.0, middle - 8.0, room, SMALL, &caption);
    painter.text(50.0, middle + 8.0, room, NAME, &of.id.name);
    let (pill, line) = (
        card_text::wide_pill(of, item.rect)
            .map(|pill| painter.say(pill))
            .unwrap_or_default(),
        if two { h - 18.0 } else { middle },
    );
    let taken = painter.pill_end(w - 12.0, line, "", None, &pill);
    let left = if two { 12.0 } else { 62.0 + name + 12.0 };
    let numbers: Vec<_> = of
        .counters
        .iter()
        .map(|counter| (counter.value.clone(), counter))
        .collect();
    let style = FactStyle {
        size: 12.0,
        gap: 12.0,
    };
    facts(
        painter,
        (left, line, w - left - taken - 12.0),
        &numbers,
        &style,
    );
}

pub(super) fn brief(painter: &mut Painter, item: &Item, of: &ControllerCard) {
    let w = item.rect.w;
    let BriefText {
        tiled,
        caption,
        name,
        numbers,
        tag,
    } = card_text::brief(painter, of, w);
    let left = if tiled { 35.0 } else { 8.0 };
    if tiled {
        painter.tile(&of.id.kind, 8.0, 7.0, 22.0);
    }
    painter.text(left, 11.0, w - left - 4.0, SMALL, &caption);
    painter.text(left, 25.0, w - left - 4.0, NAME, &name);
    if !tag.is_empty() {
        painter.text_end(w - 8.0, 47.0, w / 2.0, mono(11.0, "text-2"), &tag);
    }
    let style = FactStyle {
        size: 11.0,
        gap: 8.0,
    };
    facts(painter, (8.0, 47.0, w - 16.0), &numbers, &style);
}

/// Draws the card for a phone, with the budget of its rollout.
pub(super) fn stacked(painter: &mut Painter, item: &Item, of: &ControllerCard, budget: &Budget) {
    let w = item.rect.w;
    painter.tile(&of.id.kind, 12.0, 12.0, 28.0);
    let caption = painter.say(&of.caption.words(&of.id.kind));
    // The chip of a Deployment shows the progress of its update.
    let taken = match of.chip.is_empty() {
        true => 0.0,
        false => {
            let (words, state) = card_text::rolling(budget);
            let words = painter.say(&words);
            painter.pill_end(w - 12.0, 26.0, state.class(), Some(state.glyph()), &words)
        }
    };
    let room = w - 62.0 - taken;
    painter.text(50.0, 18.0, room, SMALL, &caption);
    let name = card_text::stacked_name(painter, of, room);
    painter.text(50.0, 34.0, room, NAME, &name);
    painter.rule(0.0, 52.0, w);
    let style = CounterStyle {
        top: 53.0,
        width: w,
        size: 16.0,
        inset: 12.0,
    };
    counters(painter, &of.counters, &style);
    painter.rule(0.0, 105.0, w);
    let roll = Group {
        class: "roll",
        ..Group::default()
    };
    painter.group(roll, |painter| limits(painter, w, budget));
}

/// Draws the Pods of a rollout between the limits of its budget, and the next step.
fn limits(painter: &mut Painter, w: f64, budget: &Budget) {
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
        let outline = (!line.is_empty()).then_some(Stroke::solid(line, 1.0));
        painter.rect(
            Rect::new(14.0 + x + 1.0, 118.0, *long, 8.0),
            if bar.gap > 0.0 { 2.0 } else { 0.0 },
            fill,
            outline,
        );
    }
    for limit in [budget.at_least, budget.at_most] {
        let line = format!("M{} 114V130", Px(14.0 + bar.limit(limit) + 1.0));
        painter.path(line, "", Some(Stroke::solid("text-2", 1.5)));
    }
    let limits = [
        painter.say(&msg::chart_at_least(budget.at_least)),
        painter.say(&msg::chart_at_most(budget.at_most)),
    ]
    .join(" · ");
    let room = w - long - 40.0;
    painter.text_end(w - 14.0, 122.0, room, ui(11.0, "text-2"), &limits);
    let text = painter.say(&budget.text);
    painter.text(14.0, 143.0, w - 28.0, SMALL, &text);
}
