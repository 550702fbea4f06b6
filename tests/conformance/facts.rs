//! A trace as named facts: the same as those that the recordings were turned into.

use super::names::Names;
use super::output::{node_names, normal as normal_output};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

const KINDS: [&str; 19] = [
    "Deployment",
    "ReplicaSet",
    "StatefulSet",
    "DaemonSet",
    "Job",
    "CronJob",
    "Pod",
    "Service",
    "EndpointSlice",
    "Endpoints",
    "PersistentVolumeClaim",
    "PersistentVolume",
    "Node",
    "HorizontalPodAutoscaler",
    "PodDisruptionBudget",
    "ControllerRevision",
    "ReplicationController",
    "ResourceQuota",
    "LimitRange",
];
const WITH_CONDITIONS: [&str; 9] = [
    "Deployment",
    "ReplicaSet",
    "StatefulSet",
    "DaemonSet",
    "Job",
    "HorizontalPodAutoscaler",
    "PodDisruptionBudget",
    "PersistentVolumeClaim",
    "Node",
];
const DROPPED: [&str; 6] = [
    "managedFields",
    "uid",
    "resourceVersion",
    "selfLink",
    "lastHeartbeatTime",
    "kubectl.kubernetes.io/last-applied-configuration",
];
const RETRIED: [&str; 11] = [
    "FailedScheduling",
    "ExternalProvisioning",
    "WaitForFirstConsumer",
    "WaitForPodScheduled",
    "FailedBinding",
    "ProvisioningFailed",
    "BackOff",
    "FailedCreate",
    "NoPods",
    "FailedGetResourceMetric",
    "FailedComputeMetricsReplicas",
];
const SETS: [&str; 7] = [
    "conditions",
    "ownerReferences",
    "finalizers",
    "endpoints",
    "addresses",
    "notReadyAddresses",
    "uncountedTerminatedPods",
];

type Facts = BTreeMap<String, Value>;

/// One watch event.
pub struct Item {
    pub type_: String,
    pub object: Value,
}

impl Item {
    pub fn kind(&self) -> &str {
        text(&self.object, "kind")
    }
    pub fn name(&self) -> &str {
        text(&self.object["metadata"], "name")
    }
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or("")
}

/// A trace in memory.
pub struct Run {
    pub items: Vec<Item>,
    steps: BTreeMap<usize, (Value, String)>,
    /// Per wait step the living objects, as indices into the items.
    states: BTreeMap<usize, BTreeMap<(String, String), usize>>,
    names: Names,
}

impl Run {
    pub fn read(trace: &str, commands: &BTreeMap<usize, String>) -> Run {
        let mut run = Run {
            items: Vec::new(),
            steps: BTreeMap::new(),
            states: BTreeMap::new(),
            names: Names::default(),
        };
        let mut live = BTreeMap::new();
        for line in trace.lines().filter(|l| l.starts_with('{')) {
            let value: Value = serde_json::from_str(line).unwrap();
            if let Some(step) = value.get("step").and_then(Value::as_u64) {
                if value["action"] == "wait" {
                    run.states.insert(step as usize, live.clone());
                }
                run.steps.insert(
                    step as usize,
                    (
                        value,
                        commands.get(&(step as usize)).cloned().unwrap_or_default(),
                    ),
                );
            } else {
                run.add(value, &mut live);
            }
        }
        run.names = Names::of(&run);
        run
    }

    fn add(&mut self, mut line: Value, live: &mut BTreeMap<(String, String), usize>) {
        let item = Item {
            type_: text(&line, "type").into(),
            object: line["object"].take(),
        };
        let (kind, name) = (item.kind().to_string(), item.name().to_string());
        let namespace = item.object["metadata"]["namespace"]
            .as_str()
            .unwrap_or("default");
        let own = name == "kubernetes"
            && ["Service", "EndpointSlice", "Endpoints"].contains(&kind.as_str());
        if (kind != "Event" && !KINDS.contains(&kind.as_str())) || namespace != "default" || own {
            return;
        }
        if kind != "Event" {
            if item.type_ == "DELETED" {
                live.remove(&(kind, name));
            } else {
                live.insert((kind, name), self.items.len());
            }
        }
        self.items.push(item);
    }

