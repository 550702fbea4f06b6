//! Completion for manifests: field names from the schema, by the indentation of the lines above; in the program of a ControlLoop its functions,
//! names and the fields of objects.

mod program;

use k8s_model::kind;
use k8s_model::schema::{Schema, list_element, map_element, schema};

/// A completion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// Name of a field, or a value.
    pub name: String,
    /// Type of the field.
    pub detail: String,
    /// Text inserted after the name: a colon, and the beginning of the value.
    pub tail: &'static str,
    /// Description in a sentence.
    pub help: &'static str,
    /// Number of characters before the cursor that it replaces; `None` for all that belong to a word of YAML.
    pub replaces: Option<usize>,
}

/// Line of block style: the columns of its key and of the dash before it, and the text on both sides of its colon.
struct Row<'a> {
    at: usize,
    dash: Option<usize>,
    key: &'a str,
    value: Option<&'a str>,
}

fn row(line: &str) -> Option<Row<'_>> {
    let text = line.trim_start_matches(' ');
    let mut at = line.len() - text.len();
    let mut dash = None;
    let mut rest = text;
    while let Some(after) = rest.strip_prefix("- ").or((rest == "-").then_some("")) {
        dash = Some(at);
        at += rest.len() - after.len();
        rest = after.trim_start_matches(' ');
        at += after.len() - rest.len();
    }
    if (rest.is_empty() && dash.is_none()) || rest.starts_with('#') {
        return None;
    }
    let (key, value) = match rest.split_once(':') {
        Some((key, value)) if value.is_empty() || value.starts_with(' ') => {
            (key, Some(value.trim()))
        }
        _ => (rest, None),
    };
    Some(Row {
        at,
        dash,
        key: key.trim_matches(['"', '\'']),
        value,
    })
}

/// Returns the lines of the document around a line, and that line's index among them.
fn document(text: &str, line: usize) -> (Vec<&str>, usize) {
    let all: Vec<&str> = text.split('\n').collect();
    let at = line.saturating_sub(1).min(all.len().saturating_sub(1));
    let from = all[..at]
        .iter()
        .rposition(|line| line.starts_with("---"))
        .map_or(0, |at| at + 1);
    let to = all[at..]
        .iter()
        .skip(1)
        .position(|line| line.starts_with("---"))
        .map_or(all.len(), |end| at + 1 + end);
    (all[from..to].to_vec(), at - from)
}

/// Returns the keys around a place, outermost first.
fn parents<'a>(lines: &[&'a str], column: usize, dash: Option<usize>) -> Vec<&'a str> {
    let (mut limit, mut equal) = dash.map_or((column, false), |dash| (dash, true));
    let mut out = Vec::new();
    for line in lines.iter().rev() {
        let Some(row) = row(line) else { continue };
        let owns = row.at < limit || equal && row.at == limit && row.dash.is_none();
        if owns {
            out.push(row.key);
        }
        // First key of the enclosing element, or a key at the start of an element.
        if owns || !equal && row.at == limit && row.dash.is_some() {
            (limit, equal) = row.dash.map_or((row.at, false), |dash| (dash, true));
        }
    }
    out.reverse();
    out
}

fn top<'a>(lines: &[&'a str], name: &str) -> &'a str {
    let found = lines
        .iter()
        .filter_map(|line| row(line))
        .find(|row| row.at == 0 && row.key == name);
    found
        .and_then(|row| row.value)
        .unwrap_or("")
        .trim_matches(['"', '\''])
}

/// Strips lists, maps and pointers from a type.
fn element(kind: &'static str) -> &'static str {
    let inner = kind.trim_start_matches('*');
    list_element(inner)
        .or(map_element(inner))
        .map_or(inner, |inner| inner.trim_start_matches('*'))
}

fn follow(lines: &[&str], path: &[&str]) -> Option<&'static str> {
    let mut at = schema().kind(top(lines, "apiVersion"), top(lines, "kind"))?;
    for step in path {
        at = element(schema().field(at, step)?.kind);
    }
    Some(at)
}

