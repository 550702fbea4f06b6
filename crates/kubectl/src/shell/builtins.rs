//! Builtins of the shell: variables, parameters, exit, and running words.

use super::frame::{FrameKind, ScriptFrame};
use super::machine::{Flow, Machine};
use super::parse;
use super::room::{Done, MOST_BYTES};
use super::script::{Piece, ShellScript, Simple, Step, is_name};
use crate::client::Client;
use std::rc::Rc;

/// Builtins that write no files.
pub(super) const READ: [&str; 17] = [
    "true", "false", ":", "exit", "logout", "return", "set", "shift", "read", "local", "export",
    "unset", "cd", "break", "continue", "wait", "trap",
];

/// Maximum number of commands that `xargs` runs.
const MOST_RUNS: usize = 1_000;

/// Runs a builtin; `None` if the name is none.
pub(super) fn call(
    machine: &mut Machine,
    client: &mut Client<'_>,
    short: &str,
    rest: &[String],
    input: Option<&str>,
    calls: bool,
) -> Option<Flow> {
    let number = |at: usize| rest.get(at).and_then(|word| word.parse::<i32>().ok());
    let done = |code: i32| {
        Some(Flow::Done(Done {
            code,
            ..Done::default()
        }))
    };
    match short {
        "exit" | "logout" => Some(Flow::Ends(number(0).unwrap_or(machine.code))),
        "return" => Some(Flow::Returns(number(0).unwrap_or(machine.code))),
        "true" | ":" | "alias" | "clear" | "wait" | "trap" | "break" | "continue" => done(0),
        "false" => done(1),
        "set" => {
            // Options are accepted and ignored; the words after them are the parameters.
            let options = rest
                .iter()
                .take_while(|word| word.starts_with(['-', '+']) && *word != "--")
                .count();
            let words = rest[options..]
                .strip_prefix(&["--".to_owned()])
                .or(Some(&rest[options..]).filter(|words| {
                    // `set -o pipefail` changes no parameters.
                    !words.is_empty() && !rest[..options].iter().any(|word| word.ends_with('o'))
                }));
            if let Some(words) = words {
                set_args(machine, words);
            }
            done(0)
        }
        "shift" => {
            let count = number(0).map_or(1, |count| usize::try_from(count).unwrap_or(usize::MAX));
            let args = machine.args().get(1..).unwrap_or_default();
            if count > args.len() {
                return done(1);
            }
            let left = args[count..].to_vec();
            set_args(machine, &left);
            done(0)
        }
        "export" | "readonly" | "local" => {
            for word in rest.iter().filter(|word| !word.starts_with('-')) {
                let (name, value) = word
                    .split_once('=')
                    .map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
                if !is_name(name) {
                    return Some(Flow::Done(Done::failed(
                        format!("sh: {name}: bad variable name\n"),
                        2,
                    )));
                }
                if short == "local" {
                    let old = machine.vars.get(name).cloned();
                    let frame = machine
                        .frames
                        .iter_mut()
                        .rev()
                        .find(|frame| frame.kind == FrameKind::Function);
                    if let Some(frame) =
                        frame.filter(|frame| frame.locals.iter().all(|(known, _)| known != name))
                    {
                        frame.locals.push((name.to_owned(), old));
                    }
                }
                if let Some(value) = value {
                    machine.assign(name, value.to_owned());
                }
            }
            done(0)
        }
        "unset" => {
            rest.iter().for_each(|name| drop(machine.vars.remove(name)));
            done(0)
        }
        "cd" => {
            let to = machine
                .room(client)
                .absolute(rest.first().map_or("/", String::as_str));
            machine.assign("PWD", to);
            done(0)
        }
        "read" => done(read(machine, rest, input)),
        "eval" => Some(text(machine, client, &rest.join(" "), calls)),
        "." | "source" => Some(
            match rest
                .first()
                .map(|file| (file, machine.room(client).read(file)))
            {
                Some((_, Some(script))) => text(machine, client, &script, calls),
                Some((file, None)) => Flow::Done(Done::failed(
                    format!("sh: .: can't open '{file}': No such file or directory\n"),
                    2,
                )),
                None => Flow::Done(Done::default()),
            },
        ),
        "xargs" => Some(xargs(machine, client, rest, input, calls)),
        _ => None,
    }
}

/// Replaces the positional parameters.
fn set_args(machine: &mut Machine, words: &[String]) {
    let name = machine.args().first().cloned().unwrap_or_default();
    let args = std::iter::once(name).chain(words.iter().cloned()).collect();
    match machine
        .frames
        .iter_mut()
        .rev()
        .find(|frame| frame.args.is_some())
    {
        Some(frame) => frame.args = Some(args),
        None => machine.args = args,
    }
}

/// Runs a text as part of the script.
fn text(machine: &mut Machine, client: &mut Client<'_>, text: &str, calls: bool) -> Flow {
    match parse::parse(text) {
        Err(fault) => Flow::Done(Done::failed(format!("sh: {fault}\n"), 2)),
        Ok(script) => run(machine, client, script, calls),
    }
}

