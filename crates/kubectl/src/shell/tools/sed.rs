//! `sed`: runs a program on each line.

use super::tool::{ShellTool, flags};
use crate::shell::regex::{GROUPS, Regex, Syntax};
use crate::shell::room::{Done, MOST_BYTES};

const FLAGS: &str = "nEri:e:s";

/// Maximum number of commands of a program.
const MOST_COMMANDS: usize = 200;

pub const SED: ShellTool = ShellTool {
    name: "sed",
    run: |call| {
        // The optional value of `-i` is in the same word.
        let words: Vec<String> = call
            .words
            .iter()
            .map(|word| {
                if word == "-i" {
                    "-i.".to_owned()
                } else {
                    word.clone()
                }
            })
            .collect();
        let flags = match flags("sed", &words, FLAGS) {
            Ok(flags) => flags,
            Err(done) => return done,
        };
        let mut program: Vec<&str> = flags.values('e').collect();
        let mut files = flags.words.as_slice();
        if program.is_empty() {
            let [first, rest @ ..] = files else {
                return Done::failed("sed: no program\n", 1);
            };
            program.push(first);
            files = rest;
        }
        let extended = flags.has('E') || flags.has('r');
        let commands = match Program::parse(&program.join("\n"), extended) {
            Ok(commands) => commands,
            Err(fault) => return Done::failed(format!("sed: {fault}\n"), 1),
        };
        let text = match call.input(files) {
            Ok(text) => text,
            Err(done) => return done,
        };
        let out = commands.run(&text, flags.has('n'));
        if flags.has('i')
            && let Some(file) = files.first()
        {
            return call
                .room
                .write(file, &out)
                .map_or_else(|error| Done::failed(error, 1), |()| Done::default());
        }
        Done::stdout(out)
    },
    reads: |words| !words.iter().any(|word| word.starts_with("-i")),
    ..ShellTool::PLAIN
};

enum Address {
    Line(usize),
    Last,
    Pattern(Regex),
    /// Number of lines after the first.
    After(usize),
}

enum Action {
    Substitute {
        pattern: Regex,
        with: Vec<Part>,
        all: bool,
        from: usize,
        print: bool,
    },
    Letters(Vec<char>, Vec<char>),
    Print,
    Delete,
    Number,
    Quit,
    Append(String),
    Insert(String),
    Change(String),
    /// Start of a block; the jump to its closing brace if the addresses do not match.
    Open(usize),
    Close,
}

/// Part of a replacement text.
enum Part {
    Text(String),
    Group(usize),
}

struct Command {
    from: Option<Address>,
    to: Option<Address>,
    not: bool,
    action: Action,
}

struct Program {
    commands: Vec<Command>,
}

struct Parser {
    chars: Vec<char>,
    at: usize,
    syntax: Syntax,
}

impl Program {
    fn parse(text: &str, extended: bool) -> Result<Program, String> {
        let mut parser = Parser {
            chars: text.chars().collect(),
            at: 0,
            syntax: Syntax {
                extended,
                ..Syntax::default()
            },
        };
        let (mut commands, mut open) = (Vec::new(), Vec::new());
        loop {
            parser.skip(" \t\n;");
            if parser.peek().is_none() {
                break;
            }
            let command = parser.command()?;
            match command.action {
                Action::Open(_) => open.push(commands.len()),
                Action::Close => {
                    let Some(begin) = open.pop() else {
                        return Err("unexpected '}'".to_owned());
                    };
                    let end = commands.len();
                    if let Some(Command {
                        action: Action::Open(place),
                        ..
                    }) = commands.get_mut(begin)
                    {
                        *place = end;
                    }
                }
                _ => {}
            }
            commands.push(command);
            if commands.len() > MOST_COMMANDS {
                return Err("too many commands".to_owned());
            }
        }
        if open.is_empty() {
            Ok(Program { commands })
        } else {
            Err("unmatched '{'".to_owned())
        }
    }

