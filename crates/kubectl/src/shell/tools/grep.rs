//! `grep`: lines that match a pattern.

use super::tool::{Flags, ShellTool, ToolCall, flags};
use crate::shell::regex::{Regex, Search, Syntax};
use crate::shell::room::{Done, MOST_BYTES};

const FLAGS: &str = "EFGivwxncqlLhHosraIm:A:B:C:e:";

pub const GREP: ShellTool = ShellTool {
    name: "grep",
    run: |call| match flags(call.name, call.words, FLAGS) {
        Ok(flags) => grep(call, &flags),
        Err(done) => Done { code: 2, ..done },
    },
    by_line: |words| {
        let known = flags("", words, FLAGS);
        known.is_ok_and(|flags| {
            !flags
                .flags
                .iter()
                .any(|(flag, _)| "cqlLmABC".contains(*flag))
        })
    },
    ..ShellTool::PLAIN
};

pub const EGREP: ShellTool = ShellTool {
    name: "egrep",
    ..GREP
};

fn grep(call: &mut ToolCall<'_, '_, '_>, flags: &Flags<'_>) -> Done {
    let mut patterns: Vec<&str> = flags.values('e').collect();
    let mut files = flags.words.as_slice();
    if patterns.is_empty() {
        let [pattern, rest @ ..] = files else {
            return Done::failed("grep: no pattern\n", 2);
        };
        patterns.push(pattern);
        files = rest;
    }
    let syntax = Syntax {
        extended: flags.has('E') || call.name == "egrep",
        fixed: flags.has('F'),
        fold: flags.has('i'),
        word: flags.has('w'),
        line: flags.has('x'),
    };
    let pattern = patterns.join("\n");
    // Each line of the pattern is a pattern of its own, with its own groups.
    let regexes: Result<Vec<Regex>, String> = pattern
        .split('\n')
        .map(|pattern| Regex::new(pattern, syntax))
        .collect();
    let regexes = match regexes {
        Ok(regexes) => regexes,
        Err(fault) => return Done::failed(format!("grep: bad regex '{pattern}': {fault}\n"), 2),
    };
    let mut done = Done {
        code: 1,
        ..Done::default()
    };
    let named = (files.len() > 1 || flags.has('H')) && !flags.has('h');
    let input = ["-"];
    for file in if files.is_empty() { &input[..] } else { files } {
        let text = match call.input(&[file]) {
            Ok(text) => text,
            Err(missing) => {
                done.err
                    .push_str(if flags.has('s') { "" } else { &missing.err });
                done.code = 2;
                continue;
            }
        };
        let name = if *file == "-" {
            "(standard input)"
        } else {
            file
        };
        if find_in(
            &text,
            &regexes,
            flags,
            if named { name } else { "" },
            name,
            &mut done,
        ) && done.code == 1
        {
            done.code = 0;
        }
        if done.out.len() > 64 * MOST_BYTES {
            break;
        }
    }
    done
}

/// Adds the matches in one text; returns true if there are any.
fn find_in(
    text: &str,
    regexes: &[Regex],
    flags: &Flags<'_>,
    shown: &str,
    name: &str,
    done: &mut Done,
) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    let most = flags.number('m').unwrap_or(usize::MAX);
    let around = flags.number('C').unwrap_or(0);
    let (before, after) = (
        flags.number('B').unwrap_or(around),
        flags.number('A').unwrap_or(around),
    );
    let is_hit = |line: &str| {
        let line: Vec<char> = line.chars().collect();
        regexes.iter().any(|regex| regex.find(&line, 0).is_some()) != flags.has('v')
    };
    let hits: Vec<usize> = (0..lines.len())
        .filter(|at| is_hit(lines[*at]))
        .take(most)
        .collect();
    let prefix = |at: usize, sign: char| {
        let number = if flags.has('n') {
            format!("{}{sign}", at + 1)
        } else {
            String::new()
        };
        if shown.is_empty() {
            number
        } else {
            format!("{shown}{sign}{number}")
        }
    };
    if flags.has('q') {
        return !hits.is_empty();
    }
    if flags.has('l') || flags.has('L') {
        if hits.is_empty() == flags.has('L') {
            done.out.push_str(&format!("{name}\n"));
        }
        return !hits.is_empty();
    }
    if flags.has('c') {
        let of = if shown.is_empty() {
            String::new()
        } else {
            format!("{shown}:")
        };
        done.out.push_str(&format!("{of}{}\n", hits.len()));
        return !hits.is_empty();
    }
    if flags.has('o') {
        for at in hits.iter().filter(|_| !flags.has('v')) {
            let line: Vec<char> = lines[*at].chars().collect();
            let mut searches: Vec<Search<'_>> =
                regexes.iter().map(|regex| regex.search(&line)).collect();
            let mut from = 0;
            // Of all patterns the match that begins first wins, and of those the longest.
            let mut first = |from: usize| {
                let found = searches
                    .iter_mut()
                    .filter_map(|search| search.find(from))
                    .filter_map(|slots| Some((slots[0]?, slots[1]?)));
                found.min_by_key(|(start, end)| (*start, usize::MAX - end))
            };
            while let Some((start, end)) = first(from) {
                if end > start {
                    let part: String = line[start..end].iter().collect();
                    done.out.push_str(&format!("{}{part}\n", prefix(*at, ':')));
                }
                from = if end > start { end } else { end + 1 };
                if from > line.len() {
                    break;
                }
            }
        }
        return !hits.is_empty();
    }
    let (mut next, mut last): (usize, Option<usize>) = (0, None);
    for (at, line) in lines.iter().enumerate() {
        // The first hit whose trailing context has not ended.
        while hits
            .get(next)
            .is_some_and(|hit| hit.saturating_add(after) < at)
        {
            next += 1;
        }
        let Some(hit) = hits
            .get(next)
            .filter(|hit| at.saturating_add(before) >= **hit)
        else {
            continue;
        };
        // Groups that do not touch are separated.
        if before.saturating_add(after) > 0 && last.is_some_and(|last| last + 1 < at) {
            done.out.push_str("--\n");
        }
        last = Some(at);
        let is_hit = *hit == at || hits.binary_search(&at).is_ok();
        done.out.push_str(&format!(
            "{}{line}\n",
            prefix(at, if is_hit { ':' } else { '-' })
        ));
    }
    !hits.is_empty()
}
