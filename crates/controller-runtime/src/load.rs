//! Simulated resource usage of Pods, set by faults and read through the resource metrics API.

use crate::informer::Cache;
use apiserver::ApiServer;
use k8s_model::pod::Pod;
use k8s_model::quantity::{Quantity, QuantityError};
use k8s_model::selector::{LabelSelector, Requirement};
use k8s_model::{Kind, Labels, Object, Str};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

/// Total usage of a selector's running Pods, split evenly.
#[derive(Clone, Debug)]
pub struct Load {
    /// `cpu` or `memory`.
    pub what: &'static str,
    selector: LabelSelector,
    /// Thousandths of a core, or of a byte.
    amount: i64,
}

/// Why words are no load.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LoadError {
    /// No quantity: the resource, the word, and why.
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
    /// Reads `app=web,tier=front` and `700m`.
    pub fn parse(what: &'static str, selector: &str, total: &str) -> Result<Load, LoadError> {
        let amount = Quantity::parse(total)
            .map_err(|error| LoadError::Amount(what, total.to_owned(), error))?
            .as_millis();
        let mut wanted = LabelSelector::default();
        for pair in selector.split(',') {
            let (key, value) = pair
                .split_once('=')
                .ok_or_else(|| LoadError::Label(what, pair.to_owned()))?;
            let value = value.trim_start_matches('=').into();
            wanted.match_expressions.push(Requirement {
                key: key.into(),
                operator: "In".into(),
                values: vec![value],
            });
        }
        Ok(Load {
            what,
            selector: wanted,
            amount,
        })
    }

    /// `cpu` or `memory`.
    pub fn resource(&self) -> &'static str {
        self.what
    }

    /// Whether Pods with these labels have a part of it.
    pub fn is_for(&self, labels: &Labels) -> bool {
        self.selector.matches(labels)
    }

    /// Whether both have the same resource and selector, so that the later replaces the earlier.
    pub fn replaces(&self, other: &Load) -> bool {
        self.what == other.what && self.selector == other.selector
    }
}

/// Whether a load is set for these labels.
pub fn is_said(loads: &[Load], what: &'static str, selector: &str) -> bool {
    Load::parse(what, selector, "0").is_ok_and(|load| loads.iter().any(|old| load.replaces(old)))
}

/// The total usage that is set for these labels, in thousandths.
pub fn amount(loads: &[Load], what: &'static str, selector: &str) -> Option<i64> {
    let load = Load::parse(what, selector, "0").ok()?;
    loads
        .iter()
        .rev()
        .find(|old| load.replaces(old))
        .map(|old| old.amount)
}

fn is_running(object: &Object) -> bool {
    object
        .pod()
        .is_some_and(|pod: &Pod| pod.status.phase == "Running")
}

/// The load that applies to a Pod; the last one set wins.
fn of<'l>(loads: &'l [Load], what: &str, pod: &Object) -> Option<&'l Load> {
    loads.iter().rev().find(|load| {
        load.what == what && is_running(pod) && load.selector.matches(&pod.meta.labels)
    })
}

/// Whether the resource metrics API has data for a Pod.
pub fn is_known(loads: &[Load], pod: &Object) -> bool {
    ["cpu", "memory"]
        .into_iter()
        .any(|what| of(loads, what, pod).is_some())
}

/// Usage of a Pod in thousandths; `None` if it does not run or no load is set.
pub fn usage(loads: &[Load], what: &str, pod: &Object, cache: &Cache) -> Option<i64> {
    let load = of(loads, what, pod)?;
    Some(share(load, cache.list_in(Kind::Pod, &pod.meta.namespace)))
}

/// Usage of a Pod in thousandths as the server knows it, if a load is set.
pub fn used(server: &ApiServer, loads: &[Load], what: &str, pod: &Object) -> Option<i64> {
    let load = of(loads, what, pod)?;
    Some(share(
        load,
        server
            .list(Kind::Pod)
            .filter(|o| o.meta.namespace == pod.meta.namespace),
    ))
}

/// Usage of many Pods: each load is divided once for all Pods of a namespace.
#[derive(Debug)]
pub struct Usage<'a> {
    server: &'a ApiServer,
    loads: &'a [Load],
    shares: BTreeMap<(usize, Str), i64>,
}

impl<'a> Usage<'a> {
    pub fn new(server: &'a ApiServer, loads: &'a [Load]) -> Usage<'a> {
        Usage {
            server,
            loads,
            shares: BTreeMap::new(),
        }
    }

    /// What [`used`] says, and nothing where no load is set.
    pub fn of(&mut self, what: &str, pod: &Object) -> i64 {
        let Some(load) = of(self.loads, what, pod) else {
            return 0;
        };
        let place = self
            .loads
            .iter()
            .position(|other| std::ptr::eq(other, load))
            .unwrap_or(0);
        let (server, namespace) = (self.server, &pod.meta.namespace);
        let share = || {
            share(
                load,
                server
                    .list(Kind::Pod)
                    .filter(|o| o.meta.namespace == *namespace),
            )
        };
        *self
            .shares
            .entry((place, namespace.clone()))
            .or_insert_with(share)
    }
}

/// Memory usage of a Pod in bytes, if a load is set.
pub fn memory(loads: &[Load], pod: &Object, server: &ApiServer) -> Option<i64> {
    Some(used(server, loads, "memory", pod)? / 1000)
}

/// Share of each running Pod that matches.
fn share<'a>(load: &Load, pods: impl Iterator<Item = &'a Rc<Object>>) -> i64 {
    load.amount
        / pods
            .filter(|pod| is_running(pod) && load.selector.matches(&pod.meta.labels))
            .count()
            .max(1) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_a_selector_and_an_amount() {
        let load = Load::parse("cpu", "app=web,tier=front", "700m").unwrap();
        assert_eq!(
            (load.amount, load.selector.match_expressions.len()),
            (700, 2)
        );
        assert!(load.replaces(&Load::parse("cpu", "app=web,tier=front", "1").unwrap()));
        assert_eq!(
            Load::parse("memory", "app=web", "1Mi").unwrap().amount,
            1_048_576_000
        );
        assert!(Load::parse("cpu", "app", "1").is_err());
        assert!(Load::parse("cpu", "app=web", "much").is_err());
    }
}
