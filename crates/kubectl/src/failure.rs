//! Failures of commands.

use apiserver::validation::FieldError;
use apiserver::{ApiError, Cause, ListOptions, StatusReason};
use k8s_model::Kind;

/// Failure that ends a command: text for stderr, and exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Complete text, with its line break.
    pub message: String,
    /// Text as one of several failures, without its line break.
    pub in_aggregate: String,
    /// Exit code.
    pub exit: i32,
    /// Field errors of the server.
    pub causes: Vec<FieldError>,
}

impl Failure {
    /// Returns a failure with a verbatim text and an exit code.
    pub fn exit(message: impl Into<String>, exit: i32) -> Failure {
        let message = message.into();
        Failure {
            in_aggregate: message.trim_end().to_owned(),
            message,
            exit,
            causes: Vec::new(),
        }
    }

    /// Returns a failure with the text `error: …`.
    pub fn error(message: impl std::fmt::Display) -> Failure {
        Failure {
            in_aggregate: message.to_string(),
            ..Failure::exit(format!("error: {message}\n"), 1)
        }
    }

    /// Returns a failure with the text `error: …`, and a reference to the help.
    pub fn usage(path: &str, message: impl std::fmt::Display) -> Failure {
        Failure::error(format!(
            "{message}\nSee 'kubectl {path} -h' for help and examples"
        ))
    }

    /// Joins several failures: alone each is on its own line, among others all are in one.
    pub fn all(failures: Vec<Failure>) -> Option<Failure> {
        if failures.len() < 2 {
            return failures.into_iter().next();
        }
        let messages: Vec<&str> = failures
            .iter()
            .map(|failure| &*failure.in_aggregate)
            .collect();
        Some(Failure {
            in_aggregate: format!("[{}]", messages.join(", ")),
            ..Failure::plain(messages.join("\n"))
        })
    }

    /// Returns a failure without the prefix `error: `.
    pub fn plain(message: impl std::fmt::Display) -> Failure {
        Failure::exit(format!("{message}\n"), 1)
    }
}

/// Returns Go's error for JSON that does not parse, with its offset in bytes.
pub fn json_fault(text: &str) -> (usize, String) {
    let Err(error) = serde_json::from_str::<serde_json::Value>(text) else {
        return (0, String::new());
    };
    if error.is_eof() {
        return (text.len(), "unexpected end of JSON input".to_owned());
    }
    let before: usize = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1))
        .map(str::len)
        .sum();
    // Columns count bytes, and the column of an error is the byte at which the parser stopped.
    let offset = before + error.column();
    let read = text.get(..offset.saturating_sub(1)).unwrap_or("");
    let found = text[read.len()..].chars().next().unwrap_or(' ');
    // A token fits if the only remaining error is the end of the input.
    let fits = |more: &str| {
        serde_json::from_str::<serde_json::Value>(&format!("{read}{more}"))
            .is_err_and(|error| error.is_eof())
    };
    let places = [
        ("\"k\":", "looking for beginning of object key string"),
        (":", "after object key"),
        (",\"k\":", "after object key:value pair"),
        (",", "after array element"),
    ];
    let place = places
        .iter()
        .find(|(more, _)| fits(more))
        .map_or("looking for beginning of value", |(_, place)| place);
    (offset, format!("invalid character '{found}' {place}"))
}

/// Returns `Error from server (NotFound): pods "x" not found`.
pub fn not_found(kind: Kind, name: &str) -> Failure {
    server_error(&ApiError::not_found(kind, name))
}

/// Formats the error of a list, whose message names what was listed. Models `Selector.Visit` of `cli-runtime/pkg/resource/selector.go`.
pub fn list_error(kind: Kind, options: &ListOptions, error: &ApiError) -> Failure {
    if !matches!(
        error.reason,
        StatusReason::BadRequest | StatusReason::NotFound
    ) {
        return server_error(error);
    }
    let info = kind.info();
    let resource = format!(
        "\"{}/{}, Resource={}\"",
        info.group, info.version, info.plural
    );
    let (labels, fields) = (&options.label_selector, &options.field_selector);
    let message = if labels.is_empty() && fields.is_empty() {
        format!("Unable to list {resource}: {}", error.message)
    } else {
        format!(
            "Unable to find {resource} that match label selector {labels:?}, field selector {fields:?}: {}",
            error.message
        )
    };
    server_error(&ApiError {
        message,
        ..error.clone()
    })
}

/// Formats an API error as kubectl prints it.
pub fn server_error(error: &ApiError) -> Failure {
    match error.reason {
        StatusReason::Invalid => invalid(error, ""),
        StatusReason::Unknown => Failure::plain(format!("Error from server: {}", error.message)),
        reason => Failure::plain(format!("Error from server ({reason:?}): {}", error.message)),
    }
}

/// Formats the error for an object of a file; only errors that are not about fields name the file.
pub fn source_error(error: &ApiError, doing: &str) -> Failure {
    match error.reason {
        StatusReason::Invalid => invalid(error, &format!("{doing}: ")),
        reason => Failure::plain(format!(
            "Error from server ({reason:?}): {doing}: {}",
            error.message
        )),
    }
}

/// Formats the error by the action (`creating`) and the name of the file.
pub fn file_error(error: &ApiError, doing: &str, file: &str) -> Failure {
    source_error(error, &format!("error when {doing} {file:?}"))
}

/// Formats `The Deployment "x" is invalid: …`, with one line for each of several causes.
fn invalid(error: &ApiError, doing: &str) -> Failure {
    let in_aggregate = format!("Error from server (Invalid): {doing}{}", error.message);
    let Some(Cause::Fields(invalid)) = error.cause.as_deref() else {
        return Failure {
            in_aggregate,
            ..Failure::plain(format!("The request is invalid: {}", error.message))
        };
    };
    let kind = invalid
        .group_kind
        .split('.')
        .next()
        .unwrap_or(&invalid.group_kind);
    let causes = match &invalid.causes[..] {
        [cause] => cause.to_string(),
        causes => causes.iter().map(|cause| format!("\n* {cause}")).collect(),
    };
    let subject = match (kind, invalid.name.as_str()) {
        ("", "") => "The request".to_owned(),
        (kind, name) => format!("The {kind} \"{name}\""),
    };
    let message = format!("{subject} is invalid: {causes}");
    Failure {
        causes: invalid.causes.clone(),
        in_aggregate,
        ..Failure::plain(message)
    }
}
