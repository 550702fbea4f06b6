//! JSON patches (RFC 6902).

use serde_json::Value;

/// Applies the operations of a patch in order; on an error the target is unchanged.
pub fn json_patch(target: &mut Value, patch: &Value) -> Result<(), String> {
    let operations = patch
        .as_array()
        .ok_or("the patch is not a list of operations")?;
    let mut copy = target.clone();
    for operation in operations {
        apply(&mut copy, operation)?;
    }
    *target = copy;
    Ok(())
}

fn apply(target: &mut Value, operation: &Value) -> Result<(), String> {
    let text = |name: &str| operation[name].as_str().unwrap_or("");
    let (op, path) = (text("op"), text("path"));
    let value = || operation.get("value").cloned().unwrap_or(Value::Null);
    match op {
        "add" => add(target, path, value()),
        "remove" => remove(target, path).map(drop),
        "replace" => replace(target, path, value()),
        "move" => {
            let moved = remove(target, text("from"))?;
            add(target, path, moved)
        }
        "copy" => {
            let copied = target
                .pointer(text("from"))
                .cloned()
                .ok_or_else(|| missing(op, text("from")))?;
            add(target, path, copied)
        }
        "test" if target.pointer(path).unwrap_or(&Value::Null) == &value() => Ok(()),
        "test" => Err(format!("testing value {path} failed: test failed")),
        _ => Err(format!("Unexpected kind: {op}")),
    }
}

fn missing(op: &str, path: &str) -> String {
    format!("{op} operation does not apply: doc is missing path: {path}: missing value")
}

fn parent<'a>(
    target: &'a mut Value,
    path: &str,
    op: &str,
) -> Result<(&'a mut Value, String), String> {
    let (outer, last) = path.rsplit_once('/').ok_or_else(|| missing(op, path))?;
    let holder = target.pointer_mut(outer).ok_or_else(|| missing(op, path))?;
    Ok((holder, last.replace("~1", "/").replace("~0", "~")))
}

fn add(target: &mut Value, path: &str, value: Value) -> Result<(), String> {
    if path.is_empty() {
        *target = value;
        return Ok(());
    }
    match parent(target, path, "add")? {
        (Value::Object(map), key) => drop(map.insert(key, value)),
        (Value::Array(list), key) if key == "-" => list.push(value),
        (Value::Array(list), key) => {
            let index = key
                .parse::<usize>()
                .ok()
                .filter(|index| *index <= list.len());
            let index = index.ok_or_else(|| {
                format!("add operation does not apply: index out of bounds: {path}")
            })?;
            list.insert(index, value);
        }
        _ => return Err(missing("add", path)),
    }
    Ok(())
}

/// Replaces a value, or adds the member of an object that is not there: `partialDoc.get` of `evanphx/json-patch.v4` finds every key.
fn replace(target: &mut Value, path: &str, value: Value) -> Result<(), String> {
    if let Some(slot) = target.pointer_mut(path) {
        *slot = value;
        return Ok(());
    }
    match parent(target, path, "replace")? {
        (Value::Object(map), key) => {
            map.insert(key, value);
            Ok(())
        }
        _ => Err(missing("replace", path)),
    }
}

/// Returns the members that no operation of a JSON patch has, such as `[0].x`.
pub fn unknown_members(patch: &Value) -> Vec<String> {
    let operations = patch.as_array().into_iter().flatten().enumerate();
    let members = |(index, operation): (usize, &Value)| {
        let names = operation.as_object().into_iter().flat_map(|map| map.keys());
        names
            .filter(|name| !matches!(name.as_str(), "op" | "path" | "from" | "value"))
            .map(|name| format!("[{index}].{name}"))
            .collect::<Vec<_>>()
    };
    operations.flat_map(members).collect()
}

fn remove(target: &mut Value, path: &str) -> Result<Value, String> {
    match parent(target, path, "remove")? {
        (Value::Object(map), key) => map.remove(&key).ok_or_else(|| missing("remove", path)),
        (Value::Array(list), key) => {
            let index = key
                .parse::<usize>()
                .ok()
                .filter(|index| *index < list.len());
            index
                .map(|index| list.remove(index))
                .ok_or_else(|| missing("remove", path))
        }
        _ => Err(missing("remove", path)),
    }
}
