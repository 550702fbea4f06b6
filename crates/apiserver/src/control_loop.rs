//! ControlLoop, the kind of loops that are written as programs: its definition, spec and validation.
//!
//! The kind is served like that of a CustomResourceDefinition, but always, and without an object that defines it. Kubernetes has no such kind.

use super::definitions::Definition;
use super::validation::{ErrorType, FieldError};
use k8s_model::kind::{self, CustomNames, LOOP_GROUP as GROUP};
use k8s_model::time::SECOND;
use k8s_model::{Body, Duration, Kind, Object, ObjectRef, Str};
use script::Program;
use serde_json::{Value, json};
use std::cell::OnceCell;
use std::rc::Rc;

/// Name of the kind.
pub const KIND: &str = "ControlLoop";

/// Steps that a pass may take unless the spec says otherwise.
const STEPS: u64 = 50_000;
/// Memory that a pass may take unless the spec says otherwise, in kilobytes.
const MEMORY_KB: u64 = 16 * 1024;

/// Names under which components of the cluster write.
const RESERVED: &[&str] = &[
    "user",
    "you",
    "apiserver",
    "default-scheduler",
    "kube-apiserver",
    "kube-scheduler",
    "kube-controller-manager",
    "kubelet",
    "deployment-controller",
    "replicaset-controller",
    "replication-controller",
    "statefulset-controller",
    "daemonset-controller",
    "job-controller",
    "cronjob-controller",
    "endpoint-controller",
    "endpointslice-controller",
    "namespace-controller",
];

/// Returns the kind.
pub fn control_loop() -> Kind {
    let names = CustomNames {
        group: GROUP,
        version: "v1",
        name: KIND,
        plural: "controlloops",
        namespaced: false,
    };
    // Custom kinds have room for this one, which is the first.
    Kind::custom(names).unwrap_or(Kind::Custom(u16::MAX))
}

/// Returns true for a ControlLoop.
pub fn is_control_loop(kind: Kind) -> bool {
    kind.is_custom() && kind.info().name == KIND && kind.info().group == GROUP
}

thread_local! {
    /// Definition that serves the kind, the same in all clusters.
    static DEFINITION: OnceCell<Option<Rc<Definition>>> = const { OnceCell::new() };
}

/// Returns the definition that serves the kind.
pub(super) fn definition() -> Option<Rc<Definition>> {
    DEFINITION.with(|definition| definition.get_or_init(|| build().map(Rc::new)).clone())
}

fn build() -> Option<Definition> {
    let manifest = json!({
        "metadata": {"name": format!("controlloops.{GROUP}")},
        "spec": {
            "group": GROUP, "scope": "Cluster",
            "names": {"kind": KIND, "plural": "controlloops", "singular": "controlloop", "shortNames": ["loop", "loops"]},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": schema()},
                "additionalPrinterColumns": [
                    {"name": "For", "type": "string", "jsonPath": ".spec.for.kind"},
                    {"name": "Style", "type": "string", "jsonPath": ".status.style"},
                    {"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"},
                    {"name": "Reason", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].reason"},
                    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
                ],
            }],
        },
        "status": {"conditions": [{"type": "Established", "status": "True"}]},
    });
    let object = Object::from_value(Kind::CustomResourceDefinition, manifest).ok()?;
    control_loop();
    Definition::read(&object, None)
}

