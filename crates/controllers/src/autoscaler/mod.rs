//! Scales workloads by the resource usage of their Pods.
//!
//! Guarantees: every autoscaler is evaluated every 15 seconds, and at no other time; the size stays between the
//! minimum and the maximum, and changes no faster than the behavior allows.
//! Models `pkg/controller/podautoscaler/horizontal.go`.

mod behavior;
mod metrics;

use super::{Controller, Event, Watch};
use apiserver::why::Why;
use apiserver::{ApiError, ObjectScale};
use behavior::{Behavior, ScaleHistory, normalize};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::{Descriptor, GENERIC};
use k8s_model::json::{self, record};
use k8s_model::quantity::{self, Quantity};
use k8s_model::selector::LabelSelector;
use k8s_model::time::SECOND;
use k8s_model::{Body, Duration, Kind, Object, ObjectRef, Str, Timestamp};
use metrics::{MetricGoal, MetricTarget, Proposal, Tolerances, propose};
use serde_json::{Map, Value, json};
use smol_str::format_smolstr;
use std::rc::Rc;

/// Seconds between two evaluations of an autoscaler.
pub const SCALER_PERIOD_SECONDS: u64 = 15;
const PERIOD_US: Duration = SCALER_PERIOD_SECONDS * SECOND;
const TOLERANCE: f64 = 0.1;

record! {
    #[derive(Default)]
    struct Spec {
        scale_target_ref: TargetRef = "scaleTargetRef",
        min_replicas: Option<i32> = "minReplicas",
        max_replicas: i32 = "maxReplicas",
        metrics: Vec<Value> = "metrics",
        behavior: Option<Behavior> = "behavior",
    }

    #[derive(Default)]
    struct TargetRef {
        api_version: Str = "apiVersion",
        kind: Str = "kind",
        name: Str = "name",
    }
}

/// UI descriptor of the controller.
static DESCRIPTOR: Descriptor = Descriptor {
    name: "horizontal-pod-autoscaler",
    aliases: &[],
    title: "horizontal pod autoscaler",
    icon: "i-hpa",
    lane: "autoscaler",
    always_shown: false,
    code: GENERIC,
};

/// HorizontalPodAutoscaler controller.
pub struct HorizontalPodAutoscaler;

impl Controller for HorizontalPodAutoscaler {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn watches(&self) -> &'static [Watch] {
        &[Watch::For(Kind::HorizontalPodAutoscaler)]
    }

    fn delay(&self, _event: &Event<'_>, _key: &ObjectRef, _clock: i64) -> Duration {
        PERIOD_US
    }

    fn reconcile(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<Action, ApiError> {
        let Some(object) = view.cache.object(key) else {
            return Ok(Action::AwaitChange);
        };
        let Body::Other(body) = &object.body else {
            return Ok(Action::AwaitChange);
        };
        let Ok(spec) = json::part::<Spec>(body.get("spec")) else {
            return Ok(Action::AwaitChange);
        };
        let status = body
            .get("status")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        let mut pass = AutoscalerPass {
            object,
            spec: &spec,
            status,
            now: view.wall,
        };
        pass.run(view, out);
        let status = Value::Object(pass.status);
        // A concurrent change is seen in the next pass.
        let _ = out.update_status(object, Why::Observed, |o| {
            if let Body::Other(body) = &mut o.body {
                body.insert("status".into(), status);
            }
        });
        Ok(Action::RequeueAfter(PERIOD_US))
    }
}

/// Reconcile pass over one autoscaler.
struct AutoscalerPass<'a> {
    object: &'a Rc<Object>,
    spec: &'a Spec,
    status: Map<String, Value>,
    now: Timestamp,
}

/// Desired size computed from the metrics.
struct Wanted {
    replicas: i32,
    /// Name of the metric with the highest proposal.
    metric: String,
}

