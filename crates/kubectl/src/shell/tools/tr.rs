//! `tr`: translation of characters.

use super::tool::{ShellTool, flags};
use crate::shell::numbers::unescaped;
use crate::shell::regex::class;
use crate::shell::room::Done;

/// Maximum number of characters of a set.
const MOST: usize = 70_000;

pub const TR: ShellTool = ShellTool {
    name: "tr",
    run: |call| {
        let flags = match flags("tr", call.words, "cCds") {
            Ok(flags) => flags,
            Err(done) => return done,
        };
        let [first, rest @ ..] = flags.words.as_slice() else {
            return Done::failed("tr: missing operand\n", 1);
        };
        let (from, to) = (set(first), rest.first().map(|word| set(word)));
        let inverted = flags.has('c') || flags.has('C');
        let place = |c: char| {
            let place = from.iter().position(|known| *known == c);
            if inverted {
                place.map_or(Some(usize::MAX), |_| None)
            } else {
                place
            }
        };
        let deletes = flags.has('d');
        // The replacement is the character at the same index, or the last of a shorter set.
        let new = |at: usize| {
            to.as_ref()
                .filter(|_| !deletes)
                .and_then(|to| to.get(at).or(to.last()))
                .copied()
        };
        let squeezed = |c: char| match &to {
            Some(to) => to.contains(&c),
            None => place(c).is_some(),
        };
        let (mut out, mut last) = (String::new(), None);
        for c in call.stdin.chars() {
            let c = match place(c) {
                Some(_) if deletes => continue,
                Some(at) => new(at).unwrap_or(c),
                None => c,
            };
            if flags.has('s') && last == Some(c) && squeezed(c) {
                continue;
            }
            out.push(c);
            last = Some(c);
        }
        Done::stdout(out)
    },
    // A set that may contain the line break can join lines.
    by_line: |words| {
        !words
            .iter()
            .any(|word| word.contains([':', '\\']) || word.starts_with('-'))
    },
    ..ShellTool::PLAIN
};

/// Returns the characters of `a-z`, `[:upper:]`, `\n`.
fn set(text: &str) -> Vec<char> {
    let text: Vec<char> = unescaped(text).chars().collect();
    let (mut letters, mut at) = (Vec::new(), 0);
    while let Some(c) = text.get(at).copied() {
        let name: String = text[at..]
            .iter()
            .skip(2)
            .take_while(|c| **c != ':')
            .collect();
        if text[at..].starts_with(&['[', ':'])
            && let Some(class) = class(&name)
        {
            class
                .into_iter()
                .for_each(|(from, to)| letters.extend(from..=to));
            at += name.len() + 4;
            continue;
        }
        match (text.get(at + 1), text.get(at + 2)) {
            (Some('-'), Some(end)) => {
                letters.extend((c..=*end).take(MOST));
                at += 3;
            }
            _ => {
                letters.push(c);
                at += 1;
            }
        }
        if letters.len() > MOST {
            break;
        }
    }
    letters
}
