//! The journal in words: what an entry did, what the loop saw, and the chain of causes behind a write.

use super::causes::cause;
use super::changes::{Field, fields};
use super::run::is_event;
use crate::api::batch::Job;
use crate::api::{Body, Kind, Object, ObjectRef};
use crate::engine::Why;
use crate::engine::journal::{Entry, EntryId, Journal, Op, Record};
use crate::engine::late::DelayLog;
use crate::engine::why::DeletionRank;
use crate::scene::adapt::status;
use crate::scene::format::{clock, count, middle};
use crate::scene::lag::Pods;
use crate::scene::marks::{LANES, Mark, OTHERS};
use crate::scene::model::PodState;

/// One item of the chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// Its place in the journal.
    pub entry: EntryId,
    /// Milliseconds.
    pub at: u64,
    /// `deployment-controller`, `kubelet node-2`, `you`
    pub actor: String,
    /// The icon of the actor.
    pub icon: &'static str,
    /// Whether a person did it.
    pub user: bool,
    /// What it did, a sentence.
    pub effect: Vec<Span>,
    /// Why, in a few words.
    pub short: String,
    /// What the loop saw, name and value; the last is the conclusion.
    pub saw: Vec<(String, String)>,
    /// The object it wrote.
    pub object: Option<ObjectRef>,
}

/// A piece of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Span {
    /// Plain words.
    Text(String),
    /// A name or a command.
    Name(String),
    /// Values that changed.
    Strong(String),
}

impl Span {
    /// The words alone.
    pub fn text(&self) -> &str {
        match self {
            Span::Text(text) | Span::Name(text) | Span::Strong(text) => text,
        }
    }
}

/// A sentence without its marks.
pub fn plain(spans: &[Span]) -> String {
    spans.iter().map(Span::text).collect()
}

fn text(words: &str) -> Span {
    Span::Text(words.into())
}

fn name(object: &Object) -> Span {
    let volume = matches!(object.body, Body::PersistentVolume(_));
    Span::Name(if volume { super::format::volume(&object.meta.name) } else { short_name(&object.meta.name) })
}

/// The same for a narrow place: of a name only its end, which tells it apart, so that what was done to it stays in sight.
pub fn in_short(effect: &[Span]) -> Vec<Span> {
    let short = |span: &Span| match span {
        // A command is no name.
        Span::Name(name) if name.len() > 12 && !name.contains([' ', '…']) => {
            // An ordinal or a short word says too little.
            let end = name.rmatch_indices('-').map(|(at, _)| &name[at + 1..]).find(|end| end.len() > 3);
            Span::Name(end.map_or_else(|| name.clone(), |end| ["…", end].concat()))
        }
        // Of a field its own name.
        Span::Text(path) => Span::Text(path.strip_prefix("status.").unwrap_or(path).to_string()),
        other => other.clone(),
    };
    effect.iter().map(short).collect()
}

/// Numbers before and after stay on one line: the spaces about the arrow do not break.
pub fn unbroken(text: &str) -> String {
    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let mut parts = text.split(" → ");
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let stays = digit(out.chars().next_back()) && digit(part.chars().next());
        out.push_str(if stays { "\u{a0}→\u{a0}" } else { " → " });
        out.push_str(part);
    }
    out
}

/// A long name keeps its end.
fn short_name(name: &str) -> String {
    let skip = name.chars().count().saturating_sub(26);
    if skip == 0 { name.to_string() } else { format!("…{}", name.chars().skip(skip + 1).collect::<String>()) }
}

/// Who acted, and their icon.
pub fn actor(entry: &Entry) -> (String, &'static str) {
    let icon = match entry.actor.name {
        "user" => "i-user",
        "apiserver" => "i-apiserver",
        name => super::loops::glyph(name),
    };
    let who = match entry.actor.name {
        "user" => "you".to_string(),
        actor if entry.actor.node.is_empty() => actor.to_string(),
        actor => format!("{actor} {}", entry.actor.node),
    };
    (who, icon)
}

/// Whether an entry is a command that changes nothing.
pub fn only_reads(entry: &Entry) -> bool {
    matches!(&entry.record, Record::Command(line) if crate::kubectl::only_reads(line))
}

/// The lane of the timeline an entry belongs to.
pub fn lane(entry: &Entry) -> Option<u8> {
    if is_event(entry) || only_reads(entry) {
        return None;
    }
    lane_of(entry.actor.name)
}

/// The mark of an entry.
pub fn mark(entry: &Entry) -> Option<Mark> {
    let fault = matches!(&entry.record, Record::Command(line) if line.starts_with("fault "));
    Some(Mark { at: entry.time.0 / 1000, lane: lane(entry)?, bad: is_bad(entry), fault, count: 1 })
}

