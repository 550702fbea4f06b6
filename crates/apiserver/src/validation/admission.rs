//! Validation of admission webhooks, policies and their bindings.
//!
//! Models `pkg/apis/admissionregistration/validation/validation.go` and `apiserver/pkg/util/webhook/validation.go`. Expressions that mutate
//! are only required, not compiled: patches have types of their own.

use super::{Errors, NOT_PORT, has, list, meta, names, text};
use k8s_model::cel::{self, CelType, Environment};
use serde_json::Value;
use std::collections::BTreeSet;

const FAILURE_POLICIES: [&str; 2] = ["Fail", "Ignore"];
const MATCH_POLICIES: [&str; 2] = ["Equivalent", "Exact"];
const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const MUTATING_OPERATIONS: [&str; 4] = ["*", "CONNECT", "CREATE", "UPDATE"];
const REINVOCATION_POLICIES: [&str; 2] = ["IfNeeded", "Never"];
const REVIEW_VERSIONS: [&str; 2] = ["v1", "v1beta1"];
const SCOPES: [&str; 3] = ["*", "Cluster", "Namespaced"];
const SIDE_EFFECTS: [&str; 2] = ["None", "NoneOnDryRun"];
const MAX_MATCH_CONDITIONS: usize = 64;
const MAX_AUDIT_ANNOTATIONS: usize = 20;
const MAX_AUDIT_EXPRESSION_BYTES: usize = 5 * 1024;

/// Validates a ValidatingWebhookConfiguration or MutatingWebhookConfiguration.
pub fn webhooks(errors: &mut Errors, object: &Value) {
    let mut names = BTreeSet::new();
    for (index, hook) in list(object, "webhooks").iter().enumerate() {
        let field = format!("webhooks[{index}]");
        webhook(errors, hook, &field);
        review_versions(errors, hook, &format!("{field}.admissionReviewVersions"));
        let name = text(hook, "name");
        if !name.is_empty() && !names.insert(name) {
            errors.duplicate(&format!("{field}.name"), name);
        }
    }
}

fn webhook(errors: &mut Errors, hook: &Value, field: &str) {
    let at = |name: &str| format!("{field}.{name}");
    fully_qualified_name(errors, text(hook, "name"), &at("name"));
    for (index, one) in list(hook, "rules").iter().enumerate() {
        rule(errors, one, &format!("{field}.rules[{index}]"));
    }
    optional_word(errors, hook, field, "failurePolicy", &FAILURE_POLICIES);
    optional_word(errors, hook, field, "matchPolicy", &MATCH_POLICIES);
    if has(hook, "sideEffects") {
        optional_word(errors, hook, field, "sideEffects", &SIDE_EFFECTS);
    } else {
        let detail = format!("must specify one of {}", SIDE_EFFECTS.join(", "));
        errors.required(&at("sideEffects"), &detail);
    }
    let timeout = &hook["timeoutSeconds"];
    if timeout
        .as_i64()
        .is_some_and(|seconds| !(1..=30).contains(&seconds))
    {
        errors.invalid(
            &at("timeoutSeconds"),
            timeout.clone(),
            "the timeout value must be between 1 and 30 seconds",
        );
    }
    for name in ["namespaceSelector", "objectSelector"] {
        meta::selector(errors, &hook[name], &at(name));
    }
    optional_word(
        errors,
        hook,
        field,
        "reinvocationPolicy",
        &REINVOCATION_POLICIES,
    );
    client_config(errors, &hook["clientConfig"], &at("clientConfig"));
    match_conditions(errors, hook, field, Params::Undeclared);
}

/// Checks a field that may be absent, and is one of a set otherwise.
fn optional_word(errors: &mut Errors, of: &Value, field: &str, name: &str, supported: &[&str]) {
    if has(of, name) {
        errors.one_of(&format!("{field}.{name}"), text(of, name), supported);
    }
}

