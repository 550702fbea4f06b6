use k8s_model::meta::LAST_APPLIED;
use k8s_model::{Kind, Object, ObjectRef};
use apiserver::{Journal, Op};
use i18n::format::middle;
use i18n::{Message, msg};
use k8s_model::sort;
use serde_json::Value;
use std::rc::Rc;
use projection::changes::*;

#[test]
fn of_two_long_values_it_is_shown_where_they_differ() {
    assert_eq!(differing("nginx:1.25", "nginx:1.26"), ("nginx:1.25".into(), "nginx:1.26".into()));
    let same = "a word ".repeat(20);
    let (from, to) = differing(&format!("{same}80"), &format!("{same}8080 and more"));
    assert_eq!((from.as_str(), to.as_str()), ("…rd a word 80", "…rd a word 8080 and more"));
    // Without anything in common both are cut in their middle.
    let (from, to) = differing(&"x".repeat(100), "y");
    assert_eq!((from.chars().count(), to.as_str()), (MAX_VALUE_CHARS, "y"));
}

#[test]
fn a_person_has_cordoned_a_node_and_labelled_a_pod() {
    let change = |kind: Kind, op: Op, path: &str| Change {
        key: ObjectRef::new(kind, "", "x"),
        op,
        fields: vec![ChangedField { path: path.into(), from: None, to: Some("true".into()) }],
    };
    assert!(change(Kind::Node, Op::Modified, "spec.unschedulable").is_by_person());
    assert!(change(Kind::Pod, Op::Modified, "metadata.labels.app").is_by_person());
    assert!(change(Kind::Service, Op::Modified, "spec.ports[0].port").is_by_person());
    assert!(!change(Kind::Pod, Op::Modified, "metadata.labels.topology.kubernetes.io/zone").is_by_person());
    assert!(!change(Kind::Node, Op::Modified, "spec.taints").is_by_person());
    assert!(!change(Kind::Pod, Op::Added, "metadata.labels.app").is_by_person());
}

#[test]
fn a_plan_names_the_fields_that_a_person_sets() {
    let field = |path: &str, from: &str, to: &str| ChangedField { path: path.into(), from: Some(from.into()), to: Some(to.into()) };
    let fields = vec![
        field("metadata.annotations.a", "1", "2"),
        field("spec.replicas", "4", "2"),
        field("spec.template.spec.containers[nginx].image", "nginx:1", "nginx:2"),
        field("status.readyReplicas", "4", "2"),
    ];
    let key = ObjectRef::new(Kind::Deployment, "default", "web");
    let changes = [Change { key: key.clone(), op: Op::Modified, fields: fields.clone() }, Change { key, op: Op::Added, fields }];
    let named: Vec<String> = brief(&changes, false).iter().map(Message::english).collect();
    assert_eq!(named, ["replicas 4 → 2", "image nginx:1 → nginx:2"]);
    let port = Change {
        key: ObjectRef::new(Kind::Service, "default", "web"),
        op: Op::Modified,
        fields: vec![field("spec.ports[0].targetPort", "80", "8080")],
    };
    let [web, _] = changes;
    let both = [web, port];
    let named: Vec<String> = brief(&both, false).iter().map(Message::english).collect();
    assert_eq!(named, ["Deployment web replicas 4 → 2", "Deployment web image nginx:1 → nginx:2", "Service web targetPort 80 → 8080"]);
    let fields: Vec<ChangedField> = ["a", "b", "c", "d", "e"].map(|key| field(&format!("data.{key}"), "1", "2")).into();
    let key = ObjectRef::new(Kind::ConfigMap, "default", "web");
    assert_eq!(brief(&[Change { key, op: Op::Modified, fields }], false).last().map(Message::english).as_deref(), Some("1 more"));
}
use session::State;
use session::console::ConsoleMsg;
use session::examples;
use session::timeline::TimelineMsg;

fn show(change: &Change) -> String {
    let fields: Vec<String> = change
        .fields
        .iter()
        .map(|field| format!("{} {}→{}", field.path, field.from.as_deref().unwrap_or("-"), field.to.as_deref().unwrap_or("-")))
        .collect();
    format!("{:?} {} {}: {}", change.op, change.key.kind.name(), change.key.name, fields.join(", "))
}

#[test]
fn a_comparison_lists_added_removed_and_changed_objects() {
    let mut state = State::new((examples::ALL[0].text)(), 1);
    state.update(TimelineMsg::Seconds(10));
    let before = state.timeline.run.objects();
    assert_eq!(between(&before, &state.timeline.run.objects(), 9), []);
    state.update(ConsoleMsg::Enter("kubectl scale deployment nginx-deployment --replicas=1".into()));
    state.update(ConsoleMsg::Enter("kubectl create configmap colours --from-literal=a=b".into()));
    state.update(TimelineMsg::Seconds(60));
    let all: Vec<String> = between(&before, &state.timeline.run.objects(), 99).iter().map(show).collect();
    assert!(all.iter().any(|one| one.starts_with("Added ConfigMap colours")), "{all:#?}");
    assert!(all.iter().any(|one| one.starts_with("Deleted Pod nginx-deployment-")), "{all:#?}");
    let deployment = all.iter().find(|one| one.contains("Deployment nginx-deployment:")).expect("the Deployment changed");
    assert!(deployment.contains("spec.replicas 2→1") && deployment.contains("status.readyReplicas 2→1"), "{deployment}");
    assert!(!deployment.contains("resourceVersion"), "{deployment}");
    // What the person changed comes first, and what was made of it last.
    assert!(all[0].contains("Deployment nginx-deployment") && all.last().is_some_and(|one| one.contains(" Pod ")), "{all:#?}");
}

