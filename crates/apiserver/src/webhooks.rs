//! Admission webhooks and policies: handling of matching writes, since no webhook can be called and policy expressions are not evaluated.
//! A write is refused or let through with a warning, depending on the failure policy.
//!
//! Models `apiserver/pkg/admission/plugin/{webhook/{generic,validating},policy/validating}` in the order of
//! `kubeapiserver/options/plugins.go`. Match conditions are not evaluated: they count as true.

use super::admission_request::AdmissionRequest;
use super::error::{ApiError, StatusReason};
use super::matching::Matcher;
use super::server::{ApiServer, Origin};
use crate::journal::Actor;
use crate::why::Why;
use k8s_model::{Kind, Object, ObjectRef};
use serde_json::Value;
use std::rc::Rc;

/// Kinds that no webhook and no policy matches, so that a user who is locked out can delete the configuration.
const EXEMPT: [Kind; 6] = [
    Kind::MutatingAdmissionPolicy,
    Kind::MutatingAdmissionPolicyBinding,
    Kind::MutatingWebhookConfiguration,
    Kind::ValidatingAdmissionPolicy,
    Kind::ValidatingAdmissionPolicyBinding,
    Kind::ValidatingWebhookConfiguration,
];

/// Phase of admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AdmissionPhase {
    Mutating,
    Validating,
}

/// Webhooks and bound policies of a cluster, in the order in which they admit.
#[derive(Clone, Debug, Default)]
pub(super) struct AdmissionPlugins(Rc<Vec<AdmissionPlugin>>);

#[derive(Clone, Debug)]
struct AdmissionPlugin {
    phase: AdmissionPhase,
    matchers: Vec<Matcher>,
    hook: Hook,
}

#[derive(Clone, Debug)]
enum Hook {
    Webhook(Value),
    /// Policy with its binding.
    Policy(Box<[Value; 2]>),
}

impl AdmissionPlugins {
    fn of(server: &ApiServer) -> AdmissionPlugins {
        let policies =
            |phase, policy, binding| {
                let mut all = Vec::new();
                for policy in server.list(policy).map(|policy| policy.to_value()) {
                    let bindings = server.list(binding).map(|binding| binding.to_value());
                    for binding in bindings.filter(|binding| {
                        binding["spec"]["policyName"] == policy["metadata"]["name"]
                    }) {
                        let (constraints, bound) = (
                            &policy["spec"]["matchConstraints"],
                            &binding["spec"]["matchResources"],
                        );
                        let mut matchers =
                            vec![Matcher::read(constraints, &constraints["resourceRules"])];
                        matchers.extend(bound.is_object().then(|| {
                            Matcher::read(bound, &bound["resourceRules"]).or_every_rule()
                        }));
                        all.push(AdmissionPlugin {
                            phase,
                            matchers,
                            hook: Hook::Policy(Box::new([policy.clone(), binding])),
                        });
                    }
                }
                all
            };
        let webhooks = |phase, kind| {
            let all = server.list(kind).flat_map(|configuration| {
                match configuration.to_value()["webhooks"].take() {
                    Value::Array(webhooks) => webhooks,
                    _ => Vec::new(),
                }
            });
            let plugin = move |hook: Value| {
                let matchers = vec![Matcher::read(&hook, &hook["rules"])];
                AdmissionPlugin {
                    phase,
                    matchers,
                    hook: Hook::Webhook(hook),
                }
            };
            all.map(plugin).collect::<Vec<_>>()
        };
        let all = [
            policies(
                AdmissionPhase::Mutating,
                Kind::MutatingAdmissionPolicy,
                Kind::MutatingAdmissionPolicyBinding,
            ),
            webhooks(AdmissionPhase::Mutating, Kind::MutatingWebhookConfiguration),
            policies(
                AdmissionPhase::Validating,
                Kind::ValidatingAdmissionPolicy,
                Kind::ValidatingAdmissionPolicyBinding,
            ),
            webhooks(
                AdmissionPhase::Validating,
                Kind::ValidatingWebhookConfiguration,
            ),
        ];
        AdmissionPlugins(Rc::new(all.concat()))
    }
}

fn fails_closed(policy: &Value) -> bool {
    policy["failurePolicy"] != "Ignore"
}

impl ApiServer {
    /// Reloads the webhooks and policies after an object of their kinds has changed.
    pub(super) fn refresh_admission_plugins(&mut self, changed: Kind) {
        if EXEMPT.contains(&changed) {
            self.admission_plugins = AdmissionPlugins::of(self);
        }
    }

    /// Refuses a write that a webhook or a policy would have to admit, or warns about it.
    pub(super) fn admit_by_webhooks(
        &mut self,
        origin: &Origin,
        request: AdmissionRequest<'_>,
    ) -> Result<(), ApiError> {
        self.admit_in_phase(AdmissionPhase::Mutating, origin, request)?;
        self.admit_in_phase(AdmissionPhase::Validating, origin, request)
    }

