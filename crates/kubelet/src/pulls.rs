//! Failed image pulls: retried after 10 s, 20 s, 40 s… up to 5 min.
//!
//! Guarantees: a container is in ErrImagePull after each attempt and in ImagePullBackOff until the next; if the image can be
//! pulled by then, it starts. Models `pkg/kubelet/images/image_manager.go` and the times at which `pod_workers.go` syncs a Pod again:
//! after an error or at the end of a back-off, within a minute, with a jitter of up to a half.

use super::PodSync;
use super::behaviour::{invalid_name, pull_error, pull_failure};
use super::containers::{ContainerId, policy};
use super::pod_worker::{Jobs, MAX_BACK_OFF, PodJob, PodStep};
use super::registry::can_be_pulled;
use super::status;
use apiserver::why::Why;
use k8s_model::Time;
use k8s_model::pod::{Container, Pod};
use k8s_model::time::SECOND;
use smol_str::format_smolstr;

/// Delay of the additional sync that the start of the sandbox triggers.
const FIRST_SYNC_US: u64 = SECOND;
const AFTER_ERROR_US: u64 = 10 * SECOND;
const AT_LEAST_EVERY_US: u64 = 60 * SECOND;

/// Back-off of a Pod's image pulls.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PullBackOff {
    failures: i32,
    /// End of the back-off after the last attempt; steps planned after an earlier one are void.
    until: Time,
}

impl PullBackOff {
    /// Counts a failed attempt; returns the delay until the next sync of the Pod.
    fn fail(&mut self, now: Time) -> u64 {
        let back_off = (10 << self.failures.clamp(0, 5)).min(MAX_BACK_OFF) as u64 * SECOND;
        self.failures += 1;
        self.until = now.after(back_off);
        if self.failures == 1 {
            FIRST_SYNC_US
        } else {
            with_jitter(AFTER_ERROR_US)
        }
    }
}

/// Returns true if the status shows a failed pull.
pub(super) fn fails(pod: &Pod, id: ContainerId) -> bool {
    let waiting = id.status(pod).and_then(|s| s.state.waiting.as_ref());
    waiting.is_some_and(|waiting| {
        matches!(
            &*waiting.reason,
            "ErrImagePull" | "ImagePullBackOff" | "InvalidImageName"
        )
    })
}

fn has_invalid_name(container: &Container) -> bool {
    invalid_name(&container.image).is_some()
}

/// Returns a delay with its maximum jitter: real delays are between two thirds of the result and the result.
fn with_jitter(delay: u64) -> u64 {
    delay + delay / 2
}

impl PodSync<'_, '_> {
    /// Handles failed pulls.
    pub(super) fn pull_failed(&mut self) -> (Time, PodJob) {
        let now = self.now;
        let delay = self.worker_mut().pulls.fail(now);
        self.then(delay, PodStep::PullBackOff(self.worker.pulls.until))
    }

    /// Pulls a changed image without back-off.
    pub(super) fn pull_without_back_off(&mut self) -> (Time, PodJob) {
        let until = self.now;
        self.worker_mut().pulls = PullBackOff { failures: 0, until };
        self.then(0, PodStep::PullBackOff(until))
    }

    /// Syncs a Pod with failed pulls, which are in back-off or retried.
    pub(super) fn pull_back_off(&mut self, until: Time) -> Jobs {
        let object = self.object.clone();
        let pod = object.body::<Pod>();
        let failing: Vec<(ContainerId, &Container)> = ContainerId::all(&pod.spec)
            .chain(ContainerId::ephemeral(&pod.spec))
            .filter(|id| fails(pod, *id))
            .filter_map(|id| Some((id, id.container(&pod.spec)?)))
            .collect();
        if failing.is_empty() || pod.is_terminal() || self.worker.pulls.until != until {
            return Vec::new();
        }
        let (found, failing): (Vec<_>, Vec<_>) = failing
            .into_iter()
            .partition(|(_, container)| can_be_pulled(&container.image));
        let mut jobs = Jobs::new();
        for (id, _) in found {
            jobs.extend(self.restart(id, None));
        }
        if failing.is_empty() {
            self.worker_mut().pulls = PullBackOff::default();
            return jobs;
        }
        if self.now < until {
            self.record_back_off(&failing);
            // An invalid name has no back-off: it is checked after each error.
            let at_least = if failing.iter().any(|(_, one)| has_invalid_name(one)) {
                AFTER_ERROR_US
            } else {
                AT_LEAST_EVERY_US
            };
            let left = (until.0 - self.now.0).min(at_least);
            jobs.push(self.then(with_jitter(left), PodStep::PullBackOff(until)));
            return jobs;
        }
        self.report_pull_failures(&failing, None);
        jobs.push(self.pull_failed());
        jobs
    }

