//! Options of a request, validated before anything is done: a misspelt option must not be ignored.
//!
//! Models `apimachinery/pkg/apis/meta/v1/validation` and `apimachinery/pkg/apis/meta/internalversion/validation`.

use super::http_request::{Accepts, HttpRequest, Target};
use super::status::{Answer, failure};
use apiserver::validation::{ErrorType, FieldError};
use apiserver::{ApiError, DeleteOptions, Preconditions, Propagation};
use k8s_model::kind;
use k8s_model::schema::json_type;
use serde_json::{Value, json};

/// Maximum length of a field manager's name, in bytes.
const LONGEST_MANAGER: usize = 128;
const EXACT: &str = "Exact";
const NOT_OLDER: &str = "NotOlderThan";
/// Options with numeric values.
const NUMBERS: [&str; 3] = ["limit", "timeoutSeconds", "gracePeriodSeconds"];

/// Returns the error in the options of a request, if there is one.
pub fn refusal(request: &HttpRequest, target: &Target) -> Option<Answer> {
    for name in NUMBERS {
        let text = request.option(name);
        if !text.is_empty() && text.parse::<i64>().is_err() {
            return Some(failure(
                400,
                "BadRequest",
                &format!("strconv.ParseInt: parsing {text:?}: invalid syntax"),
            ));
        }
    }
    if let Some(answer) = representation_refusal(request, target) {
        return Some(answer);
    }
    let (kind, errors) = match request.method.as_str() {
        "GET" | "HEAD" if request.on("watch") => ("ListOptions", watch(request)),
        "GET" | "HEAD" if target.name.is_empty() => ("ListOptions", list(request)),
        "POST" => ("CreateOptions", writes(request)),
        "PUT" => ("UpdateOptions", writes(request)),
        "PATCH" => (
            "PatchOptions",
            patch(request).into_iter().chain(writes(request)).collect(),
        ),
        "DELETE" => ("DeleteOptions", Vec::new()),
        _ => return None,
    };
    if let Some(Err(error)) = request.deletion() {
        return Some(Answer::error(error, None));
    }
    let refused = || {
        Answer::error(
            &ApiError::invalid_fields(&format!("{kind}.meta.k8s.io"), "", &errors),
            None,
        )
    };
    (!errors.is_empty()).then(refused)
}

/// Returns the error of a representation that the answer to a read cannot have.
///
/// Models `apiserver/pkg/endpoints/handlers/response.go`.
fn representation_refusal(request: &HttpRequest, target: &Target) -> Option<Answer> {
    if !matches!(request.method.as_str(), "GET" | "HEAD") || !target.part.is_empty() {
        return None;
    }
    let is_list = target.name.is_empty();
    let include = request.option("includeObject");
    match request.accepts() {
        Accepts::Table(_) if !matches!(include, "" | "None" | "Metadata" | "Object") => {
            let problem = format!(
                "Unable to convert to Table as requested: includeObject: Invalid value: {include:?}: must be 'Metadata', 'Object', 'None', or empty"
            );
            Some(failure(400, "BadRequest", &problem))
        }
        Accepts::Metadata(_) if is_list && !request.on("watch") => Some(failure(
            406,
            "NotAcceptable",
            &format!(
                "you requested PartialObjectMetadata, but the requested object is a list ({}List)",
                internal_type(target)?
            ),
        )),
        Accepts::MetadataList(_) if !is_list => Some(failure(
            406,
            "NotAcceptable",
            &format!(
                "you requested PartialObjectMetadataList, but the requested object is not a list ({})",
                internal_type(target)?
            ),
        )),
        _ => None,
    }
}

/// Returns the server's type of the objects of a resource, such as `*core.Pod`; `None` for a custom resource.
fn internal_type(target: &Target) -> Option<String> {
    let kind = kind::ALL.iter().find(|kind| {
        let info = kind.info();
        info.plural == target.resource && info.group == target.group
    })?;
    let package = match target.group.split('.').next() {
        None | Some("") => "core",
        Some(group) => group,
    };
    Some(format!("*{package}.{}", kind.name()))
}

fn error(field: &str, fault: ErrorType, value: impl Into<Value>, detail: &str) -> FieldError {
    FieldError {
        field: field.to_owned(),
        fault,
        value: value.into().to_string(),
        detail: detail.to_owned(),
    }
}

fn forbidden(field: &str, detail: &str) -> FieldError {
    error(field, ErrorType::Forbidden, "", detail)
}

fn unsupported(field: &str, value: impl Into<Value>, supported: &[&str]) -> FieldError {
    let list: Vec<String> = supported.iter().map(|word| format!("{word:?}")).collect();
    error(
        field,
        ErrorType::NotSupported,
        value,
        &format!("supported values: {}", list.join(", ")),
    )
}

