//! Webhooks and policies of admission: which writes they judge, and what becomes of these, since nothing here can be called and
//! expressions of policies are not evaluated. A write is refused or let through with a warning, as the failure policy says.
//!
//! Models `apiserver/pkg/admission/plugin/webhook/{predicates,generic,validating}` and `plugin/policy/{matching,validating}`. Match
//! conditions are not evaluated: they hold.

use super::admission_request::AdmissionRequest;
use super::error::{ApiError, StatusReason};
use super::server::{ApiServer, Origin};
use crate::api::selector::LabelSelector;
use crate::api::{Kind, Labels, Object, ObjectRef, json};
use crate::engine::journal::Actor;
use crate::engine::why::Why;
use serde_json::Value;

/// Kinds that no webhook and no policy judges: whoever has locked himself out can take them away.
const EXEMPT: [Kind; 6] = [
    Kind::MutatingWebhookConfiguration,
    Kind::ValidatingWebhookConfiguration,
    Kind::MutatingAdmissionPolicy,
    Kind::MutatingAdmissionPolicyBinding,
    Kind::ValidatingAdmissionPolicy,
    Kind::ValidatingAdmissionPolicyBinding,
];
/// Policies and their bindings.
const POLICIES: [(Kind, Kind); 2] = [
    (Kind::MutatingAdmissionPolicy, Kind::MutatingAdmissionPolicyBinding),
    (Kind::ValidatingAdmissionPolicy, Kind::ValidatingAdmissionPolicyBinding),
];

