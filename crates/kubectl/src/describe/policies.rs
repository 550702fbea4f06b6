//! Descriptions of Ingresses, NetworkPolicies, quotas, limits, namespaces, and kinds without a describer.

use super::network::addresses;
use super::{DescribePage, show};
use crate::printers;
use k8s_model::Kind;
use serde_json::Value;

pub fn ingress(page: &mut DescribePage<'_>) {
    let row = page.row;
    page.field("Name", row.text("/metadata/name"));
    page.labels();
    page.field("Namespace", row.text("/metadata/namespace"));
    let mut found: Vec<String> = row
        .list("/status/loadBalancer/ingress")
        .iter()
        .filter_map(|place| {
            place["ip"]
                .as_str()
                .or(place["hostname"].as_str())
                .map(str::to_owned)
        })
        .collect();
    found.sort();
    page.field("Address", found.join(","));
    page.field(
        "Ingress Class",
        printers::or_none(row.text("/spec/ingressClassName")),
    );
    let default = row.at("/spec/defaultBackend");
    let default = if default.is_null() {
        "<default>".to_owned()
    } else {
        backend(page, default)
    };
    page.field("Default backend", &default);
    let hosts = |tls: &Value| {
        tls["hosts"]
            .as_array()
            .into_iter()
            .flatten()
            .map(show)
            .collect::<Vec<_>>()
            .join(",")
    };
    if !row.list("/spec/tls").is_empty() {
        page.line("TLS:");
    }
    for tls in row.list("/spec/tls") {
        page.line(match tls["secretName"].as_str().unwrap_or("") {
            "" => format!("  SNI routes {}", hosts(tls)),
            secret => format!("  {secret} terminates {}", hosts(tls)),
        });
    }
    page.line("Rules:\n  Host\tPath\tBackends\n  ----\t----\t--------");
    let rules: Vec<&Value> = row
        .list("/spec/rules")
        .iter()
        .filter(|rule| rule["http"].is_object())
        .collect();
    for rule in &rules {
        page.line(format!(
            "  {}\t",
            rule["host"]
                .as_str()
                .filter(|host| !host.is_empty())
                .unwrap_or("*")
        ));
        for path in rule["http"]["paths"].as_array().into_iter().flatten() {
            let line = format!(
                "    \t{} \t{}",
                path["path"].as_str().unwrap_or(""),
                backend(page, &path["backend"])
            );
            page.line(line);
        }
    }
    if rules.is_empty() {
        page.line(format!("  *\t*\t{default}"));
    }
    page.annotations();
}

/// Formats a backend, as `service:port (addresses)`.
fn backend(page: &DescribePage<'_>, backend: &Value) -> String {
    let service = &backend["service"];
    if !service.is_object() {
        let resource = &backend["resource"];
        let group = resource["apiGroup"].as_str().unwrap_or("<none>");
        return format!(
            "APIGroup: {group}, Kind: {}, Name: {}",
            show(&resource["kind"]),
            show(&resource["name"])
        );
    }
    let (name, port) = (service["name"].as_str().unwrap_or(""), &service["port"]);
    let wanted = if port["number"].is_null() {
        &port["name"]
    } else {
        &port["number"]
    };
    let key = k8s_model::ObjectRef::new(Kind::Service, page.row.text("/metadata/namespace"), name);
    let Ok(Some(found)) = page.client.find(&key) else {
        return format!(
            "{name}:{} (<error: services {name:?} not found>)",
            show(wanted)
        );
    };
    let named = |p: &&Value| {
        p["port"] == port["number"] || p["name"].is_string() && p["name"] == port["name"]
    };
    let port = found["spec"]["ports"]
        .as_array()
        .and_then(|ports| ports.iter().find(named));
    format!(
        "{name}:{} ({})",
        show(wanted),
        addresses(
            page,
            name,
            port.and_then(|port| port["name"].as_str()).unwrap_or("")
        )
    )
}

pub fn network_policy(page: &mut DescribePage<'_>) {
    page.name();
    let created = page
        .row
        .text("/metadata/creationTimestamp")
        .replace('T', " ")
        .replace('Z', " +0000 UTC");
    page.field("Created on", created);
    page.labels();
    page.annotations();
    let row = page.row;
    let selector = row.at("/spec/podSelector");
    let all = selector.as_object().is_none_or(serde_json::Map::is_empty);
    let chosen = if all {
        "<none> (Allowing the specific traffic to all pods in this namespace)".to_owned()
    } else {
        printers::selector(selector)
    };
    page.line(format!("Spec:\n  PodSelector:     {chosen}"));
    let types: Vec<&str> = row
        .list("/spec/policyTypes")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    for (kind, path, side, what) in [
        ("Ingress", "/spec/ingress", "from", "From"),
        ("Egress", "/spec/egress", "to", "To"),
    ] {
        let word = kind.to_ascii_lowercase();
        if !types.contains(&kind) {
            page.line(format!("  Not affecting {word} traffic"));
            continue;
        }
        page.line(format!("  Allowing {word} traffic:"));
        let rules = row.list(path);
        if rules.is_empty() {
            page.line(format!(
                "    <none> (Selected pods are isolated for {word} connectivity)"
            ));
        }
        for (index, rule) in rules.iter().enumerate() {
            traffic(page, rule, side, what);
            if index + 1 < rules.len() {
                page.line("    ----------");
            }
        }
    }
    page.line(format!("  Policy Types: {}", types.join(", ")));
}

