//! Injection of faults: for Pods and nodes here, for watches and controllers in `watches.rs`, for clients in
//! `clients.rs`.

use super::watches;
use crate::sim::Sim;
use crate::tasks::{Jitter, Task};
use apiserver::journal::{Actor, EntryId, Op, Record};
use apiserver::why::Why;
use apiserver::{Origin, Request, Subresource, Verb};
use controller_runtime::cluster::{self, HEALTHY, NodeConfig};
use controller_runtime::heartbeats::Heartbeats;
use controller_runtime::load;
use controller_runtime::process::Process;
use controller_runtime::watch::Event;
use controller_runtime::watch_faults::WatchFault;
use fault::{Fault, FaultError, FaultTarget, Load, NodeFault, ResolvedTarget};
use k8s_model::{Body, Kind, Object, ObjectRef, Str, Uid};
use kubelet::{ContainerFault, ContainerId, PodJob};
use serde_json::json;
use sim_core::rng::Rng;
use std::rc::Rc;

impl Sim {
    /// Injects a fault given as a line.
    pub fn fault(&mut self, line: &str) -> Result<(), FaultError> {
        self.inject(&line.parse()?)
    }

    /// Finds the kind of a target among those of the cluster.
    fn resolve(&self, target: &FaultTarget) -> Result<ResolvedTarget, FaultError> {
        let served = self.server.definitions().served();
        target.resolve(served.map(|definition| definition.kind))
    }

    /// Injects a fault and records it in the journal, unless it is refused.
    pub fn inject(&mut self, fault: &Fault) -> Result<(), FaultError> {
        // Id of the fault's entry, for faults that are recorded last.
        let id = self.journal().len() as EntryId;
        match fault {
            Fault::Exit { pod, code } => {
                return force_container(self, fault, pod, ContainerFault::Exit(i32::from(*code)));
            }
            Fault::Ready { pod, ready } => {
                return force_container(self, fault, pod, ContainerFault::Ready(*ready));
            }
            Fault::FailProbe {
                pod,
                probe,
                timeout,
            } => {
                return force_container(
                    self,
                    fault,
                    pod,
                    ContainerFault::Probe(*probe, Some(*timeout)),
                );
            }
            Fault::PassProbe { pod, probe } => {
                return force_container(self, fault, pod, ContainerFault::Probe(*probe, None));
            }
            Fault::Evict { pod } => return evict_pod(self, fault, pod),
            Fault::Node(change, name) => return change_node(self, fault, *change, name),
            Fault::AddNode { name, allocatable } => {
                return add_node(self, fault, name, allocatable);
            }
            Fault::Load(load) => return set_load(self, fault, load, true),
            Fault::EndLoad(load) => return set_load(self, fault, load, false),
            Fault::MemoryPressure { node, missing } => {
                let missing = missing.map_or(1, |missing| missing.as_units().max(0));
                return set_memory_pressure(self, fault, node, missing);
            }
            Fault::Lose { target, component } => {
                let target = self.resolve(target)?;
                watches::order(self, target, WatchFault::Lose, component.as_ref(), id)?
            }
            Fault::Delay {
                target,
                delay,
                component,
            } => {
                let (target, component) = (self.resolve(target)?, component.as_ref());
                match delay.map(WatchFault::Delay) {
                    Some(delay) => watches::order(self, target, delay, component, id)?,
                    None => watches::deliver(self, target, component)?,
                }
            }
            Fault::Repeat { target, component } => {
                let target = self.resolve(target)?;
                watches::order(self, target, WatchFault::Repeat, component.as_ref(), id)?
            }
            Fault::EventDriven { name, on } => watches::event_driven(self, name, *on)?,
            Fault::Slow { name, pass } => watches::slow(self, name, *pass, id)?,
            Fault::Jitter { range, seed } => {
                self.tasks.jitter = range.map(|range| Jitter::new(range, *seed));
            }
            Fault::Relist(after) => self.relist = *after,
            Fault::Restart { component } => watches::restart(self, component)?,
            Fault::Conflict(target) => {
                let target = self.resolve(target)?;
                self.server.conflicts.push(target);
            }
            Fault::Client(fault) => {
                // A share has a sequence of its own: names do not depend on what clients do.
                let seed = match fault.limit.share {
                    Some(_) => self.server.store.rng.bits(),
                    None => 0,
                };
                let now = self.now();
                self.client_faults.order(fault, id, now, Rng::new(seed));
            }
            Fault::EndClient(selector) => self.client_faults.end(selector),
        }
        record(self, fault);
        Ok(())
    }
}

