//! Kinds of other groups that share the name of a built-in kind: Knative's Service, Kruise's StatefulSet, a Deployment of example.com.

use cluster::Sim;
use k8s_model::kind::CustomNames;
use k8s_model::{Kind, ObjectRef};
use projection::adapt::{self, Pods, Scope};
use projection::model::Model;

struct Silent;

impl scenario::Observer for Silent {
    fn advanced(&mut self, _: &Sim) {}
    fn finished(&mut self, _: &Sim, _: &scenario::Finished) {}
}

fn definition(group: &str, version: &str, kind: &str) -> String {
    let singular = kind.to_lowercase();
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {singular}s.{group}}}
spec:
  group: {group}
  scope: Namespaced
  names: {{kind: {kind}, plural: {singular}s, singular: {singular}}}
  versions:
  - name: {version}
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {{type: object, description: Desired state in {group}., x-kubernetes-preserve-unknown-fields: true}}
---
"
    )
}

const OBJECTS: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: nginx}]}
---
apiVersion: example.com/v1
kind: Deployment
metadata: {name: web}
spec: {note: none}
---
apiVersion: v1
kind: Service
metadata: {name: shop}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: shop.v1}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 1
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: c, image: nginx}]}
---
apiVersion: apps.kruise.io/v1beta1
kind: StatefulSet
metadata: {name: db}
spec: {replicas: 1}
";

fn kubectl(sim: &mut Sim, line: &str, stdin: &str) -> String {
    let args: Vec<String> = line.split_whitespace().map(String::from).collect();
    let done = scenario::finish(sim, &args, stdin, 60_000_000);
    format!("{}{}", done.stdout, done.stderr)
}

fn kind(group: &str, version: &str, name: &str) -> Kind {
    Kind::custom(CustomNames {
        group,
        version,
        name,
        plural: &format!("{}s", name.to_lowercase()),
        namespaced: true,
    })
    .unwrap()
}

/// Returns a cluster with the objects, and a Pod and a ReplicaSet that the custom controllers own.
fn cluster() -> Sim {
    let parsed = scenario::parse("steps: [{wait: settled}]").unwrap();
    let mut sim = scenario::run(&parsed, 1, usize::MAX, &mut Silent);
    let definitions = [
        definition("serving.knative.dev", "v1", "Service"),
        definition("apps.kruise.io", "v1beta1", "StatefulSet"),
        definition("example.com", "v1", "Deployment"),
    ]
    .concat();
    kubectl(&mut sim, "apply -f -", &definitions);
    scenario::settle(&mut sim);
    let applied = kubectl(&mut sim, "apply -f -", OBJECTS);
    assert_eq!(
        applied,
        "deployment.apps/web created
deployment.example.com/web created
service/shop created
service.serving.knative.dev/shop.v1 created
statefulset.apps/db created
statefulset.apps.kruise.io/db created
"
    );
    scenario::settle(&mut sim);
    let uid = |kind: Kind, name: &str| {
        sim.store()
            .get(&ObjectRef::new(kind, "default", name))
            .unwrap()
            .meta
            .uid
    };
    let owned = format!(
        "apiVersion: v1
kind: Pod
metadata:
  name: db-7
  labels: {{app: db}}
  ownerReferences: [{{apiVersion: apps.kruise.io/v1beta1, kind: StatefulSet, name: db, uid: {db}, controller: true}}]
spec: {{containers: [{{name: c, image: nginx}}]}}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: web-custom
  labels: {{app: web}}
  ownerReferences: [{{apiVersion: example.com/v1, kind: Deployment, name: web, uid: {web}, controller: true, blockOwnerDeletion: true}}]
spec:
  replicas: 1
  selector: {{matchLabels: {{app: web, by: custom}}}}
  template:
    metadata: {{labels: {{app: web, by: custom}}}}
    spec: {{containers: [{{name: c, image: nginx}}]}}
",
        db = uid(kind("apps.kruise.io", "v1beta1", "StatefulSet"), "db"),
        web = uid(kind("example.com", "v1", "Deployment"), "web"),
    );
    let made = kubectl(&mut sim, "create -f -", &owned);
    assert_eq!(
        made,
        "pod/db-7 created\nreplicaset.apps/web-custom created\n"
    );
    scenario::settle(&mut sim);
    sim
}

fn model(sim: &Sim) -> Model {
    let mut pods = Pods::default();
    for pod in sim.store().list(Kind::Pod) {
        pods.take(pod, false, &|key| sim.store().get(key).cloned());
    }
    adapt::model(
        &|kind| sim.store().list(kind).cloned().collect(),
        &mut pods,
        &Scope::default(),
    )
}

