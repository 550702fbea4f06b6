//! ConfigMaps, Secrets, ServiceAccounts, PriorityClasses and the kinds of permissions.

use super::{DescribePage, show};
use crate::api::base64;
use crate::kubectl::printers;
use serde_json::Value;

pub fn config_map(page: &mut DescribePage<'_>) {
    page.name();
    page.labels();
    page.annotations();
    page.line("\nData\n====");
    for (key, value) in page.row.at("/data").as_object().into_iter().flatten() {
        page.line(format!("{key}:\n----\n{}\n", show(value)));
    }
    page.line("\nBinaryData\n====");
    for (key, value) in page.row.at("/binaryData").as_object().into_iter().flatten() {
        page.line(format!("{key}: {} bytes", length(value)));
    }
    page.line("");
}

fn length(value: &Value) -> usize {
    value.as_str().and_then(base64::bytes).map_or(0, |bytes| bytes.len())
}

/// Keys with the number of their bytes; never a value, but a token's.
pub fn secret(page: &mut DescribePage<'_>) {
    page.name();
    page.labels();
    page.annotations();
    let row = page.row;
    let kind = row.text("/type");
    page.line(format!("\nType:\t{kind}\n\nData\n===="));
    for (key, value) in row.at("/data").as_object().into_iter().flatten() {
        if key == "token" && kind == "kubernetes.io/service-account-token" {
            page.field(key, base64::decoded(value.as_str().unwrap_or("")));
        } else {
            page.field(key, format!("{} bytes", length(value)));
        }
    }
}

pub fn account(page: &mut DescribePage<'_>) {
    page.name();
    page.labels();
    page.annotations();
    let names: Vec<String> = page.row.list("/imagePullSecrets").iter().map(|secret| show(&secret["name"])).collect();
    page.field("Image pull secrets", if names.is_empty() { "<none>".to_owned() } else { names.join("\n                   \t") });
}

pub fn priority_class(page: &mut DescribePage<'_>) {
    let row = page.row;
    page.field("Name", row.text("/metadata/name"));
    page.field("Value", row.number("/value"));
    page.field("GlobalDefault", row.at("/globalDefault") == true);
    page.field("PreemptionPolicy", row.text("/preemptionPolicy"));
    page.field("Description", row.text("/description"));
    page.field("Annotations", printers::pairs(row.at("/metadata/annotations")));
}

fn head(page: &mut DescribePage<'_>) {
    page.field("Name", page.row.text("/metadata/name").to_owned());
    page.labels();
    page.annotations();
}

/// Rules, one line for each resource.
pub fn role(page: &mut DescribePage<'_>) {
    head(page);
    page.line("PolicyRule:\n  Resources\tNon-Resource URLs\tResource Names\tVerbs\n  ---------\t-----------------\t--------------\t-----");
    let words = |rule: &Value, field: &str| -> Vec<String> { rule[field].as_array().into_iter().flatten().map(show).collect() };
    let mut lines: Vec<String> = Vec::new();
    for rule in page.row.list("/rules") {
        let tail = format!(
            "[{}]\t[{}]\t[{}]",
            words(rule, "nonResourceURLs").join(" "),
            words(rule, "resourceNames").join(" "),
            words(rule, "verbs").join(" ")
        );
        let mut names: Vec<String> = Vec::new();
        for group in words(rule, "apiGroups") {
            let of = |resource: String| match resource.split_once('/') {
                _ if group.is_empty() => resource,
                Some((resource, sub)) => format!("{resource}.{group}/{sub}"),
                None => format!("{resource}.{group}"),
            };
            names.extend(words(rule, "resources").into_iter().map(of));
        }
        if names.is_empty() {
            names.push(String::new());
        }
        lines.extend(names.into_iter().map(|name| format!("  {name}\t{tail}")));
    }
    crate::sort::sort(&mut lines);
    lines.iter().for_each(|line| page.line(line));
}

pub fn binding(page: &mut DescribePage<'_>) {
    head(page);
    let row = page.row;
    page.line(format!("Role:\n  Kind:\t{}\n  Name:\t{}", row.text("/roleRef/kind"), row.text("/roleRef/name")));
    page.line("Subjects:\n  Kind\tName\tNamespace\n  ----\t----\t---------");
    for subject in row.list("/subjects") {
        let text = |field: &str| subject[field].as_str().unwrap_or("");
        page.line(format!("  {}\t{}\t{}", text("kind"), text("name"), text("namespace")));
    }
}