fn run(machine: &mut Machine, client: &mut Client<'_>, script: ShellScript, calls: bool) -> Flow {
    let frame = ScriptFrame::new(FrameKind::Block, Rc::new(script));
    if calls {
        Flow::Calls(Box::new(frame))
    } else {
        Flow::Done(machine.at_once(client, frame, false))
    }
}

/// Runs `read [-r] NAME…`: splits a line among the names; the last gets the rest.
fn read(machine: &mut Machine, rest: &[String], input: Option<&str>) -> i32 {
    let raw = rest.iter().any(|word| word == "-r");
    let mut words = rest.iter();
    let mut names: Vec<&str> = Vec::new();
    while let Some(word) = words.next() {
        match word.as_str() {
            // Skips the values of the options.
            "-p" | "-t" | "-n" | "-d" => drop(words.next()),
            flag if flag.starts_with('-') => {}
            name => names.push(name),
        }
    }
    let line = match input {
        Some(text) => text
            .lines()
            .next()
            .map(|line| (line.to_owned(), text.contains('\n'))),
        None => machine.read_line(),
    };
    let (line, whole) = line.unwrap_or_default();
    let line = if raw { line } else { unescaped(&line) };
    let letters = machine
        .vars
        .get("IFS")
        .cloned()
        .unwrap_or_else(|| " \t\n".to_owned());
    let blank = |c: char| c.is_whitespace() && letters.contains(c);
    let mut left = line.trim_matches(blank);
    if names.is_empty() {
        names.push("REPLY");
    }
    for (index, name) in names.iter().enumerate() {
        let end = if index + 1 == names.len() {
            left.len()
        } else {
            left.find(|c| letters.contains(c)).unwrap_or(left.len())
        };
        let value = left[..end].to_owned();
        left = left[end..].trim_start_matches(blank);
        if let Some(next) = left.chars().next().filter(|c| letters.contains(*c)) {
            left = left[next.len_utf8()..].trim_start_matches(blank);
        }
        machine.assign(name, value);
    }
    i32::from(!whole)
}

/// Removes backslashes, each of which keeps the letter after it.
fn unescaped(line: &str) -> String {
    let (mut out, mut chars) = (String::new(), line.chars());
    while let Some(c) = chars.next() {
        out.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    out
}

/// Returns the words that `xargs` runs: those after its own flags.
pub(super) fn run_by_xargs(words: &[String]) -> &[String] {
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        at += if matches!(word.as_str(), "-n" | "-I" | "-L" | "-P" | "-s") {
            2
        } else {
            1
        };
    }
    words.get(at..).unwrap_or_default()
}

/// Runs `xargs [-n COUNT] [-I SIGN] WORDS`: the words of the input are appended, or replace the sign.
fn xargs(
    machine: &mut Machine,
    client: &mut Client<'_>,
    rest: &[String],
    input: Option<&str>,
    calls: bool,
) -> Flow {
    let command = run_by_xargs(rest);
    let flags = &rest[..rest.len() - command.len()];
    let value = |flag: &str| {
        let at = flags.iter().position(|word| word.starts_with(flag))?;
        if flags[at].len() > flag.len() {
            Some(&flags[at][flag.len()..])
        } else {
            flags.get(at + 1).map(String::as_str)
        }
    };
    let text = input.map_or_else(|| machine.unread(), str::to_owned);
    let echo = ["echo".to_owned()];
    let command = if command.is_empty() { &echo } else { command };
    let mut runs: Vec<Vec<String>> = Vec::new();
    if let Some(sign) = value("-I").filter(|sign| !sign.is_empty()) {
        for line in text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .take(MOST_RUNS)
        {
            runs.push(
                command
                    .iter()
                    .map(|word| word.replace(sign, line))
                    .collect(),
            );
        }
    } else {
        let words: Vec<&str> = text.split_whitespace().collect();
        let count = value("-n")
            .or(value("-L"))
            .and_then(|count| count.parse().ok())
            .unwrap_or(usize::MAX)
            .max(1);
        let with = |words: &[&str]| {
            command
                .iter()
                .cloned()
                .chain(words.iter().map(|word| (*word).to_owned()))
                .collect()
        };
        runs.extend(
            words
                .chunks(count.min(words.len().max(1)))
                .take(MOST_RUNS)
                .map(with),
        );
        if words.is_empty() && !flags.iter().any(|flag| flag == "-r") {
            runs.push(command.to_vec());
        }
    }
    if runs.iter().flatten().map(String::len).sum::<usize>() > 4 * MOST_BYTES {
        machine.full = true;
        return Flow::Done(Done::failed("", 2));
    }
    let simple = |words: Vec<String>| Simple {
        words: words
            .into_iter()
            .map(|word| vec![Piece::Quoted(word)])
            .collect(),
        ..Simple::default()
    };
    let steps = runs
        .into_iter()
        .map(|words| Step::Pipeline(vec![simple(words)], false))
        .collect();
    run(machine, client, ShellScript { steps }, calls)
}