/// Prints the ports and the peers of a rule.
fn traffic(page: &mut DescribePage<'_>, rule: &Value, side: &str, what: &str) {
    let list = |field: &str| {
        rule[field]
            .as_array()
            .map_or(&[][..], Vec::as_slice)
            .to_vec()
    };
    let ports = list("ports");
    if ports.is_empty() {
        page.line("    To Port: <any> (traffic allowed to all ports)");
    }
    for port in ports {
        let protocol = port["protocol"].as_str().unwrap_or("TCP");
        page.line(match port["endPort"].as_i64() {
            Some(end) => format!(
                "    To Port Range: {}-{end}/{protocol}",
                show(&port["port"])
            ),
            None => format!("    To Port: {}/{protocol}", show(&port["port"])),
        });
    }
    let peers = list(side);
    if peers.is_empty() {
        let whom = if side == "from" {
            "source"
        } else {
            "destination"
        };
        page.line(format!(
            "    {what}: <any> (traffic not restricted by {whom})"
        ));
    }
    for peer in peers {
        page.line(format!("    {what}:"));
        for (title, field) in [
            ("NamespaceSelector", "namespaceSelector"),
            ("PodSelector", "podSelector"),
        ] {
            if peer[field].is_object() {
                page.line(format!(
                    "      {title}: {}",
                    printers::selector(&peer[field])
                ));
            }
        }
        if peer["ipBlock"].is_object() {
            let except: Vec<String> = peer["ipBlock"]["except"]
                .as_array()
                .into_iter()
                .flatten()
                .map(show)
                .collect();
            page.line(format!(
                "      IPBlock:\n        CIDR: {}\n        Except: {}",
                show(&peer["ipBlock"]["cidr"]),
                except.join(", ")
            ));
        }
    }
}

/// Returns the description of a scope, in kubectl's words.
fn scope_help(scope: &str) -> &'static str {
    match scope {
        "Terminating" => {
            "Matches all pods that have an active deadline. These pods have a limited lifespan on a node before being actively terminated by \
             the system."
        }
        "NotTerminating" => {
            "Matches all pods that do not have an active deadline. These pods usually include long running pods whose container command is \
             not expected to terminate."
        }
        "BestEffort" => {
            "Matches all pods that do not have resource requirements set. These pods have a best effort quality of service."
        }
        "NotBestEffort" => {
            "Matches all pods that have at least one resource requirement set. These pods have a burstable or guaranteed quality of service."
        }
        _ => "",
    }
}

