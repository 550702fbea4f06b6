//! Scales workloads by the resource usage of their Pods.
//!
//! Guarantees: every autoscaler is evaluated every 15 seconds, and at no other time; the size stays between the
//! minimum and the maximum, and changes no faster than the behavior allows.
//! Models `pkg/controller/podautoscaler/horizontal.go`.

mod behavior;
pub mod conditions;
mod metrics;

use super::{Controller, Event, Watch};
use apiserver::why::Why;
use apiserver::{ApiError, ObjectScale};
use apiserver::{Component, ControllerId};
use behavior::{ScaleHistory, normalize};
use cluster_network::usage::Usage;
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::{Descriptor, GENERIC};
use k8s_model::autoscaling::{
    HorizontalPodAutoscalerCondition, HorizontalPodAutoscalerSpec, HorizontalPodAutoscalerStatus,
    MetricSpec, MetricStatus, MetricValueStatus, ResourceMetricSource, ResourceMetricStatus,
};
use k8s_model::quantity::{self, Quantity};
use k8s_model::selector::LabelSelector;
use k8s_model::time::SECOND;
use k8s_model::{Duration, Kind, Object, ObjectRef, Str, Time, Timestamp};
use metrics::{MetricGoal, MetricTarget, Proposal, Tolerances, propose};
use serde_json::Value;
use smol_str::format_smolstr;
use std::rc::Rc;

/// Seconds between two evaluations of an autoscaler.
pub const SCALER_PERIOD_SECONDS: u64 = 15;
const PERIOD_US: Duration = SCALER_PERIOD_SECONDS * SECOND;
const TOLERANCE: f64 = 0.1;

/// UI descriptor of the controller.
static DESCRIPTOR: Descriptor = Descriptor {
    component: Component::Controller(&ControllerId::new("horizontal-pod-autoscaler")),
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
        let Some(spec) = HorizontalPodAutoscalerSpec::of(object) else {
            return Ok(Action::AwaitChange);
        };
        let mut pass = AutoscalerPass {
            object,
            spec: &spec,
            status: HorizontalPodAutoscalerStatus::of(object),
            now: view.wall,
        };
        pass.run(view, out);
        let status = pass.status;
        // A concurrent change is seen in the next pass.
        let _ = out.update_status(object, Why::Observed, |o| status.put(o));
        Ok(Action::RequeueAfter(PERIOD_US))
    }
}

