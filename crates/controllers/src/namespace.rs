//! Deletes the content of a terminating namespace, Pods first, and reports what is left; then removes its finalizer.
//!
//! Models `pkg/controller/namespace/deletion/namespaced_resources_deleter.go` and `status_condition_utils.go`.

use super::{Controller, Event, Watch};
use apiserver::why::Why;
use apiserver::{ApiError, DeleteOptions, NAMESPACE_FINALIZER, spec_finalizers};
use apiserver::{Component, ControllerId};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::{Descriptor, GENERIC};
use controller_runtime::limit::ClientLimit;
use k8s_model::pod::Pod;
use k8s_model::time::SECOND;
use k8s_model::{Body, Duration, Kind, Object, ObjectRef, kind};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Delay after a change of a namespace, so that no object still being created in it is missed.
const GRACE_US: u64 = 5 * SECOND;
/// Estimated time until objects with finalizers are gone, in seconds.
const FINALIZERS_S: u64 = 15;

/// UI descriptor of the controller.
static DESCRIPTOR: Descriptor = Descriptor {
    component: Component::Controller(&ControllerId::new("namespace-controller")),
    aliases: &[],
    title: "namespace",
    icon: "i-namespace",
    lane: "",
    always_shown: false,
    code: GENERIC,
};

/// Namespace controller.
pub struct NamespaceController;

impl Controller for NamespaceController {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn watches(&self) -> &'static [Watch] {
        &[Watch::For(Kind::Namespace)]
    }

    /// Widens the limit, since objects are deleted one by one. Models `startModifiedNamespaceController` of
    /// `cmd/kube-controller-manager/app/core.go`.
    fn client_limit(&self, common: ClientLimit) -> ClientLimit {
        ClientLimit {
            qps: common.qps * 20.0,
            burst: common.burst.saturating_mul(100),
        }
    }

    fn delay(&self, event: &Event<'_>, _key: &ObjectRef, _clock: i64) -> Duration {
        if event.object.meta.is_deleting() {
            GRACE_US
        } else {
            0
        }
    }

    fn reconcile(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<Action, ApiError> {
        let Some(namespace) = view.cache.object(key).filter(|n| n.meta.is_deleting()) else {
            return Ok(Action::AwaitChange);
        };
        if spec_finalizers(namespace).is_empty() {
            return Ok(Action::AwaitChange);
        }
        let mut left = Left::default();
        let since = namespace
            .meta
            .deletion_timestamp
            .map_or(0, |at| (view.wall.seconds() - at.seconds()).max(0) as u64);
        let patience = longest_stop(key, out).saturating_sub(since);
        left.delete(Kind::Pod, key, out);
        let mut wait = patience;
        if left.count.is_empty() {
            wait = 0;
            kind::all()
                .filter(|kind| kind.info().namespaced && *kind != Kind::Pod)
                .for_each(|kind| left.delete(kind, key, out));
            if !left.finalizers.is_empty() {
                wait = FINALIZERS_S;
            }
            left.report(namespace, true, out)?;
        } else {
            left.report(namespace, false, out)?;
        }
        if !left.count.is_empty() {
            return Ok(Action::RequeueAfter((wait / 2 + 1) * SECOND));
        }
        let mut others = spec_finalizers(namespace).to_vec();
        others.retain(|finalizer| finalizer != NAMESPACE_FINALIZER);
        out.finalize(key, &others, Why::DependentsGone)?;
        Ok(Action::AwaitChange)
    }
}

/// Returns the longest termination grace period of the namespace's Pods, in seconds.
fn longest_stop(namespace: &ObjectRef, out: &LoopClient<'_>) -> u64 {
    let pods = out.store().listing(Kind::Pod, Some(&namespace.name));
    let grace = |pod: &Pod| {
        pod.spec
            .termination_grace_period_seconds
            .unwrap_or(30)
            .max(0) as u64
    };
    pods.filter_map(|object| {
        object
            .get()
            .filter(|pod: &&Pod| !pod.is_terminal())
            .map(grace)
    })
    .max()
    .unwrap_or(0)
}

