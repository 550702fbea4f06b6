//! Regular expressions in RE2 syntax, accepted and refused with the errors of Go's `regexp`.
//!
//! `regex-automata` searches; this module rewrites Go's syntax into the crate's, since the two differ: Go's `\d`, `\w`, `\s` and `\b` are
//! ASCII, `[` and `&` are literals within brackets, `{` that repeats nothing is one outside, and stacked repetitions are errors.
//! Models `regexp/syntax/parse.go` of Go.

use regex_automata::nfa::thompson::{self, pikevm};
use regex_automata::util::syntax;
use std::fmt;
use std::ops::Range;

/// Largest count of a repetition.
const MAX_REPEAT: u32 = 1000;
/// Deepest nesting of groups.
const MAX_DEPTH: u32 = 200;
/// Largest compiled pattern, in bytes.
const MAX_SIZE: usize = 1 << 20;
/// Maximum of states times bytes of a search: a longer one would block the page for seconds, and finds nothing.
const MAX_STEPS: usize = 1 << 27;

/// Compiled pattern.
#[derive(Debug)]
pub struct GoRegex(pikevm::PikeVM);

impl GoRegex {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// The first error of the pattern, in Go's words.
    pub fn new(pattern: &str) -> Result<GoRegex, GoRegexError> {
        let mut translator = Translator::new(pattern);
        translator.run()?;
        // The crate counts concatenations and repetitions against the nest limit too.
        let syntax = syntax::Config::new().utf8(false).nest_limit(4 * MAX_DEPTH);
        let size = thompson::Config::new()
            .utf8(false)
            .nfa_size_limit(Some(MAX_SIZE));
        let built = pikevm::Builder::new()
            .syntax(syntax)
            .thompson(size)
            .build(&translator.out);
        built
            .map(GoRegex)
            .map_err(|_| GoRegexError::new(GoRegexFault::TooLarge, pattern))
    }

    /// Returns true if the pattern matches anywhere in a text.
    pub fn is_match(&self, text: &str) -> bool {
        self.is_bounded(text) && self.0.is_match(&mut self.0.create_cache(), text)
    }

    fn is_bounded(&self, text: &str) -> bool {
        self.0.get_nfa().states().len().saturating_mul(text.len()) <= MAX_STEPS
    }

    /// Returns the byte range of the first match.
    pub fn find(&self, text: &str) -> Option<Range<usize>> {
        if !self.is_bounded(text) {
            return None;
        }
        self.0
            .find(&mut self.0.create_cache(), text)
            .map(|found| found.range())
    }
}

/// Kind of error in a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GoRegexFault {
    /// A range or class within brackets that does not exist.
    CharRange,
    /// Backslash before a letter that has no meaning.
    Escape,
    /// A group whose name is not a word.
    NamedCapture,
    /// `(?` with an extension that Go does not support, such as a look-ahead.
    PerlOp,
    /// Repetition of a repetition.
    RepeatOp,
    /// Count over 1000, or a range that runs backwards.
    RepeatSize,
    /// `[` without `]`.
    MissingBracket,
    /// `(` without `)`.
    MissingParen,
    /// Repetition of nothing.
    MissingRepeatArgument,
    /// Backslash at the end.
    TrailingBackslash,
    /// `)` without `(`.
    UnexpectedParen,
    /// Groups nested too deeply.
    TooDeep,
    /// Pattern with too many states.
    TooLarge,
}

/// Error of a pattern, with the part that caused it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GoRegexError {
    /// Kind of error.
    pub fault: GoRegexFault,
    /// Offending part of the pattern.
    pub part: String,
}

impl GoRegexError {
    fn new(fault: GoRegexFault, part: &str) -> GoRegexError {
        GoRegexError {
            fault,
            part: part.to_owned(),
        }
    }
}

