//! Content hashes of ConfigMaps and Secrets, for name suffixes.
//!
//! Models `kubectl/pkg/util/hash/hash.go` and kustomize's `api/hasher/hasher.go`.

use k8s_model::json::escaped;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Returns the hash of a ConfigMap's or a Secret's contents, with digits replaced so that they spell no words. Kustomize leaves out the
/// name.
pub fn hash(name: &str, object: &Value) -> String {
    let field = |name: &str| {
        if object[name].is_null() {
            json!("")
        } else {
            object[name].clone()
        }
    };
    let mut of = json!({"kind": object["kind"], "name": name, "data": field("data")});
    if object["kind"] == "Secret" {
        of["type"] = field("type");
    }
    if object["binaryData"].is_object() {
        of["binaryData"] = object["binaryData"].clone();
    }
    // Go writes keys in order.
    let text = escaped(&sorted(&of));
    let digits: String = Sha256::digest(text.as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let letter = |digit: char| match digit {
        '0' => 'g',
        '1' => 'h',
        '3' => 'k',
        'a' => 'm',
        'e' => 't',
        other => other,
    };
    digits.chars().take(10).map(letter).collect()
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut pairs: Vec<_> = map
                .iter()
                .map(|(key, value)| (key.clone(), sorted(value)))
                .collect();
            pairs.sort_by_key(|(key, _)| key.clone());
            Value::Object(pairs.into_iter().collect::<serde_json::Map<_, _>>())
        }
        other => other.clone(),
    }
}
