//! How a command fails.

use apiserver::validation::FieldError;
use apiserver::{ApiError, Cause, StatusReason};
use k8s_model::Kind;

/// Why a command ends early: what goes to stderr, and the exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The whole text, with its line break.
    pub message: String,
    /// How it is told as one of several, without its line break.
    pub among: String,
    /// The exit code.
    pub exit: i32,
    /// What the server found wrong with which fields.
    pub causes: Vec<FieldError>,
}

impl Failure {
    /// A text as it is, with an exit code.
    pub fn exit(message: impl Into<String>, exit: i32) -> Failure {
        let message = message.into();
        Failure {
            among: message.trim_end().to_owned(),
            message,
            exit,
            causes: Vec::new(),
        }
    }

    /// `error: …`
    pub fn error(message: impl std::fmt::Display) -> Failure {
        let among = message.to_string();
        Failure {
            among,
            ..Failure::exit(format!("error: {message}\n"), 1)
        }
    }

    /// `error: …`, and where to look it up.
    pub fn usage(path: &str, message: impl std::fmt::Display) -> Failure {
        Failure::error(format!(
            "{message}\nSee 'kubectl {path} -h' for help and examples"
        ))
    }

    /// Several as one: alone each is told on a line of its own, beside others all are told in one.
    pub fn all(failures: Vec<Failure>) -> Option<Failure> {
        if failures.len() < 2 {
            return failures.into_iter().next();
        }
        let told: Vec<&str> = failures.iter().map(|failure| &*failure.among).collect();
        let among = format!("[{}]", told.join(", "));
        Some(Failure {
            among,
            ..Failure::plain(told.join("\n"))
        })
    }

    /// A message without `error: ` before it.
    pub fn plain(message: impl std::fmt::Display) -> Failure {
        Failure::exit(format!("{message}\n"), 1)
    }
}

/// What Go says about JSON that does not parse, and after how many bytes.
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
    // Columns count bytes, and the column of a fault is the byte at which the parser stopped.
    let offset = before + error.column();
    let read = text.get(..offset.saturating_sub(1)).unwrap_or("");
    let found = text[read.len()..].chars().next().unwrap_or(' ');
    // What fits is what leaves only something missing.
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

/// `Error from server (NotFound): pods "x" not found`
pub fn not_found(kind: Kind, name: &str) -> Failure {
    server_error(&ApiError::not_found(kind, name))
}

/// An API error as kubectl prints it.
pub fn server_error(error: &ApiError) -> Failure {
    match error.reason {
        StatusReason::Invalid => invalid(error, ""),
        StatusReason::Unknown => Failure::plain(format!("Error from server: {}", error.message)),
        reason => Failure::plain(format!("Error from server ({reason:?}): {}", error.message)),
    }
}

/// The same for an object of a file; only errors that are not about fields name the file.
pub fn source_error(error: &ApiError, doing: &str) -> Failure {
    match error.reason {
        StatusReason::Invalid => invalid(error, &format!("{doing}: ")),
        reason => Failure::plain(format!(
            "Error from server ({reason:?}): {doing}: {}",
            error.message
        )),
    }
}

/// The same, by what was done with the object (`creating`) and the name of its file.
pub fn file_error(error: &ApiError, doing: &str, file: &str) -> Failure {
    source_error(error, &format!("error when {doing} {file:?}"))
}

/// `The Deployment "x" is invalid: …`, one line for each of several causes.
fn invalid(error: &ApiError, doing: &str) -> Failure {
    let among = format!("Error from server (Invalid): {doing}{}", error.message);
    let Some(Cause::Fields(invalid)) = error.cause.as_deref() else {
        return Failure {
            among,
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
    let message = format!("The {kind} \"{}\" is invalid: {causes}", invalid.name);
    Failure {
        causes: invalid.causes.clone(),
        among,
        ..Failure::plain(message)
    }
}
