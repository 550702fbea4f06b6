//! Ephemeral containers of a Pod.
//!
//! Models `validateEphemeralContainers` of `pkg/apis/core/validation/validation.go`.

use super::{ErrorType, Errors, list, pod, text};
use serde_json::Value;
use std::collections::BTreeSet;

/// Container fields that ephemeral containers may not have.
const NOT_EPHEMERAL: [&str; 9] = [
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
];

/// Validates the ephemeral containers of a Pod; `names` are the names of its other containers.
pub fn containers<'s>(
    errors: &mut Errors,
    spec: &'s Value,
    field: &str,
    volumes: &BTreeSet<String>,
    names: &mut BTreeSet<&'s str>,
) {
    const REFUSED: &str = "cannot be set for an Ephemeral Container";
    let others = names.clone();
    for (index, one) in list(spec, "ephemeralContainers").iter().enumerate() {
        let at = format!("{field}[{index}]");
        pod::container(errors, one, &at, volumes);
        let name = text(one, "name");
        if !names.insert(name) {
            errors.duplicate(&format!("{at}.name"), name);
        }
        let target = text(one, "targetContainerName");
        if !target.is_empty() && !others.contains(target) {
            errors.add(
                ErrorType::NotFound,
                &format!("{at}.targetContainerName"),
                Value::from(target).to_string(),
                "",
            );
        }
        for name in NOT_EPHEMERAL.into_iter().filter(|name| is_set(&one[*name])) {
            errors.forbidden(&format!("{at}.{name}"), REFUSED);
        }
        for (index, mount) in list(one, "volumeMounts").iter().enumerate() {
            for name in ["subPath", "subPathExpr"]
                .into_iter()
                .filter(|name| !text(mount, name).is_empty())
            {
                errors.forbidden(&format!("{at}.volumeMounts[{index}].{name}"), REFUSED);
            }
        }
    }
}

/// Returns true if a field has a non-empty value.
fn is_set(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(all) => !all.is_empty(),
        Value::Object(map) => map.values().any(is_set),
        _ => true,
    }
}
