//! Restart policies of single containers, and rules by exit code: which start a container again, or all of its Pod.
//!
//! Models `ContainerShouldRestart` in `pkg/api/v1/pod/util.go` and `ShouldAllContainersRestart` in
//! `pkg/kubelet/container/helpers.go`; the gates ContainerRestartRules and RestartAllContainersOnContainerExits are on in v1.36.

use super::{Jobs, Pass, Step, init, status};
use crate::api::pod::{Container, ContainerState, Pod, PodCondition};
use crate::api::time::SECOND;
use crate::api::{Str, Timestamp};
use crate::engine::why::Why;
use serde_json::Value;
use smol_str::format_smolstr;

const ALL_RESTART: &str = "AllContainersRestarting";

/// What follows the end of a container.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum After {
    /// It is not started again.
    Nothing,
    /// It is started again.
    Again,
    /// All containers of its Pod are stopped and started again.
    All,
}

/// What follows when this container ends with this code.
pub(super) fn after(pod: &Pod, i: u32, code: i32) -> After {
    match init::container(pod, i) {
        Some((list, container)) if !container.restart_policy.is_empty() => by_rule(pod, list, container, i, code),
        _ if status::ends(&pod.spec.restart_policy, code) => After::Nothing,
        _ => After::Again,
    }
}

fn by_rule(pod: &Pod, list: &str, container: &Container, i: u32, code: i32) -> After {
    let rules = pod.spec.raw[list][init::number(i).unwrap_or(i) as usize]["restartPolicyRules"].as_array();
    let meant = |rule: &&Value| {
        let codes = &rule["exitCodes"];
        let among = codes["values"].as_array().is_some_and(|values| values.iter().any(|value| value.as_i64() == Some(i64::from(code))));
        among == (codes["operator"] == "In")
    };
    match rules.and_then(|rules| rules.iter().find(meant)) {
        Some(rule) if rule["action"] == "RestartAllContainers" => After::All,
        Some(_) => After::Again,
        None if status::ends(&container.restart_policy, code) => After::Nothing,
        None => After::Again,
    }
}

/// The policy that holds for a container that the kubelet itself has stopped.
pub(super) fn policy(pod: &Pod, i: u32) -> &str {
    let own = init::container(pod, i).map_or("", |(_, container)| container.restart_policy.as_str());
    if own.is_empty() { &pod.spec.restart_policy } else { own }
}

fn condition(on: bool, wall: Timestamp, generation: i64) -> PodCondition {
    let told = |text: &'static str| if on { Str::new_static(text) } else { Str::default() };
    PodCondition {
        kind: Str::new_static(ALL_RESTART),
        status: Str::new_static(if on { "True" } else { "False" }),
        reason: told("RestartAllContainersStarted"),
        message: told("container exited with restart policy rule"),
        last_transition_time: Some(wall),
        observed_generation: generation,
        ..Default::default()
    }
}

impl Pass<'_, '_> {
    /// A rule asks for all containers: those that run are stopped first.
    pub(super) fn restart_all(&mut self) -> Jobs {
        let object = self.object.clone();
        let pod = object.body::<Pod>();
        let mut any = false;
        for (list, statuses) in [("initContainers", &pod.status.init_container_statuses), ("containers", &pod.status.container_statuses)] {
            for status in statuses.iter().filter(|status| status.state.running.is_some()) {
                let field = format_smolstr!("spec.{list}{{{}}}", status.name);
                self.out.event_at(&object, &field, "Normal", "Killing", format_smolstr!("Stopping container {}", status.name));
                any = true;
            }
        }
        let (wall, generation) = (self.out.server.wall(), object.meta.generation);
        self.write(Why::Observed, |pod| pod.status.set_condition(condition(true, wall, generation)));
        let grace = pod.spec.termination_grace_period_seconds.unwrap_or(30).clamp(0, 1_000_000) as u64 * SECOND;
        let stop = if any { self.kubelets.timing.pod_stop.min(grace) } else { 0 };
        vec![self.then(stop, Step::Anew)]
    }

    /// All containers have been stopped: the Pod begins once more, in its place and with its address.
    pub(super) fn anew(&mut self) -> Jobs {
        let (wall, generation) = (self.out.server.wall(), self.object.meta.generation);
        let all: Vec<u32> = init::all(self.pod()).collect();
        let mut counts = Vec::new();
        if let Some(running) = self.kubelets.running(self.job.uid) {
            for i in &all {
                let count = running.restarts.entry(*i).or_default();
                *count += 1;
                counts.push(*count);
            }
        }
        self.write(Why::Restarted { count: counts.iter().copied().max().unwrap_or(1) }, |pod| {
            let before: Vec<_> = all.iter().map(|i| init::status(pod, *i).cloned().unwrap_or_default()).collect();
            status::waiting(pod);
            for ((i, mut old), count) in all.iter().zip(before).zip(counts) {
                if old.state.running.is_some() {
                    status::terminate(&mut old, 137, wall);
                }
                let Some(status) = init::status(pod, *i) else { continue };
                status.restart_count = count;
                status.last_state = ContainerState { terminated: old.state.terminated.take(), ..Default::default() };
            }
            status::set_conditions(pod, true, wall, generation);
            pod.status.set_condition(condition(false, wall, generation));
        });
        if self.pod().spec.init_containers.is_empty() { self.start_containers(None) } else { self.next_init(0) }
    }
}