impl fmt::Display for GoRegexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fault = match self.fault {
            GoRegexFault::CharRange => "invalid character class range",
            GoRegexFault::Escape => "invalid escape sequence",
            GoRegexFault::NamedCapture => "invalid named capture",
            GoRegexFault::PerlOp => "invalid or unsupported Perl syntax",
            GoRegexFault::RepeatOp => "invalid nested repetition operator",
            GoRegexFault::RepeatSize => "invalid repeat count",
            GoRegexFault::MissingBracket => "missing closing ]",
            GoRegexFault::MissingParen => "missing closing )",
            GoRegexFault::MissingRepeatArgument => "missing argument to repetition operator",
            GoRegexFault::TrailingBackslash => "trailing backslash at end of expression",
            GoRegexFault::UnexpectedParen => "unexpected )",
            GoRegexFault::TooDeep => "expression nests too deeply",
            GoRegexFault::TooLarge => "expression too large",
        };
        write!(f, "error parsing regexp: {fault}: `{}`", self.part)
    }
}

impl std::error::Error for GoRegexError {}

/// Translator from Go's syntax to the crate's, token by token.
struct Translator<'p> {
    pattern: &'p str,
    /// Rest of the pattern.
    rest: &'p str,
    out: String,
    depth: u32,
    /// Largest product of nested counts in each open group, outermost first, and in the last token.
    repeats: (Vec<u32>, u32),
    /// True if the last token can be repeated.
    repeatable: bool,
    /// Rest of the pattern from the start of the last repetition, while no other token follows it.
    repeated: Option<&'p str>,
}

