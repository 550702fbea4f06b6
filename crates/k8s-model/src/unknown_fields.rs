//! Removal of unknown fields from objects.

use super::schema::strict_errors;
use serde_json::Value;

/// Removes the unknown fields of an object; returns the warning for each.
pub fn drop(api_version: &str, kind: &str, value: &mut Value) -> Vec<String> {
    let mut told = Vec::new();
    for problem in strict_errors(api_version, kind, value)
        .into_iter()
        .filter(|problem| problem.unknown)
    {
        remove(value, &problem.path);
        told.push(problem.message);
    }
    told
}

/// Removes the field at a path such as `spec.containers[0].imagee`; names may hold dots.
fn remove(value: &mut Value, path: &str) {
    let Value::Object(map) = value else { return };
    if map.remove(path).is_some() {
        return;
    }
    let Some(name) = map
        .keys()
        .find(|name| {
            path.strip_prefix(name.as_str())
                .is_some_and(|rest| rest.starts_with(['.', '[']))
        })
        .cloned()
    else {
        return;
    };
    let (mut rest, mut slot) = (&path[name.len()..], map.get_mut(&name));
    while let Some((index, after)) = rest
        .strip_prefix('[')
        .and_then(|inner| inner.split_once(']'))
    {
        slot = index
            .parse::<usize>()
            .ok()
            .and_then(|index| slot?.get_mut(index));
        rest = after;
    }
    if let Some(slot) = slot {
        remove(slot, rest.strip_prefix('.').unwrap_or(rest));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_known_can_be_dropped() {
        let mut value = json!({"metadata": {"labels": {"a.b": "c"}}, "spec": {"replica": 1, "template": {"spec": {"containers": [{"imagee": 1, "name": "c"}]}}}});
        let told = drop("apps/v1", "Deployment", &mut value);
        assert_eq!(
            told,
            [
                "unknown field \"spec.replica\"",
                "unknown field \"spec.template.spec.containers[0].imagee\""
            ]
        );
        let left = json!({"metadata": {"labels": {"a.b": "c"}}, "spec": {"template": {"spec": {"containers": [{"name": "c"}]}}}});
        assert_eq!(value, left);
    }
}
