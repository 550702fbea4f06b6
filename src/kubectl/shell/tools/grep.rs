//! `grep`, with the parts of regular expressions that are used on lines: `.`, `*`, `^`, `$`, `[…]`, `\|`.

use super::tool::Tool;
use crate::kubectl::shell::room::Done;

pub const GREP: Tool = Tool {
    name: "grep",
    run: |call| {
        let mut patterns: Vec<&str> = Vec::new();
        let mut files: Vec<&str> = Vec::new();
        let (mut after, mut before) = (0, 0);
        let mut words = call.words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            match word {
                "-e" => patterns.extend(words.next()),
                "-A" => after = words.next().and_then(|n| n.parse().ok()).unwrap_or(0),
                "-B" => before = words.next().and_then(|n| n.parse().ok()).unwrap_or(0),
                "-C" => {
                    after = words.next().and_then(|n| n.parse().ok()).unwrap_or(0);
                    before = after;
                }
                flag if flag.starts_with("-A") => after = flag[2..].parse().unwrap_or(0),
                flag if flag.starts_with("-B") => before = flag[2..].parse().unwrap_or(0),
                flag if flag.starts_with('-') && flag.len() > 1 => {}
                word if patterns.is_empty() => patterns.push(word),
                word => files.push(word),
            }
        }
        if patterns.is_empty() {
            return Done::failed("grep: no pattern\n", 2);
        }
        let text = match call.input(&files) {
            Ok(text) => text,
            Err(done) => return Done { code: 2, ..done },
        };
        let fold = |text: &str| if call.has('i') { text.to_lowercase() } else { text.to_owned() };
        let mut wanted: Vec<String> = Vec::new();
        for pattern in &patterns {
            let folded = fold(pattern);
            wanted.extend(folded.split(if call.has('E') || call.name == "egrep" { "|" } else { "\\|" }).map(str::to_owned));
        }
        let lines: Vec<&str> = text.lines().collect();
        let hit = |line: &str| wanted.iter().any(|pattern| finds(pattern, &fold(line), call.has('w')).is_some()) != call.has('v');
        let hits: Vec<usize> = (0..lines.len()).filter(|at| hit(lines[*at])).collect();
        let code = i32::from(hits.is_empty());
        if call.has('q') {
            return Done { code, ..Done::default() };
        }
        if call.has('c') {
            return Done { out: format!("{}\n", hits.len()), code, ..Done::default() };
        }
        let mut out = String::new();
        let mut next = 0;
        for (at, line) in lines.iter().enumerate() {
            // The first hit whose lines after it have not ended.
            while hits.get(next).is_some_and(|hit| hit.saturating_add(after) < at) {
                next += 1;
            }
            let near = hits.get(next).is_some_and(|hit| at.saturating_add(before) >= *hit);
            let number = if call.has('n') { format!("{}:", at + 1) } else { String::new() };
            if call.has('o') && near {
                let part = wanted.iter().find_map(|pattern| finds(pattern, &fold(line), false));
                out.push_str(&part.map_or(String::new(), |(start, end)| format!("{}\n", line.get(start..end).unwrap_or(line))));
            } else if near {
                out.push_str(&format!("{number}{line}\n"));
            }
        }
        Done { out, code, ..Done::default() }
    },
    by_line: |words| !words.iter().any(|word| word.starts_with('-') && word.contains(['c', 'q', 'A', 'B', 'C'])),
    ..Tool::PLAIN
};

/// Where a pattern is in a line; as a whole word if asked.
pub fn finds(pattern: &str, line: &str, word: bool) -> Option<(usize, usize)> {
    let (pattern, anchored) = pattern.strip_prefix('^').map_or((pattern, false), |rest| (rest, true));
    let atoms = atoms(pattern);
    let mut steps = MOST_STEPS + 4 * line.len();
    let starts = line.char_indices().map(|(at, _)| at).chain([line.len()]);
    let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    for start in starts.take(if anchored { 1 } else { usize::MAX }) {
        if let Some(length) = matches(&atoms, &line[start..], LONGEST, &mut steps) {
            let end = start + length;
            let whole = !part(line[..start].chars().next_back()) && !part(line[end..].chars().next());
            if !word || whole {
                return Some((start, end));
            }
        }
    }
    None
}

