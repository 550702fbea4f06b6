use session::State;
use session::selection::SelectionMsg;
use session::timeline::TimelineMsg;
use std::rc::Rc;
use views::shape::{CardBody, Scene};

fn network(text: &str) -> Rc<Scene> {
    let mut state = State::new(text, 1);
    state.update(session::Msg::Stage(900.0, 640.0));
    state.update(TimelineMsg::Seconds(10));
    state.update(SelectionMsg::View(
        views::by_id("network").expect("the diagram"),
    ));
    state.picture().scene.clone()
}

fn table(scene: &Scene, title: &str) -> Option<Vec<Vec<String>>> {
    scene.items.iter().find_map(|item| match &item.body {
        CardBody::Table(table) if table.title.english() == title => Some(
            std::iter::once(&table.head)
                .chain(table.rows.iter().map(|(cells, _)| cells))
                .map(|cells| cells.iter().map(i18n::Message::english).collect())
                .collect(),
        ),
        _ => None,
    })
}

const PODS: &str = "
apiVersion: v1
kind: Pod
metadata: {name: db, labels: {role: db}}
spec: {containers: [{name: c, image: redis, ports: [{containerPort: 6379}]}]}
---
apiVersion: v1
kind: Pod
metadata: {name: front, labels: {role: front}}
spec: {containers: [{name: c, image: nginx}]}
---
apiVersion: v1
kind: Pod
metadata: {name: other}
spec: {containers: [{name: c, image: nginx}]}
";

#[test]
fn without_a_policy_nothing_is_told() {
    assert_eq!(table(&network(PODS), "Who may call whom"), None);
}

#[test]
fn a_policy_without_a_service_shows_who_may_call_whom() {
    let policy = "---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: db}
spec:
  podSelector: {matchLabels: {role: db}}
  policyTypes: [Ingress, Egress]
  ingress:
  - from: [{podSelector: {matchLabels: {role: front}}}]
    ports: [{port: 6379}]
";
    let scene = network(&[PODS, policy].concat());
    let rows = table(&scene, "Who may call whom").expect("a table");
    assert_eq!(
        rows[0],
        ["from", "to db:6379", "to front:80", "to other:80"]
    );
    assert_eq!(rows[1], ["db", "·", "✕ no", "✕ no"]);
    assert_eq!(rows[2], ["front", "yes", "·", "yes"]);
    assert_eq!(rows[3], ["other", "✕ no", "yes", "·"]);
    let label = scene.items[0].label.english();
    assert!(label.contains("other may not call db"), "{label}");
}

#[test]
fn an_ingress_that_nobody_serves_tells_why() {
    let ingress = |class: &str| {
        format!(
            "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: a}}\nspec:\n  {class}\n  defaultBackend: {{service: {{name: web, port: {{number: 80}}}}}}\n"
        )
    };
    let told = |class: &str| {
        let scene = network(&ingress(class));
        scene
            .labels
            .iter()
            .map(|label| label.text.english())
            .collect::<Vec<_>>()
            .join("|")
    };
    assert!(told("ingressClassName: nginx").contains("IngressClass nginx does not exist"));
    assert!(told("").contains("It names no class"));
}
