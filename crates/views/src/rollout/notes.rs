//! Notes within the plot: violated limits, and the cause of missing Pods. A note stands near its subject.

use super::model::{Chart, ChartPart, ChartPath, ChartWord, WordRole};
use crate::draw::primitive::Anchor;
use crate::shape::Rect;
use apiserver::Component;
use i18n::format;
use i18n::{Message, msg};
use projection::rollout_track::{Point, Track};

/// Width of a character, and distance of a note from its subject.
const LETTER: f64 = 6.0;
const LEADER: f64 = 14.0;
/// Rows tried for a note, each 4 px further off; fewer for a note that may be left out.
const ROWS: i32 = 16;
const NEAR_ROWS: i32 = 8;

/// Width of a note.
pub(super) fn long(words: &Message) -> f64 {
    words.length() as f64 * LETTER
}

/// Returns true if the rectangles overlap.
fn meets(a: &Rect, b: &Rect) -> bool {
    a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom()
}

/// Side of its subject on which a note stands.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Before,
    After,
    /// Above or below: there is no room beside it.
    Over,
}

/// Notes within the plot: none overlaps another, the line of a limit or a fold.
pub(super) struct Notes {
    pub(super) plot: Rect,
    pub(super) taken: Vec<Rect>,
    pub(super) folds: Vec<Rect>,
}

impl Notes {
    /// Returns true if the place is free.
    fn is_free(&self, place: &Rect) -> bool {
        self.is_free_but_for_folds(place) && !self.is_on_fold(place)
    }

    pub(super) fn is_free_but_for_folds(&self, place: &Rect) -> bool {
        self.taken.iter().all(|other| !meets(place, other))
    }

    pub(super) fn is_on_fold(&self, place: &Rect) -> bool {
        self.folds.iter().any(|fold| meets(place, fold))
    }

    /// Returns the sides of a position that have room for a note, preferably before it.
    fn sides(&self, x: f64, w: f64) -> Vec<Side> {
        let (before, after) = (
            x - LEADER - w >= self.plot.x + 4.0,
            x + LEADER + w <= self.plot.right() - 4.0,
        );
        let sides: Vec<Side> = [(before, Side::Before), (after, Side::After)]
            .into_iter()
            .filter(|side| side.0)
            .map(|side| side.1)
            .collect();
        if sides.is_empty() {
            vec![Side::Over]
        } else {
            sides
        }
    }

    /// Returns the rows of one side, the nearest first; `down` is 1 below the position and -1 above it.
    fn rows(
        &self,
        (x, y): (f64, f64),
        w: f64,
        (side, down): (Side, f64),
        most: i32,
    ) -> impl Iterator<Item = Rect> {
        let plot = self.plot;
        let left = match side {
            Side::Before => x - LEADER - w,
            Side::After => x + LEADER,
            Side::Over => (x + 10.0 - w).max(plot.x + 4.0),
        };
        let top = move |row: i32| {
            (y + down * (10.0 + f64::from(row) * 4.0)).clamp(plot.y + 7.0, plot.bottom() - 9.0)
                - 7.0
        };
        (0..most).map(move |row| Rect::new(left, top(row + i32::from(side == Side::Over)), w, 14.0))
    }

    /// At the very bottom or top there is room on the other side only.
    fn within(&self, y: f64, down: f64) -> f64 {
        if (self.plot.y..self.plot.bottom()).contains(&(y + down * 17.0)) {
            down
        } else {
            -down
        }
    }

    /// Marks a position by a dot, with a leader to its label. The label is drawn even if no place is free: a limit was violated.
    pub(super) fn mark(
        &mut self,
        out: &mut Chart,
        (x, y): (f64, f64),
        down: f64,
        breach: bool,
        words: Message,
    ) {
        let (w, down) = (long(&words), self.within(y, down));
        let side = self.sides(x, w)[0];
        let places = || self.rows((x, y), w, (side, down), ROWS);
        let place = places()
            .find(|place| self.is_free(place))
            .or_else(|| places().next())
            .unwrap_or_default();
        self.write(out, (x, y), (place, side, down), breach, words);
    }

