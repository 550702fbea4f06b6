//! Lists the addresses behind every Service with a selector, with their conditions, in slices of at most 100.
//!
//! Guarantees: an address stays in its slice; a Service without addresses keeps one empty slice.
//! Models `pkg/controller/endpointslice/endpointslice_controller.go` and `k8s.io/endpointslice/reconciler.go`.

use super::backends::{
    annotate, has_address, hostname, labels, ports_for, selected, target, trigger_time,
};
use super::{Controller, Event, Watch};
use crate::backends;
use apiserver::ApiError;
use apiserver::why::Why;
use apiserver::{Component, ControllerId};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::Descriptor;
use controller_runtime::informer::Cache;
use k8s_model::network::{
    Endpoint, EndpointConditions, EndpointPort, EndpointSlice, SERVICE_NAME, Service,
};
use k8s_model::pod::Pod;
use k8s_model::{Body, Kind, Labels, Object, ObjectMeta, ObjectRef, Str, Timestamp, Uid};
use serde_json::{Value, json};
use smol_str::format_smolstr;
use std::collections::BTreeMap;
use std::rc::Rc;

const MAX_PER_SLICE: usize = 100;
const MANAGER: &str = "endpointslice-controller.k8s.io";

/// UI descriptor of the controller.
static DESCRIPTOR: Descriptor = Descriptor {
    component: Component::Controller(&ControllerId::new("endpointslice-controller")),
    aliases: &[],
    title: "endpointslice",
    icon: "i-endpointslice",
    lane: "endpoints",
    always_shown: true,
    code: super::backends::CODE,
};

/// EndpointSlice controller.
pub struct EndpointSliceController;

impl Controller for EndpointSliceController {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn watches(&self) -> &'static [Watch] {
        const WATCHES: &[Watch] = &[
            backends::WATCHES[0],
            backends::WATCHES[1],
            Watch::Owns(Kind::Service, Kind::EndpointSlice),
        ];
        WATCHES
    }

    fn kind(&self) -> Option<Kind> {
        Some(Kind::EndpointSlice)
    }

    fn serves(&self, object: &Object) -> bool {
        object.kind == Kind::Service
    }

    fn map_event(&self, event: &Event<'_>, cache: &Cache, wake: &mut dyn FnMut(ObjectRef)) {
        backends::services_of(event, cache, wake);
    }

    fn reconcile(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<Action, ApiError> {
        let Some((object, service)) = view.cache.get::<Service>(key) else {
            return Ok(Action::AwaitChange);
        };
        if service.spec.selector.is_empty() || object.meta.is_deleting() {
            return Ok(Action::AwaitChange);
        }
        if !view.sees_own_writes {
            return Ok(Action::RequeueAfter(k8s_model::time::MS));
        }
        sync(object, service, view, out)
    }
}

fn sync(
    object: &Rc<Object>,
    service: &Service,
    view: &PassView<'_>,
    out: &mut LoopClient<'_>,
) -> Result<Action, ApiError> {
    let pods = selected(object, service, view.cache);
    let trigger = trigger_time(object, &pods, out.state);
    let wanted = wanted(object, service, &pods, view.cache);
    let mut all = wanted.values().flatten();
    let ready = all
        .clone()
        .filter(|(_, e)| e.conditions.ready == Some(true))
        .count() as u32;
    let plan = SlicePlan {
        object,
        labels: labels(
            object,
            service,
            &[
                ("endpointslice.kubernetes.io/managed-by", MANAGER),
                (SERVICE_NAME, &object.meta.name),
            ],
        ),
        trigger,
        why: Why::Endpoints {
            ready,
            all: all.by_ref().count() as u32,
        },
    };
    plan.carry_out(wanted, view, out)?;
    Ok(Action::AwaitChange)
}

type ByPorts = BTreeMap<Vec<EndpointPort>, BTreeMap<Uid, Endpoint>>;

