//! Rows of Services, Endpoints, EndpointSlices and Ingresses.

use super::{Cells, Column, Printer, TableRow, or_none, pairs};
use serde_json::Value;

pub(crate) const SERVICE: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("Type"),
        Column::text("Cluster-IP"),
        Column::text("External-IP"),
        Column::text("Port(s)"),
        Column::text("Age"),
        Column::text("Selector").wide(),
    ],
    cells: Cells::Json(service),
};

pub(crate) const ENDPOINTS: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("Endpoints"),
        Column::text("Age"),
    ],
    cells: Cells::Json(endpoints),
};

pub(crate) const ENDPOINT_SLICE: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("AddressType"),
        Column::text("Ports"),
        Column::text("Endpoints"),
        Column::text("Age"),
    ],
    cells: Cells::Json(slice),
};

pub(crate) const INGRESS: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("Class"),
        Column::text("Hosts"),
        Column::text("Address"),
        Column::text("Ports"),
        Column::text("Age"),
    ],
    cells: Cells::Json(ingress),
};

pub(crate) const NETWORK_POLICY: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("Pod-Selector"),
        Column::text("Age"),
    ],
    cells: Cells::Json(|row| {
        vec![
            row.name(),
            super::selector(row.at("/spec/podSelector")),
            row.created(),
        ]
    }),
};

fn service(row: TableRow<'_>) -> Vec<String> {
    let kind = row.text("/spec/type");
    let external = match kind {
        "LoadBalancer" => {
            let all = row
                .list("/status/loadBalancer/ingress")
                .iter()
                .filter_map(|i| i["ip"].as_str().or(i["hostname"].as_str()));
            let all = all.collect::<Vec<_>>().join(",");
            if all.is_empty() {
                "<pending>".to_owned()
            } else {
                all
            }
        }
        "ExternalName" => row.text("/spec/externalName").to_owned(),
        _ => {
            let all: Vec<&str> = row
                .list("/spec/externalIPs")
                .iter()
                .filter_map(Value::as_str)
                .collect();
            or_none(&all.join(","))
        }
    };
    vec![
        row.name(),
        kind.to_owned(),
        row.or_none("/spec/clusterIP"),
        external,
        ports(row),
        row.created(),
        pairs(row.at("/spec/selector")),
    ]
}

fn ports(row: TableRow<'_>) -> String {
    let one = |port: &Value| {
        let (number, protocol) = (
            port["port"].as_i64().unwrap_or(0),
            port["protocol"].as_str().unwrap_or(""),
        );
        match port["nodePort"].as_i64().unwrap_or(0) {
            0 => format!("{number}/{protocol}"),
            node => format!("{number}:{node}/{protocol}"),
        }
    };
    or_none(
        &row.list("/spec/ports")
            .iter()
            .map(one)
            .collect::<Vec<_>>()
            .join(","),
    )
}

/// Formats addresses as `10.244.1.2:80,…`, three at most.
pub fn endpoint_list(object: &Value) -> String {
    let mut all = Vec::new();
    for subset in object["subsets"].as_array().into_iter().flatten() {
        let addresses = subset["addresses"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        let ports = subset["ports"].as_array().map_or(&[][..], Vec::as_slice);
        for port in ports {
            let number = port["port"].as_i64().unwrap_or(0);
            all.extend(
                addresses
                    .iter()
                    .map(|a| format!("{}:{number}", a["ip"].as_str().unwrap_or(""))),
            );
        }
        if ports.is_empty() {
            all.extend(
                addresses
                    .iter()
                    .map(|a| a["ip"].as_str().unwrap_or("").to_owned()),
            );
        }
    }
    shortened(all)
}

/// Formats the first three of a list.
pub fn shortened(all: Vec<String>) -> String {
    match all.len() {
        0 => "<none>".to_owned(),
        count if count > 3 => format!("{} + {} more...", all[..3].join(","), count - 3),
        _ => all.join(","),
    }
}

fn endpoints(row: TableRow<'_>) -> Vec<String> {
    vec![row.name(), endpoint_list(row.object), row.created()]
}

fn slice(row: TableRow<'_>) -> Vec<String> {
    let ports: Vec<String> = row
        .list("/ports")
        .iter()
        .map(|p| p["port"].as_i64().map_or("*".to_owned(), |n| n.to_string()))
        .collect();
    let addresses = row
        .list("/endpoints")
        .iter()
        .flat_map(|e| e["addresses"].as_array().into_iter().flatten());
    let addresses: Vec<String> = addresses
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    let unset = |text: String| {
        if text == "<none>" {
            "<unset>".to_owned()
        } else {
            text
        }
    };
    vec![
        row.name(),
        row.text("/addressType").to_owned(),
        unset(shortened(ports)),
        unset(shortened(addresses)),
        row.created(),
    ]
}

fn ingress(row: TableRow<'_>) -> Vec<String> {
    let hosts: Vec<&str> = row
        .list("/spec/rules")
        .iter()
        .filter_map(|r| r["host"].as_str())
        .collect();
    let hosts = if hosts.is_empty() {
        "*".to_owned()
    } else {
        hosts.join(",")
    };
    let ports = if row.list("/spec/tls").is_empty() {
        "80"
    } else {
        "80, 443"
    };
    let address = |one: &Value| {
        one["ip"]
            .as_str()
            .filter(|ip| !ip.is_empty())
            .or(one["hostname"].as_str())
            .map(str::to_owned)
    };
    let addresses: Vec<String> = row
        .list("/status/loadBalancer/ingress")
        .iter()
        .filter_map(address)
        .collect();
    vec![
        row.name(),
        row.or_none("/spec/ingressClassName"),
        hosts,
        addresses.join(","),
        ports.to_owned(),
        row.created(),
    ]
}
