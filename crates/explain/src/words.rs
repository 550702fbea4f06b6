//! The journal in words: the effect of an entry, the values seen by the loop, and the chain of causes of a write.

use super::effect::effect;
use crate::causes::cause;
use crate::why;
use apiserver::journal::{Entry, EntryId, Journal, Op, Record};
use apiserver::{Actor, CommandEffect, Component, StatusReason, Why};
use cluster::loops;
use controller_runtime::fact::Fact;
use controller_runtime::watch_faults::DelayLog;
use fault::{Fault, NodeFault};
use i18n::format::count;
use i18n::{Message, msg};
use k8s_model::{Kind, Object, ObjectRef};
use projection::adapt::status;
use projection::changes::{ChangedField, fields};
use projection::marks::{Lane, Mark};
use projection::model::PodState;

/// Item of a chain of causes.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// Id of the journal entry.
    pub entry: EntryId,
    /// Time in milliseconds.
    pub at: u64,
    /// Actor: `deployment-controller`, `kubelet node-2`, `you`.
    pub actor: Message,
    /// Icon of the actor.
    pub icon: &'static str,
    /// True if a person did it.
    pub user: bool,
    /// Effect, as a sentence.
    pub effect: Message,
    /// Reason in a few words.
    pub short: Message,
    /// Facts that decided it; the last is the conclusion.
    pub saw: Vec<Fact>,
    /// Object written.
    pub object: Option<ObjectRef>,
}

/// Characters of the suffixes of generated names: those of `apimachinery`'s `rand.String`.
const GENERATED: &str = "bcdfghjklmnpqrstvwxz2456789";
/// Maximum length of a name that is written in full.
const WHOLE: usize = 20;

/// Shortens a message for a narrow place: only the distinguishing suffix of a generated name is kept, so that the effect stays visible.
pub fn abbreviate_names(effect: &Message) -> Message {
    let short = |name: &str| {
        if name.len() <= 12 || name.contains('…') {
            return name.into();
        }
        // An ordinal or a short word is not informative enough, and a name chosen by a person is best shown in full, if it is not too long.
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

/// Returns the name of the client from outside that made a request: its field manager, which is its user agent unless it names one.
/// kubectl is a person's own.
pub fn client(entry: &Entry) -> Option<&str> {
    let name = entry.manager.as_ref()?.name.as_str();
    let is_client = !name.is_empty() && name != "unknown" && !name.starts_with("kubectl");
    (entry.actor == Actor::USER && is_client).then_some(name)
}

/// Returns the actor of an entry, and its icon.
pub fn actor(entry: &Entry) -> (Message, &'static str) {
    let component = entry.actor.component;
    let icon = match component {
        Component::User if client(entry).is_some() => "i-external",
        Component::User => "i-user",
        Component::ApiServer => "i-apiserver",
        _ => loops::descriptor(component).map_or("i-act", |of| of.icon),
    };
    let who = match (component, &entry.record) {
        (_, Record::ClientFault(hit)) => Message::name(hit.call.client()),
        (Component::User, _) => client(entry).map_or_else(msg::actor_you, Message::name),
        _ => Message::name(entry.actor.to_string()),
    };
    (who, icon)
}

/// Returns true if an entry is a command that changes nothing.
pub fn only_reads(entry: &Entry) -> bool {
    entry.command_effect() == Some(CommandEffect::Reads)
}

/// Returns the lane of the timeline to which an entry belongs.
pub fn lane(entry: &Entry) -> Option<Lane> {
    if entry.is_event() || only_reads(entry) {
        return None;
    }
    match client(entry) {
        Some(name) => Some(Lane::named(name)),
        None => lane_of(entry.actor.component),
    }
}

/// Returns the mark of an entry.
pub fn mark(entry: &Entry) -> Option<Mark> {
    Some(Mark {
        at: entry.time.0 / 1000,
        lane: lane(entry)?,
        bad: is_bad(entry),
        fault: matches!(entry.record, Record::Fault(_) | Record::ClientFault(_)),
        count: 1,
    })
}

/// Returns the lane of a component.
pub fn lane_of(component: Component) -> Option<Lane> {
    match component {
        Component::ApiServer => None,
        Component::User => Some(Lane::User),
        Component::Loop(id) => Some(Lane::named(id.name)),
        _ => loops::descriptor(component)
            .and_then(|descriptor| Lane::from_name(descriptor.lane))
            .or(Some(Lane::Others)),
    }
}

/// Returns true if an entry is a failure. A conflict is not: the writer reads again and retries; neither is a loop's create of an existing
/// object or its write to a deleted one.
pub fn is_bad(entry: &Entry) -> bool {
    match &entry.record {
        Record::Refused(refused) => match refused.error.reason {
            StatusReason::Conflict => false,
            StatusReason::AlreadyExists | StatusReason::NotFound => entry.actor == Actor::USER,
            _ => true,
        },
        Record::Write { object, .. } => {
            matches!(entry.why, Why::NoNode { .. } | Why::ImagePull)
                || (entry.actor.component == Component::Kubelet
                    && object.kind == Kind::Pod
                    && status(object).0 == PodState::Failed)
        }
        Record::Command(_) | Record::Fault(_) | Record::ClientFault(_) | Record::Forgotten => false,
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
        user: entry.actor == Actor::USER,
        effect: effect(entry),
        short: why::short(&entry.why),
        saw: why::explain(&entry.why).evidence,
        object: entry.key(),
    })
}

/// Returns the index of the last decision about an object: for a controller, its latest action on the objects that it owns takes precedence
/// over its status updates.
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

/// Returns true if an entry only records something: a status, a revision, a quota's usage, annotations. Such a write decides nothing.
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
        // An annotation set by a loop may be a decision.
        Why::Asked => fields(before, object).iter().all(annotates),
        _ => false,
    }
}

