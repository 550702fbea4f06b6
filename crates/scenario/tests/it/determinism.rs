//! The same scenario and seed give the same bytes, however the time was sliced.

use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::Kind;
use scenario::Trace;
use std::fs;
use std::path::Path;

/// Everything that a person can have come late or go slowly, set and taken back.
const DISTURBED: &str = "
name: disturbed
cluster: {nodes: 3}
steps:
- fault: slow replicaset-controller 700ms
- fault: slow kube-scheduler 300ms
- apply: |
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web}
    spec:
      replicas: 4
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec: {containers: [{name: c, image: 'nginx:1.27'}]}
- wait: 2s
- fault: delay pod 3s
- fault: delay pod 400ms kubelet
- fault: delay replicaset/{{rs:web:0}} 1m
- kubectl: set image deployment/web c=nginx:1.28
- wait: 5s
- fault: slow kube-controller-manager 20ms
- fault: delay replicaset none
- wait: 10s
- fault: slow kube-controller-manager none
- fault: slow kube-scheduler none
- wait: settled
- kubectl: get pods
";

/// Walkthrough of the autoscaler with two load generators, one of them attached to a terminal.
const LOADED: &str = "
name: loaded
steps:
- apply: |
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: php-apache}
    spec:
      selector: {matchLabels: {run: php-apache}}
      template:
        metadata: {labels: {run: php-apache}}
        spec:
          containers:
          - name: php-apache
            image: registry.k8s.io/hpa-example
            ports: [{containerPort: 80}]
            resources: {limits: {cpu: 500m}, requests: {cpu: 200m}}
    ---
    apiVersion: v1
    kind: Service
    metadata: {name: php-apache}
    spec: {ports: [{port: 80}], selector: {run: php-apache}}
- kubectl: autoscale deployment php-apache --cpu=50% --min=1 --max=10
- wait: 10s
- kubectl: run -i --tty load-generator --rm --image=busybox:1.28 --restart=Never -- /bin/sh -c 'while sleep 0.01; do wget -q -O- http://php-apache; done'
  background: true
- kubectl: run second --image=busybox:1.28 --restart=Never -- /bin/sh -c 'while sleep 0.1; do wget -q -O- http://php-apache; done'
- wait: 60s
- kubectl: get hpa
- kubectl: delete pod load-generator second
- wait: 6m
- kubectl: get hpa
";

fn trace(name: &str, seed: u64, slice: usize) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(format!("../../tests/conformance/scenarios/{name}.yaml"));
    trace_of(&fs::read_to_string(path).unwrap(), seed, slice)
}

fn trace_of(text: &str, seed: u64, slice: usize) -> Vec<u8> {
    let scenario = scenario::parse(text).unwrap();
    let mut bytes = Vec::new();
    scenario::run(&scenario, seed, slice, &mut Trace::new(&mut bytes));
    bytes
}

#[test]
fn a_background_command_of_the_last_step_runs() {
    let text = "name: a\nsteps:\n- kubectl: get nodes\n  background: true\n";
    let trace = String::from_utf8(trace_of(text, 1, usize::MAX)).unwrap();
    assert!(trace.contains("node-1"), "{trace}");
}

#[test]
fn a_run_in_slices_gives_the_same_bytes() {
    for name in [
        "b-rolling-3-default",
        "l05-sts-rolling",
        "c6-rolling-10-s25-u25",
        "n06-svc-rolling",
        "k3-delete-orphan",
    ] {
        let whole = trace(name, 1, usize::MAX);
        assert!(whole.len() > 10_000, "{name} is a history");
        for slice in [1, 7, 1000] {
            assert!(
                trace(name, 1, slice) == whole,
                "{name} in slices of {slice}"
            );
        }
    }
}

#[test]
fn late_events_and_slow_loops_are_replayed_to_the_byte() {
    let whole = trace_of(DISTURBED, 1, usize::MAX);
    let text = String::from_utf8_lossy(&whole);
    assert!(
        whole.len() > 10_000 && !text.replace("skip-mirror", "").contains("rror"),
        "{text}"
    );
    assert!(text.matches("nginx:1.28").count() > 4, "{text}");
    for slice in [1, 2, 7, 1000] {
        assert!(
            trace_of(DISTURBED, 1, slice) == whole,
            "in slices of {slice}"
        );
    }
}

#[test]
fn a_load_of_requests_is_replayed_to_the_byte() {
    let whole = trace_of(LOADED, 1, usize::MAX);
    let text = String::from_utf8_lossy(&whole);
    // 645m and 165m of requests; nine Pods of 100m would be within the tolerance of eight.
    for shown in [
        "cpu: 45%/50%   1         10        9",
        "cpu: 0%/50%   1         10        1",
    ] {
        assert!(text.contains(shown), "{text}");
    }
    for slice in [1, 7, 1000] {
        assert!(trace_of(LOADED, 1, slice) == whole, "in slices of {slice}");
    }
}

#[test]
fn another_seed_is_another_history() {
    assert!(trace("b-rolling-3-default", 1, 1000) != trace("b-rolling-3-default", 2, 1000));
}

/// A script that waits is polled between frames. The history has only the polls that mattered; with them it comes as far again.
#[test]
fn a_script_that_waits_is_repeated_from_the_history() {
    use actions::{Action, Host};
    let line = "i=1; sleep 1; i=$((i+1)); echo $i > f; sleep 1; sleep 1; kubectl create configmap a --from-literal=k=$(cat f); sleep 1; \
                kubectl create configmap b --from-literal=k=$i";
    let fresh = || Sim::new(ClusterConfig::default(), 1);
    let (mut host, mut history) = (Host::new(fresh()), Vec::new());
    for command in
        std::iter::once(Action::Kubectl(line.into())).chain(std::iter::repeat_n(Action::Poll, 100))
    {
        if host.run(&command).changed {
            history.push((host.sim.now(), command));
        }
        host.advance(host.sim.now().after(70_000), usize::MAX);
    }
    assert!(
        host.waiting.terminal.is_empty() && history.len() < 15,
        "{}",
        history.len()
    );
    let sim = host.sim;
    let mut host = Host::new(fresh());
    for (at, command) in &history {
        host.advance(*at, usize::MAX);
        host.run(command);
    }
    host.advance(sim.now(), usize::MAX);
    let again = host.sim;
    let written = |sim: &Sim| {
        sim.store()
            .list(Kind::ConfigMap)
            .map(|object| object.to_value().to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(written(&sim).len(), 2 + written(&fresh()).len());
    assert_eq!(written(&sim), written(&again));
}