/// Reconcile pass over one autoscaler.
struct AutoscalerPass<'a> {
    object: &'a Rc<Object>,
    spec: &'a HorizontalPodAutoscalerSpec,
    status: HorizontalPodAutoscalerStatus,
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
        let target = match target(self.object, self.spec, out) {
            Ok(target) => target,
            Err(message) => {
                out.event(self.object, "Warning", "FailedGetScale", message.as_str());
                let message = format!(
                    "the HPA controller was unable to get the target's current scale: {message}"
                );
                return self.set_condition("AbleToScale", "False", "FailedGetScale", &message);
            }
        };
        let what = "the HPA controller was able to get the target's current scale";
        self.set_condition("AbleToScale", "True", "SucceededGetScale", what);
        let (target, scale) = target;
        let current = scale.replicas as i32;
        let least = self.spec.min_replicas.unwrap_or(1);
        let mut history: ScaleHistory = out.state.take();
        if history.is_empty() {
            // One microsecond earlier: the current recommendation is recorded separately.
            history.recommend(Time(view.now.0.saturating_sub(1)), current);
        }
        out.state.set(history);
        let mut metrics = None;
        let (wanted, reason) = if current == 0 && least != 0 {
            let message = "scaling is disabled since the replica count of the target is zero";
            self.set_condition("ScalingActive", "False", "ScalingDisabled", message);
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
                    self.set_counts(current, self.status.desired_replicas, metrics);
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
            let mut history: ScaleHistory = out.state.take();
            let (size, able, limited) = normalize(
                self.spec.behavior.as_ref(),
                &mut history,
                view.now,
                current,
                wanted.replicas,
                least,
                self.spec.max_replicas,
            );
            out.state.set(history);
            for (kind, (status, reason, message)) in
                [("AbleToScale", able), ("ScalingLimited", limited)]
            {
                self.set_condition(kind, status, reason, message);
            }
            (size, reason)
        };
        if wanted != current && !self.rescale(&target.key(), current, wanted, &reason, view, out) {
            return self.set_counts(current, self.status.desired_replicas, metrics);
        }
        self.set_counts(current, wanted, metrics);
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
        self.set_condition("ScalingActive", "False", "InvalidSelector", &condition);
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
    ) -> (Result<Wanted, String>, Option<Vec<MetricStatus>>) {
        let selector = &match self.selector(scale, out) {
            Ok(selector) => selector,
            Err(message) => return (Err(message), None),
        };
        if let Some(message) = self.ambiguous_selector(namespace, selector, view, out) {
            out.event(
                self.object,
                "Warning",
                "AmbiguousSelector",
                message.as_str(),
            );
            self.set_condition("ScalingActive", "False", "AmbiguousSelector", &message);
            return (Err(message), None);
        }
        let (mut statuses, mut wanted) = (Vec::new(), None::<Wanted>);
        let (mut invalid, mut first) = (0, None);
        let tolerances = self.tolerances();
        let mut usage = Usage::new(out.store(), view.loads);
        let propose = |source: &MetricSource<'_>| {
            let target = source.target()?;
            propose(
                &target, tolerances, current, namespace, selector, view, &mut usage,
            )
            .map(|proposal| (target, proposal))
            .map_err(|cause| source.failure(&cause))
        };
        let sources = self.spec.metrics.iter().map(MetricSource);
        let sources: Vec<MetricSource<'_>> = sources.collect();
        let results: Vec<_> = sources.iter().map(propose).collect();
        for (source, result) in sources.iter().zip(results) {
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
                    statuses.push(MetricStatus::default());
                    out.event(self.object, "Warning", source.reason(), message.as_str());
                    invalid += 1;
                    first.get_or_insert((source.reason(), source.outer(&message), message));
                }
            }
        }
        let down = wanted
            .as_ref()
            .is_none_or(|wanted| wanted.replicas < current);
        if let (Some((reason, outer, message)), true) = (first, down) {
            let text = format!("the HPA was unable to compute the replica count: {message}");
            self.set_condition("ScalingActive", "False", reason, &text);
            let all = self.spec.metrics.len();
            return (
                Err(format!(
                    "invalid metrics ({invalid} invalid out of {all}), first error is: {outer}"
                )),
                Some(statuses),
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
        self.set_condition("ScalingActive", "True", "ValidMetricFound", &text);
        (Ok(wanted), Some(statuses))
    }

    /// Returns a message if other autoscalers select the same Pods, in which case none of them scales.
    fn ambiguous_selector(
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
        let pods = view
            .cache
            .pods_selected(namespace, &selector.match_labels, &|labels| {
                selector.matches(labels)
            });
        let mut names = Vec::new();
        for other in view.cache.list_in(kind, namespace) {
            let Some(theirs) = HorizontalPodAutoscalerSpec::of(other)
                .and_then(|spec| target(other, &spec, out).ok())
                .and_then(|(_, scale)| scale.pod_selector().ok())
            else {
                continue;
            };
            if pods.iter().any(|pod| theirs.matches(&pod.meta.labels)) {
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
        from: i32,
        to: i32,
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
            self.set_condition("AbleToScale", "False", "FailedUpdateScale", &message);
            return false;
        }
        let message = format!("the HPA controller was able to update the target scale to {to}");
        self.set_condition("AbleToScale", "True", "SucceededRescale", &message);
        out.event(
            self.object,
            "Normal",
            "SuccessfulRescale",
            format_smolstr!("New size: {to}; reason: {reason}"),
        );
        if self.spec.behavior.is_some() {
            out.state
                .update(|history: &mut ScaleHistory| history.scaled(view.now, from, to));
        }
        self.status.last_scale_time = Some(self.now);
        true
    }

    fn set_counts(&mut self, current: i32, desired: i32, metrics: Option<Vec<MetricStatus>>) {
        self.status.current_replicas = current;
        self.status.desired_replicas = desired;
        self.status.current_metrics = metrics;
    }

    fn set_condition(
        &mut self,
        kind: &'static str,
        status: &'static str,
        reason: &str,
        message: &str,
    ) {
        self.status.set_condition(HorizontalPodAutoscalerCondition {
            last_transition_time: Some(self.now),
            message: message.into(),
            reason: reason.into(),
            status: Str::new_static(status),
            kind: Str::new_static(kind),
        });
    }
}

/// Returns the scale target and its scale; the error is the API server's message.
fn target(
    scaler: &Object,
    spec: &HorizontalPodAutoscalerSpec,
    out: &LoopClient<'_>,
) -> Result<(Rc<Object>, ObjectScale), String> {
    let wanted = &spec.scale_target_ref;
    let Some(kind) = out.definitions().named(&wanted.api_version, &wanted.kind) else {
        let group = wanted
            .api_version
            .split_once('/')
            .map_or("", |(group, _)| group);
        return Err(format!(
            "no matches for kind {:?} in group {group:?}",
            wanted.kind.as_str()
        ));
    };
    let key = ObjectRef::new(kind, &scaler.meta.namespace, &wanted.name);
    let object = out
        .store()
        .get(&key)
        .cloned()
        .ok_or_else(|| ApiError::not_found(kind, &key.name).message)?;
    let scale = ObjectScale::of(out.definitions(), &object).map_err(|error| error.message)?;
    Ok((object, scale))
}

/// Metric of the spec.
struct MetricSource<'a>(&'a MetricSpec);

