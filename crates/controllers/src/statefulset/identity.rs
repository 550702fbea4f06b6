//! Identity of an ordinal's Pod: its name, labels, host name and claims.
//!
//! Models `pkg/controller/statefulset/stateful_set_utils.go`.

use super::pass::{REVISION_LABEL, StatefulSetPass};
use apiserver::ApiError;
use apiserver::why::Why;
use k8s_model::pod::{Pod, PodSpec};
use k8s_model::pod_template::PodTemplate;
use k8s_model::workload::StatefulSet;
use k8s_model::{Body, Kind, Object, ObjectMeta, Str};
use serde_json::{Value, json};
use smol_str::format_smolstr;
use std::rc::Rc;

const NAME_LABEL: &str = "statefulset.kubernetes.io/pod-name";
const INDEX_LABEL: &str = "apps.kubernetes.io/pod-index";

/// Returns the Pod name of an ordinal, as `web-0`.
pub(super) fn pod_name(set: &Object, ordinal: i32) -> Str {
    format_smolstr!("{}-{ordinal}", set.meta.name)
}

/// Returns the ordinal in a Pod's name, if the name begins with the set's.
pub(super) fn ordinal(set: &Object, pod: &Object) -> Option<i32> {
    let (parent, number) = pod.meta.name.rsplit_once('-')?;
    if parent != set.meta.name {
        None
    } else {
        number.parse().ok()
    }
}

/// Returns true if a Pod's name makes it a member of the set.
pub(super) fn is_member(set: &Object, pod: &Object) -> bool {
    ordinal(set, pod).is_some()
}

/// Returns the claim name for a Pod, as `www-web-0`.
pub(super) fn claim_name(template: &Value, pod: &str) -> Str {
    format_smolstr!(
        "{}-{pod}",
        template
            .pointer("/metadata/name")
            .and_then(Value::as_str)
            .unwrap_or("")
    )
}

/// Builds the Pod of an ordinal.
pub(super) fn new_pod(
    object: &Object,
    set: &StatefulSet,
    ordinal: i32,
    template: &PodTemplate,
    revision: &Str,
) -> Object {
    let name = pod_name(object, ordinal);
    let mut labels = (*template.labels).clone();
    labels.insert(Str::new_static(REVISION_LABEL), revision.clone());
    labels.insert(Str::new_static(NAME_LABEL), name.clone());
    labels.insert(Str::new_static(INDEX_LABEL), ordinal.to_string().into());
    let mut raw = template.spec.raw.clone();
    if let Some(spec) = raw.as_object_mut() {
        spec.insert("hostname".into(), name.as_str().into());
        if !set.spec.service_name.is_empty() {
            spec.insert("subdomain".into(), set.spec.service_name.as_str().into());
        }
        let volumes = claim_volumes(set, &name, spec.get("volumes"));
        if !volumes.is_empty() {
            spec.insert("volumes".into(), Value::Array(volumes));
        }
    }
    let spec = PodSpec::from_raw(raw).unwrap_or_else(|_| template.spec.clone());
    Object {
        kind: Kind::Pod,
        meta: ObjectMeta {
            name,
            generate_name: format_smolstr!("{}-", object.meta.name).into(),
            namespace: object.meta.namespace.clone(),
            labels: Rc::new(labels),
            annotations: template.annotations.clone(),
            owner_references: Rc::new(vec![object.controller_reference()]),
            ..Default::default()
        },
        body: Body::Pod(Box::new(Pod::new(spec))),
    }
}

/// Returns the volumes of the claim templates, then those of the Pod template with other names.
fn claim_volumes(set: &StatefulSet, pod: &str, own: Option<&Value>) -> Vec<Value> {
    let templates = &set.spec.volume_claim_templates;
    let name_of = |t: &Value| {
        t.pointer("/metadata/name")
            .and_then(Value::as_str)
            .unwrap_or("")
            .to_string()
    };
    let mut volumes: Vec<Value> = templates
        .iter()
        .map(|t| json!({ "name": name_of(t), "persistentVolumeClaim": { "claimName": claim_name(t, pod).as_str() } }))
        .collect();
    for volume in own.and_then(Value::as_array).into_iter().flatten() {
        if !templates
            .iter()
            .any(|t| volume.get("name").and_then(Value::as_str) == Some(&name_of(t)))
        {
            volumes.push(volume.clone());
        }
    }
    volumes
}

/// Restores the identity labels of a Pod if they were changed.
pub(super) fn repair(
    pass: &mut StatefulSetPass<'_, '_, '_>,
    ordinal: i32,
    pod: &Rc<Object>,
) -> Result<(), ApiError> {
    let index = ordinal.to_string();
    let whole = pod
        .meta
        .label(NAME_LABEL)
        .is_some_and(|v| *v == pod.meta.name)
        && pod.meta.label(INDEX_LABEL).is_some_and(|v| *v == index);
    if whole {
        return Ok(());
    }
    pass.out.patch(
        &pod.key(),
        Why::MissingOrdinal {
            ordinal,
            ready_s: 0,
        },
        |o| {
            let labels = Rc::make_mut(&mut o.meta.labels);
            labels.insert(Str::new_static(NAME_LABEL), pod.meta.name.clone());
            labels.insert(Str::new_static(INDEX_LABEL), index.as_str().into());
        },
    )?;
    Ok(())
}
