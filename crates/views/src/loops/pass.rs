//! A pass of a loop as Observe, Diff and Act, derived from its writes.

use super::read::{glyph, title_of};
use crate::loops::model::{
    Code, PanelForm, Pass, PassPhase, PassRequest, PassRow, PassStep, times_of,
};
use apiserver::journal::{Entry, Journal, Op, Record};
use apiserver::{Component, Why};
use cluster::loops::descriptor;
use controller_runtime::descriptor::{CodeFlow, CodeLine, CodeTag, CodeValue, GENERIC};
use controller_runtime::fact::{Change, Fact, FactId, FactValue};
use explain::why;
use i18n::format::middle;
use i18n::{Arg, Message, msg};
use k8s_model::network::EndpointSlice;
use k8s_model::{Body, Kind, Object, ObjectRef, Str};
use projection::changes::{ChangedField, fields};

/// Value of a field that is not set.
const NOTHING: &str = "∅";

/// Fact with the score of the node to which a Pod was bound.
pub(super) fn winner(entry: &Entry) -> Option<Fact> {
    let Why::BestNode {
        score,
        feasible: 1..,
        ..
    } = &entry.why
    else {
        return None;
    };
    let node = &entry.write()?.1.pod()?.node_name;
    (!node.is_empty()).then(|| {
        let value = FactValue::Score {
            node: node.clone(),
            score: *score,
        };
        Fact::new(FactId::NodeScore, value)
    })
}

/// Builds the pass to which an entry belongs; `program` is the text of a loop that is one.
pub(super) fn pass(
    journal: Journal<'_>,
    program: Option<&str>,
    at: usize,
    entry: &Entry,
    newest: bool,
    passes: Option<usize>,
) -> Pass {
    let mut of: Vec<&Entry> = journal
        .first(at + 1)
        .iter()
        .rev()
        .take(3000)
        .take_while(|e| e.pass == entry.pass || e.is_event())
        .filter(|e| e.pass == entry.pass && !e.is_event())
        .collect();
    of.reverse();
    // A deletion without grace first sets the deletionTimestamp: one request.
    if matches!(
        entry.record,
        Record::Write {
            op: Op::Deleted,
            ..
        }
    ) {
        of.retain(|e| {
            !matches!(
                (&e.why, &e.record),
                (
                    Why::Removed,
                    Record::Write {
                        op: Op::Modified,
                        ..
                    }
                )
            )
        });
    }
    // The decision, rather than the status that was updated.
    let main = of
        .iter()
        .copied()
        .find(|e| !matches!(e.why, Why::Observed))
        .unwrap_or(entry);
    let (mut all, saw) = (standing(&of), why::explain(&main.why).evidence);
    let told = !saw.is_empty();
    if told {
        // The conclusion is the decision; the numbers around it are shown only once.
        all.retain(|fact| {
            !matches!(fact.id, FactId::Updated | FactId::Available)
                && saw.iter().all(|known| known.id != fact.id)
        });
        all.extend(saw);
    }
    let mut seen = all.clone();
    if let Some(score) = winner(main) {
        let at = seen
            .iter()
            .position(|fact| fact.id == FactId::NodeScore)
            .unwrap_or(seen.len() - 1);
        seen.insert(at, score);
    }
    let concludes = seen.pop_if(|fact| {
        fact.id != FactId::Desired && (told || matches!(fact.value, FactValue::Difference { .. }))
    });
    let mut observe = Vec::new();
    if let Some(before) = of.iter().find_map(|e| {
        if let Record::Write { before, .. } = &e.record {
            before.as_ref()
        } else {
            None
        }
    }) {
        let version = FactValue::Number(before.meta.resource_version as i64);
        observe.push(Fact::new(FactId::ResourceVersion, version));
    }
    observe.extend(found_running(main));
    observe.extend(seen);
    let mut diff: Vec<Fact> = concludes.into_iter().collect();
    if !told && !matches!(main.why, Why::Observed) {
        let because = FactValue::Because(main.why.clone());
        diff.insert(0, Fact::new(FactId::Reason, because));
    }
    if matches!(&main.why, Why::BestNode { score, next, next_score, .. } if score == next_score && !next.is_empty())
    {
        diff.push(Fact::new(FactId::Tie, FactValue::FirstByName));
    }
    diff.extend(differs(main));
    if diff.is_empty() {
        diff.push(Fact::new(FactId::StatusOutOfDate, FactValue::OutOfDate));
    }
    // Other lines executed by this pass: one per write.
    let done: Vec<(CodeTag, Message)> = of
        .iter()
        .map(|e| (why::explain(&e.why).line, act(e).message()))
        .collect();
    let lines: Vec<(u32, Message)> = of
        .iter()
        .filter_map(|e| Some((program_line(&e.why)?, act(e).message())))
        .collect();
    let mut writes: Vec<(PassRequest, usize)> = Vec::new();
    for act in of.iter().map(|e| act(e)) {
        match writes.iter_mut().find(|(known, _)| *known == act) {
            Some((_, count)) => *count += 1,
            None => writes.push((act, 1)),
        }
    }
    // The decision stands beside the executed line.
    let decided = act(main);
    let repeated = writes
        .iter()
        .find(|(act, _)| *act == decided)
        .map_or(1, |(_, count)| *count);
    let code = code(
        entry.actor.component,
        program,
        Some(&Executed {
            why: &main.why,
            facts: &all,
            request: times_of(decided.message(), repeated),
            done: &done,
            lines: &lines,
        }),
    );
    let requests = writes
        .into_iter()
        .take(3)
        .map(|(request, times)| PassRow::Request { request, times });
    let component = entry.actor.component;
    Pass {
        title: title_of(
            &entry.actor,
            passes,
            Message::only(Arg::Clock(entry.time.0 as i64 / 1000)),
        ),
        who: entry.actor.to_string(),
        own: main
            .key()
            .is_some_and(|own| key(main).ends_with(own.name.as_str())),
        key: key(main),
        glyph: glyph(component),
        newest,
        code,
        act: Some((decided, repeated)),
        held: Message::default(),
        steps: vec![
            PassStep::facts(PassPhase::Observe, observe),
            PassStep::facts(PassPhase::Diff, diff),
            PassStep {
                phase: PassPhase::Act,
                rows: requests.collect(),
            },
        ],
        form: PanelForm::Columns,
    }
}

