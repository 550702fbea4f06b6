//! Admission webhooks and policies of a cluster, and which of them match a request. Policies are not evaluated: a write that one would judge
//! is refused or let through with a warning, depending on its failure policy.
//!
//! Models `apiserver/pkg/admission/plugin/{webhook/{generic,predicates},policy/validating}` in the order of
//! `kubeapiserver/options/plugins.go`.

use super::AdmissionRequest;
use super::calls::{ServicePort, WebhookId};
use super::matching::Matcher;
use crate::definitions::Definitions;
use crate::error::{ApiError, StatusReason};
use crate::store::Store;
use k8s_model::cel::{self, CelType, Environment, Program};
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
pub(super) struct AdmissionPlugin {
    phase: AdmissionPhase,
    matchers: Vec<Matcher>,
    pub hook: Hook,
}

#[derive(Clone, Debug)]
pub(super) enum Hook {
    Webhook(Rc<Webhook>),
    /// Policy with its binding.
    Policy(Box<[Value; 2]>),
}

/// Admission webhook.
#[derive(Clone, Debug)]
pub(super) struct Webhook {
    pub id: WebhookId,
    /// Position in its configuration, which tells apart webhooks of one name.
    pub index: usize,
    pub value: Value,
    pub conditions: Vec<MatchCondition>,
}

/// Match condition of a webhook.
#[derive(Clone, Debug)]
pub(super) struct MatchCondition {
    pub expression: String,
    /// Program, or the error of an expression that is not evaluated here.
    pub program: Result<Program, String>,
}

impl Webhook {
    fn read(mutates: bool, configuration: &k8s_model::Str, index: usize, value: Value) -> Webhook {
        let environment = Environment::default()
            .declare("object", CelType::Dyn)
            .declare("oldObject", CelType::Dyn)
            .declare("request", cel::REQUEST);
        let conditions = value["matchConditions"].as_array().into_iter().flatten();
        let conditions = conditions.map(|condition| {
            let expression = condition["expression"].as_str().unwrap_or("").trim();
            MatchCondition {
                program: Program::in_environment(expression, environment.clone()),
                expression: expression.to_owned(),
            }
        });
        Webhook {
            id: WebhookId {
                mutates,
                configuration: configuration.clone(),
                name: value["name"].as_str().unwrap_or("").into(),
            },
            index,
            conditions: conditions.collect(),
            value,
        }
    }

    /// Returns true if the failure policy refuses a request that the webhook cannot judge.
    pub fn fails_closed(&self) -> bool {
        fails_closed(&self.value)
    }

    /// Service that the webhook is reached by, if it has no URL.
    pub fn service(&self) -> Option<ServicePort> {
        let service = &self.value["clientConfig"]["service"];
        let text = |field: &str| service[field].as_str().unwrap_or("").to_owned();
        service.is_object().then(|| ServicePort {
            namespace: text("namespace"),
            name: text("name"),
            port: service["port"]
                .as_u64()
                .and_then(|port| port.try_into().ok())
                .unwrap_or(443),
        })
    }

    pub fn timeout_seconds(&self) -> u64 {
        self.value["timeoutSeconds"].as_u64().unwrap_or(10)
    }

    /// Returns the URL that is called, with the timeout as upstream adds it.
    pub fn url(&self) -> String {
        let config = &self.value["clientConfig"];
        let url = match self.service() {
            Some(ServicePort {
                namespace,
                name,
                port,
            }) => {
                let path = config["service"]["path"].as_str().unwrap_or("");
                format!("https://{name}.{namespace}.svc:{port}{path}")
            }
            None => config["url"].as_str().unwrap_or("").to_owned(),
        };
        format!("{url}?timeout={}s", self.timeout_seconds())
    }

    /// Returns the reason why the webhook cannot be reached from here.
    pub fn unreachable(&self, store: &Store) -> String {
        let Some(service) = self.service() else {
            let url = self.value["clientConfig"]["url"].as_str().unwrap_or("");
            let host = url.split("://").nth(1).unwrap_or("");
            let host = host.split(['/', ':']).next().unwrap_or("");
            return format!("dial tcp: lookup {host}: no such host");
        };
        let name = &service.name;
        let key = ObjectRef::new(Kind::Service, &service.namespace, name);
        let Some(found) = store.get(&key) else {
            return format!("service {name:?} not found");
        };
        if store
            .slices_of(found)
            .all(|slice| slice.endpoints.is_empty())
        {
            return format!("no endpoints available for service {name:?}");
        }
        let value = found.to_value();
        let address = value["spec"]["clusterIP"].as_str().unwrap_or("");
        format!(
            "dial tcp {address}:{}: connect: connection refused",
            service.port
        )
    }
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
            let mutates = phase == AdmissionPhase::Mutating;
            let mut all = Vec::new();
            for configuration in store.list(kind) {
                let Value::Array(webhooks) = configuration.to_value()["webhooks"].take() else {
                    continue;
                };
                for (index, value) in webhooks.into_iter().enumerate() {
                    let matcher = Matcher::read(&value, &value["rules"]);
                    let webhook = Webhook::read(mutates, &configuration.meta.name, index, value);
                    all.push(AdmissionPlugin {
                        phase,
                        matchers: vec![matcher],
                        hook: Hook::Webhook(Rc::new(webhook)),
                    });
                }
            }
            all
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

impl AdmissionPlugins {
    /// Returns true if an object of this kind is a webhook configuration, a policy or a binding of one.
    pub fn depend_on(kind: Kind) -> bool {
        EXEMPT.contains(&kind)
    }

    /// Returns true if there is neither a webhook nor a bound policy.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if there is a webhook.
    pub fn has_webhooks(&self) -> bool {
        let is_webhook = |plugin: &AdmissionPlugin| matches!(plugin.hook, Hook::Webhook(_));
        self.0.iter().any(is_webhook)
    }

    /// Returns the plugins of a phase that match a request, each with the API version in which it does.
    pub(super) fn matching(
        &self,
        phase: AdmissionPhase,
        store: &Store,
        definitions: &Definitions,
        request: AdmissionRequest<'_>,
    ) -> Vec<(&AdmissionPlugin, String)> {
        if self.0.is_empty() || EXEMPT.contains(&request.object.kind) {
            return Vec::new();
        }
        self.of(phase)
            .filter_map(|plugin| {
                let version = plugin.matched_version(store, definitions, request)?;
                Some((plugin, version))
            })
            .collect()
    }

    /// Returns the plugins of a phase.
    pub(super) fn of(&self, phase: AdmissionPhase) -> impl Iterator<Item = &AdmissionPlugin> {
        self.0.iter().filter(move |plugin| plugin.phase == phase)
    }
}

impl AdmissionPlugin {
    /// Returns the API version in which the rules and selectors match a request.
    pub fn matched_version(
        &self,
        store: &Store,
        definitions: &Definitions,
        request: AdmissionRequest<'_>,
    ) -> Option<String> {
        let namespace = &request.object.meta.namespace;
        let namespace = store.get(&ObjectRef::new(Kind::Namespace, "", namespace));
        let namespace = namespace.map(|namespace| &**namespace);
        let mut versions = self.matchers.iter();
        let first = versions
            .next()?
            .matched_version(definitions, namespace, request)?;
        versions
            .all(|matcher| {
                matcher
                    .matched_version(definitions, namespace, request)
                    .is_some()
            })
            .then_some(first)
    }
}

/// Returns the warning for a policy that is not evaluated, or the refusal if its failure policy is `Fail` and its binding denies.
pub(super) fn policy_decision(
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
