//! Dispatch of a request to the admission webhooks and policies that match it.
//!
//! Models `apiserver/pkg/admission/plugin/webhook/{mutating,validating}/dispatcher.go`, `webhook/matchconditions/matcher.go` and
//! `webhook/errors/statuserror.go`.

use super::AdmissionRequest;
use super::calls::{
    WebhookCall, WebhookDecision, WebhookExchange, WebhookId, WebhookOutcome, WebhookVerdict,
};
use super::review::{self, Subject};
use super::webhooks::{
    AdmissionPhase, AdmissionPlugin, AdmissionPlugins, Hook, Webhook, policy_decision,
};
use crate::conversion;
use crate::defaults;
use crate::definitions::{Definitions, schema as custom_schema};
use crate::error::{ApiError, Cause, StatusReason};
use crate::journal::Actor;
use crate::patch::{json_patch, merge_patch};
use crate::scale::{desired_replicas, replicas_change};
use crate::server::Origin;
use crate::store::Store;
use k8s_model::kind::Subresource;
use k8s_model::{Object, Str};
use serde_json::{Value, json};
use std::rc::Rc;

/// Dispatcher of the requests that are served.
pub(crate) struct Dispatcher<'a> {
    pub plugins: &'a AdmissionPlugins,
    pub store: &'a mut Store,
    pub definitions: &'a Definitions,
    pub exchange: &'a mut WebhookExchange,
    /// Warnings for the client.
    pub warnings: &'a mut Vec<String>,
    pub origin: &'a Origin,
}

/// Judgement of a webhook.
enum Judgement {
    /// The webhook has no say: a match condition is not met, or the call failed and the failure policy lets the request through.
    Skipped,
    Allowed {
        /// JSON patch, if the webhook returns one.
        patch: Option<Value>,
    },
    Refused(ApiError),
    /// The answer is still to be got.
    Pending,
}

impl<'a> Dispatcher<'a> {
    /// Returns true if a webhook or policy that mutates matches a request.
    pub fn mutates(&self, request: AdmissionRequest<'_>) -> bool {
        let request = self.requested(request);
        let phase = AdmissionPhase::Mutating;
        self.origin.actor != Actor::SERVER
            && !self
                .plugins
                .matching(phase, self.store, self.definitions, request)
                .is_empty()
    }

    /// Passes an object through the mutating policies and webhooks; returns it if one has changed it.
    ///
    /// # Errors
    /// A refusal, or a call that is pending.
    pub fn mutate(&mut self, request: AdmissionRequest<'_>) -> Result<Option<Object>, ApiError> {
        if self.origin.actor == Actor::SERVER {
            return Ok(None);
        }
        let request = self.requested(request);
        self.ask_policies(AdmissionPhase::Mutating, request)?;
        let mut changed: Option<Object> = None;
        let (mut invoked, mut reinvoked) = (Vec::new(), Vec::new());
        let mut is_again = false;
        let plugins = self.plugins;
        for round in 0..2 {
            if round == 1 {
                if !is_again {
                    break;
                }
                self.reinvoke_plugins(request, &mut changed, &mut invoked, &mut reinvoked)?;
            }
            for plugin in plugins.of(AdmissionPhase::Mutating) {
                let Hook::Webhook(webhook) = &plugin.hook else {
                    continue;
                };
                let key = (webhook.id.clone(), webhook.index);
                if round == 1 && !reinvoked.contains(&key) {
                    continue;
                }
                let object = changed.as_ref().unwrap_or(request.object);
                let current = AdmissionRequest { object, ..request };
                let Some(subject) = self.subject(plugin, current) else {
                    continue;
                };
                match self.judge(webhook, current, &subject) {
                    Judgement::Skipped => continue,
                    Judgement::Pending => return Err(pending()),
                    Judgement::Refused(error) => return Err(error),
                    Judgement::Allowed { patch: None } => {}
                    Judgement::Allowed { patch: Some(patch) } => {
                        let patched = self.patched(webhook, current, &subject, &patch);
                        let patched = patched.inspect_err(|_| {
                            let verdict = WebhookVerdict::ServerError;
                            decided(self.exchange, webhook, request, verdict, 500);
                        })?;
                        if patched != *object {
                            reinvoked.append(&mut invoked);
                            is_again = true;
                            changed = Some(patched);
                        }
                    }
                }
                if webhook.value["reinvocationPolicy"] == "IfNeeded" {
                    invoked.push(key);
                }
            }
        }
        Ok(changed)
    }

