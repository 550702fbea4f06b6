//! Playback speed: a log scale from 0.1x to 1000x with a stop at each power of ten.

use i18n::format::Px;

/// Slowest speed.
pub const SLOWEST: f64 = 0.1;
/// Fastest speed.
pub const FASTEST: f64 = 1000.0;

/// Position of a speed on the slider, from 0 to 1.
pub fn position(speed: f64) -> f64 {
    ((speed.clamp(SLOWEST, FASTEST).log10() + 1.0) / 4.0).clamp(0.0, 1.0)
}

/// Speed at a position of the slider: near a stop the stop itself, elsewhere rounded to one digit.
pub fn at(position: f64) -> f64 {
    let log = position.clamp(0.0, 1.0) * 4.0 - 1.0;
    if (log - log.round()).abs() < 0.08 {
        return 10f64.powi(log.round() as i32);
    }
    let base = 10f64.powi(log.floor() as i32);
    ((10f64.powf(log) / base).round() * base).clamp(SLOWEST, FASTEST)
}

/// Stops.
pub const STOPS: [f64; 13] = [
    0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0,
];

/// Next stop above (`up`) or below a speed: powers of ten with 2 and 5 between them.
pub fn next(speed: f64, up: bool) -> f64 {
    if up {
        STOPS
            .into_iter()
            .find(|stop| *stop > speed * 1.001)
            .unwrap_or(FASTEST)
    } else {
        STOPS
            .into_iter()
            .rev()
            .find(|stop| *stop < speed * 0.999)
            .unwrap_or(SLOWEST)
    }
}

/// Speed that an arrow key of the slider selects; `None` for another key.
pub fn by_key(speed: f64, key: &str) -> Option<f64> {
    match key {
        "ArrowRight" | "ArrowUp" => Some(next(speed, true)),
        "ArrowLeft" | "ArrowDown" => Some(next(speed, false)),
        _ => None,
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

    #[test]
    fn an_arrow_key_leads_to_the_next_stop_from_any_speed() {
        for speed in STOPS {
            for (key, up) in [
                ("ArrowRight", true),
                ("ArrowUp", true),
                ("ArrowLeft", false),
                ("ArrowDown", false),
            ] {
                let to = by_key(speed, key).expect("a speed");
                let ends = if up {
                    speed == FASTEST
                } else {
                    speed == SLOWEST
                };
                assert!(
                    ends || (to > speed) == up && to != speed,
                    "{speed} {key} {to}"
                );
            }
        }
        // A step of the slider itself snaps back to the stop.
        assert_eq!(at(position(1.0) + 0.01), 1.0);
        assert_eq!(by_key(1.0, "Home"), None);
    }

    #[test]
    fn the_slider_snaps_to_powers_of_ten_and_covers_the_range() {
        assert_eq!(at(0.0), 0.1);
        assert_eq!(at(0.25), 1.0);
        assert_eq!(at(0.26), 1.0);
        assert_eq!(at(1.0), 1000.0);
        assert_eq!(at(0.37), 3.0);
        for speed in [0.1, 1.0, 10.0, 100.0, 1000.0] {
            assert!((at(position(speed)) - speed).abs() < 1e-9);
        }
    }

    #[test]
    fn keys_walk_the_stops_and_stay_in_range() {
        assert_eq!(next(1.0, true), 2.0);
        assert_eq!(next(1.0, false), 0.5);
        assert_eq!(next(1000.0, true), 1000.0);
        assert_eq!(next(0.1, false), 0.1);
        assert_eq!(next(3.0, false), 2.0);
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
