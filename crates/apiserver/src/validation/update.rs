//! Validation of updates: fields that are immutable once an object exists.
//!
//! Models the `Validate...Update` functions of `pkg/apis/*/validation`.

use super::{Errors, FieldError, diff, has, list, rbac, storage, text, validate};
use crate::registry::resource;
use k8s_model::Kind;
use serde_json::{Map, Value};

const IMMUTABLE: &str = "field is immutable";

/// Validates an object that replaces another one.
pub fn validate_update(kind: Kind, new: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = validate(kind, new);
    errors.list.extend(super::new_finalizers(new, old));
    (resource(kind).validate_update)(&mut errors, new, old);
    errors.list
}

/// Validates the metadata of an object whose status is written.
pub fn validate_metadata_update(kind: Kind, new: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = Errors::default();
    super::meta::metadata(&mut errors, kind, new);
    errors.list.extend(super::new_finalizers(new, old));
    errors.list
}

/// Calls a check with the specs of both objects.
pub(crate) fn specs(
    errors: &mut Errors,
    new: &Value,
    old: &Value,
    check: impl FnOnce(&mut Errors, &Value, &Value),
) {
    let spec =
        |object: &Value| Value::Object(object["spec"].as_object().cloned().unwrap_or_default());
    check(errors, &spec(new), &spec(old));
}

/// Checks that the selector is unchanged.
pub(crate) fn selector(errors: &mut Errors, new: &Value, old: &Value) {
    immutable(errors, new, old, &["selector"]);
}

/// Checks that the role of a binding is unchanged.
pub(crate) fn binding(errors: &mut Errors, new: &Value, old: &Value) {
    if new["roleRef"] != old["roleRef"] {
        errors.add(
            super::ErrorType::Invalid,
            "roleRef",
            rbac::role_ref(&new["roleRef"]),
            "cannot change roleRef",
        );
    }
}

/// Checks that the type of a Secret and its immutable data are unchanged.
pub(crate) fn secret(errors: &mut Errors, new: &Value, old: &Value) {
    if new["type"] != old["type"] && old["immutable"] != Value::Bool(true) {
        errors.invalid("type", new["type"].clone(), IMMUTABLE);
    }
    immutable_data(errors, new, old);
}

/// Checks that the data of a ControllerRevision are unchanged.
pub(crate) fn controller_revision(errors: &mut Errors, new: &Value, old: &Value) {
    if new["data"] != old["data"] {
        errors.invalid("data", Value::Null, IMMUTABLE);
    }
}

fn immutable(errors: &mut Errors, new: &Value, old: &Value, names: &[&str]) {
    for name in names.iter().filter(|name| new[**name] != old[**name]) {
        errors.invalid(&format!("spec.{name}"), new[*name].clone(), IMMUTABLE);
    }
}

/// Checks an immutable part, shown in the server's internal form.
fn fixed(errors: &mut Errors, new: &Value, old: &Value, name: &str, kind: &'static str) {
    if new[name] != old[name] {
        errors.invalid_struct(&format!("spec.{name}"), kind, &new[name], IMMUTABLE);
    }
}

/// Returns an object without some of its fields.
fn without(value: &Value, names: &[&str]) -> Map<String, Value> {
    let mut map = value.as_object().cloned().unwrap_or_default();
    map.retain(|name, value| !names.contains(&name.as_str()) && !value.is_null());
    map
}

const STATEFUL_MUTABLE: [&str; 7] = [
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
];

pub(crate) fn stateful_set(errors: &mut Errors, new: &Value, old: &Value) {
    if without(new, &STATEFUL_MUTABLE) != without(old, &STATEFUL_MUTABLE) {
        errors.forbidden(
            "spec",
            "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', \
             'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
        );
    }
}

pub(crate) fn job(errors: &mut Errors, new: &Value, old: &Value, running: bool) {
    let elastic =
        text(new, "completionMode") == "Indexed" && new["completions"] == new["parallelism"];
    if !elastic {
        immutable(errors, new, old, &["completions"]);
    }
    immutable(errors, new, old, &["selector"]);
    job_template(errors, new, old, running);
    immutable(errors, new, old, &["completionMode"]);
    fixed(
        errors,
        new,
        old,
        "podFailurePolicy",
        "batchv1.PodFailurePolicy",
    );
    immutable(errors, new, old, &["backoffLimitPerIndex"]);
    fixed(errors, new, old, "successPolicy", "batchv1.SuccessPolicy");
}

