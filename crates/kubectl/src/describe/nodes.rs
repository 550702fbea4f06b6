//! Descriptions of nodes and PodDisruptionBudgets.

use super::{DescribePage, long, name, show};
use crate::printers::{age, or_none, selector};
use apiserver::ListOptions;
use k8s_model::pod::Pod;
use k8s_model::pod_resources::{self, PodResourcesOptions, ResourceList};
use k8s_model::quantity::Quantity;
use k8s_model::{Kind, Object, ObjectRef};
use serde_json::Value;
use std::rc::Rc;

pub fn node(page: &mut DescribePage<'_>) {
    let row = page.row;
    page.name();
    let roles: Vec<&str> = row
        .at("/metadata/labels")
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(k, _)| k.strip_prefix("node-role.kubernetes.io/"))
        .collect();
    page.field("Roles", or_none(&roles.join(",")));
    page.labels();
    page.annotations();
    page.field(
        "CreationTimestamp",
        long(row, "/metadata/creationTimestamp"),
    );
    let taint = |taint: &Value| {
        let value = taint["value"]
            .as_str()
            .map_or(String::new(), |value| format!("={value}"));
        format!("{}{value}:{}", show(&taint["key"]), show(&taint["effect"]))
    };
    let taints: Vec<String> = row.list("/spec/taints").iter().map(taint).collect();
    page.field(
        "Taints",
        if taints.is_empty() {
            "<none>".to_owned()
        } else {
            taints.join("\n\t")
        },
    );
    page.field("Unschedulable", row.at("/spec/unschedulable") == true);
    lease(page);
    page.line(
        "Conditions:\n  Type\tStatus\tLastHeartbeatTime\tLastTransitionTime\tReason\tMessage",
    );
    page.line("  ----\t------\t-----------------\t------------------\t------\t-------");
    for c in row.list("/status/conditions") {
        let time = |name: &str| crate::printers::age::long(c[name].as_str().unwrap_or(""));
        let (beat, change) = (time("lastHeartbeatTime"), time("lastTransitionTime"));
        page.line(format!(
            "  {} \t{} \t{beat} \t{change} \t{} \t{}",
            show(&c["type"]),
            show(&c["status"]),
            show(&c["reason"]),
            show(&c["message"])
        ));
    }
    page.line("Addresses:");
    for address in row.list("/status/addresses") {
        page.line(format!(
            "  {}:\t{}",
            show(&address["type"]),
            show(&address["address"])
        ));
    }
    for (title, path) in [
        ("Capacity", "/status/capacity"),
        ("Allocatable", "/status/allocatable"),
    ] {
        page.line(format!("{title}:"));
        for (name, amount) in row.at(path).as_object().into_iter().flatten() {
            page.line(format!("  {name}:\t{}", show(amount)));
        }
    }
    info(page);
    pods(page);
}

fn lease(page: &mut DescribePage<'_>) {
    let holder = name(page.row.object);
    let Ok(Some(lease)) =
        page.client
            .find(&ObjectRef::new(Kind::Lease, "kube-node-lease", &holder))
    else {
        return page.line(format!(
            "Lease:\tFailed to get lease: leases.coordination.k8s.io \"{holder}\" not found"
        ));
    };
    page.line("Lease:");
    page.line(format!(
        "  HolderIdentity:\t{}",
        show(&lease["spec"]["holderIdentity"])
    ));
    page.line("  AcquireTime:\t<unset>");
    page.line(format!(
        "  RenewTime:\t{}",
        age::long(lease["spec"]["renewTime"].as_str().unwrap_or(""))
    ));
}

fn info(page: &mut DescribePage<'_>) {
    let row = page.row;
    page.line("System Info:");
    for (title, field) in [
        ("Machine ID", "machineID"),
        ("System UUID", "systemUUID"),
        ("Boot ID", "bootID"),
        ("Kernel Version", "kernelVersion"),
        ("OS Image", "osImage"),
        ("Operating System", "operatingSystem"),
        ("Architecture", "architecture"),
        ("Container Runtime Version", "containerRuntimeVersion"),
        ("Kubelet Version", "kubeletVersion"),
    ] {
        page.line(format!(
            "  {title}:\t{}",
            row.text(&format!("/status/nodeInfo/{field}"))
        ));
    }
    if !row.text("/spec/podCIDR").is_empty() {
        page.field("PodCIDR", row.text("/spec/podCIDR"));
        let all: Vec<String> = row.list("/spec/podCIDRs").iter().map(show).collect();
        page.field("PodCIDRs", all.join(","));
    }
}

