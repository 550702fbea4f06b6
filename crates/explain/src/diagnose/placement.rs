//! Pods without a node: gates, claims, and the refusals of each node.

use super::finding::{Context, Diagnosis, free_name, free_names, line, owners};
use super::held_up;
use crate::handles::Handles;
use crate::headline::amount;
use crate::waits::{DecidingFact, FactLabel, PendingReason, RemedyKind, UnschedulableReason};
use actions::Action;
use controller_runtime::cluster::{self, NodeConfig};
use fault::Fault;
use k8s_model::daemonset::DaemonSet;
use k8s_model::node::Node;
use k8s_model::pod::{Pod, PodAffinityTerm, Resources};
use k8s_model::storage::{PersistentVolumeClaim, StorageClass};
use k8s_model::{Kind, Object, ObjectRef, Str, Timestamp, Uid};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Number of nodes evaluated: with thousands, the first are representative.
const MAX_NODES_ASKED: usize = 100;
/// Limits for counted Pods without a node, and for nodes offered for them: more Pods would not fit on those nodes.
const MAX_WAITING_PODS: usize = 20_000;
const MAX_NEW_NODES: i64 = 200;
/// Maximum number of nodes listed.
const MAX_LISTED_NODES: usize = 12;

/// Returns the claim of a Pod that keeps it from being scheduled.
fn claim(sim: &Context<'_>, object: &Object, pod: &Pod) -> Option<(PendingReason, ObjectRef)> {
    pod.spec.claims().find_map(|name| {
        let key = ObjectRef::new(Kind::PersistentVolumeClaim, &object.meta.namespace, name);
        let Some(claim) = sim.store().get(&key) else {
            return Some((PendingReason::ClaimMissing(name.clone()), key));
        };
        let body: &PersistentVolumeClaim = claim.body();
        if claim.meta.is_deleting() {
            return Some((PendingReason::ClaimLeaves(name.clone()), key));
        }
        if body.status.phase == "Lost" {
            return Some((PendingReason::ClaimLost(name.clone()), key));
        }
        let class = sim
            .store()
            .get(&ObjectRef::new(Kind::StorageClass, "", body.class()))
            .and_then(|class| class.get::<StorageClass>());
        let waits = class.is_some_and(StorageClass::waits_for_first_consumer);
        (body.status.phase != "Bound" && !waits)
            .then(|| (PendingReason::ClaimUnbound(name.clone()), key))
    })
}

/// Diagnoses a Pod without a node: the refusals of each node, and the remedies.
pub fn unbound(sim: &Context<'_>, object: &Rc<Object>, pod: &Pod) -> Option<Diagnosis> {
    let key = object.key();
    if let [first, ..] = &pod.spec.scheduling_gates[..] {
        let mut out = Diagnosis::new(object, PendingReason::Gated);
        pod.spec
            .scheduling_gates
            .iter()
            .for_each(|gate| out.word(FactLabel::Gate, &gate.name));
        let ungate = line(
            "patch",
            &key,
            " --type=merge -p '{\"spec\":{\"schedulingGates\":null}}'",
        );
        out.cure(RemedyKind::Ungate, &first.name, "", &[ungate]);
        out.since(sim, object.meta.creation_timestamp);
        return Some(out);
    }
    if pod.spec.scheduler_name != "default-scheduler" {
        return Some(Diagnosis::new(
            object,
            PendingReason::OtherScheduler(pod.spec.scheduler_name.clone()),
        ));
    }
    // The scheduler has not processed it yet.
    let said = pod
        .status
        .condition("PodScheduled")
        .filter(|condition| condition.status == "False")?;
    if let Some((waits, claim)) = claim(sim, object, pod) {
        let mut out = Diagnosis::new(object, waits);
        out.since(sim, said.last_transition_time);
        match sim.diagnose(&claim) {
            Some(deeper) => out.remedies = deeper.remedies,
            None => missing_claim(sim, &claim, &mut out),
        }
        out.waits_for = sim.store().get(&claim).map(|_| claim);
        return Some(out);
    }
    if !pod.status.nominated_node_name.is_empty() {
        let mut out = Diagnosis::new(
            object,
            PendingReason::Preempting(pod.status.nominated_node_name.to_str()),
        );
        out.since(sim, said.last_transition_time);
        return Some(out);
    }
    // The scheduler decided by an outdated cache.
    if let Some(found) = held_up::held_up(sim, object) {
        return Some(found);
    }
    let nodes = sim
        .scheduler
        .explain(object, &sim.informers.scheduler.cache, MAX_NODES_ASKED);
    // The scheduler will process the change in a moment.
    if nodes.iter().any(|(_, reasons)| reasons.is_empty()) && sim.scheduler.queued() > 0 {
        return None;
    }
    let mut out = Diagnosis::new(
        object,
        PendingReason::NoNode {
            nodes: sim.store().count(Kind::Node),
        },
    );
    out.since(sim, said.last_transition_time);
    for (node, reasons) in nodes.iter().take(MAX_LISTED_NODES) {
        match &reasons[..] {
            [] => out.facts.push(DecidingFact::Fits(node.clone())),
            all => out.facts.extend(
                all.iter()
                    .map(|one| DecidingFact::Node(node.clone(), one.clone())),
            ),
        }
    }
    place(sim, object, &nodes, &mut out);
    Some(out)
}

