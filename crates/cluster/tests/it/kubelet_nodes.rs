use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::Time;

/// Checks that no Lease is renewed while its kubelet is down.
#[test]
fn a_kubelet_that_is_back_renews_its_lease_then_and_not_before() {
    let mut sim = Sim::new(ClusterConfig::with_nodes(1), 1);
    let to = |sim: &mut Sim, second: u64| {
        sim.advance(Time(second * 1_000_000), 100_000);
    };
    let renewed = |sim: &Sim| sim.lease_renewed("node-1").map(|at| at.0 / 1_000_000);
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
