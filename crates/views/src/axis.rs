//! The time axis: times to pixels and back, with long idle stretches folded. Pure arithmetic.

/// Minimum length of an idle stretch that may be folded, and the margin that stays visible on either side.
const MIN_IDLE_MS: u64 = 20_000;
const IDLE_MARGIN_MS: u64 = 1_000;
/// Maximum number of folds: the longest stretches.
const MAX_FOLDS: usize = 8;
/// Width of a folded stretch, in pixels.
pub const FOLD: f64 = 24.0;
/// Minimum distance of a tick from the middle of a fold, where its duration is written.
const TICK_CLEARANCE_PX: f64 = 44.0;

/// Stretches of a history in which nothing happens.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Idle {
    gaps: Vec<(u64, u64)>,
    start: u64,
    last: u64,
}

impl Idle {
    /// Starts with a history that begins at an instant.
    pub fn since(start: u64) -> Idle {
        Idle {
            start,
            last: start,
            ..Idle::default()
        }
    }

    /// Records an event; times must not decrease.
    pub fn see(&mut self, at: u64) {
        if at >= self.last + MIN_IDLE_MS {
            self.gaps
                .push((self.last + IDLE_MARGIN_MS, at - IDLE_MARGIN_MS));
        }
        self.last = at;
    }

    /// Returns the folds up to an instant, in order of time: stretches that take more than a tenth of the axis. Each fold shortens the
    /// axis, so that others become long by comparison.
    pub fn folds(&self, end: u64) -> Vec<(u64, u64)> {
        let mut rest = self.gaps.clone();
        if end >= self.last + MIN_IDLE_MS {
            rest.push((self.last + IDLE_MARGIN_MS, end));
        }
        rest.sort_by_key(|(from, to)| u64::MAX - (to - from));
        let (mut span, mut count) = (end.saturating_sub(self.start), 0);
        for (from, to) in rest.iter().take(MAX_FOLDS) {
            if (to - from) * 10 <= span {
                break;
            }
            (span, count) = (span.saturating_sub(to - from), count + 1);
        }
        rest.truncate(count);
        rest.sort();
        rest
    }
}

/// Mapping from times to pixels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// Time at the left, in milliseconds.
    pub from: u64,
    /// Milliseconds per pixel.
    pub per: f64,
    /// Width in pixels.
    pub width: f64,
    /// Folded stretches, in order of time.
    pub folds: Vec<(u64, u64)>,
}

impl Axis {
    /// Creates an axis that starts at an instant and covers `busy` milliseconds besides the folds.
    pub fn new(from: u64, busy: f64, width: f64, folds: Vec<(u64, u64)>) -> Axis {
        let room = (width - FOLD * folds.len() as f64).max(1.0);
        Axis {
            from,
            per: busy.max(1.0) / room,
            width: width.max(1.0),
            folds,
        }
    }

    /// Length of a span in milliseconds without the folds.
    pub fn busy(span: u64, folds: &[(u64, u64)]) -> u64 {
        span.saturating_sub(folds.iter().map(|(from, to)| to - from).sum())
    }

    /// Distance in pixels from time 0 to a time.
    fn place(&self, at: u64) -> f64 {
        let (mut busy, mut folded) = (at as f64, 0.0);
        for (from, to) in self.folds.iter().take_while(|(from, _)| *from < at) {
            let inside = (at.min(*to) - from) as f64;
            busy -= inside;
            folded += FOLD * inside / (to - from) as f64;
        }
        busy / self.per + folded
    }

    /// Time at a distance in pixels from time 0.
    fn at(&self, place: f64) -> u64 {
        let (mut at, mut left) = (0, place.max(0.0));
        for (from, to) in &self.folds {
            let busy = (from - at) as f64 / self.per;
            if left <= busy {
                break;
            }
            left -= busy;
            if left < FOLD {
                return from + (left / FOLD * (to - from) as f64).round() as u64;
            }
            (at, left) = (*to, left - FOLD);
        }
        at + (left * self.per).round() as u64
    }

    /// Position of a time.
    pub fn x(&self, at: u64) -> f64 {
        self.place(at) - self.place(self.from)
    }

    /// Time at a position.
    pub fn time(&self, x: f64) -> u64 {
        self.at(self.place(self.from) + x.clamp(0.0, self.width))
    }

    /// Scales the axis, keeping a time at a position; it shows nothing before time 0 and nothing after `end`.
    pub fn scaled(&self, per: f64, at: u64, x: f64, end: u64) -> Axis {
        let mut axis = Axis {
            per,
            ..self.clone()
        };
        let last = (axis.place(end) - axis.width).max(0.0);
        axis.from = axis.at((axis.place(at) - x).clamp(0.0, last));
        axis
    }

    /// Returns the visible folds: the middle of each, and its duration.
    pub fn breaks(&self) -> impl Iterator<Item = (f64, u64)> {
        self.folded()
            .map(|(middle, (from, to))| (middle, to - from))
    }