/// Builds the schema of the kind.
fn schema() -> Value {
    let kind = |description: &str, more: Value| {
        let mut properties = json!({
            "apiVersion": {"type": "string", "description": "API version of the kind, such as apps/v1."},
            "kind": {"type": "string", "description": "Name of the kind, such as ReplicaSet."},
        });
        if let (Some(all), Value::Object(more)) = (properties.as_object_mut(), more) {
            all.extend(more);
        }
        json!({"type": "object", "description": description, "required": ["apiVersion", "kind"], "properties": properties})
    };
    let list = |items: Value, description: &str| json!({"type": "array", "description": description, "maxItems": 16, "items": items});
    let map = json!({
        "map": {
            "type": "string", "enum": ["owner", "name", "namespace", "label", "all"], "default": "all",
            "description": "Objects of the loop that an object wakes: its owners of the kind, the one of its name, the one named as its namespace, the one that a label names, or all.",
        },
        "label": {"type": "string", "description": "Key of the label whose value names the object, for map: label."},
    });
    let whole = |least: u64, most: u64, description: &str| json!({"type": "integer", "format": "int64", "minimum": least, "maximum": most, "description": description});
    json!({
        "type": "object", "description": "ControlLoop runs a program as a control loop of the cluster, with informers and a work queue.",
        "required": ["spec"],
        "properties": {
            "spec": {
                "type": "object", "description": "Specification of the loop.", "required": ["for", "program"],
                "properties": {
                    "for": kind("Kind of the objects that the loop reconciles.", json!({})),
                    "owns": list(kind("Kind whose objects wake their controller.", json!({})), "Kinds of the objects that the loop creates: a change wakes the controller of the object."),
                    "watches": list(kind("Kind whose objects wake objects of the loop.", map), "Further kinds, with the objects that a change wakes."),
                    "program": {"type": "string", "minLength": 1, "maxLength": script::MAX_PROGRAM, "description": "Program: it defines reconcile(key), which compares and acts, or on_event(event), which reacts."},
                    "workers": {"default": 1, "type": "integer", "format": "int32", "minimum": 1, "maximum": 100, "description": "Number of keys that are reconciled at a time."},
                    "resyncSeconds": whole(1, 1_000_000, "Time after which each object is reconciled again, changed or not; never by default."),
                    "replaces": {"type": "string", "description": "Controller of kube-controller-manager that does not run while this loop exists, such as replicaset-controller."},
                    "serviceAccountName": {"type": "string", "description": "Service account, as NAMESPACE/NAME, whose roles the requests of the loop need; without one everything is allowed."},
                    "limits": {
                        "type": "object", "description": "Limits of a pass.",
                        "properties": {
                            "steps": whole(100, 5_000_000, "Statements and expressions that a pass may evaluate (default: 50000)."),
                            "memoryKB": whole(64, 262_144, "Memory that a pass may take, in kilobytes (default: 16384)."),
                        },
                    },
                },
            },
            "status": {
                "type": "object", "description": "Observed state of the loop.",
                "properties": {
                    "observedGeneration": {"type": "integer", "format": "int64", "description": "Generation of the program that runs."},
                    "style": {"type": "string", "description": "Level for reconcile(key), Edge for on_event(event)."},
                    "conditions": {
                        "type": "array", "description": "Ready is False while a pass of the program fails.",
                        "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"],
                        "items": {
                            "type": "object", "required": ["type", "status"],
                            "properties": {
                                "type": {"type": "string", "description": "Type of the condition."},
                                "status": {"type": "string", "description": "True, False or Unknown."},
                                "observedGeneration": {"type": "integer", "format": "int64", "description": "Generation that the condition is about."},
                                "lastTransitionTime": {"type": "string", "format": "date-time", "description": "Time of the last change of the status."},
                                "reason": {"type": "string", "description": "Reason in a word."},
                                "message": {"type": "string", "description": "Message with the line of the program."},
                            },
                        },
                    },
                },
            },
        },
    })
}

/// Kind that a loop names. It may be defined only later.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NamedKind {
    /// API group; empty for the core group.
    pub group: Str,
    /// Name of the kind.
    pub name: Str,
}

impl NamedKind {
    fn read(value: &Value) -> NamedKind {
        let text = |name: &str| value[name].as_str().unwrap_or("");
        NamedKind {
            group: kind::api_group(text("apiVersion")).into(),
            name: text("kind").into(),
        }
    }

    /// Returns true for the kind that is named.
    pub fn is(&self, kind: Kind) -> bool {
        let info = kind.info();
        self.name == info.name && self.group == info.group
    }

    /// Returns the kind, if it is registered.
    pub fn kind(&self) -> Option<Kind> {
        Kind::from_group_kind(&self.group, &self.name)
    }
}

/// Objects of a loop that a change of another object wakes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WatchMap {
    /// Owners of the object, controllers or not.
    Owner,
    /// Object of the same name.
    Name,
    /// Object named as the namespace.
    Namespace,
    /// Object that the value of this label names.
    Label(Str),
    /// All objects, in the same namespace if they have one.
    All,
}

