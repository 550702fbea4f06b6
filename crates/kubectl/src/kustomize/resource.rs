//! Object of a kustomization, with its former names.

use serde_json::{Map, Value};

/// Object passed through the transformers.
#[derive(Clone, Debug)]
pub(super) struct Resource {
    pub(super) object: Value,
    /// Former names, the original one first.
    pub(super) names: Vec<String>,
    /// True if the name gets a hash of the contents.
    pub(super) hashed: bool,
}

impl Resource {
    pub(super) fn new(object: Value) -> Resource {
        let name = object["metadata"]["name"].as_str().unwrap_or("").to_owned();
        Resource {
            object,
            names: vec![name],
            hashed: false,
        }
    }

    pub(super) fn kind(&self) -> &str {
        self.object["kind"].as_str().unwrap_or("")
    }

    pub(super) fn name(&self) -> &str {
        self.object["metadata"]["name"].as_str().unwrap_or("")
    }

    pub(super) fn rename(&mut self, name: String) {
        self.object["metadata"]["name"] = Value::from(name.clone());
        self.names.push(name);
    }

    /// Returns a map of the object, created if missing.
    pub(super) fn map(&mut self, path: &[&str]) -> Option<&mut Map<String, Value>> {
        path.iter()
            .try_fold(&mut self.object, |at, field| {
                let map = at.as_object_mut()?;
                Some(
                    map.entry(*field)
                        .or_insert_with(|| Value::Object(Map::new())),
                )
            })?
            .as_object_mut()
    }
}
