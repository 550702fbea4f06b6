//! What the diagrams need to know, free of the engine's types.

use crate::i18n::{Message, msg};
pub use crate::projection::block::Block;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Which object a shape stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id {
    /// `Pod`, `ReplicaSet`, …
    pub kind: String,
    /// Empty for objects of the cluster.
    pub namespace: String,
    /// `metadata.name`
    pub name: String,
    /// `metadata.uid`: the key of everything drawn.
    pub uid: String,
}

impl Id {
    /// Stands for an object that is referred to and does not exist.
    pub fn missing(kind: &str, namespace: &str, name: &str) -> Id {
        Id { kind: kind.into(), namespace: namespace.into(), name: name.into(), uid: format!("missing/{kind}/{namespace}/{name}") }
    }

    /// An identity whose uid is its kind and name: for tests and for shapes that are not objects.
    pub fn named(kind: &str, name: &str) -> Self {
        Id { kind: kind.into(), namespace: "default".into(), name: name.into(), uid: format!("{kind}/{name}") }
    }
}

/// The seven classes of Pod states that a shape stands for. The word beside it is more specific.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum PodState {
    /// No node yet.
    #[default]
    Pending,
    /// Bound, a container waits.
    Creating,
    /// Running, not ready.
    NotReady,
    /// Ready.
    Ready,
    /// Has a deletionTimestamp.
    Terminating,
    /// Failed, or waiting for an error.
    Failed,
    /// Ended with success.
    Succeeded,
}

impl PodState {
    /// All of them, in the order of the legend.
    pub const ALL: [PodState; 7] = [
        PodState::Pending,
        PodState::Creating,
        PodState::NotReady,
        PodState::Ready,
        PodState::Terminating,
        PodState::Failed,
        PodState::Succeeded,
    ];

    /// The class in the style sheet, also `data-state`.
    pub fn class(self) -> &'static str {
        match self {
            PodState::Pending => "pending",
            PodState::Creating => "creating",
            PodState::NotReady => "notready",
            PodState::Ready => "ready",
            PodState::Terminating => "terminating",
            PodState::Failed => "failed",
            PodState::Succeeded => "succeeded",
        }
    }

    /// The glyph in the sprite.
    pub fn glyph(self) -> &'static str {
        match self {
            PodState::Pending => "pod-pending",
            PodState::Creating => "pod-creating",
            PodState::NotReady => "pod-notready",
            PodState::Ready => "pod-ready",
            PodState::Terminating => "pod-terminating",
            PodState::Failed => "pod-failed",
            PodState::Succeeded => "pod-succeeded",
        }
    }

    /// The word of the legend and of counts.
    pub fn word(self) -> Message {
        match self {
            PodState::Pending => Message::state("Pending"),
            PodState::Creating => Message::state("ContainerCreating"),
            PodState::NotReady => msg::state_not_ready(),
            PodState::Ready => Message::state("Ready"),
            PodState::Terminating => Message::state("Terminating"),
            // Most of them are Pending or Running: Failed is a phase.
            PodState::Failed => msg::state_failing(),
            PodState::Succeeded => Message::state("Succeeded"),
        }
    }
}

/// A Pod.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pod {
    /// Which.
    pub id: Id,
    /// Its class.
    pub state: PodState,
    /// What `kubectl get pods` prints under STATUS, or Ready and Not ready for Running.
    pub word: Message,
    /// After the word: the node, the time left.
    pub note: Message,
    /// How many leading characters of the name its siblings share: `web-`, `nginx-5d59d67564-`.
    pub prefix: usize,
    /// How many of them the whole tree shares: `nginx-`.
    pub family: usize,
    /// The ordinal of a StatefulSet's Pod.
    pub ordinal: Option<u32>,
    /// Virtual milliseconds of its creation.
    pub created: u64,
    /// The node it is bound to.
    pub node: String,
    /// Names of the claims it mounts.
    pub claims: Vec<String>,
    /// Whether its node does not answer.
    pub stale: bool,
    /// Whether its phase is Succeeded or Failed: it asks for nothing any more.
    pub ended: bool,
    /// CPU request in thousandths.
    pub cpu: u64,
    /// Memory request in bytes.
    pub memory: u64,
    /// The message of its PodScheduled condition while it is False.
    pub unscheduled: String,
    /// The tag of its first image: `1.25`.
    pub tag: String,
    /// The uid of its controller; empty if it has none.
    pub owner: Rc<str>,
    /// `app=nginx`.
    pub labels: Rc<[String]>,
}

