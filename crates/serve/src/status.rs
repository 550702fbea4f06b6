//! Answers and errors: `Status` objects with their status codes.
//!
//! Models `apimachinery/pkg/api/errors` and `apiserver/pkg/endpoints/handlers/responsewriters`.

use apiserver::{ApiError, Cause, StatusReason};
use k8s_model::Kind;
use serde_json::{Value, json};

/// Complete answer.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// HTTP status code.
    pub code: u16,
    /// Media type of the body.
    pub content_type: &'static str,
    /// Body.
    pub body: Vec<u8>,
    /// Warnings to the client.
    pub warnings: Vec<String>,
    /// Seconds after which the client may retry; 0 for an answer that does not say so.
    pub retry_after: u64,
}

impl Answer {
    /// Creates an answer with an object.
    pub fn json(code: u16, value: &Value) -> Answer {
        Answer::json_text(code, value.to_string())
    }

    /// Creates an answer with an object that is already JSON.
    pub fn json_text(code: u16, text: String) -> Answer {
        Answer {
            code,
            content_type: "application/json",
            body: text.into_bytes(),
            ..Answer::default()
        }
    }

    /// Creates a text answer.
    pub fn text(text: impl Into<String>) -> Answer {
        Answer {
            code: 200,
            content_type: "text/plain",
            body: text.into().into_bytes(),
            ..Answer::default()
        }
    }

    /// Creates an error answer; `about` is the kind and name of the request's object.
    pub fn error(error: &ApiError, about: Option<(Kind, &str)>) -> Answer {
        if let Some(Cause::Webhook(status)) = error.cause.as_deref() {
            let code = status["code"]
                .as_u64()
                .and_then(|code| code.try_into().ok());
            return Answer::status(code.unwrap_or(400), status);
        }
        Answer::status(code(error.reason), &status(error, about))
    }

    /// Creates an answer with a `Status`, whose time of a retry is also a header (`ErrorNegotiated` of `responsewriters/writers.go`).
    fn status(code: u16, status: &Value) -> Answer {
        let retry_after = status["details"]["retryAfterSeconds"].as_u64();
        Answer {
            retry_after: retry_after.unwrap_or(0),
            ..Answer::json(code, status)
        }
    }
}

/// HTTP status code of a reason.
fn code(reason: StatusReason) -> u16 {
    match reason {
        StatusReason::NotFound => 404,
        StatusReason::AlreadyExists | StatusReason::Conflict => 409,
        StatusReason::Invalid => 422,
        StatusReason::Forbidden => 403,
        StatusReason::BadRequest => 400,
        StatusReason::TooManyRequests => 429,
        StatusReason::MethodNotAllowed => 405,
        StatusReason::UnsupportedMediaType => 415,
        StatusReason::Expired => 410,
        StatusReason::Timeout => 504,
        StatusReason::InternalError | StatusReason::Unknown => 500,
    }
}

