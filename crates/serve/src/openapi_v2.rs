//! OpenAPI v2, requested by clients for kinds that are not in v3: the same schemas in one document, as JSON and as protobuf.
//!
//! Models `kube-openapi/pkg/handler`; the protobuf form is the one of `gnostic/openapiv2`.

use super::http_request::HttpRequest;
use super::openapi::everything;
use super::status::{Answer, failure};
use cluster::Sim;
use k8s_model::openapi::NAMES;
use serde_json::{Map, Value, json};

const PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
/// The same media type as the type of an answer, which must not contain an `@`.
const ANSWERED: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/// Serves the whole document.
pub fn answer(sim: &Sim, request: &HttpRequest) -> Answer {
    let document = document(sim);
    let accepts = request.header("accept");
    if accepts.contains(PROTOBUF) || accepts.contains(ANSWERED) {
        return Answer {
            content_type: ANSWERED,
            body: message(&document),
            ..Answer::json(200, &Value::Null)
        };
    }
    if accepts.is_empty() || accepts.contains("application/json") || accepts.contains("*/*") {
        return Answer::json(200, &document);
    }
    failure(
        406,
        "NotAcceptable",
        &format!("only the following media types are accepted: application/json, {PROTOBUF}"),
    )
}

fn document(sim: &Sim) -> Value {
    let (schemas, mut paths) = everything(sim);
    let definitions: Map<String, Value> = schemas
        .into_iter()
        .map(|(name, schema)| (name, older(schema)))
        .collect();
    let operations = paths
        .values_mut()
        .filter_map(Value::as_object_mut)
        .flat_map(Map::values_mut);
    for parameter in operations
        .filter_map(|one| one["parameters"].as_array_mut())
        .flatten()
        .filter_map(Value::as_object_mut)
    {
        // The type of a parameter is inlined beside its name.
        if let Some(Value::Object(schema)) = parameter.remove("schema") {
            parameter.extend(schema);
        }
    }
    json!({ "swagger": "2.0", "info": { "title": "Kubernetes", "version": "v1.36.2" }, "paths": paths, "definitions": definitions })
}

/// Extension of a schema that preserves unknown fields. kubectl takes the listed properties for complete.
const KEEPS_UNKNOWN: &str = "x-kubernetes-preserve-unknown-fields";

/// Removes from a schema whatever kubectl would misread: the properties if unknown fields are preserved, and the type of nullable fields.
fn readable(map: &mut Map<String, Value>) {
    let (keeps, nullable) = (
        map.get(KEEPS_UNKNOWN) == Some(&true.into()),
        map.get("nullable") == Some(&true.into()),
    );
    if keeps || nullable {
        map.remove("items");
        map.remove("properties");
    }
    let kind = map.get("type").and_then(Value::as_str).unwrap_or("");
    if nullable || keeps && kind == "object" || kind == "array" && !map.contains_key("items") {
        map.remove("type");
    }
    let is_nullable = |map: &Map<String, Value>, name: &Value| {
        map["properties"][name.as_str().unwrap_or("")]["nullable"] == true
    };
    if map.get("properties").is_some_and(Value::is_object)
        && let Some(Value::Array(required)) = map.get("required")
    {
        let required: Vec<Value> = required
            .iter()
            .filter(|name| !is_nullable(map, name))
            .cloned()
            .collect();
        if required.is_empty() {
            map.remove("required")
        } else {
            map.insert("required".to_owned(), required.into())
        };
    }
}

/// Converts a schema to v2: other references, and a format for int-or-string.
fn older(schema: Value) -> Value {
    match schema {
        Value::Object(map)
            if map.get(KEEPS_UNKNOWN) == Some(&true.into()) && map.contains_key(NAMES) =>
        {
            json!({ "type": "object", NAMES: map[NAMES] })
        }
        Value::Object(map)
            if map.contains_key("oneOf")
                && !map.contains_key("type")
                && !map.contains_key(KEEPS_UNKNOWN)
                || map.contains_key("x-kubernetes-int-or-string") =>
        {
            let mut kept = json!({ "type": "string" });
            let custom = map
                .get("x-kubernetes-int-or-string")
                .map(|_| Value::from("int-or-string"));
            for (name, value) in [
                ("description", map.get("description")),
                ("format", map.get("format").or(custom.as_ref())),
            ] {
                if let Some(value) = value {
                    kept[name] = value.clone();
                }
            }
            kept
        }
        Value::Object(mut map) => {
            readable(&mut map);
            // A reference with siblings.
            if let Some(Value::Array(mut one)) = map
                .remove("allOf")
                .filter(|_| !map.contains_key("type") && !map.contains_key(KEEPS_UNKNOWN))
            {
                map.append(
                    one.first_mut()
                        .and_then(Value::as_object_mut)
                        .unwrap_or(&mut Map::new()),
                );
            }
            let one = |(key, value): (String, Value)| match (key.as_str(), &value) {
                ("$ref", Value::String(name)) => (
                    key,
                    name.replace("#/components/schemas/", "#/definitions/")
                        .into(),
                ),
                ("nullable" | "oneOf" | "anyOf" | "not", _) => (String::new(), Value::Null),
                // The keys of properties are names, not schema keywords.
                ("properties", Value::Object(_)) => {
                    let Value::Object(named) = value else {
                        return (key, value);
                    };
                    (
                        key,
                        named
                            .into_iter()
                            .map(|(name, one)| (name, older(one)))
                            .collect(),
                    )
                }
                ("default" | "enum" | "example", _) => (key, value),
                _ => (key, older(value)),
            };
            Value::Object(
                map.into_iter()
                    .map(one)
                    .filter(|(key, _)| !key.is_empty())
                    .collect(),
            )
        }
        Value::Array(list) => list.into_iter().map(older).collect(),
        other => other,
    }
}

