//! Field table of v1.36: names, types and requiredness of every built-in kind.
//!
//! The table is text that `build/types.rs` generates, and is parsed once. It serves two purposes: strict decoding of documents as in the API
//! server, and the order of the fields of Go structs (on which the pod template hash depends).
//!
//! Models strict decoding as `sigs.k8s.io/json` does it.

use super::go_faults::{base64_fault, time_fault, time_part};
use super::json::escaped;
use serde_json::{Map, Value};
use std::cell::OnceCell;
use std::collections::BTreeMap;

const TABLE: &str = include_str!(concat!(env!("OUT_DIR"), "/schema.txt"));

/// Field of a struct, in the order of the Go source.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Name in JSON; empty for a struct that is inlined.
    pub json: &'static str,
    go: &'static str,
    /// Go type with its package prefix, `*` for pointers.
    pub kind: &'static str,
    /// True if the field is neither `omitempty` nor optional.
    pub required: bool,
    /// Condition under which Go leaves the field out.
    pub omit: Omit,
    /// Strategic merge patch strategy: `merge`, `retainKeys`, `replace`, several or none.
    pub strategy: &'static str,
    /// Key field of the elements of a list that is merged.
    pub merge_key: &'static str,
}

impl Field {
    /// Returns true if the field is an inlined struct.
    pub fn inline(&self) -> bool {
        self.json.is_empty()
    }

    /// Returns the Go name in two parts, because it is usually the JSON name with another first letter.
    pub fn go_name(&self) -> (char, &'static str) {
        let name = if self.go.is_empty() {
            self.json
        } else {
            self.go
        };
        let mut chars = name.chars();
        let first = chars.next().unwrap_or('?').to_ascii_uppercase();
        (first, chars.as_str())
    }
}

/// Condition under which a field is left out of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Omit {
    /// Never left out: an absent value is written as zero.
    Never,
    /// Left out if empty; structs are never empty.
    Empty,
    /// Left out if zero, structs too.
    Zero,
}

/// Parsed table.
pub struct Schema {
    structs: BTreeMap<&'static str, Vec<Field>>,
    scalars: BTreeMap<&'static str, &'static str>,
    kinds: BTreeMap<(&'static str, &'static str), &'static str>,
}

impl Schema {
    /// Parses the table.
    fn read() -> Schema {
        let mut schema = Schema {
            structs: BTreeMap::new(),
            scalars: BTreeMap::new(),
            kinds: BTreeMap::new(),
        };
        let mut open: (&str, Vec<Field>) = ("", Vec::new());
        for line in TABLE.lines() {
            let mut words = line.get(1..).unwrap_or("").split(' ');
            let mut next = || words.next().unwrap_or("");
            match line.as_bytes().first() {
                None => {}
                Some(b'@') => {
                    let key = (next(), next());
                    schema.kinds.insert(key, next());
                }
                Some(b'=') => {
                    let name = next();
                    schema.scalars.insert(name, next());
                }
                Some(b'>') => {
                    let (name, fields) = std::mem::replace(&mut open, (next(), Vec::new()));
                    schema.structs.insert(name, fields);
                }
                Some(_) => open.1.push(read_field(line)),
            }
        }
        schema.structs.insert(open.0, open.1);
        schema
    }

    /// Returns the fields of a struct such as `v1.PodSpec`.
    pub fn fields(&self, name: &str) -> Option<&[Field]> {
        self.structs.get(name).map(Vec::as_slice)
    }

    /// Returns the underlying type of a named type that is not a struct, such as `string` for `v1.Protocol`.
    pub fn scalar(&self, name: &str) -> Option<&'static str> {
        self.scalars.get(name).copied()
    }

    /// Returns the struct of a kind.
    pub fn kind(&self, api_version: &str, kind: &str) -> Option<&'static str> {
        // The keys are 'static, so look the pair up by comparison instead of by an owned key.
        self.kinds
            .iter()
            .find(|((a, k), _)| *a == api_version && *k == kind)
            .map(|(_, s)| *s)
    }

    /// Iterates over the kinds: API version, kind and struct.
    pub fn kinds(&self) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
        let kinds = self.kinds.iter();
        kinds.map(|((api_version, kind), name)| (*api_version, *kind, *name))
    }

    /// Finds a field by its JSON name, also among inlined structs.
    pub fn field(&self, name: &str, json: &str) -> Option<Field> {
        for field in self.fields(name)? {
            if field.inline() {
                if let Some(found) = self.field(field.kind.trim_start_matches('*'), json) {
                    return Some(found);
                }
            } else if field.json == json {
                return Some(*field);
            }
        }
        None
    }
}

