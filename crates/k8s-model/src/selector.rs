//! Label selectors.

use super::json::record;
use super::{Labels, Str};
use crate::json;

record! {
    /// Label selector; an empty one selects everything.
    #[derive(Clone, PartialEq, Eq, Debug, Default)]
    pub struct LabelSelector {
        pub match_labels: Labels = "matchLabels" omitempty,
        pub match_expressions: Vec<Requirement> = "matchExpressions" omitempty,
    }

    /// Set-based requirement of a selector.
    #[derive(Clone, PartialEq, Eq, Debug, Default)]
    pub struct Requirement {
        pub key: Str = "key",
        pub operator: Str = "operator",
        pub values: Vec<Str> = "values" omitempty,
    }
}

impl LabelSelector {
    /// Returns true if the labels satisfy every requirement.
    pub fn matches(&self, labels: &Labels) -> bool {
        contains_all(labels, &self.match_labels)
            && self.match_expressions.iter().all(|r| r.matches(labels))
    }

    /// Parses the selector of a workload or a Service; Services and ReplicationControllers have plain labels.
    pub fn of_pods(value: &serde_json::Value) -> LabelSelector {
        let plain = value
            .as_object()
            .is_some_and(|map| map.values().all(serde_json::Value::is_string));
        // A selector that does not decode selects nothing.
        if plain {
            LabelSelector {
                match_labels: json::part(Some(value)).unwrap_or_default(),
                ..Default::default()
            }
        } else {
            json::part(Some(value)).unwrap_or_default()
        }
    }

    /// Returns true if the selector has no requirement.
    pub fn is_empty(&self) -> bool {
        self.match_labels.is_empty() && self.match_expressions.is_empty()
    }
}

/// Formats the selector as kubectl does: `app=web,tier in (a,b)`; an empty one as empty text.
impl std::fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let labels = self
            .match_labels
            .iter()
            .map(|(key, value)| [key, "=", value].concat());
        let sets = self
            .match_expressions
            .iter()
            .map(|of| match of.operator.as_str() {
                "In" => [of.key.as_str(), " in (", &of.values.join(","), ")"].concat(),
                "NotIn" => [of.key.as_str(), " notin (", &of.values.join(","), ")"].concat(),
                "Exists" => of.key.to_string(),
                _ => ["!", &of.key].concat(),
            });
        f.write_str(&labels.chain(sets).collect::<Vec<_>>().join(","))
    }
}

impl Requirement {
    /// Returns true if the labels satisfy this requirement. `Gt` and `Lt` are for node affinity and for selectors of requests.
    pub fn matches(&self, labels: &Labels) -> bool {
        self.admits(labels.get(&self.key).map(Str::as_str))
    }

    /// Returns true if the value of the label satisfies this requirement; `None` for an absent label.
    pub fn admits(&self, value: Option<&str>) -> bool {
        let listed = value.is_some_and(|value| self.values.iter().any(|own| own == value));
        match self.operator.as_str() {
            "In" => listed,
            "NotIn" => !listed,
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            "Gt" => compare(value, &self.values).is_some_and(|o| o.is_gt()),
            "Lt" => compare(value, &self.values).is_some_and(|o| o.is_lt()),
            _ => false,
        }
    }
}

fn compare(value: Option<&str>, values: &[Str]) -> Option<std::cmp::Ordering> {
    Some(
        value?
            .parse::<i64>()
            .ok()?
            .cmp(&values.first()?.parse::<i64>().ok()?),
    )
}

/// Returns true if `labels` holds every pair of `wanted`.
pub fn contains_all(labels: &Labels, wanted: &Labels) -> bool {
    wanted.iter().all(|(k, v)| labels.get(k) == Some(v))
}
