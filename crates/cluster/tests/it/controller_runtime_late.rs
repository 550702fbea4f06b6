use apiserver::journal::Entry;
use apiserver::{Patch, Request, Subresource, Verb};
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
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
        let key = ObjectRef::new(Kind::ReplicaSet, "default", &format!("r{}", round % 4));
        let labels = json!({"a": key.name.as_str()});
        let template = json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
        let spec =
            json!({"replicas": 3, "selector": {"matchLabels": labels}, "template": template});
        let set = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": key.name.as_str(), "namespace": "default"}, "spec": spec});
        // The object is created in the first round only.
        sim.request(&Request::of_manifest(Verb::Create, set));
        let scale = Patch::merge(json!({ "spec": { "replicas": 1 + round as i64 % 5 } }));
        let request = Request {
            subresource: Subresource::Scale,
            ..Request::patch(&key, scale)
        };
        sim.request(&request).result.expect("a ReplicaSet");
        let until = sim.now().after(500 * MS);
        while sim.tasks.next_due().is_some_and(|at| at <= until) {
            sim.step();
            let Some(watch_faults) = &sim.informers.controller_manager.watch_faults else {
                continue;
            };
            let late: Vec<&Entry> = watch_faults
                .delayed()
                .filter_map(|id| sim.journal().get(id as usize))
                .collect();
            let controllers = ["replicaset-controller", "job-controller"]
                .map(|name| cluster::loops::named(name).unwrap().component);
            for (controller, key) in sim
                .store()
                .list(Kind::ReplicaSet)
                .flat_map(|o| controllers.map(|controller| (controller, o.key())))
            {
                let about = |o: &Object| {
                    o.key() == key
                        || o.meta
                            .controller()
                            .is_some_and(|c| c.name == key.name && c.kind == "ReplicaSet")
                };
                let seen = late.iter().any(|entry| {
                    entry.actor.component == controller
                        && entry.write().is_some_and(|(_, o)| about(o))
                });
                assert_eq!(
                    watch_faults.awaits(controller, &key),
                    seen,
                    "{controller} {key} in round {round}"
                );
                (waits, waits_not) = (waits + usize::from(seen), waits_not + usize::from(!seen));
            }
        }
    }
    assert!(waits > 100 && waits_not > 100, "{waits} {waits_not}");
}
