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
    name: "endpointslice-controller",
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

    fn also_wakes(&self, event: &Event<'_>, cache: &Cache, wake: &mut dyn FnMut(ObjectRef)) {
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
    let trigger = trigger_time(object, &pods, out.memory);
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

impl SlicePlan<'_> {
    fn carry_out(
        &self,
        mut wanted: ByPorts,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<(), ApiError> {
        let mine: Vec<Rc<Object>> = view
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
        if wanted.is_empty() {
            // An empty slice indicates that there are no endpoints.
            wanted.insert(Vec::new(), BTreeMap::new());
        }
        let mut spare: Vec<&Rc<Object>> = Vec::new();
        for slice in &mine {
            let body: &EndpointSlice = slice.body();
            let Some(group) = wanted.get_mut(&body.ports) else {
                spare.push(slice);
                continue;
            };
            let mut kept: Vec<Endpoint> = body
                .endpoints
                .iter()
                .filter_map(|e| group.remove(&e.target_ref.as_ref()?.uid))
                .collect();
            let room = MAX_PER_SLICE.saturating_sub(kept.len());
            for uid in group.keys().copied().take(room).collect::<Vec<_>>() {
                kept.extend(group.remove(&uid));
            }
            if kept.is_empty() && !body.endpoints.is_empty() {
                spare.push(slice);
                continue;
            }
            self.update(slice, body.ports.clone(), kept, out)?;
        }
        self.place_rest(wanted, &mine, spare, out)
    }

    /// Fills slices that lost addresses, creates new ones, and deletes surplus slices.
    fn place_rest(
        &self,
        wanted: ByPorts,
        mine: &[Rc<Object>],
        mut spare: Vec<&Rc<Object>>,
        out: &mut LoopClient<'_>,
    ) -> Result<(), ApiError> {
        let kept = mine.len() - spare.len();
        let placeholder = wanted.len() == 1 && wanted.contains_key(&Vec::new()) && kept == 0;
        for (ports, group) in wanted {
            let rest: Vec<Endpoint> = group.into_values().collect();
            if rest.is_empty() && !(placeholder && ports.is_empty()) {
                continue;
            }
            let chunks: Vec<Vec<Endpoint>> = if rest.is_empty() {
                vec![rest]
            } else {
                rest.chunks(MAX_PER_SLICE).map(<[_]>::to_vec).collect()
            };
            for chunk in chunks {
                match spare.pop() {
                    Some(slice) => self.update(slice, ports.clone(), chunk, out)?,
                    None => self.create(ports.clone(), chunk, out)?,
                }
            }
        }
        for (i, slice) in spare.into_iter().enumerate() {
            let is_last = kept == 0 && i == 0 && out.writes == 0;
            if is_last {
                self.update(slice, Vec::new(), Vec::new(), out)?;
            } else {
                out.delete(&slice.key(), Default::default(), self.why.clone())?;
            }
        }
        Ok(())
    }

    fn update(
        &self,
        slice: &Rc<Object>,
        ports: Vec<EndpointPort>,
        endpoints: Vec<Endpoint>,
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
        ports: Vec<EndpointPort>,
        endpoints: Vec<Endpoint>,
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
