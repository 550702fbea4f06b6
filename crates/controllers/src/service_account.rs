//! Gives every namespace its service account `default`.
//!
//! Models `pkg/controller/serviceaccount/serviceaccounts_controller.go`.

use super::{Controller, Watch};
use apiserver::why::Why;
use apiserver::{ApiError, StatusReason};
use apiserver::{Component, ControllerId};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::{Descriptor, GENERIC};
use k8s_model::{Body, Kind, Object, ObjectMeta, ObjectRef};

/// UI descriptor of the controller.
static DESCRIPTOR: Descriptor = Descriptor {
    component: Component::Controller(&ControllerId::new("service-account-controller")),
    aliases: &[],
    title: "service account",
    icon: "i-namespace",
    lane: "",
    always_shown: false,
    code: GENERIC,
};

/// ServiceAccount controller.
pub struct ServiceAccountController;

impl Controller for ServiceAccountController {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn watches(&self) -> &'static [Watch] {
        &[
            Watch::For(Kind::Namespace),
            Watch::Maps(Kind::ServiceAccount),
        ]
    }

    /// Wakes the namespace of a deleted service account.
    fn map_event(
        &self,
        event: &super::Event<'_>,
        _: &controller_runtime::informer::Cache,
        wake: &mut dyn FnMut(ObjectRef),
    ) {
        if event.op == apiserver::Op::Deleted {
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
        let account = ObjectRef::new(Kind::ServiceAccount, &key.name, "default");
        let Some(namespace) = view.cache.object(key).filter(|n| !n.meta.is_deleting()) else {
            return Ok(Action::AwaitChange);
        };
        if view.cache.object(&account).is_some() {
            return Ok(Action::AwaitChange);
        }
        let meta = ObjectMeta {
            name: account.name,
            namespace: namespace.meta.name.clone(),
            ..Default::default()
        };
        match out.create(
            Object {
                kind: Kind::ServiceAccount,
                meta,
                body: Body::Other(Default::default()),
            },
            Why::NamespaceNeeds,
        ) {
            Err(error) if error.reason != StatusReason::AlreadyExists => Err(error),
            _ => Ok(Action::AwaitChange),
        }
    }
}