/// Returns the desired endpoints of the Service, by ports and Pod.
fn wanted(object: &Object, service: &Service, pods: &[&Rc<Object>], cache: &Cache) -> ByPorts {
    let mut by_ports = ByPorts::new();
    for pod in pods {
        let body: &Pod = pod.body();
        if !has_address(body) {
            continue;
        }
        let ports = ports_for(service, body, true);
        by_ports
            .entry(ports)
            .or_default()
            .insert(pod.meta.uid, endpoint(object, service, pod, cache));
    }
    by_ports
}

/// Builds the endpoint of a Pod; a terminating Pod may still serve, but is not ready for new requests.
fn endpoint(object: &Object, service: &Service, pod: &Object, cache: &Cache) -> Endpoint {
    let body: &Pod = pod.body();
    let node = cache.object(&ObjectRef::new(Kind::Node, "", &body.node_name));
    let zone = node
        .and_then(|node| node.meta.label("topology.kubernetes.io/zone"))
        .cloned()
        .unwrap_or_default();
    let (serving, terminating) = (body.is_ready(), pod.meta.is_deleting());
    let ready = service.spec.publish_not_ready_addresses || (serving && !terminating);
    Endpoint {
        addresses: vec![body.status.pod_ip.clone()],
        conditions: EndpointConditions {
            ready: Some(ready),
            serving: Some(serving),
            terminating: Some(terminating),
        },
        hints: if ready {
            hints(&service.spec.traffic_distribution, &zone, &body.node_name)
        } else {
            BTreeMap::new()
        },
        hostname: hostname(object, pod),
        node_name: body.node_name.clone(),
        target_ref: Some(target(pod)),
        zone,
    }
}

/// Returns the topology hints that `trafficDistribution` asks for.
fn hints(distribution: &str, zone: &str, node: &str) -> BTreeMap<Str, Value> {
    let mut hints = BTreeMap::new();
    let mut add = |field: &'static str, name: &str| {
        drop(hints.insert(Str::new_static(field), json!([{ "name": name }])))
    };
    if matches!(
        distribution,
        "PreferClose" | "PreferSameZone" | "PreferSameNode"
    ) && !zone.is_empty()
    {
        add("forZones", zone);
    }
    if distribution == "PreferSameNode" && !node.is_empty() {
        add("forNodes", node);
    }
    hints
}

/// Values shared by all slices written in one pass.
struct SlicePlan<'p> {
    object: &'p Rc<Object>,
    labels: Labels,
    trigger: Option<Timestamp>,
    why: Why,
}

/// Desired content of a slice.
#[derive(Clone, PartialEq, Debug)]
struct SliceContent {
    ports: Vec<EndpointPort>,
    endpoints: Vec<Endpoint>,
}

/// Changes to the slices of a Service.
#[derive(Default)]
struct SliceChanges<'s> {
    create: Vec<SliceContent>,
    update: Vec<(&'s Rc<Object>, SliceContent)>,
    delete: Vec<&'s Rc<Object>>,
}

/// Slice with the desired ones of its endpoints.
struct KeptSlice<'s> {
    slice: &'s Rc<Object>,
    endpoints: Vec<Endpoint>,
    is_changed: bool,
}

impl KeptSlice<'_> {
    fn room(&self) -> usize {
        MAX_PER_SLICE.saturating_sub(self.endpoints.len())
    }

    /// Moves endpoints into the slice until it is full.
    fn fill(&mut self, desired: &mut BTreeMap<Uid, Endpoint>) {
        let count = self.room().min(desired.len());
        self.is_changed |= count > 0;
        self.endpoints.extend(pop(desired, count));
    }
}

fn pop(desired: &mut BTreeMap<Uid, Endpoint>, count: usize) -> impl Iterator<Item = Endpoint> {
    (0..count).map_while(|_| desired.pop_first().map(|(_, endpoint)| endpoint))
}

