//! A taint keeps away Pods that do not tolerate it.
//!
//! Models `pkg/scheduler/framework/plugins/tainttoleration`.

use super::{Cycle, NodeInfo, Plugin, Refusal};
use crate::api::Object;
use crate::api::node::{Node, Taint};
use crate::api::pod::Toleration;

/// Whether one of the tolerations covers the taint. An empty key with `Exists` covers all, an empty effect every effect.
pub(in crate::engine) fn tolerates(tolerations: &[Toleration], taint: &Taint) -> bool {
    tolerations.iter().any(|t| {
        let value = t.operator == "Exists" || t.value == taint.value;
        (t.effect.is_empty() || t.effect == taint.effect) && (t.key == taint.key || (t.key.is_empty() && t.operator == "Exists")) && value
    })
}

pub(super) fn filter(cycle: &Cycle<'_>, _: &Object, node: &Node, _: &NodeInfo) -> Option<Refusal> {
    let hard = node.spec.taints.iter().filter(|t| t.effect == "NoSchedule" || t.effect == "NoExecute");
    // A cordoned node carries this taint as well; the filter before has spoken of it.
    let mut hard = hard.filter(|t| t.key != "node.kubernetes.io/unschedulable");
    if hard.any(|taint| !tolerates(&cycle.pod.spec.tolerations, taint)) {
        return Refusal::final_(Plugin::Taints, "node(s) had untolerated taint(s)");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_toleration_covers_what_it_names() {
        let taint = Taint { key: "gpu".into(), value: "yes".into(), effect: "NoSchedule".into(), ..Default::default() };
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
            assert_eq!(tolerates(std::slice::from_ref(&toleration), &taint), expected, "{toleration:?}");
        }
    }
}
