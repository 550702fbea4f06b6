//! Roles that come with every cluster. Models `plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go`.

use super::rule::PolicyRule;

/// The groups of users and the roles they have from the start.
pub(super) const BINDINGS: [(&str, &str); 4] = [
    ("system:masters", "cluster-admin"),
    ("system:authenticated", "system:basic-user"),
    ("system:authenticated", "system:discovery"),
    ("system:authenticated", "system:public-info-viewer"),
];

/// Verbs, API group and resources (or paths) of each rule.
type Lines = &'static [(&'static str, &'static str, &'static str)];

const READ: &str = "get list watch";
const WRITE: &str = "create delete deletecollection patch update";

const VIEW: Lines = &[
    (
        READ,
        "",
        "configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers \
         replicationcontrollers/scale serviceaccounts services services/status bindings events limitranges namespaces/status pods/log \
         pods/status replicationcontrollers/status resourcequotas resourcequotas/status namespaces",
    ),
    (READ, "discovery.k8s.io", "endpointslices"),
    (
        READ,
        "apps",
        "controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale \
         replicasets/status statefulsets statefulsets/scale statefulsets/status",
    ),
    (READ, "autoscaling", "horizontalpodautoscalers horizontalpodautoscalers/status"),
    (READ, "batch", "cronjobs cronjobs/status jobs jobs/status"),
    (READ, "networking.k8s.io", "ingresses ingresses/status networkpolicies"),
    (READ, "policy", "poddisruptionbudgets poddisruptionbudgets/status"),
];
const EDIT: Lines = &[
    (READ, "", "pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy"),
    ("impersonate", "", "serviceaccounts"),
    (
        WRITE,
        "",
        "pods pods/attach pods/exec pods/portforward pods/proxy configmaps events persistentvolumeclaims replicationcontrollers \
         replicationcontrollers/scale secrets serviceaccounts services services/proxy",
    ),
    ("create", "", "pods/eviction serviceaccounts/token"),
    (
        WRITE,
        "apps",
        "daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale",
    ),
    (WRITE, "autoscaling", "horizontalpodautoscalers"),
    (WRITE, "batch", "cronjobs jobs"),
    (WRITE, "networking.k8s.io", "ingresses networkpolicies"),
    (WRITE, "policy", "poddisruptionbudgets"),
    ("create delete deletecollection get list patch update watch", "coordination.k8s.io", "leases"),
];
const ADMIN: Lines = &[
    ("create", "authorization.k8s.io", "localsubjectaccessreviews"),
    ("create delete deletecollection get list patch update watch", "rbac.authorization.k8s.io", "rolebindings roles"),
];
const ALL: Lines = &[("*", "*", "*"), ("*", "", "*")];
const BASIC: Lines = &[
    ("create", "authorization.k8s.io", "selfsubjectaccessreviews selfsubjectrulesreviews"),
    ("create", "authentication.k8s.io", "selfsubjectreviews"),
];
const DISCOVERY: Lines =
    &[("get", "", "/.well-known /.well-known/* /api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/")];
const PUBLIC: Lines = &[("get", "", "/healthz /livez /readyz /version /version/")];

/// The rules of a role by its name.
pub(super) fn rules(name: &str) -> Option<Vec<PolicyRule>> {
    let parts: &[Lines] = match name {
        "cluster-admin" => &[ALL],
        "admin" => &[ADMIN, EDIT, VIEW],
        "edit" => &[EDIT, VIEW],
        "view" => &[VIEW],
        "system:basic-user" => &[BASIC],
        "system:discovery" => &[DISCOVERY],
        "system:public-info-viewer" => &[PUBLIC],
        _ => return None,
    };
    let words = |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
    let rule = |(verbs, group, about): &(&str, &str, &str)| {
        let verbs = words(verbs);
        // No role has all resources of the core group alone.
        if about.starts_with('/') || group.is_empty() && *about == "*" {
            return PolicyRule { verbs, urls: words(about), ..Default::default() };
        }
        PolicyRule { verbs, groups: vec![(*group).to_owned()], resources: words(about), ..Default::default() }
    };
    Some(parts.iter().flat_map(|lines| lines.iter()).map(rule).collect())
}