fn read_field(line: &'static str) -> Field {
    let mut words = line.split(' ');
    let json = words.next().unwrap_or("");
    let kind = words.next().unwrap_or("");
    let go = words.next().unwrap_or("");
    let (kind, patch) = kind.split_once('&').unwrap_or((kind, ":"));
    let (strategy, merge_key) = patch.split_once(':').unwrap_or((patch, ""));
    let plain = kind.trim_end_matches(['!', '^', '~']);
    Field {
        json: if json == "~" { "" } else { json },
        go,
        kind: plain,
        required: kind.ends_with('!'),
        omit: match kind.as_bytes().last() {
            Some(b'!' | b'^') => Omit::Never,
            Some(b'~') => Omit::Zero,
            _ => Omit::Empty,
        },
        strategy,
        merge_key,
    }
}

thread_local! {
    static SCHEMA: OnceCell<&'static Schema> = const { OnceCell::new() };
}

/// Returns the table, which is parsed on first use, once for each thread, and never freed.
pub fn schema() -> &'static Schema {
    SCHEMA.with(|cell| *cell.get_or_init(|| Box::leak(Box::new(Schema::read()))))
}

/// Decoding error of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldProblem {
    /// Path of the field, such as `spec.template.spec.containers[0].imagee`.
    pub path: String,
    /// Message in the API server's words.
    pub message: String,
    /// True for an unknown field, as opposed to a value of the wrong type.
    pub unknown: bool,
    /// Message for a strategic merge patch with this value, which is not decoded but converted, by
    /// `apimachinery/pkg/runtime/converter.go`.
    pub unconverted: Option<String>,
}

/// Returns the strict decoding errors of a document, in the API server's order; none for a kind that is not in
/// the table. A value of the wrong type stops decoding, so it comes alone.
pub fn strict_errors(api_version: &str, kind: &str, value: &Value) -> Vec<FieldProblem> {
    let Some(name) = schema().kind(api_version, kind) else {
        return Vec::new();
    };
    let mut walk = Walk::new();
    walk.value(name, value);
    match walk.wrong {
        Some(problem) => vec![problem],
        None => walk.unknown,
    }
}

/// Returns the error of the first value whose type differs from its field's; unknown fields are ignored.
pub fn type_error(api_version: &str, kind: &str, value: &Value) -> Option<String> {
    strict_errors(api_version, kind, value)
        .into_iter()
        .find(|problem| !problem.unknown)
        .map(|problem| problem.message)
}

/// Returns the complete error of a document that does not decode: the text after `Error from server (BadRequest): `.
pub fn decode_error(api_version: &str, kind: &str, value: &Value) -> Option<String> {
    strict_decode_error(api_version, kind, value, |unknown| unknown)
}

/// Returns the complete error of a document that does not decode; `strict` gets the errors of unknown fields and may add others.
pub fn strict_decode_error(
    api_version: &str,
    kind: &str,
    value: &Value,
    strict: impl FnOnce(Vec<String>) -> Vec<String>,
) -> Option<String> {
    let problems = strict_errors(api_version, kind, value);
    let version = api_version.rsplit('/').next().unwrap_or(api_version);
    let detail = match problems.first() {
        Some(first) if !first.unknown => first.message.clone(),
        _ => {
            let all = strict(
                problems
                    .into_iter()
                    .map(|problem| problem.message)
                    .collect(),
            );
            if all.is_empty() {
                return None;
            }
            format!("strict decoding error: {}", all.join(", "))
        }
    };
    Some(format!(
        "{kind} in version \"{version}\" cannot be handled as a {kind}: {detail}"
    ))
}

/// Formats a patched object as Go writes it: the fields of a struct in the order of its source, those of an object that the patch
/// changes, and so parses, in alphabetical order.
pub fn patched_text(api_version: &str, kind: &str, value: &Value, touched: &Value) -> String {
    let name = schema().kind(api_version, kind).unwrap_or("");
    let mut text = String::new();
    write_patched(&mut text, name, value, Some(touched));
    text
}

