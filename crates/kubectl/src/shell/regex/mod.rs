//! POSIX regular expressions, basic and extended: of all matches the one that begins first, and of those the longest.
//!
//! A pattern is compiled into a list of instructions. A search visits each pair of instruction and position once, so that its cost is
//! bounded by pattern length times line length; only back references (`\1`) need revisits, whose number is limited.

mod compile;

use compile::{RegexEdge, RegexOp};
pub use compile::{Syntax, class};

/// Maximum number of pairs of instruction and position visited in one line.
const MOST_LOOKS: usize = 1 << 24;
/// Maximum number of visits of a pattern with back references.
const MOST_AGAIN: usize = 100_000;
/// Number of groups whose text is kept.
pub const GROUPS: usize = 10;

/// Start and end positions of a match and its groups, in characters.
pub type Slots = [Option<usize>; 2 * GROUPS];

/// Compiled pattern.
#[derive(Clone, Debug)]
pub struct Regex {
    ops: Vec<RegexOp>,
    fold: bool,
    again: bool,
}

impl Regex {
    /// Compiles a pattern; a line break in it separates alternatives.
    pub fn new(pattern: &str, syntax: Syntax) -> Result<Regex, String> {
        let (ops, again) = compile::ops(pattern, syntax)?;
        Ok(Regex {
            ops,
            fold: syntax.fold,
            again,
        })
    }

    /// Returns true if a text contains a match.
    pub fn is_in(&self, text: &str) -> bool {
        self.find(&text.chars().collect::<Vec<_>>(), 0).is_some()
    }

    /// Returns the first match at or after a position.
    pub fn find(&self, text: &[char], from: usize) -> Option<Slots> {
        self.search(text).find(from)
    }

    /// Creates a search for consecutive matches in a text.
    pub fn search<'a>(&'a self, text: &'a [char]) -> Search<'a> {
        let pairs = self
            .ops
            .len()
            .checked_mul(text.len() + 1)
            .filter(|pairs| *pairs <= MOST_LOOKS);
        let seen = pairs
            .map(|pairs| vec![0; pairs / 64 + 1])
            .unwrap_or_default();
        Search {
            regex: self,
            text,
            seen,
            touched: Vec::new(),
            looks: MOST_AGAIN,
        }
    }
}

pub struct Search<'a> {
    regex: &'a Regex,
    text: &'a [char],
    /// Visited pairs of instruction and position, one bit each, whatever the start of the match. Empty if the text is too long.
    seen: Vec<u64>,
    /// Indexes of the nonzero words.
    touched: Vec<usize>,
    looks: usize,
}

/// Pending work of the search.
enum Todo {
    Go(usize, usize),
    Restore(usize, Option<usize>),
}

