//! Scenarios of single loops whose behaviour differed from Kubernetes': each names the upstream file that decides.

use apiserver::journal::Record;
use cluster::Sim;
use k8s_model::{Kind, ObjectRef};
use projection::adapt;
use scenario::{Finished, Observer};
use serde_json::Value;

struct Silent;

impl Observer for Silent {
    fn advanced(&mut self, _: &Sim) {}
    fn finished(&mut self, _: &Sim, step: &Finished) {
        assert_eq!(
            step.exit, 0,
            "step {}: {}{}",
            step.step, step.stdout, step.stderr
        );
    }
}

fn run(text: &str) -> Sim {
    scenario::run(&scenario::parse(text).unwrap(), 1, usize::MAX, &mut Silent)
}

fn object(sim: &Sim, kind: Kind, name: &str) -> Value {
    sim.store()
        .get(&ObjectRef::new(kind, "default", name))
        .unwrap_or_else(|| panic!("no {} {name}", kind.name()))
        .to_value()
}

fn deployment(name: &str, replicas: u32, more: &str) -> String {
    format!(
        "    apiVersion: apps/v1
    kind: Deployment
    metadata: {{name: {name}}}
    spec:
      replicas: {replicas}
{more}      selector: {{matchLabels: {{app: {name}}}}}
      template:
        metadata: {{labels: {{app: {name}}}}}
        spec: {{containers: [{{name: c, image: nginx}}]}}
"
    )
}

/// `disruption.go:283-300`: the scales of the controllers are kept by the uid of the Deployment.
#[test]
fn budget_counts_a_deployment_once_during_a_rollout() {
    let budget = "    ---
    apiVersion: policy/v1
    kind: PodDisruptionBudget
    metadata: {name: web}
    spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
";
    let web = deployment("web", 4, "");
    // The new image cannot be pulled, so that Pods of two ReplicaSets stay.
    let sim = run(&format!(
        "steps:\n- apply: |\n{web}{budget}- wait: settled\n- kubectl: set image deployment/web c=nginx:nonexist\n- wait: 30s\n"
    ));
    assert!(sim.store().count(Kind::ReplicaSet) == 2);
    let status = &object(&sim, Kind::PodDisruptionBudget, "web")["status"];
    assert_eq!(
        (&status["expectedPods"], &status["desiredHealthy"]),
        (&4.into(), &3.into()),
        "{status}"
    );
}

/// `replica_set.go:842-855`: the key is added again while ready and available replicas differ, whatever the desired number is.
#[test]
fn ready_pods_become_available_beside_unready_ones() {
    let web = deployment("web", 3, "      minReadySeconds: 10\n").replace(
        "image: nginx",
        "image: nginx, resources: {requests: {cpu: 1}}",
    );
    // The third Pod fits on no node.
    let nodes = "cluster: {nodes: [{name: node-1, allocatable: {cpu: 2}}]}\n";
    let sim = run(&format!("{nodes}steps:\n- apply: |\n{web}- wait: 60s\n"));
    let set = sim
        .store()
        .list(Kind::ReplicaSet)
        .next()
        .unwrap()
        .to_value();
    assert_eq!(
        (
            &set["status"]["readyReplicas"],
            &set["status"]["availableReplicas"]
        ),
        (&2.into(), &2.into()),
        "{}",
        set["status"]
    );
}

