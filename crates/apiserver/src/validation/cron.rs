//! Cron schedules: parser, with the error messages of the library that Kubernetes uses, and the time of the next run.
//!
//! Models `github.com/robfig/cron/v3` (`parser.go`, `spec.go`).

use k8s_model::time::{SECOND, civil, duration};

struct Range {
    least: u32,
    most: u32,
    words: &'static [&'static str],
}

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const FIELDS: [Range; 5] = [
    Range {
        least: 0,
        most: 59,
        words: &[],
    },
    Range {
        least: 0,
        most: 23,
        words: &[],
    },
    Range {
        least: 1,
        most: 31,
        words: &[],
    },
    Range {
        least: 1,
        most: 12,
        words: &MONTHS,
    },
    Range {
        least: 0,
        most: 6,
        words: &DAYS,
    },
];
const DESCRIPTORS: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];
/// Number of days to search; a schedule without a match in them never matches: 29 February comes at least every eight years.
const SEARCH_DAYS: i64 = 366 * 8 + 2;
/// Flag of a field that matches every value.
const STAR: u64 = 1 << 63;

/// Parsed schedule of a CronJob.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Schedule {
    /// Minute, hour, day of month, month, day of week: one bit per value.
    Fields([u64; 5]),
    /// Interval after the last run, in seconds.
    Every(i64),
}

/// Returns the error in a schedule of five fields or a descriptor such as `@hourly`.
pub fn schedule_error(schedule: &str) -> Option<String> {
    Schedule::parse(schedule).err()
}

impl Schedule {
    /// Parses a schedule of five fields or a descriptor such as `@hourly`.
    pub fn parse(schedule: &str) -> Result<Schedule, String> {
        if let Some(span) = schedule.strip_prefix("@every ") {
            let micros = duration(span).ok_or_else(|| {
                format!("failed to parse duration {schedule}: time: invalid duration \"{span}\"")
            })?;
            return Ok(Schedule::Every((micros / SECOND).max(1) as i64));
        }
        if schedule.starts_with('@') {
            let known = DESCRIPTORS.iter().find(|(name, _)| *name == schedule);
            return known.map_or_else(
                || Err(format!("unrecognized descriptor: {schedule}")),
                |(_, fields)| Schedule::parse(fields),
            );
        }
        let parts: Vec<&str> = schedule.split_whitespace().collect();
        if parts.len() != FIELDS.len() {
            return Err(format!(
                "expected exactly 5 fields, found {}: [{}]",
                parts.len(),
                parts.join(" ")
            ));
        }
        let mut fields = [0; 5];
        for (i, part) in parts.iter().enumerate() {
            for one in part.split(',') {
                fields[i] |= element(&FIELDS[i], one)?;
            }
        }
        Ok(Schedule::Fields(fields))
    }

    /// Returns the first run after a time, both in seconds since 1970; `offset` is the difference of local time to UTC.
    pub fn next(&self, after: i64, offset: &dyn Fn(i64) -> i64) -> Option<i64> {
        let fields = match self {
            Schedule::Every(seconds) => return Some(after + seconds),
            Schedule::Fields(fields) => fields,
        };
        let local = after + offset(after);
        let first = local.div_euclid(86_400);
        for day in first..first + SEARCH_DAYS {
            if !names_day(fields, day) {
                continue;
            }
            for minute in 0..1440 {
                if !has(fields[1], minute / 60) || !has(fields[0], minute % 60) {
                    continue;
                }
                let at = day * 86_400 + minute * 60;
                // A local time may occur twice or never on the day the clock is changed.
                let utc = at - offset(at - offset(at));
                if utc > after && utc + offset(utc) == at {
                    return Some(utc);
                }
            }
        }
        None
    }
}

fn has(bits: u64, value: i64) -> bool {
    bits >> value & 1 == 1
}

/// Returns true if a day matches: if both days of month and days of week are restricted, either is enough.
fn names_day(fields: &[u64; 5], day: i64) -> bool {
    let (_, month, of_month) = civil(day);
    let (by_month, by_week) = (
        has(fields[2], of_month),
        has(fields[4], (day + 4).rem_euclid(7)),
    );
    let starred = (fields[2] | fields[4]) & STAR != 0;
    has(fields[3], month)
        && if starred {
            by_month && by_week
        } else {
            by_month || by_week
        }
}

