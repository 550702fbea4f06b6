//! The control plane: the store in the middle, the loops around it, and the last pass of one of them.
//!
//! A selected loop turns to the right, beside its panel; otherwise every loop keeps its place.

use super::model::{CacheState, Code, Loop, Loops, PanelForm, Pass, PassStep, written};
use crate::shape::{CardBody, Label, LabelGround, LabelRole, Line, Rect, Scene};
use explain::why::Row;
use i18n::{Message, msg};
use projection::model::Id;
use std::f64::consts::TAU;

/// Radius of a loop, and of the selected one.
pub const SMALL: f64 = 28.0;
pub const BIG: f64 = 40.0;
/// Radius of a loop that has nothing to reconcile.
pub const IDLE: f64 = 18.0;
/// Width of a loop with its name on a ring of a usual stage.
pub(super) const NAMED: f64 = 132.0;
/// Width of a character of the name, and additional distance of a name that would touch another.
pub const LETTER: f64 = 6.6;
pub const FAR: f64 = 16.0;
/// Width of a character of the label of a write.
pub const ACT: f64 = 5.8;
pub(super) const CLOSE: f64 = 108.0;
/// Minimum stage with room for ring and panel side by side.
pub(super) const BESIDE: (f64, f64) = (780.0, 576.0);
/// Height of a loop in a row, and its minimum width.
pub(super) const CHIP: f64 = 76.0;
pub(super) const TIGHT: f64 = 68.0;
/// Heights of a frame below which loops are smaller and the code stands beside the steps, and below which the panel has lines only.
pub(super) const LOW: f64 = 560.0;
pub const LOWEST: f64 = 440.0;
/// Height of a loop in a low frame with a name of two lines or one, and the minimum width for one line.
pub(super) const SHORT: (f64, f64) = (54.0, 66.0);
pub(super) const ONE_LINE: f64 = 100.0;
/// Width of the steps if the code stands beside them.
pub(super) const STEPS: f64 = 230.0;
/// Loop in a list: its height, the widths of a character and of the icon, and the minimum gap.
pub const LIST: f64 = 20.0;
pub(super) const LIST_LETTER: f64 = 6.1;
pub(super) const LIST_ICON: f64 = 18.0;
pub const LIST_GAP: f64 = 8.0;
/// Minimum distance between a circle in a row and the bar of the store.
pub const ARROW: f64 = 20.0;
/// Height of the cache below the store, and minimum width of a bar that has room for it beside the store.
const CACHE: f64 = 56.0;
const CACHE_BESIDE: f64 = 560.0;
/// Longest name of a key, in characters.
pub const KEY: usize = 18;
/// Height of name and queue.
pub(super) const NAME: f64 = 34.0;

