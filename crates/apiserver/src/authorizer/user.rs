//! Whom a request is made as. Models `apiserver/pkg/endpoints/filters/impersonation`.

use k8s_model::Str;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const ACCOUNT: &str = "system:serviceaccount:";
const ANONYMOUS: &str = "system:anonymous";
const AUTHENTICATED: &str = "system:authenticated";
const UNAUTHENTICATED: &str = "system:unauthenticated";

/// Someone a request is made as.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct UserInfo {
    /// `jane`, or `system:serviceaccount:NAMESPACE:NAME`.
    pub name: Str,
    /// The groups, those of every user included.
    pub groups: Vec<Str>,
    /// What tells it from another of its name, if anything.
    #[serde(default, skip_serializing_if = "Str::is_empty")]
    pub uid: Str,
    /// What else an authenticator would say.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extra: BTreeMap<Str, Vec<Str>>,
}

impl UserInfo {
    /// A user of this name; a service account without groups of its own has those of all service accounts.
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
        // Whoever is said to be in either of the groups of all users is not added to the other.
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

    /// Adds uid and extra to what is told of a user.
    pub fn tell_more(&self, told: &mut Value) {
        if !self.uid.is_empty() {
            told["uid"] = self.uid.as_str().into();
        }
        if !self.extra.is_empty() {
            told["extra"] = json!(self.extra);
        }
    }

    /// The user of the kubeconfig that comes with a cluster.
    pub fn administrator() -> UserInfo {
        UserInfo::new("kubernetes-admin", vec!["kubeadm:cluster-admins".into()])
    }

    /// Returns true if a subject of a binding in this namespace means this user.
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