/// The lane of the loop of this name.
pub fn lane_of(name: &str) -> Option<u8> {
    let of = |lane: &str| LANES.iter().position(|known| *known == lane).map(|at| at as u8);
    match name {
        "apiserver" => None,
        "user" => of("user"),
        name => crate::engine::loops::named(name).and_then(|loops| of(loops.lane)).or(Some(OTHERS)),
    }
}

/// Whether an entry tells of a failure. A conflict is none: whoever wrote from an old version reads again.
pub fn is_bad(entry: &Entry) -> bool {
    match &entry.record {
        Record::Refused(refused) => refused.error.reason != crate::engine::store::Reason::Conflict,
        Record::Write { object, .. } => {
            matches!(entry.why, Why::NoNode { .. } | Why::ImagePull)
                || (entry.actor.name == "kubelet" && object.kind == Kind::Pod && status(object).0 == PodState::Failed)
        }
        Record::Command(_) => false,
    }
}

fn replicas(object: &Object) -> Option<i32> {
    match &object.body {
        Body::ReplicaSet(body) => Some(body.spec.replicas),
        Body::Deployment(body) => Some(body.spec.replicas),
        Body::StatefulSet(body) => Some(body.spec.replicas),
        _ => None,
    }
}

/// From how many replicas to how many a write took a workload, if it did: `3 → 2`.
#[inline]
pub fn scaled(before: &Object, after: &Object) -> Option<String> {
    let (from, to) = (replicas(before)?, replicas(after)?);
    (from != to).then(|| format!("{} → {}", number(from), number(to)))
}

/// What an entry did, as a sentence.
pub fn effect(entry: &Entry) -> Vec<Span> {
    match &entry.record {
        Record::Command(line) => vec![text("You ran "), Span::Name(line.to_string())],
        Record::Refused(refused) => {
            let name = Span::Name(format!("{}", refused.key));
            vec![text("The API server rejected "), name, text(": "), text(&refused.error.message)]
        }
        Record::Write { op, object, before } => write(entry, *op, object, before.as_deref()),
    }
}

fn write(entry: &Entry, op: Op, object: &Object, before: Option<&Object>) -> Vec<Span> {
    let kind = object.kind.name();
    let subject = || vec![text(kind), text(" "), name(object)];
    let with = |words: &str| {
        let mut spans = subject();
        spans.push(text(words));
        spans
    };
    match op {
        Op::Added => return with(" created"),
        Op::Deleted => return with(" removed"),
        Op::Modified => {}
    }
    let Some(before) = before else { return with(" changed") };
    if let Why::Revision { revision } = &entry.why {
        return vec![name(object), text(" annotated with "), Span::Strong(format!("revision {revision}"))];
    }
    if !before.meta.is_deleting() && object.meta.is_deleting() {
        return with(" marked for deletion");
    }
    if let Some(sizes) = scaled(before, object) {
        return vec![name(object), text(" scaled "), Span::Strong(sizes)];
    }
    if let (Some(was), Some(is)) = (before.pod(), object.pod()) {
        if was.node_name.is_empty() && !is.node_name.is_empty() {
            let mut spans = with(" bound to ");
            spans.push(Span::Name(is.node_name.to_string()));
            return spans;
        }
        let (from, to) = (status(before), status(object));
        if from.1 != to.1 {
            return with(&match to.0 {
                PodState::Ready => " became Ready".to_string(),
                PodState::NotReady => " runs, not ready".to_string(),
                PodState::Succeeded => " succeeded".to_string(),
                _ => format!(": {} → {}", from.1, to.1),
            });
        }
        if let Why::NoNode { .. } = &entry.why {
            return with(" found no node");
        }
        if let Why::Stopped = &entry.why {
            return with(": containers stopped");
        }
        let gone = before.meta.finalizers.iter().find(|finalizer| !object.meta.finalizers.contains(finalizer));
        if let Some(finalizer) = gone {
            return with(&format!(": finalizer {finalizer} removed"));
        }
    }
    if let Some(words) = phases(before, object) {
        return with(&words);
    }
    if let Some(words) = turned(before, object) {
        return with(words);
    }
    let images = |object: &Object| match &object.body {
        Body::Deployment(body) => body.spec.template.spec.containers.first().map(|c| c.image.clone()),
        Body::StatefulSet(body) => body.spec.template.spec.containers.first().map(|c| c.image.clone()),
        _ => None,
    };
    if let (Some(from), Some(to)) = (images(before), images(object))
        && from != to
    {
        return vec![name(object), text(" image "), Span::Strong(format!("{from} → {to}"))];
    }
    match field(before, object) {
        Some((path, change)) => [subject(), vec![text(": "), Span::Text(path), text(" "), Span::Strong(change)]].concat(),
        None => with(" changed"),
    }
}

