//! The hashes that name ReplicaSets and ControllerRevisions.
pub fn pod_template_hash(_t: &serde_json::Value, _c: Option<i32>) -> String { String::new() }
