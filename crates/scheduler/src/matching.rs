//! Node selectors and tolerations: shared by filters, scores and spread constraints.
//!
//! Models `component-helpers/scheduling/corev1/nodeaffinity` and `component-helpers/scheduling/corev1/helpers.go`.

use k8s_model::Object;
use k8s_model::node::Taint;
use k8s_model::pod::{NodeSelector, NodeSelectorTerm, PodSpec, Toleration};
use k8s_model::selector::contains_all;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Returns true if one of the terms matches; a term without requirements never does.
pub(super) fn selects(selector: &NodeSelector, node: &Object) -> bool {
    selector
        .node_selector_terms
        .iter()
        .any(|term| term_matches(term, node))
}

pub(super) fn term_matches(term: &NodeSelectorTerm, node: &Object) -> bool {
    if term.match_expressions.is_empty() && term.match_fields.is_empty() {
        return false;
    }
    let fields = Rc::new(BTreeMap::from([(
        "metadata.name".into(),
        node.meta.name.clone(),
    )]));
    term.match_expressions
        .iter()
        .all(|r| r.matches(&node.meta.labels))
        && term.match_fields.iter().all(|r| r.matches(&fields))
}

/// Returns true if a node matches a Pod's node selector and required node affinity.
pub fn fits_affinity(spec: &PodSpec, node: &Object) -> bool {
    let required = spec
        .affinity
        .node_affinity
        .required_during_scheduling_ignored_during_execution
        .as_ref();
    contains_all(&node.meta.labels, &spec.node_selector)
        && required.is_none_or(|selector| selects(selector, node))
}

/// Returns true if one of the tolerations covers the taint. An empty key with `Exists` covers all, an empty effect every effect.
pub fn tolerates(tolerations: &[Toleration], taint: &Taint) -> bool {
    tolerations.iter().any(|t| {
        let value = t.operator == "Exists" || t.value == taint.value;
        (t.effect.is_empty() || t.effect == taint.effect)
            && (t.key == taint.key || (t.key.is_empty() && t.operator == "Exists"))
            && value
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_toleration_covers_what_it_names() {
        let taint = Taint {
            key: "gpu".into(),
            value: "yes".into(),
            effect: "NoSchedule".into(),
            ..Default::default()
        };
        let t = |key: &str, operator: &str, value: &str, effect: &str| Toleration {
            key: key.into(),
            operator: operator.into(),
            value: value.into(),
            effect: effect.into(),
            toleration_seconds: None,
        };
        let cases = [
            (t("gpu", "Equal", "yes", "NoSchedule"), true),
            (t("gpu", "", "yes", ""), true),
            (t("gpu", "Equal", "no", ""), false),
            (t("gpu", "Exists", "", ""), true),
            (t("", "Exists", "", ""), true),
            (t("gpu", "Exists", "", "NoExecute"), false),
        ];
        for (toleration, expected) in cases {
            assert_eq!(
                tolerates(std::slice::from_ref(&toleration), &taint),
                expected,
                "{toleration:?}"
            );
        }
    }
}
