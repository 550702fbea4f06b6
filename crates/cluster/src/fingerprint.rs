//! Fingerprints of states: equal for states that differ only in what an explorer does not tell apart.
//!
//! Left out are uids, resourceVersions, generated names, addresses and timestamps of objects, Events, and periodic resyncs; the clock
//! counts as the time left until each timer. Objects are told apart by their content, by the versions of them that each cache holds, by the
//! tasks about them, and by the objects that they refer to: Pods of one template in the same state are interchangeable.

use crate::Sim;
use crate::tasks::Task;
use k8s_model::{Duration, Kind, Object, ObjectRef, Time, Uid};
use serde_json::Value;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

/// Versions after which remembered hashes are dropped, to bound memory.
const MOST_VERSIONS: usize = 50_000;

/// Hashes of object versions, remembered by their address.
#[derive(Debug, Default)]
pub struct Fingerprints {
    versions: BTreeMap<usize, (Rc<Object>, Version)>,
}

/// Failures of a key from which on their number is not told apart: the back-off is a minute by then.
const MOST_FAILURES: u32 = 14;

/// Hash of the content of a version, and the uids to which it refers.
#[derive(Clone, Debug)]
struct Version {
    content: u64,
    refers: Rc<[Uid]>,
}

/// Facts about one object.
#[derive(Default)]
struct Facts {
    sum: u64,
    refers: Option<Rc<[Uid]>>,
}