/// Returns the comparison made by a workload's loop: the desired numbers of its object, and the status written by the pass. A pass that
/// only changed a ReplicaSet of a Deployment has the desired number from the annotation set on it.
pub(super) fn standing(of: &[&Entry]) -> Vec<Fact> {
    let wrote = |entry: &&Entry| {
        entry
            .write()
            .filter(|(op, _)| *op == Op::Modified)
            .map(|(_, object)| object.clone())
    };
    for object in of.iter().rev().filter_map(wrote) {
        if !controllers::is_controller_of(of[0].actor.component, object.kind) {
            continue;
        }
        match &object.body {
            // A creation or deletion describes itself.
            Body::ReplicaSet(set)
                if object.kind == Kind::ReplicaSet
                    && of.iter().all(|entry| matches!(entry.why, Why::Observed)) =>
            {
                let (want, have) = (set.spec.replicas, set.status.replicas);
                return vec![
                    Fact::count(FactId::Desired, want),
                    Fact::count(FactId::Actual, have),
                    Fact::new(
                        FactId::Difference,
                        FactValue::Difference {
                            from: have,
                            minus: want,
                        },
                    ),
                ];
            }
            Body::Deployment(d) if d.status.observed_generation > 0 => {
                let (want, status) = (d.spec.replicas, &d.status);
                return vec![
                    Fact::count(FactId::Desired, want),
                    Fact::count(FactId::Actual, status.replicas),
                    Fact::count(FactId::Updated, status.updated_replicas),
                    Fact::count(FactId::Available, status.available_replicas),
                ];
            }
            Body::StatefulSet(set) => {
                let (want, start, status) =
                    (set.spec.replicas, set.spec.ordinals.start, &set.status);
                let ordinals = (want > 0).then_some((start, start + want - 1));
                return vec![
                    Fact::count(FactId::Desired, want),
                    Fact::new(FactId::Ordinals, FactValue::Ordinals(ordinals)),
                    Fact::count(FactId::Actual, status.replicas),
                    Fact::count(FactId::Updated, status.updated_replicas),
                    Fact::count(FactId::Ready, status.ready_replicas),
                ];
            }
            _ => {}
        }
    }
    let noted = |entry: &Entry| {
        entry
            .write()?
            .1
            .meta
            .annotations
            .get("deployment.kubernetes.io/desired-replicas")?
            .parse()
            .ok()
    };
    let sets = of
        .iter()
        .filter(|entry| controllers::is_controller_of(entry.actor.component, Kind::Deployment));
    sets.filter_map(|entry| noted(entry))
        .next()
        .map(|want: i32| Fact::count(FactId::Desired, want))
        .into_iter()
        .collect()
}

