//! Trials of a loop that a learner has written: what it has made comes back on copies of the cluster, whatever is lost or late.

use apiserver::journal::{Op, Record};
use apiserver::{Actor, Component};
use cluster::Sim;
use k8s_model::time::SECOND;
use k8s_model::{Kind, ObjectRef, Uid};
use kubectl::Session;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// Number of trials, each with other disturbances and another order of what happens at the same time.
const TRIALS: u64 = 3;
/// Duration of a trial.
const SPAN_US: u64 = 120 * SECOND;
/// Maximum number of tasks of a trial: a loop that is never quiet fails.
const MAX_TASKS: usize = 4_000;

/// Object that a loop has created and that is there.
type Made = BTreeMap<Uid, ObjectRef>;

thread_local! {
    /// Result for the loop and the objects that were tried last: a check is evaluated at each change of the cluster.
    static LAST: RefCell<Option<(String, Vec<Uid>, bool)>> = const { RefCell::new(None) };
}

/// Returns true if what a loop has made comes back when an object of it is deleted: plainly, while the loop does not hear of it, and while
/// its process restarts. `None` if there is no such loop; false if it has made nothing.
pub fn survives(sim: &Sim, name: &str) -> Option<bool> {
    let mut loops = sim.manager.scripted_loops();
    let (of, _) = loops.find(|(of, _)| of.id.name == name)?;
    let actor = Actor::component(of.component());
    let made = made(sim, &actor);
    let uids: Vec<Uid> = made.keys().copied().collect();
    let tried = format!("{name} {:?}", of.spec);
    let known = LAST.with_borrow(|last| {
        let (of, objects, result) = last.as_ref()?;
        (*of == tried && *objects == uids).then_some(*result)
    });
    if known.is_some() {
        return known;
    }
    let survives =
        !made.is_empty() && (0..TRIALS).all(|trial| comes_back(sim, &actor, &made, trial));
    LAST.set(Some((tried, uids, survives)));
    Some(survives)
}

/// Returns the objects that a loop has created, without those that are being deleted.
fn made(sim: &Sim, actor: &Actor) -> Made {
    let mut made = Made::new();
    for entry in sim.journal().iter().filter(|entry| entry.actor == *actor) {
        let Record::Write {
            op: Op::Added,
            object,
            ..
        } = &entry.record
        else {
            continue;
        };
        let key = object.key();
        let now = sim.store().get(&key);
        let is_there =
            now.is_some_and(|now| now.meta.uid == object.meta.uid && !now.meta.is_deleting());
        if is_there && key.kind != Kind::Event {
            made.insert(object.meta.uid, key);
        }
    }
    made
}

/// Deletes an object of the loop on a copy of the cluster, under the disturbances of a trial, and returns true if it is replaced.
fn comes_back(sim: &Sim, actor: &Actor, made: &Made, trial: u64) -> bool {
    let Component::Loop(id) = actor.component else {
        return false;
    };
    let mut copy = sim.clone();
    let Some((uid, victim)) = made.iter().nth(trial as usize % made.len().max(1)) else {
        return false;
    };
    let resource = victim.kind.info().plural;
    let mut faults = vec![
        format!("jitter 20ms {}", trial + 1),
        "relist 30s".to_owned(),
    ];
    match trial {
        // A deletion without grace is two events.
        1 => faults.extend([
            format!("lose {resource}/{} {}", victim.name, id.name),
            format!("lose {resource}/{} {}", victim.name, id.name),
        ]),
        2 => faults.push(format!("restart {}", id.name)),
        _ => {}
    }
    for fault in &faults {
        if copy.fault(fault).is_err() {
            return false;
        }
    }
    let mut words = vec!["delete", resource, &victim.name, "--wait=false"];
    let namespace = format!("--namespace={}", victim.namespace);
    if victim.kind == Kind::Pod {
        words.extend(["--grace-period=0", "--force"]);
    }
    if !victim.namespace.is_empty() {
        words.push(&namespace);
    }
    let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
    Session::start(&mut copy, &words, "");
    let end = copy.now().after(SPAN_US);
    copy.advance(end, MAX_TASKS);
    let after = self::made(&copy, actor);
    copy.now() >= end && !after.contains_key(uid) && kinds(&after) == kinds(made)
}

/// Counts objects by kind.
fn kinds(made: &Made) -> Vec<(Kind, usize)> {
    let kinds: BTreeSet<Kind> = made.values().map(|key| key.kind).collect();
    let count = |kind| made.values().filter(|key| key.kind == kind).count();
    kinds.into_iter().map(|kind| (kind, count(kind))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use controller_runtime::cluster::ClusterConfig;

    const LEVEL: &str = "def reconcile(key):
    config = get('ConfigMap', key)
    if not config or key.name != 'web': return
    for n in range(len(list('Pod', owner=config)), 2):
        check(create(pod_of(config)))
";
    const POD_OF: &str = "
def pod_of(config):
    return set_owner({'kind': 'Pod', 'metadata': {'generateName': 'web-'}, 'spec': {'containers': [{'name': 'c', 'image': 'nginx'}]}}, config)
";

    /// Cluster with a loop and its ConfigMap, after half a minute.
    fn cluster(program: &str) -> Sim {
        let mut sim = Sim::new(ClusterConfig::default(), 1);
        let program = format!("{program}{POD_OF}");
        let apply = |value: serde_json::Value, sim: &mut Sim| {
            let words = ["apply", "-f", "-"].map(str::to_owned);
            let session = Session::start(sim, &words, &value.to_string());
            assert_eq!(session.exit, Some(0), "{}", session.stderr);
        };
        let loop_ = serde_json::json!({"apiVersion": "loopscope.dev/v1", "kind": "ControlLoop", "metadata": {"name": "mine"}, "spec": {
            "for": {"apiVersion": "v1", "kind": "ConfigMap"}, "owns": [{"apiVersion": "v1", "kind": "Pod"}], "program": program}});
        apply(loop_, &mut sim);
        sim.advance(sim.now().after(2 * SECOND), 10_000);
        let config = serde_json::json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}});
        apply(config, &mut sim);
        sim.advance(sim.now().after(30 * SECOND), 10_000);
        sim
    }

    #[test]
    fn loop_that_compares_survives() {
        let sim = cluster(LEVEL);
        let entries = sim.journal().len();
        assert_eq!(survives(&sim, "mine"), Some(true));
        assert_eq!(survives(&sim, "other"), None);
        assert_eq!(sim.journal().len(), entries, "copies are tried");
    }

    #[test]
    fn typical_wrong_programs_do_not_survive() {
        let wrong = [
            // Reacts to what it hears: a lost event is never made good.
            "def on_event(event):
    config = get('ConfigMap', 'web', namespace='default')
    if not config: return
    if event.object.kind == 'ConfigMap' and event.type == 'ADDED' and event.object.metadata.name == 'web' and not event.initial:
        for n in range(2): create(pod_of(config))
    if event.object.kind == 'Pod' and event.type == 'DELETED': create(pod_of(config))
",
            // Creates only if there is none.
            "def reconcile(key):
    config = get('ConfigMap', key)
    if not config or key.name != 'web' or list('Pod', owner=config): return
    for n in range(2): check(create(pod_of(config)))
",
            // Counts up without a bound.
            "def reconcile(key):
    config = get('ConfigMap', key)
    requeue_after(20)
    if config and key.name == 'web': check(create(pod_of(config)))
",
            // Makes nothing.
            "def reconcile(key):
    pass
",
        ];
        for program in wrong {
            assert_eq!(
                survives(&cluster(program), "mine"),
                Some(false),
                "{program}"
            );
        }
    }
}
