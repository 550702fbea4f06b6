//! Replica count proposed by a metric.
//!
//! Models `pkg/controller/podautoscaler/replica_calculator.go`.

use cluster_network::usage::Usage;
use controller_runtime::client::PassView;
use k8s_model::pod::{Container, Pod};
use k8s_model::quantity;
use k8s_model::selector::LabelSelector;
use k8s_model::time::SECOND;
use k8s_model::{Object, Str};
use std::rc::Rc;

/// Period after its start during which a Pod counts only when it is ready, in seconds.
const CPU_INITIALIZATION_S: i64 = 300;
/// Period after its start within which a Pod that became unready is taken as never ready, in seconds.
const INITIAL_READINESS_S: i64 = 30;
/// Seconds covered by a sample.
const SAMPLE_WINDOW_S: i64 = 1;

/// Relative deviations of usage from the target that cause no change.
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

/// Target for a resource.
#[derive(Clone, Debug)]
pub struct MetricTarget {
    pub resource: Str,
    /// Container that counts; `None` for the whole Pod.
    pub container: Option<Str>,
    pub goal: MetricGoal,
}

/// Target average.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MetricGoal {
    /// Percent of the Pods' requests.
    Utilization(i64),
    /// Absolute value in thousandths.
    Value(i64),
}

/// Result of the calculation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Proposal {
    pub replicas: i32,
    /// Usage in percent of the requests.
    pub utilization: Option<i64>,
    /// Average usage in thousandths.
    pub average: i64,
}

/// Pods of a workload, classified for the calculation.
#[derive(Default)]
struct Groups {
    ready: usize,
    /// Usage and request of each Pod that has a sample.
    samples: Vec<(i64, i64)>,
    /// Requests of the Pods without a meaningful sample.
    unready: Vec<i64>,
    missing: Vec<i64>,
}

/// Returns the number of replicas that the target asks for.
pub fn propose(
    target: &MetricTarget,
    tolerances: Tolerances,
    current: i32,
    namespace: &Str,
    selector: &LabelSelector,
    view: &PassView<'_>,
    usage: &mut Usage<'_>,
) -> Result<Proposal, String> {
    if !usage.is_available() {
        let cause = match usage.is_registered() {
            true => {
                "the server is currently unable to handle the request (get pods.metrics.k8s.io)"
            }
            false => "the server could not find the requested resource (get pods.metrics.k8s.io)",
        };
        return Err(unavailable(
            target,
            &format!("unable to fetch metrics from resource metrics API: {cause}"),
        ));
    }
    let pods: Vec<&Rc<Object>> =
        view.cache
            .pods_selected(namespace, &selector.match_labels, &|labels| {
                selector.matches(labels)
            });
    let known: Vec<&&Rc<Object>> = pods.iter().filter(|pod| usage.is_known(pod)).collect();
    if known.is_empty() {
        return Err(unavailable(
            target,
            "no metrics returned from resource metrics API",
        ));
    }
    if let Some(name) = &target.container
        && let Some(pod) = known
            .iter()
            .find(|pod| running(pod.body()).all(|container| container.name != *name))
    {
        let cause = format!(
            "container {name} not present in metrics for pod {namespace}/{}",
            pod.meta.name
        );
        return Err(unavailable(
            target,
            &format!("failed to get container metrics: {cause}"),
        ));
    }
    let groups = group(target, &pods, view, usage)?;
    weigh(target.goal, tolerances, current, groups)
        .ok_or_else(|| "no metrics returned matched known pods".into())
}

fn unavailable(target: &MetricTarget, cause: &str) -> String {
    format!(
        "unable to get metrics for resource {}: {cause}",
        target.resource
    )
}

/// Classification of a Pod for the calculation.
enum PodReadiness {
    Sampled(i64),
    Unready,
    Missing,
}

