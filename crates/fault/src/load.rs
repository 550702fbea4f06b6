//! Simulated resource usage of Pods.

use k8s_model::quantity::{Quantity, QuantityError};
use k8s_model::selector::{LabelSelector, Requirement};
use k8s_model::{Labels, Str};
use std::fmt;

/// Total usage of a selector's running Pods, split evenly.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    resource: &'static str,
    selector: LabelSelector,
    amount: Quantity,
}

/// Reason why a load does not parse.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LoadError {
    /// Invalid quantity: the resource, the word, and the error.
    Amount(&'static str, String, QuantityError),
    /// Labels that are not `KEY=VALUE`: the resource and the word.
    Label(&'static str, String),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Amount(what, word, error) => write!(f, "{what}-load: {word}: {error}"),
            LoadError::Label(what, word) => write!(f, "{what}-load: not KEY=VALUE: {word}"),
        }
    }
}

impl std::error::Error for LoadError {}

impl Load {
    /// Parses labels and amount, as `app=web,tier=front` and `700m`.
    pub fn parse(resource: &'static str, selector: &str, total: &str) -> Result<Load, LoadError> {
        let amount = Quantity::parse(total)
            .map_err(|error| LoadError::Amount(resource, total.to_owned(), error))?;
        let labels: Vec<(Str, Str)> = selector
            .split(',')
            .map(|pair| {
                let (key, value) = pair
                    .split_once('=')
                    .ok_or_else(|| LoadError::Label(resource, pair.to_owned()))?;
                Ok((key.into(), value.trim_start_matches('=').into()))
            })
            .collect::<Result<_, _>>()?;
        Ok(Load::new(
            resource,
            labels.iter().map(|(key, value)| (key, value)),
            amount,
        ))
    }

    /// Builds a load from labels and the total usage of all running Pods with them.
    pub fn new<'l>(
        resource: &'static str,
        labels: impl Iterator<Item = (&'l Str, &'l Str)>,
        amount: Quantity,
    ) -> Load {
        let is = |(key, value): (&Str, &Str)| Requirement {
            key: key.clone(),
            operator: "In".into(),
            values: vec![value.clone()],
        };
        let selector = LabelSelector {
            match_expressions: labels.map(is).collect(),
            ..LabelSelector::default()
        };
        Load {
            resource,
            selector,
            amount,
        }
    }

    /// Returns the resource, `cpu` or `memory`.
    pub fn resource(&self) -> &'static str {
        self.resource
    }

    /// Returns the total usage that the Pods share.
    pub fn amount(&self) -> Quantity {
        self.amount
    }

    /// Formats the labels, as `app=web,tier=front`.
    pub fn labels(&self) -> String {
        let pair = |one: &Requirement| format!("{}={}", one.key, one.values.join(","));
        self.selector
            .match_expressions
            .iter()
            .map(pair)
            .collect::<Vec<_>>()
            .join(",")
    }

    /// Returns true if Pods with these labels share the load.
    pub fn is_for(&self, labels: &Labels) -> bool {
        self.selector.matches(labels)
    }

    /// Returns true if this load replaces the other, which is of the same resource and selector.
    pub fn replaces(&self, other: &Load) -> bool {
        self.resource == other.resource && self.selector == other.selector
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_a_selector_and_an_amount() {
        let load = Load::parse("cpu", "app=web,tier=front", "700m").unwrap();
        assert_eq!(
            (load.amount.as_millis(), load.labels().as_str()),
            (700, "app=web,tier=front")
        );
        assert!(load.replaces(&Load::parse("cpu", "app=web,tier=front", "1").unwrap()));
        let memory = Load::parse("memory", "app=web", "1Mi").unwrap();
        assert_eq!(memory.amount.as_millis(), 1_048_576_000);
        assert!(Load::parse("cpu", "app", "1").is_err());
        assert!(Load::parse("cpu", "app=web", "much").is_err());
    }
}