/// Formats scopes, used and hard amounts; the lines are indented, the ruler and the bullet of a scope differ.
fn amounts(quota: &Value, lead: &str, ruler: &str, bullet: &str) -> String {
    let mut scopes: Vec<&str> = quota["spec"]["scopes"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    scopes.sort();
    let mut text = String::new();
    if !scopes.is_empty() {
        text.push_str(&format!("{lead}Scopes:\t{}\n", scopes.join(", ")));
    }
    for help in scopes
        .iter()
        .map(|scope| scope_help(scope))
        .filter(|help| !help.is_empty())
    {
        text.push_str(&format!("{lead}{bullet}* {help}\n"));
    }
    text.push_str(&format!(
        "{lead}Resource\tUsed\tHard\n{lead}--------\t{ruler}\t{ruler}\n"
    ));
    for (name, hard) in quota["status"]["hard"].as_object().into_iter().flatten() {
        let used = quota["status"]["used"][name.as_str()]
            .as_str()
            .unwrap_or("0");
        text.push_str(&format!("{lead}{name}\t{used}\t{}\n", show(hard)));
    }
    text
}

pub fn quota(page: &mut DescribePage<'_>) {
    page.name();
    page.text
        .push_str(&amounts(page.row.object, "", "----", " "));
}

fn limits(range: &Value, lead: &str) -> String {
    const COLUMNS: [&str; 5] = [
        "min",
        "max",
        "defaultRequest",
        "default",
        "maxLimitRequestRatio",
    ];
    let mut text = String::new();
    for item in range["spec"]["limits"].as_array().into_iter().flatten() {
        let mut names: Vec<&String> = COLUMNS
            .iter()
            .filter_map(|field| item[*field].as_object())
            .flat_map(serde_json::Map::keys)
            .collect();
        names.sort();
        names.dedup();
        for name in names {
            let cells: Vec<&str> = COLUMNS
                .iter()
                .map(|field| item[*field][name.as_str()].as_str().unwrap_or("-"))
                .collect();
            text.push_str(&format!(
                "{lead}{}\t{name}\t{}\n",
                show(&item["type"]),
                cells.join("\t")
            ));
        }
    }
    text
}

fn limits_head(lead: &str) -> String {
    format!(
        "{lead}Type\tResource\tMin\tMax\tDefault Request\tDefault Limit\tMax Limit/Request Ratio\n\
         {lead}----\t--------\t---\t---\t---------------\t-------------\t-----------------------\n"
    )
}

pub fn limit_range(page: &mut DescribePage<'_>) {
    page.name();
    let text = limits_head("") + &limits(page.row.object, "");
    page.text.push_str(&text);
}

pub fn namespace(page: &mut DescribePage<'_>) {
    let row = page.row;
    let name = row.text("/metadata/name");
    page.field("Name", name);
    page.labels();
    page.annotations();
    page.field("Status", row.text("/status/phase"));
    let conditions = row.list("/status/conditions");
    if !conditions.is_empty() {
        page.line("Conditions:\n  Type\tStatus\tLastTransitionTime\tReason\tMessage\n  ----\t------\t------------------\t------\t-------");
        for c in conditions {
            let when = printers::age::long(c["lastTransitionTime"].as_str().unwrap_or(""));
            page.line(format!(
                "  {}\t{}\t{when}\t{}\t{}",
                show(&c["type"]),
                show(&c["status"]),
                show(&c["reason"]),
                show(&c["message"])
            ));
        }
    }
    let quotas = page.list(Kind::ResourceQuota, name);
    page.line(if quotas.is_empty() {
        "\nNo resource quota."
    } else {
        "\nResource Quotas"
    });
    for quota in &quotas {
        page.line(format!("  Name:\t{}", show(&quota["metadata"]["name"])));
        page.text.push_str(&amounts(quota, "  ", "---", ""));
    }
    let ranges = page.list(Kind::LimitRange, name);
    if ranges.is_empty() {
        return page.line("\nNo LimitRange resource.");
    }
    page.line("\nResource Limits");
    page.text.push_str(&limits_head(" "));
    ranges
        .iter()
        .for_each(|range| page.text.push_str(&limits(range, " ")));
}

/// Prints every field, with a label derived from its name, for a kind without a describer in kubectl.
pub fn other(page: &mut DescribePage<'_>) {
    page.field("Name", page.row.text("/metadata/name").to_owned());
    page.field("Namespace", page.row.text("/metadata/namespace").to_owned());
    page.labels();
    page.annotations();
    let text = fields(page.row.object, 0, "");
    page.text.push_str(&text);
}

const SKIPPED: [&str; 5] = [
    ".metadata.managedFields",
    ".metadata.name",
    ".metadata.namespace",
    ".metadata.labels",
    ".metadata.annotations",
];

fn fields(value: &Value, depth: usize, path: &str) -> String {
    let lead = "  ".repeat(depth);
    let mut text = String::new();
    for (name, value) in value.as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        if SKIPPED.contains(&path.as_str()) {
            continue;
        }
        let label = label(name);
        match value {
            Value::Object(_) => text.push_str(&format!(
                "{lead}{label}:\n{}",
                fields(value, depth + 1, &path)
            )),
            Value::Array(items) => {
                text.push_str(&format!("{lead}{label}:\n"));
                for item in items {
                    let one = || format!("{lead}  {}\n", k8s_model::json::go(item));
                    text.push_str(&if item.is_object() {
                        fields(item, depth + 1, &path)
                    } else {
                        one()
                    });
                }
            }
            other => text.push_str(&format!("{lead}{label}:\t{}\n", k8s_model::json::go(other))),
        }
    }
    text
}

/// Returns the label of a field: `Termination Message Path` for `terminationMessagePath`, `UID` for `uid`; names with non-ASCII letters
/// are unchanged.
fn label(field: &str) -> String {
    if !field.chars().all(|c| c.is_ascii_alphabetic() || c == '-') {
        return field.to_owned();
    }
    let mut parts: Vec<String> = Vec::new();
    let mut upper = false;
    for c in field.chars() {
        // A run of capitals is one word.
        if parts.is_empty() || c.is_ascii_uppercase() && !upper || c == '-' {
            parts.push(String::new());
        }
        upper = c.is_ascii_uppercase();
        if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    let shown = |part: String| {
        let capitals = part.to_ascii_uppercase();
        if matches!(capitals.as_str(), "API" | "URL" | "UID" | "GUID") {
            return capitals;
        }
        let mut letters = part.chars();
        letters
            .next()
            .map(|first| first.to_ascii_uppercase())
            .into_iter()
            .chain(letters)
            .collect()
    };
    parts
        .into_iter()
        .map(shown)
        .collect::<Vec<String>>()
        .join(" ")
}
