//! Descriptions of Services, Endpoints and EndpointSlices.

use super::{DescribePage, show};
use crate::printers;
use k8s_model::Kind;
use k8s_model::network::SERVICE_NAME;
use serde_json::Value;

pub fn service(page: &mut DescribePage<'_>) {
    let row = page.row;
    page.name();
    page.labels();
    page.annotations();
    page.field("Selector", printers::pairs(row.at("/spec/selector")));
    let kind = row.text("/spec/type");
    page.field("Type", kind);
    if !row.text("/spec/ipFamilyPolicy").is_empty() {
        page.field("IP Family Policy", row.text("/spec/ipFamilyPolicy"));
    }
    let join = |path: &str| {
        let all: Vec<&str> = row.list(path).iter().filter_map(Value::as_str).collect();
        printers::or_none(&all.join(","))
    };
    page.field("IP Families", join("/spec/ipFamilies"));
    page.field("IP", row.text("/spec/clusterIP"));
    page.field("IPs", join("/spec/clusterIPs"));
    if !row.text("/spec/externalName").is_empty() {
        page.field("External Name", row.text("/spec/externalName"));
    }
    for port in row.list("/spec/ports") {
        let name = port["name"].as_str().unwrap_or("<unset>");
        let protocol = port["protocol"].as_str().unwrap_or("TCP");
        page.field(
            "Port",
            format!("{name}\t{}/{protocol}", show(&port["port"])),
        );
        page.field(
            "TargetPort",
            format!("{}/{protocol}", show(&port["targetPort"])),
        );
        if let Some(number) = port["nodePort"].as_i64().filter(|n| *n != 0) {
            page.field("NodePort", format!("{name}\t{number}/{protocol}"));
        }
        page.field(
            "Endpoints",
            addresses(
                page,
                row.text("/metadata/name"),
                port["name"].as_str().unwrap_or(""),
            ),
        );
    }
    page.field("Session Affinity", row.text("/spec/sessionAffinity"));
    for (title, path) in [
        ("External Traffic Policy", "/spec/externalTrafficPolicy"),
        ("Internal Traffic Policy", "/spec/internalTrafficPolicy"),
    ] {
        if !row.text(path).is_empty() {
            page.field(title, row.text(path));
        }
    }
    if row.number("/spec/healthCheckNodePort") != 0 {
        page.field(
            "HealthCheck NodePort",
            row.number("/spec/healthCheckNodePort"),
        );
    }
}

/// Formats the ready addresses behind a port of a Service, three at most.
pub fn addresses(page: &DescribePage<'_>, service: &str, name: &str) -> String {
    let row = page.row;
    let (mut all, mut sliced) = (Vec::new(), false);
    for slice in page.list(Kind::EndpointSlice, row.text("/metadata/namespace")) {
        if slice["metadata"]["labels"][SERVICE_NAME] != service {
            continue;
        }
        sliced = true;
        let ports = slice["ports"].as_array().into_iter().flatten();
        let Some(number) = ports
            .into_iter()
            .find(|p| p["name"].as_str().unwrap_or("") == name)
            .and_then(|p| p["port"].as_i64())
        else {
            continue;
        };
        for endpoint in slice["endpoints"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|e| e["conditions"]["ready"] != false)
        {
            all.extend(
                endpoint["addresses"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(|a| format!("{}:{number}", show(a))),
            );
        }
    }
    if all.is_empty() && sliced {
        String::new()
    } else {
        printers::shortened(all)
    }
}

pub fn endpoints(page: &mut DescribePage<'_>) {
    page.name();
    page.labels();
    page.annotations();
    page.line("Subsets:");
    for subset in page.row.list("/subsets") {
        for (title, name) in [
            ("Addresses", "addresses"),
            ("NotReadyAddresses", "notReadyAddresses"),
        ] {
            let all: Vec<String> = subset[name]
                .as_array()
                .into_iter()
                .flatten()
                .map(|a| show(&a["ip"]))
                .collect();
            page.line(format!("  {title}:\t{}", printers::or_none(&all.join(","))));
        }
        page.line("  Ports:\n    Name\tPort\tProtocol\n    ----\t----\t--------");
        for port in subset["ports"].as_array().into_iter().flatten() {
            page.line(format!(
                "    {}\t{}\t{}",
                port["name"].as_str().unwrap_or("<unset>"),
                show(&port["port"]),
                show(&port["protocol"])
            ));
        }
    }
    page.line("");
}

pub fn slice(page: &mut DescribePage<'_>) {
    let row = page.row;
    page.name();
    page.labels();
    page.annotations();
    page.field("AddressType", row.text("/addressType"));
    page.line("Ports:\n  Name\tPort\tProtocol\n  ----\t----\t--------");
    let unset = |value: &Value| {
        value
            .as_str()
            .filter(|text| !text.is_empty())
            .unwrap_or("<unset>")
            .to_owned()
    };
    for port in row.list("/ports") {
        page.line(format!(
            "  {}\t{}\t{}",
            unset(&port["name"]),
            show(&port["port"]),
            show(&port["protocol"])
        ));
    }
    page.line("Endpoints:");
    for endpoint in row.list("/endpoints") {
        let all: Vec<String> = endpoint["addresses"]
            .as_array()
            .into_iter()
            .flatten()
            .map(show)
            .collect();
        page.line(format!(
            "  - Addresses:\t{}\n    Conditions:",
            all.join(", ")
        ));
        page.line(format!(
            "      Ready:\t{}",
            endpoint["conditions"]["ready"] != false
        ));
        page.line(format!("    Hostname:\t{}", unset(&endpoint["hostname"])));
        let target = &endpoint["targetRef"];
        if target.is_object() {
            page.line(format!(
                "    TargetRef:\t{}/{}",
                show(&target["kind"]),
                show(&target["name"])
            ));
        }
        page.line(format!("    NodeName:\t{}", unset(&endpoint["nodeName"])));
        page.line(format!("    Zone:\t{}", unset(&endpoint["zone"])));
    }
}
