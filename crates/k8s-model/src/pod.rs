//! Pods: a spec shared by all Pods of one template, and a status per Pod.

use super::json::record;
use super::pod_resources::{PodResourcesOptions, is_scalar};
pub use super::resources::Resources;
use super::selector::LabelSelector;
use super::shared::{Recent, Shared};
use super::{InternedStr, Labels, Str, Timestamp};
use crate::json;
use serde_json::{Map, Value};
use std::cell::OnceCell;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Placeholder in a shared spec for the name of each Pod's own service account token volume.
pub const TOKEN_VOLUME: &str = "kube-api-access-00000";
/// Prefix of the names of token volumes.
pub const TOKEN_PREFIX: &str = "kube-api-access-";

/// Splits an image into repository and tag, empty if there is none; a digest belongs to neither.
pub fn image_parts(image: &str) -> (&str, &str) {
    let name = image.split('@').next().unwrap_or(image);
    // A colon before a slash precedes the port of a registry, not a tag.
    name.rsplit_once(':')
        .filter(|(_, tag)| !tag.contains('/'))
        .unwrap_or((name, ""))
}

/// Kind of a container's probe.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum ProbeKind {
    Startup,
    Readiness,
    Liveness,
}

impl ProbeKind {
    /// All kinds, in the order in which they run.
    pub const ALL: [ProbeKind; 3] = [
        ProbeKind::Startup,
        ProbeKind::Readiness,
        ProbeKind::Liveness,
    ];

    /// Parses `liveness`.
    pub fn from_name(name: &str) -> Option<ProbeKind> {
        ProbeKind::ALL
            .into_iter()
            .find(|kind| kind.as_str() == name)
    }

    /// Returns the name, such as `liveness`.
    pub fn as_str(self) -> &'static str {
        match self {
            ProbeKind::Startup => "startup",
            ProbeKind::Readiness => "readiness",
            ProbeKind::Liveness => "liveness",
        }
    }

    /// Returns true if a container has a probe of this kind.
    pub fn is_set(self, container: &Container) -> bool {
        match self {
            ProbeKind::Startup => container.startup_probe.is_some(),
            ProbeKind::Readiness => container.readiness_probe.is_some(),
            ProbeKind::Liveness => container.liveness_probe.is_some(),
        }
    }

    /// Returns the capitalized name, such as `Liveness`, used in Events.
    pub fn title(self) -> &'static str {
        match self {
            ProbeKind::Startup => "Startup",
            ProbeKind::Readiness => "Readiness",
            ProbeKind::Liveness => "Liveness",
        }
    }

    /// Returns the field name, such as `livenessProbe`.
    pub fn field(self) -> &'static str {
        match self {
            ProbeKind::Startup => "startupProbe",
            ProbeKind::Readiness => "readinessProbe",
            ProbeKind::Liveness => "livenessProbe",
        }
    }
}

/// Pod's `spec` and `status`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Pod {
    /// Spec, shared with every Pod of the same template.
    pub spec: Rc<PodSpec>,
    /// `spec.nodeName`, the one field of the spec that differs between Pods of a template.
    pub node_name: Str,
    /// Random suffix of this Pod's token volume, `kube-api-access-…`; empty if it has none.
    pub token: Str,
    /// Status reported by the kubelet and the scheduler.
    pub status: PodStatus,
}

