//! Loops around the store, and the panel of a pass.

use super::painter::{PLAIN, Painter};
use super::primitive::{Font, NAME, SMALL, Stroke, mono, ui};
use crate::loops::layout::{IDLE, KEY};
use crate::loops::model::{CacheState, Code, Loop, PanelForm, Pass, STEP_ICONS};
use crate::shape::{CardBody, Item, Rect};
use crate::variant;
use explain::why::Row;
use i18n::format::{Px, middle};
use i18n::msg;

pub(super) fn store(painter: &mut Painter, item: &Item, version: u64) {
    let (w, h) = (item.rect.w, item.rect.h);
    let does = painter.say(&msg::store_does());
    let parts = [
        ("i-apiserver", "API server", does),
        ("i-etcd", "etcd", format!("resourceVersion {version}")),
    ];
    let side = variant::is_low_store(item.rect);
    let (wide, tall) = if side { (w / 2.0, h) } else { (w, h / 2.0) };
    for (at, (icon, name, small)) in parts.iter().enumerate() {
        let (x, y) = if side {
            (at as f64 * wide, 0.0)
        } else {
            (0.0, at as f64 * tall)
        };
        if at > 0 && !side {
            painter.rule(0.0, y, w);
        }
        let middle = y + tall / 2.0;
        if variant::is_store_line(item.rect) {
            painter.run(
                x + 10.0,
                middle,
                wide - 20.0,
                &[
                    (name, ui(13.0, "text").semi()),
                    ("  ", SMALL),
                    (small, SMALL),
                ],
            );
            continue;
        }
        painter.tile_of(icon, "cluster", x + 10.0, middle - 14.0, 28.0);
        painter.text(
            x + 46.0,
            middle - 9.0,
            wide - 56.0,
            ui(13.0, "text").semi(),
            name,
        );
        lines(
            painter,
            (x + 46.0, middle + 9.0, wide - 52.0),
            small,
            if side { 1 } else { 2 },
        );
    }
}

pub(super) fn cache(painter: &mut Painter, item: &Item, of: &CacheState) {
    let (w, h) = (item.rect.w, item.rect.h);
    let words = painter.say(&of.words());
    let name = painter.say(&msg::cache_of(&of.title));
    if variant::is_store_line(item.rect) {
        painter.run(
            10.0,
            h / 2.0,
            w - 20.0,
            &[
                (&name, ui(13.0, "text").semi()),
                ("  ", SMALL),
                (&words, SMALL),
            ],
        );
        return;
    }
    painter.text(10.0, 16.0, w - 20.0, ui(12.0, "text").semi(), &name);
    let most = if h > 48.0 { 2 } else { 1 };
    lines(painter, (10.0, 34.0, w - 20.0), &words, most);
}

/// Draws words on at most `most` lines; the last is cut.
fn lines(painter: &mut Painter, (x, y, room): (f64, f64, f64), text: &str, most: usize) {
    let mut all = painter.wrap(SMALL, text, room);
    if let Some(rest) = (all.len() > most).then(|| all.split_off(most - 1).concat()) {
        all.push(rest);
    }
    for (at, line) in all.iter().enumerate() {
        painter.text(x, y + 13.0 * at as f64, room, SMALL, line.trim_end());
    }
}

/// Path of an arc, clockwise, in degrees from the top.
fn arc(radius: f64, (cx, cy): (f64, f64), from: f64, to: f64) -> String {
    let at = |degrees: f64| {
        let angle = (degrees - 90.0).to_radians();
        (Px(cx + radius * angle.cos()), Px(cy + radius * angle.sin()))
    };
    let ((x1, y1), (x2, y2)) = (at(from), at(to));
    format!(
        "M{x1} {y1}A{0} {0} 0 {1} 1 {x2} {y2}",
        Px(radius),
        u8::from(to - from > 180.0)
    )
}

