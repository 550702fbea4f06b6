//! Diagnosis: the reason why an object waits or fails at the instant shown, the deciding facts, and the remedies.
//!
//! The chain of `words` explains what has happened; this explains what has not. Facts are read at once; a remedy is tested by trying it on
//! a copy of the simulation ([`works`]).

mod batch;
mod config;
mod finding;
mod gateway;
pub mod held_up;
mod ingress;
mod namespace;
mod network;
mod placement;
mod pods;
mod policy;
mod security;
mod storage;
mod workloads;

use crate::waits::{Cure, Waits};
use actions::{Action, WaitingCommands};
use cluster::Sim;
use finding::Context;
pub use finding::{Diagnosis, Remedy, earlier_revision, owners};
use k8s_model::kind::GATEWAY_GROUP;
use k8s_model::{Kind, ObjectRef, Time};
pub use policy::refused_evictions;
pub use storage::is_looked_at_again;

/// Diagnoses an object that waits or has failed; `None` if it is healthy or progressing.
pub fn diagnose(sim: &Sim, key: &ObjectRef) -> Option<Diagnosis> {
    let context = &Context::new(sim, diagnose);
    let Some(object) = sim.get(key) else {
        return held_up::gone(sim, key).or_else(|| pods::waits_for(context, key));
    };
    let found = match object.kind {
        Kind::Pod => pods::pod(context, object),
        Kind::Deployment => workloads::deployment(context, object),
        Kind::ReplicaSet | Kind::ReplicationController => workloads::replica_set(context, object),
        Kind::StatefulSet => workloads::stateful_set(context, object),
        Kind::DaemonSet => workloads::daemon_set(context, object),
        Kind::Job => batch::job(context, object),
        Kind::CronJob => batch::cron_job(context, object),
        Kind::HorizontalPodAutoscaler => policy::autoscaler(context, object),
        Kind::PodDisruptionBudget => policy::budget(context, object),
        Kind::ResourceQuota => policy::quota(context, object),
        Kind::Node => pods::node(context, object),
        Kind::PersistentVolumeClaim => storage::claim(context, object),
        Kind::PersistentVolume => storage::volume(object),
        Kind::Service => network::service(context, object),
        Kind::Ingress => ingress::ingress(context, object),
        Kind::ConfigMap | Kind::Secret => config::old_version(context, object),
        Kind::RoleBinding | Kind::ClusterRoleBinding => config::binding(context, object),
        Kind::Namespace => namespace::namespace(context, object),
        Kind::Custom(_) if object.kind.info().group == GATEWAY_GROUP => {
            gateway::gateway_api(context, object)
        }
        _ => None,
    };
    let found = found.or_else(|| finding::held_by_finalizer(object));
    found.or_else(|| held_up::held_up_or_idle(sim, object))
}

/// Returns the diagnosis of an object, of the object that it waits for, and so on to the root.
pub fn chain_of_waiting(sim: &Sim, key: &ObjectRef) -> Vec<Diagnosis> {
    let mut out: Vec<Diagnosis> = Vec::new();
    let mut next = Some(key.clone());
    while let Some(key) = next {
        if out.len() >= 8 || out.iter().any(|known| known.object == key) {
            break;
        }
        let Some(found) = diagnose(sim, &key) else {
            break;
        };
        next = found.waits_for.clone();
        out.push(found);
    }
    out
}

/// Seconds after which to check whether a remedy has helped: watch events act at once, periodic checks within half a minute, back-offs
/// after some minutes.
const CHECK_AFTER_S: [u64; 9] = [1, 3, 8, 20, 40, 80, 160, 320, 640];
/// Seconds for which the effect of a remedy must last.
const MUST_LAST_S: u64 = 30;

/// Seconds within which an object counts as recovering by itself.
const SOON_S: u64 = 20;