record! {
    /// Typed part of a `PodSpec`, beside the whole spec as JSON.
    #[derive(Debug, Default)]
    pub struct PodSpec {
        /// Whole spec, without `nodeName`.
        pub raw: Value,
        pub containers: Vec<Container> = "containers",
        pub init_containers: Vec<Container> = "initContainers",
        /// Ephemeral containers, added to the running Pod for debugging.
        pub ephemeral_containers: Vec<Container> = "ephemeralContainers",
        pub volumes: Vec<Volume> = "volumes",
        /// Pod-level resources, which take precedence over those of the containers.
        pub resources: ResourceRequirements = "resources",
        pub node_selector: Labels = "nodeSelector",
        pub node_name: Str = "nodeName",
        pub affinity: Affinity = "affinity",
        pub tolerations: Vec<Toleration> = "tolerations",
        pub topology_spread_constraints: Vec<TopologySpreadConstraint> = "topologySpreadConstraints",
        pub scheduling_gates: Vec<SchedulingGate> = "schedulingGates",
        pub restart_policy: Str = "restartPolicy",
        pub termination_grace_period_seconds: Option<i64> = "terminationGracePeriodSeconds",
        pub host_network: bool = "hostNetwork",
        pub hostname: Str = "hostname",
        pub subdomain: Str = "subdomain",
        pub priority: Option<i32> = "priority",
        pub preemption_policy: Str = "preemptionPolicy",
        pub scheduler_name: Str = "schedulerName",
        pub service_account_name: Str = "serviceAccountName",
        /// Resources that the Pod uses beside its containers, set from its RuntimeClass.
        pub overhead: BTreeMap<Str, Value> = "overhead",
        /// Total requests: computed once for all Pods that share this spec.
        pub requests: Resources,
        /// Total requests of extended resources and huge pages, by name.
        pub extended: Vec<(Str, i64)>,
        /// Total requests, with defaults for containers without requests, as scores count them.
        pub scoring: Resources,
        admitted: OnceCell<Rc<PodSpec>>,
    }
}

impl PartialEq for PodSpec {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || self.raw == other.raw
    }
}

impl PodSpec {
    /// Parses the spec.
    pub fn from_raw(mut raw: Value) -> Result<Rc<PodSpec>, String> {
        let mut spec: PodSpec = json::read(&raw)?;
        if let Value::Object(map) = &mut raw {
            map.remove("nodeName");
        }
        let requests = spec.total_requests(PodResourcesOptions::default());
        spec.requests = Resources::from_amounts(&requests);
        spec.extended = requests
            .into_iter()
            .filter(|(name, _)| is_scalar(name))
            .map(|(name, amount)| (name, amount.as_units()))
            .collect();
        spec.scoring = spec.scoring_requests();
        spec.raw = raw;
        Ok(Rc::new(spec))
    }

    /// Returns this spec after admission; computed once and shared.
    pub fn admitted(self: &Rc<Self>, admit: impl FnOnce(&mut Value)) -> Rc<PodSpec> {
        self.admitted
            .get_or_init(|| {
                let mut raw = self.raw.clone();
                admit(&mut raw);
                PodSpec::from_raw(raw).unwrap_or_else(|_| self.clone())
            })
            .clone()
    }

    /// Returns the claims that the Pod's volumes name.
    pub fn claims(&self) -> impl Iterator<Item = &Str> {
        self.volumes
            .iter()
            .filter_map(|v| v.persistent_volume_claim.as_ref())
            .map(|c| &c.claim_name)
    }
}

record! {
    /// Typed fields of a container.
    #[derive(Clone, Debug, Default)]
    pub struct Container {
        pub name: Str = "name",
        pub image: Str = "image",
        pub command: Vec<Str> = "command",
        pub args: Vec<Str> = "args",
        pub ports: Vec<ContainerPort> = "ports",
        pub resources: ResourceRequirements = "resources",
        pub startup_probe: Option<Probe> = "startupProbe",
        pub readiness_probe: Option<Probe> = "readinessProbe",
        pub liveness_probe: Option<Probe> = "livenessProbe",
        pub lifecycle: Value = "lifecycle",
        pub stdin: bool = "stdin",
        pub restart_policy: Str = "restartPolicy",
    }

    #[derive(Clone, Debug, Default)]
    pub struct ContainerPort {
        pub name: Str = "name",
        pub container_port: i32 = "containerPort",
        pub host_port: i32 = "hostPort",
        pub host_ip: Str = "hostIP",
        pub protocol: Str = "protocol",
    }

    #[derive(Clone, Debug, Default)]
    pub struct ResourceRequirements {
        pub requests: BTreeMap<Str, Value> = "requests",
        pub limits: BTreeMap<Str, Value> = "limits",
    }

