//! Replaces Pods of older templates, a few nodes at a time.
//!
//! Guarantees: without surge at most `maxUnavailable` nodes are without an available Pod because of the update; with
//! surge an old Pod stays until the new one beside it is available, and an old Pod on a node that no longer exists stops
//! the update until the Pod is gone.
//! Models `rollingUpdate` of `pkg/controller/daemon/update.go`.

use super::placement::is_updated;
use super::{DaemonSetPass, NodePods};
use apiserver::ApiError;
use apiserver::why::Why;
use k8s_model::workload::{IntOrPercent, RollingUpdate};
use k8s_model::{Object, Str};
use std::rc::Rc;

/// Pods to delete and nodes to get a second Pod, each with its reason.
#[derive(Default)]
pub(super) struct UpdatePlan {
    pub delete: Vec<(Rc<Object>, Why)>,
    pub create: Vec<(Str, Why)>,
}

/// New and old Pod of a node.
type Pair<'a> = (Option<&'a Rc<Object>>, Option<&'a Rc<Object>>);

/// Returns the Pods of a node that are not terminating; `None` if there are two old or two new ones.
fn pair<'a>(pass: &DaemonSetPass<'_>, pods: &'a [Rc<Object>]) -> Option<Pair<'a>> {
    let (mut new, mut old) = (None, None);
    for pod in pods.iter().filter(|p| !p.meta.is_deleting()) {
        let slot = if is_updated(pass.object, pod, &pass.hash) {
            &mut new
        } else {
            &mut old
        };
        if slot.replace(pod).is_some() {
            return None;
        }
    }
    Some((new, old))
}

/// Resolves `maxSurge` and `maxUnavailable` for a number of nodes; both are rounded up, and at least one is not 0.
pub(super) fn limits(rolling: Option<&RollingUpdate>, nodes: i64) -> (i64, i64) {
    let of = |value: Option<&IntOrPercent>, default: i64| {
        value.map_or(default, |v| v.resolve(nodes, true))
    };
    let surge = of(rolling.and_then(|r| r.max_surge.as_ref()), 0);
    let unavailable = of(rolling.and_then(|r| r.max_unavailable.as_ref()), 1);
    (
        surge,
        if nodes > 0 && surge == 0 && unavailable == 0 {
            1
        } else {
            unavailable
        },
    )
}

pub(super) fn plan(pass: &DaemonSetPass<'_>) -> Result<UpdatePlan, ApiError> {
    let wanted = pass.nodes.values().filter(|n| n.run).count() as i64;
    let (surge, unavailable) = limits(
        pass.set.spec.update_strategy.rolling_update.as_ref(),
        wanted,
    );
    if surge == 0 {
        Ok(replace(pass, unavailable))
    } else {
        add(pass, surge, wanted)
    }
}

/// Returns the nodes that the update concerns: those that should run a Pod, and those that have one, even if the node is gone.
fn concerned<'a>(pass: &'a DaemonSetPass<'_>) -> impl Iterator<Item = &'a NodePods> {
    pass.nodes
        .values()
        .filter(|n| n.run || !n.pods.is_empty())
        .chain(pass.missing.values())
}

fn replace(pass: &DaemonSetPass<'_>, at_most: i64) -> UpdatePlan {
    let mut unavailable = 0;
    let (mut broken, mut candidates) = (Vec::new(), Vec::new());
    for node in concerned(pass) {
        match pair(pass, &node.pods) {
            None | Some((None, None)) | Some((Some(_), Some(_))) => unavailable += 1,
            Some((Some(new), None)) => unavailable += i64::from(!pass.is_available(new)),
            Some((None, Some(old))) if !pass.is_available(old) => {
                broken.push(old.clone());
                unavailable += 1;
            }
            Some((None, Some(_))) if unavailable >= at_most => {}
            Some((None, Some(old))) => candidates.push(old.clone()),
        }
    }
    candidates.truncate((at_most - unavailable).max(0) as usize);
    let why = |pod: Rc<Object>| {
        (
            pod,
            Why::ReplaceDaemon {
                unavailable,
                at_most,
            },
        )
    };
    UpdatePlan {
        delete: broken.into_iter().chain(candidates).map(why).collect(),
        ..Default::default()
    }
}

fn add(pass: &DaemonSetPass<'_>, at_most: i64, wanted: i64) -> Result<UpdatePlan, ApiError> {
    let (mut surging, mut available) = (0, 0);
    let (mut leaving, mut broken, mut candidates) = (Vec::new(), Vec::new(), Vec::new());
    let mut plan = UpdatePlan::default();
    for node in concerned(pass) {
        let Some((new, old)) = pair(pass, &node.pods) else {
            surging += 1;
            continue;
        };
        available += i64::from(old.or(new).is_some_and(|pod| pass.is_available(pod)));
        let Some(old) = old else { continue };
        let name = node.name.clone();
        match new {
            None if pass.missing.contains_key(&node.name) => {
                return Err(ApiError::internal(&format!(
                    "couldn't get node for nodeName {0:?}: node {0:?} not found",
                    node.name.as_str()
                )));
            }
            None if !node.run && !pass.is_available(old) => plan
                .delete
                .push((old.clone(), Why::NodeUnfit { node: name })),
            None if !node.run => leaving.push((old.clone(), Why::NodeUnfit { node: name })),
            None if !pass.is_available(old) => broken.push(name),
            None if surging >= at_most => {}
            None => candidates.push(name),
            Some(new) if !pass.is_available(new) => surging += 1,
            Some(_) => plan
                .delete
                .push((old.clone(), Why::NodeHasPod { node: name })),
        }
    }
    // Pods on nodes that should no longer run them stay until enough other Pods are available.
    leaving.truncate((available - wanted).max(0) as usize);
    plan.delete.extend(leaving);
    candidates.truncate((at_most - surging).max(0) as usize);
    let why = |node: Str| (node.clone(), Why::Surge { node, at_most });
    plan.create = broken.into_iter().chain(candidates).map(why).collect();
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_round_up_and_never_stop_an_update() {
        let rolling = |surge, unavailable| RollingUpdate {
            max_surge: Some(surge),
            max_unavailable: Some(unavailable),
            partition: None,
        };
        use IntOrPercent::{Int, Percent};
        let cases = [
            (None, (0, 1)),
            (Some(rolling(Int(0), Percent(34))), (0, 2)),
            (Some(rolling(Percent(10), Int(0))), (1, 0)),
            (Some(rolling(Int(0), Int(0))), (0, 1)),
        ];
        for (rolling, expected) in cases {
            assert_eq!(limits(rolling.as_ref(), 3), expected, "{rolling:?}");
        }
    }
}