/// Lays out the control plane.
pub fn layout(of: &Loops, (width, height): (f64, f64)) -> Scene {
    let mut out = Scene {
        summary: summary(of),
        ..Scene::default()
    };
    let wide = width >= 1150.0;
    // More than a dozen loops need a wider ring.
    let wider = (of.loops.len() as f64 / 12.0).max(1.0);
    // Text is never made smaller: if ring and panel do not fit side by side, the loops are in rows.
    if width < BESIDE.0 || height < BESIDE.1 || !wide && of.loops.len() >= 12 {
        return rows(of, (width, height), out);
    }
    let side = if wide {
        NAMED / 2.0 + 16.0
    } else {
        CLOSE / 2.0
    };
    let (rx, most) = if wide {
        (252.0 * wider, 224.0 * wider)
    } else {
        (140.0 + (width - 800.0).clamp(0.0, 200.0) * 0.2, 214.0)
    };
    // On a low stage the ring takes all the height above the controls at the foot.
    let ry = if wider > 1.0 {
        most
    } else {
        ((height - 212.0) / 2.0).clamp(182.0, most)
    };
    let (cx, cy) = (rx + side, ry + SMALL + NAME + 24.0);
    let half = if wide { 80.0 } else { 72.0 };
    let store = Rect::new(cx - half, cy - 66.0, half * 2.0, 132.0);
    let count = of.loops.len().max(1) as f64;
    // The selected loop stands on the side of its panel.
    let turn = of
        .chosen
        .map_or(-TAU / 4.0, |chosen| -(chosen as f64) * TAU / count);

    let id = Id {
        kind: String::new(),
        uid: "store".into(),
        name: "API server".into(),
        namespace: String::new(),
    };
    let label = msg::store_label(of.version);
    out.put(
        &id,
        store,
        CardBody::Store {
            version: of.version,
        },
        None,
        "",
        label,
    );
    let places: Vec<RingPlace> = (0..of.loops.len())
        .map(|i| {
            let angle = turn + i as f64 * TAU / count;
            let radius = match &of.loops[i] {
                _ if of.chosen == Some(i) => BIG,
                one if one.idle => IDLE,
                _ => SMALL,
            };
            RingPlace {
                angle,
                radius,
                x: cx + rx * angle.cos(),
                y: cy + ry * angle.sin(),
                above: angle.sin() < -0.05,
            }
        })
        .collect();
    let letters = |i: usize, two: bool| {
        let title = &of.loops[i].title;
        let long = if two {
            title.split(' ').map(str::len).max()
        } else {
            Some(title.len())
        };
        long.unwrap_or_default() as f64 * LETTER
    };
    // Names that would touch are broken into two lines; if that does not help, one of them is moved outwards.
    let meet = |i: usize, j: usize, two: &[bool]| {
        let (a, b) = (&places[i], &places[j]);
        (a.x - b.x).abs() < (letters(i, two[i]) + letters(j, two[j])) / 2.0 + 6.0
            && (a.name() - b.name()).abs() < if two[i] || two[j] { 30.0 } else { 16.0 }
    };
    let one_line = vec![false; places.len()];
    let two: Vec<bool> = (0..places.len())
        .map(|i| {
            of.loops[i].title.contains(' ')
                && (0..places.len()).any(|j| j != i && meet(i, j, &one_line))
        })
        .collect();
    let two_queues = of.loops.iter().filter(|one| one.queue > 0).count() <= 2;
    // The key is named if its queue is one of two, and where it touches nothing.
    let names_key = |i: usize, line: f64| {
        let (at, long) = (&places[i], key_length(&of.loops[i]));
        let half = (long as f64 * LETTER + 9.0 * of.loops[i].queue.min(6) as f64) / 2.0 + 4.0;
        let label = Rect::new(at.x - half, line - 8.0, 2.0 * half, 16.0);
        let touches = |rect: Rect| {
            label.x < rect.right()
                && rect.x < label.right()
                && label.y < rect.bottom()
                && rect.y < label.bottom()
        };
        let other = |j: usize| {
            let (place, half) = (&places[j], letters(j, two[j]) / 2.0 + 2.0);
            let (top, side) = (place.y - place.radius, 2.0 * place.radius);
            let lines = if two[j] { 28.0 } else { 16.0 };
            let name = if place.above {
                place.name() + 16.0 - lines
            } else {
                place.name()
            };
            touches(Rect::new(place.x - place.radius, top, side, side))
                || touches(Rect::new(place.x - half, name, 2.0 * half, lines))
        };
        two_queues
            && !touches(store)
            && label.x > 0.0
            && !(0..places.len()).any(|j| j != i && other(j))
    };
    let mut all_far: Vec<bool> = Vec::new();
    for (i, one) in of.loops.iter().enumerate() {
        let RingPlace {
            angle,
            radius,
            x,
            y,
            above,
        } = places[i];
        let big = of.chosen == Some(i);
        let far = (0..i).any(|j| !all_far[j] && meet(i, j, &two));
        all_far.push(far);
        let more = if far { FAR } else { 0.0 };
        let top = if above {
            y - radius - NAME - more
        } else {
            y - radius
        };
        let rect = Rect::new(x - NAMED / 2.0, top, NAMED, radius * 2.0 + NAME + more);
        // The line of the queue, beyond the name.
        let line = if above {
            rect.bottom() - 2.0 * radius - NAME
        } else {
            rect.bottom() - 8.0
        };
        let named = match one.queue > 0 && names_key(i, line) {
            true => one.clone(),
            false => one.without_key(),
        };
        put_loop(&named, rect, (above, far, two[i]), big, &mut out);
        let (sx, sy) = edge_of(&store, x, y);
        let length = (x - sx).hypot(y - sy).max(1.0);
        let (ux, uy) = ((x - sx) / length, (y - sy) / length);
        let (ex, ey) = (x - ux * (radius + 6.0), y - uy * (radius + 6.0));
        let (tx, ty) = (sx + ux * 6.0, sy + uy * 6.0);
        if one.writes {
            // An arrow from the loop to the store.
            let (hx, hy) = (tx + ux * 9.0, ty + uy * 9.0);
            let d = format!(
                "M{:.1} {:.1}L{:.1} {:.1}M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}",
                ex,
                ey,
                tx,
                ty,
                hx - uy * 5.0,
                hy + ux * 5.0,
                tx,
                ty,
                hx + uy * 5.0,
                hy - ux * 5.0
            );
            out.link(write_key(of, one), d, Line::Writes);
        } else {
            let (key, line) = watch_line(one);
            out.link(key, format!("M{tx:.1} {ty:.1}L{ex:.1} {ey:.1}"), line);
        }
        if one.writes
            && let Some(pass) = of
                .pass
                .as_ref()
                .filter(|pass| pass.newest && of.shown == Some(i))
        {
            // Beyond the name: on the arrow it would cover the store.
            let y = if above {
                rect.y - 16.0
            } else {
                rect.bottom() - 10.0
            };
            // Outwards from its circle: the next one on the ring stands further in.
            let beyond = (written(pass).length() as f64 * 3.1 + 6.0 - 36.0).max(0.0);
            let x = x + if angle.cos().abs() < 0.2 {
                0.0
            } else {
                beyond * angle.cos().signum()
            };
            // Kept within the stage, and left of the panel.
            let half = written(pass).length() as f64 * ACT / 2.0 + 6.0;
            let x = x.min(cx + rx + side + 12.0 - half).max(half);
            let y = if !above && x + half - 6.0 > store.x && x - half + 6.0 < store.right() {
                y.max(store.bottom() + 4.0)
            } else {
                y
            };
            out.labels.push(Label {
                x,
                y,
                text: written(pass),
                role: LabelRole::Write,
                ground: LabelGround::Edge,
                centred: true,
            });
        }
    }
    if let Some(cache) = &of.cache {
        let rect = Rect::new(store.x, store.bottom() + 8.0, store.w, CACHE);
        put_cache(cache, rect, &mut out);
    }
    if let Some(pass) = &of.pass {
        let left = cx + rx + side + 12.0;
        let panel = (width - left - 20.0).clamp(358.0, if wide { 600.0 } else { 560.0 });
        let form = if panel < 540.0 {
            PanelForm::Rows
        } else {
            PanelForm::Columns
        };
        let rect = Rect::new(left, 16.0, panel, height_of(pass, panel, form));
        if let Some(at) = of.chosen {
            let (x, y) = (out.items[at + 1].rect.cx(), cy);
            let d = format!(
                "M{x:.1} {:.1}C{mid:.1} {:.1} {mid:.1} {:.1} {:.1} {:.1}V{:.1}C{mid:.1} {:.1} {mid:.1} {:.1} {x:.1} {:.1}Z",
                y - BIG,
                y - BIG,
                rect.y + 12.0,
                rect.x,
                rect.y + 12.0,
                rect.bottom() - 12.0,
                rect.bottom() - 12.0,
                y + BIG,
                y + BIG,
                mid = (x + rect.x) / 2.0
            );
            out.link("funnel".into(), d, Line::Opens);
        }
        put_pass(pass, rect, form, &mut out);
    }
    out.height = out.height.max(cy + ry + SMALL + NAME);
    out.finish(20.0)
}

