//! Reads of Ownership: missing sources of Pods, and the last scale of ReplicaSets.

use crate::view::{Source, ViewMemory};
use apiserver::Record;
use cluster::Sim;
use explain::diagnose::refused_evictions;
use explain::effect;
use i18n::{Arg, Message, msg};
use k8s_model::{Body, Kind, ObjectRef, Uid, sources};
use kubelet::lack;
use projection::model::{Group, Model, Pod, PodState, Policy, Root};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Maximum number of Pods checked for missing sources.
const MAX_LACKING: usize = 24;
/// Entries searched backwards for the last scaling of a ReplicaSet.
const SCALE_LOOKBACK: usize = 100_000;

/// Reads the additional facts about owners and Pods.
pub fn read(model: &mut Model, source: &Source, memory: &mut ViewMemory) {
    say_lacks(model, source);
    say_refusals(model, source.sim);
    if model.roots.iter().any(updates) {
        memory.scales.read(model, source);
    }
}

/// Returns true if a Deployment has Pods of several revisions.
fn updates(root: &Root) -> bool {
    root.groups.len() > 1
        && root
            .controller
            .as_ref()
            .is_some_and(|of| of.id.kind == "Deployment")
}

/// Returns true if a budget has just refused an eviction that will be retried: a countdown is shown.
pub(super) fn refuses(sim: &Sim) -> bool {
    sim.store().count(Kind::PodDisruptionBudget) > 0
        && refused_evictions(sim, &|_, _| true).next().is_some()
}

/// Sets on each budget the eviction that it refuses.
fn say_refusals(model: &mut Model, sim: &Sim) {
    if sim.store().count(Kind::PodDisruptionBudget) == 0 {
        return;
    }
    for refused in refused_evictions(sim, &|_, _| true) {
        let is_it = |policy: &&mut Policy| {
            let id = &policy.id;
            id.kind == Kind::PodDisruptionBudget.name()
                && id.name == *refused.budget
                && id.namespace == *refused.pod.namespace
        };
        if let Some(policy) = model
            .policies
            .iter_mut()
            .find(is_it)
            .filter(|policy| policy.refuses.is_empty())
        {
            let pod = i18n::format::front(&refused.pod.name, 20);
            policy.refuses = msg::policy_refuses(pod, refused.seconds_left(sim.now()));
        }
    }
}

/// Sets the missing ConfigMap or Secret on the card of a Pod that cannot start; many Pods are cells, without it.
fn say_lacks(model: &mut Model, source: &Source) {
    let mut left = MAX_LACKING;
    let creates = |group: &&mut Group| {
        group.pods.len() <= MAX_LACKING
            && group
                .pods
                .counts()
                .iter()
                .any(|(state, _)| *state == PodState::Creating)
    };
    for group in model
        .roots
        .iter_mut()
        .flat_map(|root| &mut root.groups)
        .filter(creates)
    {
        for at in 0..group.pods.len() {
            let Some(pod) = group
                .pods
                .get(at)
                .filter(|pod| pod.state == PodState::Creating)
                .cloned()
            else {
                continue;
            };
            if left == 0 {
                return;
            }
            left -= 1;
            let object =
                source
                    .sim
                    .store()
                    .get(&ObjectRef::new(Kind::Pod, &pod.id.namespace, &pod.id.name));
            let Some(object) = object.filter(|object| !sources::of(object).is_empty()) else {
                continue;
            };
            let Some(lack) = lack(object, source.sim.store()) else {
                continue;
            };
            let (kind, name) = (
                lack.source.kind.name(),
                i18n::format::front(&lack.source.name, 13),
            );
            let word = match lack.only_key {
                true => msg::pod_waits_key(kind, name),
                false => msg::pod_waits_source(kind, name),
            };
            group.pods.replace(
                at,
                Rc::new(Pod {
                    word,
                    note: Message::default(),
                    ..(*pod).clone()
                }),
            );
        }
    }
}

/// Last scaling of each ReplicaSet, up to an entry of the journal.
#[derive(Default)]
pub struct LastScales {
    epoch: u64,
    read: usize,
    /// Last scaling by ReplicaSet: its Deployment, and the old and new size.
    sizes: BTreeMap<Uid, (Uid, String)>,
}

impl LastScales {
    /// Puts the last scaling of each ReplicaSet in an update onto its card.
    fn read(&mut self, model: &mut Model, source: &Source) {
        let happened = source.history.len();
        if self.epoch != source.epoch || self.read > happened {
            *self = LastScales {
                epoch: source.epoch,
                ..LastScales::default()
            };
        }
        let from = happened.saturating_sub(SCALE_LOOKBACK);
        if self.read < from {
            // The entries in between were not read.
            self.sizes.clear();
        }
        let from = self.read.max(from);
        for entry in source.history.from(from).iter() {
            let Record::Write { object, before, .. } = &entry.record else {
                continue;
            };
            // A changed template starts another rollout, also a rollback to an existing revision.
            if let (Body::Deployment(is), Some(Body::Deployment(was))) =
                (&object.body, before.as_ref().map(|before| &before.body))
                && is.spec.template != was.spec.template
            {
                self.sizes.retain(|_, (of, _)| *of != object.meta.uid);
            }
            let Some(owner) = object
                .meta
                .controller()
                .filter(|_| object.kind == Kind::ReplicaSet)
                .map(|owner| owner.uid)
            else {
                continue;
            };
            match before.as_ref().map(|before| effect::scaled(before, object)) {
                Some(Some(sizes)) => drop(self.sizes.insert(object.meta.uid, (owner, sizes))),
                Some(None) => {}
                // A new revision starts another rollout.
                None => self.sizes.retain(|_, (of, _)| *of != owner),
            }
        }
        self.read = happened;
        for group in model
            .roots
            .iter_mut()
            .filter(|root| updates(root))
            .flat_map(|root| &mut root.groups)
        {
            let Some(set) = group.controller.as_mut().filter(|set| set.chip.is_empty()) else {
                continue;
            };
            if let Some((_, sizes)) = Uid::parse(&set.id.uid).and_then(|uid| self.sizes.get(&uid)) {
                Rc::make_mut(set).chip = Message::only(Arg::Change(sizes.as_str().into()));
            }
        }
    }
}
