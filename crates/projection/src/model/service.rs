//! Services and their endpoints.

use super::id::Id;
use super::workload::Root;
use i18n::Message;
use k8s_model::natural::natural_cmp;

/// Port of a Service.
#[derive(Clone, Debug, PartialEq)]
pub struct ServicePort {
    /// Port of the virtual IP.
    pub port: i32,
    /// Port of the Pods: a number or a name.
    pub target: String,
}

/// A Service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Service {
    /// Identity.
    pub id: Id,
    /// Type: `ClusterIP`, `headless`, …
    pub form: String,
    /// Selector: `app=nginx`.
    pub selector: String,
    /// Endpoints of its EndpointSlices, by Pod.
    pub endpoints: Vec<Endpoint>,
    /// Number of its EndpointSlices, and the slice if there is one.
    pub slices: usize,
    pub slice: Option<Id>,
    /// Cluster IP; empty for a headless Service.
    pub address: String,
    /// Ports.
    pub ports: Vec<ServicePort>,
    /// Node ports, such as `30080`.
    pub node_ports: Vec<String>,
    /// Address of its load balancer, or [`PENDING`]; empty if it has none.
    pub external: String,
    /// Reason why requests do not reach its Pods; empty if they do.
    pub hint: Message,
}

/// Address of a load balancer without one, as kubectl prints it: without a cloud provider it never gets one.
pub const PENDING: &str = "<pending>";

/// Endpoint of a Service.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Endpoint {
    /// Name of the Pod.
    pub pod: String,
    /// Address.
    pub address: String,
    /// Hostname under a headless Service.
    pub hostname: String,
    /// True if it receives traffic.
    pub ready: bool,
    /// True if it is terminating.
    pub terminating: bool,
    /// True if its containers respond, also while terminating.
    pub serving: bool,
    /// True if its target Pod no longer exists.
    pub gone: bool,
}

impl Service {
    /// Returns true if kube-proxy sends traffic to a terminating endpoint: it does if none is ready, as long as the endpoint is serving.
    pub fn falls_back(&self, to: &Endpoint) -> bool {
        !self.address.is_empty() && to.serving && to.terminating && self.ready() == 0
    }

    /// Number of endpoints that receive traffic.
    pub fn ready(&self) -> usize {
        self.endpoints
            .iter()
            .filter(|endpoint| endpoint.ready)
            .count()
    }

    /// Returns the reason why requests do not reach it though it has ready endpoints.
    pub fn trouble(&self) -> Option<&Message> {
        Some(&self.hint).filter(|hint| !hint.is_empty() && self.ready() > 0)
    }

    /// Returns the endpoint of a Pod.
    pub fn endpoint(&self, pod: &str) -> Option<&Endpoint> {
        self.endpoints
            .binary_search_by(|endpoint| natural_cmp(&endpoint.pod, pod))
            .ok()
            .map(|at| &self.endpoints[at])
    }

    /// Returns true if a Pod whose name has this prefix receives traffic; `None` if there is no endpoint of such a Pod.
    pub fn reaches(&self, of: &str) -> Option<bool> {
        let from = self
            .endpoints
            .partition_point(|endpoint| natural_cmp(&endpoint.pod, of).is_lt());
        let mut own = self.endpoints[from..]
            .iter()
            .take_while(|endpoint| endpoint.pod.starts_with(of))
            .peekable();
        own.peek()
            .is_some()
            .then(|| own.any(|endpoint| endpoint.ready))
    }

    /// Returns true if its selector matches an object with this identity and these labels.
    pub fn asks_for(&self, id: &Id, labels: &[String]) -> bool {
        id.namespace == self.id.namespace
            && self
                .selector
                .split(',')
                .all(|label| labels.iter().any(|own| own == label))
    }

    /// Returns the trees whose Pods it selects: by the labels of their template, or without one by its endpoints.
    pub fn reached(&self, roots: &[Root]) -> Vec<usize> {
        let near = |id: &Id| id.namespace == self.id.namespace;
        let lists = |root: &Root| {
            root.groups
                .iter()
                .flat_map(|g| g.pods.iter())
                .any(|pod| near(&pod.id) && self.endpoint(&pod.id.name).is_some())
        };
        let selects = |root: &Root| match &root.controller {
            Some(of) if !of.labels.is_empty() => self.asks_for(&of.id, &of.labels),
            _ => !self.endpoints.is_empty() && lists(root),
        };
        (0..roots.len()).filter(|at| selects(&roots[*at])).collect()
    }
}
