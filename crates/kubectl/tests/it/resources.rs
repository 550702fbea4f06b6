//! CPU, memory and devices: resizes of running Pods, resources that nodes advertise by name, RuntimeClasses.

use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::time::SECOND;
use k8s_model::{Kind, ObjectRef};
use kubectl::Session;
use kubectl::parse::split;
use serde_json::{Value, json};

fn kubectl(sim: &mut Sim, line: &str, stdin: &str) -> String {
    let mut session = Session::start(sim, &split(line), stdin);
    sim.advance(sim.now().after(3 * SECOND), usize::MAX);
    session.poll(sim);
    session.stdout + &session.stderr
}

fn apply(sim: &mut Sim, name: &str, spec: Value) -> String {
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec});
    kubectl(sim, "apply -f -", &pod.to_string())
}

fn pod(sim: &Sim, name: &str) -> Value {
    sim.store()
        .get(&ObjectRef::new(Kind::Pod, "default", name))
        .unwrap()
        .to_value()
}

fn condition(sim: &Sim, name: &str, kind: &str) -> Value {
    pod(sim, name)["status"]["conditions"]
        .as_array()
        .unwrap()
        .iter()
        .find(|c| c["type"] == kind)
        .cloned()
        .unwrap_or_default()
}

fn resize(sim: &mut Sim, name: &str, requests: &str) {
    let change = format!(
        r#"{{"spec":{{"containers":[{{"name":"c","resources":{{"requests":{requests}}}}}]}}}}"#
    );
    let said = kubectl(
        sim,
        &format!("patch pod {name} --subresource resize -p '{change}'"),
        "",
    );
    assert_eq!(said, format!("pod/{name} patched\n"));
}