    /// Passes an object through the stock plugins again, after a webhook has changed it.
    fn reinvoke_plugins(
        &mut self,
        request: AdmissionRequest<'_>,
        changed: &mut Option<Object>,
        invoked: &mut Vec<(WebhookId, usize)>,
        reinvoked: &mut Vec<(WebhookId, usize)>,
    ) -> Result<(), ApiError> {
        let creates = request.operation == "CREATE" && request.subresource.is_main();
        let Some(object) = changed.as_mut().filter(|_| creates) else {
            return Ok(());
        };
        let before = object.clone();
        super::admit(self.store, object)?;
        if *object != before {
            reinvoked.append(invoked);
        }
        Ok(())
    }

    /// Asks the validating policies and webhooks for a request.
    ///
    /// # Errors
    /// A refusal, or calls that are pending.
    pub fn validate(&mut self, request: AdmissionRequest<'_>) -> Result<(), ApiError> {
        if self.origin.actor == Actor::SERVER {
            return Ok(());
        }
        let request = self.requested(request);
        self.ask_policies(AdmissionPhase::Validating, request)?;
        let plugins = self.plugins;
        let (mut refusal, mut is_pending) = (None, false);
        // Validating webhooks are called at once; the first refusal counts.
        for plugin in plugins.of(AdmissionPhase::Validating) {
            let Hook::Webhook(webhook) = &plugin.hook else {
                continue;
            };
            let Some(subject) = self.subject(plugin, request) else {
                continue;
            };
            match self.judge(webhook, request, &subject) {
                Judgement::Skipped | Judgement::Allowed { .. } => {}
                Judgement::Pending => is_pending = true,
                Judgement::Refused(error) => {
                    refusal.get_or_insert(error);
                }
            }
        }
        match refusal {
            _ if is_pending => Err(pending()),
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Returns a request with the API version that its client names.
    fn requested<'r>(&self, request: AdmissionRequest<'r>) -> AdmissionRequest<'r>
    where
        'a: 'r,
    {
        let origin: &'a Origin = self.origin;
        let manager = origin.manager.as_ref();
        let api_version = manager.and_then(|manager| manager.api_version.as_deref());
        AdmissionRequest {
            api_version,
            ..request
        }
    }

    /// Lets the policies of a phase refuse a request, or warn about it.
    fn ask_policies(
        &mut self,
        phase: AdmissionPhase,
        request: AdmissionRequest<'_>,
    ) -> Result<(), ApiError> {
        let plugins = self.plugins;
        let matching = plugins.matching(phase, self.store, self.definitions, request);
        for (plugin, _) in matching {
            let Hook::Policy(bound) = &plugin.hook else {
                continue;
            };
            let (warning, error) = policy_decision(bound, request);
            warning.into_iter().for_each(|warning| self.warn(warning));
            error.map_or(Ok(()), Err)?;
        }
        Ok(())
    }

    fn warn(&mut self, warning: String) {
        if self.origin.actor == Actor::USER && !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Returns the objects of a request for a plugin that it matches.
    fn subject(&self, plugin: &AdmissionPlugin, request: AdmissionRequest<'_>) -> Option<Subject> {
        if AdmissionPlugins::depend_on(request.object.kind) {
            return None;
        }
        let api_version = plugin.matched_version(self.store, self.definitions, request)?;
        let shown =
            |object: &Object| review::shown(self.definitions, request, object, &api_version);
        let object = match request.operation {
            "DELETE" => Value::Null,
            _ => shown(request.object),
        };
        let old = request.old.map_or(Value::Null, shown);
        Some(Subject {
            api_version,
            object,
            old,
        })
    }

    /// Asks a webhook about a request.
    fn judge(
        &mut self,
        webhook: &Rc<Webhook>,
        request: AdmissionRequest<'_>,
        subject: &Subject,
    ) -> Judgement {
        let name = &webhook.id.name;
        let (user, options) = (review::user(self.origin), self.options(request.operation));
        let dry_run = self.exchange.dry_run;
        let review = review::request(request, subject, &user, &options, dry_run);
        let decide = |exchange: &mut WebhookExchange, verdict, code| {
            decided(exchange, webhook, request, verdict, code);
        };
        match conditions_met(webhook, subject, &review) {
            Ok(true) => {}
            Ok(false) => return Judgement::Skipped,
            Err(_) if !webhook.fails_closed() => return Judgement::Skipped,
            Err(problem) => {
                let resource = request.object.kind.group_resource();
                let object = request.object.meta.name.as_str();
                return Judgement::Refused(ApiError::forbidden(format!(
                    "{resource} {object:?} is forbidden: {problem}"
                )));
            }
        }
        let side_effects = webhook.value["sideEffects"].as_str().unwrap_or("");
        if self.exchange.dry_run && !matches!(side_effects, "None" | "NoneOnDryRun") {
            decide(self.exchange, WebhookVerdict::ServerError, 400);
            return Judgement::Refused(ApiError::bad_request(format!(
                "admission webhook \"{name}\" does not support dry run"
            )));
        }
        let versions = webhook.value["admissionReviewVersions"].as_array();
        let versions = versions.into_iter().flatten().filter_map(Value::as_str);
        let call = WebhookCall {
            webhook: webhook.id.clone(),
            client_config: webhook.value["clientConfig"].clone(),
            review_versions: versions.map(str::to_owned).collect(),
            timeout_seconds: webhook.timeout_seconds(),
            request: review,
        };
        let count = self.exchange.pending.len();
        let outcome = self.exchange.call(call, webhook.service().as_ref());
        if self.exchange.pending.len() > count {
            return Judgement::Pending;
        }
        let was_called = outcome.is_some();
        let problem = match outcome {
            Some(WebhookOutcome::Response(response)) => {
                let warnings = response["warnings"].as_array();
                for warning in warnings.into_iter().flatten().filter_map(Value::as_str) {
                    self.warn(warning.to_owned());
                }
                if response["allowed"] == true {
                    decide(self.exchange, WebhookVerdict::Allowed, 200);
                    let patch = response.get("patch").filter(|patch| !patch.is_null());
                    return Judgement::Allowed {
                        patch: patch.cloned(),
                    };
                }
                let (error, code) = denial(name, &response["status"]);
                decide(self.exchange, WebhookVerdict::Denied, code);
                return Judgement::Refused(error);
            }
            Some(WebhookOutcome::Failed(problem)) => problem,
            None => {
                let outcome = match webhook.fails_closed() {
                    true => "its failurePolicy Fail refuses the request",
                    false => "its failurePolicy Ignore lets the request through",
                };
                self.warn(format!(
                    "webhook \"{name}\" is not called, since containers do not run here: {outcome}"
                ));
                let (url, problem) = (webhook.url(), webhook.unreachable(self.store));
                format!("failed to call webhook: Post \"{url}\": {problem}")
            }
        };
        let problem = format!("failed calling webhook \"{name}\": {problem}");
        if webhook.fails_closed() {
            decide(self.exchange, WebhookVerdict::FailedClosed, 0);
            return Judgement::Refused(ApiError::internal(&format!(
                "Internal error occurred: {problem}"
            )));
        }
        decide(self.exchange, WebhookVerdict::FailedOpen, 0);
        if was_called {
            self.warn(format!(
                "{problem}; its failurePolicy Ignore lets the request through"
            ));
        }
        Judgement::Skipped
    }

    /// Returns the options of the request that is served, as the operation has them.
    fn options(&self, operation: &str) -> Value {
        let kind = match operation {
            "CREATE" => "CreateOptions",
            "UPDATE" => "UpdateOptions",
            _ => "DeleteOptions",
        };
        let mut options = json!({ "kind": kind, "apiVersion": "meta.k8s.io/v1" });
        let is_deletion = operation == "DELETE";
        let own = self.exchange.options.as_object();
        for (name, value) in own.into_iter().flatten() {
            let is_taken = match name.as_str() {
                "fieldManager" | "fieldValidation" => !is_deletion,
                "gracePeriodSeconds" | "propagationPolicy" | "preconditions" => is_deletion,
                _ => true,
            };
            if is_taken {
                options[name] = value.clone();
            }
        }
        options
    }

    /// Applies a webhook's patch to the object of a request.
    fn patched(
        &mut self,
        webhook: &Webhook,
        request: AdmissionRequest<'_>,
        subject: &Subject,
        patch: &Value,
    ) -> Result<Object, ApiError> {
        let internal =
            |problem: &str| ApiError::internal(&format!("Internal error occurred: {problem}"));
        let kind = request.object.kind;
        let is_modifiable = request.operation != "DELETE"
            && !matches!(
                request.subresource,
                Subresource::Eviction | Subresource::Binding
            );
        if !is_modifiable {
            return Err(internal(&format!(
                "admission webhook \"{}\" attempted to modify the object, which is not supported for this operation",
                webhook.id.name
            )));
        }
        let mut value = subject.object.clone();
        json_patch(&mut value, patch).map_err(|error| internal(&error))?;
        if request.subresource == Subresource::Scale {
            let replicas = desired_replicas(&value).map_err(|error| internal(&error))?;
            let change = replicas_change(self.definitions, &request.object.key(), replicas)?;
            value = request.object.to_value();
            merge_patch(&mut value, &change);
        } else {
            conversion::stored(&subject.api_version, kind, &mut value);
            value["apiVersion"] = kind.api_version().into();
        }
        match self.definitions.of(kind) {
            Some(definition) => {
                let version = subject.api_version.rsplit('/').next().unwrap_or("");
                let schema = &definition.version(version).schema;
                custom_schema::prune(schema, &mut value);
                custom_schema::drop_nulls(schema, &mut value, 0);
                custom_schema::default(schema, &mut value, 0);
            }
            None => defaults::apply_defaults(&mut value),
        }
        Object::from_value(kind, value).map_err(|error| internal(&error.to_string()))
    }
}

/// Returns the error of an attempt that lacks an answer; the attempt is dropped, so that nobody sees it.
fn pending() -> ApiError {
    ApiError::internal("Internal error occurred: an admission webhook has not answered yet")
}

fn decided(
    exchange: &mut WebhookExchange,
    webhook: &Webhook,
    request: AdmissionRequest<'_>,
    verdict: WebhookVerdict,
    code: u16,
) {
    exchange.decided(WebhookDecision {
        webhook: webhook.id.clone(),
        operation: request.operation,
        verdict,
        code,
    });
}

/// Evaluates the match conditions of a webhook: one that is not met counts before errors of others.
fn conditions_met(webhook: &Webhook, subject: &Subject, review: &Value) -> Result<bool, String> {
    let variables = [
        ("object", &subject.object),
        ("oldObject", &subject.old),
        ("request", review),
    ];
    let mut errors = Vec::new();
    for condition in &webhook.conditions {
        let result = match &condition.program {
            Ok(program) => program.evaluate(&variables),
            Err(problem) => Err(problem.clone()),
        };
        match result {
            Ok(Value::Bool(true)) => {}
            Ok(Value::Bool(false)) => return Ok(false),
            Ok(_) => errors.push("cel expression must evaluate to a bool".to_owned()),
            Err(problem) => errors.push(format!(
                "expression '{}' resulted in error: {problem}",
                condition.expression
            )),
        }
    }
    match &errors[..] {
        [] => Ok(true),
        [error] => Err(error.clone()),
        _ => Err(format!("[{}]", errors.join(", "))),
    }
}

/// Returns the refusal of a webhook that denies a request, and its status code.
fn denial(webhook: &Str, status: &Value) -> (ApiError, u16) {
    let denied = format!("admission webhook \"{webhook}\" denied the request");
    let text = |field: &str| status[field].as_str().unwrap_or("");
    let message = match (text("message"), text("reason")) {
        ("", "") => format!("{denied} without explanation"),
        ("", reason) => format!("{denied}: {reason}"),
        (message, _) => format!("{denied}: {message}"),
    };
    let code = status["code"].as_u64().unwrap_or(0).clamp(400, 599) as u16;
    let mut shown = json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, "code": code });
    if !text("reason").is_empty() {
        shown["reason"] = text("reason").into();
    }
    if status["details"].is_object() {
        shown["details"] = status["details"].clone();
    }
    let reason = StatusReason::read(text("reason"));
    let error = ApiError {
        reason,
        message,
        cause: Some(Box::new(Cause::Webhook(shown))),
    };
    (error, code)
}
