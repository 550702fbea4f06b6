//! `cut`, `awk '{print $2}'`: parts of lines.

use super::tool::ShellTool;
use crate::shell::regex::{Regex, Syntax};
use crate::shell::room::{Done, MOST_BYTES};

pub const CUT: ShellTool = ShellTool {
    name: "cut",
    run: |call| {
        let (mut by, mut fields, mut bytes) = ("\t", "", false);
        let mut files: Vec<&str> = Vec::new();
        let mut words = call.words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            let mut value = |flag: &str| {
                if word.len() > 2 {
                    &word[flag.len()..]
                } else {
                    words.next().unwrap_or("")
                }
            };
            match word.get(..2) {
                Some("-d") => by = value("-d"),
                Some("-f") => fields = value("-f"),
                Some("-c" | "-b") => (fields, bytes) = (value("-c"), true),
                _ => files.push(word),
            }
        }
        let text = match call.input(&files) {
            Ok(text) => text,
            Err(done) => return done,
        };
        let chosen = |at: usize| {
            fields.split(',').any(|range| {
                let (from, to) = range.split_once('-').unwrap_or((range, range));
                at >= from.parse().unwrap_or(1) && at <= to.parse().unwrap_or(usize::MAX)
            })
        };
        let mut out = String::new();
        for line in text.lines() {
            if bytes {
                out.extend(
                    line.chars()
                        .enumerate()
                        .filter(|(at, _)| chosen(at + 1))
                        .map(|(_, c)| c),
                );
            } else if by.is_empty() || !line.contains(by) {
                out.push_str(line);
            } else {
                let parts: Vec<&str> = line
                    .split(by)
                    .enumerate()
                    .filter(|(at, _)| chosen(at + 1))
                    .map(|(_, part)| part)
                    .collect();
                out.push_str(&parts.join(by));
            }
            out.push('\n');
        }
        Done::stdout(out)
    },
    by_line: |_| true,
    ..ShellTool::PLAIN
};

/// `awk [-F SIGN] '[NR>1 | /pattern/ | $2=="text"] {print $1, "text" $2}'`
pub const AWK: ShellTool = ShellTool {
    name: "awk",
    run: |call| {
        let (mut by, mut program) = (None, None);
        let mut files: Vec<&str> = Vec::new();
        let mut words = call.words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            match word {
                "-F" => by = words.next(),
                flag if flag.starts_with("-F") => by = Some(&flag[2..]),
                word if program.is_none() => program = Some(word),
                word => files.push(word),
            }
        }
        let unknown = || {
            Done::failed(
                "awk: this shell knows conditions on NR, NF, $N and /patterns/, and {print …}\n",
                2,
            )
        };
        let Some((condition, action)) = program.and_then(|program| {
            let (condition, action) = program.split_once('{').unwrap_or((program, "print $0}"));
            Some((
                condition.trim(),
                action
                    .trim()
                    .strip_suffix('}')?
                    .trim()
                    .strip_prefix("print")?
                    .trim(),
            ))
        }) else {
            return unknown();
        };
        let text = match call.input(&files) {
            Ok(text) => text,
            Err(done) => return done,
        };
        let mut out = String::new();
        for (index, line) in text.lines().enumerate() {
            let fields: Vec<&str> = match by {
                Some(by) if !by.is_empty() => line.split(by).collect(),
                _ => line.split_whitespace().collect(),
            };
            let row = AwkRow {
                line,
                number: index + 1,
                fields,
            };
            match row.holds(condition) {
                None => return unknown(),
                Some(false) => {}
                Some(true) => out.push_str(&format!("{}\n", row.print(action))),
            }
            if out.len() > text.len() + MOST_BYTES {
                break;
            }
        }
        Done::stdout(out)
    },
    by_line: |words| !words.iter().any(|word| word.contains("NR")),
    ..ShellTool::PLAIN
};