#[test]
fn get_and_describe_find_the_group() {
    let mut sim = cluster();
    let names = |sim: &mut Sim, what: &str| kubectl(sim, &format!("get {what} -o name"), "");
    assert_eq!(
        names(&mut sim, "services.serving.knative.dev"),
        "service.serving.knative.dev/shop.v1\n"
    );
    assert_eq!(
        names(&mut sim, "statefulsets.apps.kruise.io"),
        "statefulset.apps.kruise.io/db\n"
    );
    assert_eq!(
        names(&mut sim, "deployment.v1.example.com"),
        "deployment.example.com/web\n"
    );
    assert_eq!(names(&mut sim, "deployment"), "deployment.apps/web\n");
    let described = kubectl(&mut sim, "describe deployments.example.com web", "");
    assert!(
        described.contains("API Version:  example.com/v1"),
        "{described}"
    );
    assert!(
        described.trim_end().ends_with("Events:  <none>"),
        "{described}"
    );
    let events = kubectl(&mut sim, "events --for deployments.example.com/web", "");
    assert_eq!(events, "No events found in default namespace.\n");
    let events = kubectl(&mut sim, "events --for deployment/web", "");
    assert!(events.contains("ScalingReplicaSet"), "{events}");
}

/// `kubectl/pkg/explain/explain.go`, `SplitAndParseResourceRequestWithMatchingPrefix`: the first resource whose qualified name begins the
/// path is explained, so that the core group's Service hides Knative's unless `--api-version` names it.
#[test]
fn explain_finds_the_group() {
    let mut sim = cluster();
    let head = |sim: &mut Sim, what: &str| {
        let text = kubectl(sim, &format!("explain {what}"), "");
        text.lines().take(2).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        head(&mut sim, "deployments.example.com"),
        "GROUP:      example.com KIND:       Deployment"
    );
    assert_eq!(
        head(&mut sim, "deployments.example.com.spec"),
        "GROUP:      example.com KIND:       Deployment"
    );
    assert_eq!(
        head(&mut sim, "deployments.spec"),
        "GROUP:      apps KIND:       Deployment"
    );
    assert_eq!(
        head(
            &mut sim,
            "services.spec --api-version=serving.knative.dev/v1"
        ),
        "GROUP:      serving.knative.dev KIND:       Service"
    );
    assert_eq!(
        head(
            &mut sim,
            "statefulsets --api-version=apps.kruise.io/v1beta1"
        ),
        "GROUP:      apps.kruise.io KIND:       StatefulSet"
    );
    assert_eq!(
        head(&mut sim, "services.serving.knative.dev"),
        "KIND:       Service VERSION:    v1"
    );
}

#[test]
fn owners_are_told_apart_by_their_group() {
    let mut sim = cluster();
    let web = kubectl(&mut sim, "rollout history deployment/web", "");
    assert_eq!(
        web,
        "deployment.apps/web \nREVISION  CHANGE-CAUSE\n1         <none>\n\n"
    );
    let journal = sim.journal();
    for record in journal
        .iter()
        .filter(|entry| entry.actor.component.name() == "deployment-controller")
    {
        assert!(
            record
                .write()
                .is_none_or(|(_, object)| object.meta.name != "web-custom"),
            "the Deployment's controller wrote web-custom"
        );
    }
    // Each owner takes only its own dependents with it.
    kubectl(
        &mut sim,
        "delete deployment.apps/web statefulset.apps/db",
        "",
    );
    scenario::settle(&mut sim);
    assert_eq!(
        kubectl(&mut sim, "get replicasets,pods -o name", "")
            .lines()
            .map(|line| line.rsplit_once('-').map_or(line, |(start, _)| start))
            .collect::<Vec<_>>(),
        ["replicaset.apps/web", "pod/db", "pod/web-custom"]
    );
    kubectl(
        &mut sim,
        "delete deployments.example.com/web statefulset.apps.kruise.io/db --cascade=foreground",
        "",
    );
    scenario::settle(&mut sim);
    assert_eq!(kubectl(&mut sim, "get replicasets,pods -o name", ""), "");
}

#[test]
fn diagrams_draw_the_owner_of_its_group() {
    let sim = cluster();
    let model = model(&sim);
    let roots: Vec<(String, usize)> = model
        .roots
        .iter()
        .map(|root| {
            let name = root.controller.as_ref().map_or("none".to_owned(), |card| {
                format!("{}/{}", card.id.kind, card.id.name)
            });
            (
                name,
                root.groups
                    .iter()
                    .map(|group| group.pods.iter().count())
                    .sum(),
            )
        })
        .collect();
    assert_eq!(
        roots,
        [
            ("Deployment/web".to_owned(), 1),
            ("StatefulSet/db".to_owned(), 1),
            ("ReplicaSet/web-custom".to_owned(), 1),
            ("none".to_owned(), 1)
        ]
    );
    assert_eq!(
        model
            .services
            .iter()
            .map(|service| service.id.name.as_str())
            .collect::<Vec<_>>(),
        ["shop"]
    );
    let inert: Vec<String> = model
        .inert
        .iter()
        .map(|id| format!("{}/{}", id.kind, id.name))
        .collect();
    for name in [
        "Deployment.example.com/web",
        "Service.serving.knative.dev/shop.v1",
        "StatefulSet.apps.kruise.io/db",
    ] {
        assert!(
            inert.iter().any(|id| id == name),
            "{name} is not in {inert:?}"
        );
    }
}