fn amount_of(list: &ResourceList, name: &str) -> Quantity {
    list.get(name).copied().unwrap_or(Quantity::ZERO)
}

fn share(amount: Quantity, page: &DescribePage<'_>, name: &str) -> String {
    let all = Quantity::parse(
        page.row.at("/status/allocatable")[name]
            .as_str()
            .unwrap_or("0"),
    )
    .unwrap_or(Quantity::ZERO);
    let percent = if all.is_zero() {
        0
    } else {
        (i128::from(amount.as_millis()) * 100 / i128::from(all.as_millis().max(1))) as i64
    };
    format!("{amount} ({percent}%)")
}

fn pods(page: &mut DescribePage<'_>) {
    let row = page.row;
    // As upstream selects them, but without a field selector, which needs the JSON of each Pod.
    let pods = page.client.listing(Kind::Pod, "", ListOptions::default());
    let is_shown = |object: &Rc<Object>| {
        let pod: &Pod = object.body();
        pod.node_name == row.text("/metadata/name") && !pod.is_terminal()
    };
    let all: Vec<Rc<Object>> = pods.into_iter().flatten().filter(is_shown).collect();
    page.field("Non-terminated Pods", format!("({} in total)", all.len()));
    page.line("  Namespace\tName\t\tCPU Requests\tCPU Limits\tMemory Requests\tMemory Limits\tAge");
    page.line("  ---------\t----\t\t------------\t----------\t---------------\t-------------\t---");
    let (mut requests, mut limits) = (ResourceList::new(), ResourceList::new());
    for object in &all {
        let pod: &Pod = object.body();
        let options = PodResourcesOptions {
            status: Some(&pod.status),
            ..Default::default()
        };
        let own = [
            pod.spec.total_requests(options),
            pod.spec.total_limits(options),
        ];
        let cells = ["cpu", "memory"].map(|name| {
            let cells = own
                .each_ref()
                .map(|of| share(amount_of(of, name), page, name));
            cells.join("\t")
        });
        let created = object.meta.creation_timestamp.unwrap_or_default();
        let age = age::human(row.now - created.seconds());
        page.line(format!(
            "  {}\t{}\t\t{}\t{age}",
            object.meta.namespace,
            object.meta.name,
            cells.join("\t")
        ));
        // Totals read the specs only.
        let options = PodResourcesOptions::default();
        pod_resources::add(&mut requests, pod.spec.total_requests(options));
        pod_resources::add(&mut limits, pod.spec.total_limits(options));
    }
    page.line("Allocated resources:\n  (Total limits may be over 100 percent, i.e., overcommitted.)\n  Resource\tRequests\tLimits\n  --------\t--------\t------");
    for resource in ["cpu", "memory", "ephemeral-storage"] {
        let line = format!(
            "  {resource}\t{}\t{}",
            share(amount_of(&requests, resource), page, resource),
            share(amount_of(&limits, resource), page, resource)
        );
        page.line(line);
    }
    let allocatable = row.at("/status/allocatable").as_object();
    let mut extended: Vec<&String> = allocatable
        .into_iter()
        .flat_map(|list| list.keys())
        .filter(|name| name.contains('/'))
        .collect();
    extended.sort();
    for resource in extended {
        page.line(format!(
            "  {resource}\t{}\t{}",
            amount_of(&requests, resource),
            amount_of(&limits, resource)
        ));
    }
}

pub fn budget(page: &mut DescribePage<'_>) {
    let row = page.row;
    page.name();
    for (title, path) in [
        ("Min available", "/spec/minAvailable"),
        ("Max unavailable", "/spec/maxUnavailable"),
    ] {
        if !row.at(path).is_null() {
            page.field(title, show(row.at(path)));
        }
    }
    let selects = row.at("/spec/selector");
    page.field(
        "Selector",
        if selects.is_null() {
            "<unset>".into()
        } else {
            selector(selects)
        },
    );
    page.line("Status:");
    for (title, field) in [
        ("Allowed disruptions", "disruptionsAllowed"),
        ("Current", "currentHealthy"),
        ("Desired", "desiredHealthy"),
        ("Total", "expectedPods"),
    ] {
        page.line(format!(
            "    {title}:\t{}",
            row.number(&format!("/status/{field}"))
        ));
    }
}
