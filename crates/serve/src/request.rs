//! Requests: path, options, body.
//!
//! Models `apiserver/pkg/endpoints/request/requestinfo.go` and the option types of `apimachinery/pkg/apis/meta/v1`.

use super::options::DeletionOptions;
use super::repeated;
use crate::options;
use apiserver::{ApiError, DuplicateField, Unknown, UserInfo};
use k8s_model::Kind;
use serde_json::Value;
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// Media types that can be served.
const SERVED: [&str; 5] = [
    "application/json",
    YAML,
    "application/*",
    "*/*",
    "text/plain",
];
const YAML: &str = "application/yaml";
/// Number of bytes shown of a body that cannot be parsed.
const SUMMARY: usize = 30;
/// Headers with further attributes of the impersonated user.
const UID: &str = "impersonate-uid";
const EXTRA: &str = "impersonate-extra-";
/// Group of tables and metadata.
const META: &str = "meta.k8s.io";

/// Request as received.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Method: `GET`, `POST`…
    pub method: String,
    /// Decoded path.
    pub path: String,
    /// Decoded options after `?`, in order.
    pub query: Vec<(String, String)>,
    /// Headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: Vec<u8>,
    /// Options of a deletion, once parsed.
    deletion: OnceCell<Result<DeletionOptions, ApiError>>,
}

impl Request {
    /// Splits the target of a request line into path and options.
    pub fn new(method: &str, target: &str) -> Request {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let options = query
            .split('&')
            .filter(|part| !part.is_empty())
            .map(|part| {
                let (key, value) = part.split_once('=').unwrap_or((part, ""));
                (decoded(key, true), decoded(value, true))
            });
        Request {
            method: method.to_owned(),
            path: decoded(path, false),
            query: options.collect(),
            ..Request::default()
        }
    }

    /// Returns an option, empty if it is not given.
    pub fn option(&self, name: &str) -> &str {
        self.query
            .iter()
            .find(|(key, _)| key == name)
            .map_or("", |(_, value)| value)
    }

    /// Returns true if an option is on.
    pub fn on(&self, name: &str) -> bool {
        matches!(self.option(name), "true" | "1")
    }

    /// Returns true if an option is given, with any value.
    pub fn has(&self, name: &str) -> bool {
        self.query
            .iter()
            .any(|(key, value)| key == name && !value.is_empty())
    }

    /// Returns true for a server-side apply.
    pub fn applies(&self) -> bool {
        self.content_type().starts_with("application/apply-patch")
    }

    /// Returns the options of a deletion or an eviction, from the query and the body; `None` for other requests.
    pub fn deletion(&self) -> Option<&Result<DeletionOptions, ApiError>> {
        let evicts =
            self.method == "POST" && self.path.trim_end_matches('/').ends_with("/eviction");
        (evicts || self.method == "DELETE").then(|| {
            self.deletion
                .get_or_init(|| options::deletion(self, evicts))
        })
    }

