//! Pods that name ConfigMaps and Secrets which are not there.

use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::{Kind, ObjectRef, Time};
use kubectl::Session;
use kubectl::parse::split;

fn apply(sim: &mut Sim, text: &str) {
    let session = Session::start(sim, &split("apply -f -"), text);
    assert_eq!(session.exit, Some(0), "{}", session.stderr);
}

fn cluster(spec: &str) -> Sim {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    apply(
        &mut sim,
        &format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: p}}, spec: {{containers: [{{name: c, image: i{spec}}}]}}}}"
        ),
    );
    sim
}

/// What `kubectl get pods` shows after so many seconds.
fn shown(sim: &mut Sim, seconds: u64) -> String {
    sim.advance(Time(seconds * 1_000_000), usize::MAX);
    let mut session = Session::start(sim, &split("get pods --no-headers"), "");
    session.poll(sim);
    session
        .stdout
        .split_whitespace()
        .take(3)
        .collect::<Vec<_>>()
        .join(" ")
}

fn events(sim: &Sim, reason: &str) -> Vec<String> {
    let all = sim
        .store()
        .list(Kind::Event)
        .map(|event| event.to_value())
        .filter(|event| event["reason"] == reason);
    all.map(|e| e["message"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_container_waits_for_what_its_environment_is_made_of() {
    for (spec, words, kind) in [
        (
            "envFrom: [{configMapRef: {name: settings}}]",
            "configmap \"settings\" not found",
            "ConfigMap",
        ),
        (
            "env: [{name: A, valueFrom: {secretKeyRef: {name: settings, key: a}}}]",
            "secret \"settings\" not found",
            "Secret",
        ),
    ] {
        let mut sim = cluster(&format!(", {spec}"));
        assert_eq!(shown(&mut sim, 5), "p 0/1 CreateContainerConfigError");
        assert_eq!(events(&sim, "Failed"), [format!("Error: {words}")]);
        apply(
            &mut sim,
            &format!(
                "{{apiVersion: v1, kind: {kind}, metadata: {{name: settings}}, data: {{a: YQ==}}}}"
            ),
        );
        assert_eq!(shown(&mut sim, 20), "p 1/1 Running");
    }
}

#[test]
fn a_pod_waits_for_what_its_volumes_hold() {
    for source in [
        "configMap: {name: files}",
        "projected: {sources: [{configMap: {name: files}}]}",
    ] {
        let mut sim = cluster(&format!("}}], volumes: [{{name: v, {source}"));
        assert_eq!(shown(&mut sim, 10), "p 0/1 ContainerCreating");
        assert_eq!(
            events(&sim, "FailedMount"),
            ["MountVolume.SetUp failed for volume \"v\" : configmap \"files\" not found"]
        );
        apply(
            &mut sim,
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: files}}",
        );
        assert_eq!(shown(&mut sim, 30), "p 1/1 Running");
    }
}

#[test]
fn what_is_optional_is_not_waited_for() {
    let mut sim = cluster(
        ", envFrom: [{configMapRef: {name: settings, optional: true}}]}], volumes: [{name: v, secret: {secretName: s, optional: true}",
    );
    assert_eq!(shown(&mut sim, 5), "p 1/1 Running");
    assert!(
        sim.store()
            .get(&ObjectRef::new(Kind::Secret, "default", "s"))
            .is_none()
    );
}

/// A Pod of these containers; in front of them stand init containers and volumes.
fn whole(spec: &str) -> Sim {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    apply(
        &mut sim,
        &format!("{{apiVersion: v1, kind: Pod, metadata: {{name: p}}, spec: {{{spec}}}}}"),
    );
    sim
}

#[test]
fn a_key_that_is_missing_is_told_in_the_kubelets_words() {
    let config = "{apiVersion: v1, kind: ConfigMap, metadata: {name: m}, data: {there: x}}";
    let secret = "{apiVersion: v1, kind: Secret, metadata: {name: m}, stringData: {there: x}}";
    for (object, spec, reason, words) in [
        (
            config,
            "containers: [{name: c, image: i, env: [{name: A, valueFrom: {configMapKeyRef: {name: m, key: gone}}}]}]",
            "Failed",
            "Error: couldn't find key gone in ConfigMap default/m",
        ),
        (
            secret,
            "containers: [{name: c, image: i, env: [{name: A, valueFrom: {secretKeyRef: {name: m, key: gone}}}]}]",
            "Failed",
            "Error: couldn't find key gone in Secret default/m",
        ),
        (
            config,
            "containers: [{name: c, image: i}], volumes: [{name: v, configMap: {name: m, items: [{key: there, path: a}, {key: gone, path: b}]}}]",
            "FailedMount",
            "MountVolume.SetUp failed for volume \"v\" : references non-existent config key: gone",
        ),
        (
            secret,
            "containers: [{name: c, image: i}], volumes: [{name: v, secret: {secretName: m, items: [{key: gone, path: b}]}}]",
            "FailedMount",
            "MountVolume.SetUp failed for volume \"v\" : references non-existent secret key: gone",
        ),
        (
            config,
            "containers: [{name: c, image: i}], volumes: [{name: v, projected: {sources: [{configMap: {name: m, items: [{key: gone, path: b}]}}, \
             {secret: {name: s}}]}}]",
            "FailedMount",
            "MountVolume.SetUp failed for volume \"v\" : [references non-existent config key: gone, secret \"s\" not found]",
        ),
    ] {
        let mut sim = whole(spec);
        apply(&mut sim, object);
        shown(&mut sim, 10);
        assert_eq!(events(&sim, reason), [words], "{spec}");
        // What is there, or optional, is no matter.
        for better in [
            spec.replace("gone", "there"),
            spec.replace("name: m,", "name: m, optional: true,")
                .replace("secretName: m,", "secretName: m, optional: true,"),
        ] {
            let mut sim = whole(&better.replace("{name: s}", "{name: s, optional: true}"));
            apply(&mut sim, object);
            assert_eq!(shown(&mut sim, 10), "p 1/1 Running", "{better}");
        }
    }
}

#[test]
fn a_container_starts_when_its_key_has_come_and_the_others_do_not_wait_for_it() {
    let mut sim = whole(
        "containers: [{name: a, image: i}, {name: b, image: i, env: [{name: A, valueFrom: {configMapKeyRef: {name: m, key: k}}}]}]",
    );
    assert_eq!(shown(&mut sim, 5), "p 1/2 CreateContainerConfigError");
    let phase = |sim: &Sim| {
        sim.store()
            .get(&ObjectRef::new(Kind::Pod, "default", "p"))
            .unwrap()
            .to_value()["status"]["phase"]
            .clone()
    };
    assert_eq!(phase(&sim), "Pending");
    apply(
        &mut sim,
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: m}, data: {}}",
    );
    shown(&mut sim, 20);
    assert_eq!(
        events(&sim, "Failed"),
        [
            "Error: configmap \"m\" not found",
            "Error: couldn't find key k in ConfigMap default/m"
        ]
    );
    apply(
        &mut sim,
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: m}, data: {k: v}}",
    );
    assert_eq!(shown(&mut sim, 40), "p 2/2 Running");
    assert_eq!(phase(&sim), "Running");
    let status = sim
        .store()
        .get(&ObjectRef::new(Kind::Pod, "default", "p"))
        .unwrap()
        .to_value()["status"]["containerStatuses"][1]
        .clone();
    assert_eq!(
        (
            &status["restartCount"],
            status["lastState"].as_object().map(|s| s.len())
        ),
        (&serde_json::json!(0), Some(0))
    );
}

