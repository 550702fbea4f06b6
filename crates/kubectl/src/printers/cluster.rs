//! Rows of nodes, namespaces, Events, budgets, quotas and other kinds.

use super::{TableColumns, TableRow, age, or_none};
use k8s_model::Timestamp;
use serde_json::Value;

type Cells = fn(TableRow<'_>) -> Vec<String>;

fn binding(row: TableRow<'_>) -> Vec<String> {
    let of = |kind: &str| -> String {
        let subjects = row
            .list("/subjects")
            .iter()
            .filter(|subject| subject["kind"] == kind);
        let name = |subject: &Value| {
            let name = subject["name"].as_str().unwrap_or("");
            subject["namespace"]
                .as_str()
                .map_or(name.to_owned(), |namespace| format!("{namespace}/{name}"))
        };
        subjects.map(name).collect::<Vec<_>>().join(", ")
    };
    let role = format!(
        "{}/{}",
        row.text("/roleRef/kind"),
        row.text("/roleRef/name")
    );
    vec![
        row.name(),
        role,
        row.created(),
        of("User"),
        of("Group"),
        of("ServiceAccount"),
    ]
}

fn component(row: TableRow<'_>) -> Vec<String> {
    let healthy = row
        .list("/conditions")
        .iter()
        .find(|condition| condition["type"] == "Healthy");
    let text = |key: &str| {
        healthy
            .and_then(|condition| condition[key].as_str())
            .unwrap_or("")
            .to_owned()
    };
    let status = match text("status").as_str() {
        "True" => "Healthy",
        "False" => "Unhealthy",
        _ => "Unknown",
    };
    vec![
        row.name(),
        status.to_owned(),
        text("message"),
        text("error"),
    ]
}

pub fn columns(kind: &str) -> Option<(TableColumns, Cells)> {
    const NODE: TableColumns = &[
        ("NAME", false),
        ("STATUS", false),
        ("ROLES", false),
        ("AGE", false),
        ("VERSION", false),
        ("INTERNAL-IP", true),
        ("EXTERNAL-IP", true),
        ("OS-IMAGE", true),
        ("KERNEL-VERSION", true),
        ("CONTAINER-RUNTIME", true),
    ];
    const EVENT: TableColumns = &[
        ("LAST SEEN", false),
        ("TYPE", false),
        ("REASON", false),
        ("OBJECT", false),
        ("SUBOBJECT", true),
        ("SOURCE", true),
        ("MESSAGE", false),
        ("FIRST SEEN", true),
        ("COUNT", true),
        ("NAME", true),
    ];
    const BUDGET: TableColumns = &[
        ("NAME", false),
        ("MIN AVAILABLE", false),
        ("MAX UNAVAILABLE", false),
        ("ALLOWED DISRUPTIONS", false),
        ("AGE", false),
    ];
    const QUOTA: TableColumns = &[
        ("NAME", false),
        ("REQUEST", false),
        ("LIMIT", false),
        ("AGE", false),
    ];
    const PRIORITY: TableColumns = &[
        ("NAME", false),
        ("VALUE", false),
        ("GLOBAL-DEFAULT", false),
        ("AGE", false),
        ("PREEMPTIONPOLICY", false),
    ];
    const BINDING: TableColumns = &[
        ("NAME", false),
        ("ROLE", false),
        ("AGE", false),
        ("USERS", true),
        ("GROUPS", true),
        ("SERVICEACCOUNTS", true),
    ];
    const REQUEST: TableColumns = &[
        ("NAME", false),
        ("AGE", false),
        ("SIGNERNAME", false),
        ("REQUESTOR", false),
        ("REQUESTEDDURATION", false),
        ("CONDITION", false),
    ];
    const COMPONENT: TableColumns = &[
        ("NAME", false),
        ("STATUS", false),
        ("MESSAGE", false),
        ("ERROR", false),
    ];
    Some(match kind {
        "ComponentStatus" => (COMPONENT, component),
        "CertificateSigningRequest" => (REQUEST, certificate_request),
        "Node" => (NODE, node as Cells),
        "Namespace" => (
            &[("NAME", false), ("STATUS", false), ("AGE", false)],
            |row| {
                vec![
                    row.name(),
                    row.text("/status/phase").to_owned(),
                    row.created(),
                ]
            },
        ),
        "Event" => (EVENT, event),
        "ConfigMap" => (&[("NAME", false), ("DATA", false), ("AGE", false)], |row| {
            vec![
                row.name(),
                (entries(row.at("/data")) + entries(row.at("/binaryData"))).to_string(),
                row.created(),
            ]
        }),
        "Secret" => (
            &[
                ("NAME", false),
                ("TYPE", false),
                ("DATA", false),
                ("AGE", false),
            ],
            |row| {
                vec![
                    row.name(),
                    row.text("/type").to_owned(),
                    entries(row.at("/data")).to_string(),
                    row.created(),
                ]
            },
        ),
        "ServiceAccount" => (&[("NAME", false), ("AGE", false)], |row| {
            vec![row.name(), row.created()]
        }),
        "PodDisruptionBudget" => (BUDGET, budget),
        "ResourceQuota" => (QUOTA, quota),
        "LimitRange" => (&[("NAME", false), ("CREATED AT", false)], |row| {
            vec![
                row.name(),
                row.text("/metadata/creationTimestamp").to_owned(),
            ]
        }),
        "PriorityClass" => (PRIORITY, priority),
        "Lease" => (
            &[("NAME", false), ("HOLDER", false), ("AGE", false)],
            |row| {
                vec![
                    row.name(),
                    row.text("/spec/holderIdentity").to_owned(),
                    row.created(),
                ]
            },
        ),
        "RoleBinding" | "ClusterRoleBinding" => (BINDING, binding),
        "CustomResourceDefinition" | "Role" | "ClusterRole" => {
            (&[("NAME", false), ("CREATED AT", false)], |row| {
                vec![
                    row.name(),
                    row.text("/metadata/creationTimestamp").to_owned(),
                ]
            })
        }
        _ => return None,
    })
}

/// Returns the state of a certificate signing request, such as `Approved,Issued`.
pub fn certificate_state(row: TableRow<'_>) -> String {
    let has = |kind: &str| {
        row.list("/status/conditions")
            .iter()
            .any(|condition| condition["type"] == kind)
    };
    let decided = if has("Denied") {
        "Denied"
    } else if has("Approved") {
        "Approved"
    } else {
        "Pending"
    };
    let failed = if has("Failed") { ",Failed" } else { "" };
    let issued = if row.text("/status/certificate").is_empty() {
        ""
    } else {
        ",Issued"
    };
    format!("{decided}{failed}{issued}")
}

fn certificate_request(row: TableRow<'_>) -> Vec<String> {
    let duration = row
        .at("/spec/expirationSeconds")
        .as_i64()
        .map_or_else(|| "<none>".to_owned(), super::age::human);
    let text = |path: &str| row.text(path).to_owned();
    vec![
        row.name(),
        row.created(),
        text("/spec/signerName"),
        text("/spec/username"),
        duration,
        certificate_state(row),
    ]
}

fn entries(map: &Value) -> usize {
    map.as_object().map_or(0, serde_json::Map::len)
}

fn node(row: TableRow<'_>) -> Vec<String> {
    let ready = row
        .list("/status/conditions")
        .iter()
        .find(|c| c["type"] == "Ready")
        .map_or("Unknown", |c| match c["status"].as_str() {
            Some("True") => "Ready",
            Some("False") => "NotReady",
            _ => "NotReady",
        });
    let cordoned = if row.at("/spec/unschedulable") == true {
        ",SchedulingDisabled"
    } else {
        ""
    };
    let roles = row.at("/metadata/labels").as_object().into_iter().flatten();
    let roles: Vec<&str> = roles
        .filter_map(|(key, _)| key.strip_prefix("node-role.kubernetes.io/"))
        .collect();
    let address = |kind: &str| {
        row.list("/status/addresses")
            .iter()
            .find(|a| a["type"] == kind)
            .and_then(|a| a["address"].as_str())
            .unwrap_or("")
            .to_owned()
    };
    let info = |name: &str| row.text(&format!("/status/nodeInfo/{name}"));
    vec![
        row.name(),
        format!("{ready}{cordoned}"),
        or_none(&roles.join(",")),
        row.created(),
        info("kubeletVersion").to_owned(),
        or_none(&address("InternalIP")),
        or_none(&address("ExternalIP")),
        info("osImage").to_owned(),
        format!("{} ({})", info("kernelVersion"), info("architecture")),
        info("containerRuntimeVersion").to_owned(),
    ]
}

/// Returns the time of an Event's last occurrence, in seconds since 1970.
pub fn last_seen(event: &Value) -> i64 {
    let at = |value: &Value| {
        value
            .as_str()
            .and_then(Timestamp::parse)
            .map(|t| t.seconds())
    };
    [
        &event["series"]["lastObservedTime"],
        &event["lastTimestamp"],
        &event["eventTime"],
        &event["metadata"]["creationTimestamp"],
    ]
    .into_iter()
    .find_map(at)
    .unwrap_or(0)
}

/// Returns the time of an Event's first occurrence, in seconds since 1970.
pub fn first_seen(event: &Value) -> i64 {
    let at = |value: &Value| {
        value
            .as_str()
            .and_then(Timestamp::parse)
            .map(|t| t.seconds())
    };
    [
        &event["firstTimestamp"],
        &event["eventTime"],
        &event["metadata"]["creationTimestamp"],
    ]
    .into_iter()
    .find_map(at)
    .unwrap_or(0)
}

/// Returns the number of an Event's occurrences.
pub fn count(event: &Value) -> i64 {
    event["series"]["count"]
        .as_i64()
        .or(event["count"].as_i64())
        .unwrap_or(1)
        .max(1)
}

/// Returns the reporting component of an Event.
pub fn source(event: &Value) -> &str {
    let of = |value: &'_ Value| -> Option<String> {
        value.as_str().filter(|s| !s.is_empty()).map(str::to_owned)
    };
    if of(&event["source"]["component"]).is_some() {
        event["source"]["component"].as_str().unwrap_or("")
    } else {
        event["reportingComponent"].as_str().unwrap_or("")
    }
}

