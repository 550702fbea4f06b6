//! Faults that can be injected into an object or a loop, and reverted, each with a description of its effect.

use crate::handles::{ContainerImage, Handles};
use actions::Action;
use cluster::Sim;
use controller_runtime::load;
use fault::{Fault, FaultTarget, Load, NodeFault};
use i18n::{Message, msg};
use k8s_model::node::Node;
use k8s_model::pod::{Pod, ProbeKind, image_parts};
use k8s_model::quantity::Quantity;
use k8s_model::time::SECOND;
use k8s_model::{Body, Duration, Kind, Object, Str};
use kubelet::can_be_pulled;

/// Button that acts on the cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionOffer {
    /// Label.
    pub words: Message,
    /// Effect, for a line of its own.
    pub title: Message,
    /// Action of the button.
    pub action: Action,
}

impl ActionOffer {
    pub(super) fn new(words: Message, title: Message, action: impl Into<Action>) -> ActionOffer {
        ActionOffer {
            words,
            title,
            action: action.into(),
        }
    }

    /// Returns true for an action on every component of the cluster rather than on the object.
    pub fn is_for_all(&self) -> bool {
        matches!(self.action, Action::Fault(Fault::Relist(_)))
    }
}

/// Number of Pods searched for a ready one.
const MAX_PODS_SCANNED: usize = 1_000;

/// Faults offered for an object.
pub fn of(sim: &Sim, object: &Object) -> Vec<ActionOffer> {
    let mut offers = match &object.body {
        Body::Pod(pod) if object.meta.namespace == "default" => of_pod(sim, object, pod),
        Body::Node(node) => of_node(object, node),
        Body::Deployment(_) | Body::StatefulSet(_) | Body::DaemonSet(_)
            if object.meta.namespace == "default" =>
        {
            of_workload(sim, object)
        }
        _ => Vec::new(),
    };
    let kind = object.kind;
    if !matches!(kind, Kind::Namespace | Kind::Event) {
        // Faults cannot name an object of another namespace.
        let any = kind.info().namespaced && object.meta.namespace != "default";
        let name = if any {
            Str::default()
        } else {
            object.meta.name.clone()
        };
        let target = FaultTarget::new(kind, name.clone());
        let lose = match any {
            true => msg::offer_lose_any(),
            false => msg::offer_lose(),
        };
        let lost = match (any, sim.relist.is_some()) {
            (true, _) => msg::offer_lose_any_title(),
            (false, true) => msg::offer_lose_title(),
            (false, false) => msg::offer_lose_for_good_title(),
        };
        let repeat = match any {
            true => msg::offer_repeat_any(),
            false => msg::offer_repeat(),
        };
        let delay = |delay: Option<Duration>| Fault::Delay {
            target: target.clone(),
            delay,
            component: None,
        };
        offers.push(ActionOffer::new(
            lose,
            lost,
            Fault::Lose {
                target: target.clone(),
                component: None,
            },
        ));
        offers.push(ActionOffer::new(
            repeat,
            msg::offer_repeat_title(),
            Fault::Repeat {
                target: target.clone(),
                component: None,
            },
        ));
        offers.push(
            match (sim.informers.is_delayed(sim.journal(), kind, &name), any) {
                (true, _) => ActionOffer::new(
                    msg::offer_deliver(),
                    msg::offer_deliver_title(),
                    delay(None),
                ),
                (false, false) => ActionOffer::new(
                    msg::offer_delay(),
                    msg::offer_delay_title(),
                    delay(Some(10 * SECOND)),
                ),
                (false, true) => ActionOffer::new(
                    msg::offer_delay_any(),
                    msg::offer_delay_any_title(),
                    delay(Some(10 * SECOND)),
                ),
            },
        );
        offers.push(relist(sim));
    }
    offers
}

