//! `date`: the cluster's wall clock, always in UTC.

use super::tool::{ShellTool, flags};
use crate::shell::room::{Done, MOST_BYTES};
use k8s_model::Timestamp;
use k8s_model::time::civil;

const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

pub const DATE: ShellTool = ShellTool {
    name: "date",
    run: |call| {
        // The optional value of `-I` is in the same word.
        let iso = call.words.iter().find_map(|word| word.strip_prefix("-I"));
        let words: Vec<String> = call
            .words
            .iter()
            .filter(|word| !word.starts_with("-I"))
            .cloned()
            .collect();
        let flags = match flags("date", &words, "uRd:s:") {
            Ok(flags) => flags,
            Err(done) => return done,
        };
        let wanted = flags.values('d').last();
        let Some(now) = wanted
            .map_or(Some(call.room.now()), parsed)
            .filter(|now| (0..=253_402_300_799).contains(now))
        else {
            return Done::failed(
                format!("date: invalid date '{}'\n", wanted.unwrap_or("")),
                1,
            );
        };
        let format = match (
            flags.words.first().and_then(|word| word.strip_prefix('+')),
            iso,
        ) {
            (Some(format), _) => format,
            (None, Some("" | "date")) => "%Y-%m-%d",
            (None, Some("hours")) => "%Y-%m-%dT%H+00:00",
            (None, Some("minutes")) => "%Y-%m-%dT%H:%M+00:00",
            (None, Some(_)) => "%Y-%m-%dT%H:%M:%S+00:00",
            (None, None) if flags.has('R') => "%a, %d %b %Y %H:%M:%S +0000",
            (None, None) => "%a %b %e %H:%M:%S UTC %Y",
        };
        Done::stdout(written(now, format) + "\n")
    },
    ..ShellTool::PLAIN
};

/// Parses `@SECONDS`, `2026-11-21`, `2026-11-21 06:34:03`, RFC 3339.
fn parsed(text: &str) -> Option<i64> {
    if let Some(seconds) = text.strip_prefix('@') {
        return seconds.parse().ok();
    }
    let whole = match text.len() {
        10 => format!("{text}T00:00:00Z"),
        16 => format!("{}:00Z", text.replacen(' ', "T", 1)),
        19 => format!("{}Z", text.replacen(' ', "T", 1)),
        _ => text.to_owned(),
    };
    let digits = whole
        .bytes()
        .take(19)
        .enumerate()
        .all(|(at, b)| matches!(at, 4 | 7 | 10 | 13 | 16) || b.is_ascii_digit());
    Timestamp::parse(&whole)
        .filter(|_| digits)
        .map(|time| time.seconds())
}

/// Formats a time with a strftime format.
fn written(now: i64, format: &str) -> String {
    let (days, seconds) = (now.div_euclid(86_400), now.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let weekday = (days + 4).rem_euclid(7);
    let of_year = (0..days)
        .rev()
        .take(366)
        .take_while(|day| civil(*day).0 == year)
        .count()
        + 1;
    let name = |names: &[&'static str], at: i64| names.get(at as usize).copied().unwrap_or("");
    let hour12 = (hour + 11) % 12 + 1;
    let mut out = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if out.len() > format.len() + MOST_BYTES {
            break;
        }
        if c != '%' {
            out.push(c);
            continue;
        }
        let text = match chars.next() {
            Some('Y') => year.to_string(),
            Some('C') => format!("{:02}", year / 100),
            Some('y') => format!("{:02}", year % 100),
            Some('m') => format!("{month:02}"),
            Some('d') => format!("{day:02}"),
            Some('e') => format!("{day:2}"),
            Some('H') => format!("{hour:02}"),
            Some('k') => format!("{hour:2}"),
            Some('I') => format!("{hour12:02}"),
            Some('l') => format!("{hour12:2}"),
            Some('M') => format!("{minute:02}"),
            Some('S') => format!("{second:02}"),
            Some('s') => now.to_string(),
            Some('F') => format!("{year}-{month:02}-{day:02}"),
            Some('T' | 'X') => format!("{hour:02}:{minute:02}:{second:02}"),
            Some('R') => format!("{hour:02}:{minute:02}"),
            Some('r') => format!(
                "{hour12:02}:{minute:02}:{second:02} {}",
                if hour < 12 { "AM" } else { "PM" }
            ),
            Some('D' | 'x') => format!("{month:02}/{day:02}/{:02}", year % 100),
            Some('c') => written(now, "%a %b %e %T %Y"),
            Some('p') => if hour < 12 { "AM" } else { "PM" }.to_owned(),
            Some('j') => format!("{of_year:03}"),
            Some('a') => name(&DAYS, weekday).get(..3).unwrap_or("").to_owned(),
            Some('A') => name(&DAYS, weekday).to_owned(),
            Some('b' | 'h') => name(&MONTHS, month - 1).get(..3).unwrap_or("").to_owned(),
            Some('B') => name(&MONTHS, month - 1).to_owned(),
            Some('u') => ((weekday + 6) % 7 + 1).to_string(),
            Some('w') => weekday.to_string(),
            Some('Z') => "UTC".to_owned(),
            Some('z') => "+0000".to_owned(),
            Some('n') => "\n".to_owned(),
            Some('t') => "\t".to_owned(),
            Some('%') | None => "%".to_owned(),
            Some(other) => format!("%{other}"),
        };
        out.push_str(&text);
    }
    out
}