impl MetricSource<'_> {
    fn kind(&self) -> &str {
        &self.0.kind
    }

    /// Returns the resource that is measured.
    fn resource(&self) -> &ResourceMetricSource {
        match self.kind() {
            "ContainerResource" => &self.0.container_resource,
            _ => &self.0.resource,
        }
    }

    fn reason(&self) -> &'static str {
        match self.kind() {
            "Resource" => "FailedGetResourceMetric",
            "ContainerResource" => "FailedGetContainerResourceMetric",
            "Pods" => "FailedGetPodsMetric",
            "Object" => "FailedGetObjectMetric",
            _ => "FailedGetExternalMetric",
        }
    }

    /// Returns the metric's target. Metrics of other sources have no API here.
    fn target(&self) -> Result<MetricTarget, String> {
        let custom = "unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered";
        match self.kind() {
            "Resource" | "ContainerResource" => {}
            "Pods" => {
                let metric = &self.0.pods.metric.name;
                return Err(format!("unable to get metric {metric}: {custom}"));
            }
            "Object" => {
                let (metric, described) =
                    (&self.0.object.metric.name, &self.0.object.described_object);
                return Err(format!(
                    "unable to get metric {metric}: {} on {}: {custom}",
                    described.kind, described.name
                ));
            }
            _ => {
                let metric = &self.0.external.metric.name;
                let cause = format!(
                    "the server could not find the requested resource (get {metric}.external.metrics.k8s.io)"
                );
                return Err(format!(
                    "unable to get external metric {metric}: unable to fetch metrics from external metrics API: {cause}"
                ));
            }
        }
        let source = self.resource();
        let goal = match (
            &source.target.average_value,
            source.target.average_utilization,
        ) {
            (Value::Null, Some(percent)) => MetricGoal::Utilization(percent),
            (Value::Null, None) => {
                let text = "invalid resource metric source: neither an average utilization target nor an average value (usage) target was set";
                return Err(text.into());
            }
            (value, _) => MetricGoal::Value(quantity::milli_of(value)),
        };
        let container =
            (self.kind() == "ContainerResource").then(|| source.container.as_str().into());
        Ok(MetricTarget {
            resource: source.name.as_str().into(),
            container,
            goal,
        })
    }

    /// Returns the error for a resource metric that is unavailable.
    fn failure(&self, cause: &str) -> String {
        let what = if self.resource().target.average_value.is_null() {
            "utilization"
        } else {
            "usage"
        };
        format!("failed to get {} {what}: {cause}", self.resource().name)
    }

    /// Wraps a failure as reported for the whole computation.
    fn outer(&self, message: &str) -> String {
        match self.kind() {
            "Resource" => format!(
                "failed to get {} resource metric value: {message}",
                self.resource().name
            ),
            "ContainerResource" => format!(
                "failed to get {} container metric value: {message}",
                self.resource().name
            ),
            "Pods" => format!("failed to get pods metric value: {message}"),
            "Object" => format!("failed to get object metric value: {message}"),
            _ => format!(
                "failed to get {} external metric value: {message}",
                self.0.external.metric.name
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

    fn status(&self, target: &MetricTarget, proposal: Proposal) -> MetricStatus {
        let status = Some(ResourceMetricStatus {
            container: target.container.as_deref().unwrap_or("").into(),
            current: MetricValueStatus {
                average_utilization: proposal.utilization,
                average_value: Quantity::millis(proposal.average).to_string().into(),
            },
            name: target.resource.as_str().into(),
        });
        match &target.container {
            None => MetricStatus {
                resource: status,
                kind: Str::new_static("Resource"),
                ..Default::default()
            },
            Some(_) => MetricStatus {
                container_resource: status,
                kind: Str::new_static("ContainerResource"),
                ..Default::default()
            },
        }
    }
}