fn group(
    target: &MetricTarget,
    pods: &[&Rc<Object>],
    view: &PassView<'_>,
    usage: &mut Usage<'_>,
) -> Result<Groups, String> {
    let standing: Vec<Option<PodReadiness>> = pods
        .iter()
        .map(|object| stand(target, object, view, usage))
        .collect();
    if !standing
        .iter()
        .any(|one| matches!(one, Some(PodReadiness::Sampled(_))))
    {
        return Err("did not receive metrics for targeted pods (pods might be unready)".into());
    }
    let mut groups = Groups::default();
    for (object, standing) in pods.iter().zip(standing) {
        // Terminating and failed Pods are not counted, but must have requests like the others.
        let request = if let MetricGoal::Utilization(_) = target.goal {
            request(target, object, object.body())?
        } else {
            0
        };
        match standing {
            Some(PodReadiness::Sampled(used)) => {
                groups.ready += 1;
                groups.samples.push((used, request));
            }
            Some(PodReadiness::Unready) => groups.unready.push(request),
            Some(PodReadiness::Missing) => groups.missing.push(request),
            None => {}
        }
    }
    Ok(groups)
}

fn stand(
    target: &MetricTarget,
    object: &Object,
    view: &PassView<'_>,
    usage: &mut Usage<'_>,
) -> Option<PodReadiness> {
    let pod = object.pod()?;
    if object.meta.is_deleting() || pod.status.phase == "Failed" {
        return None;
    }
    if pod.status.phase == "Pending" {
        return Some(PodReadiness::Unready);
    }
    let Some(used) = used(target, object, pod, usage) else {
        return Some(PodReadiness::Missing);
    };
    // Memory is meaningful from the start, CPU is not while a Pod starts.
    Some(if target.resource == "cpu" && is_unready(pod, view) {
        PodReadiness::Unready
    } else {
        PodReadiness::Sampled(used)
    })
}

/// Returns the containers that run side by side, including sidecars.
fn running(pod: &Pod) -> impl Iterator<Item = &Container> {
    pod.spec.serving_containers()
}

/// Returns the usage of a Pod, or of its target container; usage is shared evenly among the containers.
fn used(target: &MetricTarget, object: &Object, pod: &Pod, usage: &mut Usage<'_>) -> Option<i64> {
    let all = usage.of(&target.resource, object)?;
    Some(if target.container.is_none() {
        all
    } else {
        all / running(pod).count().max(1) as i64
    })
}

/// Returns the request of a Pod, or of its target container.
fn request(target: &MetricTarget, object: &Object, pod: &Pod) -> Result<i64, String> {
    let (resource, name) = (&target.resource, &object.meta.name);
    let whole = &pod.spec.raw["resources"]["requests"];
    if target.container.is_none()
        && whole
            .as_object()
            .is_some_and(|requests| !requests.is_empty())
    {
        return match whole.get(resource.as_str()) {
            Some(amount) => Ok(quantity::milli_of(amount)),
            None => Err(format!(
                "missing pod-level request for {resource} in Pod {name}"
            )),
        };
    }
    let mut sum = 0i64;
    for container in running(pod).filter(|c| {
        target
            .container
            .as_ref()
            .is_none_or(|wanted| *wanted == c.name)
    }) {
        let Some(amount) = container.resources.requests.get(resource) else {
            return Err(format!(
                "missing request for {resource} in container {} of Pod {name}",
                container.name
            ));
        };
        sum = sum.saturating_add(quantity::milli_of(amount));
    }
    match &target.container {
        Some(container) if running(pod).all(|c| c.name != *container) => {
            Err(format!("container {container} not found in Pod {name}"))
        }
        _ => Ok(sum),
    }
}

