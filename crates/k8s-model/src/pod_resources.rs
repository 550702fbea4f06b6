//! Total requests and limits of a Pod.
//!
//! Models `component-helpers/resource/helpers.go`, which the scheduler, quotas, LimitRanges, the kubelet and kubectl share.

use super::Str;
use super::pod::{Container, ContainerStatus, Pod, PodSpec, PodStatus, Resources};
use super::quantity::Quantity;
use serde_json::Value;
use std::collections::BTreeMap;

/// Amounts by resource name, a `ResourceList` of the API.
pub type ResourceList = BTreeMap<Str, Quantity>;

/// Requests for scoring of a container without requests: 100m and 200Mi (`pkg/scheduler/util/pod_resources.go`).
const DEFAULT_MILLI_CPU: i64 = 100;
const DEFAULT_MEMORY: i64 = 200 << 20;

/// Options of [`PodSpec::total_requests`] and [`PodSpec::total_limits`].
#[derive(Clone, Copy, Debug, Default)]
pub struct PodResourcesOptions<'a> {
    /// Status whose container resources count as well, during an in-place resize; `None` to read the spec only.
    pub status: Option<&'a PodStatus>,
    /// Leaves out the overhead of the Pod's RuntimeClass.
    pub exclude_overhead: bool,
    /// Requests of containers that do not request these resources.
    pub missing_requests: Option<&'a ResourceList>,
}

impl PodSpec {
    /// Returns the total requests. A container's missing request is its limit, as the defaults of a Pod set it.
    pub fn total_requests(&self, options: PodResourcesOptions<'_>) -> ResourceList {
        let mut total = aggregate(self, |container, resizable| {
            let mut amounts: ResourceList = amounts(&container.resources.limits)
                .chain(amounts(&container.resources.requests))
                .collect();
            if let Some((all, status)) = status_of(options.status.filter(|_| resizable), container)
            {
                if is_resize_infeasible(all) {
                    amounts.clear();
                }
                raise(
                    &mut amounts,
                    status
                        .resources
                        .iter()
                        .flat_map(|of| json_amounts(&of["requests"])),
                );
                raise(
                    &mut amounts,
                    status
                        .allocated_resources
                        .iter()
                        .flat_map(|of| json_amounts(of)),
                );
            }
            for (name, amount) in options.missing_requests.into_iter().flatten() {
                amounts.entry(name.clone()).or_insert(*amount);
            }
            amounts
        });
        total.extend(amounts(&self.resources.requests).filter(|(name, _)| is_pod_level(name)));
        if !options.exclude_overhead {
            add(&mut total, amounts(&self.overhead));
        }
        total
    }

    /// Returns the total limits. Overhead is added to the limits that are set.
    pub fn total_limits(&self, options: PodResourcesOptions<'_>) -> ResourceList {
        let mut total = aggregate(self, |container, resizable| {
            let mut own: ResourceList = amounts(&container.resources.limits).collect();
            if let Some((all, status)) = status_of(options.status.filter(|_| resizable), container)
            {
                if is_resize_infeasible(all) {
                    own.clear();
                }
                raise(
                    &mut own,
                    status
                        .resources
                        .iter()
                        .flat_map(|of| json_amounts(&of["limits"])),
                );
            }
            own
        });
        total.extend(amounts(&self.resources.limits).filter(|(name, _)| is_pod_level(name)));
        if !options.exclude_overhead {
            for (name, amount) in amounts(&self.overhead) {
                if let Some(limit) = total.get_mut(&name).filter(|limit| !limit.is_zero()) {
                    *limit = limit.plus(amount);
                }
            }
        }
        total
    }

