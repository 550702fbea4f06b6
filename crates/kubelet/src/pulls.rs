//! Failed image pulls: retried after 10 s, 20 s, 40 s… up to 5 min.
//!
//! Guarantees: a container is in ErrImagePull after each attempt and in ImagePullBackOff until the next; if the image can be
//! pulled by then, it starts. Models `pkg/kubelet/images/image_manager.go` and the times at which `pod_workers.go` syncs a Pod again:
//! after an error or at the end of a back-off, within a minute, with a jitter of up to a half.

use super::behaviour::{invalid_name, pull_error, pull_failure};
use super::containers::policy;
use super::registry::can_be_pulled;
use super::state::{MAX_BACK_OFF, Tries};
use super::{Jobs, PodJob, PodPass, PodStep, status};
use crate::containers;
use apiserver::why::Why;
use k8s_model::pod::{Container, Pod};
use k8s_model::time::SECOND;
use k8s_model::{Str, Time};
use smol_str::format_smolstr;

/// Delay of the additional sync that the start of the sandbox triggers.
const FIRST_LOOK_US: u64 = SECOND;
const AFTER_ERROR_US: u64 = 10 * SECOND;
const AT_LEAST_EVERY_US: u64 = 60 * SECOND;

/// Returns true if the status shows a failed pull.
pub(super) fn fails(pod: &Pod, i: u32) -> bool {
    let waiting = containers::seen(pod, i).and_then(|s| s.state.waiting.as_ref());
    waiting.is_some_and(|waiting| {
        matches!(
            &*waiting.reason,
            "ErrImagePull" | "ImagePullBackOff" | "InvalidImageName"
        )
    })
}

/// Returns a delay with its maximum jitter: real delays are between two thirds of the result and the result.
fn stretched(wait: u64) -> u64 {
    wait + wait / 2
}

impl PodPass<'_, '_> {
    /// Handles failed pulls.
    pub(super) fn pull_failed(&mut self) -> (Time, PodJob) {
        let mut tries = self
            .kubelets
            .course(self.job.uid)
            .map_or_else(Tries::default, |course| course.pulls);
        let back_off = (10 << tries.count.clamp(0, 5)).min(MAX_BACK_OFF) as u64 * SECOND;
        let look = if tries.count == 0 {
            FIRST_LOOK_US
        } else {
            stretched(AFTER_ERROR_US)
        };
        tries = Tries {
            count: tries.count + 1,
            until: self.now.after(back_off),
        };
        self.set_tries(tries);
        self.then(look, PodStep::PullBackOff(tries.until))
    }

    /// Pulls a changed image without back-off.
    pub(super) fn pull_anew(&mut self) -> (Time, PodJob) {
        self.set_tries(Tries {
            count: 0,
            until: self.now,
        });
        self.then(0, PodStep::PullBackOff(self.now))
    }

    fn set_tries(&mut self, tries: Tries) {
        if let Some(course) = self.kubelets.course_mut(self.job.uid) {
            course.pulls = tries;
        }
    }

    /// Syncs a Pod with failed pulls, which are in back-off or retried.
    pub(super) fn pull_back_off(&mut self, until: Time) -> Jobs {
        let object = self.object.clone();
        let pod = object.body::<Pod>();
        let failing: Vec<u32> = containers::all(pod)
            .chain(containers::ephemeral(pod))
            .filter(|i| fails(pod, *i))
            .collect();
        let planned = self
            .kubelets
            .course(self.job.uid)
            .is_some_and(|course| course.pulls.until == until);
        if failing.is_empty() || pod.is_terminal() || !planned {
            return Vec::new();
        }
        let can =
            |i: &u32| containers::container(pod, *i).is_some_and(|(_, c)| can_be_pulled(&c.image));
        let (found, failing): (Vec<u32>, Vec<u32>) = failing.into_iter().partition(can);
        let mut jobs = Jobs::new();
        for i in found {
            jobs.extend(self.restart(i, None));
        }
        if failing.is_empty() {
            self.set_tries(Tries::default());
            return jobs;
        }
        if self.now < until {
            self.say_back_off(pod, &failing);
            // An invalid name has no back-off: it is checked after each error.
            let invalid = |i: &u32| {
                containers::container(pod, *i)
                    .is_some_and(|(_, c)| invalid_name(&c.image).is_some())
            };
            let at_least = if failing.iter().any(invalid) {
                AFTER_ERROR_US
            } else {
                AT_LEAST_EVERY_US
            };
            let left = (until.0 - self.now.0).min(at_least);
            jobs.push(self.then(stretched(left), PodStep::PullBackOff(until)));
            return jobs;
        }
        self.no_image(&failing, None);
        jobs.push(self.pull_failed());
        jobs
    }

