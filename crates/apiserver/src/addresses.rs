//! Index of the allocated cluster IPs and node ports, of the Pods that use a claim, and of the volumes reserved for it.

use super::service_alloc::node_ports;
use k8s_model::network::Service;
use k8s_model::{Kind, Object, Str};
use sim_core::tree::Tree;
use std::rc::Rc;

/// Reference counts of allocated IPs and ports: a value that a Service requests explicitly may be in use twice.
#[derive(Clone, Debug, Default)]
pub(super) struct Addresses {
    ips: Tree<Str, u32>,
    ports: Tree<i32, u32>,
    /// Last IP and port tried.
    pub next_ip: u32,
    pub next_port: u16,
}

fn ip(object: &Object) -> &Str {
    &object.body::<Service>().spec.cluster_ip
}

fn ports(object: &Object) -> impl Iterator<Item = i32> {
    node_ports(object.body())
}

fn count<K: Ord + Clone>(counts: &mut Tree<K, u32>, key: K, is_new: bool) {
    let n = counts.get_or_insert_with(key.clone(), || 0);
    *n = if is_new { *n + 1 } else { *n - 1 };
    if *n == 0 {
        counts.remove(&key);
    }
}

impl Addresses {
    /// Applies a change of an object.
    pub fn change(&mut self, old: Option<&Rc<Object>>, new: Option<&Rc<Object>>) {
        for (object, is_new) in new
            .map(|new| (new, true))
            .into_iter()
            .chain(old.map(|old| (old, false)))
        {
            if object.kind != Kind::Service {
                return;
            }
            count(&mut self.ips, ip(object).clone(), is_new);
            ports(object).for_each(|port| count(&mut self.ports, port, is_new));
        }
    }

    /// Returns true if another Service has this IP.
    pub fn is_taken(&self, asked: &str, own: Option<&Object>) -> bool {
        let own = u32::from(own.is_some_and(|own| ip(own) == asked));
        self.ips.get(&asked.into()).is_some_and(|n| *n > own)
    }

    /// Returns true if another Service has this node port.
    pub fn is_open(&self, asked: i32, own: Option<&Object>) -> bool {
        let own = own.map_or(0, |own| ports(own).filter(|port| *port == asked).count());
        self.ports.get(&asked).is_some_and(|n| *n as usize > own)
    }
}