    /// Admits a write by the webhooks and policies of one phase.
    pub(super) fn admit_in_phase(
        &mut self,
        phase: AdmissionPhase,
        origin: &Origin,
        request: AdmissionRequest<'_>,
    ) -> Result<(), ApiError> {
        if self.admission_plugins.0.is_empty()
            || EXEMPT.contains(&request.object.kind)
            || origin.actor == Actor::SERVER
        {
            return Ok(());
        }
        let api_version = origin
            .manager
            .as_ref()
            .and_then(|manager| manager.api_version.as_deref());
        let request = AdmissionRequest {
            api_version,
            ..request
        };
        let plugins = self.admission_plugins.0.clone();
        let namespace = self
            .get(&ObjectRef::new(
                Kind::Namespace,
                "",
                &request.object.meta.namespace,
            ))
            .cloned();
        for plugin in plugins.iter().filter(|plugin| plugin.phase == phase) {
            if !plugin
                .matchers
                .iter()
                .all(|matcher| matcher.matches(&self.definitions, namespace.as_deref(), request))
            {
                continue;
            }
            let (warning, error) = match &plugin.hook {
                Hook::Webhook(webhook) => self.webhook_call_error(webhook),
                Hook::Policy(bound) => policy_decision(bound, request),
            };
            if let Some(warning) = warning
                .filter(|warning| origin.actor == Actor::USER && !self.warnings.contains(warning))
            {
                self.warnings.push(warning);
            }
            error.map_or(Ok(()), Err)?;
        }
        Ok(())
    }

    /// Admits an update by both phases; a refusal is recorded.
    pub(super) fn admit_update_by_webhooks(
        &mut self,
        origin: &Origin,
        subresource: &str,
        (object, old): (&Object, &Object),
        why: &Why,
    ) -> Result<(), ApiError> {
        let request = AdmissionRequest {
            operation: "UPDATE",
            subresource,
            object,
            old: Some(old),
            api_version: None,
        };
        let result = self.admit_by_webhooks(origin, request);
        if let Err(error) = &result {
            self.refuse(origin, object.key(), error, why.clone());
        }
        result
    }

    /// Returns the warning for a webhook that is not called, and the refusal if its failure policy is `Fail`.
    fn webhook_call_error(&self, webhook: &Value) -> (Option<String>, Option<ApiError>) {
        let name = webhook["name"].as_str().unwrap_or("");
        let cannot = format!("webhook {name:?} is not called, since containers do not run here");
        if !fails_closed(webhook) {
            return (
                Some(format!(
                    "{cannot}: its failurePolicy Ignore lets the request through"
                )),
                None,
            );
        }
        let (url, problem) = self.unreachable(&webhook["clientConfig"]);
        let timeout = webhook["timeoutSeconds"].as_i64().unwrap_or(10);
        let call = format!("failed to call webhook: Post \"{url}?timeout={timeout}s\": {problem}");
        let error = ApiError::internal(&format!(
            "Internal error occurred: failed calling webhook {name:?}: {call}"
        ));
        (
            Some(format!(
                "{cannot}: its failurePolicy Fail refuses the request"
            )),
            Some(error),
        )
    }

    /// Returns the address of a webhook, and the reason why it cannot be reached.
    fn unreachable(&self, config: &Value) -> (String, String) {
        let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
        let service = &config["service"];
        if !service.is_object() {
            let url = text(&config["url"]);
            let host = url
                .split("://")
                .nth(1)
                .unwrap_or("")
                .split(['/', ':'])
                .next()
                .unwrap_or("")
                .to_owned();
            return (url, format!("dial tcp: lookup {host}: no such host"));
        }
        let (namespace, name, path) = (
            text(&service["namespace"]),
            text(&service["name"]),
            text(&service["path"]),
        );
        let port = service["port"].as_i64().unwrap_or(443);
        let problem = match self.get(&ObjectRef::new(Kind::Service, &namespace, &name)) {
            None => format!("service {name:?} not found"),
            Some(found) => {
                let address = found.to_value()["spec"]["clusterIP"]
                    .as_str()
                    .unwrap_or("")
                    .to_owned();
                let ready = self
                    .slices_of(found)
                    .any(|slice| !slice.endpoints.is_empty());
                if ready {
                    format!("dial tcp {address}:{port}: connect: connection refused")
                } else {
                    format!("no endpoints available for service {name:?}")
                }
            }
        };
        (
            format!("https://{name}.{namespace}.svc:{port}{path}"),
            problem,
        )
    }
}

/// Returns the warning for a policy that is not evaluated, or the refusal if its failure policy is `Fail` and its binding denies.
fn policy_decision(
    [policy, binding]: &[Value; 2],
    request: AdmissionRequest<'_>,
) -> (Option<String>, Option<ApiError>) {
    let name = |value: &Value| value["metadata"]["name"].as_str().unwrap_or("").to_owned();
    let kind = policy["kind"].as_str().unwrap_or("");
    let what = format!("{kind} '{}' with binding '{}'", name(policy), name(binding));
    let mutates = kind == Kind::MutatingAdmissionPolicy.name();
    let denies = mutates
        || binding["spec"]["validationActions"]
            .as_array()
            .is_some_and(|actions| actions.iter().any(|action| action == "Deny"));
    if !denies || !fails_closed(&policy["spec"]) {
        return (Some(format!("{what} is not evaluated here")), None);
    }
    let spec = &policy["spec"];
    let first = if mutates {
        &spec["mutations"][0]["applyConfiguration"]
    } else {
        &spec["validations"][0]
    };
    let expression = first["expression"].as_str().unwrap_or("");
    let fault = format!(
        "expression '{expression}' resulted in error: admission policies are not evaluated here"
    );
    let message = format!(
        "{} {:?} is forbidden: {what} denied request: {fault}",
        request.object.kind.group_resource(),
        request.object.meta.name.as_str()
    );
    (
        None,
        Some(ApiError {
            reason: StatusReason::Invalid,
            message,
            cause: None,
        }),
    )
}