/// Returns the Pod's state that a kubelet found before its write.
pub(super) fn found_running(entry: &Entry) -> Vec<Fact> {
    let Record::Write { object, before, .. } = &entry.record else {
        return Vec::new();
    };
    let found = before.as_ref().unwrap_or(object);
    let Some(pod) = found
        .pod()
        .filter(|_| entry.actor.component == Component::Kubelet)
    else {
        return Vec::new();
    };
    let running = pod
        .status
        .container_statuses
        .iter()
        .filter(|status| status.state.running.is_some())
        .count();
    vec![
        Fact::new(
            FactId::DeletionTimestamp,
            FactValue::Set(found.meta.is_deleting()),
        ),
        Fact::new(
            FactId::ContainersRunning,
            FactValue::Part {
                part: running,
                total: pod.spec.containers.len(),
            },
        ),
    ]
}

/// Returns the changes of an EndpointSlice: addresses added and removed, and the number of ready ones.
pub(super) fn addresses(object: &Object, before: Option<&Object>) -> Vec<Fact> {
    let of = |slice: Option<&Object>| -> Vec<(Str, bool)> {
        let endpoints = slice
            .and_then(|slice| slice.get::<EndpointSlice>())
            .into_iter()
            .flat_map(|slice| &slice.endpoints);
        endpoints
            .filter_map(|one| Some((one.addresses.first()?.clone(), one.is_ready())))
            .collect()
    };
    let (was, is) = (of(before), of(Some(object)));
    let mut facts = Vec::new();
    for (added, own, other) in [(true, &is, &was), (false, &was, &is)] {
        let known: std::collections::BTreeSet<&Str> =
            other.iter().map(|(address, _)| address).collect();
        let addresses: Vec<Str> = own
            .iter()
            .map(|(address, _)| address)
            .filter(|address| !known.contains(address))
            .cloned()
            .collect();
        if !addresses.is_empty() {
            let moved = FactValue::Addresses { added, addresses };
            facts.push(Fact::new(FactId::Addresses, moved));
        }
    }
    let ready = |all: &[(Str, bool)]| all.iter().filter(|(_, ready)| *ready).count() as i64;
    let (from, to) = (ready(&was), ready(&is));
    if from != to {
        facts.push(Fact::new(
            FactId::ReadyEndpoints,
            FactValue::CountChange { from, to },
        ));
    }
    // Other changes: conditions of a terminating endpoint, ports, the time of the change.
    let other = || {
        before
            .map(|before| fields(before, object))
            .unwrap_or_default()
            .into_iter()
            .next()
    };
    if before.is_none() {
        let created = FactValue::CountChange { from: 0, to: 1 };
        facts.push(Fact::new(FactId::Slices, created));
    }
    if facts.is_empty()
        && let Some(field) = other()
    {
        let value = |value: Option<String>| middle(value.as_deref().unwrap_or(NOTHING), 12).into();
        let (from, to) = field.shown();
        let change = FactValue::FieldChange {
            field: field.path.rsplit('.').next().unwrap_or_default().into(),
            change: Change::Values {
                from: value(from),
                to: value(to),
            },
        };
        facts.push(Fact::new(FactId::Field, change));
    }
    facts
}

/// Returns the status numbers changed by a write, before and after; then conditions and phases.
pub(super) fn differs(entry: &Entry) -> Vec<Fact> {
    let Record::Write { op, object, before } = &entry.record else {
        return Vec::new();
    };
    if object.kind == Kind::EndpointSlice {
        return addresses(object, before.as_deref().filter(|_| *op == Op::Modified));
    }
    let (Op::Modified, Some(before)) = (op, before) else {
        return Vec::new();
    };
    let told = matches!(
        object.kind,
        Kind::Lease | Kind::Endpoints | Kind::ConfigMap | Kind::Secret
    );
    if told || object.meta.generation != before.meta.generation {
        return Vec::new();
    }
    let telling = |field: &ChangedField| {
        let last = field.path.rsplit('.').next().unwrap_or("");
        field.path.starts_with("status.")
            && !field.is_technical()
            && !matches!(last, "message" | "reason" | "image" | "started")
    };
    // Numbers first; of the rest as many as fit.
    let (mut numbers, mut others) = (Vec::new(), Vec::new());
    for field in fields(before, object).iter().filter(|field| telling(field)) {
        let (from, to) = field.shown();
        let [from, to] = [&from, &to].map(|value| value.as_deref().unwrap_or(NOTHING));
        // A whole added or removed value is described by its fields.
        if field.is_nested() || from.len() + to.len() > 24 {
            continue;
        }
        let name = field
            .path
            .trim_start_matches("status.")
            .trim_start_matches("conditions[")
            .replace("].status", "");
        let (list, change) = match field.counts() {
            Some((from, to)) => (&mut numbers, Change::Counts { from, to }),
            _ if field.from.is_some() => (
                &mut others,
                Change::Values {
                    from: from.into(),
                    to: to.into(),
                },
            ),
            _ => (&mut others, Change::Added(to.into())),
        };
        let field = name.into();
        list.push(Fact::new(
            FactId::Field,
            FactValue::FieldChange { field, change },
        ));
    }
    numbers.append(&mut others);
    numbers.truncate(4);
    numbers
}

