//! Requests: path, options, body.
//!
//! Models `apiserver/pkg/endpoints/request/requestinfo.go` and the option types of `apimachinery/pkg/apis/meta/v1`.

use super::authentication::Peer;
use super::options::RequestedDeletion;
use super::repeated;
use crate::options;
use apiserver::{ApiError, DuplicateField, GroupVersionKind, ListOptions, Unknown, UserInfo};
use k8s_model::schema::json_type;
use k8s_model::{Kind, Str, go_json};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
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

/// HTTP request as received.
#[derive(Clone, Debug, Default)]
pub struct HttpRequest {
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
    /// Client, if it is outside of this process.
    pub peer: Option<Peer>,
    /// User as which the client is authenticated; `None` for the administrator.
    pub identity: Option<UserInfo>,
    /// Options of a deletion, once parsed.
    deletion: OnceCell<Result<RequestedDeletion, ApiError>>,
}

impl HttpRequest {
    /// Splits the target of a request line into path and options.
    pub fn new(method: &str, target: &str) -> HttpRequest {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        HttpRequest {
            method: method.to_owned(),
            path: decoded(path),
            query: form_urlencoded::parse(query.as_bytes())
                .into_owned()
                .collect(),
            ..HttpRequest::default()
        }
    }

    /// Returns the options of a read, and the selectors of a deletion of a collection.
    pub fn list_options(&self) -> ListOptions {
        let text = |name: &str| self.option(name).to_owned();
        ListOptions {
            label_selector: text("labelSelector"),
            field_selector: text("fieldSelector"),
            resource_version: text("resourceVersion"),
            resource_version_match: text("resourceVersionMatch"),
            limit: self.option("limit").parse().unwrap_or(0),
            continue_token: text("continue"),
            send_initial_events: self
                .has("sendInitialEvents")
                .then(|| self.on("sendInitialEvents")),
        }
    }

    /// Returns an option, empty if it is not given.
    pub fn option(&self, name: &str) -> &str {
        self.query
            .iter()
            .find(|(key, _)| key == name)
            .map_or("", |(_, value)| value)
    }

