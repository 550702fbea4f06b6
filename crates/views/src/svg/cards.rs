//! Cards of everything except controllers.

use super::paper::{Font, NAME, PLAIN, Paper, SMALL, mono, outline, ui};
use crate::card_text;
use crate::shape::{CardBody, CardTable, Item, NodeBody, OLD_REVISION_ALPHA};
use crate::variant;
use i18n::format::{Px, count, sentence, volume as volume_name};
use i18n::{Message, msg};
use projection::model::PodState;

/// Colour of a Pod's status.
fn state_ink(state: PodState) -> &'static str {
    match state {
        PodState::Pending => "st-pending-text",
        PodState::Creating => "st-creating-text",
        PodState::NotReady => "st-notready-text",
        PodState::Ready => "st-ready-text",
        PodState::Terminating => "st-terminating-text",
        PodState::Failed => "st-failed-text",
        PodState::Succeeded => "st-succeeded-text",
    }
}

pub(super) fn service(paper: &mut Paper, item: &Item, form: &Message) {
    let (w, h) = (item.rect.w, item.rect.h);
    let (flat, slim) = (
        variant::is_flat_service(item.rect),
        variant::is_slim_service(item.rect),
    );
    let (middle, tile, left) = if flat {
        (
            h / 2.0,
            if slim { 22.0 } else { 28.0 },
            if slim { 8.0 } else { 12.0 },
        )
    } else {
        (26.0, 28.0, 12.0)
    };
    paper.tile(&item.id.kind, left, middle - tile / 2.0, tile);
    let words = paper.say(form);
    let taken = paper.pill_end(
        w - left,
        middle,
        card_text::service_class(item),
        None,
        &words,
    );
    let x = left + tile + if slim { 6.0 } else { 10.0 };
    let (room, name) = (
        w - x - taken - 8.0,
        card_text::name(item, 92.0 + 6.6 * form.length() as f64),
    );
    if flat && !variant::has_narrow_name(item.rect) {
        paper.run(
            x,
            middle,
            room,
            &[
                (&item.id.kind, ui(12.0, "text-3")),
                ("  ", SMALL),
                (&name, NAME),
            ],
        );
    } else {
        paper.text(x, middle - 8.0, room, SMALL, &item.id.kind);
        paper.text(x, middle + 8.0, room, NAME, &name);
    }
}

/// Draws the background of a Pod, by its state.
fn pod_ground(
    paper: &mut Paper,
    item: &Item,
    state: PodState,
    chosen: bool,
    radius: f64,
    fill: &str,
) {
    let plain = match state {
        PodState::Creating => ("accent-line", 1.0, ""),
        PodState::Pending | PodState::Terminating => ("border-strong", 1.0, "3 2"),
        PodState::Failed => ("st-failed", 1.0, ""),
        _ => PLAIN,
    };
    let fill = if state == PodState::Terminating {
        "st-terminating-soft"
    } else {
        fill
    };
    paper.rect(
        (0.0, 0.0, item.rect.w, item.rect.h),
        radius,
        fill,
        Some(outline(chosen, plain)),
    );
}

