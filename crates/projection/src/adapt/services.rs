//! Services with their endpoints.

use super::scope::SEEN;
use super::scope::text;
use super::scope::{Lister, id};
use crate::model::{Endpoint, Service, ServicePort};
use cluster::Sim;
use cluster_network::connectivity::unanswered_port;
use i18n::{Message, msg};
use k8s_model::natural::natural_cmp;
use k8s_model::network::{EndpointSlice, SERVICE_NAME, TargetRef};
use k8s_model::{Kind, Object, ObjectRef, Str, Uid};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Maximum number of Pods compared with Services without endpoints, to find the nearest one: each such Service is compared with all.
const MAX_COMPARED_PODS: usize = 10_000;

/// Number of Pods whose listing takes as long as reading many Services.
const MANY_PODS: usize = 1_000;

/// Services as last read.
#[derive(Clone, Debug, Default)]
pub(super) struct ServiceCache(BTreeMap<Uid, ReadService>);

/// Service as read, with the versions of it and its EndpointSlices.
#[derive(Clone, Debug)]
struct ReadService {
    version: u64,
    slices: Vec<u64>,
    service: Rc<Service>,
    /// Target Pods of its endpoints, if these are few: very many are not checked one by one.
    targets: Vec<(usize, Uid)>,
}

/// Services being read in parts.
#[derive(Default)]
pub(super) struct ServiceReading {
    objects: Vec<Rc<Object>>,
    /// EndpointSlices, by namespace and name of their Service.
    slices: BTreeMap<(Str, Str), Vec<Rc<Object>>>,
    /// Index of the first of `objects` that is not read yet.
    next: usize,
    /// All Pods, listed when first needed, and the number compared so far.
    pods: OnceCell<Vec<Rc<Object>>>,
    compared: usize,
    services: Vec<Rc<Service>>,
}

impl ServiceReading {
    pub fn new(objects: Vec<Rc<Object>>, slices: Vec<Rc<Object>>) -> ServiceReading {
        let mut of_service: BTreeMap<(Str, Str), Vec<Rc<Object>>> = BTreeMap::new();
        for slice in slices {
            let Some(name) = slice.meta.label(SERVICE_NAME) else {
                continue;
            };
            of_service
                .entry((slice.meta.namespace.clone(), name.clone()))
                .or_default()
                .push(slice);
        }
        ServiceReading {
            objects,
            slices: of_service,
            ..ServiceReading::default()
        }
    }

    /// Reads up to `most` more Services, fewer if many Pods had to be listed. A Service is read again if it or one of its slices was
    /// written. Returns true when all are read.
    pub fn read(
        &mut self,
        known: &mut ServiceCache,
        most: usize,
        of: Lister,
        gone: &dyn Fn(Uid) -> bool,
    ) -> bool {
        let to = self.next.saturating_add(most).min(self.objects.len());
        let lists_many = |reading: &ServiceReading| {
            reading
                .pods
                .get()
                .is_some_and(|pods| pods.len() > MANY_PODS)
        };
        let listed_many = lists_many(self);
        while self.next < to && lists_many(self) == listed_many {
            self.one(self.next, known, of, gone);
            self.next += 1;
        }
        self.next == self.objects.len()
    }

    /// Returns all Services read, by name.
    pub fn finish(mut self, known: &mut ServiceCache) -> Vec<Rc<Service>> {
        // Deleted Services are dropped once they outnumber the existing ones.
        if known.0.len() > 2 * self.objects.len() {
            let there: BTreeSet<Uid> = self.objects.iter().map(|object| object.meta.uid).collect();
            known.0.retain(|uid, _| there.contains(uid));
        }
        self.services.sort_by(|a, b| a.id.cmp(&b.id));
        self.services
    }