/// Of the fields that a write changed the one that tells most, and how it changed.
fn field(before: &Object, object: &Object) -> Option<(String, String)> {
    // In this order; of what else there is, first what is said of the object, then what is noted of the writing.
    const TELLING: [&str; 8] = [
        "status.readyReplicas",
        "status.availableReplicas",
        "status.updatedReplicas",
        "status.replicas",
        "status.succeeded",
        "status.failed",
        "status.active",
        "].status",
    ];
    let rank = |field: &Field| match TELLING.iter().position(|end| field.path.ends_with(end)) {
        Some(place) => place,
        None if field.is_technical() => 10,
        None if field.path.starts_with("spec.") => 8,
        None => 9,
    };
    let found = fields(before, object).into_iter().min_by_key(rank)?;
    let set = |value: Option<String>| value.filter(|value| value != "null");
    let counts = |value: &Option<String>| value.as_ref().is_none_or(|value| value.parse::<u64>().is_ok());
    let (from, to) = (set(found.from), set(found.to));
    // A count of nothing is left out.
    let none = (found.path.starts_with("status.") && counts(&from) && counts(&to)).then(|| "0".to_string());
    // Only a count is one: a port, a year or a label's value is left as it was written. A Secret's value is not told at all.
    let is_count = found.path.starts_with("status.") || found.path.ends_with("replicas");
    let said = |value: &str| if is_count { grouped(value) } else { value.to_string() };
    let secret = object.kind == Kind::Secret && ["data.", "stringData."].iter().any(|of| found.path.starts_with(of));
    let change = match (from.or(none.clone()), to.or(none)) {
        (_, None) => "removed".into(),
        (from, _) if secret => if from.is_none() { "set" } else { "changed" }.into(),
        // An object within another says too much.
        (None, Some(to)) if to.starts_with(['{', '[']) => "set".into(),
        (None, Some(to)) => said(&to),
        (Some(from), Some(to)) if from.starts_with(['{', '[']) || to.starts_with(['{', '[']) => "changed".into(),
        (Some(from), Some(to)) => format!("{} → {}", said(&from), said(&to)),
    };
    // Of a condition its type is the name.
    let path = match found.path.strip_prefix("status.conditions[").and_then(|rest| rest.split_once(']')) {
        Some((of, "" | ".status")) => format!("condition {of}"),
        Some((of, rest)) => format!("condition {of}{rest}"),
        None => found.path,
    };
    Some((path, change))
}

fn number(n: i32) -> String {
    count(number_of(n))
}

/// What became of a Node or of a Job.
fn turned(before: &Object, object: &Object) -> Option<&'static str> {
    match (&before.body, &object.body) {
        (Body::Node(was), Body::Node(is)) if was.is_ready() != is.is_ready() => {
            Some(if is.is_ready() { " became Ready" } else { " became NotReady" })
        }
        (Body::Node(was), Body::Node(is)) if was.spec.unschedulable != is.spec.unschedulable => {
            Some(if is.spec.unschedulable { " cordoned" } else { " uncordoned" })
        }
        (Body::Job(was), Body::Job(is)) if was.status.met("Complete").is_none() && is.status.met("Complete").is_some() => {
            Some(" completed")
        }
        (Body::Job(was), Body::Job(is)) if was.status.met("Failed").is_none() && is.status.met("Failed").is_some() => Some(" has failed"),
        _ => None,
    }
}

fn phases(before: &Object, object: &Object) -> Option<String> {
    let phase = |object: &Object| match &object.body {
        Body::PersistentVolumeClaim(body) => Some(body.status.phase.to_string()),
        Body::PersistentVolume(body) => Some(body.status.phase.to_string()),
        _ => None,
    };
    let (from, to) = (phase(before)?, phase(object)?);
    (from != to).then(|| format!(" became {to}"))
}

/// What put a Pod before the others, in two or three words.
fn goes_first(rank: DeletionRank) -> &'static str {
    match rank {
        DeletionRank::Unassigned => "no node",
        DeletionRank::Pending => "Pending",
        DeletionRank::NotReady => "not ready",
        DeletionRank::LowerCost => "lower cost",
        DeletionRank::SharesNode => "shares its node",
        DeletionRank::YoungerReady => "ready later",
        DeletionRank::MoreRestarts => "more restarts",
        DeletionRank::Younger => "younger",
        DeletionRank::Equal => "by its uid",
    }
}