pub(super) fn pod(paper: &mut Paper, item: &Item, chosen: bool) {
    let CardBody::Pod {
        state,
        lead,
        tail,
        word,
        note,
        ..
    } = &item.body
    else {
        return;
    };
    let (w, h) = (item.rect.w, item.rect.h);
    let (line, slender) = (variant::is_line(item.rect), variant::is_slender(w));
    pod_ground(
        paper,
        item,
        *state,
        chosen,
        if line { 8.0 } else { 12.0 },
        "surface",
    );
    let (left, glyph) = if line {
        (6.0, 16.0)
    } else if slender {
        (8.0, 16.0)
    } else {
        (12.0, 24.0)
    };
    paper.icon(state.glyph(), left, (h - glyph) / 2.0, glyph, "text");
    let x = left
        + glyph
        + if line {
            5.0
        } else if slender {
            6.0
        } else {
            10.0
        };
    let room = w - x - left;
    let (word, note) = (paper.say(word), paper.say(note));
    let note = if note.is_empty() {
        note
    } else {
        format!(" · {note}")
    };
    let [plain, name] = [
        mono(12.0, "text-3"),
        mono(
            12.0,
            if *state == PodState::Terminating {
                "text-2"
            } else {
                "text"
            },
        )
        .medium(),
    ];
    let says = [
        (word.as_str(), ui(11.0, state_ink(*state)).medium()),
        (note.as_str(), SMALL),
    ];
    if line {
        let wide = paper.run(x, h / 2.0, room, &[(lead, plain), (tail, name)]) + 6.0;
        paper.run(x + wide, h / 2.0, room - wide, &says);
    } else {
        paper.run(x, h / 2.0 - 8.0, room, &[(lead, plain), (tail, name)]);
        paper.run(x, h / 2.0 + 8.0, room, &says);
    }
}

pub(super) fn tile(paper: &mut Paper, item: &Item, chosen: bool) {
    let CardBody::Tile {
        state,
        tail,
        note,
        kin,
        old,
        ..
    } = &item.body
    else {
        return;
    };
    let (w, h) = (item.rect.w, item.rect.h);
    pod_ground(
        paper,
        item,
        *state,
        chosen || *kin,
        8.0,
        if *old { "surface-2" } else { "surface" },
    );
    let (lead, end) = card_text::tile_name(tail);
    let note = paper.say(note);
    let slim = variant::is_slim_tile(item.rect);
    let left = if slim { 3.0 } else { 6.0 };
    let two = variant::has_note_below(item.rect, !note.is_empty());
    paper.at(
        (left, (h - 14.0) / 2.0),
        if *old { OLD_REVISION_ALPHA } else { 1.0 },
        |paper| paper.icon(state.glyph(), 0.0, 0.0, 14.0, "text"),
    );
    let x = left + 14.0 + if slim { 3.0 } else { 5.0 };
    let room = w - x - left;
    let fonts = [
        mono(11.0, "text-3"),
        mono(11.0, if *old { "text-3" } else { "text" }).medium(),
    ];
    if two {
        paper.run(x, h / 2.0 - 7.0, room, &[(lead, fonts[0]), (end, fonts[1])]);
        paper.text(x, h / 2.0 + 7.0, room, ui(11.0, "text-2"), &note);
        return;
    }
    let taken = if note.is_empty() {
        0.0
    } else {
        SMALL.width(&note) + 5.0
    };
    paper.text_end(w - left, h / 2.0, taken, SMALL, &note);
    paper.run(
        x,
        h / 2.0,
        room - taken,
        &[(lead, fonts[0]), (end, fonts[1])],
    );
}

pub(super) fn gone(paper: &mut Paper, item: &Item, name: &str) {
    let (w, h) = (item.rect.w, item.rect.h);
    paper.rect(
        (0.0, 0.0, w, h),
        8.0,
        "",
        Some(("border-strong", 1.0, "1 2")),
    );
    let (word, font) = (paper.say(&msg::tile_deleted()), ui(11.0, "text-2").medium());
    let taken = font.width(&word);
    paper.text_end(w - 6.0, h / 2.0, taken, font, &word);
    paper.text(
        6.0,
        h / 2.0,
        w - taken - 18.0,
        mono(11.0, "text-3").struck(),
        name,
    );
}