/// Formats a type for display: `integer`, `[]Container`.
fn spoken(schema: &Schema, kind: &str) -> String {
    let kind = kind.trim_start_matches('*');
    if let Some(inner) = kind.strip_prefix("[]") {
        return format!("[]{}", spoken(schema, inner));
    }
    if let Some((_, inner)) = kind
        .strip_prefix("map[")
        .and_then(|rest| rest.split_once(']'))
    {
        return format!("map of {}", spoken(schema, inner));
    }
    let plain = schema.scalar(kind).unwrap_or(kind);
    match plain {
        "int32" | "int64" | "int" => "integer".into(),
        "bool" => "boolean".into(),
        other => other.rsplit('.').next().unwrap_or(other).into(),
    }
}

fn fields(kind: &str, out: &mut Vec<Completion>) {
    for field in schema().fields(kind).unwrap_or_default() {
        let inner = field.kind.trim_start_matches('*');
        if field.inline() {
            fields(inner, out);
            continue;
        }
        let tail = if list_element(inner).is_some() {
            ":\n- "
        } else if map_element(inner).is_some() || schema().fields(inner).is_some() {
            ":\n  "
        } else {
            ": "
        };
        let mut detail = spoken(schema(), field.kind);
        if field.required {
            detail.push_str(", required");
        }
        out.push(Completion {
            name: field.json.into(),
            detail,
            tail,
            ..Completion::default()
        });
    }
}

/// Returns the completions at a line (from 1) and column (from 0).
pub fn offers(text: &str, line: usize, column: usize) -> Vec<Completion> {
    let (lines, at) = document(text, line);
    let before: String = lines[at].chars().take(column).collect();
    if let Some(program) = program::Place::find(&lines, at) {
        return program.offers(&before);
    }
    let here = row(&before).unwrap_or(Row {
        at: before.len(),
        dash: None,
        key: "",
        value: None,
    });
    let mut out = Vec::new();
    let value = |name: &str| Completion {
        name: name.into(),
        ..Completion::default()
    };
    if let Some(begun) = here.value {
        match here.key {
            "kind" if here.at == 0 => out.extend(kind::all().map(|kind| value(kind.name()))),
            "apiVersion" => out.extend(kind::all().map(|kind| value(&kind.api_version()))),
            key => {
                let kind = follow(&lines, &parents(&lines[..at], here.at, here.dash))
                    .and_then(|of| schema().field(of, key));
                if kind.is_some_and(|field| field.kind.trim_start_matches('*') == "bool") {
                    out.extend(["true", "false"].map(value));
                }
            }
        }
        out.retain(|offer| offer.name.starts_with(begun) && offer.name != begun);
    } else {
        let path = parents(&lines[..at], here.at, here.dash);
        match follow(&lines, &path) {
            Some(kind) => fields(kind, &mut out),
            None if here.at == 0 => {
                let all = [
                    ("apiVersion", ": "),
                    ("kind", ": "),
                    ("metadata", ":\n  "),
                    ("spec", ":\n  "),
                ];
                out.extend(all.map(|(name, tail)| Completion {
                    name: name.into(),
                    tail,
                    ..Completion::default()
                }));
            }
            None => {}
        }
        out.retain(|offer| offer.name.starts_with(here.key) && offer.name != "status");
    }
    out.sort_by(|a, b| a.name.cmp(&b.name));
    out.dedup();
    out
}

