//! Certificate signing requests: who asks for a certificate is what the API server knows of them, not what they say.
//!
//! Models `pkg/registry/certificates/certificates/strategy.go`.

use super::authorizer::UserInfo;
use super::server::Origin;
use serde_json::{Value, json};

/// Notes in a new request whom it is from.
pub(super) fn note_requester(origin: &Origin, value: &mut Value) {
    let user = origin.user.as_deref().cloned().unwrap_or_else(UserInfo::administrator);
    let groups: Vec<&str> = user.groups.iter().map(|group| &**group).collect();
    if value["spec"].is_object() {
        value["spec"]["username"] = user.name.as_str().into();
        value["spec"]["groups"] = json!(groups);
    }
}
