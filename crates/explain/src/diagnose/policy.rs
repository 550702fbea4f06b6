//! Autoscalers that do not scale, and disruption budgets that allow nothing.

use super::finding::{Context, Diagnosis, all_in, line, target};
use super::workloads::follow;
use crate::handles::Handles;
use crate::waits::{DecidingFact, FactLabel, PendingReason, RemedyKind};
use apiserver::Cause;
use apiserver::journal::{Entry, Record};
use cluster::Sim;
use fault::Fault;
use fault::Load;
use i18n::msg;
use k8s_model::autoscaling::{HorizontalPodAutoscalerSpec, HorizontalPodAutoscalerStatus};
use k8s_model::kind::api_group;
use k8s_model::policy::{BudgetSpec, BudgetStatus};
use k8s_model::quantity::Quantity;
use k8s_model::{Body, Kind, Object, ObjectRef, Str, Time};
use kubectl::drain::RETRY_US;
use std::rc::Rc;

/// Maximum number of entries searched for a refused eviction.
const MAX_SCANNED_ENTRIES: usize = 2_000;
/// Maximum number of ReplicaSets of a namespace checked for waiting on its quota.
const MAX_SCANNED_SETS: usize = 100;

pub fn autoscaler(sim: &Context<'_>, object: &Rc<Object>) -> Option<Diagnosis> {
    let status = HorizontalPodAutoscalerStatus::of(object);
    let condition = status.conditions.iter().find(|condition| {
        condition.status == "False"
            && (condition.kind == "ScalingActive" || condition.kind == "AbleToScale")
    })?;
    let mut out = Diagnosis::new(
        object,
        PendingReason::ScalingInactive(condition.reason.clone()),
    );
    out.word(FactLabel::Message, &condition.message);
    out.at(
        FactLabel::LooksAgain,
        sim.manager.next_requeue(&object.key()),
    );
    let spec = HorizontalPodAutoscalerSpec::of(object)?;
    let scaled = &spec.scale_target_ref;
    let kind = Kind::from_group_kind(api_group(&scaled.api_version), &scaled.kind)?;
    let key = ObjectRef::new(kind, &object.meta.namespace, &scaled.name);
    let target = sim.store().get(&key)?;
    let (labels, template) = match &target.body {
        Body::Deployment(body) => (&body.spec.selector.match_labels, &body.spec.template),
        Body::StatefulSet(body) => (&body.spec.selector.match_labels, &body.spec.template),
        _ => return Some(out),
    };
    let mut steps = Vec::new();
    let of_memory = unread_metric(&spec, &status) == Some("memory");
    let (what, some) = if of_memory {
        ("memory", Quantity::bytes(64 << 20))
    } else {
        ("cpu", Quantity::millis(100))
    };
    if let Some(lacks) = template
        .spec
        .containers
        .iter()
        .find(|c| !c.resources.requests.contains_key(what))
    {
        out.facts.push(DecidingFact::Said(
            FactLabel::Requests,
            msg::requests_none(what),
        ));
        steps.push(line(
            "set resources",
            &key,
            &[
                " -c ",
                &lacks.name,
                " --requests=",
                what,
                "=",
                &some.to_string(),
            ]
            .concat(),
        ));
    }
    if let Some((name, value)) = labels.iter().next() {
        let load = Load::new(what, [(name, value)].into_iter(), some);
        steps.push(Fault::Load(load).into());
    }
    out.cure(
        if of_memory {
            RemedyKind::MemoryMetrics
        } else {
            RemedyKind::Metrics
        },
        &object.meta.name,
        "",
        &steps,
    );
    out.waits_for = Some(key);
    Some(out)
}