impl<'p> Translator<'p> {
    fn new(pattern: &'p str) -> Translator<'p> {
        let out = String::with_capacity(pattern.len() * 2);
        Translator {
            pattern,
            rest: pattern,
            out,
            depth: 0,
            repeats: (vec![1], 1),
            repeatable: false,
            repeated: None,
        }
    }

    fn run(&mut self) -> Result<(), GoRegexError> {
        while let Some(c) = self.rest.chars().next() {
            let repeated = self.repeated.take();
            match c {
                '*' | '+' | '?' => self.repeat(1, repeated)?,
                '{' => match counts(self.rest) {
                    Some((length, counts)) => {
                        let Some((least, most)) = counts else {
                            return Err(GoRegexError::new(
                                GoRegexFault::RepeatSize,
                                &self.rest[..length],
                            ));
                        };
                        let (operator, inner) = (&self.rest[..length], self.repeats.1);
                        self.repeat(length, repeated)?;
                        self.repeats.1 = inner.saturating_mul(most.unwrap_or(least).max(1));
                        if self.repeats.1 > MAX_REPEAT {
                            return Err(GoRegexError::new(GoRegexFault::RepeatSize, operator));
                        }
                        self.note_repeats();
                    }
                    None => self.literal('{'),
                },
                '(' => self.group()?,
                ')' => {
                    self.depth = self.depth.checked_sub(1).ok_or_else(|| {
                        GoRegexError::new(GoRegexFault::UnexpectedParen, self.pattern)
                    })?;
                    self.emit(")", 1);
                    self.repeats.1 = self.repeats.0.pop().unwrap_or(1);
                    self.note_repeats();
                }
                '|' => {
                    self.emit("|", 1);
                    self.repeatable = false;
                }
                '[' => self.class()?,
                '\\' => self.escape()?,
                '^' | '$' | '.' => self.emit(&self.rest[..1], 1),
                c => self.literal(c),
            }
        }
        if self.depth > 0 {
            return Err(GoRegexError::new(GoRegexFault::MissingParen, self.pattern));
        }
        Ok(())
    }

    /// Writes a token that can be repeated, and advances past it.
    fn emit(&mut self, written: &str, length: usize) {
        self.out.push_str(written);
        self.rest = &self.rest[length..];
        (self.repeatable, self.repeats.1) = (true, 1);
    }

    /// Raises the product of the open group to that of the last token.
    fn note_repeats(&mut self) {
        if let Some(group) = self.repeats.0.last_mut() {
            *group = (*group).max(self.repeats.1);
        }
    }

    fn literal(&mut self, c: char) {
        push_char(&mut self.out, c);
        self.emit("", c.len_utf8());
    }

    /// Translates `*`, `+`, `?` or `{2,3}`, with the `?` that makes it lazy.
    fn repeat(&mut self, length: usize, repeated: Option<&'p str>) -> Result<(), GoRegexError> {
        let lazy = self.rest[length..].starts_with('?');
        let operator = &self.rest[..length + usize::from(lazy)];
        if let Some(before) = repeated {
            let both = &before[..before.len() - self.rest.len() + operator.len()];
            return Err(GoRegexError::new(GoRegexFault::RepeatOp, both));
        }
        if !self.repeatable {
            return Err(GoRegexError::new(
                GoRegexFault::MissingRepeatArgument,
                operator,
            ));
        }
        self.repeated = Some(self.rest);
        self.emit(operator, operator.len());
        Ok(())
    }

    /// Translates `(`, `(?:`, `(?P<name>`, `(?<name>`, `(?i)` or `(?i-s:`.
    fn group(&mut self) -> Result<(), GoRegexError> {
        let named = self
            .rest
            .strip_prefix("(?P<")
            .or_else(|| self.rest.strip_prefix("(?<"));
        if let Some(name) = named {
            let Some(end) = name.find('>') else {
                return Err(GoRegexError::new(GoRegexFault::NamedCapture, self.rest));
            };
            let length = self.rest.len() - name.len() + end + 1;
            let word = &name[..end];
            let is_word =
                !word.is_empty() && word.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
            if !is_word {
                return Err(GoRegexError::new(
                    GoRegexFault::NamedCapture,
                    &self.rest[..length],
                ));
            }
            return self.open("(", length);
        }
        let Some(flags) = self.rest.strip_prefix("(?") else {
            return self.open("(", 1);
        };
        let (mut negative, mut any) = (false, false);
        for (at, c) in flags.char_indices() {
            let length = 2 + at + c.len_utf8();
            match c {
                'i' | 'm' | 's' | 'U' => any = true,
                '-' if !negative => (negative, any) = (true, false),
                ':' | ')' if any || !negative => {
                    if c == ':' {
                        return self.open(&self.rest[..length], length);
                    }
                    self.emit(
                        if at == 0 {
                            "(?:)"
                        } else {
                            &self.rest[..length]
                        },
                        length,
                    );
                    self.repeatable = false;
                    return Ok(());
                }
                _ => {
                    return Err(GoRegexError::new(
                        GoRegexFault::PerlOp,
                        &self.rest[..length],
                    ));
                }
            }
        }
        let fault = if flags.is_empty() {
            GoRegexFault::MissingParen
        } else {
            GoRegexFault::PerlOp
        };
        Err(GoRegexError::new(fault, self.rest))
    }

    fn open(&mut self, written: &str, length: usize) -> Result<(), GoRegexError> {
        self.depth += 1;
        if self.depth >= MAX_DEPTH {
            return Err(GoRegexError::new(GoRegexFault::TooDeep, self.pattern));
        }
        self.emit(written, length);
        self.repeatable = false;
        self.repeats.0.push(1);
        Ok(())
    }

    /// Translates an escape outside of brackets.
    fn escape(&mut self) -> Result<(), GoRegexError> {
        match self.rest[1..].chars().next() {
            Some('A') => self.emit(r"\A", 2),
            Some('z') => self.emit(r"\z", 2),
            Some('b') => self.emit(r"(?-u:\b)", 2),
            Some('B') => self.emit(r"(?-u:\B)", 2),
            Some('Q') => {
                let text = &self.rest[2..];
                let end = text.find(r"\E");
                text[..end.unwrap_or(text.len())]
                    .chars()
                    .for_each(|c| push_char(&mut self.out, c));
                let length = end.map_or(self.rest.len(), |end| end + 4);
                let repeatable = self.repeatable || end != Some(0);
                self.emit("", length);
                self.repeatable = repeatable;
            }
            _ => {
                if let Some((class, length)) = self.perl_class()? {
                    self.emit(&format!("[{class}]"), length);
                    return Ok(());
                }
                let (c, length) = escaped(self.rest)?;
                push_char(&mut self.out, c);
                self.emit("", length);
            }
        }
        Ok(())
    }

    /// Returns the class of `\d`, `\W`, `\pL` or `\p{Greek}` at the beginning of the rest, in the form used within brackets, and its
    /// length.
    fn perl_class(&mut self) -> Result<Option<(String, usize)>, GoRegexError> {
        let mut chars = self.rest[1..].chars();
        let class = match chars.next() {
            Some('d') => "0-9",
            Some('D') => "[^0-9]",
            Some('w') => "0-9A-Za-z_",
            Some('W') => "[^0-9A-Za-z_]",
            Some('s') => r"\t\n\x0C\r\x20",
            Some('S') => r"[^\t\n\x0C\r\x20]",
            Some(sign @ ('p' | 'P')) => {
                let refusal = |part: &str| GoRegexError::new(GoRegexFault::CharRange, part);
                let (name, length) = match chars.next() {
                    Some('{') => {
                        let end = self.rest.find('}').ok_or_else(|| refusal(self.rest))?;
                        (&self.rest[3..end], end + 1)
                    }
                    Some(c) => (&self.rest[2..2 + c.len_utf8()], 2 + c.len_utf8()),
                    None => return Err(refusal(self.rest)),
                };
                let part = &self.rest[..length];
                let (name, inverted) = name
                    .strip_prefix('^')
                    .map_or((name, false), |name| (name, true));
                let sign = if inverted == (sign == 'P') { 'p' } else { 'P' };
                let class = format!("\\{sign}{{{name}}}");
                // The crate accepts pairs of a property and a value too.
                let is_word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                if !is_word || syntax::parse(&class).is_err() {
                    return Err(refusal(part));
                }
                return Ok(Some((class, length)));
            }
            _ => return Ok(None),
        };
        Ok(Some((class.to_owned(), 2)))
    }

    /// Translates `[…]`.
    fn class(&mut self) -> Result<(), GoRegexError> {
        let whole = self.rest;
        let missing = || GoRegexError::new(GoRegexFault::MissingBracket, whole);
        self.out.push('[');
        self.rest = &self.rest[1..];
        if let Some(rest) = self.rest.strip_prefix('^') {
            self.out.push('^');
            self.rest = rest;
        }
        let mut first = true;
        while first || !self.rest.starts_with(']') {
            first = false;
            if let Some(name) = self.rest.strip_prefix("[:")
                && let Some(end) = name.find(":]")
            {
                let part = &self.rest[..end + 4];
                if !POSIX_CLASSES.contains(&name[..end].trim_start_matches('^')) {
                    return Err(GoRegexError::new(GoRegexFault::CharRange, part));
                }
                self.out.push_str(part);
                self.rest = &self.rest[part.len()..];
                continue;
            }
            if self.rest.starts_with('\\')
                && let Some((class, length)) = self.perl_class()?
            {
                self.out.push_str(&class);
                self.rest = &self.rest[length..];
                continue;
            }
            let range = self.rest;
            let low = self.class_char().ok_or_else(missing)??;
            push_char(&mut self.out, low);
            if let Some(rest) = self.rest.strip_prefix('-')
                && !rest.is_empty()
                && !rest.starts_with(']')
            {
                self.rest = rest;
                let high = self.class_char().ok_or_else(missing)??;
                if high < low {
                    return Err(GoRegexError::new(
                        GoRegexFault::CharRange,
                        &range[..range.len() - self.rest.len()],
                    ));
                }
                self.out.push('-');
                push_char(&mut self.out, high);
            }
        }
        self.emit("]", 1);
        Ok(())
    }

    /// Reads a character within brackets; `None` at the end of the pattern.
    fn class_char(&mut self) -> Option<Result<char, GoRegexError>> {
        let c = self.rest.chars().next()?;
        let read = if c == '\\' {
            escaped(self.rest)
        } else {
            Ok((c, c.len_utf8()))
        };
        Some(read.map(|(c, length)| {
            self.rest = &self.rest[length..];
            c
        }))
    }
}

const POSIX_CLASSES: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
    "space", "upper", "word", "xdigit",
];

