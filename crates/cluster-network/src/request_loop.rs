//! Requests that a container sends in an endless loop: `while sleep 0.01; do wget -q -O- http://web; done`.
//!
//! The script is followed step by step, as if each of its requests were answered, until it repeats itself. A loop whose end depends on
//! something else is not followed, as if it sent nothing; what other programs do takes no time and sends nothing.

use crate::http_client::ClientCall;
use controller_runtime::load::{LoopRequest, RequestRound};
use k8s_model::Duration;
use k8s_model::time::{SECOND, duration};
use shell_syntax::script::{Expansion, Parameter, Piece, ShellScript, ShellWord, Simple, Step};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

/// Maximum number of steps that are followed; the words of a list and texts count as well.
const MAX_STEPS: usize = 20_000;
/// Number of bytes of a text that count as a step.
const STEP_BYTES: usize = 64;
/// Maximum number of requests in a round.
const MAX_REQUESTS: usize = 1_000;
/// Interval of `watch`.
const WATCH_US: Duration = 2 * SECOND;
/// Maximum nesting of scripts and functions.
const MAX_DEPTH: usize = 8;

/// Returns true if a text names a client, so that it may send requests.
pub fn may_request(text: &str) -> bool {
    text.contains("wget") || text.contains("curl")
}

/// Returns one round of the loop of requests in which a command ends up; `variable` returns a variable of its environment.
pub fn round_of_command(
    words: &[String],
    variable: &dyn Fn(&str) -> Option<String>,
) -> Option<RequestRound> {
    if !words.iter().any(|word| may_request(word)) {
        return None;
    }
    let words: Vec<Option<String>> = words.iter().cloned().map(Some).collect();
    round(variable, |walk| walk.words(&words))
}