    fn run(&self, text: &str, quiet: bool) -> String {
        let mut out = String::new();
        let lines: Vec<&str> = text.lines().collect();
        // End line of the active range of each command; `usize::MAX` while it is not known.
        let mut ranges: Vec<Option<usize>> = vec![None; self.commands.len()];
        for (index, line) in lines.iter().enumerate() {
            let number = index + 1;
            let (mut line, mut shown, mut behind, mut quits) =
                ((*line).to_owned(), !quiet, String::new(), false);
            let mut at = 0;
            while let Some(command) = self.commands.get(at) {
                let applies =
                    command.applies(&line, number, lines.len(), &mut ranges[at]) != command.not;
                let ends_range = ranges[at].is_none();
                at += 1;
                if !applies {
                    if let Action::Open(end) = command.action {
                        at = end;
                    }
                    continue;
                }
                match &command.action {
                    Action::Substitute {
                        pattern,
                        with,
                        all,
                        from,
                        print,
                    } => {
                        if substitute(&mut line, pattern, with, *all, *from) && *print {
                            out.push_str(&format!("{line}\n"));
                        }
                    }
                    Action::Letters(from, to) => {
                        line = line
                            .chars()
                            .map(|c| {
                                from.iter()
                                    .position(|known| *known == c)
                                    .map_or(c, |at| to[at])
                            })
                            .collect();
                    }
                    Action::Print => out.push_str(&format!("{line}\n")),
                    Action::Delete => {
                        shown = false;
                        break;
                    }
                    Action::Number => out.push_str(&format!("{number}\n")),
                    Action::Quit => {
                        quits = true;
                        break;
                    }
                    Action::Append(text) => behind.push_str(&format!("{text}\n")),
                    Action::Insert(text) => out.push_str(&format!("{text}\n")),
                    Action::Change(text) => {
                        if command.to.is_none() || ends_range {
                            out.push_str(&format!("{text}\n"));
                        }
                        shown = false;
                        break;
                    }
                    Action::Open(_) | Action::Close => {}
                }
                if out.len() > 2 * text.len() + 2 * MOST_BYTES {
                    return out;
                }
            }
            if shown {
                out.push_str(&format!("{line}\n"));
            }
            out.push_str(&behind);
            if quits || out.len() > 2 * text.len() + 2 * MOST_BYTES {
                break;
            }
        }
        out
    }
}

impl Command {
    /// Returns true if the addresses select the line.
    fn applies(&self, line: &str, number: usize, count: usize, range: &mut Option<usize>) -> bool {
        let fits = |address: &Address| match address {
            Address::Line(wanted) => *wanted == number,
            Address::Last => number == count,
            Address::Pattern(regex) => regex.is_in(line),
            Address::After(_) => false,
        };
        let Some(from) = &self.from else { return true };
        let Some(to) = &self.to else {
            return fits(from);
        };
        if let Some(end) = *range {
            if number >= end || end == usize::MAX && fits(to) {
                *range = None;
            }
            return true;
        }
        if !fits(from) {
            return false;
        }
        let end = match to {
            Address::Line(end) => *end,
            Address::After(lines) => number.saturating_add(*lines),
            Address::Last => count,
            Address::Pattern(_) => usize::MAX,
        };
        *range = Some(end).filter(|end| *end > number);
        true
    }
}

