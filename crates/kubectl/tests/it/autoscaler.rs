//! Autoscalers by CPU and by memory, of Pods and of containers; several metrics at once.

use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::Kind;
use kubectl::Session;
use kubectl::parse::split;
use serde_json::Value;

const BOTH: &str = "requests: {cpu: 200m, memory: 100Mi}";
const CPU: &str =
    "{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}";
const MEMORY: &str = "{type: Resource, resource: {name: memory, target: {type: Utilization, averageUtilization: 50}}}";
const MEMORY_VALUE: &str =
    "{type: Resource, resource: {name: memory, target: {type: AverageValue, averageValue: 100Mi}}}";
const ONE_CONTAINER: &str = "{type: ContainerResource, containerResource: {name: memory, container: c, target: {type: Utilization, averageUtilization: 50}}}";
const NO_CONTAINER: &str = "{type: ContainerResource, containerResource: {name: memory, container: z, target: {type: Utilization, averageUtilization: 50}}}";

fn advance(sim: &mut Sim, seconds: u64) {
    sim.advance(sim.now().after(seconds * 1_000_000), usize::MAX);
}

fn kubectl(sim: &mut Sim, line: &str, stdin: &str) -> String {
    let mut session = Session::start(sim, &split(line), stdin);
    session.poll(sim);
    assert_eq!(session.exit, Some(0), "{}", session.stderr);
    session.stdout
}

/// A Deployment of so many Pods with an autoscaler, after these faults and a minute.
fn scaled(replicas: u32, resources: &str, metrics: &[&str], faults: &[&str]) -> Sim {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    let manifest = format!(
        "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web}}, spec: {{replicas: {replicas}, selector: {{matchLabels: {{app: web}}}}, \
         template: {{metadata: {{labels: {{app: web}}}}, spec: {{containers: [{{name: c, image: i, resources: {{{resources}}}}}, {{name: d, image: i, \
         resources: {{{resources}}}}}]}}}}}}}}\n---\n{{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {{name: web}}, spec: \
         {{scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: web}}, maxReplicas: 10, behavior: {{scaleDown: \
         {{stabilizationWindowSeconds: 0}}}}, metrics: [{}]}}}}",
        metrics.join(", ")
    );
    kubectl(&mut sim, "apply -f -", &manifest);
    for fault in faults {
        sim.fault(fault).unwrap();
    }
    advance(&mut sim, 50);
    sim
}

fn size(sim: &Sim) -> i64 {
    sim.store()
        .list(Kind::Deployment)
        .next()
        .unwrap()
        .to_value()["spec"]["replicas"]
        .as_i64()
        .unwrap()
}

fn status(sim: &Sim) -> Value {
    sim.store()
        .list(Kind::HorizontalPodAutoscaler)
        .next()
        .unwrap()
        .to_value()["status"]
        .clone()
}

fn condition(sim: &Sim, kind: &str) -> (String, String, String) {
    let status = status(sim);
    let found = status["conditions"]
        .as_array()
        .unwrap()
        .iter()
        .find(|c| c["type"] == kind)
        .unwrap()
        .clone();
    let text = |name: &str| found[name].as_str().unwrap().to_owned();
    (text("status"), text("reason"), text("message"))
}

#[test]
fn memory_scales_up_and_down_as_cpu_does() {
    // Two containers a Pod: 400m and 200Mi are requested by each Pod.
    for (name, metrics, load, replicas, wanted) in [
        (
            "by percentage, up",
            &[MEMORY][..],
            "memory-load app=web 400Mi",
            2,
            4,
        ),
        (
            "by percentage, down",
            &[MEMORY],
            "memory-load app=web 200Mi",
            4,
            2,
        ),
        (
            "within a tenth nothing changes",
            &[MEMORY],
            "memory-load app=web 210Mi",
            2,
            2,
        ),
        (
            "by value, up",
            &[MEMORY_VALUE],
            "memory-load app=web 400Mi",
            2,
            4,
        ),
        (
            "by value, down",
            &[MEMORY_VALUE],
            "memory-load app=web 200Mi",
            4,
            2,
        ),
        (
            "more than there is",
            &[MEMORY],
            "memory-load app=web 16Ei",
            2,
            10,
        ),
        (
            "a container's half",
            &[ONE_CONTAINER],
            "memory-load app=web 400Mi",
            2,
            4,
        ),
    ] {
        assert_eq!(
            size(&scaled(replicas, BOTH, metrics, &[load])),
            wanted,
            "{name}"
        );
    }
}

#[test]
fn the_highest_proposal_wins() {
    let loads = ["cpu-load app=web 800m", "memory-load app=web 700Mi"];
    let sim = scaled(2, BOTH, &[CPU, MEMORY], &loads);
    assert_eq!(size(&sim), 7);
    assert!(
        status(&sim)["currentMetrics"][1]["resource"]["current"]["averageUtilization"].is_i64(),
        "{}",
        status(&sim)
    );
    let (active, _, message) = condition(&sim, "ScalingActive");
    let from = "the HPA was able to successfully calculate a replica count from memory resource utilization (percentage of request)";
    assert_eq!((active.as_str(), message.as_str()), ("True", from));
}

