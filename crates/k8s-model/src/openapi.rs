//! OpenAPI v3 schemas of kinds, with a description of every field: the data of `kubectl explain`.
//!
//! Fields and types are those of `schema.rs`; values of enums and upstream's descriptions are in separate tables that `build/types.rs`
//! generates and the page loads on first use ([`provide`]): they are 100 kB after compression, a sixth of the page.
//!
//! Models `kube-openapi/pkg/builder3` and the schemas that `apiextensions-apiserver/pkg/controller/openapi` publishes for custom kinds.

use super::schema::{Field, list_element, map_element, schema};
use serde_json::{Map, Value, json};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// Prefix of a reference to a schema.
const PLACE: &str = "#/components/schemas/";
/// Extension with the group, version and kind of a schema.
pub const NAMES: &str = "x-kubernetes-group-version-kind";

/// Go structs with another JSON form.
const LEAVES: &[(&str, &str)] = &[
    (
        "apiextensionsv1.CustomResourceSubresourceStatus",
        r#"{"type":"object"}"#,
    ),
    ("apiextensionsv1.JSON", "{}"),
    ("apiextensionsv1.JSONSchemaPropsOrArray", "{}"),
    ("apiextensionsv1.JSONSchemaPropsOrBool", "{}"),
    ("apiextensionsv1.JSONSchemaPropsOrStringArray", "{}"),
    (
        "intstr.IntOrString",
        r#"{"format":"int-or-string","oneOf":[{"type":"integer"},{"type":"string"}]}"#,
    ),
    ("metav1.FieldsV1", r#"{"type":"object"}"#),
    (
        "metav1.MicroTime",
        r#"{"type":"string","format":"date-time"}"#,
    ),
    ("metav1.Time", r#"{"type":"string","format":"date-time"}"#),
    (
        "resource.Quantity",
        r#"{"oneOf":[{"type":"string"},{"type":"number"}]}"#,
    ),
    ("runtime.RawExtension", r#"{"type":"object"}"#),
];

/// Tables that only OpenAPI needs.
pub struct OpenApi {
    /// Structs with fields that are required though they may be left out.
    required: BTreeSet<(&'static str, &'static str)>,
    /// Values of enums by type, separated by tabs.
    values: BTreeMap<&'static str, &'static str>,
    /// Description lines by struct: that of the struct, then one for each of its fields.
    blocks: BTreeMap<&'static str, &'static str>,
}

impl OpenApi {
    /// Parses the two tables, given one after the other; both may be missing.
    fn read(tables: &'static str) -> OpenApi {
        let (facts, texts) = tables.split_once("\n:").unwrap_or((tables, ""));
        let mut open = OpenApi {
            required: BTreeSet::new(),
            values: BTreeMap::new(),
            blocks: BTreeMap::new(),
        };
        for line in facts.lines() {
            if let Some((name, field)) = line.strip_prefix('!').and_then(|one| one.split_once(' '))
            {
                open.required.insert((name, field));
            } else if let Some((name, values)) =
                line.strip_prefix('|').and_then(|one| one.split_once('\t'))
            {
                open.values.insert(name, values);
            }
        }
        for (name, block) in texts
            .split("\n:")
            .filter_map(|block| block.split_once('\t'))
        {
            open.blocks.insert(name, block);
        }
        open
    }

    /// Returns the description of a struct, or of one of its fields.
    fn described(&self, name: &str, field: &str) -> Option<String> {
        let mut lines = self.blocks.get(name)?.lines();
        let text = lines.next()?;
        let text = match field {
            "" => text,
            field => lines
                .filter_map(|line| line.split_once('\t'))
                .find_map(|(json, text)| (json == field).then_some(text))?,
        };
        (!text.is_empty()).then(|| {
            text.replace("\\n", "\n")
                .replace("\\t", "\t")
                .replace("\\\\", "\\")
        })
    }

    /// Returns the schema of a kind; schemas that it refers to are added to `schemas`.
    pub fn kind(
        &self,
        group: &str,
        version: &str,
        kind: &str,
        schemas: &mut Map<String, Value>,
    ) -> Option<Value> {
        let api_version = if group.is_empty() {
            version.to_owned()
        } else {
            format!("{group}/{version}")
        };
        let root = schema().kind(&api_version, kind)?;
        self.collect(root, schemas);
        let entry = schemas.get_mut(&public_name(root))?;
        entry[NAMES] = json!([{ "group": group, "version": version, "kind": kind }]);
        Some(entry.clone())
    }

    /// Returns the schema of a custom kind, with the fields that every object has.
    pub fn custom(
        &self,
        schema: &Value,
        group: &str,
        version: &str,
        kind: &str,
        schemas: &mut Map<String, Value>,
    ) -> Value {
        let mut schema = if schema.is_object() {
            schema.clone()
        } else {
            json!({})
        };
        let (mut header, mut required) = (Map::new(), Vec::new());
        self.properties(
            "metav1.TypeMeta",
            "metav1.TypeMeta",
            &mut header,
            &mut required,
            schemas,
        );
        // Every kind describes its metadata in the same words.
        let mut metadata = self.property("metav1.ObjectMeta", schemas);
        if let Some(text) = self.described("v1.ConfigMap", "metadata") {
            metadata["description"] = text.into();
        }
        header.insert("metadata".to_owned(), metadata);
        embed(&mut schema, &header);
        add(&mut schema, header);
        schema[NAMES] = json!([{ "group": group, "version": version, "kind": kind }]);
        let reversed: Vec<&str> = group.split('.').rev().collect();
        schemas.insert(
            format!("{}.{version}.{kind}", reversed.join(".")),
            schema.clone(),
        );
        schema
    }

    /// Adds a struct and the structs of its fields.
    fn collect(&self, name: &'static str, schemas: &mut Map<String, Value>) {
        let public = public_name(name);
        if schemas.contains_key(&public) {
            return;
        }
        schemas.insert(public.clone(), Value::Null);
        let mut entry = match LEAVES.iter().find(|(leaf, _)| *leaf == name) {
            Some((_, text)) => serde_json::from_str(text).unwrap_or_default(),
            None => {
                let (mut properties, mut required) = (Map::new(), Vec::new());
                self.properties(name, name, &mut properties, &mut required, schemas);
                let mut entry = json!({ "type": "object", "properties": properties });
                if !required.is_empty() {
                    entry["required"] = Value::Array(required);
                }
                entry
            }
        };
        if let Some(text) = self.described(name, "") {
            entry["description"] = text.into();
        }
        schemas.insert(public, entry);
    }

    /// Collects the fields of a struct and of its inlined structs; `owner` is the outermost.
    fn properties(
        &self,
        owner: &'static str,
        name: &'static str,
        properties: &mut Map<String, Value>,
        required: &mut Vec<Value>,
        schemas: &mut Map<String, Value>,
    ) {
        for field in schema().fields(name).unwrap_or_default() {
            if field.inline() {
                self.properties(
                    owner,
                    field.kind.trim_start_matches('*'),
                    properties,
                    required,
                    schemas,
                );
                continue;
            }
            if field.required || self.required.contains(&(name, field.json)) {
                required.push(field.json.into());
            }
            let mut property = self.property(field.kind, schemas);
            let text = self
                .described(owner, field.json)
                .or_else(|| self.described(name, field.json));
            if let Some(text) = text {
                property["description"] = text.into();
            }
            patched(field, &mut property);
            properties.insert(field.json.to_owned(), property);
        }
    }

    fn property(&self, kind: &'static str, schemas: &mut Map<String, Value>) -> Value {
        let property = self.type_of(kind, schemas);
        if property.get("$ref").is_some() {
            // Siblings of a `$ref` are ignored.
            return json!({ "allOf": [property] });
        }
        property
    }

    fn type_of(&self, kind: &'static str, schemas: &mut Map<String, Value>) -> Value {
        let kind = kind.trim_start_matches('*');
        if kind == "[]byte" {
            return json!({ "type": "string", "format": "byte" });
        }
        if let Some(element) = list_element(kind) {
            return json!({ "type": "array", "items": self.type_of(element, schemas) });
        }
        if let Some(element) = map_element(kind) {
            return json!({ "type": "object", "additionalProperties": self.type_of(element, schemas) });
        }
        match kind {
            "bool" => json!({ "type": "boolean" }),
            "int32" | "int64" => json!({ "type": "integer", "format": kind }),
            "float64" => json!({ "type": "number", "format": "double" }),
            _ => match schema().scalar(kind) {
                Some(inner) => {
                    let mut schema = self.type_of(inner, schemas);
                    if let Some(values) = self.values.get(kind) {
                        schema["enum"] = values.split('\t').map(Value::from).collect();
                    }
                    schema
                }
                None if kind == "string" => json!({ "type": "string" }),
                None => {
                    self.collect(kind, schemas);
                    json!({ "$ref": format!("{PLACE}{}", public_name(kind)) })
                }
            },
        }
    }
}

/// Adds properties to a schema.
fn add(schema: &mut Value, header: Map<String, Value>) {
    if !schema["properties"].is_object() {
        schema["properties"] = Value::Object(Map::new());
    }
    for (name, property) in header {
        schema["properties"][name] = property;
    }
}

/// Adds the fields that every object has to the schemas of embedded objects.
fn embed(schema: &mut Value, header: &Map<String, Value>) {
    match schema {
        Value::Object(map) => {
            map.values_mut().for_each(|inner| embed(inner, header));
            if map.get("x-kubernetes-embedded-resource") == Some(&Value::Bool(true)) {
                add(schema, header.clone());
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|inner| embed(inner, header)),
        _ => {}
    }
}

/// Resolves a reference to a schema.
pub fn resolved<'a>(reference: &str, schemas: &'a Map<String, Value>) -> Option<&'a Value> {
    schemas.get(reference.strip_prefix(PLACE)?)
}

fn patched(field: &Field, property: &mut Value) {
    for (name, value) in [("strategy", field.strategy), ("merge-key", field.merge_key)] {
        if !value.is_empty() {
            property[format!("x-kubernetes-patch-{name}")] = value.into();
        }
    }
}

/// Converts `appsv1.Deployment` to `io.k8s.api.apps.v1.Deployment`.
fn public_name(name: &str) -> String {
    let (package, name) = name.split_once('.').unwrap_or(("v1", name));
    let version = package
        .rfind('v')
        .filter(|at| package[at + 1..].bytes().all(|b| b.is_ascii_digit()))
        .unwrap_or(package.len());
    let (group, version) = package.split_at(version);
    let package = match group {
        "meta" => format!("apimachinery.pkg.apis.meta.{version}"),
        "intstr" => "apimachinery.pkg.util.intstr".to_owned(),
        "resource" if version.is_empty() => "apimachinery.pkg.api.resource".to_owned(),
        "runtime" => "apimachinery.pkg.runtime".to_owned(),
        "apiextensions" => format!("apiextensions-apiserver.pkg.apis.apiextensions.{version}"),
        "apiregistration" => format!("kube-aggregator.pkg.apis.apiregistration.{version}"),
        "" => format!("api.core.{version}"),
        group => format!("api.{group}.{version}"),
    };
    format!("io.k8s.{package}.{name}")
}

thread_local! {
    static TABLES: Cell<Option<&'static OpenApi>> = const { Cell::new(None) };
}

/// Installs the tables for the current thread; earlier tables are leaked.
pub fn provide(tables: String) -> &'static OpenApi {
    let open: &'static OpenApi =
        Box::leak(Box::new(OpenApi::read(Box::leak(tables.into_boxed_str()))));
    TABLES.set(Some(open));
    open
}

/// Returns the tables; in the page without descriptions and values of enums until they have been loaded.
pub fn tables() -> &'static OpenApi {
    TABLES.get().unwrap_or_else(|| provide(own()))
}

