//! Reading of objects.

use super::pods::Pods;
use super::scope::Scope;
use super::services::{ServiceCache, ServiceReading};
use super::status::status;
use super::strip::budget;
use crate::model::{Model, PodState, Service, Used};
use i18n::Message;
use k8s_model::{Body, Kind, Object, Uid};
use std::rc::Rc;

use serde_json::{Value, json};

fn object(kind: Kind, value: Value) -> Rc<Object> {
    Rc::new(Object::from_value(kind, value).expect("an object"))
}

fn uid(n: u128) -> String {
    Uid(n).to_string()
}

fn owner(kind: &str, name: &str, n: u128) -> Value {
    json!([{ "apiVersion": "apps/v1", "kind": kind, "name": name, "uid": uid(n), "controller": true }])
}

fn pod(name: &str, n: u128, owners: Value, status: Value) -> Rc<Object> {
    let meta =
        json!({ "name": name, "namespace": "default", "uid": uid(n), "ownerReferences": owners });
    object(
        Kind::Pod,
        json!({ "metadata": meta, "spec": { "containers": [{ "name": "c", "image": "nginx:1.27" }], "nodeName": "node-1" }, "status": status }),
    )
}

fn ready() -> Value {
    json!({ "phase": "Running", "conditions": [{ "type": "Ready", "status": "True" }] })
}

fn rollout() -> Vec<Rc<Object>> {
    let meta = |name: &str, n: u128| json!({ "name": name, "namespace": "default", "uid": uid(n) });
    let set = |name: &str, n: u128, revision: &str, replicas: i32| {
        let meta = json!({ "name": name, "namespace": "default", "uid": uid(n), "annotations": { "deployment.kubernetes.io/revision": revision }, "ownerReferences": owner("Deployment", "nginx", 1) });
        object(
            Kind::ReplicaSet,
            json!({ "metadata": meta, "spec": { "replicas": replicas, "template": { "spec": { "containers": [] } } } }),
        )
    };
    vec![
        object(
            Kind::Deployment,
            json!({ "metadata": meta("nginx", 1), "spec": { "replicas": 3, "strategy": { "type": "RollingUpdate", "rollingUpdate": { "maxSurge": "25%", "maxUnavailable": "25%" } } }, "status": { "replicas": 3, "readyReplicas": 2 } }),
        ),
        set("nginx-a", 2, "1", 0),
        set("nginx-b", 3, "2", 3),
        pod("nginx-b-x", 10, owner("ReplicaSet", "nginx-b", 3), ready()),
        pod(
            "nginx-b-y",
            11,
            owner("ReplicaSet", "nginx-b", 3),
            json!({ "phase": "Pending", "containerStatuses": [{ "name": "c", "state": { "waiting": { "reason": "ContainerCreating" } } }] }),
        ),
        pod(
            "nginx-b-z",
            12,
            owner("ReplicaSet", "nginx-b", 3),
            json!({ "phase": "Pending", "containerStatuses": [{ "name": "c", "state": { "waiting": { "reason": "ImagePullBackOff" } } }] }),
        ),
    ]
}

fn read(objects: &[Rc<Object>]) -> (impl Fn(Kind) -> Vec<Rc<Object>> + use<>, Pods) {
    let objects = objects.to_vec();
    let mut pods = Pods::default();
    let get =
        |key: &k8s_model::ObjectRef| objects.iter().find(|object| object.key() == *key).cloned();
    for object in objects.iter().filter(|object| object.kind == Kind::Pod) {
        pods.take(object, false, &get);
    }
    (
        move |kind| {
            objects
                .iter()
                .filter(|object| object.kind == kind)
                .cloned()
                .collect()
        },
        pods,
    )
}

fn model(objects: &[Rc<Object>], scope: &Scope) -> Model {
    let (list, mut pods) = read(objects);
    super::model(&list, &mut pods, scope)
}

#[test]
fn a_deployment_becomes_a_tree_with_old_empty_revisions_folded() {
    let model = model(&rollout(), &Scope::default());
    assert_eq!(model.roots.len(), 1);
    let root = &model.roots[0];
    assert_eq!(
        (root.folded, root.groups.len(), root.groups[0].pods.len()),
        (1, 1, 3)
    );
    let states: Vec<(PodState, &str)> = root.groups[0]
        .pods
        .iter()
        .map(|pod| (pod.state, pod.word.as_str()))
        .collect();
    assert_eq!(
        states,
        [
            (PodState::Ready, "Ready"),
            (PodState::Creating, "ContainerCreating"),
            (PodState::Failed, "ImagePullBackOff")
        ]
    );
    assert_eq!(
        (root.groups[0].pods[0].prefix, root.groups[0].pods[0].family),
        (8, 6)
    );
}