pub(super) fn draw(painter: &mut Painter, item: &Item, of: &Loop, above: bool) {
    let CardBody::Loop { big, far, two, .. } = &item.body else {
        return;
    };
    let (w, h) = (item.rect.w, item.rect.h);
    let lively = of.writes || of.told || *big;
    let ink = if !of.slow.is_empty() {
        "st-notready-text"
    } else if lively {
        "accent-text"
    } else if of.idle {
        "text-2"
    } else {
        "text"
    };
    let name = match lively {
        true => ui(12.0, ink).semi(),
        false => ui(12.0, ink).medium(),
    };
    if variant::is_loop_line(item.rect) {
        painter.icon(
            of.glyph,
            0.0,
            (h - 14.0) / 2.0,
            14.0,
            if lively { "accent-text" } else { "text-2" },
        );
        painter.text(18.0, h / 2.0, w - 18.0, name, &of.title);
        return;
    }
    let (low, small) = (
        variant::is_low_loop(item.rect),
        variant::is_small_loop(item.rect),
    );
    let side = if low {
        30.0
    } else if *big {
        80.0
    } else if of.idle {
        2.0 * IDLE
    } else if small {
        40.0
    } else {
        56.0
    };
    let gap = if *far { 18.0 } else { 2.0 };
    let ring = if above { h - side } else { 0.0 };
    let centre = (w / 2.0, ring + side / 2.0);
    circle(painter, of, centre, side / 2.0, *big);
    painter.icon(
        of.glyph,
        centre.0 - 9.0,
        centre.1 - 9.0,
        18.0,
        if lively { "accent-text" } else { "text-2" },
    );
    let first = if above {
        ring - gap - if *two { 20.0 } else { 9.0 }
    } else {
        side + gap + 9.0
    };
    let queue = if above {
        first - 13.0
    } else {
        first + if *two { 24.0 } else { 13.0 }
    };
    match of
        .title
        .split_once(' ')
        .filter(|_| *two || (small && painter.width(name, &of.title) > w))
    {
        Some((front, back)) => {
            painter.text_mid(w / 2.0, first - 1.0, w + 20.0, name, front);
            painter.text_mid(w / 2.0, first + 13.0, w + 20.0, name, back);
        }
        None => painter.text_mid(w / 2.0, first, w + 40.0, name, &of.title),
    }
    waiting(painter, of, (w / 2.0, queue));
}

/// Draws the ring of a loop: three arcs if the panel shows it, the third being its writes; or the progress of a slowed pass.
fn circle(painter: &mut Painter, of: &Loop, centre: (f64, f64), radius: f64, big: bool) {
    let (x, y, side) = (centre.0 - radius, centre.1 - radius, 2.0 * radius);
    let slow = !of.slow.is_empty();
    if let Some(part) = of.part.filter(|_| !big) {
        let bounds = Rect::new(x, y, side, side);
        painter.rect(
            bounds,
            radius,
            "surface",
            Some(Stroke::solid("border", 4.0)),
        );
        return painter.path(
            arc(radius - 2.0, centre, 0.0, f64::from(part.min(99)) * 3.6),
            "",
            Some(Stroke::solid("st-notready", 4.0)),
        );
    }
    if !of.told && !big {
        let ink = if slow {
            "st-notready"
        } else if of.writes {
            "accent"
        } else {
            "border"
        };
        let bounds = Rect::new(x, y, side, side);
        let stroke = Some(Stroke::solid(ink, 3.0));
        return painter.block("ring", bounds, radius, "surface", stroke);
    }
    painter.rect(Rect::new(x, y, side, side), radius, "surface", None);
    let thick = if side < 50.0 { 3.0 } else { 5.0 };
    let line = if slow { "st-notready" } else { "accent-line" };
    for (from, to, ink) in [
        (5.0, 115.0, line),
        (125.0, 235.0, line),
        (245.0, 355.0, if of.writes { "accent" } else { line }),
    ] {
        painter.path(
            arc(radius - thick / 2.0, centre, from, to),
            "",
            Some(Stroke::solid(ink, thick)),
        );
    }
}

