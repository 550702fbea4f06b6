//! `kubectl apply --prune`: deletes objects that were applied before and are no longer in the manifest.
//!
//! Models `kubectl/pkg/cmd/apply/prune.go` and `kubectl/pkg/util/prune/prune.go`.

use crate::Failure;
use crate::client::Client;
use crate::failure::server_error;
use crate::output::named;
use crate::parse::Args;
use apiserver::DeleteOptions;
use apiserver::ListOptions;
use k8s_model::ObjectRef;
use k8s_model::meta::LAST_APPLIED;
use k8s_model::{Kind, Uid};

/// Kinds that are pruned by default, without `--prune-allowlist`.
const KINDS: [Kind; 16] = [
    Kind::ConfigMap,
    Kind::Endpoints,
    Kind::PersistentVolumeClaim,
    Kind::Pod,
    Kind::ReplicationController,
    Kind::Secret,
    Kind::Service,
    Kind::Job,
    Kind::CronJob,
    Kind::Ingress,
    Kind::DaemonSet,
    Kind::Deployment,
    Kind::ReplicaSet,
    Kind::StatefulSet,
    Kind::Namespace,
    Kind::PersistentVolume,
];

/// Prune options: kinds and labels.
#[derive(Clone, Debug)]
pub struct Pruner {
    kinds: Vec<Kind>,
    label_selector: String,
}

impl Pruner {
    /// Parses the flags; `None` without `--prune`.
    pub fn parse(client: &Client<'_>, args: &Args) -> Result<Option<Pruner>, Failure> {
        if !args.on("prune") {
            return Ok(None);
        }
        let labels = args.get("selector").filter(|labels| !labels.is_empty());
        if labels.is_none() && !args.on("all") {
            return Err(Failure::error(
                "all resources selected for prune without explicitly passing --all. To prune all resources, pass the --all flag. If you \
                 did not mean to prune all resources, specify a label selector",
            ));
        }
        let mut kinds = Vec::new();
        for text in args.all("prune-allowlist").flat_map(|list| list.split(',')) {
            let [group, version, name] = text.split('/').collect::<Vec<_>>()[..] else {
                return Err(Failure::error(format!(
                    "invalid GroupVersionKind format: {text}, please follow <group/version/kind>"
                )));
            };
            let api = if matches!(group, "core" | "") {
                version.to_owned()
            } else {
                format!("{group}/{version}")
            };
            let kind = client.sim().server.definitions().named(&api, name);
            kinds.push(kind.ok_or_else(|| {
                Failure::error(format!("no matches for kind {name:?} in version {api:?}"))
            })?);
        }
        if kinds.is_empty() {
            kinds = KINDS.to_vec();
        }
        crate::filenames::selector_of_files(labels)?;
        Ok(Some(Pruner {
            kinds,
            label_selector: labels.unwrap_or("").to_owned(),
        }))
    }

    /// Deletes the objects left out of an apply, in the namespaces of the applied ones and at the cluster scope.
    pub fn prune(&self, client: &mut Client<'_>, applied: &[ObjectRef]) {
        let kept: Vec<Uid> = applied
            .iter()
            .filter_map(|key| Some(client.object(key).ok()?.meta.uid))
            .collect();
        let mut namespaces: Vec<&str> = applied
            .iter()
            .filter(|key| key.kind.info().namespaced)
            .map(|key| &*key.namespace)
            .collect();
        namespaces.sort_unstable();
        namespaces.dedup();
        let (inside, outside): (Vec<Kind>, Vec<Kind>) =
            self.kinds.iter().partition(|kind| kind.info().namespaced);
        for namespace in namespaces {
            inside
                .iter()
                .for_each(|kind| self.prune_kind(client, *kind, namespace, &kept));
        }
        outside
            .iter()
            .for_each(|kind| self.prune_kind(client, *kind, "", &kept));
    }

    fn prune_kind(&self, client: &mut Client<'_>, kind: Kind, namespace: &str, kept: &[Uid]) {
        let options = ListOptions {
            label_selector: self.label_selector.clone(),
            ..ListOptions::default()
        };
        let objects = match client.listing(kind, namespace, options) {
            Ok(objects) => objects,
            Err(error) => return client.streams.fail(&server_error(&error)),
        };
        for object in objects {
            let value = object.to_value();
            let applied = object.meta.annotations.get(LAST_APPLIED).is_some();
            if !applied || kept.contains(&object.meta.uid) {
                continue;
            }
            match client.delete(&object.key(), DeleteOptions::background()) {
                Ok(_) => client.streams.say(format!(
                    "{} pruned{}",
                    named(kind, &value),
                    client.mode.dry.note()
                )),
                Err(error) => client.streams.fail(&server_error(&error)),
            }
        }
    }
}
