//! The loops as they stand at an instant: queues, and the last pass of each as Observe, Diff and Act.

use crate::api::network::EndpointSlice;
use crate::api::{Body, Kind, Object, ObjectRef, Str};
use crate::engine::descriptor::GENERIC;
use crate::engine::journal::{Entry, EntryId, Journal, Op, Record};
use crate::engine::loops::named as descriptor;
use crate::engine::{Sim, Why};
use crate::explain::why::{self, Row};
use crate::explain::words;
use crate::i18n::format::{count, middle};
use crate::i18n::{Arg, Message, msg};
use crate::projection::changes::{Field, fields};
use crate::views::loops::layout::{Act, Code, Form, Loop, Loops, Pass, Phase, Step};

/// More kubelets than this share one place.
const KUBELETS: usize = 3;

/// The component of an entry as the ring names it.
fn component(entry: &Entry, one_kubelet: bool) -> String {
    if entry.actor.node.is_empty() || one_kubelet {
        entry.actor.name.to_string()
    } else {
        format!("{} {}", entry.actor.name, entry.actor.node)
    }
}

fn title(name: &str) -> String {
    // What a node is called stays as it is.
    if name.starts_with("kubelet ") {
        return name.into();
    }
    descriptor(name).map_or(name, |of| of.title).into()
}

/// Reads the loops at the instant shown.
pub fn read(sim: &Sim, chosen: Option<&str>) -> Loops {
    let journal = sim.journal();
    let nodes: Vec<String> = sim.list(Kind::Node).map(|node| node.meta.name.to_string()).collect();
    let one_kubelet = nodes.len() > KUBELETS;
    let mut names: Vec<String> = Vec::new();
    let queues: Vec<(&'static str, usize)> = sim.queues().map(|(name, queue)| (name, queue.len())).collect();
    // A loop without a queue of its own counts none.
    let passes = |name: &str| sim.queues().find(|(of, _)| *of == name).map(|(_, queue)| queue.passes() as usize);
    let wrote = |name: &str| journal.iter().rev().take(20_000).any(|entry| entry.actor.name == name && !entry.is_event());
    for (name, _) in &queues {
        if descriptor(name).is_some_and(|of| of.always_shown) || wrote(name) {
            names.push((*name).to_string());
        }
    }
    names.push("default-scheduler".into());
    if one_kubelet {
        names.push("kubelet".into());
    } else {
        names.extend(nodes.iter().map(|node| format!("kubelet {node}")));
    }
    let acts = |entry: &&Entry| !entry.is_event() && entry.actor.name != "user" && entry.actor.name != "apiserver";
    let last = journal.iter().rev().take(4000).find(acts);
    let newest = last.map(|entry| component(entry, one_kubelet));
    let slowed: Vec<_> = names.iter().map(|name| sim.slowed(name)).collect();
    let mut loops: Vec<Loop> = names
        .iter()
        .zip(&slowed)
        .map(|(name, slowed)| {
            // The scheduler's queue is none of those; unless it is slow nothing stays in it.
            let waiting = slowed.as_ref().map_or(0, |slowed| slowed.waiting);
            Loop {
                name: name.clone(),
                title: title(name),
                glyph: glyph(name),
                queue: queues.iter().find(|(of, _)| of == name).map_or(waiting, |(_, waiting)| *waiting),
                writes: newest.as_ref() == Some(name),
                told: false,
                // In steps that are seen: more would be drawn than is read.
                part: slowed.as_ref().and_then(|slowed| {
                    let (_, ends) = slowed.pass.as_ref()?;
                    let left = ends.0.saturating_sub(sim.now().0 / 1000 * 1000).min(slowed.span);
                    Some(((slowed.span - left) * 24 / slowed.span.max(1) * 100 / 24) as u8)
                }),
                slow: slowed.as_ref().map_or_else(Message::default, |slowed| msg::loop_slow(slowed.span / 1000)),
            }
        })
        .collect();
    let place = |name: &str| loops.iter().position(|one| one.name == name);
    let chosen = chosen.and_then(place);
    let shown = chosen.or_else(|| place(newest.as_deref()?));
    if let Some(at) = shown {
        loops[at].told = chosen.is_none();
    }
    let pass = shown.map(|at| {
        let name = loops[at].name.as_str();
        // What a slowed pass that is under way will find and do shows at its end; the numbers of the one before are not its.
        if let Some((key, ends)) = slowed[at].as_ref().and_then(|slowed| slowed.pass.clone()) {
            return Pass {
                who: name.to_string(),
                title: title_of(name, passes(name), msg::pass_running()),
                key: full_name(&key),
                held: msg::pass_ends(&key.name, ends.0 / 1000),
                glyph: glyph(name),
                code: code(name, None, &[], &Message::default(), &[]),
                steps: ahead(),
                ..Pass::default()
            };
        }
        let entry = journal.iter().enumerate().rev().find(|(_, entry)| !entry.is_event() && component(entry, one_kubelet) == name);
        match entry {
            Some((at, entry)) => Pass { held: held(sim, at), ..pass(journal, at, entry, newest.as_deref() == Some(name), passes(name)) },
            None => Pass {
                who: name.to_string(),
                title: msg::pass_none(name),
                glyph: glyph(name),
                code: code(name, None, &[], &Message::default(), &[]),
                ..Pass::default()
            },
        }
    });
    Loops { loops, version: sim.server().version(), chosen, shown, pass }
}

/// What there is to say of a pass that takes time, before it ends.
fn ahead() -> Vec<Step> {
    vec![
        (Phase::Observe, vec![(msg::ahead_reads(), msg::ahead_at_end())]),
        (Phase::Diff, vec![(msg::ahead_compares(), msg::ahead_after())]),
        (Phase::Act, vec![(msg::ahead_writes(), msg::ahead_if())]),
    ]
}

/// The score of the node that a Pod was bound to.
fn winner(entry: &Entry) -> Option<Row> {
    let Why::BestNode { score, feasible: 1.., .. } = &entry.why else { return None };
    let node = &entry.write()?.1.pod()?.node_name;
    (!node.is_empty()).then(|| (msg::row_score_of(node), Message::count(score)))
}

/// What faults of a person have to do with the pass shown: the watch event of its write is held up or lost.
fn held(sim: &Sim, at: usize) -> Message {
    let Some(late) = sim.late_event(at as EntryId) else { return Message::default() };
    match late.until.filter(|_| !late.lost) {
        Some(at) => msg::pass_event_late(late.component, at.0 / 1000),
        None => msg::pass_event_lost(late.component),
    }
}

pub fn glyph(name: &str) -> &'static str {
    descriptor(name).map_or("i-act", |of| of.icon)
}

