//! The engine's objects, read into a [`Model`]. The only file of `scene` that knows the API's types.

use crate::api::network::{EndpointSlice, TargetRef, is_slice_of};
use crate::api::policy::BudgetSpec;
use crate::api::sources::Purpose;
use crate::api::storage::{PersistentVolume, PersistentVolumeClaim, StorageClass};
use crate::api::workload::{Deployment, IntOrPercent, ReplicaSet, StatefulSet};
use crate::api::{Body, Kind, Object, Str, Uid};
use crate::i18n::format::short_count;
use crate::i18n::{Message, msg};
use crate::projection::budget::{Budget, Sizes};
use crate::projection::model::{
    Block, Claim, Class, Controller, Counter, Endpoint, Group, Id, Metric, Model, Node, Pod, PodState, Policy, Root, Service, Tone, Used,
    Volume, counters, natural,
};
use std::collections::BTreeMap;
use std::rc::Rc;

mod pods;
mod sieve;
pub use pods::Pods;
use pods::{Names, SEEN};
use sieve::{Sieve, Words};

/// What to read, and when it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scope {
    /// One namespace, or all but the system's.
    pub namespace: Option<String>,
    /// Words that objects are chosen by: part of a name, `kind:pod`, `app=nginx`; all of them must hold.
    pub filter: String,
    /// Now, in milliseconds since 1970, as timestamps of objects count.
    pub now: i64,
    /// Whether the Pods are still being read: one that is not known yet may be there.
    pub lags: bool,
    /// Whether nodes are drawn: words may name them too.
    pub nodes: bool,
}

/// Kinds that stand at the root of a tree, in the order of the diagram.
pub const ROOTS: [Kind; 7] =
    [Kind::Deployment, Kind::StatefulSet, Kind::DaemonSet, Kind::CronJob, Kind::Job, Kind::ReplicaSet, Kind::ReplicationController];

/// Where namespaces of the system begin.
const SYSTEM: &str = "kube-";

impl Scope {
    /// Whether an object is of a namespace that is shown.
    pub fn holds(&self, object: &Object) -> bool {
        match &self.namespace {
            _ if !object.kind.info().namespaced => true,
            Some(one) => object.meta.namespace == *one,
            None => !object.meta.namespace.starts_with(SYSTEM),
        }
    }
}

/// Which object a shape will stand for.
pub fn id(object: &Object) -> Id {
    Id {
        kind: object.kind.name().into(),
        namespace: object.meta.namespace.to_string(),
        name: object.meta.name.to_string(),
        uid: object.meta.uid.to_string(),
    }
}

/// The objects of a kind.
pub type List<'a> = &'a dyn Fn(Kind) -> Vec<Rc<Object>>;

/// Reads the objects. Nodes show the Pods of all namespaces; the other diagrams those of the scope.
pub fn model(list: List, pods: &mut Pods, scope: &Scope) -> Model {
    let mut owned: BTreeMap<Uid, Vec<Rc<Object>>> = BTreeMap::new();
    let mut uids = std::collections::BTreeSet::new();
    let of = |kind: Kind| {
        let mut objects = list(kind);
        objects.retain(|object| scope.holds(object));
        objects
    };
    let nodes = of(Kind::Node);
    let answers = |node: &Rc<Object>| node.get::<crate::api::node::Node>().is_some_and(crate::api::node::Node::is_ready);
    pods.look(nodes.iter().filter(|node| !answers(node)).map(|node| node.meta.name.to_string()).collect(), scope.now);
    let all_nodes = pods.nodes(&nodes);
    let mut out = Model::default();

    let owners: Vec<Vec<Rc<Object>>> = ROOTS.into_iter().map(|kind| sorted(of(kind))).collect();
    for object in owners.iter().flatten() {
        uids.insert(object.meta.uid);
        if let Some(owner) = object.meta.controller() {
            owned.entry(owner.uid).or_default().push(object.clone());
        }
    }
    let mut reader = Reader { owned: &owned, pods, users: Vec::new() };
    for object in owners.iter().flatten() {
        if object.meta.controller().is_none_or(|owner| !uids.contains(&owner.uid)) {
            out.roots.push(reader.root(object));
        }
    }
    let mut users = reader.users;
    let system = |namespace: &str| scope.namespace.as_deref().map_or(namespace.starts_with(SYSTEM), |one| namespace != one);
    let lone = |(owner, _): &(Uid, &Block)| !uids.contains(owner);
    let bare: Block =
        pods.blocks().filter(lone).flat_map(|(_, block)| block.iter()).filter(|pod| !system(&pod.id.namespace)).cloned().collect();
    if !bare.is_empty() {
        out.roots.push(Root { controller: None, groups: vec![Group { controller: None, pods: bare }], folded: 0 });
    }
    let gone = |uid: Uid| !scope.lags && pods.get(uid).is_none();
    out.services = services(&of(Kind::Service), &of(Kind::EndpointSlice), &of, &gone);
    for kind in [Kind::HorizontalPodAutoscaler, Kind::PodDisruptionBudget] {
        out.policies.extend(of(kind).iter().map(|object| policy(object, &of)));
    }
    out.claims = claims(&of(Kind::PersistentVolumeClaim), &of(Kind::StatefulSet));
    out.volumes = of(Kind::PersistentVolume).iter().filter_map(|object| volume(object)).collect();
    crate::sort::sort_by(&mut out.volumes, |a, b| natural(&a.id.name, &b.id.name));
    out.classes = of(Kind::StorageClass)
        .iter()
        .filter_map(|object| Some(Class { id: id(object), reclaim: object.get::<StorageClass>()?.reclaim_policy.to_string() }))
        .collect();
    out.nodes = all_nodes;
    let still = crate::api::kind::ALL.iter().filter(|kind| {
        let info = kind.info();
        (!info.animated && info.namespaced || **kind == Kind::ServiceAccount) && **kind != Kind::Lease
    });
    // What every namespace has by itself says nothing.
    let made = |object: &Rc<Object>| {
        !matches!((object.kind, object.meta.name.as_str()), (Kind::ServiceAccount, "default") | (Kind::ConfigMap, "kube-root-ca.crt"))
    };
    out.inert = still.flat_map(|kind| of(*kind)).filter(made).map(|object| id(&object)).collect();
    let alone = pods.lone().into_iter().filter(|(id, _)| !system(&id.namespace));
    users.extend(alone.map(|(id, names)| User { id: id.clone(), names: names.clone(), old: false }));
    if !users.is_empty() {
        out.uses = uses(&users, &mut out.inert);
    }
    if scope.filter.trim().is_empty() && scope.namespace.is_none() {
        out.on = pods.on().clone();
        // Asked first, so that the opening does not carry the code that drops one.
        if pods.sieve.is_some() {
            pods.sieve = None;
        }
    } else {
        sift(&mut out, list, pods, scope);
    }
    out
}

