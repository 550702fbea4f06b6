//! Computes the number of Pods of each PodDisruptionBudget that may be disrupted.
//!
//! Guarantees: an evicted Pod does not count as healthy, even before its deletion is observed; after a failure nothing
//! may be disrupted.
//! Models `pkg/controller/disruption/disruption.go`.

use super::{Controller, Event, Watch};
use apiserver::why::Why;
use apiserver::{ApiError, Definitions, ObjectScale, StatusReason};
use apiserver::{Component, ControllerId};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::{Descriptor, GENERIC};
use controller_runtime::informer::Cache;
use k8s_model::pod::{Pod, PodCondition};
use k8s_model::policy::{BudgetSpec, BudgetStatus};
use k8s_model::time::SECOND;
use k8s_model::workload::{Deployment, IntOrPercent, ReplicaSet, StatefulSet};
use k8s_model::{Body, Kind, Object, ObjectRef, Timestamp, Uid};
use smol_str::format_smolstr;
use std::rc::Rc;

/// Source component of its Events.
static EVENT_SOURCE: ControllerId = ControllerId::new("controllermanager");
/// Seconds after which an evicted Pod that still exists counts again.
const DELETION_TIMEOUT_S: i64 = 120;

/// UI descriptor of the controller.
static DESCRIPTOR: Descriptor = Descriptor {
    component: Component::Controller(&ControllerId::new("disruption-controller")),
    aliases: &[],
    title: "disruption",
    icon: "i-pdb",
    lane: "",
    always_shown: false,
    code: GENERIC,
};

/// Disruption controller.
pub struct DisruptionController;

impl Controller for DisruptionController {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn watches(&self) -> &'static [Watch] {
        &[
            Watch::For(Kind::PodDisruptionBudget),
            Watch::Maps(Kind::Pod),
        ]
    }

    /// Wakes the first budget that selects a Pod.
    fn map_event(&self, event: &Event<'_>, cache: &Cache, wake: &mut dyn FnMut(ObjectRef)) {
        let pod = event.object;
        if marked(pod).is_some() {
            wake(pod.key());
        }
        let budgets = cache.selecting(
            Kind::PodDisruptionBudget,
            &pod.meta.namespace,
            &pod.meta.labels,
        );
        if let Some(budget) = budgets.iter().find(|b| BudgetSpec::of(b).selects(pod)) {
            wake(budget.key());
        }
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
        if key.kind == Kind::Pod {
            return forget_stale(object, view, out);
        }
        let (spec, old) = (BudgetSpec::of(object), BudgetStatus::of(object));
        let pods: Vec<Rc<Object>> = spec.selector.as_ref().map_or_else(Vec::new, |selector| {
            let selected =
                view.cache
                    .pods_selected(&key.namespace, &selector.match_labels, &|labels| {
                        selector.matches(labels)
                    });
            selected.into_iter().cloned().collect()
        });
        if pods.is_empty() {
            out.event_as(
                &EVENT_SOURCE,
                object,
                "Normal",
                "NoPods",
                "No matching pods found",
            );
        }
        warn_multiple_pdbs(key, &pods, view.cache, out);
        let generation = object.meta.generation;
        let (expected, desired) = match expected(&spec, &pods, view.cache, out.definitions()) {
            Ok(counts) => counts,
            Err(text) => {
                let message =
                    format_smolstr!("Failed to calculate the number of expected pods: {text}");
                out.event_as(
                    &EVENT_SOURCE,
                    object,
                    "Warning",
                    "CalculateExpectedPodCountFailed",
                    message,
                );
                let mut status = BudgetStatus {
                    disruptions_allowed: 0,
                    ..old.clone()
                };
                status.set_condition(Some(&text), generation, view.wall);
                write(object, &old, status, out)?;
                return Err(ApiError::internal(&text));
            }
        };
        let mut status = BudgetStatus {
            conditions: old.conditions.clone(),
            desired_healthy: desired as i32,
            expected_pods: expected as i32,
            observed_generation: generation,
            ..Default::default()
        };
        let mut again: Option<i64> = None;
        for pod in &pods {
            if pod.meta.is_deleting() {
                continue;
            }
            let name = pod.meta.name.as_str();
            if let Some(since) = old.disrupted_pods.get(name) {
                let gone_by = since
                    .as_str()
                    .and_then(Timestamp::parse)
                    .unwrap_or_default()
                    .seconds()
                    + DELETION_TIMEOUT_S;
                if gone_by >= view.wall.seconds() {
                    status.disrupted_pods.insert(name.to_owned(), since.clone());
                    again = Some(again.map_or(gone_by, |earlier| earlier.min(gone_by)));
                    continue;
                }
                let namespace = &key.namespace;
                let message = format_smolstr!(
                    "Pod was expected by PDB {namespace}/{namespace} to be deleted but it wasn't"
                );
                out.event_as(&EVENT_SOURCE, pod, "Warning", "NotDeleted", message);
            }
            status.current_healthy += i32::from(pod.body::<Pod>().is_ready());
        }
        if expected > 0 {
            status.disruptions_allowed = (status.current_healthy - status.desired_healthy).max(0);
        }
        status.set_condition(None, generation, view.wall);
        write(object, &old, status, out)?;
        Ok(again.map_or(Action::AwaitChange, |at| {
            Action::RequeueAfter((at - view.wall.seconds() + 1) as u64 * SECOND)
        }))
    }
}