/// What a pass is called: its loop, how many there were, and when it was.
fn title_of(name: &str, passes: Option<usize>, at: Message) -> Message {
    match passes {
        Some(n) => msg::pass_title(name, n, at),
        None => msg::pass_title_short(name, at),
    }
}

/// The pass that an entry belongs to.
fn pass(journal: Journal<'_>, at: usize, entry: &Entry, newest: bool, passes: Option<usize>) -> Pass {
    let mut of: Vec<&Entry> = journal
        .first(at + 1)
        .iter()
        .rev()
        .take(3000)
        .take_while(|e| e.pass == entry.pass || e.is_event())
        .filter(|e| e.pass == entry.pass && !e.is_event())
        .collect();
    of.reverse();
    // A deletion without grace notes that first: one request.
    if matches!(entry.record, Record::Write { op: Op::Deleted, .. }) {
        of.retain(|e| !matches!((&e.why, &e.record), (Why::Removed, Record::Write { op: Op::Modified, .. })));
    }
    // What was decided, rather than the numbers that were written down.
    let main = of.iter().copied().find(|e| !matches!(e.why, Why::Observed)).unwrap_or(entry);
    let (mut all, saw) = (standing(&of), why::evidence(&main.why));
    let told = !saw.is_empty();
    if told {
        // The conclusion is what decided; the numbers around it are said once.
        all.retain(|(name, _)| {
            *name != msg::metric_updated() && *name != msg::row_available_short() && saw.iter().all(|(known, _)| known != name)
        });
        all.extend(saw);
    }
    let mut seen = all.clone();
    if let Some(row) = winner(main) {
        let at = seen.iter().position(|(name, _)| name.id() == row.0.id()).unwrap_or(seen.len() - 1);
        seen.insert(at, row);
    }
    let concludes = seen.pop_if(|(name, value)| *name != msg::row_desired() && (told || matches!(value.args(), [Arg::Change(_)])));
    let mut observe = Vec::new();
    if let Some(before) = of.iter().find_map(|e| if let Record::Write { before, .. } = &e.record { before.as_ref() } else { None }) {
        observe.push((resource_version(), Message::only(Arg::Number(before.meta.resource_version as i64))));
    }
    observe.extend(found_running(main));
    observe.extend(seen);
    let mut diff: Vec<Row> = concludes.into_iter().collect();
    if !told && !matches!(main.why, Why::Observed) {
        diff.insert(0, (msg::row_found(), words::because(main)));
    }
    if matches!(&main.why, Why::BestNode { score, next, next_score, .. } if score == next_score && !next.is_empty()) {
        diff.push((msg::row_tie(), msg::row_first_by_name()));
    }
    diff.extend(differs(main));
    if diff.is_empty() {
        diff.push((msg::row_status(), msg::row_out_of_date()));
    }
    // What else this pass has executed: the line of each write.
    let done: Vec<(&'static str, Message)> = of.iter().map(|e| (lights(&e.why), act(e).message())).collect();
    let mut writes: Vec<(Act, usize)> = Vec::new();
    for act in of.iter().map(|e| act(e)) {
        match writes.iter_mut().find(|(known, _)| *known == act) {
            Some((_, count)) => *count += 1,
            None => writes.push((act, 1)),
        }
    }
    let times = |words: Message, count: usize| if count > 1 { msg::act_times(words, count) } else { words };
    // Beside the line that is executed stands what was decided there.
    let decided = act(main);
    let repeated = writes.iter().find(|(act, _)| *act == decided).map_or(1, |(_, count)| *count);
    let written = times(decided.message(), repeated);
    let rows = writes.iter().take(3).map(|(act, count)| (act.verb(), times(act.object(), *count))).collect();
    let name = entry.actor.name;
    let node = if entry.actor.node.is_empty() { String::new() } else { format!(" {}", entry.actor.node) };
    let who = [name, &node].concat();
    Pass {
        title: title_of(&who, passes, Message::only(Arg::Clock(entry.time.0 as i64 / 1000))),
        who,
        own: main.key().is_some_and(|own| key(main).ends_with(own.name.as_str())),
        key: key(main),
        glyph: glyph(name),
        newest,
        code: code(name, Some(&main.why), &all, &written, &done),
        act: Some((decided, repeated)),
        held: Message::default(),
        steps: vec![(Phase::Observe, observe), (Phase::Diff, diff), (Phase::Act, rows)],
        form: Form::Columns,
    }
}

/// What a pass of a workload's loop compared: what its object asks for, and what the status says that the pass wrote down.
/// A pass that changed a set of a Deployment alone has the wanted number from the note that it leaves there.
fn standing(of: &[&Entry]) -> Vec<Row> {
    let row = |name: Message, value: i32| (name, Message::count(value));
    let wrote = |entry: &&Entry| entry.write().filter(|(op, _)| *op == Op::Modified).map(|(_, object)| object.clone());
    for object in of.iter().rev().filter_map(wrote) {
        match (&object.body, of[0].actor.name) {
            // What it created or deleted says so itself.
            (Body::ReplicaSet(set), "replicaset-controller") if of.iter().all(|entry| matches!(entry.why, Why::Observed)) => {
                let (want, have) = (set.spec.replicas, set.status.replicas);
                return vec![row(msg::row_desired(), want), row(msg::row_actual(), have), (msg::row_difference(), less(have, want))];
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
                let (want, start, status) = (set.spec.replicas, set.spec.ordinals.start, &set.status);
                let ordinals = if want > 0 { msg::ordinals_range(start, start + want - 1) } else { msg::none() };
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
    let noted = |entry: &Entry| entry.write()?.1.meta.annotations.get("deployment.kubernetes.io/desired-replicas")?.parse().ok();
    let sets = of.iter().filter(|entry| entry.actor.name == "deployment-controller");
    sets.filter_map(|entry| noted(entry)).next().map(|want| row(msg::row_desired(), want)).into_iter().collect()
}

/// A difference with its terms: `2 − 3 = −1`.
fn less(have: i32, want: i32) -> Message {
    let n = |n: i32| crate::i18n::count(i64::from(n));
    sum(format!("{} − {} = {}", n(have), n(want), n(have - want).replace('-', "−")))
}

fn sum(text: String) -> Message {
    Message::only(Arg::Change(text.into()))
}

/// Decides nothing: it is left out where there is little room.
pub fn resource_version() -> Message {
    Message::name("resourceVersion")
}

/// What a kubelet found of the Pod before it wrote.
fn found_running(entry: &Entry) -> Vec<Row> {
    let Record::Write { object, before, .. } = &entry.record else { return Vec::new() };
    let found = before.as_ref().unwrap_or(object);
    let Some(pod) = found.pod().filter(|_| entry.actor.name == "kubelet") else { return Vec::new() };
    let running = pod.status.container_statuses.iter().filter(|status| status.state.running.is_some()).count();
    vec![
        (Message::name("deletionTimestamp"), if found.meta.is_deleting() { msg::field_set() } else { msg::field_not_set() }),
        (msg::row_containers_running(), msg::n_of_m(running, pod.spec.containers.len())),
    ]
}

/// What a write changed in an EndpointSlice: which addresses came and went, and how many are ready.
fn addresses(object: &Object, before: Option<&Object>) -> Vec<Row> {
    let of = |slice: Option<&Object>| -> Vec<(Str, bool)> {
        let endpoints = slice.and_then(|slice| slice.get::<EndpointSlice>()).into_iter().flat_map(|slice| &slice.endpoints);
        endpoints.filter_map(|one| Some((one.addresses.first()?.clone(), one.conditions.ready.unwrap_or(true)))).collect()
    };
    let (was, is) = (of(before), of(Some(object)));
    let mut rows = Vec::new();
    for (sign, own, other) in [("+", &is, &was), ("−", &was, &is)] {
        let known: std::collections::BTreeSet<&Str> = other.iter().map(|(address, _)| address).collect();
        let moved: Vec<&Str> = own.iter().map(|(address, _)| address).filter(|address| !known.contains(address)).collect();
        match moved[..] {
            [] => {}
            [one] => rows.push((msg::row_addresses(), sum(format!("{sign} {one}")))),
            _ => rows.push((msg::row_addresses(), sum(format!("{sign} {}", count(moved.len()))))),
        }
    }
    let ready = |all: &[(Str, bool)]| count(all.iter().filter(|(_, ready)| *ready).count());
    let (from, to) = (ready(&was), ready(&is));
    if from != to {
        rows.push((msg::row_ready_in_slice(), sum(format!("{from} → {to}"))));
    }
    // What else there is: conditions of one that leaves, ports, the time of the change.
    let other = || before.map(|before| fields(before, object)).unwrap_or_default().into_iter().next();
    if before.is_none() {
        rows.push((msg::row_slices(), sum("0 → 1".into())));
    }
    if rows.is_empty()
        && let Some(field) = other()
    {
        let name = field.path.rsplit('.').next().unwrap_or_default().to_string();
        let value = |value: Option<String>| value.unwrap_or_else(|| "∅".into());
        rows.push((Message::state(name), sum(format!("{} → {}", middle(&value(field.from), 12), middle(&value(field.to), 12)))));
    }
    rows
}

/// Numbers of the status that a write changed, before and after; then conditions and phases.
fn differs(entry: &Entry) -> Vec<Row> {
    let Record::Write { op, object, before } = &entry.record else { return Vec::new() };
    if object.kind == Kind::EndpointSlice {
        return addresses(object, before.as_deref().filter(|_| *op == Op::Modified));
    }
    let (Op::Modified, Some(before)) = (op, before) else { return Vec::new() };
    let told = matches!(object.kind, Kind::Lease | Kind::Endpoints | Kind::ConfigMap | Kind::Secret);
    if told || object.meta.generation != before.meta.generation {
        return Vec::new();
    }
    let telling = |field: &Field| {
        let last = field.path.rsplit('.').next().unwrap_or("");
        field.path.starts_with("status.") && !field.is_technical() && !matches!(last, "message" | "reason" | "image" | "started")
    };
    // Numbers first; of the rest as many as there is room for.
    let (mut numbers, mut rows) = (Vec::new(), Vec::new());
    for field in fields(before, object).iter().filter(|field| telling(field)) {
        let counts = |value: &Option<String>| value.as_ref().is_none_or(|text| text.parse::<u32>().is_ok());
        let none = if counts(&field.from) && counts(&field.to) { "0" } else { "∅" };
        let [from, to] = [&field.from, &field.to].map(|value| value.as_deref().unwrap_or(none));
        // What came whole is told by what is in it.
        if from.starts_with(['{', '[']) || to.starts_with(['{', '[']) || from.len() + to.len() > 24 {
            continue;
        }
        let name = field.path.trim_start_matches("status.").trim_start_matches("conditions[").replace("].status", "");
        match (from.parse::<i64>(), to.parse::<i64>()) {
            (Ok(from), Ok(to)) => {
                numbers.push((Message::state(name), sum(format!("{} → {}", crate::i18n::count(from), crate::i18n::count(to)))))
            }
            _ if field.from.is_some() => rows.push((Message::state(name), sum(format!("{from} → {to}")))),
            _ => rows.push((Message::state(name), Message::state(to))),
        }
    }
    numbers.append(&mut rows);
    numbers.truncate(4);
    numbers
}

/// The key a pass worked on: the object itself, or the one that keeps it; of an EndpointSlice its Service.
fn key(entry: &Entry) -> String {
    let Some(key) = entry.key() else { return String::new() };
    if let Some((_, object)) = entry.write().filter(|_| key.kind == Kind::EndpointSlice)
        && let Some(service) = object.meta.labels.get("kubernetes.io/service-name")
    {
        return [&key.namespace, "/", service].concat();
    }
    let of_loop = |kind: &str| entry.actor.name.strip_suffix("-controller").is_some_and(|name| name.eq_ignore_ascii_case(kind));
    let owner =
        entry.write().and_then(|(_, object)| object.meta.controller().filter(|owner| of_loop(&owner.kind)).map(|owner| owner.name.clone()));
    full_name(&ObjectRef { name: owner.unwrap_or(key.name), ..key })
}

/// A key as work queues have it.
fn full_name(key: &ObjectRef) -> String {
    if key.namespace.is_empty() { key.name.to_string() } else { format!("{}/{}", key.namespace, key.name) }
}

/// What an entry did, as the request that it was.
fn act(entry: &Entry) -> Act {
    match &entry.record {
        Record::Command(_) => Act::Command,
        Record::Refused(refused) => Act::Rejected(refused.key.kind),
        Record::Write { op, object, before } => {
            let kind = object.kind;
            match (op, before) {
                (Op::Added, _) => Act::Create(kind),
                (Op::Deleted, _) if entry.actor.name == "kubelet" => Act::Delete(kind),
                (Op::Deleted, _) => Act::Remove(kind),
                (Op::Modified, Some(before)) if !before.meta.is_deleting() && object.meta.is_deleting() => Act::Delete(kind),
                (Op::Modified, Some(before)) if before.meta.generation != object.meta.generation => Act::Update(kind),
                (Op::Modified, Some(before)) => match (before.pod(), object.pod()) {
                    (Some(was), Some(is)) if was.node_name.is_empty() && !is.node_name.is_empty() => Act::Bind(kind, is.node_name.clone()),
                    _ => Act::Status(kind),
                },
                (Op::Modified, None) => Act::Status(kind),
            }
        }
    }
}

/// What a reason lights in the pseudo-code.
fn lights(why: &Why) -> &'static str {
    match why {
        Why::Observed => "status",
        Why::TooFew { .. } | Why::Retry(_) | Why::MissingOrdinal { .. } => "create",
        Why::MissingClaim { .. } => "claim",
        Why::TooMany { .. } | Why::CondemnedOrdinal { .. } | Why::EndedPod { .. } | Why::OwnerGone { .. } | Why::OwnerWaits { .. } => {
            "delete"
        }
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
        | Why::ImagePull => "status",
        Why::Endpoints { .. } => "write",
        Why::SmallestFit { .. } => "fit",
        Why::Binding => "binding",
        Why::Expanding | Why::NeedsProvisioning { .. } | Why::Provisioned { .. } => "provision",
        Why::ClaimGone { .. } | Why::VolumeGone => "gone",
        Why::DependentsGone | Why::Orphaned { .. } => "release",
        _ => "write",
    }
}

/// The pseudo-code of a loop with the values of a pass: what decided it, and what it has written besides.
fn code(name: &str, why: Option<&Why>, saw: &[Row], act: &Message, done: &[(&str, Message)]) -> Vec<Code> {
    let source = descriptor(name).map_or(GENERIC, |of| of.code);
    let mut lit = why.map_or("", lights);
    if !source.iter().any(|(_, lights, _)| *lights == lit) {
        lit = "write";
    }
    let row = |name: Message| saw.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
    let number = |name: Message| row(name)?.as_count().map(|n| n as i32);
    // What follows in a branch is of it: the next round begins where one was taken.
    let (mut skips, mut gone) = (false, false);
    source
        .iter()
        .map(|(text, lights, value)| {
            // What a kubelet has done to containers it writes down there.
            let written = *lights == "status" && matches!(lit, "start" | "stop");
            let is_lit = why.is_some() && !lights.is_empty() && (*lights == lit || written);
            let also = done.iter().rev().find(|(of, _)| !is_lit && !lights.is_empty() && of == lights).map(|(_, words)| words);
            let value = match *value {
                "" => Message::default(),
                "act" if is_lit => act.clone(),
                "act" => also.cloned().unwrap_or_default(),
                "first" => saw.first().map(|(_, value)| value.clone()).unwrap_or_default(),
                "last" => saw.last().map(|(_, value)| value.clone()).unwrap_or_default(),
                "difference" => match (number(msg::row_actual()), number(msg::row_desired())) {
                    (Some(actual), Some(desired)) => less(actual, desired),
                    _ => row(msg::row_difference()).unwrap_or_default(),
                },
                "room" => match why {
                    Some(Why::RolloutUp { pods, at_most, from, to }) => {
                        let (room, more) = (at_most - pods, to - from);
                        if room == more {
                            less(*at_most, *pods)
                        } else {
                            let n = |n: i32| crate::i18n::count(i64::from(n));
                            sum(format!("min({}; {}) = {}", n(room), n(more), n(more)))
                        }
                    }
                    _ => Message::default(),
                },
                // The last row is what it comes to.
                "spare" if matches!(why, Some(Why::RolloutDown { .. })) => saw.last().map(|(_, value)| value.clone()).unwrap_or_default(),
                "desired" => number(msg::row_desired()).map(msg::code_replicas).unwrap_or_default(),
                "actual" => number(msg::row_actual()).map(msg::code_pods).unwrap_or_default(),
                "updated" => number(msg::metric_updated()).map(msg::code_updated).unwrap_or_default(),
                "ready" => number(msg::metric_ready()).map(msg::code_ready).unwrap_or_default(),
                "ordinals" => row(msg::row_ordinals()).unwrap_or_default(),
                "nodes that fit" => row(msg::row_nodes_fit()).unwrap_or_default(),
                _ => Message::default(),
            };
            let leaves = text.trim() == "continue";
            let skipped = why.is_some()
                && (gone && text.trim() != "}" || if leaves { skips } else { !is_lit && also.is_none() && !lights.is_empty() });
            gone |= leaves && !skips && why.is_some();
            skips = skipped;
            Code { text, value, lit: is_lit, skipped }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Msg;
    use crate::session::State;
    use crate::session::examples;
    use std::collections::BTreeSet;

    #[test]
    fn a_pass_tells_its_key_how_many_there_were_and_what_it_changed() {
        let network = examples::ALL.iter().find(|example| example.view == "network").expect("an example with Services");
        let mut state = State::new((network.text)(), 1);
        state.update(Msg::Seconds(20));
        let shown = |name: &str| read(state.timeline.run.sim(), Some(name)).pass.expect("a pass");
        let slices = shown("endpointslice-controller");
        let services: Vec<String> =
            state.timeline.run.sim().list(Kind::Service).map(|service| format!("default/{}", service.meta.name)).collect();
        assert!(services.contains(&slices.key), "{} {services:?}", slices.key);
        let passes: usize = slices.title.split(' ').nth(2).and_then(|n| n.parse().ok()).expect("a number");
        assert!((1..40).contains(&passes), "{}", slices.title);
        let set = shown("statefulset-controller");
        assert!(set.steps[1].1.iter().any(|(_, value)| value.contains(" → ")), "{:?}", set.steps);
    }

    #[test]
    fn a_slowed_pass_tells_how_far_it_is() {
        let mut state = State::new((examples::ALL[0].text)(), 1);
        state.update(Msg::Seconds(20));
        let part = |state: &State| {
            read(state.timeline.run.sim(), None).loops.iter().find(|one| one.name == "replicaset-controller").and_then(|one| one.part)
        };
        assert_eq!(part(&state), None);
        state.update(Msg::Kubectl("fault slow replicaset-controller 10s".into()));
        state.update(Msg::Kubectl("kubectl scale deployment nginx-deployment --replicas=3".into()));
        let told: Vec<Option<u8>> = (0..12)
            .map(|_| {
                state.update(Msg::Seconds(1));
                part(&state)
            })
            .collect();
        // Each second a tenth, in whole steps of a twenty-fourth; then the next pass.
        let whole: Vec<u8> = told.iter().flatten().copied().take(9).collect();
        assert!(whole.is_sorted() && whole[0] <= 12 && (80..96).contains(&whole[8]), "{told:?}");
        assert!(told[9..].iter().flatten().any(|part| *part < 20), "{told:?}");
    }

    #[test]
    fn a_slice_that_is_written_always_differs_and_says_in_what() {
        let network = examples::ALL.iter().find(|example| example.view == "network").expect("an example with Services");
        let mut state = State::new((network.text)(), 1);
        let mut told = BTreeSet::new();
        for step in 0..300 {
            if step == 150 {
                let pod = state.timeline.run.sim().list(Kind::Pod).next().expect("a Pod").meta.name.to_string();
                state.update(Msg::Kubectl(format!("kubectl delete pod {pod} --wait=false")));
            }
            state.update(Msg::Step);
            let pass = read(state.timeline.run.sim(), Some("endpointslice-controller")).pass.filter(|pass| !pass.steps.is_empty());
            let Some(pass) = pass else { continue };
            let differs = |(_, value): &Row| value.contains(" → ") || value.starts_with(['+', '−']);
            assert!(pass.steps[1].1.iter().any(differs), "{:?}", pass.steps);
            told.extend(pass.steps[1].1.iter().map(|(name, _)| name.to_string()));
        }
        assert!(told.contains("addresses") && told.contains("ready in the slice"), "{told:?}");
    }

    #[test]
    fn a_kubelet_says_what_it_found_and_executes_what_it_did() {
        let mut state = State::new("{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}", 1);
        state.update(Msg::Seconds(5));
        state.update(Msg::Fault("delay pod/p 10s".into()));
        state.update(Msg::Kubectl("kubectl delete pod p --wait=false".into()));
        state.update(Msg::Seconds(2));
        let pass = read(state.timeline.run.sim(), Some("kubelet node-1")).pass.expect("a pass");
        let rows: Vec<String> = pass.steps[0].1[1..].iter().map(|(name, value)| format!("{name}: {value}")).collect();
        assert_eq!(rows, ["deletionTimestamp: set", "containers running: 0 of 1"]);
        let lit: Vec<(&str, &str)> = pass.code.iter().filter(|line| line.lit).map(|line| (line.text.trim(), line.value.as_str())).collect();
        assert_eq!(lit, [("delete(pod, grace 0)", "delete Pod")]);
        // The write does not come back while its event is held up.
        assert_eq!(pass.held, "the watch event of this write reaches kube-controller-manager at 00:15.002");
        state.update(Msg::Seconds(20));
        assert_eq!(read(state.timeline.run.sim(), Some("kubelet node-1")).pass.expect("a pass").held, "");
    }

    #[test]
    fn a_slow_scheduler_has_a_queue_and_a_pass() {
        let mut state = State::new("", 1);
        state.update(Msg::Seconds(1));
        state.update(Msg::Fault("slow kube-scheduler 30s".into()));
        state.update(Msg::Kubectl("kubectl create deployment web --image=nginx --replicas=3".into()));
        state.update(Msg::Seconds(35));
        let shown = read(state.timeline.run.sim(), Some("default-scheduler"));
        let scheduler = shown.loops.iter().find(|one| one.name == "default-scheduler").expect("it is always there");
        assert_eq!((scheduler.queue, scheduler.slow.as_str()), (2, "30 s a pass"));
        let pass = shown.pass.expect("it is placing one");
        let held = &pass.held;
        assert!(held.starts_with("the pass over web-") && held.contains(" ends at 01:0"), "{held}");
        // What the pass before found and did is not told of this one.
        assert_eq!(pass.title, "default-scheduler · running");
        assert_eq!(pass.steps, ahead());
        assert!(pass.key.starts_with("default/web-") && pass.code.iter().all(|line| !line.lit && line.value.is_empty()), "{pass:?}");
    }

    #[test]
    fn the_scheduler_names_the_winner_first_and_what_it_skipped_is_skipped_whole() {
        let mut state = State::new((examples::ALL[0].text)(), 1);
        state.update(Msg::Seconds(20));
        let pass = read(state.timeline.run.sim(), Some("default-scheduler")).pass.expect("a pass");
        let Some((Act::Bind(_, node), _)) = &pass.act else { panic!("it binds") };
        let scores: Vec<&Row> = pass.steps[0].1.iter().filter(|row| row.0.starts_with("score of ")).collect();
        assert!(scores.len() == 2 && scores[0].0 == format!("score of {node}"), "{:?}", pass.steps);
        assert_eq!(scores[0].1, pass.steps[1].1[0].1);
        assert_eq!(scores[0].1 == scores[1].1, pass.steps[1].1.iter().any(|row| row.0 == "a tie"));
        let skipped = |pass: &Pass| pass.code.iter().filter(|line| line.skipped).map(|line| line.text.trim()).collect::<Vec<_>>();
        assert_eq!(skipped(&pass), ["condition(pod, Unschedulable)", "continue"]);
        // Where no node is found the round ends there.
        state.update(Msg::Kubectl("kubectl create deployment big --image=nginx".into()));
        state.update(Msg::Kubectl("kubectl set resources deployment big --requests=cpu=100".into()));
        state.update(Msg::Seconds(10));
        let pass = read(state.timeline.run.sim(), Some("default-scheduler")).pass.expect("a pass");
        assert_eq!(skipped(&pass), ["best := max(score(nodes, pod))", "bind(pod, best)"]);
    }

    #[test]
    fn what_a_pass_has_written_is_executed() {
        let mut state = State::new((examples::ALL[0].text)(), 1);
        state.update(Msg::Seconds(20));
        state.update(Msg::Kubectl("kubectl scale deployment nginx-deployment --replicas=3".into()));
        let passes = (0..40).filter_map(|_| {
            state.update(Msg::Step);
            read(state.timeline.run.sim(), Some("replicaset-controller")).pass
        });
        let acts = |pass: &Pass| pass.steps.get(2).map_or(0, |(_, rows)| rows.len());
        let pass = passes.into_iter().find(|pass| acts(pass) == 2).expect("one that creates and notes its status");
        let told: Vec<(&str, bool)> =
            pass.code.iter().filter(|line| !line.skipped && line.value.contains(' ')).map(|line| (line.value.as_str(), line.lit)).collect();
        assert!(told.ends_with(&[("create Pod", true), ("status ReplicaSet", false)]), "{told:?}");
    }

    #[test]
    fn what_somebody_else_wrote_later_is_not_this_write() {
        let mut state = State::new((examples::ALL[0].text)(), 1);
        state.update(Msg::Seconds(10));
        let set = state.timeline.run.sim().list(Kind::ReplicaSet).next().expect("a ReplicaSet").meta.name.to_string();
        state.update(Msg::Fault(format!("delay replicaset/{set} 60s")));
        state.update(Msg::Kubectl(format!("kubectl label replicaset {set} x=y")));
        state.update(Msg::Seconds(2));
        assert!(state.timeline.run.sim().is_held_up());
        assert_eq!(read(state.timeline.run.sim(), Some("replicaset-controller")).pass.expect("a pass").held, "");
        // One that is lost never comes.
        state.update(Msg::Fault("restart kube-controller-manager".into()));
        state.update(Msg::Fault("relist never".into()));
        state.update(Msg::Fault(format!("lose replicaset/{set}")));
        state.update(Msg::Kubectl(format!("kubectl scale replicaset {set} --replicas=3")));
        state.update(Msg::Kubectl("kubectl scale deployment nginx-deployment --replicas=4".into()));
        state.update(Msg::Step);
        state.update(Msg::Seconds(3));
        let own = state.timeline.run.sim().late(&|_, object| object.kind == Kind::ReplicaSet).expect("an event is lost");
        assert_eq!(state.timeline.run.sim().late_event(own.event), Some(own));
    }

    #[test]
    fn a_replicaset_that_only_notes_its_status_has_compared_all_the_same() {
        let mut state = State::new((examples::ALL[0].text)(), 1);
        state.update(Msg::Seconds(20));
        let pass = read(state.timeline.run.sim(), Some("replicaset-controller")).pass.expect("a pass");
        let values: Vec<&str> = pass.code.iter().map(|line| line.value.as_str()).filter(|value| !value.is_empty()).collect();
        assert_eq!(values[..3], ["replicas: 2", "2 Pods", "2 − 2 = 0"], "{:?}", pass.steps);
        assert!(pass.steps[1].1.iter().any(|(name, value)| *name == "readyReplicas" && *value == "1 → 2"), "{:?}", pass.steps);
        // What is missing is what it has less what it wants.
        state.update(Msg::Kubectl("kubectl scale deployment nginx-deployment --replicas=3".into()));
        state.update(Msg::Step);
        state.update(Msg::Step);
        let creates = read(state.timeline.run.sim(), Some("replicaset-controller")).pass.expect("a pass");
        let line = creates.code.iter().find(|line| line.text.contains("diff :=")).expect("a line");
        assert_eq!(line.value, "2 − 3 = −1", "{creates:?}");
        let told = pass.told();
        assert!(
            told.starts_with("replicaset-controller wrote the status of ReplicaSet nginx-") && told.contains("readyReplicas 1 → 2"),
            "{told}"
        );
    }

    #[test]
    fn every_pass_of_a_workload_tells_what_is_wanted_and_most_what_there_is() {
        for (text, loops, image) in [
            ((examples::ALL[0].text)(), "deployment-controller", "kubectl set image deployment/nginx-deployment nginx=nginx:1.27"),
            ((examples::ALL[2].text)(), "statefulset-controller", "kubectl set image statefulset/web nginx=nginx:1.27"),
        ] {
            let mut state = State::new(text, 1);
            let (mut seen, mut compared) = (BTreeSet::new(), 0);
            for step in 0..400 {
                if step == 150 {
                    state.update(Msg::Kubectl(image.into()));
                }
                state.update(Msg::Step);
                let Some(pass) = read(state.timeline.run.sim(), Some(loops)).pass.filter(|pass| !pass.steps.is_empty()) else { continue };
                if seen.insert(pass.title.to_string()) {
                    let rows: Vec<&Row> = pass.steps.iter().take(2).flat_map(|(_, rows)| rows).collect();
                    assert!(rows.iter().any(|(name, _)| *name == "desired"), "{:?}", pass.steps);
                    compared += usize::from(rows.iter().any(|(_, value)| value.contains(" → ")));
                }
            }
            assert!(seen.len() > 5 && compared > 3, "{seen:?} {compared}");
        }
    }
}
