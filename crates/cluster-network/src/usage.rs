//! Usage of Pods as the resource metrics API shows it: what faults set, and otherwise what the requests cost that reach a Pod.
//!
//! No request is sent. Containers that send requests in a loop ([`Loads`]) have a rate, from the pauses of the loop and the time that each
//! request takes; where the requests arrive is evaluated on the current objects when the usage is read, and each costs the server CPU time.
//! A container uses at most its limit. The cluster has a metrics server if one is installed (its APIService is available), while a load is
//! set, and from the first such loop on; it reports a CPU usage of every running Pod, but memory only where a load is set. Models
//! `metrics-server/pkg/api`.

use crate::connectivity::{
    Attempt, RequestOutcome, connect_each, endpoint_of, host_and_port, server_of,
};
use crate::http_client::failure_time;
use apiserver::Store;
use controller_runtime::load::{self, LoadGenerator, Loads, LoopRequest, RequestRound};
use k8s_model::node::Node;
use k8s_model::pod::Pod;
use k8s_model::quantity::milli_of;
use k8s_model::time::{MS, SECOND};
use k8s_model::{Duration, Kind, Labels, Object, ObjectRef, Str, Uid};
use std::collections::BTreeMap;
use std::rc::Rc;

/// CPU time that a request costs its server unless the Pod says otherwise: the work of `registry.k8s.io/hpa-example`.
const REQUEST_CPU_US: Duration = 20 * MS;
/// Time that a request takes beside the work of the server: the client's start, the lookup of the name, the connection.
const REQUEST_US: Duration = MS;
/// Annotation with the CPU time that a request costs a Pod, in seconds.
const REQUEST_CPU: &str = "loopscope.dev/request-cpu";
/// Longest CPU time of a request.
const MAX_REQUEST_CPU_US: Duration = 3_600 * SECOND;
/// APIService of a metrics server.
const API_SERVICE: &str = "v1beta1.metrics.k8s.io";

/// Usage of Pods at the current time; what several of them share is computed once.
#[derive(Debug)]
pub struct Usage<'a> {
    store: &'a Store,
    loads: &'a Loads,
    /// Installed metrics server: true if it serves; `None` if there is none.
    installed: Option<bool>,
    shares: BTreeMap<(usize, Str), i64>,
    /// CPU usage of the Pods that requests reach, in thousandths, once it is asked for.
    served: Option<BTreeMap<Uid, i64>>,
}

impl<'a> Usage<'a> {
    pub fn new(store: &'a Store, loads: &'a Loads) -> Usage<'a> {
        Usage {
            store,
            loads,
            installed: installed(store),
            shares: BTreeMap::new(),
            served: None,
        }
    }

    /// Returns true if the resource metrics API is registered.
    pub fn is_registered(&self) -> bool {
        self.installed.is_some() || self.is_available()
    }

    /// Returns true if the cluster serves the resource metrics API.
    pub fn is_available(&self) -> bool {
        self.measures() || !self.loads.set.is_empty()
    }

    /// Returns true if every running Pod is measured.
    fn measures(&self) -> bool {
        self.installed == Some(true) || self.loads.has_generated()
    }

    /// Returns true if the API has an entry of a Pod.
    pub fn is_known(&self, pod: &Object) -> bool {
        load::is_running(pod)
            && (self.measures()
                || ["cpu", "memory"]
                    .iter()
                    .any(|what| load::of(&self.loads.set, what, pod).is_some()))
    }

    /// Returns the usage of a Pod in thousandths; `None` if it does not run or the usage is not known.
    pub fn of(&mut self, what: &str, pod: &Object) -> Option<i64> {
        match load::of(&self.loads.set, what, pod) {
            Some(load) => {
                let mut all = self.loads.set.iter();
                let place = all.position(|other| std::ptr::eq(other, load)).unwrap_or(0);
                let (store, namespace) = (self.store, &pod.meta.namespace);
                let share = self.shares.entry((place, namespace.clone()));
                Some(*share.or_insert_with(|| load::share(load, store, namespace)))
            }
            None if what == "cpu" && self.measures() && load::is_running(pod) => {
                let (store, loads) = (self.store, self.loads);
                let served = self.served.get_or_insert_with(|| served(store, loads));
                Some(served.get(&pod.meta.uid).copied().unwrap_or(0))
            }
            None => None,
        }
    }
}

/// Returns true if the metrics server that is installed serves; `None` if its API is not registered.
fn installed(store: &Store) -> Option<bool> {
    let registered = store.get(&ObjectRef::new(Kind::APIService, "", API_SERVICE))?;
    let service = &registered.to_value()["spec"]["service"];
    let text = |name: &str| service[name].as_str().unwrap_or("");
    let service = ObjectRef::new(Kind::Service, text("namespace"), text("name"));
    Some(endpoint_of(store, &service, 0).is_some())
}