/// Writes a literal character.
fn push_char(out: &mut String, c: char) {
    if c.is_ascii_alphanumeric() || !c.is_ascii() {
        out.push(c);
    } else {
        out.push_str(&format!("\\x{:02X}", u32::from(c)));
    }
}

/// Minimum and maximum number of repetitions; `None` for no maximum.
type Counts = (u32, Option<u32>);

/// Returns the length of `{n}`, `{n,}` or `{n,m}` at the beginning, and its counts if they are allowed; `None` for any other text.
fn counts(text: &str) -> Option<(usize, Option<Counts>)> {
    let end = text.find('}')?;
    let (least, most) = text[1..end]
        .split_once(',')
        .map_or((&text[1..end], None), |(least, most)| (least, Some(most)));
    let is_number = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|b| b.is_ascii_digit())
            && (word.len() == 1 || !word.starts_with('0'))
    };
    if !is_number(least) || most.is_some_and(|most| !most.is_empty() && !is_number(most)) {
        return None;
    }
    let number = |word: &str| word.parse().ok().filter(|n| *n <= MAX_REPEAT);
    let counts = number(least).and_then(|least| match most.filter(|most| !most.is_empty()) {
        None => Some((least, None)),
        Some(most) => number(most)
            .filter(|most| *most >= least)
            .map(|most| (least, Some(most))),
    });
    Some((end + 1, counts))
}