impl<'s> SliceChanges<'s> {
    /// Plans the changes that lead from the existing slices to the desired endpoints (`reconcileByAddressType`).
    fn plan(existing: &'s [Rc<Object>], desired: ByPorts, labels: &Labels) -> SliceChanges<'s> {
        let mut changes = SliceChanges::default();
        let mut by_ports: BTreeMap<&[EndpointPort], Vec<&'s Rc<Object>>> = BTreeMap::new();
        for slice in existing {
            let ports = &slice.body::<EndpointSlice>().ports;
            by_ports.entry(ports).or_default().push(slice);
        }
        for (ports, endpoints) in desired {
            let slices = by_ports.remove(ports.as_slice()).unwrap_or_default();
            changes.reconcile_by_port_mapping(ports, slices, endpoints, labels);
        }
        changes.delete.extend(by_ports.into_values().flatten());
        if changes.delete.len() == existing.len() && changes.create.is_empty() {
            // An empty slice indicates that there are no endpoints.
            changes.create.push(SliceContent {
                ports: Vec::new(),
                endpoints: Vec::new(),
            });
        }
        // Slices that would be deleted take the content of those that would be created (`finalize`).
        while !changes.delete.is_empty()
            && let Some(content) = changes.create.pop()
        {
            changes.update.push((changes.delete.remove(0), content));
        }
        changes
    }

    /// Plans the changes to the slices of one set of ports: endpoints stay in their slice; further ones fill the slices that change
    /// anyway, then the unchanged slice that they fit best, then new slices.
    fn reconcile_by_port_mapping(
        &mut self,
        ports: Vec<EndpointPort>,
        existing: Vec<&'s Rc<Object>>,
        mut desired: BTreeMap<Uid, Endpoint>,
        labels: &Labels,
    ) {
        let mut kept: Vec<KeptSlice<'s>> = Vec::new();
        for slice in existing {
            let current = &slice.body::<EndpointSlice>().endpoints;
            let endpoints: Vec<Endpoint> = current
                .iter()
                .filter_map(|endpoint| desired.remove(&endpoint.target_ref.as_ref()?.uid))
                .collect();
            if endpoints.is_empty() && !current.is_empty() {
                self.delete.push(slice);
                continue;
            }
            kept.push(KeptSlice {
                slice,
                is_changed: endpoints != *current || slice.meta.labels != *labels,
                endpoints,
            });
        }
        let mut changed: Vec<_> = kept.iter_mut().filter(|slice| slice.is_changed).collect();
        changed.sort_by_key(|slice| slice.room());
        for slice in changed {
            slice.fill(&mut desired);
        }
        while !desired.is_empty() {
            let best = kept
                .iter_mut()
                .filter(|slice| desired.len() < MAX_PER_SLICE && !slice.is_changed)
                .filter(|slice| slice.room() >= desired.len())
                .min_by_key(|slice| slice.room());
            match best {
                Some(slice) => slice.fill(&mut desired),
                None => self.create.push(SliceContent {
                    ports: ports.clone(),
                    endpoints: pop(&mut desired, MAX_PER_SLICE).collect(),
                }),
            }
        }
        for slice in kept.into_iter().filter(|slice| slice.is_changed) {
            let content = SliceContent {
                ports: ports.clone(),
                endpoints: slice.endpoints,
            };
            self.update.push((slice.slice, content));
        }
    }
}

impl SlicePlan<'_> {
    fn carry_out(
        &self,
        desired: ByPorts,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<(), ApiError> {
        let existing: Vec<Rc<Object>> = view
            .cache
            .owned_of_kind(self.object.meta.uid, Kind::EndpointSlice)
            .filter(|s| {
                s.meta
                    .label("endpointslice.kubernetes.io/managed-by")
                    .is_some_and(|v| v == MANAGER)
                    && !s.meta.is_deleting()
            })
            .cloned()
            .collect();
        let changes = SliceChanges::plan(&existing, desired, &self.labels);
        for content in changes.create {
            self.create(content, out)?;
        }
        for (slice, content) in changes.update {
            self.update(slice, content, out)?;
        }
        for slice in changes.delete {
            out.delete(&slice.key(), Default::default(), self.why.clone())?;
        }
        Ok(())
    }

    fn update(
        &self,
        slice: &Rc<Object>,
        SliceContent { ports, endpoints }: SliceContent,
        out: &mut LoopClient<'_>,
    ) -> Result<(), ApiError> {
        let body: &EndpointSlice = slice.body();
        if body.endpoints == endpoints && body.ports == ports && slice.meta.labels == self.labels {
            return Ok(());
        }
        out.update(slice, self.why.clone(), |o| {
            o.meta.labels = self.labels.clone();
            annotate(&mut o.meta, self.trigger);
            o.body = Body::EndpointSlice(Box::new(EndpointSlice {
                address_type: "IPv4".into(),
                endpoints,
                ports,
            }));
        })?;
        Ok(())
    }

    fn create(
        &self,
        SliceContent { ports, endpoints }: SliceContent,
        out: &mut LoopClient<'_>,
    ) -> Result<(), ApiError> {
        let mut meta = ObjectMeta {
            generate_name: format_smolstr!("{}-", self.object.meta.name).into(),
            namespace: self.object.meta.namespace.clone(),
            labels: self.labels.clone(),
            owner_references: Rc::new(vec![self.object.controller_reference()]),
            ..Default::default()
        };
        annotate(&mut meta, self.trigger);
        let body = Body::EndpointSlice(Box::new(EndpointSlice {
            address_type: "IPv4".into(),
            endpoints,
            ports,
        }));
        out.create(
            Object {
                kind: Kind::EndpointSlice,
                meta,
                body,
            },
            self.why.clone(),
        )?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_model::network::TargetRef;

    fn endpoint(uid: u128) -> Endpoint {
        Endpoint {
            target_ref: Some(TargetRef {
                uid: Uid(uid),
                ..Default::default()
            }),
            ..Default::default()
        }
    }

    fn slice(uids: std::ops::Range<u128>) -> Rc<Object> {
        Rc::new(Object {
            kind: Kind::EndpointSlice,
            meta: ObjectMeta::default(),
            body: Body::EndpointSlice(Box::new(EndpointSlice {
                endpoints: uids.map(endpoint).collect(),
                ..Default::default()
            })),
        })
    }

    /// Lengths of the slices after a change to these endpoints: updated by index, created, and the indexes of those deleted.
    fn lengths(
        existing: &[Rc<Object>],
        uids: impl Iterator<Item = u128>,
    ) -> (Vec<(usize, usize)>, Vec<usize>, Vec<usize>) {
        let desired = uids.map(|uid| (Uid(uid), endpoint(uid))).collect();
        let desired = ByPorts::from([(Vec::new(), desired)]);
        let changes = SliceChanges::plan(existing, desired, &Labels::default());
        let index = |slice: &Rc<Object>| {
            let mut all = existing.iter();
            all.position(|one| Rc::ptr_eq(one, slice)).unwrap()
        };
        let updated = changes.update.iter();
        (
            updated
                .map(|(slice, content)| (index(slice), content.endpoints.len()))
                .collect(),
            changes.create.iter().map(|c| c.endpoints.len()).collect(),
            changes.delete.into_iter().map(index).collect(),
        )
    }

    #[test]
    fn new_endpoints_fill_the_unchanged_slice_that_they_fit_best() {
        let existing = [slice(0..50), slice(100..190), slice(200..280)];
        let old = (0..50).chain(100..190).chain(200..280);
        let updated = |count: u128| lengths(&existing, old.clone().chain(1000..1000 + count));
        assert_eq!(updated(10), (vec![(1, 100)], vec![], vec![]));
        assert_eq!(updated(15), (vec![(2, 95)], vec![], vec![]));
        assert_eq!(
            updated(60),
            (vec![], vec![60], vec![]),
            "no single slice has room"
        );
    }

    #[test]
    fn new_endpoints_fill_the_fullest_slices_that_change_anyway() {
        let existing = [slice(0..50), slice(100..190), slice(200..280)];
        let kept = (0..49).chain(100..189).chain(200..280);
        let changed = lengths(&existing, kept.chain(1000..1020));
        assert_eq!(changed, (vec![(0, 58), (1, 100)], vec![], vec![]));
    }

    #[test]
    fn emptied_slice_is_used_again_for_endpoints_that_fit_nowhere() {
        let existing = [slice(0..50), slice(100..200)];
        let changed = lengths(&existing, (100..200).chain(1000..1010));
        assert_eq!(changed, (vec![(0, 10)], vec![], vec![]));
        let all_gone = lengths(&existing, 0..0);
        assert_eq!(all_gone, (vec![(0, 0)], vec![], vec![1]));
    }
}
