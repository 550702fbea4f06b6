//! Roles and bindings of a new cluster, except those of the control plane's own components.
//!
//! Models `plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go`.

use serde_json::Value;

const API: &str = "rbac.authorization.k8s.io";

/// Bootstrap ClusterRoleBindings: role and groups.
const BINDINGS: [(&str, &[&str]); 4] = [
    ("cluster-admin", &["system:masters"]),
    ("system:basic-user", &["system:authenticated"]),
    ("system:discovery", &["system:authenticated"]),
    (
        "system:public-info-viewer",
        &["system:authenticated", "system:unauthenticated"],
    ),
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
    (
        READ,
        "autoscaling",
        "horizontalpodautoscalers horizontalpodautoscalers/status",
    ),
    (READ, "batch", "cronjobs cronjobs/status jobs jobs/status"),
    (
        READ,
        "networking.k8s.io",
        "ingresses ingresses/status networkpolicies",
    ),
    (
        READ,
        "policy",
        "poddisruptionbudgets poddisruptionbudgets/status",
    ),
];
const EDIT: Lines = &[
    (
        READ,
        "",
        "pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy",
    ),
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
    (
        "create delete deletecollection get list patch update watch",
        "coordination.k8s.io",
        "leases",
    ),
];
const ADMIN: Lines = &[
    (
        "create",
        "authorization.k8s.io",
        "localsubjectaccessreviews",
    ),
    (
        "create delete deletecollection get list patch update watch",
        "rbac.authorization.k8s.io",
        "rolebindings roles",
    ),
];
const ALL: Lines = &[("*", "*", "*"), ("*", "", "*")];
const BASIC: Lines = &[
    (
        "create",
        "authorization.k8s.io",
        "selfsubjectaccessreviews selfsubjectrulesreviews",
    ),
    ("create", "authentication.k8s.io", "selfsubjectreviews"),
];
const DISCOVERY: Lines = &[(
    "get",
    "",
    "/.well-known /.well-known/* /api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/",
)];
const PUBLIC: Lines = &[("get", "", "/healthz /livez /readyz /version /version/")];

/// Role: name, aggregated label (`aggregate-to-…`), role that it is aggregated to, and rules.
type Role = (&'static str, &'static str, &'static str, &'static [Lines]);

const ROLES: [Role; 10] = [
    ("cluster-admin", "", "", &[ALL]),
    ("admin", "admin", "", &[EDIT, VIEW, ADMIN]),
    ("edit", "edit", "admin", &[EDIT, VIEW]),
    ("view", "view", "edit", &[VIEW]),
    ("system:aggregate-to-admin", "", "admin", &[ADMIN]),
    ("system:aggregate-to-edit", "", "edit", &[EDIT]),
    ("system:aggregate-to-view", "", "view", &[VIEW]),
    ("system:basic-user", "", "", &[BASIC]),
    ("system:discovery", "", "", &[DISCOVERY]),
    ("system:public-info-viewer", "", "", &[PUBLIC]),
];

/// Builds the objects. Their uids are fixed, so that they draw no random numbers.
pub fn objects() -> Vec<Value> {
    let roles = ROLES.iter().map(|(name, aggregates, part_of, rules)| {
        let label = |of: &str, after: &str| match of {
            "" => String::new(),
            of => format!("\"{API}/aggregate-to-{of}\":\"true\"{after}"),
        };
        let selects = label(aggregates, "");
        let selects = if selects.is_empty() {
            String::new()
        } else {
            AGGREGATES.replace('$', &selects)
        };
        let rules: Vec<String> = rules
            .iter()
            .flat_map(|lines| lines.iter())
            .map(rule)
            .collect();
        (
            "ClusterRole",
            *name,
            label(part_of, ","),
            format!("{selects}\"rules\":[{}]", rules.join(",")),
        )
    });
    let bindings = BINDINGS.iter().map(|(role, groups)| {
        let subjects: Vec<String> = groups
            .iter()
            .map(|group| SUBJECT.replace('$', group))
            .collect();
        (
            "ClusterRoleBinding",
            *role,
            String::new(),
            format!("{}{}]", ROLE_REF.replace('$', role), subjects.join(",")),
        )
    });
    let object = |(at, (kind, name, labels, rest)): (usize, (&str, &str, String, String))| {
        let text = format!(
            "{{\"apiVersion\":\"{API}/v1\",\"kind\":\"{kind}\",\"metadata\":{{\"name\":\"{name}\",\"uid\":\"6b1f0c5e-2d54-4c0b-8a4e-0a3c5f0e9e{at:02x}\",\
             \"labels\":{{{labels}{LABELS}}},{ANNOTATIONS}}},{rest}}}"
        );
        serde_json::from_str(&text).unwrap_or_default()
    };
    roles.chain(bindings).enumerate().map(object).collect()
}

// JSON text makes the page smaller than code that builds it.
const LABELS: &str = r#""kubernetes.io/bootstrapping":"rbac-defaults""#;
const ANNOTATIONS: &str = r#""annotations":{"rbac.authorization.kubernetes.io/autoupdate":"true"}"#;
const AGGREGATES: &str = r#""aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{$}}]},"#;
const SUBJECT: &str = r#"{"kind":"Group","apiGroup":"rbac.authorization.k8s.io","name":"$"}"#;
const ROLE_REF: &str = r#""roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"$"},"subjects":["#;

fn rule((verbs, group, about): &(&str, &str, &str)) -> String {
    let words = |text: &str| text.replace(' ', "\",\"");
    let (verbs, about) = (words(verbs), words(about));
    // No role has all resources of the core group alone.
    if about.starts_with('/') || group.is_empty() && about == "*" {
        return format!("{{\"verbs\":[\"{verbs}\"],\"nonResourceURLs\":[\"{about}\"]}}");
    }
    format!("{{\"verbs\":[\"{verbs}\"],\"apiGroups\":[\"{group}\"],\"resources\":[\"{about}\"]}}")
}
