//! Objects as HTTP clients see them.

use super::cluster::Cluster;
use apiserver::ManagedHistory;
use cluster::Sim;
use k8s_model::{Kind, Object};
use serde_json::Value;
use std::rc::Rc;

/// Object as clients see it, with its managed fields: these are large, so that they stay text.
pub struct RenderedObject {
    /// Object.
    pub object: Rc<Object>,
    /// Its JSON.
    pub value: Value,
    managers: String,
}

impl RenderedObject {
    /// Creates it from an object whose kind's managed fields are up to date.
    pub fn of(sim: &Sim, managed: &ManagedHistory, object: Rc<Object>) -> RenderedObject {
        RenderedObject {
            managers: managed.text(sim.store(), &object),
            value: object.to_value(),
            object,
        }
    }

    /// Creates it from an object that is not stored, with its managed fields.
    pub fn unstored(object: Rc<Object>, managed: &Value) -> RenderedObject {
        let managers = match managed.as_array() {
            Some(all) if !all.is_empty() => managed.to_string(),
            _ => String::new(),
        };
        RenderedObject {
            managers,
            value: object.to_value(),
            object,
        }
    }

    /// Drops what only watches show: `defaultOnReadInternalTrafficPolicy` of `pkg/registry/core/service/storage`.
    pub fn for_read(mut self) -> RenderedObject {
        if self.object.kind == Kind::Service
            && let Some(Value::Object(spec)) = self.value.get_mut("spec")
            && spec.get("type").is_some_and(|kind| kind == "ExternalName")
        {
            spec.remove("internalTrafficPolicy");
        }
        self
    }

    /// Returns its metadata as JSON.
    pub fn metadata(&self) -> String {
        let mut text = self.value["metadata"].to_string();
        if !self.managers.is_empty() && text.ends_with('}') {
            text.pop();
            text.push_str(if text.len() > 1 {
                ",\"managedFields\":"
            } else {
                "\"managedFields\":"
            });
            text.push_str(&self.managers);
            text.push('}');
        }
        text
    }

    /// Returns the whole object as JSON.
    pub fn text(&self) -> String {
        let Some(map) = self.value.as_object() else {
            return self.value.to_string();
        };
        let field = |(key, value): (&String, &Value)| {
            let value = if key == "metadata" {
                self.metadata()
            } else {
                value.to_string()
            };
            format!("{}:{value}", Value::from(key.as_str()))
        };
        format!(
            "{{{}}}",
            map.iter().map(field).collect::<Vec<_>>().join(",")
        )
    }
}

/// Renders an object that the API server returned.
pub fn rendered(cluster: &mut Cluster, object: Rc<Object>) -> RenderedObject {
    let (sim, managed) = cluster.managed(object.kind);
    RenderedObject::of(sim, managed, object)
}
