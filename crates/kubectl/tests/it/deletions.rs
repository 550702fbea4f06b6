//! Deletions that follow one another, drains of several nodes, and watches and lists of selected objects.

use crate::terminal::kubectl;
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::time::SECOND;
use k8s_model::{Kind, Object, ObjectRef};
use kubectl::Session;
use kubectl::parse::split;
use std::rc::Rc;

fn cluster() -> Sim {
    let mut sim = Sim::new(ClusterConfig::with_nodes(2), 1);
    sim.advance(sim.now().after(SECOND), usize::MAX);
    sim
}

fn pod(name: &str, node: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, labels: {{app: web}}}}, spec: {{nodeName: {node}, containers: [{{name: c, image: busybox, command: [sleep, '3600']}}]}}}}\n---\n"
    )
}

fn object(sim: &Sim, kind: Kind, name: &str) -> Option<Rc<Object>> {
    let namespace = if kind == Kind::Node { "" } else { "default" };
    let key = ObjectRef::new(kind, namespace, name);
    sim.store().get(&key).cloned()
}

#[test]
fn a_second_delete_only_shortens_the_grace_period() {
    let mut sim = cluster();
    kubectl(&mut sim, "apply -f -", &pod("p", "node-1"));
    sim.advance(sim.now().after(5 * SECOND), usize::MAX);
    let deleted = |sim: &mut Sim, flags: &str| {
        kubectl(sim, &format!("delete pod p --wait=false {flags}"), "");
        let meta = object(sim, Kind::Pod, "p").unwrap().meta.clone();
        (
            meta.deletion_timestamp.unwrap().seconds(),
            meta.deletion_grace_period_seconds.unwrap(),
        )
    };
    let (end, grace) = deleted(&mut sim, "--grace-period=100");
    assert_eq!(grace, 100);
    sim.advance(sim.now().after(10 * SECOND), usize::MAX);
    assert_eq!(deleted(&mut sim, ""), (end, 100));
    assert_eq!(deleted(&mut sim, "--grace-period=60"), (end - 40, 60));
    assert_eq!(deleted(&mut sim, "--grace-period=90"), (end - 40, 60));
}

#[test]
fn a_later_propagation_policy_replaces_the_earlier() {
    let mut sim = cluster();
    let set = "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web, finalizers: [example.com/hold]}, spec: {replicas: 0, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: nginx}]}}}}";
    kubectl(&mut sim, "apply -f -", set);
    // The garbage collector does not come between.
    for (policy, finalizer) in [
        ("orphan", Some("orphan")),
        ("foreground", Some("foregroundDeletion")),
        ("background", None),
    ] {
        let line = format!("delete rs web --wait=false --cascade={policy}");
        let mut session = Session::start(&mut sim, &split(&line), "");
        session.poll(&mut sim);
        let set = object(&sim, Kind::ReplicaSet, "web").unwrap();
        let mut own = set.meta.finalizers.iter().map(|name| name.as_str());
        assert_eq!(own.clone().count(), 1 + usize::from(finalizer.is_some()));
        assert!(finalizer.is_none_or(|wanted| own.any(|name| name == wanted)));
    }
}

#[test]
fn a_drain_goes_on_with_the_other_nodes() {
    let mut sim = cluster();
    kubectl(&mut sim, "apply -f -", &pod("bare", "node-1"));
    sim.advance(sim.now().after(5 * SECOND), usize::MAX);
    let printed = kubectl(&mut sim, "drain node-1 node-2", "");
    assert!(printed.contains("node/node-2 drained\n"), "{printed}");
    let pending = "There are pending nodes to be drained:\n node-1\n";
    assert!(printed.contains(pending), "{printed}");
    assert!(printed.contains("(use --force to override): default/bare\n"));
}

#[test]
fn a_drain_reports_pods_that_it_may_not_get() {
    let mut sim = cluster();
    kubectl(&mut sim, "apply -f -", &pod("bare", "node-1"));
    for (name, rule) in [
        ("nodes", "--verb=get,list,patch --resource=nodes"),
        ("pods", "--verb=list --resource=pods"),
        ("evict", "--verb=create --resource=pods/eviction"),
    ] {
        kubectl(&mut sim, &format!("create clusterrole {name} {rule}"), "");
        let line = format!("create clusterrolebinding {name} --clusterrole={name} --user=ann");
        kubectl(&mut sim, &line, "");
    }
    sim.advance(sim.now().after(5 * SECOND), usize::MAX);
    let printed = kubectl(&mut sim, "drain node-1 --force --as=ann", "");
    let refused = "error when evicting pods/\"bare\" -n \"default\": pods \"bare\" is forbidden";
    assert!(printed.contains(refused), "{printed}");
    assert!(!printed.contains("node/node-1 drained"), "{printed}");
}

