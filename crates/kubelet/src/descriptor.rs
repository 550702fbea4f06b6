//! UI presentation of the kubelets.

use controller_runtime::descriptor::{CodeLine, Descriptor};

/// Pseudo-code of a reconcile pass.
const CODE: &[CodeLine] = &[
    ("for pod := range podsOf(node) {", "", ""),
    ("    desired := pod.Spec", "", ""),
    ("    actual  := runtime.Status(pod)", "", ""),
    ("    if pod.DeletionTimestamp != nil {", "", ""),
    ("        stop(containers, gracePeriod)", "stop", ""),
    ("        delete(pod, grace 0)", "delete", "act"),
    ("    } else {", "", ""),
    ("        start(what is missing)", "start", ""),
    ("    }", "", ""),
    ("    updateStatus(pod, probes)", "status", "act"),
    ("}", "", ""),
];

/// UI descriptor of the kubelets.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "kubelet",
    aliases: &[],
    title: "kubelet",
    icon: "i-kubelet",
    lane: "kubelet",
    always_shown: true,
    code: CODE,
};
