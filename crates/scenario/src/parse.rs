//! Parsing of scenarios.

use super::names::with_placeholders;
use super::runner::Finished;
use apiserver::validation;
use controller_runtime::cluster::{ClusterConfig, NodeConfig, Timing};
use controller_runtime::limit::ClientLimit;
use fault::Fault;
use k8s_model::Timestamp;
use k8s_model::quantity::Quantity;
use k8s_model::time::SECOND;
use kubectl::parse::split;
use kubectl::unknown_verb;
use serde_json::Value;
use std::collections::BTreeSet;

/// Maximum number of nodes of a scenario's cluster; more are left out.
const MAX_NODES: usize = 10_000;

/// Cluster and the steps run on it.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Short name.
    pub name: String,
    /// Description in one sentence.
    pub description: String,
    /// Cluster before the first step.
    pub cluster: ClusterConfig,
    /// Value of `cluster` in the file.
    pub written: Value,
    /// Steps, in order.
    pub steps: Vec<ScenarioStep>,
    /// Expectations about the history.
    pub expected: Vec<Expected>,
    /// Place of each step in the file: `steps[3]`.
    places: Vec<String>,
    /// Text of the file.
    source: String,
}

impl Scenario {
    /// Longest `finishes` expectation of a step, in microseconds; 0 without one.
    pub fn patience(&self, step: usize) -> u64 {
        let spans = self
            .expected
            .iter()
            .filter(|expected| expected.step == step);
        spans
            .map(|expected| {
                if let How::Finishes(span) = expected.how {
                    span
                } else {
                    0
                }
            })
            .max()
            .unwrap_or(0)
    }

    /// Line and place of a step in the file: `line 12: steps[3]`.
    fn locate_step(&self, step: usize) -> String {
        located(
            &self.source,
            self.places.get(step).map_or("steps", String::as_str),
        )
    }

    /// Returns the message for a step that is wrong in the file itself: a fault whose target does not exist.
    pub fn mistake(&self, step: &Finished) -> Option<String> {
        step.mistake()
            .map(|error| format!("{}: fault: {error}", self.locate_step(step.step)))
    }

    /// Line and place of an expectation in the file.
    pub fn locate(&self, expected: &Expected) -> String {
        located(&self.source, &expected.place)
    }
}

/// Formats line and place: `line 12: steps[3]`.
fn located(source: &str, place: &str) -> String {
    format!("line {}: {place}", line_of(source, place))
}

fn line_of(source: &str, place: &str) -> usize {
    manifest::locate(source.as_bytes(), 0, place).map_or(1, |(line, ..)| line)
}

/// Expectation about the history.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expected {
    /// Place in the file: `steps[3]`.
    pub place: String,
    /// Number of steps before it; for a command that finishes, the index of its own.
    pub step: usize,
    /// Quantifier or time limit.
    pub how: How,
    /// Expression, or line of a command.
    pub text: String,
}

/// Quantifier or time limit of an expectation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    /// True at every instant from its place in the steps to the end.
    Always,
    /// True at no instant from its place on.
    Never,
    /// True at some instant from its place on.
    Eventually,
    /// The command ends with exit code 0 within this many microseconds.
    Finishes(u64),
}

const HOWS: [(&str, How); 3] = [
    ("always", How::Always),
    ("never", How::Never),
    ("eventually", How::Eventually),
];

impl How {
    /// Keyword in a file.
    pub fn word(self) -> &'static str {
        HOWS.iter()
            .find(|(_, how)| *how == self)
            .map_or("finishes", |(word, _)| word)
    }
}

/// Duration of a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// Until nothing but Events has changed for 3 s; at most 90 s.
    Settled,
    /// For this many microseconds.
    For(u64),
}

/// Step of a scenario.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ScenarioStep {
    /// Runs `kubectl apply -f -` with a manifest.
    Apply(String),
    /// Runs a kubectl command line.
    Kubectl {
        /// Line without the word kubectl.
        line: String,
        /// True if it continues beside the next steps.
        background: bool,
    },
    /// Lets time pass.
    Wait(Wait),
    /// Injects a fault.
    Fault(String),
}

