use apiserver::journal::Entry;
use apiserver::why::Why;
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use controller_runtime::component::MANAGER;
use k8s_model::time::MS;
use k8s_model::{Kind, Object, ObjectRef};
use serde_json::json;

#[test]
fn awaited_writes_match_a_scan_of_the_delayed_events() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    let (mut waits, mut waits_not) = (0, 0);
    for round in 0..24 {
        let line = [
            "delay pod 3s",
            "delay rs 700ms",
            "delay pod none",
            "restart kube-controller-manager",
        ][[0, 1, 0, 2, 1, 3][round % 6]];
        sim.fault(line).unwrap();
        let (origin, key) = (
            sim.command("scale"),
            ObjectRef::new(Kind::ReplicaSet, "default", &format!("r{}", round % 4)),
        );
        let labels = json!({"a": key.name.as_str()});
        let template = json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
        let spec =
            json!({"replicas": 3, "selector": {"matchLabels": labels}, "template": template});
        let set = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": key.name.as_str(), "namespace": "default"}, "spec": spec});
        sim.request(|server| {
            // The object is created in the first round only.
            let _ = server.create_value(&origin, set, Why::Asked);
            server
                .scale(&origin, &key, 1 + round as i64 % 5, Why::Asked)
                .expect("a ReplicaSet");
        });
        let until = sim.now().after(500 * MS);
        while sim.next_task().is_some_and(|at| at <= until) {
            sim.step();
            let Some(trouble) = &sim.informers[MANAGER].trouble else {
                continue;
            };
            let late: Vec<&Entry> = trouble
                .delayed()
                .filter_map(|id| sim.journal().get(id as usize))
                .collect();
            for (name, key) in sim
                .list(Kind::ReplicaSet)
                .flat_map(|o| ["replicaset-controller", "job-controller"].map(|n| (n, o.key())))
            {
                let about = |o: &Object| {
                    o.key() == key
                        || o.meta
                            .controller()
                            .is_some_and(|c| c.name == key.name && c.kind == "ReplicaSet")
                };
                let seen = late.iter().any(|entry| {
                    entry.actor.name == name && entry.write().is_some_and(|(_, o)| about(o))
                });
                assert_eq!(
                    trouble.awaits(name, &key),
                    seen,
                    "{name} {key} in round {round}"
                );
                (waits, waits_not) = (waits + usize::from(seen), waits_not + usize::from(!seen));
            }
        }
    }
    assert!(waits > 100 && waits_not > 100, "{waits} {waits_not}");
}