    #[derive(Clone, Debug, Default)]
    pub struct Probe {
        pub initial_delay_seconds: i64 = "initialDelaySeconds",
    }

    #[derive(Clone, Debug, Default)]
    pub struct Volume {
        pub name: Str = "name",
        pub persistent_volume_claim: Option<ClaimSource> = "persistentVolumeClaim",
    }

    #[derive(Clone, Debug, Default)]
    pub struct ClaimSource {
        pub claim_name: Str = "claimName",
    }

    #[derive(Clone, Debug, Default)]
    pub struct Toleration {
        pub key: Str = "key",
        pub operator: Str = "operator",
        pub value: Str = "value",
        pub effect: Str = "effect",
        pub toleration_seconds: Option<i64> = "tolerationSeconds",
    }

    #[derive(Clone, Debug, Default)]
    pub struct SchedulingGate {
        pub name: Str = "name",
    }

    #[derive(Clone, Debug, Default)]
    pub struct TopologySpreadConstraint {
        pub max_skew: i64 = "maxSkew",
        pub topology_key: Str = "topologyKey",
        pub when_unsatisfiable: Str = "whenUnsatisfiable",
        pub label_selector: Option<LabelSelector> = "labelSelector",
        pub min_domains: Option<i64> = "minDomains",
        pub node_affinity_policy: Str = "nodeAffinityPolicy",
        pub node_taints_policy: Str = "nodeTaintsPolicy",
    }

    #[derive(Clone, Debug, Default)]
    pub struct Affinity {
        pub node_affinity: NodeAffinity = "nodeAffinity",
        pub pod_affinity: PodAffinity = "podAffinity",
        pub pod_anti_affinity: PodAffinity = "podAntiAffinity",
    }

    #[derive(Clone, Debug, Default)]
    pub struct NodeAffinity {
        pub required_during_scheduling_ignored_during_execution: Option<NodeSelector> = "requiredDuringSchedulingIgnoredDuringExecution",
        pub preferred_during_scheduling_ignored_during_execution: Vec<PreferredTerm> = "preferredDuringSchedulingIgnoredDuringExecution",
    }

    #[derive(Clone, PartialEq, Eq, Debug, Default)]
    pub struct NodeSelector {
        pub node_selector_terms: Vec<NodeSelectorTerm> = "nodeSelectorTerms",
    }

    #[derive(Clone, PartialEq, Eq, Debug, Default)]
    pub struct NodeSelectorTerm {
        pub match_expressions: Vec<super::selector::Requirement> = "matchExpressions",
        pub match_fields: Vec<super::selector::Requirement> = "matchFields",
    }

    #[derive(Clone, Debug, Default)]
    pub struct PreferredTerm {
        pub weight: i64 = "weight",
        pub preference: NodeSelectorTerm = "preference",
    }

    #[derive(Clone, Debug, Default)]
    pub struct PodAffinity {
        pub required_during_scheduling_ignored_during_execution: Vec<PodAffinityTerm> = "requiredDuringSchedulingIgnoredDuringExecution",
        pub preferred_during_scheduling_ignored_during_execution: Vec<WeightedTerm> = "preferredDuringSchedulingIgnoredDuringExecution",
    }

    #[derive(Clone, Debug, Default)]
    pub struct WeightedTerm {
        pub weight: i64 = "weight",
        pub pod_affinity_term: PodAffinityTerm = "podAffinityTerm",
    }

    #[derive(Clone, Debug, Default)]
    pub struct PodAffinityTerm {
        pub label_selector: Option<LabelSelector> = "labelSelector",
        pub topology_key: Str = "topologyKey",
        pub namespaces: Vec<Str> = "namespaces",
        pub namespace_selector: Option<LabelSelector> = "namespaceSelector",
    }
}

impl Container {
    /// Returns true for an init container that keeps running beside the others.
    pub fn is_sidecar(&self) -> bool {
        self.restart_policy == "Always"
    }
}