impl ScenarioStep {
    /// Name of this kind of step in a trace.
    pub fn action(&self) -> &'static str {
        match self {
            ScenarioStep::Apply(_) => "apply",
            ScenarioStep::Kubectl { .. } => "kubectl",
            ScenarioStep::Wait(_) => "wait",
            ScenarioStep::Fault(_) => "fault",
        }
    }
}

/// Fields of a scenario.
const SCENARIO_FIELDS: &[&str] = &["name", "description", "cluster", "steps"];
/// Fields of a step or an expectation.
const STEP_FIELDS: &[&str] = &[
    "apply",
    "kubectl",
    "background",
    "finishes",
    "wait",
    "fault",
    "always",
    "never",
    "eventually",
];
/// Fields of the cluster section, by path.
const CLUSTER_FIELDS: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "nodes",
            "timing",
            "startTime",
            "controllerManager",
            "admission",
            "featureGates",
        ],
    ),
    ("/timing", &["podStart", "podStop", "provision"]),
    (
        "/controllerManager",
        &[
            "nodeMonitorGracePeriod",
            "nodeMonitorPeriod",
            "terminatedPodGCThreshold",
            "kubeAPIQPS",
            "kubeAPIBurst",
        ],
    ),
    ("/admission", &["defaultTolerationSeconds"]),
    ("/featureGates", &["MaxUnavailableStatefulSet"]),
];

/// Returns an error for the first field of a map that is not known.
fn known_fields(value: &Value, known: &[&str]) -> Result<(), String> {
    let mut names = value.as_object().into_iter().flat_map(|map| map.keys());
    let Some(unknown) = names.find(|name| !known.contains(&name.as_str())) else {
        return Ok(());
    };
    Err(match kubectl::nearest(unknown, known.iter().copied(), 3) {
        Some(name) => format!("unknown field {unknown:?}; did you mean {name:?}?"),
        None => format!("unknown field {unknown:?}"),
    })
}

/// Returns an error for the first field of the cluster section that is not known. Links are more lenient: they may be of a later version.
pub fn known_cluster_fields(value: &Value) -> Result<(), String> {
    CLUSTER_FIELDS.iter().try_for_each(|(path, known)| {
        let section = value.pointer(path).unwrap_or(&Value::Null);
        let place = path.replace('/', ".");
        known_fields(section, known).map_err(|error| format!("cluster{place}: {error}"))
    })
}

