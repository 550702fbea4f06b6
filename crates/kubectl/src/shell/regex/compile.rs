//! Compiler of patterns into instructions.

/// Maximum number of instructions of a pattern.
const LONGEST: usize = 4_000;
/// Maximum nesting of groups.
const DEEPEST: usize = 16;
/// Maximum number of repetitions of `{n}`.
const MOST_TIMES: usize = 255;
#[derive(Clone, Debug)]
pub(super) enum RegexOp {
    Any,
    Letter(char),
    Of(bool, Vec<(char, char)>),
    /// Continues at both targets, with the first preferred.
    Split(usize, usize),
    Jump(usize),
    Save(usize),
    Begin,
    End,
    /// `\b`, `\<`, `\>`.
    Edge(RegexEdge),
    /// Back reference to a group.
    Again(usize),
    Match,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum RegexEdge {
    Both,
    Left,
    Right,
    /// No letter before the position, and none after it: the edges of a whole word.
    Open,
    Shut,
}

/// Syntax and matching options of a pattern.
#[derive(Clone, Copy, Debug, Default)]
pub struct Syntax {
    /// True if `+?{}()|` need no backslashes.
    pub extended: bool,
    /// True if all characters are literal.
    pub fixed: bool,
    /// True for case-insensitive matching.
    pub fold: bool,
    /// True if only whole words match.
    pub word: bool,
    /// True if only whole lines match.
    pub line: bool,
}

/// Compiles a pattern; returns the instructions, and whether it has back references. A line break in it separates alternatives.
pub(super) fn ops(pattern: &str, syntax: Syntax) -> Result<(Vec<RegexOp>, bool), String> {
    let mut compiler = Compiler {
        chars: pattern.chars().collect(),
        at: 0,
        ops: Vec::new(),
        groups: 0,
        syntax,
        again: false,
    };
    compiler.ops.extend([RegexOp::Save(0)]);
    compiler.ops.extend(syntax.line.then_some(RegexOp::Begin));
    compiler
        .ops
        .extend(syntax.word.then_some(RegexOp::Edge(RegexEdge::Open)));
    compiler.alternatives(0)?;
    if compiler.at < compiler.chars.len() {
        return Err("Unmatched ) or \\)".to_owned());
    }
    compiler
        .ops
        .extend(syntax.word.then_some(RegexOp::Edge(RegexEdge::Shut)));
    compiler.ops.extend(syntax.line.then_some(RegexOp::End));
    compiler.ops.extend([RegexOp::Save(1), RegexOp::Match]);
    Ok((compiler.ops, compiler.again))
}

struct Compiler {
    chars: Vec<char>,
    at: usize,
    ops: Vec<RegexOp>,
    groups: usize,
    syntax: Syntax,
    again: bool,
}

/// Token of the syntax.
#[derive(Clone, Copy, PartialEq)]
enum Sign {
    Letter(char),
    Special(char),
}

impl Compiler {
    /// Returns the next token and its length: in a basic pattern `\(` means the same as `(` in an extended one.
    fn sign(&self) -> Option<(Sign, usize)> {
        let c = *self.chars.get(self.at)?;
        if self.syntax.fixed {
            return Some((
                if c == '\n' {
                    Sign::Special('|')
                } else {
                    Sign::Letter(c)
                },
                1,
            ));
        }
        let switched = |c: char| "+?{}()|".contains(c);
        Some(match c {
            '\n' => (Sign::Special('|'), 1),
            '\\' => match self.chars.get(self.at + 1).copied() {
                Some(next) if switched(next) && !self.syntax.extended => (Sign::Special(next), 2),
                Some(_) => (Sign::Special('\\'), 2),
                None => (Sign::Letter('\\'), 1),
            },
            c if switched(c) => (
                if self.syntax.extended {
                    Sign::Special(c)
                } else {
                    Sign::Letter(c)
                },
                1,
            ),
            '*' | '.' | '[' | '^' | '$' => (Sign::Special(c), 1),
            c => (Sign::Letter(c), 1),
        })
    }

    fn take(&mut self, wanted: char) -> bool {
        match self.sign() {
            Some((Sign::Special(c), length)) if c == wanted => {
                self.at += length;
                true
            }
            _ => false,
        }
    }

    fn put(&mut self, op: RegexOp) -> Result<(), String> {
        self.ops.push(op);
        if self.ops.len() > LONGEST {
            Err("Regular expression too big".to_owned())
        } else {
            Ok(())
        }
    }

