//! Which Pod took the place of another: both are named on either side.
//!
//! A workload has places: the ordinals of a StatefulSet, the nodes of a DaemonSet, the indexes of a Job, and of others so many as there are
//! replicas, which are taken in the order in which they became free.

use super::effect::effect;
use super::words;
use apiserver::Why;
use apiserver::journal::{Entry, Journal, Op, Record};
use i18n::Message;
use k8s_model::{Body, Kind, Object, ObjectRef, Uid};
use std::collections::VecDeque;

/// The annotation with the index of a Pod of an indexed Job.
const INDEX: &str = "batch.kubernetes.io/job-completion-index";
/// Entries that are searched: some seconds of a very large cluster.
const MAX_SCANNED_ENTRIES: usize = 20_000;

/// The other Pod of a replacement.
#[derive(Clone, Debug, PartialEq)]
pub struct Other {
    /// The Pod.
    pub pod: ObjectRef,
    /// When it came, or was lost, in milliseconds.
    pub at: u64,
    /// Who made it, or made it go.
    pub actor: Message,
    /// What happened to it then, a sentence.
    pub effect: Message,
}

/// Which Pod took a Pod's place, and whose place it took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replaced {
    /// The one that came after it.
    pub by: Option<Other>,
    /// The one that was there before.
    pub of: Option<Other>,
}

/// Of the newest Pod of this name in a history.
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
    // A Pod that was released has no controller any more.
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

/// The free places of a workload: what each is called, and the write that freed it, if it was taken before.
struct Places<'j> {
    owner: Uid,
    free: VecDeque<(String, Option<&'j Entry>)>,
}

impl<'j> Places<'j> {
    /// Takes over an entry; for a Pod that takes a place that was free, the write that freed it and this one.
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
        // What was there before is known but for a Pod that is removed at once.
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

    /// More replicas are places that were never taken; of fewer, those go first.
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

/// Whether the place of a Pod is not taken again: it is one too many, or has done its work.
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

/// The place of a Pod among those of its workload.
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
