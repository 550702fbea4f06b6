//! Transformers of all objects: namespace, prefix, suffix, labels, annotations, replicas, images, in this order.
//!
//! Models the built-in transformers of `kustomize/api/internal/builtins` and their field specs.

use super::file::Kustomization;
use super::references::{pod_spec, visit};
use super::resource::Resource;
use k8s_model::Kind;
use serde_json::{Map, Value};

pub(super) fn run(of: &Kustomization, all: &mut [Resource]) {
    all.iter_mut()
        .for_each(|resource| namespace(resource, of.text("namespace")));
    let (prefix, suffix) = (of.text("namePrefix"), of.text("nameSuffix"));
    all.iter_mut()
        .for_each(|resource| rename(resource, prefix, suffix));
    let common = (&of.value["commonLabels"], true, true);
    let own = of.list("labels").iter().map(|entry| {
        let selectors = entry["includeSelectors"] == true;
        (
            &entry["pairs"],
            selectors,
            selectors || entry["includeTemplates"] == true,
        )
    });
    for (pairs, selectors, templates) in own.chain([common]) {
        let Some(pairs) = pairs.as_object() else {
            continue;
        };
        all.iter_mut()
            .for_each(|resource| labels(resource, pairs, selectors, templates));
    }
    if let Some(pairs) = of.value["commonAnnotations"].as_object() {
        all.iter_mut()
            .for_each(|resource| annotations(resource, pairs));
    }
    for entry in of.list("replicas") {
        let (name, count) = (entry["name"].as_str().unwrap_or(""), &entry["count"]);
        let scaled = |resource: &&mut Resource| {
            matches!(
                resource.kind(),
                "Deployment" | "ReplicaSet" | "StatefulSet" | "ReplicationController"
            ) && resource.names.iter().any(|own| own == name)
        };
        for resource in all.iter_mut().filter(scaled) {
            if let Some(spec) = resource.map(&["spec"]) {
                spec.insert("replicas".to_owned(), count.clone());
            }
        }
    }
    of.list("images")
        .iter()
        .for_each(|entry| all.iter_mut().for_each(|resource| image(resource, entry)));
}

/// Returns true if objects of a kind are namespaced, as unknown kinds are.
fn is_namespaced(resource: &Resource) -> bool {
    let version = resource.object["apiVersion"].as_str().unwrap_or("");
    Kind::from_api(version, resource.kind()).is_none_or(|kind| kind.info().namespaced)
}

fn namespace(resource: &mut Resource, name: &str) {
    if name.is_empty() {
        return;
    }
    if is_namespaced(resource) {
        if let Some(metadata) = resource.map(&["metadata"]) {
            metadata.insert("namespace".to_owned(), name.into());
        }
    } else if resource.kind() == "Namespace" {
        resource.rename(name.to_owned());
    }
    if matches!(resource.kind(), "RoleBinding" | "ClusterRoleBinding") {
        visit(&mut resource.object, "subjects/[]", &mut |subject| {
            if subject["kind"] == "ServiceAccount" && subject["name"] == "default" {
                subject["namespace"] = name.into();
            }
        });
    }
}

fn rename(resource: &mut Resource, prefix: &str, suffix: &str) {
    if (prefix.is_empty() && suffix.is_empty())
        || matches!(
            resource.kind(),
            "CustomResourceDefinition" | "APIService" | "Namespace"
        )
    {
        return;
    }
    let name = format!("{prefix}{}{suffix}", resource.name());
    resource.rename(name);
}

fn extend(resource: &mut Resource, path: &[&str], pairs: &Map<String, Value>) {
    if let Some(map) = resource.map(path) {
        map.extend(pairs.clone());
    }
}

/// Adds pairs to the maps at a path, if they exist.
fn extend_found(resource: &mut Resource, path: &str, pairs: &Map<String, Value>) {
    visit(&mut resource.object, path, &mut |found| {
        if let Some(map) = found.as_object_mut() {
            map.extend(pairs.clone());
        }
    });
}

