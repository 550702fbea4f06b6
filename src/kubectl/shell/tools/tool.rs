//! What a command of the shell is, and how it is called.

use crate::kubectl::shell::room::{Done, Room};

/// A command.
pub struct Tool {
    pub name: &'static str,
    pub run: fn(&mut Call<'_, '_, '_>) -> Done,
    /// Whether it leaves all files as they are when called with these words.
    pub reads: fn(&[String]) -> bool,
    /// Whether it makes each line of its output from one line of its input: then a pipe shows each line as it comes.
    pub by_line: fn(&[String]) -> bool,
}

impl Tool {
    /// A command that only reads and looks at all of its input.
    pub const PLAIN: Tool =
        Tool { name: "", run: |_| Done { out: String::new(), err: String::new(), code: 0 }, reads: |_| true, by_line: |_| false };
}

/// Bytes of files that are read together; all files have as many.
const MOST_READ: usize = 1 << 20;

/// How it was called.
pub struct Call<'a, 'r, 'c> {
    pub room: &'a mut Room<'r, 'c>,
    /// The name it was called by.
    pub name: &'a str,
    pub words: &'a [String],
    pub stdin: &'a str,
}

impl<'a> Call<'a, '_, '_> {
    /// The words that are no flags.
    pub fn plain(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let words = self.words;
        words.iter().map(String::as_str).filter(|word| !word.starts_with('-') || *word == "-")
    }

    /// Whether one of the short flags is given, alone or among others.
    pub fn has(&self, letter: char) -> bool {
        self.words.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    }

    /// The text of the files, or what is piped in; complaints about what is not there.
    pub fn input(&self, files: &[&str]) -> Result<String, Done> {
        if files.is_empty() {
            return Ok(self.stdin.to_owned());
        }
        let mut text = String::new();
        for file in files {
            let missing = || Done::failed(format!("{}: {file}: No such file or directory\n", self.name), 1);
            if text.len() > MOST_READ {
                return Err(Done::failed("sh: out of memory\n", 2));
            }
            text.push_str(&if *file == "-" { self.stdin.to_owned() } else { self.room.read(file).ok_or_else(missing)? });
        }
        Ok(text)
    }
}
