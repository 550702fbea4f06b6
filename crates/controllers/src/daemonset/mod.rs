//! Keeps one Pod on every node that should run a DaemonSet's Pod.
//!
//! Guarantees: at most one Pod per node, or two while an update surges; a Pod is pinned to its node by
//! affinity and placed by the scheduler; failed Pods are replaced after 1 s, 2 s, 4 s… up to 15 min.
//! Models `pkg/controller/daemon/daemon_controller.go`.

mod placement;
mod revisions;
mod update;

use super::ownership::claim;
use super::{Controller, Event, Watch};
use apiserver::Op;
use apiserver::why::Why;
use apiserver::{ApiError, DeleteOptions};
use apiserver::{Component, ControllerId};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::{Descriptor, GENERIC};
use controller_runtime::informer::Cache;
use k8s_model::daemonset::{DaemonSet, DaemonSetStatus};
use k8s_model::node::Node;
use k8s_model::pod::Pod;
use k8s_model::time::SECOND;
use k8s_model::{Body, Duration, Kind, Object, ObjectRef, Str, Time, Timestamp};
use placement::{daemon_spec, is_updated, new_pod, target, wants};
use smol_str::format_smolstr;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Maximum number of Pods created or deleted in one pass.
const BURST: usize = 250;
const FIRST_BACK_OFF_US: Duration = SECOND;
const MAX_BACK_OFF_US: Duration = 900 * SECOND;

/// Back-offs of the failed Pods by node (`failedPodsBackoff`).
type FailedPodBackOffs = BTreeMap<Str, BackOff>;

#[derive(Clone, Copy, Debug)]
struct BackOff {
    /// Time of the last deletion of a failed Pod.
    since: Time,
    delay: Duration,
}

/// Builds a Pod as the set would create it, to check it against nodes.
pub fn pod_for_simulation(object: &Object) -> Option<Rc<Object>> {
    let set = object.get::<DaemonSet>()?;
    let mut meta = object.meta.clone();
    (meta.labels, meta.uid) = (set.template.labels.clone(), Default::default());
    let pod = Pod {
        spec: daemon_spec(set),
        node_name: set.template.spec.node_name.clone(),
        ..Default::default()
    };
    Some(Rc::new(Object {
        kind: Kind::Pod,
        meta,
        body: Body::Pod(Box::new(pod)),
    }))
}

/// UI descriptor of the controller.
static DESCRIPTOR: Descriptor = Descriptor {
    component: Component::Controller(&ControllerId::new("daemonset-controller")),
    aliases: &[],
    title: "daemonset",
    icon: "i-daemonset",
    lane: "daemonset",
    always_shown: false,
    code: GENERIC,
};

/// DaemonSet controller.
pub struct DaemonSetController;