/// Replaces matches; returns true if there were any.
fn substitute(line: &mut String, pattern: &Regex, with: &[Part], all: bool, from: usize) -> bool {
    let chars: Vec<char> = line.chars().collect();
    let (mut out, mut at, mut count, mut found) = (String::new(), 0, 0, false);
    let mut search = pattern.search(&chars);
    // An empty match may not directly follow another match.
    let mut behind = None;
    while at <= chars.len()
        && let Some(slots) = search.find(at)
        && let (Some(start), Some(end)) = (slots[0], slots[1])
    {
        out.extend(&chars[at..start]);
        if start == end && behind == Some(start) {
            out.extend(chars.get(start));
            at = start + 1;
            continue;
        }
        count += 1;
        if count >= from {
            found = true;
            for part in with {
                match part {
                    Part::Text(text) => out.push_str(text),
                    Part::Group(group) => {
                        let part = slots[2 * group].zip(slots[2 * group + 1]);
                        out.extend(
                            part.and_then(|(from, to)| chars.get(from..to))
                                .into_iter()
                                .flatten(),
                        );
                    }
                }
            }
        } else {
            out.extend(&chars[start..end]);
        }
        at = end;
        // Longer output is truncated.
        if found && !all || out.len() > line.len() + MOST_BYTES {
            break;
        }
        behind = Some(end);
        if start == end {
            out.extend(chars.get(at));
            at += 1;
        }
    }
    out.extend(chars.get(at..).into_iter().flatten());
    *line = out;
    found
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn take(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        self.at += usize::from(found);
        found
    }

    fn skip(&mut self, letters: &str) {
        while self.peek().is_some_and(|c| letters.contains(c)) {
            self.at += 1;
        }
    }

    fn number(&mut self) -> Option<usize> {
        let digits: String = self.chars[self.at..]
            .iter()
            .take_while(|c| c.is_ascii_digit())
            .collect();
        self.at += digits.len();
        digits.parse().ok()
    }

    fn address(&mut self) -> Result<Option<Address>, String> {
        let Some(c) = self.peek() else {
            return Ok(None);
        };
        Ok(Some(match c {
            '0'..='9' => Address::Line(self.number().unwrap_or(usize::MAX)),
            '$' => {
                self.at += 1;
                Address::Last
            }
            '/' | '\\' => {
                self.at += 1 + usize::from(c == '\\');
                let sign = self
                    .chars
                    .get(self.at - 1)
                    .copied()
                    .ok_or("unmatched '/'")?;
                let pattern = self.until(sign)?;
                let fold = self.take('I');
                Address::Pattern(self.regex(&pattern, fold)?)
            }
            _ => return Ok(None),
        }))
    }

    fn regex(&self, pattern: &str, fold: bool) -> Result<Regex, String> {
        Regex::new(
            pattern,
            Syntax {
                fold,
                ..self.syntax
            },
        )
        .map_err(|fault| format!("bad regex '{pattern}': {fault}"))
    }

    /// Reads the text up to a delimiter, removing the backslash from escaped ones.
    fn until(&mut self, sign: char) -> Result<String, String> {
        let (mut text, mut set) = (String::new(), false);
        while let Some(c) = self.peek() {
            self.at += 1;
            match c {
                c if c == sign && !set => return Ok(text),
                '\\' => {
                    let next = self.peek();
                    self.at += 1;
                    if next != Some(sign) {
                        text.push('\\');
                    }
                    text.extend(next);
                }
                '[' => {
                    // Within brackets the delimiter is literal.
                    set = set || self.chars[self.at..].iter().skip(1).any(|c| *c == ']');
                    text.push(c);
                }
                ']' => {
                    set = set && text.ends_with(['[', '^']) && !text.ends_with("^^");
                    text.push(c);
                }
                c => text.push(c),
            }
        }
        Err(format!("unmatched '{sign}'"))
    }

    fn command(&mut self) -> Result<Command, String> {
        let from = self.address()?;
        let mut to = None;
        if from.is_some() && self.take(',') {
            to = match self.take('+') {
                true => Some(Address::After(self.number().unwrap_or(0))),
                false => Some(self.address()?.ok_or("unexpected ','")?),
            };
        }
        self.skip(" \t");
        let not = self.take('!');
        self.skip(" \t");
        let name = self.peek().ok_or("missing command")?;
        self.at += 1;
        let action = match name {
            's' => self.substitution()?,
            'y' => {
                let sign = self.peek().ok_or("bad option in substitution expression")?;
                self.at += 1;
                let from: Vec<char> = self.until(sign)?.chars().collect();
                let to: Vec<char> = self.until(sign)?.chars().collect();
                if from.len() != to.len() {
                    return Err("strings for 'y' command have different lengths".to_owned());
                }
                Action::Letters(from, to)
            }
            'p' => Action::Print,
            'd' => Action::Delete,
            '=' => Action::Number,
            'q' => Action::Quit,
            'a' => Action::Append(self.text()),
            'i' => Action::Insert(self.text()),
            'c' => Action::Change(self.text()),
            '{' => Action::Open(0),
            '}' => Action::Close,
            c => return Err(format!("unsupported command {c}")),
        };
        self.skip(" \t");
        match self.peek() {
            _ if matches!(action, Action::Open(_)) => {}
            None | Some(';' | '\n' | '}' | '#') => {}
            Some(_) => return Err(format!("unknown option to {name}")),
        }
        Ok(Command {
            from,
            to,
            not,
            action,
        })
    }

    /// Reads the text of `a`, `i` and `c`: the rest of the line, and further lines after a backslash.
    fn text(&mut self) -> String {
        self.skip(" \t");
        if self.take('\\') {
            self.take('\n');
        }
        let mut text = String::new();
        while let Some(c) = self.peek() {
            self.at += 1;
            match c {
                '\n' => break,
                '\\' => {
                    text.extend(self.peek());
                    self.at += 1;
                }
                c => text.push(c),
            }
        }
        text
    }

    fn substitution(&mut self) -> Result<Action, String> {
        let sign = self
            .peek()
            .filter(|c| !matches!(c, '\n' | '\\'))
            .ok_or("bad option in substitution expression")?;
        self.at += 1;
        let pattern = self.until(sign)?;
        let mut with: Vec<Part> = Vec::new();
        let mut text = String::new();
        loop {
            let c = self.peek().ok_or_else(|| format!("unmatched '{sign}'"))?;
            self.at += 1;
            let group = match c {
                c if c == sign => break,
                '&' => 0,
                '\\' => {
                    let next = self.peek().ok_or_else(|| format!("unmatched '{sign}'"))?;
                    self.at += 1;
                    match next {
                        '0'..='9' => next as usize - '0' as usize,
                        next => {
                            text.push(match next {
                                'n' => '\n',
                                't' => '\t',
                                next => next,
                            });
                            continue;
                        }
                    }
                }
                c => {
                    text.push(c);
                    continue;
                }
            };
            with.push(Part::Text(std::mem::take(&mut text)));
            with.push(Part::Group(group.min(GROUPS - 1)));
        }
        with.push(Part::Text(text));
        let (mut all, mut print, mut fold, mut from) = (false, false, false, 1);
        while let Some(c) = self.peek() {
            match c {
                'g' => all = true,
                'p' => print = true,
                'i' | 'I' => fold = true,
                '1'..='9' => {
                    from = self.number().unwrap_or(1);
                    continue;
                }
                _ => break,
            }
            self.at += 1;
        }
        Ok(Action::Substitute {
            pattern: self.regex(&pattern, fold)?,
            with,
            all,
            from,
            print,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Program;

    #[test]
    fn unknown_programs_are_refused() {
        for program in [
            "s/a",
            "s/a/b",
            "k",
            "{p",
            "p}",
            "s/(/x/",
            "/a",
            "1,p",
            "y/ab/c/",
            "s",
            "p x",
            "s/a/\\",
            "\\",
            &"p;".repeat(1_000),
        ] {
            assert!(Program::parse(program, true).is_err(), "{program:.40}");
        }
        assert_eq!(
            Program::parse("s,[,],x,", false)
                .map(|program| program.run("a,b\n", false))
                .unwrap_or_default(),
            "axb\n"
        );
        assert_eq!(
            Program::parse("2,1p", false)
                .map(|program| program.run("a\nb\nc\n", true))
                .unwrap_or_default(),
            "b\n"
        );
        assert_eq!(
            Program::parse("/a/,/c/d", false)
                .map(|program| program.run("a\nb\nc\nd\n", false))
                .unwrap_or_default(),
            "d\n"
        );
    }

    #[test]
    fn output_is_limited() {
        let program = Program::parse(&"p;".repeat(150), false)
            .map(|program| program.run(&"a\n".repeat(20_000), false));
        assert!(program.unwrap_or_default().len() < 400_000);
        let again = Program::parse("s/a/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa&&&&&/g", false)
            .map(|program| program.run(&"a".repeat(30_000), false));
        assert!(again.unwrap_or_default().len() < 400_000);
    }
}
