//! Services and their endpoints.

use super::id::{Id, natural};
use super::workload::Root;
use i18n::Message;

/// A Service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Service {
    /// Which.
    pub id: Id,
    /// `ClusterIP`, `headless`, …
    pub form: String,
    /// `app=nginx`
    pub selector: String,
    /// What its EndpointSlices list, by Pod.
    pub endpoints: Vec<Endpoint>,
    /// How many those are, and which if it is one.
    pub slices: usize,
    pub slice: Option<Id>,
    /// Its virtual address; empty for a headless one.
    pub address: String,
    /// `80 → 8080`
    pub ports: Vec<String>,
    /// `30080`, which every node listens at.
    pub node_ports: Vec<String>,
    /// The address of its load balancer, or that it waits for one; empty if it asks for none.
    pub external: String,
    /// Why requests do not reach it, if they do not.
    pub hint: Message,
}

/// As kubectl says it of a load balancer that has no address: nobody gives it one without a cloud provider.
pub const PENDING: &str = "<pending>";

/// An address behind a Service.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Endpoint {
    /// The Pod's name.
    pub pod: String,
    /// Its address.
    pub address: String,
    /// Its name under a headless Service.
    pub hostname: String,
    /// Gets traffic.
    pub ready: bool,
    /// On its way out.
    pub terminating: bool,
    /// Its containers answer, also while it is on its way out.
    pub serving: bool,
    /// The Pod that it leads to is there no more.
    pub gone: bool,
}

impl Service {
    /// Whether kube-proxy sends to one that is on its way out: it does where nothing is ready, as long as that still answers.
    pub fn falls_back(&self, to: &Endpoint) -> bool {
        !self.address.is_empty() && to.serving && to.terminating && self.ready() == 0
    }

    /// Endpoints that get traffic.
    pub fn ready(&self) -> usize {
        self.endpoints
            .iter()
            .filter(|endpoint| endpoint.ready)
            .count()
    }

    /// What keeps requests from it though it has ready endpoints.
    pub fn trouble(&self) -> Option<&Message> {
        Some(&self.hint).filter(|hint| !hint.is_empty() && self.ready() > 0)
    }

    /// What it lists of a Pod.
    pub fn endpoint(&self, pod: &str) -> Option<&Endpoint> {
        self.endpoints
            .binary_search_by(|endpoint| natural(&endpoint.pod, pod))
            .ok()
            .map(|at| &self.endpoints[at])
    }

    /// Whether one of the Pods whose names begin so gets traffic; nothing where it lists none of them.
    pub fn reaches(&self, of: &str) -> Option<bool> {
        let from = self
            .endpoints
            .partition_point(|endpoint| natural(&endpoint.pod, of).is_lt());
        let mut own = self.endpoints[from..]
            .iter()
            .take_while(|endpoint| endpoint.pod.starts_with(of))
            .peekable();
        own.peek()
            .is_some()
            .then(|| own.any(|endpoint| endpoint.ready))
    }

    /// Whether its selector holds for what is called so and has these labels.
    pub fn asks_for(&self, id: &Id, labels: &[String]) -> bool {
        id.namespace == self.id.namespace
            && self
                .selector
                .split(',')
                .all(|label| labels.iter().any(|own| own == label))
    }

    /// The trees whose Pods it selects: by the labels of their template, where there is none by what it lists.
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
