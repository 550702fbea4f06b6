//! How many replicas a metric asks for.
//!
//! Models `pkg/controller/podautoscaler/replica_calculator.go`.

use crate::api::pod::Pod;
use crate::api::quantity;
use crate::api::selector::LabelSelector;
use crate::api::time::SECOND;
use crate::api::{Kind, Object, Str};
use crate::engine::load::usage;
use crate::engine::out::View;
use std::rc::Rc;

/// A Pod that young counts only when it is ready.
const INITIALIZATION: i64 = 300;
/// A Pod that became unready so soon after its start has never been ready.
const FIRST_READINESS: i64 = 30;
/// A sample covers so many seconds.
const WINDOW: i64 = 1;

/// How far usage may be from the target without a change.
#[derive(Clone, Copy, Debug)]
pub struct Tolerances {
    pub up: f64,
    pub down: f64,
}

impl Tolerances {
    fn allow(self, ratio: f64) -> bool {
        1.0 - self.down <= ratio && ratio <= 1.0 + self.up
    }
}

/// What is wanted of a resource.
#[derive(Clone, Debug)]
pub struct Target {
    pub resource: Str,
    /// Only this container counts.
    pub container: Option<Str>,
    pub goal: Goal,
}

/// The average that is aimed at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// In percent of what the Pods request.
    Utilization(i64),
    /// In thousandths.
    Value(i64),
}

/// What came out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Proposal {
    pub replicas: i32,
    /// In percent of what is requested.
    pub utilization: Option<i64>,
    /// Average in thousandths.
    pub average: i64,
}

/// The Pods of a workload as the calculation sees them.
#[derive(Default)]
struct Groups {
    ready: usize,
    /// Used and requested, of the Pods that have samples.
    samples: Vec<(i64, i64)>,
    /// What the others request.
    unready: Vec<i64>,
    missing: Vec<i64>,
}

/// How many replicas the target asks for.
pub fn propose(
    target: &Target,
    tolerances: Tolerances,
    current: i32,
    namespace: &Str,
    selector: &LabelSelector,
    view: &View<'_>,
) -> Result<Proposal, String> {
    if view.loads.is_empty() {
        let cause = "the server could not find the requested resource (get pods.metrics.k8s.io)";
        return Err(unavailable(target, &format!("unable to fetch metrics from resource metrics API: {cause}")));
    }
    let pods: Vec<&Rc<Object>> = view.cache.list_in(Kind::Pod, namespace).filter(|pod| selector.matches(&pod.meta.labels)).collect();
    if pods.iter().all(|pod| usage(view.loads, pod, view.cache).is_none()) {
        return Err(unavailable(target, "no metrics returned from resource metrics API"));
    }
    let groups = group(target, &pods, view)?;
    if groups.samples.is_empty() {
        return Err("did not receive metrics for targeted pods (pods might be unready)".into());
    }
    weigh(target.goal, tolerances, current, groups).ok_or_else(|| "no metrics returned matched known pods".into())
}

fn unavailable(target: &Target, cause: &str) -> String {
    format!("unable to get metrics for resource {}: {cause}", target.resource)
}

fn group(target: &Target, pods: &[&Rc<Object>], view: &View<'_>) -> Result<Groups, String> {
    let mut groups = Groups::default();
    for object in pods {
        let Some(pod) = object.pod() else { continue };
        let request = if let Goal::Utilization(_) = target.goal { request(target, object, pod)? } else { 0 };
        if object.meta.is_deleting() || pod.status.phase == "Failed" {
            continue;
        }
        if pod.status.phase == "Pending" {
            groups.unready.push(request);
            continue;
        }
        let Some(used) = used(target, object, pod, view) else {
            groups.missing.push(request);
            continue;
        };
        if target.resource == "cpu" && is_unready(pod, view) {
            groups.unready.push(request);
            continue;
        }
        groups.ready += 1;
        groups.samples.push((used, request));
    }
    Ok(groups)
}

/// What a Pod, or its one container, uses: only CPU is known; it is shared evenly among the containers.
fn used(target: &Target, object: &Object, pod: &Pod, view: &View<'_>) -> Option<i64> {
    let all = usage(view.loads, object, view.cache).filter(|_| target.resource == "cpu")?;
    match &target.container {
        None => Some(all),
        Some(name) => {
            let containers = &pod.spec.containers;
            containers.iter().any(|c| c.name == *name).then(|| all / containers.len().max(1) as i64)
        }
    }
}