/// Returns one round of the loop of requests in which a script ends up; `variable` returns a variable of its environment.
pub fn round_of_script(
    script: &ShellScript,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Option<RequestRound> {
    round(variable, |walk| walk.script(script))
}

fn round(
    variable: &dyn Fn(&str) -> Option<String>,
    follow: impl FnOnce(&mut ScriptWalk<'_>) -> Result<(), Stop>,
) -> Option<RequestRound> {
    let mut walk = ScriptWalk {
        environment: variable,
        variables: BTreeMap::new(),
        functions: BTreeMap::new(),
        round: RequestRound::default(),
        code: Some(true),
        steps: 0,
        depth: 0,
    };
    match follow(&mut walk) {
        Err(Stop::Repeats(round)) if !round.requests.is_empty() => Some(round),
        _ => None,
    }
}

/// Reason why a script is not followed to its end.
enum Stop {
    /// It repeats this for ever.
    Repeats(RequestRound),
    /// What follows depends on something that is not known, or the script ends here.
    Unknown,
}

/// Walk through a script, with what it has done so far.
struct ScriptWalk<'v> {
    environment: &'v dyn Fn(&str) -> Option<String>,
    /// Variables that the script has set; `None` if the value is not known.
    variables: BTreeMap<String, Option<String>>,
    functions: BTreeMap<String, Rc<ShellScript>>,
    /// Requests and pauses up to here.
    round: RequestRound,
    /// Success of the last command; `None` if it is not known.
    code: Option<bool>,
    steps: usize,
    depth: usize,
}

impl ScriptWalk<'_> {
    /// Follows a script to its end.
    fn script(&mut self, script: &ShellScript) -> Result<(), Stop> {
        if self.depth == MAX_DEPTH {
            return Err(Stop::Unknown);
        }
        self.depth += 1;
        let mut at = 0;
        let mut lists: Vec<VecDeque<String>> = Vec::new();
        // What was done before the second round of each loop.
        let mut rounds: BTreeMap<usize, RequestRound> = BTreeMap::new();
        while let Some(step) = script.steps.get(at) {
            self.count(1)?;
            at += 1;
            let target = match step {
                Step::Pipeline(commands, negated) => {
                    for command in commands {
                        self.command(command)?;
                    }
                    self.code = self.code.map(|good| good != *negated);
                    continue;
                }
                Step::Jump(target) => *target,
                Step::JumpIf(when, target) => match self.code {
                    Some(good) if good == *when => *target,
                    Some(_) => continue,
                    None => return Err(Stop::Unknown),
                },
                Step::Succeed => {
                    self.code = Some(true);
                    continue;
                }
                Step::For(words) => {
                    let mut list = VecDeque::new();
                    for word in words {
                        list.extend(self.list(word)?);
                    }
                    self.count(list.len())?;
                    lists.push(list);
                    continue;
                }
                Step::Next(name, end) => match lists.last_mut().and_then(VecDeque::pop_front) {
                    Some(word) => {
                        self.variables.insert(name.clone(), Some(word));
                        continue;
                    }
                    None => {
                        lists.pop();
                        *end
                    }
                },
                Step::Leave(depth, target) => {
                    lists.truncate(*depth);
                    *target
                }
                Step::Case(..) => return Err(Stop::Unknown),
                Step::Define(name, script) => {
                    self.functions.insert(name.clone(), script.clone());
                    continue;
                }
            };
            // Nothing changes between two rounds of a loop that a condition does not end, except the words of a `for`.
            let is_endless = target < at && !matches!(script.steps[target], Step::Next(..));
            if is_endless && let Some(before) = rounds.insert(target, self.round.clone()) {
                return Err(Stop::Repeats(RequestRound {
                    requests: self.round.requests.split_off(before.requests.len()),
                    pause: self.round.pause - before.pause,
                }));
            }
            at = target;
        }
        self.depth -= 1;
        Ok(())
    }

    /// Counts work, which is limited.
    fn count(&mut self, steps: usize) -> Result<(), Stop> {
        self.steps = self.steps.saturating_add(steps);
        match self.steps > MAX_STEPS || self.round.requests.len() > MAX_REQUESTS {
            true => Err(Stop::Unknown),
            false => Ok(()),
        }
    }

    /// Follows a command of a pipeline.
    fn command(&mut self, command: &Simple) -> Result<(), Stop> {
        self.code = Some(true);
        for (name, value) in &command.assigns {
            let value = self.text(value)?;
            self.variables.insert(name.clone(), value);
        }
        if let Some(block) = &command.block {
            return self.script(&block.script);
        }
        let words: Vec<Option<String>> = command
            .words
            .iter()
            .map(|word| self.text(word))
            .collect::<Result<_, _>>()?;
        self.words(&words)
    }

    /// Follows a command, given as its words; `None` is a word that is not known.
    fn words(&mut self, words: &[Option<String>]) -> Result<(), Stop> {
        let mut words = words;
        let name = loop {
            let Some((first, rest)) = words.split_first() else {
                return Ok(());
            };
            let Some(name) = first.as_deref().map(program_name) else {
                self.code = None;
                return Ok(());
            };
            words = match name {
                "exec" | "time" | "command" | "nice" => rest,
                "timeout" => rest.get(1..).unwrap_or_default(),
                name => break name,
            };
        };
        let known: Vec<&str> = words.iter().filter_map(Option::as_deref).collect();
        if let Some(function) = self.functions.get(name).cloned() {
            return self.script(&function);
        }
        match name {
            "export" => {
                for (name, value) in known[1..].iter().filter_map(|word| word.split_once('=')) {
                    self.variables
                        .insert(name.to_owned(), Some(value.to_owned()));
                }
            }
            "sleep" | "usleep" => {
                let span = match known[..] {
                    [_, span] if words.len() == 2 && name == "sleep" => sleep_time(span),
                    [_, span] if words.len() == 2 => span.parse().ok(),
                    _ => None,
                };
                let pause = self.round.pause.checked_add(span.ok_or(Stop::Unknown)?);
                self.round.pause = pause.ok_or(Stop::Unknown)?;
            }
            "sh" | "bash" | "ash" => match known[..] {
                [_, flags, text, ..] if is_script_flag(flags) => {
                    let script = shell_syntax::parse(text).map_err(|_| Stop::Unknown)?;
                    return self.script(&script);
                }
                _ => self.code = None,
            },
            "watch" => return self.watch(&known[1..]),
            "true" | ":" | "echo" | "printf" | "date" | "hostname" | "set" | "cd" | "cat"
            | "touch" | "mkdir" | "trap" => {}
            "false" => self.code = Some(false),
            "exit" | "return" => return Err(Stop::Unknown),
            _ => match ClientCall::of(&known) {
                Some(call) if !call.urls.is_empty() => {
                    let requests = call.urls.iter().map(|url| LoopRequest {
                        url: (*url).into(),
                        limit: call.limit,
                    });
                    self.round.requests.extend(requests);
                }
                _ => self.code = None,
            },
        }
        Ok(())
    }

    /// Follows `watch`, which repeats the words after its flags.
    fn watch(&mut self, words: &[&str]) -> Result<(), Stop> {
        let (mut interval, mut words) = (WATCH_US, words);
        while let [flag, rest @ ..] = words
            && flag.starts_with('-')
        {
            words = rest;
            let value = flag.strip_prefix("-n").or(flag.strip_prefix("--interval="));
            let value = match value {
                Some("") => {
                    let (value, rest) = rest.split_first().ok_or(Stop::Unknown)?;
                    words = rest;
                    Some(*value)
                }
                value => value,
            };
            if let Some(value) = value {
                interval = sleep_time(value).ok_or(Stop::Unknown)?;
            }
        }
        let script = shell_syntax::parse(&words.join(" ")).map_err(|_| Stop::Unknown)?;
        self.round = RequestRound::default();
        self.script(&script)?;
        let mut round = std::mem::take(&mut self.round);
        round.pause = round.pause.saturating_add(interval);
        Err(Stop::Repeats(round))
    }

    /// Returns the words of a list: an unquoted value is split.
    fn list(&mut self, word: &ShellWord) -> Result<Vec<String>, Stop> {
        if let [Piece::Output(script, _)] = word.as_slice() {
            return sequence(script).ok_or(Stop::Unknown);
        }
        let text = self.text(word)?.ok_or(Stop::Unknown)?;
        let quoted = word.iter().any(|piece| matches!(piece, Piece::Quoted(_)));
        Ok(match quoted {
            true => vec![text],
            false => text.split_whitespace().map(str::to_owned).collect(),
        })
    }

    /// Returns the text of a word, if it is known. Commands whose output it contains are followed.
    fn text(&mut self, word: &ShellWord) -> Result<Option<String>, Stop> {
        let mut text = Some(String::new());
        for piece in word {
            let part = match piece {
                Piece::Text(part) | Piece::Quoted(part) => Some(part.clone()),
                Piece::Variable(parameter, _) => self.variable(parameter)?,
                Piece::Output(script, _) => {
                    self.script(script)?;
                    None
                }
                Piece::Sum(..) => None,
            };
            self.count(part.as_ref().map_or(0, String::len) / STEP_BYTES)?;
            text = text.zip(part).map(|(text, part)| text + &part);
        }
        Ok(text)
    }

    fn variable(&mut self, parameter: &Parameter) -> Result<Option<String>, Stop> {
        let value = match self.variables.get(&parameter.name) {
            Some(value) => match value {
                Some(value) => Some(value.clone()),
                None => return Ok(None),
            },
            None => (self.environment)(&parameter.name),
        };
        Ok(match &parameter.change {
            Expansion::None => Some(value.unwrap_or_default()),
            Expansion::Default(empty, default) | Expansion::Assign(empty, default) => {
                match value.filter(|value| !(*empty && value.is_empty())) {
                    Some(value) => Some(value),
                    None => self.text(default)?,
                }
            }
            _ => None,
        })
    }
}