/// Leaves out what the words do not ask for, and gives what is left of the Pods on each node.
fn sift(model: &mut Model, list: List, pods: &mut Pods, scope: &Scope) {
    let words = Words::of(&scope.filter);
    let mut sieve = pods.sieve.take().unwrap_or_default();
    if words.is_none() {
        sieve.groups = Default::default();
    }
    // Of a node that is named all Pods stay, and no other node.
    let named = words.as_ref().filter(|_| scope.nodes).map_or_else(Vec::new, |words| words.nodes(&model.nodes));
    let all = model.nodes.len();
    if !named.is_empty() {
        model.nodes = Rc::new(model.nodes.iter().filter(|node| named.binary_search(&node.id.name).is_ok()).cloned().collect());
    }
    let whole = words.as_ref().map_or_else(Vec::new, |words| narrow(model, list, (words, &named), &mut sieve));
    model.hidden += all - model.nodes.len();
    let lies = |pod: &Pod| scope.namespace.as_ref().is_none_or(|one| pod.id.namespace == *one);
    let keeps = |pod: &Pod| {
        let on = || named.binary_search(&pod.node).is_ok();
        lies(pod)
            && words
                .as_ref()
                .is_none_or(|words| on() || whole.binary_search_by(|uid| (**uid).cmp(&pod.owner)).is_ok() || words.want_pod(pod))
    };
    sieve.nodes.begin(&(scope.namespace.clone(), scope.filter.clone(), [whole.clone(), named.clone()]));
    let on = pods.on().iter().map(|(node, block)| (node.clone(), sieve.nodes.pass(node, block, &keeps)));
    model.on = Rc::new(on.filter(|(_, block)| !block.is_empty()).collect());
    pods.sieve = Some(sieve);
}

/// Leaves out what the words do not ask for; whole trees stay with their root, and parts of a tree keep their owners. Gives the
/// uids of those whose Pods all stay, in order.
fn narrow(model: &mut Model, list: List, (words, named): (&Words, &[String]), sieve: &mut Sieve) -> Vec<String> {
    let mut uids: Vec<String> = Vec::new();
    for kind in crate::api::kind::ALL.iter().filter(|kind| !matches!(kind, Kind::Event | Kind::Pod)) {
        uids.extend(list(*kind).iter().filter(|object| words.want(object)).map(|object| object.meta.uid.to_string()));
    }
    crate::sort::sort(&mut uids);
    let is = |id: &Id| uids.binary_search(&id.uid).is_ok();
    let wants = |of: Option<&Rc<Controller>>| of.is_some_and(|of| is(&of.id));
    let count = |model: &Model| {
        let trees = model.roots.iter().map(|root| {
            usize::from(root.controller.is_some())
                + root.groups.iter().map(|group| group.pods.len() + usize::from(group.controller.is_some())).sum::<usize>()
        });
        trees.sum::<usize>()
            + model.services.len()
            + model.policies.len()
            + model.claims.len()
            + model.volumes.len()
            + model.uses.len()
            + model.inert.len()
    };
    let before = count(model);
    let mut whole = Vec::new();
    sieve.groups.begin(&(words.clone(), named.to_vec()));
    for root in &mut model.roots {
        let stays = wants(root.controller.as_ref());
        for group in &mut root.groups {
            let owner = group.controller.as_ref().or(root.controller.as_ref()).map_or("", |of| of.id.uid.as_str());
            if stays || wants(group.controller.as_ref()) {
                whole.push(owner.to_string());
            } else {
                group.pods = sieve.groups.pass(owner, &group.pods, &|pod| words.want_pod(pod) || named.binary_search(&pod.node).is_ok());
            }
        }
        if !stays {
            root.groups.retain(|group| !group.pods.is_empty() || wants(group.controller.as_ref()));
            root.folded = 0;
        }
    }
    crate::sort::sort(&mut whole);
    model.roots.retain(|root| !root.groups.is_empty() || wants(root.controller.as_ref()));
    if !model.claims.is_empty() {
        let claims = model.pods().flat_map(|pod| pod.claims.iter().map(|claim| format!("{}/{claim}", pod.id.namespace)));
        let mounted: std::collections::BTreeSet<String> = claims.collect();
        model.claims.retain(|claim| is(&claim.id) || mounted.contains(&format!("{}/{}", claim.id.namespace, claim.id.name)));
    }
    let bound: Vec<String> = model.claims.iter().map(|claim| claim.volume.clone()).collect();
    model.volumes.retain(|volume| is(&volume.id) || bound.contains(&volume.id.name));
    model.services.retain(|service| is(&service.id));
    model.policies.retain(|policy| is(&policy.id));
    model.inert.retain(is);
    if !model.uses.is_empty() {
        sift_uses(model, &is);
    }
    model.hidden = before - count(model);
    whole
}

/// What is used stays with its users, or alone if it is asked for itself.
fn sift_uses(model: &mut Model, is: &dyn Fn(&Id) -> bool) {
    let bare = model.roots.iter().filter(|root| root.controller.is_none()).flat_map(|root| &root.groups);
    let bare = bare.flat_map(|group| group.pods.iter()).map(|pod| pod.id.uid.clone());
    let roots = model.roots.iter().filter_map(|root| Some(root.controller.as_ref()?.id.uid.clone()));
    let shown: std::collections::BTreeSet<String> = bare.chain(roots).collect();
    model.uses.retain_mut(|used| {
        used.users.retain(|user| shown.contains(&user.uid));
        is(&used.id) || !used.users.is_empty()
    });
}

/// Who names something: a root with its template and those of its revisions, or a Pod without an owner.
struct User {
    id: Id,
    names: Names,
    /// Whether it is the template of an older revision.
    old: bool,
}

/// What users name, taken out of what is stored; and what they name in vain.
fn uses(users: &[User], stored: &mut Vec<Id>) -> Vec<Used> {
    // Whether they can do without it, and whether only older revisions name it.
    let mut found: BTreeMap<(String, String, String), (Used, bool, bool)> = BTreeMap::new();
    for user in users {
        for one in user.names.iter() {
            let (kind, name) = (one.kind.name(), one.name.as_str());
            let (used, optional, old) = found.entry((kind.to_string(), user.id.namespace.clone(), name.to_string())).or_insert_with(|| {
                let id = Id::missing(kind, &user.id.namespace, name);
                (Used { id, missing: true, ..Used::default() }, true, true)
            });
            *optional &= one.optional;
            *old &= user.old;
            // A root's templates come one after the other.
            if used.users.last() != Some(&user.id) {
                used.users.push(user.id.clone());
            }
            for part in &one.of {
                let part = match part {
                    Purpose::Env => msg::used_env(),
                    Purpose::Volume => msg::used_volume(),
                    Purpose::ImagePull => msg::used_image_pull(),
                };
                if !used.what_for.contains(&part) {
                    used.what_for.push(part);
                }
            }
        }
    }
    stored.retain(|id| {
        let used = found.get_mut(&(id.kind.clone(), id.namespace.clone(), id.name.clone()));
        let Some((used, ..)) = used else { return true };
        (used.id, used.missing) = (id.clone(), false);
        false
    });
    let shown = |(mut used, optional, old): (Used, bool, bool)| {
        if old {
            used.what_for.push(msg::used_older());
        }
        (!used.missing || !optional).then_some(used)
    };
    found.into_values().filter_map(shown).collect()
}