/// Checks that a Job's template is unchanged, except for scheduling and resources of a suspended Job without active Pods.
fn job_template(errors: &mut Errors, new: &Value, old: &Value, running: bool) {
    let (template, before) = (&new["template"], &old["template"]);
    if running || old["suspend"] != Value::Bool(true) {
        if template != before {
            errors.invalid_struct("spec.template", "v1.PodTemplateSpec", template, IMMUTABLE);
        }
        return;
    }
    let fixed = |template: &Value| {
        let mut spec = without(
            &template["spec"],
            &["nodeSelector", "tolerations", "schedulingGates"],
        );
        for kind in ["containers", "initContainers"] {
            for container in spec
                .get_mut(kind)
                .and_then(Value::as_array_mut)
                .into_iter()
                .flatten()
                .filter_map(Value::as_object_mut)
            {
                container.remove("resources");
            }
        }
        if let Some(affinity) = spec.get_mut("affinity").and_then(Value::as_object_mut) {
            affinity.remove("nodeAffinity");
            if affinity.is_empty() {
                spec.remove("affinity");
            }
        }
        spec
    };
    if fixed(template) != fixed(before) {
        errors.invalid_struct(
            "spec.template.spec",
            "v1.PodSpec",
            &template["spec"],
            IMMUTABLE,
        );
    }
}

/// Validates a resize of a Pod's containers; `class` is the resulting QoS class.
pub fn validate_resize(new: &Value, old: &Value, class: &str) -> Vec<FieldError> {
    let mut errors = validate(Kind::Pod, new);
    let lists = ["containers", "initContainers"];
    let count = |pod: &Value, kind: &str| list(&pod["spec"], kind).len();
    let mut changed = lists
        .into_iter()
        .filter(|kind| count(new, kind) != count(old, kind));
    if let Some(kind) = changed.next() {
        let detail = format!("{kind} may not be added or removed on resize");
        errors.forbidden(&format!("spec.{kind}"), detail);
        return errors.list;
    }
    let current = &old["status"]["qosClass"];
    if *current != class {
        errors.invalid(
            "spec",
            current.clone(),
            "Pod QOS Class may not change as a result of resizing",
        );
    }
    let mut others = false;
    for kind in ["containers", "initContainers"] {
        let pairs = list(&new["spec"], kind)
            .iter()
            .zip(list(&old["spec"], kind));
        for (index, (new, old)) in pairs.enumerate() {
            let fixed = kind == "initContainers" && new["restartPolicy"] != "Always";
            for amounts in ["requests", "limits"] {
                let (new, old) = (&new["resources"][amounts], &old["resources"][amounts]);
                let gone = |(name, _): (&String, &Value)| new[name.as_str()].is_null();
                if old.as_object().is_some_and(|map| map.iter().any(gone)) {
                    errors.forbidden(
                        &format!("spec.{kind}[{index}].resources.{amounts}"),
                        format!("resource {amounts} cannot be removed"),
                    );
                }
                let mutable: &[&str] = if fixed { &[] } else { &["cpu", "memory"] };
                others |= without(new, mutable) != without(old, mutable);
            }
        }
    }
    if others {
        errors.forbidden("spec", "only cpu and memory resources are mutable");
    }
    errors.list
}

/// Validates new ephemeral containers of a Pod: existing ones must be unchanged.
pub fn validate_ephemeral(new: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = validate(Kind::Pod, new);
    let field = "spec.ephemeralContainers";
    for one in list(&old["spec"], "ephemeralContainers") {
        let name = text(one, "name");
        match list(&new["spec"], "ephemeralContainers")
            .iter()
            .find(|other| other["name"] == one["name"])
        {
            None => errors.forbidden(
                field,
                format!("existing ephemeral containers {name:?} may not be removed\n"),
            ),
            Some(other) if other != one => {
                errors.forbidden(
                    field,
                    format!(
                        "existing ephemeral containers {name:?} may not be changed{}",
                        diff::of("v1.EphemeralContainer", one, other)
                    ),
                );
            }
            Some(_) => {}
        }
    }
    errors.list
}

const POD_FORBIDDEN: &str = "pod updates may not change fields other than `spec.containers[*].image`,\
    `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),\
    `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

