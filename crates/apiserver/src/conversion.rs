//! API versions other than the stored one of a kind: `autoscaling/v1` and `events.k8s.io/v1`.
//!
//! Models `pkg/apis/autoscaling/v1/conversion.go` and `pkg/apis/events/v1/conversion.go`.

use k8s_model::Kind;
use serde_json::{Map, Value, json};

/// Version of a kind that is served and not stored.
pub struct Alias {
    /// Group of the alias.
    pub group: &'static str,
    /// Version of the alias.
    pub version: &'static str,
    /// Stored kind.
    pub kind: Kind,
    /// Conversion from the stored form.
    to: fn(&mut Map<String, Value>),
    /// Conversion to the stored form.
    from: fn(&mut Map<String, Value>),
}

/// All aliases.
pub const ALIASES: &[Alias] = &[
    Alias {
        group: "autoscaling",
        version: "v1",
        kind: Kind::HorizontalPodAutoscaler,
        to: autoscaler_to_v1,
        from: autoscaler_from_v1,
    },
    Alias {
        group: "events.k8s.io",
        version: "v1",
        kind: Kind::Event,
        to: event_to_v1,
        from: event_from_v1,
    },
];

fn find(group: &str, version: &str, is_kind: impl Fn(Kind) -> bool) -> Option<&'static Alias> {
    ALIASES
        .iter()
        .find(|alias| alias.group == group && alias.version == version && is_kind(alias.kind))
}

/// Returns the stored kind of a resource in another API version, as a path names both.
pub fn kind_of_resource(group: &str, version: &str, plural: &str) -> Option<Kind> {
    find(group, version, |kind| kind.info().plural == plural).map(|alias| alias.kind)
}

/// Returns the stored kind of a kind's name in another API version.
pub fn stored_kind(api_version: &str, name: &str) -> Option<Kind> {
    let (group, version) = api_version.split_once('/')?;
    find(group, version, |kind| kind.name() == name).map(|alias| alias.kind)
}

fn of(api_version: &str, kind: Kind) -> Option<&'static Alias> {
    let (group, version) = api_version.split_once('/')?;
    find(group, version, |own| own == kind)
}

/// Converts an object to the requested version.
pub fn shown(api_version: &str, kind: Kind, value: &mut Value) {
    if let (Some(alias), Some(object)) = (of(api_version, kind), value.as_object_mut()) {
        (alias.to)(object);
    }
    value["apiVersion"] = api_version.into();
}

/// Converts an object to the stored version.
pub fn stored(api_version: &str, kind: Kind, value: &mut Value) {
    if let (Some(alias), Some(object)) = (of(api_version, kind), value.as_object_mut()) {
        (alias.from)(object);
        object.insert(
            "apiVersion".to_owned(),
            kind.api_version().to_string().into(),
        );
    }
}

/// Returns true if a version differs from the stored one.
pub fn is_other(api_version: &str, kind: Kind) -> bool {
    of(api_version, kind).is_some()
}

/// Part of `autoscaling/v1`, spec or status: one CPU percentage. All else is kept in annotations.
struct Half {
    of: &'static str,
    /// Field with the metrics, and the part of a metric with its utilization.
    metrics: &'static str,
    side: &'static str,
    /// Field of the percentage in v1.
    percent: &'static str,
    /// Annotation that keeps the other metrics.
    kept_metrics: &'static str,
    /// Another field that v1 lacks, and its annotation.
    other: &'static str,
    kept_other: &'static str,
}

const HALVES: [Half; 2] = [
    Half {
        of: "spec",
        metrics: "metrics",
        side: "target",
        percent: "targetCPUUtilizationPercentage",
        kept_metrics: "autoscaling.alpha.kubernetes.io/metrics",
        other: "behavior",
        kept_other: "autoscaling.alpha.kubernetes.io/behavior",
    },
    Half {
        of: "status",
        metrics: "currentMetrics",
        side: "current",
        percent: "currentCPUUtilizationPercentage",
        kept_metrics: "autoscaling.alpha.kubernetes.io/current-metrics",
        other: "conditions",
        kept_other: "autoscaling.alpha.kubernetes.io/conditions",
    },
];

/// Returns true if a metric is the CPU utilization, for which v1 has a field.
fn is_cpu(metric: &Value) -> bool {
    let resource = &metric["resource"];
    let known = |part: &str| resource[part]["averageUtilization"].is_number();
    metric["type"] == "Resource"
        && resource["name"] == "cpu"
        && (known("target") || known("current"))
}

/// Removes the first CPU metric from a list.
fn take_cpu(list: Option<Value>) -> (Option<Value>, Vec<Value>) {
    let mut list = if let Some(Value::Array(list)) = list {
        list
    } else {
        Vec::new()
    };
    let at = list.iter().position(is_cpu);
    (at.map(|at| list.remove(at)), list)
}

fn annotate(object: &mut Map<String, Value>, key: &str, value: Option<Value>) {
    let Some(value) = value.filter(|value| !matches!(value, Value::Array(list) if list.is_empty()))
    else {
        return;
    };
    let meta = object.entry("metadata").or_insert_with(|| json!({}));
    if !meta["annotations"].is_object() {
        meta["annotations"] = json!({});
    }
    meta["annotations"][key] = value.to_string().into();
}

