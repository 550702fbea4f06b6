//! Label and field selectors of requests and of the command line.

use super::Failure;
use apiserver::label_selector::{self, Requirement};
use apiserver::{Definitions, SelectableField};
use k8s_model::Kind;
use serde_json::Value;

/// Requirements on the labels and the fields of objects.
#[derive(Clone, Debug, Default)]
pub struct ObjectSelector {
    labels: Vec<Requirement>,
    fields: Vec<FieldRequirement>,
}

/// Requirement on a field of an object.
#[derive(Clone, Debug)]
struct FieldRequirement {
    name: String,
    value: String,
    is_equal: bool,
    /// Field of the selected kind; `None` until the kind is known.
    field: Option<SelectableField>,
}

impl ObjectSelector {
    /// Parses `labelSelector` and `fieldSelector`.
    ///
    /// # Errors
    /// The API server's message.
    pub fn parse(labels: Option<&str>, fields: Option<&str>) -> Result<ObjectSelector, String> {
        Ok(ObjectSelector {
            labels: label_selector::parse(labels.unwrap_or(""))?,
            fields: field_requirements(fields.unwrap_or(""))?,
        })
    }

    /// Parses `-l` of a command that selects among the objects of files.
    pub(super) fn of_files(labels: Option<&str>) -> Result<ObjectSelector, Failure> {
        let refused = |fault| {
            Failure::error(format!(
                "the provided selector {:?} is not valid: {fault}",
                labels.unwrap_or("")
            ))
        };
        ObjectSelector::parse(labels, None).map_err(refused)
    }

    /// Resolves the selector for one kind.
    ///
    /// # Errors
    /// The API server's message if the kind does not support one of the fields.
    pub fn for_kind(
        mut self,
        definitions: &Definitions,
        kind: Kind,
        api_version: &str,
    ) -> Result<ObjectSelector, String> {
        for requirement in &mut self.fields {
            requirement.field =
                Some(definitions.selectable(kind, api_version, &requirement.name)?);
        }
        Ok(self)
    }

    /// Returns true if the selector selects everything.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// Returns true if an object meets all requirements.
    pub fn matches(&self, object: &Value) -> bool {
        let labels = &object["metadata"]["labels"];
        let holds = |requirement: &FieldRequirement| {
            let value = requirement
                .field
                .as_ref()
                .map(|field| field.value(object))
                .unwrap_or_default();
            (value == requirement.value) == requirement.is_equal
        };
        self.labels
            .iter()
            .all(|requirement| requirement.matches(labels))
            && self.fields.iter().all(holds)
    }
}

/// Parses a field selector. Models `apimachinery/pkg/fields/selector.go`.
fn field_requirements(selector: &str) -> Result<Vec<FieldRequirement>, String> {
    let mut terms = terms(selector);
    k8s_model::sort::sort(&mut terms);
    let mut requirements = Vec::new();
    for term in terms.into_iter().filter(|term| !term.is_empty()) {
        let start = term.find("!=").into_iter().chain(term.find('=')).min();
        let start = start
            .ok_or_else(|| format!("invalid selector: '{selector}'; can't understand '{term}'"))?;
        let (name, rest) = term.split_at(start);
        let operator = ["!=", "==", "="]
            .into_iter()
            .find(|operator| rest.starts_with(operator))
            .unwrap_or("");
        let (name, value) = (name.to_owned(), unescaped(&rest[operator.len()..])?);
        requirements.push(FieldRequirement {
            name,
            value,
            is_equal: operator != "!=",
            field: None,
        });
    }
    Ok(requirements)
}

/// Splits at commas that are not escaped by a backslash.
fn terms(selector: &str) -> Vec<&str> {
    let (mut terms, mut start, mut escaped) = (Vec::new(), 0, false);
    for (at, c) in selector.char_indices() {
        if c == ',' && !escaped {
            terms.push(&selector[start..at]);
            start = at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    terms.push(&selector[start..]);
    terms
}

/// Removes the escapes of backslashes, commas and equals signs.
fn unescaped(value: &str) -> Result<String, String> {
    let mut text = String::new();
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(next @ ('\\' | ',' | '=')) => text.push(next),
                next => {
                    let sequence: String = std::iter::once('\\').chain(next).collect();
                    return Err(format!(
                        "invalid field selector: invalid escape sequence: {sequence}"
                    ));
                }
            },
            ',' | '=' => {
                return Err(format!(
                    "invalid field selector: unescaped character in value: {}",
                    u32::from(c)
                ));
            }
            c => text.push(c),
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use crate::{Progress, Session};
    use cluster::Sim;
    use controller_runtime::cluster::ClusterConfig;

    /// Returns exit code and stderr of a command.
    fn refusal(sim: &mut Sim, words: &[&str]) -> (i32, String) {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let mut session = Session::start(sim, &words, "");
        assert_eq!(session.poll(sim), Progress::Done, "{words:?}");
        (session.exit.unwrap_or(-1), session.stderr)
    }

    #[test]
    fn every_verb_refuses_a_selector_that_cannot_be_read() {
        let mut sim = Sim::new(ClusterConfig::default(), 1);
        let fault =
            "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt\n";
        let of_server = |resource: &str| {
            let found = format!(
                "Unable to find \"{resource}\" that match label selector \"a b\", field selector \"\""
            );
            format!("Error from server (BadRequest): {found}: {fault}")
        };
        let (pods, deployments) = ("/v1, Resource=pods", "apps/v1, Resource=deployments");
        for (words, resource) in [
            (&["get", "pods"][..], pods),
            (&["get", "pods", "-w"], pods),
            (&["delete", "pods"], pods),
            (&["describe", "pods"], pods),
            (&["label", "pods", "x=y"], pods),
            (&["annotate", "pods", "x=y"], pods),
            (&["logs"], pods),
            (&["wait", "pods", "--for=delete"], pods),
            (&["scale", "deployments", "--replicas=2"], deployments),
            (&["rollout", "restart", "deployments"], deployments),
            (&["set", "image", "deployments", "c=nginx"], deployments),
            (&["cordon"], "/v1, Resource=nodes"),
            (&["drain"], "/v1, Resource=nodes"),
        ] {
            assert_eq!(
                refusal(&mut sim, &[words, &["-l", "a b"]].concat()),
                (1, of_server(resource)),
                "{words:?}"
            );
        }
        assert_eq!(
            refusal(&mut sim, &["drain", "node-1", "--pod-selector", "a b"]),
            (1, format!("error: {fault}"))
        );
        for verb in ["apply", "create"] {
            let (code, stderr) = refusal(&mut sim, &[verb, "-f", "-", "-l", "a b"]);
            assert_eq!(
                (code, stderr),
                (
                    1,
                    format!("error: the provided selector \"a b\" is not valid: {fault}")
                ),
                "{verb}"
            );
        }
        let (code, stderr) = refusal(&mut sim, &["get", "pods", "--field-selector", "spec.foo=x"]);
        let found = "Unable to find \"/v1, Resource=pods\" that match label selector \"\", field selector \"spec.foo=x\"";
        assert_eq!(
            (code, stderr),
            (
                1,
                format!(
                    "Error from server (BadRequest): {found}: field label not supported: spec.foo\n"
                )
            )
        );
        let (code, _) = refusal(
            &mut sim,
            &[
                "get",
                "nodes",
                "--field-selector",
                "spec.unschedulable=false",
                "-o",
                "name",
            ],
        );
        assert_eq!(code, 0);
    }
}
