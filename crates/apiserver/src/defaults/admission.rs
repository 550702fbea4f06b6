//! Defaults of admission webhooks, policies and their bindings.
//!
//! Models `pkg/apis/admissionregistration/v1/defaults.go`.

use super::{JsonObject, child, items, part, set};
use serde_json::json;

pub(crate) fn webhooks(object: &mut JsonObject) {
    let is_mutating = super::text(object, "kind") == "MutatingWebhookConfiguration";
    for hook in items(object, "webhooks") {
        set(hook, "failurePolicy", "Fail");
        matching(hook);
        set(hook, "timeoutSeconds", 10);
        if is_mutating {
            set(hook, "reinvocationPolicy", "Never");
        }
        rules(hook, "rules");
        if let Some(service) = part(hook, "clientConfig").and_then(|config| part(config, "service"))
        {
            set(service, "port", 443);
        }
    }
}

pub(crate) fn policy(object: &mut JsonObject) {
    let spec = child(object, "spec");
    set(spec, "failurePolicy", "Fail");
    match_resources(spec, "matchConstraints");
}

pub(crate) fn binding(object: &mut JsonObject) {
    match_resources(child(object, "spec"), "matchResources");
}

fn match_resources(spec: &mut JsonObject, name: &str) {
    if let Some(resources) = part(spec, name) {
        matching(resources);
        rules(resources, "resourceRules");
        rules(resources, "excludeResourceRules");
    }
}

fn matching(object: &mut JsonObject) {
    set(object, "matchPolicy", "Equivalent");
    set(object, "namespaceSelector", json!({}));
    set(object, "objectSelector", json!({}));
}

fn rules(object: &mut JsonObject, name: &str) {
    items(object, name).for_each(|rule| set(rule, "scope", "*"));
}
