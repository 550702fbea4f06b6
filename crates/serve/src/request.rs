//! What a request asks for: its path, its options, its body.
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

/// What an answer may be.
const SERVED: [&str; 5] = [
    "application/json",
    YAML,
    "application/*",
    "*/*",
    "text/plain",
];
const YAML: &str = "application/yaml";
/// So many bytes of a body that cannot be read are shown.
const SUMMARY: usize = 30;
/// The headers that say more about whom a request is made as.
const UID: &str = "impersonate-uid";
const EXTRA: &str = "impersonate-extra-";
/// The group of tables and metadata.
const META: &str = "meta.k8s.io";

/// A request as it came in.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// `GET`, `POST`…
    pub method: String,
    /// The path, decoded.
    pub path: String,
    /// The options after `?`, decoded, in their order.
    pub query: Vec<(String, String)>,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// How something is to be deleted, once it has been read.
    deletion: OnceCell<Result<DeletionOptions, ApiError>>,
}

impl Request {
    /// Splits path and options of a request line.
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

    /// An option, empty if it is not given.
    pub fn option(&self, name: &str) -> &str {
        self.query
            .iter()
            .find(|(key, _)| key == name)
            .map_or("", |(_, value)| value)
    }

    /// Whether an option is on.
    pub fn on(&self, name: &str) -> bool {
        matches!(self.option(name), "true" | "1")
    }

    /// Whether an option is given, whatever it says.
    pub fn has(&self, name: &str) -> bool {
        self.query
            .iter()
            .any(|(key, value)| key == name && !value.is_empty())
    }

    /// Whether it is a server-side apply.
    pub fn applies(&self) -> bool {
        self.content_type().starts_with("application/apply-patch")
    }

    /// How something is to be deleted, if it asks for that: by its options, and by its body.
    pub fn deletion(&self) -> Option<&Result<DeletionOptions, ApiError>> {
        let evicts =
            self.method == "POST" && self.path.trim_end_matches('/').ends_with("/eviction");
        (evicts || self.method == "DELETE").then(|| {
            self.deletion
                .get_or_init(|| options::deletion(self, evicts))
        })
    }

    /// A header, empty if there is none.
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map_or("", |(_, value)| value)
    }

    /// The type of the body, without its parameters.
    pub fn content_type(&self) -> &str {
        self.header("content-type")
            .split(';')
            .next()
            .unwrap_or("")
            .trim()
    }

    /// Whether nothing is to be written: by an option of the path, or by the options that a deletion or an eviction has in its body.
    pub fn is_dry(&self) -> bool {
        self.option("dryRun") == "All"
            || self
                .deletion()
                .is_some_and(|how| how.as_ref().is_ok_and(|how| how.is_dry))
    }

    /// Whom it is made as, if it impersonates somebody.
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

    /// Whether it says more about whom it is made as than who that is.
    pub fn impersonates_nobody(&self) -> bool {
        let more =
            |key: &String| key == "impersonate-group" || key == UID || key.starts_with(EXTRA);
        self.header("impersonate-user").is_empty() && self.headers.iter().any(|(key, _)| more(key))
    }

    /// The name that its fields are managed under: `fieldManager`, or the client's.
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

    /// What happens to unknown fields.
    pub fn unknown(&self) -> Unknown {
        match self.option("fieldValidation") {
            "Strict" => Unknown::Refuse,
            "Ignore" => Unknown::Drop,
            _ => Unknown::Warn,
        }
    }

    /// The body as an object of a kind; a field of a built-in kind that stands twice is read twice, into one value.
    pub fn object_of(&self, kind: Kind) -> Result<Value, ApiError> {
        self.read(kind.name(), !kind.is_custom())
    }

    /// The body as an object of a kind: JSON, or YAML where the client says so.
    pub fn object(&self, kind: &str) -> Result<Value, ApiError> {
        self.read(kind, false)
    }

    /// The body of a request to `/loopscope/…` as an object of JSON, whatever type it is said to have: curl calls it a form.
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
        // Text, a number or a list is no object.
        if value.is_object() {
            Ok(value)
        } else {
            Err(unversioned("the body is no object"))
        }
    }

    /// Fields that stand twice in the body.
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

    /// The configuration that a server-side apply sends.
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

    /// The body as YAML; JSON is read too.
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

    /// The body as an object, where there is one.
    pub fn object_if_any(&self, kind: &str) -> Result<Value, ApiError> {
        if self.body.is_empty() {
            Ok(Value::Null)
        } else {
            self.object(kind)
        }
    }

    /// The body of a request that is about an object: of this kind, if it names one.
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

    /// Whether the answer is to be YAML: that is the first form that is served of those that the client takes.
    pub fn wants_yaml(&self) -> bool {
        let mut forms = self
            .header("accept")
            .split(',')
            .map(|part| part.split(';').next().unwrap_or("").trim());
        forms.find(|form| SERVED.contains(form)) == Some(YAML)
    }

    /// How the client wants the answer.
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
            // A shape in another version than the one that is served is none: the client names what it takes instead.
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

/// The shape of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Accepts {
    /// The object.
    Object,
    /// Rows, as kubectl prints them.
    Table,
    /// The metadata alone.
    Metadata,
    /// All groups and resources at once.
    Aggregated,
    /// Only forms that are not served, such as protobuf.
    Nothing,
}

/// How a body begins that could not be read: what may be JSON as it is, anything else byte by byte.
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

/// Text with `%20` and the like put back; `+` is a space in options.
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

/// What a path names below `/api` and `/apis`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Target {
    /// Empty for the core group.
    pub group: String,
    /// `v1`
    pub version: String,
    /// Empty at the cluster scope.
    pub namespace: String,
    /// `pods`
    pub resource: String,
    /// Empty for all.
    pub name: String,
    /// `status`, `log`…; empty for the object itself.
    pub part: String,
}

impl Target {
    /// Reads a path such as `/apis/apps/v1/namespaces/default/deployments/web/scale`.
    pub fn parse(path: &str) -> Option<Target> {
        let words: Vec<&str> = path.trim_matches('/').split('/').collect();
        let (group, version, rest) = match words.as_slice() {
            ["api", version, rest @ ..] => ("", *version, rest),
            ["apis", group, version, rest @ ..] => (*group, *version, rest),
            _ => return None,
        };
        let (namespace, rest) = match rest {
            // A namespace and its parts are objects themselves.
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

    /// `apps/v1`, `v1`
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
        // Other versions of a shape are not served.
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
