//! Lists the ready and the unready addresses behind every Service with a selector, in the legacy Endpoints API.
//!
//! Models `pkg/controller/endpoint/endpoints_controller.go`.

use super::backends::{
    annotate, has_address, hostname, labels, ports_for, selected, target, trigger_time,
};
use super::{Controller, Event, Watch};
use crate::backends;
use apiserver::ApiError;
use apiserver::journal::Op;
use apiserver::why::Why;
use apiserver::{Component, ControllerId};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::Descriptor;
use controller_runtime::informer::Cache;
use k8s_model::network::{Address, EndpointPort, Endpoints, Service, Subset};
use k8s_model::pod::Pod;
use k8s_model::{Body, Kind, Object, ObjectMeta, ObjectRef};
use smol_str::format_smolstr;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Identity of the controller.
pub static ID: ControllerId = ControllerId::new("endpoint-controller");

/// UI descriptor of the controller.
static DESCRIPTOR: Descriptor = Descriptor {
    component: Component::Controller(&ID),
    aliases: &[],
    title: "endpoint",
    icon: "i-endpointslice",
    lane: "endpoints",
    always_shown: false,
    code: super::backends::CODE,
};

/// Endpoints controller.
pub struct EndpointsController;

impl Controller for EndpointsController {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn watches(&self) -> &'static [Watch] {
        const WATCHES: &[Watch] = &[
            backends::WATCHES[0],
            backends::WATCHES[1],
            Watch::Maps(Kind::Endpoints),
        ];
        WATCHES
    }

    fn kind(&self) -> Option<Kind> {
        Some(Kind::Endpoints)
    }

    fn serves(&self, object: &Object) -> bool {
        object.kind == Kind::Service
    }

    /// Wakes the Services of a changed Pod, and the Service of deleted Endpoints, which are then recreated.
    fn map_event(&self, event: &Event<'_>, cache: &Cache, wake: &mut dyn FnMut(ObjectRef)) {
        if event.object.kind == Kind::Pod {
            backends::services_of(event, cache, wake);
        } else if event.op == Op::Deleted {
            wake(ObjectRef {
                kind: Kind::Service,
                ..event.object.key()
            });
        }
    }

    fn reconcile(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<Action, ApiError> {
        let endpoints = ObjectRef {
            kind: Kind::Endpoints,
            ..key.clone()
        };
        let Some((object, service)) = view.cache.get::<Service>(key) else {
            // The Endpoints of a deleted Service are deleted too.
            if out.store().get(&endpoints).is_some() {
                out.delete(
                    &endpoints,
                    Default::default(),
                    Why::OwnerGone {
                        owner: format_smolstr!("Service {}", key.name),
                    },
                )?;
            }
            return Ok(Action::AwaitChange);
        };
        if service.spec.selector.is_empty() {
            return Ok(Action::AwaitChange);
        }
        sync(&endpoints, object, service, view, out)
    }
}

fn sync(
    endpoints: &ObjectRef,
    object: &Object,
    service: &Service,
    view: &PassView<'_>,
    out: &mut LoopClient<'_>,
) -> Result<Action, ApiError> {
    let pods = selected(object, service, view.cache);
    let trigger = trigger_time(object, &pods, out.state);
    let subsets = subsets(object, service, &pods);
    let count = |list: fn(&Subset) -> usize| subsets.iter().map(list).sum::<usize>() as u32;
    let ready = count(|s| s.addresses.len());
    let why = Why::Endpoints {
        ready,
        all: ready + count(|s| s.not_ready_addresses.len()),
    };
    let labels = labels(
        object,
        service,
        &[("endpoints.kubernetes.io/managed-by", ID.name)],
    );
    let Some((old, body)) = view.cache.get::<Endpoints>(endpoints) else {
        let mut meta = ObjectMeta {
            name: endpoints.name.clone(),
            namespace: endpoints.namespace.clone(),
            labels,
            ..Default::default()
        };
        annotate(&mut meta, trigger);
        out.create(
            Object {
                kind: Kind::Endpoints,
                meta,
                body: Body::Endpoints(Box::new(Endpoints { subsets })),
            },
            why,
        )?;
        return Ok(Action::AwaitChange);
    };
    if body.subsets != subsets || old.meta.labels != labels {
        out.update(old, why, |o| {
            o.meta.labels = labels;
            annotate(&mut o.meta, trigger);
            o.body = Body::Endpoints(Box::new(Endpoints { subsets }));
        })?;
    }
    Ok(Action::AwaitChange)
}

/// Groups addresses into subsets by their ports.
fn subsets(object: &Object, service: &Service, pods: &[&Rc<Object>]) -> Vec<Subset> {
    let mut by_ports: BTreeMap<Vec<EndpointPort>, Subset> = BTreeMap::new();
    let unready_too = service.spec.publish_not_ready_addresses;
    for pod in pods {
        let body: &Pod = pod.body();
        if !has_address(body) || (pod.meta.is_deleting() && !unready_too) {
            continue;
        }
        let ports = ports_for(service, body, false);
        if ports.is_empty() && !service.is_headless() {
            continue;
        }
        let address = Address {
            hostname: hostname(object, pod),
            ip: body.status.pod_ip.clone(),
            node_name: body.node_name.clone(),
            target_ref: Some(target(pod)),
        };
        let subset = by_ports.entry(ports.clone()).or_insert_with(|| Subset {
            ports,
            ..Default::default()
        });
        if body.is_ready() || unready_too {
            subset.addresses.push(address)
        } else {
            subset.not_ready_addresses.push(address)
        }
    }
    let mut subsets: Vec<Subset> = by_ports.into_values().collect();
    for subset in &mut subsets {
        subset.addresses.sort_by(|a, b| a.ip.cmp(&b.ip));
        subset.not_ready_addresses.sort_by(|a, b| a.ip.cmp(&b.ip));
    }
    subsets
}
