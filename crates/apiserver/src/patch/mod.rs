//! JSON, merge and strategic merge patches, and the three-way merge of `kubectl apply`.
//!
//! `json` and `merge_patch` are independent of kinds. Strategic merges use the field table to merge
//! lists. Models `apimachinery/pkg/util/{strategicpatch,jsonmergepatch}`.

mod json;
mod strategic;
mod three_way;

use super::error::ApiError;
use k8s_model::json::go;
use k8s_model::{Kind, ObjectRef, schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use json::{json_patch, unknown_members};
pub use strategic::strategic_merge;
pub use three_way::{three_way_merge, three_way_strategic};

/// Type of a patch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PatchType {
    /// JSON patch, RFC 6902.
    Json,
    /// JSON merge patch, RFC 7386.
    Merge,
    /// Strategic merge patch: lists of objects are merged by key.
    Strategic,
}

/// Patch of an object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Patch {
    /// Type of the patch.
    pub patch_type: PatchType,
    /// Content.
    pub content: Value,
}

impl Patch {
    /// Creates a JSON merge patch.
    pub fn merge(content: Value) -> Patch {
        Patch {
            patch_type: PatchType::Merge,
            content,
        }
    }

    /// Returns the patched object.
    ///
    /// # Errors
    /// The patch cannot be applied.
    pub fn apply(&self, kind: Kind, object: Value) -> Result<Value, ApiError> {
        self.patch_type.merged(kind, object, &self.content)
    }

    /// Returns true if the patch changes a field or a part of it.
    pub(super) fn concerns(&self, field: &str) -> bool {
        self.patch_type.concerns(&self.content, field)
    }

    /// Returns the objects that the patch changes a member of, as nested objects: the members of these lose their order.
    pub(super) fn touched(&self) -> Value {
        if self.patch_type != PatchType::Json {
            return self.content.clone();
        }
        let mut touched = Value::Object(Map::new());
        let operations = self.content.as_array().into_iter().flatten();
        for path in operations.flat_map(|operation| {
            ["path", "from"].map(|place| operation[place].as_str().unwrap_or(""))
        }) {
            let mut names = path.split('/').skip(1).collect::<Vec<_>>();
            names.pop();
            let mut place = &mut touched;
            for name in names {
                if let Value::Object(map) = place {
                    place = map.entry(name).or_insert_with(|| Value::Object(Map::new()));
                }
            }
        }
        touched
    }
}

impl PatchType {
    /// Returns true if a patch changes a field or a part of it.
    fn concerns(self, change: &Value, field: &str) -> bool {
        if self != PatchType::Json {
            return change.pointer(field).is_some();
        }
        let about = |operation: &Value| {
            let is = |place: &str| {
                operation[place]
                    .as_str()
                    .is_some_and(|path| path.starts_with(field))
            };
            is("path") || is("from")
        };
        change
            .as_array()
            .is_some_and(|operations| operations.iter().any(about))
    }

    /// Applies the patch to an object.
    pub fn merged(self, kind: Kind, mut object: Value, change: &Value) -> Result<Value, ApiError> {
        match self {
            PatchType::Json => {
                // The API server gives no details about an operation that it cannot carry out.
                let rejected = |_| {
                    ApiError::invalid(
                        "the server rejected our request due to an error in our request".to_owned(),
                    )
                };
                json_patch(&mut object, change).map_err(rejected)?;
                Ok(object)
            }
            PatchType::Merge => {
                merge_patch(&mut object, change);
                Ok(object)
            }
            PatchType::Strategic if kind.is_custom() => Err(ApiError::unsupported_patch()),
            PatchType::Strategic => {
                convertible(kind, change)?;
                strategic_merge(kind, &object, change).map_err(ApiError::unclassified)
            }
        }
    }
}

/// Checks the types of a strategic merge patch: its result is converted to the object.
fn convertible(kind: Kind, change: &Value) -> Result<(), ApiError> {
    let problems = schema::strict_errors(&kind.api_version(), kind.name(), change);
    let Some(reason) = problems.into_iter().find_map(|problem| problem.unconverted) else {
        return Ok(());
    };
    Err(ApiError::invalid_patch(&quoted_patch(change), &reason))
}

/// Formats a strategic merge patch for an error about it.
pub(super) fn quoted_patch(change: &Value) -> String {
    format!("\"{}\"", go(change))
}

/// Checks that a patch keeps name and namespace. Models `checkName` of the API server's handlers.
pub(super) fn check_name(key: &ObjectRef, patched: &Value) -> Result<(), ApiError> {
    let text = |field: &str| patched["metadata"][field].as_str().unwrap_or("");
    let (namespace, name) = (text("namespace"), text("name"));
    let message = if name.is_empty() {
        format!(
            "the name of the object ({} based on URL) was undeterminable: name must be provided",
            key.name
        )
    } else if name != key.name.as_str() {
        format!(
            "the name of the object ({name}) does not match the name on the URL ({})",
            key.name
        )
    } else if !namespace.is_empty() && namespace != key.namespace.as_str() {
        "the namespace of the provided object does not match the namespace sent on the request"
            .to_owned()
    } else {
        return Ok(());
    };
    Err(ApiError::bad_request(message))
}

/// Applies a JSON merge patch (RFC 7386): null removes, objects merge, any other value replaces.
pub fn merge_patch(target: &mut Value, patch: &Value) {
    let Some(patch) = patch.as_object() else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Some(map) = target.as_object_mut() else {
        return;
    };
    for (key, value) in patch {
        if value.is_null() {
            map.remove(key);
        } else {
            merge_patch(map.entry(key.as_str()).or_insert(Value::Null), value);
        }
    }
}

#[cfg(test)]
mod tests;