    /// Handles a container that should restart but whose image cannot be pulled.
    pub(super) fn cannot_restart(&mut self, i: u32, ended: Option<i32>) -> Jobs {
        self.no_image(&[i], ended);
        vec![self.pull_failed()]
    }

    /// Returns true if a container that is never restarted was stopped for an image that cannot be pulled, and so has ended.
    pub(super) fn has_lost_its_image(&mut self, i: u32) -> bool {
        let object = self.object.clone();
        let pod = object.body::<Pod>();
        let lost = containers::container(pod, i)
            .filter(|(_, container)| policy(pod, i) == "Never" && !can_be_pulled(&container.image));
        if let Some((list, container)) = lost {
            self.say_pull_failed(&container.name, &container.image, list);
        }
        lost.is_some()
    }

    /// Reports containers whose images could not be pulled.
    fn no_image(&mut self, failing: &[u32], ended: Option<i32>) {
        let object = self.object.clone();
        let of = |i: &u32| {
            containers::container(object.body(), *i).map(|(list, container)| (*i, list, container))
        };
        let failing: Vec<(u32, &str, &Container)> = failing.iter().filter_map(of).collect();
        for (_, list, container) in &failing {
            self.say_pull_failed(&container.name, &container.image, list);
        }
        let (wall, generation) = (self.out.server.wall(), object.meta.generation);
        self.write(Why::ImagePull, |pod| {
            for (i, _, container) in failing {
                if let Some(status) = containers::status(pod, i) {
                    status::keep_end(status, ended, wall);
                    status.image = (&container.image).into();
                    let (reason, message) = pull_failure(&container.image);
                    status.state = status::waiting_for(reason, &message);
                }
            }
            status::set_conditions(pod, true, wall, generation);
        });
    }

    fn say_back_off(&mut self, pod: &Pod, failing: &[u32]) {
        let object = self.object.clone();
        let mut told = Vec::new();
        for i in failing {
            let Some((list, container)) = containers::container(pod, *i) else {
                continue;
            };
            if invalid_name(&container.image).is_some() {
                self.say_pull_failed(&container.name, &container.image, list);
                continue;
            }
            let field = format_smolstr!("spec.{list}{{{}}}", container.name);
            let message = format_smolstr!("Back-off pulling image {:?}", container.image.as_str());
            self.out
                .event_at(&object, &field, "Normal", "BackOff", message);
            self.out.event_at(
                &object,
                &field,
                "Warning",
                "Failed",
                "Error: ImagePullBackOff",
            );
            let waits = containers::seen(pod, *i).and_then(|s| s.state.waiting.as_ref());
            if waits.is_none_or(|waiting| waiting.reason != "ImagePullBackOff") {
                told.push((*i, container.image.clone()));
            }
        }
        if told.is_empty() {
            return;
        }
        self.write(Why::ImagePull, |pod| {
            for (i, image) in told {
                let message = format!(
                    "Back-off pulling image {:?}: ErrImagePull: {}",
                    image.as_str(),
                    pull_error(&image)
                );
                if let Some(status) = containers::status(pod, i) {
                    status.state = status::waiting_for("ImagePullBackOff", &message);
                }
            }
        });
    }

    pub(super) fn say_pull_failed(&mut self, name: &str, image: &str, list: &str) {
        let (object, field) = (
            self.object.clone(),
            format_smolstr!("spec.{list}{{{name}}}"),
        );
        if let Some(message) = invalid_name(image) {
            self.out
                .event_at(&object, &field, "Warning", "InspectFailed", message);
            self.out.event_at(
                &object,
                &field,
                "Warning",
                "Failed",
                "Error: InvalidImageName",
            );
            return;
        }
        self.out.event_at(
            &object,
            &field,
            "Normal",
            "Pulling",
            format_smolstr!("Pulling image {image:?}"),
        );
        let message: Str = format_smolstr!("Failed to pull image {image:?}: {}", pull_error(image));
        self.out
            .event_at(&object, &field, "Warning", "Failed", message);
        self.out
            .event_at(&object, &field, "Warning", "Failed", "Error: ErrImagePull");
    }
}