/// Returns the character of an escape at the beginning of a text, and the length of the escape.
fn escaped(text: &str) -> Result<(char, usize), GoRegexError> {
    let Some(c) = text[1..].chars().next() else {
        return Err(GoRegexError::new(GoRegexFault::TrailingBackslash, ""));
    };
    let length = 1 + c.len_utf8();
    let refusal = |length: usize| GoRegexError::new(GoRegexFault::Escape, &text[..length]);
    let code = |digits: &str, radix: u32, length: usize| {
        let code = u32::from_str_radix(digits, radix)
            .ok()
            .and_then(char::from_u32);
        code.map(|c| (c, length)).ok_or_else(|| refusal(length))
    };
    let octal = |from: usize| {
        text[from..]
            .bytes()
            .take(4 - from)
            .take_while(|b| (b'0'..=b'7').contains(b))
            .count()
    };
    match c {
        // A single digit would be a back-reference to a group.
        '1'..='7' if octal(2) == 0 => Err(refusal(length)),
        '0'..='7' => {
            let digits = octal(1);
            code(&text[1..=digits], 8, 1 + digits)
        }
        'x' => match text[2..].strip_prefix('{') {
            Some(digits) => {
                let end = digits.find('}').ok_or_else(|| refusal(text.len()))?;
                // Go stops at the first character that makes the escape invalid.
                let is_code = |length: &usize| {
                    u32::from_str_radix(&digits[..*length], 16)
                        .is_ok_and(|code| code <= u32::from(char::MAX))
                };
                if let Some(wrong) = (1..=end)
                    .filter(|at| digits.is_char_boundary(*at))
                    .find(|at| !is_code(at))
                {
                    return Err(refusal(3 + wrong));
                }
                code(&digits[..end], 16, end + 4)
            }
            None => {
                let digits = text.get(2..4).ok_or_else(|| refusal(text.len()))?;
                code(digits, 16, 4)
            }
        },
        'a' => Ok(('\x07', length)),
        'f' => Ok(('\x0C', length)),
        'n' => Ok(('\n', length)),
        'r' => Ok(('\r', length)),
        't' => Ok(('\t', length)),
        'v' => Ok(('\x0B', length)),
        c if c.is_ascii() && !c.is_ascii_alphanumeric() => Ok((c, length)),
        _ => Err(refusal(length)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// Compares verdicts, first matches and errors with those of Go's `regexp`, pattern by pattern.
    #[test]
    fn patterns_are_judged_as_go_judges_them() {
        let data: Value =
            serde_json::from_str(include_str!("../../../tests/data/re2-vectors.json")).unwrap();
        let texts: Vec<&str> = data["texts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|text| text.as_str().unwrap())
            .collect();
        let mut different = Vec::new();
        for vector in data["vectors"].as_array().unwrap() {
            let pattern = vector["pattern"].as_str().unwrap();
            let expected = vector["error"].as_str();
            match GoRegex::new(pattern) {
                Err(error) if Some(error.to_string().as_str()) != expected => {
                    different.push(format!("{pattern}: {error}, not {expected:?}"))
                }
                Ok(_) if expected.is_some() => {
                    different.push(format!("{pattern}: accepted, not {expected:?}"))
                }
                Err(_) => {}
                Ok(compiled) => {
                    for (text, span) in texts.iter().zip(vector["finds"].as_array().unwrap()) {
                        let found = compiled.find(text).map_or_else(String::new, |found| {
                            format!("{}-{}", found.start, found.end)
                        });
                        if found != span.as_str().unwrap()
                            || compiled.is_match(text) == found.is_empty()
                        {
                            different.push(format!("{pattern} in {text:?}: {found:?}, not {span}"));
                        }
                    }
                }
            }
        }
        assert!(different.is_empty(), "{}", different.join("\n"));
    }
}