fn list(request: &HttpRequest) -> Vec<FieldError> {
    let (matched, version) = (
        request.option("resourceVersionMatch"),
        request.option("resourceVersion"),
    );
    let (field, mut errors) = ("resourceVersionMatch", Vec::new());
    if !matched.is_empty() {
        if version.is_empty() {
            errors.push(forbidden(
                field,
                "resourceVersionMatch is forbidden unless resourceVersion is provided",
            ));
        }
        if !request.option("continue").is_empty() {
            errors.push(forbidden(
                field,
                "resourceVersionMatch is forbidden when continue is provided",
            ));
        }
        if !matches!(matched, EXACT | NOT_OLDER) {
            errors.push(unsupported(field, matched, &[EXACT, NOT_OLDER, ""]));
        }
        if (matched, version) == (EXACT, "0") {
            errors.push(forbidden(
                field,
                "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
            ));
        }
    }
    if request.has("sendInitialEvents") {
        errors.push(forbidden(
            "sendInitialEvents",
            "sendInitialEvents is forbidden for list",
        ));
    }
    errors
}

fn watch(request: &HttpRequest) -> Vec<FieldError> {
    let (matched, initial) = (
        request.option("resourceVersionMatch"),
        request.has("sendInitialEvents"),
    );
    let (field, mut errors) = ("resourceVersionMatch", Vec::new());
    if initial && matched != NOT_OLDER {
        errors.push(forbidden(
            field,
            "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        ));
    }
    if !matched.is_empty() {
        if !initial {
            errors.push(forbidden(
                field,
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
            ));
        }
        if matched != NOT_OLDER {
            errors.push(unsupported(field, matched, &[NOT_OLDER]));
        }
        if !request.option("continue").is_empty() {
            errors.push(forbidden(
                field,
                "resourceVersionMatch is forbidden when continue is provided",
            ));
        }
    }
    errors
}

/// Validates the options that all writes except deletions share.
fn writes(request: &HttpRequest) -> Vec<FieldError> {
    let (manager, unknown) = (
        request.option("fieldManager"),
        request.option("fieldValidation"),
    );
    let mut errors = Vec::new();
    if manager.len() > LONGEST_MANAGER {
        errors.push(error(
            "fieldManager",
            ErrorType::TooLong,
            "",
            "may not be more than 128 bytes",
        ));
    }
    // `ValidateFieldManager` refuses the first character that Go does not print.
    if let Some(place) = manager.chars().position(char::is_control) {
        let character = u32::from(manager.chars().nth(place).unwrap_or_default());
        let quoted = go_quoted(manager);
        let detail = format!("invalid character U+{character:04X} (at position {place})");
        errors.push(FieldError {
            value: quoted,
            ..error("fieldManager", ErrorType::Invalid, "", &detail)
        });
    }
    errors.extend(dry_run(stages(request)));
    if !matches!(unknown, "" | "Ignore" | "Warn" | "Strict") {
        errors.push(unsupported(
            "fieldValidation",
            unknown,
            &["", "Ignore", "Strict", "Warn"],
        ));
    }
    errors
}

/// Quotes a text as Go's `%q`.
fn go_quoted(text: &str) -> String {
    let escaped = text.chars().map(|character| match character {
        '"' | '\\' => format!("\\{character}"),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        '\0'..='\u{1f}' | '\u{7f}' => format!("\\x{:02x}", u32::from(character)),
        '\u{80}'..='\u{9f}' => format!("\\u{:04x}", u32::from(character)),
        _ => character.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

fn patch(request: &HttpRequest) -> Option<FieldError> {
    if request.applies() {
        let nobody = request.option("fieldManager").is_empty();
        return nobody.then(|| {
            error(
                "fieldManager",
                ErrorType::Required,
                "",
                "is required for apply patch",
            )
        });
    }
    request
        .has("force")
        .then(|| forbidden("force", "may not be specified for non-apply patch"))
}

/// Returns the dry-run stages in the query.
fn stages(request: &HttpRequest) -> Vec<Value> {
    request
        .query
        .iter()
        .filter(|(key, _)| key == "dryRun")
        .map(|(_, stage)| stage.as_str().into())
        .collect()
}

/// A dry run must cover all stages: a request that means to write nothing must not write.
fn dry_run(stages: Vec<Value>) -> Option<FieldError> {
    stages
        .iter()
        .any(|stage| stage != "All")
        .then(|| unsupported("dryRun", json!(stages), &["All"]))
}

/// Deletion or eviction as a client asks for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestedDeletion {
    /// True for a dry run.
    pub is_dry: bool,
    /// Options.
    pub options: DeleteOptions,
}

/// Supported fields of `DeleteOptions`, with their types in Go.
const FIELDS: [(&str, &str); 6] = [
    ("dryRun", "[]string"),
    ("gracePeriodSeconds", "int64"),
    ("kind", "string"),
    ("orphanDependents", "bool"),
    ("preconditions", "v1.Preconditions"),
    ("propagationPolicy", "v1.DeletionPropagation"),
];

/// Returns true if a value has a type.
fn fits(value: &Value, kind: &str) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(_) => kind == "bool",
        Value::Number(number) => kind == "int64" && number.is_i64(),
        Value::String(_) => matches!(kind, "string" | "v1.DeletionPropagation"),
        Value::Array(_) => kind == "[]string",
        Value::Object(_) => kind == "v1.Preconditions",
    }
}

/// Reads the options of a deletion or an eviction: those of the body, and those of the query that the body omits.
pub fn deletion(request: &HttpRequest, evicts: bool) -> Result<RequestedDeletion, ApiError> {
    let body = match evicts {
        true => request.posted("Eviction", "policy/v1")?["deleteOptions"].take(),
        false => request.object_if_any("DeleteOptions")?,
    };
    for (field, kind) in FIELDS {
        if !fits(&body[field], kind) {
            let is = json_type(&body[field], false);
            let problem = format!(
                "json: cannot unmarshal {is} into Go struct field DeleteOptions.{field} of type {kind}"
            );
            let message = format!(
                "DeleteOptions in version \"v1\" cannot be handled as a DeleteOptions: {problem}"
            );
            return Err(ApiError::bad_request(message));
        }
    }
    let mut errors = Vec::new();
    let (word, orphans) = (
        body["propagationPolicy"]
            .as_str()
            .unwrap_or(request.option("propagationPolicy")),
        &body["orphanDependents"],
    );
    // Deprecated name of two of them.
    let orphans = orphans
        .as_bool()
        .or_else(|| request.option("orphanDependents").parse().ok());
    if orphans.is_some() && !word.is_empty() {
        errors.push(error(
            "propagationPolicy",
            ErrorType::Invalid,
            word,
            "orphanDependents and deletionPropagation cannot be both set",
        ));
    }
    let propagation = match (word, orphans) {
        ("Foreground", _) => Some(Propagation::Foreground),
        ("Orphan", _) | ("", Some(true)) => Some(Propagation::Orphan),
        ("Background", _) | ("", Some(false)) => Some(Propagation::Background),
        ("", None) => None,
        (other, _) => {
            errors.push(unsupported(
                "propagationPolicy",
                other,
                &["Foreground", "Background", "Orphan", "nil"],
            ));
            None
        }
    };
    let mut stages = stages(request);
    stages.extend(body["dryRun"].as_array().into_iter().flatten().cloned());
    let is_dry = !stages.is_empty();
    errors.extend(dry_run(stages));
    if !errors.is_empty() {
        return Err(ApiError::invalid_fields(
            "DeleteOptions.meta.k8s.io",
            "",
            &errors,
        ));
    }
    let grace_period_seconds = body["gracePeriodSeconds"]
        .as_i64()
        .or_else(|| request.option("gracePeriodSeconds").parse().ok());
    let wanted = |field: &str| body["preconditions"][field].as_str().map(str::to_owned);
    let options = DeleteOptions {
        grace_period_seconds,
        propagation_policy: propagation,
        preconditions: Preconditions {
            uid: wanted("uid"),
            resource_version: wanted("resourceVersion"),
        },
    };
    Ok(RequestedDeletion { is_dry, options })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(method: &str, options: &str) -> String {
        let request = HttpRequest::new(method, &format!("/api/v1/pods?{options}"));
        let answer = refusal(&request, &Target::default());
        let status: Value = answer.map_or(Value::Null, |answer| {
            serde_json::from_slice(&answer.body).unwrap()
        });
        format!(
            "{} {}",
            status["code"],
            status["message"].as_str().unwrap_or("")
        )
    }

    #[test]
    fn unknown_options_are_refused() {
        for (method, options) in [
            ("GET", "limit=5"),
            ("GET", "resourceVersion=5&resourceVersionMatch=Exact"),
            (
                "GET",
                "watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan",
            ),
            ("POST", "dryRun=All&fieldManager=me&fieldValidation=Strict"),
            ("PATCH", ""),
            ("DELETE", "gracePeriodSeconds=0"),
        ] {
            assert_eq!(message(method, options), "null ", "{method} {options}");
        }
        let many = "m".repeat(129);
        for (method, options, wanted) in [
            (
                "GET",
                "limit=x",
                "400 strconv.ParseInt: parsing \"x\": invalid syntax",
            ),
            (
                "GET",
                "resourceVersionMatch=Exact",
                "422 ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless \
                 resourceVersion is provided",
            ),
            (
                "GET",
                "watch=1&sendInitialEvents=true",
                "422 ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting \
                 resourceVersionMatch to NotOlderThan",
            ),
            (
                "GET",
                "resourceVersion=1&resourceVersionMatch=Near",
                "422 ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Unsupported value: \"Near\": supported values: \
                 \"Exact\", \"NotOlderThan\", \"\"",
            ),
            (
                "DELETE",
                "dryRun=Some",
                "422 DeleteOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"Some\"]: supported values: \"All\"",
            ),
            (
                "PATCH",
                "force=true",
                "422 PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for non-apply patch",
            ),
            (
                "PUT",
                &format!("fieldManager={many}"),
                "422 UpdateOptions.meta.k8s.io \"\" is invalid: fieldManager: Too long: may not be more than 128 bytes",
            ),
        ] {
            assert_eq!(message(method, options), wanted);
        }
    }
}
