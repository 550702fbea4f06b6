//! Reasons why a node refuses a Pod, as data; `explain` turns them into messages.

use k8s_model::Str;

/// Reason of a node's refusal, with the values that decide.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum UnschedulableReason {
    /// The node is cordoned.
    NodeUnschedulable,
    /// The Pod names another node, or its affinity leaves only others.
    NodeName,
    /// A taint is not tolerated.
    UntoleratedTaint {
        /// Taint key.
        key: Str,
        /// Taint value.
        value: Str,
        /// Taint effect.
        effect: Str,
    },
    /// `nodeSelector` requires a label.
    NodeSelector {
        /// Label key.
        key: Str,
        /// Required value.
        want: Str,
        /// Value of the node's label, if any.
        has: Option<Str>,
    },
    /// Required node affinity does not match.
    NodeAffinity,
    /// A host port is taken.
    NodePorts {
        /// Port.
        port: i32,
        /// Pod that uses the port.
        by: Str,
    },
    /// The node has reached its Pod limit.
    TooManyPods {
        /// Limit.
        most: i64,
    },
    /// Too little of a resource is free.
    InsufficientResource {
        /// Resource: `cpu`, `memory`, `ephemeral-storage`.
        resource: &'static str,
        /// Request of the Pod: thousandths of cpu, bytes.
        requested: i64,
        /// Free amount.
        free: i64,
        /// Allocatable amount of the node.
        allocatable: i64,
    },
    /// The free resources are reserved for a nominated Pod.
    NominatedPods,
    /// A claim's volume is not reachable from the node.
    VolumeNodeAffinity,
    /// No volume on the node fits a claim.
    NoVolume,
    /// A claim that only one Pod may use is in use.
    ReadWriteOncePod,
    /// A spread constraint is exceeded: too many Pods in this domain already.
    TopologySpread {
        /// Topology key.
        key: Str,
        /// Node's domain.
        domain: Str,
        /// Number of matching Pods in the domain, not counting this one.
        here: i64,
        /// Number of matching Pods in the emptiest domain.
        fewest: i64,
        /// `maxSkew`.
        most: i64,
    },
    /// A spread constraint requires a label that the node lacks.
    MissingTopologyKey {
        /// Topology key.
        key: Str,
    },
    /// Pod affinity finds no matching Pod in the domain.
    PodAffinity {
        /// Topology key.
        key: Str,
    },
    /// Pod anti-affinity, its own or another Pod's, is violated in the domain.
    PodAntiAffinity {
        /// Topology key.
        key: Str,
        /// Other Pod.
        pod: Str,
    },
    /// Message of a filter without values.
    Message {
        /// Message, as kube-scheduler prints it.
        reason: Str,
    },
}
