//! Taints that follow from a node's conditions.
//!
//! Models `doNoScheduleTaintingPass`, `processTaintBaseEviction` and `handleDisruption` of
//! `pkg/controller/nodelifecycle/node_lifecycle_controller.go`.

use apiserver::why::Why;
use apiserver::{ApiError, Store};
use controller_runtime::client::LoopClient;
use k8s_model::Kind;
use k8s_model::node::Node;
use k8s_model::{Body, Object, ObjectRef, Str, Timestamp};
use serde_json::{Value, json};
use std::rc::Rc;

pub(super) const NOT_READY: &str = "node.kubernetes.io/not-ready";
pub(super) const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";
/// Taint for each condition and status.
const BY_CONDITION: [(&str, &str, &str); 6] = [
    ("Ready", "False", NOT_READY),
    ("Ready", "Unknown", UNREACHABLE),
    (
        "MemoryPressure",
        "True",
        "node.kubernetes.io/memory-pressure",
    ),
    ("DiskPressure", "True", "node.kubernetes.io/disk-pressure"),
    (
        "NetworkUnavailable",
        "True",
        "node.kubernetes.io/network-unavailable",
    ),
    ("PIDPressure", "True", "node.kubernetes.io/pid-pressure"),
];
/// Seconds between two nodes of a zone getting the NoExecute taint.
const TAINT_INTERVAL_S: i64 = 10;
/// Seconds between two nodes while more than half of a large zone is down; small zones wait.
const SLOW_TAINT_INTERVAL_S: i64 = 100;
const LARGE_ZONE_NODES: usize = 50;

fn status<'a>(node: &'a Node, kind: &str) -> &'a str {
    node.status
        .conditions
        .iter()
        .find(|c| c.kind == kind)
        .map_or("", |c| c.status.as_str())
}

fn wants(node: &Node, key: &str) -> bool {
    key == UNSCHEDULABLE && node.spec.unschedulable
        || BY_CONDITION
            .iter()
            .any(|(kind, value, k)| *k == key && status(node, kind) == *value)
}

fn has(node: &Node, key: &str, effect: &str) -> bool {
    node.spec
        .taints
        .iter()
        .any(|t| t.key == key && t.effect == effect)
}

fn keys() -> impl Iterator<Item = &'static str> {
    BY_CONDITION
        .iter()
        .map(|(.., key)| *key)
        .chain([UNSCHEDULABLE])
}

/// Brings the NoSchedule taints in line with the conditions.
pub(super) fn sync_no_schedule(
    object: &Rc<Object>,
    node: &Node,
    now: Timestamp,
    out: &mut LoopClient<'_>,
) -> Result<(), ApiError> {
    let (mut add, mut remove) = (Vec::new(), Vec::new());
    for key in keys() {
        match (wants(node, key), has(node, key, "NoSchedule")) {
            (true, false) => add.push(key),
            (false, true) => remove.push(key),
            _ => {}
        }
    }
    swap(object, &add, &remove, "NoSchedule", now, out)
}

/// Returns the NoExecute taint that a node should get and those it should lose, if that differs from its taints.
pub(super) fn no_execute_change(
    node: &Node,
    all_down: bool,
) -> Option<(Option<&'static str>, Vec<&'static str>)> {
    // With no node ready, the network is more likely at fault: no Pod is evicted.
    let wanted = if all_down {
        None
    } else {
        [NOT_READY, UNREACHABLE]
            .into_iter()
            .find(|key| wants(node, key))
    };
    let add = wanted.filter(|key| !has(node, key, "NoExecute"));
    let remove: Vec<_> = [NOT_READY, UNREACHABLE]
        .into_iter()
        .filter(|key| wanted != Some(*key) && has(node, key, "NoExecute"))
        .collect();
    if add.is_none() && remove.is_empty() {
        None
    } else {
        Some((add, remove))
    }
}

