//! `kubectl apply`: creates what is not there, and patches what is with the difference to last time.

use super::applied::{Applied, ApplyResult};
use super::client::{Client, server_error, source_error};
use super::failure::json_fault;
use super::parse::Args;
use super::{Failure, Outcome, Reads, Verb};
use crate::api::meta::LAST_APPLIED;
use crate::api::schema;
use crate::api::{Kind, ObjectRef};
use crate::engine::store::{Patch, StatusReason, Subresource, patch};
use crate::manifest;
use serde_json::{Map, Value, json};

/// Flags of the verbs that read objects.
pub const FLAGS: &str = "filename/f= kustomize/k= recursive/R dry-run?unchanged validate?strict output/o= server-side force-conflicts \
    ~overwrite force !prune ~all !selector/l= save-config wait cascade?background grace-period= timeout=";

/// `kubectl apply`.
pub const VERB: Verb = Verb {
    name: "apply",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::No,
    run,
    help: "Apply a configuration to a resource by file name or stdin",
};

fn run(client: &mut Client<'_>, words: &[String], stdin: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("apply", FLAGS, words)?;
    client.use_flags(&args)?;
    if let Some(fault) = contradiction(&args) {
        return Err(Failure::error(fault));
    }
    if args.get("filename").is_none() {
        return Err(Failure::error("must specify one of -f and -k"));
    }
    if let Some(word) = args.words.first() {
        return Err(Failure::error(format!("Unexpected args: [{word}]\nSee 'kubectl apply -h' for help and examples")));
    }
    let documents = read(client, stdin);
    if documents.is_empty() && client.failure.is_none() {
        return Err(Failure::error("no objects passed to apply"));
    }
    for value in documents {
        one(client, &args, value);
    }
    Ok(Outcome::Done)
}

/// Applies an object that has been read already.
pub fn object(client: &mut Client<'_>, words: &[String], value: Value) -> Result<Outcome, Failure> {
    let args = Args::parse("apply", FLAGS, words)?;
    client.use_flags(&args)?;
    one(client, &args, value);
    Ok(Outcome::Done)
}

/// Applies an object, prints what came of it and keeps it.
fn one(client: &mut Client<'_>, args: &Args, value: Value) {
    let mut key = None;
    let result = send(client, args, value, &mut key).unwrap_or_else(|failure| {
        client.fail(&failure);
        ApplyResult::Refused(failure)
    });
    client.applied.push(Applied { key, result });
}

/// Flags that do not go together.
fn contradiction(args: &Args) -> Option<&'static str> {
    match (args.on("server-side"), args.get("dry-run")) {
        (false, _) if args.on("force-conflicts") => Some("--force-conflicts only works with --server-side"),
        (true, _) if args.on("force") => Some("--force cannot be used with --server-side"),
        (true, Some("client")) => Some("--dry-run=client doesn't work with --server-side (did you mean --dry-run=server instead?)"),
        _ => None,
    }
}

/// The objects of a text that are fit to be sent; the faults of the others are printed.
pub fn read(client: &mut Client<'_>, text: &str) -> Vec<Value> {
    let parsed = manifest::parse(text.as_bytes());
    let broken = parsed.diagnostics.iter().any(|d| d.severity == manifest::Severity::Error);
    // What is neither JSON nor YAML and looks like JSON is told as JSON.
    if broken && text.trim_start().starts_with('{') {
        let (offset, fault) = json_fault(text);
        client.fail(&Failure::error(format!("error parsing STDIN: json: offset {offset}: {fault}")));
        return Vec::new();
    }
    for diagnostic in parsed.diagnostics.iter().filter(|d| d.severity == manifest::Severity::Error) {
        client.fail(&Failure::error(&diagnostic.message));
    }
    parsed.documents.into_iter().map(|document| document.value).collect()
}