/// Number of characters of a loop's key as it is drawn.
pub fn key_length(one: &Loop) -> usize {
    one.key.chars().count().min(KEY)
}

/// Position of a loop on the ring.
#[derive(Clone, Copy)]
pub(super) struct RingPlace {
    pub(super) angle: f64,
    pub(super) radius: f64,
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) above: bool,
}

impl RingPlace {
    /// Y position of its name.
    pub(super) fn name(&self) -> f64 {
        if self.above {
            self.y - self.radius - 2.0 - 18.0
        } else {
            self.y + self.radius + 2.0
        }
    }
}

pub(super) fn put_loop(
    one: &Loop,
    rect: Rect,
    (above, far, two): (bool, bool, bool),
    big: bool,
    out: &mut Scene,
) {
    let state = if one.writes {
        "writing"
    } else if one.queue > 0 {
        "queued"
    } else {
        "waiting"
    };
    let id = Id {
        kind: "Loop".into(),
        uid: format!("loop/{}", one.actor),
        name: one.actor.to_string(),
        namespace: String::new(),
    };
    let mut label = vec![Message::name(&one.title), msg::loop_queue(one.queue)];
    label.extend(one.writes.then(msg::loop_latest_write));
    if !one.slow.is_empty() {
        label.push(msg::loop_slowed(&one.slow));
    }
    let label = Message::list(label);
    out.put(
        &id,
        rect,
        CardBody::Loop {
            of: Box::new(one.clone()),
            above,
            far,
            two,
            big,
        },
        Some(0),
        state,
        label,
    );
}