    fn one(&mut self, at: usize, cache: &mut ServiceCache, of: Lister, gone: &dyn Fn(Uid) -> bool) {
        let object = &self.objects[at];
        let Some(body) = object.get::<k8s_model::network::Service>() else {
            return;
        };
        // The API server's own Service has no selector and no Pods.
        if object.meta.name == "kubernetes" && object.meta.namespace == "default" {
            return;
        }
        let own = self
            .slices
            .get(&(object.meta.namespace.clone(), object.meta.name.clone()))
            .map_or(&[][..], Vec::as_slice);
        let is_current = |known: &ReadService| {
            let versions = own.iter().map(|slice| slice.meta.resource_version);
            known.version == object.meta.resource_version
                && known.slices.iter().copied().eq(versions)
        };
        if !cache.0.get(&object.meta.uid).is_some_and(is_current) {
            cache
                .0
                .insert(object.meta.uid, ReadService::of(object, body, own));
        }
        let Some(known) = cache.0.get(&object.meta.uid) else {
            return;
        };
        let mut service = known.service.clone();
        let stale: Vec<usize> = known
            .targets
            .iter()
            .filter(|(_, pod)| gone(*pod))
            .map(|(at, _)| *at)
            .collect();
        let hint = match stale.len() {
            _ if service.endpoints.is_empty() && self.compared < MAX_COMPARED_PODS => {
                let pods = self.pods.get_or_init(|| of(Kind::Pod));
                self.compared += pods.len();
                no_endpoints(object, body, pods)
            }
            0 => Message::default(),
            n => msg::hint_stale_endpoints(n),
        };
        if !hint.is_empty() {
            let changed = Rc::make_mut(&mut service);
            changed.hint = hint;
            stale
                .into_iter()
                .for_each(|at| changed.endpoints[at].gone = true);
        }
        self.services.push(service);
    }
}

impl ReadService {
    fn of(object: &Object, body: &k8s_model::network::Service, own: &[Rc<Object>]) -> ReadService {
        let selector: Vec<String> = body
            .spec
            .selector
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let all = || {
            own.iter()
                .filter_map(|slice| slice.get::<EndpointSlice>())
                .flat_map(|slice| &slice.endpoints)
        };
        let few = all().count() <= SEEN;
        // A slice written by a person may have other targets, or only the names of Pods.
        let leads = |one: &TargetRef| few && one.kind == "Pod" && one.uid != Uid::default();
        let mut listed: Vec<(Endpoint, Option<Uid>)> = all()
            .filter_map(|endpoint| {
                let target = endpoint.target_ref.as_ref()?;
                let read = Endpoint {
                    gone: false,
                    pod: target.name.to_string(),
                    address: endpoint.addresses.first()?.to_string(),
                    hostname: endpoint.hostname.to_string(),
                    ready: endpoint.is_ready(),
                    terminating: endpoint.conditions.terminating.unwrap_or(false),
                    serving: endpoint.conditions.serving.unwrap_or(true),
                };
                Some((read, leads(target).then_some(target.uid)))
            })
            .collect();
        listed.sort_by(|(a, _), (b, _)| natural_cmp(&a.pod, &b.pod).then_with(|| a.cmp(b)));
        listed.dedup_by(|(a, _), (b, _)| a.pod == b.pod);
        let targets = listed
            .iter()
            .enumerate()
            .filter_map(|(at, (_, pod))| Some((at, (*pod)?)))
            .collect();
        let endpoints: Vec<Endpoint> = listed.into_iter().map(|(endpoint, _)| endpoint).collect();
        let form = if body.is_headless() {
            "headless".to_string()
        } else if body.spec.kind.is_empty() {
            "ClusterIP".into()
        } else {
            body.spec.kind.to_string()
        };
        let port = |port: &k8s_model::network::ServicePort| ServicePort {
            port: port.port,
            target: text(Some(&port.target_port)),
        };
        let address = match body.spec.kind.as_str() {
            "ExternalName" => body.spec.external_name.to_string(),
            _ if body.is_headless() => String::new(),
            _ => body.spec.cluster_ip.to_string(),
        };
        let ports = body.spec.ports.iter().map(port).collect();
        let slice = if let [one] = own { Some(id(one)) } else { None };
        let node_ports = body
            .spec
            .ports
            .iter()
            .filter(|port| port.node_port > 0)
            .map(|port| port.node_port.to_string())
            .collect();
        let external = if body.spec.kind == "LoadBalancer" {
            balancer(&body.status)
        } else {
            String::new()
        };
        let (id, selector, slices, hint) = (
            id(object),
            selector.join(","),
            own.len(),
            Message::default(),
        );
        let service = Rc::new(Service {
            id,
            form,
            selector,
            endpoints,
            slices,
            slice,
            address,
            ports,
            node_ports,
            external,
            hint,
        });
        let slices = own
            .iter()
            .map(|slice| slice.meta.resource_version)
            .collect();
        ReadService {
            version: object.meta.resource_version,
            slices,
            service,
            targets,
        }
    }
}