/// What the loop saw: names and values. The last one is the conclusion.
pub fn saw(why: &Why) -> Vec<(String, String)> {
    let row = |name: &str, value: String| (name.to_string(), grouped(&value));
    match why {
        Why::RolloutDown { available, at_least, from, to } => {
            let (spare, goes) = (available - at_least, from - to);
            let may = format!("{available} − {at_least} = {spare}");
            let mut rows = vec![
                row("Pods available", available.to_string()),
                row("must stay available", at_least.to_string()),
                row("replicas of this set", from.to_string()),
            ];
            if goes == spare {
                rows.push(row(if goes == 1 { "so one old Pod may go" } else { "so old Pods may go" }, may));
            } else {
                // It has fewer, or another set has taken some.
                rows.push(row("old Pods may go", may));
                let least = |n: i32| count(n.max(0) as usize);
                rows.push(row("so it loses", format!("min({}; {}) = {}", least(spare), least(goes), least(goes))));
            }
            rows
        }
        Why::RolloutUp { pods, at_most, from, to } => {
            let room = at_most - pods;
            let sum = match to - from {
                more if more == room => format!("{from} + {room} = {to}"),
                // More would be allowed than are wanted.
                more => format!("{from} + min({}; {}) = {to}", count(room.max(0) as usize), count(more.max(0) as usize)),
            };
            vec![
                row("replicas of all sets", pods.to_string()),
                row("Pods allowed", at_most.to_string()),
                row("room", format!("{at_most} − {pods} = {room}")),
                row("replicas of this set", from.to_string()),
                row("so it may grow to", sum),
            ]
        }
        Why::CleanUnhealthy { unhealthy, from, to } => {
            vec![
                row("Pods that are not available", unhealthy.to_string()),
                row("replicas of this set", from.to_string()),
                row("they go first", format!("{from} → {to}")),
            ]
        }
        Why::Scaled { from, to } | Why::Recreate { from, to } => {
            let words = if to < from { "so scale down by" } else { "so scale up by" };
            let (more, less) = (to.max(from), to.min(from));
            vec![
                row("replicas before", from.to_string()),
                row("replicas wanted", to.to_string()),
                row(words, format!("{more} − {less} = {}", more - less)),
            ]
        }
        Why::Retry(of) => vec![
            row("desired", of.want.to_string()),
            row("actual", of.have.to_string()),
            row("failed last", short_name(&of.pod)),
            row("how it ended", of.how.to_string()),
            row("back-off", format!("{} s", of.back_off)),
            row("so create", format!("{} − {} = {}", of.want, of.have, of.want - of.have)),
        ],
        Why::TooFew { have, want } => vec![
            row("desired", want.to_string()),
            row("actual", have.to_string()),
            row("so create", format!("{want} − {have} = {}", want - have)),
        ],
        Why::TooMany { have, want, rank, stays } => {
            let mut rows = vec![row("desired", want.to_string()), row("actual", have.to_string())];
            if !stays.is_empty() {
                rows.push(row("goes first", goes_first(*rank).into()));
                rows.push(row("next, and stays", short_name(stays)));
            }
            rows.push(row("so delete", format!("{have} − {want} = {}", have - want)));
            rows
        }
        Why::BestNode { feasible: 0, .. } => Vec::new(),
        Why::BestNode { feasible, nodes, score, next, next_score } => {
            let mut rows = vec![row("nodes", nodes.to_string()), row("nodes that fit", feasible.to_string())];
            if !next.is_empty() {
                rows.push(row(&format!("score of {next}"), next_score.to_string()));
            }
            rows.push(row("best score", score.to_string()));
            rows
        }
        Why::Endpoints { ready, all } => vec![row("Pods that match", all.to_string()), row("of them ready", ready.to_string())],
        Why::CondemnedOrdinal { ordinal, replicas } => vec![
            row("replicas", replicas.to_string()),
            row("ordinal", ordinal.to_string()),
            row("so it goes", format!("{ordinal} ≥ {replicas}")),
        ],
        Why::Budget { healthy, desired } => vec![
            row("Pods healthy", healthy.to_string()),
            row("must stay healthy", desired.to_string()),
            row("so may go", format!("{healthy} − {desired} = {}", (healthy - desired).max(0))),
        ],
        Why::Autoscaled { reason, from, to } => {
            vec![row("replicas before", from.to_string()), row("metric", reason.to_string()), row("replicas wanted", to.to_string())]
        }
        Why::ReplaceDaemon { unavailable, at_most } => {
            vec![row("nodes without an available Pod", unavailable.to_string()), row("may be without", at_most.to_string())]
        }
        Why::Surge { node, at_most } => vec![row("node", node.to_string()), row("Pods that may be added", at_most.to_string())],
        Why::NotTolerated { node, seconds } => vec![row("node", node.to_string()), row("tolerated for", format!("{seconds} s"))],
        Why::NodeSilent { seconds } => vec![row("not heard of for", format!("{seconds} s"))],
        Why::OnSilentNode { node } | Why::NodeWithoutPod { node } | Why::NodeUnfit { node } | Why::NodeGone { node } => {
            vec![row("node", node.to_string())]
        }
        Why::Preempted { by } => vec![row("needs the room", short_name(by))],
        Why::Expired { seconds } => vec![row("ttlSecondsAfterFinished", format!("{seconds} s"))],
        Why::Exited { code } => vec![row("exit code", code.to_string())],
        Why::NewImage { image } => vec![row("image", image.to_string())],
        Why::Restarted { count } => vec![row("restarts", count.to_string())],
        Why::SmallestFit { volume } => vec![row("smallest that fits", volume.to_string())],
        Why::ClaimGone { policy } => vec![row("reclaim policy", policy.to_string())],
        Why::OldRevision { have, want } => vec![row("revision of the Pod", have.to_string()), row("revision wanted", want.to_string())],
        _ => Vec::new(),
    }
}

