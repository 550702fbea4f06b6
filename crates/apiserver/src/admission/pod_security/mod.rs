//! Pod security by namespace labels: violations of `enforce` are refused, those of `warn` cause warnings.
//!
//! Guarantees: only Pods are refused; a client that writes a workload whose Pods would be refused gets a warning.
//! Models `staging/src/k8s.io/pod-security-admission`.

mod checks;

use crate::error::{ApiError, Cause};
use crate::store::Store;
use crate::validation::{self, FieldError};
use checks::Subject;
use k8s_model::{Kind, Object, ObjectRef};
use serde_json::Value;

const PREFIX: &str = "pod-security.kubernetes.io/";
/// Minor version of `latest`.
const LATEST: u32 = 36;

/// Pod security level.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    /// No restrictions.
    Privileged,
    /// Known privilege escalations are forbidden.
    Baseline,
    /// Hardening best practices are required.
    Restricted,
}

impl Level {
    /// Returns the value of the label.
    fn name(self) -> &'static str {
        ["privileged", "baseline", "restricted"][self as usize]
    }
}

/// Pod security level at a version of Kubernetes.
#[derive(Clone, PartialEq, Debug)]
struct Policy {
    level: Level,
    minor: u32,
    /// Label value, such as `restricted:latest`.
    name: String,
}

impl Policy {
    /// Parses the policy from the two labels of a mode; invalid labels are added to `errors`.
    fn of(labels: &Value, mode: &str, errors: &mut Vec<FieldError>) -> Option<Policy> {
        let mut complain = |label: &str, value: &str, detail: &str| {
            let field = format!("metadata.labels[{PREFIX}{label}]");
            errors.push(FieldError {
                field,
                fault: validation::ErrorType::Invalid,
                value: Value::from(value).to_string(),
                detail: detail.to_owned(),
            });
        };
        let label = |name: &str| {
            labels
                .get(format!("{PREFIX}{name}"))
                .and_then(Value::as_str)
        };
        let level = label(mode).map(|text| match text {
            "privileged" => Level::Privileged,
            "baseline" => Level::Baseline,
            "restricted" => Level::Restricted,
            _ => {
                complain(
                    mode,
                    text,
                    "must be one of privileged, baseline, restricted",
                );
                if mode == "enforce" {
                    Level::Restricted
                } else {
                    Level::Privileged
                }
            }
        });
        let version = format!("{mode}-version");
        let minor = label(&version).and_then(|text| {
            let minor = text.strip_prefix("v1.").and_then(|n| n.parse::<u32>().ok());
            if minor.is_none() && text != "latest" {
                complain(&version, text, "must be \"latest\" or \"v1.x\"");
            }
            minor
        });
        let level = level?;
        let name = level.name();
        let shown = minor.map_or_else(|| "latest".to_owned(), |minor| format!("v1.{minor}"));
        Some(Policy {
            level,
            minor: minor.unwrap_or(LATEST),
            name: format!("{name}:{shown}"),
        })
    }

    fn findings(&self, annotations: &Value, spec: &Value) -> Vec<(&'static str, String)> {
        checks::findings(
            self.level,
            &Subject {
                annotations,
                spec,
                minor: self.minor,
            },
        )
    }

    /// Returns the message `PodSecurity "…": …`, if a Pod of this spec violates the policy.
    fn violation(&self, annotations: &Value, spec: &Value) -> Option<String> {
        let found: Vec<String> = self
            .findings(annotations, spec)
            .into_iter()
            .map(|(reason, detail)| format!("{reason} ({detail})"))
            .collect();
        (!found.is_empty()).then(|| format!("PodSecurity {:?}: {}", self.name, found.join(", ")))
    }
}

/// Returns the policies for `enforce` and `warn`; without a `warn` label, the enforced policy applies to both.
fn policies(labels: &Value, errors: &mut Vec<FieldError>) -> (Option<Policy>, Option<Policy>) {
    let enforce = Policy::of(labels, "enforce", errors);
    Policy::of(labels, "audit", errors);
    let warn = Policy::of(labels, "warn", errors).or_else(|| enforce.clone());
    (enforce, warn)
}

