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

use crate::waits::{PendingReason, RemedyKind};
use actions::{Action, Host};
use cluster::Sim;
use finding::Context;
pub use finding::{Diagnosis, Remedy, earlier_revision, owners};
use k8s_model::kind::GATEWAY_GROUP;
use k8s_model::{Kind, ObjectRef, Time};
pub use policy::refused_evictions;

/// Diagnoses an object that waits or has failed; `None` if it is healthy or progressing.
pub fn diagnose(sim: &Sim, key: &ObjectRef) -> Option<Diagnosis> {
    let context = &Context::new(sim, diagnose);
    let Some(object) = sim.store().get(key) else {
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
        Kind::ControllerRevision
        | Kind::Endpoints
        | Kind::EndpointSlice
        | Kind::StorageClass
        | Kind::ServiceAccount
        | Kind::LimitRange
        | Kind::PriorityClass
        | Kind::Event
        | Kind::PodTemplate
        | Kind::Lease
        | Kind::IngressClass
        | Kind::NetworkPolicy
        | Kind::Role
        | Kind::ClusterRole
        | Kind::CSIDriver
        | Kind::VolumeAttachment
        | Kind::RuntimeClass
        | Kind::CustomResourceDefinition
        | Kind::APIService
        | Kind::MutatingWebhookConfiguration
        | Kind::ValidatingWebhookConfiguration
        | Kind::ValidatingAdmissionPolicy
        | Kind::ValidatingAdmissionPolicyBinding
        | Kind::CertificateSigningRequest
        | Kind::FlowSchema
        | Kind::PriorityLevelConfiguration
        | Kind::IPAddress
        | Kind::ServiceCIDR
        | Kind::DeviceClass
        | Kind::ResourceClaim
        | Kind::ResourceClaimTemplate
        | Kind::ResourceSlice
        | Kind::CSINode
        | Kind::CSIStorageCapacity
        | Kind::VolumeAttributesClass
        | Kind::MutatingAdmissionPolicy
        | Kind::MutatingAdmissionPolicyBinding
        | Kind::ComponentStatus
        | Kind::Custom(_) => None,
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
    if matches!(found.waits, PendingReason::EvictionRefused { .. }) {
        return false;
    }
    let well = |copy: &Sim| {
        copy.store().get(&found.object).is_some() && diagnose(copy, &found.object).is_none()
    };
    lasts(Host::new(sim.clone()), &well, SOON_S, tasks)
}

/// Returns true if a remedy helps, by trying it on a copy with at most `tasks` tasks.
pub fn works(sim: &Sim, found: &Diagnosis, remedy: &Remedy, tasks: usize) -> bool {
    let mut host = Host::new(sim.clone());
    // The owner of the Pod: if the Pod is replaced, the new one has to be healthy.
    let owner = owners(sim, &found.object).pop();
    let leaving = sim
        .store()
        .get(&found.object)
        .is_some_and(|object| object.meta.is_deleting());
    for step in &remedy.steps {
        let answer = host.run(step);
        if answer.failed || answer.diagnostics.iter().any(|diagnostic| diagnostic.error) {
            return false;
        }
    }
    let copy = &mut host.sim;
    // A resumed CronJob waits for its next run, as expected.
    if found.object.kind == Kind::CronJob && remedy.cure == RemedyKind::Unsuspend {
        copy.advance(Time(copy.now().0 + 1_000_000), tasks);
        return diagnose(copy, &found.object).is_none_or(|now| now.waits == PendingReason::NotDue);
    }
    if remedy.cure == RemedyKind::RunNow {
        // The schedule is unchanged; the remedy is the run itself.
        copy.advance(Time(copy.now().0 + 1_000_000), tasks);
        return copy
            .store()
            .get(&ObjectRef::new(
                Kind::Job,
                &found.object.namespace,
                &remedy.name,
            ))
            .is_some();
    }
    let well = |copy: &Sim| match (copy.store().get(&found.object), &owner) {
        (Some(_), _) => diagnose(copy, &found.object).is_none_or(|now| match now.waits {
            // A CronJob always waits for its next run.
            PendingReason::NotDue => true,
            // Denied connections are a different problem of the Service.
            PendingReason::DeniedByPolicy { .. } => {
                !matches!(found.waits, PendingReason::DeniedByPolicy { .. })
            }
            // Denied connections of the ingress controller are a different problem of the Ingress.
            PendingReason::BackendDenied { .. } => {
                !matches!(found.waits, PendingReason::BackendDenied { .. })
            }
            // A wrong port is a different problem from denied connections too: it only shows once connections are allowed.
            PendingReason::NotListening(_) => {
                matches!(found.waits, PendingReason::DeniedByPolicy { .. })
            }
            _ => false,
        }),
        (None, _) if leaving || remedy.cure == RemedyKind::DeleteVolume => true,
        (None, Some(owner)) => copy.store().get(owner).is_some() && diagnose(copy, owner).is_none(),
        // The object was already gone, and only its watch event is late.
        (None, None) => {
            matches!(remedy.cure, RemedyKind::LetThrough | RemedyKind::ListAnew)
                && diagnose(copy, &found.object).is_none()
        }
    };
    lasts(host, &well, u64::MAX, tasks)
}

/// Returns true if the cluster becomes well within `within_s` seconds and stays so, using at most `tasks` tasks.
fn lasts(mut host: Host, well: &dyn Fn(&Sim) -> bool, within_s: u64, mut tasks: usize) -> bool {
    let mut run = |host: &mut Host, seconds: u64| {
        let went = host.advance(Time(host.sim.now().0 + seconds * 1_000_000), tasks);
        tasks -= went.ran.min(tasks);
        host.run(&Action::Poll);
        went.done
    };
    let mut before = 0;
    for at in CHECK_AFTER_S.into_iter().filter(|at| *at <= within_s) {
        if !run(&mut host, at - before) {
            return false;
        }
        before = at;
        if well(&host.sim) {
            return run(&mut host, MUST_LAST_S) && well(&host.sim);
        }
    }
    false
}