/// What a Pod, or its one container, requests.
fn request(target: &Target, object: &Object, pod: &Pod) -> Result<i64, String> {
    let (resource, name) = (&target.resource, &object.meta.name);
    let sidecars = pod.spec.init_containers.iter().filter(|c| c.restart_policy == "Always");
    let mut sum = 0;
    let mut found = target.container.is_none();
    for container in pod.spec.containers.iter().chain(sidecars) {
        if target.container.as_ref().is_some_and(|wanted| *wanted != container.name) {
            continue;
        }
        found = true;
        let Some(amount) = container.resources.requests.get(resource) else {
            return Err(format!("missing request for {resource} in container {} of Pod {name}", container.name));
        };
        sum += quantity::milli_of(amount);
    }
    match &target.container {
        Some(container) if !found => Err(format!("container {container} not found in Pod {name}")),
        _ => Ok(sum),
    }
}

/// Whether the sample of a Pod says nothing yet.
fn is_unready(pod: &Pod, view: &View<'_>) -> bool {
    let (Some(ready), Some(start)) = (pod.status.condition("Ready"), pod.status.start_time) else { return true };
    let since = ready.last_transition_time.unwrap_or_default();
    if view.since(start) < INITIALIZATION * SECOND as i64 {
        return ready.status == "False" || view.since(since) < WINDOW * SECOND as i64;
    }
    ready.status == "False" && start.0 + FIRST_READINESS > since.0
}

/// Usage against the target: ratio, percent and average.
fn ratio(goal: Goal, samples: &[(i64, i64)]) -> Option<(f64, Option<i64>, i64)> {
    let (used, requested) = samples.iter().fold((0, 0), |sum: (i64, i64), one| (sum.0 + one.0, sum.1 + one.1));
    let average = used / samples.len().max(1) as i64;
    Some(match goal {
        Goal::Utilization(_) if requested == 0 => return None,
        Goal::Utilization(target) => {
            let percent = used * 100 / requested;
            (percent as f64 / target as f64, Some(percent), average)
        }
        Goal::Value(target) => (average as f64 / target as f64, None, average),
    })
}

/// Pods without samples make a change smaller, never larger, and never turn it round.
fn weigh(goal: Goal, tolerances: Tolerances, current: i32, groups: Groups) -> Option<Proposal> {
    let (first, utilization, average) = ratio(goal, &groups.samples)?;
    let answer = |replicas: i32| Some(Proposal { replicas, utilization, average });
    let with_unready = !groups.unready.is_empty() && first > 1.0;
    if !with_unready && groups.missing.is_empty() {
        return answer(if tolerances.allow(first) { current } else { (first * groups.ready as f64).ceil() as i32 });
    }
    let mut samples = groups.samples;
    if first < 1.0 {
        // Going down, they are taken to use all they requested, or the target.
        samples.extend(groups.missing.iter().map(|request| match goal {
            Goal::Utilization(target) => (request * target.max(100) / 100, *request),
            Goal::Value(target) => (target, 0),
        }));
    } else if first > 1.0 {
        samples.extend(groups.missing.iter().map(|request| (0, *request)));
    }
    if with_unready {
        samples.extend(groups.unready.iter().map(|request| (0, *request)));
    }
    let (second, ..) = ratio(goal, &samples)?;
    if tolerances.allow(second) || (first < 1.0 && second > 1.0) || (first > 1.0 && second < 1.0) {
        return answer(current);
    }
    let wanted = (second * samples.len() as f64).ceil() as i32;
    let turned = (second < 1.0 && wanted > current) || (second > 1.0 && wanted < current);
    answer(if turned { current } else { wanted })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TENTH: Tolerances = Tolerances { up: 0.1, down: 0.1 };

    fn replicas(goal: Goal, current: i32, samples: &[(i64, i64)], unready: &[i64], missing: &[i64]) -> i32 {
        let groups = Groups { ready: samples.len(), samples: samples.to_vec(), unready: unready.to_vec(), missing: missing.to_vec() };
        weigh(goal, TENTH, current, groups).unwrap().replicas
    }

    #[test]
    fn replicas_follow_the_ratio() {
        let half = Goal::Utilization(50);
        let cases = [
            ("700m of 200m requested, 50 % wanted", replicas(half, 1, &[(700, 200)], &[], &[]), 7),
            ("within a tenth nothing changes", replicas(half, 3, &[(54, 100), (54, 100), (54, 100)], &[], &[]), 3),
            ("half the load, half the Pods", replicas(half, 4, &[(25, 100); 4], &[], &[]), 2),
            ("unready Pods count as idle going up", replicas(half, 2, &[(100, 100)], &[100], &[]), 2),
            ("going up for all that", replicas(half, 2, &[(300, 100)], &[100], &[]), 6),
            ("missing ones count as busy going down", replicas(half, 2, &[(10, 100)], &[], &[100]), 2),
            ("a value per Pod", replicas(Goal::Value(100), 2, &[(150, 0), (250, 0)], &[], &[]), 4),
        ];
        for (name, found, expected) in cases {
            assert_eq!(found, expected, "{name}");
        }
    }
}