/// Offer to switch the relisting of components after a lost event on or off.
pub(super) fn relist(sim: &Sim) -> ActionOffer {
    match sim.relist.is_some() {
        true => ActionOffer::new(
            msg::offer_no_relist(),
            msg::offer_no_relist_title(),
            Fault::Relist(None),
        ),
        false => ActionOffer::new(
            msg::offer_relist(),
            msg::offer_relist_title(),
            Fault::Relist(Some(10 * SECOND)),
        ),
    }
}

fn of_pod(sim: &Sim, object: &Object, pod: &Pod) -> Vec<ActionOffer> {
    let name = &object.meta.name;
    let mut offers = Vec::new();
    if !pod.node_name.is_empty() && !pod.is_terminal() {
        offers.push(ActionOffer::new(
            msg::offer_crash(),
            msg::offer_crash_title(),
            Fault::Exit {
                pod: name.clone(),
                code: 1,
            },
        ));
        offers.push(match pod.is_ready() {
            true => ActionOffer::new(
                msg::offer_unready(),
                msg::offer_unready_title(),
                Fault::ready(name, false),
            ),
            false => ActionOffer::new(
                msg::offer_ready(),
                msg::offer_ready_title(),
                Fault::ready(name, true),
            ),
        });
    }
    for probe in ProbeKind::ALL {
        if !pod
            .spec
            .containers
            .iter()
            .chain(pod.spec.init_containers.iter())
            .any(|container| probe.is_set(container))
            || pod.is_terminal()
        {
            continue;
        }
        let kind = probe.as_str();
        offers.push(match sim.kubelets.is_forced(object.meta.uid, kind) {
            true => ActionOffer::new(
                msg::offer_pass_probe(kind),
                msg::offer_pass_probe_title(),
                Fault::PassProbe {
                    pod: name.clone(),
                    probe,
                },
            ),
            false => ActionOffer::new(
                msg::offer_fail_probe(kind),
                msg::offer_fail_probe_title(),
                Fault::FailProbe {
                    pod: name.clone(),
                    probe,
                    timeout: false,
                },
            ),
        });
    }
    let load = |amount: Quantity| Load::new("memory", own_labels(object), amount);
    let labels = load(Quantity::ZERO).labels();
    if !labels.is_empty() {
        let said = load::is_said(&sim.kubelets.loads.set, "memory", &labels);
        offers.push(match said {
            true => ActionOffer::new(
                msg::offer_free_memory(),
                msg::offer_free_memory_title(&labels),
                Fault::EndLoad(load(Quantity::ZERO)),
            ),
            false => ActionOffer::new(
                msg::offer_raise_memory_use(),
                msg::offer_raise_memory_use_title(&labels),
                Fault::Load(load(Quantity::bytes(4 << 30))),
            ),
        });
    }
    offers
}

/// Returns the labels of a Pod that all Pods of its application share: without those added by a ReplicaSet or another controller.
pub(super) fn own_labels(pod: &Object) -> impl Iterator<Item = (&Str, &Str)> {
    pod.meta
        .labels
        .iter()
        .filter(|(key, _)| !key.contains("hash") && !key.contains('/'))
}

/// Returns the faults for one Pod of a workload, or for all new ones.
fn of_workload(sim: &Sim, object: &Object) -> Vec<ActionOffer> {
    let mut offers = Vec::new();
    let sets = sim
        .informers
        .controller_manager
        .cache
        .owned_of_kind(object.meta.uid, Kind::ReplicaSet)
        .map(|set| set.meta.uid);
    let owners = sets.chain([object.meta.uid]);
    let pod = owners
        .flat_map(|owner| {
            sim.informers
                .controller_manager
                .cache
                .owned_of_kind(owner, Kind::Pod)
        })
        .take(MAX_PODS_SCANNED)
        .find(|pod| pod.pod().is_some_and(Pod::is_ready) && !pod.meta.is_deleting());
    if let Some(pod) = pod {
        offers.push(ActionOffer::new(
            msg::offer_crash_one(),
            msg::offer_crash_one_title(),
            Fault::Exit {
                pod: pod.meta.name.clone(),
                code: 1,
            },
        ));
    }
    if let Some(ContainerImage { container, image }) = Handles::of(object).image
        && can_be_pulled(&image)
    {
        let (repository, _) = image_parts(&image);
        let of = [
            &object.kind.name().to_ascii_lowercase(),
            "/",
            &object.meta.name,
            " ",
            &container,
            "=",
            repository,
            ":broken",
        ]
        .concat();
        offers.push(ActionOffer::new(
            msg::offer_break_image(),
            msg::offer_break_image_title(),
            Action::kubectl(["kubectl set image ", &of].concat()),
        ));
    }
    offers
}