#[test]
fn init_containers_and_sidecars_wait_as_containers_do() {
    let from = "envFrom: [{secretRef: {name: s}}]";
    for (spec, waits, ready) in [
        (
            format!(
                "initContainers: [{{name: a, image: i}}, {{name: b, image: i, {from}}}], containers: [{{name: c, image: i}}]"
            ),
            "0/1 Init:CreateContainerConfigError",
            "1/1",
        ),
        (
            format!(
                "initContainers: [{{name: a, image: i, restartPolicy: Always, {from}}}], containers: [{{name: c, image: i}}]"
            ),
            "0/2 Init:CreateContainerConfigError",
            "2/2",
        ),
        (
            format!(
                "initContainers: [{{name: a, image: i}}], containers: [{{name: c, image: i, {from}}}]"
            ),
            "0/1 CreateContainerConfigError",
            "1/1",
        ),
    ] {
        let mut sim = whole(&spec);
        assert_eq!(shown(&mut sim, 6), format!("p {waits}"), "{spec}");
        apply(
            &mut sim,
            "{apiVersion: v1, kind: Secret, metadata: {name: s}}",
        );
        assert_eq!(shown(&mut sim, 25), format!("p {ready} Running"), "{spec}");
    }
}

#[test]
fn a_container_that_is_started_again_is_made_anew() {
    let mut sim = whole("containers: [{name: c, image: i, envFrom: [{configMapRef: {name: m}}]}]");
    apply(
        &mut sim,
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: m}}",
    );
    assert_eq!(shown(&mut sim, 5), "p 1/1 Running");
    let mut session = Session::start(&mut sim, &split("delete configmap m"), "");
    session.poll(&mut sim);
    sim.fault("exit pod/p 1").unwrap();
    assert_eq!(shown(&mut sim, 10), "p 0/1 CreateContainerConfigError");
    apply(
        &mut sim,
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: m}}",
    );
    shown(&mut sim, 30);
    let status = sim
        .store()
        .get(&ObjectRef::new(Kind::Pod, "default", "p"))
        .unwrap()
        .to_value()["status"]["containerStatuses"][0]
        .clone();
    assert_eq!(
        (&status["restartCount"], &status["ready"]),
        (&serde_json::json!(1), &serde_json::json!(true))
    );
}