#[test]
fn the_budget_resolves_percentages() {
    let objects = rollout();
    let (list, pods) = read(&objects);
    let budget = budget(&list, &pods, &Scope::default(), None).expect("a Deployment");
    assert_eq!(
        (
            budget.at_least,
            budget.at_most,
            budget.pods(),
            budget.ready()
        ),
        (3, 4, 3, 1)
    );
    assert_eq!(budget.text, "1 of 3 new Pods are ready");
}

#[test]
fn the_budget_counts_no_pod_that_has_ended() {
    let mut objects = rollout();
    let evicted = |n: u128| {
        let status = json!({ "phase": "Failed", "reason": "Evicted" });
        pod(
            &format!("nginx-b-e{n}"),
            n,
            owner("ReplicaSet", "nginx-b", 3),
            status,
        )
    };
    let told = |objects: &[Rc<Object>]| {
        let (list, pods) = read(objects);
        let budget = budget(&list, &pods, &Scope::default(), None).expect("a Deployment");
        let failed = budget
            .cells
            .iter()
            .filter(|cell| cell.state == PodState::Failed)
            .map(|cell| cell.pods)
            .sum::<usize>();
        (budget.pods(), failed, budget.text)
    };
    let before = told(&objects);
    objects.push(evicted(100));
    assert_eq!(told(&objects), before);
    // If there are many they are counted by state.
    objects.extend((101..400).map(evicted));
    assert_eq!(told(&objects), before);
}

#[test]
fn a_deployment_that_is_replaced_at_once_has_no_budget_and_shows_no_other() {
    let mut objects = rollout();
    let meta = json!({ "name": "db", "namespace": "default", "uid": uid(40) });
    objects.push(object(
        Kind::Deployment,
        json!({ "metadata": meta, "spec": { "replicas": 1, "strategy": { "type": "Recreate" } } }),
    ));
    let (list, pods) = read(&objects);
    let of = |at: usize| {
        budget(&list, &pods, &Scope::default(), Some(&objects[at])).map(|budget| budget.name)
    };
    assert_eq!(
        (of(objects.len() - 1), of(0), of(4)),
        (None, Some("nginx".into()), Some("nginx".into()))
    );
    assert!(
        !budget(&list, &pods, &Scope::default(), None)
            .expect("the other one")
            .several
    );
}

#[test]
fn the_budget_is_that_of_the_selected_workload_or_of_none() {
    let mut objects = rollout();
    let meta = |name: &str, n: u128| json!({ "name": name, "namespace": "default", "uid": uid(n) });
    objects.push(object(
        Kind::StatefulSet,
        json!({ "metadata": meta("db", 40), "spec": { "replicas": 1 } }),
    ));
    objects.push(pod("db-0", 41, owner("StatefulSet", "db", 40), ready()));
    objects.push(object(
        Kind::Pod,
        json!({ "metadata": meta("lone", 42), "spec": { "containers": [] } }),
    ));
    objects.push(object(
        Kind::ConfigMap,
        json!({ "metadata": meta("settings", 43) }),
    ));
    let (list, pods) = read(&objects);
    let of = |at: usize| {
        budget(&list, &pods, &Scope::default(), Some(&objects[at])).map(|budget| budget.name)
    };
    let end = objects.len();
    assert_eq!([end - 4, end - 3, end - 2].map(of), [None, None, None]);
    // An object that is not a workload leaves the strip as it was.
    assert_eq!(
        [0, 1, 4, end - 1].map(of),
        [(); 4].map(|()| Some("nginx".into()))
    );
}

#[test]
fn the_budget_names_the_only_pod_that_an_update_waits_for() {
    let mut objects = rollout();
    let mut old = (*objects[1]).clone();
    if let Body::ReplicaSet(body) = &mut old.body {
        body.spec.replicas = 1;
    }
    objects[1] = Rc::new(old);
    objects.pop();
    objects.push(pod(
        "nginx-b-z",
        12,
        owner("ReplicaSet", "nginx-b", 3),
        ready(),
    ));
    let (list, pods) = read(&objects);
    assert_eq!(
        budget(&list, &pods, &Scope::default(), None)
            .expect("a Deployment")
            .text,
        "Waiting for …nginx-b-y to become Ready"
    );
}

