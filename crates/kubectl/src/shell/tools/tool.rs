//! What a command of the shell is, and how it is called.

use crate::shell::room::{CommandRoom, Done};

/// A command.
pub struct ShellTool {
    pub name: &'static str,
    pub run: fn(&mut ToolCall<'_, '_, '_>) -> Done,
    /// Whether it leaves all files as they are when called with these words.
    pub reads: fn(&[String]) -> bool,
    /// Whether it makes each line of its output from one line of its input: then a pipe shows each line as it comes.
    pub by_line: fn(&[String]) -> bool,
}

impl ShellTool {
    /// A command that only reads and looks at all of its input.
    pub const PLAIN: ShellTool = ShellTool {
        name: "",
        run: |_| Done {
            out: String::new(),
            err: String::new(),
            code: 0,
        },
        reads: |_| true,
        by_line: |_| false,
    };
}

/// Bytes of files that are read together; all files have as many.
const MOST_READ: usize = 1 << 20;

/// How it was called.
pub struct ToolCall<'a, 'r, 'c> {
    pub room: &'a mut CommandRoom<'r, 'c>,
    /// The name it was called by.
    pub name: &'a str,
    pub words: &'a [String],
    pub stdin: &'a str,
}

/// The flags of a call, each with its value where it takes one, and the other words.
pub struct Flags<'a> {
    pub flags: Vec<(char, &'a str)>,
    pub words: Vec<&'a str>,
}

impl<'a> Flags<'a> {
    pub fn has(&self, letter: char) -> bool {
        self.flags.iter().any(|(flag, _)| *flag == letter)
    }

    /// The values of a flag.
    pub fn values(&self, letter: char) -> impl Iterator<Item = &'a str> {
        self.flags
            .iter()
            .filter(move |(flag, _)| *flag == letter)
            .map(|(_, value)| *value)
    }

    /// The last value of a flag, as a number.
    pub fn number(&self, letter: char) -> Option<usize> {
        self.values(letter)
            .last()
            .and_then(|value| value.parse().ok())
    }
}

/// Splits words into flags and the rest, as getopt does. `known`: the letters of the flags, those that take a value with a colon behind
/// them. `--` ends the flags.
pub fn flags<'a>(name: &str, words: &'a [String], known: &str) -> Result<Flags<'a>, Done> {
    let mut found = Flags {
        flags: Vec::new(),
        words: Vec::new(),
    };
    let mut rest = words.iter().map(String::as_str);
    while let Some(word) = rest.next() {
        if word == "--" {
            found.words.extend(rest);
            break;
        }
        // Long flags, such as `--color=auto`, change nothing here.
        let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
            found.words.push(word);
            continue;
        };
        if letters.starts_with('-') {
            continue;
        }
        for (at, letter) in letters.char_indices() {
            let Some(place) = known.find(letter).filter(|_| letter != ':') else {
                return Err(Done::failed(
                    format!("{name}: invalid option -- '{letter}'\n"),
                    1,
                ));
            };
            if !known[place + 1..].starts_with(':') {
                found.flags.push((letter, ""));
                continue;
            }
            let inline = &letters[at + letter.len_utf8()..];
            let value = if inline.is_empty() {
                rest.next()
            } else {
                Some(inline)
            };
            let missing = || {
                Done::failed(
                    format!("{name}: option requires an argument -- '{letter}'\n"),
                    1,
                )
            };
            found.flags.push((letter, value.ok_or_else(missing)?));
            break;
        }
    }
    Ok(found)
}

impl<'a> ToolCall<'a, '_, '_> {
    /// The words that are no flags.
    pub fn plain(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let words = self.words;
        words
            .iter()
            .map(String::as_str)
            .filter(|word| !word.starts_with('-') || *word == "-")
    }

    /// Returns true if one of the short flags is given, alone or among others.
    pub fn has(&self, letter: char) -> bool {
        self.words
            .iter()
            .any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    }

    /// The text of the files, or what is piped in; complaints about what is not there.
    pub fn input(&self, files: &[&str]) -> Result<String, Done> {
        if files.is_empty() {
            return Ok(self.stdin.to_owned());
        }
        let mut text = String::new();
        for file in files {
            let missing = || {
                Done::failed(
                    format!("{}: {file}: No such file or directory\n", self.name),
                    1,
                )
            };
            if text.len() > MOST_READ {
                return Err(Done::failed("sh: out of memory\n", 2));
            }
            text.push_str(&if *file == "-" {
                self.stdin.to_owned()
            } else {
                self.room.read(file).ok_or_else(missing)?
            });
        }
        Ok(text)
    }
}