impl AutoscalerPass<'_> {
    fn run(&mut self, view: &PassView<'_>, out: &mut LoopClient<'_>) {
        let target = match self.target(out) {
            Ok(target) => target,
            Err(message) => {
                out.event(self.object, "Warning", "FailedGetScale", message.as_str());
                let message = format!(
                    "the HPA controller was unable to get the target's current scale: {message}"
                );
                return self.set_condition("AbleToScale", ("False", "FailedGetScale", &message));
            }
        };
        let what = "the HPA controller was able to get the target's current scale";
        self.set_condition("AbleToScale", ("True", "SucceededGetScale", what));
        let (target, scale) = target;
        let current = scale.replicas as i32;
        let least = self.spec.min_replicas.unwrap_or(1);
        if out.memory.is_empty() {
            // One microsecond earlier: the current recommendation is recorded separately.
            ScaleHistory {
                memory: out.memory,
                now: view.now.0 as i64 - 1,
            }
            .recommend(current);
        }
        let mut metrics = Value::Null;
        let (wanted, reason) = if current == 0 && least != 0 {
            let message = "scaling is disabled since the replica count of the target is zero";
            self.set_condition("ScalingActive", ("False", "ScalingDisabled", message));
            (0, String::new())
        } else if current > self.spec.max_replicas {
            (
                self.spec.max_replicas,
                "Current number of replicas above Spec.MaxReplicas".into(),
            )
        } else if current < least {
            (
                least,
                "Current number of replicas below Spec.MinReplicas".into(),
            )
        } else {
            let (wanted, statuses) = self.ask(current, &target.meta.namespace, &scale, view, out);
            metrics = statuses;
            let wanted = match wanted {
                Ok(wanted) => wanted,
                Err(message) => {
                    let desired = self
                        .status
                        .get("desiredReplicas")
                        .cloned()
                        .unwrap_or(0.into());
                    self.set_counts(current, desired, metrics);
                    return out.event(
                        self.object,
                        "Warning",
                        "FailedComputeMetricsReplicas",
                        message,
                    );
                }
            };
            let reason = match wanted.replicas.cmp(&current) {
                std::cmp::Ordering::Greater => format!("{} above target", wanted.metric),
                _ => "All metrics below target".into(),
            };
            let mut history = ScaleHistory {
                memory: out.memory,
                now: view.now.0 as i64,
            };
            let sizes = (current, wanted.replicas);
            let (size, able, limited) = normalize(
                self.spec.behavior.as_ref(),
                &mut history,
                sizes,
                (least, self.spec.max_replicas),
            );
            self.set_condition("AbleToScale", able);
            self.set_condition("ScalingLimited", limited);
            (size, reason)
        };
        if wanted != current && !self.rescale(&target.key(), (current, wanted), &reason, view, out)
        {
            let desired = self
                .status
                .get("desiredReplicas")
                .cloned()
                .unwrap_or(0.into());
            return self.set_counts(current, desired, metrics);
        }
        self.set_counts(current, wanted.into(), metrics);
    }

    /// Returns the scale target and its scale; the error is the API server's message.
    fn target(&self, out: &LoopClient<'_>) -> Result<(Rc<Object>, ObjectScale), String> {
        let wanted = &self.spec.scale_target_ref;
        let Some(kind) = out
            .server
            .definitions()
            .named(&wanted.api_version, &wanted.kind)
        else {
            let group = wanted
                .api_version
                .split_once('/')
                .map_or("", |(group, _)| group);
            return Err(format!(
                "no matches for kind {:?} in group {group:?}",
                wanted.kind.as_str()
            ));
        };
        let key = ObjectRef::new(kind, &self.object.meta.namespace, &wanted.name);
        let object = out
            .server
            .get(&key)
            .cloned()
            .ok_or_else(|| ApiError::not_found(kind, &key.name).message)?;
        let scale = out
            .server
            .scale_of(&object)
            .map_err(|error| error.message)?;
        Ok((object, scale))
    }

    /// Returns the selector of the target's Pods; without one no metric can be read.
    fn selector(
        &mut self,
        scale: &ObjectScale,
        out: &mut LoopClient<'_>,
    ) -> Result<LabelSelector, String> {
        let (reason, message, condition) = match scale.pod_selector() {
            Ok(_) if scale.selector.is_empty() => (
                "SelectorRequired",
                "selector is required".to_owned(),
                "the HPA target's scale is missing a selector".to_owned(),
            ),
            Ok(selector) => return Ok(selector),
            Err(fault) => {
                let message = format!(
                    "couldn't convert selector into a corresponding internal selector object: {fault}"
                );
                ("InvalidSelector", message.clone(), message)
            }
        };
        out.event(self.object, "Warning", reason, message.as_str());
        self.set_condition("ScalingActive", ("False", "InvalidSelector", &condition));
        Err(message)
    }

    /// Evaluates each metric; the largest proposal wins.
    fn ask(
        &mut self,
        current: i32,
        namespace: &Str,
        scale: &ObjectScale,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> (Result<Wanted, String>, Value) {
        let selector = &match self.selector(scale, out) {
            Ok(selector) => selector,
            Err(message) => return (Err(message), Value::Null),
        };
        if let Some(message) = self.rivals(namespace, selector, view, out) {
            out.event(
                self.object,
                "Warning",
                "AmbiguousSelector",
                message.as_str(),
            );
            self.set_condition("ScalingActive", ("False", "AmbiguousSelector", &message));
            return (Err(message), Value::Null);
        }
        let (mut statuses, mut wanted) = (Vec::new(), None::<Wanted>);
        let (mut invalid, mut first) = (0, None);
        for metric in &self.spec.metrics {
            let source = MetricSource::of(metric);
            let result = source.target().and_then(|target| {
                let proposal = propose(
                    &target,
                    self.tolerances(),
                    current,
                    namespace,
                    selector,
                    view,
                );
                proposal
                    .map(|proposal| (target, proposal))
                    .map_err(|cause| source.failure(&cause))
            });
            match result {
                Ok((target, proposal)) => {
                    statuses.push(source.status(&target, proposal));
                    if wanted
                        .as_ref()
                        .is_none_or(|known| proposal.replicas > known.replicas)
                    {
                        wanted = Some(Wanted {
                            replicas: proposal.replicas,
                            metric: source.name(&target),
                        });
                    }
                }
                Err(message) => {
                    statuses.push(json!({ "type": "" }));
                    out.event(self.object, "Warning", source.reason(), message.as_str());
                    invalid += 1;
                    first.get_or_insert((source.reason(), source.outer(&message), message));
                }
            }
        }
        let statuses = Value::Array(statuses);
        let down = wanted
            .as_ref()
            .is_none_or(|wanted| wanted.replicas < current);
        if let (Some((reason, outer, message)), true) = (first, down) {
            let text = format!("the HPA was unable to compute the replica count: {message}");
            self.set_condition("ScalingActive", ("False", reason, &text));
            let all = self.spec.metrics.len();
            return (
                Err(format!(
                    "invalid metrics ({invalid} invalid out of {all}), first error is: {outer}"
                )),
                statuses,
            );
        }
        let wanted = wanted.unwrap_or(Wanted {
            replicas: current,
            metric: String::new(),
        });
        let text = format!(
            "the HPA was able to successfully calculate a replica count from {}",
            wanted.metric
        );
        self.set_condition("ScalingActive", ("True", "ValidMetricFound", &text));
        (Ok(wanted), statuses)
    }

    /// Returns a message if other autoscalers select the same Pods, in which case none of them scales.
    fn rivals(
        &self,
        namespace: &Str,
        selector: &LabelSelector,
        view: &PassView<'_>,
        out: &LoopClient<'_>,
    ) -> Option<String> {
        let kind = Kind::HorizontalPodAutoscaler;
        let others = || {
            view.cache
                .list_in(kind, namespace)
                .filter(|other| other.meta.uid != self.object.meta.uid)
        };
        others().next()?;
        let mut names = Vec::new();
        for other in view.cache.list_in(kind, namespace) {
            let Body::Other(body) = &other.body else {
                continue;
            };
            let Ok(spec) = json::part::<Spec>(body.get("spec")) else {
                continue;
            };
            let pass = AutoscalerPass {
                object: other,
                spec: &spec,
                status: Map::new(),
                now: self.now,
            };
            let Some(theirs) = pass
                .target(out)
                .ok()
                .and_then(|(_, scale)| scale.pod_selector().ok())
            else {
                continue;
            };
            let shared = |pod: &Rc<Object>| {
                selector.matches(&pod.meta.labels) && theirs.matches(&pod.meta.labels)
            };
            if view.cache.list_in(Kind::Pod, namespace).any(shared) {
                names.push(format!("{namespace}/{}", other.meta.name));
            }
        }
        let pairs: Vec<String> = selector
            .match_labels
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        (names.len() > 1).then(|| {
            format!(
                "pods by selector {} are controlled by multiple HPAs: [{}]",
                pairs.join(","),
                names.join(" ")
            )
        })
    }

    fn tolerances(&self) -> Tolerances {
        let one = |value: Option<&Value>| {
            value
                .filter(|v| !v.is_null())
                .map_or(TOLERANCE, |v| quantity::milli_of(v) as f64 / 1000.0)
        };
        let behavior = self.spec.behavior.as_ref();
        Tolerances {
            up: one(behavior.map(|b| &b.scale_up.tolerance)),
            down: one(behavior.map(|b| &b.scale_down.tolerance)),
        }
    }

    /// Sets the new size; returns whether the API server accepted it.
    fn rescale(
        &mut self,
        key: &ObjectRef,
        (from, to): (i32, i32),
        reason: &str,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> bool {
        if let Err(error) = out.scale(
            key,
            to,
            Why::Autoscaled {
                reason: reason.into(),
                from,
                to,
            },
        ) {
            out.event(
                self.object,
                "Warning",
                "FailedRescale",
                format_smolstr!("New size: {to}; reason: {reason}; error: {error}"),
            );
            let message =
                format!("the HPA controller was unable to update the target scale: {error}");
            self.set_condition("AbleToScale", ("False", "FailedUpdateScale", &message));
            return false;
        }
        let message = format!("the HPA controller was able to update the target scale to {to}");
        self.set_condition("AbleToScale", ("True", "SucceededRescale", &message));
        out.event(
            self.object,
            "Normal",
            "SuccessfulRescale",
            format_smolstr!("New size: {to}; reason: {reason}"),
        );
        if self.spec.behavior.is_some() {
            ScaleHistory {
                memory: out.memory,
                now: view.now.0 as i64,
            }
            .scaled(from, to);
        }
        self.status
            .insert("lastScaleTime".into(), self.now.rfc3339().into());
        true
    }

    fn set_counts(&mut self, current: i32, desired: Value, metrics: Value) {
        if current != 0 {
            self.status.insert("currentReplicas".into(), current.into());
        } else {
            self.status.remove("currentReplicas");
        }
        self.status.insert("desiredReplicas".into(), desired);
        self.status.insert("currentMetrics".into(), metrics);
    }

    fn set_condition(&mut self, kind: &str, (status, reason, message): (&str, &str, &str)) {
        let list = self
            .status
            .entry("conditions")
            .or_insert_with(|| Value::Array(Vec::new()));
        let Value::Array(list) = list else { return };
        let index = list
            .iter()
            .position(|c| c["type"] == kind)
            .unwrap_or_else(|| {
                list.push(json!({ "type": kind }));
                list.len() - 1
            });
        let condition = &mut list[index];
        if condition["status"] != status {
            condition["lastTransitionTime"] = self.now.rfc3339().into();
        }
        condition["status"] = status.into();
        condition["reason"] = reason.into();
        condition["message"] = message.into();
    }
}

/// Metric of the spec.
struct MetricSource<'a> {
    kind: &'a str,
    part: &'a Value,
}

