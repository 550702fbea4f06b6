use apiserver::{DeleteOptions, Propagation, Request, Verb};
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::{Kind, ObjectRef};
use serde_json::{Value, json};

fn sim() -> Sim {
    let mut sim = Sim::new(ClusterConfig::with_nodes(1), 1);
    advance(&mut sim);
    sim
}

fn advance(sim: &mut Sim) {
    sim.advance(sim.now().after(5_000_000), usize::MAX);
}

fn key(name: &str) -> ObjectRef {
    ObjectRef::new(Kind::ConfigMap, "default", name)
}

/// Creates a ConfigMap with owner references.
fn create(sim: &mut Sim, name: &str, owners: Value) {
    let value = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default", "ownerReferences": owners}});
    sim.request(&Request::of_manifest(Verb::Create, value));
    assert!(exists(sim, name), "{name}");
}

fn exists(sim: &Sim, name: &str) -> bool {
    sim.store().get(&key(name)).is_some()
}

/// Returns a blocking reference to a ConfigMap.
fn reference(sim: &Sim, name: &str) -> Value {
    let owner = sim.store().get(&key(name)).unwrap();
    json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": owner.meta.uid.to_string(),
        "blockOwnerDeletion": true})
}

fn gone() -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "gone",
        "uid": "00000000-0000-4000-8000-000000000001"})
}

fn delete(sim: &mut Sim, name: &str, policy: Propagation) {
    let mut request = Request::new(Verb::Delete, &key(name));
    request.options.deletion = DeleteOptions {
        propagation_policy: Some(policy),
        ..Default::default()
    };
    sim.request(&request);
    advance(sim);
}

#[test]
fn dead_owner_beside_one_of_an_unknown_kind_deletes_nothing() {
    let mut sim = sim();
    let unknown = json!({"apiVersion": "example.com/v1", "kind": "Widget", "name": "w",
        "uid": "00000000-0000-4000-8000-000000000002"});
    create(&mut sim, "both", json!([unknown, gone()]));
    create(&mut sim, "dead", json!([gone()]));
    advance(&mut sim);
    assert!(exists(&sim, "both") && !exists(&sim, "dead"));
}

#[test]
fn namespaced_owner_of_a_cluster_scoped_object_deletes_nothing() {
    let mut sim = sim();
    let value = json!({"apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": "n", "ownerReferences": [gone()]}});
    sim.request(&Request::of_manifest(Verb::Create, value));
    advance(&mut sim);
    let namespace = sim.store().get(&ObjectRef::new(Kind::Namespace, "", "n"));
    assert!(namespace.is_some_and(|namespace| !namespace.meta.is_deleting()));
}

#[test]
fn foreground_deletion_ends_in_a_circle_of_owners() {
    let mut sim = sim();
    create(&mut sim, "a", json!([]));
    let owners = json!([reference(&sim, "a")]);
    create(&mut sim, "b", owners);
    let owners = json!([reference(&sim, "b")]);
    create(&mut sim, "c", owners);
    let mut request = Request::of_manifest(
        Verb::Update,
        json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "a", "namespace": "default", "ownerReferences": [reference(&sim, "c")]}}),
    );
    request.resource = Request::new(Verb::Update, &key("a")).resource;
    sim.request(&request);
    advance(&mut sim);
    let owners = |name: &str| {
        sim.store()
            .get(&key(name))
            .unwrap()
            .meta
            .owner_references
            .len()
    };
    assert_eq!(["a", "b", "c"].map(owners), [1, 1, 1]);
    delete(&mut sim, "a", Propagation::Foreground);
    assert_eq!(["a", "b", "c"].map(|name| exists(&sim, name)), [false; 3]);
}

#[test]
fn foreground_deletion_waits_only_for_dependents_that_block_it() {
    let mut sim = sim();
    create(&mut sim, "owner", json!([]));
    let mut free = reference(&sim, "owner");
    free["blockOwnerDeletion"] = json!(false);
    create(&mut sim, "free", json!([free]));
    let owners = json!([reference(&sim, "owner")]);
    create(&mut sim, "blocking", owners);
    delete(&mut sim, "owner", Propagation::Foreground);
    assert!(!exists(&sim, "owner") && !exists(&sim, "free") && !exists(&sim, "blocking"));
    let removed = |name: &str| {
        let mut journal = sim.journal().iter();
        journal.position(|entry| {
            matches!(&entry.record, apiserver::journal::Record::Write { op: apiserver::Op::Deleted, object, .. }
                if object.meta.name == name)
        })
    };
    assert!(removed("blocking") < removed("owner") && removed("owner") < removed("free"));
}

#[test]
fn an_owner_in_another_namespace_is_reported() {
    let mut sim = sim();
    let mut create_in = |namespace: &str, object: Value| {
        let mut object = object;
        object["metadata"]["namespace"] = namespace.into();
        sim.request(&Request::of_manifest(Verb::Create, object));
    };
    create_in(
        "",
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}}),
    );
    create_in(
        "other",
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owner"}}),
    );
    let owner = sim
        .store()
        .get(&ObjectRef::new(Kind::ConfigMap, "other", "owner"));
    let uid = owner.unwrap().meta.uid.to_string();
    let reference = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid});
    create(&mut sim, "child", json!([reference]));
    advance(&mut sim);
    assert!(!exists(&sim, "child"));
    let events = sim.store().list(Kind::Event).map(|event| event.to_value());
    let messages: Vec<Value> = events
        .filter(|event| event["reason"] == "OwnerRefInvalidNamespace")
        .map(|event| event["message"].clone())
        .collect();
    let message = format!(
        "ownerRef [v1/ConfigMap, namespace: default, name: owner, uid: {uid}] does not exist in namespace \"default\""
    );
    assert_eq!(messages, [Value::from(message)]);
}
