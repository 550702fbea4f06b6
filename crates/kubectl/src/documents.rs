//! Objects of a manifest, as a client checks and completes them before sending.

use super::Failure;
use super::client::Client;
use super::failure::json_fault;
use super::filenames::{Filenames, NamedText};
use super::parse::Args;
use k8s_model::meta::LAST_APPLIED;
use k8s_model::{Kind, json, schema};
use manifest::STDIN;
use serde_json::{Map, Value, json};
use std::rc::Rc;

/// Object of a manifest, of a kind that the server has.
#[derive(Clone, Debug)]
pub struct ManifestObject {
    /// Name of its text in messages.
    pub source: Rc<str>,
    /// Its kind.
    pub kind: Kind,
    /// Object as written.
    pub value: Value,
}

/// Contents of the files that a command names.
#[derive(Default)]
pub struct FileContents {
    /// Objects that can be sent.
    pub documents: Vec<ManifestObject>,
    /// Errors of other documents, which kubectl reports as one failure.
    pub faults: Vec<Failure>,
}

/// Reads the files that a command names. Unreadable files do not affect the others.
pub fn read(client: &Client<'_>, args: &Args, stdin: &str) -> FileContents {
    read_files(client, &Filenames::of(args), validates(args), stdin)
}

/// Reads files; `validates` is set if the client checks kind and apiVersion first.
pub fn read_files(
    client: &Client<'_>,
    files: &Filenames,
    validates: bool,
    stdin: &str,
) -> FileContents {
    let mut contents = FileContents::default();
    match files.read(client, stdin) {
        Err(missing) => contents.faults = missing,
        Ok(sources) => {
            for source in sources {
                if let Err(failure) = contents.take(client, &source, validates) {
                    contents.faults.push(failure);
                }
            }
        }
    }
    contents
}

impl FileContents {
    /// Reads a text up to the first document that does not parse.
    ///
    /// Models `StreamVisitor.Visit` (`staging/src/k8s.io/cli-runtime/pkg/resource/visitor.go`).
    fn take(
        &mut self,
        client: &Client<'_>,
        source: &NamedText<'_>,
        validates: bool,
    ) -> Result<(), Failure> {
        let text = source.text.as_ref().map_err(Failure::clone)?;
        let mut reader = manifest::Reader::default();
        while let Some(part) = reader.next(text.as_bytes()) {
            let wrong = part
                .diagnostics
                .iter()
                .find(|one| one.severity == manifest::Severity::Error);
            // Text that is neither JSON nor YAML but begins like JSON gets a JSON error.
            if wrong.is_some() && text.trim_start().starts_with('{') {
                let (offset, fault) = json_fault(text);
                return Err(Failure::error(format!(
                    "error parsing {}: json: offset {offset}: {fault}",
                    source.name
                )));
            }
            for document in part.documents {
                if let Some(fault) = manifest::header_fault(&document.value).filter(|_| validates) {
                    return Err(Failure::error(fault.of(&source.name)));
                }
                match known(client, source.name.clone(), document.value) {
                    Ok(document) => self.documents.push(document),
                    Err(failure) => self.faults.push(failure),
                }
            }
            if let Some(wrong) = wrong {
                return Err(Failure::error(wrong.fault.of(&source.name)));
            }
        }
        Ok(())
    }
}

/// Returns true if a command validates its objects before they are sent.
fn validates(args: &Args) -> bool {
    matches!(args.verb_path.as_str(), "apply" | "create" | "replace")
        && !matches!(args.get("validate"), Some("false" | "ignore"))
}

/// Wraps a generated object, which messages treat like one from stdin.
pub fn made(client: &Client<'_>, value: Value) -> Result<ManifestObject, Failure> {
    known(client, STDIN.into(), value)
}

/// Looks up the kind of an object; models `infoForData` (`cli-runtime/pkg/resource/mapper.go`).
fn known(client: &Client<'_>, source: Rc<str>, value: Value) -> Result<ManifestObject, Failure> {
    if manifest::header_fault(&value).is_some() {
        return Err(Failure::error(undecodable(&source, &value)));
    }
    if let Some(problem) = schema::metadata_error(&value) {
        return Err(Failure::error(format!(
            "unable to decode {source:?}: {}",
            problem.message
        )));
    }
    let text = |path: &str| {
        value
            .pointer(path)
            .and_then(Value::as_str)
            .unwrap_or("")
            .to_owned()
    };
    let (api_version, kind_name) = (text("/apiVersion"), text("/kind"));
    let (name, namespace) = (text("/metadata/name"), text("/metadata/namespace"));
    let Some(kind) = client
        .sim()
        .server
        .definitions()
        .named(&api_version, &kind_name)
    else {
        return Err(Failure::error(format!(
            "resource mapping not found for name: \"{name}\" namespace: \"{namespace}\" from {source:?}: no matches for kind \
             \"{kind_name}\" in version \"{api_version}\"\nensure CRDs are installed first"
        )));
    };
    Ok(ManifestObject {
        source,
        kind,
        value,
    })
}

/// Returns an object as it is sent: in its namespace.
pub fn prepare(
    client: &Client<'_>,
    args: &Args,
    document: ManifestObject,
) -> Result<(Kind, Value), Failure> {
    let ManifestObject {
        kind, mut value, ..
    } = document;
    let namespace = value["metadata"]["namespace"]
        .as_str()
        .unwrap_or("")
        .to_owned();
    if kind.info().namespaced {
        if namespace.is_empty() {
            set(&mut value, "namespace", &client.namespace);
        } else if args
            .get("namespace")
            .is_some_and(|asked| asked != namespace)
        {
            return Err(Failure::error(format!(
                "the namespace from the provided object \"{namespace}\" does not match the namespace \"{}\". You must pass \
                 '--namespace={namespace}' to perform this operation.",
                client.namespace
            )));
        }
    } else if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("namespace");
    }
    Ok((kind, value))
}

/// Returns the error of a client without validation for an object without a kind or an apiVersion.
fn undecodable(source: &str, value: &Value) -> String {
    let missing = if value["kind"].as_str().is_none_or(str::is_empty) {
        "Kind"
    } else {
        "apiVersion"
    };
    format!("unable to decode {source:?}: Object '{missing}' is missing in '{value}'")
}

fn set(value: &mut Value, name: &str, text: &str) {
    let Some(map) = value.as_object_mut() else {
        return;
    };
    if let Some(metadata) = map
        .entry("metadata")
        .or_insert_with(|| Value::Object(Map::new()))
        .as_object_mut()
    {
        metadata.insert(name.to_owned(), Value::from(text));
    }
}

/// Returns the object with the last-applied annotation, which contains the object without it.
pub fn with_last_applied(value: &Value) -> Value {
    let mut value = value.clone();
    let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) else {
        return value;
    };
    let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
    if annotations.is_null() {
        *annotations = json!({});
    }
    if let Some(annotations) = annotations.as_object_mut() {
        annotations.remove(LAST_APPLIED);
    }
    let text = format!("{}\n", json::escaped(&value));
    if let Some(annotations) = value["metadata"]["annotations"].as_object_mut() {
        annotations.insert(LAST_APPLIED.to_owned(), Value::from(text));
    }
    value
}
