//! Output of kubectl for a narrow window, and the object names in it.

use actions::OutputLine;
use k8s_model::{Kind, ObjectRef};

/// Number of last lines searched for names.
const MAX_SCANNED_LINES: usize = 400;

/// Returns the names of objects in the output, each with its line and the index of its word there, in order: `kind/name` anywhere,
/// otherwise words in the name column of a table or the name field of a description, of the requested kind.
pub fn names<'a>(
    lines: &'a [OutputLine],
    exists: &dyn Fn(&ObjectRef) -> bool,
) -> Vec<(usize, usize, ObjectRef)> {
    let mut found = Vec::new();
    let (mut kind, mut namespace, mut all) = (None, "default", false);
    for (at, line) in lines.iter().enumerate() {
        if let Some(line) = &line.entered {
            // `kubectl` may be omitted; the verb follows.
            let words: Vec<&str> = line
                .split_whitespace()
                .filter(|word| *word != "kubectl")
                .skip(1)
                .collect();
            kind = words
                .iter()
                .find_map(|word| Kind::from_word(word.split('/').next().unwrap_or(word)));
            let after = words
                .iter()
                .position(|word| matches!(*word, "-n" | "--namespace"))
                .and_then(|at| words.get(at + 1));
            let joined = |word: &&'a str| {
                let short = word
                    .strip_prefix("-n")
                    .filter(|name| !name.is_empty() && !name.starts_with('-'));
                Some(
                    word.strip_prefix("--namespace=")
                        .or(short)?
                        .trim_start_matches('='),
                )
            };
            namespace = after
                .copied()
                .or_else(|| words.iter().find_map(joined))
                .unwrap_or("default");
            all = words
                .iter()
                .any(|word| matches!(*word, "-A" | "--all-namespaces"));
            continue;
        }
        if at + MAX_SCANNED_LINES < lines.len() || line.error || line.text.is_empty() {
            continue;
        }
        let words: Vec<&str> = line.text.split_whitespace().collect();
        let indented = line.text.starts_with(' ');
        let (namespace, first) = match words.first() {
            Some(column) if all => (*column, 1),
            _ => (namespace, 0),
        };
        for (place, word) in words.iter().enumerate() {
            let told = |key: &str| place == 1 && words[0] == key && !indented;
            let (of, name) = match word.trim_end_matches(',').split_once('/') {
                // kubectl adds the group: `deployment.apps/web`.
                Some((of, name)) => (Kind::from_word(of), name),
                None if told("Name:") || place == first && !indented => (kind, *word),
                None if place > first && word.starts_with("node-") => (Some(Kind::Node), *word),
                None => continue,
            };
            let (Some(of), false) = (of, name.is_empty()) else {
                continue;
            };
            let key = ObjectRef::new(of, if of.info().namespaced { namespace } else { "" }, name);
            if exists(&key) {
                found.push((at, place, key));
            }
        }
    }
    found
}

/// Returns the lines with one space between columns, where kubectl prints three.
pub fn narrow(lines: &[OutputLine]) -> Vec<String> {
    lines
        .chunk_by(|a, b| asked(a) == asked(b))
        .flat_map(answer)
        .collect()
}

fn asked(line: &OutputLine) -> bool {
    line.entered.is_some()
}

fn answer(lines: &[OutputLine]) -> Vec<String> {
    // A single line is no table.
    if lines.len() < 2 || asked(&lines[0]) {
        return lines.iter().map(|line| line.text.clone()).collect();
    }
    let rows: Vec<Vec<char>> = lines
        .iter()
        .map(|line| line.text.chars().collect())
        .collect();
    let longest = rows.iter().map(Vec::len).max().unwrap_or(0);
    // Columns at which every line that is long enough has a space; indentation is kept.
    let gap =
        |at: usize| at < longest && rows.iter().all(|row| row.get(at).is_none_or(|c| *c == ' '));
    let begins = (0..longest).find(|at| !gap(*at)).unwrap_or(0);
    let stays: Vec<bool> = (0..longest)
        .map(|at| at < begins || !(gap(at) && gap(at + 1)))
        .collect();
    let short = |row: &Vec<char>| {
        row.iter()
            .zip(&stays)
            .filter(|(_, stays)| **stays)
            .map(|(c, _)| *c)
            .collect()
    };
    rows.iter().map(short).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(texts: &[&str]) -> Vec<OutputLine> {
        let line = |text: &&str| {
            text.strip_prefix("$ ").map_or_else(
                || OutputLine::new(*text, false),
                |line| OutputLine::entered("$", line),
            )
        };
        texts.iter().map(line).collect()
    }

    #[test]
    fn names_are_those_of_the_kind_that_was_asked_for() {
        let there = |key: &ObjectRef| matches!(key.name.as_str(), "web" | "web-0" | "node-1");
        let told = |texts: &[&str]| -> Vec<String> {
            let lines = lines(texts);
            let word =
                |at: usize, n: usize| lines[at].text.split_whitespace().nth(n).unwrap_or_default();
            names(&lines, &there)
                .into_iter()
                .map(|(at, n, key)| format!("{at} {} {}", word(at, n), key.kind.name()))
                .collect()
        };
        let table = [
            "$ kubectl get svc -o wide",
            "NAME   TYPE",
            "web    ClusterIP",
        ];
        assert_eq!(told(&table), ["2 web Service"]);
        let wide = [
            "$ kubectl get pods -o wide",
            "NAME    NODE",
            "web-0   node-1",
        ];
        assert_eq!(told(&wide), ["2 web-0 Pod", "2 node-1 Node"]);
        let of = [
            "$ kubectl describe pod web-0",
            "Name:   web-0",
            "Containers:",
            "  web:",
            "deployment.apps/web scaled",
        ];
        assert_eq!(
            told(&of),
            ["1 web-0 Pod", "4 deployment.apps/web Deployment"]
        );
        // Without the first word, and a name that is part of another word before it.
        assert_eq!(
            told(&["$ get pods", "NAME    READY", "web-0   1/1"]),
            ["2 web-0 Pod"]
        );
        let beside = |key: &ObjectRef| key.namespace == "webapp" && key.name == "web";
        let places = |texts: &[&str]| {
            names(&lines(texts), &beside)
                .iter()
                .map(|(at, n, _)| (*at, *n))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            places(&[
                "$ kubectl get deploy -nwebapp",
                "NAME   READY",
                "web    1/1"
            ]),
            [(2, 0)]
        );
        assert_eq!(
            places(&[
                "$ kubectl get deploy -A",
                "NAMESPACE   NAME",
                "webapp      web"
            ]),
            [(2, 1)]
        );
        let all = [
            "$ kubectl get deploy -A",
            "NAMESPACE   NAME",
            "default     web",
            "other       gone",
        ];
        assert_eq!(told(&all), ["2 web Deployment"]);
    }

    #[test]
    fn columns_come_closer_and_stay_columns() {
        let printed = lines(&[
            "$ kubectl get pods",
            "NAME    READY   AGE",
            "web-0   1/1     5s",
            "$ kubectl get x  -o yaml",
            "a:",
            "  b: 1",
        ]);
        let told = [
            "$ kubectl get pods",
            "NAME  READY AGE",
            "web-0 1/1   5s",
            "$ kubectl get x  -o yaml",
            "a:",
            "  b: 1",
        ];
        assert_eq!(narrow(&printed), told);
    }
}