fn write_patched(text: &mut String, kind: &'static str, value: &Value, touched: Option<&Value>) {
    let kind = kind.trim_start_matches('*');
    match value {
        Value::Object(map) => {
            let names: Vec<&String> = match touched.is_some_and(Value::is_object) {
                true => map.keys().collect(),
                false => {
                    let mut ordered = Vec::new();
                    declared(kind, &mut ordered);
                    let place = |name: &&String| ordered.iter().position(|known| known == name);
                    let mut names: Vec<&String> = map.keys().collect();
                    names.sort_by_key(|name| place(name).unwrap_or(ordered.len()));
                    names
                }
            };
            for (index, name) in names.into_iter().enumerate() {
                let field = schema().field(kind, name).map(|field| field.kind);
                let inner = match name.as_str() {
                    "metadata" if kind.is_empty() => "metav1.ObjectMeta",
                    _ => field.or_else(|| map_element(kind)).unwrap_or(""),
                };
                text.push(if index == 0 { '{' } else { ',' });
                text.push_str(&escaped(&Value::from(name.as_str())));
                text.push(':');
                let touched = touched.and_then(|touched| touched.get(name));
                write_patched(text, inner, &map[name], touched);
            }
            text.push_str(if map.is_empty() { "{}" } else { "}" });
        }
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_patched(text, list_element(kind).unwrap_or(""), item, None);
            }
            text.push(']');
        }
        scalar => text.push_str(&escaped(scalar)),
    }
}

/// Collects the JSON names of a struct's fields in the order of the source.
fn declared(kind: &str, names: &mut Vec<&'static str>) {
    for field in schema().fields(kind).unwrap_or_default() {
        match field.inline() {
            true => declared(field.kind.trim_start_matches('*'), names),
            false => names.push(field.json),
        }
    }
}

/// Returns the error of decoding only `metadata`, which a client does before it sends anything.
pub fn metadata_error(value: &Value) -> Option<FieldProblem> {
    let metadata = value.get("metadata")?;
    let mut walk = Walk::new();
    walk.owner = "PartialObjectMetadata";
    walk.names.push("metadata".to_owned());
    walk.inside("metadata", |walk| walk.value("metav1.ObjectMeta", metadata));
    walk.wrong
}

/// State of decoding: Go names the innermost struct and the JSON names that led there.
struct Walk {
    owner: &'static str,
    names: Vec<String>,
    path: String,
    unknown: Vec<FieldProblem>,
    wrong: Option<FieldProblem>,
}

impl Walk {
    fn new() -> Walk {
        Walk {
            owner: "",
            names: Vec::new(),
            path: String::new(),
            unknown: Vec::new(),
            wrong: None,
        }
    }

    fn inside(&mut self, name: &str, run: impl FnOnce(&mut Walk)) {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(name);
        run(self);
        self.path.truncate(length);
    }

    fn value(&mut self, kind: &'static str, value: &Value) {
        // Go keeps decoding after a wrong type but reports the first one only.
        if self.wrong.is_some() || value.is_null() {
            return;
        }
        let kind = kind.trim_start_matches('*');
        if let Some(element) = list_element(kind) {
            return match value {
                Value::Array(items) => self.list(element, items),
                Value::String(text) if element == "byte" => self.base64(text),
                _ => self.mismatch(kind, value),
            };
        }
        if let Some(element) = map_element(kind) {
            return match value.as_object() {
                Some(map) => self.map(element, map),
                None => self.mismatch(kind, value),
            };
        }
        if let Some(fields) = schema().fields(kind) {
            return match value.as_object() {
                Some(_) if fields.is_empty() => {}
                Some(_) => self.object(kind, value),
                None => self.mismatch(kind, value),
            };
        }
        self.scalar(kind, value);
    }

    fn map(&mut self, element: &'static str, map: &Map<String, Value>) {
        for (key, item) in map {
            self.inside(key, |walk| walk.value(element, item));
        }
    }

    fn list(&mut self, element: &'static str, items: &[Value]) {
        for (index, item) in items.iter().enumerate() {
            let length = self.path.len();
            self.path.push_str(&format!("[{index}]"));
            self.value(element, item);
            self.path.truncate(length);
        }
    }

    fn object(&mut self, kind: &'static str, value: &Value) {
        let Some(map) = value.as_object() else { return };
        let outer = self.owner;
        for (key, item) in map {
            self.owner = kind.rsplit('.').next().unwrap_or(kind);
            self.inside(key, |walk| match schema().field(kind, key) {
                Some(field) => {
                    walk.names.push(key.clone());
                    walk.value(field.kind, item);
                    walk.names.pop();
                }
                None => {
                    let message = format!("unknown field \"{}\"", walk.path);
                    let path = walk.path.clone();
                    walk.unknown.push(FieldProblem {
                        path,
                        message,
                        unknown: true,
                        unconverted: None,
                    });
                }
            });
        }
        self.owner = outer;
    }