    /// Handles a container that should restart but whose image cannot be pulled.
    pub(super) fn cannot_restart(&mut self, id: ContainerId, ended: Option<i32>) -> Jobs {
        let spec = self.pod().spec.clone();
        let container = id.container(&spec).map(|container| (id, container));
        self.report_pull_failures(container.as_slice(), ended);
        vec![self.pull_failed()]
    }

    /// Returns true if a container that is never restarted was stopped for an image that cannot be pulled, and so has ended.
    pub(super) fn has_lost_its_image(&mut self, id: ContainerId) -> bool {
        let pod = self.pod();
        let is_lost = id.container(&pod.spec).is_some_and(|container| {
            policy(pod, id) == "Never" && !can_be_pulled(&container.image)
        });
        if is_lost {
            self.record_pull_failure(id);
        }
        is_lost
    }

    /// Reports containers whose images could not be pulled.
    fn report_pull_failures(&mut self, failing: &[(ContainerId, &Container)], ended: Option<i32>) {
        for (id, _) in failing {
            self.record_pull_failure(*id);
        }
        let wall = self.out.store().wall();
        self.write_status(Why::ImagePull, |pod| {
            for (id, container) in failing {
                if let Some(status) = id.status_mut(pod) {
                    status::keep_end(status, ended, wall);
                    status.image = (&container.image).into();
                    let (reason, message) = pull_failure(&container.image);
                    status.state = status::waiting_for(reason, &message);
                }
            }
        });
    }

    /// Records the Events of pulls that wait for their back-off, and shows it in the status.
    fn record_back_off(&mut self, failing: &[(ContainerId, &Container)]) {
        let mut unreported = Vec::new();
        for (id, container) in failing {
            if has_invalid_name(container) {
                self.record_pull_failure(*id);
                continue;
            }
            let message = format_smolstr!("Back-off pulling image {:?}", container.image.as_str());
            self.record_container_event(*id, "Normal", "BackOff", message);
            self.record_container_event(*id, "Warning", "Failed", "Error: ImagePullBackOff");
            let waits = id.status(self.pod()).and_then(|s| s.state.waiting.as_ref());
            if waits.is_none_or(|waiting| waiting.reason != "ImagePullBackOff") {
                unreported.push((*id, &container.image));
            }
        }
        if unreported.is_empty() {
            return;
        }
        self.write(Why::ImagePull, |pod| {
            for (id, image) in unreported {
                let message = format!(
                    "Back-off pulling image {:?}: ErrImagePull: {}",
                    image.as_str(),
                    pull_error(image)
                );
                if let Some(status) = id.status_mut(pod) {
                    status.state = status::waiting_for("ImagePullBackOff", &message);
                }
            }
        });
    }

    /// Records the Events of a failed pull.
    pub(super) fn record_pull_failure(&mut self, id: ContainerId) {
        let Some(image) = id
            .container(&self.pod().spec)
            .map(|container| container.image.clone())
        else {
            return;
        };
        if let Some(message) = invalid_name(&image) {
            self.record_container_event(id, "Warning", "InspectFailed", message);
            self.record_container_event(id, "Warning", "Failed", "Error: InvalidImageName");
            return;
        }
        let image = image.as_str();
        let pulling = format_smolstr!("Pulling image {image:?}");
        self.record_container_event(id, "Normal", "Pulling", pulling);
        let failed = format_smolstr!("Failed to pull image {image:?}: {}", pull_error(image));
        self.record_container_event(id, "Warning", "Failed", failed);
        self.record_container_event(id, "Warning", "Failed", "Error: ErrImagePull");
    }
}
