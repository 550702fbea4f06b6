//! Validation of roles, their bindings, and CustomResourceDefinitions.
//!
//! Models `pkg/apis/rbac/validation` and `apiextensions-apiserver/pkg/apis/apiextensions/validation`.

use super::{ErrorType, Errors, has, list, names, text};
use serde_json::Value;

const GROUP: &str = "rbac.authorization.k8s.io";

/// Scope of a role or binding.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Role or RoleBinding.
    Namespaced,
    /// ClusterRole or ClusterRoleBinding.
    Cluster,
}

/// Validates a Role or ClusterRole.
pub fn role(errors: &mut Errors, object: &Value, scope: Scope) {
    for (index, rule) in list(object, "rules").iter().enumerate() {
        let at = |field: &str| format!("rules[{index}].{field}");
        let empty = |field: &str| list(rule, field).is_empty();
        if empty("verbs") {
            errors.required(&at("verbs"), "verbs must contain at least one value");
        }
        if !empty("nonResourceURLs") {
            let (field, urls) = (at("nonResourceURLs"), &rule["nonResourceURLs"]);
            if scope == Scope::Namespaced {
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
pub fn binding(errors: &mut Errors, object: &Value, scope: Scope) {
    let role = &object["roleRef"];
    errors.one_of("roleRef.apiGroup", text(role, "apiGroup"), &[GROUP]);
    let kinds: &[&str] = match scope {
        Scope::Namespaced => &["Role", "ClusterRole"],
        Scope::Cluster => &["ClusterRole"],
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
                if scope == Scope::Cluster && text(subject, "namespace").is_empty() {
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

/// Validates a CustomResourceDefinition in its internal form, in which fields that are equal in all versions stand in the spec.
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
    let versions = list(spec, "versions");
    let is_common = |field: &str| {
        let mut versions = versions.windows(2);
        versions.all(|pair| pair[0][field] == pair[1][field])
    };
    let stored = versions.iter().filter(|version| version["storage"] == true);
    let stored = stored.count();
    if stored != 1 {
        errors.add(
            ErrorType::Invalid,
            "spec.versions",
            internal_versions(versions),
            "must have exactly one version marked as storage version",
        );
    }
    let mut validated = |version: &Value, at: String| {
        let at = format!("{at}.openAPIV3Schema");
        if !has(&version["schema"], "openAPIV3Schema") {
            return errors.required(&at, "");
        }
        let schema = &version["schema"]["openAPIV3Schema"];
        let problems = super::super::definitions::problems(schema, &at);
        errors.list.extend(problems);
    };
    match versions.first() {
        Some(version) if is_common("schema") && has(&version["schema"], "openAPIV3Schema") => {
            validated(version, "spec.validation".to_owned());
        }
        _ => {
            for (index, version) in versions.iter().enumerate() {
                validated(version, format!("spec.versions[{index}].schema"));
            }
        }
    }
    if stored == 0 {
        errors.add(
            ErrorType::Invalid,
            "status.storedVersions",
            "null",
            "must have at least one stored version",
        );
    }
}

/// Formats the versions of a definition in the server's internal form; what all versions share is not part of them.
fn internal_versions(versions: &[Value]) -> String {
    let version = |version: &Value| {
        format!(
            "{{\"Name\":{},\"Served\":{},\"Storage\":{},\"Deprecated\":{},\"DeprecationWarning\":{},\"Schema\":null,\"Subresources\":null,\"AdditionalPrinterColumns\":null,\"SelectableFields\":null}}",
            version["name"],
            version["served"] == true,
            version["storage"] == true,
            version["deprecated"] == true,
            version["deprecationWarning"],
        )
    };
    let all: Vec<String> = versions.iter().map(version).collect();
    format!("[{}]", all.join(","))
}
