//! JSON, merge and strategic merge patches, and the three-way merge of `kubectl apply`.
//!
//! `json` and `merge_patch` are independent of kinds. Strategic merges use the field table to merge
//! lists. Models `apimachinery/pkg/util/{strategicpatch,jsonmergepatch}`.

mod json;
mod strategic;
mod three_way;

use serde_json::Value;

pub use json::json_patch;
pub use strategic::strategic_merge;
pub use three_way::{three_way_merge, three_way_strategic};

/// Applies a JSON merge patch (RFC 7386): null removes, objects merge, any other value replaces.
pub fn merge_patch(target: &mut Value, patch: &Value) {
    let Some(patch) = patch.as_object() else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
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