/// Draws the loops as a list if not even one row has room for circles with names: an icon and a name each, in aligned columns, as many as
/// fit. Returns the height.
pub(super) fn list(of: &Loops, (left, top, wide): (f64, f64, f64), out: &mut Scene) -> f64 {
    let own = |one: &Loop| one.title.len() as f64 * LIST_LETTER + LIST_ICON;
    let widths = |columns: usize| -> Vec<f64> {
        (0..columns)
            .map(|column| {
                of.loops
                    .iter()
                    .skip(column)
                    .step_by(columns)
                    .map(own)
                    .fold(0.0, f64::max)
            })
            .collect()
    };
    let room = |columns: &usize| {
        widths(*columns).iter().sum::<f64>() + LIST_GAP * (*columns - 1) as f64 <= wide
    };
    let columns = (1..=of.loops.len().max(1)).rev().find(room).unwrap_or(1);
    let widths = widths(columns);
    let gap = if columns > 1 {
        (wide - widths.iter().sum::<f64>()) / (columns - 1) as f64
    } else {
        0.0
    };
    for (i, one) in of.loops.iter().enumerate() {
        let column = i % columns;
        let x = left + widths[..column].iter().sum::<f64>() + gap * column as f64;
        let rect = Rect::new(
            x,
            top + (i / columns) as f64 * LIST,
            widths[column].min(wide),
            LIST,
        );
        put_loop(
            &one.without_key(),
            rect,
            (false, false, false),
            of.chosen == Some(i),
            out,
        );
    }
    of.loops.len().div_ceil(columns) as f64 * LIST
}