/// Returns true if a Pod's sample is not meaningful yet.
fn is_unready(pod: &Pod, view: &PassView<'_>) -> bool {
    let (Some(ready), Some(start)) = (pod.status.condition("Ready"), pod.status.start_time) else {
        return true;
    };
    let since = ready.last_transition_time.unwrap_or_default();
    if view.since(start) < CPU_INITIALIZATION_S * SECOND as i64 {
        return ready.status == "False" || view.since(since) < SAMPLE_WINDOW_S * SECOND as i64;
    }
    ready.status == "False" && start.seconds() + INITIAL_READINESS_S > since.seconds()
}

/// Returns usage against the target: ratio, percent and average.
fn ratio(goal: MetricGoal, samples: &[(i64, i64)]) -> Option<(f64, Option<i64>, i64)> {
    let (used, requested) = samples.iter().fold((0i128, 0i128), |sum, one| {
        (sum.0 + i128::from(one.0), sum.1 + i128::from(one.1))
    });
    let narrow = |wide: i128| i64::try_from(wide).unwrap_or(i64::MAX);
    let average = narrow(used / samples.len().max(1) as i128);
    Some(match goal {
        MetricGoal::Utilization(_) if requested == 0 => return None,
        MetricGoal::Utilization(target) => {
            let percent = narrow(used * 100 / requested);
            (percent as f64 / target as f64, Some(percent), average)
        }
        MetricGoal::Value(target) => (average as f64 / target as f64, None, average),
    })
}

/// Dampens the change for Pods without samples: they make it smaller, never larger, and never reverse it.
fn weigh(
    goal: MetricGoal,
    tolerances: Tolerances,
    current: i32,
    groups: Groups,
) -> Option<Proposal> {
    let (first, utilization, average) = ratio(goal, &groups.samples)?;
    let answer = |replicas: i32| {
        Some(Proposal {
            replicas,
            utilization,
            average,
        })
    };
    let with_unready = !groups.unready.is_empty() && first > 1.0;
    if !with_unready && groups.missing.is_empty() {
        return answer(if tolerances.allow(first) {
            current
        } else {
            (first * groups.ready as f64).ceil() as i32
        });
    }
    let mut samples = groups.samples;
    if first < 1.0 {
        // When scaling down, Pods without samples are assumed to use all they requested, or the target.
        samples.extend(groups.missing.iter().map(|request| match goal {
            MetricGoal::Utilization(target) => {
                (request.saturating_mul(target.max(100)) / 100, *request)
            }
            MetricGoal::Value(target) => (target, 0),
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

    fn replicas(
        goal: MetricGoal,
        current: i32,
        samples: &[(i64, i64)],
        unready: &[i64],
        missing: &[i64],
    ) -> i32 {
        let groups = Groups {
            ready: samples.len(),
            samples: samples.to_vec(),
            unready: unready.to_vec(),
            missing: missing.to_vec(),
        };
        weigh(goal, TENTH, current, groups).unwrap().replicas
    }

    #[test]
    fn replicas_follow_the_ratio() {
        let half = MetricGoal::Utilization(50);
        let cases = [
            (
                "700m of 200m requested, 50 % wanted",
                replicas(half, 1, &[(700, 200)], &[], &[]),
                7,
            ),
            (
                "within a tenth nothing changes",
                replicas(half, 3, &[(54, 100), (54, 100), (54, 100)], &[], &[]),
                3,
            ),
            (
                "half the load, half the Pods",
                replicas(half, 4, &[(25, 100); 4], &[], &[]),
                2,
            ),
            (
                "unready Pods count as idle going up",
                replicas(half, 2, &[(100, 100)], &[100], &[]),
                2,
            ),
            (
                "going up for all that",
                replicas(half, 2, &[(300, 100)], &[100], &[]),
                6,
            ),
            (
                "missing ones count as busy going down",
                replicas(half, 2, &[(10, 100)], &[], &[100]),
                2,
            ),
            (
                "a value per Pod",
                replicas(MetricGoal::Value(100), 2, &[(150, 0), (250, 0)], &[], &[]),
                4,
            ),
        ];
        for (name, found, expected) in cases {
            assert_eq!(found, expected, "{name}");
        }
    }
}