#[test]
fn only_what_leads_to_a_pod_by_its_uid_can_lead_to_none() {
    let service = json!({ "metadata": { "name": "s", "namespace": "default", "uid": uid(50) }, "spec": { "ports": [{ "port": 80 }] } });
    let to = |address: &str, target: Value| json!({ "addresses": [address], "targetRef": target });
    let slice = |endpoints: Vec<Value>| {
        let labels = json!({ "kubernetes.io/service-name": "s" });
        let meta =
            json!({ "name": "s-1", "namespace": "default", "uid": uid(51), "labels": labels });
        object(
            Kind::EndpointSlice,
            json!({ "metadata": meta, "addressType": "IPv4", "endpoints": endpoints }),
        )
    };
    let named = to(
        "10.1.2.3",
        json!({ "kind": "Pod", "name": "q", "namespace": "default" }),
    );
    let node = to(
        "10.1.2.4",
        json!({ "kind": "Node", "name": "node-1", "uid": uid(52) }),
    );
    let dead = to(
        "10.1.2.5",
        json!({ "kind": "Pod", "name": "r", "namespace": "default", "uid": uid(53) }),
    );
    let hint = |endpoints: Vec<Value>, lags: bool| {
        let objects = [object(Kind::Service, service.clone()), slice(endpoints)];
        model(
            &objects,
            &Scope {
                lags,
                ..Scope::default()
            },
        )
        .services[0]
            .hint
            .clone()
    };
    assert_eq!(hint(vec![named.clone(), node.clone()], false), "");
    assert_eq!(
        hint(vec![named.clone(), node.clone(), dead.clone()], false),
        "1 endpoint has no Pod behind it"
    );
    // While the Pods are being read, nothing is known.
    assert_eq!(hint(vec![named, node, dead], true), "");
}

#[test]
fn what_templates_and_lone_pods_name_is_used_and_the_rest_is_only_stored() {
    let mut objects = rollout();
    let meta = |name: &str, n: u128| json!({ "name": name, "namespace": "default", "uid": uid(n) });
    let template = |env: &str| json!({ "spec": { "containers": [{ "name": "c", "envFrom": [{ "configMapRef": { "name": env } }] }] } });
    let spec = json!({ "replicas": 3, "template": template("settings-2") });
    objects[0] = object(
        Kind::Deployment,
        json!({ "metadata": meta("nginx", 1), "spec": spec }),
    );
    for (at, env, pods) in [(1, "settings-1", 1), (2, "settings-2", 3)] {
        let mut set = objects[at].to_value();
        set["spec"] = json!({ "replicas": pods, "template": template(env) });
        objects[at] = object(Kind::ReplicaSet, set);
    }
    let volumes = json!([
        { "name": "v", "secret": { "secretName": "none" } },
        { "name": "w", "secret": { "secretName": "some", "optional": true } },
    ]);
    let spec = json!({ "containers": [{ "name": "c", "image": "i" }], "volumes": volumes, "serviceAccountName": "robot" });
    objects.push(object(
        Kind::Pod,
        json!({ "metadata": meta("alone", 20), "spec": spec }),
    ));
    for (n, (kind, name)) in [
        (Kind::ConfigMap, "settings-1"),
        (Kind::ConfigMap, "settings-2"),
        (Kind::ConfigMap, "other"),
        (Kind::ServiceAccount, "robot"),
        (Kind::ServiceAccount, "default"),
    ]
    .into_iter()
    .enumerate()
    {
        objects.push(object(
            kind,
            json!({ "metadata": meta(name, 30 + n as u128) }),
        ));
    }
    let told = |filter: &str| -> Vec<String> {
        let model = model(
            &objects,
            &Scope {
                filter: filter.into(),
                ..Scope::default()
            },
        );
        let names = |used: &Used| {
            used.users
                .iter()
                .map(|user| user.name.clone())
                .collect::<Vec<_>>()
                .join(" ")
        };
        let one = |used: &Used| {
            format!(
                "{} {} {} {} {}",
                used.id.kind,
                used.id.name,
                Message::list(used.what_for.clone()),
                used.missing,
                names(used)
            )
        };
        model
            .uses
            .iter()
            .map(one)
            .chain(model.inert.iter().map(|id| id.name.clone()))
            .collect()
    };
    assert_eq!(
        told(""),
        [
            "ConfigMap settings-1 env, older revision false nginx".to_string(),
            "ConfigMap settings-2 env false nginx".to_string(),
            "Secret none volume true alone".to_string(),
            "ServiceAccount robot  false alone".to_string(),
            "other".to_string(),
        ]
    );
    // An object searched by name is shown alone, without its users.
    assert_eq!(
        told("settings-1"),
        ["ConfigMap settings-1 env, older revision false "]
    );
    assert_eq!(
        told("alone"),
        [
            "Secret none volume true alone".to_string(),
            "ServiceAccount robot  false alone".to_string()
        ]
    );
}