/// Checks of a client before it sends an object: header, metadata, kind, namespace.
pub fn prepare(client: &Client<'_>, args: &Args, mut value: Value) -> Result<(Kind, Value), Failure> {
    if let Some(message) = manifest::header_error(&value) {
        return Err(Failure::error(message));
    }
    if let Some(problem) = schema::metadata_error(&value) {
        return Err(Failure::error(format!("unable to decode \"STDIN\": {}", problem.message)));
    }
    let text = |path: &str| value.pointer(path).and_then(Value::as_str).unwrap_or("").to_owned();
    let (api_version, kind_name) = (text("/apiVersion"), text("/kind"));
    let (name, namespace) = (text("/metadata/name"), text("/metadata/namespace"));
    let Some(kind) = client.sim().server().definitions().named(&api_version, &kind_name) else {
        return Err(Failure::error(format!(
            "resource mapping not found for name: \"{name}\" namespace: \"{namespace}\" from \"STDIN\": no matches for kind \
             \"{kind_name}\" in version \"{api_version}\"\nensure CRDs are installed first"
        )));
    };
    if kind.info().namespaced {
        if namespace.is_empty() {
            set(&mut value, "namespace", &client.namespace);
        } else if args.get("namespace").is_some_and(|asked| asked != namespace) {
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

fn set(value: &mut Value, name: &str, text: &str) {
    let Some(map) = value.as_object_mut() else { return };
    if let Some(metadata) = map.entry("metadata").or_insert_with(|| Value::Object(Map::new())).as_object_mut() {
        metadata.insert(name.to_owned(), Value::from(text));
    }
}

/// The object with the annotation that holds the object without it.
pub fn with_last_applied(value: &Value) -> Value {
    let mut value = value.clone();
    let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) else { return value };
    let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
    if annotations.is_null() {
        *annotations = json!({});
    }
    if let Some(annotations) = annotations.as_object_mut() {
        annotations.remove(LAST_APPLIED);
    }
    let text = format!("{value}\n").replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    if let Some(annotations) = value["metadata"]["annotations"].as_object_mut() {
        annotations.insert(LAST_APPLIED.to_owned(), Value::from(text));
    }
    value
}

fn send(client: &mut Client<'_>, args: &Args, value: Value, sent: &mut Option<ObjectRef>) -> Result<ApplyResult, Failure> {
    let (kind, value) = prepare(client, args, value)?;
    let name = value["metadata"]["name"].as_str().unwrap_or("").to_owned();
    if name.is_empty() {
        return Err(nameless(client, kind, &value));
    }
    let key = ObjectRef::new(kind, value["metadata"]["namespace"].as_str().unwrap_or(""), &name);
    *sent = Some(key.clone());
    if args.on("server-side") {
        return server_side(client, args, (kind, value));
    }
    let modified = with_last_applied(&value);
    if let Some(error) = client.forbids("get", &key, "") {
        return Err(source_error(&error, &reading(&key)));
    }
    let Some(current) = client.find(&key) else {
        let created = client.create(modified).map_err(|error| source_error(&error, "error when creating \"STDIN\""))?;
        client.report(kind, &created, "created")?;
        return Ok(ApplyResult::Created);
    };
    if current["metadata"]["annotations"].get(LAST_APPLIED).is_none() {
        client.warn(missing_annotation(kind, &name));
    }
    let (how, change) = difference(kind, &modified, &current);
    if change == json!({}) {
        client.report(kind, &current, "unchanged")?;
        return Ok(ApplyResult::Unchanged);
    }
    let written = client.patch(&key, Subresource::Main, how, &change).map_err(|error| patch_failure(&error, kind, &key, &change))?;
    client.report(kind, &written, "configured")?;
    Ok(ApplyResult::Configured)
}

/// What the first request of an apply was for, before the server's error.
fn reading(key: &ObjectRef) -> String {
    let info = key.kind.info();
    let (group, version, plural, name) = (info.group, info.version, info.plural, info.name);
    format!(
        "error when retrieving current configuration of:\nResource: \"{group}/{version}, Resource={plural}\", GroupVersionKind: \
         \"{group}/{version}, Kind={name}\"\nName: {:?}, Namespace: {:?}\nfrom server for: \"STDIN\"",
        key.name.as_str(),
        key.namespace.as_str(),
    )
}

/// Lets the server merge; it knows who set which field.
fn server_side(client: &mut Client<'_>, args: &Args, object: (Kind, Value)) -> Result<ApplyResult, Failure> {
    let (kind, value) = object;
    let force = args.on("force-conflicts");
    match client.apply(value, force) {
        Ok(applied) => {
            client.report(kind, &applied, "serverside-applied")?;
            Ok(ApplyResult::Configured)
        }
        Err(error) if error.reason == StatusReason::Conflict => Err(Failure::error(format!("{}\n{WAYS_OUT}", error.message))),
        Err(error) => Err(server_error(&error)),
    }
}

const WAYS_OUT: &str = "Please review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
  command with the `--force-conflicts` flag.
* If you do not intend to manage all of the fields, please edit your
  manifest to remove references to the fields that should keep their
  current managers.
* You may co-own fields by updating your manifest to match the existing
  value; in this case, you'll become the manager if the other manager(s)
  stop managing the field (remove it from their configuration).
See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts";

/// What apply has to send.
pub fn difference(kind: Kind, modified: &Value, current: &Value) -> (Patch, Value) {
    let last = current["metadata"]["annotations"][LAST_APPLIED].as_str();
    let last: Value = last.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_else(|| json!({}));
    let strategic = (!kind.is_custom()).then(|| patch::three_way_strategic(kind.name(), &last, modified, current)).flatten();
    match strategic {
        Some(change) => (Patch::Strategic, change),
        None => (Patch::Merge, patch::three_way_merge(&last, modified, current)),
    }
}

fn nameless(client: &Client<'_>, kind: Kind, value: &Value) -> Failure {
    if let Some(generate) = value["metadata"]["generateName"].as_str().filter(|name| !name.is_empty()) {
        return Failure::error(format!("from {generate}: cannot use generate name with apply"));
    }
    Failure::error(format!(
        "error when retrieving current configuration of:\n{}\nfrom server for: \"STDIN\": resource name may not be empty",
        identity(kind, "", &client.namespace)
    ))
}

fn identity(kind: Kind, name: &str, namespace: &str) -> String {
    let api = kind.api_version();
    format!(
        "Resource: \"{api}, Resource={}\", GroupVersionKind: \"{api}, Kind={}\"\nName: \"{name}\", Namespace: \"{namespace}\"",
        kind.info().plural,
        kind.name()
    )
}

fn patch_failure(error: &crate::engine::store::ApiError, kind: Kind, key: &ObjectRef, change: &Value) -> Failure {
    let place = identity(kind, &key.name, &key.namespace);
    source_error(error, &format!("error when applying patch:\n{change}\nto:\n{place}\nfor: \"STDIN\": error when patching \"STDIN\""))
}

fn missing_annotation(kind: Kind, name: &str) -> String {
    format!(
        "Warning: resource {}/{name} is missing the {LAST_APPLIED} annotation which is required by kubectl apply. kubectl apply should \
         only be used on resources created declaratively by either kubectl create --save-config or kubectl apply. The missing annotation \
         will be patched automatically.",
        kind.info().plural
    )
}
