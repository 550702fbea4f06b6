//! Writes that the API server refuses to controllers and clients alike, and objects of rare kinds that lose their owner.

use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::time::SECOND;
use k8s_model::{Kind, ObjectRef};
use kubectl::Session;
use kubectl::parse::split;

fn kubectl(sim: &mut Sim, line: &str, stdin: &str) -> String {
    let mut session = Session::start(sim, &split(line), stdin);
    sim.advance(sim.now().after(5 * SECOND), usize::MAX);
    session.poll(sim);
    session.stdout + &session.stderr
}

fn cluster() -> Sim {
    let mut sim = Sim::new(ClusterConfig::with_nodes(1), 1);
    sim.advance(sim.now().after(SECOND), usize::MAX);
    sim
}

/// The revision label of a Pod is the name of the set with a hash, which is longer than a label may be.
#[test]
fn a_stateful_set_with_a_long_name_fails_to_create_its_pods() {
    let mut sim = cluster();
    let name = "s".repeat(60);
    let set = format!(
        "{{apiVersion: apps/v1, kind: StatefulSet, metadata: {{name: {name}}}, spec: {{serviceName: s, selector: {{matchLabels: {{a: b}}}}, template: {{metadata: {{labels: {{a: b}}}}, spec: {{containers: [{{name: c, image: nginx}}]}}}}}}}}"
    );
    let applied = kubectl(&mut sim, "apply -f -", &set);
    assert_eq!(applied, format!("statefulset.apps/{name} created\n"));
    assert_eq!(sim.store().count(Kind::Pod), 0);
    let events = kubectl(&mut sim, "get events -o jsonpath={.items[*].message}", "");
    let message = format!(
        "Create Pod {name}-0 in StatefulSet {name} failed error: Pod \"{name}-0\" is invalid: metadata.labels: Invalid value: \"{name}-"
    );
    assert!(events.contains(&message), "{events}");
    assert!(events.contains("must be no more than 63 bytes"), "{events}");
}

#[test]
fn a_quota_is_charged_for_what_an_update_adds() {
    let mut sim = cluster();
    let quota = "{apiVersion: v1, kind: ResourceQuota, metadata: {name: rq}, spec: {hard: {services.loadbalancers: '0', requests.cpu: '1'}}}\n---\n";
    let service = "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80}]}}\n---\n";
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: nginx, resources: {requests: {cpu: 500m}}}]}}\n";
    kubectl(&mut sim, "apply -f -", quota);
    kubectl(&mut sim, "apply -f -", &[service, pod].concat());
    let exposed = kubectl(
        &mut sim,
        r#"patch service web -p '{"spec":{"type":"LoadBalancer"}}'"#,
        "",
    );
    let refusal = "exceeded quota: rq, requested: services.loadbalancers=1, used: services.loadbalancers=0, limited: services.loadbalancers=0";
    assert_eq!(
        exposed,
        format!("Error from server (Forbidden): services \"web\" is forbidden: {refusal}\n")
    );
    let resized = |sim: &mut Sim, cpu: &str| {
        let change = format!(
            r#"{{"spec":{{"containers":[{{"name":"c","resources":{{"requests":{{"cpu":"{cpu}"}}}}}}]}}}}"#
        );
        kubectl(
            sim,
            &format!("patch pod p --subresource resize -p '{change}'"),
            "",
        )
    };
    let refusal = "exceeded quota: rq, requested: requests.cpu=700m, used: requests.cpu=500m, limited: requests.cpu=1";
    assert_eq!(
        resized(&mut sim, "1200m"),
        format!("Error from server (Forbidden): pods \"p\" is forbidden: {refusal}\n")
    );
    assert_eq!(resized(&mut sim, "900m"), "pod/p patched\n");
    let used = kubectl(
        &mut sim,
        r"get quota rq -o jsonpath='{.status.used.requests\.cpu}'",
        "",
    );
    assert_eq!(used, "900m");
}

#[test]
fn objects_of_every_kind_are_deleted_with_their_owner() {
    let mut sim = cluster();
    kubectl(&mut sim, "create configmap owner", "");
    let owner = ObjectRef::new(Kind::ConfigMap, "default", "owner");
    let uid = sim.store().get(&owner).unwrap().meta.uid;
    let reference =
        format!("ownerReferences: [{{apiVersion: v1, kind: ConfigMap, name: owner, uid: {uid}}}]");
    let dependents = format!(
        "{{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {{name: c, {reference}}}, spec: {{}}}}\n---\n\
         {{apiVersion: storage.k8s.io/v1, kind: CSIStorageCapacity, metadata: {{name: s, {reference}}}, storageClassName: standard}}\n"
    );
    kubectl(&mut sim, "apply -f -", &dependents);
    let count = |sim: &Sim| {
        let store = sim.store();
        (
            store.count(Kind::ResourceClaim),
            store.count(Kind::CSIStorageCapacity),
        )
    };
    assert_eq!(count(&sim), (1, 1));
    kubectl(&mut sim, "delete configmap owner", "");
    assert_eq!(count(&sim), (0, 0));
}

/// The budget that selects a Pod first says so, even if another budget of the namespace has an earlier name.
#[test]
fn a_pod_of_two_budgets_is_not_evicted() {
    let mut sim = cluster();
    for (name, labels) in [
        ("a", "{run: other}"),
        ("b", "{run: web}"),
        ("c", "{run: web}"),
    ] {
        let budget = format!(
            "{{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {{name: {name}}}, spec: {{minAvailable: 0, selector: {{matchLabels: {labels}}}}}}}"
        );
        kubectl(&mut sim, "apply -f -", &budget);
    }
    kubectl(&mut sim, "run web --image nginx", "");
    let events = kubectl(&mut sim, "get events -o jsonpath={.items[*].message}", "");
    let message =
        "Pod \"default\"/\"web\" matches multiple PodDisruptionBudgets.  Chose \"b\" arbitrarily.";
    assert!(events.contains(message), "{events}");
    let refusal = sim.fault("evict pod/web").unwrap_err().to_string();
    assert!(
        refusal.contains("This pod has more than one PodDisruptionBudget"),
        "{refusal}"
    );
}