pub(crate) fn pod(errors: &mut Errors, new: &Value, old: &Value) {
    for kind in ["containers", "initContainers"] {
        if list(new, kind).len() != list(old, kind).len() {
            errors.list.clear();
            return errors.forbidden(
                &format!("spec.{kind}"),
                "pod updates may not add or remove containers",
            );
        }
    }
    // `ValidateContainerUpdates` checks images again.
    for kind in ["containers", "initContainers"] {
        for (index, container) in list(new, kind).iter().enumerate() {
            let (at, image) = (
                format!("spec.{kind}[{index}].image"),
                text(container, "image"),
            );
            if image.is_empty() {
                errors.required(&at, "");
            } else if image != image.trim() {
                errors.invalid(&at, image, "must not have leading or trailing whitespace");
            }
        }
    }
    let (mut left, mut right) = (new.clone(), old.clone());
    for spec in [&mut left, &mut right] {
        for kind in ["containers", "initContainers"] {
            for container in spec
                .get_mut(kind)
                .and_then(Value::as_array_mut)
                .into_iter()
                .flatten()
                .filter_map(Value::as_object_mut)
            {
                container.remove("image");
            }
        }
        if let Some(map) = spec.as_object_mut() {
            map.remove("activeDeadlineSeconds");
            // Scheduling gates may be removed, never added.
            map.remove("schedulingGates");
            map.retain(|_, value| !value.is_null());
        }
    }
    let grace = |spec: &Value| spec["terminationGracePeriodSeconds"].as_i64();
    if grace(old).is_some_and(|seconds| seconds < 0) && grace(new) == Some(1) {
        right["terminationGracePeriodSeconds"] = 1.into();
    }
    let (before, after) = (&old["activeDeadlineSeconds"], &new["activeDeadlineSeconds"]);
    let at = "spec.activeDeadlineSeconds";
    if before.is_i64() && after.as_i64() > before.as_i64() {
        return errors.invalid(
            at,
            after.clone(),
            "must be less than or equal to previous value",
        );
    } else if before.is_i64() && after.is_null() {
        errors.invalid(
            at,
            Value::Null,
            "must not update from a positive integer to nil value",
        );
    }
    // Only `tolerationSeconds` of existing tolerations may change.
    let kept = |spec: &Value| -> Vec<Map<String, Value>> {
        list(spec, "tolerations")
            .iter()
            .map(|toleration| without(toleration, &["tolerationSeconds"]))
            .collect()
    };
    if !kept(&right)
        .iter()
        .all(|toleration| kept(&left).contains(toleration))
    {
        errors.forbidden(
            "spec.tolerations",
            "existing toleration can not be modified except its tolerationSeconds",
        );
    }
    let gates = list(old, "schedulingGates");
    for (index, gate) in list(new, "schedulingGates")
        .iter()
        .enumerate()
        .filter(|(_, gate)| !gates.contains(gate))
    {
        let detail = format!(
            "only deletion is allowed, but found new scheduling gate '{}'",
            text(gate, "name")
        );
        errors.forbidden(&format!("spec.schedulingGates[{index}].name"), detail);
    }
    let mut settled = vec!["tolerations"];
    // A gated Pod may still get narrower scheduling directives.
    if !gates.is_empty() {
        settled.push("nodeSelector");
        let labels = |spec: &Value| {
            spec["nodeSelector"]
                .as_object()
                .cloned()
                .unwrap_or_default()
        };
        let chosen = labels(new);
        if labels(old)
            .iter()
            .any(|(key, value)| chosen.get(key) != Some(value))
        {
            let detail =
                "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
            errors.invalid("spec.nodeSelector", Value::Object(chosen), detail);
        }
    }
    for name in settled {
        let Some(map) = left.as_object_mut() else {
            continue;
        };
        match right.get(name) {
            Some(value) => map.insert(name.to_owned(), value.clone()),
            None => map.remove(name),
        };
    }
    if left != right {
        errors.forbidden(
            "spec",
            format!("{POD_FORBIDDEN}{}", diff::of("v1.PodSpec", &right, &left)),
        );
    }
}

pub(crate) fn claim(errors: &mut Errors, spec: &Value, before: &Value, status: &Value) {
    let bound = text(status, "phase") == "Bound";
    let mut compared = spec.clone();
    // The binder sets the volume, admission the class.
    for name in ["volumeName", "storageClassName", "volumeMode"] {
        if !has(before, name) && has(spec, name) {
            compared[name] = Value::Null;
        }
    }
    let size = |spec: &Value| spec["resources"]["requests"].clone();
    if bound {
        if let Some(resources) = compared.get_mut("resources").and_then(Value::as_object_mut) {
            resources.insert("requests".to_owned(), size(before));
        }
        compared["volumeAttributesClassName"] = before["volumeAttributesClassName"].clone();
    }
    if without(&compared, &[]) != without(before, &[]) {
        let detail = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
        let shown = diff::of("v1.PersistentVolumeClaimSpec", before, &compared);
        errors.forbidden("spec", format!("{detail}{shown}"));
    } else if bound {
        let amount = |list: &Value| {
            k8s_model::quantity::Quantity::parse(list["storage"].as_str().unwrap_or("0")).ok()
        };
        // A failed expansion may be reduced, but not below the current capacity.
        if amount(&size(spec)) < amount(&size(before))
            && amount(&size(spec)) <= amount(&status["capacity"])
        {
            errors.forbidden(
                "spec.resources.requests.storage",
                "field can not be less than status.capacity",
            );
        }
    }
}

