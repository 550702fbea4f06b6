//! Patterns of file names and of `case`: `*`, `?`, `[…]`, and `\` before a literal character.

/// Maximum number of steps of all comparisons for one word.
const MOST_STEPS: usize = 1_000_000;

/// Parsed pattern.
pub struct Pattern {
    parts: Vec<Part>,
    steps: usize,
}

enum Part {
    Any,
    One,
    Letter(char),
    Of(bool, Ranges),
}

/// Escapes each character that would be a pattern.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '?' | '[' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Returns true if a text contains pattern characters.
pub fn is_pattern(text: &str) -> bool {
    // A bracket that is not closed is a letter, such as the name of the command `[`.
    let has_set = || {
        text.split_once('[')
            .is_some_and(|(_, rest)| rest.contains(']'))
    };
    text.contains(['*', '?']) || has_set()
}

impl Pattern {
    pub fn new(text: &str) -> Pattern {
        let chars: Vec<char> = text.chars().collect();
        let (mut parts, mut at) = (Vec::new(), 0);
        while let Some(c) = chars.get(at).copied() {
            at += 1;
            parts.push(match c {
                '*' => Part::Any,
                '?' => Part::One,
                '\\' => {
                    at += 1;
                    Part::Letter(chars.get(at - 1).copied().unwrap_or('\\'))
                }
                '[' => match set(&chars[at..]) {
                    Some((not, letters, length)) => {
                        at += length;
                        Part::Of(not, letters)
                    }
                    None => Part::Letter('['),
                },
                c => Part::Letter(c),
            });
        }
        Pattern {
            parts,
            steps: MOST_STEPS,
        }
    }

    /// Returns true if the pattern matches all of a text.
    pub fn fits(&mut self, text: &[char]) -> bool {
        let (mut at, mut part) = (0, 0);
        // Position of the last star, and the length of its match.
        let mut star: Option<(usize, usize)> = None;
        while at < text.len() {
            let Some(left) = self.steps.checked_sub(1) else {
                return false;
            };
            self.steps = left;
            let fits = match self.parts.get(part) {
                Some(Part::Any) => {
                    star = Some((part, at));
                    part += 1;
                    continue;
                }
                Some(Part::One) => true,
                Some(Part::Letter(c)) => *c == text[at],
                Some(Part::Of(not, letters)) => {
                    letters
                        .iter()
                        .any(|(from, to)| (*from..=*to).contains(&text[at]))
                        != *not
                }
                None => false,
            };
            if fits {
                (at, part) = (at + 1, part + 1);
            } else if let Some((place, taken)) = star {
                star = Some((place, taken + 1));
                (at, part) = (taken + 1, place + 1);
            } else {
                return false;
            }
        }
        self.parts[part..]
            .iter()
            .all(|part| matches!(part, Part::Any))
    }

    /// Removes the match at the beginning (or end) of a text.
    pub fn cut(&mut self, text: &str, end: bool, longest: bool) -> String {
        let chars: Vec<char> = text.chars().collect();
        let count = chars.len();
        let kept = |length: usize| {
            if end {
                0..count - length
            } else {
                length..count
            }
        };
        let part = |length: usize| {
            if end {
                count - length..count
            } else {
                0..length
            }
        };
        let found = (0..=count)
            .map(|length| if longest { count - length } else { length })
            .find(|length| self.steps > 0 && self.fits(&chars[part(*length)]));
        match found {
            Some(length) => chars[kept(length)].iter().collect(),
            None => text.to_owned(),
        }
    }

    /// Replaces the first match, or all.
    pub fn replaced(&mut self, text: &str, with: &str, all: bool) -> String {
        let chars: Vec<char> = text.chars().collect();
        let (mut out, mut at) = (String::new(), 0);
        while at < chars.len() && self.steps > 0 {
            let end = (at + 1..=chars.len())
                .rev()
                .find(|end| self.steps > 0 && self.fits(&chars[at..*end]));
            match end {
                Some(end) => {
                    out.push_str(with);
                    at = end;
                    if !all {
                        break;
                    }
                }
                None => {
                    out.push(chars[at]);
                    at += 1;
                }
            }
        }
        out.extend(&chars[at..]);
        out
    }
}

/// Character ranges.
type Ranges = Vec<(char, char)>;

/// Parses the contents of brackets: whether they are negated, the characters, and the length.
fn set(chars: &[char]) -> Option<(bool, Ranges, usize)> {
    let not = matches!(chars.first(), Some('!' | '^'));
    let begin = usize::from(not);
    let (mut at, mut letters) = (begin, Vec::new());
    loop {
        let mut c = *chars.get(at)?;
        if c == ']' && at > begin {
            return Some((not, letters, at + 1));
        }
        if c == '\\' {
            at += 1;
            c = *chars.get(at)?;
        }
        match (chars.get(at + 1), chars.get(at + 2)) {
            (Some('-'), Some(end)) if *end != ']' => {
                letters.push((c, *end));
                at += 3;
            }
            _ => {
                letters.push((c, c));
                at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_whole_texts() {
        for (pattern, text, fits) in [
            ("web-*", "web-0", true),
            ("*", "", true),
            ("?b?", "abc", true),
            ("?b?", "ab", false),
            ("[0-9]", "5", true),
            ("[!a-c]x", "dx", true),
            ("[!a-c]x", "bx", false),
            ("[", "[", true),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("*a*b", "xaxxb", true),
            ("*.tar.*", "c.tar.gz", true),
        ] {
            assert_eq!(
                Pattern::new(pattern).fits(&text.chars().collect::<Vec<_>>()),
                fits,
                "{pattern} {text}"
            );
        }
        // A long pattern on a long text is aborted.
        assert_eq!(
            Pattern::new(&"*a".repeat(2_000))
                .cut(&"a".repeat(60_000), true, true)
                .len(),
            60_000 - 60_000
        );
        assert_eq!(
            Pattern::new("*b*c*d")
                .replaced(&"a".repeat(60_000), "", true)
                .len(),
            60_000
        );
    }
}