    /// Returns the visible folds: the middle of each, and its start and end.
    pub fn folded(&self) -> impl Iterator<Item = (f64, (u64, u64))> {
        let middle = |fold: &(u64, u64)| ((self.x(fold.0) + self.x(fold.1)) / 2.0, *fold);
        self.folds
            .iter()
            .map(middle)
            .filter(|(x, _)| *x > -FOLD && *x < self.width + FOLD)
    }

    /// Returns ticks at round times, about 110 px apart and none beside a fold, and the interval of the ticks.
    pub fn ticks(&self) -> (Vec<u64>, u64) {
        self.ticks_apart(110.0)
    }

    /// Returns ticks about `apart` pixels apart, and their interval.
    pub fn ticks_apart(&self, apart: f64) -> (Vec<u64>, u64) {
        const STEPS: [u64; 20] = [
            10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000, 120_000,
            300_000, 600_000, 1_800_000, 3_600_000, 21_600_000, 86_400_000,
        ];
        let wanted = self.per * apart;
        let step = STEPS
            .into_iter()
            .find(|step| *step as f64 + 0.5 >= wanted)
            .unwrap_or(604_800_000);
        let (mut out, mut from, last) = (Vec::new(), self.from, self.time(self.width));
        let ends = self
            .folds
            .iter()
            .copied()
            .filter(|fold| fold.1 > self.from)
            .chain([(last, last)]);
        for (to, next) in ends {
            let some = (from.div_ceil(step)..)
                .map(|i| i * step)
                .take_while(|at| *at <= to.min(last));
            out.extend(some.filter(|at| {
                self.breaks()
                    .all(|(x, _)| (x - self.x(*at)).abs() > TICK_CLEARANCE_PX)
            }));
            from = next;
        }
        (out, step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(end: u64, width: f64, times: &[u64]) -> Axis {
        let mut idle = Idle::default();
        times.iter().for_each(|at| idle.see(*at));
        let folds = idle.folds(end);
        Axis::new(0, Axis::busy(end, &folds) as f64, width, folds)
    }

    #[test]
    fn times_go_to_pixels_and_back() {
        let axis = Axis::new(0, 60_000.0, 1000.0, Vec::new());
        assert_eq!(axis.time(axis.x(30_000)), 30_000);
        let (ticks, step) = axis.ticks();
        assert_eq!((step, &ticks[..3]), (10_000, &[0, 10_000, 20_000][..]));
        assert_eq!(Axis::new(0, 8_000.0, 880.0, Vec::new()).ticks().1, 1000);
    }

    #[test]
    fn an_idle_hour_is_folded_and_every_time_still_has_a_position() {
        let hour = 3_600_000;
        let axis = whole(
            2 * hour + 4_000,
            1000.0,
            &[0, 3_000, hour, hour + 3_000, 2 * hour, 2 * hour + 4_000],
        );
        assert_eq!(
            axis.folds,
            [(4_000, hour - 1_000), (hour + 4_000, 2 * hour - 1_000)]
        );
        // Seven of the fourteen seconds that are not folded lie between the folds.
        assert!((axis.x(hour + 4_000) - axis.x(hour - 1_000) - 1000.0 / 14.0 * 5.0).abs() < 20.0);
        assert_eq!(axis.x(hour - 1_000) - axis.x(4_000), FOLD);
        for at in [
            0,
            2_500,
            4_000,
            hour - 1_000,
            hour + 1_234,
            2 * hour,
            2 * hour + 4_000,
        ] {
            assert!(
                axis.time(axis.x(at)).abs_diff(at) <= 1,
                "{at} {}",
                axis.time(axis.x(at))
            );
        }
        assert!(axis.time(axis.x(hour / 2)).abs_diff(hour / 2) < 100);
        // No tick lies at the duration of a fold, and ticks within a fold are not counted.
        let (ticks, _) = axis.ticks();
        assert!(
            ticks.len() < 20
                && ticks.iter().all(|at| axis
                    .breaks()
                    .all(|(x, _)| (axis.x(*at) - x).abs() > TICK_CLEARANCE_PX)),
            "{ticks:?}"
        );
        // A stretch that is short in relation to the rest is not folded: an update every minute of an hour.
        let minutes: Vec<u64> = (0..60).map(|minute| minute * 60_000).collect();
        assert_eq!(whole(hour, 1000.0, &minutes).folds, []);
        assert_eq!(whole(15_000, 1000.0, &[0]).folds, []);
        assert_eq!(whole(30_000, 1000.0, &[0, 2_000]).folds, [(3_000, 30_000)]);
    }

    #[test]
    fn zooming_keeps_the_time_under_the_pointer() {
        let axis = Axis::new(0, 100_000.0, 1000.0, Vec::new());
        let near = axis.scaled(10.0, 50_000, 500.0, 100_000);
        assert!((near.x(50_000) - 500.0).abs() < 0.2);
        assert_eq!((near.from, near.time(1000.0)), (45_000, 55_000));
        // Limited at both ends.
        assert_eq!(near.scaled(10.0, 45_000, 9_000.0, 100_000).from, 0);
        assert_eq!(near.scaled(10.0, 45_000, -9_000.0, 100_000).from, 90_000);
    }
}
