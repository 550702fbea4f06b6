//! Pods forbidden by the Pod Security level of their namespace.

use super::finding::{Context, Diagnosis, line, owners};
use crate::waits::Cure;
use k8s_model::{Kind, Object, Str};

/// Returns the Pod Security level named by a refusal.
pub fn security_level(message: &str) -> Option<Str> {
    let rest = message.split_once("violates PodSecurity \"")?.1;
    rest.split([':', '"']).next().map(Str::from)
}

/// Offers to make the Pods of a workload comply with the strictest level.
pub fn secured(sim: &Context<'_>, object: &Object, level: &Str, out: &mut Diagnosis) {
    let top = owners(sim, &object.key())
        .pop()
        .unwrap_or_else(|| object.key());
    let Some(template) = sim
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
    out.cure(Cure::Secure, level, "", &[line("patch", &top, &patch)]);
}