/// The reason in a few words.
pub fn because(entry: &Entry) -> String {
    match &entry.why {
        Why::Bootstrap => "part of the cluster from the start".into(),
        // The sentence has said so.
        Why::Revision { .. } | Why::Scaled { .. } | Why::Stopped => String::new(),
        // A hash may be of digits alone, and what a probe asks is a person's words.
        why @ (Why::NewTemplate { .. } | Why::BecameReady { .. }) => crate::i18n::why(why),
        why => grouped(&crate::i18n::why(why)),
    }
}

fn reason(journal: Journal<'_>, id: EntryId) -> Option<Reason> {
    let entry = journal.get(id as usize)?;
    let (actor, icon) = actor(entry);
    Some(Reason {
        entry: id,
        at: entry.time.0 / 1000,
        actor,
        icon,
        user: entry.actor.name == "user",
        effect: effect(entry),
        short: because(entry),
        saw: saw(&entry.why),
        object: entry.key(),
    })
}

/// The entry that last decided about an object: what a loop did to the objects it keeps is its newest decision, more than
/// the numbers it wrote down.
fn newest(journal: Journal<'_>, key: &ObjectRef, version: u64) -> Option<usize> {
    let telling = |entry: &Entry| !matches!(entry.why, Why::Observed) || !matches!(entry.record, Record::Write { op: Op::Modified, .. });
    let near = journal.from(journal.len().saturating_sub(NEAR));
    let own = |entry: &Entry| concerns(entry, key);
    let found = near.iter().rposition(|entry| own(entry) && telling(entry)).or_else(|| near.iter().rposition(own));
    found.map(|at| at + journal.len() - near.len()).or_else(|| written(journal, version))
}

/// Whether an entry wrote the object, or is what the loop of its kind did to what it keeps.
pub fn concerns(entry: &Entry, key: &ObjectRef) -> bool {
    let itself = |object: &Object| object.kind == key.kind && object.meta.name == key.name && object.meta.namespace == key.namespace;
    let kept = |object: &Object| {
        let loop_of = entry.actor.name.strip_suffix("-controller").is_some_and(|name| name.eq_ignore_ascii_case(key.kind.name()));
        loop_of
            && object.meta.namespace == key.namespace
            && object.meta.controller().is_some_and(|owner| owner.name == key.name && owner.kind == key.kind.name())
    };
    !is_event(entry) && entry.write().is_some_and(|(_, object)| itself(object) || kept(object))
}

/// In a longer history the newest decision about an object is looked for among so many entries, and what led from one to
/// another as well: some seconds of a very large cluster.
const NEAR: usize = 20_000;

/// The entry that wrote this version.
fn written(journal: Journal<'_>, version: u64) -> Option<usize> {
    // Not every entry is a write; the next one that is tells how far this is.
    let before = |at: usize| {
        let next = journal.from(at).iter().find_map(Entry::write);
        next.is_some_and(|(_, object)| object.meta.resource_version < version)
    };
    let (mut from, mut to) = (0, journal.len());
    while from < to {
        let middle = from.midpoint(to);
        if before(middle) { from = middle + 1 } else { to = middle }
    }
    let at = from + journal.from(from).iter().position(|entry| entry.write().is_some())?;
    journal.get(at)?.write().filter(|(_, object)| object.meta.resource_version == version).map(|_| at)
}

/// What was last decided about an object.
pub fn last(journal: Journal<'_>, key: &ObjectRef, version: u64) -> Option<Reason> {
    reason(journal, newest(journal, key, version)? as EntryId)
}

