//! The journal in words: what an entry did, what the loop saw, and the chain of causes behind a write.

use super::effect::effect;
use super::why::Row;
use crate::causes::cause;
use crate::why;
use apiserver::StatusReason;
use apiserver::Why;
use apiserver::journal::{Entry, EntryId, Journal, Op, Record};
use controller_runtime::late::DelayLog;
use fault::{Fault, NodeFault};
use i18n::format::count;
use i18n::{Message, msg};
use k8s_model::{Kind, Object, ObjectRef};
use projection::adapt::status;
use projection::changes::{ChangedField, fields};
use projection::marks::{LANES, Mark, OTHERS};
use projection::model::PodState;

/// One item of the chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// Its place in the journal.
    pub entry: EntryId,
    /// Milliseconds.
    pub at: u64,
    /// `deployment-controller`, `kubelet node-2`, `you`
    pub actor: Message,
    /// The icon of the actor.
    pub icon: &'static str,
    /// Whether a person did it.
    pub user: bool,
    /// What it did, a sentence.
    pub effect: Message,
    /// Why, in a few words.
    pub short: Message,
    /// What the loop saw, name and value; the last is the conclusion.
    pub saw: Vec<Row>,
    /// The object it wrote.
    pub object: Option<ObjectRef>,
}

/// Letters of the ends of generated names: those of `apimachinery`'s `rand.String`.
const GENERATED: &str = "bcdfghjklmnpqrstvwxz2456789";
/// Letters of a name that is written whole.
const WHOLE: usize = 20;

/// The same message for a narrow place: of a generated name only its end, which tells it apart, so that what was done to it stays in sight.
pub fn in_short(effect: &Message) -> Message {
    let short = |name: &str| {
        if name.len() <= 12 || name.contains('…') {
            return name.into();
        }
        // An ordinal or a short word says too little, and a name that a person chose tells most as a whole, where it is not too long.
        let is_told = |end: &str| {
            end.len() > 3 && (name.len() > WHOLE || end.chars().all(|c| GENERATED.contains(c)))
        };
        let end = name
            .rmatch_indices('-')
            .map(|(at, _)| &name[at + 1..])
            .find(|end| is_told(end));
        end.map_or_else(|| name.into(), |end| ["…", end].concat())
    };
    effect.with_names(&short)
}

/// Who acted, and their icon.
pub fn actor(entry: &Entry) -> (Message, &'static str) {
    let icon = match entry.actor.name {
        "user" => "i-user",
        "apiserver" => "i-apiserver",
        name => cluster::loops::named(name).map_or("i-act", |of| of.icon),
    };
    let who = match entry.actor.name {
        "user" => msg::actor_you(),
        actor if entry.actor.node.is_empty() => Message::name(actor),
        actor => Message::name(format!("{actor} {}", entry.actor.node)),
    };
    (who, icon)
}

/// Whether an entry is a command that changes nothing.
pub fn only_reads(entry: &Entry) -> bool {
    matches!(&entry.record, Record::Command(line) if kubectl::only_reads(line))
}

/// The lane of the timeline an entry belongs to.
pub fn lane(entry: &Entry) -> Option<u8> {
    if entry.is_event() || only_reads(entry) {
        return None;
    }
    lane_of(entry.actor.name)
}

/// The mark of an entry.
pub fn mark(entry: &Entry) -> Option<Mark> {
    Some(Mark {
        at: entry.time.0 / 1000,
        lane: lane(entry)?,
        bad: is_bad(entry),
        fault: entry.fault().is_some(),
        count: 1,
    })
}

/// The lane of the loop of this name.
pub fn lane_of(name: &str) -> Option<u8> {
    let of = |lane: &str| {
        LANES
            .iter()
            .position(|known| *known == lane)
            .map(|at| at as u8)
    };
    match name {
        "apiserver" => None,
        "user" => of("user"),
        name => cluster::loops::named(name)
            .and_then(|loops| of(loops.lane))
            .or(Some(OTHERS)),
    }
}

/// Whether an entry tells of a failure. A conflict is none: whoever wrote from an old version reads again; nor is it one where a loop finds
/// that what it makes is there already, or that what it writes is gone.
pub fn is_bad(entry: &Entry) -> bool {
    match &entry.record {
        Record::Refused(refused) => match refused.error.reason {
            StatusReason::Conflict => false,
            StatusReason::AlreadyExists | StatusReason::NotFound => entry.actor.name == "user",
            _ => true,
        },
        Record::Write { object, .. } => {
            matches!(entry.why, Why::NoNode { .. } | Why::ImagePull)
                || (entry.actor.name == "kubelet"
                    && object.kind == Kind::Pod
                    && status(object).0 == PodState::Failed)
        }
        Record::Command(_) | Record::Fault(_) | Record::Forgotten => false,
    }
}