#[test]
fn deletion_wins_over_every_other_state() {
    let mut leaving = (*pod("web-0", 1, json!([]), ready())).clone();
    leaving.meta.deletion_timestamp = Some(k8s_model::Timestamp::new(100));
    assert_eq!(status(&leaving).0, PodState::Terminating);
    let scope = Scope {
        now: 72_400,
        ..Scope::default()
    };
    assert_eq!(
        model(&[Rc::new(leaving)], &scope)
            .pods()
            .next()
            .map(|pod| pod.note.clone())
            .as_deref(),
        Some("up to 27.6 s left")
    );
    // Once its containers have ended, the rest of the grace period does not matter.
    let ended = json!({ "phase": "Running", "containerStatuses": [{ "name": "c", "state": { "terminated": { "exitCode": 0 } } }] });
    let mut leaving = (*pod("web-0", 1, json!([]), ended)).clone();
    leaving.meta.deletion_timestamp = Some(k8s_model::Timestamp::new(100));
    assert_eq!(
        model(&[Rc::new(leaving)], &scope)
            .pods()
            .next()
            .map(|pod| pod.note.clone())
            .as_deref(),
        Some("node-1")
    );
}

#[test]
fn a_member_of_a_statefulset_has_an_ordinal_and_its_claims() {
    let meta = json!({ "name": "web", "namespace": "default", "uid": uid(1) });
    let set = object(
        Kind::StatefulSet,
        json!({ "metadata": meta, "spec": { "replicas": 1, "volumeClaimTemplates": [{ "metadata": { "name": "www" } }] } }),
    );
    let claim = object(
        Kind::PersistentVolumeClaim,
        json!({ "metadata": { "name": "www-web-3", "namespace": "default", "uid": uid(5) }, "spec": { "accessModes": ["ReadWriteOnce"] } }),
    );
    let model = model(
        &[
            set,
            pod("web-10", 2, owner("StatefulSet", "web", 1), ready()),
            pod("web-2", 3, owner("StatefulSet", "web", 1), ready()),
            claim,
        ],
        &Scope::default(),
    );
    assert_eq!(
        model.pods().map(|pod| pod.ordinal).collect::<Vec<_>>(),
        [Some(2), Some(10)]
    );
    assert_eq!(model.claims[0].member, Some(("web".into(), 3)));
    assert_eq!(model.claims[0].mode, "RWO");
}

#[test]
fn a_pod_past_its_grace_period_says_what_holds_it() {
    let note = |finalizers: Value, containers: Value, silent: &[&str], now: i64| {
        let meta = json!({ "name": "a", "namespace": "default", "uid": uid(1), "finalizers": finalizers, "deletionTimestamp": "1970-01-01T00:00:30Z" });
        let spec =
            json!({ "containers": [{ "name": "c", "image": "nginx:1.27" }], "nodeName": "node-1" });
        let pod = object(
            Kind::Pod,
            json!({ "metadata": meta, "spec": spec, "status": { "phase": "Running", "containerStatuses": containers } }),
        );
        let mut pods = Pods::default();
        pods.take(&pod, false, &|_| None);
        pods.look(silent.iter().map(|node| node.to_string()).collect(), now);
        pods.get(Uid(1)).expect("the Pod").note.to_string()
    };
    let (runs, ended) = (
        json!([{ "name": "c", "state": { "running": {} } }]),
        json!([{ "name": "c", "state": { "terminated": { "exitCode": 0 } } }]),
    );
    let held = json!(["example.com/backup"]);
    assert_eq!(
        note(json!([]), runs.clone(), &[], 10_000),
        "up to 20.0 s left"
    );
    assert_eq!(
        note(held.clone(), runs.clone(), &["node-1"], 29_950),
        "its kubelet does not respond"
    );
    assert_eq!(
        note(held.clone(), runs.clone(), &[], 60_000),
        "held by finalizer backup"
    );
    assert_eq!(
        note(held, ended.clone(), &[], 10_000),
        "held by finalizer backup"
    );
    assert_eq!(note(json!([]), runs, &[], 60_000), "grace period over");
    assert_eq!(note(json!([]), ended, &[], 10_000), "node-1");
}

