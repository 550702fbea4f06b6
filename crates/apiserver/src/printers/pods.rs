//! Row of a Pod, whose status summarizes its containers.
//!
//! Models `printPod` of `pkg/printers/internalversion`.

use super::{Cells, Column, Printer, age, or_none};
use k8s_model::pod::{ContainerStatus, Pod, Terminated};
use k8s_model::{Object, Timestamp};

pub(crate) const POD: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("Ready"),
        Column::text("Status"),
        Column::text("Restarts"),
        Column::text("Age"),
        Column::text("IP").wide(),
        Column::text("Node").wide(),
        Column::text("Nominated Node").wide(),
        Column::text("Readiness Gates").wide(),
    ],
    cells: Cells::Object(cells),
};

fn cells(object: &Object, now: i64) -> Vec<String> {
    let Some(pod) = object.pod() else {
        return Vec::new();
    };
    let summary = PodSummary::of(object, pod);
    let created = object.meta.creation_timestamp;
    let age = created.map(|created| age::human(now - created.seconds()));
    let ready = format!("{}/{}", summary.ready, summary.total);
    let restarts = summary.restarts_text(now);
    vec![
        object.meta.name.to_string(),
        ready,
        summary.reason,
        restarts,
        age.unwrap_or_else(|| "<unknown>".to_owned()),
        or_none(&pod.status.pod_ip),
        or_none(&pod.node_name),
        or_none(&pod.status.nominated_node_name),
        readiness_gates(pod),
    ]
}

fn readiness_gates(pod: &Pod) -> String {
    let gates = pod.spec.raw["readinessGates"].as_array();
    let all = gates.map_or(&[][..], Vec::as_slice);
    let is_met = |gate: &&serde_json::Value| {
        let condition = gate["conditionType"].as_str();
        condition.is_some_and(|condition| pod.status.is_true(condition))
    };
    match all.len() {
        0 => "<none>".to_owned(),
        total => format!("{}/{total}", all.iter().filter(is_met).count()),
    }
}

/// Column values of a Pod.
#[derive(Clone, Debug, Default)]
pub struct PodSummary {
    /// Number of ready containers.
    pub ready: usize,
    /// Number of containers, sidecars included.
    pub total: usize,
    /// STATUS.
    pub reason: String,
    /// True if an init container has not ended.
    pub is_initializing: bool,
    /// True if the reason is that of a waiting container.
    pub is_waiting: bool,
    restarts: Restarts,
}

/// Restarts of some containers.
#[derive(Clone, Copy, Debug, Default)]
struct Restarts {
    count: i64,
    last: Option<Timestamp>,
}

impl Restarts {
    fn add(&mut self, status: &ContainerStatus) {
        self.count += i64::from(status.restart_count);
        let ended = &status.last_state.terminated;
        let finished = ended.as_ref().and_then(|ended| ended.finished_at);
        self.last = self.last.max(finished);
    }
}

impl PodSummary {
    /// Summarizes a Pod.
    pub fn of(object: &Object, pod: &Pod) -> PodSummary {
        let status = &pod.status;
        let mut reason = match status.reason.as_str() {
            "" => status.phase.to_string(),
            reason => reason.to_owned(),
        };
        let is_gated = status
            .condition("PodScheduled")
            .is_some_and(|condition| condition.reason == "SchedulingGated");
        if is_gated {
            reason = "SchedulingGated".to_owned();
        }
        let mut summary = PodSummary {
            total: pod.spec.containers.len(),
            reason,
            ..PodSummary::default()
        };
        let sidecar_restarts = summary.add_init_containers(pod);
        if !summary.is_initializing || status.is_true("Initialized") {
            summary.restarts = sidecar_restarts;
            summary.add_containers(pod);
        }
        if object.meta.is_deleting() {
            if status.reason == "NodeLost" {
                summary.reason = "Unknown".to_owned();
            } else if !pod.is_terminal() {
                summary.reason = "Terminating".to_owned();
            }
        }
        summary
    }

    /// Number of restarts in the RESTARTS column.
    pub fn restarts(&self) -> i64 {
        self.restarts.count
    }

    /// Formats the RESTARTS column at `now`, in seconds since 1970.
    fn restarts_text(&self, now: i64) -> String {
        let count = self.restarts.count;
        match self.restarts.last.filter(|_| count != 0) {
            Some(last) => format!("{count} ({} ago)", age::human(now - last.seconds())),
            None => count.to_string(),
        }
    }

    /// Adds the init containers up to the first that has not ended; returns the restarts of the sidecars among them.
    fn add_init_containers(&mut self, pod: &Pod) -> Restarts {
        let specs = &pod.spec.init_containers;
        let mut sidecar_restarts = Restarts::default();
        self.total += specs.iter().filter(|spec| spec.is_sidecar()).count();
        for (index, status) in pod.status.init_container_statuses.iter().enumerate() {
            let state = &status.state;
            let spec = specs.iter().find(|spec| spec.name == status.name);
            let is_sidecar = spec.is_some_and(|spec| spec.is_sidecar());
            self.restarts.add(status);
            if is_sidecar {
                sidecar_restarts.add(status);
            }
            let waiting = state.waiting.as_ref().map_or("", |waiting| &waiting.reason);
            self.reason = match &state.terminated {
                Some(terminated) if terminated.exit_code == 0 => continue,
                _ if is_sidecar && status.started == Some(true) => {
                    self.ready += usize::from(status.ready);
                    continue;
                }
                Some(terminated) => format!("Init:{}", ended(terminated)),
                None if !matches!(waiting, "" | "PodInitializing") => format!("Init:{waiting}"),
                None => format!("Init:{index}/{}", specs.len()),
            };
            self.is_initializing = true;
            break;
        }
        sidecar_restarts
    }

    fn add_containers(&mut self, pod: &Pod) {
        let mut is_running = false;
        for status in pod.status.container_statuses.iter().rev() {
            self.restarts.add(status);
            let state = &status.state;
            let waiting = state.waiting.as_ref().map_or("", |waiting| &waiting.reason);
            if !waiting.is_empty() {
                self.reason = waiting.to_owned();
                self.is_waiting = true;
            } else if let Some(terminated) = &state.terminated {
                self.reason = ended(terminated);
                self.is_waiting = false;
            } else if status.ready && state.running.is_some() {
                is_running = true;
                self.ready += 1;
            }
        }
        if self.reason == "Completed" && is_running {
            self.reason = match pod.is_ready() {
                true => "Running".to_owned(),
                false => "NotReady".to_owned(),
            };
        }
    }
}

fn ended(terminated: &Terminated) -> String {
    match terminated.reason.as_str() {
        "" => format!("ExitCode:{}", terminated.exit_code),
        reason => reason.to_owned(),
    }
}
