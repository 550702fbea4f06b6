//! Mounts of claims.

use projection::model::{Claim, Model, Pod, Root};

/// Index of the Pods that mount each claim. Claims are identified by their index in the model.
pub(super) struct MountIndex<'a> {
    model: &'a Model,
    /// Claims created for a StatefulSet, with its namespace and name, sorted by these.
    members: Vec<((&'a str, &'a str), usize)>,
    /// Pods that mount each claim, by claim.
    pods: Vec<Vec<&'a Pod>>,
}

impl<'a> MountIndex<'a> {
    pub(super) fn of(model: &'a Model) -> MountIndex<'a> {
        let of_set = |(at, claim): (usize, &'a Claim)| {
            Some((
                (
                    claim.id.namespace.as_str(),
                    claim.member.as_ref()?.0.as_str(),
                ),
                at,
            ))
        };
        let mut members: Vec<_> = model.claims.iter().enumerate().filter_map(of_set).collect();
        members.sort();
        let mut pods = vec![Vec::new(); model.claims.len()];
        for pod in model.roots.iter().flat_map(mounting) {
            mounted(model, pod).for_each(|at| pods[at].push(pod));
        }
        MountIndex {
            model,
            members,
            pods,
        }
    }

    /// Returns the Pods that mount a claim.
    pub(super) fn pods_of(&self, claim: &Claim) -> Vec<&'a Pod> {
        let at = self.model.claim_place(&claim.id.namespace, &claim.id.name);
        at.map(|at| self.pods[at].clone()).unwrap_or_default()
    }

    /// Returns the claims that the root's Pods mount, and those created for it by name.
    pub(super) fn claims_of(&self, root: &'a Root) -> Vec<&'a Claim> {
        let Some(of) = &root.controller else {
            return Vec::new();
        };
        let mut all: Vec<usize> = mounting(root)
            .flat_map(|pod| mounted(self.model, pod))
            .collect();
        if of.id.kind == "StatefulSet" {
            let set = (of.id.namespace.as_str(), of.id.name.as_str());
            let from = self.members.partition_point(|(other, _)| *other < set);
            all.extend(
                self.members[from..]
                    .iter()
                    .take_while(|(other, _)| *other == set)
                    .map(|(_, at)| at),
            );
        }
        all.sort();
        all.dedup();
        all.into_iter().map(|at| &self.model.claims[at]).collect()
    }
}

/// Returns the indices of a Pod's existing claims.
fn mounted<'a>(model: &'a Model, pod: &'a Pod) -> impl Iterator<Item = usize> {
    pod.claims
        .iter()
        .filter_map(|name| model.claim_place(&pod.id.namespace, name))
}

/// Returns the Pods of a root that mount a claim.
fn mounting(root: &Root) -> impl Iterator<Item = &Pod> {
    root.groups
        .iter()
        .filter(|group| group.pods.mounts())
        .flat_map(|group| group.pods.iter())
        .map(|pod| &**pod)
}