/// The reason in a few words.
pub fn because(entry: &Entry) -> Message {
    match &entry.why {
        Why::Bootstrap => msg::why_bootstrap(),
        // The sentence has said so.
        Why::Revision { .. } | Why::Scaled { .. } | Why::Stopped => Message::default(),
        why => why::reason(why),
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
        saw: why::evidence(&entry.why),
        object: entry.key(),
    })
}

/// The entry that last decided about an object: what a loop did to the objects it keeps is its newest decision, more than
/// the numbers it wrote down.
fn newest(journal: Journal<'_>, key: &ObjectRef, version: u64) -> Option<usize> {
    let near = journal.from(journal.len().saturating_sub(MAX_SCANNED_ENTRIES));
    let own = |entry: &Entry| concerns(entry, key);
    let found = near
        .iter()
        .rposition(|entry| own(entry) && !only_records(entry))
        .or_else(|| near.iter().rposition(own));
    found
        .map(|at| at + journal.len() - near.len())
        .or_else(|| written(journal, version))
}

/// Whether an entry only records something: a status, a revision, a quota's usage, annotations. Such a write decides nothing.
fn only_records(entry: &Entry) -> bool {
    let Record::Write {
        op: Op::Modified,
        object,
        before: Some(before),
    } = &entry.record
    else {
        return false;
    };
    let annotates = |field: &ChangedField| {
        field.is_technical() || field.path.starts_with("metadata.annotations.")
    };
    match entry.why {
        Why::Observed | Why::Revision { .. } | Why::QuotaCharged { .. } | Why::Budget { .. } => {
            true
        }
        // What a loop notes in an annotation may be a decision.
        Why::Asked => fields(before, object).iter().all(annotates),
        _ => false,
    }
}

/// Whether an entry wrote the object, is what the loop of its kind did to what it keeps, or took one of its Pods.
pub fn concerns(entry: &Entry, key: &ObjectRef) -> bool {
    let itself = |object: &Object| {
        object.kind == key.kind
            && object.meta.name == key.name
            && object.meta.namespace == key.namespace
    };
    let own_loop = || {
        entry
            .actor
            .name
            .strip_suffix("-controller")
            .is_some_and(|name| name.eq_ignore_ascii_case(key.kind.name()))
    };
    let kept = |object: &Object| {
        object.meta.namespace == key.namespace
            && object
                .meta
                .controller()
                .is_some_and(|owner| owner.name == key.name && owner.kind == key.kind.name())
            && (own_loop() || takes_pod(entry))
    };
    if entry.is_command() {
        let powers = |fault: &Fault| matches!(fault, Fault::Node(NodeFault::Up | NodeFault::Down, node) if *node == key.name);
        return key.kind == Kind::Node && entry.fault().is_some_and(powers);
    }
    !entry.is_event()
        && entry
            .write()
            .is_some_and(|(_, object)| itself(object) || kept(object))
}

/// Whether a write begins the deletion of a Pod, or removes it at once.
fn takes_pod(entry: &Entry) -> bool {
    let Record::Write { op, object, before } = &entry.record else {
        return false;
    };
    object.pod().is_some()
        && match op {
            Op::Added => false,
            Op::Modified => {
                object.meta.is_deleting()
                    && before
                        .as_deref()
                        .is_some_and(|before| !before.meta.is_deleting())
            }
            Op::Deleted => !object.meta.is_deleting(),
        }
}

/// In a longer history the newest decision about an object is looked for among so many entries, and what led from one to
/// another as well: some seconds of a very large cluster.
const MAX_SCANNED_ENTRIES: usize = 20_000;

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
        if before(middle) {
            from = middle + 1
        } else {
            to = middle
        }
    }
    let at = from
        + journal
            .from(from)
            .iter()
            .position(|entry| entry.write().is_some())?;
    journal
        .get(at)?
        .write()
        .filter(|(_, object)| object.meta.resource_version == version)
        .map(|_| at)
}

/// What was last decided about an object.
pub fn last(journal: Journal<'_>, key: &ObjectRef, version: u64) -> Option<Reason> {
    reason(journal, newest(journal, key, version)? as EntryId)
}

