//! Loops around the store, and the panel of a pass.

use super::paper::{NAME, PLAIN, Paper, SMALL, mono, ui};
use crate::loops::model::{Code, Loop, PanelForm, Pass, STEP_ICONS};
use crate::shape::{CardBody, Item};
use crate::variant;
use explain::why::Row;
use i18n::format::Px;
use i18n::msg;

pub(super) fn store(paper: &mut Paper, item: &Item, version: u64) {
    let (w, h) = (item.rect.w, item.rect.h);
    let does = paper.say(&msg::store_does());
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
            paper.rule(0.0, y, w);
        }
        let middle = y + tall / 2.0;
        if variant::is_store_line(item.rect) {
            paper.run(
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
        paper.tile_of(icon, "cluster", x + 10.0, middle - 14.0, 28.0);
        paper.text(
            x + 46.0,
            middle - 9.0,
            wide - 56.0,
            ui(13.0, "text").semi(),
            name,
        );
        lines(
            paper,
            (x + 46.0, middle + 9.0, wide - 52.0),
            small,
            if side || at > 0 { 1 } else { 2 },
        );
    }
}

/// Wraps words to at most `most` lines; the last is truncated.
fn lines(paper: &mut Paper, (x, y, room): (f64, f64, f64), text: &str, most: usize) {
    let (mut rest, mut line) = (text.split(' ').peekable(), 0);
    while rest.peek().is_some() && line < most {
        let mut own = rest.next().unwrap_or_default().to_string();
        while let Some(word) = rest.peek() {
            if line + 1 < most && SMALL.width(&format!("{own} {word}")) > room {
                break;
            }
            own = format!("{own} {word}");
            rest.next();
        }
        paper.text(x, y + 13.0 * line as f64, room, SMALL, &own);
        line += 1;
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

pub(super) fn draw(paper: &mut Paper, item: &Item, of: &Loop, above: bool) {
    let CardBody::Loop { big, far, two, .. } = &item.body else {
        return;
    };
    let (w, h) = (item.rect.w, item.rect.h);
    let lively = of.writes || of.told || *big;
    let ink = if !of.slow.is_empty() {
        "st-notready-text"
    } else if lively {
        "accent-text"
    } else {
        "text"
    };
    let name = match lively {
        true => ui(12.0, ink).semi(),
        false => ui(12.0, ink).medium(),
    };
    if variant::is_loop_line(item.rect) {
        paper.icon(
            of.glyph,
            0.0,
            (h - 14.0) / 2.0,
            14.0,
            if lively { "accent-text" } else { "text-2" },
        );
        paper.text(18.0, h / 2.0, w - 18.0, name, &of.title);
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
    } else if small {
        40.0
    } else {
        56.0
    };
    let gap = if *far { 18.0 } else { 2.0 };
    let ring = if above { h - side } else { 0.0 };
    let centre = (w / 2.0, ring + side / 2.0);
    circle(paper, of, centre, side / 2.0, *big);
    paper.icon(
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
        .filter(|_| *two || (small && name.width(&of.title) > w))
    {
        Some((front, back)) => {
            paper.text_mid(w / 2.0, first - 1.0, w + 20.0, name, front);
            paper.text_mid(w / 2.0, first + 13.0, w + 20.0, name, back);
        }
        None => paper.text_mid(w / 2.0, first, w + 40.0, name, &of.title),
    }
    waiting(paper, of, (w / 2.0, queue));
}

/// Draws the ring of a loop: three arcs if the panel shows it, the third being its writes; or the progress of a slowed pass.
fn circle(paper: &mut Paper, of: &Loop, centre: (f64, f64), radius: f64, big: bool) {
    let (x, y, side) = (centre.0 - radius, centre.1 - radius, 2.0 * radius);
    let slow = !of.slow.is_empty();
    if let Some(part) = of.part.filter(|_| !big) {
        paper.rect(
            (x, y, side, side),
            radius,
            "surface",
            Some(("border", 4.0, "")),
        );
        return paper.path(
            &arc(radius - 2.0, centre, 0.0, f64::from(part.min(99)) * 3.6),
            "",
            Some(("st-notready", 4.0, "")),
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
        return paper.rect((x, y, side, side), radius, "surface", Some((ink, 3.0, "")));
    }
    paper.rect((x, y, side, side), radius, "surface", None);
    let thick = if side < 50.0 { 3.0 } else { 5.0 };
    let line = if slow { "st-notready" } else { "accent-line" };
    for (from, to, ink) in [
        (5.0, 115.0, line),
        (125.0, 235.0, line),
        (245.0, 355.0, if of.writes { "accent" } else { line }),
    ] {
        paper.path(
            &arc(radius - thick / 2.0, centre, from, to),
            "",
            Some((ink, thick, "")),
        );
    }
}

/// Draws the waiting keys, a dot each.
fn waiting(paper: &mut Paper, of: &Loop, (x, y): (f64, f64)) {
    if !of.slow.is_empty() {
        let words = paper.say(&of.slow);
        return paper.text_mid(x, y, 160.0, ui(11.0, "st-notready-text").medium(), &words);
    }
    let dots = of.queue.min(6);
    let left = x - dots as f64 * 4.5;
    for at in 0..dots {
        paper.rect(
            (left + at as f64 * 9.0, y - 3.0, 6.0, 6.0),
            3.0,
            "text-2",
            None,
        );
    }
    if of.queue > 6 {
        paper.text(
            left + dots as f64 * 9.0,
            y,
            40.0,
            ui(11.0, "text-2"),
            &format!("+{}", of.queue - 6),
        );
    }
}

/// Draws the last pass of a loop: its steps and its pseudo-code.
pub(super) fn pass(paper: &mut Paper, item: &Item, of: &Pass) {
    let (w, h) = (item.rect.w, item.rect.h);
    let tall = match of.form {
        PanelForm::Columns | PanelForm::Rows => 56.0,
        PanelForm::Beside => 48.0,
        PanelForm::Lines => 40.0,
    };
    paper.tile_of(of.glyph, "", 16.0, tall / 2.0 - 8.0, 28.0);
    let newest = if of.newest && matches!(of.form, PanelForm::Columns | PanelForm::Beside) {
        paper.say(&msg::legend_newest_write())
    } else {
        String::new()
    };
    let taken = paper.pill_end(w - 16.0, tall / 2.0 + 6.0, "act", None, &newest);
    let title = paper.say(&of.title);
    paper.text(54.0, tall / 2.0 - 2.0, w - 70.0 - taken, SMALL, &title);
    paper.text(54.0, tall / 2.0 + 14.0, w - 70.0 - taken, NAME, &of.key);
    let mut y = tall + 12.0;
    if !of.held.is_empty() {
        let held = paper.say(&of.held);
        paper.text(16.0, y + 8.0, w - 32.0, ui(12.0, "st-notready-text"), &held);
        y += 24.0;
    }
    let (left, code, room) = match of.form {
        PanelForm::Beside => (16.0, 16.0 + 230.0 + 12.0, 230.0),
        _ => (16.0, 16.0, w - 32.0),
    };
    let under = steps(paper, of, (left, y, room));
    let top = if of.form == PanelForm::Beside {
        y
    } else {
        under
    };
    let again = matches!(of.form, PanelForm::Columns | PanelForm::Rows)
        && of.held.is_empty()
        && !of.steps.is_empty();
    if again {
        let words = paper.say(&msg::pass_write_returns());
        paper.text_mid(w / 2.0, top + 8.0, w - 8.0, SMALL, &words);
    }
    pseudo(
        paper,
        of,
        (
            code,
            top + if again { 24.0 } else { 0.0 },
            w - code - 16.0,
            h,
        ),
    );
}

/// Returns true if a row's name and value fit into one line.
fn fits(paper: &Paper, (name, value): &Row, room: f64) -> bool {
    ui(12.0, "").width(&paper.say(name)) + mono(12.0, "").width(&paper.say(value)) + 8.0 <= room
}

/// Draws Observe, Diff and Act; returns their bottom.
fn steps(paper: &mut Paper, of: &Pass, (x, y, w): (f64, f64, f64)) -> f64 {
    let columns = of.form == PanelForm::Columns;
    let count = of.steps.len().max(1) as f64;
    let wide = if columns {
        (w - 28.0 * (count - 1.0)) / count
    } else {
        w
    };
    let tall = |row: &Row| {
        if fits(paper, row, wide - 24.0) {
            18.0
        } else {
            36.0
        }
    };
    let most = of
        .steps
        .iter()
        .map(|step| of.rows(step).map(tall).sum::<f64>())
        .fold(0.0, f64::max);
    let mut top = y;
    for (at, step) in of.steps.iter().enumerate() {
        let (title, own): (_, Vec<&Row>) = (paper.say(&step.0.title()), of.rows(step).collect());
        let on = at == 2 && of.newest;
        if of.form == PanelForm::Lines {
            one_line(
                paper,
                (x, top + 10.0, w),
                STEP_ICONS[at.min(2)],
                &title,
                &own,
            );
            top += 22.0;
            continue;
        }
        let left = if columns {
            x + at as f64 * (wide + 28.0)
        } else {
            x
        };
        let tall = match of.form {
            PanelForm::Columns => (50.0 + most).max(112.0),
            PanelForm::Rows => 14.0 + own.len().max(1) as f64 * 18.0,
            _ => 30.0 + own.len() as f64 * 18.0,
        };
        let (fill, outline) = if on {
            ("accent-soft", ("accent", 1.0, ""))
        } else {
            ("", PLAIN)
        };
        paper.rect((left, top, wide, tall), 12.0, fill, Some(outline));
        let ink = if on { "accent-text" } else { "text" };
        let head = top + if columns { 20.0 } else { 16.0 };
        paper.icon(STEP_ICONS[at.min(2)], left + 12.0, head - 8.0, 16.0, ink);
        paper.text(left + 34.0, head, wide - 46.0, ui(13.0, ink).semi(), &title);
        if columns && at > 0 {
            paper.text(
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
        for row in own {
            let (name, value) = (paper.say(&row.0), paper.say(&row.1));
            let font = mono(12.0, ink).medium();
            // A value that does not fit beside its name is drawn below it.
            let below = columns && !fits(paper, row, wide - 24.0);
            let taken = font
                .width(&value)
                .min(wide - inset - if below { 12.0 } else { 40.0 });
            let room = if below {
                wide - 24.0
            } else {
                wide - inset - taken - 20.0
            };
            paper.text(left + inset, line, room, ui(12.0, "text-2"), &name);
            line += if below { 18.0 } else { 0.0 };
            paper.text_end(left + wide - 12.0, line, taken, font, &value);
            line += 18.0;
        }
        top += if columns { 0.0 } else { tall + 6.0 };
    }
    if columns && !of.steps.is_empty() {
        top + (50.0 + most).max(112.0) + 12.0
    } else {
        top + 6.0
    }
}

fn one_line(
    paper: &mut Paper,
    (x, y, w): (f64, f64, f64),
    icon: &'static str,
    title: &str,
    rows: &[&Row],
) {
    paper.icon(icon, x, y - 8.0, 16.0, "text");
    paper.text(x + 22.0, y, 72.0, ui(13.0, "text").semi(), title);
    let mut at = x + 94.0;
    for (name, value) in rows {
        let (name, value) = (format!("{} ", paper.say(name)), paper.say(value));
        at += paper.run(
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

/// Draws the pseudo-code; in the smallest panel only the executed lines.
fn pseudo(paper: &mut Paper, of: &Pass, (x, y, w, end): (f64, f64, f64, f64)) {
    let shown: Vec<(usize, &Code)> = of
        .code
        .iter()
        .enumerate()
        .filter(|(_, line)| of.form != PanelForm::Lines || line.lit)
        .collect();
    let (size, tall) = if of.form == PanelForm::Columns {
        (12.0, 23.0)
    } else {
        (11.0, 21.0)
    };
    if shown.is_empty() || w < 60.0 || end - y < tall + 8.0 {
        return;
    }
    let inset = if of.form == PanelForm::Lines {
        3.0
    } else {
        8.0
    };
    let all = (shown.len() as f64 * tall + 2.0 * inset).min(end - y - 4.0);
    paper.rect((x, y, w, all), 12.0, "surface-2", Some(PLAIN));
    for (row, (number, line)) in shown.into_iter().enumerate() {
        let top = y + inset + row as f64 * tall;
        if top + tall > y + all {
            break;
        }
        if line.lit {
            paper.rect((x + 1.0, top, w - 2.0, tall), 0.0, "accent-soft", None);
            paper.rect((x + 1.0, top, 2.0, tall), 0.0, "accent", None);
        }
        let middle = top + tall / 2.0;
        paper.text_end(
            x + 30.0,
            middle,
            30.0,
            mono(11.0, "text-3"),
            &(number + 1).to_string(),
        );
        let value = paper.say(&line.value);
        let font = mono(11.0, if line.lit { "on-accent" } else { "accent-text" }).medium();
        let taken = if value.is_empty() {
            0.0
        } else {
            font.width(&value).min(w * 0.46) + 16.0
        };
        if taken > 0.0 {
            paper.rect(
                (x + w - 8.0 - taken, middle - 9.0, taken, 18.0),
                4.0,
                if line.lit { "accent" } else { "surface" },
                None,
            );
            paper.text(x + w - taken, middle, taken - 16.0, font, &value);
        }
        paper.text(
            x + 42.0,
            middle,
            w - 58.0 - taken,
            mono(size, if line.skipped { "text-3" } else { "text" }),
            line.text,
        );
    }
}
