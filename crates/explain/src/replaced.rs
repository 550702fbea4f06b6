//! Replacements of Pods: the old and the new Pod refer to each other.
//!
//! A workload has places: the ordinals of a StatefulSet, the nodes of a DaemonSet, the indexes of a Job, and for others as many as there
//! are replicas, filled in the order in which they were freed.

use super::effect::effect;
use super::words;
use apiserver::Why;
use apiserver::journal::{Entry, Journal, Op, Record};
use i18n::Message;
use k8s_model::{Body, Kind, Object, ObjectRef, Uid};
use std::collections::VecDeque;

/// Annotation with the index of a Pod of an indexed Job.
const INDEX: &str = "batch.kubernetes.io/job-completion-index";
/// Maximum number of entries searched: some seconds of a very large cluster.
const MAX_SCANNED_ENTRIES: usize = 20_000;

/// Other Pod of a replacement.
#[derive(Clone, Debug, PartialEq)]
pub struct Other {
    /// Pod.
    pub pod: ObjectRef,
    /// Time of its creation or loss, in milliseconds.
    pub at: u64,
    /// Actor that created or deleted it.
    pub actor: Message,
    /// Sentence about its creation or loss.
    pub effect: Message,
}

/// Replacements of a Pod, in both directions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replaced {
    /// Pod that replaced it.
    pub by: Option<Other>,
    /// Pod that it replaced.
    pub of: Option<Other>,
}

/// Finds the replacements of the newest Pod of this name in a history.
pub fn replaced(journal: Journal<'_>, key: &ObjectRef) -> Replaced {
    if key.kind != Kind::Pod {
        return Replaced::default();
    }
    let journal_from = journal.from(journal.len().saturating_sub(MAX_SCANNED_ENTRIES));
    let mut own = journal_from
        .iter()
        .rev()
        .filter_map(Entry::write)
        .map(|(_, object)| object)
        .filter(|object| object.key() == *key);
    // A released Pod has no controller any more.
    let Some(pod) = own.find(|object| object.meta.controller().is_some()) else {
        return Replaced::default();
    };
    let Some(owner) = pod.meta.controller() else {
        return Replaced::default();
    };
    let mut places = Places {
        owner: owner.uid,
        free: VecDeque::new(),
    };
    let mut out = Replaced::default();
    for entry in journal_from.iter() {
        if let Some((lost, new)) = places.read(entry) {
            let (gone, came) = (lost.key(), entry.key());
            if came.as_ref().is_some_and(|came| came == key) && uid(entry) == Some(pod.meta.uid) {
                out.of = gone.map(|gone| other(lost, gone));
            } else if uid(lost) == Some(pod.meta.uid) {
                out.by = came.map(|came| other(new, came));
            }
        }
    }
    out
}

fn uid(entry: &Entry) -> Option<Uid> {
    entry.write().map(|(_, object)| object.meta.uid)
}

fn other(entry: &Entry, pod: ObjectRef) -> Other {
    Other {
        pod,
        at: entry.time.0 / 1000,
        actor: words::actor(entry).0,
        effect: effect(entry),
    }
}

/// Free places of a workload: the name of each, and the write that freed it, if it was taken before.
struct Places<'j> {
    owner: Uid,
    free: VecDeque<(String, Option<&'j Entry>)>,
}

impl<'j> Places<'j> {
    /// Reads an entry; if a Pod takes a free place, returns the write that freed the place and this one.
    fn read(&mut self, entry: &'j Entry) -> Option<(&'j Entry, &'j Entry)> {
        let Record::Write { op, object, before } = &entry.record else {
            return None;
        };
        if object.meta.uid == self.owner {
            self.resize(
                before.as_deref().and_then(replicas).unwrap_or(0),
                replicas(object)?,
            );
            return None;
        }
        let mine = |object: &Object| {
            object
                .meta
                .controller()
                .is_some_and(|owner| owner.uid == self.owner)
        };
        if object.kind != Kind::Pod {
            return None;
        }
        let (is, was) = (
            *op != Op::Deleted && mine(object),
            before
                .as_deref()
                .map_or(*op == Op::Deleted && mine(object), mine),
        );
        // The previous state is known, except for a Pod that is removed at once.
        let active = |object: &Object| object.is_active_pod();
        match (
            was && before
                .as_deref()
                .map_or(*op == Op::Deleted && active(object), active),
            is && active(object),
        ) {
            (true, false) if !given_up(entry, object) => self
                .free
                .push_back((place(object, &entry.why), Some(entry))),
            (false, true) if *op == Op::Added || matches!(entry.why, Why::Adopt) => {
                let wanted = place(object, &entry.why);
                let named = |(_, lost): &(String, Option<&Entry>)| matches!((&entry.why, lost), (Why::Retry(of), Some(lost)) if lost.key().is_some_and(|key| key.name == of.pod));
                let at = self
                    .free
                    .iter()
                    .position(named)
                    .or_else(|| self.free.iter().position(|(place, _)| *place == wanted))?;
                return self.free.remove(at)?.1.map(|lost| (lost, entry));
            }
            _ => {}
        }
        None
    }

    /// Adds places for more replicas, which were never taken; for fewer, these are removed first.
    fn resize(&mut self, from: i32, to: i32) {
        for _ in from..to {
            self.free.push_back((String::new(), None));
        }
        for _ in to..from {
            let at = self
                .free
                .iter()
                .rposition(|(_, lost)| lost.is_none())
                .or(self.free.len().checked_sub(1));
            at.and_then(|at| self.free.remove(at));
        }
    }
}

/// Returns true if the place of a Pod is not filled again: the Pod is surplus, or has completed.
fn given_up(entry: &Entry, object: &Object) -> bool {
    use Why::{
        CondemnedOrdinal, JobEnds, JobSuspended, NodeHasPod, NodeUnfit, OwnerGone, OwnerWaits,
        TooMany,
    };
    let done = object
        .pod()
        .is_some_and(|pod| pod.status.phase == "Succeeded");
    done || matches!(
        entry.why,
        TooMany { .. }
            | CondemnedOrdinal { .. }
            | NodeUnfit { .. }
            | NodeHasPod { .. }
            | JobEnds { .. }
            | JobSuspended
            | OwnerGone { .. }
            | OwnerWaits { .. }
    )
}

/// Returns the place of a Pod within its workload.
fn place(pod: &Object, why: &Why) -> String {
    let node = || {
        pod.pod()
            .map(|pod| pod.node_name.to_string())
            .unwrap_or_default()
    };
    match (
        pod.meta
            .controller()
            .and_then(|owner| Some(owner.key("")?.kind)),
        why,
    ) {
        (Some(Kind::StatefulSet), _) => pod.meta.name.to_string(),
        (Some(Kind::DaemonSet), Why::NodeWithoutPod { node } | Why::Surge { node, .. }) => {
            node.to_string()
        }
        (Some(Kind::DaemonSet), _) => node(),
        (Some(Kind::Job), _) => pod
            .meta
            .annotation(INDEX)
            .map(ToString::to_string)
            .unwrap_or_default(),
        _ => String::new(),
    }
}

fn replicas(object: &Object) -> Option<i32> {
    match &object.body {
        Body::ReplicaSet(set) => Some(set.spec.replicas),
        _ => None,
    }
}
