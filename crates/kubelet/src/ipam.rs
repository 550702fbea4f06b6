//! Addresses of Pods: each node hands out those of its Pod network in turn, and reuses them once their Pods have ended.
//!
//! Models the CNI plugin `host-local`, as far as it shows in addresses and Events.

use super::PodSync;
use super::pod_worker::{Jobs, PodStep};
use k8s_model::Str;
use k8s_model::time::SECOND;
use smol_str::format_smolstr;

/// Delay before a sandbox that could not be created is tried again: `backOffPeriod` of `pkg/kubelet/kubelet.go`.
const SANDBOX_RETRY_US: u64 = 10 * SECOND;
/// First address handed out: the network's own and its gateway precede it.
const FIRST_HOST: u8 = 2;
/// Last address handed out: the broadcast address follows it.
const LAST_HOST: u8 = 254;

/// Pod network of a node: a /24, of which the last byte of each address is kept.
#[derive(Clone, Debug)]
pub(super) struct PodNetwork {
    /// Number of the node, from which its addresses are derived.
    pub(super) node: usize,
    /// Last address handed out.
    last: u8,
    /// Addresses in use, as a bit set.
    used: [u64; 4],
}

impl PodNetwork {
    /// Creates the network of the node of this number, without Pods.
    pub(super) fn new(node: usize) -> PodNetwork {
        PodNetwork {
            node,
            last: FIRST_HOST - 1,
            used: [0; 4],
        }
    }

    /// Reserves the next free address after the last one handed out; `None` if all are in use.
    pub(super) fn reserve(&mut self) -> Option<u8> {
        let after = self.last + 1..=LAST_HOST;
        let host = after
            .chain(FIRST_HOST..=self.last)
            .find(|host| self.used[usize::from(host >> 6)] >> (host & 63) & 1 == 0)?;
        self.used[usize::from(host >> 6)] |= 1 << (host & 63);
        self.last = host;
        Some(host)
    }

    /// Frees an address.
    pub(super) fn release(&mut self, host: u8) {
        self.used[usize::from(host >> 6)] &= !(1 << (host & 63));
    }
}

impl PodSync<'_, '_> {
    /// Returns the first three bytes of the addresses of the node's Pods.
    fn pod_network(&self) -> String {
        let cidr = self
            .node()
            .and_then(|(_, node)| node.spec.raw.get("podCIDR")?.as_str());
        let base = cidr.and_then(|cidr| cidr.split('/').next()?.rsplit_once('.'));
        base.map_or("10.244.0", |(base, _)| base).to_owned()
    }

    /// Reserves an address for the Pod; `None` if its node has none left.
    pub(super) fn reserve_ip(&mut self) -> Option<Str> {
        let network = self.pod_network();
        let node = self.pod().node_name.clone();
        let host = self.kubelets.networks.get_mut(&node)?.reserve()?;
        self.worker_mut().host = Some(host);
        Some(format_smolstr!("{network}.{host}"))
    }

    /// Reports that the Pod's sandbox got no address, and schedules a retry.
    pub(super) fn sandbox_failed(&mut self) -> Jobs {
        let (network, id) = (self.pod_network(), self.runtime_id());
        let message = format_smolstr!(
            "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox {id:?}: plugin \
             type=\"ptp\" failed (add): failed to allocate for range 0: no IP addresses available in range set: \
             {network}.1-{network}.{LAST_HOST}"
        );
        let object = self.object.clone();
        self.out
            .event(&object, "Warning", "FailedCreatePodSandBox", message);
        vec![self.then(SANDBOX_RETRY_US, PodStep::Start)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_handed_out_in_turn_and_reused_when_freed() {
        let mut network = PodNetwork::new(1);
        assert_eq!((network.reserve(), network.reserve()), (Some(2), Some(3)));
        network.release(2);
        assert_eq!(network.reserve(), Some(4), "a freed address waits its turn");
        let rest: Vec<u8> = std::iter::from_fn(|| network.reserve()).collect();
        assert_eq!(rest, (5..=254).chain([2]).collect::<Vec<u8>>());
        network.release(77);
        assert_eq!((network.reserve(), network.reserve()), (Some(77), None));
    }
}
