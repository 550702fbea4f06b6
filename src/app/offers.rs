//! What can be broken about an object and has an on and an off: probes and memory. Each is a line that a person could type.

use crate::api::node::Node;
use crate::api::pod::Pod;
use crate::api::{Body, Object};
use crate::engine::Sim;
use crate::engine::kubelet::Probed;

/// A button: its words, what it does, and the line it types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// On the button.
    pub words: &'static str,
    /// What happens then.
    pub title: &'static str,
    /// `fault …`
    pub line: String,
}

const FAILS: &str = "From its next run on the probe fails; the kubelet does what it does then";
const PASSES: &str = "From its next run on the probe succeeds again";
const PROBES: [(&str, &str, &str); 3] = [
    ("startup", "Fail startup probe", "Pass startup probe"),
    ("readiness", "Fail readiness probe", "Pass readiness probe"),
    ("liveness", "Fail liveness probe", "Pass liveness probe"),
];

const USES_MUCH: (&str, &str) =
    ("Use much memory", "The Running Pods with these labels use 4Gi together: seen by autoscalers, and when a node runs short of memory");
const USES_LITTLE: (&str, &str) = ("Free memory", "Nobody says any more what the Pods with these labels use");

/// What there is to be done to the probes and the memory of an object.
#[inline(never)]
pub fn of(sim: &Sim, object: &Object) -> Vec<Offer> {
    match &object.body {
        Body::Pod(pod) if object.meta.namespace == "default" => of_pod(sim, object, pod),
        Body::Node(node) => vec![of_node(object, node)],
        _ => Vec::new(),
    }
}

fn of_pod(sim: &Sim, object: &Object, pod: &Pod) -> Vec<Offer> {
    let name = &object.meta.name;
    let mut offers = Vec::new();
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
            true => Offer { words: pass, title: PASSES, line: ["fault pass-probe pod/", name, " ", kind].concat() },
            false => Offer { words: fail, title: FAILS, line: ["fault fail-probe pod/", name, " ", kind].concat() },
        });
    }
    // Labels that the ReplicaSet or the controller adds would leave out Pods of the same application.
    let own = |key: &str| !key.contains("hash") && !key.contains('/');
    let labels: Vec<String> =
        object.meta.labels.iter().filter(|(key, _)| own(key)).map(|(key, value)| [key, "=", value].concat()).collect();
    if !labels.is_empty() {
        let labels = labels.join(",");
        let said = sim.is_load_said("memory", &labels);
        let (words, title) = if said { USES_LITTLE } else { USES_MUCH };
        offers.push(Offer { words, title, line: ["fault memory-load ", &labels, if said { " none" } else { " 4Gi" }].concat() });
    }
    offers
}

fn of_node(object: &Object, node: &Node) -> Offer {
    let pressed = node.status.conditions.iter().any(|c| c.kind == "MemoryPressure" && c.status == "True");
    let name = &object.meta.name;
    match pressed {
        true => Offer {
            words: "Give memory back",
            title: "Nothing is missing any more; five minutes later the node is well again",
            line: ["fault memory-pressure ", name, " 0"].concat(),
        },
        false => Offer {
            words: "Fill its memory",
            title: "Its kubelet runs short of memory, says so, and ends a Pod",
            line: ["fault memory-pressure ", name].concat(),
        },
    }
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
    fn what_is_broken_can_be_mended() {
        let mut state = State::new(POD, 1);
        state.update(Msg::Seconds(5));
        assert_eq!(offered(&state, Kind::Pod), ["fault fail-probe pod/p liveness", "fault memory-load app=web 4Gi"]);
        assert_eq!(offered(&state, Kind::Node), ["fault memory-pressure node-1"]);
        let press = |state: &mut State, kind: Kind| {
            for line in offered(state, kind) {
                state.update(Msg::Fault(line.trim_start_matches("fault ").into()));
            }
            state.update(Msg::Seconds(1));
        };
        press(&mut state, Kind::Pod);
        assert_eq!(offered(&state, Kind::Pod), ["fault pass-probe pod/p liveness", "fault memory-load app=web none"]);
        press(&mut state, Kind::Pod);
        assert_eq!(offered(&state, Kind::Pod), ["fault fail-probe pod/p liveness", "fault memory-load app=web 4Gi"]);
        press(&mut state, Kind::Node);
        assert_eq!(offered(&state, Kind::Node), ["fault memory-pressure node-1 0"]);
    }
}
