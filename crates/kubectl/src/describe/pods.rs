//! Description of a Pod.

use super::{DescribePage, controlled_by, long, template};
use crate::printers::or_none;

pub fn pod(page: &mut DescribePage<'_>) {
    let row = page.row;
    page.name();
    page.field("Priority", row.number("/spec/priority"));
    if !row.text("/spec/priorityClassName").is_empty() {
        page.field("Priority Class Name", row.text("/spec/priorityClassName"));
    }
    page.field("Service Account", row.text("/spec/serviceAccountName"));
    match row.text("/spec/nodeName") {
        "" => page.field("Node", "<none>"),
        node => page.field("Node", format!("{node}/{}", row.text("/status/hostIP"))),
    }
    if !row.text("/status/startTime").is_empty() {
        page.field("Start Time", long(row, "/status/startTime"));
    }
    page.labels();
    page.annotations();
    if row.at("/metadata/deletionTimestamp").is_null() {
        page.field("Status", row.text("/status/phase"));
    } else {
        page.field(
            "Status",
            format!(
                "Terminating (lasts {})",
                row.age("/metadata/deletionTimestamp")
                    .replace("<invalid>", "0s")
            ),
        );
        page.field(
            "Termination Grace Period",
            format!("{}s", row.number("/metadata/deletionGracePeriodSeconds")),
        );
    }
    for (title, path) in [("Reason", "/status/reason"), ("Message", "/status/message")] {
        if !row.text(path).is_empty() {
            page.field(title, row.text(path));
        }
    }
    page.field("IP", row.text("/status/podIP"));
    ips(page);
    if let Some(owner) = controlled_by(row) {
        page.field("Controlled By", owner);
    }
    if !row.text("/status/nominatedNodeName").is_empty() {
        page.field("NominatedNodeName", row.text("/status/nominatedNodeName"));
    }
    containers(page);
    conditions(page);
    let spec = row.at("/spec");
    page.text.push_str(&template::volumes(spec, ""));
    page.field("QoS Class", or_none(row.text("/status/qosClass")));
    page.text.push_str(&template::placement(spec, ""));
    page.text.push_str(&template::spread(spec, ""));
}

fn ips(page: &mut DescribePage<'_>) {
    let all: Vec<&str> = page
        .row
        .list("/status/podIPs")
        .iter()
        .filter_map(|ip| ip["ip"].as_str())
        .collect();
    if all.is_empty() {
        return page.field("IPs", "<none>");
    }
    page.line("IPs:");
    for ip in all {
        page.line(format!("  IP:\t{ip}"));
    }
}

fn containers(page: &mut DescribePage<'_>) {
    let row = page.row;
    let kinds = [
        (
            "Init Containers",
            "/spec/initContainers",
            "/status/initContainerStatuses",
        ),
        (
            "Containers",
            "/spec/containers",
            "/status/containerStatuses",
        ),
        (
            "Ephemeral Containers",
            "/spec/ephemeralContainers",
            "/status/ephemeralContainerStatuses",
        ),
    ];
    for (title, specs, statuses) in kinds {
        if row.list(specs).is_empty() {
            continue;
        }
        page.line(format!("{title}:"));
        for spec in row.list(specs) {
            let status = row
                .list(statuses)
                .iter()
                .find(|status| status["name"] == spec["name"]);
            page.text
                .push_str(&template::container(spec, Some(row.at("")), status, "  "));
        }
    }
}

fn conditions(page: &mut DescribePage<'_>) {
    let all = page.row.list("/status/conditions");
    if all.is_empty() {
        return;
    }
    page.line("Conditions:\n  Type\tStatus");
    for condition in all {
        let text = |name: &str| condition[name].as_str().unwrap_or("").to_owned();
        page.line(format!("  {}\t{} ", text("type"), text("status")));
    }
}