pub(super) fn claim(paper: &mut Paper, item: &Item, fact: &Message, chosen: bool) {
    let (w, h) = (item.rect.w, item.rect.h);
    paper.path(
        &card_text::ticket((w, h)),
        "surface",
        Some(outline(chosen, ("border-strong", 1.0, ""))),
    );
    let slim = variant::is_slim_claim(item.rect);
    let (mut x, tile) = if slim { (12.0, 22.0) } else { (14.0, 28.0) };
    let right = x;
    if !variant::is_slender(w) {
        paper.tile("PersistentVolumeClaim", x, (h - tile) / 2.0, tile);
        x += tile + if slim { 6.0 } else { 10.0 };
    }
    let (name, long) = card_text::claim_name(item);
    let (room, fact) = (w - x - right, paper.say(fact));
    if long {
        let half = name.chars().count().div_ceil(2);
        let (first, second): (String, String) = (
            name.chars().take(half).collect(),
            name.chars().skip(half).collect(),
        );
        paper.text(x, h / 2.0 - 15.0, room, NAME, &first);
        paper.text(x, h / 2.0 - 1.0, room, NAME, &second);
        paper.text(x, h / 2.0 + 14.0, room, SMALL, &fact);
    } else {
        paper.text(x, h / 2.0 - if slim { 7.0 } else { 8.0 }, room, NAME, &name);
        paper.text(
            x,
            h / 2.0 + if slim { 7.0 } else { 8.0 },
            room,
            SMALL,
            &fact,
        );
    }
}

pub(super) fn cylinder(
    paper: &mut Paper,
    item: &Item,
    fact: &Message,
    data: &Message,
    chosen: bool,
) {
    let (w, h) = (item.rect.w, item.rect.h);
    let outline = outline(chosen, ("border-strong", 1.0, ""));
    paper.path(&card_text::cylinder((w, h)), "surface", Some(outline));
    let (r, rim) = (w / 2.0 - 1.0, card_text::cylinder_rim(h));
    let top = format!(
        "M1 {2}A{0} {rim} 0 0 1 {1} {2}A{0} {rim} 0 0 1 1 {2}Z",
        Px(r),
        Px(w - 1.0),
        Px(rim + 1.0)
    );
    paper.path(&top, "k-storage-soft", Some(outline));
    // Vertical centres of the name, the facts and the data.
    let lines = if variant::is_slim_cylinder(h) {
        [21.0, 35.0, 54.0]
    } else {
        [40.0, 56.0, 82.0]
    };
    let name = volume_name(&item.id.name);
    let (wide, glyph) = (
        NAME.width(&name),
        if variant::is_slender(w) { 0.0 } else { 20.0 },
    );
    let left = (w - wide - glyph) / 2.0;
    if glyph > 0.0 {
        paper.icon("i-pv", left, lines[0] - 7.0, 14.0, "k-storage");
    }
    paper.text(left + glyph, lines[0], w, NAME, &name);
    let fact = paper.say(fact);
    paper.text_mid(w / 2.0, lines[1], w - 20.0, SMALL, &fact);
    // No data is shown unless a person wrote some.
    let (class, words) = match (data.is_empty(), item.state == "bound") {
        (false, _) => ("storage", paper.say(data)),
        (true, true) => return,
        (true, false) => ("", sentence(&item.state)),
    };
    let wide = ui(11.0, "text").medium().width(&words) + 16.0;
    paper.pill_end((w + wide) / 2.0, lines[2], class, None, &words);
}

pub(super) fn volume(paper: &mut Paper, item: &Item, fact: &Message) {
    let room = item.rect.w - 62.0;
    paper.tile("PersistentVolume", 12.0, 12.0, 28.0);
    paper.text(50.0, 18.0, room, NAME, &volume_name(&item.id.name));
    let fact = paper.say(fact);
    paper.text(50.0, 34.0, room, SMALL, &fact);
}

pub(super) fn class(paper: &mut Paper, item: &Item, reclaim: &Message) {
    let room = item.rect.w - 24.0;
    paper.tile("StorageClass", 12.0, 12.0, 28.0);
    paper.text(12.0, 56.0, room, SMALL, "StorageClass");
    paper.text(12.0, 72.0, room, NAME, &card_text::name(item, 24.0));
    let reclaim = paper.say(&msg::class_reclaim(reclaim));
    paper.text(12.0, 92.0, room, SMALL, &reclaim);
}

