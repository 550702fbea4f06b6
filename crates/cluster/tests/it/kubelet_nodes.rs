use apiserver::{Request, Verb};
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::{Kind, ObjectRef, Time};
use serde_json::json;

/// Checks that no Lease is renewed while its kubelet is down.
#[test]
fn a_kubelet_that_is_back_renews_its_lease_then_and_not_before() {
    let mut sim = Sim::new(ClusterConfig::with_nodes(1), 1);
    let to = |sim: &mut Sim, second: u64| {
        sim.advance(Time(second * 1_000_000), 100_000);
    };
    let renewed = |sim: &Sim| {
        sim.kubelets
            .renewed("node-1", sim.now())
            .map(|at| at.0 / 1_000_000)
    };
    to(&mut sim, 12);
    assert_eq!(renewed(&sim), Some(10));
    assert!(sim.fault("node-down node-1").is_ok());
    to(&mut sim, 47);
    assert_eq!(renewed(&sim), Some(10));
    assert!(sim.fault("node-up node-1").is_ok());
    to(&mut sim, 53);
    // Without the outage it would be 50; 40 would be during the outage.
    assert_eq!(renewed(&sim), Some(47));
    to(&mut sim, 58);
    assert_eq!(renewed(&sim), Some(57));
    // When the node is down again immediately, its last heartbeat is at its return or later.
    assert!(
        sim.fault("node-down node-1").is_ok()
            && sim.fault("node-up node-1").is_ok()
            && sim.fault("node-down node-1").is_ok()
    );
    to(&mut sim, 90);
    assert_eq!(renewed(&sim), Some(58));
}

/// Checks that addresses are free again once their Pods are gone, and stay within the node's network.
#[test]
fn addresses_of_pods_are_reused_within_the_network_of_their_node() {
    let mut sim = Sim::new(ClusterConfig::with_nodes(1), 1);
    let pod = |sim: &mut Sim, name: &str| {
        let value = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
            "spec": {"containers": [{"name": "c", "image": "nginx"}]}});
        let key = ObjectRef::new(Kind::Pod, "default", name);
        sim.request(&Request::of_manifest(Verb::Create, value));
        sim.advance(sim.now().after(5_000_000), usize::MAX);
        let ip = sim
            .store()
            .get(&key)
            .and_then(|pod| pod.pod())
            .map(|pod| pod.status.pod_ip.to_string());
        (key, ip.unwrap_or_default())
    };
    let (_, first) = pod(&mut sim, "first");
    assert_eq!(first, "10.244.1.2");
    let mut last = String::new();
    for n in 0..255 {
        let (key, ip) = pod(&mut sim, &format!("p{n}"));
        assert!(ip.starts_with("10.244.1.") && ip != first, "{n}: {ip}");
        last = ip;
        sim.request(&Request::new(Verb::Delete, &key));
        sim.advance(sim.now().after(3_000_000), usize::MAX);
    }
    assert_eq!(
        last, "10.244.1.5",
        "252 addresses beside the first are handed out in turn"
    );
}

/// Checks that a second deletion with a shorter grace period ends a container that ignores SIGTERM earlier, and that a longer one does not
/// prolong its termination.
#[test]
fn shortened_grace_period_ends_a_termination_earlier() {
    let mut sim = Sim::new(ClusterConfig::with_nodes(1), 1);
    let value = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default"},
        "spec": {"containers": [{"name": "c", "image": "busybox", "command": ["sleep", "infinity"]}]}});
    let key = ObjectRef::new(Kind::Pod, "default", "p");
    sim.request(&Request::of_manifest(Verb::Create, value));
    let advance = |sim: &mut Sim, seconds: u64| {
        sim.advance(sim.now().after(seconds * 1_000_000), usize::MAX);
    };
    let delete = |sim: &mut Sim, seconds: i64| {
        let mut request = Request::new(Verb::Delete, &key);
        request.options.deletion.grace_period_seconds = Some(seconds);
        sim.request(&request);
    };
    advance(&mut sim, 5);
    delete(&mut sim, 60);
    advance(&mut sim, 10);
    delete(&mut sim, 5);
    advance(&mut sim, 2);
    delete(&mut sim, 20);
    advance(&mut sim, 2);
    assert!(sim.store().get(&key).is_some(), "terminating for 4 s of 5");
    advance(&mut sim, 2);
    assert!(sim.store().get(&key).is_none(), "terminating for 6 s of 5");
}
