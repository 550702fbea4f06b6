//! Version of a ConfigMap, a Secret or a Service that a container sees.
//!
//! Guarantees: a mounted volume has the content of the kubelet's last sync of the Pod; variables and `subPath` mounts have that of the
//! container's start. No state is stored for this: both are read from the journal, which is not searched for objects without later
//! writes. Models `pkg/kubelet/kubelet.go` (`syncPod`, `podWorkers` with `resyncInterval` and `workerResyncIntervalJitterFactor`) and the
//! watching manager of `pkg/kubelet/util/manager`.

use super::disk::node_of;
use apiserver::Store;
use apiserver::journal::{Op, Record};
use k8s_model::environment::{self, Environment, EnvironmentSources};
use k8s_model::pod::Pod;
use k8s_model::time::SECOND;
use k8s_model::{Kind, Object, ObjectRef, Time, Timestamp};
use std::rc::Rc;

/// Resync interval of a Pod, which has up to half of it added as jitter.
const SYNC_US: u64 = 60 * SECOND;

/// Returns the version of an object at a container's start.
pub fn at_start(
    store: &Store,
    pod: &Object,
    container: usize,
    key: &ObjectRef,
) -> Option<Rc<Object>> {
    version(store, key, started(store, pod, container))
}

/// Returns the version that the kubelet wrote to a volume at its last sync of the Pod. A deleted source keeps its last version.
pub fn at_sync(store: &Store, pod: &Object, key: &ObjectRef) -> Option<Rc<Object>> {
    let sync = last_sync(store, pod);
    version(store, key, sync).or_else(|| {
        let entries = store.journal();
        let (from, to) = (after(store, begin(store, pod)), after(store, sync));
        let writes = (from..to).rev().filter_map(|at| entries[at].write());
        writes
            .filter(|(op, object)| *op == Op::Deleted && is(object, key))
            .map(|(_, object)| object.clone())
            .next()
    })
}

/// Returns the variables of a container: those that it declares, in the order of the spec, and those of the Services.
pub fn container_variables(store: &Store, pod: &Object, container: usize) -> Environment {
    // Labels and annotations are those of the start; the addresses were known only then.
    let mut first = pod.clone();
    if let Some(started) = at_start(store, pod, container, &pod.key()) {
        first.meta = started.meta.clone();
    }
    let there: Vec<Rc<Object>> = store
        .list(Kind::Service)
        .filter_map(|now| at_start(store, pod, container, &now.key()))
        .collect();
    let services = environment::service_variables(pod, there.iter().map(|service| &**service));
    let mut all = environment::variables(
        pod.body::<Pod>().spec.raw_container(container),
        EnvironmentSources {
            pod: &first,
            node: node_of(store, pod),
            services: &services,
            data: &|kind, name| {
                let key = ObjectRef::new(kind, &pod.meta.namespace, name);
                let object = at_start(store, pod, container, &key);
                object.map_or_else(Vec::new, |object| environment::data(&object))
            },
        },
    );
    for (name, value) in services {
        if environment::find(&all, &name).is_none() {
            all.push((name, value));
        }
    }
    all
}

/// Returns the end of the second of a timestamp, so that all events within the second are included.
fn end_of(store: &Store, time: Option<Timestamp>) -> Time {
    match time {
        Some(time) => Time(time.since(store.wall_at(Time(0))) * 1_000 + SECOND - 1).min(store.now),
        None => store.now,
    }
}

fn started(store: &Store, pod: &Object, container: usize) -> Time {
    let body: &Pod = pod.body();
    let name = body
        .spec
        .containers
        .get(container)
        .map(|container| &container.name);
    let state = body
        .status
        .container_statuses
        .iter()
        .find(|status| Some(&status.name) == name)
        .map(|status| &status.state);
    let running = state
        .and_then(|state| state.running.as_ref())
        .and_then(|running| running.started_at);
    end_of(
        store,
        running.or_else(|| {
            state
                .and_then(|state| state.terminated.as_ref())
                .and_then(|ended| ended.started_at)
        }),
    )
}

/// Returns the time of the kubelet's first sync of the Pod.
fn begin(store: &Store, pod: &Object) -> Time {
    end_of(store, pod.body::<Pod>().status.start_time)
}

/// Returns the time of the last sync of a Pod: by its own timer, or because the Pod or one of its containers has changed.
fn last_sync(store: &Store, pod: &Object) -> Time {
    let begin = begin(store, pod);
    // Real kubelets draw a new interval each time.
    let interval = SYNC_US + (pod.meta.uid.0 % u128::from(SYNC_US / 2)) as u64;
    let by_timer = begin.after((store.now.0 - begin.0) / interval * interval);
    let entries = store.journal();
    let from = after(store, by_timer);
    if !is_newer(store, pod, from) {
        return by_timer;
    }
    let changed = (from..entries.len()).rev().find(|at| {
        entries[*at]
            .write()
            .is_some_and(|(_, object)| object.kind == pod.kind && object.meta.uid == pod.meta.uid)
    });
    changed.map_or(by_timer, |at| entries[at].time)
}

/// Returns the position of the first journal entry after an instant.
fn after(store: &Store, time: Time) -> usize {
    store.journal().partition_point(|entry| entry.time <= time)
}

/// Returns true if an object has been written at or after a position of the journal.
fn is_newer(store: &Store, object: &Object, from: usize) -> bool {
    let entries = store.journal();
    let next = (from..entries.len()).find_map(|at| entries[at].write());
    next.is_some_and(|(_, next)| object.meta.resource_version >= next.meta.resource_version)
}

fn is(object: &Object, key: &ObjectRef) -> bool {
    object.kind == key.kind
        && object.meta.name == key.name
        && object.meta.namespace == key.namespace
}

/// Returns the version of an object at an instant.
fn version(store: &Store, key: &ObjectRef, time: Time) -> Option<Rc<Object>> {
    let from = after(store, time);
    let now = store.get(key);
    if now.is_some_and(|now| !is_newer(store, now, from)) {
        return now.cloned();
    }
    // The first write after the instant has the version before it.
    let entries = store.journal();
    let first = (from..entries.len()).find_map(|at| match &entries[at].record {
        Record::Write { op, object, before } if is(object, key) => Some((*op, object, before)),
        _ => None,
    });
    match first {
        None => now.cloned(),
        Some((Op::Added, ..)) => None,
        Some((Op::Deleted, object, _)) => Some(object.clone()),
        Some((Op::Modified, _, before)) => before.clone(),
    }
}