/// Remaining content of a namespace.
#[derive(Default)]
struct Left {
    /// Number of objects by resource.
    count: BTreeMap<String, usize>,
    /// Number of objects by finalizer.
    finalizers: BTreeMap<String, usize>,
}

impl Left {
    /// Deletes the namespace's objects of a kind and counts the remaining ones.
    fn delete(&mut self, kind: Kind, namespace: &ObjectRef, out: &mut LoopClient<'_>) {
        let why = Why::OwnerGone {
            owner: format!("Namespace {}", namespace.name).into(),
        };
        let content: Vec<ObjectRef> = out
            .store()
            .listing(kind, Some(&namespace.name))
            .map(|o| o.key())
            .collect();
        for object in content {
            // What could not be deleted is still there, and counts.
            let _ = out.delete(&object, DeleteOptions::background(), why.clone());
            let Some(stays) = out.store().get(&object) else {
                continue;
            };
            *self
                .count
                .entry(format!("{}.{}", kind.info().plural, kind.info().group))
                .or_default() += 1;
            for finalizer in &stays.meta.finalizers {
                *self.finalizers.entry(finalizer.to_string()).or_default() += 1;
            }
        }
    }

    /// Writes the conditions of the namespace; while its Pods stop, other content is not counted.
    fn report(
        &self,
        namespace: &Object,
        counted: bool,
        out: &mut LoopClient<'_>,
    ) -> Result<(), ApiError> {
        let joined = |counts: &BTreeMap<String, usize>, verb: &str| {
            let all: Vec<String> = counts
                .iter()
                .map(|(name, count)| format!("{name} {verb} {count} resource instances"))
                .collect();
            (counted && !all.is_empty()).then(|| all.join(", "))
        };
        let remains = joined(&self.count, "has").map(|all| {
            (
                "SomeResourcesRemain",
                format!("Some resources are remaining: {all}"),
            )
        });
        let finalized = joined(&self.finalizers, "in").map(|all| {
            (
                "SomeFinalizersRemain",
                format!("Some content in the namespace has finalizers remaining: {all}"),
            )
        });
        let conditions = [
            (
                "NamespaceDeletionDiscoveryFailure",
                None,
                "ResourcesDiscovered",
                "All resources successfully discovered",
            ),
            (
                "NamespaceDeletionGroupVersionParsingFailure",
                None,
                "ParsedGroupVersions",
                "All legacy kube types successfully parsed",
            ),
            (
                "NamespaceDeletionContentFailure",
                None,
                "ContentDeleted",
                "All content successfully deleted, may be waiting on finalization",
            ),
            (
                "NamespaceContentRemaining",
                remains,
                "ContentRemoved",
                "All content successfully removed",
            ),
            (
                "NamespaceFinalizersRemaining",
                finalized,
                "ContentHasNoFinalizers",
                "All content-preserving finalizers finished",
            ),
        ];
        let now = json!(out.store().wall().rfc3339());
        out.update_status(namespace, Why::Observed, |o| {
            let Body::Other(body) = &mut o.body else { return };
            let status = body.entry("status").or_insert_with(|| json!({}));
            if !status.is_object() {
                *status = json!({});
            }
            let old = status["conditions"].take();
            let same = |kind: &str, state: &str| old.as_array().into_iter().flatten().find(|c| c["type"] == kind && c["status"] == state);
            let new = conditions.into_iter().map(|(kind, problem, good, fine)| {
                let (state, reason, message) = match problem {
                    Some((reason, message)) => ("True", reason, message),
                    None => ("False", good, fine.to_owned()),
                };
                let since = same(kind, state).map_or_else(|| now.clone(), |c| c["lastTransitionTime"].clone());
                json!({"type": kind, "status": state, "reason": reason, "message": message, "lastTransitionTime": since})
            });
            status["conditions"] = Value::Array(new.collect());
        })?;
        Ok(())
    }
}
