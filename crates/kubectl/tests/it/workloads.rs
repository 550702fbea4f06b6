//! Pods of controllers at the edges of their ordinals and selectors, and what containers see of volumes.

use crate::terminal::kubectl;
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::time::SECOND;

fn cluster(nodes: usize) -> Sim {
    let mut sim = Sim::new(ClusterConfig::with_nodes(nodes), 1);
    sim.advance(sim.now().after(SECOND), usize::MAX);
    sim
}

/// Applies a manifest, lets half a minute pass, and returns what a line of kubectl prints then.
fn after(sim: &mut Sim, manifest: &str, line: &str) -> String {
    kubectl(sim, "apply -f -", manifest);
    sim.advance(sim.now().after(30 * SECOND), usize::MAX);
    kubectl(sim, line, "")
}

#[test]
fn a_partition_beyond_all_ordinals_is_no_overflow() {
    let set = "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {serviceName: web, replicas: 1, ordinals: {start: 1}, \
               updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 2147483647}}, \
               selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: nginx}]}}}}";
    let pods = after(&mut cluster(1), set, "get pods -o name");
    assert_eq!(pods, "pod/web-1\n");
}

#[test]
fn a_job_adopts_a_pod_that_has_succeeded_and_a_replica_set_does_not() {
    let mut sim = cluster(1);
    let template = "{metadata: {labels: {app: done}}, spec: {restartPolicy: Never, containers: [{name: c, image: busybox, command: ['true']}]}}";
    let pod = format!("{{apiVersion: v1, kind: Pod, {}", &template[1..])
        .replace("metadata: {", "metadata: {name: done, ");
    let phase = after(&mut sim, &pod, "get pod done -o jsonpath={.status.phase}");
    assert_eq!(phase, "Succeeded");
    let owner = "get pod done -o jsonpath={.metadata.ownerReferences[*].kind}";
    let template_of_set = template.replace("Never", "Always");
    let set = format!(
        "{{apiVersion: apps/v1, kind: ReplicaSet, metadata: {{name: done}}, spec: {{replicas: 0, selector: {{matchLabels: {{app: done}}}}, template: {template_of_set}}}}}"
    );
    assert_eq!(after(&mut sim, &set, owner), "");
    let job = format!(
        "{{apiVersion: batch/v1, kind: Job, metadata: {{name: done}}, spec: {{manualSelector: true, selector: {{matchLabels: {{app: done}}}}, template: {template}}}}}"
    );
    assert_eq!(after(&mut sim, &job, owner), "Job");
    let pods = kubectl(&mut sim, "get pods -o name", "");
    assert_eq!(pods, "pod/done\n", "it counts as the Job's completion");
}

#[test]
fn pages_of_leases_are_sorted_and_hold_each_lease_once() {
    let mut sim = cluster(3);
    let own = "{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: node-2, namespace: kube-node-lease}, spec: {holderIdentity: own}}\n---\n\
               {apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: zone, namespace: kube-node-lease}, spec: {holderIdentity: own}}";
    let line = "get leases -n kube-node-lease -o name --chunk-size=";
    let all = after(&mut sim, own, &format!("{line}0"));
    let names: Vec<&str> = all.split_whitespace().collect();
    let expected = ["node-1", "node-2", "node-3", "zone"]
        .map(|name| format!("lease.coordination.k8s.io/{name}"));
    assert_eq!(names, expected);
    assert_eq!(kubectl(&mut sim, &format!("{line}1"), ""), all);
}

#[test]
fn mounts_expand_variables_and_compare_paths_of_the_host() {
    let mut sim = cluster(1);
    let pod = |name: &str, path: &str| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}}}, spec: {{volumes: [{{name: host, hostPath: {{path: {path}}}}}], \
             containers: [{{name: c, image: busybox, command: [sleep, '3600'], env: [{{name: NAME, valueFrom: {{fieldRef: {{fieldPath: metadata.name}}}}}}], \
             volumeMounts: [{{name: host, mountPath: /all}}, {{name: host, mountPath: /own, subPathExpr: logs/$(NAME)}}]}}]}}}}\n---\n"
        )
    };
    let pods = pod("a", "/data/") + &pod("b", "/data");
    after(&mut sim, &pods, "exec a -- sh -c 'echo hello > /own/file'");
    let read = |sim: &mut Sim, line: &str| kubectl(sim, line, "");
    let hello = "hello\n";
    assert_eq!(read(&mut sim, "exec b -- cat /all/logs/a/file"), hello);
    let other = read(&mut sim, "exec b -- cat /own/file");
    assert!(other.contains("No such file"), "{other}");
    assert_eq!(read(&mut sim, "exec b -- ls /all/logs"), "a\n");
}