pub(super) fn stored(paper: &mut Paper, item: &Item, fact: &Message, missing: bool, chosen: bool) {
    let (w, h, kind) = (item.rect.w, item.rect.h, &item.id.kind);
    let plain = ("border", 1.0, if missing { "3 2" } else { "" });
    paper.rect(
        (0.0, 0.0, w, h),
        8.0,
        "surface",
        Some(outline(chosen, plain)),
    );
    paper.tile(kind, 6.0, (h - 18.0) / 2.0, 18.0);
    if !variant::has_two_lines(item.rect) {
        let name = card_text::name(item, 44.0 + 7.0 * kind.len() as f64);
        paper.run(
            30.0,
            h / 2.0,
            w - 36.0,
            &[(kind, SMALL), ("  ", SMALL), (&name, NAME)],
        );
        return;
    }
    let fact = paper.say(fact);
    let fact = if fact.is_empty() {
        fact
    } else {
        format!(" · {fact}")
    };
    let ink = if missing { "st-failed-text" } else { "text-3" };
    paper.run(
        30.0,
        h / 2.0 - 8.0,
        w - 36.0,
        &[(kind, SMALL), (&fact, ui(11.0, ink))],
    );
    paper.text(
        30.0,
        h / 2.0 + 8.0,
        w - 36.0,
        NAME,
        &card_text::name(item, 48.0),
    );
}

pub(super) fn node(paper: &mut Paper, item: &Item, of: &NodeBody) {
    let w = item.rect.w;
    if let Some(pods) = of.small {
        let glyph = match (of.ready, of.cordoned) {
            (false, _) => Some(("i-error", "st-failed")),
            (true, true) => Some(("i-cordon", "st-notready")),
            (true, false) => None,
        };
        let x = match glyph {
            Some((glyph, ink)) => {
                paper.icon(glyph, 7.0, 7.5, 12.0, ink);
                23.0
            }
            None => 7.0,
        };
        let number = count(pods);
        paper.text_end(w - 7.0, 13.5, 60.0, SMALL, &number);
        paper.text(
            x,
            13.5,
            w - x - 14.0 - SMALL.width(&number),
            mono(11.0, "text-2").medium(),
            &item.id.name,
        );
        return;
    }
    paper.tile("Node", 12.0, 12.0, 28.0);
    let (class, icon, words) = card_text::node_pill(of);
    let words = paper.say(&words);
    let taken = paper.pill_end(w - 12.0, 26.0, class, Some(icon), &words);
    paper.text(50.0, 18.0, w - 62.0 - taken, SMALL, "Node");
    paper.text(
        50.0,
        34.0,
        w - 62.0 - taken,
        NAME,
        &card_text::name(item, 134.0),
    );
    let mut y = 52.0;
    for (what, value, share) in &of.meters {
        paper.text(12.0, y + 8.0, w / 2.0, ui(11.0, "text-2"), what);
        paper.text_end(w - 12.0, y + 8.0, w - 60.0, mono(11.0, "text-2"), value);
        let ink = if !of.ready {
            "border-strong"
        } else if *share > 80.0 {
            "st-notready"
        } else {
            "accent"
        };
        paper.rect((12.0, y + 18.0, w - 24.0, 6.0), 3.0, "surface-3", None);
        paper.rect(
            (
                12.0,
                y + 18.0,
                (w - 24.0) * share.clamp(0.0, 100.0) / 100.0,
                6.0,
            ),
            3.0,
            ink,
            None,
        );
        y += 32.0;
    }
    let lines: Vec<String> = of
        .note
        .iter()
        .filter(|line| !line.is_empty())
        .map(|line| paper.say(line))
        .collect();
    if lines.is_empty() {
        return;
    }
    let (soft, ink) = match (of.ready, of.cordoned) {
        (false, _) => ("st-failed-soft", "st-failed-text"),
        (true, true) => ("st-notready-soft", "st-notready-text"),
        (true, false) => ("surface-2", "text-2"),
    };
    paper.rect((12.0, y + 2.0, w - 24.0, 48.0), 8.0, soft, None);
    let first = y + 26.0 - (lines.len() - 1) as f64 * 8.0;
    lines.iter().enumerate().for_each(|(at, line)| {
        paper.text(
            20.0,
            first + at as f64 * 16.0,
            w - 40.0,
            ui(11.0, ink),
            line,
        )
    });
}

