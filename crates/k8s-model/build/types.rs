//! Tables of the types of the Kubernetes API: names, types, requirements and descriptions of fields from the OpenAPI document, which the
//! crate `k8s-openapi` has as JSON schemas; the rest, such as the order of fields and patch strategies, from `go_types.txt`.
//!
//! A field that only one of the two sources has stops the build: after an update of `k8s-openapi`, `go_types.txt` is written anew.
//!
//! The tables are text: as constants of Rust they would be twice as large in the page.

use k8s_openapi::schemars::generate::SchemaSettings;
use k8s_openapi::schemars::{JsonSchema, SchemaGenerator};
use k8s_openapi::{Resource, api, apiextensions_apiserver, kube_aggregator};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

const GO_TYPES: &str = include_str!("go_types.txt");

/// Go structs with a JSON form of their own: their fields are none of the API's.
const LEAVES: [&str; 11] = [
    "apiextensionsv1.CustomResourceSubresourceStatus",
    "apiextensionsv1.JSON",
    "apiextensionsv1.JSONSchemaPropsOrArray",
    "apiextensionsv1.JSONSchemaPropsOrBool",
    "apiextensionsv1.JSONSchemaPropsOrStringArray",
    "intstr.IntOrString",
    "metav1.FieldsV1",
    "metav1.MicroTime",
    "metav1.Time",
    "resource.Quantity",
    "runtime.RawExtension",
];

/// Generated tables.
pub struct Tables {
    /// Kinds, structs and their fields; `src/schema.rs` reads it.
    pub schema: String,
    /// Requirements that only OpenAPI has, and values of enums; `src/openapi.rs` reads it.
    pub openapi: String,
    /// Descriptions of structs and fields.
    pub descriptions: String,
    /// Numbers of the fields in protobuf by struct; `src/protobuf.rs` reads it.
    pub protobuf: String,
}

/// Kind with the name of its struct.
struct ServedKind {
    api_version: &'static str,
    kind: &'static str,
    name: String,
}

/// JSON schemas by Go name.
struct Document {
    generator: SchemaGenerator,
    kinds: Vec<ServedKind>,
}

impl Document {
    fn add<T: Resource + JsonSchema>(&mut self) {
        self.generator.subschema_for::<T>();
        self.kinds.push(ServedKind {
            api_version: T::API_VERSION,
            kind: T::KIND,
            name: go_name(&T::schema_name()),
        });
    }
}

macro_rules! kinds {
    ($($($group:ident)::+ { $($kind:ident)* })*) => {
        fn read_document() -> Document {
            let mut document = Document {
                generator: SchemaSettings::openapi3().into_generator(),
                kinds: Vec::new(),
            };
            $({
                use $($group)::+ as group;
                $(document.add::<group::$kind>();)*
            })*
            document
        }
    };
}

kinds! {
    api::core::v1 {
        ComponentStatus ConfigMap Endpoints Event LimitRange Namespace Node PersistentVolume PersistentVolumeClaim Pod PodTemplate
        ReplicationController ResourceQuota Secret Service ServiceAccount
    }
    api::admissionregistration::v1 {
        MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration ValidatingAdmissionPolicy
        ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration
    }
    api::apps::v1 { ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet }
    api::autoscaling::v2 { HorizontalPodAutoscaler }
    api::batch::v1 { CronJob Job }
    api::certificates::v1 { CertificateSigningRequest }
    api::coordination::v1 { Lease }
    api::discovery::v1 { EndpointSlice }
    api::flowcontrol::v1 { FlowSchema PriorityLevelConfiguration }
    api::networking::v1 { IPAddress Ingress IngressClass NetworkPolicy ServiceCIDR }
    api::node::v1 { RuntimeClass }
    api::policy::v1 { PodDisruptionBudget }
    api::rbac::v1 { ClusterRole ClusterRoleBinding Role RoleBinding }
    api::resource::v1 { DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice }
    api::scheduling::v1 { PriorityClass }
    api::storage::v1 { CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass }
    apiextensions_apiserver::pkg::apis::apiextensions::v1 { CustomResourceDefinition }
    kube_aggregator::pkg::apis::apiregistration::v1 { APIService }
}

/// Converts `io.k8s.api.apps.v1.Deployment` to `appsv1.Deployment`.
fn go_name(schema: &str) -> String {
    let mut words = schema.rsplit('.');
    let (name, last) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let package = match last {
        "intstr" | "resource" | "runtime" => last.to_owned(),
        version => match words.next() {
            Some("core") => version.to_owned(),
            group => format!("{}{version}", group.unwrap_or("")),
        },
    };
    format!("{package}.{name}")
}

/// Returns the Go type of a JSON schema, as far as OpenAPI has it: without pointers and named types.
fn go_type(schema: &Value) -> String {
    let text = |key: &str| schema[key].as_str().unwrap_or("");
    if let Some(reference) = schema["$ref"].as_str() {
        return go_name(reference.rsplit('/').next().unwrap_or(""));
    }
    if let Some(one) = schema["allOf"].get(0) {
        return go_type(one);
    }
    match (text("type"), text("format")) {
        ("array", _) => format!("[]{}", go_type(&schema["items"])),
        ("object", _) => format!("map[string]{}", go_type(&schema["additionalProperties"])),
        ("string", "byte") => "[]byte".to_owned(),
        ("string", _) => "string".to_owned(),
        ("boolean", _) => "bool".to_owned(),
        ("number", _) => "float64".to_owned(),
        ("integer", format) => format.to_owned(),
        other => panic!("a field has the type {other:?}: {schema}"),
    }
}

