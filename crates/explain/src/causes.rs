//! Finds the earlier write from which a decision follows: the one that changed the loop's inputs.
//!
//! The journal records which write woke a loop. A loop is level-triggered: whatever woke it, it acts on the whole state, and any of many
//! Pods may have woken it. Therefore the newest earlier write that changed the inputs is searched.

use crate::why::{Follows, explain};
use apiserver::Why;
use apiserver::journal::{Entry, EntryId, Journal, Op, Record};
use cluster_network::connectivity::host_and_port;
use cluster_network::request_loop::round_of_command;
use controller_runtime::load::is_running;
use fault::Fault;
use k8s_model::network::Service;
use k8s_model::workload::StatefulSet;
use k8s_model::{Body, Kind, Labels, Object, OwnerReference};

/// Returns the entry from which this one follows. `left` is the number of entries that may still be searched for the whole chain; at 0 the
/// waking entry is used.
pub fn cause(journal: Journal<'_>, id: EntryId, left: &mut usize) -> Option<EntryId> {
    let entry = journal.get(id as usize)?;
    if matches!(explain(&entry.why).follows, Follows::Load)
        && let Some((_, scaled)) = entry.write()
        && let Some(load) = load_before(journal, id, scaled, left)
    {
        return Some(load);
    }
    let woke = entry.cause.filter(|cause| *cause < id);
    let Some(inputs) = Inputs::of(entry) else {
        return woke;
    };
    if woke
        .and_then(|woke| journal.get(woke as usize))
        .is_some_and(|woke| inputs.have(woke))
    {
        return woke;
    }
    let from = (id as usize).saturating_sub(*left);
    let found = journal
        .first(id as usize)
        .from(from)
        .iter()
        .rposition(|earlier| inputs.have(earlier));
    *left -= id as usize - from - found.unwrap_or(0);
    found.map(|at| (from + at) as EntryId).or(woke)
}

/// Returns the newest earlier command that set the load of an autoscaler's target, or the start or end of a Pod that sends requests to it,
/// unless the autoscaler was written since: metrics are not written as objects.
fn load_before(
    journal: Journal<'_>,
    id: EntryId,
    scaled: &Object,
    left: &mut usize,
) -> Option<EntryId> {
    let from = (id as usize).saturating_sub(*left);
    let template = match &scaled.body {
        Body::Deployment(body) => &body.spec.template.labels,
        Body::StatefulSet(body) => &body.spec.template.labels,
        _ => return None,
    };
    let earlier = journal.first(id as usize).from(from);
    let decides = |entry: &Entry| match &entry.record {
        Record::Fault(fault) => {
            matches!(&**fault, Fault::Load(load) | Fault::EndLoad(load) if load.is_for(template))
        }
        Record::Write { op, object, before } if object.kind == Kind::Pod => {
            let was = is_running(before.as_ref().unwrap_or(object)) && *op != Op::Added;
            let is = is_running(object) && *op != Op::Deleted;
            was != is && sends_to(object, template, earlier)
        }
        Record::Write { object, before, .. } => {
            object.kind == Kind::HorizontalPodAutoscaler
                && object.meta.namespace == scaled.meta.namespace
                && before
                    .as_ref()
                    .is_none_or(|before| before.meta.generation != object.meta.generation)
        }
        _ => false,
    };
    let found = earlier.iter().rposition(decides)?;
    *left -= id as usize - from - found;
    Some((from + found) as EntryId)
}

/// Returns true if a container of a Pod sends requests in a loop to a Service that selects Pods with these labels.
fn sends_to(object: &Object, labels: &Labels, earlier: Journal<'_>) -> bool {
    let containers = object.pod().map(|pod| &pod.spec.containers[..]);
    let mut rounds = containers.unwrap_or_default().iter().filter_map(|one| {
        let words = one.command.iter().chain(&one.args);
        let words: Vec<String> = words.map(ToString::to_string).collect();
        round_of_command(&words, &|_| None)
    });
    rounds.any(|round| {
        round.requests.iter().any(|request| {
            let name = host_and_port(&request.url).0.split('.').next();
            let service = earlier.iter().rev().find_map(|entry| {
                let (_, object) = entry.write()?;
                object
                    .get::<Service>()
                    .filter(|_| Some(object.meta.name.as_str()) == name)
            });
            service.is_some_and(|service| {
                let selector = &service.spec.selector;
                let is_had = |(key, value)| labels.get(key) == Some(value);
                !selector.is_empty() && selector.iter().all(is_had)
            })
        })
    })
}