/// Returns true if a text contains a match; `None` if the pattern is invalid.
fn finds(pattern: &str, text: &str) -> Option<bool> {
    Regex::new(
        pattern,
        Syntax {
            extended: true,
            ..Syntax::default()
        },
    )
    .ok()
    .map(|regex| regex.is_in(text))
}

struct AwkRow<'a> {
    line: &'a str,
    number: usize,
    fields: Vec<&'a str>,
}

impl AwkRow<'_> {
    fn value(&self, word: &str) -> String {
        match word.trim() {
            "$0" => self.line.to_owned(),
            "NR" => self.number.to_string(),
            "NF" => self.fields.len().to_string(),
            "$NF" => self
                .fields
                .last()
                .map_or(String::new(), |field| (*field).to_owned()),
            word => match word
                .strip_prefix('$')
                .and_then(|number| number.parse::<usize>().ok())
            {
                Some(number) => self
                    .fields
                    .get(number.wrapping_sub(1))
                    .map_or(String::new(), |field| (*field).to_owned()),
                None => word
                    .trim_matches('"')
                    .replace("\\n", "\n")
                    .replace("\\t", "\t"),
            },
        }
    }

    /// Returns true if the condition holds; `None` if it is not supported.
    fn holds(&self, condition: &str) -> Option<bool> {
        for part in condition.split("&&").map(str::trim) {
            if !part.is_empty() && !self.holds_part(part)? {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Evaluates one condition, without `&&`.
    fn holds_part(&self, condition: &str) -> Option<bool> {
        if let Some(pattern) = condition
            .strip_prefix('/')
            .and_then(|rest| rest.strip_suffix('/'))
        {
            return finds(pattern, self.line);
        }
        for sign in ["==", "!=", ">=", "<=", "!~", "~", ">", "<"] {
            let Some((left, right)) = condition.split_once(sign) else {
                continue;
            };
            let (left, right) = (self.value(left), self.value(right));
            let pattern = right.trim_matches('/');
            let order = match (left.parse::<f64>(), right.parse::<f64>()) {
                (Ok(a), Ok(b)) => a.total_cmp(&b),
                _ => left.cmp(&right),
            };
            return Some(match sign {
                "==" => order.is_eq(),
                "!=" => order.is_ne(),
                ">=" => order.is_ge(),
                "<=" => order.is_le(),
                ">" => order.is_gt(),
                "<" => order.is_lt(),
                "~" => finds(pattern, &left)?,
                _ => !finds(pattern, &left)?,
            });
        }
        None
    }

    /// Evaluates a `print` action: `$1, $2` with blanks, `$1 "-" $2` without.
    fn print(&self, action: &str) -> String {
        if action.is_empty() {
            return self.line.to_owned();
        }
        let (mut out, mut word, mut quoted) = (String::new(), String::new(), false);
        for c in action.chars().chain([' ']) {
            // Longer output is truncated.
            if out.len() > self.line.len() + MOST_BYTES {
                break;
            }
            match c {
                '"' => {
                    quoted = !quoted;
                    word.push(c);
                }
                ' ' | ',' if !quoted => {
                    if !word.is_empty() {
                        out.push_str(&self.value(&std::mem::take(&mut word)));
                    }
                    if c == ',' {
                        out.push(' ');
                    }
                }
                '$' if !quoted && !word.is_empty() => {
                    out.push_str(&self.value(&std::mem::take(&mut word)));
                    word.push(c);
                }
                c => word.push(c),
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::AwkRow;

    #[test]
    fn a_long_chain_of_conditions_is_no_deep_one() {
        let row = AwkRow {
            line: "a b",
            number: 1,
            fields: vec!["a", "b"],
        };
        let chain = format!("NR==1{}", " && $2==\"b\"".repeat(50_000));
        assert_eq!(row.holds(&chain), Some(true));
        assert_eq!(row.holds(&format!("{chain} && NF>2")), Some(false));
        assert_eq!(row.holds("nothing"), None);
        assert!(row.print(&"$0".repeat(100_000)).len() < 100_000);
    }
}
