//! Faults that a user injects.

use super::cluster::{self, HEALTHY, NodeConfig};
use super::component::KUBELETS;
use super::heartbeats::Heartbeats;
use super::journal::{Actor, Op};
use super::kubelet::{Forced, Probed};
use super::load::Load;
use super::sim::{Sim, Task};
use super::store::{Delete, Origin};
use super::why::Why;
use crate::api::quantity::Quantity;
use crate::api::{Body, Kind, Object, ObjectRef};
use serde_json::json;

const KNOWN: &str = "exit pod/NAME CODE, unready pod/NAME, ready pod/NAME, fail-probe pod/NAME KIND [timeout], pass-probe pod/NAME KIND, evict pod/NAME, node-down NODE, node-up NODE, \
                     node-notready NODE, add-node NODE [RESOURCE=AMOUNT ...], remove-node NODE, cpu-load LABEL=VALUE AMOUNT|none, memory-load LABEL=VALUE AMOUNT|none, memory-pressure NODE [AMOUNT], \
                     lose KIND[/NAME] [COMPONENT], delay KIND[/NAME] TIME|none [COMPONENT], slow LOOP TIME|none, relist TIME|never, restart COMPONENT, conflict KIND[/NAME]";

impl Sim {
    /// What Pods use, where it is set.
    pub fn loads(&self) -> &[super::load::Load] {
        &self.kubelets.loads
    }

    /// Ends the first process of a Pod's first container, as a client that was attached to it does when it leaves.
    pub fn end_process(&mut self, pod: &ObjectRef, code: i32, origin: &Origin) {
        if let Some(uid) = self.get(pod).map(|pod| pod.meta.uid) {
            self.force(uid, Forced::Exit(code), origin.cause);
        }
    }

    /// The CPU load that a fault has set for a selector, in thousandths of a core.
    pub fn cpu_load(&self, selector: &str) -> Option<i64> {
        super::load::amount(&self.kubelets.loads, "cpu", selector)
    }