impl Controller for DaemonSetController {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn watches(&self) -> &'static [Watch] {
        &[
            Watch::For(Kind::DaemonSet),
            Watch::Owns(Kind::DaemonSet, Kind::Pod),
            Watch::Maps(Kind::Pod),
            Watch::Maps(Kind::Node),
        ]
    }

    /// Wakes the sets that could adopt an orphaned Pod, and the sets whose placement a changed node affects.
    fn map_event(&self, event: &Event<'_>, cache: &Cache, wake: &mut dyn FnMut(ObjectRef)) {
        let object = event.object;
        if object.kind == Kind::Pod {
            if object.meta.controller().is_none() {
                for set in
                    cache.selecting(Kind::DaemonSet, &object.meta.namespace, &object.meta.labels)
                {
                    if set
                        .body::<DaemonSet>()
                        .spec
                        .selector
                        .matches(&object.meta.labels)
                    {
                        wake(set.key());
                    }
                }
            }
            return;
        }
        // Only a node's labels and taints matter here.
        let same = |before: &Object| {
            before.meta.labels == object.meta.labels
                && before.body::<Node>().spec.taints == object.body::<Node>().spec.taints
        };
        if event.op == Op::Deleted || event.before.is_some_and(|before| same(before)) {
            return;
        }
        for set in cache.list(Kind::DaemonSet) {
            let body: &DaemonSet = set.body();
            let (run, stay) = wants(body, &daemon_spec(body), object);
            let has_pod = || {
                let pods = cache.owned_of_kind(set.meta.uid, Kind::Pod);
                pods.into_iter()
                    .any(|p| target(p.body()) == Some(&object.meta.name))
            };
            if run || !stay && has_pod() {
                wake(set.key());
            }
        }
    }

    fn reconcile(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<Action, ApiError> {
        let Some((object, set)) = view.cache.get::<DaemonSet>(key) else {
            return Ok(Action::AwaitChange);
        };
        if set.spec.selector.is_empty() {
            let message =
                "This daemon set is selecting all pods. A non-empty selector is required.";
            out.event(object, "Warning", "SelectingAll", message);
            return Ok(Action::AwaitChange);
        }
        if object.meta.is_deleting() {
            return Ok(Action::AwaitChange);
        }
        let known = claim(
            object,
            &set.spec.selector,
            Kind::ControllerRevision,
            view,
            out,
            |_| true,
        )?;
        let pods = claim(object, &set.spec.selector, Kind::Pod, view, out, |_| true)?;
        let (hash, old) = revisions::sync(object, set, &known, &pods, out)?;
        let mut pass = DaemonSetPass {
            object,
            set,
            hash,
            nodes: BTreeMap::new(),
            missing: BTreeMap::new(),
            wall: view.wall,
            requeue_after: None,
        };
        pass.sort_by_node(&pods, view.cache);
        let acted = if view.sees_own_writes {
            pass.act(out)
        } else {
            Ok(())
        };
        let cleaned = match &acted {
            Ok(()) => revisions::clean_up(set, old, &pods, out),
            Err(_) => Ok(()),
        };
        pass.write_status(view.sees_own_writes, out)?;
        acted.and(cleaned)?;
        Ok(pass
            .requeue_after
            .map_or(Action::AwaitChange, Action::RequeueAfter))
    }
}

/// Node with the set's Pods that belong to it.
#[derive(Default)]
struct NodePods {
    name: Str,
    /// True if the node should run a Pod.
    run: bool,
    /// True if an existing Pod may stay.
    stay: bool,
    pods: Vec<Rc<Object>>,
}

/// Reconcile pass over one DaemonSet.
struct DaemonSetPass<'p> {
    object: &'p Rc<Object>,
    set: &'p DaemonSet,
    hash: Str,
    nodes: BTreeMap<Str, NodePods>,
    /// Missing nodes with the Pods that belong to them.
    missing: BTreeMap<Str, NodePods>,
    wall: Timestamp,
    /// Delay after which the key is requeued, in microseconds.
    requeue_after: Option<u64>,
}