/// Clients whose requests end alike: namespace and labels decide about names and policies.
type Clients<'a> = (&'a Str, &'a Labels, &'a RequestRound);

/// Returns the CPU usage of each Pod that requests reach, in thousandths.
fn served(store: &Store, loads: &Loads) -> BTreeMap<Uid, i64> {
    let mut clients: Vec<(Clients<'_>, &Rc<Object>, i64)> = Vec::new();
    for (uid, generator) in loads.generators() {
        let Some(pod) = client(store, uid, generator) else {
            continue;
        };
        let key: Clients<'_> = (&pod.meta.namespace, &pod.meta.labels, &generator.round);
        match clients.iter_mut().find(|(known, ..)| *known == key) {
            Some((.., count)) => *count += 1,
            None => clients.push((key, pod, 1)),
        }
    }
    // Demand of each container, in millionths.
    let mut demands: BTreeMap<(Uid, Str), (Rc<Object>, i64)> = BTreeMap::new();
    for ((.., round), pod, count) in clients {
        add_demand(store, pod, round, count, &mut demands);
    }
    let mut served = BTreeMap::new();
    for ((uid, container), (pod, demand)) in demands {
        let sum: &mut i64 = served.entry(uid).or_default();
        let used = (demand / 1_000).min(limit(store, &pod, &container));
        *sum = sum.saturating_add(used);
    }
    served
}

/// Returns the Pod of a loop that goes on.
fn client<'a>(store: &'a Store, uid: Uid, generator: &LoadGenerator) -> Option<&'a Rc<Object>> {
    let pod = store
        .get(&generator.pod)
        .filter(|pod| pod.meta.uid == uid)?;
    let status = pod.pod()?.status.of_container(&generator.container)?;
    status.state.running.as_ref()?;
    let is_over = generator.shell.is_some_and(|shell| store.now > shell.until);
    Some(pod).filter(|_| !is_over)
}

/// Adds the demand of some clients that send the same requests.
fn add_demand(
    store: &Store,
    pod: &Rc<Object>,
    round: &RequestRound,
    clients: i64,
    demands: &mut BTreeMap<(Uid, Str), (Rc<Object>, i64)>,
) {
    let ends: Vec<Vec<Attempt>> = round
        .requests
        .iter()
        .map(|request| {
            let (host, port) = host_and_port(&request.url);
            connect_each(store, pod, host, port)
        })
        .collect();
    let times = round.requests.iter().zip(&ends);
    let span = times.fold(round.pause, |span, (request, attempts)| {
        let sum = attempts
            .iter()
            .map(|attempt| time(request, attempt))
            .fold(0, u64::saturating_add);
        span.saturating_add(sum / attempts.len().max(1) as u64)
    });
    for attempts in &ends {
        for attempt in attempts {
            let (RequestOutcome::Answered, Some(server)) = (attempt.outcome, &attempt.pod) else {
                continue;
            };
            let Some(container) = server_of(server.body(), attempt.port) else {
                continue;
            };
            let per_round = cost(server).saturating_mul(1_000_000) / span.max(1);
            let demand = per_round as i64 / attempts.len() as i64;
            let key = (server.meta.uid, container.name.clone());
            let (_, sum) = demands.entry(key).or_insert_with(|| (server.clone(), 0));
            *sum = sum.saturating_add(demand.saturating_mul(clients));
        }
    }
}

/// Returns the time that a request takes.
fn time(request: &LoopRequest, attempt: &Attempt) -> Duration {
    let server = attempt.pod.as_ref();
    let work = match (attempt.outcome, server) {
        (RequestOutcome::Answered, Some(server)) => cost(server),
        (outcome, _) => failure_time(outcome, request.limit),
    };
    REQUEST_US + work
}

/// Returns the CPU time that a request costs a Pod.
fn cost(server: &Object) -> Duration {
    let said = server.meta.annotation(REQUEST_CPU);
    let seconds = said.and_then(|text| text.trim_end_matches('s').parse::<f64>().ok());
    let spans = seconds.filter(|seconds| *seconds >= 0.0);
    spans.map_or(REQUEST_CPU_US, |seconds| {
        ((seconds * SECOND as f64) as u64).min(MAX_REQUEST_CPU_US)
    })
}

/// Returns the most CPU that a container can use, in thousandths: its limit, that of its Pod, or what its node has.
fn limit(store: &Store, server: &Object, container: &str) -> i64 {
    let pod: &Pod = server.body();
    let mut containers = pod.spec.containers.iter();
    let own = containers
        .find(|one| one.name == container)
        .and_then(|one| one.resources.limits.get("cpu"));
    let of_pod = pod.spec.resources.limits.get("cpu");
    let node = store.get(&ObjectRef::new(Kind::Node, "", &pod.node_name));
    let of_node = node.map(|node| node.body::<Node>().allocatable().cpu);
    let limits = [own, of_pod].into_iter().flatten().map(milli_of);
    limits.chain(of_node).min().unwrap_or(i64::MAX)
}
