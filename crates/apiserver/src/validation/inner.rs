//! Formatting of values in the API server's internal form, as errors show them: with Go's field names and absent fields too.
//!
//! The internal types have the fields of v1, except for a few in other places. Models `pkg/apis/*/types.go` and the
//! conversions beside them.

use k8s_model::schema::{list_element, map_element, schema};
use serde_json::{Map, Value};

/// Formats a value on one line.
pub fn text(kind: &'static str, value: &Value) -> String {
    let mut printer = Printer {
        text: String::new(),
        indented: false,
    };
    printer.write(kind, value, 1);
    printer.text
}

/// Formats a value on several lines, indented by one blank per level.
pub fn lines(kind: &'static str, value: &Value) -> String {
    let mut printer = Printer {
        text: String::new(),
        indented: true,
    };
    printer.write(kind, value, 1);
    printer.text
}

/// Fields that are in the security context of the internal Pod.
const OF_HOST: [&str; 5] = [
    "hostNetwork",
    "hostPID",
    "hostIPC",
    "shareProcessNamespace",
    "hostUsers",
];
/// Fields that directly follow another one in the internal type.
const BEHIND: [(&str, &str, &str); 7] = [
    ("v1.PodSpec", "setHostnameAsFQDN", "subdomain"),
    ("v1.PodSpec", "preemptionPolicy", "priority"),
    ("v1.PodSpec", "overhead", "runtimeClassName"),
    ("v1.PodSecurityContext", "fsGroupChangePolicy", "fsGroup"),
    ("v1.VolumeSource", "quobyte", "rbd"),
    ("v1.PersistentVolumeSource", "quobyte", "rbd"),
    ("v1.PersistentVolumeSource", "flexVolume", "iscsi"),
];

/// Field name, if it has one, type and value.
type InnerEntry<'a> = (Option<String>, &'static str, &'a Value);

struct Printer {
    text: String,
    indented: bool,
}

impl Printer {
    fn write(&mut self, kind: &'static str, value: &Value, depth: usize) {
        let kind = kind.trim_start_matches('*');
        let base = schema().scalar(kind).unwrap_or(kind);
        match value {
            Value::Array(items) if !items.is_empty() => {
                let element = list_element(base).unwrap_or("any");
                self.block(
                    ('[', ']'),
                    items.iter().map(|item| (None, element, item)).collect(),
                    depth,
                );
            }
            Value::Object(map) => {
                let fields = schema()
                    .fields(base)
                    .filter(|_| !base.starts_with("metav1."));
                let moved = (base == "v1.PodSpec").then(|| with_host_in_context(map));
                let each = match fields {
                    Some(_) => entries(base, moved.as_ref().unwrap_or(value)),
                    // Types of apimachinery have no separate internal form, so they keep their JSON names.
                    None => {
                        let element = map_element(base).unwrap_or("any");
                        map.iter()
                            .map(|(key, item)| (Some(key.clone()), element, item))
                            .collect()
                    }
                };
                self.block(('{', '}'), each, depth);
            }
            _ => self.text.push_str(&value.to_string()),
        }
    }

    fn block(&mut self, ends: (char, char), each: Vec<InnerEntry<'_>>, depth: usize) {
        self.text.push(ends.0);
        for (index, (name, kind, value)) in each.iter().enumerate() {
            if index > 0 {
                self.text.push(',');
            }
            self.line(depth);
            if let Some(name) = name {
                self.text.push_str(&Value::from(name.as_str()).to_string());
                self.text.push_str(if self.indented { ": " } else { ":" });
            }
            let zero = zero_of(kind);
            self.write(kind, if value.is_null() { &zero } else { value }, depth + 1);
        }
        self.line(depth - 1);
        self.text.push(ends.1);
    }

    fn line(&mut self, depth: usize) {
        if self.indented {
            self.text.push('\n');
            self.text.push_str(&" ".repeat(depth));
        }
    }
}