/// Returns the key of a pass: the object itself, or its controller; for an EndpointSlice its Service.
pub(super) fn key(entry: &Entry) -> String {
    let Some(key) = entry.key() else {
        return String::new();
    };
    if let Some((_, object)) = entry.write().filter(|_| key.kind == Kind::EndpointSlice)
        && let Some(service) = object.meta.labels.get("kubernetes.io/service-name")
    {
        return [&key.namespace, "/", service].concat();
    }
    let owner = entry.write().and_then(|(_, object)| {
        object
            .meta
            .controller()
            .filter(|owner| {
                owner.key("").is_some_and(|key| {
                    controllers::is_controller_of(entry.actor.component, key.kind)
                })
            })
            .map(|owner| owner.name.clone())
    });
    full_name(&ObjectRef {
        name: owner.unwrap_or(key.name),
        ..key
    })
}

/// Formats a key as in work queues.
pub(super) fn full_name(key: &ObjectRef) -> String {
    if key.namespace.is_empty() {
        key.name.to_string()
    } else {
        format!("{}/{}", key.namespace, key.name)
    }
}

/// Returns the request that an entry records.
pub fn act(entry: &Entry) -> PassRequest {
    match &entry.record {
        Record::Command(_) | Record::Fault(_) | Record::ClientFault(_) | Record::Forgotten => {
            PassRequest::Command
        }
        Record::Refused(refused) => PassRequest::Rejected(refused.key.kind),
        Record::Write { op, object, before } => {
            let kind = object.kind;
            match (op, before) {
                (Op::Added, _) => PassRequest::Create(kind),
                (Op::Deleted, _) if entry.actor.component == Component::Kubelet => {
                    PassRequest::Delete(kind)
                }
                (Op::Deleted, _) => PassRequest::Remove(kind),
                (Op::Modified, Some(before))
                    if !before.meta.is_deleting() && object.meta.is_deleting() =>
                {
                    PassRequest::Delete(kind)
                }
                (Op::Modified, Some(before))
                    if before.meta.generation != object.meta.generation =>
                {
                    PassRequest::Update(kind)
                }
                (Op::Modified, Some(before)) => match (before.pod(), object.pod()) {
                    (Some(was), Some(is))
                        if was.node_name.is_empty() && !is.node_name.is_empty() =>
                    {
                        PassRequest::Bind(kind, is.node_name.clone())
                    }
                    _ if status_of(before) == status_of(object) => PassRequest::Update(kind),
                    _ => PassRequest::Status(kind),
                },
                (Op::Modified, None) => PassRequest::Status(kind),
            }
        }
    }
}

/// Returns the status of an object, to recognize writes of the status alone.
fn status_of(object: &Object) -> Option<serde_json::Value> {
    object
        .to_value()
        .get_mut("status")
        .map(serde_json::Value::take)
}

/// Pass whose values are shown beside the pseudo-code of its loop.
pub(super) struct Executed<'p> {
    /// Reason of its decision.
    pub why: &'p Why,
    /// Facts that it has seen.
    pub facts: &'p [Fact],
    /// Request of its decision.
    pub request: Message,
    /// Lines executed by its writes, with their requests.
    pub done: &'p [(CodeTag, Message)],
    /// Lines of a program that made its requests.
    pub lines: &'p [(u32, Message)],
}

