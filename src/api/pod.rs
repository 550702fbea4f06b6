//! Pods: a spec shared by all Pods of one template, and a status of their own.

use super::meta::nullable;
use super::quantity;
use super::selector::LabelSelector;
use super::{Labels, Str, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Stands in a shared spec for the name of each Pod's own service account token volume.
pub const TOKEN_VOLUME: &str = "kube-api-access-00000";
const TOKEN_PREFIX: &str = "kube-api-access-";

/// A Pod's `spec` and `status`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Pod {
    /// Shared with every Pod of the same template.
    pub spec: Rc<PodSpec>,
    /// `spec.nodeName`, the one field of the spec that is each Pod's own.
    pub node_name: Str,
    /// The random end of this Pod's token volume, `kube-api-access-…`; empty if it has none.
    pub token: Str,
    /// What the kubelet and the scheduler report.
    pub status: PodStatus,
}

/// The part of a `PodSpec` that the engine acts on, beside the whole of it as JSON.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec {
    /// The whole spec, without `nodeName`.
    #[serde(skip)]
    pub raw: Value,
    #[serde(deserialize_with = "nullable")]
    pub containers: Vec<Container>,
    #[serde(deserialize_with = "nullable")]
    pub init_containers: Vec<Container>,
    #[serde(deserialize_with = "nullable")]
    pub volumes: Vec<Volume>,
    pub node_selector: Labels,
    pub node_name: Str,
    #[serde(deserialize_with = "nullable")]
    pub affinity: Affinity,
    #[serde(deserialize_with = "nullable")]
    pub tolerations: Vec<Toleration>,
    #[serde(deserialize_with = "nullable")]
    pub topology_spread_constraints: Vec<TopologySpreadConstraint>,
    #[serde(deserialize_with = "nullable")]
    pub scheduling_gates: Vec<SchedulingGate>,
    pub restart_policy: Str,
    pub termination_grace_period_seconds: Option<i64>,
    pub host_network: bool,
    pub hostname: Str,
    pub subdomain: Str,
    pub priority: Option<i32>,
    pub preemption_policy: Str,
    pub scheduler_name: Str,
    pub service_account_name: Str,
    /// What the containers request together: computed once for all Pods that share this spec.
    #[serde(skip)]
    pub requests: Resources,
    #[serde(skip)]
    admitted: OnceCell<Rc<PodSpec>>,
}

impl PartialEq for PodSpec {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || self.raw == other.raw
    }
}

impl PodSpec {
    /// Reads the spec from its JSON.
    pub fn from_raw(mut raw: Value) -> Result<Rc<PodSpec>, String> {
        let mut spec = PodSpec::deserialize(&raw).map_err(|e| e.to_string())?;
        if let Value::Object(map) = &mut raw {
            map.remove("nodeName");
        }
        spec.requests = Resources::of(&spec);
        spec.raw = raw;
        Ok(Rc::new(spec))
    }

    /// This spec as admission leaves it in a created Pod; computed once and shared.
    pub fn admitted(self: &Rc<Self>, admit: impl FnOnce(&mut Value)) -> Rc<PodSpec> {
        self.admitted
            .get_or_init(|| {
                let mut raw = self.raw.clone();
                admit(&mut raw);
                PodSpec::from_raw(raw).unwrap_or_else(|_| self.clone())
            })
            .clone()
    }

    /// The claims that the Pod's volumes name.
    pub fn claims(&self) -> impl Iterator<Item = &Str> {
        self.volumes.iter().filter_map(|v| v.persistent_volume_claim.as_ref()).map(|c| &c.claim_name)
    }
}