    fn alternatives(&mut self, depth: usize) -> Result<(), String> {
        let mut ends = Vec::new();
        loop {
            let begin = self.ops.len();
            self.sequence(depth)?;
            if !self.take('|') {
                break;
            }
            // The first alternative precedes the rest, which begins after the jump at its end.
            self.insert(begin, RegexOp::Split(begin + 1, self.ops.len() + 2))?;
            ends.push(self.ops.len());
            self.put(RegexOp::Jump(0))?;
        }
        for end in ends {
            self.ops[end] = RegexOp::Jump(self.ops.len());
        }
        Ok(())
    }

    /// Inserts an instruction before others, whose targets move by one.
    fn insert(&mut self, begin: usize, op: RegexOp) -> Result<(), String> {
        for moved in &mut self.ops[begin..] {
            match moved {
                RegexOp::Jump(place) => *place += 1,
                RegexOp::Split(first, second) => (*first, *second) = (*first + 1, *second + 1),
                _ => {}
            }
        }
        self.ops.insert(begin, op);
        if self.ops.len() > LONGEST {
            Err("Regular expression too big".to_owned())
        } else {
            Ok(())
        }
    }

    fn sequence(&mut self, depth: usize) -> Result<(), String> {
        let first = self.at;
        while let Some((sign, length)) = self.sign() {
            let begin = self.ops.len();
            match sign {
                Sign::Special('|') => return Ok(()),
                Sign::Special(')') if depth > 0 => return Ok(()),
                Sign::Special(')') => return Err("Unmatched ) or \\)".to_owned()),
                Sign::Special('^') if self.syntax.extended || self.at == first => {
                    self.at += length;
                    self.put(RegexOp::Begin)?;
                    // A star at the beginning of a basic pattern is literal.
                    if !self.syntax.extended && self.chars.get(self.at) == Some(&'*') {
                        self.at += 1;
                        self.put(RegexOp::Letter('*'))?;
                    }
                    continue;
                }
                Sign::Special('$') if self.syntax.extended || self.ends_here() => {
                    self.at += length;
                    self.put(RegexOp::End)?;
                    continue;
                }
                Sign::Special('*') if self.at == first => {
                    self.at += length;
                    self.put(RegexOp::Letter('*'))?;
                }
                Sign::Special('(') => {
                    self.at += length;
                    if depth >= DEEPEST {
                        return Err("Regular expression too big".to_owned());
                    }
                    self.groups += 1;
                    let group = self.groups;
                    self.put(RegexOp::Save(2 * group))?;
                    self.alternatives(depth + 1)?;
                    if !self.take(')') {
                        return Err("Unmatched ( or \\(".to_owned());
                    }
                    self.put(RegexOp::Save(2 * group + 1))?;
                }
                Sign::Special('[') => {
                    let op = self.set()?;
                    self.put(op)?;
                }
                Sign::Special('.') => {
                    self.at += length;
                    self.put(RegexOp::Any)?;
                }
                Sign::Special('\\') => {
                    self.at += 2;
                    let op = self.escaped(self.chars[self.at - 1])?;
                    self.put(op)?;
                }
                Sign::Special(c) | Sign::Letter(c) => {
                    self.at += length;
                    self.put(RegexOp::Letter(c))?;
                }
            }
            self.repeats(begin)?;
        }
        Ok(())
    }

    /// Returns true if a basic pattern, or its group or alternative, ends after this character.
    fn ends_here(&self) -> bool {
        let rest = &self.chars[self.at + 1..];
        matches!(rest, [] | ['\n', ..] | ['\\', ')' | '|', ..])
    }

    fn escaped(&mut self, c: char) -> Result<RegexOp, String> {
        let blanks = || vec![(' ', ' '), ('\t', '\r')];
        let word = || vec![('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')];
        Ok(match c {
            's' => RegexOp::Of(false, blanks()),
            'S' => RegexOp::Of(true, blanks()),
            'w' => RegexOp::Of(false, word()),
            'W' => RegexOp::Of(true, word()),
            'd' => RegexOp::Of(false, vec![('0', '9')]),
            'b' => RegexOp::Edge(RegexEdge::Both),
            '<' => RegexOp::Edge(RegexEdge::Left),
            '>' => RegexOp::Edge(RegexEdge::Right),
            'n' => RegexOp::Letter('\n'),
            't' => RegexOp::Letter('\t'),
            '1'..='9' => {
                let group = c as usize - '0' as usize;
                if group > self.groups {
                    return Err("Invalid back reference".to_owned());
                }
                self.again = true;
                RegexOp::Again(group)
            }
            c => RegexOp::Letter(c),
        })
    }