/// How the newest change of an object came about: newest first, the person's action last. Several writes of
/// one person's command are one item. `version` is that of the object; nothing if it is gone.
pub fn chain(journal: Journal<'_>, held_up: &DelayLog, key: &ObjectRef, version: u64) -> Vec<Reason> {
    let newest = newest(journal, key, version);
    let mut out: Vec<Reason> = Vec::new();
    let (mut at, mut left) = (newest.map(|at| at as EntryId), NEAR);
    let mut faults: Vec<EntryId> = Vec::new();
    while let Some(id) = at {
        let Some(entry) = journal.get(id as usize) else { break };
        let fault = held_up.by(journal, id);
        faults.extend(fault.filter(|fault| !faults.contains(fault)));
        at = cause(journal, id, &mut left);
        // Pure status writes between two decisions add nothing to the reader.
        let dull = matches!(entry.why, Why::Observed | Why::Binding) && !out.is_empty() && at.is_some();
        if !dull {
            out.extend(reason(journal, id));
        }
        if out.len() >= 24 {
            break;
        }
    }
    // The command says it better than the write that it made.
    if let [.., before, last] = out.as_slice()
        && before.user
        && last.user
        && last.object.is_none()
    {
        let (effect, written) = (before.effect.clone(), before.entry);
        let last = out.len() - 1;
        out[last].short = plain(&effect);
        out[last].entry = written;
        out.remove(last - 1);
    }
    for fault in faults {
        let place = out.iter().position(|reason| reason.entry < fault).unwrap_or(out.len());
        out.splice(place..place, reason(journal, fault).map(|reason| Reason { short: "it was held up by this".into(), ..reason }));
    }
    out
}

/// What an entry led to since another: the decisions that were woken by it, so many at most.
pub fn led_to(journal: Journal<'_>, id: EntryId, since: EntryId, most: usize) -> Vec<Reason> {
    let since = since.max(id + 1);
    (since..)
        .zip(journal.from(since as usize).first(NEAR).iter())
        .filter(|(_, entry)| entry.cause == Some(id) && !is_event(entry) && !matches!(entry.why, Why::Observed))
        .take(most)
        .filter_map(|(at, _)| reason(journal, at))
        .collect()
}

/// The last step in a sentence, for those who do not see it: what was decided, more than what was written down.
pub fn narrate(journal: Journal<'_>) -> String {
    decision(journal, &|_| true).map(|(entry, more)| sentence(entry, &effect(entry), more)).unwrap_or_default()
}

/// The decision of the newest pass, and how many more of it are alike.
fn decision<'a>(journal: Journal<'a>, seen: &dyn Fn(&Entry) -> bool) -> Option<(&'a Entry, usize)> {
    let last = journal.iter().rev().find(|entry| !is_event(entry))?;
    let pass = || {
        journal
            .iter()
            .rev()
            .take_while(|entry| entry.pass == last.pass || is_event(entry))
            .filter(|entry| entry.pass == last.pass && !is_event(entry))
    };
    let decided = |entry: &&Entry| !matches!(entry.why, Why::Observed | Why::Revision { .. }) && seen(entry);
    let entry = pass().filter(decided).last().unwrap_or(last);
    let alike = pass().filter(decided).filter(|other| std::mem::discriminant(&other.why) == std::mem::discriminant(&entry.why)).count();
    Some((entry, alike.saturating_sub(1)))
}

/// What was last decided, for a line beside the clock, and about which object: what a loop merely writes down of what it saw is
/// passed over, and so is what the diagram does not draw.
pub fn caption(journal: Journal<'_>, drawn: &dyn Fn(&ObjectRef, Op) -> bool) -> (String, Option<ObjectRef>) {
    let seen = |entry: &Entry| entry.write().is_none_or(|(op, object)| drawn(&object.key(), op));
    let decides = |entry: &Entry| !is_event(entry) && !matches!(entry.why, Why::Observed | Why::Revision { .. }) && seen(entry);
    let until = journal.iter().rposition(decides).map_or(journal.len(), |at| at + 1);
    let Some((entry, more)) = decision(journal.first(until), &seen) else { return Default::default() };
    let mut words = sentence(entry, &in_short(&effect(entry)), more);
    words.truncate(words.rfind(" at ").unwrap_or(words.len()));
    (words, entry.key())
}

/// Who did what, how many more of the kind, and when.
fn sentence(entry: &Entry, effect: &[Span], more: usize) -> String {
    let more = if more > 0 { format!(" and {} more", count(more)) } else { String::new() };
    let who = match entry.record {
        // Its sentence says who.
        Record::Command(_) => String::new(),
        _ => [&actor(entry).0, ": "].concat(),
    };
    format!("{who}{}{more} at {}", plain(effect), clock(entry.time.0 / 1000))
}