/// Returns the tables that native builds embed, one after the other.
#[cfg(not(target_arch = "wasm32"))]
pub fn own() -> String {
    concat!(
        include_str!(concat!(env!("OUT_DIR"), "/openapi.txt")),
        include_str!(concat!(env!("OUT_DIR"), "/descriptions.txt"))
    )
    .to_owned()
}

#[cfg(target_arch = "wasm32")]
fn own() -> String {
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_has_descriptions_values_and_references() {
        let mut schemas = Map::new();
        let deployment = tables()
            .kind("apps", "v1", "Deployment", &mut schemas)
            .unwrap();
        assert_eq!(
            deployment["properties"]["spec"]["allOf"][0]["$ref"],
            "#/components/schemas/io.k8s.api.apps.v1.DeploymentSpec"
        );
        assert_eq!(
            deployment["properties"]["spec"]["description"],
            "Specification of the desired behavior of the Deployment."
        );
        let strategy = resolved(
            "#/components/schemas/io.k8s.api.apps.v1.DeploymentStrategy",
            &schemas,
        )
        .unwrap();
        assert_eq!(
            strategy["properties"]["type"]["enum"],
            json!(["Recreate", "RollingUpdate"])
        );
        assert_eq!(
            schemas["io.k8s.apimachinery.pkg.api.resource.Quantity"]["oneOf"][1]["type"],
            "number"
        );
        let cron = tables()
            .kind("batch", "v1", "CronJob", &mut schemas)
            .unwrap();
        assert_eq!(cron["required"], json!(["spec"]));
    }

    #[test]
    fn without_the_tables_there_are_fields_and_no_descriptions() {
        let bare = OpenApi::read("");
        let mut schemas = Map::new();
        let pod = bare.kind("", "v1", "Pod", &mut schemas).unwrap();
        assert!(pod["description"].is_null() && pod["properties"]["spec"]["description"].is_null());
    }
}
