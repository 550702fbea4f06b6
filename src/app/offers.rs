//! What can be broken about an object or a loop, and mended again. Each is a line that a person could type, and says what it will do.

use crate::api::node::Node;
use crate::api::pod::{Pod, image_parts};
use crate::api::{Body, Kind, Object, Str};
use crate::engine::Sim;
use crate::engine::kubelet::{Probed, can_be_pulled};

/// A button: its words, what it does, and the line it types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// On the button.
    pub words: &'static str,
    /// What happens then, for a line of its own.
    pub title: String,
    /// `fault …`, `kubectl …`
    pub line: String,
}

impl Offer {
    /// Whether it is about every component of the cluster rather than about the object.
    pub fn is_for_all(&self) -> bool {
        self.line.starts_with("fault relist ")
    }
}

const FAILS: &str = "From its next run on the probe fails; the kubelet does what it does then";
const PASSES: &str = "From its next run on the probe succeeds again";
const PROBES: [(&str, &str, &str); 3] = [
    ("startup", "Fail startup probe", "Pass startup probe"),
    ("readiness", "Fail readiness probe", "Pass readiness probe"),
    ("liveness", "Fail liveness probe", "Pass liveness probe"),
];

/// A Ready one is looked for among so many.
const LOOKED: usize = 1_000;
const CRASHES: (&str, &str) = ("Crash", "Its first container exits with code 1; the restart policy decides what follows");
const STRIKES: (&str, &str) =
    ("Crash one of its Pods", "The first container of a Ready one exits with code 1; the restart policy decides what follows");
const BREAKS: (&str, &str) = ("Break its image", "Its template names a tag that cannot be pulled: Pods that are made from it fail");
const READY: (&str, &str, &str) = ("Force ready", "Its first container is said to be ready, whatever its probe finds", "ready");
const UNREADY: (&str, &str, &str) =
    ("Force not ready", "Its first container is said not to be ready: Services leave the Pod out", "unready");
const POWER_OFF: (&str, &str, &str) =
    ("Power off", "Its kubelet falls silent: the node turns NotReady, and later its Pods are evicted", "node-down");
const POWER_ON: (&str, &str, &str) = ("Power on", "Its kubelet reports again and takes up its Pods", "node-up");
const LOSES: (&str, &str) = (
    "Lose its next event",
    "Its next change does not reach kube-controller-manager before that lists everything anew: a gap in its watch, which a real one resumes from its resourceVersion",
);
/// Where nobody lists any more.
const LOSES_FOR_GOOD: &str = "Its next change does not reach kube-controller-manager, and nobody lists everything anew: a gap in its watch, which a real one resumes from its resourceVersion";
const LISTS: (&str, &str, &str) =
    ("List again after a loss", "Ten seconds after a lost event its component lists everything anew, and compares", "10s");
const FORGETS: (&str, &str, &str) =
    ("Never list again", "No component lists everything anew any more: what a lost event told stays unknown", "never");
const LOSES_ANY: (&str, &str) = (
    "Lose an event of its kind",
    "The next change of any object of its kind does not reach kube-controller-manager: a gap in its watch, which a real one resumes from its resourceVersion",
);
const DELAYS: (&str, &str) = (
    "Delay its next event",
    "Its next change reaches kube-controller-manager ten seconds late, and others at once; later ones of its kind wait behind it, for a watch keeps their order",
);
const DELAYS_ANY: (&str, &str) = (
    "Delay an event of its kind",
    "The next change of any object of its kind reaches kube-controller-manager ten seconds late, and others at once; later ones wait behind it, for a watch keeps their order",
);
const HASTENS: (&str, &str) =
    ("Let its event through", "Its change is late no longer, and kube-controller-manager learns of what waited behind it");
const SLOWS: (&str, &str) = ("Slow it down", "Each of its passes takes two seconds, one key after another: its queue grows");
const SPEEDS: (&str, &str) = ("Full speed again", "Its passes take no longer than they need, and what waited has its turn now");
const USES_MUCH: &str = "Use much memory";
const USES_LITTLE: &str = "Free memory";

