//! Matching of Pod affinity terms, shared by the filter and the score.
//!
//! Models `pkg/scheduler/framework/types.go` (`AffinityTerm`).

use super::framework::Cycle;
use k8s_model::pod::PodAffinityTerm;
use k8s_model::{Kind, Object, ObjectRef, Str};
use std::collections::BTreeMap;

/// Sum of a value over the Pods in each domain, by topology key and domain (`topologyToMatchedTermCount`, `topologyScore`).
#[derive(Default)]
pub(super) struct DomainSums<'c>(BTreeMap<&'c str, BTreeMap<&'c str, i64>>);

impl<'c> DomainSums<'c> {
    /// Adds a value to a node's domain of a key, if it has one.
    pub fn add(&mut self, key: &'c str, node: &'c Object, value: i64) {
        if let Some(domain) = node.meta.label(key) {
            *self.0.entry(key).or_default().entry(domain).or_default() += value;
        }
    }

    /// Returns true if nothing has been added.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the sum in a node's domain of a key.
    pub fn get(&self, key: &str, node: &Object) -> i64 {
        let domains = self.0.get(key);
        let domain = domains.and_then(|domains| domains.get(node.meta.label(key)?.as_str()));
        domain.copied().unwrap_or(0)
    }

    /// Returns the total of the sums in a node's domains.
    pub fn total(&self, node: &Object) -> i64 {
        self.0.keys().map(|key| self.get(key, node)).sum()
    }
}

/// Returns true if a term of a Pod in `namespace` selects the other Pod.
pub(super) fn selects(
    term: &PodAffinityTerm,
    namespace: &Str,
    other: &Object,
    cycle: &Cycle<'_>,
) -> bool {
    let theirs = &other.meta.namespace;
    let by_selector = || {
        term.namespace_selector.as_ref().is_some_and(|selector| {
            let found = cycle
                .cache
                .object(&ObjectRef::new(Kind::Namespace, "", theirs));
            selector.is_empty() || found.is_some_and(|n| selector.matches(&n.meta.labels))
        })
    };
    let own =
        term.namespaces.is_empty() && term.namespace_selector.is_none() && theirs == namespace;
    (own || term.namespaces.contains(theirs) || by_selector())
        && term
            .label_selector
            .as_ref()
            .is_some_and(|s| s.matches(&other.meta.labels))
}

/// Returns true if two nodes are in the same domain of a key.
pub(super) fn same_domain(a: &Object, b: &Object, key: &str) -> bool {
    a.meta
        .label(key)
        .is_some_and(|domain| b.meta.label(key) == Some(domain))
}