impl Pod {
    /// The order in which Pods of one owner stand: by ordinal, else creation, then name. Those of another stand apart.
    pub fn order(&self, other: &Pod) -> Ordering {
        if !Rc::ptr_eq(&self.owner, &other.owner) && self.owner != other.owner {
            return self.owner.cmp(&other.owner);
        }
        match (self.ordinal, other.ordinal) {
            (Some(x), Some(y)) if x != y => x.cmp(&y),
            _ => (self.created, &self.id.namespace)
                .cmp(&(other.created, &other.id.namespace))
                .then_with(|| natural(&self.id.name, &other.id.name))
                .then_with(|| self.id.uid.cmp(&other.id.uid)),
        }
    }

    /// The name in two parts, the shared one to be dimmed. What the whole tree shares is left out of a long name,
    /// and the rest is cut at the front.
    pub fn parts(&self, most: usize) -> (String, String) {
        let name = self.id.name.as_str();
        let (lead, tail) = name.split_at_checked(self.prefix).unwrap_or(("", name));
        let lead = if name.len() > most { lead.get(self.family.min(lead.len())..).unwrap_or("") } else { lead };
        if lead.len() + tail.len() <= most {
            return (lead.into(), tail.into());
        }
        if tail.len() <= most {
            let drop = lead.len() - most.saturating_sub(tail.len() + 1).min(lead.len());
            let rest = lead.get(drop..).unwrap_or("");
            return (format!("…{rest}"), tail.into());
        }
        (String::new(), format!("…{}", tail.get(tail.len() + 1 - most..).unwrap_or(tail)))
    }
}

/// The colour of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// As text.
    #[default]
    Plain,
    /// As wanted.
    Ok,
    /// Short of what is wanted.
    Off,
}

/// What a counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Metric {
    Desired,
    Current,
    Ready,
    Updated,
    Done,
    Active,
    Failed,
}

impl Metric {
    /// The word under the number.
    pub fn word(self) -> Message {
        match self {
            Metric::Desired => msg::metric_desired(),
            Metric::Current => msg::metric_current(),
            Metric::Ready => msg::metric_ready(),
            Metric::Updated => msg::metric_updated(),
            Metric::Done => msg::metric_done(),
            Metric::Active => msg::metric_active(),
            Metric::Failed => msg::metric_failed(),
        }
    }
}

/// A number over its word.
#[derive(Clone, Debug, PartialEq)]
pub struct Counter {
    /// The number.
    pub value: String,
    /// What it counts.
    pub metric: Metric,
    /// Its colour.
    pub tone: Tone,
    /// What its Pods come to, where the status that it is read from says something else.
    pub lags: Message,
}

/// The counters that every workload has: desired, current, ready.
pub fn counters(desired: u64, current: u64, ready: u64) -> Vec<Counter> {
    let tone = if ready == desired {
        Tone::Ok
    } else if ready < desired {
        Tone::Off
    } else {
        Tone::Plain
    };
    let of = |n: u64, metric, tone| Counter { value: crate::i18n::format::short_count(n), metric, tone, lags: Message::default() };
    vec![of(desired, Metric::Desired, Tone::Plain), of(current, Metric::Current, Tone::Plain), of(ready, Metric::Ready, tone)]
}

