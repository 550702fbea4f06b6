//! Classification of terminal lines before they run.

use super::verb::Reads;
use super::{Filenames, cp, edit, parse, shell, verb_named};

/// Returns true if a word is a verb even without `kubectl`: a bare `cp` is the shell's.
pub fn bare_verb(word: &str) -> bool {
    word != cp::VERB.name && verb_named(word).is_some()
}

/// Returns the words after `kubectl` of a line that needs no shell, so that the initial page works without the shell's code.
pub fn plain(line: &str) -> Option<Vec<String>> {
    let words = one_command(line)?;
    // Files are read by the shell's code.
    let names_file = |word: &String| word.starts_with("-f") || word.starts_with("--filename");
    (words.first().is_some_and(|verb| verb == "logs") || !words.iter().any(names_file))
        .then_some(words)
}

/// Returns the words after `kubectl` of a line that is a single command.
fn one_command(line: &str) -> Option<Vec<String>> {
    let quotes = |quote| line.matches(quote).count() % 2 == 0;
    if line.contains(['|', '&', ';', '<', '>', '$', '`', '(', ')', '#', '\\', '\n'])
        || !quotes('\'')
        || !quotes('"')
    {
        return None;
    }
    let mut words = parse::split(line);
    let first = words.first()?.as_str();
    if matches!(first, "kubectl" | "k") {
        words.remove(0);
    } else {
        bare_verb(first).then_some(())?;
    }
    Some(words)
}

/// Returns the values of `-f` of a line's kubectl commands, where the flag names a file.
pub fn named_files(line: &str) -> Vec<String> {
    let commands = one_command(line).map_or_else(|| shell::commands(line), |words| vec![words]);
    commands
        .into_iter()
        .flat_map(|words| {
            let words = behind_kubectl(&words);
            let verb = words.first().and_then(|word| verb_named(word));
            let files = verb
                .filter(|verb| parse::takes(verb.flags, "filename"))
                .map(|_| Filenames::among(words[1..].to_vec(), false).0);
            files.unwrap_or_default().paths
        })
        .flat_map(|paths| paths.split(',').map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

/// Returns true if a line is read-only: in the past it is evaluated at the instant shown, and the timeline has no mark for it.
pub fn only_reads(line: &str) -> bool {
    match one_command(line) {
        Some(words) => command_only_reads(&words),
        None => shell::only_reads(line, command_only_reads),
    }
}

/// Returns true if a line opens an editor.
pub fn opens_editor(line: &str) -> bool {
    one_command(line).is_some_and(|words| {
        words
            .get(verb_position(&words))
            .is_some_and(|verb| verb == edit::VERB.name)
    })
}

/// Returns the words of a command from the verb on, with or without `kubectl`.
fn behind_kubectl(words: &[String]) -> &[String] {
    let words = if words
        .first()
        .is_some_and(|word| matches!(word.as_str(), "kubectl" | "k"))
    {
        &words[1..]
    } else {
        words
    };
    &words[verb_position(words).min(words.len())..]
}

fn command_only_reads(words: &[String]) -> bool {
    let words = behind_kubectl(words);
    match words
        .first()
        .and_then(|word| verb_named(word))
        .map(|verb| verb.reads)
    {
        Some(Reads::Sub(reads)) => words[1..]
            .iter()
            .find(|word| !word.starts_with('-'))
            .is_some_and(|word| reads.contains(&word.as_str())),
        reads => reads == Some(Reads::Yes),
    }
}

/// Returns the position of the verb: global flags may precede it.
pub fn verb_position(args: &[String]) -> usize {
    let mut at = 0;
    while let Some(word) = args.get(at).filter(|word| word.starts_with('-')) {
        let takes_value = matches!(
            word.as_str(),
            "-n" | "--namespace"
                | "--as"
                | "--as-group"
                | "--context"
                | "--kubeconfig"
                | "-s"
                | "--server"
                | "-v"
        );
        at += if takes_value { 2 } else { 1 };
    }
    at
}

#[cfg(test)]
mod tests {
    use super::named_files;

    #[test]
    fn the_files_of_a_line_are_those_of_its_commands() {
        for (line, files) in [
            ("kubectl apply -f web.yaml", &["web.yaml"][..]),
            (
                "k -n x create --filename=a.yaml,b.yaml",
                &["a.yaml", "b.yaml"],
            ),
            ("delete -Rf 'my file.yml' --wait=false", &["my file.yml"]),
            ("kubectl logs -f web", &[]),
            (
                "kubectl apply -f - <<EOF\nkubectl apply -f no.yaml\nEOF",
                &["-"],
            ),
            (
                "kubectl diff -f a.yaml || { kubectl apply -f a.yaml; }",
                &["a.yaml", "a.yaml"],
            ),
            ("kubectl apply -f $FILE", &[]),
            ("grep -f patterns.yaml file", &[]),
        ] {
            assert_eq!(named_files(line), files, "{line}");
        }
    }
}
