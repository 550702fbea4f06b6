//! Groups of workloads: their headings, and the part of a model below each.

use super::cards::claims_of_trees;
use super::measures::Frame;
use super::overview;
use crate::grouping::{GroupBy, WorkloadGroup};
use crate::references::{self, TreeIndex};
use crate::shape::{CardBody, Item, Rect, Scene};
use i18n::{Message, msg};
use projection::model::{Id, Model, Policy, Service, Volume};
use std::rc::Rc;

/// Height of a heading.
pub(super) const HEADING: f64 = 32.0;

/// Draws the heading of a group: its title, and the number of its ready workloads.
pub(super) fn put_heading(
    frame: &Frame<'_>,
    group: &WorkloadGroup,
    (x, y): (f64, f64),
    out: &mut Scene,
) -> usize {
    let owners = group
        .roots
        .iter()
        .filter_map(|at| frame.model.roots[*at].controller.as_deref());
    let ready = owners.clone().filter(|of| overview::is_ready(of)).count();
    let text = match owners.count() {
        0 => group.title.clone(),
        all => msg::overview_group(group.title.clone(), ready, all),
    };
    put_fold(&group.id, text, group.folded, (x, y, frame.width), out)
}

/// Draws a heading that folds what is below it, at most this wide.
pub(super) fn put_fold(
    id: &Id,
    text: Message,
    folded: bool,
    (x, y, most): (f64, f64, f64),
    out: &mut Scene,
) -> usize {
    let wide = (40.0 + 7.8 * text.length() as f64).min(most);
    let body = CardBody::Heading {
        text: text.clone(),
        folded,
    };
    out.put(id, Rect::new(x, y, wide, 24.0), body, None, "", text)
}

/// Makes the items below a heading its children. Pods without an owner keep no parent: lines lead to all of them.
pub(super) fn hang(items: &mut [Rc<Item>], heading: usize) {
    for item in items.iter_mut().filter(|item| item.parent.is_none()) {
        if !matches!(item.body, CardBody::Tile { .. } | CardBody::Cells(_)) {
            Rc::make_mut(item).parent = Some(heading);
        }
    }
}

/// Splits a model by group, with the objects that belong to its trees alone; and the objects that belong to no group, or to several.
pub(super) fn split_model(
    frame: &Frame<'_>,
    groups: &[WorkloadGroup],
    by: GroupBy,
) -> (Vec<Model>, Model) {
    let model = frame.model;
    let mut group_of = vec![0; model.roots.len()];
    groups
        .iter()
        .enumerate()
        .for_each(|(at, group)| group.roots.iter().for_each(|root| group_of[*root] = at));
    let mut parts: Vec<Model> = groups
        .iter()
        .map(|group| part(model, &group.roots))
        .collect();
    let mut rest = Model::default();
    for service in &model.services {
        // A Service that selects nothing stands in its namespace; in a narrow frame each stands over a tree.
        let near = || {
            groups
                .iter()
                .position(|group| by == GroupBy::Namespace && group.id.name == service.id.namespace)
        };
        let reached = service
            .reached(&model.roots)
            .first()
            .map(|root| group_of[*root]);
        let at = reached.or_else(near).or(frame.stacked.then_some(0));
        at.and_then(|at| parts.get_mut(at))
            .unwrap_or(&mut rest)
            .services
            .push(service.clone());
    }
    let trees = TreeIndex::of(model);
    for policy in &model.policies {
        let at = trees.root(&policy.target).map(|root| group_of[root]);
        at.map_or(&mut rest, |at| &mut parts[at])
            .policies
            .push(policy.clone());
    }
    for used in &model.uses {
        trees
            .home(used, |root| group_of[root])
            .map_or(&mut rest, |at| &mut parts[at])
            .uses
            .push(used.clone());
    }
    (parts, rest)
}

/// Returns some trees, with the claims and volumes of their Pods.
pub(super) fn part(model: &Model, roots: &[usize]) -> Model {
    let roots = roots.iter().map(|at| &model.roots[*at]);
    let claims: Vec<_> = claims_of_trees(model, roots.clone()).cloned().collect();
    let bound = |volume: &&Volume| claims.iter().any(|claim| claim.volume == volume.id.name);
    let volumes = model.volumes.iter().filter(bound).cloned().collect();
    let roots = roots.cloned().collect();
    Model {
        roots,
        claims,
        volumes,
        chosen: model.chosen.clone(),
        budget: model.budget.clone(),
        ..Model::default()
    }
}

/// Returns one tree with everything that selects it, scales it, or is used by it alone.
pub(super) fn tree_of(model: &Model, at: usize) -> Model {
    let mut tree = part(model, &[at]);
    if model.roots.len() * model.services.len() <= overview::MAX_PAIRS {
        let reaches = |service: &&Rc<Service>| service.reached(&model.roots).contains(&at);
        tree.services = model.services.iter().filter(reaches).cloned().collect();
    }
    let target = model.roots[at].controller.as_deref().map(|of| &of.id.uid);
    let aims = |policy: &&Policy| Some(&policy.target) == target;
    tree.policies = model.policies.iter().filter(aims).cloned().collect();
    let homes = references::homes(model);
    let own = model
        .uses
        .iter()
        .zip(homes)
        .filter(|(_, home)| *home == Some(at));
    tree.uses = own.map(|(used, _)| used.clone()).collect();
    tree
}
