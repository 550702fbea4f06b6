//! What is wrong with a cron schedule, in the words of the library that Kubernetes uses.

struct Range {
    least: u32,
    most: u32,
    words: &'static [&'static str],
}

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const FIELDS: [Range; 5] = [
    Range { least: 0, most: 59, words: &[] },
    Range { least: 0, most: 23, words: &[] },
    Range { least: 1, most: 31, words: &[] },
    Range { least: 1, most: 12, words: &MONTHS },
    Range { least: 0, most: 6, words: &DAYS },
];
const DESCRIPTORS: [&str; 7] = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/// Says what is wrong with a schedule of five fields or a descriptor such as `@hourly`.
pub fn schedule_error(schedule: &str) -> Option<String> {
    if schedule.starts_with('@') {
        let good = DESCRIPTORS.contains(&schedule) || schedule.starts_with("@every ");
        return (!good).then(|| format!("unrecognized descriptor: {schedule}"));
    }
    let parts: Vec<&str> = schedule.split_whitespace().collect();
    if parts.len() != FIELDS.len() {
        return Some(format!("expected exactly 5 fields, found {}: [{}]", parts.len(), parts.join(" ")));
    }
    FIELDS.iter().zip(parts).find_map(|(range, part)| part.split(',').find_map(|one| element_error(range, one)))
}

fn element_error(range: &Range, part: &str) -> Option<String> {
    let (span, step) = match part.split_once('/') {
        Some((_, step)) if step.contains('/') => return Some(format!("too many slashes: {part}")),
        Some((span, step)) => (span, Some(step)),
        None => (part, None),
    };
    if let Some(step) = step {
        match step.parse::<u32>() {
            Err(_) => return Some(not_a_number(step)),
            Ok(0) => return Some(format!("step of range should be a positive number: {part}")),
            Ok(_) => {}
        }
    }
    if matches!(span, "*" | "?") {
        return None;
    }
    let mut ends = span.split('-');
    let (first, last) = (ends.next().unwrap_or(""), ends.next());
    if ends.next().is_some() {
        return Some(format!("too many hyphens: {part}"));
    }
    let start = match number(range, first) {
        Ok(start) => start,
        Err(fault) => return Some(fault),
    };
    let end = match last.map(|last| number(range, last)) {
        Some(Err(fault)) => return Some(fault),
        Some(Ok(end)) => end,
        None => start,
    };
    if start < range.least {
        return Some(format!("beginning of range ({start}) below minimum ({}): {part}", range.least));
    }
    if end > range.most {
        return Some(format!("end of range ({end}) above maximum ({}): {part}", range.most));
    }
    (start > end).then(|| format!("beginning of range ({start}) beyond end of range ({end}): {part}"))
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

const REGIONS: [&str; 16] = [
    "Africa",
    "America",
    "Antarctica",
    "Arctic",
    "Asia",
    "Atlantic",
    "Australia",
    "Brazil",
    "Canada",
    "Chile",
    "Etc",
    "Europe",
    "Indian",
    "Mexico",
    "Pacific",
    "US",
];
const ZONES: [&str; 20] = [
    "UTC",
    "GMT",
    "UCT",
    "Zulu",
    "EST",
    "MST",
    "HST",
    "CET",
    "EET",
    "MET",
    "WET",
    "PRC",
    "ROC",
    "ROK",
    "Japan",
    "Singapore",
    "Hongkong",
    "Israel",
    "Turkey",
    "Iran",
];

/// Whether a time zone may exist: the region is known, the city is taken on trust.
pub fn is_zone(zone: &str) -> bool {
    ZONES.contains(&zone)
        || zone.split_once('/').is_some_and(|(region, city)| {
            REGIONS.contains(&region) && city.starts_with(|c: char| c.is_ascii_uppercase()) && city.is_ascii()
        })
}