/// Lays out the loops in rows above and below the store, if there is no room for a ring beside the panel, as on a phone; in a low frame in
/// one row if they fit, or as a list.
pub(super) fn rows(of: &Loops, (width, height): (f64, f64), mut out: Scene) -> Scene {
    let (left, wide, low) = (16.0, width - 32.0, height < LOW);
    let fit = ((wide / TIGHT) as usize).max(5);
    let one_row = height < LOWEST;
    let bare = one_row && of.loops.len() > fit;
    let above = if one_row {
        of.loops.len()
    } else {
        of.loops.len().div_ceil(2)
    };
    // Rows have equal lengths, and every other one is shifted: the lines of one row run between the loops of the next.
    let most = above.clamp(1, if bare { above.max(1) } else { fit });
    let columns = above.max(1).div_ceil(above.div_ceil(most).max(1));
    let (pitch, shifted) = (wide / columns as f64, above > columns);
    // An arrow needs room between circle and bar; a list has no arrows.
    let (chip, gap, thick) = match low {
        true if bare => (SHORT.1, 6.0, 28.0),
        true => (
            if pitch >= ONE_LINE { SHORT.0 } else { SHORT.1 },
            ARROW,
            26.0,
        ),
        false => (CHIP, ARROW, 48.0),
    };
    let top = if low { 4.0 } else { 8.0 };
    let mut loops = Scene::default();
    let under_loops = top
        + if bare {
            list(of, (left, top, wide), &mut loops)
        } else {
            above.div_ceil(columns) as f64 * chip
        };
    let bar = Rect::new(left, under_loops + gap, wide, thick);
    // The cache of the selected loop stands beside the store, where both can be read.
    let cache = of.cache.as_ref().filter(|_| wide >= CACHE_BESIDE);
    let store = match cache {
        Some(_) => Rect::new(left, bar.y, wide * 0.54, thick),
        None => bar,
    };
    let id = Id {
        kind: String::new(),
        uid: "store".into(),
        name: "API server".into(),
        namespace: String::new(),
    };
    let label = msg::store_label(of.version);
    out.put(
        &id,
        store,
        CardBody::Store {
            version: of.version,
        },
        None,
        "",
        label,
    );
    out.items.append(&mut loops.items);
    let across = pitch
        .min(NAMED - 1.0)
        .min(if shifted { pitch / 2.0 + 24.0 } else { pitch });
    for (i, one) in of.loops.iter().enumerate().filter(|_| !bare) {
        let (over, n) = (i < above, i % above.max(1));
        let row = (n / columns) as f64;
        let at = match (shifted, over == (n / columns % 2 == 0)) {
            (false, _) => 0.5,
            (true, true) => 0.25,
            (true, false) => 0.75,
        };
        let y = if over {
            top + row * chip
        } else {
            store.bottom() + gap + row * chip
        };
        let rect = Rect::new(
            left + ((n % columns) as f64 + at) * pitch - across / 2.0,
            y,
            across,
            chip,
        );
        put_loop(
            &one.without_key(),
            rect,
            (over, false, false),
            of.chosen == Some(i),
            &mut out,
        );
        let (x, from, to) = if over {
            (rect.cx(), rect.bottom(), store.y)
        } else {
            (rect.cx(), rect.y, store.bottom())
        };
        let s = (to - from).signum() * 6.0;
        if one.writes {
            let head = format!("M{} {}L{x} {to}L{} {}", x - 4.0, to - s, x + 4.0, to - s);
            let d = format!("M{x} {from}V{to}{head}");
            out.link(write_key(of, one), d, Line::Writes);
        } else {
            let (key, line) = watch_line(one);
            out.link(key, format!("M{x} {to}V{from}"), line);
        }
    }
    if let Some(cache) = cache {
        let x = store.right() + 8.0;
        put_cache(cache, Rect::new(x, bar.y, bar.right() - x, thick), &mut out);
    }
    if let Some(pass) = &of.pass {
        let under = (of.loops.len() - above).div_ceil(columns) as f64 * chip;
        let y = store.bottom()
            + if under > 0.0 { gap + under } else { 0.0 }
            + if one_row {
                8.0
            } else if low {
                4.0
            } else {
                12.0
            };
        let form = match wide {
            _ if one_row => PanelForm::Lines,
            600.0.. if low => PanelForm::Beside,
            540.0.. => PanelForm::Columns,
            _ => PanelForm::Rows,
        };
        let panel = wide.min(760.0);
        put_pass(
            pass,
            Rect::new(
                left + (wide - panel) / 2.0,
                y,
                panel,
                height_of(pass, panel, form),
            ),
            form,
            &mut out,
        );
    }
    out.finish(if low { 8.0 } else { 16.0 })
}

/// Height of the panel.
pub(super) fn height_of(pass: &Pass, width: f64, form: PanelForm) -> f64 {
    // In the other forms the note replaces the sentence about the write's event, and may take another line.
    let held = match form {
        _ if pass.held.is_empty() => 0.0,
        PanelForm::Columns | PanelForm::Rows => {
            ((pass.held.length() as f64 * LETTER / (width - 32.0)).ceil() - 1.0) * 16.0
        }
        PanelForm::Beside | PanelForm::Lines => 22.0,
    };
    held + match form {
        PanelForm::Columns => 246.0 + taller(pass, width) + lines_of(pass, width, 7.3) * 23.0,
        PanelForm::Rows => 148.0 + rows_of(pass, width) + lines_of(pass, width, 6.7) * 21.0,
        PanelForm::Beside => {
            let steps: f64 = pass
                .steps
                .iter()
                .map(|step| 34.0 + lines(&step.words(), (STEPS - 26.0) / 7.0) * 18.0)
                .sum();
            58.0 + steps.max(10.0 + lines_of(pass, width - STEPS - 12.0, 6.7) * 20.0)
        }
        PanelForm::Lines => {
            52.0 + pass.steps.len() as f64 * 22.0
                + match pass.code.iter().filter(|code| code.lit).count() {
                    0 => 0.0,
                    lit => 14.0 + lit as f64 * 21.0,
                }
        }
    }
}

/// Puts the cache of a loop beside the store.
fn put_cache(cache: &CacheState, rect: Rect, out: &mut Scene) {
    let id = Id {
        kind: String::new(),
        uid: "cache".into(),
        name: cache.title.clone(),
        namespace: String::new(),
    };
    let label = msg::name_value(msg::cache_of(&cache.title), cache.words());
    out.put(&id, rect, CardBody::Cache(cache.clone()), None, "", label);
}

