//! Applies the filter to a model.

use super::pod_filter::{PodFilter, Words};
use super::pods::Pods;
use super::scope::{Lister, Scope};
use crate::model::{ControllerCard, Id, Model, Pod};
use k8s_model::Kind;
use std::rc::Rc;

/// Removes objects that do not match the filter, also from the Pods of each node.
pub(super) fn filter(model: &mut Model, list: Lister, pods: &mut Pods, scope: &Scope) {
    let words = Words::of(&scope.filter);
    let mut pod_filter = pods.pod_filter.take().unwrap_or_default();
    if words.is_none() {
        pod_filter.groups = Default::default();
    }
    // A matching node keeps all its Pods; other nodes are removed.
    let named = words
        .as_ref()
        .filter(|_| scope.nodes)
        .map_or_else(Vec::new, |words| words.nodes(&model.nodes));
    let all = model.nodes.len();
    if !named.is_empty() {
        model.nodes = Rc::new(
            model
                .nodes
                .iter()
                .filter(|node| named.binary_search(&node.id.name).is_ok())
                .cloned()
                .collect(),
        );
    }
    let whole = words.as_ref().map_or_else(Vec::new, |words| {
        narrow(model, list, (words, &named), &mut pod_filter)
    });
    model.hidden += all - model.nodes.len();
    let lies = |pod: &Pod| {
        scope
            .namespace
            .as_ref()
            .is_none_or(|one| pod.id.namespace == *one)
    };
    let keeps = |pod: &Pod| {
        let on = || named.binary_search(&pod.node).is_ok();
        lies(pod)
            && words.as_ref().is_none_or(|words| {
                on() || whole
                    .binary_search_by(|uid| (**uid).cmp(&pod.owner))
                    .is_ok()
                    || words.want_pod(pod)
            })
    };
    pod_filter.nodes.begin(&(
        scope.namespace.clone(),
        scope.filter.clone(),
        [whole.clone(), named.clone()],
    ));
    let on = pods
        .on()
        .iter()
        .map(|(node, block)| (node.clone(), pod_filter.nodes.pass(node, block, &keeps)));
    model.on = Rc::new(on.filter(|(_, block)| !block.is_empty()).collect());
    pods.pod_filter = Some(pod_filter);
}

/// Removes the objects that do not match the words; trees whose root matches stay complete, and parts of a tree keep their owners. Returns
/// the sorted uids of owners whose Pods all stay.
pub(super) fn narrow(
    model: &mut Model,
    list: Lister,
    (words, named): (&Words, &[String]),
    pod_filter: &mut PodFilter,
) -> Vec<String> {
    let mut uids: Vec<String> = Vec::new();
    for kind in k8s_model::kind::all().filter(|kind| !matches!(kind, Kind::Event | Kind::Pod)) {
        uids.extend(
            list(kind)
                .iter()
                .filter(|object| words.want(object))
                .map(|object| object.meta.uid.to_string()),
        );
    }
    uids.sort();
    let is = |id: &Id| uids.binary_search(&id.uid).is_ok();
    let wants = |of: Option<&Rc<ControllerCard>>| of.is_some_and(|of| is(&of.id));
    let count = |model: &Model| {
        let trees = model.roots.iter().map(|root| {
            usize::from(root.controller.is_some())
                + root
                    .groups
                    .iter()
                    .map(|group| group.pods.len() + usize::from(group.controller.is_some()))
                    .sum::<usize>()
        });
        trees.sum::<usize>()
            + model.services.len()
            + model.policies.len()
            + model.claims.len()
            + model.volumes.len()
            + model.uses.len()
            + model.inert.len()
    };
    let before = count(model);
    let mut whole = Vec::new();
    pod_filter.groups.begin(&(words.clone(), named.to_vec()));
    for root in &mut model.roots {
        let stays = wants(root.controller.as_ref());
        for group in &mut root.groups {
            let owner = group
                .controller
                .as_ref()
                .or(root.controller.as_ref())
                .map_or("", |of| of.id.uid.as_str());
            if stays || wants(group.controller.as_ref()) {
                whole.push(owner.to_string());
            } else {
                group.pods = pod_filter.groups.pass(owner, &group.pods, &|pod| {
                    words.want_pod(pod) || named.binary_search(&pod.node).is_ok()
                });
            }
        }
        if !stays {
            root.groups
                .retain(|group| !group.pods.is_empty() || wants(group.controller.as_ref()));
            root.folded = 0;
        }
    }
    whole.sort();
    model
        .roots
        .retain(|root| !root.groups.is_empty() || wants(root.controller.as_ref()));
    if !model.claims.is_empty() {
        let claims = model.pods().flat_map(|pod| {
            pod.claims
                .iter()
                .map(|claim| format!("{}/{claim}", pod.id.namespace))
        });
        let mounted: std::collections::BTreeSet<String> = claims.collect();
        model.claims.retain(|claim| {
            is(&claim.id) || mounted.contains(&format!("{}/{}", claim.id.namespace, claim.id.name))
        });
    }
    let mut bound: Vec<String> = model
        .claims
        .iter()
        .map(|claim| claim.volume.clone())
        .collect();
    bound.sort();
    model
        .volumes
        .retain(|volume| is(&volume.id) || bound.binary_search(&volume.id.name).is_ok());
    model.services.retain(|service| is(&service.id));
    model.policies.retain(|policy| is(&policy.id));
    model.inert.retain(is);
    if !model.uses.is_empty() {
        filter_references(model, &is);
    }
    model.hidden = before - count(model);
    whole
}

/// Filters referenced objects: each stays with its users, or alone if it matches itself.
pub(super) fn filter_references(model: &mut Model, is: &dyn Fn(&Id) -> bool) {
    let bare = model
        .roots
        .iter()
        .filter(|root| root.controller.is_none())
        .flat_map(|root| &root.groups);
    let bare = bare
        .flat_map(|group| group.pods.iter())
        .map(|pod| pod.id.uid.clone());
    let roots = model
        .roots
        .iter()
        .filter_map(|root| Some(root.controller.as_ref()?.id.uid.clone()));
    let shown: std::collections::BTreeSet<String> = bare.chain(roots).collect();
    model.uses.retain_mut(|used| {
        used.users.retain(|user| shown.contains(&user.uid));
        is(&used.id) || !used.users.is_empty()
    });
}