    /// Adds notes in order of importance, each in the first wording that has room near its position. Notes without room, or too close to
    /// another, are left out.
    pub(super) fn offer(
        &mut self,
        out: &mut Chart,
        all: impl Iterator<Item = ((f64, f64), Vec<Message>)>,
    ) {
        let mut before: Option<f64> = None;
        for ((x, y), wordings) in all {
            let shortest = wordings.iter().map(long).fold(f64::MAX, f64::min);
            let is_close = before
                .replace(x)
                .is_some_and(|before| (before - x).abs() < shortest + 2.0 * LEADER);
            let down = self.within(y, -1.0);
            let found = wordings
                .into_iter()
                .filter(|_| !is_close)
                .find_map(|words| {
                    let w = long(&words);
                    let rows = |side| {
                        self.rows((x, y), w, (side, down), NEAR_ROWS)
                            .map(move |place| (place, side))
                    };
                    let (place, side) = self
                        .sides(x, w)
                        .into_iter()
                        .flat_map(rows)
                        .find(|(place, _)| self.is_free(place))?;
                    Some((place, side, words))
                });
            if let Some((place, side, words)) = found {
                self.write(out, (x, y), (place, side, down), false, words);
            }
        }
    }

    fn write(
        &mut self,
        out: &mut Chart,
        (x, y): (f64, f64),
        (place, side, down): (Rect, Side, f64),
        breach: bool,
        words: Message,
    ) {
        self.taken.push(place);
        self.taken.push(Rect::new(x - 3.0, y - 3.0, 6.0, 6.0));
        let middle = place.y + 7.0;
        let (from_x, from_y) = match side {
            Side::Before => (place.right() + 2.0, middle),
            Side::After => (place.x - 2.0, middle),
            Side::Over => (x, middle - down * 7.0),
        };
        out.paths.push(ChartPath {
            part: ChartPart::Leader(breach),
            d: format!("M{from_x:.1} {from_y:.1}L{x:.1} {y:.1}"),
        });
        out.paths.push(ChartPath {
            part: ChartPart::Dot(breach),
            d: format!("M{:.1} {y:.1}a3 3 0 1 0 6 0a3 3 0 1 0 -6 0Z", x - 3.0),
        });
        let (at, anchor) = if side == Side::Before {
            (place.right(), Anchor::End)
        } else {
            (place.x, Anchor::Start)
        };
        out.words.push(ChartWord {
            x: at,
            y: place.y + 11.0,
            anchor,
            role: WordRole::Note(breach),
            text: words,
        });
    }
}

/// Returns the times from which existing Pods were missing, the newest first: time, number of Pods left, and the actor that deleted them,
/// in two wordings.
pub(super) fn gaps(track: &Track, points: &[Point]) -> Vec<(u64, u32, Vec<Message>)> {
    // During an update some may be missing.
    let missing = |point: &Point| {
        let least = if point.limits.0 == point.limits.1 {
            point.desired
        } else {
            point.limits.0
        };
        point.all() < least
    };
    let begins = (1..points.len())
        .rev()
        .filter(|i| missing(&points[*i]) && !missing(&points[i - 1]));
    let gaps = begins.filter_map(|i| {
        // Of several the actor that deleted most; in a long history not every instant is kept.
        let left = track
            .left
            .iter()
            .rev()
            .filter(|left| left.0 <= points[i].at && left.0 > points[i - 1].at);
        let (_, name, pods, by) = left.max_by_key(|left| left.2)?;
        let by = match by {
            Component::User => msg::actor_you(),
            component => Message::name(component.name()),
        };
        let words = match pods {
            1 => vec![
                msg::chart_deleted(format::middle(name, 20), &by),
                msg::chart_deleted(format::front(name, 7), &by),
            ],
            n => vec![msg::chart_deleted_many(n, by)],
        };
        Some((points[i].at, points[i].all(), words))
    });
    gaps.collect()
}
