//! Pod security by the labels of a namespace, in the words of Kubernetes.

use crate::terminal;

use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use terminal::kubectl;

fn with_labels(labels: &str) -> Sim {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    sim.advance(sim.now().after(1_000_000), usize::MAX);
    let said = kubectl(
        &mut sim,
        "apply -f -",
        &format!(
            "{{apiVersion: v1, kind: Namespace, metadata: {{name: guarded, labels: {{{labels}}}}}}}"
        ),
    );
    assert_eq!(said, "namespace/guarded created\n");
    sim
}

/// What the server says about a Pod whose spec is this beside its one container, in a namespace that enforces a level.
fn refusal(level: &str, container: &str, spec: &str) -> String {
    let mut sim = with_labels(&format!("pod-security.kubernetes.io/enforce: {level}"));
    let pod = format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: p, namespace: guarded}}, spec: {{containers: [{{name: c, image: i{container}}}]{spec}}}}}"
    );
    let said = kubectl(&mut sim, "apply -f -", &pod);
    let start = format!(
        "Error from server (Forbidden): error when creating \"STDIN\": pods \"p\" is forbidden: violates PodSecurity \"{level}:latest\": "
    );
    said.strip_prefix(&start)
        .unwrap_or(&said)
        .trim_end()
        .to_owned()
}

const GOOD: &str = ", securityContext: {allowPrivilegeEscalation: false, runAsNonRoot: true, capabilities: {drop: [ALL]}, seccompProfile: {type: RuntimeDefault}}";

#[test]
fn a_pod_is_refused_with_every_reason() {
    assert_eq!(
        refusal("restricted", "", ""),
        "allowPrivilegeEscalation != false (container \"c\" must set securityContext.allowPrivilegeEscalation=false), \
         unrestricted capabilities (container \"c\" must set securityContext.capabilities.drop=[\"ALL\"]), \
         runAsNonRoot != true (pod or container \"c\" must set securityContext.runAsNonRoot=true), \
         seccompProfile (pod or container \"c\" must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\")"
    );
    assert_eq!(refusal("restricted", GOOD, ""), "pod/p created");
    assert_eq!(refusal("baseline", "", ""), "pod/p created");
    assert_eq!(
        refusal("privileged", ", securityContext: {privileged: true}", ""),
        "pod/p created"
    );
}

#[test]
fn each_check_of_baseline_has_its_words() {
    for (container, spec, words) in [
        (
            ", securityContext: {privileged: true}",
            "",
            "privileged (container \"c\" must not set securityContext.privileged=true)",
        ),
        (
            "",
            ", hostNetwork: true, hostPID: true",
            "host namespaces (hostNetwork=true, hostPID=true)",
        ),
        (
            ", ports: [{containerPort: 80, hostPort: 80}]",
            "",
            "hostPort (container \"c\" uses hostPort 80)",
        ),
        (
            "",
            ", volumes: [{name: v, hostPath: {path: /}}]",
            "hostPath volumes (volume \"v\")",
        ),
        (
            ", securityContext: {capabilities: {add: [NET_ADMIN, CHOWN]}}",
            "",
            "non-default capabilities (container \"c\" must not include \"NET_ADMIN\" in securityContext.capabilities.add)",
        ),
        (
            ", livenessProbe: {httpGet: {port: 80, host: example.org}}",
            "",
            "probe or lifecycle host (container \"c\" uses probe or lifecycle host \"example.org\")",
        ),
        (
            "",
            ", securityContext: {seccompProfile: {type: Unconfined}}",
            "seccompProfile (pod must not set securityContext.seccompProfile.type to \"Unconfined\")",
        ),
        (
            ", securityContext: {appArmorProfile: {type: Unconfined}}",
            "",
            "forbidden AppArmor profile (container \"c\" must not set AppArmor profile type to \"Unconfined\")",
        ),
        (
            "",
            ", securityContext: {seLinuxOptions: {type: spc_t, user: u}}",
            "seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type \"spc_t\"; user may not be set)",
        ),
        (
            "",
            ", securityContext: {sysctls: [{name: kernel.msgmax, value: '1'}]}",
            "forbidden sysctls (kernel.msgmax)",
        ),
    ] {
        assert_eq!(refusal("baseline", container, spec), words);
    }
}