/// Namespaces that hold something a person has made.
pub fn namespaces(list: List, pods: &Pods) -> Vec<String> {
    let mut names = std::collections::BTreeSet::new();
    names.insert("default".to_string());
    for kind in ROOTS.into_iter().chain([Kind::Service, Kind::PersistentVolumeClaim]) {
        for object in list(kind) {
            if !names.contains(object.meta.namespace.as_str()) {
                names.insert(object.meta.namespace.to_string());
            }
        }
    }
    // Pods of an owner are where it is; those without one may be anywhere.
    for (owner, block) in pods.blocks() {
        let told = if owner == pods::NOBODY { block.len() } else { 1 };
        names.extend(block.iter().take(told).map(|pod| pod.id.namespace.clone()));
    }
    names.into_iter().collect()
}

fn sorted(mut objects: Vec<Rc<Object>>) -> Vec<Rc<Object>> {
    crate::sort::sort_by(&mut objects, |a, b| {
        (a.meta.creation_timestamp, &a.meta.namespace)
            .cmp(&(b.meta.creation_timestamp, &b.meta.namespace))
            .then_with(|| natural(&a.meta.name, &b.meta.name))
    });
    objects
}

struct Reader<'a> {
    owned: &'a BTreeMap<Uid, Vec<Rc<Object>>>,
    pods: &'a mut Pods,
    users: Vec<User>,
}

impl Reader<'_> {
    /// A controller's card; what its template names is noted under the root's uid.
    fn controller(&mut self, object: &Object, root: &Object, old: bool) -> Option<Rc<Controller>> {
        let (controller, names) = self.pods.controller(object);
        if !names.is_empty() {
            self.users.push(User { id: id(root), names, old });
        }
        Some(controller)
    }

    fn root(&mut self, object: &Object) -> Root {
        let controller = self.controller(object, object, false);
        let kind = match object.kind {
            Kind::Deployment => Kind::ReplicaSet,
            Kind::CronJob => Kind::Job,
            _ => return Root { controller, groups: vec![Group { controller: None, pods: self.pods.of(object.meta.uid) }], folded: 0 },
        };
        let children = self.owned.get(&object.meta.uid).into_iter().flatten();
        let mut sets: Vec<&Rc<Object>> = children.filter(|child| child.kind == kind).collect();
        crate::sort::sort_by_key(&mut sets, |set| revision(set));
        let mut root = Root { controller, ..Root::default() };
        let newest = sets.len().saturating_sub(1);
        for (i, set) in sets.into_iter().enumerate() {
            let pods = self.pods.of(set.meta.uid);
            let empty = pods.is_empty() && set.get::<ReplicaSet>().is_none_or(|body| body.spec.replicas == 0);
            if empty && i != newest {
                root.folded += 1;
            } else {
                root.groups.push(Group { controller: self.controller(set, object, i != newest), pods });
            }
        }
        root
    }
}

/// The class of a Pod, and the word that `kubectl get pods` prints (Ready or Not ready for Running).
pub fn status(object: &Object) -> (PodState, Message) {
    let Some(pod) = object.pod() else { return (PodState::Pending, Message::default()) };
    let status = &pod.status;
    let mut reason = if status.reason.is_empty() { status.phase.to_string() } else { status.reason.to_string() };
    let mut waiting = false;
    let mut initializing = false;
    for (i, container) in status.init_container_statuses.iter().enumerate() {
        let state = &container.state;
        let restartable = pod.spec.init_containers.get(i).is_some_and(|spec| spec.restart_policy == "Always");
        match (&state.terminated, &state.waiting) {
            (Some(end), _) if end.exit_code == 0 => continue,
            _ if restartable && container.started == Some(true) => continue,
            (Some(end), _) => {
                reason =
                    format!("Init:{}", if end.reason.is_empty() { format!("ExitCode:{}", end.exit_code) } else { end.reason.to_string() })
            }
            (_, Some(wait)) if !wait.reason.is_empty() && wait.reason != "PodInitializing" => reason = format!("Init:{}", wait.reason),
            _ => reason = format!("Init:{i}/{}", status.init_container_statuses.len()),
        }
        initializing = true;
        break;
    }
    if !initializing || status.is_true("Initialized") {
        let mut running = false;
        for container in status.container_statuses.iter().rev() {
            let state = &container.state;
            if let Some(wait) = state.waiting.as_ref().filter(|wait| !wait.reason.is_empty()) {
                (reason, waiting) = (wait.reason.to_string(), true);
            } else if let Some(end) = &state.terminated {
                reason = if end.reason.is_empty() { format!("ExitCode:{}", end.exit_code) } else { end.reason.to_string() };
            } else if container.ready && state.running.is_some() {
                running = true;
            }
        }
        if reason == "Completed" && running {
            reason = "Running".into();
        }
    }
    let class = match () {
        () if object.meta.is_deleting() => return (PodState::Terminating, Message::state("Terminating")),
        () if status.phase == "Succeeded" || reason == "Completed" => PodState::Succeeded,
        () if status.phase == "Failed" => PodState::Failed,
        () if waiting && matches!(reason.as_str(), "ContainerCreating" | "PodInitializing") => PodState::Creating,
        () if waiting || reason.ends_with("Error") || reason.ends_with("BackOff") || reason == "OOMKilled" => PodState::Failed,
        () if status.phase == "Running" && pod.is_ready() => return (PodState::Ready, Message::state("Ready")),
        () if status.phase == "Running" && reason == "Running" => return (PodState::NotReady, PodState::NotReady.word()),
        () if status.phase == "Running" => PodState::NotReady,
        () if initializing && !pod.node_name.is_empty() => PodState::Creating,
        () => PodState::Pending,
    };
    if reason.is_empty() {
        reason = "Pending".into();
    }
    (class, Message::state(reason))
}

