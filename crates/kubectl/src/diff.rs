//! `kubectl diff`: changes that applying would make, in the format of `diff -u`.
//!
//! Models `kubectl/pkg/cmd/diff`.

use super::apply::difference;
use super::client::Client;
use super::documents::{prepare, with_last_applied};
use super::failure::server_error;
use super::filenames::Filenames;
use super::output::DryRun;
use super::parse::Args;
use super::printers::yaml;
use super::unavailable::NO_FILE;
use super::{Failure, Outcome, Reads, Verb};
use crate::documents;
use apiserver::Subresource;
use k8s_model::meta::LAST_APPLIED;
use k8s_model::{Kind, ObjectRef, Timestamp};
use serde_json::Value;

const FLAGS: &str = "filename/f= recursive/R kustomize/k= server-side force-conflicts !selector/l= !prune ~concurrency= ~show-secrets";
/// Lines of context around a change.
const CONTEXT: usize = 3;

/// `kubectl diff`.
pub const VERB: Verb = Verb {
    name: "diff",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::Yes,
    run,
    help: "Diff the live version against a would-be applied version",
};

fn run(client: &mut Client<'_>, words: &[String], stdin: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("diff", FLAGS, words)?;
    client.use_flags(&args)?;
    client.mode.dry = DryRun::Server;
    if Filenames::of(&args).is_empty() {
        return Err(Failure {
            exit: 2,
            ..Failure::error(NO_FILE)
        });
    }
    let fails = |failure: Failure| Failure { exit: 2, ..failure };
    let contents = documents::read(client, &args, stdin);
    // Output is suppressed if any object could not be compared.
    let mut shown = String::new();
    for document in contents.documents {
        let (kind, value) = prepare(client, &args, document).map_err(fails)?;
        let name = value["metadata"]["name"].as_str().unwrap_or("").to_owned();
        let namespace = value["metadata"]["namespace"]
            .as_str()
            .unwrap_or("")
            .to_owned();
        let key = ObjectRef::new(kind, &namespace, &name);
        let live = client.find(&key).map_err(fails)?;
        let merged = match &live {
            None => client.create(value),
            Some(current) => {
                // Annotations are compared even if the manifest has none.
                let mut modified = with_last_applied(&value);
                modified["metadata"]["annotations"]
                    .as_object_mut()
                    .map(|annotations| annotations.remove(LAST_APPLIED));
                let (how, change) = difference(kind, &modified, current);
                client.patch(&key, Subresource::Main, how, &change)
            }
        };
        let merged = merged.map_err(|error| fails(server_error(&error)))?;
        let text = |value: &Value| yaml::print(&masked(kind, value.clone()));
        let (old, new) = (live.as_ref().map(text).unwrap_or_default(), text(&merged));
        let changes = unified(&old, &new);
        if changes.is_empty() {
            continue;
        }
        let group = if kind.info().group.is_empty() {
            String::new()
        } else {
            format!("{}.", kind.info().group)
        };
        let file = format!(
            "{group}{}.{}.{namespace}.{name}",
            kind.info().version,
            kind.name()
        );
        let time = Timestamp::new(client.wall())
            .rfc3339()
            .replace('T', " ")
            .replace('Z', ".000000000 +0000");
        shown.push_str(&format!("diff -u -N /tmp/LIVE/{file} /tmp/MERGED/{file}\n"));
        shown.push_str(&format!(
            "--- /tmp/LIVE/{file}\t{time}\n+++ /tmp/MERGED/{file}\t{time}\n{changes}"
        ));
    }
    if let Some(failure) = Failure::all(contents.faults) {
        return Err(fails(failure));
    }
    client.streams.out.push_str(&shown);
    // Exit code 1 if there are differences, as in diff.
    if shown.is_empty() {
        Ok(Outcome::Done)
    } else {
        Err(Failure::exit("", 1))
    }
}

/// Masks the values of Secrets.
fn masked(kind: Kind, mut value: Value) -> Value {
    if kind == Kind::Secret {
        for data in value
            .get_mut("data")
            .and_then(Value::as_object_mut)
            .into_iter()
            .flat_map(|map| map.values_mut())
        {
            *data = Value::from("***");
        }
    }
    value
}

/// Maximum number of cells of the table for the longest common subsequence.
const MAX_CELLS: usize = 4_000_000;

/// Returns the hunks of two texts.
fn unified(old: &str, new: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    // The common prefix and suffix need no table.
    let first = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let last = a[first..]
        .iter()
        .rev()
        .zip(b[first..].iter().rev())
        .take_while(|(x, y)| x == y)
        .count();
    let (rows, columns) = (a.len() - last, b.len() - last);
    // Length of the longest common subsequence of both rests, from the first difference on. For very different texts it is not computed:
    // the
    // old one is removed completely and the new one added.
    let small = (rows - first).saturating_mul(columns - first) <= MAX_CELLS;
    let side = |length: usize| if small { length - first + 1 } else { 0 };
    let mut table = vec![vec![0_u32; side(columns)]; side(rows)];
    if small {
        for i in (0..rows - first).rev() {
            for j in (0..columns - first).rev() {
                table[i][j] = if a[first + i] == b[first + j] {
                    table[i + 1][j + 1] + 1
                } else {
                    table[i + 1][j].max(table[i][j + 1])
                };
            }
        }
    }
    let common = |i: usize, j: usize| {
        if small {
            table[i - first][j - first]
        } else {
            0
        }
    };
    let mut lines: Vec<(char, &str, usize, usize)> = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let within = (first..rows).contains(&i) && (first..columns).contains(&j);
        if i < a.len() && j < b.len() && a[i] == b[j] && (small || !within) {
            lines.push((' ', a[i], i, j));
            (i, j) = (i + 1, j + 1);
        } else if i < a.len()
            && (j == b.len()
                || within && common(i + 1, j) >= common(i, j + 1)
                || !within && i < rows)
        {
            lines.push(('-', a[i], i, j));
            i += 1;
        } else {
            lines.push(('+', b[j], i, j));
            j += 1;
        }
    }
    let changed: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].0 != ' ').collect();
    let mut out = String::new();
    let mut rest = changed.as_slice();
    while let Some(first) = rest.first() {
        let last = (1..rest.len())
            .find(|at| rest[*at] - rest[at - 1] > 2 * CONTEXT + 1)
            .unwrap_or(rest.len());
        let hunk =
            &lines[first.saturating_sub(CONTEXT)..(rest[last - 1] + CONTEXT + 1).min(lines.len())];
        let side = |sign: char, begin: usize| {
            let count = hunk
                .iter()
                .filter(|line| line.0 == sign || line.0 == ' ')
                .count();
            let begin = if count == 0 { begin } else { begin + 1 };
            if count == 1 {
                begin.to_string()
            } else {
                format!("{begin},{count}")
            }
        };
        out.push_str(&format!(
            "@@ -{} +{} @@\n",
            side('-', hunk[0].2),
            side('+', hunk[0].3)
        ));
        hunk.iter()
            .for_each(|(sign, text, ..)| out.push_str(&format!("{sign}{text}\n")));
        rest = &rest[last..];
    }
    out
}