    /// Returns the total requests with defaults for containers without requests, which count in scores
    /// (`getNonMissingContainerRequests` of `pkg/scheduler/framework/types.go`).
    pub(super) fn scoring_requests(&self) -> Resources {
        let mut missing = ResourceList::from([
            (Str::new_static("cpu"), Quantity::millis(DEFAULT_MILLI_CPU)),
            (Str::new_static("memory"), Quantity::units(DEFAULT_MEMORY)),
        ]);
        if self
            .resources
            .requests
            .keys()
            .any(|name| is_pod_level(name))
        {
            let requested = self.total_requests(PodResourcesOptions::default());
            missing.retain(|name, _| !requested.contains_key(name));
        }
        Resources::from_amounts(&self.total_requests(PodResourcesOptions {
            missing_requests: Some(&missing),
            ..Default::default()
        }))
    }

    /// Returns true if resources are set for the Pod as a whole.
    pub fn has_pod_level_resources(&self) -> bool {
        let set = &self.resources;
        set.requests
            .keys()
            .chain(set.limits.keys())
            .any(|name| is_pod_level(name))
    }
}

impl Pod {
    /// Returns the total requests that a node accounts for: during an in-place resize, the larger of those requested and those in effect.
    pub fn requests(&self) -> Resources {
        let mut statuses = self.status.every_container();
        if statuses.all(|status| status.resources.is_none()) {
            return self.spec.requests;
        }
        Resources::from_amounts(&self.spec.total_requests(PodResourcesOptions {
            status: Some(&self.status),
            ..Default::default()
        }))
    }
}

impl Resources {
    /// Reads amounts from a resource list.
    pub fn from_amounts(amounts: &ResourceList) -> Resources {
        let of =
            |name: &str, unit: fn(Quantity) -> i64| amounts.get(name).map_or(0, |of| unit(*of));
        Resources {
            cpu: of("cpu", Quantity::as_millis),
            memory: of("memory", Quantity::as_units),
            ephemeral: of("ephemeral-storage", Quantity::as_units),
        }
    }
}

/// Returns true for a resource that can be set for the Pod as a whole.
fn is_pod_level(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || name.starts_with("hugepages-")
}

/// Returns true for a resource that the scheduler counts by name: extended resources and huge pages.
pub(super) fn is_scalar(name: &str) -> bool {
    name.contains('/') || name.starts_with("hugepages-")
}

fn amounts(list: &BTreeMap<Str, Value>) -> impl Iterator<Item = (Str, Quantity)> {
    list.iter()
        .filter_map(|(name, value)| Some((name.clone(), Quantity::from_json(value)?)))
}

fn json_amounts(list: &Value) -> impl Iterator<Item = (Str, Quantity)> {
    list.as_object()
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| Some((name.into(), Quantity::from_json(value)?)))
}

fn status_of<'a>(
    status: Option<&'a PodStatus>,
    container: &Container,
) -> Option<(&'a PodStatus, &'a ContainerStatus)> {
    let status = status?;
    let own = status
        .every_container()
        .find(|own| own.name == container.name && own.resources.is_some())?;
    Some((status, own))
}

fn is_resize_infeasible(status: &PodStatus) -> bool {
    status
        .condition("PodResizePending")
        .is_some_and(|condition| condition.reason == "Infeasible")
}

/// Sums the containers and sidecars, and raises the sum to the largest init container: each runs beside the sidecars that precede it.
/// `own` returns the amounts of a container; its second argument is true if the container can be resized in place.
fn aggregate(spec: &PodSpec, own: impl Fn(&Container, bool) -> ResourceList) -> ResourceList {
    let mut total = ResourceList::new();
    for container in &spec.containers {
        add(&mut total, own(container, true));
    }
    let (mut sidecars, mut largest) = (ResourceList::new(), ResourceList::new());
    for container in &spec.init_containers {
        let mut amounts = own(container, container.is_sidecar());
        if container.is_sidecar() {
            add(&mut total, amounts.clone());
            add(&mut sidecars, amounts);
            amounts = sidecars.clone();
        } else {
            add(&mut amounts, sidecars.clone());
        }
        raise(&mut largest, amounts);
    }
    raise(&mut total, largest);
    total
}

/// Adds amounts to a list.
pub fn add(list: &mut ResourceList, more: impl IntoIterator<Item = (Str, Quantity)>) {
    for (name, amount) in more {
        let sum = list.entry(name).or_insert(Quantity::ZERO);
        *sum = sum.plus(amount);
    }
}