fn of_node(object: &Object, node: &Node) -> Vec<ActionOffer> {
    let pressed = node
        .status
        .conditions
        .iter()
        .any(|c| c.kind == "MemoryPressure" && c.status == "True");
    let name = &object.meta.name;
    let power = match node.is_ready() {
        true => ActionOffer::new(
            msg::offer_power_off(),
            msg::offer_power_off_title(),
            Fault::Node(NodeFault::Down, name.clone()),
        ),
        false => ActionOffer::new(
            msg::offer_power_on(),
            msg::offer_power_on_title(),
            Fault::node_up(name),
        ),
    };
    let memory = match pressed {
        true => ActionOffer::new(
            msg::offer_end_memory_pressure(),
            msg::offer_end_memory_pressure_title(),
            Fault::MemoryPressure {
                node: name.clone(),
                missing: Some(Quantity::ZERO),
            },
        ),
        false => ActionOffer::new(
            msg::offer_memory_pressure(),
            msg::offer_memory_pressure_title(),
            Fault::MemoryPressure {
                node: name.clone(),
                missing: None,
            },
        ),
    };
    vec![power, memory]
}

/// Selects the remedies offered besides the one in the headline, and their title. Remedies found not to help are left out.
pub fn offered(
    count: usize,
    helps: &[bool],
    recovers: bool,
    headline: Option<usize>,
) -> (Option<Message>, Vec<usize>) {
    let helping = (0..count).filter(|at| helps.get(*at) != Some(&false));
    let (shown, others): (Vec<usize>, Vec<usize>) = helping.partition(|at| Some(*at) == headline);
    let title = match (others.len(), shown.is_empty()) {
        _ if recovers => Some(msg::remedies_unneeded()),
        _ if helps.is_empty() => Some(msg::remedies_title()),
        (0, true) => Some(msg::remedies_none_works()),
        (0, false) => None,
        (1, true) => Some(msg::remedy_tested()),
        (_, true) => Some(msg::remedies_tested()),
        (_, false) => Some(msg::remedies_also()),
    };
    (title.filter(|_| count > 0), others)
}

#[cfg(test)]
mod tests {

    #[test]
    fn a_remedy_of_the_headline_is_not_offered_twice() {
        let told = |count, helps: &[bool], headline| {
            let (title, others) = crate::remedies::offered(count, helps, false, headline);
            (title.map(|title| title.english()), others)
        };
        assert_eq!(told(0, &[], None), (None, vec![]));
        assert_eq!(
            told(2, &[], Some(0)),
            (Some("Suggested fixes".into()), vec![1])
        );
        assert_eq!(told(1, &[true], Some(0)), (None, vec![]));
        assert_eq!(
            told(3, &[true, false, true], Some(0)),
            (
                Some("Also tried on a copy of the cluster, and helps".into()),
                vec![2]
            )
        );
        assert_eq!(
            told(1, &[true], None),
            (
                Some("Tried on a copy of the cluster: it helps".into()),
                vec![0]
            )
        );
        assert_eq!(
            told(1, &[false], None),
            (
                Some("Tried on a copy of the cluster: none of the known fixes helps".into()),
                vec![]
            )
        );
    }
}