/// `update.go:172-190`: the update of a DaemonSet that surges ends with an error at an old Pod whose node does not exist.
#[test]
fn surging_daemonset_waits_for_the_pod_of_a_deleted_node() {
    let sim = run("cluster: {nodes: 3}
steps:
- apply: |
    apiVersion: apps/v1
    kind: DaemonSet
    metadata: {name: scout}
    spec:
      updateStrategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
      selector: {matchLabels: {app: scout}}
      template:
        metadata: {labels: {app: scout}}
        spec: {containers: [{name: agent, image: 'agent:1'}]}
- wait: settled
- fault: remove-node node-3
- kubectl: set image ds/scout agent=agent:2
- wait: 20s
");
    let status = object(&sim, Kind::DaemonSet, "scout")["status"].clone();
    assert_eq!(status["updatedNumberScheduled"], Value::Null, "{status}");
    assert_eq!(status["numberReady"], 2, "{status}");
}

/// `node_lifecycle_controller.go`, `monitorNodeHealth`: refused updates are repeated every 20 ms.
#[test]
fn refused_updates_of_a_silent_node_are_repeated_at_once() {
    let until_unknown = |fault: &str| {
        let sim = run(&format!(
            "cluster: {{nodes: 2, controllerManager: {{nodeMonitorGracePeriod: 8s, nodeMonitorPeriod: 5s}}}}\nsteps:\n- wait: 2s\n{fault}- fault: node-down node-1\n- wait: 60s\n"
        ));
        let is_unknown = |object: &k8s_model::Object| {
            object.key() == ObjectRef::new(Kind::Node, "", "node-1")
                && object.to_value()["status"]["conditions"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .any(|c| c["type"] == "Ready" && c["status"] == "Unknown")
        };
        let entry = sim.journal().iter().find(
            |entry| matches!(&entry.record, Record::Write { object, .. } if is_unknown(object)),
        );
        entry.expect("node-1 becomes Unknown").time.0
    };
    let refused = |times: usize| until_unknown(&"- fault: conflict node/node-1\n".repeat(times));
    let once = refused(0);
    assert_eq!(
        [1, 5, 6].map(|times| refused(times) - once),
        [20_000, 100_000, 5_000_000]
    );
}

/// `monitorNodeHealth`: a node whose Pods could not all be marked is looked at again at the next check.
#[test]
fn pods_of_a_silent_node_are_marked_after_a_refused_update() {
    let web = deployment("web", 1, "");
    let sim = run(&format!(
        "cluster: {{nodes: 1, controllerManager: {{nodeMonitorGracePeriod: 8s, nodeMonitorPeriod: 5s}}}}\nsteps:\n- apply: |\n{web}- wait: settled\n- fault: conflict pod/{{{{pod:web:0}}}}\n- fault: node-down node-1\n- wait: 30s\n"
    ));
    let pod = sim.store().list(Kind::Pod).next().unwrap().to_value();
    let ready = pod["status"]["conditions"]
        .as_array()
        .unwrap()
        .iter()
        .find(|c| c["type"] == "Ready")
        .unwrap();
    assert_eq!(ready["status"], "False", "{pod}");
}

/// `zz_generated.defaults.go`: the service of a gRPC probe is empty where none is given.
#[test]
fn grpc_probe_without_a_service_asks_the_empty_one() {
    let sim = run("steps:
- apply: |
    apiVersion: v1
    kind: Pod
    metadata: {name: p}
    spec: {containers: [{name: c, image: nginx, readinessProbe: {grpc: {port: 9000}}}]}
");
    let pod = object(&sim, Kind::Pod, "p");
    assert_eq!(
        pod["spec"]["containers"][0]["readinessProbe"]["grpc"]["service"], "",
        "{pod}"
    );
}

const FOREIGN: &str = "- apply: |
    apiVersion: apiextensions.k8s.io/v1
    kind: CustomResourceDefinition
    metadata: {name: services.serving.knative.dev}
    spec:
      group: serving.knative.dev
      scope: Namespaced
      names: {kind: Service, plural: services, singular: service}
      versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
    ---
    apiVersion: apiextensions.k8s.io/v1
    kind: CustomResourceDefinition
    metadata: {name: statefulsets.apps.kruise.io}
    spec:
      group: apps.kruise.io
      scope: Namespaced
      names: {kind: StatefulSet, plural: statefulsets, singular: statefulset}
      versions: [{name: v1beta1, served: true, storage: true, subresources: {scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
- wait: 1s
";

/// Owners, Events and pictures tell kinds of one name by their group.
#[test]
fn kinds_of_other_groups_are_not_the_built_in_ones() {
    let sim = run(&format!(
        "steps:
{FOREIGN}- apply: |
    apiVersion: serving.knative.dev/v1
    kind: Service
    metadata: {{name: shop}}
    ---
    apiVersion: v1
    kind: Service
    metadata: {{name: shop}}
    spec: {{selector: {{app: shop}}, ports: [{{port: 80}}]}}
    ---
    apiVersion: apps.kruise.io/v1beta1
    kind: StatefulSet
    metadata: {{name: db}}
    ---
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {{name: db}}
    spec:
      replicas: 0
      selector: {{matchLabels: {{app: db}}}}
      template:
        metadata: {{labels: {{app: db}}}}
        spec: {{containers: [{{name: c, image: nginx}}]}}
- wait: settled
"
    ));
    let knative = Kind::from_api("serving.knative.dev/v1", "Service").unwrap();
    let kruise = Kind::from_api("apps.kruise.io/v1beta1", "StatefulSet").unwrap();
    assert_eq!(
        (knative.label().as_str(), Kind::Service.label().as_str()),
        ("Service.serving.knative.dev", "Service")
    );
    assert_eq!(
        (
            Kind::from_label(&knative.label()),
            Kind::from_label("Service")
        ),
        (Some(knative), Some(Kind::Service))
    );
    let ids: Vec<_> = [knative, Kind::Service, kruise, Kind::StatefulSet]
        .into_iter()
        .flat_map(|kind| {
            sim.store()
                .list(kind)
                .filter(|object| object.meta.name != "kubernetes")
                .map(|object| adapt::id(object).kind)
                .collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(
        ids,
        [
            "Service.serving.knative.dev",
            "Service",
            "StatefulSet.apps.kruise.io",
            "StatefulSet"
        ]
    );
    let owned = |api_version: &str, kind: &str, name: &str| k8s_model::OwnerReference {
        api_version: api_version.into(),
        kind: kind.into(),
        name: name.into(),
        ..Default::default()
    };
    let foreign = owned("apps.kruise.io/v1beta1", "StatefulSet", "db");
    assert_eq!(
        foreign.key("default"),
        Some(ObjectRef::new(kruise, "default", "db"))
    );
    assert!(
        !foreign.is_kind(Kind::StatefulSet)
            && owned("apps/v1beta2", "StatefulSet", "db").is_kind(Kind::StatefulSet)
    );
}

/// `disruption.go`, `getScaleController`: a controller of any kind is asked for its scale.
#[test]
fn budget_counts_the_replicas_of_a_custom_controller() {
    let mut sim = run(&format!(
        "steps:\n{FOREIGN}- apply: |\n    apiVersion: apps.kruise.io/v1beta1\n    kind: StatefulSet\n    metadata: {{name: db}}\n    spec: {{replicas: 5}}\n"
    ));
    let kruise = Kind::from_api("apps.kruise.io/v1beta1", "StatefulSet").unwrap();
    let uid = sim.store().list(kruise).next().unwrap().meta.uid;
    let pod = format!(
        "apiVersion: v1
kind: Pod
metadata:
  name: db-0
  labels: {{app: db}}
  ownerReferences: [{{apiVersion: apps.kruise.io/v1beta1, kind: StatefulSet, name: db, uid: {uid}, controller: true}}]
spec: {{containers: [{{name: c, image: nginx}}]}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: db}}
spec: {{maxUnavailable: 1, selector: {{matchLabels: {{app: db}}}}}}
"
    );
    let done = scenario::finish(
        &mut sim,
        &["apply", "-f", "-"].map(String::from),
        &pod,
        1_000_000,
    );
    assert_eq!(done.exit, Some(0), "{}", done.stderr);
    scenario::settle(&mut sim);
    let status = &object(&sim, Kind::PodDisruptionBudget, "db")["status"];
    assert_eq!(
        (&status["expectedPods"], &status["desiredHealthy"]),
        (&5.into(), &4.into()),
        "{status}"
    );
}

/// A pattern of a definition is read as Go reads it.
#[test]
fn patterns_of_definitions_are_those_of_go() {
    for (pattern, good, bad) in [
        (r"^\D+$", "hello", "h3llo"),
        ("(?i)^abc$", "ABC", "abcd"),
        (r"^\p{L}+$", "über", "u8"),
        (r"^a\Bb$", "ab", "a b"),
    ] {
        let definition = format!(
            "- apply: |
    apiVersion: apiextensions.k8s.io/v1
    kind: CustomResourceDefinition
    metadata: {{name: words.example.com}}
    spec:
      group: example.com
      scope: Namespaced
      names: {{kind: Word, plural: words, singular: word}}
      versions: [{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object, properties: {{text: {{type: string, pattern: '{pattern}'}}}}}}}}}}]
- wait: 1s
"
        );
        let apply = |text: &str| {
            let word = format!(
                "- apply: |\n    apiVersion: example.com/v1\n    kind: Word\n    metadata: {{name: w}}\n    text: {text}\n"
            );
            let mut exits = Exits(Vec::new());
            scenario::run(
                &scenario::parse(&format!("steps:\n{definition}{word}")).unwrap(),
                1,
                usize::MAX,
                &mut exits,
            );
            exits.0.pop().unwrap()
        };
        assert_eq!((apply(good), apply(bad)), (0, 1), "{pattern}");
    }
}

struct Exits(Vec<i32>);

impl Observer for Exits {
    fn advanced(&mut self, _: &Sim) {}
    fn finished(&mut self, _: &Sim, step: &Finished) {
        self.0.push(step.exit);
    }
}
