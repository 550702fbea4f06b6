//! Whom a request is made as. Models `apiserver/pkg/endpoints/filters/impersonation`.

use crate::api::Str;
use serde_json::Value;

const ACCOUNT: &str = "system:serviceaccount:";

/// Someone a request is made as.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct UserInfo {
    /// `jane`, or `system:serviceaccount:NAMESPACE:NAME`.
    pub name: Str,
    /// The groups, those of every user included.
    pub groups: Vec<Str>,
}

impl UserInfo {
    /// A user of this name; a service account without groups of its own has those of all service accounts.
    pub fn new(name: &str, groups: Vec<Str>) -> UserInfo {
        let mut groups = groups;
        if let (true, Some((namespace, _))) = (groups.is_empty(), name.strip_prefix(ACCOUNT).and_then(|rest| rest.split_once(':'))) {
            groups = vec!["system:serviceaccounts".into(), format!("system:serviceaccounts:{namespace}").into()];
        }
        groups.push("system:authenticated".into());
        UserInfo { name: name.into(), groups }
    }

    /// The user of the kubeconfig that comes with a cluster.
    pub fn administrator() -> UserInfo {
        UserInfo::new("kubernetes-admin", vec!["kubeadm:cluster-admins".into()])
    }

    /// Whether a subject of a binding in this namespace means this user.
    pub(super) fn is(&self, subject: &Value, namespace: &str) -> bool {
        let text = |field: &str| subject[field].as_str().unwrap_or("");
        match text("kind") {
            "User" => self.name == text("name"),
            "Group" => self.groups.iter().any(|group| group == text("name")),
            "ServiceAccount" => {
                let home = if text("namespace").is_empty() { namespace } else { text("namespace") };
                self.name.strip_prefix(ACCOUNT).and_then(|rest| rest.split_once(':')) == Some((home, text("name")))
            }
            _ => false,
        }
    }
}