/// Parses a scenario; the error gives line and place.
pub fn parse(text: &str) -> Result<Scenario, String> {
    let mut read = manifest::parse_file(text.as_bytes());
    if let Some(fault) = read.diagnostics.first() {
        return Err(format!("line {}: {}", fault.line, fault.fault));
    }
    if read.documents.len() > 1 {
        return Err("a scenario is one YAML document".into());
    }
    let parsed = read.documents.pop().map(|d| d.value).unwrap_or(Value::Null);
    known_fields(&parsed, SCENARIO_FIELDS)?;
    let list = parsed
        .get("steps")
        .and_then(Value::as_array)
        .ok_or("steps: a list of steps is required")?;
    let (mut steps, mut expected, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for (i, item) in list.iter().enumerate() {
        let place = format!("steps[{i}]");
        known_fields(item, STEP_FIELDS).map_err(|e| format!("{}: {e}", located(text, &place)))?;
        if let Some((how, expression)) = HOWS
            .iter()
            .find_map(|(word, how)| Some((*how, item.get(*word)?)))
        {
            let expression = expression.as_str().ok_or_else(|| {
                format!(
                    "{}: {}: an expression is required",
                    located(text, &place),
                    how.word()
                )
            })?;
            expected.push(Expected {
                place,
                step: steps.len(),
                how,
                text: expression.to_owned(),
            });
            continue;
        }
        let step = step(item).map_err(|e| format!("{}: {e}", located(text, &place)))?;
        if let Some(span) = item.get("finishes") {
            let ScenarioStep::Kubectl { line, .. } = &step else {
                return Err(format!(
                    "{}: finishes: only a kubectl command finishes",
                    located(text, &place)
                ));
            };
            let span = duration(span).ok_or_else(|| {
                format!(
                    "{}: finishes: not a duration: {span}",
                    located(text, &place)
                )
            })?;
            expected.push(Expected {
                place: place.clone(),
                step: steps.len(),
                how: How::Finishes(span),
                text: line.clone(),
            });
        }
        steps.push(step);
        places.push(place);
    }
    let written = parsed.get("cluster").cloned().unwrap_or_default();
    known_cluster_fields(&written)
        .map_err(|error| format!("line {}: {error}", line_of(text, "cluster")))?;
    let cluster = cluster(&written)?;
    let (name, description) = (word(&parsed, "name"), word(&parsed, "description"));
    Ok(Scenario {
        name,
        description,
        cluster,
        written,
        steps,
        expected,
        places,
        source: text.to_owned(),
    })
}

fn word(value: &Value, key: &str) -> String {
    value
        .get(key)
        .and_then(Value::as_str)
        .unwrap_or("")
        .to_string()
}

/// Parses the cluster section of a scenario.
pub fn cluster(value: &Value) -> Result<ClusterConfig, String> {
    let mut config = match value.get("nodes") {
        None => ClusterConfig::default(),
        Some(Value::Number(n)) => {
            let count = n
                .as_u64()
                .ok_or_else(|| format!("cluster.nodes: not a number of nodes: {n}"))?;
            ClusterConfig::with_nodes(count.min(MAX_NODES as u64) as usize)
        }
        Some(Value::Array(list)) => ClusterConfig {
            nodes: nodes(list)?,
            ..ClusterConfig::default()
        },
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
        config.epoch = Timestamp::parse(start)
            .ok_or_else(|| format!("cluster.startTime: not a time: {start}"))?;
    }
    let option = |path: &str, default: u64| match value.pointer(path) {
        None => Ok(default),
        Some(v) => duration(v)
            .ok_or_else(|| format!("cluster{}: not a duration: {v}", path.replace('/', "."))),
    };
    config.node_monitor_grace = option(
        "/controllerManager/nodeMonitorGracePeriod",
        config.node_monitor_grace,
    )?;
    config.node_monitor_period = option(
        "/controllerManager/nodeMonitorPeriod",
        config.node_monitor_period,
    )?
    .max(1);
    let number = |path: &str| match value.pointer(path) {
        None => Ok(None),
        Some(number) => number
            .as_f64()
            .map(Some)
            .ok_or_else(|| format!("cluster{}: not a number: {number}", path.replace('/', "."))),
    };
    if let Some(kept) = number("/controllerManager/terminatedPodGCThreshold")? {
        config.ended_pods_kept = kept.max(0.0) as usize;
    }
    if let (qps, burst) = (
        number("/controllerManager/kubeAPIQPS")?,
        number("/controllerManager/kubeAPIBurst")?,
    ) && (qps.is_some() || burst.is_some())
    {
        config.client_limit = Some(ClientLimit {
            qps: qps.unwrap_or(20.0).clamp(0.001, 1e6),
            burst: burst.unwrap_or(30.0).clamp(1.0, 1e6) as u32,
        });
    }
    if let Some(seconds) = number("/admission/defaultTolerationSeconds")? {
        config.default_toleration_seconds = seconds as i64;
    }
    if let Some(gate) = value.pointer("/featureGates/MaxUnavailableStatefulSet") {
        config.max_unavailable_statefulset = gate.as_bool().ok_or_else(|| {
            format!("cluster.featureGates.MaxUnavailableStatefulSet: not a boolean: {gate}")
        })?;
    }
    Ok(config)
}

fn nodes(list: &[Value]) -> Result<Vec<NodeConfig>, String> {
    let mut names = BTreeSet::new();
    let node = |(at, value): (usize, &Value)| {
        let (path, name) = (format!("cluster.nodes[{at}]"), word(value, "name"));
        if name.is_empty() {
            return Err(format!("{path}.name: Required value"));
        }
        if let Some(fault) = validation::subdomain(&name) {
            return Err(format!("{path}.name: Invalid value: {name:?}: {fault}"));
        }
        if !names.insert(name.clone()) {
            return Err(format!("{path}.name: Duplicate value: {name:?}"));
        }
        let mut allocatable = Vec::new();
        for (resource, amount) in value
            .get("allocatable")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let text = amount
                .as_str()
                .map_or_else(|| amount.to_string(), str::to_owned);
            Quantity::parse(&text).map_err(|error| {
                format!("{path}.allocatable[{resource}]: Invalid value: {text:?}: {error}")
            })?;
            allocatable.push((resource.clone(), amount.clone()));
        }
        Ok(NodeConfig { name, allocatable })
    };
    list.iter().take(MAX_NODES).enumerate().map(node).collect()
}