/// Checks a domain of at least three labels: `IsFullyQualifiedName` of `apimachinery/pkg/util/validation`.
fn fully_qualified_name(errors: &mut Errors, name: &str, field: &str) {
    if name.is_empty() {
        errors.required(field, "");
    } else if let Some(detail) = names::subdomain(name) {
        errors.invalid(field, name, detail);
    } else if name.split('.').count() < 3 {
        errors.invalid(
            field,
            name,
            "should be a domain with at least three segments separated by dots",
        );
    }
}

fn review_versions(errors: &mut Errors, hook: &Value, field: &str) {
    let versions = list(hook, "admissionReviewVersions");
    let accepted = REVIEW_VERSIONS.join(", ");
    if versions.is_empty() {
        return errors.required(field, &format!("must specify one of {accepted}"));
    }
    let mut seen = BTreeSet::new();
    for (index, version) in versions.iter().enumerate() {
        let (at, version) = (format!("{field}[{index}]"), version.as_str().unwrap_or(""));
        if seen.insert(version) {
            errors.checked(&at, version, names::dns_1035_label);
        } else {
            errors.invalid(&at, version, "duplicate version");
        }
    }
    if !REVIEW_VERSIONS.iter().any(|version| seen.contains(version)) {
        errors.invalid(
            field,
            hook["admissionReviewVersions"].clone(),
            format!("must include at least one of {accepted}"),
        );
    }
}

fn client_config(errors: &mut Errors, config: &Value, field: &str) {
    match (config["url"].as_str(), &config["service"]) {
        (Some(url), Value::Null) => webhook_url(errors, url, &format!("{field}.url")),
        (None, service) if !service.is_null() => {
            webhook_service(errors, service, &format!("{field}.service"));
        }
        _ => errors.required(field, "exactly one of url or service is required"),
    }
}