#[test]
fn every_namespace_has_the_root_certificate_and_gets_it_back() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    let mut say = |line: &str| {
        let mut session = Session::start(&mut sim, &split(line), "");
        let now = sim.now();
        sim.advance(Time(now.0 + 1_000_000), usize::MAX);
        session.poll(&mut sim);
        session.stdout
    };
    assert!(say("get configmaps --no-headers").starts_with("kube-root-ca.crt   1"));
    say("create namespace shop");
    say("delete configmap kube-root-ca.crt");
    let all = say("get configmaps -A --no-headers");
    assert_eq!(
        all.lines()
            .filter(|line| line.contains("kube-root-ca.crt   1"))
            .count(),
        5,
        "{all}"
    );
    say(r#"patch configmap kube-root-ca.crt -p {"data":{"ca.crt":"x"}}"#);
    let data = say("get configmap kube-root-ca.crt -o jsonpath={.data}");
    assert!(data.contains("BEGIN CERTIFICATE"), "{data}");
    say("annotate configmap kube-root-ca.crt kubernetes.io/description-");
    assert!(
        say("get configmap kube-root-ca.crt -o jsonpath={.metadata.annotations}")
            .contains("Contains a CA bundle")
    );
    // One that goes with its namespace does not come back.
    say("delete namespace shop --wait=false");
    (0..10).for_each(|_| drop(say("version")));
    let all = say("get configmaps -A --no-headers");
    assert_eq!(all.lines().count(), 4, "{all}");
}

#[test]
fn files_of_volumes_have_the_paths_that_their_items_say() {
    let manifest = "{apiVersion: v1, kind: ConfigMap, metadata: {name: m}, data: {a: '1', b: '2'}}\n---\n\
        {apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {p: hush}}\n---\n\
        {apiVersion: v1, kind: Pod, metadata: {name: x, labels: {app: x}}, spec: {containers: [{name: c, image: busybox, command: [sleep, '999'], \
        volumeMounts: [{name: v, mountPath: /v}, {name: w, mountPath: /w}]}], volumes: [{name: v, configMap: {name: m, items: [{key: a, path: \
        sub/first}]}}, {name: w, projected: {sources: [{configMap: {name: m}}, {secret: {name: s, items: [{key: p, path: password}]}}, \
        {downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}]}}]}}]}}";
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    Session::start(&mut sim, &split("apply -f -"), manifest);
    sim.advance(sim.now().after(5_000_000), usize::MAX);
    let said = |sim: &mut Sim, command: &str| {
        let mut session = Session::start(sim, &split(&format!("exec x -- {command}")), "");
        while session.poll(sim) != kubectl::Progress::Done {
            sim.advance(sim.now().after(100_000), usize::MAX);
        }
        session.stdout + &session.stderr
    };
    assert_eq!(said(&mut sim, "ls /v"), "sub\n");
    let root = said(&mut sim, "ls /");
    assert!(
        ["bin", "etc", "tmp", "v", "w"]
            .iter()
            .all(|name| root.lines().any(|line| line == *name)),
        "{root}"
    );
    assert_eq!(said(&mut sim, "ls /etc"), "hostname\nhosts\nresolv.conf\n");
    assert_eq!(said(&mut sim, "cat /v/sub/first"), "1");
    assert_eq!(said(&mut sim, "ls /w"), "a\nb\nlabels\npassword\n");
    assert_eq!(said(&mut sim, "cat /w/password /w/labels"), "hushapp=\"x\"");
    assert_eq!(
        said(
            &mut sim,
            "cat /var/run/secrets/kubernetes.io/serviceaccount/namespace"
        ),
        "default"
    );
}

#[test]
fn environment_has_expanded_values_and_fields_of_the_pod() {
    let manifest = "{apiVersion: v1, kind: Pod, metadata: {name: x, labels: {app: shop}, annotations: {x: hint}}, spec: {containers: [{name: c, \
        image: busybox, command: [sleep, $(TIME)], resources: {limits: {cpu: 250m}}, env: [{name: TIME, value: '20'}, \
        {name: APP, valueFrom: {fieldRef: {fieldPath: \"metadata.labels['app']\"}}}, \
        {name: NOTE, valueFrom: {fieldRef: {fieldPath: \"metadata.annotations['x']\"}}}, \
        {name: CPU, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1m}}}, \
        {name: ALL, value: '$(APP)-$(CPU)-$$(APP)-$(NONE)'}]}]}}";
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    apply(&mut sim, manifest);
    sim.advance(sim.now().after(5_000_000), usize::MAX);
    let mut session = Session::start(&mut sim, &split("exec x -- env"), "");
    session.poll(&mut sim);
    for line in [
        "APP=shop",
        "NOTE=hint",
        "CPU=250",
        "ALL=shop-250-$(APP)-$(NONE)",
    ] {
        let mut lines = session.stdout.lines();
        assert!(
            lines.any(|known| known == line),
            "{line}: {}",
            session.stdout
        );
    }
    // The kubelet expands the command as well: sleep ends.
    assert_eq!(shown(&mut sim, 25), "x 1/1 Running");
    let pod = sim.store().get(&ObjectRef::new(Kind::Pod, "default", "x"));
    let restarts =
        pod.unwrap().to_value()["status"]["containerStatuses"][0]["restartCount"].clone();
    assert_eq!(restarts, 1);
}