/// A card of a controller: Deployment, ReplicaSet, StatefulSet, Job, …
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Controller {
    /// Which.
    pub id: Id,
    /// The line over the name: `ReplicaSet · revision 1`.
    pub caption: Message,
    /// desired, current, ready.
    pub counters: Vec<Counter>,
    /// One fact at the foot.
    pub footer: Message,
    /// A pill at the foot's right.
    pub chip: Message,
    /// Has a deletionTimestamp.
    pub leaving: bool,
    /// `spec.replicas`, or what stands for it.
    pub desired: usize,
    /// How many Pods more there may be in an update, with those that are on their way out.
    pub surplus: usize,
    /// How many are of its newest template.
    pub updated: Option<usize>,
    /// The labels of its template: `app=nginx`.
    pub labels: Vec<String>,
    /// Whether it makes claims for its Pods.
    pub claims: bool,
}

/// Pods that one controller owns, with that controller's card if it stands between the root and the Pods.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// A ReplicaSet of a Deployment, a Job of a CronJob.
    pub controller: Option<Rc<Controller>>,
    /// Sorted by ordinal, else creation, then name.
    pub pods: Block,
}

/// A tree of ownership.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Root {
    /// None for bare Pods.
    pub controller: Option<Rc<Controller>>,
    /// By revision, old first.
    pub groups: Vec<Group>,
    /// Old ReplicaSets without Pods, folded into one line.
    pub folded: usize,
}

impl Root {
    /// Whether a Pod mounts a claim, or will.
    pub fn mounts(&self) -> bool {
        self.controller.as_ref().is_some_and(|of| of.claims) || self.groups.iter().any(|group| group.pods.mounts())
    }

    /// From which of its Pods on a group is of an older revision: from the first, or none.
    pub fn older(&self, group: &Group) -> usize {
        let newest = self.groups.last().is_none_or(|last| std::ptr::eq(last, group));
        if !newest && self.controller.as_ref().is_some_and(|of| of.id.kind == "Deployment") { 0 } else { usize::MAX }
    }

    /// How many Pods there are to be.
    pub fn desired(&self) -> usize {
        self.controller.as_ref().map_or(0, |of| of.desired)
    }

    /// How many Pods there are.
    pub fn pods(&self) -> usize {
        self.groups.iter().map(|group| group.pods.len()).sum()
    }
}

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
    /// Why it has no endpoints, if it has none.
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
        self.endpoints.iter().filter(|endpoint| endpoint.ready).count()
    }

    /// What it lists of a Pod.
    pub fn endpoint(&self, pod: &str) -> Option<&Endpoint> {
        self.endpoints.binary_search_by(|endpoint| natural(&endpoint.pod, pod)).ok().map(|at| &self.endpoints[at])
    }

    /// Whether one of the Pods whose names begin so gets traffic; nothing where it lists none of them.
    pub fn reaches(&self, of: &str) -> Option<bool> {
        let from = self.endpoints.partition_point(|endpoint| natural(&endpoint.pod, of).is_lt());
        let mut own = self.endpoints[from..].iter().take_while(|endpoint| endpoint.pod.starts_with(of)).peekable();
        own.peek().is_some().then(|| own.any(|endpoint| endpoint.ready))
    }

    /// Whether its selector holds for what is called so and has these labels.
    pub fn asks_for(&self, id: &Id, labels: &[String]) -> bool {
        id.namespace == self.id.namespace && self.selector.split(',').all(|label| labels.iter().any(|own| own == label))
    }

    /// The trees whose Pods it selects: by the labels of their template, where there is none by what it lists.
    pub fn reached(&self, roots: &[Root]) -> Vec<usize> {
        let near = |id: &Id| id.namespace == self.id.namespace;
        let lists =
            |root: &Root| root.groups.iter().flat_map(|g| g.pods.iter()).any(|pod| near(&pod.id) && self.endpoint(&pod.id.name).is_some());
        let selects = |root: &Root| match &root.controller {
            Some(of) if !of.labels.is_empty() => self.asks_for(&of.id, &of.labels),
            _ => !self.endpoints.is_empty() && lists(root),
        };
        (0..roots.len()).filter(|at| selects(&roots[*at])).collect()
    }
}

/// What acts on a workload from beside it: an autoscaler, a disruption budget.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policy {
    /// Which.
    pub id: Id,
    /// In its pill: `1 to 5 Pods`, `1 may go`.
    pub form: Message,
    /// Beside its card.
    pub words: Message,
    /// The uid of the workload it is about.
    pub target: String,
}