fn service(n: usize, version: &str, address: &str) -> Rc<Object> {
    let uid = format!("00000000-0000-4000-8000-0000000000{n:02}");
    let value = json!({"apiVersion": "v1", "kind": "Service",
        "metadata": {"name": format!("s{n:02}"), "namespace": "default", "uid": uid, "resourceVersion": version},
        "spec": {"clusterIP": address, "selector": {"app": "none"}, "ports": [{"port": 80}]}});
    Rc::new(Object::from_value(Kind::Service, value).unwrap())
}

/// Reads Services, two at a time.
fn read_services(
    cache: &mut ServiceCache,
    services: &[Rc<Object>],
    slices: &[Rc<Object>],
    pods: usize,
    gone: bool,
) -> Vec<Rc<Service>> {
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "namespace": "default"}, "spec": {"containers": []}});
    let pod = Rc::new(Object::from_value(Kind::Pod, pod).unwrap());
    let mut reading = ServiceReading::new(services.to_vec(), slices.to_vec());
    let mut times = 1;
    while !reading.read(cache, 2, &|_| vec![pod.clone(); pods], &|_| gone) {
        times += 1;
    }
    assert_eq!(times, services.len().div_ceil(2));
    reading.finish(cache)
}

#[test]
fn services_without_endpoints_say_which_pod_is_near_while_few_pods_are_looked_through() {
    let all: Vec<Rc<Object>> = (0..30).map(|n| service(n, "1", "10.96.0.1")).collect();
    let told = |pods: usize| {
        let out = read_services(&mut ServiceCache::default(), &all, &[], pods, false);
        out.iter()
            .filter(|service| !service.hint.is_empty())
            .count()
    };
    assert_eq!((told(0), told(10), told(1_000)), (30, 30, 10));
}

#[test]
fn a_service_is_read_again_when_it_or_its_slice_was_written() {
    let old = service(0, "1", "10.96.0.1");
    let slice = |version: &str, addresses: &[&str]| {
        let endpoints: Vec<_> = addresses
            .iter()
            .map(|ip| json!({"addresses": [ip], "targetRef": {"kind": "Pod", "name": ip, "uid": "00000000-0000-4000-8000-000000000009"}}))
            .collect();
        let value = json!({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4", "endpoints": endpoints,
            "metadata": {"name": "a", "namespace": "default", "resourceVersion": version, "labels": {"kubernetes.io/service-name": "s00"}}});
        Rc::new(Object::from_value(Kind::EndpointSlice, value).unwrap())
    };
    let mut cache = ServiceCache::default();
    let mut one = |service: &Rc<Object>, slice: &Rc<Object>, gone: bool| {
        read_services(
            &mut cache,
            std::slice::from_ref(service),
            std::slice::from_ref(slice),
            0,
            gone,
        )
        .remove(0)
    };
    let first = one(&old, &slice("1", &["10.0.0.1"]), false);
    assert!(Rc::ptr_eq(
        &first,
        &one(&old, &slice("1", &["10.0.0.1"]), false)
    ));
    assert_eq!(
        one(&old, &slice("2", &["10.0.0.1", "10.0.0.2"]), false)
            .endpoints
            .len(),
        2
    );
    let stale = one(&old, &slice("2", &["10.0.0.1", "10.0.0.2"]), true);
    assert!(stale.endpoints.iter().all(|one| one.gone) && !stale.hint.is_empty());
    assert!(
        one(&old, &slice("2", &["10.0.0.1", "10.0.0.2"]), false)
            .hint
            .is_empty()
    );
    assert_eq!(
        one(&service(0, "3", "10.96.0.9"), &slice("2", &[]), false).address,
        "10.96.0.9"
    );
    // One is inserted between two others, one is removed, one has the name of a deleted one.
    let mut cache = ServiceCache::default();
    let mut all = |which: &[usize]| {
        let all: Vec<Rc<Object>> = which
            .iter()
            .map(|n| service(*n, "1", &format!("10.96.0.{n}")))
            .collect();
        read_services(&mut cache, &all, &[], 0, false)
    };
    let first = all(&[1, 3, 5]);
    let second = all(&[0, 1, 2, 5, 6]);
    assert_eq!(
        second
            .iter()
            .map(|one| one.address.as_str())
            .collect::<Vec<_>>(),
        [
            "10.96.0.0",
            "10.96.0.1",
            "10.96.0.2",
            "10.96.0.5",
            "10.96.0.6"
        ]
    );
    assert_eq!(first[2].id, second[3].id);
}

