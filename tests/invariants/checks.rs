//! What must hold after every single task, whatever has been asked for.

use apiserver::Op;
use cluster::Sim;
use k8s_model::node::Node;
use k8s_model::pod::{Pod, Resources};
use k8s_model::storage::{PersistentVolume, PersistentVolumeClaim};
use k8s_model::workload::{Deployment, ReplicaSet, StatefulSet};
use k8s_model::{Kind, Object, ObjectRef, Time, Uid};
use serde_json::Value;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A loop may act upon what was true so long ago.
const LAG: u64 = 100_000;

/// What the checks remember between steps.
#[derive(Default)]
pub struct Checks {
    read: usize,
    version: u64,
    live: BTreeMap<ObjectRef, Uid>,
    volumes: BTreeMap<Uid, String>,
    /// The node of each Pod that has one.
    nodes: BTreeMap<Uid, String>,
    /// When Pods were last Ready.
    ready: BTreeMap<ObjectRef, Time>,
    /// Succeeded and failed Pods that each Job has told, and how many Pods it has had.
    jobs: BTreeMap<Uid, (i64, i64)>,
    job_pods: BTreeMap<Uid, i64>,
    /// Since when a Deployment asks for what it asks.
    asked: BTreeMap<Uid, (i32, Time)>,
}

impl Checks {
    /// Looks at everything that was written since the last time.
    pub fn look(&mut self, sim: &Sim) {
        let mut bound = false;
        for entry in sim.journal().from(self.read).iter() {
            let Some((op, object)) = entry.write() else {
                continue;
            };
            assert!(
                object.meta.resource_version > self.version,
                "resourceVersion strictly grows"
            );
            self.version = object.meta.resource_version;
            if object.kind == Kind::Event {
                continue;
            }
            self.lives(op, object);
            match object.kind {
                Kind::PersistentVolumeClaim | Kind::PersistentVolume => self.binding(op, object),
                Kind::Job => self.job(op, object),
                Kind::PodDisruptionBudget => budget(object),
                Kind::Deployment => {
                    let asks = object.body::<Deployment>().spec.replicas;
                    let entry = self
                        .asked
                        .entry(object.meta.uid)
                        .or_insert((asks, sim.now()));
                    if entry.0 != asks {
                        *entry = (asks, sim.now());
                    }
                }
                Kind::Pod => {
                    bound = true;
                    self.pod(sim, op, object);
                }
                _ => {}
            }
        }
        if self.read < sim.journal().len() {
            self.surge_is_kept(sim);
        }
        if bound {
            nodes_hold_what_they_have(sim);
        }
        self.read = sim.journal().len();
    }

    /// Two live objects never share a name; what is gone had no finalizers left; uids stay.
    fn lives(&mut self, op: Op, object: &Rc<Object>) {
        let (key, uid) = (object.key(), object.meta.uid);
        match op {
            Op::Added => assert!(
                self.live.insert(key, uid).is_none(),
                "{} is there already",
                object.key()
            ),
            Op::Modified => assert_eq!(
                self.live.get(&key),
                Some(&uid),
                "{key} is the object that it was"
            ),
            Op::Deleted => {
                assert_eq!(self.live.remove(&key), Some(uid), "{key} was there");
                assert!(
                    object.meta.finalizers.is_empty(),
                    "{key} goes with finalizers {:?}",
                    object.meta.finalizers
                );
            }
        }
    }

    fn binding(&mut self, op: Op, object: &Rc<Object>) {
        let bound = match object.get::<PersistentVolumeClaim>() {
            Some(claim) => claim.spec.volume_name.to_string(),
            None => {
                let volume: &PersistentVolume = object.body();
                if volume.status.phase != "Bound" {
                    return;
                }
                volume
                    .spec
                    .raw
                    .pointer("/claimRef/uid")
                    .and_then(Value::as_str)
                    .unwrap_or("")
                    .to_owned()
            }
        };
        if !bound.is_empty() && op != Op::Deleted {
            let known = self
                .volumes
                .entry(object.meta.uid)
                .or_insert_with(|| bound.clone());
            assert_eq!(
                *known,
                bound,
                "what {} is bound to never changes",
                object.key()
            );
        }
    }

