//! Injection of faults: for Pods and nodes here, for watches and controllers in `watches.rs`.

use crate::sim::{Sim, Task};
use apiserver::journal::{Actor, EntryId, Op, Record};
use apiserver::why::Why;
use apiserver::{Delete, Origin};
use controller_runtime::cluster::{self, HEALTHY, NodeConfig};
use controller_runtime::component::KUBELETS;
use controller_runtime::heartbeats::Heartbeats;
use controller_runtime::load;
use fault::{Fault, FaultError, Load, NodeFault};
use k8s_model::{Body, Kind, Object, ObjectRef, Str, Uid};
use kubelet::ContainerFault;
use serde_json::json;
use std::rc::Rc;

impl Sim {
    /// Returns the loads set by faults.
    pub fn loads(&self) -> &[Load] {
        &self.kubelets.loads
    }

    /// Ends the first process of a container of exactly this Pod, not of a later Pod of the same name, as when an attached client leaves.
    pub fn end_process(
        &mut self,
        (pod, uid): (&ObjectRef, Uid),
        container: &str,
        code: i32,
        origin: &Origin,
    ) {
        let found = self
            .get(pod)
            .filter(|object| object.meta.uid == uid)
            .and_then(|object| object.pod());
        if let Some(number) = found.and_then(|pod| kubelet::number_of(pod, container)) {
            self.force(uid, ContainerFault::End(number, code), origin.cause);
        }
    }

    /// Returns the CPU load that a fault has set for a selector, in thousandths of a core.
    pub fn cpu_load(&self, selector: &str) -> Option<i64> {
        load::amount(&self.kubelets.loads, "cpu", selector)
    }

    /// Injects a fault given as a line.
    pub fn fault(&mut self, line: &str) -> Result<(), FaultError> {
        self.inject(&line.parse()?)
    }

    /// Injects a fault and records it in the journal, unless it is refused.
    pub fn inject(&mut self, fault: &Fault) -> Result<(), FaultError> {
        // Id of the fault's entry, for faults that are recorded last.
        let id = self.journal().len() as EntryId;
        match fault {
            Fault::Exit { pod, code } => {
                return self.force_container(fault, pod, ContainerFault::Exit(i32::from(*code)));
            }
            Fault::Ready { pod, ready } => {
                return self.force_container(fault, pod, ContainerFault::Ready(*ready));
            }
            Fault::FailProbe {
                pod,
                probe,
                timeout,
            } => {
                return self.force_container(
                    fault,
                    pod,
                    ContainerFault::Probe(*probe, Some(*timeout)),
                );
            }
            Fault::PassProbe { pod, probe } => {
                return self.force_container(fault, pod, ContainerFault::Probe(*probe, None));
            }
            Fault::Evict { pod } => return self.evict_pod(fault, pod),
            Fault::Node(change, name) => return self.change_node(fault, *change, name),
            Fault::AddNode { name, allocatable } => return self.add_node(fault, name, allocatable),
            Fault::Load(load) => return self.set_load(fault, load, true),
            Fault::EndLoad(load) => return self.set_load(fault, load, false),
            Fault::MemoryPressure { node, missing } => {
                let missing = missing.map_or(1, |missing| missing.as_units().max(0));
                return self.press_memory(fault, node, missing);
            }
            Fault::Lose { target, component } => {
                self.lose(target.resolve()?, component.as_ref(), id)?
            }
            Fault::Delay {
                target,
                delay,
                component,
            } => self.delay(target.resolve()?, *delay, component.as_ref(), id)?,
            Fault::Slow { name, pass } => self.slow(name, *pass, id)?,
            Fault::Relist(after) => self.relist = *after,
            Fault::Restart { component } => self.restart(component)?,
            Fault::Conflict(target) => self.server.conflicts.push(target.resolve()?),
        }
        self.record_fault(fault);
        Ok(())
    }

    /// Records a fault in the journal.
    fn record_fault(&mut self, fault: &Fault) -> Origin {
        self.begin(Record::Fault(Rc::new(fault.clone())))
    }

