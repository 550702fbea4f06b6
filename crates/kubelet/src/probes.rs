//! Startup, readiness and liveness probes.
//!
//! Guarantees: a succeeding probe costs nothing, so that a quiet cluster stays quiet. Its result is known in advance (from an annotation,
//! a fault or a predictable command); it is run, period by period, only while it fails.
//! Models `pkg/kubelet/prober/{worker,prober}.go` and the handling of the results in `kuberuntime_manager.go`.

use super::behaviour::Behaviour;
use super::containers;
use super::state::ProbeState;
use super::{Jobs, PodPass, PodStep, status};
use crate::behaviour;
use apiserver::why::Why;
use cluster_network::connectivity::would_listen;
use k8s_model::pod::ProbeKind;
use k8s_model::pod::{Container, Pod};
use k8s_model::time::{MS, SECOND};
use k8s_model::{ObjectMeta, Str};
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

/// Returns the raw JSON of a container.
fn raw(pod: &Pod, i: u32) -> &Value {
    let (list, at) = containers::place(&pod.spec, i);
    &pod.spec.raw[list][at]
}

pub(super) fn plan(pod: &Pod, i: u32, kind: ProbeKind) -> Option<ProbePlan> {
    let probe = &raw(pod, i)[kind.field()];
    probe.is_object().then(|| ProbePlan::of(probe))
}