/// Returns true if an entry wrote the object, is an action of the loop of its kind on an object that it owns, or removed one of its Pods.
pub fn concerns(entry: &Entry, key: &ObjectRef) -> bool {
    let itself = |object: &Object| {
        object.kind == key.kind
            && object.meta.name == key.name
            && object.meta.namespace == key.namespace
    };
    let component = entry.actor.component;
    // A loop that is a program acts on the objects that its object controls.
    let own_loop = || {
        matches!(component, Component::Loop(_))
            || controllers::is_controller_of(component, key.kind)
    };
    let kept = |object: &Object| {
        object.meta.namespace == key.namespace
            && object
                .meta
                .controller()
                .is_some_and(|owner| owner.name == key.name && owner.is_kind(key.kind))
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

/// Returns true if a write starts the deletion of a Pod, or removes it at once.
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

/// Maximum number of entries searched for the newest decision about an object, and for the links of a chain: some seconds of a very large
/// cluster.
const MAX_SCANNED_ENTRIES: usize = 20_000;

/// Returns the index of the entry that wrote this version.
fn written(journal: Journal<'_>, version: u64) -> Option<usize> {
    // Not every entry is a write; the next write gives the version.
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

/// Returns the last decision about an object.
pub fn last(journal: Journal<'_>, key: &ObjectRef, version: u64) -> Option<Reason> {
    reason(journal, newest(journal, key, version)? as EntryId)
}

/// Returns the chain of causes of an object's newest change: newest first, the person's action last. Several writes of one command are one
/// item. `version` is the object's resourceVersion, 0 if it is gone.
pub fn chain(
    journal: Journal<'_>,
    held_up: &DelayLog,
    key: &ObjectRef,
    version: u64,
) -> Vec<Reason> {
    newest(journal, key, version)
        .map_or_else(Vec::new, |at| chain_of(journal, held_up, at as EntryId))
}

/// Returns the chain of causes of one journal entry.
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
        // Pure status writes between two decisions are not informative.
        let dull =
            matches!(entry.why, Why::Observed | Why::Binding) && !out.is_empty() && at.is_some();
        if !dull {
            out.extend(reason(journal, id));
        }
        if out.len() >= 24 {
            break;
        }
    }
    // The command replaces the write that it made; a command that retried for long only gives its start.
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

/// Returns the consequences of an entry since another one: the decisions that it woke, at most `most`.
pub fn consequences(journal: Journal<'_>, id: EntryId, since: EntryId, most: usize) -> Vec<Reason> {
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

/// Describes the last step in a sentence, for screen readers: decisions take precedence over status updates.
pub fn announce_step(journal: Journal<'_>) -> Message {
    decision(journal, &|_| true)
        .map(|(entry, more)| sentence(entry, more))
        .unwrap_or_default()
}

/// Returns the decision of the newest pass, and the number of similar ones in it.
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
    // The removal of a Pod takes precedence over earlier writes to it.
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

/// Caption beside the clock: the last decision, and its object. Mere status updates are skipped, and objects that the diagram does not
/// draw.
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
    (
        said(entry, abbreviate_names(&effect(entry)), more),
        entry.key(),
    )
}

/// Describes the newest step, and its object, even if a loop only updated a status.
pub fn step(journal: Journal<'_>) -> (Message, Option<ObjectRef>) {
    let told = decision(journal, &|_| true);
    told.map(|(entry, more)| {
        (
            said(entry, abbreviate_names(&effect(entry)), more),
            entry.key(),
        )
    })
    .unwrap_or_default()
}

/// Describes an action with its actor, and the number of similar ones.
fn said(entry: &Entry, effect: Message, more: usize) -> Message {
    // The sentence of a command already has its actor.
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

/// Describes an action with its actor and time.
fn sentence(entry: &Entry, more: usize) -> Message {
    msg::effect_at(said(entry, effect(entry), more), entry.time.0 / 1000)
}

/// Adds thousands separators to numbers that are words of their own.
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

/// Returns the first entry of a lane between two instants in milliseconds, or the first failure; the number of further entries; and the
/// entry's object. The writes of a command are not counted separately.
fn told_of(
    journal: Journal<'_>,
    from: u64,
    to: u64,
    of: Lane,
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

/// Describes the entries of a lane between two instants in milliseconds: the first, or the first failure.
pub fn tell(journal: Journal<'_>, from: u64, to: u64, of: Lane) -> Message {
    told_of(journal, from, to, of)
        .map(|(entry, more, _)| sentence(entry, more))
        .unwrap_or_default()
}

/// Returns the object of that entry; for a command, the first object that it wrote.
pub fn object_at(journal: Journal<'_>, from: u64, to: u64, of: Lane) -> Option<ObjectRef> {
    told_of(journal, from, to, of)?.2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_from_outside_has_its_own_lane_and_is_named() {
        let config = controller_runtime::cluster::ClusterConfig::default();
        let mut sim = cluster::Sim::new(config, 1);
        let mut write = |manager: &str, name: &str| {
            let value = serde_json::json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
            let mut request = apiserver::Request::of_manifest(apiserver::Verb::Create, value);
            request.options.field_manager = manager.to_owned();
            assert!(sim.request(&request).result.is_ok());
            let journal = sim.journal();
            let entry = journal.iter().last().expect("a write");
            (actor(entry).0.english(), lane(entry))
        };
        let sample = write("sample-controller", "a");
        assert_eq!(
            sample,
            (
                "sample-controller".into(),
                Some(Lane::named("sample-controller"))
            )
        );
        let person = write("kubectl-create", "b");
        assert_eq!(person, (msg::actor_you().english(), Some(Lane::User)));
    }

    #[test]
    fn a_short_effect_shortens_the_name() {
        let scaled = |name: &str| abbreviate_names(&msg::effect_scaled(name, "3 → 2")).english();
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
