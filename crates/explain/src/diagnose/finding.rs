//! Diagnosis of an object that waits or fails, and helpers to build it.

use crate::headline;
use crate::waits::{DecidingFact, FactLabel, PendingReason, RemedyKind};
use crate::why::Row;
use actions::Action;
use cluster::Sim;
use i18n::Message;
use k8s_model::{Kind, Object, ObjectRef, Str, Time, Timestamp};
use projection::adapt::revision;
use std::rc::Rc;

/// The cluster, and the function to diagnose other objects.
pub struct Context<'a> {
    sim: &'a Sim,
    diagnose: fn(&Sim, &ObjectRef) -> Option<Diagnosis>,
}

impl<'a> Context<'a> {
    /// Creates a context of a cluster with the function that diagnoses every kind.
    pub fn new(sim: &'a Sim, diagnose: fn(&Sim, &ObjectRef) -> Option<Diagnosis>) -> Context<'a> {
        Context { sim, diagnose }
    }

    /// Diagnoses another object.
    pub fn diagnose(&self, key: &ObjectRef) -> Option<Diagnosis> {
        (self.diagnose)(self.sim, key)
    }
}

impl std::ops::Deref for Context<'_> {
    type Target = Sim;

    fn deref(&self) -> &Sim {
        self.sim
    }
}

/// Diagnosis of an object that waits or fails.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnosis {
    /// Object.
    pub object: ObjectRef,
    /// Missing condition.
    pub waits: PendingReason,
    /// Deciding facts.
    pub facts: Vec<DecidingFact>,
    /// Object that it waits for.
    pub waits_for: Option<ObjectRef>,
    /// Start of the wait, in milliseconds.
    pub since: Option<u64>,
    /// Remedies that could help.
    pub remedies: Vec<Remedy>,
    /// Sentence about what is unaffected.
    pub unaffected: Option<Message>,
}

/// Remedy for a missing condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Remedy {
    /// Kind of remedy.
    pub cure: RemedyKind,
    /// Object or value.
    pub name: String,
    /// Further details.
    pub more: String,
    /// Steps, in order.
    pub steps: Vec<Action>,
}

impl Diagnosis {
    pub fn new(object: &Object, waits: PendingReason) -> Diagnosis {
        Diagnosis::of(object.key(), waits)
    }

    pub fn of(object: ObjectRef, waits: PendingReason) -> Diagnosis {
        Diagnosis {
            object,
            waits,
            facts: Vec::new(),
            waits_for: None,
            since: None,
            remedies: Vec::new(),
            unaffected: None,
        }
    }

    pub fn count(&mut self, label: FactLabel, value: impl Into<i64>) {
        self.facts.push(DecidingFact::Count(label, value.into()));
    }

    pub fn word(&mut self, label: FactLabel, value: &str) {
        if !value.is_empty() {
            self.facts.push(DecidingFact::Word(label, value.into()));
        }
    }

    pub fn at(&mut self, label: FactLabel, time: Option<Time>) {
        self.facts
            .extend(time.map(|time| DecidingFact::At(label, time.0 / 1000)));
    }

    pub fn since(&mut self, sim: &Sim, time: Option<Timestamp>) {
        self.since = time.map(|time| time.since(sim.config.epoch));
    }

    /// Adds a remedy: one of each kind is enough, and five in total.
    pub fn cure(&mut self, cure: RemedyKind, name: &str, more: &str, steps: &[Action]) {
        if self.remedies.len() < 5 && self.remedies.iter().all(|known| known.cure != cure) {
            self.remedies.push(Remedy {
                cure,
                name: name.into(),
                more: more.into(),
                steps: steps.to_vec(),
            });
        }
    }

    /// Describes the state in one sentence.
    pub fn headline(&self) -> Message {
        headline::headline(&self.waits)
    }

    /// Returns the deciding facts as names and values.
    pub fn rows(&self) -> Vec<Row> {
        self.facts.iter().map(headline::fact).collect()
    }
}

impl Remedy {
    /// Describes the remedy.
    pub fn words(&self) -> Message {
        headline::cure(self.cure, &self.name, &self.more)
    }
}

