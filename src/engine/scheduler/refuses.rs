//! Why a node cannot run a Pod: data, which `explain` makes messages of.

use crate::api::Str;

/// What one node has against a Pod, with the values that decide.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refuses {
    /// It is cordoned.
    Cordoned,
    /// The Pod names another node, or its affinity leaves only others.
    Elsewhere,
    /// A taint is not tolerated.
    Taint {
        /// Its key.
        key: Str,
        /// Its value.
        value: Str,
        /// Its effect.
        effect: Str,
    },
    /// `nodeSelector` asks for a label.
    Label {
        /// Its key.
        key: Str,
        /// The value asked for.
        want: Str,
        /// What the node has.
        has: Option<Str>,
    },
    /// Required node affinity does not hold.
    Affinity,
    /// A host port is taken.
    Port {
        /// The port.
        port: i32,
        /// By this Pod.
        by: Str,
    },
    /// It has as many Pods as it may.
    Pods {
        /// So many.
        most: i64,
    },
    /// Too little is free.
    Short {
        /// `cpu`, `memory`, `ephemeral-storage`
        what: &'static str,
        /// What the Pod requests: thousandths of cpu, bytes.
        asks: i64,
        /// What is free.
        free: i64,
        /// What the node has in all.
        all: i64,
    },
    /// What is free is kept for a Pod that others were preempted for.
    Kept,
    /// A claim's volume is not reachable from it.
    VolumeElsewhere,
    /// No volume there fits a claim.
    NoVolume,
    /// A claim that only one Pod may use is used.
    ClaimTaken,
    /// A spread constraint: too many in this domain already.
    Spread {
        /// The topology key.
        key: Str,
        /// The node's domain.
        domain: Str,
        /// Matching Pods there, this one not counted.
        here: i64,
        /// Matching Pods of the emptiest domain.
        fewest: i64,
        /// `maxSkew`.
        most: i64,
    },
    /// A spread constraint asks for a label that the node lacks.
    NoDomain {
        /// The topology key.
        key: Str,
    },
    /// Pod affinity finds nobody here.
    Alone {
        /// The topology key.
        key: Str,
    },
    /// Pod anti-affinity, its own or another Pod's, finds somebody here.
    Apart {
        /// The topology key.
        key: Str,
        /// That Pod.
        from: Str,
    },
    /// The words of a filter that gives no values.
    Said {
        /// As kube-scheduler prints them.
        reason: Str,
    },
}