fn event(row: TableRow<'_>) -> Vec<String> {
    let involved = row.at("/involvedObject");
    let kind = involved["kind"].as_str().unwrap_or("").to_ascii_lowercase();
    vec![
        age::human(row.now - last_seen(row.object)),
        row.text("/type").to_owned(),
        row.text("/reason").to_owned(),
        format!("{kind}/{}", involved["name"].as_str().unwrap_or("")),
        involved["fieldPath"].as_str().unwrap_or("").to_owned(),
        source(row.object).to_owned(),
        row.text("/message").trim().to_owned(),
        age::human(row.now - first_seen(row.object)),
        count(row.object).to_string(),
        row.name(),
    ]
}

fn budget(row: TableRow<'_>) -> Vec<String> {
    let amount = |path: &str| match row.at(path) {
        Value::Null => "N/A".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let allowed = row.number("/status/disruptionsAllowed").to_string();
    vec![
        row.name(),
        amount("/spec/minAvailable"),
        amount("/spec/maxUnavailable"),
        allowed,
        row.created(),
    ]
}

fn quota(row: TableRow<'_>) -> Vec<String> {
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    for (name, hard) in row.at("/status/hard").as_object().into_iter().flatten() {
        let used = row.at("/status/used")[name.as_str()]
            .as_str()
            .unwrap_or("0");
        let shown = format!("{name}: {used}/{}", hard.as_str().unwrap_or(""));
        if name.starts_with("limits.") {
            limits.push(shown)
        } else {
            requests.push(shown)
        }
    }
    vec![
        row.name(),
        requests.join(", "),
        limits.join(", "),
        row.created(),
    ]
}

fn priority(row: TableRow<'_>) -> Vec<String> {
    let default = row.at("/globalDefault") == true;
    vec![
        row.name(),
        row.number("/value").to_string(),
        default.to_string(),
        row.created(),
        row.text("/preemptionPolicy").to_owned(),
    ]
}
