//! `kubectl describe`: everything about an object in sections, with its Events.

mod batch;
mod network;
mod nodes;
mod pods;
mod storage;
pub mod template;
mod workloads;

use super::client::Client;
use super::parse::Args;
use super::printers::{self, Row, age, or_none, tabs};
use super::targets::{Targets, name_of};
use super::{Failure, Task};
use crate::api::Kind;
use serde_json::Value;

const FLAGS: &str = "selector/l= field-selector= all-namespaces/A all show-events filename/f= chunk-size=";

pub fn run(client: &mut Client<'_>, words: &[String]) -> Result<Task, Failure> {
    let args = Args::parse("describe", FLAGS, words)?;
    client.use_flags(&args);
    if args.words.is_empty() {
        return Err(Failure::error(
            "You must specify the type of resource to describe. Use \"kubectl api-resources\" for a complete list of supported resources.",
        ));
    }
    let targets = Targets::parse(client, &args, &args.words)?;
    let objects = targets.fetch(client);
    if objects.is_empty() && !client.failed {
        client.warn(format!("No resources found in {} namespace.", client.namespace));
    }
    let endpoints = objects.iter().any(|(kind, _)| *kind == Kind::Endpoints);
    for (index, (kind, object)) in objects.iter().enumerate() {
        if index > 0 {
            client.out.push_str("\n\n");
        }
        let page = Page::new(client, object);
        let text = page.describe(*kind);
        client.out.push_str(&text);
    }
    if endpoints {
        client.warn("Warning: v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice");
    }
    Ok(Task::Done)
}

/// An object that is described, and the cluster around it.
struct Page<'a> {
    client: &'a Client<'a>,
    row: Row<'a>,
    text: String,
}

impl<'a> Page<'a> {
    fn new(client: &'a Client<'a>, object: &'a Value) -> Page<'a> {
        Page { client, row: Row { object, now: client.wall() }, text: String::new() }
    }

    fn describe(mut self, kind: Kind) -> String {
        match kind {
            Kind::Pod => pods::pod(&mut self),
            Kind::Deployment => workloads::deployment(&mut self),
            Kind::ReplicaSet | Kind::ReplicationController => workloads::replica_set(&mut self),
            Kind::StatefulSet => workloads::stateful_set(&mut self),
            Kind::DaemonSet => workloads::daemon_set(&mut self),
            Kind::Job => batch::job(&mut self),
            Kind::CronJob => batch::cron_job(&mut self),
            Kind::HorizontalPodAutoscaler => batch::autoscaler(&mut self),
            Kind::Service => network::service(&mut self),
            Kind::Endpoints => network::endpoints(&mut self),
            Kind::EndpointSlice => network::slice(&mut self),
            Kind::PersistentVolumeClaim => storage::claim(&mut self),
            Kind::PersistentVolume => storage::volume(&mut self),
            Kind::StorageClass => storage::class(&mut self),
            Kind::Node => nodes::node(&mut self),
            Kind::PodDisruptionBudget => nodes::budget(&mut self),
            Kind::ResourceQuota => return nodes::quota(&self),
            Kind::Namespace => nodes::namespace(&mut self),
            _ => nodes::other(&mut self),
        }
        self.events(kind);
        tabs::align(&self.text)
    }

    /// A line with tabs.
    fn line(&mut self, text: impl std::fmt::Display) {
        self.text.push_str(&format!("{text}\n"));
    }

    /// `Name:` and a value.
    fn field(&mut self, name: &str, value: impl std::fmt::Display) {
        self.line(format!("{name}:\t{value}"));
    }

    fn name(&mut self) {
        self.field("Name", self.row.text("/metadata/name").to_owned());
        let namespace = self.row.text("/metadata/namespace").to_owned();
        if !namespace.is_empty() {
            self.field("Namespace", namespace);
        }
    }

    fn labels(&mut self) {
        self.map("Labels", "/metadata/labels", '=');
    }

    fn annotations(&mut self) {
        self.map("Annotations", "/metadata/annotations", ':');
    }

    /// A map with one pair on each line.
    fn map(&mut self, title: &str, path: &str, sign: char) {
        self.text.push_str(&pairs(title, self.row.at(path), sign));
    }

    /// The Events about the object, oldest first.
    fn events(&mut self, kind: Kind) {
        let about = |event: &Value| {
            let involved = &event["involvedObject"];
            involved["name"] == self.row.text("/metadata/name") && involved["kind"] == kind.name()
        };
        let mut events: Vec<Value> = self.client.list(Kind::Event, "").into_iter().filter(|event| about(event)).collect();
        crate::order::sort_by_key(&mut events, printers::event_order);
        if events.is_empty() {
            return self.line("Events:\t<none>");
        }
        self.line("Events:\n  Type\tReason\tAge\tFrom\tMessage\n  ----\t------\t----\t----\t-------");
        for event in &events {
            let text = |name: &str| event[name].as_str().unwrap_or("");
            let part = event["involvedObject"]["fieldPath"].as_str().filter(|part| !part.is_empty());
            let part = part.map_or(String::new(), |part| format!("{part}: "));
            let age = printers::event_age(event, self.row.now);
            let line =
                format!("  {}\t{}\t{age}\t{}\t{part}{}", text("type"), text("reason"), printers::source(event), text("message").trim());
            self.line(line);
        }
    }
}

/// `Labels:` with one pair on each line, the last-applied annotation left out.
fn pairs(title: &str, map: &Value, sign: char) -> String {
    let shown = map.as_object().into_iter().flatten().filter(|(key, _)| *key != crate::api::meta::LAST_APPLIED);
    let gap = if sign == ':' { " " } else { "" };
    let all: Vec<String> = shown.map(|(key, value)| format!("{key}{sign}{gap}{}", value.as_str().unwrap_or(""))).collect();
    if all.is_empty() {
        return format!("{title}:\t<none>\n");
    }
    format!("{title}:\t{}\n", all.join("\n\t"))
}

/// `Deployment/nginx`, who controls an object.
fn controlled_by(row: Row<'_>) -> Option<String> {
    let owner = row.list("/metadata/ownerReferences").iter().find(|owner| owner["controller"] == true)?;
    Some(format!("{}/{}", owner["kind"].as_str().unwrap_or(""), owner["name"].as_str().unwrap_or("")))
}

fn long(row: Row<'_>, path: &str) -> String {
    age::long(row.text(path))
}

fn show(value: &Value) -> String {
    match value {
        Value::Null => "<none>".to_owned(),
        other => printers::jsonpath::show(other),
    }
}

fn name(object: &Value) -> String {
    or_none(name_of(object))
}
