//! `printf`: formats words; the format is reused while words are left.

use super::tool::ShellTool;
use crate::shell::numbers::{number, unescaped};
use crate::shell::room::{Done, MOST_BYTES};

/// Maximum field width.
const WIDEST: usize = 4_096;

pub const PRINTF: ShellTool = ShellTool {
    name: "printf",
    run: |call| {
        let words = call
            .words
            .strip_prefix(&["--".to_owned()])
            .unwrap_or(call.words);
        let Some((format, rest)) = words.split_first() else {
            return Done::failed("printf: usage: printf FORMAT [ARG]...\n", 1);
        };
        let mut printer = Printer {
            words: rest.iter().map(String::as_str),
            done: Done::default(),
        };
        loop {
            let left = printer.words.len();
            if !printer.print(format) || printer.words.len() == 0 || printer.words.len() == left {
                return printer.done;
            }
            // Longer output is truncated.
            if printer.done.out.len() > 16 * MOST_BYTES {
                return printer.done;
            }
        }
    },
    ..ShellTool::PLAIN
};

struct Printer<'a, I: ExactSizeIterator<Item = &'a str>> {
    words: I,
    done: Done,
}

/// Format of a field.
#[derive(Default)]
struct Field {
    left: bool,
    zeros: bool,
    plus: bool,
    space: bool,
    other: bool,
    width: usize,
    precision: Option<usize>,
}

impl Field {
    fn padded(&self, text: &str, number: bool) -> String {
        let gap = self.width.min(WIDEST).saturating_sub(text.chars().count());
        if self.left {
            return format!("{text}{}", " ".repeat(gap));
        }
        if number && self.zeros {
            let digits = text.find(|c: char| c.is_ascii_hexdigit()).unwrap_or(0);
            return format!("{}{}{}", &text[..digits], "0".repeat(gap), &text[digits..]);
        }
        format!("{}{text}", " ".repeat(gap))
    }

    fn signed(&self, digits: String, negative: bool) -> String {
        let sign = match negative {
            true => "-",
            false if self.plus => "+",
            false if self.space => " ",
            false => "",
        };
        format!("{sign}{digits}")
    }
}

impl<'a, I: ExactSizeIterator<Item = &'a str>> Printer<'a, I> {
    /// Applies the format once; returns false if it ends the output.
    fn print(&mut self, format: &str) -> bool {
        let mut chars = format.chars().peekable();
        let mut plain = String::new();
        while let Some(c) = chars.next() {
            if c != '%' {
                plain.push(c);
                if c == '\\' {
                    plain.extend(chars.next());
                }
                continue;
            }
            self.done
                .out
                .push_str(&unescaped(&std::mem::take(&mut plain)));
            let mut field = Field::default();
            while let Some(flag) = chars.next_if(|c| "-0+ #".contains(*c)) {
                match flag {
                    '-' => field.left = true,
                    '0' => field.zeros = true,
                    '+' => field.plus = true,
                    ' ' => field.space = true,
                    _ => field.other = true,
                }
            }
            let mut size = |words: &mut I| {
                if chars.next_if_eq(&'*').is_some() {
                    let value = words.next().and_then(number).unwrap_or(0);
                    return (
                        value < 0,
                        usize::try_from(value.unsigned_abs()).unwrap_or(WIDEST),
                    );
                }
                let mut value = 0_usize;
                while let Some(digit) = chars.next_if(char::is_ascii_digit) {
                    value = value
                        .saturating_mul(10)
                        .saturating_add(digit as usize - '0' as usize);
                }
                (false, value)
            };
            let (left, width) = size(&mut self.words);
            (field.left, field.width) = (field.left || left, width);
            if chars.next_if_eq(&'.').is_some() {
                let mut value = 0_usize;
                while let Some(digit) = chars.next_if(char::is_ascii_digit) {
                    value = value
                        .saturating_mul(10)
                        .saturating_add(digit as usize - '0' as usize);
                }
                field.precision = Some(value.min(WIDEST));
            }
            while chars.next_if(|c| matches!(c, 'l' | 'h' | 'q')).is_some() {}
            match chars.next() {
                Some('%') => self.done.out.push('%'),
                Some(
                    kind @ ('s' | 'b' | 'c' | 'd' | 'i' | 'u' | 'x' | 'X' | 'o' | 'f' | 'F' | 'e'
                    | 'g'),
                ) => {
                    let word = self.words.next();
                    let text = self.field(&field, kind, word);
                    self.done.out.push_str(&text);
                }
                _ => {
                    self.done
                        .err
                        .push_str(&format!("printf: {format}: invalid format\n"));
                    self.done.code = 1;
                    return false;
                }
            }
        }
        self.done.out.push_str(&unescaped(&plain));
        true
    }

    fn field(&mut self, field: &Field, kind: char, word: Option<&str>) -> String {
        let text = word.unwrap_or("");
        match kind {
            's' => {
                return field.padded(
                    &text
                        .chars()
                        .take(field.precision.unwrap_or(usize::MAX))
                        .collect::<String>(),
                    false,
                );
            }
            'b' => return field.padded(&unescaped(text), false),
            'c' => return field.padded(&text.chars().take(1).collect::<String>(), false),
            'f' | 'F' | 'e' | 'g' => {
                let value = text
                    .trim()
                    .parse::<f64>()
                    .unwrap_or_else(|_| self.bad(text) as f64);
                let (size, digits) = (value.abs(), field.precision.unwrap_or(6));
                let digits = if kind == 'g' && field.precision.is_none() {
                    size.to_string()
                } else {
                    format!("{size:.digits$}")
                };
                return field.padded(&field.signed(digits, value.is_sign_negative()), true);
            }
            _ => {}
        }
        let value = match text
            .strip_prefix(['\'', '"'])
            .and_then(|rest| rest.chars().next())
        {
            Some(c) => i64::from(u32::from(c)),
            None if word.is_none() || text.is_empty() => 0,
            None => number(text.trim()).unwrap_or_else(|| self.bad(text)),
        };
        let mut digits = match kind {
            'x' => format!("{}{value:x}", if field.other { "0x" } else { "" }),
            'X' => format!("{}{value:X}", if field.other { "0X" } else { "" }),
            'o' => format!("{value:o}"),
            'u' => (value as u64).to_string(),
            _ => value.unsigned_abs().to_string(),
        };
        if let Some(least) = field.precision {
            digits = format!("{}{digits}", "0".repeat(least.saturating_sub(digits.len())));
        }
        let signed = matches!(kind, 'd' | 'i');
        field.padded(
            &if signed {
                field.signed(digits, value < 0)
            } else {
                digits
            },
            field.precision.is_none(),
        )
    }

    fn bad(&mut self, text: &str) -> i64 {
        self.done
            .err
            .push_str(&format!("sh: invalid number '{text}'\n"));
        self.done.code = 1;
        0
    }
}