/// Field or inlined struct of `go_types.txt`.
struct GoField {
    json: &'static str,
    /// Number in protobuf, if it is not the one after the field before.
    number: Option<u32>,
    go: &'static str,
    inlined: bool,
    pointer: bool,
    named: &'static str,
    mark: &'static str,
    patch: &'static str,
}

impl GoField {
    fn read(word: &'static str) -> GoField {
        let (rest, patch) = word.split_once('&').unwrap_or((word, ""));
        let end = rest.trim_end_matches(['!', '?', '^', '~', '-']).len();
        let (rest, mark) = rest.split_at(end);
        let (rest, named) = rest.split_once('=').unwrap_or((rest, ""));
        let (json, go) = rest.split_once(':').unwrap_or((rest, ""));
        let (json, number) = json.split_once('/').unwrap_or((json, ""));
        GoField {
            number: number.parse().ok(),
            json: json.trim_start_matches(['*', '~']),
            go,
            inlined: json.starts_with('~'),
            pointer: json.starts_with('*'),
            named,
            mark,
            patch,
        }
    }
}

/// Prefixes the names of a type that have no package.
fn qualified(named: &str, package: &str) -> String {
    let start = named.rfind([']', '[']).map_or(0, |at| at + 1);
    let (before, last) = named.split_at(start);
    let key = before
        .strip_prefix("map[")
        .and_then(|key| key.strip_suffix(']'));
    let before = match key {
        Some(key) => format!("map[{}]", qualified(key, package)),
        None => before.to_owned(),
    };
    if last.contains('.') || last.starts_with(|c: char| c.is_ascii_lowercase()) {
        format!("{before}{last}")
    } else {
        format!("{before}{package}.{last}")
    }
}

/// Removes the list and map parts of the first type from both, such as `[]` of `[]v1.Protocol` and `[]string`.
fn without_containers<'a>(kind: &'a str, base: &'a str) -> (&'a str, &'a str) {
    match (kind.split_once(']'), base.split_once(']')) {
        (Some((_, kind)), Some((_, base))) => without_containers(kind, base),
        _ => (kind, base),
    }
}

struct Generator {
    structs: BTreeMap<&'static str, Vec<GoField>>,
    /// JSON schemas by Go name.
    schemas: BTreeMap<String, Value>,
    /// Structs by the inlined struct.
    inlined: BTreeMap<String, &'static str>,
    kinds: Vec<ServedKind>,
    scalars: BTreeMap<String, String>,
    extras: BTreeSet<String>,
}

/// Generates the tables.
pub fn tables() -> Tables {
    let mut document = read_document();
    let schemas = document.generator.take_definitions(true);
    let (mut structs, mut enums) = (BTreeMap::new(), String::new());
    for line in GO_TYPES.lines().filter(|line| !line.starts_with('#')) {
        if line.starts_with('|') {
            enums.push_str(line);
            enums.push('\n');
        } else if let Some((name, fields)) = line.split_once(' ') {
            structs.insert(
                name,
                fields.split(' ').map(GoField::read).collect::<Vec<_>>(),
            );
        }
    }
    let mut inlined = BTreeMap::new();
    for (name, fields) in &structs {
        for field in fields.iter().filter(|field| field.inlined) {
            inlined
                .entry(qualified(field.json, package(name)))
                .or_insert(*name);
        }
    }
    let mut generator = Generator {
        structs,
        schemas: schemas
            .into_iter()
            .map(|(name, schema)| (go_name(&name), schema))
            .collect(),
        inlined,
        kinds: document.kinds,
        scalars: BTreeMap::new(),
        extras: BTreeSet::new(),
    };
    generator.check();
    let structs = generator.structs();
    let mut schema = String::new();
    for ServedKind {
        api_version,
        kind,
        name,
    } in &generator.kinds
    {
        writeln!(schema, "@{api_version} {kind} {name}").expect("a String");
    }
    for (name, base) in &generator.scalars {
        writeln!(schema, "={name} {base}").expect("a String");
    }
    schema.push_str(&structs);
    let extras: String = generator
        .extras
        .iter()
        .map(|line| format!("{line}\n"))
        .collect();
    Tables {
        schema,
        openapi: extras + &enums,
        descriptions: generator.descriptions(),
        protobuf: generator.protobuf(),
    }
}

fn package(name: &str) -> &str {
    name.split('.').next().unwrap_or("")
}

impl Generator {
    /// Returns the names of the fields of a struct, with those of inlined structs.
    fn field_names<'a>(&'a self, name: &'a str) -> Vec<&'a str> {
        let mut names = Vec::new();
        for field in &self.structs[name] {
            if field.inlined {
                let inner = qualified(field.json, package(name));
                let (key, _) = self
                    .structs
                    .get_key_value(inner.as_str())
                    .unwrap_or_else(|| panic!("{inner} of {name} is not in go_types.txt"));
                names.extend(self.field_names(key));
            } else {
                names.push(field.json);
            }
        }
        names
    }