/// Draws the waiting keys, a dot each.
fn waiting(painter: &mut Painter, of: &Loop, (x, y): (f64, f64)) {
    if !of.slow.is_empty() {
        let words = painter.say(&of.slow);
        return painter.text_mid(x, y, 160.0, ui(11.0, "st-notready-text").medium(), &words);
    }
    let dots = of.queue.min(6);
    let key = middle(&of.key, KEY);
    let font = mono(11.0, "text-2");
    let long = if key.is_empty() {
        0.0
    } else {
        painter.width(font, &key) + 4.0
    };
    let left = x - (dots as f64 * 9.0 + long) / 2.0;
    painter.text(left + dots as f64 * 9.0 + 2.0, y, long, font, &key);
    for at in 0..dots {
        painter.rect(
            Rect::new(left + at as f64 * 9.0, y - 3.0, 6.0, 6.0),
            3.0,
            "text-2",
            None,
        );
    }
    if of.queue > 6 && key.is_empty() {
        painter.text(
            left + dots as f64 * 9.0,
            y,
            40.0,
            ui(11.0, "text-2"),
            &format!("+{}", of.queue - 6),
        );
    }
}

/// Draws the last pass of a loop: its steps and its pseudo-code.
pub(super) fn pass(painter: &mut Painter, item: &Item, of: &Pass) {
    let (w, h) = (item.rect.w, item.rect.h);
    let tall = match of.form {
        PanelForm::Columns | PanelForm::Rows => 56.0,
        PanelForm::Beside => 48.0,
        PanelForm::Lines => 40.0,
    };
    painter.tile_of(of.glyph, "", 16.0, tall / 2.0 - 8.0, 28.0);
    let newest = if of.newest && matches!(of.form, PanelForm::Columns | PanelForm::Beside) {
        painter.say(&msg::legend_newest_write())
    } else {
        String::new()
    };
    let taken = painter.pill_end(w - 16.0, tall / 2.0 + 6.0, "act", None, &newest);
    let title = painter.say(&of.title);
    painter.text(54.0, tall / 2.0 - 2.0, w - 70.0 - taken, SMALL, &title);
    painter.text(54.0, tall / 2.0 + 14.0, w - 70.0 - taken, NAME, &of.key);
    let mut y = tall + 12.0;
    if !of.held.is_empty() {
        let held = painter.say(&of.held);
        painter.text(16.0, y + 8.0, w - 32.0, ui(12.0, "st-notready-text"), &held);
        y += 24.0;
    }
    let (left, code, room) = match of.form {
        PanelForm::Beside => (16.0, 16.0 + 230.0 + 12.0, 230.0),
        _ => (16.0, 16.0, w - 32.0),
    };
    let (_, tall) = painter.sized("steps", (left, y), |painter| steps(painter, of, room));
    let under = y + tall;
    let top = if of.form == PanelForm::Beside {
        y
    } else {
        under
    };
    let again = matches!(of.form, PanelForm::Columns | PanelForm::Rows)
        && of.held.is_empty()
        && !of.steps.is_empty();
    if again {
        let words = painter.say(&msg::pass_write_returns());
        painter.text_mid(w / 2.0, top + 8.0, w - 8.0, SMALL, &words);
    }
    let top = top + if again { 24.0 } else { 0.0 };
    painter.sized("pseudo", (code, top), |painter| {
        pseudo(painter, of, w - code - 16.0, h - top)
    });
}

/// Returns true if a row's name and value fit into one line.
fn fits(painter: &Painter, (name, value): &Row, room: f64) -> bool {
    let (name, value) = (painter.say(name), painter.say(value));
    painter.width(ui(12.0, ""), &name) + painter.width(mono(12.0, ""), &value) + 8.0 <= room
}

