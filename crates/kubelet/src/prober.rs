//! Startup, readiness and liveness probes.
//!
//! Guarantees: a succeeding probe costs nothing, so that a quiet cluster stays quiet. Its result is known in advance (from an annotation,
//! a fault or a predictable command); it is run, period by period, only while it fails.
//! Models `pkg/kubelet/prober/{worker,prober}.go` and the handling of the results in `kuberuntime_manager.go`.

use super::behaviour::{self, Behaviour};
use super::containers::{self, ContainerId};
use super::pod_worker::{Jobs, PodStep};
use super::termination::Kill;
use super::{Kubelets, PodSync};
use apiserver::why::Why;
use cluster_network::connectivity::would_listen;
use k8s_model::pod::ProbeKind;
use k8s_model::pod::{Container, Pod};
use k8s_model::time::SECOND;
use k8s_model::{ObjectMeta, Str, Time, Uid};
use serde_json::Value;
use smol_str::format_smolstr;
use std::borrow::Cow;

/// Parameters of a probe; times in microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProbePlan {
    delay: u64,
    period: u64,
    timeout: u64,
    successes: i32,
    failures: i32,
}

impl ProbePlan {
    fn of(probe: &Value) -> ProbePlan {
        let number = |name: &str, default: i64| {
            probe[name]
                .as_i64()
                .unwrap_or(default)
                .clamp(0, 1_000_000_000)
        };
        let time = |name: &str, default: i64| number(name, default) as u64 * SECOND;
        ProbePlan {
            delay: time("initialDelaySeconds", 0),
            period: time("periodSeconds", 10).max(SECOND),
            timeout: time("timeoutSeconds", 1),
            successes: number("successThreshold", 1).clamp(1, 1000) as i32,
            failures: number("failureThreshold", 3).clamp(1, 1_000_000) as i32,
        }
    }

    /// Returns the time from the container's start to the probe's success, if it never fails.
    fn first_success(self) -> u64 {
        self.delay + self.period * (self.successes as u64 - 1)
    }

    /// Returns the next time at or after `since` at which the probe runs; both from the container's start.
    fn next(self, since: u64) -> u64 {
        let past = since.saturating_sub(self.delay);
        self.delay + past.div_ceil(self.period) * self.period
    }
}

/// Result of a probe's run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum ProbeResult {
    #[default]
    Success,
    Failure,
}

/// Worker of one probe of a container (`pkg/kubelet/prober/worker.go`).
#[derive(Clone, Debug, Default)]
pub(super) struct ProbeWorker {
    /// Failure forced by a fault; `true`: by timeout.
    forced: Option<bool>,
    /// Time of the next run, if scheduled.
    due: Option<Time>,
    last_result: ProbeResult,
    /// Number of consecutive runs with the last result.
    result_run: i32,
}

impl ProbeWorker {
    /// Forgets the results of an earlier run of the container.
    pub(super) fn reset(&mut self) {
        self.due = None;
        self.result_run = 0;
    }

    /// Records the result of the run that was due; returns the number of consecutive runs with it.
    fn record(&mut self, result: ProbeResult) -> i32 {
        self.due = None;
        if self.last_result != result {
            (self.last_result, self.result_run) = (result, 0);
        }
        self.result_run += 1;
        self.result_run
    }
}

/// Returns the JSON of a container's probe; null without one.
fn probe(pod: &Pod, id: ContainerId, kind: ProbeKind) -> &Value {
    &id.raw(&pod.spec)[kind.field()]
}

pub(super) fn plan(pod: &Pod, id: ContainerId, kind: ProbeKind) -> Option<ProbePlan> {
    let probe = probe(pod, id, kind);
    probe.is_object().then(|| ProbePlan::of(probe))
}

/// Returns the times from a container's start until its probes count it as started, and as ready.
pub(super) fn delays(container: &Container, pod: &Pod, id: ContainerId) -> (u64, u64) {
    let of = |probe: bool, kind: ProbeKind| {
        if probe {
            plan(pod, id, kind).map_or(0, ProbePlan::first_success)
        } else {
            0
        }
    };
    let started = of(container.startup_probe.is_some(), ProbeKind::Startup);
    (
        started,
        of(container.readiness_probe.is_some(), ProbeKind::Readiness).max(started),
    )
}

