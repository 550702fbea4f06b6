//! Simulated resource usage of Pods, set by faults and read through the resource metrics API.

use crate::informer::Cache;
use apiserver::Store;
use fault::Load;
use k8s_model::pod::Pod;
use k8s_model::{Kind, Object, Str};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Returns true if a load is set for these labels.
pub fn is_said(loads: &[Load], what: &'static str, selector: &str) -> bool {
    Load::parse(what, selector, "0").is_ok_and(|load| loads.iter().any(|old| load.replaces(old)))
}

/// Returns the total usage set for these labels, in thousandths.
pub fn amount(loads: &[Load], what: &'static str, selector: &str) -> Option<i64> {
    let load = Load::parse(what, selector, "0").ok()?;
    loads
        .iter()
        .rev()
        .find(|old| load.replaces(old))
        .map(|old| old.amount().as_millis())
}

fn is_running(object: &Object) -> bool {
    object
        .pod()
        .is_some_and(|pod: &Pod| pod.status.phase == "Running")
}

/// Returns the load that applies to a Pod; the last one set wins.
fn of<'l>(loads: &'l [Load], what: &str, pod: &Object) -> Option<&'l Load> {
    loads
        .iter()
        .rev()
        .find(|load| load.resource() == what && is_running(pod) && load.is_for(&pod.meta.labels))
}

/// Returns true if the resource metrics API has data for a Pod.
pub fn is_known(loads: &[Load], pod: &Object) -> bool {
    ["cpu", "memory"]
        .into_iter()
        .any(|what| of(loads, what, pod).is_some())
}

/// Returns the usage of a Pod in thousandths, from the cache; `None` if the Pod does not run or no load is set.
pub fn usage(loads: &[Load], what: &str, pod: &Object, cache: &Cache) -> Option<i64> {
    let load = of(loads, what, pod)?;
    Some(share(load, cache.list_in(Kind::Pod, &pod.meta.namespace)))
}

/// Returns the usage of a Pod in thousandths, from the server; `None` if the Pod does not run or no load is set.
pub fn used(store: &Store, loads: &[Load], what: &str, pod: &Object) -> Option<i64> {
    let load = of(loads, what, pod)?;
    Some(share(
        load,
        store
            .list(Kind::Pod)
            .filter(|o| o.meta.namespace == pod.meta.namespace),
    ))
}

/// Usage of many Pods: each load is divided once for all Pods of a namespace.
#[derive(Debug)]
pub struct Usage<'a> {
    store: &'a Store,
    loads: &'a [Load],
    shares: BTreeMap<(usize, Str), i64>,
}

impl<'a> Usage<'a> {
    pub fn new(store: &'a Store, loads: &'a [Load]) -> Usage<'a> {
        Usage {
            store,
            loads,
            shares: BTreeMap::new(),
        }
    }

    /// Returns the usage of a Pod as [`used`] does, and 0 where no load is set.
    pub fn of(&mut self, what: &str, pod: &Object) -> i64 {
        let Some(load) = of(self.loads, what, pod) else {
            return 0;
        };
        let place = self
            .loads
            .iter()
            .position(|other| std::ptr::eq(other, load))
            .unwrap_or(0);
        let (store, namespace) = (self.store, &pod.meta.namespace);
        let share = || {
            share(
                load,
                store
                    .list(Kind::Pod)
                    .filter(|o| o.meta.namespace == *namespace),
            )
        };
        *self
            .shares
            .entry((place, namespace.clone()))
            .or_insert_with(share)
    }
}

/// Returns the memory usage of a Pod in bytes, if a load is set.
pub fn memory(loads: &[Load], pod: &Object, store: &Store) -> Option<i64> {
    Some(used(store, loads, "memory", pod)? / 1000)
}

/// Returns the share of each running Pod that matches.
fn share<'a>(load: &Load, pods: impl Iterator<Item = &'a Rc<Object>>) -> i64 {
    load.amount().as_millis()
        / pods
            .filter(|pod| is_running(pod) && load.is_for(&pod.meta.labels))
            .count()
            .max(1) as i64
}
