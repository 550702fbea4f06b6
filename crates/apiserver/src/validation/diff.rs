//! Diff that the API server shows when a spec is immutable: both values printed as Go prints them,

use super::inner;
use serde_json::Value;
use std::fmt::Write;

/// Lines of context around a change.
const CONTEXT_LINES: usize = 3;

/// Returns a unified diff of two values of a type, preceded by a line break.
pub fn of(kind: &'static str, old: &Value, new: &Value) -> String {
    let (old, new) = (inner::lines(kind, old), inner::lines(kind, new));
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let edits = edits(&old, &new);
    let mut text = String::from("\n");
    let mut at = 0;
    while let Some(first) = (at..edits.len()).find(|i| edits[*i].0 != ' ') {
        let start = first.saturating_sub(CONTEXT_LINES).max(at);
        let mut end = first;
        // Nearby changes share a hunk.
        while let Some(next) =
            (end + 1..edits.len().min(end + 2 + 2 * CONTEXT_LINES)).find(|i| edits[*i].0 != ' ')
        {
            end = next;
        }
        let stop = (end + 1 + CONTEXT_LINES).min(edits.len());
        hunk(&mut text, &edits, start, stop);
        at = stop;
    }
    text
}

fn hunk(text: &mut String, edits: &[(char, &str)], start: usize, stop: usize) {
    let count =
        |range: &[(char, &str)], skip: char| range.iter().filter(|(mark, _)| *mark != skip).count();
    let (before, within) = (&edits[..start], &edits[start..stop]);
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "@@ -{},{} +{},{} @@",
        count(before, '+') + 1,
        count(within, '+'),
        count(before, '-') + 1,
        count(within, '-')
    );
    for (mark, line) in within {
        let _ = writeln!(text, "{mark}{line}");
    }
}

/// Returns the edits between two lists of lines: equal ends are kept, the middle is replaced where it differs.
fn edits<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(char, &'a str)> {
    if old.len() * new.len() > 4_000_000 {
        return old
            .iter()
            .map(|l| ('-', *l))
            .chain(new.iter().map(|l| ('+', *l)))
            .collect();
    }
    let mut table = vec![vec![0u32; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            table[i][j] = if old[i] == new[j] {
                table[i + 1][j + 1] + 1
            } else {
                table[i + 1][j].max(table[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut edits = Vec::new();
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            edits.push((' ', old[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < old.len() && (j == new.len() || table[i + 1][j] >= table[i][j + 1]) {
            edits.push(('-', old[i]));
            i += 1;
        } else {
            edits.push(('+', new[j]));
            j += 1;
        }
    }
    edits
}