    /// Counts never go back and never hold a Pod twice.
    fn job(&mut self, op: Op, object: &Rc<Object>) {
        if op == Op::Deleted {
            return;
        }
        let value = object.to_value();
        let count = |name: &str| value["status"][name].as_i64().unwrap_or(0);
        let now = (count("succeeded"), count("failed"));
        let before = self.jobs.insert(object.meta.uid, now).unwrap_or_default();
        assert!(
            now.0 >= before.0 && now.1 >= before.1,
            "{}: counts go back from {before:?} to {now:?}",
            object.key()
        );
        let pods = self.job_pods.get(&object.meta.uid).copied().unwrap_or(0);
        assert!(
            now.0 + now.1 <= pods,
            "{}: {now:?} succeeded and failed of {pods} Pods",
            object.key()
        );
    }

    fn pod(&mut self, sim: &Sim, op: Op, object: &Rc<Object>) {
        let pod: &Pod = object.body();
        let known = self.nodes.entry(object.meta.uid).or_default();
        assert!(
            known.is_empty() || *known == pod.node_name,
            "{} moves from {known} to {:?}",
            object.key(),
            pod.node_name
        );
        pod.node_name.as_str().clone_into(known);
        if op == Op::Added {
            self.in_order(sim, object);
            if let Some(owner) = object.meta.controller() {
                *self.job_pods.entry(owner.uid).or_default() += 1;
            }
        }
        if op != Op::Deleted && pod.is_ready() {
            self.ready.insert(object.key(), Time(u64::MAX));
        } else if let Some(until) = self
            .ready
            .get_mut(&object.key())
            .filter(|t| t.0 == u64::MAX)
        {
            *until = sim.now();
        }
    }

    /// In ordered mode a Pod is only created when its predecessor is Running and Ready.
    fn in_order(&self, sim: &Sim, object: &Object) {
        let Some(set) = sim
            .store()
            .get(&ObjectRef::new(Kind::StatefulSet, "default", "s"))
        else {
            return;
        };
        let body: &StatefulSet = set.body();
        let ordinal = object
            .meta
            .name
            .strip_prefix("s-")
            .and_then(|n| n.parse::<i32>().ok());
        let Some(ordinal) = ordinal.filter(|_| {
            object.meta.is_controlled_by(set.meta.uid)
                && body.spec.pod_management_policy != "Parallel"
        }) else {
            return;
        };
        if ordinal > 0 {
            let before = ObjectRef::new(Kind::Pod, "default", &format!("s-{}", ordinal - 1));
            let ready = self
                .ready
                .get(&before)
                .is_some_and(|until| until.0 == u64::MAX || sim.now().0 <= until.0 + LAG);
            assert!(
                ready,
                "s-{ordinal} was created while its predecessor was not Ready"
            );
        }
    }

    /// ReplicaSets together never ask for more than `replicas + maxSurge`.
    fn surge_is_kept(&self, sim: &Sim) {
        for object in sim.store().list(Kind::Deployment) {
            let deployment: &Deployment = object.body();
            let Some(rolling) = deployment.spec.strategy.rolling_update.as_ref() else {
                continue;
            };
            let settled = self
                .asked
                .get(&object.meta.uid)
                .is_some_and(|(_, since)| sim.now().0 > since.0 + 2_000_000);
            // One that is being deleted is not sized any more.
            if deployment.status.observed_generation != object.meta.generation
                || !settled
                || object.meta.is_deleting()
            {
                continue;
            }
            let surge = rolling.max_surge.as_ref().map_or(0, |surge| {
                surge.resolve(i64::from(deployment.spec.replicas), true) as i32
            });
            let at_most = (deployment.spec.replicas + surge).max(1);
            let own = sim
                .store()
                .list(Kind::ReplicaSet)
                .filter(|o| o.meta.is_controlled_by(object.meta.uid));
            let asked: i32 = own.map(|o| o.body::<ReplicaSet>().spec.replicas).sum();
            assert!(
                asked <= at_most,
                "{asked} Pods asked for, at most {at_most} allowed"
            );
        }
    }
}

fn budget(object: &Object) {
    let value = object.to_value();
    assert!(
        value["status"]["disruptionsAllowed"].as_i64().unwrap_or(0) >= 0,
        "a budget is overdrawn"
    );
}

fn nodes_hold_what_they_have(sim: &Sim) {
    let mut used: BTreeMap<&str, (Resources, i64)> = BTreeMap::new();
    for object in sim.store().list(Kind::Pod) {
        let pod: &Pod = object.body();
        if !pod.node_name.is_empty() && !pod.is_terminal() {
            let sum = used.entry(&pod.node_name).or_default();
            *sum = (sum.0.plus(pod.spec.requests), sum.1 + 1);
        }
    }
    for object in sim.store().list(Kind::Node) {
        let (node, Some((sum, pods))) =
            (object.body::<Node>(), used.get(object.meta.name.as_str()))
        else {
            continue;
        };
        let has = node.allocatable();
        assert!(
            sum.cpu <= has.cpu && sum.memory <= has.memory && *pods <= node.max_pods(),
            "{} holds more than it has",
            object.key()
        );
    }
}

