//! Matching of Pod affinity terms, shared by the filter and the score.
//!
//! Models `pkg/scheduler/framework/types.go` (`AffinityTerm`).

use super::framework::Cycle;
use k8s_model::pod::PodAffinityTerm;
use k8s_model::{Kind, Object, ObjectRef, Str};

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