fn varint(out: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends a length-delimited field: text or a message.
fn put(out: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    varint(out, field << 3 | 2);
    varint(out, bytes.len() as u64);
    out.extend(bytes);
}

fn put_text(out: &mut Vec<u8>, field: u64, value: &Value) {
    if let Some(text) = value.as_str() {
        put(out, field, text.as_bytes());
    }
}

/// Encodes a name and a message.
fn named(name: &str, value: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, 1, name.as_bytes());
    put(&mut out, 2, value);
    out
}

fn message(document: &Value) -> Vec<u8> {
    let (mut out, mut info, mut definitions) = (Vec::new(), Vec::new(), Vec::new());
    put_text(&mut out, 1, &document["swagger"]);
    put_text(&mut info, 1, &document["info"]["title"]);
    put_text(&mut info, 2, &document["info"]["version"]);
    put(&mut out, 2, &info);
    let mut paths = Vec::new();
    for (name, operations) in document["paths"].as_object().into_iter().flatten() {
        put(&mut paths, 2, &named(name, &path(operations)));
    }
    put(&mut out, 8, &paths);
    for (name, one) in document["definitions"].as_object().into_iter().flatten() {
        put(&mut definitions, 1, &named(name, &schema(one)));
    }
    put(&mut out, 9, &definitions);
    out
}

/// Encodes the operations of a path: their ids and descriptions.
fn path(operations: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    for (field, method) in [
        (2, "get"),
        (3, "put"),
        (4, "post"),
        (5, "delete"),
        (8, "patch"),
    ] {
        let one = &operations[method];
        if one.is_null() {
            continue;
        }
        let mut operation = Vec::new();
        put_text(&mut operation, 3, &one["description"]);
        put_text(&mut operation, 5, &one["operationId"]);
        put(&mut operation, 9, b"");
        put_extensions(&mut operation, 13, one);
        put(&mut out, field, &operation);
    }
    out
}

/// Appends fields whose names begin with `x-`.
fn put_extensions(out: &mut Vec<u8>, field: u64, value: &Value) {
    for (name, one) in value
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| name.starts_with("x-"))
    {
        // Their values are YAML, of which JSON is a subset.
        let mut any = Vec::new();
        put(&mut any, 2, one.to_string().as_bytes());
        put(out, field, &named(name, &any));
    }
}

fn schema(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    put_text(&mut out, 1, &value["$ref"]);
    put_text(&mut out, 2, &value["format"]);
    put_text(&mut out, 4, &value["description"]);
    for required in value["required"].as_array().into_iter().flatten() {
        put_text(&mut out, 19, required);
    }
    match &value["additionalProperties"] {
        one @ Value::Object(_) => {
            let mut item = Vec::new();
            put(&mut item, 1, &schema(one));
            put(&mut out, 21, &item);
        }
        Value::Bool(true) => put(&mut out, 21, &[2 << 3, 1]),
        _ => {}
    }
    if value["type"].is_string() {
        let mut item = Vec::new();
        put_text(&mut item, 1, &value["type"]);
        put(&mut out, 22, &item);
    }
    if value["items"].is_object() {
        let mut item = Vec::new();
        put(&mut item, 1, &schema(&value["items"]));
        put(&mut out, 23, &item);
    }
    let mut properties = Vec::new();
    for (name, one) in value["properties"].as_object().into_iter().flatten() {
        put(&mut properties, 1, &named(name, &schema(one)));
    }
    if !properties.is_empty() {
        put(&mut out, 25, &properties);
    }
    put_extensions(&mut out, 31, value);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use controller_runtime::cluster::ClusterConfig;

    #[test]
    fn references_and_numbers_or_texts_are_those_of_v2() {
        let document = document(&Sim::new(ClusterConfig::default(), 1));
        let deployment = &document["definitions"]["io.k8s.api.apps.v1.Deployment"];
        assert_eq!(
            deployment["properties"]["spec"]["$ref"],
            "#/definitions/io.k8s.api.apps.v1.DeploymentSpec"
        );
        assert_eq!(
            deployment["x-kubernetes-group-version-kind"][0]["kind"],
            "Deployment"
        );
        let rolling = &document["definitions"]["io.k8s.api.apps.v1.RollingUpdateDeployment"]["properties"]
            ["maxSurge"];
        assert_eq!(
            rolling["$ref"],
            "#/definitions/io.k8s.apimachinery.pkg.util.intstr.IntOrString"
        );
        assert_eq!(
            document["definitions"]["io.k8s.apimachinery.pkg.util.intstr.IntOrString"]["format"],
            "int-or-string"
        );
        assert!(!document.to_string().contains("#/components"));
        let pods = &document["paths"]["/api/v1/namespaces/{namespace}/pods"];
        let watch = pods["get"]["parameters"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["name"] == "watch")
            .unwrap();
        assert_eq!(
            (&pods["get"]["operationId"], &watch["type"]),
            (&json!("listCoreV1NamespacedPod"), &json!("string"))
        );
        assert!(
            pods["post"]["description"]
                .as_str()
                .unwrap()
                .contains("Pod")
        );
        // A read-only resource has no other operation.
        let statuses = document["paths"]["/api/v1/componentstatuses"]
            .as_object()
            .unwrap();
        assert!(statuses.keys().eq(["get"]));
    }

    #[test]
    fn a_message_has_fields_with_their_lengths() {
        let one = json!({ "type": "object", "properties": { "a": { "$ref": "b" } } });
        assert_eq!(
            schema(&one),
            b"\xb2\x01\x08\x0a\x06object\xca\x01\x0a\x0a\x08\x0a\x01a\x12\x03\x0a\x01b"
        );
    }
}
