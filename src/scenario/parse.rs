//! Scenario text to a scenario.

use crate::api::Timestamp;
use crate::api::time::SECOND;
use crate::engine::cluster::{ClusterConfig, NodeConfig, Timing};
use crate::manifest;
use serde_json::Value;

/// A cluster and the steps that are done to it.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its short name.
    pub name: String,
    /// One sentence.
    pub description: String,
    /// The cluster before the first step.
    pub cluster: ClusterConfig,
    /// The steps, in order.
    pub steps: Vec<Step>,
}

/// How long a step waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// Until nothing but Events has changed for 3 s; at most 90 s.
    Settled,
    /// So many microseconds.
    For(u64),
}

/// One step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// `kubectl apply -f -` of a manifest.
    Apply(String),
    /// A kubectl command line.
    Kubectl {
        /// Without the word kubectl.
        line: String,
        /// Whether it goes on beside the next steps.
        background: bool,
    },
    /// Time passes.
    Wait(Wait),
    /// Something breaks.
    Fault(String),
}

impl Step {
    /// The word a trace uses for this kind of step.
    pub fn action(&self) -> &'static str {
        match self {
            Step::Apply(_) => "apply",
            Step::Kubectl { .. } => "kubectl",
            Step::Wait(_) => "wait",
            Step::Fault(_) => "fault",
        }
    }
}

/// Reads a scenario; the message says where it is wrong.
pub fn parse(text: &str) -> Result<Scenario, String> {
    let mut read = manifest::parse_file(text.as_bytes());
    if let Some(fault) = read.diagnostics.first() {
        return Err(format!("line {}: {}", fault.line, fault.message));
    }
    let parsed = read.documents.pop().map(|d| d.value).unwrap_or(Value::Null);
    let steps = parsed.get("steps").and_then(Value::as_array).ok_or("steps: a list of steps is required")?;
    Ok(Scenario {
        name: word(&parsed, "name"),
        description: word(&parsed, "description"),
        cluster: cluster(parsed.get("cluster").unwrap_or(&Value::Null))?,
        steps: steps.iter().enumerate().map(|(i, s)| step(s).map_err(|e| format!("steps[{i}]: {e}"))).collect::<Result<_, _>>()?,
    })
}

fn word(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or("").to_string()
}

/// Reads what a scenario says about its cluster.
pub fn cluster(value: &Value) -> Result<ClusterConfig, String> {
    let mut config = match value.get("nodes") {
        None => ClusterConfig::default(),
        Some(Value::Number(n)) => ClusterConfig::with_nodes(n.as_u64().unwrap_or(3).min(10_000) as usize),
        Some(Value::Array(list)) => ClusterConfig { nodes: list.iter().map(node).collect(), ..ClusterConfig::default() },
        Some(_) => return Err("cluster.nodes: a number or a list is required".into()),
    };
    let timing = value.get("timing").unwrap_or(&Value::Null);
    let span = |key: &str, default: u64| match timing.get(key) {
        None => Ok(default),
        Some(v) => duration(v).ok_or_else(|| format!("cluster.timing.{key}: not a duration: {v}")),
    };
    let default = Timing::default();
    config.timing = Timing {
        pod_start: span("podStart", default.pod_start)?,
        pod_stop: span("podStop", default.pod_stop)?,
        provision: span("provision", default.provision)?,
    };
    if let Some(start) = value.get("startTime").and_then(Value::as_str) {
        config.epoch = Timestamp::parse(start).ok_or_else(|| format!("cluster.startTime: not a time: {start}"))?;
    }
    let option = |path: &str, default: u64| match value.pointer(path) {
        None => Ok(default),
        Some(v) => duration(v).ok_or_else(|| format!("cluster{}: not a duration: {v}", path.replace('/', "."))),
    };
    config.node_monitor_grace = option("/controllerManager/nodeMonitorGracePeriod", config.node_monitor_grace)?;
    config.node_monitor_period = option("/controllerManager/nodeMonitorPeriod", config.node_monitor_period)?.max(1);
    if let Some(kept) = value.pointer("/controllerManager/terminatedPodGCThreshold").and_then(Value::as_u64) {
        config.ended_pods_kept = kept as usize;
    }
    let limit = |name: &str| value.pointer("/controllerManager").and_then(|manager| manager.get(name)).and_then(Value::as_f64);
    if let (qps, burst) = (limit("kubeAPIQPS"), limit("kubeAPIBurst"))
        && (qps.is_some() || burst.is_some())
    {
        config.client_limit = Some((qps.unwrap_or(20.0).clamp(0.001, 1e6), burst.unwrap_or(30.0).clamp(1.0, 1e6) as u32));
    }
    if let Some(seconds) = value.pointer("/admission/defaultTolerationSeconds").and_then(Value::as_i64) {
        config.default_toleration_seconds = seconds;
    }
    config.max_unavailable_statefulset = value.pointer("/featureGates/MaxUnavailableStatefulSet").and_then(Value::as_bool).unwrap_or(false);
    Ok(config)
}