/// Spec of a ControlLoop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ControlLoopSpec {
    /// Kind of the objects that the loop reconciles.
    pub for_kind: NamedKind,
    /// Kinds whose objects wake their controller.
    pub owns: Vec<NamedKind>,
    /// Further kinds, with the objects that they wake.
    pub watches: Vec<(NamedKind, WatchMap)>,
    /// Text of the program.
    pub program: Str,
    /// Number of keys that are reconciled at a time.
    pub workers: usize,
    /// Time after which each object is reconciled again.
    pub resync: Option<Duration>,
    /// Controller that does not run while this loop exists.
    pub replaces: Option<Str>,
    /// Namespace and name of the service account that the loop acts as.
    pub service_account: Option<(Str, Str)>,
    /// Steps that a pass may take.
    pub steps: u64,
    /// Memory that a pass may take, in bytes.
    pub memory: usize,
}

impl ControlLoopSpec {
    /// Reads the spec of a stored ControlLoop.
    pub fn read(object: &Object) -> Option<ControlLoopSpec> {
        let Body::Other(body) = &object.body else {
            return None;
        };
        let spec = body.get("spec")?;
        let list = |name: &str| spec[name].as_array().into_iter().flatten();
        let text = |name: &str| spec[name].as_str().map(Str::from);
        let map = |watch: &Value| match watch["map"].as_str().unwrap_or("all") {
            "owner" => WatchMap::Owner,
            "name" => WatchMap::Name,
            "namespace" => WatchMap::Namespace,
            "label" => WatchMap::Label(watch["label"].as_str().unwrap_or("").into()),
            _ => WatchMap::All,
        };
        let account = text("serviceAccountName");
        Some(ControlLoopSpec {
            for_kind: NamedKind::read(&spec["for"]),
            owns: list("owns").map(NamedKind::read).collect(),
            watches: list("watches")
                .map(|watch| (NamedKind::read(watch), map(watch)))
                .collect(),
            program: text("program")?,
            workers: spec["workers"].as_u64().unwrap_or(1).clamp(1, 100) as usize,
            resync: spec["resyncSeconds"]
                .as_u64()
                .map(|seconds| seconds.saturating_mul(SECOND)),
            replaces: text("replaces"),
            service_account: account.as_ref().and_then(|account| {
                let (namespace, name) = account.split_once('/')?;
                Some((namespace.into(), name.into()))
            }),
            steps: spec["limits"]["steps"].as_u64().unwrap_or(STEPS),
            memory: spec["limits"]["memoryKB"].as_u64().unwrap_or(MEMORY_KB) as usize * 1024,
        })
    }
}

/// Validates what the schema does not say: the name, kinds, the service account and the program, whose error has its line.
pub(super) fn validate(value: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut add = |field: String, fault: ErrorType, value: String, detail: String| {
        errors.push(FieldError {
            field,
            fault,
            value,
            detail,
        });
    };
    let name = value["metadata"]["name"].as_str().unwrap_or("");
    if RESERVED.contains(&name) {
        let detail = "is the name of a component of the cluster".to_owned();
        add(
            "metadata.name".to_owned(),
            ErrorType::Invalid,
            json!(name).to_string(),
            detail,
        );
    }
    let spec = &value["spec"];
    for (i, watch) in spec["watches"].as_array().into_iter().flatten().enumerate() {
        let label = watch["label"].as_str().unwrap_or("");
        if watch["map"] == "label" && label.is_empty() {
            let detail = "map: label needs the key of a label".to_owned();
            add(
                format!("spec.watches[{i}].label"),
                ErrorType::Required,
                String::new(),
                detail,
            );
        }
    }
    if let Some(account) = spec["serviceAccountName"].as_str() {
        let parts = account.split_once('/');
        if parts.is_none_or(|(namespace, name)| namespace.is_empty() || name.is_empty()) {
            let detail = "must be NAMESPACE/NAME".to_owned();
            add(
                "spec.serviceAccountName".to_owned(),
                ErrorType::Invalid,
                json!(account).to_string(),
                detail,
            );
        }
    }
    if let Some(text) = spec["program"].as_str()
        && let Err(error) = Program::parse(text)
    {
        let line = text.lines().nth(error.line as usize - 1).unwrap_or("");
        add(
            "spec.program".to_owned(),
            ErrorType::Invalid,
            json!(line.trim()).to_string(),
            error.to_string(),
        );
    }
    errors
}

/// Returns the key of a ControlLoop.
pub fn key(name: &str) -> ObjectRef {
    ObjectRef::new(control_loop(), "", name)
}
