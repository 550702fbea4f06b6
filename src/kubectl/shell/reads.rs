//! Whether a line only looks.

use super::parse::{self, Piece, Redirect, Script, Simple, Step, Word};
use super::tools::TOOLS;

/// Whether kubectl's words only look.
type KubectlReads = fn(&[String]) -> bool;

/// Whether a line only looks: no command of it writes, to the cluster or to a file.
pub fn only_reads(line: &str, kubectl: KubectlReads) -> bool {
    match parse::parse(line) {
        Ok(script) => !script.steps.is_empty() && reads(&script, kubectl),
        // Words that were joined without their quotes.
        Err(_) => kubectl(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()),
    }
}

fn reads(script: &Script, kubectl: KubectlReads) -> bool {
    script.steps.iter().all(|step| match step {
        Step::Pipeline(commands, _) => commands.iter().all(|simple| simple_reads(simple, kubectl)),
        Step::For(words) => words.iter().all(|word| word_reads(word, kubectl)),
        _ => true,
    })
}

fn word_reads(word: &Word, kubectl: KubectlReads) -> bool {
    word.iter().all(|piece| if let Piece::Output(script, _) = piece { reads(script, kubectl) } else { true })
}

fn simple_reads(simple: &Simple, kubectl: KubectlReads) -> bool {
    let inner = simple.words.iter().chain(simple.assigns.iter().map(|(_, word)| word)).all(|word| word_reads(word, kubectl));
    let nowhere = |file: &Word| parse::literal(file).as_deref() == Some("/dev/null");
    let files = simple.redirects.iter().all(|redirect| if let Redirect::To(_, _, file) = redirect { nowhere(file) } else { true });
    // What is put in stands for a name, not for a verb.
    let text = |piece: &Piece| if let Piece::Text(text) = piece { text.clone() } else { "x".to_owned() };
    let words: Vec<String> = simple.words.iter().map(|word| word.iter().map(text).collect()).collect();
    let known = match words.first().map(String::as_str) {
        None | Some("sleep" | "true" | "false" | "exit" | "watch") => true,
        Some("rm" | "touch" | "tee" | "cp" | "sh" | "bash") => false,
        Some("sed") if words.iter().any(|word| word.starts_with("-i")) => false,
        Some(name) => TOOLS.iter().any(|tool| tool.name == name),
    };
    inner && files && (known || kubectl(&words))
}
