//! Restarts of containers, with exponential back-off.
//!
//! Models `doBackOff` of `pkg/kubelet/kuberuntime/kuberuntime_manager.go`.

use super::behaviour::Behaviour;
use super::containers;
use super::state::Course;
use super::{
    BACK_OFF_RESET_S, BACK_OFF_SHOWN_US, FIRST_RESTART_US, Jobs, MAX_BACK_OFF, PodPass, PodStep,
    status,
};
use apiserver::why::Why;
use k8s_model::Str;
use k8s_model::pod::{ContainerState, ContainerStatus, Waiting};
use k8s_model::time::SECOND;
use smol_str::format_smolstr;
use std::collections::BTreeMap;

impl PodPass<'_, '_> {
    /// Restarts a container that has ended: the first time immediately, then after a back-off.
    pub(super) fn hold_back(&mut self, i: u32, ran: i64) -> Jobs {
        let mut held_back = 0;
        if let Some(course) = self.kubelets.course_mut(self.job.uid) {
            if ran >= BACK_OFF_RESET_S {
                course.held_back.remove(&i);
            }
            held_back = course.held_back.get(&i).copied().unwrap_or(0);
        }
        let restart = PodStep::Restart(i, self.run_number(i));
        vec![if held_back == 0 {
            self.then(FIRST_RESTART_US, restart)
        } else {
            self.then(BACK_OFF_SHOWN_US, PodStep::BackOff(i))
        }]
    }

    /// Puts a container into back-off: 10 s, 20 s, 40 s… up to 5 min.
    pub(super) fn back_off(&mut self, i: u32) -> Jobs {
        let known = self.kubelets.course(self.job.uid);
        let count = |map: fn(&Course) -> &BTreeMap<u32, i32>| {
            known
                .and_then(|course| map(course).get(&i))
                .copied()
                .unwrap_or(1)
        };
        let (held_back, restarts) = (
            count(|course| &course.held_back),
            count(|course| &course.restarts),
        );
        let seconds = (10 << (held_back - 1).clamp(0, 6)).min(MAX_BACK_OFF);
        let object = self.object.clone();
        let Some((list, container)) = containers::container(object.body(), i) else {
            return Vec::new();
        };
        if containers::seen(object.body(), i).is_none_or(|status| status.state.terminated.is_none())
        {
            return Vec::new();
        }
        let (name, pod, uid) = (
            container.name.clone(),
            object.meta.name.clone(),
            object.meta.uid,
        );
        let namespace = object.meta.namespace.clone();
        let field = format_smolstr!("spec.{list}{{{name}}}");
        self.out.event_at(
            &object,
            &field,
            "Warning",
            "BackOff",
            format_smolstr!(
                "Back-off restarting failed container {name} in pod {pod}_{namespace}({uid})"
            ),
        );
        self.write(
            Why::BackOff {
                seconds: i64::from(seconds),
                count: restarts,
            },
            |body| {
                let Some(status) = containers::status(body, i) else {
                    return;
                };
                status.last_state = ContainerState {
                    terminated: status.state.terminated.take(),
                    ..Default::default()
                };
                let message = format!(
                    "back-off {}restarting failed container={name} pod={pod}_{namespace}({uid})",
                    span(seconds)
                );
                status.state = ContainerState {
                    waiting: Some(Box::new(Waiting {
                        reason: "CrashLoopBackOff".into(),
                        message: message.into(),
                    })),
                    ..Default::default()
                };
                status.container_id = Str::default();
                status.image_id = Default::default();
            },
        );
        vec![self.then(
            seconds as u64 * SECOND,
            PodStep::Restart(i, self.run_number(i)),
        )]
    }

    /// Restarts a container, or starts a delayed one for the first time; `ended` is the exit code if it has just been stopped for this.
    pub(super) fn restart(&mut self, i: u32, ended: Option<i32>) -> Jobs {
        let Some((list, container)) =
            containers::container(self.pod(), i).map(|(list, c)| (list, c.clone()))
        else {
            return Vec::new();
        };
        if self.pod().is_terminal() {
            return Vec::new();
        }
        // A container that could not be created so far starts for the first time.
        let never_ran =
            |s: &ContainerStatus| s.state.terminated.is_none() && s.last_state.terminated.is_none();
        let first = ended.is_none() && containers::seen(self.pod(), i).is_some_and(never_ran);
        if first && let Some(n) = containers::number(i) {
            return self.next_init(n);
        }
        if let Some(jobs) = self.wait_for_environment(i) {
            return jobs;
        }
        let sidecar = containers::is_sidecar(&container);
        let init = containers::number(i).filter(|_| !sidecar);
        let ephemeral = containers::is_ephemeral(i);
        // Init containers that run to completion, and ephemeral ones, are never ready.
        let counts = init.is_none() && !ephemeral;
        let plan = match init {
            Some(_) => Behaviour::of(&container, &self.object.meta, (0, 0)),
            None => self.behaviour(&container, i),
        };
        if !plan.pulls {
            return self.cannot_restart(i, ended);
        }
        self.say_started(&container.name, &container.image, list);
        let (wall, generation, id) = (
            self.out.server.wall(),
            self.object.meta.generation,
            self.container_id(),
        );
        let mut count = 0;
        if !first && let Some(course) = self.kubelets.course_mut(self.job.uid) {
            let n = course.restarts.entry(i).or_default();
            *n += 1;
            count = *n;
            *course.held_back.entry(i).or_default() += 1;
        }
        let why = match ended {
            _ if first => self.why_started(std::slice::from_ref(&container), &[plan]),
            Some(_) => Why::NewImage {
                image: container.image.clone(),
            },
            None => Why::Restarted { count },
        };
        self.write(why, |pod| {
            let Some(status) = containers::status(pod, i) else {
                return;
            };
            status::keep_end(status, ended, wall);
            status.restart_count = count;
            status::run(
                status,
                &container.image,
                id,
                wall,
                counts && plan.ready_after == Some(0),
            );
            if ephemeral {
                status.started = None;
            } else if counts {
                status.started = Some(plan.started_after == Some(0));
                if containers::number(i).is_none() {
                    status::begin_phase(pod);
                }
            }
            status::set_conditions(pod, true, wall, generation);
        });
        match init {
            Some(n) => vec![self.then(containers::time(&container), PodStep::Init(n))],
            None => self.follow(i, &plan),
        }
    }
}

/// Formats a back-off as Go prints it: `20s `, `2m40s `.
fn span(seconds: i32) -> String {
    if seconds < 60 {
        format!("{seconds}s ")
    } else {
        format!("{}m{}s ", seconds / 60, seconds % 60)
    }
}