/// Raises a list to the larger of both amounts of each resource.
fn raise(list: &mut ResourceList, other: impl IntoIterator<Item = (Str, Quantity)>) {
    for (name, amount) in other {
        let most = list.entry(name).or_insert(amount);
        *most = amount.max(*most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn spec(value: Value) -> std::rc::Rc<PodSpec> {
        PodSpec::from_raw(value).unwrap()
    }

    fn container(name: &str, cpu: &str) -> Value {
        json!({"name": name, "resources": {"requests": {"cpu": cpu}, "limits": {"cpu": cpu}}})
    }

    fn sidecar(name: &str, cpu: &str) -> Value {
        let mut value = container(name, cpu);
        value["restartPolicy"] = json!("Always");
        value
    }

    fn cpu(list: &ResourceList) -> i64 {
        Resources::from_amounts(list).cpu
    }

    #[test]
    fn init_container_runs_beside_the_sidecars_before_it() {
        let spec = spec(json!({
            "containers": [container("main", "100m")],
            "initContainers": [container("first", "450m"), sidecar("proxy", "200m"), container("setup", "300m"), sidecar("late", "50m")],
        }));
        // setup + proxy = 500m; main + proxy + late = 350m; first alone = 450m.
        let options = PodResourcesOptions::default();
        assert_eq!(cpu(&spec.total_requests(options)), 500);
        assert_eq!(cpu(&spec.total_limits(options)), 500);
        assert_eq!(spec.requests.cpu, 500);
    }

    #[test]
    fn overhead_is_added_to_requests_and_to_limits_that_are_set() {
        let spec = spec(json!({
            "containers": [container("main", "1")],
            "overhead": {"cpu": "250m", "memory": "120Mi"},
        }));
        let options = PodResourcesOptions::default();
        let requests = Resources::from_amounts(&spec.total_requests(options));
        assert_eq!((requests.cpu, requests.memory), (1250, 120 << 20));
        let limits = spec.total_limits(options);
        assert_eq!((cpu(&limits), limits.contains_key("memory")), (1250, false));
        let without = PodResourcesOptions {
            exclude_overhead: true,
            ..options
        };
        assert_eq!(cpu(&spec.total_requests(without)), 1000);
    }

    #[test]
    fn pod_level_resources_replace_those_of_the_containers() {
        let spec = spec(json!({
            "containers": [container("main", "1")],
            "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "3"}},
        }));
        let options = PodResourcesOptions::default();
        assert_eq!(cpu(&spec.total_requests(options)), 2000);
        assert_eq!(cpu(&spec.total_limits(options)), 3000);
    }

    #[test]
    fn scores_count_defaults_of_each_container_without_requests() {
        let spec = spec(json!({
            "containers": [container("main", "1"), {"name": "bare"}, container("zero", "0")],
        }));
        assert_eq!(spec.scoring.cpu, 1100);
        assert_eq!(spec.scoring.memory, 3 * DEFAULT_MEMORY);
        assert_eq!(spec.requests.memory, 0);
    }

    #[test]
    fn resize_counts_the_larger_of_spec_and_status_unless_infeasible() {
        let mut pod = Pod::new(spec(json!({"containers": [container("main", "1")]})));
        let own = ContainerStatus {
            name: "main".into(),
            resources: Some(json!({"requests": {"cpu": "3"}}).into()),
            allocated_resources: Some(json!({"cpu": "2"}).into()),
            ..Default::default()
        };
        pod.status.container_statuses = vec![own].into();
        assert_eq!(pod.requests().cpu, 3000);
        let mut larger = Pod::new(spec(json!({"containers": [container("main", "8")]})));
        larger.status = pod.status;
        assert_eq!(larger.requests().cpu, 8000);
        larger.status.set_condition(crate::pod::PodCondition {
            kind: "PodResizePending".into(),
            reason: "Infeasible".into(),
            ..Default::default()
        });
        assert_eq!(larger.requests().cpu, 3000);
    }
}