/// Draws Observe, Diff and Act in a width; returns their size.
fn steps(painter: &mut Painter, of: &Pass, w: f64) -> (f64, f64) {
    let columns = of.form == PanelForm::Columns;
    let count = of.steps.len().max(1) as f64;
    let wide = if columns {
        (w - 28.0 * (count - 1.0)) / count
    } else {
        w
    };
    let tall = |row: &Row| {
        if fits(painter, row, wide - 24.0) {
            18.0
        } else {
            36.0
        }
    };
    let most = of
        .steps
        .iter()
        .map(|step| of.rows(step).map(|row| tall(&row)).sum::<f64>())
        .fold(0.0, f64::max);
    let mut top = 0.0;
    for (at, step) in of.steps.iter().enumerate() {
        let title = painter.say(&step.phase.title());
        let own: Vec<Row> = of.rows(step).collect();
        let on = at == 2 && of.newest;
        if of.form == PanelForm::Lines {
            one_line(
                painter,
                (0.0, top + 10.0, w),
                STEP_ICONS[at.min(2)],
                &title,
                &own,
            );
            top += 22.0;
            continue;
        }
        let left = if columns {
            at as f64 * (wide + 28.0)
        } else {
            0.0
        };
        let tall = match of.form {
            PanelForm::Columns => (50.0 + most).max(112.0),
            PanelForm::Rows => 14.0 + own.len().max(1) as f64 * 18.0,
            _ => 30.0 + own.len() as f64 * 18.0,
        };
        let (fill, outline) = if on {
            ("accent-soft", Stroke::solid("accent", 1.0))
        } else {
            ("", PLAIN)
        };
        let bounds = Rect::new(left, top, wide, tall);
        painter.block("step", bounds, 12.0, fill, Some(outline));
        let ink = if on { "accent-text" } else { "text" };
        let head = top + if columns { 20.0 } else { 16.0 };
        painter.icon(STEP_ICONS[at.min(2)], left + 12.0, head - 8.0, 16.0, ink);
        painter.text(left + 34.0, head, wide - 46.0, ui(13.0, ink).semi(), &title);
        if columns && at > 0 {
            painter.text(
                left - 21.0,
                top + 54.0,
                20.0,
                ui(13.0, if on { "accent" } else { "edge" }),
                "→",
            );
        }
        // In rows they stand beside their title.
        let (inset, first) = match of.form {
            PanelForm::Rows => (104.0, top + 16.0),
            PanelForm::Columns => (12.0, top + 45.0),
            _ => (12.0, top + 35.0),
        };
        let mut line = first;
        for row in &own {
            let (name, value) = (painter.say(&row.0), painter.say(&row.1));
            let font = mono(12.0, ink).medium();
            // A value that does not fit beside its name is drawn below it.
            let below = columns && !fits(painter, row, wide - 24.0);
            let taken = painter
                .width(font, &value)
                .min(wide - inset - if below { 12.0 } else { 40.0 });
            let room = if below {
                wide - 24.0
            } else {
                wide - inset - taken - 20.0
            };
            painter.text(left + inset, line, room, ui(12.0, "text-2"), &name);
            line += if below { 18.0 } else { 0.0 };
            painter.text_end(left + wide - 12.0, line, taken, font, &value);
            line += 18.0;
        }
        top += if columns { 0.0 } else { tall + 6.0 };
    }
    if columns && !of.steps.is_empty() {
        top += (50.0 + most).max(112.0) + 12.0;
    } else {
        top += 6.0;
    }
    (w, top)
}

fn one_line(
    painter: &mut Painter,
    (x, y, w): (f64, f64, f64),
    icon: &'static str,
    title: &str,
    rows: &[Row],
) {
    painter.icon(icon, x, y - 8.0, 16.0, "text");
    painter.text(x + 22.0, y, 72.0, ui(13.0, "text").semi(), title);
    let mut at = x + 94.0;
    for (name, value) in rows {
        let (name, value) = (format!("{} ", painter.say(name)), painter.say(value));
        at += painter.run(
            at,
            y,
            x + w - at,
            &[
                (&name, ui(12.0, "text-2")),
                (&value, mono(12.0, "text").medium()),
            ],
        ) + 12.0;
    }
}

/// Keywords of the pseudo-code, and of programs.
pub const KEYWORDS: [&str; 17] = [
    "for", "range", "if", "else", "nil", "continue", "break", "def", "return", "elif", "while",
    "in", "not", "and", "or", "lambda", "None",
];

/// Measures of the pseudo-code.
struct CodeStyle {
    width: f64,
    /// Left edge of the code, beside the numbers of the lines.
    left: f64,
    size: f64,
    /// Height of a line.
    tall: f64,
}