/// Returns the resource of the first metric in the spec without a current value in the status.
fn unread_metric<'s>(
    spec: &'s HorizontalPodAutoscalerSpec,
    status: &HorizontalPodAutoscalerStatus,
) -> Option<&'s str> {
    let measured = || status.current_metrics.iter().flatten();
    let is_read = |name: &str| {
        measured().any(|metric| {
            let resource = metric.resource.as_ref();
            resource.is_some_and(|resource| resource.name == name)
        })
    };
    let wanted = spec
        .metrics
        .iter()
        .map(|metric| metric.resource.name.as_str());
    wanted
        .filter(|name| !name.is_empty())
        .find(|name| !is_read(name))
}

/// Eviction refused by a budget, which the person's `kubectl drain` will retry.
pub struct RefusedEviction {
    /// Pod.
    pub pod: ObjectRef,
    /// Budget.
    pub budget: Str,
    /// Time of the refusal.
    pub at: Time,
}

impl RefusedEviction {
    /// Time of the retry.
    pub fn again(&self) -> Time {
        Time(self.at.0 + RETRY_US)
    }

    /// Seconds until the retry, rounded up.
    pub fn seconds_left(&self, now: Time) -> u64 {
        self.again().0.saturating_sub(now.0).div_ceil(1_000_000)
    }
}

/// Returns the refused evictions of Pods selected by `of`, newest first, while the drain still waits to retry.
pub fn refused_evictions<'s>(
    sim: &'s Sim,
    of: &'s dyn Fn(&ObjectRef, &Str) -> bool,
) -> impl Iterator<Item = RefusedEviction> + 's {
    let since = sim.now().0.saturating_sub(RETRY_US);
    let recent = sim
        .journal()
        .iter()
        .rev()
        .take_while(move |entry| entry.time.0 >= since)
        .take(MAX_SCANNED_ENTRIES);
    let refused = move |entry: &Entry| {
        let Record::Refused(refused) = &entry.record else {
            return None;
        };
        let Some(Cause::Budget(budget)) = refused.error.cause.as_deref() else {
            return None;
        };
        of(&refused.key, budget).then(|| RefusedEviction {
            pod: refused.key.clone(),
            budget: budget.clone(),
            at: entry.time,
        })
    };
    recent.filter_map(refused).filter(|found| {
        sim.store()
            .get(&found.pod)
            .is_some_and(|pod| !pod.meta.is_deleting())
    })
}

fn eviction(sim: &Context<'_>, object: &Object, found: RefusedEviction) -> Diagnosis {
    let budget = ObjectRef::new(
        Kind::PodDisruptionBudget,
        &found.pod.namespace,
        &found.budget,
    );
    let again = found.again();
    let mut out = Diagnosis::new(
        object,
        PendingReason::EvictionRefused {
            pod: found.pod.name.clone(),
            budget: found.budget,
        },
    );
    if let Some(budget) = sim.store().get(&budget) {
        out.count(
            FactLabel::Allowed,
            BudgetStatus::of(budget).disruptions_allowed,
        );
    }
    out.at(FactLabel::LooksAgain, Some(again));
    match object.kind {
        Kind::Node => follow(&mut out, sim.diagnose(&found.pod)),
        Kind::Pod => follow(&mut out, sim.diagnose(&budget)),
        _ => {}
    }
    out
}

/// Diagnoses a Pod whose eviction a budget refuses.
pub fn refused_eviction(sim: &Context<'_>, object: &Object) -> Option<Diagnosis> {
    let key = object.key();
    refused_evictions(sim, &|pod, _| *pod == key)
        .next()
        .map(|found| eviction(sim, object, found))
}

/// Diagnoses a node whose drain waits for a budget.
pub fn drained(sim: &Context<'_>, object: &Object) -> Option<Diagnosis> {
    let on_node = |pod: &ObjectRef, _: &Str| {
        sim.store()
            .get(pod)
            .and_then(|pod| pod.pod())
            .is_some_and(|pod| pod.node_name == object.meta.name)
    };
    refused_evictions(sim, &on_node)
        .next()
        .map(|found| eviction(sim, object, found))
}

