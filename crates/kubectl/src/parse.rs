//! Command line parser: words and flags, with kubectl's errors.

use super::Failure;
use k8s_model::time::duration;

/// Flags of every verb. A flag is `name`, `name/short`; a value follows `=`, an optional one `?`. The name is preceded by `!` if the flag
/// is refused because it is not simulated, `~` if it has no effect here, and `@` if it names objects by a file.
pub const GLOBAL: &str = "help/h namespace/n= ~kubeconfig= ~context= ~cluster= user= ~server/s= ~v/v= ~request-timeout= field-manager= as= as-group= as-uid= \
    show-managed-fields template= ~allow-missing-template-keys !warnings-as-errors";

/// Parsed command line.
#[derive(Clone, Debug, Default)]
pub struct Args {
    /// Verb.
    pub verb: String,
    /// Verb with its subcommand.
    pub verb_path: String,
    /// Arguments that are not flags.
    pub words: Vec<String>,
    /// Number of words before `--`, if there is one.
    pub dash: Option<usize>,
    flags: Vec<(&'static str, String)>,
}

#[derive(Clone, Copy)]
struct Flag {
    name: &'static str,
    short: Option<char>,
    /// True if a value must follow.
    value: bool,
    /// Value if none is given.
    default: &'static str,
    /// Effect of the flag here.
    effect: FlagEffect,
}

/// Effect of a flag here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagEffect {
    /// Same effect as in kubectl.
    Same,
    /// The same effect as in kubectl; the flag names objects by a file.
    Names,
    /// No effect.
    Nothing,
    /// Refused.
    Refused,
}

/// Returns true if a table has a flag of this name.
pub fn takes(table: &'static str, name: &str) -> bool {
    flags(table).any(|flag| flag.name == name)
}

/// Returns true if a table has a flag that names objects by a file.
pub fn names_by_file(table: &'static str) -> bool {
    flags(table).any(|flag| flag.effect == FlagEffect::Names)
}

/// Returns the flags of a table as they are typed, with their effect here.
pub fn described(table: &'static str) -> impl Iterator<Item = (String, FlagEffect)> {
    flags(table).map(|flag| {
        let short = flag
            .short
            .map_or(String::new(), |short| format!("-{short}, "));
        (
            format!(
                "{short}--{}{}",
                flag.name,
                if flag.value { "=" } else { "" }
            ),
            flag.effect,
        )
    })
}

fn flags(table: &'static str) -> impl Iterator<Item = Flag> {
    table.split_whitespace().map(|entry| {
        let (entry, value, default) = match (entry.split_once('='), entry.split_once('?')) {
            (Some((entry, _)), _) => (entry, true, ""),
            (None, Some((entry, default))) => (entry, false, default),
            (None, None) => (entry, false, "true"),
        };
        let (name, short) = entry
            .split_once('/')
            .map_or((entry, None), |(name, short)| (name, short.chars().next()));
        let effect = match name.as_bytes().first() {
            Some(b'!') => FlagEffect::Refused,
            Some(b'~') => FlagEffect::Nothing,
            Some(b'@') => FlagEffect::Names,
            _ => FlagEffect::Same,
        };
        Flag {
            name: name.trim_start_matches(['!', '~', '@']),
            short,
            value,
            default,
            effect,
        }
    })
}

impl Args {
    /// Splits words and flags by the table of a verb; `path` is the command for error messages.
    pub fn parse(path: &str, table: &'static str, words: &[String]) -> Result<Args, Failure> {
        Args::parse_with(path, &[table], words)
    }

    /// Splits words and flags by several tables.
    pub fn parse_with(
        path: &str,
        tables: &[&'static str],
        words: &[String],
    ) -> Result<Args, Failure> {
        let known: Vec<Flag> = tables
            .iter()
            .copied()
            .chain([GLOBAL])
            .flat_map(flags)
            .collect();
        let usage = |message: String| unusable(path, &message);
        let verb = path.split(' ').next().unwrap_or(path).to_owned();
        let mut args = Args {
            verb,
            verb_path: path.to_owned(),
            ..Args::default()
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if word == "--" {
                args.dash = Some(args.words.len());
                args.words.extend(words.by_ref().cloned());
            } else if let Some(long) = word.strip_prefix("--") {
                let (name, value) = long
                    .split_once('=')
                    .map_or((long, None), |(name, value)| (name, Some(value)));
                let flag = known
                    .iter()
                    .find(|f| f.name == name)
                    .ok_or_else(|| usage(format!("unknown flag: --{name}")))?;
                let value = match value {
                    Some(value) => value.to_owned(),
                    None if flag.value => words
                        .next()
                        .cloned()
                        .ok_or_else(|| usage(format!("flag needs an argument: --{name}")))?,
                    None => flag.default.to_owned(),
                };
                args.flags.push((flag.name, value));
            } else if word.len() > 1 && word.starts_with('-') {
                args.shorthand(&known, &word[1..], &mut words, usage)?;
            } else {
                args.words.push(word.clone());
            }
        }
        if let Some((name, _)) = args.flags.iter().find(|(name, _)| {
            known
                .iter()
                .any(|f| f.name == *name && f.effect == FlagEffect::Refused)
        }) {
            return Err(Failure::error(format!("--{name} is not simulated")));
        }
        Ok(args)
    }

    fn shorthand<'w>(
        &mut self,
        known: &[Flag],
        letters: &str,
        words: &mut impl Iterator<Item = &'w String>,
        usage: impl Fn(String) -> Failure,
    ) -> Result<(), Failure> {
        for (index, letter) in letters.char_indices() {
            let flag = known.iter().find(|f| f.short == Some(letter));
            let flag = flag.ok_or_else(|| {
                usage(format!("unknown shorthand flag: '{letter}' in -{letters}"))
            })?;
            let rest = &letters[index + letter.len_utf8()..];
            if flag.value {
                let value = match rest {
                    "" => words.next().cloned().ok_or_else(|| {
                        usage(format!("flag needs an argument: '{letter}' in -{letters}"))
                    })?,
                    rest => rest.strip_prefix('=').unwrap_or(rest).to_owned(),
                };
                self.flags.push((flag.name, value));
                return Ok(());
            }
            if let Some(value) = rest.strip_prefix('=') {
                self.flags.push((flag.name, value.to_owned()));
                return Ok(());
            }
            self.flags.push((flag.name, flag.default.to_owned()));
        }
        Ok(())
    }

