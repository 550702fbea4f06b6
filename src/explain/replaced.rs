//! Which Pod took the place of another: both are named on either side.
//!
//! A workload has places: the ordinals of a StatefulSet, the nodes of a DaemonSet, the indexes of a Job, and of others so many as there are
//! replicas, which are taken in the order in which they became free.

use super::effect::effect;
use super::words;
use crate::api::{Body, Kind, Object, ObjectRef, Uid};
use crate::engine::Why;
use crate::engine::journal::{Entry, Journal, Op, Record};
use crate::i18n::Message;
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
    let mut own = journal_from.iter().rev().filter_map(Entry::write).map(|(_, object)| object).filter(|object| object.key() == *key);
    // A Pod that was released has no controller any more.
    let Some(pod) = own.find(|object| object.meta.controller().is_some()) else { return Replaced::default() };
    let Some(owner) = pod.meta.controller() else { return Replaced::default() };
    let mut places = Places { owner: owner.uid, free: VecDeque::new() };
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
    Other { pod, at: entry.time.0 / 1000, actor: words::actor(entry).0, effect: effect(entry) }
}

/// The free places of a workload: what each is called, and the write that freed it, if it was taken before.
struct Places<'j> {
    owner: Uid,
    free: VecDeque<(String, Option<&'j Entry>)>,
}

