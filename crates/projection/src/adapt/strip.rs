//! Budget of the followed rollout.

use super::pods::Pods;
use super::scope::SEEN;
use super::scope::{Lister, Scope, by_creation, workloads};
use super::workloads::revision;
use crate::budget::{Budget, Sizes};
use crate::model::PodState;
use k8s_model::workload::{Deployment, IntOrPercent, ReplicaSet};
use k8s_model::{Kind, Object, Uid};
use std::rc::Rc;

/// Returns the rollout budget of a Deployment: the selected one, or the owner of the selected object; `None` if another workload is
/// selected. Without a selected workload, of the first that is being updated, else the first.
pub fn budget(
    list: Lister,
    pods: &Pods,
    scope: &Scope,
    selected: Option<&Object>,
) -> Option<Budget> {
    let mut rolling = list(Kind::Deployment);
    rolling.retain(|object| {
        scope.holds(object)
            && object
                .get::<Deployment>()
                .is_some_and(|body| body.spec.strategy.kind != "Recreate")
    });
    let sets = list(Kind::ReplicaSet);
    // Maps a Pod's owner and a ReplicaSet to the Deployment; any other workload to itself.
    let owner = |uid: Uid| {
        sets.iter()
            .find(|set| set.meta.uid == uid)
            .and_then(|set| set.meta.controller())
            .map_or(uid, |owner| owner.uid)
    };
    let workload = selected.filter(|object| workloads().any(|kind| kind == object.kind));
    let chosen = workload.map(|object| {
        owner(
            object
                .meta
                .controller()
                .map_or(object.meta.uid, |owner| owner.uid),
        )
    });
    // Without a selection, a rollout in progress is more informative than a completed one.
    let moving = |object: &&Rc<Object>| {
        object.get::<Deployment>().is_some_and(|d| {
            d.status.updated_replicas != d.spec.replicas || d.status.replicas != d.spec.replicas
        })
    };
    let first = |a: &&Rc<Object>, b: &&Rc<Object>| by_creation(a, b);
    let object = match chosen {
        // A selected workload without a budget does not show another one's.
        Some(uid) => rolling.iter().find(|object| object.meta.uid == uid)?,
        None => rolling
            .iter()
            .filter(moving)
            .min_by(first)
            .or_else(|| rolling.iter().min_by(first))?,
    };
    let body = object.get::<Deployment>()?;
    let desired = i64::from(body.spec.replicas.max(0));
    let (more, fewer) = body.limits();
    let update = body.spec.strategy.rolling_update.as_ref();
    let words = |limit: Option<&IntOrPercent>| match limit {
        Some(IntOrPercent::Int(n)) => n.to_string(),
        Some(IntOrPercent::Percent(n)) => format!("{n}%"),
        None => String::new(),
    };
    let mut sets: Vec<&Rc<Object>> = sets
        .iter()
        .filter(|set| set.meta.is_controlled_by(object.meta.uid))
        .collect();
    sets.sort_by_key(|set| revision(set));
    let newest = sets.last().map(|set| set.meta.uid);
    let mut out = Budget {
        uid: object.meta.uid.to_string(),
        name: object.meta.name.to_string(),
        several: rolling.len() > 1,
        surge: words(update.and_then(|update| update.max_surge.as_ref())),
        unavailable: words(update.and_then(|update| update.max_unavailable.as_ref())),
        at_least: (desired - fewer).max(0) as usize,
        at_most: (desired + more).max(0) as usize,
        ..Budget::default()
    };
    let mut waits = None;
    let done = body
        .status
        .conditions
        .iter()
        .any(|c| c.kind == "Progressing" && c.reason == "NewReplicaSetAvailable");
    let rolling = sets.len() > 1 && !done;
    let unobserved = Some(object.meta.generation)
        .filter(|generation| body.status.observed_generation < *generation);
    let mut sizes = Sizes {
        desired: desired as usize,
        paused: body.spec.paused,
        rolling,
        unobserved,
        ..Sizes::default()
    };
    for set in &sets {
        let new = Some(set.meta.uid) == newest;
        if let Some(body) = set.get::<ReplicaSet>() {
            let asked = body.spec.replicas.max(0) as usize;
            match new {
                true => {
                    (sizes.new, sizes.available) =
                        (asked, body.status.available_replicas.max(0) as usize)
                }
                false => sizes.old += asked,
            }
        }
        let own = pods.of(set.meta.uid);
        let waiting = |state: PodState| !matches!(state, PodState::Ready | PodState::Terminating);
        if new && own.counts().iter().any(|(state, _)| waiting(*state)) {
            let places = own
                .states()
                .enumerate()
                .filter(|(_, state)| waiting(*state));
            let pod = places
                .filter_map(|(at, _)| own.get(at))
                .find(|pod| !pod.ended);
            waits =
                pod.map(|pod| format!("…{}", &pod.id.name[pod.id.name.len().saturating_sub(9)..]));
        }
        if own.len() > SEEN {
            // Among so many Pods a single one whose image was changed by hand is not distinguished.
            let image = own.first().map(|pod| pod.image.clone()).unwrap_or_default();
            let counts = own.counts();
            let of = |wanted: PodState| {
                counts
                    .iter()
                    .find(|(state, _)| *state == wanted)
                    .map_or(0, |(_, n)| *n)
            };
            // Failing Pods that have ended are not counted by any controller.
            let ended = own
                .ended()
                .saturating_sub(of(PodState::Succeeded))
                .min(of(PodState::Failed));
            for (state, n) in &counts {
                out.add(
                    *state,
                    &image,
                    new,
                    if *state == PodState::Failed {
                        n - ended
                    } else {
                        *n
                    },
                );
            }
        } else {
            own.iter()
                .filter(|pod| !pod.ended)
                .for_each(|pod| out.add(pod.state, &pod.image, new, 1));
        }
    }
    Some(out.settle(sizes, waits.as_deref()))
}