/// Steps of a search in a short line before it is given up: a pattern of many stars must not take for ever.
const MOST_STEPS: usize = 100_000;
/// Atoms of a pattern.
const LONGEST: usize = 64;

enum Atom {
    Any,
    One(char),
    Of(bool, Vec<(char, char)>),
    End,
}

/// Atoms, each with the least and the most times it may stand.
fn atoms(pattern: &str) -> Vec<(Atom, usize, usize)> {
    let mut atoms: Vec<(Atom, usize, usize)> = Vec::new();
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        let atom = match c {
            '*' | '+' | '?' if !atoms.is_empty() => {
                if let Some((_, least, most)) = atoms.last_mut() {
                    (*least, *most) = match c {
                        '*' => (0, usize::MAX),
                        '+' => (1, usize::MAX),
                        _ => (0, 1),
                    };
                }
                continue;
            }
            '.' => Atom::Any,
            '$' if chars.peek().is_none() => Atom::End,
            '[' => {
                let not = chars.next_if_eq(&'^').is_some();
                let mut set: Vec<(char, char)> = Vec::new();
                while let Some(c) = chars.next().filter(|c| *c != ']' || set.is_empty()) {
                    if c == '-' && chars.peek().is_some_and(|c| *c != ']') && !set.is_empty() {
                        let end = chars.next().unwrap_or(c);
                        if let Some(last) = set.last_mut() {
                            last.1 = end;
                        }
                    } else {
                        set.push((c, c));
                    }
                }
                Atom::Of(not, set)
            }
            '\\' => match chars.next() {
                Some('s') => Atom::Of(false, vec![(' ', ' '), ('\t', '\t')]),
                Some('d') => Atom::Of(false, vec![('0', '9')]),
                Some('w') => Atom::Of(false, vec![('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')]),
                other => Atom::One(other.unwrap_or('\\')),
            },
            c => Atom::One(c),
        };
        atoms.push((atom, 1, 1));
    }
    atoms
}

/// How many bytes at the beginning of a text match.
fn matches(atoms: &[(Atom, usize, usize)], text: &str, depth: usize, steps: &mut usize) -> Option<usize> {
    let Some(((atom, least, most), rest)) = atoms.split_first() else { return Some(0) };
    let depth = depth.checked_sub(1)?;
    let fits = |c: char| match atom {
        Atom::Any => true,
        Atom::One(wanted) => c == *wanted,
        Atom::Of(not, set) => set.iter().any(|(from, to)| (*from..=*to).contains(&c)) != *not,
        Atom::End => false,
    };
    if let Atom::End = atom {
        return (text.is_empty() && rest.is_empty()).then_some(0);
    }
    let ends: Vec<usize> =
        std::iter::once(0).chain(text.char_indices().take(*most).take_while(|(_, c)| fits(*c)).map(|(at, c)| at + c.len_utf8())).collect();
    *steps = steps.checked_sub(ends.len())?;
    // The longest first, as a shell's tools do.
    (*least..ends.len()).rev().find_map(|count| Some(ends[count] + matches(rest, &text[ends[count]..], depth, steps)?))
}

#[cfg(test)]
mod tests {
    use super::finds;

    #[test]
    fn patterns_match_as_usual() {
        for (pattern, line, found) in [
            ("web", "a web-0", Some((2, 5))),
            ("^web", "a web", None),
            ("b.*d$", "abcd", Some((1, 4))),
            ("[0-9]+", "ab12", Some((2, 4))),
            ("[^a]b", "cb", Some((0, 2))),
            ("a\\.b", "axb", None),
            ("", "x", Some((0, 0))),
        ] {
            assert_eq!(finds(pattern, line, false), found, "{pattern} {line}");
        }
        assert_eq!(finds("web", "web-0 website", true), Some((0, 3)));
        // A pattern that would try every way to divide the line ends soon.
        finds(&".*".repeat(12), &"a".repeat(30), false);
        assert_eq!(finds(".*.*.*.*.*b", &"a".repeat(4_096), false), None);
        assert_eq!(finds("zz", &("a".repeat(300_000) + "zz"), false), Some((300_000, 300_002)));
    }
}