/// Returns the seconds until this node may get the NoExecute taint; `None` while too much of its zone is down.
pub(super) fn wait_for_turn(object: &Object, store: &Store, now: Timestamp) -> Option<i64> {
    let (mut ready, mut down, mut last) = (0, 0, None);
    // The cache does not show yet the taint that another node has just received.
    for other in store.list(Kind::Node).filter(|o| zone(o) == zone(object)) {
        let node: &Node = other.body();
        if node.is_ready() {
            ready += 1;
        } else {
            down += 1;
        }
        let since = node.spec.taints.iter().filter(|t| {
            t.effect == "NoExecute" && matches!(t.key.as_str(), NOT_READY | UNREACHABLE)
        });
        last = last.max(since.filter_map(|t| t.time_added).max());
    }
    let partial = down > 2 && down * 100 >= (down + ready) * 55;
    if partial && down + ready <= LARGE_ZONE_NODES {
        return None;
    }
    let pace = if partial {
        SLOW_TAINT_INTERVAL_S
    } else {
        TAINT_INTERVAL_S
    };
    Some(last.map_or(0, |last: Timestamp| {
        (last.seconds() + pace - now.seconds()).max(0)
    }))
}

fn zone(node: &Object) -> [Option<&Str>; 2] {
    [
        "topology.kubernetes.io/region",
        "topology.kubernetes.io/zone",
    ]
    .map(|key| node.meta.label(key))
}

/// Adds and removes taints of one effect in one write.
pub(super) fn swap(
    object: &Rc<Object>,
    add: &[&'static str],
    remove: &[&'static str],
    effect: &'static str,
    now: Timestamp,
    out: &mut LoopClient<'_>,
) -> Result<(), ApiError> {
    if add.is_empty() && remove.is_empty() {
        return Ok(());
    }
    out.patch(
        &ObjectRef::new(Kind::Node, "", &object.meta.name),
        Why::Conditions,
        |o| {
            let Body::Node(node) = &mut o.body else {
                return;
            };
            node.spec = node.spec.edited(|raw| {
                let mut taints = raw
                    .get("taints")
                    .and_then(Value::as_array)
                    .cloned()
                    .unwrap_or_default();
                taints.retain(|t| {
                    t["effect"] != effect || !remove.iter().chain(add).any(|key| t["key"] == *key)
                });
                taints.extend(
                    add.iter().map(
                        |key| json!({"effect": effect, "key": key, "timeAdded": now.rfc3339()}),
                    ),
                );
                if taints.is_empty() {
                    raw.remove("taints");
                } else {
                    raw.insert("taints".into(), Value::Array(taints));
                }
            });
        },
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(ready: &str, taint: Option<&str>) -> Object {
        let taints = taint.map_or(
            json!([]),
            |key| json!([{"key": key, "effect": "NoExecute"}]),
        );
        let value = json!({"metadata": {"name": "n"}, "spec": {"taints": taints}, "status": {"conditions": [{"type": "Ready", "status": ready}]}});
        Object::from_value(Kind::Node, value).unwrap()
    }

    #[test]
    fn the_taint_that_drives_pods_away_follows_the_ready_condition() {
        let cases = [
            ("True", None, false, None),
            ("Unknown", None, false, Some((Some(UNREACHABLE), vec![]))),
            ("False", None, false, Some((Some(NOT_READY), vec![]))),
            (
                "False",
                Some(UNREACHABLE),
                false,
                Some((Some(NOT_READY), vec![UNREACHABLE])),
            ),
            ("Unknown", Some(UNREACHABLE), false, None),
            (
                "True",
                Some(NOT_READY),
                false,
                Some((None, vec![NOT_READY])),
            ),
            ("Unknown", None, true, None),
            (
                "Unknown",
                Some(UNREACHABLE),
                true,
                Some((None, vec![UNREACHABLE])),
            ),
        ];
        for (ready, taint, all_down, expected) in cases {
            assert_eq!(
                no_execute_change(node(ready, taint).body(), all_down),
                expected,
                "{ready} {taint:?} {all_down}"
            );
        }
    }
}