/// Draws the tray of unscheduled Pods.
pub(super) fn tray(
    paper: &mut Paper,
    item: &Item,
    [title, aside, head]: [&Message; 3],
    rows: &[[Message; 3]],
) {
    let (w, h) = (item.rect.w, item.rect.h);
    paper.rect(
        (0.0, 0.0, w, h),
        12.0,
        "surface",
        Some(("border-strong", 1.0, "3 2")),
    );
    let narrow = w < 560.0;
    let (name, title, aside, head) = (
        paper.say(&msg::tray_title()),
        paper.say(title),
        paper.say(aside),
        paper.say(head),
    );
    let bold = ui(13.0, "text").semi();
    let wide = paper.run(16.0, 20.0, w - 32.0, &[(&name, bold)]);
    let pill = ui(11.0, "text").medium().width(&title) + 16.0;
    paper.pill_end(16.0 + wide + 8.0 + pill, 20.0, "", None, &title);
    if !narrow {
        paper.text_end(w - 16.0, 20.0, w - wide - pill - 60.0, SMALL, &aside);
    }
    let (left, top) = if narrow { (16.0, 100.0) } else { (236.0, 40.0) };
    let room = w - left - 16.0;
    paper.text(left, top + 8.0, room, SMALL, &head);
    for (at, [who, why, detail]) in rows.iter().enumerate() {
        let y = top + 30.0 + at as f64 * 24.0;
        if y > h - 6.0 {
            break;
        }
        let [who, why, detail] = [who, why, detail].map(|text| paper.say(text));
        paper.text(left, y, 84.0, mono(12.0, "text"), &who);
        if !why.is_empty() {
            paper.text(left + 92.0, y, 20.0, ui(12.0, "st-failed-text"), "×");
        }
        let parts: [(&str, Font); 3] = [
            (&why, ui(12.0, "text").semi()),
            ("  ", SMALL),
            (&detail, SMALL),
        ];
        paper.run(
            left + 120.0,
            y,
            room - 120.0,
            &parts[..if narrow { 1 } else { 3 }],
        );
    }
}

/// Draws the terminal of a Pod: its commands and their output.
pub(super) fn terminal(
    paper: &mut Paper,
    item: &Item,
    state: Option<PodState>,
    title: &Message,
    lines: &[String],
) {
    let (w, h) = (item.rect.w, item.rect.h);
    let tight = variant::is_tight_terminal(item.rect);
    let left = match state {
        Some(state) => {
            paper.icon(state.glyph(), 12.0, 14.0, 24.0, "text");
            46.0
        }
        None => 12.0,
    };
    let (client, title) = (paper.say(&card_text::asks(state)), paper.say(title));
    paper.text(left, 18.0, w - left - 12.0, SMALL, &client);
    paper.text(left, 34.0, w - left - 12.0, NAME, &title);
    let (margin, size) = if tight { (8.0, 11.0) } else { (12.0, 12.0) };
    paper.rect(
        (margin, 52.0, w - 2.0 * margin, h - 64.0),
        8.0,
        "surface-2",
        Some(PLAIN),
    );
    for (at, line) in lines.iter().enumerate() {
        let y = 52.0 + 18.0 + at as f64 * 20.0;
        let (x, room) = (margin + 9.0, w - 2.0 * margin - 18.0);
        match line.strip_prefix("/ # ") {
            Some(asked) => drop(paper.run(
                x,
                y,
                room,
                &[
                    ("/ # ", mono(size, "accent-text")),
                    (asked, mono(size, "text").medium()),
                ],
            )),
            None => paper.text(x, y, room, mono(size, "text-2"), line),
        }
    }
}