    /// Returns true if an option is on: it is given, and is not `false` or `0` (`Convert_Slice_string_To_bool` of `apimachinery`).
    pub fn on(&self, name: &str) -> bool {
        let given = self.query.iter().find(|(key, _)| key == name);
        given.is_some_and(|(_, value)| value != "0" && !value.eq_ignore_ascii_case("false"))
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
    pub fn deletion(&self) -> Option<&Result<RequestedDeletion, ApiError>> {
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

    /// Returns the user of the request, impersonated or authenticated; `None` for one whose requests are all allowed.
    pub fn user(&self) -> Option<UserInfo> {
        let identity = self.identity.as_ref();
        let own = || identity.filter(|user| !user.is_privileged()).cloned();
        self.impersonated_user().or_else(own)
    }

    /// Returns the user of the request, the administrator included.
    pub fn full_user(&self) -> UserInfo {
        let user = self.impersonated_user();
        user.or_else(|| self.identity.clone())
            .unwrap_or_else(UserInfo::masters)
    }

    /// Returns the impersonated user, if there is one.
    pub fn impersonated_user(&self) -> Option<UserInfo> {
        let is_named = !self.header("impersonate-user").is_empty();
        is_named.then(|| self.impersonated())
    }

    /// Returns the user of the impersonation headers.
    fn impersonated(&self) -> UserInfo {
        let name = self.header("impersonate-user");
        let mut extra: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (key, value) in self
            .headers
            .iter()
            .filter_map(|(key, value)| Some((key.strip_prefix(EXTRA)?, value)))
        {
            extra
                .entry(decoded(key).as_str().into())
                .or_default()
                .push(value.as_str().into());
        }
        UserInfo {
            uid: self.header(UID).into(),
            extra,
            ..UserInfo::new(name, self.sent_groups().collect())
        }
    }

    fn sent_groups(&self) -> impl Iterator<Item = Str> {
        self.headers
            .iter()
            .filter(|(key, _)| key == "impersonate-group")
            .map(|(_, value)| value.as_str().into())
    }

    /// Returns the user of impersonation headers without a name, in Go's form.
    pub fn impersonated_nobody(&self) -> Option<String> {
        let more =
            |key: &String| key == "impersonate-group" || key == UID || key.starts_with(EXTRA);
        let is_nobody = self.header("impersonate-user").is_empty()
            && self.headers.iter().any(|(key, _)| more(key));
        is_nobody.then(|| {
            // Groups as they were sent: without a name there are no groups of every user.
            let groups: Vec<Str> = self.sent_groups().collect();
            let UserInfo { uid, extra, .. } = self.impersonated();
            let list = |words: &[Str]| match words {
                [] => "[]string(nil)".to_owned(),
                words => {
                    let quoted = words.iter().map(|word| format!("{:?}", word.as_str()));
                    format!("[]string{{{}}}", quoted.collect::<Vec<_>>().join(", "))
                }
            };
            let extra: Vec<String> = extra.iter().map(|(key, words)| format!("{:?}:{}", key.as_str(), list(words))).collect();
            let extra = match &extra[..] {
                [] => "(nil)".to_owned(),
                all => format!("{{{}}}", all.join(", ")),
            };
            format!(
                "&user.DefaultInfo{{Name:\"\", UID:{:?}, Groups:{}, Extra:map[string][]string{extra}}}",
                uid.as_str(),
                list(&groups)
            )
        })
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
        HttpRequest {
            headers,
            body: self.body.clone(),
            ..HttpRequest::default()
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
                repeated::read(&go_json::readable(&self.body), merges)
                    .map_err(|error| {
                        let problem = go_json::syntax_error(&self.body);
                        unversioned(&problem.unwrap_or_else(|| error.to_string()))
                    })?
                    .0
            }
            "application/vnd.kubernetes.protobuf" => {
                super::protobuf::object(&self.body).map_err(|problem| unreadable(&problem))?
            }
            form if form.ends_with("yaml") => {
                self.document().map_err(|problem| unreadable(&problem))?
            }
            _ => return Err(ApiError::unsupported_body()),
        };
        match &value {
            Value::Null => return Ok(Value::Object(Map::new())),
            Value::Object(_) => {}
            other => return Err(unversioned(&go_json::no_object(other))),
        }
        for field in ["apiVersion", "kind"] {
            let kind = match &value[field] {
                Value::Null | Value::String(_) => continue,
                other => json_type(other, false),
            };
            let problem = format!(
                "json: cannot unmarshal {kind} into Go struct field .{field} of type string"
            );
            return Err(unversioned(&problem));
        }
        let api_version = value["apiVersion"].as_str().unwrap_or("");
        if api_version.matches('/').count() > 1 {
            let problem = format!("unexpected GroupVersion string: {api_version}");
            return Err(unreadable(&problem));
        }
        Ok(value)
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
            repeated::read(&go_json::readable(&self.body), false).ok()
        } else {
            None
        };
        read.map(|(_, paths)| paths.into_iter().map(DuplicateField::Json).collect())
            .unwrap_or_default()
    }

    /// Parses the configuration of a server-side apply.
    pub fn configuration(&self) -> Result<Value, ApiError> {
        if self.body.is_empty() {
            let problem = "invalid object type: /, Kind=".to_owned();
            return Err(ApiError::bad_request(problem));
        }
        let problem = match self.document() {
            Ok(value) if value.is_object() => return Ok(value),
            Ok(_) => "the body is no object".to_owned(),
            Err(problem) => format!("error converting YAML to JSON: {problem}"),
        };
        Err(ApiError::bad_request(format!(
            "error decoding YAML: {problem}"
        )))
    }