impl Executed<'_> {
    fn fact(&self, id: FactId) -> Option<&FactValue> {
        let fact = self.facts.iter().find(|fact| fact.id == id)?;
        Some(&fact.value)
    }

    fn count(&self, id: FactId) -> Option<i32> {
        match self.fact(id)? {
            FactValue::Count(count) => Some(*count as i32),
            _ => None,
        }
    }

    /// Returns the value of a fact as a comment of its line.
    fn comment(&self, id: FactId) -> Option<Message> {
        match id {
            FactId::Desired => self.count(id).map(msg::code_replicas),
            FactId::Actual => self.count(id).map(msg::code_pods),
            FactId::Updated => self.count(id).map(msg::code_updated),
            FactId::Ready => self.count(id).map(msg::code_ready),
            FactId::Difference => match (self.count(FactId::Actual), self.count(FactId::Desired)) {
                (Some(from), Some(minus)) => {
                    Some(why::value(&FactValue::Difference { from, minus }))
                }
                _ => self.fact(id).map(why::value),
            },
            _ => self.fact(id).map(why::value),
        }
    }

    /// Returns the value beside a line; empty if there is none.
    fn value(&self, value: CodeValue, request: Option<&Message>) -> Message {
        let of = |fact: &Fact| why::value(&fact.value);
        let shown = match value {
            CodeValue::Request => request.cloned(),
            CodeValue::First => self.facts.first().map(of),
            CodeValue::Last => self.facts.last().map(of),
            CodeValue::Fact(id) => self.comment(id),
            CodeValue::Room => match *self.why {
                Why::RolloutUp {
                    pods,
                    at_most,
                    from,
                    to,
                } => {
                    let (allowed, wished) = (at_most - pods, to - from);
                    Some(why::value(&if allowed == wished {
                        FactValue::Difference {
                            from: at_most,
                            minus: pods,
                        }
                    } else {
                        FactValue::Least { allowed, wished }
                    }))
                }
                _ => None,
            },
            CodeValue::Spare => match self.why {
                Why::RolloutDown { .. } => self.facts.last().map(of),
                _ => None,
            },
        };
        shown.unwrap_or_default()
    }
}

/// Returns the lines of a program; those that made a request of the pass have it beside them.
fn program_lines(program: &str, pass: Option<&Executed<'_>>) -> Vec<Code> {
    let decided = pass.and_then(|pass| program_line(pass.why));
    let request = |number: u32| {
        let pass = pass?;
        if decided == Some(number) {
            return Some(pass.request.clone());
        }
        let mut done = pass.lines.iter().rev();
        done.find(|(line, _)| *line == number)
            .map(|(_, request)| request.clone())
    };
    (1..)
        .zip(program.trim_end().lines())
        .map(|(number, text)| Code {
            text: text.into(),
            value: request(number).unwrap_or_default(),
            lit: decided == Some(number),
            skipped: false,
        })
        .collect()
}

/// Returns the line of the program that made a request.
fn program_line(why: &Why) -> Option<u32> {
    match why {
        Why::Program(call) => Some(call.line),
        _ => None,
    }
}

/// Builds the pseudo-code of a loop, or the lines of its program, with the values of a pass if there was one.
pub(super) fn code(
    component: Component,
    program: Option<&str>,
    pass: Option<&Executed<'_>>,
) -> Vec<Code> {
    if let Some(program) = program {
        return program_lines(program, pass);
    }
    let source = descriptor(component).map_or(GENERIC, |of| of.code);
    let Some(pass) = pass else {
        let line = |line: &CodeLine| Code {
            text: line.text.into(),
            ..Code::default()
        };
        return source.iter().map(line).collect();
    };
    let mut executed = why::explain(pass.why).line;
    if !source.iter().any(|line| line.tag == Some(executed)) {
        executed = CodeTag::Write;
    }
    // A kubelet reports its actions on containers in the status.
    let reports = matches!(executed, CodeTag::Start | CodeTag::Stop);
    // Lines after a taken branch belong to it: the next round begins there.
    let (mut skips, mut gone) = (false, false);
    source
        .iter()
        .map(|line| {
            let lit = line
                .tag
                .is_some_and(|tag| tag == executed || tag == CodeTag::Status && reports);
            let also = pass
                .done
                .iter()
                .rev()
                .find(|(tag, _)| !lit && line.tag == Some(*tag))
                .map(|(_, request)| request);
            let request = if lit { Some(&pass.request) } else { also };
            let leaves = line.flow == CodeFlow::Continue;
            let skipped = gone && line.flow != CodeFlow::End
                || if leaves {
                    skips
                } else {
                    !lit && also.is_none() && line.tag.is_some()
                };
            gone |= leaves && !skips;
            skips = skipped;
            Code {
                text: line.text.into(),
                value: line
                    .value
                    .map(|value| pass.value(value, request))
                    .unwrap_or_default(),
                lit,
                skipped,
            }
        })
        .collect()
}