/// Refuses a Pod that violates the policy of its namespace.
pub(crate) fn validate(store: &Store, object: &Object) -> Result<(), ApiError> {
    let Some(pod) = object.pod() else {
        return Ok(());
    };
    let (Some(enforce), _) = policies_of(store, &object.meta.namespace) else {
        return Ok(());
    };
    let annotations = object
        .meta
        .annotations
        .iter()
        .map(|(key, value)| (key.to_string(), Value::from(value.as_str())));
    match enforce.violation(&Value::Object(annotations.collect()), &pod.spec.raw) {
        Some(text) => Err(ApiError {
            cause: Some(Box::new(Cause::PodSecurity(enforce.level.name().into()))),
            ..ApiError::forbidden(format!(
                "pods {:?} is forbidden: violates {text}",
                object.meta.name.as_str()
            ))
        }),
        None => Ok(()),
    }
}

fn policies_of(store: &Store, namespace: &str) -> (Option<Policy>, Option<Policy>) {
    let Some(object) = store.get(&ObjectRef::new(Kind::Namespace, "", namespace)) else {
        return (None, None);
    };
    if !object.meta.labels.keys().any(|key| key.starts_with(PREFIX)) {
        return (None, None);
    }
    let labels = object
        .meta
        .labels
        .iter()
        .map(|(key, value)| (key.to_string(), Value::from(value.as_str())));
    policies(&Value::Object(labels.collect()), &mut Vec::new())
}

/// Adds warnings about a written object, and validates the labels of a namespace.
pub(crate) fn warn(
    store: &Store,
    warnings: &mut Vec<String>,
    kind: Kind,
    value: &Value,
    old: Option<&Object>,
) -> Vec<FieldError> {
    if kind == Kind::Namespace {
        return warn_of_level(store, warnings, value, old);
    }
    let pointer = kind.info().pod_template;
    let template = pointer
        .filter(|_| kind != Kind::Pod || old.is_none())
        .and_then(|pointer| value.pointer(pointer));
    let Some(template) = template.filter(|template| template["spec"]["containers"].is_array())
    else {
        return Vec::new();
    };
    let namespace = value["metadata"]["namespace"].as_str().unwrap_or("default");
    let (enforce, warn) = policies_of(store, namespace);
    let annotations = &template["metadata"]["annotations"];
    let refused = kind == Kind::Pod
        && enforce
            .is_some_and(|policy| !policy.findings(annotations, &template["spec"]).is_empty());
    if let Some(text) = warn
        .filter(|_| !refused)
        .and_then(|policy| policy.violation(annotations, &template["spec"]))
    {
        warnings.push(format!("would violate {text}"));
    }
    Vec::new()
}

/// Warns about existing Pods that violate a policy that is being tightened.
fn warn_of_level(
    store: &Store,
    warnings: &mut Vec<String>,
    value: &Value,
    old: Option<&Object>,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let (enforce, _) = policies(&value["metadata"]["labels"], &mut errors);
    let (Some(enforce), Some(old)) = (enforce, old) else {
        return errors;
    };
    let before = policies_of(store, &old.meta.name).0;
    if !errors.is_empty() || before.as_ref() == Some(&enforce) {
        return errors;
    }
    let mut found: Vec<(String, String, usize)> = Vec::new();
    for object in store.listing(Kind::Pod, Some(&old.meta.name)) {
        let Some(pod) = object.pod() else { continue };
        let reasons: Vec<&str> = enforce
            .findings(&Value::Null, &pod.spec.raw)
            .into_iter()
            .map(|(reason, _)| reason)
            .collect();
        let reasons = reasons.join(", ");
        match found.iter_mut().find(|(known, ..)| *known == reasons) {
            Some((.., count)) => *count += 1,
            None if !reasons.is_empty() => found.push((reasons, object.meta.name.to_string(), 1)),
            None => {}
        }
    }
    if !found.is_empty() {
        let name = old.meta.name.as_str();
        warnings.push(format!(
            "existing pods in namespace {name:?} violate the new PodSecurity enforce level {:?}",
            enforce.name
        ));
        let mut lines: Vec<String> = found
            .into_iter()
            .map(|(reasons, pod, count)| format!("{pod}{}: {reasons}", others(count)))
            .collect();
        lines.sort();
        warnings.append(&mut lines);
    }
    errors
}

fn others(count: usize) -> String {
    match count {
        1 => String::new(),
        2 => " (and 1 other pod)".to_owned(),
        _ => format!(" (and {} other pods)", count - 1),
    }
}
