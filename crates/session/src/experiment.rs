//! Experiments with the control loops and the event-driven machine beside them: both get the same actions.

use super::run::Run;
use actions::Action;
use fault::{Fault, FaultTarget};
use i18n::{Message, msg};
use k8s_model::time::SECOND;
use k8s_model::{Kind, Object};
use std::rc::Rc;

/// Number of watch events about a Pod that is deleted gracefully: its deletion timestamp, the end of its containers, the status without
/// them, its removal.
const DELETION_EVENTS: usize = 4;

/// Number of Pods searched for one that both machines run.
const MAX_PODS_SCANNED: usize = 1_000;

/// Actions given to both machines.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Button text.
    pub words: Message,
    /// Effect.
    pub title: Message,
    /// Actions, in their order.
    pub actions: Vec<Action>,
}

/// Returns the experiments that are possible now; none without a Pod that both machines run.
pub fn experiments(run: &Run, beside: &Run) -> Vec<Experiment> {
    let runs_beside = |pod: &&Rc<Object>| {
        let other = beside.sim().store().get(&pod.key());
        other.is_some_and(|other| other.meta.uid == pod.meta.uid && is_replaceable(other))
    };
    let pods = run.sim().store().list(Kind::Pod);
    let Some(pod) = pods
        .take(MAX_PODS_SCANNED)
        .filter(|pod| is_replaceable(pod))
        .find(runs_beside)
        .map(|pod| pod.meta.name.clone())
    else {
        return Vec::new();
    };
    let target = FaultTarget::new(Kind::Pod, pod.clone());
    let delete = Action::kubectl(format!("kubectl delete pod {pod} --wait=false"));
    let experiment = |words, title, faults: Vec<Fault>, after: Option<Fault>| {
        let faults = faults.into_iter().map(Action::Fault);
        let after = after.into_iter().map(Action::Fault);
        Experiment {
            words,
            title,
            actions: faults.chain([delete.clone()]).chain(after).collect(),
        }
    };
    let lose = vec![
        Fault::Lose {
            target: target.clone(),
            component: None,
        };
        DELETION_EVENTS
    ];
    let repeat = vec![
        Fault::Repeat {
            target: target.clone(),
            component: None,
        };
        DELETION_EVENTS
    ];
    let delay = Fault::Delay {
        target,
        delay: Some(10 * SECOND),
        component: None,
    };
    let restart = Fault::Restart {
        component: controller_runtime::process::Process::ControllerManager
            .name()
            .into(),
    };
    vec![
        experiment(
            msg::experiment_delete(),
            msg::experiment_delete_title(),
            Vec::new(),
            None,
        ),
        experiment(
            msg::experiment_lose(),
            msg::experiment_lose_title(),
            lose.clone(),
            None,
        ),
        experiment(
            msg::experiment_repeat(),
            msg::experiment_repeat_title(),
            repeat,
            None,
        ),
        experiment(
            msg::experiment_delay(),
            msg::experiment_delay_title(),
            vec![delay],
            None,
        ),
        experiment(
            msg::experiment_restart(),
            msg::experiment_restart_title(),
            // The restart skips the first: its list has the deletion timestamp.
            lose[1..].to_vec(),
            Some(restart),
        ),
    ]
}

/// Returns true for a ready Pod of a ReplicaSet in the namespace of faults.
fn is_replaceable(pod: &Object) -> bool {
    pod.meta.namespace == "default"
        && pod.is_active_pod()
        && pod.pod().is_some_and(|body| body.is_ready())
        && pod
            .meta
            .controller()
            .is_some_and(|owner| owner.is_kind(Kind::ReplicaSet))
}