/// Returns the path and type of the field on a line (from 1), if the column is within its name.
pub fn about(text: &str, line: usize, column: usize) -> Option<(String, String)> {
    let (lines, at) = document(text, line);
    if let Some(program) = program::Place::find(&lines, at) {
        return program.about(lines[at], column);
    }
    let here = row(lines[at])?;
    if column < here.at || column > here.at + here.key.len() || here.value.is_none() {
        return None;
    }
    let mut path = parents(&lines[..at], here.at, here.dash);
    let field = schema().field(follow(&lines, &path)?, here.key)?;
    path.push(here.key);
    let required = if field.required { ", required" } else { "" };
    let path = path.join(".");
    let ends = |end: &str| {
        path.strip_suffix(end)
            .is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    let said = FIELD_HELP
        .iter()
        .find(|(end, _)| ends(end))
        .map(|(_, words)| [" · ", words].concat())
        .unwrap_or_default();
    let kind = spoken(schema(), field.kind);
    Some((path, [&kind, required, &said].concat()))
}

/// Help for the fields of the examples, with their defaults.
const FIELD_HELP: [(&str, &str); 20] = [
    (
        "strategy.rollingUpdate.maxSurge",
        "Pods that an update may add beyond replicas; 25% unless said",
    ),
    (
        "strategy.rollingUpdate.maxUnavailable",
        "Pods that an update may do without; 25% unless said",
    ),
    (
        "strategy.type",
        "RollingUpdate replaces Pods step by step, Recreate all at once; RollingUpdate unless said",
    ),
    (
        "updateStrategy.rollingUpdate.partition",
        "Only ordinals from this one on are updated; 0 unless said",
    ),
    ("spec.replicas", "Pods there are to be; 1 unless said"),
    ("spec.selector", "What belongs to it, by its labels"),
    (
        "minReadySeconds",
        "A Pod counts as available when it has been ready for so long; 0 unless said",
    ),
    (
        "progressDeadlineSeconds",
        "A rollout that gets no further for so long has failed; 600 unless said",
    ),
    (
        "revisionHistoryLimit",
        "Old revisions that are kept to roll back to; 10 unless said",
    ),
    (
        "podManagementPolicy",
        "OrderedReady waits for each Pod before the next, Parallel for none; OrderedReady unless said",
    ),
    (
        "readinessProbe",
        "While it fails, no Service sends the container traffic",
    ),
    (
        "livenessProbe",
        "When it fails often enough, the container is started again",
    ),
    (
        "readinessProbe.initialDelaySeconds",
        "Seconds from the start to the first probe; 0 unless said",
    ),
    (
        "spec.terminationGracePeriodSeconds",
        "Seconds a container has to end before it is killed; 30 unless said",
    ),
    (
        "containers.resources.requests",
        "What a node must have free to take the Pod",
    ),
    (
        "spec.storageClassName",
        "The class of the volume; a claim without one gets the default class",
    ),
    (
        "volumeClaimTemplates",
        "One claim of each is made for every ordinal",
    ),
    (
        "spec.clusterIP",
        "None gives each Pod a name of its own; an address is chosen unless said",
    ),
    ("minAvailable", "Pods that an eviction must leave"),
    (
        "backoffLimit",
        "Pods that may fail before the Job does; 6 unless said",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "apiVersion: v1\nkind: Pod\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: a\nspec:\n  repl\n  template:\n    spec:\n      containers:\n      - name: x\n        imag\n      - im\n      hostNetwork: \n        \n";

    fn names(line: usize, column: usize) -> Vec<String> {
        offers(TEXT, line, column)
            .into_iter()
            .map(|offer| offer.name)
            .collect()
    }

    #[test]
    fn fields_of_the_place_are_offered() {
        assert_eq!(names(9, 6), ["replicas"]);
        assert_eq!(names(14, 12), ["image", "imagePullPolicy"]);
        assert_eq!(names(15, 10), ["image", "imagePullPolicy"]);
        assert_eq!(names(16, 19), ["false", "true"]);
        assert!(names(10, 2).contains(&"strategy".to_string()));
        assert_eq!(offers(TEXT, 9, 6)[0].detail, "integer");
        assert_eq!(
            offers(TEXT, 11, 4)
                .iter()
                .find(|offer| offer.name == "metadata")
                .map(|offer| offer.tail),
            Some(":\n  ")
        );
    }

    const LOOP: &str = "apiVersion: loopscope.dev/v1\nkind: ControlLoop\nmetadata: {name: a}\nspec:\n  for: {apiVersion: apps/v1, kind: ReplicaSet}\n  program: |\n    def reconcile(key):\n        rs = get(\"ReplicaSet\", key)\n        pods = list(\"Pod\", owner=rs)\n        \n        \n        for pod in pods:\n            \n  workers: 1\n";

    fn in_loop(line: usize, typed: &str) -> Vec<Completion> {
        let mut lines: Vec<String> = LOOP.lines().map(str::to_owned).collect();
        lines[line - 1].push_str(typed);
        offers(&lines.join("\n"), line, lines[line - 1].chars().count())
    }

    fn names_in_loop(line: usize, typed: &str) -> Vec<String> {
        in_loop(line, typed)
            .into_iter()
            .map(|offer| offer.name)
            .collect()
    }

    #[test]
    fn a_program_is_offered_its_functions_and_the_fields_of_objects() {
        let all = in_loop(10, "upd");
        assert_eq!(all[0].name, "update");
        assert_eq!(all[0].detail, "update(object)");
        assert!(all[0].help.contains("conflict"));
        assert_eq!(all[0].replaces, Some(3));
        assert_eq!(names_in_loop(10, "rs.spec.repl"), ["replicas"]);
        assert_eq!(
            names_in_loop(10, "x = rs.spec.template.spec.containers[0].imag"),
            ["image", "imagePullPolicy"]
        );
        assert_eq!(names_in_loop(11, "pods[0].status.pha"), ["phase"]);
        assert_eq!(
            names_in_loop(13, "pod.metadata.deletionT"),
            ["deletionTimestamp"]
        );
        assert_eq!(
            names_in_loop(11, "n = [one for one in pods if one.spec.nodeN"),
            ["nodeName"]
        );
        assert_eq!(names_in_loop(10, "key."), ["name", "namespace"]);
        assert_eq!(names_in_loop(10, "po"), ["pod", "pods"]);
        assert_eq!(names_in_loop(10, "unknown.x"), [""; 0]);
        assert_eq!(names_in_loop(10, "# upd"), [""; 0]);
        assert_eq!(names_in_loop(10, "log(\"upd"), [""; 0]);
        let after = LOOP.lines().count();
        assert!(!names_in_loop(after, "").contains(&"update".to_owned()));
        let said = about(LOOP, 9, 17).unwrap();
        assert_eq!(said.0, "list(kind, namespace=, labels=, owner=)");
        assert_eq!(about(LOOP, 9, 10), None);
    }

    #[test]
    fn what_a_field_does_is_said_with_its_kind() {
        let text = "apiVersion: apps/v1\nkind: Deployment\nspec:\n  replicas: 3\n  strategy:\n    rollingUpdate:\n      maxSurge: 1\n";
        assert_eq!(
            about(text, 7, 8).unwrap().1,
            "IntOrString · Pods that an update may add beyond replicas; 25% unless said"
        );
        assert_eq!(
            about(text, 4, 4).unwrap().1,
            "integer · Pods there are to be; 1 unless said"
        );
    }

    #[test]
    fn kinds_and_versions_are_offered() {
        assert_eq!(
            offers("kind: Dep", 1, 9)
                .first()
                .map(|offer| offer.name.as_str()),
            Some("Deployment")
        );
        assert!(
            offers("", 1, 0)
                .iter()
                .any(|offer| offer.name == "apiVersion")
        );
        assert!(
            offers("apiVersion: ba", 1, 14)
                .iter()
                .any(|offer| offer.name == "batch/v1")
        );
    }

    #[test]
    fn a_field_says_its_path_and_type() {
        assert_eq!(
            about(TEXT, 12, 8),
            Some((
                "spec.template.spec.containers".into(),
                "[]Container, required".into()
            ))
        );
        assert_eq!(
            about(TEXT, 13, 9),
            Some((
                "spec.template.spec.containers.name".into(),
                "string, required".into()
            ))
        );
        assert_eq!(about(TEXT, 13, 14), None);
        assert_eq!(about(TEXT, 99, 14), None);
    }
}
