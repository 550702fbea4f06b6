//! `kubectl describe`: prints all parts of an object in sections, with its Events.

mod batch;
mod certificate;
mod config;
mod network;
mod nodes;
mod page;
mod pods;
mod policies;
mod storage;
pub mod template;
mod workloads;

use super::client::Client;
use super::parse::Args;
use super::printers::tabs;
use super::targets::Targets;
use super::{Failure, Outcome, Reads, Verb};
use apiserver::ListOptions;
pub use config::policy_rules;
use k8s_model::Kind;
use page::{DescribePage, controlled_by, long, name, pairs, show};
use serde_json::Value;

const FLAGS: &str = "selector/l= field-selector= all-namespaces/A all show-events @filename/f= recursive/R kustomize/k= ~chunk-size=";

/// `kubectl describe`.
pub const VERB: Verb = Verb {
    name: "describe",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::Yes,
    run,
    help: "Show details of a specific resource or group of resources",
};

fn run(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("describe", FLAGS, words)?;
    client.use_flags(&args)?;
    if args.words.is_empty() {
        return Err(Failure::error(
            "You must specify the type of resource to describe. Use \"kubectl api-resources\" for a complete list of supported resources.",
        ));
    }
    let targets = Targets::parse(client, &args, &args.words)?;
    let mut objects = by_prefix(client, &targets, &args.words);
    let between = if objects.is_empty() { "\n\n" } else { "\n" };
    if objects.is_empty() {
        objects = targets.fetch(client);
    }
    if objects.is_empty() && client.streams.failure.is_none() {
        client.streams.warn(format!(
            "No resources found in {} namespace.",
            client.namespace
        ));
    }
    // For several objects Events are shown only with an explicit flag.
    let events = args
        .get("show-events")
        .map_or(objects.len() == 1, |_| args.on("show-events"));
    let warning = objects
        .iter()
        .find_map(|(kind, _)| client.sim().server.definitions().deprecation(*kind, ""));
    for (index, (kind, object)) in objects.iter().enumerate() {
        if index > 0 {
            client.streams.out.push_str(between);
        }
        let page = DescribePage::new(client, object);
        let text = page.describe(*kind, events);
        client.streams.out.push_str(&text);
    }
    if let Some(warning) = warning {
        client.streams.warn(format!("Warning: {warning}"));
    }
    Ok(Outcome::Done)
}

/// Returns the objects whose names start with a prefix, if no object has that name.
fn by_prefix(client: &Client<'_>, targets: &Targets, words: &[String]) -> Vec<(Kind, Value)> {
    let (&[(kind, Some(ref prefix))], [_, _]) = (&targets.list[..], words) else {
        return Vec::new();
    };
    if !matches!(client.find_object(&client.key(kind, prefix)), Ok(None)) {
        return Vec::new();
    }
    let listing = client.listing(kind, &targets.namespace, ListOptions::default());
    let named = listing
        .into_iter()
        .flatten()
        .filter(|object| object.meta.name.starts_with(prefix.as_str()));
    named.map(|object| (kind, object.to_value())).collect()
}

/// Kinds whose describer shows no Events.
const WITHOUT_EVENTS: [Kind; 9] = [
    Kind::Secret,
    Kind::Role,
    Kind::ClusterRole,
    Kind::RoleBinding,
    Kind::ClusterRoleBinding,
    Kind::NetworkPolicy,
    Kind::ResourceQuota,
    Kind::LimitRange,
    Kind::Namespace,
];

impl DescribePage<'_> {
    fn describe(mut self, kind: Kind, events: bool) -> String {
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
            Kind::ConfigMap => config::config_map(&mut self),
            Kind::Secret => config::secret(&mut self),
            Kind::ServiceAccount => config::account(&mut self),
            Kind::PriorityClass => config::priority_class(&mut self),
            Kind::Role | Kind::ClusterRole => config::role(&mut self),
            Kind::RoleBinding | Kind::ClusterRoleBinding => config::binding(&mut self),
            Kind::Ingress => policies::ingress(&mut self),
            Kind::NetworkPolicy => policies::network_policy(&mut self),
            Kind::ResourceQuota => policies::quota(&mut self),
            Kind::LimitRange => policies::limit_range(&mut self),
            Kind::Namespace => policies::namespace(&mut self),
            Kind::CertificateSigningRequest => certificate::request(&mut self),
            Kind::ControllerRevision
            | Kind::Event
            | Kind::PodTemplate
            | Kind::Lease
            | Kind::IngressClass
            | Kind::CSIDriver
            | Kind::VolumeAttachment
            | Kind::RuntimeClass
            | Kind::CustomResourceDefinition
            | Kind::APIService
            | Kind::MutatingWebhookConfiguration
            | Kind::ValidatingWebhookConfiguration
            | Kind::ValidatingAdmissionPolicy
            | Kind::ValidatingAdmissionPolicyBinding
            | Kind::FlowSchema
            | Kind::PriorityLevelConfiguration
            | Kind::IPAddress
            | Kind::ServiceCIDR
            | Kind::DeviceClass
            | Kind::ResourceClaim
            | Kind::ResourceClaimTemplate
            | Kind::ResourceSlice
            | Kind::CSINode
            | Kind::CSIStorageCapacity
            | Kind::VolumeAttributesClass
            | Kind::MutatingAdmissionPolicy
            | Kind::MutatingAdmissionPolicyBinding
            | Kind::ComponentStatus
            | Kind::Custom(_) => policies::other(&mut self),
        }
        if events && !WITHOUT_EVENTS.contains(&kind) {
            self.events(kind);
        }
        tabs::align(&self.text)
    }
}
