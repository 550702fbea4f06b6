//! Interface of the shell's tools.

use crate::shell::room::{CommandRoom, Done};

/// Tool of the shell.
pub struct ShellTool {
    pub name: &'static str,
    pub run: fn(&mut ToolCall<'_, '_, '_>) -> Done,
    /// Returns true if a call with these words writes no files.
    pub reads: fn(&[String]) -> bool,
    /// True if its result depends on the network.
    pub uses_network: bool,
    /// Returns true if each output line depends on one input line, so that a pipe can show lines as they come.
    pub by_line: fn(&[String]) -> bool,
}

impl ShellTool {
    /// Defaults: read-only, and processing the whole input.
    pub const PLAIN: ShellTool = ShellTool {
        name: "",
        run: |_| Done {
            out: String::new(),
            err: String::new(),
            code: 0,
        },
        reads: |_| true,
        uses_network: false,
        by_line: |_| false,
    };
}

/// Maximum number of bytes read from files together, which is also the limit of all files.
const MOST_READ: usize = 1 << 20;

/// Call of a tool.
pub struct ToolCall<'a, 'r, 'c> {
    pub room: &'a mut CommandRoom<'r, 'c>,
    /// Name used in the call.
    pub name: &'a str,
    pub words: &'a [String],
    pub stdin: &'a str,
}

/// Flags of a call, each with its value if it takes one, and the other words.
pub struct Flags<'a> {
    pub flags: Vec<(char, &'a str)>,
    pub words: Vec<&'a str>,
}

impl<'a> Flags<'a> {
    pub fn has(&self, letter: char) -> bool {
        self.flags.iter().any(|(flag, _)| *flag == letter)
    }

    /// Returns the values of a flag.
    pub fn values(&self, letter: char) -> impl Iterator<Item = &'a str> {
        self.flags
            .iter()
            .filter(move |(flag, _)| *flag == letter)
            .map(|(_, value)| *value)
    }

    /// Returns the last value of a flag, as a number.
    pub fn number(&self, letter: char) -> Option<usize> {
        self.values(letter)
            .last()
            .and_then(|value| value.parse().ok())
    }
}

/// Splits words into flags and the rest, as getopt does. `known` lists the letters of the flags, followed by a colon if they take a
/// value. `--` ends the flags.
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
        // Long flags, such as `--color=auto`, are ignored.
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
    /// Returns the words that are not flags.
    pub fn plain(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let words = self.words;
        words
            .iter()
            .map(String::as_str)
            .filter(|word| !word.starts_with('-') || *word == "-")
    }

    /// Returns true if a short flag is given, alone or grouped.
    pub fn has(&self, letter: char) -> bool {
        self.words
            .iter()
            .any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    }

    /// Returns the text of the files, or the piped input; the error names missing files.
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