/// Sets a hint on each Service with ready endpoints if nothing listens on one of its ports: the most important fact about it.
pub fn hint_unanswered(services: &mut [Rc<Service>], sim: &Sim) {
    // Very many Services are not checked one by one.
    for service in services
        .iter_mut()
        .take(SEEN)
        .filter(|service| service.hint.is_empty() && service.ready() > 0)
    {
        let object = sim.store().get(&ObjectRef::new(
            Kind::Service,
            &service.id.namespace,
            &service.id.name,
        ));
        if let Some((port, _)) = object.and_then(|object| unanswered_port(sim.store(), object)) {
            Rc::make_mut(service).hint = msg::hint_unanswered(i64::from(port.port));
        }
    }
}

/// Returns the addresses assigned by a load balancer, or [`PENDING`](crate::model::PENDING) if there are none yet.
pub(super) fn balancer(status: &serde_json::Value) -> String {
    let ingress = status["loadBalancer"]["ingress"]
        .as_array()
        .into_iter()
        .flatten();
    let all: Vec<&str> = ingress
        .filter_map(|one| one["ip"].as_str().or(one["hostname"].as_str()))
        .collect();
    if all.is_empty() {
        crate::model::PENDING.into()
    } else {
        all.join(",")
    }
}

/// Reason why a Service has no endpoints: the label in which the nearest Pod differs.
pub(super) fn no_endpoints(
    object: &Object,
    body: &k8s_model::network::Service,
    pods: &[Rc<Object>],
) -> Message {
    let wanted = &body.spec.selector;
    if wanted.is_empty() {
        return msg::hint_no_selector();
    }
    let here = pods
        .iter()
        .filter(|pod| pod.meta.namespace == object.meta.namespace);
    let Some((pod, differs)) = nearest(wanted, here) else {
        return msg::hint_namespace_empty();
    };
    let Some((key, value)) = differs else {
        return msg::hint_no_address(&pod.meta.name);
    };
    match pod.meta.labels.get(key) {
        Some(other) => msg::hint_label_differs(
            format!("{key}={value}"),
            &pod.meta.name,
            format!("{key}={other}"),
        ),
        None => msg::hint_label_missing(format!("{key}={value}"), &pod.meta.name, key),
    }
}

/// Key and value of a label.
pub(super) type LabelPair<'a> = (&'a Str, &'a Str);

/// Returns the first Pod with the most matching labels, and the first label that differs, if any.
pub fn nearest<'a, 'b>(
    wanted: &'b BTreeMap<Str, Str>,
    pods: impl Iterator<Item = &'a Rc<Object>>,
) -> Option<(&'a Rc<Object>, Option<LabelPair<'b>>)> {
    let lacks =
        |pod: &Object, (key, value): &(&Str, &Str)| pod.meta.labels.get(*key) != Some(*value);
    let has = |pod: &Object| wanted.iter().filter(|label| !lacks(pod, label)).count();
    let near = pods
        .map(|pod| (has(pod), pod))
        .reduce(|best, next| if next.0 > best.0 { next } else { best });
    near.map(|(_, pod)| (pod, wanted.iter().find(|label| lacks(pod, label))))
}
