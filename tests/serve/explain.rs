//! `kubectl explain`: what the real kubectl makes of the server's schemas is what our own prints, to the byte.

use crate::kubectl::{client, home, run, text};
use cluster::Sim;
use k8s_model::kind;
use kubectl::Session;
use kubectl::parse::split;
use serve::{ClockPace, ServeOptions, Server};
use std::fmt::Write;

/// Fields at some depth: structs, lists, maps, values, numbers or texts, references to themselves.
const PATHS: &[&str] = &[
    "deployment.spec.strategy",
    "deployment.spec.strategy.type",
    "deployments.apps.spec.strategy.rollingUpdate.maxSurge",
    "deploy.metadata",
    "pod.metadata.creationTimestamp",
    "pods.metadata.managedFields.fieldsV1",
    "po.spec.containers",
    "pod.spec.containers.livenessProbe.httpGet",
    "pod.spec.containers.resources.limits",
    "pod.spec.containers.env.valueFrom",
    "pod.spec.containers.volumeMounts.mountPropagation",
    "pod.spec.volumes.hostPath.type",
    "pod.spec.nodeSelector",
    "pod.spec.ephemeralContainers.ports",
    "service.spec.ports.targetPort",
    "svc.spec.ipFamilies",
    "statefulset.spec.volumeClaimTemplates.spec.resources.requests",
    "job.spec.podFailurePolicy.rules",
    "hpa.spec.behavior.scaleDown.policies",
    "pdb.status.disruptedPods",
    "configmap.data",
    "secret.data",
    "crd.spec.versions.schema.openAPIV3Schema",
    "crd.spec.versions.schema.openAPIV3Schema.properties",
    "crd.spec.versions.schema.openAPIV3Schema.properties.items",
    "crd.spec.versions.subresources.status",
    "clusterroles.rbac.authorization.k8s.io.rules",
    "cs.conditions",
    "csr.spec.extra",
    "csr.spec.usages",
    "resourceclaim.spec.devices.requests.firstAvailable",
    "controllerrevision.data",
    "pod.nope",
    "pod.spec.nope.deeper",
    "pod.spec.nodeName.deeper",
    "nope",
    "nope.spec",
    "pod node",
    "pod.",
    ".pod",
    "pod..spec",
    "Pods.SPEC",
    "pod --output=plaintext",
    "pod --output=nope",
    "pods --api-version=v1",
    "deployment --api-version=v1",
    "deployment --api-version=apps/v9",
    "pod --api-version=v9",
    "hpa --api-version=autoscaling/v1",
    "deployment.spec.replicas --api-version=apps/v1",
    "",
];

const CUSTOM: &[&str] = &[
    "boats",
    "boat.metadata",
    "boat.spec",
    "boat.spec.flag",
    "boat.spec.crew",
    "boat.spec.crew.name",
    "boat.spec.ports",
    "boat.spec.size",
    "boat.spec.free",
    "boats.harbour.example.com.spec.length",
    "boat.spec.nope",
    "boats --api-version=harbour.example.com/v2",
    "boats --api-version=harbour.example.com/v3",
];

const BOATS: &str = r#"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boats.harbour.example.com}
spec:
  group: harbour.example.com
  scope: Namespaced
  names: {plural: boats, singular: boat, kind: Boat, shortNames: [bt]}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        description: A boat, which lies in a harbour of this cluster and has a crew that somebody has to feed, day after day after day.
        required: [spec]
        properties:
          spec:
            type: object
            required: [length]
            properties:
              length: {type: integer, description: "How long the boat is in metres"}
              flag: {type: string, enum: ["NO", DK, SE, FI, "", EE], description: "First line.\n\nAnother line, which is a bit longer than the first of them and so goes on."}
              crew: {type: array, description: Who is aboard., items: {type: object, description: One of them., properties: {name: {type: string}, age: {type: number, enum: [1, 2.5]}}}}
              ports: {type: object, additionalProperties: {type: string, description: A day.}}
              size: {x-kubernetes-int-or-string: true}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status: {type: object, description: "  Where it is.", properties: {berth: {type: string}}}
    subresources: {status: {}}
  - name: v2
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object}}}}
"#;

fn own(sim: &mut Sim, line: &str, stdin: &str) -> (String, Option<i32>) {
    let mut session = Session::start(sim, &split(line), stdin);
    session.poll(sim);
    (
        format!("{}{}", session.stdout, session.stderr),
        session.exit,
    )
}

#[test]
fn real_kubectl_explain_equals_simulated_kubectl_explain() {
    let Some(kubectl) = client("kubectl") else {
        return;
    };
    let options = ServeOptions {
        pace: ClockPace::Held,
        ..ServeOptions::default()
    };
    let mut sim = Sim::new(options.config.clone(), options.seed);
    let server = Server::start(options).unwrap();
    let home = home(&server, "explained");
    let mut different = String::new();
    let mut compare = |sim: &mut Sim, line: &str, stdin: &str| {
        let real = run(&kubectl, &home, &split(line), stdin);
        let (own, exit) = own(sim, line, stdin);
        if text(&real) != own || real.status.code() != exit {
            let _ = write!(
                different,
                "== {line}\n-- real ({:?})\n{}-- own ({exit:?})\n{own}",
                real.status.code(),
                text(&real)
            );
        }
    };
    let kinds = kind::ALL.iter().map(|kind| {
        let info = kind.info();
        // Of several groups with a resource of this name one must be named.
        if info.group.is_empty() {
            info.plural.to_owned()
        } else {
            format!("{}.{}", info.plural, info.group)
        }
    });
    for path in kinds.chain(PATHS.iter().map(|path| (*path).to_owned())) {
        compare(&mut sim, &format!("explain {path}"), "");
        compare(&mut sim, &format!("explain {path} --recursive"), "");
    }
    compare(&mut sim, "apply -f -", BOATS);
    for path in CUSTOM {
        compare(&mut sim, &format!("explain {path}"), "");
        compare(&mut sim, &format!("explain {path} --recursive"), "");
    }
    assert!(different.is_empty(), "{different}");
    let wanted = "DESCRIPTION:\n    Type of deployment. Can be \"Recreate\" or \"RollingUpdate\". Default is\n    RollingUpdate.\n";
    assert!(
        own(&mut sim, "explain deployment.spec.strategy.type", "")
            .0
            .contains(wanted)
    );
}