record! {
    /// `status` of a Pod.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct PodStatus {
        pub conditions: Shared<PodCondition> = "conditions" omitempty,
        pub container_statuses: Shared<ContainerStatus> = "containerStatuses" omitempty,
        pub ephemeral_container_statuses: Shared<ContainerStatus> = "ephemeralContainerStatuses" omitempty,
        pub host_ip: Str = "hostIP" omitempty,
        pub host_ips: Shared<PodIp> = "hostIPs" omitempty,
        pub init_container_statuses: Shared<ContainerStatus> = "initContainerStatuses" omitempty,
        pub message: InternedStr = "message" omitempty,
        pub nominated_node_name: InternedStr = "nominatedNodeName" omitempty,
        pub observed_generation: i64 = "observedGeneration" omitempty,
        pub phase: InternedStr = "phase",
        pub pod_ip: Str = "podIP" omitempty,
        pub pod_ips: Shared<PodIp> = "podIPs" omitempty,
        pub qos_class: InternedStr = "qosClass",
        pub reason: InternedStr = "reason" omitempty,
        pub start_time: Option<Timestamp> = "startTime" omitempty,
    }

    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct PodIp {
        pub ip: Str = "ip",
    }

    /// Condition of a Pod.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct PodCondition {
        pub last_probe_time: () = "lastProbeTime",
        pub last_transition_time: Option<Timestamp> = "lastTransitionTime",
        pub message: Str = "message" omitempty,
        pub observed_generation: i64 = "observedGeneration" omitempty,
        pub reason: Str = "reason" omitempty,
        pub status: Str = "status",
        pub kind: Str = "type",
    }

    /// Status of a container.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct ContainerStatus {
        /// Resources allocated by the node; reported once the container was resized.
        pub allocated_resources: Option<Rc<Value>> = "allocatedResources" omitempty,
        pub container_id: Str = "containerID" omitempty,
        pub image: InternedStr = "image",
        pub image_id: InternedStr = "imageID",
        pub last_state: ContainerState = "lastState",
        pub name: Str = "name",
        pub ready: bool = "ready",
        /// Requests and limits in effect; reported once the container was resized.
        pub resources: Option<Rc<Value>> = "resources" omitempty,
        pub restart_count: i32 = "restartCount",
        pub started: Option<bool> = "started" omitempty,
        pub state: ContainerState = "state",
    }

    /// State of a container; at most one of the fields is set.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct ContainerState {
        pub running: Option<Running> = "running" omitempty,
        pub terminated: Option<Box<Terminated>> = "terminated" omitempty,
        pub waiting: Option<Box<Waiting>> = "waiting" omitempty,
    }

    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct Running {
        pub started_at: Option<Timestamp> = "startedAt",
    }

    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct Terminated {
        pub container_id: Str = "containerID" omitempty,
        pub exit_code: i32 = "exitCode",
        pub finished_at: Option<Timestamp> = "finishedAt",
        pub message: Str = "message" omitempty,
        pub reason: Str = "reason" omitempty,
        pub started_at: Option<Timestamp> = "startedAt",
    }

    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct Waiting {
        pub message: Str = "message" omitempty,
        pub reason: Str = "reason",
    }
}

impl PodCondition {
    /// Builds the DisruptionTarget condition of a Pod that the control plane evicts.
    pub fn disruption(
        reason: &'static str,
        message: &'static str,
        now: Timestamp,
        generation: i64,
    ) -> PodCondition {
        PodCondition {
            kind: Str::new_static("DisruptionTarget"),
            status: Str::new_static("True"),
            reason: Str::new_static(reason),
            message: Str::new_static(message),
            last_transition_time: Some(now),
            observed_generation: generation,
            ..Default::default()
        }
    }
}

thread_local! {
    static CONDITIONS: RefCell<Recent<Shared<PodCondition>>> = RefCell::default();
    static STATUSES: RefCell<Recent<Shared<ContainerStatus>>> = RefCell::default();
}

impl PodStatus {
    /// Shares the conditions with a recent Pod with equal ones: Pods that start in the same second have the same conditions.
    pub fn share_conditions(&mut self) {
        self.conditions = CONDITIONS
            .with_borrow_mut(|recent| recent.same(self.conditions.clone(), |a, b| a == b));
    }

