//! Pods forbidden by the Pod Security level of their namespace.

use super::finding::{Context, Diagnosis, line, owners};
use crate::waits::RemedyKind;
use k8s_model::{Kind, Object, Str};

/// Offers to make the Pods of a workload comply with the strictest level.
pub fn secured(sim: &Context<'_>, object: &Object, level: &Str, out: &mut Diagnosis) {
    let top = owners(sim, &object.key())
        .pop()
        .unwrap_or_else(|| object.key());
    let Some(template) = sim
        .store()
        .get(&top)
        .and_then(|top| top.pod_template())
        .filter(|_| top.kind != Kind::Job)
    else {
        return;
    };
    let own = "\"securityContext\":{\"allowPrivilegeEscalation\":false,\"privileged\":false,\"capabilities\":{\"drop\":[\"ALL\"]}}";
    let containers: Vec<String> = template
        .spec
        .containers
        .iter()
        .map(|container| ["{\"name\":\"", &container.name, "\",", own, "}"].concat())
        .collect();
    let pod = "\"securityContext\":{\"runAsNonRoot\":true,\"runAsUser\":1000,\"seccompProfile\":{\"type\":\"RuntimeDefault\"}}";
    let spec = ["{", pod, ",\"containers\":[", &containers.join(","), "]}"].concat();
    let patch = [" -p '{\"spec\":{\"template\":{\"spec\":", &spec, "}}}'"].concat();
    out.cure(
        RemedyKind::Secure,
        level,
        "",
        &[line("patch", &top, &patch)],
    );
}