fn labels(resource: &mut Resource, pairs: &Map<String, Value>, selectors: bool, templates: bool) {
    extend(resource, &["metadata", "labels"], pairs);
    let kind = resource.kind().to_owned();
    if templates {
        match kind.as_str() {
            "Deployment"
            | "ReplicaSet"
            | "StatefulSet"
            | "DaemonSet"
            | "Job"
            | "ReplicationController" => {
                extend(resource, &["spec", "template", "metadata", "labels"], pairs);
            }
            "CronJob" => {
                extend(
                    resource,
                    &["spec", "jobTemplate", "metadata", "labels"],
                    pairs,
                );
                extend(
                    resource,
                    &[
                        "spec",
                        "jobTemplate",
                        "spec",
                        "template",
                        "metadata",
                        "labels",
                    ],
                    pairs,
                );
            }
            _ => {}
        }
    }
    if !selectors {
        return;
    }
    match kind.as_str() {
        "Service" | "ReplicationController" => extend(resource, &["spec", "selector"], pairs),
        "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet" => {
            extend(resource, &["spec", "selector", "matchLabels"], pairs)
        }
        "Job" | "PodDisruptionBudget" => extend_found(resource, "spec/selector/matchLabels", pairs),
        "NetworkPolicy" => extend_found(resource, "spec/podSelector/matchLabels", pairs),
        _ => {}
    }
    if let Some(spec) = pod_spec(&kind).filter(|_| kind == "Deployment" || kind == "StatefulSet") {
        extend_found(
            resource,
            &format!("{spec}/topologySpreadConstraints/[]/labelSelector/matchLabels"),
            pairs,
        );
    }
}

fn annotations(resource: &mut Resource, pairs: &Map<String, Value>) {
    extend(resource, &["metadata", "annotations"], pairs);
    match resource.kind() {
        "Deployment"
        | "ReplicaSet"
        | "StatefulSet"
        | "DaemonSet"
        | "Job"
        | "ReplicationController" => {
            extend(
                resource,
                &["spec", "template", "metadata", "annotations"],
                pairs,
            );
        }
        "CronJob" => {
            extend(
                resource,
                &["spec", "jobTemplate", "metadata", "annotations"],
                pairs,
            );
            extend(
                resource,
                &[
                    "spec",
                    "jobTemplate",
                    "spec",
                    "template",
                    "metadata",
                    "annotations",
                ],
                pairs,
            );
        }
        _ => {}
    }
}

/// Splits an image into name, tag and digest. A colon within the registry's address does not begin a tag.
fn parts(image: &str) -> (&str, Option<&str>, Option<&str>) {
    let (rest, digest) = image
        .split_once('@')
        .map_or((image, None), |(rest, digest)| (rest, Some(digest)));
    match rest.rsplit_once(':').filter(|(_, tag)| !tag.contains('/')) {
        Some((name, tag)) => (name, Some(tag), digest),
        None => (rest, None, digest),
    }
}

fn image(resource: &mut Resource, entry: &Value) {
    let Some(spec) = pod_spec(resource.kind()) else {
        return;
    };
    let text = |field: &str| entry[field].as_str().filter(|text| !text.is_empty());
    // A tag may be written as a number.
    let tag = text("newTag").map(str::to_owned).or_else(|| {
        entry["newTag"]
            .is_number()
            .then(|| entry["newTag"].to_string())
    });
    for containers in ["containers", "initContainers"] {
        visit(
            &mut resource.object,
            &format!("{spec}/{containers}/[]/image"),
            &mut |image| {
                let (name, old_tag, old_digest) = parts(image.as_str().unwrap_or(""));
                if Some(name) != text("name") {
                    return;
                }
                let name = text("newName").unwrap_or(name);
                let end = match (text("digest"), &tag) {
                    (Some(digest), Some(tag)) => format!(":{tag}@{digest}"),
                    (Some(digest), None) => format!("@{digest}"),
                    (None, Some(tag)) => format!(":{tag}"),
                    (None, None) => {
                        let tag = old_tag.map(|tag| format!(":{tag}")).unwrap_or_default();
                        tag + &old_digest
                            .map(|digest| format!("@{digest}"))
                            .unwrap_or_default()
                    }
                };
                *image = Value::from(format!("{name}{end}"));
            },
        );
    }
}