/// Returns the results of a probe by annotation or predictable command: times from the container's start, each with whether it fails from
/// then on.
fn answers(
    container: &Container,
    pod: &Pod,
    id: ContainerId,
    meta: &ObjectMeta,
    kind: ProbeKind,
) -> Vec<(u64, bool)> {
    let probe = probe(pod, id, kind);
    let named = || {
        meta.annotation("loopscope.dev/failing-probes")
            .is_some_and(|list| list.split(',').any(|word| word.trim() == kind.as_str()))
    };
    if probe.is_object() && !meta.annotations.is_empty() && named() {
        return vec![(0, true)];
    }
    if dead_port(pod, id, kind).is_some() {
        return vec![(0, true)];
    }
    let command: Vec<&str> = probe["exec"]["command"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    match command[..] {
        [] => Vec::new(),
        ["cat" | "ls", file] | ["test", "-f" | "-e", file] => {
            behaviour::file_missing(container, file).unwrap_or_default()
        }
        _ => behaviour::predicted_words(&command)
            .map(|(_, code)| (0, code != 0))
            .into_iter()
            .collect(),
    }
}

/// Returns the port of a probe if nothing listens there: a port that no container declares and no image is known for.
fn dead_port(pod: &Pod, id: ContainerId, kind: ProbeKind) -> Option<i32> {
    let container = id.raw(&pod.spec);
    let port = probed_port(&container[kind.field()], container)?;
    let sidecars = pod
        .spec
        .init_containers
        .iter()
        .filter(|one| one.is_sidecar());
    let all: Vec<Container> = pod
        .spec
        .containers
        .iter()
        .chain(sidecars)
        .cloned()
        .collect();
    (!would_listen(&all, port)).then_some(port)
}

/// Returns the first probe of a Pod's containers with a port on which nothing listens: container, probe and port.
pub fn misdirected(pod: &Pod) -> Option<(Str, &'static str, i32)> {
    let all = ContainerId::regular(&pod.spec).zip(pod.spec.containers.iter());
    let kinds = [
        ProbeKind::Startup,
        ProbeKind::Liveness,
        ProbeKind::Readiness,
    ];
    all.flat_map(|(id, container)| kinds.map(|kind| (id, container, kind)))
        .find_map(|(id, container, kind)| {
            let port = dead_port(pod, id, kind)?;
            Some((container.name.clone(), kind.as_str(), port))
        })
}

/// Returns the port number of a probe of its own Pod.
fn probed_port(probe: &Value, container: &Value) -> Option<i32> {
    let of = ["httpGet", "tcpSocket", "grpc"]
        .into_iter()
        .map(|way| &probe[way])
        .find(|way| way.is_object())?;
    if of["host"].as_str().is_some_and(|host| !host.is_empty()) {
        return None;
    }
    let port = &of["port"];
    let named = container["ports"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|own| own["name"] == *port && port.is_string());
    let port = named.map_or(port, |own| &own["containerPort"]);
    port.as_i64()
        .or_else(|| port.as_str()?.parse().ok())
        .map(|port| port as i32)
}

fn fails_at(answers: &[(u64, bool)], age: u64) -> bool {
    answers
        .iter()
        .rev()
        .find(|(from, _)| *from <= age)
        .is_some_and(|(_, fails)| *fails)
}

/// Formats a readiness probe's request and its successful response, as `GET /healthz → 200`.
fn answer(pod: &Pod, id: ContainerId) -> Str {
    let probe = probe(pod, id, ProbeKind::Readiness);
    let port = |of: &Value| match &of["port"] {
        Value::String(name) => name.as_str().into(),
        number => format_smolstr!("{number}"),
    };
    if probe["httpGet"].is_object() {
        return format_smolstr!(
            "GET {} → 200",
            probe["httpGet"]["path"].as_str().unwrap_or("/")
        );
    }
    if probe["exec"].is_object() {
        let command: Vec<&str> = probe["exec"]["command"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        return format_smolstr!("{} → 0", command.join(" "));
    }
    match probe["tcpSocket"].is_object() {
        true => format_smolstr!("TCP :{} → open", port(&probe["tcpSocket"])),
        false => format_smolstr!("gRPC :{} → SERVING", port(&probe["grpc"])),
    }
}

impl Kubelets {
    /// Returns true if a fault makes this probe of a Pod fail.
    pub fn is_forced(&self, uid: Uid, probe: &str) -> bool {
        let containers = self.workers.get(&uid).into_iter();
        containers
            .flat_map(|worker| worker.containers())
            .flat_map(|run| &run.probes)
            .any(|(kind, worker)| kind.as_str() == probe && worker.forced.is_some())
    }
}

impl PodSync<'_, '_> {
    fn probe_worker(&self, id: ContainerId, kind: ProbeKind) -> Option<&ProbeWorker> {
        self.worker.container(id)?.probes.get(&kind)
    }

    fn probe_worker_mut(&mut self, id: ContainerId, kind: ProbeKind) -> &mut ProbeWorker {
        let run = self.worker_mut().container_mut(id);
        run.probes.entry(kind).or_default()
    }

    /// Returns the failure that a fault forces on a probe, if any; `true`: by timeout.
    fn forced_failure(&self, id: ContainerId, kind: ProbeKind) -> Option<bool> {
        self.probe_worker(id, kind)?.forced
    }

    /// Returns `Some` if a probe fails now; `true` if by timeout.
    fn failing(&self, id: ContainerId, kind: ProbeKind) -> Option<bool> {
        if let Some(slow) = self.forced_failure(id, kind) {
            return Some(slow);
        }
        let container = id.container(&self.pod().spec)?;
        let answers = self.answers(container, id, kind);
        fails_at(&answers, self.age(id)).then_some(false)
    }

    fn answers(&self, container: &Container, id: ContainerId, kind: ProbeKind) -> Vec<(u64, bool)> {
        answers(container, self.pod(), id, &self.meta_for(id), kind)
    }

    /// Returns the metadata whose annotations apply to a container: those of a Pod do not apply to its sidecars and ephemeral containers.
    fn meta_for(&self, id: ContainerId) -> Cow<'_, ObjectMeta> {
        match id {
            ContainerId::Regular(_) => Cow::Borrowed(&self.object.meta),
            ContainerId::Init(_) | ContainerId::Ephemeral(_) => Cow::default(),
        }
    }

    /// Returns the behaviour of a container, with its probes taken into account.
    pub(super) fn behaviour(&self, container: &Container, id: ContainerId) -> Behaviour {
        let container = &*self.expanded(container);
        if !containers::has_probe(container) {
            return Behaviour::of(container, &self.meta_for(id), (0, 0));
        }
        let mut plan = self.probed_behaviour(container, id);
        let fails = |kind: ProbeKind, after: Option<u64>| {
            self.forced_failure(id, kind).is_some()
                || after.is_some_and(|after| fails_at(&self.answers(container, id, kind), after))
        };
        if fails(ProbeKind::Startup, plan.started_after) {
            plan.started_after = None;
        }
        if plan.started_after.is_none() || fails(ProbeKind::Readiness, plan.ready_after) {
            plan.ready_after = None;
        }
        plan
    }

    /// Returns the behaviour of a container whose probes succeed.
    fn probed_behaviour(&self, container: &Container, id: ContainerId) -> Behaviour {
        let delays = delays(container, self.pod(), id);
        Behaviour::of(container, &self.meta_for(id), delays)
    }

    /// Returns the reason for starting containers: with the response of the first probe, if they are ready at once.
    pub(super) fn why_started(&self, containers: &[Container], plans: &[Behaviour]) -> Why {
        let probed = containers
            .iter()
            .find(|container| container.readiness_probe.is_some());
        let Some(probed) = probed.filter(|_| plans.iter().all(|plan| plan.ready_after == Some(0)))
        else {
            return Why::Started;
        };
        let mut all = ContainerId::regular(&self.pod().spec).zip(self.pod().spec.containers.iter());
        let named = all.find(|(_, container)| container.name == probed.name);
        Why::BecameReady {
            probe: named
                .map(|(id, _)| answer(self.pod(), id))
                .unwrap_or_default(),
        }
    }

    /// Returns the reason for becoming ready, with the response of the readiness probe, if there is one.
    fn why_ready(&self, id: ContainerId) -> Why {
        let container = id.container(&self.pod().spec);
        let probed = container.filter(|container| container.readiness_probe.is_some());
        Why::BecameReady {
            probe: probed.map_or_else(Str::default, |_| answer(self.pod(), id)),
        }
    }

    /// Returns the time since the start of a probed container, in microseconds.
    fn age(&self, id: ContainerId) -> u64 {
        let since = self.worker.container(id).and_then(|run| run.probed_since);
        since.map_or(0, |since| self.now.0.saturating_sub(since.0))
    }

    /// Starts the probes of a container that will fail.
    pub(super) fn start_probes(&mut self, id: ContainerId) -> Jobs {
        let now = self.now;
        self.worker_mut().container_mut(id).start_probing(now);
        let mut jobs = self.watch(id, ProbeKind::Startup);
        // Until the startup probe has succeeded, no other probe runs.
        if jobs.is_empty() {
            jobs = self.watch(id, ProbeKind::Readiness);
            jobs.extend(self.watch(id, ProbeKind::Liveness));
        }
        jobs
    }

    /// Schedules a probe for its next failure, if it ever fails.
    fn watch(&mut self, id: ContainerId, kind: ProbeKind) -> Jobs {
        let pod = self.pod();
        let (Some(container), Some(plan)) = (id.container(&pod.spec), plan(pod, id, kind)) else {
            return Vec::new();
        };
        let age = self.age(id);
        let forced = self.forced_failure(id, kind).is_some();
        let answers = self.answers(container, id, kind);
        let since = match answers.iter().find(|(from, fails)| *fails && *from > age) {
            _ if forced || fails_at(&answers, age) => Some(age),
            later => later.map(|(from, _)| *from),
        };
        // A failure that ends before the probe runs has no effect.
        let Some(at) = since
            .map(|since| plan.next(since))
            .filter(|at| forced || fails_at(&answers, *at))
        else {
            return Vec::new();
        };
        self.schedule(id, kind, at)
    }

    /// Schedules a probe for an age of its container.
    fn schedule(&mut self, id: ContainerId, kind: ProbeKind, age: u64) -> Jobs {
        let slow = self.forced_failure(id, kind) == Some(true);
        let timeout = plan(self.pod(), id, kind)
            .filter(|_| slow)
            .map_or(0, |plan| plan.timeout);
        let after = age.saturating_sub(self.age(id)).saturating_add(timeout);
        let due = self.now.after(after);
        self.probe_worker_mut(id, kind).due = Some(due);
        vec![self.then(after, PodStep::Probe(id, kind))]
    }

    /// Handles the result of a probe.
    pub(super) fn probe(&mut self, id: ContainerId, kind: ProbeKind) -> Jobs {
        let (Some(plan), true) = (plan(self.pod(), id, kind), id.is_running(self.pod())) else {
            return Vec::new();
        };
        if self.probe_worker(id, kind).and_then(|worker| worker.due) != Some(self.now) {
            return Vec::new();
        }
        let failure = self.failing(id, kind);
        let result = match failure {
            Some(_) => ProbeResult::Failure,
            None => ProbeResult::Success,
        };
        let result_run = self.probe_worker_mut(id, kind).record(result);
        if let Some(slow) = failure {
            self.record_unhealthy(id, kind, slow);
        }
        match result {
            ProbeResult::Failure if result_run >= plan.failures => {
                if kind != ProbeKind::Readiness {
                    let kind_name = kind.as_str();
                    let message =
                        format!("Container {{}} failed {kind_name} probe, will be restarted");
                    let kill = Kill {
                        message: &message,
                        probe: Some(kind),
                        at_once: false,
                    };
                    return self.kill_container(id, kill);
                }
                if id.status(self.pod()).is_some_and(|status| status.ready) {
                    let probe = kind.as_str();
                    self.set_ready(id, false, Why::ProbeFailed { probe });
                }
            }
            ProbeResult::Success if result_run >= plan.successes => {
                return self.succeeded(id, kind);
            }
            ProbeResult::Failure | ProbeResult::Success => {}
        }
        let next = plan.next(self.age(id) + 1);
        self.schedule(id, kind, next)
    }

    fn succeeded(&mut self, id: ContainerId, kind: ProbeKind) -> Jobs {
        match kind {
            ProbeKind::Startup => return self.has_started(id),
            ProbeKind::Readiness => self.set_ready(id, true, self.why_ready(id)),
            ProbeKind::Liveness => {}
        }
        self.watch(id, kind)
    }

    /// Handles the success of the startup probe: the other probes start.
    pub(super) fn has_started(&mut self, id: ContainerId) -> Jobs {
        if self.failing(id, ProbeKind::Startup).is_some() {
            return Vec::new();
        }
        let Some(container) = id.container(&self.pod().spec) else {
            return Vec::new();
        };
        let ready = self.probed_behaviour(container, id).ready_after;
        let age = self.age(id);
        let at_once = ready.is_some_and(|after| after <= age)
            && self.failing(id, ProbeKind::Readiness).is_none();
        let why = if at_once {
            self.why_ready(id)
        } else {
            Why::StartedUp
        };
        self.write_status(why, |pod| {
            if let Some(status) = id.status_mut(pod).filter(|s| s.state.running.is_some()) {
                status.started = Some(true);
                status.ready = at_once;
            }
        });
        let mut jobs = self.watch(id, ProbeKind::Readiness);
        jobs.extend(self.watch(id, ProbeKind::Liveness));
        if let ContainerId::Init(index) = id {
            jobs.extend(self.after_init(index));
        }
        if let Some(after) = ready.filter(|after| *after > age) {
            jobs.push(self.then(after - age, PodStep::Ready(id)));
        }
        jobs
    }

    /// Makes a container ready as planned at its start, unless the probe fails by now.
    pub(super) fn ready(&mut self, id: ContainerId) -> Jobs {
        if self.failing(id, ProbeKind::Readiness).is_none() {
            self.set_ready(id, true, self.why_ready(id));
        }
        Vec::new()
    }

    fn set_ready(&mut self, id: ContainerId, ready: bool, why: Why) {
        self.write_status(why, |pod| {
            if let Some(status) = id.status_mut(pod).filter(|s| s.state.running.is_some()) {
                status.ready = ready;
            }
        });
    }

    /// Forces the readiness of the first container.
    pub(super) fn force_ready(&mut self, ready: bool) -> Jobs {
        let why = if ready {
            Why::BecameReady {
                probe: Str::default(),
            }
        } else {
            Why::BecameUnready
        };
        self.set_ready(ContainerId::Regular(0), ready, why);
        Vec::new()
    }

    /// Forces a probe to fail or succeed, from its next run on.
    pub(super) fn force_probe(&mut self, kind: ProbeKind, fails: Option<bool>) -> Jobs {
        let spec = self.pod().spec.clone();
        let mut all = ContainerId::regular(&spec).chain(ContainerId::all(&spec));
        let Some((id, plan)) = all.find_map(|id| Some((id, plan(self.pod(), id, kind)?))) else {
            return Vec::new();
        };
        self.probe_worker_mut(id, kind).forced = fails;
        let Some(status) = id
            .status(self.pod())
            .filter(|status| status.state.running.is_some())
        else {
            return Vec::new();
        };
        let (started, ready) = (status.started == Some(true), status.ready);
        // Only a result with an effect is scheduled; before startup only the startup probe runs.
        let matters = match (kind, fails.is_some()) {
            (ProbeKind::Startup, _) => !started,
            (ProbeKind::Readiness, false) => started && !ready,
            (_, fails) => started && fails,
        };
        if matters {
            self.schedule(id, kind, plan.next(self.age(id) + 1))
        } else {
            Vec::new()
        }
    }

    fn record_unhealthy(&mut self, id: ContainerId, kind: ProbeKind, slow: bool) {
        let object = self.object.clone();
        let pod = object.body::<Pod>();
        let timeout = plan(pod, id, kind).map_or(1, |plan| plan.timeout / SECOND);
        let output = output(
            probe(pod, id, kind),
            dead_port(pod, id, kind).is_some(),
            id.raw(&pod.spec),
            &pod.status.pod_ip,
            slow.then_some(timeout),
        );
        let message = format_smolstr!("{} probe failed: {output}", kind.title());
        self.record_container_event(id, "Warning", "Unhealthy", message);
    }
}

/// Returns the output of a failing probe.
fn output(probe: &Value, dead: bool, container: &Value, ip: &str, slow: Option<u64>) -> String {
    let port = |port: &Value| -> String {
        let named = container["ports"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|p| p["name"] == *port && port.is_string());
        named
            .map_or(port, |p| &p["containerPort"])
            .to_string()
            .trim_matches('"')
            .to_owned()
    };
    let http = &probe["httpGet"];
    if http.is_object() {
        let scheme = http["scheme"]
            .as_str()
            .unwrap_or("HTTP")
            .to_ascii_lowercase();
        let (host, path) = (
            http["host"].as_str().unwrap_or(ip),
            http["path"].as_str().unwrap_or("/"),
        );
        return match slow {
            Some(_) => format!(
                "Get \"{scheme}://{host}:{}{path}\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
                port(&http["port"])
            ),
            None if dead => {
                let port = port(&http["port"]);
                format!(
                    "Get \"{scheme}://{host}:{port}{path}\": dial tcp {host}:{port}: connect: connection refused"
                )
            }
            None => "HTTP probe failed with statuscode: 500".to_owned(),
        };
    }
    if probe["tcpSocket"].is_object() {
        let (host, port) = (
            probe["tcpSocket"]["host"].as_str().unwrap_or(ip),
            port(&probe["tcpSocket"]["port"]),
        );
        return format!(
            "dial tcp {host}:{port}: {}",
            if slow.is_some() {
                "i/o timeout"
            } else {
                "connect: connection refused"
            }
        );
    }
    if probe["grpc"].is_object() {
        return match slow {
            Some(seconds) => {
                format!(
                    "timeout: failed to connect service \"{ip}:{}\" within {seconds}s: context deadline exceeded",
                    port(&probe["grpc"]["port"])
                )
            }
            None => "service unhealthy (responded with \"NOT_SERVING\")".to_owned(),
        };
    }
    let words: Vec<&str> = probe["exec"]["command"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    match (slow, &words[..]) {
        (Some(seconds), words) => format!(
            "command timed out: \"{}\" timed out after {seconds}s",
            words.join(" ")
        ),
        (None, ["cat", file]) => format!("cat: can't open '{file}': No such file or directory"),
        (None, ["ls", file]) => format!("ls: {file}: No such file or directory"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_probe_runs_at_its_delay_and_then_every_period() {
        let plan = ProbePlan::of(
            &json!({"initialDelaySeconds": 5, "periodSeconds": 3, "successThreshold": 2}),
        );
        let times = [0, 5, 6, 8, 9].map(|since| plan.next(since * SECOND) / SECOND);
        assert_eq!(times, [5, 5, 8, 8, 11]);
        assert_eq!(plan.first_success(), 8 * SECOND);
    }

    #[test]
    fn each_kind_of_probe_fails_in_its_own_words() {
        let container = json!({"ports": [{"name": "web", "containerPort": 8080}]});
        for (probe, slow, text) in [
            (
                json!({"httpGet": {"port": 80}}),
                None,
                "HTTP probe failed with statuscode: 500",
            ),
            (
                json!({"httpGet": {"port": "web", "path": "/healthz", "scheme": "HTTPS"}}),
                Some(1),
                "Get \"https://10.0.0.2:8080/healthz\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
            ),
            (
                json!({"tcpSocket": {"port": 5432}}),
                None,
                "dial tcp 10.0.0.2:5432: connect: connection refused",
            ),
            (
                json!({"tcpSocket": {"port": 5432}}),
                Some(1),
                "dial tcp 10.0.0.2:5432: i/o timeout",
            ),
            (
                json!({"grpc": {"port": 9090}}),
                None,
                "service unhealthy (responded with \"NOT_SERVING\")",
            ),
            (
                json!({"exec": {"command": ["check", "me"]}}),
                Some(2),
                "command timed out: \"check me\" timed out after 2s",
            ),
            (
                json!({"exec": {"command": ["cat", "/tmp/healthy"]}}),
                None,
                "cat: can't open '/tmp/healthy': No such file or directory",
            ),
        ] {
            assert_eq!(output(&probe, false, &container, "10.0.0.2", slow), text);
        }
    }
}
