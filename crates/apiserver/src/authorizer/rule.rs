//! Rule of a role. Models `pkg/apis/rbac/v1/evaluation_helpers.go` and `component-helpers/auth/rbac/validation`.

use serde_json::Value;
use std::fmt;

/// Attributes of a request to be authorized.
#[derive(Clone, Copy, Debug, Default)]
pub struct Attributes<'a> {
    /// Verb: `get`, `list`, `create`…
    pub verb: &'a str,
    /// API group, empty for the core group; `*` for any.
    pub group: &'a str,
    /// Resource with subresource: `pods`, `pods/log`.
    pub resource: &'a str,
    /// Namespace; empty at the cluster scope.
    pub namespace: &'a str,
    /// Object name; empty for all objects, and for one that is to be created.
    pub name: &'a str,
    /// Path of a non-resource request; otherwise empty.
    pub url: &'a str,
}

/// Permissions of a rule; `*` stands for anything.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)]
pub struct PolicyRule {
    pub verbs: Vec<String>,
    pub groups: Vec<String>,
    pub resources: Vec<String>,
    pub names: Vec<String>,
    pub urls: Vec<String>,
}

/// Returns the strings of a list.
fn words(list: &Value) -> Vec<String> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

fn has(list: &[String], wanted: &str) -> bool {
    list.iter().any(|word| word == wanted || word == "*")
}

impl PolicyRule {
    /// Parses a rule.
    pub fn read(rule: &Value) -> PolicyRule {
        let list = |field: &str| words(&rule[field]);
        PolicyRule {
            verbs: list("verbs"),
            groups: list("apiGroups"),
            resources: list("resources"),
            names: list("resourceNames"),
            urls: list("nonResourceURLs"),
        }
    }

    /// Returns true if the rule allows a request.
    pub fn allows(&self, request: &Attributes<'_>) -> bool {
        if !has(&self.verbs, request.verb) {
            return false;
        }
        if !request.url.is_empty() {
            return self.urls.iter().any(|url| {
                url == request.url
                    || url
                        .strip_suffix('*')
                        .is_some_and(|start| request.url.starts_with(start))
            });
        }
        // `*/scale` matches the scale of any resource.
        let part = request
            .resource
            .split_once('/')
            .map(|(_, part)| format!("*/{part}"));
        let listed = has(&self.resources, request.resource)
            || part.is_some_and(|part| self.resources.contains(&part));
        let named = self.names.is_empty() || self.names.iter().any(|name| name == request.name);
        has(&self.groups, request.group) && listed && named
    }

    /// Splits the rule into rules of one verb, one group, one resource and one name each.
    pub fn single(&self) -> Vec<PolicyRule> {
        let one = |word: &str| vec![word.to_owned()];
        let names: Vec<Vec<String>> = if self.names.is_empty() {
            vec![Vec::new()]
        } else {
            self.names.iter().map(|n| one(n)).collect()
        };
        let mut all = Vec::new();
        for verb in &self.verbs {
            all.extend(self.urls.iter().map(|url| PolicyRule {
                verbs: one(verb),
                urls: one(url),
                ..Default::default()
            }));
            for group in &self.groups {
                for resource in &self.resources {
                    for names in &names {
                        let names = names.clone();
                        all.push(PolicyRule {
                            verbs: one(verb),
                            groups: one(group),
                            resources: one(resource),
                            names,
                            urls: Vec::new(),
                        });
                    }
                }
            }
        }
        all
    }

    /// Returns true if the rule allows everything that a single rule allows.
    pub fn covers(&self, single: &PolicyRule) -> bool {
        let first = |list: &'_ [String]| list.first().cloned().unwrap_or_default();
        let (verb, group, resource, name, url) = (
            first(&single.verbs),
            first(&single.groups),
            first(&single.resources),
            first(&single.names),
            first(&single.urls),
        );
        self.allows(&Attributes {
            verb: &verb,
            group: &group,
            resource: &resource,
            namespace: "",
            name: &name,
            url: &url,
        })
    }
}

/// Joins single rules that differ only in their verb.
pub fn compact(single: impl Iterator<Item = PolicyRule>) -> Vec<PolicyRule> {
    let mut all: Vec<PolicyRule> = Vec::new();
    for rule in single {
        let about = |r: &PolicyRule| (r.groups.clone(), r.resources.clone(), r.names.clone());
        match all
            .iter_mut()
            .find(|known| rule.urls.is_empty() && about(known) == about(&rule))
        {
            Some(known) => known.verbs.extend(
                rule.verbs
                    .into_iter()
                    .filter(|verb| !known.verbs.contains(verb))
                    .collect::<Vec<_>>(),
            ),
            None => all.push(rule),
        }
    }
    all
}

/// Formats a rule as `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`.
impl fmt::Display for PolicyRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = [
            ("NonResourceURLs", &self.urls),
            ("APIGroups", &self.groups),
            ("Resources", &self.resources),
            ("ResourceNames", &self.names),
            ("Verbs", &self.verbs),
        ];
        let list = |words: &Vec<String>| {
            words
                .iter()
                .map(|word| format!("{word:?}"))
                .collect::<Vec<_>>()
                .join(" ")
        };
        let parts = fields
            .iter()
            .filter(|(_, words)| !words.is_empty())
            .map(|(name, words)| format!("{name}:[{}]", list(words)));
        write!(f, "{{{}}}", parts.collect::<Vec<_>>().join(", "))
    }
}