    fn of<'a>(&'a self, kinds: &'a [&str]) -> impl Iterator<Item = &'a Item> {
        self.items.iter().filter(move |i| kinds.contains(&i.kind()))
    }

    fn identity(&self, kind: &str, name: &str) -> String {
        format!("{kind} {}", self.names.sub(name))
    }

    /// Masks what may differ; keeps presence, everything else verbatim.
    fn normal(&self, value: &Value, key: &str, parent: &str) -> Value {
        match value {
            Value::Object(map) => {
                let kept = map
                    .iter()
                    .filter(|(k, v)| !DROPPED.contains(&k.as_str()) && !v.is_null());
                kept.map(|(k, v)| {
                    (
                        if k.len() > 20 {
                            self.names.sub(k)
                        } else {
                            k.clone()
                        },
                        self.normal(v, k, key),
                    )
                })
                .collect()
            }
            Value::Array(list) => self.normal_list(list, key, parent),
            Value::Number(n) if key == "nodePort" && n.as_i64() != Some(30007) => {
                json!("<nodePort>")
            }
            Value::String(s) => json!(self.normal_text(s, key, parent)),
            other => other.clone(),
        }
    }

    fn normal_list(&self, list: &[Value], key: &str, parent: &str) -> Value {
        if ["podIPs", "hostIPs", "clusterIPs"].contains(&key)
            && !list.is_empty()
            && list != [json!("None")]
        {
            return json!(vec![format!("<{key}>"); list.len()]);
        }
        let mut items: Vec<Value> = list.iter().map(|v| self.normal(v, key, parent)).collect();
        if SETS.contains(&key) {
            items.sort_by_key(dump);
        }
        Value::Array(items)
    }

    fn normal_text(&self, value: &str, key: &str, parent: &str) -> String {
        let hidden = [
            "podIP",
            "hostIP",
            "containerID",
            "imageID",
            "nodeName",
            "podCIDR",
            "podCIDRs",
        ];
        match key {
            "controller-uid" | "batch.kubernetes.io/controller-uid" => "<uid>".into(),
            _ if hidden.contains(&key) && !value.is_empty() => format!("<{key}>"),
            "clusterIP" if value != "None" && !value.is_empty() => "<clusterIP>".into(),
            "volume.kubernetes.io/selected-node" => "<node>".into(),
            "values" if parent == "matchFields" && value.starts_with("node-") => "<node>".into(),
            "addresses" | "ip" => self.names.ip(value),
            _ => self.names.sub(value),
        }
    }
}