    /// Panics if a struct or field is missing in one of the sources.
    fn check(&self) {
        for (name, schema) in &self.schemas {
            if LEAVES.contains(&name.as_str()) {
                continue;
            }
            assert!(
                self.structs.contains_key(name.as_str()),
                "{name} is not in go_types.txt"
            );
            let listed: BTreeSet<&str> = self.field_names(name).into_iter().collect();
            let served = schema["properties"].as_object().into_iter().flatten();
            let served: BTreeSet<&str> = served.map(|(field, _)| field.as_str()).collect();
            assert_eq!(
                listed, served,
                "fields of {name} in go_types.txt and in k8s-openapi"
            );
        }
    }

    /// Returns the schema with the properties of a struct: an inlined one has those of the struct around it.
    fn schema(&self, name: &str) -> &Value {
        match self.schemas.get(name) {
            Some(schema) => schema,
            None => self.schema(
                self.inlined
                    .get(name)
                    .unwrap_or_else(|| panic!("{name} is not in k8s-openapi")),
            ),
        }
    }

    fn structs(&mut self) -> String {
        let (mut out, mut scalars, mut extras) = (String::new(), BTreeMap::new(), BTreeSet::new());
        for (name, fields) in &self.structs {
            writeln!(out, ">{name}").expect("a String");
            let schema = self.schema(name);
            let is_kind = self.kinds.iter().any(|kind| kind.name == *name);
            for field in fields {
                if field.inlined {
                    let inner = qualified(field.json, package(name));
                    writeln!(out, "~ {inner}").expect("a String");
                    continue;
                }
                let base = go_type(&schema["properties"][field.json]);
                let kind = match field.named {
                    "" => base,
                    named => {
                        let kind = qualified(named, package(name));
                        let (inner, base) = without_containers(&kind, &base);
                        if inner != base {
                            scalars.insert(inner.to_owned(), base.to_owned());
                        }
                        kind
                    }
                };
                let requires = schema["required"].as_array().into_iter().flatten();
                let required = match is_kind && field.json == "metadata" {
                    true => field.mark == "!",
                    false => {
                        field.mark != "-" && requires.into_iter().any(|one| *one == field.json)
                    }
                };
                let mark = match (field.mark, required) {
                    ("?", _) => {
                        extras.insert(format!("!{name} {}", field.json));
                        ""
                    }
                    ("^" | "~", _) => field.mark,
                    (_, true) => "!",
                    (_, false) => "",
                };
                let pointer = if field.pointer { "*" } else { "" };
                let patch = match field.patch {
                    "" => String::new(),
                    patch if patch.contains(':') => format!("&{patch}"),
                    patch => format!("&{patch}:"),
                };
                let go = match kind.as_str() {
                    "metav1.ObjectMeta" => " ObjectMeta".to_owned(),
                    _ if field.go.is_empty() => String::new(),
                    _ => format!(" {}", field.go),
                };
                writeln!(out, "{} {pointer}{kind}{mark}{patch}{go}", field.json).expect("a String");
            }
        }
        (self.scalars, self.extras) = (scalars, extras);
        out
    }

    /// Returns the numbers of the fields in protobuf: a line is a struct and its numbers. `TypeMeta`, which is no part of messages, has 0.
    fn protobuf(&self) -> String {
        let mut out = String::new();
        for (name, fields) in &self.structs {
            let mut last = 0;
            out.push_str(name);
            for field in fields {
                let is_type = field.inlined && field.json == "metav1.TypeMeta";
                if !is_type {
                    last = field.number.unwrap_or(last + 1);
                }
                write!(out, " {}", if is_type { 0 } else { last }).expect("a String");
            }
            out.push('\n');
        }
        out
    }

    /// Returns the descriptions: after a colon a struct and its description, below it its fields, each after a tab.
    fn descriptions(&self) -> String {
        let mut out = String::new();
        let text = |schema: &Value| {
            let text = schema["description"].as_str().unwrap_or("");
            text.replace('\\', "\\\\")
                .replace('\n', "\\n")
                .replace('\t', "\\t")
        };
        let shared = &self.schemas["v1.Pod"]["properties"];
        writeln!(out, ":metav1.TypeMeta\t").expect("a String");
        for field in ["apiVersion", "kind"] {
            writeln!(out, "{field}\t{}", text(&shared[field])).expect("a String");
        }
        for (name, schema) in &self.schemas {
            writeln!(out, ":{name}\t{}", text(schema)).expect("a String");
            if LEAVES.contains(&name.as_str()) {
                continue;
            }
            let is_kind = self.kinds.iter().any(|kind| kind.name == *name);
            for (field, property) in schema["properties"].as_object().into_iter().flatten() {
                if !is_kind || field != "kind" && field != "apiVersion" {
                    writeln!(out, "{field}\t{}", text(property)).expect("a String");
                }
            }
        }
        out
    }
}