fn node(value: &Value) -> NodeConfig {
    let allocatable = value.get("allocatable").and_then(Value::as_object);
    NodeConfig { name: word(value, "name"), allocatable: allocatable.into_iter().flatten().map(|(k, v)| (k.clone(), v.clone())).collect() }
}

/// Reads one step.
pub fn step(value: &Value) -> Result<Step, String> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(String::from);
    if let Some(manifest) = text("apply") {
        return Ok(Step::Apply(manifest));
    }
    if let Some(line) = text("kubectl") {
        let background = value.get("background").and_then(Value::as_bool).unwrap_or(false);
        return Ok(Step::Kubectl { line, background });
    }
    if let Some(fault) = text("fault") {
        return Ok(Step::Fault(fault));
    }
    match value.get("wait") {
        Some(Value::String(s)) if s == "settled" => Ok(Step::Wait(Wait::Settled)),
        Some(v) => duration(v).map(|d| Step::Wait(Wait::For(d))).ok_or_else(|| format!("wait: neither \"settled\" nor a duration: {v}")),
        None => Err("one of apply, kubectl, wait, fault is required".into()),
    }
}

/// `1s`, `500ms`, `2m`, or a number of seconds.
fn duration(value: &Value) -> Option<u64> {
    if let Some(seconds) = value.as_f64() {
        return in_micros(seconds, 1.0);
    }
    let text = value.as_str()?;
    let split = text.find(|c: char| c.is_ascii_alphabetic())?;
    let unit = match &text[split..] {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    in_micros(text[..split].parse().ok()?, unit)
}

fn in_micros(amount: f64, unit: f64) -> Option<u64> {
    let micros = amount * unit * SECOND as f64;
    (0.0..1e15).contains(&micros).then_some(micros.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_is_read_whole() {
        let text = "name: a\ncluster: {nodes: 2, timing: {podStart: 250ms}}\nsteps:\n- apply: |\n    kind: X\n- kubectl: get pods\n  background: true\n- wait: settled\n- wait: 1.5s\n- fault: node-down node-1\n";
        let scenario = parse(text).unwrap();
        assert_eq!((scenario.cluster.nodes.len(), scenario.cluster.timing.pod_start), (2, 250_000));
        assert_eq!(
            scenario.steps,
            [
                Step::Apply("kind: X\n".into()),
                Step::Kubectl { line: "get pods".into(), background: true },
                Step::Wait(Wait::Settled),
                Step::Wait(Wait::For(1_500_000)),
                Step::Fault("node-down node-1".into()),
            ]
        );
    }

    #[test]
    fn a_bad_scenario_says_where() {
        assert_eq!(parse("steps:\n- wait: soon\n").unwrap_err(), "steps[0]: wait: neither \"settled\" nor a duration: \"soon\"");
        assert_eq!(parse("name: x\n").unwrap_err(), "steps: a list of steps is required");
    }
}