/// Moves the host fields of a Pod's spec to their place in the internal type.
fn with_host_in_context(spec: &Map<String, Value>) -> Value {
    let mut spec = spec.clone();
    let mut context = spec
        .get("securityContext")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    for name in OF_HOST {
        if let Some(value) = spec.remove(name) {
            context.insert(name.to_owned(), value);
        }
    }
    spec.insert("securityContext".to_owned(), Value::Object(context));
    Value::Object(spec)
}

/// Returns the fields of a struct in the order of the internal type.
fn entries<'a>(base: &'static str, value: &'a Value) -> Vec<InnerEntry<'a>> {
    let mut each: Vec<(&'static str, InnerEntry<'a>)> = Vec::new();
    let named = |owner: &'static str, json: &'static str| {
        let field = schema().field(owner, json)?;
        let (first, rest) = field.go_name();
        Some((
            json,
            (Some(format!("{first}{rest}")), field.kind, &value[json]),
        ))
    };
    if base == "v1.PodSecurityContext" {
        each.extend(
            OF_HOST
                .into_iter()
                .filter_map(|json| named("v1.PodSpec", json)),
        );
    }
    for field in schema().fields(base).unwrap_or_default() {
        let elsewhere = base == "v1.PodSpec"
            && (OF_HOST.contains(&field.json) || field.json == "serviceAccount");
        if field.inline() {
            each.extend(
                entries(field.kind, value)
                    .into_iter()
                    .map(|entry| ("", entry)),
            );
        } else if field.kind == "metav1.ObjectMeta" {
            // Embedded in the internal type, so its fields are inlined.
            let meta = value[field.json].as_object().into_iter().flatten();
            each.extend(meta.map(|(key, item)| ("", (Some(key.clone()), "any", item))));
        } else if !elsewhere {
            each.extend(named(base, field.json));
        }
    }
    for (_, json, before) in BEHIND.into_iter().filter(|(owner, ..)| *owner == base) {
        let at = |wanted: &str, each: &[(&str, InnerEntry<'a>)]| {
            each.iter().position(|(json, _)| *json == wanted)
        };
        let Some(from) = at(json, &each) else {
            continue;
        };
        let field = each.remove(from);
        let to = at(before, &each).map_or(from, |at| at + 1);
        each.insert(to, field);
    }
    each.into_iter().map(|(_, entry)| entry).collect()
}

fn zero_of(kind: &str) -> Value {
    match schema().scalar(kind).unwrap_or(kind) {
        "string" => Value::from(""),
        "bool" => Value::Bool(false),
        "int32" | "int64" | "intstr.IntOrString" => Value::from(0),
        "resource.Quantity" => Value::from("0"),
        base if schema().fields(base).is_some() && !kind.starts_with('*') => {
            Value::Object(Map::new())
        }
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn internal_fields_are_shown_in_their_internal_place() {
        let pod = json!({"hostNetwork": true, "serviceAccount": "a", "overhead": {"cpu": "1"}, "runtimeClassName": "r", "priority": 5,
            "preemptionPolicy": "Never", "volumes": [{"name": "v", "emptyDir": {}}]});
        let shown = text("v1.PodSpec", &pod);
        for part in [
            "{\"Volumes\":[{\"Name\":\"v\",\"HostPath\":null,\"EmptyDir\":{\"Medium\":\"\",\"SizeLimit\":null},",
            "\"RBD\":null,\"Quobyte\":null,\"FlexVolume\":null",
            "\"ServiceAccountName\":\"\",\"AutomountServiceAccountToken\":null,\"NodeName\":\"\",\"SecurityContext\":{\"HostNetwork\":true,",
            "\"FSGroup\":null,\"FSGroupChangePolicy\":null,\"Sysctls\":null",
            "\"Priority\":5,\"PreemptionPolicy\":\"Never\",\"DNSConfig\":null",
            "\"RuntimeClassName\":\"r\",\"Overhead\":{\"cpu\":\"1\"},\"EnableServiceLinks\":null",
        ] {
            assert!(shown.contains(part), "{part}\n{shown}");
        }
        assert_eq!(
            lines("v1.ServicePort", &json!({"port": 80})).lines().nth(4),
            Some(" \"Port\": 80,")
        );
    }
}
