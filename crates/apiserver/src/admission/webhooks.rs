//! Admission webhooks and policies: handling of matching writes, since no webhook can be called and policy expressions are not evaluated.
//! A write is refused or let through with a warning, depending on the failure policy.
//!
//! Models `apiserver/pkg/admission/plugin/{webhook/{generic,validating},policy/validating}` in the order of
//! `kubeapiserver/options/plugins.go`. Match conditions are not evaluated: they count as true.

use super::AdmissionRequest;
use super::matching::Matcher;
use crate::definitions::Definitions;
use crate::error::{ApiError, StatusReason};
use crate::store::Store;
use k8s_model::{Kind, ObjectRef};
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
pub(crate) enum AdmissionPhase {
    Mutating,
    Validating,
}

/// Webhooks and bound policies of a cluster, in the order in which they admit.
#[derive(Clone, Debug, Default)]
pub(crate) struct AdmissionPlugins(Rc<Vec<AdmissionPlugin>>);

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
    /// Reads the webhooks and policies of a store.
    pub fn read(store: &Store) -> AdmissionPlugins {
        let policies =
            |phase, policy, binding| {
                let mut all = Vec::new();
                for policy in store.list(policy).map(|policy| policy.to_value()) {
                    let bindings = store.list(binding).map(|binding| binding.to_value());
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
            let all =
                store.list(kind).flat_map(
                    |configuration| match configuration.to_value()["webhooks"].take() {
                        Value::Array(webhooks) => webhooks,
                        _ => Vec::new(),
                    },
                );
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

/// Result of the webhooks and policies that match a request.
pub(crate) struct Decision {
    /// Warnings for the client.
    pub warnings: Vec<String>,
    /// Refusal, if one denies the request.
    pub result: Result<(), ApiError>,
}

impl AdmissionPlugins {
    /// Returns true if an object of this kind is a webhook configuration, a policy or a binding of one.
    pub fn depend_on(kind: Kind) -> bool {
        EXEMPT.contains(&kind)
    }

    /// Decides about a request by the webhooks and policies of one phase.
    pub fn decide(
        &self,
        phase: AdmissionPhase,
        store: &Store,
        definitions: &Definitions,
        request: AdmissionRequest<'_>,
    ) -> Decision {
        let mut decision = Decision {
            warnings: Vec::new(),
            result: Ok(()),
        };
        if self.0.is_empty() || EXEMPT.contains(&request.object.kind) {
            return decision;
        }
        let namespace = store.get(&ObjectRef::new(
            Kind::Namespace,
            "",
            &request.object.meta.namespace,
        ));
        for plugin in self.0.iter().filter(|plugin| plugin.phase == phase) {
            let matches = |matcher: &Matcher| {
                matcher.matches(
                    definitions,
                    namespace.map(|namespace| &**namespace),
                    request,
                )
            };
            if !plugin.matchers.iter().all(matches) {
                continue;
            }
            let (warning, error) = match &plugin.hook {
                Hook::Webhook(webhook) => webhook_call_error(store, webhook),
                Hook::Policy(bound) => policy_decision(bound, request),
            };
            decision.warnings.extend(warning);
            if let Some(error) = error {
                decision.result = Err(error);
                break;
            }
        }
        decision
    }
}

/// Returns the warning for a webhook that is not called, and the refusal if its failure policy is `Fail`.
fn webhook_call_error(store: &Store, webhook: &Value) -> (Option<String>, Option<ApiError>) {
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
    let (url, problem) = unreachable(store, &webhook["clientConfig"]);
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
fn unreachable(store: &Store, config: &Value) -> (String, String) {
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
    let problem = match store.get(&ObjectRef::new(Kind::Service, &namespace, &name)) {
        None => format!("service {name:?} not found"),
        Some(found) => {
            let address = found.to_value()["spec"]["clusterIP"]
                .as_str()
                .unwrap_or("")
                .to_owned();
            let ready = store
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
