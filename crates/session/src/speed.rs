//! Playback speed: the causal pace, and then a log scale of the real one from 0.1x to 1000x with a stop at each power of ten.

use i18n::format::Px;

/// Slowest speed.
pub const SLOWEST: f64 = 0.1;
/// Fastest speed.
pub const FASTEST: f64 = 1000.0;

/// Stops of the real pace.
pub const STOPS: [f64; 13] = [
    0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0,
];
/// Stops of the causal pace: at the fastest a pass is shown for a tenth of a second.
pub const CAUSAL_STOPS: [f64; 5] = [0.5, 1.0, 2.0, 5.0, 10.0];
/// Part of the slider that is the causal pace.
const CAUSAL_PART: f64 = 0.3;
/// Beginning of the real pace on the slider.
const REAL_FROM: f64 = 0.36;

/// Rate of the clock: virtual seconds per second or, at the causal pace, speed of its holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockRate {
    /// Speed.
    pub speed: f64,
    /// True at the causal pace (`causal.rs`).
    pub by_cause: bool,
}

impl ClockRate {
    /// Position on the slider, from 0 to 1: the causal pace first, then the real one.
    pub fn position(self) -> f64 {
        if self.by_cause {
            let [slowest, .., fastest] = CAUSAL_STOPS;
            let part = (self.speed / slowest).ln() / (fastest / slowest).ln();
            return part.clamp(0.0, 1.0) * CAUSAL_PART;
        }
        let part = (self.speed.clamp(SLOWEST, FASTEST).log10() + 1.0) / 4.0;
        REAL_FROM + part.clamp(0.0, 1.0) * (1.0 - REAL_FROM)
    }

    /// Rate at a position of the slider: the nearest stop of the causal pace; at the real one a power of ten near it, elsewhere rounded to
    /// one digit.
    pub fn at(position: f64) -> ClockRate {
        let by_cause = position < (CAUSAL_PART + REAL_FROM) / 2.0;
        if by_cause {
            let distance = |speed: f64| (ClockRate { speed, by_cause }.position() - position).abs();
            let speed = CAUSAL_STOPS
                .into_iter()
                .min_by(|a, b| distance(*a).total_cmp(&distance(*b)))
                .unwrap_or(1.0);
            return ClockRate { speed, by_cause };
        }
        let part = (position - REAL_FROM) / (1.0 - REAL_FROM);
        let log = part.clamp(0.0, 1.0) * 4.0 - 1.0;
        let base = 10f64.powi(log.floor() as i32);
        let speed = if (log - log.round()).abs() < 0.08 {
            10f64.powi(log.round() as i32)
        } else {
            ((10f64.powf(log) / base).round() * base).clamp(SLOWEST, FASTEST)
        };
        ClockRate { speed, by_cause }
    }

    /// Stops of its pace.
    fn stops(self) -> &'static [f64] {
        if self.by_cause { &CAUSAL_STOPS } else { &STOPS }
    }

    /// Next stop above (`up`) or below: of its pace, and at the end of it of the other one.
    pub fn next(self, up: bool) -> ClockRate {
        let stops = self.stops();
        let found = if up {
            stops.iter().find(|stop| **stop > self.speed * 1.001)
        } else {
            stops.iter().rev().find(|stop| **stop < self.speed * 0.999)
        };
        let real = |speed| ClockRate {
            speed,
            by_cause: false,
        };
        match (found, self.by_cause, up) {
            (Some(speed), ..) => ClockRate {
                speed: *speed,
                ..self
            },
            (None, true, true) => real(SLOWEST),
            (None, false, false) => ClockRate {
                speed: CAUSAL_STOPS[CAUSAL_STOPS.len() - 1],
                by_cause: true,
            },
            (None, true, false) => self,
            (None, false, true) => real(FASTEST),
        }
    }

    /// Next stop of its pace; after 10× the first.
    pub fn turned(self) -> ClockRate {
        if self.speed < 10.0 {
            self.next(true)
        } else {
            ClockRate {
                speed: self.stops()[0],
                ..self
            }
        }
    }

    /// Rate that an arrow key of the slider selects; `None` for another key.
    pub fn by_key(self, key: &str) -> Option<ClockRate> {
        match key {
            "ArrowRight" | "ArrowUp" => Some(self.next(true)),
            "ArrowLeft" | "ArrowDown" => Some(self.next(false)),
            _ => None,
        }
    }
}