/// Draws the pseudo-code in a width and at most a height; in the smallest panel only the executed lines. Returns its size.
fn pseudo(painter: &mut Painter, of: &Pass, width: f64, end: f64) -> (f64, f64) {
    let wide = of.form == PanelForm::Columns;
    let few = of.form == PanelForm::Lines;
    let style = CodeStyle {
        width,
        left: if wide { 42.0 } else { 28.0 },
        size: if wide { 12.0 } else { 11.0 },
        tall: if wide { 23.0 } else { 21.0 },
    };
    let inset = if few { 3.0 } else { 8.0 };
    let shown: Vec<(usize, &Code)> = of
        .code
        .iter()
        .enumerate()
        .filter(|(_, line)| !few || line.lit)
        .collect();
    if shown.is_empty() || width < 60.0 || end < style.tall + 8.0 {
        return (0.0, 0.0);
    }
    let rows: Vec<CodeRow> = shown
        .into_iter()
        .map(|(number, line)| CodeRow::measure(painter, number + 1, line, &style))
        .collect();
    let high = |row: &CodeRow| row.lines.len() as f64 * style.tall;
    let all = (rows.iter().map(high).sum::<f64>() + 2.0 * inset).min(end - 4.0);
    let ground = Rect::new(0.0, 0.0, width, all);
    painter.rect(ground, 12.0, "surface-2", Some(PLAIN));
    let mut top = inset;
    for row in &rows {
        let high = high(row);
        if top + high > all {
            break;
        }
        let class = if row.line.lit { "lit" } else { "" };
        painter.sized(class, (0.0, top), |painter| {
            row.draw(painter, &style);
            (width, high)
        });
        top += high;
    }
    (width, all)
}

/// Row of the pseudo-code: a line, broken where it is too long, and its value.
struct CodeRow<'a> {
    number: usize,
    line: &'a Code,
    lines: Vec<String>,
    value: String,
    /// Width of the value.
    taken: f64,
}

impl<'a> CodeRow<'a> {
    fn measure(painter: &Painter, number: usize, line: &'a Code, style: &CodeStyle) -> Self {
        let value = painter.say(&line.value);
        let taken = match value.is_empty() {
            true => 0.0,
            false => {
                let wide = painter.width(mono(11.0, "").medium(), &value);
                wide.min(style.width * 0.5) + 16.0
            }
        };
        let room = style.width - style.left - 16.0 - taken;
        CodeRow {
            number,
            line,
            lines: painter.wrap(mono(style.size, ""), &line.text, room),
            value,
            taken,
        }
    }

    fn draw(&self, painter: &mut Painter, style: &CodeStyle) {
        let CodeStyle {
            width,
            left,
            size,
            tall,
        } = *style;
        let (line, middle) = (self.line, tall / 2.0);
        if line.lit {
            let high = self.lines.len() as f64 * tall;
            let ground = Rect::new(1.0, 0.0, width - 2.0, high);
            painter.rect(ground, 0.0, "accent-soft", None);
            painter.rect(Rect::new(1.0, 0.0, 2.0, high), 0.0, "accent", None);
        }
        let number = self.number.to_string();
        painter.text_end(left - 12.0, middle, 30.0, mono(11.0, "text-3"), &number);
        if self.taken > 0.0 {
            let (ink, ground) = match line.lit {
                true => ("on-accent", "accent"),
                false => ("accent-text", "surface"),
            };
            let x = width - 8.0 - self.taken;
            let bounds = Rect::new(x, middle - 9.0, self.taken, 18.0);
            painter.rect(bounds, 4.0, ground, None);
            let font = mono(11.0, ink).medium();
            painter.text(x + 8.0, middle, self.taken - 16.0, font, &self.value);
        }
        let colour = if line.skipped { "text-3" } else { "text" };
        let room = width - left - 16.0 - self.taken;
        for (at, text) in self.lines.iter().enumerate() {
            let runs: Vec<(&str, Font)> = text
                .split_inclusive(' ')
                .map(|word| {
                    let keyword = !line.skipped && KEYWORDS.contains(&word.trim());
                    let colour = if keyword { "c-kw" } else { colour };
                    (word, mono(size, colour))
                })
                .collect();
            // What is broken goes on to the right of where it began.
            let hang = match at {
                0 => 0.0,
                _ => painter.width(mono(size, ""), "    "),
            };
            painter.run(left + hang, middle + at as f64 * tall, room, &runs);
        }
    }
}