fn revision(object: &Object) -> i64 {
    object.meta.annotation("deployment.kubernetes.io/revision").and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// How many Pods more than wanted there may be in an update, with those that are on their way out: each time new ones are ready
/// as many old ones go as both limits let, and end while the next are made. None more where all are replaced at once.
fn surplus(body: &Deployment) -> i64 {
    let (surge, unavailable) = body.limits();
    2 * surge + unavailable
}

fn controller(object: &Object) -> Controller {
    let whole = |n: i32| n.max(0) as u64;
    let mut out =
        Controller { id: id(object), caption: Message::name(object.kind), leaving: object.meta.is_deleting(), ..Controller::default() };
    let (desired, template) = match &object.body {
        Body::Deployment(body) => (body.spec.replicas, Some(&body.spec.template)),
        Body::ReplicaSet(body) => (body.spec.replicas, Some(&body.spec.template)),
        Body::StatefulSet(body) => (body.spec.replicas, Some(&body.spec.template)),
        _ => (0, None),
    };
    out.desired = desired.clamp(0, 100_000) as usize;
    out.labels = template.map(|template| template.labels.iter().map(|(key, value)| format!("{key}={value}")).collect()).unwrap_or_default();
    match &object.body {
        Body::Deployment(body) => {
            let desired = body.spec.replicas;
            out.counters = counters(whole(desired), whole(body.status.replicas), whole(body.status.ready_replicas));
            out.footer = if body.spec.paused { msg::card_paused() } else { Message::state(&body.spec.strategy.kind) };
            out.surplus = surplus(body).clamp(0, 100_000) as usize;
            out.updated = Some(whole(body.status.updated_replicas) as usize);
            // Pods that are merely added are of the same template; until the last old one is gone, an update is under way.
            if body.status.updated_replicas < body.status.replicas {
                out.chip = msg::card_updated(short_count(whole(body.status.updated_replicas)), short_count(whole(desired)));
            }
        }
        Body::ReplicaSet(body) => {
            if revision(object) > 0 {
                out.caption = msg::card_revision(revision(object));
            }
            out.counters = counters(whole(body.spec.replicas), whole(body.status.replicas), whole(body.status.ready_replicas));
            out.footer = body.spec.template.spec.containers.first().map(|container| Message::name(&container.image)).unwrap_or_default();
        }
        Body::StatefulSet(body) => {
            out.counters = counters(whole(body.spec.replicas), whole(body.status.replicas), whole(body.status.ready_replicas));
            out.footer = if body.spec.pod_management_policy.is_empty() {
                Message::state("OrderedReady")
            } else {
                Message::state(&body.spec.pod_management_policy)
            };
            out.claims = !body.spec.volume_claim_templates.is_empty();
            if let Some(partition) =
                body.spec.update_strategy.rolling_update.as_ref().and_then(|update| update.partition).filter(|partition| *partition > 0)
            {
                out.chip = msg::card_partition(partition);
            } else if body.status.updated_replicas < body.status.replicas && body.status.update_revision != body.status.current_revision {
                out.chip = msg::card_updated(short_count(whole(body.status.updated_replicas)), short_count(whole(desired)));
            }
        }
        _ => plain(object, &mut out),
    }
    out
}

/// The kinds that are read as JSON: DaemonSets, Jobs, CronJobs.
fn plain(object: &Object, out: &mut Controller) {
    let value = object.to_value();
    let number = |path: &str| value.pointer(path).and_then(serde_json::Value::as_i64);
    let count = |path: &str| number(path).unwrap_or(0).max(0) as u64;
    let word = |value: u64, metric: Metric, tone: Tone| Counter {
        value: crate::i18n::format::count(value as usize),
        metric,
        tone,
        lags: Message::default(),
    };
    let of =
        if object.kind == Kind::CronJob { "/spec/jobTemplate/spec/template/metadata/labels" } else { "/spec/template/metadata/labels" };
    let labels = value.pointer(of).and_then(serde_json::Value::as_object).into_iter().flatten();
    out.labels = labels.map(|(key, value)| format!("{key}={}", text(Some(value)))).collect();
    match object.kind {
        Kind::DaemonSet => {
            let desired = count("/status/desiredNumberScheduled");
            out.desired = desired as usize;
            out.counters = counters(desired, count("/status/currentNumberScheduled"), count("/status/numberReady"));
            let updated = count("/status/updatedNumberScheduled");
            out.footer = msg::card_nodes_match(desired);
            if updated < desired && number("/status/updatedNumberScheduled").is_some() {
                out.chip = msg::card_updated(short_count(updated), short_count(desired));
            }
        }
        Kind::Job => {
            let done = count("/status/succeeded");
            let wanted = number("/spec/completions").map_or(String::new(), |n| format!("/{n}"));
            let failed = count("/status/failed");
            let complete = number("/spec/completions").is_some_and(|n| done as i64 >= n);
            out.counters = vec![
                Counter {
                    value: format!("{done}{wanted}"),
                    tone: if complete { Tone::Ok } else { Tone::Plain },
                    ..word(done, Metric::Done, Tone::Plain)
                },
                word(count("/status/active"), Metric::Active, Tone::Plain),
                word(failed, Metric::Failed, if failed > 0 { Tone::Off } else { Tone::Plain }),
            ];
            // Failures that no new Pod has come after yet: each gets one, unless they are too many.
            let wanted = match number("/spec/completions") {
                Some(all) => (all - done as i64).min(number("/spec/parallelism").unwrap_or(1)),
                None if done > 0 => 0,
                None => number("/spec/parallelism").unwrap_or(1),
            };
            let owed = (wanted - count("/status/active") as i64).clamp(0, failed as i64);
            let left = number("/spec/backoffLimit").filter(|limit| failed as i64 <= *limit).map(|limit| limit - failed as i64 + owed);
            out.footer = msg::card_parallelism(number("/spec/parallelism").unwrap_or(1));
            let conditions = value.pointer("/status/conditions").and_then(serde_json::Value::as_array);
            let holds = |kind: &str| conditions.into_iter().flatten().any(|c| c["type"] == kind && c["status"] == "True");
            out.chip = match () {
                () if holds("Complete") => Message::state("Complete"),
                () if holds("Failed") => Message::state("Failed"),
                () if holds("Suspended") => Message::state("Suspended"),
                () => left.filter(|_| failed > 0).map(msg::card_retries_left).unwrap_or_default(),
            };
        }
        Kind::CronJob => {
            let active = value.pointer("/status/active").and_then(serde_json::Value::as_array).map_or(0, Vec::len);
            out.counters = vec![word(active as u64, Metric::Active, Tone::Plain)];
            out.footer = Message::name(text(value.pointer("/spec/schedule")));
            out.chip = if value.pointer("/spec/suspend") == Some(&serde_json::Value::Bool(true)) {
                msg::card_suspended()
            } else {
                Message::state(text(value.pointer("/spec/concurrencyPolicy")))
            };
        }
        _ => {}
    }
}

fn services(services: &[Rc<Object>], slices: &[Rc<Object>], of: List, gone: &dyn Fn(Uid) -> bool) -> Vec<Service> {
    let read = |object: &Rc<Object>| {
        let body = object.get::<crate::api::network::Service>()?;
        // The API server's own Service selects nothing and serves no Pod.
        if object.meta.name == "kubernetes" && object.meta.namespace == "default" {
            return None;
        }
        let selector: Vec<String> = body.spec.selector.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let own: Vec<&Rc<Object>> = slices.iter().filter(|slice| is_slice_of(slice, object)).collect();
        let all = || own.iter().filter_map(|slice| slice.get::<EndpointSlice>()).flat_map(|slice| &slice.endpoints);
        // Of very many nobody looks at each.
        let few = all().count() <= SEEN;
        // What a person wrote may lead to something else, or say only what a Pod is called.
        let leads = |one: &TargetRef| few && one.kind == "Pod" && one.uid != Uid::default();
        let mut endpoints: Vec<Endpoint> = all()
            .filter_map(|endpoint| {
                Some(Endpoint {
                    gone: endpoint.target_ref.as_ref().is_some_and(|pod| leads(pod) && gone(pod.uid)),
                    pod: endpoint.target_ref.as_ref()?.name.to_string(),
                    address: endpoint.addresses.first()?.to_string(),
                    hostname: endpoint.hostname.to_string(),
                    ready: endpoint.conditions.ready.unwrap_or(true),
                    terminating: endpoint.conditions.terminating.unwrap_or(false),
                    serving: endpoint.conditions.serving.unwrap_or(true),
                })
            })
            .collect();
        crate::sort::sort_by(&mut endpoints, |a, b| natural(&a.pod, &b.pod).then_with(|| a.cmp(b)));
        endpoints.dedup_by(|a, b| a.pod == b.pod);
        let form = if body.is_headless() {
            "headless".to_string()
        } else if body.spec.kind.is_empty() {
            "ClusterIP".into()
        } else {
            body.spec.kind.to_string()
        };
        let port = |port: &crate::api::network::ServicePort| format!("{} → {}", port.port, text(Some(&port.target_port)));
        let hint = match endpoints.iter().filter(|one| one.gone).count() {
            _ if endpoints.is_empty() => no_endpoints(object, body, &of(Kind::Pod)),
            0 => Message::default(),
            n => msg::hint_stale_endpoints(n),
        };
        let address = match body.spec.kind.as_str() {
            "ExternalName" => body.spec.external_name.to_string(),
            _ if body.is_headless() => String::new(),
            _ => body.spec.cluster_ip.to_string(),
        };
        let ports = body.spec.ports.iter().map(port).collect();
        let slice = if let [one] = own[..] { Some(id(one)) } else { None };
        let (slices, selector) = (own.len(), selector.join(","));
        let node_ports = body.spec.ports.iter().filter(|port| port.node_port > 0).map(|port| port.node_port.to_string()).collect();
        let external = if body.spec.kind == "LoadBalancer" { balancer(&body.status) } else { String::new() };
        Some(Service { id: id(object), form, selector, endpoints, slices, slice, address, ports, node_ports, external, hint })
    };
    let mut out: Vec<Service> = services.iter().filter_map(read).collect();
    crate::sort::sort_by(&mut out, |a, b| a.id.cmp(&b.id));
    out
}

/// The addresses that a load balancer has given, or that none has yet.
fn balancer(status: &serde_json::Value) -> String {
    let ingress = status["loadBalancer"]["ingress"].as_array().into_iter().flatten();
    let all: Vec<&str> = ingress.filter_map(|one| one["ip"].as_str().or(one["hostname"].as_str())).collect();
    if all.is_empty() { crate::projection::model::PENDING.into() } else { all.join(",") }
}

/// Why a Service reaches nothing: the label in which the nearest Pod differs.
fn no_endpoints(object: &Object, body: &crate::api::network::Service, pods: &[Rc<Object>]) -> Message {
    let wanted = &body.spec.selector;
    if wanted.is_empty() {
        return msg::hint_no_selector();
    }
    let here = pods.iter().filter(|pod| pod.meta.namespace == object.meta.namespace);
    let Some((pod, differs)) = nearest(wanted, here) else { return msg::hint_no_pod() };
    let Some((key, value)) = differs else { return msg::hint_no_address(&pod.meta.name) };
    match pod.meta.labels.get(key) {
        Some(other) => msg::hint_label_differs(format!("{key}={value}"), &pod.meta.name, format!("{key}={other}")),
        None => msg::hint_label_missing(format!("{key}={value}"), &pod.meta.name, key),
    }
}

/// A label: key and value.
type Label<'a> = (&'a Str, &'a Str);

/// The first of the Pods that have most of the labels, and the label in which it differs, if it does.
pub fn nearest<'a, 'b>(
    wanted: &'b BTreeMap<Str, Str>,
    pods: impl Iterator<Item = &'a Rc<Object>>,
) -> Option<(&'a Rc<Object>, Option<Label<'b>>)> {
    let lacks = |pod: &Object, (key, value): &(&Str, &Str)| pod.meta.labels.get(*key) != Some(*value);
    let has = |pod: &Object| wanted.iter().filter(|label| !lacks(pod, label)).count();
    let near = pods.map(|pod| (has(pod), pod)).reduce(|best, next| if next.0 > best.0 { next } else { best });
    near.map(|(_, pod)| (pod, wanted.iter().find(|label| lacks(pod, label))))
}

/// An autoscaler or a disruption budget, with the workload it is about.
fn policy(object: &Object, of: List) -> Policy {
    let value = object.to_value();
    let at = |path: &str| text(value.pointer(path));
    let named = |kind: &str, name: &str| {
        let kind = Kind::from_name(kind)?;
        of(kind).into_iter().find(|o| o.meta.namespace == object.meta.namespace && o.meta.name == name)
    };
    let mut out = Policy { id: id(object), ..Policy::default() };
    if object.kind == Kind::HorizontalPodAutoscaler {
        let (kind, name) = (at("/spec/scaleTargetRef/kind"), at("/spec/scaleTargetRef/name"));
        let least = if at("/spec/minReplicas").is_empty() { "1".to_string() } else { at("/spec/minReplicas") };
        out.form = msg::policy_range(least, at("/spec/maxReplicas"));
        // The first metric of the two kinds that are known here.
        let source = if at("/spec/metrics/0/type") == "ContainerResource" { "containerResource" } else { "resource" };
        let now = at(&["/status/currentMetrics/0/", source, "/current/averageUtilization"].concat());
        let goal = at(&["/spec/metrics/0/", source, "/target/averageUtilization"].concat());
        let what = at(&["/spec/metrics/0/", source, "/name"].concat());
        out.words = match (now.is_empty(), goal.is_empty()) {
            (false, false) => msg::policy_metric(what, format!("{now}%"), format!("{goal}%")),
            (true, false) => msg::policy_no_metric(what, format!("{goal}%")),
            _ => msg::policy_scales(kind.as_str(), name.as_str()),
        };
        out.target = named(&kind, &name).map(|o| o.meta.uid.to_string()).unwrap_or_default();
        return out;
    }
    let may = at("/status/disruptionsAllowed");
    out.form = msg::policy_evictions(may.parse::<i64>().unwrap_or(0));
    let number = |path| at(path).parse::<i64>().unwrap_or(0);
    out.words = msg::policy_healthy(number("/status/currentHealthy"), number("/status/desiredHealthy"));
    let budget = BudgetSpec::of(object);
    let mut owner = of(Kind::Pod).into_iter().find(|pod| pod.meta.namespace == object.meta.namespace && budget.selects(pod));
    while let Some(next) = owner.as_ref().and_then(|o| o.meta.controller()).and_then(|o| named(&o.kind, &o.name)) {
        owner = Some(next);
    }
    out.target = owner.map(|o| o.meta.uid.to_string()).unwrap_or_default();
    out
}

fn text(value: Option<&serde_json::Value>) -> String {
    match value {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

fn claims(claims: &[Rc<Object>], sets: &[Rc<Object>]) -> Vec<Claim> {
    let mut prefixes: Vec<(String, String)> = Vec::new();
    for set in sets {
        for template in set.get::<StatefulSet>().into_iter().flat_map(|body| &body.spec.volume_claim_templates) {
            if let Some(name) = template.pointer("/metadata/name").and_then(|name| name.as_str()) {
                prefixes.push((format!("{name}-{}-", set.meta.name), set.meta.name.to_string()));
            }
        }
    }
    let read = |object: &Rc<Object>| {
        let body = object.get::<PersistentVolumeClaim>()?;
        let mode = body.spec.access_modes.iter().map(|mode| short_mode(mode)).collect::<Vec<_>>().join(",");
        let member =
            prefixes.iter().find_map(|(prefix, set)| Some((set.clone(), object.meta.name.strip_prefix(prefix.as_str())?.parse().ok()?)));
        let phase = if object.meta.is_deleting() { "Terminating".to_string() } else { body.status.phase.to_string() };
        let capacity = body.status.capacity.get("storage").or_else(|| body.spec.resources.requests.get("storage"));
        Some(Claim {
            id: id(object),
            phase: if phase.is_empty() { "Pending".into() } else { phase },
            capacity: text(capacity),
            mode,
            volume: body.spec.volume_name.to_string(),
            class: body.class().to_string(),
            member,
        })
    };
    let mut out: Vec<Claim> = claims.iter().filter_map(read).collect();
    crate::sort::sort_by(&mut out, |a, b| a.id.namespace.cmp(&b.id.namespace).then_with(|| natural(&a.id.name, &b.id.name)));
    out
}

fn short_mode(mode: &str) -> &str {
    match mode {
        "ReadWriteOnce" => "RWO",
        "ReadOnlyMany" => "ROX",
        "ReadWriteMany" => "RWX",
        "ReadWriteOncePod" => "RWOP",
        other => other,
    }
}

fn volume(object: &Object) -> Option<Volume> {
    let body = object.get::<PersistentVolume>()?;
    let node = body
        .spec
        .node_affinity
        .as_ref()
        .and_then(|affinity| affinity.required.as_ref()?.node_selector_terms.first()?.match_expressions.first()?.values.first())
        .map(|node| node.to_string())
        .unwrap_or_default();
    Some(Volume {
        id: id(object),
        phase: body.status.phase.to_string(),
        capacity: text(body.spec.capacity.get("storage")),
        node,
        class: body.spec.storage_class_name.to_string(),
        data: Message::default(),
    })
}

fn node(object: &Object) -> Option<Node> {
    let body = object.get::<crate::api::node::Node>()?;
    let free = body.allocatable();
    let ready = body.is_ready();
    let condition = body.status.conditions.iter().find(|condition| condition.kind == "Ready");
    let taint = body.spec.taints.iter().find(|taint| !taint.key.starts_with("node.kubernetes.io/"));
    let note = match (condition, taint) {
        (Some(condition), _) if !ready => Message::name(&condition.message),
        (None, _) => msg::node_no_report(),
        _ if body.spec.unschedulable => msg::node_cordoned(),
        (_, Some(taint)) => msg::node_taint(format!("{}:{}", taint.key, taint.effect)),
        _ => Message::default(),
    };
    Some(Node {
        id: id(object),
        ready,
        cordoned: body.spec.unschedulable,
        note,
        countdown: None,
        cpu: free.cpu.max(0) as u64,
        memory: free.memory.max(0) as u64,
        pods: body.max_pods().max(0) as u64,
    })
}

/// The rollout budget of a Deployment: the selected one or the owner of what is selected, else the first.
pub fn budget(list: List, pods: &Pods, scope: &Scope, selected: Option<&Object>) -> Option<Budget> {
    let mut rolling = list(Kind::Deployment);
    rolling.retain(|object| scope.holds(object) && object.get::<Deployment>().is_some_and(|body| body.spec.strategy.kind != "Recreate"));
    let sets = list(Kind::ReplicaSet);
    // Of a Pod its ReplicaSet's owner, of a ReplicaSet its owner, of a Deployment itself.
    let owner = |uid: Uid| sets.iter().find(|set| set.meta.uid == uid).and_then(|set| set.meta.controller()).map(|owner| owner.uid);
    let chosen = selected.and_then(|object| match object.kind {
        Kind::Deployment => Some(object.meta.uid),
        Kind::ReplicaSet => Some(object.meta.controller()?.uid),
        _ => owner(object.meta.controller()?.uid),
    });
    // Without a choice, one that is on its way tells more than one that is done.
    let moving = |object: &&Rc<Object>| {
        object.get::<Deployment>().is_some_and(|d| d.status.updated_replicas != d.spec.replicas || d.status.replicas != d.spec.replicas)
    };
    let all = sorted(rolling);
    let object = match chosen {
        // One that has no budget is told nothing of another's.
        Some(uid) => all.iter().find(|object| object.meta.uid == uid)?,
        None => all.iter().find(moving).or(all.first())?,
    };
    let body = object.get::<Deployment>()?;
    let desired = i64::from(body.spec.replicas.max(0));
    let (more, fewer) = body.limits();
    let update = body.spec.strategy.rolling_update.as_ref();
    let words = |limit: Option<&IntOrPercent>| match limit {
        Some(IntOrPercent::Int(n)) => n.to_string(),
        Some(IntOrPercent::Percent(n)) => format!("{n}%"),
        None => String::new(),
    };
    let mut sets: Vec<&Rc<Object>> = sets.iter().filter(|set| set.meta.is_controlled_by(object.meta.uid)).collect();
    crate::sort::sort_by_key(&mut sets, |set| revision(set));
    let newest = sets.last().map(|set| set.meta.uid);
    let mut out = Budget {
        uid: object.meta.uid.to_string(),
        name: object.meta.name.to_string(),
        several: all.len() > 1,
        surge: words(update.and_then(|update| update.max_surge.as_ref())),
        unavailable: words(update.and_then(|update| update.max_unavailable.as_ref())),
        at_least: (desired - fewer).max(0) as usize,
        at_most: (desired + more).max(0) as usize,
        ..Budget::default()
    };
    let mut waits = None;
    let done = body.status.conditions.iter().any(|c| c.kind == "Progressing" && c.reason == "NewReplicaSetAvailable");
    let rolling = sets.len() > 1 && !done;
    let unobserved = Some(object.meta.generation).filter(|generation| body.status.observed_generation < *generation);
    let mut sizes = Sizes { desired: desired as usize, paused: body.spec.paused, rolling, unobserved, ..Sizes::default() };
    for set in &sets {
        let new = Some(set.meta.uid) == newest;
        if let Some(body) = set.get::<ReplicaSet>() {
            let asked = body.spec.replicas.max(0) as usize;
            match new {
                true => (sizes.new, sizes.available) = (asked, body.status.available_replicas.max(0) as usize),
                false => sizes.old += asked,
            }
        }
        let own = pods.of(set.meta.uid);
        let waiting = |state: PodState| !matches!(state, PodState::Ready | PodState::Terminating);
        if new && own.counts().iter().any(|(state, _)| waiting(*state)) {
            let places = own.states().enumerate().filter(|(_, state)| waiting(*state));
            let pod = places.filter_map(|(at, _)| own.get(at)).find(|pod| !pod.ended);
            waits = pod.map(|pod| format!("…{}", &pod.id.name[pod.id.name.len().saturating_sub(9)..]));
        }
        if own.len() > SEEN {
            // Of so many a single one whose image was changed by hand is not told apart.
            let tag = own.first().map_or("", |pod| pod.tag.as_str());
            let counts = own.counts();
            let of = |wanted: PodState| counts.iter().find(|(state, _)| *state == wanted).map_or(0, |(_, n)| *n);
            // Of those that failed some have ended: no controller counts them.
            let ended = own.ended().saturating_sub(of(PodState::Succeeded)).min(of(PodState::Failed));
            for (state, n) in &counts {
                out.add(*state, tag, new, if *state == PodState::Failed { n - ended } else { *n });
            }
        } else {
            own.iter().filter(|pod| !pod.ended).for_each(|pod| out.add(pod.state, &pod.tag, new, 1));
        }
    }
    Some(out.settle(sizes, waits.as_deref()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn object(kind: Kind, value: Value) -> Rc<Object> {
        Rc::new(Object::from_value(kind, value).expect("an object"))
    }

    fn uid(n: u128) -> String {
        Uid(n).to_string()
    }

    fn owner(kind: &str, name: &str, n: u128) -> Value {
        json!([{ "apiVersion": "apps/v1", "kind": kind, "name": name, "uid": uid(n), "controller": true }])
    }

    fn pod(name: &str, n: u128, owners: Value, status: Value) -> Rc<Object> {
        let meta = json!({ "name": name, "namespace": "default", "uid": uid(n), "ownerReferences": owners });
        object(
            Kind::Pod,
            json!({ "metadata": meta, "spec": { "containers": [{ "name": "c", "image": "nginx:1.27" }], "nodeName": "node-1" }, "status": status }),
        )
    }

    fn ready() -> Value {
        json!({ "phase": "Running", "conditions": [{ "type": "Ready", "status": "True" }] })
    }

    fn rollout() -> Vec<Rc<Object>> {
        let meta = |name: &str, n: u128| json!({ "name": name, "namespace": "default", "uid": uid(n) });
        let set = |name: &str, n: u128, revision: &str, replicas: i32| {
            let meta = json!({ "name": name, "namespace": "default", "uid": uid(n), "annotations": { "deployment.kubernetes.io/revision": revision }, "ownerReferences": owner("Deployment", "nginx", 1) });
            object(
                Kind::ReplicaSet,
                json!({ "metadata": meta, "spec": { "replicas": replicas, "template": { "spec": { "containers": [] } } } }),
            )
        };
        vec![
            object(
                Kind::Deployment,
                json!({ "metadata": meta("nginx", 1), "spec": { "replicas": 3, "strategy": { "type": "RollingUpdate", "rollingUpdate": { "maxSurge": "25%", "maxUnavailable": "25%" } } }, "status": { "replicas": 3, "readyReplicas": 2 } }),
            ),
            set("nginx-a", 2, "1", 0),
            set("nginx-b", 3, "2", 3),
            pod("nginx-b-x", 10, owner("ReplicaSet", "nginx-b", 3), ready()),
            pod(
                "nginx-b-y",
                11,
                owner("ReplicaSet", "nginx-b", 3),
                json!({ "phase": "Pending", "containerStatuses": [{ "name": "c", "state": { "waiting": { "reason": "ContainerCreating" } } }] }),
            ),
            pod(
                "nginx-b-z",
                12,
                owner("ReplicaSet", "nginx-b", 3),
                json!({ "phase": "Pending", "containerStatuses": [{ "name": "c", "state": { "waiting": { "reason": "ImagePullBackOff" } } }] }),
            ),
        ]
    }

    fn read(objects: &[Rc<Object>]) -> (impl Fn(Kind) -> Vec<Rc<Object>> + use<>, Pods) {
        let objects = objects.to_vec();
        let mut pods = Pods::default();
        let get = |key: &crate::api::ObjectRef| objects.iter().find(|object| object.key() == *key).cloned();
        for object in objects.iter().filter(|object| object.kind == Kind::Pod) {
            pods.take(object, false, &get);
        }
        (move |kind| objects.iter().filter(|object| object.kind == kind).cloned().collect(), pods)
    }

    fn model(objects: &[Rc<Object>], scope: &Scope) -> Model {
        let (list, mut pods) = read(objects);
        super::model(&list, &mut pods, scope)
    }

    #[test]
    fn a_deployment_becomes_a_tree_with_old_empty_revisions_folded() {
        let model = model(&rollout(), &Scope::default());
        assert_eq!(model.roots.len(), 1);
        let root = &model.roots[0];
        assert_eq!((root.folded, root.groups.len(), root.groups[0].pods.len()), (1, 1, 3));
        let states: Vec<(PodState, &str)> = root.groups[0].pods.iter().map(|pod| (pod.state, pod.word.as_str())).collect();
        assert_eq!(states, [(PodState::Ready, "Ready"), (PodState::Creating, "ContainerCreating"), (PodState::Failed, "ImagePullBackOff")]);
        assert_eq!((root.groups[0].pods[0].prefix, root.groups[0].pods[0].family), (8, 6));
    }

    #[test]
    fn the_budget_resolves_percentages() {
        let objects = rollout();
        let (list, pods) = read(&objects);
        let budget = budget(&list, &pods, &Scope::default(), None).expect("a Deployment");
        assert_eq!((budget.at_least, budget.at_most, budget.pods(), budget.ready()), (3, 4, 3, 1));
        assert_eq!(budget.text, "1 of 3 new Pods are ready");
    }

    #[test]
    fn the_budget_counts_no_pod_that_has_ended() {
        let mut objects = rollout();
        let evicted = |n: u128| {
            let status = json!({ "phase": "Failed", "reason": "Evicted" });
            pod(&format!("nginx-b-e{n}"), n, owner("ReplicaSet", "nginx-b", 3), status)
        };
        let told = |objects: &[Rc<Object>]| {
            let (list, pods) = read(objects);
            let budget = budget(&list, &pods, &Scope::default(), None).expect("a Deployment");
            let failed = budget.cells.iter().filter(|cell| cell.state == PodState::Failed).map(|cell| cell.pods).sum::<usize>();
            (budget.pods(), failed, budget.text)
        };
        let before = told(&objects);
        objects.push(evicted(100));
        assert_eq!(told(&objects), before);
        // Where they are many they are counted by state.
        objects.extend((101..400).map(evicted));
        assert_eq!(told(&objects), before);
    }

    #[test]
    fn a_deployment_that_is_replaced_at_once_has_no_budget_and_shows_no_other() {
        let mut objects = rollout();
        let meta = json!({ "name": "db", "namespace": "default", "uid": uid(40) });
        objects.push(object(Kind::Deployment, json!({ "metadata": meta, "spec": { "replicas": 1, "strategy": { "type": "Recreate" } } })));
        let (list, pods) = read(&objects);
        let of = |at: usize| budget(&list, &pods, &Scope::default(), Some(&objects[at])).map(|budget| budget.name);
        assert_eq!((of(objects.len() - 1), of(0), of(4)), (None, Some("nginx".into()), Some("nginx".into())));
        assert!(!budget(&list, &pods, &Scope::default(), None).expect("the other one").several);
    }

    #[test]
    fn the_budget_names_the_only_pod_that_an_update_waits_for() {
        let mut objects = rollout();
        let mut old = (*objects[1]).clone();
        if let Body::ReplicaSet(body) = &mut old.body {
            body.spec.replicas = 1;
        }
        objects[1] = Rc::new(old);
        objects.pop();
        objects.push(pod("nginx-b-z", 12, owner("ReplicaSet", "nginx-b", 3), ready()));
        let (list, pods) = read(&objects);
        assert_eq!(budget(&list, &pods, &Scope::default(), None).expect("a Deployment").text, "Waiting for …nginx-b-y to become Ready");
    }

    #[test]
    fn only_what_leads_to_a_pod_by_its_uid_can_lead_to_none() {
        let service = json!({ "metadata": { "name": "s", "namespace": "default", "uid": uid(50) }, "spec": { "ports": [{ "port": 80 }] } });
        let to = |address: &str, target: Value| json!({ "addresses": [address], "targetRef": target });
        let slice = |endpoints: Vec<Value>| {
            let labels = json!({ "kubernetes.io/service-name": "s" });
            let meta = json!({ "name": "s-1", "namespace": "default", "uid": uid(51), "labels": labels });
            object(Kind::EndpointSlice, json!({ "metadata": meta, "addressType": "IPv4", "endpoints": endpoints }))
        };
        let named = to("10.1.2.3", json!({ "kind": "Pod", "name": "q", "namespace": "default" }));
        let node = to("10.1.2.4", json!({ "kind": "Node", "name": "node-1", "uid": uid(52) }));
        let dead = to("10.1.2.5", json!({ "kind": "Pod", "name": "r", "namespace": "default", "uid": uid(53) }));
        let hint = |endpoints: Vec<Value>, lags: bool| {
            let objects = [object(Kind::Service, service.clone()), slice(endpoints)];
            model(&objects, &Scope { lags, ..Scope::default() }).services[0].hint.clone()
        };
        assert_eq!(hint(vec![named.clone(), node.clone()], false), "");
        assert_eq!(hint(vec![named.clone(), node.clone(), dead.clone()], false), "1 endpoint leads to no Pod");
        // While the Pods are being read, nobody knows.
        assert_eq!(hint(vec![named, node, dead], true), "");
    }

    #[test]
    fn what_templates_and_lone_pods_name_is_used_and_the_rest_is_only_stored() {
        let mut objects = rollout();
        let meta = |name: &str, n: u128| json!({ "name": name, "namespace": "default", "uid": uid(n) });
        let template = |env: &str| json!({ "spec": { "containers": [{ "name": "c", "envFrom": [{ "configMapRef": { "name": env } }] }] } });
        let spec = json!({ "replicas": 3, "template": template("settings-2") });
        objects[0] = object(Kind::Deployment, json!({ "metadata": meta("nginx", 1), "spec": spec }));
        for (at, env, pods) in [(1, "settings-1", 1), (2, "settings-2", 3)] {
            let mut set = objects[at].to_value();
            set["spec"] = json!({ "replicas": pods, "template": template(env) });
            objects[at] = object(Kind::ReplicaSet, set);
        }
        let volumes = json!([
            { "name": "v", "secret": { "secretName": "none" } },
            { "name": "w", "secret": { "secretName": "some", "optional": true } },
        ]);
        let spec = json!({ "containers": [{ "name": "c", "image": "i" }], "volumes": volumes, "serviceAccountName": "robot" });
        objects.push(object(Kind::Pod, json!({ "metadata": meta("alone", 20), "spec": spec })));
        for (n, (kind, name)) in [
            (Kind::ConfigMap, "settings-1"),
            (Kind::ConfigMap, "settings-2"),
            (Kind::ConfigMap, "other"),
            (Kind::ServiceAccount, "robot"),
            (Kind::ServiceAccount, "default"),
        ]
        .into_iter()
        .enumerate()
        {
            objects.push(object(kind, json!({ "metadata": meta(name, 30 + n as u128) })));
        }
        let told = |filter: &str| -> Vec<String> {
            let model = model(&objects, &Scope { filter: filter.into(), ..Scope::default() });
            let names = |used: &Used| used.users.iter().map(|user| user.name.clone()).collect::<Vec<_>>().join(" ");
            let one = |used: &Used| {
                format!("{} {} {} {} {}", used.id.kind, used.id.name, Message::list(used.what_for.clone()), used.missing, names(used))
            };
            model.uses.iter().map(one).chain(model.inert.iter().map(|id| id.name.clone())).collect()
        };
        assert_eq!(
            told(""),
            [
                "ConfigMap settings-1 env, older revision false nginx".to_string(),
                "ConfigMap settings-2 env false nginx".to_string(),
                "Secret none volume true alone".to_string(),
                "ServiceAccount robot  false alone".to_string(),
                "other".to_string(),
            ]
        );
        // What is asked for by name comes alone, without those that use it.
        assert_eq!(told("settings-1"), ["ConfigMap settings-1 env, older revision false "]);
        assert_eq!(told("alone"), ["Secret none volume true alone".to_string(), "ServiceAccount robot  false alone".to_string()]);
    }

    #[test]
    fn deletion_wins_over_every_other_state() {
        let mut leaving = (*pod("web-0", 1, json!([]), ready())).clone();
        leaving.meta.deletion_timestamp = Some(crate::api::Timestamp(100));
        assert_eq!(status(&leaving).0, PodState::Terminating);
        let scope = Scope { now: 72_400, ..Scope::default() };
        assert_eq!(model(&[Rc::new(leaving)], &scope).pods().next().map(|pod| pod.note.clone()).as_deref(), Some("at most 27.6 s"));
        // Once its containers have ended nothing waits for the rest of the time.
        let ended = json!({ "phase": "Running", "containerStatuses": [{ "name": "c", "state": { "terminated": { "exitCode": 0 } } }] });
        let mut leaving = (*pod("web-0", 1, json!([]), ended)).clone();
        leaving.meta.deletion_timestamp = Some(crate::api::Timestamp(100));
        assert_eq!(model(&[Rc::new(leaving)], &scope).pods().next().map(|pod| pod.note.clone()).as_deref(), Some("node-1"));
    }

    #[test]
    fn a_member_of_a_statefulset_has_an_ordinal_and_its_claims() {
        let meta = json!({ "name": "web", "namespace": "default", "uid": uid(1) });
        let set = object(
            Kind::StatefulSet,
            json!({ "metadata": meta, "spec": { "replicas": 1, "volumeClaimTemplates": [{ "metadata": { "name": "www" } }] } }),
        );
        let claim = object(
            Kind::PersistentVolumeClaim,
            json!({ "metadata": { "name": "www-web-3", "namespace": "default", "uid": uid(5) }, "spec": { "accessModes": ["ReadWriteOnce"] } }),
        );
        let model = model(
            &[
                set,
                pod("web-10", 2, owner("StatefulSet", "web", 1), ready()),
                pod("web-2", 3, owner("StatefulSet", "web", 1), ready()),
                claim,
            ],
            &Scope::default(),
        );
        assert_eq!(model.pods().map(|pod| pod.ordinal).collect::<Vec<_>>(), [Some(2), Some(10)]);
        assert_eq!(model.claims[0].member, Some(("web".into(), 3)));
        assert_eq!(model.claims[0].mode, "RWO");
    }
}
