//! A pass of a loop as Observe, Diff and Act, derived from its writes.

use super::read::{glyph, title_of};
use crate::loops::model::{Code, PanelForm, Pass, PassPhase, PassRequest, resource_version};
use apiserver::Why;
use apiserver::journal::{Entry, Journal, Op, Record};
use cluster::loops::named as descriptor;
use controller_runtime::descriptor::GENERIC;
use explain::why::{self, Row};
use explain::words;
use i18n::format::{count, middle};
use i18n::{Arg, Message, msg};
use k8s_model::network::EndpointSlice;
use k8s_model::{Body, Kind, Object, ObjectRef, Str};
use projection::changes::{ChangedField, fields};

/// Row with the score of the node to which a Pod was bound.
pub(super) fn winner(entry: &Entry) -> Option<Row> {
    let Why::BestNode {
        score,
        feasible: 1..,
        ..
    } = &entry.why
    else {
        return None;
    };
    let node = &entry.write()?.1.pod()?.node_name;
    (!node.is_empty()).then(|| (msg::row_score_of(node), Message::count(score)))
}

/// Builds the pass to which an entry belongs.
pub(super) fn pass(
    journal: Journal<'_>,
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
    let (mut all, saw) = (standing(&of), why::evidence(&main.why));
    let told = !saw.is_empty();
    if told {
        // The conclusion is the decision; the numbers around it are shown only once.
        all.retain(|(name, _)| {
            *name != msg::metric_updated()
                && *name != msg::row_available_short()
                && saw.iter().all(|(known, _)| known != name)
        });
        all.extend(saw);
    }
    let mut seen = all.clone();
    if let Some(row) = winner(main) {
        let at = seen
            .iter()
            .position(|(name, _)| name.is_like(&row.0))
            .unwrap_or(seen.len() - 1);
        seen.insert(at, row);
    }
    let concludes = seen.pop_if(|(name, value)| {
        *name != msg::row_desired() && (told || matches!(value.args(), [Arg::Change(_)]))
    });
    let mut observe = Vec::new();
    if let Some(before) = of.iter().find_map(|e| {
        if let Record::Write { before, .. } = &e.record {
            before.as_ref()
        } else {
            None
        }
    }) {
        observe.push((
            resource_version(),
            Message::only(Arg::Number(before.meta.resource_version as i64)),
        ));
    }
    observe.extend(found_running(main));
    observe.extend(seen);
    let mut diff: Vec<Row> = concludes.into_iter().collect();
    if !told && !matches!(main.why, Why::Observed) {
        diff.insert(0, (msg::row_reason(), words::because(main)));
    }
    if matches!(&main.why, Why::BestNode { score, next, next_score, .. } if score == next_score && !next.is_empty())
    {
        diff.push((msg::row_tie(), msg::row_first_by_name()));
    }
    diff.extend(differs(main));
    if diff.is_empty() {
        diff.push((msg::row_status(), msg::row_out_of_date()));
    }
    // Other lines executed by this pass: one per write.
    let done: Vec<(&'static str, Message)> = of
        .iter()
        .map(|e| (lights(&e.why), act(e).message()))
        .collect();
    let mut writes: Vec<(PassRequest, usize)> = Vec::new();
    for act in of.iter().map(|e| act(e)) {
        match writes.iter_mut().find(|(known, _)| *known == act) {
            Some((_, count)) => *count += 1,
            None => writes.push((act, 1)),
        }
    }
    let times = |words: Message, count: usize| {
        if count > 1 {
            msg::act_times(words, count)
        } else {
            words
        }
    };
    // The decision stands beside the executed line.
    let decided = act(main);
    let repeated = writes
        .iter()
        .find(|(act, _)| *act == decided)
        .map_or(1, |(_, count)| *count);
    let written = times(decided.message(), repeated);
    let rows = writes
        .iter()
        .take(3)
        .map(|(act, count)| (act.verb(), times(act.object(), *count)))
        .collect();
    let name = entry.actor.name;
    let node = if entry.actor.node.is_empty() {
        String::new()
    } else {
        format!(" {}", entry.actor.node)
    };
    let who = [name, &node].concat();
    Pass {
        title: title_of(
            &who,
            passes,
            Message::only(Arg::Clock(entry.time.0 as i64 / 1000)),
        ),
        who,
        own: main
            .key()
            .is_some_and(|own| key(main).ends_with(own.name.as_str())),
        key: key(main),
        glyph: glyph(name),
        newest,
        code: code(name, Some(&main.why), &all, &written, &done),
        act: Some((decided, repeated)),
        held: Message::default(),
        steps: vec![
            (PassPhase::Observe, observe),
            (PassPhase::Diff, diff),
            (PassPhase::Act, rows),
        ],
        form: PanelForm::Columns,
    }
}

/// Returns the comparison made by a workload's loop: the desired numbers of its object, and the status written by the pass. A pass that
/// only changed a ReplicaSet of a Deployment has the desired number from the annotation set on it.
pub(super) fn standing(of: &[&Entry]) -> Vec<Row> {
    let row = |name: Message, value: i32| (name, Message::count(value));
    let wrote = |entry: &&Entry| {
        entry
            .write()
            .filter(|(op, _)| *op == Op::Modified)
            .map(|(_, object)| object.clone())
    };
    for object in of.iter().rev().filter_map(wrote) {
        match (&object.body, of[0].actor.name) {
            // A creation or deletion describes itself.
            (Body::ReplicaSet(set), "replicaset-controller")
                if of.iter().all(|entry| matches!(entry.why, Why::Observed)) =>
            {
                let (want, have) = (set.spec.replicas, set.status.replicas);
                return vec![
                    row(msg::row_desired(), want),
                    row(msg::row_actual(), have),
                    (msg::row_difference(), less(have, want)),
                ];
            }
            (Body::Deployment(d), "deployment-controller") if d.status.observed_generation > 0 => {
                let (want, status) = (d.spec.replicas, &d.status);
                return vec![
                    row(msg::row_desired(), want),
                    row(msg::row_actual(), status.replicas),
                    row(msg::metric_updated(), status.updated_replicas),
                    row(msg::row_available_short(), status.available_replicas),
                ];
            }
            (Body::StatefulSet(set), "statefulset-controller") => {
                let (want, start, status) =
                    (set.spec.replicas, set.spec.ordinals.start, &set.status);
                let ordinals = if want > 0 {
                    msg::ordinals_range(start, start + want - 1)
                } else {
                    msg::none()
                };
                return vec![
                    row(msg::row_desired(), want),
                    (msg::row_ordinals(), ordinals),
                    row(msg::row_actual(), status.replicas),
                    row(msg::metric_updated(), status.updated_replicas),
                    row(msg::metric_ready(), status.ready_replicas),
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
        .filter(|entry| entry.actor.name == "deployment-controller");
    sets.filter_map(|entry| noted(entry))
        .next()
        .map(|want| row(msg::row_desired(), want))
        .into_iter()
        .collect()
}

/// Formats a difference with its terms: `2 − 3 = −1`.
pub(super) fn less(have: i32, want: i32) -> Message {
    let n = |n: i32| i18n::count(i64::from(n));
    sum(format!(
        "{} − {} = {}",
        n(have),
        n(want),
        n(have - want).replace('-', "−")
    ))
}

pub(super) fn sum(text: String) -> Message {
    Message::only(Arg::Change(text.into()))
}

/// Returns the Pod's state that a kubelet found before its write.
pub(super) fn found_running(entry: &Entry) -> Vec<Row> {
    let Record::Write { object, before, .. } = &entry.record else {
        return Vec::new();
    };
    let found = before.as_ref().unwrap_or(object);
    let Some(pod) = found.pod().filter(|_| entry.actor.name == "kubelet") else {
        return Vec::new();
    };
    let running = pod
        .status
        .container_statuses
        .iter()
        .filter(|status| status.state.running.is_some())
        .count();
    vec![
        (
            Message::name("deletionTimestamp"),
            if found.meta.is_deleting() {
                msg::field_set()
            } else {
                msg::field_not_set()
            },
        ),
        (
            msg::row_containers_running(),
            msg::n_of_m(running, pod.spec.containers.len()),
        ),
    ]
}

/// Returns the changes of an EndpointSlice: addresses added and removed, and the number of ready ones.
pub(super) fn addresses(object: &Object, before: Option<&Object>) -> Vec<Row> {
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
    let mut rows = Vec::new();
    for (sign, own, other) in [("+", &is, &was), ("−", &was, &is)] {
        let known: std::collections::BTreeSet<&Str> =
            k8s_model::sort::tree(other.iter().map(|(address, _)| address));
        let moved: Vec<&Str> = own
            .iter()
            .map(|(address, _)| address)
            .filter(|address| !known.contains(address))
            .collect();
        match moved[..] {
            [] => {}
            [one] => rows.push((msg::row_addresses(), sum(format!("{sign} {one}")))),
            _ => rows.push((
                msg::row_addresses(),
                sum(format!("{sign} {}", count(moved.len()))),
            )),
        }
    }
    let ready = |all: &[(Str, bool)]| count(all.iter().filter(|(_, ready)| *ready).count());
    let (from, to) = (ready(&was), ready(&is));
    if from != to {
        rows.push((msg::row_ready_endpoints(), sum(format!("{from} → {to}"))));
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
        rows.push((msg::row_slices(), sum("0 → 1".into())));
    }
    if rows.is_empty()
        && let Some(field) = other()
    {
        let name = field
            .path
            .rsplit('.')
            .next()
            .unwrap_or_default()
            .to_string();
        let value = |value: Option<String>| value.unwrap_or_else(|| "∅".into());
        rows.push((
            Message::state(name),
            sum(format!(
                "{} → {}",
                middle(&value(field.from), 12),
                middle(&value(field.to), 12)
            )),
        ));
    }
    rows
}

/// Returns the status numbers changed by a write, before and after; then conditions and phases.
pub(super) fn differs(entry: &Entry) -> Vec<Row> {
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
    let (mut numbers, mut rows) = (Vec::new(), Vec::new());
    for field in fields(before, object).iter().filter(|field| telling(field)) {
        let counts = |value: &Option<String>| {
            value
                .as_ref()
                .is_none_or(|text| text.parse::<u32>().is_ok())
        };
        let none = if counts(&field.from) && counts(&field.to) {
            "0"
        } else {
            "∅"
        };
        let [from, to] = [&field.from, &field.to].map(|value| value.as_deref().unwrap_or(none));
        // A whole added or removed value is described by its fields.
        if from.starts_with(['{', '[']) || to.starts_with(['{', '[']) || from.len() + to.len() > 24
        {
            continue;
        }
        let name = field
            .path
            .trim_start_matches("status.")
            .trim_start_matches("conditions[")
            .replace("].status", "");
        match (from.parse::<i64>(), to.parse::<i64>()) {
            (Ok(from), Ok(to)) => numbers.push((
                Message::state(name),
                sum(format!("{} → {}", i18n::count(from), i18n::count(to))),
            )),
            _ if field.from.is_some() => {
                rows.push((Message::state(name), sum(format!("{from} → {to}"))))
            }
            _ => rows.push((Message::state(name), Message::state(to))),
        }
    }
    numbers.append(&mut rows);
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
    let of_loop = |kind: &str| {
        entry
            .actor
            .name
            .strip_suffix("-controller")
            .is_some_and(|name| name.eq_ignore_ascii_case(kind))
    };
    let owner = entry.write().and_then(|(_, object)| {
        object
            .meta
            .controller()
            .filter(|owner| of_loop(&owner.kind))
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
        Record::Command(_) | Record::Fault(_) | Record::Forgotten => PassRequest::Command,
        Record::Refused(refused) => PassRequest::Rejected(refused.key.kind),
        Record::Write { op, object, before } => {
            let kind = object.kind;
            match (op, before) {
                (Op::Added, _) => PassRequest::Create(kind),
                (Op::Deleted, _) if entry.actor.name == "kubelet" => PassRequest::Delete(kind),
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

/// Pseudo-code line to highlight for a reason.
pub(super) fn lights(why: &Why) -> &'static str {
    match why {
        Why::Observed => "status",
        Why::TooFew { .. } | Why::Retry(_) | Why::MissingOrdinal { .. } => "create",
        Why::MissingClaim { .. } => "claim",
        Why::TooMany { .. }
        | Why::CondemnedOrdinal { .. }
        | Why::EndedPod { .. }
        | Why::OwnerGone { .. }
        | Why::OwnerWaits { .. } => "delete",
        Why::OldRevision { .. } => "update",
        Why::NewTemplate { .. } | Why::Revision { .. } => "new",
        Why::RolloutUp { .. } | Why::Scaled { .. } => "up",
        Why::RolloutDown { .. } | Why::CleanUnhealthy { .. } | Why::Recreate { .. } => "down",
        Why::BestNode { .. } => "bind",
        Why::NoNode { .. } => "nonode",
        Why::Bound
        | Why::Sandbox
        | Why::InitDone
        | Why::Sidecar
        | Why::Started
        | Why::SourceMissing
        | Why::NewImage { .. }
        | Why::Restarted { .. } => "start",
        Why::Stopped => "stop",
        Why::Removed => "delete",
        Why::BecameReady { .. }
        | Why::StartedUp
        | Why::BecameUnready
        | Why::ProbeFailed { .. }
        | Why::EvictedByNode
        | Why::Exited { .. }
        | Why::BackOff { .. }
        | Why::ImagePull
        | Why::OutOfMemory
        | Why::Resized
        | Why::ResizePending { .. } => "status",
        Why::Endpoints { .. } => "write",
        Why::SmallestFit { .. } => "fit",
        Why::Binding => "binding",
        Why::Expanding | Why::NeedsProvisioning { .. } | Why::Provisioned { .. } => "provision",
        Why::ClaimGone { .. } | Why::VolumeGone => "gone",
        Why::DependentsGone | Why::Orphaned { .. } => "release",
        _ => "write",
    }
}

/// Builds the pseudo-code of a loop with the values of a pass: its decision, and its other writes.
pub(super) fn code(
    name: &str,
    why: Option<&Why>,
    saw: &[Row],
    act: &Message,
    done: &[(&str, Message)],
) -> Vec<Code> {
    let source = descriptor(name).map_or(GENERIC, |of| of.code);
    let mut lit = why.map_or("", lights);
    if !source.iter().any(|(_, lights, _)| *lights == lit) {
        lit = "write";
    }
    let row = |name: Message| {
        saw.iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value.clone())
    };
    let number = |name: Message| row(name)?.as_count().map(|n| n as i32);
    // Lines after a taken branch belong to it: the next round begins there.
    let (mut skips, mut gone) = (false, false);
    source
        .iter()
        .map(|(text, lights, value)| {
            // A kubelet reports its actions on containers in the status.
            let written = *lights == "status" && matches!(lit, "start" | "stop");
            let is_lit = why.is_some() && !lights.is_empty() && (*lights == lit || written);
            let also = done
                .iter()
                .rev()
                .find(|(of, _)| !is_lit && !lights.is_empty() && of == lights)
                .map(|(_, words)| words);
            let value = match *value {
                "" => Message::default(),
                "act" if is_lit => act.clone(),
                "act" => also.cloned().unwrap_or_default(),
                "first" => saw
                    .first()
                    .map(|(_, value)| value.clone())
                    .unwrap_or_default(),
                "last" => saw
                    .last()
                    .map(|(_, value)| value.clone())
                    .unwrap_or_default(),
                "difference" => match (number(msg::row_actual()), number(msg::row_desired())) {
                    (Some(actual), Some(desired)) => less(actual, desired),
                    _ => row(msg::row_difference()).unwrap_or_default(),
                },
                "room" => match why {
                    Some(Why::RolloutUp {
                        pods,
                        at_most,
                        from,
                        to,
                    }) => {
                        let (room, more) = (at_most - pods, to - from);
                        if room == more {
                            less(*at_most, *pods)
                        } else {
                            let n = |n: i32| i18n::count(i64::from(n));
                            sum(format!("min({}; {}) = {}", n(room), n(more), n(more)))
                        }
                    }
                    _ => Message::default(),
                },
                // The last row is the result.
                "spare" if matches!(why, Some(Why::RolloutDown { .. })) => saw
                    .last()
                    .map(|(_, value)| value.clone())
                    .unwrap_or_default(),
                "desired" => number(msg::row_desired())
                    .map(msg::code_replicas)
                    .unwrap_or_default(),
                "actual" => number(msg::row_actual())
                    .map(msg::code_pods)
                    .unwrap_or_default(),
                "updated" => number(msg::metric_updated())
                    .map(msg::code_updated)
                    .unwrap_or_default(),
                "ready" => number(msg::metric_ready())
                    .map(msg::code_ready)
                    .unwrap_or_default(),
                "ordinals" => row(msg::row_ordinals()).unwrap_or_default(),
                "nodes that fit" => row(msg::row_nodes_fit()).unwrap_or_default(),
                _ => Message::default(),
            };
            let leaves = text.trim() == "continue";
            let skipped = why.is_some()
                && (gone && text.trim() != "}"
                    || if leaves {
                        skips
                    } else {
                        !is_lit && also.is_none() && !lights.is_empty()
                    });
            gone |= leaves && !skips && why.is_some();
            skips = skipped;
            Code {
                text,
                value,
                lit: is_lit,
                skipped,
            }
        })
        .collect()
}
