//! Cards of everything except controllers.

use super::card_text;
use super::painter::{PLAIN, Painter, outline};
use super::primitive::{Font, NAME, SMALL, Stroke, mono, ui};
use crate::shape::{CardBody, CardTable, Item, NodeBody, OLD_REVISION_ALPHA, Rect};
use crate::variant;
use i18n::format::{Px, count, sentence, volume as volume_name};
use i18n::{Message, msg};
use projection::model::{PodContainers, PodState};

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

pub(super) fn service(painter: &mut Painter, item: &Item, form: &Message) {
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
    painter.tile(&item.id.kind, left, middle - tile / 2.0, tile);
    let words = painter.say(form);
    let taken = painter.pill_end(
        w - left,
        middle,
        card_text::service_class(item),
        None,
        &words,
    );
    let x = left + tile + if slim { 6.0 } else { 10.0 };
    let room = w - x - taken - 8.0;
    if flat && !variant::has_narrow_name(item.rect) {
        let kind = painter.width(ui(12.0, ""), &item.id.kind) + painter.width(SMALL, "  ");
        let name = card_text::name(painter, item, room - kind);
        painter.run(
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
        let name = card_text::name(painter, item, room);
        painter.text(x, middle - 8.0, room, SMALL, &item.id.kind);
        painter.text(x, middle + 8.0, room, NAME, &name);
    }
}

/// Draws the ground of a Pod, by its state.
pub(super) fn pod_ground(painter: &mut Painter, item: &Item, selected: bool) {
    let rect = item.rect.at_origin();
    let (state, radius, fill, selected) = match &item.body {
        CardBody::Pod { state, .. } => {
            let radius = if variant::is_line(item.rect) {
                8.0
            } else {
                12.0
            };
            (*state, radius, "surface", selected)
        }
        CardBody::Tile {
            state, kin, old, ..
        } => {
            let fill = if *old { "surface-2" } else { "surface" };
            (*state, 8.0, fill, selected || *kin)
        }
        _ => {
            let stroke = Stroke::dashed("border-strong", 1.0, "1 2");
            return painter.rect(rect, 8.0, "", Some(stroke));
        }
    };
    let plain = match state {
        PodState::Creating => Stroke::solid("accent-line", 1.0),
        PodState::Pending | PodState::Terminating => Stroke::dashed("border-strong", 1.0, "3 2"),
        PodState::Failed => Stroke::solid("st-failed", 1.0),
        _ => PLAIN,
    };
    let fill = if state == PodState::Terminating {
        "st-terminating-soft"
    } else {
        fill
    };
    painter.rect(rect, radius, fill, Some(outline(selected, plain)));
}

pub(super) fn pod(painter: &mut Painter, item: &Item) {
    let CardBody::Pod {
        state,
        lead,
        tail,
        word,
        note,
        containers,
        ..
    } = &item.body
    else {
        return;
    };
    let (w, h) = (item.rect.w, item.rect.h);
    let (line, slender) = (variant::is_line(item.rect), variant::is_slender(w));
    let (left, glyph) = if line {
        (6.0, 16.0)
    } else if slender {
        (8.0, 16.0)
    } else {
        (12.0, 24.0)
    };
    painter.icon(state.glyph(), left, (h - glyph) / 2.0, glyph, "text");
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
    let (word, note) = (painter.say(word), painter.say(note));
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
    let below = painter.width(says[0].1, &word) + painter.width(SMALL, &note) > room;
    if slender && !line && below {
        painter.run(x, h / 2.0 - 14.0, room, &[(lead, plain), (tail, name)]);
        let words = wrapped(painter, &word, &note, room, says[0].1);
        for (at, runs) in words.iter().enumerate() {
            let y = h / 2.0 + at as f64 * 14.0;
            painter.run(
                x,
                y,
                room,
                &runs.each_ref().map(|(text, font)| (text.as_str(), *font)),
            );
        }
    } else if line {
        let wide = painter.run(x, h / 2.0, room, &[(lead, plain), (tail, name)]) + 6.0;
        painter.run(x + wide, h / 2.0, room - wide, &says);
    } else {
        painter.run(x, h / 2.0 - 8.0, room, &[(lead, plain), (tail, name)]);
        let at = (w - left, h / 2.0 + 8.0);
        let taken = match containers {
            Some(of) => pod_containers(painter, of, at, room - painter.width(says[0].1, &word)),
            None => 0.0,
        };
        // The containers come before the node.
        let all = painter.width(says[0].1, &word) + painter.width(SMALL, &note) <= room - taken;
        painter.run(x, at.1, room - taken, if all { &says } else { &says[..1] });
    }
}

/// Draws the containers of a Pod and its restarts to the left of a position; returns the width they take. A glyph each where there is
/// room, init containers first and set apart, otherwise READY as kubectl prints it.
fn pod_containers(
    painter: &mut Painter,
    of: &PodContainers,
    (right, y): (f64, f64),
    room: f64,
) -> f64 {
    const GLYPH: f64 = 12.0;
    const STEP: f64 = 14.0;
    const GAP: f64 = 8.0;
    let mut taken = 0.0;
    if of.restarts > 0 {
        let count = of.restarts.to_string();
        painter.text_end(right, y, room, SMALL, &count);
        taken += painter.width(SMALL, &count) + 3.0 + GLYPH;
        painter.icon("i-restart", right - taken, y - GLYPH / 2.0, GLYPH, "text-3");
        taken += GAP;
    }
    if of.list.len() == 1 {
        return taken;
    }
    let inits = of.list.iter().filter(|one| one.is_init).count();
    let apart = if inits > 0 && inits < of.list.len() {
        5.0
    } else {
        0.0
    };
    let wide = of.list.len() as f64 * STEP - (STEP - GLYPH) + apart;
    if taken + wide + GAP > room {
        let ready = format!("{}/{}", of.ready, of.total);
        painter.text_end(right - taken, y, room, SMALL, &ready);
        return taken + painter.width(SMALL, &ready) + GAP;
    }
    let start = right - taken - wide;
    for (at, one) in of.list.iter().enumerate() {
        let x = start + at as f64 * STEP + if at >= inits { apart } else { 0.0 };
        painter.icon(one.state.glyph(), x, y - GLYPH / 2.0, GLYPH, "text");
    }
    if apart > 0.0 {
        let x = start + inits as f64 * STEP + 1.0;
        painter.rect(Rect::new(x, y - 5.0, 1.0, 10.0), 0.0, "border-strong", None);
    }
    taken + wide + GAP
}

/// Breaks the word of a state and its note into two lines: between them, or within a word that is too long, before a capital letter.
fn wrapped(
    painter: &Painter,
    word: &str,
    note: &str,
    room: f64,
    font: Font,
) -> Vec<[(String, Font); 2]> {
    let whole = (word.to_owned(), font);
    if painter.width(font, word) <= room {
        let note = note.trim_start_matches(" · ").to_owned();
        return vec![
            [whole, (String::new(), SMALL)],
            [(String::new(), font), (note, SMALL)],
        ];
    }
    let breaks = word
        .char_indices()
        .rev()
        .filter(|(at, letter)| *at > 0 && letter.is_ascii_uppercase());
    let Some(at) = breaks
        .map(|(at, _)| at)
        .find(|at| painter.width(font, &word[..*at]) <= room)
    else {
        return vec![[whole, (note.to_owned(), SMALL)]];
    };
    let (front, back) = word.split_at(at);
    vec![
        [(front.to_owned(), font), (String::new(), SMALL)],
        [(back.to_owned(), font), (note.to_owned(), SMALL)],
    ]
}

pub(super) fn tile(painter: &mut Painter, item: &Item) {
    let CardBody::Tile {
        state,
        tail,
        note,
        old,
        ..
    } = &item.body
    else {
        return;
    };
    let (w, h) = (item.rect.w, item.rect.h);
    let (lead, end) = card_text::tile_name(tail);
    let note = painter.say(note);
    let slim = variant::is_slim_tile(item.rect);
    let left = if slim { 3.0 } else { 6.0 };
    let two = variant::has_note_below(item.rect, !note.is_empty());
    painter.at(
        (left, (h - 14.0) / 2.0),
        if *old { OLD_REVISION_ALPHA } else { 1.0 },
        |painter| painter.icon(state.glyph(), 0.0, 0.0, 14.0, "text"),
    );
    let x = left + 14.0 + if slim { 3.0 } else { 5.0 };
    let room = w - x - left;
    let fonts = [
        mono(11.0, "text-3"),
        mono(11.0, if *old { "text-3" } else { "text" }).medium(),
    ];
    if two {
        painter.run(x, h / 2.0 - 7.0, room, &[(lead, fonts[0]), (end, fonts[1])]);
        painter.text(x, h / 2.0 + 7.0, room, ui(11.0, "text-2"), &note);
        return;
    }
    let taken = if note.is_empty() {
        0.0
    } else {
        painter.width(SMALL, &note) + 5.0
    };
    painter.text_end(w - left, h / 2.0, taken, SMALL, &note);
    painter.run(
        x,
        h / 2.0,
        room - taken,
        &[(lead, fonts[0]), (end, fonts[1])],
    );
}

pub(super) fn gone(painter: &mut Painter, item: &Item, name: &str) {
    let (w, h) = (item.rect.w, item.rect.h);
    let (word, font) = (
        painter.say(&msg::tile_deleted()),
        ui(11.0, "text-2").medium(),
    );
    let taken = painter.width(font, &word);
    painter.text_end(w - 6.0, h / 2.0, taken, font, &word);
    painter.text(
        6.0,
        h / 2.0,
        w - taken - 18.0,
        mono(11.0, "text-3").struck(),
        name,
    );
}

pub(super) fn claim_ground(painter: &mut Painter, item: &Item, selected: bool) {
    let stroke = outline(selected, Stroke::solid("border-strong", 1.0));
    let shape = card_text::ticket((item.rect.w, item.rect.h));
    painter.path(shape, "surface", Some(stroke));
}

pub(super) fn claim(painter: &mut Painter, item: &Item, fact: &Message) {
    let (w, h) = (item.rect.w, item.rect.h);
    let slim = variant::is_slim_claim(item.rect);
    let (mut x, tile) = if slim { (12.0, 22.0) } else { (14.0, 28.0) };
    let right = x;
    if !variant::is_slender(w) {
        painter.tile("PersistentVolumeClaim", x, (h - tile) / 2.0, tile);
        x += tile + if slim { 6.0 } else { 10.0 };
    }
    let (name, long) = card_text::claim_name(painter, item);
    let (room, fact) = (w - x - right, painter.say(fact));
    if long {
        let half = name.chars().count().div_ceil(2);
        let (first, second): (String, String) = (
            name.chars().take(half).collect(),
            name.chars().skip(half).collect(),
        );
        painter.text(x, h / 2.0 - 15.0, room, NAME, &first);
        painter.text(x, h / 2.0 - 1.0, room, NAME, &second);
        painter.text(x, h / 2.0 + 14.0, room, SMALL, &fact);
    } else {
        painter.text(x, h / 2.0 - if slim { 7.0 } else { 8.0 }, room, NAME, &name);
        painter.text(
            x,
            h / 2.0 + if slim { 7.0 } else { 8.0 },
            room,
            SMALL,
            &fact,
        );
    }
}

pub(super) fn cylinder_ground(painter: &mut Painter, item: &Item, selected: bool) {
    let (w, h) = (item.rect.w, item.rect.h);
    let stroke = Some(outline(selected, Stroke::solid("border-strong", 1.0)));
    painter.path(card_text::cylinder((w, h)), "surface", stroke);
    let (r, rim) = (w / 2.0 - 1.0, card_text::cylinder_rim(h));
    let top = format!(
        "M1 {2}A{0} {rim} 0 0 1 {1} {2}A{0} {rim} 0 0 1 1 {2}Z",
        Px(r),
        Px(w - 1.0),
        Px(rim + 1.0)
    );
    painter.path(top, "k-storage-soft", stroke);
}

pub(super) fn cylinder(painter: &mut Painter, item: &Item, fact: &Message, data: &Message) {
    let (w, h) = (item.rect.w, item.rect.h);
    // Vertical centres of the name, the facts and the data.
    let lines = if variant::is_slim_cylinder(h) {
        [21.0, 35.0, 54.0]
    } else {
        [40.0, 56.0, 82.0]
    };
    let name = volume_name(&item.id.name);
    let (wide, glyph) = (
        painter.width(NAME, &name),
        if variant::is_slender(w) { 0.0 } else { 20.0 },
    );
    let left = (w - wide - glyph) / 2.0;
    if glyph > 0.0 {
        painter.icon("i-pv", left, lines[0] - 7.0, 14.0, "k-storage");
    }
    painter.text(left + glyph, lines[0], w, NAME, &name);
    let fact = painter.say(fact);
    painter.text_mid(w / 2.0, lines[1], w - 20.0, SMALL, &fact);
    // No data is shown unless a person wrote some.
    let (class, words) = match (data.is_empty(), item.state == "bound") {
        (false, _) => ("storage", painter.say(data)),
        (true, true) => return,
        (true, false) => ("", sentence(&item.state)),
    };
    let wide = painter.pill_width(None, &words);
    painter.pill_end((w + wide) / 2.0, lines[2], class, None, &words);
}

pub(super) fn volume(painter: &mut Painter, item: &Item, fact: &Message) {
    let room = item.rect.w - 62.0;
    painter.tile("PersistentVolume", 12.0, 12.0, 28.0);
    painter.text(50.0, 18.0, room, NAME, &volume_name(&item.id.name));
    let fact = painter.say(fact);
    painter.text(50.0, 34.0, room, SMALL, &fact);
}

pub(super) fn class(painter: &mut Painter, item: &Item, reclaim: &Message) {
    let room = item.rect.w - 24.0;
    painter.tile("StorageClass", 12.0, 12.0, 28.0);
    painter.text(12.0, 56.0, room, SMALL, "StorageClass");
    painter.text(
        12.0,
        72.0,
        room,
        NAME,
        &card_text::name(painter, item, room),
    );
    let reclaim = painter.say(&msg::class_reclaim(reclaim));
    painter.text(12.0, 92.0, room, SMALL, &reclaim);
}

pub(super) fn stored_ground(painter: &mut Painter, item: &Item, missing: bool, selected: bool) {
    let dashes = if missing { "3 2" } else { "" };
    let stroke = outline(selected, Stroke::dashed("border", 1.0, dashes));
    painter.rect(item.rect.at_origin(), 8.0, "surface", Some(stroke));
}

pub(super) fn stored(painter: &mut Painter, item: &Item, fact: &Message, missing: bool) {
    let (w, h, kind) = (item.rect.w, item.rect.h, &item.id.kind);
    painter.tile(kind, 6.0, (h - 18.0) / 2.0, 18.0);
    if !variant::has_two_lines(item.rect) {
        let beside = painter.width(SMALL, kind) + painter.width(SMALL, "  ");
        let name = card_text::name(painter, item, w - 36.0 - beside);
        painter.run(
            30.0,
            h / 2.0,
            w - 36.0,
            &[(kind, SMALL), ("  ", SMALL), (&name, NAME)],
        );
        return;
    }
    let fact = painter.say(fact);
    let fact = if fact.is_empty() {
        fact
    } else {
        format!(" · {fact}")
    };
    let ink = if missing { "st-failed-text" } else { "text-3" };
    painter.run(
        30.0,
        h / 2.0 - 8.0,
        w - 36.0,
        &[(kind, SMALL), (&fact, ui(11.0, ink))],
    );
    painter.text(
        30.0,
        h / 2.0 + 8.0,
        w - 36.0,
        NAME,
        &card_text::name(painter, item, w - 36.0),
    );
}

pub(super) fn node(painter: &mut Painter, item: &Item, of: &NodeBody) {
    let w = item.rect.w;
    if let Some(pods) = of.small {
        let glyph = match (of.ready, of.cordoned) {
            (false, _) => Some(("i-error", "st-failed")),
            (true, true) => Some(("i-cordon", "st-notready")),
            (true, false) => None,
        };
        let x = match glyph {
            Some((glyph, ink)) => {
                painter.icon(glyph, 7.0, 7.5, 12.0, ink);
                23.0
            }
            None => 7.0,
        };
        let (number, small) = (count(pods), SMALL.far());
        painter.text_end(w - 7.0, 13.5, 60.0, small, &number);
        painter.text(
            x,
            13.5,
            w - x - 14.0 - painter.width(small, &number),
            mono(11.0, "text-2").medium().far(),
            &item.id.name,
        );
        return;
    }
    painter.tile("Node", 12.0, 12.0, 28.0);
    let (class, icon, words) = card_text::node_pill(of);
    let words = painter.say(&words);
    let taken = painter.pill_end(w - 12.0, 26.0, class, Some(icon), &words);
    painter.text(50.0, 18.0, w - 62.0 - taken, SMALL, "Node");
    painter.text(
        50.0,
        34.0,
        w - 62.0 - taken,
        NAME,
        &card_text::name(painter, item, w - 62.0 - taken),
    );
    let mut y = 52.0;
    for (what, value, share) in &of.meters {
        painter.text(12.0, y + 8.0, w / 2.0, ui(11.0, "text-2"), what);
        painter.text_end(w - 12.0, y + 8.0, w - 60.0, mono(11.0, "text-2"), value);
        let ink = if !of.ready {
            "border-strong"
        } else if *share > 80.0 {
            "st-notready"
        } else {
            "accent"
        };
        painter.rect(
            Rect::new(12.0, y + 18.0, w - 24.0, 6.0),
            3.0,
            "surface-3",
            None,
        );
        let long = (w - 24.0) * share.clamp(0.0, 100.0) / 100.0;
        let bar = Rect::new(12.0, y + 18.0, long, 6.0);
        painter.block("fill", bar, 3.0, ink, None);
        y += 32.0;
    }
    let lines: Vec<String> = of
        .note
        .iter()
        .filter(|line| !line.is_empty())
        .map(|line| painter.say(line))
        .collect();
    if lines.is_empty() {
        return;
    }
    let (soft, ink) = match (of.ready, of.cordoned) {
        (false, _) => ("st-failed-soft", "st-failed-text"),
        (true, true) => ("st-notready-soft", "st-notready-text"),
        (true, false) => ("surface-2", "text-2"),
    };
    painter.sized("note", (12.0, y + 2.0), |painter| {
        let (wide, high) = (w - 24.0, 48.0);
        painter.rect(Rect::new(0.0, 0.0, wide, high), 8.0, soft, None);
        let first = 24.0 - (lines.len() - 1) as f64 * 8.0;
        for (at, line) in lines.iter().enumerate() {
            let y = first + at as f64 * 16.0;
            painter.text(8.0, y, wide - 16.0, ui(11.0, ink), line);
        }
        (wide, high)
    });
}

pub(super) fn tray_ground(painter: &mut Painter, item: &Item) {
    let stroke = Stroke::dashed("border-strong", 1.0, "3 2");
    painter.rect(item.rect.at_origin(), 12.0, "surface", Some(stroke));
}

/// Draws the title of a group, with a sign that it can be folded.
pub(super) fn heading(painter: &mut Painter, item: &Item, text: &Message, folded: bool) {
    let middle = item.rect.h / 2.0;
    let sign = if folded {
        format!("M13 {}l4 4l-4 4", Px(middle - 4.0))
    } else {
        format!("M11 {}l4 4l4 -4", Px(middle - 2.0))
    };
    painter.path(sign, "", Some(Stroke::solid("text-2", 1.5)));
    let text = painter.say(text);
    let font = ui(12.0, "text-2").semi();
    painter.text(28.0, middle, item.rect.w - 36.0, font, &text);
}

/// Draws the tray of unscheduled Pods.
pub(super) fn tray(
    painter: &mut Painter,
    item: &Item,
    pods: usize,
    [aside, head]: [&Message; 2],
    rows: &[[Message; 3]],
) {
    let (w, h) = (item.rect.w, item.rect.h);
    let narrow = w < 560.0;
    let (name, title, aside, head) = (
        painter.say(&msg::tray_title()),
        painter.say(&msg::summary_pods(pods)),
        painter.say(aside),
        painter.say(head),
    );
    let bold = ui(13.0, "text").semi();
    let wide = painter.run(16.0, 20.0, w - 32.0, &[(&name, bold)]);
    let pill = painter.pill_width(None, &title);
    painter.pill_end(16.0 + wide + 8.0 + pill, 20.0, "", None, &title);
    if !narrow {
        painter.text_end(w - 16.0, 20.0, w - wide - pill - 60.0, SMALL, &aside);
    }
    let (left, top) = if narrow { (16.0, 100.0) } else { (236.0, 40.0) };
    let room = w - left - 16.0;
    painter.text(left, top + 8.0, room, SMALL, &head);
    for (at, [who, why, detail]) in rows.iter().enumerate() {
        let y = top + 30.0 + at as f64 * 24.0;
        if y > h - 6.0 {
            break;
        }
        let [who, why, detail] = [who, why, detail].map(|text| painter.say(text));
        painter.text(left, y, 84.0, mono(12.0, "text"), &who);
        if !why.is_empty() {
            painter.text(left + 92.0, y, 20.0, ui(12.0, "st-failed-text"), "×");
        }
        let parts: [(&str, Font); 3] = [
            (&why, ui(12.0, "text").semi()),
            ("  ", SMALL),
            (&detail, SMALL),
        ];
        painter.run(
            left + 120.0,
            y,
            room - 120.0,
            &parts[..if narrow { 1 } else { 3 }],
        );
    }
}

/// Draws the terminal of a Pod: its commands and their output.
pub(super) fn terminal(
    painter: &mut Painter,
    item: &Item,
    state: Option<PodState>,
    title: &Message,
    lines: &[String],
) {
    let (w, h) = (item.rect.w, item.rect.h);
    let tight = variant::is_tight_terminal(item.rect);
    let left = match state {
        Some(state) => {
            painter.icon(state.glyph(), 12.0, 14.0, 24.0, "text");
            46.0
        }
        None => 12.0,
    };
    let (client, title) = (painter.say(&card_text::asks(state)), painter.say(title));
    painter.text(left, 18.0, w - left - 12.0, SMALL, &client);
    painter.text(left, 34.0, w - left - 12.0, NAME, &title);
    let (margin, size) = if tight { (8.0, 11.0) } else { (12.0, 12.0) };
    painter.rect(
        Rect::new(margin, 52.0, w - 2.0 * margin, h - 64.0),
        8.0,
        "surface-2",
        Some(PLAIN),
    );
    for (at, line) in lines.iter().enumerate() {
        let y = 52.0 + 18.0 + at as f64 * 20.0;
        let (x, room) = (margin + 9.0, w - 2.0 * margin - 18.0);
        match line.strip_prefix("/ # ") {
            Some(asked) => drop(painter.run(
                x,
                y,
                room,
                &[
                    ("/ # ", mono(size, "accent-text")),
                    (asked, mono(size, "text").medium()),
                ],
            )),
            None => painter.text(x, y, room, mono(size, "text-2"), line),
        }
    }
}

/// Draws a card with a table, or with a few facts.
pub(super) fn table(painter: &mut Painter, item: &Item, of: &CardTable) {
    let w = item.rect.w;
    painter.tile(of.kind, 12.0, 12.0, 28.0);
    let [caption, title, pill] = [&of.caption, &of.title, &of.pill].map(|text| painter.say(text));
    let taken = painter.pill_end(w - 12.0, 26.0, "network", None, &pill);
    painter.text(50.0, 18.0, w - 62.0 - taken, SMALL, &caption);
    painter.text(50.0, 34.0, w - 62.0 - taken, NAME, &title);
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
    let widths = column_widths(painter, of, columns, w);
    let mut y = 52.0;
    painter.rule(0.0, y, w);
    if !plain {
        painter.rect(
            Rect::new(1.0, y + 1.0, w - 2.0, 27.0),
            0.0,
            "surface-2",
            None,
        );
        for (name, (x, room)) in of.head.iter().zip(&widths) {
            let name = painter.say(name);
            painter.text(*x, y + 14.0, *room, ui(11.0, "text-3").medium(), &name);
        }
        y += 28.0;
    }
    let tall = if plain { 32.0 } else { 40.0 };
    for (cells, on) in &of.rows {
        painter.sized("tr", (0.0, y), |painter| {
            if *on && !plain {
                let ground = Rect::new(1.0, 0.0, w - 2.0, tall);
                painter.rect(ground, 0.0, "k-network-soft", None);
            }
            if !plain {
                painter.rule(0.0, 0.0, w);
            }
            table_row(
                painter,
                cells,
                &widths,
                plain.then_some(w - 12.0),
                tall / 2.0,
            );
            (w, tall)
        });
        y += tall;
    }
}

/// Draws the cells of a row; the last of a fact's two ends at `end`.
fn table_row(
    painter: &mut Painter,
    cells: &[Message],
    widths: &[(f64, f64)],
    end: Option<f64>,
    middle: f64,
) {
    for (at, (cell, (x, room))) in cells.iter().zip(widths).enumerate() {
        let ready = *cell == msg::net_ready();
        let words = match ready {
            true => painter.say(&msg::metric_ready()),
            false => painter.say(cell),
        };
        match (end, at) {
            (Some(_), 0) => painter.text(*x, middle, *room, ui(12.0, "text-2"), &words),
            (Some(end), _) => {
                painter.text_end(end, middle, *room, mono(13.0, "text").semi(), &words)
            }
            (None, _) if ready => {
                let font = ui(12.0, "st-ready-text");
                painter.icon("i-check", *x, middle - 6.0, 12.0, font.colour);
                painter.text(x + 16.0, middle, room - 16.0, font, &words);
            }
            (None, _) => painter.text(*x, middle, *room, mono(12.0, "text"), &words),
        }
    }
}

/// Position and width of each column, by its contents.
fn column_widths(painter: &Painter, of: &CardTable, columns: usize, width: f64) -> Vec<(f64, f64)> {
    let font = mono(12.0, "text");
    let widest = |column: usize| {
        let cells = of
            .rows
            .iter()
            .filter_map(|(cells, _)| cells.get(column))
            .chain(of.head.get(column));
        cells
            .map(|text| painter.width(font, &painter.say(text)) + 20.0)
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