/// Diagnoses a quota without room for the Pods of a workload.
pub fn quota(sim: &Context<'_>, object: &Object) -> Option<Diagnosis> {
    let small = |set: &&Rc<Object>| match &set.body {
        Body::ReplicaSet(set) => set.status.replicas < set.spec.replicas,
        Body::StatefulSet(set) => set.status.replicas < set.spec.replicas,
        _ => false,
    };
    let sets = [Kind::ReplicaSet, Kind::StatefulSet]
        .into_iter()
        .flat_map(|kind| all_in(sim, kind, &object.meta.namespace));
    let waiting: Vec<Diagnosis> = sets
        .filter(small)
        .take(MAX_SCANNED_SETS)
        .filter_map(|set| sim.diagnose(&set.key()))
        .filter(
            |found| matches!(&found.waits, PendingReason::Quota { name, .. } if *name == object.meta.name),
        )
        .collect();
    let first = waiting.first()?;
    let mut out = Diagnosis::new(object, first.waits.clone());
    out.remedies = first.remedies.clone();
    out.since = waiting.iter().filter_map(|found| found.since).min();
    out.facts = first
        .facts
        .iter()
        .filter(|fact| matches!(fact, DecidingFact::Said(FactLabel::Used, _)))
        .cloned()
        .collect();
    // One time for all waiting objects: the earliest.
    let next = waiting
        .iter()
        .flat_map(|found| &found.facts)
        .filter_map(|fact| match fact {
            DecidingFact::At(FactLabel::LooksAgain, at) => Some(*at),
            _ => None,
        });
    out.facts.extend(
        next.min()
            .map(|at| DecidingFact::At(FactLabel::LooksAgain, at)),
    );
    Some(out)
}

pub fn budget(sim: &Context<'_>, object: &Rc<Object>) -> Option<Diagnosis> {
    let (spec, status) = (BudgetSpec::of(object), BudgetStatus::of(object));
    if status.disruptions_allowed > 0
        || status.observed_generation == 0
        || status.expected_pods == 0
    {
        return None;
    }
    let mut out = match refused_evictions(sim, &|_, budget| *budget == object.meta.name).next() {
        Some(found) => eviction(sim, object, found),
        None => Diagnosis::new(object, PendingReason::NoDisruption),
    };
    out.count(FactLabel::Matching, status.expected_pods);
    out.count(FactLabel::Healthy, status.current_healthy);
    out.count(FactLabel::AtLeast, status.desired_healthy);
    let pods: Vec<&Rc<Object>> = all_in(sim, Kind::Pod, &object.meta.namespace)
        .filter(|pod| spec.selects(pod))
        .collect();
    // Unhealthy Pods use up the disruptions that the budget would allow.
    let ill = pods
        .iter()
        .filter(|pod| !pod.pod().is_some_and(|pod| pod.is_ready()))
        .find_map(|pod| sim.diagnose(&pod.key()));
    follow(&mut out, ill);
    let owner = pods
        .first()
        .and_then(|pod| super::finding::owners(sim, &pod.key()).pop())
        .and_then(|owner| sim.store().get(&owner));
    if let Some(owner) = owner
        && let Some(replicas) = Handles::of(owner).replicas
    {
        let rest = [" --replicas=", &(replicas + 1).to_string()].concat();
        out.cure(
            RemedyKind::ScaleUp,
            &target(&owner.key()),
            "",
            &[line("scale", &owner.key(), &rest)],
        );
    }
    let (field, other) = if spec.min_available.is_some() {
        ("minAvailable", (status.current_healthy - 1).max(0))
    } else {
        ("maxUnavailable", 1)
    };
    let rest = [
        " --type=merge -p '{\"spec\":{\"",
        field,
        "\":",
        &other.to_string(),
        "}}'",
    ]
    .concat();
    out.cure(
        RemedyKind::RelaxBudget,
        &object.meta.name,
        "",
        &[line("patch", &object.key(), &rest)],
    );
    Some(out)
}