/// Validates the URL of a webhook: `ValidateWebhookURL`.
fn webhook_url(errors: &mut Errors, url: &str, field: &str) {
    const FORM: &str = "; desired format: https://host[/path]";
    let (rest, fragment) = url.split_once('#').unwrap_or((url, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (scheme, rest) = rest.split_once(':').unwrap_or(("", rest));
    let authority = rest.strip_prefix("//").unwrap_or("");
    let authority = authority.split('/').next().unwrap_or("");
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    if scheme != "https" {
        let detail = format!("'https' is the only allowed URL scheme{FORM}");
        errors.invalid(field, scheme, detail);
    }
    if host.is_empty() {
        errors.invalid(field, host, format!("host must be specified{FORM}"));
    }
    if let Some(user) = user {
        errors.invalid(field, user, "user information is not permitted in the URL");
    }
    if !fragment.is_empty() {
        errors.invalid(field, fragment, "fragments are not permitted in the URL");
    }
    if !query.is_empty() {
        errors.invalid(
            field,
            query,
            "query parameters are not permitted in the URL",
        );
    }
}

/// Validates the names, in the order of their errors, and the port of a reference to a Service.
pub(super) fn service_reference(
    errors: &mut Errors,
    service: &Value,
    field: &str,
    names: [&str; 2],
) {
    for name in names {
        if text(service, name).is_empty() {
            errors.required(&format!("{field}.{name}"), "");
        }
    }
    let port = &service["port"];
    if port
        .as_i64()
        .is_some_and(|port| !(1..=65535).contains(&port))
    {
        errors.invalid(
            &format!("{field}.port"),
            port.clone(),
            format!("port is not valid: {NOT_PORT}"),
        );
    }
}

/// Validates the Service of a webhook: `ValidateWebhookService`.
fn webhook_service(errors: &mut Errors, service: &Value, field: &str) {
    let path = text(service, "path");
    service_reference(errors, service, field, ["name", "namespace"]);
    let field = format!("{field}.path");
    if matches!(path, "" | "/") {
        return;
    }
    if path == "//" {
        return errors.invalid(&field, path, "segment[0] may not be empty");
    }
    if !path.starts_with('/') {
        errors.invalid(&field, path, "must start with a '/'");
    }
    let rest: String = path.chars().skip(1).collect();
    let rest = rest.strip_suffix('/').unwrap_or(&rest);
    for (index, step) in rest.split('/').enumerate() {
        if step.is_empty() {
            errors.invalid(&field, path, format!("segment[{index}] may not be empty"));
        } else if let Some(detail) = names::subdomain(step) {
            errors.invalid(&field, path, format!("segment[{index}]: {detail}"));
        }
    }
}

/// Validates a rule with operations.
fn rule(errors: &mut Errors, rule: &Value, field: &str) {
    let at = |name: &str| format!("{field}.{name}");
    exclusive_words(errors, rule, field, "operations", "operations");
    for (index, operation) in list(rule, "operations").iter().enumerate() {
        let operation = operation.as_str().unwrap_or("");
        errors.one_of(
            &format!("{}[{index}]", at("operations")),
            operation,
            &OPERATIONS,
        );
    }
    exclusive_words(errors, rule, field, "apiGroups", "API groups");
    exclusive_words(errors, rule, field, "apiVersions", "API versions");
    for (index, version) in list(rule, "apiVersions").iter().enumerate() {
        if version == "" {
            errors.required(&format!("{}[{index}]", at("apiVersions")), "");
        }
    }
    resources(errors, rule, &at("resources"));
    optional_word(errors, rule, field, "scope", &SCOPES);
}

/// Checks that a list has elements, and none beside `*`.
fn exclusive_words(errors: &mut Errors, rule: &Value, field: &str, name: &str, words: &str) {
    let (all, field) = (list(rule, name), format!("{field}.{name}"));
    if all.is_empty() {
        errors.required(&field, "");
    }
    if all.len() > 1 && all.iter().any(|word| word == "*") {
        let detail = format!("if '*' is present, must not specify other {words}");
        errors.invalid(&field, rule[name].clone(), detail);
    }
}

fn resources(errors: &mut Errors, rule: &Value, field: &str) {
    let all = list(rule, "resources");
    if all.is_empty() {
        errors.required(field, "");
    }
    let (mut whole, mut every) = (BTreeSet::new(), BTreeSet::new());
    let mut has_plain = false;
    for (index, pattern) in all.iter().enumerate() {
        let (at, pattern) = (format!("{field}[{index}]"), pattern.as_str().unwrap_or(""));
        if pattern.is_empty() {
            errors.required(&at, "");
            continue;
        }
        let Some((resource, subresource)) = pattern.split_once('/') else {
            has_plain = pattern != "*";
            continue;
        };
        for (is_covered, cover) in [
            (whole.contains(resource), format!("{resource}/*")),
            (every.contains(subresource), format!("*/{subresource}")),
        ] {
            if is_covered {
                let detail = format!("if '{cover}' is present, must not specify {pattern}");
                errors.invalid(&at, pattern, detail);
            }
        }
        if subresource == "*" {
            whole.insert(resource);
        }
        if resource == "*" {
            every.insert(subresource);
        }
    }
    let mut refuse = |cover: &str, others: &str| {
        let detail = format!("if '{cover}' is present, must not specify other resources{others}");
        errors.invalid(field, rule["resources"].clone(), detail);
    };
    if all.len() > 1 && all.iter().any(|pattern| pattern == "*/*") {
        refuse("*/*", "");
    }
    if has_plain && all.iter().any(|pattern| pattern == "*") {
        refuse("*", " without subresources");
    }
}

/// Declaration of `params` for expressions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Params {
    Declared,
    Undeclared,
}

impl Params {
    fn of(policy: &Value) -> Params {
        match has(policy, "paramKind") {
            true => Params::Declared,
            false => Params::Undeclared,
        }
    }

    fn environment(self) -> Environment {
        let environment = Environment::default()
            .declare("object", CelType::Dyn)
            .declare("oldObject", CelType::Dyn)
            .declare("namespaceObject", cel::NAMESPACE)
            .declare("request", cel::REQUEST);
        match self {
            Params::Declared => environment.declare("params", CelType::Dyn),
            Params::Undeclared => environment,
        }
    }
}

/// Compiles an expression whose result has one of some types.
///
/// # Errors
/// The detail of the field's error.
fn compile(source: &str, environment: &Environment, types: &[CelType]) -> Result<(), String> {
    let kind = cel::compile(source, environment)
        .map_err(|issues| format!("compilation failed: {issues}"))?;
    let names: Vec<String> = types.iter().map(CelType::to_string).collect();
    match &names[..] {
        _ if types.contains(&kind) => Ok(()),
        [name] => Err(format!("must evaluate to {name} but got {kind}")),
        names => {
            let names = names.join(" ");
            Err(format!("must evaluate to one of [{names}] but got {kind}"))
        }
    }
}

fn match_conditions(errors: &mut Errors, of: &Value, field: &str, params: Params) {
    let (conditions, field) = (
        list(of, "matchConditions"),
        format!("{field}.matchConditions"),
    );
    let environment = params.environment().declare("authorizer", cel::AUTHORIZER);
    let mut names = BTreeSet::new();
    if conditions.len() > MAX_MATCH_CONDITIONS {
        errors.too_many(&field, conditions.len(), MAX_MATCH_CONDITIONS);
    }
    for (index, condition) in conditions.iter().enumerate() {
        let at = |name: &str| format!("{field}[{index}].{name}");
        let (name, source) = (
            text(condition, "name"),
            text(condition, "expression").trim(),
        );
        if source.is_empty() {
            errors.required(&at("expression"), "");
        } else if let Err(detail) = compile(source, &environment, &[CelType::Bool]) {
            errors.invalid(&at("expression"), source, detail);
        }
        if name.is_empty() {
            errors.required(&at("name"), "");
        } else {
            errors.checked_all(&at("name"), name, names::is_qualified_name);
            if !names.insert(name) {
                errors.duplicate(&at("name"), name);
            }
        }
    }
}

/// Validates what both kinds of policies have; returns the environment of their expressions.
fn policy_spec(errors: &mut Errors, spec: &Value) -> Environment {
    let params = Params::of(spec);
    errors.one_of(
        "spec.failurePolicy",
        text(spec, "failurePolicy"),
        &FAILURE_POLICIES,
    );
    if params == Params::Declared {
        param_kind(errors, &spec["paramKind"], "spec.paramKind");
    }
    let constraints = &spec["matchConstraints"];
    if constraints.is_null() {
        errors.required("spec.matchConstraints", "");
    } else {
        match_resources(errors, constraints, "spec.matchConstraints");
        if list(constraints, "resourceRules").is_empty() {
            errors.required("spec.matchConstraints.resourceRules", "");
        }
    }
    params.environment()
}

/// Validates the variables of a policy, and declares them.
fn variables(errors: &mut Errors, spec: &Value, environment: Environment) -> Environment {
    let variables = list(spec, "variables");
    if variables.is_empty() {
        return environment;
    }
    let mut environment = environment.declare("variables", cel::VARIABLES);
    for (index, variable) in variables.iter().enumerate() {
        let at = |name: &str| format!("spec.variables[{index}].{name}");
        let (name, source) = (text(variable, "name"), text(variable, "expression"));
        if name.trim().is_empty() {
            errors.required(&at("name"), "name is not specified");
        } else if !cel::is_identifier(name) {
            errors.invalid(&at("name"), name, "must be a valid CEL identifier");
        }
        if source.trim().is_empty() {
            errors.required(&at("expression"), "expression is not specified");
            continue;
        }
        let kind = match cel::compile(source, &environment) {
            Ok(kind) => kind,
            Err(issues) => {
                let detail = format!("compilation failed: {issues}");
                errors.invalid(&at("expression"), source, detail);
                CelType::Dyn
            }
        };
        environment.compose(name, kind);
    }
    environment
}

/// Validates a ValidatingAdmissionPolicy.
pub fn validating_policy(errors: &mut Errors, object: &Value) {
    let spec = &object["spec"];
    let for_messages = policy_spec(errors, spec);
    match_conditions(errors, spec, "spec", Params::of(spec));
    let environment = for_messages.clone().declare("authorizer", cel::AUTHORIZER);
    let environment = variables(errors, spec, environment);
    let annotations = list(spec, "auditAnnotations");
    if list(spec, "validations").is_empty() && annotations.is_empty() {
        for field in ["spec.validations", "spec.auditAnnotations"] {
            errors.required(
                field,
                "validations or auditAnnotations must contain at least one item",
            );
        }
        return;
    }
    for (index, one) in list(spec, "validations").iter().enumerate() {
        validation(
            errors,
            one,
            &format!("spec.validations[{index}]"),
            &environment,
        );
    }
    if annotations.len() > MAX_AUDIT_ANNOTATIONS {
        errors.invalid(
            "spec.auditAnnotations",
            spec["auditAnnotations"].clone(),
            format!("must not have more than {MAX_AUDIT_ANNOTATIONS} auditAnnotations"),
        );
    }
    let mut keys = BTreeSet::new();
    for (index, annotation) in annotations.iter().enumerate() {
        let field = format!("spec.auditAnnotations[{index}]");
        audit_annotation(errors, object, annotation, &field, &environment);
        let key = text(annotation, "key");
        if !keys.insert(key) {
            errors.duplicate(&format!("{field}.key"), key);
        }
    }
}

fn validation(errors: &mut Errors, one: &Value, field: &str, environment: &Environment) {
    let at = |name: &str| format!("{field}.{name}");
    let source = text(one, "expression");
    if source.trim().is_empty() {
        errors.required(&at("expression"), "expression is not specified");
    } else if let Err(detail) = compile(source, environment, &[CelType::Bool]) {
        errors.invalid(&at("expression"), source, detail);
    }
    const EMPTY: &str = "must be non-empty if specified";
    let (message, source) = (text(one, "message"), text(one, "messageExpression"));
    if !source.is_empty() {
        let result = match source.trim() {
            "" => Err(EMPTY.to_owned()),
            // Messages are not told who may do what.
            _ => compile(
                source,
                &environment.without("authorizer"),
                &[CelType::String],
            ),
        };
        if let Err(detail) = result {
            errors.invalid(&at("messageExpression"), source, detail);
        }
    }
    if !message.is_empty() && message.trim().is_empty() {
        errors.invalid(&at("message"), message, EMPTY);
    } else if message.trim().contains(['\n', '\r']) {
        errors.invalid(&at("message"), message, "must not contain line breaks");
    }
    optional_word(
        errors,
        one,
        field,
        "reason",
        &["Forbidden", "Invalid", "RequestEntityTooLarge"],
    );
}

fn audit_annotation(
    errors: &mut Errors,
    policy: &Value,
    annotation: &Value,
    field: &str,
    environment: &Environment,
) {
    let (key_field, field) = (format!("{field}.key"), format!("{field}.valueExpression"));
    let (name, key) = (text(&policy["metadata"], "name"), text(annotation, "key"));
    if name.is_empty() {
        errors.invalid(&key_field, key, "requires metadata.name be non-empty");
    } else {
        errors.checked_all(
            &key_field,
            &format!("{name}/{key}"),
            names::is_qualified_name,
        );
    }
    let source = text(annotation, "valueExpression");
    match source.trim() {
        "" => errors.required(&field, "valueExpression is not specified"),
        trimmed if trimmed.len() > MAX_AUDIT_EXPRESSION_BYTES => errors.required(
            &field,
            &format!("must not exceed {MAX_AUDIT_EXPRESSION_BYTES} bytes in length"),
        ),
        trimmed => {
            let types = [CelType::String, CelType::Null];
            if let Err(detail) = compile(trimmed, environment, &types) {
                errors.invalid(&field, source, detail);
            }
        }
    }
}

/// Validates a MutatingAdmissionPolicy.
pub fn mutating_policy(errors: &mut Errors, object: &Value) {
    let spec = &object["spec"];
    let environment = policy_spec(errors, spec).declare("authorizer", cel::AUTHORIZER);
    mutating_operations(errors, spec, "matchConstraints");
    match_conditions(errors, spec, "spec", Params::of(spec));
    variables(errors, spec, environment);
    if list(spec, "mutations").is_empty() {
        errors.required("spec.mutations", "mutations must contain at least one item");
    }
    for (index, one) in list(spec, "mutations").iter().enumerate() {
        mutation(errors, one, &format!("spec.mutations[{index}]"));
    }
    if text(spec, "reinvocationPolicy").is_empty() {
        errors.required("spec.reinvocationPolicy", "");
    } else {
        optional_word(
            errors,
            spec,
            "spec",
            "reinvocationPolicy",
            &REINVOCATION_POLICIES,
        );
    }
}

fn mutation(errors: &mut Errors, one: &Value, field: &str) {
    let kind = text(one, "patchType");
    let (own, other) = match kind {
        "JSONPatch" => ("jsonPatch", "applyConfiguration"),
        "ApplyConfiguration" => ("applyConfiguration", "jsonPatch"),
        "" => return errors.required(&format!("{field}.patchType"), ""),
        other => {
            let supported = ["ApplyConfiguration", "JSONPatch"];
            return errors.unsupported(&format!("{field}.patchType"), other, &supported);
        }
    };
    if !has(one, own) {
        let detail = format!("must be specified when patchType is {kind}");
        errors.required(&format!("{field}.{own}"), &detail);
    } else if text(&one[own], "expression").trim().is_empty() {
        errors.required(&format!("{field}.{own}.expression"), "");
    }
    if has(one, other) {
        let detail = format!("must not be specified when patchType is {kind}");
        errors.invalid(&format!("{field}.{other}"), format!("{{{other}}}"), detail);
    }
}

/// Checks that the rules of a mutating policy, or of its binding, name only operations with an object to mutate.
fn mutating_operations(errors: &mut Errors, spec: &Value, name: &str) {
    let rules = list(&spec[name], "resourceRules").iter();
    for operation in rules.flat_map(|rule| list(rule, "operations")) {
        errors.one_of(
            &format!("spec.{name}.resourceRules.operations"),
            operation.as_str().unwrap_or(""),
            &MUTATING_OPERATIONS,
        );
    }
}

fn param_kind(errors: &mut Errors, kind: &Value, field: &str) {
    let at = format!("{field}.apiVersion");
    let api_version = text(kind, "apiVersion");
    let parts: Vec<&str> = api_version.split('/').collect();
    match parts[..] {
        [""] => errors.required(&at, ""),
        [version] => param_version(errors, api_version, version, &at),
        ["", ""] => errors.invalid(&at, api_version, "version must be specified"),
        [group, version] => {
            if !group.is_empty() {
                errors.checked(&at, group, names::subdomain);
            }
            param_version(errors, api_version, version, &at);
        }
        _ => {
            let detail = format!("unexpected GroupVersion string: {api_version}");
            errors.invalid(&at, api_version, detail);
        }
    }
    let (at, kind) = (format!("{field}.kind"), text(kind, "kind"));
    if kind.is_empty() {
        errors.required(&at, "");
    } else if let Some(detail) = names::dns_1035_label(&kind.to_lowercase()) {
        let detail = format!("may have mixed case, but should otherwise match: {detail}");
        errors.invalid(&at, kind, detail);
    }
}

fn param_version(errors: &mut Errors, api_version: &str, version: &str, field: &str) {
    if version.is_empty() {
        errors.invalid(field, api_version, "version must be specified");
    } else {
        errors.checked(field, version, names::dns_1035_label);
    }
}

fn match_resources(errors: &mut Errors, resources: &Value, field: &str) {
    optional_word(errors, resources, field, "matchPolicy", &MATCH_POLICIES);
    for name in ["namespaceSelector", "objectSelector"] {
        meta::selector(errors, &resources[name], &format!("{field}.{name}"));
    }
    for name in ["resourceRules", "excludeResourceRules"] {
        for (index, one) in list(resources, name).iter().enumerate() {
            let at = format!("{field}.{name}[{index}]");
            let mut seen = BTreeSet::new();
            for (index, name) in list(one, "resourceNames").iter().enumerate() {
                let (at, name) = (
                    format!("{at}.resourceNames[{index}]"),
                    name.as_str().unwrap_or(""),
                );
                errors.checked(&at, name, names::path_segment);
                if !seen.insert(name) {
                    errors.duplicate(&at, name);
                }
            }
            rule(errors, one, &at);
        }
    }
}

/// Validates a ValidatingAdmissionPolicyBinding.
pub fn validating_binding(errors: &mut Errors, object: &Value) {
    binding(errors, object);
    let field = "spec.validationActions";
    let actions = list(&object["spec"], "validationActions");
    let mut seen = BTreeSet::new();
    for (index, action) in actions.iter().enumerate() {
        let (at, action) = (format!("{field}[{index}]"), action.as_str().unwrap_or(""));
        errors.one_of(&at, action, &["Audit", "Deny", "Warn"]);
        if !seen.insert(action) {
            errors.duplicate(&at, action);
        }
    }
    if seen.contains("Deny") && seen.contains("Warn") {
        errors.invalid(
            field,
            object["spec"]["validationActions"].clone(),
            "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers \
             serves no purpose)",
        );
    }
    if actions.is_empty() {
        errors.required(field, "at least one validation action is required");
    }
}

/// Validates a MutatingAdmissionPolicyBinding.
pub fn mutating_binding(errors: &mut Errors, object: &Value) {
    binding(errors, object);
    mutating_operations(errors, &object["spec"], "matchResources");
}

/// Validates what the bindings of both kinds of policies have.
fn binding(errors: &mut Errors, object: &Value) {
    let spec = &object["spec"];
    match text(spec, "policyName") {
        "" => errors.required("spec.policyName", ""),
        name => errors.checked("spec.policyName", name, names::subdomain),
    }
    if has(spec, "paramRef") {
        param_ref(errors, &spec["paramRef"], "spec.paramRef");
    }
    if has(spec, "matchResources") {
        match_resources(errors, &spec["matchResources"], "spec.matchResources");
    }
}

fn param_ref(errors: &mut Errors, reference: &Value, field: &str) {
    const EXCLUSIVE: &str = "name and selector are mutually exclusive";
    let (name, has_selector) = (text(reference, "name"), has(reference, "selector"));
    if !name.is_empty() {
        errors.checked(&format!("{field}.name"), name, names::path_segment);
        if has_selector {
            errors.forbidden(&format!("{field}.name"), EXCLUSIVE);
        }
    }
    if has_selector {
        let field = format!("{field}.selector");
        meta::selector(errors, &reference["selector"], &field);
        if !name.is_empty() {
            errors.forbidden(&field, EXCLUSIVE);
        }
    } else if name.is_empty() {
        errors.required(field, "one of name or selector must be specified");
    }
    match text(reference, "parameterNotFoundAction") {
        "" => errors.required(&format!("{field}.parameterNotFoundAction"), ""),
        action => {
            let at = format!("{field}.parameterNotFoundAction");
            errors.one_of(&at, action, &["Deny", "Allow"]);
        }
    }
}

/// Validates the status of a ValidatingAdmissionPolicy.
pub fn policy_status(errors: &mut Errors, object: &Value) {
    let status = &object["status"];
    let warnings = list(&status["typeChecking"], "expressionWarnings");
    for (index, warning) in warnings.iter().enumerate() {
        for name in ["warning", "fieldRef"] {
            if text(warning, name).trim().is_empty() {
                let field = format!("status.typeChecking.expressionWarnings[{index}].{name}");
                errors.required(&field, "");
            }
        }
    }
    meta::conditions(errors, list(status, "conditions"), "status.conditions");
}