/// A container, as far as the engine looks at it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Container {
    pub name: Str,
    pub image: Str,
    #[serde(deserialize_with = "nullable")]
    pub command: Vec<Str>,
    #[serde(deserialize_with = "nullable")]
    pub args: Vec<Str>,
    #[serde(deserialize_with = "nullable")]
    pub ports: Vec<ContainerPort>,
    #[serde(deserialize_with = "nullable")]
    pub resources: ResourceRequirements,
    pub readiness_probe: Option<Probe>,
    pub restart_policy: Str,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerPort {
    pub name: Str,
    pub container_port: i32,
    pub host_port: i32,
    pub protocol: Str,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ResourceRequirements {
    #[serde(deserialize_with = "nullable")]
    pub requests: BTreeMap<Str, Value>,
    #[serde(deserialize_with = "nullable")]
    pub limits: BTreeMap<Str, Value>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Probe {
    pub initial_delay_seconds: i64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Volume {
    pub name: Str,
    pub persistent_volume_claim: Option<ClaimSource>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClaimSource {
    pub claim_name: Str,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Toleration {
    pub key: Str,
    pub operator: Str,
    pub value: Str,
    pub effect: Str,
    pub toleration_seconds: Option<i64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct SchedulingGate {
    pub name: Str,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TopologySpreadConstraint {
    pub max_skew: i64,
    pub topology_key: Str,
    pub when_unsatisfiable: Str,
    pub label_selector: Option<LabelSelector>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Affinity {
    #[serde(deserialize_with = "nullable")]
    pub node_affinity: NodeAffinity,
    #[serde(deserialize_with = "nullable")]
    pub pod_affinity: PodAffinity,
    #[serde(deserialize_with = "nullable")]
    pub pod_anti_affinity: PodAffinity,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeAffinity {
    pub required_during_scheduling_ignored_during_execution: Option<NodeSelector>,
    #[serde(deserialize_with = "nullable")]
    pub preferred_during_scheduling_ignored_during_execution: Vec<PreferredTerm>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSelector {
    #[serde(deserialize_with = "nullable")]
    pub node_selector_terms: Vec<NodeSelectorTerm>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSelectorTerm {
    #[serde(deserialize_with = "nullable")]
    pub match_expressions: Vec<super::selector::Requirement>,
    #[serde(deserialize_with = "nullable")]
    pub match_fields: Vec<super::selector::Requirement>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PreferredTerm {
    pub weight: i64,
    pub preference: NodeSelectorTerm,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodAffinity {
    #[serde(deserialize_with = "nullable")]
    pub required_during_scheduling_ignored_during_execution: Vec<PodAffinityTerm>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodAffinityTerm {
    pub label_selector: Option<LabelSelector>,
    pub topology_key: Str,
    #[serde(deserialize_with = "nullable")]
    pub namespaces: Vec<Str>,
}

/// Amounts of the resources the scheduler counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Resources {
    /// Thousandths of a core.
    pub cpu: i64,
    /// Bytes.
    pub memory: i64,
    /// Bytes.
    pub ephemeral: i64,
}

impl Resources {
    /// What a Pod of this spec requests: its containers together, or its largest init container if that is more.
    fn of(spec: &PodSpec) -> Resources {
        let mut sum = Resources::default();
        for c in spec.containers.iter().chain(spec.init_containers.iter().filter(|c| c.restart_policy == "Always")) {
            sum = sum.plus(Resources::requested(c));
        }
        spec.init_containers.iter().filter(|c| c.restart_policy != "Always").fold(sum, |sum, c| {
            let one = Resources::requested(c);
            Resources { cpu: sum.cpu.max(one.cpu), memory: sum.memory.max(one.memory), ephemeral: sum.ephemeral.max(one.ephemeral) }
        })
    }

    fn requested(c: &Container) -> Resources {
        Resources::from_list(|name| c.resources.requests.get(name).or_else(|| c.resources.limits.get(name)))
    }

    /// Reads amounts from a resource list.
    pub fn from_list<'a>(get: impl Fn(&str) -> Option<&'a Value>) -> Resources {
        let amount = |name: &str, scale: fn(&Value) -> i64| get(name).map_or(0, scale);
        Resources {
            cpu: amount("cpu", quantity::milli_of),
            memory: amount("memory", quantity::units_of),
            ephemeral: amount("ephemeral-storage", quantity::units_of),
        }
    }

    /// The sum of two amounts.
    pub fn plus(self, o: Resources) -> Resources {
        Resources { cpu: self.cpu + o.cpu, memory: self.memory + o.memory, ephemeral: self.ephemeral + o.ephemeral }
    }

    /// The difference of two amounts.
    pub fn minus(self, o: Resources) -> Resources {
        Resources { cpu: self.cpu - o.cpu, memory: self.memory - o.memory, ephemeral: self.ephemeral - o.ephemeral }
    }
}

/// `status` of a Pod.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodStatus {
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub conditions: Vec<PodCondition>,
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub container_statuses: Vec<ContainerStatus>,
    #[serde(rename = "hostIP", skip_serializing_if = "Str::is_empty")]
    pub host_ip: Str,
    #[serde(rename = "hostIPs", skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub host_ips: Vec<PodIp>,
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub init_container_statuses: Vec<ContainerStatus>,
    #[serde(skip_serializing_if = "Str::is_empty")]
    pub message: Str,
    #[serde(skip_serializing_if = "Str::is_empty")]
    pub nominated_node_name: Str,
    #[serde(skip_serializing_if = "super::meta::is_zero")]
    pub observed_generation: i64,
    pub phase: Str,
    #[serde(rename = "podIP", skip_serializing_if = "Str::is_empty")]
    pub pod_ip: Str,
    #[serde(rename = "podIPs", skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub pod_ips: Vec<PodIp>,
    pub qos_class: Str,
    #[serde(skip_serializing_if = "Str::is_empty")]
    pub reason: Str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_time: Option<Timestamp>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PodIp {
    pub ip: Str,
}

/// A condition of a Pod.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodCondition {
    /// Always `null`, and always printed.
    pub last_probe_time: (),
    pub last_transition_time: Option<Timestamp>,
    #[serde(skip_serializing_if = "Str::is_empty")]
    pub message: Str,
    #[serde(skip_serializing_if = "super::meta::is_zero")]
    pub observed_generation: i64,
    #[serde(skip_serializing_if = "Str::is_empty")]
    pub reason: Str,
    pub status: Str,
    #[serde(rename = "type")]
    pub kind: Str,
}

/// What became of one container.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerStatus {
    #[serde(rename = "containerID", skip_serializing_if = "Str::is_empty")]
    pub container_id: Str,
    pub image: Str,
    #[serde(rename = "imageID")]
    pub image_id: Str,
    pub last_state: ContainerState,
    pub name: Str,
    pub ready: bool,
    pub restart_count: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<bool>,
    pub state: ContainerState,
}

/// At most one of the three is set.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerState {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub running: Option<Running>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminated: Option<Terminated>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Waiting>,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Running {
    pub started_at: Option<Timestamp>,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Terminated {
    #[serde(rename = "containerID", skip_serializing_if = "Str::is_empty")]
    pub container_id: Str,
    pub exit_code: i32,
    pub finished_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Str::is_empty")]
    pub message: Str,
    #[serde(skip_serializing_if = "Str::is_empty")]
    pub reason: Str,
    pub started_at: Option<Timestamp>,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Waiting {
    #[serde(skip_serializing_if = "Str::is_empty")]
    pub message: Str,
    pub reason: Str,
}

impl PodStatus {
    /// The condition of this type.
    pub fn condition(&self, kind: &str) -> Option<&PodCondition> {
        self.conditions.iter().find(|c| c.kind == kind)
    }

    /// Whether the condition of this type is `True`.
    pub fn is_true(&self, kind: &str) -> bool {
        self.condition(kind).is_some_and(|c| c.status == "True")
    }
}

impl Pod {
    /// Whether `Ready` is `True`.
    pub fn is_ready(&self) -> bool {
        self.status.is_true("Ready")
    }

    /// Whether it has been ready for `min_ready_seconds`.
    pub fn is_available(&self, min_ready_seconds: i64, now: Timestamp) -> bool {
        self.is_ready()
            && (min_ready_seconds == 0
                || self.status.condition("Ready").and_then(|c| c.last_transition_time).is_some_and(|t| t.0 + min_ready_seconds <= now.0))
    }

    /// Whether its containers have ended for good.
    pub fn is_terminal(&self) -> bool {
        self.status.phase == "Succeeded" || self.status.phase == "Failed"
    }

    pub(super) fn from_parts(spec: Option<Value>, status: Option<Value>) -> Result<Pod, String> {
        let mut raw = spec.unwrap_or_else(|| Value::Object(Map::new()));
        let token = swap_token(&mut raw, |name| name.starts_with(TOKEN_PREFIX) && name.len() == TOKEN_VOLUME.len(), TOKEN_VOLUME);
        let spec = PodSpec::from_raw(raw)?;
        Ok(Pod {
            node_name: spec.node_name.clone(),
            token: token.map_or_else(Str::default, |t| t[TOKEN_PREFIX.len()..].into()),
            spec,
            status: super::object::part(status)?,
        })
    }

    /// The whole spec as the API shows it.
    pub fn spec_value(&self) -> Value {
        let mut raw = self.spec.raw.clone();
        if let (Value::Object(map), false) = (&mut raw, self.node_name.is_empty()) {
            map.insert("nodeName".into(), Value::String(self.node_name.to_string()));
        }
        if !self.token.is_empty() {
            swap_token(&mut raw, |name| name == TOKEN_VOLUME, &format!("{TOKEN_PREFIX}{}", self.token));
        }
        raw
    }
}

/// Renames the token volume and its mounts; gives the old name.
fn swap_token(spec: &mut Value, is_token: impl Fn(&str) -> bool, new: &str) -> Option<String> {
    let mut old = None;
    let mut swap = |list: Option<&mut Value>| {
        for item in list.and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(Value::String(name)) = item.get_mut("name")
                && is_token(name)
            {
                old = Some(std::mem::replace(name, new.into()));
            }
        }
    };
    swap(spec.get_mut("volumes"));
    for list in ["containers", "initContainers"] {
        for container in spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            swap(container.get_mut("volumeMounts"));
        }
    }
    old
}

/// A Pod template: metadata and a spec, shared by all Pods made from it.
#[derive(Clone, Debug, Default)]
pub struct PodTemplate {
    /// `metadata` as JSON.
    pub meta: Map<String, Value>,
    /// Labels that its Pods get.
    pub labels: Labels,
    /// Annotations that its Pods get.
    pub annotations: Labels,
    /// The spec, before admission.
    pub spec: Rc<PodSpec>,
    hash: OnceCell<Str>,
    revision_data: OnceCell<Str>,
}

impl PartialEq for PodTemplate {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || (self.meta == other.meta && (Rc::ptr_eq(&self.spec, &other.spec) || self.spec == other.spec))
    }
}

impl PodTemplate {
    /// Reads a template from its JSON.
    pub fn from_value(value: Value) -> Result<Rc<PodTemplate>, String> {
        let Value::Object(mut map) = value else { return Ok(Rc::default()) };
        let meta = match map.remove("metadata") {
            Some(Value::Object(m)) => m,
            _ => Map::new(),
        };
        let labels = |key: &str| meta.get(key).map(Labels::deserialize).transpose().map_err(|e| e.to_string());
        let spec = map.remove("spec").unwrap_or_else(|| Value::Object(Map::new()));
        Ok(Rc::new(PodTemplate {
            labels: labels("labels")?.unwrap_or_default(),
            annotations: labels("annotations")?.unwrap_or_default(),
            spec: PodSpec::from_raw(spec)?,
            meta,
            hash: OnceCell::new(),
            revision_data: OnceCell::new(),
        }))
    }

    /// The template as the API shows it.
    pub fn to_value(&self) -> Value {
        let mut spec = self.spec.raw.clone();
        if let (Value::Object(map), false) = (&mut spec, self.spec.node_name.is_empty()) {
            map.insert("nodeName".into(), Value::String(self.spec.node_name.to_string()));
        }
        serde_json::json!({ "metadata": self.meta, "spec": spec })
    }

    /// The same template with one more label; the spec stays shared.
    pub fn with_label(&self, key: &str, value: &str) -> PodTemplate {
        let mut labels = (*self.labels).clone();
        labels.insert(key.into(), value.into());
        self.relabelled(labels)
    }

    /// The same template without a label; the spec stays shared.
    pub fn without_label(&self, key: &str) -> PodTemplate {
        let mut labels = (*self.labels).clone();
        labels.remove(key);
        self.relabelled(labels)
    }

    fn relabelled(&self, labels: BTreeMap<Str, Str>) -> PodTemplate {
        let mut meta = self.meta.clone();
        meta.insert("labels".into(), labels.iter().map(|(k, v)| (k.to_string(), Value::String(v.to_string()))).collect());
        if labels.is_empty() {
            meta.remove("labels");
        }
        PodTemplate {
            meta,
            labels: Rc::new(labels),
            annotations: self.annotations.clone(),
            spec: self.spec.clone(),
            hash: OnceCell::new(),
            revision_data: OnceCell::new(),
        }
    }

    /// The text a ControllerRevision of this template holds and is named by; computed once.
    pub fn revision_data(&self) -> Str {
        self.revision_data.get_or_init(|| super::hash::controller_revision_text(&self.to_value()).into()).clone()
    }

    /// The `pod-template-hash` of this template; computed once.
    pub fn hash(&self, collision_count: Option<i32>) -> Str {
        match collision_count {
            None => self.hash.get_or_init(|| super::hash::pod_template_hash(&self.to_value(), None).into()).clone(),
            some => super::hash::pod_template_hash(&self.to_value(), some).into(),
        }
    }
}
