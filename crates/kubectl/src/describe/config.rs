//! Descriptions of ConfigMaps, Secrets, ServiceAccounts, PriorityClasses and RBAC kinds.

use super::{DescribePage, show};
use crate::printers;
use apiserver::PolicyRule;
use k8s_model::base64;
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
    value
        .as_str()
        .and_then(base64::bytes)
        .map_or(0, |bytes| bytes.len())
}

/// Prints keys with the size of their values in bytes; values are hidden, except for tokens.
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
    let names: Vec<String> = page
        .row
        .list("/imagePullSecrets")
        .iter()
        .map(|secret| show(&secret["name"]))
        .collect();
    page.field(
        "Image pull secrets",
        if names.is_empty() {
            "<none>".to_owned()
        } else {
            names.join("\n                   \t")
        },
    );
}

pub fn priority_class(page: &mut DescribePage<'_>) {
    let row = page.row;
    page.field("Name", row.text("/metadata/name"));
    page.field("Value", row.number("/value"));
    page.field("GlobalDefault", row.at("/globalDefault") == true);
    page.field("PreemptionPolicy", row.text("/preemptionPolicy"));
    page.field("Description", row.text("/description"));
    page.field(
        "Annotations",
        printers::pairs(row.at("/metadata/annotations")),
    );
}

fn head(page: &mut DescribePage<'_>) {
    page.field("Name", page.row.text("/metadata/name").to_owned());
    page.labels();
    page.annotations();
}

/// Prints the rules, one line for each resource.
pub fn role(page: &mut DescribePage<'_>) {
    head(page);
    page.line("PolicyRule:\n  Resources\tNon-Resource URLs\tResource Names\tVerbs\n  ---------\t-----------------\t--------------\t-----");
    let rules = page.row.list("/rules").iter().map(PolicyRule::read);
    let single = |rule: PolicyRule| -> Vec<PolicyRule> {
        if !rule.urls.is_empty() {
            return vec![rule];
        }
        let one = |group: &String, resource: &String| {
            let (groups, resources) = (vec![group.clone()], vec![resource.clone()]);
            PolicyRule {
                groups,
                resources,
                ..rule.clone()
            }
        };
        rule.groups
            .iter()
            .flat_map(|group| {
                rule.resources
                    .iter()
                    .map(move |resource| one(group, resource))
            })
            .collect()
    };
    page.text
        .push_str(&policy_rules(rules.flat_map(single).collect(), "  "));
}

/// Formats rules in rows, sorted as kubectl does: by verbs, then by groups and resources.
pub fn policy_rules(mut rules: Vec<PolicyRule>, indent: &str) -> String {
    let list = |words: &[String]| format!("[{}]", words.join(" "));
    let rank = |r: &PolicyRule| {
        [&r.verbs, &r.groups, &r.resources, &r.names, &r.urls]
            .map(|words| list(words))
            .join(",")
    };
    rules.sort_by_key(rank);
    let mut text = String::new();
    for rule in rules {
        let group = rule.groups.first().filter(|group| !group.is_empty());
        let named = rule.resources.first().map_or(String::new(), |resource| {
            match (resource.split_once('/'), group) {
                (_, None) => resource.clone(),
                (Some((resource, part)), Some(group)) => format!("{resource}.{group}/{part}"),
                (None, Some(group)) => format!("{resource}.{group}"),
            }
        });
        text.push_str(&format!(
            "{indent}{named}\t{}\t{}\t{}\n",
            list(&rule.urls),
            list(&rule.names),
            list(&rule.verbs)
        ));
    }
    text
}

pub fn binding(page: &mut DescribePage<'_>) {
    head(page);
    let row = page.row;
    page.line(format!(
        "Role:\n  Kind:\t{}\n  Name:\t{}",
        row.text("/roleRef/kind"),
        row.text("/roleRef/name")
    ));
    page.line("Subjects:\n  Kind\tName\tNamespace\n  ----\t----\t---------");
    for subject in row.list("/subjects") {
        let text = |field: &str| subject[field].as_str().unwrap_or("");
        page.line(format!(
            "  {}\t{}\t{}",
            text("kind"),
            text("name"),
            text("namespace")
        ));
    }
}