/// Parses one step.
pub fn step(value: &Value) -> Result<ScenarioStep, String> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(String::from);
    if let Some(manifest) = text("apply") {
        return Ok(ScenarioStep::Apply(manifest));
    }
    if let Some(line) = text("kubectl") {
        if let Some(message) = unknown_verb(&split(&line)) {
            return Err(format!("kubectl: {message}"));
        }
        let background = match value.get("background") {
            None => false,
            Some(is) => is
                .as_bool()
                .ok_or_else(|| format!("background: not a boolean: {is}"))?,
        };
        return Ok(ScenarioStep::Kubectl { line, background });
    }
    if let Some(fault) = text("fault") {
        // Names replace the placeholders when the step begins.
        with_placeholders(&fault, |_| Some("name".into()))
            .parse::<Fault>()
            .and_then(|fault| {
                // A kind with its group may be defined by the scenario itself.
                let target = fault.target().filter(|target| !target.names_group());
                target.map_or(Ok(()), |target| target.resolve([]).map(drop))
            })
            .map_err(|error| format!("fault: {error}"))?;
        return Ok(ScenarioStep::Fault(fault));
    }
    match value.get("wait") {
        Some(Value::String(s)) if s == "settled" => Ok(ScenarioStep::Wait(Wait::Settled)),
        Some(v) => duration(v)
            .map(|d| ScenarioStep::Wait(Wait::For(d)))
            .ok_or_else(|| format!("wait: neither \"settled\" nor a duration: {v}")),
        None => Err("one of apply, kubectl, wait, fault is required".into()),
    }
}

