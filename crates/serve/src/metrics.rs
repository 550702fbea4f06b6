//! `metrics.k8s.io`: usage of Pods; what is not known of it is 0.
//!
//! Models `metrics-server/pkg/api`.

use super::cluster::Cluster;
use super::http_request::{HttpRequest, Target};
use super::status::{Answer, no_such_path, not_allowed};
use super::write::api_request;
use apiserver::{Content, Subresource, Verb};
use cluster_network::usage::Usage;
use k8s_model::{Kind, Object, Str};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Group.
pub const GROUP: &str = "metrics.k8s.io";
/// The only version.
pub const VERSION: &str = "v1beta1";
/// Resource, kind, and true if namespaced.
pub const RESOURCES: [(&str, &str, bool); 2] = [
    ("nodes", "NodeMetrics", false),
    ("pods", "PodMetrics", true),
];

/// Handles a request for usage.
pub fn answer(cluster: &mut Cluster, request: &HttpRequest, target: &Target) -> Option<Answer> {
    if target.group != GROUP || target.version != VERSION || !target.part.is_empty() {
        return None;
    }
    let (_, kind_name, _) = *RESOURCES
        .iter()
        .find(|(resource, ..)| *resource == target.resource)?;
    let sim = &cluster.host.sim;
    if !Usage::new(sim.store(), &sim.kubelets.loads).is_available() {
        return None;
    }
    if !matches!(request.method.as_str(), "GET" | "HEAD") || request.on("watch") {
        return Some(not_allowed());
    }
    let kind = if kind_name == "NodeMetrics" {
        Kind::Node
    } else {
        Kind::Pod
    };
    let verb = match target.name.as_str() {
        "" => Verb::List,
        _ => Verb::Get,
    };
    let about = Target {
        group: String::new(),
        version: "v1".to_owned(),
        ..target.clone()
    };
    let response = cluster.send(api_request(request, kind, &about, verb, Subresource::Main));
    let objects: Vec<Rc<Object>> = match response.result {
        Ok(Content::List(list)) => list.collect(),
        Ok(content) => content.object().cloned().into_iter().collect(),
        Err(error) => return Some(Answer::error(&error, Some((kind, &target.name)))),
    };
    let sim = &cluster.host.sim;
    let mut usage = Usage::new(sim.store(), &sim.kubelets.loads);
    let mut cpu_and_memory = |pod: &Object| {
        let mut of = |what: &str| usage.of(what, pod).unwrap_or(0);
        (of("cpu"), of("memory"))
    };
    let now = sim.store().wall_at(sim.now()).rfc3339();
    let items: Vec<Value> = match kind {
        Kind::Node => {
            let mut sums: BTreeMap<Str, (i64, i64)> = BTreeMap::new();
            for (pod, body) in sim
                .store()
                .list(Kind::Pod)
                .filter_map(|pod| Some((pod, pod.pod()?)))
            {
                let sum = sums.entry(body.node_name.clone()).or_default();
                let (cpu, memory) = cpu_and_memory(pod);
                *sum = (sum.0.saturating_add(cpu), sum.1.saturating_add(memory));
            }
            let of = |node: &Rc<Object>| {
                let (cpu, memory) = sums.get(&node.meta.name).copied().unwrap_or_default();
                metrics(kind_name, node, &now, "usage", used(cpu, memory))
            };
            objects.iter().map(of).collect()
        }
        _ => {
            let runs =
                |pod: &&Rc<Object>| pod.pod().is_some_and(|body| body.status.phase == "Running");
            let pods = objects.iter().filter(runs);
            let mut of = |pod: &Rc<Object>| {
                let (cpu, memory) = cpu_and_memory(pod);
                metrics(
                    kind_name,
                    pod,
                    &now,
                    "containers",
                    containers(pod, cpu, memory),
                )
            };
            pods.map(&mut of).collect()
        }
    };
    if target.name.is_empty() {
        let list = json!({ "kind": format!("{kind_name}List"), "apiVersion": format!("{GROUP}/{VERSION}"), "metadata": {}, "items": items });
        return Some(Answer::json(200, &list));
    }
    Some(
        items
            .into_iter()
            .next()
            .map_or_else(no_such_path, |one| Answer::json(200, &one)),
    )
}

fn used(cpu: i64, memory: i64) -> Value {
    json!({ "cpu": format!("{cpu}m"), "memory": format!("{}Ki", memory / 1000 / 1024) })
}

/// Divides the usage of a Pod evenly among its containers.
fn containers(pod: &Object, cpu: i64, memory: i64) -> Value {
    let names: Vec<&str> = pod.pod().map_or_else(Vec::new, |body| {
        body.spec
            .containers
            .iter()
            .map(|one| one.name.as_str())
            .collect()
    });
    let count = names.len().max(1) as i64;
    names
        .iter()
        .map(|name| json!({ "name": name, "usage": used(cpu / count, memory / count) }))
        .collect()
}

fn metrics(kind: &str, object: &Object, now: &str, key: &str, value: Value) -> Value {
    let mut meta = json!({ "name": object.meta.name.as_str(), "creationTimestamp": now });
    if !object.meta.namespace.is_empty() {
        meta["namespace"] = object.meta.namespace.as_str().into();
    }
    let mut one = json!({ "kind": kind, "apiVersion": format!("{GROUP}/{VERSION}"), "metadata": meta, "timestamp": now, "window": "15s" });
    one[key] = value;
    one
}
