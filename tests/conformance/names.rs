//! Masks what chance decides: pod suffixes, template hashes, revisions, volume names.

use super::facts::Run;
use regex::Regex;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;

static TIME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)").unwrap()
});
static UUID: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b").unwrap()
});
static TOKEN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(kube-api-access-)[a-z0-9]{5}\b").unwrap());
static REFUSED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"(pods "[\w.<>-]+-)[a-z0-9]{5}(" is forbidden)"#).unwrap());

/// What is masked in one run.
#[derive(Default)]
pub struct Names {
    table: BTreeMap<String, String>,
    short: BTreeMap<String, String>,
    ips: BTreeMap<String, String>,
    /// The first minute of each CronJob's Jobs.
    minutes: BTreeMap<String, i64>,
    pub hashes: Vec<String>,
    pub revisions: Vec<String>,
}

impl Names {
    pub fn of(run: &Run) -> Names {
        let mut names = Names::default();
        for item in &run.items {
            names.learn(item.kind(), item.name(), &item.object);
        }
        for (i, hash) in names.hashes.iter().enumerate() {
            names.short.insert(hash.clone(), format!("<h{}>", i + 1));
        }
        for (i, revision) in names.revisions.iter().enumerate() {
            names
                .short
                .insert(revision.clone(), format!("<c{}>", i + 1));
        }
        names
    }

    fn learn(&mut self, kind: &str, name: &str, object: &Value) {
        let meta = &object["metadata"];
        let owner = meta["ownerReferences"]
            .as_array()
            .and_then(|list| list.iter().find(|o| o["controller"] == true));
        match kind {
            "ReplicaSet" => remember(
                &mut self.hashes,
                meta["labels"]["pod-template-hash"].as_str(),
            ),
            "ControllerRevision" => remember(&mut self.revisions, name.rsplit('-').next()),
            "PersistentVolume" if name.starts_with("pvc-") => {
                let claim = object
                    .pointer("/spec/claimRef/name")
                    .and_then(Value::as_str)
                    .unwrap_or("?");
                self.table.insert(name.into(), format!("pvc-<{claim}>"));
            }
            _ => {}
        }
        if let Some(cron) = owner
            .filter(|o| kind == "Job" && o["kind"] == "CronJob")
            .and_then(|o| o["name"].as_str())
            && let Some(minute) = name.rsplit('-').next().and_then(|n| n.parse::<i64>().ok())
        {
            let first = *self.minutes.entry(cron.into()).or_insert(minute);
            self.table
                .insert(name.into(), format!("{cron}-<m{}>", minute - first));
        }
        if let Some(prefix) = meta["generateName"].as_str()
            && name.starts_with(prefix)
            && owner.is_none_or(|o| o["kind"] != "StatefulSet")
        {
            self.table.insert(name.into(), format!("{prefix}<r>"));
        }
        if let (true, Some(ip)) = (
            kind == "Pod" && object["spec"]["hostNetwork"] != true,
            object["status"]["podIP"].as_str(),
        ) {
            self.ips.insert(ip.into(), name.into());
        }
    }

    /// The text with every chance word masked.
    pub fn sub(&self, text: &str) -> String {
        let known = |text: &str| {
            replace(
                text,
                &self.table,
                |c| c.is_alphanumeric() || c == '_' || c == '-',
                |c| c.is_ascii_alphanumeric(),
            )
        };
        // The name of a Job's Pod holds the name of the Job.
        let text = known(&known(text));
        let edge = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let text = replace(&text, &self.short, edge, edge);
        let text = TOKEN.replace_all(&text, "${1}<r>");
        let text = REFUSED.replace_all(&text, "${1}<r>$2");
        let text = TIME.replace_all(&text, "<time>");
        UUID.replace_all(&text, "<uid>").into_owned()
    }

    /// `<ip of POD>` for a Pod's address.
    pub fn ip(&self, address: &str) -> String {
        self.ips.get(address).map_or_else(
            || address.into(),
            |pod| format!("<ip of {}>", self.sub(pod)),
        )
    }
}

fn remember(known: &mut Vec<String>, value: Option<&str>) {
    if let Some(value) = value.filter(|v| !known.iter().any(|k| k == v)) {
        known.push(value.into());
    }
}

/// Replaces whole words, longest first: not after a character of `before`, not before one of `after`.
fn replace(
    text: &str,
    table: &BTreeMap<String, String>,
    before: impl Fn(char) -> bool,
    after: impl Fn(char) -> bool,
) -> String {
    let mut words: Vec<(&String, &String)> = table
        .iter()
        .filter(|(word, _)| text.contains(word.as_str()))
        .collect();
    words.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
    if words.is_empty() {
        return text.into();
    }
    let mut out = String::new();
    let mut rest = text;
    let mut last: Option<char> = None;
    while let Some(c) = rest.chars().next() {
        let free = last.is_none_or(|l| !before(l));
        let hit = words.iter().find(|(word, _)| {
            free && rest.starts_with(word.as_str())
                && rest[word.len()..].chars().next().is_none_or(|n| !after(n))
        });
        if let Some((word, mask)) = hit {
            out.push_str(mask);
            last = word.chars().last();
            rest = &rest[word.len()..];
        } else {
            out.push(c);
            last = Some(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}
