//! The loops, one file or folder each. A new loop is one file here and one line in `ALL`.
//!
//! # Adding a control loop
//!
//! (2 files: its own and `src/lib.rs`).
//!
//! 1. `src/<name>.rs` (or a folder). Its header states the guarantees and the upstream source that it
//!    models. A `static DESCRIPTOR: Descriptor` has its identity, title, icon (of `static/icons.svg`), lane of the timeline and the pseudo-code of a
//!    pass, or `GENERIC`. `impl Controller` returns that descriptor and its watches, and has `reconcile`, which writes through `LoopClient`, each
//!    write with a `Why`.
//! 2. In `src/lib.rs`: `mod <name>;` and a line in `ALL`. The work queue, timeline, ring of loops and console find it there.
//!
//! A write for a new reason needs a new variant of `Why` (`crates/apiserver/src/why.rs`), and in `crates/explain/src/why/` its words, facts
//! and role: the compiler names the places.
//! `namespace.rs` and `ttl_after_finished.rs` are short examples to copy.
//!
//! A loop that a ControlLoop describes is no file here: `scripted/` runs its program.

mod autoscaler;
mod backends;
mod certificate_signer;
mod cluster_role_aggregation;
mod controller;
pub mod cronjob;
mod daemonset;
pub mod definitions;
mod deletion_order;
mod deployment;
mod disruption;
mod endpoints;
mod endpointslice;
mod event_driven;
mod garbage_collector;
mod gateway;
mod history;
mod ingress;
pub mod job;
mod namespace;
mod node_lifecycle;
mod ownership;
mod pod_gc;
mod protection;
mod provisioner;
mod replicaset;
mod resizer;
mod resource_quota;
mod root_ca;
pub mod scripted;
mod service_account;
mod statefulset;
pub mod taint_eviction;
mod ttl_after_finished;
mod volume_binder;

pub use autoscaler::{SCALER_PERIOD_SECONDS, conditions as autoscaler_conditions};
pub use controller::{Controller, Watch};
pub use controller_runtime::watch::Event;
pub use daemonset::pod_for_simulation as daemon_pod;
pub use endpoints::ID as ENDPOINTS;
pub use node_lifecycle::ID as NODE_LIFECYCLE;
pub use replicaset::REPLICA_SETS;
pub use volume_binder::CLAIM_RESYNC_SECONDS;

use apiserver::Component;
use controller_runtime::informer::Cache;
use k8s_model::{Kind, Object, ObjectRef};

/// All controllers, in the order in which their queues are shown.
pub static ALL: &[&(dyn Controller + Sync)] = &[
    &deployment::DeploymentController,
    &replicaset::REPLICA_SETS,
    &event_driven::EventDrivenReplicaSets,
    &replicaset::REPLICATION_CONTROLLERS,
    &statefulset::StatefulSetController,
    &job::JobController,
    &cronjob::CronJobController,
    &ttl_after_finished::TtlAfterFinished,
    &autoscaler::HorizontalPodAutoscaler,
    &daemonset::DaemonSetController,
    &endpoints::EndpointsController,
    &endpointslice::EndpointSliceController,
    &ingress::IngressController,
    &gateway::GatewayController,
    &volume_binder::VolumeBinder,
    &provisioner::Provisioner,
    &resizer::Resizer,
    &protection::ClaimProtection,
    &protection::VolumeProtection,
    &garbage_collector::GarbageCollector,
    &namespace::NamespaceController,
    &node_lifecycle::NodeLifecycle,
    &disruption::DisruptionController,
    &taint_eviction::TaintEviction,
    &pod_gc::PodGarbageCollector,
    &service_account::ServiceAccountController,
    &root_ca::RootCaPublisher,
    &resource_quota::QuotaController,
    &definitions::DefinitionsController,
    &cluster_role_aggregation::ClusterRoleAggregation,
    &certificate_signer::CertificateSigner,
];

/// Returns the controller with this identity.
pub fn controller(component: Component) -> Option<&'static (dyn Controller + Sync)> {
    ALL.iter()
        .copied()
        .find(|controller| controller.component() == component)
}

/// Returns true if the component is the controller of the kind.
pub fn is_controller_of(component: Component, kind: Kind) -> bool {
    controller(component).is_some_and(|controller| controller.kind() == Some(kind))
}

/// Index of the route shared by all custom kinds: a watch of one custom kind watches all.
const ALL_CUSTOM: usize = k8s_model::kind::ALL.len();

/// Watching controllers by kind, each with its kind of watch.
pub type Routes = Vec<Vec<(usize, Watch)>>;

/// Builds the routes of all controllers, once per cluster.
pub fn routes() -> Routes {
    let mut routes = vec![Vec::new(); ALL_CUSTOM + 1];
    for (i, controller) in ALL.iter().enumerate() {
        for watch in controller.watches() {
            let (Watch::For(kind) | Watch::Owns(_, kind) | Watch::Maps(kind)) = *watch;
            routes[kind.index().min(ALL_CUSTOM)].push((i, *watch));
        }
    }
    routes
}

/// Calls `wake` with each key that an event wakes and the index of its controller.
pub fn woken_by(
    routes: &Routes,
    event: &Event<'_>,
    cache: &Cache,
    wake: &mut dyn FnMut(usize, ObjectRef),
) {
    for (i, watch) in &routes[event.object.kind.index().min(ALL_CUSTOM)] {
        match *watch {
            Watch::For(_) => wake(*i, event.object.key()),
            Watch::Owns(owner, _) => {
                wake_owner(owner, event.object, &mut |key| wake(*i, key));
                if let Some(before) = event.before
                    && before.meta.controller().map(|o| o.uid)
                        != event.object.meta.controller().map(|o| o.uid)
                {
                    wake_owner(owner, before, &mut |key| wake(*i, key));
                }
            }
            Watch::Maps(_) => ALL[*i].map_event(event, cache, &mut |key| wake(*i, key)),
        }
    }
}

fn wake_owner(owner: Kind, object: &Object, wake: &mut dyn FnMut(ObjectRef)) {
    if let Some(reference) = object.meta.controller()
        && reference.is_kind(owner)
    {
        wake(ObjectRef {
            kind: owner,
            namespace: object.meta.namespace.clone(),
            name: reference.name.clone(),
        });
    }
}
