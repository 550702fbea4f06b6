//! Trees that share a Service, with the rows above them.

use super::measures::{Frame, Measures, USUAL};
use super::rows::TreeRow;
use super::tree::OwnershipTree;
use crate::shape::Scene;
use projection::model::{Policy, Root, Used};
use std::collections::BTreeSet;

/// Trees connected by a Service: usually one.
pub(super) struct Bundle<'a> {
    /// Rows of objects that select several of them.
    pub(super) rows: Vec<TreeRow<'a>>,
    pub(super) trees: Vec<OwnershipTree<'a>>,
}

/// Assigns Services and policies to trees; returns those without a tree, the bundles, and the objects used by several trees.
pub(super) fn bundles<'a>(
    frame: &Frame<'a>,
    homes: &[Option<usize>],
) -> (Vec<TreeRow<'a>>, Vec<Bundle<'a>>, Vec<&'a Used>) {
    let model = frame.model;
    let mut trees: Vec<OwnershipTree> = model
        .roots
        .iter()
        .map(|root| OwnershipTree::new(frame, root))
        .collect();
    let mut with: Vec<usize> = (0..trees.len()).collect();
    let (mut loose, mut shared) = (Vec::new(), Vec::new());
    for service in &model.services {
        match service.reached(&model.roots)[..] {
            [] => loose.push(TreeRow::Service(service)),
            [one] => trees[one].rows.push(TreeRow::Service(service)),
            ref several => {
                shared.push((several[0], service));
                let first = several.iter().map(|at| with[*at]).min().unwrap_or(0);
                let joined: Vec<usize> = several.iter().map(|at| with[*at]).collect();
                with.iter_mut()
                    .filter(|at| joined.contains(at))
                    .for_each(|at| *at = first);
            }
        }
    }
    // An autoscaler comes last: nothing stands between it and its target.
    let aims = |policy: &&Policy| {
        model.roots.iter().position(|root| {
            root.controller
                .as_ref()
                .is_some_and(|of| of.id.uid == policy.target)
        })
    };
    let scales = |policy: &&Policy| TreeRow::Policy(policy).scales();
    for policy in model
        .policies
        .iter()
        .filter(|it| !scales(it))
        .chain(model.policies.iter().filter(scales))
    {
        match aims(&policy) {
            Some(at) => trees[at].rows.push(TreeRow::Policy(policy)),
            None => loose.push(TreeRow::Policy(policy)),
        }
    }
    let mut common = Vec::new();
    for (used, home) in model.uses.iter().zip(homes) {
        match home {
            Some(at) => trees[*at].uses.push(used),
            None => common.push(used),
        }
    }
    let mut out: Vec<(usize, Bundle)> = Vec::new();
    for (at, mut tree) in with.iter().zip(trees) {
        tree.measure(frame);
        match out.iter_mut().find(|(first, _)| first == at) {
            Some((_, bundle)) => bundle.trees.push(tree),
            None => out.push((
                *at,
                Bundle {
                    rows: Vec::new(),
                    trees: vec![tree],
                },
            )),
        }
    }
    for (root, service) in shared {
        out.iter_mut()
            .filter(|(first, _)| *first == with[root])
            .for_each(|(_, bundle)| bundle.rows.push(TreeRow::Service(service)));
    }
    (
        loose,
        out.into_iter().map(|(_, bundle)| bundle).collect(),
        common,
    )
}

impl<'a> Bundle<'a> {
    /// Width, and the height outside of updates: the room for a rollout must not move trees between columns.
    pub(super) fn size(&self) -> (f64, f64) {
        let wide = self
            .trees
            .iter()
            .map(|tree| tree.ends.1)
            .fold(0.0, f64::max);
        let Measures { apart, row, .. } = self.trees.first().map_or(&USUAL, |tree| tree.measures);
        let high: f64 = self.trees.iter().map(|tree| tree.rest() + apart).sum();
        let rows = self.rows.len() as f64;
        (
            wide + if rows > 0.0 {
                16.0 + (rows - 1.0) * 10.0
            } else {
                0.0
            },
            high - apart + rows * row,
        )
    }

    /// Draws the bundle and returns its bottom.
    pub(super) fn put(
        &self,
        frame: &Frame<'a>,
        (x, top): (f64, f64),
        wide: f64,
        out: &mut Scene,
        claims: &mut BTreeSet<String>,
    ) -> f64 {
        let mut y = top;
        let mut cards = Vec::new();
        let roots: Vec<&Root> = self.trees.iter().map(|tree| tree.root).collect();
        for (k, row) in self.rows.iter().enumerate() {
            let rail = x + wide - k as f64 * 10.0;
            let card = row.put(frame.measures, &roots, (x, y), rail, out);
            cards.push((row, card, rail));
            y += frame.measures.row;
        }
        let mut ends = Vec::new();
        for tree in &self.trees {
            y = tree.put(frame, (x, y), out, claims, &mut ends) + frame.measures.apart;
        }
        for (k, (row, card, rail)) in cards.into_iter().enumerate() {
            row.rail(card, rail, 12.0 - k as f64 * 8.0, &ends, out);
        }
        y - frame.measures.apart
    }
}
