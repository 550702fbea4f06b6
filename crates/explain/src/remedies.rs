//! Faults that can be injected into an object or a loop, and reverted. Each is a line that a user could type, with its effect.

use cluster::Sim;
use i18n::{Message, msg};
use k8s_model::node::Node;
use k8s_model::pod::{Pod, image_parts};
use k8s_model::{Body, Kind, Object, Str};
use kubelet::{Probed, can_be_pulled};

/// A button: its words, what it does, and the line it types.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionOffer {
    /// On the button.
    pub words: Message,
    /// What happens then, for a line of its own.
    pub title: Message,
    /// `fault …`, `kubectl …`
    pub line: String,
}

impl ActionOffer {
    pub(super) fn new(words: Message, title: Message, line: String) -> ActionOffer {
        ActionOffer { words, title, line }
    }

    /// Whether it is about every component of the cluster rather than about the object.
    pub fn is_for_all(&self) -> bool {
        self.line.starts_with("fault relist ")
    }
}

/// Probes that a fault can force.
const PROBES: [&str; 3] = ["startup", "readiness", "liveness"];

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
        let of = [&kind.name().to_ascii_lowercase(), "/", &object.meta.name].concat();
        // Of another namespace an object cannot be named.
        let any = kind.info().namespaced && object.meta.namespace != "default";
        let (of, name) = if any {
            (kind.name().to_ascii_lowercase(), Str::default())
        } else {
            (of, object.meta.name.clone())
        };
        let lose = match any {
            true => msg::offer_lose_any(),
            false => msg::offer_lose(),
        };
        let lost = match (any, sim.relists()) {
            (true, _) => msg::offer_lose_any_title(),
            (false, true) => msg::offer_lose_title(),
            (false, false) => msg::offer_lose_for_good_title(),
        };
        offers.push(ActionOffer::new(lose, lost, ["fault lose ", &of].concat()));
        offers.push(match (sim.is_delayed(kind, &name), any) {
            (true, _) => ActionOffer::new(
                msg::offer_deliver(),
                msg::offer_deliver_title(),
                ["fault delay ", &of, " none"].concat(),
            ),
            (false, false) => ActionOffer::new(
                msg::offer_delay(),
                msg::offer_delay_title(),
                ["fault delay ", &of, " 10s"].concat(),
            ),
            (false, true) => ActionOffer::new(
                msg::offer_delay_any(),
                msg::offer_delay_any_title(),
                ["fault delay ", &of, " 10s"].concat(),
            ),
        });
        offers.push(relist(sim));
    }
    offers
}

/// Whether components relist after a loss, to be changed.
pub(super) fn relist(sim: &Sim) -> ActionOffer {
    match sim.relists() {
        true => ActionOffer::new(
            msg::offer_no_relist(),
            msg::offer_no_relist_title(),
            "fault relist never".into(),
        ),
        false => ActionOffer::new(
            msg::offer_relist(),
            msg::offer_relist_title(),
            "fault relist 10s".into(),
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
            ["fault exit pod/", name, " 1"].concat(),
        ));
        offers.push(match pod.is_ready() {
            true => ActionOffer::new(
                msg::offer_unready(),
                msg::offer_unready_title(),
                ["fault unready pod/", name].concat(),
            ),
            false => ActionOffer::new(
                msg::offer_ready(),
                msg::offer_ready_title(),
                ["fault ready pod/", name].concat(),
            ),
        });
    }
    for kind in PROBES {
        if !pod
            .spec
            .containers
            .iter()
            .chain(pod.spec.init_containers.iter())
            .any(|container| Probed::named(kind).is_some_and(|kind| kind.is_of(container)))
            || pod.is_terminal()
        {
            continue;
        }
        offers.push(match sim.is_probe_forced(object.meta.uid, kind) {
            true => ActionOffer::new(
                msg::offer_pass_probe(kind),
                msg::offer_pass_probe_title(),
                ["fault pass-probe pod/", name, " ", kind].concat(),
            ),
            false => ActionOffer::new(
                msg::offer_fail_probe(kind),
                msg::offer_fail_probe_title(),
                ["fault fail-probe pod/", name, " ", kind].concat(),
            ),
        });
    }
    let labels: Vec<String> = own_labels(object)
        .map(|(key, value)| [key, "=", value].concat())
        .collect();
    if !labels.is_empty() {
        let labels = labels.join(",");
        let said = sim.is_load_said("memory", &labels);
        offers.push(match said {
            true => ActionOffer::new(
                msg::offer_free_memory(),
                msg::offer_free_memory_title(&labels),
                ["fault memory-load ", &labels, " none"].concat(),
            ),
            false => ActionOffer::new(
                msg::offer_raise_memory_use(),
                msg::offer_raise_memory_use_title(&labels),
                ["fault memory-load ", &labels, " 4Gi"].concat(),
            ),
        });
    }
    offers
}

/// Labels of a Pod that all Pods of its application have: without those that a ReplicaSet or another controller adds.
pub(super) fn own_labels(pod: &Object) -> impl Iterator<Item = (&Str, &Str)> {
    pod.meta
        .labels
        .iter()
        .filter(|(key, _)| !key.contains("hash") && !key.contains('/'))
}

/// Faults for one Pod of a workload, or for all new ones.
fn of_workload(sim: &Sim, object: &Object) -> Vec<ActionOffer> {
    let mut offers = Vec::new();
    let sets = sim
        .owned(object.meta.uid, Kind::ReplicaSet)
        .map(|set| set.meta.uid);
    let owners = sets.chain([object.meta.uid]);
    let pod = owners
        .flat_map(|owner| sim.owned(owner, Kind::Pod))
        .take(MAX_PODS_SCANNED)
        .find(|pod| pod.pod().is_some_and(Pod::is_ready) && !pod.meta.is_deleting());
    if let Some(pod) = pod {
        offers.push(ActionOffer::new(
            msg::offer_crash_one(),
            msg::offer_crash_one_title(),
            ["fault exit pod/", &pod.meta.name, " 1"].concat(),
        ));
    }
    if let (_, Some((container, image))) = crate::evidence::handles(object)
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
            ["kubectl set image ", &of].concat(),
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
            ["fault node-down ", name].concat(),
        ),
        false => ActionOffer::new(
            msg::offer_power_on(),
            msg::offer_power_on_title(),
            ["fault node-up ", name].concat(),
        ),
    };
    let memory = match pressed {
        true => ActionOffer::new(
            msg::offer_end_memory_pressure(),
            msg::offer_end_memory_pressure_title(),
            ["fault memory-pressure ", name, " 0"].concat(),
        ),
        false => ActionOffer::new(
            msg::offer_memory_pressure(),
            msg::offer_memory_pressure_title(),
            ["fault memory-pressure ", name].concat(),
        ),
    };
    vec![power, memory]
}

/// Which of so many remedies are offered beside the one that stands where the object stands, and what is said over them. What was found not to
/// help is not offered.
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