/// Removes the value of an annotation; `None` if it is not JSON.
fn annotated(object: &mut Map<String, Value>, key: &str) -> Option<Value> {
    let kept = object
        .get_mut("metadata")?
        .get_mut("annotations")?
        .as_object_mut()?
        .remove(key)?;
    serde_json::from_str(kept.as_str()?).ok()
}

fn autoscaler_to_v1(object: &mut Map<String, Value>) {
    for half in &HALVES {
        let Some(Value::Object(fields)) = object.get_mut(half.of) else {
            continue;
        };
        let (cpu, rest) = take_cpu(fields.remove(half.metrics));
        if let Some(cpu) = cpu {
            fields.insert(
                half.percent.to_owned(),
                cpu["resource"][half.side]["averageUtilization"].clone(),
            );
        }
        let other = fields.remove(half.other);
        annotate(object, half.kept_metrics, Some(rest.into()));
        annotate(object, half.kept_other, other);
    }
}

fn autoscaler_from_v1(object: &mut Map<String, Value>) {
    for half in &HALVES {
        let (metrics, other) = (
            annotated(object, half.kept_metrics),
            annotated(object, half.kept_other),
        );
        let Some(Value::Object(fields)) = object.get_mut(half.of) else {
            continue;
        };
        let mut list = if let Some(Value::Array(list)) = metrics {
            list
        } else {
            Vec::new()
        };
        if let Some(percent) = fields
            .remove(half.percent)
            .filter(|percent| !percent.is_null())
        {
            let mut usage = json!({ "averageUtilization": percent });
            if half.side == "target" {
                usage["type"] = "Utilization".into();
            }
            list.insert(
                0,
                json!({ "type": "Resource", "resource": { "name": "cpu", half.side: usage } }),
            );
        }
        if !list.is_empty() {
            fields.insert(half.metrics.to_owned(), list.into());
        }
        fields.extend(other.map(|other| (half.other.to_owned(), other)));
    }
}

/// Fields of an Event in `v1`, and in `events.k8s.io/v1`.
const EVENT_FIELDS: [(&str, &str); 7] = [
    ("message", "note"),
    ("involvedObject", "regarding"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];

fn event_to_v1(object: &mut Map<String, Value>) {
    for (core, new) in EVENT_FIELDS {
        if let Some(value) = object.remove(core) {
            object.insert(new.to_owned(), value);
        }
    }
    object.entry("eventTime").or_insert(Value::Null);
}

fn event_from_v1(object: &mut Map<String, Value>) {
    for (core, new) in EVENT_FIELDS {
        if let Some(value) = object.remove(new) {
            object.insert(core.to_owned(), value);
        }
    }
    object.retain(|key, value| key != "eventTime" || !value.is_null());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_v1_has_no_field_for_is_kept_in_annotations() {
        let metric = |name: &str| json!({ "type": "Resource", "resource": { "name": name, "target": { "type": "Utilization", "averageUtilization": 50 } } });
        let whole = json!({
            "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": { "name": "a" },
            "spec": { "maxReplicas": 3, "metrics": [metric("cpu"), metric("memory")], "behavior": { "scaleDown": {} } },
            "status": { "currentReplicas": 1, "conditions": [{ "type": "AbleToScale", "status": "True" }] },
        });
        let mut value = whole.clone();
        shown("autoscaling/v1", Kind::HorizontalPodAutoscaler, &mut value);
        assert_eq!(
            (&value["apiVersion"], &value["spec"]),
            (
                &json!("autoscaling/v1"),
                &json!({ "maxReplicas": 3, "targetCPUUtilizationPercentage": 50 })
            )
        );
        assert_eq!(value["status"], json!({ "currentReplicas": 1 }));
        stored("autoscaling/v1", Kind::HorizontalPodAutoscaler, &mut value);
        value["metadata"]
            .as_object_mut()
            .unwrap()
            .remove("annotations");
        assert_eq!(value, whole);
    }

    #[test]
    fn an_event_has_other_names_in_its_own_group() {
        let whole = json!({ "apiVersion": "v1", "kind": "Event", "message": "m", "reason": "R", "involvedObject": { "kind": "Pod" } });
        let mut value = whole.clone();
        shown("events.k8s.io/v1", Kind::Event, &mut value);
        assert_eq!(
            (
                &value["note"],
                &value["regarding"]["kind"],
                value.get("message")
            ),
            (&json!("m"), &json!("Pod"), None)
        );
        stored("events.k8s.io/v1", Kind::Event, &mut value);
        assert_eq!(value, whole);
    }

    #[test]
    fn what_is_no_object_stays() {
        for mut value in [
            json!({}),
            json!({ "spec": 3, "metadata": [], "status": null }),
            json!({ "spec": { "metrics": 7 } }),
        ] {
            shown("autoscaling/v1", Kind::HorizontalPodAutoscaler, &mut value);
            stored("autoscaling/v1", Kind::HorizontalPodAutoscaler, &mut value);
            assert_eq!(value["apiVersion"], "autoscaling/v2");
        }
    }
}