/// How the newest change of an object came about: newest first, the person's action last. Several writes of
/// one person's command are one item. `version` is that of the object; nothing if it is gone.
pub fn chain(
    journal: Journal<'_>,
    held_up: &DelayLog,
    key: &ObjectRef,
    version: u64,
) -> Vec<Reason> {
    newest(journal, key, version)
        .map_or_else(Vec::new, |at| chain_of(journal, held_up, at as EntryId))
}

/// How one entry of the journal came about, in the same way.
pub fn chain_of(journal: Journal<'_>, held_up: &DelayLog, id: EntryId) -> Vec<Reason> {
    let mut out: Vec<Reason> = Vec::new();
    let (mut at, mut left) = (Some(id), MAX_SCANNED_ENTRIES);
    let mut faults: Vec<EntryId> = Vec::new();
    while let Some(id) = at {
        let Some(entry) = journal.get(id as usize) else {
            break;
        };
        let fault = held_up.by(journal, id);
        faults.extend(fault.filter(|fault| !faults.contains(fault)));
        at = cause(journal, id, &mut left);
        // Pure status writes between two decisions add nothing to the reader.
        let dull =
            matches!(entry.why, Why::Observed | Why::Binding) && !out.is_empty() && at.is_some();
        if !dull {
            out.extend(reason(journal, id));
        }
        if out.len() >= 24 {
            break;
        }
    }
    // The command says it better than the write that it made; one that had to try for long says only when it began.
    if let [.., before, last] = out.as_slice()
        && before.user
        && last.user
        && last.object.is_none()
        && before.at / 1000 == last.at / 1000
    {
        let (effect, written) = (before.effect.clone(), before.entry);
        let last = out.len() - 1;
        out[last].short = effect;
        out[last].entry = written;
        out.remove(last - 1);
    }
    for fault in faults {
        let place = out
            .iter()
            .position(|reason| reason.entry < fault)
            .unwrap_or(out.len());
        out.splice(
            place..place,
            reason(journal, fault).map(|reason| Reason {
                short: msg::delayed_by_fault(),
                ..reason
            }),
        );
    }
    out
}

/// What an entry led to since another: the decisions that were woken by it, so many at most.
pub fn led_to(journal: Journal<'_>, id: EntryId, since: EntryId, most: usize) -> Vec<Reason> {
    let since = since.max(id + 1);
    (since..)
        .zip(
            journal
                .from(since as usize)
                .first(MAX_SCANNED_ENTRIES)
                .iter(),
        )
        .filter(|(_, entry)| {
            entry.cause == Some(id) && !entry.is_event() && !matches!(entry.why, Why::Observed)
        })
        .take(most)
        .filter_map(|(at, _)| reason(journal, at))
        .collect()
}

/// The last step in a sentence, for those who do not see it: what was decided, more than what was written down.
pub fn narrate(journal: Journal<'_>) -> Message {
    decision(journal, &|_| true)
        .map(|(entry, more)| sentence(entry, more))
        .unwrap_or_default()
}

/// The decision of the newest pass, and how many more of it are alike.
fn decision<'a>(journal: Journal<'a>, seen: &dyn Fn(&Entry) -> bool) -> Option<(&'a Entry, usize)> {
    let last = journal.iter().rev().find(|entry| !entry.is_event())?;
    let pass = || {
        journal
            .iter()
            .rev()
            .take_while(|entry| entry.pass == last.pass || entry.is_event())
            .filter(|entry| entry.pass == last.pass && !entry.is_event())
    };
    let decided = |entry: &&Entry| {
        !matches!(
            entry.why,
            Why::Observed | Why::Revision { .. } | Why::NewRevision { .. }
        ) && seen(entry)
    };
    // That a Pod is gone says more than what was written of it before.
    let removes = |entry: &&Entry| {
        matches!(entry.write(), Some((Op::Deleted, object)) if object.kind == Kind::Pod)
            && seen(entry)
    };
    let entry = pass()
        .find(removes)
        .or_else(|| pass().filter(decided).last())
        .unwrap_or(last);
    let op = |entry: &Entry| entry.write().map(|(op, _)| op);
    let same = |other: &&Entry| {
        std::mem::discriminant(&other.why) == std::mem::discriminant(&entry.why)
            && op(other) == op(entry)
    };
    let alike = pass().filter(decided).filter(same).count();
    Some((entry, alike.saturating_sub(1)))
}