/// Hashes a value.
fn hashed(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Facts of a state, by object.
#[derive(Default)]
struct State {
    of: BTreeMap<Uid, Facts>,
    names: BTreeMap<ObjectRef, Uid>,
    global: u64,
}

impl State {
    fn note(&mut self, uid: Uid, fact: u64) {
        let facts = self.of.entry(uid).or_default();
        // A sum does not depend on the order of the facts.
        facts.sum = facts.sum.wrapping_add(hashed(fact));
    }

    fn global(&mut self, fact: u64) {
        self.global = self.global.wrapping_add(hashed(fact));
    }

    /// Notes a fact about the object of a key, or about the key if there is no such object.
    fn note_key(&mut self, key: &ObjectRef, fact: u64) {
        match self.names.get(key).copied() {
            Some(uid) => self.note(uid, fact),
            None => self.global(hashed((key.kind, fact))),
        }
    }

    fn hash(self) -> u64 {
        let color = |uid: &Uid| self.of.get(uid).map_or(1, |facts| hashed(facts.sum));
        let refined = self.of.values().map(|facts| {
            let refers = facts.refers.iter().flat_map(|refers| refers.iter());
            let refers = refers.fold(0u64, |sum, uid| sum.wrapping_add(color(uid)));
            hashed((facts.sum, refers))
        });
        let objects = refined.fold(0u64, |sum, one| sum.wrapping_add(hashed(one)));
        hashed((objects, self.global))
    }
}

impl Fingerprints {
    /// Returns the fingerprint of a state whose fast tasks are those due within the window.
    pub fn of(&mut self, sim: &Sim, window: Duration) -> u64 {
        let mut state = State::default();
        for kind in k8s_model::kind::all().filter(|kind| *kind != Kind::Event) {
            for object in sim.store().each(kind) {
                let version = self.version(object);
                let uid = object.meta.uid;
                state.names.insert(object.key(), uid);
                state.note(uid, hashed(("store", version.content)));
                state.of.entry(uid).or_default().refers = Some(version.refers);
            }
        }
        self.caches(sim, &mut state);
        tasks(sim, window, &mut state);
        loops(sim, &mut state);
        state.hash()
    }

    fn caches(&mut self, sim: &Sim, state: &mut State) {
        for (at, process) in sim.informers.processes().enumerate() {
            let informer = &sim.informers[process];
            let stored = k8s_model::kind::all()
                .filter(|kind| process.watches(*kind) && process.stores(*kind));
            for object in stored.flat_map(|kind| informer.cache.list(kind)) {
                let current = sim.store().get(&object.key());
                if current.is_some_and(|current| Rc::ptr_eq(current, object)) {
                    continue;
                }
                // Only what differs from the store is a fact.
                let content = self.version(object).content;
                state.names.entry(object.key()).or_insert(object.meta.uid);
                state.note(object.meta.uid, hashed(("cache", at, content)));
            }
            let journal = sim.journal();
            for (place, id) in sim.undelivered(process).enumerate() {
                let write = journal.get(id as usize).and_then(|entry| entry.write());
                if let Some((op, object)) = write {
                    let content = self.version(object).content;
                    state.note(
                        object.meta.uid,
                        hashed(("event", at, place, op as u8, content)),
                    );
                }
            }
            if let Some(faults) = &informer.watch_faults {
                state.global(hashed((
                    "faults",
                    at,
                    erased(&format!("{faults:?}"), sim.now()),
                )));
            }
        }
    }

    fn version(&mut self, object: &Rc<Object>) -> Version {
        let address = Rc::as_ptr(object) as usize;
        if let Some((_, version)) = self.versions.get(&address) {
            return version.clone();
        }
        if self.versions.len() >= MOST_VERSIONS {
            self.versions.clear();
        }
        let mut refers = Vec::new();
        let value = object.to_value();
        let mut shape = Shape {
            generation: object.meta.generation,
            refers: &mut refers,
        };
        // What people have named says nothing about fields of Kubernetes.
        let custom = object.kind.is_custom();
        let fields = value.as_object().into_iter().flatten();
        let content = fields.fold(hashed(object.kind), |hash, (name, value)| {
            let whole = custom && name != "metadata";
            hashed((hash, name, shape.content(value, name, whole)))
        });
        let version = Version {
            content,
            refers: refers.into(),
        };
        // The address is not used again while the object is held.
        self.versions
            .insert(address, (object.clone(), version.clone()));
        version
    }
}

/// Fields that identify an object or an instant, but say nothing else.
const LEFT_OUT: [&str; 15] = [
    "uid",
    "generation",
    "resourceVersion",
    "managedFields",
    "creationTimestamp",
    "containerID",
    "podIP",
    "podIPs",
    "clusterIP",
    "clusterIPs",
    "addresses",
    "startTime",
    "startedAt",
    "finishedAt",
    "generateName",
];

/// Fields whose content is named by people.
const PERSONAL: [&str; 8] = [
    "data",
    "stringData",
    "binaryData",
    "labels",
    "annotations",
    "matchLabels",
    "nodeSelector",
    "selector",
];

/// Length of a uid as text.
const UID_LENGTH: usize = 36;

/// Lists whose order says nothing.
const UNORDERED: [&str; 2] = ["endpoints", "conditions"];

/// Content of a version on its way to a hash.
struct Shape<'r> {
    /// Generation, from which observed ones count.
    generation: i64,
    /// Uids to which it refers.
    refers: &'r mut Vec<Uid>,
}

impl Shape<'_> {
    /// Hashes a value of the object; if `whole`, its names and texts are those of a person, and all of them count.
    fn content(&mut self, value: &Value, field: &str, whole: bool) -> u64 {
        let whole = whole || PERSONAL.contains(&field);
        match value {
            Value::Object(map) if whole => map.iter().fold(7, |hash, (name, value)| {
                hashed((hash, name, self.content(value, name, true)))
            }),
            Value::Object(map) => {
                let refers = map.contains_key("uid") && field != "metadata";
                let unnamed = refers || map.contains_key("generateName");
                let mut hash = 7;
                for (name, value) in map {
                    if refers && name == "uid" {
                        self.refers.extend(value.as_str().and_then(Uid::parse));
                    }
                    let is_left_out = LEFT_OUT.contains(&name.as_str());
                    if !(is_left_out || unnamed && name == "name") {
                        hash = hashed((hash, name, self.content(value, name, false)));
                    }
                }
                hash
            }
            Value::Array(items) => {
                let mut items: Vec<u64> = items
                    .iter()
                    .map(|item| self.content(item, "", whole))
                    .collect();
                if UNORDERED.contains(&field) {
                    items.sort_unstable();
                }
                hashed(items)
            }
            Value::String(text) if !whole && is_timestamp(text) => 3,
            Value::String(text) if !whole && text.starts_with("kube-api-access-") => 4,
            Value::String(text) if text.len() == UID_LENGTH && Uid::parse(text).is_some() => {
                self.refers.extend(Uid::parse(text));
                6
            }
            Value::String(text) => hashed(text),
            Value::Number(number) if field == "observedGeneration" => {
                hashed(self.generation - number.as_i64().unwrap_or(0))
            }
            Value::Number(number) => hashed(number.to_string()),
            Value::Bool(truth) => hashed(truth),
            Value::Null => 5,
        }
    }
}