    /// Returns a header, empty if it is missing.
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map_or("", |(_, value)| value)
    }

    /// Returns the media type of the body, without its parameters.
    pub fn content_type(&self) -> &str {
        self.header("content-type")
            .split(';')
            .next()
            .unwrap_or("")
            .trim()
    }

    /// Returns true for a dry run: by an option of the query, or in the body of a deletion or an eviction.
    pub fn is_dry(&self) -> bool {
        self.option("dryRun") == "All"
            || self
                .deletion()
                .is_some_and(|how| how.as_ref().is_ok_and(|how| how.is_dry))
    }

    /// Returns the impersonated user, if there is one.
    pub fn user(&self) -> Option<UserInfo> {
        let name = self.header("impersonate-user");
        let groups = self
            .headers
            .iter()
            .filter(|(key, _)| key == "impersonate-group")
            .map(|(_, value)| value.as_str().into());
        let mut extra: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (key, value) in self
            .headers
            .iter()
            .filter_map(|(key, value)| Some((key.strip_prefix(EXTRA)?, value)))
        {
            extra
                .entry(decoded(key, false).as_str().into())
                .or_default()
                .push(value.as_str().into());
        }
        let user = || UserInfo {
            uid: self.header(UID).into(),
            extra,
            ..UserInfo::new(name, groups.collect())
        };
        (!name.is_empty()).then(user)
    }

    /// Returns true if it has impersonation headers without a user.
    pub fn impersonates_nobody(&self) -> bool {
        let more =
            |key: &String| key == "impersonate-group" || key == UID || key.starts_with(EXTRA);
        self.header("impersonate-user").is_empty() && self.headers.iter().any(|(key, _)| more(key))
    }

    /// Returns the field manager: `fieldManager`, or the client's name.
    pub fn manager(&self) -> &str {
        let client = self
            .header("user-agent")
            .split('/')
            .next()
            .filter(|name| !name.is_empty())
            .unwrap_or("unknown");
        Some(self.option("fieldManager"))
            .filter(|name| !name.is_empty())
            .unwrap_or(client)
    }

    /// Handling of unknown fields.
    pub fn unknown(&self) -> Unknown {
        match self.option("fieldValidation") {
            "Strict" => Unknown::Refuse,
            "Ignore" => Unknown::Drop,
            _ => Unknown::Warn,
        }
    }

    /// Parses the body as an object of a kind; for built-in kinds the values of duplicate fields are merged.
    pub fn object_of(&self, kind: Kind) -> Result<Value, ApiError> {
        self.read(kind.name(), !kind.is_custom())
    }

    /// Parses the body as an object of a kind: JSON, or YAML by content type.
    pub fn object(&self, kind: &str) -> Result<Value, ApiError> {
        self.read(kind, false)
    }

    /// Parses the body of a request to `/loopscope/…` as a JSON object, whatever its content type: curl sends that of a form.
    pub fn own_object(&self, kind: &str) -> Result<Value, ApiError> {
        let form = "application/json".to_owned();
        let others = self
            .headers
            .iter()
            .filter(|(name, _)| name != "content-type")
            .cloned();
        let headers = others.chain([("content-type".to_owned(), form)]).collect();
        Request {
            headers,
            body: self.body.clone(),
            ..Request::default()
        }
        .object(kind)
    }

    fn read(&self, kind: &str, merges: bool) -> Result<Value, ApiError> {
        let unreadable = |problem: &str| {
            let summary = summary(&self.body);
            ApiError::bad_request(format!(
                "the object provided is unrecognized (must be of type {kind}): {problem} ({summary})"
            ))
        };
        let unversioned = |problem: &str| {
            unreadable(&format!(
                "couldn't get version/kind; json parse error: {problem}"
            ))
        };
        let value: Value = match self.content_type() {
            "" | "application/json" | "*/*" => {
                repeated::read(&self.body, merges)
                    .map_err(|e| unversioned(&e.to_string()))?
                    .0
            }
            "application/vnd.kubernetes.protobuf" => {
                super::protobuf::object(&self.body).map_err(|problem| unreadable(&problem))?
            }
            form if form.ends_with("yaml") => {
                self.document().map_err(|problem| unversioned(&problem))?
            }
            other => return Err(ApiError::unsupported_body(other)),
        };
        // Text, a number or a list is not an object.
        if value.is_object() {
            Ok(value)
        } else {
            Err(unversioned("the body is no object"))
        }
    }

    /// Returns the duplicate fields of the body.
    pub fn repeated(&self) -> Vec<DuplicateField> {
        let is_yaml = self.applies() || self.content_type().ends_with("yaml");
        if is_yaml {
            let yaml = manifest::repeated(&self.body);
            return yaml
                .map(|(line, key)| DuplicateField::Yaml(line, key))
                .into_iter()
                .collect();
        }
        let is_json =
            matches!(self.content_type(), "" | "*/*") || self.content_type().ends_with("json");
        let read = if is_json {
            repeated::read(&self.body, false).ok()
        } else {
            None
        };
        read.map(|(_, paths)| paths.into_iter().map(DuplicateField::Json).collect())
            .unwrap_or_default()
    }

    /// Parses the configuration of a server-side apply.
    pub fn configuration(&self) -> Result<Value, ApiError> {
        let problem = match self.document() {
            Ok(value) if value.is_object() => return Ok(value),
            Ok(_) => "the body is no object".to_owned(),
            Err(problem) => problem,
        };
        Err(ApiError::bad_request(format!(
            "error decoding YAML: {problem}"
        )))
    }

    /// Parses the body as YAML; JSON is accepted too.
    fn document(&self) -> Result<Value, String> {
        if let Ok(value) = serde_json::from_slice(&self.body) {
            return Ok(value);
        }
        let parsed = manifest::parse(&self.body);
        let problem = || {
            parsed
                .diagnostics
                .first()
                .map_or("the document is empty".to_owned(), |problem| {
                    problem.fault.to_string()
                })
        };
        parsed
            .documents
            .into_iter()
            .next()
            .map(|document| document.value)
            .ok_or_else(problem)
    }

    /// Parses the body as an object; null if it is empty.
    pub fn object_if_any(&self, kind: &str) -> Result<Value, ApiError> {
        if self.body.is_empty() {
            Ok(Value::Null)
        } else {
            self.object(kind)
        }
    }

    /// Parses the body of a request about an object: of this kind, if it names one.
    pub fn posted(&self, kind: &str, version: &str) -> Result<Value, ApiError> {
        let body = self.object(kind)?;
        for (field, expected) in [("kind", kind), ("apiVersion", version)] {
            let said = body[field].as_str().unwrap_or(expected);
            if said != expected {
                return Err(ApiError::of_other_type(field, said, expected));
            }
        }
        Ok(body)
    }

    /// Returns true if the answer is to be YAML: the first media type of the client's that can be served.
    pub fn wants_yaml(&self) -> bool {
        let mut forms = self
            .header("accept")
            .split(',')
            .map(|part| part.split(';').next().unwrap_or("").trim());
        forms.find(|form| SERVED.contains(form)) == Some(YAML)
    }

    /// Returns the representation that the client accepts.
    pub fn accepts(&self) -> Accepts {
        let header = self.header("accept");
        let mut any = header.is_empty();
        for part in header.split(',') {
            let mut words = part.split(';').map(str::trim);
            let media = words.next().unwrap_or("");
            let words: Vec<(&str, &str)> = words.filter_map(|word| word.split_once('=')).collect();
            let word = |name: &str| {
                words
                    .iter()
                    .find(|(key, _)| *key == name)
                    .map_or("", |(_, value)| value)
            };
            if !SERVED.contains(&media) {
                continue;
            }
            any |= word("as").is_empty();
            // A representation in an unsupported version is skipped: the client lists alternatives.
            match (word("as"), word("g"), word("v")) {
                ("Table", META, "v1") => return Accepts::Table,
                ("PartialObjectMetadata" | "PartialObjectMetadataList", META, "v1") => {
                    return Accepts::Metadata;
                }
                ("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2") => {
                    return Accepts::Aggregated;
                }
                ("", ..) => return Accepts::Object,
                _ => {}
            }
        }
        if any {
            Accepts::Object
        } else {
            Accepts::Nothing
        }
    }
}