    /// Parses the body as YAML; JSON is accepted too. The error is that of the YAML parser.
    fn document(&self) -> Result<Value, String> {
        if let Ok(value) = serde_json::from_slice(&self.body) {
            return Ok(value);
        }
        let parsed = manifest::parse(&self.body);
        let problem = || {
            let first = parsed.diagnostics.first();
            let text = first.map(|problem| problem.fault.to_string());
            let text = text.unwrap_or("the document is empty".to_owned());
            let after = text.split_once("error converting YAML to JSON: ");
            after.map_or(text.clone(), |(_, problem)| problem.to_owned())
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
        let text = |field: &str, expected| body[field].as_str().unwrap_or(expected).to_owned();
        let found = GroupVersionKind {
            api_version: text("apiVersion", version),
            kind: text("kind", kind),
        };
        found.check(version, kind)?;
        Ok(body)
    }

    /// Returns the acceptable media types with their parameters, by falling quality.
    fn media_types(&self) -> Vec<(&str, Vec<(&str, &str)>)> {
        let clauses = self.header("accept").split(',').map(|part| {
            let mut words = part.split(';').map(str::trim);
            let media = words.next().unwrap_or("");
            let words: Vec<(&str, &str)> = words.filter_map(|word| word.split_once('=')).collect();
            (media, words)
        });
        let mut clauses: Vec<(&str, Vec<(&str, &str)>)> = clauses.collect();
        let quality = |words: &[(&str, &str)]| {
            let quality = words.iter().find(|(key, _)| *key == "q");
            let quality = quality.and_then(|(_, value)| value.trim().parse::<f64>().ok());
            quality.unwrap_or(1.0)
        };
        clauses.sort_by(|left, right| quality(&right.1).total_cmp(&quality(&left.1)));
        clauses
    }

    /// Returns true if the answer is to be YAML: the first media type of the client's that can be served.
    pub fn wants_yaml(&self) -> bool {
        let mut forms = self.media_types().into_iter().map(|(media, _)| media);
        forms.find(|form| SERVED.contains(form)) == Some(YAML)
    }

    /// Returns true if the client accepts a media type that is served, if not its representation.
    pub fn accepts_served_media(&self) -> bool {
        let mut forms = self.media_types().into_iter().map(|(media, _)| media);
        forms.any(|form| SERVED.contains(&form))
    }

    /// Returns the representation that the client accepts.
    pub fn accepts(&self) -> Accepts {
        let mut any = self.header("accept").is_empty();
        for (media, words) in self.media_types() {
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
            let version = match word("v") {
                "v1" => MetaVersion::V1,
                "v1beta1" => MetaVersion::V1beta1,
                _ => MetaVersion::Other,
            };
            match (word("as"), word("g"), version) {
                ("", ..) => return Accepts::Object,
                ("APIGroupDiscoveryList", "apidiscovery.k8s.io", _) if word("v") == "v2" => {
                    return Accepts::Aggregated;
                }
                (_, _, MetaVersion::Other) => {}
                ("Table", META, version) => return Accepts::Table(version),
                ("PartialObjectMetadata", META, version) => return Accepts::Metadata(version),
                ("PartialObjectMetadataList", META, version) => {
                    return Accepts::MetadataList(version);
                }
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
    Table(MetaVersion),
    /// Metadata of one object.
    Metadata(MetaVersion),
    /// Metadata of the objects of a list.
    MetadataList(MetaVersion),
    /// Aggregated discovery.
    Aggregated,
    /// Only unsupported media types, such as protobuf.
    Nothing,
}

/// Version of the group `meta.k8s.io`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MetaVersion {
    /// `v1`
    V1,
    /// `v1beta1`
    V1beta1,
    /// Version that is not served.
    Other,
}

impl MetaVersion {
    /// Formats the API version.
    pub fn api_version(self) -> &'static str {
        match self {
            MetaVersion::V1beta1 => "meta.k8s.io/v1beta1",
            MetaVersion::V1 | MetaVersion::Other => "meta.k8s.io/v1",
        }
    }
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

/// Decodes percent-encoding.
fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
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
        let request = HttpRequest::new(
            "GET",
            "/api/v1/pods?labelSelector=app%3Dweb%2Ctier+in+(a)&watch=1&x=%zz%",
        );
        assert_eq!(request.option("labelSelector"), "app=web,tier in (a)");
        assert!(request.on("watch"));
        assert_eq!(request.option("x"), "%zz%");
        assert_eq!(HttpRequest::new("GET", "/a%2Fb%e4").path, "/a/b\u{fffd}");
    }

    #[test]
    fn an_answer_has_the_first_form_that_is_served() {
        let accepts = |text: &str| {
            let request = HttpRequest {
                headers: vec![("accept".to_owned(), text.to_owned())],
                ..HttpRequest::default()
            };
            request.accepts()
        };
        assert_eq!(
            accepts("application/json;as=Table;v=v1;g=meta.k8s.io,application/json"),
            Accepts::Table(MetaVersion::V1)
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
        // The quality of a media type counts before its place.
        let sorted = accepts("application/json;q=0.5,application/json;as=Table;v=v1;g=meta.k8s.io");
        assert_eq!(sorted, Accepts::Table(MetaVersion::V1));
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
            Accepts::Table(MetaVersion::V1beta1)
        );
    }
}