impl<'j> Places<'j> {
    /// Takes over an entry; for a Pod that takes a place that was free, the write that freed it and this one.
    fn read(&mut self, entry: &'j Entry) -> Option<(&'j Entry, &'j Entry)> {
        let Record::Write { op, object, before } = &entry.record else { return None };
        if object.meta.uid == self.owner {
            self.resize(before.as_deref().and_then(replicas).unwrap_or(0), replicas(object)?);
            return None;
        }
        let mine = |object: &Object| object.meta.controller().is_some_and(|owner| owner.uid == self.owner);
        if object.kind != Kind::Pod {
            return None;
        }
        let (is, was) = (*op != Op::Deleted && mine(object), before.as_deref().map_or(*op == Op::Deleted && mine(object), mine));
        // What was there before is known but for a Pod that is removed at once.
        let active = |object: &Object| object.is_active_pod();
        match (was && before.as_deref().map_or(*op == Op::Deleted && active(object), active), is && active(object)) {
            (true, false) if !given_up(entry, object) => self.free.push_back((place(object, &entry.why), Some(entry))),
            (false, true) if *op == Op::Added || matches!(entry.why, Why::Adopt) => {
                let wanted = place(object, &entry.why);
                let named = |(_, lost): &(String, Option<&Entry>)| matches!((&entry.why, lost), (Why::Retry(of), Some(lost)) if lost.key().is_some_and(|key| key.name == of.pod));
                let at = self.free.iter().position(named).or_else(|| self.free.iter().position(|(place, _)| *place == wanted))?;
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
            let at = self.free.iter().rposition(|(_, lost)| lost.is_none()).or(self.free.len().checked_sub(1));
            at.and_then(|at| self.free.remove(at));
        }
    }
}

/// Whether the place of a Pod is not taken again: it is one too many, or has done its work.
fn given_up(entry: &Entry, object: &Object) -> bool {
    use Why::{CondemnedOrdinal, JobEnds, JobSuspended, NodeHasPod, NodeUnfit, OwnerGone, OwnerWaits, TooMany};
    let done = object.pod().is_some_and(|pod| pod.status.phase == "Succeeded");
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
    let node = || pod.pod().map(|pod| pod.node_name.to_string()).unwrap_or_default();
    match (pod.meta.controller().and_then(|owner| Some(owner.key("")?.kind)), why) {
        (Some(Kind::StatefulSet), _) => pod.meta.name.to_string(),
        (Some(Kind::DaemonSet), Why::NodeWithoutPod { node } | Why::Surge { node, .. }) => node.to_string(),
        (Some(Kind::DaemonSet), _) => node(),
        (Some(Kind::Job), _) => pod.meta.annotation(INDEX).map(ToString::to_string).unwrap_or_default(),
        _ => String::new(),
    }
}

fn replicas(object: &Object) -> Option<i32> {
    match &object.body {
        Body::ReplicaSet(set) => Some(set.spec.replicas),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::State;
    use crate::session::console::ConsoleMsg;
    use crate::session::examples;
    use crate::session::timeline::TimelineMsg;

    fn enter(state: &mut State, line: &str, seconds: i64) {
        state.update(ConsoleMsg::Enter(line.into()));
        state.update(TimelineMsg::Seconds(seconds));
    }

    fn pods(state: &State) -> Vec<ObjectRef> {
        state.timeline.run.sim().list(Kind::Pod).filter(|pod| pod.is_active_pod()).map(|pod| pod.key()).collect()
    }

    fn of(state: &State, key: &ObjectRef) -> Replaced {
        replaced(state.timeline.run.journal(), key)
    }

    /// The Pods that took the places of others, and whose, with the actors on either side: each pair is told the same on both.
    fn pairs(state: &State, gone: &[ObjectRef]) -> Vec<[String; 4]> {
        let pair = |old: &ObjectRef| {
            let by = of(state, old).by.unwrap_or_else(|| panic!("nothing replaced {old}"));
            let back = of(state, &by.pod).of.unwrap_or_else(|| panic!("{} replaced nothing", by.pod));
            assert!(back.pod == *old && back.at <= by.at, "{back:?} {by:?}");
            [old.name.to_string(), by.pod.name.to_string(), back.actor.english(), by.actor.english()]
        };
        gone.iter().map(pair).collect()
    }

    fn yaml(kind: &str, spec: &str) -> String {
        let group = if kind == "Job" { "batch" } else { "apps" };
        format!(
            "apiVersion: {group}/v1\nkind: {kind}\nmetadata: {{name: w}}\nspec:\n  {spec}\n  template:\n    metadata: {{labels: {{a: b}}}}\n    \
             spec:\n      containers: [{{name: c, image: i}}]\n"
        )
    }

    #[test]
    fn a_pod_of_a_replica_set_names_the_one_whose_place_it_took() {
        let mut state = State::new((examples::ALL[0].text)(), 1);
        state.update(TimelineMsg::Seconds(20));
        let first = pods(&state);
        // The first Pods took no place, and what comes by scaling takes none.
        enter(&mut state, "kubectl scale deployment/nginx-deployment --replicas=4", 20);
        assert!(pods(&state).iter().all(|key| of(&state, key) == Replaced::default()));
        for key in &first {
            enter(&mut state, &format!("kubectl delete pod {} --wait=false", key.name), 20);
        }
        let told = pairs(&state, &first);
        assert!(told.iter().all(|pair| pair[2] == "user" && pair[3] == "replicaset-controller"), "{told:?}");
        assert_ne!(told[0][1], told[1][1]);
        // Both at once: each has one of its own.
        let second: Vec<ObjectRef> = pods(&state);
        enter(&mut state, &format!("kubectl delete pod {} {} --wait=false", second[0].name, second[1].name), 20);
        let told = pairs(&state, &second[..2]);
        assert_ne!(told[0][1], told[1][1], "{told:?}");
        // One too many is not replaced, whatever comes later.
        let before = pods(&state);
        enter(&mut state, "kubectl scale deployment/nginx-deployment --replicas=2", 20);
        let after = pods(&state);
        enter(&mut state, "kubectl scale deployment/nginx-deployment --replicas=4", 20);
        for key in before.iter().filter(|key| !after.contains(key)) {
            assert_eq!(of(&state, key).by, None);
        }
        assert!(pods(&state).iter().filter(|key| !after.contains(key)).all(|key| of(&state, key).of.is_none()));
    }

    #[test]
    fn an_ordinal_a_node_and_an_index_are_taken_again() {
        let mut state = State::new((examples::ALL[2].text)(), 1);
        state.update(TimelineMsg::Seconds(60));
        enter(&mut state, "kubectl delete pod web-0 --wait=false", 60);
        let web = of(&state, &ObjectRef::new(Kind::Pod, "default", "web-0"));
        let before = web.of.expect("it took the place of the one before");
        assert_eq!((before.pod.name.as_str(), before.actor.english().as_str(), web.by), ("web-0", "user", None));
        assert_eq!(of(&state, &ObjectRef::new(Kind::Pod, "default", "web-1")), Replaced::default());

        let mut state = State::new(&yaml("DaemonSet", "selector: {matchLabels: {a: b}}"), 1);
        state.update(TimelineMsg::Seconds(20));
        let gone = pods(&state);
        enter(&mut state, "kubectl delete pod --all --wait=false", 60);
        let told = pairs(&state, &gone);
        assert_eq!((told.len(), told[0][3].as_str()), (3, "daemonset-controller"));
        let node = |state: &State, name: &str| {
            let journal = state.timeline.run.journal();
            let found = journal.iter().rev().filter_map(Entry::write).find(|(_, object)| object.meta.name == *name);
            found.and_then(|(_, object)| object.pod().map(|pod| pod.node_name.to_string()))
        };
        assert!(told.iter().all(|pair| node(&state, &pair[0]) == node(&state, &pair[1])), "{told:?}");
    }

    #[test]
    fn a_job_retries_with_a_pod_that_names_the_one_that_failed() {
        let job = yaml("Job", "backoffLimit: 3")
            .replace("image: i}", "image: busybox, command: [sh, -c, \"exit 1\"]}")
            .replace("spec:\n      con", "spec:\n      restartPolicy: Never\n      con");
        let mut state = State::new(&job, 1);
        state.update(TimelineMsg::Seconds(25));
        let all: Vec<ObjectRef> = {
            let mut all: Vec<_> = state.timeline.run.sim().list(Kind::Pod).collect();
            all.sort_by_key(|pod| pod.meta.resource_version);
            all.sort_by_key(|pod| pod.meta.creation_timestamp);
            all.into_iter().map(|pod| pod.key()).collect()
        };
        assert!(all.len() > 1, "{all:?}");
        let told = pairs(&state, &all[..1]);
        assert_eq!((told[0][1].as_str(), told[0][3].as_str()), (all[1].name.as_str(), "job-controller"));
        assert!(told[0][2].starts_with("kubelet "), "{told:?}");
    }
}
