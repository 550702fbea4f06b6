//! Version of a ConfigMap, a Secret or a Service that a container sees.
//!
//! Guarantees: a mounted volume has the content of the kubelet's last sync of the Pod; variables and `subPath` mounts have that of the
//! container's start. No state is stored for this: both are read from the journal, which is not searched for objects without later
//! writes. Models `pkg/kubelet/kubelet.go` (`syncPod`, `podWorkers` with `resyncInterval` and `workerResyncIntervalJitterFactor`) and the
//! watching manager of `pkg/kubelet/util/manager`.

use apiserver::ApiServer;
use apiserver::journal::{Op, Record};
use k8s_model::pod::Pod;
use k8s_model::time::SECOND;
use k8s_model::{Object, ObjectRef, Time, Timestamp};
use std::rc::Rc;

/// Resync interval of a Pod, which has up to half of it added as jitter.
const SYNC_US: u64 = 60 * SECOND;

/// Returns the version of an object at a container's start.
pub fn at_start(
    server: &ApiServer,
    pod: &Object,
    container: usize,
    key: &ObjectRef,
) -> Option<Rc<Object>> {
    version(server, key, started(server, pod, container))
}

/// Returns the version that the kubelet wrote to a volume at its last sync of the Pod. A deleted source keeps its last version.
pub fn at_sync(server: &ApiServer, pod: &Object, key: &ObjectRef) -> Option<Rc<Object>> {
    let sync = last_sync(server, pod);
    version(server, key, sync).or_else(|| {
        let entries = server.journal();
        let (from, to) = (after(server, begin(server, pod)), after(server, sync));
        let writes = (from..to).rev().filter_map(|at| entries[at].write());
        writes
            .filter(|(op, object)| *op == Op::Deleted && is(object, key))
            .map(|(_, object)| object.clone())
            .next()
    })
}

/// Returns the end of the second of a timestamp, so that all events within the second are included.
fn end_of(server: &ApiServer, time: Option<Timestamp>) -> Time {
    match time {
        Some(time) => {
            Time(time.since(server.wall_at(Time(0))) * 1_000 + SECOND - 1).min(server.now)
        }
        None => server.now,
    }
}

fn started(server: &ApiServer, pod: &Object, container: usize) -> Time {
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
        server,
        running.or_else(|| {
            state
                .and_then(|state| state.terminated.as_ref())
                .and_then(|ended| ended.started_at)
        }),
    )
}

/// Returns the time of the kubelet's first sync of the Pod.
fn begin(server: &ApiServer, pod: &Object) -> Time {
    end_of(server, pod.body::<Pod>().status.start_time)
}

/// Returns the time of the last sync of a Pod: by its own timer, or because the Pod or one of its containers has changed.
fn last_sync(server: &ApiServer, pod: &Object) -> Time {
    let begin = begin(server, pod);
    // Real kubelets draw a new interval each time.
    let interval = SYNC_US + (pod.meta.uid.0 % u128::from(SYNC_US / 2)) as u64;
    let by_timer = begin.after((server.now.0 - begin.0) / interval * interval);
    let entries = server.journal();
    let from = after(server, by_timer);
    if !is_newer(server, pod, from) {
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
fn after(server: &ApiServer, time: Time) -> usize {
    server.journal().partition_point(|entry| entry.time <= time)
}

/// Returns true if an object has been written at or after a position of the journal.
fn is_newer(server: &ApiServer, object: &Object, from: usize) -> bool {
    let entries = server.journal();
    let next = (from..entries.len()).find_map(|at| entries[at].write());
    next.is_some_and(|(_, next)| object.meta.resource_version >= next.meta.resource_version)
}

fn is(object: &Object, key: &ObjectRef) -> bool {
    object.kind == key.kind
        && object.meta.name == key.name
        && object.meta.namespace == key.namespace
}

/// Returns the version of an object at an instant.
fn version(server: &ApiServer, key: &ObjectRef, time: Time) -> Option<Rc<Object>> {
    let from = after(server, time);
    let now = server.get(key);
    if now.is_some_and(|now| !is_newer(server, now, from)) {
        return now.cloned();
    }
    // The first write after the instant has the version before it.
    let entries = server.journal();
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
