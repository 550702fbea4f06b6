//! Match rules of admission webhooks, policies and their bindings.
//!
//! Models `apiserver/pkg/admission/plugin/webhook/predicates` and `plugin/policy/matching`.

use super::AdmissionRequest;
use crate::definitions::Definitions;
use k8s_model::selector::LabelSelector;
use k8s_model::{Kind, Labels, Object, json};
use serde_json::Value;

/// Matcher of the requests that a webhook, a policy or a binding applies to.
#[derive(Clone, Debug)]
pub(super) struct Matcher {
    /// True for `matchPolicy: Exact`: only requests in the rules' own versions match, not equivalent ones.
    exact: bool,
    /// Rules; `None` if every request matches.
    rules: Option<Vec<Rule>>,
    excluded: Vec<Rule>,
    namespaces: Selector,
    objects: Selector,
}

/// Rule with operations.
#[derive(Clone, Debug)]
struct Rule {
    operations: Vec<String>,
    groups: Vec<String>,
    versions: Vec<String>,
    /// Resources with their subresources.
    resources: Vec<(String, String)>,
    /// Object names; empty for all.
    names: Vec<String>,
    namespaced: Option<bool>,
}

/// Label selector; selects nothing if it does not decode.
#[derive(Clone, Debug)]
struct Selector(Option<LabelSelector>);

impl Selector {
    fn read(value: &Value) -> Selector {
        Selector(json::part(Some(value)).ok())
    }

    fn selects(&self, labels: &Labels) -> bool {
        self.0
            .as_ref()
            .is_some_and(|selector| selector.matches(labels))
    }
}

fn texts(value: &Value) -> Vec<String> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

/// Returns true if a list contains a word or `*`.
fn lists(list: &[String], word: &str) -> bool {
    list.iter().any(|own| own == "*" || own == word)
}

impl Rule {
    fn read_all(rules: &Value) -> Vec<Rule> {
        rules
            .as_array()
            .into_iter()
            .flatten()
            .map(Rule::read)
            .collect()
    }

    fn read(rule: &Value) -> Rule {
        let split = |pattern: String| match pattern.split_once('/') {
            Some((resource, subresource)) => (resource.to_owned(), subresource.to_owned()),
            None => (pattern, String::new()),
        };
        Rule {
            operations: texts(&rule["operations"]),
            groups: texts(&rule["apiGroups"]),
            versions: texts(&rule["apiVersions"]),
            resources: texts(&rule["resources"]).into_iter().map(split).collect(),
            names: texts(&rule["resourceNames"]),
            namespaced: match rule["scope"].as_str() {
                Some("Namespaced") => Some(true),
                Some("Cluster") => Some(false),
                _ => None,
            },
        }
    }

    /// Returns the API version in which the rule matches a request: the requested one, or an equivalent one.
    fn matches(
        &self,
        exact: bool,
        definitions: &Definitions,
        request: AdmissionRequest<'_>,
    ) -> Option<String> {
        let info = request.object.kind.info();
        let matches = lists(&self.operations, request.operation)
            && self.resources.iter().any(|(resource, subresource)| {
                (resource == "*" || resource == info.plural)
                    && (subresource == "*" || subresource == request.subresource.word())
            })
            && self
                .namespaced
                .is_none_or(|namespaced| namespaced == info.namespaced)
            && (self.names.is_empty()
                || self
                    .names
                    .iter()
                    .any(|name| *name == *request.object.meta.name));
        matches
            .then(|| self.version(exact, definitions, request))
            .flatten()
    }

    fn version(
        &self,
        exact: bool,
        definitions: &Definitions,
        request: AdmissionRequest<'_>,
    ) -> Option<String> {
        let kind = request.object.kind;
        let named = |group: &str, version: &str| match group {
            "" => version.to_owned(),
            group => format!("{group}/{version}"),
        };
        let matched = |group: &str, version: &str| {
            (lists(&self.groups, group) && lists(&self.versions, version))
                .then(|| named(group, version))
        };
        let (group, version) = request.group_version();
        let requested = matched(group, version);
        if requested.is_some() || exact {
            return requested;
        }
        let info = kind.info();
        matched(info.group, info.version).or_else(|| match kind {
            Kind::Event => matched("events.k8s.io", "v1"),
            Kind::HorizontalPodAutoscaler => matched(info.group, "v1"),
            kind if kind.is_custom() => {
                let mut versions = definitions.of(kind)?.versions.iter();
                versions.find_map(|version| matched(info.group, &version.name))
            }
            _ => None,
        })
    }
}

impl Matcher {
    /// Parses the matcher of a webhook, or of a part of a policy or a binding, with its rules.
    pub fn read(value: &Value, rules: &Value) -> Matcher {
        Matcher {
            exact: value["matchPolicy"] == "Exact",
            rules: Some(Rule::read_all(rules)),
            excluded: Rule::read_all(&value["excludeResourceRules"]),
            namespaces: Selector::read(&value["namespaceSelector"]),
            objects: Selector::read(&value["objectSelector"]),
        }
    }

    /// Makes a matcher without rules match every request.
    pub fn or_every_rule(mut self) -> Matcher {
        self.rules = self.rules.filter(|rules| !rules.is_empty());
        self
    }

    /// Matches a request against the rules and selectors; `namespace` is that of the object, if it exists. Returns the API version in which
    /// the request matches.
    pub fn matched_version(
        &self,
        definitions: &Definitions,
        namespace: Option<&Object>,
        request: AdmissionRequest<'_>,
    ) -> Option<String> {
        let first = |rules: &[Rule]| {
            rules
                .iter()
                .find_map(|rule| rule.matches(self.exact, definitions, request))
        };
        let version = match self.rules.as_deref() {
            Some(rules) => first(rules)?,
            None => request.api_version(),
        };
        let is_selected = first(&self.excluded).is_none()
            && self.selects_namespace(namespace, request.object)
            && (self.objects.selects(&request.object.meta.labels)
                || request
                    .old
                    .is_some_and(|old| self.objects.selects(&old.meta.labels)));
        is_selected.then_some(version)
    }

    /// Returns true if the labels of an object's namespace are selected; cluster-scoped objects always are.
    fn selects_namespace(&self, namespace: Option<&Object>, object: &Object) -> bool {
        if object.kind == Kind::Namespace {
            return self.namespaces.selects(&object.meta.labels);
        }
        let namespace = namespace.filter(|_| object.kind.info().namespaced);
        namespace.is_none_or(|namespace| self.namespaces.selects(&namespace.meta.labels))
    }
}
