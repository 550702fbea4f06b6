//! Why a node cannot run a Pod, as data; `explain` turns it into messages.

use k8s_model::Str;

/// A node's reason to refuse a Pod, with the values that decide.
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
    /// `nodeSelector` requires a label.
    Label {
        /// Its key.
        key: Str,
        /// The required value.
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
        /// The Pod that uses it.
        by: Str,
    },
    /// It has reached its Pod limit.
    Pods {
        /// The limit.
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
        /// The node's total.
        all: i64,
    },
    /// The free resources are reserved for a nominated Pod.
    Kept,
    /// A claim's volume is not reachable from it.
    VolumeElsewhere,
    /// No volume there fits a claim.
    NoVolume,
    /// A claim that only one Pod may use is in use.
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
    /// A spread constraint requires a label that the node lacks.
    NoDomain {
        /// The topology key.
        key: Str,
    },
    /// Pod affinity finds no matching Pod here.
    Alone {
        /// The topology key.
        key: Str,
    },
    /// Pod anti-affinity, its own or another Pod's, is violated here.
    Apart {
        /// The topology key.
        key: Str,
        /// That Pod.
        from: Str,
    },
    /// The message of a filter without values.
    Said {
        /// As kube-scheduler prints them.
        reason: Str,
    },
}