/// What was last decided, for a line beside the clock, and about which object: what a loop merely writes down of what it saw is
/// passed over, and so is what the diagram does not draw.
pub fn caption(
    journal: Journal<'_>,
    drawn: &dyn Fn(&ObjectRef, Op) -> bool,
) -> (Message, Option<ObjectRef>) {
    let seen = |entry: &Entry| {
        entry
            .write()
            .is_none_or(|(op, object)| drawn(&object.key(), op))
    };
    let decides = |entry: &Entry| {
        !entry.is_event()
            && !matches!(entry.why, Why::Observed | Why::Revision { .. })
            && seen(entry)
    };
    let until = journal
        .iter()
        .rposition(decides)
        .map_or(journal.len(), |at| at + 1);
    let Some((entry, more)) = decision(journal.first(until), &seen) else {
        return Default::default();
    };
    (said(entry, in_short(&effect(entry)), more), entry.key())
}

/// What the newest step did, and to which object, also where a loop only noted what it saw.
pub fn step(journal: Journal<'_>) -> (Message, Option<ObjectRef>) {
    let told = decision(journal, &|_| true);
    told.map(|(entry, more)| (said(entry, in_short(&effect(entry)), more), entry.key()))
        .unwrap_or_default()
}

/// Who did what, and how many more of the kind.
fn said(entry: &Entry, effect: Message, more: usize) -> Message {
    // The sentence of a command says who.
    let who = entry
        .is_command()
        .then(Message::default)
        .unwrap_or_else(|| actor(entry).0);
    match (who.is_empty(), more) {
        (true, 0) => effect,
        (true, more) => msg::effect_and_more(effect, more),
        (false, 0) => msg::effect_by(who, effect),
        (false, more) => msg::effect_by_and_more(who, effect, more),
    }
}

/// The same, and when.
fn sentence(entry: &Entry, more: usize) -> Message {
    msg::effect_at(said(entry, effect(entry), more), entry.time.0 / 1000)
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

/// Of the entries of a lane between two instants, in milliseconds, the first, or the first that failed; how many more there are; and
/// the object that it is about. What a command wrote is the command's: it is counted once.
fn told_of(
    journal: Journal<'_>,
    from: u64,
    to: u64,
    of: u8,
) -> Option<(&Entry, usize, Option<ObjectRef>)> {
    let start = journal.partition_point(|entry| entry.time.0 / 1000 < from);
    let here = || {
        journal
            .from(start)
            .iter()
            .take_while(|entry| entry.time.0 / 1000 <= to)
            .filter(|entry| lane(entry) == Some(of))
    };
    let is_command = |entry: &&Entry| entry.is_command();
    let first = here()
        .find(|entry| is_bad(entry))
        .or_else(|| here().next())?;
    let commands = here().filter(is_command).count();
    let more = if commands > 0 {
        commands
    } else {
        here().count()
    } - 1;
    let after = || {
        here()
            .skip_while(|entry| !std::ptr::eq(*entry, first))
            .skip(1)
            .take_while(|entry| !is_command(entry))
    };
    Some((
        first,
        more,
        first.key().or_else(|| after().find_map(Entry::key)),
    ))
}

/// What the entries of a lane between two instants say, in milliseconds: the first, or the first that failed.
pub fn tell(journal: Journal<'_>, from: u64, to: u64, of: u8) -> Message {
    told_of(journal, from, to, of)
        .map(|(entry, more, _)| sentence(entry, more))
        .unwrap_or_default()
}

/// The object that is told of there; of a command, the first that it wrote.
pub fn object_at(journal: Journal<'_>, from: u64, to: u64, of: u8) -> Option<ObjectRef> {
    told_of(journal, from, to, of)?.2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_effect_shortens_the_name() {
        let scaled = |name: &str| in_short(&msg::effect_scaled(name, "3 → 2")).english();
        assert_eq!(
            scaled("nginx-deployment-6c5f67b5f7"),
            "…6c5f67b5f7 scaled 3 → 2"
        );
        assert_eq!(scaled("a-very-long-database-0"), "…database-0 scaled 3 → 2");
        assert_eq!(scaled("web-0"), "web-0 scaled 3 → 2");
        assert_eq!(scaled("my-storage-class"), "my-storage-class scaled 3 → 2");
        assert_eq!(scaled("web-6c5f67b5f7-x2k8p"), "…x2k8p scaled 3 → 2");
    }
}