/// JSON with sorted keys, as Python prints it: the order of sets depends on it.
fn dump(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            format!(
                "{{{}}}",
                map.iter()
                    .map(|(k, v)| format!("{}: {}", json!(k), dump(v)))
                    .collect::<Vec<_>>()
                    .join(", ")
            )
        }
        Value::Array(list) => format!("[{}]", list.iter().map(dump).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// Whether two facts are the same; sets within them may stand in any order.
pub fn same(a: &Value, b: &Value) -> bool {
    fn canonical(value: &Value, key: &str) -> Value {
        match value {
            Value::Object(map) => map
                .iter()
                .map(|(k, v)| (k.clone(), canonical(v, k)))
                .collect(),
            Value::Array(list) => {
                let mut items: Vec<Value> = list.iter().map(|v| canonical(v, "")).collect();
                if SETS.contains(&key) {
                    items.sort_by_key(dump);
                }
                Value::Array(items)
            }
            other => other.clone(),
        }
    }
    a == b || canonical(a, "") == canonical(b, "")
}

pub fn facts_of(run: &Run) -> Facts {
    let mut facts = Facts::new();
    for part in [
        spec_replicas,
        scaling,
        created_deleted,
        states,
        events,
        conditions,
        lives,
        outputs,
        hashes,
    ] {
        facts.extend(part(run));
    }
    facts
}

fn spec_replicas(run: &Run) -> Facts {
    let mut history: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for item in run.of(&[
        "Deployment",
        "ReplicaSet",
        "StatefulSet",
        "ReplicationController",
        "Job",
    ]) {
        let value = &item.object["spec"][if item.kind() == "Job" {
            "parallelism"
        } else {
            "replicas"
        }];
        let seen = history
            .entry(run.identity(item.kind(), item.name()))
            .or_default();
        if item.type_ != "DELETED" && seen.last() != Some(value) {
            seen.push(value.clone());
        }
    }
    history
        .into_iter()
        .map(|(k, v)| (format!("replicasHistory/{k}"), json!(v)))
        .collect()
}

/// One Event as object, `Type Reason (component): message` and count.
fn event_of(run: &Run, object: &Value) -> (String, String, i64) {
    let mut message = run.names.sub(text(object, "message"));
    if ["Scheduled", "Preempted"].contains(&text(object, "reason")) {
        message = node_names(&message);
    }
    let about = &object["involvedObject"];
    let component = Some(text(object, "reportingComponent"))
        .filter(|c| !c.is_empty())
        .unwrap_or_else(|| text(&object["source"], "component"));
    let count = object
        .pointer("/series/count")
        .or_else(|| object.get("count"))
        .and_then(Value::as_i64)
        .unwrap_or(1)
        .max(1);
    let line = format!(
        "{} {} ({component}): {message}",
        text(object, "type"),
        text(object, "reason")
    );
    (
        run.identity(text(about, "kind"), text(about, "name")),
        line,
        count,
    )
}

fn scaling(run: &Run) -> Facts {
    let mut order: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
    for item in run
        .of(&["Event"])
        .filter(|i| text(&i.object, "reason") == "ScalingReplicaSet" && i.type_ != "DELETED")
    {
        let (about, line, count) = event_of(run, &item.object);
        let known = counts.entry(item.name()).or_default();
        if count > *known {
            order
                .entry(about)
                .or_default()
                .push(line.split_once(": ").map_or("", |(_, m)| m).into());
        }
        *known = count;
    }
    order
        .into_iter()
        .map(|(k, v)| (format!("scaling/{k}"), json!(v)))
        .collect()
}

fn created_deleted(run: &Run) -> Facts {
    let mut counts: BTreeMap<String, BTreeMap<String, i64>> = BTreeMap::new();
    let mut orders: BTreeMap<String, Vec<(&str, Vec<String>)>> = BTreeMap::new();
    let sets: BTreeSet<&str> = run.of(&["StatefulSet"]).map(Item::name).collect();
    let mut stage: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    for item in run
        .items
        .iter()
        .filter(|i| !["Event", "Node"].contains(&i.kind()))
    {
        let (kind, name) = (item.kind(), item.name());
        let what = match item.type_.as_str() {
            "ADDED" => Some("created"),
            "DELETED" => Some("deleted"),
            _ => None,
        };
        if let Some(what) = what {
            *counts
                .entry(format!("{what}/{kind}"))
                .or_default()
                .entry(run.names.sub(name))
                .or_default() += 1;
        }
        let owner = sets.iter().find(|set| is_member(name, set));
        let (Some(owner), true) = (owner, ["Pod", "PersistentVolumeClaim"].contains(&kind)) else {
            continue;
        };
        let verb = match item.type_.as_str() {
            "ADDED" => Some("create"),
            "DELETED" => Some("gone"),
            _ if !item.object["metadata"]["deletionTimestamp"].is_null() => Some("terminate"),
            _ => is_true(&item.object, "Ready").then_some("ready"),
        };
        let Some(verb) = verb.filter(|verb| stage.get(&(kind, name)) != Some(verb)) else {
            continue;
        };
        stage.insert((kind, name), verb);
        let order = orders
            .entry(format!("order/StatefulSet {owner}"))
            .or_default();
        if order.last().is_none_or(|(last, _)| *last != verb) {
            order.push((verb, Vec::new()));
        }
        order.last_mut().unwrap().1.push(if kind == "Pod" {
            name.to_string()
        } else {
            format!("claim {name}")
        });
    }
    let mut facts: Facts = counts.into_iter().map(|(k, v)| (k, json!(v))).collect();
    for (k, order) in orders {
        let lines: Vec<String> = order
            .into_iter()
            .map(|(verb, mut names)| {
                names.sort();
                format!("{verb} {}", names.join(", "))
            })
            .collect();
        facts.insert(k, json!(lines));
    }
    facts
}

/// `web-0`, or `www-web-0`, of the set `web`.
fn is_member(name: &str, set: &str) -> bool {
    let Some((head, ordinal)) = name.rsplit_once('-') else {
        return false;
    };
    ordinal.bytes().all(|b| b.is_ascii_digit())
        && !ordinal.is_empty()
        && (head == set || head.ends_with(&format!("-{set}")))
}

fn split_object(run: &Run, kind: &str, object: &Value) -> BTreeMap<&'static str, Value> {
    let mut meta = Map::new();
    for key in [
        "labels",
        "annotations",
        "ownerReferences",
        "finalizers",
        "generation",
        "generateName",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    ] {
        meta.insert(key.into(), object["metadata"][key].clone());
    }
    let (spec, status) = if kind == "Node" {
        meta.remove("generation");
        meta.remove("creationTimestamp");
        let spec: Map<String, Value> = object["spec"]
            .as_object()
            .unwrap()
            .iter()
            .filter(|(k, _)| ["taints", "unschedulable"].contains(&k.as_str()))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
        let conditions = object["status"]["conditions"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let conditions: Map<String, Value> = conditions
            .iter()
            .map(|c| {
                (
                    text(c, "type").to_string(),
                    json!([c["status"], c["reason"], c["message"]]),
                )
            })
            .collect();
        (Value::Object(spec), json!({ "conditions": conditions }))
    } else {
        let rest =
            object.as_object().unwrap().iter().filter(|(k, _)| {
                !["apiVersion", "kind", "metadata", "status"].contains(&k.as_str())
            });
        (
            Value::Object(rest.map(|(k, v)| (k.clone(), v.clone())).collect()),
            object["status"].clone(),
        )
    };
    let mut meta = run.normal(&Value::Object(meta), "", "");
    if let Some(map) = meta.as_object_mut() {
        map.retain(|k, v| *v != json!({}) && !(k == "generation" && kind == "EndpointSlice"));
    }
    let parts = [
        ("meta", meta),
        ("spec", run.normal(&spec, "", "")),
        ("status", run.normal(&status, "", "")),
    ];
    parts
        .into_iter()
        .filter(|(_, v)| !v.is_null() && *v != json!({}))
        .collect()
}

fn states(run: &Run) -> Facts {
    let mut facts = Facts::new();
    for (step, live) in &run.states {
        let mut groups: BTreeMap<String, Vec<BTreeMap<&str, Value>>> = BTreeMap::new();
        let mut nodes: BTreeMap<String, BTreeMap<String, i64>> = BTreeMap::new();
        for ((kind, name), index) in live {
            let object = &run.items[*index].object;
            let identity = run.identity(kind, name);
            groups
                .entry(identity.clone())
                .or_default()
                .push(split_object(run, kind, object));
            if let (true, Some(node)) = (kind == "Pod", object["spec"]["nodeName"].as_str()) {
                *nodes
                    .entry(identity)
                    .or_default()
                    .entry(node.into())
                    .or_default() += 1;
            }
        }
        let counts: BTreeMap<&String, usize> = groups
            .iter()
            .filter(|(k, _)| !k.starts_with("Node "))
            .map(|(k, v)| (k, v.len()))
            .collect();
        facts.insert(format!("objects@{step}"), json!(counts));
        let node_list: Vec<&String> = groups.keys().filter(|k| k.starts_with("Node ")).collect();
        facts.insert(format!("nodes@{step}"), json!(node_list));
        for (name, parts) in &groups {
            for part in ["meta", "spec", "status"] {
                let mut forms: BTreeMap<String, (i64, Value)> = BTreeMap::new();
                for form in parts
                    .iter()
                    .map(|p| p.get(part).cloned().unwrap_or(Value::Null))
                {
                    forms.entry(dump(&form)).or_insert((0, form)).0 += 1;
                }
                if forms.len() != 1 || !forms.contains_key("null") {
                    let list: Vec<Value> = forms
                        .into_values()
                        .map(|(n, form)| json!([n, form]))
                        .collect();
                    facts.insert(format!("state@{step}/{name}/{part}"), json!(list));
                }
            }
        }
        let mut together: BTreeMap<&String, Vec<&String>> = BTreeMap::new();
        for (name, per_node) in &nodes {
            facts.insert(format!("placement@{step}/{name}"), json!(per_node));
            let mut spread: Vec<i64> = per_node.values().copied().collect();
            spread.sort_by_key(|n| -n);
            if spread.iter().sum::<i64>() > 1 {
                facts.insert(format!("spread@{step}/{name}"), json!(spread));
            }
            for (node, n) in per_node {
                together
                    .entry(node)
                    .or_default()
                    .extend(std::iter::repeat_n(name, *n as usize));
            }
        }
        let mut together: Vec<Vec<&String>> = together.into_values().collect();
        together.sort();
        facts.insert(format!("together@{step}"), json!(together));
    }
    facts
}

fn events(run: &Run) -> Facts {
    let seen: BTreeSet<(&str, &str)> = run.items.iter().map(|i| (i.kind(), i.name())).collect();
    let mut last: BTreeMap<&str, &Value> = BTreeMap::new();
    for item in run.of(&["Event"]).filter(|i| i.type_ != "DELETED") {
        let about = &item.object["involvedObject"];
        let (kind, name) = (text(about, "kind"), text(about, "name"));
        if seen.contains(&(kind, name)) || !KINDS.contains(&kind) {
            last.insert(item.name(), &item.object);
        }
    }
    let mut groups: BTreeMap<String, BTreeMap<String, i64>> = BTreeMap::new();
    for object in last.values() {
        let (about, line, count) = event_of(run, object);
        *groups.entry(about).or_default().entry(line).or_default() += count;
    }
    let mut facts = Facts::from([(
        "eventObjects".to_string(),
        json!(groups.keys().collect::<Vec<_>>()),
    )]);
    for (about, texts) in groups {
        facts.insert(
            format!("events/{about}"),
            json!(texts.keys().collect::<Vec<_>>()),
        );
        let counted: BTreeMap<&String, &i64> = texts
            .iter()
            .filter(|(t, _)| !RETRIED.contains(&t.split(' ').nth(1).unwrap_or("")))
            .collect();
        facts.insert(format!("eventCounts/{about}"), json!(counted));
    }
    facts
}

fn conditions(run: &Run) -> Facts {
    let mut sequences: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for item in run.of(&WITH_CONDITIONS).filter(|i| i.type_ != "DELETED") {
        let who = run.identity(item.kind(), item.name());
        let list = item.object["status"]["conditions"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let now: BTreeMap<String, String> = list
            .iter()
            .map(|c| {
                (
                    text(c, "type").to_string(),
                    format!("{} {}", text(c, "status"), text(c, "reason"))
                        .trim()
                        .to_string(),
                )
            })
            .collect();
        let known = sequences
            .keys()
            .filter(|(w, _)| *w == who)
            .map(|(_, t)| t.clone());
        let types: BTreeSet<String> = now.keys().cloned().chain(known).collect();
        for kind in types {
            let value = now.get(&kind).cloned().unwrap_or_else(|| "absent".into());
            let sequence = sequences.entry((who.clone(), kind)).or_default();
            if sequence.last() != Some(&value) {
                sequence.push(value);
            }
        }
    }
    let keep = |who: &str, n: usize| !(who.starts_with("Node ") && n == 1);
    sequences
        .into_iter()
        .filter(|((who, _), v)| keep(who, v.len()))
        .map(|((who, t), v)| (format!("conditions/{who}/{t}"), json!(v)))
        .collect()
}

fn is_true(object: &Value, condition: &str) -> bool {
    object["status"]["conditions"]
        .as_array()
        .is_some_and(|list| {
            list.iter()
                .any(|c| c["type"] == condition && c["status"] == "True")
        })
}

fn short_pod(object: &Value) -> String {
    let status = &object["status"];
    let mut words = vec![text(status, "phase")];
    if text(&object["spec"], "nodeName").is_empty() {
        words.push("unscheduled");
    }
    if is_true(object, "Ready") {
        words.push("ready");
    }
    if !object["metadata"]["deletionTimestamp"].is_null() {
        words.push("terminating");
    }
    let statuses = |key: &str| status[key].as_array().into_iter().flatten();
    for container in statuses("initContainerStatuses").chain(statuses("containerStatuses")) {
        for state in ["waiting", "terminated"] {
            let reason = container["state"][state]["reason"].as_str().unwrap_or("");
            if !reason.is_empty() && !words.contains(&reason) {
                words.push(reason);
            }
        }
    }
    words.join(" ")
}

fn lives(run: &Run) -> Facts {
    let mut lives: BTreeMap<(&str, &str, &str), Vec<String>> = BTreeMap::new();
    let mut order = Vec::new();
    for item in run.of(&["Pod", "PersistentVolumeClaim", "PersistentVolume"]) {
        let key = (
            item.kind(),
            item.name(),
            text(&item.object["metadata"], "uid"),
        );
        let value = if item.type_ == "DELETED" {
            "gone".into()
        } else if item.kind() == "Pod" {
            short_pod(&item.object)
        } else {
            let leaving = if item.object["metadata"]["deletionTimestamp"].is_null() {
                ""
            } else {
                " terminating"
            };
            format!("{}{leaving}", text(&item.object["status"], "phase"))
        };
        let life = lives.entry(key).or_insert_with(|| {
            order.push(key);
            Vec::new()
        });
        if life.last() != Some(&value) {
            life.push(value);
        }
    }
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for key in order {
        let identity = run.identity(key.0, key.1);
        let life = lives[&key].join(" | ");
        let group = groups.entry(identity.clone()).or_default();
        if !identity.contains("<r>") || !group.contains(&life) {
            group.push(life);
        }
    }
    groups
        .into_iter()
        .map(|(k, mut v)| {
            if k.contains("<r>") {
                v.sort();
            }
            (format!("lives/{k}"), json!(v))
        })
        .collect()
}

fn outputs(run: &Run) -> Facts {
    let mut facts = Facts::new();
    for (index, (step, command)) in &run.steps {
        if step["action"] == "wait" || step["action"] == "fault" {
            continue;
        }
        let printed = format!("{}{}", text(step, "stdout"), text(step, "stderr"));
        facts.insert(
            format!("stdout@{index}"),
            normal_output(command, &printed, &run.names),
        );
        if !step["exit"].is_null() {
            facts.insert(format!("exit@{index}"), step["exit"].clone());
        }
    }
    facts
}

fn hashes(run: &Run) -> Facts {
    let mut facts = Facts::new();
    if !run.names.hashes.is_empty() {
        facts.insert("hash/ReplicaSet".into(), json!(run.names.hashes));
    }
    if !run.names.revisions.is_empty() {
        facts.insert("hash/ControllerRevision".into(), json!(run.names.revisions));
    }
    facts
}
