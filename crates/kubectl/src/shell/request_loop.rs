//! Loop of requests that a shell in a container runs: one round a second is run and shown, and the requests of the whole loop count.
//!
//! The kubelet counts those of a container's own command (`kubelet`), and each other shell reports its own while somebody is attached.

use super::frame::ScriptFrame;
use super::machine::Machine;
use super::room::Place;
use super::script::{ShellScript, Step};
use crate::client::Client;
use cluster_network::request_loop::round_of_script;
use controller_runtime::load::{LoadGenerator, RequestRound, ShellRun};
use k8s_model::Time;
use k8s_model::environment;
use k8s_model::pod::Pod;
use k8s_model::time::SECOND;
use std::cell::OnceCell;
use std::rc::Rc;

/// Loop of requests in progress.
#[derive(Clone, Debug)]
pub(super) struct RequestLoop {
    /// Time at which the script began.
    began: Time,
    round: Rc<RequestRound>,
    /// True if this round has slept for a second.
    pub slept: bool,
}

impl Machine {
    /// Marks the shell as the process of its container, whose requests the kubelet counts.
    pub fn of_container(mut self) -> Machine {
        self.is_container = !self.interactive;
        self
    }

    /// Finds the loop of requests in which a script ends up, if the shell is in a container.
    pub(super) fn find_requests(&mut self, client: &mut Client<'_>, script: &ShellScript) {
        self.requests = None;
        if self.depth > 0 || !matches!(self.place, Place::Pod(..)) {
            return;
        }
        let (room, variables) = (self.room(client), OnceCell::new());
        let variable = |name: &str| {
            let own = self.vars.get(name).cloned();
            own.or_else(|| environment::find(variables.get_or_init(|| room.env()), name))
        };
        let round = round_of_script(script, &variable);
        let began = client.sim().now();
        self.requests = round.map(|round| RequestLoop {
            began,
            round: Rc::new(round),
            slept: false,
        });
    }

    /// Waits before the next round of a loop, unless this one took a second.
    pub(super) fn rest(&mut self, client: &Client<'_>, target: usize) {
        let is_loop = |frame: &ScriptFrame| {
            target < frame.at && !matches!(frame.script.steps.get(target), Some(Step::Next(..)))
        };
        let Some(requests) = &mut self.requests else {
            return;
        };
        if !self.frames.last().is_some_and(is_loop) || std::mem::take(&mut requests.slept) {
            return;
        }
        match &mut self.replay {
            Some((now, end)) => {
                *now = now.saturating_add(1);
                self.paused = *now >= *end;
            }
            None => self.until = Some(client.sim().now().after(SECOND)),
        }
    }

    /// Reports the loop of a shell that waits.
    pub(super) fn report_requests(&self, client: &mut Client<'_>) {
        let (Some(requests), Place::Pod(key, uid, container)) = (&self.requests, &self.place)
        else {
            return;
        };
        if self.is_container || self.replay.is_some() || self.frames.is_empty() {
            return;
        }
        let Some(pod) = self.place.pod(client) else {
            return;
        };
        let spec = &pod.body::<Pod>().spec;
        let Some((_, container)) = spec.every_container().nth(*container) else {
            return;
        };
        let next = self.deadline().unwrap_or(client.sim().now());
        let generator = LoadGenerator {
            pod: key.clone(),
            container: container.name.clone(),
            shell: Some(ShellRun {
                began: requests.began,
                until: next.after(SECOND),
            }),
            round: (*requests.round).clone(),
        };
        client.add_generator(*uid, generator);
    }
}
