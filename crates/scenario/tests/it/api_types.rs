//! Every object that the engine writes is one that Kubernetes knows: it parses into the type that the API's own
//! definition gives its kind, and comes out of it as the same JSON.

use cluster::Sim;
use k8s_model::Kind;
use k8s_openapi::api::{
    admissionregistration::v1::{
        MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, MutatingWebhookConfiguration,
        ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
        ValidatingWebhookConfiguration,
    },
    apps::v1::{ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet},
    autoscaling::v2::HorizontalPodAutoscaler,
    batch::v1::{CronJob, Job},
    certificates::v1::CertificateSigningRequest,
    coordination::v1::Lease,
    core::v1::{
        ComponentStatus, ConfigMap, Endpoints, Event, LimitRange, Namespace, Node,
        PersistentVolume, PersistentVolumeClaim, Pod, PodTemplate, ReplicationController,
        ResourceQuota, Secret, Service, ServiceAccount,
    },
    discovery::v1::EndpointSlice,
    flowcontrol::v1::{FlowSchema, PriorityLevelConfiguration},
    networking::v1::{IPAddress, Ingress, IngressClass, NetworkPolicy, ServiceCIDR},
    node::v1::RuntimeClass,
    policy::v1::PodDisruptionBudget,
    rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding},
    resource::v1::{DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice},
    scheduling::v1::PriorityClass,
    storage::v1::{
        CSIDriver, CSINode, CSIStorageCapacity, StorageClass, VolumeAttachment,
        VolumeAttributesClass,
    },
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use scenario::{Finished, Observer};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

macro_rules! through_its_type {
    ($kind:expr, $value:expr, $($name:ident)*) => {
        match $kind {
            $(Kind::$name => serde_json::from_value::<$name>($value).and_then(serde_json::to_value),)*
            // Custom objects have no type but their schema.
            Kind::Custom(_) => Ok($value),
        }
    };
}

/// The object as the API's own types write it.
fn through_its_type(kind: Kind, value: Value) -> serde_json::Result<Value> {
    // Every kind of the engine stands here: the compiler says if one is missing.
    through_its_type!(kind, value,
        Namespace Node Pod ReplicaSet Deployment StatefulSet ControllerRevision DaemonSet ReplicationController Job CronJob Service
        Endpoints EndpointSlice PersistentVolumeClaim PersistentVolume StorageClass ConfigMap Secret ServiceAccount PodDisruptionBudget
        HorizontalPodAutoscaler ResourceQuota LimitRange PriorityClass Event PodTemplate Lease Ingress IngressClass NetworkPolicy Role
        RoleBinding ClusterRole ClusterRoleBinding CSIDriver VolumeAttachment RuntimeClass CustomResourceDefinition APIService
        MutatingWebhookConfiguration ValidatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding
        CertificateSigningRequest FlowSchema PriorityLevelConfiguration IPAddress ServiceCIDR DeviceClass ResourceClaim ResourceClaimTemplate
        ResourceSlice CSINode CSIStorageCapacity VolumeAttributesClass MutatingAdmissionPolicy MutatingAdmissionPolicyBinding ComponentStatus)
}

/// Where two values differ, as `path: written | parsed`.
fn differences(path: &str, a: &Value, b: &Value, found: &mut Vec<String>) {
    match (a, b) {
        (Value::Object(x), Value::Object(y)) => {
            let names: BTreeSet<&String> = x.keys().chain(y.keys()).collect();
            for name in names {
                differences(
                    &format!("{path}.{name}"),
                    a.get(name).unwrap_or(&Value::Null),
                    b.get(name).unwrap_or(&Value::Null),
                    found,
                );
            }
        }
        (Value::Array(x), Value::Array(y)) if x.len() == y.len() => {
            for (x, y) in x.iter().zip(y) {
                differences(&format!("{path}[]"), x, y, found);
            }
        }
        // The bounds of a schema are floating-point numbers there.
        (Value::Number(x), Value::Number(y)) if x.as_f64() == y.as_f64() => {}
        _ if a != b => found.push(format!("{path}: {a} | {b}")),
        _ => {}
    }
}

/// What makes two objects of one shape different to look at.
fn blank(value: &mut Value, name: &str) {
    match value {
        Value::Object(map) => map.iter_mut().for_each(|(name, value)| blank(value, name)),
        Value::Array(list) => list.iter_mut().for_each(|value| blank(value, name)),
        Value::String(text)
            if matches!(
                name,
                "uid"
                    | "resourceVersion"
                    | "name"
                    | "podIP"
                    | "ip"
                    | "message"
                    | "reportingInstance"
            ) =>
        {
            text.clear();
        }
        Value::String(text) if text.len() == 20 && text.ends_with('Z') => text.clear(),
        _ => {}
    }
}

/// Takes each object through its type, once for each form.
#[derive(Default)]
struct Types {
    read: usize,
    written: usize,
    seen: BTreeSet<String>,
    faults: BTreeSet<String>,
}

impl Observer for Types {
    fn advanced(&mut self, sim: &Sim) {
        for entry in sim.journal().from(self.read).iter() {
            let Some((_, object)) = entry.write() else {
                continue;
            };
            self.written += 1;
            let value = object.to_value();
            let mut form = value.clone();
            blank(&mut form, "");
            if self.seen.insert(form.to_string()) {
                self.check(object.kind, value);
            }
        }
        self.read = sim.journal().len();
    }

    fn finished(&mut self, _: &Sim, _: &Finished) {}
}

impl Types {
    fn check(&mut self, kind: Kind, value: Value) {
        let mut found = Vec::new();
        match through_its_type(kind, value.clone()) {
            Ok(back) => differences(kind.name(), &value, &back, &mut found),
            Err(error) => found.push(format!("{}: {error}", kind.name())),
        }
        self.faults.extend(found);
    }
}

#[test]
fn every_object_is_one_of_kubernetes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance/scenarios");
    let mut types = Types::default();
    let mut scenarios = 0;
    for file in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        types.read = 0;
        scenario::run(&scenario::parse(&text).unwrap(), 1, usize::MAX, &mut types);
        scenarios += 1;
    }
    println!(
        "{} writes of {scenarios} scenarios, {} forms",
        types.written,
        types.seen.len()
    );
    assert!(types.seen.len() > 1000);
    assert!(
        types.faults.is_empty(),
        "{}",
        types.faults.into_iter().collect::<Vec<_>>().join("\n")
    );
}
