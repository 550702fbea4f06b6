//! Virtual time, and the timestamps of objects.

use std::num::NonZeroU64;

/// Instant of virtual time, in microseconds since the scenario began.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Time(pub u64);

/// Span of virtual time, in microseconds.
pub type Duration = u64;

/// Microseconds in a millisecond.
pub const MS: Duration = 1_000;
/// Microseconds in a second.
pub const SECOND: Duration = 1_000_000;

impl Time {
    /// Returns this instant plus a span.
    pub fn after(self, span: Duration) -> Time {
        Time(self.0.saturating_add(span))
    }

    /// Returns the last instant of a millisecond, the resolution of the page.
    pub fn end_of_ms(ms: u64) -> Time {
        Time(ms.saturating_mul(MS).saturating_add(MS - 1))
    }

    /// Returns the seconds since the scenario began.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / SECOND as f64
    }

    /// Formats an instant as `00:07.552`, for the page and the story (ui.md 8).
    pub fn clock(self) -> String {
        let (ms, s) = (self.0 / MS % 1000, self.0 / SECOND);
        match s {
            0..3600 => format!("{:02}:{:02}.{ms:03}", s / 60, s % 60),
            3600..86400 => format!("{}:{:02}:{:02}.{ms:03}", s / 3600, s / 60 % 60, s % 60),
            _ => format!(
                "{}d {:02}:{:02}:{:02}",
                s / 86400,
                s / 3600 % 24,
                s / 60 % 60,
                s % 60
            ),
        }
    }
}

/// Parses a duration such as `1m30s` into microseconds.
pub fn duration(text: &str) -> Option<u64> {
    if text == "0" {
        return Some(0);
    }
    let mut rest = text;
    let mut total = 0.0;
    while !rest.is_empty() {
        let digits = rest
            .bytes()
            .take_while(|b| b.is_ascii_digit() || *b == b'.')
            .count();
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let unit = match &rest[..letters] {
            "ms" => 1e3,
            "s" => 1e6,
            "m" => 60e6,
            "h" => 3600e6,
            _ => return None,
        };
        total += number * unit;
        rest = &rest[letters..];
    }
    (!text.is_empty()).then_some(total as u64)
}

/// Formats microseconds as `90s` or `500ms`: the shortest text that [`duration`] parses to them.
pub fn duration_text(us: u64) -> String {
    match us {
        us if us % 60_000_000 == 0 && us > 0 => format!("{}m", us / 60_000_000),
        us if us % 1_000_000 == 0 => format!("{}s", us / 1_000_000),
        us if us % 1_000 == 0 => format!("{}ms", us / 1_000),
        // Read again, a fraction of a millisecond is cut off below a microsecond: half of one more keeps it.
        us => format!("{}.{:03}5ms", us / 1_000, us % 1_000),
    }
}

/// Timestamp of an object: whole seconds since 1970, like `metav1.Time`.
///
/// Stored as seconds since the year 0 began, plus one: the value is never zero, so that `Option<Timestamp>` is no larger. RFC 3339 has no
/// earlier times.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(NonZeroU64);

/// Stored value of 1970: a day number of [`days_from_civil`] in seconds, plus one.
const KEPT_1970: i64 = 719_528 * 86_400 + 1;

impl Default for Timestamp {
    fn default() -> Self {
        Timestamp::new(0)
    }
}

impl std::fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Timestamp").field(&self.seconds()).finish()
    }
}

impl Timestamp {
    /// Builds a timestamp from seconds since 1970; times before the year 0 are clamped to its beginning.
    pub const fn new(seconds: i64) -> Timestamp {
        let kept = seconds.saturating_add(KEPT_1970);
        match NonZeroU64::new(if kept > 0 { kept as u64 } else { 1 }) {
            Some(kept) => Timestamp(kept),
            None => unreachable!(),
        }
    }

    /// Returns the seconds since 1970.
    pub const fn seconds(self) -> i64 {
        self.0.get() as i64 - KEPT_1970
    }

    /// Returns the virtual milliseconds since an epoch; 0 before it.
    pub fn since(self, epoch: Timestamp) -> u64 {
        self.seconds().saturating_sub(epoch.seconds()).max(0) as u64 * 1000
    }