    fn scalar(&mut self, kind: &'static str, value: &Value) {
        let base = schema().scalar(kind).unwrap_or(kind);
        match (value, list_element(base), map_element(base)) {
            (Value::Array(items), Some(element), _) => return self.list(element, items),
            (Value::Object(map), _, Some(element)) => return self.map(element, map),
            (_, None, None) => {}
            _ => return self.mismatch(kind, value),
        }
        match base {
            "string" if value.is_string() => {}
            "bool" if value.is_boolean() => {}
            "int32" if value.as_i64().is_some_and(|n| i32::try_from(n).is_ok()) => {}
            "int64" if value.is_i64() => {}
            "string" | "bool" | "int32" | "int64" => self.mismatch(kind, value),
            "resource.Quantity" => self.quantity(value),
            "intstr.IntOrString" => self.int_or_string(value),
            "metav1.Time" | "metav1.MicroTime" => self.time(value),
            _ => {}
        }
    }

    fn quantity(&mut self, value: &Value) {
        let text = match value {
            Value::String(text) => text.trim().to_owned(),
            other => other.to_string(),
        };
        if let Err(error) = super::quantity::Quantity::parse(&text) {
            self.fail(error.to_string(), None);
        }
    }

    fn int_or_string(&mut self, value: &Value) {
        let fits = value.as_i64().is_some_and(|n| i32::try_from(n).is_ok());
        if !value.is_string() && !fits {
            self.mismatch("int32", value);
        }
    }

    fn time(&mut self, value: &Value) {
        let Some(text) = value.as_str() else {
            let message = format!(
                "json: cannot unmarshal {} into Go value of type string",
                json_type(value, false)
            );
            return self.fail(message, Some(unconverted("string", value)));
        };
        if let Some(rest) = time_fault(text) {
            let part = time_part(text.len() - rest.len());
            let message = format!(
                "parsing time {text:?} as \"2006-01-02T15:04:05Z07:00\": cannot parse {rest:?} as \"{part}\""
            );
            self.fail(message, None);
        }
    }

    fn base64(&mut self, text: &str) {
        if let Some(at) = base64_fault(text) {
            self.fail(format!("illegal base64 data at input byte {at}"), None);
        }
    }

    fn mismatch(&mut self, kind: &'static str, value: &Value) {
        let found = json_type(
            value,
            matches!(schema().scalar(kind).unwrap_or(kind), "int32" | "int64"),
        );
        let unconverted = unconverted(kind, value);
        let kind = go_type(kind);
        let message = if self.names.is_empty() {
            format!("json: cannot unmarshal {found} into Go value of type {kind}")
        } else {
            let names = self.names.join(".");
            format!(
                "json: cannot unmarshal {found} into Go struct field {}.{names} of type {kind}",
                self.owner
            )
        };
        self.fail(message, Some(unconverted));
    }

    fn fail(&mut self, message: String, unconverted: Option<String>) {
        if self.wrong.is_none() {
            self.wrong = Some(FieldProblem {
                path: self.path.clone(),
                message,
                unknown: false,
                unconverted,
            });
        }
    }
}