    /// Returns the last value of a flag.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.flags
            .iter()
            .rev()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value.as_str())
    }

    /// Returns every value of a flag that may be repeated.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.flags
            .iter()
            .filter(move |(known, _)| *known == name)
            .map(|(_, value)| value.as_str())
    }

    /// Returns true if a switch is on.
    pub fn on(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value != "false")
    }

    /// Fails if a flag is given that belongs to other commands with the same table.
    pub fn refuse(&self, name: &str) -> Result<(), Failure> {
        self.get(name).map_or(Ok(()), |_| {
            Err(unusable(
                &self.verb_path,
                &format!("unknown flag: --{name}"),
            ))
        })
    }

    /// Formats the command as `--record` stores it: words first, then flags by their long names.
    /// Models `parseCommandArguments` of `cli-runtime/pkg/genericclioptions/record_flags.go`.
    pub fn command(&self) -> String {
        let words = self.words.iter().map(|word| format!(" {word}"));
        let flags = self
            .flags
            .iter()
            .map(|(name, value)| format!(" --{name}={value}"));
        format!(
            "kubectl {}{}",
            self.verb_path,
            words.chain(flags).collect::<String>()
        )
    }

    /// Returns a flag's number.
    pub fn number(&self, name: &str) -> Result<Option<i64>, Failure> {
        let Some(text) = self.get(name) else {
            return Ok(None);
        };
        text.parse().map(Some).map_err(|_| {
            let fault = format!("invalid argument \"{text}\" for \"--{name}\" flag: strconv.ParseInt: parsing \"{text}\": invalid syntax");
            unusable(&self.verb_path, &fault)
        })
    }

    /// Returns a flag's duration in microseconds: `2s`, `1m30s`, `0`.
    pub fn duration(&self, name: &str) -> Result<Option<u64>, Failure> {
        let Some(text) = self.get(name) else {
            return Ok(None);
        };
        let fault = || {
            format!(
                "invalid argument \"{text}\" for \"--{name}\" flag: time: invalid duration \"{text}\""
            )
        };
        duration(text)
            .map(Some)
            .ok_or_else(|| unusable(&self.verb_path, &fault()))
    }

    /// Fails unless all of these flags are given.
    pub fn require(&self, names: &[&str]) -> Result<(), Failure> {
        let missing: Vec<String> = names
            .iter()
            .filter(|name| self.get(name).is_none())
            .map(|name| format!("\"{name}\""))
            .collect();
        if missing.is_empty() {
            Ok(())
        } else {
            Err(Failure::error(format!(
                "required flag(s) {} not set",
                missing.join(", ")
            )))
        }
    }
}

fn unusable(path: &str, message: &str) -> Failure {
    Failure::error(format!("{message}\nSee 'kubectl {path} --help' for usage."))
}

/// Splits a command line as a shell does, with blanks, quotes and backslashes.
pub fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, ' ' | '\t' | '\n') => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), c) if c == open => quote = None,
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(chars.next()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        split(line)
    }

    #[test]
    fn a_line_is_split_as_a_shell_does() {
        assert_eq!(
            words("patch x -p '{\"a\": 1}' \"b c\" d\\ e ''"),
            ["patch", "x", "-p", "{\"a\": 1}", "b c", "d e", ""]
        );
    }

    #[test]
    fn flags_are_told_from_words() {
        let args = Args::parse(
            "get",
            "output/o= watch/w cascade?background selector/l=",
            &words("pods a -owide -w --cascade=orphan -l=x=y -n ns"),
        )
        .unwrap();
        assert_eq!(args.words, ["pods", "a"]);
        assert_eq!(
            (args.get("output"), args.on("watch"), args.get("cascade")),
            (Some("wide"), true, Some("orphan"))
        );
        assert_eq!(
            (args.get("selector"), args.get("namespace")),
            (Some("x=y"), Some("ns"))
        );
    }

    #[test]
    fn wrong_flags_are_refused_in_kubectls_words() {
        for (line, message) in [
            (
                "pods --foo",
                "error: unknown flag: --foo\nSee 'kubectl get --help' for usage.\n",
            ),
            (
                "pods -z",
                "error: unknown shorthand flag: 'z' in -z\nSee 'kubectl get --help' for usage.\n",
            ),
            (
                "pods --output",
                "error: flag needs an argument: --output\nSee 'kubectl get --help' for usage.\n",
            ),
        ] {
            assert_eq!(
                Args::parse("get", "output/o=", &words(line))
                    .unwrap_err()
                    .message,
                message
            );
        }
    }

    #[test]
    fn durations_are_read() {
        assert_eq!(duration("2s"), Some(2_000_000));
        assert_eq!(duration("1m30s"), Some(90_000_000));
        assert_eq!(duration("soon"), None);
        assert_eq!(duration(""), None);
    }
}
