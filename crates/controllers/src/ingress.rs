//! Ingress controller: sets the load balancer address of each Ingress whose class exists.
//!
//! kube-controller-manager has none; a cluster gets one by installing it, which creates an IngressClass. Stands in for
//! ingress-nginx (`internal/ingress/status/status.go`), served at a node's address.

use super::{Controller, Watch};
use apiserver::ApiError;
use apiserver::why::Why;
use apiserver::{Component, ControllerId};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::{Descriptor, GENERIC};
use controller_runtime::informer::Cache;
use k8s_model::ingress::{IngressSpec, address, set_address};
use k8s_model::node::Node;
use k8s_model::{Kind, ObjectRef};

/// UI descriptor of the controller.
static DESCRIPTOR: Descriptor = Descriptor {
    component: Component::Controller(&ControllerId::new("nginx-ingress-controller")),
    aliases: &[],
    title: "ingress",
    icon: "i-ingress",
    lane: "",
    always_shown: false,
    code: GENERIC,
};

/// Ingress controller.
pub struct IngressController;

impl Controller for IngressController {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn watches(&self) -> &'static [Watch] {
        &[
            Watch::For(Kind::Ingress),
            Watch::Maps(Kind::IngressClass),
            Watch::Maps(Kind::Node),
        ]
    }

    /// Wakes every Ingress when an IngressClass changes or a node is added or removed.
    fn map_event(&self, event: &super::Event<'_>, cache: &Cache, wake: &mut dyn FnMut(ObjectRef)) {
        if event.object.kind == Kind::IngressClass || event.op != apiserver::Op::Modified {
            cache
                .list(Kind::Ingress)
                .for_each(|ingress| wake(ingress.key()));
        }
    }

    fn reconcile(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<Action, ApiError> {
        let Some(ingress) = view
            .cache
            .object(key)
            .filter(|ingress| !ingress.meta.is_deleting())
        else {
            return Ok(Action::AwaitChange);
        };
        let spec = IngressSpec::of(ingress);
        let class = spec.class(ingress);
        let served = !class.is_empty()
            && view
                .cache
                .object(&ObjectRef::new(Kind::IngressClass, "", class))
                .is_some();
        let node = view
            .cache
            .list(Kind::Node)
            .filter(|_| served)
            .min_by(|a, b| a.meta.name.cmp(&b.meta.name));
        let wanted = node
            .map(|node| node.body::<Node>().internal_ip())
            .filter(|ip| !ip.is_empty());
        if address(ingress) == wanted.as_deref() {
            return Ok(Action::AwaitChange);
        }
        let why = match wanted.is_some() {
            true => Why::IngressServed {
                class: class.into(),
            },
            false => Why::IngressUnserved {
                class: class.into(),
            },
        };
        out.update_status(ingress, why, |ingress| {
            set_address(ingress, wanted.as_deref())
        })?;
        if wanted.is_some() {
            out.event(ingress, "Normal", "Sync", "Scheduled for sync");
        }
        Ok(Action::AwaitChange)
    }
}