fn missing_claim(sim: &Context<'_>, claim: &ObjectRef, out: &mut Diagnosis) {
    if sim.store().get(claim).is_none() {
        let manifest = [
            "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata:\n  name: ",
            &claim.name,
            "\n  namespace: ",
            &claim.namespace,
            "\nspec:\n  accessModes: [ReadWriteOnce]\n  resources:\n    requests:\n      storage: 1Gi\n",
        ]
        .concat();
        out.cure(
            RemedyKind::MakeClaim,
            &claim.name,
            "",
            &[Action::apply(manifest)],
        );
    }
}

/// Adds remedies for a Pod without a node: the opposite of a node's only refusal. Harmless ones come first.
fn place(
    sim: &Context<'_>,
    object: &Rc<Object>,
    nodes: &[(Str, Vec<UnschedulableReason>)],
    out: &mut Diagnosis,
) {
    let alone: Vec<(&Str, &UnschedulableReason)> = nodes
        .iter()
        .filter_map(|(node, reasons)| {
            if let [one] = &reasons[..] {
                Some((node, one))
            } else {
                None
            }
        })
        .collect();
    // If there are several similar Pods, all have to find room: a remedy for some of them is none.
    let waiting = Waiting::count(sim, object);
    let alike = waiting.alike;
    // Refusals of existing nodes that do not apply to a new node.
    let fills = |one: &UnschedulableReason| match one {
        UnschedulableReason::InsufficientResource {
            requested,
            allocatable,
            ..
        } => requested <= allocatable,
        UnschedulableReason::NodeUnschedulable
        | UnschedulableReason::UntoleratedTaint { .. }
        | UnschedulableReason::NodeSelector { .. } => false,
        UnschedulableReason::NominatedPods
        | UnschedulableReason::NodeName
        | UnschedulableReason::NodeAffinity
        | UnschedulableReason::PodAffinity { .. }
        | UnschedulableReason::MissingTopologyKey { .. } => false,
        _ => true,
    };
    let crowded = nodes.is_empty()
        || nodes
            .iter()
            .any(|(_, reasons)| !reasons.is_empty() && reasons.iter().all(fills));
    offer_unblock_nodes(sim, object, &alone, alike, out);
    if crowded {
        add_nodes(sim, object, &waiting, out);
    } else if nodes.iter().any(|(_, reasons)| exceeds_node_size(reasons)) {
        add_larger(sim, object, &waiting, out);
    }
    if alike > 1 {
        return;
    }
    let harmless = out.remedies.len();
    // A few nodes are enough: these remedies affect others, and finding them takes time.
    for (node, one) in alone.iter().take(3) {
        match one {
            UnschedulableReason::NodePorts { by, .. }
            | UnschedulableReason::PodAntiAffinity { pod: by, .. } => {
                make_room(
                    sim,
                    &ObjectRef::new(Kind::Pod, &object.meta.namespace, by),
                    "",
                    out,
                );
            }
            UnschedulableReason::InsufficientResource {
                resource,
                requested,
                free,
                allocatable,
            } => {
                if out.remedies.len() == harmless {
                    lower(sim, object, resource, *requested, nodes, out);
                }
                if requested <= allocatable {
                    offer_victim(sim, node, resource, requested - free, out);
                }
            }
            UnschedulableReason::TooManyPods { .. } => offer_victim(sim, node, "", 0, out),
            _ => {}
        }
    }
}