    fn force_container(
        &mut self,
        fault: &Fault,
        name: &Str,
        forced: ContainerFault,
    ) -> Result<(), FaultError> {
        let Some(pod) = self.get(&ObjectRef::new(Kind::Pod, "default", name)) else {
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
        let origin = self.record_fault(fault);
        self.force(uid, forced, origin.cause);
        Ok(())
    }

    fn evict_pod(&mut self, fault: &Fault, name: &Str) -> Result<(), FaultError> {
        let key = ObjectRef::new(Kind::Pod, "default", name);
        let origin = self.record_fault(fault);
        self.request(|server| server.evict(&origin, &key, Delete::default(), Why::Asked))
            .map_err(|error| FaultError::Refused(error.message))
    }

    /// Sets or ends a load. Containers that exceed their memory limit now are killed.
    fn set_load(&mut self, fault: &Fault, load: &Load, set: bool) -> Result<(), FaultError> {
        let cause = self.record_fault(fault).cause;
        let memory = load.resource() == "memory";
        self.kubelets.loads.retain(|old| !load.replaces(old));
        self.kubelets.loads.extend(set.then(|| load.clone()));
        let loads = &self.kubelets.loads;
        let uses = |pod: &&Rc<Object>| load::memory(loads, pod, self.server()).is_some();
        let used: Vec<_> = if memory {
            self.list(Kind::Pod)
                .filter(uses)
                .map(|pod| pod.meta.uid)
                .collect()
        } else {
            Vec::new()
        };
        used.into_iter()
            .for_each(|uid| self.force(uid, ContainerFault::Memory, cause));
        Ok(())
    }

    fn change_node(
        &mut self,
        fault: &Fault,
        what: NodeFault,
        name: &Str,
    ) -> Result<(), FaultError> {
        let key = ObjectRef::new(Kind::Node, "", name);
        if self.get(&key).is_none() || what != NodeFault::Remove && !self.kubelets.has(name) {
            return Err(FaultError::NotFound("nodes", name.clone()));
        }
        let asked = self.record_fault(fault);
        let origin = Origin {
            actor: Actor::kubelet(name),
            ..asked.clone()
        };
        match what {
            NodeFault::Down => {
                self.kubelets.silence(name, self.now());
                self.wake_loop("node-lifecycle-controller", &key, asked.cause);
            }
            NodeFault::Up => {
                for (at, job) in self.kubelets.wake(name, self.now(), asked.cause) {
                    self.push(at, Task::Kubelet(job));
                }
                self.report(&key, &origin, None);
            }
            NodeFault::NotReady => self.report(
                &key,
                &origin,
                Some(("KubeletNotReady", "container runtime is down")),
            ),
            NodeFault::Remove => {
                self.kubelets.leave(name);
                // Its existence was checked above.
                let _ = self
                    .request(|server| server.delete(&asked, &key, Delete::default(), Why::Asked));
            }
        }
        Ok(())
    }

    fn press_memory(&mut self, fault: &Fault, node: &Str, missing: i64) -> Result<(), FaultError> {
        if self.get(&ObjectRef::new(Kind::Node, "", node)).is_none() || !self.kubelets.has(node) {
            return Err(FaultError::NotFound("nodes", node.clone()));
        }
        let origin = self.record_fault(fault);
        let now = self.now();
        self.kubelets.press(node, missing, now);
        self.push(now, Task::Relieve(node.clone(), origin.cause));
        Ok(())
    }

    /// Writes the node's conditions as its kubelet reports them: healthy, or not ready with the reason.
    fn report(
        &mut self,
        key: &ObjectRef,
        origin: &Origin,
        trouble: Option<(&'static str, &'static str)>,
    ) {
        let wall = self.server().wall_at(self.now());
        let Some(mut object) = self.get(key).map(|o| (**o).clone()) else {
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
        let _ = self.request(|server| server.update_status(origin, object, Why::NodeReport));
    }

    fn add_node(
        &mut self,
        fault: &Fault,
        name: &Str,
        allocatable: &[(Str, Str)],
    ) -> Result<(), FaultError> {
        if self.get(&ObjectRef::new(Kind::Node, "", name)).is_some() {
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
            ..self.record_fault(fault)
        };
        let number = self.kubelets.join(name);
        let mut value = cluster::node(number, &config, self.server().wall_at(self.now()));
        // No Pod may be placed there until the node controller has checked it.
        value["spec"]["taints"] =
            json!([{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]);
        if let Ok(object) = Object::from_value(Kind::Node, value) {
            let _ = self.request(|server| server.create(origin, object, Why::NodeReport));
        }
        // Pods bound to an earlier node of this name now belong to this kubelet.
        let stranded: Vec<_> = self
            .list(Kind::Pod)
            .filter(|o| o.pod().is_some_and(|pod| pod.node_name == *name))
            .cloned()
            .collect();
        let id = origin.cause.unwrap_or_default();
        for pod in stranded {
            self.dispatch(KUBELETS, Op::Added, &pod, None, id);
        }
        Ok(())
    }
}