/// Returns the times from a container's start until its probes count it as started, and as ready.
pub(super) fn delays(container: &Container, pod: &Pod, i: u32) -> (u64, u64) {
    let of = |probe: bool, kind: ProbeKind| {
        if probe {
            plan(pod, i, kind).map_or(0, ProbePlan::first_success)
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
    i: u32,
    meta: &ObjectMeta,
    kind: ProbeKind,
) -> Vec<(u64, bool)> {
    let probe = &raw(pod, i)[kind.field()];
    let named = || {
        meta.annotation("loopscope.dev/failing-probes")
            .is_some_and(|list| list.split(',').any(|word| word.trim() == kind.as_str()))
    };
    if probe.is_object() && !meta.annotations.is_empty() && named() {
        return vec![(0, true)];
    }
    if dead_port(pod, i, kind).is_some() {
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
fn dead_port(pod: &Pod, i: u32, kind: ProbeKind) -> Option<i32> {
    let container = raw(pod, i);
    let asked = asked_port(&container[kind.field()], container)?;
    let sidecars = pod
        .spec
        .init_containers
        .iter()
        .filter(|one| one.restart_policy == "Always");
    let all: Vec<Container> = pod
        .spec
        .containers
        .iter()
        .chain(sidecars)
        .cloned()
        .collect();
    (!would_listen(&all, asked)).then_some(asked)
}

/// Returns the first probe of a Pod's containers with a port on which nothing listens: container, probe and port.
pub fn misdirected(pod: &Pod) -> Option<(Str, &'static str, i32)> {
    let all = pod.spec.containers.iter().enumerate();
    let kinds = [
        ProbeKind::Startup,
        ProbeKind::Liveness,
        ProbeKind::Readiness,
    ];
    all.flat_map(|(i, container)| kinds.map(|kind| (i, container, kind)))
        .find_map(|(i, container, kind)| {
            Some((
                container.name.clone(),
                kind.as_str(),
                dead_port(pod, i as u32, kind)?,
            ))
        })
}

/// Returns the port number of a probe of its own Pod.
fn asked_port(probe: &Value, container: &Value) -> Option<i32> {
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
fn answer(pod: &Pod, i: u32) -> Str {
    let probe = &raw(pod, i)[ProbeKind::Readiness.field()];
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

impl super::Kubelets {
    /// Returns true if a fault makes this probe of a Pod fail.
    pub fn is_forced(&self, uid: k8s_model::Uid, probe: &str) -> bool {
        let standing = self
            .course(uid)
            .into_iter()
            .flat_map(|course| &course.probes);
        standing
            .into_iter()
            .any(|((_, kind), standing)| kind.as_str() == probe && standing.forced.is_some())
    }
}

impl PodPass<'_, '_> {
    fn standing(&mut self, i: u32, kind: ProbeKind) -> Option<&mut ProbeState> {
        Some(
            self.kubelets
                .course_mut(self.job.uid)?
                .probes
                .entry((i, kind))
                .or_default(),
        )
    }

    /// Returns `Some` if a probe fails now; `true` if by timeout.
    fn failing(&mut self, i: u32, kind: ProbeKind) -> Option<bool> {
        if let Some(slow) = self.standing(i, kind)?.forced {
            return Some(slow);
        }
        let (_, container) = containers::container(self.pod(), i)?;
        let answers = answers(container, self.pod(), i, &self.meta_for(i), kind);
        fails_at(&answers, self.age(i).unwrap_or(0)).then_some(false)
    }

    /// Returns the metadata whose annotations apply to a container: those of a Pod do not apply to its sidecars and ephemeral containers.
    fn meta_for(&self, i: u32) -> Cow<'_, ObjectMeta> {
        let main = containers::number(i).is_none() && !containers::is_ephemeral(i);
        if main {
            Cow::Borrowed(&self.object.meta)
        } else {
            Cow::default()
        }
    }

    /// Returns the behaviour of a container, with its probes taken into account.
    pub(super) fn behaviour(&mut self, container: &Container, i: u32) -> Behaviour {
        if !containers::has_probe(container) {
            return Behaviour::of(container, &self.meta_for(i), (0, 0));
        }
        self.probed_behaviour(container, i)
    }

    fn probed_behaviour(&mut self, container: &Container, i: u32) -> Behaviour {
        let mut plan = Behaviour::of(
            container,
            &self.meta_for(i),
            delays(container, self.pod(), i),
        );
        let fails = |pass: &mut Self, kind: ProbeKind, after: Option<u64>| {
            let forced = pass.standing(i, kind).is_some_and(|s| s.forced.is_some());
            forced
                || after.is_some_and(|after| {
                    fails_at(
                        &answers(container, pass.pod(), i, &pass.meta_for(i), kind),
                        after,
                    )
                })
        };
        if fails(self, ProbeKind::Startup, plan.started_after) {
            plan.started_after = None;
        }
        if plan.started_after.is_none() || fails(self, ProbeKind::Readiness, plan.ready_after) {
            plan.ready_after = None;
        }
        plan
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
        let at = self
            .pod()
            .spec
            .containers
            .iter()
            .position(|container| container.name == probed.name);
        Why::BecameReady {
            probe: at.map(|i| answer(self.pod(), i as u32)).unwrap_or_default(),
        }
    }

    /// Returns the reason for becoming ready, with the response of the readiness probe, if there is one.
    fn why_ready(&self, i: u32) -> Why {
        let probed = containers::container(self.pod(), i)
            .is_some_and(|(_, container)| container.readiness_probe.is_some());
        Why::BecameReady {
            probe: if probed {
                answer(self.pod(), i)
            } else {
                Str::default()
            },
        }
    }

    /// Returns the time since a container's start, in microseconds.
    fn age(&self, i: u32) -> Option<u64> {
        let started = self.kubelets.course(self.job.uid)?.started.get(&i)?;
        Some(self.now.0.saturating_sub(started.0))
    }

    /// Starts the probes of a container that will fail.
    pub(super) fn watch_probes(&mut self, i: u32) -> Jobs {
        let now = self.now;
        if let Some(course) = self.kubelets.course_mut(self.job.uid) {
            course.started.insert(i, now);
            course
                .probes
                .iter_mut()
                .filter(|((of, _), _)| *of == i)
                .for_each(|(_, standing)| (standing.due, standing.row) = (None, 0));
        }
        let mut jobs = self.watch(i, ProbeKind::Startup);
        // Until the startup probe has succeeded, no other probe runs.
        if jobs.is_empty() {
            jobs = self.watch(i, ProbeKind::Readiness);
            jobs.extend(self.watch(i, ProbeKind::Liveness));
        }
        jobs
    }

    /// Schedules a probe for its next failure, if it ever fails.
    fn watch(&mut self, i: u32, kind: ProbeKind) -> Jobs {
        let Some(container) = containers::container(self.pod(), i).map(|(_, c)| c.clone()) else {
            return Vec::new();
        };
        let Some(plan) = plan(self.pod(), i, kind) else {
            return Vec::new();
        };
        let age = self.age(i).unwrap_or(0);
        let forced = self.standing(i, kind).is_some_and(|s| s.forced.is_some());
        let answers = answers(&container, self.pod(), i, &self.meta_for(i), kind);
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
        self.schedule(i, kind, at)
    }

    /// Schedules a probe for an age of its container.
    fn schedule(&mut self, i: u32, kind: ProbeKind, age: u64) -> Jobs {
        let slow = self.standing(i, kind).and_then(|s| s.forced) == Some(true);
        let timeout = plan(self.pod(), i, kind)
            .filter(|_| slow)
            .map_or(0, |plan| plan.timeout);
        let after = age
            .saturating_sub(self.age(i).unwrap_or(0))
            .saturating_add(timeout);
        let due = self.now.after(after);
        if let Some(standing) = self.standing(i, kind) {
            standing.due = Some(due);
        }
        vec![self.then(after, PodStep::Probe(i, kind))]
    }

    /// Handles the result of a probe.
    pub(super) fn probe(&mut self, i: u32, kind: ProbeKind) -> Jobs {
        let now = self.now;
        let runs = containers::seen(self.pod(), i).is_some_and(|s| s.state.running.is_some());
        let (Some(plan), true) = (plan(self.pod(), i, kind), runs) else {
            return Vec::new();
        };
        if self.standing(i, kind).is_none_or(|s| s.due != Some(now)) {
            return Vec::new();
        }
        let failing = self.failing(i, kind);
        let Some(standing) = self.standing(i, kind) else {
            return Vec::new();
        };
        standing.row = if failing.is_some() {
            standing.row.max(0) + 1
        } else {
            standing.row.min(0) - 1
        };
        let row = standing.row;
        standing.due = None;
        if let Some(slow) = failing {
            self.say_unhealthy(i, kind, slow);
        }
        if row >= plan.failures {
            if kind != ProbeKind::Readiness {
                return self.kill_container(
                    i,
                    &format_smolstr!(
                        "Container {{}} failed {} probe, will be restarted",
                        kind.as_str()
                    ),
                    Some(kind),
                    false,
                );
            }
            if containers::seen(self.pod(), i).is_some_and(|s| s.ready) {
                self.set_ready(
                    i,
                    false,
                    Why::ProbeFailed {
                        probe: kind.as_str(),
                    },
                );
            }
        } else if -row >= plan.successes {
            return self.succeeded(i, kind);
        }
        let age = self.age(i).unwrap_or(0);
        self.schedule(i, kind, plan.next(age + 1))
    }

    fn succeeded(&mut self, i: u32, kind: ProbeKind) -> Jobs {
        match kind {
            ProbeKind::Startup => return self.has_started(i),
            ProbeKind::Readiness => drop(self.set_ready(i, true, self.why_ready(i))),
            ProbeKind::Liveness => {}
        }
        self.watch(i, kind)
    }

    /// Handles the success of the startup probe: the other probes start.
    pub(super) fn has_started(&mut self, i: u32) -> Jobs {
        if self.failing(i, ProbeKind::Startup).is_some() {
            return Vec::new();
        }
        let Some(container) = containers::container(self.pod(), i).map(|(_, c)| c.clone()) else {
            return Vec::new();
        };
        let ready = Behaviour::of(
            &container,
            &self.meta_for(i),
            delays(&container, self.pod(), i),
        )
        .ready_after;
        let age = self.age(i).unwrap_or(0);
        let (wall, generation) = (self.out.server.wall(), self.object.meta.generation);
        let at_once = ready.is_some_and(|after| after <= age)
            && self.failing(i, ProbeKind::Readiness).is_none();
        let why = if at_once {
            self.why_ready(i)
        } else {
            Why::StartedUp
        };
        self.write(why, |pod| {
            if let Some(status) = containers::status(pod, i).filter(|s| s.state.running.is_some()) {
                status.started = Some(true);
                status.ready = at_once;
            }
            status::set_conditions(pod, true, wall, generation);
        });
        let mut jobs = self.watch(i, ProbeKind::Readiness);
        jobs.extend(self.watch(i, ProbeKind::Liveness));
        if let Some(n) = containers::number(i) {
            jobs.extend(self.after_init(n));
        }
        if let Some(after) = ready.filter(|after| *after > age) {
            jobs.push(self.then(after - age, PodStep::Ready(i)));
        }
        jobs
    }

    /// Makes a container ready as planned at its start, unless the probe fails by now.
    pub(super) fn ready(&mut self, i: u32) -> Jobs {
        if self.failing(i, ProbeKind::Readiness).is_some() {
            Vec::new()
        } else {
            self.set_ready(i, true, self.why_ready(i))
        }
    }

    /// Forces a probe to fail or succeed, from its next run on.
    pub(super) fn force_probe(&mut self, kind: ProbeKind, fails: Option<bool>) -> Jobs {
        let count = |list: &[Container]| list.len() as u32;
        let all = 0..count(&self.pod().spec.containers);
        let sidecars = (0..count(&self.pod().spec.init_containers)).map(|n| n | containers::FLAG);
        let Some(i) = all
            .chain(sidecars)
            .find(|i| plan(self.pod(), *i, kind).is_some())
        else {
            return Vec::new();
        };
        if let Some(standing) = self.standing(i, kind) {
            standing.forced = fails;
        }
        let status = containers::seen(self.pod(), i).filter(|s| s.state.running.is_some());
        let Some(status) = status else {
            return Vec::new();
        };
        let (started, ready) = (status.started == Some(true), status.ready);
        let (Some(plan), Some(age)) = (plan(self.pod(), i, kind), self.age(i)) else {
            return Vec::new();
        };
        // Only a result with an effect is scheduled; before startup only the startup probe runs.
        let matters = match (kind, fails.is_some()) {
            (ProbeKind::Startup, _) => !started,
            (ProbeKind::Readiness, false) => started && !ready,
            (_, fails) => started && fails,
        };
        if matters {
            self.schedule(i, kind, plan.next(age + 1))
        } else {
            Vec::new()
        }
    }

    fn say_unhealthy(&mut self, i: u32, kind: ProbeKind, slow: bool) {
        let object = self.object.clone();
        let pod = object.body::<Pod>();
        let Some((list, Container { name, .. })) = containers::container(pod, i) else {
            return;
        };
        let plan = plan(pod, i, kind).map_or(1, |plan| plan.timeout / SECOND);
        let output = output(
            (
                &raw(pod, i)[kind.field()],
                dead_port(pod, i, kind).is_some(),
            ),
            raw(pod, i),
            &pod.status.pod_ip,
            slow.then_some(plan),
        );
        let message = format_smolstr!("{} probe failed: {output}", kind.title());
        self.out.event_at(
            &object,
            &format_smolstr!("spec.{list}{{{name}}}"),
            "Warning",
            "Unhealthy",
            message,
        );
    }

    /// Stops one container, possibly because of a probe; `{}` in the message stands for its name. The container is restarted unless the
    /// policy is Never.
    pub(super) fn kill_container(
        &mut self,
        i: u32,
        message: &str,
        probe: Option<ProbeKind>,
        at_once: bool,
    ) -> Jobs {
        let object = self.object.clone();
        let pod = object.body::<Pod>();
        let Some((list, container)) = containers::container(pod, i) else {
            return Vec::new();
        };
        let run = self.run_number(i);
        let before = self
            .kubelets
            .course_mut(self.job.uid)
            .and_then(|course| course.stops.insert(i, run));
        if before == Some(run) && !at_once {
            return Vec::new();
        }
        let field = format_smolstr!("spec.{list}{{{}}}", container.name);
        self.out.event_at(
            &object,
            &field,
            "Normal",
            "Killing",
            Str::from(message.replacen("{}", &container.name, 1)),
        );
        let own = probe
            .and_then(|probe| raw(pod, i)[probe.field()]["terminationGracePeriodSeconds"].as_i64());
        let grace = own
            .or(pod.spec.termination_grace_period_seconds)
            .unwrap_or(30)
            .clamp(0, 1_000_000) as u64
            * SECOND;
        // A shell does not forward the signal, so the container is killed after the grace period.
        let (after, code) = match behaviour::ignores_signals(container) {
            _ if at_once => (MS, 137),
            true => (grace, 137),
            false => (self.kubelets.timing.pod_stop.min(grace), 0),
        };
        vec![self.then(after, PodStep::Killed(i, code, run))]
    }
}

/// Returns the output of a failing probe.
fn output((probe, dead): (&Value, bool), container: &Value, ip: &str, slow: Option<u64>) -> String {
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
            assert_eq!(output((&probe, false), &container, "10.0.0.2", slow), text);
        }
    }
}
