//! Validation of roles, their bindings, and CustomResourceDefinitions.
//!
//! Models `pkg/apis/rbac/validation` and `apiextensions-apiserver/pkg/apis/apiextensions/validation`.

use super::{ErrorType, Errors, has, list, names, text};
use serde_json::Value;

const GROUP: &str = "rbac.authorization.k8s.io";

/// Validates a Role or ClusterRole.
pub fn role(errors: &mut Errors, object: &Value) {
    let namespaced = text(object, "kind") == "Role";
    for (index, rule) in list(object, "rules").iter().enumerate() {
        let at = |field: &str| format!("rules[{index}].{field}");
        let empty = |field: &str| list(rule, field).is_empty();
        if empty("verbs") {
            errors.required(&at("verbs"), "verbs must contain at least one value");
        }
        if !empty("nonResourceURLs") {
            let (field, urls) = (at("nonResourceURLs"), &rule["nonResourceURLs"]);
            if namespaced {
                errors.invalid(
                    &field,
                    urls.clone(),
                    "namespaced rules cannot apply to non-resource URLs",
                );
            }
            if ["apiGroups", "resources", "resourceNames"]
                .iter()
                .any(|field| !empty(field))
            {
                errors.invalid(
                    &field,
                    urls.clone(),
                    "rules cannot apply to both regular resources and non-resource URLs",
                );
            }
            continue;
        }
        if empty("apiGroups") {
            errors.required(
                &at("apiGroups"),
                "resource rules must supply at least one api group",
            );
        }
        if empty("resources") {
            errors.required(
                &at("resources"),
                "resource rules must supply at least one resource",
            );
        }
    }
}

/// Validates a RoleBinding or ClusterRoleBinding.
pub fn binding(errors: &mut Errors, object: &Value) {
    let (namespaced, role) = (text(object, "kind") == "RoleBinding", &object["roleRef"]);
    errors.one_of("roleRef.apiGroup", text(role, "apiGroup"), &[GROUP]);
    let kinds: &[&str] = if namespaced {
        &["Role", "ClusterRole"]
    } else {
        &["ClusterRole"]
    };
    errors.one_of("roleRef.kind", text(role, "kind"), kinds);
    match text(role, "name") {
        "" => errors.required("roleRef.name", ""),
        name => errors.checked("roleRef.name", name, names::path_segment),
    }
    for (index, subject) in list(object, "subjects").iter().enumerate() {
        let at = |field: &str| format!("subjects[{index}].{field}");
        let (kind, name) = (text(subject, "kind"), text(subject, "name"));
        if name.is_empty() {
            errors.required(&at("name"), "");
        }
        match kind {
            "ServiceAccount" => {
                if !name.is_empty() {
                    errors.checked(&at("name"), name, names::subdomain);
                }
                errors.one_of(&at("apiGroup"), text(subject, "apiGroup"), &[""]);
                if !namespaced && text(subject, "namespace").is_empty() {
                    errors.required(&at("namespace"), "");
                }
            }
            "User" | "Group" => {
                errors.one_of(&at("apiGroup"), text(subject, "apiGroup"), &[GROUP]);
            }
            other => errors.unsupported(&at("kind"), other, &["ServiceAccount", "User", "Group"]),
        }
    }
}

/// Formats a role reference in the server's internal form.
pub fn role_ref(role: &Value) -> String {
    format!(
        "{{\"APIGroup\":{},\"Kind\":{},\"Name\":{}}}",
        role["apiGroup"], role["kind"], role["name"]
    )
}

/// Validates a CustomResourceDefinition.
pub fn definition(errors: &mut Errors, object: &Value) {
    let (spec, name) = (&object["spec"], text(&object["metadata"], "name"));
    let plural = text(&spec["names"], "plural");
    if name != format!("{plural}.{}", text(spec, "group")) {
        errors.invalid(
            "metadata.name",
            name,
            "must be spec.names.plural+\".\"+spec.group",
        );
    }
    for (index, version) in list(spec, "versions").iter().enumerate() {
        let at = format!("spec.versions[{index}].schema.openAPIV3Schema");
        if !has(&version["schema"], "openAPIV3Schema") {
            errors.required(&at, "");
        } else {
            errors.list.extend(super::super::definitions::problems(
                &version["schema"]["openAPIV3Schema"],
                &at,
            ));
        }
    }
    let versions = list(spec, "versions");
    if versions
        .iter()
        .filter(|version| version["storage"] == true)
        .count()
        != 1
    {
        errors.add(
            ErrorType::Invalid,
            "spec.versions",
            "",
            "must have exactly one version marked as storage version",
        );
    }
}