/// Inputs of a decision.
enum Inputs<'e> {
    /// Desired size of a ReplicaSet, and its Pods; true if there were too few.
    Size(&'e OwnerReference, i32, bool),
    /// Job, and its Pod that failed last.
    Failure(&'e OwnerReference, &'e str),
    /// Deployment, and the sizes of its ReplicaSets.
    Room(&'e OwnerReference),
    /// Deployment, and the number of available Pods of its ReplicaSets.
    Available(&'e OwnerReference),
    /// StatefulSet, and a Pod that it creates: the previous one of that name is gone, or its predecessor is ready.
    Ordinal(&'e OwnerReference, &'e Object, i32),
    /// StatefulSet that no longer has this ordinal.
    Beyond(&'e OwnerReference, i32),
    /// Pods of a Job, of which one has ended.
    Ended(&'e Object),
    /// Pods of a ReplicaSet: more, fewer, or as many of them are available.
    Pods(&'e Object, std::cmp::Ordering),
}

impl<'e> Inputs<'e> {
    fn of(entry: &'e Entry) -> Option<Self> {
        let Record::Write { object, before, .. } = &entry.record else {
            return None;
        };
        let owner = || object.meta.controller();
        Some(match explain(&entry.why).follows {
            Follows::Size { want, too_few } => Inputs::Size(owner()?, want, too_few),
            Follows::Failure { pod } => Inputs::Failure(owner()?, pod),
            Follows::Ordinal { ordinal } => Inputs::Ordinal(owner()?, object, ordinal),
            Follows::Beyond { ordinal } => Inputs::Beyond(owner()?, ordinal),
            Follows::EndedPod if object.kind == Kind::Job => Inputs::Ended(object),
            Follows::Room => Inputs::Room(owner()?),
            Follows::Available => Inputs::Available(owner()?),
            Follows::Pods => Inputs::Pods(
                object,
                available(object)?.cmp(&available(before.as_deref()?)?),
            ),
            Follows::Event | Follows::Load | Follows::EndedPod => return None,
        })
    }

    /// Returns true if a write has changed these inputs.
    fn have(&self, entry: &Entry) -> bool {
        let Record::Write { op, object, before } = &entry.record else {
            return false;
        };
        let is = |owner: &OwnerReference| object.meta.uid == owner.uid;
        let of = |owner: &OwnerReference| {
            object
                .meta
                .controller()
                .is_some_and(|other| other.uid == owner.uid)
        };
        let before = before.as_deref().filter(|_| *op == Op::Modified);
        let meant = || before.is_none_or(|before| before.meta.generation != object.meta.generation);
        // Old and new number.
        let turned = |how: fn(&Object) -> Option<i32>| before.and_then(how).zip(how(object));
        match self {
            Inputs::Size(owner, want, _) if is(owner) => {
                size(object) == Some(*want)
                    && before.is_none_or(|before| size(before) != size(object))
            }
            Inputs::Size(owner, _, true) => {
                object.pod().is_some()
                    && of(owner)
                    && !active(*op, object)
                    && before.is_none_or(|b| active(Op::Modified, b))
            }
            Inputs::Failure(owner, pod) => {
                object.meta.name == *pod
                    && of(owner)
                    && !active(*op, object)
                    && before.is_some_and(|b| active(Op::Modified, b))
            }
            Inputs::Size(owner, ..) => matches!(entry.why, Why::Adopt) && of(owner),
            Inputs::Room(owner) | Inputs::Available(owner) if is(owner) => meant(),
            // Of several scalings in a row, the last that moved the ordinal into or out of range decides.
            Inputs::Ordinal(owner, _, ordinal) if is(owner) => {
                has_ordinal(object, *ordinal)
                    && before.is_none_or(|before| !has_ordinal(before, *ordinal))
            }
            Inputs::Beyond(owner, ordinal) => {
                is(owner)
                    && !has_ordinal(object, *ordinal)
                    && before.is_some_and(|before| has_ordinal(before, *ordinal))
            }
            Inputs::Ended(job) => {
                object
                    .meta
                    .controller()
                    .is_some_and(|owner| owner.uid == job.meta.uid)
                    && !active(*op, object)
                    && before.is_none_or(|before| active(Op::Modified, before))
            }
            Inputs::Ordinal(owner, pod, _) => {
                let gone = *op == Op::Deleted && object.meta.name == pod.meta.name;
                object.pod().is_some()
                    && of(owner)
                    && (gone || ready(object) && before.is_some_and(|before| !ready(before)))
            }
            Inputs::Room(owner) => of(owner) && turned(size).is_some_and(|(from, to)| to < from),
            Inputs::Available(owner) => {
                of(owner) && turned(available).is_some_and(|(from, to)| to > from)
            }
            Inputs::Pods(set, how) => {
                let (was, is) = (
                    before.is_some_and(ready),
                    *op != Op::Deleted && ready(object),
                );
                let mine = || {
                    object
                        .meta
                        .controller()
                        .is_some_and(|other| other.uid == set.meta.uid)
                };
                let counts = match how {
                    std::cmp::Ordering::Greater => is && !was,
                    std::cmp::Ordering::Less => was && !is || *op == Op::Deleted,
                    std::cmp::Ordering::Equal => {
                        was != is
                            || before.is_none_or(|before| {
                                before.meta.is_deleting() != object.meta.is_deleting()
                            })
                    }
                };
                counts && object.pod().is_some() && mine()
            }
        }
    }
}

fn active(op: Op, object: &Object) -> bool {
    op != Op::Deleted && object.is_active_pod()
}

fn ready(object: &Object) -> bool {
    object.pod().is_some_and(|pod| pod.is_ready()) && !object.meta.is_deleting()
}

/// Returns true if a StatefulSet has a Pod of this ordinal.
fn has_ordinal(set: &Object, ordinal: i32) -> bool {
    set.get::<StatefulSet>().is_some_and(|set| {
        let start = set.spec.ordinals.start;
        (start..start.saturating_add(set.spec.replicas)).contains(&ordinal)
    })
}

fn size(object: &Object) -> Option<i32> {
    match &object.body {
        Body::ReplicaSet(set) => Some(set.spec.replicas),
        _ => None,
    }
}

fn available(object: &Object) -> Option<i32> {
    match &object.body {
        Body::ReplicaSet(set) => Some(set.status.available_replicas),
        _ => None,
    }
}