/// What can be broken about an object.
pub fn of(sim: &Sim, object: &Object) -> Vec<Offer> {
    let mut offers = match &object.body {
        Body::Pod(pod) if object.meta.namespace == "default" => of_pod(sim, object, pod),
        Body::Node(node) => of_node(object, node),
        Body::Deployment(_) | Body::StatefulSet(_) | Body::DaemonSet(_) if object.meta.namespace == "default" => of_workload(sim, object),
        _ => Vec::new(),
    };
    let kind = object.kind;
    if !matches!(kind, Kind::Namespace | Kind::Event) {
        let of = [&kind.name().to_ascii_lowercase(), "/", &object.meta.name].concat();
        // Of another namespace an object cannot be named.
        let any = kind.info().namespaced && object.meta.namespace != "default";
        let (of, name) = if any { (kind.name().to_ascii_lowercase(), Str::default()) } else { (of, object.meta.name.clone()) };
        let (words, title) = match any {
            true => LOSES_ANY,
            false if sim.relists() => LOSES,
            false => (LOSES.0, LOSES_FOR_GOOD),
        };
        offers.push(Offer { words, title: title.into(), line: ["fault lose ", &of].concat() });
        let ((words, title), late) = match sim.is_delayed(kind, &name) {
            true => (HASTENS, " none"),
            false => (if any { DELAYS_ANY } else { DELAYS }, " 10s"),
        };
        offers.push(Offer { words, title: title.into(), line: ["fault delay ", &of, late].concat() });
        let (words, title, after) = if sim.relists() { FORGETS } else { LISTS };
        offers.push(Offer { words, title: title.into(), line: ["fault relist ", after].concat() });
    }
    offers
}

/// What can be done to the pace of a loop; nothing for a kubelet, whose pace is that of its containers.
pub fn of_loop(sim: &Sim, name: &str) -> Option<Offer> {
    let (words, title) = if sim.slowed(name).is_some() { SPEEDS } else { SLOWS };
    let each = if words == SPEEDS.0 { " none" } else { " 2s" };
    (!name.starts_with("kubelet")).then(|| Offer { words, title: title.into(), line: ["fault slow ", name, each].concat() })
}

fn of_pod(sim: &Sim, object: &Object, pod: &Pod) -> Vec<Offer> {
    let name = &object.meta.name;
    let mut offers = Vec::new();
    if !pod.node_name.is_empty() && !pod.is_terminal() {
        offers.push(Offer { words: CRASHES.0, title: CRASHES.1.into(), line: ["fault exit pod/", name, " 1"].concat() });
        let (words, title, fault) = if pod.is_ready() { UNREADY } else { READY };
        offers.push(Offer { words, title: title.into(), line: ["fault ", fault, " pod/", name].concat() });
    }
    for (kind, fail, pass) in PROBES {
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
            true => Offer { words: pass, title: PASSES.into(), line: ["fault pass-probe pod/", name, " ", kind].concat() },
            false => Offer { words: fail, title: FAILS.into(), line: ["fault fail-probe pod/", name, " ", kind].concat() },
        });
    }
    // Labels that the ReplicaSet or the controller adds would leave out Pods of the same application.
    let own = |key: &str| !key.contains("hash") && !key.contains('/');
    let labels: Vec<String> =
        object.meta.labels.iter().filter(|(key, _)| own(key)).map(|(key, value)| [key, "=", value].concat()).collect();
    if !labels.is_empty() {
        let labels = labels.join(",");
        let said = sim.is_load_said("memory", &labels);
        let (words, title) = match said {
            true => (USES_LITTLE, ["Nobody says any more what the Pods with ", &labels, " use"].concat()),
            false => (
                USES_MUCH,
                ["The Running Pods with ", &labels, " use 4Gi together: seen by autoscalers, and when a node runs short of memory"]
                    .concat(),
            ),
        };
        offers.push(Offer { words, title, line: ["fault memory-load ", &labels, if said { " none" } else { " 4Gi" }].concat() });
    }
    offers
}

