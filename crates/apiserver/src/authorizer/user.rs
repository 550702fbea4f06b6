//! User of a request. Models `apiserver/pkg/endpoints/filters/impersonation`.

use k8s_model::Str;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const ACCOUNT: &str = "system:serviceaccount:";
const ANONYMOUS: &str = "system:anonymous";
const AUTHENTICATED: &str = "system:authenticated";
const MASTERS: &str = "system:masters";
const UNAUTHENTICATED: &str = "system:unauthenticated";

/// Authenticated or impersonated user.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct UserInfo {
    /// Name: `jane`, or `system:serviceaccount:NAMESPACE:NAME`.
    pub name: Str,
    /// Groups, including those of every user.
    pub groups: Vec<Str>,
    /// Unique id, possibly empty.
    #[serde(default, skip_serializing_if = "Str::is_empty")]
    pub uid: Str,
    /// Further attributes from the authenticator.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extra: BTreeMap<Str, Vec<Str>>,
}

impl UserInfo {
    /// Creates a user of this name; a service account without explicit groups gets those of all service accounts.
    pub fn new(name: &str, groups: Vec<Str>) -> UserInfo {
        let mut groups = groups;
        if let (true, Some((namespace, _))) = (
            groups.is_empty(),
            name.strip_prefix(ACCOUNT)
                .and_then(|rest| rest.split_once(':')),
        ) {
            groups = vec![
                "system:serviceaccounts".into(),
                format!("system:serviceaccounts:{namespace}").into(),
            ];
        }
        // A user with one of the groups for all users is not added to the other.
        let own = if name == ANONYMOUS {
            UNAUTHENTICATED
        } else {
            AUTHENTICATED
        };
        if !groups
            .iter()
            .any(|group| group == own || group == UNAUTHENTICATED)
        {
            groups.push(own.into());
        }
        UserInfo {
            name: name.into(),
            groups,
            uid: Str::default(),
            extra: BTreeMap::new(),
        }
    }

    /// Adds uid and extra to the JSON of a user.
    pub fn tell_more(&self, told: &mut Value) {
        if !self.uid.is_empty() {
            told["uid"] = self.uid.as_str().into();
        }
        if !self.extra.is_empty() {
            told["extra"] = json!(self.extra);
        }
    }

    /// Returns the user of the cluster's default kubeconfig.
    pub fn administrator() -> UserInfo {
        UserInfo::new("kubernetes-admin", vec!["kubeadm:cluster-admins".into()])
    }

    /// Returns the user of a client that names none: its requests are all allowed.
    pub fn masters() -> UserInfo {
        UserInfo::new("kubernetes-admin", vec![MASTERS.into()])
    }

    /// Returns true for a member of the group whose requests are all allowed: `authorizerfactory.NewPrivilegedGroups`.
    pub fn is_privileged(&self) -> bool {
        self.groups.iter().any(|group| group == MASTERS)
    }

    /// Returns true if a subject of a binding in this namespace is this user.
    pub(super) fn is(&self, subject: &Value, namespace: &str) -> bool {
        let text = |field: &str| subject[field].as_str().unwrap_or("");
        match text("kind") {
            "User" => self.name == text("name"),
            "Group" => self.groups.iter().any(|group| group == text("name")),
            "ServiceAccount" => {
                let home = if text("namespace").is_empty() {
                    namespace
                } else {
                    text("namespace")
                };
                self.name
                    .strip_prefix(ACCOUNT)
                    .and_then(|rest| rest.split_once(':'))
                    == Some((home, text("name")))
            }
            _ => false,
        }
    }
}