impl<'a> MetricSource<'a> {
    fn of(metric: &'a Value) -> MetricSource<'a> {
        let kind = metric["type"].as_str().unwrap_or("");
        let field = match kind {
            "Resource" => "resource",
            "ContainerResource" => "containerResource",
            "Pods" => "pods",
            "Object" => "object",
            _ => "external",
        };
        MetricSource {
            kind,
            part: &metric[field],
        }
    }

    fn text(&self, path: &str) -> &'a str {
        self.part
            .pointer(path)
            .and_then(Value::as_str)
            .unwrap_or("")
    }

    fn reason(&self) -> &'static str {
        match self.kind {
            "Resource" => "FailedGetResourceMetric",
            "ContainerResource" => "FailedGetContainerResourceMetric",
            "Pods" => "FailedGetPodsMetric",
            "Object" => "FailedGetObjectMetric",
            _ => "FailedGetExternalMetric",
        }
    }

    /// Returns the metric's target. Metrics of other sources have no API here.
    fn target(&self) -> Result<MetricTarget, String> {
        let (resource, metric) = (self.text("/name"), self.text("/metric/name"));
        let custom = "unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered";
        match self.kind {
            "Resource" | "ContainerResource" => {}
            "Pods" => return Err(format!("unable to get metric {metric}: {custom}")),
            "Object" => {
                let (kind, name) = (
                    self.text("/describedObject/kind"),
                    self.text("/describedObject/name"),
                );
                return Err(format!(
                    "unable to get metric {metric}: {kind} on {name}: {custom}"
                ));
            }
            _ => {
                let cause = format!(
                    "the server could not find the requested resource (get {metric}.external.metrics.k8s.io)"
                );
                return Err(format!(
                    "unable to get external metric {metric}: unable to fetch metrics from external metrics API: {cause}"
                ));
            }
        }
        let wanted = &self.part["target"];
        let goal = match (
            &wanted["averageValue"],
            wanted["averageUtilization"].as_i64(),
        ) {
            (Value::Null, Some(percent)) => MetricGoal::Utilization(percent),
            (Value::Null, None) => {
                let text = "invalid resource metric source: neither an average utilization target nor an average value (usage) target was set";
                return Err(text.into());
            }
            (value, _) => MetricGoal::Value(quantity::milli_of(value)),
        };
        let container = (self.kind == "ContainerResource").then(|| self.text("/container").into());
        Ok(MetricTarget {
            resource: resource.into(),
            container,
            goal,
        })
    }

    /// Returns the error for a resource metric that is unavailable.
    fn failure(&self, cause: &str) -> String {
        let what = if self.part["target"]["averageValue"].is_null() {
            "utilization"
        } else {
            "usage"
        };
        format!("failed to get {} {what}: {cause}", self.text("/name"))
    }

    /// Wraps a failure as reported for the whole computation.
    fn outer(&self, message: &str) -> String {
        match self.kind {
            "Resource" => format!(
                "failed to get {} resource metric value: {message}",
                self.text("/name")
            ),
            "ContainerResource" => format!(
                "failed to get {} container metric value: {message}",
                self.text("/name")
            ),
            "Pods" => format!("failed to get pods metric value: {message}"),
            "Object" => format!("failed to get object metric value: {message}"),
            _ => format!(
                "failed to get {} external metric value: {message}",
                self.text("/metric/name")
            ),
        }
    }

    /// Returns the metric's name for the reason of a rescale.
    fn name(&self, target: &MetricTarget) -> String {
        let container = if target.container.is_some() {
            "container "
        } else {
            ""
        };
        match target.goal {
            MetricGoal::Utilization(_) => format!(
                "{} {container}resource utilization (percentage of request)",
                target.resource
            ),
            MetricGoal::Value(_) => format!("{} resource", target.resource),
        }
    }

    fn status(&self, target: &MetricTarget, proposal: Proposal) -> Value {
        let mut current = json!({ "averageValue": Quantity::millis(proposal.average).to_string() });
        if let Some(percent) = proposal.utilization {
            current["averageUtilization"] = percent.into();
        }
        match &target.container {
            None => {
                json!({ "type": "Resource", "resource": { "name": target.resource.as_str(), "current": current } })
            }
            Some(container) => json!({ "type": "ContainerResource", "containerResource": {
                "name": target.resource.as_str(), "container": container.as_str(), "current": current } }),
        }
    }
}
