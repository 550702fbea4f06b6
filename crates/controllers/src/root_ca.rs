//! Gives every namespace the ConfigMap `kube-root-ca.crt`, and reverts changes to it.
//!
//! Models `pkg/controller/certificates/rootcacertpublisher/publisher.go`.

use super::{Controller, Watch};
use apiserver::why::Why;
use apiserver::{ApiError, StatusReason};
use apiserver::{Component, ControllerId};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::cluster::root_ca;
use controller_runtime::descriptor::{Descriptor, GENERIC};
use k8s_model::{Body, Kind, ObjectRef};

const DESCRIPTION: &str = "kubernetes.io/description";

/// UI descriptor of the controller.
static DESCRIPTOR: Descriptor = Descriptor {
    component: Component::Controller(&ControllerId::new(
        "root-ca-certificate-publisher-controller",
    )),
    aliases: &[],
    title: "root ca certificate publisher",
    icon: "i-act",
    lane: "",
    always_shown: false,
    code: GENERIC,
};

/// Root CA certificate publisher.
pub struct RootCaPublisher;

impl Controller for RootCaPublisher {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn watches(&self) -> &'static [Watch] {
        &[Watch::For(Kind::Namespace), Watch::Maps(Kind::ConfigMap)]
    }

    /// Wakes the namespace of a changed or deleted ConfigMap.
    fn map_event(
        &self,
        event: &super::Event<'_>,
        _: &controller_runtime::informer::Cache,
        wake: &mut dyn FnMut(ObjectRef),
    ) {
        if event.op != apiserver::Op::Added && event.object.meta.name == "kube-root-ca.crt" {
            wake(ObjectRef::new(
                Kind::Namespace,
                "",
                &event.object.meta.namespace,
            ));
        }
    }

    fn reconcile(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<Action, ApiError> {
        if view
            .cache
            .object(key)
            .is_none_or(|namespace| namespace.meta.is_deleting())
        {
            return Ok(Action::AwaitChange);
        }
        let wanted = root_ca(&key.name);
        let Some(found) = view.cache.object(&ObjectRef::new(
            Kind::ConfigMap,
            &key.name,
            "kube-root-ca.crt",
        )) else {
            return match out.create_value(wanted, Why::NamespaceNeeds) {
                // Another client was faster, or the namespace is terminating.
                Err(error)
                    if !matches!(
                        error.reason,
                        StatusReason::AlreadyExists
                            | StatusReason::NotFound
                            | StatusReason::Forbidden
                    ) =>
                {
                    Err(error)
                }
                _ => Ok(Action::AwaitChange),
            };
        };
        let described = found
            .meta
            .annotation(DESCRIPTION)
            .is_some_and(|words| !words.is_empty());
        if let Body::Other(fields) = &found.body
            && (!described || fields.get("data") != Some(&wanted["data"]))
        {
            out.update(found, Why::NamespaceNeeds, |map| {
                if let Body::Other(fields) = &mut map.body {
                    fields.insert("data".into(), wanted["data"].clone());
                }
                let words = wanted["metadata"]["annotations"][DESCRIPTION]
                    .as_str()
                    .unwrap_or_default();
                std::rc::Rc::make_mut(&mut map.meta.annotations)
                    .insert(DESCRIPTION.into(), words.into());
            })?;
        }
        Ok(Action::AwaitChange)
    }
}