/// A ConfigMap, a Secret or a service account that Pods name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Used {
    /// Which; of one that does not exist what it would be called.
    pub id: Id,
    /// `env, volume`
    pub what_for: Vec<Message>,
    /// Whether it is named in vain.
    pub missing: bool,
    /// Workloads, and Pods that have none.
    pub users: Vec<Id>,
}

/// A Pod that was deleted, and the claims that it mounted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Removed {
    /// Which.
    pub id: Id,
    /// Names of the claims.
    pub claims: Vec<String>,
    /// Whether a person did it.
    pub by_user: bool,
    /// Whether another is ready in its place.
    pub back: bool,
}

/// A PersistentVolumeClaim.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claim {
    /// Which.
    pub id: Id,
    /// `Bound`, `Pending`, `Lost`, `Terminating`
    pub phase: String,
    /// `1Gi`
    pub capacity: String,
    /// `RWO`
    pub mode: String,
    /// The PersistentVolume's name.
    pub volume: String,
    /// The StorageClass's name.
    pub class: String,
    /// The ordinal at the end of its name, and the StatefulSet it was made for.
    pub member: Option<(String, u32)>,
}

/// A PersistentVolume.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Volume {
    /// Which.
    pub id: Id,
    /// `Bound`, `Available`, `Released`
    pub phase: String,
    /// `1Gi`
    pub capacity: String,
    /// The node its affinity names, if any.
    pub node: String,
    /// The StorageClass's name.
    pub class: String,
    /// What the data badge says; empty without one.
    pub data: Message,
}

/// A StorageClass.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Class {
    /// Which.
    pub id: Id,
    /// `Delete` or `Retain`
    pub reclaim: String,
}

/// A Node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// Which.
    pub id: Id,
    /// Its Ready condition is True.
    pub ready: bool,
    /// `spec.unschedulable`
    pub cordoned: bool,
    /// Why it is not ready, or a taint.
    pub note: Message,
    /// When the first of its Pods is evicted, while it is not ready.
    pub countdown: Option<Message>,
    /// Allocatable CPU in thousandths.
    pub cpu: u64,
    /// Allocatable memory in bytes.
    pub memory: u64,
    /// Allocatable Pods.
    pub pods: u64,
}

/// So many Pods are looked through for one.
const FEW: usize = 200;

/// Everything the diagrams draw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// What a rollout may do, where its Deployment's card is to tell.
    pub budget: Option<Rc<crate::projection::budget::Budget>>,
    /// Trees, sorted.
    pub roots: Vec<Root>,
    /// By name.
    pub services: Vec<Service>,
    /// By kind and name.
    pub policies: Vec<Policy>,
    /// By name, ordinals as numbers.
    pub claims: Vec<Claim>,
    /// By name.
    pub volumes: Vec<Volume>,
    /// By name.
    pub classes: Vec<Class>,
    /// By name, numbers as numbers.
    pub nodes: Rc<Vec<Rc<Node>>>,
    /// All Pods of the trees by their node, where that is known without a look at each.
    pub on: Rc<BTreeMap<String, Block>>,
    /// The Pod that is chosen, so that nobody has to look for it among many.
    pub chosen: Option<Rc<Pod>>,
    /// How many objects the filter hides.
    pub hidden: usize,
    /// What Pods name: by kind, namespace and name.
    pub uses: Vec<Used>,
    /// Stored objects that no diagram animates and nobody uses: kind and name.
    pub inert: Vec<Id>,
    /// The last Pod of a StatefulSet that was deleted, as long as that is news.
    pub removed: Option<Removed>,
}

impl Model {
    /// All Pods, in the order of the trees.
    pub fn pods(&self) -> impl Iterator<Item = &Pod> {
        self.roots.iter().flat_map(|root| &root.groups).flat_map(|group| group.pods.iter()).map(|pod| &**pod)
    }