pub(crate) fn volume(errors: &mut Errors, new: &Value, old: &Value) {
    let source = |spec: &Value| {
        let mut map = spec.as_object().cloned().unwrap_or_default();
        map.retain(|name, value| storage::SOURCES.contains(&name.as_str()) && !value.is_null());
        Value::Object(map)
    };
    let (after, before) = (source(new), source(old));
    if after != before {
        let shown = diff::of("v1.PersistentVolumeSource", &before, &after);
        let detail = "spec.persistentvolumesource is immutable after creation";
        errors.forbidden("spec.persistentvolumesource", format!("{detail}{shown}"));
    }
    immutable(errors, new, old, &["volumeMode"]);
}

pub(crate) fn service(errors: &mut Errors, new: &Value, old: &Value) {
    let addressed = |spec: &Value| text(spec, "type") != "ExternalName";
    let (before, after) = (text(old, "clusterIP"), text(new, "clusterIP"));
    if addressed(old) && addressed(new) && !before.is_empty() && before != after {
        let shown = if has(new, "clusterIPs") && new["clusterIPs"][0] == after {
            new["clusterIPs"].clone()
        } else {
            Value::from(vec![after])
        };
        errors
            .list
            .retain(|error| error.field != "spec.clusterIPs[0]");
        errors.invalid("spec.clusterIPs[0]", shown, "may not change once set");
    }
    let balanced = |spec: &Value| text(spec, "type") == "LoadBalancer";
    if balanced(old) && balanced(new) && old["loadBalancerClass"] != new["loadBalancerClass"] {
        errors.invalid(
            "spec.loadBalancerClass",
            new["loadBalancerClass"].clone(),
            "may not change once set",
        );
    }
}

/// Checks that the scopes of a ResourceQuota are unchanged.
pub(crate) fn quota(errors: &mut Errors, new: &Value, old: &Value) {
    let scopes = |object: &Value| {
        let mut scopes = list(&object["spec"], "scopes").to_vec();
        scopes.sort_by_key(Value::to_string);
        scopes
    };
    if scopes(new) != scopes(old) {
        errors.invalid("spec.scopes", new["spec"]["scopes"].clone(), IMMUTABLE);
    }
}

pub(crate) fn csi_driver(errors: &mut Errors, new: &Value, old: &Value) {
    for (name, field) in [
        ("attachRequired", "spec.attachedRequired"),
        ("volumeLifecycleModes", "spec.volumeLifecycleModes"),
    ] {
        let value = &new["spec"][name];
        if *value != old["spec"][name] {
            errors.invalid(field, value.clone(), IMMUTABLE);
        }
    }
}

pub(crate) fn class(errors: &mut Errors, new: &Value, old: &Value) {
    if new["parameters"] != old["parameters"] {
        errors.forbidden("parameters", "updates to parameters are forbidden.");
    }
    for name in ["provisioner", "reclaimPolicy", "volumeBindingMode"]
        .into_iter()
        .filter(|name| new[*name] != old[*name])
    {
        errors.invalid(name, new[name].clone(), IMMUTABLE);
    }
}

pub(crate) fn priority_class(errors: &mut Errors, new: &Value, old: &Value) {
    if new["value"].as_i64().unwrap_or(0) != old["value"].as_i64().unwrap_or(0) {
        errors.forbidden("value", "may not be changed in an update.");
    }
    if new["preemptionPolicy"] != old["preemptionPolicy"] {
        errors.invalid(
            "preemptionPolicy",
            new["preemptionPolicy"].clone(),
            IMMUTABLE,
        );
    }
}

/// Checks that the data of a ConfigMap or Secret is unchanged if it is marked as immutable.
pub(crate) fn immutable_data(errors: &mut Errors, new: &Value, old: &Value) {
    if old["immutable"] != Value::Bool(true) {
        return;
    }
    for name in ["immutable", "data", "binaryData"]
        .into_iter()
        .filter(|name| new[*name] != old[*name])
    {
        errors.forbidden(name, "field is immutable when `immutable` is set");
    }
}