#[test]
fn technical_fields_come_last() {
    let mut state = State::new((examples::ALL[2].text)(), 1);
    let before = state.timeline.run.objects();
    state.update(TimelineMsg::Seconds(100));
    let kinds: Vec<Kind> = between(&before, &state.timeline.run.objects(), 99).iter().map(|change| change.key.kind).collect();
    let at = |kind: Kind| kinds.iter().position(|of| *of == kind).unwrap_or_else(|| panic!("{kind:?} in {kinds:?}"));
    assert!(at(Kind::StatefulSet) < at(Kind::Pod) && at(Kind::Pod) < at(Kind::ControllerRevision), "{kinds:?}");
}

#[test]
fn one_that_was_replaced_under_its_name_has_changed_and_many_alike_are_one_line() {
    let of = |op, kind, name: &str| Change { key: ObjectRef::new(kind, "default", name), op, fields: Vec::new() };
    let all = [
        of(Op::Modified, Kind::StatefulSet, "web"),
        of(Op::Added, Kind::Pod, "a-1"),
        of(Op::Added, Kind::Pod, "a-2"),
        of(Op::Added, Kind::Pod, "a-3"),
        of(Op::Added, Kind::Pod, "a-4"),
        of(Op::Deleted, Kind::Pod, "web-0"),
        of(Op::Added, Kind::Pod, "web-0"),
        of(Op::Added, Kind::Pod, "web-1"),
    ];
    let fate = |kind, name| fate(&all, (kind, "default", name));
    assert_eq!([fate(Kind::Pod, "web-0"), fate(Kind::Pod, "web-1")], [Some(Op::Modified), Some(Op::Added)]);
    assert_eq!([fate(Kind::Pod, "web-2"), fate(Kind::StatefulSet, "web")], [None, Some(Op::Modified)]);
    assert_eq!(together(&all).iter().map(|these| these.len()).collect::<Vec<_>>(), [1, 4, 2, 1]);
    let added = ["web-10", "web-11", "web-12", "web-13", "web-2"].map(|name| of(Op::Added, Kind::Pod, name));
    let halves: Vec<Change> = added.into_iter().chain([of(Op::Deleted, Kind::Pod, "web-2")]).collect();
    assert_eq!(together(&halves).iter().map(|these| these.len()).collect::<Vec<_>>(), [4, 2]);
    let key = |path: &str, kind| ChangedField { path: path.into(), from: None, to: None }.is_key(kind);
    assert!(key("spec.replicas", Kind::Deployment) && key("status.readyReplicas", Kind::Deployment) && key("status.phase", Kind::Pod));
    assert!(
        !key("endpoints[web-0]", Kind::EndpointSlice)
            && !key("metadata.annotations.deployment.kubernetes.io/revision", Kind::Deployment)
    );
    assert!(
        key("metadata.labels.app.kubernetes.io/version", Kind::Pod)
            && key("spec.template.spec.nodeSelector.kubernetes.io/hostname", Kind::Deployment)
            && key("status.conditions[Available].status", Kind::Deployment)
            && key("status.phase", Kind::Namespace)
    );
    assert!(!key("status.updatedReplicas", Kind::Deployment) && !key("status.readyReplicas", Kind::ReplicaSet));
}

#[test]
fn elements_are_known_by_name() {
    let mut out = Vec::new();
    let of = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
    let (a, b) = (of(r#"{"c":[{"name":"x","n":1},{"name":"y"}],"l":[1,2]}"#), of(r#"{"c":[{"name":"y"},{"name":"x","n":2}],"l":[1]}"#));
    compare(&mut String::new(), Some(&a), Some(&b), &mut out);
    let paths: Vec<&str> = out.iter().map(|field| field.path.as_str()).collect();
    assert_eq!(paths, ["c[x].n", "l[1]"]);
    let pods = |all: &[&str]| Value::from_iter(all.iter().map(|pod| serde_json::json!({"targetRef": {"name": pod}, "ip": *pod})));
    assert_eq!(names(pods(&["web-0", "web-1"]).as_array().expect("a list")), ["web-0", "web-1"]);
    let technical = |path: &str| ChangedField { path: path.into(), from: None, to: None }.is_technical();
    let deleted = ChangedField { path: "metadata.deletionTimestamp".into(), from: None, to: Some("2026-01-01T00:00:00Z".into()) };
    assert!(deleted.is_deletion() && !deleted.is_technical() && technical("metadata.deletionGracePeriodSeconds"));
    assert!(technical("metadata.uid") && technical("status.conditions[Ready].lastTransitionTime") && !technical("spec.replicas"));
}