/// Formats a speed: `0.05×`, `0.5×`, `10×`.
pub fn label(speed: f64) -> String {
    let digits = if speed < SLOWEST { 100.0 } else { 10.0 };
    format!(
        "{}×",
        Px(if speed < 1.0 {
            (speed * digits).round() / digits
        } else {
            speed.round()
        })
    )
}

/// Measurement of the clock's actual speed: the engine may not keep up with a large cluster.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    /// Wall-clock milliseconds, and cluster microseconds requested and reached.
    passed: f64,
    wanted: f64,
    went: f64,
    reached: Option<f64>,
}

impl Pace {
    /// Records a slice: milliseconds since the last one, and requested and actual progress of the clock.
    pub fn slice(&mut self, passed: f64, wanted: f64, went: f64) {
        self.passed += passed;
        self.wanted += wanted;
        self.went += went;
        if self.passed >= 1000.0 {
            let speed = self.went / (self.passed * 1000.0);
            *self = Pace {
                reached: (self.went < 0.8 * self.wanted).then_some(speed),
                ..Pace::default()
            };
        }
    }

    /// Speed over the last second, if it was well below the requested one.
    pub fn reached(&self) -> Option<f64> {
        self.reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(speed: f64, by_cause: bool) -> ClockRate {
        ClockRate { speed, by_cause }
    }

    #[test]
    fn arrow_keys_walk_all_stops_of_both_paces_and_stay_in_range() {
        let mut walked = vec![rate(0.5, true)];
        loop {
            let now = walked[walked.len() - 1];
            let to = now.by_key("ArrowRight").expect("a rate");
            assert_eq!(Some(to), now.by_key("ArrowUp"));
            if to == now {
                break;
            }
            assert!(to.position() > now.position(), "{now:?} {to:?}");
            walked.push(to);
        }
        assert_eq!(walked.len(), CAUSAL_STOPS.len() + STOPS.len());
        for pair in walked.windows(2) {
            assert_eq!(pair[1].by_key("ArrowLeft"), Some(pair[0]));
            assert_eq!(pair[1].by_key("ArrowDown"), Some(pair[0]));
        }
        assert_eq!(walked[0].next(false), walked[0]);
        // From between two stops.
        assert_eq!(rate(3.0, false).next(false), rate(2.0, false));
        assert_eq!(rate(1.0, false).by_key("Home"), None);
        assert_eq!(rate(10.0, false).turned(), rate(0.1, false));
        assert_eq!(rate(5.0, true).turned(), rate(10.0, true));
        assert_eq!(rate(10.0, true).turned(), rate(0.5, true));
    }

    #[test]
    fn the_slider_covers_both_paces_and_snaps_to_stops() {
        for speed in CAUSAL_STOPS {
            assert_eq!(
                ClockRate::at(rate(speed, true).position() + 0.01),
                rate(speed, true)
            );
        }
        for speed in [0.1, 1.0, 10.0, 100.0, 1000.0] {
            // A step of the slider itself snaps back to the stop.
            assert_eq!(
                ClockRate::at(rate(speed, false).position() + 0.01),
                rate(speed, false)
            );
        }
        assert_eq!(ClockRate::at(0.0), rate(0.5, true));
        assert_eq!(ClockRate::at(rate(3.0, false).position()), rate(3.0, false));
        assert_eq!(ClockRate::at(1.0), rate(1000.0, false));
        assert_eq!(label(0.5), "0.5×");
        assert_eq!(label(10.0), "10×");
    }

    #[test]
    fn a_clock_that_cannot_keep_up_says_how_fast_it_goes() {
        let mut pace = Pace::default();
        for _ in 0..10 {
            pace.slice(100.0, 100_000.0, 100_000.0);
        }
        assert_eq!(pace.reached(), None);
        for _ in 0..10 {
            pace.slice(100.0, 100_000.0, 20_000.0);
        }
        assert_eq!(pace.reached().map(label).as_deref(), Some("0.2×"));
        for _ in 0..10 {
            pace.slice(100.0, 100_000.0, 4_000.0);
        }
        assert_eq!(pace.reached().map(label).as_deref(), Some("0.04×"));
        for _ in 0..10 {
            pace.slice(100.0, 100_000.0, 95_000.0);
        }
        assert_eq!(pace.reached(), None);
    }
}
