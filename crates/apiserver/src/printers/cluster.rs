//! Rows of nodes, namespaces, Events, budgets, quotas and other kinds.

use super::{Cells, Column, Printer, TableRow, age, or_none};
use k8s_model::Timestamp;
use serde_json::Value;

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

pub(crate) const COMPONENT_STATUS: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("Status"),
        Column::text("Message"),
        Column::text("Error"),
    ],
    cells: Cells::Json(component),
};

pub(crate) const CERTIFICATE_SIGNING_REQUEST: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("Age"),
        Column::text("SignerName"),
        Column::text("Requestor"),
        Column::text("RequestedDuration"),
        Column::text("Condition"),
    ],
    cells: Cells::Json(certificate_request),
};

pub(crate) const NODE: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("Status"),
        Column::text("Roles"),
        Column::text("Age"),
        Column::text("Version"),
        Column::text("Internal-IP").wide(),
        Column::text("External-IP").wide(),
        Column::text("OS-Image").wide(),
        Column::text("Kernel-Version").wide(),
        Column::text("Container-Runtime").wide(),
    ],
    cells: Cells::Json(node),
};

pub(crate) const NAMESPACE: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("Status"),
        Column::text("Age"),
    ],
    cells: Cells::Json(|row| {
        vec![
            row.name(),
            row.text("/status/phase").to_owned(),
            row.created(),
        ]
    }),
};

pub(crate) const EVENT: Printer = Printer {
    columns: &[
        Column::text("Last Seen"),
        Column::text("Type"),
        Column::text("Reason"),
        Column::text("Object"),
        Column::text("Subobject").wide(),
        Column::text("Source").wide(),
        Column::text("Message"),
        Column::text("First Seen").wide(),
        Column::text("Count").wide(),
        Column::text("Name").wide(),
    ],
    cells: Cells::Json(event),
};

pub(crate) const CONFIG_MAP: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("Data"),
        Column::text("Age"),
    ],
    cells: Cells::Json(|row| {
        vec![
            row.name(),
            (entries(row.at("/data")) + entries(row.at("/binaryData"))).to_string(),
            row.created(),
        ]
    }),
};

pub(crate) const SECRET: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("Type"),
        Column::text("Data"),
        Column::text("Age"),
    ],
    cells: Cells::Json(|row| {
        vec![
            row.name(),
            row.text("/type").to_owned(),
            entries(row.at("/data")).to_string(),
            row.created(),
        ]
    }),
};

pub(crate) const POD_DISRUPTION_BUDGET: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("Min Available"),
        Column::text("Max Unavailable"),
        Column::integer("Allowed Disruptions"),
        Column::text("Age"),
    ],
    cells: Cells::Json(budget),
};

pub(crate) const RESOURCE_QUOTA: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("Request"),
        Column::text("Limit"),
        Column::text("Age"),
    ],
    cells: Cells::Json(quota),
};

pub(crate) const PRIORITY_CLASS: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::integer("Value"),
        Column::boolean("Global-Default"),
        Column::text("Age"),
        Column::text("PreemptionPolicy"),
    ],
    cells: Cells::Json(priority),
};

pub(crate) const LEASE: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("Holder"),
        Column::text("Age"),
    ],
    cells: Cells::Json(|row| {
        vec![
            row.name(),
            row.text("/spec/holderIdentity").to_owned(),
            row.created(),
        ]
    }),
};

pub(crate) const ROLE_BINDING: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("Role"),
        Column::text("Age"),
        Column::text("Users").wide(),
        Column::text("Groups").wide(),
        Column::text("ServiceAccounts").wide(),
    ],
    cells: Cells::Json(binding),
};

/// Prints names and times of creation: roles, LimitRanges and definitions.
pub(crate) const CREATED_AT: Printer = Printer {
    columns: &[Column::text("Name"), Column::date("Created At")],
    cells: Cells::Json(|row| {
        vec![
            row.name(),
            row.text("/metadata/creationTimestamp").to_owned(),
        ]
    }),
};

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

pub(crate) const RUNTIME_CLASS: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("Handler"),
        Column::text("Age"),
    ],
    cells: Cells::Json(|row| vec![row.name(), row.text("/handler").to_owned(), row.created()]),
};

/// Prints APIServices: `ConvertToTable` of `kube-aggregator/pkg/registry/apiservice/etcd`.
pub(crate) const API_SERVICE: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("Service"),
        Column::text("Available"),
        Column::text("Age"),
    ],
    cells: Cells::Json(|row| {
        let text = |name: &str| row.text(&format!("/spec/service/{name}"));
        let service = match row.at("/spec/service").is_object() {
            true => format!("{}/{}", text("namespace"), text("name")),
            false => "Local".to_owned(),
        };
        let mut conditions = row.list("/status/conditions").iter();
        let condition = conditions.find(|condition| condition["type"] == "Available");
        let text = |name: &str| condition.and_then(|condition| condition[name].as_str());
        let available = match (text("status"), text("reason")) {
            (None, _) => "Unknown".to_owned(),
            (Some(status), Some(reason)) if status != "True" && !reason.is_empty() => {
                format!("{status} ({reason})")
            }
            (Some(status), _) => status.to_owned(),
        };
        vec![row.name(), service, available, row.created()]
    }),
};

pub(crate) const FLOW_SCHEMA: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("PriorityLevel"),
        Column::text("MatchingPrecedence"),
        Column::text("DistinguisherMethod"),
        Column::text("Age"),
        Column::text("MissingPL"),
    ],
    cells: Cells::Json(|row| {
        let mut conditions = row.list("/status/conditions").iter();
        let dangling = conditions.find(|condition| condition["type"] == "Dangling");
        let missing = dangling.and_then(|condition| condition["status"].as_str());
        vec![
            row.name(),
            row.text("/spec/priorityLevelConfiguration/name").to_owned(),
            row.number("/spec/matchingPrecedence").to_string(),
            row.or_none("/spec/distinguisherMethod/type"),
            row.created(),
            missing.unwrap_or("?").to_owned(),
        ]
    }),
};