/// Representation of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Accepts {
    /// Object itself.
    Object,
    /// Table, as kubectl prints it.
    Table,
    /// Metadata only.
    Metadata,
    /// Aggregated discovery.
    Aggregated,
    /// Only unsupported media types, such as protobuf.
    Nothing,
}

/// Returns the beginning of a body that could not be parsed: text if it may be JSON, otherwise bytes.
fn summary(body: &[u8]) -> String {
    let (first, more) = (
        &body[..body.len().min(SUMMARY)],
        if body.len() > SUMMARY { " ..." } else { "" },
    );
    match first {
        [] => "<empty>".to_owned(),
        [b'{', ..] => String::from_utf8_lossy(first).into_owned() + more,
        _ => {
            first
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect::<String>()
                + more
        }
    }
}

/// Decodes percent-encoding; `+` is a space in options.
fn decoded(text: &str, option: bool) -> String {
    let mut out = Vec::with_capacity(text.len());
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let hex = (byte == b'%')
            .then(|| text.get(at + 1..at + 3))
            .flatten()
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (hex, byte) {
            (Some(decoded), _) => {
                out.push(decoded);
                at += 2;
            }
            (None, b'+') if option => out.push(b' '),
            (None, byte) => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Target of a path below `/api` and `/apis`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Target {
    /// Group; empty for the core group.
    pub group: String,
    /// Version: `v1`.
    pub version: String,
    /// Namespace; empty for cluster scope.
    pub namespace: String,
    /// Resource: `pods`.
    pub resource: String,
    /// Name; empty for a collection.
    pub name: String,
    /// Subresource: `status`, `log`…; empty for the object itself.
    pub part: String,
}

impl Target {
    /// Parses a path such as `/apis/apps/v1/namespaces/default/deployments/web/scale`.
    pub fn parse(path: &str) -> Option<Target> {
        let words: Vec<&str> = path.trim_matches('/').split('/').collect();
        let (group, version, rest) = match words.as_slice() {
            ["api", version, rest @ ..] => ("", *version, rest),
            ["apis", group, version, rest @ ..] => (*group, *version, rest),
            _ => return None,
        };
        let (namespace, rest) = match rest {
            // A namespace and its subresources are objects themselves.
            ["namespaces", _, "status" | "finalize"] => ("", rest),
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (*namespace, rest),
            rest => ("", rest),
        };
        let (resource, rest) = rest.split_first()?;
        let (name, part) = match rest {
            [] => ("", String::new()),
            [name, part @ ..] => (*name, part.join("/")),
        };
        let [group, version, namespace, resource, name] =
            [group, version, namespace, resource, name].map(str::to_owned);
        Some(Target {
            group,
            version,
            namespace,
            resource,
            name,
            part,
        })
    }

    /// Formats the API version: `apps/v1`, `v1`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(path: &str) -> [String; 6] {
        let target = Target::parse(path).unwrap_or_default();
        [
            target.group,
            target.version,
            target.namespace,
            target.resource,
            target.name,
            target.part,
        ]
    }

    #[test]
    fn a_path_names_group_namespace_object_and_part() {
        assert_eq!(words("/api/v1/pods"), ["", "v1", "", "pods", "", ""]);
        assert_eq!(
            words("/api/v1/namespaces"),
            ["", "v1", "", "namespaces", "", ""]
        );
        assert_eq!(
            words("/api/v1/namespaces/far"),
            ["", "v1", "", "namespaces", "far", ""]
        );
        assert_eq!(
            words("/api/v1/namespaces/far/finalize"),
            ["", "v1", "", "namespaces", "far", "finalize"]
        );
        assert_eq!(
            words("/api/v1/namespaces/far/pods/web-0/log"),
            ["", "v1", "far", "pods", "web-0", "log"]
        );
        assert_eq!(
            words("/apis/apps/v1/namespaces/far/deployments/web/scale"),
            ["apps", "v1", "far", "deployments", "web", "scale"]
        );
        assert_eq!(
            words("/apis/apps/v1/deployments"),
            ["apps", "v1", "", "deployments", "", ""]
        );
        assert_eq!(Target::parse("/apis/apps/v1"), None);
        assert_eq!(Target::parse("/"), None);
    }

    #[test]
    fn options_are_decoded_and_broken_ones_are_kept() {
        let request = Request::new(
            "GET",
            "/api/v1/pods?labelSelector=app%3Dweb%2Ctier+in+(a)&watch=1&x=%zz%",
        );
        assert_eq!(request.option("labelSelector"), "app=web,tier in (a)");
        assert!(request.on("watch"));
        assert_eq!(request.option("x"), "%zz%");
        assert_eq!(Request::new("GET", "/a%2Fb%e4").path, "/a/b\u{fffd}");
    }

    #[test]
    fn an_answer_has_the_first_form_that_is_served() {
        let accepts = |text: &str| {
            let request = Request {
                headers: vec![("accept".to_owned(), text.to_owned())],
                ..Request::default()
            };
            request.accepts()
        };
        assert_eq!(
            accepts("application/json;as=Table;v=v1;g=meta.k8s.io,application/json"),
            Accepts::Table
        );
        assert_eq!(
            accepts("application/vnd.kubernetes.protobuf,application/json"),
            Accepts::Object
        );
        assert_eq!(
            accepts("application/vnd.kubernetes.protobuf"),
            Accepts::Nothing
        );
        assert_eq!(accepts(""), Accepts::Object);
        // Other versions of a representation are not served.
        assert_eq!(
            accepts(
                "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
            ),
            Accepts::Object
        );
        assert_eq!(
            accepts(
                "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
            ),
            Accepts::Aggregated
        );
        assert_eq!(
            accepts("application/json;as=Table;v=v1beta1;g=meta.k8s.io"),
            Accepts::Nothing
        );
    }
}
