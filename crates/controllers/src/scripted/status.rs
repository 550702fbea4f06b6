//! Reports of a loop: its status, and Events about passes that fail.

use super::{LoopState, ScriptedLoop};
use apiserver::control_loop;
use apiserver::why::Why;
use apiserver::{ApiError, StatusReason};
use controller_runtime::client::{Action, LoopClient, PassView};
use k8s_model::{Body, ObjectRef, Str};
use script::{Failure, ScriptError, Style};
use serde_json::{Value, json};

/// Returns the error of a pass whose program returned a failed request.
pub(super) fn error_of(failure: &Failure) -> ApiError {
    ApiError {
        reason: StatusReason::Unknown,
        message: failure.message.clone(),
        cause: None,
    }
}

/// Returns the error of a pass that ended with a problem.
pub(super) fn error_of_pass(error: &ScriptError) -> ApiError {
    ApiError {
        reason: StatusReason::Unknown,
        message: error.to_string(),
        cause: None,
    }
}

/// Records an Event about a pass that failed.
pub(super) fn record_failure(
    of: &ScriptedLoop,
    key: &ObjectRef,
    error: &ScriptError,
    view: &PassView<'_>,
    out: &mut LoopClient<'_>,
) {
    if let Some(object) = view.cache.object(&of.own_key()) {
        out.event(object, "Warning", "PassFailed", format!("{key}: {error}"));
    }
}

/// Writes the status of the ControlLoop: the style of its program, and whether a pass fails.
pub(super) fn report(
    of: &ScriptedLoop,
    view: &PassView<'_>,
    out: &mut LoopClient<'_>,
    state: &LoopState,
) -> Result<Action, ApiError> {
    let Some(object) = view.cache.object(&control_loop::key(of.id.name)) else {
        return Ok(Action::AwaitChange);
    };
    let Body::Other(body) = &object.body else {
        return Ok(Action::AwaitChange);
    };
    let old = body.get("status").unwrap_or(&Value::Null);
    let unknown = of.spec.replaces.as_ref().filter(|name| {
        let mut all = crate::ALL.iter();
        !all.any(|controller| *controller.name() == ***name)
    });
    let (ready, reason, message) = match state.failing().next() {
        None if unknown.is_some() => {
            let name = unknown.map(Str::as_str).unwrap_or_default();
            let message = format!("there is no controller {name:?} to replace");
            ("False", "UnknownController", message)
        }
        None => ("True", "Running", "the program runs".to_owned()),
        Some((key, error)) => ("False", "PassFailed", format!("{key}: {error}")),
    };
    let before = &old["conditions"][0];
    let since = match before["status"] == ready {
        true => before["lastTransitionTime"].clone(),
        false => json!(view.wall.rfc3339()),
    };
    let style = match of.program.style() {
        Style::Level => "Level",
        Style::Edge => "Edge",
    };
    let generation = object.meta.generation;
    let status = json!({
        "observedGeneration": generation,
        "style": style,
        "conditions": [{
            "type": "Ready", "status": ready, "observedGeneration": generation, "lastTransitionTime": since,
            "reason": reason, "message": message,
        }],
    });
    if *old == status {
        return Ok(Action::AwaitChange);
    }
    out.update_status(object, Why::Observed, |object| {
        if let Body::Other(body) = &mut object.body {
            body.insert("status".to_owned(), status);
        }
    })?;
    Ok(Action::AwaitChange)
}
