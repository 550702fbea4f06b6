//! YAML of an object, as the inspector shows it.

use k8s_model::Object;

/// Formats the object as YAML, without fields of use to machines only.
pub fn yaml(object: &Object) -> String {
    let mut value = object.to_value();
    if let Some(meta) = value
        .get_mut("metadata")
        .and_then(|meta| meta.as_object_mut())
    {
        meta.remove("managedFields");
        if let Some(annotations) = meta
            .get_mut("annotations")
            .and_then(|annotations| annotations.as_object_mut())
        {
            annotations.remove(k8s_model::meta::LAST_APPLIED);
        }
        if meta
            .get("annotations")
            .and_then(|annotations| annotations.as_object())
            .is_some_and(serde_json::Map::is_empty)
        {
            meta.remove("annotations");
        }
    }
    let mut out = serde_json::Map::new();
    for key in ["apiVersion", "kind", "metadata", "spec", "status"] {
        if let Some(part) = value.as_object_mut().and_then(|map| map.remove(key)) {
            out.insert(key.into(), part);
        }
    }
    if let serde_json::Value::Object(rest) = value {
        out.extend(rest);
    }
    kubectl::printers::yaml::print(&serde_json::Value::Object(out))
}