    /// Formats as RFC 3339 in UTC: `2026-11-21T06:34:03Z`.
    pub fn rfc3339(self) -> String {
        let (days, secs) = (
            self.seconds().div_euclid(86400),
            self.seconds().rem_euclid(86400),
        );
        let (y, m, d) = civil(days);
        format!(
            "{y:04}-{m:02}-{d:02}T{:02}:{:02}:{:02}Z",
            secs / 3600,
            secs / 60 % 60,
            secs % 60
        )
    }

    /// Parses RFC 3339; fractions of a second are dropped.
    pub fn parse(text: &str) -> Option<Timestamp> {
        let b = text.as_bytes();
        if b.len() < 20
            || b[4] != b'-'
            || b[7] != b'-'
            || b[10] != b'T'
            || b[13] != b':'
            || b[16] != b':'
        {
            return None;
        }
        let n = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
        let rest = text.get(19..)?;
        let zone = rest.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
        let offset = match zone.as_bytes() {
            [b'Z'] => 0,
            [sign @ (b'+' | b'-'), ..] if zone.len() == 6 => {
                let minutes = zone.get(1..3)?.parse::<i64>().ok()? * 60
                    + zone.get(4..6)?.parse::<i64>().ok()?;
                if *sign == b'+' {
                    minutes * 60
                } else {
                    -minutes * 60
                }
            }
            _ => return None,
        };
        let days = days_from_civil(n(0, 4)?, n(5, 7)?, n(8, 10)?);
        Some(Timestamp::new(
            days * 86400 + n(11, 13)? * 3600 + n(14, 16)? * 60 + n(17, 19)? - offset,
        ))
    }
}

/// Returns the Gregorian date of a day number (0 is 1970-01-01).
pub fn civil(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let m = if mp < 10 { mp + 3 } else { mp - 9 };
    (
        yoe + era * 400 + i64::from(m <= 2),
        m,
        doy - (153 * mp + 2) / 5 + 1,
    )
}

/// Returns the day number of a Gregorian date.
pub fn days_from_civil(y: i64, m: i64, d: i64) -> i64 {
    let y = if m <= 2 { y - 1 } else { y };
    let era = y.div_euclid(400);
    let yoe = y.rem_euclid(400);
    let doy = (153 * (if m > 2 { m - 3 } else { m + 9 }) + 2) / 5 + d - 1;
    era * 146_097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_survive_a_round_trip() {
        for text in [
            "0000-01-01T00:00:00Z",
            "1969-12-31T23:59:59Z",
            "1970-01-01T00:00:00Z",
            "9999-12-31T23:59:59Z",
            "2026-11-21T06:34:03Z",
            "2000-02-29T23:59:59Z",
        ] {
            assert_eq!(
                Timestamp::parse(text).map(Timestamp::rfc3339).as_deref(),
                Some(text)
            );
        }
        assert_eq!(
            Timestamp::parse("2026-11-21T08:34:03.5+02:00"),
            Timestamp::parse("2026-11-21T06:34:03Z")
        );
        assert_eq!(Timestamp::parse("yesterday"), None);
    }

    #[test]
    fn a_timestamp_is_its_seconds_and_one_that_may_be_missing_takes_no_more_room() {
        assert!(
            [i64::from(i32::MIN), -1, 0, 1, 1 << 40]
                .iter()
                .all(|seconds| Timestamp::new(*seconds).seconds() == *seconds)
        );
        assert!(
            Timestamp::new(-1) < Timestamp::default()
                && Timestamp::new(i64::MIN) < Timestamp::new(-1)
        );
        assert_eq!(Timestamp::new(i64::MIN).rfc3339(), "0000-01-01T00:00:00Z");
        assert_eq!(size_of::<Option<Timestamp>>(), 8);
    }

    #[test]
    fn the_clock_grows_with_the_time() {
        assert_eq!(Time(7_552_000).clock(), "00:07.552");
        assert_eq!(Time(3_600_000_000).clock(), "1:00:00.000");
    }
}
