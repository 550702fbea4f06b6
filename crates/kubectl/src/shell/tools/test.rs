//! `test` and `[`: conditions.

use super::tool::{ShellTool, ToolCall};
use crate::shell::numbers;
use crate::shell::room::{CommandRoom, Done};

/// Maximum nesting of parentheses.
const DEEPEST: usize = 16;

pub const TEST: ShellTool = ShellTool {
    name: "test",
    run: |call| check(call, call.words),
    ..ShellTool::PLAIN
};

pub const BRACKET: ShellTool = ShellTool {
    name: "[",
    run: |call| bracket(call, "]"),
    ..ShellTool::PLAIN
};

pub const DOUBLE_BRACKET: ShellTool = ShellTool {
    name: "[[",
    run: |call| bracket(call, "]]"),
    ..ShellTool::PLAIN
};

fn bracket(call: &ToolCall<'_, '_, '_>, close: &str) -> Done {
    match call.words.split_last() {
        Some((end, words)) if end == close => check(call, words),
        _ => Done::failed(format!("sh: missing {close}\n"), 2),
    }
}

fn check(call: &ToolCall<'_, '_, '_>, words: &[String]) -> Done {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut test = Test {
        room: call.room,
        words: &words,
        at: 0,
        depth: 0,
    };
    let holds = match words.as_slice() {
        [] => Ok(false),
        // Three words around an operator, and a single word, are interpreted by their number, whatever they look like.
        [left, sign, right] if is_binary(sign) && !matches!(*sign, "-a" | "-o") => {
            binary(left, sign, right)
        }
        [text] => Ok(!text.is_empty()),
        _ => test.or().and_then(|holds| match words.get(test.at) {
            None => Ok(holds),
            Some(word) => Err(format!("{word}: unknown operand")),
        }),
    };
    match holds {
        Ok(holds) => Done {
            code: i32::from(!holds),
            ..Done::default()
        },
        Err(fault) => Done::failed(format!("sh: {fault}\n"), 2),
    }
}

struct Test<'a, 'r, 'c> {
    room: &'a CommandRoom<'r, 'c>,
    words: &'a [&'a str],
    at: usize,
    depth: usize,
}

impl Test<'_, '_, '_> {
    fn take(&mut self, word: &str) -> bool {
        let found = self.words.get(self.at) == Some(&word);
        self.at += usize::from(found);
        found
    }

    fn or(&mut self) -> Result<bool, String> {
        let mut holds = self.and()?;
        while self.take("-o") {
            holds |= self.and()?;
        }
        Ok(holds)
    }

    fn and(&mut self) -> Result<bool, String> {
        let mut holds = self.not()?;
        while self.take("-a") {
            holds &= self.not()?;
        }
        Ok(holds)
    }

    fn not(&mut self) -> Result<bool, String> {
        let mut turned = false;
        while !self
            .words
            .get(self.at + 1)
            .is_some_and(|sign| is_binary(sign))
            && self.take("!")
        {
            turned = !turned;
        }
        Ok(self.one()? != turned)
    }

    fn one(&mut self) -> Result<bool, String> {
        let Some(word) = self.words.get(self.at).copied() else {
            return Err("argument expected".to_owned());
        };
        let (next, third) = (
            self.words.get(self.at + 1).copied(),
            self.words.get(self.at + 2).copied(),
        );
        if let (Some(sign), Some(right)) = (
            next.filter(|sign| is_binary(sign) && !matches!(*sign, "-a" | "-o")),
            third,
        ) {
            self.at += 3;
            return binary(word, sign, right);
        }
        if word == "(" {
            self.at += 1;
            self.depth += 1;
            if self.depth > DEEPEST {
                return Err("too deeply nested".to_owned());
            }
            let holds = self.or()?;
            self.depth -= 1;
            return if self.take(")") {
                Ok(holds)
            } else {
                Err("closing paren expected".to_owned())
            };
        }
        self.at += 1;
        let is_folder = |path: &str| path == "/" || !self.room.names(path).is_empty();
        let Some(operand) =
            next.filter(|next| !matches!(*next, "-a" | "-o" | ")") || third.is_some_and(is_binary))
        else {
            return Ok(!word.is_empty());
        };
        let holds = match word {
            "-n" => !operand.is_empty(),
            "-z" => operand.is_empty(),
            "-f" | "-r" | "-w" => self.room.read(operand).is_some(),
            "-s" => self.room.read(operand).is_some_and(|text| !text.is_empty()),
            "-e" => self.room.read(operand).is_some() || is_folder(operand),
            "-d" => self.room.read(operand).is_none() && is_folder(operand),
            "-x" | "-L" | "-h" | "-t" | "-b" | "-c" | "-p" | "-S" => false,
            _ => return Ok(!word.is_empty()),
        };
        self.at += 1;
        Ok(holds)
    }
}

fn is_binary(sign: &str) -> bool {
    matches!(
        sign,
        "=" | "==" | "!=" | "<" | ">" | "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-a" | "-o"
    )
}

fn binary(left: &str, sign: &str, right: &str) -> Result<bool, String> {
    let number = |text: &str| {
        let digits = text.trim().trim_start_matches(['-', '+']);
        let plain = digits.chars().all(|c| c.is_ascii_digit());
        text.trim()
            .parse::<i64>()
            .ok()
            .or(numbers::number(text).filter(|_| plain))
            .ok_or(format!("{text}: bad number"))
    };
    Ok(match sign {
        "=" | "==" => left == right,
        "!=" => left != right,
        "<" => left < right,
        ">" => left > right,
        "-eq" => number(left)? == number(right)?,
        "-ne" => number(left)? != number(right)?,
        "-lt" => number(left)? < number(right)?,
        "-le" => number(left)? <= number(right)?,
        "-gt" => number(left)? > number(right)?,
        _ => number(left)? >= number(right)?,
    })
}
