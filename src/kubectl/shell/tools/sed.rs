//! `sed s/old/new/`, `sed -n 2p`, `sed 1d`.

use super::grep::finds;
use super::tool::Tool;
use crate::kubectl::shell::room::{Done, MOST_BYTES};

pub const SED: Tool = Tool {
    name: "sed",
    run: |call| {
        let mut words = call.plain();
        let Some(program) = words.next() else { return Done::failed("sed: no program\n", 1) };
        let files: Vec<&str> = words.collect();
        let text = match call.input(&files) {
            Ok(text) => text,
            Err(done) => return done,
        };
        let mut out = String::new();
        let count = text.lines().count();
        for (index, line) in text.lines().enumerate() {
            match edited(program, line, index + 1, count) {
                None => return Done::failed(format!("sed: {program}: this shell knows s/old/new/, Np and Nd\n"), 1),
                Some((line, shown, again)) => {
                    let times = if call.has('n') { usize::from(again) } else { usize::from(shown) + usize::from(again) };
                    (0..times).for_each(|_| out.push_str(&format!("{line}\n")));
                }
            }
            if out.len() > 2 * text.len() + MOST_BYTES {
                break;
            }
        }
        if call.has('i')
            && let Some(file) = files.first()
        {
            return call.room.write(file, &out).map_or_else(|error| Done::failed(error, 1), |()| Done::default());
        }
        Done::said(out)
    },
    reads: |words| !words.iter().any(|word| word.starts_with("-i")),
    ..Tool::PLAIN
};

/// The line as it becomes, whether it is shown, and whether it is shown by `p`.
fn edited(program: &str, line: &str, number: usize, count: usize) -> Option<(String, bool, bool)> {
    if let Some(rest) = program.strip_prefix('s') {
        let sign = rest.chars().next()?;
        let mut parts = rest[sign.len_utf8()..].split(sign);
        let (old, new, flags) = (parts.next()?, parts.next()?, parts.next().unwrap_or(""));
        let (mut out, mut rest) = (String::new(), line);
        while let Some((start, end)) = finds(old, rest, false) {
            out.push_str(&rest[..start]);
            for (index, part) in new.split('&').enumerate() {
                // What is as long as this is not shown.
                if out.len() > line.len() + MOST_BYTES {
                    return Some((out, true, true));
                }
                out.push_str(if index > 0 { &rest[start..end] } else { "" });
                out.push_str(part);
            }
            let at_start = rest;
            rest = &rest[end..];
            if !flags.contains('g') || old.starts_with('^') || rest.is_empty() {
                break;
            }
            if at_start.len() == rest.len() {
                // An empty match moves on by one letter.
                let next = rest.chars().next().map_or(0, char::len_utf8);
                out.push_str(&rest[..next]);
                rest = &rest[next..];
            }
        }
        out.push_str(rest);
        let again = flags.contains('p') && out != line;
        return Some((out, true, again));
    }
    let (range, command) = program.split_at(program.len().checked_sub(1).filter(|at| program.is_char_boundary(*at))?);
    let line_number = |text: &str| if text == "$" { Some(count) } else { text.parse::<usize>().ok() };
    let chosen = match range.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')) {
        Some(pattern) => finds(pattern, line, false).is_some(),
        None => {
            let (from, to) = range.split_once(',').unwrap_or((range, range));
            number >= line_number(from)? && number <= line_number(to)?
        }
    };
    match command {
        "p" => Some((line.to_owned(), true, chosen)),
        "d" => Some((line.to_owned(), !chosen, false)),
        _ => None,
    }
}
