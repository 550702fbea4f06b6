//! Answers and errors: `Status` objects with their codes.
//!
//! Models `apimachinery/pkg/api/errors` and `apiserver/pkg/endpoints/handlers/responsewriters`.

use super::request::{Request, Target};
use apiserver::{ApiError, Cause, StatusReason};
use k8s_model::Kind;
use serde_json::{Value, json};

/// An answer that is there at once.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The HTTP status.
    pub code: u16,
    /// The type of the body.
    pub content_type: &'static str,
    /// The body.
    pub body: Vec<u8>,
    /// What the client is to be warned of.
    pub warnings: Vec<String>,
}

impl Answer {
    /// An object.
    pub fn json(code: u16, value: &Value) -> Answer {
        Answer::json_text(code, value.to_string())
    }

    /// An object that is JSON already.
    pub fn json_text(code: u16, text: String) -> Answer {
        Answer {
            code,
            content_type: "application/json",
            body: text.into_bytes(),
            warnings: Vec::new(),
        }
    }

    /// Text.
    pub fn text(text: impl Into<String>) -> Answer {
        Answer {
            code: 200,
            content_type: "text/plain",
            body: text.into().into_bytes(),
            warnings: Vec::new(),
        }
    }

    /// A refusal; `about` is the kind and the name of the object that the request is about.
    pub fn error(error: &ApiError, about: Option<(Kind, &str)>) -> Answer {
        Answer::json(code(error.reason), &status(error, about))
    }
}

/// The HTTP status of a reason.
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
        StatusReason::InternalError | StatusReason::Unknown => 500,
    }
}

fn status(error: &ApiError, about: Option<(Kind, &str)>) -> Value {
    let mut details = json!({});
    // A client that finds no details says that the request is invalid, instead of the object.
    let about = about.filter(|_| match error.reason {
        StatusReason::Invalid => error.cause.is_some(),
        // These are about the request.
        StatusReason::BadRequest | StatusReason::Unknown => false,
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
            details["kind"] = kind.into();
            if !group.is_empty() {
                details["group"] = group.into();
            }
            let causes = invalid.causes.iter();
            let causes = causes.map(|cause| json!({ "reason": cause.reason(), "message": cause.body(), "field": cause.field }));
            details["causes"] = causes.collect();
        }
        Some(Cause::Budget(name)) => {
            let message = error.message.clone();
            details["causes"] = json!([{ "reason": "DisruptionBudget", "message": format!("The disruption budget {name} {message}") }]);
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

/// A `Status` that is about no object: the server could not find or read what was asked for.
pub fn failure(code: u16, reason: &str, message: &str) -> Answer {
    let mut status = body(code, message);
    (status["reason"], status["details"]) = (reason.into(), json!({}));
    Answer::json(code, &status)
}

/// A `Status` of a version that the server no longer has.
pub fn expired(message: &str) -> Value {
    let mut status = body(410, message);
    status["reason"] = "Expired".into();
    status
}

/// What a deletion answers when the object is gone.
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

/// Nothing is served there.
pub fn no_such_path() -> Answer {
    failure(
        404,
        "NotFound",
        "the server could not find the requested resource",
    )
}

/// There is no such resource; said as a client would of a plain answer without words.
pub fn no_such_resource(request: &Request, target: &Target) -> Answer {
    let group = if target.group.is_empty() {
        String::new()
    } else {
        format!(".{}", target.group)
    };
    let name = if target.name.is_empty() {
        String::new()
    } else {
        format!(" {}", target.name)
    };
    let what = format!(
        "{} {}{group}{name}",
        request.method.to_lowercase(),
        target.resource
    );
    failure(
        404,
        "NotFound",
        &format!("the server could not find the requested resource ({what})"),
    )
}

/// It is served, but not this method.
pub fn not_allowed() -> Answer {
    failure(
        405,
        "MethodNotAllowed",
        "the server does not allow this method on the requested resource",
    )
}