#[test]
fn objects_are_sorted_by_amount_and_in_natural_order() {
    let mut sim = cluster();
    let mut all = String::new();
    for (name, size) in [("web-10", "500Mi"), ("web-2", "10Gi"), ("web-0", "5Gi")] {
        all += &format!(
            "{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: {name}}}, spec: {{capacity: {{storage: {size}}}, accessModes: [ReadWriteOnce], hostPath: {{path: /a}}}}}}\n---\n"
        );
    }
    kubectl(&mut sim, "apply -f -", &all);
    for (path, names) in [
        (".metadata.name", "web-0 web-2 web-10"),
        (".spec.capacity.storage", "web-10 web-0 web-2"),
    ] {
        let line = format!("get pv --sort-by={path} -o jsonpath={{.items[*].metadata.name}}");
        assert_eq!(kubectl(&mut sim, &line, ""), names);
    }
}

#[test]
fn an_object_that_leaves_a_watch_is_shown_as_it_was() {
    let mut sim = cluster();
    kubectl(&mut sim, "apply -f -", &pod("p", "node-1"));
    let line = "get pods -l app=web -w --show-labels --no-headers --output-watch-events";
    let mut watch = Session::start(&mut sim, &split(line), "");
    sim.advance(sim.now().after(5 * SECOND), usize::MAX);
    watch.poll(&mut sim);
    kubectl(&mut sim, "label pod p app=db --overwrite", "");
    watch.poll(&mut sim);
    let last = watch.stdout.lines().last().unwrap_or_default();
    assert!(
        last.starts_with("DELETED") && last.ends_with("app=web"),
        "{last}"
    );
}

#[test]
fn node_ports_of_a_service_are_distinct_and_quotas_count_allocated_ones() {
    let mut sim = cluster();
    let service = |name: &str, spec: &str| {
        format!(
            "{{apiVersion: v1, kind: Service, metadata: {{name: {name}}}, spec: {{{spec}}}}}\n---\n"
        )
    };
    let quota = "{apiVersion: v1, kind: ResourceQuota, metadata: {name: rq}, spec: {hard: {services.nodeports: '2'}}}\n---\n";
    kubectl(&mut sim, "apply -f -", quota);
    let ports = "ports: [{name: a, port: 80}, {name: b, port: 81, nodePort: 30000}]";
    let unallocated =
        "type: LoadBalancer, allocateLoadBalancerNodePorts: false, ports: [{port: 80}]";
    let all = service("web", &format!("type: NodePort, {ports}")) + &service("lb", unallocated);
    let applied = kubectl(&mut sim, "apply -f -", &all);
    assert_eq!(applied, "service/web created\nservice/lb created\n");
    let line = "get service web -o jsonpath={.spec.ports[*].nodePort}";
    let printed = kubectl(&mut sim, line, "");
    let [a, b] = printed.split(' ').collect::<Vec<_>>()[..] else {
        panic!("{printed}")
    };
    assert_ne!(a, b);
}

#[test]
fn amounts_at_the_limits_do_not_overflow() {
    let mut sim = cluster();
    let frame = |kind: &str, spec: &str| {
        format!(
            "{{apiVersion: apps/v1, kind: {kind}, metadata: {{name: web}}, spec: {{replicas: 10, selector: {{matchLabels: {{a: b}}}}, template: {{metadata: {{labels: {{a: b}}}}, spec: {{containers: [{{name: c, image: nginx}}]}}}}, {spec}}}}}\n---\n"
        )
    };
    let set = "serviceName: s, ordinals: {start: 2147483647}, updateStrategy: {rollingUpdate: {partition: 1}}";
    let deployment = "strategy: {rollingUpdate: {maxSurge: 999999999999999999%}}";
    kubectl(&mut sim, "apply -f -", &frame("StatefulSet", set));
    kubectl(&mut sim, "apply -f -", &frame("Deployment", deployment));
    let cron = "{apiVersion: batch/v1, kind: CronJob, metadata: {name: c}, spec: {schedule: '* * * * *', startingDeadlineSeconds: 9300000000000, jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: busybox}]}}}}}}";
    kubectl(&mut sim, "apply -f -", cron);
    sim.advance(sim.now().after(180 * SECOND), usize::MAX);
    kubectl(&mut sim, "set image deployment/web c=nginx:1.28", "");
    sim.advance(sim.now().after(20 * SECOND), usize::MAX);
}