/// Returns the transition time of the DisruptionTarget condition, if a Pod that is not terminating has it.
fn marked(object: &Object) -> Option<Timestamp> {
    let pod: &Pod = object.body();
    let condition = pod
        .status
        .condition("DisruptionTarget")
        .filter(|c| c.status == "True")?;
    (!object.meta.is_deleting() && !pod.is_terminal())
        .then_some(condition.last_transition_time.unwrap_or_default())
}

/// Clears a DisruptionTarget condition that is older than two minutes.
fn forget_stale(
    object: &Rc<Object>,
    view: &PassView<'_>,
    out: &mut LoopClient<'_>,
) -> Result<Action, ApiError> {
    let Some(since) = marked(object) else {
        return Ok(Action::AwaitChange);
    };
    let left = view.until(since, DELETION_TIMEOUT_S);
    if left > 0 {
        return Ok(Action::RequeueAfter(left));
    }
    let wall = view.wall;
    out.update_status(object, Why::Unused, |o| {
        if let Body::Pod(pod) = &mut o.body {
            let kind = || "DisruptionTarget".into();
            pod.status.set_condition(PodCondition {
                kind: kind(),
                status: "False".into(),
                last_transition_time: Some(wall),
                ..Default::default()
            });
        }
    })?;
    Ok(Action::AwaitChange)
}

/// Records an Event for each Pod selected by several budgets, saying that this budget, the first, was used.
fn warn_multiple_pdbs(
    key: &ObjectRef,
    pods: &[Rc<Object>],
    cache: &Cache,
    out: &mut LoopClient<'_>,
) {
    let several = |pod: &&Rc<Object>| {
        let budgets = cache.selecting(Kind::PodDisruptionBudget, &key.namespace, &pod.meta.labels);
        let mut selecting = budgets
            .iter()
            .filter(|budget| BudgetSpec::of(budget).selects(pod));
        budgets.len() > 1
            && selecting
                .next()
                .is_some_and(|budget| budget.meta.name == key.name)
            && selecting.next().is_some()
    };
    for pod in pods.iter().filter(several) {
        let (namespace, name) = (&key.namespace, &pod.meta.name);
        let message = format_smolstr!(
            "Pod {namespace:?}/{name:?} matches multiple PodDisruptionBudgets.  Chose {:?} arbitrarily.",
            key.name.as_str()
        );
        out.event_as(
            &EVENT_SOURCE,
            pod,
            "Warning",
            "MultiplePodDisruptionBudgets",
            message,
        );
    }
}

fn write(
    object: &Rc<Object>,
    old: &BudgetStatus,
    status: BudgetStatus,
    out: &mut LoopClient<'_>,
) -> Result<(), ApiError> {
    if status == *old {
        return Ok(());
    }
    let why = Why::Budget {
        healthy: status.current_healthy,
        desired: status.desired_healthy,
    };
    out.update_status(object, why, |o| status.put(o)).map(drop)
}

