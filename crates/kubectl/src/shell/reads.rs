//! Detection of read-only lines.

use super::builtins;
use super::call::{RUNS_WORDS, watched};
use super::parse;
use super::script::{Expansion, Piece, Redirect, ShellScript, ShellWord, Simple, Step, literal};
use super::tools;

/// Function that returns true for read-only arguments of kubectl.
type KubectlReads = fn(&[String]) -> bool;

/// Returns true if a line is read-only: none of its commands writes to the cluster or to a file.
pub fn only_reads(line: &str, kubectl: KubectlReads) -> bool {
    match parse::parse(line) {
        Ok(script) => !script.steps.is_empty() && reads(&script, kubectl),
        // Words that were joined without their quotes.
        Err(_) => kubectl(
            &line
                .split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>(),
        ),
    }
}

/// Returns the words of each command of a line, also of those in blocks; a word with an expansion is empty.
pub fn commands(line: &str) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    let mut open: Vec<ShellScript> = parse::parse(line).into_iter().collect();
    while let Some(script) = open.pop() {
        for step in &script.steps {
            match step {
                Step::Pipeline(commands, _) => {
                    for simple in commands {
                        let words = simple.words.iter().map(|word| literal(word));
                        all.push(words.map(Option::unwrap_or_default).collect());
                        open.extend(simple.block.iter().map(|block| (*block.script).clone()));
                    }
                }
                Step::Define(_, script) => open.push((**script).clone()),
                _ => {}
            }
        }
    }
    all
}

fn reads(script: &ShellScript, kubectl: KubectlReads) -> bool {
    script.steps.iter().all(|step| match step {
        Step::Pipeline(commands, _) => commands.iter().all(|simple| simple_reads(simple, kubectl)),
        Step::For(words) => words.iter().all(|word| word_reads(word, kubectl)),
        Step::Case(word, arms, _) => {
            word_reads(word, kubectl) && arms.iter().all(|(word, _)| word_reads(word, kubectl))
        }
        // The body of a function is checked at its definition, so calls need no check.
        Step::Define(_, script) => reads(script, kubectl),
        _ => true,
    })
}

fn word_reads(word: &ShellWord, kubectl: KubectlReads) -> bool {
    word.iter().all(|piece| match piece {
        Piece::Text(_) | Piece::Quoted(_) => true,
        Piece::Output(script, _) => reads(script, kubectl),
        Piece::Sum(word, _) => word_reads(word, kubectl),
        Piece::Variable(parameter, _) => match &parameter.change {
            Expansion::None | Expansion::Length => true,
            Expansion::Default(_, word)
            | Expansion::Assign(_, word)
            | Expansion::Alternative(_, word)
            | Expansion::Missing(_, word) => word_reads(word, kubectl),
            Expansion::Cut { pattern, .. } => word_reads(pattern, kubectl),
            Expansion::Replace { pattern, with, .. } => {
                word_reads(pattern, kubectl) && word_reads(with, kubectl)
            }
            Expansion::Slice(from, count) => {
                word_reads(from, kubectl)
                    && count.as_ref().is_none_or(|word| word_reads(word, kubectl))
            }
        },
    })
}

fn simple_reads(simple: &Simple, kubectl: KubectlReads) -> bool {
    let inner = simple
        .words
        .iter()
        .chain(simple.assigns.iter().map(|(_, word)| word))
        .all(|word| word_reads(word, kubectl));
    let nowhere = |file: &ShellWord| literal(file).as_deref() == Some("/dev/null");
    let files = simple.redirects.iter().all(|redirect| match redirect {
        Redirect::To(_, _, file) => nowhere(file),
        Redirect::From(word) | Redirect::Here(word) => word_reads(word, kubectl),
        Redirect::Merge | Redirect::Complain => true,
    });
    // An expansion stands for a name, not for a verb.
    let text = |piece: &Piece| {
        if let Piece::Text(text) | Piece::Quoted(text) = piece {
            text.clone()
        } else {
            "x".to_owned()
        }
    };
    let words: Vec<String> = simple
        .words
        .iter()
        .map(|word| word.iter().map(text).collect())
        .collect();
    if let Some(block) = &simple.block {
        return files && reads(&block.script, kubectl);
    }
    let mut words = words.as_slice();
    let mut is_watched = false;
    // Commands that run the words after them are read-only if those words are.
    while let [name, rest @ ..] = words
        && (matches!(name.as_str(), "watch" | "eval" | "xargs")
            || RUNS_WORDS.contains(&name.as_str()) && !rest.is_empty())
    {
        words = rest;
        match name.as_str() {
            "watch" => (words, is_watched) = (watched(rest), true),
            "eval" => is_watched = true,
            "xargs" => words = builtins::run_by_xargs(rest),
            _ => {}
        }
    }
    if is_watched {
        // The watched command is a line of its own, possibly in quotes.
        return inner
            && files
            && parse::parse(&words.join(" ")).is_ok_and(|script| reads(&script, kubectl));
    }
    let known = match words.split_first() {
        None => true,
        // Builtins of the shell.
        Some((name, _)) if name == "sleep" || builtins::READ.contains(&name.as_str()) => true,
        Some((name, rest)) => tools::find(name).is_some_and(|tool| (tool.reads)(rest)),
    };
    inner && files && (known || kubectl(words))
}

#[cfg(test)]
mod tests {
    use super::only_reads;

    #[test]
    fn commands_that_run_commands_are_read_only_if_those_are() {
        let kubectl = |words: &[String]| words.get(1).is_some_and(|word| word == "get");
        for (line, reads) in [
            ("watch kubectl get pods", true),
            ("watch -n 1 'kubectl get pods | grep a'", true),
            ("watch kubectl delete pod a", false),
            ("watch -n 1 'kubectl get pods; kubectl delete pod a'", false),
            ("time kubectl get pods", true),
            ("exec time watch kubectl delete pod a", false),
            ("command rm f", false),
            ("watch", true),
            ("kubectl get pods -o name | xargs kubectl delete", false),
            ("kubectl get pods -o name | xargs -n 1 kubectl get", true),
            (
                "cat f | while read x; do kubectl delete pod $x; done",
                false,
            ),
            ("cat f | while read x; do kubectl get pod $x; done", true),
            ("{ kubectl get pods; } > f", false),
            ("(kubectl get pods) 2> /dev/null", true),
            ("f() { kubectl delete pod a; }; f", false),
            ("case a in a) kubectl delete pod a;; esac", false),
            ("eval 'kubectl delete pod a'", false),
            ("echo ${x:-$(kubectl delete pod a)}", false),
            ("echo $(( $(kubectl delete pod a) ))", false),
            ("cat <<E\n$(kubectl delete pod a)\nE", false),
            ("cat <<'E'\n$(kubectl delete pod a)\nE", true),
        ] {
            assert_eq!(only_reads(line, kubectl), reads, "{line}");
        }
        assert!(only_reads(&"watch ".repeat(50_000), |_| false));
    }
}