#[test]
fn a_resize_waits_until_the_node_has_room_and_restarts_only_what_asks_for_it() {
    let mut sim = Sim::new(ClusterConfig::with_nodes(1), 1);
    let container = |cpu: &str| {
        json!({"name": "c", "image": "nginx", "resources": {"requests": {"cpu": cpu, "memory": "64Mi"}},
        "resizePolicy": [{"resourceName": "memory", "restartPolicy": "RestartContainer"}]})
    };
    apply(&mut sim, "a", json!({"containers": [container("1")]}));
    apply(&mut sim, "b", json!({"containers": [container("2")]}));
    resize(&mut sim, "a", r#"{"cpu":"3"}"#);
    let pending = condition(&sim, "a", "PodResizePending");
    assert_eq!(pending["reason"], "Deferred");
    assert_eq!(
        pending["message"],
        "Node didn't have enough resource: cpu, requested: 3000, used: 2000, capacity: 4000"
    );
    resize(&mut sim, "b", r#"{"cpu":"1"}"#);
    sim.advance(sim.now().after(10 * SECOND), usize::MAX);
    assert_eq!(condition(&sim, "a", "PodResizePending"), Value::Null);
    let status = pod(&sim, "a")["status"]["containerStatuses"][0].clone();
    assert_eq!(
        (
            &status["allocatedResources"]["cpu"],
            &status["restartCount"]
        ),
        (&json!("3"), &json!(0))
    );
    resize(&mut sim, "a", r#"{"memory":"1Gi"}"#);
    assert_eq!(
        pod(&sim, "a")["status"]["containerStatuses"][0]["restartCount"],
        1
    );
    resize(&mut sim, "a", r#"{"cpu":"9"}"#);
    assert_eq!(
        condition(&sim, "a", "PodResizePending")["reason"],
        "Infeasible"
    );
}

#[test]
fn devices_are_counted_by_name() {
    let mut sim = Sim::new(ClusterConfig::with_nodes(2), 1);
    let amounts = r#"{"example.com/gpu":"2"}"#;
    let change = format!(r#"{{"status":{{"capacity":{amounts},"allocatable":{amounts}}}}}"#);
    kubectl(
        &mut sim,
        &format!("patch node node-1 --subresource=status -p '{change}'"),
        "",
    );
    let wants = |gpus: i64| json!({"containers": [{"name": "c", "image": "nginx", "resources": {"limits": {"example.com/gpu": gpus}}}]});
    apply(&mut sim, "a", wants(1));
    apply(&mut sim, "b", wants(2));
    assert_eq!(pod(&sim, "a")["spec"]["nodeName"], "node-1");
    let message = condition(&sim, "b", "PodScheduled")["message"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        message.starts_with("0/2 nodes are available: 2 Insufficient example.com/gpu."),
        "{message}"
    );
    kubectl(&mut sim, "delete pod a", "");
    assert_eq!(pod(&sim, "b")["spec"]["nodeName"], "node-1");
}

#[test]
fn a_runtime_class_must_exist_and_adds_its_overhead() {
    let mut sim = Sim::new(ClusterConfig::with_nodes(1), 1);
    let spec =
        json!({"runtimeClassName": "gvisor", "containers": [{"name": "c", "image": "nginx"}]});
    let refused = "Error from server (Forbidden): error when creating \"STDIN\": pods \"p\" is forbidden: pod rejected: RuntimeClass \
                   \"gvisor\" not found\n";
    assert_eq!(apply(&mut sim, "p", spec.clone()), refused);
    let class = json!({"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "gvisor"}, "handler": "runsc",
        "overhead": {"podFixed": {"cpu": "250m"}}, "scheduling": {"nodeSelector": {"kubernetes.io/os": "linux"}}});
    kubectl(&mut sim, "apply -f -", &class.to_string());
    assert_eq!(apply(&mut sim, "p", spec), "pod/p created\n");
    let spec = pod(&sim, "p")["spec"].clone();
    assert_eq!(
        (
            &spec["overhead"]["cpu"],
            &spec["nodeSelector"]["kubernetes.io/os"]
        ),
        (&json!("250m"), &json!("linux"))
    );
    let described = kubectl(&mut sim, "describe node node-1", "");
    let line = described
        .lines()
        .find(|line| line.contains("  p  "))
        .unwrap();
    assert!(
        line.contains("250m (6%)"),
        "the overhead is requested: {line}"
    );
    let spec = json!({"overhead": {"cpu": "1"}, "containers": [{"name": "c", "image": "nginx"}]});
    assert_eq!(
        apply(&mut sim, "q", spec),
        "Error from server (Forbidden): error when creating \"STDIN\": pods \"q\" is forbidden: pod rejected: Pod Overhead set without \
         corresponding RuntimeClass defined Overhead\n"
    );
}

#[test]
fn overhead_leaves_less_room_on_a_node() {
    let mut sim = Sim::new(ClusterConfig::with_nodes(1), 1);
    let class = json!({"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "vm"}, "handler": "kata",
        "overhead": {"podFixed": {"cpu": "3"}}});
    kubectl(&mut sim, "apply -f -", &class.to_string());
    let spec = json!({"runtimeClassName": "vm", "containers": [{"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "2"}}}]});
    apply(&mut sim, "p", spec);
    let message = pod(&sim, "p")["status"]["conditions"][0]["message"].clone();
    assert!(
        message
            .as_str()
            .unwrap()
            .starts_with("0/1 nodes are available: 1 Insufficient cpu."),
        "{message}"
    );
}

#[test]
fn one_volume_does_not_serve_two_claims_of_a_pod() {
    let mut sim = Sim::new(ClusterConfig::with_nodes(1), 1);
    let class = json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "local"},
        "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"});
    let volume = |name: &str, label: &str| {
        json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name, "labels": {"disk": label}},
            "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "local", "hostPath": {"path": "/tmp/d"}}})
    };
    let claim = |name: &str| {
        json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": {"accessModes": ["ReadWriteOnce"],
            "storageClassName": "local", "resources": {"requests": {"storage": "1Gi"}}, "selector": {"matchLabels": {"disk": "fast"}}}})
    };
    for object in [
        class,
        volume("one", "fast"),
        volume("slow", "slow"),
        claim("a"),
        claim("b"),
    ] {
        kubectl(&mut sim, "apply -f -", &object.to_string());
    }
    let mount = |name: &str| json!({"name": name, "persistentVolumeClaim": {"claimName": name}});
    let spec = json!({"containers": [{"name": "c", "image": "nginx"}], "volumes": [mount("a"), mount("b")]});
    apply(&mut sim, "p", spec);
    let message = pod(&sim, "p")["status"]["conditions"][0]["message"].clone();
    let refused =
        "0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind.";
    assert!(message.as_str().unwrap().starts_with(refused), "{message}");
    kubectl(&mut sim, "apply -f -", &volume("two", "fast").to_string());
    sim.advance(sim.now().after(30 * SECOND), usize::MAX);
    assert_eq!(pod(&sim, "p")["status"]["phase"], "Running");
}

#[test]
fn a_container_above_its_memory_limit_is_killed_until_it_uses_less() {
    let mut sim = Sim::new(ClusterConfig::with_nodes(1), 1);
    let resources = json!({"limits": {"memory": "64Mi"}});
    let spec = json!({"containers": [{"name": "c", "image": "nginx", "resources": resources}]});
    let pod_with = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {"app": "p"}}, "spec": spec});
    kubectl(&mut sim, "apply -f -", &pod_with.to_string());
    sim.fault("memory-load app=p 60Mi").unwrap();
    sim.advance(sim.now().after(5 * SECOND), usize::MAX);
    assert_eq!(
        pod(&sim, "p")["status"]["containerStatuses"][0]["restartCount"],
        0
    );
    sim.fault("memory-load app=p 65Mi").unwrap();
    sim.advance(sim.now().after(5 * SECOND), usize::MAX);
    let status = pod(&sim, "p")["status"]["containerStatuses"][0].clone();
    let last = &status["lastState"]["terminated"];
    assert_eq!(
        (&last["reason"], &last["exitCode"]),
        (&json!("OOMKilled"), &json!(137))
    );
    assert_eq!(status["state"]["waiting"]["reason"], "CrashLoopBackOff");
    sim.fault("memory-load app=p none").unwrap();
    sim.advance(sim.now().after(60 * SECOND), usize::MAX);
    assert_eq!(
        pod(&sim, "p")["status"]["containerStatuses"][0]["ready"],
        true
    );
}
