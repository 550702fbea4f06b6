//! `head`, `tail`, `wc`, `sort`, `uniq`, `seq`: whole lines.

use super::tool::{ShellTool, ToolCall};
use crate::shell::room::Done;

pub const HEAD: ShellTool = ShellTool {
    name: "head",
    run: |call| part(call, true),
    ..ShellTool::PLAIN
};
pub const TAIL: ShellTool = ShellTool {
    name: "tail",
    run: |call| part(call, false),
    ..ShellTool::PLAIN
};

/// Prints the first or the last lines: `-n 3`, `-n3`, `-3`, `tail -n +2`.
fn part(call: &mut ToolCall<'_, '_, '_>, first: bool) -> Done {
    let (mut count, mut from) = (10_usize, None);
    let mut files: Vec<&str> = Vec::new();
    let mut words = call.words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let number = match word {
            "-n" => words.next().unwrap_or(""),
            "-f" | "-F" => continue,
            word if word.starts_with("-n") => &word[2..],
            word if word.starts_with('-') && word.len() > 1 => &word[1..],
            file => {
                files.push(file);
                continue;
            }
        };
        match (
            number.strip_prefix('+'),
            number.trim_start_matches(['+', '-']).parse(),
        ) {
            (_, Err(_)) => {
                return Done::failed(format!("{}: invalid number '{number}'\n", call.name), 1);
            }
            (Some(_), Ok(line)) => from = Some(line),
            (None, Ok(lines)) => count = lines,
        }
    }
    let text = match call.input(&files) {
        Ok(text) => text,
        Err(done) => return done,
    };
    let lines: Vec<&str> = text.lines().collect();
    let skip = match from {
        _ if first => 0,
        Some(line) => usize::saturating_sub(line, 1),
        None => lines.len().saturating_sub(count),
    };
    let take = if first { count } else { usize::MAX };
    Done::stdout(
        lines
            .iter()
            .skip(skip)
            .take(take)
            .map(|line| format!("{line}\n"))
            .collect::<String>(),
    )
}

pub const WC: ShellTool = ShellTool {
    name: "wc",
    run: |call| {
        let files: Vec<&str> = call.plain().collect();
        let text = match call.input(&files) {
            Ok(text) => text,
            Err(done) => return done,
        };
        let counts = [
            ('l', text.matches('\n').count()),
            ('w', text.split_whitespace().count()),
            ('c', text.len()),
        ];
        let some = counts.iter().any(|(letter, _)| call.has(*letter));
        let shown: Vec<String> = counts
            .iter()
            .filter(|(letter, _)| !some || call.has(*letter))
            .map(|(_, count)| count.to_string())
            .collect();
        let name = files
            .first()
            .map_or(String::new(), |file| format!(" {file}"));
        Done::stdout(format!("{}{name}\n", shown.join(" ")))
    },
    ..ShellTool::PLAIN
};

pub const SORT: ShellTool = ShellTool {
    name: "sort",
    run: |call| {
        let mut files: Vec<&str> = Vec::new();
        let mut key = None;
        let mut words = call.words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            match word.strip_prefix("-k") {
                Some("") => key = words.next(),
                Some(number) => key = Some(number),
                None if word.starts_with('-') => {}
                None => files.push(word),
            }
        }
        let text = match call.input(&files) {
            Ok(text) => text,
            Err(done) => return done,
        };
        let column = key.and_then(|key| {
            key.split([',', '.'])
                .next()?
                .trim_end_matches(char::is_alphabetic)
                .parse::<usize>()
                .ok()
        });
        let numeric = call.has('n') || call.has('h') || key.is_some_and(|key| key.contains('n'));
        let of = |line: &str| -> String {
            match column {
                Some(column) => line
                    .split_whitespace()
                    .skip(column.saturating_sub(1))
                    .collect::<Vec<_>>()
                    .join(" "),
                None => line.to_owned(),
            }
        };
        let number = |text: &str| {
            let digits: String = text
                .trim_start()
                .chars()
                .take_while(|c| c.is_ascii_digit() || matches!(c, '-' | '.'))
                .collect();
            digits.parse::<f64>().unwrap_or(0.0)
        };
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort_by(|left, right| {
            let (a, b) = (of(left), of(right));
            let by_number = if numeric {
                number(&a).total_cmp(&number(&b))
            } else {
                std::cmp::Ordering::Equal
            };
            by_number
                .then_with(|| a.cmp(&b))
                .then_with(|| left.cmp(right))
        });
        if call.has('r') || key.is_some_and(|key| key.contains('r')) {
            lines.reverse();
        }
        if call.has('u') {
            lines.dedup();
        }
        Done::stdout(
            lines
                .iter()
                .map(|line| format!("{line}\n"))
                .collect::<String>(),
        )
    },
    ..ShellTool::PLAIN
};

pub const UNIQ: ShellTool = ShellTool {
    name: "uniq",
    run: |call| {
        let files: Vec<&str> = call.plain().collect();
        let text = match call.input(&files) {
            Ok(text) => text,
            Err(done) => return done,
        };
        let mut runs: Vec<(&str, usize)> = Vec::new();
        for line in text.lines() {
            match runs.last_mut().filter(|(last, _)| *last == line) {
                Some((_, count)) => *count += 1,
                None => runs.push((line, 1)),
            }
        }
        let wanted = |count: usize| (!call.has('d') || count > 1) && (!call.has('u') || count == 1);
        let shown = |(line, count): &(&str, usize)| {
            if call.has('c') {
                format!("{count:7} {line}\n")
            } else {
                format!("{line}\n")
            }
        };
        Done::stdout(
            runs.iter()
                .filter(|(_, count)| wanted(*count))
                .map(shown)
                .collect::<String>(),
        )
    },
    ..ShellTool::PLAIN
};

/// Maximum length of a sequence.
const MOST: usize = 1_000;

pub const SEQ: ShellTool = ShellTool {
    name: "seq",
    run: |call| {
        let numbers: Vec<i64> = call
            .words
            .iter()
            .filter_map(|word| word.parse().ok())
            .collect();
        let (from, step, to) = match numbers[..] {
            [to] => (1, 1, to),
            [from, to] => (from, 1, to),
            [from, step, to] => (from, step, to),
            _ => return Done::failed("seq: needs one to three numbers\n", 1),
        };
        let counted = std::iter::successors(Some(from), |n| n.checked_add(step));
        let counted = counted.take_while(|n| if step < 0 { *n >= to } else { *n <= to });
        Done::stdout(
            counted
                .take(MOST)
                .map(|n| format!("{n}\n"))
                .collect::<String>(),
        )
    },
    ..ShellTool::PLAIN
};