impl Search<'_> {
    /// Returns the first match at or after a position.
    pub fn find(&mut self, from: usize) -> Option<Slots> {
        if self.seen.is_empty() {
            return None;
        }
        for word in self.touched.drain(..) {
            self.seen[word] = 0;
        }
        (from..=self.text.len()).find_map(|start| self.at(start))
    }

    /// Returns the longest match that begins here.
    fn at(&mut self, start: usize) -> Option<Slots> {
        let (mut slots, mut best): (Slots, Option<Slots>) = ([None; 2 * GROUPS], None);
        let mut todo = vec![Todo::Go(0, start)];
        while let Some(next) = todo.pop() {
            let (mut op, mut at) = match next {
                Todo::Restore(slot, old) => {
                    slots[slot] = old;
                    continue;
                }
                Todo::Go(op, at) => (op, at),
            };
            loop {
                if self.regex.again {
                    self.looks = self.looks.checked_sub(1)?;
                } else {
                    let pair = op * (self.text.len() + 1) + at;
                    let (word, bit) = (pair / 64, 1 << (pair % 64));
                    if self.seen[word] & bit != 0 {
                        break;
                    }
                    if self.seen[word] == 0 {
                        self.touched.push(word);
                    }
                    self.seen[word] |= bit;
                }
                let step = match &self.regex.ops[op] {
                    RegexOp::Match => {
                        if best.is_none_or(|best| best[1] < Some(at)) {
                            best = Some(slots);
                        }
                        if at == self.text.len() {
                            return best;
                        }
                        break;
                    }
                    RegexOp::Jump(place) => {
                        op = *place;
                        continue;
                    }
                    RegexOp::Split(first, second) => {
                        todo.push(Todo::Go(*second, at));
                        op = *first;
                        continue;
                    }
                    RegexOp::Save(slot) => {
                        if let Some(value) = slots.get_mut(*slot) {
                            todo.push(Todo::Restore(*slot, *value));
                            *value = Some(at);
                        }
                        Some(0)
                    }
                    RegexOp::Begin => (at == 0).then_some(0),
                    RegexOp::End => (at == self.text.len()).then_some(0),
                    RegexOp::Edge(edge) => self.is_edge(*edge, at).then_some(0),
                    RegexOp::Again(group) => self.again(slots[2 * group], slots[2 * group + 1], at),
                    op => self
                        .text
                        .get(at)
                        .is_some_and(|c| self.fits(op, *c))
                        .then_some(1),
                };
                let Some(step) = step else { break };
                (op, at) = (op + 1, at + step);
            }
        }
        best
    }

    fn fits(&self, op: &RegexOp, c: char) -> bool {
        let fits = |c: char| match op {
            RegexOp::Any => true,
            RegexOp::Letter(wanted) => c == *wanted,
            RegexOp::Of(not, letters) => {
                letters.iter().any(|(from, to)| (*from..=*to).contains(&c)) != *not
            }
            _ => false,
        };
        if !self.regex.fold {
            return fits(c);
        }
        let (small, capital) = (c.to_ascii_lowercase(), c.to_ascii_uppercase());
        if matches!(op, RegexOp::Of(true, _)) {
            fits(small) && fits(capital)
        } else {
            fits(small) || fits(capital)
        }
    }

    fn is_edge(&self, edge: RegexEdge, at: usize) -> bool {
        let part = |at: Option<usize>| {
            at.and_then(|at| self.text.get(at))
                .is_some_and(|c| c.is_alphanumeric() || *c == '_')
        };
        let (before, after) = (part(at.checked_sub(1)), part(Some(at)));
        match edge {
            RegexEdge::Both => before != after,
            RegexEdge::Left => !before && after,
            RegexEdge::Right => before && !after,
            RegexEdge::Open => !before,
            RegexEdge::Shut => !after,
        }
    }

    /// Returns the length of a group's text if it is repeated here.
    fn again(&self, from: Option<usize>, to: Option<usize>, at: usize) -> Option<usize> {
        let group = self.text.get(from?..to?)?;
        self.text[at..].starts_with(group).then_some(group.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the range of a pattern's match in a line.
    fn find(pattern: &str, line: &str, syntax: Syntax) -> Option<(usize, usize)> {
        let slots = Regex::new(pattern, syntax)
            .unwrap()
            .find(&line.chars().collect::<Vec<_>>(), 0)?;
        Some((slots[0]?, slots[1]?))
    }

    #[test]
    fn patterns_match_as_usual() {
        let (basic, extended) = (
            Syntax::default(),
            Syntax {
                extended: true,
                ..Syntax::default()
            },
        );
        for (pattern, line, syntax, found) in [
            ("web", "a web-0", basic, Some((2, 5))),
            ("^web", "a web", basic, None),
            ("b.*d$", "abcd", basic, Some((1, 4))),
            ("[0-9]\\+", "ab12", basic, Some((2, 4))),
            ("[0-9]+", "ab12", extended, Some((2, 4))),
            ("[^a]b", "cb", basic, Some((0, 2))),
            ("a\\.b", "axb", basic, None),
            ("", "x", basic, Some((0, 0))),
            ("a|ab|abc", "xabcd", extended, Some((1, 4))),
            ("(a|b){2,3}c", "abbac", extended, Some((1, 5))),
            ("(a*)*b", "aaab", extended, Some((0, 4))),
            ("^(a?){3}$", "aa", extended, Some((0, 2))),
            ("\\(ab\\)\\1", "xabab", basic, Some((1, 5))),
            ("a{,2}b", "aaab", extended, Some((1, 4))),
            ("x{", "x{", extended, Some((0, 2))),
            ("*a", "*a", basic, Some((0, 2))),
            ("a$b", "a$b", basic, Some((0, 3))),
            ("[]a]", "]", basic, Some((0, 1))),
            ("[a-]", "-", basic, Some((0, 1))),
        ] {
            assert_eq!(find(pattern, line, syntax), found, "{pattern} {line}");
        }
        assert_eq!(
            find(
                "web",
                "website web-0",
                Syntax {
                    word: true,
                    ..basic
                }
            ),
            Some((8, 11))
        );
        assert_eq!(
            find(
                "WEB",
                "a web",
                Syntax {
                    fold: true,
                    ..basic
                }
            ),
            Some((2, 5))
        );
        assert_eq!(
            find(
                "a.b",
                "xa.b",
                Syntax {
                    fixed: true,
                    ..basic
                }
            ),
            Some((1, 4))
        );
        assert_eq!(
            find(
                "a",
                "ab",
                Syntax {
                    line: true,
                    ..basic
                }
            ),
            None
        );
    }

    #[test]
    fn invalid_patterns_are_refused() {
        let extended = Syntax {
            extended: true,
            ..Syntax::default()
        };
        let deep = "(".repeat(100_000);
        for pattern in [
            "(",
            "a)",
            "[a",
            "[[:no:]]",
            "a{3,2}",
            "a{999}",
            "((((a{200}){200}){200}){200})",
            &deep,
        ] {
            assert!(Regex::new(pattern, extended).is_err(), "{pattern:.40}");
        }
        assert!(Regex::new("\\(a", Syntax::default()).is_err());
        assert!(Regex::new("\\1", Syntax::default()).is_err());
        assert!(Regex::new("a)(", Syntax::default()).is_ok());
    }

    #[test]
    fn a_search_ends_soon() {
        let extended = Syntax {
            extended: true,
            ..Syntax::default()
        };
        assert_eq!(
            find(&".*".repeat(12), &"a".repeat(30), extended),
            Some((0, 30))
        );
        assert_eq!(find(".*.*.*.*.*b", &"a".repeat(4_096), extended), None);
        assert_eq!(find("(a*)*(a*)*(a*)*b", &"a".repeat(4_096), extended), None);
        assert_eq!(find("(x+x+)+\\1y", &"x".repeat(4_096), extended), None);
        assert_eq!(
            find("zz", &("a".repeat(300_000) + "zz"), extended),
            Some((300_000, 300_002))
        );
    }
}