#[test]
fn each_check_of_restricted_has_its_words() {
    for (container, spec, words) in [
        (
            GOOD,
            ", volumes: [{name: a, hostPath: {path: /}}, {name: b, nfs: {server: s, path: /}}]",
            "restricted volume types (volumes \"a\", \"b\" use restricted volume types \"hostPath\", \"nfs\")",
        ),
        (
            GOOD,
            ", securityContext: {runAsUser: 0}",
            "runAsUser=0 (pod must not set runAsUser=0)",
        ),
        (
            ", securityContext: {allowPrivilegeEscalation: false, runAsNonRoot: false, capabilities: {drop: [ALL], add: [CHOWN]}, seccompProfile: {type: Localhost, localhostProfile: p}}",
            "",
            "unrestricted capabilities (container \"c\" must not include \"CHOWN\" in securityContext.capabilities.add), \
             runAsNonRoot != true (container \"c\" must not set securityContext.runAsNonRoot=false)",
        ),
    ] {
        assert_eq!(refusal("restricted", container, spec), words);
    }
}

const DEPLOYMENT: &str = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: guarded}, spec: {selector: {matchLabels: {a: b}}, \
     template: {metadata: {labels: {a: b}}, spec: {hostNetwork: true, containers: [{name: c, image: i}]}}}}";

#[test]
fn a_workload_is_warned_of_and_its_pods_are_refused() {
    let mut sim = with_labels("pod-security.kubernetes.io/enforce: baseline");
    let said = kubectl(&mut sim, "apply -f -", DEPLOYMENT);
    assert_eq!(
        said,
        "deployment.apps/d created\nWarning: would violate PodSecurity \"baseline:latest\": host namespaces (hostNetwork=true)\n"
    );
    sim.advance(sim.now().after(5_000_000), usize::MAX);
    assert_eq!(
        kubectl(&mut sim, "get pods -n guarded", ""),
        "No resources found in guarded namespace.\n"
    );
    let events = kubectl(&mut sim, "events -n guarded", "");
    assert!(
        events.contains(
            "violates PodSecurity \"baseline:latest\": host namespaces (hostNetwork=true)"
        ),
        "{events}"
    );
}

#[test]
fn a_warning_alone_refuses_nothing_and_versions_are_kept() {
    let mut sim = with_labels(
        "pod-security.kubernetes.io/warn: restricted, pod-security.kubernetes.io/warn-version: v1.20, pod-security.kubernetes.io/audit: baseline",
    );
    let said = kubectl(&mut sim, "run p -n guarded --image=nginx", "");
    assert!(said.starts_with("pod/p created\nWarning: would violate PodSecurity \"restricted:v1.20\": allowPrivilegeEscalation"), "{said}");
    assert!(
        !said.contains("capabilities"),
        "asked for since v1.22: {said}"
    );
}

#[test]
fn labels_are_checked_and_present_pods_told_of() {
    let mut sim = with_labels("team: a");
    kubectl(&mut sim, "run p -n guarded --image=nginx", "");
    assert_eq!(
        kubectl(
            &mut sim,
            "label ns guarded pod-security.kubernetes.io/enforce=strict",
            ""
        ),
        "The Namespace \"guarded\" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: \"strict\": \
         must be one of privileged, baseline, restricted\n"
    );
    assert_eq!(
        kubectl(
            &mut sim,
            "label ns guarded pod-security.kubernetes.io/enforce=restricted",
            ""
        ),
        "namespace/guarded labeled\n\
         Warning: existing pods in namespace \"guarded\" violate the new PodSecurity enforce level \"restricted:latest\"\n\
         Warning: p: allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile\n"
    );
}