/// Returns true if an object recovers soon without action, as after a crash that does not repeat; tested on a copy.
pub fn recovers(sim: &Sim, found: &Diagnosis, tasks: usize) -> bool {
    // The drain that retries the eviction is not part of the copy.
    if matches!(found.waits, Waits::EvictionRefused { .. }) {
        return false;
    }
    let well =
        |copy: &Sim| copy.get(&found.object).is_some() && diagnose(copy, &found.object).is_none();
    lasts(
        sim.clone(),
        WaitingCommands::default(),
        &well,
        SOON_S,
        tasks,
    )
}

/// Returns true if a remedy helps, by trying it on a copy with at most `tasks` tasks.
pub fn works(sim: &Sim, found: &Diagnosis, remedy: &Remedy, tasks: usize) -> bool {
    let mut copy = sim.clone();
    // The owner of the Pod: if the Pod is replaced, the new one has to be healthy.
    let owner = owners(sim, &found.object).pop();
    let leaving = sim
        .get(&found.object)
        .is_some_and(|object| object.meta.is_deleting());
    let mut waiting = WaitingCommands::default();
    for step in &remedy.steps {
        let answer = actions::run(&mut copy, &mut waiting, step);
        if answer.failed || answer.diagnostics.iter().any(|diagnostic| diagnostic.error) {
            return false;
        }
    }
    // A resumed CronJob waits for its next run, as expected.
    if found.object.kind == Kind::CronJob && remedy.cure == Cure::Unsuspend {
        copy.advance(Time(copy.now().0 + 1_000_000), tasks);
        return diagnose(&copy, &found.object).is_none_or(|now| now.waits == Waits::NotDue);
    }
    if remedy.cure == Cure::RunNow {
        // The schedule is unchanged; the remedy is the run itself.
        copy.advance(Time(copy.now().0 + 1_000_000), tasks);
        return copy
            .get(&ObjectRef::new(
                Kind::Job,
                &found.object.namespace,
                &remedy.name,
            ))
            .is_some();
    }
    let well = |copy: &Sim| match (copy.get(&found.object), &owner) {
        (Some(_), _) => diagnose(copy, &found.object).is_none_or(|now| match now.waits {
            // A CronJob always waits for its next run.
            Waits::NotDue => true,
            // Denied connections are a different problem of the Service.
            Waits::Isolated { .. } => !matches!(found.waits, Waits::Isolated { .. }),
            // Denied connections of the ingress controller are a different problem of the Ingress.
            Waits::BackendDenied { .. } => !matches!(found.waits, Waits::BackendDenied { .. }),
            // A wrong port is a different problem from denied connections too: it only shows once connections are allowed.
            Waits::NotListening(_) => matches!(found.waits, Waits::Isolated { .. }),
            _ => false,
        }),
        (None, _) if leaving || remedy.cure == Cure::DeleteVolume => true,
        (None, Some(owner)) => copy.get(owner).is_some() && diagnose(copy, owner).is_none(),
        // The object was already gone, and only its watch event is late.
        (None, None) => {
            matches!(remedy.cure, Cure::LetThrough | Cure::ListAnew)
                && diagnose(copy, &found.object).is_none()
        }
    };
    lasts(copy, waiting, &well, u64::MAX, tasks)
}

/// Returns true if the cluster becomes well within `within_s` seconds and stays so, using at most `tasks` tasks.
fn lasts(
    mut copy: Sim,
    mut waiting: WaitingCommands,
    well: &dyn Fn(&Sim) -> bool,
    within_s: u64,
    mut tasks: usize,
) -> bool {
    let mut run = |copy: &mut Sim, seconds: u64| {
        let went = copy.advance(Time(copy.now().0 + seconds * 1_000_000), tasks);
        tasks -= went.ran.min(tasks);
        actions::run(copy, &mut waiting, &Action::Poll);
        went.done
    };
    let mut before = 0;
    for at in CHECK_AFTER_S.into_iter().filter(|at| *at <= within_s) {
        if !run(&mut copy, at - before) {
            return false;
        }
        before = at;
        if well(&copy) {
            return run(&mut copy, MUST_LAST_S) && well(&copy);
        }
    }
    false
}