    /// The Pod with this uid.
    pub fn pod(&self, uid: Option<&str>) -> Option<&Pod> {
        match &self.chosen {
            Some(chosen) if Some(chosen.id.uid.as_str()) == uid => Some(chosen),
            _ if self.population() <= FEW => self.pods().find(|pod| Some(pod.id.uid.as_str()) == uid),
            _ => None,
        }
    }

    /// Where the Pod with this uid stands among those of a group.
    pub fn place(&self, group: &Group, uid: Option<&str>) -> Option<usize> {
        match &self.chosen {
            Some(chosen) if Some(chosen.id.uid.as_str()) == uid => group.pods.search(|pod| pod.order(chosen)).ok(),
            _ if group.pods.len() <= FEW => group.pods.iter().position(|pod| Some(pod.id.uid.as_str()) == uid),
            _ => None,
        }
    }

    /// How many Pods there are.
    pub fn population(&self) -> usize {
        self.roots.iter().map(Root::pods).sum()
    }

    /// The Pods of a chosen owner, by uid.
    pub fn kin(&self, chosen: Option<&str>) -> Vec<&str> {
        let is = |of: &Option<Rc<Controller>>| of.as_ref().is_some_and(|of| Some(of.id.uid.as_str()) == chosen);
        let groups =
            self.roots.iter().flat_map(|root| root.groups.iter().filter(move |group| is(&root.controller) || is(&group.controller)));
        let kin: Vec<&str> = groups.flat_map(|group| group.pods.iter()).map(|pod| pod.id.uid.as_str()).collect();
        // What nearly all have tells none of them apart.
        if kin.len() * 2 > self.population() { Vec::new() } else { kin }
    }

    /// Whether a Pod mounts a claim.
    pub fn mounts(&self) -> bool {
        self.roots.iter().any(Root::mounts)
    }

    /// Whether the ownership diagram has anything to show.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty() && self.services.is_empty() && self.claims.is_empty() && self.uses.is_empty() && self.inert.is_empty()
    }
}

/// Compares names with their numbers as numbers: `node-2` before `node-10`.
pub fn natural(a: &str, b: &str) -> std::cmp::Ordering {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let Some(mut at) = a.iter().zip(b).position(|(x, y)| x != y) else { return a.len().cmp(&b.len()) };
    // A number begins before the first digit that differs.
    while at > 0 && a[at - 1].is_ascii_digit() {
        at -= 1;
    }
    let number = |text: &[u8]| {
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
        digits.fold((0u128, 0usize), |(n, length), digit| (n.saturating_mul(10).saturating_add(u128::from(digit - b'0')), length + 1))
    };
    match (number(&a[at..]), number(&b[at..])) {
        ((x, n), (y, m)) if n > 0 && m > 0 && x != y => x.cmp(&y),
        _ => a[at..].cmp(&b[at..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_with_their_numbers_as_numbers() {
        let mut names = ["node-10", "node-2", "node-1", "a", "node-2b"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["a", "node-1", "node-2", "node-2b", "node-10"]);
    }

    #[test]
    fn a_long_name_keeps_its_end() {
        let pod = |name: &str, prefix, family| Pod { id: Id::named("Pod", name), prefix, family, ..Pod::default() }.parts(20);
        let pair = |a: &str, b: &str| (a.to_string(), b.to_string());
        assert_eq!(pod("web-0", 4, 4), pair("web-", "0"));
        assert_eq!(pod("nginx-deployment-5d59d67564-abcde", 28, 17), pair("5d59d67564-", "abcde"));
        assert_eq!(pod("a-very-long-statefulset-name-0", 29, 0), pair("…-statefulset-name-", "0"));
        assert_eq!(pod("a-pod-without-any-owner-at-all", 0, 0).1.chars().count(), 20);
    }

    #[test]
    fn ready_is_green_when_it_is_what_is_desired() {
        assert_eq!(counters(3, 4, 3)[2].tone, Tone::Ok);
        assert_eq!(counters(3, 3, 2)[2].tone, Tone::Off);
        assert_eq!(counters(0, 0, 0)[2].tone, Tone::Ok);
    }
}