    /// Shares the container statuses with a recent Pod with equal ones, before any container has started.
    pub fn share_statuses(&mut self) {
        self.container_statuses = STATUSES
            .with_borrow_mut(|recent| recent.same(self.container_statuses.clone(), |a, b| a == b));
    }

    /// Replaces the condition of its type; the transition time is kept if the status is unchanged.
    pub fn set_condition(&mut self, mut new: PodCondition) {
        match self.conditions.iter_mut().find(|c| c.kind == new.kind) {
            Some(old) => {
                if old.status == new.status {
                    new.last_transition_time = old.last_transition_time;
                }
                *old = new;
            }
            None => self.conditions.push(new),
        }
    }

    /// Returns the condition of this type.
    pub fn condition(&self, kind: &str) -> Option<&PodCondition> {
        self.conditions.iter().find(|c| c.kind == kind)
    }

    /// Returns true if the condition of this type is `True`.
    pub fn is_true(&self, kind: &str) -> bool {
        self.condition(kind).is_some_and(|c| c.status == "True")
    }
}

impl Pod {
    /// Builds a new Pod of a template.
    pub fn new(spec: Rc<PodSpec>) -> Pod {
        Pod {
            node_name: spec.node_name.clone(),
            spec,
            token: Str::default(),
            status: PodStatus::default(),
        }
    }

    /// Returns true if `Ready` is `True`.
    pub fn is_ready(&self) -> bool {
        self.status.is_true("Ready")
    }

    /// Returns true if the Pod has been ready for `min_ready_seconds`.
    pub fn is_available(&self, min_ready_seconds: i64, now: Timestamp) -> bool {
        self.is_ready()
            && (min_ready_seconds == 0
                || self
                    .status
                    .condition("Ready")
                    .and_then(|c| c.last_transition_time)
                    .is_some_and(|t| t.seconds() + min_ready_seconds <= now.seconds()))
    }

    /// Returns true if the Pod is in a terminal phase.
    pub fn is_terminal(&self) -> bool {
        self.status.phase == "Succeeded" || self.status.phase == "Failed"
    }

    pub(super) fn from_parts(spec: Option<Value>, status: Option<Value>) -> Result<Pod, String> {
        let mut raw = spec.unwrap_or_else(|| Value::Object(Map::new()));
        let token = swap_token(
            &mut raw,
            |name| name.starts_with(TOKEN_PREFIX) && name.len() == TOKEN_VOLUME.len(),
            TOKEN_VOLUME,
        );
        let spec = PodSpec::from_raw(raw)?;
        Ok(Pod {
            node_name: spec.node_name.clone(),
            token: token.map_or_else(Str::default, |t| t[TOKEN_PREFIX.len()..].into()),
            spec,
            status: json::part(status.as_ref())?,
        })
    }

    /// Encodes the whole spec as the API shows it.
    pub fn spec_value(&self) -> Value {
        let mut raw = self.spec.raw.clone();
        if let (Value::Object(map), false) = (&mut raw, self.node_name.is_empty()) {
            map.insert("nodeName".into(), Value::String(self.node_name.to_string()));
        }
        if !self.token.is_empty() {
            swap_token(
                &mut raw,
                |name| name == TOKEN_VOLUME,
                &format!("{TOKEN_PREFIX}{}", self.token),
            );
        }
        raw
    }
}

/// Renames the token volume and its mounts; returns the old name.
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
        for container in spec
            .get_mut(list)
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            swap(container.get_mut("volumeMounts"));
        }
    }
    old
}

#[cfg(test)]
mod tests {
    use super::image_parts;

    #[test]
    fn an_image_has_a_repository_and_perhaps_a_tag() {
        for (image, parts) in [
            ("nginx", ("nginx", "")),
            ("nginx:1.25", ("nginx", "1.25")),
            ("localhost:5000/app", ("localhost:5000/app", "")),
            (
                "localhost:5000/app:2@sha256:00",
                ("localhost:5000/app", "2"),
            ),
        ] {
            assert_eq!(image_parts(image), parts, "{image}");
        }
    }
}