/// Diagnoses an object that is deleted and held by a finalizer that no controller here removes.
pub fn held_by_finalizer(object: &Object) -> Option<Diagnosis> {
    let finalizer = object.meta.finalizers.iter().find(|name| !is_own(name))?;
    if !object.meta.is_deleting() {
        return None;
    }
    let mut out = Diagnosis::new(object, PendingReason::Held(finalizer.clone()));
    // Finalizers that the control plane removes itself stay: they protect what is still in use.
    let own = object.meta.finalizers.iter().filter(|name| is_own(name));
    let own: Vec<&str> = own.map(|name| name.as_str()).collect();
    let patch = serde_json::json!({"metadata": {"finalizers": (!own.is_empty()).then_some(own)}});
    let rest = &format!(" --type=merge -p '{patch}'");
    out.cure(
        RemedyKind::Unfinalize,
        finalizer,
        "",
        &[line("patch", &object.key(), rest)],
    );
    Some(out)
}

/// Returns true for a finalizer that the control plane removes itself.
fn is_own(finalizer: &str) -> bool {
    OWN_FINALIZERS.contains(&finalizer)
}

/// Finalizers that the control plane removes itself.
const OWN_FINALIZERS: [&str; 6] = [
    "foregroundDeletion",
    "orphan",
    "kubernetes.io/pvc-protection",
    "kubernetes.io/pv-protection",
    "batch.kubernetes.io/job-tracking",
    "customresourcecleanup.apiextensions.k8s.io",
];

/// Returns the revision to which `kubectl rollout undo` takes a workload: the newest but one.
pub fn earlier_revision<'a>(sim: &'a Sim, workload: &Object) -> Option<&'a Rc<Object>> {
    let kind = if workload.kind == Kind::Deployment {
        Kind::ReplicaSet
    } else {
        Kind::ControllerRevision
    };
    let mut all: Vec<&Rc<Object>> = sim
        .informers
        .controller_manager
        .cache
        .owned_of_kind(workload.meta.uid, kind)
        .collect();
    all.sort_by_key(|object| revision(object));
    all.len().checked_sub(2).map(|at| all[at])
}

/// Returns the controllers of an object, nearest first.
pub fn owners(sim: &Sim, key: &ObjectRef) -> Vec<ObjectRef> {
    let mut out = Vec::new();
    let mut at = sim.store().get(key).cloned();
    while let Some(object) = at {
        at = owner(sim, &object).cloned();
        out.extend(at.iter().map(|owner| owner.key()));
        if out.len() > 4 {
            break;
        }
    }
    out
}

pub fn owner<'a>(sim: &'a Sim, object: &Object) -> Option<&'a Rc<Object>> {
    sim.store()
        .get(&object.meta.controller()?.key(&object.meta.namespace)?)
}

/// Formats kind and name as a command does: `deployment/web`, with the group if the kind has the name of a built-in one.
pub fn target(key: &ObjectRef) -> String {
    [
        key.kind.label().to_ascii_lowercase().as_str(),
        "/",
        &key.name,
    ]
    .concat()
}

/// Returns the flag ` -n x`, if it is needed.
pub fn flag(key: &ObjectRef) -> String {
    if key.namespace == "default" || key.namespace.is_empty() {
        String::new()
    } else {
        [" -n ", &key.namespace].concat()
    }
}

/// Builds a command about an object: verb, object, the rest.
pub fn line(verb: &str, key: &ObjectRef, rest: &str) -> Action {
    Action::kubectl(["kubectl ", verb, " ", &target(key), rest, &flag(key)].concat())
}

/// Iterates over the objects of a kind in a namespace.
pub fn all_in<'a>(
    sim: &'a Sim,
    kind: Kind,
    namespace: &'a Str,
) -> impl Iterator<Item = &'a Rc<Object>> {
    sim.store()
        .list(kind)
        .filter(move |object| object.meta.namespace == *namespace)
}

/// Returns a name that no object of the kind has yet: `stem-2`, `stem-3`…
pub fn free_name(sim: &Sim, kind: Kind, namespace: &str, stem: &str) -> String {
    free_names(sim, kind, namespace, stem)
        .next()
        .unwrap_or_default()
}

/// Iterates over all such names.
pub fn free_names(
    sim: &Sim,
    kind: Kind,
    namespace: &str,
    stem: &str,
) -> impl Iterator<Item = String> {
    let names = (1_i64..).map(move |number| [stem, "-", &number.to_string()].concat());
    names.filter(move |name| {
        sim.store()
            .get(&ObjectRef::new(kind, namespace, name))
            .is_none()
    })
}