/// What strikes one of its Pods, or all that come.
fn of_workload(sim: &Sim, object: &Object) -> Vec<Offer> {
    let mut offers = Vec::new();
    let sets = sim.owned(object.meta.uid, Kind::ReplicaSet).map(|set| set.meta.uid);
    let owners = sets.chain([object.meta.uid]);
    let pod = owners
        .flat_map(|owner| sim.owned(owner, Kind::Pod))
        .take(LOOKED)
        .find(|pod| pod.pod().is_some_and(Pod::is_ready) && !pod.meta.is_deleting());
    if let Some(pod) = pod {
        offers.push(Offer { words: STRIKES.0, title: STRIKES.1.into(), line: ["fault exit pod/", &pod.meta.name, " 1"].concat() });
    }
    if let (_, Some((container, image))) = super::facts::handles(object)
        && can_be_pulled(&image)
    {
        let (repository, _) = image_parts(&image);
        let of = [&object.kind.name().to_ascii_lowercase(), "/", &object.meta.name, " ", &container, "=", repository, ":broken"].concat();
        offers.push(Offer { words: BREAKS.0, title: BREAKS.1.into(), line: ["kubectl set image ", &of].concat() });
    }
    offers
}

fn of_node(object: &Object, node: &Node) -> Vec<Offer> {
    let pressed = node.status.conditions.iter().any(|c| c.kind == "MemoryPressure" && c.status == "True");
    let name = &object.meta.name;
    let (words, title, fault) = if node.is_ready() { POWER_OFF } else { POWER_ON };
    let power = Offer { words, title: title.into(), line: ["fault ", fault, " ", name].concat() };
    let memory = match pressed {
        true => Offer {
            words: "Give memory back",
            title: "Nothing is missing any more; five minutes later the node is well again".into(),
            line: ["fault memory-pressure ", name, " 0"].concat(),
        },
        false => Offer {
            words: "Fill its memory",
            title: "Its kubelet runs short of memory, says so, and ends a Pod".into(),
            line: ["fault memory-pressure ", name].concat(),
        },
    };
    vec![power, memory]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Kind;
    use crate::app::{Msg, State};

    const POD: &str = "{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {app: web, pod-template-hash: x}}, spec: {containers: [{name: c, \
                       image: i, livenessProbe: {tcpSocket: {port: 80}}}]}}";

    fn offered(state: &State, kind: Kind) -> Vec<String> {
        let object = state.run.sim().list(kind).next().expect("an object");
        of(state.run.sim(), object).into_iter().map(|offer| offer.line).collect()
    }

    #[test]
    fn what_is_said_of_a_lost_event_goes_by_whether_anybody_lists_anew() {
        let mut state = State::new(POD, 1);
        state.update(Msg::Seconds(5));
        let said = |state: &State| {
            let pod = state.run.sim().list(Kind::Pod).next().expect("a Pod");
            let lose = of(state.run.sim(), pod).into_iter().find(|offer| offer.line == "fault lose pod/p");
            lose.expect("it can be lost").title.contains("before that lists everything anew")
        };
        assert!(said(&state));
        state.update(Msg::Fault("relist never".into()));
        assert!(!said(&state));
        state.update(Msg::Fault("relist 10s".into()));
        assert!(said(&state));
    }

    #[test]
    fn what_is_broken_can_be_mended() {
        let mut state = State::new(POD, 1);
        state.update(Msg::Seconds(5));
        let on_and_off = |state: &State, kind: Kind| -> Vec<String> {
            let all = offered(state, kind).into_iter();
            all.filter(|line| !["lose", "delay", "relist", "exit"].iter().any(|other| line.starts_with(&["fault ", other].concat())))
                .collect()
        };
        let press = |state: &mut State, kind: Kind| {
            for line in on_and_off(state, kind) {
                state.update(Msg::Fault(line.trim_start_matches("fault ").into()));
            }
            state.update(Msg::Seconds(1));
        };
        let pod = |ready: &str, probe: &str, load: &str| {
            [format!("fault {ready} pod/p"), format!("fault {probe}-probe pod/p liveness"), format!("fault memory-load app=web {load}")]
        };
        assert_eq!(on_and_off(&state, Kind::Pod), pod("unready", "fail", "4Gi"));
        press(&mut state, Kind::Pod);
        assert_eq!(on_and_off(&state, Kind::Pod), pod("ready", "pass", "none"));
        press(&mut state, Kind::Pod);
        assert_eq!(on_and_off(&state, Kind::Pod), pod("unready", "fail", "4Gi"));
        assert_eq!(on_and_off(&state, Kind::Node), ["fault node-down node-1", "fault memory-pressure node-1"]);
        press(&mut state, Kind::Node);
        state.update(Msg::Seconds(60));
        assert_eq!(on_and_off(&state, Kind::Node)[0], "fault node-up node-1");
    }

    #[test]
    fn a_crash_and_a_lost_event_are_offered_where_they_can_happen() {
        let mut state = State::new(POD, 1);
        assert_eq!(
            offered(&state, Kind::Node),
            [
                "fault node-down node-1",
                "fault memory-pressure node-1",
                "fault lose node/node-1",
                "fault delay node/node-1 10s",
                "fault relist never"
            ]
        );
        state.update(Msg::Seconds(5));
        assert_eq!(offered(&state, Kind::Pod)[0], "fault exit pod/p 1");
        let late = |late: &str| ["fault lose pod/p".into(), ["fault delay pod/p ", late].concat(), "fault relist never".into()];
        assert!(offered(&state, Kind::Pod).ends_with(&late("10s")));
        state.update(Msg::Fault("delay pod/p 10s".into()));
        assert!(offered(&state, Kind::Pod).ends_with(&late("none")));
        state.update(Msg::Fault("delay pod/p none".into()));
        assert!(offered(&state, Kind::Pod).ends_with(&late("10s")));
        // Any Pod: it may be this one.
        state.update(Msg::Fault("delay pod 10s".into()));
        assert!(offered(&state, Kind::Pod).ends_with(&late("none")));
        state.update(Msg::Fault("delay pod/p none".into()));
        assert!(offered(&state, Kind::Pod).ends_with(&late("10s")));
        state.update(Msg::Fault("relist never".into()));
        assert_eq!(offered(&state, Kind::Pod).last().map(String::as_str), Some("fault relist 10s"));
        assert!(offered(&state, Kind::Namespace).is_empty());
        let mut state = State::new((crate::app::examples::ALL[0].text)(), 1);
        state.update(Msg::Seconds(5));
        let all = offered(&state, Kind::Deployment);
        assert!(all[0].starts_with("fault exit pod/nginx-deployment-"), "{all:?}");
        assert_eq!(all[1], "kubectl set image deployment/nginx-deployment nginx=nginx:broken");
        state.update(Msg::Kubectl(all[1].clone()));
        assert!(!offered(&state, Kind::Deployment).contains(&all[1]));
    }

    #[test]
    fn every_loop_of_the_ring_but_a_kubelet_can_be_slowed_and_is_at_full_speed_again() {
        let mut state = State::new(POD, 1);
        for one in crate::app::loops::read(&state.run, None).loops {
            let offer = |state: &State| of_loop(state.run.sim(), &one.name);
            let Some(slows) = offer(&state) else {
                assert!(one.name.starts_with("kubelet "), "{}", one.name);
                continue;
            };
            for (words, then) in [(SLOWS.0, SPEEDS.0), (SPEEDS.0, SLOWS.0)] {
                let now = offer(&state).expect("an offer");
                assert_eq!(now.words, words);
                state.update(Msg::Fault(now.line["fault ".len()..].into()));
                assert_eq!(offer(&state).map(|offer| offer.words), Some(then), "{}", state.notice);
            }
            assert_eq!(offer(&state), Some(slows));
        }
    }
}