fn program_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Returns true for `-c`, also beside other flags: `-ec`.
fn is_script_flag(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.ends_with('c')
}

/// Returns the time of `sleep`: a number of seconds, or one with a unit.
fn sleep_time(text: &str) -> Option<Duration> {
    match text.ends_with(|last: char| last.is_ascii_digit()) {
        true => duration(&[text, "s"].concat()),
        false => duration(text),
    }
}

/// Returns the numbers that `$(seq …)` prints.
fn sequence(script: &ShellScript) -> Option<Vec<String>> {
    let [Step::Pipeline(commands, false)] = &script.steps[..] else {
        return None;
    };
    let [command] = &commands[..] else {
        return None;
    };
    let words = command
        .words
        .iter()
        .map(|word| shell_syntax::script::literal(word));
    let words: Vec<String> = words.collect::<Option<_>>()?;
    let number = |word: &String| word.parse::<usize>().ok();
    let (first, last) = match &words[..] {
        [name, last] if name == "seq" => (1, number(last)?),
        [name, first, last] if name == "seq" => (number(first)?, number(last)?),
        _ => return None,
    };
    let numbers = (first..=last).take(MAX_STEPS);
    Some(numbers.map(|number| number.to_string()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_model::time::MS;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    /// Returns the addresses of a round and its pause, in milliseconds.
    fn round(script: &str) -> Option<(String, u64)> {
        let variable = |name: &str| (name == "TARGET").then(|| "http://target".to_owned());
        let round = round_of_command(&words(&["/bin/sh", "-c", script]), &variable)?;
        let urls: Vec<&str> = round.requests.iter().map(|one| one.url.as_str()).collect();
        Some((urls.join(" "), round.pause / MS))
    }

    #[test]
    fn endless_loops_of_requests_have_a_round() {
        let cases = [
            // The walkthrough of the HorizontalPodAutoscaler.
            (
                "while sleep 0.01; do wget -q -O- http://php-apache; done",
                ("http://php-apache", 10),
            ),
            (
                "while true; do curl -s web:8080/x > /dev/null; sleep 1; done",
                ("web:8080/x", 1_000),
            ),
            (
                "while :; do wget -qO /dev/null -T 2 web || echo down; usleep 5000; done",
                ("web", 5),
            ),
            (
                "echo begin; sleep 5\nwhile true\ndo\n  curl -sm 1 $TARGET/a\n  curl \"${OTHER:-b}\"; sleep 0.5; done",
                ("http://target/a b", 500),
            ),
            ("until false; do curl -o /dev/null a b; done", ("a b", 0)),
            (
                "for i in 1 2; do while true; do curl c$i; done & done; wait",
                ("c1", 0),
            ),
            (
                "while true; do for i in $(seq 3); do wget -q -O- d; sleep 0.1; done; done",
                ("d d d", 300),
            ),
            (
                "hit() { curl -s $1 e; }; U=x; while true; do hit; echo $(curl -s $U); done",
                (" e x", 0),
            ),
            (
                "while true; do if curl -s f; then sleep 2; continue; fi; sleep 9; done",
                ("f", 2_000),
            ),
            (
                "while true; do timeout 5 wget -q -O- g | head -1; sleep 1m; done > /tmp/log 2>&1",
                ("g", 60_000),
            ),
            ("watch -n 0.5 'wget -q -O- i; sleep 1'", ("i", 1_500)),
            ("sleep 3; watch curl -s j", ("j", 2_000)),
            ("exec bash -c 'while true; do curl h; done'", ("h", 0)),
        ];
        for (script, (urls, pause)) in cases {
            let expected = Some((urls.to_owned(), pause));
            assert_eq!(round(script), expected, "{script}");
        }
    }

    #[test]
    fn other_scripts_have_none() {
        for script in [
            "wget -q -O- http://web",
            "for i in 1 2 3; do curl web; done",
            // Ends with the first answer.
            "until curl -s web; do sleep 1; done",
            "while ! wget -q web; do sleep 1; done",
            "while true; do curl web && break; done",
            "while true; do curl web; exit; done",
            "while [ $n -lt 9 ]; do curl web; n=$((n + 1)); done",
            "while read line; do curl $line; done",
            "while true; do date; sleep 1; done",
            "while true; do curl web; sleep $((RANDOM % 5)); done",
            "while true; do curl; done",
            "while true; do curl web",
            "while true; do sleep infinity; curl web; done",
            "f() { f; }; f",
            "x=$(date); while true; do $x curl a; done",
            "x=aa; for i in $(seq 90); do x=$x$x; done; while true; do curl $x; done",
            "for i in $(seq 9999); do for j in $(seq 9999); do break; done; done; while true; do curl a; done",
        ] {
            assert_eq!(round(script), None, "{script}");
        }
    }

    #[test]
    fn a_long_command_is_followed() {
        let script = format!("{} watch curl web", "exec ".repeat(50_000));
        assert_eq!(round(&script), Some(("web".to_owned(), 2_000)));
        let nested = format!(
            "{}curl web{}",
            "while true; do ".repeat(7),
            "; done".repeat(7)
        );
        assert_eq!(round(&nested), Some(("web".to_owned(), 0)));
        assert_eq!(round(&"$(".repeat(50_000)), None);
    }

    #[test]
    fn a_client_has_its_time_limit() {
        let script = "while true; do curl -sm 2 a; wget --timeout=3 b; done";
        let round = round_of_command(&words(&["sh", "-ec", script]), &|_| None).unwrap();
        let limits: Vec<_> = round.requests.iter().map(|one| one.limit).collect();
        assert_eq!(limits, [Some(2 * SECOND), Some(3 * SECOND)]);
    }
}
