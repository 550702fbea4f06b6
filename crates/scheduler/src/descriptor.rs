//! UI presentation of the scheduler.

use apiserver::Component;
use controller_runtime::descriptor::{CodeLine, CodeTag, CodeValue, Descriptor};
use controller_runtime::fact::FactId;

/// Pseudo-code of a reconcile pass.
const CODE: &[CodeLine] = &[
    CodeLine::step("for pod := range queue {"),
    CodeLine::reads(
        "    nodes := filter(cache.Nodes, pod)",
        CodeValue::Fact(FactId::NodesFit),
    ),
    CodeLine::step("    if len(nodes) == 0 {"),
    CodeLine::writes(
        "        condition(pod, Unschedulable)",
        CodeTag::Unschedulable,
    ),
    CodeLine::leaves("        continue"),
    CodeLine::end("    }"),
    CodeLine::reads("    best := max(score(nodes, pod))", CodeValue::Last),
    CodeLine::writes("    bind(pod, best)", CodeTag::Bind),
    CodeLine::end("}"),
];

/// UI descriptor of the scheduler.
pub static DESCRIPTOR: Descriptor = Descriptor {
    component: Component::Scheduler,
    aliases: &[],
    title: "scheduler",
    icon: "i-scheduler",
    lane: "scheduler",
    always_shown: true,
    code: CODE,
};