fn texts(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// Whether a list has one of some words, or all of them by `*`.
fn lists(value: &Value, words: &[&str]) -> bool {
    texts(value).any(|own| own == "*" || words.contains(&own))
}

fn selects(selector: &Value, labels: &Labels) -> bool {
    json::part::<LabelSelector>(Some(selector)).is_ok_and(|selector| selector.matches(labels))
}

/// A failure policy as it is, or as it is by default.
fn refuses(policy: &Value) -> bool {
    policy["failurePolicy"] != "Ignore"
}

impl ApiServer {
    /// Refuses a write that a webhook or a policy would have to admit, or warns of it.
    pub(super) fn admit_by_webhooks(&mut self, origin: &Origin, request: AdmissionRequest<'_>) -> Result<(), ApiError> {
        if EXEMPT.iter().all(|kind| self.count(*kind) == 0) || EXEMPT.contains(&request.object.kind) || origin.actor == Actor::SERVER {
            return Ok(());
        }
        let (mut warnings, mut result) = (Vec::new(), Ok(()));
        for kind in [Kind::MutatingWebhookConfiguration, Kind::ValidatingWebhookConfiguration] {
            for configuration in self.list(kind) {
                let configuration = configuration.to_value();
                for webhook in configuration["webhooks"].as_array().into_iter().flatten() {
                    if result.is_ok() && self.judges(webhook, &webhook["rules"], request) {
                        let (warning, error) = self.uncalled(webhook);
                        warnings.push(warning);
                        result = error.map_or(Ok(()), Err);
                    }
                }
            }
        }
        for (policy, binding) in POLICIES {
            for binding in self.list(binding).map(|binding| binding.to_value()) {
                let name = binding["spec"]["policyName"].as_str().unwrap_or("");
                let Some(policy) = self.get(&ObjectRef::new(policy, "", name)).map(|policy| policy.to_value()) else { continue };
                let (constraints, bound) = (&policy["spec"]["matchConstraints"], &binding["spec"]["matchResources"]);
                let rules = |bound: &Value| bound["resourceRules"].as_array().is_some_and(|rules| !rules.is_empty());
                let judged = self.judges(constraints, &constraints["resourceRules"], request)
                    && (bound.is_null() || self.judges(bound, if rules(bound) { &bound["resourceRules"] } else { &Value::Null }, request));
                if judged && result.is_ok() {
                    match unevaluated(&policy, &binding, request) {
                        Ok(warning) => warnings.push(warning),
                        Err(error) => result = Err(error),
                    }
                }
            }
        }
        if origin.actor == Actor::USER {
            for warning in warnings {
                if !self.warnings.contains(&warning) {
                    self.warnings.push(warning);
                }
            }
        }
        result
    }

    /// The same for an update, recorded if it is refused.
    pub(super) fn admit_update_by_webhooks(
        &mut self,
        origin: &Origin,
        subresource: &str,
        (object, old): (&Object, &Object),
        why: &Why,
    ) -> Result<(), ApiError> {
        let request = AdmissionRequest { operation: "UPDATE", subresource, object, old: Some(old) };
        let result = self.admit_by_webhooks(origin, request);
        if let Err(error) = &result {
            self.refuse(origin, object.key(), error, why.clone());
        }
        result
    }

    /// Whether a webhook, a policy or a binding judges a write; null as its rules are all of them.
    fn judges(&self, matcher: &Value, rules: &Value, request: AdmissionRequest<'_>) -> bool {
        let any = |rules: &Value| rules.as_array().into_iter().flatten().any(|rule| self.has_rule(matcher, rule, request));
        (rules.is_null() || any(rules))
            && !any(&matcher["excludeResourceRules"])
            && self.selects_namespace(&matcher["namespaceSelector"], request.object)
            && (selects(&matcher["objectSelector"], &request.object.meta.labels)
                || request.old.is_some_and(|old| selects(&matcher["objectSelector"], &old.meta.labels)))
    }

    fn has_rule(&self, matcher: &Value, rule: &Value, request: AdmissionRequest<'_>) -> bool {
        let info = request.object.kind.info();
        let (mut groups, mut versions) = (vec![info.group], vec![info.version]);
        if matcher["matchPolicy"] != "Exact" {
            // The same objects under other names.
            match request.object.kind {
                Kind::Event => groups.push("events.k8s.io"),
                Kind::HorizontalPodAutoscaler => versions.push("v1"),
                _ => {}
            }
        }
        let definition = self.definitions().of(request.object.kind);
        versions.extend(definition.into_iter().flat_map(|definition| definition.versions.iter().map(|version| version.name.as_str())));
        let resource = texts(&rule["resources"]).any(|pattern| {
            let (resource, subresource) = pattern.split_once('/').unwrap_or((pattern, ""));
            (resource == "*" || resource == info.plural) && (subresource == "*" || subresource == request.subresource)
        });
        let scope = match rule["scope"].as_str() {
            Some("Namespaced") => info.namespaced,
            Some("Cluster") => !info.namespaced,
            _ => true,
        };
        let names: Vec<&str> = texts(&rule["resourceNames"]).collect();
        lists(&rule["operations"], &[request.operation])
            && lists(&rule["apiGroups"], &groups)
            && lists(&rule["apiVersions"], &versions)
            && resource
            && scope
            && (names.is_empty() || names.contains(&request.object.meta.name.as_str()))
    }

    /// Whether the labels of an object's namespace are selected; objects of no namespace always are.
    fn selects_namespace(&self, selector: &Value, object: &Object) -> bool {
        match object.kind {
            Kind::Namespace => selects(selector, &object.meta.labels),
            kind if kind.info().namespaced => {
                let namespace = self.get(&ObjectRef::new(Kind::Namespace, "", &object.meta.namespace));
                namespace.is_none_or(|namespace| selects(selector, &namespace.meta.labels))
            }
            _ => true,
        }
    }

    /// What a client is warned of for a webhook that is not called, and the refusal if its failure policy is `Fail`.
    fn uncalled(&self, webhook: &Value) -> (String, Option<ApiError>) {
        let name = webhook["name"].as_str().unwrap_or("");
        let cannot = format!("webhook {name:?} is not called, since containers do not run here");
        if !refuses(webhook) {
            return (format!("{cannot}: its failurePolicy Ignore lets the request through"), None);
        }
        let (url, problem) = self.unreachable(&webhook["clientConfig"]);
        let timeout = webhook["timeoutSeconds"].as_i64().unwrap_or(10);
        let call = format!("failed to call webhook: Post \"{url}?timeout={timeout}s\": {problem}");
        let error = ApiError::internal(&format!("Internal error occurred: failed calling webhook {name:?}: {call}"));
        (format!("{cannot}: its failurePolicy Fail refuses the request"), Some(error))
    }

    /// The address of a webhook, and why nothing answers there.
    fn unreachable(&self, config: &Value) -> (String, String) {
        let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
        let service = &config["service"];
        if !service.is_object() {
            let url = text(&config["url"]);
            let host = url.split("://").nth(1).unwrap_or("").split(['/', ':']).next().unwrap_or("").to_owned();
            return (url, format!("dial tcp: lookup {host}: no such host"));
        }
        let (namespace, name, path) = (text(&service["namespace"]), text(&service["name"]), text(&service["path"]));
        let port = service["port"].as_i64().unwrap_or(443);
        let problem = match self.get(&ObjectRef::new(Kind::Service, &namespace, &name)) {
            None => format!("service {name:?} not found"),
            Some(found) => {
                let address = found.to_value()["spec"]["clusterIP"].as_str().unwrap_or("").to_owned();
                let ready = self.slices_of(found).any(|slice| !slice.endpoints.is_empty());
                if ready {
                    format!("dial tcp {address}:{port}: connect: connection refused")
                } else {
                    format!("no endpoints available for service {name:?}")
                }
            }
        };
        (format!("https://{name}.{namespace}.svc:{port}{path}"), problem)
    }
}

/// What a client is warned of for a policy that is not evaluated, or the refusal if its failure policy is `Fail` and its binding denies.
fn unevaluated(policy: &Value, binding: &Value, request: AdmissionRequest<'_>) -> Result<String, ApiError> {
    let name = |value: &Value| value["metadata"]["name"].as_str().unwrap_or("").to_owned();
    let kind = policy["kind"].as_str().unwrap_or("");
    let what = format!("{kind} '{}' with binding '{}'", name(policy), name(binding));
    let mutates = kind == Kind::MutatingAdmissionPolicy.name();
    let denies = mutates || texts(&binding["spec"]["validationActions"]).any(|action| action == "Deny");
    if !denies || !refuses(&policy["spec"]) {
        return Ok(format!("{what} is not evaluated here"));
    }
    let spec = &policy["spec"];
    let first = if mutates { &spec["mutations"][0]["applyConfiguration"] } else { &spec["validations"][0] };
    let expression = first["expression"].as_str().unwrap_or("");
    let fault = format!("expression '{expression}' resulted in error: admission policies are not evaluated here");
    let message = format!(
        "{} {:?} is forbidden: {what} denied request: {fault}",
        request.object.kind.group_resource(),
        request.object.meta.name.as_str()
    );
    Err(ApiError { reason: StatusReason::Invalid, message, cause: None })
}