impl DaemonSetPass<'_> {
    fn is_available(&self, pod: &Object) -> bool {
        pod.body::<Pod>()
            .is_available(self.set.spec.min_ready_seconds, self.wall)
    }

    /// Groups the Pods by node, the oldest first; Pods that have ended and are being deleted are left out.
    fn sort_by_node(&mut self, pods: &[Rc<Object>], cache: &Cache) {
        let spec = daemon_spec(self.set);
        for node in cache.list(Kind::Node) {
            let (run, stay) = wants(self.set, &spec, node);
            let name = node.meta.name.clone();
            let pods = Vec::new();
            self.nodes.insert(
                name.clone(),
                NodePods {
                    name,
                    run,
                    stay,
                    pods,
                },
            );
        }
        for pod in pods {
            let body: &Pod = pod.body();
            if body.is_terminal() && pod.meta.is_deleting() {
                continue;
            }
            let Some(name) = target(body) else { continue };
            let node = match self.nodes.get_mut(name) {
                Some(node) => node,
                None => self
                    .missing
                    .entry(name.clone())
                    .or_insert_with(|| NodePods {
                        name: name.clone(),
                        ..Default::default()
                    }),
            };
            node.pods.push(pod.clone());
        }
        for node in self.nodes.values_mut().chain(self.missing.values_mut()) {
            let rank = |p: &Rc<Object>| {
                (
                    p.body::<Pod>().node_name.is_empty(),
                    p.meta.creation_timestamp,
                    p.meta.name.clone(),
                )
            };
            node.pods.sort_by_key(rank);
        }
    }

    fn act(&mut self, out: &mut LoopClient<'_>) -> Result<(), ApiError> {
        let plan = self.manage(out);
        let quiet = plan.delete.is_empty() && plan.create.is_empty();
        self.carry_out(plan, out)?;
        // The writes of this pass must be observed before an update continues.
        if quiet && self.set.spec.update_strategy.kind == "RollingUpdate" {
            let plan = update::plan(self)?;
            self.carry_out(plan, out)?;
        }
        Ok(())
    }

    /// Plans creations on nodes that lack a Pod and deletions of Pods that should not run.
    fn manage(&mut self, out: &mut LoopClient<'_>) -> update::UpdatePlan {
        let mut plan = update::UpdatePlan::default();
        let surges = update::limits(self.set.spec.update_strategy.rolling_update.as_ref(), 1).0 > 0
            && self.set.spec.update_strategy.kind == "RollingUpdate";
        let nodes = std::mem::take(&mut self.nodes);
        for node in nodes.values() {
            let name = || node.name.clone();
            if !node.stay {
                let gone = node.pods.iter().filter(|p| !p.meta.is_deleting()).cloned();
                plan.delete
                    .extend(gone.map(|pod| (pod, Why::NodeUnfit { node: name() })));
                continue;
            }
            if node.pods.is_empty() {
                if node.run {
                    plan.create
                        .push((name(), Why::NodeWithoutPod { node: name() }));
                }
                continue;
            }
            let mut running = Vec::new();
            for pod in node.pods.iter().filter(|p| !p.meta.is_deleting()) {
                if !pod.body::<Pod>().is_terminal() {
                    running.push(pod);
                } else if self.may_replace(pod, &node.name, out) {
                    plan.delete.push((
                        pod.clone(),
                        Why::DaemonEnded {
                            phase: pod.body::<Pod>().status.phase.to_str(),
                        },
                    ));
                }
            }
            let surplus = |pod: &Rc<Object>| (pod.clone(), Why::NodeHasPod { node: name() });
            if !surges {
                plan.delete.extend(running.into_iter().skip(1).map(surplus));
            } else if running.is_empty() && node.run {
                plan.create
                    .push((name(), Why::NodeWithoutPod { node: name() }));
            } else if running.len() > 1 {
                self.prune_surge_pods(&running, &mut |pod| plan.delete.push(surplus(pod)));
            }
        }
        self.nodes = nodes;
        let unplaced = self
            .missing
            .values()
            .flat_map(|node| &node.pods)
            .filter(|p| p.body::<Pod>().node_name.is_empty() && !p.meta.is_deleting());
        plan.delete.extend(unplaced.map(|pod| {
            (
                pod.clone(),
                Why::NodeUnfit {
                    node: target(pod.body()).cloned().unwrap_or_default(),
                },
            )
        }));
        plan
    }

    /// Keeps the oldest new Pod and the oldest old one while an update surges, until the new one replaces the old.
    fn prune_surge_pods(&self, running: &[&Rc<Object>], delete: &mut dyn FnMut(&Rc<Object>)) {
        let (mut new, mut old) = (None, None);
        for pod in running {
            let slot = if is_updated(self.object, pod, &self.hash) {
                &mut new
            } else {
                &mut old
            };
            if slot.is_none() {
                *slot = Some(*pod);
            } else {
                delete(pod);
            }
        }
        if let (Some(new), Some(old)) = (new, old)
            && (!old.body::<Pod>().is_ready() || self.is_available(new))
        {
            delete(old);
        }
    }

    /// Returns true if a Pod that has ended may be deleted now; failed Pods of a node back off.
    fn may_replace(&mut self, pod: &Rc<Object>, node: &Str, out: &mut LoopClient<'_>) -> bool {
        let (namespace, name) = (&pod.meta.namespace, &pod.meta.name);
        if pod.body::<Pod>().status.phase == "Succeeded" {
            let message = format_smolstr!(
                "Found succeeded daemon pod {namespace}/{name} on node {node}, will try to delete it"
            );
            out.event(self.object, "Normal", "SucceededDaemonPod", message);
            return true;
        }
        let now = out.store().now;
        let mut back_offs: FailedPodBackOffs = out.state.take();
        let last = back_offs.get(node).copied();
        let elapsed = last.map_or(0, |last| now.0 - last.since.0);
        let delay = match last {
            Some(last) if elapsed < last.delay => {
                out.state.set(back_offs);
                self.requeue_after(last.delay);
                return false;
            }
            Some(last) if elapsed <= 2 * MAX_BACK_OFF_US => (last.delay * 2).min(MAX_BACK_OFF_US),
            _ => FIRST_BACK_OFF_US,
        };
        back_offs.insert(node.clone(), BackOff { since: now, delay });
        out.state.set(back_offs);
        let message = format_smolstr!(
            "Found failed daemon pod {namespace}/{name} on node {node}, will try to kill it"
        );
        out.event(self.object, "Warning", "FailedDaemonPod", message);
        true
    }

    fn requeue_after(&mut self, after: u64) {
        self.requeue_after = Some(
            self.requeue_after
                .map_or(after, |earlier| earlier.min(after)),
        );
    }

    /// Creates Pods in batches of 1, 2, 4…, then deletes.
    fn carry_out(
        &mut self,
        mut plan: update::UpdatePlan,
        out: &mut LoopClient<'_>,
    ) -> Result<(), ApiError> {
        plan.create.truncate(BURST);
        plan.delete.truncate(BURST);
        let spec = daemon_spec(self.set);
        let (mut failed, mut batch) = (None, 1);
        let mut nodes = plan.create.into_iter();
        while failed.is_none() && nodes.len() > 0 {
            out.together(|out| {
                for (node, why) in nodes.by_ref().take(batch) {
                    match out.create(
                        new_pod(self.object, self.set, &spec, &self.hash, &node),
                        why,
                    ) {
                        Ok(pod) => {
                            out.event(
                                self.object,
                                "Normal",
                                "SuccessfulCreate",
                                format_smolstr!("Created pod: {}", pod.meta.name),
                            );
                            if let Some(own) = self.nodes.get_mut(&node) {
                                own.pods.push(pod);
                            }
                        }
                        Err(error) if error.is_of_terminating_namespace() => {}
                        Err(error) => {
                            out.event(
                                self.object,
                                "Warning",
                                "FailedCreate",
                                format_smolstr!("Error creating: {error}"),
                            );
                            failed = Some(error);
                        }
                    }
                }
            });
            batch *= 2;
        }
        out.together(|out| {
            for (pod, why) in plan.delete {
                match out.delete(&pod.key(), DeleteOptions::of_uid(pod.meta.uid), why) {
                    Ok(_) => out.event(
                        self.object,
                        "Normal",
                        "SuccessfulDelete",
                        format_smolstr!("Deleted pod: {}", pod.meta.name),
                    ),
                    Err(error) => failed = Some(error),
                }
            }
        });
        failed.map_or(Ok(()), Err)
    }

    fn write_status(&mut self, observed: bool, out: &mut LoopClient<'_>) -> Result<(), ApiError> {
        let old = &self.set.status;
        let mut status = DaemonSetStatus {
            collision_count: old.collision_count,
            observed_generation: if observed {
                self.object.meta.generation
            } else {
                old.observed_generation
            },
            ..Default::default()
        };
        for node in self.nodes.values() {
            let Some(first) = node.pods.first() else {
                status.desired_number_scheduled += i32::from(node.run);
                continue;
            };
            if !node.run {
                status.number_misscheduled += 1;
                continue;
            }
            status.desired_number_scheduled += 1;
            status.current_number_scheduled += 1;
            status.number_ready += i32::from(first.body::<Pod>().is_ready());
            status.number_available += i32::from(self.is_available(first));
            status.updated_number_scheduled +=
                i32::from(is_updated(self.object, first, &self.hash));
        }
        status.number_unavailable = status.desired_number_scheduled - status.number_available;
        let min_ready = self.set.spec.min_ready_seconds.max(0) as u64;
        if min_ready > 0 && status.number_ready != status.number_available {
            self.requeue_after(min_ready * SECOND);
        }
        // While an update surges, only the older Pod of a node is counted above. A Pod that has become ready is checked again
        // a second after it is available.
        let waits = |p: &Rc<Object>| p.body::<Pod>().is_ready() && !self.is_available(p);
        if min_ready > 0 && self.nodes.values().any(|node| node.pods.iter().any(waits)) {
            self.requeue_after((min_ready + 1) * SECOND);
        }
        if status == *old {
            return Ok(());
        }
        out.update_status(self.object, Why::Observed, |o| {
            if let Body::DaemonSet(set) = &mut o.body {
                set.status = status;
            }
        })?;
        Ok(())
    }
}
