//! UI presentation of the kubelets.

use apiserver::Component;
use controller_runtime::descriptor::{CodeLine, CodeTag, Descriptor};

/// Pseudo-code of a reconcile pass.
const CODE: &[CodeLine] = &[
    CodeLine::step("for pod := range podsOf(node) {"),
    CodeLine::step("    desired := pod.Spec"),
    CodeLine::step("    actual  := runtime.Status(pod)"),
    CodeLine::step("    if pod.DeletionTimestamp != nil {"),
    CodeLine::acts("        stop(containers, gracePeriod)", CodeTag::Stop),
    CodeLine::writes("        delete(pod, grace 0)", CodeTag::Delete),
    CodeLine::step("    } else {"),
    CodeLine::acts("        start(what is missing)", CodeTag::Start),
    CodeLine::end("    }"),
    CodeLine::writes("    updateStatus(pod, probes)", CodeTag::Status),
    CodeLine::end("}"),
];

/// UI descriptor of the kubelets.
pub static DESCRIPTOR: Descriptor = Descriptor {
    component: Component::Kubelet,
    aliases: &[],
    title: "kubelet",
    icon: "i-kubelet",
    lane: "kubelet",
    always_shown: true,
    code: CODE,
};