fn is_timestamp(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 20 && bytes.ends_with(b"Z") && bytes[4] == b'-' && bytes[10] == b'T'
}

/// Notes the pending tasks.
fn tasks(sim: &Sim, window: Duration, state: &mut State) {
    let now = sim.now();
    for ((due, _), task) in sim.tasks.iter() {
        if sim.is_stale(*due, task) {
            continue;
        }
        let left = due.0.saturating_sub(now.0);
        let fast = if left <= window { 0 } else { left };
        match task {
            // Deliveries are told by their events.
            Task::Deliver(_) | Task::Resync(_) | Task::ExpireEvents(_) | Task::CheckSeries => {}
            Task::Reconcile(i, key) => state.note_key(key, hashed(("pass", i, fast))),
            Task::Wake(i, key) => state.note_key(key, hashed(("wake", i, left))),
            Task::Kubelet(job) => {
                let step = erased(&job.step(), now);
                state.note(job.uid(), hashed(("kubelet", step, fast)));
            }
            Task::Schedule => state.global(hashed(("schedule", fast))),
            Task::Flush => state.global(hashed(("flush", left))),
            other => state.global(hashed(("task", erased(&format!("{other:?}"), now), left))),
        }
    }
}

/// Notes what loops, the scheduler and the kubelets remember.
fn loops(sim: &Sim, state: &mut State) {
    let now = sim.now();
    for (i, worker) in sim.manager.workers.iter().enumerate() {
        for (key, failures) in worker.queue.failures() {
            state.note_key(key, hashed(("failures", i, failures.min(MOST_FAILURES))));
        }
        let seen = sim.informers.controller_manager.seen();
        for (key, needed) in worker.written.iter() {
            if seen < *needed {
                state.note_key(key, hashed(("unseen", i)));
            }
        }
        for (key, kept) in worker.states.iter() {
            let told = erased(&format!("{kept:?}"), now);
            state.note_key(key, hashed(("state", i, told)));
        }
    }
    for slot in &sim.manager.loops {
        // Numbers of a program's memory count as they are.
        let memory = format!("{:?}", slot.state.memory());
        let waiting = erased(&format!("{:?}", slot.state.waiting()), now);
        state.global(hashed(("memory", memory, waiting)));
    }
    for (uid, told) in sim.scheduler.pod_states() {
        state.note(uid, hashed(("scheduler", told)));
    }
    for (uid, told) in sim.kubelets.pod_states() {
        state.note(uid, hashed(("worker", erased(&told, now))));
    }
}

/// Shortest number that is taken for an id or an instant.
const ID_DIGITS: usize = 3;

/// Replaces instants in a text by the time left until them, and other long numbers by a sign.
fn erased(text: &str, now: Time) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(at);
        out += before;
        let digits = from
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(from.len());
        let number = &from[..digits];
        match number.parse::<u64>() {
            Ok(time) if before.ends_with("Time(") => {
                out += &time.saturating_sub(now.0).to_string();
            }
            _ if number.len() >= ID_DIGITS => out.push('#'),
            _ => out += number,
        }
        rest = &from[digits..];
    }
    out + rest
}