    /// Injects a fault given as a line: `exit pod/P CODE`, `node-down N`, `cpu-load app=web 700m` and so on.
    pub fn fault(&mut self, line: &str) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some(result) = self.inject_fault(line, &words) {
            return result;
        }
        if let [what @ ("cpu-load" | "memory-load"), selector, total] = words[..] {
            // `none` removes the load.
            let said = total != "none";
            let load = Load::parse(if what == "cpu-load" { "cpu" } else { "memory" }, selector, if said { total } else { "0" })?;
            let cause = self.command(&format!("fault {line}")).cause;
            self.kubelets.loads.retain(|old| !load.replaces(old));
            self.kubelets.loads.extend(said.then_some(load));
            // Whoever has more than its limit now is killed.
            let loads = &self.kubelets.loads;
            let used: Vec<_> = self
                .list(Kind::Pod)
                .filter(|pod| super::load::memory(loads, pod, self.server()).is_some())
                .map(|pod| pod.meta.uid)
                .collect();
            used.into_iter().filter(|_| what == "memory-load").for_each(|uid| self.force(uid, Forced::Memory, cause));
            return Ok(());
        }
        if let ["memory-pressure", node, ref amount @ ..] = words[..] {
            return self.memory_fault(line, node, amount);
        }
        if let ["add-node", node, ref has @ ..] = words[..] {
            return self.add_node(line, node, has);
        }
        let (target, forced) = match words[..] {
            ["exit", target, code] => (target, Forced::Exit(code.parse().map_err(|_| format!("exit: not an exit code: {code}"))?)),
            ["unready", target] => (target, Forced::Ready(false)),
            ["ready", target] => (target, Forced::Ready(true)),
            ["fail-probe", target, kind] => (target, Forced::Probe(probed(kind)?, Some(false))),
            ["fail-probe", target, kind, "timeout"] => (target, Forced::Probe(probed(kind)?, Some(true))),
            ["pass-probe", target, kind] => (target, Forced::Probe(probed(kind)?, None)),
            ["evict", target] => return self.evict_fault(line, target),
            ["node-down" | "node-up" | "node-notready" | "remove-node", node] => return self.node_fault(line, words[0], node),
            _ => return Err(format!("unknown fault {line:?}; known are: {KNOWN}")),
        };
        let name = target.strip_prefix("pod/").ok_or_else(|| format!("{target}: pod/NAME is required"))?;
        let key = ObjectRef::new(Kind::Pod, "default", name);
        let Some(pod) = self.get(&key) else { return Err(format!("pods {name:?} not found")) };
        let uid = pod.meta.uid;
        if let (Forced::Probe(kind, _), Some(body)) = (forced, pod.pod())
            && !body.spec.containers.iter().chain(body.spec.init_containers.iter()).any(|container| kind.is_of(container))
        {
            return Err(format!("pods {name:?} has no {} probe", kind.word()));
        }
        let origin = self.command(&format!("fault {line}"));
        self.force(uid, forced, origin.cause);
        Ok(())
    }

    fn evict_fault(&mut self, line: &str, target: &str) -> Result<(), String> {
        let name = target.strip_prefix("pod/").ok_or_else(|| format!("{target}: pod/NAME is required"))?;
        let key = ObjectRef::new(Kind::Pod, "default", name);
        let origin = self.command(&format!("fault {line}"));
        self.request(|server| server.evict(&origin, &key, Delete::default(), Why::Asked)).map_err(|error| error.message)
    }

    fn node_fault(&mut self, line: &str, what: &str, name: &str) -> Result<(), String> {
        let key = ObjectRef::new(Kind::Node, "", name);
        if self.get(&key).is_none() || what != "remove-node" && !self.kubelets.has(name) {
            return Err(format!("nodes {name:?} not found"));
        }
        let asked = self.command(&format!("fault {line}"));
        let origin = Origin { actor: Actor::kubelet(&name.into()), ..asked.clone() };
        match what {
            "node-down" => {
                self.kubelets.silence(name, self.now());
                self.wake_loop("node-lifecycle-controller", &key, asked.cause);
            }
            "node-up" => {
                for (at, job) in self.kubelets.wake(name, self.now(), asked.cause) {
                    self.push(at, Task::Kubelet(job));
                }
                self.report(&key, &origin, None);
            }
            "node-notready" => self.report(&key, &origin, Some(("KubeletNotReady", "container runtime is down"))),
            _ => {
                self.kubelets.leave(name);
                // Its existence was checked above.
                let _ = self.request(|server| server.delete(&asked, &key, Delete::default(), Why::Asked));
            }
        }
        Ok(())
    }

    /// Puts a node under memory pressure by an amount, at least enough to evict one Pod; 0 ends it.
    fn memory_fault(&mut self, line: &str, node: &str, amount: &[&str]) -> Result<(), String> {
        let missing = match amount {
            [] => 1,
            [text] => Quantity::parse(text).map_err(|error| format!("memory-pressure: {text}: {error}"))?.as_units().max(0),
            _ => return Err("memory-pressure NODE [AMOUNT]".to_owned()),
        };
        if self.get(&ObjectRef::new(Kind::Node, "", node)).is_none() || !self.kubelets.has(node) {
            return Err(format!("nodes {node:?} not found"));
        }
        let origin = self.command(&format!("fault {line}"));
        let now = self.now();
        self.kubelets.press(node, missing, now);
        self.push(self.now(), Task::Relieve(node.into(), origin.cause));
        Ok(())
    }

    /// Writes the node's conditions as its kubelet reports them: healthy, or not ready and why.
    fn report(&mut self, key: &ObjectRef, origin: &Origin, trouble: Option<(&'static str, &'static str)>) {
        let wall = self.server().wall_at(self.now());
        let Some(mut object) = self.get(key).map(|o| (**o).clone()) else { return };
        let Body::Node(node) = &mut object.body else { return };
        for condition in &mut node.status.conditions {
            let Some((kind, status, reason, message)) = HEALTHY.iter().find(|(kind, ..)| condition.kind == *kind) else { continue };
            let (status, reason, message) = match trouble {
                Some((reason, message)) if *kind == "Ready" => ("False", reason, message),
                _ => (*status, *reason, *message),
            };
            if condition.status != status {
                condition.last_transition_time = Some(wall);
            }
            condition.last_heartbeat_time = Some(wall);
            (condition.status, condition.reason, condition.message) = (status.into(), reason.into(), message.into());
        }
        // The node existed a moment ago, and no other write comes in between.
        let _ = self.request(|server| server.update_status(origin, object, Why::NodeReport));
    }

    /// Adds a node, larger than the others if requested: `cpu=8`.
    fn add_node(&mut self, line: &str, name: &str, has: &[&str]) -> Result<(), String> {
        if self.get(&ObjectRef::new(Kind::Node, "", name)).is_some() {
            return Err(format!("nodes {name:?} already exists"));
        }
        let amount = |pair: &&str| {
            let (resource, amount) = pair.split_once('=').ok_or_else(|| format!("add-node: {pair}: RESOURCE=AMOUNT is required"))?;
            if !["cpu", "memory", "pods", "ephemeral-storage"].contains(&resource) {
                return Err(format!("add-node: {resource}: cpu, memory, pods or ephemeral-storage is required"));
            }
            match Quantity::parse(amount) {
                Ok(many) if resource == "pods" && !many.is_whole() => Err(format!("add-node: {pair}: must be an integer")),
                Ok(many) if many.as_units() > 0 => Ok((resource.to_owned(), json!(amount))),
                Ok(_) => Err(format!("add-node: {pair}: must be greater than 0")),
                Err(error) => Err(format!("add-node: {pair}: {error}")),
            }
        };
        let allocatable = has.iter().map(amount).collect::<Result<Vec<_>, _>>()?;
        if let Some((twice, _)) =
            allocatable.iter().enumerate().find_map(|(at, one)| allocatable[..at].iter().find(|other| other.0 == one.0))
        {
            return Err(format!("add-node: {twice}: named twice"));
        }
        let origin = &Origin { actor: Actor::kubelet(&name.into()), ..self.command(&format!("fault {line}")) };
        let number = self.kubelets.join(name);
        let config = NodeConfig { name: name.into(), allocatable };
        let mut value = cluster::node(number, &config, self.server().wall_at(self.now()));
        // No Pod may be placed there until the node controller has checked it.
        value["spec"]["taints"] = json!([{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]);
        if let Ok(object) = Object::from_value(Kind::Node, value) {
            let _ = self.request(|server| server.create(origin, object, Why::NodeReport));
        }
        // Pods that were bound to an earlier node of this name are now this kubelet's.
        let stranded: Vec<_> = self.list(Kind::Pod).filter(|o| o.pod().is_some_and(|pod| pod.node_name == name)).cloned().collect();
        let id = origin.cause.unwrap_or_default();
        for pod in stranded {
            self.dispatch(KUBELETS, Op::Added, &pod, None, id);
        }
        Ok(())
    }
}

fn probed(word: &str) -> Result<Probed, String> {
    Probed::named(word).ok_or_else(|| format!("{word}: startup, readiness or liveness is required"))
}