/// Draws a card with a table, or with a few facts.
pub(super) fn table(paper: &mut Paper, item: &Item, of: &CardTable) {
    let w = item.rect.w;
    paper.tile(of.kind, 12.0, 12.0, 28.0);
    let [caption, title, pill] = [&of.caption, &of.title, &of.pill].map(|text| paper.say(text));
    let taken = paper.pill_end(w - 12.0, 26.0, "network", None, &pill);
    paper.text(50.0, 18.0, w - 62.0 - taken, SMALL, &caption);
    paper.text(50.0, 34.0, w - 62.0 - taken, NAME, &title);
    let plain = of.head.is_empty();
    let columns = of
        .rows
        .iter()
        .map(|(cells, _)| cells.len())
        .chain([of.head.len()])
        .max()
        .unwrap_or(0);
    if columns == 0 {
        return;
    }
    let widths = column_widths(paper, of, columns, w);
    let mut y = 52.0;
    paper.rule(0.0, y, w);
    if !plain {
        paper.rect((1.0, y + 1.0, w - 2.0, 27.0), 0.0, "surface-2", None);
        for (name, (x, room)) in of.head.iter().zip(&widths) {
            let name = paper.say(name);
            paper.text(*x, y + 14.0, *room, ui(11.0, "text-3").medium(), &name);
        }
        y += 28.0;
    }
    for (cells, on) in &of.rows {
        let tall = if plain { 32.0 } else { 40.0 };
        if *on && !plain {
            paper.rect((1.0, y, w - 2.0, tall), 0.0, "k-network-soft", None);
        }
        if !plain {
            paper.rule(0.0, y, w);
        }
        for (at, (cell, (x, room))) in cells.iter().zip(&widths).enumerate() {
            let middle = y + tall / 2.0;
            let ready = *cell == msg::net_ready();
            let words = if ready {
                paper.say(&msg::metric_ready())
            } else {
                paper.say(cell)
            };
            match (plain, at, ready) {
                (true, 0, _) => paper.text(*x, middle, *room, ui(12.0, "text-2"), &words),
                (true, ..) => {
                    paper.text_end(w - 12.0, middle, *room, mono(13.0, "text").semi(), &words)
                }
                (false, _, true) => {
                    paper.icon("i-check", *x, middle - 6.0, 12.0, "st-ready-text");
                    paper.text(
                        x + 16.0,
                        middle,
                        room - 16.0,
                        ui(12.0, "st-ready-text"),
                        &words,
                    );
                }
                (false, ..) => paper.text(*x, middle, *room, mono(12.0, "text"), &words),
            }
        }
        y += tall;
    }
}

/// Position and width of each column, by its contents.
fn column_widths(paper: &Paper, of: &CardTable, columns: usize, width: f64) -> Vec<(f64, f64)> {
    let font = mono(12.0, "text");
    let widest = |column: usize| {
        let cells = of
            .rows
            .iter()
            .filter_map(|(cells, _)| cells.get(column))
            .chain(of.head.get(column));
        cells
            .map(|text| font.width(&paper.say(text)) + 20.0)
            .fold(24.0, f64::max)
    };
    let all: Vec<f64> = (0..columns).map(widest).collect();
    let scale = (width - 16.0) / all.iter().sum::<f64>().max(1.0);
    let mut x = 12.0;
    all.iter()
        .map(|wide| {
            let column = (x, wide * scale - 8.0);
            x += wide * scale;
            column
        })
        .collect()
}
