//! RBAC authorizer: roles, their bindings, and the refusals.
//!
//! The modelled person is an administrator; an impersonated user needs a rule that allows the request.
//! Models `plugin/pkg/auth/authorizer/rbac`, `pkg/registry/rbac` (no one grants more than they have) and
//! `apiserver/pkg/endpoints/handlers/responsewriters/errors.go`.

pub mod bootstrap;
mod rule;
mod user;

use super::error::{ApiError, StatusReason};
use super::store::Store;
use k8s_model::{Body, Kind, ObjectRef};
pub use rule::{Attributes, PolicyRule};
use serde_json::Value;
pub use user::UserInfo;

/// RBAC authorizer over the roles and bindings of a store.
#[derive(Clone, Copy)]
pub struct Authorizer<'a> {
    store: &'a Store,
}

impl Authorizer<'_> {
    /// Creates an authorizer.
    pub fn new(store: &Store) -> Authorizer<'_> {
        Authorizer { store }
    }

    /// Returns every rule that applies to a user in a namespace, and the errors of roles that bindings reference.
    pub fn rules_of(&self, user: &UserInfo, namespace: &str) -> (Vec<PolicyRule>, Vec<String>) {
        let (mut rules, mut faults) = (Vec::new(), Vec::new());
        let local =
            (!namespace.is_empty()).then(|| self.store.listing(Kind::RoleBinding, Some(namespace)));
        let global = self.store.listing(Kind::ClusterRoleBinding, None);
        for binding in global.chain(local.into_iter().flatten()) {
            let Body::Other(body) = &binding.body else {
                continue;
            };
            let Some(subjects) = body.get("subjects").and_then(Value::as_array) else {
                continue;
            };
            if !subjects
                .iter()
                .any(|subject| user.is(subject, &binding.meta.namespace))
            {
                continue;
            }
            let role = |field: &str| {
                body.get("roleRef")
                    .and_then(|role| role[field].as_str())
                    .unwrap_or("")
            };
            let kind = if role("kind") == "Role" {
                Kind::Role
            } else {
                Kind::ClusterRole
            };
            match self.rules_in(kind, &binding.meta.namespace, role("name")) {
                Some(more) => rules.extend(more),
                None => faults.push(format!(
                    "{} {:?} not found",
                    kind.qualified_singular(),
                    role("name")
                )),
            }
        }
        (rules, faults)
    }

    /// Returns the rules of a role, if it exists.
    fn rules_in(&self, kind: Kind, namespace: &str, name: &str) -> Option<Vec<PolicyRule>> {
        match &self.store.get(&ObjectRef::new(kind, namespace, name))?.body {
            Body::Other(body) => Some(
                body.get("rules")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                    .map(PolicyRule::read)
                    .collect(),
            ),
            _ => None,
        }
    }

    /// Returns `Ok` if a user is authorized; the error names invalid roles that were evaluated.
    pub fn allows(&self, user: &UserInfo, request: &Attributes<'_>) -> Result<(), String> {
        if user.is_privileged() {
            return Ok(());
        }
        let (rules, faults) = self.rules_of(user, request.namespace);
        if rules.iter().any(|rule| rule.allows(request)) {
            return Ok(());
        }
        Err(match &faults[..] {
            [] => String::new(),
            [one] => format!("RBAC: {one}"),
            all => format!("RBAC: [{}]", all.join(", ")),
        })
    }

    /// Authorizes a user.
    ///
    /// # Errors
    /// The refusal.
    pub fn check(&self, user: &UserInfo, request: &Attributes<'_>) -> Result<(), ApiError> {
        self.allows(user, request)
            .map_err(|fault| forbidden(user, request, &fault))
    }

    /// Returns the refusal if a user is not authorized; `None` as the user is unrestricted.
    pub fn forbids(
        &self,
        user: Option<&UserInfo>,
        verb: &str,
        key: &ObjectRef,
        subresource: &str,
    ) -> Option<ApiError> {
        let user = user?;
        let info = key.kind.info();
        let resource = if subresource.is_empty() {
            info.plural.to_owned()
        } else {
            format!("{}/{subresource}", info.plural)
        };
        let name = if verb == "create" && subresource.is_empty() {
            ""
        } else {
            key.name.as_str()
        };
        let request = Attributes {
            verb,
            group: info.group,
            resource: &resource,
            namespace: &key.namespace,
            name,
            url: "",
        };
        self.check(user, &request).err()
    }

    /// Refuses a role or a binding that grants more than its author has.
    pub(crate) fn check_grant(
        &self,
        user: Option<&UserInfo>,
        kind: Kind,
        value: &Value,
    ) -> Result<(), ApiError> {
        let Some(user) = user else {
            return Ok(());
        };
        let text = |path: &str| value.pointer(path).and_then(Value::as_str).unwrap_or("");
        let namespace = text("/metadata/namespace");
        let name = text("/metadata/name");
        let (verb, role, named, granted) = match kind {
            Kind::Role | Kind::ClusterRole => {
                let rules = value["rules"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(PolicyRule::read)
                    .collect();
                ("escalate", kind, name, rules)
            }
            Kind::RoleBinding | Kind::ClusterRoleBinding => {
                let role = if text("/roleRef/kind") == "Role" {
                    Kind::Role
                } else {
                    Kind::ClusterRole
                };
                let named = text("/roleRef/name");
                let rules = self.rules_in(role, namespace, named).unwrap_or_default();
                ("bind", role, named, rules)
            }
            _ => return Ok(()),
        };
        let attributes = Attributes {
            verb,
            group: role.info().group,
            resource: role.info().plural,
            namespace,
            name: named,
            url: "",
        };
        if self.allows(user, &attributes).is_ok() {
            return Ok(());
        }
        let (own, _) = self.rules_of(user, namespace);
        let missing = granted
            .iter()
            .flat_map(PolicyRule::single)
            .filter(|rule| !own.iter().any(|o| o.covers(rule)));
        let mut missing: Vec<String> = rule::compact(missing)
            .iter()
            .map(PolicyRule::to_string)
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        missing.sort();
        let groups: Vec<String> = user
            .groups
            .iter()
            .map(|group| format!("{group:?}"))
            .collect();
        Err(ApiError::forbidden(format!(
            "{} {name:?} is forbidden: user {:?} (groups=[{}]) is attempting to grant RBAC permissions not currently held:\n{}",
            kind.group_resource(),
            user.name.as_str(),
            groups.join(" "),
            missing.join("\n")
        )))
    }
}

/// Returns the refusal: `pods "x" is forbidden: User "jane" cannot get resource "pods" in API group "" in the namespace "default"`
fn forbidden(user: &UserInfo, request: &Attributes<'_>, fault: &str) -> ApiError {
    let base = request
        .resource
        .split('/')
        .next()
        .unwrap_or(request.resource);
    let about = if request.group.is_empty() {
        base.to_owned()
    } else {
        format!("{base}.{}", request.group)
    };
    let about = if request.name.is_empty() {
        about
    } else {
        format!("{about} {:?}", request.name)
    };
    let scope = if request.namespace.is_empty() {
        "at the cluster scope".to_owned()
    } else {
        format!("in the namespace {:?}", request.namespace)
    };
    let fault = if fault.is_empty() {
        String::new()
    } else {
        format!(": {fault}")
    };
    let message = format!(
        "{about} is forbidden: User {:?} cannot {} resource {:?} in API group {:?} {scope}{fault}",
        user.name.as_str(),
        request.verb,
        request.resource,
        request.group
    );
    ApiError {
        reason: StatusReason::Forbidden,
        message,
        cause: None,
    }
}

#[cfg(test)]
mod tests;