/// Parses one element of a field into the values that it names.
fn element(range: &Range, part: &str) -> Result<u64, String> {
    let (span, step) = match part.split_once('/') {
        Some((_, step)) if step.contains('/') => return Err(format!("too many slashes: {part}")),
        Some((span, step)) => (span, Some(step)),
        None => (part, None),
    };
    let every = match step
        .map(|step| step.parse::<u32>().map_err(|_| not_a_number(step)))
        .transpose()?
    {
        Some(0) => return Err(format!("step of range should be a positive number: {part}")),
        every => every,
    };
    let (start, end, star) = ends(range, part, span, every.is_some())?;
    let mut bits = if star && every.is_none_or(|n| n == 1) {
        STAR
    } else {
        0
    };
    let mut value = start;
    while value <= end {
        bits |= 1 << value;
        value = value.saturating_add(every.unwrap_or(1));
    }
    Ok(bits)
}

/// Returns the first and last value of a span, and whether it is a star.
fn ends(range: &Range, part: &str, span: &str, stepped: bool) -> Result<(u32, u32, bool), String> {
    if matches!(span, "*" | "?") {
        return Ok((range.least, range.most, true));
    }
    let mut ends = span.split('-');
    let (first, last) = (ends.next().unwrap_or(""), ends.next());
    if ends.next().is_some() {
        return Err(format!("too many hyphens: {part}"));
    }
    let start = number(range, first)?;
    let end = match last {
        Some(last) => number(range, last)?,
        // `5/15` is `5-59/15`.
        None if stepped => range.most,
        None => start,
    };
    if start < range.least {
        return Err(format!(
            "beginning of range ({start}) below minimum ({}): {part}",
            range.least
        ));
    }
    if end > range.most {
        return Err(format!(
            "end of range ({end}) above maximum ({}): {part}",
            range.most
        ));
    }
    if start > end {
        return Err(format!(
            "beginning of range ({start}) beyond end of range ({end}): {part}"
        ));
    }
    Ok((start, end, false))
}

fn number(range: &Range, text: &str) -> Result<u32, String> {
    let word = text.to_ascii_lowercase();
    if let Some(index) = range.words.iter().position(|known| *known == word) {
        return Ok(index as u32 + range.least);
    }
    text.parse().map_err(|_| not_a_number(text))
}

fn not_a_number(text: &str) -> String {
    format!("failed to parse int from {text}: strconv.Atoi: parsing \"{text}\": invalid syntax")
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_model::Timestamp;

    fn next(schedule: &str, after: &str, ahead: i64) -> Option<String> {
        let after = Timestamp::parse(after).unwrap().seconds();
        Schedule::parse(schedule)
            .unwrap()
            .next(after, &|_| ahead * 3600)
            .map(|at| Timestamp::new(at).rfc3339())
    }

    #[test]
    fn the_next_run_comes_strictly_after() {
        let cases = [
            (
                "* * * * *",
                "2026-11-21T06:34:00Z",
                0,
                "2026-11-21T06:35:00Z",
            ),
            (
                "* * * * *",
                "2026-11-21T06:34:59Z",
                0,
                "2026-11-21T06:35:00Z",
            ),
            (
                "*/20 * * * *",
                "2026-11-21T06:40:00Z",
                0,
                "2026-11-21T07:00:00Z",
            ),
            (
                "5/20 * * * *",
                "2026-11-21T06:05:00Z",
                0,
                "2026-11-21T06:25:00Z",
            ),
            (
                "30 6-16/4 * * 1-5",
                "2026-11-20T14:30:00Z",
                0,
                "2026-11-23T06:30:00Z",
            ),
            (
                "0 0 13 * fri",
                "2026-11-01T00:00:00Z",
                0,
                "2026-11-06T00:00:00Z",
            ),
            (
                "0 0 29 2 *",
                "2026-03-01T00:00:00Z",
                0,
                "2028-02-29T00:00:00Z",
            ),
            (
                "@monthly",
                "2026-12-31T23:59:59Z",
                0,
                "2027-01-01T00:00:00Z",
            ),
            (
                "0 9 * * *",
                "2026-11-21T06:34:00Z",
                8,
                "2026-11-22T01:00:00Z",
            ),
            (
                "@every 1h30m",
                "2026-11-21T06:34:00Z",
                0,
                "2026-11-21T08:04:00Z",
            ),
        ];
        for (schedule, after, ahead, expected) in cases {
            assert_eq!(
                next(schedule, after, ahead).as_deref(),
                Some(expected),
                "{schedule}"
            );
        }
        assert_eq!(next("0 0 31 2 *", "2026-11-21T06:34:00Z", 0), None);
    }
}