/// Ends the first process of a container of exactly this Pod, not of a later Pod of the same name, as when an attached client leaves.
pub fn end_process(
    sim: &mut Sim,
    pod: &ObjectRef,
    uid: Uid,
    container: &str,
    code: i32,
    origin: &Origin,
) {
    let object = sim.store().get(pod);
    let body = object
        .filter(|object| object.meta.uid == uid)
        .and_then(|object| object.pod());
    if let Some(id) = body.and_then(|pod| ContainerId::named(pod, container)) {
        force(sim, uid, ContainerFault::End(id, code), origin.cause);
    }
}

/// Schedules a step that a fault forces on a Pod's kubelet.
fn force(sim: &mut Sim, uid: Uid, fault: ContainerFault, cause: Option<EntryId>) {
    let job = PodJob::forced(uid, fault, cause);
    sim.tasks.push(sim.now(), Task::Kubelet(job));
}

/// Records a fault in the journal.
fn record(sim: &mut Sim, fault: &Fault) -> Origin {
    sim.begin(Record::Fault(Rc::new(fault.clone())))
}

fn force_container(
    sim: &mut Sim,
    fault: &Fault,
    name: &Str,
    forced: ContainerFault,
) -> Result<(), FaultError> {
    let Some(pod) = sim.store().get(&ObjectRef::new(Kind::Pod, "default", name)) else {
        return Err(FaultError::NotFound("pods", name.clone()));
    };
    let uid = pod.meta.uid;
    if let (ContainerFault::Probe(probe, _), Some(body)) = (forced, pod.pod())
        && !body
            .spec
            .containers
            .iter()
            .chain(body.spec.init_containers.iter())
            .any(|container| probe.is_set(container))
    {
        return Err(FaultError::ProbeMissing(name.clone(), probe));
    }
    let origin = record(sim, fault);
    force(sim, uid, forced, origin.cause);
    Ok(())
}

fn evict_pod(sim: &mut Sim, fault: &Fault, name: &Str) -> Result<(), FaultError> {
    let key = ObjectRef::new(Kind::Pod, "default", name);
    let origin = record(sim, fault);
    let eviction = Request {
        subresource: Subresource::Eviction,
        ..Request::new(Verb::Create, &key)
    };
    sim.handle(&origin, &eviction)
        .result
        .map(drop)
        .map_err(|error| FaultError::Refused(error.message))
}

/// Sets or ends a load. Containers that exceed their memory limit now are killed.
fn set_load(sim: &mut Sim, fault: &Fault, load: &Load, set: bool) -> Result<(), FaultError> {
    let cause = record(sim, fault).cause;
    let memory = load.resource() == "memory";
    sim.kubelets.loads.set.retain(|old| !load.replaces(old));
    sim.kubelets.loads.set.extend(set.then(|| load.clone()));
    let loads = &sim.kubelets.loads.set;
    let uses = |pod: &&Rc<Object>| load::memory(loads, pod, sim.store()).is_some();
    let used: Vec<_> = if memory {
        sim.store()
            .list(Kind::Pod)
            .filter(uses)
            .map(|pod| pod.meta.uid)
            .collect()
    } else {
        Vec::new()
    };
    used.into_iter()
        .for_each(|uid| force(sim, uid, ContainerFault::Memory, cause));
    Ok(())
}

