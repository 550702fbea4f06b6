//! Gateway graph: class, listeners, attached routes, and the references of their backends.
//!
//! Read-only, for the controller that writes the conditions and for the requests that follow the routes. Models
//! `internal/controller/state/graph/{gateway,gateway_listener,route_common,backend_refs,reference_grant}.go` of NGINX Gateway Fabric,
//! which implement `sigs.k8s.io/gateway-api/apis/v1`.

mod attach;
mod listeners;
mod references;

pub use attach::{Refused, attach, attached_to, parents};
pub use listeners::{ListenerFault, fault_of, is_served, supported_kinds};
pub use references::{RefFault, resolve};

use apiserver::Store;
use controller_runtime::informer::Cache;
use k8s_model::gateway::{CONTROLLER, GATEWAY, GATEWAY_CLASS, controller_of, kinds};
use k8s_model::{Kind, Object, ObjectRef};
use std::rc::Rc;

/// Lookup of objects: in a controller's cache, or in the store.
pub trait Objects {
    /// Returns the object with this key.
    fn find(&self, key: &ObjectRef) -> Option<&Rc<Object>>;
    /// Returns all objects of a kind, by namespace and name.
    fn all(&self, kind: Kind) -> Box<dyn Iterator<Item = &Rc<Object>> + '_>;
}

impl Objects for Cache {
    fn find(&self, key: &ObjectRef) -> Option<&Rc<Object>> {
        self.object(key)
    }

    fn all(&self, kind: Kind) -> Box<dyn Iterator<Item = &Rc<Object>> + '_> {
        Box::new(self.list(kind))
    }
}

impl Objects for Store {
    fn find(&self, key: &ObjectRef) -> Option<&Rc<Object>> {
        self.get(key)
    }

    fn all(&self, kind: Kind) -> Box<dyn Iterator<Item = &Rc<Object>> + '_> {
        Box::new(self.list(kind))
    }
}

/// Returns all objects of a Gateway API kind; empty if it is not installed.
pub fn all<'a>(objects: &'a dyn Objects, name: &str) -> Vec<&'a Rc<Object>> {
    kinds(name)
        .into_iter()
        .flat_map(|kind| objects.all(kind))
        .collect()
}

/// Returns the object of a Gateway API kind with this name.
pub fn named<'a>(
    objects: &'a dyn Objects,
    kind: &str,
    namespace: &str,
    name: &str,
) -> Option<&'a Rc<Object>> {
    kinds(kind)
        .into_iter()
        .find_map(|kind| objects.find(&ObjectRef::new(kind, namespace, name)))
}

/// Returns the class of this name, if the modelled controller serves it.
pub fn class_served<'a>(objects: &'a dyn Objects, name: &str) -> Option<&'a Rc<Object>> {
    named(objects, GATEWAY_CLASS, "", name)
        .filter(|class| controller_of(class) == CONTROLLER && !class.meta.is_deleting())
}

/// Returns the Gateway with this address.
pub fn gateway_at<'a>(objects: &'a dyn Objects, address: &str) -> Option<&'a Rc<Object>> {
    all(objects, GATEWAY)
        .into_iter()
        .find(|gateway| k8s_model::gateway::address_of(gateway) == Some(address))
}