#[test]
fn a_budget_is_about_the_workload_whose_pods_it_selects() {
    let labelled = |name: &str, n: u128, owners: Value, labels: Value| {
        let mut value = pod(name, n, owners, ready()).to_value();
        value["metadata"]["labels"] = labels;
        object(Kind::Pod, value)
    };
    let budget = |n: u128, namespace: &str, selector: Value| {
        let meta = json!({ "name": format!("pdb-{n}"), "namespace": namespace, "uid": uid(n) });
        object(
            Kind::PodDisruptionBudget,
            json!({ "metadata": meta, "spec": { "minAvailable": 1, "selector": selector } }),
        )
    };
    let mut objects = rollout();
    objects.push(labelled(
        "nginx-b-z",
        12,
        owner("ReplicaSet", "nginx-b", 3),
        json!({ "app": "nginx", "tier": "web" }),
    ));
    objects.push(labelled(
        "alone",
        13,
        json!([]),
        json!({ "app": "nginx", "tier": "cache" }),
    ));
    let web = json!({ "matchLabels": { "app": "nginx", "tier": "web" } });
    let cache =
        json!({ "matchExpressions": [{ "key": "tier", "operator": "In", "values": ["cache"] }] });
    objects.extend([
        budget(20, "default", web.clone()),
        budget(21, "default", cache),
        budget(22, "default", json!({ "matchLabels": { "app": "nginx" } })),
        budget(23, "default", json!({ "matchLabels": { "app": "other" } })),
        budget(24, "elsewhere", web),
    ]);
    let targets: Vec<String> = model(&objects, &Scope::default())
        .policies
        .into_iter()
        .map(|policy| policy.target)
        .collect();
    // Of two workloads the one whose Pod has the first name.
    assert_eq!(
        targets,
        [uid(1), uid(13), uid(13), String::new(), String::new()]
    );
    // Pods without an owner are distinguished by their namespaces and names.
    let bare = |name: &str, n: u128, namespace: &str| {
        let mut value = labelled(name, n, json!([]), json!({ "app": "bare" })).to_value();
        value["metadata"]["namespace"] = json!(namespace);
        object(Kind::Pod, value)
    };
    let app = json!({ "matchLabels": { "app": "bare" } });
    let objects = [
        bare("z", 30, "default"),
        bare("a", 31, "default"),
        bare("b", 32, "other"),
        budget(20, "default", app.clone()),
        budget(21, "other", app),
    ];
    let targets: Vec<String> = model(&objects, &Scope::default())
        .policies
        .into_iter()
        .map(|policy| policy.target)
        .collect();
    assert_eq!(targets, [uid(31), uid(32)]);
}