/// Parses a duration: `1s`, `500ms`, `2m`, or a number of seconds.
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
    (0.0..1e15)
        .contains(&micros)
        .then_some(micros.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_is_read_whole() {
        let text = "name: a\ncluster: {nodes: 2, timing: {podStart: 250ms}}\nsteps:\n- apply: |\n    kind: X\n- kubectl: get pods\n  background: true\n- wait: settled\n- wait: 1.5s\n- fault: node-down node-1\n";
        let scenario = parse(text).unwrap();
        assert_eq!(
            (
                scenario.cluster.nodes.len(),
                scenario.cluster.timing.pod_start
            ),
            (2, 250_000)
        );
        assert_eq!(
            scenario.steps,
            [
                ScenarioStep::Apply("kind: X\n".into()),
                ScenarioStep::Kubectl {
                    line: "get pods".into(),
                    background: true
                },
                ScenarioStep::Wait(Wait::Settled),
                ScenarioStep::Wait(Wait::For(1_500_000)),
                ScenarioStep::Fault("node-down node-1".into()),
            ]
        );
    }

    #[test]
    fn an_unknown_field_is_refused_at_its_line() {
        for (text, error) in [
            (
                "steps:\n- wait: 1s\n- kubectl: rollout status deploy/web\n  finish: 2m\n",
                "line 3: steps[1]: unknown field \"finish\"; did you mean \"finishes\"?",
            ),
            (
                "cluster: {node: 5}\nsteps: []\n",
                "line 1: cluster: unknown field \"node\"; did you mean \"nodes\"?",
            ),
            (
                "cluster: {controllerManager: {terminatedPodGCThreshold: \"50\"}}\nsteps: []\n",
                "cluster.controllerManager.terminatedPodGCThreshold: not a number: \"50\"",
            ),
            (
                "stepz: []\nsteps: []\n",
                "unknown field \"stepz\"; did you mean \"steps\"?",
            ),
            (
                "steps: []\n---\nsteps: []\n",
                "a scenario is one YAML document",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err(), error, "{text}");
        }
    }

    #[test]
    fn node_counts_must_be_natural_numbers() {
        for count in ["-1", "2.5"] {
            let text = format!("name: a\ncluster: {{nodes: {count}}}\nsteps:\n- wait: 1s\n");
            let error = parse(&text).unwrap_err();
            assert!(error.to_string().contains("cluster.nodes"), "{error}");
        }
    }

    #[test]
    fn a_node_has_a_name_of_its_own_and_amounts() {
        let refusal = |nodes: &str| {
            parse(&format!("cluster: {{nodes: [{nodes}]}}\nsteps: []\n")).unwrap_err()
        };
        assert_eq!(refusal("{nam: a}"), "cluster.nodes[0].name: Required value");
        assert!(refusal("{name: a}, {name: A b}").starts_with(
            "cluster.nodes[1].name: Invalid value: \"A b\": a lowercase RFC 1123 subdomain"
        ));
        assert_eq!(
            refusal("{name: a}, {name: a}"),
            "cluster.nodes[1].name: Duplicate value: \"a\""
        );
        let amount = refusal("{name: a, allocatable: {cpu: two}}");
        assert!(
            amount.starts_with(
                "cluster.nodes[0].allocatable[cpu]: Invalid value: \"two\": quantities must match"
            ),
            "{amount}"
        );
    }

    #[test]
    fn expectations_stand_among_the_steps() {
        let text = "steps:\n- never: pods(web) > 4\n- wait: 1s\n- kubectl: drain node-1\n  finishes: 2m\n- always: ready(web) >= 2\n";
        let scenario = parse(text).unwrap();
        let told: Vec<_> = scenario
            .expected
            .iter()
            .map(|one| (one.place.as_str(), one.step, one.how, one.text.as_str()))
            .collect();
        assert_eq!(
            told,
            [
                ("steps[0]", 0, How::Never, "pods(web) > 4"),
                ("steps[2]", 1, How::Finishes(120_000_000), "drain node-1"),
                ("steps[3]", 2, How::Always, "ready(web) >= 2"),
            ]
        );
        assert_eq!(
            (
                scenario.steps.len(),
                scenario.patience(1),
                scenario.patience(0)
            ),
            (2, 120_000_000, 0)
        );
        assert_eq!(
            parse("steps:\n- wait: 1s\n  finishes: 1s\n").unwrap_err(),
            "line 2: steps[0]: finishes: only a kubectl command finishes"
        );
        assert_eq!(
            parse("steps:\n- kubectl: get pods\n  finishes: soon\n").unwrap_err(),
            "line 2: steps[0]: finishes: not a duration: \"soon\""
        );
        assert_eq!(
            parse("steps:\n- never: 3\n").unwrap_err(),
            "line 2: steps[0]: never: an expression is required"
        );
    }

    #[test]
    fn a_bad_scenario_says_where() {
        assert_eq!(
            parse("steps:\n- wait: soon\n").unwrap_err(),
            "line 2: steps[0]: wait: neither \"settled\" nor a duration: \"soon\""
        );
        let step = |line: &str| parse(&format!("steps:\n- wait: 1s\n- {line}\n")).unwrap_err();
        assert!(
            step("fault: explode everything")
                .starts_with("line 3: steps[1]: fault: unknown fault \"explode everything\"")
        );
        assert_eq!(
            step("fault: conflict wdgets/x"),
            "line 3: steps[1]: fault: no kind \"wdgets\""
        );
        assert_eq!(
            step("kubectl: nonsense verb"),
            "line 3: steps[1]: kubectl: error: unknown command \"nonsense\" for \"kubectl\""
        );
        assert!(parse("steps:\n- fault: exit pod/{{pod:web:0}} 1\n- kubectl: -n x get pods\n- kubectl: --help\n").is_ok());
        assert_eq!(
            parse("name: x\n").unwrap_err(),
            "steps: a list of steps is required"
        );
    }
}
