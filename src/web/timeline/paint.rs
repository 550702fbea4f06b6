//! Painting of the lanes on their canvas.

use super::{Lanes, LanesProps, OVERVIEW};
use crate::web::dom;
use crate::web::language::say;
use i18n::format::{about, middle};
use i18n::format::{clock, stamp, tick};
use i18n::{Message, msg};
use projection::marks::Lane;
use views::axis::{Axis, FOLD};
use views::timeline::{MarkBlock, rows};
use web_sys::CanvasRenderingContext2d;

/// Maximum length of the name of a loop or a client.
const LONGEST_NAME: usize = 13;

/// Minimum width of the label over a fold.
const FOLD_WORDS: f64 = 40.0;

pub(super) struct Paint<'a> {
    pub(super) context: &'a CanvasRenderingContext2d,
    pub(super) axis: Axis,
    pub(super) props: &'a LanesProps,
    pub(super) width: f64,
    /// Axis of the whole time, if only a part of it is shown.
    pub(super) whole: Option<Axis>,
    /// Position of a hovering pointer on the axis.
    pub(super) pointer: Option<f64>,
}

impl Paint<'_> {
    pub(super) fn token(&self, name: &str) -> String {
        dom::token(name)
    }

    pub(super) fn fill(&self, token: &str, rects: impl Iterator<Item = (f64, f64, f64, f64)>) {
        self.context.set_fill_style_str(&self.token(token));
        self.context.begin_path();
        for (x, y, w, h) in rects {
            self.context.rect(x, y, w, h);
        }
        self.context.fill();
    }

    /// Paints injected faults as triangles; beside a diamond, not over it.
    pub(super) fn faults(&self, left: f64, y: f64, merged: &[MarkBlock]) {
        let c = self.context;
        c.set_fill_style_str(&self.token("--st-notready"));
        c.begin_path();
        for block in merged.iter().filter(|block| block.fault) {
            let beside = merged.iter().any(|other| {
                other.lane == Lane::User && !other.fault && (other.x - block.x).abs() < 9.0
            });
            // At the beginning there is no room at the left.
            let x = left
                + block.x
                + if !beside {
                    0.0
                } else if block.x < 9.0 {
                    9.0
                } else {
                    -9.0
                };
            c.move_to(x, y - 5.0);
            c.line_to(x + 5.0, y + 4.0);
            c.line_to(x - 5.0, y + 4.0);
            c.close_path();
        }
        c.fill();
    }

    /// Paints diamonds of one colour around their centres.
    pub(super) fn diamonds(
        &self,
        token: &str,
        r: f64,
        middles: &mut dyn Iterator<Item = (f64, f64)>,
    ) {
        let c = self.context;
        c.set_fill_style_str(&self.token(token));
        c.begin_path();
        for (x, y) in middles {
            c.move_to(x, y - r);
            c.line_to(x + r, y);
            c.line_to(x, y + r);
            c.line_to(x - r, y);
            c.close_path();
        }
        c.fill();
    }

    pub(super) fn slim(&self, merged: &[MarkBlock]) {
        let width = self.axis.width;
        let now = self.axis.x(self.props.clock.now).clamp(0.0, width);
        let _ = self.context.translate(Lanes::sides(true).0, 0.0);
        self.fill("--surface-3", std::iter::once((0.0, 10.0, width, 4.0)));
        let flags = self
            .props
            .flags
            .iter()
            .map(|(at, _)| self.axis.x(*at))
            .filter(|x| (0.0..=width).contains(x));
        self.fill(
            "--accent",
            std::iter::once((0.0, 10.0, now, 4.0)).chain(flags.map(|x| (x - 1.0, 4.0, 2.0, 16.0))),
        );
        let marks = |past: bool| {
            merged
                .iter()
                .filter(move |block| block.lane != Lane::User && (block.x <= now) == past)
                .map(|block| (block.x, 4.0, block.w.min(14.0), 4.0))
        };
        self.fill("--text-3", marks(true));
        self.fill("--border-strong", marks(false));
        let failed = merged
            .iter()
            .filter(|block| block.lane != Lane::User && block.bad)
            .map(|block| (block.x, 4.0, block.w.min(14.0), 4.0));
        self.fill("--st-failed", failed);
        self.diamonds(
            "--text-2",
            4.0,
            &mut merged
                .iter()
                .filter(|block| block.lane == Lane::User && !block.fault)
                .map(|block| (block.x, 20.0)),
        );
        self.faults(0.0, 20.0, merged);
        self.context.begin_path();
        let _ = self.context.arc(now, 12.0, 6.0, 0.0, std::f64::consts::TAU);
        self.context.set_fill_style_str(&self.token("--surface"));
        self.context.fill();
        self.context.set_stroke_style_str(&self.token("--accent"));
        self.context.set_line_width(2.0);
        self.context.stroke();
    }

    pub(super) fn lanes(&self, merged: &[MarkBlock], ghosts: &[MarkBlock]) {
        let c = self.context;
        let left = 104.0;
        let (rows, shown) = rows(&[&self.props.marks, Lanes::ghosts(self.props)]);
        let row =
            |lane: Lane| 24.0 + f64::from(rows.get(lane.index()).copied().unwrap_or(0)) * 12.0;
        let other = |lane: Lane| {
            lane != Lane::User && self.props.only.is_some_and(|only| row(only) != row(lane))
        };
        self.fill(
            "--surface-2",
            (0..8).step_by(2).map(|at| {
                (
                    left - 8.0,
                    24.0 + f64::from(at) * 12.0,
                    self.width - left - 8.0,
                    12.0,
                )
            }),
        );
        c.set_font("11px system-ui, sans-serif");
        c.set_text_align("right");
        c.set_text_baseline("middle");
        c.set_fill_style_str(&self.token("--text-3"));
        for lane in shown {
            c.set_global_alpha(if other(lane) { 0.45 } else { 1.0 });
            let _ = c.fill_text(&say(lane_name(lane)), left - 16.0, row(lane) + 6.5);
        }
        c.set_global_alpha(1.0);
        c.save();
        c.begin_path();
        // The label of the first tick extends beyond the lanes.
        c.rect(left - 24.0, 0.0, self.width, 20.0);
        c.rect(left - 8.0, 20.0, self.width, 103.0);
        c.clip();
        self.ticks(left);
        let mut told = f64::MIN;
        for (middle, (from, to)) in self.axis.folded() {
            // If the next fold is too near for the label, the times along the fold have to do.
            let words = if middle - told < FOLD_WORDS {
                String::new()
            } else {
                about(to - from)
            };
            if !words.is_empty() {
                told = middle;
            }
            self.fold(left + middle, &words, &[stamp(from), stamp(to)].join(" – "));
        }
        // Paint the abandoned branch faintly.
        if !ghosts.is_empty() {
            c.set_global_alpha(0.25);
            let bar =
                |block: &MarkBlock| (left + block.x - 1.25, row(block.lane) + 2.0, block.w, 8.0);
            self.fill(
                "--text",
                ghosts
                    .iter()
                    .filter(|block| block.lane != Lane::User)
                    .map(bar),
            );
            self.diamonds(
                "--text",
                5.0,
                &mut ghosts
                    .iter()
                    .filter(|block| block.lane == Lane::User)
                    .map(|block| (left + block.x, row(Lane::User) + 6.0)),
            );
            c.set_global_alpha(1.0);
        }
        let (now, end) = (
            left + self.axis.x(self.props.clock.now),
            left + self.axis.x(self.props.clock.end),
        );
        if self.props.clock.now < self.props.clock.end {
            self.hatch(now, end);
        }
        let causes = || {
            self.props
                .chain
                .iter()
                .filter(|(_, lane)| !other(*lane))
                .map(|(at, lane)| (self.axis.x(*at), *lane))
        };
        // Below the marks: failures are red also as part of a chain.
        self.curve(left, row);
        for past in [true, false] {
            c.set_global_alpha(if past { 1.0 } else { 0.5 });
            // Blocks on both sides of the playhead are split at it.
            let side = |(x, w): (f64, f64)| {
                if past {
                    (x, w.min(now + 0.5 - x))
                } else {
                    (x.max(now + 0.5), w.min(x + w - now - 0.5))
                }
            };
            let bar = |x: f64, w: f64, lane: Lane| {
                let (x, w) = side((left + x - 1.25, w));
                (x, row(lane) + 2.0, w.max(0.0), 8.0)
            };
            let bars = |bad: bool| {
                let here = merged.iter().filter(move |block| {
                    block.bad == bad && block.lane != Lane::User && !other(block.lane)
                });
                here.map(|block| bar(block.x, block.w, block.lane))
            };
            self.fill("--text-3", bars(false));
            self.fill(
                "--accent",
                causes()
                    .filter(|(_, lane)| *lane != Lane::User)
                    .map(|(x, lane)| bar(x, 2.5, lane)),
            );
            self.fill("--st-failed", bars(true));
            let people = |chosen: bool| {
                let here = merged.iter().filter(move |block| {
                    block.lane == Lane::User
                        && !block.fault
                        && !block.bad
                        && (left + block.x <= now + 0.5) == past
                });
                let is_chosen = |block: &MarkBlock| {
                    causes().any(|(x, lane)| lane == Lane::User && (x - block.x).abs() < 1.0)
                };
                here.filter(move |block| is_chosen(block) == chosen)
                    .map(|block| (left + block.x, row(Lane::User) + 6.0))
            };
            self.diamonds("--text", 5.0, &mut people(false));
            self.diamonds("--accent", 5.0, &mut people(true));
            // Requests refused by the API server have hollow diamonds.
            let refused = || {
                let here = merged.iter().filter(move |block| {
                    block.lane == Lane::User && block.bad && (left + block.x <= now + 0.5) == past
                });
                here.map(|block| (left + block.x, row(Lane::User) + 6.0))
            };
            self.diamonds("--st-failed", 5.0, &mut refused());
            c.set_global_alpha(1.0);
            self.diamonds("--surface", 3.0, &mut refused());
        }
        if merged.iter().any(|block| block.fault) {
            self.faults(left, row(Lane::User) + 6.0, merged);
        }
        if self.props.only.is_some() {
            c.set_global_alpha(0.2);
            let bar =
                |block: &MarkBlock| (left + block.x - 1.25, row(block.lane) + 2.0, block.w, 8.0);
            self.fill(
                "--text-3",
                merged.iter().filter(|block| other(block.lane)).map(bar),
            );
            c.set_global_alpha(1.0);
        }
        if let Some(fork) = &self.props.left {
            self.fork(left + self.axis.x(fork.at));
        }
        // Shade the interval between the compared instants.
        if let [(a, _), (b, _)] = self.props.flags[..] {
            let (a, b) = (self.axis.x(a.min(b)), self.axis.x(a.max(b)));
            c.set_global_alpha(0.12);
            c.set_fill_style_str(&self.token("--accent"));
            c.fill_rect(left + a, 18.0, b - a, 103.0);
            c.set_global_alpha(1.0);
        }
        for (at, name) in &self.props.flags {
            self.flag(left + self.axis.x(*at), name);
        }
        if let Some(x) = self.pointer {
            self.hairline(left + x, self.axis.time(x));
        }
        if now > left - 1.0 && now <= left + self.axis.width + 1.0 {
            self.fill("--accent", std::iter::once((now - 0.75, 18.0, 1.5, 104.0)));
        }
        let away = if now < left - 1.0 { "‹ " } else { "" };
        let after = if now > left + self.axis.width + 1.0 {
            " ›"
        } else {
            ""
        };
        self.time_label(
            now.clamp(left, left + self.axis.width),
            &[away, &clock(self.props.clock.now), after].concat(),
            ("--accent", "--on-accent"),
        );
        if let Some(whole) = &self.whole {
            self.overview(left, whole);
        }
        c.restore();
    }

    /// Paints the whole time above the ruler, with the part shown.
    fn overview(&self, left: f64, whole: &Axis) {
        let place = |x: f64| whole.x(self.axis.time(x));
        self.fill(
            "--surface-3",
            std::iter::once((left, 0.0, whole.width, OVERVIEW)),
        );
        self.fill(
            "--text-3",
            std::iter::once((
                left + place(0.0),
                0.0,
                (place(self.axis.width) - place(0.0)).max(3.0),
                OVERVIEW,
            )),
        );
        self.fill(
            "--accent",
            std::iter::once((
                left + whole.x(self.props.clock.now).min(whole.width) - 1.0,
                0.0,
                2.0,
                OVERVIEW,
            )),
        );
    }

    /// Paints a line at the pointer, with its time.
    fn hairline(&self, x: f64, at: u64) {
        self.fill(
            "--border-strong",
            std::iter::once((x.round(), 18.0, 1.0, 104.0)),
        );
        self.time_label(x, &clock(at), ("--surface-3", "--text-2"));
    }

    pub(super) fn ticks(&self, left: f64) {
        let c = self.context;
        let (ticks, step) = self.axis.ticks();
        c.set_font("10px ui-monospace, Menlo, Consolas, monospace");
        c.set_text_align("center");
        for at in ticks {
            let x = (left + self.axis.x(at)).round() + 0.5;
            c.set_stroke_style_str(&self.token("--border"));
            c.set_line_width(1.0);
            c.begin_path();
            c.move_to(x, 18.0);
            c.line_to(x, 121.0);
            c.stroke();
            c.set_fill_style_str(&self.token("--text-3"));
            // The playhead's own time stands there.
            if (x - left - self.axis.x(self.props.clock.now)).abs() > 56.0 {
                let _ = c.fill_text(&tick(at, step), x, 11.0);
            }
        }
    }

    pub(super) fn hatch(&self, from: f64, to: f64) {
        let c = self.context;
        c.save();
        c.begin_path();
        c.rect(from, 20.0, (to - from).max(0.0), 102.0);
        c.clip();
        c.set_stroke_style_str(&self.token("--border"));
        c.set_line_width(1.0);
        c.begin_path();
        let mut x = from - 110.0;
        while x < to {
            c.move_to(x, 122.0);
            c.line_to(x + 104.0, 18.0);
            x += 7.0;
        }
        c.stroke();
        c.restore();
    }

    /// Paints a fold, with its duration, and its times along it.
    pub(super) fn fold(&self, middle: f64, words: &str, times: &str) {
        let c = self.context;
        let (from, to) = (middle - FOLD / 2.0, middle + FOLD / 2.0);
        self.fill("--surface", std::iter::once((from, 20.0, FOLD, 102.0)));
        self.hatch(from, to);
        self.fill(
            "--border-strong",
            [from, to].into_iter().map(|x| (x - 0.5, 20.0, 1.0, 102.0)),
        );
        let wide = (times.len() as f64 * 5.6 + 6.0).min(100.0);
        self.fill(
            "--surface",
            std::iter::once((middle - 6.5, 71.0 - wide / 2.0, 13.0, wide)),
        );
        c.set_fill_style_str(&self.token("--text-2"));
        c.set_text_align("center");
        c.save();
        c.set_font("10px system-ui, sans-serif");
        let _ = c.translate(middle, 71.0);
        let _ = c.rotate(-std::f64::consts::FRAC_PI_2);
        let _ = c.fill_text_with_max_width(times, 0.0, 0.5, 96.0);
        c.restore();
        // The playhead's own time stands there.
        if (middle - 104.0 - self.axis.x(self.props.clock.now)).abs() > 56.0 {
            let _ = c.fill_text(words, middle, 11.0);
        }
    }

    /// Paints a fork: a stem, and a branch to the right.
    pub(super) fn fork(&self, x: f64) {
        let c = self.context;
        self.fill("--text-3", std::iter::once((x - 0.5, 20.0, 1.0, 101.0)));
        c.set_stroke_style_str(&self.token("--text-2"));
        c.set_line_width(1.5);
        c.begin_path();
        c.move_to(x, 32.0);
        c.bezier_curve_to(x, 27.0, x + 8.0, 30.0, x + 8.0, 24.0);
        c.stroke();
        self.diamonds("--text-2", 3.0, &mut std::iter::once((x + 8.0, 22.0)));
    }

    pub(super) fn curve(&self, left: f64, row: impl Fn(Lane) -> f64) {
        let c = self.context;
        let at = |(time, lane): (u64, Lane)| (left + self.axis.x(time), row(lane) + 6.0);
        c.set_stroke_style_str(&self.token("--accent"));
        c.set_line_width(1.25);
        c.set_global_alpha(0.55);
        c.begin_path();
        for pair in self.props.chain.windows(2) {
            let ((x1, y1), (x2, y2)) = (at(pair[1]), at(pair[0]));
            let mid = (x1 + x2) / 2.0;
            c.move_to(x1, y1);
            c.bezier_curve_to(mid, y1, mid, y2, x2, y2);
        }
        c.stroke();
        c.set_global_alpha(1.0);
    }

    /// Paints a letter on a line of its own.
    pub(super) fn flag(&self, x: f64, name: &str) {
        let c = self.context;
        // Beside a person's mark at the same instant, and below the playhead's time.
        self.fill(
            "--text",
            [
                (x - 0.5, 20.0, 1.0, 101.0),
                (x - 0.5, 20.0, 8.0, 1.0),
                (x + 6.5, 20.0, 13.0, 13.0),
            ]
            .into_iter(),
        );
        c.set_font("600 10px system-ui, sans-serif");
        c.set_text_align("center");
        c.set_fill_style_str(&self.token("--surface"));
        let _ = c.fill_text(name, x + 13.0, 27.0);
    }

    /// Paints a time in the ruler, kept within it.
    fn time_label(&self, x: f64, words: &str, (ground, ink): (&str, &str)) {
        let c = self.context;
        c.set_font("600 10px ui-monospace, Menlo, Consolas, monospace");
        let wide = (words.chars().count() as f64 * 6.3 + 10.0).max(62.0);
        let middle = x.min(self.width - wide / 2.0 - 2.0).max(80.0 + wide / 2.0);
        c.set_fill_style_str(&self.token(ground));
        c.begin_path();
        let _ = c.round_rect_with_f64(middle - wide / 2.0, 4.0, wide, 14.0, 4.0);
        c.fill();
        c.set_text_align("center");
        c.set_fill_style_str(&self.token(ink));
        let _ = c.fill_text(words, middle, 11.5);
    }
}

/// Name of a lane.
pub(super) fn lane_name(lane: Lane) -> Message {
    match lane {
        Lane::User => msg::lane_user(),
        Lane::Others => msg::lane_others(),
        lane @ Lane::Named(_) => Message::name(middle(lane.name(), LONGEST_NAME)),
        lane => msg::lane(lane.name()),
    }
}