/// After the last fault the cluster comes to rest, with what the manifests ask for.
pub fn settled(sim: &mut Sim) {
    sim.advance(sim.now().after(1_500_000_000), usize::MAX);
    let (since, version) = (sim.now(), sim.store().version());
    sim.advance(sim.now().after(120_000_000), usize::MAX);
    // Events may be repeated: an autoscaler without a workload says so for ever.
    assert!(
        sim.last_change() <= since,
        "a quiet system stays quiet: {}",
        last_writes(sim, version)
    );
    let uids: Vec<Uid> = k8s_model::kind::all()
        .flat_map(|k| sim.store().list(k))
        .map(|o| o.meta.uid)
        .collect();
    for kind in &k8s_model::kind::all().collect::<Vec<_>>() {
        for object in sim.store().list(*kind) {
            let owners = &object.meta.owner_references;
            assert!(
                owners.is_empty() || owners.iter().any(|o| uids.contains(&o.uid)),
                "{} has no owner any more",
                object.key()
            );
            assert!(!object.meta.is_deleting(), "{} does not go", object.key());
        }
    }
    for (kind, name) in [
        (Kind::Deployment, "replicas"),
        (Kind::StatefulSet, "replicas"),
        (Kind::ReplicaSet, "replicas"),
        (Kind::ReplicationController, "replicas"),
    ] {
        for object in sim.store().list(kind) {
            let value = object.to_value();
            if is_stuck(sim, object) {
                continue;
            }
            let wanted = value["spec"][name].as_i64().unwrap_or(1);
            let has = |field: &str| value["status"][field].as_i64().unwrap_or(0);
            assert_eq!(
                has("replicas"),
                wanted,
                "{} has as many Pods as it asks for: {}",
                object.key(),
                value["status"]
            );
            assert_eq!(
                value["status"]["observedGeneration"],
                value["metadata"]["generation"],
                "{} is up to date",
                object.key()
            );
        }
    }
    for object in sim.store().list(Kind::DaemonSet) {
        let status = &object.to_value()["status"];
        assert_eq!(
            status["currentNumberScheduled"],
            status["desiredNumberScheduled"],
            "{} has a Pod on each node: {status}",
            object.key()
        );
    }
}

/// A Recreate that was sized anew while several ReplicaSets had Pods stays as it is, upstream too: it only ever sees the
/// change of the size, and that is carried out for rolling updates alone.
///
/// So does a StatefulSet in ordered mode that gets smaller while two of the Pods that have to go have failed: the last one waits until
/// those before it are ready, and what has to go is not made anew (`processCondemned` in `stateful_set_control.go`).
fn is_stuck(sim: &Sim, object: &Object) -> bool {
    if let Some(set) = object.get::<StatefulSet>() {
        let surplus = sim
            .store()
            .list(Kind::Pod)
            .filter(|o| o.meta.is_controlled_by(object.meta.uid))
            .filter(|o| {
                o.meta
                    .name
                    .rsplit('-')
                    .next()
                    .and_then(|n| n.parse::<i32>().ok())
                    .is_some_and(|ordinal| ordinal >= set.spec.replicas)
            });
        let failed: Vec<bool> = surplus.map(|o| o.body::<Pod>().is_terminal()).collect();
        return set.spec.pod_management_policy != "Parallel"
            && failed.last() == Some(&true)
            && failed.iter().filter(|failed| **failed).count() > 1;
    }
    let sets = || {
        sim.store()
            .list(Kind::ReplicaSet)
            .filter(|o| o.meta.is_controlled_by(object.meta.uid))
    };
    let recreates = object
        .get::<Deployment>()
        .is_some_and(|d| d.spec.strategy.kind == "Recreate");
    recreates
        && sets()
            .filter(|o| o.body::<ReplicaSet>().spec.replicas > 0)
            .count()
            > 1
}

fn last_writes(sim: &Sim, after: u64) -> String {
    let writes = sim.journal().iter().filter(|e| {
        e.write()
            .is_some_and(|(_, o)| o.meta.resource_version > after)
    });
    writes
        .take(6)
        .map(|e| {
            format!(
                "{:?} {} {:?} {:?}",
                e.time,
                e.actor.component.name(),
                e.key(),
                e.why
            )
        })
        .collect::<Vec<_>>()
        .join("; ")
}