fn change_node(
    sim: &mut Sim,
    fault: &Fault,
    what: NodeFault,
    name: &Str,
) -> Result<(), FaultError> {
    let key = ObjectRef::new(Kind::Node, "", name);
    if sim.store().get(&key).is_none() || what != NodeFault::Remove && !sim.kubelets.has(name) {
        return Err(FaultError::NotFound("nodes", name.clone()));
    }
    let command = record(sim, fault);
    let origin = Origin {
        actor: Actor::kubelet(name),
        ..command.clone()
    };
    match what {
        NodeFault::Down => {
            sim.kubelets.silence(name, sim.now());
            sim.manager.wake(
                &controllers::NODE_LIFECYCLE,
                &key,
                command.cause,
                &mut sim.tasks,
            );
        }
        NodeFault::Up => {
            let jobs = sim.kubelets.wake(name, sim.now(), command.cause);
            sim.tasks.push_kubelet_jobs(jobs);
            report(sim, &key, &origin, None);
        }
        NodeFault::NotReady => report(
            sim,
            &key,
            &origin,
            Some(("KubeletNotReady", "container runtime is down")),
        ),
        NodeFault::Remove => {
            sim.kubelets.leave(name);
            // Its existence was checked above.
            let _ = sim.handle(&command, &Request::new(Verb::Delete, &key));
        }
    }
    Ok(())
}

fn set_memory_pressure(
    sim: &mut Sim,
    fault: &Fault,
    node: &Str,
    missing: i64,
) -> Result<(), FaultError> {
    if sim
        .store()
        .get(&ObjectRef::new(Kind::Node, "", node))
        .is_none()
        || !sim.kubelets.has(node)
    {
        return Err(FaultError::NotFound("nodes", node.clone()));
    }
    let origin = record(sim, fault);
    let now = sim.now();
    sim.kubelets.set_memory_pressure(node, missing, now);
    sim.tasks
        .push(now, Task::SynchronizeEviction(node.clone(), origin.cause));
    Ok(())
}

/// Writes the node's conditions as its kubelet reports them: healthy, or not ready with the reason.
fn report(
    sim: &mut Sim,
    key: &ObjectRef,
    origin: &Origin,
    trouble: Option<(&'static str, &'static str)>,
) {
    let wall = sim.store().wall_at(sim.now());
    let Some(mut object) = sim.store().get(key).map(|o| (**o).clone()) else {
        return;
    };
    let Body::Node(node) = &mut object.body else {
        return;
    };
    for condition in &mut node.status.conditions {
        let Some((kind, status, reason, message)) =
            HEALTHY.iter().find(|(kind, ..)| condition.kind == *kind)
        else {
            continue;
        };
        let (status, reason, message) = match trouble {
            Some((reason, message)) if *kind == "Ready" => ("False", reason, message),
            _ => (*status, *reason, *message),
        };
        if condition.status != status {
            condition.last_transition_time = Some(wall);
        }
        condition.last_heartbeat_time = Some(wall);
        (condition.status, condition.reason, condition.message) =
            (status.into(), reason.into(), message.into());
    }
    // The node was read just now, and no other write can come in between.
    let _ = sim.write(|server| server.update_status(origin, object, Why::NodeReport));
}

fn add_node(
    sim: &mut Sim,
    fault: &Fault,
    name: &Str,
    allocatable: &[(Str, Str)],
) -> Result<(), FaultError> {
    if sim
        .store()
        .get(&ObjectRef::new(Kind::Node, "", name))
        .is_some()
    {
        return Err(FaultError::NodeExists(name.clone()));
    }
    let config = NodeConfig {
        name: name.to_string(),
        allocatable: allocatable
            .iter()
            .map(|(resource, amount)| (resource.to_string(), json!(amount)))
            .collect(),
    };
    let origin = &Origin {
        actor: Actor::kubelet(name),
        ..record(sim, fault)
    };
    let number = sim.kubelets.join(name);
    let mut value = cluster::node(number, &config, sim.store().wall_at(sim.now()));
    // No Pod may be placed there until the node controller has checked it.
    value["spec"]["taints"] =
        json!([{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]);
    if let Ok(object) = Object::from_value(Kind::Node, value) {
        let _ = sim.write(|server| server.create(origin, object, Why::NodeReport));
    }
    // Pods bound to an earlier node of this name now belong to this kubelet.
    let stranded: Vec<_> = sim
        .store()
        .list(Kind::Pod)
        .filter(|o| o.pod().is_some_and(|pod| pod.node_name == *name))
        .cloned()
        .collect();
    let id = origin.cause.unwrap_or_default();
    for pod in stranded {
        let event = Event {
            op: Op::Added,
            object: &pod,
            before: None,
            listed: true,
        };
        sim.dispatch(Process::Kubelet, &event, id);
    }
    Ok(())
}