/// Returns the element type of a slice type.
pub fn list_element(kind: &'static str) -> Option<&'static str> {
    kind.strip_prefix("[]")
}

/// Returns the element type of a map type; keys are always strings.
pub fn map_element(kind: &'static str) -> Option<&'static str> {
    kind.strip_prefix("map[")
        .and_then(|rest| rest.split_once(']'))
        .map(|(_, element)| element)
}

/// Returns the Go name of a type; the package is always `v1` for Go.
fn go_type(kind: &str) -> String {
    let Some(at) = kind.find('.') else {
        return kind.to_owned();
    };
    let start = kind[..at].rfind([']', '*']).map_or(0, |i| i + 1);
    let package = &kind[start..at];
    let short = match package.find('v') {
        Some(v) if package[v + 1..].chars().all(|c| c.is_ascii_digit()) => &package[v..],
        _ => package,
    };
    format!("{}{short}{}", &kind[..start], &kind[at..])
}

/// Returns the error of converting a JSON value to a type.
fn unconverted(kind: &'static str, value: &Value) -> String {
    let kind = kind.trim_start_matches('*');
    let base = schema().scalar(kind).unwrap_or(kind);
    let found = match value {
        Value::Null => "ptr",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
    };
    match (base, found) {
        ("string", "int64") | ("int32" | "int64", "float64") => {
            format!("cannot convert {found} to {}", go_type(kind))
        }
        ("string" | "bool" | "int32" | "int64", _) => format!("unrecognized type: {base}"),
        _ if list_element(base).is_some() => format!("cannot restore slice from {found}"),
        _ if map_element(base).is_some() => format!("cannot restore map from {found}"),
        _ => format!("cannot restore struct from: {found}"),
    }
}

/// Returns the type of a JSON value in the words of Go's decoder; for a numeric target, a number with its digits.
pub fn json_type(value: &Value, numeric: bool) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Number(number) if numeric => format!("number {number}"),
        Value::Number(_) => "number".to_owned(),
        Value::String(_) => "string".to_owned(),
        Value::Array(_) => "array".to_owned(),
        Value::Object(_) => "object".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn first(kind: (&str, &str), value: Value) -> String {
        strict_errors(kind.0, kind.1, &value)
            .first()
            .map(|p| p.message.clone())
            .unwrap_or_default()
    }

    const DEPLOYMENT: (&str, &str) = ("apps/v1", "Deployment");

    #[test]
    fn an_unknown_field_is_named_by_its_path() {
        let value = json!({"kind": "Deployment", "apiVersion": "apps/v1", "spec": {"replica": 2, "template": {"spec":
            {"containers": [{"imagee": 1}]}}}});
        assert_eq!(
            first(DEPLOYMENT, value.clone()),
            "unknown field \"spec.replica\""
        );
        assert_eq!(
            decode_error("apps/v1", "Deployment", &value).unwrap(),
            "Deployment in version \"v1\" cannot be handled as a Deployment: strict decoding error: \
             unknown field \"spec.replica\", unknown field \"spec.template.spec.containers[0].imagee\""
        );
    }

    #[test]
    fn a_wrong_type_is_told_as_go_tells_it() {
        for (kind, value, message) in [
            (
                DEPLOYMENT,
                json!({"spec": {"replicas": "3"}}),
                "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
            ),
            (
                DEPLOYMENT,
                json!({"spec": {"replicas": 2.5}}),
                "json: cannot unmarshal number 2.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
            ),
            (
                DEPLOYMENT,
                json!({"metadata": {"labels": {"a": 1}}}),
                "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
            ),
            (
                DEPLOYMENT,
                json!({"spec": {"template": {"spec": {"containers": [{"env": [{"value": 1}]}]}}}}),
                "json: cannot unmarshal number into Go struct field EnvVar.spec.template.spec.containers.env.value of type string",
            ),
            (
                DEPLOYMENT,
                json!({"spec": {"template": {"spec": {"containers": {}}}}}),
                "json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container",
            ),
            (
                ("v1", "ConfigMap"),
                json!({"data": {"a": 1}}),
                "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
            ),
            (
                ("v1", "Secret"),
                json!({"data": {"a": "not base64!"}}),
                "illegal base64 data at input byte 3",
            ),
        ] {
            assert_eq!(first(kind, value), message);
        }
        let value = json!({"metadata": {"name": 123}});
        assert_eq!(
            metadata_error(&value).unwrap().message,
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string"
        );
    }

    #[test]
    fn what_decodes_has_no_problem() {
        let value = json!({"kind": "StatefulSet", "apiVersion": "apps/v1", "metadata": {"creationTimestamp": null}, "spec": {
            "volumeClaimTemplates": [{"kind": "PersistentVolumeClaim", "metadata": {"name": "www"}}],
            "template": {"spec": {"volumes": [{"name": "v", "emptyDir": {}}], "containers": [{"resources":
            {"limits": {"cpu": 1, "memory": "1Gi"}}, "livenessProbe": {"httpGet": {"port": "web"}}}]}}}});
        assert_eq!(strict_errors("apps/v1", "StatefulSet", &value), vec![]);
        assert_eq!(
            strict_errors("example.com/v1", "Widget", &json!({"a": 1})),
            vec![]
        );
    }

    #[test]
    fn times_are_checked() {
        assert_eq!(time_fault("2026-11-21T06:21:48Z"), None);
        assert_eq!(time_fault("2026-11-21T06:21:48.123+01:00"), None);
        assert_eq!(time_fault("yesterday"), Some("yesterday"));
        assert_eq!(time_fault(""), Some(""));
    }
}
