//! An object, and the names that it has had.

use serde_json::{Map, Value};

/// An object on its way through transformers.
#[derive(Clone, Debug)]
pub(super) struct Resource {
    pub(super) object: Value,
    /// The names it has had, the first one first.
    pub(super) names: Vec<String>,
    /// Its name gets a hash of its contents.
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

    /// A map of the object's, made if it is not there.
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