#[test]
fn while_a_metric_cannot_be_had_nothing_is_scaled_down() {
    // Nobody has said what memory is used; CPU alone would ask for one Pod.
    let sim = scaled(3, BOTH, &[CPU, MEMORY], &["cpu-load app=web 100m"]);
    assert_eq!(size(&sim), 3);
    let (active, reason, message) = condition(&sim, "ScalingActive");
    let cause = "the HPA was unable to compute the replica count: failed to get memory utilization: did not receive metrics for targeted \
                 pods (pods might be unready)";
    assert_eq!(
        (active.as_str(), reason.as_str(), message.as_str()),
        ("False", "FailedGetResourceMetric", cause)
    );
    let events = sim
        .store()
        .list(Kind::Event)
        .map(|e| e.to_value())
        .find(|e| e["reason"] == "FailedComputeMetricsReplicas")
        .unwrap();
    let whole = "invalid metrics (1 invalid out of 2), first error is: failed to get memory resource metric value: failed to get memory \
                 utilization: did not receive metrics for targeted pods (pods might be unready)";
    assert_eq!(events["message"], whole);
    // Up it goes all the same.
    let sim = scaled(2, BOTH, &[MEMORY, CPU], &["cpu-load app=web 1600m"]);
    assert_eq!(size(&sim), 8);
    assert_eq!(condition(&sim, "ScalingActive").1, "ValidMetricFound");
}

#[test]
fn what_is_lacking_is_said_in_upstreams_words() {
    let memory = &["memory-load app=web 400Mi"][..];
    for (resources, metric, faults, reason, cause) in [
        (
            BOTH,
            MEMORY,
            &[][..],
            "FailedGetResourceMetric",
            "failed to get memory utilization: unable to get metrics for resource memory: unable to fetch metrics from resource metrics API: the \
             server could not find the requested resource (get pods.metrics.k8s.io)",
        ),
        (
            BOTH,
            MEMORY,
            &["memory-load app=other 1Gi"],
            "FailedGetResourceMetric",
            "failed to get memory utilization: unable to get metrics for resource memory: no metrics returned from resource metrics API",
        ),
        (
            BOTH,
            NO_CONTAINER,
            memory,
            "FailedGetContainerResourceMetric",
            "failed to get memory utilization: unable to get metrics for resource memory: failed to get container metrics: container z not \
             present in metrics for pod default/POD",
        ),
        (
            "requests: {cpu: 200m}",
            MEMORY,
            memory,
            "FailedGetResourceMetric",
            "failed to get memory utilization: missing request for memory in container c of Pod POD",
        ),
    ] {
        let sim = scaled(1, resources, &[metric], faults);
        let pod = sim
            .store()
            .list(Kind::Pod)
            .next()
            .unwrap()
            .meta
            .name
            .to_string();
        let (active, found, message) = condition(&sim, "ScalingActive");
        assert_eq!((active.as_str(), found.as_str()), ("False", reason));
        assert_eq!(
            message.replace(&pod, "POD"),
            format!("the HPA was unable to compute the replica count: {cause}")
        );
    }
    // By value no request is needed.
    assert_eq!(
        size(&scaled(
            2,
            "",
            &[MEMORY_VALUE],
            &["memory-load app=web 400Mi"]
        )),
        4
    );
}

#[test]
fn what_was_said_of_a_load_can_be_taken_back() {
    let mut sim = scaled(2, BOTH, &[MEMORY], &["memory-load app=web 400Mi"]);
    sim.fault("memory-load app=web none").unwrap();
    advance(&mut sim, 20);
    let (_, _, message) = condition(&sim, "ScalingActive");
    assert!(
        message.ends_with(
            "the server could not find the requested resource (get pods.metrics.k8s.io)"
        ),
        "{message}"
    );
    assert!(sim.fault("memory-load app=web nothing").is_err());
}

#[test]
fn memory_is_shown_in_bytes() {
    let mut sim = scaled(
        2,
        BOTH,
        &[MEMORY_VALUE, MEMORY],
        &["memory-load app=web 200Mi"],
    );
    assert_eq!(
        status(&sim)["currentMetrics"][0]["resource"]["current"]["averageValue"],
        "104857600"
    );
    let shown = kubectl(&mut sim, "get hpa", "");
    assert!(
        shown.contains("memory: 104857600/100Mi, memory: 50%/50%"),
        "{shown}"
    );
    let told = kubectl(&mut sim, "describe hpa web", "");
    assert!(
        told.contains(
            "resource memory on pods  (as a percentage of request):  50% (104857600) / 50%"
        ),
        "{told}"
    );
}

#[test]
fn what_a_pod_requests_as_a_whole_counts_before_its_containers() {
    let pod = |requests: &str| {
        let mut sim = Sim::new(ClusterConfig::default(), 1);
        let manifest = format!(
            "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web}}, spec: {{selector: {{matchLabels: {{app: web}}}}, template: {{metadata: \
             {{labels: {{app: web}}}}, spec: {{resources: {{requests: {{{requests}}}}}, containers: [{{name: c, image: i}}]}}}}}}}}\n---\n\
             {{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {{name: web}}, spec: {{scaleTargetRef: {{apiVersion: apps/v1, \
             kind: Deployment, name: web}}, maxReplicas: 10, metrics: [{MEMORY}]}}}}"
        );
        kubectl(&mut sim, "apply -f -", &manifest);
        sim.fault("memory-load app=web 100Mi").unwrap();
        advance(&mut sim, 20);
        sim
    };
    assert_eq!(size(&pod("memory: 50Mi")), 4);
    let message = condition(&pod("cpu: 1"), "ScalingActive").2;
    assert!(
        message.contains("missing pod-level request for memory in Pod web-"),
        "{message}"
    );
}