/// Numbers that stand alone get their thousands marked.
pub fn grouped(text: &str) -> String {
    let word = |word: &str| {
        let digits = word.trim_end_matches([',', ':', ';']);
        match digits.parse() {
            Ok(n) if digits.len() > 3 => [&count(n), &word[digits.len()..]].concat(),
            _ => word.to_string(),
        }
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// What the entries of a lane between two instants say, in milliseconds: the first, or the first that failed.
pub fn tell(journal: Journal<'_>, from: u64, to: u64, of: u8) -> String {
    let start = journal.partition_point(|entry| entry.time.0 / 1000 < from);
    let here = || journal.from(start).iter().take_while(|entry| entry.time.0 / 1000 <= to).filter(|entry| lane(entry) == Some(of));
    let first = here().find(|entry| is_bad(entry)).or_else(|| here().next());
    first.map(|entry| sentence(entry, &effect(entry), here().count() - 1)).unwrap_or_default()
}

/// Where a Job stands; of several, which one comes after the kind: it may be called `fails`.
fn of_job(job: &Job, pods: Pods, name: Option<&str>) -> (String, PodState) {
    let who = name.map_or_else(|| "Job".into(), |name| format!("Job {name}:"));
    if let Some(failed) = job.status.met("Failed") {
        let reason = &failed.reason;
        return (if name.is_some() { format!("{who} failed, {reason}") } else { format!("{who} failed: {reason}") }, PodState::Failed);
    }
    if job.status.met("Complete").is_some() {
        return (format!("{who} complete"), PodState::Succeeded);
    }
    let (spec, done) = (&job.spec, pods.succeeded.max(number_of(job.status.succeeded)));
    if spec.suspend {
        return (format!("{who} suspended"), PodState::Pending);
    }
    if spec.parallelism == Some(0) && pods.active == 0 {
        return (format!("{who} paused, parallelism 0"), PodState::Pending);
    }
    let counted = number_of(job.status.failed);
    // Where a policy may let a failure pass, not every one of them counts.
    let failed = if spec.pod_failure_policy.is_some() { counted } else { counted.max(pods.failed) };
    let enough = spec.completions.map_or(done > 0, |all| done >= number_of(all));
    if pods.active == 0 && failed > 0 && !enough {
        let ends = failed > spec.backoff_limit.map_or(usize::MAX, number_of) || job.status.met("FailureTarget").is_some();
        let does = if ends { "fails" } else { "tries again" };
        return (format!("{who} {does}, {} failed", count(failed)), PodState::NotReady);
    }
    let words = match spec.completions {
        Some(all) => {
            let runs = if name.is_some() { "" } else { " runs," };
            format!("{who}{runs} {} of {} complete", count(done.min(number_of(all))), number(all))
        }
        None => format!("{who} runs"),
    };
    (words, PodState::Creating)
}

fn number_of(of: i32) -> usize {
    usize::try_from(of).unwrap_or(0)
}

/// Where a workload stands, for the pill over the diagram: by the Pods that are there, as the strip below it counts them, for a status
/// may be older than they are.
pub fn standing(object: &Object, pods: Pods) -> Option<(String, PodState)> {
    if let Body::Job(job) = &object.body {
        return Some(of_job(job, pods, None));
    }
    if let Body::Deployment(b) = &object.body
        && b.status.conditions.iter().any(|c| c.kind == "Progressing" && c.reason == "ProgressDeadlineExceeded")
    {
        return Some(("Rollout failed: ProgressDeadlineExceeded".into(), PodState::Failed));
    }
    // Those wanted, and those that are of an older template.
    let (desired, old) = match &object.body {
        Body::Deployment(b) => (b.spec.replicas, b.status.replicas - b.status.updated_replicas),
        Body::StatefulSet(b) if b.spec.update_strategy.kind == "RollingUpdate" && b.status.current_revision != b.status.update_revision => {
            let kept = b.spec.update_strategy.rolling_update.as_ref().and_then(|rolling| rolling.partition).unwrap_or(0);
            (b.spec.replicas, b.status.replicas - b.status.updated_replicas - kept)
        }
        Body::StatefulSet(b) => (b.spec.replicas, 0),
        Body::ReplicaSet(b) => (b.spec.replicas, 0),
        Body::DaemonSet(body) => {
            let status = &body.status;
            let rolls = body.spec.update_strategy.kind != "OnDelete";
            let old = if rolls { status.desired_number_scheduled - status.updated_number_scheduled } else { 0 };
            (status.desired_number_scheduled, old)
        }
        _ => return None,
    };
    let (desired, n) = (desired.max(0) as usize, count);
    let observed = match &object.body {
        Body::Deployment(b) => b.status.observed_generation,
        Body::StatefulSet(b) => b.status.observed_generation,
        Body::ReplicaSet(b) => b.status.observed_generation,
        Body::DaemonSet(b) => b.status.observed_generation,
        _ => object.meta.generation,
    };
    // What is there may be all that an older spec asks for.
    if observed < object.meta.generation && pods.ready == desired && pods.active == desired {
        return Some(("A change is not observed yet".into(), PodState::Creating));
    }
    Some(if pods.ready == desired && pods.active == desired && old <= 0 {
        match pods.leaving {
            0 => ("All Pods are Ready".into(), PodState::Ready),
            leaving => (format!("{} {} terminating", n(leaving), if leaving == 1 { "Pod is" } else { "Pods are" }), PodState::Terminating),
        }
    } else if old > 0 && (object.kind != Kind::Deployment || pods.active > old as usize) {
        let paused = matches!(&object.body, Body::Deployment(b) if b.spec.paused);
        if paused { ("Rollout paused".into(), PodState::Pending) } else { ("Rolling update in progress".into(), PodState::Creating) }
    } else if pods.active + pods.leaving < desired {
        (format!("{} of {} Pods exist, {} Ready", n(pods.active + pods.leaving), n(desired), n(pods.ready)), PodState::Pending)
    } else {
        let state = if pods.ready < desired { PodState::Creating } else { PodState::Terminating };
        (format!("{} of {} Pods are Ready", n(pods.ready), n(desired)), state)
    })
}

/// The same of one of several.
pub fn standing_of(object: &Object, pods: Pods) -> String {
    let name = middle(&object.meta.name, 24);
    match &object.body {
        Body::Job(job) => of_job(job, pods, Some(&name)).0,
        _ => [&name, ": ", &standing(object, pods).unwrap_or_default().0].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_a_narrow_place_a_name_gives_way_to_what_was_done() {
        let scaled = |name: &str| [Span::Name(name.into()), text(" scaled "), Span::Strong("3 → 2".into())];
        assert_eq!(plain(&in_short(&scaled("nginx-deployment-6c5f67b5f7"))), "…6c5f67b5f7 scaled 3 → 2");
        assert_eq!(plain(&in_short(&scaled("a-very-long-database-0"))), "…database-0 scaled 3 → 2");
        assert_eq!(plain(&in_short(&scaled("web-0"))), "web-0 scaled 3 → 2");
    }

    #[test]
    fn a_status_that_is_written_is_told_by_the_field_that_changed() {
        let mut told = std::collections::BTreeMap::new();
        for example in crate::app::examples::ALL {
            let mut state = crate::app::State::new((example.text)(), 1);
            state.update(crate::app::Msg::Seconds(70));
            for entry in state.run.journal().iter() {
                let Record::Write { op: Op::Modified, object, before: Some(before) } = &entry.record else { continue };
                let words = plain(&effect(entry));
                assert!(!words.contains("status written") && !words.contains(": status,"), "{words}");
                assert!(!words.contains("conditions["), "a condition is told by its type: {words}");
                if words.ends_with(" changed") && !words.contains(": ") {
                    assert!(fields(before, object).is_empty(), "{words}: {:?}", fields(before, object));
                }
                if let Some(at) = words.find(": status.") {
                    let field = words[at + 2..].split(' ').next().unwrap_or("").to_string();
                    told.entry((object.kind.name(), field)).or_insert(words);
                }
            }
        }
        let of = |kind: &'static str, field: &str| told.get(&(kind, field.to_string())).map_or("", String::as_str);
        assert!(of("ReplicaSet", "status.readyReplicas").ends_with(": status.readyReplicas 0 → 1"), "{told:#?}");
        assert_eq!(of("Deployment", "status.readyReplicas"), "Deployment nginx-deployment: status.readyReplicas 0 → 1");
        assert_eq!(of("Job", "status.succeeded"), "Job pi: status.succeeded 0 → 2");
        assert_eq!(of("CronJob", "status.active"), "CronJob hello: status.active set");
    }

    #[test]
    fn only_counts_are_grouped_and_a_secret_keeps_what_it_holds() {
        let of = |port: u16, pass: &str| {
            format!(
                "apiVersion: v1\nkind: Service\nmetadata: {{name: s}}\nspec: {{ports: [{{port: {port}}}]}}\n---\n\
                 apiVersion: v1\nkind: Secret\nmetadata: {{name: sec}}\nstringData: {{pass: {pass}}}\n"
            )
        };
        let mut state = crate::app::State::new(&of(8080, "one"), 1);
        state.update(crate::app::Msg::Seconds(1));
        state.update(crate::app::Msg::Edit(of(9090, "two")));
        state.update(crate::app::Msg::Apply);
        let journal = state.run.journal();
        let told: Vec<String> = journal.iter().filter(|entry| entry.actor.name == "user").map(|entry| plain(&effect(entry))).collect();
        assert!(told.contains(&"Service s: spec.ports[0].port 8080 → 9090".to_string()), "{told:?}");
        assert!(told.contains(&"Secret sec: data.pass changed".to_string()), "{told:?}");
    }

    #[test]
    fn numbers_before_and_after_are_not_parted() {
        assert_eq!(unbroken("room for 2: 1,250 → 2,500"), "room for 2: 1,250\u{a0}→\u{a0}2,500");
        assert_eq!(unbroken("nginx:1.7.9 → busybox"), "nginx:1.7.9 → busybox");
    }
}
