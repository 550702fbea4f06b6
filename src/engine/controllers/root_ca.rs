//! Gives every namespace the ConfigMap `kube-root-ca.crt`, and puts back what somebody changes in it.
//!
//! Models `pkg/controller/certificates/rootcacertpublisher/publisher.go`.

use super::{Controller, Watch};
use crate::api::{Body, Kind, ObjectRef};
use crate::engine::cluster::root_ca;
use crate::engine::out::{Action, Out, View};
use crate::engine::store::{ApiError, Reason};
use crate::engine::why::Why;

/// The root CA certificate publisher.
pub struct RootCaPublisher;

impl Controller for RootCaPublisher {
    fn name(&self) -> &'static str {
        "root-ca-certificate-publisher-controller"
    }

    fn watches(&self) -> &'static [Watch] {
        &[Watch::For(Kind::Namespace), Watch::Maps(Kind::ConfigMap)]
    }

    /// One that is changed or goes wakes its namespace.
    fn also_wakes(&self, event: &super::Event<'_>, _: &crate::engine::informer::Cache, wake: &mut dyn FnMut(ObjectRef)) {
        if event.op != crate::engine::Op::Added && event.object.meta.name == "kube-root-ca.crt" {
            wake(ObjectRef::new(Kind::Namespace, "", &event.object.meta.namespace));
        }
    }

    fn reconcile(&self, key: &ObjectRef, view: &View<'_>, out: &mut Out<'_>) -> Result<Action, ApiError> {
        if view.cache.object(key).is_none_or(|namespace| namespace.meta.is_deleting()) {
            return Ok(Action::AwaitChange);
        }
        let wanted = root_ca(&key.name);
        let Some(found) = view.cache.object(&ObjectRef::new(Kind::ConfigMap, &key.name, "kube-root-ca.crt")) else {
            return match out.create_value(wanted, Why::NamespaceNeeds) {
                Err(error) if error.reason != Reason::AlreadyExists => Err(error),
                _ => Ok(Action::AwaitChange),
            };
        };
        if let Body::Other(fields) = &found.body
            && fields.get("data") != Some(&wanted["data"])
        {
            out.update(found, Why::NamespaceNeeds, |map| {
                if let Body::Other(fields) = &mut map.body {
                    fields.insert("data".into(), wanted["data"].clone());
                }
            })?;
        }
        Ok(Action::AwaitChange)
    }
}