pub(super) fn put_pass(pass: &Pass, rect: Rect, form: PanelForm, out: &mut Scene) {
    let id = Id {
        kind: String::new(),
        uid: "pass".into(),
        name: pass.who.clone(),
        namespace: String::new(),
    };
    let row = |(name, value): Row| msg::name_value(name, value);
    let rows: Vec<Message> = pass
        .steps
        .iter()
        .flat_map(PassStep::words)
        .map(row)
        .collect();
    let of = if pass.key.is_empty() {
        pass.title.clone()
    } else {
        Message::list(vec![pass.title.clone(), Message::name(&pass.key)])
    };
    let label = match (rows.is_empty(), pass.held.is_empty()) {
        (true, true) => of,
        (true, false) => msg::sentence_then(of, &pass.held),
        (false, _) => msg::label_rows(of, rows),
    };
    out.put(
        &id,
        rect,
        CardBody::Pass(Box::new(Pass {
            form,
            ..pass.clone()
        })),
        None,
        "",
        label,
    );
}

/// Number of lines of `letters` characters that rows take. A row that does not fit takes one line for its name and one for its value.
pub(super) fn lines(rows: &[Row], letters: f64) -> f64 {
    rows.iter()
        .map(|(name, value)| {
            if (name.length() + value.length() + 1) as f64 > letters {
                2.0
            } else {
                1.0
            }
        })
        .sum()
}

/// Height by which the three steps exceed the four lines always reserved for them.
pub(super) fn taller(pass: &Pass, width: f64) -> f64 {
    // Three columns with two gaps; a letter is 7 pixels wide.
    let letters = ((width - 90.0) / 3.0 - 26.0) / 7.0;
    let most = pass
        .steps
        .iter()
        .map(|step| lines(&step.words(), letters))
        .fold(0.0, f64::max);
    (most * 18.0 - 76.0).max(0.0)
}

/// Height of the three steps, one below the other.
pub(super) fn rows_of(pass: &Pass, width: f64) -> f64 {
    let letters = (width - 32.0 - 24.0 - 92.0) / 7.0;
    let line = |(name, value): &Row| {
        ((name.length() + value.length() + 2) as f64 / letters)
            .ceil()
            .max(1.0)
    };
    pass.steps
        .iter()
        .map(|step| step.words().iter().map(line).sum::<f64>().max(1.0) * 18.0 + 14.0)
        .sum::<f64>()
        + 6.0 * pass.steps.len().saturating_sub(1) as f64
}

/// Number of lines of the pseudo-code: a line without room for its value takes two.
pub(super) fn lines_of(pass: &Pass, width: f64, letter: f64) -> f64 {
    let line = |code: &Code| {
        let value = if code.value.is_empty() {
            0.0
        } else {
            (code.value.length() as f64 * 6.7 + 28.0).min(width * 0.5)
        };
        (code.text.len() as f64 * letter / (width - 88.0 - value))
            .ceil()
            .max(1.0)
    };
    pass.code.iter().map(line).sum()
}

/// Returns the point at which the line from a point to the middle of a rectangle meets its border.
pub(super) fn edge_of(rect: &Rect, x: f64, y: f64) -> (f64, f64) {
    let (dx, dy) = (x - rect.cx(), y - rect.cy());
    let scale = (rect.w / 2.0 / dx.abs().max(0.001)).min(rect.h / 2.0 / dy.abs().max(0.001));
    (rect.cx() + dx * scale, rect.cy() + dy * scale)
}

/// Key of the line of the newest write: another one for each write, so that each is seen to leave.
fn write_key(of: &Loops, one: &Loop) -> String {
    format!("write/{}/{}", one.actor, of.version)
}

/// Key and meaning of the line of a loop that does not write: events have reached it if keys wait in its queue.
fn watch_line(one: &Loop) -> (String, Line) {
    let (key, line) = match one.queue {
        0 => ("watch", Line::Watches),
        _ => ("informs", Line::Informs),
    };
    (format!("{key}/{}", one.actor), line)
}

pub(super) fn summary(of: &Loops) -> Message {
    let queued: usize = of.loops.iter().map(|one| one.queue).sum();
    msg::loops_summary(of.loops.len(), queued)
}