/// Node, and the number of Pods that fit there.
type Room<'a> = (&'a Str, i64);

/// Offers to remove the only refusal of existing nodes: of one node if that is enough, else of several.
fn offer_unblock_nodes(
    sim: &Context<'_>,
    object: &Object,
    alone: &[(&Str, &UnschedulableReason)],
    alike: i64,
    out: &mut Diagnosis,
) {
    let Some(pod) = object.pod() else { return };
    let most = if is_self_anti_affine(object, pod) {
        1
    } else {
        i64::MAX
    };
    let room = |node: &str| {
        fit(
            sim.scheduler.free_on(node),
            sim.scheduler.places_on(node).min(most),
            pod.spec.requests,
        )
    };
    // Refusals that are removed in the same way share a key.
    let key = |one: &UnschedulableReason| match one {
        UnschedulableReason::NodeUnschedulable => Some((RemedyKind::Uncordon, String::new())),
        UnschedulableReason::UntoleratedTaint { key, .. }
            if key.starts_with("node.kubernetes.io/") =>
        {
            Some((RemedyKind::NodeUp, String::new()))
        }
        UnschedulableReason::UntoleratedTaint { key, effect, .. } => {
            Some((RemedyKind::Untaint, [key, ":", effect].concat()))
        }
        UnschedulableReason::NodeSelector { key, want, .. } => {
            Some((RemedyKind::LabelNode, [key, "=", want].concat()))
        }
        _ => None,
    };
    let mut sorts: Vec<((RemedyKind, String), Vec<Room<'_>>)> = Vec::new();
    for (node, one) in alone {
        let Some(key) = key(one) else { continue };
        // A single waiting Pod has room: there is no other refusal.
        let room = if alike == 1 { 1 } else { room(node) };
        match sorts.iter_mut().find(|(known, _)| *known == key) {
            Some((_, nodes)) => nodes.push((node, room)),
            None => sorts.push((key, vec![(node, room)])),
        }
    }
    for ((cure, what), nodes) in sorts {
        let nodes = enough(nodes, alike);
        let names: Vec<String> = nodes.iter().map(|node| node.to_string()).collect();
        let step = |node: &String| match cure {
            RemedyKind::Uncordon => Action::kubectl(["kubectl uncordon ", node].concat()),
            RemedyKind::NodeUp => Fault::node_up(node).into(),
            RemedyKind::Untaint => {
                Action::kubectl(["kubectl taint nodes ", node, " ", &what, "-"].concat())
            }
            _ => {
                Action::kubectl(["kubectl label node ", node, " ", &what, " --overwrite"].concat())
            }
        };
        let more = match cure {
            RemedyKind::Uncordon => amount(
                "cpu",
                nodes
                    .iter()
                    .map(|node| sim.scheduler.free_on(node).cpu)
                    .sum(),
            ),
            RemedyKind::Untaint => what
                .rsplit_once(':')
                .map_or(String::new(), |(key, _)| key.into()),
            _ => what.clone(),
        };
        if !names.is_empty() {
            out.cure(
                cure,
                &several(&names),
                &more,
                &names.iter().map(step).collect::<Vec<_>>(),
            );
        }
    }
}

/// Returns the first node with room for `many` Pods, or else the fewest nodes that have it together; empty if even all have not.
fn enough(nodes: Vec<Room<'_>>, many: i64) -> Vec<&Str> {
    if let Some((node, _)) = nodes.iter().find(|(_, room)| *room >= many) {
        return vec![node];
    }
    let mut roomy: Vec<usize> = (0..nodes.len()).collect();
    roomy.sort_by_key(|at| Reverse(nodes[*at].1));
    let mut room = 0_i64;
    let last = roomy.iter().position(|at| {
        room = room.saturating_add(nodes[*at].1);
        room >= many
    });
    roomy.truncate(last.map_or(0, |last| last + 1));
    roomy.sort();
    roomy.into_iter().map(|at| nodes[at].0).collect()
}

/// Joins names: all of a few, the first and the last of many.
fn several(names: &[String]) -> String {
    match names {
        [first, .., last] if names.len() > 3 => [first, " … ", last].concat(),
        few => few.join(", "),
    }
}

/// Pods without a node.
struct Waiting {
    /// Number of Pods of the same controller as the diagnosed Pod, including it.
    alike: i64,
    /// Requests of the other Pods that a new node would accept, with their numbers; `None` if there are too many to check.
    others: Option<Vec<(Resources, i64)>>,
    /// New node.
    node: Option<Object>,
}

impl Waiting {
    /// Counts the Pods, visiting each once, unless there are too many.
    fn count(sim: &Context<'_>, object: &Rc<Object>) -> Waiting {
        let own = object.meta.controller().map(|owner| owner.uid);
        let node = cluster::node(
            1,
            &NodeConfig {
                name: "new".into(),
                allocatable: Vec::new(),
            },
            Timestamp::default(),
        );
        let node = Object::from_value(Kind::Node, node).ok();
        if sim.scheduler.waiting() > MAX_WAITING_PODS {
            // The number of unready Pods is an upper bound.
            let unready = own
                .and_then(|own| sim.informers.controller_manager.cache.unready_pods(own))
                .unwrap_or(1);
            return Waiting {
                alike: unready.max(1) as i64,
                others: None,
                node,
            };
        }
        let (mut alike, mut others) = (0, Vec::<(Resources, i64)>::new());
        // The result for one Pod of a controller holds for all.
        let mut known: (Option<Uid>, bool) = (None, false);
        let mut taken: BTreeMap<Uid, bool> = BTreeMap::new();
        for other in sim.scheduler.unplaced() {
            let owner = other.meta.controller().map(|owner| owner.uid);
            if other.meta.uid == object.meta.uid || own.is_some() && owner == own {
                alike += 1;
                continue;
            }
            if owner.is_none() || owner != known.0 {
                let would = || node.as_ref().is_some_and(|node| takes(sim, other, node));
                known = (
                    owner,
                    owner.map_or_else(would, |owner| *taken.entry(owner).or_insert_with(would)),
                );
            }
            let Some(pod) = other.pod().filter(|_| known.1) else {
                continue;
            };
            match others
                .iter_mut()
                .find(|(asks, _)| *asks == pod.spec.requests)
            {
                Some((_, many)) => *many += 1,
                None => others.push((pod.spec.requests, 1)),
            }
        }
        Waiting {
            alike: alike.max(1),
            others: Some(others),
            node,
        }
    }
}

/// Returns true if a new node would accept a Pod: it has no gate and no unbound claim, and requires no label set by hand.
fn takes(sim: &Context<'_>, object: &Object, node: &Object) -> bool {
    object.pod().is_some_and(|pod| {
        let asked =
            pod.spec.scheduling_gates.is_empty() && pod.spec.scheduler_name == "default-scheduler";
        asked && scheduler::fits_affinity(&pod.spec, node) && claim(sim, object, pod).is_none()
    })
}

/// Returns true if no two Pods like this one may be on the same node.
fn is_self_anti_affine(object: &Object, pod: &Pod) -> bool {
    let terms = &pod
        .spec
        .affinity
        .pod_anti_affinity
        .required_during_scheduling_ignored_during_execution;
    let own = |term: &PodAffinityTerm| {
        let here = term.namespaces.is_empty() || term.namespaces.contains(&object.meta.namespace);
        here && term.topology_key == "kubernetes.io/hostname"
            && term
                .label_selector
                .as_ref()
                .is_some_and(|selector| selector.matches(&object.meta.labels))
    };
    terms.iter().any(own)
        || pod
            .spec
            .containers
            .iter()
            .flat_map(|container| &container.ports)
            .any(|port| port.host_port > 0)
}

/// Number of Pods with these requests that fit.
fn fit(free: Resources, most: i64, asks: Resources) -> i64 {
    let of = |free: i64, asks: i64| {
        if asks > 0 {
            free.max(0) / asks
        } else {
            i64::MAX
        }
    };
    most.min(of(free.cpu, asks.cpu))
        .min(of(free.memory, asks.memory))
        .min(of(free.ephemeral, asks.ephemeral))
}

/// Resources of a new node left for other Pods after those of DaemonSets.
fn new_node(sim: &Context<'_>, node: &Object) -> (Resources, i64) {
    let node: &Node = node.body();
    let daemons: Vec<Resources> = sim
        .store()
        .list(Kind::DaemonSet)
        .filter_map(|set| Some(set.get::<DaemonSet>()?.template.spec.requests))
        .collect();
    let free = daemons
        .iter()
        .fold(node.allocatable(), |free, asks| free.minus(*asks));
    (free, node.max_pods() - daemons.len() as i64)
}

/// Returns true if only a node's size is refused.
fn exceeds_node_size(reasons: &[UnschedulableReason]) -> bool {
    let short = |one: &UnschedulableReason| {
        if let UnschedulableReason::InsufficientResource {
            requested,
            allocatable,
            ..
        } = one
        {
            Some(requested > allocatable)
        } else {
            None
        }
    };
    reasons.iter().all(|one| short(one).is_some())
        && reasons.iter().any(|one| short(one) == Some(true))
}

/// Offers a node larger than all existing ones, up to realistic sizes, for similar Pods that fit on no other node.
fn add_larger(sim: &Context<'_>, object: &Object, waiting: &Waiting, out: &mut Diagnosis) {
    let (Some(pod), Some(node), alike) = (object.pod(), &waiting.node, waiting.alike) else {
        return;
    };
    let (asks, (free, places)) = (pod.spec.requests, new_node(sim, node));
    if !scheduler::fits_affinity(&pod.spec, node)
        || places < alike
        || alike > 1 && is_self_anti_affine(object, pod)
    {
        return;
    }
    // Machine sizes are powers of two.
    let larger = |what: &str, free: i64, asks: i64, unit: i64, least: i64, most: i64| {
        let lacks = asks.saturating_mul(alike).saturating_sub(free);
        if lacks <= 0 {
            return Some(None);
        }
        let units = lacks.saturating_add(least * unit + unit - 1) / unit;
        let units = u64::try_from(units)
            .ok()?
            .checked_next_power_of_two()
            .filter(|units| *units <= most as u64)?;
        Some(Some((what.to_string(), units)))
    };
    let gib = 1 << 30;
    let Some(cpu) = larger("cpu", free.cpu, asks.cpu, 1000, 4, 128) else {
        return;
    };
    let Some(memory) = larger("memory", free.memory, asks.memory, gib, 8, 1024) else {
        return;
    };
    let Some(disk) = larger(
        "ephemeral-storage",
        free.ephemeral,
        asks.ephemeral,
        gib,
        100,
        4096,
    ) else {
        return;
    };
    let unit = |what: &str| if what == "cpu" { "" } else { "Gi" };
    let has: Vec<(String, u64)> = [cpu, memory, disk].into_iter().flatten().collect();
    if has.is_empty() {
        return;
    }
    let name = free_name(sim, Kind::Node, "", "node");
    let allocatable: Vec<(Str, Str)> = has
        .iter()
        .map(|(what, units)| {
            (
                Str::from(what.as_str()),
                Str::from([units.to_string().as_str(), unit(what)].concat()),
            )
        })
        .collect();
    let words: Vec<String> = has
        .iter()
        .map(|(what, units)| {
            [
                units.to_string().as_str(),
                unit(what),
                " ",
                if what == "cpu" { "CPU" } else { what },
            ]
            .concat()
        })
        .collect();
    out.cure(
        RemedyKind::AddLarger,
        &name,
        &words.join(", "),
        &[Fault::AddNode {
            name: Str::from(&*name),
            allocatable,
        }
        .into()],
    );
}

/// Offers as many new nodes as all Pods without one need: others that are waiting take their share.
fn add_nodes(sim: &Context<'_>, object: &Object, waiting: &Waiting, out: &mut Diagnosis) {
    let (Some(pod), Some(node), Some(others)) = (object.pod(), &waiting.node, &waiting.others)
    else {
        return;
    };
    if !scheduler::fits_affinity(&pod.spec, node) {
        return;
    }
    let (free, places) = new_node(sim, node);
    // Pods with anti-affinity need a node each.
    let apart = is_self_anti_affine(object, pod);
    let need = |asks: Resources, many: i64| match fit(free, places, asks) {
        each if each < 1 => None,
        each => Some((many + each - 1) / each),
    };
    // Pods with equal requests share the same nodes.
    let same = |asks: &Resources| !apart && *asks == pod.spec.requests;
    let together = others
        .iter()
        .filter(|(asks, _)| same(asks))
        .map(|(_, many)| many)
        .sum::<i64>();
    let Some(own) = need(pod.spec.requests, waiting.alike + together) else {
        return;
    };
    let nodes = if apart { waiting.alike } else { own }
        + others
            .iter()
            .filter(|(asks, _)| !same(asks))
            .filter_map(|(asks, many)| need(*asks, *many))
            .sum::<i64>();
    if !(1..=MAX_NEW_NODES).contains(&nodes) {
        return;
    }
    let names: Vec<String> = free_names(sim, Kind::Node, "", "node")
        .take(nodes as usize)
        .collect();
    let steps: Vec<Action> = names
        .iter()
        .map(|name| Fault::add_node(name).into())
        .collect();
    match &names[..] {
        [one] => out.cure(RemedyKind::AddNode, one, "", &steps),
        _ => out.cure(
            RemedyKind::AddNodes,
            &several(&names),
            &nodes.to_string(),
            &steps,
        ),
    }
}

/// Removes a Pod for good: by scaling its owner down, or deleting it.
fn make_room(sim: &Context<'_>, key: &ObjectRef, uses: &str, out: &mut Diagnosis) {
    let Some(other) = sim.store().get(key) else {
        return;
    };
    let owner = owners(sim, key)
        .pop()
        .and_then(|owner| sim.store().get(&owner).cloned());
    let Some(owner) = owner else {
        return out.cure(
            RemedyKind::MakeRoom,
            &key.name,
            uses,
            &[line("delete", key, " --wait=false")],
        );
    };
    if other.meta.uid == owner.meta.uid {
        return;
    }
    if let Some(replicas) = Handles::of(&owner)
        .replicas
        .filter(|replicas| *replicas > 0)
    {
        let to = [" --replicas=", &(replicas - 1).to_string()].concat();
        out.cure(
            RemedyKind::ScaleDown,
            &owner.meta.name,
            uses,
            &[line("scale", &owner.key(), &to)],
        );
    }
}

/// Offers to remove the smallest Pod of a node that frees enough room.
fn offer_victim(
    sim: &Context<'_>,
    node: &str,
    what: &'static str,
    short: i64,
    out: &mut Diagnosis,
) {
    let asks = |pod: &Pod| match what {
        "memory" => pod.spec.requests.memory,
        "ephemeral-storage" => pod.spec.requests.ephemeral,
        _ => pod.spec.requests.cpu,
    };
    let on_node = sim
        .scheduler
        .pods_on(node)
        .filter(|object| object.pod().is_some_and(|pod| asks(pod) >= short));
    let Some(other) = on_node.min_by_key(|object| object.pod().map_or(0, asks)) else {
        return;
    };
    let uses = if what.is_empty() {
        "1 Pod".into()
    } else {
        [&amount(what, other.pod().map_or(0, asks)), " ", what].concat()
    };
    make_room(sim, &other.key(), &uses, out);
}

/// Offers requests that would fit on the node with most room and no other refusal.
fn lower(
    sim: &Context<'_>,
    object: &Rc<Object>,
    what: &'static str,
    asks: i64,
    nodes: &[(Str, Vec<UnschedulableReason>)],
    out: &mut Diagnosis,
) {
    let most = nodes.iter().filter_map(|(_, reasons)| match &reasons[..] {
        [UnschedulableReason::InsufficientResource { resource, free, .. }] if *resource == what => {
            Some(*free)
        }
        _ => None,
    });
    let Some(most) = most.max().filter(|most| *most > 0) else {
        return;
    };
    let Some(top) = owners(sim, &object.key()).pop() else {
        return;
    };
    let Some(container) = object.pod().and_then(|pod| {
        pod.spec
            .containers
            .iter()
            .find(|c| c.resources.requests.contains_key(what))
    }) else {
        return;
    };
    if top.kind == Kind::Job {
        return;
    }
    // Other containers keep their requests.
    let own = container.resources.requests.get(what).map_or(0, |value| {
        if what == "cpu" {
            k8s_model::quantity::milli_of(value)
        } else {
            k8s_model::quantity::units_of(value)
        }
    });
    let to = most - (asks - own);
    if to <= 0 {
        return;
    }
    let value = if what == "cpu" {
        [&to.to_string(), "m"].concat()
    } else {
        to.to_string()
    };
    let rest = [" -c ", &container.name, " --requests=", what, "=", &value].concat();
    let more = [&amount(what, to), " ", what].concat();
    out.cure(
        RemedyKind::SetRequests,
        &top.name,
        &more,
        &[line("set resources", &top, &rest)],
    );
}