    /// Compiles `[…]`.
    fn set(&mut self) -> Result<RegexOp, String> {
        let unmatched = || "Unmatched [, [^, [:, [., or [=".to_owned();
        self.at += 1;
        let not = self.chars.get(self.at) == Some(&'^');
        self.at += usize::from(not);
        let (begin, mut letters) = (self.at, Vec::new());
        loop {
            let c = *self.chars.get(self.at).ok_or_else(unmatched)?;
            self.at += 1;
            match c {
                ']' if self.at > begin + 1 => return Ok(RegexOp::Of(not, letters)),
                '[' if self.chars.get(self.at) == Some(&':') => {
                    let name: String = self.chars[self.at + 1..]
                        .iter()
                        .take_while(|c| **c != ':')
                        .collect();
                    self.at += name.chars().count() + 3;
                    letters.extend(class(&name).ok_or("Invalid character class name")?);
                }
                c => match (self.chars.get(self.at), self.chars.get(self.at + 1)) {
                    (Some('-'), Some(end)) if *end != ']' => {
                        letters.push((c, *end));
                        self.at += 2;
                    }
                    _ => letters.push((c, c)),
                },
            }
        }
    }

    /// Compiles `*`, `+`, `?` and `{n,m}` after an item.
    fn repeats(&mut self, begin: usize) -> Result<(), String> {
        while let Some((Sign::Special(c), length)) = self.sign().filter(|(sign, _)| {
            matches!(sign, Sign::Special('*' | '+' | '?'))
                || *sign == Sign::Special('{') && self.times().is_some()
        }) {
            let times = self.times();
            self.at += length;
            let (least, most) = match c {
                '*' => (0, None),
                '+' => (1, None),
                '?' => (0, Some(1)),
                _ => {
                    let Some((least, most, end)) = times else {
                        return Ok(());
                    };
                    self.at = end;
                    if least > MOST_TIMES
                        || most.is_some_and(|most| most > MOST_TIMES || most < least)
                    {
                        return Err("Invalid content of \\{\\}".to_owned());
                    }
                    (least, most)
                }
            };
            let part: Vec<RegexOp> = self.ops.split_off(begin);
            for _ in 0..least {
                self.copy(&part, begin)?;
            }
            match most {
                None => {
                    let split = self.ops.len();
                    self.put(RegexOp::Split(split + 1, split + 2 + part.len()))?;
                    self.copy(&part, begin)?;
                    self.put(RegexOp::Jump(split))?;
                }
                Some(most) => {
                    let left = most - least;
                    let end = self.ops.len() + left * (part.len() + 1);
                    for _ in 0..left {
                        self.put(RegexOp::Split(self.ops.len() + 1, end))?;
                        self.copy(&part, begin)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Duplicates instructions that began at this position.
    fn copy(&mut self, part: &[RegexOp], begin: usize) -> Result<(), String> {
        let by = self.ops.len() - begin;
        for op in part {
            self.put(match op {
                RegexOp::Jump(place) => RegexOp::Jump(place + by),
                RegexOp::Split(first, second) => RegexOp::Split(first + by, second + by),
                op => op.clone(),
            })?;
        }
        Ok(())
    }

    /// Parses `{n}`, `{n,}`, `{n,m}`: minimum, maximum and end position.
    fn times(&self) -> Option<(usize, Option<usize>, usize)> {
        let (Sign::Special('{'), length) = self.sign()? else {
            return None;
        };
        let begin = self.at + length;
        let close = (begin..self.chars.len()).find(|at| self.chars[*at] == '}')?;
        let end = if self.syntax.extended {
            close
        } else {
            close.checked_sub(1).filter(|at| self.chars[*at] == '\\')?
        };
        let text: String = self.chars.get(begin..end)?.iter().collect();
        let (least, most) = match text.split_once(',') {
            None => (text.parse().ok()?, Some(text.parse().ok()?)),
            Some((least, "")) => (least.parse().ok()?, None),
            Some((least, most)) => (
                if least.is_empty() {
                    0
                } else {
                    least.parse().ok()?
                },
                Some(most.parse().ok()?),
            ),
        };
        Some((least, most, close + 1))
    }
}

/// Returns the characters of `[:name:]`.
pub fn class(name: &str) -> Option<Vec<(char, char)>> {
    Some(match name {
        "alpha" => vec![('A', 'Z'), ('a', 'z')],
        "digit" => vec![('0', '9')],
        "alnum" => vec![('0', '9'), ('A', 'Z'), ('a', 'z')],
        "upper" => vec![('A', 'Z')],
        "lower" => vec![('a', 'z')],
        "space" => vec![('\t', '\r'), (' ', ' ')],
        "blank" => vec![('\t', '\t'), (' ', ' ')],
        "punct" => vec![('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        "print" => vec![(' ', '~')],
        "graph" => vec![('!', '~')],
        "cntrl" => vec![('\0', '\x1f'), ('\x7f', '\x7f')],
        "xdigit" => vec![('0', '9'), ('A', 'F'), ('a', 'f')],
        _ => return None,
    })
}
