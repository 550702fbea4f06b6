//! UI presentation of the scheduler.

use controller_runtime::descriptor::{CodeLine, Descriptor};

/// Pseudo-code of a reconcile pass.
const CODE: &[CodeLine] = &[
    ("for pod := range queue {", "", ""),
    (
        "    nodes := filter(cache.Nodes, pod)",
        "",
        "nodes that fit",
    ),
    ("    if len(nodes) == 0 {", "", ""),
    ("        condition(pod, Unschedulable)", "nonode", "act"),
    ("        continue", "", ""),
    ("    }", "", ""),
    ("    best := max(score(nodes, pod))", "", "last"),
    ("    bind(pod, best)", "bind", "act"),
    ("}", "", ""),
];

/// UI descriptor of the scheduler.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "default-scheduler",
    aliases: &[],
    title: "scheduler",
    icon: "i-scheduler",
    lane: "scheduler",
    always_shown: true,
    code: CODE,
};