fn status(error: &ApiError, about: Option<(Kind, &str)>) -> Value {
    let mut details = json!({});
    // A client that finds no details reports the request as invalid, rather than the object.
    let about = about.filter(|_| match error.reason {
        StatusReason::Invalid => error.cause.is_some(),
        // These reasons concern the request.
        StatusReason::BadRequest
        | StatusReason::Expired
        | StatusReason::Timeout
        | StatusReason::Unknown => false,
        _ => true,
    });
    if let Some((kind, name)) = about {
        let info = kind.info();
        if !name.is_empty() {
            details["name"] = name.into();
        }
        if !info.group.is_empty() {
            details["group"] = info.group.into();
        }
        details["kind"] = info.plural.into();
    }
    match error.cause.as_deref() {
        Some(Cause::Fields(invalid)) => {
            if !invalid.name.is_empty() {
                details["name"] = invalid.name.as_str().into();
            }
            let (kind, group) = invalid
                .group_kind
                .split_once('.')
                .unwrap_or((&invalid.group_kind, ""));
            if kind.is_empty() {
                details = json!({});
            } else {
                details["kind"] = kind.into();
            }
            if !group.is_empty() {
                details["group"] = group.into();
            }
            let causes = invalid.causes.iter();
            let causes = causes.map(|cause| json!({ "reason": cause.reason(), "message": cause.body(), "field": cause.field }));
            details["causes"] = causes.collect();
        }
        Some(Cause::FieldManagers(conflicts)) => {
            let causes = conflicts.iter().map(|conflict| {
                let message = format!("conflict with {}", conflict.manager);
                json!({ "reason": "FieldManagerConflict", "message": message, "field": conflict.field })
            });
            details = json!({ "causes": causes.collect::<Vec<_>>() });
        }
        Some(Cause::Budget(name)) => {
            let message = error.message.clone();
            details["causes"] = json!([{ "reason": "DisruptionBudget", "message": format!("The disruption budget {name} {message}") }]);
        }
        Some(Cause::ResourceVersionTooLarge) => {
            details["causes"] = json!([{ "reason": "ResourceVersionTooLarge", "message": "Too large resource version" }]);
            details["retryAfterSeconds"] = 1.into();
        }
        Some(Cause::NamespaceTerminating) => {
            details["causes"] = json!([{ "reason": "NamespaceTerminating", "message": error.message, "field": "metadata.namespace" }]);
        }
        _ => {}
    }
    let mut status = body(code(error.reason), &error.message);
    if error.reason != StatusReason::Unknown {
        status["reason"] = format!("{:?}", error.reason).into();
    }
    if details
        .as_object()
        .is_some_and(|details| !details.is_empty())
    {
        status["details"] = details;
    }
    status
}

fn body(code: u16, message: &str) -> Value {
    json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, "code": code })
}

/// Creates a `Status` without an object: the server could not find or parse the request.
pub fn failure(code: u16, reason: &str, message: &str) -> Answer {
    let mut status = body(code, message);
    (status["reason"], status["details"]) = (reason.into(), json!({}));
    Answer::json(code, &status)
}

/// Creates the `Status` of a request that the client may repeat after some seconds.
pub fn retry_after(code: u16, reason: &str, message: &str, seconds: u32) -> Answer {
    let mut status = body(code, message);
    (status["reason"], status["details"]) = (reason.into(), json!({}));
    if seconds > 0 {
        status["details"]["retryAfterSeconds"] = seconds.into();
    }
    Answer::status(code, &status)
}

/// Creates the `Status` of a request that was not answered in time (`server/filters/timeout.go`).
pub fn timeout() -> Answer {
    let message = "Timeout: request did not complete within the allotted timeout";
    failure(504, "Timeout", message)
}

/// Creates the `Status` of an expired resourceVersion.
pub fn expired(message: &str) -> Value {
    let mut status = body(410, message);
    status["reason"] = "Expired".into();
    status
}

/// Answer to a deletion once the object is gone.
pub fn deleted(kind: Kind, name: &str, uid: &str) -> Answer {
    let info = kind.info();
    let mut details = json!({ "name": name, "kind": info.plural, "uid": uid });
    if !info.group.is_empty() {
        details["group"] = info.group.into();
    }
    Answer::json(
        200,
        &json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details }),
    )
}

/// Answer for an unknown path below a built-in API group.
pub fn no_such_path() -> Answer {
    failure(
        404,
        "NotFound",
        "the server could not find the requested resource",
    )
}

/// Answer for any other unknown path, in Go's words (`http.NotFound`).
pub fn page_not_found() -> Answer {
    Answer {
        code: 404,
        ..Answer::text("404 page not found\n")
    }
}

/// Answer for an unsupported method of a known resource.
pub fn not_allowed() -> Answer {
    failure(
        405,
        "MethodNotAllowed",
        "the server does not allow this method on the requested resource",
    )
}