#[test]
fn containers_of_a_pod_are_told_one_by_one_where_there_are_several() {
    let containers = |spec: Value, status: Value| {
        let pod = object(
            Kind::Pod,
            json!({ "metadata": { "name": "a", "namespace": "default", "uid": uid(1) }, "spec": spec, "status": status }),
        );
        let mut pods = Pods::default();
        pods.take(&pod, false, &|_| None);
        pods.get(Uid(1)).expect("the Pod").containers.clone()
    };
    let one = |name: &str| json!({ "name": name, "image": "nginx:1.27" });
    let (running, ready) = (
        json!({ "name": "web", "ready": false, "state": { "running": {} } }),
        json!({ "name": "web", "ready": true, "state": { "running": {} } }),
    );
    let alone = json!({ "containers": [one("web")], "nodeName": "node-1" });
    let status = |all: Value| json!({ "phase": "Running", "containerStatuses": all });
    assert_eq!(containers(alone.clone(), status(json!([running]))), None);
    let again = containers(
        alone,
        status(json!([{ "name": "web", "restartCount": 3, "state": { "waiting": { "reason": "CrashLoopBackOff" } } }])),
    )
    .expect("it restarted");
    assert_eq!((again.restarts, again.list[0].state), (3, PodState::Failed));
    let mut sidecar = one("proxy");
    sidecar["restartPolicy"] = json!("Always");
    let several = containers(
        json!({ "initContainers": [sidecar, one("copy"), one("wait")], "containers": [one("web"), one("log")], "nodeName": "node-1" }),
        json!({
            "phase": "Pending",
            "initContainerStatuses": [
                { "name": "proxy", "ready": true, "started": true, "state": { "running": {} } },
                { "name": "copy", "state": { "terminated": { "exitCode": 0 } } },
                { "name": "wait", "state": { "running": {} } },
            ],
            "containerStatuses": [ready, { "name": "log", "state": { "waiting": { "reason": "PodInitializing" } } }],
        }),
    )
    .expect("there are several");
    let states: Vec<_> = several
        .list
        .iter()
        .map(|one| (one.name.as_str(), one.state))
        .collect();
    assert_eq!(
        states,
        [
            ("copy", PodState::Succeeded),
            ("wait", PodState::Creating),
            ("proxy", PodState::Ready),
            ("web", PodState::Ready),
            ("log", PodState::Pending),
        ]
    );
    assert_eq!((several.total, several.restarts), (3, 0));
}

#[test]
fn a_cron_job_tells_when_it_runs_next_in_its_time_zone() {
    let next = |spec: Value, status: Value| {
        let meta = json!({ "name": "c", "namespace": "default", "uid": uid(1), "creationTimestamp": "2026-03-01T10:00:20Z" });
        let object = object(
            Kind::CronJob,
            json!({ "apiVersion": "batch/v1", "kind": "CronJob", "metadata": meta, "spec": spec, "status": status }),
        );
        let card = super::controller(&object);
        let next = |counter: &&crate::model::Counter| counter.metric == crate::model::Metric::Next;
        card.counters
            .iter()
            .find(next)
            .map(|counter| counter.value.clone())
    };
    let every = |schedule: &str| json!({ "schedule": schedule, "jobTemplate": {} });
    assert_eq!(
        next(every("* * * * *"), json!({})).as_deref(),
        Some("10:01")
    );
    // Each run moves it on.
    let ran = json!({ "lastScheduleTime": "2026-03-01T10:01:00Z" });
    assert_eq!(next(every("* * * * *"), ran).as_deref(), Some("10:02"));
    assert_eq!(
        next(every("30 2 * * *"), json!({})).as_deref(),
        Some("02:30")
    );
    assert_eq!(
        next(every("0 0 1 * *"), json!({})).as_deref(),
        Some("04-01")
    );
    let tokyo = json!({ "schedule": "30 20 * * *", "timeZone": "Asia/Tokyo", "jobTemplate": {} });
    assert_eq!(next(tokyo, json!({})).as_deref(), Some("20:30"));
    let suspended = json!({ "schedule": "* * * * *", "suspend": true, "jobTemplate": {} });
    assert_eq!(next(suspended, json!({})), None);
    assert_eq!(next(every("0 0 31 2 *"), json!({})), None);
}

#[test]
fn an_indexed_job_has_the_states_of_its_indexes() {
    let card = |completions: i64, mode: &str, failed: i64| {
        let meta = json!({ "name": "j", "namespace": "default", "uid": uid(1) });
        let spec =
            json!({ "completions": completions, "completionMode": mode, "backoffLimit": i32::MAX });
        let status =
            json!({ "completedIndexes": "0-1,4", "failedIndexes": "3,7-9", "failed": failed });
        super::controller(&object(
            Kind::Job,
            json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec, "status": status }),
        ))
    };
    use crate::model::IndexState::{Completed, Failed, Open};
    let states = [
        Completed, Completed, Open, Failed, Completed, Open, Open, Failed,
    ];
    assert_eq!(card(8, "Indexed", 0).indexes, states);
    assert_eq!(card(8, "NonIndexed", 0).indexes, []);
    assert_eq!(card(1000, "Indexed", 0).indexes, []);
    // A limit for each index sets that of the Job to the largest number, which is not told.
    assert!(card(8, "Indexed", 2).chip.is_empty());
}
