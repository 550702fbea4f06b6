//! Claims, volumes and nodes.

use super::scope::id;
use super::scope::text;
use crate::model::{Claim, Node, Volume};
use i18n::{Message, msg};
use k8s_model::Object;
use k8s_model::natural::natural_cmp;
use k8s_model::storage::{PersistentVolume, PersistentVolumeClaim};
use k8s_model::workload::StatefulSet;
use std::rc::Rc;

pub(super) fn claims(claims: &[Rc<Object>], sets: &[Rc<Object>]) -> Vec<Claim> {
    let mut prefixes: Vec<(String, String)> = Vec::new();
    for set in sets {
        let of_set = set
            .get::<StatefulSet>()
            .into_iter()
            .flat_map(|body| body.claim_prefixes(&set.meta.name));
        prefixes.extend(of_set.map(|prefix| (prefix, set.meta.name.to_string())));
    }
    let read = |object: &Rc<Object>| {
        let body = object.get::<PersistentVolumeClaim>()?;
        let mode = body
            .spec
            .access_modes
            .iter()
            .map(|mode| short_mode(mode))
            .collect::<Vec<_>>()
            .join(",");
        let member = prefixes.iter().find_map(|(prefix, set)| {
            Some((
                set.clone(),
                object
                    .meta
                    .name
                    .strip_prefix(prefix.as_str())?
                    .parse()
                    .ok()?,
            ))
        });
        let phase = if object.meta.is_deleting() {
            "Terminating".to_string()
        } else {
            body.status.phase.to_string()
        };
        let capacity = body
            .status
            .capacity
            .get("storage")
            .or_else(|| body.spec.resources.requests.get("storage"));
        Some(Claim {
            id: id(object),
            phase: if phase.is_empty() {
                "Pending".into()
            } else {
                phase
            },
            capacity: text(capacity),
            mode,
            volume: body.spec.volume_name.to_string(),
            class: body.class().to_string(),
            member,
        })
    };
    let mut out: Vec<Claim> = claims.iter().filter_map(read).collect();
    out.sort_by(|a, b| {
        a.id.namespace
            .cmp(&b.id.namespace)
            .then_with(|| natural_cmp(&a.id.name, &b.id.name))
    });
    out
}

pub(super) fn short_mode(mode: &str) -> &str {
    match mode {
        "ReadWriteOnce" => "RWO",
        "ReadOnlyMany" => "ROX",
        "ReadWriteMany" => "RWX",
        "ReadWriteOncePod" => "RWOP",
        other => other,
    }
}

pub(super) fn volume(object: &Object) -> Option<Volume> {
    let body = object.get::<PersistentVolume>()?;
    let node = body
        .spec
        .node_affinity
        .as_ref()
        .and_then(|affinity| {
            affinity
                .required
                .as_ref()?
                .node_selector_terms
                .first()?
                .match_expressions
                .first()?
                .values
                .first()
        })
        .map(|node| node.to_string())
        .unwrap_or_default();
    Some(Volume {
        id: id(object),
        phase: body.status.phase.to_string(),
        capacity: text(body.spec.capacity.get("storage")),
        node,
        class: body.spec.storage_class_name.to_string(),
        data: Message::default(),
    })
}

pub(super) fn node(object: &Object) -> Option<Node> {
    let body = object.get::<k8s_model::node::Node>()?;
    let free = body.allocatable();
    let ready = body.is_ready();
    let condition = body
        .status
        .conditions
        .iter()
        .find(|condition| condition.kind == "Ready");
    let taint = body
        .spec
        .taints
        .iter()
        .find(|taint| !taint.key.starts_with("node.kubernetes.io/"));
    let note = match (condition, taint) {
        (Some(condition), _) if !ready => Message::name(&condition.message),
        (None, _) => msg::node_no_report(),
        _ if body.spec.unschedulable => msg::node_cordoned(),
        (_, Some(taint)) => msg::node_taint(taint.to_string()),
        _ => Message::default(),
    };
    Some(Node {
        id: id(object),
        ready,
        cordoned: body.spec.unschedulable,
        note,
        countdown: None,
        cpu: free.cpu.max(0) as u64,
        memory: free.memory.max(0) as u64,
        pods: body.max_pods().max(0) as u64,
    })
}