/// Returns the expected number of Pods, and the number that must stay healthy.
fn expected(
    spec: &BudgetSpec,
    pods: &[Rc<Object>],
    cache: &Cache,
    definitions: &Definitions,
) -> Result<(i64, i64), String> {
    if let Some(max) = &spec.max_unavailable {
        let all = wanted_by_owners(pods, cache, definitions)?;
        return Ok((all, (all - max.resolve(all, true)).max(0)));
    }
    match &spec.min_available {
        Some(IntOrPercent::Int(n)) => Ok((pods.len() as i64, *n)),
        Some(percent) => {
            let all = wanted_by_owners(pods, cache, definitions)?;
            Ok((all, percent.resolve(all, true)))
        }
        None => Ok((0, 0)),
    }
}

/// Sums the desired replicas of the Pods' controllers, each counted once, a Deployment too while its Pods belong to several ReplicaSets;
/// bare Pods do not count.
fn wanted_by_owners(
    pods: &[Rc<Object>],
    cache: &Cache,
    definitions: &Definitions,
) -> Result<i64, String> {
    let (mut owners, mut scales): (Vec<Uid>, Vec<(Uid, i64)>) = (Vec::new(), Vec::new());
    for pod in pods {
        let Some(owner) = pod.meta.controller() else {
            continue;
        };
        if owners.contains(&owner.uid) {
            continue;
        }
        owners.push(owner.uid);
        let (uid, replicas) = scale(pod, cache, definitions)?
            .ok_or_else(|| format!("found no controllers for pod {:?}", pod.meta.name.as_str()))?;
        if !scales.iter().any(|(scaled, _)| *scaled == uid) {
            scales.push((uid, replicas));
        }
    }
    Ok(scales.iter().map(|(_, replicas)| replicas).sum())
}

/// Returns uid and desired replicas of a Pod's controller, or of the Deployment above it.
fn scale(
    pod: &Object,
    cache: &Cache,
    definitions: &Definitions,
) -> Result<Option<(Uid, i64)>, String> {
    let owner_of = |object: &Object| {
        let owner = object.meta.controller()?;
        let key = owner.key(&object.meta.namespace)?;
        cache
            .object(&key)
            .filter(|o| o.meta.uid == owner.uid)
            .cloned()
    };
    let Some(owner) = owner_of(pod) else {
        return Ok(None);
    };
    let uid = owner.meta.uid;
    if let Some(set) = owner.get::<ReplicaSet>() {
        let above = owner_of(&owner)
            .and_then(|o| Some((o.meta.uid, i64::from(o.get::<Deployment>()?.spec.replicas))));
        return Ok(Some(above.unwrap_or((uid, i64::from(set.spec.replicas)))));
    }
    if let Some(set) = owner.get::<StatefulSet>() {
        return Ok(Some((uid, i64::from(set.spec.replicas))));
    }
    // Any other kind needs the scale subresource.
    let scale = ObjectScale::of(definitions, &owner).map_err(|error| match error.reason {
        StatusReason::NotFound => format!(
            "{} does not implement the scale subresource",
            owner.kind.group_resource()
        ),
        _ => error.message,
    })?;
    Ok(Some((uid, scale.replicas)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_model::ObjectMeta;

    #[test]
    fn an_absolute_number_counts_existing_pods() {
        let pod = || {
            Rc::new(Object {
                kind: Kind::Pod,
                meta: ObjectMeta::default(),
                body: Body::Pod(Box::default()),
            })
        };
        let (cache, definitions) = (Cache::default(), Definitions::default());
        let spec = |min, max| BudgetSpec {
            min_available: min,
            max_unavailable: max,
            ..Default::default()
        };
        let cases = [
            (spec(Some(IntOrPercent::Int(2)), None), (3, 2)),
            // Bare Pods have no controller with a desired number of replicas.
            (spec(Some(IntOrPercent::Percent(50)), None), (0, 0)),
            (spec(None, Some(IntOrPercent::Int(1))), (0, 0)),
            (spec(None, None), (0, 0)),
        ];
        for (spec, counts) in cases {
            assert_eq!(
                expected(&spec, &[pod(), pod(), pod()], &cache, &definitions),
                Ok(counts),
                "{spec:?}"
            );
        }
    }
}
